"""The claims, on losses that are simulated so that each of them holds, and so that it fails."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.support.verdicts import by_itself
from tests.support.worlds import (
    BY_ID,
    GAMMAS,
    RUNS,
    Settings,
    World,
    as_in_the_paper,
    backwards,
    long_horizons,
    rising,
    swapped,
    worse,
)

from pomrl.judging.claim import JudgedClaim, claim
from pomrl.judging.comparison_rows import decisive
from pomrl.results.intervals import ERROR_RATE
from pomrl.results.result import Result
from pomrl.store.derived import Simulation
from pomrl_studies.pomrl2023.claims.similarity import SIGMAS
from verdicts.estimates import mean
from verdicts.parts import Part, Verdict

REFUTED_IN: list[tuple[World, str]] = [
    (backwards, "Q1.1 Q1.6 Q1.7 Q2.2 Q2.3 Q2.4"),
    (long_horizons, "Q2.1 Q4.5"),
    (swapped("estimator", "without_meta", "ada_pomrl"), "Q1.3 Q2.6"),
    (swapped("estimator", "without_meta", "oracle"), "Q1.4"),
    (swapped("estimator", "pomrl", "ada_pomrl"), "Q1.5"),
    (swapped("sigma", 0.01, 0.047), "Q3.1 Q3.3 Q3.5 Q3.8 Q3.9"),
    (rising, "Q3.2"),
    (worse("estimator", "oracle"), "Q3.4"),
    (worse("estimator", "pomrl"), "Q3.6"),
    (swapped("sigma", 0.01, 0.025), "Q3.7"),
    (worse("gamma_schedule", "dong"), "Q4.1 Q4.2 Q4.6"),
    (worse("gamma_schedule", "upper_bound"), "Q4.3"),
    (worse("gamma_0", 0.3), "Q4.4"),
    (worse("gamma_schedule", "upper_bound", 0.5), "Q4.7"),
    (worse("estimator", "aggregating"), "A.1"),
    (swapped("estimator", "aggregating", "pomrl"), "A.2"),
    (swapped("batches", "m5_T5", "m20_T5"), "A.3 A.4 A.8 A.9"),
    (swapped("start_deviation", 0.1, 0.5), "A.5"),
    (swapped("start_deviation", 0.01, 0.1), "A.6"),
    (swapped("start_deviation", 0.01, 0.5), "A.7"),
    (swapped("m", 5, 50), "I.1 I.3"),
    (swapped("mixing", 0.0, 0.75), "I.2 I.4"),
]
"""Worlds, and the claims that each of them refutes."""

FAILING = {id: world for world, ids in REFUTED_IN for id in ids.split()}


SHORT = 14
"""The index of the best of the discount factors with many samples, 0.7."""


def little_to_gain(behind: str) -> World:
    """The paper's world where no meta-learning is 20 % worse than the oracle, one learner 5 %, and the others 1 %."""
    above = {"oracle": 0.0, "without_meta": 0.2, behind: 0.05}
    return lambda sweep, setting: np.full((15, len(GAMMAS)), 1.0 + above.get(setting["estimator"], 0.01))


def with_loss(sweeps: Sequence[str], estimator: str, gamma: int, by: float) -> World:
    """The paper's world with another loss of an estimator in some sweeps, at one discount factor."""

    def world(sweep: str, setting: Settings) -> np.ndarray:
        is_changed = sweep in sweeps and setting["estimator"] == estimator
        return as_in_the_paper(sweep, setting) + by * is_changed * (np.arange(len(GAMMAS)) == gamma % len(GAMMAS))

    return world


TOPICS: list[tuple[str, World, set[str]]] = [
    ("Q3.4", little_to_gain("pomrl"), {f"share closed, σ = {s}" for s in SIGMAS}),
    ("Q3.4", little_to_gain("ada_pomrl"), {f"share closed, σ = {s}" for s in SIGMAS}),
    ("Q3.4", worse("estimator", "pomrl", 1.2), {f"{what}σ = {s}" for what in ("", "share closed, ") for s in SIGMAS}),
    ("A.8", with_loss(["samples_and_tasks"], "without_meta", -1, 0.6), {"at γ = 0.99"}),
    ("A.8", with_loss(["samples_and_tasks"], "ada_pomrl", SHORT, -0.5), {"at the best γ"}),
    ("A.9", with_loss(["states_20"], "without_meta", -1, 0.6), {"at γ = 0.99"}),
    ("A.9", with_loss(["states_30"], "ada_pomrl", SHORT, -0.5), {"at the best γ"}),
]
"""Claims with topics, worlds, and the topics that are refuted in them; the others hold."""


