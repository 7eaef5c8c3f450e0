"""Draw gains over the decisions of a log by planning discount factor.

Bands end at the lower limits. The circle marks the recommendation.
"""

from pomrl.figures import TEXT_WIDTH, Drawing, Look, Series, collect, context, look, panels
from pomrl_logs.horizon_reports import NO_LIMIT, HorizonReport

SERIES = Series(Look("Gain over the decisions of the log", look("empirical_bayes").color, "P"))


def draw(report: HorizonReport) -> Drawing:
    """Draw the gains of a report."""
    advice = report.recommendation
    rows = report.table[report.table["support"] == advice.support]
    bands = rows.assign(mean=rows["gain"], upper=rows["gain"], n=0)
    band = NO_LIMIT if bands["lower"].isna().all() else "lower limit"
    data = collect([SERIES.points(bands, "gamma", band, [advice.gamma])], [])
    with context():
        figure, (ax,) = panels.row_of_panels(1, 0.6 * TEXT_WIDTH, 2.8)
        panels.curves(ax, data, [SERIES])
        panels.gamma_axis(ax)
        ax.axhline(0.0, color="0.5", linewidth=0.8)
        ax.set_ylabel(f"Gain at γ = {report.gamma_eval:g}")
        panels.add_shared_legend(figure, [ax])
        return panels.finish(figure, data)
