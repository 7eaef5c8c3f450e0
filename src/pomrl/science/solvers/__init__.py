"""Numerical methods for stacks of finite MDPs, on plain arrays.

A model is sparse if at most the share `sparse.SPARSE_SHARE` of its probabilities is positive. The number of states
decides the method:

- Up to `evaluation.ELIMINATED_STATES`: policy iteration by elimination.
- Above, with `sparse.has_narrow_rows`, as in grid worlds: elimination in C, if it was built.
- From `sparse.SPARSE_STATES`, if sparse: policy iteration with sparse matrices.
- Below `relative_values.SWEPT_STATES`, if sparse: policy iteration with LAPACK.
- Otherwise: relative value iteration, then LAPACK for discount factors with slow convergence.
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
