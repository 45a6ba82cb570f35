// SPDX-License-Identifier: Apache-2.0
// Continua of velocities in a singular combination of contact modes.
//
// The solutions of the combination's equations that also have the signs of its modes form a polyhedron of parameters. Its points nearest
// to a few targets (quadratic programs, solved through their dual LCP) have different velocities exactly when there is a continuum.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "step/step_internal.h"

// Signs within this share of the speed before the step, and of the impulse that would stop it, are zero.
#define SIGN_TOLERANCE 1e-10
// Velocities this share of the speed apart are different: far above what the tolerance of the signs allows.
#define DIFFERENT 1e-6
// Targets lie this many times farther away than the solution's own parameters.
#define FAR 10
// A constraint whose coefficients are below this share of the largest does not depend on the parameters.
#define CONSTANT 1e-12

// Sign conditions as slacks that must not be negative, with the round-off they are allowed.
typedef struct slack_list {
    double *value, *tolerance;
    int count;
} slack_list;

static void add_slack(slack_list *list, double value, double tolerance) {
    list->value[list->count] = value;
    list->tolerance[list->count++] = tolerance;
}

// The slacks of one contact's mode on row k of the affine map: at its base point (0), or along a direction, to which the cap adds nothing.
// At most two slacks of lam_n and u_n, two of a facet's share, and one for each edge.
static void add_contact(const carom_stepper *stepper, const carom_step_mode *mode, int contact, double cap,
                        const carom_step_solutions *solutions, size_t k, slack_list *list) {
    const size_t n = (size_t)carom_impact_contact_size(stepper->impact);
    const int row = carom_step_contact_row(stepper, contact), dim = stepper->dim;
    const size_t diagonal = (size_t)row * (n + 1);
    const double speed = carom_max_abs(n, stepper->u), *impulse = solutions->impulse + k * n, *u = solutions->u + k * n;
    const double small_speed = SIGN_TOLERANCE * speed, small_impulse = small_speed / carom_impact_delassus(stepper->impact)[diagonal];
    const double normal = impulse[row], *tangent = impulse + row + 1, *slip = u + row + 1;
    const double limit = carom_impact_get_data(stepper->impact)->friction[stepper->first + contact] * normal;
    if (mode->open) {
        add_slack(list, u[row], small_speed);
        return;
    }
    // Normal: u_n <= 0 at the cap, otherwise 0 <= lam_n <= cap.
    if (mode->capped)
        add_slack(list, -u[row], small_speed);
    else
        add_slack(list, normal, small_impulse);
    if (!mode->capped && stepper->beta >= 0) add_slack(list, (k == 0 ? 1 : 0) * cap - normal, small_impulse);

    // Stick: lam_t inside mu lam_n conv D. In space, with f halfway between two edges, |f| = cos(pi/k): f.lam_t <= mu lam_n |f|^2.
    for (int j = 0; mode->friction == CAROM_MODE_STICK && j < stepper->edges; j++) {
        const double *d = carom_step_direction(stepper, j), *e = carom_step_direction(stepper, dim == 1 ? j : j + 1);
        double along = 0, length = 0;
        for (int p = 0; p < dim; p++) {
            along += 0.5 * (d[p] + e[p]) * tangent[p];
            length += 0.25 * (d[p] + e[p]) * (d[p] + e[p]);
        }
        add_slack(list, limit * length - along, small_impulse);
    }
    if (mode->friction == CAROM_MODE_STICK) return;

    // Slip: the sliding speed along the mode's edge is positive, and no other edge opposes the slip more.
    const double *d = carom_step_direction(stepper, mode->edge), *e = carom_step_direction(stepper, mode->edge + 1);
    const double sliding = carom_dot(dim, d, slip);
    add_slack(list, -sliding, small_speed);
    for (int j = 0; j < stepper->edges; j++)
        if (j != mode->edge) add_slack(list, carom_dot(dim, carom_step_direction(stepper, j), slip) - sliding, small_speed);
    // Slip between two edges: the share of the first is between 0 and mu lam_n.
    if (mode->friction == CAROM_MODE_FACET) {
        double along = 0, length = 0;
        for (int p = 0; p < dim; p++) {
            along += (tangent[p] - limit * e[p]) * (d[p] - e[p]);
            length += (d[p] - e[p]) * (d[p] - e[p]);
        }
        add_slack(list, along / length, small_impulse);
        add_slack(list, limit - along / length, small_impulse);
    }
}

// ---------------------------------------------------------------------------------------------------------- polyhedron

// {x : slope x >= level}, rows of unit length.
typedef struct polyhedron {
    int rows, dimension;
    double *slope, *level;
    double *gram, *w, *y;
} polyhedron;

