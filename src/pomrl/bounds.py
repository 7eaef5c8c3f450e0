"""The paper's bounds on planning loss and average regret, as functions of the problem.

As printed, and as docs/theory.md proves them; ERRATA.md says where they differ. Everything here is elementwise: all
arguments broadcast. Rewards lie in [0, 1]; with rewards in [0, R_max] every bound on a loss is to be multiplied by
R_max. Theory's sigma is an almost-sure bound, |P_t - P_o| <= sigma, and not a standard deviation.
"""

from typing import Any, Unpack

import numpy as np

from pomrl.concentration import Numbers, Setting, Values, model_error_bound

__all__ = [
    "average_regret_bound",
    "average_uncertainty",
    "jiang_bound",
    "model_error_bound",
    "planning_loss_bound",
    "regret_constant",
    "regret_order",
    "regret_upper_bound",
    "upper_bound_gamma",
]


def regret_constant(t: Numbers, m: Numbers, sigma: Numbers) -> Values:
    """C_t of Sec. 6.2, which scales the uncertainty term of the bound in task t.

    C_t = ((sigma + 1/sqrt(m)) / sqrt(t) + sigma^2 m / sqrt(m)) / (sigma^2 m + 1). The schedules take a standard
    deviation for sigma.
    """
    sigma, root = np.asarray(sigma, float), np.sqrt(np.asarray(m, float))
    x = sigma**2 * m
    return ((sigma + 1.0 / root) / np.sqrt(t) + x / root) / (x + 1.0)


def upper_bound_gamma(C: Numbers, variant: str = "corrected") -> Values:
    """gamma_tilde of Prop. 1: where U(gamma) (`regret_upper_bound`) is least on [0, 1).

    `corrected`: U' has the sign of C (1 + gamma) - (1 - gamma), so that the minimum is (1 - C)/(1 + C) for C < 1, and 0
    for C >= 1. `as_printed`: the proposition, which for C < 1/2 puts the minimum at 1.
    Raises ValueError for another variant.
    """
    if variant not in ("corrected", "as_printed"):
        raise ValueError(f"variant={variant!r}: it has to be 'corrected' or 'as_printed'")
    C = np.asarray(C, float)
    gamma = np.maximum((1.0 - C) / (1.0 + C), 0.0)
    return np.where(C < 0.5, 1.0, gamma) if variant == "as_printed" else gamma


def regret_upper_bound(gamma: Numbers, C: Numbers, gamma_eval: Numbers) -> Values:
    """U(gamma) = 1/(1 - gamma_eval) - 1/(1 - gamma) + C gamma/(1 - gamma)^2 of Sec. 6.2, a discounted reward.

    The first two terms are the bias of planning with gamma for gamma_eval, the last one the uncertainty about the
    model. Below 1/(1 - gamma_eval), which no loss exceeds, exactly for gamma < 1/(1 + C).
    Raises ValueError unless 0 <= gamma <= gamma_eval < 1: for a larger gamma the bias is not bounded so.
    """
    gamma, gamma_eval = np.asarray(gamma, float), np.asarray(gamma_eval, float)
    if not np.all((gamma >= 0) & (gamma <= gamma_eval) & (gamma_eval < 1)):
        raise ValueError(f"gamma={gamma}, gamma_eval={gamma_eval}: they have to be 0 <= gamma <= gamma_eval < 1")
    return 1.0 / (1.0 - gamma_eval) - 1.0 / (1.0 - gamma) + C * gamma / (1.0 - gamma) ** 2


