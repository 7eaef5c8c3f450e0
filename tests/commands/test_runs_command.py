"""The command `pomrl runs`: lists, filters, verifying, labels and removal; and what it prints of strangers' data."""

import io
import os
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from tests.support.computed import call
from tests.support.sample_experiment import published

from pomrl import store
from pomrl.commands import runs
from pomrl.commands.terminal import print_frame
from pomrl.results.tables import format_table
from pomrl.store import manifests

pytestmark = pytest.mark.usefixtures("empty_outputs")


class TestLists:
    def test_each_experiment_has_one_line(self) -> None:
        signatures = [published(sigma, 2).signature for sigma in (0.01, 0.02)]
        status, out, _ = call(runs)
        assert status == 0
        assert all(sum(signature in line for line in out.splitlines()) == 1 for signature in signatures)
        frame = pd.read_csv(io.StringIO(call(runs, "--format", "csv")[1]))
        assert sorted(frame[["sigma", "runs"]].to_numpy().tolist()) == [[0.01, 2], [0.02, 2]]
        frame = pd.read_csv(io.StringIO(call(runs, "--format", "csv", "sigma=0.02")[1]))
        assert frame[["signature", "sigma", "runs"]].to_numpy().tolist() == [[signatures[1], 0.02, 2]]

    def test_where_nothing_matches_the_status_is_1(self) -> None:
        published(0.01, 2)
        status, out, err = call(runs, "sigma=0.5")
        assert (status, out, err.count("\n")) == (1, "", 1)

    @pytest.mark.parametrize(
        "condition",
        ["sigma=[", "", "=1", "sigma", "sigma=!!python/object:os.system {}", "sigma=2000-02-30",
         "sigma=" + "[" * 10**6, "x" * 10**6, "sigma=\x1b[31m]"],
    )  # fmt: skip
    def test_bad_filters_are_one_short_line(self, condition: str) -> None:
        status, out, err = call(runs, condition)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert len(err) < 300
        assert "\x1b" not in err


class TestVerifyAndPrune:
    def test_what_is_damaged_is_named(self) -> None:
        experiment = published(0.01, 60)
        assert call(runs, "--verify")[0] == 0
        for name in (experiment.blocks()[0].name, "experiment.json"):
            content = (experiment.folder / name).read_bytes()
            (experiment.folder / name).write_bytes(content[:-9])
            status, out, _ = call(runs, "--verify")
            assert status == 1
            assert name in out
        assert "experiment.json" in call(runs)[2]

    def test_only_outdated_runs_are_pruned_with_yes(self, empty_outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        sound, old, theirs = [published(sigma, 2) for sigma in (0.01, 0.02, 0.03)]
        (theirs.folder / "notes.txt").write_text("mine")
        remainder = sound.folder / ".experiment.json.x.tmp"
        remainder.write_text("")
        os.utime(remainder, (0, 0))
        outdated = {old.signature, theirs.signature}
        monkeypatch.setattr(manifests.Manifest, "is_outdated", lambda self: self.signature in outdated)
        assert "2 experiments with 4 runs, 0.0 MB would be removed; --yes" in call(runs, "--prune")[1]
        assert old.complete() == 2
        assert "0.0 MB removed" in call(runs, "--prune", "--yes")[1]
        assert {path.name for path in (empty_outputs / "runs").iterdir()} == {sound.signature, theirs.signature}
        assert [path.name for path in theirs.folder.iterdir()] == ["notes.txt"]
        assert not remainder.exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestWhatIsListedIsChanged:
    @pytest.mark.parametrize(("answer", "n_experiments"), [("n\n", 2), ("\n", 2), ("y\n", 1)])
    def test_removal_asks_with_its_size(
        self, monkeypatch: pytest.MonkeyPatch, empty_outputs: Path, answer: str, n_experiments: int
    ) -> None:
        retained, _ = (published(sigma, 2) for sigma in (0.01, 0.02))
        monkeypatch.setattr(sys, "stdin", Terminal(answer))
        assert "remove 1 experiment with 2 runs, 0.0 MB? [y/N]" in call(runs, "sigma=0.02", "--remove")[2]
        assert len(store.all_experiments()) == len(pd.read_csv(empty_outputs / "index.csv")) == n_experiments
        assert retained.complete() == 2
        status, _, err = call(runs, "--remove", "--yes")
        assert (status, len(store.all_experiments())) == (2, n_experiments)
        assert "--remove must have a filter" in err

    def test_only_filters_are_named_if_nothing_matches(self) -> None:
        arguments = ("tag=nope", "--since", "2026-11-17T10:00", "--remove", "--yes")
        assert call(runs, *arguments)[2].endswith("no stored experiment matches tag=nope --since 2026-11-17T10:00:00\n")

    def test_newest_come_first_and_since_filters(self) -> None:
        for sigma, start in ((0.01, "2026-11-16T23:59:59+00:00"), (0.02, "2026-11-17T00:00:00+00:00")):
            manifest = published(sigma, 2).read_manifest()
            dated = replace(manifest, provenance=replace(manifest.provenance, start=start))
            manifests.write(store.root() / manifest.signature, dated)
        listed = pd.read_csv(io.StringIO(call(runs, "--format", "csv")[1]))
        assert listed["sigma"].tolist() == [0.02, 0.01]
        listed = pd.read_csv(io.StringIO(call(runs, "--since", "2026-11-17T00:00+00:00", "--format", "csv")[1]))
        assert listed["sigma"].tolist() == [0.02]
        assert call(runs, "--since", "last week")[0] == 2

    def test_tags_are_given_and_taken_away(self) -> None:
        first, other = (published(sigma, 2) for sigma in (0.01, 0.02))
        assert call(runs, "--tag", "all")[1] == "2 experiments changed\n"
        call(runs, "sigma=0.02", "--tag", "2")
        assert (first.tags(), other.tags()) == (["all"], ["2", "all"])
        call(runs, "tag=2", "--untag")
        assert call(runs, "--untag")[0] == 2
        assert (first.tags(), other.tags()) == (["all"], ["all"])


HOSTILE = "[/red] [bold]x\x1b[31m\u202e\r\n:warning: <script>|"


class TestHostileText:
    def test_cells_are_no_markup(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", "100")
        print_frame(pd.DataFrame({HOSTILE: [HOSTILE]}))
        assert capsys.readouterr().out.count("[/red] [bold]x[31m :warning: <script>|") == 2

    def test_markdown_shows_names_as_they_are(self) -> None:
        head, _, row = format_table(pd.DataFrame({HOSTILE: [HOSTILE]}), "markdown").splitlines()
        assert head == row == "| [/red] [bold]x[31m :warning: &lt;script>\\| |"
