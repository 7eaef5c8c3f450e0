import numpy as np
import pandas as pd
import pytest

from pomrl.results.intervals import Interval
from pomrl.results.statistics import band, best_gamma, best_gamma_band


def table(losses, gammas, **settings) -> pd.DataFrame:
    """Rows of losses[n, G], with further columns."""
    n, G = np.shape(losses)
    columns = {"run": np.repeat(np.arange(n), G), "gamma": np.tile(gammas, n), "planning_loss": np.ravel(losses)}
    return pd.DataFrame({**settings, **columns}).astype({"planning_loss": float})


class TestBand:
    def test_known_values(self):
        frame = table([[1.0], [2.0], [3.0], [6.0]], [0.9], task=1)  # mean 3, squared deviations 4 + 1 + 0 + 9
        sd = np.sqrt(14 / 3)
        (one,) = band(frame, ["task"]).to_dict("records")
        assert one == pytest.approx({"task": 1, "mean": 3.0, "lower": 3.0 - sd, "upper": 3.0 + sd, "n": 4})
        (one,) = band(frame, ["task"], kind="se").to_dict("records")
        assert one == pytest.approx({"task": 1, "mean": 3.0, "lower": 3.0 - sd / 2, "upper": 3.0 + sd / 2, "n": 4})

    def test_groups_are_sorted_and_separate(self):
        frame = pd.concat([table([[4.0], [6.0]], [0.9], task=2), table([[1.0], [1.0], [1.0]], [0.9], task=1)])
        bands = band(frame, ["task", "gamma"])
        assert list(bands.columns) == ["task", "gamma", "mean", "lower", "upper", "n"]
        assert bands["task"].tolist() == [1, 2]
        assert bands["mean"].tolist() == [1.0, 5.0]
        assert bands["n"].tolist() == [3, 2]
        assert bands["upper"].tolist() == pytest.approx([1.0, 5.0 + np.sqrt(2)])

    def test_one_run_has_a_mean_and_no_band(self):
        bands = band(table([[2.0]], [0.9], task=1), ["task"])
        assert bands["mean"].item() == 2.0
        assert bands[["lower", "upper"]].isna().to_numpy().all()

    def test_never_over_tasks(self):
        frame = pd.concat([table([[1.0], [2.0]], [0.9], task=task) for task in (1, 2)])
        with pytest.raises(ValueError, match=r"over runs.*gamma=0.9, run=0"):
            band(frame, ["gamma"])


class TestBestGamma:
    def test_minimises_the_mean_not_the_runs(self):
        # Run by run 0.1 is best twice of three times; the mean is smallest at 0.5.
        losses = [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [9.0, 1.0, 2.0]]
        assert best_gamma(table(losses, [0.1, 0.5, 0.9], task=1), ["task"]).to_dict("records") == [
            {"task": 1, "gamma": 0.5}
        ]

    def test_order_of_the_rows_does_not_matter(self):
        rng = np.random.default_rng(1)
        frame = pd.concat([table(rng.random((5, 4)), [0.0, 0.3, 0.6, 0.9], task=task) for task in (1, 2, 3)])
        shuffled = frame.sample(frac=1.0, random_state=2)
        pd.testing.assert_frame_equal(best_gamma(frame, ["task"]), best_gamma(shuffled, ["task"]))
        pd.testing.assert_frame_equal(best_gamma_band(frame, ["task"]), best_gamma_band(shuffled, ["task"]))

    def test_a_run_without_a_gamma_is_refused(self):
        frame = table([[1.0, 2.0], [1.0, 2.0]], [0.1, 0.9], task=3).iloc[:-1]
        with pytest.raises(ValueError, match="not every run has every gamma where task=3"):
            best_gamma(frame, ["task"])


class TestBestGammaBand:
    def test_two_opposed_runs(self):
        # The resample (first, first) has its minimum at 0, probability 1/4; the others, tie included, at 0.8.
        frame = table([[0.0, 1.0], [1.0, 0.0]], [0.0, 0.8], task=1)
        found = best_gamma_band(frame, ["task"])
        deviation = ((found["upper"] - found["lower"]) / 2).item()
        assert deviation == pytest.approx(0.8 * np.sqrt(3) / 4, rel=0.1)


def test_an_interval_is_written_in_one_way() -> None:
    assert Interval(0.4371, 0.4012, 0.473).text() == "0.437 [0.401, 0.473]"
    assert Interval(0.4371, -0.4, 0.473).text(2, signed=True) == "+0.44 [-0.40, +0.47]"
    assert Interval(0.4371, np.nan, np.nan).text() == "0.437"
    assert Interval(np.nan, np.nan, np.nan).text() == ""
