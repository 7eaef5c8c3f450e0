/* Random draws of models, transitions and trajectories, each a function of a 64-bit key; and elementary functions.
 *
 * Keys form a tree: child `index` of a key is `fold(key, index)`, the output of SplitMix64 at this position of its
 * sequence. The random numbers of a key are computed by the same function. Tasks, batches, rows and entries of rows
 * have separate keys, so that the number of random numbers in one draw does not affect other draws.
 *
 * Operations and their order are as in `reference.py`. Only addition, subtraction, multiplication, division and square
 * root are used, because IEEE 754 defines their rounding. Multiplications and additions are never contracted
 * (-ffp-contract=off). Results are therefore bit-identical to NumPy on every processor. For this reason, logarithm and
 * exponential are implemented here.
 *
 * Arrays are keys[N] of unsigned 64-bit integers, shapes and models of native doubles, and counts of 64-bit integers.
 * The GIL is released during draws.
 */
#include "../_buffers.h"
#include <math.h>
#include <stdlib.h>

/* The upper limit of all sizes in arguments. */
enum { MAX_SIZE = INT32_MAX };

/* The largest number of transitions that are drawn one by one. */
enum { MAX_DRAWN_ONE_BY_ONE = 50 };

#define LARGEST_BELOW_ONE 0x1.fffffffffffffp-1
#define THIRD (1.0 / 3.0)

/* Return child `index` of a key (SplitMix64). */
INLINE uint64_t fold(uint64_t key, uint64_t index) {
    uint64_t z = key + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Draw a number in (0, 1): the centre of one of 2^52 equal parts of the interval. */
INLINE double uniform(uint64_t key, uint64_t index) {
    return ((double)(int64_t)(fold(key, index) >> 12) + 0.5) * 0x1p-52;
}

/* Evaluate a polynomial at x, with the constant coefficient first, by Horner's rule. */
INLINE double polynomial(const double *coefficient, int count, double x) {
    double value = coefficient[count - 1];
    for (int i = count - 2; i >= 0; i--) value = value * x + coefficient[i];
    return value;
}

static const double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
static const double LN_2_TO_54 = 37.42994775023704671, HALF_LN_2PI = 0.9189385332046727418;

static const double LOG[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                             2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                             1.479819860511658591e-01};

/* Convert an integer below 2^52, with instructions that all processors have for vectors. */
INLINE double number_of(uint64_t integer) {
    double shifted;
    integer |= UINT64_C(0x4330000000000000); /* 2^52 + integer */
    memcpy(&shifted, &integer, sizeof shifted);
    return shifted - 0x1p52;
}

/* Return the natural logarithm of a positive normal number, as in fdlibm. */
INLINE double logarithm(double x) {
    uint64_t bits;
    double mantissa;
    memcpy(&bits, &x, sizeof bits);
    bits += UINT64_C(0x3FF0000000000000) - UINT64_C(0x3FE6A09E00000000);
    const double exponent = number_of(bits >> 52) - 1023.0;
    bits = (bits & UINT64_C(0x000FFFFFFFFFFFFF)) + UINT64_C(0x3FE6A09E00000000);
    memcpy(&mantissa, &bits, sizeof bits);
    const double f = mantissa - 1.0, s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    const double rest = z * polynomial(LOG, 7, z);
    return exponent * LN2_HIGH - ((half - (s * (half + rest) + exponent * LN2_LOW)) - f);
}

static const double EXP[] = {1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05,
                             -1.65339022054652515390e-06, 4.13813679705723846039e-08};

/* Return e^x for x <= 0, as in fdlibm; 0 if it is below about 1e-307. */
INLINE double exponential(double x) {
    const double limited = x > -707.0 ? x : -707.0;
    const int32_t power = (int32_t)(limited * 1.44269504088896338700e+00 - 0.5);
    const double high = limited - (double)power * LN2_HIGH, low = (double)power * LN2_LOW, r = high - low, square = r * r;
    const double c = r - square * polynomial(EXP, 5, square);
    const double value = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
    const uint64_t bits = (uint64_t)(uint32_t)(power + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof bits);
    return x > -707.0 ? value * scale : 0.0;
}

/* Return the natural logarithm of any number. */
INLINE double any_logarithm(double x) {
    if (!(x > 0.0)) return x == 0.0 ? -INFINITY : NAN;
    if (x == INFINITY) return x;
    return x < 0x1p-1022 ? logarithm(x * 0x1p54) - LN_2_TO_54 : logarithm(x);
}

/* Return e^x of any number; 0 or infinity if |x| is 707 or more. */
INLINE double any_exponential(double x) {
    const double value = exponential(-fabs(x)), inverse = 1.0 / value;
    return x > 0.0 ? inverse : x <= 0.0 ? value : x;
}

/* The coefficients of Stirling's series, the power -1 first; the rest is below 1e-16 from 10 on. */
static const double STIRLING[] = {1.0 / 12.0,   -1.0 / 360.0,       1.0 / 1260.0, -1.0 / 1680.0,
                                  1.0 / 1188.0, -691.0 / 360360.0, 1.0 / 156.0};

/* Return the logarithm of the gamma function of a number from 2^-1000 to 2^1000. Below 10 it follows from x + 10. */
INLINE double log_gamma_of(double x) {
    const double z = x < 10.0 ? x + 10.0 : x;
    double product = 1.0;
    for (int k = 0; k < 10; k++) product *= x < 10.0 ? x + (double)k : 1.0;
    const double inverse = 1.0 / z, series = inverse * polynomial(STIRLING, 7, inverse * inverse);
    return ((z - 0.5) * logarithm(z) - z + HALF_LN_2PI + series) - logarithm(product);
}

/* The coefficients of PPND16 (Wichura 1988, AS 241): numerators and denominators for centre, tail and far tail. */
static const double CENTRE[2][8] = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
     3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}};