def jiang_bound(
    *,
    gamma: Numbers,
    gamma_eval: Numbers,
    m: Numbers,
    S: Numbers,
    A: Numbers,
    delta: Numbers,
    Sigma: Numbers = 1.0,
    log_policies: Numbers | None = None,
) -> Values:
    """Theorem 1 (Jiang et al.): what the planning loss of one task estimated by frequencies stays below.

    With probability 1 - delta. U(gamma) with C = 2 sqrt(Sigma log(2 S A |Pi|/delta)/(2 m)). log_policies is the
    logarithm of the number of policies that can be optimal at gamma; S log(A), that of all policies, where it is not
    given. The bound is proven for Sigma = 1; the smaller diameters that the paper puts there make it false (ERRATA.md:
    E9).
    """
    count = S * np.log(A) if log_policies is None else log_policies
    log_term = np.log(2.0 * np.asarray(S, float) * A / delta) + count
    return regret_upper_bound(gamma, 2.0 * np.sqrt(Sigma * log_term / (2.0 * np.asarray(m, float))), gamma_eval)


def planning_loss_bound(*, gamma: Numbers, gamma_eval: Numbers, t: Numbers, **setting: Unpack[Setting]) -> Values:
    """What the planning loss of task t stays below, with probability 1 - delta.

    In all tasks t = 1..T and for all gamma at once. U(gamma) with C = S times `model_error_bound`, where assumptions,
    units, delta and the other arguments are explained; `as_printed` has C = 2 S times it, for it does not use that the
    rows of both models sum to 1.
    Raises ValueError for what `model_error_bound` and `regret_upper_bound` refuse.
    """
    C = _per_unit_of_error(setting) * model_error_bound(t=t, **setting)
    return regret_upper_bound(gamma, C, gamma_eval)


def average_regret_bound(*, gamma: Numbers, gamma_eval: Numbers, **setting: Unpack[Setting]) -> Values:
    """Theorem 2, with its constants: what the planning loss averaged over tasks 1..T stays below.

    With probability 1 - delta, for all gamma at once. U(gamma) with C = `average_uncertainty`: the mean of
    `planning_loss_bound` over the tasks, task 1 included. At sigma = 0 it falls as 1/sqrt(m T), up to logarithms; for
    sigma > 0 it does not vanish with T (ERRATA.md: E7); at sigma = 1 the prior has next to no weight.
    Raises ValueError for what `planning_loss_bound` refuses.
    """
    return regret_upper_bound(gamma, average_uncertainty(**setting), gamma_eval)


def average_uncertainty(**setting: Unpack[Setting]) -> Values:
    """C of `average_regret_bound`: S (or 2 S as printed) times the mean of `model_error_bound` over t = 1..T.

    Memory grows with the product of the largest T and the number of values.
    """
    by_task: Any = {name: _with_tasks(value) for name, value in setting.items()}
    task = np.arange(1, int(np.max(setting["T"])) + 1)
    error = np.asarray(model_error_bound(t=np.minimum(task, by_task["T"]), **by_task))
    mean = error.mean(-1, where=np.broadcast_to(task <= by_task["T"], error.shape))
    return _per_unit_of_error(setting) * mean


def _with_tasks(value: object) -> object:
    """A number with an axis for the tasks; a name as it is."""
    return value if isinstance(value, str) else np.asarray(value)[..., None]


def _per_unit_of_error(setting: Setting) -> Values:
    """C over the model error: S, or 2 S as printed."""
    return np.asarray(setting["S"]) * (2.0 if setting.get("variant") == "as_printed" else 1.0)


def regret_order(*, m: Numbers, sigma: Numbers, T: Numbers, Sigma: Numbers = 1.0) -> Values:
    """What stands in the O-tilde of Theorem 2, without constants and logarithms.

    (sigma + (sigma + sqrt(sigma^2 + Sigma/m))/sqrt(T) + sigma^2 m sqrt(Sigma/m)) / (sigma^2 m + 1)
    """
    m, sigma = np.asarray(m, float), np.asarray(sigma, float)
    noise = np.asarray(Sigma) / m
    learned = (sigma + np.sqrt(sigma**2 + noise)) / np.sqrt(T)
    return (sigma + learned + sigma**2 * m * np.sqrt(noise)) / (sigma**2 * m + 1.0)
