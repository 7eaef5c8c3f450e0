"""Fuzz both engines: results and errors must be the same.

    python -m tests.support.engine_fuzzer 500

It draws dtypes, byte orders, layouts, sizes and values of models, discount factors and policies, including invalid
ones. Then it calls planning, evaluation and draws with each engine. Under the sanitizers
(`tests/science/test_engine_faces.py`), an access out of bounds ends the process.
"""

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

from pomrl.science.data import Data, Generative, Trajectories
from pomrl.science.mdp import optimal_value, planning_loss
from pomrl.science.planners import PolicyIteration
from pomrl.science.sampling import draws
from pomrl.science.solvers import compiled
from pomrl.science.solvers.evaluation import policy_value

NUMBERS = ["f8", ">f8", "f4", ">f4", "f2", "i8", ">i8", "i4", "u8", "i1", "u1", "?", "g", "c16", "O", "U8", "M8[s]"]
INTEGERS = ["i2", ">i2", "i8", ">i8", "i4", "u8", "i1", "u1", "i2", "i8", "f8", "?", "O"]
SIZES = (1, 1, 2, 2, 3, 3, 5, 8, 9, 10, 10, 17, 20, 31, 32, 33, 49)
ACTIONS = (1, 1, 2, 2, 2, 2, 2, 3, 4, 7)


def with_layout(rng: np.random.Generator, array: np.ndarray) -> Any:
    """Return the same numbers in another layout, or in a list."""
    layouts = [lambda: array, lambda: np.asfortranarray(array), lambda: np.flip(np.flip(array).copy())]
    if array.ndim and len(array):
        layouts += [lambda: np.repeat(array, 2, -1)[..., ::2], lambda: np.broadcast_to(array[:1], array.shape)]
    if array.dtype != object:
        layouts += [lambda: odd_address(array)]
    if array.size and array.dtype.kind in "fiub":
        layouts += [array.tolist]
    return layouts[rng.integers(len(layouts))]()


def odd_address(array: np.ndarray) -> np.ndarray:
    odd = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    odd[...] = array
    return odd


def cast(rng: np.random.Generator, array: np.ndarray, kinds: list[str], wrong: float) -> Any:
    """Return the numbers with a random layout, and with a random dtype with probability `wrong`."""
    kind = kinds[rng.integers(len(kinds))] if rng.random() < wrong else array.dtype
    with np.errstate(all="ignore"):
        return with_layout(rng, array.astype(kind))


