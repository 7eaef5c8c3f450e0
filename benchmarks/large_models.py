"""Plan large sparse models, each at 20 discount factors: `python -m benchmarks.large_models [KIND ...]`.

The contenders are this project; policy iteration that factorises always, and value iteration, both of which are what
this project does with one half of it switched off; and, where they are installed, QuantEcon and MDPSolver, with
sparse matrices and warm starts. A contender stops after `LIMIT` seconds of CPU time. That all values agree is checked,
up to a constant, in which MDPSolver's differ and on which no policy depends.
"""

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import splu

from pomrl.science.solvers import sparse, sparse_chains
from pomrl.science.tasks.families.queue import Queue

GAMMAS = np.linspace(0.9, 0.999, 20)
LIMIT = 30.0
SIZES = (1_000, 10_000, 100_000)

Model = tuple[csr_array, Float[np.ndarray, "S A"]]
"""The rows of a model in the order a S + s, and its rewards."""


def random_graph(S: int) -> Model:
    """Return 4 actions with 8 random successors each."""
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.ones(8), 4 * S).ravel()
    return csr_array((chances, rng.integers(0, S, 32 * S), 8 * np.arange(4 * S + 1)), shape=(4 * S, S)), rng.random(
        (S, 4)
    )


def grid(S: int, *, goal: bool = False, extras: int = 1) -> Model:
    """Return a walk on a square that goes to each side with probability 0.1; a grid of Taxi has several layers.

    Rewards are random, or there is one goal. A layer leads to the next one in a random cell, as passengers get in.
    """
    n, rng = int((S / extras) ** 0.5), np.random.default_rng(0)
    S, cells = n * n * extras, np.indices((extras, n, n)).reshape(3, -1)
    steps = [(0, -1), (1, 0), (0, 1), (-1, 0)]
    where = [(cells[0], *np.clip(cells[1:] + np.array(step)[:, None], 0, n - 1)) for step in steps]
    after = np.stack([np.ravel_multi_index(each, (extras, n, n)) for each in where])
    doors = rng.integers(0, n * n, extras) + n * n * np.arange(extras)
    after[0, doors] = np.roll(np.arange(extras) * n * n, -1)
    following = np.stack([after, np.roll(after, 1, 0), np.roll(after, -1, 0)])
    chances = np.broadcast_to(np.array([0.8, 0.1, 0.1])[:, None, None], following.shape)
    pair = np.broadcast_to(np.arange(4 * S).reshape(4, S), following.shape)
    R = np.repeat(np.eye(1, S).T if goal else rng.random((S, 1)), 4, 1)
    return csr_array((chances.ravel(), (pair.ravel(), following.ravel())), shape=(4 * S, S)), R


def queue(S: int) -> Model:
    """Return the family `queue`."""
    rows, R = Queue(centre=0.4, spread=0.0, room=S - 1).sparse_model(0.4)
    return sparse.by_action(rows, R.shape[1]), R


KINDS: dict[str, Callable[[int], Model]] = {
    "random graph": random_graph,
    "grid": grid,
    "grid with a goal": lambda S: grid(S, goal=True),
    "towns as Taxi's": lambda S: grid(S, goal=True, extras=20),
    "queue": queue,
}


def ours(rows: csr_array, R: np.ndarray) -> Iterator[np.ndarray]:
    """Plan all discount factors at once."""
    yield from sparse.plan(rows, R, GAMMAS)[1]


def policy_iteration(rows: csr_array, R: np.ndarray) -> Iterator[np.ndarray]:
    """Factorise the equations of every policy."""
    S, rewards, policy = len(R), np.ascontiguousarray(R.T), R.argmax(1)
    if sparse_chains.expected_entries(rows[:S]) > sparse_chains.MOST_ENTRIES:
        raise MemoryError
    for gamma in GAMMAS:
        while True:
            chain = eye_array(S, format="csr") - gamma * rows[policy * S + np.arange(S)]
            V = splu(chain.tocsc()).solve(R[np.arange(S), policy])
            Q = sparse.action_values(rows, rewards, V, gamma)
            better = Q.max(0) - V > 1e-12 * np.abs(R).max() / (1.0 - gamma)
            policy = np.where(better, Q.argmax(0), policy)
            if not better.any():
                break
        yield V


