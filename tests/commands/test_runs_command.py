"""The command `pomrl runs`: lists, filters, verifying, repairing and pruning; and what it prints of strangers' data."""

import io
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from pomrl import store
from pomrl.commands import diff, runs, tables
from pomrl.commands.terminal import MOST_CHARACTERS, one_line, printable
from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.study import Study
from pomrl.report.encoding import packed_json
from pomrl.results.comparison import Side
from pomrl.science.experiment import tables as experiment_tables
from pomrl.store import StoredExperiment, manifest

Call = Callable[..., tuple[int, str, str]]
SMALL = ["S=4", "T=2", "task_distribution.zeros=1"]


@pytest.fixture(autouse=True)
def outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    monkeypatch.setattr(Study, "sweeps", property(lambda study: ["initial_similarity"] * (study.name == "pomrl")))
    monkeypatch.setattr(runs, "sweeps_by_signature", dict)
    return tmp_path / "outputs"


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    def called(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["runs", *arguments])
        status = 0
        capsys.readouterr()
        try:
            runs.main()
        except SystemExit as end:
            status = int(end.code or 0)
        said = capsys.readouterr()
        return status, said.out, said.err

    return called


def stored(sigma: float, count: int = 60) -> StoredExperiment:
    experiment = sweeps.experiment(PUBLISHED, [*SMALL, f"sigma={sigma}"])
    opened = store.open_experiment(experiment)
    for part in store.aligned(range(count)):
        (table,) = experiment_tables(experiment.problem, [experiment.method], part)
        store.add_blocks(opened, [(part, table)])
    store.close_experiment(opened, "complete", 0.0)
    return opened


def blocks_of(one: StoredExperiment) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in one.folder.glob("*.parquet")}


class TestLists:
    def test_each_experiment_has_one_line_and_forms_agree(self, call: Call) -> None:
        signatures = [stored(sigma, 2).signature for sigma in (0.01, 0.02)]
        status, out, _ = call()
        assert status == 0
        assert all(sum(signature in line for line in out.splitlines()) == 1 for signature in signatures)
        rows = json.loads(call("--format", "json")[1])
        assert sorted((row["settings"]["sigma"], row["runs"]) for row in rows) == [(0.01, 2), (0.02, 2)]
        frame = pd.read_csv(io.StringIO(call("--format", "csv", "sigma=0.02")[1]))
        assert frame[["signature", "sigma", "runs"]].to_numpy().tolist() == [[signatures[1], 0.02, 2]]

    def test_where_nothing_matches_the_status_is_1(self, call: Call) -> None:
        stored(0.01, 2)
        status, out, err = call("sigma=0.5")
        assert (status, out, err.count("\n")) == (1, "", 1)

    @pytest.mark.parametrize(
        "word",
        ["sigma=[", "", "=1", "sigma", "sigma=&a [*a]", "sigma=!!python/object:os.system {}", "sigma=2000-02-30",
         "sigma=" + "[" * 10**6, "x" * 10**6, "sigma=\x1b[31m]"],
    )  # fmt: skip
    def test_bad_filters_are_one_short_line(self, call: Call, word: str) -> None:
        status, out, err = call(word)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert len(err) < 300
        assert "\x1b" not in err


