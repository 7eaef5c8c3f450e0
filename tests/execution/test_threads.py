"""One thread of BLAS, in libraries that are loaded later, too."""

import os
import subprocess
import sys

PROGRAM = """
from threadpoolctl import threadpool_info
from pomrl.execution.local import one_thread

with one_thread():
    import numpy, scipy.linalg, scipy.sparse.linalg
    print(max(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"))
"""


def test_libraries_loaded_later_have_one_thread() -> None:
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    program = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        program, capture_output=True, text=True, check=True, env={**environment, "OMP_NUM_THREADS": "2"}
    )
    assert done.stdout.split() == ["1"]
