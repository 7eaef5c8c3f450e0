"""Claims of ours on models that people know: whether meta-learning and schedules help beyond random chains.

Each family is looked at where its latent differs little and where it differs more from task to task. A claim holds in a
family if it holds at both spreads. How many families there are in which it holds is judged with Holm's correction over
families (`inference.Count`). Losses of families have different units, and so differences are shares of the loss without
meta-learning. Taxi is left out, because 300 runs of it would take hours; docs/families.md compares
learners on 10 runs.
"""

from collections.abc import Callable

from pomrl.studies.beyond.claims.horizons_and_priors import LARGEST_GAIN, relative_gain
from pomrl.study import (
    PAIRED,
    Estimate,
    Losses,
    LossPerRun,
    Part,
    Student,
    SweepLosses,
    best_grows,
    claim,
    in_more_than,
    less_in_shares,
)

FAMILIES = (
    "river_swim", "inventory", "queue", "machine_replacement", "forest", "garnet", "frozen_lake", "frozen_lake_8x8",
    "cliff_walking",
)  # fmt: skip
"""The options of the families, all of whose latents have finitely many values."""

SPREADS = (0.05, 0.15)
"""The largest differences of the latent from its mean, in its units."""

LEARNERS = ("ada_pomrl", "without_meta")
"""The learner of the paper, and the one that does not learn from earlier tasks."""

OfFamily = Callable[[str, float], Part]
"""What is compared in a family at a spread, and what is claimed of it."""


@claim("R1", "families", is_judged_once=True, figures=("families",))
def meta_learning_helps_in_every_family(sweep: SweepLosses) -> list[Part]:
    """ada-POMRL is better than no meta-learning at gamma_eval in every family.

    Models that people know: the loss on average over tasks, at both spreads.
    """

    def compared(family: str, spread: float) -> Part:
        ada, without = (of_family(sweep, family, spread, estimator=name).regret for name in LEARNERS)
        return less(ada, without, without, f"ada-POMRL less no meta-learning at γ_eval, {family}, spread {spread:g}")

    return in_families(compared, more_than=len(FAMILIES) - 0.5)


@claim("R2", "families", "families_schedules", is_judged_once=True, figures=("families",))
def the_schedule_helps_in_a_family(sweep: SweepLosses, schedules: SweepLosses) -> list[Part]:
    """the schedule of the upper bound is better than gamma_eval in at least one family.

    Models that people know: the loss of ada-POMRL on average over tasks, at both spreads.
    """

    def compared(family: str, spread: float) -> Part:
        of_schedule, at_eval, without = _with_schedule(sweep, schedules, family, spread)
        return less(of_schedule, at_eval, without, f"upper-bound schedule less γ_eval, {family}, spread {spread:g}")

    return in_families(compared, more_than=0.5)


@claim("R3", "families", is_judged_once=True, figures=("families",))
def horizons_grow_in_most_families(sweep: SweepLosses) -> list[Part]:
    """gamma* of ada-POMRL grows with the task in more than half of the families.

    Models that people know: the rank correlation of gamma* with the task is above 0, at both spreads.
    """

    def compared(family: str, spread: float) -> Part:
        losses = of_family(sweep, family, spread, estimator="ada_pomrl")
        words = f"rank correlation of γ* with the task, {family}, spread {spread:g}, bootstrap over runs"
        return best_grows(losses, losses.loss, words)

    return in_families(compared, more_than=len(FAMILIES) / 2)


@claim("R4", "families", is_judged_once=True, figures=("families",))
def exact_posteriors_need_no_shorter_horizon(sweep: SweepLosses) -> list[Part]:
    """with the exact posterior, the best fixed gamma gains at most 2 % of the loss at gamma_eval, in every family.

    Models that people know: the upper limit of the one-sided 95 % interval of gain over loss at gamma_eval is below
    0.02, at both spreads. Where nothing is lost, nothing is gained.
    """
    return [
        Part(
            f"gain of the best γ over the loss at γ_eval, exact posterior, {family}, spread {spread:g}, {PAIRED}",
            gain(of_family(sweep, family, spread, estimator="exact_posterior")),
            below=LARGEST_GAIN,
            interest=0.0,
        )
        for family in FAMILIES
        for spread in SPREADS
    ]


