"""The algorithm that one reads is the one that runs: nothing is computed beside `science.algorithm.pomrl`."""

from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import pytest

from pomrl import store
from pomrl.commands.reproduce import study_sweeps
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.studies import find
from pomrl.running.plan import Chunk
from pomrl.running.work import Failure, Versions, simulate
from pomrl.science import algorithm
from pomrl.science.metrics.metric import Metric, MetricInput
from pomrl.small_experiments import SMALL_METHOD, small_problem


def published() -> list[Experiment]:
    """All experiments of the paper's sweeps, each once; those of the authors' notebook are among them."""
    study = find("pomrl2023")
    experiments = [setting.experiment for name in study_sweeps(study) for setting in study.settings(name)]
    return list({store.signature(experiment): experiment for experiment in experiments}.values())


def test_errors_in_the_algorithm_fail_every_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> NoReturn:
        raise RuntimeError("inside the algorithm")

    monkeypatch.setattr(algorithm, "estimate_task", stop)
    experiments = published()
    assert len(experiments) > 100
    for experiment in experiments:
        problem = replace(experiment.problem, T=1)
        chunk = Chunk(problem, {"method": experiment.method}, range(1), range(1))
        _, _, outcomes = simulate(chunk, Versions.current([]))
        failure = outcomes["method"]
        assert isinstance(failure, Failure)
        assert failure.reason == "RuntimeError: inside the algorithm"


class Stopping(Metric):
    """A metric that stops in the second batch of runs, as a bare `next` of an empty iterator does."""

    def measure(self, tasks: MetricInput) -> np.ndarray:
        if tasks.P.tobytes() == FIRST.setdefault("models", tasks.P.tobytes()):
            return np.zeros(tasks.gamma.shape)
        return next(iter(()))


FIRST: dict[str, bytes] = {}
"""The models of the runs that were measured first."""


def test_a_stopping_component_is_a_failure() -> None:
    chunk = Chunk(small_problem(), {"method": replace(SMALL_METHOD, metric=Stopping())}, range(4), range(4))
    _, _, outcomes = simulate(chunk, Versions.current([]), runs_at_a_time=2)
    assert isinstance(outcomes["method"], Failure)
    assert "StopIteration" in outcomes["method"].reason
