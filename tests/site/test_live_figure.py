"""The figure computed in the first page of the site has the mean losses of this package."""

from collections.abc import Iterator

import numpy as np
import pytest
from docs.build.home import LEARNERS, SCRIPTS
from playwright.sync_api import Browser, Page
from tests.support.settings import ROOT

from pomrl.study import PUBLISHED, experiment, tables

pytestmark = pytest.mark.slow

RUNS = 400

CHANGES: list[dict[str, float]] = [
    {},
    *({"sigma": sigma} for sigma in (0.025, 0.047)),
    *({"m": m} for m in (1, 20)),
    {"T": 15},
    *({"S": S} for S in (7, 20)),
    *({"gamma": gamma} for gamma in (0.0, 0.5)),
    {"sigma": 0.025, "m": 10, "T": 4, "S": 15, "gamma": 0.9},
    {"sigma": 0.002, "m": 2, "T": 4, "gamma": 0.95},
]
"""Settings other than those of the first sweep with six tasks."""


@pytest.fixture(scope="module")
def script(browser: Browser) -> Iterator[Page]:
    """An empty page with the scripts that compute the figure."""
    page = browser.new_page()
    for path in SCRIPTS[1:3]:
        page.add_script_tag(path=ROOT / path)
    yield page
    page.close()


def test_the_similarity_is_the_largest_sample_variance(script: Page) -> None:
    estimates = np.random.default_rng(0).random((6, 20))  # of five earlier tasks, and of the task itself
    squares = ((estimates[:5] - estimates[:5].mean(0)) ** 2).sum(0)
    similarity = "([squares, t]) => live.similarity(squares, t)"
    assert script.evaluate(similarity, [squares.tolist(), 6]) == pytest.approx(estimates[:5].var(0, ddof=1).max())
    assert [script.evaluate(similarity, [squares.tolist(), t]) for t in (1, 2)] == [0.25, 0.25]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_mean_losses_are_those_of_the_library(script: Page, change: dict[str, float]) -> None:
    settings = {"sigma": 0.01, "m": 5, "T": 6, "S": 10, "gamma": 0.99} | change
    assert script.evaluate("live.LEARNERS") == [*LEARNERS]
    in_page = np.array(script.evaluate("settings => live.compute(settings, 0, 400)", settings)).mean(1)
    for learner, losses in zip(LEARNERS, in_page, strict=True):
        fixed = {"gamma_schedule": "fixed", "gamma_schedule.gamma": settings["gamma"], "estimator": learner}
        keys = {key: value for key, value in settings.items() if key != "gamma"} | fixed
        composed = experiment(PUBLISHED, [f"{key}={value}" for key, value in keys.items()])
        (table,) = tables(composed.problem, [composed.method], range(RUNS))
        expected = table.groupby("run")["planning_loss"].mean().to_numpy()
        error = np.hypot(losses.std(ddof=1), expected.std(ddof=1)) / np.sqrt(RUNS)
        assert abs(losses.mean() - expected.mean()) < 4.0 * error, learner
