"""Policy iteration in JAX: vmap over models, compiled by jit, in double precision."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

jax.config.update("jax_enable_x64", val=True)

TIE = 1e-12
"""An action is kept unless another is better by more than this, over 1 - gamma, so that rounding makes no cycles."""


def by_lapack(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Plan with `jnp.linalg.solve`."""
    return np.asarray(_plan_all(P, R, gammas, by_elimination=False))


def by_elimination(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Plan with an elimination without pivots, whose operations XLA does for many models at once."""
    return np.asarray(_plan_all(P, R, gammas, by_elimination=True))


@partial(jax.jit, static_argnames="by_elimination")
def _plan_all(P: jax.Array, R: jax.Array, gammas: jax.Array, *, by_elimination: bool) -> jax.Array:
    solve = _eliminate if by_elimination else jnp.linalg.solve
    return jax.vmap(partial(_walk, gammas=gammas, solve=solve))(P, R)


def _walk(P: jax.Array, R: jax.Array, gammas: jax.Array, solve) -> jax.Array:
    """Walk along the grid. Each model moves on when its own policy is stable, so that it waits for no other model."""
    S, G = len(P), len(gammas)
    states = jnp.arange(S)

    def step(state):
        position, policy, policies = state
        gamma = gammas[position]
        V = solve(jnp.eye(S) - gamma * P[states, policy], R[states, policy])
        Q = R + gamma * P @ V
        better = Q.max(1) - V > TIE / (1 - gamma)
        policies = policies.at[position].set(policy.astype(jnp.int16))
        return position + ~better.any(), jnp.where(better, Q.argmax(1), policy), policies

    start = jnp.array(0), R.argmax(1), jnp.zeros((G, S), jnp.int16)
    return jax.lax.while_loop(lambda state: state[0] < G, step, start)[2]


def _eliminate(system: Float[jax.Array, "S S"], V: Float[jax.Array, " S"]) -> Float[jax.Array, " S"]:
    for k in range(len(V) - 1):
        factor = system[k + 1 :, k] / system[k, k]
        system = system.at[k + 1 :, k + 1 :].add(-factor[:, None] * system[k, k + 1 :])
        V = V.at[k + 1 :].add(-factor * V[k])
    for k in reversed(range(len(V))):
        value = V[k] / system[k, k]
        V = V.at[k].set(value).at[:k].add(-system[:k, k] * value)
    return V
