"""Run one experiment, or a sweep of them, and store the results.

pomrl run                                   the defaults
pomrl run -m sigma=0.01,0.025,0.047         a sweep
pomrl run experiment=task_similarity        a sweep of the paper's study (its sweeps/task_similarity.yaml)
"""

import os
import re
import signal
import sys
import warnings
from typing import Any

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode

from pomrl.commands.interrupts import exit_at
from pomrl.commands.terminal import exit_with
from pomrl.configuration import composition
from pomrl.configuration.composed import GROUPS, ConfigError, Sweep
from pomrl.configuration.composing_errors import composing
from pomrl.configuration.importing import find_plugins
from pomrl.configuration.jobs import FOREIGN
from pomrl.configuration.sources import PUBLISHED


def main() -> None:
    """Run the command with the arguments of the process, and exit with status 0 if all experiments succeeded.

    An error that the user can cause is printed as one line on standard error. If HYDRA_FULL_ERROR is set, its traceback
    is printed instead.
    """
    warnings.filterwarnings("ignore", message="provider=hydra.searchpath")  # of packages without __init__.py
    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")  # of work that an interrupt cancelled
    exit_at(signal.SIGTERM, signal.SIGHUP)
    traceback_wanted = os.environ.get("HYDRA_FULL_ERROR", "0") not in ("", "0")
    os.environ["HYDRA_FULL_ERROR"] = "1"  # so that Hydra raises its errors instead of printing them
    try:
        sweep = compose()
        if sweep is None:
            raise SystemExit(0)
        from pomrl.commands.computing import run  # here, because asking for help needs none of it

        raise SystemExit(0 if run(sweep) else 1)
    except (Exception, KeyboardInterrupt):
        if traceback_wanted:
            raise
        from pomrl.commands.errors import one_line_errors  # here, because asking for help needs none of it

        with one_line_errors():
            raise


def compose() -> Sweep | None:
    """Compose the configurations that the command line asks for; None if there is nothing left to compute.

    Hydra only composes: the sweeper hands over the jobs of a sweep together, and a single job is a sweep of one.
    Nothing is left where Hydra was asked for information.

    Raises:
        ConfigError: The configurations cannot be composed, or a plugin of Hydra has composed them elsewhere.
    """
    parser = get_args_parser()
    parser.error = lambda message: exit_with(f"{message}; --hydra-help lists the options", 2)
    for word in parser.parse_args().overrides:
        key, _, value = word.partition("=")
        if re.match(r"hydra([./](launcher|sweeper)|\.(run|sweep|output_subdir|job\.chdir)\b)", key):
            raise ConfigError(f"{word}: {FOREIGN}")
        if key in GROUPS and value == "{}":  # which Hydra takes for a change of no key
            raise ConfigError(f"{word}: the value of a group is the name of an option")
    composition.register_resolvers()
    collected: list[tuple[Any, Any]] = []

    @hydra.main(version_base="1.3", config_path=str(PUBLISHED.folder), config_name="config")
    def collect(config: Any) -> None:
        collected.append((config, HydraConfig.instance().cfg))

    with composing(sys.argv[1:]):
        find_plugins()
        collect()
    if not collected:
        return None
    config, with_hydra = collected[0]
    if isinstance(config, Sweep):
        return config
    if with_hydra.hydra.mode == RunMode.MULTIRUN:  # of which our sweeper makes a `Sweep`
        raise ConfigError(FOREIGN)
    runtime = with_hydra.hydra.runtime
    folders = [source.path for source in runtime.config_sources if source.schema == "file"]
    return Sweep([composition.plain(config, runtime.choices, folders)], 1)
