"""Jobs of Slurm, submitted as arrays by submitit.

Each job computes some of the items, one after another, and leaves what comes of each in a file; this process reads
them as they come. Whether a job still lives is asked of `squeue`, which knows without accounting; why it died, of
`sacct`, which needs it. Items that a dead job leaves behind are tried again, each in a job of its own. A job that Slurm
puts back into its queue goes on behind the items whose files are there.
"""

import pickle
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
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
    from submitit.core.utils import FailedJobError, pickle_load
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
        deaths = ["it left no result"]
        for attempt in range(self.tries):
            jobs = self.array_size if attempt == 0 else len(pending)
            yield from self._round(folder, function, pending, jobs, deaths)
            if not pending:
                shutil.rmtree(folder, ignore_errors=True)  # a job that is being cancelled may still write
                return
        reason = f"its job died in each of {self.tries} tries; the last: {deaths[-1]}"
        yield from ((index, Failure(reason, f"logs are in {folder}")) for index in pending)

    def _round(
        self,
        folder: Path,
        function: Callable[[Item], Outcome],
        pending: dict[int, Item],
        jobs: int,
        deaths: list[str],
    ) -> Iterator[tuple[int, Outcome]]:
        """Deal the items to jobs; what comes of them, until there is all or all jobs are over.

        Items are taken out of `pending` as they come; why jobs died is added to `deaths`.
        """
        items = list(pending.items())
        hands = [items[start::jobs] for start in range(min(jobs, len(items)))]
        arrays = [hands[start : start + self.array_size] for start in range(0, len(hands), self.array_size)]
        submitted: list[Job[None]] = []
        try:
            for array in arrays:
                submitted += self._submit(folder, function, array)
            alive = True
            while alive and pending:
                alive = bool(_alive(submitted))
                yield from _arrived(folder, pending)
                sleep(POLL if alive and pending else 0)
            deaths += [death for job in submitted if pending and (death := _death(job))]
        finally:
            _cancel(submitted)
            if not submitted:
                shutil.rmtree(folder)

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
        _end_without_ado()
        for index, item in items:
            path = _result(self.folder, index)
            if not path.exists():
                temporary = path.with_suffix(".part")
                temporary.write_bytes(pickle.dumps(self._outcome(item)))
                temporary.replace(path)

    def _outcome(self, item: Any) -> Any:
        try:
            return self.function(item)
        except Exception as error:
            return Raised(error)


def _end_without_ado() -> None:
    """Let Slurm end this job where its time is over.

    submitit would raise an exception wherever the warning of that (SIGUSR2) finds us, and ignore the end (SIGTERM).
    """
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


class Raised:
    """That the function raised an exception."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _result(folder: Path, index: int) -> Path:
    """Where the result of an item is left."""
    return folder / f"{index}.result"


def _arrived(folder: Path, pending: dict[int, Any]) -> Iterator[tuple[int, Any]]:
    """The results that are there of items that are pending, and then are no longer. What was raised is raised."""
    found = {int(path.stem) for path in folder.glob("*.result")}
    for index in sorted(found & pending.keys()):
        result = pickle.loads(_result(folder, index).read_bytes())
        if isinstance(result, Raised):
            raise result.error
        del pending[index]
        yield index, result


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


def _death(job: Job[None]) -> str:
    """Why a job died; empty where it came to its end."""
    if not job.paths.result_pickle.exists():
        return f"job {job.job_id}, {job.watcher.get_state(job.job_id, mode='force')}"
    outcome, traceback = pickle_load(job.paths.result_pickle)
    return f"job {job.job_id}, {traceback.strip().splitlines()[-1]}" if outcome == "error" else ""
