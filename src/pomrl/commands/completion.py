"""Complete words after `pomrl` in bash, zsh and fish.

A candidate is a whole word. It ends in a space if the word is then finished; `KEY=VALUE` can go on with a comma.
"""

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path

from pomrl.commands.completion_scripts import INSTALL, UNINSTALL
from pomrl.commands.main import STAGES, all_commands, load
from pomrl.commands.override_candidates import OverrideCandidates
from pomrl.commands.terminal import exit_with
from pomrl.configuration.sources import DESCRIPTION, folder_of, known_studies

SELECTING = ("plot", "table", "export", "runs", "diff")
"""The commands with selectors KEY=VALUE of stored experiments."""

WITH_STUDIES = ("export", "runs")
"""The commands with names of studies beside selectors."""

SCRIPT_WORDS = tuple(f"{action}={shell}" for action in ("install", "uninstall") for shell in INSTALL)
"""The words after `--shell-completion` on a command line."""

FLAGS_OF_RUN: Mapping[str, Sequence[str] | None] = {
    **dict.fromkeys(("--help", "-h", "--hydra-help", "--version", "--resolve", "--run", "-r", "--multirun", "-m")),
    **dict.fromkeys(("--cfg", "-c"), ("job", "hydra", "all")),
    **dict.fromkeys(("--info", "-i"), ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")),
    **dict.fromkeys(("--shell-completion", "-sc"), SCRIPT_WORDS),
    **dict.fromkeys(("--package", "-p", "--config-path", "-cp", "--config-name", "-cn"), ()),
    **dict.fromkeys(("--config-dir", "-cd", "--experimental-rerun"), ()),
}
"""The known words after each flag of Hydra; None if the flag is complete. Hydra's parser is slow to import."""


GENERAL_FLAGS = ("--help", "--version")
"""The flags of `pomrl` without a command."""


def print_completion(arguments: Sequence[str]) -> None:
    """Print the script of a shell, or candidates for the line in COMP_LINE."""
    text = " ".join(arguments)
    action, _, shell = text.partition("=")
    if text in SCRIPT_WORDS:
        print((INSTALL if action == "install" else UNINSTALL)[shell])
    elif action == "query" and shell in INSTALL:
        line = os.environ.get("COMP_LINE", "")
        tokens = split_line(line[: int(os.environ.get("COMP_POINT", len(line)))])
        print("".join(f"{offer}\n" for offer in (for_fish if shell == "fish" else list)(candidates(tokens))), end="")
    else:
        exit_with(f"--shell-completion must be {', '.join(SCRIPT_WORDS)}, got {text or 'nothing'}", 2)


def for_fish(offers: Sequence[str]) -> list[str]:
    """Keep fish from adding a space to a single value, by a second candidate."""
    is_value = len(offers) == 1 and offers[0][-1] not in " =/."
    return [offer.rstrip() for offer in offers] + [f"{offer}," for offer in offers if is_value]


def describe_zsh() -> None:
    """Replace the script for bash by the one for zsh in Hydra's help."""
    from hydra.core.plugins import Plugins
    from hydra.plugins.completion_plugin import CompletionPlugin

    for plugin in Plugins.instance().discover(CompletionPlugin):
        if issubclass(plugin, CompletionPlugin) and plugin.provides() == "zsh":
            plugin.help = staticmethod(_help_of_zsh)


def _help_of_zsh(command: str) -> str:
    return f'eval "$({{}} -sc {command}=zsh)"'  # Hydra inserts the program


def split_line(line: str) -> list[str]:
    """Split a line into words as a shell does; the last one is unfinished, perhaps empty."""
    for end in ("", "'", '"', "\\"):
        with suppress(ValueError):  # an open quote
            tokens = shlex.split(line + end)
            return [*tokens, ""] if not end and (not line or line[-1].isspace()) else tokens
    return [""]


def candidates(tokens: Sequence[str]) -> list[str]:
    """Return candidates for the last word of a command line."""
    typed = _after_program(tokens)
    if not typed:
        return []
    *earlier, last = typed
    offers = _arguments(earlier[0], earlier[1:], last) if earlier else _finished((*all_commands(), *GENERAL_FLAGS))
    return [offer for offer in dict.fromkeys(offers) if offer.startswith(last)]


def _after_program(tokens: Sequence[str]) -> list[str]:
    """Return the words after `pomrl`; those after `python -m src.run` follow `run`."""
    for position, token in enumerate(tokens[:-1]):
        if Path(token).name == "pomrl":
            return [*tokens[position + 1 :]]
        if token == "src.run":
            return ["run", *tokens[position + 1 :]]
    return []


def _finished(offers: Iterable[str]) -> list[str]:
    return [f"{offer} " for offer in offers]


def _arguments(command: str, earlier: Sequence[str], unfinished: str) -> list[str]:
    """Return the possible words after the earlier arguments of a command."""
    if command not in all_commands():
        return []
    if earlier and earlier[-1].startswith("-") and (values := _flags(command).get(earlier[-1])) is not None:
        return _finished(values)
    if unfinished.startswith("-"):
        return _finished(_flags(command))
    if command == "reproduce":
        return _finished(_studies_or_stages(earlier))
    studies = _study_names() if command in WITH_STUDIES else []
    is_run = command == "run"
    overrides = (
        OverrideCandidates(earlier, is_run=is_run).complete(unfinished) if is_run or command in SELECTING else []
    )
    return [*_finished(studies), *overrides]


def _flags(command: str) -> Mapping[str, Sequence[str] | None]:
    if command == "run":
        return FLAGS_OF_RUN
    from pomrl.commands.arguments import flags  # slow, as is the import of commands

    return {"--help": None, **flags(load(command))}


def _studies_or_stages(earlier: Sequence[str]) -> list[str]:
    """Return the stages after a study, and studies before."""
    if not any((folder_of(argument) / DESCRIPTION).is_file() for argument in earlier):
        return _study_names()
    stages = [*STAGES, *(point.name for point in sorted(entry_points(group="pomrl.stages")))]
    return [stage for stage in stages if stage not in earlier]


def _study_names() -> list[str]:
    return [folder.name for folder in known_studies()]
