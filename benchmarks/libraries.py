"""Planning by libraries in their fastest documented way; each plans one model."""

from collections.abc import Iterator, Sequence

import mdpsolver
import mdptoolbox.mdp
import numpy as np
import quantecon

from benchmarks.problems import one_by_one

Model = quantecon.markov.DiscreteDP

Policies = Iterator[Sequence[int] | np.ndarray]


def quantecon_values(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Return values of one model by policy iteration, each from the values of the gamma before."""
    values = [None]
    for gamma in gammas:
        values.append(Model(R, P, gamma).solve("policy_iteration", v_init=values[-1]).v)
    return np.array(values[1:])


@one_by_one
def quantecon_modified(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> Policies:
    """Run modified policy iteration on sparse pairs, each from the values of the gamma before."""
    problem, values = Model(R, P, gammas[0]).to_sa_pair_form(sparse=True), None
    for problem.beta in gammas:
        solution = problem.solve("modified_policy_iteration", v_init=values, epsilon=1e-11, max_iter=100_000)
        values = solution.v
        yield solution.sigma


@one_by_one
def quantecon_operators(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> Policies:
    """Iterate with `evaluate_policy` and `compute_greedy`, without the result objects that `solve` makes."""
    problem, policy = Model(R, P, gammas[0]), R.argmax(1)
    for problem.beta in gammas:
        while not np.array_equal(greedy := problem.compute_greedy(problem.evaluate_policy(policy)), policy):
            policy = greedy
        yield policy


@one_by_one
def mdpsolver_plan(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> Policies:
    """Plan by MDPSolver (C++), from the policy and values of the gamma before, without its final checks."""
    model, policy, values = mdpsolver.model(), [], []
    rewards, transitions = R.tolist(), P.tolist()
    for gamma in gammas:
        model.mdp(discount=gamma, rewards=rewards, tranMatWithZeros=transitions)
        model.solve(
            algorithm="pi", update="standard", tolerance=1e-12, parallel=False, postProcessing=False,
            makeFinalCheck=False, initPolicy=policy, initValueVector=values,
        )  # fmt: skip
        policy, values = model.getPolicy(), model.getValueVector()
        yield policy


@one_by_one
def pymdptoolbox_plan(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> Policies:
    """Start each PolicyIteration object from the policy of the gamma before."""
    policy = R.argmax(1)
    for gamma in gammas:
        solver = mdptoolbox.mdp.PolicyIteration(P.transpose(1, 0, 2), R, gamma, policy0=policy)
        solver.run()
        policy = np.array(solver.policy)
        yield policy
