"""Our claims on shorter horizons and better priors.

They use the paper's problem at three similarities, and losses averaged over tasks. One half of the runs selects the
best fixed gamma, the other estimates its loss (page `theory`, Sec. 8).
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
"""The similarities of tasks."""

MIN_LONG_GAMMA = 0.94
"""The smallest long discount factor, equivalent to a prior weight of about 5 %."""

MAX_RELATIVE_GAIN = 0.02
"""The largest negligible gain of a shorter horizon, relative to the loss at gamma_eval."""

MARGIN = 0.02
"""The relative margin of "no worse" in claims."""

LEARNERS = {"pomrl": "POMRL", "ada_pomrl": "ada-POMRL", "aggregating": "aggregating"}
"""The learners of the paper that learn their prior."""

WEIGHTS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.83)
"""The fixed weights alpha of wrong priors."""


def no_worse_at_gamma_eval(sweep: SweepResults, learner: str, other: str, label: str) -> list[Part]:
    """Compare two regrets with the tolerance `MARGIN`, at each sigma."""
    return [
        no_worse(
            sweep.at(sigma=sigma, estimator=learner).regret,
            sweep.at(sigma=sigma, estimator=other).regret,
            f"{label}, σ = {sigma:g}",
            MARGIN,
        )
        for sigma in SIGMAS
    ]


@claim("H1", "horizon_or_prior", figures=("horizon_or_prior",))
def bayes_gains_nothing_from_a_short_horizon(sweep: SweepResults) -> list[Part]:
    """with the prior known, the best fixed gamma gains at most 2 % of the loss at gamma_eval, at every sigma.

    What a horizon is worth: the one-sided 95 % upper limit of the relative gain is below 0.02 for `estimator=bayes`,
    the exact posterior mean.
    """
    return [gains_little(sweep.at(sigma=sigma, estimator="bayes"), f"σ = {sigma:g}") for sigma in SIGMAS]


@claim("H2", "horizon_or_prior", runs=16_000, figures=("horizon_or_prior",))
def horizons_grow_only_without_a_prior(sweep: SweepResults) -> list[Part]:
    """gamma* of ada-POMRL grows with the task, while with the prior known long horizons are best in every task.

    What a horizon is worth: as Q2.3 for ada-POMRL. Under exact Bayes the smallest mean loss at gamma >= 0.94 exceeds
    the smallest below it by at most 2 % in every task.
    """
    claim_parts = []
    for sigma in SIGMAS:
        ada, bayes = (sweep.at(sigma=sigma, estimator=name) for name in ("ada_pomrl", "bayes"))
        label = f"rank correlation of ada-POMRL's γ* with the task, σ = {sigma:g}, bootstrap over runs"
        claim_parts.append(best_grows(ada, ada.loss, label))
        claim_parts += _long_against_short(bayes, f"σ = {sigma:g}")
    return claim_parts


@claim("H3", "horizon_or_prior", figures=("horizon_or_prior",))
def learned_prior_replaces_a_horizon(sweep: SweepResults) -> list[Part]:
    """empirical Bayes at gamma_eval is no worse than ada-POMRL at its best fixed gamma, at every sigma.

    What a horizon is worth: no worse by a margin of 2 %.
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

    What a horizon is worth: the relative gain of the best gamma over gamma_eval. The prior has a fixed weight alpha
    around P_o or the uniform model.
    """
    means = {"known": "true mean", "uniform": "uniform prior"}
    return [
        Part(
            f"{prior_label} with weight {weight:g}, σ = {sigma:g}, {PAIRED}",
            relative_gain(sweep.at(sigma=sigma, prior=prior, mixing=weight)),
        )
        for sigma in (SIGMAS[0], SIGMAS[-1])
        for prior, prior_label in means.items()
        for weight in WEIGHTS
    ]


@claim("H5", "empirical_bayes", "empirical_bayes_computed", figures=("horizon_or_prior",))
def learned_prior_beats_the_average_of_means(text: SweepResults, notebook: SweepResults) -> list[Part]:
    """empirical Bayes is better than POMRL, ada-POMRL and aggregating at every sigma, under each of three readings.

    What a prior is worth: at gamma_eval, as printed, as repaired, and as computed by the authors' notebook.
    """
    claim_parts = []
    for reading in ("printed", "repaired"):
        for sigma in SIGMAS:
            label = f"{reading}, σ = {sigma:g}"
            claim_parts += under(reading, _empirical_bayes_is_better(text, label, reading=reading, sigma=sigma))
    for sigma in SIGMAS:
        claim_parts += under("computed", _empirical_bayes_is_better(notebook, f"computed, σ = {sigma:g}", sigma=sigma))
    return claim_parts


@claim("H6", "known_law", runs=100, is_judged=False, figures=("known_law",))
def what_is_lost_by_learning_the_law(sweep: SweepResults) -> list[Part]:
    """how much more empirical Bayes and ada-POMRL lose than the posterior mean under the true law of mean models.

    What a prior is worth: the difference relative to the loss of `estimator=hierarchical_bayes`, at gamma_eval.
    """
    claim_parts = []
    for estimator, name in {"empirical_bayes": "empirical Bayes", "ada_pomrl": "ada-POMRL"}.items():
        for sigma in SIGMAS:
            learner, law = (sweep.at(sigma=sigma, estimator=key).regret for key in (estimator, "hierarchical_bayes"))
            label = f"{name} less the posterior mean under the true law, relative, σ = {sigma:g}, {PAIRED}"
            claim_parts.append(Part(label, ratio(learner, law)))
    return claim_parts


def _empirical_bayes_is_better(sweep: SweepResults, label: str, **setting: Any) -> list[Part]:
    regret = {name: sweep.at(**setting, estimator=name).regret for name in ("empirical_bayes", *LEARNERS)}
    empirical = regret.pop("empirical_bayes")
    return [less(empirical, regret[name], f"empirical Bayes less {rival}, {label}") for name, rival in LEARNERS.items()]


def relative_gain(losses: Result) -> ScalarEstimate:
    """Estimate the relative gain of the best fixed gamma.

    It is 0 if all losses are 0.
    """
    if not losses.regret.any():
        return Student(0.0, len(losses.loss), 0.0)
    return ratio(2.0 * losses.regret - losses.at_best_fixed(), losses.regret)


def gains_little(losses: Result, label: str) -> Part:
    """Compare the gain of the best fixed gamma with `MAX_RELATIVE_GAIN`."""
    label = f"gain of the best γ over the loss at γ_eval, {label}, {PAIRED}"
    return Part(label, relative_gain(losses), below=MAX_RELATIVE_GAIN, interest=0.0)


def _long_against_short(losses: Result, label: str) -> list[Part]:
    long = losses.gammas >= MIN_LONG_GAMMA
    label = f"Bayes, smallest loss at γ ≥ {MIN_LONG_GAMMA:g} less that below, relative, {PAIRED}, {label}"
    curves = enumerate(np.moveaxis(losses.loss, 1, 0), start=1)
    excess = {task: minimum_ratio(curve[:, long], curve[:, ~long]) for task, curve in curves}
    return [Part(f"{label}, task {task}", estimate, below=MARGIN, margin=MARGIN) for task, estimate in excess.items()]
