"""What the similarity that ada-POMRL starts with, sigma_1, does to its loss per task at gamma_eval (A4); bands of one
standard error.

The paper (Sec. 4) has it start from a large value, "close to 1/2"; it rules the first two tasks.
"""

from pomrl.figures.parts import loss_per_task, uniform
from pomrl.figures.parts.drawing import Drawing, Series, Tables
from pomrl.figures.parts.style import COLUMN_WIDTH, sequence
from pomrl.figures.parts.views import at_largest_gamma

SWEEPS = ("initial_similarity",)
RUNS = 100

STARTS = (0.01, 0.1, 0.5)
SERIES = [
    Series("", look, "initial_similarity", {"estimator.sigma_1": start}, at_largest_gamma)
    for start, look in zip(STARTS, sequence([f"σ₁ = {start:g}" for start in STARTS]), strict=True)
]


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    panel = {"": ("", SERIES)}
    return uniform.figure(tables, [panel], loss_per_task, "se", RUNS, width=COLUMN_WIDTH, columns=3)
