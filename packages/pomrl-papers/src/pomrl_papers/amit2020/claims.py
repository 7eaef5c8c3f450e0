"""Claims on discounting as a regulariser, paraphrasing the paper."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from pomrl.study import (
    Exact,
    LossPerRun,
    Part,
    Result,
    ScalarEstimate,
    SweepResults,
    best_grows,
    best_is_between,
    claim,
    less,
    mean_difference,
    ratio,
    smaller_minimum,
)

AGENTS = {"td": "SARSA", "lstd": "LSTD", "certainty_equivalence": "planning"}
"""Learners and their labels; `planning` is on the estimated model."""

GRID_AGENTS = {"td_5000": "SARSA", "lstd": "LSTD", "certainty_equivalence": "planning"}
"""Learners in grid worlds, where SARSA takes more steps."""

TRAJECTORIES = (4, 8, 16, 32)
"""Numbers of trajectories."""

FEW_TRAJECTORIES = TRAJECTORIES[:2]

PILOT_RUNS = 8000
"""The number of runs for claims about small differences, from a pilot with the seed 20261122."""

GAMMA_EVAL = 0.99

NO_PENALTY = 0.0001
"""The smallest weight of L2, treated as no penalty."""

EQUIVALENT_PENALTIES = {0.4: 0.9, 3.92: 0.5}
"""Weights of L2, 4 (0.99 / gamma - 1) for four transitions of each pair, and the equivalent gamma."""


@claim("D1", "lower_gammas", figures=("lower_gammas",))
def discounting_helps_with_few_data(sweep: SweepResults) -> list[Part]:
    """Each learner loses less with some gamma below gamma_eval than with gamma_eval, if trajectories are few.

    Abstract: lower discount factors improve performance with limited data. Random MDPs, 4 and 8 trajectories.
    """
    return _shorter_wins(sweep, AGENTS)


@claim("D2", "grid_worlds", runs=PILOT_RUNS, figures=("grid_worlds",))
def discounting_helps_in_grid_worlds(sweep: SweepResults) -> list[Part]:
    """Each learner loses less with some gamma below gamma_eval in grid worlds, too, if trajectories are few.

    Abstract: experiments in discrete domains. Grids of the authors' code, 4 and 8 trajectories of one episode.
    """
    return _shorter_wins(sweep, GRID_AGENTS)


@claim("D3", "lower_gammas", runs=PILOT_RUNS, figures=("lower_gammas",))
def the_best_gamma_grows(sweep: SweepResults) -> list[Part]:
    """The best gamma of each learner grows with the number of trajectories.

    Abstract: the gain is related to the size of the data. Random MDPs, 4 to 32 trajectories.
    """
    return [
        best_grows(
            sweep.at(agent=agent, m=TRAJECTORIES[0]),
            np.stack([sweep.at(agent=agent, m=n).average_curve for n in TRAJECTORIES], axis=1),
            f"{name}, rank correlation of γ* with the number of trajectories",
        )
        for agent, name in AGENTS.items()
    ]


@claim("D4", "lower_gammas", runs=PILOT_RUNS, figures=("lower_gammas",))
def the_gain_shrinks(sweep: SweepResults) -> list[Part]:
    """The best gamma saves less of the loss at gamma_eval with 32 trajectories than with 4.

    Abstract: as D3. Random MDPs; the other half of the runs selects the best gamma.
    """
    return [
        less(_gain(sweep.at(agent=agent, m=32)), _gain(sweep.at(agent=agent, m=4)), f"{name}, 32 less 4 trajectories")
        for agent, name in AGENTS.items()
    ]


@claim("D5")
def discounting_is_a_penalty() -> list[Part]:
    """TD and LSTD with a lower gamma give the values of TD and LSTD with gamma_eval and a penalty on values in the
    data.

    Abstract: an explicit equivalence. The penalty is (gamma_eval / gamma - 1) V(s)^2 / 2 in each sample, with rewards
    scaled by gamma / gamma_eval and learning rates by its inverse.
    """
    rng = np.random.default_rng(3500)
    differences = np.array([_differences(rng) for _ in range(200)]).max(0)
    names = ("values after 500 steps of TD", "values of LSTD")
    return [
        Part(f"{name}, largest difference", Exact(float(difference)), below=1e-9)
        for name, difference in zip(names, differences, strict=True)
    ]


@claim("D6", "equal_numbers")
def with_equal_data_l2_is_discounting(sweep: SweepResults) -> list[Part]:
    """LSTD with gamma_eval and L2 equals LSTD with a lower gamma, if all pairs have the same number of transitions.

    Follows from the equivalence: the weight is the number of transitions times gamma_eval / gamma - 1.
    """
    without = sweep.at(l2=0)
    return [
        Part(
            f"L2 of {l2:g} and γ = {gamma:g}, absolute difference of losses",
            _mean_distance(sweep.at(l2=l2).regret, _regret_at(without, gamma)),
            below=1e-9,
        )
        for l2, gamma in EQUIVALENT_PENALTIES.items()
    ]


@claim(
    "D7",
    "penalties_of_lstd",
    "penalties_of_sarsa",
    runs={"default": 1600, "known_rewards": 1600},
    figures=("penalties",),
)
def l2_helps_with_few_data(lstd: SweepResults, td: SweepResults) -> list[Part]:
    """Some L2 penalty at gamma_eval loses less than none, if trajectories are few.

    Our reading: L2, the reference for discounting, is a regulariser too. Random MDPs, 4 and 8 trajectories.
    """
    return [
        smaller_minimum(_penalty_curves(sweep, n)[:, 1:], _penalty_curves(sweep, n)[:, :1], f"{name}, {n} trajectories")
        for sweep, name in ((lstd, "LSTD"), (td, "SARSA"))
        for n in FEW_TRAJECTORIES
    ]


@claim("D8", "penalties_of_lstd", "penalties_of_sarsa", runs={"improved": 1600}, figures=("penalties",))
def discounting_beats_l2(lstd: SweepResults, td: SweepResults) -> list[Part]:
    """The best gamma loses less than the best L2 penalty at gamma_eval, if the data are trajectories.

    Our question: the abstract compares the two. Random MDPs, 4 to 32 trajectories; two weights per decade.
    """
    return [
        smaller_minimum(
            sweep.at(l2=NO_PENALTY, m=n).average_curve,
            _penalty_curves(sweep, n),
            f"{name}, {n} trajectories, best γ less best L2",
        )
        for sweep, name in ((lstd, "LSTD"), (td, "SARSA"))
        for n in TRAJECTORIES
    ]


@claim("D9", "uneven_numbers", is_judged=False)
def what_is_gained_with_uneven_data(sweep: SweepResults) -> list[Part]:
    """How much of the loss at gamma_eval the best gamma saves, with equal and with unequal numbers of transitions.

    Abstract: the gain is related to the distribution of the data; it does not say how.
    """
    names = {"generative": "equal numbers", "unequal": "unequal numbers"}
    return [
        Part(f"{name}, {data_label}", _loss_ratio(sweep.at(agent=agent, data=data)))
        for agent, name in AGENTS.items()
        for data, data_label in names.items()
    ]


@claim("D10", "mixing", figures=("mixing",), is_judged=False)
def what_is_gained_where_chains_mix_slowly(sweep: SweepResults) -> list[Part]:
    """How much of the loss at gamma_eval the best gamma saves, where chains mix fast and slowly.

    Abstract: the gain is related to the mixing rate of the data; it does not say how. Mixing times 2 to 50.
    """
    return [
        Part(f"{name}, mixing time {1 / leave:g}", _loss_ratio(sweep.at(agent=agent, leave=leave)))
        for agent, name in AGENTS.items()
        for leave in (0.5, 0.1, 0.02)
    ]


def _shorter_wins(sweep: SweepResults, agents: Mapping[str, str]) -> list[Part]:
    return [
        best_is_between(sweep.at(agent=agent, m=n), f"{name}, {n} trajectories", below=GAMMA_EVAL)
        for agent, name in agents.items()
        for n in FEW_TRAJECTORIES
    ]


def _gain(losses: Result) -> Float[np.ndarray, " n"]:
    return losses.regret - losses.at_best_fixed()


def _loss_ratio(losses: Result) -> ScalarEstimate:
    return ratio(losses.at_best_fixed(), losses.regret)


def _mean_distance(a: LossPerRun, b: LossPerRun) -> ScalarEstimate:
    """Estimate the mean of |a - b| over pairs of runs."""
    return mean_difference(np.maximum(a, b), np.minimum(a, b))


def _penalty_curves(sweep: SweepResults, n: int) -> Float[np.ndarray, "n weights"]:
    by_weight = sweep.where(m=n)
    return np.stack([by_weight.at(l2=weight).regret for (weight,) in sorted(by_weight.values)], axis=1)


def _regret_at(losses: Result, gamma: float) -> Float[np.ndarray, " n"]:
    return losses.average_curve[:, np.abs(losses.gammas - gamma).argmin()]


def _differences(rng: np.random.Generator) -> tuple[float, float]:
    """Compare a lower gamma with a penalty on random data.

    Return the largest differences in value by TD and by LSTD.
    """
    S, steps = 6, 500
    gamma, (s, after), reward = rng.uniform(0.5, GAMMA_EVAL), rng.integers(S, size=(2, steps)), rng.random(steps)
    scale = GAMMA_EVAL / gamma
    lower, penalised = np.zeros(S), np.zeros(S)
    for i in range(steps):
        rate, (x, y) = 50.0 / (100.0 + i), (s[i], after[i])
        lower[x] += rate * scale * (reward[i] / scale + gamma * lower[y] - lower[x])
        error = reward[i] + GAMMA_EVAL * penalised[y] - penalised[x]
        penalised[x] += rate * (error - (scale - 1.0) * penalised[x])
    visits, moves, total = np.eye(S)[s].sum(0), np.eye(S)[s].T @ np.eye(S)[after], np.eye(S)[s].T @ reward
    N = np.diag(visits)
    lower_values = np.linalg.solve(N - gamma * moves, total / scale)
    penalised_values = np.linalg.solve(N - GAMMA_EVAL * moves + (scale - 1.0) * N, total)
    return float(np.abs(lower - penalised).max()), float(np.abs(lower_values - penalised_values).max())
