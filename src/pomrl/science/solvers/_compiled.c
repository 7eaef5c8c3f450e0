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
 * Few models, or models above `MAX_LANES_STATES` states, are planned one after the other (`plan_alone`), with
 * the same operations on each entry. There, one instruction processes several columns, and entries outside an envelope
 * are skipped, because they are 0 under all policies. So a grid world takes S w^2 operations for rows of width w. Only
 * the sign of a zero can differ.
 *
 * Arrays are P[M, S, A, S], R[M, S, A], gammas[M, G] and values[sides, M, G, S] of native doubles, policies of 16-bit
 * integers, and model indices of 64-bit integers. `compiled.py` converts its arguments to these types. Format, order,
 * alignment, length and all indices are checked here again, so that no argument can make the engine access other
 * memory. The GIL is released during computations.
 */
#include "../_buffers.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { WIDTH = 8 };

/* The largest number of states or actions: policies are 16-bit integers, and products of two sizes must fit into an
 * int. */
enum { MAX_SIZE = INT16_MAX };

/* The result of a plan without memory, instead of -1 or the index of a model. */
enum { NO_MEMORY = -2 };

/* The smallest number of models, and the largest number of states, for which lanes are faster than `plan_alone`. */
enum { MIN_LANES_MODELS = 4, MAX_LANES_STATES = 64 };

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

/* Store the values of a lane's policy for R and, with two right-hand sides, for |R|. */
INLINE void store_values(const Workspace *work, int S, int sides, int lane, int64_t stride, double *values) {
    for (int side = 0; side < sides; side++)
        for (int s = 0; s < S; s++)
            values[side * stride + s] = get_lane(work->system, s * (S + sides) + S + side, lane);
}

/* Plan in all M models. Return -1, or the index of a model without convergence in `patience` sweeps. */
INLINE int64_t plan_models(const double *P, const double *R, const double *gammas, int64_t M, int S, int A, int64_t G,
                           int sides, double rounding, int64_t patience, int16_t *policies, double *values,
                           Workspace *work) {
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
            const int64_t plan = (i * G + position[lane]) * S;
            memcpy(policies + plan, work->policy + lane * S, S * sizeof(int16_t));
            if (values) store_values(work, S, sides, lane, M * G * S, values + plan);
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
                        int sides, double rounding, int64_t patience, int16_t *policies, double *values,
                        Workspace *work) {
    const int as_paper = A == 2 && sides == 1;
#define PLAN_MODELS(S, A, sides) \
    plan_models(P, R, gammas, M, S, A, G, sides, rounding, patience, policies, values, work)
    if (as_paper && S == 10) return PLAN_MODELS(10, 2, 1);
    if (as_paper && S == 20) return PLAN_MODELS(20, 2, 1);
    if (as_paper && S == 30) return PLAN_MODELS(30, 2, 1);
    return PLAN_MODELS(S, A, sides);
#undef PLAN_MODELS
}

static int64_t plan_in_lanes(const double *P, const double *R, const double *gammas, int64_t M, int S, int A, int64_t G,
                             int sides, double rounding, int64_t patience, int16_t *policies, double *values) {
    Workspace work = {0};
    const int64_t stuck = make_workspace(&work, S, A, sides)
        ? plan_all(P, R, gammas, M, S, A, G, sides, rounding, patience, policies, values, &work)
        : NO_MEMORY;
    free_workspace(&work);
    return stuck;
}

/* One model, with the entries that can differ from 0. Bounds of ranges are included. */
typedef struct {
    int *first, *last;     /* [S] columns of row i of a system under any policy, also during elimination */
    int *top, *bottom;     /* [S] rows with entries in column k, at and below the diagonal or above */
    int *from, *to;        /* [S] pairs with transitions to state j; pair s A + a */
    Py_ssize_t *row, *column; /* [S] offsets of row i in `system` and of column j in `P`, minus the first index */
    double *system, *P;    /* the rows of a system, and transition probabilities by next state */
    double *V, *Q;         /* [sides][S] values and [sides][S A] action values, for R and |R| */
    int16_t *policy;       /* [S] */
} Alone;

static void free_alone(Alone *one) {
    free(one->first);
    free(one->row);
    free(one->system);
    free(one->P);
    free(one->V);
    free(one->Q);
    free(one->policy);
}

