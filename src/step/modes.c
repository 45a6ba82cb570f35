// SPDX-License-Identifier: Apache-2.0
// The step method `modes`: every solution of an impact step, by contact modes (docs/laws.md, "Selection").
//
// A solution of the step's LCP says of each contact whether it opens, stops approaching or is capped, and whether it sticks or slips along
// a cone edge or, in space, between two of them. Each combination of modes is a small square linear system in contact space. Its solution
// is kept when the signs agree with the modes; the LCP's verifier and the physical checks have the last word.
//
// Where completeness is asked for, a combination is dismissed when bounds of its solution contradict a sign, and is decided exactly
// otherwise (proof.c): what tolerances accept must be confirmed by an exact solution, and what they miss is added. Few combinations have a
// velocity of their own: four corners of a cube cannot slip in any four directions. The others are not decided, unless the list is found to
// be incomplete.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "step/scaled_system.h"
#include "step/step_internal.h"

// Combinations beyond this number take minutes: seven planar capped contacts have 7^7 of them.
#define MOST_COMBINATIONS 1e6

// Signs are judged against the speed before the step, and against the impulse that would stop it; normal impulses are multiplied by mu, so
// that their tolerance is divided by 1 + mu.
#define SIGN_TOLERANCE 1e-10

// Round-off of exact velocities, as a share of each coordinate.
#define ROUNDED 1e-15
// Contact velocities closer than this share of the largest one, before or after the step, are the same solution.
#define SAME_VELOCITY 1e-8

// The round-off of a sum of products of two doubles, as a share of the sizes of its terms, for each term; and what covers the round-off of
// bounds, which are sums without cancellation.
#define SUM_ROUND_OFF 0x1p-47
#define ENLARGED      (1 + 0x1p-20)

enum { UNKNOWN = -1 };
// Combinations between two questions whether to stop: some tenths of a millisecond.
enum { POLL_EVERY = 256 };

// The combination at hand, and the solutions found so far.
typedef struct mode_search {
    int contacts, n;              // n: size of contact space
    int base;                     // modes of one contact
    double *trial, *test;         // [unknowns x n] impulse of each unknown; velocity component that each equation sets to zero
    double *reply;                // [unknowns x n] velocity change by each trial impulse
    double *fixed, *fixed_reply;  // [n] impulse without unknowns (caps), and its velocity change
    carom_scaled_system system;   // of the current combination
    double *right_side, *unknowns;
    double *impulse, *u;          // [n] of the candidate
    int *code;                    // [contacts]
    signed char *attained;        // [contacts] is there a velocity with the modes of this contact and the later ones; UNKNOWN until asked
    carom_step_mode *modes;       // [contacts]
    double *found;                // [found_count x (nv + n)] velocity and impulse of each solution
    carom_step_info *found_info;  // [found_count]
    bool *found_proved;           // [found_count] near an exact solution
    int found_count, found_capacity;
    // Bounds, with a proof: errors of W and of u, of the combination's equations, of its solution and of the velocity after it.
    double *delassus_error, *speed_error;  // [n x n], [n]
    double *system_error, *right_side_error, *work, *unknown_radius, *u_radius;
    double *exact_velocity;  // [nv]
    double *other;           // [n] contact velocity of a known solution
    int *unknown_of;         // [contacts] first unknown
    carom_arena arena;
} mode_search;

// ------------------------------------------------------------------------------------------------------------ lifetime

static void destroy(void *state) {
    mode_search *search = state;
    if (!search) return;
    carom_arena_free(&search->arena);
    free(search->found);
    free(search->found_info);
    free(search->found_proved);
    free(search);
}

