"""Panels (a) to (c) of Figure 5 where tasks differ in a fifth of the pairs (s,a) alone: above with one mixing
rate for all pairs, from the largest sigma (`scope=max`), below with one for each (A5); bands of one standard deviation.
"""

from pomrl.figures.parts import loss_per_task, similarities, uniform
from pomrl.figures.parts.drawing import Drawing, Series, Tables
from pomrl.figures.parts.style import ESTIMATORS
from pomrl.figures.parts.views import at_largest_gamma

SWEEPS = ("varying_pairs", "varying_pairs_without_meta")
RUNS = 100

SCOPES = {"max": "one rate", "per_pair": "a rate per (s,a)"}


def _row(letters: str, scope: str) -> uniform.Row:
    learning = similarities.wanted(
        letters, "varying_pairs", {"estimator.scope": scope}, ["oracle", "pomrl", "ada_pomrl"]
    )
    return {
        panel: (f"σ = {sigma:g}, {SCOPES[scope]}", [*learning[panel], _without_meta(panel, sigma)])
        for panel, sigma in zip(letters, similarities.SIGMAS, strict=True)
    }


def _without_meta(panel: str, sigma: float) -> Series:
    return Series(panel, ESTIMATORS["without_meta"], "varying_pairs_without_meta", {"sigma": sigma}, at_largest_gamma)


ROWS = [_row("abc", "max"), _row("def", "per_pair")]


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    return uniform.figure(tables, ROWS, loss_per_task, "sd", RUNS, columns=4)
