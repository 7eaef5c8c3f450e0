"""Tags and notes: labels of experiments that no signature and no number depends on."""

import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.support.computed import call, plot

from pomrl import store
from pomrl.commands import run, runs

SMALL = ("T=1", "S=4", "runs=1")


def test_labels_change_neither_signature_nor_bytes(
    empty_outputs: Path,
) -> None:
    _, plain, _ = call(run, *SMALL)
    before = {path: path.read_bytes() for path in empty_outputs.rglob("*.parquet")}
    _, labelled, _ = call(run, *SMALL, "+tag=first", "+note='a remark, with a comma'")
    for tag in (2, "first"):
        call(run, *SMALL, f"+tag={tag}")
    assert labelled == plain
    assert {path: path.read_bytes() for path in empty_outputs.rglob("*.parquet")} == before
    (row,) = pd.read_csv(io.StringIO(call(runs, "tag=first", "--format", "csv")[1])).to_dict("records")
    assert (row["tags"], row["notes"]) == ("2, first", "a remark, with a comma")
    assert call(runs, "--verify")[0] == 0
    assert call(runs, "tag=third")[0] == 1


def test_long_notes_are_cut_in_lists_only(empty_outputs: Path) -> None:
    note = "many words " * 15
    call(run, *SMALL, f"+note='{note}'")
    assert f"{note[:60]}…" in call(runs)[1]
    assert note.strip() in call(runs, "--format", "csv")[1]


def test_tags_differing_by_case_have_two_files(empty_outputs: Path) -> None:
    tags = ["Draft", "draft", "v1", "v1 ", "v1."]
    for tag in tags:
        call(run, *SMALL, f"+tag='{tag}'")
    names = {path.name.casefold().rstrip(" .") for path in empty_outputs.glob("runs/*/tag-*")}
    assert len(names) == len(tags)
    assert store.all_experiments()[0].tags() == tags


def test_a_tag_of_an_older_version_works(empty_outputs: Path) -> None:
    call(run, *SMALL, "+tag=Draft")
    record = store.all_experiments()[0]
    (record.folder / "tag-Draft").touch()
    assert record.tags() == ["Draft"]
    assert call(runs, "tag=Draft", "--untag")[0] == 0
    assert record.tags() == []


@pytest.mark.parametrize("flags", [(), ("-m",)])
def test_options_keep_their_last_style(
    flags: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, empty_outputs: Path
) -> None:
    drawings: list[Any] = []
    monkeypatch.setattr("pomrl.drawing.picture_files.save", lambda drawing, *_: drawings.append(drawing) or [])
    file = empty_outputs / "conf/estimator/mine.yaml"
    file.parent.mkdir(parents=True)
    for color in ("#123456", "#654321"):
        file.write_text("defaults: [pomrl, _self_]\n")
        look = f'{{label: My own, color: "{color}", marker: X}}'
        (file.parents[1] / "looks.yaml").write_text(f"estimator: {{mine: {look}}}\n")
        assert call(run, *flags, "--config-dir", str(file.parents[1]), *SMALL, "estimator=mine", "+tag=one")[0] == 0
    file.unlink()
    for role in ("--hue", "--x"):
        assert call(plot, "tag=one", role, "estimator")[0] == 0
    curves, points = (drawing.figure.axes[0] for drawing in drawings)
    assert [(line.get_color(), line.get_marker()) for line in curves.lines] == [("#654321", "X")]
    assert [tick.get_text() for tick in points.get_xticklabels()] == ["My own"]