@claim("R5", "families", "families_schedules", is_judged_once=True, figures=("families",))
def the_schedule_harms_in_most_families(sweep: SweepLosses, schedules: SweepLosses) -> list[Part]:
    """the schedule of the upper bound is worse than gamma_eval in more than half of the families.

    Models that people know: the loss of ada-POMRL on average over tasks, at both spreads.
    """

    def compared(family: str, spread: float) -> Part:
        of_schedule, at_eval, without = _with_schedule(sweep, schedules, family, spread)
        return less(at_eval, of_schedule, without, f"γ_eval less upper-bound schedule, {family}, spread {spread:g}")

    return in_families(compared, more_than=len(FAMILIES) / 2)


@claim("R6", "families", "forest_mixing", is_judged_once=True, figures=("families",))
def the_mixing_rate_explains_forest(sweep: SweepLosses, mse_optimal: SweepLosses) -> list[Part]:
    """in forest, ada-POMRL is worse than no meta-learning because of its mixing rate.

    Models that people know: at a spread of 0.15, the loss on average over tasks with the paper's mixing rate is larger
    than without meta-learning, and with the rate that minimises the squared error (errata, E4) it is smaller.
    """
    ada, without = (of_family(sweep, "forest", 0.15, estimator=name).regret for name in LEARNERS)
    better = of_family(mse_optimal, "forest", 0.15).regret
    return [
        less(without, ada, without, "no meta-learning less ada-POMRL with the paper's rate"),
        less(better, without, without, "ada-POMRL with the rate of E4 less no meta-learning"),
    ]


@claim("R7", "families", is_judged_once=True, figures=("families",))
def empirical_bayes_is_worse_where_rows_move_together(sweep: SweepLosses) -> list[Part]:
    """empirical Bayes is worse than ada-POMRL in four families, and in forest also worse than no meta-learning.

    Models that people know: the loss on average over tasks at gamma_eval in inventory, queue, forest and
    frozen_lake_8x8, at both spreads. Empirical Bayes takes the rows of a model as independent.
    """
    parts = []
    for family in ("inventory", "queue", "forest", "frozen_lake_8x8"):
        for spread in SPREADS:
            names = ("ada_pomrl", "without_meta", "empirical_bayes")
            ada, without, empirical = (of_family(sweep, family, spread, estimator=name).regret for name in names)
            words = f"less empirical Bayes, {family}, spread {spread:g}"
            parts.append(less(ada, empirical, without, f"ada-POMRL {words}"))
            if family == "forest":
                parts.append(less(without, empirical, without, f"no meta-learning {words}"))
    return parts


@claim("H4.2", "families", is_judged=False, figures=("families",))
def independent_rows_gain(sweep: SweepLosses) -> list[Part]:
    """how much a posterior mean gains from a shorter horizon that wrongly takes the rows of a model as independent.

    What a horizon is worth: the gain of the best gamma as a share of the loss at gamma_eval for
    `estimator=empirical_bayes`, on models in which one latent moves many rows together.
    """
    return [
        Part(
            f"empirical Bayes, {family}, spread {spread:g}, {PAIRED}",
            gain(of_family(sweep, family, spread, estimator="empirical_bayes")),
        )
        for family in FAMILIES
        for spread in SPREADS
    ]


def of_family(sweep: SweepLosses, family: str, spread: float, **settings: str) -> Losses:
    """Return the losses in a family at a spread."""
    return sweep.at(task_distribution=family, spread=spread, **settings)


def _with_schedule(
    sweep: SweepLosses, schedules: SweepLosses, family: str, spread: float
) -> tuple[LossPerRun, LossPerRun, LossPerRun]:
    """Return the losses of ada-POMRL with the schedule and at gamma_eval, and those without meta-learning."""
    at_eval, without = (of_family(sweep, family, spread, estimator=name).regret for name in LEARNERS)
    return of_family(schedules, family, spread, gamma_schedule="upper_bound").regret, at_eval, without


def less(a: LossPerRun, b: LossPerRun, without: LossPerRun, words: str) -> Part:
    """Compare whether the mean of a is below that of b; the difference is a share of the loss without meta-learning."""
    return less_in_shares(a, b, without, f"{words}, of the loss without meta-learning")


def gain(losses: Losses) -> Estimate:
    """Estimate by how much the best fixed gamma lowers the loss at gamma_eval, as a share; 0 where nothing is lost."""
    return relative_gain(losses) if losses.regret.any() else Student(0.0, len(losses.loss), 0.0)


def in_families(compared: OfFamily, more_than: float) -> list[Part]:
    """Claim in how many families a comparison holds at both spreads."""
    of_families = [[compared(family, spread) for spread in SPREADS] for family in FAMILIES]
    return in_more_than(more_than, of_families, "families")
