"""Tables of two settings, as papers have them."""

import io
import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.support.computed import call, table

from pomrl.commands import run
from pomrl.commands.terminal import print_frame
from pomrl.results.cross_tables import best_columns, caption, cells, cross_table, latex
from pomrl.results.intervals import bootstrap_interval
from pomrl.results.result import Result
from pomrl.results.summaries import ROBUST, summary
from pomrl.results.sweep_results import SweepResults

RUNS = 40
BASE = np.arange(RUNS) / RUNS
WAVE = np.where(np.arange(RUNS) % 2, 0.5, -0.5)
LOSSES = {
    (10, "pomrl"): BASE,
    (10, "ada_pomrl"): BASE + 1.0 + 0.1 * WAVE,
    (10, "oracle"): BASE + 0.001 + WAVE,
    (5, "pomrl"): BASE + 3.0,
    (5, "oracle"): BASE + 2.0,
}
"""The loss in each run by m and estimator: of m = 10, oracle differs from POMRL by less than its error in pairs."""
LABELS = {"estimator": {"pomrl": "POMRL(σ)", "ada_pomrl": "ada_POMRL", "oracle": "50 % & more"}}


def results() -> SweepResults:
    def result(m: int, estimator: str) -> Result:
        loss = np.repeat(LOSSES[m, estimator][:, None, None], 2, axis=1)
        return replace(Result.of_losses(loss, np.array([0.99])), settings={"m": m, "estimator": estimator})

    return SweepResults(("m", "estimator"), [*LOSSES], [result(*cell) for cell in LOSSES])


def made_up(**options: object) -> pd.DataFrame:
    return cross_table(results(), "m", "estimator", labels=LABELS, **options)  # pyright: ignore[reportArgumentType]


def test_cells_have_means_and_students_intervals() -> None:
    frame = made_up()
    assert frame["m"].tolist() == [5, 10]
    assert list(frame)[1::3] == ["POMRL(σ)", "ada_POMRL", "50 % & more"]
    for row, m in enumerate((5, 10)):
        for estimator, label in LABELS["estimator"].items():
            numbers = frame.loc[row, [label, f"{label}_lower", f"{label}_upper"]].astype(float)
            if (m, estimator) in LOSSES:
                interval = stats.ttest_1samp(LOSSES[m, estimator], 0.0).confidence_interval()
                np.testing.assert_allclose(numbers, [LOSSES[m, estimator].mean(), *interval])
            else:
                assert np.isnan(numbers.to_numpy()).all()
    half = stats.t.ppf(0.975, RUNS - 1) * stats.sem(BASE)
    assert cells(frame)["POMRL(σ)"].tolist() == [
        f"{BASE.mean() + 3:.3f} ± {half:.3f}",
        f"{BASE.mean():.3f} ± {half:.3f}",
    ]
    assert cells(frame)["ada_POMRL"].tolist()[0] == "-"


def test_best_includes_insignificant_differences() -> None:
    frame = made_up(marks_best=True)
    assert frame["best"].tolist() == ["50 % & more", "POMRL(σ); 50 % & more"]
    low, _ = stats.ttest_1samp(LOSSES[10, "oracle"] - BASE, 0.0).confidence_interval()
    assert low < 0
    starred = cells(frame).map(lambda cell: str(cell).endswith(" *"))
    assert starred.to_numpy()[:, 1:].tolist() == [[False, False, True], [True, False, True]]
    assert str(cells(frame, "markdown").iloc[0, 3]).startswith("**")
    assert "contains 0" in caption(frame, "text")
    assert "contains 0" not in caption(made_up(), "text")


@pytest.mark.parametrize("statistic", ROBUST)
def test_other_statistics_have_interval_ends(statistic: str) -> None:
    texts = cells(made_up(statistic=statistic))
    for estimator, label in LABELS["estimator"].items():
        interval = bootstrap_interval(LOSSES[10, estimator][None], ROBUST[statistic])
        assert texts[label][1] == interval.text()


