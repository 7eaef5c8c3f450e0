import os
from collections.abc import Iterator

import pytest
from joblib.externals.loky import get_reusable_executor


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compositions are cached apart from the user's, in a folder that all processes of a session share."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
        yield


@pytest.fixture(scope="module", autouse=True)
def no_workers_are_left() -> Iterator[None]:
    """Processes that joblib keeps for the next use have the environment, and so the outputs, of their start."""
    yield
    get_reusable_executor().shutdown(wait=True)
