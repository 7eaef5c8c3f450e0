"""Claims of ours on models that people know: whether meta-learning and schedules help beyond random chains.

Each family is looked at where its latent differs little and where it differs more from task to task. A claim holds in a
family if it holds at both spreads. How many families there are in which it holds is judged with Holm's correction over
families (`inference.Count`). Losses of families have different units, and so differences are shares of the loss without
meta-learning. Taxi is left out, because 300 runs of it would take hours; docs/beyond.md has a command that compares
learners on 10 runs.
"""

from collections.abc import Sequence
from functools import partial

from pomrl.study import PAIRED, LossPerRun, Part, Result, SweepResults, best_grows, claim, in_more_than, less_in_shares
from pomrl_studies.beyond.claims.horizons_and_priors import gains_little, relative_gain

FAMILIES = (
    "river_swim", "inventory", "queue", "machine_replacement", "forest", "garnet", "frozen_lake", "frozen_lake_8x8",
    "cliff_walking",
)  # fmt: skip
"""The options of the families, all of whose latents have finitely many values."""

SPREADS = (0.05, 0.15)
"""The largest differences of the latent from its mean, in its units."""

LEARNERS = ("ada_pomrl", "without_meta")
"""The learner of the paper, and the one that does not learn from earlier tasks."""

RUNS = 300
"""The number of runs on which claims about these families are judged that name no other: a run takes long."""

of_families = partial(claim, figures=("families",), runs=RUNS)

Cells = dict[str, Result]
"""The losses of a method in each family at each spread, a cell, by the words for it."""


@of_families("M1", "families", runs=1000)
def meta_learning_helps_in_every_family(sweep: SweepResults) -> list[Part]:
    """ada-POMRL is better than no meta-learning at gamma_eval in every family.

    Models that people know: the loss on average over tasks, at both spreads.
    """
    ada, without = (cells_of(sweep, estimator=name) for name in LEARNERS)
    words = "ada-POMRL less no meta-learning at γ_eval"
    return in_families(less_in_cells(ada, without, without, words), more_than=len(FAMILIES) - 0.5)


@of_families("M2", "families", "families_schedules")
def the_schedule_helps_in_a_family(sweep: SweepResults, schedules: SweepResults) -> list[Part]:
    """the schedule of the upper bound is better than gamma_eval in at least one family.

    Models that people know: the loss of ada-POMRL on average over tasks, at both spreads.
    """
    scheduled = cells_of(schedules, gamma_schedule="upper_bound")
    at_eval, without = (cells_of(sweep, estimator=name) for name in LEARNERS)
    return in_families(less_in_cells(scheduled, at_eval, without, "upper-bound schedule less γ_eval"), more_than=0.5)


@of_families("M3", "families", runs=1000)
def horizons_grow_in_most_families(sweep: SweepResults) -> list[Part]:
    """gamma* of ada-POMRL grows with the task in more than half of the families.

    Models that people know: the rank correlation of gamma* with the task is above 0, at both spreads.
    """
    grow = [
        best_grows(losses, losses.loss, f"rank correlation of γ* with the task, {cell}, bootstrap over runs")
        for cell, losses in cells_of(sweep, estimator="ada_pomrl").items()
    ]
    return in_families(grow, more_than=len(FAMILIES) / 2)


@of_families("M4", "families")
def exact_posteriors_need_no_shorter_horizon(sweep: SweepResults) -> list[Part]:
    """with the exact posterior, the best fixed gamma gains at most 2 % of the loss at gamma_eval, in every family.

    Models that people know: the upper limit of the one-sided 95 % interval of gain over loss at gamma_eval is below
    0.02, at both spreads. Where nothing is lost, nothing is gained.
    """
    exact = cells_of(sweep, estimator="exact_posterior")
    return [gains_little(losses, f"exact posterior, {cell}") for cell, losses in exact.items()]


