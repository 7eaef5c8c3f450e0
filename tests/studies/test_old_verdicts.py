"""Verdicts say what has changed since they were judged, and each command says what makes again what was deleted."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from docs.build import documents
from tests.support.computed import call, claims, figures, report, table
from tests.support.study_folders import SMALL, forget, inside, write

from pomrl.commands import reproduce, run
from pomrl.store import experiments

FILES = {**SMALL, "study.yaml": SMALL["study.yaml"] + "variants: {default: {}, odd: {loss: mean}}\n"}


@pytest.fixture(scope="module")
def judged_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a study that is computed and judged."""
    folder = tmp_path_factory.mktemp("judged")
    with inside(folder, "dated"):
        write(folder / "dated", FILES)
        assert call(run, "-m", "experiment=dated/first", "loss=mean")[0] == 0
        assert call(reproduce, "dated", "--runs", "10")[0] == 0
    return folder


@pytest.fixture(autouse=True)
def cwd(judged_folder: Path, tmp_path: Path) -> Iterator[Path]:
    """Work in a copy of the folder with the study that is computed and judged."""
    with inside(Path(shutil.copytree(judged_folder, tmp_path / "here")), "dated") as folder:
        yield folder


def edited(file: str, old: str, new: str) -> None:
    """Edit a file of the study, as between two calls of commands."""
    path = Path("dated") / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    forget("dated")


def old(variants: str) -> str:
    sentence = f"The verdicts under {variants} are older than the present code and settings"
    return f"{sentence}: pomrl reproduce dated renews them."


@pytest.mark.parametrize(
    ("edit", "variants"),
    [
        (("conf/experiment/dated/first.yaml", "seed: 1", "seed: 2"), "default and odd"),
        (("claims.py", "ada less none", "flat less none"), "default and odd"),
        (("study.yaml", "loss: mean", "S: 4"), "odd"),
    ],
)
def test_old_verdicts_are_named_with_their_command(edit: tuple[str, str, str], variants: str) -> None:
    edited(*edit)
    page = Path("outputs/studies/dated/report/index.html")
    assert "<strong>Old:</strong>" not in page.read_text()
    status, _, err = call(report, "dated")
    assert (status, err) == (0, f"dated: {old(variants)}\n")
    assert old(variants) in page.read_text()
    assert f"dated: {old(variants)}\n" in call(documents, "dated")[2]
    assert old(variants) in Path("outputs/studies/dated/pages/claims.md").read_text()


def test_judging_again_renews_verdicts(cwd: Path) -> None:
    edited("claims.py", "ada less none", "flat less none")
    output_under: Callable[[str], str] = lambda variants: call(claims, "dated", "--variants", variants)[1]  # noqa: E731
    assert "The verdicts under odd are older than" in " ".join(output_under("default").split())
    assert "older than" not in output_under("odd")
    assert call(report, "dated")[2] == ""


def test_edited_code_makes_verdicts_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "code_digest", lambda _: "edited")
    assert call(report, "dated")[2] == f"dated: {old('default and odd')}\n"


def test_deleted_files_name_their_command(cwd: Path) -> None:
    for path in (cwd / "outputs" / "runs").rglob("*.parquet"):
        path.unlink()
    assert "to compute them: pomrl run experiment=dated/first" in call(figures, "dated")[2]
    *lost, last = call(table)[2].splitlines()
    assert last.endswith("no stored runs; run `pomrl run` to compute them")
    assert all(
        line.endswith(
            "0 of 10 runs are stored without a gap; repeat the pomrl run of this experiment to compute the others"
        )
        for line in lost
    )
    (cwd / "outputs" / "studies" / "dated" / "claims.csv").unlink()
    for command in (report, documents):
        assert call(command, "dated")[2].endswith("; run pomrl reproduce dated claims again\n")
