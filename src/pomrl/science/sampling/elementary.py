"""Logarithm, exponential and normal quantile, in operations whose rounding IEEE 754 fixes.

The mathematical libraries of C and of NumPy differ in last bits, from one another and between processors. These
functions have the bits of `_sampling.c`.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

Numbers = Float[np.ndarray, "*n"]

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""The logarithm of 2 as a sum, of which the first part has trailing zeros."""

# fmt: off
LOG = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)
EXP = (
    1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05, -1.65339022054652515390e-06,
    4.13813679705723846039e-08,
)
CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
)
TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)
FAR_TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)
# fmt: on
"""Coefficients of polynomials, the constant one first; those of the quantile are a numerator and a denominator."""


def polynomial(coefficients: Sequence[float], x: Numbers) -> Numbers:
    """Return the polynomial with these coefficients, the constant one first, by Horner's rule."""
    value = np.full(x.shape, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def log(x: Numbers) -> Numbers:
    """Return the natural logarithm of normal positive numbers, as fdlibm computes it, to about one unit in the last."""
    bits = np.ascontiguousarray(x).view(np.uint64) + (0x3FF0000000000000 - 0x3FE6A09E00000000)
    exponent = ((bits >> 52).astype(np.int64) - 1023).astype(float)
    f = ((bits & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E00000000).view(np.float64) - 1.0
    s, half = f / (2.0 + f), 0.5 * f * f
    z = s * s
    rest = z * polynomial(LOG, z)
    return exponent * LN2_HIGH - ((half - (s * (half + rest) + exponent * LN2_LOW)) - f)


def exp(x: Numbers) -> Numbers:
    """Return e^x for x <= 0, as fdlibm computes it; 0 where it would be below about 1e-307."""
    is_zero = ~(x > -707.0)
    x = np.where(is_zero, 0.0, x)
    power = (x * 1.44269504088896338700e00 - 0.5).astype(np.int64)
    high, low = x - power * LN2_HIGH, power * LN2_LOW
    r = high - low
    square = r * r
    c = r - square * polynomial(EXP, square)
    value = 1.0 - ((low - (r * c) / (2.0 - c)) - high)
    scale = ((power + 1023).astype(np.uint64) << 52).view(np.float64)
    return np.where(is_zero, 0.0, value * scale)


def normal_quantile(u: Numbers) -> Numbers:
    """Return quantiles of the standard normal distribution at u in (0, 1), by PPND16 (Wichura 1988, AS 241)."""
    q = u - 0.5
    r = np.sqrt(-log(np.where(q < 0.0, u, 1.0 - u)))
    tail = np.where(r <= 5.0, _ratio(TAIL, r - 1.6), _ratio(FAR_TAIL, r - 5.0))
    return np.where(np.abs(q) <= 0.425, q * _ratio(CENTRE, 0.180625 - q * q), np.where(q < 0.0, -tail, tail))


def _ratio(coefficients: tuple[Sequence[float], Sequence[float]], x: Numbers) -> Numbers:
    return polynomial(coefficients[0], x) / polynomial(coefficients[1], x)
