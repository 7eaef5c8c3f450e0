"""Compare our curves with points digitised from figures of the authors' notebook."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.figures import COLUMNS, Panel, Series, StoredSweeps, band, best_gamma

NOTEBOOK_RUNS = 100
"""The number of runs in each figure of the notebook."""

NULL_DRAWS = 20_000
"""The number of draws for the p-value of a joint test."""

READING, PRINTED, Z, TEST = "reading error", "as printed by the notebook", "z", "joint test"
"""Values of the column `band` in a figure's table.

They mark digitised points, numbers printed by the notebook, z-scores, and joint tests. A row of a joint test has the
degrees of freedom as x, and the p-value as mean.
"""

CONTRADICTED = {("min loss", 1): 0.949638347757141, ("gamma*", 1): 0.5}
"""Numbers printed by the notebook that contradict its figures, by curve and task.

In the figure of cell 45 the markers of task 1 were digitised as 0.964 and 0.511, 4.9 and 4.3 reading errors away.
"""


@dataclass(frozen=True)
class AuthorsSeries(Series):
    """A series of a figure, with the corresponding curve of the notebook."""

    cells: Sequence[int] = ()
    """The notebook cells with this figure; empty if it was not digitised."""
    curve: str = ""
    """The name of the curve in `digitised.csv`."""

    def notebook_points(self) -> pd.DataFrame:
        """Return the digitised points, with the columns x, value and reading_error."""
        table = read_digitised()
        rows = table[table["cell"].isin(self.cells) & (table["series"] == self.curve)]
        return rows.assign(x=rows["gamma"].fillna(rows["task"]))[["x", "value", "reading_error"]]


@cache
def read_digitised() -> pd.DataFrame:
    """Load the points digitised from the notebook's figures (see `examples/notebook/README.md`)."""
    return pd.read_csv(Path(__file__).with_name("digitised.csv")).dropna(subset="value")


PointComparison = Callable[[pd.DataFrame, pd.DataFrame, str], pd.DataFrame]
"""A function of our losses, the digitised points, and the column of the horizontal axis (task or gamma).

It returns the points with the added columns ours (our value) and z.
"""


def compare_losses(rows: pd.DataFrame, notebook: pd.DataFrame, x: str) -> pd.DataFrame:
    """Compare mean losses (a `PointComparison`).

    z is the difference divided by its standard error. The error combines the reading error with the sampling errors of
    our mean and of the notebook's, both estimated from the spread of our runs.
    """
    ours = band(rows, [x], kind="sd").set_index(x)
    # 0.30000000000000004 is 0.3 on the axis of the figure
    nearest = ours.iloc[np.abs(ours.index.to_numpy(float)[None] - notebook["x"].to_numpy()[:, None]).argmin(1)]
    variance = ((nearest["upper"] - nearest["mean"]) ** 2 * (1 / nearest["n"] + 1 / NOTEBOOK_RUNS)).to_numpy()
    mean = nearest["mean"].to_numpy()
    return notebook.assign(ours=mean, z=(notebook["value"] - mean) / np.sqrt(variance + notebook["reading_error"] ** 2))


def compare_best_gammas(rows: pd.DataFrame, notebook: pd.DataFrame, x: str) -> pd.DataFrame:
    """Compare gamma* in each task (a `PointComparison`).

    Minima of flat curves are uncertain, so z compares losses. It is our excess loss at the notebook's gamma*, divided
    by its standard error for both numbers of runs.
    """
    best = best_gamma(rows, [x]).set_index(x)["gamma"]
    outcomes = []
    for task, value in zip(notebook["x"], notebook["value"], strict=True):
        losses = rows[rows[x] == task].pivot(index="run", columns="gamma", values="planning_loss")
        notebook_gamma = losses.columns[np.abs(losses.columns.to_numpy(float) - value).argmin()]
        excess = losses[notebook_gamma] - losses[best[task]]
        error = excess.std() * np.sqrt(1 / len(excess) + 1 / NOTEBOOK_RUNS)
        outcomes.append((best[task], excess.mean() / error if notebook_gamma != best[task] else 0.0))
    ours, z = zip(*outcomes, strict=True) if outcomes else ((), ())
    return notebook.assign(ours=ours, z=z)


@dataclass(frozen=True)
class JointTest:
    """A test of all points of a panel together."""

    degrees_of_freedom: float
    """The effective number of independent points (Satterthwaite), at most the number of points."""
    p_value: float


