"""What a user could plan with: functions of (P, R, gammas) that return a policy for each model and gamma.

Each is used as its documentation shows, or better where it says so. All get the same arrays and one thread.
"""

from collections.abc import Callable

import mdpsolver
import mdptoolbox.mdp
import numpy as np
import quantecon
from jaxtyping import Float, Int

from pomrl.planners import PolicyIteration

Plan = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def ours(
    P: Float[np.ndarray, "M S A S"], R: Float[np.ndarray, "M S A"], gammas: Float[np.ndarray, " G"]
) -> Int[np.ndarray, "M G S"]:
    """All models and gammas in one call."""
    return PolicyIteration().plan(P, R, gammas)


def quantecon_documented(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """A DiscreteDP for each model and gamma, solved by policy iteration."""

    def solve(i: int, gamma: float) -> np.ndarray:
        return quantecon.markov.DiscreteDP(R[i], P[i], gamma).solve(method="policy_iteration").sigma

    return np.array([[solve(i, gamma) for gamma in gammas] for i in range(len(P))])


def quantecon_tuned(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """One DiscreteDP for each model, whose discount factor is changed; started from the values of the gamma before."""
    policies = np.empty((len(P), len(gammas), R.shape[1]), int)
    for i in range(len(P)):
        problem, values = quantecon.markov.DiscreteDP(R[i], P[i], gammas[0]), None
        for g, gamma in enumerate(gammas):
            problem.beta = gamma
            solution = problem.solve(method="policy_iteration", v_init=values)
            policies[i, g], values = solution.sigma, solution.v
    return policies


def mdpsolver_documented(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """MDPSolver (C++): a model object for each model and gamma, solved by policy iteration."""

    def solve(i: int, gamma: float) -> list[int]:
        model = mdpsolver.model()
        model.mdp(discount=gamma, rewards=R[i].tolist(), tranMatWithZeros=P[i].tolist())
        model.solve(algorithm="pi", tolerance=1e-9)
        return model.getPolicy()

    return np.array([[solve(i, gamma) for gamma in gammas] for i in range(len(P))])


def mdpsolver_tuned(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Started from the policy of the gamma before, lists made once for each model, no threads, no after-treatment."""
    policies = np.empty((len(P), len(gammas), R.shape[1]), int)
    for i in range(len(P)):
        transitions, rewards, policy = P[i].tolist(), R[i].tolist(), []
        for g, gamma in enumerate(gammas):
            model = mdpsolver.model()
            model.mdp(discount=gamma, rewards=rewards, tranMatWithZeros=transitions)
            model.solve(algorithm="pi", tolerance=1e-9, initPolicy=policy, parallel=False, postProcessing=False)
            policy = model.getPolicy()
            policies[i, g] = policy
    return policies


def pymdptoolbox(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """A PolicyIteration object for each model and gamma."""

    def solve(i: int, gamma: float) -> tuple[int, ...]:
        solver = mdptoolbox.mdp.PolicyIteration(P[i].transpose(1, 0, 2), R[i], gamma)
        solver.run()
        return solver.policy

    return np.array([[solve(i, gamma) for gamma in gammas] for i in range(len(P))])


def numpy_loop(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """What a careful person writes: policy iteration in NumPy, started from the policy of the gamma before."""
    M, S, A, _ = P.shape
    policies, states, identity = np.empty((M, len(gammas), S), int), np.arange(S), np.eye(S)
    for i in range(M):
        policy = R[i].argmax(1)
        for g, gamma in enumerate(gammas):
            while True:
                V = np.linalg.solve(identity - gamma * P[i, states, policy], R[i, states, policy])
                Q = R[i] + gamma * (P[i].reshape(S * A, S) @ V).reshape(S, A)
                better = Q.max(1) > Q[states, policy] + 1e-12 / (1 - gamma)
                if not better.any():
                    break
                policy = np.where(better, Q.argmax(1), policy)
            policies[i, g] = policy
    return policies


COMPETITORS: dict[str, Plan] = {
    "quantecon, as documented": quantecon_documented,
    "quantecon, tuned": quantecon_tuned,
    "mdpsolver, as documented": mdpsolver_documented,
    "mdpsolver, tuned": mdpsolver_tuned,
    "pymdptoolbox": pymdptoolbox,
    "NumPy loop": numpy_loop,
}
