"""Claims on Theorems 1 to 3, with counterexamples of known probability."""

from functools import partial
from math import log, sqrt

import numpy as np
import pandas as pd

from pomrl.study import (
    EQUALITY_MARGIN,
    REPAIRED,
    ROUNDING,
    Exact,
    Part,
    Rate,
    Revision,
    Verdict,
    average_uncertainty,
    claim,
    model_error_bound,
    policy_class_constant,
    regret_order,
    single_task_loss_bound,
    under,
)
from pomrl_studies.pomrl2023.theory.counterexamples import (
    CoinTasks,
    failure_in_first_task,
    first_task_by_theorem_a,
    first_task_of_validity,
    least_failure_in_later_tasks,
)
from pomrl_studies.pomrl2023.theory.simulations import MODEL_ERROR_COVERAGE

theorem_claim = partial(claim, figures=("average_regret", "vacuous_bounds"))

REVISED_ON = "2026-11-28"
"""The day on which the parts of T.1 and T.4 were chosen anew, after their numbers had been seen."""

SIGMAS = (0.01, 0.025, 0.047)
"""The similarities sigma of the experiments, which are bounds in the theory."""

M, T = 5, 15
"""Samples and tasks of the experiments."""

INFINITE_NUMBER = 1e30
"""A number of samples or tasks that stands for infinity."""

MAX_HIDDEN_CONSTANT = 3.0
"""The assumed upper limit of the constant in a bound of the form O(...)."""

DELTA: float = MODEL_ERROR_COVERAGE.parameters["delta"]
"""The probability that a bound may fail."""


LATER_TASKS = CoinTasks(m=10**6, sigma=0.3, S=10, A=2, T=100, delta=DELTA)
"""Different tasks, for which Theorem 3 fails after the first task."""

EQUAL_TASKS = (
    CoinTasks(m=1000, sigma=0.0, S=10, A=2, T=10**6, delta=DELTA),
    CoinTasks(m=1000, sigma=0.0, S=2, A=1, T=10**7, delta=DELTA),
)
"""Equal tasks, for which Theorem 3 fails in the first task."""

SIMULATED_VERSIONS = {
    "as_printed": "as printed, with x/(2x + 1)",
    REPAIRED: "with x/(x + 1)",
    "corrected": "Theorem A",
    "sharpened": "Theorem B",
}
"""The names of simulated bounds in labels; x = sigma^2 m."""


@theorem_claim(
    "T.1",
    title="the bound of Theorem 3 holds",
    is_main=True,
    simulation=MODEL_ERROR_COVERAGE,
    revised=Revision(
        REVISED_ON,
        "Views are chosen after a look at these numbers. The first example now fails after task 1, where a prior has "
        "been learned; before, both examples failed in task 1. On 2026-11-22, simulated sequences of up to 20 tasks "
        "were replaced by examples, because one example refutes a universal statement. The simulations are still "
        "reported. By them, with the factor x/(x + 1) of Theorem 2, where Theorem 3 prints x/(2x + 1), with x = "
        "sigma^2 m, the bound held; as printed, it did not",
        Verdict.DOES_NOT_HOLD,
    ),
)
def bounds_hold(simulated: pd.DataFrame) -> list[Part]:
    """Theorem 3's bound on the model error holds with probability 1 - delta, in all tasks at once.

    Theorem 3, App. D: "with probability 1 - δ"; delta = 0.05. Transitions of the counterexamples are coins. Different
    tasks (sigma = 0.3) fail after task 1, because the own batch weighs more than the bound assumes. Equal tasks
    (sigma = 0) fail in task 1: the bound falls with the number of tasks, and the error in task 1 does not. Simulated
    coverage is reported for the worst setting, because the bound must hold in all.
    """
    worst = simulated.groupby("version").agg({"coverage": "min", "sequences": "first"}).to_dict("index")
    return [
        _fails_in_later_tasks(LATER_TASKS),
        *map(_fails_in_task_1, EQUAL_TASKS),
        *_first_tasks(EQUAL_TASKS[0]),
        *(
            Part(
                "simulated, up to 20 tasks: share of sequences in the worst setting in which it holds, "
                f"{SIMULATED_VERSIONS[version]}",
                Rate(worst[version]["coverage"], worst[version]["sequences"]),
            )
            for version in SIMULATED_VERSIONS
        ),
    ]


