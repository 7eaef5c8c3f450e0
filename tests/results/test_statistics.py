import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pomrl.results.intervals import band, best_gamma, best_gamma_band, half_width


def table(losses, gammas, **settings) -> pd.DataFrame:
    """Rows of losses[n, G], with further columns."""
    n, G = np.shape(losses)
    columns = {"run": np.repeat(np.arange(n), G), "gamma": np.tile(gammas, n), "planning_loss": np.ravel(losses)}
    return pd.DataFrame({**settings, **columns}).astype({"planning_loss": float})


class TestBand:
    def test_known_values(self):
        frame = table([[1.0], [2.0], [3.0], [6.0]], [0.9], task=1)  # mean 3, squared deviations 4 + 1 + 0 + 9
        sd = np.sqrt(14 / 3)
        (row,) = band(frame, ["task"]).to_dict("records")
        assert row == pytest.approx({"task": 1, "mean": 3.0, "lower": 3.0 - sd, "upper": 3.0 + sd, "n": 4})
        (row,) = band(frame, ["task"], kind="se").to_dict("records")
        assert row == pytest.approx({"task": 1, "mean": 3.0, "lower": 3.0 - sd / 2, "upper": 3.0 + sd / 2, "n": 4})

    def test_confidence_bands_are_students(self):
        sample = np.random.default_rng(0).normal(size=(7, 1))
        low, high = stats.ttest_1samp(sample[:, 0], 0.0).confidence_interval()
        assert 2 * half_width(sample) == pytest.approx(high - low)
        assert band(table(sample, [0.9], task=1), ["task"], kind="ci")[["lower", "upper"]].to_numpy() == pytest.approx(
            np.array([[low, high]])
        )
        assert np.isnan(half_width(sample[:1])).all()

    def test_never_over_tasks(self):
        frame = pd.concat([table([[1.0], [2.0]], [0.9], task=task) for task in (1, 2)])
        with pytest.raises(ValueError, match=r"one row for each run.*gamma=0.9, run=0"):
            band(frame, ["gamma"])


class TestBestGamma:
    def test_a_run_without_a_gamma_is_refused(self):
        frame = table([[1.0, 2.0], [1.0, 2.0]], [0.1, 0.9], task=3).iloc[:-1]
        with pytest.raises(
            ValueError, match=r"every run must have every gamma, got no loss for run=1, gamma=0\.9 where task=3"
        ):
            best_gamma(frame, ["task"])


class TestBestGammaBand:
    def test_two_opposed_runs(self):
        # The resample (first, first) has its minimum at 0, probability 1/4; the others, tie included, at 0.8.
        frame = table([[0.0, 1.0], [1.0, 0.0]], [0.0, 0.8], task=1)
        bands = best_gamma_band(frame, ["task"])
        deviation = ((bands["upper"] - bands["lower"]) / 2).item()
        assert deviation == pytest.approx(0.8 * np.sqrt(3) / 4, rel=0.1)

    def test_intervals_contain_gamma_star(self):
        gammas = np.arange(201) / 201
        losses = (np.arange(201)[:, None] + np.arange(201)) % 201  # all means tie, and a resample chooses any
        (row,) = best_gamma_band(table(losses, gammas, task=1), ["task"], kind="ci").to_dict("records")
        assert row["mean"] == row["upper"] == gammas[-1]