static carom_status create(const carom_stepper *stepper, void **state, carom_error *error) {
    *state = NULL;
    const int base = 1 + (stepper->beta >= 0 ? 2 : 1) * carom_step_friction_modes(stepper->dim, stepper->edges);
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
    carom_scaled_system_take(arena, most, &made->system);
    made->right_side = carom_arena_take(arena, most, sizeof(double));
    made->unknowns = carom_arena_take(arena, most, sizeof(double));
    made->impulse = carom_arena_take(arena, n, sizeof(double));
    made->u = carom_arena_take(arena, n, sizeof(double));
    made->delassus_error = carom_arena_take(arena, n * n, sizeof(double));
    made->speed_error = carom_arena_take(arena, n, sizeof(double));
    made->system_error = carom_arena_take(arena, most * most, sizeof(double));
    made->right_side_error = carom_arena_take(arena, most, sizeof(double));
    made->work = carom_arena_take(arena, 2 * most * most + 4 * most, sizeof(double));
    made->unknown_radius = carom_arena_take(arena, most, sizeof(double));
    made->u_radius = carom_arena_take(arena, n, sizeof(double));
    made->exact_velocity = carom_arena_take(arena, (size_t)carom_impact_get_data(stepper->impact)->nv, sizeof(double));
    made->other = carom_arena_take(arena, n, sizeof(double));
    made->unknown_of = carom_arena_take(arena, contacts, sizeof *made->unknown_of);
    made->code = carom_arena_take(arena, contacts, sizeof *made->code);
    made->attained = carom_arena_take(arena, contacts, sizeof *made->attained);
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
    const int n = search->n, dim = stepper->dim, kinds = carom_step_friction_modes(dim, stepper->edges);
    int size = 0;
    zero_row(search->fixed, 0, n);
    for (int i = 0; i < search->contacts; i++) {
        // Code 0 is open; then the friction modes of a contact that stops approaching, then those of a capped one.
        const int code = search->code[i], row = carom_step_contact_row(stepper, i);
        carom_step_mode *mode = &search->modes[i];
        *mode = (carom_step_mode){.open = code == 0, .capped = code > kinds};
        search->unknown_of[i] = size;
        if (mode->open) continue;
        const int friction = (code - 1) % kinds;
        if (friction > stepper->edges)
            mode->friction = CAROM_MODE_FACET, mode->edge = friction - stepper->edges - 1;
        else if (friction > 0)
            mode->friction = CAROM_MODE_EDGE, mode->edge = friction - 1;

        if (mode->capped) {
            add_normal_impulse(stepper, mode, i, lmax ? lmax[i] : 0, search->fixed);
        } else {
            add_normal_impulse(stepper, mode, i, 1, zero_row(search->trial, size, n));
            zero_row(search->test, size++, n)[row] = 1;
        }
        for (int p = 0; mode->friction == CAROM_MODE_STICK && p < dim; p++) {
            zero_row(search->trial, size, n)[row + 1 + p] = 1;
            zero_row(search->test, size++, n)[row + 1 + p] = 1;
        }
        if (mode->friction == CAROM_MODE_FACET) {
            double *trial = zero_row(search->trial, size, n), *test = zero_row(search->test, size++, n);
            const double *d = carom_step_direction(stepper, mode->edge), *e = carom_step_direction(stepper, mode->edge + 1);
            for (int p = 0; p < dim; p++) trial[row + 1 + p] = test[row + 1 + p] = d[p] - e[p];
        }
    }
    search->system.n = size;

    // Replies W trial_j, then the equations of the tests: system_ij = test_i . reply_j.
    const double *W = carom_impact_delassus(stepper->impact);
    carom_multiply(n, n, W, search->fixed, search->fixed_reply);
    for (int j = 0; j < size; j++) carom_multiply(n, n, W, search->trial + (size_t)j * (size_t)n, search->reply + (size_t)j * (size_t)n);
    for (int i = 0; i < size; i++) {
        const double *test = search->test + (size_t)i * (size_t)n;
        for (int j = 0; j < size; j++) search->system.matrix[i * size + j] = carom_dot(n, test, search->reply + (size_t)j * (size_t)n);
        search->right_side[i] = -carom_dot(n, test, stepper->u) - carom_dot(n, test, search->fixed_reply);
    }
}

// --------------------------------------------------------------------------------------------- do the signs agree?

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
    z[stepper->gamma + contact] = sticks ? 0 : fmax(0, carom_step_sliding_speed(stepper, slip));
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
    if (sticks) return carom_step_split_on_edges(stepper, tangent, weights) <= limit + small_impulse;

    // Slip along an edge, or between two: lam_t = a d_j + (mu lam_n - a) d_j+1 with 0 <= a <= mu lam_n.
    const double *d = carom_step_direction(stepper, mode->edge), *e = carom_step_direction(stepper, mode->edge + 1);
    const double sliding = carom_step_sliding_speed(stepper, slip);
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

