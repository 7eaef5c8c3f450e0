"""After results of a study have been deleted, each command says which command computes or makes them again."""

from pathlib import Path

import pytest
from docs_build import documents
from tests.support.computed import call
from tests.support.study_folders import forget, refused, write

from pomrl.commands import claims, figures, report, reproduce, runs, table


@pytest.fixture(scope="module", autouse=True)
def outputs(tmp_path_factory: pytest.TempPathFactory) -> "object":
    """Reproduce a small study, and delete the files of its runs; yield its outputs."""
    here = tmp_path_factory.mktemp("here")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.syspath_prepend(str(here))
        patch.setenv("POMRL_OUTPUTS", str(here / "outputs"))
        write(here / "emptied")
        assert call(reproduce, "emptied", "--runs", "10")[0] == 0
        for path in (here / "outputs" / "runs").rglob("*.parquet"):
            path.unlink()
        yield here / "outputs"
    forget("emptied")


def test_deleted_blocks_are_computed_again_by_a_command_that_is_named() -> None:
    assert "to compute them: pomrl run experiment=emptied/first" in call(figures, "emptied")[2]
    assert refused(table).endswith("no runs are stored; pomrl run computes them")
    assert call(runs, "--verify")[0] == 0  # what is not there is not damaged


def test_a_table_of_nothing_says_what_computes() -> None:
    assert refused(table, "T=2", "S=3", "seed=5").endswith("of T=2 S=3 seed=5; pomrl run computes them")


def test_a_deleted_table_of_judgements_is_renewed_by_a_command_that_is_named(outputs: Path) -> None:
    (outputs / "studies" / "emptied" / "claims.csv").unlink()
    for command in (report, documents):
        assert refused(command, "emptied").endswith("; pomrl claims emptied renews it")


def test_documents_make_the_folder_of_pages_that_a_study_does_not_have_yet(outputs: Path) -> None:
    assert call(claims, "emptied", "--decide")[0] == 0
    status, printed, said = call(documents, "emptied")
    assert (status, said) == (0, "")
    assert [Path(line).name for line in printed.splitlines()] == ["claims.md"]
    assert "K1" in (Path("emptied") / "pages" / "claims.md").read_text()
