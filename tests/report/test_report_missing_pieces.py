"""The page where pieces are missing, or were written by another version."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
from tests.support.computed import call
from tests.support.computed import report as command
from tests.support.elements import assert_closed
from tests.support.report_outputs import DRAWN, FIGURES, copied_figures, html_of, of_study

from pomrl import store
from pomrl.store.derived import DerivedFiles

pytestmark = pytest.mark.slow


def test_with_nothing_stored_the_command_says_what_to_run(empty_outputs: Path) -> None:
    status, out, err = call(command, "pomrl2023")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "run `pomrl reproduce pomrl2023`" in err
    assert not list(empty_outputs.iterdir())


def test_claims_alone_and_figures_alone(folder: Path, empty_outputs: Path) -> None:
    of_study(empty_outputs).mkdir(parents=True)
    for name in ("claims.csv", "claims.json"):
        shutil.copy(of_study(folder) / name, of_study(empty_outputs))
    actual = html_of("pomrl2023")
    assert actual.count("Not drawn yet.") == len(FIGURES)
    assert "curves-data" not in actual
    assert "<img" not in actual
    for name in ("claims.csv", "claims.json"):
        (of_study(empty_outputs) / name).unlink()
    copied_figures(folder, empty_outputs)
    actual = html_of("pomrl2023")
    assert actual.count("<img") == len(DRAWN)
    assert "pomrl reproduce pomrl2023" in actual
    assert_closed(actual)


@pytest.mark.parametrize(("column", "value"), [("statement", None), ("verdict", "perhaps")])
def test_claims_of_another_version(folder: Path, empty_outputs: Path, column: str, value: str | None) -> None:
    table = pd.read_csv(of_study(folder) / "claims.csv")
    changed = table.drop(columns=column) if value is None else table.assign(**{column: value})
    content = {"claims.csv": changed.to_csv(index=False).encode()}
    DerivedFiles(of_study(empty_outputs) / "claims.json").write(content, {})
    with pytest.raises(store.StoreError, match="by another version"):
        html_of("pomrl2023")
