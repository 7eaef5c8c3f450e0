import hashlib
import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.support.checks import choose, line
from tests.support.shipped import FIGURES, OF_SWEEPS
from tests.support.synthetic import AXES, GAMMAS, RUNS, TASKS, Lazy, make_sweep, make_sweeps, with_sweep

from pomrl.drawing.drawing import COLUMNS
from pomrl.drawing.files import Sidecar, save, save_small
from pomrl.results.stored_sweeps import Source, StoredSweeps
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles

pytestmark = pytest.mark.slow


class TestData:
    @pytest.mark.parametrize("name", FIGURES)
    def test_is_what_is_drawn(self, drawings, name):
        data = drawings[name].data
        assert list(data.columns) == COLUMNS
        points = data.loc[data["n"] > 0]
        assert not points.duplicated(["panel", "series", "x"]).any()
        if FIGURES[name].sweeps:
            assert (points["n"] == RUNS).all()
        if name == "wrong_priors":  # four runs are too few for an interval of a ratio, see the next test
            assert points[["lower", "upper"]].isna().all(axis=None)
        else:
            assert (points["lower"] <= points["mean"]).all()
            assert (points["mean"] <= points["upper"]).all()

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

    @pytest.mark.parametrize("name", OF_SWEEPS)
    def test_tables_are_left_alone(self, name, drawings, tables):
        assert drawings[name]
        for sweep in FIGURES[name].sweeps:
            pd.testing.assert_frame_equal(tables[sweep], make_sweep(sweep).table)


@pytest.fixture(scope="module")
def again(sweeps: StoredSweeps) -> StoredSweeps:
    """The same sweeps, made once more, and the simulations."""
    made = make_sweeps()
    return Lazy(sweeps, lambda name: made[name] if name in made else sweeps[name])


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


class TestFiles:
    @pytest.mark.parametrize("name", FIGURES)
    def test_same_tables_same_picture_and_data(self, name, tmp_path, drawings, again):
        drawn = FIGURES[name].draw(again)
        (once,), (twice,) = save_small(drawings[name], tmp_path, "once"), save_small(drawn, tmp_path, "again")
        assert once.read_bytes() == twice.read_bytes()
        pd.testing.assert_frame_equal(drawings[name].data, drawn.data, check_exact=True)

    @pytest.mark.parametrize("name", ["planning_omrl", "mixing_rates", "overview"])
    def test_same_tables_same_bytes(self, name, tmp_path, drawings, again):
        once = save(drawings[name], tmp_path / "once", name, Sidecar(name))
        twice = save(FIGURES[name].draw(again), tmp_path / "again", name, Sidecar(name))
        assert [path.name for path in once] == [f"{name}.{suffix}" for suffix in ("pdf", "png", "csv", "json")]
        for one, other in zip(once, twice, strict=True):
            assert one.read_bytes() == other.read_bytes()

    def test_same_bytes_in_another_process(self, tmp_path, drawings, tables):
        here = save(drawings["planning_omrl"], tmp_path / "here", "planning_omrl", Sidecar("planning_omrl"))
        tables["task_similarity"].to_parquet(tmp_path / "tables.parquet")
        arguments = [sys.executable, "-c", FROM_ANOTHER_PROCESS, tmp_path / "tables.parquet", tmp_path / "there"]
        subprocess.run(arguments, check=True, env={**os.environ, "PYTHONHASHSEED": "1", "MPLBACKEND": "pdf"})
        for path in here:
            assert path.read_bytes() == (tmp_path / "there" / path.name).read_bytes()

    def test_saving_twice(self, tmp_path, drawings):
        first = [path.read_bytes() for path in save(drawings["pomrl_vs_adapomrl"], tmp_path, "x", Sidecar("x"))]
        assert [path.read_bytes() for path in save(drawings["pomrl_vs_adapomrl"], tmp_path, "x", Sidecar("x"))] == first

    def test_csv_is_the_data(self, tmp_path, drawings):
        drawing = drawings["planning_omrl"]
        path = save(drawing, Path(tmp_path), "figure", Sidecar("figure"))[2]
        pd.testing.assert_frame_equal(pd.read_csv(path), drawing.data, check_dtype=False, rtol=1e-14)

    def test_sidecar_has_sources_and_digests(self, tmp_path, drawings):
        *files, path = save(
            drawings["overview"], tmp_path, "overview", Sidecar("overview", "pomrl figures", commit="abc", dirty=True)
        )
        digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
        expected = {"figure": "overview", "command": "pomrl figures", "commit": "abc", "dirty": True, "files": digests}
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
