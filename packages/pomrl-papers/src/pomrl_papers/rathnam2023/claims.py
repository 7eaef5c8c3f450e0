"""Claims on discounting as a prior, from the abstract alone."""

from itertools import product

import numpy as np
from jaxtyping import Float, Int

from pomrl.study import Exact, Part, Result, Student, SweepResults, claim, less, mean_difference, ratio, smaller_minimum
from pomrl_papers.rathnam2023.priors import least_error_weight

GAMMA_EVAL, M = 0.99, 8
"""The discount factor of evaluation and the mean number of transitions of a pair, in the sweeps."""

WEIGHTS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0)
"""Prior weights equivalent to the discount factors of the sweep `discounting`, in the same order."""

COMPARED_WEIGHTS = (0.9, 0.7, 0.5, 0.3, 0.1)
"""The weights compared for each of `PRIORS`."""

PRIORS = ("uniform", "first_state", "visited")


@claim("D1")
def policies_are_the_same() -> list[Part]:
    """Planning with gamma and the same prior of weight w in all pairs yields the policy of planning with gamma (1 - w).

    Abstract: "planning under a lower discount factor produces an identical optimal policy to planning using any prior
    [...] that has the same distribution for all states and actions".
    """
    rng = np.random.default_rng(3251)
    n, S, A = 2000, 10, 2
    P, R, q = rng.dirichlet(np.ones(S), (n, S, A)), rng.random((n, S, A)), rng.dirichlet(np.ones(S), n)
    gamma, weight = rng.uniform(0.5, 0.9, (n, 1, 1)), rng.random((n, 1, 1))
    mixed = weight[..., None] * q[:, None, None] + (1.0 - weight[..., None]) * P
    differ = (_policy(mixed, R, gamma) != _policy(P, R, gamma * (1.0 - weight))).any(1)
    return [Part("models in which the policies differ", Exact(float(differ.sum())), below=0.5)]


@claim("D2", "discounting", "same_weights")
def losses_are_the_same(discounting: SweepResults, priors: SweepResults) -> list[Part]:
    """With uneven data, too, the losses of the prior of D1 and of the smaller discount factor are equal to the last
    bit.

    Abstract: as D1, for policies of estimated models. Priors are uniform, on a single state, or the frequencies of
    next states, each with five weights.
    """
    by_gamma = discounting.at(data="unequal").average_curve[:, [WEIGHTS.index(weight) for weight in COMPARED_WEIGHTS]]
    claim_parts = []
    for prior in PRIORS:
        by_weight = np.stack([priors.at(prior=prior, weight=weight).regret for weight in COMPARED_WEIGHTS], axis=1)
        differ = _are_different(by_weight, by_gamma)
        claim_parts.append(Part(f"prior {prior}, runs with another loss", differ, below=1e-9))
    return claim_parts


@claim("D3", figures=("implied_prior",))
def the_prior_counts_more_where_data_do() -> list[Part]:
    """The prior of D1 is a Dirichlet prior that counts as more transitions in pairs with more transitions.

    Abstract: "In fact, it functions like a prior with stronger regularization on state-action pairs with more
    transition data."
    """
    rng = np.random.default_rng(3252)
    n, weight, S = rng.integers(1, 31, 1000), rng.uniform(0.0, 0.95, 1000), 10
    N, q = rng.multinomial(n, rng.dirichlet(np.ones(S), 1000)), rng.dirichlet(np.ones(S), 1000)
    mixed = weight[:, None] * q + (1.0 - weight[:, None]) * N / n[:, None]
    prior = implied_transitions(n, weight)[:, None]
    difference = np.abs((N + prior * q) / (n[:, None] + prior) - mixed).max()
    numbers = implied_transitions(np.arange(1, 31), 0.3)
    return [
        Part("largest difference of the two models", Exact(float(difference)), below=1e-12),
        Part("smallest increase of the prior with each transition", Exact(np.diff(numbers).min()), above=0.0),
    ]


@claim("D4", "discounting", "same_transitions", figures=("discounting_or_prior",))
def equal_data_make_no_difference(discounting: SweepResults, priors: SweepResults) -> list[Part]:
    """With the same amount of data in all pairs, a Dirichlet prior of any strength loses what a discount factor loses.

    Abstract: follows from the equivalence.
    """
    losses = _transition_curves(priors, "generative"), discounting.at(data="generative").average_curve
    return [Part("runs with another loss", _are_different(*losses), below=1e-9)]


@claim("D5", "discounting", "same_transitions", figures=("discounting_or_prior",))
def uneven_data_make_one(discounting: SweepResults, priors: SweepResults) -> list[Part]:
    """With uneven data the best prior of D4 loses less than the best discount factor.

    Abstract: "poor performance when the transition matrix is estimated from data sets with uneven amounts of data
    across state-action pairs".
    """
    best = _transition_curves(priors, "unequal"), discounting.at(data="unequal").average_curve
    return [smaller_minimum(*best, "smallest loss of a prior of the same transitions less that of a gamma")]


