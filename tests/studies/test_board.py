"""The board: the scores of learners, files of one's own and what is refused, and the treatment of sepsis."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.support.board import MINE, NAMES, folder, made_up, mine, write

from pomrl.components import check_component
from pomrl.study import tables
from pomrl_studies.board import checks, icu_sepsis, scores
from pomrl_studies.board.cells import board_cells, common_cells
from pomrl_studies.board.learner import Learner, own_learners, shipped_learners
from pomrl_studies.board.losses import problem_and_method

__all__ = ["folder"]


def learners(*names: str) -> list[Learner]:
    return [learner for name, learner in shipped_learners().items() if name in names]


@cache
def ranked(copied: str = "", factor: float = 1.0) -> list[scores.Score]:
    """Scores of the learners, and of one of the user's own whose losses are those of one of them, times a factor."""
    shipped = scores.by_learner(made_up(NAMES))
    own_rows = {name: replace(row, losses=factor * row.losses) for name, row in shipped.get(copied, {}).items()}
    own = [mine(Path("mine.py"))] if copied else []
    return scores.score([*learners(*NAMES), *own], shipped, {"Mine": own_rows})


# Scores


def test_ranks_and_losses_agree_with_scipy() -> None:
    table = scores.by_learner(made_up(NAMES))
    field = ("without_meta", "ada_pomrl", "aggregating", "tied_rows")
    means = np.array([[table[name][cell.name].losses.mean() for name in field] for cell in common_cells()])
    expected = dict(zip(field, stats.rankdata(means, axis=1).mean(0), strict=True))
    actual = {score.learner.name: score for score in ranked()}
    assert {name: pytest.approx(score.rank.estimate) for name, score in actual.items() if score.rank} == expected
    assert [actual[name].rank for name in ("oracle", "dong")] == [None, None]
    for name, reference in {"tied_rows": "without_meta", "dong": "ada_pomrl"}.items():
        for cell in common_cells():
            share = table[name][cell.name].losses.mean() / table[reference][cell.name].losses.mean()
            interval = actual[name].cells[cell.name].percent
            assert interval.estimate == pytest.approx(100.0 * share)
            assert interval.lower < interval.estimate < interval.upper


def test_comparisons_are_corrected_paired_t_tests() -> None:
    table, level = scores.by_learner(made_up(NAMES)), 0.05 / len(common_cells())
    for score in ranked():
        for cell in common_cells():
            a, b = table[score.learner.name][cell.name].losses, table["without_meta"][cell.name].losses
            sign = 0
            if score.learner.name != "without_meta":
                p = float(stats.ttest_rel(a, b).pvalue)
                sign = int(np.sign((a - b).mean())) if p < level else 0
            assert score.cells[cell.name].versus_none == sign


def test_adding_a_learner_moves_no_row() -> None:
    cells = common_cells()
    without = {score.learner.name: scores.flat(score, cells) for score in ranked()}
    with_mine = {score.learner.name: scores.flat(score, cells) for score in ranked("tied_rows", 0.01)}
    assert repr({name: with_mine[name] for name in without}) == repr(without)
    assert with_mine["Mine"]["rank"] == 1.0


def test_a_copy_of_a_learner_ties() -> None:
    """A copy has the rank of the learner and half a place more, because the learner is in the field of the copy."""
    by_name = {score.learner.name: score for score in ranked("ada_pomrl")}
    original, copy = by_name["ada_pomrl"], by_name["Mine"]
    assert original.rank
    assert copy.rank
    assert copy.rank.estimate == pytest.approx(original.rank.estimate + 0.5)
    assert [copy.count("versus_ada", sign) for sign in (-1, 1)] == [0, 0]
    assert copy.cells == original.cells


def test_profiles_are_shares_below_a_threshold() -> None:
    table = scores.by_learner(made_up(NAMES))
    share, lower, upper = scores.profiles(table, table["without_meta"])["tied_rows"]
    thresholds = [40.0, 100.0]
    for threshold in thresholds:
        is_below = [
            (table["tied_rows"][cell.name].losses <= threshold / 100 * table["without_meta"][cell.name].losses.mean())
            for cell in common_cells()
        ]
        index = int(np.flatnonzero(threshold == scores.THRESHOLDS)[0])
        assert share[index] == pytest.approx(np.mean(is_below))
        assert lower[index] <= share[index] <= upper[index]
    assert (np.diff(share) >= 0.0).all()


