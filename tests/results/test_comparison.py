from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pomrl.commands import diff, run, runs
from pomrl.results import comparison
from pomrl.results.comparison import Side, differences, result_differences, same_problem
from pomrl.results.losses import Losses
from pomrl.results.statistics import difference


def side(name: str, settings: dict[str, object], loss: np.ndarray | None = None) -> Side:
    return Side(name, settings, {}, None if loss is None else Losses(loss, np.array([0.0, 0.5, 0.9][: loss.shape[2]])))


def test_values_that_differ_in_type_alone_differ() -> None:
    assert differences([{"S": 10, "m": 5}, {"S": 10.0, "m": 5}]) == {"S": [10, 10.0]}
    assert differences([{"a": 1}, {}]) == {"a": [1, None]}
    assert differences([{"a": [0.5]}, {"a": [0.5]}]) == {}


def test_only_methods_at_one_problem_are_compared_in_pairs() -> None:
    base = side("a", {"sigma": 0.01, "estimator": "pomrl", "estimator.prior": "inclusive"})
    assert same_problem(base, side("b", {"sigma": 0.01, "estimator": "oracle", "estimator.prior": "known"}))
    assert not same_problem(base, side("b", {"sigma": 0.02, "estimator": "pomrl", "estimator.prior": "inclusive"}))


def test_a_constant_difference_between_pairs_has_no_width() -> None:
    rng = np.random.default_rng(0)
    loss = rng.random((30, 4, 3))
    found = result_differences(side("a", {"estimator": "x"}, loss), side("b", {"estimator": "y"}, loss + 0.25))
    for interval in (found["loss at the largest gamma"], found["minimum loss"]):
        np.testing.assert_allclose([interval.estimate, interval.lower, interval.upper], 0.25, rtol=1e-12)
    assert (found["gamma*"].estimate, found["gamma*"].lower, found["gamma*"].upper) == (0, 0, 0)


def test_the_best_gamma_moves_with_the_minimum() -> None:
    rng = np.random.default_rng(1)
    noise = 0.01 * rng.random((30, 4, 3))
    first, second = noise + np.array([0.0, 1.0, 1.0]), noise + np.array([1.0, 1.0, 0.0])
    found = result_differences(side("a", {"estimator": "x"}, first), side("b", {"estimator": "y"}, second))
    assert (found["gamma*"].estimate, found["gamma*"].lower, found["gamma*"].upper) == (0.9, 0.9, 0.9)
    assert found["loss at the largest gamma"].upper < -0.9


