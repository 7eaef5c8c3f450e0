"""Every command and every piece of Python in the documents works, from a folder in which much is stored.

What takes long is not executed in full: of a sweep, `pomrl run` composes the first experiment and only says what it
would compute, and commands that need all sweeps of a study only read their arguments. The pages docs/extending.md,
docs/models.md, docs/python.md and docs/start.md, and the example of docs/studies.md, have tests of their own.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.documents.test_documents import EXAMPLES
from tests.support.board import theirs
from tests.support.computed import call
from tests.support.settings import ROOT, STUDIES

from pomrl import store
from pomrl.commands import main, new, reproduce, reproduce_stages, run
from pomrl.configuration import composed
from pomrl.configuration.studies import find

pytestmark = pytest.mark.slow

PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
    *sorted(path.relative_to(ROOT).as_posix() for path in STUDIES.glob("*/pages/*.md")),
    *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("packages/pomrl-papers/**/*.md")),
]
ELSEWHERE = ("docs/extending.md", "docs/models.md", "docs/python.md", "docs/start.md")

STATE = (
    ("-m", "estimator=pomrl,ada_pomrl", "sigma=0.01,0.02", "+tag=first"),
    ("-m", "sigma=0.01,0.02,0.03", "+tag=mine"),
    ("T=3", "m=7"),
)
"""What is stored before: the sweeps of the documents, by their tags, and an experiment that has neither."""


PLACEHOLDER = re.compile(r"HOST|STUDY|FOLDER|OLD\.\.NEW|OLD=NEW|\bNAME|\.\.\.")
"""Words that stand for others, in lines that are no commands as they are."""


def code_lines(page: str) -> Iterator[str]:
    """The lines of code of a page, without comments, and the commands within its sentences that are complete."""
    text = (ROOT / page).read_text()
    for block in re.findall(r"```(?:console|bash|sh)\n(.*?)```", text, flags=re.DOTALL):
        yield from block.splitlines()
    yield from re.findall(r"^    (\S.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)
    yield from re.findall(r"`(pomrl [\w-]+ [^`]+|python -m src\.run [^`]+|\./reproduce\.sh [^`]+)`", text)


def page_commands(page: str) -> list[str]:
    without_comments = (re.sub(r"\s+#.*$", "", line).strip() for line in code_lines(page))
    ours = re.compile(r"(pomrl|python -m src\.run|python -m pomrl|\./reproduce\.sh)(\s.*)?$")
    return [line for line in dict.fromkeys(without_comments) if ours.match(line) and not PLACEHOLDER.search(line)]


COMMANDS = {line: page for page in reversed(PAGES) if page not in ELSEWHERE for line in page_commands(page)}
COMMANDS |= {f"pomrl run{arguments}": "conf/config.yaml" for arguments in EXAMPLES}
"""The commands, each with the first page that has it, or the help."""


@pytest.fixture(scope="module", autouse=True)
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("stored")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(folder))
        patch.chdir(folder)
        patch.syspath_prepend(ROOT)
        (folder / "examples").symlink_to(ROOT / "examples")
        (folder / "site").mkdir()
        (folder / "site" / "index.html").touch()
        learner = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "board.md").read_text(), flags=re.DOTALL)[0]
        (folder / "mine.py").write_text(learner)
        theirs(folder / "theirs.csv")
        assert call(new, "my_study")[0] == 0
        assert call(run, "-m", "experiment=my_study/first", "estimator=ada_pomrl", "runs=2")[0] == 0
        for arguments in STATE:
            assert call(run, *arguments, "S=4", "runs=2", *([] if "T=3" in arguments else ["T=2"]))[0] == 0
        yield folder


@pytest.fixture(autouse=True)
def big_ones_read_their_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object, **__: object) -> None:
        return None

    monkeypatch.setattr(reproduce_stages, "judge", nothing)
    monkeypatch.setattr(reproduce_stages, "show_verdicts", nothing)
    monkeypatch.setattr(reproduce_stages, "draw_all", lambda *_, **__: ([], {}))
    monkeypatch.setattr("pomrl_report.stages.write", nothing)
    monkeypatch.setattr("pomrl_report.article.write", nothing)
    monkeypatch.setattr(reproduce, "_execute_all", nothing)
    monkeypatch.setattr("pomrl_report.docs.beside_the_package", lambda name: Path.cwd() / name)
    monkeypatch.setattr("webbrowser.open", nothing)
    monkeypatch.setattr(composed, "MAX_JOBS", 1)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_works(line: str) -> None:
    signatures = iter(store.all_experiments())
    tokens = [
        next(signatures).signature if re.fullmatch(r"[0-9a-f]{12}", token) else token for token in shlex.split(line)
    ]
    if tokens[0] == "./reproduce.sh":
        script = (ROOT / "reproduce.sh").read_text()
        assert all(re.search(rf"^\s+{target}\) ", script, flags=re.MULTILINE) for target in tokens[1:2])
        return
    command = tokens[1:] if tokens[0] == "pomrl" else tokens[2:]
    name, *arguments = ["run", *command[1:]] if command[0] == "src.run" else command[command[0] == "pomrl" :]
    assert name in main.all_commands() or name.startswith("-")
    for sweep in [
        sweep for argument in arguments if argument.startswith("experiment=") for sweep in argument[11:].split(",")
    ]:
        study, _, sweep_name = sweep.rpartition("/")
        assert sweep_name in find(study or "pomrl2023").sweeps
    if name == "new" or re.search(r"experiment=\S*families|table.*taxi|sweeper=optuna|diff main\.\.", line):
        return  # the folder is made before, and jobs of families take seconds to compose
    if name == "run" and not {"--help", "--info", "--version"} & set(arguments):
        arguments = [*arguments, "dry_run=true"]
    status, _, err = call(name, *arguments)
    assert status in ((0, 1) if name == "diff" else (0,)), err


def test_the_commands_are_found() -> None:
    readme_commands = {line for line, page in COMMANDS.items() if page == "README.md"}
    assert {"./reproduce.sh test", "pomrl plot tag=first", "pomrl reproduce my_study"} <= readme_commands
    assert {"pomrl export FILE.zip", "pomrl reproduce --list", "pomrl run reading=computed"} <= {*COMMANDS}


BLOCKS = {
    page: blocks
    for page in PAGES
    if page not in ELSEWHERE
    and (blocks := re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL))
}
"""The blocks of Python on each page that has some."""


@pytest.mark.parametrize("page", BLOCKS)
def test_its_python_runs(page: str) -> None:
    for block in BLOCKS[page]:
        names = {"__name__": "block"}
        exec(block, names)
        assert names.keys() - {"__name__", "__builtins__"}, block
