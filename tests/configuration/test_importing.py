"""Importing: a module is imported once, and commands load what they use."""

import subprocess
import sys

import pytest

from pomrl.configuration.importing import imported


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """Write modules of one's own that can be imported by the name that is returned."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def written(text):
        (tmp_path / "of_my_own.py").write_text(text)
        monkeypatch.delitem(sys.modules, "of_my_own", raising=False)
        return "of_my_own"

    yield written
    sys.modules.pop("of_my_own", None)


def test_a_sound_module_is_imported_once_in_this_process_and_prints_once(own_module, capfd):
    name = own_module("print('imported')")
    assert imported(name) is sys.modules[name]
    assert imported(name) is sys.modules[name]
    assert capfd.readouterr().out == "imported\n"


def test_what_a_module_raises_is_raised(own_module):
    with pytest.raises(ZeroDivisionError):
        imported(own_module("1 / 0"))


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


LAZILY = "import sys; from pomrl.configuration.importing import import_lazily; import_lazily('pandas'); "


def test_commands_that_read_the_store_load_neither_hydra_nor_libraries_for_tables_and_figures() -> None:
    commands = "from pomrl.commands import audit, diff, export, runs, table"
    loaded = printed(f"{LAZILY}{commands}; print(*sys.modules)").split()
    assert not {"hydra", "omegaconf", "matplotlib", "seaborn", "scipy.stats", "scipy.optimize"} & set(loaded)
    assert "pandas.core" not in loaded


def test_a_package_is_loaded_at_its_first_use() -> None:
    used = "from pandas import DataFrame; print('pandas.core.frame' in sys.modules, len(DataFrame({'a': [1]})))"
    assert printed(f"{LAZILY}import pandas; print(type(pandas).__name__); {used}") == "_NotYet\nTrue 1"
