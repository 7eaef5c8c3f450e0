"""The rule of the house: an import goes down only, and each library is imported in the layer that it belongs to.

The imports are read from the source, those inside functions included, so that nothing has to be executed.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.settings import ROOT

import pomrl

SRC = ROOT / "src"

SCIENCE = (
    "experiment", "algorithm", "tasks", "estimators", "gamma_schedules", "gamma_star", "planners", "mdp",
    "randomness", "upper_bound", "checked", "data", "meta_batches", "exploration",
)  # fmt: skip
"""The modules and folders that numbers pass through; they may import each other."""

LAYERS = (
    ("__main__",),
    ("commands",),
    ("api",),
    ("report",),
    ("figures",),
    ("claims",),
    ("results", "running", "contracts", "bounds"),
    ("store",),
    ("configuration", "theory"),
    ("models_and_logs",),
    SCIENCE,
    ("solvers", "execution"),
    ("components", "outputs"),
)
"""From the top to the bottom. Rooms of one layer do not import each other, but the modules of the science do."""

ONLY_IN = {
    "argparse": ("commands",),
    "rich": ("commands",),
    "jinja2": ("report",),
    "matplotlib": ("figures", "api"),
    "seaborn": ("figures",),
    "hydra": ("configuration", "commands"),
    "omegaconf": ("configuration", "commands"),
    "pyarrow": ("store",),
    "joblib": ("execution", "commands"),
    "dask": ("execution",),
    "distributed": ("execution",),
    "submitit": ("execution",),
    "pytest": ("contracts",),
    "gymnasium": ("tasks.families",),
    "hydra_plugins": (),
    "src": (),
}
"""Libraries, and the rooms, or folders in them, that may import them."""

IMPORTS_BY_NAME = ("configuration",)
"""The room that imports modules by names that a user gives: classes of options, and figures of one's own."""


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """The modules that a file imports, anywhere in it, each with its line; a name that is a module counts as one."""
    for node in ast.walk(ast.parse(path.read_text())):
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


@pytest.mark.parametrize("path", OURS, ids=module_of)
def test_an_import_goes_down_only(path: Path) -> None:
    here = room(module_of(path))
    for name, line in imports(path):
        if name.partition(".")[0] != "pomrl":
            continue
        there = room(name)
        assert there, f"{path}:{line}: the face is for users; import the module itself"
        allowed = there == here or depth(there) > depth(here) or (there in SCIENCE and here in SCIENCE)
        assert allowed, f"{path}:{line}: {here} must not import {there}"


@pytest.mark.parametrize("path", OURS, ids=module_of)
def test_a_library_is_imported_only_in_the_layer_that_it_belongs_to(path: Path) -> None:
    here = module_of(path).removeprefix("pomrl.")
    for name, line in imports(path):
        rooms = ONLY_IN.get(name.partition(".")[0], (here,))
        inside = any(f"{here}.".startswith(f"{one}.") for one in rooms)
        assert inside, f"{path}:{line}: {name} is imported only in {', '.join(rooms)}"


def test_every_room_has_its_place_in_the_layers() -> None:
    rooms = {room(module_of(path)) for path in OURS}
    assert rooms == {name for layer in LAYERS for name in layer}


def test_there_are_no_circles_between_modules() -> None:
    graph = {
        module_of(path): {name for name, _ in imports(path) if name.startswith("pomrl.")} - {module_of(path)}
        for path in OURS
    }
    finished: set[str] = set()

    def visit(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, f"a circle: {' -> '.join((*above, module))}"
        if module not in finished:
            for name in sorted(graph.get(module, ())):
                visit(name, (*above, module))
            finished.add(module)

    for module in sorted(graph):
        visit(module, ())


def test_the_engines_know_nothing_of_ours_but_components_and_the_folder_of_outputs() -> None:
    for path in (SRC / "pomrl" / "execution").glob("*.py"):
        rooms = {room(name) for name, _ in imports(path) if name.startswith("pomrl")}
        assert rooms <= {"execution", "components", "outputs"}, path


def names_used(path: Path) -> set[str]:
    """The names of all variables and attributes that a file uses, and the functions that it calls."""
    tree = ast.parse(path.read_text())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize("path", OURS, ids=module_of)
def test_modules_are_imported_by_statements_that_this_test_sees(path: Path) -> None:
    """Otherwise an arrow could be turned round behind its back."""
    hidden = names_used(path) & {"__import__", "import_module", "resolve_name", "exec", "eval"}
    assert hidden <= ({"import_module"} if room(module_of(path)) in IMPORTS_BY_NAME else set())


@pytest.mark.parametrize("path", OURS, ids=module_of)
def test_only_commands_print_and_exit(path: Path) -> None:
    if room(module_of(path)) != "commands":
        raised = [ast.unparse(node) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Raise)]
        assert not names_used(path) & {"print", "exit", "_exit"}
        assert not any("SystemExit" in statement for statement in raised)


@pytest.mark.parametrize("path", OURS, ids=module_of)
def test_the_science_does_no_input_or_output(path: Path) -> None:
    """It makes tables, which others store: it reads and writes no tables and no files, and draws no pictures.

    The one exception is the task distribution that is a file.
    """
    without = room(module_of(path)) in (*SCIENCE, "theory", "bounds", "components")
    if without and module_of(path) != "pomrl.science.tasks.families.table":
        files = {"open", "read_text", "write_text", "read_bytes", "write_bytes", "savetxt", "loadtxt", "save", "load"}
        formats = ("csv", "parquet", "pickle", "json", "feather", "hdf", "excel", "sql", "html", "markdown")
        tables = names_used(path) & {f"{way}_{name}" for way in ("read", "to") for name in formats}
        assert not names_used(path) & files
        assert not tables


@pytest.mark.parametrize("path", sorted((SRC / "hydra_plugins").rglob("*.py")), ids=lambda path: path.stem)
def test_a_plugin_imports_configuration_alone_and_only_inside_functions(path: Path) -> None:
    assert {room(name) for name, _ in imports(path) if name.startswith("pomrl")} <= {"configuration"}
    tree = ast.parse(path.read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {line for function in functions for line in range(function.lineno, (function.end_lineno or 0) + 1)}
    assert all(line in inside for name, line in imports(path) if name.startswith("pomrl"))


@pytest.mark.parametrize("path", sorted(SRC.glob("*.py")), ids=lambda path: path.stem)
def test_an_entry_module_only_calls_its_command(path: Path) -> None:
    assert [name for name, _ in imports(path)] == [f"pomrl.commands.{path.stem}"]
    assert len(path.read_text().splitlines()) < 10


@pytest.mark.parametrize("module", ["pomrl", "hydra_plugins.whole_sweep"])
def test_importing_it_loads_nothing_else_of_ours(module: str) -> None:
    """Hydra loads every plugin in every application, so that an import of ours costs everybody."""
    listing = f"import sys, {module}; print(*sorted(name for name in sys.modules if name.startswith('pomrl.')))"
    loaded = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True).stdout
    assert loaded.split() == []


def test_the_face_offers_what_it_lists_and_nothing_else() -> None:
    assert set(pomrl.__all__) <= set(dir(pomrl))
    assert all(callable(getattr(pomrl, name)) for name in pomrl.__all__)
    with pytest.raises(AttributeError, match="module 'pomrl' has no attribute 'lood'"):
        pomrl.lood  # noqa: B018
