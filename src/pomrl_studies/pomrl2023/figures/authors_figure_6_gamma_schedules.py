"""Draw Figure 6 from the authors' computations."""

from collections.abc import Sequence

from pomrl.figures import DataFrame, Figure, Panel, at_largest_gamma, figure, look, panels, running_average, sequence
from pomrl_studies.pomrl2023 import overlay
from pomrl_studies.pomrl2023.averages import best_so_far
from pomrl_studies.pomrl2023.digitised import AuthorsSeries
from pomrl_studies.pomrl2023.figures.figure_6_gamma_schedules import STORED

CURVES = {"fixed": "gamma_eval", "upper_bound": "upper_bound_0.35"}
"""The names of curves in the notebook's figures, where they differ from the names of schedules."""


def _schedule(name: str, cell: int) -> AuthorsSeries:
    stored, view = STORED[name]
    averaged = best_so_far if name == "best_fixed" else running_average(view)
    settings = {"gamma_schedule": stored, "estimator": "ada_pomrl"}
    return AuthorsSeries(
        look(name, "gamma_schedule"),
        "gamma_schedules",
        settings,
        averaged,
        cells=(cell,),
        curve=CURVES.get(name, name),
    )


OFFSETS = [
    AuthorsSeries(
        look,
        "gamma_0",
        {"gamma_schedule.gamma_0": offset, "estimator": "ada_pomrl"},
        running_average(at_largest_gamma),
        cells=(49,),
        curve=f"upper_bound_{offset:.2f}",
    )
    for offset, look in sequence((0.25, 0.35, 0.45, 0.5), "γ₀ = {:g}".format).items()
]


def _panel(title: str, series: Sequence[AuthorsSeries], *, zoomed: bool) -> Panel:
    return Panel(title, series, "task", "se", zoomed, panels.RUNNING_AVERAGE)


GRID = overlay.AuthorsGrid(
    [
        [
            _panel("All schedules", [_schedule(name, 48) for name in STORED], zoomed=False),
            _panel("Without γₑᵥₐₗ", [_schedule(name, 50) for name in STORED if name != "fixed"], zoomed=True),
            _panel("Upper bound", OFFSETS, zoomed=True),
        ]
    ],
    row_height=3.2,
)


@figure(panels=GRID)
def authors_gamma_schedules(data: DataFrame) -> Figure:
    """Figure 6, as the authors computed it: Every schedule of γ beats the constant.

    The average loss of ada-POMRL in tasks 1 to t under the gamma schedules.

    Panel (a) shows all schedules, (b) all except the constant gamma_eval, and (c) the upper-bound schedule for several
    offsets gamma_0. Hollow points were read off the notebook's cells 48, 50 and 49; the legend has a joint test of each
    panel.
    """
    return GRID.draw(data)
