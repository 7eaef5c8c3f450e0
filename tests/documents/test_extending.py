"""docs/extending.md and docs/studies.md: their files are those of `examples/`, and their commands do what they say."""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from tests.support.commands import commands
from tests.support.settings import ROOT

pytestmark = pytest.mark.slow

Execute = Callable[[str], tuple[int, str, str]]

DOCUMENTS = [(ROOT / "docs" / name).read_text() for name in ("extending.md", "studies.md")]
FILES = [
    file
    for text in DOCUMENTS
    for file in re.findall(r"^`([\w/]+\.\w+)`:\n\n```\w+\n(.*?)```$", text, flags=re.DOTALL | re.MULTILINE)
]
COMMANDS = [
    line
    for text in DOCUMENTS
    for block in re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    for line in block.splitlines()
    if "pytest" not in line  # the whole suite runs these tests
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of outputs that all commands of the document share."""
    return tmp_path_factory.mktemp("outputs")


@pytest.fixture(scope="module")
def execute(outputs: Path) -> Iterator[Execute]:
    """Yield a function that executes a command of the documents; it returns its status, output and messages."""
    with commands(ROOT, POMRL_OUTPUTS=str(outputs)) as pomrl:

        def call(command: str) -> tuple[int, str, str]:
            program, *arguments = shlex.split(command)
            assert program == "pomrl"
            return pomrl(*arguments)

        yield call


@pytest.mark.parametrize(("path", "content"), FILES, ids=[path for path, _ in FILES])
def test_documented_files_are_the_examples(path: str, content: str) -> None:
    assert (ROOT / path).read_text() == content


def test_documents_show_every_example_and_option() -> None:
    documented_paths = {path for path, _ in FILES} | {*re.findall(r"\]\(\.\./(examples/[^)]+)\)", "".join(DOCUMENTS))}
    examples = {path.relative_to(ROOT).as_posix() for path in (ROOT / "examples").rglob("*.py")}
    components = {path for path in examples if not path.startswith("examples/notebook/")}
    assert components - documented_paths == {"examples/test_examples.py", "examples/pomrl_in_one_file.py"}
    options = [path.stem for path in (ROOT / "examples" / "conf").glob("*/*.yaml")]
    assert [option for option in options if not re.search(rf"\b{option}\b", "\n".join(COMMANDS))] == []


def test_documented_commands_work_in_their_order(outputs: Path, execute: Execute) -> None:
    """Sweeps are computed with few runs, and in one process, because each worker takes seconds to start."""
    for command in COMMANDS:
        few = " runs=3 execution.workers=1" if command.startswith("pomrl run") else ""
        status, _, err = execute(re.sub(" runs=[0-9]+", "", command) + few)
        # pomrl diff ends with 1 where things differ
        assert status == ("pomrl diff" in command), f"{command}\n{err}"
    plots, patience_folder = outputs / "plots", outputs / "studies" / "patience"
    assert any("pooled_variances" in plot.read_text() for plot in plots.glob("*task_similarity*.csv"))
    assert any("growing_horizon" in plot.read_text() for plot in plots.glob("*gamma_schedules*.csv"))
    assert {"losses.png", "losses_intervals.png", "model_error.csv", "model_error_intervals.csv"} <= {
        path.name for path in (patience_folder / "figures").iterdir()
    }
    actual = pd.read_csv(patience_folder / "claims.csv").query("variant == 'default'").set_index("claim")["verdict"]
    assert actual.to_dict() == {"P1": "holds", "P2": "undecided"}
    page = (patience_folder / "report" / "index.html").read_text()
    assert "A game of patience" in page
    assert "No-Regret" not in page
