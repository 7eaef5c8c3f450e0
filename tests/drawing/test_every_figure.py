"""What holds of every figure: its data, its note, its look, and that equal tables give equal pictures.

The fixture `drawings` draws each figure once for all tests. What the figures of one class of panels have in common is
tested with one of them, because drawing takes long.
"""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.legend import Legend
from matplotlib.text import Text
from tests.support.checks import note, outlines
from tests.support.shipped import FIGURES, OF_EACH_KIND, OF_SERIES, OF_SWEEPS
from tests.support.synthetic import ESTIMATORS, REQUESTED_RUNS, RUNS, SCHEDULES, Lazy, make_sweep, make_sweeps

from pomrl.drawing.panels import AVERAGE_LOSS, LOSS, RUNNING_AVERAGE
from pomrl.drawing.picture_files import picture
from pomrl.drawing.series import COLUMNS, Drawing
from pomrl.drawing.style import Look, context, look
from pomrl.results.sweep_results import StoredSweeps

pytestmark = pytest.mark.slow

INTERVALS = f"95 % intervals over {RUNS} runs"

LOOKS: list[Look] = [*map(look, ESTIMATORS), *(look(name, "gamma_schedule") for name in SCHEDULES)]
"""The looks of the paper's estimators and schedules."""

Drawings = Mapping[str, Drawing]


def provisional(name: str, runs: int) -> str:
    """Return the note above a figure that shows fewer runs than its sweeps promise."""
    requested_runs = dict.fromkeys(REQUESTED_RUNS[sweep] for sweep in FIGURES[name].sweeps)
    return "\n".join(f"provisional: {runs} of {number:,} runs" for number in requested_runs)


@pytest.mark.parametrize("name", FIGURES)
def test_data_match_the_drawing_and_its_note(name: str, drawings: Drawings) -> None:
    data = drawings[name].data
    assert list(data.columns) == COLUMNS
    points = data.loc[data["n"] > 0]
    assert not points.duplicated(["panel", "series", "x"]).any()
    if name in ("wrong_priors", "advice", "horizon"):  # four runs are too few for an interval of a ratio
        assert points[["lower", "upper"]].isna().all(axis=None)
    else:
        assert ((points["lower"] <= points["mean"]) & (points["mean"] <= points["upper"])).all()
    if name in OF_SWEEPS:
        assert (points["n"] == RUNS).all()
        assert note(drawings[name]) == "\n".join(
            [*([INTERVALS] * ("ci" in {*points["band"]})), provisional(name, RUNS)]
        )


def test_drawing_leaves_its_tables_alone(drawings: Drawings, tables: Mapping[str, pd.DataFrame]) -> None:
    assert len([*drawings.values()]) == len(FIGURES)
    for sweep in {sweep for figure in FIGURES.values() for sweep in figure.sweeps}:
        pd.testing.assert_frame_equal(tables[sweep], make_sweep(sweep).table)


def visible_texts(figure: Figure) -> list[Text]:
    """Return the texts that are seen: matplotlib keeps labels of ticks beyond the ends of their axes."""
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    unseen = {
        label
        for axis in axes
        for tick in axis.get_major_ticks()
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
        for label in (tick.label1, tick.label2)
    }
    texts = [text for text in figure.findobj(Text) if isinstance(text, Text) and text not in unseen]
    return [text for text in texts if text.get_text() and text.get_visible()]


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_overlaps_or_leaves_the_page(name: str, drawings: Drawings) -> None:
    figure = drawings[name].figure
    assert figure.get_figwidth() <= 5.5
    with context():
        ink = imread(BytesIO(picture(drawings[name].figure, "png", dpi=100)))[..., :3] < 1
    assert not any(edge.any() for edge in (ink[0], ink[-1], ink[:, 0], ink[:, -1]))
    assert all(float(text.get_fontsize()) >= 7.0 for text in visible_texts(figure))
    legends = [box for box in figure.findobj(Legend) if isinstance(box, Legend)]
    assert legends or name == "dirichlet_task_dist"
    assert not any(ax.bbox.overlaps(box.get_window_extent()) for box in legends for ax in figure.axes)
    titles = [ax.title if ax.title.get_text() else ax._left_title for ax in figure.axes]  # type: ignore[attr-defined]
    boxes = [title.get_window_extent() for title in titles if title.get_text()]
    assert not any(box.overlaps(other) for box, other in itertools.combinations(boxes, 2))