def _fails_in_later_tasks(coins: CoinTasks) -> Part:
    """Compare the printed bound's failure probability after task 1 with `DELTA`."""
    label = (
        f"probability at least that the bound {coins.bound():.4f} fails in some task from 2 to {coins.T}, "
        f"{_setting(coins)}, coins of 0.5 ± {coins.sigma}"
    )
    return Part(label, Exact(least_failure_in_later_tasks(coins)), below=DELTA)


def _fails_in_task_1(coins: CoinTasks) -> Part:
    """Compare the printed bound's failure probability in task 1 with `DELTA`."""
    label = f"probability that the bound {coins.bound():.4f} fails in task 1, {_setting(coins)}, fair coins"
    return Part(label, Exact(failure_in_first_task(coins)), below=DELTA)


def _first_tasks(coins: CoinTasks) -> list[Part]:
    """Report the first tasks with a valid bound, in the paper's favour."""
    first_tasks = {"exactly": first_task_of_validity(coins), "by Theorem A": first_task_by_theorem_a(coins)}
    return [
        Part(f"first task from which on the bound holds, {source}, {_setting(coins)}", Exact(float(task)))
        for source, task in first_tasks.items()
    ]


def _setting(coins: CoinTasks) -> str:
    return f"σ = {coins.sigma:g}, m = {coins.m:,}, S = {coins.S}, A = {coins.A}, T = {coins.T:,}"


WRONG_SAMPLE_PROBABILITY = 0.5 * (1.0 - 0.6)
"""The probability that one sample of each of two actions favours the worse one.

The actions lead on with probabilities 1/2 and 3/5.
"""

GAMMA_OF_EXAMPLES = 0.9
"""The discount factor of examples with two actions, for planning and evaluation."""


@claim("T.2", title="the bound of Theorem 1 holds", figures=("vacuous_bounds",))
def planning_loss_bound_holds() -> list[Part]:
    """Theorem 1's bound on the planning loss holds with probability 1 - delta.

    Sec. 2, Theorem 1: "with probability at least 1 - δ", with the diameter Σ of the set of feasible models. With one
    feasible model Σ and the bound at gamma_eval are 0; yet one sample makes a planner lose (E9).
    """
    return [*under("Σ the diameter", [_exceeds_theorem_1(0)]), *under("Σ = 1", [_exceeds_theorem_1(1)])]


def _exceeds_theorem_1(Sigma: int) -> Part:
    """Compare the probability of a loss above the bound with `DELTA`."""
    C = policy_class_constant(m=1, S=2, A=2, policies=4, delta=DELTA, Sigma=Sigma)
    bound = float(single_task_loss_bound(GAMMA_OF_EXAMPLES, GAMMA_OF_EXAMPLES, C))
    exceeds = WRONG_SAMPLE_PROBABILITY * (_value(0.6) - _value(0.5) > bound)
    label = f"probability at least that the loss exceeds the bound, one sample of two actions, Σ = {Sigma}"
    return Part(label, Exact(exceeds), below=DELTA)


@theorem_claim("T.3", title="the bound of Theorem 2 holds")
def average_regret_bound_holds() -> list[Part]:
    """Theorem 2's bound on the average regret holds with probability 1 - delta, up to constants and logarithms.

    Sec. 3.3, Theorem 2: "with probability at least 1 - δ". If every task is the example of T.2, and Σ is the diameter
    of the feasible models, the bound at gamma_eval is 0 for all constants. Yet task 1 costs a loss (E9).
    """
    label = "probability at least that the regret exceeds the bound, equal tasks of two actions, one sample"
    ratio = max(
        _proven_over_order(m, sigma, tasks)
        for m in (1, 5, 100, 10_000)
        for sigma in (0.0, *SIGMAS, 0.3, 1.0)
        for tasks in (1, 2, 15, 100)
    )
    return [
        *under("Σ the diameter", [Part(label, Exact(WRONG_SAMPLE_PROBABILITY), below=DELTA)]),
        *under(
            "Σ = 1", [Part("proven bound over √L times the order, largest", Exact(ratio), below=MAX_HIDDEN_CONSTANT)]
        ),
    ]


def _proven_over_order(m: int, sigma: float, tasks: int) -> float:
    S, A = 10, 2
    proven = average_uncertainty(m=m, radius=sigma, S=S, A=A, T=tasks, delta=DELTA, prior="exclusive") / S
    order = regret_order(m=m, radius=sigma, T=tasks)
    return float(proven / (order * sqrt(log(6 * S**2 * A * tasks / DELTA))))


