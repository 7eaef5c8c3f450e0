"""Arguments that several commands share: filters, a folder of the user's own options, and a replacement."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

import yaml

from pomrl.commands.terminal import exit_with
from pomrl.configuration.composed import ConfigError, UnknownOptionError
from pomrl.configuration.importing import find_modules_in
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.study import Study
from pomrl.configuration.sweeps import selection
from pomrl.configuration.variants import REPLACEABLE, Family, Variant, replacing
from pomrl.results.chosen_runs import PRESENT, VALUES, Asked, Tasks


@dataclass(frozen=True)
class Selection:
    """The variants and families of variants under which claims are judged."""

    variants: tuple[Variant, ...]
    families: tuple[Family, ...] = ()
    own: Path | None = None
    """A folder of further options."""


class Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong with the arguments.

    Args:
        prog: The command as it is called: `pomrl NAME`.
        description: What it does, in one sentence.
        epilog: Text after the list of arguments.
    """

    def __init__(self, prog: str, description: str, epilog: str | None = None) -> None:
        super().__init__(prog, description=description, epilog=epilog)

    def error(self, message: str) -> NoReturn:
        """End the command with one line and status 2."""
        exit_with(f"{message}; {self.prog} --help lists the arguments", 2)


def add_study(parser: argparse.ArgumentParser) -> None:
    """Add `STUDY`, a study."""
    parser.add_argument("study", metavar="STUDY", help="the name of a shipped study, or a folder of your own")


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add `--variants` and `--replace`, of which one can be given, and `--config-dir`."""
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--variants", metavar="NAME,...", help="under these variants or families instead, or all")
    instead.add_argument("--replace", metavar="OLD=NEW", help="with an option in the place of another one instead")
    add_arguments(parser)


def selected(study: Study, arguments: argparse.Namespace) -> Selection:
    """Return the variants and families that `--variants` or `--replace` names.

    Raises:
        ConfigError: There is no variant, family, or option of a name.
    """
    own = own_folder(arguments)
    if arguments.replace is not None:
        return Selection((replacing_variant(study, own, arguments.replace),), own=own)
    return replace(named(study, arguments.variants), own=own)


def named(study: Study, names: str | None) -> Selection:
    """Return the variants and families that a list of names stands for, by default the variants of the description.

    Raises:
        ConfigError: There is no variant or family of a name.
    """
    if names is None:
        return Selection(study.variants)
    by_name = {variant.name: variant for variant in study.variants}
    words = [*by_name, *study.families] if names == "all" else names.split(",")
    variants = tuple(by_name[word] for word in words if word in by_name)
    return Selection(variants, tuple(study.family(word) for word in words if word not in by_name))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--config-dir DIR`, a folder of the user's own options."""
    parser.add_argument("--config-dir", type=Path, metavar="DIR", help="a folder like conf/ with options of your own")


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add filters `KEY=VALUE`, by which stored experiments are chosen; `filters` reads them."""
    parser.add_argument(
        "filter", nargs="*", metavar="KEY=VALUE", help="only those with this setting: estimator=pomrl, sigma=0.01,0.02"
    )


def add_asked(parser: argparse.ArgumentParser, further: str = "") -> None:
    """Add the arguments that say what of all that is stored is meant, or names of something further; see `asked`."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar=f"{further}{'|' * bool(further)}KEY=VALUE",
        help="what pomrl run -m with these words computes; or tag=NAME",
    )
    parser.add_argument(
        "--where", nargs="+", default=[], metavar="KEY=VALUE", help="filter all that is stored: sigma=0.01,0.02"
    )
    add_arguments(parser)


def add_code(parser: argparse.ArgumentParser) -> None:
    """Add `--code LABEL`, the code whose results are meant."""
    parser.add_argument(
        "--code", default=PRESENT, metavar="LABEL", help="results of this code, of previous code, or of all code"
    )


def asked(arguments: argparse.Namespace, value: str = "planning_loss") -> Asked:
    """Return what the arguments of `add_asked` ask for, of which `value` is plotted or tabulated.

    Words with a tag choose among what has the tag, and without words everything that is stored is meant.

    Raises:
        ConfigError: A setting is wrong.
    """
    words: list[str] = arguments.words
    find_modules_in(Path.cwd())  # of components, whose present code is compared with that of what is stored
    where, said = filters(arguments.where), " ".join([*words, *arguments.where])
    if not words or any(word.startswith("tag=") for word in words):
        return Asked(None, filters(words) | where, None, arguments.code, said)
    filters(words)
    named = {word.partition("=")[0] for word in words}
    metric = [] if value in VALUES or "metric" in named else [f"metric={value}"]
    try:
        experiments = selection(replace(PUBLISHED, own=own_folder(arguments)), [*words, *metric])
    except UnknownOptionError as error:
        raise ConfigError(f"{error}; --where {' '.join(words)} chooses among what is stored") from error
    runs = experiments[0].request.runs if "runs" in named else None
    return Asked(experiments, where, runs, arguments.code, said)


def filters(words: Sequence[str]) -> dict[str, Any]:
    """Return the settings that `KEY=VALUE` words ask for; end the command with status 2 for any other word.

    Several values, separated by commas, become a list: an experiment with any of them is meant.
    """
    wanted: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        try:
            values = yaml.safe_load(f"[{value}]")
            wanted[key] = values[0] if len(values) == 1 else values or None
        except (yaml.YAMLError, ValueError, RecursionError):
            equals = ""
        if not key or not equals:
            exit_with(f"{word[:100] or 'an empty filter'}: a filter is key=value, such as estimator=pomrl", 2)
    return wanted


def tasks(word: str) -> Tasks:
    """Return the tasks that the word names: all, first, last, or a number."""
    if word in ("all", "first", "last"):
        return word
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"{word}: it has to be all, first, last, or the number of a task")
    return int(word)


def own_folder(arguments: argparse.Namespace) -> Path | None:
    """Return the folder that `--config-dir` names; ConfigError if it does not exist."""
    own: Path | None = arguments.config_dir
    if own and not own.is_dir():
        raise ConfigError(f"--config-dir {own}: there is no such folder")
    return own


def replacing_variant(study: Study, own: Path | None, text: str) -> Variant:
    """Return the variant that `OLD=NEW` describes: the group is the first that has an option OLD.

    It has the name NEW, or, if the study has a variant of that name, `NEW for OLD`.

    Raises:
        ConfigError: One of the options does not exist.
    """
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise ConfigError(f"--replace {text}: it has to be OLD=NEW, such as ada_pomrl=pooled_variances")
    for group in REPLACEABLE:
        folders = study.sources(own).folders
        options = {path.stem for folder in folders for path in (folder / group).glob("*.yaml")}
        if old in options and new in options:
            families = (family.variants for family in study.families.values())
            known = {each.name for each in chain(study.variants, *families)}
            return replacing(group, old, new, f"{new} for {old}" if new in known else new)
        if old in options:
            raise ConfigError(f"--replace {text}: {group} has no option {new}; it has {', '.join(sorted(options))}")
    raise ConfigError(f"--replace {text}: there is no option {old} in {', '.join(REPLACEABLE)}")
