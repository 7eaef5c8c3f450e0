"""Run one experiment, or a sweep of them, and store the results.

python -m src.run                                   the defaults
python -m src.run -m sigma=0.01,0.025,0.047         a sweep
python -m src.run experiment=task_similarity        a published sweep (conf/experiment)
"""

import os
import signal
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, NoReturn

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from pomrl import store
from pomrl.commands import tables
from pomrl.commands.errors import GOES_ON, explain
from pomrl.commands.progress import progress
from pomrl.commands.terminal import console, exit_with
from pomrl.configuration import composition
from pomrl.configuration.parsing import Composed, ConfigError, Experiment, parse
from pomrl.configuration.sources import PUBLISHED
from pomrl.running import sweeps
from pomrl.solvers import compiled


def main() -> None:
    """Run the command. The exit status is 0 where all of it succeeded.

    An error that its user can cause becomes one line on standard error; with HYDRA_FULL_ERROR set it is a traceback.
    """
    if sys.argv[1:] == ["--version"]:
        print(f"pomrl {version('pomrl')}, small models are solved by {'C' if compiled.is_used() else 'NumPy'}")
        raise SystemExit(0)
    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")  # of work that an interrupt cancelled
    _exit_at(signal.SIGTERM, signal.SIGHUP)
    traceback_wanted = os.environ.get("HYDRA_FULL_ERROR", "0") not in ("", "0")
    os.environ["HYDRA_FULL_ERROR"] = "1"  # so that Hydra raises its errors instead of printing them
    try:
        raise SystemExit(0 if run() else 1)
    except Exception as error:
        explanation = None if traceback_wanted else explain(error, sys.argv[1:])
        if explanation is None:
            raise
        exit_with(*explanation)
    except KeyboardInterrupt:
        exit_with(f"interrupted; {GOES_ON}", 130)


def run() -> bool:
    """Compute what the command line asks for, print the folder of each experiment; return whether all succeeded."""
    composition.register_resolvers()
    experiments = [parse(composed) for composed in compose()]
    succeeded = not experiments or compute(experiments)
    for experiment in experiments:
        print(store.lookup(experiment).folder)
    return succeeded


def compose() -> list[Composed]:
    """Compose the configurations that the command line asks for.

    Hydra only composes: the launcher hands over the jobs of a sweep as one list, and a single job is a sweep of one.
    """
    jobs: list[Composed] = []
    single: list[tuple[DictConfig, Mapping[str, Any]]] = []

    @hydra.main(version_base="1.3", config_path=str(PUBLISHED.folder), config_name="config")
    def collect(configs: Any) -> None:
        if isinstance(configs, DictConfig):
            single.append((configs, HydraConfig.get().runtime.choices))
        else:
            jobs.extend(configs)

    try:
        collect()
    except ValueError as error:  # Hydra's own complaint about the name of an option
        raise ConfigError(str(error)) from error
    return [*jobs, *(composition.plain(*each) for each in single)]


def compute(experiments: Sequence[Experiment]) -> bool:
    """Compute what the store lacks, and report on standard error; return whether nothing failed."""
    terminal = console(stderr=True)
    jobs = sweeps.checked_jobs(experiments)
    for fault in dict.fromkeys(fault for job in jobs for fault in job.faults):
        terminal.print(fault, soft_wrap=True)
    if experiments[0].request.dry_run:
        terminal.print(tables.plan(jobs))
        return True
    if complete := sum(not job.missing for job in jobs):
        terminal.print(f"{complete} of {len(jobs)} stored already, not computed again (force=true would)")
    with progress(sum(job.runs_missing for job in sweeps.unfinished(jobs).values())) as advance:
        failures = sweeps.compute(jobs, advance)
    terminal.print(tables.results(jobs) if len(jobs) <= tables.MOST_ROWS else f"{len(jobs)} jobs are done")
    if failures:
        terminal.print(tables.failed(jobs, failures))
    return not failures


def _exit_at(*signals: signal.Signals) -> None:
    """Exit at these signals as after an error, so that engines cancel their work.

    A signal that is ignored, as SIGHUP is under nohup, stays ignored.
    """

    def exit_at(number: int, _: object) -> NoReturn:
        exit_with(f"ended by {signal.Signals(number).name}; {GOES_ON}", 128 + number)

    for each in signals:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, exit_at)