static int make_alone(Alone *one, Py_ssize_t S, Py_ssize_t A, int sides) {
    int *ranges = one->first = calloc(6 * S, sizeof(int));
    one->row = calloc(2 * S, sizeof(Py_ssize_t));
    one->V = calloc(S * sides, sizeof(double));
    one->Q = calloc(S * A * sides, sizeof(double));
    one->policy = calloc(S, sizeof(int16_t));
    if (!ranges || !one->row || !one->V || !one->Q || !one->policy) return 0;
    one->last = ranges + S, one->top = ranges + 2 * S, one->bottom = ranges + 3 * S;
    one->from = ranges + 4 * S, one->to = ranges + 5 * S, one->column = one->row + S;
    return 1;
}

/* Find the columns of each row, and the pairs of each column, with positive probabilities. */
static void find_entries(Alone *one, const double *P, int S, int A) {
    for (int j = 0; j < S; j++) one->first[j] = one->last[j] = j, one->from[j] = S * A, one->to[j] = -1;
    for (int pair = 0; pair < S * A; pair++) {
        const double *row = P + (Py_ssize_t)pair * S;
        const int s = pair / A;
        for (int j = 0; j < S; j++) {
            if (row[j] == 0.0) continue;
            if (j < one->first[s]) one->first[s] = j;
            if (j > one->last[s]) one->last[s] = j;
            if (pair < one->from[j]) one->from[j] = pair;
            one->to[j] = pair;
        }
    }
}

/* Extend rows by the columns that elimination fills, and find the rows of each column. */
static void add_fill(Alone *one, int S) {
    for (int k = 0; k < S; k++) one->top[k] = one->bottom[k] = k;
    for (int i = 0; i < S; i++) one->bottom[one->first[i]] = i;
    for (int k = 1; k < S; k++)
        if (one->bottom[k] < one->bottom[k - 1]) one->bottom[k] = one->bottom[k - 1];
    for (int k = 0; k < S; k++)
        for (int i = k + 1; i <= one->bottom[k]; i++)
            if (one->first[i] <= k && one->last[i] < one->last[k]) one->last[i] = one->last[k];
    for (int i = S - 1; i >= 0; i--) one->top[one->last[i]] = i;
    for (int k = S - 2; k >= 0; k--)
        if (one->top[k] > one->top[k + 1]) one->top[k] = one->top[k + 1];
}

/* Load a model, with the optimal policy at gamma = 0. Return 0 without memory. */
static int load_alone(Alone *one, const double *P, const double *R, int S, int A) {
    Py_ssize_t cells = 0, entries = 0;
    find_entries(one, P, S, A);
    add_fill(one, S);
    for (int i = 0; i < S; i++) {
        one->row[i] = cells - one->first[i], cells += one->last[i] - one->first[i] + 1;
        one->column[i] = entries - one->from[i], entries += one->to[i] < 0 ? 0 : one->to[i] - one->from[i] + 1;
    }
    free(one->system);
    free(one->P);
    one->system = malloc(cells * sizeof(double));
    one->P = calloc(entries, sizeof(double));
    if (!one->system || !one->P) return 0;
    for (int pair = 0; pair < S * A; pair++)
        for (int j = one->first[pair / A]; j <= one->last[pair / A]; j++)
            if (one->from[j] <= pair && pair <= one->to[j]) one->P[one->column[j] + pair] = P[(Py_ssize_t)pair * S + j];
    for (int s = 0; s < S; s++) {
        one->policy[s] = 0;
        for (int a = 1; a < A; a++)
            if (R[s * A + a] > R[s * A + one->policy[s]]) one->policy[s] = (int16_t)a;
    }
    return 1;
}

/* Subtract equation k from equation i, to eliminate state k there. */
INLINE void subtract(Alone *one, int i, int k, int S, int sides) {
    double *restrict rest = one->system + one->row[i];
    const double *restrict pivot = one->system + one->row[k];
    if (rest[k] == 0.0) return;
    const double factor = rest[k] / pivot[k];
    for (int j = k + 1; j <= one->last[k]; j++) rest[j] -= factor * pivot[j];
    for (int side = 0; side < sides; side++) one->V[side * S + i] -= factor * one->V[side * S + k];
}

