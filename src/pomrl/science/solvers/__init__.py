"""Numerical methods for stacks of finite MDPs. They know of arrays alone, and import nothing else of the package.

An MDP has S states, A actions, transition probabilities `P[s, a, s']`, rewards `R[s, a]` and a discount factor gamma.

- `evaluation`: the exact value of a policy, and the checks of arguments.
- `action_ties`: by how much an action has to be better than another to replace it, which is what rounding may change.
- `elimination`: Gaussian elimination on many small linear systems at once.
- `compiled`: policy iteration and evaluation of small models in C, with the bits of the two above and below.
- `sparse`: planning and evaluation of one model whose rows have few positive entries, as a sparse matrix.
- `policy_stacks`: one step of policy iteration for many MDPs at once.
- `relative_values`: relative value iteration of one MDP for many discount factors at once.
- `policy_values`: the values of many policies of each MDP.

Which method is the fastest depends on the size of the models; each threshold stands beside its method:

- At most `elimination.SMALL` states: policy iteration by elimination, by the compiled engine (`compiled`) or, where it
  was not built, with one elementwise operation of NumPy for all models.
- More states: planning by relative value iteration, followed by LAPACK for the discount factors for which it converges
  slowly. With less than `relative_values.LARGE` states, where few follow each pair: LAPACK, with one call for all
  models.
- At least `sparse.LARGE` states, and at most the share `sparse.SHARE` of all probabilities positive: sparse matrices,
  with BiCGSTAB where it converges quickly, and factorisations elsewhere.
"""
