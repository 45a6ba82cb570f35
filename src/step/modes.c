// SPDX-License-Identifier: Apache-2.0
// Every solution of an impact step, by contact modes (docs/laws.md, "Selection").
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
// Of such a system: entries and right-hand sides below this share of the largest one are round-off of zeros.
#define SINGULAR_SYSTEM 1e-9
// Velocity changes along a null vector below this share of what its impulse could do are none.
#define STILL 1e-7

// Velocities closer than this share of the largest one, before or after the step, are the same solution.
#define SAME_VELOCITY 1e-8

enum { REFINEMENTS = 2 };
// Combinations between two questions whether to stop: some tenths of a millisecond.
enum { POLL_EVERY = 256 };

struct carom_step_modes {
    int contacts, dim, edges, n;  // n: size of contact space
    int base;                     // modes of one contact
    int size;                     // unknowns of the current combination
    double *arena;                // every array of doubles below
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
};

// ------------------------------------------------------------------------------------------------------------ lifetime

void carom_step_modes_free(carom_step_modes *m) {
    if (!m) return;
    free(m->arena);
    free(m->exchanges);
    free(m->code);
    free(m->modes);
    free(m->found);
    free(m->found_info);
    free(m);
}

static bool allocate(carom_step_modes *m) {
    const size_t n = (size_t)m->n, most = (size_t)m->contacts * (1 + (size_t)m->dim);
    struct {
        double **array;
        size_t size;
    } parts[] = {{&m->trial, most * n},      {&m->test, most * n},
                 {&m->reply, most * n},      {&m->fixed, n},
                 {&m->fixed_reply, n},       {&m->system, most * most},
                 {&m->factors, most * most}, {&m->row_scale, most},
                 {&m->column_scale, most},   {&m->right_side, most},
                 {&m->unknowns, most},       {&m->correction, most},
                 {&m->impulse, n},           {&m->u, n}};
    size_t total = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) total += parts[i].size;
    m->arena = malloc(total * sizeof *m->arena);
    m->exchanges = malloc(most * sizeof *m->exchanges);
    m->code = malloc((size_t)m->contacts * sizeof *m->code);
    m->modes = malloc((size_t)m->contacts * sizeof *m->modes);
    if (!m->arena || !m->exchanges || !m->code || !m->modes) return false;
    double *next = m->arena;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; next += parts[i++].size) *parts[i].array = next;
    return true;
}

static int friction_modes(const carom_stepper *s) { return 1 + s->edges + (s->dim == 2 ? s->edges : 0); }

carom_status carom_step_modes_create(const carom_stepper *stepper, carom_step_modes **modes, carom_error *error) {
    *modes = NULL;
    const int base = 1 + (stepper->beta >= 0 ? 2 : 1) * friction_modes(stepper);
    if (pow(base, stepper->count) > MOST_COMBINATIONS)
        return carom_fail(error, CAROM_BAD_INPUT, "selection: %d contacts with %d modes each have too many combinations to enumerate",
                          stepper->count, base);
    carom_step_modes *m = calloc(1, sizeof *m);
    if (!m) return carom_fail_memory(error, "enumeration");
    m->contacts = stepper->count;
    m->dim = stepper->dim;
    m->edges = stepper->edges;
    m->n = carom_impact_contact_size(stepper->impact);
    m->base = base;
    if (allocate(m)) {
        *modes = m;
        return CAROM_OK;
    }
    carom_step_modes_free(m);
    return carom_fail_memory(error, "enumeration");
}

// ------------------------------------------------------------------------------------------------ the linear system

// Code 0 is open; then the friction modes of a contact that stops approaching, then those of a capped one.
static carom_step_mode decode(const carom_stepper *s, int code) {
    if (code == 0) return (carom_step_mode){.open = true};
    const int kinds = friction_modes(s), friction = (code - 1) % kinds;
    carom_step_mode mode = {.capped = code > kinds};
    if (friction > s->edges)
        mode.friction = CAROM_MODE_FACET, mode.edge = friction - s->edges - 1;
    else if (friction > 0)
        mode.friction = CAROM_MODE_EDGE, mode.edge = friction - 1;
    return mode;
}

static double *zero_row(double *rows, int row, int n) {
    memset(rows + (size_t)row * (size_t)n, 0, (size_t)n * sizeof *rows);
    return rows + (size_t)row * (size_t)n;
}