def rewards(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Draw rewards: tied, integer, of equal or very different sizes, or zero."""
    kinds = [
        lambda: rng.integers(0, 2, shape).astype(float),
        lambda: np.zeros(shape),
        lambda: rng.standard_normal(shape) * 10.0 ** float(rng.integers(-320, 307)),
        lambda: rng.standard_normal(shape) * 10.0 ** rng.integers(-12, 12, shape),
        lambda: 1.0 + 1e-12 * rng.random(shape),
        lambda: rng.random(shape),
    ]
    return kinds[rng.integers(len(kinds))]()


def model(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw M models with S states and A actions.

    Each of these may be 0. Rows may be exact in single precision.
    """
    S, A = int(rng.choice(SIZES)), int(rng.choice(ACTIONS))
    M = int(rng.integers(0, 12))
    if rng.random() < 0.05:
        S, A = int(rng.integers(0, 2)), int(rng.integers(0, 2))
    if rng.random() < 0.02:
        M, S, A = 1, 1, int(rng.choice([32_766, 32_767, 32_768, 70_000]))
    weight = rng.random((M, S, A, S)) if rng.random() < 0.5 else np.zeros((M, S, A, S))
    if S:
        np.put_along_axis(weight, rng.integers(0, S, (M, S, A, 1)), 1.0, -1)
        weight /= weight.sum(-1, keepdims=True)
    R = rewards(rng, (M, S, A))
    if rng.random() < 0.3:  # each action is there twice, with the same rewards or others, so that many values are tied
        twice = np.arange(A) % ((A + 1) // 2 or 1)
        weight, R = weight[:, :, twice], R[:, :, twice] if rng.random() < 0.6 else R
    return weight, R


def spoilt(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """Return the array, in 5 % of cases with an invalid entry."""
    if array.size and rng.random() < 0.05:
        array.flat[rng.integers(array.size)] = rng.choice([np.nan, np.inf, -np.inf, -1.0, 2.0, 1e300])
    return array


def drawn_batches(P: np.ndarray, data: Data, m: int, batches: int) -> np.ndarray:
    return data.draw([np.random.default_rng(run) for run in range(len(P))], P[None], m, batches)


def drawn_models(P: np.ndarray, concentration: float) -> np.ndarray:
    return draws.dirichlet(np.arange(5, dtype=np.uint64)[:, None], concentration * P.reshape(1, -1, P.shape[-1]))


def case(rng: np.random.Generator) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Draw the calls of one case: functions with their arguments."""
    P, R = model(rng)
    M, S, A = R.shape
    transitions = P.copy()
    wrong = 0.5 if rng.random() < 0.5 else 0.0
    G = int(rng.integers(0, 5))
    gammas = np.sort(rng.choice([0.0, 0.5, 0.75, 0.9, 0.99, 0.9999, rng.random()], (M, G) if rng.random() < 0.5 else G))
    policy = rng.integers(0, max(A, 1), (M, G, S)).astype(np.int16)
    if policy.size and rng.random() < 0.1:
        policy.flat[rng.integers(policy.size)] = rng.choice([-1, A, -32_768, 32_767])
    P, R = cast(rng, spoilt(rng, P), NUMBERS, wrong), cast(rng, spoilt(rng, R), NUMBERS, wrong)
    gammas, policies = cast(rng, spoilt(rng, gammas), NUMBERS, wrong), cast(rng, policy, INTEGERS, wrong)
    first_policies = cast(rng, policy[:, 0] if G else np.zeros((M, S), int), INTEGERS, wrong)
    gamma = float(rng.choice([0.0, 0.5, 0.99, 0.9999]))
    m, batches, length = rng.integers(1, 6, 3).tolist()
    draw_calls = [
        (drawn_batches, (transitions, Trajectories(length=length), m, batches)),
        (drawn_batches, (transitions, Generative(), int(rng.choice([m, 70, 10**6])), batches)),
        (drawn_models, (transitions, 10.0 ** float(rng.uniform(-6, 6)))),
    ]
    return [
        *(draw_calls if transitions.size else []),
        (PolicyIteration().plan, (P, R, gammas)),
        (optimal_value, (P, R, gamma)),
        (planning_loss, (P, R, policies, gamma)),
        (policy_value, (P, R, first_policies, gamma)),
    ]


def outcome(call: Callable[..., Any], arguments: tuple[Any, ...], engine: str) -> tuple[str, Any]:
    """Return the result of a call in bits, or its error."""
    choices = (patch.object(module, "is_built", lambda: engine == "compiled") for module in (compiled, draws))
    with next(choices), next(choices), np.errstate(all="ignore"):
        try:
            actual = call(*arguments)
        except (ValueError, ArithmeticError) as error:
            return type(error).__name__, str(error)
    assert actual.dtype in (np.int16, np.int64, np.float64)
    return f"{actual.dtype}{actual.shape}", np.where(actual == actual, actual, np.nan).tobytes()  # NaN has many bits


def assert_engines_agree(rng: np.random.Generator) -> list[str]:
    """Compare the engines in one case; return `result` or `error` per call."""
    ends = []
    for call, arguments in case(rng):
        ours, theirs = (outcome(call, arguments, engine) for engine in ("compiled", "numpy"))
        assert ours == theirs, f"{call}: {ours} with the compiled engine, {theirs} with NumPy's"
        assert "\n" not in str(ours), ours
        ends.append("error" if ours[0].endswith("Error") else "result")
    return ends


def main(cases: int) -> None:
    ends = Counter[str]()
    for number in range(cases):
        try:
            ends.update(assert_engines_agree(np.random.default_rng((0, number))))
        except Exception as error:
            error.add_note(f"case {number}")
            raise
    print(f"engine: {compiled._built(compiled._compiled).__file__}")
    print(f"{cases} cases: {ends['result']} results, {ends['error']} errors")


if __name__ == "__main__":
    main(int(sys.argv[1]))
