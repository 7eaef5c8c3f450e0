"""Claims get their verdicts, share their error, and plans tell how many units decide them."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import binom, ttest_ind
from tables_of_tests import games, normal, sweep, two_methods

from verdicts import ClaimError, check, judge, plan

TRUE = """
    loss[method=a] falls with n
    loss[method=a] falls with n at every step
    loss[method=a] is lowest at n in 4 .. 4
    loss[method=a] is highest at n in 1 .. 1
    a is lowest over method where n=4
    b is highest over method where n=4
    a < b for each n
    loss[method=a, n=1] - loss[method=a, n=4] > loss[method=b, n=1] - loss[method=b, n=4] + 1
    a + 2 ~ b within 10 % where n=4
    a ~ b within 0.7 where n=1
    loss[method=b] is flat with n within 60 %
"""

FALSE = """
    a rises with n
    a rises with n at every step
    a is lowest at n in 1 .. 3
    a is highest over method where n=4
    a > b for each n
    a ~ b within 10 % where n=4
    a ~ b within 0.1 where n=1
    loss[method=a] is flat with n within 10 %
"""


def test_true_and_false_claims_are_distinguished():
    assert {*judge(sweep(), TRUE)["verdict"]} == {"holds"}
    assert {*judge(sweep(), FALSE)["verdict"]} == {"does not hold"}


def test_shares_and_numbers_of_problems_are_claims():
    data = games(runs=12)
    claims = ["a > b in > 60 % of game", "b < a in > 60 % of game", "a > b in >= 12 of game", "b > a in > 50 % of game"]
    result = judge(data, [*claims, "b > a in > 0 of game"])
    assert [*result["verdict"]] == ["holds"] * 3 + ["does not hold"] * 2
    assert result["estimate"][0] == 1.0
    assert result["upper"][0] == 1.0


def test_an_interval_has_the_error_that_decides():
    a, b = normal(40), normal(40, seed=1)
    a, b = np.r_[a, -a] + 0.3, np.r_[b, -b]  # without skewness
    result = judge(two_methods(a, b), ["a > b"] * 4, error=0.2)
    expected = ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert (result["lower"][0], result["upper"][0]) == pytest.approx((expected.low, expected.high))
    per_claim = judge(two_methods(a, b), ["a > b"], error_each=0.05)
    assert per_claim["lower"][0] == result["lower"][0]
    assert per_claim.attrs["error"] == 0.05


def test_numbers_are_thresholds():
    result = judge(two_methods(normal(60, 0.9), normal(60)), ["a > 0.5", "a < b + 2"])
    assert result.attrs["ranges"] == {"C1": [0.5, np.inf], "C2": [-np.inf, 2.0]}
    assert result["estimate"][0] == pytest.approx(normal(60, 0.9).mean())


def test_narrow_intervals_show_no_difference():
    noise = normal(100) / 1000
    common = normal(200, 10.0, seed=1)
    data = two_methods(common, common + np.r_[noise, -noise])
    assert judge(data, ["a > b"], paired=True)["verdict"][0] == "no difference of interest"
    assert judge(data, ["a > b"], paired=True, interest=1e-6)["verdict"][0] == "undecided"


def test_few_runs_name_the_number_needed():
    result = judge(two_methods([1, 2, 3, 4, 5], [7, 8, 9, 10, 11]), ["b > a"] * 8)
    assert result["verdict"][0] == "undecided"
    assert "at least 6 in each" in result["reason"][0]


def test_check_fails_with_claim_and_reason():
    check(sweep(), ["x: a < b where n=4"])
    with pytest.raises(AssertionError, match="x: a > b where n=4: does not hold: -1"):
        check(sweep(), ["x: a > b where n=4", "a < b where n=4"])
    check(two_methods(normal(20), normal(20)), ["a > b"], allow=["undecided"])


@pytest.mark.parametrize(
    ("option", "value"), [("error", 0.0), ("error_each", 1.0), ("interest", -1.0), ("allow", ["no"])]
)
def test_impossible_options_are_refused(option, value):
    with pytest.raises(ClaimError, match="must be"):
        check(sweep(), ["a > b where n=1"], **{option: value})


@pytest.mark.parametrize(
    ("n", "share", "threshold", "sign"), [(20, 0.75, 0.5, ">"), (20, 0.25, 0.5, "<"), (10, 1.0, 0.9, ">")]
)
def test_planned_units_of_shares_have_the_power(n, share, threshold, sign):
    solved = np.arange(n) < share * n
    needed = plan(two_methods(solved, solved), [f"a {sign} {threshold}"], error=0.1)["needed"][0]

    def power(units: float) -> float:
        p, q = (share, threshold) if sign == ">" else (1 - share, 1 - threshold)
        return float(binom.sf(binom.isf(0.05, units, q), units, p))

    assert power(needed) >= 0.8
    assert all(power(units) < 0.8 for units in range(1, int(needed)))


def test_planned_units_decide_as_often_as_stated():
    needed = int(plan(two_methods(normal(30, 0.8), normal(30, seed=1)), ["a > b"])["needed"][0])
    gap = float(normal(30, 0.8).mean() - normal(30, seed=1).mean())
    rng = np.random.default_rng(0)
    tables = [two_methods(rng.normal(gap, 0.97, needed), rng.normal(0.0, 0.97, needed)) for _ in range(100)]
    assert 60 <= sum(judge(table, ["a > b"])["verdict"][0] == "holds" for table in tables) <= 97


def test_plans_are_known_for_every_decidable_kind():
    assert np.isfinite(plan(sweep(), TRUE)["needed"]).all()
    assert np.isfinite(plan(sweep(), FALSE)["needed"]).all()
    assert plan(games(), ["a > b in >= 6 of game"])["needed"][0] == np.inf


def test_import_loads_no_slow_module():
    code = "import sys, verdicts; print({'scipy.stats', 'matplotlib', 'yaml', 'pydantic'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_an_undefined_ratio_leaves_other_claims():
    result = judge(two_methods(normal(20, 5.0), normal(20, seed=1)), ["a ~ b - 99 within 5 %", "a > b"])
    assert [*result["verdict"]] == ["undecided", "holds"]
    assert "a ratio needs a mean above 0" in result["reason"][0]


@pytest.mark.parametrize("scale", [1, 100])
def test_equal_successes_show_nothing(scale):
    successes = np.repeat([scale, 0], [59, 1])
    table = two_methods(successes, successes).rename(columns={"seed": "task"})
    claims = ["a ~ b within 5 %", f"a > {0.99 * scale}", "a > b"]
    assert [*judge(table, claims)["verdict"]] == ["undecided"] * 3
    assert judge(two_methods(np.full(50, scale), successes), [f"a > {0.99 * scale}"])["verdict"][0] == "undecided"


def test_many_pairs_have_an_exact_test():
    a, b = np.ones(2000), np.repeat([1.0, 0.0], [1992, 8])
    result = judge(two_methods(a, b).rename(columns={"seed": "task"}), ["a > b"])
    assert [*result["verdict"]] == ["holds"]


def test_uncertain_means_leave_ratios_undecided():
    result = judge(two_methods(normal(12, 9.0), normal(12, 0.3, seed=1)), ["a ~ b within 5 %"])
    assert (result["verdict"][0], result["lower"][0]) == ("undecided", -np.inf)


@pytest.mark.parametrize(("differing", "is_tested"), [(9, False), (10, True)])
def test_paired_successes_need_10_differences(differing, is_tested):
    a, b = np.ones(400), np.repeat([1.0, 0.0], [400 - differing, differing])
    result = judge(two_methods(a, b).rename(columns={"seed": "task"}), ["a > b - 0.5"])
    assert (result["verdict"][0] == "holds") == is_tested


@pytest.mark.parametrize(("failures", "is_tested"), [(4, False), (5, True)])
def test_grouped_successes_need_5_of_each(failures, is_tested):
    a, b = np.repeat([1.0, 0.0], [200 - failures, failures]), np.tile([1.0, 0.0], 100)
    assert (judge(two_methods(a, b), ["a > b + 0.1"])["verdict"][0] == "holds") == is_tested


def test_parts_share_the_error_of_their_claim():
    table = two_methods(normal(60, 0.5), normal(60, seed=1)).assign(n=np.tile([1, 2], 60))
    whole, (first, other) = (
        judge(table, ["a > b for each n"]),
        judge(table, ["a > b where n=1", "a > b where n=2"])[["lower", "upper"]].to_numpy(),
    )
    assert (whole["lower"][0], whole["upper"][0]) in [tuple(first), tuple(other)]
