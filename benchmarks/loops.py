"""What a user could write: policy iteration, started at each gamma from the policy of the gamma before."""

from collections.abc import Iterator
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from numba import njit

from benchmarks.problems import one_by_one

jax.config.update("jax_enable_x64", val=True)

TIE = 1e-12
"""An action is kept unless another is better by more than this, over 1 - gamma, so that rounding makes no cycles."""


@one_by_one
def numpy_plan(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> Iterator[np.ndarray]:
    """Plan in NumPy. P_pi and R_pi are kept, because most steps change few of their rows, and so is I."""
    S, A = R.shape
    identity, states, policy, rows = np.eye(S), np.arange(S), R.argmax(1), P.reshape(S * A, S)
    P_pi, R_pi = P[states, policy], R[states, policy]
    for gamma in gammas:
        while True:
            V = np.linalg.solve(identity - gamma * P_pi, R_pi)
            Q = R + gamma * (rows @ V).reshape(S, A)
            better = np.flatnonzero(Q.max(1) - V > TIE / (1 - gamma))
            if not len(better):
                break
            policy[better] = Q[better].argmax(1)
            P_pi[better], R_pi[better] = P[better, policy[better]], R[better, policy[better]]
        yield policy.copy()


@njit(fastmath=True)
def _solve(P, R, policy, gamma, system, V):
    """Write the solution V of (I - gamma P_pi) V = R_pi, by elimination, which needs no pivots here."""
    S = len(policy)
    for s in range(S):
        a = policy[s]
        for j in range(S):
            system[s, j] = -gamma * P[s, a, j]
        system[s, s] += 1.0
        V[s] = R[s, a]
    for k in range(S):
        inverse = 1.0 / system[k, k]
        for i in range(k + 1, S):
            factor = system[i, k] * inverse
            for j in range(k + 1, S):
                system[i, j] -= factor * system[k, j]
            V[i] -= factor * V[k]
    for k in range(S - 1, -1, -1):
        total = V[k]
        for j in range(k + 1, S):
            total -= system[k, j] * V[j]
        V[k] = total / system[k, k]


@njit(fastmath=True)
def _improve(P, R, policy, gamma, V):
    """Take a better action in each state where there is one, and return whether there is one."""
    S, A = R.shape
    tolerance, changed = TIE / (1.0 - gamma), False
    for s in range(S):
        best, largest = policy[s], V[s] + tolerance
        for a in range(A):
            if a != policy[s]:
                expected = 0.0
                for j in range(S):
                    expected += P[s, a, j] * V[j]
                Q = R[s, a] + gamma * expected
                if largest < Q:
                    best, largest = a, Q
        if best != policy[s]:
            policy[s], changed = best, True
    return changed


@njit(fastmath=True)
def numba_plan(P, R, gammas):
    """Plan in a scalar loop that numba compiles, with memory that is allocated once."""
    M, S, _ = R.shape
    policies, policy = np.empty((M, len(gammas), S), np.int16), np.empty(S, np.int64)
    system, V = np.empty((S, S)), np.empty(S)
    for i in range(M):
        for s in range(S):
            policy[s] = np.argmax(R[i, s])
        for g in range(len(gammas)):
            _solve(P[i], R[i], policy, gammas[g], system, V)
            while _improve(P[i], R[i], policy, gammas[g], V):
                _solve(P[i], R[i], policy, gammas[g], system, V)
            for s in range(S):
                policies[i, g, s] = policy[s]
    return policies


def jax_plan(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Plan in JAX: vmap over models, compiled by jit, in double precision."""
    return np.asarray(_plan_all(P, R, gammas))


@jax.jit
def _plan_all(P: jax.Array, R: jax.Array, gammas: jax.Array) -> jax.Array:
    return jax.vmap(partial(_walk, gammas=gammas))(P, R)


def _walk(P: jax.Array, R: jax.Array, gammas: jax.Array) -> jax.Array:
    """Walk along the grid. Each model moves on when its own policy is stable, so that it waits for no other model."""
    S, G = len(P), len(gammas)
    states = jnp.arange(S)

    def step(state):
        position, policy, policies = state
        gamma = gammas[position]
        V = _eliminate(jnp.eye(S) - gamma * P[states, policy], R[states, policy])
        Q = R + gamma * P @ V
        better = Q.max(1) - V > TIE / (1 - gamma)
        policies = policies.at[position].set(policy.astype(jnp.int16))
        return position + ~better.any(), jnp.where(better, Q.argmax(1), policy), policies

    start = jnp.array(0), R.argmax(1), jnp.zeros((G, S), jnp.int16)
    return jax.lax.while_loop(lambda state: state[0] < G, step, start)[2]


def _eliminate(system: Float[jax.Array, "S S"], V: Float[jax.Array, " S"]) -> Float[jax.Array, " S"]:
    """Solve by an elimination without pivots, whose operations XLA does for many models at once."""
    for k in range(len(V) - 1):
        factor = system[k + 1 :, k] / system[k, k]
        system = system.at[k + 1 :, k + 1 :].add(-factor[:, None] * system[k, k + 1 :])
        V = V.at[k + 1 :].add(-factor * V[k])
    for k in reversed(range(len(V))):
        value = V[k] / system[k, k]
        V = V.at[k].set(value).at[:k].add(-system[:k, k] * value)
    return V
