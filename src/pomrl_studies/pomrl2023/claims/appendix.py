"""Claims on Appendix F, the start of ada-POMRL (Sec. 4) and Dirichlet tasks (Sec. 5)."""

from functools import partial

from scipy.special import betainc

from pomrl.study import (
    EQUALITY_MARGIN,
    ROUNDING,
    Exact,
    Part,
    Revision,
    SweepResults,
    Verdict,
    beside,
    best_is_in,
    claim,
    does_not_improve,
    less,
    no_better,
    no_smaller_minimum,
    on_a_par,
    smaller_best,
    under,
)
from pomrl_studies.pomrl2023.tasks_and_gains import (
    ABSENT,
    FIRST_TASKS,
    LAST_TASKS,
    NOT_COMPUTED,
    ONE_SIDED_REVISION,
    gain,
)

figure_f2_claim = partial(claim, figures=("dependence_on_tasksimilarity_ablation",))
figure_f3_claim = partial(claim, figures=("arub_dependence_on_mT",))
figure_f5_claim = partial(claim, figures=("varyingSmT",))
starts_claim = partial(claim, figures=("initial_similarity",))

REVISED_ON = "2026-11-21"
"""The day on which rules were revised, after verdicts had been seen."""

STARTS = (0.01, 0.1, 0.5)
MAX_VERY_SMALL_GAMMA = 0.5
"""The upper limit of a "very small discount factor"."""

MANY_TASKS = range(2, 6)
"""The "many tasks" of A.7; the loss must be larger in each."""

_SMALL_AND_PAIRED = (
    "the 'very small discount factor' of (5, 5) is a separate part, and settings that share draws are compared in pairs"
)


@figure_f2_claim(
    "A.1",
    "task_similarity",
    runs={"computed": 10_000},
    title="aggregating all tasks is as good as POMRL where tasks are similar",
    selected_on=True,
)
def aggregating_on_a_par(sweep: SweepResults) -> list[Part]:
    """aggregating is on a par with POMRL at sigma = 0.01.

    App. F.2, Figure F2a: "the aggregating baseline works at-par with our method POMRL which is intuitive when the tasks
    are strongly related".
    """
    aggregating, pomrl = (sweep.at(sigma=0.01, estimator=name).regret for name in ("aggregating", "pomrl"))
    return [on_a_par(aggregating, pomrl, "aggregating less POMRL")]


@figure_f2_claim(
    "A.2",
    "aggregating",
    runs={"printed": 4000, "repaired": 16_000, "computed": 20_000},
    title="aggregating all tasks fails where they are loosely related",
    selected_on=True,
    revised=ONE_SIDED_REVISION,
)
def aggregating_is_not_reliable(sweep: SweepResults) -> list[Part]:
    """at sigma = 0.047 aggregating is worse than POMRL and ada-POMRL, and does not improve over the last tasks.

    App. F.2, Figure F2c: "such a naive method is not reliable [...] and the planning loss doesn't improve".
    """
    aggregating, pomrl, ada = (sweep.at(estimator=name) for name in ("aggregating", "pomrl", "ada_pomrl"))
    last = aggregating.at_eval[:, LAST_TASKS.start - 1 : LAST_TASKS.stop - 1]
    return [
        less(pomrl.regret, aggregating.regret, "POMRL less aggregating"),
        less(ada.regret, aggregating.regret, "ada-POMRL less aggregating"),
        does_not_improve(last, "aggregating, last tasks"),
    ]


@figure_f3_claim(
    "A.3",
    "samples_and_tasks",
    not_under=NOT_COMPUTED,
    title="few samples and few tasks call for a very small γ",
    revised=Revision(REVISED_ON, _SMALL_AND_PAIRED, Verdict.HOLDS),
)
def samples_and_tasks(sweep: SweepResults) -> list[Part]:
    """for (m, T) = (5, 5) gamma* is very small, smaller than for (20, 5), and the gain is largest for (5, 30).

    App. F.2, Figure F3: "For m = T, smaller loss is obtained with very small discount factor [...] For m >> T [...]
    slightly larger effective discount factors [...] m << T [...] resulting in huge gains".
    """
    return _samples_and_tasks(sweep, "m5_T30")


