"""Claims of the studies of other papers: their rules on losses that are made up so that they hold, or fail."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from tests.support.synthetic import AXES
from tests.support.worlds import GAMMAS, holds, noisy_sweep, verdict

from pomrl.configuration.studies import find
from pomrl.judging.claim import claims_of
from pomrl.results.sweep_results import SweepResults
from pomrl_papers.amit2020.claims import AGENTS, EQUIVALENT_PENALTIES, GAMMA_EVAL, GRID_AGENTS, TRAJECTORIES
from pomrl_papers.horizons.claims import PROBLEMS, TRANSITIONS
from pomrl_papers.jiang2015 import claims as jiang2015
from pomrl_papers.rathnam2023.claims import COMPARED_WEIGHTS, PRIORS, WEIGHTS
from verdicts.parts import Verdict

CLAIMS = {f"{study} {claim.id}": claim for study in ("amit2020", "horizons", "jiang2015", "rathnam2023")
          for claim in claims_of(find(study))}  # fmt: skip

HOLDS, NOT = Verdict.HOLDS, Verdict.DOES_NOT_HOLD


def parabola(best: float, gammas: np.ndarray = GAMMAS) -> np.ndarray:
    return 0.1 + (gammas - best) ** 2


class TestAmit2020:
    @pytest.mark.parametrize(("claim", "agents"), [("D1", AGENTS), ("D2", GRID_AGENTS)])
    def test_short_horizons_must_win_for_every_learner(self, claim: str, agents: Iterable[str]) -> None:
        def world(long: str) -> SweepResults:
            axes = {"agent": agents, "m": TRAJECTORIES}
            return noisy_sweep(axes, lambda agent, m: parabola(GAMMA_EVAL if m >= 16 or agent == long else 0.5), GAMMAS)

        assert holds(CLAIMS[f"amit2020 {claim}"], world(""))
        assert not holds(CLAIMS[f"amit2020 {claim}"], world("lstd"))

    @pytest.mark.parametrize("claim", ["D3", "D4"])
    @pytest.mark.parametrize("best", [(0.3, 0.5, 0.7, 0.9), (0.9, 0.7, 0.5, 0.3)])
    def test_more_data_need_longer_horizons(self, claim: str, best: tuple[float, ...]) -> None:
        axes = {"agent": AGENTS, "m": TRAJECTORIES}
        sweep = noisy_sweep(axes, lambda agent, m: parabola(best[TRAJECTORIES.index(m)]), GAMMAS)
        assert holds(CLAIMS[f"amit2020 {claim}"], sweep) == (best[0] < best[-1])

    @pytest.mark.parametrize("shift", [0.0, 0.01])
    def test_equal_penalties_have_equal_losses(self, shift: float) -> None:
        """The loss with a weight at gamma_eval is that without one at the discount factor that equals it, or not."""
        equivalent = {l2: parabola(0.3)[np.abs(GAMMAS - gamma).argmin()] for l2, gamma in EQUIVALENT_PENALTIES.items()}
        sweep = noisy_sweep(
            {"l2": [0, *EQUIVALENT_PENALTIES]},
            lambda l2: parabola(0.3) if l2 == 0 else equivalent[l2] + shift + 0 * GAMMAS,
            GAMMAS,
        )
        assert holds(CLAIMS["amit2020 D6"], sweep) == (shift == 0)

    @pytest.mark.parametrize(("helps", "beaten"), [(True, True), (True, False), (False, True)])
    def test_penalties_are_compared_with_the_best_gamma(self, helps: bool, beaten: bool) -> None:
        """Without a penalty the loss at gamma_eval is 0.34, and 0.1 or 0.5 at the best gamma; with one 0.2 or 0.4."""
        without = np.array([0.1 if beaten else 0.5, *[0.5] * 19, 0.34])
        axes = {"l2": [0.0001, 0.01], "m": TRAJECTORIES}
        sweep = noisy_sweep(axes, lambda l2, m: without if l2 == 0.0001 else np.full(21, 0.2 if helps else 0.4), GAMMAS)
        assert holds(CLAIMS["amit2020 D7"], sweep, sweep) == helps
        assert holds(CLAIMS["amit2020 D8"], sweep, sweep) == beaten


def by_number(best: Iterable[float], gammas: np.ndarray = jiang2015.GAMMAS, level: float = 0.0) -> SweepResults:
    """Return losses whose means are parabolas with their minima at these discount factors."""
    minima = dict(zip(jiang2015.TRAJECTORIES, best, strict=True))
    return noisy_sweep({"m": minima}, lambda m: level + parabola(minima[m], gammas), gammas)


def at_chosen_gamma(level: float) -> SweepResults:
    """Return losses at the best gamma that cross-validation chose, and so much more."""
    return by_number([0.5] * 5, np.array([0.5]), level)


GROWING, FALLING = by_number((0.3, 0.5, 0.65, 0.85, 0.95)), by_number((0.99, 0.95, 0.85, 0.65, 0.3))
ZERO, SHORT, LONG = (by_number([best] * 5) for best in (0.0, 0.5, jiang2015.GAMMA_EVAL))
BOUNDED, BEYOND = (
    noisy_sweep({"m": (5, 20, 100)}, lambda _, base_loss=base_loss: base_loss + GAMMAS, GAMMAS)
    for base_loss in (0.0, 1e6)
)


class TestJiang2015:
    @pytest.mark.parametrize(
        ("claim", "true", "false"),
        [
            *((claim, [GROWING], [FALLING]) for claim in ("J1", "J3", "J4")),
            ("J2", [GROWING], [ZERO]),
            ("J5", [SHORT, LONG], [LONG, LONG]),  # overfitting needs both losses
            ("J5", [SHORT, LONG], [SHORT, SHORT]),
            ("J6", [SHORT, at_chosen_gamma(0.05)], [SHORT, at_chosen_gamma(1.0)]),
            ("J7", [SHORT, at_chosen_gamma(0.0)], [SHORT, at_chosen_gamma(0.05)]),
            ("J12", [BOUNDED], [BEYOND]),
        ],
    )
    def test_each_claim_holds_in_one_world_only(
        self, claim: str, true: list[SweepResults], false: list[SweepResults]
    ) -> None:
        assert holds(CLAIMS[f"jiang2015 {claim}"], *true)
        assert not holds(CLAIMS[f"jiang2015 {claim}"], *false)


OF_WEIGHTS = {weight: 0.99**2 * (0.4 - weight) ** 2 for weight in WEIGHTS}
CURVE = np.array([*OF_WEIGHTS.values()])
ZEROS = dict.fromkeys(("posterior", "frequencies", "known"), 0.0)


def with_data(equal: float, uneven: float, **axis: Mapping[Any, Any]) -> SweepResults:
    """Return losses of both kinds of data, to which those of the values of another axis are added."""
    level = {"generative": equal, "unequal": uneven}
    values = next(iter(axis.values()), {None: CURVE})
    return noisy_sweep({"data": level, **axis}, lambda data, value=None: level[data] + values[value], GAMMAS)


class TestRathnam2023:
    @pytest.mark.parametrize("error", [0.0, 1e-12])
    def test_equal_losses_are_equal_bit_by_bit(self, error: float) -> None:
        axes = {"prior": PRIORS, "weight": COMPARED_WEIGHTS}
        same = noisy_sweep(axes, lambda _, weight: 0.5 + OF_WEIGHTS[weight] + error, GAMMAS)
        discounting, transitions = with_data(0.5, 0.5), with_data(0.5 + error, 0.5, weight=OF_WEIGHTS)
        assert holds(CLAIMS["rathnam2023 D2"], discounting, same) == (error == 0.0)
        assert holds(CLAIMS["rathnam2023 D4"], discounting, transitions) == (error == 0.0)

    @pytest.mark.parametrize(("uneven", "expected"), [(0.4, True), (0.6, False)])
    @pytest.mark.parametrize("claim", ["D5", "D7", "D8", "D9"])
    def test_the_best_losses_are_compared(self, claim: str, uneven: float, expected: bool) -> None:
        axis = {"weight": OF_WEIGHTS} if claim == "D5" else {"concentration": ZEROS}
        compared = with_data(0.5, uneven, **axis)
        assert holds(CLAIMS[f"rathnam2023 {claim}"], with_data(0.5, 0.5), compared) == expected


class TestHorizons:
    @pytest.mark.parametrize("name", ["frequencies", "penalties", "weights", "priors", "posteriors", "schedules"])
    def test_sweeps_have_the_cells_of_claims(self, name: str) -> None:
        assert (tuple(AXES[name]["task_distribution"]), tuple(AXES[name]["m"])) == (PROBLEMS, TRANSITIONS)

    @pytest.mark.parametrize(
        ("id", "expected", "where", "levels"),
        [
            *(("A1", expected, where, {"cross_validated_gamma": loss})
              for expected, where, loss in ((HOLDS, 1.0, 0.9), (HOLDS, 0.6, 0.9), (NOT, 1.0, 1.1))),
            *((id, expected, 0.6, {option: loss})
              for id, option in (("A2", "penalties"), ("A3", "weights"), ("A4", "upper_bound"), ("A5", "tied_rows"))
              for expected, loss in ((HOLDS, 0.9), (NOT, 1.1))),
            ("A5", NOT, 1.0, {"tied_rows": 0.9, "cross_validated_gamma": 0.8}),
            ("A6", HOLDS, 1.0, {"posteriors": 1.0}),
            ("A6", NOT, 0.1, {"posteriors": 1.1}),
            ("A7", HOLDS, 1.0, {"posteriors": 0.9}),
            ("A7", NOT, 1.0, {"posteriors": 0.9, "dong": 0.8}),
        ],
    )  # fmt: skip
    def test_losses_are_compared_in_cells(
        self, id: str, expected: Verdict, where: float, levels: dict[str, float]
    ) -> None:
        """Losses are 1, but where `levels` has a sweep or an option, in this share of the problems."""

        def sweep(name: str) -> SweepResults:
            def mean(*values: str) -> float:
                changed = {*values} & {*PROBLEMS[: round(where * len(PROBLEMS))]}
                return next((levels[option] for option in (name, *values) if option in levels and changed), 1.0)

            return noisy_sweep(AXES[name], mean, GAMMAS[-1:])

        claim = CLAIMS[f"horizons {id}"]
        assert verdict(claim, *map(sweep, claim.sweeps)) is expected
