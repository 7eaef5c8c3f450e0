"""Metrics: what they say, against direct computations, and what is stored of them."""

from contextlib import nullcontext
from dataclasses import fields, replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jaxtyping import Float
from numpy.testing import assert_allclose, assert_array_equal
from tests.support.settings import CONF

from pomrl import api, store
from pomrl.commands.audit import from_settings
from pomrl.configuration import sweeps
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import scientific_settings
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import experiment
from pomrl.contracts.agent import CERTAIN, UNEQUAL, task
from pomrl.contracts.component import ComponentContract, problem
from pomrl.drawing.drawing import Series
from pomrl.drawing.style import Look
from pomrl.results.losses import Losses
from pomrl.results.stored_sweeps import stored_sweep
from pomrl.running.ensuring import ensure
from pomrl.science.agents.least_squares import LeastSquares
from pomrl.science.checked import ComponentError
from pomrl.science.experiment import tables
from pomrl.science.loss_tables import MEASURED
from pomrl.science.mdp import Criterion, policy_value
from pomrl.science.metrics.metric import Metric, Outcome, PlanningLoss
from pomrl.science.metrics.shipped import (
    DistinctPolicies,
    ModelErrorL1,
    StartLoss,
    TrainingLoss,
    Value,
    WrongActions,
)
from pomrl.science.problem import check

OPTIONS = sorted(path.stem for path in (CONF / "metric").glob("*.yaml"))


class TestMetrics(ComponentContract):
    @pytest.fixture(params=OPTIONS)
    def component(self, request: pytest.FixtureRequest) -> Metric:
        return experiment(PUBLISHED, [f"metric={request.param}"]).method.metric

    def test_tasks_do_not_influence_one_another(self, component: Metric) -> None:
        outcome = outcomes()
        together = component.measure(outcome)
        for i in range(3):
            values = {field.name: getattr(outcome, field.name) for field in fields(outcome)}
            arrays = {name: each[[i]] for name, each in values.items() if isinstance(each, np.ndarray)}
            assert_array_equal(component.measure(replace(outcome, **arrays))[0], together[i])


def outcomes() -> Outcome:
    """Return three tasks with policies that are planned, but for one, which is drawn."""
    given, rng = task(), np.random.default_rng(5)
    P = rng.dirichlet(np.ones(4), (3, 4, 2))
    P[0, :, 1] = P[0, :, 0]
    R = given.R.copy()
    R[0, :, 1] = R[0, :, 0]  # every policy is optimal in the first task
    policy = given.plan(given.P_hat, given.gammas)
    policy[2, 1] = 1 - policy[2, 2]
    V_star = np.stack([best(P[i], R[i]) for i in range(3)])
    counts = given.batch.counts
    return Outcome(P, R, given.P_hat, given.R, counts, policy, given.gammas, V_star, Criterion(0.9))


def best(P: np.ndarray, R: np.ndarray) -> np.ndarray:
    return np.max([policy_value(P, R, np.array(each), 0.9) for each in product(range(2), repeat=4)], axis=0)


def test_values_and_losses_from_starts_are_means_over_them() -> None:
    outcome, start = outcomes(), [0.1, 0.0, 0.6, 0.3]
    for i, g in product(range(3), range(3)):
        V = policy_value(outcome.P[i], outcome.R[i], outcome.policy[i, g], 0.9)
        assert Value(start=start).measure(outcome)[i, g] == pytest.approx(V @ start, rel=1e-12)
        assert Value().measure(outcome)[i, g] == pytest.approx(V.mean(), rel=1e-12)
        assert StartLoss(start=start).measure(outcome)[i, g] == pytest.approx((outcome.V_star[i] - V) @ start, abs=1e-9)


