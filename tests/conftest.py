from collections.abc import Iterator

import pytest
from joblib.externals.loky import get_reusable_executor


@pytest.fixture(scope="module", autouse=True)
def no_workers_are_left() -> Iterator[None]:
    """Processes that joblib keeps for the next use have the environment, and so the outputs, of their start."""
    yield
    get_reusable_executor().shutdown(wait=True)