/* Subtract equations k and k + 1. Row k has column k + 1, and row k + 1 has all columns of row k. As in `eliminate`, two
 * equations at once halve the memory traffic, with the same operations. */
INLINE void subtract_two(Alone *one, int i, int k, int S, int sides) {
    double *restrict rest = one->system + one->row[i];
    const double *restrict pivot = one->system + one->row[k], *restrict second = one->system + one->row[k + 1];
    const double factor = rest[k] / pivot[k], next = (rest[k + 1] - factor * pivot[k + 1]) / second[k + 1];
    for (int j = k + 2; j <= one->last[k]; j++) rest[j] = (rest[j] - factor * pivot[j]) - next * second[j];
    for (int j = one->last[k] + 1; j <= one->last[k + 1]; j++) rest[j] -= next * second[j];
    for (double *V = one->V; V < one->V + sides * S; V += S) V[i] = (V[i] - factor * V[k]) - next * V[k + 1];
}

/* Eliminate states k and k + 1 from the equations after them. */
INLINE void eliminate_two(Alone *one, int k, int S, int sides) {
    const int second = k + 1 < S ? k + 1 : k, has_both = second > k && one->first[second] <= k;
    const int is_joined = has_both && one->last[k] > k;
    if (has_both) subtract(one, second, k, S, sides);
    for (int i = second + 1; i <= one->bottom[second]; i++) {
        const int has_first = one->first[i] <= k && one->system[one->row[i] + k] != 0.0;
        if (has_first && is_joined) {
            subtract_two(one, i, k, S, sides);
        } else {
            if (has_first) subtract(one, i, k, S, sides);
            if (one->first[i] <= second) subtract(one, i, second, S, sides);
        }
    }
}

/* Compute the values of the current policy, as `evaluate_policies` does. */
INLINE void evaluate_alone(Alone *one, const double *P, const double *R, double gamma, int S, int A, int sides) {
    for (int i = 0; i < S; i++) {
        const Py_ssize_t pair = (Py_ssize_t)i * A + one->policy[i];
        double *restrict row = one->system + one->row[i];
        const double *restrict chances = P + pair * S;
        for (int j = one->first[i]; j <= one->last[i]; j++) row[j] = chances[j] * -gamma;
        row[i] += 1.0;
        one->V[i] = R[pair];
        if (sides == 2) one->V[S + i] = fabs(R[pair]);
    }
    for (int k = 0; k < S; k += 2) eliminate_two(one, k, S, sides);
    for (int side = 0; side < sides; side++)
        for (int k = S - 1; k >= 0; k--) {
            double *V = one->V + side * S;
            V[k] /= one->system[one->row[k] + k];
            for (int i = one->top[k]; i < k; i++)
                if (one->last[i] >= k) V[i] -= one->system[one->row[i] + k] * V[k];
        }
}

/* Compute R + gamma P V for all pairs; sums are in the order of the states. */
INLINE void value_actions(Alone *one, const double *R, double gamma, int S, int A, int sides) {
    for (int side = 0; side < sides; side++) {
        double *restrict Q = one->Q + (Py_ssize_t)side * S * A;
        memset(Q, 0, sizeof(double) * S * A);
        for (int j = 0; j < S; j++) {
            const double *restrict chances = one->P + (one->column[j] + one->from[j]);
            const double value = one->V[side * S + j];
            for (int pair = one->from[j]; pair <= one->to[j]; pair++) Q[pair] += chances[pair - one->from[j]] * value;
        }
        for (int pair = 0; pair < S * A; pair++) Q[pair] = Q[pair] * gamma + (side ? fabs(R[pair]) : R[pair]);
    }
}

/* In each state, take the action with the largest positive excess, if any, as `improve` does. Return the number of
 * changes. */
INLINE int improve_alone(Alone *one, double rounding, int S, int A, int sides) {
    int changes = 0;
    for (int s = 0; s < S; s++) {
        const double V = one->V[s], U = fabs(one->V[(sides - 1) * S + s]);
        double largest = 0.0;
        int best = -1;
        for (int c = 1; c < A; c++) {
            const int a = (one->policy[s] + c) % A;
            const double Q = one->Q[s * A + a], size = fabs(one->Q[((Py_ssize_t)(sides - 1) * S + s) * A + a]);
            const double excess = (Q - V) - (rounding * (size + U) + DBL_MIN);
            if (excess > largest) best = a, largest = excess;
        }
        if (best >= 0) one->policy[s] = (int16_t)best, changes++;
    }
    return changes;
}

