"""Logs of one's own: counts and names, the learned model of a new task, and what is wrong with a log."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pomrl_logs
from pomrl.planning import END
from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Truth
from pomrl_logs.log_tables import COLUMNS
from pomrl_logs.logs import MAX_PRIOR_TASKS, Log, prior_tasks
from pomrl_studies.beyond.estimators.empirical_bayes import EmpiricalBayes

NAMES = ("left", ("a", 1), 3.5)
"""States of several kinds, which have no order."""


def chain_log(tasks: int = 6, m: int = 4, seed: int = 0) -> pd.DataFrame:
    """Transitions of tasks with related models of 4 states and 2 actions."""
    rng = np.random.default_rng(seed)
    P_o, R = rng.dirichlet(np.full(4, 0.5), (4, 2)), rng.random((4, 2))
    P = np.stack([[[rng.dirichlet(8 * row + 0.01) for row in rows] for rows in P_o] for _ in range(tasks)])
    rows = [
        (f"task {k}", f"s{s}", "ab"[a], R[s, a], f"s{rng.choice(4, p=P[k, s, a])}")
        for k in range(tasks)
        for s in range(4)
        for a in range(2)
        for _ in range(m)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def make_log(counts: np.ndarray, R: np.ndarray) -> Log:
    """A log with so many transitions of each kind, which pay R(s, a, s'); each is an episode of its own."""
    cell = np.repeat(np.arange(counts.size), counts.ravel())
    tasks, states, actions = (tuple(range(size)) for size in counts.shape[:3])
    reward = np.broadcast_to(R, counts.shape).ravel()[cell].astype(float)
    return Log(cell, reward, np.arange(len(cell)), tasks, states, actions)


@pytest.fixture(scope="module")
def log() -> Log:
    return pomrl_logs.from_log(chain_log())


def test_transitions_are_counted_under_their_names():
    rows = [
        ("x", NAMES[0], "go", 1.0, NAMES[1]),
        ("x", NAMES[0], "go", 3.0, NAMES[1]),
        ("x", NAMES[1], "go", 0.5, NAMES[2]),
        ("y", NAMES[0], "wait", 2.0, NAMES[0]),
    ]
    frame = pd.DataFrame(rows, columns=["id", "from", "what", "paid", "to"])
    log = pomrl_logs.from_log(frame, task="id", state="from", action="what", reward="paid", next_state="to", ends=[3.5])
    assert (log.tasks, log.states, log.actions) == (("x", "y"), NAMES, ("go", "wait"))
    assert log.counts.sum() == 4
    assert (log.counts[0, 0, 0, 1], log.counts[0, 1, 0, 2], log.counts[1, 0, 1, 0]) == (2, 1, 1)
    assert log.sums(log.reward)[0, 0, 0, 1] == 4.0
    assert log.remarks[0] == "episodes end in state 3.5, without later rewards"
    assert log.remarks[1].startswith("no task tried 1 of the pairs of state and action")
    plan = log.model(log.new_task()).plan([0.9])
    assert plan.policies[0, 1] == 0  # the pair that no task has a transition from is not planned
    assert plan.values[0, 2] == 0.0


def test_the_new_task_matches_the_learner(log: Log):
    learner, memory = EmpiricalBayes(), EmpiricalBayes().initial_memory(1, 4, 2)
    for counts in log.counts:
        memory = learner.learn(memory, Batch.of_counts(counts[None], 4))
    truth = Truth(np.full((1, 4, 2, 4), 0.25), np.zeros((1, 4, 2, 4)))
    batch = Batch.of_counts(log.counts[:1], 4)
    h, rate, _ = learner.assess(7, batch, memory, memory, truth)
    assert callable(rate)
    assert not callable(h)
    np.testing.assert_allclose(log.new_task().mean[None], h)
    alpha = rate(batch.visits)[..., None]
    estimate = alpha * log.new_task().mean + (1.0 - alpha) * batch.P_bar
    np.testing.assert_allclose(log.new_task(log.counts[0]).mean[None], estimate)


def test_intervals_contain_draws_of_the_model(log: Log):
    posterior = log.new_task(log.counts[0])
    table = posterior.table(level=0.9)
    rng = np.random.default_rng(0)
    draws = np.array([[rng.dirichlet(row) for row in posterior.alpha.reshape(-1, 4)] for _ in range(1000)])
    draws = draws.reshape(1000, -1)
    inside = ((draws >= table["lower"].to_numpy()) & (draws <= table["upper"].to_numpy())).mean(0)
    certain = posterior.alpha.ravel() > 0.5  # elsewhere most draws are 0 up to rounding
    np.testing.assert_allclose(inside[certain], 0.9, atol=0.05)
    np.testing.assert_allclose(draws.mean(0), table["probability"], atol=0.03)
    assert table.iloc[5][["state", "action", "next_state"]].tolist() == ["s0", "b", "s1"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_give_the_log_of_the_frame(log: Log, suffix: str, tmp_path: Path):
    path = tmp_path / f"log.{suffix}"
    frame = chain_log().sample(frac=1.0, random_state=0).assign(note="ignored")
    frame.to_csv(path) if suffix == "csv" else frame.to_parquet(path)
    actual = pomrl_logs.from_log(path)
    assert (actual.counts == log.counts).all()
    assert actual.states == log.states
    np.testing.assert_allclose(actual.sums(actual.reward), log.sums(log.reward), rtol=1e-12)


ONE_ROW = {"state": 0, "action": 0, "reward": 1.0, "next_state": 0}


def test_terminated_episodes_lead_to_an_end():
    frame = pd.DataFrame({"task": 0, "state": [0, 1, 1], "action": [0, 1, 1], "reward": 1.0, "next_state": [1, 0, 0]})
    log = pomrl_logs.from_log(frame.assign(done=[0, 1, 0]), terminated="done")
    assert log.states == (0, 1, END)
    assert log.counts[0, 1, 1].tolist() == [1, 0, 1]


def test_folds_keep_episodes_together():
    frame = pd.DataFrame(ONE_ROW, range(120)).assign(
        task=np.repeat(["x", "y"], 60), run=np.arange(120) % 60 // 6, step=range(120)
    )
    log = pomrl_logs.from_log(frame.sample(frac=1.0, random_state=0), episode="run")
    fold = log.split(5, np.random.default_rng(0))
    frame_of_folds = pd.DataFrame({"task": log.indices[0], "episode": log.episode, "part": fold})
    assert (frame_of_folds.groupby("episode")["part"].nunique() == 1).all()
    assert (frame_of_folds.groupby(["task", "part"])["episode"].nunique() == 2).all()
    separate = pomrl_logs.from_log(frame)
    assert len(np.unique(separate.episode)) == 120


def test_of_many_tasks_some_make_the_prior():
    tasks = 3 * MAX_PRIOR_TASKS // 2
    (remark,) = pomrl_logs.from_log(pd.DataFrame({"task": range(tasks)} | ONE_ROW)).remarks
    assert [*map(int, re.findall(r"\d+", remark))] == [MAX_PRIOR_TASKS, tasks]
    positions = prior_tasks(tasks)
    assert (len(positions), positions[0], positions[-1]) == (MAX_PRIOR_TASKS, 0, tasks - 1)
    assert {*np.diff(positions)} == {1, 2}
    assert pomrl_logs.from_log(pd.DataFrame({"task": range(MAX_PRIOR_TASKS)} | ONE_ROW)).remarks == []


def spoiled(column: str, value: object, row: int = 3) -> pd.DataFrame:
    frame = chain_log()
    values = pd.Series([value if i == row else old for i, old in enumerate(frame[column])], dtype=object)
    return frame.assign(**{column: values})


HUGE = Log(np.zeros(1, int), np.ones(1), np.zeros(1, int), (0,), tuple(range(100_000)), (0,))

BAD = {
    "a report beyond gamma_eval": (
        lambda _: pomrl_logs.horizon_report(pomrl_logs.from_log(chain_log()), 0.9, [0.95]),
        "gammas must be at most gamma_eval = 0.9, got 0.95",
    ),
    "a report without a discount": (
        lambda _: pomrl_logs.horizon_report(pomrl_logs.from_log(chain_log()), 1.0),
        r"gamma_eval must be in \[0, 1\), got 1\.0",
    ),
    "a report on a huge log": (
        lambda _: pomrl_logs.horizon_report(replace(HUGE, actions=tuple(range(10**6)))),
        "a report on 1 tasks, 100000 states",
    ),
    "a column that is not there": (
        lambda path: pomrl_logs.from_log(chain_log(), task="id"),
        "no column 'id'; available: ",
    ),
    "no transitions": (lambda path: pomrl_logs.from_log(chain_log()[:0]), "the log: the table has no rows"),
    "a reward that is NaN": (
        lambda path: pomrl_logs.from_log(spoiled("reward", np.nan)),
        "row 3: the value .* of 'reward'",
    ),
    "a next state that is NaN": (
        lambda path: pomrl_logs.from_log(spoiled("next_state", np.nan)),
        "row 3: .* 'next_state'",
    ),
    "a state that cannot be a name": (
        lambda path: pomrl_logs.from_log(spoiled("state", [1])),
        "'state' must be hashable",
    ),
    "a file that is not there": (lambda path: pomrl_logs.from_log(path / "log.csv"), r"log\.csv: no such file$"),
    "an end that is neither true nor false": (
        lambda path: pomrl_logs.from_log(chain_log().assign(done="never"), terminated="done"),
        "row 0: the value 'never' of 'done' must be true or false, yes or no, or 1 or 0",
    ),
    "a column for two roles": (
        lambda path: pomrl_logs.from_log(chain_log(), next_state="state"),
        "each column must have one role, got 'state' for two roles",
    ),
    "a huge log": (
        lambda path: HUGE.new_task(),
        r"1 tasks, 100000 states, for which model\(\) plans without a prior: transition probabilities must take",
    ),
    "known rewards of another shape": (
        lambda path: pomrl_logs.from_log(chain_log()).with_rewards(np.zeros((4, 3))),
        r"R must have shape \[4, 2\], \[4, 2, 4\] or \[6, 4, 2, 4\], got \[4, 3\]",
    ),
    "counts of another size": (
        lambda path: pomrl_logs.from_log(chain_log()).new_task(np.zeros((1, 2, 1), int)),
        r"counts must be finite numbers of transitions of shape \[4, 2, 4\], got shape \[1, 2, 1\]",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_logs_are_one_line(case: str, tmp_path: Path):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message) as raised:
        call(tmp_path)
    assert "\n" not in str(raised.value)


def test_a_log_is_shown_by_its_size(log: Log):
    assert repr(log) == "Log(transitions=192, tasks=6, states=4, actions=2)"
