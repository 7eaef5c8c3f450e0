"""Estimators of a task's model: what is learned of it from its own batch and from the batches of the tasks before.

An estimator of one's own is a subclass of `estimator.Estimator` with a YAML file in `conf/estimator/`.

- `estimator`: the base class, and the true moments that some estimators are told.
- `pomrl`: the paper's estimators and the readings of them, as options of one class.
- `empirical_bayes`: learns the prior of the tasks by marginal likelihood.
- `tied_rows`: learns whether rows of an action are tied, by random moves (`random_moves`), independent, or the same in
  all tasks.
- `hierarchical_bayes`: knows the law by which mean models are drawn, and samples the posterior.
- `exact_posterior`: knows the finitely many models that tasks have, and weighs them.
- `mixture`: keeps an average for each of several mean models.
- `memory`: what is kept of all batches so far, and how it is forgotten.
- `predictions`: how likely a batch is under what has been learned, by which forgetting and mixtures choose.
- `reward_models`: the rewards, where they are not known.
"""
