"""The command `run`: Hydra composes experiments, which are then computed."""

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
from pomrl.configuration.composition import composing, of_config, parse_flags, register_short_names
from pomrl.configuration.importing import add_to_path
from pomrl.configuration.overrides import overrides
from pomrl.configuration.resolvers import register_resolvers
from pomrl.configuration.sources import PUBLISHED, Sources, named_folders, sweep_option
from pomrl.configuration.sweeps import check_first, refuse_ignored_choices
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
"""What `--info` may be followed by to be Hydra's."""

FULL_ERROR = "HYDRA_FULL_ERROR"
"""The environment variable that asks Hydra, and this command, for tracebacks."""


@hydra.main(version_base="1.3", config_path=str(PUBLISHED.folder), config_name="config")
def compute(config: DictConfig) -> float | None:
    """Compute an experiment and return its mean loss, for sweepers to minimise."""
    from pomrl.commands import computing  # here, because asking for help needs none of it
    from pomrl.commands.errors import JobError, ReportedError
    from pomrl.configuration.parsing import parse

    of_hydra = HydraConfig.get()
    try:
        with _staying_in(Path(of_hydra.runtime.cwd)):
            experiment = parse(of_config(config, of_hydra))
            words, folder = list(of_hydra.overrides.task), Path(of_hydra.runtime.output_dir)
            computing.write_jobs(of_hydra, folder, [words], [experiment])
            failures = computing.compute([experiment])
            computing.print_results([experiment], are_complete=not failures)
            for failure in failures.values():
                raise ReportedError(failure.reason)
            return None if experiment.request.dry_run else computing.objective(experiment)
    except Exception as error:
        if of_hydra.mode == RunMode.RUN and not of_hydra.callbacks:
            raise JobError from error
        raise


def run() -> None:
    """Run one experiment, or a sweep of them with -m, and store the results."""
    from pomrl.commands.errors import JobError, one_line_errors  # here, because processes of launchers need neither

    warnings.filterwarnings("ignore", category=UserWarning, module="joblib")  # of work that an interrupt cancelled
    with one_line_errors():
        sys.argv[1:] = _info_as_help(sys.argv[1:])
        flags = parse_flags(sys.argv[1:], lambda message: exit_with(f"{message}; --hydra-help lists the options", 2))
        if nothing := [word for word in flags.overrides if word in [f"{group}={{}}" for group in GROUPS]]:
            raise ConfigError(f"{nothing[0]}: the value of a group is the name of an option")
        if flags.shell_completion and flags.overrides != ["query=bash"]:
            print_completion(flags.overrides)
            return
        sources = PUBLISHED.with_options(flags.config_dir and Path(flags.config_dir))
        for folder in named_folders(chain.from_iterable(map(_sweeps_in, flags.overrides))):
            sources = sources.with_study(folder)
        for sweep in chain.from_iterable(map(_sweeps_in, flags.overrides)):
            refuse_ignored_choices(sources, sweep)
        folders = [folder / "conf" for folder in sources.named]
        if flags.config_path:  # where Hydra does not find the studies by our folder
            register_resolvers()
            register_short_names()
            folders = [*sources.folders[1:], *folders]
        sys.argv[1:] = _words_for_hydra(sys.argv[1:], folders)
        with _errors_in_our_words(flags, sources):
            try:
                compute()
            except JobError as error:
                raise error.__cause__ or error from None


def _sweeps_in(word: str) -> list[str]:
    return word.partition("=")[2].split(",") if word.startswith("experiment=") else []


def _words_for_hydra(words: Sequence[str], folders: Sequence[Path]) -> list[str]:
    named = [
        "experiment=" + ",".join(map(sweep_option, sweeps)) if (sweeps := _sweeps_in(word)) else word for word in words
    ]
    paths = [f"file://{folder}" for folder in folders]
    return named + (overrides({"hydra.searchpath": paths}) if paths else [])


def _info_as_help(words: Sequence[str]) -> list[str]:
    """Replace a plain `--info` by the long help; keep Hydra's own forms."""
    pairs = list(pairwise([*words, ""]))
    others = [word for word, following in pairs if word not in ("--info", "-i") or following in INFO_OF_HYDRA]
    if len(others) == len(words):
        return others
    first = next((at for at, word in enumerate(others) if "=" in word and not word.startswith("-")), len(others))
    return ["--help", *others[:first], "hydra/help=info", *others[first:]]  # overrides have to be next to each other


@contextmanager
def _errors_in_our_words(flags: Namespace, sources: Sources) -> Iterator[None]:
    """Raise errors of Hydra as a ConfigError of one line."""
    if os.environ.get(FULL_ERROR, "0") not in ("", "0"):
        yield
        return
    from pomrl.commands.errors import OURS

    try:
        with env_override({FULL_ERROR: "1"}):
            yield
    except OURS:
        raise
    except Exception:  # of Hydra, because those of jobs are in a JobError
        with composing():
            if not (flags.config_name or flags.config_path):  # our composer says more where it refuses the words too
                words = [word for word in flags.overrides if not re.match(r"[+~]*hydra\b", word)]
                if not any(word.startswith("hydra/sweeper=") for word in flags.overrides):  # which may search intervals
                    check_first(sources, words, is_sweep=flags.multirun)
            raise


@contextmanager
def _staying_in(folder: Path) -> Iterator[None]:
    """Use outputs and modules of this folder despite `hydra.job.chdir`."""
    if folder.resolve() == Path.cwd().resolve():
        yield
        return
    add_to_path(folder)
    with env_override({"POMRL_OUTPUTS": str(folder / outputs())}):
        yield


def print_completion(words: Sequence[str]) -> None:
    """Print shell code of `eval "$(pomrl run -sc install=bash)"`, or its removal."""
    if [*words] not in (["install=bash"], ["uninstall=bash"]):
        raise ConfigError(f"{' '.join(words)}: must be install=bash or uninstall=bash; other shells have no completion")
    print(BASH_COMPLETION if words[0].startswith("install") else "complete -r pomrl python; unset -f _pomrl_run")