class TestRepair:
    @pytest.mark.parametrize("name", ["runs-000000-000049.parquet", "manifest.json", "blocks.jsonl", "config.yaml"])
    def test_what_is_damaged_is_verified_and_computed_again(self, call: Call, name: str) -> None:
        one = stored(0.01)
        before = blocks_of(one)
        content = (one.folder / name).read_bytes()
        (one.folder / name).write_bytes(content[: len(content) // 2] if name != "config.yaml" else content + b"x: 1\n")
        status, out, _ = call("--verify")
        assert status == 1
        assert str(one.folder / name) in out
        status, out, err = call("--repair")
        assert "Traceback" not in err
        if name == "config.yaml":  # of an experiment that is in no published sweep: its settings are lost
            assert status == 1
            assert err.splitlines()[-1].endswith("; pomrl run with its settings computes it again")
        else:
            assert status == 0, out
        assert blocks_of(one) == before

    def test_the_last_line_is_the_command_for_what_it_cannot_mend(
        self, call: Call, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "argv", ["pomrl run", "--config-dir", "my options"])
        one = stored(0.01, 2)
        (one.folder / "config.yaml").write_bytes(b"")
        status, _, err = call("--repair")
        assert status == 1
        assert err.splitlines()[-1].endswith("; pomrl run --config-dir 'my options' computes it again")

    def test_settings_that_name_classes_of_someone_else_are_not_imported(
        self, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "theirs.py").write_text("raise SystemExit('this code was run')\n")
        monkeypatch.syspath_prepend(tmp_path)
        one = stored(0.01, 2)
        path = one.folder / "config.yaml"
        path.write_text(path.read_text().replace("pomrl.science.estimators.regularised_least_squares.", "theirs."))
        status, _, err = call("--repair")
        assert status == 1
        assert "components of your own" in err
        assert "theirs" not in sys.modules

    def test_a_name_of_a_file_does_not_make_the_repair_endless(self) -> None:
        one = stored(0.01, 2)
        (one.folder / "runs-999999999950-999999999999.parquet").write_bytes(b"")
        assert one.extent() <= 100


class TestPrune:
    def outdate(self, one: StoredExperiment) -> None:
        manifest.write(one.folder, replace(manifest.read(one.folder), code="0" * 64))

    def test_only_what_is_outdated_goes_and_one_that_cannot_go_does_not_stop_others(
        self, call: Call, outputs: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sound, damaged, *old = [stored(sigma, 2) for sigma in (0.01, 0.02, 0.03, 0.04, 0.05)]
        (damaged.folder / "blocks.jsonl").write_bytes(b"torn")
        theirs = old.pop()
        (theirs.folder / "notes.txt").write_text("mine")
        (outputs / "runs" / "notes").mkdir()
        reason = "the code has changed since"
        outdated = {one.signature: reason for one in (*old, theirs)}
        monkeypatch.setattr(StoredExperiment, "outdated", lambda self: outdated.get(self.signature))
        assert call("--prune")[1].splitlines()[-1].startswith("2 would be removed, 2 of them the only copy")
        remove = store.remove

        def failing(one: StoredExperiment) -> None:
            if one == old[0]:
                raise PermissionError(13, "Permission denied", str(one.folder))
            remove(one)

        monkeypatch.setattr("pomrl.store.everything.remove", failing)
        status, out, err = call("--prune", "--yes")
        assert (status, out.splitlines()[-1]) == (1, "1 removed")
        assert str(old[0].folder) in err
        left = {path.name for path in (outputs / "runs").iterdir()}
        assert left == {sound.signature, damaged.signature, old[0].signature, theirs.signature, "notes"}


HOSTILE = "[/red] [bold]x\x1b[31m\u202e\r\n:warning: <script>|"


class TestHostileText:
    def test_nothing_controls_the_terminal(self) -> None:
        assert printable(HOSTILE) == "[/red] [bold]x[31m :warning: <script>|"
        assert one_line(ValueError("a\n\x07b")) == "a b"
        assert len(printable("x" * 10**6)) == MOST_CHARACTERS + 3

    def test_cells_are_no_markup(self) -> None:
        table = tables.plain_table(HOSTILE, HOSTILE)
        tables.add_row(table, HOSTILE)
        shown = io.StringIO()
        Console(file=shown, width=100).print(table)
        assert shown.getvalue().count("[/red] [bold]x[31m :warning: <script>|") == 3
        assert "\x1b" not in shown.getvalue()

    def test_markdown_shows_names_as_they_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(diff, "_published", lambda *_: [])
        sides = (Side(HOSTILE, {"estimator": name}, {}, None) for name in ("pomrl", HOSTILE))
        shown = diff._in_markdown(PUBLISHED, [(next(sides), next(sides))])
        assert "- no results to compare: [/red] [bold]x[31m :warning: &lt;script>\\| not stored\n" in shown
        assert "| difference |" not in shown
        assert "\x1b" not in shown
        assert "<script" not in shown

    def test_a_page_cannot_be_left(self) -> None:
        assert "<" not in packed_json({"sweep": "</script><script>alert(1)"})