// The solution with the contact velocity stepper->u_next, or -1; or the one that only tolerances know. Contact velocities tell solutions
// apart, since no impulse moves the others without them; coordinates may be of any size.
static int find_known(const carom_stepper *stepper, const mode_search *search, bool unproved) {
    const size_t nv = (size_t)carom_impact_get_data(stepper->impact)->nv, n = (size_t)search->n;
    const double *own = stepper->u_next;
    double *other = search->other;
    const double same = SAME_VELOCITY * fmax(carom_max_abs(n, own), carom_max_abs(n, stepper->u));
    for (int i = 0; i < search->found_count; i++) {
        if (unproved && search->found_proved[i]) continue;
        carom_impact_contact_velocity(stepper->impact, search->found + (size_t)i * (nv + n), other);
        double difference = 0;
        for (size_t c = 0; c < n; c++) difference = fmax(difference, fabs(other[c] - own[c]));
        if (difference <= same) return i;
    }
    return -1;
}

// The proved solution with the velocity stepper->v_next, or -1. Exact velocities differ where any of their coordinates does, beside its own
// size: a heavy body's may be small against a light one's.
static int find_proved(const carom_stepper *stepper, const mode_search *search) {
    const size_t nv = (size_t)carom_impact_get_data(stepper->impact)->nv, width = nv + (size_t)search->n;
    for (int i = 0; i < search->found_count; i++) {
        const double *other = search->found + (size_t)i * width, *own = stepper->v_next;
        bool same = search->found_proved[i];
        for (size_t k = 0; k < nv && same; k++) same = fabs(other[k] - own[k]) <= ROUNDED * fmax(fabs(other[k]), fabs(own[k]));
        if (same) return i;
    }
    return -1;
}

// Writes stepper->v_next and this impulse as solution i, which may be the next one.
static carom_status keep(const carom_stepper *stepper, mode_search *search, int i, const double *impulse, const carom_step_info *info,
                         bool proved, carom_error *error) {
    const size_t nv = (size_t)carom_impact_get_data(stepper->impact)->nv, width = nv + (size_t)search->n;
    // The list grows by doubling.
    if (i == search->found_capacity) {
        const int capacity = 2 * search->found_capacity + 8;
        double *found = realloc(search->found, (size_t)capacity * width * sizeof *found);
        if (found) search->found = found;
        carom_step_info *found_info = realloc(search->found_info, (size_t)capacity * sizeof *found_info);
        if (found_info) search->found_info = found_info;
        bool *found_proved = realloc(search->found_proved, (size_t)capacity * sizeof *found_proved);
        if (found_proved) search->found_proved = found_proved;
        if (!found || !found_info || !found_proved) return carom_fail_memory(error, "enumeration");
        search->found_capacity = capacity;
    }
    double *made = search->found + (size_t)i * width;
    memcpy(made, stepper->v_next, nv * sizeof *made);
    memcpy(made + nv, impulse, (size_t)search->n * sizeof *made);
    search->found_info[i] = *info;
    search->found_proved[i] = proved;
    if (i == search->found_count) search->found_count++;
    return CAROM_OK;
}

// Impulse and velocity of the unknowns.
static void apply_unknowns(const carom_stepper *stepper, mode_search *search) {
    const int n = search->n, size = search->system.n;
    for (int c = 0; c < n; c++) {
        search->impulse[c] = search->fixed[c];
        search->u[c] = stepper->u[c] + search->fixed_reply[c];
        for (int j = 0; j < size; j++) {
            search->impulse[c] += search->unknowns[j] * search->trial[j * n + c];
            search->u[c] += search->unknowns[j] * search->reply[j * n + c];
        }
    }
}

// Solves the factored system of a combination, and keeps its solution where the signs agree.
static carom_status try_candidate(carom_stepper *stepper, mode_search *search, const double *v, const double *lmax, carom_error *error) {
    carom_scaled_system_solve(&search->system, search->right_side, search->unknowns);
    apply_unknowns(stepper, search);
    const double speed = carom_max_abs((size_t)search->n, stepper->u);
    // Signs, then the residual of the LCP, then physics: each may end the candidate.
    for (int i = 0; i < search->contacts; i++)
        if (!settle_contact(stepper, search, i, lmax ? lmax[i] : 0, speed)) return CAROM_OK;
    carom_step_info info = {.verdict = CAROM_COMPLETE};
    if (!carom_step_verify(stepper, &info.residual)) return CAROM_OK;
    carom_step_accept(stepper, v, lmax, search->impulse, &info);
    if (info.verdict != CAROM_COMPLETE || find_known(stepper, search, false) >= 0) return CAROM_OK;
    return keep(stepper, search, search->found_count, search->impulse, &info, false, error);
}

