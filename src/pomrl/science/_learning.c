/* Learning from batches: frequencies, sums over tasks, estimates and their errors, each in one pass over the models.
 *
 * Operations and their order are as in `learning.py`, without contraction (-ffp-contract=off), so the bits are those of
 * NumPy. Models are arrays of rows, with S numbers each. The numbers of a group, one row or one model, share a weight.
 * The GIL is released.
 */
#include "_buffers.h"
#include <math.h>

enum { MAX_SIZE = INT32_MAX };

/* The numbers that are compared side by side. */
enum { LANES = 8 };

#define DOUBLES "d"
#define INTEGERS "lq"

/* Convert an integer from 0 to 2^52 - 1, with instructions that all processors have for vectors. */
INLINE double number_of(int64_t integer) {
    double shifted;
    integer |= INT64_C(0x4330000000000000); /* 2^52 + integer */
    memcpy(&shifted, &integer, sizeof shifted);
    return shifted - 0x1p52;
}

/* Divide the counts of each group by its visits: the sum over its first row. A row without visits is uniform. */
FOR_EACH_PROCESSOR
static void divide_counts(const int64_t *restrict counts, double *restrict visits, double *restrict P_bar,
                          Py_ssize_t groups, Py_ssize_t size, Py_ssize_t S) {
    for (Py_ssize_t g = 0; g < groups; g++, counts += size, P_bar += size) {
        int64_t total = 0;
        for (Py_ssize_t j = 0; j < S; j++) total += counts[j];
        visits[g] = (double)total;
        const double divisor = total > 1 ? (double)total : 1.0;
        int64_t bits = 0;
        for (Py_ssize_t j = 0; j < size; j++) bits |= counts[j];
        if (bits >> 52 == 0)
            for (Py_ssize_t j = 0; j < size; j++) P_bar[j] = number_of(counts[j]) / divisor;
        else
            for (Py_ssize_t j = 0; j < size; j++) P_bar[j] = (double)counts[j] / divisor;
        for (Py_ssize_t j = 0; j < size && total == 0; j++) P_bar[j] = 1.0 / (double)S;
    }
}

/* The sums of `learning.Sums`. */
typedef struct {
    double *restrict mean, *restrict squares, *restrict noise;
} Sums;

/* Add a group of a task to the sums. */
INLINE void add_group(const double *restrict P_bar, Sums before, double weight, double total, double share,
                      double counted, int is_first, int is_weighted, Sums after, Py_ssize_t start, Py_ssize_t end) {
    const double step = weight / total;
    for (Py_ssize_t i = start; i < end; i++) {
        const double p = P_bar[i], mean = is_first ? p : before.mean[i], deviation = (p - mean) * counted;
        const double next = mean + (is_weighted ? step * deviation : deviation / total);
        after.mean[i] = next;
        after.squares[i] = before.squares[i] + weight * deviation * (p - next);
        after.noise[i] = before.noise[i] + p * (1.0 - p) * share;
    }
}

/* Add a task to the sums (Welford), with a weight and the total weight of each group. The mean of a group without
 * earlier tasks starts at the task's own frequencies. */
FOR_EACH_PROCESSOR
static void add_task(const double *restrict P_bar, Sums before, const double *restrict weight,
                     const double *restrict total, const double *restrict share, const double *restrict counted,
                     const double *restrict is_first, Sums after, Py_ssize_t groups, Py_ssize_t size, int is_weighted) {
    for (Py_ssize_t g = 0; g < groups; g++) {
        const Py_ssize_t start = g * size, end = start + size;
        const int first = is_first[g] != 0.0;
        if (is_weighted || first)
            add_group(P_bar, before, weight[g], total[g], share[g], counted[g], first, is_weighted, after, start, end);
        else add_group(P_bar, before, 1.0, total[g], share[g], counted[g], 0, 0, after, start, end);
    }
}

