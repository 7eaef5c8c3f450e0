"""Each word of a command line is completed, in bash, zsh and fish."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from hydra._internal.utils import get_args_parser
from tests.support.computed import called
from tests.support.settings import ROOT

from pomrl.commands import new, reproduce, run
from pomrl.commands.completion import FLAGS_OF_RUN, SCRIPT_WORDS, candidates, for_fish, split_line
from pomrl.configuration.sources import PUBLISHED

command = partial(called, run)

pytestmark = pytest.mark.usefixtures("cwd")

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(pomrl run -sc install=bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -U compinit && compinit -uD; eval "$(pomrl run -sc install=zsh)"'),
    "fish": (["fish", "--no-config", "-i"], "pomrl run -sc install=fish | source"),
}
"""The command of each shell without the user's files, and the line to install completion."""

REMOVAL = {shell: install.replace("install=", "uninstall=") for shell, (_, install) in SHELLS.items()}

SECONDS = 60
"""The longest wait for a shell."""


def completed(line: str) -> list[str]:
    return candidates(split_line(line))


def test_all_commands_are_offered() -> None:
    assert {"run ", "table ", "reproduce ", "board "} <= {*completed("pomrl ")}
    assert completed("pomrl ta") == ["table "]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pomrl run est", "estimator="),
        ("pomrl plot gamma_e", "gamma_eval="),
        ("pomrl run estimator=ada", "estimator=ada_pomrl|estimator=ada_pomrl_forgetting"),
        ("pomrl run estimator=pomrl,ada", "estimator=pomrl,ada_pomrl|estimator=pomrl,ada_pomrl_forgetting"),
        ("pomrl run estimator=ada_pomrl,ada", "estimator=ada_pomrl,ada_pomrl_forgetting"),
        ("pomrl diff estimator=with", "estimator=without_meta"),
        ("pomrl run +estimator=with", "+estimator=without_meta"),
        ("pomrl run ++est", "++estimator="),
        ("pomrl run batches=m20", "batches=m20_T5"),
        ("pomrl run reading=", "reading=computed|reading=printed|reading=repaired"),
        ("pomrl run +publication=po", "+publication=pomrl2023"),
        ("pomrl run experiment=task", "experiment=task_similarity"),
        ("pomrl run experiment=bey", "experiment=beyond/"),
        ("pomrl run experiment=task_similarity,beyond/tied_rows_in_c",
         "experiment=task_similarity,beyond/tied_rows_in_chains"),
        ("pomrl run estimator.start_d", "estimator.start_deviation="),
        ("pomrl run estimator=bayes estimator.start_d", ""),
        ("pomrl run hydra/launcher=subm", "hydra/launcher=submitit_local|hydra/launcher=submitit_slurm"),
        ("pomrl run hydra/sweeper=o", "hydra/sweeper=optuna"),
        ("pomrl run hydra/job_logging=f", "hydra/job_logging=file"),
        ("pomrl run hydra/laun", "hydra/launcher="),
        ("pomrl run hydra.swee", "hydra.sweep.|hydra.sweeper."),
        ("pomrl run hydra/sweeper=optuna hydra.sweeper.n_t", "hydra.sweeper.n_trials="),
        ("pomrl runs ami", "amit2020 "),
        ("pomrl reproduce ami", "amit2020 "),
        ("pomrl reproduce amit2020 fig", "figures "),
        ("pomrl run --multi", "--multirun "),
        ("pomrl run --cfg j", "job "),
        ("pomrl run -sc install=z", "install=zsh "),
        ("pomrl table --form", "--format "),
        ("pomrl table --format c", "csv "),
        ("pomrl table --against est", "estimator="),
        ("pomrl run 'S=range(5,30,5)' sigm", "sigma="),
        ("pomrl run 'estimator=with", "estimator=without_meta"),
        ("python -m src.run sigm", "sigma="),
        ("python -m pomrl run sigm", "sigma="),
        ("X=1 .venv/bin/pomrl run sigm", "sigma="),
    ],
)  # fmt: skip
def test_each_kind_of_word_is_completed(line: str, expected: str) -> None:
    assert "|".join(completed(line)) == expected  # a space ends a finished word