// -------------------------------------------------------------------------------------------------------------- proofs

// Errors of W and of u: those of the doubles themselves, and the round-off of sums of them.
static void fill_errors(const carom_stepper *stepper, mode_search *search, const carom_step_proof *proof) {
    const size_t n = (size_t)search->n;
    const double *W = carom_impact_delassus(stepper->impact), *W_error = carom_step_proof_delassus_error(proof);
    const double *u_error = carom_step_proof_speed_error(proof), round_off = SUM_ROUND_OFF * (double)n;
    for (size_t k = 0; k < n * n; k++) search->delassus_error[k] = W_error[k] + round_off * fabs(W[k]);
    for (size_t c = 0; c < n; c++) search->speed_error[c] = u_error[c] + round_off * fabs(stepper->u[c]);
}

// sum_c |test_c| (error of W trial)_c
static double reply_error(const mode_search *search, const double *test, const double *trial) {
    double sum = 0;
    for (int a = 0; a < search->n; a++)
        for (int b = 0; b < search->n && test[a] != 0; b++)
            sum += fabs(test[a]) * search->delassus_error[a * search->n + b] * fabs(trial[b]);
    return sum;
}

// Bounds of the unknowns and of the velocity after the step. False when the combination is not proved to be regular.
static bool bound_solution(const carom_stepper *stepper, mode_search *search) {
    const int n = search->n, size = search->system.n;
    for (int i = 0; i < size; i++) {
        const double *test = search->test + i * n;
        search->right_side_error[i] = reply_error(search, test, search->fixed);
        for (int c = 0; c < n; c++)
            search->right_side_error[i] += fabs(test[c]) * (search->speed_error[c] + SUM_ROUND_OFF * n * fabs(search->fixed_reply[c]));
        for (int j = 0; j < size; j++) search->system_error[i * size + j] = reply_error(search, test, search->trial + j * n);
    }
    const carom_uncertain_system equations = {
        size,         search->system.matrix,   search->right_side, search->system_error, search->right_side_error,
        search->work, search->system.exchanges};
    if (!carom_enclose_solution(&equations, search->unknowns, search->unknown_radius)) return false;
    apply_unknowns(stepper, search);
    for (int c = 0; c < n; c++) {
        double radius = search->speed_error[c] + SUM_ROUND_OFF * n * (fabs(search->fixed_reply[c]) + fabs(search->u[c]));
        for (int b = 0; b < n; b++) radius += search->delassus_error[c * n + b] * fabs(search->fixed[b]);
        for (int j = 0; j < size; j++) {
            const double *trial = search->trial + j * n, most = fabs(search->unknowns[j]) + search->unknown_radius[j];
            for (int b = 0; b < n; b++) radius += search->delassus_error[c * n + b] * fabs(trial[b]) * most;
            radius += fabs(search->reply[j * n + c]) * (search->unknown_radius[j] + SUM_ROUND_OFF * n * most);
        }
        search->u_radius[c] = ENLARGED * radius;
    }
    return true;
}

// Is a sum of `count` products certainly negative, with values known up to their radii?
static bool is_negative(int count, const double *factors, const double *values, const double *radii) {
    double sum = 0, margin = 0;
    for (int k = 0; k < count; k++) {
        sum += factors[k] * values[k];
        margin += fabs(factors[k]) * radii[k] + SUM_ROUND_OFF * fabs(factors[k] * values[k]);
    }
    return sum + ENLARGED * margin < 0;
}

