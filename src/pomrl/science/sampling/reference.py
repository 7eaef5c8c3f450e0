"""Draws in NumPy, the bit-exact reference of `_sampling.c`.

A task has a key; its batches, rows and entries have child keys, independent of sigma and m. Logarithm, exponential and
normal quantile are written out, because C and NumPy differ in last bits.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num, UInt64

from pomrl.science.randomness import Keys, fold

Numbers = Float[np.ndarray, "*n"]
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""The logarithm of 2 as a sum; the first part has trailing zeros."""

LN_2_TO_54, HALF_LN_2PI = 37.42994775023704671, 0.9189385332046727418

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
STIRLING = (1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360360.0, 1.0 / 156.0)
# fmt: on
"""Coefficients of polynomials, the constant first; quantiles have a numerator and a denominator."""


def polynomial(coefficients: Sequence[float], x: Numbers) -> Numbers:
    """Evaluate a polynomial, the constant coefficient first, by Horner's rule."""
    value = np.full(x.shape, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def log(x: Numbers) -> Numbers:
    """Return natural logarithms, as in fdlibm, to one ulp."""
    is_subnormal = x < 2.0**-1022
    logarithms = _normal_log(np.where(is_subnormal, np.where(is_subnormal, x, 0.0) * 2.0**54, x))
    logarithms = np.where(is_subnormal, logarithms - LN_2_TO_54, logarithms)
    special = np.where(x > 0.0, np.inf, np.where(x == 0.0, -np.inf, np.nan))
    return np.where((x > 0.0) & (x < np.inf), logarithms, special)


def _normal_log(x: Numbers) -> Numbers:
    bits = x.view(np.uint64) + (0x3FF0000000000000 - 0x3FE6A09E00000000)
    exponent = ((bits >> 52).astype(np.int64) - 1023).astype(float)
    f = ((bits & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E00000000).view(np.float64) - 1.0
    s, half = f / (2.0 + f), 0.5 * f * f
    z = s * s
    remainder = z * polynomial(LOG, z)
    return exponent * LN2_HIGH - ((half - (s * (half + remainder) + exponent * LN2_LOW)) - f)


def exp(x: Numbers) -> Numbers:
    """Return e^x, as in fdlibm; 0 or infinity if |x| is 707 or more."""
    value = _negative_exp(-np.abs(x))
    with np.errstate(divide="ignore"):
        return np.where(np.isnan(x), x, np.where(x > 0.0, 1.0 / value, value))


def _negative_exp(x: Numbers) -> Numbers:
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


def log_gamma(x: Numbers) -> Numbers:
    """Return log Γ(x) by Stirling's series; NaN outside 2^-1000 to 2^1000."""
    is_inside = (x >= 2.0**-1000) & (x <= 2.0**1000)
    x = np.where(is_inside, x, 1.0)
    is_small = x < 10.0
    z, product = np.where(is_small, x + 10.0, x), np.ones_like(x)
    for k in range(10):
        product *= np.where(is_small, x + float(k), 1.0)
    inverse = 1.0 / z
    series = inverse * polynomial(STIRLING, inverse * inverse)
    return np.where(is_inside, ((z - 0.5) * log(z) - z + HALF_LN_2PI + series) - log(product), np.nan)


def normal_quantile(u: Numbers) -> Numbers:
    """Return standard normal quantiles at u in (0, 1) (PPND16, Wichura 1988, AS 241)."""
    q = u - 0.5
    r = np.sqrt(-log(np.where(q < 0.0, u, 1.0 - u)))
    tail = np.where(r <= 5.0, _ratio(TAIL, r - 1.6), _ratio(FAR_TAIL, r - 5.0))
    return np.where(np.abs(q) <= 0.425, q * _ratio(CENTRE, 0.180625 - q * q), np.where(q < 0.0, -tail, tail))


def _ratio(coefficients: tuple[Sequence[float], Sequence[float]], x: Numbers) -> Numbers:
    return polynomial(coefficients[0], x) / polynomial(coefficients[1], x)


MAX_DRAWN_ONE_BY_ONE = 50
"""Largest number of transitions from a row drawn one by one."""

MAX_CELLS = 10**6
"""Number of transitions in memory for pooled trajectories, unless one task has more."""

LARGEST_BELOW_ONE = float(np.nextafter(1.0, 0.0))


def uniform(keys: Keys, index: int | Num[np.ndarray, "..."]) -> Numbers:
    """Draw uniform number `index` of each key, with 52 bits, in (0, 1)."""
    return ((fold(keys, index) >> 12).astype(float) + 0.5) * 2.0**-52


def gamma_variates(keys: Keys, shape: Numbers) -> Numbers:
    """Draw a gamma variate of each shape >= 1 (Marsaglia and Tsang 2000).

    Uniform number 0 of each key is reserved for `dirichlet`.
    """
    value, waiting, index = np.empty(shape.shape), np.arange(shape.size), 1
    d = shape - 1.0 / 3.0
    c = (1.0 / 3.0) / np.sqrt(d)
    while waiting.size:
        x = normal_quantile(uniform(keys[waiting], index))
        root, u, square = 1.0 + c[waiting] * x, uniform(keys[waiting], index + 1), x * x
        v = np.where(root > 0.0, root * root * root, 1.0)
        bound = 0.5 * square + d[waiting] * (1.0 - v + log(v))
        is_taken = (root > 0.0) & ((u < 1.0 - 0.0331 * (square * square)) | (log(u) < bound))
        value[waiting[is_taken]] = d[waiting[is_taken]] * v[is_taken]
        waiting, index = waiting[~is_taken], index + 2
    return value


def dirichlet(
    keys: UInt64[np.ndarray, "tasks n"], shapes: Float[np.ndarray, "n rows S"]
) -> Float[np.ndarray, "tasks n rows S"]:
    """Draw models with Dirichlet rows for the tasks of n runs.

    Rows are normalised gamma variates. Rows with a shape below 1 use logarithms of G(a) = G(a + 1) U^(1/a), against
    underflow.
    """
    models = [_dirichlet_models(run_keys, shape) for run_keys, shape in zip(keys.T, shapes, strict=True)]
    return np.stack(models, axis=1)


def _dirichlet_models(
    keys: UInt64[np.ndarray, " tasks"], shape: Float[np.ndarray, "rows S"]
) -> Float[np.ndarray, "tasks rows S"]:
    row, entry = np.nonzero(shape)
    a = shape[row, entry]
    is_small = (a < 1.0) & np.ones((len(keys), 1), bool)
    entry_keys = fold(fold(keys[:, None], row), entry)
    a = np.broadcast_to(a, entry_keys.shape)
    variates = gamma_variates(entry_keys.ravel(), np.where(is_small, a + 1.0, a).ravel()).reshape(a.shape)
    logarithms = log(variates)
    logarithms[is_small] += log(uniform(entry_keys[is_small], 0)) / a[is_small]
    weight = np.zeros((len(keys), *shape.shape))
    weight[:, row, entry] = variates
    log_weight = np.full(weight.shape, -np.inf)
    log_weight[:, row, entry] = logarithms
    small_rows = ((shape > 0.0) & (shape < 1.0)).any(-1)
    largest = log_weight[:, small_rows].max(-1, keepdims=True)
    weight[:, small_rows] = exp(log_weight[:, small_rows] - largest)
    return weight / weight.cumsum(-1)[..., -1:]  # summed from first to last entry, as in C


@dataclass(frozen=True, eq=False)
class _Intervals:
    """Intervals of (0, 1) with n independent uniform numbers each."""

    keys: Keys
    row: Int[np.ndarray, " k"]
    n: Int[np.ndarray, " k"]
    low: Numbers
    high: Numbers

    def select(self, mask: Bool[np.ndarray, " k"]) -> "_Intervals":
        return _Intervals(*(array[mask] for array in vars(self).values()))


def transitions(
    keys: Keys, P: Float[np.ndarray, "N rows S"], batches: int, m: int
) -> Int[np.ndarray, "N batches rows S"]:
    """Draw the counts of m transitions from each row, in independent batches.

    More than `MAX_DRAWN_ONE_BY_ONE` uniform numbers are split at their median, a beta variate.
    """
    N, rows, S = P.shape
    row_keys = fold(fold(keys[:, None], np.arange(batches))[..., None], np.arange(rows)).ravel()
    row_cumulative = np.broadcast_to(cumulative(P)[:, None], (N, batches, rows, S)).reshape(-1, S)
    counts, k = np.zeros((len(row_keys), S), np.int64), len(row_keys)
    remaining = _Intervals(row_keys, np.arange(k), np.full(k, m), np.zeros(k), np.ones(k))
    while len(remaining.row):
        is_short = remaining.n <= MAX_DRAWN_ONE_BY_ONE
        _count_one_by_one(remaining.select(is_short), row_cumulative, counts)
        long = remaining.select(~is_short)
        first = _states(row_cumulative, long.row, long.low)
        is_whole = row_cumulative[long.row, first] >= long.high
        np.add.at(counts, (long.row[is_whole], first[is_whole]), long.n[is_whole])
        remaining = _split(long.select(~is_whole), row_cumulative, counts)
    return counts.reshape(N, batches, rows, S)


def _states(
    row_cumulative: Float[np.ndarray, "rows S"], row: Int[np.ndarray, "*k"], u: Float[np.ndarray, "*k"]
) -> Int[np.ndarray, "*k"]:
    return next_states((below.take(row) for below in row_cumulative.T), np.minimum(u, LARGEST_BELOW_ONE))


def _count_one_by_one(
    short: _Intervals, row_cumulative: Float[np.ndarray, "rows S"], counts: Int[np.ndarray, "rows S"]
) -> None:
    for i in range(int(short.n.max(initial=0))):
        some = short.select(short.n > i)
        u = some.low + (some.high - some.low) * uniform(some.keys, i)
        np.add.at(counts, (some.row, _states(row_cumulative, some.row, u)), 1)


def _split(
    long: _Intervals, row_cumulative: Float[np.ndarray, "rows S"], counts: Int[np.ndarray, "rows S"]
) -> _Intervals:
    """Count the median of each interval; return the intervals on both sides."""
    rank = (long.n + 1) // 2
    before = gamma_variates(fold(long.keys, 0), rank.astype(float))
    after = gamma_variates(fold(long.keys, 1), (long.n + 1 - rank).astype(float))
    middle = long.low + (long.high - long.low) * (before / (before + after))
    np.add.at(counts, (long.row, _states(row_cumulative, long.row, middle)), 1)
    return _Intervals(
        np.concatenate([fold(long.keys, 2), fold(long.keys, 3)]),
        np.tile(long.row, 2),
        np.concatenate([rank - 1, long.n - rank]),
        np.concatenate([long.low, middle]),
        np.concatenate([middle, long.high]),
    )


class Pooled(NamedTuple):
    """The sums over the batches of each task."""

    counts: Int[np.ndarray, "*N S A S"]
    frequencies: Float[np.ndarray, "*N S A S"]
    """Sum of the frequencies of next states; a batch without transitions of the pair adds 0."""
    visited: Int[np.ndarray, "*N S A"]
    """Number of batches with visits of a pair."""


def trajectories(
    keys: Keys, P: Float[np.ndarray, "N S A S"], batches: int, m: int, length: int
) -> Int[np.ndarray, "N batches S A S"]:
    """Draw counts of m trajectories per batch, with uniform starts and actions."""
    N, S, A, _ = P.shape
    batch = np.arange(N * batches).reshape(N, batches, 1, 1) * (S * A * S)
    positions = batch + _cells(keys, P, batches, m, length)
    return np.bincount(positions.ravel(), minlength=batches * P.size).reshape(N, batches, S, A, S)


def pooled_trajectories(keys: Keys, P: Float[np.ndarray, "N S A S"], batches: int, m: int, length: int) -> Pooled:
    """Draw the batches of `trajectories`, and return their sums."""
    n_parts = 1 + len(P) * batches * m * length // MAX_CELLS
    parts = zip(np.array_split(keys, n_parts), np.array_split(P, n_parts), strict=True)
    sums = [_pooled_trajectories(*part, batches, m, length) for part in parts]
    return Pooled(*map(np.concatenate, zip(*sums, strict=True)))


def _pooled_trajectories(keys: Keys, P: Float[np.ndarray, "N S A S"], batches: int, m: int, length: int) -> Pooled:
    N, S, A, _ = P.shape
    cells = _cells(keys, P, batches, m, length)
    pairs = cells // S + np.arange(N * batches).reshape(N, batches, 1, 1) * (S * A)
    visits = np.bincount(pairs.ravel(), minlength=N * batches * S * A)
    positions = (cells + np.arange(N)[:, None, None, None] * (S * A * S)).ravel()
    frequencies = np.bincount(positions, 1.0 / visits[pairs.ravel()], P.size)
    return Pooled(
        np.bincount(positions, minlength=P.size).reshape(P.shape),
        frequencies.astype(float).reshape(P.shape),  # without transitions, `bincount` returns integers
        (visits > 0).reshape(N, batches, S, A).sum(1),
    )


def _cells(
    keys: Keys, P: Float[np.ndarray, "N S A S"], batches: int, m: int, length: int
) -> Int[np.ndarray, "N batches length m"]:
    """Draw transitions; return the flat position of each in its model.

    One uniform number chooses the action. Its remainder, again uniform, chooses the next state.
    """
    N, S, A, _ = P.shape
    trajectory_keys = fold(fold(keys[:, None], np.arange(batches))[..., None], np.arange(m))
    row_cumulative = cumulative(P).reshape(-1, S)
    model = np.arange(N)[:, None, None] * (S * A)
    state = (uniform(trajectory_keys, 0) * S).astype(np.int64)
    cells = np.empty((N, batches, length, m), np.int64)
    for step in range(length):
        remainder, action = np.modf(uniform(trajectory_keys, 1 + step) * A)
        pair = state * A + action.astype(np.int64)
        state = _states(row_cumulative, model + pair, remainder)
        cells[:, :, step] = pair * S + state
    return cells


def cumulative(P: Float[np.ndarray, "*n S"]) -> Float[np.ndarray, "*n S"]:
    """Return cumulative probabilities, exactly 1 from the last supported state."""
    below = P.cumsum(-1)
    below[below == below[..., -1:]] = 1.0
    return below


def next_states(below: Iterable[Float[np.ndarray, "*#N"]], u: Float[np.ndarray, "*N"]) -> Num[np.ndarray, "*N"]:
    """Return next states of u in (0, 1), by inverting cumulative probabilities.

    `below` yields the cumulative probabilities up to each state.
    """
    state = np.zeros(u.shape, np.intp)
    for column in below:
        state += column <= u
    return state
