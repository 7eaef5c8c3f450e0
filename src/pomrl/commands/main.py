"""The command `pomrl`, whose first argument names another command."""

import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pomrl.commands.interrupts import INTERRUPTED, raise_at_interrupt
from pomrl.commands.terminal import exit_with
from pomrl.configuration.composed import unknown_key
from pomrl.configuration.importing import import_by_name

COMMANDS: Mapping[str, str] = {
    "run": "pomrl.commands.run:run",
    "runs": "pomrl.commands.runs:runs",
    "table": "pomrl.commands.plots_and_tables:table",
    "plot": "pomrl.commands.plots_and_tables:plot",
    "diff": "pomrl.commands.diff:diff",
    "reproduce": "pomrl.commands.reproduce:reproduce",
    "new": "pomrl.commands.new:new",
    "export": "pomrl.commands.export:export",
    "import": "pomrl.commands.import_:import_",
}
"""The functions of the engine's commands, each `MODULE:FUNCTION`; other packages have entry points of this form in the
group `pomrl.commands`. Arguments and help of a command are derived from its function (`pomrl.commands.arguments`)."""

MOVED = {
    **{stage: f"reproduce STUDY {stage}" for stage in ("claims", "article")},
    "figures": "reproduce STUDY figures --only NAME ...",
    "report": "reproduce STUDY report, or pomrl view --report KEY=VALUE ...",
    "audit": "runs --recompute N",
    "studies": "reproduce --list",
}
"""Commands of version 1, and the words that take their places."""

HELP = """\
usage: pomrl COMMAND ...

Online meta-learning of transition models and planning horizons, in tabular MDPs.

{commands}

pomrl COMMAND --help says more. Results are kept in the folder outputs of the current folder, or in the folder that the
environment variable POMRL_OUTPUTS names. pomrl --version prints the version."""


def main() -> None:
    """Run the command of the first argument; report a full output."""
    _open_standard_error()
    try:
        with suppress(BrokenPipeError):  # which the line below says
            command(next(iter(sys.argv[1:]), ""), sys.argv[2:])()
    except KeyboardInterrupt:  # outside of `one_line_errors`, which says more
        exit_with("interrupted", INTERRUPTED)
    finally:
        gc.freeze()  # Python ends in half the time where it does not go through what is still there
        try:
            print(end="", flush=True)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that Python does not try again
            exit_with(f"standard output: {error.strerror}")


def _open_standard_error() -> None:
    """Replace a closed standard error, whose number a file would get."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]  (Python says so, its types do not)
        while (descriptor := os.open(os.devnull, os.O_WRONLY)) < 2:
            pass
        sys.stderr = os.fdopen(descriptor, "w")


def command(name: str, arguments: Sequence[str]) -> Callable[[], None]:
    """Return the work of a name: a command, version, help or refusal."""
    if name == "--version":
        return _print_version
    if name in ("-h", "--help", "help"):
        return _print_help
    if name in MOVED:
        return partial(exit_with, f"pomrl {name} is pomrl {MOVED[name]} since version 2", 2)
    if name not in all_commands():
        line = unknown_key(name or "pomrl", name, [*all_commands()], "name a command", "there are")
        return partial(exit_with, line, 2)
    sys.argv = [f"pomrl {name}", *arguments]
    gc.set_threshold(200_000)  # what is read stays, so that looking for garbage often finds none
    if name == "run":  # whose arguments are read by Hydra
        function = load(name)
        raise_at_interrupt()
        return function
    return partial(_parse_and_execute, name)


@cache
def all_commands() -> Mapping[str, str]:
    """Return the functions of all commands by name, ours first."""
    points = sorted(entry_points(group="pomrl.commands"))
    return {**COMMANDS, **{point.name: point.value for point in points if point.name not in COMMANDS}}


def load(name: str) -> Callable[..., Any]:
    """Import the function of a command."""
    module, _, function = all_commands()[name].partition(":")
    return getattr(import_by_name(module), function)


def summary(name: str) -> str:
    """Return the first line of a command's docstring without importing it."""
    module, _, function = all_commands()[name].partition(":")
    package, *names = module.split(".")
    spec = find_spec(package)  # of the whole package, because that of a module imports it
    folder = Path(str(spec.origin)).parent if spec else Path()
    path = folder.joinpath(*names).with_suffix(".py")
    source = path.read_text(encoding="utf-8") if path.is_file() else ""
    text = source.partition(f"def {function}(")[2]
    line = text.partition('"""')[2].partition("\n")[0].removesuffix('"""').rstrip(".")
    return line[:1].lower() + line[1:]


def _parse_and_execute(name: str) -> None:
    from pomrl.commands.arguments import parse_and_call
    from pomrl.commands.errors import one_line_errors  # here, because help of `run` needs none of it

    with one_line_errors(ValueError):
        function = load(name)
        raise_at_interrupt()
        parse_and_call(function, sys.argv[0], sys.argv[1:])


def _print_version() -> None:
    from importlib.metadata import version

    from pomrl.science.solvers import compiled

    print(f"pomrl {version('pomrl')}, small models are solved by {'C' if compiled.is_built() else 'NumPy'}")


def _print_help() -> None:
    width = max(map(len, all_commands()))
    print(HELP.format(commands="\n".join(f"  {name:{width}}  {summary(name)}" for name in all_commands())))
