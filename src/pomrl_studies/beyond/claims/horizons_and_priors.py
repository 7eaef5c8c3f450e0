"""Claims of ours on what a horizon is worth: whether a shorter one helps beside a good prior.

All are about the paper's problem at three similarities of tasks, and H5 about each of its three readings. The best
fixed gamma is chosen on one half of the runs and judged on the other (`Result.in_hindsight`): one that is judged on the
runs that chose it looks better than it is.
What is behind them is shown on the page `theory` of the paper's study, section 8.
"""

from typing import Any

import numpy as np

from pomrl.study import (
    PAIRED,
    Part,
    Result,
    ScalarEstimate,
    Student,
    SweepResults,
    best_grows,
    claim,
    less,
    minimum_ratio,
    no_worse,
    ratio,
    under,
)

SIGMAS = (0.01, 0.025, 0.047)
"""The similarities of tasks that the claims are about."""

LONG = 0.94
"""Discount factors from here on count as long horizons: about those whose weight on ignorance is at most 5 %."""

LARGEST_GAIN = 0.02
"""The largest gain of a shorter horizon that counts as none, as a share of the loss at gamma_eval."""

MARGIN = 0.02
"""How far one mean may exceed another that it is no worse than, as a share of the latter."""

CONCENTRATIONS = (1.5, 0.75, 0.375)
"""The concentrations over S that stand for the three similarities in the authors' notebook."""

LEARNERS = {"pomrl": "POMRL", "ada_pomrl": "ada-POMRL", "aggregating": "aggregating"}
"""The learners of the paper that learn their prior."""

WEIGHTS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.83)
"""The fixed weights alpha of wrong priors."""


def no_worse_at_gamma_eval(sweep: SweepResults, learner: str, other: str, words: str) -> list[Part]:
    """Claim that an estimator's regret at gamma_eval is at most `MARGIN` above that of another one at every sigma."""
    return [
        no_worse(
            sweep.at(sigma=sigma, estimator=learner).regret,
            sweep.at(sigma=sigma, estimator=other).regret,
            f"{words}, σ = {sigma:g}",
            MARGIN,
        )
        for sigma in SIGMAS
    ]


@claim("H1", "horizon_or_prior", figures=("horizon_or_prior",))
def bayes_gains_nothing_from_a_short_horizon(sweep: SweepResults) -> list[Part]:
    """with the prior known, the best fixed gamma gains at most 2 % of the loss at gamma_eval, at every sigma.

    What a horizon is worth: the upper limit of the one-sided 95 % interval of gain over loss at gamma_eval is below
    0.02 for `estimator=bayes`, whose estimate is the exact posterior mean.
    """
    return [gains_little(sweep.at(sigma=sigma, estimator="bayes"), f"σ = {sigma:g}") for sigma in SIGMAS]


@claim("H2", "horizon_or_prior", runs=16_000, figures=("horizon_or_prior",))
def horizons_grow_only_without_a_prior(sweep: SweepResults) -> list[Part]:
    """gamma* of ada-POMRL grows with the task, while with the prior known long horizons are best in every task.

    What a horizon is worth: as Q2.3 for ada-POMRL; and under exact Bayes the smallest mean loss at gamma >= 0.94 is in
    no task above the smallest below it by more than 2 %.
    """
    parts = []
    for sigma in SIGMAS:
        ada, bayes = (sweep.at(sigma=sigma, estimator=name) for name in ("ada_pomrl", "bayes"))
        words = f"rank correlation of ada-POMRL's γ* with the task, σ = {sigma:g}, bootstrap over runs"
        parts.append(best_grows(ada, ada.loss, words))
        parts += _long_against_short(bayes, f"σ = {sigma:g}")
    return parts


@claim("H3", "horizon_or_prior", figures=("horizon_or_prior",))
def learned_prior_replaces_a_horizon(sweep: SweepResults) -> list[Part]:
    """empirical Bayes at gamma_eval is no worse than ada-POMRL at its best fixed gamma, at every sigma.

    What a horizon is worth: no worse by a margin of 2 %, in the loss on average over tasks.
    """
    return [
        no_worse(
            sweep.at(sigma=sigma, estimator="empirical_bayes").regret,
            sweep.at(sigma=sigma, estimator="ada_pomrl").at_best_fixed(),
            f"empirical Bayes at γ_eval less ada-POMRL at its best γ, σ = {sigma:g}",
            MARGIN,
        )
        for sigma in SIGMAS
    ]


