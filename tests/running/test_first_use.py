"""A user-defined component shows that it is reproducible before anything of it is stored."""

from importlib import import_module
from pathlib import Path

import pytest
from tests.support.computed import call
from tests.support.study_folders import forget

from pomrl import store
from pomrl.commands import run, runs
from pomrl.store import StoredExperiment

pytestmark = pytest.mark.usefixtures("cwd")

MODULE = """
import itertools
import os
import numpy as np
from pomrl.components import ModelEstimator

COUNTER = itertools.count(1)
MEMORY = {}

WEIGHTS = {
    "field": lambda P: np.full((len(P), 1, 1, 1), 0.5),
    "global state": lambda P: np.random.random((len(P), 1, 1, 1)),
    "constant seed": lambda P: np.random.default_rng(0).random((len(P), 1, 1, 1)),
    "counter": lambda P: 1.0 / next(COUNTER),
    "average": lambda P: P[:, :, :, 0].mean(),
    "order of a set": lambda P: 1.0 / (1 + [*set(map(str, range(1000)))].index("0")),
    "memory of draws": lambda P: MEMORY.setdefault("draw", np.random.random()),
    "process": lambda P: 1.0 / os.getpid(),
    "printed": lambda P: print("a line") or 0.5,
}


class Mine(ModelEstimator):
    weight: str = "field"

    def estimate(self, memory, batch, truth):
        weight = WEIGHTS[self.weight](batch.P_bar)
        return weight * batch.P_bar + (1 - weight) * memory.P_o_hat
"""

SMALL = ("T=2", "S=4", "execution.workers=1")


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    forget("first_used")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    Path("first_used.py").write_text(MODULE)
    Path("conf/estimator").mkdir(parents=True)
    Path("conf/estimator/mine.yaml").write_text("_target_: first_used.Mine\nweight: field\n")
    return "--config-dir", "conf", "estimator=mine"


def tables() -> list[StoredExperiment]:
    return [stored for stored in store.all_experiments() if stored.blocks()]


@pytest.mark.parametrize(
    ("weight", "remedy"),
    [
        ("global state", "keep no state between calls, and draw only from the given generators"),
        ("counter", "keep no state between calls, and draw only from the given generators"),
        ("constant seed", "compute each run (first axis) only from its own numbers"),
        ("average", "compute each run (first axis) only from its own numbers"),
        ("order of a set", "use no order of a set, hash of text, time, or number of a process"),
        ("memory of draws", "use no order of a set, hash of text, time, or number of a process"),
        ("process", "use no order of a set, hash of text, time, or number of a process"),
    ],
)
@pytest.mark.parametrize("n_runs", [3, 203])
def test_irreproducible_components_are_refused_with_remedy(
    n_runs: int, weight: str, remedy: str, mine: tuple[str, ...]
) -> None:
    status, _, err = call(run, *mine, f"estimator.weight='{weight}'", f"runs={n_runs}", *SMALL)
    (line,) = [line for line in err.splitlines() if line.startswith("failed: ")]
    assert status == 1
    assert "first_used.Mine" in line
    assert remedy in line
    assert not tables()


@pytest.mark.parametrize("n_stored", [0, 200])
def test_an_outdated_class_is_refused(n_stored: int, mine: tuple[str, ...]) -> None:
    if n_stored:
        call(run, *mine, f"runs={n_stored}", *SMALL)
        forget("first_used")
    Path("first_used.py").write_text(MODULE.replace("0.5", "0.25"))
    import_module("first_used")
    Path("first_used.py").write_text(MODULE)  # edited, as beside a notebook
    status, _, err = call(run, *mine, f"runs={n_stored + 3}", *SMALL)
    assert (status, "restart Python after an edit" in err) == (1, True)
    assert sum(stored.contiguous() for stored in tables()) == n_stored


def test_a_reproducible_component_may_print(mine: tuple[str, ...]) -> None:
    assert call(run, *mine, "estimator.weight=printed", "runs=3", *SMALL)[0] == 0


def test_single_runs_are_compared_too(mine: tuple[str, ...]) -> None:
    average = (*mine, "estimator.weight=average", "T=2", "S=4")
    assert call(run, *average, "runs=1", "execution.workers=1")[0] == 0  # no other runs to depend on
    assert call(run, *average, "runs=2", "execution.workers=1")[0] == 1
    assert [stored.contiguous() for stored in tables()] == [1]


def test_a_refused_component_leaves_the_others(mine: tuple[str, ...]) -> None:
    arguments = ("estimator.weight=field,average", "runs=203", *SMALL)
    assert call(run, "-m", *mine, *arguments)[0] == 1
    assert [stored.contiguous() for stored in tables()] == [203]


def test_only_options_of_the_folder_are_recomputed(mine: tuple[str, ...]) -> None:
    call(run, *mine, "runs=3", *SMALL)
    assert "1 cannot be recomputed" in call(runs, "--recompute", "9")[1]
    assert call(runs, "--recompute", "9", "--config-dir", "conf")[0] == 0
    Path("conf/estimator/mine.yaml").write_text("_target_: first_used.Other\n")
    assert "1 cannot be recomputed" in call(runs, "--recompute", "9", "--config-dir", "conf")[1]
    assert call(runs, "--config-dir", "conf")[0] == 2
