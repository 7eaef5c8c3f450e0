"""The science: everything that a number passes through, and so everything that an experiment's signature covers.

- `experiment`: an experiment's table, from a problem, a method and the runs.
- `algorithm`: Algorithms 1 and 2 of the paper, line by line.
- `tasks`, `data`, `meta_batches`, `exploration`: what tasks are, and which transitions are sampled in them.
- `estimators`: what learns a task's model from its own batch and from earlier tasks.
- `gamma_schedules`, `upper_bound`, `gamma_star`: which discount factors are planned with, and which one is the best.
- `planners`, `solvers`, `mdp`: optimal policies, their values, and the planning loss.
- `randomness`: the stream of random numbers that each draw comes from.
- `checked`: what components return is checked.

It reads no files but the data files of components, stores nothing, and draws nothing.
"""
