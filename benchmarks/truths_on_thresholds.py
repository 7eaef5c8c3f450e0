"""Each kind of comparison that claims consist of, on populations whose truth is exactly the threshold.

A population is some thousand runs: made-up losses as heavy-tailed as those of a single task, or losses of real
experiments, which are computed and stored first (two minutes of CPU). Samples have the numbers of runs on which claims
about such losses are judged.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from benchmarks.rare_samples import Case, PValues, Rows
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import sweep
from pomrl.judging.best_gammas import smaller_best_gamma
from pomrl.results.result import Result
from pomrl.running.plan import plan
from pomrl.running.work import raise_failures, work
from pomrl_studies.pomrl2023.tasks_and_gains import FIRST_TASKS, LAST_TASKS
from verdicts.comparisons import EQUALITY_MARGIN, in_more_than, slope
from verdicts.estimates import Statistic, largest, mean, smooth
from verdicts.minima import SmallestMean, minimum_difference, minimum_ratio, ratio
from verdicts.parts import Part

MADE_UP_RUNS = 100_000
"""The number of runs in a population of made-up losses."""

TIES = ((1, 1), (2, 2), (4, 1), (1, 4))
"""How many means tie for the smallest one of a, and of b."""

GRID = [8, 12, 16, 18, 20]
"""The places of discount factors in the paper's grid, from .4 to .99."""

Population = tuple[str, tuple[int, ...], Rows]
"""A name, the numbers of runs on which claims about such losses are judged, and what is known of each run."""


def paired_differences() -> Iterator[Case]:
    """Yield `mean` at 0, which `less` and `below_zero` use."""
    for name, runs, rows in [*made_up_differences(), *real_differences()]:
        centred = rows - rows.mean()
        yield Case("mean", name, runs, centred, centred[None], p_of_mean)


def ratios() -> Iterator[Case]:
    """Yield `ratio` at both margins, and at 0 as less_in_shares uses it."""
    for (name, runs, rows), threshold in product(pairs(), (EQUALITY_MARGIN, -EQUALITY_MARGIN)):
        a, b = rows.T
        yield _ratio("ratio", name, runs, a * (1.0 + threshold) * b.mean() / a.mean(), b, threshold)
    for (name, runs, loss), threshold in product(without_meta_learning(), (EQUALITY_MARGIN, -EQUALITY_MARGIN)):
        level, change = loss.mean(1), loss @ slope(loss.shape[1])
        shifted = change - change.mean() + threshold * level.mean()
        yield _ratio("slope", name, runs, level + shifted, level, threshold)
    for name, runs, rows in shares():
        difference, whole = rows.T
        yield _ratio("share", name, runs, whole + difference - difference.mean(), whole, 0.0)


def _ratio(kind: str, name: str, runs: tuple[int, ...], a: np.ndarray, b: np.ndarray, threshold: float) -> Case:
    words = f"{kind} at {threshold:+g}" if threshold else kind
    rows, influence = np.stack([a, b], axis=1), a - (1.0 + threshold) * b
    return Case(words, name, runs, rows, influence[None], partial(p_of_ratio, threshold))


def smooth_functions() -> Iterator[Case]:
    """Yield functions of means whose standard errors are those of samples without one run."""
    for name, runs in (("ada-POMRL", (1000, 4000)), ("ada-POMRL, computed", (500, 4000))):
        loss = losses_of(name).at_eval[:, [14, 0]]
        rows = (loss - loss.mean(0)) / loss.std(0)
        influence = rows**2 @ [0.5, -0.5]
        yield Case("log ratio of deviations", name, runs, rows, influence[None], p_of_deviations)
    yield _smooth("share of the fall", "ada-POMRL at .025 and .01", (1000, 4000), equal_shares(), difference_of_shares)
    loss = losses_of("ada-POMRL").loss
    yield _smooth("slope of minima", "ada-POMRL", (1000,), loss.reshape(len(loss), -1), slope_of_minima)


def _smooth(kind: str, name: str, runs: tuple[int, ...], rows: np.ndarray, statistic: Statistic) -> Case:
    centre, step = rows.mean(0, keepdims=True), 1e-4
    truth = statistic(centre).item()
    influence = statistic(centre + step * (rows - centre)) - truth
    return Case(kind, name, runs, rows, influence[None] - influence.mean(), partial(p_of_smooth, statistic, truth))


