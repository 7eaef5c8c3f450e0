"""The compiled engine, left out where there is no compiler or where POMRL_NO_ENGINE=1 says that it is not wanted.

Everything else about the package is in pyproject.toml.
"""

import hashlib
import os
from pathlib import Path

from setuptools import Extension, setup

SOURCE = Path("src/pomrl/solvers/_compiled.c")

ENGINE = Extension(
    "pomrl.solvers._compiled",
    [SOURCE.as_posix()],
    # Without contraction of multiplication and addition the bits are those of NumPy.
    extra_compile_args=["-O3", "-ffp-contract=off", "-Wno-psabi"],
    define_macros=[("SOURCE_DIGEST", f'"{hashlib.sha256(SOURCE.read_bytes()).hexdigest()}"')],
    py_limited_api=True,
    optional=True,
)

setup(
    ext_modules=[] if os.environ.get("POMRL_NO_ENGINE") == "1" else [ENGINE],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},  # one wheel for all versions of Python from this one on
)
