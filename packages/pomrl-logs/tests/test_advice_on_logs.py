"""The benchmark of the advice on logs: its logs are what they say, its truth is exact, and a cell runs to its row."""

import numpy as np
import pandas as pd
import pytest
from advice_on_logs import CELLS, GROUPS, SEEN, area_under_the_curve, judged, table
from logs_with_truth import GAMMA_EVAL, LONGEST, TASKS, Cell, LogWithTruth, best_policies, drawn
from page_tables import PAGE, RESULTS, with_tables
from true_gains import KEEP, OTHERS, Cautious, true_gains

from pomrl.science.mdp import optimal_value
from pomrl.science.solvers.evaluation import policy_value
from pomrl_logs.recommendations import COVERAGE, HIDDEN_COVERAGE


def a_log(behaviour: str, transitions: int = 800) -> LogWithTruth:
    return drawn(Cell("inventory", behaviour, transitions, "rewards"), np.random.default_rng(3))


def test_steps_of_an_episode_follow_each_other():
    of = a_log("two_halves")
    episodes = of.steps.groupby(["task", "episode"])
    assert (of.steps["state"] == episodes["next_state"].shift(1))[episodes.cumcount() > 0].all()
    assert episodes.size().max() <= LONGEST
    assert (of.log.counts.sum((1, 2, 3)) == 800 / TASKS).all()
    assert len(np.unique(of.log.episode)) == len(episodes)


def test_behaviours_are_those_of_the_log():
    of = a_log("best_30", 30_000)
    visits = of.log.counts.sum(-1)
    error = np.sqrt(of.behaviours[0] * (1.0 - of.behaviours[0]) / np.maximum(visits.sum(-1, keepdims=True), 1))
    frequencies = visits / visits.sum(-1, keepdims=True)
    assert (np.abs(frequencies - of.behaviours[0]) < 5.0 * error).all()


def test_luck_in_the_log_is_lost_by_whoever_leaves_it():
    of = a_log("hidden")
    of_best, without_luck = best_policies(of.P, of.R), a_log("best_10")
    assert true_gains(of, of_best).mean() < 0.5 * true_gains(without_luck, of_best).mean()


def test_what_is_kept_gains_nothing_and_the_best_policy_all():
    of = a_log("uniform")
    P, R = of.P, (of.P * of.R).sum(-1)
    chain, rewards = P.mean(2, keepdims=True), R.mean(2, keepdims=True)  # one action: any of the log's at random
    of_log = policy_value(chain, rewards, np.zeros(P.shape[:2], int), GAMMA_EVAL)
    possible = ((optimal_value(P, R, GAMMA_EVAL) - of_log) * of.log.starts).sum(-1)
    assert true_gains(of, np.full(P.shape[:2], KEEP)) == pytest.approx(0.0, abs=1e-9)
    assert true_gains(of, best_policies(of.P, of.R)) == pytest.approx(possible)


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_with_much_data_all_plans_gain_over_random_actions(other: Cautious):
    of = a_log("uniform", 30_000)
    possible = true_gains(of, best_policies(of.P, of.R)).mean()
    assert true_gains(of, *other.policies(of.log)).mean() > 0.6 * possible


def test_a_cell():
    cell = Cell("machine_replacement", "best_10", 3000, "structure")
    logs = pd.DataFrame([judged(cell, number) for number in range(2)])
    (row,) = table(logs, ["family"]).to_dict("records")
    assert (row["logs"], row["holds"], row["loses"]) == (2, 2, 0)
    assert 0.6 < row["advice"] <= 1.0


class TestPublished:
    """The published table, whose cells make its groups, and what the page and the report say of it."""

    PUBLISHED = pd.read_csv(RESULTS)

    @pytest.mark.parametrize("name", GROUPS)
    @pytest.mark.parametrize("hidden", [False, True])
    def test_a_group_has_the_logs_of_its_cells(self, name: str, hidden: bool):
        cells = self.PUBLISHED.dropna(subset="transitions")
        of_group = cells["family"].isin(list(GROUPS[name])) & ((cells["behaviour"] == "hidden") == hidden)
        counts = ["logs", "told", "loses", "holds"]
        published = self.PUBLISHED["family"] == name
        published &= self.PUBLISHED["behaviour"] == ("hidden" if hidden else SEEN)
        (row,) = self.PUBLISHED.loc[published, counts].to_numpy()
        assert (cells.loc[of_group, counts].sum() == row).all()

    def test_every_cell_is_published(self):
        cells = self.PUBLISHED.dropna(subset="transitions")
        assert [*map(tuple, cells[["family", "behaviour", "transitions", "knows"]].to_numpy())] == [
            (cell.family, cell.behaviour, cell.transitions, cell.knows) for cell in CELLS
        ]

    def test_the_report_says_how_often_limits_held(self):
        seen = self.PUBLISHED.dropna(subset="transitions").query("behaviour != 'hidden'")
        share = 100 * seen["holds"].sum() / seen["logs"].sum()
        groups = self.PUBLISHED[self.PUBLISHED["family"].isin(GROUPS)].query("behaviour == 'hidden'")
        hidden = 100 * groups["holds"] / groups["logs"]
        assert f"{int(share)} %" == COVERAGE
        assert f"{hidden.min():.0f} to {hidden.max():.0f} %" == HIDDEN_COVERAGE


def test_the_area_under_the_curve_is_that_of_doubts_of_limits_that_fail():
    logs = pd.DataFrame({"holds": [True, True, False, False], "doubt": [0.1, 0.5, 0.4, 0.9]})
    assert area_under_the_curve(logs) == 0.75
    assert np.isnan(area_under_the_curve(logs[logs["holds"]]))


def test_the_page_has_the_present_tables(request: pytest.FixtureRequest):
    if request.config.getoption("force_regen"):
        PAGE.write_text(with_tables(PAGE.read_text()))
    assert PAGE.read_text() == with_tables(PAGE.read_text()), "python packages/pomrl-logs/benchmarks/page_tables.py"
