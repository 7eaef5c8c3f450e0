"""The paper's bounds on model error, planning loss and average regret.

Each bound has a version as printed and versions proven on the page `theory`; Theorem 3 as printed is wrong (errata: E2,
E3). All functions are elementwise. Rewards lie in [0, 1]; for rewards in [0, R_max], multiply bounds on losses by
R_max. The radius is the sigma of the theorems: |P_t - P_o| <= radius almost surely. It is not a standard deviation.
"""

from typing import Any, NotRequired, TypedDict, Unpack

import numpy as np

from pomrl.science.estimators.pomrl import Prior, paper_mixing_rate
from pomrl.science.gamma_schedules import Numbers, Values
from pomrl.science.gamma_schedules import regret_constant as regret_constant
from pomrl.science.gamma_schedules import regret_upper_bound as regret_upper_bound
from pomrl.science.gamma_schedules import upper_bound_gamma as upper_bound_gamma

VERSIONS = ("as_printed", "corrected", "sharpened")
"""The versions of Theorem 3: as in the paper, where it is wrong, and two proven ones."""

REPAIRED = "repaired"
"""The version of Theorem 3 with one misprint repaired; supported by simulations, not proven."""

PRIORS: tuple[Prior, ...] = ("exclusive", "inclusive", "known")
"""The priors, in this order: mean of the earlier batches, mean with the task's own batch, true mean model."""


class BoundArguments(TypedDict):
    """The arguments shared by all bounds."""

    m: Numbers
    """The number of sampled transitions for each (s, a) in each task."""
    radius: Numbers
    """The almost-sure bound on |P_t - P_o|, at least 0."""
    S: Numbers
    A: Numbers
    T: Numbers
    delta: Numbers
    """The probability that the bound fails in any entry of any task, in (0, 1)."""
    version: NotRequired[str]
    """One of `VERSIONS`, or `REPAIRED`; `corrected` by default."""
    prior: NotRequired[str]
    """One of `PRIORS`; `inclusive` by default."""
    plugged: NotRequired[Numbers]
    """The value of sigma in the paper's mixing rate, by default the radius. It can be a standard deviation; 0 gives the
    prior weight 1, infinity weight 0."""
    Sigma: NotRequired[Numbers]
    """The diameter of the set of models, at most 1 (the default); for `as_printed` and `repaired`."""


def model_error_bound(*, t: Numbers, **arguments: Unpack[BoundArguments]) -> Values:
    """Bound the largest error |P_hat_t - P_t| of POMRL(sigma) (Theorem 3).

    The bound holds for all s, a, s' and tasks t = 1..T jointly, with probability at least 1 - delta. Tasks must be
    independent, with mean P_o and |P_t - P_o| <= radius almost surely. Bounds above 1 are vacuous.

    Let w be the weight of the batches before task t: 0 in task 1, then alpha_t, or alpha_t (t - 1)/t for the prior
    `inclusive`. The versions are:

    - `corrected`, for all mixing rates jointly: w (sqrt(L/(2 m (t-1))) + radius sqrt(2 L/(t-1)) + radius)
      + (1 - w) sqrt(L/(2 m)). Here L = log(6 S^2 A T/delta).
    - `sharpened`, for mixing rates fixed in advance:
      w radius + sqrt(2 L (w^2 (radius^2 + 1/(4 m))/(t-1) + (1 - w)^2/(4 m))), L = log(2 S^2 A T/delta).
    - both with the prior `known`: alpha_t radius + (1 - alpha_t) sqrt(L/(2 m)), L = log(2 S^2 A T/delta).
    - `as_printed`: Theorem 3, independent of t and prior. It does not hold.
    - `repaired`: Theorem 3 with x/(x + 1), x = radius^2 m, as in Theorem 2, instead of x/(2 x + 1). It holds in the
      simulations of the study `pomrl2023`.

    Args:
        t: The number of the task, from 1 to T.
        **arguments: See `BoundArguments`.

    Raises:
        ValueError: version or prior is unknown, or t, radius or delta is out of range.
    """
    version, prior = arguments.get("version", "corrected"), arguments.get("prior", "inclusive")
    _check(t, arguments, version, prior)
    if version in ("as_printed", REPAIRED):
        return _theorem_3(arguments, 1.0 if version == REPAIRED else 2.0) + 0.0 * np.asarray(t)
    m, radius = np.asarray(arguments["m"], float), np.asarray(arguments["radius"], float)
    entries = _entries(arguments)
    past = np.maximum(np.asarray(t, float) - 1.0, 1.0)  # in task 1 the weight is 0
    weight = _weight_of_the_past(t, m, arguments.get("plugged", radius), prior)
    log_ratio = np.log(2.0 * entries / arguments["delta"])
    if prior == "known":
        return weight * radius + (1.0 - weight) * np.sqrt(log_ratio / (2.0 * m))
    if version == "sharpened":
        proxy = weight**2 * (radius**2 + 1.0 / (4.0 * m)) / past + (1.0 - weight) ** 2 / (4.0 * m)
        return weight * radius + np.sqrt(2.0 * log_ratio * proxy)
    L = log_ratio + np.log(3.0)
    prior_error = np.sqrt(L / (2.0 * m * past)) + radius * np.sqrt(2.0 * L / past) + radius
    return weight * prior_error + (1.0 - weight) * np.sqrt(L / (2.0 * m))


