import itertools
import os
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.lines import Line2D
from matplotlib.text import Text
from src import figures as figures_command

from pomrl.figures import FIGURES
from pomrl.figures.drawing import COLUMNS, Drawing
from pomrl.figures.files import save
from pomrl.figures.style import ESTIMATORS
from pomrl.statistics import band, best_gamma, best_gamma_deviation

SIGMAS = [0.01, 0.025, 0.047]
GAMMAS = [0.0, 0.25, 0.5, 0.75, 0.99]
RUNS = 4


def make_tables(runs: int = RUNS, tasks: int = 15, seed: int = 0) -> pd.DataFrame:
    """Random losses for the whole sweep."""
    rng = np.random.default_rng(seed)
    keys = itertools.product(SIGMAS, ESTIMATORS, range(runs), range(1, tasks + 1), GAMMAS)
    frame = pd.DataFrame(keys, columns=["sigma", "estimator", "run", "task", "gamma"])
    others = ["planning_loss", "alpha", "sigma_hat", "model_error"]
    frame[others] = rng.random((len(frame), len(others)))
    return frame.astype({"run": "int32", "task": "int16"})


TABLES = make_tables()


@pytest.fixture(scope="module")
def drawings() -> dict[str, Drawing]:
    return {name: module.draw(TABLES) for name, module in FIGURES.items()}


def choose(frame: pd.DataFrame, **settings) -> pd.DataFrame:
    for name, value in settings.items():
        frame = frame.loc[frame[name] == value]
    return frame


def line(ax: Axes, label: str) -> Line2D:
    (found,) = (one for one in ax.lines if one.get_label() == label)
    return found


def outlines(ax: Axes) -> list[np.ndarray]:
    """Vertices of the bands."""
    found = [one for one in ax.collections if isinstance(one, FillBetweenPolyCollection)]
    return [np.asarray(one.get_paths()[0].vertices) for one in found]


def assert_drawn(ax: Axes, label: str, x: str, expected: pd.DataFrame) -> None:
    """The line shows the means, and one of the bands their lower and upper ends."""
    drawn = line(ax, label)
    np.testing.assert_array_equal(np.asarray(drawn.get_xdata()), expected[x])
    np.testing.assert_array_equal(np.asarray(drawn.get_ydata()), expected["mean"])
    ends = np.concatenate([expected[[x, "lower"]], expected[[x, "upper"]]])
    corners = [set(map(tuple, outline)) for outline in outlines(ax)]
    assert any(set(map(tuple, ends)) <= corner for corner in corners)


def note(drawing: Drawing) -> str:
    return drawing.figure.get_suptitle()