@of_families("M5", "families", "families_schedules")
def the_schedule_harms_in_most_families(sweep: SweepResults, schedules: SweepResults) -> list[Part]:
    """the schedule of the upper bound is worse than gamma_eval in more than half of the families.

    Models that people know: the loss of ada-POMRL on average over tasks, at both spreads.
    """
    scheduled = cells_of(schedules, gamma_schedule="upper_bound")
    at_eval, without = (cells_of(sweep, estimator=name) for name in LEARNERS)
    harmed = less_in_cells(at_eval, scheduled, without, "γ_eval less upper-bound schedule")
    return in_families(harmed, more_than=len(FAMILIES) / 2)


@of_families("M6", "families", "forest_mixing", runs=4000)
def the_mixing_rate_explains_forest(sweep: SweepResults, mse_optimal: SweepResults) -> list[Part]:
    """in forest, ada-POMRL is worse than no meta-learning because of its mixing rate.

    Models that people know: at a spread of 0.15, the loss on average over tasks with the paper's mixing rate is larger
    than without meta-learning, and with the rate that minimises the squared error (errata, E4) it is smaller.
    """
    forest = {"task_distribution": "forest", "spread": 0.15}
    ada, without = (sweep.at(**forest, estimator=name).regret for name in LEARNERS)
    better = mse_optimal.at(**forest).regret
    return [
        less(without, ada, without, "no meta-learning less ada-POMRL with the paper's rate"),
        less(better, without, without, "ada-POMRL with the rate of E4 less no meta-learning"),
    ]


@of_families("M7", "families")
def empirical_bayes_is_worse_where_rows_move_together(sweep: SweepResults) -> list[Part]:
    """empirical Bayes is worse than ada-POMRL in four families, and in forest also worse than no meta-learning.

    Models that people know: the loss on average over tasks at gamma_eval in inventory, queue, forest and
    frozen_lake_8x8, at both spreads. Empirical Bayes takes the rows of a model as independent.
    """
    parts = []
    for family in ("inventory", "queue", "forest", "frozen_lake_8x8"):
        names = ("ada_pomrl", "without_meta", "empirical_bayes")
        ada, without, empirical = (cells_of(sweep, [family], estimator=name) for name in names)
        worse = [less_in_cells(ada, empirical, without, "ada-POMRL less empirical Bayes")]
        if family == "forest":
            worse.append(less_in_cells(without, empirical, without, "no meta-learning less empirical Bayes"))
        parts += [part for of_cell in zip(*worse, strict=True) for part in of_cell]
    return parts


@of_families("H4.2", "families", is_judged=False)
def independent_rows_gain(sweep: SweepResults) -> list[Part]:
    """how much a posterior mean gains from a shorter horizon that wrongly takes the rows of a model as independent.

    What a horizon is worth: the gain of the best gamma as a share of the loss at gamma_eval for
    `estimator=empirical_bayes`, on models in which one latent moves many rows together.
    """
    empirical = cells_of(sweep, estimator="empirical_bayes")
    return [Part(f"empirical Bayes, {cell}, {PAIRED}", relative_gain(losses)) for cell, losses in empirical.items()]


def cells_of(sweep: SweepResults, families: Sequence[str] = FAMILIES, **method: str) -> Cells:
    """Return the losses of a method in these families, at both spreads."""
    return {
        f"{family}, spread {spread:g}": sweep.at(task_distribution=family, spread=spread, **method)
        for family in families
        for spread in SPREADS
    }


def less(a: LossPerRun, b: LossPerRun, without: LossPerRun, words: str) -> Part:
    """Compare whether the mean of a is below that of b; the difference is a share of the loss without meta-learning."""
    return less_in_shares(a, b, without, f"{words}, of the loss without meta-learning")


def less_in_cells(a: Cells, b: Cells, without: Cells, words: str) -> list[Part]:
    """Compare in each cell whether the mean regret of a is below that of b, as `less` does."""
    return [less(a[cell].regret, b[cell].regret, without[cell].regret, f"{words}, {cell}") for cell in a]


def in_families(parts: Sequence[Part], more_than: float) -> list[Part]:
    """Claim in how many families a comparison holds at both spreads, given that of each cell in the order of cells."""
    of_families = [parts[at : at + len(SPREADS)] for at in range(0, len(parts), len(SPREADS))]
    return in_more_than(more_than, of_families, "families")
