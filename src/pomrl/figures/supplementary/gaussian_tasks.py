"""Panels (a) to (c) of Figure 5 with tasks drawn from Gaussians around the mean model, clipped to the simplex.

Bands show one standard deviation.
"""

from pomrl.figures.parts import similarities

SWEEPS = ("gaussian_tasks",)

draw = similarities.of_sweep("gaussian_tasks").draw
