"""What pyproject.toml cannot say about the package: its extension modules, and the files that it takes from elsewhere.

The extension modules are left out where there is no compiler or where POMRL_NO_ENGINE=1 says that they are not wanted.
The configuration stands beside `src/`, where people look for it; a wheel has a copy of it in the package.
"""

import hashlib
import os
import shutil
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

HEADER = Path("src/pomrl/science/_buffers.h")


def extension(name: str) -> Extension:
    """Return an extension module with one source, which knows the digest of that and of the header."""
    source = Path("src", *name.split(".")).with_suffix(".c")
    digest = hashlib.sha256(HEADER.read_bytes() + source.read_bytes()).hexdigest()
    return Extension(
        name,
        [source.as_posix()],
        depends=[HEADER.as_posix()],
        # Without contraction of multiplication and addition the bits are those of NumPy.
        extra_compile_args=["-O3", "-ffp-contract=off", "-Wno-psabi"],
        define_macros=[("SOURCE_DIGEST", f'"{digest}"')],
        py_limited_api=True,
        optional=True,
    )


EXTENSIONS = (
    "pomrl.science.solvers._compiled",
    "pomrl.science.solvers._sparse",
    "pomrl.science.sampling._sampling",
    "pomrl.science._learning",
)

BESIDE = ("conf", "docs", "site")
"""What `pomrl.configuration.sources.beside_the_package` finds in the package once that is installed; the site only
where `python -m mkdocs build --strict` has built it before."""


CODE = shutil.ignore_patterns("build")
"""The program that makes documents, `docs/build`, which is no document."""


class BuildWithCopies(build_py):
    """Copies into the package what stands beside it, unless the installation is editable and finds it there."""

    def run(self) -> None:
        """Build the package, and copy."""
        super().run()
        for name in () if self.editable_mode else filter(os.path.isdir, BESIDE):
            shutil.copytree(name, Path(self.build_lib, "pomrl", name), ignore=CODE, dirs_exist_ok=True)


setup(
    cmdclass={"build_py": BuildWithCopies},
    ext_modules=[] if os.environ.get("POMRL_NO_ENGINE") == "1" else list(map(extension, EXTENSIONS)),
    options={"bdist_wheel": {"py_limited_api": "cp311"}},  # one wheel for all versions of Python from this one on
)
