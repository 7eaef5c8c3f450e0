"""What jobs of Hydra leave beside Hydra's own files, and where they find what lies in the folder of the command."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra.core.utils import env_override

from pomrl import store
from pomrl.configuration.importing import add_to_path
from pomrl.configuration.parsing import Experiment
from pomrl.outputs import outputs

JOBS = "jobs.csv"
"""The table of jobs: number, signature, and overrides."""


@contextmanager
def staying_in(folder: Path) -> Iterator[None]:
    """Use outputs and modules of the folder of the command, wherever `hydra.job.chdir` leads."""
    if folder.resolve() == Path.cwd().resolve():
        yield
        return
    add_to_path(folder)
    with env_override({"POMRL_OUTPUTS": str(folder / outputs())}):
        yield


def write_jobs(
    hydra: Any, folder: Path, jobs: Sequence[Sequence[str]], experiments: Sequence[Experiment], first: int = 0
) -> None:
    """Add a line for each job to the table of jobs, unless `hydra.output_subdir=null` turns files of Hydra off.

    Args:
        hydra: Hydra's part of the configuration.
        folder: The folder of the command's files, outputs/hydra/DATE/TIME by default.
        jobs: The overrides of each job.
        experiments: The experiment of each job.
        first: The number of the first of these jobs.
    """
    if hydra.output_subdir is None:
        return
    is_new = not (folder / JOBS).exists()
    with (folder / JOBS).open("a", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        if is_new:
            rows.writerow(["job", "signature", "overrides"])
        for number, (words, experiment) in enumerate(zip(jobs, experiments, strict=True), first):
            rows.writerow([number, store.signature(experiment), " ".join(words)])