@claim("D6", figures=("implied_prior",))
def the_formula_has_the_least_error() -> list[Part]:
    """The weight of each pair by the formula has the least expected squared error of the estimated row.

    Abstract: "an explicit formula to set regularization parameters locally for individual state-action pairs".
    """
    weights, S = np.linspace(0.0, 1.0, 1001), 3
    distances = []
    for p, n in product(np.random.default_rng(3253).dirichlet(np.ones(S), 20), range(1, 7)):
        best = weights[_expected_error(p, n, weights).argmin()]
        distances.append(abs(best - least_error_weight((p**2).sum(), n, S)))
    return [Part("largest distance from the best weight", Exact(float(max(distances))), below=0.001)]


@claim("D7", "discounting", "own_weights", runs={"all_successors": 16_000}, figures=("discounting_or_prior",))
def own_weights_beat_every_gamma(discounting: SweepResults, own: SweepResults) -> list[Part]:
    """With uneven data a weight of each pair by the formula loses less than the best discount factor.

    Abstract: "We demonstrate the failures of discount regularization and how we remedy them using our
    state-action-specific method".
    """
    return [
        smaller_minimum(
            _own_weight_regret(own, "unequal")[:, None], discounting.at(data="unequal").average_curve, OWN_WEIGHTS_LABEL
        )
    ]


@claim("D8", "discounting", "own_weights")
def with_frequencies_plugged_in(discounting: SweepResults, own: SweepResults) -> list[Part]:
    """D7 also holds if the frequencies of a pair replace its unknown probabilities in the formula.

    Abstract: as above; it does not say how to replace unknown probabilities.
    """
    own_curves, by_gamma = (
        _own_weight_regret(own, "unequal", "frequencies"),
        discounting.at(data="unequal").average_curve,
    )
    return [smaller_minimum(own_curves[:, None], by_gamma, OWN_WEIGHTS_LABEL)]


@claim("D9", "discounting", "own_weights", figures=("discounting_or_prior",))
def the_advantage_is_that_of_uneven_data(discounting: SweepResults, own: SweepResults) -> list[Part]:
    """A weight for each pair gains more over the best discount factor with uneven than with even data.

    Abstract: as D5; a global parameter "leads to poor performance".
    """
    uneven, equal = (
        _own_weight_regret(own, data) - discounting.at(data=data).at_best_fixed() for data in ("unequal", "generative")
    )
    return [less(uneven, equal, f"{OWN_WEIGHTS_LABEL}: uneven data less equal data")]


@claim("D10", "discounting", "same_transitions", "own_weights", figures=("discounting_or_prior",), is_judged=False)
def other_priors(discounting: SweepResults, same: SweepResults, own: SweepResults) -> list[Part]:
    """How much more priors lose than the best discount factor, as a share of its loss.

    Beyond the abstract: own weights by the estimate of unknown probabilities, and the best prior with the same
    transitions in all pairs. The other half of the runs selects the best.
    """
    claim_parts = []
    for data, data_label in (("generative", "equal data"), ("unequal", "uneven data")):
        by_gamma = discounting.at(data=data)
        by_prior = Result.of_losses(_transition_curves(same, data)[:, None], by_gamma.gammas)
        losses = {
            f"own weights, {name}": _own_weight_regret(own, data, name)
            for name in ("posterior", "frequencies", "known")
        }
        losses["best prior of the same transitions"] = by_prior.at_best_fixed()
        claim_parts += [
            Part(f"{data_label}, {name}", ratio(loss, by_gamma.at_best_fixed())) for name, loss in losses.items()
        ]
    return claim_parts


OWN_WEIGHTS_LABEL = "loss with a weight of each pair less that with the best gamma"


def implied_transitions(
    n: Int[np.ndarray, "..."], weight: Float[np.ndarray, "..."] | float
) -> Float[np.ndarray, "..."]:
    """Return the transitions equivalent to a prior weight, given n transitions."""
    return weight * n / (1.0 - weight)


def _policy(
    P: Float[np.ndarray, "n S A S"], R: Float[np.ndarray, "n S A"], gamma: Float[np.ndarray, "n 1 1"]
) -> Int[np.ndarray, "n S"]:
    Q = R
    for _ in range(300):
        Q = R + gamma * (P @ Q.max(-1)[:, None, :, None])[..., 0]
    return Q.argmax(-1)


def _expected_error(p: Float[np.ndarray, " S"], n: int, weights: Float[np.ndarray, " W"]) -> Float[np.ndarray, " W"]:
    sequences = np.array(list(product(range(3), repeat=n)))
    frequencies = np.eye(3)[sequences].mean(1)
    estimates = weights[:, None, None] / 3 + (1.0 - weights[:, None, None]) * frequencies
    return ((estimates - p) ** 2).sum(-1) @ p[sequences].prod(1)


def _transition_curves(priors: SweepResults, data: str) -> Float[np.ndarray, "n G"]:
    return np.stack([priors.at(data=data, weight=weight).regret for weight in WEIGHTS], axis=1)


def _are_different(a: Float[np.ndarray, "n k"], b: Float[np.ndarray, "n k"]) -> Student:
    """Estimate the share of runs with any difference of losses.

    It is no `rate`, because equal losses in all runs are known to be equal. It is NaN for unknown losses.
    """
    differ = np.abs(np.sign(a - b)).max(1)
    return mean_difference(differ, np.zeros(len(differ)))


def _own_weight_regret(own: SweepResults, data: str, concentration: str = "posterior") -> Float[np.ndarray, " n"]:
    return own.at(data=data, concentration=concentration).regret