// The impulse of a unit normal impulse in this mode: slip drags mu times it along the edge.
static void add_normal_impulse(const carom_stepper *s, const carom_step_mode *mode, int contact, double amount, double *impulse) {
    double *part = impulse + carom_step_contact_row(s, contact);
    const double mu = carom_impact_get_data(s->impact)->friction[s->first + contact];
    part[0] += amount;
    if (mode->friction == CAROM_MODE_STICK) return;
    // On a facet the second edge carries what the first does not.
    const double *d = carom_step_direction(s, mode->friction == CAROM_MODE_FACET ? mode->edge + 1 : mode->edge);
    for (int p = 0; p < s->dim; p++) part[1 + p] += amount * mu * d[p];
}

// Unknowns and equations of one contact come in pairs: lam_n with u_n = 0; lam_t with u_t = 0 (stick); the share of a facet's first edge
// with (d_j - d_j+1).u_t = 0. A capped contact has no unknown lam_n.
static void add_contact(const carom_stepper *s, carom_step_modes *m, int contact, double cap) {
    const carom_step_mode *mode = &m->modes[contact];
    const int row = carom_step_contact_row(s, contact);
    if (mode->open) return;
    if (mode->capped) {
        add_normal_impulse(s, mode, contact, cap, m->fixed);
    } else {
        add_normal_impulse(s, mode, contact, 1, zero_row(m->trial, m->size, m->n));
        zero_row(m->test, m->size++, m->n)[row] = 1;
    }
    for (int p = 0; mode->friction == CAROM_MODE_STICK && p < s->dim; p++) {
        zero_row(m->trial, m->size, m->n)[row + 1 + p] = 1;
        zero_row(m->test, m->size++, m->n)[row + 1 + p] = 1;
    }
    if (mode->friction == CAROM_MODE_FACET) {
        double *trial = zero_row(m->trial, m->size, m->n), *test = zero_row(m->test, m->size++, m->n);
        for (int p = 0; p < s->dim; p++)
            trial[row + 1 + p] = test[row + 1 + p] = carom_step_direction(s, mode->edge)[p] - carom_step_direction(s, mode->edge + 1)[p];
    }
}

static void assemble(const carom_stepper *s, carom_step_modes *m, const double *lmax) {
    const int n = m->n;
    m->size = 0;
    zero_row(m->fixed, 0, n);
    for (int i = 0; i < m->contacts; i++) {
        m->modes[i] = decode(s, m->code[i]);
        add_contact(s, m, i, lmax ? lmax[i] : 0);
    }
    const double *W = carom_impact_delassus(s->impact);
    carom_multiply(n, n, W, m->fixed, m->fixed_reply);
    for (int j = 0; j < m->size; j++) carom_multiply(n, n, W, m->trial + (size_t)j * (size_t)n, m->reply + (size_t)j * (size_t)n);
    for (int i = 0; i < m->size; i++) {
        const double *test = m->test + (size_t)i * (size_t)n;
        for (int j = 0; j < m->size; j++) m->system[i * m->size + j] = carom_dot(n, test, m->reply + (size_t)j * (size_t)n);
        m->right_side[i] = -carom_dot(n, test, s->u) - carom_dot(n, test, m->fixed_reply);
    }
}

static double reciprocal(double size) { return size > 0 ? 1 / size : 1; }

// Rows, then columns of unit size: mu = 1e5 is no reason to call a system singular.
static void scale_system(carom_step_modes *m) {
    const int size = m->size;
    for (int i = 0; i < size; i++) m->row_scale[i] = reciprocal(carom_max_abs((size_t)size, m->system + i * size));
    for (int j = 0; j < size; j++) {
        double largest = 0;
        for (int i = 0; i < size; i++) largest = fmax(largest, fabs(m->row_scale[i] * m->system[i * size + j]));
        m->column_scale[j] = reciprocal(largest);
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) m->factors[i * size + j] = m->row_scale[i] * m->system[i * size + j] * m->column_scale[j];
}

static bool factor_system(carom_step_modes *m) {
    scale_system(m);
    if (!carom_lu_factor(m->size, m->factors, m->exchanges)) return false;
    double least = INFINITY, largest = 0;
    for (int i = 0; i < m->size; i++) {
        least = fmin(least, fabs(m->factors[i * m->size + i]));
        largest = fmax(largest, fabs(m->factors[i * m->size + i]));
    }
    return m->size == 0 || least > SINGULAR_PIVOT * largest;
}