class TestPanels:
    @pytest.mark.parametrize(
        ("figure", "index", "sigma", "estimators"),
        [
            ("pomrl_vs_adapomrl", 0, 0.01, ["pomrl", "ada_pomrl"]),
            ("planning_omrl", 0, 0.01, ["oracle", "without_meta", "pomrl", "ada_pomrl"]),
            *(
                ("dependence_on_tasksimilarity", i, sigma, ["oracle", "without_meta", "pomrl", "ada_pomrl"])
                for i, sigma in enumerate(SIGMAS)
            ),
        ],
    )
    def test_loss_per_task_at_gamma_eval(self, drawings, figure, index, sigma, estimators):
        ax = drawings[figure].figure.axes[index]
        assert [one.get_label() for one in ax.lines] == [ESTIMATORS[name].label for name in estimators]
        for name in estimators:
            expected = band(choose(TABLES, sigma=sigma, estimator=name, gamma=0.99), ["task"], kind="sd")
            assert_drawn(ax, ESTIMATORS[name].label, "task", expected)

    def test_loss_against_gamma(self, drawings):
        ax = drawings["planning_omrl"].figure.axes[1]
        ada = choose(TABLES, sigma=0.01, estimator="ada_pomrl")
        for task in (1, 2, 3, 5, 10, 15):
            assert_drawn(ax, f"t = {task}", "gamma", band(choose(ada, task=task), ["gamma"], kind="se"))

    def test_markers_are_at_the_minima(self, drawings):
        ax = drawings["planning_omrl"].figure.axes[1]
        ada = choose(TABLES, sigma=0.01, estimator="ada_pomrl")
        means = ada.pivot_table(index="task", columns="gamma", values="planning_loss", aggfunc="mean")
        marked = {(one.get_xdata()[0], one.get_ydata()[0]) for one in ax.lines if one.get_marker() == "o"}
        assert marked == {(means.loc[task].idxmin(), means.loc[task].min()) for task in (1, 2, 3, 5, 10, 15)}

    def test_loss_at_the_best_gamma(self, drawings):
        ax = drawings["planning_omrl"].figure.axes[2]
        ada = choose(TABLES, sigma=0.01, estimator="ada_pomrl")
        expected = band(ada.merge(best_gamma(ada, ["task"]), on=["task", "gamma"]), ["task"])
        assert_drawn(ax, "Loss at γ*", "task", expected)

    def test_best_gamma(self, drawings):
        right = drawings["planning_omrl"].figure.axes[3]
        ada = choose(TABLES, sigma=0.01, estimator="ada_pomrl")
        gamma = best_gamma(ada, ["task"])["gamma"].to_numpy()
        deviation = best_gamma_deviation(ada, ["task"])["deviation"].to_numpy()
        (bars,) = (one for one in right.containers if isinstance(one, ErrorbarContainer))
        np.testing.assert_array_equal(np.asarray(bars[0].get_ydata()), gamma)
        segments = np.array(bars[2][0].get_segments())
        np.testing.assert_allclose(segments[:, :, 1], np.stack([gamma - deviation, gamma + deviation], axis=1))

    def test_loss_axes_start_at_zero_and_reach_every_band(self, drawings):
        for drawing in drawings.values():
            axes = [ax for ax in drawing.figure.axes if ax.get_ylabel() != "Best discount factor γ*"]
            for ax in axes:
                bottom, top = ax.get_ylim()
                assert bottom == 0.0
                assert top >= max(outline[:, 1].max() for outline in outlines(ax))

    def test_one_method_has_one_look(self, drawings):
        for name, look in ESTIMATORS.items():
            every = [ax for drawing in drawings.values() for ax in drawing.figure.axes]
            lines = [one for ax in every for one in ax.lines if one.get_label() == look.label]
            assert len(lines) == {"oracle": 4, "without_meta": 4, "pomrl": 5, "ada_pomrl": 5, "aggregating": 0}[name]
            assert {(one.get_color(), one.get_marker()) for one in lines} <= {(look.color, look.marker)}

    def test_looks_differ(self):
        assert len({look.color for look in ESTIMATORS.values()}) == len(ESTIMATORS)
        assert len({look.marker for look in ESTIMATORS.values()}) == len(ESTIMATORS)


class TestData:
    def test_is_what_is_drawn(self, drawings):
        for drawing in drawings.values():
            assert list(drawing.data.columns) == COLUMNS
            assert not drawing.data.duplicated(["panel", "series", "x"]).any()
            assert (drawing.data["n"] == RUNS).all()
        points = drawings["dependence_on_tasksimilarity"].data
        assert len(points) == 3 * 4 * 15
        ax = drawings["dependence_on_tasksimilarity"].figure.axes[1]
        ada = choose(points, panel="b", series="ada-POMRL")
        np.testing.assert_array_equal(np.asarray(line(ax, "ada-POMRL").get_ydata()), ada["mean"])

    def test_says_which_band_and_which_marker(self, drawings):
        data = drawings["planning_omrl"].data
        assert {panel: set(rows["band"]) for panel, rows in data.groupby("panel")} == {
            "a": {"sd"},
            "b": {"se"},
            "c": {"sd", "bootstrap sd"},
        }
        assert choose(data, marker=True).groupby(["panel", "series"]).size().tolist() == [1] * 6

    def test_tables_are_left_alone(self):
        before = TABLES.copy()
        for module in FIGURES.values():
            module.draw(TABLES)
        pd.testing.assert_frame_equal(TABLES, before)


