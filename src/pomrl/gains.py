"""What a method gains over the one that it stands in for, at the same draws: differences in pairs over runs."""

from collections.abc import Mapping, Sequence

import pandas as pd

from pomrl import store
from pomrl.comparison import Side, result_differences, results
from pomrl.conf import Replacement
from pomrl.config import GROUPS, flat, settings
from pomrl.published import Setting

COMPARED = {"loss at the largest gamma": "at_largest", "minimum loss": "minimum"}
"""The results that are compared, each on average over tasks, and the fields that hold them."""

SHORT = {"loss at the largest gamma": "at gamma_eval", "minimum loss": "at gamma*"}
"""What tables call them."""

Pairs = Sequence[tuple[Setting, Setting]]
"""Experiments of a sweep as published, each with the one that stands in for it."""


def gains(of_sweeps: Mapping[str, Pairs], replacement: Replacement) -> pd.DataFrame:
    """A row for each result of each experiment that something stands in for, as far as both are stored.

    Columns: ours and theirs, sweep, the settings that vary, result, runs, loss (of ours), and difference (theirs less
    ours) with its 95 % interval, lower and upper. An experiment that several sweeps share comes once. Task
    distributions make other problems and are not compared.
    """
    rows, seen = [], set()
    for name, pairs in of_sweeps.items():
        for ours, theirs in pairs:
            key = tuple(store.signature(each.experiment) for each in (ours, theirs))
            if key[0] != key[1] and key not in seen and ours.experiment.problem == theirs.experiment.problem:
                seen.add(key)
                rows += _rows(name, ours, theirs, replacement)
    return pd.DataFrame(rows)


def _rows(name: str, ours: Setting, theirs: Setting, replacement: Replacement) -> list[dict[str, object]]:
    """Of one pair; none where one of them is not stored."""
    runs = min(store.run_of(each.experiment).complete() for each in (ours, theirs))
    if not runs:
        return []
    a, b = (_side(each, runs) for each in (ours, theirs))
    level = results(store.load(ours.experiment, runs), runs)
    same = {key: value for key, value in ours.varied.items() if key != replacement.group}
    words = [str(value) if key in GROUPS else f"{key.rpartition('.')[2]}={value}" for key, value in same.items()]
    return [
        {
            "ours": replacement.old,
            "theirs": replacement.new,
            "sweep": name,
            "settings": ", ".join(words),
            "result": result,
            "runs": runs,
            "loss": float(getattr(level, COMPARED[result]).mean()),
            "difference": found.estimate,
            "lower": found.lower,
            "upper": found.upper,
        }
        for result, found in result_differences(a, b).items()
        if result in COMPARED
    ]


def wide(found: pd.DataFrame) -> pd.DataFrame:
    """For people: a row for each experiment, with its differences and half the widths of their intervals."""
    half = (found["upper"] - found["lower"]) / 2
    words = [f"{x:+.3f} ± {h:.3f}" for x, h in zip(found["difference"], half, strict=True)]
    table = found.assign(words=words, result=found["result"].map(SHORT))
    by_result = table.pivot(index=["sweep", "settings"], columns="result", values="words").fillna("")
    order = table[["sweep", "settings"]].drop_duplicates()
    return order.merge(by_result.reset_index()).loc[:, ["sweep", "settings", *SHORT.values()]]


def _side(setting: Setting, runs: int) -> Side:
    experiment = setting.experiment
    return Side("", flat(settings(experiment), experiment.options), {}, store.load(experiment, runs))
