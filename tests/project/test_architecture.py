"""Imports go down only, by the layers in pyproject.toml, and a room leaves to others what is theirs."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from importlinter.cli import lint_imports
from tests.support.settings import ROOT

import pomrl

SRC = ROOT / "src"
MODULES = sorted((SRC / "pomrl").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LINTER = PROJECT["tool"]["importlinter"]


def room(path: Path) -> str:
    """Return the folder or file of `pomrl` that a module is in."""
    return path.relative_to(SRC / "pomrl").parts[0].removesuffix(".py")


@cache
def names_used(path: Path) -> set[str]:
    """Return the names of variables and attributes that a file uses."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def run_python(code: str) -> list[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_imports_keep_to_the_layers() -> None:
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True) == 0


def test_linter_knows_all_packages() -> None:
    studies = set(PROJECT["project"]["entry-points"]["pomrl.studies"].values())
    packages = {path.parent.name for path in [*SRC.glob("*/__init__.py"), *ROOT.glob("packages/*/src/*/__init__.py")]}
    assert studies - {"pomrl_studies.board"} | packages <= {*LINTER["root_packages"]}


def test_table_of_rooms_has_the_layers() -> None:
    top, *layers = [set(layer.split(" | ")) for layer in LINTER["contracts"][0]["layers"]]
    assert "__main__" in top
    text = (ROOT / "CONTRIBUTING.md").read_text()
    described = [line.split()[0] for line in text.partition("goes down only:\n\n")[2].partition("\n\n")[0].splitlines()]
    for layer in layers:
        assert {*described[: len(layer)]} == layer
        del described[: len(layer)]
    assert not described


def test_engine_and_its_tests_need_no_distribution() -> None:
    for folder in ("src", "docs", "examples", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            assert not re.search(r"^\s*(from|import) pomrl_logs\b", path.read_text(), re.M), path


def test_shipped_options_need_no_examples() -> None:
    for path in SRC.rglob("*.yaml"):
        assert "_target_: examples." not in path.read_text(), path


def test_imports_are_statements() -> None:
    """Otherwise the linter would not see them. `configuration` imports users' modules, `pomrl` its public names."""
    for path in MODULES:
        hidden = names_used(path) & {"__import__", "import_module", "resolve_name", "exec", "eval"}
        assert hidden <= ({"import_module"} if room(path) in ("configuration", "__init__") else set()), path


def test_only_commands_print_and_exit() -> None:
    for path in MODULES:
        if room(path) != "commands":
            assert not names_used(path) & {"print", "exit", "_exit"}, path
            assert "raise SystemExit" not in path.read_text(), path


FILE_METHODS = {"open", "read_text", "write_text", "read_bytes", "write_bytes", "savetxt", "loadtxt", "save", "load"}
TABLE_FORMATS = ("csv", "parquet", "pickle", "json", "feather", "hdf", "excel", "sql", "html", "markdown")


def test_science_reads_and_writes_no_files() -> None:
    """Except the task distribution from a file, and the comparison with sources of extension modules."""
    forbidden = FILE_METHODS | {f"{way}_{name}" for way in ("read", "to") for name in TABLE_FORMATS}
    exceptions = [SRC / "pomrl/science/tasks/table.py", SRC / "pomrl/science/solvers/compiled.py"]
    for path in MODULES:
        if room(path) in ("science", "bounds", "base") and path not in exceptions:
            assert not names_used(path) & forbidden, path


def test_importing_pomrl_or_plugins_loads_no_modules() -> None:
    """Hydra loads every plugin in every application, so that an import of ours costs everybody."""
    plugins = ", ".join(f"hydra_plugins.pomrl.{path.stem}" for path in SRC.glob("hydra_plugins/pomrl/[a-z]*.py"))
    listing = f"import sys, pomrl, {plugins}; print(*[name for name in sys.modules if name.startswith('pomrl.')])"
    assert run_python(listing) == []


def test_listing_claims_loads_no_matplotlib() -> None:
    number, *modules = run_python(
        "import sys; from pomrl.configuration.studies import shipped_studies\n"
        "from pomrl.judging.claim import claims_of\n"
        "print(sum(len(claims_of(study)) for study in shipped_studies()), *sys.modules)"
    )
    assert int(number) > 100
    assert not {"matplotlib", "seaborn", "jinja2"} & {*modules}


def test_interface_offers_what_it_lists() -> None:
    assert {"find", "plan", "sweep"} < {*dir(pomrl)}
    assert all(callable(getattr(pomrl, name)) for name in dir(pomrl))
    with pytest.raises(AttributeError, match="module 'pomrl' has no attribute 'lood'"):
        pomrl.lood  # noqa: B018
