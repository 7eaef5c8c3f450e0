"""Exact claims on the formulas of mixing rates, learned similarities and schedules."""

import numpy as np

from pomrl.study import (
    EQUALITY_MARGIN,
    ROUNDING,
    Exact,
    Part,
    claim,
    paper_mixing_rate,
    regret_constant,
    regret_order,
    under,
    upper_bound_gamma,
)
from pomrl_studies.pomrl2023.claims.theory import INFINITE_NUMBER, SIGMAS, M, T
from pomrl_studies.pomrl2023.theory.related_tasks import DIRICHLET
from pomrl_studies.pomrl2023.theory.squared_error import mixing_rates_and_errors

MAX_SMALL_GAMMA = 0.5
"""The upper limit of a small discount factor, as in A.3."""

ORDER_OF_MAGNITUDE = 10.0
"""The largest ratio of numbers of the same order."""


@claim("T.9", title="the mixing rate minimises the mean squared error", figures=("squared_error", "mixing_rates"))
def mixing_rate_is_optimal() -> list[Part]:
    """the paper's mixing rate minimises the bound on the mean squared error, and the error itself to within 10 %.

    App. B, Sec. 5.1: "the mixing coefficient with smallest MSE"; the "optimal mixing rate". The bound is printed in
    Sec. 3.2. The error has a closed form for the Dirichlet tasks of the figure squared_error, at the true similarity
    (E4).
    """
    table = mixing_rates_and_errors()
    errors = table.pivot(index=["prior", "t"], columns="mixing", values="closed_form")
    excess = (errors["paper"] / errors["mse_optimal"] - 1.0).groupby("prior").max()
    names = {"exclusive": "average of means as prior", "known": "true mean as prior"}
    x, t = M * np.array(SIGMAS)[:, None], np.arange(2, T + 1)
    minimiser = (1.0 / M) / (np.array(SIGMAS)[:, None] * (1.0 + 1.0 / t) + 1.0 / M)
    distance = float(np.abs(paper_mixing_rate(x, t) - minimiser).max())
    bound_part = Part("distance of the rate from the minimiser of the bound, largest", Exact(distance), below=ROUNDING)
    error_parts = [
        Part(
            f"error over the least one, less 1, {prior_label}",
            Exact(float(excess[prior])),
            below=EQUALITY_MARGIN,
            margin=EQUALITY_MARGIN,
        )
        for prior, prior_label in names.items()
    ]
    return [*under("bound", [bound_part]), *under("error", error_parts)]


@claim("T.10", title="the bound on the mean squared error holds", figures=("squared_error",))
def squared_error_bound_holds() -> list[Part]:
    """the mean squared error of the estimate is at most the bound that the mixing rate is derived from.

    Sec. 3.2, App. B: "MSE ≤ α_t² σ² (1 + 1/t) + (1 - α_t)² 1/m", with σ²/t for the variance of an average of
    t - 1 tasks. In task 2, with equal tasks and all weight on the prior, the bound is 0. The error is then the variance
    of the batch before, 1/(4m) for fair coins (E4).
    """
    t = 2
    coin_error = 0.25 / (M * (t - 1))
    return [
        Part("bound less error, α = 1, σ = 0, fair coins, m = 5, task 2", Exact(0.0 - coin_error), above=-ROUNDING),
        Part("variance of the average over σ²/t, task 2", Exact(t / (t - 1)), below=1.0 + ROUNDING),
    ]


@claim("T.11", title="the mixing rate grows to the optimal one", figures=("mixing_rates",))
def mixing_rate_grows() -> list[Part]:
    """POMRL's mixing rate grows with t from task 2 on, stays below the rate for a known mean, and approaches it.

    App. B: α_t ≤ α*; the "weight in the estimator is smaller, but eventually converges at a fast rate to the optimal
    value".
    """
    x, t = M * np.array(SIGMAS)[:, None], np.arange(2, T + 1)
    alpha, known_mean_rate = np.asarray(paper_mixing_rate(x, t)), 1.0 / (x + 1.0)
    gap = known_mean_rate - np.asarray(paper_mixing_rate(x, np.array([1e5, 1e6])))
    steps = np.diff(alpha) / (alpha[:, -1:] - alpha[:, :1])
    exponent = np.log10(gap[:, 1] / gap[:, 0]).max()
    return [
        Part("growth from a task to the next over that in all, smallest", Exact(float(steps.min())), above=0.0),
        Part("rate less that for a known mean, largest", Exact(float((alpha - known_mean_rate).max())), below=0.0),
        Part("exponent of t of the difference, largest", Exact(float(exponent)), below=-1.0 + EQUALITY_MARGIN),
    ]


