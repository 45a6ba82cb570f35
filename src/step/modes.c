// SPDX-License-Identifier: Apache-2.0
// The step method `modes`: every solution of an impact step, by contact modes (docs/laws.md, "Selection").
//
// A solution of the step's LCP says of each contact whether it opens, stops approaching or is capped, and whether it sticks or slips along
// a cone edge or, in space, between two of them. Each combination of modes is a small square linear system in contact space. Its solution
// is kept when the signs agree with the modes; the LCP's verifier and the physical checks have the last word.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "step/step_internal.h"

// Combinations beyond this number take minutes: seven planar capped contacts have 7^7 of them.
#define MOST_COMBINATIONS 1e6

// Signs are judged against the speed before the step, and against the impulse that would stop it; normal impulses are multiplied by mu, so
// that their tolerance is divided by 1 + mu.
#define SIGN_TOLERANCE 1e-10

// A pivot below this share of the largest one, in a system whose rows and columns have unit size, makes it singular.
#define SINGULAR_PIVOT 1e-11
// In a singular system, entries and right-hand sides below this share of the largest one are zeros with round-off.
#define SINGULAR_SYSTEM 1e-9
// A null vector whose velocity change is below this share of what its impulse could do leaves the velocity alone.
#define STILL 1e-7

// Velocities closer than this share of the largest one, before or after the step, are the same solution.
#define SAME_VELOCITY 1e-8

enum { REFINEMENTS = 2 };
// Combinations between two questions whether to stop: some tenths of a millisecond.
enum { POLL_EVERY = 256 };

// The combination at hand, and the solutions found so far.
typedef struct mode_search {
    int contacts, n;              // n: size of contact space
    int base;                     // modes of one contact
    int size;                     // unknowns of the current combination
    double *trial, *test;         // [unknowns x n] impulse of each unknown; velocity component that each equation sets to zero
    double *reply;                // [unknowns x n] velocity change by each trial impulse
    double *fixed, *fixed_reply;  // [n] impulse without unknowns (caps), and its velocity change
    double *system, *factors;     // [unknowns x unknowns]
    double *row_scale, *column_scale, *right_side, *unknowns, *correction;
    double *impulse, *u;          // [n] of the candidate
    int *exchanges, *code;        // code [contacts]
    carom_step_mode *modes;       // [contacts]
    double *found;                // [found_count x (nv + n)] velocity and impulse of each solution
    carom_step_info *found_info;  // [found_count]
    int found_count, found_capacity;
    carom_arena arena;
} mode_search;

// ------------------------------------------------------------------------------------------------------------ lifetime

static void destroy(void *state) {
    mode_search *search = state;
    if (!search) return;
    carom_arena_free(&search->arena);
    free(search->found);
    free(search->found_info);
    free(search);
}

// Stick, slip along each edge, and in space slip between two.
static int friction_modes(const carom_stepper *stepper) { return 1 + stepper->edges + (stepper->dim == 2 ? stepper->edges : 0); }

static carom_status create(const carom_stepper *stepper, void **state, carom_error *error) {
    *state = NULL;
    const int base = 1 + (stepper->beta >= 0 ? 2 : 1) * friction_modes(stepper);
    if (pow(base, stepper->count) > MOST_COMBINATIONS)
        return carom_fail(error, CAROM_BAD_INPUT, "selection: %d contacts with %d modes each have too many combinations to enumerate",
                          stepper->count, base);
    // A contact has at most one unknown for each component of its impulse.
    mode_search *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "enumeration");
    made->contacts = stepper->count;
    made->n = carom_impact_contact_size(stepper->impact);
    made->base = base;
    const size_t n = (size_t)made->n, contacts = (size_t)made->contacts, most = contacts * (1 + (size_t)stepper->dim);
    carom_arena *arena = &made->arena;
    made->trial = carom_arena_take(arena, most * n, sizeof(double));
    made->test = carom_arena_take(arena, most * n, sizeof(double));
    made->reply = carom_arena_take(arena, most * n, sizeof(double));
    made->fixed = carom_arena_take(arena, n, sizeof(double));
    made->fixed_reply = carom_arena_take(arena, n, sizeof(double));
    made->system = carom_arena_take(arena, most * most, sizeof(double));
    made->factors = carom_arena_take(arena, most * most, sizeof(double));
    made->row_scale = carom_arena_take(arena, most, sizeof(double));
    made->column_scale = carom_arena_take(arena, most, sizeof(double));
    made->right_side = carom_arena_take(arena, most, sizeof(double));
    made->unknowns = carom_arena_take(arena, most, sizeof(double));
    made->correction = carom_arena_take(arena, most, sizeof(double));
    made->impulse = carom_arena_take(arena, n, sizeof(double));
    made->u = carom_arena_take(arena, n, sizeof(double));
    made->exchanges = carom_arena_take(arena, most, sizeof *made->exchanges);
    made->code = carom_arena_take(arena, contacts, sizeof *made->code);
    made->modes = carom_arena_take(arena, contacts, sizeof *made->modes);
    if (!arena->failed) {
        *state = made;
        return CAROM_OK;
    }
    destroy(made);
    return carom_fail_memory(error, "enumeration");
}

