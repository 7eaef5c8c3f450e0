/* The compiled engine: policy iteration and policy evaluation for stacks of small MDPs, eight models at a time.
 *
 * A value of type `lanes` contains one number of each of eight models. Each arithmetic statement below therefore
 * processes eight models in one or a few instructions. In `plan`, each lane processes one model along its discount
 * factors: it evaluates and improves the current policy. When no action is better, it stores the policy and continues
 * with the next discount factor. A lane that has finished its model takes the next model, so that no lane waits for
 * another.
 *
 * Policies are evaluated by Gaussian elimination without pivoting on (I - gamma P_pi) V = R_pi, which is strictly
 * diagonally dominant. Operations and their order are as in `policy_stacks.PolicyStack` and `evaluation.eliminate`,
 * and multiplications and additions are never contracted (-ffp-contract=off). Results are therefore bit-identical to
 * the NumPy engine, for every vector width. `target_clones` compiles the same code for several processors, and the
 * loader selects a version. The sizes of the paper have separate copies with S and A known to the compiler.
 *
 * Arrays are P[M, S, A, S], R[M, S, A] and gammas[M, G] of native doubles, policies of 16-bit integers, and model
 * indices of 64-bit integers. `compiled.py` converts its arguments to these types. Format, order, alignment, length
 * and all indices are checked here again, so that no argument can make the engine access other memory. The GIL is
 * released during computations.
 */
#include "../_buffers.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { WIDTH = 8 };

/* The largest number of states or actions: policies are 16-bit integers, and products of two sizes must fit into an
 * int. */
enum { MAX_SIZE = INT16_MAX };

typedef double lanes __attribute__((vector_size(8 * WIDTH)));
typedef int64_t mask __attribute__((vector_size(8 * WIDTH)));

static lanes *new_lanes(Py_ssize_t count) {
    Py_ssize_t bytes = count * (Py_ssize_t)sizeof(lanes);
    lanes *array = aligned_alloc(sizeof(lanes), bytes > 0 ? bytes : (Py_ssize_t)sizeof(lanes));
    if (array) memset(array, 0, bytes);
    return array;
}

INLINE void set_lane(lanes *array, Py_ssize_t index, int lane, double value) {
    ((double *)(array + index))[lane] = value;
}

INLINE double get_lane(const lanes *array, Py_ssize_t index, int lane) {
    return ((const double *)(array + index))[lane];
}

INLINE lanes absolute(lanes x) { return (lanes)((mask)x & INT64_MAX); }

/* Solve systems of S equations. The columns from S on are the right-hand sides, and are replaced by the solutions. Two
 * equations are eliminated in each pass over the remaining ones. This halves the memory traffic, without changing the
 * operations on each entry or their order. */
INLINE void eliminate(lanes *restrict system, int S, int sides) {
    const int row = S + sides;
    for (int k = 0; k < S - 1; k += 2) {
        const lanes *first = system + k * row;
        lanes *second = system + (k + 1) * row;
        const lanes between = second[k] / first[k];
        for (int j = k + 1; j < row; j++) second[j] -= between * first[j];
        for (int i = k + 2; i < S; i++) {
            lanes *rest = system + i * row;
            const lanes factor = rest[k] / first[k];
            const lanes next = (rest[k + 1] - factor * first[k + 1]) / second[k + 1];
            for (int j = k + 2; j < row; j++) rest[j] = (rest[j] - factor * first[j]) - next * second[j];
        }
    }
    for (int side = S; side < row; side++)
        for (int k = S - 1; k >= 0; k--) {
            lanes value = system[k * row + side] / system[k * row + k];
            system[k * row + side] = value;
            for (int i = 0; i < k; i++) system[i * row + side] -= system[i * row + k] * value;
        }
}

/* The data of the models in the lanes. The actions of a state are in cyclic order, beginning with the current one. */
typedef struct {
    lanes *P;      /* [A][S][S] */
    lanes *R;      /* [A][S] */
    lanes *system; /* [S][S + sides]; after elimination, the last columns are the values for R and |R| */
    lanes *excess; /* [A - 1][S], the gain of each other action minus a bound on rounding errors */
    int16_t *policy; /* [WIDTH][S] */
} Workspace;

static void free_workspace(Workspace *work) {
    free(work->P);
    free(work->R);
    free(work->system);
    free(work->excess);
    free(work->policy);
}

