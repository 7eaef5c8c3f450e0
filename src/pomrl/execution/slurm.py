"""Jobs of Slurm, submitted as arrays by submitit.

Each job computes some of the items, one after another, and leaves what comes of each in a file; this process reads
them as they come. Whether a job still lives is asked of `squeue`, which knows without accounting; why it died, of
`sacct`, which needs it. Items that a dead job leaves behind are tried again, each in a job of its own.
"""

import pickle
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from time import sleep
from typing import Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED
from pomrl.execution.engine import Execution, ExecutionError, Failure, Item, MissingPackagesError, Outcome

try:
    from submitit import Job, SlurmExecutor
    from submitit.core.utils import FailedJobError
except ImportError as error:
    raise MissingPackagesError(
        "execution=slurm needs the packages of pomrl[slurm]: pip install -e '.[slurm]'"
    ) from error

POLL = 1.0
"""Seconds between two looks at the folder and the queue."""

Numbered = tuple[int, Any]
"""An item with its index."""


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Slurm(Execution):
    """Jobs of Slurm, on nodes that see this folder."""

    partition: Annotated[str | None, Field(description="of the cluster; null: its default")] = None
    time: Annotated[int, Field(ge=1, description="minutes that a job may take")] = 60
    memory: Annotated[str, Field(pattern=r"^\d+[KMGT]B?$", description="of a job, such as 4GB")] = "4GB"
    array_size: Annotated[
        int, Field(ge=1, description="jobs in an array, at most MaxArraySize of the cluster; blocks are dealt to them")
    ] = 100
    tries: Annotated[int, Field(ge=1, description="how often a block is tried whose job dies")] = 3
    folder: Annotated[str, Field(description="for jobs and their logs, on a file system that all nodes see")] = (
        "outputs/slurm"
    )

    @property
    def shares_outputs(self) -> bool:
        return True

    def map_unordered(
        self, function: Callable[[Item], Outcome], items: Sequence[Item], seconds: float
    ) -> Iterator[tuple[int, Outcome | Failure]]:
        if not shutil.which("sbatch"):
            raise ExecutionError("execution=slurm: there is no sbatch here; run it where jobs are submitted from")
        base = Path(self.folder).resolve()
        base.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(dir=base))
        pending = dict(enumerate(items))
        deaths: list[str] = []
        for attempt in range(self.tries):
            jobs = self.array_size if attempt == 0 else len(pending)
            for index, outcome in self._round(folder, function, list(pending.items()), jobs, deaths):
                del pending[index]
                yield index, outcome
            if not pending:
                shutil.rmtree(folder)
                return
        reason = f"its job died in each of {self.tries} tries; the last: {deaths[-1]}"
        yield from ((index, Failure(reason, f"logs are in {folder}")) for index in pending)

    def _round(
        self, folder: Path, function: Callable[[Item], Outcome], items: list[Numbered], jobs: int, deaths: list[str]
    ) -> Iterator[tuple[int, Outcome]]:
        """Deal the items to jobs; what comes of them, until all jobs are over. Why jobs died is added to `deaths`."""
        hands = [items[start::jobs] for start in range(min(jobs, len(items)))]
        arrays = [hands[start : start + self.array_size] for start in range(0, len(hands), self.array_size)]
        submitted: list[Job[None]] = []
        try:
            for array in arrays:
                submitted += self._submit(folder, function, array)
            alive = True
            while alive:
                alive = bool(_alive(submitted))
                yield from _arrived(folder)
                sleep(POLL if alive else 0)
            deaths += chain.from_iterable(_death(job) for job in submitted)
        finally:
            _cancel(submitted)

    def _submit(
        self, folder: Path, function: Callable[[Item], Outcome], hands: Sequence[Sequence[Numbered]]
    ) -> list[Job[None]]:
        """One array of jobs, a job for each hand."""
        limits = {"time": self.time, "mem": self.memory, "cpus_per_task": 1, "array_parallelism": self.array_size}
        partition = {"partition": self.partition} if self.partition else {}
        try:
            executor = SlurmExecutor(folder=folder, max_num_timeout=0)
            executor.update_parameters(job_name="pomrl", **limits, **partition)
            return executor.map_array(Hand(function, folder), hands)
        except (FailedJobError, RuntimeError) as error:
            raise ExecutionError(f"execution=slurm: {error}") from error


class Hand:
    """What a job does: it computes its items one by one, and leaves each result in a file, whole or not at all."""

    def __init__(self, function: Callable[[Any], Any], folder: Path) -> None:
        self.function = function
        self.folder = folder

    def __call__(self, items: Sequence[Numbered]) -> None:
        for index, item in items:
            try:
                result: Any = self.function(item)
            except Exception as error:
                result = Raised(error)
            temporary = self.folder / f"{index}.part"
            temporary.write_bytes(pickle.dumps(result))
            temporary.replace(self.folder / f"{index}.result")


class Raised:
    """That the function raised an exception."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _arrived(folder: Path) -> Iterator[tuple[int, Any]]:
    """The results that are there, which are then taken away. What a function raised is raised."""
    for path in sorted(folder.glob("*.result")):
        result = pickle.loads(path.read_bytes())
        path.unlink()
        if isinstance(result, Raised):
            raise result.error
        yield int(path.stem), result


def _alive(jobs: Sequence[Job[None]]) -> list[str]:
    """Those of the jobs that wait or run."""
    arrays = sorted({job.job_id.partition("_")[0] for job in jobs})
    asked = _slurm("squeue", "--noheader", "--array", "--format=%i", f"--jobs={','.join(arrays)}")
    return asked.split()


def _cancel(jobs: Sequence[Job[None]]) -> None:
    """All that are left, where this process ends before them."""
    if jobs and _alive(jobs):
        _slurm("scancel", *sorted({job.job_id.partition("_")[0] for job in jobs}))


def _slurm(*command: str) -> str:
    """What a command of Slurm prints; nothing where it knows none of the jobs any more."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and "Invalid job id" not in done.stderr:
        raise ExecutionError(f"{command[0]}: {' '.join(done.stderr.split())}")
    return done.stdout


def _death(job: Job[None]) -> list[str]:
    """Why a job died; nothing where it came to its end."""
    if job.paths.result_pickle.exists():
        return []
    state = job.watcher.get_state(job.job_id, mode="force")
    return [f"job {job.job_id}, {state}"]
