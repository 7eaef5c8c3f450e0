"""Arguments that several commands share: filters, variants, and a folder of the user's own options."""

import argparse
from itertools import chain
from pathlib import Path
from typing import NoReturn

from pomrl.commands.terminal import exit_with
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.configuration.study import Study
from pomrl.configuration.variants import Variant
from pomrl.results.result import TaskChoice
from pomrl.results.selection import VALUES, choose, filters
from pomrl.results.sweep_results import SweepResults
from pomrl.results.tables import FORMATS


class Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong with the arguments."""

    def error(self, message: str) -> NoReturn:
        """End the command with one line and status 2."""
        exit_with(f"{message}; {self.prog} --help lists the arguments", 2)


def add_study(parser: argparse.ArgumentParser) -> None:
    """Add `STUDY`, a study."""
    parser.add_argument("study", metavar="STUDY", help="the name of a shipped study, or a folder of your own")


def add_variants(parser: argparse.ArgumentParser) -> None:
    """Add `--variants`, the names of variants and families."""
    parser.add_argument("--variants", metavar="NAME,...", help="under these variants or families instead, or all")


def find_variants(study: Study, names: str | None = None) -> list[Variant]:
    """Return the variants that a list of names of variants and families stands for; by default those of `study.yaml`.

    Raises:
        ConfigError: There is no variant or family of a name.
    """
    by_name = {variant.name: variant for variant in study.variants}
    words = [*by_name, *(study.families if names == "all" else [])] if names in (None, "all") else names.split(",")
    of_words = ([by_name[word]] if word in by_name else study.family(word).variants for word in words)
    wanted = chain.from_iterable(of_words)
    return list({variant.name: by_name.get(variant.name, variant) for variant in wanted}.values())


def add_config_dir(parser: argparse.ArgumentParser) -> None:
    """Add `--config-dir DIR`, a folder of the user's own options."""
    parser.add_argument("--config-dir", type=Path, metavar="DIR", help="a folder like conf/ with options of your own")


def add_asked(parser: argparse.ArgumentParser, further: str = "") -> None:
    """Add the arguments that say which stored experiments are meant, or names of something further."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar=f"{further}{'|' * bool(further)}KEY=VALUE",
        help="what pomrl run -m with these words computes; what has tag=NAME, or code=all; or a signature",
    )
    parser.add_argument(
        "--where", nargs="+", default=[], metavar="KEY=VALUE", help="filter all that is stored: sigma=0.01,0.02"
    )
    add_config_dir(parser)


def choose_experiments(arguments: argparse.Namespace, value: str | None = "planning_loss") -> SweepResults:
    """Return the experiments that the arguments of `add_asked` mean (`selection.resolve`).

    Raises:
        ConfigError: A setting is wrong.
        StoreError: There are none.
    """
    return choose(arguments.words, filters(arguments.where), value, sources(arguments))


def add_number(parser: argparse.ArgumentParser) -> None:
    """Add `--y`, `--task` and `--against`, which say what number of runs is shown."""
    parser.add_argument("--y", default="planning_loss", help=f"what is shown: {', '.join(VALUES)}, or a metric")
    parser.add_argument("--task", default="all", type=_tasks, help="tasks to average: all (default), first, last, 3")
    of_method = "a setting of the method to compare with, in pairs: estimator=pomrl"
    parser.add_argument("--against", metavar="KEY=VALUE", action="append", default=[], help=of_method)


def _tasks(word: str) -> TaskChoice:
    """Return the tasks that the word names: all, first, last, or a number."""
    if word in ("all", "first", "last"):
        return word
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"{word}: it has to be all, first, last, or the number of a task")
    return int(word)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add `--format`, how a table is printed."""
    parser.add_argument("--format", default="text", choices=FORMATS, help="the form of the table (default: text)")


def sources(arguments: argparse.Namespace) -> Sources:
    """Return the folders that settings are composed from; ConfigError if that of `--config-dir` does not exist."""
    return PUBLISHED.with_options(arguments.config_dir)