/* Mix priors and frequencies (Eq. 4). Of trials, `own` have an own prior, and `rates` an own mixing rate. */
FOR_EACH_PROCESSOR
static void mix_models(const double *restrict alpha, const double *restrict h, const double *restrict P_bar,
                       double *restrict P_hat, Py_ssize_t n, Py_ssize_t trials, Py_ssize_t rates, Py_ssize_t own,
                       Py_ssize_t groups, Py_ssize_t size) {
    for (Py_ssize_t run = 0; run < n; run++)
        for (Py_ssize_t k = 0; k < trials; k++) {
            const double *rate = alpha + (run * rates + (rates > 1 ? k : 0)) * groups;
            const double *prior = h + (run * own + (own > 1 ? k : 0)) * groups * size;
            for (Py_ssize_t g = 0; g < groups; g++, P_bar += size, P_hat += size, prior += size)
                for (Py_ssize_t j = 0; j < size; j++) P_hat[j] = (1.0 - rate[g]) * P_bar[j] + rate[g] * prior[j];
        }
}

/* Compute the largest distance of each of N K estimates from its model, over numbers that are not NaN. */
FOR_EACH_PROCESSOR
static void find_errors(const double *restrict P_hat, const double *restrict P, double *restrict errors, Py_ssize_t N,
                        Py_ssize_t K, Py_ssize_t size) {
    for (Py_ssize_t i = 0; i < N * K; i++, P_hat += size) {
        const double *model = P + i / K * size;
        double largest[LANES] = {0.0};
        for (Py_ssize_t start = 0; start < size; start += LANES)
            for (Py_ssize_t lane = 0; lane < LANES; lane++) {
                const Py_ssize_t j = start + lane < size ? start + lane : size - 1;
                const double error = fabs(P_hat[j] - model[j]);
                largest[lane] = error > largest[lane] ? error : largest[lane];
            }
        for (int lane = 1; lane < LANES; lane++) largest[0] = largest[lane] > largest[0] ? largest[lane] : largest[0];
        errors[i] = largest[0];
    }
}

static PyObject *done(Py_buffer *views, int count) {
    release(views, count);
    Py_RETURN_NONE;
}

/* frequencies(counts, visits, P_bar, groups, size, S): fill `visits` and `P_bar`. */
static PyObject *frequencies(PyObject *self, PyObject *arguments) {
    PyObject *objects[3];
    Py_buffer views[3];
    Py_ssize_t groups, size, S;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOnnn", objects, objects + 1, objects + 2, &groups, &size, &S)) return NULL;
    if (!is_within("groups", groups, 0, MAX_SIZE) || !is_within("size", size, 1, MAX_SIZE) ||
        !is_within("S", S, 1, size))
        return NULL;
    const BufferSpec specs[] = {
        {"counts", INTEGERS, sizeof(int64_t), 0, times(groups, size)},
        {"visits", DOUBLES, sizeof(double), 1, groups},
        {"P_bar", DOUBLES, sizeof(double), 1, times(groups, size)},
    };
    if (!take(objects, specs, views, 3)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    divide_counts(views[0].buf, views[1].buf, views[2].buf, groups, size, S);
    Py_END_ALLOW_THREADS
    return done(views, 3);
}

/* add(P_bar, mean, squares, noise, weight, total, share, counted, is_first, new_mean, new_squares, new_noise, groups,
 * size, is_weighted): fill the last three arrays. */
static PyObject *add(PyObject *self, PyObject *arguments) {
    PyObject *o[12];
    Py_buffer views[12];
    Py_ssize_t groups, size;
    int is_weighted;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOOOOOnnp", o, o + 1, o + 2, o + 3, o + 4, o + 5, o + 6, o + 7, o + 8, o + 9,
                          o + 10, o + 11, &groups, &size, &is_weighted))
        return NULL;
    if (!is_within("groups", groups, 0, MAX_SIZE) || !is_within("size", size, 1, MAX_SIZE)) return NULL;
    const char *names[] = {"P_bar", "mean", "squares", "noise", "weight", "total", "share", "counted", "is_first",
                           "new_mean", "new_squares", "new_noise"};
    BufferSpec specs[12];
    for (int i = 0; i < 12; i++) {
        const int is_small = 4 <= i && i < 9;
        specs[i] = (BufferSpec){names[i], DOUBLES, sizeof(double), i >= 9, is_small ? groups : times(groups, size)};
    }
    if (!take(o, specs, views, 12)) return NULL;
    const Sums before = {views[1].buf, views[2].buf, views[3].buf}, after = {views[9].buf, views[10].buf, views[11].buf};
    Py_BEGIN_ALLOW_THREADS
    add_task(views[0].buf, before, views[4].buf, views[5].buf, views[6].buf, views[7].buf, views[8].buf, after, groups,
             size, is_weighted);
    Py_END_ALLOW_THREADS
    return done(views, 12);
}

