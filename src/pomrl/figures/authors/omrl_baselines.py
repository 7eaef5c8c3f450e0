"""Figure F4, as the authors would compute it: the loss against gamma in several tasks t for three methods; c = 1.5.

The notebook has the three methods, but no figure of the oracle and of planning without meta-learning against gamma.
Bands show one standard error over 100 runs.
"""

from pomrl.figures.authors.overlay import SIMILARITY, AuthorsGrid, against_gamma
from pomrl.figures.parts.style import ESTIMATORS

SWEEPS = (SIMILARITY,)

FIGURE = AuthorsGrid(
    [[against_gamma(1.5, ESTIMATORS[name].label, name) for name in ("ada_pomrl", "oracle", "without_meta")]],
    legend_columns=7,
)
SERIES = FIGURE.series
draw = FIGURE.draw
