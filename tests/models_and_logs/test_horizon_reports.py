"""The report on a log: the recommendation, the gain over what is done, the command and the page."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pomrl.models_and_logs.drawn_losses import behaviour_values, drawn_losses
from tests.models_and_logs.test_logs import chain_log

import pomrl
from pomrl.commands import main
from pomrl.drawing.horizon_report import draw
from pomrl.models_and_logs.logs import Log
from pomrl.models_and_logs.recommendations import interval, recommended
from pomrl.models_and_logs.structure import weigh
from pomrl.science.mdp import policy_value


@pytest.fixture(scope="module")
def log() -> Log:
    return pomrl.from_log(chain_log())


def test_the_recommendation_is_the_plan_with_the_smallest_expected_loss(log: Log):
    said = list[tuple[int, int]]()
    report = pomrl.horizon_report(
        log, 0.95, [0.0, 0.5, 0.9], samples=50, seed=3, advance=lambda done, of, _: said.append((done, of))
    )
    table, advice = report.table, report.recommendation
    assert table["gamma"].tolist() == [0.0, 0.5, 0.9, 0.95]
    losses = {"prior": table["loss"], "frequencies": table["loss_of_frequencies"]}
    row = table.index[table["gamma"] == advice.gamma][0]
    assert advice.loss == pytest.approx(losses[advice.plan_on][row])
    assert advice.loss <= 1.02 * min(each.min() for each in losses.values())
    assert advice.lower <= advice.loss <= advice.upper
    assert advice.policies.shape == (6, 4)
    assert report.words[0] == advice.words
    np.testing.assert_allclose(report.tasks["loss"].mean(), advice.loss)
    (named,) = report.actions.query("task == 'task 2' and state == 's1'")["action"]
    assert named == log.actions[advice.policies[2, 1]]
    assert said == [(number, 6) for number in range(6)]
    same = pomrl.horizon_report(log, 0.95, [0.0, 0.5, 0.9], samples=50, seed=3)
    pd.testing.assert_frame_equal(same.table, table)
    marked = draw(report).data
    assert marked.loc[marked["marker"], "x"].tolist() == [advice.gamma]
    assert set(marked["series"]) == {"Plans on the data of all tasks", "Plans on the data of each task"}


def test_nothing_is_lost_where_the_models_are_certain():
    table = pomrl.horizon_report(pomrl.from_log(chain_log(tasks=5, m=400)), 0.87, samples=10).table
    assert table["gamma"].tolist() == [*(round(0.05 * i, 2) for i in range(18)), 0.87]  # by default
    assert table["loss"].iloc[-1] < 0.1 * table["loss"].iloc[0]


DRAWS = np.linspace(0.9, 1.1, 41)
USUAL = 10.0 * DRAWS
GAMMAS = np.array([0.5, 0.9, 0.99])
PLANS = np.arange(2 * 3 * 4).reshape(1, 2, 3, 4)


def of_plans(best: np.ndarray, gamma: int = 1) -> np.ndarray:
    """Draws of losses in which plans on the prior at one discount factor have these, and all others lose 10."""
    losses = np.broadcast_to(USUAL, (2, 3, 41)).copy()
    losses[0, gamma] = best
    return losses


@pytest.mark.parametrize(
    ("best", "chosen", "words"),
    [
        (0.5 * USUAL, ("prior", 0.9, 4), "Plan with the discount factor 0.9 and a model of each task that draws on"),
        (0.99 * USUAL, ("frequencies", 0.99, 20), "No difference: plan with the discount factor 0.99 and a model"),
        (np.where(np.arange(41) % 2, 2.0, 12.0), ("prior", 0.9, 4), "Not enough data to say what is best; the best"),
    ],
    ids=["a saving that is certain", "one that is small", "one that may be none"],
)
def test_what_is_recommended_is_what_saves(best: np.ndarray, chosen: tuple[str, float, int], words: str):
    found = recommended(of_plans(best), GAMMAS, PLANS)
    assert (found.plan_on, found.gamma, found.policies[0, 0]) == chosen
    assert found.words.startswith(words)
    if words.startswith("Plan"):
        assert "is 5 (4.5 to 5.5), which is 5 (4.5 to 5.5) less than that of the usual plan" in found.words


@pytest.mark.parametrize("rounding", [0.0, 1e-15])
def test_of_tied_discount_factors_the_largest_is_recommended(rounding: float):
    losses = of_plans(0.5 * USUAL)
    losses[0, 2] = losses[0, 1] + rounding
    assert recommended(losses, GAMMAS, PLANS).gamma == 0.99


def test_the_gain_over_the_log_is_that_over_the_policy_that_made_it():
    frame = chain_log(m=200)
    usual = (frame["action"] == "a") == (frame["task"] == "task 0")  # other tasks choose the other action
    log = pomrl.from_log(frame[usual | (np.arange(len(frame)) % 10 == 0)])
    rng = np.random.default_rng(0)
    P, R = rng.dirichlet(np.ones(4), (1, 4, 2)), rng.random((1, 4, 2))
    found = behaviour_values(log, 0, np.repeat(P, 400, 0), np.repeat(R, 400, 0), 0.9, rng).mean(0)
    share = log.counts[0].sum(-1) / log.counts[0].sum((1, 2), keepdims=True)[..., 0]
    mixed = (P * share[None, ..., None]).sum(2, keepdims=True), (R * share).sum(-1, keepdims=True)
    np.testing.assert_allclose(found, policy_value(*mixed, np.zeros((1, 4), int), 0.9)[0], rtol=0.01)


def test_the_gain_is_that_of_the_best_policy_less_what_the_plan_loses(log: Log):
    report, rng = pomrl.horizon_report(log, 0.9, [0.0], samples=20, seed=4), np.random.default_rng(4)
    rows, _ = weigh(log.counts, None, rng)
    draws = rng, log.rewards.draw(rng, 20), 20
    drawn = [drawn_losses(log, rows, task, report.plans[task], 0.9, draws) for task in range(6)]
    possible = np.mean([best - behaved for _, best, behaved in drawn], axis=0)
    np.testing.assert_allclose(report.improvement.draws, possible - report.recommendation.draws)
    assert report.recommendation.loss > 0.0


@pytest.mark.parametrize("frame", [chain_log(m=40), chain_log(m=3).assign(reward=1.0)], ids=["much", "nothing"])
def test_no_gain_over_the_log_is_said_to_be_sure(frame: pd.DataFrame):
    report = pomrl.horizon_report(pomrl.from_log(frame), 0.9, samples=50)
    assert "95" not in report.improvement.words
    assert report.words[1] == report.improvement.words
    assert report.improvement.words.startswith("That is no reason to leave decisions that work")
    assert f"{report.improvement.lower:.3g}" in report.improvement.words


def test_what_a_report_cannot_know_is_warned_of():
    words = pomrl.horizon_report(pomrl.from_log(chain_log(tasks=2)), samples=20).words
    assert "The prior comes from 2 tasks, fewer than 5: trust neither it nor the intervals." in words
    few = chain_log(tasks=8, m=1).sample(frac=0.3, random_state=0)
    words = pomrl.horizon_report(pomrl.from_log(few), samples=20).words
    assert any("The prior decides" in line for line in words)
    assert words[-1].startswith("The intervals may be too narrow")


def test_no_action_is_recommended_where_no_task_has_left_the_state():
    frame = chain_log()
    report = pomrl.horizon_report(pomrl.from_log(frame[frame["state"] != "s0"]), 0.9, [0.5], samples=20)
    assert report.recommendation.policies.shape == (6, 4)
    assert report.actions.groupby("task")["state"].agg(list).tolist() == [["s1", "s2", "s3"]] * 6
    of_last = report.recommendation.policies[-1, 1:]
    assert report.actions["action"].tolist()[-3:] == [("a", "b")[action] for action in of_last]


def called(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(folder))
    chain_log(m=1).rename(columns={"task": "patient"}).to_csv(folder / "visits.csv", index=False)
    monkeypatch.setattr("sys.argv", [])
    main.call("horizon", [str(folder / "visits.csv"), "--task", "patient", *words])


def test_the_command_prints_and_writes_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    called(tmp_path, monkeypatch)
    said = capsys.readouterr().out
    lines = [line for line in said.splitlines() if not line.startswith(str(tmp_path))]
    assert lines[0].startswith(("Plan with the discount factor", "No difference", "Not enough data"))
    assert max(map(len, lines)) <= 80

    folder = tmp_path / "horizon" / "visits"
    files = {"report.html", "actions.csv", "losses.pdf", "losses.png", "losses.csv", "losses.json"}
    assert {path.name for path in folder.iterdir()} == files
    actions = pd.read_csv(folder / "actions.csv")
    assert set(actions["state"]) == {"s0", "s1", "s2", "s3"}
    assert set(actions["action"]) <= {"a", "b"}
    page = (folder / "report.html").read_text()
    report = pomrl.horizon_report(pomrl.from_log(tmp_path / "visits.csv", task="patient"))
    assert all(sentence in page for sentence in report.words)
    assert 'src="data:image/png;base64,' in page
    assert all(f'<th scope="col">s{state}</th>' in page for state in range(4))
    assert page.count('<th scope="row">task 3</th>') == 2  # what its data say, and its actions
    assert "http://" not in page.replace("http-equiv", "")

    with pytest.raises(SystemExit):
        called(tmp_path, monkeypatch)
    assert "there is a report already, and nothing is overwritten; --output names another" in capsys.readouterr().err
    assert (folder / "report.html").read_text() == page


def test_an_interval_contains_the_mean_of_skewed_draws():
    lower, upper = interval(np.array([[0.0] * 199 + [100.0], [0.0] * 199 + [-100.0]]))
    assert lower.tolist() == [0.0, -0.5]
    assert upper.tolist() == [0.5, 0.0]


def test_an_interval_of_few_draws_contains_a_further_draw_with_its_probability():
    draws = np.random.default_rng(5).standard_normal((40_000, 81))
    lower, upper = interval(draws[:, :80])
    inside = (lower < draws[:, 80]) & (draws[:, 80] < upper)
    assert inside.mean() == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 40_000))


BAD: dict[str, tuple[Callable[[Log], object], str]] = {
    "a horizon beyond gamma_eval": (lambda log: pomrl.horizon_report(log, 0.9, [0.95]), "gamma = 0.95 is above"),
    "draws beyond the memory": (lambda log: pomrl.horizon_report(log, samples=10**12), "draws of a model of 4 states"),
    "a structure of another shape": (
        lambda log: pomrl.horizon_report(log, structure=pomrl.Structure(np.zeros(3), lambda _: np.ones((3, 1, 1, 1)))),
        r"the models of the declared structure have to be \[3, 4, 2, 4\], and are \[3, 1, 1, 1\]",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_named_in_one_line(case: str, log: Log):
    call, said = BAD[case]
    with pytest.raises(ValueError, match=said) as raised:
        call(log)
    assert "\n" not in str(raised.value)
