"""An engine that computes in Slurm jobs, submitted as arrays by submitit.

Each job computes a share of the items, one after another, and writes the result of each to a file; this process reads
the files as they appear. `squeue`, which works without accounting, says whether a job is alive; `sacct`, which needs
accounting, says why it died. Items that a dead job leaves behind are tried again, each in a job of its own. A job that
Slurm requeues skips the items whose files exist.
"""

import pickle
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from time import sleep
from typing import Annotated, Any

from pydantic import Field

from pomrl.execution.engine import (
    EngineUnavailableError,
    Execution,
    ExecutionError,
    Failure,
    Isolation,
    Item,
    MissingPackagesError,
    Result,
    Work,
)
from pomrl.outputs import outputs

try:
    from submitit import Job, SlurmExecutor
    from submitit.core.utils import FailedJobError, pickle_load
except ImportError as error:
    raise MissingPackagesError(
        "execution=slurm needs the packages of pomrl[slurm]: pip install 'pomrl[slurm]'"
    ) from error

POLL = 1.0
"""Seconds between two looks at the folder and the queue."""

Share = Sequence[tuple[int, Any]]
"""The items of one job, each with its index."""


@dataclass(frozen=True)
class _Attempt:
    """What came of submitting items: the indices that have results, and why jobs died, oldest first."""

    finished: frozenset[int]
    deaths: tuple[str, ...]


class Slurm(Execution):
    """Jobs of Slurm, on nodes that see this folder."""

    partition: Annotated[str | None, Field(description="partition of the cluster; null: its default")] = None
    time: Annotated[int, Field(ge=1, description="minutes that a job may take")] = 60
    memory: Annotated[str, Field(pattern=r"^\d+[KMGT]B?$", description="memory of a job, such as 4GB")] = "4GB"
    array_size: Annotated[
        int, Field(ge=1, description="jobs in an array, at most the cluster's MaxArraySize; they share the work")
    ] = 100
    tries: Annotated[int, Field(ge=1, description="how often work is tried whose job dies")] = 3
    folder: Annotated[
        str | None,
        Field(description="folder of jobs and their logs, that all nodes see; null: slurm/ in the outputs"),
    ] = None

    def capacity(self) -> int:
        return self.array_size

    def map_unordered(
        self, function: Callable[[Item], Result], work: Sequence[Work[Item]], isolation: Isolation = Isolation.PROCESS
    ) -> Iterator[tuple[int, Result | Failure]]:
        if not shutil.which("sbatch"):
            raise EngineUnavailableError("execution=slurm: there is no sbatch here; run it where jobs are submitted")
        base = Path(self.folder or outputs() / "slurm").resolve()
        base.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(dir=base))
        pending = {index: each.item for index, each in enumerate(work)}
        last_death = "it left no result"
        for attempt in range(self.tries):
            jobs = self.array_size if attempt == 0 and isolation is not Isolation.ALONE else len(pending)
            outcome = yield from self._attempt(folder, function, pending, jobs)
            pending = {index: item for index, item in pending.items() if index not in outcome.finished}
            if not pending:
                shutil.rmtree(folder, ignore_errors=True)  # a job that is being cancelled may still write
                return
            last_death = outcome.deaths[-1] if outcome.deaths else last_death
        reason = f"its job died in each of {self.tries} tries; the last: {last_death}"
        yield from ((index, Failure(reason, f"logs are in {folder}")) for index in pending)

    def _attempt(
        self, folder: Path, function: Callable[[Item], Result], items: Mapping[int, Item], jobs: int
    ) -> Generator[tuple[int, Result], None, _Attempt]:
        """Submit items in at most `jobs` jobs and yield their results until all are there or no job is alive."""
        indexed = list(items.items())
        shares = [indexed[start::jobs] for start in range(min(jobs, len(indexed)))]
        arrays = [shares[start : start + self.array_size] for start in range(0, len(shares), self.array_size)]
        submitted: list[Job[None]] = []
        waiting = set(items)
        try:
            for array in arrays:
                submitted += self._submit(folder, function, array)
            alive = True
            while alive and waiting:
                alive = _is_alive(submitted)  # asked before the files are listed, so that no last result is missed
                there = {int(path.stem) for path in folder.glob("*.result")}
                for index in sorted(waiting & there):
                    yield index, _read(folder, index)
                    waiting.remove(index)
                sleep(POLL if alive and waiting else 0)
            deaths = [death for job in submitted if waiting and (death := _death(job))]
            return _Attempt(frozenset(items.keys() - waiting), tuple(deaths))
        finally:
            _cancel(submitted)
            if not submitted:
                shutil.rmtree(folder)

    def _submit(self, folder: Path, function: Callable[[Item], Result], shares: Sequence[Share]) -> list[Job[None]]:
        """Submit one array with a job for each share."""
        limits = {"time": self.time, "mem": self.memory, "cpus_per_task": 1, "array_parallelism": self.array_size}
        partition = {"partition": self.partition} if self.partition else {}
        try:
            executor = SlurmExecutor(folder=folder, max_num_timeout=0)
            executor.update_parameters(job_name="pomrl", **limits, **partition)
            return executor.map_array(partial(_compute_share, function, folder), shares)
        except (FailedJobError, RuntimeError) as error:
            raise EngineUnavailableError(f"execution=slurm: {error}") from error


