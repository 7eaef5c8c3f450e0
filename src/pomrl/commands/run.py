"""The command `pomrl run`: compose experiments with Hydra, and compute them."""

import os
import re
import sys
import warnings
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, pairwise
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import env_override
from hydra.types import RunMode
from omegaconf import DictConfig

from pomrl.commands.terminal import exit_with
from pomrl.configuration.composed import GROUPS, ConfigError
from pomrl.configuration.composition import composing, parse_flags, register_short_names, to_composed
from pomrl.configuration.importing import add_to_path
from pomrl.configuration.overrides import overrides
from pomrl.configuration.resolvers import register_resolvers
from pomrl.configuration.sources import PUBLISHED, Sources, named_folders, sweep_option
from pomrl.outputs import outputs

BASH_COMPLETION = r"""
_pomrl_run() {
    local words word=${COMP_LINE##* }
    case $COMP_LINE in
        "pomrl run "*) words=${COMP_LINE#pomrl run } ;;
        "python -m src.run "*) words=${COMP_LINE#python -m src.run } ;;
        *) return ;;
    esac
    COMPREPLY=($(compgen -W "$(COMP_LINE="pomrl $words" pomrl run -sc query=bash)" -- "$word"))
}
COMP_WORDBREAKS=${COMP_WORDBREAKS//=}
complete -o nospace -o default -F _pomrl_run pomrl python
"""

INFO_OF_HYDRA = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")
"""The values of the Hydra option `--info`."""

FULL_ERROR = "HYDRA_FULL_ERROR"
"""The environment variable to get tracebacks from Hydra and this command."""


@hydra.main(version_base="1.3", config_path=str(PUBLISHED.folder), config_name="config")
def compute(config: DictConfig) -> float | None:
    """Compute an experiment and return its mean loss, for sweepers to minimise."""
    from pomrl.commands import computing  # not needed for help
    from pomrl.commands.errors import JobError, ReportedError
    from pomrl.configuration.parsing import parse

    hydra_config = HydraConfig.get()
    try:
        with _use_folder(Path(hydra_config.runtime.cwd)):
            experiment = parse(to_composed(config, hydra_config))
            task_overrides, folder = list(hydra_config.overrides.task), Path(hydra_config.runtime.output_dir)
            computing.write_jobs(hydra_config, folder, [task_overrides], [experiment])
            failures = computing.compute([experiment])
            computing.print_results([experiment], are_complete=not failures)
            for failure in failures.values():
                raise ReportedError(failure.reason)
            return None if experiment.request.dry_run else computing.objective(experiment)
    except Exception as error:
        if hydra_config.mode == RunMode.RUN and not hydra_config.callbacks:
            raise JobError from error
        raise


def run() -> None:
    """Run one experiment, or a sweep with -m, and store the results."""
    from pomrl.commands.errors import JobError, one_line_errors  # not needed in processes of launchers

    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")  # about work cancelled by an interrupt
    with one_line_errors():
        sys.argv[1:] = _info_as_help(sys.argv[1:])
        flags = parse_flags(sys.argv[1:], lambda message: exit_with(f"{message}; --hydra-help lists the options", 2))
        if nothing := [override for override in flags.overrides if override in [f"{group}={{}}" for group in GROUPS]]:
            raise ConfigError(f"{nothing[0]}: a group must have the name of an option")
        if flags.shell_completion and flags.overrides != ["query=bash"]:
            print_completion(flags.overrides)
            return
        sources = PUBLISHED.with_options(flags.config_dir and Path(flags.config_dir))
        for folder in named_folders(chain.from_iterable(map(_named_sweeps, flags.overrides))):
            sources = sources.with_study(folder)
        for sweep in chain.from_iterable(map(_named_sweeps, flags.overrides)):
            from pomrl.configuration.sweeps import check_hydra_choices  # not needed for help

            check_hydra_choices(sources, sweep)
        folders = [folder / "conf" for folder in sources.named]
        if flags.config_path:  # Hydra then does not search our folder
            register_resolvers()
            register_short_names()
            folders = [*sources.folders[1:], *folders]
        sys.argv[1:] = _hydra_arguments(sys.argv[1:], folders)
        with _hydra_errors_as_ours(flags, sources):
            try:
                compute()
            except JobError as error:
                raise error.__cause__ or error from None


def _named_sweeps(override: str) -> list[str]:
    return override.partition("=")[2].split(",") if override.startswith("experiment=") else []


def _hydra_arguments(arguments: Sequence[str], folders: Sequence[Path]) -> list[str]:
    named = [
        "experiment=" + ",".join(map(sweep_option, sweeps)) if (sweeps := _named_sweeps(argument)) else argument
        for argument in arguments
    ]
    paths = [f"file://{folder}" for folder in folders]
    return named + (overrides({"hydra.searchpath": paths}) if paths else [])


def _info_as_help(arguments: Sequence[str]) -> list[str]:
    """Replace `--info` by the long help, except with `INFO_OF_HYDRA`."""
    pairs = list(pairwise([*arguments, ""]))
    remaining = [
        argument for argument, following in pairs if argument not in ("--info", "-i") or following in INFO_OF_HYDRA
    ]
    if len(remaining) == len(arguments):
        return remaining
    first = next(
        (position for position, argument in enumerate(remaining) if "=" in argument and not argument.startswith("-")),
        len(remaining),
    )
    return [
        "--help",
        *remaining[:first],
        "hydra/help=info",
        *remaining[first:],
    ]  # overrides must be adjacent


@contextmanager
def _hydra_errors_as_ours(flags: Namespace, sources: Sources) -> Iterator[None]:
    if os.environ.get(FULL_ERROR, "0") not in ("", "0"):
        yield
        return
    from pomrl.commands.errors import OURS

    try:
        with env_override({FULL_ERROR: "1"}):
            yield
    except OURS:
        raise
    except Exception:  # from Hydra: errors of jobs are in a JobError
        from pomrl.configuration.sweeps import check_first  # not needed for help

        with composing():
            if not (flags.config_name or flags.config_path):  # this package may have a better message
                task_overrides = [override for override in flags.overrides if not re.match(r"[+~]*hydra\b", override)]
                if not any(
                    override.startswith("hydra/sweeper=") for override in flags.overrides
                ):  # its values may be intervals
                    check_first(sources, task_overrides, is_sweep=flags.multirun)
            raise


@contextmanager
def _use_folder(folder: Path) -> Iterator[None]:
    """Use outputs and modules of this folder despite `hydra.job.chdir`."""
    if folder.resolve() == Path.cwd().resolve():
        yield
        return
    add_to_path(folder)
    with env_override({"POMRL_OUTPUTS": str(folder / outputs())}):
        yield


def print_completion(arguments: Sequence[str]) -> None:
    """Print Bash code to install or remove completion."""
    if [*arguments] not in (["install=bash"], ["uninstall=bash"]):
        raise ConfigError(f"--shell-completion must be install=bash or uninstall=bash, got {' '.join(arguments)}")
    print(BASH_COMPLETION if arguments[0].startswith("install") else "complete -r pomrl python; unset -f _pomrl_run")
