"""The comparison of two sides, and the command that prints it: pomrl diff."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.support.computed import call, table

from pomrl import store
from pomrl.commands import diff, run
from pomrl.results.comparison import loss_differences, nearest
from pomrl.results.intervals import difference
from pomrl.results.result import Result

SMALL = ("T=3", "S=4", "runs=8")


def losses(loss: np.ndarray) -> Result:
    return Result.of_losses(loss, np.array([0.0, 0.5, 0.9][: loss.shape[2]]))


pytestmark = pytest.mark.usefixtures("empty_outputs")


def test_pairs_are_the_shared_runs() -> None:
    loss = np.random.default_rng(0).random((30, 4, 3))
    differences = loss_differences(losses(loss), losses(loss[:20] + 0.25), paired=True)
    for name in ("loss at the largest gamma", "minimum loss"):
        interval = differences[name]
        np.testing.assert_allclose([interval.estimate, interval.lower, interval.upper], 0.25, rtol=1e-12)


@pytest.mark.parametrize("paired", [True, False])
def test_intervals_have_their_coverage(paired: bool) -> None:
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(1000):
        common = rng.normal(size=25) * paired
        interval = difference(common + rng.normal(size=25), common + 0.5 + rng.normal(size=25), paired=paired)
        covered += interval.lower <= 0.5 <= interval.upper
    assert 930 <= covered <= 970


def test_the_closest_result_differs_within_components_only() -> None:
    new, problem, method = (
        Result({}, settings={"m": m, "estimator.v2": v2, "estimator.lag": lag})
        for m, v2, lag in ((5, 1.0, 0), (6, 1.0, 0), (5, 0.5, 1))
    )
    assert nearest([problem, method], [new]) == [(method, new)]


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("runs", [2, 30])
def test_differences_from_constants_have_students_interval(runs: int, paired: bool) -> None:
    sample = np.random.default_rng(0).normal(size=runs)
    theirs = stats.ttest_1samp(sample, 0.0).confidence_interval()
    interval = difference(np.zeros(runs), sample, paired=paired)
    assert (interval.lower, interval.upper) == pytest.approx((theirs.low, theirs.high))


def test_rounding_of_large_differences_has_no_width() -> None:
    interval = difference(np.zeros(30), 1e6 + 1e-7 * np.tile([-1.0, 1.0], 15), paired=True)
    assert interval.lower == interval.upper


def test_diff_groups_experiments_by_shared_differences() -> None:
    call(run, "-m", *SMALL, "estimator=pomrl,ada_pomrl", "sigma=0.01,0.02")
    sides = [f"T=3 S=4 sigma=0.01,0.02 estimator={name}" for name in ("pomrl", "ada_pomrl")]
    status, out, _ = call(diff, *sides)
    assert (status, out.count("estimator: pomrl -> ada_pomrl")) == (1, 1)
    assert "in pairs over runs" in out
    assert "gamma_eval" not in out
    assert [line.split("\t")[0] for line in out.splitlines() if "minimum loss" in line] == ["0.01", "0.02"]
    rows = pd.read_csv(io.StringIO(call(diff, *sides, "--format", "csv")[1])).query("result == 'minimum loss'")
    for sigma, row in zip((0.01, 0.02), rows.to_dict("records"), strict=True):
        a, b = (
            Result.of_stored(store.find(sigma=sigma, estimator=name)[0], 8).minimum for name in ("pomrl", "ada_pomrl")
        )
        assert row["difference"] == pytest.approx((b - a).mean())
        assert row["changed"] == "estimator: pomrl -> ada_pomrl"
    first_runs = pd.read_csv(io.StringIO(call(diff, sides[0], f"{sides[1]} runs=3", "--format", "csv")[1]))
    assert {*first_runs["runs"]} == {3}
    markdown = call(diff, *sides, "--format", "markdown")[1]
    assert "- estimator.similarity: known -> welford\n" in markdown
    assert "| 0.01 | minimum loss | 8 | " in markdown


def test_diff_by_signature_equals_diff_by_settings() -> None:
    folders = call(run, "-m", *SMALL, "sigma=0.01,0.02")[1].splitlines()[-2:]
    status, by_signature, _ = call(diff, Path(folders[0]).name[:8], folders[1])
    assert (status, by_signature) == call(diff, "T=3 S=4 sigma=0.01", "T=3 S=4 sigma=0.02")[:2]
    assert "not paired" in by_signature


def test_diff_ends_with_its_status() -> None:
    assert call(diff, "sigma=0", "sigma=0.0")[:2] == (0, "no difference\n")
    status, out, _ = call(diff, "m=2", "m=3", "m=4")
    assert status == 1
    assert {"m: 2 -> 3", "m: 2 -> 4"} <= {*out.splitlines()}
    assert "no stored runs to compare; to compute them: pomrl run -m " in out
    for bad in ("foo=1", "sigma=x", "S=1", "abcdef", "./nowhere", "tag=none", "estimator=none"):
        status, out, err = call(diff, "sigma=0.01", bad)
        assert (status, out, err.count("\n")) == (2, "", 1), bad
    assert call(diff, "sigma=0.01")[0] == 2
    message = "abcdef: only settings can be compared with the previous code; give B to compare with\n"
    assert call(diff, "abcdef") == (2, "", message)


def test_unpaired_diffs_have_both_run_counts() -> None:
    for sigma, runs in ((0.01, 8), (0.02, 3)):
        call(run, "T=2", "S=4", f"sigma={sigma}", f"runs={runs}")
    out = call(diff, "T=2 S=4 sigma=0.01", "T=2 S=4 sigma=0.02")[1]
    assert "not paired" in out
    assert [line.split("\t")[1] for line in out.splitlines() if "loss at" in line] == ["8, 3"]
    call(run, "T=2", "S=4", "sigma=0.01", "estimator=oracle", "runs=5")
    out = call(diff, "T=2 S=4 sigma=0.01", "T=2 S=4 sigma=0.01 estimator=oracle")[1]
    assert [line.split("\t")[1] for line in out.splitlines() if "loss at" in line] == ["5"]


def test_a_selection_without_its_quotes_is_named() -> None:
    arguments = ("estimator=pomrl", "sigma=0.047", "estimator=ada_pomrl", "sigma=0.047")
    assert call(diff, *arguments) == (2, "", "sigma=0.047 is given twice; quote a selection of several words\n")


def test_revisions_outside_of_a_repository_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    status, out, err = call(diff, "main..branch")
    assert (status, out) == (2, "")
    assert err.startswith("git rev-parse: fatal: not a git repository")


@pytest.fixture
def edited(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A function after whose call the code of all components has another digest."""

    def edit(digest: str) -> None:
        for module in ("experiments", "manifests"):
            monkeypatch.setattr(f"pomrl.store.{module}.code_digest", lambda _: 64 * digest)

    return edit


