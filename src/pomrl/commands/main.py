"""What the command `pomrl` does: its first argument is the name of another command."""

import ast
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from pomrl.commands.interrupts import INTERRUPTED, raise_at_interrupt
from pomrl.commands.terminal import exit_with
from pomrl.configuration.composed import unknown_key
from pomrl.configuration.importing import import_by_name

COMMANDS: Mapping[str, str] = {
    "run": "run one experiment, or a sweep of them with -m, and store the results",
    "runs": "list, label, verify, recompute and remove what is stored",
    "diff": "show what differs between experiments, in settings and in results",
    "view": "look at all that is stored in a browser, while a sweep runs too",
    "plot": "plot what is stored of your own sweeps",
    "table": "tabulate what is stored, as text, CSV, Markdown or LaTeX",
    "studies": "list the studies that are shipped, and those in this folder",
    "reproduce": "compute, judge, draw and report a study",
    "claims": "judge the claims of a study on what is stored",
    "figures": "draw the figures of a study",
    "report": "write the results of studies, or of any stored experiments, into one page",
    "article": "typeset the article of a study, with numbers from its results",
    "new": "make a study of your own that runs as it is",
    "docs": "open the documents in a browser",
    "export": "write what is stored, or a study, into a zip archive",
    "import": "check an archive, and add its experiments, and its study if you agree",
}
"""The commands and what each of them does. The command NAME is the function `main` of `pomrl.commands.NAME`, or of
`pomrl.commands.NAME_` where NAME is a keyword of Python, which adds its arguments to a parser and reads them."""

HELP = """\
usage: pomrl COMMAND ...

Online meta-learning of transition models and planning horizons, in tabular MDPs.

{commands}

pomrl COMMAND --help says more. Results are kept in the folder outputs of the current folder, or in the folder that the
environment variable POMRL_OUTPUTS names. pomrl --version prints the version."""


def main() -> None:
    """Run the command that the first argument names; one line where standard output is full or nobody reads it."""
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
    """Let messages go nowhere where standard error is closed, so that no file of ours gets its number."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]  (Python says so, its types do not)
        while (descriptor := os.open(os.devnull, os.O_WRONLY)) < 2:
            pass
        sys.stderr = os.fdopen(descriptor, "w")


def command(name: str, arguments: Sequence[str]) -> Callable[[], None]:
    """Prepare what a name asks for, and return it: a command, the version, help, or a line that refuses the name."""
    if name == "--version":
        return _print_version
    if name in ("-h", "--help", "help"):
        return _print_help
    if name not in COMMANDS and name not in further_commands():
        line = unknown_key(name or "pomrl", name, [*COMMANDS, *further_commands()], "name a command", "there are")
        return partial(exit_with, line, 2)
    sys.argv = [f"pomrl {name}", *arguments]
    gc.set_threshold(200_000)  # what is read stays, so that looking for garbage often finds none
    if name == "run":  # whose arguments are read by Hydra
        module = import_by_name(module_of(name))
        raise_at_interrupt()
        return module.main
    return partial(_parse_and_execute, name)


@cache
def further_commands() -> Mapping[str, str]:
    """Return the modules of the commands that packages beside this one bring, by name."""
    return {point.name: point.value for point in sorted(entry_points(group="pomrl.commands"))}


def summary(name: str) -> str:
    """Return what a command does, in one line; of one in another package, how its module describes itself."""
    if name in COMMANDS:
        return COMMANDS[name]
    spec = find_spec(further_commands()[name])
    source = Path(str(spec.origin)).read_text(encoding="utf-8") if spec else ""
    line = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0].partition(":")[0].rstrip(".")
    return line[:1].lower() + line[1:]


def _parse_and_execute(name: str) -> None:
    from pomrl.commands.arguments import Parser
    from pomrl.commands.errors import one_line_errors  # here, because help of `run` needs none of it

    with one_line_errors():
        try:
            module = import_by_name(module_of(name))
        except ModuleNotFoundError as error:
            exit_with(f"pomrl {name}: {error.name} is not installed; pip install 'pomrl[article]' installs it")
        raise_at_interrupt()
        module.main(Parser(sys.argv[0], description=summary(name)))


def _print_version() -> None:
    from importlib.metadata import version

    from pomrl.science.solvers import compiled

    print(f"pomrl {version('pomrl')}, small models are solved by {'C' if compiled.is_built() else 'NumPy'}")


def _print_help() -> None:
    names = [*COMMANDS, *further_commands()]
    width = max(map(len, names))
    print(HELP.format(commands="\n".join(f"  {name:{width}}  {summary(name)}" for name in names)))


def module_of(name: str) -> str:
    """Return the dotted name of the module of a command, here or of another package."""
    within = f"pomrl.commands.{'import_' if name == 'import' else name}"
    return within if name in COMMANDS else further_commands()[name]
