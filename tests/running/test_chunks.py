"""Dear blocks are divided for all processes, and their files are those of blocks that one process computed."""

from pathlib import Path

import pytest
from tests.support.cluster import blocks
from tests.support.computed import compute

from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import experiment
from pomrl.running.plan import divide, plan

SETTING = ("T=2", "S=4", "runs=220", "estimator=ada_pomrl")


@pytest.mark.parametrize(
    ("workers", "seconds", "expected"),
    [
        (1, 9.0, [200, 20]),
        (2, 9.0, [200, 20]),
        (4, 9.0, [100, 100, 10, 10]),
        (4, 0.0, [200, 20]),
        (440, 9.0, [1] * 220),
        (440, 0.0175, [28, 29, 28, 29, 28, 29, 29, 20]),
    ],
)
def test_expensive_blocks_are_divided_by_process(
    workers: int, seconds: float, expected: list[int], empty_outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pomrl.running.plan.CHUNK_SECONDS", 0.5)
    monkeypatch.setattr("pomrl.running.plan.seconds_per_operation", lambda problems: seconds)
    monkeypatch.setattr("pomrl.running.plan.count_operations", lambda problem, methods: 1.0)
    chunks = divide(plan([experiment(PUBLISHED, [*SETTING, f"execution.workers={workers}"])]))
    assert [len(chunk.runs) for chunk in chunks] == expected
    assert [run for chunk in chunks for run in chunk.runs] == list(range(220))


@pytest.mark.slow
def test_files_do_not_depend_on_chunks(empty_outputs: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The second block is completed in two requests, of which each is divided."""
    actual = []
    for workers, requests in ((1, [420]), (3, [210, 420])):
        monkeypatch.setattr("pomrl.running.plan.CHUNK_SECONDS", 1e-9)
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / str(workers)))
        for runs in requests:
            overrides = [*SETTING, f"runs={runs}", f"execution.workers={workers}", "metric=value"]
            compute([experiment(PUBLISHED, overrides)])
        actual.append(blocks(tmp_path / str(workers)))
    assert actual[0] == actual[1]
    assert len(actual[0]) == 3