class TestClaims:
    @pytest.mark.parametrize("id", BY_ID)
    def test_holds_where_it_was_built_to(self, id, paper):
        comparisons = BY_ID[id].parts(paper)
        assert {comparison.verdict(ERROR_RATE / len(comparisons)) for comparison in comparisons} == {Verdict.HOLDS}
        assert by_itself(comparisons) is Verdict.HOLDS

    @pytest.mark.parametrize("id", FAILING)
    def test_each_claim_is_refuted_in_failing_worlds(self, id, in_world):
        assert by_itself(BY_ID[id].parts(in_world(FAILING[id], id))) is Verdict.DOES_NOT_HOLD

    @pytest.mark.parametrize(("id", "world", "refuted"), TOPICS)
    def test_each_topic_is_refuted_by_itself(self, id, world, refuted, in_world):
        verdicts = JudgedClaim(BY_ID[id], RUNS).judge(BY_ID[id].parts(in_world(world, id))).verdicts
        assert {topic for topic, verdict in verdicts.items() if verdict is Verdict.DOES_NOT_HOLD} == refuted
        assert {verdict for topic, verdict in verdicts.items() if topic not in refuted} <= {Verdict.HOLDS}

    @pytest.mark.parametrize("view", ["at γ = 0.99", "at the best γ"])
    def test_a_view_beside_has_no_weight(self, view, in_world):
        worlds = {
            "at γ = 0.99": with_loss(["samples_and_tasks"], "without_meta", -1, 0.6),
            "at the best γ": with_loss(["samples_and_tasks"], "ada_pomrl", SHORT, -0.5),
        }
        outcome = JudgedClaim(BY_ID["A.8"], RUNS).judge(BY_ID["A.8"].parts(in_world(worlds[view], "A.8")))
        assert outcome.verdicts[view] is Verdict.DOES_NOT_HOLD
        assert outcome.verdict is (Verdict.HOLDS if view == "at γ = 0.99" else Verdict.DOES_NOT_HOLD)
        assert not decisive(outcome.comparisons).is_beside

    def test_a_rising_loss_refutes_no_improvement_not(self, in_world):
        assert by_itself(BY_ID["Q1.3"].parts(in_world(rising, "Q1.3"))) is Verdict.HOLDS

    def test_a_distance_of_zero_is_not_closed(self, in_world):
        comparisons = BY_ID["Q3.4"].parts(in_world(swapped("estimator", "oracle", "without_meta"), "Q3.4"))
        shares = [comparison for comparison in comparisons if "closed" in comparison.compared]
        assert np.isnan([comparison.estimate.value for comparison in shares]).all()
        assert {
            by_itself([comparison for comparison in comparisons if comparison.topic == share.topic]) for share in shares
        } == {Verdict.DOES_NOT_HOLD}

    def test_spread_that_grows_is_refuted(self, paper):
        sweep = paper["task_similarity"]
        turned = [Result.of_losses(result.loss[:, ::-1], result.gammas) for result in sweep.results]
        comparisons = BY_ID["Q1.2"].parts({"task_similarity": replace(sweep, results=turned)})
        assert by_itself(comparisons) is Verdict.DOES_NOT_HOLD

    @pytest.mark.parametrize("id", ["Q1.1", "Q1.5", "Q2.6", "Q3.3", "A.2", "I.4"])
    def test_too_few_runs_decide_nothing(self, id, in_world):
        assert by_itself(BY_ID[id].parts(in_world(as_in_the_paper, id, runs=5))) is Verdict.UNDECIDED

    def test_a_setting_that_is_not_there(self, paper):
        with pytest.raises(LookupError, match="no experiment"):
            paper["gamma_0"].at(gamma_0=0.7)

    def test_keys_outside_the_axes_are_named(self, paper):
        with pytest.raises(LookupError, match=r"no experiment with .*sgima=.*; available: start_deviation ="):
            paper["initial_similarity"].at(start_deviation=0.1, sgima=0.01)

    def test_one_about_a_simulation_takes_its_table(self):
        def coin() -> pd.DataFrame:
            return pd.DataFrame({"heads": [1.0, 1.0, 1.0, 0.0] * 10})

        @claim("X.1", simulation=Simulation(coin))
        def heads(table: pd.DataFrame) -> list[Part]:
            """heads come up more often than not."""
            return [Part("share of heads", mean(table["heads"].to_numpy()), above=0.5)]

        assert not heads.sweeps
        assert heads.parts({"coin": coin()})[0].estimate.value == 0.75
        with pytest.raises(LookupError):
            heads.parts({})
