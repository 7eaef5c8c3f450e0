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
from typing import cast

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import env_override
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from pomrl.commands.completion import describe_zsh, print_completion
from pomrl.commands.terminal import exit_with
from pomrl.configuration.composed import GROUPS, ConfigError
from pomrl.configuration.composition import parse_flags, register_short_names, to_composed
from pomrl.configuration.composition_errors import composing
from pomrl.configuration.resolvers import register_resolvers
from pomrl.configuration.sources import PUBLISHED, Sources, named_folders, search_also, sweep_option
from pomrl.outputs import outputs

INFO_OF_HYDRA = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")
"""The values of the Hydra option `--info`."""

FULL_ERROR = "HYDRA_FULL_ERROR"
"""The environment variable to get tracebacks from Hydra and this command."""


@hydra.main(version_base="1.3", config_path=str(PUBLISHED.folder), config_name="config")
def compute(config: DictConfig) -> float | None:
    """Compute an experiment and return its mean loss, for sweepers to minimise."""
    from pomrl.commands import computing  # not needed for help
    from pomrl.commands.errors import JobError
    from pomrl.configuration.parsing import parse

    hydra_config = HydraConfig.get()
    try:
        experiment = parse(to_composed(config, hydra_config))
        number = 0 if hydra_config.mode == RunMode.RUN else hydra_config.job.num
        overrides = OmegaConf.to_container(hydra_config.overrides.task)  # unresolved
        computing.write_jobs(hydra_config, {number: cast(list[str], overrides)}, [experiment])
        with computing.launch_folder():
            failures = computing.compute(computing.check([experiment]))
            computing.print_results([experiment], [bool(failures)])
            return computing.mean_loss(experiment, failures)
    except Exception as error:
        if hydra_config.mode == RunMode.RUN and not hydra_config.callbacks:
            raise JobError from error
        raise


def run(words: Sequence[str]) -> None:
    """Run one experiment, or a sweep with -m, and store the results."""
    from pomrl.commands.errors import JobError, one_line_errors  # not needed in processes of launchers

    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")  # about work cancelled by an interrupt
    with one_line_errors():
        arguments = _info_as_help(words)
        flags = parse_flags(arguments, lambda message: exit_with(f"{message}; --hydra-help lists the options", 2))
        if nothing := [override for override in flags.overrides if override in [f"{group}={{}}" for group in GROUPS]]:
            raise ConfigError(f"{nothing[0]}: a group must have the name of an option")
        if flags.shell_completion:
            print_completion(flags.overrides)
            return
        if flags.hydra_help:
            describe_zsh()
        sources = PUBLISHED.with_options(None if flags.config_dir is None else Path(flags.config_dir))
        for folder in named_folders(chain.from_iterable(map(_named_sweeps, flags.overrides))):
            sources = sources.with_study(folder)
        folders = [folder / "conf" for folder in sources.named]
        if flags.config_path:  # Hydra then does not search our folder
            register_resolvers()
            register_short_names()
            folders = [*sources.folders[1:], *folders]
        search_also(folders)
        flags_first = [argument for argument in arguments if argument not in flags.overrides]
        sys.argv = ["pomrl run", *flags_first, *map(_with_full_names, flags.overrides)]  # read by Hydra
        outputs()  # raises an error that Hydra would report as one of its own
        with _hydra_errors_as_ours(flags, sources):
            try:
                compute()
            except JobError as error:
                raise error.__cause__ or error from None


def _named_sweeps(override: str) -> list[str]:
    values = override.partition("=")[2].strip("'\"")
    return values.split(",") if override.startswith("experiment=") else []


def _with_full_names(override: str) -> str:
    """Return an override of the experiment with STUDY/NAME for its sweeps."""
    sweeps = _named_sweeps(override)
    return "experiment=" + ",".join(map(sweep_option, sweeps)) if sweeps else override


def _info_as_help(arguments: Sequence[str]) -> list[str]:
    """Replace `--info` by the long help, except with `INFO_OF_HYDRA`."""
    remaining = [
        argument
        for argument, following in pairwise([*arguments, ""])
        if argument not in ("--info", "-i") or following in INFO_OF_HYDRA
    ]
    is_replaced = len(remaining) < len(arguments)
    return ["--help", *remaining, "hydra/help=info"] if is_replaced else remaining


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
    except Exception as error:  # from Hydra: errors of jobs are in a JobError
        from pomrl.configuration.sweeps import check_first  # not needed for help

        # This package may have a better message, unless the error is about Hydra, or values may be intervals.
        is_search = any(override.startswith("hydra/sweeper=") for override in flags.overrides)
        has_other_base = flags.config_name or flags.config_path
        with composing():
            if not (has_other_base or is_search or "hydra." in str(error)):
                task_overrides = [override for override in flags.overrides if not re.match(r"[+~]*hydra\b", override)]
                check_first(sources, task_overrides, is_sweep=flags.multirun)
            raise