def value_iteration(rows: csr_array, R: np.ndarray) -> Iterator[np.ndarray]:
    """Sweep until the bounds of MacQueen meet, from the values at the discount factor before."""
    rewards, V = np.ascontiguousarray(R.T), np.zeros(len(R))
    for gamma in GAMMAS:
        while True:
            before, V = V, sparse.action_values(rows, rewards, V, gamma).max(0)
            low, high = (V - before).min(), (V - before).max()
            if gamma * (high - low) <= 1e-12 * np.abs(R).max() / (1.0 - gamma):
                break
        yield V + gamma / (1.0 - gamma) * 0.5 * (low + high)


def quantecon(rows: csr_array, R: np.ndarray) -> Iterator[np.ndarray]:
    """Run modified policy iteration from the values before."""
    from quantecon.markov import DiscreteDP

    S, A = R.shape
    pairs = rows[np.arange(S * A).reshape(A, S).T.ravel()]
    problem = DiscreteDP(R.ravel(), pairs, GAMMAS[0], np.repeat(np.arange(S), A), np.tile(np.arange(A), S))
    V = None
    for gamma in GAMMAS:
        problem.beta = gamma
        V = problem.solve(method="modified_policy_iteration", v_init=V, epsilon=1e-8, max_iter=100_000).v
        yield V


def mdpsolver(rows: csr_array, R: np.ndarray) -> Iterator[np.ndarray]:
    """Run modified policy iteration from the policy and values before."""
    import mdpsolver

    (S, A), ends = R.shape, rows.indptr
    where = [[slice(ends[a * S + s], ends[a * S + s + 1]) for a in range(A)] for s in range(S)]
    columns = [[rows.indices[each].tolist() for each in state] for state in where]
    chances = [[rows.data[each].tolist() for each in state] for state in where]
    model, policy, values = mdpsolver.model(), [], []
    for gamma in GAMMAS:
        model.mdp(discount=gamma, rewards=R.tolist(), tranMatColumns=columns, tranMatProbs=chances)
        model.solve(
            algorithm="mpi", update="standard", tolerance=1e-8, parallel=False, postProcessing=False,
            makeFinalCheck=False, initPolicy=policy, initValueVector=values,
        )  # fmt: skip
        policy, values = model.getPolicy(), model.getValueVector()
        yield np.array(values)


CONTENDERS = {
    "this project": ours,
    "policy iteration": policy_iteration,
    "value iteration": value_iteration,
    "QuantEcon": quantecon,
    "mdpsolver": mdpsolver,
}


def timed(
    contender: Callable[..., Iterator[np.ndarray]], model: Model, exact: np.ndarray | None = None
) -> tuple[str, np.ndarray]:
    """Return CPU seconds, or where it stopped how many discount factors there were; and the values."""
    found: list[np.ndarray] = []
    start = time.process_time()
    try:
        for V in contender(*model):
            found.append(V)
            if time.process_time() - start > LIMIT:
                break
    except (ImportError, MemoryError) as error:
        return "not installed" if isinstance(error, ImportError) else "no memory", np.array(found)
    seconds = time.process_time() - start
    if exact is not None:
        error = max(np.ptp(V - other) for V, other in zip(found, exact, strict=False))
        assert error <= 1e-5 * max(1.0, np.abs(exact).max()), (contender.__name__, error)
    return f"{seconds:.2f}" if len(found) == len(GAMMAS) else f"{seconds:.0f} for {len(found)}", np.array(found)


def main() -> None:
    """Print a row for each model; a word of the command line chooses kinds, a number sizes."""
    kinds = [word for word in sys.argv[1:] if not word.isdigit()] or list(KINDS)
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()] or SIZES
    print("| model | states |", " | ".join(CONTENDERS), "|")
    for kind in kinds:
        for S in sizes:
            model = KINDS[kind](S)
            first, exact = timed(ours, model)
            others = [timed(contender, model, exact)[0] for contender in list(CONTENDERS.values())[1:]]
            print(f"| {kind} | {len(model[1]):,} |", " | ".join([first, *others]), "|", flush=True)


if __name__ == "__main__":
    main()