static const double TAIL[2][8] = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
     1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
static const double FAR_TAIL[2][8] = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};

INLINE double ratio(const double coefficients[2][8], double x) {
    return polynomial(coefficients[0], 8, x) / polynomial(coefficients[1], 8, x);
}

/* Return the standard normal quantile at u in [0.075, 0.925]. */
INLINE double central_normal(double u) {
    const double q = u - 0.5;
    return q * ratio(CENTRE, 0.180625 - q * q);
}

/* Return the standard normal quantile at u in (0, 1). */
INLINE double normal(double u) {
    const double q = u - 0.5;
    if (fabs(q) <= 0.425) return central_normal(u);
    const double r = sqrt(-logarithm(q < 0.0 ? u : 1.0 - u));
    const double value = r <= 5.0 ? ratio(TAIL, r - 1.6) : ratio(FAR_TAIL, r - 5.0);
    return q < 0.0 ? -value : value;
}

/* The constants d and c for gamma variates of a shape >= 1 (Marsaglia and Tsang 2000). */
typedef struct {
    double d, c;
} Shape;

INLINE Shape shape_of(double shape) {
    const double d = shape - THIRD;
    return (Shape){d, THIRD / sqrt(d)};
}

/* Return whether the proposal (x, v) is accepted, for a uniform number u. */
INLINE int is_accepted(double x, double v, double u, double d) {
    const double square = x * x;
    return u < 1.0 - 0.0331 * (square * square) || logarithm(u) < 0.5 * square + d * (1.0 - v + logarithm(v));
}

/* Draw a gamma variate with the random numbers of a key, from position `index` on. */
INLINE double gamma_variate(uint64_t key, uint64_t index, Shape shape) {
    for (;; index += 2) {
        const double x = normal(uniform(key, index)), root = 1.0 + shape.c * x, v = root * root * root;
        if (root > 0.0 && is_accepted(x, v, uniform(key, index + 1), shape.d)) return shape.d * v;
    }
}

/* The positive entries of rows of shapes, and memory for their draws. In a row with a shape a < 1, the logarithms of
 * gamma variates are drawn, with G(a) = G(a + 1) U^(1/a), to avoid underflow. */