def _entries(arguments: BoundArguments) -> Values:
    return np.square(arguments["S"], dtype=float) * arguments["A"] * arguments["T"]


def _weight_of_the_past(t: Numbers, m: Numbers, plugged: Numbers, prior: str) -> Values:
    t = np.asarray(t, float)  # the weight of tasks before t, or of the known mean
    alpha = np.asarray(paper_mixing_rate(np.square(plugged, dtype=float) * m, t))
    if prior == "inclusive":
        return alpha * (t - 1.0) / t
    return alpha if prior == "known" else np.where(t > 1, alpha, 0.0)


def _theorem_3(arguments: BoundArguments, factor: float) -> Values:
    """Return Theorem 3's bound, with weight x/(factor x + 1) of the term B."""
    m, radius, T = (np.asarray(arguments[name], float) for name in ("m", "radius", "T"))
    delta, Sigma, entries = arguments["delta"], np.asarray(arguments.get("Sigma", 1.0), float), _entries(arguments)
    x = radius**2 * m
    spread = radius**2 + Sigma * np.log(6.0 * T**2 / delta) ** 2 / m
    A_1 = np.sqrt(np.log(6.0 * T / delta) * np.log(entries / delta) * spread / T)
    A_2 = radius * np.sqrt(np.log(3.0 * entries / delta) / T)
    B = np.sqrt(Sigma * np.log(3.0 * entries / delta) / (2.0 * m))
    return (A_1 + A_2 + 2.0 * radius) / (x + 1.0) + x / (factor * x + 1.0) * B


def _check(t: Numbers, arguments: BoundArguments, version: str, prior: str) -> None:
    for name, value, options in (("version", version, (*VERSIONS, REPAIRED)), ("prior", prior, PRIORS)):
        if value not in options:
            raise ValueError(f"unknown {name} {value!r}; available: {', '.join(options)}")
    delta, radius, T = (np.asarray(arguments[name]) for name in ("delta", "radius", "T"))
    _check_delta(delta)
    if not np.all(radius >= 0):
        raise ValueError(f"radius must be at least 0, got {radius}")
    if not np.all((np.asarray(t) >= 1) & (np.asarray(t) <= T)):
        raise ValueError(f"t must be at least 1 and at most T={T}, got {t}")


def _check_delta(delta: Numbers) -> None:
    if not np.all((np.asarray(delta) > 0) & (np.asarray(delta) < 1)):
        raise ValueError(f"delta must be above 0 and below 1, got {delta}")


def horizon_bias(gamma: Numbers, gamma_eval: Numbers) -> Values:
    """Bound the cost of planning with a smaller gamma (Eq. 13, Lemma 2).

        (γ_eval - γ) / ((1 - γ_eval) (1 - γ))

    No policy's value at gamma_eval exceeds its value at gamma by more, in discounted reward.

    Raises:
        ValueError: Unless 0 <= gamma <= gamma_eval < 1.
    """
    gamma, gamma_eval = np.asarray(gamma, float), np.asarray(gamma_eval, float)
    if not np.all((gamma >= 0) & (gamma <= gamma_eval) & (gamma_eval < 1)):
        raise ValueError(f"gamma must be in [0, gamma_eval], and gamma_eval below 1, got {gamma} and {gamma_eval}")
    return (gamma_eval - gamma) / ((1.0 - gamma_eval) * (1.0 - gamma))


