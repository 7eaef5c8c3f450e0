"""Components that are not ours may end the process that computes them, and lose only their own blocks."""

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
from pomrl.running import blocks, sweeps
from pomrl.running.ensuring import checked_jobs
from pomrl.running.sweeps import Tally
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


@pytest.mark.parametrize(
    ("deed", "workers", "reason"),
    [
        ("os._exit", 1, "runs 50 to 69, tried twice: its process ended, EXIT(0)"),
        ("exit", 1, "SystemExit: 0"),
        ("BaseException", 2, "Odd: it is odd"),
        ("KeyboardInterrupt", 2, "KeyboardInterrupt: mine"),
        ("SIGSEGV", 1, "runs 50 to 69, tried twice: its process ended, SIGSEGV(-11)"),
        (
            "SIGKILL",
            2,
            "runs 50 to 69, tried twice: its process ended, SIGKILL(-9); perhaps there was not enough memory",
        ),
    ],
)
def test_a_block_that_ends_its_process_loses_only_itself(
    deed: str, workers: int, reason: str, sources: Sources
) -> None:
    small = ["T=2", "S=4", "runs=70", f"execution.workers={workers}"]
    guilty = experiment_of(sources, ["estimator=stranger", f"estimator.deed={deed}", *small])
    others = [experiment_of(sources, [f"estimator={name}", *small]) for name in ("stranger", "ada_pomrl")]
    tallies: list[Tally] = []
    failures = sweeps.compute(checked_jobs([guilty, *others]), tallies.append)
    ((signature, failure),) = failures.items()
    assert signature == store.lookup(guilty).signature
    assert failure.reason.startswith(reason)
    assert [store.lookup(each).complete() for each in (guilty, *others)] == [50, 70, 70]
    assert tallies[-1] == Tally(runs=210, done=1, failed=1, blocks=2)


def fickle(sources: Sources, deed: str, runs: int) -> Experiment:
    overrides = ["T=2", "S=4", f"runs={runs}", "execution.workers=1"]
    return experiment_of(sources, ["estimator=fickle", f"estimator.deed={deed}", *overrides])


@pytest.mark.parametrize("deed", ["global state", "Python's global state", "clock", "counter"])
def test_a_component_that_depends_on_more_than_its_arguments_is_found(deed: str, sources: Sources) -> None:
    asked = fickle(sources, f'"{deed}"', 120)
    ours = experiment_of(sources, ["estimator=ada_pomrl", "T=2", "S=4", "runs=120"])
    tallies: list[Tally] = []
    failures = sweeps.compute(checked_jobs([asked, ours]), tallies.append)
    ((signature, failure),) = failures.items()
    assert signature == store.lookup(asked).signature
    assert failure.reason.startswith("Fickle does not depend on its arguments alone")
    assert [store.lookup(each).complete() for each in (asked, ours)] == [0, 120]
    assert tallies[-1] == Tally(runs=240, failed=3, blocks=3)


def test_data_that_depend_on_more_than_their_arguments_are_found(sources: Sources) -> None:
    asked = experiment_of(sources, ["data=careless", "T=2", "S=4", "runs=3", "execution.workers=1"])
    ((_, failure),) = sweeps.compute(checked_jobs([asked]), lambda _: None).items()
    assert failure.reason.startswith("Careless does not depend on its arguments alone")


@pytest.mark.parametrize("group", [*PROBLEM_GROUPS, *METHOD_GROUPS])
def test_a_component_of_any_group_may_be_foreign(group: str) -> None:
    experiment = experiment_of(PUBLISHED, [])
    part = components(experiment.problem, experiment.method)[group]
    mine = type("Mine", (type(part),), {"__module__": "mine"})(**vars(part))
    problem = replace(experiment.problem, **{group: mine} if group in PROBLEM_GROUPS else {})
    method = replace(experiment.method, **{group: mine} if group in METHOD_GROUPS else {})
    assert not blocks.is_foreign(experiment.problem, experiment.method)
    assert blocks.is_foreign(problem, method)


def test_only_the_first_block_of_a_component_of_others_is_computed_twice(sources: Sources, tmp_path: Path) -> None:
    calls = []
    for runs in (70, 120):
        assert sweeps.compute(checked_jobs([fickle(sources, "nothing", runs)]), lambda _: None) == {}
        calls.append((tmp_path / "calls").stat().st_size)
    per_block = calls[0] // 3
    assert per_block > 0
    assert calls == [3 * per_block, 5 * per_block]