typedef struct {
    Py_ssize_t count;
    int64_t *row, *column;
    double *boosted; /* the shape if it is below 1; otherwise 0 */
    double *d, *c;
    uint64_t *key;
    double *x, *variate, *margin;
    int8_t *is_small; /* by row: whether it has a shape below 1 */
} Entries;

static void free_entries(Entries *entries) {
    free(entries->row);
    free(entries->boosted);
    free(entries->key);
    free(entries->is_small);
}

/* Allocate memory for the entries of `rows` rows. Return 1, or 0 without memory. */
static int new_entries(Entries *entries, Py_ssize_t rows, Py_ssize_t S) {
    const size_t most = (size_t)(rows * S) + 1;
    entries->row = malloc(2 * most * sizeof(int64_t));
    entries->boosted = malloc(6 * most * sizeof(double));
    entries->key = malloc(most * sizeof(uint64_t));
    entries->is_small = malloc((size_t)rows + 1);
    if (!entries->row || !entries->boosted || !entries->key || !entries->is_small) return 0;
    entries->column = entries->row + most;
    entries->d = entries->boosted + most;
    entries->c = entries->d + most;
    entries->x = entries->c + most;
    entries->variate = entries->x + most;
    entries->margin = entries->variate + most;
    return 1;
}

INLINE void set_entries(Entries *entries, const double *shape, Py_ssize_t rows, Py_ssize_t S) {
    entries->count = 0;
    memset(entries->is_small, 0, (size_t)rows);
    for (Py_ssize_t place = 0; place < rows * S; place++) {
        const double a = shape[place];
        if (!(a > 0.0)) continue;
        const Py_ssize_t e = entries->count++;
        const Shape of_entry = shape_of(a < 1.0 ? a + 1.0 : a);
        entries->row[e] = place / S;
        entries->column[e] = place % S;
        entries->boosted[e] = a < 1.0 ? a : 0.0;
        entries->is_small[place / S] |= a < 1.0;
        entries->d[e] = of_entry.d;
        entries->c[e] = of_entry.c;
    }
}

/* Draw a gamma variate for each entry, or its logarithm in rows with a shape below 1. First, proposals of all entries
 * are computed with vector instructions. Most of them are accepted; the others are then processed one by one. */
INLINE void draw_variates(uint64_t key, const Entries *entries) {
    const Py_ssize_t count = entries->count;
    const int64_t *restrict row = entries->row, *restrict column = entries->column;
    const double *restrict d = entries->d, *restrict c = entries->c;
    uint64_t *restrict keys = entries->key;
    double *restrict x = entries->x, *restrict variate = entries->variate, *restrict margin = entries->margin;
    for (Py_ssize_t e = 0; e < count; e++) keys[e] = fold(fold(key, (uint64_t)row[e]), (uint64_t)column[e]);
    for (Py_ssize_t e = 0; e < count; e++) x[e] = uniform(keys[e], 1);
    for (Py_ssize_t e = 0; e < count; e++) margin[e] = central_normal(x[e]);
    for (Py_ssize_t e = 0; e < count; e++) x[e] = fabs(x[e] - 0.5) <= 0.425 ? margin[e] : normal(x[e]);
    for (Py_ssize_t e = 0; e < count; e++) {
        const double root = 1.0 + c[e] * x[e], square = x[e] * x[e], u = uniform(keys[e], 2);
        const double least = 1.0 - 0.0331 * (square * square) - u;
        variate[e] = d[e] * (root * root * root);
        margin[e] = root > 0.0 ? least : -1.0;
    }
    for (Py_ssize_t e = 0; e < count; e++) {
        if (margin[e] > 0.0) continue;
        const double root = 1.0 + c[e] * x[e];
        if (!(root > 0.0 && is_accepted(x[e], root * root * root, uniform(keys[e], 2), d[e])))
            variate[e] = gamma_variate(keys[e], 3, (Shape){d[e], c[e]});
    }
    for (Py_ssize_t e = 0; e < count; e++)
        if (entries->is_small[row[e]]) {
            variate[e] = logarithm(variate[e]);
            if (entries->boosted[e] > 0.0) variate[e] += logarithm(uniform(keys[e], 0)) / entries->boosted[e];
        }
}

