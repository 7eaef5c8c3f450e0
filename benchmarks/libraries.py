"""Planning by libraries, as their documentation shows it, and tuned as it allows."""

import mdpsolver
import mdptoolbox.mdp
import numpy as np
import quantecon
from jaxtyping import Float, Int

from benchmarks.problems import losses_by

Model = quantecon.markov.DiscreteDP


def quantecon_documented(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Solve a DiscreteDP for each model and gamma by policy iteration."""

    def solve(i: int, gamma: float) -> np.ndarray:
        return Model(R[i], P[i], gamma).solve(method="policy_iteration").sigma

    return np.array([[solve(i, gamma) for gamma in gammas] for i in range(len(P))])


def quantecon_modified(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Run modified policy iteration on sparse pairs, each from the values of the gamma before."""
    policies = np.empty((len(P), len(gammas), R.shape[1]), np.int16)
    for i in range(len(P)):
        problem, values = Model(R[i], P[i], gammas[0]).to_sa_pair_form(sparse=True), None
        for g, gamma in enumerate(gammas):
            problem.beta = gamma
            solution = problem.solve("modified_policy_iteration", v_init=values, epsilon=1e-11, max_iter=100_000)
            policies[i, g], values = solution.sigma, solution.v
    return policies


def quantecon_operators(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Iterate with `evaluate_policy` and `compute_greedy`, without the result objects that `solve` makes."""
    policies = np.empty((len(P), len(gammas), R.shape[1]), np.int16)
    for i in range(len(P)):
        problem, policy = Model(R[i], P[i], gammas[0]), R[i].argmax(1)
        for g, gamma in enumerate(gammas):
            problem.beta = gamma
            while True:
                greedy = problem.compute_greedy(problem.evaluate_policy(policy))
                if np.array_equal(greedy, policy):
                    break
                policy = greedy
            policies[i, g] = policy
    return policies


def quantecon_losses(
    P: Float[np.ndarray, "M S A S"],
    R: Float[np.ndarray, "M S A"],
    V_star: Float[np.ndarray, "M S"],
    policies: Int[np.ndarray, "M G S"],
    gamma: float,
) -> Float[np.ndarray, "M G"]:
    """Return the planning losses by `evaluate_policy`."""
    return losses_by((Model(R[i], P[i], gamma).evaluate_policy for i in range(len(P))), V_star, policies)


def mdpsolver_documented(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Solve a model object of MDPSolver (C++) for each model and gamma by policy iteration."""

    def solve(i: int, gamma: float) -> list[int]:
        model = mdpsolver.model()
        model.mdp(discount=gamma, rewards=R[i].tolist(), tranMatWithZeros=P[i].tolist())
        model.solve(algorithm="pi", tolerance=1e-12)
        return model.getPolicy()

    return np.array([[solve(i, gamma) for gamma in gammas] for i in range(len(P))])


def mdpsolver_started(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Start from the policy and values of the gamma before; lists are made once, and nothing is done afterwards."""
    policies = np.empty((len(P), len(gammas), R.shape[1]), np.int16)
    for i in range(len(P)):
        model, policy, values = mdpsolver.model(), [], []
        rewards, transitions = R[i].tolist(), P[i].tolist()
        for g, gamma in enumerate(gammas):
            model.mdp(discount=gamma, rewards=rewards, tranMatWithZeros=transitions)
            model.solve(
                algorithm="pi", update="standard", tolerance=1e-12, parallel=False, postProcessing=False,
                makeFinalCheck=False, initPolicy=policy, initValueVector=values,
            )  # fmt: skip
            policy, values = model.getPolicy(), model.getValueVector()
            policies[i, g] = policy
    return policies


def pymdptoolbox_documented(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Run a PolicyIteration object for each model and gamma."""

    def solve(i: int, gamma: float) -> tuple[int, ...]:
        solver = mdptoolbox.mdp.PolicyIteration(P[i].transpose(1, 0, 2), R[i], gamma)
        solver.run()
        return solver.policy

    return np.array([[solve(i, gamma) for gamma in gammas] for i in range(len(P))])


def pymdptoolbox_started(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Start each PolicyIteration object from the policy of the gamma before."""
    policies = np.empty((len(P), len(gammas), R.shape[1]), np.int16)
    for i in range(len(P)):
        by_action, policy = P[i].transpose(1, 0, 2), R[i].argmax(1)
        for g, gamma in enumerate(gammas):
            solver = mdptoolbox.mdp.PolicyIteration(by_action, R[i], gamma, policy0=policy)
            solver.run()
            policy = policies[i, g] = np.array(solver.policy)
    return policies