@pytest.mark.parametrize("name", FIGURES)
def test_losses_start_at_zero_with_consistent_looks(name: str, drawings: Drawings) -> None:
    looks = {style.label: style for style in LOOKS}
    for ax in drawings[name].figure.axes:
        is_zoomed = "zoomed" in ax.get_title(loc="left")
        if ax.get_ylabel() in (LOSS, AVERAGE_LOSS, RUNNING_AVERAGE) and not is_zoomed and ax.get_yscale() == "linear":
            bottom, top = ax.get_ylim()
            assert bottom == 0.0
            outline_points = [*outlines(ax), *(curve.get_xydata() for curve in ax.lines)]
            assert top >= max(points[:, 1].max() for points in outline_points)
        for curve in ax.lines:
            if expected := looks.get(str(curve.get_label())):
                outline_points = (curve.get_color(), curve.get_marker(), curve.get_linestyle())
                assert outline_points in {
                    (expected.color, expected.marker, line) for line in (expected.linestyle, "--")
                }


def test_looks_differ() -> None:
    assert len({style.color for style in LOOKS}) == len(LOOKS)
    for group in (LOOKS[: len(ESTIMATORS)], LOOKS[len(ESTIMATORS) :]):
        assert len({style.marker for style in group}) == len(group)


@pytest.fixture(scope="module")
def one_run() -> StoredSweeps:
    return make_sweeps(runs=1)


@pytest.mark.parametrize("name", [name for name in OF_EACH_KIND if name in OF_SWEEPS])
def test_single_runs_are_drawn_but_not_none(name: str, one_run: StoredSweeps) -> None:
    assert note(FIGURES[name].draw(one_run)).endswith(provisional(name, 1))
    nothing = Lazy(one_run, lambda sweep: replace(one_run[sweep], values=[], results=[]))
    with pytest.raises(ValueError, match="have the settings of the figure's series"):
        FIGURES[name].draw(nothing)


@pytest.mark.parametrize("name", [name for name in OF_EACH_KIND if name not in OF_SERIES])
def test_same_tables_same_picture_and_data(name: str, drawings: Drawings, sweeps: StoredSweeps) -> None:
    all_sweeps = make_sweeps()
    drawing = FIGURES[name].draw(
        Lazy(sweeps, lambda sweep: all_sweeps[sweep] if sweep in all_sweeps else sweeps[sweep])
    )
    assert picture(drawings[name].figure, "png", dpi=60) == picture(drawing.figure, "png", dpi=60)
    pd.testing.assert_frame_equal(drawings[name].data, drawing.data, check_exact=True)


@pytest.mark.parametrize("name", ["planning_omrl", *(name for name in OF_EACH_KIND if name in OF_SERIES)])
def test_versions_differ_only_in_their_bands(name: str, drawings: Drawings, sweeps: StoredSweeps) -> None:
    with_intervals = FIGURES[name].draw(sweeps, "ci")
    plain, intervals = drawings[name].data, with_intervals.data
    columns = ["panel", "series", "x", "mean", "n", "marker"]
    pd.testing.assert_frame_equal(plain[columns], intervals[columns])
    has_runs = plain["n"] > 0
    renamed = {"sd": "ci", "se": "ci", "ci": "ci", "bootstrap sd": "bootstrap ci"}
    assert list(intervals.loc[has_runs, "band"]) == [renamed[kind] for kind in plain.loc[has_runs, "band"]]
    assert ((intervals["lower"] <= intervals["mean"]) & (intervals["mean"] <= intervals["upper"]))[has_runs].all()
    assert note(with_intervals) == f"{INTERVALS}\n{provisional(name, RUNS)}"
    if name == "planning_omrl":
        for drawing in (drawings[name], with_intervals):
            bottom, top = drawing.figure.axes[3].get_ylim()
            assert bottom == 0.0
            assert top <= 1.05
            assert max(outline[:, 1].max() for outline in outlines(drawing.figure.axes[3])) <= 1.0
