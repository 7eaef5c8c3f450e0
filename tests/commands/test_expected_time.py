"""./reproduce.sh says how long it takes: the published run, scaled by the cores and the speed of this machine."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.computed import call
from tests.support.settings import ROOT, STUDIES
from tests.support.study_folders import SMALL, write

from pomrl.commands import reproduce
from pomrl.commands.expected_time import describe, expected_seconds

TIMES = STUDIES / "pomrl2023/pages/times.csv"

ROWS = [
    {"stage": "sweeps", "seconds": "600", "cores": "2", "loop_seconds": "0.01"},
    {"stage": "claims", "seconds": "60", "cores": "2", "loop_seconds": "0.01"},
]


@pytest.mark.parametrize(
    ("cores", "loop", "seconds"), [(2, 0.01, 660), (2, 0.02, 1320), (4, 0.01, 360), (1, 0.01, 1260)]
)
def test_slow_machines_take_longer_than_shared_cores(cores: int, loop: float, seconds: float) -> None:
    assert expected_seconds(ROWS, cores, loop) == pytest.approx(seconds)


def test_the_range_has_a_margin() -> None:
    expected = "The published run took 11 minutes on 2 cores. Here, on 4, expect 4 to 8 minutes, after"
    assert describe(ROWS, 4, 0.01).startswith(expected)


def test_it_needs_no_package() -> None:
    """The script says it before it installs any."""
    program = [sys.executable, "-S", "-m", "pomrl.commands.expected_time", str(TIMES)]
    done = subprocess.run(program, env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=True)
    assert re.search(r"on \d+ cores\. Here, on \d+, expect \d+ to \d+ minutes", done.stderr)


def test_only_complete_runs_write_their_times(cwd: Path) -> None:
    write(cwd / "mine", {name: SMALL[name] for name in ("study.yaml", "sweeps/first.yaml")})
    times = cwd / "outputs/studies/mine/times.csv"
    assert call(reproduce, "mine")[0] == 0
    rows = list(csv.DictReader(times.read_text().splitlines()))
    assert [row["stage"] for row in rows] == ["sweeps", "pages", "report"]
    assert rows[0].keys() == ROWS[0].keys()
    times.unlink()
    assert call(reproduce, "mine")[0] == 0
    assert not times.exists()
