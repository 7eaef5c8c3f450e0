"""The digest of code: what it covers, what it is blind to, and that nothing is run for it."""

import ast
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pomrl.store import code_digest as digests
from pomrl.store.code_digest import code_digest, engine_sources, module_digest, normalise, own_modules

OURS = "pomrl.science.estimators.pomrl.RegularisedLeastSquares"


def test_the_digest_covers_every_imported_module() -> None:
    imported = """import sys, pomrl.science.experiment
print(*(m.__file__ for name, m in sys.modules.items() if name.startswith("pomrl.") and m.__file__.endswith(".py")))"""
    loaded = subprocess.run([sys.executable, "-c", imported], capture_output=True, text=True, check=True).stdout
    assert {Path(path) for path in loaded.split()} <= {*engine_sources().values()}
    assert {"base.py", "bounds.py"} <= engine_sources().keys()


def clear() -> None:
    module_digest.cache_clear()
    digests._engine_digest.cache_clear()


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the engine."""
    copy = tmp_path / "copied" / "pomrl"
    shutil.copytree(digests.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    monkeypatch.setattr(digests, "PACKAGE", copy)
    clear()
    yield copy
    clear()


@pytest.mark.parametrize(
    ("file", "change", "counts"),
    [
        ("science/data.py", "more = 1\n", True),
        ("science/estimators/pomrl.py", "more = 1\n", True),
        ("science/solvers/_compiled.c", "int more;\n", True),
        ("science/_buffers.h", "int more;\n", True),
        ("base.py", "more = 1\n", True),
        ("science/data.py", "# more\n", False),
        ("science/solvers/_compiled.c", "/* more */ // more\n", False),
        ("api/read.py", "more = 1\n", False),
    ],
)
def test_edits_of_the_science_change_every_digest(engine: Path, file: str, change: str, counts: bool) -> None:
    before = code_digest([OURS])
    (engine / file).write_text((engine / file).read_text() + change)
    clear()
    assert (code_digest([OURS]) != before) is counts


def test_study_components_count_with_their_imports(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(digests, "INSTALLED", {"src", *digests.INSTALLED})  # as a wheel is
    covered = own_modules(["pomrl_studies.beyond.families.frozen_lake"])
    names = ("", ".beyond.families.frozen_lake", ".beyond.families.gymnasium_tables")
    assert covered.keys() == {f"pomrl_studies{name}" for name in names}
    assert "pomrl.priors" in own_modules(["pomrl_studies.beyond.estimators.empirical_bayes"])
    assert own_modules(["pomrl.science.estimators.pomrl"]) == {}


def test_comments_and_docstrings_do_not_count() -> None:
    documented = 'def f(x):\n    """Text."""\n    return x + 1  # comment\n'
    same = "def f(x):\n    # another\n\n    return (x + 1)\n"
    assert normalise(ast.parse(documented)) == normalise(ast.parse(same))
    assert normalise(ast.parse(documented)) != normalise(ast.parse(documented.replace("1", "2")))


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
    "not_imported.py": "this is no Python (",
    "package_of_theirs/__init__.py": "from .early import x\n",
    "package_of_theirs/early.py": "x = 1\n",
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
    clear()
    yield tmp_path
    clear()


def test_modules_beside_a_component_count(theirs: Path) -> None:
    own = {path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in FILES} - {"not_imported"}
    assert own_modules(["component_of_theirs"]).keys() == own


def test_only_an_installed_package_itself_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("installed_parts/part.py", "installed_parts/other.py", "library/__init__.py"):
        (file := tmp_path / "site-packages" / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text("import library\nfrom . import other\nimport numpy, json\n")
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    assert {*own_modules(["installed_parts.part"])} == {"installed_parts.part", "installed_parts.other"}
    assert {*own_modules(["installed_parts.part"], importer="__main__")} == set()


@pytest.mark.parametrize("name", ["component_of_theirs", "package_of_theirs/__init__", "package_of_theirs/deep/er"])
def test_every_edit_changes_the_digest(theirs: Path, name: str) -> None:
    before = code_digest(["component_of_theirs.C"])
    clear()
    assert code_digest(["component_of_theirs.C"]) == before
    path = theirs / f"{name}.py"
    path.write_text(path.read_text() + "more = 1\n")
    (theirs / "not_imported.py").write_text("x = 2 (")
    clear()
    assert code_digest(["component_of_theirs.C"]) != before


def test_nested_classes_have_a_digest(theirs: Path) -> None:
    assert code_digest(["component_of_theirs.C.Inner"]) == code_digest(["component_of_theirs.C"])
    with pytest.raises(ModuleNotFoundError, match=r"nowhere\.at\.all\.C"):
        code_digest(["nowhere.at.all.C"])
