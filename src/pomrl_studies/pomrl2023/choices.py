"""Choices between readings of the paper, and differences from the authors' notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pomrl.study import Variant, VariantJob


@dataclass(frozen=True)
class Choice:
    """A decision about the paper, as overrides of the experiments concerned."""

    name: str
    number: str
    """The number of the ambiguity (R1, ...) or error (E1, ...) of the paper that it decides; may be empty."""
    overrides: tuple[str, ...]
    """The overrides, each as `key=value`."""
    where: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The options of the experiments concerned, by configuration group; empty for all experiments."""
    needs: Sequence[str] = ()
    """The names of choices that must precede this one."""

    def concerns(self, options: Mapping[str, str]) -> bool:
        """Return whether the choice concerns an experiment with these options, by group."""
        return all(options.get(group) in names for group, names in self.where.items())


def keep_allowed(choices: Sequence[Choice]) -> list[Choice]:
    """Return the choices preceded by all of their required choices."""
    allowed: list[Choice] = []
    for choice in choices:
        if {*choice.needs} <= {choice.name for choice in allowed}:
            allowed.append(choice)
    return allowed


def without(choices: Sequence[Choice], left_out: Choice) -> list[Choice]:
    """Return all choices except one."""
    return [choice for choice in choices if choice != left_out]


def combine(choices: Sequence[Choice], name: str = "") -> Variant:
    """Combine the allowed choices into a variant, by default named after them."""
    kept_choices = keep_allowed(choices)

    def change(job: VariantJob) -> list[str]:
        return [
            *job.overrides,
            *(override for choice in kept_choices if choice.concerns(job.options) for override in choice.overrides),
        ]

    label = name or " + ".join(choice.name for choice in kept_choices) or "repaired"
    return Variant(label, change, is_single=len(kept_choices) == 1)


@dataclass(frozen=True)
class Difference:
    """A difference between the paper's text and the authors' notebook."""

    name: str
    number: str
    """The number of the ambiguity (R1, ...) or error (E1, ...) concerned; may be empty."""
    where: str
    """The section of the paper; empty if the paper is silent."""
    kind: str
    """One of choice, omission (missing in the text), bug, or label (a figure of the paper contradicts it)."""
    text: str
    """The version of the paper's text."""
    notebook: str
    """The version of the notebook."""
    choice: Choice | None
    """The choice of the notebook's version; None if no setting expresses it."""
    why: str
    """Why no setting expresses it; may be empty."""


@cache
def differences() -> tuple[Difference, ...]:
    """Load all differences from `ledger.yaml`; those with a choice come first."""
    described = yaml.safe_load(Path(__file__).with_name("ledger.yaml").read_text(encoding="utf-8"))
    with_key = [_difference(name, entry, _choice(name, entry)) for name, entry in described["choices"].items()]
    without_key = [_difference(name, entry, None) for name, entry in described["without_key"].items()]
    return (*with_key, *without_key)


def choices() -> list[Choice]:
    """Return the choices of all differences."""
    return [difference.choice for difference in differences() if difference.choice]


def _difference(name: str, described: Mapping[str, Any], choice: Choice | None) -> Difference:
    entry = {key: described.get(key) or "" for key in ("where", "kind", "text", "notebook", "why")}
    return Difference(name=name, choice=choice, number=described.get("of") or "", **entry)


def _choice(name: str, described: Mapping[str, Any]) -> Choice:
    override = described["set"]
    where = {group: described[group] for group in ("estimator", "gamma_schedule") if group in described}
    overrides = (override,) if isinstance(override, str) else tuple(override)
    return Choice(name, described.get("of", ""), overrides, where, described.get("needs", ()))