/* Normalise the gamma variates in each row of a model; rows with a small shape contain logarithms. */
INLINE void normalise(const Entries *entries, double *P, Py_ssize_t S) {
    for (Py_ssize_t e = 0, next; e < entries->count; e = next) {
        const int64_t r = entries->row[e];
        double largest = -INFINITY, total = 0.0;
        for (next = e; next < entries->count && entries->row[next] == r; next++)
            if (entries->variate[next] > largest) largest = entries->variate[next];
        for (Py_ssize_t i = e; i < next; i++) {
            if (entries->is_small[r]) entries->variate[i] = exponential(entries->variate[i] - largest);
            total += entries->variate[i];
        }
        for (Py_ssize_t i = e; i < next; i++) P[r * S + entries->column[i]] = entries->variate[i] / total;
    }
}

FOR_EACH_PROCESSOR
static void draw_models(const uint64_t *keys, const double *shapes, Entries *entries, double *P, Py_ssize_t tasks,
                        Py_ssize_t n, Py_ssize_t rows, Py_ssize_t S) {
    memset(P, 0, (size_t)(tasks * n * rows * S) * sizeof(double));
    for (Py_ssize_t run = 0; run < n; run++) {
        set_entries(entries, shapes + run * rows * S, rows, S);
        for (Py_ssize_t i = run; i < tasks * n; i += n) {
            draw_variates(keys[i], entries);
            normalise(entries, P + i * rows * S, S);
        }
    }
}

/* Compute the cumulative probabilities of a row, exactly 1 from the last supported state on, in spite of rounding. */
INLINE void accumulate(const double *row, double *below, Py_ssize_t S) {
    double total = 0.0;
    for (Py_ssize_t j = 0; j < S; j++) below[j] = total += row[j];
    for (Py_ssize_t j = S - 1; j >= 0 && below[j] == total; j--) below[j] = 1.0;
}

/* Return the next state for u < 1, by inversion of cumulative probabilities. It is below S for all inputs. */
INLINE Py_ssize_t next_state(const double *below, double u, Py_ssize_t S) {
    int64_t state = 0;
    for (Py_ssize_t j = 0; j < S; j++) state += below[j] <= u;
    return (Py_ssize_t)state;
}

/* An interval with n independent uniform numbers. */
typedef struct {
    uint64_t key;
    int64_t n;
    double low, high;
} Interval;

/* Return the state for a number u <= 1, because rounding may give 1. */
INLINE Py_ssize_t state_of(const double *below, double u, Py_ssize_t S) {
    return next_state(below, u < LARGEST_BELOW_ONE ? u : LARGEST_BELOW_ONE, S);
}

/* Draw the median of the numbers in an interval, by a beta distribution, and count its state. `sides` receives the
 * intervals below and above it. */
INLINE void split(Interval whole, Interval *sides, const double *below, int64_t *counts, Py_ssize_t S) {
    const int64_t rank = (whole.n + 1) / 2;
    const double before = gamma_variate(fold(whole.key, 0), 1, shape_of((double)rank));
    const double after = gamma_variate(fold(whole.key, 1), 1, shape_of((double)(whole.n + 1 - rank)));
    const double middle = whole.low + (whole.high - whole.low) * (before / (before + after));
    counts[state_of(below, middle, S)]++;
    sides[0] = (Interval){fold(whole.key, 2), rank - 1, whole.low, middle};
    sides[1] = (Interval){fold(whole.key, 3), whole.n - rank, middle, whole.high};
}

/* Count the states of m independent uniform numbers. Up to `MAX_DRAWN_ONE_BY_ONE` numbers are drawn one by one. An
 * interval with more numbers is split at their median, unless it lies within one state. At most two intervals at each
 * of 26 depths wait. */
