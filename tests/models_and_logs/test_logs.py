"""Logs of one's own: counts and names, the learned model of a new task, and the report on horizons."""

import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pomrl
from pomrl.commands import horizon
from pomrl.drawing.horizon_report import draw as drawn_report
from pomrl.models_and_logs import horizon_reports
from pomrl.models_and_logs.horizon_reports import HorizonReport
from pomrl.models_and_logs.logs import COLUMNS, Log, Posterior
from pomrl.science.data import Batch
from pomrl.science.estimators.empirical_bayes import EmpiricalBayes
from pomrl.science.estimators.estimator import Truth

UNCHECKED = inspect.unwrap(pomrl.horizon_report)
"""The report without run-time checks of types, as users have it."""

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


def test_the_default_discount_factors_end_at_gamma_eval(log: Log):
    assert pomrl.horizon_report(log, 0.12, samples=2).table["gamma"].tolist() == [0.0, 0.05, 0.1, 0.12]


def test_the_report_on_identical_tasks_is_that_on_one_with_a_narrower_interval():
    one = chain_log(tasks=1, m=10)
    several = pd.concat([one.assign(task=k) for k in range(9)])
    wanted, found = (
        pomrl.horizon_report(pomrl.from_log(rows), 0.9, [0.0], prior="uniform", samples=1000).table
        for rows in (one, several)
    )
    np.testing.assert_allclose(found["loss"], wanted["loss"], rtol=0.05)
    width = (found["upper"] - found["lower"]) / (wanted["upper"] - wanted["lower"])
    np.testing.assert_allclose(width, 1 / 3, rtol=0.25)  # nearly: no loss is below 0


def test_cross_validation_plans_on_one_half_and_judges_on_the_other():
    # Action a wins 1 in one half and never in the other, and action b pays 0.4 in both. Both lead to an end.
    rows = [("x", "s", "a", 1.0, "won")] * 2 + [("x", "s", "a", 0.0, "lost")] * 2 + [("x", "s", "b", 0.4, "lost")] * 2
    log = pomrl.from_log(pd.DataFrame(rows, columns=COLUMNS))
    s, won, lost = (log.states.index(name) for name in ("s", "won", "lost"))
    half = np.zeros((3, 2, 3), int)
    half[s, 0, won], half[s, 1, lost] = 2, 1

    class Halves(np.random.Generator):
        def binomial(self, *_: object) -> np.ndarray:  # type: ignore[override]
            return half

    found = horizon_reports._validated(log, log.counts[0], np.array([0.0, 0.9]), Halves(np.random.PCG64(0)))
    np.testing.assert_allclose(found, 0.4 / 3)  # lost in one of three states


def test_intervals_of_the_report_are_quantiles_of_draws_and_errors_over_tasks():
    draws = np.stack([np.arange(41.0)[::-1, None], 2 * np.arange(41.0)[:, None]])
    (row,) = horizon_reports._table(np.array([0.9]), draws, np.array([[1.0], [3.0]])).to_dict("records")
    assert (row["loss"], row["lower"], row["upper"]) == pytest.approx((20.0, 1.0, 39.0))
    assert (row["lower_of_frequencies"], row["upper_of_frequencies"]) == pytest.approx((2.0, 78.0))
    assert (row["cross_validation"], row["standard_error"]) == pytest.approx((2.0, 1.0))


def test_the_deviation_of_a_posterior_is_that_of_dirichlet_distributions():
    posterior = Posterior(np.array([[[1.0, 3.0]], [[2.0, 4.0]]]), ("s", "t"), ("a",))
    variance = np.array([1 * 3 / (4**2 * 5), 2 * 4 / (6**2 * 7)])
    np.testing.assert_allclose(posterior.deviation[:, 0, 0], np.sqrt(variance))


@pytest.mark.parametrize("given", [{}, None, [("x", 0, 0, 1.0, 0)]])
def test_what_is_no_log_is_said_by_its_type(given: object):
    with pytest.raises(TypeError, match=f"not a {type(given).__name__}"):
        inspect.unwrap(pomrl.from_log)(given)
    with pytest.raises(TypeError, match=f"a log as pomrl.from_log returns it, and not a {type(given).__name__}"):
        UNCHECKED(given)


