"""Outputs that the commands have made, for tests of what is made of them, and calls of commands in this process."""

import contextlib
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from pomrl.claims import CLAIMS, loading
from pomrl.commands import claims, figures, report, run
from pomrl.configuration import studies
from pomrl.report.page import Documents

SWEEP = "initial_similarity"
"""The sweep of the outputs of every kind."""

DRAWN = ["initial_similarity", "vacuous_bounds"]
"""Their figures."""


class Command(Protocol):
    """A module of `pomrl.commands`."""

    def main(self) -> None: ...


def call(command: Command, *arguments: str) -> tuple[int, str, str]:
    """Call a command in this process; return its status, output and messages. An error that is no line is raised."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setenv("HYDRA_FULL_ERROR", "0")
        patch.setattr(sys, "argv", ["command", *arguments])
        try:
            command.main()
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), err.getvalue()


@contextmanager
def two_runs_of(sweeps: Sequence[str], folder: Path) -> Iterator[None]:
    """Compute two runs of published sweeps into a folder of outputs, which is in use while the context lasts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(folder))
        for name in sweeps:
            assert call(run, f"experiment={name}", "runs=2")[0] == 0
        yield


@contextmanager
def outputs_of_every_kind(folder: Path) -> Iterator[None]:
    """Make runs, a simulation, figures, claims, and the report, of one sweep as if there were no other, in a folder."""
    with two_runs_of([SWEEP], folder), pytest.MonkeyPatch.context() as patch:
        few = [claim for claim in CLAIMS if claim.id in ("A.5", "T.1")]
        for module in (claims, loading):
            patch.setattr(module, "CLAIMS", few)
        patch.setattr(studies, "names", lambda sources: [SWEEP])
        patch.setattr(report, "documents", lambda: Documents("", "", ""))
        assert [call(figures, *DRAWN)[0], call(claims)[0], call(report)[0]] == [0, 0, 0]
        yield


def page(folder: Path) -> str:
    """Return the report in a folder of outputs."""
    return (folder / "report" / "index.html").read_text()


def page_without_provenance(folder: Path) -> str:
    """Return the report without its last section, which has the times of computations."""
    return page(folder).partition('<section id="provenance"')[0]
