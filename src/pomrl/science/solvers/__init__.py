"""Numerical methods for stacks of finite MDPs, on arrays alone.

An MDP has S states, A actions, transition probabilities `P[s, a, s']`, rewards `R[s, a]` and a discount factor gamma.
The number of states decides the method:

- Up to `evaluation.ELIMINATED_STATES`: elimination.
- From `sparse.SPARSE_STATES`, with at most the share `sparse.SPARSE_SHARE` of positive entries: sparse matrices.
- Below `relative_values.SWEPT_STATES`, with this share: LAPACK.
- Otherwise: relative value iteration, then LAPACK for slow discount factors.
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