def test_the_loss_is_that_of_the_posterior_where_the_model_is_certain():
    log = pomrl.from_log(chain_log(tasks=8, m=400))
    table = pomrl.horizon_report(log, 0.9, [0.0], samples=20).table
    assert table["loss"].iloc[-1] < 0.1 * table["loss"].iloc[0]
    assert table["cross_validation"].iloc[-1] < 0.1 * table["cross_validation"].iloc[0]


def test_few_tasks_are_warned_of():
    report = pomrl.horizon_report(pomrl.from_log(chain_log(tasks=2)), samples=20)
    assert "Do not trust the prior: it comes from 2 tasks, fewer than 5." in report.words


TIES = {"exactly tied": [0.3, 0.2, 0.2, 0.2], "tied but for rounding": [0.3, np.nextafter(0.2, 0.0), 0.2, 0.2]}


@pytest.mark.parametrize("losses", TIES.values(), ids=TIES)
def test_of_tied_discount_factors_a_report_always_takes_the_largest(losses: list[float], log: Log):
    columns = dict.fromkeys(("loss", "loss_of_frequencies", "lower_of_frequencies", "upper_of_frequencies"), losses)
    bands = {"lower": losses, "upper": losses, "standard_error": [0.1] * 4, "cross_validation": [0.3, 0.3, 0.2, 0.2]}
    table = pd.DataFrame({"gamma": [0.0, 0.5, 0.9, 0.99], **columns, **bands})
    report = HorizonReport(table, 0.99, "The prior is named.", horizon_reports._warnings(log, table))
    assert report.best == dict.fromkeys(("posterior mean", "frequencies", "cross-validation"), 0.99)
    assert not any("disagree" in warning for warning in report.warnings)
    drawn = drawn_report(report).data
    assert drawn.loc[drawn["marker"], "x"].tolist() == [0.99, 0.99]


def test_the_command_prints_the_report_and_draws_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    chain_log().rename(columns={"task": "patient"}).to_parquet(tmp_path / "visits.parquet")
    monkeypatch.setattr("sys.argv", ["pomrl horizon", str(tmp_path / "visits.parquet"), "--task", "patient"])
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
    "a prior of another name": (
        lambda path: UNCHECKED(pomrl.from_log(chain_log()), prior="Uniform"),
        "prior='Uniform': it has to be one of learned, uniform",
    ),
    "a gamma_eval of one": (
        lambda path: pomrl.horizon_report(pomrl.from_log(chain_log()), 1.0),
        r"gamma_eval=1\.0 is not in \[0, 1\)",
    ),
    "discount factors that are none": (
        lambda path: UNCHECKED(pomrl.from_log(chain_log()), 0.9, "ab"),
        "gammas has the dtype <U2",
    ),
    "a discount factor in the order of the user": (
        lambda path: pomrl.horizon_report(pomrl.from_log(chain_log()), 0.9, [0.5, -1.0]),
        r"gamma\[1\] = -1\.0",
    ),
    "a level in percent": (
        lambda path: pomrl.from_log(chain_log()).new_task().table(level=95.0),
        "level=95.0 is no probability between 0 and 1",
    ),
    "a negative count": (
        lambda path: pomrl.from_log(chain_log()).new_task(np.full((4, 2, 4), -1)),
        r"counts\[0, 0, 0\] = -1 is no number",
    ),
    "a count that is NaN": (
        lambda path: inspect.unwrap(Log.new_task)(pomrl.from_log(chain_log()), np.full((4, 2, 4), np.nan)),
        r"counts\[0, 0, 0\] = nan is no number",
    ),
    "a model without end": (
        lambda path: pomrl.from_log(chain_log()).model(pomrl.from_log(chain_log()).new_task(), gamma=1.0),
        r"gamma=1\.0 is not in \[0, 1\)",
    ),
    "complex rewards": (
        lambda path: pomrl.from_log(chain_log().assign(reward=1 + 2j)),
        "row 0: the value of 'reward' is a complex number",
    ),
    "a column for two roles": (
        lambda path: pomrl.from_log(chain_log(), next_state="state"),
        "the column 'state' is given twice, for state and for next_state",
    ),
    "a column twice": (
        lambda path: pomrl.from_log(pd.concat([chain_log(), chain_log()[["state"]]], axis=1)),
        "there are 2 columns 'state'",
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
