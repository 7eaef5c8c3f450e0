"""Gaussian tasks.

Panels (a) to (c) of Figure 5 with tasks drawn from Gaussians around the mean model, clipped to the simplex.

Bands show one standard deviation. Each panel has a vertical axis of its own, because a single run with a large loss
would set a common one.
"""

from pomrl_studies.pomrl2023 import similarities

FIGURE = similarities.of_sweep("gaussian_tasks", share_y=False)
