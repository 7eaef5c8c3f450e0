"""A study is sent to a colleague, who has nothing of the author but the archive; another study is installed."""

import zipfile
from pathlib import Path

import pytest
from tests.support.commands import commands
from tests.support.study_folders import SMALL, SWEEP, write

from pomrl.configuration.sources import SWEEPS
from pomrl.store import StoredBlock, StoredExperiment, block_files

pytestmark = pytest.mark.slow

OWN = '''\
import numpy as np
from beside import RATE
from pomrl.components import RegularisedLeastSquares


class Half(RegularisedLeastSquares):
    """A mixing rate that is always the same."""

    def mixing_rate(self, t, m, sigma, memory, truth):
        return np.full_like(sigma, RATE)
'''
AXIS = "ada_pomrl,without_meta"


def study(folder: Path) -> Path:
    """Write a study with an estimator of its own, which takes a number from a module beside the study."""
    folder.parent.mkdir(parents=True)
    (folder.parent / "beside.py").write_text("RATE = 0.5\n")
    first = SWEEP.format(seed=1).replace(AXIS, f"{AXIS},half")
    write(folder, {**SMALL, "own.py": OWN, "sweeps/first.yaml": first, "conf/estimator/half.yaml": OPTION})
    return folder


OPTION = "defaults: [pomrl, _self_]\n_target_: small.own.Half\n"


def stored(folder: Path) -> set[str]:
    return {path.name for path in (folder / "outputs" / "runs").rglob("*.parquet")}


def test_a_colleague_computes_only_what_is_new(tmp_path: Path) -> None:
    author, colleague = tmp_path / "author", tmp_path / "here"
    colleague.mkdir()
    study(author / "small")
    with commands(author) as pomrl:
        assert pomrl("reproduce", "small")[0] == 0
        assert pomrl("export", "study.zip", "small")[1] == "study.zip\n"
    with zipfile.ZipFile(author / "study.zip") as archive:
        names = {*archive.namelist()}
    derived = {"studies/small/claims.csv", "studies/small/figures/curves.png", "studies/small/report/index.html"}
    assert derived | {"code/small/study.yaml", "code/small/own.py", "code/beside.py"} <= names
    experiments = {path.name for path in (author / "outputs" / "runs").iterdir()}
    assert {name.split("/")[1] for name in names if name.startswith("runs")} == experiments
    (author / "study.zip").rename(colleague / "study.zip")
    author.rename(tmp_path / "away")
    with commands(colleague) as pomrl:
        status, _, err = pomrl("import", "study.zip")
        assert (status, (colleague / "small").exists()) == (1, False)  # without a terminal, nobody can be asked
        assert {"small/own.py", "beside.py"} <= {*err.splitlines()}
        assert "these files belong to the study small; pomrl reproduce small runs their code\n" in err
        assert err.endswith(
            "3 experiments added, 0 changed, 0 stored already; "
            "pomrl runs --recompute 10 recomputes a sample of the stored blocks\n"
            "to compare verdicts: pomrl reproduce small, then pomrl import study.zip\n"
        )
        before = stored(colleague)
        assert "2 have the same bytes again, 0 differ, 1 cannot be recomputed" in pomrl("runs", "--recompute", "10")[1]

        status, _, err = pomrl("import", "study.zip", "--yes")
        assert (status, "pomrl runs small --recompute 10 recomputes a sample" in err) == (0, True)
        status, _, err = pomrl("reproduce", "small")
        assert (status, stored(colleague)) == (0, before), err
        assert "3 of 3 experiments stored already" in err
        status, out, _ = pomrl("import", "study.zip")
        assert (status, "small: All 1 verdicts" in out, "agree with the received ones" in out) == (0, True, True)
        recompute = ("runs", "small", "--recompute", "10")
        assert "3 have the same bytes again, 0 differ, 0 cannot be recomputed" in pomrl(*recompute)[1]

        sweep = colleague / "small" / SWEEPS / "small" / "first.yaml"
        sweep.write_text(sweep.read_text().replace(AXIS, f"pomrl,{AXIS}"))
        assert pomrl("run", "-m", "experiment=small/first")[0] == 0
        assert (len(before), len(stored(colleague) - before), before <= stored(colleague)) == (3, 1, True)

        (path,) = (colleague / "outputs" / "runs").rglob(min(before))
        record, runs = StoredExperiment(path.parent), range(10)
        false = block_files.encode(record.table().assign(planning_loss=0.0), record.signature, runs)
        path.rename(path.with_name(StoredBlock.from_content(runs, false).name)).write_bytes(false)
        status, out, _ = pomrl(*recompute)
        assert (status, out.splitlines()[-1].split(", ")[1:3]) == (1, ["3 have the same bytes again", "1 differ"])


def test_a_study_that_is_installed_is_named(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    study(tmp_path / "site-packages" / "small")
    about = tmp_path / "site-packages" / "small-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: small\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[pomrl.studies]\nsmall = small\n")
    with commands(tmp_path / "here", PYTHONPATH=str(tmp_path / "site-packages")) as pomrl:
        assert "small\tA small study\t1\n" in pomrl("reproduce", "--list")[1]
        assert pomrl("run", "-m", "experiment=small/first")[0] == 0
        assert "3 of 3 experiments stored already" in pomrl("run", "-m", "experiment=small/first")[2]
        assert pomrl("reproduce", "small", "claims")[0] == 0
        assert pomrl("export", "study.zip", "small")[0] == 0