@figure_f5_claim(
    "A.4",
    "states_20",
    "states_30",
    runs={"repaired": 4000},
    not_under=NOT_COMPUTED,
    title="few samples and few tasks call for a very small γ with more states, too",
    revised=Revision(REVISED_ON, _SMALL_AND_PAIRED, Verdict.UNDECIDED),
)
def more_states(states_20: SweepResults, states_30: SweepResults) -> list[Part]:
    """A.3 also holds with 20 states, and with 30 states for (m, T) = (5, 15) in place of (5, 30).

    App. F.3, Figure F5: "despite larger state-space we observe the same effect".
    """
    return [*_samples_and_tasks(states_20, "m5_T30", "S = 20: "), *_samples_and_tasks(states_30, "m5_T15", "S = 30: ")]


def _samples_and_tasks(sweep: SweepResults, many_tasks: str, prefix: str = "") -> list[Part]:
    few, samples = (sweep.at(batches=name, estimator="ada_pomrl") for name in ("m5_T5", "m20_T5"))
    gains = {name: gain(sweep, batches=name) for name in ("m5_T5", "m20_T5", many_tasks)}
    label = f"{prefix}m5_T5: smallest loss below 0.5 less that from 0.5 on"
    return [
        best_is_in(few, few.average_curve, few.gammas < MAX_VERY_SMALL_GAMMA - ROUNDING, label),
        smaller_best(few, few.average_curve, samples.average_curve, f"{prefix}γ* at m5_T5 less that at m20_T5"),
        less(gains["m5_T5"], gains[many_tasks], f"{prefix}gain at m5_T5 less that at {many_tasks}"),
        less(gains["m20_T5"], gains[many_tasks], f"{prefix}gain at m20_T5 less that at {many_tasks}"),
    ]


@starts_claim(
    "A.5",
    "initial_similarity",
    runs=4000,
    not_under=NOT_COMPUTED,
    title="a wrong first estimate of σ matters in the first tasks only",
    revised=Revision(
        REVISED_ON, "only a large start must be worse: the text says that a small one hurts too", Verdict.UNDECIDED
    ),
)
def start_matters_at_first(sweep: SweepResults) -> list[Part]:
    """a large first estimate of sigma slows ada-POMRL in the first tasks, and no start matters in the last.

    Sec. 4: the initial value "will only affect the results of a finite number of tasks at the beginning [...] a
    large initialization will slow down convergence". A start of 0.5 is compared with 0.1 in the first tasks, and both
    are compared with 0.01 in the last.
    """
    first, last = (
        {start: sweep.at(start_deviation=start).tasks(tasks) for start in STARTS} for tasks in (FIRST_TASKS, LAST_TASKS)
    )
    smallest, *larger = STARTS
    equal = [on_a_par(last[a], last[smallest], f"start {a} less start {smallest}, last tasks") for a in larger]
    return [less(first[0.1], first[0.5], "start 0.1 less start 0.5, first tasks"), *equal]


@starts_claim(
    "A.6",
    "initial_similarity",
    runs={"repaired": 8000},
    notes=ABSENT,
    title="a too small first estimate of σ costs losses in the first tasks",
)
def small_start_hurts(sweep: SweepResults) -> list[Part]:
    """a first estimate of sigma of 0.01 is worse than one of 0.1 in the first tasks.

    Sec. 4: "Using σ̂_1 too small will gives a slightly increased weight to the prior in initial tasks, which is not
    desirable".
    """
    small, medium = (sweep.at(start_deviation=start).tasks(FIRST_TASKS) for start in STARTS[:2])
    return [less(medium, small, "start 0.1 less start 0.01, first tasks")]


@starts_claim(
    "A.7", "equal_tasks", notes=ABSENT, title="where tasks are equal, a large first estimate of σ costs many tasks"
)
def large_start_costs_many_tasks(sweep: SweepResults) -> list[Part]:
    """where all tasks are equal, a large first estimate of sigma makes ada-POMRL worse in each of tasks 2 to 5.

    Sec. 4: "where σ ≈ 0, a large initialization will drastically slow down ada-POMRL as it will take many tasks before
    it discovers" that aggregating is optimal. A start of 0.5 is compared with 0.01.
    """
    small, large = (sweep.at(start_deviation=start) for start in (STARTS[0], STARTS[-1]))
    return [less(small.task(t), large.task(t), f"start 0.01 less start 0.5, task {t}") for t in MANY_TASKS]