// Do the bounds contradict a sign of this contact's mode?
static bool contradicts(const carom_stepper *stepper, const mode_search *search, int contact, double cap) {
    const carom_step_mode *mode = &search->modes[contact];
    const int row = carom_step_contact_row(stepper, contact), dim = stepper->dim;
    const double mu = carom_impact_get_data(stepper->impact)->friction[stepper->first + contact];
    const double *u = search->u + row, *u_radius = search->u_radius + row;
    if (mode->open) return u[0] + u_radius[0] < 0;

    // Normal: 0 <= lam_n <= cap where the contact stops, u_n <= 0 at the cap.
    const double *unknowns = search->unknowns + search->unknown_of[contact], *radii = search->unknown_radius + search->unknown_of[contact];
    const double normal = mode->capped ? cap : unknowns[0], radius = mode->capped ? 0 : radii[0];
    if (mode->capped && u[0] - u_radius[0] > 0) return true;
    if (!mode->capped && normal + radius < 0) return true;
    if (!mode->capped && stepper->beta >= 0 && normal - radius > ENLARGED * cap) return true;
    if (!mode->capped) unknowns++, radii++;

    // Stick: lam_t inside mu lam_n conv D, on the inner side of the line between two edges d and e.
    for (int j = 0; mode->friction == CAROM_MODE_STICK && j < stepper->edges; j++) {
        const double *d = carom_step_direction(stepper, j), *e = carom_step_direction(stepper, j + 1);
        const double cross = dim == 1 ? 1 : d[0] * e[1] - d[1] * e[0];
        const double factors[] = {mu * cross, dim == 1 ? -d[0] : d[1] - e[1], dim == 1 ? 0 : e[0] - d[0]};
        const double values[] = {normal, unknowns[0], dim == 1 ? 0 : unknowns[1]};
        const double margins[] = {radius, radii[0], dim == 1 ? 0 : radii[1]};
        if (is_negative(1 + dim, factors, values, margins)) return true;
    }
    if (mode->friction == CAROM_MODE_STICK) return false;

    // Slip: the sliding speed along the mode's edge is positive, and no other edge opposes the slip more.
    const double *along = carom_step_direction(stepper, mode->edge);
    for (int j = 0; j < stepper->edges; j++) {
        double factors[2] = {0};
        const double *other = carom_step_direction(stepper, j);
        for (int p = 0; p < dim; p++) factors[p] = (j == mode->edge ? 0 : other[p]) - along[p];
        if (is_negative(dim, factors, u + 1, u_radius + 1)) return true;
    }
    // Slip between two edges: the share of the first is between 0 and mu lam_n.
    const double bound[] = {mu, -1};
    return mode->friction == CAROM_MODE_FACET &&
           (unknowns[0] + radii[0] < 0 || is_negative(2, bound, (double[]){normal, unknowns[0]}, (double[]){radius, radii[0]}));
}

// Do bounds of the combination's solution contradict a sign, whatever the round-off of the data?
static bool is_dismissed(const carom_stepper *stepper, mode_search *search, const double *lmax) {
    if (!bound_solution(stepper, search)) return false;
    for (int i = 0; i < search->contacts; i++)
        if (contradicts(stepper, search, i, lmax ? lmax[i] : 0)) return true;
    return false;
}

// Has the system a velocity that belongs to this combination and to no other? The last contacts, whose modes change least, are asked first:
// where they have none, all combinations with their modes have none.
static bool is_attained(mode_search *search, carom_step_proof *proof) {
    for (int i = search->contacts - 1; i >= 0; i--) {
        if (search->attained[i] == UNKNOWN) search->attained[i] = carom_step_proof_has_velocity(proof, search->modes, i);
        if (!search->attained[i]) return false;
    }
    return true;
}

// Decides the combination exactly. An exact solution takes the place of one that tolerances know, or is added. `before` is the number of
// solutions before the combination's own, by tolerances, was added or not.
static carom_status prove_combination(carom_stepper *stepper, mode_search *search, carom_step_proof *proof, carom_step_scope scope,
                                      int before, const double *lmax, carom_exact_answer *answer, carom_error *error) {
    *answer = carom_step_prove(proof, search->modes, scope, search->exact_velocity, search->unknowns);
    // What a singular combination gives in doubles is any one of its solutions.
    if (*answer == CAROM_EXACT_VARIES) search->found_count = before;
    if (*answer != CAROM_EXACT_SINGLE) return CAROM_OK;
    const size_t nv = (size_t)carom_impact_get_data(stepper->impact)->nv;
    memcpy(stepper->v_next, search->exact_velocity, nv * sizeof *stepper->v_next);
    carom_impact_contact_velocity(stepper->impact, stepper->v_next, stepper->u_next);
    // It takes the place of the combination's own solution by tolerances, and of one that another combination gave by tolerances.
    if (search->found_count > before && !search->found_proved[before]) search->found_count = before;
    if (find_proved(stepper, search) >= 0) return CAROM_OK;
    const int known = find_known(stepper, search, true);

    // Residual and energy are those of the rounded solution, which is verified by its proof.
    apply_unknowns(stepper, search);
    memcpy(search->u, stepper->u_next, (size_t)search->n * sizeof *search->u);
    const double speed = carom_max_abs((size_t)search->n, stepper->u);
    for (int i = 0; i < search->contacts; i++) settle_contact(stepper, search, i, lmax ? lmax[i] : 0, speed);
    carom_step_info info = {.residual = carom_lcp_residual(stepper->size, stepper->W, stepper->w, stepper->z)};
    carom_step_judge(stepper, lmax, search->impulse, &info);
    info.verdict = CAROM_COMPLETE;
    return keep(stepper, search, known >= 0 ? known : search->found_count, search->impulse, &info, true, error);
}

