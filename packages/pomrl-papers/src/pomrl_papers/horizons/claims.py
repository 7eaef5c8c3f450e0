"""Compare the advice of four papers on the same draws, by rules fixed in advance.

A *cell* is a problem with m transitions from each pair. Claims count the cells where a method is better than another.
Differences are relative to the loss of planning on frequencies with gamma_eval.
"""

from pomrl.study import LossPerRun, Part, SweepResults, claim, in_more_than, less_in_shares, no_worse

PROBLEMS = (
    "dirichlet", "river_swim", "inventory", "queue", "machine_replacement", "forest", "garnet", "frozen_lake",
    "frozen_lake_8x8", "cliff_walking",
)  # fmt: skip
"""The random chains of POMRL at sigma = 0.01, and the families at a spread of 0.05."""

TRANSITIONS = (2, 5, 20)
"""Numbers of transitions from each pair."""

MARGIN = 0.02
"""The relative margin of "no worse" in claims."""

Method = dict[str, LossPerRun]
"""The losses of a method in each cell."""


@claim("A1", "frequencies", figures=("advice",))
def cross_validation_helps(frequencies: SweepResults) -> list[Part]:
    """when planning on frequencies, gamma by cross-validation is better than gamma_eval in more than half of the cells.

    Jiang et al. (2015): choose a shorter horizon by cross-validation.
    """
    return _compare_in_cells(
        _cross_validated(frequencies), _at_eval(frequencies), _at_eval(frequencies), "cross-validated γ"
    )


@claim("A2", "penalties", "frequencies", figures=("advice",))
def penalties_help(penalties: SweepResults, frequencies: SweepResults) -> list[Part]:
    """least squares with an L2 penalty are better than planning on frequencies in more than half of the cells.

    Amit et al. (2020): a penalty does what a shorter horizon does.
    """
    return _compare_in_cells(_losses_by_cell(penalties), _at_eval(frequencies), _at_eval(frequencies), "LSTD with L2")


@claim("A3", "weights", "frequencies", figures=("advice",))
def weights_of_pairs_help(weights: SweepResults, frequencies: SweepResults) -> list[Part]:
    """a weight for each pair is better than planning on frequencies with gamma_eval in more than half of the cells.

    Rathnam et al. (2023): a uniform prior of least expected squared error in each pair.
    """
    return _compare_in_cells(
        _losses_by_cell(weights), _at_eval(frequencies), _at_eval(frequencies), "weight of each pair"
    )


@claim("A4", "schedules", "frequencies", figures=("advice",))
def the_schedule_helps(schedules: SweepResults, frequencies: SweepResults) -> list[Part]:
    """ada-POMRL with its upper-bound schedule is better than planning on frequencies in more than half of the cells.

    Khetarpal et al. (2023): a learned mean model, with the horizon of the smallest bound.
    """
    learned = _losses_by_cell(schedules, gamma_schedule="upper_bound")
    return _compare_in_cells(learned, _at_eval(frequencies), _at_eval(frequencies), "ada-POMRL, upper-bound schedule")


@claim("A5", "priors", "frequencies", figures=("advice",))
def learned_priors_help(priors: SweepResults, frequencies: SweepResults) -> list[Part]:
    """tied rows at gamma_eval are better than gamma by cross-validation in more than half of the cells.

    This project: a better prior, learned from earlier tasks, and the full horizon.
    """
    learned = _losses_by_cell(priors, estimator="tied_rows")
    return _compare_in_cells(learned, _cross_validated(frequencies), _at_eval(frequencies), "tied rows")


@claim("A6", "posteriors", "priors", figures=("advice",))
def posterior_gammas_do_no_harm(posteriors: SweepResults, priors: SweepResults) -> list[Part]:
    """the gamma of the smallest posterior loss is no worse than gamma_eval, with each learned prior, in every cell.

    This project: ada-POMRL and empirical Bayes, by a margin of 2 %.
    """
    claim_parts = []
    for estimator in ("ada_pomrl", "empirical_bayes"):
        chosen, at_eval = _losses_by_cell(posteriors, estimator=estimator), _losses_by_cell(priors, estimator=estimator)
        label = f"posterior's γ less γ_eval, {estimator}"
        claim_parts += [no_worse(chosen[cell], at_eval[cell], f"{label}, {cell}", MARGIN) for cell in chosen]
    return claim_parts


@claim("A7", "posteriors", "schedules", "priors", figures=("advice",))
def posterior_gammas_beat_schedules(
    posteriors: SweepResults, schedules: SweepResults, priors: SweepResults
) -> list[Part]:
    """with ada-POMRL, the gamma of smallest posterior loss beats both schedules of the paper in more than half of the
    cells.

    This project: better than both in the same cell.
    """
    chosen, at_eval = _losses_by_cell(posteriors, estimator="ada_pomrl"), _losses_by_cell(priors, estimator="ada_pomrl")
    scheduled = {name: _losses_by_cell(schedules, gamma_schedule=name) for name in ("upper_bound", "dong")}
    groups = [
        [
            less_in_shares(chosen[cell], losses[cell], at_eval[cell], f"posterior's γ less {name}, {cell}")
            for name, losses in scheduled.items()
        ]
        for cell in chosen
    ]
    return in_more_than(len(groups) / 2, groups, "cells")


def _losses_by_cell(sweep: SweepResults, **method: str) -> Method:
    return {
        f"{problem}, m = {m}": sweep.at(task_distribution=problem, m=m, **method).regret
        for problem in PROBLEMS
        for m in TRANSITIONS
    }


def _at_eval(frequencies: SweepResults) -> Method:
    return _losses_by_cell(frequencies, agent="certainty_equivalence")


def _cross_validated(frequencies: SweepResults) -> Method:
    return _losses_by_cell(frequencies, agent="cross_validated_gamma")


def _compare_in_cells(a: Method, b: Method, baseline: Method, label: str) -> list[Part]:
    groups = [[less_in_shares(a[cell], b[cell], baseline[cell], f"{label}, {cell}")] for cell in a]
    return in_more_than(len(groups) / 2, groups, "cells")
