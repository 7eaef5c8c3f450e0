"""The verdicts under several readings as the report counts them."""

from pathlib import Path

from tests.report.outputs import write_readings

from pomrl.judging.verdict import Verdict
from pomrl.report import readings


def test_readings_are_counted_and_a_cell_may_be_empty(tmp_path: Path) -> None:
    write_readings(tmp_path)
    matrix = readings.read(tmp_path / "readings.csv")
    assert matrix is not None
    assert matrix.readings == ["default", "std"]
    assert ("Q1.3", "std") not in matrix.cells
    assert matrix.count("default", Verdict.REPRODUCED) == 1
    assert matrix.count("std", Verdict.REPRODUCED) == 0
