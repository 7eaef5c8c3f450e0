"""Every day: an estimator of one's own is edited and run again; results of both versions are told apart everywhere."""

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.support.commands import Commands, commands

from pomrl import store
from pomrl.store import StoredExperiment

pytestmark = pytest.mark.slow

ESTIMATOR = '''
import numpy as np

from pomrl.components import RegularisedLeastSquares


class Shrink(RegularisedLeastSquares):
    """A mixing rate that is always the same."""

    def mixing_rate(self, t, m, sigma, memory, truth):
        return np.full_like(sigma, RATE)
'''

SWEEP = ("-m", "--config-dir", "conf", "estimator=pomrl,shrink", "sigma=0.01,0.02", "T=3", "S=4", "runs=60")
WORDS = ("--config-dir", "conf", "estimator=pomrl,shrink", "sigma=0.01,0.02", "T=3", "S=4")


def edit(folder: Path, rate: str, more: str = "") -> None:
    (folder / "shrink.py").write_text(ESTIMATOR.replace("RATE", rate) + more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which two versions of an estimator were run, with the same words and tag."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "conf/estimator").mkdir(parents=True)
    (folder / "conf/estimator/shrink.yaml").write_text("defaults: [pomrl, _self_]\n_target_: shrink.Shrink\n")
    for rate in ("0.2", "0.8"):
        edit(folder, rate)
        with commands(folder) as pomrl:
            status, _, err = pomrl("run", *SWEEP, "+tag=dev")
        assert status == 0, err
    return folder


@pytest.fixture(scope="module")
def pomrl(folder: Path) -> Iterator[Commands]:
    with commands(folder) as pomrl:
        yield pomrl


def frame(pomrl: Commands, command: str, *arguments: str) -> pd.DataFrame:
    status, out, err = pomrl(command, *arguments, "--format", "csv")
    assert status == 0, err
    return pd.read_csv(io.StringIO(out))


def labels(pomrl: Commands) -> list[str]:
    return sorted(frame(pomrl, "table", "tag=dev", "--code", "all").query("estimator == 'shrink'")["code"].unique())


class TestVersions:
    @pytest.mark.parametrize("words", [("tag=dev",), WORDS])
    def test_the_present_code_is_meant_and_a_line_says_that_there_is_more(
        self, pomrl: Commands, words: tuple[str, ...]
    ) -> None:
        rows = frame(pomrl, "table", *words)
        assert rows.groupby("estimator").size().to_dict() == {"pomrl": 2, "shrink": 2}
        assert "2 results of other code are left out; --code all shows them" in pomrl("table", *words)[2]

    def test_no_two_rows_read_alike(self, pomrl: Commands) -> None:
        rows = frame(pomrl, "table", "tag=dev", "--code", "all")
        assert len(rows) == 6
        assert not rows.duplicated(["estimator", "sigma", "code"]).any()
        first, second = labels(pomrl)
        assert re.fullmatch(r"v1-\d{4}-\d\d-\d\d", first)
        assert second.startswith("v2-")
        assert len(frame(pomrl, "table", "tag=dev", "--code", first)) >= 2

    def test_an_edit_has_an_effect_in_pairs(self, pomrl: Commands, folder: Path) -> None:
        rows = frame(pomrl, "compare", *WORDS)
        assert list(rows["sigma"]) == [0.01, 0.02]
        assert [[*rows[each].unique()] for each in ("old", "new")] == [[label] for label in labels(pomrl)]
        by_label = frame(pomrl, "compare", "tag=dev", "--code", *labels(pomrl))
        pd.testing.assert_frame_equal(rows, by_label)
        old, new = versions(folder)
        differences = regret(new) - regret(old)
        np.testing.assert_allclose(rows["mean_difference"][0], differences.mean(), rtol=1e-9)

    def test_what_run_proposes_works(self, pomrl: Commands) -> None:
        for more in (("+tag=dev",), ()):
            said = pomrl("run", *SWEEP, *more)[2]
            (words,) = re.findall(r"as a table: pomrl table (.*)$", said, flags=re.MULTILINE)
            assert len(frame(pomrl, "table", *words.split())) == 4
            (words,) = re.findall(r"to plot it: pomrl plot (.*)$", said, flags=re.MULTILINE)
            assert pomrl("plot", *words.split())[0] == 0

    def test_python_loads_the_present_version_or_names_what_differs(self, folder: Path) -> None:
        script = (
            "import sys; sys.path.append('.'); import pomrl\n"
            "one = {'config_dir': 'conf', 'estimator': 'shrink', 'sigma': 0.01, 'T': 3, 'S': 4}\n"
            "print(len(pomrl.load(**one)))\n"
            "for more in ({'code': 'all'}, {'sigma': [0.01, 0.02]}):\n"
            "    try:\n"
            "        pomrl.load(**{**one, **more})\n"
            "    except Exception as error:\n"
            "        print(error)\n"
        )
        said = python(folder, script)
        assert int(said[0]) % 60 == 0
        assert "they differ in code (v1-" in said[1]
        assert "they differ in sigma (0.01, 0.02)" in said[2]

    def test_an_option_of_ones_own_is_found_by_its_folder_or_among_what_is_stored(self, pomrl: Commands) -> None:
        said = pomrl("table", "estimator=shrink")[2]
        assert "estimator=shrink: there is no such option; there are ada_pomrl" in said
        assert "; --config-dir names a folder with options of your own" in said
        (proposed,) = re.findall(r"(--where \S+) chooses among what is stored", said)
        assert len(frame(pomrl, "table", *proposed.split())) == 2

    def test_where_nothing_is_in_pairs_a_line_says_why(self, pomrl: Commands) -> None:
        assert "no experiment has runs of both v9 and present code; an edited default" in pomrl(
            "compare", "tag=dev", "--code", "v9", "present"
        )[2].replace("\n", " ")

    def test_runs_names_the_code(self, pomrl: Commands) -> None:
        assert set(frame(pomrl, "runs", "estimator=shrink")["code"].str[:3]) == {"v1-", "v2-"}

    def test_an_older_result_that_has_no_newer_one_is_the_only_copy(self, pomrl: Commands, folder: Path) -> None:
        edit(folder, "0.9")
        with commands(folder) as edited:
            status, out, _ = edited("runs", "--prune")
            edit(folder, "0.8")
        assert status == 0
        assert "4 would be removed, 4 of them the only copy" in out
        out = pomrl("runs", "--prune")[1]
        assert "2 would be removed" in out
        assert "only copy" not in out


class TestAdopt:
    """These tests come last: they add results to the folder."""

    def test_what_computes_the_same_bytes_is_carried_over_and_marked(self, folder: Path) -> None:
        edit(folder, "0.8", "\n\nUNUSED = 1\n")
        with commands(folder) as pomrl:
            assert "no runs of present code" in pomrl("table", "tag=dev", "--where", "estimator=shrink")[2]
            status, out, err = pomrl("adopt", *WORDS, "--blocks", "1")
            assert status == 0, err
            assert out.count("carried over, 1 of 2 blocks recomputed") == 2
            rows = frame(pomrl, "table", "tag=dev").query("estimator == 'shrink'")
            assert set(rows["origin"]) == {"carried over, 1 of 2 blocks recomputed"}
            assert list(rows["runs"]) == [60, 60]
            listed = frame(pomrl, "runs", "estimator=shrink")
            assert sum(listed["origin"].str.startswith("carried over")) == 2
            before = pomrl("compare", *WORDS)[1]
            assert " 0.000 " in before or "0.0000" in before or "\t0" in before
            assert "all files" in pomrl("runs", "--verify")[1]

    def test_what_computes_other_bytes_is_refused(self, folder: Path) -> None:
        edit(folder, "0.3")
        with commands(folder) as pomrl:
            status, out, err = pomrl("adopt", *WORDS)
            assert (status, out) == (1, "")
            assert err.count("not carried over; 1 of 1 recomputed blocks have other bytes") == 2
            assert "no runs of present code" in pomrl("table", "tag=dev", "--where", "estimator=shrink")[2]


def python(folder: Path, script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def versions(folder: Path) -> list[StoredExperiment]:
    """Return the two versions of the estimator at the smaller sigma, the older one first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(folder / "outputs"))
        return sorted(store.find(estimator="shrink", sigma=0.01), key=StoredExperiment.begun)


def regret(stored: StoredExperiment) -> np.ndarray:
    table = stored.table()
    return table[table["gamma"] == table["gamma"].max()].groupby("run")["planning_loss"].mean().to_numpy()