/* mix(alpha, h, P_bar, P_hat, n, trials, rates, own, groups, size): fill `P_hat`. */
static PyObject *mix(PyObject *self, PyObject *arguments) {
    PyObject *objects[4];
    Py_buffer views[4];
    Py_ssize_t n, trials, rates, own, groups, size;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOnnnnnn", objects, objects + 1, objects + 2, objects + 3, &n, &trials, &rates,
                          &own, &groups, &size))
        return NULL;
    if (!is_within("n", n, 0, MAX_SIZE) || !is_within("trials", trials, 1, MAX_SIZE) ||
        !is_within("rates", rates, 1, trials) || !is_within("own", own, 1, trials) ||
        !is_within("groups", groups, 1, MAX_SIZE) || !is_within("size", size, 1, MAX_SIZE))
        return NULL;
    if ((rates != 1 && rates != trials) || (own != 1 && own != trials)) {
        PyErr_Format(PyExc_ValueError, "rates and own must be 1 or %zd, got %zd and %zd", trials, rates, own);
        return NULL;
    }
    const Py_ssize_t model = times(groups, size);
    const BufferSpec specs[] = {
        {"alpha", DOUBLES, sizeof(double), 0, times(times(n, rates), groups)},
        {"h", DOUBLES, sizeof(double), 0, times(times(n, own), model)},
        {"P_bar", DOUBLES, sizeof(double), 0, times(times(n, trials), model)},
        {"P_hat", DOUBLES, sizeof(double), 1, times(times(n, trials), model)},
    };
    if (!take(objects, specs, views, 4)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    mix_models(views[0].buf, views[1].buf, views[2].buf, views[3].buf, n, trials, rates, own, groups, size);
    Py_END_ALLOW_THREADS
    return done(views, 4);
}

/* errors(P_hat, P, errors, N, K, size): fill `errors` with K largest distances from each of N models. */
static PyObject *errors(PyObject *self, PyObject *arguments) {
    PyObject *objects[3];
    Py_buffer views[3];
    Py_ssize_t N, K, size;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOnnn", objects, objects + 1, objects + 2, &N, &K, &size)) return NULL;
    if (!is_within("N", N, 0, MAX_SIZE) || !is_within("K", K, 1, MAX_SIZE) || !is_within("size", size, 1, MAX_SIZE))
        return NULL;
    const BufferSpec specs[] = {
        {"P_hat", DOUBLES, sizeof(double), 0, times(times(N, K), size)},
        {"P", DOUBLES, sizeof(double), 0, times(N, size)},
        {"errors", DOUBLES, sizeof(double), 1, times(N, K)},
    };
    if (!take(objects, specs, views, 3)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    find_errors(views[0].buf, views[1].buf, views[2].buf, N, K, size);
    Py_END_ALLOW_THREADS
    return done(views, 3);
}

static PyMethodDef METHODS[] = {
    {"frequencies", frequencies, METH_VARARGS, "Fill arrays with visits, and frequencies of next states."},
    {"add", add, METH_VARARGS, "Fill arrays with the sums over tasks after one more task."},
    {"mix", mix, METH_VARARGS, "Fill an array with estimated models (Eq. 4)."},
    {"errors", errors, METH_VARARGS, "Fill an array with the largest errors of estimated models."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, add_digest}, {0, NULL}};

static struct PyModuleDef MODULE = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_learning",
    .m_doc = "Passes over the models of batches; called by `pomrl.science.learning`.",
    .m_methods = METHODS,
    .m_slots = SLOTS,
};

PyMODINIT_FUNC PyInit__learning(void) { return PyModuleDef_Init(&MODULE); }
