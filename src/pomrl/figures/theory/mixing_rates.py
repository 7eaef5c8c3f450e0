"""What the sampling noise that the paper leaves out costs: average loss of tasks 1..t at gamma_eval with the paper's
mixing rate, the minimiser of its bound, and the optimal one (E4), a row for each sigma; the columns differ in the
similarity that the rate is told: the true one, Welford's estimate, and that less its bias (E5). Bands of one standard
error.
"""

from pomrl.figures.parts import loss_per_task, uniform
from pomrl.figures.parts.drawing import Drawing, Series, Tables
from pomrl.figures.parts.style import Look
from pomrl.figures.parts.views import at_largest_gamma, running_average

SWEEPS = ("mixing_rates",)
RUNS = 100

MIXING = {
    "paper": Look("Paper's rate", "#a02020", "X"),
    "mse_bound": Look("Minimum of the bound", "#999933", "s"),
    "mse_optimal": Look("Optimal rate", "black", "o"),
}
SIMILARITY = {"known": "true similarity", "welford": "Welford's estimate", "debiased": "debiased estimate"}


def _row(letters: str, sigma: float) -> uniform.Row:
    return {
        panel: (f"σ = {sigma:g}, {title}", [_series(panel, sigma, similarity, mixing) for mixing in MIXING])
        for panel, (similarity, title) in zip(letters, SIMILARITY.items(), strict=True)
    }


def _series(panel: str, sigma: float, similarity: str, mixing: str) -> Series:
    settings = {"sigma": sigma, "estimator.similarity": similarity, "estimator.mixing": mixing}
    return Series(panel, MIXING[mixing], "mixing_rates", settings, running_average(at_largest_gamma))


ROWS = [_row("abc", 0.01), _row("def", 0.047)]


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    return uniform.figure(tables, ROWS, loss_per_task, "se", RUNS, columns=3)
