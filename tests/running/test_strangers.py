"""Components that are not ours may fail or end the process that computes them."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.settings import CONF

from pomrl import store
from pomrl.configuration.composed import METHOD_GROUPS, PROBLEM_GROUPS
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.configuration.sweeps import experiment as experiment_of
from pomrl.execution import ExecutionError
from pomrl.running.plan import is_foreign, plan
from pomrl.running.work import work
from pomrl.science.problem import components

pytestmark = pytest.mark.slow


SOURCE = """
import os, signal
from pomrl.components import RegularisedLeastSquares


def raise_(error):
    raise error


DEEDS = {
    "nothing": lambda: None,
    "exit": lambda: exit(0),
    "markup": lambda: raise_(ValueError("[/red] [bold]x\\x1b[2J")),
    "SIGKILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
}


class Stranger(RegularisedLeastSquares):
    deed: str = "nothing"

    def learn(self, memory, batch):
        if len(batch.P_bar) == 20:  # runs 200 to 219
            DEEDS[self.deed]()
        return super().learn(memory, batch)
"""
"""Estimators of somebody else's that do what they must not."""


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Sources:
    (tmp_path / "stranger.py").write_text(SOURCE)
    (tmp_path / "conf" / "estimator").mkdir(parents=True)
    option = "defaults: [ada_pomrl, _self_]\n_target_: stranger.Stranger\ndeed: nothing\n"
    (tmp_path / "conf" / "estimator" / "stranger.yaml").write_text(option)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    monkeypatch.setitem(sys.modules, "stranger", None)
    del sys.modules["stranger"]
    return Sources(CONF, tmp_path / "conf")


def guilty_and_others(sources: Sources, deed: str) -> tuple[Experiment, list[Experiment]]:
    """Return an experiment that misbehaves in its second block, and two beside it."""
    small = ["T=2", "S=4", "runs=220", "execution.workers=2"]
    guilty = experiment_of(sources, ["estimator=stranger", f"estimator.deed={deed}", *small])
    return guilty, [experiment_of(sources, [f"estimator={name}", *small]) for name in ("stranger", "ada_pomrl")]


@pytest.mark.parametrize(("deed", "reason"), [("exit", "SystemExit: 0"), ("markup", "ValueError: [/red]")])
def test_exceptions_lose_only_their_method(deed: str, reason: str, sources: Sources) -> None:
    guilty, innocent = guilty_and_others(sources, deed)
    progress_updates: list[tuple[int, int]] = []
    ((signature, failure),) = work(
        plan([guilty, *innocent]), lambda *progress: progress_updates.append(progress)
    ).items()
    assert signature == store.lookup(guilty).signature
    assert failure.reason.startswith(reason)
    assert "stranger.py" in failure.traceback
    assert "stranger.py" in failure.where
    assert "pomrl/running" not in failure.where
    assert [store.lookup(experiment).complete() for experiment in (guilty, *innocent)] == [200, 220, 220]
    assert progress_updates[-1] == (660, 1)


def test_a_dying_process_keeps_stored_runs(sources: Sources) -> None:
    guilty, innocent = guilty_and_others(sources, "SIGKILL")
    assert work(plan(innocent), lambda *_: None) == {}
    with pytest.raises(ExecutionError, match="memory"):
        work(plan([guilty, *innocent]), lambda *_: None)
    assert [store.lookup(other).complete() for other in innocent] == [220, 220]


@pytest.mark.parametrize("group", [*PROBLEM_GROUPS, *METHOD_GROUPS])
def test_components_of_any_group_may_be_foreign(group: str) -> None:
    experiment = experiment_of(PUBLISHED, [])
    component = components(experiment.problem, experiment.method)[group]
    mine = type("Mine", (type(component),), {"__module__": "mine"})(**vars(component))
    problem = replace(experiment.problem, **{group: mine} if group in PROBLEM_GROUPS else {})
    method = replace(experiment.method, **{group: mine} if group in METHOD_GROUPS else {})
    assert not is_foreign(experiment.problem, experiment.method)
    assert is_foreign(problem, method)
