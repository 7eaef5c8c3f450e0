"""Arrays of all types, layouts and sizes, as `tests.support.engine_fuzzer` draws them, given to both engines."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from tests.faults.outcomes import End, FaultError, Result, result
from tests.support import engine_fuzzer

from pomrl.science.solvers import compiled


def results(seed: int, number: int) -> Iterator[Result]:
    """Give so many cases to both engines, if the compiled one is built, and wrong buffers to the latter."""
    if not compiled.is_built():
        return
    for index in range(number):
        yield result("types of arrays", f"case {index} of seed {seed}", partial(_agreeing, seed, index))
    yield result("wrong buffers", "all", lambda: ("refused", engine_fuzzer.assert_wrong_buffers_are_refused()))


def _agreeing(seed: int, index: int) -> tuple[End, int]:
    try:
        ends = engine_fuzzer.assert_engines_agree(np.random.default_rng((seed, index)))
    except AssertionError as error:
        raise FaultError("silently wrong", str(error)) from error
    return "refused" if set(ends) == {"error"} else "unaffected", 1
