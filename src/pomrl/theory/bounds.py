"""The paper's bounds on planning loss and average regret, as functions of the problem.

The module has them as printed, and as docs/theory.md proves them; ERRATA.md says where they differ. All functions are
elementwise: their arguments broadcast. Rewards lie in [0, 1]; with rewards in [0, R_max] every bound on a loss is to be
multiplied by R_max. sigma is an almost-sure bound here, |P_t - P_o| <= sigma, and not a standard deviation.
"""

from typing import Any, Unpack

import numpy as np

from pomrl.science.upper_bound import Numbers, Values, regret_upper_bound
from pomrl.theory.concentration import REPAIRED, BoundArguments, model_error_bound


def jiang_bound(*, gamma: Numbers, gamma_eval: Numbers, **arguments: Numbers) -> Values:
    """Return the bound of Theorem 1 (Jiang et al.) on the planning loss of one task estimated by frequencies.

    It is a discounted reward and holds with probability at least 1 - delta. It is U(gamma) with C equal to
    `single_task_uncertainty`, which explains the arguments besides the discount factors.

    Args:
        gamma: Discount factor that is planned with, in [0, gamma_eval].
        gamma_eval: Discount factor at which policies are judged, below 1.
        arguments: The arguments of `single_task_uncertainty`.

    Raises:
        ValueError: The discount factors are not 0 <= gamma <= gamma_eval < 1.
    """
    return regret_upper_bound(gamma, single_task_uncertainty(**arguments), gamma_eval)


def single_task_uncertainty(
    *, m: Numbers, S: Numbers, A: Numbers, delta: Numbers, Sigma: Numbers = 1.0, log_policies: Numbers | None = None
) -> Values:
    """Return the constant C of `jiang_bound`, 2 sqrt(Sigma log(2 S A |Pi|/delta)/(2 m)), without a unit.

    Args:
        m: Number of transitions that are sampled for each (s, a).
        S: Number of states.
        A: Number of actions.
        delta: Probability that the bound may fail, strictly between 0 and 1.
        Sigma: Diameter of the set of models. The bound is proven for 1 only; the smaller diameters that the paper puts
            there make it false (ERRATA.md: E9).
        log_policies: Logarithm of the number |Pi| of policies that can be optimal at gamma; by default S log(A), that
            of the number of all policies.
    """
    m, S, A = (np.asarray(number, float) for number in (m, S, A))
    log_term = np.log(2.0 * S * A / delta) + (S * np.log(A) if log_policies is None else log_policies)
    return 2.0 * np.sqrt(Sigma * log_term / (2.0 * m))


def planning_loss_bound(
    *, gamma: Numbers, gamma_eval: Numbers, t: Numbers, **arguments: Unpack[BoundArguments]
) -> Values:
    """Return a bound on the planning loss of task t, a discounted reward.

    It holds with probability at least 1 - delta in all tasks t = 1..T and for all gamma at once. It is U(gamma) with C
    equal to S times `model_error_bound`, which explains its assumptions and the arguments besides the discount factors.
    The variant `as_printed` has 2 S in the place of S, because it does not use that the rows of both models sum to 1.

    Raises:
        ValueError: `model_error_bound` or `regret_upper_bound` refuses an argument.
    """
    C = _per_unit_of_error(arguments) * model_error_bound(t=t, **arguments)
    return regret_upper_bound(gamma, C, gamma_eval)


def average_regret_bound(*, gamma: Numbers, gamma_eval: Numbers, **arguments: Unpack[BoundArguments]) -> Values:
    """Return the bound of Theorem 2, with its constants, on the planning loss averaged over tasks 1..T.

    It is a discounted reward and holds with probability at least 1 - delta for all gamma at once. It is U(gamma) with C
    equal to `average_uncertainty`, that is the mean of `planning_loss_bound` over the tasks, task 1 included. For
    sigma = 0 it falls as 1/sqrt(m T), up to logarithms; for sigma > 0 it does not vanish with T (ERRATA.md: E7); for
    sigma = 1 the prior has next to no weight.

    Raises:
        ValueError: `planning_loss_bound` refuses an argument.
    """
    return regret_upper_bound(gamma, average_uncertainty(**arguments), gamma_eval)


def average_uncertainty(**arguments: Unpack[BoundArguments]) -> Values:
    """Return the constant C of `average_regret_bound`, at least 0 and without a unit.

    C is S (2 S for the variant `as_printed`) times the mean of `model_error_bound` over the tasks t = 1..T. The memory
    needed grows with the product of the largest T and the number of values.

    Raises:
        ValueError: `model_error_bound` refuses an argument.
    """
    by_task: Any = {name: x if isinstance(x, str) else np.asarray(x)[..., None] for name, x in arguments.items()}
    task = np.arange(1, int(np.max(arguments["T"])) + 1)
    error = np.asarray(model_error_bound(t=np.minimum(task, by_task["T"]), **by_task))
    mean = error.mean(-1, where=np.broadcast_to(task <= by_task["T"], error.shape))
    return _per_unit_of_error(arguments) * mean


def _per_unit_of_error(arguments: BoundArguments) -> Values:
    """Return the factor from a bound on the model error to C: S, or 2 S for the paper's."""
    return np.asarray(arguments["S"]) * (2.0 if arguments.get("variant") in ("as_printed", REPAIRED) else 1.0)


def regret_order(*, m: Numbers, sigma: Numbers, T: Numbers, Sigma: Numbers = 1.0) -> Values:
    """Return the order of the average regret in Theorem 2, the term in its O-tilde: no constants and no logarithms.

    It is (sigma + (sigma + sqrt(sigma^2 + Sigma/m))/sqrt(T) + sigma^2 m sqrt(Sigma/m)) / (sigma^2 m + 1).
    """
    m, sigma = np.asarray(m, float), np.asarray(sigma, float)
    noise = np.asarray(Sigma) / m
    learned = (sigma + np.sqrt(sigma**2 + noise)) / np.sqrt(T)
    return (sigma + learned + sigma**2 * m * np.sqrt(noise)) / (sigma**2 * m + 1.0)
