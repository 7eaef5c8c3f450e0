"""The digest of code: what it covers, what it is blind to, and that nothing is run for it."""

import ast
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pomrl.store import code_digest as digests
from pomrl.store.code_digest import Code, closure_digest, code_digest, modules, normalise


def test_it_covers_every_module_that_an_experiment_runs_through() -> None:
    imported = """import sys, pomrl.science.experiment
print(*sorted(name for name, m in sys.modules.items() if name.startswith("pomrl.") and m.__file__))"""
    loaded = subprocess.run([sys.executable, "-c", imported], capture_output=True, text=True, check=True).stdout
    assert loaded.split() == sorted(modules(["pomrl.science.experiment"]))


def test_of_the_theory_what_a_simulation_uses_by_way_of_a_face_counts_and_no_more() -> None:
    coverage, related = (modules([f"pomrl_studies.pomrl2023.theory.{name}"]) for name in ("coverage", "related_tasks"))
    assert "pomrl.bounds" in coverage
    assert not {"pomrl.bounds", "pomrl.study"} & related


def test_it_is_blind_to_comments_and_docstrings_but_not_to_code() -> None:
    one = 'def f(x):\n    """Text."""\n    return x + 1  # comment\n'
    same = "def f(x):\n    # another\n\n    return (x + 1)\n"
    assert normalise(ast.parse(one)) == normalise(ast.parse(same))
    assert normalise(ast.parse(one)) != normalise(ast.parse(one.replace("1", "2")))


def test_it_is_the_same_on_every_python() -> None:
    """The digest of a text with what `ast.unparse` could write in several ways; any supported Python has to give it."""
    source = '''
from a import (b, c)
class C(metaclass=M):
    """Text."""
    x: int = 0x10
    def f(self, *, y=(1,), **k):
        """Text."""
        return f"{self.x!r:>{y}} and {k['a']}" + "\\n" if not y else [i async for i in k if i]
'''
    digest = hashlib.sha256(normalise(ast.parse(source)).encode()).hexdigest()
    assert digest[:12] == "bc7e0ac4acac"


FILES = {
    "component_of_theirs.py": "import numpy\nimport beside_it\nfrom package_of_theirs import part\nclass C: ...\n",
    "beside_it.py": "def f():\n    from pomrl import bounds\n    return 1\n",
    "not_imported.py": "x = 1\n",
    "package_of_theirs/__init__.py": "x = 1\n",
    "package_of_theirs/part.py": "from . import other\nfrom .deep.er import y\n",
    "package_of_theirs/other.py": "import component_of_theirs\n",
    "package_of_theirs/deep/__init__.py": "",
    "package_of_theirs/deep/er.py": "from ..other import component_of_theirs as y\n",
}


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a component of someone else's and what it imports; importing any of it ends the test."""
    for name, source in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source + "raise SystemExit('this code was run')\n")
    monkeypatch.syspath_prepend(tmp_path)
    closure_digest.cache_clear()
    yield tmp_path
    closure_digest.cache_clear()


def test_what_a_component_imports_from_beside_itself_counts(theirs: Path) -> None:
    covered = modules(["component_of_theirs"])
    own = {path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in FILES} - {"not_imported"}
    assert {name for name in covered if not name.startswith("pomrl")} == own
    assert "pomrl.bounds" in covered
    assert "pomrl" not in covered


@pytest.mark.parametrize("name", ["component_of_theirs", "package_of_theirs/__init__", "package_of_theirs/deep/er"])
def test_an_edit_of_any_of_it_changes_the_digest(theirs: Path, name: str) -> None:
    before = code_digest(["component_of_theirs.C"])
    closure_digest.cache_clear()
    assert code_digest(["component_of_theirs.C"]) == before
    path = theirs / f"{name}.py"
    path.write_text(path.read_text() + "more = 1\n")
    (theirs / "not_imported.py").write_text("x = 2\n")
    closure_digest.cache_clear()
    assert code_digest(["component_of_theirs.C"]) != before


ESTIMATOR = """from pomrl.components import Estimator, Field

class C(Estimator[None]):
    weight: float = Field(ge=0)
"""


@pytest.mark.parametrize(
    "imports",
    [
        "from pomrl.components import Estimator, Field",
        "from pomrl.science.estimators.estimator import Estimator",
        "def f():\n    from pomrl.components import Truth as T, Estimator",
    ],
)
def test_a_name_of_the_face_is_imported_from_the_module_that_defines_it(theirs: Path, imports: str) -> None:
    (theirs / "of_the_face.py").write_text(imports)
    assert modules(["of_the_face"]) == modules(["pomrl.science.estimators.estimator"]) | {"of_the_face"}


@pytest.mark.parametrize(
    "imports", ["import pomrl.components as c", "from pomrl import components", "from pomrl.components import *"]
)
def test_where_names_are_not_said_all_that_the_face_gathers_counts(theirs: Path, imports: str) -> None:
    (theirs / "of_the_face.py").write_text(imports)
    covered = modules(["of_the_face"])
    assert {"pomrl.components", "pomrl.science.tasks.distribution", "pomrl.science.planners"} <= covered


@pytest.mark.parametrize(
    ("edited", "counts"),
    [("pomrl.science.data", True), ("pomrl.science.estimators.pomrl", False), ("pomrl.components", False)],
)
def test_of_what_the_face_gathers_only_what_a_component_uses_changes_its_digest(
    theirs: Path, edited: str, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (theirs / "of_the_face.py").write_text(ESTIMATOR)
    before = code_digest(["of_the_face.C"])
    code_of = digests._code

    def with_an_edit(module: str) -> Code:
        code = code_of(module)
        return replace(code, normalised=code.normalised + " edited") if module == edited else code

    monkeypatch.setattr(digests, "_code", with_an_edit)
    closure_digest.cache_clear()
    assert (code_digest(["of_the_face.C"]) != before) is counts


def test_the_class_may_stand_in_another_one_and_one_that_is_not_found_is_named(theirs: Path) -> None:
    assert code_digest(["component_of_theirs.C.Inner"]) == code_digest(["component_of_theirs.C"])
    with pytest.raises(ModuleNotFoundError, match=r"nowhere\.at\.all\.C"):
        code_digest(["nowhere.at.all.C"])
