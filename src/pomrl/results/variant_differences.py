"""How an option changes the losses of the experiments in which it takes the place of another one."""

from collections.abc import Mapping, Sequence

import pandas as pd

from pomrl import store
from pomrl.configuration.composed import GROUPS
from pomrl.configuration.sweeps import Setting
from pomrl.configuration.variants import Variant
from pomrl.results.comparison import LOSS_AT_LARGEST, MINIMUM_LOSS, loss_differences
from pomrl.results.losses import Losses

SHORT = {LOSS_AT_LARGEST: "at gamma_eval", MINIMUM_LOSS: "at gamma*"}
"""The results that are compared, each averaged over tasks, and their names in tables for people."""

Pairs = Sequence[tuple[Setting, Setting]]
"""The settings of a sweep as published, each with that under the variant."""


def paired_differences(pairs_of_sweeps: Mapping[str, Pairs], variant: Variant) -> "pd.DataFrame":
    """Compare each experiment with that under a variant, in pairs over the runs that both have.

    An experiment is left out where the variant changes nothing in it, where it makes another problem of it (another
    task distribution), and where either side is not stored. An experiment that several sweeps share is compared once.

    Args:
        pairs_of_sweeps: The pairs of settings of each sweep, by its name.
        variant: A variant with an option in the place of another one.

    Returns:
        A row for each experiment and result with the columns old and new (the options), sweep, settings (those that
        vary, in words), result, runs, loss (the mean with the old option), difference (the mean with the new option
        less that with the old one), lower and upper (its 95 % interval).
    """
    rows, seen = [], set()
    for name, pairs in pairs_of_sweeps.items():
        for ours, theirs in pairs:
            key = tuple(store.signature(setting.experiment) for setting in (ours, theirs))
            if key[0] != key[1] and key not in seen and ours.experiment.problem == theirs.experiment.problem:
                seen.add(key)
                rows += _rows(name, ours, theirs, variant)
    return pd.DataFrame(rows)


def _rows(name: str, ours: Setting, theirs: Setting, variant: Variant) -> list[dict[str, object]]:
    """Return the rows of one pair; none where one of the two is not stored."""
    group, old = variant.replaced or ("", "")
    experiments = [store.lookup(setting.experiment) for setting in (ours, theirs)]
    for stored in experiments:
        stored.refuse_damage()
    runs = min(stored.complete() for stored in experiments)
    if not runs:
        return []
    losses, replaced = (Losses.of_experiment(setting.experiment, runs) for setting in (ours, theirs))
    levels = {LOSS_AT_LARGEST: losses.regret, MINIMUM_LOSS: losses.minimum}
    intervals = loss_differences(losses, replaced, paired=True)
    return [
        {
            "old": old,
            "new": variant.name,
            "sweep": name,
            "settings": _in_words(ours, group),
            "result": result,
            "runs": runs,
            "loss": float(levels[result].mean()),
            "difference": intervals[result].estimate,
            "lower": intervals[result].lower,
            "upper": intervals[result].upper,
        }
        for result in SHORT
        if result in intervals
    ]


def _in_words(setting: Setting, group: str) -> str:
    """Name the values of the settings that vary, without the option that is replaced."""
    unchanged = {key: value for key, value in setting.varied.items() if key != group}
    return ", ".join(
        str(value) if key in GROUPS else f"{key.rpartition('.')[2]}={value}" for key, value in unchanged.items()
    )


def wide(differences: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table for people of `paired_differences`: a row for each experiment, a column for each result.

    Each cell has the difference and half the width of its interval.
    """
    half = (differences["upper"] - differences["lower"]) / 2
    words = [f"{x:+.3f} ± {h:.3f}" for x, h in zip(differences["difference"], half, strict=True)]
    table = differences.assign(words=words, result=differences["result"].map(SHORT))
    by_result = table.pivot(index=["sweep", "settings"], columns="result", values="words").fillna("")
    order = table[["sweep", "settings"]].drop_duplicates()
    return order.merge(by_result.reset_index()).loc[:, ["sweep", "settings", *SHORT.values()]]
