"""A package that is imported when it is used for the first time."""

import subprocess
import sys

USED = "pandas.DataFrame({'a': [1]}); print('pandas.core.frame' in sys.modules, type(pandas).__name__)"


def test_commands_that_need_no_table_do_not_load_pandas() -> None:
    commands = "from pomrl.commands import audit, compare, diff, export, runs, table"
    assert answers(f"{commands}; print('pandas.core' in sys.modules)") == "False"


def test_a_package_is_loaded_at_its_first_use() -> None:
    assert answers(f"import pandas; {USED}") == "True _NotYet"
    assert answers(f"import pandas.api.types, pandas; {USED}") == "True module"
    assert answers("from pandas import DataFrame; print(len(DataFrame({'a': [1]})))") == "1"


def test_a_package_that_is_loaded_already_stays() -> None:
    loaded = "import sys, pandas; from pomrl.configuration.importing import import_lazily; import_lazily('pandas')"
    assert printed(f"{loaded}; print(sys.modules['pandas'] is pandas, type(pandas).__name__)") == "True module"


def answers(code: str) -> str:
    return printed(
        f"import sys; from pomrl.configuration.importing import import_lazily; import_lazily('pandas'); {code}"
    )


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