@pytest.mark.parametrize(
    "line",
    [
        "pomrl run reading/",
        "pomrl run +reading/",
        "pomrl run reading/estimator/pomrl=",
        "pomrl table hydra",
        "pomrl run --config-dir ",
        "pomrl run sigma=",
        "pomrl unknown ",
        "python other.py ",
        "pomrl",
        "",
    ],
)
def test_shells_complete_the_other_words_as_files(line: str) -> None:
    assert completed(line) == []


@pytest.mark.parametrize("group", ["estimator", "gamma_schedule", "execution"])
def test_all_options_of_a_group_are_offered(group: str) -> None:
    assert completed(f"pomrl run {group}=") == [f"{group}={path.stem}" for path in PUBLISHED.options(group)]


@pytest.mark.parametrize("flag", ["--config-dir own", "--config-dir=own", "-cd own"])
def test_own_options_are_completed(flag: str, cwd: Path) -> None:
    for name in ("estimator/mine.yaml", "experiment/first.yaml", "db/sql.yaml"):
        (cwd / "own" / name).parent.mkdir(parents=True)
        (cwd / "own" / name).write_text("defaults: [ada_pomrl, _self_]\nstrength: 1\n")
    start = f"pomrl run {flag}"
    assert completed(f"{start} estimator=pomrl,min") == ["estimator=pomrl,mine"]
    assert completed(f"{start} estimator=mine estimator.st") == [
        "estimator.start_weight=", "estimator.start_deviation=", "estimator.strength="
    ]  # fmt: skip
    assert completed(f"{start} experiment=fir") == ["experiment=first_task", "experiment=first"]
    assert completed(f"{start} +db") == ["+db="]
    assert completed(f"{start} +db=") == ["+db=sql"]


def test_studies_of_the_current_folder_are_offered() -> None:
    called(new, "my_study")
    assert completed("pomrl reproduce my") == ["my_study "]
    assert completed("pomrl run experiment=my") == ["experiment=my_study/"]
    assert completed("pomrl run experiment=my_study/") == ["experiment=my_study/first"]
    assert completed("pomrl run experiment=my_study/first estimator=shr") == ["estimator=shrunk"]
    assert completed("pomrl reproduce my_study cl") == ["claims "]


def test_stored_tags_are_offered() -> None:
    for tag in ("mine", "other"):
        command("T=2", "runs=1", f"tag={tag}")
    assert completed("pomrl plot tag=") == ["tag=mine", "tag=other"]
    assert completed("pomrl table tag=mine,") == ["tag=mine,other"]


def test_each_offered_stage_is_one_of_reproduce() -> None:
    offered = [name.strip() for name in completed("pomrl reproduce amit2020 ")]
    message = called(reproduce, "amit2020", "nothing")[2]
    assert message.rstrip().endswith(f"available: {', '.join(offered)}")


def test_flags_of_run_are_those_of_hydra() -> None:
    actions = {flag: action for action in vars(get_args_parser())["_actions"] for flag in action.option_strings}
    assert {*FLAGS_OF_RUN} == {*actions}
    for flag in {*FLAGS_OF_RUN} - {"--shell-completion", "-sc"}:  # overrides follow it
        values = FLAGS_OF_RUN[flag]
        assert (values is None) == (actions[flag].nargs == 0), flag
        assert list(values or []) == list(actions[flag].choices or []), flag


def test_no_word_about_files_imports_hydra() -> None:
    line = "pomrl run experiment=beyond/tied"
    code = "import sys; from pomrl.commands.completion import print_completion as ask; ask(['query=bash'])"
    code += "; sys.exit('hydra' in sys.modules or 'numpy' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COMP_LINE": line, "COMP_POINT": str(len(line))}
    output = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "experiment=beyond/tied_rows\n" in output.stdout


