"""The benchmark of learners that explain rows in different ways: what a gambler wins, and that its row adds up."""

import numpy as np
import pytest
from explanations_of_rows import row
from families_after_the_rule import AFTER_THE_RULE

from pomrl.science.planners import PolicyIteration


def test_fair_gambler_wins_his_share() -> None:
    fair = AFTER_THE_RULE["gambler"][0](centre=0.5, spread=0.0, values=2).candidate_models()
    P, R = fair.P[:1], (fair.P * fair.R).sum(-1)[:1]
    policy = PolicyIteration().plan(P, R, np.array([0.9]))[0, 0]
    chain, wins = P[0, np.arange(21), policy], R[0, np.arange(21), policy]
    np.testing.assert_allclose(
        np.linalg.solve(np.eye(21) - 0.999999 * chain, wins)[1:20], np.arange(1, 20) / 20, atol=1e-3
    )


def test_row_of_the_table_adds_up() -> None:
    actual = row("cabs", 0.05, runs=3)
    assert actual["family"] == "cabs"
    shares = [float(str(actual[name]).split()[0]) for name in ("ada-POMRL", "equal or tied", "less")]
    assert shares[1] - shares[0] == pytest.approx(shares[2], abs=0.11)
    assert 0.0 < shares[1] < 100.0
