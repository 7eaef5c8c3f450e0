"""Claims about the treatment of sepsis (`icu_sepsis`).

Four draws with identical hospitals suggested S1 and S2. Ten runs with another seed were judged before. With gamma = .5
the prior was worth 0.00017 there, with a standard deviation over runs of 0.0005. If that is the truth, 124 runs show it
with a probability of 80 % (`verdicts.plan`), so S1 and S2 have 150.

The ten runs also suggested V2, for hospitals that differ more. In them, the second comparison of V2 is ten standard
errors from its threshold, so 30 runs are enough.

No run with the seed of this study was seen before all claims were fixed.
"""

import numpy as np

from pomrl.study import LossPerRun, Part, SweepResults, claim, less, mean_difference

SHORT, LONG = 0.5, 0.99
"""The discount factors of a short horizon and of evaluation."""

LARGEST_SHARE = 0.1
"""The largest worth of the prior with a short horizon, as a share of its worth at gamma_eval."""

FIGURE = "horizon"


@claim("S1", "icu_sepsis", runs=150, figures=(FIGURE,))
def short_horizons_help(sweep: SweepResults) -> list[Part]:
    """in the treatment of sepsis, planning on frequencies loses less with gamma = .5 than with gamma_eval.

    A real problem: the loss is averaged over arriving patients and over hospitals.
    """
    short, long = loss_at(sweep, "without_meta", SHORT), sweep.at(estimator="without_meta").regret
    return [less(short, long, "frequencies, γ = 0.5 less γ_eval")]


@claim("S2", "icu_sepsis", runs=150, figures=(FIGURE,))
def priors_over_actions_help(sweep: SweepResults) -> list[Part]:
    """in the treatment of sepsis, a prior over the actions of a state loses less than frequencies, with both horizons.

    A real problem: the prior is the mean of the frequencies over the actions of a state, worth five transitions.
    """
    comparisons = []
    for gamma, label in ((SHORT, "γ = 0.5"), (LONG, "γ_eval")):
        with_prior, without = (loss_at(sweep, name, gamma) for name in ("action_prior", "without_meta"))
        comparisons.append(less(with_prior, without, f"prior over actions less frequencies, {label}"))
    return comparisons


@claim("V2", "icu_sepsis_spread", runs=30, figures=(FIGURE,))
def a_short_horizon_replaces_a_prior(sweep: SweepResults) -> list[Part]:
    """in hospitals that differ more, the prior over actions is worth less with gamma = .5 than with gamma_eval, and at
    most a tenth of it.

    The horizon is the prior: its worth is the loss of frequencies less the loss with the prior, with the same gamma.
    Hospitals have a concentration of 100 patients instead of 300.
    """
    short, long = worth(sweep, SHORT), worth(sweep, LONG)
    tenth = mean_difference(short, LARGEST_SHARE * long)
    return [
        less(short, long, "worth of the prior, γ = 0.5 less γ_eval"),
        Part("worth of the prior, γ = 0.5 less a tenth of γ_eval", tenth, below=0.0, interest=0.0),
    ]


def worth(sweep: SweepResults, gamma: float) -> LossPerRun:
    """Return the loss of frequencies, less the loss with the prior over actions."""
    return loss_at(sweep, "without_meta", gamma) - loss_at(sweep, "action_prior", gamma)


def loss_at(sweep: SweepResults, estimator: str, gamma: float) -> LossPerRun:
    """Return the loss at a discount factor, averaged over tasks."""
    losses = sweep.at(estimator=estimator)
    return losses.average_curve[:, int(np.abs(losses.gammas - gamma).argmin())]
