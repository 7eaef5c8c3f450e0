"""The rule of the house: an import goes down only, and each library is imported in the layer that it belongs to.

The imports are read from the source, those inside functions included, so that nothing has to be executed.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest
from tests.support.settings import ROOT

import pomrl
from pomrl import components, figures, planning, reports, study

SRC = ROOT / "src"

LAYERS = (
    ("__main__",),
    ("commands",),
    ("api", "review"),
    ("pages",),
    ("drawing", "judging"),
    ("results", "running"),
    ("store",),
    ("configuration",),
    ("contracts",),
    ("small_experiments", "models", "bounds", "priors"),
    ("science", "execution"),
    ("base", "outputs"),
)
"""From the top to the bottom. Rooms of one layer do not import each other."""

FACES = {
    "components": ("contracts", "science", "base"),
    "study": ("judging", "results", "store", "configuration", "bounds", "science"),
    "figures": ("pages", "drawing", "results"),
    "planning": ("models", "priors", "science", "execution", "base"),
    "reports": ("commands", "store", "outputs"),
}
"""Modules that gather names for users, each with the rooms that it has them from. Studies and packages import them, and
nothing else of ours does."""

PUBLIC = ("priors",)
"""Modules that users import themselves, because digests of code count them where they are imported."""

OF_STUDIES = ("skeleton",)
"""The room of a study, which is what anybody's study is: nothing imports it, and it imports faces alone."""

BESIDE = {
    "pomrl_studies": (),
    "pomrl_report": (),
}
"""The packages beside the engine, which it does not import, each with what it imports of the others."""

DISTRIBUTIONS = sorted(ROOT.glob("packages/*/src/*"))
"""The packages of distributions of their own."""

REQUIRED = ("verdicts",)
"""The packages of distributions that the engine imports, and so they import nothing of it."""

ONLY_IN = {
    "argparse": ("commands",),
    "rich": ("commands",),
    "jinja2": (),
    "matplotlib": ("drawing", "api"),
    "seaborn": ("drawing",),
    "hydra": ("configuration", "commands"),
    "omegaconf": ("configuration", "commands"),
    "pyarrow": ("store",),
    "joblib": ("execution", "running", "drawing"),
    "threadpoolctl": ("execution",),
    "dask": ("execution",),
    "distributed": ("execution",),
    "pytest": (),
    "gymnasium": ("models",),
    "hydra_plugins": (),
    "src": (),
    "verdicts": ("judging", "results", "study", "commands"),
}
"""Libraries, and the rooms, or folders in them, that may import them."""

