"""Arguments of commands follow from signatures and docstrings: forms, defaults, help, and one-line refusals."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from pomrl.api import read
from pomrl.commands import main
from pomrl.commands.arguments import Parser, add_arguments, parse_and_call, read_docstring, with_options_of
from pomrl.results.result import TaskChoice
from pomrl.results.summaries import STATISTICS
from pomrl.results.tables import FORMATS

CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = []


def shared(x: str = "task", *, hue: str | None = None, where: Mapping[str, Any] | None = None, **settings: Any) -> None:
    """Share options.

    Args:
        x: The axis, 95 % of it.
        hue: The colour.
        where: Further `settings`,
            on two lines.
        **settings: What is no option.
    """


@with_options_of(shared)
def example(
    study: Annotated[str | None, "STUDY"] = None,
    /,
    *words: str,
    number: int = 3,
    ratio: float | None = None,
    folder: Path | None = None,
    is_quick: bool = False,
    list_: bool = False,
    form: Literal["text", "csv"] = "text",
    task: TaskChoice = "all",
    against: Mapping[str, Any] | str | None = None,
    only: Annotated[Sequence[int], "N"] = (),
    **options: Any,
) -> None:
    """Do an example: this is its help.

    More is said here.

    Args:
        study: The study.
        words: The words.
        number: A number.
        ratio: A ratio.
        folder: A folder.
        is_quick: A flag.
        list_: Another flag.
        form: The form.
        task: The task.
        against: The method.
        only: Some of them.
        **options: Those of `shared`.
    """
    flags = {"number": number, "ratio": ratio, "folder": folder, "is_quick": is_quick, "list_": list_, "form": form}
    CALLS.append(((study, *words), {**flags, "task": task, "against": against, "only": only, **options}))


def called_with(*arguments: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    CALLS.clear()
    parse_and_call(example, "pomrl example", arguments)
    return CALLS[0]


DEFAULTS = {
    "number": 3, "ratio": None, "folder": None, "is_quick": False, "list_": False, "form": "text", "task": "all",
    "against": [], "only": [], "x": "task", "hue": None, "where": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "by_position", "options"),
    [
        ("", (None,), {}),
        ("mine a b=c", ("mine", "a", "b=c"), {}),
        ("mine --number 5 a --ratio 0.5 b", ("mine", "a", "b"), {"number": 5, "ratio": 0.5}),
        ("--is-quick --list --folder x/y", (None,), {"is_quick": True, "list_": True, "folder": Path("x/y")}),
        ("--form csv --task 3", (None,), {"form": "csv", "task": 3}),
        ("--task last --against a=1 mine --against b=2", ("mine",), {"task": "last", "against": ["a=1", "b=2"]}),
        ("--only 1 2 --only 3 --where a=1 b=2", (None,), {"only": [1, 2, 3], "where": ["a=1", "b=2"]}),
        ("--x gamma --hue S", (None,), {"x": "gamma", "hue": "S"}),
    ],
)
def test_words_become_values_of_the_parameters(arguments: str, by_position: tuple[Any, ...], options: dict[str, Any]):
    assert called_with(*arguments.split()) == (by_position, DEFAULTS | options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--number much", "argument --number: invalid int value: 'much'"),
        ("--form xml", "argument --form: invalid choice: 'xml' (choose from 'text', 'csv')"),
        ("--task middle", "argument --task: must be all, first, last, or a number, got middle"),
        ("--nothing", "unrecognized arguments: --nothing"),
        ("--settings", "unrecognized arguments: --settings"),
        ("--number", "argument --number: expected one argument"),
    ],
)
def test_what_has_another_form_is_one_line(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        called_with(*arguments.split())
    assert end.value.code == 2
    assert capsys.readouterr().err == f"{message}; pomrl example --help lists the arguments\n"


def test_help_is_what_the_docstrings_say(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit):
        called_with("--help")
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    expected = [
        "Do an example: this is its help", "STUDY The study", "WORDS The words", "--number NUMBER A number",
        "--list Another flag", "--form {text,csv} The form", "--only N [N ...] Some of them",
        "--x AXIS The axis, 95 % of it", "Further settings, on two lines", "More is said here",
    ]  # fmt: skip
    assert [line for line in expected if line not in lines] == []


DERIVED = [name for name in main.all_commands() if main.load(name).__name__ not in ("main", "run")]
"""The commands whose arguments are derived: Hydra reads those of `run`."""


@pytest.mark.parametrize("name", DERIVED)
def test_each_argument_of_a_command_has_help(name: str) -> None:
    parser, function = Parser("any"), main.load(name)
    parameters = add_arguments(parser, function)
    own = {name for name, item in signature(function).parameters.items() if item.kind is not Parameter.VAR_KEYWORD}
    assert own <= {parameter.name for parameter in parameters}
    assert all(action.help for action in parser._actions)
    summary, _, helps = read_docstring(function)
    assert main.summary(name) in (summary[:1].lower() + summary[1:]).removesuffix(".")
    assert own <= {*helps}


@pytest.mark.parametrize("name", [name for name in DERIVED if name in main.COMMANDS])
def test_values_in_help_have_plain_names(name: str) -> None:
    parser = Parser("any")
    add_arguments(parser, main.load(name))
    metavars = [str(action.metavar) for action in parser._actions if action.metavar]
    assert not [metavar for metavar in metavars if "_" in metavar or "|" in metavar]
    assert {action.metavar for action in parser._actions if action.dest == "config_dir"} <= {"FOLDER"}


def test_only_what_is_needed_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_and_call(main.load("export"), "pomrl export", [])
    assert capsys.readouterr().err == "missing FILE.zip; pomrl export --help lists the arguments\n"


@pytest.mark.parametrize(("command", "function"), [("plot", read.plot), ("table", read.table)])
def test_commands_have_the_options_of_python(command: str, function: Callable[..., Any]) -> None:
    parser = Parser("any")
    add_arguments(parser, main.load(command))
    flags = {action.dest: action.default for action in parser._actions}
    for name, parameter in signature(function).parameters.items():
        if parameter.kind is not Parameter.VAR_KEYWORD:
            assert flags[name] in (parameter.default, []), name


def test_choices_are_those_of_the_rooms_below() -> None:
    choices = {action.dest: action.choices for action in _actions("table")}
    assert choices["statistic"] == STATISTICS
    assert choices["format"] == {action.dest: action.choices for action in _actions("diff")}["format"] == FORMATS


def _actions(command: str) -> list[Any]:
    parser = Parser("any")
    add_arguments(parser, main.load(command))
    return parser._actions


def test_a_missing_package_is_named_with_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main, "all_commands", lambda: dict(main.COMMANDS))
    with pytest.raises(SystemExit) as end:
        main.command("horizon", ["log.csv"])()
    assert end.value.code == 2
    assert capsys.readouterr() == ("", "pomrl horizon needs pomrl-logs: pip install ./packages/pomrl-logs\n")


def test_help_of_the_program_imports_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    main.command("--help", [])()
    out = capsys.readouterr().out
    assert all(f"\n  {name} " in out for name in main.all_commands())
    assert {"run", "runs", "table", "plot", "diff", "view", "reproduce", "new", "export", "import", "docs"} <= {
        *main.all_commands()
    }
    assert all(main.summary(name) for name in main.all_commands())


@pytest.mark.parametrize("name", main.COMMANDS)
def test_modules_of_commands_are_in_their_room(name: str) -> None:
    module, _, function = main.COMMANDS[name].target.partition(":")
    assert callable(getattr(import_module(module), function))
    assert module.startswith("pomrl.commands.")
