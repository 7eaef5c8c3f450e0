"""The ledger: every difference between the paper's text and the authors' notebook.

`conf/experiment/notebook_ledger.yaml` describes it. A difference that some keys hold is a choice of that family of
readings (`pomrl.configuration.readings`). The others are under `without_key`, each with the reason why it has no key.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pomrl.configuration.composition import Composer
from pomrl.configuration.readings import Choice, Family, family
from pomrl.configuration.sources import Sources
from pomrl.configuration.studies import LEDGER


@dataclass(frozen=True)
class Difference:
    """One difference between the paper's text and the authors' notebook."""

    name: str
    of: str
    """The ambiguity (A1, ...) or error (E1, ...) that it settles or concerns; empty where it is none of these."""
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


@dataclass(frozen=True)
class Ledger:
    """The differences, and the family of readings by which those that have a key are measured."""

    differences: tuple[Difference, ...]
    family: Family


def ledger(sources: Sources) -> Ledger:
    """Return the ledger, in the order of its description."""
    described = Composer(sources.folders).readings(LEDGER)
    of_family = family(described)
    with_key = [_difference(choice.name, described["choices"][choice.name], choice) for choice in of_family.choices]
    without_key = [_difference(name, each, None) for name, each in described["without_key"].items()]
    return Ledger((*with_key, *without_key), of_family)


def _difference(name: str, described: Mapping[str, Any], choice: Choice | None) -> Difference:
    said = {key: described.get(key) or "" for key in ("of", "where", "kind", "text", "notebook", "why")}
    return Difference(name=name, choice=choice, **said)
