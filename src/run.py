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
from pathlib import Path
from typing import Any, NoReturn

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from rich.console import Console

from pomrl import config, store, summary, sweep
from pomrl.execution import ExecutionError
from pomrl.progress import progress

GOES_ON = "finished blocks are stored, and the same command goes on from them"

CONF = Path(__file__).parents[1] / "conf"


def compose() -> list[tuple[DictConfig, Mapping[str, str]]]:
    """The configurations that the command line asks for, each with the options that were chosen.

    Hydra only composes: a sweep comes as one list from the launcher, and a single run is a sweep of one.
    """
    composed: list[tuple[DictConfig, Mapping[str, str]]] = []

    @hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
    def collect(configs: Any) -> None:
        if isinstance(configs, DictConfig):
            composed.append((configs, HydraConfig.get().runtime.choices))
        else:
            composed.extend(configs)

    try:
        collect()
    except ValueError as error:  # what Hydra says of an option that is no name
        raise config.ConfigError(str(error)) from error
    return composed


def run() -> bool:
    """Compute what the command line asks for; whether all of it succeeded."""
    config.register_resolvers()
    experiments = [config.parse(composed, options) for composed, options in compose()]
    succeeded = not experiments or compute(experiments)
    for experiment in experiments:
        print(store.run_of(experiment).folder)
    return succeeded


def compute(experiments: Sequence[config.Experiment]) -> bool:
    """Compute what is missing, and say what was done; whether nothing failed."""
    people = Console(stderr=True, safe_box=True)
    jobs = sweep.jobs(experiments)
    for fault in dict.fromkeys(fault for job in jobs for fault in job.faults):
        people.print(fault, soft_wrap=True, highlight=False)
    if experiments[0].asked.dry_run:
        people.print(summary.plan(jobs))
        return True
    complete = [job for job in jobs if not job.parts]
    if complete:
        people.print(f"{len(complete)} of {len(jobs)} stored already, not computed again (force=true would)")
    lacking = {job.run.signature: job.runs_missing for job in sorted(jobs, key=lambda job: job.runs_missing)}
    with progress(sum(lacking.values())) as advance:
        failures = sweep.compute(jobs, advance)
    people.print(summary.results(jobs) if len(jobs) <= summary.MOST_ROWS else f"{len(jobs)} jobs are done")
    if failures:
        people.print(summary.failed(jobs, failures))
    return not failures


def main() -> None:
    """The command. Every error that a person can cause is one line, but with HYDRA_FULL_ERROR set it is a traceback."""
    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")  # of work that an interrupt cancelled
    _end_as_after_an_interrupt(signal.SIGTERM, signal.SIGHUP)
    traceback_wanted = os.environ.get("HYDRA_FULL_ERROR", "0") not in ("", "0")
    os.environ["HYDRA_FULL_ERROR"] = "1"  # so that Hydra raises its errors instead of printing them
    try:
        raise SystemExit(0 if run() else 1)
    except Exception as error:
        if traceback_wanted:
            raise
        status, line = explained(error)
        if not line:
            raise
        _exit(status, line)
    except KeyboardInterrupt:
        _exit(130, f"interrupted; {GOES_ON}")


def _end_as_after_an_interrupt(*signals: signal.Signals) -> None:
    """Where one of these ends this process, let engines cancel what they have asked for; nohup's SIG_IGN stays."""

    def end(number: int, _: object) -> NoReturn:
        _exit(128 + number, f"ended by {signal.Signals(number).name}; {GOES_ON}")

    for each in signals:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, end)


def explained(error: Exception) -> tuple[int, str]:
    """Exit status and line for an error that a person can cause; an empty line for any other."""
    match error:
        case OverrideParseException():
            return 2, f"{error.override}: Hydra cannot read this override; it has to be key=value"
        case MissingConfigException():
            return 1, _no_such_option(error)
        case ConfigCompositionException():
            return 1, _composition(error)
        case MemoryError():
            return 1, "not enough memory for models of this size; S, A, or execution.runs_at_a_time has to be smaller"
        case (
            config.ConfigError()
            | store.StoreError()
            | ExecutionError()
            | HydraException()
            | OmegaConfBaseException()
            | OSError()
        ):
            return 1, " ".join(str(error).split())
        case _:
            return 1, ""


def _no_such_option(error: MissingConfigException) -> str:
    group, _, name = str(error.missing_cfg_file).rpartition("/")
    if not group or not error.options:
        return " ".join(str(error).split())
    return f"{group}={name}: there is no such option; there are {', '.join(sorted(error.options))}"


def _composition(error: ConfigCompositionException) -> str:
    text = str(error)
    override = text.split("'")[1] if text.startswith("Could not override '") else ""
    if text.startswith("Ambiguous value for argument '"):
        argument = text.split("'")[1]
        return f"{argument}: several values are a sweep, for which -m has to be on the command line"
    if text.startswith("Multiple values for "):
        group = text.split()[3].rstrip(".")
        return f"+{group}: this group has an option already; to choose another leave out the +: {group}=..."
    if not override:
        return " ".join(text.split())
    values = [word for word in sys.argv[1:] if word.lstrip("+~").startswith(f"{override}=")]
    return f"{values[0] if values else override}: {_unknown(override)}"


def _unknown(key: str) -> str:
    group, _, name = key.rpartition(".")
    if group:
        return f"the option of {group} that was chosen has no key {name}; its keys are in conf/{group}"
    return f"unknown key; the keys are {', '.join(config.KEYS)}, and those of the groups {', '.join(config.GROUPS)}"


def _exit(status: int, line: str) -> NoReturn:
    print(line, file=sys.stderr)
    raise SystemExit(status)


if __name__ == "__main__":
    main()