def minima() -> Iterator[Case]:
    """Yield minima over columns, the smallest of which tie."""
    for (name, runs, curve), (tied_a, tied_b) in product(curves(), TIES):
        a, b = np.split(curve[:, : tied_a + tied_b], [tied_a], axis=1)
        gaps, divisor, words = gaps_of(a, b), max(tied_a, tied_b), f"ties of {tied_a} and {tied_b}"
        for kind, of_columns, threshold in (
            ("difference", minimum_difference, 0.0),
            ("ratio", minimum_ratio, EQUALITY_MARGIN),
        ):
            rows = np.concatenate([a * (1.0 + threshold), b], axis=1)
            p_values = partial(p_of_minima, of_columns, tied_a, threshold)
            yield Case(f"minimum_{kind}, {words}", name, runs, rows, gaps, p_values, divisor)


def several() -> Iterator[Case]:
    """Yield the largest of several numbers, gamma* of two curves, and how many of several statements are true."""
    for name, runs, curve in curves():
        gaps = curve[:, :4] - curve[:, 4:]
        yield Case("largest of 4", name, runs, gaps, gaps.T, p_of_largest, 4)
        far = np.concatenate([curve[:, :2], curve[:, 2:] + 10.0 * curve.std()], axis=1)
        for kind, rows in (("tie of 2", far), ("tie of 5", curve)):
            others = rows[:, [0]] - rows[:, 1:]
            influences = others[:, :1] if kind == "tie of 2" else others
            yield Case(f"smaller_best, {kind}", name, runs, rows, influences.T, p_of_best, 8)
    for name, runs, rows in [*made_up_differences(), *real_differences()]:
        columns = independent_columns(rows - rows.mean(), 8)
        yield Case("in_more_than 4 of 12, of which 8 tie", name, runs, columns, columns.T, p_of_count, 8)


def correlations() -> Iterator[Case]:
    """Yield a correlation whose sign one difference of means decides, so that its bootstrap is a normal test."""
    for name, runs, rows in [*made_up_differences(), *gaps_of_curves()]:
        centred = rows - rows.mean()
        yield Case("correlation", name, runs, centred, centred[None], p_of_normal_means)


KINDS = (paired_differences, ratios, smooth_functions, minima, several, correlations)
"""The functions that yield the comparisons of a kind."""


def p_of_mean(rows: Rows) -> PValues:
    """Return the p-values of a mean of 0."""
    return mean(rows).p_values(0.0)


def p_of_ratio(threshold: float, rows: Rows) -> PValues:
    """Return the p-values of a ratio less 1."""
    return ratio(*rows.T).p_values(threshold)


def p_of_smooth(statistic: Statistic, truth: float, rows: Rows) -> PValues:
    """Return the p-values of a function of means."""
    return smooth(statistic, rows).p_values(truth)


def p_of_deviations(rows: Rows) -> PValues:
    """Return the p-values of equal standard deviations, as Q1.2 computes them."""
    return smooth(log_ratio_of_deviations, (rows - rows.mean(0)) ** 2).p_values(0.0)


def p_of_minima(
    of: Callable[[np.ndarray, np.ndarray], SmallestMean], columns_of_a: int, threshold: float, rows: Rows
) -> PValues:
    """Return the p-values of the smallest of the first columns compared with the smallest of the others."""
    return of(rows[:, :columns_of_a], rows[:, columns_of_a:]).p_values(threshold)


def p_of_largest(rows: Rows) -> PValues:
    """Return the p-values of the largest of some means, all of which are 0."""
    return largest([mean(column) for column in rows.T]).p_values(0.0)


def p_of_best(rows: Rows) -> PValues:
    """Return the p-values of equal gamma*: that of a curve where the first one ties, and the first one as known."""
    known = np.ones_like(rows)
    known[:, 0] = 0.0
    return smaller_best_gamma(np.arange(rows.shape[1], dtype=float), rows, known).p_values(0.0)


def p_of_count(rows: Rows) -> PValues:
    """Return the p-values of 4 true statements, if 4 are clear and the other ones, of the columns, just untrue."""
    clear = mean(rows[:, 0] - 100.0 * rows[:, 0].std())
    statements = [[Part("", estimate, below=0.0)] for estimate in [clear] * 4 + [mean(column) for column in rows.T]]
    return in_more_than(4.0, statements, "")[0].estimate.p_values(4.0)


def p_of_normal_means(rows: Rows) -> PValues:
    """Return the p-values of the sign of a mean in infinitely many draws from its limiting normal distribution."""
    z = rows.mean() / (rows.std(ddof=1) / np.sqrt(len(rows)))
    return float(ndtr(-z)), float(ndtr(z))


def log_ratio_of_deviations(variances: Float[np.ndarray, "B 2"]) -> Float[np.ndarray, " B"]:
    """Return the logarithm of the ratio of two standard deviations, as Q1.2 does."""
    return 0.5 * np.log(variances[..., 0] / variances[..., 1])


