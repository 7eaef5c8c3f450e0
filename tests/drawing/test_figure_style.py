import itertools

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from tests.support.shipped import FIGURES

from pomrl.drawing.files import Sidecar, save
from pomrl.drawing.style import context


@pytest.fixture
def figure(drawings, name):
    """The figure of a name, whose text has the extents of its own resolution, whatever it was saved with before."""
    with context():
        drawings[name].figure.draw_without_rendering()
    return drawings[name].figure


def unseen_ticks(figure: Figure) -> set[Text]:
    """The labels of ticks beyond the ends of their axes, which matplotlib keeps and does not draw."""
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    return {
        label
        for axis in axes
        for tick in axis.get_major_ticks()
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
        for label in (tick.label1, tick.label2)
    }


class TestStyle:
    def test_global_state_is_left_alone(self, tmp_path, sweeps):
        before = dict(mpl.rcParams)
        save(FIGURES["pomrl_vs_adapomrl"].draw(sweeps), tmp_path, "figure", Sidecar("figure"))
        assert dict(mpl.rcParams) == before
        assert plt.get_fignums() == []

    def test_settings_of_the_caller_do_not_matter(self, tmp_path, sweeps):
        draw = FIGURES["pomrl_vs_adapomrl"].draw
        plain = save(draw(sweeps), tmp_path, "plain", Sidecar("figure"))[1]
        with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.facecolor": "black", "savefig.dpi": 50}):
            other = save(draw(sweeps), tmp_path, "other", Sidecar("figure"))[1]
        assert plain.read_bytes() == other.read_bytes()

    @pytest.mark.slow
    @pytest.mark.parametrize("name", FIGURES)
    def test_text_is_legible_and_within_the_figure(self, figure, name):
        unseen = unseen_ticks(figure)
        every = [one for one in figure.findobj(Text) if isinstance(one, Text) and one not in unseen]
        texts = [one for one in every if one.get_text() and one.get_visible()]
        assert min(float(one.get_fontsize()) for one in texts) >= 7.0
        for text in texts:
            box = text.get_window_extent()
            assert box.x0 >= figure.bbox.x0 - 1
            assert box.x1 <= figure.bbox.x1 + 1
            assert box.y0 >= figure.bbox.y0 - 1
            assert box.y1 <= figure.bbox.y1 + 1

    @pytest.mark.slow
    @pytest.mark.parametrize("name", FIGURES)
    def test_no_legend_over_data(self, figure, name):
        legends = [one for one in figure.findobj(Legend) if isinstance(one, Legend)]
        assert legends or name == "dirichlet_task_dist"
        for legend in legends:
            assert not any(ax.bbox.overlaps(legend.get_window_extent()) for ax in figure.axes)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", FIGURES)
    def test_titles_of_panels_do_not_overlap(self, figure, name):
        titles = [ax.title if ax.title.get_text() else ax._left_title for ax in figure.axes]  # type: ignore[attr-defined]
        boxes = [title.get_window_extent() for title in titles if title.get_text()]
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