// ------------------------------------------------------------------------------------------------ the linear system

static double *zero_row(double *rows, int row, int n) {
    memset(rows + (size_t)row * (size_t)n, 0, (size_t)n * sizeof *rows);
    return rows + (size_t)row * (size_t)n;
}

// The impulse of a unit normal impulse in this mode: slip drags mu times it along the edge.
static void add_normal_impulse(const carom_stepper *stepper, const carom_step_mode *mode, int contact, double amount, double *impulse) {
    double *part = impulse + carom_step_contact_row(stepper, contact);
    const double mu = carom_impact_get_data(stepper->impact)->friction[stepper->first + contact];
    part[0] += amount;
    if (mode->friction == CAROM_MODE_STICK) return;
    // On a facet the second edge carries what the first does not.
    const double *d = carom_step_direction(stepper, mode->friction == CAROM_MODE_FACET ? mode->edge + 1 : mode->edge);
    for (int p = 0; p < stepper->dim; p++) part[1 + p] += amount * mu * d[p];
}

// The modes of the codes, and the equations test_i . (u + fixed_reply + sum_j unknown_j reply_j) = 0 that they give. Unknowns and equations
// of one contact come in pairs: lam_n with u_n = 0; lam_t with u_t = 0 (stick); the share of a facet's first edge with
// (d_j - d_j+1).u_t = 0. A capped contact has no unknown lam_n.
static void assemble(const carom_stepper *stepper, mode_search *search, const double *lmax) {
    const int n = search->n, dim = stepper->dim, kinds = friction_modes(stepper);
    search->size = 0;
    zero_row(search->fixed, 0, n);
    for (int i = 0; i < search->contacts; i++) {
        // Code 0 is open; then the friction modes of a contact that stops approaching, then those of a capped one.
        const int code = search->code[i], row = carom_step_contact_row(stepper, i);
        carom_step_mode *mode = &search->modes[i];
        *mode = (carom_step_mode){.open = code == 0, .capped = code > kinds};
        if (mode->open) continue;
        const int friction = (code - 1) % kinds;
        if (friction > stepper->edges)
            mode->friction = CAROM_MODE_FACET, mode->edge = friction - stepper->edges - 1;
        else if (friction > 0)
            mode->friction = CAROM_MODE_EDGE, mode->edge = friction - 1;

        if (mode->capped) {
            add_normal_impulse(stepper, mode, i, lmax ? lmax[i] : 0, search->fixed);
        } else {
            add_normal_impulse(stepper, mode, i, 1, zero_row(search->trial, search->size, n));
            zero_row(search->test, search->size++, n)[row] = 1;
        }
        for (int p = 0; mode->friction == CAROM_MODE_STICK && p < dim; p++) {
            zero_row(search->trial, search->size, n)[row + 1 + p] = 1;
            zero_row(search->test, search->size++, n)[row + 1 + p] = 1;
        }
        if (mode->friction == CAROM_MODE_FACET) {
            double *trial = zero_row(search->trial, search->size, n), *test = zero_row(search->test, search->size++, n);
            const double *d = carom_step_direction(stepper, mode->edge), *e = carom_step_direction(stepper, mode->edge + 1);
            for (int p = 0; p < dim; p++) trial[row + 1 + p] = test[row + 1 + p] = d[p] - e[p];
        }
    }

    // Replies W trial_j, then the equations of the tests: system_ij = test_i . reply_j.
    const double *W = carom_impact_delassus(stepper->impact);
    carom_multiply(n, n, W, search->fixed, search->fixed_reply);
    for (int j = 0; j < search->size; j++)
        carom_multiply(n, n, W, search->trial + (size_t)j * (size_t)n, search->reply + (size_t)j * (size_t)n);
    for (int i = 0; i < search->size; i++) {
        const double *test = search->test + (size_t)i * (size_t)n;
        for (int j = 0; j < search->size; j++)
            search->system[i * search->size + j] = carom_dot(n, test, search->reply + (size_t)j * (size_t)n);
        search->right_side[i] = -carom_dot(n, test, stepper->u) - carom_dot(n, test, search->fixed_reply);
    }
}

