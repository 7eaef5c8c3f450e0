"""Run one experiment, or a sweep of them, and store the results.

pomrl run                                   the defaults
pomrl run -m sigma=0.01,0.025,0.047         a sweep
pomrl run experiment=task_similarity        a sweep of the paper's study (its sweeps/task_similarity.yaml)
"""

import argparse
import re
import warnings
from pathlib import Path

import hydra
from hydra._internal.utils import get_args_parser

from pomrl.commands.terminal import exit_with
from pomrl.configuration.composed import GROUPS, MOST_JOBS, ConfigError, Sweep
from pomrl.configuration.sources import PUBLISHED

FOREIGN = (
    "Hydra only composes here, and uses no launcher, sweeper or folder of its own; execution=local or execution=dask "
    "says where to compute, and the environment variable POMRL_OUTPUTS where results are stored"
)
"""What is said where Hydra is asked to compute, or to store anything."""


def main() -> None:
    """Run the command with the arguments of the process, and exit with status 0 if all experiments succeeded."""
    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")  # of work that an interrupt cancelled
    parser = get_args_parser()
    parser.error = lambda message: exit_with(f"{message}; --hydra-help lists the options", 2)
    arguments = parser.parse_args()
    if any(getattr(arguments, name) for name in ("help", "hydra_help", "cfg", "info", "shell_completion")):
        _inform()
        return
    from pomrl.commands.computing import run
    from pomrl.commands.errors import one_line_errors  # here, because asking for help needs none of it

    with one_line_errors():
        raise SystemExit(0 if run(compose(arguments)) else 1)


def _inform() -> None:
    """Let Hydra say what the command line asks about the configuration."""
    from pomrl.configuration.composition import register_resolvers

    register_resolvers()
    hydra.main(version_base="1.3", config_path=str(PUBLISHED.folder), config_name="config")(lambda _: None)()


def compose(arguments: argparse.Namespace) -> Sweep:
    """Compose the configurations that the command line asks for; a single job is a sweep of one.

    Raises:
        ConfigError: The configurations cannot be composed, or Hydra is asked for more than to compose.
    """
    from pomrl.configuration.sweeps import compose_sweep  # here, as above

    for word in arguments.overrides:
        key, _, value = word.partition("=")
        if re.match(r"[+~]*hydra\b", key):
            raise ConfigError(f"{word}: {FOREIGN}")
        if key in GROUPS and value == "{}":  # which Hydra takes for a change of no key
            raise ConfigError(f"{word}: the value of a group is the name of an option")
    if arguments.config_path or arguments.config_name or arguments.experimental_rerun:
        raise ConfigError(FOREIGN)
    sources = PUBLISHED.with_options(arguments.config_dir and Path(arguments.config_dir))
    return compose_sweep(sources, arguments.overrides, is_sweep=arguments.multirun, most=MOST_JOBS)
