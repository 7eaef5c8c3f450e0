"""A column of the table of experiments is declared in one place."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.settings import ROOT

DECLARATION = '''
    Column("spread", "Spread of policies", "actions", "range of actions", lambda s: np.ptp(s.policy, (1, 2, 3)) * 1.0),
)
"""The columns of every table'''

COMMANDS = """
from pomrl.commands.main import main
from docs.build.columns import with_columns
for command in ("run T=2 S=4 runs=3", "table --y spread", "plot --y spread --x task"):
    try:
        main(command.split())
    except SystemExit as end:
        assert not end.code, command
print(with_columns(open("stored_formats.md").read()).count("| `spread` | float64 | actions | range of actions |"))
"""


def test_tables_plots_and_documents_use_the_declaration(tmp_path: Path) -> None:
    for folder in ("src", "conf"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "docs" / "stored_formats.md", tmp_path)
    declared = tmp_path / "src" / "pomrl" / "science" / "stored_columns.py"
    text = declared.read_text()
    assert text.count(')\n"""Columns of every table') == 1
    declared.write_text(text.replace(')\n"""Columns of every table', DECLARATION.lstrip("\n")))
    paths = os.pathsep.join([str(tmp_path / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths, "POMRL_OUTPUTS": "outputs"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "spread" in done.stdout
    assert done.stdout.endswith("1\n")
    assert list((tmp_path / "outputs" / "plots").glob("*.png"))
