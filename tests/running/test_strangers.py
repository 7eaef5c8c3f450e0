"""Components that are not ours may fail or end the process that computes them."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import strangers
from tests.support.settings import CONF

from pomrl import store
from pomrl.configuration.composed import METHOD_GROUPS, PROBLEM_GROUPS
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.configuration.sweeps import experiment as experiment_of
from pomrl.execution import ExecutionError
from pomrl.running.plan import plan
from pomrl.running.work import is_foreign, work
from pomrl.science.problem import components

pytestmark = pytest.mark.slow


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Sources:
    strangers.write(tmp_path, tmp_path / "conf")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    monkeypatch.setitem(sys.modules, "stranger", None)
    del sys.modules["stranger"]
    return Sources(CONF, tmp_path / "conf")


def asked(sources: Sources, deed: str) -> tuple[Experiment, list[Experiment]]:
    """Return an experiment that misbehaves in its second block, and two beside it."""
    small = ["T=2", "S=4", "runs=220", "execution.workers=2"]
    guilty = experiment_of(sources, ["estimator=stranger", f"estimator.deed={deed}", *small])
    return guilty, [experiment_of(sources, [f"estimator={name}", *small]) for name in ("stranger", "ada_pomrl")]


@pytest.mark.parametrize(("deed", "reason"), [("exit", "SystemExit: 0"), ("markup", "ValueError: [/red]")])
def test_an_exception_is_kept_with_its_traceback_and_loses_only_its_method(
    deed: str, reason: str, sources: Sources
) -> None:
    guilty, others = asked(sources, deed)
    said: list[tuple[int, int]] = []
    ((signature, failure),) = work(plan([guilty, *others]), lambda *progress: said.append(progress)).items()
    assert signature == store.lookup(guilty).signature
    assert failure.reason.startswith(reason)
    assert "stranger.py" in failure.traceback
    assert [store.lookup(each).complete() for each in (guilty, *others)] == [200, 220, 220]
    assert said[-1] == (660, 1)


def test_a_process_that_dies_ends_the_sweep_and_what_is_stored_stays(sources: Sources) -> None:
    guilty, others = asked(sources, "SIGKILL")
    assert work(plan(others), lambda *_: None) == {}
    with pytest.raises(ExecutionError, match="memory"):
        work(plan([guilty, *others]), lambda *_: None)
    assert [store.lookup(each).complete() for each in others] == [220, 220]


@pytest.mark.parametrize("group", [*PROBLEM_GROUPS, *METHOD_GROUPS])
def test_a_component_of_any_group_may_be_foreign(group: str) -> None:
    experiment = experiment_of(PUBLISHED, [])
    part = components(experiment.problem, experiment.method)[group]
    mine = type("Mine", (type(part),), {"__module__": "mine"})(**vars(part))
    problem = replace(experiment.problem, **{group: mine} if group in PROBLEM_GROUPS else {})
    method = replace(experiment.method, **{group: mine} if group in METHOD_GROUPS else {})
    assert not is_foreign(experiment.problem, experiment.method)
    assert is_foreign(problem, method)
