"""Outputs that the command has computed, for tests of what is made of them."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from pomrl.commands import run


@contextmanager
def two_runs_of(sweeps: Sequence[str], folder: Path) -> Iterator[None]:
    """Compute two runs of published sweeps into a folder of outputs, which is in use while the context lasts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(folder))
        patch.setenv("HYDRA_FULL_ERROR", "0")
        for name in sweeps:
            patch.setattr(sys, "argv", ["run", f"experiment={name}", "runs=2"])
            with pytest.raises(SystemExit) as end:
                run.main()
            assert end.value.code == 0
        yield
