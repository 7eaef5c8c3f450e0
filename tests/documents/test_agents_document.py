"""The agent and the metric of docs/extending.md: their code is run, and the agent keeps to the contract."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.settings import ROOT

from pomrl.components import check_component
from pomrl.configuration.sources import PUBLISHED

pytestmark = pytest.mark.slow

DOCUMENT = (ROOT / "docs" / "extending.md").read_text().partition("## An agent\n")[2]
BLOCKS = re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL)


def executed(blocks: list[str]) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": __name__}
    for block in blocks:
        exec(compile(block, "docs/extending.md", "exec"), names)
    return names


def test_the_documented_agent_keeps_its_contracts(monkeypatch: pytest.MonkeyPatch) -> None:
    cls = executed(BLOCKS[:1])["Pooling"]
    monkeypatch.setitem(globals(), "Pooling", cls)  # where pickle looks for it
    check_component(cls())


def test_documented_code_prints_the_documented_output(empty_outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    executed(BLOCKS)
    printed = re.findall(r"^    (\(.*|\[.*)$", DOCUMENT, flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == printed


def test_tables_list_every_agent_and_metric() -> None:
    first, second = (set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)", section, flags=re.MULTILINE))))
                     for section in DOCUMENT.partition("## Problems")[0].split("## A metric"))  # fmt: skip
    assert first == {path.stem for path in PUBLISHED.options("agent")}
    assert second == {path.stem for path in PUBLISHED.options("metric")}
