"""The choices that make variants of the paper's experiments: readings of its text, and differences to the notebook.

Each choice is a decision that the paper's text leaves open, has wrong, or that its authors' notebook takes otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pomrl.study import Variant, VariantJob


@dataclass(frozen=True)
class Choice:
    """One decision: a few keys, and the experiments in which they have a meaning."""

    name: str
    of: str
    """The ambiguity (R1, ...) or error (E1, ...) of the paper that it decides; empty where it is none of these."""
    overrides: tuple[str, ...]
    """What it sets, each as `key=value`."""
    where: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Groups, each with the options for which the keys have a meaning; empty where they have one for all options."""
    needs: Sequence[str] = ()
    """Choices that this one requires, by their names."""

    def concerns(self, options: Mapping[str, str]) -> bool:
        """Return whether the choice has a meaning in an experiment with these options, given by group."""
        return all(options.get(group) in names for group, names in self.where.items())


def keep_allowed(choices: Sequence[Choice]) -> list[Choice]:
    """Return these choices without those that lack a choice that they require."""
    found: list[Choice] = []
    for choice in choices:
        if {*choice.needs} <= {choice.name for choice in found}:
            found.append(choice)
    return found


def without(choices: Sequence[Choice], left_out: Choice) -> list[Choice]:
    """Return all choices but one."""
    return [choice for choice in choices if choice != left_out]


def combine(choices: Sequence[Choice], name: str = "") -> Variant:
    """Return the variant with those of the choices that `keep_allowed` keeps, named by default after them."""
    of_variant = keep_allowed(choices)

    def change(job: VariantJob) -> list[str]:
        return [*job.overrides, *(word for of in of_variant if of.concerns(job.options) for word in of.overrides)]

    words = name or " + ".join(choice.name for choice in of_variant) or "repaired"
    return Variant(words, change, is_single=len(of_variant) == 1)