def policy_class_constant(
    *, m: Numbers, S: Numbers, A: Numbers, policies: Numbers, delta: Numbers, Sigma: Numbers = 1.0
) -> Values:
    """Return the constant C of Theorem 1 (Eq. 1; Jiang et al. 2015, Theorem 2).

        C = 2 √(Σ log(2 S A N/δ) / (2 m))

    `policies` is N, the number of policies optimal at gamma in some model. Each pair has m transitions. The theorem
    holds for Sigma = 1, not for the diameter of a set of models (errata: E9).

    Raises:
        ValueError: delta is not above 0 and below 1.
    """
    _check_delta(delta)
    m, pairs = np.asarray(m, float), np.asarray(S, float) * A
    return 2.0 * np.sqrt(Sigma * np.log(2.0 * pairs * policies / delta) / (2.0 * m))


def single_task_loss_bound(gamma: Numbers, gamma_eval: Numbers, C: Numbers) -> Values:
    """Bound the planning loss of one task by Theorem 1 (Eq. 1).

    C is `policy_class_constant`. The bound is `horizon_bias` plus C γ/(1 - γ)², in discounted reward.

    Raises:
        ValueError: As in `horizon_bias`.
    """
    gamma = np.asarray(gamma, float)
    return horizon_bias(gamma, gamma_eval) + C * gamma / (1.0 - gamma) ** 2


def planning_loss_bound(
    *, gamma: Numbers, gamma_eval: Numbers, t: Numbers, **arguments: Unpack[BoundArguments]
) -> Values:
    """Bound the planning loss of task t, in discounted reward.

    The bound is U(gamma) with C = S `model_error_bound`. The factor is 2 S for `as_printed` and `repaired`, because the
    paper does not use that rows sum to 1. Proven versions hold for all tasks and gamma jointly with probability at
    least 1 - delta.

    Raises:
        ValueError: As in `model_error_bound` and `regret_upper_bound`.
    """
    C = _per_unit_of_error(arguments) * model_error_bound(t=t, **arguments)
    return regret_upper_bound(gamma, C, gamma_eval)


def average_regret_bound(*, gamma: Numbers, gamma_eval: Numbers, **arguments: Unpack[BoundArguments]) -> Values:
    """Bound the mean planning loss of tasks 1..T, in discounted reward (Theorem 2).

    The bound is U(gamma) with C = `average_uncertainty`. Proven versions hold for all gamma jointly with probability
    at least 1 - delta. For radius = 0 the bound falls as 1/sqrt(m T), up to logarithms. For radius > 0 it does not
    vanish with T (errata: E7).

    Raises:
        ValueError: As in `planning_loss_bound`.
    """
    return regret_upper_bound(gamma, average_uncertainty(**arguments), gamma_eval)


def average_uncertainty(**arguments: Unpack[BoundArguments]) -> Values:
    """Return the constant C of `average_regret_bound`.

    C is S (2 S for `as_printed` and `repaired`) times the mean of `model_error_bound` over tasks t = 1..T.

    Raises:
        ValueError: As in `model_error_bound`.
    """
    by_task: Any = {name: x if isinstance(x, str) else np.asarray(x)[..., None] for name, x in arguments.items()}
    task = np.arange(1, int(np.max(arguments["T"])) + 1)
    error = np.asarray(model_error_bound(t=np.minimum(task, by_task["T"]), **by_task))
    mean = error.mean(-1, where=np.broadcast_to(task <= by_task["T"], error.shape))
    return _per_unit_of_error(arguments) * mean


def _per_unit_of_error(arguments: BoundArguments) -> Values:
    return np.asarray(arguments["S"]) * (2.0 if arguments.get("version") in ("as_printed", REPAIRED) else 1.0)


def regret_order(*, m: Numbers, radius: Numbers, T: Numbers, Sigma: Numbers = 1.0) -> Values:
    """Return the order of the average regret in Theorem 2, without logarithms.

    It is (radius + (radius + sqrt(radius^2 + Sigma/m))/sqrt(T) + radius^2 m sqrt(Sigma/m)) / (radius^2 m + 1).
    """
    m, radius = np.asarray(m, float), np.asarray(radius, float)
    noise = np.asarray(Sigma) / m
    learned = (radius + np.sqrt(radius**2 + noise)) / np.sqrt(T)
    return (radius + learned + radius**2 * m * np.sqrt(noise)) / (radius**2 * m + 1.0)
