"""How often the sequential rule of `pomrl.judging.sequential_analysis` errs, by simulation.

Losses are as heavy-tailed as those of single tasks, and the truth lies exactly on a threshold, so that any verdict but
*no difference of interest* is false. All claims that are judged share the error of a variant, over all analyses.
"""

from collections import Counter
from collections.abc import Callable

import numpy as np
from tests.support.worlds import CLAIMS, PAPER, heavy_tailed

from pomrl.judging.claim import claim
from pomrl.judging.comparisons import less, no_worse, on_a_par
from pomrl.judging.sequential_analysis import Outcome
from pomrl.judging.verdict import Part, Verdict

Draw = Callable[[np.random.Generator, int], np.ndarray]
"""A function of a generator and a number of runs that returns two losses for each run."""


JUDGED = sum(of.is_judged and not of.is_exact for of in CLAIMS)
"""The number of claims that share the error of a variant."""

ERROR = PAPER.described.error / len(PAPER.described.headline)
"""The error of a variant of the headline."""


def independent(rng: np.random.Generator, runs: int) -> np.ndarray:
    """Two losses whose difference is symmetric."""
    return heavy_tailed(rng, runs, 2)


def skewed(rng: np.random.Generator, runs: int) -> np.ndarray:
    """A loss that is heavy-tailed, and one that hardly varies, so that the difference is as skewed as the loss."""
    return np.stack([heavy_tailed(rng, runs), 1.0 + 0.01 * rng.standard_normal(runs)], axis=1)


def averaged(rng: np.random.Generator, runs: int) -> np.ndarray:
    """A loss with skewness 2, more than differences of losses have that are averaged over a hundred batches."""
    return np.stack([rng.gamma(1.0, 1.0, runs), 1.0 + 0.01 * rng.standard_normal(runs)], axis=1)


def at_the_margin(rng: np.random.Generator, runs: int) -> np.ndarray:
    """Two correlated losses, the first of which is larger by exactly the margin."""
    common, own = heavy_tailed(rng, runs), heavy_tailed(rng, runs)
    return np.stack([1.1 * (common + own) / 2.0, (common + heavy_tailed(rng, runs)) / 2.0], axis=1)


CASES: dict[str, tuple[Draw, Callable[..., Part]]] = {
    "less, symmetric": (independent, less),
    "less, skewed to the right": (skewed, less),
    "less, skewed to the left": (lambda rng, runs: skewed(rng, runs)[:, ::-1], less),
    "less, averaged over batches": (averaged, less),
    "on a par, at the margin": (at_the_margin, on_a_par),
    "no worse, at the margin": (at_the_margin, no_worse),
}


def less_by_one_percent(rng: np.random.Generator, runs: int) -> np.ndarray:
    """Two losses of which the first is less by 1 % of the second, half of the smallest effect of interest."""
    common = 0.5 + heavy_tailed(rng, runs)
    return np.stack([common - 0.015, common + 0.2 * rng.standard_normal(runs)], axis=1)


def unjudged(name: str) -> Outcome:
    """Return a claim of the paper where such losses occur."""
    default, *_, notebook = PAPER.variants
    analyses = notebook.analyses if name == "less, averaged over batches" else default.analyses
    return Outcome(claim("X.1")(lambda: []), analyses or tuple(PAPER.described.analyses), ERROR / JUDGED)


def verdicts(name: str, replications: int, analyses: tuple[int, ...], seed: int = 0) -> Counter[Verdict]:
    """Count the verdicts that the sequential rule gives in so many replications.

    Only these analyses are made, of all that are planned and share the error.
    """
    draw, compare = {**CASES, "less, by 1 %": (less_by_one_percent, less)}[name]
    rng, count = np.random.default_rng(seed), Counter[Verdict]()
    for _ in range(replications):
        pairs, outcome = draw(rng, analyses[-1]), unjudged(name)
        for runs in analyses:
            if outcome.open != []:
                outcome = outcome.after([compare(*pairs[:runs].T, "")])
        count[outcome.verdict] += 1
    return count
