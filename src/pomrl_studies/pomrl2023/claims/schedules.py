"""Claims on question 4: does adapting the planning horizon help?

All except Q4.5 are about POMRL at sigma = 0.01 (Sec. 6, Figure 6), or about ada-POMRL in the notebook. The schedules
best_fixed and dynamic_best select gamma in hindsight, each half of the runs for the other half. Figure 6 selects on all
runs, as the paper does.
"""

from functools import partial

from pomrl.study import ROUNDING, Part, Result, SweepResults, best_is_in, claim, less, no_worse, on_a_par
from pomrl_studies.pomrl2023.tasks_and_gains import FEWER_VISITS, FIRST_TASK_RUNS, LAST_TASKS

figure_6_claim = partial(claim, figures=("gamma_schedules",))

GAMMA_0 = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5)


def _learner(sweep: SweepResults) -> str:
    return "ada_pomrl" if sweep.variant == "computed" else "pomrl"


def _schedules(sweep: SweepResults) -> dict[str, Result]:
    grid, dong, upper_bound = (
        sweep.at(estimator=_learner(sweep), gamma_schedule=name) for name in ("grid", "dong", "upper_bound")
    )
    return {
        "best_fixed": grid.in_hindsight("all_tasks", sweep.choice),
        "dynamic_best": grid.in_hindsight("each_task", sweep.choice),
        "Dong": dong,
        "upper_bound": upper_bound,
        "γ_eval": grid,
    }


@figure_6_claim(
    "Q4.1",
    "gamma_schedules",
    runs={"printed": 4000, "repaired": 20_000},
    title="every schedule of γ beats the constant gamma_eval",
    is_main=True,
)
def every_schedule_beats_gamma_eval(sweep: SweepResults) -> list[Part]:
    """every schedule beats gamma_eval, on average over tasks.

    Sec. 6.3, Figure 6a: "all baselines outperform using a constant discount factor".
    """
    regret = {name: losses.regret for name, losses in _schedules(sweep).items()}
    at_eval = regret.pop("γ_eval")
    return [less(loss, at_eval, f"{name} less γ_eval") for name, loss in regret.items()]


@figure_6_claim(
    "Q4.2",
    "gamma_schedules",
    runs={"printed": 8000, "repaired": 4000},
    title="the schedule of Dong et al. beats the best fixed γ in the last tasks",
    selected_on=True,
)
def dong_against_best_fixed(sweep: SweepResults) -> list[Part]:
    """the Dong schedule is on a par with best_fixed over all tasks, and beats it in the last.

    Sec. 6.3, Figure 6b: "competitive performance with the proposed schedule of γ = f(m, α_t, σ_t, T) beating best-fixed
    as more tasks are seen".
    """
    schedules = _schedules(sweep)
    dong, best_fixed = schedules["Dong"], schedules["best_fixed"]
    return [
        on_a_par(dong.regret, best_fixed.regret, "Dong less best_fixed, all tasks"),
        less(dong.tasks(LAST_TASKS), best_fixed.tasks(LAST_TASKS), "Dong less best_fixed, last tasks"),
    ]


@figure_6_claim(
    "Q4.3",
    "gamma_schedules",
    runs={"repaired": 8000},
    title="the schedule from the upper bound beats the best fixed γ",
    is_main=True,
    selected_on=True,
)
def upper_bound_against_best(sweep: SweepResults) -> list[Part]:
    """the upper-bound schedule beats best_fixed and is on a par with dynamic_best.

    Sec. 6.3, Figure 6b: "using the upper bound as a guidance beats the best-fixed and is very competitive to the
    dynamic-best baseline".
    """
    regret = {name: losses.regret for name, losses in _schedules(sweep).items()}
    return [
        less(regret["upper_bound"], regret["best_fixed"], "upper_bound less best_fixed"),
        on_a_par(regret["upper_bound"], regret["dynamic_best"], "upper_bound less dynamic_best"),
    ]


@figure_6_claim(
    "Q4.4", "gamma_0", "gamma_schedules", title="the upper bound's schedule beats gamma_eval with every offset gamma_0"
)
def every_offset_beats_gamma_eval(offsets: SweepResults, schedules: SweepResults) -> list[Part]:
    """every gamma_0 from 0.25 to 0.50 beats gamma_eval.

    Sec. 6.3, Figure 6c: "Using the upper bound to guide the schedule significantly outperforms γ_eval and is shown for
    γ_0 in (0.25, 0.50)".
    """
    learner = _learner(schedules)
    at_eval = schedules.at(estimator=learner, gamma_schedule="grid").regret
    at_offsets = {offset: offsets.at(estimator=learner, gamma_0=offset).regret for offset in GAMMA_0}
    return [less(loss, at_eval, f"γ_0 = {offset} less γ_eval") for offset, loss in at_offsets.items()]


@figure_6_claim(
    "Q4.5",
    "first_task",
    runs=FIRST_TASK_RUNS,
    notes=FEWER_VISITS,
    title="the best γ of the first task is between 0.25 and 0.50",
)
def offset_is_the_first_minimum(sweep: SweepResults) -> list[Part]:
    """the first task's gamma* is in the range of gamma_0, from 0.25 to 0.50.

    Sec. 6.2, Figure 4b: "γ_0 in (0.25, 0.50) seems reasonable [...] as it corresponds to the empirical minima".
    """
    ada = sweep.at(estimator="ada_pomrl")
    inside = (ada.gammas >= GAMMA_0[0] - ROUNDING) & (ada.gammas <= GAMMA_0[-1] + ROUNDING)
    return [best_is_in(ada, ada.curve(1), inside, "task 1: smallest loss from 0.25 to 0.50 less that elsewhere")]


@figure_6_claim(
    "Q4.6",
    "gamma_schedules",
    runs={"printed": 24_000, "repaired": 24_000, "computed": 2000},
    title="the schedule of Dong et al. is on a par with the dynamic best γ",
)
def dong_against_dynamic_best(sweep: SweepResults) -> list[Part]:
    """the Dong schedule is on a par with dynamic_best.

    Sec. 6.3, Figure 6b: the Dong schedule "is within the significance range of the lower bound". The lower bound is
    dynamic_best.
    """
    schedules = _schedules(sweep)
    return [on_a_par(schedules["Dong"].regret, schedules["dynamic_best"].regret, "Dong less dynamic_best")]


@figure_6_claim("Q4.7", "gamma_schedules", title="no schedule beats the dynamic best γ")
def dynamic_best_is_not_beaten(sweep: SweepResults) -> list[Part]:
    """no schedule beats dynamic_best by 10 %.

    Sec. 6.3: "dynamic best is a lower bound that we cannot outperform".
    """
    regret = {name: losses.regret for name, losses in _schedules(sweep).items()}
    best = regret.pop("dynamic_best")
    return [no_worse(best, loss, f"dynamic_best less {name}") for name, loss in regret.items()]
