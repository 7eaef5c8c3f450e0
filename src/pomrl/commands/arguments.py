"""Command-line arguments from signatures and docstrings of functions.

Keyword-only parameters are options. `bool` gives a flag, `Literal` choices, `Sequence` several values, and `Mapping`
KEY=VALUE words. `Annotated[type, "NAME"]` sets the name of the value in help.
"""

import argparse
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from inspect import Parameter, getdoc, signature
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin

from pomrl.commands.terminal import exit_with

Command = TypeVar("Command", bound=Callable[..., None])

METAVARS = {
    "config_dir": "FOLDER",
    "x": "AXIS",
    "y": "COLUMN",
    **dict.fromkeys(("hue", "col", "row", "rows", "columns"), "KEY"),
}
"""Placeholders of values in help, for options of `pomrl.plot` and `pomrl.table`; by default the name in capitals."""


class Parser(argparse.ArgumentParser):
    """An argument parser with one-line errors."""

    def error(self, message: str) -> NoReturn:
        message = message.replace("the following arguments are required:", "missing")
        exit_with(f"{message}; {self.prog} --help lists the arguments", 2)


def with_options_of(function: Callable[..., Any]) -> Callable[[Command], Command]:
    """Add the keyword arguments of a function to a command, as a decorator."""

    def add(command: Command) -> Command:
        vars(command)["options_of"] = function
        return command

    return add


def parse_and_call(command: Callable[..., None], name: str, arguments: Sequence[str]) -> None:
    """Parse arguments and call the command."""
    summary, prose, _ = read_docstring(command)
    parser = Parser(name, description=_plain(summary), epilog=_plain(prose))
    parameters = add_arguments(parser, command)
    values = vars(parser.parse_intermixed_args(arguments))  # positional arguments may follow options
    by_position: list[Any] = []
    for parameter in parameters:
        if parameter.kind is not Parameter.KEYWORD_ONLY:
            value = values.pop(parameter.name)
            by_position += value if parameter.kind is Parameter.VAR_POSITIONAL else [value]
    command(*by_position, **values)


def add_arguments(parser: argparse.ArgumentParser, command: Callable[..., None]) -> list[Parameter]:
    """Add a command's arguments to a parser, and return the parameters."""
    helps = read_docstring(command)[2]
    if other := getattr(command, "options_of", None):
        helps = {**read_docstring(other)[2], **helps}
    parameters = _parameters(command)
    for parameter in parameters:
        _add_argument(parser, parameter, _plain(helps[parameter.name]).replace("%", "%%"))
    return parameters


def flags(command: Callable[..., None]) -> dict[str, Sequence[str] | None]:
    """Return the choices of each flag; None if no value follows, or KEY=VALUE."""
    choices: dict[str, Sequence[str] | None] = {}
    for parameter in _parameters(command):
        form = _argparse_options(parameter.annotation)
        has_value = form.get("action") != "store_true" and form.get("metavar") != "KEY=VALUE"
        if parameter.kind is Parameter.KEYWORD_ONLY:
            choices[_flag(parameter.name)] = form.get("choices", ()) if has_value else None
    return choices


def _parameters(command: Callable[..., None]) -> list[Parameter]:
    """Return the parameters of a command, also those of `with_options_of`."""
    parameters = [
        parameter for parameter in signature(command).parameters.values() if parameter.kind is not Parameter.VAR_KEYWORD
    ]
    if other := getattr(command, "options_of", None):
        own = {parameter.name for parameter in parameters}
        parameters += [parameter for parameter in _keywords(other) if parameter.name not in own]
    return parameters


def _flag(name: str) -> str:
    return f"--{name.rstrip('_').replace('_', '-')}"


def _keywords(function: Callable[..., Any]) -> Iterator[Parameter]:
    for parameter in signature(function).parameters.values():
        if parameter.kind is not Parameter.VAR_KEYWORD:
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY)


def _add_argument(parser: argparse.ArgumentParser, parameter: Parameter, what: str) -> None:
    form, name = _argparse_options(parameter.annotation), parameter.name
    if parameter.kind is Parameter.VAR_POSITIONAL:
        parser.add_argument(name, **{"metavar": name.upper(), **form, "nargs": "*", "default": []}, help=what)
    elif parameter.kind is not Parameter.KEYWORD_ONLY:
        count = "+" if "nargs" in form else "?" if parameter.default is not Parameter.empty else None
        form = {"metavar": name.upper(), **form, "nargs": count, "action": "store"}
        parser.add_argument(name, **form, help=what)
    else:
        default = [] if form.get("action") in ("append", "extend") else parameter.default
        if name in METAVARS:
            form = {"metavar": METAVARS[name], **form}
        parser.add_argument(_flag(name), dest=name, default=default, **form, help=what)


def _argparse_options(annotation: Any) -> dict[str, Any]:
    """Return keywords of `add_argument` for a type; None in unions is ignored."""
    if get_origin(annotation) is Annotated:
        kind, metavar = get_args(annotation)
        return {**_argparse_options(kind), "metavar": metavar}
    is_union = get_origin(annotation) in (Union, UnionType)
    kinds = [kind for kind in (get_args(annotation) if is_union else [annotation]) if kind is not NoneType]
    origins = [get_origin(kind) for kind in kinds]
    if Mapping in origins:
        repeated = {"action": "append"} if str in kinds else {"action": "extend", "nargs": "+"}
        return {"metavar": "KEY=VALUE", **repeated}
    if Sequence in origins:
        return {**_argparse_options(get_args(kinds[0])[0]), "action": "extend", "nargs": "+"}
    if kinds == [bool]:
        return {"action": "store_true"}
    if origins[0] is Literal:
        choices = get_args(kinds[0])
        return {"choices": choices} if len(kinds) == 1 else {"type": _word_or_number(choices)}
    return {} if kinds == [str] else {"type": _read_date if kinds[-1] is datetime else kinds[-1]}


def _read_date(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        example = "2026-11-17 or 2026-11-17T14:30"
        raise argparse.ArgumentTypeError(f"must be a date such as {example}, got {text}") from error


def _word_or_number(choices: Sequence[str]) -> Callable[[str], str | int]:
    def parse(text: str) -> str | int:
        if text in choices or text.isdecimal():
            return text if text in choices else int(text)
        raise argparse.ArgumentTypeError(f"must be {', '.join(choices)}, or a number, got {text}")

    return parse


def read_docstring(function: Callable[..., Any]) -> tuple[str, str, Mapping[str, str]]:
    """Split a docstring into summary, prose, and text by argument."""
    text = getdoc(function) or ""
    summary, _, body = text.partition("\n")
    prose = re.split(r"^(?:Args|Returns|Raises):\n", body, flags=re.MULTILINE)[0]
    section = re.search(r"^Args:\n((?:[ ]{4}.*\n?|\n)+)", text, flags=re.MULTILINE)
    entries = re.findall(r"^\**(\w+): ((?:.*\n?)(?:[ ]+.*\n?)*)", textwrap.dedent(section[1] if section else ""), re.M)
    return summary, prose.strip(), {name: " ".join(what.split()) for name, what in entries}


def _plain(text: str) -> str:
    text = " ".join(text.replace("`", "").split())
    return text.removesuffix(".") if ". " not in text else text
