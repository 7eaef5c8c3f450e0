import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from tests.support.checks import choose, line
from tests.support.shipped import FIGURES
from tests.support.synthetic import AXES, GAMMAS, TASKS, make_sweep, with_sweep

from pomrl.drawing.drawing import Drawing
from pomrl.drawing.files import Sidecar, save
from pomrl.results.stored_sweeps import Source, StoredSweeps
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles

Drawings = Mapping[str, Drawing]


def test_relative_gains_have_intervals_from_ten_runs_on(sweeps: StoredSweeps) -> None:
    more = with_sweep(sweeps, "wrong_priors", make_sweep("wrong_priors", runs=10))
    data = FIGURES["wrong_priors"].draw(more).data
    assert len(data) == len(list(itertools.product(*AXES["wrong_priors"].values())))
    assert (data["n"] == 10).all()
    assert ((data["lower"] <= data["mean"]) & (data["mean"] <= data["upper"])).all()


def test_data_has_every_point_its_band_and_its_marker(drawings: Drawings) -> None:
    points = choose(drawings["dependence_on_tasksimilarity"].data, band="sd")
    assert len(points) == 3 * 4 * TASKS + 3 * 6 * len(GAMMAS)
    ax = drawings["dependence_on_tasksimilarity"].figure.axes[1]
    ada = choose(points, panel="b", series="ada-POMRL")
    np.testing.assert_array_equal(np.asarray(line(ax, "ada-POMRL").get_ydata()), ada["mean"])
    data = drawings["planning_omrl"].data
    bands = {panel: set(rows["band"]) for panel, rows in data.groupby("panel")}
    assert bands == {"a": {"sd"}, "b": {"se"}, "c": {"sd"}, "d": {"bootstrap sd"}}
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
(figure,) = (figure for figure in figures_of(find("pomrl")) if figure.name == "pomrl_vs_adapomrl")
save(figure.draw(sweeps), pathlib.Path(sys.argv[2]), "once", Sidecar("once"))
"""


@pytest.mark.slow
def test_bytes_are_the_same_in_another_process_and_neither_give_nor_take_settings_of_matplotlib(
    tmp_path: Path, sweeps: StoredSweeps, tables: Mapping[str, pd.DataFrame]
) -> None:
    before = dict(mpl.rcParams)
    drawing = FIGURES["pomrl_vs_adapomrl"].draw(sweeps)
    paths = save(drawing, tmp_path, "once", Sidecar("once"))
    assert (dict(mpl.rcParams), plt.get_fignums()) == (before, [])
    assert [path.name for path in paths] == [f"once.{suffix}" for suffix in ("pdf", "png", "csv", "json")]
    read = pd.read_csv(paths[2]).assign(panel="")
    pd.testing.assert_frame_equal(read, drawing.data, check_dtype=False, rtol=1e-14)
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.facecolor": "black", "savefig.dpi": 50}):
        save(FIGURES["pomrl_vs_adapomrl"].draw(sweeps), tmp_path / "again", "once", Sidecar("once"))
    tables["task_similarity"].to_parquet(tmp_path / "tables.parquet")
    arguments = [sys.executable, "-c", FROM_ANOTHER_PROCESS, tmp_path / "tables.parquet", tmp_path / "there"]
    subprocess.run(arguments, check=True, env={**os.environ, "PYTHONHASHSEED": "1", "MPLBACKEND": "pdf"})
    for path in paths:
        for folder in ("again", "there"):
            assert path.read_bytes() == (tmp_path / folder / path.name).read_bytes()


def test_a_sidecar_is_read_as_it_was_written(tmp_path: Path) -> None:
    sources = [Source("0123456789ab", 4, {"sigma": 0.01}, {"runs-000000-000003.parquet": "0"})]
    plain = Sidecar("figure", sweeps={"sweep": sources})
    more = {"docstring": "Title.\n\nCaption.", "commit": "abc", "dirty": False, "variant": "mine"}
    for sidecar in (plain, replace(plain, **more, simulations={"simulation": sources})):
        DerivedFiles(tmp_path / "figure.json").write({"figure.csv": b"1"}, asdict(sidecar))
        digests = {"figure.csv": hashlib.sha256(b"1").hexdigest()}
        assert Sidecar.read(tmp_path / "figure.json") == replace(sidecar, files=digests)
        content = json.loads((tmp_path / "figure.json").read_text())
        assert content["sweeps"]["sweep"][0]["settings"] == {"sigma": 0.01}


@pytest.mark.parametrize(
    "content",
    [
        '{"figure": ',
        '{"sweeps": {}}',
        '{"figure": "x", "sweeps": {"sweep": [{"signature": "0", "settings": null, "runs": 4, "blocks": {}}]}}',
    ],
)
def test_sidecars_that_are_damaged_or_old_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "figure.json").write_text(content)
    if content.endswith("}"):  # whose checksum is right, as if another version had written it
        DerivedFiles(tmp_path / "figure.json").write({}, json.loads(content))
    with pytest.raises(StoreError, match=r"figure\.json: it is damaged, or another version wrote it"):
        Sidecar.read(tmp_path / "figure.json")
