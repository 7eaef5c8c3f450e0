"""Our claims on models from the literature, by losses averaged over tasks.

A claim holds in a family if it holds at both spreads. Holm's correction applies to the count of families
(`inference.Count`). Differences are relative to the loss without meta-learning.
"""

from collections.abc import Sequence
from functools import partial

from pomrl.study import PAIRED, LossPerRun, Part, Result, SweepResults, best_grows, claim, in_more_than, less_in_shares
from pomrl_studies.beyond.claims.horizons_and_priors import gains_little, relative_gain

FAMILIES = (
    "river_swim", "inventory", "queue", "machine_replacement", "forest", "garnet", "frozen_lake", "frozen_lake_8x8",
    "cliff_walking",
)  # fmt: skip
"""The families with finitely many values of the latent."""

SPREADS = (0.05, 0.15)
"""The largest deviations of the latent from its mean, in its units."""

LEARNERS = ("ada_pomrl", "without_meta")
"""The learner of the paper, and its baseline without earlier tasks."""

DEFAULT_RUNS = 300
"""The default number of runs for these claims."""

families_claim = partial(claim, figures=("families",), runs=DEFAULT_RUNS)

Cells = dict[str, Result]
"""The losses of a method by cell; a cell is a family at a spread."""


@families_claim("M1", "families", runs=1000)
def meta_learning_helps_in_every_family(sweep: SweepResults) -> list[Part]:
    """ada-POMRL is better than no meta-learning at gamma_eval in every family.

    Models that people know
    """
    ada, without = (select_cells(sweep, estimator=name) for name in LEARNERS)
    label = "ada-POMRL less no meta-learning at γ_eval"
    return in_families(less_in_cells(ada, without, without, label), more_than=len(FAMILIES) - 0.5)


@families_claim("M2", "families", "families_schedules")
def the_schedule_helps_in_a_family(sweep: SweepResults, schedules: SweepResults) -> list[Part]:
    """the schedule of the upper bound is better than gamma_eval in at least one family.

    Models that people know: loss of ada-POMRL.
    """
    scheduled = select_cells(schedules, gamma_schedule="upper_bound")
    at_eval, without = (select_cells(sweep, estimator=name) for name in LEARNERS)
    return in_families(less_in_cells(scheduled, at_eval, without, "upper-bound schedule less γ_eval"), more_than=0.5)


@families_claim("M3", "families", runs=1000)
def horizons_grow_in_most_families(sweep: SweepResults) -> list[Part]:
    """gamma* of ada-POMRL grows with the task in more than half of the families.

    Models that people know: the rank correlation of gamma* with the task is above 0.
    """
    grow = [
        best_grows(losses, losses.loss, f"rank correlation of γ* with the task, {cell}, bootstrap over runs")
        for cell, losses in select_cells(sweep, estimator="ada_pomrl").items()
    ]
    return in_families(grow, more_than=len(FAMILIES) / 2)


@families_claim("M4", "families")
def exact_posteriors_need_no_shorter_horizon(sweep: SweepResults) -> list[Part]:
    """with the exact posterior, the best fixed gamma gains at most 2 % of the loss at gamma_eval, in every family.

    Models that people know: the one-sided 95 % upper limit of the relative gain is below 0.02.
    """
    exact = select_cells(sweep, estimator="exact_posterior")
    return [gains_little(losses, f"exact posterior, {cell}") for cell, losses in exact.items()]


@families_claim("M5", "families", "families_schedules")
def the_schedule_harms_in_most_families(sweep: SweepResults, schedules: SweepResults) -> list[Part]:
    """the schedule of the upper bound is worse than gamma_eval in more than half of the families.

    Models that people know: loss of ada-POMRL.
    """
    scheduled = select_cells(schedules, gamma_schedule="upper_bound")
    at_eval, without = (select_cells(sweep, estimator=name) for name in LEARNERS)
    harmed = less_in_cells(at_eval, scheduled, without, "γ_eval less upper-bound schedule")
    return in_families(harmed, more_than=len(FAMILIES) / 2)


@families_claim("M6", "families", "forest_mixing", runs=4000)
def the_mixing_rate_explains_forest(sweep: SweepResults, mse_optimal: SweepResults) -> list[Part]:
    """in forest, ada-POMRL is worse than no meta-learning because of its mixing rate.

    Models that people know: spread 0.15. With the paper's mixing rate the loss is larger than without meta-learning,
    with the rate of least squared error (errata, E4) smaller.
    """
    forest = {"task_distribution": "forest", "spread": 0.15}
    ada, without = (sweep.at(**forest, estimator=name).regret for name in LEARNERS)
    better = mse_optimal.at(**forest).regret
    return [
        less(without, ada, without, "no meta-learning less ada-POMRL with the paper's rate"),
        less(better, without, without, "ada-POMRL with the rate of E4 less no meta-learning"),
    ]


@families_claim("M7", "families")
def empirical_bayes_is_worse_where_rows_move_together(sweep: SweepResults) -> list[Part]:
    """empirical Bayes is worse than ada-POMRL in four families, and in forest also worse than no meta-learning.

    Models that people know: inventory, queue, forest and frozen_lake_8x8 at gamma_eval. Empirical Bayes assumes
    independent rows.
    """
    claim_parts = []
    for family in ("inventory", "queue", "forest", "frozen_lake_8x8"):
        names = ("ada_pomrl", "without_meta", "empirical_bayes")
        ada, without, empirical = (select_cells(sweep, [family], estimator=name) for name in names)
        worse = [less_in_cells(ada, empirical, without, "ada-POMRL less empirical Bayes")]
        if family == "forest":
            worse.append(less_in_cells(without, empirical, without, "no meta-learning less empirical Bayes"))
        claim_parts += [cell_part for cell_parts in zip(*worse, strict=True) for cell_part in cell_parts]
    return claim_parts


@families_claim("H4.2", "families", is_judged=False)
def independent_rows_gain(sweep: SweepResults) -> list[Part]:
    """how much a posterior mean that wrongly takes the rows of a model as independent gains from a shorter horizon.

    What a horizon is worth: the relative gain of the best gamma over gamma_eval for `estimator=empirical_bayes`, on
    models whose latent moves many rows together.
    """
    empirical = select_cells(sweep, estimator="empirical_bayes")
    return [Part(f"empirical Bayes, {cell}, {PAIRED}", relative_gain(losses)) for cell, losses in empirical.items()]


def select_cells(sweep: SweepResults, families: Sequence[str] = FAMILIES, **method: str) -> Cells:
    """Return a method's losses by family and spread."""
    return {
        f"{family}, spread {spread:g}": sweep.at(task_distribution=family, spread=spread, **method)
        for family in families
        for spread in SPREADS
    }


def less(a: LossPerRun, b: LossPerRun, without: LossPerRun, label: str) -> Part:
    """Claim that mean a is below mean b, in shares of `without`."""
    return less_in_shares(a, b, without, f"{label}, of the loss without meta-learning")


def less_in_cells(a: Cells, b: Cells, without: Cells, label: str) -> list[Part]:
    """Compare mean regrets in each cell, as `less` does."""
    return [less(a[cell].regret, b[cell].regret, without[cell].regret, f"{label}, {cell}") for cell in a]


def in_families(cell_parts: Sequence[Part], more_than: float) -> list[Part]:
    """Claim more than `more_than` families whose parts hold at both spreads."""
    family_parts = [cell_parts[start : start + len(SPREADS)] for start in range(0, len(cell_parts), len(SPREADS))]
    return in_more_than(more_than, family_parts, "families")
