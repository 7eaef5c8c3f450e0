"""What each discount factor is expected to lose on the tasks of a log, and what cross-validation says.

Panel (a): the loss at gamma_eval of plans on the posterior mean and on the frequencies of each task alone, expected
under the posterior, with 95 % intervals. Panel (b): cross-validation, with one standard error over tasks.
"""

import pandas as pd

from pomrl.drawing import panels
from pomrl.drawing.drawing import Drawing, Series, collect
from pomrl.drawing.style import TEXT_WIDTH, Look, context, look
from pomrl.models_and_logs.horizon_reports import HorizonReport

MEAN = Series(Look("Plans on the posterior mean", look("empirical_bayes").color, "P"), panel="a")
FREQUENCIES = Series(Look("Plans on frequencies", look("without_meta").color, "D", "--"), panel="a")
VALIDATED = Series(Look("Cross-validation", look("oracle").color, "s"), panel="b")


def draw(report: HorizonReport) -> Drawing:
    """Draw the figure from the report, whose table is the one behind it."""
    table = report.table
    half = table["standard_error"]
    validated = pd.DataFrame({"gamma": table["gamma"], "mean": table["cross_validation"], "n": 0})
    bands = validated.assign(lower=validated["mean"] - half, upper=validated["mean"] + half)
    parts = [
        MEAN.points(_bands(table, ""), "gamma", "95 % interval", [report.best["posterior mean"]]),
        FREQUENCIES.points(_bands(table, "_of_frequencies"), "gamma", "95 % interval"),
        VALIDATED.points(bands, "gamma", "se", [report.best["cross-validation"]]),
    ]
    data = collect(parts, [])
    with context():
        figure, axes = panels.row_of_panels(2, TEXT_WIDTH, 2.8)
        titles = ("Expected under the posterior", "Halves of the data")
        for ax, series, title in zip(axes, ([MEAN, FREQUENCIES], [VALIDATED]), titles, strict=True):
            panels.curves(ax, data, series)
            panels.gamma_axis(ax)
            panels.loss_axis(ax, f"Loss at γ = {report.gamma_eval:g}")
            panels.letter(ax, series[0].panel, title)
        panels.shared_legend(figure, axes, columns=3, more=[panels.minimum_marker()])
        return panels.finish(figure, data)


def _bands(table: pd.DataFrame, of: str) -> pd.DataFrame:
    names = {f"loss{of}": "mean", f"lower{of}": "lower", f"upper{of}": "upper"}
    return table[["gamma", *names]].rename(columns=names).assign(n=0)
