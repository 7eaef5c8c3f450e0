"""Tables that are read back from CSV have the texts and the numbers that were written, also where cells are empty."""

from pathlib import Path

import pandas as pd

from pomrl.report.stored_tables import read_table
from pomrl.store.derived import DerivedFiles


def test_texts_stay_texts_and_numbers_stay_numbers(tmp_path: Path) -> None:
    written = pd.DataFrame(
        {
            "claim": ["NA", "None", ""],
            "reason": ["", "", ""],
            "estimate": [0.1 + 0.2, None, float("inf")],
            "runs": [1, 2, 3],
            "decisive": [True, False, True],
        }
    )
    DerivedFiles(tmp_path / "table.json").write({"table.csv": written.to_csv(index=False).encode()}, {})
    found = read_table(tmp_path / "table.csv", "this test", ("reason",))
    assert found is not None
    pd.testing.assert_frame_equal(found, written, check_dtype=False, check_exact=True)
    assert (found["decisive"].dtype, found["runs"].dtype) == (bool, int)
