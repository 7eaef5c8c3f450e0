"""Draw the losses of mixing rates."""

from pomrl.figures import (
    RUNNING_AVERAGE,
    DataFrame,
    Figure,
    Look,
    Panel,
    PanelGrid,
    at_largest_gamma,
    figure,
    of_values,
    palette,
    running_average,
)

MIXING = {
    "paper": Look("Paper's rate", palette.DARK_RED, "X", size=6.5),
    "mse_bound": Look("Minimum of the bound", palette.OLIVE, "s"),
    "mse_optimal": Look("Optimal for known σ", "black", "o", ":", size=3.0),
}
SIMILARITY = {"known": "true similarity", "welford": "Welford's estimate", "debiased": "debiased estimate"}


def _panel(sigma: float, similarity: str) -> Panel:
    settings, view = {"sigma": sigma, "estimator.similarity": similarity}, running_average(at_largest_gamma)
    series = of_values("mixing_rates", "estimator.mixing", MIXING, settings, view)
    return Panel(f"σ = {sigma:g}, {SIMILARITY[similarity]}", series, "task", "se", label=RUNNING_AVERAGE)


GRID = PanelGrid([[_panel(sigma, name) for name in SIMILARITY] for sigma in (0.01, 0.047)])


@figure(panels=GRID)
def mixing_rates(data: DataFrame) -> Figure:
    """The cost of the mixing rate.

    The average loss in tasks 1 to t with the paper's mixing rate and with two that account for sampling noise (E4).

    The two others minimise the mean squared error or a bound on it. All plan with gamma_eval. Rows differ in sigma,
    columns in the similarity given to the rate: the true one, Welford's estimate, or the debiased estimate (E5).
    """
    return GRID.draw(data)
