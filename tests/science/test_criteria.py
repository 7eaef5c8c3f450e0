"""Finite horizons, no discount, and start states: against brute force, closed forms, and what is refused."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.support.sample_models import all_policies, random_models, ring
from tests.support.settings import CONF

from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.contracts import METHOD, problem
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import Grid
from pomrl.science.mdp import Criterion
from pomrl.science.metrics.shipped import StartLoss
from pomrl.science.planners import BackwardInduction, PolicyIteration
from pomrl.science.problem import Method, Problem, check
from pomrl.science.solvers.undiscounted import NeverEndsError
from pomrl.science.tasks.distribution import TaskDistribution, Tasks
from pomrl.science.tasks.random_chains import Dirichlet

METRICS, AGENTS = (sorted(path.stem for path in (CONF / group).glob("*.yaml")) for group in ("metric", "agent"))
FINITE = replace(problem(), horizon=3, gamma_eval=1.0)
LAKE = ["task_distribution=frozen_lake", "S=null", "A=null", "sigma=null", "T=2", "gamma_eval=1", "m=30"]


def forwards(P: np.ndarray, R: np.ndarray, policies: np.ndarray, gamma: float) -> np.ndarray:
    """Values of policies [k, H, S] with actions by steps to go, summed from the first step on: no induction."""
    S = P.shape[0]
    total, weight = np.zeros((len(policies), S)), np.eye(S)
    for i, action in enumerate(np.moveaxis(policies, 1, 0)[::-1]):
        total = total + gamma**i * (weight @ R[np.arange(S), action][..., None])[..., 0]
        weight = weight @ P[np.arange(S), action]
    return total


@pytest.mark.parametrize(("S", "A", "H", "models"), [(2, 2, 3, 400), (3, 2, 2, 300), (2, 3, 2, 300)])
def test_plans_over_a_horizon_are_the_best_of_all_policies(S: int, A: int, H: int, models: int) -> None:
    """1,000 models in all."""
    P, R = random_models(np.random.default_rng(S * A), models, S, A)
    policies = np.array(list(product(range(A), repeat=S * H))).reshape(-1, H, S)
    gammas = np.array([0.0, 0.6, 1.0])
    planned = BackwardInduction(steps=H).plan(P, 10 * R - 5, gammas)
    assert planned.shape == (models, 3, H, S)
    for i, (P_i, R_i) in enumerate(zip(P, 10 * R - 5, strict=True)):
        for g, gamma in enumerate(gammas):
            best = forwards(P_i, R_i, policies, gamma).max(0)
            assert_allclose(forwards(P_i, R_i, planned[i, [g]], gamma)[0], best, atol=1e-12)
            assert_allclose(Criterion(gamma, horizon=H).optimal_value(P_i[None], R_i[None])[0], best, atol=1e-12)


def test_values_over_a_horizon_of_policies_that_do_not_depend_on_the_step_or_look_less_far() -> None:
    P, R = random_models(np.random.default_rng(0), 5, 3, 2)
    criterion = Criterion(0.9, horizon=4)
    for policy in (np.zeros((5, 1, 3), int), BackwardInduction(steps=2).plan(P, R, np.array([0.9]))):
        by_steps = policy if policy.ndim == 4 else policy[:, :, None]
        every = by_steps[:, 0, np.minimum(np.arange(4), by_steps.shape[2] - 1)]
        expected = [forwards(P_i, R_i, each[None], 0.9)[0] for P_i, R_i, each in zip(P, R, every, strict=True)]
        V, _, index, _ = criterion.distinct_values(P, R, policy)
        assert_allclose(V[index[:, 0]], expected, atol=1e-12)
        assert (criterion.planning_loss(P, R, policy) >= 0).all()
    assert_array_equal(criterion.planning_loss(P, R, BackwardInduction(steps=4).plan(P, R, np.array([0.9]))), 0.0)


def test_the_two_states_of_puterman() -> None:
    """Puterman (1994), Sec. 3.1: over n steps the values are 12 - n - 2^(1 - n) and -n."""
    P = np.array([[[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]])
    R = np.array([[[5.0, 10.0], [-1.0, -1.0]]])
    for n in range(1, 12):
        assert_allclose(Criterion(1.0, horizon=n).optimal_value(P, R), [[12 - n - 2.0 ** (1 - n), -n]])


def test_the_inventory_of_puterman() -> None:
    """Puterman (1994), Sec. 4.6.1: three months, and orders up to 3 units; what does not fit is not ordered."""
    chance, revenue = np.array([0.25, 0.5, 0.25]), np.array([0.0, 6.0, 8.0, 8.0])
    P, R = np.zeros((1, 4, 4, 4)), np.zeros((1, 4, 4))
    for s, a in product(range(4), repeat=2):
        order = a if s + a <= 3 else 0
        R[0, s, a] = revenue[s + order] - (4 + 2 * order) * (order > 0) - (s + order)
        np.add.at(P[0, s, a], np.maximum(s + order - np.arange(3), 0), chance)
    assert_allclose(Criterion(1.0, horizon=3).optimal_value(P, R) * 16, [[67, 129, 194, 227]])
    policy = BackwardInduction(steps=3).plan(P, R, np.array([1.0]))[0, 0]
    assert_array_equal(policy[:, 0], [0, 2, 3])


def proper(P_pi: np.ndarray) -> bool:
    return bool(np.abs(np.linalg.eigvals(P_pi)).max() < 1 - 1e-9)


def ending(rng: np.random.Generator, *, improper: bool) -> tuple[np.ndarray, np.ndarray]:
    """A model of four states of which the last is terminal; if some policies are improper, rewards are negative."""
    P, R = (array[0] for array in random_models(rng, 1, 4, 2, 2 if improper else 0))
    P[3], R = np.eye(4)[3], -0.01 - R if improper else 4 * R - 2
    R[3] = 0.0
    return P, R


@pytest.mark.parametrize("improper", [False, True])
def test_plans_without_a_discount_are_the_best_of_all_policies_that_end(*, improper: bool) -> None:
    """1,000 models in all, of which those without an end are refused."""
    rng, policies = np.random.default_rng(improper), all_policies(3, 2)
    solved: list[tuple[np.ndarray, np.ndarray]] = []
    best = []
    for P, R in (ending(rng, improper=improper) for _ in range(500)):
        chains = [(P[range(3), policy][:, :3], R[range(3), policy]) for policy in policies]
        values = [np.linalg.solve(np.eye(3) - P_pi, R_pi) for P_pi, R_pi in chains if proper(P_pi)]
        if values:
            solved.append((P, R))
            best.append(np.max(values, axis=0))
        else:
            with pytest.raises(NeverEndsError, match="ends under no policy"):
                Criterion(1.0).optimal_value(P[None], R[None])
    P, R = map(np.stack, zip(*solved, strict=True))
    assert len(P) >= 400
    assert_allclose(Criterion(1.0).optimal_value(P, R)[:, :3], best, rtol=1e-9, atol=1e-9)
    planned = PolicyIteration().plan(P, R, np.array([0.5, 1.0]))
    assert_array_equal(Criterion(1.0).planning_loss(P, R, planned[:, 1:]), 0.0)


def test_a_gambler_plays_boldly() -> None:
    """Puterman (1994), Sec. 7.2: with chance p < 1/2 of each bet, bold play wins from 1/4, 1/2, 3/4 of the aim."""
    p, P, R = 0.4, np.zeros((1, 9, 4, 9)), np.zeros((1, 9, 4))
    P[0, [0, 8], :, [0, 8]] = 1.0
    for s, a in product(range(1, 8), range(4)):
        stake = min(a + 1, s, 8 - s)
        P[0, s, a, [s + stake, s - stake]] = p, 1 - p
        R[0, s, a] = p * (s + stake == 8)
    assert_allclose(Criterion(1.0).optimal_value(P, R)[0, [0, 2, 4, 6, 8]], [0, p**2, p, p + (1 - p) * p, 0])


def test_a_walk_between_two_ends_takes_the_product_of_the_distances() -> None:
    S = 15
    P = np.zeros((1, S, 1, S))
    P[0, [0, S - 1], 0, [0, S - 1]] = 1.0
    for s in range(1, S - 1):
        P[0, s, 0, [s - 1, s + 1]] = 0.5
    R = -np.r_[0.0, np.ones(S - 2), 0.0][None, :, None]
    states = np.arange(S)
    assert_allclose(Criterion(1.0).optimal_value(P, R)[0], -states * (S - 1.0 - states), atol=1e-11)


def test_states_that_never_end_are_named() -> None:
    (P, R), criterion = ring(3), Criterion(1.0)
    with pytest.raises(NeverEndsError, match="model 0: state 0 ends under no policy; set gamma_eval or gamma below 1"):
        criterion.optimal_value(P, R)
    P[0, 2], R[0, 2] = np.eye(3)[2], 0.0
    with pytest.raises(NeverEndsError, match="state 0 gains for ever"):
        criterion.optimal_value(P, R)
    R[0, 0] = -1.0
    assert_allclose(criterion.optimal_value(P, R), [[-1.0, 0.0, 0.0]])
    with pytest.raises(NeverEndsError, match="state 0 never ends under its policy"):
        criterion.planning_loss(P, R, np.array([[[1, 0, 0]]]))
    P[0, 0, 1] = [1 - 1e-9, 1e-9, 0.0]
    with pytest.raises(NeverEndsError, match="state 0 takes more than 60000 steps"):
        criterion.optimal_value(P, R)


@pytest.mark.parametrize("agent", AGENTS)
def test_agents_act_over_a_horizon_or_refuse_not_to_discount(agent: str) -> None:
    of_agent = sweeps.experiment(PUBLISHED, [f"agent={agent}", "horizon=3", "planner=backward_induction"]).method
    method = replace(of_agent, estimator=METHOD.estimator, gamma_schedule=METHOD.gamma_schedule)
    (table,) = tables(replace(FINITE, gamma_eval=0.9), [method], range(2))
    assert table["planning_loss"].between(0, 3).all()
    undiscounted = replace(method, gamma_schedule=Grid(gammas=[0.5, 1.0]))
    if method.agent.discounts:
        with pytest.raises(ValueError, match=r"act in task 1 failed: it discounts: set the discount factors"):
            tables(FINITE, [undiscounted], range(2))
    else:
        assert tables(FINITE, [undiscounted], range(2))[0]["planning_loss"].between(0, 3).all()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("of", [["horizon=3", "planner=backward_induction"], LAKE], ids=["horizon", "undiscounted"])
def test_metrics_measure_by_any_criterion_or_refuse(metric: str, of: list[str]) -> None:
    given = sweeps.experiment(PUBLISHED, [f"metric={metric}", *of, "gamma_schedule.gammas=[0.95]"])
    if metric == "wrong_actions" and given.problem.horizon:
        with pytest.raises(ValueError, match="horizon=3: metric wrong_actions"):
            check(given.problem, given.method, range(1))
        return
    check(given.problem, given.method, range(1))
    (table,) = tables(given.problem, [given.method], range(1))
    assert np.isfinite(table.get("measured", table["planning_loss"])).all()


def test_what_does_not_end_names_its_task_and_run() -> None:
    given = sweeps.experiment(PUBLISHED, [*LAKE, "task_distribution=cliff_walking", "gamma_schedule.gammas=[0.0]"])
    with pytest.raises(ValueError, match=r"gamma_eval=1: in task 1 of run 4, state \d+ never ends under its policy"):
        tables(given.problem, [given.method], [4])


def test_backward_induction_with_the_true_model_loses_nothing_and_without_foresight_does() -> None:
    known = replace(METHOD, estimator=sweeps.experiment(PUBLISHED, ["estimator=oracle"]).method.estimator)
    same = replace(FINITE, sigma=0.0, m=10**6)
    losses = [
        tables(same, [replace(known, planner=BackwardInduction(steps=steps), gamma_schedule=Grid(gammas=[1.0]))], [0])
        for steps in (1, 3)
    ]
    near, far = (table["planning_loss"].mean() for (table,) in losses)
    assert far < 0.01 < near


class FromTheFirstState(Dirichlet):
    @property
    def start(self) -> list[float]:
        return [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_the_mean_over_start_states_is_the_metric_of_them() -> None:
    start = [0.0, 0.25, 0.75, 0.0, 0.0, 0.0]
    (plain,) = tables(problem(), [replace(METHOD, metric=StartLoss(start=start))], range(2))
    (of_start,) = tables(replace(problem(), loss="mean", start=start), [replace(METHOD, metric=StartLoss())], range(2))
    assert_allclose(of_start["planning_loss"], plain["measured"], atol=1e-9)
    assert_allclose(of_start["measured"], plain["measured"], atol=1e-12)
    first = replace(problem(), loss="mean", start=0)
    for same in (
        replace(first, start=[1.0, *np.zeros(5).tolist()]),
        replace(problem(FromTheFirstState(zeros=2)), loss="mean"),
    ):
        assert tables(same, [METHOD], range(2))[0].equals(tables(first, [METHOD], range(2))[0])


@pytest.mark.parametrize(
    ("changes", "method", "message"),
    [
        ({"start": 6, "loss": "mean"}, METHOD, "start=6: it has to be a state or 6 probabilities"),
        ({"start": [0.5] * 6, "loss": "mean"}, METHOD, "it has to be a state or 6 probabilities that sum to 1"),
        ({"start": 1}, METHOD, "start=1: loss=max is that of the worst state"),
        ({"reward_low": 2.0}, METHOD, "reward_low=2.0: it has to be at most reward_high=1.0"),
        (
            {},
            replace(METHOD, planner=BackwardInduction(steps=2)),
            "horizon=None: planner BackwardInduction looks ahead 2",
        ),
        ({"horizon": 1}, replace(METHOD, planner=BackwardInduction(steps=2)), "set horizon to at least that"),
    ],
)
def test_what_does_not_go_together_is_refused(changes: dict[str, Any], method: Method, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(replace(problem(), **changes), method, range(1))


class TwoRewards(TaskDistribution):
    """Tasks with one model, of which the odd ones pay for the first action and the even ones for the second."""

    def draw_mean(self, seed: int, run: int, S: int, A: int, sigma: float | None) -> Any:
        return Dirichlet(zeros=0).draw_mean(seed, run, S, A, sigma)

    def draw(self, rngs: Any, means: Any, tasks: int) -> Tasks:
        P = np.stack([[mean.P_o for mean in means]] * tasks)
        odd = np.array([[rng.integers(2) for rng in rngs] for _ in range(tasks)])
        return Tasks(P, np.broadcast_to(np.eye(2)[odd][:, :, None], P.shape[:-1]).copy())

    def variance(self, mean: Any) -> np.ndarray:
        return np.zeros(mean.P_o.shape)


def test_a_distribution_of_ones_own_may_draw_rewards() -> None:
    """Who pools rewards over tasks in which other actions pay loses; who knows them, or learns them anew, does not."""
    of = Problem(S=4, A=2, m=5, T=4, sigma=0.01, gamma_eval=0.9, seed=0, task_distribution=TwoRewards())
    known, own, pooled = (
        tables(replace(of, reward_model=model), [METHOD], range(5))[0]["planning_loss"].max()
        for model in ("known", "own", "pooled")
    )
    assert known == own == 0.0 < pooled
    for drawn in (replace(problem(), task_distribution=Dirichlet(zeros=2, reward_spread=0.5)),):
        together = tables(drawn, [METHOD], range(3))[0]
        assert together[together["run"] == 2].reset_index(drop=True).equals(tables(drawn, [METHOD], [2])[0])


def test_rewards_spread_over_tasks_as_they_should_in_the_order_of_tasks() -> None:
    tasks = Dirichlet(zeros=2, reward_spread=0.5)
    mean = tasks.draw_mean(0, 0, 6, 2, 0.01)
    R = tasks.draw([np.random.default_rng(1)], [mean], 2000).R[:, 0]
    assert_allclose(R.mean(0), mean.R, atol=0.06)
    assert_allclose(R.std(0), 0.5, atol=0.04)
    rng = [np.random.default_rng(1)]
    parts = [tasks.draw(rng, [mean], n).R[:, 0] for n in (3, 2)]
    assert_array_equal(np.concatenate(parts), R[:5])