IMPORTS_BY_NAME = ("configuration",)
"""The room that imports modules by names that a user gives: classes of options, modules of studies."""


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """The modules that a file imports, anywhere in it, each with its line; a name that is a module counts as one."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from ((name if is_module(name) else str(node.module), node.lineno) for name in names)


def is_module(name: str) -> bool:
    path = SRC.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or path.is_dir()


def room(module: str) -> str:
    """The folder or file of `pomrl` that a module is in, which has a place in the layers."""
    return module.split(".")[1] if "." in module else ""


def depth(of_room: str) -> int:
    return next(depth for depth, rooms in enumerate(LAYERS) if of_room in rooms)


OURS = sorted(path for path in (SRC / "pomrl").rglob("*.py") if path != SRC / "pomrl" / "__init__.py")


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")


def is_of_a_study(path: Path) -> bool:
    return room(module_of(path)) in OF_STUDIES


def test_an_import_goes_down_only() -> None:
    for path in OURS:
        here = room(module_of(path))
        for name, line in [] if is_of_a_study(path) else imports(path):
            if name.partition(".")[0] == "pomrl":
                there = room(name)
                assert there not in ("", *FACES), f"{path}:{line}: the face is for users; import the module itself"
                assert there not in OF_STUDIES, f"{path}:{line}: nothing of ours knows a study; find it in its folder"
                allowed = there in FACES[here] if here in FACES else there == here or depth(there) > depth(here)
                assert allowed, f"{path}:{line}: {here} must not import {there}"


def test_the_engine_imports_no_package_beside_it() -> None:
    for path in [*OURS, SRC / "pomrl" / "__init__.py"]:
        for name, line in imports(path):
            top = name.partition(".")[0]
            others = {folder.name for folder in DISTRIBUTIONS}.difference(REQUIRED)
            assert top not in {*BESIDE, *others}, f"{path}:{line}: {name}"


OF_COMMANDS = ("pomrl", "pomrl_report.rendering")
"""What a study with a command imports besides: public functions, and templates of pages."""


def studies_with_a_command() -> set[str]:
    commands = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pomrl.commands"]
    return {".".join(value.split(".")[:2]) for value in commands.values() if value.startswith("pomrl_studies.")}


def test_a_study_imports_faces_and_its_own_modules_alone() -> None:
    """So that what is shipped can do no more than anybody's study. It may apply the rules of another study's claims."""
    assert studies_with_a_command() == {"pomrl_studies.board"}
    for path in [*filter(is_of_a_study, OURS), *(SRC / "pomrl_studies").rglob("*.py")]:
        here = module_of(path).split(".")
        own = ".".join(here[:2])
        further = OF_COMMANDS if own in studies_with_a_command() else ()
        for name, line in imports(path):
            if name.partition(".")[0] in ("pomrl", *BESIDE):
                is_rule = re.match(r"pomrl_studies\.\w+\.claims\.", name) and "claims" in here
                is_face = name.startswith("pomrl.") and room(name) in (*FACES, *PUBLIC)
                allowed = is_face or f"{name}.".startswith(f"{own}.") or is_rule or name in further
                assert allowed, f"{path}:{line}: a study must not import {name}"


def test_what_is_shipped_needs_no_examples() -> None:
    """A wheel has none."""
    for path in SRC.rglob("*.py"):
        assert not any(name.partition(".")[0] == "examples" for name, _ in imports(path)), path
    for path in SRC.rglob("*.yaml"):
        assert "_target_: examples." not in path.read_text(), path


@pytest.mark.parametrize("package", ["pomrl_report"])
def test_a_package_beside_the_engine_imports_of_the_others_what_it_may(package: str) -> None:
    for path in (SRC / package).rglob("*.py"):
        for name, line in imports(path):
            if name.partition(".")[0] in {*BESIDE} - {package}:
                assert name.startswith(BESIDE[package] or ("nothing",)), f"{path}:{line}: {package} imports {name}"


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=lambda folder: folder.name)
def test_a_distribution_imports_public_names_alone(folder: Path) -> None:
    """It may use the commands' tools and templates of pages, as a study with a command."""
    for path in folder.rglob("*.py"):
        for name, line in imports(path):
            if name.partition(".")[0] in ("pomrl", *BESIDE):
                assert folder.name not in REQUIRED, f"{path}:{line}: {name}"
                is_public = name in OF_COMMANDS or (name.startswith("pomrl.") and room(name) in (*FACES, *PUBLIC))
                assert is_public, f"{path}:{line}: {folder.name} must not import {name}"


@pytest.mark.parametrize(
    "folder", [folder for folder in DISTRIBUTIONS if folder.name not in REQUIRED], ids=lambda folder: folder.name
)
def test_the_engine_and_its_tests_need_no_distribution(folder: Path) -> None:
    for path in chain.from_iterable((ROOT / name).rglob("*.py") for name in ("src", "docs", "examples", "tests")):
        assert not any(name.partition(".")[0] == folder.name for name, _ in imports(path)), path


def test_a_library_is_imported_only_in_the_layer_that_it_belongs_to() -> None:
    for path in OURS:
        here = module_of(path).removeprefix("pomrl.")
        for name, line in imports(path):
            rooms = ONLY_IN.get(name.partition(".")[0], (here,))
            inside = any(f"{here}.".startswith(f"{one}.") for one in rooms)
            assert inside, f"{path}:{line}: {name} is imported only in {', '.join(rooms)}"


def test_every_room_has_its_place_in_the_layers_and_in_the_table_of_contributing() -> None:
    placed = {name for layer in LAYERS for name in layer}
    assert {room(module_of(path)) for path in OURS} == placed | {*FACES, *OF_STUDIES}
    text = (ROOT / "CONTRIBUTING.md").read_text()
    described = [line.split()[0] for line in text.partition("goes down only:\n\n")[2].partition("\n\n")[0].splitlines()]
    assert {*described} == placed - {"__main__"}
    assert [depth(name) for name in described] == sorted(depth(name) for name in described)


def test_there_are_no_circles_between_modules() -> None:
    graph = {
        module_of(path): {name for name, _ in imports(path) if name.startswith("pomrl.")} - {module_of(path)}
        for path in OURS
    }
    try:
        from_below = [*TopologicalSorter(graph).static_order()]
    except CycleError as error:
        pytest.fail(f"modules import each other: {error.args[1]}")
    assert {*graph} <= {*from_below}


