"""The documents of the package do what they say: their code is run."""

import re
from pathlib import Path

import pytest

from pomrl.commands import main

PACKAGE = Path(__file__).parents[1]
DOCUMENT = (PACKAGE / "docs" / "logs.md").read_text()
README = (PACKAGE / "README.md").read_text()


@pytest.mark.slow
def test_the_code_of_the_document_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    names: dict = {}
    for block in blocks:
        exec(compile(block, "docs/logs.md", "exec"), names)
    assert capsys.readouterr().out.split() == sentence("Change").split()

    names["frame"].to_parquet(tmp_path / "LOG.parquet")
    names["later"].to_parquet(tmp_path / "LATER.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POMRL_OUTPUTS", "outputs")
    monkeypatch.setattr("sys.argv", [])
    for command in re.findall(r"^pomrl horizon (.*)$", DOCUMENT, flags=re.MULTILINE):
        main.command("horizon", command.split())()
    assert capsys.readouterr().out.split()[-len(output := sentence("The promise").split()) :] == output
    assert (tmp_path / "outputs" / "horizon" / "LOG" / "gains.png").exists()


def test_the_readme_leads_to_advice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POMRL_OUTPUTS", "outputs")
    monkeypatch.setattr("sys.argv", [])
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})
    (command,) = re.findall(r"^    pomrl horizon (.*)$", README, flags=re.MULTILINE)
    capsys.readouterr()
    main.command("horizon", command.split())()
    assert "Change 16 of 16 decisions" in " ".join(capsys.readouterr().out.split())
    assert (tmp_path / "outputs" / "horizon" / "visits" / "report.html").exists()


def sentence(start: str) -> str:
    """Return the indented lines of the document that begin so."""
    return re.findall(rf"^    {start}.*(?:\n    .*)*", DOCUMENT, flags=re.MULTILINE)[0]