def joint_test(
    losses: Float[np.ndarray, "n k"], values: Float[np.ndarray, " k"], reading_errors: Float[np.ndarray, " k"]
) -> JointTest:
    """Test whether k points are means of runs like ours.

    Points of a panel share runs, so their z are correlated. Under the null hypothesis, the sum of z^2 is a sum of
    independent chi-square variables, weighted by the eigenvalues of the correlations of the differences. These have the
    covariance of our n runs, times 1/n + 1/NOTEBOOK_RUNS, and independent reading errors. No matrix is inverted, so
    points may be collinear. The p-value comes from `NULL_DRAWS` draws with a fixed seed.
    """
    n, k = losses.shape
    sampling = np.cov(losses, rowvar=False).reshape(k, k) * (1 / n + 1 / NOTEBOOK_RUNS)
    covariance = sampling + np.diag(reading_errors**2)
    scale = np.sqrt(covariance.diagonal())
    weights = np.linalg.eigvalsh(covariance / np.outer(scale, scale)).clip(0.0)
    statistic = (((values - losses.mean(0)) / scale) ** 2).sum()
    null = _null_draws(k) @ weights
    p_value = (1 + (null >= statistic).sum()) / (1 + NULL_DRAWS)
    return JointTest(float(weights.sum() ** 2 / (weights**2).sum()), float(p_value))


@lru_cache(maxsize=4)  # the versions of a figure test equally many points
def _null_draws(k: int) -> Float[np.ndarray, "draws k"]:
    return np.random.default_rng(0).chisquare(1.0, (NULL_DRAWS, k))


def panel_test(sweeps: StoredSweeps, panel: Panel) -> pd.DataFrame:
    """Test the digitised losses of a panel jointly, as a table with `COLUMNS`.

    It has one row, or none without digitised points or at least two runs.
    """
    digitised = [series for series in panel.series if isinstance(series, AuthorsSeries) and series.cells]
    pairs = [(series.rows(sweeps), series.notebook_points()) for series in digitised]
    pairs = [(rows, notebook) for rows, notebook in pairs if rows["run"].nunique() > 1]
    if not pairs:
        return pd.DataFrame(columns=COLUMNS)
    losses = pd.concat([_losses_at(rows, notebook, panel.x) for rows, notebook in pairs], axis=1, join="inner")
    notebook = pd.concat([notebook for _, notebook in pairs])
    test = joint_test(losses.to_numpy(), notebook["value"].to_numpy(), notebook["reading_error"].to_numpy())
    row = {"x": test.degrees_of_freedom, "mean": test.p_value, "lower": np.nan, "upper": np.nan, "n": 0}
    labels = {"panel": panel.series[0].panel, "series": TEST, "band": TEST, "marker": False}
    return pd.DataFrame([row | labels], columns=COLUMNS)


def _losses_at(rows: pd.DataFrame, notebook: pd.DataFrame, x: str) -> pd.DataFrame:
    """Return our losses at the nearest x of each point, by run."""
    losses = rows.pivot(index="run", columns=x, values="planning_loss")
    nearest = np.abs(losses.columns.to_numpy(float)[None] - notebook["x"].to_numpy()[:, None]).argmin(1)
    return pd.DataFrame(losses.to_numpy()[:, nearest], index=losses.index)


def points(sweeps: StoredSweeps, series: AuthorsSeries, x: str, compare: PointComparison) -> pd.DataFrame:
    """Return the notebook's points of a series as a table with `COLUMNS`.

    Each digitised point has a row with its reading error as interval, and a row with its z. Values in `CONTRADICTED`
    follow.
    """
    notebook = series.notebook_points()
    if notebook.empty or (rows := series.rows(sweeps)).empty:
        return pd.DataFrame(columns=COLUMNS)
    compared = compare(rows, notebook, x)
    value, error = compared["value"], compared["reading_error"]
    readings = compared.assign(mean=value, lower=value - error, upper=value + error, band=READING)
    z_scores = compared.assign(mean=compared["z"], lower=np.nan, upper=np.nan, band=Z)
    printed = [(task, number) for (name, task), number in CONTRADICTED.items() if name == series.curve]
    print_points = pd.DataFrame(printed, columns=["x", "mean"], dtype=float)
    print_points = print_points.assign(lower=np.nan, upper=np.nan, band=PRINTED)
    rows = pd.concat([table for table in (readings, z_scores, print_points) if len(table)])
    return rows.assign(panel=series.panel, series=label(series), n=0, marker=False).loc[:, COLUMNS]


def label(series: Series) -> str:
    """Return the label of the notebook's points of a series."""
    return f"{series.look.label}, the notebook's"


def describe_tests(data: pd.DataFrame) -> list[str]:
    """Describe the joint test of each panel."""
    readings = data.loc[data["band"] == READING, "panel"]
    tests = data.loc[data["band"] == TEST, ["panel", "x", "mean"]].itertuples(index=False, name=None)
    return [
        f"({panel}) joint test of {(readings == panel).sum()} readings: p = {p_value:.2g}, {degrees:.1f} d.f."
        for panel, degrees, p_value in tests
    ]