def share_of_fall(stages: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B"]:
    """Return the share of the fall of a loss, from task 1 to the last tasks, that is reached in the first tasks."""
    return (stages[..., 0] - stages[..., 1]) / (stages[..., 0] - stages[..., 2])


def slope_of_minima(means: Float[np.ndarray, "B k"]) -> Float[np.ndarray, " B"]:
    """Return the slope over 15 tasks of the smallest mean loss of each, as the claims on horizons do."""
    return slope(means.reshape(len(means), 15, -1).min(-1))


def difference_of_shares(means: Float[np.ndarray, "B 6"]) -> Float[np.ndarray, " B"]:
    """Return the share of the fall at one similarity less that at another, as Q3.7 does."""
    return share_of_fall(means[..., :3]) - share_of_fall(means[..., 3:])


def equal_shares() -> Float[np.ndarray, "N 6"]:
    """Return losses in task 1, the first and the last tasks at two similarities, with equal shares of the fall."""
    at = [losses_of(name) for name in ("ada-POMRL, intermediate", "ada-POMRL")]
    rows = np.stack([stage for of in at for stage in (of.task(1), of.tasks(FIRST_TASKS), of.tasks(LAST_TASKS))], axis=1)
    start, first, last = rows.mean(0)[:3]
    rows[:, 1] += start - share_of_fall(rows.mean(0)[3:]) * (start - last) - first
    return rows


def gaps_of(a: Float[np.ndarray, "N I"], b: Float[np.ndarray, "N J"]) -> Float[np.ndarray, "P N"]:
    """Return the differences of all columns of a and b, and of their means over columns."""
    sides = [np.concatenate([side, side.mean(1, keepdims=True)], axis=1) for side in (a, b)]
    return np.unique((sides[0][:, :, None] - sides[1][:, None]).reshape(len(a), -1), axis=1).T


def independent_columns(population: Float[np.ndarray, " N"], number: int) -> Float[np.ndarray, "N k"]:
    """Return columns with the numbers of a population in independent orders."""
    rng = np.random.default_rng(3)
    return np.stack([rng.permutation(population) for _ in range(number)], axis=1)


def heavy_tailed(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw numbers with mean 1 and standard deviation 1.6, which are as heavy-tailed as the losses of one task."""
    return rng.gamma(0.4, 2.5, shape)


@cache
def made_up_differences() -> list[Population]:
    """Draw differences of losses: symmetric, with the skewness of averages, and as skewed as the losses themselves."""
    rng, runs = np.random.default_rng(0), (500, 1000)
    a, b, skewed = heavy_tailed(rng, 3, MADE_UP_RUNS)
    averaged = rng.gamma(1.0, 1.0, MADE_UP_RUNS)
    return [("gamma, symmetric", runs, a - b), ("gamma, averaged", runs, averaged), ("gamma, skewed", runs, skewed)]


def real_differences() -> list[Population]:
    """Return differences of losses that claims are about."""
    pomrl, ada, without, oracle = map(losses_of, ("POMRL", "ada-POMRL", "without", "oracle"))
    computed, plain = losses_of("ada-POMRL, computed"), losses_of("without, computed")
    forest = [losses_of(name).regret for name in ("ada-POMRL, forest", "Bayes, forest")]
    of_text = {
        "ada-POMRL, task 15 less 1": ada.task(15) - ada.task(1),
        "ada-POMRL less POMRL, first tasks": ada.tasks(FIRST_TASKS) - pomrl.tasks(FIRST_TASKS),
        "ada-POMRL less POMRL, last tasks": ada.tasks(LAST_TASKS) - pomrl.tasks(LAST_TASKS),
        "ada-POMRL less POMRL, task 15": ada.task(15) - pomrl.task(15),
        "ada-POMRL less oracle, last tasks": ada.tasks(LAST_TASKS) - oracle.tasks(LAST_TASKS),
        "ada-POMRL less without, last tasks": ada.tasks(LAST_TASKS) - without.tasks(LAST_TASKS),
        "ada-POMRL less without, regret": ada.regret - without.regret,
    }
    return [
        *((name, (500, 1000), rows) for name, rows in of_text.items()),
        ("ada-POMRL, task 15 less 1, computed", (500,), computed.task(15) - computed.task(1)),
        ("ada-POMRL less without, last tasks, computed", (500,), computed.tasks(LAST_TASKS) - plain.tasks(LAST_TASKS)),
        ("Bayes less ada-POMRL, forest", (100, 1000), forest[1] - forest[0]),
    ]


def pairs() -> list[Population]:
    """Return pairs of losses that claims compare by their ratio."""
    common, own, other = heavy_tailed(np.random.default_rng(1), 3, MADE_UP_RUNS)
    pomrl, ada, without = map(losses_of, ("POMRL", "ada-POMRL", "without"))
    computed, plain = losses_of("ada-POMRL, computed"), losses_of("without, computed")
    every = [
        ("gamma, correlated", (500, 1000), common + own, common + other),
        ("ada-POMRL to POMRL, last tasks", (500, 1000), ada.tasks(LAST_TASKS), pomrl.tasks(LAST_TASKS)),
        ("ada-POMRL to without, regret", (500, 1000), ada.regret, without.regret),
        ("ada-POMRL, task 15 to 1", (500, 1000), ada.task(15), ada.task(1)),
        ("ada-POMRL, task 15 to 1, computed", (500,), computed.task(15), computed.task(1)),
        ("ada-POMRL to without, regret, computed", (500,), computed.regret, plain.regret),
    ]
    return [(name, runs, np.stack([a, b], axis=1)) for name, runs, a, b in every]


def without_meta_learning() -> list[Population]:
    """Return the loss without meta-learning in each task."""
    every = (("without", (500, 1000)), ("without, computed", (500,)))
    return [(name, runs, losses_of(name).at_eval) for name, runs in every]


def shares() -> list[Population]:
    """Return differences that claims compare in shares of a loss, and that loss."""
    ada, bayes = (losses_of(name).regret for name in ("ada-POMRL, forest", "Bayes, forest"))
    return [("Bayes less ada-POMRL, forest", (100, 1000), np.stack([bayes - ada, ada], axis=1))]


def curves() -> list[Population]:
    """Return losses at five discount factors, shifted to equal means."""
    rng, ada, unequal = np.random.default_rng(2), losses_of("ada-POMRL"), losses_of("unequal data")
    every = [
        ("gamma, independent", (500, 1000), heavy_tailed(rng, MADE_UP_RUNS, 5)),
        ("ada-POMRL, task 15", (500, 1000), ada.curve(15)[:, GRID]),
        ("ada-POMRL, average curve", (1000,), ada.average_curve[:, GRID]),
        ("unequal data", (500,), unequal.average_curve[:, [4, 6, 8, 9, 11]]),
    ]
    return [(name, runs, curve - curve.mean(0) + curve.mean()) for name, runs, curve in every]


def gaps_of_curves() -> list[Population]:
    """Return differences of losses at two neighbouring discount factors."""
    curve, unequal = losses_of("ada-POMRL").curve(15), losses_of("unequal data").average_curve
    return [
        ("ada-POMRL, task 15, .9 less .85", (500, 1000), curve[:, 18] - curve[:, 17]),
        ("unequal data, .792 less .693", (500,), unequal[:, 8] - unequal[:, 7]),
    ]


OF_PAPER = 20_000, None, "sigma=0.01"
COMPUTED = 4000, "computed_similarity", "task_distribution.concentration_over_S=1.5"
FOREST = 5000, "horizons/priors", "task_distribution=forest", "m=2"
STORED: dict[str, tuple[int, str | None, *tuple[str, ...]]] = {
    "POMRL": (*OF_PAPER, "estimator=pomrl"),
    "ada-POMRL": (*OF_PAPER, "estimator=ada_pomrl"),
    "without": (*OF_PAPER, "estimator=without_meta"),
    "oracle": (*OF_PAPER, "estimator=oracle"),
    "ada-POMRL, intermediate": (20_000, None, "sigma=0.025", "estimator=ada_pomrl"),
    "ada-POMRL, computed": (*COMPUTED, "estimator=ada_pomrl"),
    "without, computed": (*COMPUTED, "estimator=without_meta"),
    "ada-POMRL, forest": (*FOREST, "estimator=ada_pomrl"),
    "Bayes, forest": (*FOREST, "estimator=empirical_bayes"),
    "unequal data": (20_000, "rathnam2023/discounting", "data=unequal"),
}
"""Numbers of runs, names of sweeps and overrides of the stored experiments."""


@cache
def losses_of(name: str) -> Result:
    """Return the losses of a stored experiment, after computing what the store lacks."""
    runs, of_sweep, *overrides = STORED[name]
    (setting,) = sweep(PUBLISHED, of_sweep, further=[*overrides, f"runs={runs}", "yes=true"])
    raise_failures(work(plan([setting.experiment]), lambda _done, _failed: None))
    return Result.of_experiment(setting.experiment, runs)
