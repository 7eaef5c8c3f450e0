"""The sweeps and figures that the tested report is made of."""

from pomrl.configuration.study import find
from pomrl.drawing.figure import figures_of

# The first has ada-POMRL's run under another name of an option, which the report must not take over.
SWEEPS = ["mixing_rates", "task_similarity", "gamma_schedules", "illustration"]

FIGURES = {figure.name: figure for figure in figures_of(find("pomrl"))}
"""The figures of the study, drawn or not."""

DRAWN = [name for name, figure in FIGURES.items() if set(figure.sweeps) <= set(SWEEPS)]
"""Those of which the version of the caption is drawn."""

COMMAND = "pomrl report pomrl"
"""The command that makes the page."""
