"""How far the estimated model is from the true one, with high probability (Theorem 3, App. D).

As printed, which is no bound (ERRATA.md: E2, E3), and the bounds that docs/theory.md proves. Everything here is
elementwise: arguments broadcast.
"""

from typing import Literal, NotRequired, TypedDict, Unpack

import numpy as np
from jaxtyping import Float, Num

Numbers = Num[np.ndarray, "..."] | float | int
"""A number or an array of them; functions of it are elementwise."""

Values = Float[np.ndarray, "..."] | float

Prior = Literal["exclusive", "inclusive", "known"]

VARIANTS = ("as_printed", "corrected", "sharpened")
PRIORS: tuple[Prior, ...] = ("exclusive", "inclusive", "known")


class Setting(TypedDict):
    """What a bound depends on, beside the task and the discount factors; `model_error_bound` explains it."""

    m: Numbers
    sigma: Numbers
    S: Numbers
    A: Numbers
    T: Numbers
    delta: Numbers
    variant: NotRequired[str]
    prior: NotRequired[str]
    plugged: NotRequired[Numbers]
    Sigma: NotRequired[Numbers]


def paper_mixing_rate(*, t: Numbers, m: Numbers, sigma: Numbers) -> Values:
    """alpha_t = 1/(sigma^2 (1 + 1/t) m + 1) of Sec. 3.2; 1 for sigma = 0, and 0 for an infinite sigma."""
    return 1.0 / (np.square(sigma, dtype=float) * (1.0 + 1.0 / np.asarray(t, float)) * m + 1.0)


def model_error_bound(*, t: Numbers, **setting: Unpack[Setting]) -> Values:
    """What max |P_hat_t - P_t| over s, a, s' stays below, in all tasks t = 1..T at once, with probability 1 - delta.

    A difference of probabilities, of which values above 1 say nothing. Assumptions: the tasks are independent, centred
    at P_o, and |P_t - P_o| <= sigma almost surely in every entry. So sigma is a bound here and not a standard
    deviation, which is smaller. delta is the probability that the bound may fail in any entry of any task.

    m is the number of transitions that are sampled for each (s, a) in each task, T the number of tasks. With w the
    weight of the batches before, alpha_t, or alpha_t (t - 1)/t where the prior is `inclusive` of the task's own batch
    (the default; else `exclusive`), and 0 in task 1, the bound is by `variant`:

    - `corrected` (the default): w (sqrt(L/(2 m (t-1))) + sigma sqrt(2 L/(t-1)) + sigma) + (1 - w) sqrt(L/(2 m)), with
      L = log(6 S^2 A T/delta). It holds for all mixing rates at once, so for learned ones too.
    - `sharpened`: w sigma + sqrt(2 L (w^2 (sigma^2 + 1/(4 m))/(t-1) + (1 - w)^2/(4 m))), L = log(2 S^2 A T/delta), for
      mixing rates that are fixed in advance.
    - both with the prior `known`: alpha_t sigma + (1 - alpha_t) sqrt(L/(2 m)), L = log(2 S^2 A T/delta).
    - `as_printed`: Theorem 3, which depends neither on t nor on the prior. Only there is `Sigma`, a diameter of the set
      of models, at most 1 (the default).

    `plugged` is what stands for sigma in the paper's mixing rate where that is another number: a standard deviation;
    0, which weighs the prior with 1; or infinity, which gives it no weight.

    Raises ValueError for another variant or prior, and unless 0 < delta < 1, 1 <= t <= T and sigma >= 0.
    """
    variant, prior = setting.get("variant", "corrected"), setting.get("prior", "inclusive")
    _check(t, setting, variant, prior)
    if variant == "as_printed":
        return _theorem_3(setting) + 0.0 * np.asarray(t)
    m, sigma = np.asarray(setting["m"], float), np.asarray(setting["sigma"], float)
    entries = _entries(setting)
    past = np.maximum(np.asarray(t, float) - 1.0, 1.0)  # in task 1 its weight is 0
    weight = _weight_of_the_past(t, m, setting.get("plugged", sigma), prior)
    of_one_event = np.log(2.0 * entries / setting["delta"])
    if prior == "known":
        return weight * sigma + (1.0 - weight) * np.sqrt(of_one_event / (2.0 * m))
    if variant == "sharpened":
        proxy = weight**2 * (sigma**2 + 1.0 / (4.0 * m)) / past + (1.0 - weight) ** 2 / (4.0 * m)
        return weight * sigma + np.sqrt(2.0 * of_one_event * proxy)
    L = of_one_event + np.log(3.0)
    of_prior = np.sqrt(L / (2.0 * m * past)) + sigma * np.sqrt(2.0 * L / past) + sigma
    return weight * of_prior + (1.0 - weight) * np.sqrt(L / (2.0 * m))


def _entries(setting: Setting) -> Values:
    """S^2 A T, the number of entries of all models."""
    return np.square(setting["S"], dtype=float) * setting["A"] * setting["T"]


def _weight_of_the_past(t: Numbers, m: Numbers, plugged: Numbers, prior: str) -> Values:
    """How much of the estimate comes from what was known before the task's own batch."""
    alpha, t = np.asarray(paper_mixing_rate(t=t, m=m, sigma=plugged)), np.asarray(t, float)
    if prior == "inclusive":
        return alpha * (t - 1.0) / t
    return alpha if prior == "known" else np.where(t > 1, alpha, 0.0)


def _theorem_3(setting: Setting) -> Values:
    """Theorem 3, symbol by symbol."""
    m, sigma, T = (np.asarray(setting[name], float) for name in ("m", "sigma", "T"))
    delta, Sigma, entries = setting["delta"], np.asarray(setting.get("Sigma", 1.0), float), _entries(setting)
    x = sigma**2 * m
    spread = sigma**2 + Sigma * np.log(6.0 * T**2 / delta) ** 2 / m
    A_1 = np.sqrt(np.log(6.0 * T / delta) * np.log(entries / delta) * spread / T)
    A_2 = sigma * np.sqrt(np.log(3.0 * entries / delta) / T)
    B = np.sqrt(Sigma * np.log(3.0 * entries / delta) / (2.0 * m))
    return (A_1 + A_2 + 2.0 * sigma) / (x + 1.0) + x / (2.0 * x + 1.0) * B


def _check(t: Numbers, setting: Setting, variant: str, prior: str) -> None:
    if variant not in VARIANTS:
        raise ValueError(f"variant={variant!r}: it has to be one of {', '.join(VARIANTS)}")
    if prior not in PRIORS:
        raise ValueError(f"prior={prior!r}: it has to be one of {', '.join(PRIORS)}")
    delta, sigma, T = (np.asarray(setting[name]) for name in ("delta", "sigma", "T"))
    if not np.all((delta > 0) & (delta < 1)):
        raise ValueError(f"delta={delta}: it has to be above 0 and below 1")
    if not np.all(sigma >= 0):
        raise ValueError(f"sigma={sigma}: it has to be at least 0")
    if not np.all((np.asarray(t) >= 1) & (np.asarray(t) <= T)):
        raise ValueError(f"t={t}: it has to be at least 1 and at most T={T}")