INLINE void count_states(uint64_t key, int64_t m, const double *below, int64_t *counts, Py_ssize_t S) {
    Interval waiting[64] = {{key, m, 0.0, 1.0}};
    for (int left = 1; left;) {
        const Interval one = waiting[--left];
        if (one.n <= MAX_DRAWN_ONE_BY_ONE) {
            for (int64_t i = 0; i < one.n; i++)
                counts[state_of(below, one.low + (one.high - one.low) * uniform(one.key, (uint64_t)i), S)]++;
            continue;
        }
        const Py_ssize_t first = state_of(below, one.low, S);
        if (below[first] >= one.high) {
            counts[first] += one.n;
        } else {
            split(one, waiting + left, below, counts, S);
            left += 2;
        }
    }
}

FOR_EACH_PROCESSOR
static void count_transitions(const uint64_t *keys, const double *P, int64_t *counts, double *below, Py_ssize_t N,
                              Py_ssize_t batches, Py_ssize_t rows, Py_ssize_t S, Py_ssize_t m) {
    for (Py_ssize_t i = 0; i < N; i++)
        for (Py_ssize_t r = 0; r < rows; r++) {
            accumulate(P + (i * rows + r) * S, below, S);
            for (Py_ssize_t b = 0; b < batches; b++) {
                int64_t *row_counts = counts + ((i * batches + b) * rows + r) * S;
                memset(row_counts, 0, (size_t)S * sizeof(int64_t));
                count_states(fold(fold(keys[i], (uint64_t)b), (uint64_t)r), m, below, row_counts, S);
            }
        }
}

/* The key and the current state of a trajectory. */
typedef struct {
    uint64_t key;
    int64_t state;
} Trajectory;

/* The cumulative probabilities and the transitions of the trajectories of one batch. */
typedef struct {
    double *below;          /* [S, A, S], cumulative probabilities */
    Trajectory *trajectory; /* [m] */
    int64_t *pair, *cell;   /* [L, m], the flat indices in [S, A] and [S, A, S] of each transition */
    int64_t *visits;        /* [S, A] */
} Walk;

static void free_walk(Walk *walk) {
    free(walk->below);
    free(walk->trajectory);
    free(walk->pair);
    free(walk->cell);
    free(walk->visits);
}

static int make_walk(Walk *walk, Py_ssize_t m, Py_ssize_t L, Py_ssize_t S, Py_ssize_t A) {
    walk->below = calloc((size_t)times(times(S, A), S), sizeof(double));
    walk->trajectory = calloc((size_t)m, sizeof(Trajectory));
    walk->pair = calloc((size_t)times(m, L) + 1, sizeof(int64_t));
    walk->cell = calloc((size_t)times(m, L) + 1, sizeof(int64_t));
    walk->visits = calloc((size_t)times(S, A), sizeof(int64_t));
    return walk->below && walk->trajectory && walk->pair && walk->cell && walk->visits;
}

/* Draw m trajectories of L transitions with uniform first states. The integer part of a uniform number times A selects
 * the action. The fractional part, again uniform, selects the next state. */
INLINE void follow(uint64_t key, const Walk *walk, Py_ssize_t m, Py_ssize_t L, Py_ssize_t S, Py_ssize_t A) {
    for (Py_ssize_t w = 0; w < m; w++) {
        const uint64_t of_trajectory = fold(key, (uint64_t)w);
        walk->trajectory[w] = (Trajectory){of_trajectory, (int64_t)(uniform(of_trajectory, 0) * (double)S)};
    }
    for (Py_ssize_t step = 0; step < L; step++)
        for (Py_ssize_t w = 0; w < m; w++) {
            Trajectory *one = walk->trajectory + w;
            const double scaled = uniform(one->key, (uint64_t)(1 + step)) * (double)A;
            const int64_t action = (int64_t)scaled, pair = one->state * A + action;
            one->state = next_state(walk->below + pair * S, scaled - (double)action, S);
            walk->pair[step * m + w] = pair;
            walk->cell[step * m + w] = pair * S + one->state;
        }
}