def test_training_loss_is_the_loss_in_the_estimated_model() -> None:
    outcome = outcomes()
    found = TrainingLoss().measure(outcome)
    for i, g in product(range(3), range(3)):
        V = policy_value(outcome.P_hat[i], outcome.R_hat[i], outcome.policy[i, g], 0.9)
        assert found[i, g] == pytest.approx((best(outcome.P_hat[i], outcome.R_hat[i]) - V).max(), abs=1e-9)
    assert (found[:2, -1] == 0).all()  # planned there with gamma_eval


def test_wrong_actions_are_those_that_lose_and_not_those_that_are_tied() -> None:
    outcome = outcomes()
    found = WrongActions().measure(outcome)
    for i, g in product(range(3), range(3)):
        Q = outcome.R[i] + 0.9 * outcome.P[i] @ outcome.V_star[i]
        wrong = [Q[s].max() - Q[s, a] > 1e-9 for s, a in enumerate(outcome.policy[i, g])]
        assert found[i, g] == np.mean(wrong)
    assert (found[0] == 0).all()
    assert found[2].max() > 0


def test_distinct_policies_are_counted_up_to_each_discount_factor() -> None:
    outcome = outcomes()
    found = DistinctPolicies().measure(outcome)
    for i, g in product(range(3), range(3)):
        assert found[i, g] == len({tuple(policy) for policy in outcome.policy[i, : g + 1].tolist()})
    assert found.max() > 1
    there_and_back = outcome.policy[:, [0, 0, 0]].copy()
    there_and_back[:, 1, 0] = 1 - there_and_back[:, 1, 0]
    assert DistinctPolicies().measure(replace(outcome, policy=there_and_back)).tolist() == [[1.0, 2.0, 2.0]] * 3


def test_the_error_in_l1_is_that_of_the_worst_pair() -> None:
    outcome = outcomes()
    worst = [max(np.abs(outcome.P_hat[i, s, a] - outcome.P[i, s, a]).sum() for s in range(4) for a in range(2))
             for i in range(3)]  # fmt: skip
    assert_allclose(ModelErrorL1().measure(outcome), np.transpose([worst] * 3), rtol=1e-12)


@pytest.mark.parametrize("changes", [{}, UNEQUAL, {"loss": "mean"}], ids=str)
def test_the_loss_as_a_metric_is_the_column_of_the_loss(changes: dict[str, Any]) -> None:
    class Loss(PlanningLoss):
        """The planning loss, as a metric that is not the default one."""

    of_problem = replace(problem(), **changes)
    for method in (CERTAIN, replace(CERTAIN, agent=LeastSquares())):
        (table,) = tables(of_problem, [replace(method, metric=Loss())], range(3))
        (plain,) = tables(of_problem, [method], range(3))
        pd.testing.assert_frame_equal(table.drop(columns=MEASURED), plain, check_exact=True)
        assert_allclose(table[MEASURED], plain["planning_loss"], rtol=1e-12, atol=1e-12)


class Wrong(Metric):
    """Returns what no metric may."""

    what: str

    def measure(self, outcome: Outcome) -> Float[np.ndarray, "M G"]:
        found = np.zeros(outcome.gamma.shape)
        found[1, 2] = np.nan
        return found if self.what == "nan" else found[:, :1]


@pytest.mark.parametrize(
    ("what", "why"), [("nan", r"measure: \[1, 2\] = nan is not finite"), ("shape", r"shape \(12, 1\)")]
)
def test_what_is_no_metric_is_refused(what: str, why: str) -> None:
    with pytest.raises(ComponentError, match=why):
        tables(problem(), [replace(CERTAIN, metric=Wrong(what=what))], range(3))


@pytest.mark.parametrize("start", [[1.0], [0.5] * 6])
def test_starts_that_are_no_distribution_over_states_are_refused(start: list[float]) -> None:
    with pytest.raises(ValueError, match="6 probabilities that sum to 1"):
        check(problem(), replace(CERTAIN, metric=Value(start=start)), range(1))


def compute(*words: str) -> Experiment:
    asked = experiment(PUBLISHED, ["T=2", "S=4", "runs=6", "execution.workers=1", *words])
    ensure([asked], lambda _: nullcontext(lambda _: None))
    return asked