class TestHonesty:
    @pytest.mark.parametrize("name", FIGURES)
    def test_fewer_runs(self, name, drawings):
        assert note(drawings[name]) == f"provisional: {RUNS} of 100 runs"

    def test_as_many_runs_as_promised(self):
        assert note(FIGURES["pomrl_vs_adapomrl"].draw(make_tables(runs=100, tasks=2))) == ""

    def test_more_runs(self):
        drawing = FIGURES["pomrl_vs_adapomrl"].draw(make_tables(runs=101, tasks=2))
        assert note(drawing) == "101 runs instead of 100"

    def test_uneven_runs(self):
        tables = TABLES.loc[(TABLES["estimator"] != "pomrl") | (TABLES["run"] < 3)]
        assert note(FIGURES["pomrl_vs_adapomrl"].draw(tables)) == "provisional: 3 to 4 of 100 runs"

    def test_missing_series_is_left_out_and_named(self):
        tables = TABLES.loc[(TABLES["estimator"] != "oracle") | (TABLES["sigma"] != 0.025)]
        drawing = FIGURES["dependence_on_tasksimilarity"].draw(tables)
        assert "missing: (b) Oracle prior knowledge" in note(drawing)
        labels = [one.get_label() for one in drawing.figure.axes[1].lines]
        assert labels == ["Without meta-learning", "POMRL(σ)", "ada-POMRL"]
        assert choose(drawing.data, panel="b", series="Oracle prior knowledge").empty

    def test_missing_panel(self):
        drawing = FIGURES["dependence_on_tasksimilarity"].draw(TABLES.loc[TABLES["sigma"] < 0.03])
        assert "missing: (c) everything" in note(drawing)
        assert not drawing.figure.axes[2].lines

    def test_missing_estimator_of_two_panels(self):
        drawing = FIGURES["planning_omrl"].draw(TABLES.loc[TABLES["estimator"] != "ada_pomrl"])
        assert "missing: (a) ada-POMRL; (b) everything; (c) everything" in note(drawing)
        assert [ax.get_legend() is None for ax in drawing.figure.axes] == [False, True, True, True]

    def test_missing_tasks(self):
        drawing = FIGURES["planning_omrl"].draw(make_tables(tasks=5))
        assert "missing: (b) t = 10, t = 15" in note(drawing)

    def test_one_run(self):
        for module in FIGURES.values():
            assert note(module.draw(make_tables(runs=1))) == "provisional: 1 of 100 runs"

    @pytest.mark.parametrize("name", FIGURES)
    def test_nothing_of_the_figure(self, name):
        for tables in (TABLES.loc[TABLES["estimator"] == "aggregating"], TABLES.loc[TABLES["run"] < 0]):
            with pytest.raises(ValueError, match=r"hold nothing that this figure shows: it needs sigma in 0.01"):
                FIGURES[name].draw(tables)

    def test_a_column_is_missing(self):
        with pytest.raises(ValueError, match="no column sigma"):
            FIGURES["planning_omrl"].draw(TABLES.drop(columns="sigma"))

    def test_two_jobs_of_one_setting(self):
        with pytest.raises(ValueError, match="several rows"):
            FIGURES["pomrl_vs_adapomrl"].draw(pd.concat([TABLES, TABLES]))