/* Plan in one model. Return 0 if its policy changes more than `patience` times at one discount factor. */
FOR_EACH_PROCESSOR
static int plan_model(Alone *one, const double *P, const double *R, const double *gammas, int S, int A, int64_t G,
                      int sides, double rounding, int64_t patience, int16_t *policies, int64_t stride, double *values) {
    for (int64_t g = 0; g < G; g++) {
        for (int64_t sweeps = 0;;) {
            evaluate_alone(one, P, R, gammas[g], S, A, sides);
            value_actions(one, R, gammas[g], S, A, sides);
            if (!improve_alone(one, rounding, S, A, sides)) break;
            if (++sweeps > patience) return 0;
        }
        memcpy(policies + g * S, one->policy, S * sizeof(int16_t));
        for (int side = 0; values && side < sides; side++)
            memcpy(values + side * stride + g * S, one->V + side * S, S * sizeof(double));
    }
    return 1;
}

static int64_t plan_alone(const double *P, const double *R, const double *gammas, int64_t M, int S, int A, int64_t G,
                          int sides, double rounding, int64_t patience, int16_t *policies, double *values) {
    Alone one = {0};
    int64_t stuck = make_alone(&one, S, A, sides) ? -1 : NO_MEMORY;
    for (int64_t i = 0; stuck == -1 && i < M; i++) {
        const double *P_i = P + i * S * A * S, *R_i = R + i * S * A;
        if (!load_alone(&one, P_i, R_i, S, A)) stuck = NO_MEMORY;
        else if (!plan_model(&one, P_i, R_i, gammas + i * G, S, A, G, sides, rounding, patience, policies + i * G * S,
                             M * G * S, values ? values + i * G * S : NULL))
            stuck = i;
    }
    free_alone(&one);
    return stuck;
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

/* plan(P, R, gammas, policies, values, M, S, A, G, sides, rounding, patience): fill `policies` with optimal policies,
 * and `values` with their values, unless it is empty. Return -1, or the index of a model with more than `patience`
 * changes of its policy at one discount factor. */
static PyObject *plan(PyObject *self, PyObject *arguments) {
    PyObject *objects[5];
    Py_buffer views[5];
    Py_ssize_t M, S, A, G, sides, patience;
    double rounding;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOnnnnndn", objects, objects + 1, objects + 2, objects + 3, objects + 4, &M,
                          &S, &A, &G, &sides, &rounding, &patience))
        return NULL;
    if (!is_within("M", M, 0, PY_SSIZE_T_MAX) || !is_within("S", S, 1, MAX_SIZE) || !is_within("A", A, 1, MAX_SIZE) ||
        !is_within("G", G, 1, PY_SSIZE_T_MAX) || !is_within("sides", sides, 1, 2))
        return NULL;
    const BufferSpec specs[] = {
        {"P", "d", sizeof(double), 0, times(M, S * A * S)},
        {"R", "d", sizeof(double), 0, times(M, S * A)},
        {"gammas", "d", sizeof(double), 0, times(M, G)},
        {"policies", "h", sizeof(int16_t), 1, times(times(M, G), S)},
        {"values", "d", sizeof(double), 1, ANY_COUNT},
    };
    if (!take(objects, specs, views, 5)) return NULL;
    const Py_ssize_t count = times(times(times(M, G), S), sides);
    int64_t stuck = -1;
    const int right = !length(views + 4) || length(views + 4) == count;
    if (!right) PyErr_Format(PyExc_ValueError, "values must have 0 or %zd items, got %zd", count, length(views + 4));
    if (right && M) {
        double *values = length(views + 4) ? views[4].buf : NULL;
        Py_BEGIN_ALLOW_THREADS
        stuck = (M < MIN_LANES_MODELS || S > MAX_LANES_STATES ? plan_alone : plan_in_lanes)(
            views[0].buf, views[1].buf, views[2].buf, M, (int)S, (int)A, G, (int)sides, rounding, patience,
            views[3].buf, values);
        Py_END_ALLOW_THREADS
    }
    release(views, 5);
    if (!right) return NULL;
    return stuck == NO_MEMORY ? PyErr_NoMemory() : PyLong_FromLongLong(stuck);
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