// Residuals in extended precision against the unscaled system: cancellation is what refinement lives on.
static void solve_system(carom_step_modes *m) {
    const int size = m->size;
    memset(m->unknowns, 0, (size_t)size * sizeof *m->unknowns);
    for (int sweep = 0; sweep <= REFINEMENTS; sweep++) {
        for (int i = 0; i < size; i++) {
            long double rest = m->right_side[i];
            for (int j = 0; j < size; j++) rest -= (long double)m->system[i * size + j] * m->unknowns[j];
            m->correction[i] = (double)rest * m->row_scale[i];
        }
        carom_lu_solve(size, m->factors, m->exchanges, m->correction);
        for (int j = 0; j < size; j++) m->unknowns[j] += m->column_scale[j] * m->correction[j];
    }
}

static void evaluate(const carom_stepper *s, carom_step_modes *m) {
    for (int c = 0; c < m->n; c++) {
        m->impulse[c] = m->fixed[c];
        m->u[c] = s->u[c] + m->fixed_reply[c];
        for (int j = 0; j < m->size; j++) {
            m->impulse[c] += m->unknowns[j] * m->trial[j * m->n + c];
            m->u[c] += m->unknowns[j] * m->reply[j * m->n + c];
        }
    }
}

// --------------------------------------------------------------------------------------------- do the signs agree?

// The greatest sliding speed against a cone edge, max_j -d_j.u_t.
static double sliding_speed(const carom_stepper *s, const double *tangent) {
    double greatest = -INFINITY;
    for (int j = 0; j < s->edges; j++) greatest = fmax(greatest, -carom_dot(s->dim, carom_step_direction(s, j), tangent));
    return greatest;
}

// Writes lam_t as a non-negative combination of the two cone edges around it; returns the sum of their weights.
static double split_on_edges(const carom_stepper *s, const double *tangent, double *weights) {
    memset(weights, 0, (size_t)s->edges * sizeof *weights);
    if (s->dim == 1) {
        weights[tangent[0] < 0] = fabs(tangent[0]);
        return fabs(tangent[0]);
    }
    double least_sum = INFINITY, best[2] = {0, 0};
    int best_edge = 0;
    for (int j = 0; j < s->edges; j++) {
        const double *a = carom_step_direction(s, j), *b = carom_step_direction(s, j + 1);
        const double determinant = a[0] * b[1] - a[1] * b[0];
        const double on_a = (tangent[0] * b[1] - tangent[1] * b[0]) / determinant,
                     on_b = (a[0] * tangent[1] - a[1] * tangent[0]) / determinant;
        // Of the sectors around, the one whose weights are least negative.
        const double misfit = fmax(0, -on_a) + fmax(0, -on_b);
        if (misfit < least_sum) {
            least_sum = misfit;
            best_edge = j;
            best[0] = fmax(0, on_a);
            best[1] = fmax(0, on_b);
        }
    }
    weights[best_edge] = best[0];
    weights[(best_edge + 1) % s->edges] += best[1];
    return best[0] + best[1];
}

// What a contact's signs are judged by.
typedef struct sign_scale {
    double speed, impulse;  // round-off of each
    double cap, mu;
} sign_scale;

// Normal part of z; false when the normal signs contradict the mode. On return z holds the clipped normal impulse.
static bool settle_normal(carom_stepper *s, const carom_step_mode *mode, int contact, double normal, double u, const sign_scale *scale) {
    const double small_normal = scale->impulse / (1 + scale->mu);
    if (normal < -small_normal) return false;
    if (s->beta >= 0 && !mode->capped && normal > scale->cap + small_normal) return false;
    if (mode->capped && u > scale->speed) return false;
    if (s->beta >= 0) s->z[s->beta + contact] = mode->capped ? fmax(0, -u) : 0;
    s->z[s->normal + contact] = mode->capped ? scale->cap : fmax(0, normal);
    return true;
}

// Slip along an edge, or between two: lam_t = a d_j + (mu lam_n - a) d_j+1 with 0 <= a <= mu lam_n.
static bool settle_slip(const carom_stepper *s, const carom_step_mode *mode, double limit, const double *tangent, const double *slip,
                        const sign_scale *scale, double *weights) {
    const double *d = carom_step_direction(s, mode->edge), *e = carom_step_direction(s, mode->edge + 1);
    const double sliding = sliding_speed(s, slip);
    if (-carom_dot(s->dim, d, slip) < sliding - scale->speed || sliding < -scale->speed) return false;
    double share = limit;
    if (mode->friction == CAROM_MODE_FACET) {
        double along = 0, length = 0;
        for (int p = 0; p < s->dim; p++) {
            along += (tangent[p] - limit * e[p]) * (d[p] - e[p]);
            length += (d[p] - e[p]) * (d[p] - e[p]);
        }
        share = along / length;
        if (share < -scale->impulse || share > limit + scale->impulse) return false;
        share = fmin(fmax(share, 0), limit);
        weights[(mode->edge + 1) % s->edges] = limit - share;
    }
    weights[mode->edge] = share;
    return true;
}

