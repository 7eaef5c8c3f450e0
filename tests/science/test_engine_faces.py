"""What the engines are given: it is converted where that is exact and refused otherwise, for both engines alike."""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.engine_fuzzer import odd_address
from tests.support.settings import ROOT

from pomrl.science.mdp import planning_loss
from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers import compiled, input_checks

built = pytest.mark.skipif(not compiled.is_built(), reason="the engine was not built, as POMRL_NO_ENGINE=1 allows")


def models(S: int = 4, A: int = 3, M: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Models whose numbers are exact in single precision: frequencies of four samples, and rewards 0 and 1."""
    rng = np.random.default_rng(0)
    return rng.multinomial(4, np.full(S, 1 / S), (M, S, A)) / 4, rng.integers(0, 2, (M, S, A)).astype(float)


@pytest.mark.parametrize(
    ("R", "message"),
    [
        (np.array([1j]), "R must have a dtype with a safe cast to float64, got complex128"),
        (np.array([1.0], object), "R must have a dtype with a safe cast to float64, got object"),
        (np.array(["1.0"]), "safe cast to float64, got <U3"),
        (np.zeros(1, "M8[s]"), r"safe cast to float64, got datetime64\[s\]"),
        ([[1.0], [2.0, 3.0]], "inhomogeneous"),
    ],
)
def test_numbers_outside_doubles_are_refused(R: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        input_checks.float64(R, "R")


def test_only_unsuitable_arrays_are_copied() -> None:
    right = np.arange(6.0).reshape(2, 3)
    assert input_checks.float64(right, "R") is right
    for other in (right[::-1], np.asfortranarray(right), right.astype(">f8"), right.tolist(), odd_address(right)):
        actual = input_checks.float64(other, "R")
        assert actual.dtype == np.float64
        assert actual.dtype.isnative
        assert actual.flags.c_contiguous
        assert actual.flags.aligned
        np.testing.assert_array_equal(actual, other)


@pytest.mark.parametrize("S", [4, 60])
@pytest.mark.parametrize("action", [-1, 3, 2**16])
def test_unknown_actions_are_refused_by_index(S: int, action: int) -> None:
    P, R = models(S, M=2)
    policy = np.zeros((2, 1, S), int)
    policy[1, 0, 2] = action
    with pytest.raises(ValueError, match=rf"^policy\[1, 0, 2\] = {action} is not one of the 3 actions"):
        planning_loss(P, R, policy, 0.5)
    with pytest.raises(ValueError, match="policy must be an array of integers, got the dtype float64"):
        planning_loss(P, R, policy.astype(float), 0.5)


def test_the_number_of_actions_has_a_limit() -> None:
    for A in (0, 32_768):
        with pytest.raises(ValueError, match=f"^A must be between 1 and 32767, got {A}$"):
            PolicyIteration().plan(np.ones((1, 1, A, 1)), np.zeros((1, 1, A)), np.array([0.5]))
    R = np.arange(32_767.0)[None, None]
    assert PolicyIteration().plan(np.ones((1, 1, 32_767, 1)), R, np.array([0.5])).item() == 32_766


@pytest.mark.slow
@built
@pytest.mark.skipif(sys.platform != "linux", reason="the address sanitizer is preloaded as on Linux alone")
@pytest.mark.skipif(not shutil.which("gcc"), reason="there is no gcc, whose sanitizers watch the engine")
def test_engines_agree_whatever_the_arguments_under_sanitizers(tmp_path: Path) -> None:
    """The engine is built anew with sanitizers, which end the process at the first access that is out of bounds."""
    actual = (
        subprocess.check_output(["gcc", f"-print-file-name=lib{name}.so"], text=True) for name in ("asan", "ubsan")
    )
    libraries = [library.strip() for library in actual]
    if not all(Path(library).is_absolute() for library in libraries):
        pytest.skip("gcc has no sanitizers here")
    sanitize(tmp_path)
    environment = os.environ | {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
    }
    command = [sys.executable, "-m", "tests.support.engine_fuzzer", "60"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "runtime error" not in done.stderr
    assert "AddressSanitizer" not in done.stderr
    assert "60 cases" in done.stdout
    assert f"engine: {tmp_path}" in done.stdout


def sanitize(folder: Path) -> None:
    """Build a copy of the extension modules with sanitizers in a folder, with fewer optimisations than usual."""
    shutil.copytree(ROOT / "src" / "pomrl", folder / "pomrl", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    science = folder / "pomrl" / "science"
    flags = "-O1 -ffp-contract=off -Wno-psabi -shared -fPIC -fno-omit-frame-pointer"
    sanitizers = "-fsanitize=address,undefined -fno-sanitize-recover=all"
    for source in science.rglob("*.c"):
        digest = hashlib.sha256((science / "_buffers.h").read_bytes() + source.read_bytes()).hexdigest()
        python_flags = [f"-I{sysconfig.get_paths()['include']}", f'-DSOURCE_DIGEST="{digest}"']
        command = [
            "gcc",
            *flags.split(),
            *sanitizers.split(),
            *python_flags,
            source,
            "-o",
            source.with_suffix(".abi3.so"),
        ]
        subprocess.run(command, check=True, capture_output=True)