def contents(folder: Path) -> dict[str, str]:
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


class TestWhatIsStored:
    @pytest.fixture(autouse=True)
    def outputs(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))

    def test_a_metric_that_is_added_changes_no_byte_of_what_is_stored(self) -> None:
        stored = store.lookup(compute())
        before = contents(stored.folder)
        with_metric = store.lookup(compute("metric=value"))
        assert contents(stored.folder) == before
        assert with_metric.folder != stored.folder
        pd.testing.assert_frame_equal(with_metric.table().drop(columns=MEASURED), stored.table(), check_exact=True)
        assert list(with_metric.table()) == [*stored.table(), MEASURED]
        assert with_metric.faults() == []

    def test_settings_have_a_metric_unless_it_is_the_default(self) -> None:
        plain, measured = (scientific_settings(experiment(PUBLISHED, words)) for words in ([], ["metric=value"]))
        assert measured.keys() - plain.keys() == {"metric"}

    def test_losses_and_tables_have_the_metric(self) -> None:
        plain, measured = compute(), compute("metric=wrong_actions")
        found = Losses.of_experiment(measured, 6)
        column = store.load(measured)[MEASURED].to_numpy()
        assert_array_equal(found.loss.ravel(), column)
        row = api.table(y="wrong_actions")
        assert row["mean"].item() == pytest.approx(found.regret.mean())
        assert api.table()["mean"].item() == pytest.approx(Losses.of_experiment(plain, 6).regret.mean())
        assert_array_equal(api.load(S=4, T=2)["planning_loss"], store.load(plain)["planning_loss"])
        assert api.plot(y="wrong_actions").axes[0].get_ylabel() == "Wrong actions"

    def test_figures_and_claims_of_a_sweep_over_metrics_have_each_in_the_place_of_the_loss(self) -> None:
        wanted = sweeps.sweep(PUBLISHED, None, further=["metric=planning_loss,value", "T=2", "S=4", "runs=6"])
        ensure([setting.experiment for setting in wanted], lambda _: nullcontext(lambda _: None))
        stored = {"mine": stored_sweep(wanted)}
        rows = {
            name: Series(Look("", ""), "mine", {"metric": name}).rows(stored) for name in ("planning_loss", "value")
        }
        of_loss, of_value = (Losses.of_experiment(setting.experiment, 6).loss.ravel() for setting in wanted)
        assert_array_equal(rows["planning_loss"]["planning_loss"], of_loss)
        assert_array_equal(rows["value"]["planning_loss"], of_value)
        assert of_value.min() > of_loss.max()

    def test_a_schedule_that_chooses_in_hindsight_chooses_by_the_loss(self) -> None:
        compute("metric=value")
        asked = compute("metric=value", "gamma_schedule=dynamic_best")
        table = store.load(asked)
        grid = store.lookup(asked).table()
        mean = grid.groupby(["task", "gamma"])["planning_loss"].mean()
        for t, rows in table.groupby("task"):
            (gamma,) = rows["gamma"].unique()
            assert mean[t, gamma] == pytest.approx(mean[t].min())
            chosen = grid.query("task == @t and gamma == @gamma")
            assert_array_equal(rows[MEASURED], chosen[MEASURED])
        assert_array_equal(Losses.of_experiment(asked, 6).loss.ravel(), table[MEASURED])

    def test_what_is_stored_is_made_again_from_its_settings(self) -> None:
        for words in ([], ["metric=value"], ["agent=least_squares", "metric=start_loss"]):
            asked = compute(*words)
            again = from_settings(store.lookup(asked))
            assert store.signature(again) == store.signature(asked)

    def test_a_table_without_the_metric_of_its_settings_is_refused(self) -> None:
        plain, measured = compute(), compute("metric=value")
        store.add_blocks(store.lookup(measured), [(range(6), store.load(plain))], replace=True)
        with pytest.raises(store.StoreError, match="its columns are not those of a table of results"):
            store.lookup(measured).table()
