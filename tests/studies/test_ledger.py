"""Test the ledger of differences between the paper's text and the authors' notebook."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pomrl import store
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.studies import find
from pomrl.configuration.sweeps import experiment
from pomrl.configuration.variants import Variant, VariantJob
from pomrl.results.intervals import difference
from pomrl.results.result import Result
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import TaskState, UpperBound
from pomrl_report import documents as pages
from pomrl_studies.pomrl2023.choices import choices, combine
from pomrl_studies.pomrl2023.ledger import CHECKS, FAMILY, LOSS, NotebookResults
from pomrl_studies.pomrl2023.pages import notebook
from pomrl_studies.pomrl2023.tasks_and_gains import LAST_TASKS

pytestmark = pytest.mark.slow

PAPER = find("pomrl2023")
VALUES = {name: PAPER.folder / "pages" / f"notebook_{name}.csv" for name in ("effects", "ladder")}
"""The files with the values of the document's tables."""

ESTIMATORS = ("oracle", "without_meta", "pomrl", "aggregating", "uniform_prior")
SCHEDULES = ("grid", "fixed", "dong", "upper_bound")
OPTIONS = [*((name, "grid") for name in ESTIMATORS), *(("ada_pomrl", name) for name in SCHEDULES)]


def overrides(variant: Variant, options: dict[str, str]) -> list[str]:
    return variant.overrides_of(VariantJob("", (), options))


class TestDifferences:
    @pytest.mark.parametrize(("estimator", "schedule"), OPTIONS)
    def test_all_choices_equal_the_computed_reading(self, estimator: str, schedule: str) -> None:
        options = {"estimator": estimator, "gamma_schedule": schedule}
        selected = [f"{group}={option}" for group, option in options.items()]
        changes = overrides(combine(choices()), options)
        combined, computed = (
            experiment(PUBLISHED, [*selected, *selection])
            for selection in (changes, ["reading=computed", "trials=100"])
        )
        assert store.signature(combined) == store.signature(computed)


class TestFamily:
    def test_the_family_contains_the_ladder(self) -> None:
        names = {variant.name for variant in PAPER.family(FAMILY).variants}
        names_of_choices = [choice.name for choice in choices()]
        assert {" + ".join(names_of_choices[:length]) for length in range(1, len(names_of_choices) + 1)} <= names
        assert {
            " + ".join(name for name in names_of_choices if name != "v2"),
            "repaired",
            *names_of_choices,
        } - names == {choice.name for choice in choices() if choice.needs}


class TestDocument:
    def test_differences_of_a_tenth_are_shown(self) -> None:
        losses = pd.read_csv(VALUES["effects"]).query("number == @LOSS")
        assert {*notebook.EFFECTS} == {*losses.loc[losses["estimate"].abs() >= 0.1, "difference"]}

    def test_every_applicable_difference_is_measured(self) -> None:
        measured = pd.read_csv(VALUES["effects"]).groupby("place")["difference"].unique()
        names = {choice.name for choice in choices()} - {"zeros"}  # five zeros in both at S = 10
        dependent = {choice.name for choice in choices() if choice.needs}
        assert set(measured["computed"]) == names
        assert set(measured["repaired"]) == names - dependent

    @pytest.mark.parametrize("name", ["v2", "lag", "exclusive"])
    def test_values_are_those_of_the_experiments(self, name: str) -> None:
        (choice,) = (choice for choice in choices() if choice.name == name)
        changed, default = (experiment(PUBLISHED, list(changes)) for changes in (choice.overrides, ()))
        before, after = map(Result.of_table, tables(default.problem, [default.method, changed.method], range(60)))
        expected = difference(before.tasks(LAST_TASKS), after.tasks(LAST_TASKS), paired=True)
        values = pd.read_csv(VALUES["effects"]).set_index(["difference", "number", "place"])
        actual = values.loc[(name, LOSS, "repaired"), ["estimate", "lower", "upper"]]
        np.testing.assert_allclose(actual, [expected.estimate, expected.lower, expected.upper], rtol=1e-5, atol=1e-8)

    def test_the_schedule_without_the_bug(self) -> None:
        """The schedule with the text's C_t and the printed cases gives gamma_eval in all tasks for sigma = 0.0129.

        For sigma^2 = 0.0137 it gives gamma_eval from task 2 on.
        """
        schedule = UpperBound(gamma_0=0.35, minimum="as_printed")

        def gammas(sigma: float) -> list[float]:
            states = [TaskState(t, 5, 10, 2, 0.99, np.zeros(1), np.array([sigma])) for t in range(1, 16)]
            return [schedule.select(state).item() for state in states]

        assert gammas(0.0129) == [0.99] * 15
        as_variance = gammas(0.0137**0.5)
        assert as_variance[0] < 0.99
        assert as_variance[1:] == [0.99] * 14

    def test_an_empty_store_names_the_command(self, empty_outputs: Path) -> None:
        (line,) = pages.renew(PAPER)
        assert line.startswith("pages/notebook.md is not renewed: ")
        assert "runs are stored; run `pomrl reproduce pomrl2023 --variants all`" in line


GAMMAS = np.array([0.5, 0.99])


def losses(level: float, at_half: float = 0.0) -> Result:
    """Return losses with a small spread over runs, falling in t at gamma_eval and constant at 0.5."""
    runs = 1 + 0.01 * np.arange(20)[:, None]
    at_eval = level * runs * np.linspace(2.0, 1.0, 15)
    return Result.of_losses(np.stack([np.full_like(at_eval, at_half) * runs, at_eval], axis=-1), GAMMAS)


def results(ada: float, uniform: float, without_meta: float, oracle: float) -> NotebookResults:
    levels = {"uniform_prior": uniform, "without_meta": without_meta, "oracle": oracle}
    other_losses = {(name, "fixed"): losses(level) for name, level in levels.items()}
    return NotebookResults({("ada_pomrl", "grid"): losses(ada, 10.0), **other_losses})


class TestLadder:
    def test_numbers_of_a_rung(self) -> None:
        actual = {check.name: check.value(results(1.0, 2.0, 5.0, 0.5)) for check in CHECKS}
        last = np.linspace(2.0, 1.0, 15)[10:].mean() * 1.095
        assert actual["ada-POMRL's loss, tasks 11 to 15"].estimate == pytest.approx(last)
        assert actual["fall from task 1 to task 15"].estimate == pytest.approx(1.095)
        assert actual["gain over no meta-learning, tasks 11 to 15"].estimate == pytest.approx(4 * last)
        assert actual["share of it from the uniform model"].estimate == pytest.approx(0.75)
        assert actual["1.1 oracle less ada-POMRL, tasks 11 to 15"].estimate == pytest.approx((0.55 - 1) * last)
        assert actual["γ*, tasks 11 to 15"].estimate == 0.99
        for interval in actual.values():
            assert interval.lower <= interval.estimate <= interval.upper