FOR_EACH_PROCESSOR
static void count_each(const uint64_t *keys, const double *P, int64_t *counts, const Walk *walk, Py_ssize_t N,
                       Py_ssize_t batches, Py_ssize_t m, Py_ssize_t L, Py_ssize_t S, Py_ssize_t A) {
    for (Py_ssize_t i = 0; i < N; i++) {
        for (Py_ssize_t r = 0; r < S * A; r++) accumulate(P + (i * S * A + r) * S, walk->below + r * S, S);
        for (Py_ssize_t b = 0; b < batches; b++) {
            int64_t *of_batch = counts + (i * batches + b) * S * A * S;
            memset(of_batch, 0, (size_t)(S * A * S) * sizeof(int64_t));
            follow(fold(keys[i], (uint64_t)b), walk, m, L, S, A);
            for (Py_ssize_t k = 0; k < L * m; k++) of_batch[walk->cell[k]]++;
        }
    }
}

FOR_EACH_PROCESSOR
static void pool_all(const uint64_t *keys, const double *P, int64_t *counts, double *frequencies, int64_t *visited,
                     const Walk *walk, Py_ssize_t N, Py_ssize_t batches, Py_ssize_t m, Py_ssize_t L, Py_ssize_t S,
                     Py_ssize_t A) {
    memset(counts, 0, (size_t)(N * S * A * S) * sizeof(int64_t));
    memset(frequencies, 0, (size_t)(N * S * A * S) * sizeof(double));
    memset(visited, 0, (size_t)(N * S * A) * sizeof(int64_t));
    for (Py_ssize_t i = 0; i < N; i++) {
        for (Py_ssize_t r = 0; r < S * A; r++) accumulate(P + (i * S * A + r) * S, walk->below + r * S, S);
        for (Py_ssize_t b = 0; b < batches; b++) {
            follow(fold(keys[i], (uint64_t)b), walk, m, L, S, A);
            memset(walk->visits, 0, (size_t)(S * A) * sizeof(int64_t));
            for (Py_ssize_t k = 0; k < L * m; k++) walk->visits[walk->pair[k]]++;
            for (Py_ssize_t k = 0; k < L * m; k++) {
                counts[i * S * A * S + walk->cell[k]]++;
                frequencies[i * S * A * S + walk->cell[k]] += 1.0 / (double)walk->visits[walk->pair[k]];
            }
            for (Py_ssize_t r = 0; r < S * A; r++) visited[i * S * A + r] += walk->visits[r] > 0;
        }
    }
}

FOR_EACH_PROCESSOR
static void all_logarithms(const double *restrict x, double *restrict y, Py_ssize_t n) {
    for (Py_ssize_t i = 0; i < n; i++) y[i] = logarithm(x[i]);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(x[i] >= 0x1p-1022 && x[i] < INFINITY)) y[i] = any_logarithm(x[i]);
}

FOR_EACH_PROCESSOR
static void all_exponentials(const double *restrict x, double *restrict y, Py_ssize_t n) {
    for (Py_ssize_t i = 0; i < n; i++) y[i] = any_exponential(x[i]);
}

FOR_EACH_PROCESSOR
static void all_log_gammas(const double *restrict x, double *restrict y, Py_ssize_t n) {
    for (Py_ssize_t i = 0; i < n; i++) y[i] = log_gamma_of(x[i]);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(x[i] >= 0x1p-1000 && x[i] <= 0x1p1000)) y[i] = NAN;
}

static const char DOUBLES[] = "d", INTEGERS[] = "lq", KEYS[] = "LQ";

/* dirichlet(keys, shapes, P, tasks, n, rows, S): fill P with models of tasks in n runs; each has a Dirichlet row for
 * each row of its run's `shapes`, which has positive entries. */
