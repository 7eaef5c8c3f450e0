"""What holds of every figure: its data, its note, and that equal tables give equal pictures.

The fixtures `drawings` and `with_intervals` draw each figure once for all tests of this file. What the figures of one
class of panels have in common is tested with one of them, because drawing takes long.
"""

from collections.abc import Mapping

import pandas as pd
import pytest
from tests.support.checks import note
from tests.support.shipped import FIGURES, OF_EACH_KIND, OF_SERIES, OF_SWEEPS
from tests.support.synthetic import PROMISED, RUNS, Lazy, make_sweep, make_sweeps

from pomrl.drawing.drawing import COLUMNS, Drawing
from pomrl.drawing.files import save_small
from pomrl.results.stored_sweeps import StoredSweeps

pytestmark = pytest.mark.slow

OF_INTERVALS = (
    "families", "tied_rows", "guidance_gamma", "training_and_test", "lower_gammas", "grid_worlds", "mixing",
)  # fmt: skip
"""The figures whose captions say that their bands are 95 % intervals of the mean."""

INTERVALS = f"95 % intervals of the mean over {RUNS} runs"

Drawings = Mapping[str, Drawing]


def provisional(name: str, runs: int) -> str:
    """Return the note above a figure that shows fewer runs than its sweeps promise."""
    (promised,) = {PROMISED[sweep] for sweep in FIGURES[name].sweeps}
    return f"provisional: {runs} of {promised} runs"


@pytest.mark.parametrize("name", FIGURES)
def test_data_is_what_is_drawn(name: str, drawings: Drawings) -> None:
    data = drawings[name].data
    assert list(data.columns) == COLUMNS
    points = data.loc[data["n"] > 0]
    assert not points.duplicated(["panel", "series", "x"]).any()
    if FIGURES[name].sweeps:
        assert (points["n"] == RUNS).all()
    if name in ("wrong_priors", "advice"):  # four runs are too few for an interval of a ratio
        assert points[["lower", "upper"]].isna().all(axis=None)
    else:
        assert (points["lower"] <= points["mean"]).all()
        assert (points["mean"] <= points["upper"]).all()


@pytest.mark.parametrize("name", OF_SWEEPS)
def test_fewer_runs_than_promised_are_noted(name: str, drawings: Drawings) -> None:
    intervals = [INTERVALS] if name in OF_INTERVALS else []
    assert note(drawings[name]) == "\n".join([*intervals, provisional(name, RUNS)])


@pytest.mark.parametrize("name", OF_SWEEPS)
def test_tables_are_left_alone(name: str, drawings: Drawings, tables: Mapping[str, pd.DataFrame]) -> None:
    assert drawings[name]
    for sweep in FIGURES[name].sweeps:
        pd.testing.assert_frame_equal(tables[sweep], make_sweep(sweep).table)


@pytest.fixture(scope="module")
def one_run() -> StoredSweeps:
    return make_sweeps(runs=1)


@pytest.mark.parametrize("name", [name for name in OF_EACH_KIND if name in OF_SWEEPS])
def test_a_single_run_is_drawn(name: str, one_run: StoredSweeps) -> None:
    assert note(FIGURES[name].draw(one_run)).splitlines()[-1] == provisional(name, 1)


@pytest.fixture(scope="module")
def again(sweeps: StoredSweeps) -> StoredSweeps:
    """The same sweeps, made once more, and the simulations."""
    made = make_sweeps()
    return Lazy(sweeps, lambda name: made[name] if name in made else sweeps[name])


@pytest.mark.parametrize("name", OF_EACH_KIND)
def test_same_tables_same_picture_and_data(name, tmp_path, drawings: Drawings, again: StoredSweeps) -> None:
    drawn = FIGURES[name].draw(again)
    (once,), (twice,) = save_small(drawings[name], tmp_path, "once"), save_small(drawn, tmp_path, "again")
    assert once.read_bytes() == twice.read_bytes()
    pd.testing.assert_frame_equal(drawings[name].data, drawn.data, check_exact=True)


@pytest.fixture(scope="module")
def with_intervals(sweeps: StoredSweeps) -> Drawings:
    """The versions with intervals, by the names of their figures."""
    return Lazy(OF_SERIES, lambda name: FIGURES[name].drawn(sweeps, with_intervals=True))


@pytest.mark.parametrize("name", [name for name in OF_SERIES if name in (*OF_EACH_KIND, *OF_INTERVALS)])
def test_only_the_bands_of_intervals_differ_from_the_version_of_the_caption(
    name: str, drawings: Drawings, with_intervals: Drawings
) -> None:
    plain, shown = drawings[name].data, with_intervals[name].data
    others = ["panel", "series", "x", "mean", "n", "marker"]
    pd.testing.assert_frame_equal(plain[others], shown[others])
    of_runs = plain["n"] > 0
    renamed = {"sd": "ci", "se": "ci", "ci": "ci", "bootstrap sd": "bootstrap ci"}
    assert list(shown.loc[of_runs, "band"]) == [renamed[kind] for kind in plain.loc[of_runs, "band"]]
    assert (shown["lower"][of_runs] <= shown["mean"][of_runs]).all()
    assert (shown["mean"][of_runs] <= shown["upper"][of_runs]).all()
    assert note(with_intervals[name]) == f"{INTERVALS}\n{provisional(name, RUNS)}"


def test_bars_are_within_their_panel(drawings: Drawings, with_intervals: Drawings) -> None:
    for drawing in (drawings["planning_omrl"], with_intervals["planning_omrl"]):
        bottom, top = drawing.figure.axes[3].get_ylim()
        bars = drawing.data.loc[drawing.data["series"] == "γ* (right axis)"]
        assert bottom <= bars["lower"].min()
        assert top >= bars["upper"].max()