static double reciprocal(double size) { return size > 0 ? 1 / size : 1; }

// Rows, then columns of unit size into `factors`: mu = 1e5 is no reason to call a system singular.
static void scale_system(mode_search *search) {
    const int size = search->size;
    for (int i = 0; i < size; i++) search->row_scale[i] = reciprocal(carom_max_abs((size_t)size, search->system + i * size));
    for (int j = 0; j < size; j++) {
        double largest = 0;
        for (int i = 0; i < size; i++) largest = fmax(largest, fabs(search->row_scale[i] * search->system[i * size + j]));
        search->column_scale[j] = reciprocal(largest);
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            search->factors[i * size + j] = search->row_scale[i] * search->system[i * size + j] * search->column_scale[j];
}

// --------------------------------------------------------------------------------------------- do the signs agree?

// The greatest sliding speed against a cone edge, max_j -d_j.u_t.
static double sliding_speed(const carom_stepper *stepper, const double *tangent) {
    double greatest = -INFINITY;
    for (int j = 0; j < stepper->edges; j++) greatest = fmax(greatest, -carom_dot(stepper->dim, carom_step_direction(stepper, j), tangent));
    return greatest;
}

// Writes lam_t as a non-negative combination of the two cone edges around it; returns the sum of their weights.
static double split_on_edges(const carom_stepper *stepper, const double *tangent, double *weights) {
    if (stepper->dim == 1) {
        weights[tangent[0] < 0] = fabs(tangent[0]);
        return fabs(tangent[0]);
    }
    // In space: solve lam_t = on_a a + on_b b in every sector between two edges.
    double least_sum = INFINITY, best[2] = {0, 0};
    int best_edge = 0;
    for (int j = 0; j < stepper->edges; j++) {
        const double *a = carom_step_direction(stepper, j), *b = carom_step_direction(stepper, j + 1);
        const double determinant = a[0] * b[1] - a[1] * b[0];
        const double on_a = (tangent[0] * b[1] - tangent[1] * b[0]) / determinant,
                     on_b = (a[0] * tangent[1] - a[1] * tangent[0]) / determinant;
        // Take the sector whose weights are least negative.
        const double misfit = fmax(0, -on_a) + fmax(0, -on_b);
        if (misfit < least_sum) {
            least_sum = misfit;
            best_edge = j;
            best[0] = fmax(0, on_a);
            best[1] = fmax(0, on_b);
        }
    }
    weights[best_edge] = best[0];
    weights[(best_edge + 1) % stepper->edges] += best[1];
    return best[0] + best[1];
}

// Clips round-off and fills this contact's part of z; false when a sign contradicts the mode.
static bool settle_contact(carom_stepper *stepper, const mode_search *search, int contact, double cap, double speed) {
    const carom_step_mode *mode = &search->modes[contact];
    const int row = carom_step_contact_row(stepper, contact), dim = stepper->dim;
    const double inverse_mass = carom_impact_delassus(stepper->impact)[(size_t)row * (size_t)search->n + (size_t)row];
    const double mu = carom_impact_get_data(stepper->impact)->friction[stepper->first + contact];
    // Round-off of speeds, and of the impulses that change them by as much.
    const double small_speed = SIGN_TOLERANCE * speed, small_impulse = SIGN_TOLERANCE * speed / inverse_mass;
    const double normal = search->impulse[row], *tangent = search->impulse + row + 1, *u = search->u + row, *slip = u + 1;
    double *weights = stepper->z + carom_step_force_index(stepper, contact, 1), *z = stepper->z;
    memset(weights, 0, (size_t)stepper->edges * sizeof *weights);
    const bool sticks = !mode->open && mode->friction == CAROM_MODE_STICK;
    z[stepper->gamma + contact] = sticks ? 0 : fmax(0, sliding_speed(stepper, slip));
    if (mode->open) {
        if (stepper->beta >= 0) z[stepper->beta + contact] = 0;
        z[stepper->normal + contact] = 0;
        return u[0] >= -small_speed;
    }

    // Normal part: 0 <= lam_n <= cap where the contact stops, u_n <= 0 at the cap.
    const double small_normal = small_impulse / (1 + mu);
    if (normal < -small_normal) return false;
    if (stepper->beta >= 0 && !mode->capped && normal > cap + small_normal) return false;
    if (mode->capped && u[0] > small_speed) return false;
    if (stepper->beta >= 0) z[stepper->beta + contact] = mode->capped ? fmax(0, -u[0]) : 0;
    z[stepper->normal + contact] = mode->capped ? cap : fmax(0, normal);

    const double limit = mu * z[stepper->normal + contact];
    if (sticks) return split_on_edges(stepper, tangent, weights) <= limit + small_impulse;

    // Slip along an edge, or between two: lam_t = a d_j + (mu lam_n - a) d_j+1 with 0 <= a <= mu lam_n.
    const double *d = carom_step_direction(stepper, mode->edge), *e = carom_step_direction(stepper, mode->edge + 1);
    const double sliding = sliding_speed(stepper, slip);
    if (-carom_dot(dim, d, slip) < sliding - small_speed || sliding < -small_speed) return false;
    double share = limit;
    if (mode->friction == CAROM_MODE_FACET) {
        double along = 0, length = 0;
        for (int p = 0; p < dim; p++) {
            along += (tangent[p] - limit * e[p]) * (d[p] - e[p]);
            length += (d[p] - e[p]) * (d[p] - e[p]);
        }
        share = along / length;
        if (share < -small_impulse || share > limit + small_impulse) return false;
        share = fmin(fmax(share, 0), limit);
        weights[(mode->edge + 1) % stepper->edges] = limit - share;
    }
    weights[mode->edge] = share;
    return true;
}

// ------------------------------------------------------------------------------------------------------ what was found

// Keeps stepper->v_next with this impulse, unless the velocity is known; `*added`, which may be NULL, says which.
static carom_status keep(const carom_stepper *stepper, mode_search *search, const double *v, const double *impulse,
                         const carom_step_info *info, bool *added, carom_error *error) {
    const size_t nv = (size_t)carom_impact_get_data(stepper->impact)->nv, width = nv + (size_t)search->n;
    const double same = SAME_VELOCITY * fmax(carom_max_abs(nv, stepper->v_next), carom_max_abs(nv, v));
    if (added) *added = false;
    for (int i = 0; i < search->found_count; i++) {
        const double *other = search->found + (size_t)i * width;
        double difference = 0;
        for (size_t k = 0; k < nv; k++) difference = fmax(difference, fabs(other[k] - stepper->v_next[k]));
        if (difference <= same) return CAROM_OK;
    }
    // A new velocity; the list grows by doubling.
    if (search->found_count == search->found_capacity) {
        const int capacity = 2 * search->found_capacity + 8;
        double *found = realloc(search->found, (size_t)capacity * width * sizeof *found);
        if (found) search->found = found;
        carom_step_info *found_info = realloc(search->found_info, (size_t)capacity * sizeof *found_info);
        if (found_info) search->found_info = found_info;
        if (!found || !found_info) return carom_fail_memory(error, "enumeration");
        search->found_capacity = capacity;
    }
    double *made = search->found + (size_t)search->found_count * width;
    memcpy(made, stepper->v_next, nv * sizeof *made);
    memcpy(made + nv, impulse, (size_t)search->n * sizeof *made);
    search->found_info[search->found_count++] = *info;
    if (added) *added = true;
    return CAROM_OK;
}

// Solves the factored system of a combination, and keeps its solution where the signs agree.
static carom_status try_candidate(carom_stepper *stepper, mode_search *search, const double *v, const double *lmax, carom_error *error) {
    const int size = search->size, n = search->n;
    // Residuals in extended precision against the unscaled system: cancellation is what refinement lives on.
    memset(search->unknowns, 0, (size_t)size * sizeof *search->unknowns);
    for (int sweep = 0; sweep <= REFINEMENTS; sweep++) {
        for (int i = 0; i < size; i++) {
            long double rest = search->right_side[i];
            for (int j = 0; j < size; j++) rest -= (long double)search->system[i * size + j] * search->unknowns[j];
            search->correction[i] = (double)rest * search->row_scale[i];
        }
        carom_lu_solve(size, search->factors, search->exchanges, search->correction);
        for (int j = 0; j < size; j++) search->unknowns[j] += search->column_scale[j] * search->correction[j];
    }
    // Impulse and velocity of the unknowns.
    for (int c = 0; c < n; c++) {
        search->impulse[c] = search->fixed[c];
        search->u[c] = stepper->u[c] + search->fixed_reply[c];
        for (int j = 0; j < size; j++) {
            search->impulse[c] += search->unknowns[j] * search->trial[j * n + c];
            search->u[c] += search->unknowns[j] * search->reply[j * n + c];
        }
    }
    const double speed = carom_max_abs((size_t)n, stepper->u);
    // Signs, then the residual of the LCP, then physics: each may end the candidate.
    for (int i = 0; i < search->contacts; i++)
        if (!settle_contact(stepper, search, i, lmax ? lmax[i] : 0, speed)) return CAROM_OK;
    carom_step_info info = {.verdict = CAROM_COMPLETE};
    if (!carom_step_verify(stepper, &info.residual)) return CAROM_OK;
    carom_step_accept(stepper, v, lmax, search->impulse, &info);
    return info.verdict == CAROM_COMPLETE ? keep(stepper, search, v, search->impulse, &info, NULL, error) : CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------- singular modes

// The impulse and the velocity change of unknowns in the scaled system.
static void map_unknowns(const carom_stepper *stepper, const mode_search *search, const double *scaled, double *impulse, double *u) {
    for (int c = 0; c < search->n; c++) {
        impulse[c] = 0;
        for (int j = 0; j < search->size; j++) impulse[c] += scaled[j] * search->column_scale[j] * search->trial[j * search->n + c];
    }
    carom_multiply(search->n, search->n, carom_impact_delassus(stepper->impact), impulse, u);
}

// Does a continuum of velocities hide in this singular combination? Where null vectors do not move the velocity, all its solutions share
// one, which a regular combination at a vertex has, too. Otherwise the signs decide how far the solutions reach.
static carom_status find_continuum(const carom_stepper *stepper, mode_search *search, const double *lmax, bool *found, carom_error *error) {
    *found = false;
    scale_system(search);
    for (int i = 0; i < search->size; i++) search->correction[i] = search->row_scale[i] * search->right_side[i];
    // The replies are not needed again: a singular combination has no candidate.
    double *null_vectors = search->reply;
    const int rank =
        carom_solve_general(search->size, search->factors, search->correction, SINGULAR_SYSTEM, null_vectors, search->exchanges);
    if (rank < 0) return CAROM_OK;
    const size_t n = (size_t)search->n, dimension = (size_t)(search->size - rank);
    double *impulse = malloc(2 * (1 + dimension) * n * sizeof *impulse);
    if (!impulse) return carom_fail_memory(error, "enumeration");
    double *u = impulse + (1 + dimension) * n;
    // One solution of the equations, with the fixed impulses added, and the directions of the null space.
    map_unknowns(stepper, search, search->correction, impulse, u);
    for (size_t c = 0; c < n; c++) {
        impulse[c] += search->fixed[c];
        u[c] += stepper->u[c] + search->fixed_reply[c];
    }
    // A null vector moves the velocity when it does so against what its impulse could do, max |W| max |lambda|.
    const double response = carom_max_abs(n * n, carom_impact_delassus(stepper->impact));
    bool moves = false;
    for (size_t k = 1; k <= dimension; k++) {
        map_unknowns(stepper, search, null_vectors + (k - 1) * (size_t)search->size, impulse + k * n, u + k * n);
        moves = moves || carom_max_abs(n, u + k * n) > STILL * (response * carom_max_abs(n, impulse + k * n));
    }
    const carom_step_solutions solutions = {(int)dimension, impulse, u};
    carom_status status = CAROM_OK;
    if (moves) status = carom_step_solutions_vary(stepper, search->modes, lmax, &solutions, found, error);
    free(impulse);
    return status;
}

// --------------------------------------------------------------------------------------------------------- the search

// Finds the solutions with distinct v_next, in an order that depends on the problem alone. `*complete` becomes false when a continuum of
// velocities may hide in a singular combination, or when the search was stopped; NULL: singular combinations are passed over.
static carom_status search_all(carom_stepper *stepper, const double *v, const double *lmax, bool *complete, carom_error *error) {
    mode_search *search = stepper->state;
    search->found_count = 0;
    memset(search->code, 0, (size_t)search->contacts * sizeof *search->code);
    carom_step_start(stepper, v, lmax);
    carom_status status = CAROM_OK;
    for (int64_t tried = 1; !status; tried++) {
        if (tried % POLL_EVERY == 0 && carom_control_cancelled(stepper->control)) {
            if (complete) *complete = false;
            break;
        }
        assemble(stepper, search, lmax);
        // Regular when no pivot of the scaled system is small against the largest.
        scale_system(search);
        bool regular = carom_lu_factor(search->size, search->factors, search->exchanges);
        double least = INFINITY, largest = 0;
        for (int i = 0; i < search->size && regular; i++) {
            least = fmin(least, fabs(search->factors[i * search->size + i]));
            largest = fmax(largest, fabs(search->factors[i * search->size + i]));
        }
        regular = regular && (search->size == 0 || least > SINGULAR_PIVOT * largest);
        if (regular) {
            status = try_candidate(stepper, search, v, lmax, error);
        } else if (complete && *complete) {
            bool found;
            status = find_continuum(stepper, search, lmax, &found, error);
            *complete = !status && !found;
        }
        // The next combination, the first contact's mode fastest.
        int i = 0;
        while (i < search->contacts && ++search->code[i] == search->base) search->code[i++] = 0;
        if (i == search->contacts) break;
    }
    return status;
}

// `random`: one of the distinct solutions, all equally likely. Where the search finds none, because the modes were singular, the LCP
// solver's solution is taken and counted as a fallback. `all`: a single step returns the LCP solver's solution.
static void solve(carom_stepper *stepper, const double *v, const double *lmax, double *v_next, double *impulse, carom_step_info *info) {
    if (stepper->selection == CAROM_SELECT_ALL) {
        carom_step_solve_by_lcp(stepper, v, lmax, v_next, impulse, info);
        return;
    }
    const mode_search *search = stepper->state;
    const carom_status status = search_all(stepper, v, lmax, NULL, NULL);
    if (status || carom_control_cancelled(stepper->control)) {
        *info = (carom_step_info){.verdict = status ? CAROM_UNVERIFIED : CAROM_INTERRUPTED};
        carom_step_leave(stepper, v, v_next, impulse, info);
    } else if (!search->found_count) {
        carom_step_solve_by_lcp(stepper, v, lmax, v_next, impulse, info);
        info->fallbacks++;
    } else {
        const size_t nv = (size_t)carom_impact_get_data(stepper->impact)->nv, n = (size_t)search->n;
        const double share = stepper->stream && search->found_count > 1 ? carom_stream_uniform(stepper->stream) : 0;
        const int chosen = (int)(share * search->found_count);
        const double *solution = search->found + (size_t)chosen * (nv + n);
        *info = search->found_info[chosen];
        info->solutions = search->found_count;
        memcpy(v_next, solution, nv * sizeof *v_next);
        memcpy(impulse, solution + nv, n * sizeof *impulse);
    }
}

static carom_status enumerate(carom_stepper *stepper, const double *v, const double *lmax, carom_step_visit visit, void *user,
                              bool *complete, carom_error *error) {
    mode_search *search = stepper->state;
    const size_t nv = (size_t)carom_impact_get_data(stepper->impact)->nv;
    carom_status status = search_all(stepper, v, lmax, complete, error);
    if (!status && !carom_control_cancelled(stepper->control)) {
        // The LCP solver's solution belongs to them; where the modes have missed it, the search was not complete.
        carom_step_info info;
        bool added = false;
        carom_step_find_by_lcp(stepper, v, lmax, search->impulse, &info);
        if (info.verdict == CAROM_COMPLETE) status = keep(stepper, search, v, search->impulse, &info, &added, error);
        *complete = *complete && !added;
    }
    // The visitor sees them in the order in which they were found.
    for (int i = 0; !status && i < search->found_count; i++) {
        const double *solution = search->found + (size_t)i * (nv + (size_t)search->n);
        status = visit(user, solution, solution + nv, &search->found_info[i], error);
    }
    return status;
}

static const char *path(const carom_stepper *stepper) {
    (void)stepper;
    return carom_step_modes.name;
}

const carom_step_method carom_step_modes = {
    .name = "modes",
    .summary = "every solution of each step, by enumeration of contact modes",
    .selections = 1U << CAROM_SELECT_RANDOM | 1U << CAROM_SELECT_ALL,
    .create = create,
    .free = destroy,
    .solve = solve,
    .enumerate = enumerate,
    .path = path,
};