// Clips round-off and fills this contact's part of z; false when a sign contradicts the mode.
static bool settle_contact(carom_stepper *s, const carom_step_modes *m, int contact, double cap, double speed) {
    const carom_step_mode *mode = &m->modes[contact];
    const int row = carom_step_contact_row(s, contact);
    const double inverse_mass = carom_impact_delassus(s->impact)[(size_t)row * (size_t)m->n + (size_t)row];
    const sign_scale scale = {.speed = SIGN_TOLERANCE * speed,
                              .impulse = SIGN_TOLERANCE * speed / inverse_mass,
                              .cap = cap,
                              .mu = carom_impact_get_data(s->impact)->friction[s->first + contact]};
    const double *tangent = m->impulse + row + 1, *u = m->u + row;
    double *weights = s->z + carom_step_force_index(s, contact, 1);
    memset(weights, 0, (size_t)s->edges * sizeof *weights);
    const bool sticks = !mode->open && mode->friction == CAROM_MODE_STICK;
    s->z[s->gamma + contact] = sticks ? 0 : fmax(0, sliding_speed(s, u + 1));
    if (mode->open) {
        if (s->beta >= 0) s->z[s->beta + contact] = 0;
        s->z[s->normal + contact] = 0;
        return u[0] >= -scale.speed;
    }
    if (!settle_normal(s, mode, contact, m->impulse[row], u[0], &scale)) return false;
    const double limit = scale.mu * s->z[s->normal + contact];
    if (sticks) return split_on_edges(s, tangent, weights) <= limit + scale.impulse;
    return settle_slip(s, mode, limit, tangent, u + 1, &scale, weights);
}

static bool settle(carom_stepper *s, const carom_step_modes *m, const double *lmax) {
    const double speed = carom_max_abs((size_t)m->n, s->u);
    for (int i = 0; i < m->contacts; i++)
        if (!settle_contact(s, m, i, lmax ? lmax[i] : 0, speed)) return false;
    return carom_lcp_residual(s->size, s->W, s->w, s->z) <= CAROM_LCP_TOLERANCE;
}

// ------------------------------------------------------------------------------------------------------ what was found

static bool is_known(const carom_stepper *s, const carom_step_modes *m, const double *v) {
    const int nv = carom_impact_get_data(s->impact)->nv;
    const double same = SAME_VELOCITY * fmax(carom_max_abs((size_t)nv, s->v_next), carom_max_abs((size_t)nv, v));
    for (int i = 0; i < m->found_count; i++) {
        const double *other = m->found + (size_t)i * (size_t)(nv + m->n);
        double difference = 0;
        for (int k = 0; k < nv; k++) difference = fmax(difference, fabs(other[k] - s->v_next[k]));
        if (difference <= same) return true;
    }
    return false;
}

static carom_status keep(const carom_stepper *s, carom_step_modes *m, const double *impulse, const carom_step_info *info,
                         carom_error *error) {
    const size_t nv = (size_t)carom_impact_get_data(s->impact)->nv, width = nv + (size_t)m->n;
    if (m->found_count == m->found_capacity) {
        const int capacity = 2 * m->found_capacity + 8;
        double *found = realloc(m->found, (size_t)capacity * width * sizeof *found);
        if (found) m->found = found;
        carom_step_info *found_info = realloc(m->found_info, (size_t)capacity * sizeof *found_info);
        if (found_info) m->found_info = found_info;
        if (!found || !found_info) return carom_fail_memory(error, "enumeration");
        m->found_capacity = capacity;
    }
    memcpy(m->found + (size_t)m->found_count * width, s->v_next, nv * sizeof(double));
    memcpy(m->found + (size_t)m->found_count * width + nv, impulse, (size_t)m->n * sizeof(double));
    m->found_info[m->found_count++] = *info;
    return CAROM_OK;
}

static carom_status try_candidate(carom_stepper *s, carom_step_modes *m, const double *v, const double *lmax, carom_error *error) {
    solve_system(m);
    evaluate(s, m);
    if (!settle(s, m, lmax)) return CAROM_OK;
    carom_step_info info = {.verdict = CAROM_COMPLETE, .residual = carom_lcp_residual(s->size, s->W, s->w, s->z)};
    carom_step_accept(s, v, lmax, m->impulse, &info);
    if (info.verdict != CAROM_COMPLETE || is_known(s, m, v)) return CAROM_OK;
    return keep(s, m, m->impulse, &info, error);
}

