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


def test_commands_that_read_the_store_load_neither_hydra_nor_libraries_for_figures() -> None:
    code = "import sys, pomrl.commands.runs, pomrl.commands.table, pomrl.commands.diff; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"hydra", "omegaconf", "matplotlib", "seaborn", "scipy.stats", "scipy.optimize"} & set(loaded)
