"""What each discount factor is expected to lose on the tasks of a log.

The loss at gamma_eval of plans on the data of all tasks (the prior) and on the data of each task alone (frequencies),
expected under the posterior, with 95 % intervals. The circle marks what is recommended.
"""

import pandas as pd

from pomrl.drawing import panels
from pomrl.drawing.drawing import Drawing, Series, collect
from pomrl.drawing.style import TEXT_WIDTH, Look, context, look
from pomrl.models_and_logs.horizon_reports import HorizonReport

SERIES = {
    "prior": Series(Look("Plans on the data of all tasks", look("empirical_bayes").color, "P")),
    "frequencies": Series(Look("Plans on the data of each task", look("without_meta").color, "D", "--")),
}
"""The curves, by what plans are made on."""

_COLUMNS = {"prior": "", "frequencies": "_of_frequencies"}


def draw(report: HorizonReport) -> Drawing:
    """Draw the figure from the report, whose table is the one behind it."""
    advice = report.recommendation
    parts = [
        series.points(_bands(report.table, name), "gamma", "95 % interval", [advice.gamma] * (name == advice.plan_on))
        for name, series in SERIES.items()
    ]
    data = collect(parts, [])
    with context():
        figure, (ax,) = panels.row_of_panels(1, 0.6 * TEXT_WIDTH, 2.8)
        panels.curves(ax, data, list(SERIES.values()))
        panels.gamma_axis(ax)
        panels.loss_axis(ax, f"Loss at γ = {report.gamma_eval:g}")
        panels.shared_legend(figure, [ax], columns=1, more=[panels.minimum_marker()])
        return panels.finish(figure, data)


def _bands(table: pd.DataFrame, plan_on: str) -> pd.DataFrame:
    of = _COLUMNS[plan_on]
    names = {f"loss{of}": "mean", f"lower{of}": "lower", f"upper{of}": "upper"}
    return table[["gamma", *names]].rename(columns=names).assign(n=0)
