"""The page where pieces are missing, or were written by another version."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
from tests.support.computed import call
from tests.support.computed import report as command
from tests.support.elements import assert_closed
from tests.support.report_outputs import DRAWN, FIGURES, copied_figures, study_folder, study_html

from pomrl import store
from pomrl.store.derived import DerivedFiles

pytestmark = pytest.mark.slow


def test_an_empty_store_names_the_command(empty_outputs: Path) -> None:
    status, out, err = call(command, "pomrl2023")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "run `pomrl reproduce pomrl2023`" in err
    assert not list(empty_outputs.iterdir())


def test_claims_alone_and_figures_alone(folder: Path, empty_outputs: Path) -> None:
    study_folder(empty_outputs).mkdir(parents=True)
    for name in ("claims.csv", "claims.json"):
        shutil.copy(study_folder(folder) / name, study_folder(empty_outputs))
    actual = study_html("pomrl2023")
    assert actual.count("Not drawn yet.") == len(FIGURES)
    assert "curves-data" not in actual
    assert "<img" not in actual
    for name in ("claims.csv", "claims.json"):
        (study_folder(empty_outputs) / name).unlink()
    copied_figures(folder, empty_outputs)
    actual = study_html("pomrl2023")
    assert actual.count("<img") == len(DRAWN)
    assert "pomrl reproduce pomrl2023" in actual
    assert_closed(actual)


@pytest.mark.parametrize(("column", "value"), [("statement", None), ("verdict", "perhaps")])
def test_claims_of_another_version(folder: Path, empty_outputs: Path, column: str, value: str | None) -> None:
    table = pd.read_csv(study_folder(folder) / "claims.csv")
    changed = table.drop(columns=column) if value is None else table.assign(**{column: value})
    content = {"claims.csv": changed.to_csv(index=False).encode()}
    DerivedFiles(study_folder(empty_outputs) / "claims.json").write(content, {})
    with pytest.raises(store.StoreError, match="by another version"):
        study_html("pomrl2023")
