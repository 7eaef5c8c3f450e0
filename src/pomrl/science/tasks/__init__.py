"""Tasks: what they have in common, how each is drawn, and how that changes from one task to the next.

- `distribution`: the base class of all distributions of tasks, and what it returns.
- `random_chains`: the paper's distributions, around random chains (`conf/task_distribution/`).
- `families`: families of well-known models, in which one number differs from task to task; a module for each family.
- `streams`: whether and how the mean model of the tasks changes in the course of a run (`conf/stream/`).
"""