class TestStyle:
    def test_global_state_is_left_alone(self, tmp_path):
        before = dict(mpl.rcParams)
        save(FIGURES["pomrl_vs_adapomrl"].draw(TABLES), tmp_path, "figure")
        assert dict(mpl.rcParams) == before
        assert plt.get_fignums() == []

    def test_settings_of_the_caller_do_not_matter(self, tmp_path):
        draw = FIGURES["pomrl_vs_adapomrl"].draw
        (_, plain, _) = save(draw(TABLES), tmp_path, "plain")
        with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.facecolor": "black", "savefig.dpi": 50}):
            (_, other, _) = save(draw(TABLES), tmp_path, "other")
        assert plain.read_bytes() == other.read_bytes()

    def test_text_is_legible_and_within_the_figure(self, drawings):
        for drawing in drawings.values():
            found = [one for one in drawing.figure.findobj(Text) if isinstance(one, Text)]
            texts = [one for one in found if one.get_text() and one.get_visible()]
            assert min(float(one.get_fontsize()) for one in texts) >= 7.0
            for text in texts:
                box = text.get_window_extent()
                page = drawing.figure.bbox
                assert box.x0 >= page.x0 - 1
                assert box.x1 <= page.x1 + 1
                assert box.y0 >= page.y0 - 1
                assert box.y1 <= page.y1 + 1

    def test_no_legend_over_data(self, drawings):
        for drawing in drawings.values():
            axes = drawing.figure.axes
            legends = [*drawing.figure.legends, *(one for ax in axes if (one := ax.get_legend()))]
            assert legends
            for ax, legend in itertools.product(axes, legends):
                assert not ax.bbox.overlaps(legend.get_window_extent())


FROM_ANOTHER_PROCESS = """
import pathlib
import sys
import pandas as pd
from pomrl.figures import FIGURES
from pomrl.figures.files import save
save(FIGURES["planning_omrl"].draw(pd.read_parquet(sys.argv[1])), pathlib.Path(sys.argv[2]), "planning_omrl")
"""


class TestFiles:
    @pytest.mark.parametrize("name", FIGURES)
    def test_same_tables_same_bytes(self, name, tmp_path, drawings):
        once = save(drawings[name], tmp_path / "once", name)
        again = save(FIGURES[name].draw(TABLES.copy()), tmp_path / "again", name)
        assert [path.name for path in once] == [f"{name}.pdf", f"{name}.png", f"{name}.csv"]
        for one, other in zip(once, again, strict=True):
            assert one.read_bytes() == other.read_bytes()

    def test_same_bytes_in_another_process(self, tmp_path, drawings):
        here = save(drawings["planning_omrl"], tmp_path / "here", "planning_omrl")
        TABLES.to_parquet(tmp_path / "tables.parquet")
        arguments = [sys.executable, "-c", FROM_ANOTHER_PROCESS, tmp_path / "tables.parquet", tmp_path / "there"]
        subprocess.run(arguments, check=True, env={**os.environ, "PYTHONHASHSEED": "1", "MPLBACKEND": "pdf"})
        for path in here:
            assert path.read_bytes() == (tmp_path / "there" / path.name).read_bytes()

    def test_saving_twice(self, tmp_path, drawings):
        first = [path.read_bytes() for path in save(drawings["pomrl_vs_adapomrl"], tmp_path, "x")]
        assert [path.read_bytes() for path in save(drawings["pomrl_vs_adapomrl"], tmp_path, "x")] == first

    def test_csv_is_the_data(self, tmp_path, drawings):
        drawing = drawings["planning_omrl"]
        path = save(drawing, Path(tmp_path), "figure")[2]
        pd.testing.assert_frame_equal(pd.read_csv(path), drawing.data, check_dtype=False, rtol=1e-14)


def test_the_command_with_nothing_stored_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["figures"])
    with pytest.raises(SystemExit) as end:
        figures_command.main()
    said = capsys.readouterr().err
    assert end.value.code == 1
    assert "python -m src.run experiment=task_similarity" in said
    assert "./reproduce.sh" in said
    assert not list(tmp_path.iterdir())


def test_the_command_refuses_a_name_that_does_not_exist(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["figures", "no_such_figure"])
    with pytest.raises(SystemExit) as end:
        figures_command.main()
    assert end.value.code == 1
    assert "no_such_figure: there is no such figure; there are pomrl_vs_adapomrl" in capsys.readouterr().err
