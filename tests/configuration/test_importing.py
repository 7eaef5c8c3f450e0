"""Importing: commands load what they use."""

import subprocess
import sys


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_commands_of_the_store_import_little() -> None:
    commands = "from pomrl.commands import diff, export, plots_and_tables, runs"
    loaded = printed(f"import sys; {commands}; print(*sys.modules)").split()
    assert not {"hydra", "omegaconf", "matplotlib", "seaborn", "scipy.stats", "scipy.optimize"} & set(loaded)
    assert "pandas" not in loaded
