"""Names for authors of figures and pages: `from pomrl.figures import figure, PanelGrid`.

`docs/studies.md` introduces them. Those for claims and variants are in `pomrl.study`.
"""

from pomrl.drawing import panels as panels
from pomrl.drawing.figure import figure as figure
from pomrl.drawing.loss_panels import METHODS as METHODS
from pomrl.drawing.loss_panels import TASKS as TASKS
from pomrl.drawing.loss_panels import Panel as Panel
from pomrl.drawing.loss_panels import PanelGrid as PanelGrid
from pomrl.drawing.loss_panels import draw_row as draw_row
from pomrl.drawing.loss_panels import of_estimators as of_estimators
from pomrl.drawing.loss_panels import of_tasks as of_tasks
from pomrl.drawing.loss_panels import of_values as of_values
from pomrl.drawing.loss_panels import points_of_panels as points_of_panels
from pomrl.drawing.loss_panels import series_of as series_of
from pomrl.drawing.panels import AVERAGE_LOSS as AVERAGE_LOSS
from pomrl.drawing.panels import RUNNING_AVERAGE as RUNNING_AVERAGE
from pomrl.drawing.series import COLUMNS as COLUMNS
from pomrl.drawing.series import Drawing as Drawing
from pomrl.drawing.series import Series as Series
from pomrl.drawing.series import View as View
from pomrl.drawing.series import at_gamma as at_gamma
from pomrl.drawing.series import at_largest_gamma as at_largest_gamma
from pomrl.drawing.series import best_fixed as best_fixed
from pomrl.drawing.series import collect as collect
from pomrl.drawing.series import dynamic_best as dynamic_best
from pomrl.drawing.series import everything as everything
from pomrl.drawing.series import in_task as in_task
from pomrl.drawing.series import running_average as running_average
from pomrl.drawing.style import COLUMN_WIDTH as COLUMN_WIDTH
from pomrl.drawing.style import TEXT_WIDTH as TEXT_WIDTH
from pomrl.drawing.style import Look as Look
from pomrl.drawing.style import context as context
from pomrl.drawing.style import look as look
from pomrl.drawing.style import sequence as sequence
from pomrl.pages import Page as Page
from pomrl.results.intervals import Kind as Kind
from pomrl.results.intervals import band as band
from pomrl.results.intervals import best_gamma as best_gamma
from pomrl.results.intervals import best_gamma_band as best_gamma_band
from pomrl.results.sweep_results import StoredSweeps as StoredSweeps