static int make_workspace(Workspace *work, Py_ssize_t S, Py_ssize_t A, int sides) {
    work->P = new_lanes(A * S * S);
    work->R = new_lanes(A * S);
    work->system = new_lanes(S * (S + sides));
    work->excess = new_lanes(A * S);
    work->policy = calloc(S * WIDTH, sizeof(int16_t));
    return work->P && work->R && work->system && work->excess && work->policy;
}

/* Make `action` the current action of state s in a lane, with the lane's model P and R. */
INLINE void choose(Workspace *work, const double *P, const double *R, int S, int A, int s, int action, int lane) {
    work->policy[lane * S + s] = (int16_t)action;
    for (int c = 0; c < A; c++) {
        int a = action + c < A ? action + c : action + c - A;
        const double *row = P + ((Py_ssize_t)s * A + a) * S;
        for (int j = 0; j < S; j++) set_lane(work->P, ((Py_ssize_t)c * S + s) * S + j, lane, row[j]);
        set_lane(work->R, (Py_ssize_t)c * S + s, lane, R[(Py_ssize_t)s * A + a]);
    }
}

/* Load a model into a lane, with the optimal policy at gamma = 0. */
INLINE void load_model(Workspace *work, const double *P, const double *R, int S, int A, int lane) {
    for (int s = 0; s < S; s++) {
        int best = 0;
        for (int a = 1; a < A; a++)
            if (R[s * A + a] > R[s * A + best]) best = a;
        choose(work, P, R, S, A, s, best, lane);
    }
}

/* Compute the values of the current policies for R and, with two right-hand sides, for |R|. */
INLINE void evaluate_policies(Workspace *work, const lanes *gamma, int S, int sides) {
    const lanes minus_gamma = -*gamma;
    for (int i = 0; i < S; i++) {
        lanes *row = work->system + i * (S + sides);
        for (int j = 0; j < S; j++) row[j] = work->P[i * S + j] * minus_gamma;
        row[i] += 1.0;
        row[S] = work->R[i];
        if (sides == 2) row[S + 1] = absolute(work->R[i]);
    }
    eliminate(work->system, S, sides);
}

/* Return R + gamma P V for one row of P, with a column V of the system. */
INLINE lanes action_value(const lanes *P, const lanes *V, lanes R, lanes gamma, int S, int sides) {
    lanes value = P[0] * V[0];
    for (int j = 1; j < S; j++) value += P[j] * V[j * (S + sides)];
    value *= gamma;
    return value + R;
}

/* Compute the excess of each other action in each state: its gain minus a bound on rounding errors, as in
 * `action_ties.excess`. `better` marks the lanes with a positive excess. */
INLINE void find_excesses(Workspace *work, const lanes *gamma, double rounding, int S, int A, int sides, mask *better) {
    const lanes *V = work->system + S, *U = V + sides - 1;
    mask any = {0};
    for (int c = 1; c < A; c++)
        for (int s = 0; s < S; s++) {
            const lanes *row = work->P + ((Py_ssize_t)c * S + s) * S, R = work->R[c * S + s];
            const lanes Q = action_value(row, V, R, *gamma, S, sides);
            const lanes size = sides == 2 ? action_value(row, U, absolute(R), *gamma, S, sides) : Q;
            const Py_ssize_t at = (Py_ssize_t)s * (S + sides);
            const lanes excess = (Q - V[at]) - (rounding * (absolute(size) + absolute(U[at])) + DBL_MIN);
            work->excess[(c - 1) * S + s] = excess;
            any |= excess > 0.0;
        }
    *better = any;
}

/* In each state of a lane, select the action with the largest positive excess, if any. */
INLINE void improve(Workspace *work, const double *P, const double *R, int S, int A, int lane) {
    for (int s = 0; s < S; s++) {
        int best = 0;
        double largest = 0.0;
        for (int c = 1; c < A; c++) {
            const double excess = get_lane(work->excess, (Py_ssize_t)(c - 1) * S + s, lane);
            if (excess > largest) {
                best = c;
                largest = excess;
            }
        }
        if (best) choose(work, P, R, S, A, s, (work->policy[lane * S + s] + best) % A, lane);
    }
}