@dataclass(frozen=True)
class _Raised:
    """The result of an item for which the function raised an exception."""

    error: Exception


def _compute_share(function: Callable[[Any], Any], folder: Path, share: Share) -> None:
    """Compute the items of a job one by one, and write each result to a file, whole or not at all."""
    # submitit raises an exception at the warning before the end (SIGUSR2), wherever the job is, and ignores SIGTERM.
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # so that Slurm can end the job when its time is over
    for index, item in share:
        path = _result_path(folder, index)
        if path.exists():
            continue
        try:
            result = function(item)
        except Exception as error:
            result = _Raised(error)
        temporary = path.with_suffix(".part")
        temporary.write_bytes(pickle.dumps(result))
        temporary.replace(path)


def _result_path(folder: Path, index: int) -> Path:
    return folder / f"{index}.result"


def _read(folder: Path, index: int) -> Any:
    """Return the result of an item, or raise what the function raised for it."""
    result = pickle.loads(_result_path(folder, index).read_bytes())
    if isinstance(result, _Raised):
        raise result.error
    return result


def _is_alive(jobs: Sequence[Job[None]]) -> bool:
    """Return whether any of the jobs waits or runs."""
    return bool(_slurm("squeue", "--noheader", "--array", "--format=%i", f"--jobs={','.join(_arrays(jobs))}").split())


def _cancel(jobs: Sequence[Job[None]]) -> None:
    """Cancel the jobs that wait or run."""
    if jobs and _is_alive(jobs):
        _slurm("scancel", *_arrays(jobs))


def _arrays(jobs: Sequence[Job[None]]) -> list[str]:
    """Return the ids of the arrays that the jobs belong to."""
    return sorted({job.job_id.partition("_")[0] for job in jobs})


def _slurm(*command: str) -> str:
    """Return what a command of Slurm prints; nothing if it does not know the jobs any more."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and "Invalid job id" not in done.stderr:
        raise ExecutionError(f"{command[0]}: {' '.join(done.stderr.split())}")
    return done.stdout


def _death(job: Job[None]) -> str | None:
    """Return why a job died, or None if it came to its end."""
    if not job.paths.result_pickle.exists():
        return f"job {job.job_id}, {job.watcher.get_state(job.job_id, mode='force')}"
    outcome, traceback = pickle_load(job.paths.result_pickle)
    return f"job {job.job_id}, {traceback.strip().splitlines()[-1]}" if outcome == "error" else None
