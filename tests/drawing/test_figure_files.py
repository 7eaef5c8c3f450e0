import itertools
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.backends import _backend_pdf_ps
from tests.support.shipped import FIGURES
from tests.support.synthetic import AXES, make_sweep, with_sweep

from pomrl.drawing import panels, picture_files
from pomrl.drawing.picture_files import Sidecar, picture, save
from pomrl.drawing.series import Drawing
from pomrl.results.sweep_results import StoredSweeps
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles


def test_relative_gains_need_ten_runs_for_intervals(sweeps: StoredSweeps) -> None:
    more_runs = with_sweep(sweeps, "wrong_priors", make_sweep("wrong_priors", runs=10))
    data = FIGURES["wrong_priors"].draw(more_runs).data
    assert len(data) == len(list(itertools.product(*AXES["wrong_priors"].values())))
    assert (data["n"] == 10).all()
    assert ((data["lower"] <= data["mean"]) & (data["mean"] <= data["upper"])).all()


FROM_ANOTHER_PROCESS = """
import pathlib
import sys
import pandas as pd
from pomrl.configuration.studies import find
from pomrl.drawing.figure import figures_of
from pomrl.drawing.picture_files import Sidecar, save
from tests.support.synthetic import AXES, table_sweep
sweeps = {"task_similarity": table_sweep(pd.read_parquet(sys.argv[1]), [*AXES["task_similarity"]], 100)}
(figure,) = (figure for figure in figures_of(find("pomrl2023")) if figure.name == "pomrl_vs_adapomrl")
save(figure.draw(sweeps), pathlib.Path(sys.argv[2]), "once", Sidecar("once"))
"""


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_process(
    tmp_path: Path, sweeps: StoredSweeps, tables: Mapping[str, pd.DataFrame]
) -> None:
    before = dict(mpl.rcParams)
    drawing = FIGURES["pomrl_vs_adapomrl"].draw(sweeps)
    paths = save(drawing, tmp_path, "once", Sidecar("once"))
    assert (dict(mpl.rcParams), plt.get_fignums()) == (before, [])
    assert [path.name for path in paths] == [f"once.{suffix}" for suffix in ("pdf", "png", "csv", "json")]
    points = pd.read_csv(paths[2]).assign(panel="")
    pd.testing.assert_frame_equal(points, drawing.data, check_dtype=False, rtol=1e-14)
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.facecolor": "black", "savefig.dpi": 50}):
        save(FIGURES["pomrl_vs_adapomrl"].draw(sweeps), tmp_path / "again", "once", Sidecar("once"))
    tables["task_similarity"].to_parquet(tmp_path / "tables.parquet")
    arguments = [sys.executable, "-c", FROM_ANOTHER_PROCESS, tmp_path / "tables.parquet", tmp_path / "there"]
    subprocess.run(arguments, check=True, env={**os.environ, "PYTHONHASHSEED": "1", "MPLBACKEND": "pdf"})
    for folder in ("again", "there"):
        for path in paths[:-1]:
            assert path.read_bytes() == (tmp_path / folder / path.name).read_bytes()
        digests = [
            json.loads((directory / "once.json").read_text())["files"] for directory in (tmp_path, tmp_path / folder)
        ]
        assert digests[0] == digests[1]


@pytest.mark.parametrize(
    "content",
    [
        '{"figure": ',
        '{"sweeps": {}}',
        '{"figure": "x", "sweeps": {"sweep": [{"signature": "0", "settings": null, "runs": 4, "blocks": {}}]}}',
    ],
)
def test_damaged_or_old_sidecars_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "figure.json").write_text(content)
    if content.endswith("}"):  # whose checksum is right, as if another version had written it
        DerivedFiles(tmp_path / "figure.json").write({}, json.loads(content))
    with pytest.raises(StoreError, match=r"figure\.json: .*damaged, or"):
        Sidecar.read(tmp_path / "figure.json")


def test_font_subsets_do_not_depend_on_history() -> None:
    subset = _backend_pdf_ps.get_glyphs_subset
    first, other, repeated = (picture(_text(text).figure, "pdf") for text in ("γ of 1", "Losses, Δ", "γ of 1"))
    assert _backend_pdf_ps.get_glyphs_subset is subset
    assert first == repeated != other
    picture_files._subset.cache_clear()
    assert picture(_text("γ of 1").figure, "pdf") == first
    assert b"/CIDFontType2" in first
    assert b"/Type3" not in first


def _text(text: str) -> Drawing:
    figure = panels.blank(1.0, 1.0)
    figure.text(0.5, 0.5, text)
    return Drawing(figure, pd.DataFrame())
