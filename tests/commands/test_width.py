"""What commands print fits 80 columns, and no heading of a table is broken."""

import io
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from rich.table import Table

from pomrl.commands import computing, tables
from pomrl.configuration.parsing import Request
from pomrl.configuration.study import find
from pomrl.configuration.wording import number_of
from pomrl.results.losses import Losses
from pomrl.running.plan import Job, plan


@pytest.fixture(autouse=True)
def outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))


def printed(table: Table) -> list[str]:
    written = io.StringIO()
    Console(file=written, width=80).print(table)
    lines = written.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    return lines


@pytest.mark.parametrize("name", ["task_similarity", "gamma_schedules"])
@pytest.mark.parametrize("numbers", [computing._work, computing._results])
def test_headings_are_whole_and_no_number_is_broken_however_large(
    name: str, numbers: Callable[[Job], Mapping[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = np.full((1, 15, 21), 123456.789)
    monkeypatch.setattr(Losses, "of_experiment", lambda *_: Losses(loss, np.linspace(0.0, 0.9999, 21)))
    jobs = plan([setting.experiment for setting in find("pomrl").settings(name)])
    large = [replace(job, experiment=replace(job.experiment, request=Request(runs=999_999))) for job in jobs]
    lines = printed(computing.table("a title", large, numbers))
    words = {word for line in lines for word in line.split()}
    for job in large:
        assert words >= {*numbers(job), *numbers(job).values()} - {""}


def test_on_a_terminal_a_table_fits_and_elsewhere_it_has_tabs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"task_distribution.measure": "variance", "mean": 0.25, "mean_lower": 0.2, "mean_upper": 0.3, "none": None}
    tables.print_frame(pd.DataFrame([row]))
    assert capsys.readouterr().out == "task_distribution.measure\tmean\tnone\nvariance\t0.250 [0.200, 0.300]\t\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    tables.print_frame(pd.DataFrame([row]))
    lines = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 40


def test_a_number_has_its_word_in_singular_or_plural() -> None:
    assert [number_of(n, "claim") for n in (0, 1, 2, 2000)] == ["0 claims", "1 claim", "2 claims", "2,000 claims"]
