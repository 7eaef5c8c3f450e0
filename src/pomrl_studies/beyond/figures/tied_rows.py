"""Rows that move together.

The planning loss in each task, with a learner that finds out whether rows are tied.

At a spread of 0.15 of the latent, planned with γ_eval, in the units of the family's rewards. Bands show 95 % intervals
of the mean.
"""

from pomrl_studies.beyond.figures.families import learners_grid

LEARNERS = ("without_meta", "ada_pomrl", "empirical_bayes", "tied_rows", "exact_posterior")

FIGURE = learners_grid("tied_rows", LEARNERS)