BEST_GAMMA_REVISION = Revision(
    "2026-11-28",
    "The gain over no meta-learning is judged at the best constant gamma of each learner, because the figure shows "
    "losses against gamma; at 0.99 it is another view. (Since 2026-11-26 both views counted, before that only 0.99.) "
    "The view was chosen after a look at these numbers",
    Verdict.DOES_NOT_HOLD,
)


@figure_f3_claim(
    "A.8",
    "samples_and_tasks",
    notes=ABSENT,
    runs={"repaired": 10_000},
    title="with many samples meta-learning gains little",
    revised=BEST_GAMMA_REVISION,
)
def little_is_gained(sweep: SweepResults) -> list[Part]:
    """for (m, T) = (20, 5) ada-POMRL gains less than 10 % over no meta-learning, each at its best constant gamma.

    App. F.2, Figure F3b: "Not a lot is gained in this scenario from meta-learning".
    """
    return _little_gained(sweep)


@figure_f5_claim(
    "A.9",
    "states_20",
    "states_30",
    notes=ABSENT,
    title="with many samples meta-learning gains little with more states, too",
    revised=BEST_GAMMA_REVISION,
)
def little_is_gained_with_more_states(states_20: SweepResults, states_30: SweepResults) -> list[Part]:
    """A.8 also holds with 20 and with 30 states.

    App. F.3, Figure F5b, F5e: quoted at A.4.
    """
    return [*_little_gained(states_20, "S = 20: "), *_little_gained(states_30, "S = 30: ")]


def _little_gained(sweep: SweepResults, prefix: str = "") -> list[Part]:
    ada, without = (sweep.at(batches="m20_T5", estimator=name) for name in ("ada_pomrl", "without_meta"))
    label = f"{prefix}m20_T5: ada-POMRL less no meta-learning"
    at_best = no_smaller_minimum(ada.average_curve, without.average_curve, f"{label}, each at its best γ")
    return [*under("at the best γ", [at_best]), *beside("at γ = 0.99", [no_better(ada.regret, without.regret, label)])]


@claim("A.10", title="the drawn distribution has the stated σ", figures=("dirichlet_task_dist",))
def similarity_of_the_drawn_distribution() -> list[Part]:
    """Dir(15, 15, 15) has the similarity 0.0129.

    App. F.1, Figure F1: "our task-similarity measure approximately to be σ = 0.0129". The closer of its standard
    deviation and variance may differ by 10 % (E15).
    """
    variance = (1 / 3) * (2 / 3) / (45 + 1)
    nearest = min((variance, variance**0.5), key=lambda spread: abs(spread / 0.0129 - 1))
    label = f"the nearest of variance and deviation, {nearest:.5f}, relative to 0.0129 less 1"
    return [
        Part(label, Exact(nearest / 0.0129 - 1), above=-EQUALITY_MARGIN, below=EQUALITY_MARGIN, margin=EQUALITY_MARGIN)
    ]


@claim(
    "A.11",
    title="Dirichlet tasks keep the structural assumption with high probability",
    figures=("dirichlet_task_dist",),
)
def dirichlet_tasks_are_bounded() -> list[Part]:
    """an entry of a Dirichlet task is within sigma of its mean with probability 0.95, for the paper's sigma.

    Sec. 5, footnote: "Dirichlet distributions with small variance satisfy the high-probability version of our
    structural assumption for σ = max_i σ_i".
    """
    variance = (1 / 3) * (2 / 3) / (45 + 1)

    def within(sigma: float) -> float:
        return float(betainc(15, 30, 1 / 3 + sigma) - betainc(15, 30, 1 / 3 - sigma))

    readings = {"σ the variance": variance, "σ the standard deviation": variance**0.5}
    return [
        Part(f"probability, {name}", Exact(within(sigma)), above=0.95, topic=name) for name, sigma in readings.items()
    ]