/* Plan in all M models. Return -1, or the index of a model without convergence in `patience` sweeps. */
INLINE int64_t plan_models(const double *P, const double *R, const double *gammas, int64_t M, int S, int A, int64_t G,
                           int sides, double rounding, int64_t patience, int16_t *policies, Workspace *work) {
    int64_t model[WIDTH], position[WIDTH] = {0}, sweeps[WIDTH] = {0}, next = 0, live = 0;
    lanes gamma = {0};
    for (int lane = 0; lane < WIDTH; lane++) model[lane] = -1;
    for (;;) {
        for (int lane = 0; lane < WIDTH && next < M; lane++)
            if (model[lane] < 0) {
                const int64_t i = model[lane] = next++;
                load_model(work, P + i * S * A * S, R + i * S * A, S, A, lane);
                set_lane(&gamma, 0, lane, gammas[i * G]);
                position[lane] = sweeps[lane] = 0;
                live++;
            }
        if (!live) return -1;
        evaluate_policies(work, &gamma, S, sides);
        mask better;
        find_excesses(work, &gamma, rounding, S, A, sides, &better);
        for (int lane = 0; lane < WIDTH; lane++) {
            const int64_t i = model[lane];
            if (i < 0) continue;
            if (better[lane]) {
                if (++sweeps[lane] > patience) return i;
                improve(work, P + i * S * A * S, R + i * S * A, S, A, lane);
                continue;
            }
            memcpy(policies + (i * G + position[lane]) * S, work->policy + lane * S, S * sizeof(int16_t));
            sweeps[lane] = 0;
            if (++position[lane] < G) {
                set_lane(&gamma, 0, lane, gammas[i * G + position[lane]]);
            } else {
                model[lane] = -1;
                live--;
            }
        }
    }
}

FOR_EACH_PROCESSOR
static int64_t plan_all(const double *P, const double *R, const double *gammas, int64_t M, int S, int A, int64_t G,
                        int sides, double rounding, int64_t patience, int16_t *policies, Workspace *work) {
    const int as_paper = A == 2 && sides == 1;
    if (as_paper && S == 10) return plan_models(P, R, gammas, M, 10, 2, G, 1, rounding, patience, policies, work);
    if (as_paper && S == 20) return plan_models(P, R, gammas, M, 20, 2, G, 1, rounding, patience, policies, work);
    if (as_paper && S == 30) return plan_models(P, R, gammas, M, 30, 2, G, 1, rounding, patience, policies, work);
    return plan_models(P, R, gammas, M, S, A, G, sides, rounding, patience, policies, work);
}

/* Compute the values of k policies, eight at a time; `models` has the index of the model of each policy. In the last
 * pass, unused lanes contain old numbers. */
INLINE void solve_policies(const double *P, const double *R, const int64_t *models, const int16_t *policies,
                           const double *gammas, int64_t k, int S, int A, double *V, lanes *system) {
    for (int64_t start = 0; start < k; start += WIDTH) {
        const int filled = k - start < WIDTH ? (int)(k - start) : WIDTH;
        for (int lane = 0; lane < filled; lane++) {
            const int16_t *policy = policies + (start + lane) * S;
            const double minus_gamma = -gammas[start + lane];
            for (int i = 0; i < S; i++) {
                const int64_t pair = (models[start + lane] * S + i) * A + policy[i];
                for (int j = 0; j < S; j++) set_lane(system, i * (S + 1) + j, lane, P[pair * S + j] * minus_gamma);
                set_lane(system, i * (S + 1) + i, lane, get_lane(system, i * (S + 1) + i, lane) + 1.0);
                set_lane(system, i * (S + 1) + S, lane, R[pair]);
            }
        }
        eliminate(system, S, 1);
        for (int lane = 0; lane < filled; lane++)
            for (int s = 0; s < S; s++) V[(start + lane) * S + s] = get_lane(system, s * (S + 1) + S, lane);
    }
}

FOR_EACH_PROCESSOR
static void solve_all(const double *P, const double *R, const int64_t *models, const int16_t *policies,
                      const double *gammas, int64_t k, int S, int A, double *V, lanes *system) {
    if (S == 10) solve_policies(P, R, models, policies, gammas, k, 10, A, V, system);
    else solve_policies(P, R, models, policies, gammas, k, S, A, V, system);
}

/* plan(P, R, gammas, policies, M, S, A, G, sides, rounding, patience): fill `policies` with optimal policies. Return
 * -1, or the index of a model with more than `patience` changes of its policy at one discount factor. */
