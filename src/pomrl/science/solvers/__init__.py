"""Numerical methods for stacks of finite MDPs. They know of arrays alone, and import nothing else of the package.

An MDP has S states, A actions, transition probabilities `P[s, a, s']`, rewards `R[s, a]` and a discount factor gamma.

- `input_checks`: arguments, converted or refused.
- `evaluation`: exact values of one policy or of many, by elimination or LAPACK.
- `compiled`: policy iteration and evaluation of small models in C, with the same bits.
- `policy_stacks`: one step of policy iteration for many MDPs at once.
- `relative_values`: relative value iteration of one MDP for many discount factors.
- `sparse`: planning and evaluation of one model with few positive entries.
- `undiscounted`, `finite_horizon`: gamma = 1, and finitely many steps.
- `action_ties`: which gains are rounding errors.

The size of a model decides which method is fastest; each threshold stands beside its method. Up to
`evaluation.ELIMINATED_STATES` states: elimination, in C where it was built. More states: relative value iteration, then
LAPACK for the discount factors at which it converges slowly; LAPACK alone below `relative_values.SWEPT_STATES` states
where few follow each pair. At least `sparse.SPARSE_STATES` states and at most the share `sparse.SPARSE_SHARE` of
positive probabilities: sparse matrices.
"""