@claim("H4", "wrong_priors", runs=300, is_judged=False, figures=("wrong_priors",))
def wrong_priors_gain(sweep: SweepResults) -> list[Part]:
    """how much a posterior mean under a wrong prior gains from a shorter horizon.

    What a horizon is worth: the gain of the best gamma as a share of the loss at gamma_eval, where the prior's mean is
    the true P_o or the uniform model, and its weight alpha is fixed.
    """
    means = {"known": "true mean", "uniform": "uniform prior"}
    return [
        Part(
            f"{words} with weight {weight:g}, σ = {sigma:g}, {PAIRED}",
            relative_gain(sweep.at(sigma=sigma, prior=prior, mixing=weight)),
        )
        for sigma in (SIGMAS[0], SIGMAS[-1])
        for prior, words in means.items()
        for weight in WEIGHTS
    ]


@claim("H5", "empirical_bayes", "empirical_bayes_computed", figures=("horizon_or_prior",))
def learned_prior_beats_the_average_of_means(text: SweepResults, notebook: SweepResults) -> list[Part]:
    """empirical Bayes is better than POMRL, ada-POMRL and aggregating at every sigma, under each of three readings.

    What a prior is worth: the loss at gamma_eval on average over tasks, in the paper's experiments as printed, as
    repaired, and as the authors' notebook computes them. The oracle is not among the learners, because it is told the
    mean model.
    """
    parts = []
    for reading in ("printed", "repaired"):
        for sigma in SIGMAS:
            words = f"{reading}, σ = {sigma:g}"
            parts += under(reading, _empirical_bayes_is_better(text, words, reading=reading, sigma=sigma))
    for sigma, concentration in zip(SIGMAS, CONCENTRATIONS, strict=True):
        words = f"computed, σ = {sigma:g}"
        parts += under("computed", _empirical_bayes_is_better(notebook, words, concentration_over_S=concentration))
    return parts


@claim("H6", "known_law", runs=100, is_judged=False, figures=("known_law",))
def what_is_lost_by_learning_the_law(sweep: SweepResults) -> list[Part]:
    """how much more empirical Bayes and ada-POMRL lose than the posterior mean under the true law of mean models.

    What a prior is worth: the difference as a share of the loss of `estimator=hierarchical_bayes`, at gamma_eval on
    average over tasks. That learner knows how mean models are drawn, and not the mean model.
    """
    parts = []
    for estimator, name in {"empirical_bayes": "empirical Bayes", "ada_pomrl": "ada-POMRL"}.items():
        for sigma in SIGMAS:
            learner, law = (sweep.at(sigma=sigma, estimator=key).regret for key in (estimator, "hierarchical_bayes"))
            words = f"{name} less the posterior mean under the true law, relative, σ = {sigma:g}, {PAIRED}"
            parts.append(Part(words, ratio(learner, law)))
    return parts


def _empirical_bayes_is_better(sweep: SweepResults, words: str, **setting: Any) -> list[Part]:
    """Compare the regret of empirical Bayes with that of each learner of the paper in one setting."""
    regret = {name: sweep.at(**setting, estimator=name).regret for name in ("empirical_bayes", *LEARNERS)}
    empirical = regret.pop("empirical_bayes")
    return [less(empirical, regret[name], f"empirical Bayes less {word}, {words}") for name, word in LEARNERS.items()]


def relative_gain(losses: Result) -> ScalarEstimate:
    """Estimate by how much the best fixed gamma lowers the loss at gamma_eval, as a share; 0 where nothing is lost."""
    if not losses.regret.any():
        return Student(0.0, len(losses.loss), 0.0)
    return ratio(2.0 * losses.regret - losses.at_best_fixed(), losses.regret)


def gains_little(losses: Result, words: str) -> Part:
    """Claim that the best fixed gamma gains at most `LARGEST_GAIN` of the loss at gamma_eval."""
    words = f"gain of the best γ over the loss at γ_eval, {words}, {PAIRED}"
    return Part(words, relative_gain(losses), below=LARGEST_GAIN, interest=0.0)


def _long_against_short(losses: Result, words: str) -> list[Part]:
    """Compare in each task the smallest mean loss of long horizons with that of shorter ones."""
    long = losses.gammas >= LONG
    words = f"Bayes, smallest loss at γ ≥ {LONG:g} less that below, relative, {PAIRED}, {words}"
    curves = enumerate(np.moveaxis(losses.loss, 1, 0), start=1)
    excess = {task: minimum_ratio(curve[:, long], curve[:, ~long]) for task, curve in curves}
    return [Part(f"{words}, task {task}", estimate, below=MARGIN, margin=MARGIN) for task, estimate in excess.items()]
