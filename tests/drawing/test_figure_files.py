import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.support.checks import choose, line
from tests.support.shipped import FIGURES
from tests.support.synthetic import AXES, GAMMAS, TASKS, Lazy, make_sweep, with_sweep

from pomrl.drawing import panels
from pomrl.drawing.drawing import COLUMNS, Drawing
from pomrl.drawing.files import Sidecar, save
from pomrl.results.stored_sweeps import Source
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles


class TestData:
    def test_relative_gains_have_intervals_from_ten_runs_on(self, sweeps):
        more = with_sweep(sweeps, "wrong_priors", make_sweep("wrong_priors", runs=10))
        data = FIGURES["wrong_priors"].draw(more).data
        assert len(data) == len(list(itertools.product(*AXES["wrong_priors"].values())))
        assert (data["n"] == 10).all()
        assert (data["lower"] <= data["mean"]).all()
        assert (data["mean"] <= data["upper"]).all()

    def test_has_every_point(self, drawings):
        points = choose(drawings["dependence_on_tasksimilarity"].data, band="sd")
        assert len(points) == 3 * 4 * TASKS + 3 * 6 * len(GAMMAS)
        ax = drawings["dependence_on_tasksimilarity"].figure.axes[1]
        ada = choose(points, panel="b", series="ada-POMRL")
        np.testing.assert_array_equal(np.asarray(line(ax, "ada-POMRL").get_ydata()), ada["mean"])

    def test_says_which_band_and_which_marker(self, drawings):
        data = drawings["planning_omrl"].data
        assert {panel: set(rows["band"]) for panel, rows in data.groupby("panel")} == {
            "a": {"sd"},
            "b": {"se"},
            "c": {"sd", "bootstrap sd"},
        }
        assert choose(data, marker=True).groupby(["panel", "series"]).size().tolist() == [1] * 6


FROM_ANOTHER_PROCESS = """
import pathlib
import sys
import pandas as pd
from pomrl.configuration.study import find
from pomrl.drawing.figure import figures_of
from pomrl.drawing.files import Sidecar, save
from pomrl.results.stored_sweeps import StoredSweep
sweeps = {"task_similarity": StoredSweep(pd.read_parquet(sys.argv[1]), [], 100, None)}
(figure,) = (figure for figure in figures_of(find("pomrl")) if figure.name == "planning_omrl")
save(figure.draw(sweeps), pathlib.Path(sys.argv[2]), "planning_omrl", Sidecar("planning_omrl"))
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory, drawings: Mapping[str, Drawing]) -> Mapping[str, list[Path]]:
    """The files of two figures, by name."""
    folder = tmp_path_factory.mktemp("saved")
    return Lazy(["planning_omrl", "overview"], lambda name: save(drawings[name], folder, name, Sidecar(name)))


class TestFiles:
    @pytest.mark.slow
    def test_same_bytes_in_another_process(self, tmp_path, saved, tables):
        tables["task_similarity"].to_parquet(tmp_path / "tables.parquet")
        arguments = [sys.executable, "-c", FROM_ANOTHER_PROCESS, tmp_path / "tables.parquet", tmp_path / "there"]
        subprocess.run(arguments, check=True, env={**os.environ, "PYTHONHASHSEED": "1", "MPLBACKEND": "pdf"})
        for path in saved["planning_omrl"]:
            assert path.read_bytes() == (tmp_path / "there" / path.name).read_bytes()

    def test_saving_twice(self, tmp_path, drawings, saved):
        again = save(drawings["overview"], tmp_path, "overview", Sidecar("overview"))
        assert [path.name for path in again] == [f"overview.{suffix}" for suffix in ("pdf", "png", "csv", "json")]
        for one, other in zip(saved["overview"], again, strict=True):
            assert one.read_bytes() == other.read_bytes()

    def test_csv_is_the_data(self, drawings, saved):
        read = pd.read_csv(saved["planning_omrl"][2])
        pd.testing.assert_frame_equal(read, drawings["planning_omrl"].data, check_dtype=False, rtol=1e-14)

    def test_sidecar_has_sources_and_digests(self, tmp_path):
        data, sidecar = pd.DataFrame(columns=COLUMNS), Sidecar("x", "pomrl figures", commit="abc", dirty=True)
        *files, path = save(Drawing(panels.blank(1.0, 1.0), data), tmp_path, "x", sidecar)
        digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
        expected = {"figure": "x", "command": "pomrl figures", "commit": "abc", "dirty": True, "files": digests}
        expected |= {"docstring": "", "variant": "", "sweeps": {}}
        said = json.loads(path.read_text())
        assert len(said.pop("check")) == 16
        assert said == expected

    def test_sidecar_is_read_as_it_was_written(self, tmp_path):
        sources = [Source("0123456789ab", 4, {"sigma": 0.01}, {"runs-000000-000003.parquet": "0"})]
        plain = Sidecar("figure", sweeps={"sweep": sources})
        more = {"docstring": "Title.\n\nCaption.", "commit": "abc", "dirty": False, "variant": "mine"}
        for sidecar in (plain, replace(plain, **more, simulations={"simulation": sources})):
            DerivedFiles(tmp_path / "figure.json").write({"figure.csv": b"1"}, sidecar.content())
            digests = {"figure.csv": hashlib.sha256(b"1").hexdigest()}
            assert Sidecar.read(tmp_path / "figure.json") == replace(sidecar, files=digests)
            content = json.loads((tmp_path / "figure.json").read_text())
            assert content["sweeps"]["sweep"][0]["settings"] == {"sigma": 0.01}

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "[]",
            '{"figure": ',
            '{"sweeps": {}}',
            '{"figure": "x", "sweeps": []}',
            '{"figure": "x", "sweeps": {"sweep": [{"signature": "0", "sigma": 0.1, "runs": 4, "blocks": {}}]}}',
            '{"figure": "x", "sweeps": {"sweep": [{"signature": "0", "settings": null, "runs": 4, "blocks": {}}]}}',
        ],
    )
    def test_sidecars_that_are_damaged_or_old_are_refused(self, tmp_path, content):
        (tmp_path / "figure.json").write_text(content)
        if content.endswith("}"):  # whose checksum is right, as if another version had written it
            DerivedFiles(tmp_path / "figure.json").write({}, json.loads(content))
        with pytest.raises(StoreError, match=r"figure\.json: it is damaged, or another version wrote it"):
            Sidecar.read(tmp_path / "figure.json")