# A user's own learners


@pytest.mark.parametrize(
    ("estimate", "reason"),
    [
        ("np.full_like(batch.P_bar, np.nan)", "Mine: .*Mine"),
        (
            "np.repeat(batch.P_bar.mean(0, keepdims=True), len(batch.P_bar), 0)",
            "Mine: a run must not depend on the runs .* with sigma=0.01, T=4",
        ),
        ("1 / 0", "Mine: ZeroDivisionError with sigma=0.01, T=4: division by zero"),
    ],
)
def test_a_learner_is_refused_with_its_name(folder: Path, estimate: str, reason: str) -> None:
    (learner,) = own_learners(write(folder / "mine.py", MINE.format(estimate=estimate)))
    with pytest.raises(ValueError, match=reason):
        checks.check(learner)


def test_sound_learners_pass(folder: Path) -> None:
    checks.check(own_learners(write(folder / "mine.py", MINE.format(estimate="memory.P_o_hat")))[0])
    for learner in learners("ada_pomrl", "james_stein", "tied_rows", "posterior_gamma"):
        checks.check(learner)


@pytest.mark.parametrize(
    ("estimate", "is_used"),
    [
        ("truth.P_o", True),
        ("truth.variance / truth.variance.sum(-1, keepdims=True)", True),
        ("0.5 * batch.P_bar + 0.5 * memory.P_o_hat", False),
    ],
)
def test_the_use_of_the_truth_is_noticed(folder: Path, estimate: str, is_used: bool) -> None:
    (learner,) = own_learners(write(folder / "mine.py", MINE.format(estimate=estimate)))
    assert checks.uses_truth(learner) == is_used


def test_the_shipped_limits_alone_use_the_truth() -> None:
    for learner in shipped_learners().values():
        if learner.base is None:
            assert checks.uses_truth(learner) == learner.is_limit


KEYS = """
from pomrl.components import Batch, Field, Memory, ModelEstimator, Models, Truth

class Weighted(ModelEstimator):
    weight: float = Field(ge=0, le=1, description="the weight of the mean")

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        return self.weight * memory.P_o_hat + (1 - self.weight) * batch.P_bar
"""


def test_a_yaml_file_gives_keys(folder: Path) -> None:
    write(folder / "mine_keys.py", KEYS)
    with pytest.raises(
        ValueError,
        match=r"mine_keys\.py: Weighted: weight: Field required; set it in a file NAME\.yaml$",
    ):
        own_learners(folder / "mine_keys.py")
    text = "label: half\nestimator: {_target_: mine_keys.Weighted, weight: 0.5}\n"
    (learner,) = own_learners(write(folder / "half.yaml", text))
    assert (learner.name, learner.label, learner.settings["estimator"].weight) == ("half", "half", 0.5)
    (on_top,) = own_learners(write(folder / "top.yaml", "base: tied_rows\nagent: posterior_gamma\n"))
    assert on_top.settings == {"estimator": "tied_rows", "agent": "posterior_gamma"}


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("none.py", "x = 1\n", "must define a subclass of pomrl"),
        ("statistics.py", "x = 1\n", "another module is named statistics; rename the file"),
        ("broken.py", "1 / 0\n", r"broken\.py: the module broken must be importable, got ZeroDivisionError"),
        ("list.yaml", "- 1\n", r"must have keys, .* got \[1\]"),
        ("key.yaml", "sigma: 0.1\n", "unknown key 'sigma'; available: label, about"),
        ("text.yaml", "a: [1\n", "must be YAML in UTF-8: while parsing a flow sequence"),
        ("nothing.yaml", "label: mine\nbase: ada_pomrl\n", "must have at least one key of estimator, gamma_schedule"),
        (
            "groups.yaml",
            "estimator: pomrl\ngroups: [family]\n",
            r"groups\.yaml: groups\.0: Input should be 'families', .* got 'family'$",
        ),
        ("label.yaml", "estimator: pomrl\nlabel: [1]\n", r"label\.yaml: label: Input should be a valid string"),
        ("mine.txt", "x = 1\n", "must be an existing file"),
        ("base.yaml", "base: nobody\nagent: posterior_gamma\n", "base must be one of"),
    ],
)
def test_a_wrong_file_is_refused(folder: Path, name: str, text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        own_learners(write(folder / name, text))
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="must be an existing file"):
        own_learners(folder / "missing.py")


