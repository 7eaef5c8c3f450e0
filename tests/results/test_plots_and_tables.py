"""Plots and tables of one's own sweeps, and the robust summaries in them."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.support.computed import call, plot, table

from pomrl import store
from pomrl.commands import plots_and_tables, run
from pomrl.drawing.plots import PlotOptions, draw
from pomrl.results import intervals
from pomrl.results.intervals import band
from pomrl.results.selection import choose
from pomrl.results.summaries import interquartile_mean, median, paired_difference, summary

SWEEP = ("-m", "estimator=pomrl,ada_pomrl", "sigma=0.01,0.02,0.03", "T=3", "S=4", "runs=6")


@pytest.fixture(scope="module", autouse=True)
def computed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compute a sweep, and an experiment beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(tmp_path_factory.mktemp("outputs")))
        assert call(run, "T=2", "runs=2")[0] == 0
        assert call(run, *SWEEP)[0] == 0
        yield


def outputs() -> Path:
    return store.root().parent


def frame(*arguments: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(call(table, *arguments, "--format", "csv")[1]))


class TestTables:
    def test_each_row_summarises_an_experiment(self) -> None:
        row = frame("--where", "S=4", "--task", "last").query("sigma == 0.02 and estimator == 'pomrl'").iloc[0]
        (stored,) = store.find(S=4, sigma=0.02, estimator="pomrl")
        rows = stored.table().query("task == 3 and gamma == 0.99")["planning_loss"]
        interval = stats.ttest_1samp(rows, 0.0).confidence_interval()
        np.testing.assert_allclose(row[["mean", "mean_lower", "mean_upper"]].astype(float), [rows.mean(), *interval])
        assert row["median"] == pytest.approx(rows.median())
        assert row["iqm"] == pytest.approx(np.sort(rows)[1:-1].mean())

    def test_methods_are_compared_in_pairs(self) -> None:
        rows = frame("--where", "S=4", "--against", "estimator=pomrl", "--statistic", "mean")
        assert rows.query("estimator == 'pomrl'")["mean_difference"].isna().all()
        row = rows.query("estimator == 'ada_pomrl' and sigma == 0.03").iloc[0]
        a, b = (regrets(estimator) for estimator in ("pomrl", "ada_pomrl"))
        interval = stats.ttest_1samp(b - a, 0.0).confidence_interval()
        difference = row[["mean_difference", "mean_difference_lower", "mean_difference_upper"]].astype(float)
        np.testing.assert_allclose(difference, [(b - a).mean(), *interval])

    def test_papers_get_booktabs(self) -> None:
        _, latex, _ = call(table, "--where", "S=4", "--statistic", "median", "--format", "latex")
        lines = latex.splitlines()
        assert (lines[1], lines[2]) == (r"\toprule", r"sigma & estimator & runs & median \\")
        assert [line.count("&") for line in lines if line.endswith(r"\\")] == [3] * 7
        assert r"0.01 & ada\_pomrl & 6 & " in latex
        _, markdown, _ = call(table, "--where", "S=4", "--statistic", "median", "--format", "markdown")
        assert markdown.splitlines()[1] == "| --- | --- | --- | --- |"

    @pytest.mark.parametrize(
        ("arguments", "status", "message"),
        [
            ("S=5", 1, "no stored runs for S=5"),
            ("--against sigma=0.01", 1, "runs of different problems cannot be paired"),
            ("--where S=4 --against estimator=oracle", 1, "estimator=oracle: no selected experiment matches"),
            (
                "m=2 --where S=4",
                1,
                "no stored runs for m=2 S=4; omitted keys have their defaults, except with where alone",
            ),
            ("tag=frist", 1, "tag=frist: unknown tag (did you mean first?); available: first, samples"),
            ("tag=first --y value", 1, "experiments are stored without the metric value; add metric=value to their"),
            ("--where S=4 --y value", 1, "experiments are stored without the metric value; add metric=value to their"),
            ("SIGNATURE --y value", 1, "experiments are stored without the metric value; add metric=value to their"),
            ("--where S=4 --task 4", 1, "task must be all, first, last or 1 to 3, got 4"),
            ("--where S=4 --task x", 2, "argument --task: must be all, first, last, or a number, got x"),
        ],
    )
    def test_mistakes_are_one_line(self, arguments: str, status: int, message: str) -> None:
        for tag in ("first", "samples"):
            assert call("runs", "S=4", "--tag", tag)[0] == 0
        (stored,) = store.find(S=4, sigma=0.02, estimator="pomrl")
        exit_status, out, err = call(table, *arguments.replace("SIGNATURE", stored.signature).split())
        assert (exit_status, out, err.count("\n")) == (status, "", 1)
        assert message in err

    def test_varying_fields_of_options_have_columns(self, empty_outputs: Path) -> None:
        small = ("T=2", "S=3", "runs=2", "gamma_schedule.gammas=[0.0,0.5]")
        call(run, "-m", *small, "estimator=pomrl,ada_pomrl", "estimator.prior=uniform,inclusive")
        rows = frame("--where", "T=2")
        assert rows[["estimator", "estimator.prior"]].drop_duplicates().shape == (4, 2)
        err = call(table, "--against", "estimator=pomrl")[2]
        assert "estimator=pomrl: several experiments match, which differ in estimator.prior" in err
        assert call(table, "--against", "estimator=pomrl", "--against", "estimator.prior=uniform")[0] == 0

    def test_pairs_are_shared_runs_without_empty_cells(self, empty_outputs: Path) -> None:
        small = ("T=2", "S=3", "gamma_schedule.gammas=[0.0,0.5]")
        for estimator, runs in (("pomrl", 5), ("oracle", 3)):
            call(run, *small, f"estimator={estimator}", f"runs={runs}")
        rows = frame("--against", "estimator=pomrl", "--statistic", "mean")
        assert rows[["estimator", "runs", "pairs"]].to_numpy().tolist() == [["oracle", 3, 3], ["pomrl", 5, 5]]
        single_method = frame("estimator=pomrl", *small, "--statistic", "mean")
        assert single_method["mean"].item() == rows["mean"][1]
        _, out, err = call(table, "--against", "estimator=pomrl", "--statistic", "mean")
        assert "3 to 5 runs of 2 experiments" in err
        assert "" not in [cell for line in out.splitlines() for cell in line.split("\t")]

    def test_argumentsmean_the_same_as_for_run(self) -> None:
        arguments = "estimator=pomrl,ada_pomrl", "sigma=0.02", "T=3", "S=4"
        assert list(frame(*arguments, "runs=4")[["estimator", "runs"]].to_numpy().tolist()) == [
            ["ada_pomrl", 4],
            ["pomrl", 4],
        ]
        assert call("runs", "S=4", "--tag", "fours")[0] == 0
        for few in ("--where S=4 runs=4", "runs=4 tag=fours", "tag=fours --where runs=4"):
            assert {*frame(*few.split())["runs"]} == {4}
        assert "runs=0: Input should be greater than or equal to 1" in call(table, "tag=fours", "runs=0")[2]
        status, _, err = call(table, *arguments[:3])  # with the default of S
        assert (status, "no stored runs for" in err) == (1, True)
        assert "1 of 2 selected experiments has no runs" in call(table, *arguments[1:], "estimator=pomrl,oracle")[2]


class TestPlots:
    @pytest.mark.parametrize("x", ["task", "gamma", "sigma"])
    def test_plots_have_means_and_bands_over_runs(self, x: str) -> None:
        status, out, err = call(plot, "--where", "S=4", "--x", x, "--name", f"by_{x}", "--band", "se")
        assert status == 0, err
        assert [Path(line).suffix for line in out.split()] == [".pdf", ".png", ".csv", ".json"]
        points = pd.read_csv(outputs() / "plots" / f"by_{x}.csv").query("estimator == 'pomrl' and sigma == 0.01")
        tables = store.find(S=4, sigma=0.01, estimator="pomrl")[0].table()
        rows = tables if x == "gamma" else tables.query("gamma == 0.99")
        by = ["run", x] if x != "sigma" else ["run"]
        expected = band(rows.groupby(by, as_index=False)["planning_loss"].mean().assign(sigma=0.01), [x], kind="se")
        np.testing.assert_allclose(points[["mean", "lower", "upper"]], expected[["mean", "lower", "upper"]])

    def test_files_are_named_after_their_arguments(self) -> None:
        status, out, err = call(plot, "--where", "S=4", "--band", "sd")
        assert status == 0, err
        assert [Path(line).stem for line in out.split()] == ["planning_loss_where_S_4_band_sd"] * 4
        names = {plots_and_tables.short_name([f"sigma={','.join(map(str, range(100)))},{last}"]) for last in "ab"}
        assert [len(name) for name in names] == [plots_and_tables.MAX_NAME_CHARACTERS] * 2

    def test_differences_are_those_of_pairs_of_runs(self) -> None:
        assert call(plot, "--where", "S=4", "sigma=0.01", "--against", "estimator=pomrl", "--task", "last",
                    "--x", "estimator", "--name", "pairs")[0] == 0  # fmt: skip
        (row,) = pd.read_csv(outputs() / "plots" / "pairs.csv").to_dict("records")
        losses = [
            store.find(S=4, sigma=0.01, estimator=name)[0].table().query("task == 3 and gamma == 0.99")["planning_loss"]
            for name in ("ada_pomrl", "pomrl")
        ]
        interval = stats.ttest_rel(losses[0], losses[1]).confidence_interval()
        np.testing.assert_allclose([row["lower"], row["upper"]], [*interval])
        assert row["mean"] == pytest.approx(np.mean(losses[0].to_numpy() - losses[1].to_numpy()))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("--y gamma --x gamma", "x and y must differ, got gamma for both"),
            ("--task 2", "task must be all if x is the task, got 2; choose another x"),
            (
                "--x gama",
                "gama: not all of these experiments have this setting (did you mean gamma?); available: task, ",
            ),
            ("--x tasks", "tasks: not all of these experiments have this setting (did you mean task?); available: "),
            ("--hue sgma", "must be settings of the experiments, got 'sgma' (did you mean sigma?); varying: "),
            ("--x sgma", "sgma: not all of these experiments have this setting (did you mean sigma?); available: "),
            (
                "estimator=pomrl --against estimator=pomrl",
                "all selected experiments have estimator=pomrl, the reference method",
            ),
            ("--hue nosuch", "hue, col and row must be settings of the experiments, got 'nosuch'; varying: "),
            ("--x gamma --col task", "hue, col and row must be settings of the experiments, got 'task'; varying: "),
        ],
    )
    def test_meaningless_plots_are_one_line(self, arguments: str, message: str) -> None:
        status, _, err = call(plot, "--where", "S=4", *arguments.split())
        assert (status, err.count("\n")) == (1, 1)
        assert message in err

    def test_indistinguishable_settings_are_named(self) -> None:
        status, _, err = call(plot, "--hue", "S", "--col", "T", "--row", "sigma")
        assert (status, err.count("\n")) == (1, 1)
        assert "estimator=..." in err

    def test_panels_may_mix_numbers_and_text(self, empty_outputs: Path) -> None:
        for settings in (("sigma=0.01", "start=1"), ("sigma=0.02", "start=[0.5,0.5,0,0]")):
            assert call(run, *settings, "loss=mean", "S=4", "T=2", "runs=2")[0] == 0
        assert call(plot, "--col", "sigma", "--row", "start", "--name", "panels") == (0, ANY, ANY)
        assert (empty_outputs / "plots" / "panels.csv").exists()

    @pytest.mark.usefixtures("empty_outputs")
    def test_methods_need_a_common_gamma(self) -> None:
        small = ("T=2", "S=3", "runs=2", "gamma_schedule=fixed,dong")
        assert call(run, "-m", *small)[0] == 0
        status, _, err = call(plot, "--x", "gamma", "--against", "gamma_schedule=dong")
        assert status == 1
        assert err.startswith("no selected experiment shares a run and a gamma with gamma_schedule=dong; ")

    def test_axes_name_discount_factor_task_and_similarity(self) -> None:
        results = choose(where={"S": 4})
        figure = draw(results, "sigma", options=PlotOptions(tasks="last")).figure
        assert " ".join(figure.axes[0].get_ylabel().split()) == "Planning loss, γ = 0.99, last task"
        assert figure.axes[0].get_xlabel() == "σ"
        assert [ax.get_title(loc="left") for ax in draw(results).figure.axes] == ["σ = 0.01", "σ = 0.02", "σ = 0.03"]
        against_gamma = draw(results, "gamma").figure.axes[0].get_ylabel()
        assert " ".join(against_gamma.split()) == "Planning loss, mean over tasks"

    def test_a_plot_names_the_reading(self, empty_outputs: Path) -> None:
        settings = ("reading=printed", "T=2", "S=3", "runs=2", "gamma_schedule.gammas=[0.0,0.5]")
        assert call(run, *settings)[0] == 0
        assert draw(choose(settings)).figure.get_suptitle().startswith("Reading: printed. ")

    def test_standard_deviations_do_not_set_the_axes(self) -> None:
        drawing = draw(choose(where={"S": 4}), options=PlotOptions("sd"))
        assert drawing.figure.axes[0].get_ylim()[1] < 1.1 * drawing.data["mean"].max() < drawing.data["upper"].max()


class TestSeeds:
    SMALL = ("-m", "T=2", "S=3", "gamma_schedule.gammas=[0.0,0.5]", "estimator=pomrl,ada_pomrl", "runs=4")

    @pytest.mark.usefixtures("empty_outputs")
    def test_runs_of_several_seeds_are_pooled(self) -> None:
        call(run, *self.SMALL, "seed=1,2,3")
        drawing = draw(choose())
        assert {*drawing.data["n"]} == {12}
        rows = frame("--against", "estimator=pomrl", "--statistic", "mean")
        assert rows[["estimator", "runs", "pairs"]].to_numpy().tolist() == [["ada_pomrl", 12, 12], ["pomrl", 12, 12]]
        losses = pd.concat([stored.table().query("gamma == 0.5") for stored in store.find(estimator="pomrl")])
        assert rows.query("estimator == 'pomrl'")["mean"].item() == pytest.approx(losses["planning_loss"].mean())
        assert {*draw(choose(), "seed").data["n"]} == {4}

    @pytest.mark.usefixtures("empty_outputs")
    def test_methods_with_different_seeds_stay_apart(self) -> None:
        call(run, *self.SMALL, "seed=1,2")
        call(run, *self.SMALL, "seed=3", "estimator=pomrl")
        assert {*frame()["runs"]} == {4}


class TestCommonRuns:
    SMALL = ("T=2", "S=3", "gamma_schedule.gammas=[0.0,0.5]")

    def test_methods_are_compared_over_common_runs(self, empty_outputs: Path) -> None:
        call(run, *self.SMALL, "estimator=pomrl", "runs=9")
        call(run, "-m", *self.SMALL, "estimator=pomrl,oracle,without_meta", "sigma=0.01,0.02", "runs=4")
        call(run, *self.SMALL, "sigma=0.02", "estimator=oracle", "runs=6")
        assert frame("--where", "estimator=pomrl", "sigma=0.01")["runs"].tolist() == [9]
        assert call(plot, "--name", "common")[0] == 0
        points = pd.read_csv(empty_outputs / "plots" / "common.csv")
        assert {*points["n"]} == {4}
        first_tasks = points.query("task == 1 and sigma == 0.01").set_index("estimator")["mean"]
        assert first_tasks["pomrl"] == first_tasks["without_meta"]  # it has no earlier tasks
        sources = json.loads((empty_outputs / "plots" / "common.json").read_text())["sweeps"]["stored"]
        assert {source["runs"] for source in sources} == {4}
        _, out, err = call(table, "--rows", "sigma", "--columns", "estimator", "--best", "bold")
        assert "mean over 4 runs that all methods have ±" in err
        mean = store.find(sigma=0.01, estimator="pomrl")[0].mean_losses(4)[0].mean()
        assert f"{mean:.3f} ± " in out.splitlines()[1]
        assert frame()["runs"].tolist().count(9) == 1  # a list has all runs

    @pytest.mark.usefixtures("empty_outputs")
    def test_experiments_of_other_problems_keep_their_runs(self) -> None:
        for sigma, runs in ((0.01, 3), (0.02, 5)):
            call(run, "-m", *self.SMALL, f"sigma={sigma}", "estimator=pomrl,oracle", f"runs={runs}")
        results = choose()
        assert results.with_common_runs() is results
        call(run, *self.SMALL, "sigma=0.01", "estimator=oracle", "runs=8")
        points = draw(choose()).data
        assert {*points["n"]} == {3, 5}
        results = choose().with_common_runs()
        assert sorted(results.runs) == [3, 3, 5, 5]
        assert results.with_common_runs().has_only_common_runs
        assert "3 to 5 runs that all methods have" in call(table, "--rows", "sigma", "--columns", "estimator")[2]

    @pytest.mark.usefixtures("empty_outputs")
    def test_hindsight_chooses_by_the_common_runs(self) -> None:
        arguments = ("T=2", "S=3", "gamma_schedule=best_fixed", "estimator=pomrl,oracle")
        call(run, "-m", "T=2", "S=3", "estimator=pomrl", "runs=7")
        call(run, "-m", "T=2", "S=3", "estimator=oracle", "runs=4")
        common, requested = choose(arguments).with_common_runs(), choose([*arguments, "runs=4"])
        for a, b in zip(common.results, requested.results, strict=True):
            np.testing.assert_array_equal(a.loss, b.loss)


class TestSummaries:
    @pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 200])
    def test_summaries_equal_other_libraries(self, n: int) -> None:
        sample = np.random.default_rng(n).normal(size=(5, n))
        np.testing.assert_array_equal(median(sample), np.median(sample, axis=-1))
        np.testing.assert_allclose(interquartile_mean(sample), stats.trim_mean(sample, 0.25, axis=-1), rtol=1e-13)
        sample[0, 0] = np.nan
        np.testing.assert_array_equal(median(sample), np.median(sample, axis=-1))

    def test_one_extreme_run_moves_only_the_mean(self) -> None:
        sample = np.random.default_rng(1).exponential(size=200)
        extreme = np.where(np.arange(200) == 0, 1e6, sample)
        for name, limit in (("iqm", 0.02), ("median", 0.02)):
            assert abs(summary(extreme, name).estimate - summary(sample, name).estimate) < limit
            assert summary(extreme, name).upper < 2.0
        assert summary(extreme, "mean").estimate > 1000

    def test_pairs_are_resampled_together(self) -> None:
        rng = np.random.default_rng(2)
        a = rng.exponential(5.0, size=100)
        b = a - 0.1 + 0.01 * rng.standard_normal(100)
        for name in ("mean", "iqm", "median"):
            interval = paired_difference(a, b, name)
            assert -0.15 < interval.lower <= interval.estimate <= interval.upper < -0.05


def regrets(estimator: str) -> np.ndarray:
    selected = choose(where={"S": 4, "sigma": 0.03, "estimator": estimator})
    rows = selected.stored[0].table().query("gamma == 0.99")
    return rows.groupby("run")["planning_loss"].mean().to_numpy()


@pytest.mark.parametrize("at_once", [1, 700, 10**9])
def test_resamples_at_once_change_no_interval(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    a, b = np.random.default_rng(0).exponential(size=(2, 301))
    whole = summary(a, "iqm"), paired_difference(a, b, "median")
    monkeypatch.setattr(intervals, "MAX_RESAMPLED_RUNS", at_once)
    assert (summary(a, "iqm"), paired_difference(a, b, "median")) == whole