def test_latex_is_balanced_and_escaped() -> None:
    text = latex(made_up(marks_best=True))
    begun, ended = (re.findall(rf"\\{command}{{(\w+)}}", text) for command in ("begin", "end"))
    assert begun == ended[::-1] == ["table", "tabular"]
    assert text.isascii()
    assert text.count("{") == text.count("}")
    assert text.count("$") % 2 == 0
    assert not re.search(r"(?<!\\)%", text)
    assert re.findall(r"\\(caption|label|toprule|midrule|bottomrule)\b", text) == [
        *("caption", "label", "toprule", "midrule", "bottomrule")
    ]
    rows = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0].splitlines()
    assert [len(re.split(r"(?<!\\)&", row)) for row in rows] == [4, 4]
    assert r"m & POMRL($\sigma$) & ada\_POMRL & 50 \% \& more \\" in text
    assert r"\textbf{" in rows[0].split("&")[3]


def test_a_terminal_of_80_columns_has_room(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    print_frame(cells(made_up(marks_best=True)))
    lines = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) >= 4


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ("m", None, "columns must be a setting that varies (m, estimator), got none"),
        ("S", "estimator", "rows must be a setting that varies (m, estimator), got S"),
        (
            "estimater",
            "estimator",
            "rows must be a setting that varies (m, estimator), got estimater (did you mean estimator?)",
        ),
        ("estimator", "estimator", "rows and columns must be two settings, got estimator twice"),
        ("estimator", "m", "columns must be a setting of estimator, "),
    ],
)
def test_settings_that_make_no_table_are_refused(rows: str, columns: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        cross_table(results(), rows, columns, marks_best=True)


def test_ambiguous_cells_name_their_difference() -> None:
    result, *_ = results().results
    settings = [(10, "pomrl", 0), (10, "pomrl", 1)]
    keys = ("m", "estimator", "seed")
    ambiguous = SweepResults(
        keys, settings, [replace(result, settings=dict(zip(keys, cell, strict=True))) for cell in settings]
    )
    with pytest.raises(ValueError, match="also differ in seed"):
        cross_table(ambiguous, "m", "estimator")


def test_the_command_prints_it_in_each_form(empty_outputs: object) -> None:
    assert call(run, "-m", "estimator=pomrl,without_meta", "sigma=0.01,0.02", "T=2", "S=3", "runs=3")[0] == 0
    arguments = ("--rows", "sigma", "--columns", "estimator", "--best", "bold", "--format")
    _, text, messages = call(table, *arguments, "text")
    assert "3 runs ± half the width" in " ".join(messages.split())
    assert text.splitlines()[0] == "sigma\tPOMRL(σ)\tWithout meta-learning"
    _, markdown, _ = call(table, *arguments, "markdown")
    assert len(markdown.splitlines()) == 4
    _, csv, _ = call(table, *arguments, "csv")
    assert pd.read_csv(io.StringIO(csv))["sigma"].tolist() == [0.01, 0.02]
    _, tex, messages = call(table, *arguments, "latex")
    assert r"\caption{Planning loss at $\gamma_{\mathrm{eval}}$" in tex
    assert messages == ""
    assert call(table, "--rows", "sigma")[2] == "columns must be a setting that varies (sigma, estimator), got none\n"


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_single_runs_have_no_significant_difference(statistic: str) -> None:
    samples = {"a": np.array([0.3]), "b": np.array([0.4]), "unknown": np.array([np.nan])}
    assert best_columns(samples, statistic) == ["a", "b"]
    assert best_columns({"unknown": np.array([np.nan, np.nan])}, statistic) == []


def test_an_unknown_mean_is_not_the_smallest() -> None:
    samples = {"unknown": np.full(5, np.nan), "a": BASE[:5], "b": BASE[:5] + 1.0}
    assert best_columns(samples, "mean") == ["a"]


def test_best_columns_may_be_numbers() -> None:
    assert best_columns({0.1: BASE, 0.5: BASE + 1.0}, "mean") == ["0.1"]


@pytest.mark.parametrize("statistic", ["iqm", "median"])
def test_few_runs_have_no_bootstrap_interval(statistic: str) -> None:
    for n in (1, 2, 4):
        assert np.isnan(summary(BASE[:n], statistic).lower)
    assert summary(BASE[:5], statistic).lower < summary(BASE[:5], statistic).upper
