"""What a figure says of itself: how many runs it shows of those promised, and which series it lacks."""

from dataclasses import replace

import pandas as pd
import pytest
from tests.support.checks import choose, note
from tests.support.shipped import FIGURES, OF_SWEEPS
from tests.support.synthetic import RUNS, Lazy, make_sweeps, with_sweep, with_table

from pomrl.drawing import panels
from pomrl.drawing.drawing import COLUMNS, Drawing, Series
from pomrl.drawing.notes import annotate, coinciding
from pomrl.drawing.panels import row_of_panels
from pomrl.drawing.style import Look
from pomrl.results.stored_sweeps import StoredSweep, StoredSweeps


@pytest.fixture(scope="module")
def five_tasks() -> StoredSweeps:
    return make_sweeps(tasks=5)


@pytest.fixture
def similarity(tables) -> pd.DataFrame:
    return tables["task_similarity"]


@pytest.fixture
def draw(sweeps):
    """Draw a figure with another table for the sweep that most figures show."""

    def drawn(name: str, table: pd.DataFrame) -> Drawing:
        return FIGURES[name].draw(with_table(sweeps, "task_similarity", table))

    return drawn


class TestRuns:
    def test_as_many_runs_as_promised(self):
        assert note(FIGURES["pomrl_vs_adapomrl"].draw(make_sweeps(runs=100, tasks=2))) == ""

    def test_more_runs(self):
        drawing = FIGURES["pomrl_vs_adapomrl"].draw(make_sweeps(runs=101, tasks=2))
        assert note(drawing) == "101 runs instead of 100"

    def test_uneven_runs(self, draw, similarity):
        table = similarity.loc[(similarity["estimator"] != "pomrl") | (similarity["run"] < 3)]
        assert note(draw("pomrl_vs_adapomrl", table)) == "provisional: 3 to 4 of 100 runs"

    def test_each_sweep_is_held_to_its_own_promise(self, sweeps):
        other = with_sweep(sweeps, "states_20", replace(sweeps["states_20"], promised=RUNS))
        assert note(FIGURES["varyingSmT"].draw(other)) == f"provisional: {RUNS} of 20 runs"
        other = with_sweep(sweeps, "states_20", replace(sweeps["states_20"], promised=50))
        expected = f"provisional: {RUNS} of 50 runs\nprovisional: {RUNS} of 20 runs"
        assert note(FIGURES["varyingSmT"].draw(other)) == expected

    @pytest.mark.parametrize("n", [0, 200])
    def test_a_simulation_promises_no_runs(self, n):
        series = Series(Look("simulated", "black"), "simulation")
        data = pd.DataFrame([["", "simulated", 0.0, 1.0, 0.5, 1.5, "se", n, False]], columns=COLUMNS)
        figure = panels.blank(3.0, 2.0)
        annotate(figure, data, [series], {"simulation": StoredSweep(pd.DataFrame(), [], None, None)})
        assert figure.get_suptitle() == ""


class TestMissing:
    def test_missing_series_is_left_out_and_named(self, draw, similarity):
        without = similarity.loc[(similarity["estimator"] != "oracle") | (similarity["sigma"] != 0.025)]
        drawing = draw("dependence_on_tasksimilarity", without)
        assert "missing: (b) Oracle prior knowledge" in note(drawing)
        labels = [one.get_label() for one in drawing.figure.axes[1].lines]
        assert labels == ["Without meta-learning", "POMRL(σ)", "ada-POMRL"]
        assert choose(drawing.data, panel="b", series="Oracle prior knowledge").empty

    def test_missing_panel(self, draw, similarity):
        drawing = draw("dependence_on_tasksimilarity", similarity.loc[similarity["sigma"] < 0.03])
        assert "missing: (c) everything; (f) everything" in note(drawing)
        assert not drawing.figure.axes[2].lines

    def test_missing_sweep(self, sweeps, tables):
        without = with_table(sweeps, "gamma_0", tables["gamma_0"].iloc[:0])
        assert "missing: (c) γ₀ = 0.25, γ₀ = 0.3" in note(FIGURES["gamma_schedules"].draw(without))

    def test_missing_estimator_of_two_panels(self, draw, similarity):
        drawing = draw("planning_omrl", similarity.loc[similarity["estimator"] != "ada_pomrl"])
        assert "missing: (a) ada-POMRL; (b) everything; (c) everything" in note(drawing)
        assert [ax.get_legend() is None for ax in drawing.figure.axes] == [False, True, True, True]

    def test_missing_tasks(self, five_tasks):
        assert "missing: (b) t = 10, t = 15" in note(FIGURES["planning_omrl"].draw(five_tasks))

    def test_averages_over_tasks_that_are_missing(self, five_tasks):
        assert "(a) tasks 1 to 10, tasks 1 to 15" in note(FIGURES["average_over_tasks"].draw(five_tasks))


class TestRefusals:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", OF_SWEEPS)
    def test_nothing_of_the_figure(self, name, sweeps):
        nothing = Lazy(sweeps, lambda sweep: replace(sweeps[sweep], table=sweeps[sweep].table.iloc[:0]))
        with pytest.raises(ValueError, match="hold nothing that this figure shows"):
            FIGURES[name].draw(nothing)

    def test_a_column_is_missing(self, draw, similarity):
        with pytest.raises(ValueError, match="no column sigma"):
            draw("planning_omrl", similarity.drop(columns="sigma"))

    def test_two_jobs_of_one_setting(self, draw, similarity):
        with pytest.raises(ValueError, match="several rows"):
            draw("pomrl_vs_adapomrl", pd.concat([similarity, similarity]))


class TestCoinciding:
    def curves(self, **means: list[float]) -> pd.DataFrame:
        points = [pd.DataFrame({"series": name, "x": range(1, 7), "mean": mean}) for name, mean in means.items()]
        return pd.concat(points).assign(panel="c")

    def test_curves_that_hide_one_another_are_named(self):
        data = self.curves(a=[9, 8, 3, 2, 1, 0.0], b=[8, 8, 3, 2, 1, 0.0], other=[9, 8, 3, 2, 1, 0.5])
        assert list(coinciding(data)) == ["(c) a and b coincide from x = 2 on"]
        assert list(coinciding(self.curves(a=[1.0] * 6, b=[1.0] * 6))) == ["(c) a and b coincide"]

    @pytest.mark.parametrize(
        ("labels", "place"),
        [
            (("Task t", "Task t"), "task 2"),
            (("Task t", ""), "task 2"),
            (("Discount factor γ",), "γ = 2"),
            (("Task t", "Discount factor γ"), "x = 2"),
            (("Samples m",), "x = 2"),
        ],
    )
    def test_a_note_speaks_of_what_the_axis_shows(self, labels: tuple[str, ...], place: str):
        figure, axes = row_of_panels(len(labels), 6.0, 2.0)
        for ax, label in zip(axes, labels, strict=True):
            ax.set_xlabel(label)
        data = self.curves(a=[9, 8, 3, 2, 1, 0.0], b=[8, 8, 3, 2, 1, 0.0])
        annotate(figure, data, [], {})
        assert figure.get_suptitle() == f"(c) a and b coincide from {place} on"

    def test_a_short_common_end_does_not_count(self):
        assert not list(coinciding(self.curves(a=[1, 2, 3, 4, 5, 6.0], b=[0, 0, 0, 0, 5, 6.0])))
