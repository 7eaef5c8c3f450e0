"""docs/start.md: its commands and its Python work in their order, from an empty folder, and make what it says."""

import re
import shlex
from pathlib import Path

import pytest
from tests.support.commands import commands
from tests.support.settings import ROOT

pytestmark = pytest.mark.slow

DOCUMENT = (ROOT / "docs" / "start.md").read_text()
LINES = [
    line for block in re.findall(r"```console\n(.*?)```", DOCUMENT, flags=re.DOTALL) for line in block.splitlines()
]


def test_its_commands_and_its_python_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: dict[str, str] = {}
    with commands(tmp_path) as pomrl:
        for line in LINES:
            status, out, err = pomrl(*shlex.split(line)[1:])
            assert status == 0, err
            said[line] = out + err
    assert len(list((tmp_path / "outputs" / "plots").glob("*.png"))) == sum("plot" in line for line in LINES) == 4
    first, last = (
        float(said[f"pomrl table --task {task}"].split("\n")[1].split("\t")[1].split()[0]) for task in ("first", "last")
    )
    assert last < first  # as the document says
    assert "mean difference" in said["pomrl table tag=first --against estimator=pomrl"]
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL):
        exec(compile(block, "docs/start.md", "exec"), {})
    assert "without_meta" in capsys.readouterr().out