class TestQueries:
    def ask(self, line: str, shell: str, monkeypatch: pytest.MonkeyPatch, point: int | None = None) -> list[str]:
        monkeypatch.setenv("COMP_LINE", line)
        monkeypatch.setenv("COMP_POINT", str(len(line) if point is None else point))
        return command("-sc", f"query={shell}")[1]

    @pytest.mark.parametrize("shell", SHELLS)
    def test_run_answers_one_word_a_line(self, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
        answers = self.ask("pomrl run estimator=ada", shell, monkeypatch)
        assert answers == ["estimator=ada_pomrl", "estimator=ada_pomrl_forgetting"]

    def test_what_follows_the_cursor_is_not_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.ask("pomrl run sigm runs=3", "bash", monkeypatch, len("pomrl run sigm")) == ["sigma="]

    def test_each_shell_in_hydras_help_has_scripts(self) -> None:
        offered = re.findall(r"-sc (\w+=\w+)", "\n".join(command("--hydra-help")[1]))
        assert sorted(offered) == sorted(SCRIPT_WORDS)
        assert all(command("-sc", setting)[0] == 0 for setting in offered)

    def test_another_shell_is_refused_in_one_line(self) -> None:
        status, _, message = command("-sc", "install=tcsh")
        assert status == 2
        assert message.startswith("--shell-completion must be install=bash, ")
        assert message.endswith("got install=tcsh\n")


def test_fish_adds_no_space_to_a_value() -> None:
    assert for_fish(["estimator=pomrl,bayes"]) == ["estimator=pomrl,bayes", "estimator=pomrl,bayes,"]
    assert for_fish(["table "]) == ["table"]
    assert for_fish(["sigma="]) == ["sigma="]


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, shell: str, folder: Path) -> None:
        process, self.screen = pty.fork()
        if process == 0:
            programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            own = {"PATH": programs, "PYTHONPATH": str(ROOT / "src"), "HOME": str(folder), "TERM": "xterm"}
            os.execvpe(shell, SHELLS[shell][0], {**os.environ, **own})
        self.process = process

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def read_until(self, pattern: str) -> str:
        """Return the first group of a pattern in what the shell prints."""
        printed, end = "", time.monotonic() + SECONDS
        while not (match := re.search(pattern, printed)) and time.monotonic() < end:
            if select.select([self.screen], [], [], 0.1)[0]:
                printed += os.read(self.screen, 65536).decode(errors="replace")
        assert match, printed
        return match[1]

    def run(self, line: str) -> None:
        """Run a line and wait for its end."""
        self.type(f"{line}\n echo rea''dy\n")
        self.read_until("(ready)")

    def complete(self, prefix: str) -> str:
        """Type words and Tab; return the line, up to the cursor."""
        self.type(f"{prefix}\tX\x01echo '<\x05>'\n")
        return self.read_until(r"<((?:pomrl|python) [^\x1b]*)X>\r?\n")

    def close(self) -> None:
        os.kill(self.process, 9)
        os.waitpid(self.process, 0)
        os.close(self.screen)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shell", [pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason="absent")) for name in SHELLS]
)
def test_shells_complete_what_is_typed(shell: str, cwd: Path) -> None:
    (cwd / "file.zip").touch()
    terminal = Terminal(shell, cwd)
    try:
        terminal.run(SHELLS[shell][1])
        lines = {
            "pomrl ta": "pomrl table ",
            "pomrl run sigm": "pomrl run sigma=",
            "pomrl run -m estimator=pomrl,with": "pomrl run -m estimator=pomrl,without_meta",
            "pomrl run experiment=bey": "pomrl run experiment=beyond/",
            "python -m src.run T=2 estimator=with": "python -m src.run T=2 estimator=without_meta",
            "pomrl export fil": "pomrl export file.zip",
            "python fil": "python file.zip",
        }
        assert {
            text: terminal.complete(text).removesuffix(" " * ("file" in line)) for text, line in lines.items()
        } == lines
        terminal.run(REMOVAL[shell])
        assert terminal.complete("pomrl ta") == "pomrl ta"
        assert terminal.complete("python fil").rstrip() == "python file.zip"
    finally:
        terminal.close()
