"""Claims of the study `beyond`: their rules on losses that are made up."""

from collections.abc import Mapping

import numpy as np
import pytest
from tests.support.synthetic import AXES
from tests.support.worlds import OURS, as_claimed, noisy_sweep, verdict

from pomrl.judging.claim import JudgedClaim
from pomrl_studies.beyond.claims.families import FAMILIES, SPREADS
from pomrl_studies.beyond.claims.horizons_and_priors import SIGMAS
from verdicts.parts import Verdict

HOLDS, NOT = Verdict.HOLDS, Verdict.DOES_NOT_HOLD
GAMMAS = np.array([0.5, 0.9, 0.95, 0.99])
BEYOND = {claim.id: claim for claim in OURS}
H5 = BEYOND["H5"]
ALL, FIRST_FIVE = dict.fromkeys(FAMILIES, 0.1), dict.fromkeys(FAMILIES[:5], 0.1)
ROWS_MOVE = dict.fromkeys(("inventory", "queue", "forest", "frozen_lake_8x8"), 0.1)


class TestFamilies:
    def judge(self, id: str, grows: tuple[str, ...] = (), **added: Mapping[str, float]) -> Verdict:
        """Judge a claim; `added` is what is added, by family, to the loss at gamma_eval of an estimator or schedule."""

        def mean(family: str, _: float, name: str = "mse_optimal") -> np.ndarray:
            curve = np.tile([1.3, 1.2, 1.1, 1.0 + added.get(name, {}).get(family, 0.0)], (15, 1))
            if name == "ada_pomrl" and family in grows:
                curve[:5, 0], curve[5:10, 1] = 0.5, 0.5
            return curve

        axes = {"task_distribution": FAMILIES, "spread": SPREADS}
        axes_of_sweeps = {
            "families": {"estimator": ("ada_pomrl", "without_meta", "empirical_bayes", "exact_posterior")},
            "families_schedules": {"gamma_schedule": ("upper_bound",)},
            "forest_mixing": {},
        }
        return verdict(
            BEYOND[id], *(noisy_sweep(axes | axes_of_sweeps[name], mean, GAMMAS) for name in BEYOND[id].sweeps)
        )

    @pytest.mark.parametrize("name", ["families", "families_schedules"])
    def test_sweeps_have_the_families_of_claims(self, name: str) -> None:
        assert tuple(AXES[name]["task_distribution"]) == FAMILIES
        assert tuple(AXES[name]["task_distribution.spread"]) == SPREADS

    @pytest.mark.parametrize(
        ("id", "expected", "added"),
        [
            ("M1", HOLDS, {"without_meta": ALL}),
            ("M1", NOT, {"without_meta": ALL, "ada_pomrl": {"forest": 0.2}}),
            ("M2", HOLDS, {"upper_bound": ALL | {"garnet": -0.1}}),
            ("M2", NOT, {"upper_bound": ALL}),
            ("M4", HOLDS, {}),
            ("M4", NOT, {"exact_posterior": {"queue": 0.2}}),
            ("M5", HOLDS, {"upper_bound": FIRST_FIVE}),
            ("M5", NOT, {"upper_bound": dict.fromkeys(FAMILIES, -0.1) | dict.fromkeys(FAMILIES[:4], 0.1)}),
            ("M6", HOLDS, {"ada_pomrl": {"forest": 0.1}, "mse_optimal": {"forest": -0.1}}),
            ("M6", NOT, {"ada_pomrl": {"forest": -0.1}, "mse_optimal": {"forest": -0.1}}),
            ("M6", NOT, {"ada_pomrl": {"forest": 0.1}, "mse_optimal": {"forest": 0.1}}),
            ("M7", HOLDS, {"empirical_bayes": ROWS_MOVE}),
            ("M7", NOT, {"empirical_bayes": ROWS_MOVE | {"queue": -0.1}}),
            ("M7", NOT, {"empirical_bayes": ROWS_MOVE, "without_meta": {"forest": 0.2}}),
        ],
    )
    def test_the_families_of_a_claim_decide_it(self, id: str, expected: Verdict, added: dict) -> None:
        assert self.judge(id, **added) is expected

    def test_horizons_must_grow_in_most_families(self) -> None:
        assert self.judge("M3", grows=FAMILIES[:5]) is HOLDS
        assert self.judge("M3", grows=FAMILIES[:4]) is not HOLDS


