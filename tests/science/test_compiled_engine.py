"""The compiled engine has the bits of the NumPy engine, on every kind of model that it serves."""

import os
from collections.abc import Callable

import numpy as np
import pytest

from pomrl.science.mdp import planning_loss, random_chain_mdp
from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers import compiled
from pomrl.science.solvers.elimination import SMALL
from pomrl.science.solvers.evaluation import chain_value

GRID = np.append(np.arange(20) / 20, 0.99)

built = pytest.mark.skipif(not compiled.is_built(), reason="the engine was not built, as POMRL_NO_ENGINE=1 allows")

Models = tuple[np.ndarray, np.ndarray]


def with_engines(call: Callable[[], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the results of the compiled engine and of NumPy's."""
    with compiled.using("compiled"):
        ours = call()
    with compiled.using("numpy"):
        return ours, call()


def test_the_engine_was_built_unless_its_absence_is_meant() -> None:
    assert compiled.is_built() or os.environ.get("POMRL_NO_ENGINE") == "1", (
        "the compiled engine was not built; POMRL_NO_ENGINE=1 says that this is meant"
    )


def random_models(rng: np.random.Generator, n: int, S: int, A: int) -> Models:
    drawn = [random_chain_mdp(rng, S, A, S // 2) for _ in range(n)]
    return np.stack([P for P, _ in drawn]), np.stack([R for _, R in drawn])


def sampled(rng: np.random.Generator, n: int, S: int, A: int) -> Models:
    """Frequencies of one transition for each pair: deterministic models with several closed classes."""
    P, R = random_models(rng, n, S, A)
    return rng.multinomial(1, P).astype(float), R


def tied(rng: np.random.Generator, n: int, S: int, A: int) -> Models:
    """All actions are equal, and some states too."""
    P, R = random_models(rng, n, S, A)
    return P[:, :, :1].repeat(A, 2), np.round(R[:, :, :1], 1).repeat(A, 2)


def nearly_tied(rng: np.random.Generator, n: int, S: int, A: int) -> Models:
    """Actions differ by about as much as the tolerance of ties."""
    P, R = random_models(rng, n, S, A)
    return P[:, :, :1].repeat(A, 2), R[:, :, :1] + 1e-12 * rng.random(R.shape)


def twins(rng: np.random.Generator, n: int, S: int, A: int) -> Models:
    """Each action is there twice where there are several, so that of two best ones one is chosen."""
    P, R = random_models(rng, n, S, (A + 1) // 2)
    twice = np.arange(A) % ((A + 1) // 2)
    return P[:, :, twice], R[:, :, twice]


def sparse(rng: np.random.Generator, n: int, S: int, A: int) -> Models:
    """Two successors for each pair."""
    P = np.zeros((n, S, A, S))
    for index in np.ndindex(n, S, A):
        P[index][rng.choice(S, 2, replace=False)] = 0.5
    return P, rng.random((n, S, A))


def extreme(rng: np.random.Generator, n: int, S: int, A: int) -> Models:
    """Rewards of very different sizes and signs, and probabilities close to 0 and 1."""
    P = rng.dirichlet(np.full(S, 0.01), (n, S, A))
    return P / P.sum(-1, keepdims=True), rng.standard_normal((n, S, A)) * 10.0 ** rng.integers(-12, 12, (n, S, A))


FAMILIES: dict[str, Callable[..., Models]] = {
    "random": random_models,
    "one sample": sampled,
    "tied": tied,
    "nearly tied": nearly_tied,
    "sparse": sparse,
    "twins": twins,
    "extreme": extreme,
}


@built
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("S", "A"), [(2, 1), (3, 5), (10, 2), (17, 2), (32, 4)])
def test_policies_and_losses_have_the_same_bits(family: str, S: int, A: int) -> None:
    rng = np.random.default_rng(S * 100 + A)
    P, R = FAMILIES[family](rng, 21, S, A)
    gammas = np.append(GRID, [0.999, 0.999999])
    ours, policies = with_engines(lambda: PolicyIteration().plan(P, R, gammas))
    np.testing.assert_array_equal(ours, policies)
    assert ours.dtype == policies.dtype
    ours, theirs = with_engines(lambda: planning_loss(P, R, policies, 0.99))
    np.testing.assert_array_equal(ours.view(np.int64), theirs.view(np.int64))


@built
@pytest.mark.parametrize("S", range(1, SMALL + 1))
def test_values_of_chains_have_the_same_bits_at_every_size(S: int) -> None:
    rng = np.random.default_rng(S)
    P, R, gammas = rng.dirichlet(np.ones(S), (19, S)), rng.standard_normal((19, S)), rng.random(19)
    ours, theirs = with_engines(lambda: chain_value(P, R, gammas))
    np.testing.assert_array_equal(ours.view(np.int64), theirs.view(np.int64))


@built
def test_an_engine_that_was_built_from_another_source_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled._compiled, "SOURCE_DIGEST", "of another source")
    compiled.is_built.cache_clear()
    assert not compiled.is_used()
    monkeypatch.undo()
    compiled.is_built.cache_clear()
    assert compiled.is_used()


def test_an_engine_that_was_not_built_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "is_built", lambda: False)
    with pytest.raises(ValueError, match="install a C compiler"), compiled.using("compiled"):
        pass
    with compiled.using("auto"):
        assert not compiled.is_used()


@built
@pytest.mark.parametrize(
    ("model", "action", "message"), [(2, 0, "model"), (-1, 0, "model"), (0, 2, "action"), (0, -1, "action")]
)
def test_indices_that_are_out_of_range_are_refused(model: int, action: int, message: str) -> None:
    P, R = random_models(np.random.default_rng(0), 2, 3, 2)
    policy = np.full((1, 3), action)
    with pytest.raises(IndexError, match=message):
        compiled.evaluate_policies(P, R, np.array([model]), policy, np.array([0.5]))
