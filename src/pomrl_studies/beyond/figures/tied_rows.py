"""Rows that move together.

The planning loss in each task on models that people know, with a learner that finds out whether rows are tied.

A panel for each family, at a spread of 0.15 of the latent, when planning with γ_eval; losses are in the units of the
family's rewards. Bands show 95 % intervals of the mean.
"""

from pomrl_studies.beyond.figures.families import learners_grid

LEARNERS = ("without_meta", "ada_pomrl", "empirical_bayes", "tied_rows", "exact_posterior")

FIGURE = learners_grid("tied_rows", LEARNERS)
