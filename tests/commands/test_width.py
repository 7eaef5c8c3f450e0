"""What commands print fits 80 columns, and no heading of a table is broken."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table
from tests.support.computed import call

from pomrl.commands import diff, reproduce, tables
from pomrl.configuration.composition import Composer
from pomrl.configuration.parsing import Request
from pomrl.configuration.study import find, shipped
from pomrl.configuration.wording import number_of
from pomrl.running.plan import Job, plan


@pytest.fixture(autouse=True)
def outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))


def test_the_tables_of_diff_fit_and_no_other_sweep_is_composed(monkeypatch: pytest.MonkeyPatch) -> None:
    composed: list[tuple[str, ...]] = []
    one = Composer.one
    monkeypatch.setattr(Composer, "one", lambda self, words: composed.append(tuple(words)) or one(self, words))
    status, printed, _ = call(diff, "estimator=pomrl", "estimator=ada_pomrl", "--markdown")
    assert status == 1
    assert max(map(len, printed.splitlines())) < 120
    assert "task_similarity" in printed
    assert all(len(words) == 1 for words in composed)  # the sides, and sweeps without their axes
    assert len(composed) <= 2 * sum(len(study.sweeps) for study in shipped())


@pytest.mark.parametrize("names", [("task_similarity",), ("notebook_states_20", "gamma_schedules"), ("theory",)])
def test_headings_of_results_are_whole(names: tuple[str, ...]) -> None:
    settings = [setting for name in names for setting in find("pomrl").settings(name)]
    jobs = plan([setting.experiment for setting in settings])
    written = io.StringIO()
    Console(file=written, width=80).print(tables.results(jobs))
    lines = written.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[2].split()[-6:] == ["runs", "new", "first", "last", "minimum", "gamma*"]


@pytest.mark.parametrize("table", [tables.plan, tables.results])
def test_no_number_is_broken_however_large(
    table: Callable[[list[Job]], Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_losses", lambda _: ["123456.789", "123456.788", "123456.787", "0.9999"])
    jobs = plan([setting.experiment for setting in find("pomrl").settings("task_similarity")])
    large = [replace(job, experiment=replace(job.experiment, request=Request(runs=999_999))) for job in jobs]
    written = io.StringIO()
    made = table(large)
    Console(file=written, width=80).print(made)
    lines = written.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    cells = {str(cell) for column in made.columns[1:] for cell in column.cells}
    assert cells <= {word for line in lines for word in line.split()}


def test_the_times_of_stages_are_below_each_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reproduce, "stages", lambda *_: {"sweeps": lambda: None, "a longer name": lambda: None})
    monkeypatch.setattr("sys.argv", ["pomrl reproduce", "pomrl"])
    reproduce.main()
    first, second = capsys.readouterr().err.splitlines()[-2:]
    assert first.index(" s", 20) == second.index(" s", 20)


def test_a_number_has_its_word_in_singular_or_plural() -> None:
    assert [number_of(n, "claim") for n in (0, 1, 2, 2000)] == ["0 claims", "1 claim", "2 claims", "2,000 claims"]
