"""Which experiments claims read, and the runs that are added until claims are decided."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.judging.conftest import Settings
from tests.support.worlds import BY_ID, CLAIMS, GAMMAS, MadeUp, as_in_the_paper

from pomrl import store
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sweeps import Setting
from pomrl.judging.basis import Basis
from pomrl.judging.budget import Case, Spending, decide
from pomrl.judging.claim import Claim, claim
from pomrl.judging.comparisons import less_in_shares, smaller_minimum
from pomrl.judging.verdict import Part, Verdict
from pomrl.results.losses import Losses, SweepLosses
from pomrl.running import cost


def in_a_world(basis: Basis, noise: float) -> MadeUp:
    """Read losses that are simulated, with the noise of run i the same however many runs are asked for."""
    means = {
        id(setting.experiment): as_in_the_paper(name, {k.rpartition(".")[2]: v for k, v in setting.varied.items()})
        for name, settings in basis.settings.items()
        for setting in settings
    }

    def losses(experiment: Experiment, runs: int) -> Losses:
        mean = means[id(experiment)]
        draws = np.random.default_rng(0).normal(size=(runs, *mean.shape))
        return Losses(mean + noise * draws, GAMMAS[-mean.shape[1] :])

    return MadeUp(make=losses)


ANALYSES = (20, 40, 80)


@pytest.fixture
def basis(settings: Settings) -> Basis:
    names = ("initial_similarity", "task_similarity")
    return Basis("printed", {name: settings[name] for name in names}, CLAIMS, ANALYSES)


def described(experiments: Sequence[Experiment]) -> set[tuple[str, float | None]]:
    return {(experiment.options["estimator"], experiment.problem.sigma) for experiment in experiments}


def with_runs(basis: Basis, runs: int) -> Basis:
    """Return the basis whose sweeps promise so many runs."""
    return replace(basis, settings={name: [replaced(one, runs) for one in of] for name, of in basis.settings.items()})


def with_problem(basis: Basis, **changes: int) -> Basis:
    """Return the basis whose experiments have another seed, or another number of trials."""

    def changed(setting: Setting) -> Setting:
        problem = replace(setting.experiment.problem, **changes)
        return replace(setting, experiment=replace(setting.experiment, problem=problem))

    return replace(basis, settings={name: [changed(setting) for setting in of] for name, of in basis.settings.items()})


def first_needs(basis: Basis, claim: Claim) -> list[Experiment]:
    case = Case(basis, basis.unjudged_outcome(claim))
    return case.needs(case.outcome.analyses[0])


def replaced(setting: Setting, runs: int) -> Setting:
    experiment = setting.experiment
    return replace(setting, experiment=replace(experiment, request=replace(experiment.request, runs=runs)))


class TestReading:
    @pytest.mark.parametrize(
        ("id", "parts", "expected"),
        [
            ("Q1.1", None, {("ada_pomrl", 0.01)}),
            ("Q3.1", None, {(name, sigma) for name in ("ada_pomrl", "without_meta") for sigma in (0.01, 0.047)}),
            ("A.2", [2], {("aggregating", 0.047)}),
            ("Q3.4", [6], {("ada_pomrl", 0.025), ("oracle", 0.025)}),
        ],
    )
    def test_a_claim_and_a_part_read_what_they_compare_and_nothing_else(
        self, basis: Basis, id: str, parts: list[int] | None, expected: set[tuple[str, float]]
    ) -> None:
        assert described(basis.experiments_of(BY_ID[id], parts)) == expected

    def test_the_smallest_of_losses_reads_all_of_them_and_a_share_its_whole(self, settings: Settings) -> None:
        """Whichever of them is the smallest in losses that are made up, and whatever their differences are there."""
        names = ("oracle", "pomrl", "ada_pomrl", "aggregating", "without_meta")

        @claim("X.1", "task_similarity")
        def smallest(sweep: SweepLosses) -> list[Part]:
            """The smallest loss is below 1."""
            losses = [sweep.at(sigma=0.01, estimator=name).regret for name in names]
            below = smaller_minimum(np.stack(losses, axis=1), np.ones((len(losses[0]), 1)), "smallest")
            return [below, less_in_shares(losses[0], losses[1], losses[2], "a share")]

        on = Basis("printed", {"task_similarity": settings["task_similarity"]}, [smallest], ANALYSES)
        assert described(on.experiments_of(smallest, [0])) == {(name, 0.01) for name in names}
        assert described(on.experiments_of(smallest, [1])) == {(name, 0.01) for name in names[:3]}
        first, *others = settings["task_similarity"]
        assert replace(on, settings={"task_similarity": [replaced(first, 7), *others]}).promised_runs(smallest) == 7


class TestDeciding:
    def outcomes(self, basis: Basis, budget: float, noise: float = 0.02) -> tuple[dict[str, Verdict], list[set[int]]]:
        asked: list[set[int]] = []

        def compute(experiments: Sequence[Experiment]) -> None:
            asked.append({experiment.request.runs for experiment in experiments})

        cases = decide([basis], budget, in_a_world(basis, noise), compute)
        return {case.outcome.claim.id: case.outcome.verdict for case in cases}, asked

    def test_what_is_clear_is_decided_at_the_first_analysis(self, basis: Basis) -> None:
        verdicts, asked = self.outcomes(basis, np.inf, noise=0.001)
        assert {id for id, verdict in verdicts.items() if verdict is not Verdict.HOLDS} <= {"Q1.2"}
        judged = (basis.unjudged_outcome(claim) for claim in basis.claims if claim.is_judged)
        assert asked[0] == {outcome.analyses[0] for outcome in judged}

    def test_without_a_budget_nothing_is_added(self, basis: Basis) -> None:
        verdicts, asked = self.outcomes(with_runs(basis, 10), 0.0)
        assert set(verdicts.values()) == {Verdict.UNDECIDED}
        assert not any(asked)

    def test_what_is_open_is_judged_at_every_analysis(self, basis: Basis) -> None:
        _, asked = self.outcomes(basis, np.inf, noise=0.5)
        assert [runs - {4000} for runs in asked if runs][: len(ANALYSES)] == [{runs} for runs in ANALYSES]

    def test_the_cheapest_claims_are_judged_to_the_end_before_dear_ones_begin(self, basis: Basis) -> None:
        """Even where the budget suffices for the first analyses of the cheap ones and of a dear one."""
        basis = with_runs(basis, 10)
        dear = with_problem(basis, trials=10_000)
        both = replace(basis, settings={name: [*of, *dear.settings[name]] for name, of in basis.settings.items()})
        cheap, of_dear = ([first_needs(on, claim) for claim in on.claims if claim.is_judged] for on in (basis, dear))
        promised = {store.signature(experiment): 10 for needs in (*cheap, *of_dear) for experiment in needs}
        spending = Spending(1e6, promised)
        of_one = min(map(spending.price, of_dear))
        assert all(map(spending.grant, cheap))
        budget = 1e6 - spending.budget + of_one + 1e-6
        asked: list[tuple[int, int]] = []

        def compute(experiments: Sequence[Experiment]) -> None:
            asked.extend((experiment.problem.trials, experiment.request.runs) for experiment in experiments)

        cases = decide([dear, basis], budget, in_a_world(both, 0.5), compute)
        assert {trials for trials, _ in asked} == {1}
        assert {runs for _, runs in asked} >= set(ANALYSES)
        assert {case.outcome.runs for case in cases if case.basis is dear} == {0}

    def test_variants_of_one_price_are_judged_together(self, basis: Basis) -> None:
        other = with_problem(basis, seed=9)
        both = replace(basis, settings={name: [*of, *other.settings[name]] for name, of in basis.settings.items()})
        asked: list[set[tuple[int, int]]] = []

        def compute(experiments: Sequence[Experiment]) -> None:
            asked.append({(experiment.request.runs, experiment.problem.seed) for experiment in experiments})

        decide([basis, other], np.inf, in_a_world(both, 0.5), compute)
        seed = basis.settings["task_similarity"][0].experiment.problem.seed
        assert all({(runs, seed), (runs, 9)} <= of_round for of_round, runs in zip(asked, ANALYSES, strict=False))

    def test_more_budget_changes_no_verdict(self, basis: Basis) -> None:
        less, more = (self.outcomes(basis, budget, noise=0.3)[0] for budget in (0.02, 10.0))
        assert all(more[id] is verdict for id, verdict in less.items() if verdict is not Verdict.UNDECIDED)
        assert list(more.values()).count(Verdict.UNDECIDED) <= list(less.values()).count(Verdict.UNDECIDED)


def test_a_budget_counts_runs_beyond_the_papers_once(basis: Basis) -> None:
    setting = basis.settings["initial_similarity"][0]
    experiment, more, most = (replaced(setting, runs).experiment for runs in (100, 300, 400))
    seconds = cost.seconds(experiment.problem, experiment.method, 200)
    spending = Spending(seconds * 1.01, {store.signature(experiment): 100})
    assert spending.grant([more, more])
    assert spending.grant([more])
    assert spending.budget == pytest.approx(seconds * 0.01)
    assert not spending.grant([most])