@claim("T.12", title="Welford's algorithm estimates the similarity", figures=("mixing_rates",))
def similarity_is_estimated() -> list[Part]:
    """the variance over batches, which ada-POMRL takes for sigma^2, is sigma^2 in expectation.

    Sec. 4, App. C: ada-POMRL "uses Welford's algorithm to compute an online estimate of the variance [...], and simply
    plugs-in this estimate". For Dirichlet tasks of concentration c the variance over batches of m samples is
    (1 + c/m) σ² in every entry (E5). The tolerance is 10 %.
    """
    c, m = DIRICHLET.concentration, DIRICHLET.m
    label = f"expected variance over σ², less 1, c = {c:g}, m = {m}"
    return [Part(label, Exact(c / m), above=-EQUALITY_MARGIN, below=EQUALITY_MARGIN, margin=EQUALITY_MARGIN)]


@claim("T.13", title="the schedule's γ is where the upper bound is smallest", figures=("upper_bound",), is_main=True)
def minimum_of_the_upper_bound() -> list[Part]:
    """Proposition 1 says where U is smallest: at 0 for C ≥ 1, at 1 for C < 1/2, and at (1 - C)/(1 + C) otherwise.

    Sec. 6.2, Proposition 1: "The existence of a strict minimum in (0, 1) is determined by C". U'(γ) has the sign of C(1
    + γ) - (1 - γ), so U has its minimum at (1 - C)/(1 + C) for every C < 1, and at 0 otherwise (E1).
    """
    cases = {"C ≥ 1": (1.0, 4.0), "1/2 < C < 1": (0.5, 1.0), "C < 1/2": (0.0, 0.5)}
    claim_parts = []
    for name, (low, high) in cases.items():
        C = np.linspace(low, high, 1001)[1:-1]
        distance = np.abs(np.asarray(upper_bound_gamma(C, "as_printed")) - np.maximum((1.0 - C) / (1.0 + C), 0.0))
        label = f"distance of the stated minimum from that of U, largest, {name}"
        claim_parts += under(name, [Part(label, Exact(float(distance.max())), below=ROUNDING)])
    return claim_parts


@claim("T.14", title="C_t is of the order of the bound", figures=("upper_bound",))
def constant_is_of_the_order_of_the_bound() -> list[Part]:
    """the constant C_t of the schedule is within a factor of 10 of the constant of Theorem 2.

    Sec. 6.2: C_t "is of the order of the constant in" the bound. C_t leaves out σ/(σ²m + 1), which does not fall with T
    (E7).
    """
    claim_parts = []
    for name, tasks in (("15 tasks", T), ("t → ∞", INFINITE_NUMBER)):
        ratios = [float(regret_order(m=M, radius=s, T=tasks) / regret_constant(tasks, M, s)) for s in SIGMAS]
        label = f"constant of Theorem 2 over C_t, largest, {name}"
        claim_parts += under(name, [Part(label, Exact(max(ratios)), below=ORDER_OF_MAGNITUDE)])
    return claim_parts


@claim("T.15", title="the schedule's γ is small in the first task", figures=("upper_bound", "gamma_schedules"))
def small_at_first() -> list[Part]:
    """in the first task of the experiments the stated minimum of U is above 0 and below 0.5.

    Sec. 6.2: "when T = 1 and m is small, [...] γ should be small, potentially close to but not equal to zero".
    """
    C = regret_constant(1, M, SIGMAS[0])
    minima = {"as printed": upper_bound_gamma(C, "as_printed"), "corrected": upper_bound_gamma(C, "corrected")}
    return [
        Part(f"stated minimum in task 1, {name}", Exact(float(minimum)), above=0.0, below=MAX_SMALL_GAMMA, topic=name)
        for name, minimum in minima.items()
    ]
