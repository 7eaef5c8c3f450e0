"""Panels (a) to (c) of Figure 5 where tasks spread around their mean as Gaussians do, clipped to the simplex."""

from pomrl.figures.parts import similarities
from pomrl.figures.parts.drawing import Drawing, Tables

SWEEPS = ("gaussian_tasks",)
RUNS = 100

PER_TASK = similarities.wanted("abc", "gaussian_tasks", {}, ["oracle", "without_meta", "pomrl", "ada_pomrl"])


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    return similarities.figure(tables, PER_TASK, RUNS)