def test_edited_code_is_compared_in_pairs(edited: Callable[[str], None]) -> None:
    for digest, overrides in (("a", "estimator=pomrl,oracle"), ("b", "estimator=pomrl"), ("c", "estimator=pomrl")):
        edited(digest)
        assert call(run, "-m", *SMALL, overrides, "+tag=dev")[0] == 0
    status, out, _ = call(diff, "tag=dev", "--format", "csv")
    rows = pd.read_csv(io.StringIO(out))
    assert (status, list(rows["difference"]), set(rows["runs"])) == (1, [0.0, 0.0], {8})
    (old,) = re.findall(r"^code: (\S+\+bbbb) -> present$", "\n".join(rows["changed"].unique()), flags=re.MULTILINE)
    assert "in pairs over runs" in call(diff, f"tag=dev code={old}", "T=3 S=4 estimator=pomrl")[1]
    status, out, err = call(table, "tag=dev", "--format", "csv")
    assert (status, out.count("\n")) == (0, 2)
    assert "3 results of other code left out; code=all shows them" in err
    all_versions = pd.read_csv(io.StringIO(call(table, "tag=dev", "code=all", "--format", "csv")[1]))
    assert [*all_versions["estimator"]] == ["oracle", "pomrl", "pomrl", "pomrl"]
    assert all_versions["code"].str[-4:].value_counts().to_dict() == {"aaaa": 2, "bbbb": 1, "cccc": 1}
    assert "no stored runs for estimator=oracle" in call(table, "T=3", "S=4", "estimator=oracle")[2].replace(
        "T=3 S=4 ", ""
    )
    assert "no stored runs to compare; to compute them: pomrl run -m T=3 S=4 estimator=oracle" in re.sub(
        r"\s+", " ", call(diff, "T=3 S=4 estimator=oracle")[1]
    )


def test_independent_samples_have_welchs_interval():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=5), 1.0 + 3.0 * rng.normal(size=12)
    theirs = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    actual = difference(a, b, paired=False)
    assert (actual.lower, actual.upper) == pytest.approx((theirs.low, theirs.high))
