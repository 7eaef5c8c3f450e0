"""Claims about the treatment of sepsis (`icu_sepsis`).

Four draws with identical hospitals suggested the claims. Hospitals, rewards and the largest number of actions were
chosen after a look at two of the ten judged runs.
"""

import numpy as np

from pomrl.study import LossPerRun, Part, SweepResults, claim, less

SHORT = 0.5
"""The discount factor of a short horizon."""


@claim("S1", "icu_sepsis")
def short_horizons_help(sweep: SweepResults) -> list[Part]:
    """in the treatment of sepsis, planning on frequencies loses less with gamma = .5 than with gamma_eval.

    A real problem: the loss is averaged over arriving patients and over hospitals.
    """
    short, long = _loss_at(sweep, "without_meta", SHORT), sweep.at(estimator="without_meta").regret
    return [less(short, long, "frequencies, γ = 0.5 less γ_eval")]


@claim("S2", "icu_sepsis")
def priors_over_actions_help(sweep: SweepResults) -> list[Part]:
    """in the treatment of sepsis, a prior over the actions of a state loses less than frequencies, with both horizons.

    A real problem: the prior is the mean of the frequencies over the actions of a state, worth five transitions.
    """
    comparisons = []
    for gamma, label in ((SHORT, "γ = 0.5"), (0.99, "γ_eval")):
        with_prior, without = (_loss_at(sweep, name, gamma) for name in ("action_prior", "without_meta"))
        comparisons.append(less(with_prior, without, f"prior over actions less frequencies, {label}"))
    return comparisons


def _loss_at(sweep: SweepResults, estimator: str, gamma: float) -> LossPerRun:
    losses = sweep.at(estimator=estimator)
    return losses.average_curve[:, int(np.abs(losses.gammas - gamma).argmin())]
