"""docs/models_and_logs.md does what it says: its code is run."""

import re
from pathlib import Path

import pytest
from tests.support.settings import ROOT

from pomrl.commands import main

DOCUMENT = (ROOT / "docs" / "models_and_logs.md").read_text()


@pytest.mark.slow
def test_the_code_of_the_document_runs_in_its_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    assert len(blocks) == 14
    names: dict = {}
    for block in blocks:
        exec(compile(block, "docs/models_and_logs.md", "exec"), names)
    said = " ".join(re.findall(r"^    (Plan with .*\n    .*\n    .*)$", DOCUMENT, flags=re.MULTILINE)[0].split())
    assert capsys.readouterr().out.strip() == said

    names["frame"].to_parquet(tmp_path / "LOG.parquet")
    (command,) = re.findall(r"^pomrl horizon (.*)$", DOCUMENT, flags=re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POMRL_OUTPUTS", "outputs")
    monkeypatch.setattr("sys.argv", [])
    main.call("horizon", command.split())
    assert (tmp_path / "outputs" / "horizon" / "LOG" / "losses.png").exists()