@claim(
    "T.4",
    title="POMRL has no regret",
    figures=("average_regret",),
    is_main=True,
    revised=Revision(
        REVISED_ON,
        "Views are chosen after a look at these numbers. The expected loss of each task comes first, because an upper "
        "bound cannot refute a promise of no regret. The bound is named without its logarithms. On 2026-11-26 its "
        "excess over the bound for an agent that knows the mean model was added, because the paper defines its "
        "regret, and not 'no regret'",
        Verdict.DOES_NOT_HOLD,
    ),
)
def no_regret() -> list[Part]:
    """the average regret vanishes with the number of tasks.

    Sec. 3.3 and title: "No-Regret"; the bound "boils down to O((σ + 1/√m)/√T)". In the example of E7 (one sample of two
    actions, the true mean as prior) every task has the same expected loss. The bound is that of Theorem 2, without
    logarithms. With those of Theorem 3 its share falls further, and then grows without limit.
    """
    shares = {
        s: float(regret_order(m=M, radius=s, T=INFINITE_NUMBER) / regret_order(m=M, radius=s, T=1)) for s in SIGMAS
    }
    bound_parts = [
        Part(f"share of the bound, without logarithms, that is left for T → ∞, σ = {s}", Exact(share), below=ROUNDING)
        for s, share in shares.items()
    ]
    loss = 0.5 * 0.5 * (1.0 - 0.6) * (_value(0.6) - _value(0.5))
    regret_part = Part(
        "expected loss at least, in every task: two actions, one sample of each, the true mean as prior",
        Exact(loss),
        below=ROUNDING,
    )
    return [
        *under("regret", [regret_part]),
        *under("bound", [*bound_parts, _share_with_logarithms(SIGMAS[0])]),
        *under("bound against an agent told the mean", [_excess_over_known_mean(sigma) for sigma in SIGMAS]),
    ]


def _share_with_logarithms(sigma: float) -> Part:
    """Report the remaining share of Theorem 3's bound in many tasks."""
    setting = {"m": M, "radius": sigma, "S": 10, "A": 2, "delta": DELTA, "version": "as_printed"}
    one_task, many_tasks = (float(model_error_bound(t=1, T=tasks, **setting)) for tasks in (1, INFINITE_NUMBER))
    label = f"share with the logarithms of Theorem 3, σ = {sigma}, S = 10, A = 2, δ = {DELTA}, T = {INFINITE_NUMBER:g}"
    return Part(f"{label}; it then grows without limit", Exact(many_tasks / one_task))


def _excess_over_known_mean(sigma: float, many: int = 10_000) -> Part:
    """Compare the bound's excess over its value for a known mean with 1/√T."""
    alpha = 1.0 / (sigma**2 * M + 1.0)
    limit = alpha * sigma + (1.0 - alpha) / sqrt(M)
    one_task, many_tasks = (float(regret_order(m=M, radius=sigma, T=tasks)) - limit for tasks in (1, many))
    exponent = Exact(log(many_tasks / one_task) / log(many))
    return Part(f"exponent of T of what it has more, σ = {sigma}", exponent, below=-0.5 * (1.0 - EQUALITY_MARGIN))


def _value(lead_on: float, discount: float = GAMMA_OF_EXAMPLES) -> float:
    return discount * lead_on / (1.0 - discount * (1.0 - lead_on) - discount**2 * lead_on)


@claim("T.5", title="for similar tasks the bound falls as 1/√T", figures=("average_regret",))
def bound_falls_for_similar_tasks() -> list[Part]:
    """for sigma < 1/√m the first term of Theorem 2's bound dominates, and the bound falls as 1/√T.

    Sec. 3.3: "for small enough values of σ² (typically σ < 1/√m), the first term dominates and the r.h.s. boils down to
    O((σ + 1/√m)/√T)".
    """
    small = np.linspace(0.001, 0.999, 999) / sqrt(M)
    second = small**2 * sqrt(M) / (small**2 * M + 1.0)
    first = np.asarray(regret_order(m=M, radius=small, T=INFINITE_NUMBER)) - second
    smallest = float((first / second).min())
    return [
        Part("first term over second, smallest, T → ∞", Exact(smallest), above=1.0, topic="first term"),
        *under("15 tasks", [_exponent_of_tasks("exponent of T, from 1 to 15 tasks", 1, T)]),
        *under("many tasks", [_exponent_of_tasks("exponent of T, for T → ∞", INFINITE_NUMBER, 100 * INFINITE_NUMBER)]),
    ]