static PyObject *dirichlet(PyObject *self, PyObject *arguments) {
    PyObject *objects[3];
    Py_buffer views[3];
    Py_ssize_t tasks, n, rows, S;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOnnnn", objects, objects + 1, objects + 2, &tasks, &n, &rows, &S)) return NULL;
    if (!is_within("tasks", tasks, 0, MAX_SIZE) || !is_within("n", n, 0, MAX_SIZE) ||
        !is_within("rows", rows, 0, MAX_SIZE) || !is_within("S", S, 1, MAX_SIZE))
        return NULL;
    const BufferSpec specs[] = {
        {"keys", KEYS, sizeof(uint64_t), 0, times(tasks, n)},
        {"shapes", DOUBLES, sizeof(double), 0, times(n, times(rows, S))},
        {"P", DOUBLES, sizeof(double), 1, times(times(tasks, n), times(rows, S))},
    };
    if (!take(objects, specs, views, 3)) return NULL;
    Entries entries = {0};
    const int made = new_entries(&entries, rows, S);
    if (made) {
        Py_BEGIN_ALLOW_THREADS
        draw_models(views[0].buf, views[1].buf, &entries, views[2].buf, tasks, n, rows, S);
        Py_END_ALLOW_THREADS
    }
    free_entries(&entries);
    release(views, 3);
    if (!made) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* transitions(keys, P, counts, N, batches, rows, S, m): fill `counts` with counts of m transitions from each row. */
static PyObject *transitions(PyObject *self, PyObject *arguments) {
    PyObject *objects[3];
    Py_buffer views[3];
    Py_ssize_t N, batches, rows, S, m;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOnnnnn", objects, objects + 1, objects + 2, &N, &batches, &rows, &S, &m))
        return NULL;
    if (!is_within("N", N, 0, MAX_SIZE) || !is_within("batches", batches, 0, MAX_SIZE) ||
        !is_within("rows", rows, 0, MAX_SIZE) || !is_within("S", S, 1, MAX_SIZE) || !is_within("m", m, 1, MAX_SIZE))
        return NULL;
    const BufferSpec specs[] = {
        {"keys", KEYS, sizeof(uint64_t), 0, N},
        {"P", DOUBLES, sizeof(double), 0, times(N, times(rows, S))},
        {"counts", INTEGERS, sizeof(int64_t), 1, times(times(N, batches), times(rows, S))},
    };
    if (!take(objects, specs, views, 3)) return NULL;
    double *below = malloc((size_t)S * sizeof(double));
    if (below) {
        Py_BEGIN_ALLOW_THREADS
        count_transitions(views[0].buf, views[1].buf, views[2].buf, below, N, batches, rows, S, m);
        Py_END_ALLOW_THREADS
        free(below);
    }
    release(views, 3);
    if (!below) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* Check the limits of the sizes of trajectories. Return 1, or set a ValueError and return 0. */
static int are_sizes(Py_ssize_t N, Py_ssize_t batches, Py_ssize_t m, Py_ssize_t L, Py_ssize_t S, Py_ssize_t A) {
    return is_within("N", N, 0, MAX_SIZE) && is_within("batches", batches, 0, MAX_SIZE) &&
           is_within("m", m, 1, MAX_SIZE) && is_within("L", L, 0, MAX_SIZE) && is_within("S", S, 1, MAX_SIZE) &&
           is_within("A", A, 1, MAX_SIZE);
}

/* trajectories(keys, P, counts, N, batches, m, L, S, A): fill `counts` with the counts of m trajectories of L
 * transitions in each batch. */
static PyObject *trajectories(PyObject *self, PyObject *arguments) {
    PyObject *objects[3];
    Py_buffer views[3];
    Py_ssize_t N, batches, m, L, S, A;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOnnnnnn", objects, objects + 1, objects + 2, &N, &batches, &m, &L, &S, &A))
        return NULL;
    if (!are_sizes(N, batches, m, L, S, A)) return NULL;
    const Py_ssize_t model = times(times(S, A), S);
    const BufferSpec specs[] = {
        {"keys", KEYS, sizeof(uint64_t), 0, N},
        {"P", DOUBLES, sizeof(double), 0, times(N, model)},
        {"counts", INTEGERS, sizeof(int64_t), 1, times(times(N, batches), model)},
    };
    if (!take(objects, specs, views, 3)) return NULL;
    Walk walk = {0};
    const int made = make_walk(&walk, m, L, S, A);
    if (made) {
        Py_BEGIN_ALLOW_THREADS
        count_each(views[0].buf, views[1].buf, views[2].buf, &walk, N, batches, m, L, S, A);
        Py_END_ALLOW_THREADS
    }
    free_walk(&walk);
    release(views, 3);
    if (!made) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* pooled_trajectories(keys, P, counts, frequencies, visited, N, batches, m, L, S, A): fill sums over batches of the
 * counts, of the frequencies of next states, and of indicators of visited pairs. */
static PyObject *pooled_trajectories(PyObject *self, PyObject *arguments) {
    PyObject *objects[5];
    Py_buffer views[5];
    Py_ssize_t N, batches, m, L, S, A;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOnnnnnn", objects, objects + 1, objects + 2, objects + 3, objects + 4, &N,
                          &batches, &m, &L, &S, &A))
        return NULL;
    if (!are_sizes(N, batches, m, L, S, A)) return NULL;
    const Py_ssize_t pairs = times(N, times(S, A)), cells = times(N, times(times(S, A), S));
    const BufferSpec specs[] = {
        {"keys", KEYS, sizeof(uint64_t), 0, N},
        {"P", DOUBLES, sizeof(double), 0, cells},
        {"counts", INTEGERS, sizeof(int64_t), 1, cells},
        {"frequencies", DOUBLES, sizeof(double), 1, cells},
        {"visited", INTEGERS, sizeof(int64_t), 1, pairs},
    };
    if (!take(objects, specs, views, 5)) return NULL;
    Walk walk = {0};
    const int made = make_walk(&walk, m, L, S, A);
    if (made) {
        Py_BEGIN_ALLOW_THREADS
        pool_all(views[0].buf, views[1].buf, views[2].buf, views[3].buf, views[4].buf, &walk, N, batches, m, L, S, A);
        Py_END_ALLOW_THREADS
    }
    free_walk(&walk);
    release(views, 5);
    if (!made) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* Call a function of the numbers x that fills y, both of the same size. */
static PyObject *apply(PyObject *arguments, void (*function)(const double *, double *, Py_ssize_t)) {
    PyObject *objects[2];
    Py_buffer views[2];
    Py_ssize_t n;
    if (!PyArg_ParseTuple(arguments, "OOn", objects, objects + 1, &n)) return NULL;
    if (!is_within("n", n, 0, PY_SSIZE_T_MAX)) return NULL;
    const BufferSpec specs[] = {{"x", DOUBLES, sizeof(double), 0, n}, {"y", DOUBLES, sizeof(double), 1, n}};
    if (!take(objects, specs, views, 2)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    function(views[0].buf, views[1].buf, n);
    Py_END_ALLOW_THREADS
    release(views, 2);
    Py_RETURN_NONE;
}

/* log(x, y, n), exp(x, y, n), log_gamma(x, y, n): fill y with the values of a function of n numbers. */
static PyObject *log_of_all(PyObject *self, PyObject *arguments) {
    (void)self;
    return apply(arguments, all_logarithms);
}

static PyObject *exp_of_all(PyObject *self, PyObject *arguments) {
    (void)self;
    return apply(arguments, all_exponentials);
}

static PyObject *log_gamma_of_all(PyObject *self, PyObject *arguments) {
    (void)self;
    return apply(arguments, all_log_gammas);
}

static PyMethodDef METHODS[] = {
    {"dirichlet", dirichlet, METH_VARARGS, "Fill an array with models with Dirichlet rows."},
    {"transitions", transitions, METH_VARARGS, "Fill an array with counts of transitions from each row."},
    {"trajectories", trajectories, METH_VARARGS, "Fill an array with counts of the transitions of trajectories."},
    {"pooled_trajectories", pooled_trajectories, METH_VARARGS, "Fill arrays with sums over batches of trajectories."},
    {"log", log_of_all, METH_VARARGS, "Fill an array with natural logarithms."},
    {"exp", exp_of_all, METH_VARARGS, "Fill an array with exponentials."},
    {"log_gamma", log_gamma_of_all, METH_VARARGS, "Fill an array with logarithms of the gamma function."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, add_digest}, {0, NULL}};

static struct PyModuleDef MODULE = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_sampling",
    .m_doc = "Draws by keys, and elementary functions; called by `pomrl.science.sampling.draws` and `elementary`.",
    .m_methods = METHODS,
    .m_slots = SLOTS,
};

PyMODINIT_FUNC PyInit__sampling(void) { return PyModuleDef_Init(&MODULE); }
