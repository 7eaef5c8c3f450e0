"""The planning loss in the game of patience, against one opponent after the other.

Bands are 95 % intervals of the mean.
"""

from pomrl.claims.claim import claim
from pomrl.claims.comparisons import less, no_worse
from pomrl.claims.verdict import Part
from pomrl.figures.parts.losses import Panel, PanelGrid, of_estimators
from pomrl.results.losses import SweepLosses

SWEEPS = ("patience",)

FIGURE = PanelGrid([[Panel("", of_estimators("patience", {}), "task", "ci")]], legend_columns=4)
SERIES = FIGURE.series
draw = FIGURE.draw


@claim("P1", "patience")
def meta_learning_helps(sweep: SweepLosses) -> list[Part]:
    """ada-POMRL loses less than without meta-learning.

    Game of patience: the loss at gamma_eval, on average over opponents.
    """
    ada, without = (sweep.at(estimator=name).regret for name in ("ada_pomrl", "without_meta"))
    return [less(ada, without, "ada-POMRL less no meta-learning")]


@claim("P2", "patience")
def the_similarity_need_not_be_known(sweep: SweepLosses) -> list[Part]:
    """ada-POMRL loses at most 10 % more than POMRL, which is told how similar opponents are.

    Game of patience: the loss at gamma_eval, on average over opponents.
    """
    ada, told = (sweep.at(estimator=name).regret for name in ("ada_pomrl", "pomrl"))
    return [no_worse(ada, told, "ada-POMRL less POMRL")]
