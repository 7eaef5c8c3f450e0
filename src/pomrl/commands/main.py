"""The program `pomrl`: choose and run a command."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from pomrl.commands.process import (
    INTERRUPTED,
    collect_garbage_rarely,
    open_closed_streams,
    raise_at_interrupt,
    skip_last_collection,
)
from pomrl.commands.terminal import exit_unread, exit_with, flush_output
from pomrl.configuration.composed import unknown_key
from pomrl.configuration.importing import import_by_name


class Command(NamedTuple):
    """A command of this package."""

    target: str
    """Its function, as `MODULE:FUNCTION`."""
    summary: str


COMMANDS: Mapping[str, Command] = {
    "run": Command("pomrl.commands.run:run", "run one experiment, or a sweep with -m, and store the results"),
    "runs": Command("pomrl.commands.runs:runs", "list, label, verify, recompute and remove stored experiments"),
    "table": Command(
        "pomrl.commands.plots_and_tables:table", "tabulate stored experiments as text, CSV, Markdown or LaTeX"
    ),
    "plot": Command("pomrl.commands.plots_and_tables:plot", "plot stored experiments"),
    "diff": Command("pomrl.commands.diff:diff", "show differences between experiments, in settings and results"),
    "reproduce": Command("pomrl.commands.reproduce:reproduce", "compute, judge, draw and report a study"),
    "new": Command("pomrl.commands.new:new", "create a small study, ready to run"),
    "export": Command("pomrl.commands.export:export", "write stored experiments, or a study, to a zip archive"),
    "import": Command(
        "pomrl.commands.import_:import_", "check an archive, and merge its experiments into the stored ones"
    ),
}
"""The commands of this package; others add theirs by entry points in the group `pomrl.commands`."""

SUMMARIES: Mapping[str, str] = {
    "board": "rank learners on the problems of the board, including yours",
    "docs": "open the documents in a browser",
    "horizon": "recommend changes to the decisions recorded in a log",
    "view": "show stored experiments in a browser, even during a sweep",
}
"""The summaries of this repository's further commands, so that help imports none of them."""

COMPLETION = "pomrl.commands.completion:print_completion"
"""The function of `pomrl run -sc`, as `MODULE:FUNCTION`."""

STAGES = ("sweeps", "claims", "variants", "figures", "pages", "report", "article")
"""The stages of `pomrl reproduce` in order; stages of other packages follow."""

PACKAGES = {"horizon": "pomrl-logs"}
"""The packages of this repository with further commands."""

HELP = """\
usage: pomrl COMMAND ...

Online meta-learning of transition models and planning horizons, in tabular MDPs.

{commands}

pomrl COMMAND --help describes a command. Results are stored in the folder outputs, or in the folder given by the
environment variable POMRL_OUTPUTS. pomrl --version prints the version."""


def main(words: Sequence[str]) -> None:
    """Run the command of the first word."""
    open_closed_streams()
    collect_garbage_rarely()
    try:
        command(next(iter(words), ""), words[1:])()
    except BrokenPipeError:
        exit_unread()
    except KeyboardInterrupt:  # outside of `one_line_errors`
        exit_with("interrupted", INTERRUPTED)
    finally:
        skip_last_collection()
        flush_output()


def command(name: str, arguments: Sequence[str]) -> Callable[[], None]:
    """Return the function for a command, or for version, help or an error."""
    if name == "--version":
        return _print_version
    if name in ("-h", "--help", "help"):
        return _print_help
    if name in PACKAGES and name not in all_commands():
        package = PACKAGES[name]
        return partial(exit_with, f"pomrl {name} needs {package}: pip install ./packages/{package}", 2)
    if name not in all_commands():
        problem = "unknown command" if name else "no command given"
        return partial(exit_with, unknown_key(name or "pomrl", name, [*all_commands()], problem), 2)
    if name == "run" and arguments[:1] == ["-sc"]:  # without Hydra, because a person waits
        return partial(_import(COMPLETION), arguments[1:])
    if name == "run":  # Hydra reads its arguments
        function = load(name)
        raise_at_interrupt()
        return partial(function, arguments)
    return partial(_parse_and_execute, name, arguments)


@cache
def all_commands() -> Mapping[str, str]:
    """Return `MODULE:FUNCTION` of all commands by name."""
    points = sorted(entry_points(group="pomrl.commands"))
    own = {name: command.target for name, command in COMMANDS.items()}
    return own | {point.name: point.value for point in points if point.name not in own}


def load(name: str) -> Callable[..., Any]:
    """Import the function of a command."""
    return _import(all_commands()[name])


def _import(target: str) -> Callable[..., Any]:
    module, _, function = target.partition(":")
    return getattr(import_by_name(module), function)


def summary(name: str) -> str:
    """Return a command's summary; for a foreign command, its distribution's summary."""
    if name in COMMANDS:
        return COMMANDS[name].summary
    if name in SUMMARIES:
        return SUMMARIES[name]
    point = next(iter(entry_points(group="pomrl.commands", name=name)))
    return (point.dist.metadata["Summary"] if point.dist else "") or ""


def _parse_and_execute(name: str, arguments: Sequence[str]) -> None:
    from pomrl.commands.arguments import parse_and_call
    from pomrl.commands.errors import one_line_errors  # not needed by `run`

    with one_line_errors(ValueError):
        sys.argv = [f"pomrl {name}", *arguments]  # for records and messages
        function = load(name)
        raise_at_interrupt()
        parse_and_call(function, sys.argv[0], arguments)


def _print_version() -> None:
    from importlib.metadata import version

    from pomrl.science.solvers import compiled

    print(f"pomrl {version('pomrl')}, solver of small models: {'C' if compiled.is_built() else 'NumPy'}")


def _print_help() -> None:
    width = max(map(len, all_commands()))
    print(HELP.format(commands="\n".join(f"  {name:{width}}  {summary(name)}" for name in all_commands())))