// --------------------------------------------------------------------------------------------------------- the search

// Tries all combinations. With a proof, those that bounds do not dismiss are decided, `attained` says of which; NULL: by tolerances alone.
static carom_status try_combinations(carom_stepper *stepper, const double *v, const double *lmax, carom_step_proof *proof, bool attained,
                                     bool *complete, carom_error *error) {
    mode_search *search = stepper->state;
    carom_status status = CAROM_OK;
    search->found_count = 0;
    memset(search->code, 0, (size_t)search->contacts * sizeof *search->code);
    memset(search->attained, UNKNOWN, (size_t)search->contacts * sizeof *search->attained);
    for (int64_t tried = 1; !status; tried++) {
        if (tried % POLL_EVERY == 0 && carom_control_cancelled(stepper->control)) {
            if (complete) *complete = false;
            break;
        }
        assemble(stepper, search, lmax);
        if (!(proof && is_dismissed(stepper, search, lmax))) {
            const int before = search->found_count;
            if (carom_scaled_system_factor(&search->system)) status = try_candidate(stepper, search, v, lmax, error);
            // What tolerances accept is decided in any case.
            if (proof && !status && (!attained || search->found_count > before || is_attained(search, proof))) {
                const carom_step_scope scope = attained ? CAROM_PROVE_EVERY : *complete ? CAROM_PROVE_UNSHARED : CAROM_PROVE_REGULAR;
                carom_exact_answer answer;
                status = prove_combination(stepper, search, proof, scope, before, lmax, &answer, error);
                *complete = *complete && !status && answer != CAROM_EXACT_VARIES && answer != CAROM_EXACT_UNDECIDED;
                if (attained && !*complete) break;
            }
        }
        // The next combination, the first contact's mode fastest.
        int i = 0;
        while (i < search->contacts && ++search->code[i] == search->base) search->code[i++] = 0;
        if (i == search->contacts) break;
        for (int k = 0; k <= i; k++) search->attained[k] = UNKNOWN;
    }
    // What no exact solution confirms is one by its residuals alone: round-off has moved the data off a degenerate problem.
    for (int i = 0; complete && i < search->found_count; i++) *complete = *complete && search->found_proved[i];
    return status;
}

// Finds the solutions with distinct v_next, in an order that depends on the problem alone. With `complete`, they are proved, and it becomes
// false when a continuum of velocities is among them, when one is a solution by its residuals alone, when something could not be decided,
// or when the search was stopped. NULL: by tolerances alone.
static carom_status search_all(carom_stepper *stepper, const double *v, const double *lmax, bool *complete, carom_error *error) {
    carom_step_start(stepper, v, lmax);
    carom_step_proof *proof = NULL;
    carom_status status = complete ? carom_step_proof_create(stepper, v, lmax, &proof, error) : CAROM_OK;
    if (proof) fill_errors(stepper, stepper->state, proof);
    if (complete && !proof) *complete = false;
    // Every solution belongs to the one combination of its velocity, so that these are enough for a complete list. An incomplete one has
    // what all combinations have: corners of continua, above all.
    const bool attained = proof && carom_impact_has_system(stepper->impact);
    if (attained && !status) status = try_combinations(stepper, v, lmax, proof, true, complete, error);
    const bool again = attained && !*complete && !carom_control_cancelled(stepper->control);
    if (again) *complete = true;
    if ((again || !attained) && !status) status = try_combinations(stepper, v, lmax, proof, false, complete, error);
    carom_step_proof_free(proof);
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
        // An incomplete list has the LCP solver's solution, too.
        carom_step_info info = {.verdict = CAROM_UNVERIFIED};
        if (!*complete) carom_step_find_by_lcp(stepper, v, lmax, search->impulse, &info);
        if (info.verdict == CAROM_COMPLETE && find_known(stepper, search, false) < 0)
            status = keep(stepper, search, search->found_count, search->impulse, &info, false, error);
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
