"""The planning that the page of the report does in the browser, held against that of this package."""

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from tests.support.settings import STUDIES

from pomrl.science.mdp import optimal_value, planning_loss
from pomrl.science.planners import PolicyIteration

pytestmark = pytest.mark.slow

GAMMA_EVAL = 0.99


@pytest.fixture(scope="module")
def script(browser: Browser) -> Iterator[Page]:
    """An empty page with the script that plans."""
    page = browser.new_page()
    page.add_script_tag(path=STUDIES / "pomrl2023" / "pages" / "planning.js")
    yield page
    page.close()


def test_losses_are_those_of_this_package(script: Page) -> None:
    runs = script.evaluate("""() => planning.draw(0.02, 20).map(run => {
        const P_hat = planning.estimate(run, 5, 0.25);
        return {...run, P_hat, losses: planning.losses(run, P_hat)};
    })""")
    P, prior, P_hat, R = (models(runs, name) for name in ("P", "prior", "P_hat", "R"))
    samples = np.array([run["samples"] for run in runs])[..., :5].reshape(20, 10, 2, 5)
    counts = (samples[..., None] == np.arange(10)).sum(-2)
    np.testing.assert_allclose(P_hat, 0.25 * prior + 0.75 * counts / 5, atol=1e-12)
    assert (P_hat[P == 0] == 0).all()
    gammas = np.array(script.evaluate("planning.GAMMAS"))
    policies = PolicyIteration().plan(P_hat, R, gammas)
    losses = planning_loss(P, R, policies, GAMMA_EVAL, optimal_value(P, R, GAMMA_EVAL))
    np.testing.assert_allclose([run["losses"] for run in runs], losses, atol=1e-8)


def test_the_largest_tied_gamma_is_best(script: Page) -> None:
    actual = script.evaluate("planning.experiment(planning.draw(0, 1), 5, 1)")  # so that the model is known
    assert actual["mean"][-2:] == [0, 0]
    assert actual["best"] == len(actual["mean"]) - 1


def test_weights_and_equivalent_models_match_the_theory(script: Page) -> None:
    np.testing.assert_allclose(script.evaluate("planning.weights(0.25, 0.66)"), [1 / 2, 1 / 6, 1 / 3])
    run = script.evaluate("planning.draw(0.01, 1).map(run => ({P: run.P, mixed: planning.equivalent(run.P, 0.6)}))[0]")
    expected = 0.6 / GAMMA_EVAL * np.reshape(run["P"], (10, 2, 10)) + (1.0 - 0.6 / GAMMA_EVAL) * 0.1
    np.testing.assert_allclose(np.reshape(run["mixed"], (10, 2, 10)), expected)


def test_tasks_have_the_similarity_of_the_slider(script: Page) -> None:
    runs = script.evaluate("planning.draw(0.03)")
    P, prior = (models(runs, name) for name in ("P", "prior"))
    np.testing.assert_allclose(P.sum(-1), 1.0)
    spread = prior * (1 - prior)
    variance = 0.03 * spread / spread.max((1, 2, 3), keepdims=True)
    assert ((P - prior) ** 2).sum() == pytest.approx(variance.sum(), rel=0.05)


def models(runs: list[dict], name: str) -> np.ndarray:
    """Return an array of the models, or of the rewards, of all runs, by state and action."""
    rows = np.array([run[name] for run in runs])
    return rows.reshape(len(rows), 10, 2, *rows.shape[2:])