carom_status carom_step_modes_add(const carom_stepper *s, const double *v, const double *impulse, const carom_step_info *info, bool *added,
                                  carom_error *error) {
    *added = !is_known(s, s->modes, v);
    return *added ? keep(s, s->modes, impulse, info, error) : CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------- singular modes

// The impulse and the velocity of unknowns in the scaled system, as rows of the affine map that carom_step_modes_vary looks at.
static void map_unknowns(const carom_stepper *s, carom_step_modes *m, const double *scaled, double *impulse, double *u) {
    for (int c = 0; c < m->n; c++) {
        impulse[c] = 0;
        for (int j = 0; j < m->size; j++) impulse[c] += scaled[j] * m->column_scale[j] * m->trial[j * m->n + c];
    }
    carom_multiply(m->n, m->n, carom_impact_delassus(s->impact), impulse, u);
}

// Does the impulse of a null vector change the velocity, against what it could do?
static bool moves(const carom_stepper *s, const carom_step_modes *m, const double *impulse, const double *u) {
    const size_t n = (size_t)m->n;
    const double possible = carom_max_abs(n * n, carom_impact_delassus(s->impact)) * carom_max_abs(n, impulse);
    return carom_max_abs(n, u) > STILL * possible;
}

// Does a continuum of velocities hide in this singular combination? Where null vectors do not move the velocity, all its solutions share
// one, which a regular combination at a vertex has, too. Otherwise the signs decide how far the solutions reach.
static carom_status find_continuum(carom_stepper *s, carom_step_modes *m, const double *lmax, bool *found, carom_error *error) {
    *found = false;
    scale_system(m);
    for (int i = 0; i < m->size; i++) m->correction[i] = m->row_scale[i] * m->right_side[i];
    // The replies are not needed again: a singular combination has no candidate.
    double *null_vectors = m->reply;
    const int rank = carom_solve_general(m->size, m->factors, m->correction, SINGULAR_SYSTEM, null_vectors, m->exchanges);
    if (rank < 0) return CAROM_OK;
    const size_t n = (size_t)m->n, dimension = (size_t)(m->size - rank);
    double *impulse = malloc(2 * (1 + dimension) * n * sizeof *impulse);
    if (!impulse) return carom_fail_memory(error, "enumeration");
    double *u = impulse + (1 + dimension) * n;
    map_unknowns(s, m, m->correction, impulse, u);
    for (size_t c = 0; c < n; c++) {
        impulse[c] += m->fixed[c];
        u[c] += s->u[c] + m->fixed_reply[c];
    }
    bool moving = false;
    for (size_t k = 1; k <= dimension; k++) {
        map_unknowns(s, m, null_vectors + (k - 1) * (size_t)m->size, impulse + k * n, u + k * n);
        moving = moving || moves(s, m, impulse + k * n, u + k * n);
    }
    carom_status status = CAROM_OK;
    if (moving) status = carom_step_modes_vary(s, m->modes, lmax, (int)dimension, impulse, u, found, error);
    free(impulse);
    return status;
}

// --------------------------------------------------------------------------------------------------------- the search

// The next combination of modes; false after the last.
static bool advance(carom_step_modes *m) {
    for (int i = 0; i < m->contacts; i++) {
        if (++m->code[i] < m->base) return true;
        m->code[i] = 0;
    }
    return false;
}

carom_status carom_step_modes_search(carom_stepper *s, const double *v, const double *lmax, bool *complete, carom_error *error) {
    carom_step_modes *m = s->modes;
    m->found_count = 0;
    memset(m->code, 0, (size_t)m->contacts * sizeof *m->code);
    carom_step_start(s, v, lmax);
    carom_status status = CAROM_OK;
    int64_t tried = 0;
    do {
        if (++tried % POLL_EVERY == 0 && carom_control_cancelled(s->control)) {
            if (complete) *complete = false;
            break;
        }
        assemble(s, m, lmax);
        if (factor_system(m)) {
            status = try_candidate(s, m, v, lmax, error);
        } else if (complete && *complete) {
            bool found;
            status = find_continuum(s, m, lmax, &found, error);
            *complete = !status && !found;
        }
    } while (!status && advance(m));
    return status;
}

int carom_step_modes_count(const carom_step_modes *modes) { return modes->found_count; }

const carom_step_info *carom_step_modes_solution(const carom_stepper *s, int index, const double **v_next, const double **impulse) {
    const carom_step_modes *m = s->modes;
    const size_t nv = (size_t)carom_impact_get_data(s->impact)->nv;
    *v_next = m->found + (size_t)index * (nv + (size_t)m->n);
    *impulse = *v_next + nv;
    return &m->found_info[index];
}