class TestReadings:
    """H5, which is about two sweeps: that of the text has two readings, and that of the notebook is the third."""

    def judge(self, best: tuple[str | float, ...] = ()) -> dict[str, Verdict]:
        """Return the verdict under each reading, where a learner of the paper is best at one sigma of one reading."""

        def mean(*key: str | float) -> float:
            return 0.8 if key == best else 1.0 - 0.1 * (key[-1] == "empirical_bayes")

        axes = ({key.rpartition(".")[2]: values for key, values in AXES[name].items()} for name in H5.sweeps)
        estimates = H5.parts(
            {name: noisy_sweep(axis, mean, GAMMAS[-1:]) for name, axis in zip(H5.sweeps, axes, strict=True)}
        )
        assert len(estimates) == 27
        return JudgedClaim(H5, 200).judge(estimates).verdicts

    def test_it_holds_where_empirical_bayes_is_best(self) -> None:
        assert self.judge() == dict.fromkeys(("printed", "repaired", "computed"), HOLDS)

    @pytest.mark.parametrize("estimator", ["pomrl", "ada_pomrl", "aggregating"])
    @pytest.mark.parametrize(
        ("reading", "setting"),
        [
            *(("printed", ("printed", sigma)) for sigma in SIGMAS),
            *(("repaired", ("repaired", sigma)) for sigma in SIGMAS),
            *(("computed", (sigma,)) for sigma in SIGMAS),
        ],
    )
    def test_one_better_learner_refutes_one_reading(self, reading: str, setting: tuple, estimator: str) -> None:
        expected = dict.fromkeys(("printed", "repaired", "computed"), HOLDS) | {reading: NOT}
        assert self.judge((*setting, estimator)) == expected


class TestAssumptions:
    @pytest.mark.parametrize(("cost", "expected"), [(0.04, [True, True, True]), (0.06, [True, True, False])])
    def test_forgetting_may_cost_five_per_cent(self, cost: float, expected: list[bool]) -> None:
        forgetting = {"stationary": 1.0 + cost, "drift": 0.8, "switch": 0.8}
        axes = {"stream": forgetting, "estimator": ("ada_pomrl", "ada_pomrl_forgetting")}
        sweep = noisy_sweep(axes, lambda stream, name: forgetting[stream] if "forgetting" in name else 1.0, GAMMAS[-1:])
        assert as_claimed(BEYOND["N1"], sweep) == expected

    def test_own_numbers_must_win_in_both_distributions(self) -> None:
        axes = {"numbers": ("extremes", "geometric"), "estimator": ("ada_pomrl",), "samples": ("visits", "m")}
        with_own = {"extremes": 0.3, "geometric": 0.6}
        sweep = noisy_sweep(
            axes | {"weights": ("tasks",)},
            lambda numbers, _, samples, __: with_own[numbers] if samples == "visits" else 0.5,
            GAMMAS[-1:],
        )
        assert as_claimed(BEYOND["N2"], sweep) == [True, False]

    def test_unknown_rewards_are_judged_beside_known_ones(self) -> None:
        """The losses are made such that all three claims hold with known rewards and none with those of own samples."""
        order = {"oracle": 0.1, "without_meta": 0.9, "pomrl": 0.2, "ada_pomrl": 0.3}
        learning = np.where(np.arange(15)[:, None] < 5, [0.7, 0.8, 0.9], [0.0, -0.05, -0.1])

        def mean(model: str, name: str) -> np.ndarray:
            return order[name] + learning * ((model, name) == ("known", "ada_pomrl"))

        sweep = noisy_sweep({"reward_model": ("known", "own"), "estimator": order}, mean, GAMMAS[[0, 1, 3]])
        actual = as_claimed(BEYOND["U1"], sweep)
        assert actual == [True] * 6 + [False, True, True, True, True, False]
