"""Numerical methods for stacks of finite MDPs, on arrays alone.

An MDP has S states, A actions, transition probabilities `P[s, a, s']`, rewards `R[s, a]` and a discount factor gamma.

- `input_checks`: checks and conversion of arguments.
- `evaluation`: exact values of policies, by elimination or LAPACK.
- `compiled`: policy iteration and evaluation of small models in C, with the same bits.
- `policy_stacks`: one step of policy iteration for many MDPs at once.
- `relative_values`: relative value iteration of one MDP for many discount factors.
- `sparse`: planning and evaluation of one model with few positive entries.
- `undiscounted`, `finite_horizon`: gamma = 1, and finitely many steps.
- `action_ties`: gains within rounding errors.

Size decides the method. Up to `evaluation.ELIMINATED_STATES` states: elimination. At least `sparse.SPARSE_STATES` and
at most the share `sparse.SPARSE_SHARE` of positive probabilities: sparse matrices. Others: relative value iteration,
then LAPACK for slow discount factors; LAPACK alone below `relative_values.SWEPT_STATES` states with few successors.
"""

import numpy as np
from jaxtyping import Float, Int

ModelStack = Float[np.ndarray, "M S A S"]
"""Transition probabilities P(s, a, s') of M models."""

RewardStack = Float[np.ndarray, "M S A"]
"""Rewards R(s, a) of M models."""

GammaGrid = Float[np.ndarray, "M G"]
"""G discount factors of each model."""

PolicyGrid = Int[np.ndarray, "M G S"]
"""Action in each state, for each model and discount factor."""
