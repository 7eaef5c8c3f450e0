"""Logs of one's own: counts and names, the learned model of a new task, and the report on horizons."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pomrl
from pomrl.commands import horizon
from pomrl.data import Batch
from pomrl.estimators.empirical_bayes import EmpiricalBayes
from pomrl.estimators.estimator import Truth
from pomrl.own_models_and_logs.logs import COLUMNS, Log

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


@pytest.fixture(scope="module")
def log() -> Log:
    return pomrl.from_log(chain_log())


def test_transitions_are_counted_under_their_names():
    rows = [
        ("x", NAMES[0], "go", 1.0, NAMES[1]),
        ("x", NAMES[0], "go", 3.0, NAMES[1]),
        ("x", NAMES[1], "go", 0.5, NAMES[2]),
        ("y", NAMES[0], "wait", 2.0, NAMES[0]),
    ]
    frame = pd.DataFrame(rows, columns=["id", "from", "what", "paid", "to"])
    log = pomrl.from_log(frame, task="id", state="from", action="what", reward="paid", next_state="to")
    assert (log.tasks, log.states, log.actions) == (("x", "y"), NAMES, ("go", "wait"))
    assert log.counts.sum() == 4
    assert (log.counts[0, 0, 0, 1], log.counts[0, 1, 0, 2], log.counts[1, 0, 1, 0]) == (2, 1, 1)
    assert log.R[0, 0].tolist() == [2.0, 2.0, 2.0]  # the mean of the pair, where a transition was never seen
    assert log.remarks == [
        "state 3.5 is never left: it counts as an end that pays nothing",
        "1 pairs of a state and an action are in no task: they are never planned",
    ]
    plan = log.model(log.new_task()).plan([0.9])
    assert plan.policies[0, 1] == 0  # the pair that no task has a transition from is not planned
    assert plan.values[0, 2] == 0.0


def test_the_model_of_a_new_task_is_that_of_the_learner_of_the_library(log: Log):
    learner, memory = EmpiricalBayes(), EmpiricalBayes().initial_memory(1, 4, 2)
    for counts in log.counts:
        memory = learner.learn(memory, Batch.of_counts(counts[None], 4))
    truth = Truth(np.full((1, 4, 2, 4), 0.25), np.zeros((1, 4, 2, 4)))
    batch = Batch.of_counts(log.counts[:1], 4)
    np.testing.assert_allclose(log.new_task().mean[None], learner.prior_model(memory, batch, truth))
    alpha = learner.mixing_rate(7, batch.visits, np.zeros((1, 1, 1)), memory, truth)[..., None]
    estimate = alpha * log.new_task().mean + (1.0 - alpha) * batch.P_bar
    np.testing.assert_allclose(log.new_task(log.counts[0]).mean[None], estimate)
    assert log.new_task(log.counts[0]).deviation.mean() < log.new_task().deviation.mean()


def test_intervals_of_the_new_model_contain_what_is_drawn_from_it(log: Log):
    posterior = log.new_task(log.counts[0])
    table = posterior.table(level=0.9)
    draws = posterior.sample(np.random.default_rng(0), 2000).reshape(2000, -1)
    inside = ((draws >= table["lower"].to_numpy()) & (draws <= table["upper"].to_numpy())).mean(0)
    certain = posterior.alpha.ravel() > 0.5  # elsewhere most draws are 0 up to rounding
    np.testing.assert_allclose(inside[certain], 0.9, atol=0.04)
    np.testing.assert_allclose(draws.mean(0), table["probability"], atol=0.02)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_give_the_log_of_the_frame(log: Log, suffix: str, tmp_path: Path):
    path = tmp_path / f"log.{suffix}"
    frame = chain_log()
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    found = pomrl.from_log(path)
    assert (found.counts == log.counts).all()
    assert found.states == log.states


def test_the_report_always_has_gamma_eval_and_says_what_its_prior_is(log: Log):
    report = pomrl.horizon_report(log, 0.95, [0.0, 0.5, 0.9], samples=50)
    table = report.table
    assert table["gamma"].tolist() == [0.0, 0.5, 0.9, 0.95]
    assert (table["lower"] <= table["loss"]).all()
    assert (table["loss"] <= table["upper"]).all()
    assert table["loss"].iloc[0] > table["loss"].iloc[-1]  # rewards of states that follow do matter here
    assert "learned from 6 tasks" in report.prior
    again = pomrl.horizon_report(log, 0.95, [0.0, 0.5, 0.9], samples=50)
    pd.testing.assert_frame_equal(table, again.table)
    uniform = pomrl.horizon_report(log, 0.95, [0.5], samples=50, prior="uniform")
    assert uniform.prior.startswith("The prior is uniform")


def test_the_loss_is_that_of_the_posterior_where_the_model_is_certain():
    log = pomrl.from_log(chain_log(tasks=8, m=400))
    table = pomrl.horizon_report(log, 0.9, [0.0], samples=20).table
    assert table["loss"].iloc[-1] < 0.1 * table["loss"].iloc[0]
    assert table["cross_validation"].iloc[-1] < 0.1 * table["cross_validation"].iloc[0]


def test_few_tasks_are_warned_of():
    report = pomrl.horizon_report(pomrl.from_log(chain_log(tasks=2)), samples=20)
    assert "Do not trust the prior: it comes from 2 tasks, fewer than 5." in report.words


def test_the_command_prints_the_report_and_draws_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    chain_log().rename(columns={"task": "patient"}).to_parquet(tmp_path / "visits.parquet")
    monkeypatch.setattr("sys.argv", ["src.horizon", str(tmp_path / "visits.parquet"), "--task", "patient"])
    horizon.main()
    said = capsys.readouterr().out
    assert "The prior is learned from 6 tasks" in said
    drawn = pd.read_csv(tmp_path / "horizon" / "visits.csv")
    assert set(drawn["series"]) == {"Plans on the posterior mean", "Plans on frequencies", "Cross-validation"}
    assert (tmp_path / "horizon" / "visits.png").stat().st_size > 10_000


def spoiled(column: str, value: object, row: int = 3) -> pd.DataFrame:
    frame = chain_log()
    values = pd.Series([value if i == row else old for i, old in enumerate(frame[column])], dtype=object)
    return frame.assign(**{column: values})


BAD = {
    "a column that is not there": (lambda path: pomrl.from_log(chain_log(), task="id"), "no column 'id'; there are"),
    "no transitions": (lambda path: pomrl.from_log(chain_log()[:0]), "the log: there are no transitions"),
    "a reward that is NaN": (lambda path: pomrl.from_log(spoiled("reward", np.nan)), "row 3: the value of 'reward'"),
    "a reward that is a word": (lambda path: pomrl.from_log(spoiled("reward", "much")), "row 3: the value of 'reward'"),
    "a task that is missing": (lambda path: pomrl.from_log(spoiled("task", None)), "row 3: the value of 'task' is"),
    "a state that cannot be a name": (lambda path: pomrl.from_log(spoiled("state", [1])), "'state' cannot be names"),
    "a file of another kind": (lambda path: pomrl.from_log(path / "log.txt"), r"log\.txt: a log is a file that ends"),
    "a file that is not there": (lambda path: pomrl.from_log(path / "log.csv"), r"log\.csv: it cannot be read"),
    "a horizon beyond gamma_eval": (
        lambda path: pomrl.horizon_report(pomrl.from_log(chain_log()), 0.9, [0.95]),
        "gamma = 0.95 is above gamma_eval = 0.9",
    ),
    "counts of another size": (
        lambda path: pomrl.from_log(chain_log()).new_task(np.zeros((1, 2, 1), int)),
        r"counts have to be \[4, 2, 4\]",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_named_in_one_line(case: str, tmp_path: Path):
    call, said = BAD[case]
    with pytest.raises(ValueError, match=said) as raised:
        call(tmp_path)
    assert "\n" not in str(raised.value)
