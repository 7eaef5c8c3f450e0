"""A callback of Hydra, and a search space of Optuna, that leave their calls in a file."""

import json
import os
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from omegaconf import OmegaConf

EVENTS = Path("events.jsonl")
"""The file of events, in the folder where a command starts."""


class RecordedCallback(Callback):
    """Append a line for each event: its name, and what a callback can know then."""

    def __init__(self, name: str = "") -> None:
        self.file, self.name = EVENTS.absolute(), name

    def on_run_start(self, config: Any, **kwargs: Any) -> None:
        self._record("run start")

    def on_run_end(self, config: Any, **kwargs: Any) -> None:
        self._record("run end")

    def on_multirun_start(self, config: Any, **kwargs: Any) -> None:
        self._record("multirun start")

    def on_multirun_end(self, config: Any, **kwargs: Any) -> None:
        self._record("multirun end")

    def on_job_start(self, config: Any, **kwargs: Any) -> None:
        number, stored = OmegaConf.select(config, "hydra.job.num"), len([*Path("outputs/runs").glob("*/*.parquet")])
        self._record("job start", number=number, note=config.note, stored=stored)

    def on_job_end(self, config: Any, job_return: JobReturn, **kwargs: Any) -> None:
        self._record("job end", status=job_return.status.name)

    def _record(self, event: str, **fields: Any) -> None:
        line = {"event": event, "by": self.name, **fields, "FOO": os.environ.get("FOO")}
        with self.file.open("a") as file:
            file.write(json.dumps(line) + "\n")


def events(folder: Path) -> list[dict[str, Any]]:
    """Return the recorded events, and forget them."""
    lines = (folder / EVENTS).read_text().splitlines()
    (folder / EVENTS).unlink()
    return [json.loads(line) for line in lines]


def search_space(config: Any, trial: Any) -> None:
    """Search for the starting deviation, as on the page of Optuna's sweeper."""
    trial.suggest_float("estimator.start_deviation", 0.1, 1.0)
