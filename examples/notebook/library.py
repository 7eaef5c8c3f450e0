"""Compare the library's version of the notebook's experiment with losses of the notebook's own random numbers.

    python -m examples.notebook.library

computes what the store lacks of 200 runs of `EXPERIMENTS`, about half a minute of one core. The reading `computed` sets
the definitions of the notebook in the library, which draws other random numbers and computes all runs at once. The
losses of this package (`gamma_eval.parquet` and `ada_pomrl.parquet`) are of the notebook's own random numbers. The mean
losses of the library's runs are written to `notebook_loss.csv`, a page of the paper's study. The exit status is 1 if
the two disagree.
"""

import sys

import numpy as np
import pandas as pd
from examples.notebook import stored
from scipy.stats import ks_2samp

import pomrl

PATH = stored.STUDY / "pages" / "notebook_loss.csv"

NAMES = {
    "without_meta": "without",
    "oracle": "oracle",
    "pomrl": "POMRL",
    "ada_pomrl": "ada-POMRL",
    "aggregating": "aggregating",
}
"""The names that this package has for the estimators of the library."""

CONCENTRATIONS = {0.01: 1.5, 0.025: 0.75, 0.047: 0.375}
"""The concentrations of the notebook, as multiples of S, by the similarity of the paper."""

EXPERIMENTS = {
    "reading": "computed",
    "trials": 100,
    "sigma": [*CONCENTRATIONS],
    "estimator": [*NAMES],
    "seed": 20261127,
}
"""The experiments of the library, with all trials of the notebook."""

LARGEST_Z = 4.0
"""The largest difference of means, in its standard errors, that counts as agreement."""

LEAST_P = 0.01
"""The least p-value of several Kolmogorov-Smirnov tests, after Bonferroni's correction, that counts as agreement."""

KEY = ["concentration_over_S", "estimator", "task", "gamma"]


def losses(table: pd.DataFrame) -> pd.DataFrame:
    """Return losses of `EXPERIMENTS`, or of this package, with the columns run, `KEY` and loss.

    Estimators that the notebook lacks are left out. Gamma is rounded, for 0.1 + 0.2 is not 0.3.
    """
    if "sigma" in table:
        table = table.assign(concentration_over_S=table["sigma"].map(CONCENTRATIONS))
    table = table.rename(columns={"planning_loss": "loss", "seed": "run"})
    estimator = table["estimator"].astype(str).replace(NAMES)
    table = table.assign(estimator=estimator, gamma=table["gamma"].round(6))
    return table.loc[estimator.isin(NAMES.values()), ["run", *KEY, "loss"]]


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Return number of runs, mean and standard error of losses at each concentration, estimator, task and gamma."""
    summary = table.groupby(KEY)["loss"].agg(["count", "mean", "sem"]).reset_index()
    summary = summary.rename(columns={"count": "runs", "sem": "se"})
    return summary.sort_values(KEY, ascending=[False, True, True, True], ignore_index=True)


def differences(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of `KEY`, difference and z, its ratio to its standard error, of two tables of `means`."""
    merged = ours.merge(theirs, on=KEY, suffixes=("", "_b"))
    difference = merged["mean"] - merged["mean_b"]
    return merged[KEY].assign(difference=difference, z=difference / np.hypot(merged["se"], merged["se_b"]))


def p_values(ours: pd.DataFrame, theirs: pd.DataFrame) -> list[float]:
    """Return Kolmogorov-Smirnov tests of the loss averaged over tasks, at each setting that both `losses` have."""
    groups = ["concentration_over_S", "estimator", "gamma"]
    a, b = (table.groupby([*groups, "run"])["loss"].mean().groupby(groups).agg(list) for table in (ours, theirs))
    return [float(ks_2samp(a[setting], b[setting])[1]) for setting in a.index.intersection(b.index)]  # pyright: ignore


def legacy_losses() -> pd.DataFrame:
    """Return all losses that this package stores: at gamma = 0.99 of all estimators, at the others of ada-POMRL."""
    gamma_eval, ada_pomrl = stored.read("gamma_eval.parquet"), stored.read("ada_pomrl.parquet")
    is_duplicate = ada_pomrl["seed"].isin(stored.SIMILARITY_SEEDS) & (ada_pomrl["gamma"] == gamma_eval["gamma"].iloc[0])
    return losses(pd.concat([gamma_eval, ada_pomrl[~is_duplicate]], ignore_index=True))


def main() -> str | None:
    """Write the mean losses of the runs, and print how they compare; return a complaint if they disagree."""
    ours, theirs = losses(pomrl.sweep(**EXPERIMENTS, runs=200, report=print)), legacy_losses()
    means(ours).to_csv(PATH, index=False, float_format="%.6g", lineterminator="\n")
    z = differences(means(ours), means(theirs)).set_index("estimator")["z"].abs()
    p = p_values(ours, theirs)
    print("largest |z| of mean losses", z.groupby("estimator").max().to_string(), sep="\n")
    print(f"least p-value of {len(p)} Kolmogorov-Smirnov tests: {min(p):.3f}")
    disagree = z.max() > LARGEST_Z or min(p) * len(p) < LEAST_P
    return "the library disagrees with the notebook's random numbers" if disagree else None


if __name__ == "__main__":
    sys.exit(main())
