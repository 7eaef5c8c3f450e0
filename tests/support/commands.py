"""Commands in separate processes that need no new import of the library."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ANSWERING = """
import json, os, runpy, sys, tempfile
from pomrl.commands import diff, main, reproduce, run
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import experiment
from pomrl.store import signature

signature(experiment(PUBLISHED, []))  # which Hydra's plugins and the syntax of our modules are needed for
for line in sys.stdin:
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        copy = os.fork()
        if not copy:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            sys.argv[1:], sys.path[0] = json.loads(line), os.getcwd()  # as python -m has them
            runpy.run_module("pomrl", run_name="__main__", alter_sys=True)
            sys.exit()
        status = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
        print(json.dumps([status, *(file.seek(0) or file.read() for file in (out, err))]), flush=True)
"""
"""A program: each line of input has arguments of `python -m pomrl`, which runs in a fork."""


@dataclass(frozen=True)
class Commands:
    """A process that executes each command in a fork."""

    process: subprocess.Popen[str]

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Execute `pomrl` with these arguments; return its status, output and messages."""
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps(arguments), file=self.process.stdin, flush=True)
        status, out, err = json.loads(self.process.stdout.readline())
        return status, out, err


@contextmanager
def commands(folder: Path, **environment: str) -> Iterator[Commands]:
    """Yield an executor of commands in a folder with these variables."""
    inherited = {name: os.environ[name] for name in ("PATH", "OPENBLAS_NUM_THREADS", "LOKY_MAX_CPU_COUNT")}
    variables = inherited | environment
    program, pipe = [sys.executable, "-c", ANSWERING], subprocess.PIPE
    with subprocess.Popen(program, cwd=folder, env=variables, stdin=pipe, stdout=pipe, text=True) as process:
        yield Commands(process)
