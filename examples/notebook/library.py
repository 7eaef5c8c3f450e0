"""Compare the library's version of the notebook's experiment with what the notebook draws and computes.

    pomrl run experiment=notebook_similarity
    pomrl run experiment=notebook_schedules
    pomrl run experiment=notebook_gamma_0
    python -m examples.notebook.library

`reading=notebook` sets the definitions of the notebook in the library, which draws other random numbers and computes
all runs at once. Two things are compared with its stored runs: the curves in the notebook's figures, which were read
off by eye, and the losses of this package, which draws the notebook's own random numbers (`gamma_eval.parquet` and
`ada_pomrl.parquet`). The exit status is 1 if one of them disagrees.
"""

import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
from examples.notebook import stored
from scipy.stats import ks_2samp

from pomrl.commands.errors import one_line_errors
from pomrl.configuration.study import find
from pomrl.configuration.sweeps import command
from pomrl.drawing.figure import figures_of
from pomrl.results.stored_sweeps import StoredSweep, stored_sweep
from pomrl.studies.pomrl.agreement import LARGEST_Z, Z

PAPER = find("pomrl")
"""The study whose variant `computed` has the definitions of the notebook."""

NAMES = {
    "without_meta": "without",
    "oracle": "oracle",
    "pomrl": "POMRL",
    "ada_pomrl": "ada-POMRL",
    "aggregating": "aggregating",
}
"""The names that this package has for the estimators of the library."""

LEAST_P = 0.01
"""The least p-value of several Kolmogorov-Smirnov tests, after Bonferroni's correction, that counts as agreement."""

KEY = ["concentration_over_S", "estimator", "task", "gamma"]


def read(name: str, least: int = 2) -> StoredSweep:
    """Return all stored runs of a sweep that its experiments share.

    Raises:
        LookupError: Fewer than `least` runs are stored.
    """
    settings = PAPER.settings(name)
    sweep = stored_sweep(settings, runs=least, most=10**6)
    if sweep.lacking:
        raise LookupError(f"{sweep.lacking}; to compute them: {command(name, f'runs={least}')}")
    fewest = min(source.runs for source in sweep.sources)
    return StoredSweep(sweep.table[sweep.table["run"] < fewest], sweep.sources, sweep.promised, None)


def losses(similarity: pd.DataFrame) -> pd.DataFrame:
    """Return the losses of the sweep `notebook_similarity` in the form of this package's, with the column run for seed.

    Args:
        similarity: The table of the sweep; estimators that the notebook lacks are left out.
    """
    table = similarity.rename(
        columns={"task_distribution.concentration_over_S": "concentration_over_S", "planning_loss": "loss"}
    )
    table = table.assign(estimator=table["estimator"].astype(str).map(NAMES)).dropna(subset="estimator")
    return table[["run", *KEY, "loss"]]


def differences(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Return the difference of mean losses at each concentration, estimator, task and gamma that both have, and its z.

    Args:
        ours: The losses of independent runs, with the columns `KEY` and loss.
        theirs: The same of other runs.

    Returns:
        A table with the columns `KEY`, difference and z, its ratio to its standard error.
    """
    (a, b) = (_moments(table) for table in (ours, theirs))
    both = a.merge(b, on=KEY, suffixes=("", "_b"))
    difference = both["mean"] - both["mean_b"]
    error = np.sqrt(both["var"] / both["count"] + both["var_b"] / both["count_b"])
    return both[KEY].assign(difference=difference, z=difference / error)


def _moments(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean, variance and number of the losses at each setting; gamma is rounded, for 0.1 + 0.2 is not 0.3."""
    rounded = table.assign(gamma=table["gamma"].round(6), estimator=table["estimator"].astype(str))
    return rounded.groupby(KEY)["loss"].agg(["mean", "var", "count"]).reset_index()


def distributions(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Compare the distributions over runs of the loss averaged over all tasks, by Kolmogorov-Smirnov tests.

    Args:
        ours: The losses of independent runs, with the columns run, `KEY` and loss.
        theirs: The same of other runs, with the column seed for run.

    Returns:
        A table with the columns concentration_over_S, estimator, gamma and p, for all settings that both have.
    """
    groups = [key for key in KEY if key != "task"]
    (a, b) = (_averages(table, groups, run) for table, run in ((ours, "run"), (theirs, "seed")))
    settings = sorted(set(a) & set(b))
    p = [float(ks_2samp(a[setting], b[setting])[1]) for setting in settings]  # pyright: ignore[reportArgumentType]
    return pd.DataFrame(settings, columns=groups).assign(p=p)


def _averages(table: pd.DataFrame, groups: list[str], run: str) -> dict[tuple[float, str, float], np.ndarray]:
    """Return the loss of each run averaged over its tasks, for each setting."""
    rounded = table.assign(gamma=table["gamma"].round(6), estimator=table["estimator"].astype(str))
    by_run = rounded.groupby([*groups, run])["loss"].mean().reset_index()
    return {(c, name, gamma): part["loss"].to_numpy() for (c, name, gamma), part in by_run.groupby(groups)}  # pyright: ignore


def legacy_losses() -> pd.DataFrame:
    """Return all losses that this package stores: at gamma = 0.99 of all estimators, at the others of ada-POMRL."""
    gamma_eval, ada_pomrl = stored.read("gamma_eval.parquet"), stored.read("ada_pomrl.parquet")
    known = ada_pomrl["seed"].isin(stored.SIMILARITY_SEEDS) & (ada_pomrl["gamma"] == gamma_eval["gamma"].iloc[0])
    parts = [table.astype({"estimator": str}) for table in (gamma_eval, ada_pomrl[~known])]
    return pd.concat(parts, ignore_index=True)


@one_line_errors(LookupError)
def main() -> str | None:
    """Print how the stored runs compare with the notebook; return a complaint if they disagree."""
    figures = [figure for figure in figures_of(PAPER) if figure.name.startswith("authors_")]
    wanted = dict.fromkeys(sweep for figure in figures for sweep in figure.sweeps)
    sweeps = {name: read(name) for name in wanted}
    wrong = 0
    print("Readings of the notebook's figures")
    for figure in figures:
        data = figure.drawn(sweeps, with_intervals=False).data
        z = data.loc[data["band"] == Z, "mean"].abs()
        runs = data["n"].max()
        print(f"  {figure.name}: largest |z| of {len(z)} readings {z.max():.2f}, with {runs} of our runs")
        wrong += int((z > LARGEST_Z).sum())
    ours, theirs = losses(sweeps["notebook_similarity"].table), legacy_losses()
    print("Losses of runs with the notebook's own random numbers")
    for line, count in legacy_lines(ours, theirs):
        print(line)
        wrong += count
    return f"{wrong} comparisons disagree" if wrong else None


def legacy_lines(ours: pd.DataFrame, theirs: pd.DataFrame) -> Iterator[tuple[str, int]]:
    """Yield lines that say how the losses compare, each with the number of disagreements."""
    means = differences(ours, theirs)
    for estimator, part in means.groupby("estimator"):
        z = part["z"].abs()
        yield f"  {estimator}: largest |z| of {len(z)} mean losses {z.max():.2f}", int((z > LARGEST_Z).sum())
    p = distributions(ours, theirs)["p"]
    corrected = min(1.0, p.min() * len(p))
    yield (
        f"  least p of {len(p)} Kolmogorov-Smirnov tests of the loss averaged over tasks: {p.min():.3f}, "
        f"{corrected:.2f} after Bonferroni's correction",
        int(corrected < LEAST_P),
    )


if __name__ == "__main__":
    sys.exit(main())