static PyObject *plan(PyObject *self, PyObject *arguments) {
    PyObject *objects[4];
    Py_buffer views[4];
    Py_ssize_t M, S, A, G, sides, patience;
    double rounding;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOnnnnndn", objects, objects + 1, objects + 2, objects + 3, &M, &S, &A, &G,
                          &sides, &rounding, &patience))
        return NULL;
    if (!is_within("M", M, 0, PY_SSIZE_T_MAX) || !is_within("S", S, 1, MAX_SIZE) || !is_within("A", A, 1, MAX_SIZE) ||
        !is_within("G", G, 1, PY_SSIZE_T_MAX) || !is_within("sides", sides, 1, 2))
        return NULL;
    const BufferSpec specs[] = {
        {"P", "d", sizeof(double), 0, times(M, S * A * S)},
        {"R", "d", sizeof(double), 0, times(M, S * A)},
        {"gammas", "d", sizeof(double), 0, times(M, G)},
        {"policies", "h", sizeof(int16_t), 1, times(times(M, G), S)},
    };
    if (!take(objects, specs, views, 4)) return NULL;
    Workspace work = {0};
    int64_t stuck = -1;
    const int made = !M || make_workspace(&work, S, A, (int)sides);
    if (M && made) {
        Py_BEGIN_ALLOW_THREADS
        stuck = plan_all(views[0].buf, views[1].buf, views[2].buf, M, (int)S, (int)A, G, (int)sides, rounding,
                         patience, views[3].buf, &work);
        Py_END_ALLOW_THREADS
    }
    free_workspace(&work);
    release(views, 4);
    return made ? PyLong_FromLongLong(stuck) : PyErr_NoMemory();
}

/* Check that model indices are in [0, M) and actions in [0, A). Return 1, or set an IndexError and return 0. */
static int are_indices(const int64_t *models, const int16_t *policies, Py_ssize_t k, Py_ssize_t M, Py_ssize_t S,
                       Py_ssize_t A) {
    int right = 1;
    for (Py_ssize_t i = 0; i < k; i++) right &= 0 <= models[i] && models[i] < M;
    for (Py_ssize_t i = 0; i < k * S; i++) right &= 0 <= policies[i] && policies[i] < A;
    if (!right)
        PyErr_Format(PyExc_IndexError,
                     "models must be in [0, %zd) and policies in [0, %zd), got an index out of range", M, A);
    return right;
}

/* evaluate(P, R, models, policies, gammas, V, k, S, A): fill V with the values of k policies. */
static PyObject *evaluate(PyObject *self, PyObject *arguments) {
    PyObject *objects[6];
    Py_buffer views[6];
    Py_ssize_t k, S, A;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOOnnn", objects, objects + 1, objects + 2, objects + 3, objects + 4,
                          objects + 5, &k, &S, &A))
        return NULL;
    if (!is_within("k", k, 0, PY_SSIZE_T_MAX) || !is_within("S", S, 1, MAX_SIZE) || !is_within("A", A, 1, MAX_SIZE))
        return NULL;
    const BufferSpec specs[] = {
        {"P", "d", sizeof(double), 0, ANY_COUNT},
        {"R", "d", sizeof(double), 0, ANY_COUNT},
        {"models", "lq", sizeof(int64_t), 0, k},
        {"policies", "h", sizeof(int16_t), 0, times(k, S)},
        {"gammas", "d", sizeof(double), 0, k},
        {"V", "d", sizeof(double), 1, times(k, S)},
    };
    if (!take(objects, specs, views, 6)) return NULL;
    const Py_ssize_t M = length(views) / (S * A * S);
    int right = length(views) == M * (S * A * S) && length(views + 1) == M * (S * A);
    if (!right) PyErr_Format(PyExc_ValueError, "P and R must be models of %zd states and %zd actions, got %zd and %zd "
                             "items", S, A, length(views), length(views + 1));
    right = right && are_indices(views[2].buf, views[3].buf, k, M, S, A);
    lanes *system = right && k ? new_lanes(S * (S + 1)) : NULL;
    if (system) {
        Py_BEGIN_ALLOW_THREADS
        solve_all(views[0].buf, views[1].buf, views[2].buf, views[3].buf, views[4].buf, k, (int)S, (int)A,
                  views[5].buf, system);
        Py_END_ALLOW_THREADS
        free(system);
    }
    release(views, 6);
    if (!right) return NULL;
    if (k && !system) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"plan", plan, METH_VARARGS, "Fill an array with optimal policies along the discount factors of each model."},
    {"evaluate", evaluate, METH_VARARGS, "Fill an array with the values of policies."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, add_digest}, {0, NULL}};

static struct PyModuleDef MODULE = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_compiled",
    .m_doc = "Compute policies and values for stacks of small MDPs; called by `pomrl.science.solvers.compiled`.",
    .m_methods = METHODS,
    .m_slots = SLOTS,
};

PyMODINIT_FUNC PyInit__compiled(void) { return PyModuleDef_Init(&MODULE); }
