"""What a figure says of itself: how many runs it shows of those planned, and which series it lacks."""

from dataclasses import replace

import pandas as pd
import pytest
from tests.support.checks import choose, note, whiskers
from tests.support.shipped import FIGURES
from tests.support.synthetic import RUNS, make_sweeps, with_sweep, with_table

from pomrl.drawing.figure import SHADED_BANDS, figure, figure_caption
from pomrl.drawing.series import Drawing, Series
from pomrl.drawing.style import sequence


@pytest.fixture
def similarity(tables) -> pd.DataFrame:
    return tables["task_similarity"]


@pytest.fixture
def draw(sweeps):
    """Draw a figure with another table for the sweep that most figures show."""

    def draw_table(name: str, table: pd.DataFrame) -> Drawing:
        return FIGURES[name].draw(with_table(sweeps, "task_similarity", table))

    return draw_table


@pytest.mark.parametrize(("runs", "message"), [(100, ""), (101, "101 runs instead of 100")])
def test_only_more_runs_than_planned_are_noted(runs: int, message: str) -> None:
    assert note(FIGURES["pomrl_vs_adapomrl"].draw(make_sweeps(runs=runs, tasks=2))) == message


def test_uneven_runs_are_noted(draw, similarity) -> None:
    table = similarity.loc[(similarity["estimator"] != "pomrl") | (similarity["run"] < 3)]
    assert note(draw("pomrl_vs_adapomrl", table)) == "provisional: 3 to 4 of 100 runs"


def test_one_short_curve_makes_a_figure_provisional() -> None:
    sweeps = make_sweeps(runs=100, tasks=2)
    table = sweeps["task_similarity"].table
    few = table.loc[(table["estimator"] != "pomrl") | (table["run"] < 99)]
    drawing = FIGURES["pomrl_vs_adapomrl"].draw(with_table(sweeps, "task_similarity", few))
    assert note(drawing) == "provisional: 99 to 100 of 100 runs"


def test_each_sweep_has_its_own_requested_runs(sweeps) -> None:
    other = with_sweep(sweeps, "states_20", replace(sweeps["states_20"], requested_runs=50))
    expected = f"provisional: {RUNS} of 50 runs\nprovisional: {RUNS} of 20 runs"
    assert note(FIGURES["varyingSmT"].draw(other)) == expected


def test_missing_series_are_omitted_and_named(draw, similarity) -> None:
    without = similarity.loc[(similarity["estimator"] != "oracle") | (similarity["sigma"] != 0.025)]
    drawing = draw("dependence_on_tasksimilarity", without.loc[without["sigma"] < 0.03])
    assert "missing: (b) Oracle prior knowledge; (c) everything; (f) everything" in note(drawing).replace("\n", " ")
    labels = [curve.get_label() for curve in drawing.figure.axes[1].lines]
    assert labels == ["Without meta-learning", "POMRL(σ)", "ada-POMRL"]
    assert choose(drawing.data, panel="b", series="Oracle prior knowledge").empty
    assert not drawing.figure.axes[2].lines


def test_each_kind_of_panel_names_missing_series(sweeps, tables, draw, similarity) -> None:
    without = with_table(sweeps, "gamma_0", tables["gamma_0"].iloc[:0])
    assert "missing: (c) γ₀ = 0.25, γ₀ = 0.3" in note(FIGURES["gamma_schedules"].draw(without))
    drawing = draw("planning_omrl", similarity.loc[similarity["estimator"] != "ada_pomrl"])
    assert "missing: (a) ada-POMRL; (b) everything; (c) Loss at γ*; (d) Best discount factor γ*" in note(
        drawing
    ).replace("\n", " ")
    five_tasks = similarity.loc[similarity["task"] <= 5]
    assert "missing: (b) t = 10, t = 15" in note(draw("planning_omrl", five_tasks))
    assert "(a) tasks 1 to 10, tasks 1 to 15" in note(draw("average_over_tasks", five_tasks))


def test_repeated_runs_are_refused(draw, similarity) -> None:
    with pytest.raises(ValueError, match="got several where"):
        draw("pomrl_vs_adapomrl", pd.concat([similarity, similarity]))


def test_coinciding_curves_have_alternating_dashes(draw, similarity) -> None:
    oracle = similarity.loc[similarity["estimator"] == "oracle"]
    same_curves = [oracle.assign(estimator=name) for name in ("oracle", "pomrl", "ada_pomrl")]
    figure = draw("pomrl_vs_adapomrl", pd.concat(same_curves)).figure
    first, second = figure.axes[0].lines
    assert (first.get_linestyle(), second.get_linestyle()) == ("-", "--")
    assert [entry.get_linestyle() for entry in figure.legends[0].legend_handles] == ["-", "--"]
    assert (first.get_markevery(), second.get_markevery()) == ((0, 2), (1, 2))


def test_three_of_many_bands_are_drawn(drawings) -> None:
    drawing = drawings["omrl_baselines"]
    assert [len(whiskers(ax)) for ax in drawing.figure.axes] == [3, 3, 3]
    assert "Bands" not in drawing.figure.get_suptitle()
    assert SHADED_BANDS in " ".join(figure_caption(FIGURES["omrl_baselines"].docstring).split())
    assert [len(whiskers(ax)) for ax in drawings["fixed_mean_model"].figure.axes] == [4, 4]
    assert SHADED_BANDS not in FIGURES["fixed_mean_model"].docstring


@pytest.mark.parametrize("docstring", ["Title.", "Title.\n\nCaption.", 'Title.\n\nCaption.\n\nThe paper: "Bands."'])
def test_the_note_on_bands_ends_the_caption(docstring: str) -> None:
    def five(data):
        raise NotImplementedError

    five.__doc__ = docstring
    series = [Series(look, "any") for look in sequence(range(5), str).values()]
    caption = figure_caption(figure(points=five, series=series)(five).docstring)
    assert caption.partition("\n\n")[0].removeprefix("Caption. ") == SHADED_BANDS
    assert figure(points=five, series=series[:4])(five).docstring == docstring
