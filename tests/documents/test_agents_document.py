"""docs/agents.md does what it says: its code and its commands are run, and its agent keeps to the contract."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.computed import call, plot, table
from tests.support.settings import ROOT

from pomrl.commands import run
from pomrl.configuration.sources import PUBLISHED
from pomrl.contracts import AgentContract

pytestmark = pytest.mark.slow

DOCUMENT = (ROOT / "docs" / "agents.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL)


def executed(blocks: list[str]) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": __name__}
    for block in blocks:
        exec(compile(block, "docs/agents.md", "exec"), names)
    return names


class TestAgentOfTheDocument(AgentContract):
    @pytest.fixture
    def component(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        cls = executed(BLOCKS[:1])["Pooling"]
        monkeypatch.setitem(globals(), "Pooling", cls)  # where pickle looks for it
        return cls()


def test_the_code_of_the_document_runs_in_its_order(empty_outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    executed(BLOCKS)
    printed = re.findall(r"^    (\(.*|\[.*|model \d.*)$", DOCUMENT, flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == printed


def test_its_commands_work(empty_outputs: Path) -> None:
    """Sweeps are computed with few runs of a small problem."""
    commands: dict[str, Any] = {"run": run, "table": table, "plot": plot}
    lines = re.findall(r"^pomrl (\w+) (.*)$", DOCUMENT, flags=re.MULTILINE)
    assert [name for name, _ in lines] == ["run", "table", "run", "table", "plot"]
    for name, words in lines:
        small = ["S=4", "T=2", *(["runs=3"] if name == "run" else [])]
        status, out, err = call(commands[name], *words.split(), *small)
        assert status == 0, err
        assert out


def test_every_agent_and_metric_is_in_its_table() -> None:
    first, second = (set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)", part, flags=re.MULTILINE))))
                     for part in DOCUMENT.split("## Metrics"))  # fmt: skip
    assert first == {path.stem for path in PUBLISHED.options("agent")}
    assert second == {path.stem for path in PUBLISHED.options("metric")}
