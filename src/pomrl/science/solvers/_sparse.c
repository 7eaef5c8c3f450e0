/* The compiled engine of sparse models: approximate planning of one model, and iterative evaluation of its policies.
 *
 * Pair (s, a) is the row s A + a of a CSR matrix, whose entries are transition probabilities to each next state. States
 * should be in the order of falling values, because Gauss-Seidel sweeps then carry a value through many states.
 *
 * Values solve (D - L - U) V = b, where D - L - U = I - gamma P_pi. D is the diagonal, and L and U have the next states
 * before and after a state. Chains that mix quickly are solved by value iteration, others by BiCGSTAB with the
 * preconditioner D - L. A product with (D - L - U) (D - L)^-1 = I - U (D - L)^-1 uses each entry once.
 *
 * As in `_compiled.c`, arguments are checked again, and the GIL is released during computations.
 */
#include "../_buffers.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Value iteration ends after FIRST_STEPS steps if a step leaves more than this share of the span of residuals. */
#define SLOW_SHARE 0.7
enum { FIRST_STEPS = 4 };

enum { FAILED, CONVERGED, UNSORTED };

/* Vectors of BiCGSTAB, and of a chain. */
enum { VECTORS = 10 };

typedef struct {
    const int32_t *first; /* [S A + 1] the first entry of each row */
    const int32_t *next;  /* the next state of each entry */
    const double *P;
    const double *R; /* [S A] */
    int32_t S, A;
    double gamma;
} Model;

typedef struct {
    double share;     /* the largest residual, in units of an equation's terms */
    double reduction; /* the largest residual of an approximate evaluation, in units of its first residual */
    double rounding, noise; /* the gain of a better action exceeds rounding (|Q| + |Q'|) + noise */
    Py_ssize_t misplaced;   /* next states with larger values behind their states, in an order of use */
    int steps, starts;      /* of BiCGSTAB */
} Limits;

/* The equations of a policy. Row s has the entries of L from first[s] on, and of U from middle[s] on. */
typedef struct {
    int32_t *first, *middle, *next;
    double *entry;    /* gamma P */
    double *b, *stay, *pivot; /* rewards, 1 - D, and the reciprocals of D */
    double *residual, *shadow, *direction, *image, *image2, *solution, *goal;
    double gamma;
    int mixes_slowly;
} Chain;

static void free_chain(Chain *chain) {
    free(chain->first);
    free(chain->next);
    free(chain->entry);
    free(chain->b);
}

/* Allocate a chain for any policy of a model. */
static int make_chain(Chain *chain, const Model *model) {
    const Py_ssize_t S = model->S;
    Py_ssize_t count = 1;
    for (Py_ssize_t s = 0; s < S; s++) {
        int32_t most = 0;
        for (Py_ssize_t row = s * model->A; row < (s + 1) * model->A; row++)
            if (model->first[row + 1] - model->first[row] > most) most = model->first[row + 1] - model->first[row];
        count += most;
    }
    chain->first = malloc((2 * S + 1) * sizeof(int32_t));
    chain->next = malloc(count * sizeof(int32_t));
    chain->entry = malloc(count * sizeof(double));
    double *vectors = chain->b = malloc(VECTORS * S * sizeof(double));
    if (!chain->first || !chain->next || !chain->entry || !vectors) return 0;
    chain->middle = chain->first + S + 1;
    chain->gamma = model->gamma;
    double **all[] = {&chain->stay, &chain->pivot, &chain->residual, &chain->shadow, &chain->direction,
                      &chain->image, &chain->image2, &chain->solution, &chain->goal};
    for (int i = 0; i < VECTORS - 1; i++) *all[i] = vectors + (i + 1) * S;
    return 1;
}

static void load_policy(Chain *chain, const Model *model, const int16_t *policy) {
    int32_t at = 0;
    for (int32_t s = 0; s < model->S; s++) {
        const Py_ssize_t row = (Py_ssize_t)s * model->A + policy[s];
        const int32_t from = model->first[row], to = model->first[row + 1];
        double stay = 0.0;
        /* without branches: each entry is written, and stays if it is counted */
        chain->first[s] = at;
        for (int32_t e = from; e < to; e++) {
            stay += model->next[e] == s ? model->P[e] : 0.0;
            chain->next[at] = model->next[e];
            chain->entry[at] = model->gamma * model->P[e];
            at += model->next[e] < s;
        }
        chain->middle[s] = at;
        for (int32_t e = from; e < to; e++) {
            chain->next[at] = model->next[e];
            chain->entry[at] = model->gamma * model->P[e];
            at += model->next[e] > s;
        }
        chain->stay[s] = model->gamma * stay;
        chain->pivot[s] = 1.0 / (1.0 - chain->stay[s]);
        chain->b[s] = model->R[row];
    }
    chain->first[model->S] = at;
}