// min |x - target| over the polyhedron: x = target + slope'y with 0 <= y _|_ slope slope' y + slope target - level >= 0.
static carom_status project(const polyhedron *p, const double *target, double *x, bool *feasible, carom_error *error) {
    // Without rows every point is inside.
    memcpy(x, target, (size_t)p->dimension * sizeof *x);
    *feasible = true;
    if (!p->rows) return CAROM_OK;
    carom_multiply(p->rows, p->dimension, p->slope, target, p->w);
    for (int i = 0; i < p->rows; i++) p->w[i] -= p->level[i];
    carom_gram(p->rows, p->dimension, p->slope, p->gram);
    carom_lcp *lcp;
    const carom_status status = carom_lcp_create(&carom_lcp_lemke, p->rows, p->gram, &lcp, error);
    if (status) return status;
    carom_lcp_info info;
    carom_lcp_solve(lcp, p->w, p->y, &info);
    carom_lcp_free(lcp);
    *feasible = info.verdict == CAROM_COMPLETE;
    for (int i = 0; i < p->rows; i++)
        for (int k = 0; k < p->dimension; k++) x[k] += p->y[i] * p->slope[i * p->dimension + k];
    return CAROM_OK;
}

// The contact velocity at parameters x of the affine map.
static void velocity_at(const carom_step_solutions *solutions, int n, const double *x, double *velocity) {
    for (int c = 0; c < n; c++) {
        velocity[c] = solutions->u[c];
        for (int k = 0; k < solutions->dimension; k++) velocity[c] += x[k] * solutions->u[(k + 1) * n + c];
    }
}

// Projects the origin and two opposite far targets, and compares the velocities there. `work` has room for 2 dimension + 2 n numbers.
static carom_status compare_points(const carom_stepper *stepper, const polyhedron *p, const carom_step_solutions *solutions, double *work,
                                   bool *vary, carom_error *error) {
    const int n = carom_impact_contact_size(stepper->impact), d = p->dimension;
    double *target = work, *x = work + d, *first = x + d, *other = first + n;
    const double different = DIFFERENT * carom_max_abs((size_t)n, stepper->u);
    bool feasible = true;
    memset(target, 0, (size_t)d * sizeof *target);
    carom_status status = project(p, target, x, &feasible, error);
    if (status || !feasible) return status;
    velocity_at(solutions, n, x, first);
    const double far = FAR * (1 + carom_max_abs((size_t)d, x));
    for (int sign = -1; sign <= 1 && !status && !*vary; sign += 2) {
        // Components without a pattern, so that no face of the polyhedron is met squarely.
        for (int k = 0; k < d; k++) target[k] = sign * far * cos(1 + 2.5 * k);
        status = project(p, target, x, &feasible, error);
        if (status || !feasible) break;
        velocity_at(solutions, n, x, other);
        for (int c = 0; c < n; c++) *vary = *vary || fabs(other[c] - first[c]) > different;
    }
    return status;
}

carom_status carom_step_solutions_vary(const carom_stepper *stepper, const carom_step_mode *modes, const double *lmax,
                                       const carom_step_solutions *solutions, bool *vary, carom_error *error) {
    const size_t n = (size_t)carom_impact_contact_size(stepper->impact), d = (size_t)solutions->dimension;
    const size_t most = (size_t)stepper->count * (4 + (size_t)stepper->edges);
    *vary = false;
    carom_arena arena = {0};
    double *tolerance = carom_arena_take(&arena, most, sizeof(double)), *slack = carom_arena_take(&arena, (1 + d) * most, sizeof(double));
    double *work = carom_arena_take(&arena, 2 * d + 2 * n, sizeof(double));
    polyhedron p = {.dimension = solutions->dimension,
                    .slope = carom_arena_take(&arena, most * d, sizeof(double)),
                    .level = carom_arena_take(&arena, most, sizeof(double)),
                    .gram = carom_arena_take(&arena, most * most, sizeof(double)),
                    .w = carom_arena_take(&arena, most, sizeof(double)),
                    .y = carom_arena_take(&arena, most, sizeof(double))};
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "enumeration");
    }

    // Slacks of the base point, and of each direction.
    int count = 0;
    double largest = 0;
    for (size_t k = 0; k <= d; k++) {
        slack_list list = {slack + k * most, tolerance, 0};
        for (int i = 0; i < stepper->count; i++) add_contact(stepper, &modes[i], i, lmax ? lmax[i] : 0, solutions, k, &list);
        count = list.count;
        if (k) largest = fmax(largest, carom_max_abs((size_t)count, list.value));
    }
    // They become rows of the polyhedron; a slack that no direction changes only decides whether the polyhedron is empty.
    bool feasible = true;
    for (size_t i = 0; i < (size_t)count && feasible; i++) {
        double *row = p.slope + (size_t)p.rows * d, length = 0;
        for (size_t k = 1; k <= d; k++) length += slack[k * most + i] * slack[k * most + i];
        length = sqrt(length);
        if (length <= CONSTANT * largest) {
            feasible = !(slack[i] < -tolerance[i]);
            continue;
        }
        for (size_t k = 1; k <= d; k++) row[k - 1] = slack[k * most + i] / length;
        p.level[p.rows++] = -(slack[i] + tolerance[i]) / length;
    }
    const carom_status status = feasible ? compare_points(stepper, &p, solutions, work, vary, error) : CAROM_OK;
    carom_arena_free(&arena);
    return status;
}
