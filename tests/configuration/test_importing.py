"""Importing: commands load what they use."""

import subprocess
import sys


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


LAZILY = "import sys; from pomrl.configuration.importing import import_lazily; import_lazily('pandas'); "


def test_commands_that_read_the_store_load_neither_hydra_nor_libraries_for_tables_and_figures() -> None:
    commands = "from pomrl.commands import diff, export, plots_and_tables, runs"
    loaded = printed(f"{LAZILY}{commands}; print(*sys.modules)").split()
    assert not {"hydra", "omegaconf", "matplotlib", "seaborn", "scipy.stats", "scipy.optimize"} & set(loaded)
    assert "pandas.core" not in loaded


def test_a_package_is_loaded_at_its_first_use() -> None:
    used = "from pandas import DataFrame; print('pandas.core.frame' in sys.modules, len(DataFrame({'a': [1]})))"
    assert printed(f"{LAZILY}import pandas; print(type(pandas).__name__); {used}") == "_NotYet\nTrue 1"
