"""Numerical methods for stacks of finite MDPs. They know of arrays alone, and import nothing else of the package.

An MDP has S states, A actions, transition probabilities `P[s, a, s']`, rewards `R[s, a]` and a discount factor gamma.

- `evaluation`: the exact value of a policy, tolerances, and the checks of arguments.
- `elimination`: Gaussian elimination on many small linear systems at once.
- `compiled`: policy iteration and evaluation of small models in C, with the bits of the two above and below.
- `sparse`: planning and evaluation of one model whose rows have few positive entries, as a sparse matrix;
  `sparse_chains` solves for the values of a policy.
- `policy_stacks`: one step of policy iteration for many MDPs at once.
- `relative_values`: relative value iteration of one MDP for many discount factors or policies at once.
- `policy_values`: the values of many policies of each MDP.

Which method is the fastest depends on the size of the models; each threshold stands beside its method:

- At most `elimination.SMALL` states: policy iteration by elimination, by the compiled engine (`compiled`) or, where it
  was not built, with one elementwise operation of NumPy for all models.
- More states: policy iteration by LAPACK, with one call for all models; up to `sparse.LARGE` states also where at most
  the share `sparse.FEW` of all probabilities is positive.
- At least `relative_values.LARGE` states and `relative_values.GRID` discount factors of one model: relative value
  iteration, followed by LAPACK for the discount factors for which it converges slowly.
- At least `sparse.LARGE` states, and at most the share `sparse.SHARE` of all probabilities positive: sparse matrices,
  with sweeps, factorisations and BiCGSTAB as they pay.
- At least `relative_values.LARGE` states and several policies of one model: one factorisation by LAPACK if they are
  alike (`policy_values`), otherwise relative value iteration.
"""
