"""Is the advice of `pomrl_logs.horizon_report` right? What it truly gains over the policy that made the log.

    python packages/pomrl-logs/benchmarks/advice_on_logs.py --processes 2 --logs 100 --output FOLDER

FOLDER gets a row for each log (`logs.csv`), and one for each family, group of families and cell (`gains.csv`), anew
after each round of one log a cell, so that it may be interrupted. A loss is a true gain below 0; gains are shares of
what the best policies gain. Keeping to the log gains 0. Rows of families leave out the hidden behaviour, which has rows
of its own; families of a group count alike. A log takes about 0.1 s. The published table is
`results/advice_on_logs.csv`, and `page_tables.py` puts its main rows into docs/logs.md.
"""

import argparse
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from families_after_the_freeze import AFTER_THE_FREEZE
from joblib import Parallel, delayed
from logs_with_truth import FAMILIES, GAMMA_EVAL, THE_SIX, THE_TWELVE, Cell, draw_log
from scipy.stats import mannwhitneyu
from true_gains import KEEP, OTHERS, gains_of_others, true_gains

import pomrl_logs
from pomrl_logs.horizon_reports import MAX_DOUBT

BEHAVIOURS = ("best_05", "best_30", "rule_of_thumb", "two_halves", "never_taken", "hidden", "uniform")

CELLS = [
    *(Cell(family, "best_10", size, "rewards") for family, size in product(FAMILIES, (800, 3000, 24_000))),
    *(Cell(family, behaviour, 3000, "rewards") for family, behaviour in product(FAMILIES, BEHAVIOURS)),
    *(Cell(family, "best_10", 3000, knows) for family, knows in product(FAMILIES, ("noise", "structure"))),
]
"""One thing at a time differs from 3,000 transitions of the best policy with a share 0.1 of random actions."""

GROUPS = {"the twelve": THE_TWELVE, "the four": AFTER_THE_FREEZE, "the six": THE_SIX}
"""The families by when they were written: those of the method, after it was frozen, and after its limit was made."""

SEED = 20261205
"""The logs of a cell depend on it, the cell and their number alone."""

LEAST = 1e-9
"""A smaller gain, in units of the largest value, is rounding."""

SEEN = "all but hidden"
"""The behaviour in rows of several cells whose decisions look at nothing that states leave out."""


def judge_log(cell: Cell, number: int) -> dict[str, object]:
    """Return what the report on a log says, and what is true."""
    truth = draw_log(cell, np.random.default_rng([SEED, *map(ord, repr(cell)), number]))
    report = pomrl_logs.horizon_report(truth.log, GAMMA_EVAL, structure=truth.structure, seed=number)
    policies, improvement = report.recommendation.policies, report.improvement
    gains, is_changed = true_gains(truth, policies), (policies != KEEP).any(-1)
    gain, rounding = float(gains.mean()), LEAST * max(1.0, np.abs(truth.R).max() / (1.0 - GAMMA_EVAL))
    return {
        **vars(cell), "log": number, "told": bool(is_changed.any()), "gain": gain,
        "tasks_told": int(is_changed.sum()), "tasks_lose": int((gains < -rounding).sum()), "least": float(gains.min()),
        "loses": gain < -rounding, "said": improvement.mean, "limit": improvement.lower,
        "holds": gain >= improvement.lower - rounding,
        "warned": improvement.doubt >= MAX_DOUBT, "doubt": improvement.doubt,
        **gains_of_others(truth),
    }  # fmt: skip


def table(logs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return a row for each group of logs: numbers of logs, and gains as shares of what is possible."""
    groups = logs.groupby(by, sort=False)
    return pd.DataFrame(dict(zip(by, key, strict=True)) | _row(group) for key, group in groups)  # pyright: ignore


def _row(logs: pd.DataFrame) -> dict[str, object]:
    possible = logs["possible"].mean()
    shares = (logs[["gain", *OTHERS]].mean() / possible).round(2) + 0.0
    return {
        "logs": len(logs), "told": int(logs["told"].sum()), "loses": int((logs["told"] & logs["loses"]).sum()),
        "holds": int(logs["holds"].sum()),
        "tasks_lose": round(logs["tasks_lose"].sum() / max(logs["tasks_told"].sum(), 1), 3),
        "warned": round(logs["warned"].mean(), 2), "area": round(area_under_the_curve(logs), 2),
        "possible": float(f"{possible:.3g}"), **shares.rename({"gain": "advice"}),
    }  # fmt: skip


def area_under_the_curve(logs: pd.DataFrame) -> float:
    """Return the probability that a log whose limit fails has a larger doubt than one whose limit holds."""
    fails, holds = (logs.loc[logs["holds"] == outcome, "doubt"] for outcome in (False, True))
    pairs = len(fails) * len(holds)
    return mannwhitneyu(fails, holds).statistic / pairs if pairs else np.nan


def main() -> None:
    """Compute the tables and write them."""
    parser = argparse.ArgumentParser(description="True gains of the advice on logs.")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--logs", type=int, default=100, help="the logs of each cell")
    parser.add_argument(
        "--cells", default="", help="cells with this text in their family, behaviour, size or knowledge"
    )
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    cells = [cell for cell in CELLS if arguments.cells in " ".join(map(str, vars(cell).values()))]
    arguments.output.mkdir(parents=True, exist_ok=True)
    rows = list[dict[str, object]]()
    with Parallel(n_jobs=arguments.processes) as parallel:
        for number in range(arguments.logs):
            rows.extend(parallel(delayed(judge_log)(cell, number) for cell in cells))  # pyright: ignore
            _write(pd.DataFrame(rows), arguments.output)
    print((arguments.output / "gains.csv").read_text())


def _write(logs: pd.DataFrame, folder: Path) -> None:
    logs.to_csv(folder / "logs.csv", index=False)
    hidden = logs["behaviour"] == "hidden"
    by_cell = ["family", "behaviour", "transitions", "knows"]
    tables = [*_rows_of_groups(logs[~hidden], SEEN), *_rows_of_groups(logs[hidden], "hidden"), table(logs, by_cell)]
    pd.concat(tables)[[*by_cell, *tables[-1].columns.drop(by_cell)]].to_csv(folder / "gains.csv", index=False)


def _rows_of_groups(logs: pd.DataFrame, behaviour: str) -> Iterator[pd.DataFrame]:
    """Yield a row for each family, and one for each group, in which families count alike."""
    gains, scaled = ["possible", "gain", *OTHERS], logs.assign(behaviour=behaviour)
    scaled[gains] = logs[gains].div(logs.groupby("family")["possible"].transform("mean"), axis=0)
    for name, group in GROUPS.items():
        is_member = logs["family"].isin(list(group))
        yield table(logs[is_member].assign(behaviour=behaviour), ["family", "behaviour"])
        yield table(scaled[is_member].assign(family=name), ["family", "behaviour"])


if __name__ == "__main__":
    main()
