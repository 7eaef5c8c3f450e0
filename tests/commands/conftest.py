"""Logs as they were, for tests that configure them in this process."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture
def quiet_root() -> Iterator[None]:
    """Restore the levels and handlers of loggers."""
    root, level, handlers = logging.getLogger(), logging.getLogger().level, [*logging.getLogger().handlers]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers
    logging.disable(logging.NOTSET)