@cache
def names_used(path: Path) -> set[str]:
    """The names of all variables and attributes that a file uses, and the functions that it calls."""
    nodes = list(ast.walk(parsed(path)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def test_modules_are_imported_by_statements_that_this_test_sees() -> None:
    """Otherwise an arrow could be turned round behind its back."""
    for path in OURS:
        hidden = names_used(path) & {"__import__", "import_module", "resolve_name", "exec", "eval"}
        assert hidden <= ({"import_module"} if room(module_of(path)) in IMPORTS_BY_NAME else set()), path


def test_only_commands_print_and_exit() -> None:
    for path in OURS:
        if room(module_of(path)) != "commands":
            raised = [ast.unparse(node) for node in ast.walk(parsed(path)) if isinstance(node, ast.Raise)]
            assert not names_used(path) & {"print", "exit", "_exit"}, path
            assert not any("SystemExit" in statement for statement in raised), path


def test_the_science_does_no_input_or_output() -> None:
    """It makes tables, which others store: it reads and writes no tables and no files, and draws no pictures.

    The exceptions are the task distribution that is a file, and the look at the sources of extension modules.
    """
    exceptions = ("pomrl.science.tasks.table", "pomrl.science.solvers.compiled")
    files = {"open", "read_text", "write_text", "read_bytes", "write_bytes", "savetxt", "loadtxt", "save", "load"}
    formats = ("csv", "parquet", "pickle", "json", "feather", "hdf", "excel", "sql", "html", "markdown")
    forbidden = files | {f"{way}_{name}" for way in ("read", "to") for name in formats}
    for path in OURS:
        if room(module_of(path)) in ("science", "bounds", "base") and module_of(path) not in exceptions:
            assert not names_used(path) & forbidden, path


@pytest.mark.parametrize("path", sorted((SRC / "hydra_plugins").rglob("*.py")), ids=lambda path: path.stem)
def test_a_plugin_imports_what_the_command_does_and_only_inside_functions(path: Path) -> None:
    assert {room(name) for name, _ in imports(path) if name.startswith("pomrl")} <= {
        "configuration",
        "commands",
        "store",
    }
    functions = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef)]
    inside = {line for function in functions for line in range(function.lineno, (function.end_lineno or 0) + 1)}
    assert all(line in inside for name, line in imports(path) if name.startswith("pomrl"))


def test_an_entry_module_only_calls_its_command() -> None:
    for path in SRC.glob("[!_]*.py"):
        assert [name for name, _ in imports(path) if "pomrl" in name] == ["pomrl.commands.entry"]
        assert f'sys.argv.insert(1, "{path.stem}")' in path.read_text()
        assert len(path.read_text().splitlines()) < 20


def test_importing_the_package_or_a_plugin_loads_nothing_else_of_ours() -> None:
    """Hydra loads every plugin in every application, so that an import of ours costs everybody."""
    plugins = ", ".join(
        f"hydra_plugins.pomrl.{path.stem}" for path in (SRC / "hydra_plugins" / "pomrl").glob("[a-z]*.py")
    )
    listing = f"import sys, pomrl, {plugins}; print(*[name for name in sys.modules if name.startswith('pomrl.')])"
    loaded = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True).stdout
    assert loaded.split() == []


@pytest.mark.parametrize("face", [components, study, figures, planning, reports], ids=lambda face: face.__name__)
def test_a_face_offers_what_it_gathers_and_has_nothing_of_its_own(face: ModuleType) -> None:
    tree = ast.parse(Path(str(face.__file__)).read_text())
    docstring, *gathering = tree.body
    assert isinstance(docstring, ast.Expr)
    assert all(isinstance(node, ast.ImportFrom) for node in gathering)
    for alias in (alias for node in gathering if isinstance(node, ast.ImportFrom) for alias in node.names):
        assert alias.asname, f"{alias.name}: import it as itself, so that type checkers export it"
        assert getattr(face, alias.asname) is not None


def test_finding_the_claims_of_all_studies_loads_no_matplotlib() -> None:
    finding = (
        "import sys; from pomrl.configuration.studies import shipped_studies\n"
        "from pomrl.judging.claim import claims_of\n"
        "print(sum(len(claims_of(study)) for study in shipped_studies()), *sys.modules)"
    )
    number, *loaded = subprocess.run(
        [sys.executable, "-c", finding], capture_output=True, text=True, check=True
    ).stdout.split()
    assert int(number) > 100
    assert not {"matplotlib", "seaborn", "jinja2"} & {*loaded}


def test_the_face_offers_what_it_lists_and_nothing_else() -> None:
    assert {"find", "plan", "sweep"} < {*dir(pomrl)}
    assert all(callable(getattr(pomrl, name)) for name in dir(pomrl))
    with pytest.raises(AttributeError, match="module 'pomrl' has no attribute 'lood'"):
        pomrl.lood  # noqa: B018
