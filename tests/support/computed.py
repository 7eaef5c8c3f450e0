"""Calls of commands in this process, and sample outputs for tests."""

import contextlib
import io
import logging
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from docs.build import documents
from tests.support.settings import STUDIES
from tests.support.study_folders import forget, write

from pomrl.commands import main, run
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import SWEEPS
from pomrl.running.plan import plan
from pomrl.running.work import raise_failures, work

SWEEP = "initial_similarity"
"""The sweep of the outputs of every kind."""

DRAWN = ("initial_similarity", "dirichlet_task_dist")
"""Their figures."""

SMALL = "small"
"""The name of their study."""

_FILES = {
    "study.yaml": "title: A sweep of the paper by itself\n",
    "claims.py": '''
from pomrl_studies.pomrl2023.theory.simulations import MODEL_ERROR_COVERAGE
from pomrl.study import Part, Rate, claim, less


@claim("A.5", "initial_similarity", figures=("initial_similarity",))
def start_matters_at_first(sweep):
    """A large first estimate of sigma slows ada-POMRL in the first tasks.

    Sec. 4: "a large initialization will slow down convergence".
    """
    small, large = (sweep.at(start_deviation=start).tasks((1, 2, 3)) for start in (0.1, 0.5))
    return [less(small, large, "start 0.1 less start 0.5")]


@claim("T.1", simulation=MODEL_ERROR_COVERAGE, figures=("dirichlet_task_dist",))
def bounds_hold(simulated):
    """The bounds on the model error hold in 95 % of sequences of tasks.

    Theorem 3, App. D: "with probability at least 1 - delta".
    """
    share = Rate(simulated["coverage"].min(), int(simulated["sequences"].min()))
    return [Part("share of sequences", share, above=0.95)]
''',
    "pages/notes.md": "# Notes\n\n<!-- count -->\n<!-- end of count -->\n",
    "pages/notes.py": """
def parts(page):
    return {"count": f"{len(page.judgements.main)} claims are judged."}
""",
}
"""The files of the study; the sweep and figures are copied from the paper's study."""


@dataclass(frozen=True)
class Stage:
    """A stage of `pomrl reproduce`; its arguments are a study, figures and options."""

    name: str


claims, figures, report = map(Stage, ("claims", "figures", "report"))
table, plot, view, docs, studies = "table", "plot", "view", "docs", "reproduce --list"

Command = ModuleType | str | Stage
"""The name of a command, its module in `pomrl.commands`, or another module with a function `main`."""


def command_line(command: Command, arguments: Sequence[str]) -> list[str]:
    """Return the words of a command, without `pomrl`."""
    if isinstance(command, str):
        return [*command.split(), *arguments]
    if isinstance(command, ModuleType):
        return [command.__name__.removeprefix("pomrl.commands.").rstrip("_"), *arguments]
    study, *options = arguments
    names = list(takewhile(lambda argument: not argument.startswith("-"), options))
    return ["reproduce", study, command.name, *options[len(names) :], *(["--only", *names] if names else [])]


def call(command: Command, *arguments: str) -> tuple[int, str, str]:
    """Call a command in this process; return its status, output and messages.

    Errors other than one-line errors are raised.
    """
    out, err, status = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setenv("HYDRA_FULL_ERROR", "0")
        patch.setattr(sys, "argv", ["command", *arguments])
        try:
            name, *options = command_line(command, arguments)
            if isinstance(command, ModuleType) and name not in main.COMMANDS:
                command.main()
            else:
                main.command(name, options)()
        except SystemExit as end:
            status = int(end.code or 0)
        finally:
            _close_logs()
    return status, out.getvalue(), err.getvalue()


def _close_logs() -> None:
    """Close the log file and the terminal's log of a Hydra job, so that the next test prints messages itself."""
    root = logging.getLogger()
    for handler in [
        handler for handler in root.handlers if type(handler) in (logging.FileHandler, logging.StreamHandler)
    ]:
        handler.close()
        root.removeHandler(handler)


def called(command: Command, *arguments: str) -> tuple[int, list[str], str]:
    """Call a command; return its status, lines of output, and messages."""
    status, out, err = call(command, *arguments)
    return status, out.splitlines(), err


def folders(lines: Sequence[str]) -> list[str]:
    """Return the folders of results that `pomrl run` has printed, without its table."""
    return [line for line in lines if "/runs/" in line]


def refused(command: Any, *arguments: str) -> str:
    """Check the failure of a command, and return its only line."""
    status, _, err = call(command, *arguments)
    lines = [line for line in err.splitlines() if not line.startswith("== ")]
    assert status != 0, err
    assert len(lines) == 1, err
    assert "Traceback" not in err
    return lines[0]


def compute(experiments: Sequence[Experiment]) -> None:
    """Compute and store missing runs of experiments; raise ExecutionError on a failure."""
    raise_failures(work(plan(experiments), lambda *_: None))


@contextmanager
def two_runs(sweeps: Sequence[str], folder: Path) -> Iterator[None]:
    """Compute two runs of published sweeps, and use their folder of outputs.

    Each argument is the name of a sweep, or several names separated by commas, for one command.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(folder))
        for names in sweeps:
            status, _, err = call(run, "-m", f"experiment={names}", "runs=2")
            assert status == 0, err
        shutil.rmtree(folder / "hydra")  # which has the times of the calls
        yield


@contextmanager
def outputs_of_every_kind(folder: Path) -> Iterator[str]:
    """Make all kinds of outputs of a study with one sweep.

    The study is in a folder next to the outputs. The value is its name in commands.
    """
    paper = STUDIES / "pomrl2023"
    scripts = [path for path in (paper / "figures").glob("*.py") if path.stem.endswith(DRAWN)]
    sweep = paper / SWEEPS / "pomrl2023" / f"{SWEEP}.yaml"
    files = _FILES | {str(path.relative_to(paper)): path.read_text() for path in scripts}
    files[f"sweeps/{SWEEP}.yaml"] = sweep.read_text()
    study = str(write(folder.with_name(f"{folder.name}_studies") / SMALL, files))
    with two_runs([SWEEP], folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        results = [call(figures, study, *DRAWN), call(claims, study), call(documents, study), call(report, study)]
        assert [status for status, _, _ in results] == [0, 0, 0, 0], results
        yield study
        forget(SMALL)  # the study of other outputs has its name


def page(folder: Path) -> str:
    """Return the report of the small study in a folder of outputs."""
    return (folder / "studies" / SMALL / "report" / "index.html").read_text()


def page_without_provenance(folder: Path) -> str:
    """Return the report without its last section, the times of computations."""
    return page(folder).partition('<section id="provenance"')[0]
