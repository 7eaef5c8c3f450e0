"""Elementary functions with the same bits on every processor.

NumPy and SciPy choose the code of logarithms and powers by processor, so their last bits differ. These functions use
only operations with defined rounding, in C (`_sampling.c`) or NumPy (`reference.py`). What is stored uses them.
"""

import numpy as np
from jaxtyping import Float, Int

from pomrl.science.sampling import draws, reference

Numbers = Float[np.ndarray, "..."] | Int[np.ndarray, "..."] | float | int


def log(x: Numbers) -> Float[np.ndarray, "..."]:
    """Return natural logarithms, to one ulp; -inf at 0, NaN below."""
    return _apply("log", x)


def exp(x: Numbers) -> Float[np.ndarray, "..."]:
    """Return e^x, to two ulps; 0 or infinity if |x| is 707 or more."""
    return _apply("exp", x)


def log_gamma(x: Numbers) -> Float[np.ndarray, "..."]:
    """Return log Γ(x); NaN outside 2^-1000 to 2^1000.

    Errors are a few ulps of the larger of 10 and the value.
    """
    return _apply("log_gamma", x)


def power(x: Numbers, exponent: Numbers) -> Float[np.ndarray, "..."]:
    """Return x^exponent, for x >= 0 and, at x = 0, a positive exponent.

    Relative errors are about 1e-16 times 1 + |log of the result|.
    """
    return exp(exponent * log(x))


def cube_root(x: Numbers) -> Float[np.ndarray, "..."]:
    """Return real cube roots."""
    return np.asarray(np.copysign(power(np.abs(x), 1.0 / 3.0), x))


def log_sum_exp(x: Float[np.ndarray, "*n k"]) -> Float[np.ndarray, "*n"]:
    """Return log Σ e^x over the last axis, of finite numbers."""
    largest = x.max(-1)
    return np.asarray(largest + log(exp(x - largest[..., None]).sum(-1)))


def softmax(x: Float[np.ndarray, "*n k"]) -> Float[np.ndarray, "*n k"]:
    """Return e^x / Σ e^x over the last axis, of finite numbers."""
    weight = exp(x - x.max(-1, keepdims=True))
    return weight / weight.sum(-1, keepdims=True)


def expit(x: Numbers) -> Float[np.ndarray, "..."]:
    """Return the logistic function 1 / (1 + e^-x)."""
    return np.asarray(1.0 / (1.0 + exp(np.negative(x))))


def log_add_exp(x: Numbers, y: Numbers) -> Float[np.ndarray, "..."]:
    """Return log(e^x + e^y) of finite numbers, with an absolute error of an ulp."""
    return np.asarray(np.maximum(x, y) + log(1.0 + exp(-np.abs(np.subtract(x, y)))))


def log_expit(x: Numbers) -> Float[np.ndarray, "..."]:
    """Return log(1 / (1 + e^-x)), with an absolute error of an ulp."""
    return np.asarray(-log_add_exp(np.negative(x), 0.0))


def _apply(name: str, x: Numbers) -> Float[np.ndarray, "..."]:
    x = np.require(x, np.float64, ["C", "A"])
    if not draws.is_built():
        return getattr(reference, name)(np.atleast_1d(x)).reshape(x.shape)
    from pomrl.science.sampling import _sampling

    y = np.empty_like(x)
    getattr(_sampling, name)(x, y, x.size)
    return y
