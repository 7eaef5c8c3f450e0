"""The everyday loop with the package that a wheel installs, in an empty folder with an empty home."""

import io
from pathlib import Path

import pandas as pd
import pytest
from tests.support.commands import commands
from tests.support.installed import installed

pytestmark = pytest.mark.slow

__all__ = ["installed"]  # a fixture

ESTIMATOR = '''
import numpy as np

from pomrl.components import RegularisedLeastSquares


class Shrink(RegularisedLeastSquares):
    """A mixing rate that is always the same."""

    def mixing_rate(self, t, m, sigma, memory, truth):
        return np.full_like(sigma, RATE)
'''

WORDS = ("--config-dir", "conf", "estimator=pomrl,shrink", "T=2", "S=3", "runs=4")


def test_edit_run_plot_table_diff_and_report(installed: Path, tmp_path: Path) -> None:
    here, home = tmp_path / "here", tmp_path / "home"
    (here / "conf/estimator").mkdir(parents=True)
    (here / "conf/estimator/shrink.yaml").write_text("defaults: [pomrl, _self_]\n_target_: shrink.Shrink\n")
    with commands(here, HOME=str(home), PYTHONPATH=str(installed)) as pomrl:

        def printed(*arguments: str, status: int = 0) -> str:
            answer = pomrl(*arguments)
            assert answer[0] == status, answer[2]
            return answer[1]

        signatures = list[set[str]]()
        for rate in ("0.2", "0.8"):
            (here / "shrink.py").write_text(ESTIMATOR.replace("RATE", rate))
            signatures.append(set(printed("run", "-m", *WORDS, "+tag=dev").split()))
        before, after = signatures
        assert len(before & after) == 1  # that of pomrl, which was not edited
        assert len(before | after) == 3

        (drawn,) = (here / line for line in printed("plot", "tag=dev").split() if line.endswith(".csv"))
        assert set(pd.read_csv(drawn)["estimator"]) == {"pomrl", "shrink"}

        rows = pd.read_csv(io.StringIO(printed("table", "tag=dev", "--format", "csv"))).set_index("estimator")
        assert list(rows.index) == ["pomrl", "shrink"]
        effect = pd.read_csv(io.StringIO(printed("diff", "tag=dev", "--format", "csv", status=1)))
        assert effect["changed"].str.fullmatch(r"code: \S+ -> present").all()
        assert set(effect["runs"]) == {4}
        path = printed("report", "tag=dev").strip()
        assert path == "outputs/reports/tag_dev/index.html"
        page = (here / path).read_text()
        assert "shrink" in page
        assert str(tmp_path) not in page
    assert {path.name for path in here.iterdir()} - {"__pycache__"} == {"conf", "shrink.py", "outputs"}
