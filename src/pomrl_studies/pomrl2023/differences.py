"""The differences between the paper's text and its authors' notebook, as `ledger.yaml` lists them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pomrl_studies.pomrl2023.choices import Choice


@dataclass(frozen=True)
class Difference:
    """One difference between the paper's text and the authors' notebook."""

    name: str
    of: str
    """The ambiguity (R1, ...) or error (E1, ...) that it settles or concerns; empty where it is none of these."""
    where: str
    """The section of the paper; empty where the paper says nothing of it."""
    kind: str
    """choice, omission (the text does not mention it), bug, or label (a figure of the paper says something else)."""
    text: str
    """What the text says."""
    notebook: str
    """What the notebook does."""
    choice: Choice | None
    """The choice that sets its keys; None where no key holds it."""
    why: str
    """Why it has no key; empty where it has one."""


@cache
def differences() -> tuple[Difference, ...]:
    """Return all differences, those with a key first."""
    described = yaml.safe_load(Path(__file__).with_name("ledger.yaml").read_text(encoding="utf-8"))
    with_key = [_difference(name, said, _choice(name, said)) for name, said in described["choices"].items()]
    without_key = [_difference(name, said, None) for name, said in described["without_key"].items()]
    return (*with_key, *without_key)


def choices() -> list[Choice]:
    """Return the choices of the differences that have a key."""
    return [difference.choice for difference in differences() if difference.choice]


def _difference(name: str, described: Mapping[str, Any], choice: Choice | None) -> Difference:
    said = {key: described.get(key) or "" for key in ("of", "where", "kind", "text", "notebook", "why")}
    return Difference(name=name, choice=choice, **said)


def _choice(name: str, described: Mapping[str, Any]) -> Choice:
    words = described["set"]
    where = {group: described[group] for group in ("estimator", "gamma_schedule") if group in described}
    overrides = (words,) if isinstance(words, str) else tuple(words)
    return Choice(name, described.get("of", ""), overrides, where, described.get("needs", ()))