@pytest.mark.parametrize("estimators", [("x", "y"), ("x", "x")])
def test_with_many_runs_the_interval_of_gamma_star_is_that_of_the_bootstrap(
    estimators: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    losses = rng.normal([0.05, 0.0, 0.05], 1.0, size=(2, 500, 8, 3))
    sides = [
        side(name, {"estimator": of, "S": of}, loss)
        for name, of, loss in zip(("a", "b"), estimators, losses, strict=True)
    ]
    bootstrapped = result_differences(*sides)["gamma*"]
    monkeypatch.setattr(comparison, "MANY", 499)
    drawn = result_differences(*sides)["gamma*"]
    assert drawn.estimate == bootstrapped.estimate
    assert drawn.upper - drawn.lower > 0.3
    np.testing.assert_allclose([drawn.lower, drawn.upper], [bootstrapped.lower, bootstrapped.upper], atol=0.05)


@pytest.mark.parametrize("paired", [True, False])
def test_intervals_cover_the_true_difference_as_often_as_they_say(paired: bool) -> None:
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(1000):
        common = rng.normal(size=25) * paired
        interval = difference(common + rng.normal(size=25), common + 0.5 + rng.normal(size=25), paired=paired)
        covered += interval.lower <= 0.5 <= interval.upper
    assert 930 <= covered <= 970


Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """Runs the main function of a command with these arguments."""
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))

    def command(main: Callable[[], None], *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setenv("HYDRA_FULL_ERROR", "0")
        monkeypatch.setattr("sys.argv", ["command", *arguments])
        status = 0
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return command


def test_diff_says_what_differs_and_what_follows(call: Call) -> None:
    call(run.main, "-m", "runs=8", "T=4", "estimator=pomrl,ada_pomrl")
    status, out, _ = call(diff.main, "T=4 estimator=pomrl", "T=4")
    assert status == 1
    assert "estimator: pomrl -> ada_pomrl" in out
    assert len(out.splitlines()) <= 10
    assert "loss at the largest gamma" in out
    assert "in pairs over runs" in out
    assert "gamma_eval" not in out


def test_diff_of_stored_runs_by_signature_is_that_of_their_overrides(call: Call) -> None:
    _, out, _ = call(run.main, "-m", "runs=8", "T=4", "sigma=0.01,0.02")
    folders = out.splitlines()
    status, by_signature, _ = call(diff.main, Path(folders[0]).name[:8], folders[1])
    _, by_overrides, _ = call(diff.main, "T=4", "T=4 sigma=0.02")
    assert status == 1
    assert "not paired" in by_signature
    assert "minimum" in by_signature
    assert by_signature == by_overrides


def test_diff_ends_as_diff_does(call: Call) -> None:
    assert call(diff.main, "sigma=0", "sigma=0.0")[:2] == (0, "no difference\n")
    assert call(diff.main, "sigma=0.01", "sigma=0.02")[0] == 1
    for bad in ("foo=1", "sigma=x", "S=1", "abcdef", "sigma=0.9", "estimator=none"):
        status, out, err = call(diff.main, "sigma=0.01", bad)
        assert (status, out) == (2, ""), bad
        assert len(err.splitlines()) == 1, err
    assert call(diff.main, "sigma=0.01")[0] == 2


def test_diff_takes_any_number_of_sides_and_writes_markdown(call: Call) -> None:
    status, out, _ = call(diff.main, "--markdown", "m=2", "m=3", "m=4")
    assert status == 1
    assert "- **m**: 2 -> 3\n" in out
    assert "- **m**: 2 -> 4\n" in out
    assert "not stored" in out


def test_experiments_that_share_a_difference_stand_together(call: Call) -> None:
    call(run.main, "-m", "runs=8", "T=3", "S=4", "estimator=pomrl,ada_pomrl", "sigma=0.01,0.02")
    sides = "T=3 S=4 sigma=0.01,0.02 estimator=pomrl", "T=3 S=4 sigma=0.01,0.02 estimator=ada_pomrl"
    status, out, _ = call(diff.main, *sides)
    assert (status, out.count("estimator: pomrl -> ada_pomrl")) == (1, 1)
    assert len(out.splitlines()) <= 10
    rows = [line.split()[0] for line in out.splitlines() if "minimum loss" in line]
    assert rows == ["0.01", "0.02"]
    _, alone, _ = call(diff.main, *(side.replace("0.01,", "") for side in sides))
    (minimum,) = (line.split() for line in alone.splitlines() if "minimum" in line)
    assert [line.split()[1:] for line in out.splitlines() if "minimum" in line][1] == minimum
    _, markdown, _ = call(diff.main, *sides, "--markdown")
    assert max(map(len, markdown.splitlines())) < 120
    shown, folded = markdown.split("<details>")
    assert "alpha in task" not in shown
    assert "alpha in task 3" in folded
    assert "estimator.similarity: known -> welford" in folded


def test_the_list_of_runs_shows_what_varies_and_filters(call: Call) -> None:
    call(run.main, "-m", "runs=3", "T=2", "estimator=pomrl,oracle", "m=2,3")
    status, out, _ = call(runs.main)
    assert status == 0
    assert len(out.splitlines()) == 5
    assert "sigma" not in out
    _, filtered, _ = call(runs.main, "estimator=pomrl", "m=2")
    assert len(filtered.splitlines()) == 2
    assert call(runs.main, "m")[0] == 2


def test_verify_finds_a_damaged_block(call: Call) -> None:
    _, out, _ = call(run.main, "runs=3", "T=2")
    assert call(runs.main, "--verify")[0] == 0
    block = next(Path(out.strip()).glob("*.parquet"))
    block.write_bytes(block.read_bytes()[:-1])
    status, said, _ = call(runs.main, "--verify")
    assert status == 1
    assert block.name in said


def test_prune_removes_what_the_code_no_longer_finds_and_only_with_yes(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out, _ = call(run.main, "runs=3", "T=2")
    folder = Path(out.strip())
    assert "0 would be removed" in call(runs.main, "--prune")[1]
    monkeypatch.setattr("pomrl.store.stored_experiments.code_digest", lambda components: "another")
    assert "1 would be removed" in call(runs.main, "--prune")[1]
    assert folder.exists()
    assert "1 removed" in call(runs.main, "--prune", "--yes")[1]
    assert not folder.exists()


@pytest.mark.parametrize("word", ["m", "=3", "sigma=["])
def test_a_filter_that_cannot_be_read_is_one_line(call: Call, word: str) -> None:
    status, _, err = call(runs.main, word)
    assert status == 2
    assert len(err.splitlines()) == 1
