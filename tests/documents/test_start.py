"""README.md and docs/start.md: their commands work in their order, as a wheel installs them, from an empty folder.

Of the optional dependencies, only those of the extra `report` are there, as both documents install it.
"""

import io
import re
import shlex
import tomllib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pandas as pd
import pytest
from tests.documents.test_commands_of_documents import page_commands
from tests.support.commands import Commands, commands
from tests.support.installed import installed
from tests.support.settings import ROOT

pytestmark = pytest.mark.slow

__all__ = ["installed"]  # a fixture

DOCUMENT = (ROOT / "docs" / "start.md").read_text()
LINES = [
    line for block in re.findall(r"```console\n(.*?)```", DOCUMENT, flags=re.DOTALL) for line in block.splitlines()
]
README_COMMANDS = [*(line for line in page_commands("README.md") if re.match("pomrl (?!diff)", line)), "pomrl docs"]


@pytest.fixture
def bare(installed: Path, tmp_path: Path) -> Callable[[], AbstractContextManager[Commands]]:
    """Return what executes commands of the wheel in an empty folder and home; of the extras, only `report` is there."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    del extras["report"]
    optional = [re.split(r"[^\w-]", requirement)[0] for extra in extras.values() for requirement in extra]
    for name in ("cwd", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "home" / "sitecustomize.py").write_text(f"import sys\nsys.modules |= dict.fromkeys({optional})\n")
    path = f"{tmp_path / 'home'}:{installed}"
    return lambda: commands(tmp_path / "cwd", HOME=str(tmp_path / "home"), PYTHONPATH=path, BROWSER="true")


def test_commands_and_python_of_start_work(
    bare: Callable[[], AbstractContextManager[Commands]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tables: dict[str, pd.DataFrame] = {}
    with bare() as pomrl:
        for line in LINES:
            arguments = shlex.split(line)[1:]
            status, _, err = pomrl(*arguments)
            assert status == 0, err
            if arguments[0] == "table":
                tables[line] = pd.read_csv(io.StringIO(pomrl(*arguments, "--format", "csv")[1]))
        report = pomrl("view", "--report", "tag=first")[1].strip()
    folder = tmp_path / "cwd"
    assert str(tmp_path) not in (folder / report).read_text()
    assert len(list((folder / "outputs" / "plots").glob("*.png"))) == sum("plot" in line for line in LINES)
    first, last = (tables[f"pomrl table --task {task}"]["mean"].item() for task in ("first", "last"))
    assert last < first  # as the document says
    paired = tables["pomrl table tag=first --against estimator=pomrl"]
    assert (paired["mean_difference"].isna() == (paired["estimator"] == "pomrl")).all()
    monkeypatch.chdir(folder)
    for block in re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL):
        exec(compile(block, "docs/start.md", "exec"), {})
    assert "without_meta" in capsys.readouterr().out


def test_the_commands_of_the_readme_work(bare: Callable[[], AbstractContextManager[Commands]], tmp_path: Path) -> None:
    assert {"pomrl plot tag=first", "pomrl reproduce my_study"} <= {*README_COMMANDS}
    with bare() as pomrl:
        for line in README_COMMANDS:
            few = ["--runs", "5"] * ("reproduce" in line)
            status, out, err = pomrl(*shlex.split(line)[1:], *few)
            assert (status, bool(out)) == (0, True), err
    page = (tmp_path / "cwd" / "outputs" / "docs" / "index.html").read_text()
    assert all(f'id="{path.stem}"' in page for path in (ROOT / "docs").glob("*.md"))
