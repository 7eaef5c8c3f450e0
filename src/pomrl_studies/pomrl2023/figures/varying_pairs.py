"""Draw losses with tasks of a fifth of varying pairs."""

from pomrl.figures import DataFrame, Figure, Panel, PanelGrid, Series, at_largest_gamma, figure, look, of_estimators
from pomrl_studies.pomrl2023.similarities import STRUCTURES

SCOPES = {"max": "one rate", "per_pair": "a rate per (s,a)"}


def _panel(scope: str, sigma: float) -> Panel:
    settings = {"estimator.scope": scope, "sigma": sigma}
    learning = of_estimators("varying_pairs", settings, ["oracle", "pomrl", "ada_pomrl"])
    without_meta = Series(look("without_meta"), "varying_pairs_without_meta", {"sigma": sigma}, at_largest_gamma)
    return Panel(f"σ = {sigma:g}, {SCOPES[scope]}", [*learning, without_meta], "task", "sd")


GRID = PanelGrid([[_panel(scope, sigma) for sigma in STRUCTURES] for scope in SCOPES])


@figure(panels=GRID)
def varying_pairs(data: DataFrame) -> Figure:
    """Tasks that differ in a fifth of the pairs.

    Panels (a) to (c) of Figure 5 with tasks that differ in only a fifth of the state-action pairs (R5).

    Panels (a) to (c) have a common mixing rate, from the largest sigma (`scope=max`), panels (d) to (f) a rate for each
    pair (`scope=per_pair`).
    """
    return GRID.draw(data)
