"""The benchmark of the advice on logs: its logs are what they say, its truth is exact, and a cell runs to its row."""

import numpy as np
import pandas as pd
import pytest
from advice_on_logs import CELLS, GROUPS, SEEN, area_under_the_curve, judge_log, table
from logs_with_truth import GAMMA_EVAL, LONGEST, TASKS, Cell, LogWithTruth, best_policies, draw_log
from page_tables import PAGE, RESULTS, with_tables
from true_gains import KEEP, OTHERS, Cautious, true_gains

from pomrl.science.mdp import optimal_value
from pomrl.science.solvers.evaluation import policy_value
from pomrl_logs.recommendations import COVERAGE, HIDDEN_COVERAGE


def a_log(behaviour: str, transitions: int = 800) -> LogWithTruth:
    return draw_log(Cell("inventory", behaviour, transitions, "rewards"), np.random.default_rng(3))


def test_steps_of_an_episode_follow_each_other():
    sample = a_log("two_halves")
    episodes = sample.steps.groupby(["task", "episode"])
    assert (sample.steps["state"] == episodes["next_state"].shift(1))[episodes.cumcount() > 0].all()
    assert episodes.size().max() <= LONGEST
    assert (sample.log.counts.sum((1, 2, 3)) == 800 / TASKS).all()
    assert len(np.unique(sample.log.episode)) == len(episodes)


def test_behaviours_are_those_of_the_log():
    sample = a_log("best_30", 30_000)
    visits = sample.log.counts.sum(-1)
    error = np.sqrt(sample.behaviours[0] * (1.0 - sample.behaviours[0]) / np.maximum(visits.sum(-1, keepdims=True), 1))
    frequencies = visits / visits.sum(-1, keepdims=True)
    assert (np.abs(frequencies - sample.behaviours[0]) < 5.0 * error).all()


def test_luck_in_logs_is_lost_by_leaving():
    sample = a_log("hidden")
    best, without_luck = best_policies(sample.P, sample.R), a_log("best_10")
    assert true_gains(sample, best).mean() < 0.5 * true_gains(without_luck, best).mean()


def test_keeping_gains_nothing_the_best_all():
    sample = a_log("uniform")
    P, R = sample.P, (sample.P * sample.R).sum(-1)
    chain, rewards = P.mean(2, keepdims=True), R.mean(2, keepdims=True)  # one action: any of the log's at random
    log_values = policy_value(chain, rewards, np.zeros(P.shape[:2], int), GAMMA_EVAL)
    possible = ((optimal_value(P, R, GAMMA_EVAL) - log_values) * sample.log.starts).sum(-1)
    assert true_gains(sample, np.full(P.shape[:2], KEEP)) == pytest.approx(0.0, abs=1e-9)
    assert true_gains(sample, best_policies(sample.P, sample.R)) == pytest.approx(possible)


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_with_much_data_all_plans_gain(other: Cautious):
    sample = a_log("uniform", 30_000)
    possible = true_gains(sample, best_policies(sample.P, sample.R)).mean()
    assert true_gains(sample, *other.policies(sample.log)).mean() > 0.6 * possible


def test_a_cell():
    cell = Cell("machine_replacement", "best_10", 3000, "structure")
    logs = pd.DataFrame([judge_log(cell, number) for number in range(2)])
    (row,) = table(logs, ["family"]).to_dict("records")
    assert (row["logs"], row["holds"], row["loses"]) == (2, 2, 0)
    assert 0.6 < row["advice"] <= 1.0


class TestPublished:
    """The published table, whose cells make its groups, and what the page and the report say of it."""

    PUBLISHED = pd.read_csv(RESULTS)

    @pytest.mark.parametrize("name", GROUPS)
    @pytest.mark.parametrize("hidden", [False, True])
    def test_groups_have_the_logs_of_cells(self, name: str, hidden: bool):
        cells = self.PUBLISHED.dropna(subset="transitions")
        is_in_group = cells["family"].isin(list(GROUPS[name])) & ((cells["behaviour"] == "hidden") == hidden)
        counts = ["logs", "told", "loses", "holds"]
        published = self.PUBLISHED["family"] == name
        published &= self.PUBLISHED["behaviour"] == ("hidden" if hidden else SEEN)
        (row,) = self.PUBLISHED.loc[published, counts].to_numpy()
        assert (cells.loc[is_in_group, counts].sum() == row).all()

    def test_every_cell_is_published(self):
        cells = self.PUBLISHED.dropna(subset="transitions")
        assert [*map(tuple, cells[["family", "behaviour", "transitions", "knows"]].to_numpy())] == [
            (cell.family, cell.behaviour, cell.transitions, cell.knows) for cell in CELLS
        ]

    def test_the_report_says_how_often_limits_held(self):
        visible = self.PUBLISHED.dropna(subset="transitions").query("behaviour != 'hidden'")
        share = 100 * visible["holds"].sum() / visible["logs"].sum()
        groups = self.PUBLISHED[self.PUBLISHED["family"].isin(GROUPS)].query("behaviour == 'hidden'")
        hidden = 100 * groups["holds"] / groups["logs"]
        assert f"{int(share)} %" == COVERAGE
        assert f"{hidden.min():.0f} to {hidden.max():.0f} %" == HIDDEN_COVERAGE


def test_the_area_under_curve_ranks_doubts():
    logs = pd.DataFrame({"holds": [True, True, False, False], "doubt": [0.1, 0.5, 0.4, 0.9]})
    assert area_under_the_curve(logs) == 0.75
    assert np.isnan(area_under_the_curve(logs[logs["holds"]]))


def test_the_page_has_the_present_tables(request: pytest.FixtureRequest):
    if request.config.getoption("force_regen"):
        PAGE.write_text(with_tables(PAGE.read_text()))
    assert PAGE.read_text() == with_tables(PAGE.read_text()), "python packages/pomrl-logs/benchmarks/page_tables.py"
