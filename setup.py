"""What pyproject.toml cannot say about the package: its compiled engine, and the files that it takes from elsewhere.

The engine is left out where there is no compiler or where POMRL_NO_ENGINE=1 says that it is not wanted. The
configuration stands beside `src/`, where people look for it; a wheel has a copy of it in the package.
"""

import hashlib
import os
import shutil
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

SOURCE = Path("src/pomrl/science/solvers/_compiled.c")

ENGINE = Extension(
    "pomrl.science.solvers._compiled",
    [SOURCE.as_posix()],
    # Without contraction of multiplication and addition the bits are those of NumPy.
    extra_compile_args=["-O3", "-ffp-contract=off", "-Wno-psabi"],
    define_macros=[("SOURCE_DIGEST", f'"{hashlib.sha256(SOURCE.read_bytes()).hexdigest()}"')],
    py_limited_api=True,
    optional=True,
)

BESIDE = ("conf", "docs", "site")
"""What `pomrl.configuration.sources.beside_the_package` finds in the package once that is installed; the site only
where `python -m mkdocs build --strict` has built it before."""


class BuildWithCopies(build_py):
    """Copies into the package what stands beside it, unless the installation is editable and finds it there."""

    def run(self) -> None:
        """Build the package, and copy."""
        super().run()
        for name in () if self.editable_mode else filter(os.path.isdir, BESIDE):
            shutil.copytree(name, Path(self.build_lib, "pomrl", name), dirs_exist_ok=True)


setup(
    cmdclass={"build_py": BuildWithCopies},
    ext_modules=[] if os.environ.get("POMRL_NO_ENGINE") == "1" else [ENGINE],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},  # one wheel for all versions of Python from this one on
)