static double dot(const double *x, const double *y, int32_t S) {
    double sums[4] = {0.0};
    int32_t s = 0;
    for (; s + 4 <= S; s += 4)
        for (int i = 0; i < 4; i++) sums[i] += x[s + i] * y[s + i];
    for (; s < S; s++) sums[0] += x[s] * y[s];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Compute y = (D - L)^-1 x, and the image (D - L - U) y = x - U y. */
static void apply(const Chain *chain, const double *x, double *y, double *image, int32_t S) {
    for (int32_t s = 0; s < S; s++) {
        double sum = x[s];
        for (int32_t e = chain->first[s]; e < chain->middle[s]; e++) sum += chain->entry[e] * y[chain->next[e]];
        y[s] = sum * chain->pivot[s];
    }
    for (int32_t s = 0; s < S; s++) {
        double sum = x[s];
        for (int32_t e = chain->middle[s]; e < chain->first[s + 1]; e++) sum -= chain->entry[e] * y[chain->next[e]];
        image[s] = sum;
    }
}

static int is_within_goal(const Chain *chain, double share, int32_t S) {
    for (int32_t s = 0; s < S; s++)
        if (!(fabs(chain->residual[s]) <= share * chain->goal[s])) return 0;
    return 1;
}

/* Compute the residuals, and their goals from the sizes of terms. Return the largest residual. */
static double find_residuals(const Chain *chain, const double *V, double share, int32_t S) {
    double largest = 0.0;
    for (int32_t s = 0; s < S; s++) {
        const double own = V[s] * (1.0 - chain->stay[s]);
        double sum = chain->b[s] - own, size = fabs(chain->b[s]) + fabs(own);
        for (int32_t e = chain->first[s]; e < chain->first[s + 1]; e++) {
            const double term = chain->entry[e] * V[chain->next[e]];
            sum += term;
            size += fabs(term);
        }
        chain->residual[s] = sum;
        chain->goal[s] = share * size;
        if (fabs(sum) > largest) largest = fabs(sum);
    }
    return largest;
}

/* Take steps of value iteration until the residuals are nearly equal, and add their sum over all further steps. Return
 * 0 where the chain forgets its state slowly. */
static int spread(Chain *chain, double *V, int steps, int32_t S) {
    double target = DBL_MAX, low = DBL_MAX, high = -DBL_MAX;
    for (int32_t s = 0; s < S; s++) {
        if (chain->goal[s] < target) target = chain->goal[s];
        if (chain->residual[s] < low) low = chain->residual[s];
        if (chain->residual[s] > high) high = chain->residual[s];
    }
    double limit = (high - low) * pow(SLOW_SHARE, FIRST_STEPS - 1);
    for (int step = 1; step <= steps; step++) {
        const double *r = chain->residual;
        low = DBL_MAX, high = -DBL_MAX;
        for (int32_t s = 0; s < S; s++) {
            double sum = chain->stay[s] * r[s];
            for (int32_t e = chain->first[s]; e < chain->first[s + 1]; e++) sum += chain->entry[e] * r[chain->next[e]];
            chain->image[s] = sum;
            V[s] += r[s];
            if (sum < low) low = sum;
            if (sum > high) high = sum;
        }
        chain->residual = chain->image;
        chain->image = (double *)r;
        if (high - low <= target) {
            for (int32_t s = 0; s < S; s++) V[s] += 0.5 * (low + high) / (1.0 - chain->gamma);
            return 1;
        }
        if (step >= FIRST_STEPS && high - low > (limit *= SLOW_SHARE)) return 0;
    }
    return 0;
}

/* Take up to `steps` steps of BiCGSTAB from the present residual. */
static void iterate(Chain *chain, double *V, int steps, double unit, int32_t S) {
    double *r = chain->residual, *p = chain->direction, *y = chain->solution, *v = chain->image, *t = chain->image2;
    memcpy(chain->shadow, r, S * sizeof(double));
    memcpy(p, r, S * sizeof(double));
    double rho = dot(chain->shadow, r, S);
    for (int step = 0; step < steps; step++) {
        apply(chain, p, y, v, S);
        const double alpha = rho / dot(chain->shadow, v, S);
        for (int32_t s = 0; s < S; s++) r[s] -= alpha * v[s], V[s] += unit * alpha * y[s];
        if (is_within_goal(chain, 0.5, S)) return;
        apply(chain, r, y, t, S);
        const double omega = dot(t, r, S) / dot(t, t, S);
        for (int32_t s = 0; s < S; s++) r[s] -= omega * t[s], V[s] += unit * omega * y[s];
        const double next = dot(chain->shadow, r, S), beta = next / rho * (alpha / omega);
        if (is_within_goal(chain, 0.5, S) || !(fabs(beta) > 0.0 && fabs(beta) < DBL_MAX)) return;
        for (int32_t s = 0; s < S; s++) p[s] = r[s] + beta * (p[s] - omega * v[s]);
        rho = next;
    }
}

/* Solve the equations of a chain, from V on. Return 1, or 0 without convergence. */
static int solve(Chain *chain, double *V, const Limits *limits, int32_t S) {
    double floor = 0.0;
    for (int start = 0;; start++) {
        if (start && limits->reduction > 0.0) return 1;
        const double largest = find_residuals(chain, V, limits->share, S);
        if (!start) floor = limits->reduction * largest;
        for (int32_t s = 0; s < S; s++) chain->goal[s] = fmax(chain->goal[s], floor);
        if (is_within_goal(chain, 1.0, S)) return 1;
        if (start == limits->starts || !(largest < DBL_MAX)) return 0;
        if (!chain->mixes_slowly && spread(chain, V, limits->steps, S)) continue;
        chain->mixes_slowly = 1;
        int exponent;
        frexp(largest, &exponent);
        const double unit = ldexp(1.0, exponent); /* squares of small residuals would vanish */
        for (int32_t s = 0; s < S; s++) chain->residual[s] /= unit, chain->goal[s] /= unit;
        iterate(chain, V, limits->steps, unit, S);
    }
}

/* Improve the policy in a sweep from the first state to the last one, or back. Return the number of changes. */
static int32_t sweep(const Model *model, double *V, int16_t *policy, const Limits *limits, int back) {
    const int32_t S = model->S;
    int32_t changes = 0;
    for (int32_t i = 0; i < S; i++) {
        const int32_t s = back ? S - 1 - i : i;
        double best = -HUGE_VAL, current = 0.0;
        int action = 0;
        for (int a = 0; a < model->A; a++) {
            const Py_ssize_t row = (Py_ssize_t)s * model->A + a;
            double Q = 0.0;
            for (int32_t e = model->first[row]; e < model->first[row + 1]; e++) Q += model->P[e] * V[model->next[e]];
            Q = model->R[row] + model->gamma * Q;
            current = a == policy[s] ? Q : current;
            action = Q > best ? a : action;
            best = Q > best ? Q : best;
        }
        if (best - current > limits->rounding * (fabs(best) + fabs(current)) + limits->noise)
            policy[s] = (int16_t)action, changes++;
        else best = current;
        V[s] = best;
    }
    return changes;
}

/* Count the next states with larger values behind their states. */
static int64_t misplaced(const Chain *chain, const double *V, int32_t S) {
    int64_t count = 0;
    for (int32_t s = 0; s < S; s++)
        for (int32_t e = chain->middle[s]; e < chain->first[s + 1]; e++) count += V[chain->next[e]] > V[s];
    return count;
}

/* Evaluate and improve a policy until it is stable, `rounds` times at most; then evaluate it exactly. */
static long improve_chain(Chain *chain, const Model *model, double *V, int16_t *policy, const Limits *limits,
                          Py_ssize_t sweeps, Py_ssize_t rounds) {
    Limits exact = *limits;
    exact.reduction = 0.0;
    for (Py_ssize_t i = 0; i < sweeps; i++) sweep(model, V, policy, limits, i % 2);
    load_policy(chain, model, policy);
    for (Py_ssize_t round = 0; round < rounds; round++) {
        if (misplaced(chain, V, model->S) > limits->misplaced) return UNSORTED;
        if (!solve(chain, V, limits, model->S)) return FAILED;
        if (!sweep(model, V, policy, limits, 0)) break;
        load_policy(chain, model, policy);
    }
    return solve(chain, V, &exact, model->S) ? CONVERGED : FAILED;
}

/* Check that rows, their entries and actions are within the arrays. Return 1, or set an IndexError and return 0. */
static int are_indices(const Model *model, Py_ssize_t entries, const int16_t *policy) {
    const Py_ssize_t rows = (Py_ssize_t)model->A * model->S;
    int right = model->first[0] == 0 && model->first[rows] == entries;
    for (Py_ssize_t row = 0; row < rows; row++) right &= model->first[row] <= model->first[row + 1];
    for (Py_ssize_t e = 0; e < entries; e++) right &= 0 <= model->next[e] && model->next[e] < model->S;
    for (Py_ssize_t s = 0; s < model->S; s++) right &= 0 <= policy[s] && policy[s] < model->A;
    if (!right) PyErr_SetString(PyExc_IndexError, "rows, states and actions must be within the model, got an index "
                                                  "out of range");
    return right;
}

/* improve(first, next, P, R, V, policy, S, A, gamma, share, reduction, rounding, noise, steps, starts, sweeps, rounds,
 * misplaced): improve a policy and its values in place. Return 1, 0 if an evaluation failed, or 2 if states should be
 * sorted before the next call. */
static PyObject *improve(PyObject *self, PyObject *arguments) {
    PyObject *objects[6];
    Py_buffer views[6];
    Py_ssize_t S, A, steps, starts, sweeps, rounds;
    double gamma;
    Limits limits;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOOnndddddnnnnn", objects, objects + 1, objects + 2, objects + 3, objects + 4,
                          objects + 5, &S, &A, &gamma, &limits.share, &limits.reduction, &limits.rounding,
                          &limits.noise, &steps, &starts, &sweeps, &rounds, &limits.misplaced))
        return NULL;
    if (!is_within("S", S, 1, INT32_MAX - 1) || !is_within("A", A, 1, INT16_MAX) ||
        !is_within("steps", steps, 0, INT_MAX) || !is_within("starts", starts, 0, INT_MAX))
        return NULL;
    limits.steps = (int)steps, limits.starts = (int)starts;
    const BufferSpec specs[] = {
        {"first", "il", sizeof(int32_t), 0, times(S, A) < PY_SSIZE_T_MAX ? S * A + 1 : PY_SSIZE_T_MAX},
        {"next", "il", sizeof(int32_t), 0, ANY_COUNT},
        {"P", "d", sizeof(double), 0, ANY_COUNT},
        {"R", "d", sizeof(double), 0, times(S, A)},
        {"V", "d", sizeof(double), 1, S},
        {"policy", "h", sizeof(int16_t), 1, S},
    };
    if (!take(objects, specs, views, 6)) return NULL;
    const Model model = {views[0].buf, views[1].buf, views[2].buf, views[3].buf, (int32_t)S, (int32_t)A, gamma};
    int right = length(views + 1) == length(views + 2);
    long result = FAILED;
    if (!right) PyErr_Format(PyExc_ValueError, "P must have %zd items, got %zd", length(views + 1), length(views + 2));
    right = right && are_indices(&model, length(views + 1), views[5].buf);
    Chain chain = {0};
    const int has_memory = right && make_chain(&chain, &model);
    if (has_memory) {
        Py_BEGIN_ALLOW_THREADS
        result = improve_chain(&chain, &model, views[4].buf, views[5].buf, &limits, sweeps, rounds);
        Py_END_ALLOW_THREADS
    }
    free_chain(&chain);
    release(views, 6);
    if (!right) return NULL;
    return has_memory ? PyLong_FromLong(result) : PyErr_NoMemory();
}

static PyMethodDef METHODS[] = {
    {"improve", improve, METH_VARARGS, "Improve and evaluate a policy in place."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, add_digest}, {0, NULL}};

static struct PyModuleDef MODULE = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_sparse",
    .m_doc = "Improve and evaluate policies of sparse models; called by `pomrl.science.solvers.sparse`.",
    .m_methods = METHODS,
    .m_slots = SLOTS,
};

PyMODINIT_FUNC PyInit__sparse(void) { return PyModuleDef_Init(&MODULE); }