def _exponent_of_tasks(label: str, few: int | float, many: int | float) -> Part:
    """Compare the bound's exponent of T with -1/2, to 10 %."""
    fewer_tasks, more_tasks = (float(regret_order(m=M, radius=SIGMAS[0], T=tasks)) for tasks in (few, many))
    return _about(label, log(more_tasks / fewer_tasks) / log(many / few), -0.5)


def _about(label: str, value: float, claimed: float) -> Part:
    """Compare a number with its claimed value, to a relative `EQUALITY_MARGIN`."""
    label = f"{label}, over {claimed:g}, less 1"
    return Part(
        label, Exact(value / claimed - 1.0), above=-EQUALITY_MARGIN, below=EQUALITY_MARGIN, margin=EQUALITY_MARGIN
    )


@claim("T.6", title="the bound has the stated special cases", figures=("average_regret",))
def special_cases_of_the_bound() -> list[Part]:
    """Theorem 2's bound is of the order 1/√(mT) for equal tasks, and 1/√m in one task of many samples.

    Sec. 3.3: for σ = 0 "we have to estimate only one model [...] with mT samples". Also, "if T = 1 and m grows large,
    the second term dominates and is equivalent to O(√(Σ/m))", with "an additional O(1/m) but second order term". For
    σ = 1 the bound "remains valid and gracefully degrades". Here Σ = 1.
    """
    few, many = INFINITE_NUMBER, 100 * INFINITE_NUMBER
    bias = [3.0 * SIGMAS[0] / (SIGMAS[0] ** 2 * m + 1.0) for m in (few, many)]
    bound_of_different = float(regret_order(m=M, radius=1.0, T=T))
    different = (1.0 + (1.0 + sqrt(1.0 + 1.0 / M)) / sqrt(T)) / M + 1.0 / sqrt(M)
    return [
        _about("bound times √(mT), σ = 0", float(regret_order(m=M, radius=0.0, T=T)) * sqrt(M * T), 1.0),
        _about(
            "bound times √m, T = 1, m → ∞",
            float(regret_order(m=INFINITE_NUMBER, radius=0.1, T=1)) * sqrt(INFINITE_NUMBER),
            1.0,
        ),
        _about("exponent of m of its first term, T = 1, m → ∞", log(bias[1] / bias[0]) / log(many / few), -1.0),
        Part("bound over the one printed for σ = 1", Exact(bound_of_different / different), below=1.0),
    ]


@claim("T.7", title="meta-learning is guaranteed to help whenever σ is below Σ", figures=("average_regret",))
def guaranteed_gain() -> list[Part]:
    """for every sigma up to Σ = 1, Theorem 2's bound is below the bound without meta-learning.

    Sec. 3.3: "for σ ≤ Σ, performing meta learning with Algorithm 1 guarantees better learning measured via our improved
    regret bound".
    """
    ratio = np.asarray(regret_order(m=M, radius=np.linspace(0.001, 1.0, 1000), T=INFINITE_NUMBER)) * sqrt(M)
    return [Part("bound over that without meta-learning, largest over σ", Exact(float(ratio.max())), below=1.0)]


@claim("T.8", title="the bound falls with the number of tasks and with their similarity", figures=("average_regret",))
def bound_falls_with_tasks_and_similarity() -> list[Part]:
    """Theorem 2's bound falls with the number of tasks. As tasks differ more, it rises or falls by less than 10 %.

    Abstract: quoted at Q3.5; Figure 1: it "scales with task-similarity σ".
    """
    sigma = np.linspace(0.0, 1.0, 1001)
    order = np.asarray(regret_order(m=M, radius=sigma, T=np.arange(1, T + 1)[:, None]))
    by_tasks = float((order[1:] / order[:-1]).max() - 1.0)
    by_similarity = float((order / np.maximum.accumulate(order, axis=1)).min() - 1.0)
    tasks_label, sigma_label = "bound in T + 1 tasks over that in T", "bound at a larger σ over that at a smaller one"
    return [
        Part(f"{tasks_label}, less 1, largest", Exact(by_tasks), below=0.0, topic="tasks"),
        Part(
            f"{sigma_label}, less 1, smallest",
            Exact(by_similarity),
            -EQUALITY_MARGIN,
            margin=EQUALITY_MARGIN,
            topic="similarity",
        ),
    ]
