"""Run one experiment, or a sweep of them, and store the results.

python -m src.run                                   the defaults
python -m src.run -m sigma=0.01,0.025,0.047         a sweep
python -m src.run experiment=task_similarity        a published sweep (conf/experiment)
"""

import os
import signal
import sys
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, NoReturn

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from pomrl.commands.terminal import GOES_ON, exit_with
from pomrl.configuration import composition
from pomrl.configuration.composed import Composed, ConfigError
from pomrl.configuration.sources import PUBLISHED


def main() -> None:
    """Run the command with the arguments of the process, and exit with status 0 if all experiments succeeded.

    An error that the user can cause is printed as one line on standard error. If HYDRA_FULL_ERROR is set, its traceback
    is printed instead.
    """
    if sys.argv[1:] == ["--version"]:
        from pomrl.solvers import compiled

        print(f"pomrl {version('pomrl')}, small models are solved by {'C' if compiled.is_used() else 'NumPy'}")
        raise SystemExit(0)
    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")  # of work that an interrupt cancelled
    _exit_at(signal.SIGTERM, signal.SIGHUP)
    traceback_wanted = os.environ.get("HYDRA_FULL_ERROR", "0") not in ("", "0")
    os.environ["HYDRA_FULL_ERROR"] = "1"  # so that Hydra raises its errors instead of printing them
    try:
        jobs = compose()
        from pomrl.commands.computing import run  # here, because asking for help needs none of it

        raise SystemExit(0 if run(jobs) else 1)
    except Exception as error:
        from pomrl.commands.errors import explain

        explanation = None if traceback_wanted else explain(error, sys.argv[1:])
        if explanation is None:
            raise
        exit_with(*explanation)
    except KeyboardInterrupt:
        exit_with(f"interrupted; {GOES_ON}", 130)


def compose() -> list[Composed]:
    """Compose the configurations that the command line asks for.

    Hydra only composes: the sweeper hands over the jobs of a sweep as one list, and a single job is a sweep of one.
    """
    composition.register_resolvers()
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


def _exit_at(*signals: signal.Signals) -> None:
    """Exit at these signals as after an error, so that engines cancel their work.

    A signal that is ignored, as SIGHUP is under nohup, stays ignored.
    """

    def exit_at(number: int, _: object) -> NoReturn:
        exit_with(f"ended by {signal.Signals(number).name}; {GOES_ON}", 128 + number)

    for each in signals:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, exit_at)
