"""Tables that are read back from CSV have the texts and the numbers that were written, also where cells are empty."""

from pathlib import Path

import pandas as pd

from pomrl.store.derived import DerivedFiles, read_rows, write_table


def test_rows_are_texts_without_empty_cells(tmp_path: Path) -> None:
    written = pd.DataFrame(
        {"claim": ["NA", ""], "x": [0.25, float("inf")], "runs": [1, None], "decisive": [True, False]}
    )
    write_table(written, tmp_path / "table.csv", "this test")
    first, second = {"claim": "NA", "x": "0.25", "runs": "1", "decisive": "True"}, {"x": "inf", "decisive": "False"}
    assert read_rows(tmp_path / "table.csv") == [first, second]


def test_tables_have_provenance_and_six_digits(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"x": [0.1 + 0.2, 1 / 3]}), tmp_path / "table.csv", "this test", {"more": 1})
    assert (tmp_path / "table.csv").read_bytes() == b"x\n0.3\n0.333333\n"
    sidecar = DerivedFiles(tmp_path / "table.json").read_sidecar()
    assert (sidecar["command"], sidecar["more"]) == ("this test", 1)
