"""Draw Figure 2: the loss against gamma for several priors."""

from pomrl.figures import DataFrame, Figure, Panel, PanelGrid, Series, figure, sequence

LOOKS = sequence((5, 10, 20, 50), "m = {}".format)
ALPHAS = (0.0, 0.25, 0.5, 0.75)


def _panel(alpha: float) -> Panel:
    series = [Series(look, "illustration", {"estimator.mixing": alpha, "m": m}) for m, look in LOOKS.items()]
    return Panel(f"α = {alpha:g}", series, "gamma", "se")


GRID = PanelGrid([[_panel(alpha) for alpha in ALPHAS]])


@figure(panels=GRID)
def illustration(data: DataFrame) -> Figure:
    """Figure 2: More samples or a better prior: longer horizons.

    The loss against gamma for several numbers of samples m, with a panel for each weight alpha on the prior.

    The prior is the true mean model.

    The paper does not state the values of alpha, the number of runs and the kind of band (R19); these are our choices.
    """
    return GRID.draw(data)
