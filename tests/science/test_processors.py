"""Stored numbers and interval ends have the same bytes with other instructions of the processor."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import hashlib
import numpy as np
from verdicts.estimates import mean
from verdicts.minima import minimum_difference, ratio
from pomrl.science.gamma_schedules import Dong, TaskState
from pomrl.science.sampling import elementary
from pomrl.science.tasks.random_chains import UniformBall
from pomrl_studies.beyond.estimators.random_moves import _multiply

rng = np.random.default_rng(9)
a, b = rng.random((2, 3000, 21)) ** 2 / (0.01 + rng.random((2, 3000, 21)))  # without `log` of the C library
b += 0.1 * a
estimates = ratio(a[:, 0], b[:, 0]), minimum_difference(a, b), mean(a[:, 0] - b[:, 0])
balls = UniformBall(zeros=3)
tasks = balls.draw_tasks(rng, balls.draw_mean(0, 0, 10, 2, 1e-4), 20)
state = TaskState(3, 5, 10, 2, 0.999, rng.random(500), rng.random(500))
values = [
    [estimate.interval(error) for estimate in estimates for error in (0.05, 0.0004)],
    [estimate.p_values(0.0) for estimate in estimates],
    tasks,
    Dong().select(state),
    *(function(a + 1e-9) for function in (elementary.log, elementary.exp, elementary.log_gamma, elementary.expit)),
    elementary.softmax(a),
    _multiply(a[:2730].reshape(130, 21, 21), b[:2730].reshape(130, 21, 21)),
]
print([hashlib.sha256(np.asarray(value).tobytes()).hexdigest()[:12] for value in values])
"""

WITHOUT_AVX512 = "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
WITHOUT_AVX2 = f"X86_V3 AVX2 FMA3 {WITHOUT_AVX512}"


def output(**variables: str) -> str:
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", **variables}  # NumPy warns of features that it lacks
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(scope="module")
def with_all() -> str:
    return output()


@pytest.mark.parametrize(
    ("features", "kernels"), [(WITHOUT_AVX512, "Haswell"), (WITHOUT_AVX2, "Prescott")], ids=["AVX2", "SSE"]
)
def test_bytes_do_not_depend_on_the_instructions(with_all: str, features: str, kernels: str) -> None:
    glibc = "glibc.cpu.hwcaps=-AVX512F" + (",-AVX2,-FMA" if kernels == "Prescott" else "")
    assert with_all == output(NPY_DISABLE_CPU_FEATURES=features, OPENBLAS_CORETYPE=kernels, GLIBC_TUNABLES=glibc)