# ICU-Sepsis


@pytest.fixture
def hospital(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the data be those of a small hospital: two patients' states with one and two of three actions."""
    S, A = 5, 3
    P = np.random.default_rng(0).dirichlet(np.ones(S), (S, A))
    P[2:] = np.eye(S)[-1]
    np.savez(tmp_path / "dynamics.npz", tx_mat=P, d_0=[0.25, 0.75, 0.0, 0.0, 0.0])
    (tmp_path / "admissible_actions.txt").write_text("1 2 3 3 3\n1\n0 2\n0 1 2\n0 1 2\n0 1 2\n")
    monkeypatch.setattr(icu_sepsis, "data_file", lambda: tmp_path / "dynamics.npz")
    icu_sepsis._published.cache_clear()
    yield
    icu_sepsis._published.cache_clear()


@pytest.mark.usefixtures("hospital")
def test_hospitals_vary_around_the_published_model() -> None:
    published = np.load(icu_sepsis.data_file() or "")["tx_mat"]
    tasks = icu_sepsis.IcuSepsis(concentration=50.0)
    assert tasks.size == (5, 2)
    assert tasks.start == [0.25, 0.75, 0.0, 0.0, 0.0]
    mean = tasks.draw_mean(0, 0, 5, 2, None)
    np.testing.assert_allclose(mean.P_o[0], [published[0, 1], np.eye(5)[2]])
    np.testing.assert_allclose(mean.P_o[1], published[1, [0, 2]])
    np.testing.assert_allclose(mean.R[:2], mean.P_o[:2, :, 3])
    draws = tasks.draw([np.random.default_rng(1)], [mean], 4000)
    np.testing.assert_allclose(draws.P.mean((0, 1)), mean.P_o, atol=0.01)
    np.testing.assert_allclose(draws.P.var((0, 1)), tasks.variance(mean), atol=0.0005)
    assert (draws.P[..., 3] == draws.R).all()


@pytest.mark.usefixtures("hospital")
def test_action_priors_leave_inadmissible_actions() -> None:
    from pomrl.components import Batch, Memory, Truth

    mean = icu_sepsis.IcuSepsis().draw_mean(0, 0, 5, 2, None)
    counts = np.random.default_rng(2).multinomial(5, mean.P_o)[None].astype(float)
    batch = Batch.of_counts(counts, 5)
    truth = Truth(mean.P_o[None], mean.P_o[None])
    P_hat = icu_sepsis.ActionPrior(strength=5.0).estimate(Memory.initial(1, 5, 2), batch, truth)
    np.testing.assert_allclose(P_hat[0, 0], batch.P_bar[0, 0])
    pooled = batch.P_bar[0, 1].mean(0)
    np.testing.assert_allclose(P_hat[0, 1], 0.5 * batch.P_bar[0, 1] + 0.5 * pooled)


@pytest.mark.usefixtures("hospital")
def test_hospitals_and_action_priors_keep_contracts() -> None:
    """The contracts of estimators are checked with tasks of other sizes, which this one refuses."""
    hospitals = icu_sepsis.IcuSepsis(concentration=50.0)
    check_component(hospitals)
    problem, method = problem_and_method(shipped_learners()["without_meta"], {"T": 4})
    method = replace(method, estimator=icu_sepsis.ActionPrior())
    with pytest.raises(
        ValueError, match=r"task_distribution must be icu_sepsis with estimator=action_prior, got S = 10, A = 2"
    ):
        tables(problem, [method], [0])
    hospital_problem = replace(problem, S=5, A=2, sigma=None, task_distribution=hospitals)
    (joint,), *single = (tables(hospital_problem, [method], runs) for runs in (range(3), [0], [1], [2]))
    assert joint.equals(pd.concat([table for (table,) in single], ignore_index=True))


def test_without_gymnasium_its_cells_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    families = {cell.name.split()[0] for cell in common_cells()} - {cell.name.split()[0] for cell in board_cells()}
    assert families == {"frozen_lake", "frozen_lake_8x8", "cliff_walking"}


def test_the_cell_needs_its_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(icu_sepsis, "data_file", lambda: None)
    icu_sepsis._published.cache_clear()
    assert board_cells() == common_cells()
    with pytest.raises(ValueError, match=r"pip install 'pomrl\[icu-sepsis\]'"):
        _ = icu_sepsis.IcuSepsis().size
