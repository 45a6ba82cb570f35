// SPDX-License-Identifier: Apache-2.0
// Continua of velocities in a singular combination of contact modes.
//
// The solutions of the combination's equations that also have the signs of its modes form a polyhedron of parameters. Its points nearest
// to a few targets (quadratic programs, solved through their dual LCP) have different velocities exactly when there is a continuum.
#include <math.h>
#include <stdlib.h>
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

// One point of the affine map: impulses, velocities, and the factor of constants, which is 0 for a direction.
typedef struct map_point {
    const double *impulse, *u;
    double one;
} map_point;

// At most two of lam_n and u_n, two of a facet's share, and one for each edge.
static int most_slacks(const carom_stepper *s) { return s->count * (4 + s->edges); }

static void add_slack(slack_list *list, double value, double tolerance) {
    list->value[list->count] = value;
    list->tolerance[list->count++] = tolerance;
}

// Slip along an edge: its sliding speed is positive, and no other edge opposes the slip more.
static void add_slip(const carom_stepper *s, const carom_step_mode *mode, const double *slip, double tolerance, slack_list *list) {
    const double along = carom_dot(s->dim, carom_step_direction(s, mode->edge), slip);
    add_slack(list, -along, tolerance);
    for (int j = 0; j < s->edges; j++)
        if (j != mode->edge) add_slack(list, carom_dot(s->dim, carom_step_direction(s, j), slip) - along, tolerance);
}

// Stick: lam_t inside mu lam_n conv D. In space, with f halfway between two edges, |f| = cos(pi/k): f.lam_t <= mu lam_n |f|^2.
static void add_stick(const carom_stepper *s, double limit, const double *tangent, double tolerance, slack_list *list) {
    for (int j = 0; j < s->edges; j++) {
        const double *d = carom_step_direction(s, j), *e = carom_step_direction(s, s->dim == 1 ? j : j + 1);
        double along = 0, length = 0;
        for (int p = 0; p < s->dim; p++) {
            along += 0.5 * (d[p] + e[p]) * tangent[p];
            length += 0.25 * (d[p] + e[p]) * (d[p] + e[p]);
        }
        add_slack(list, limit * length - along, tolerance);
    }
}

// Slip between two edges: the share of the first is between 0 and mu lam_n.
static void add_facet(const carom_stepper *s, const carom_step_mode *mode, double limit, const double *tangent, double tolerance,
                      slack_list *list) {
    const double *d = carom_step_direction(s, mode->edge), *e = carom_step_direction(s, mode->edge + 1);
    double along = 0, length = 0;
    for (int p = 0; p < s->dim; p++) {
        along += (tangent[p] - limit * e[p]) * (d[p] - e[p]);
        length += (d[p] - e[p]) * (d[p] - e[p]);
    }
    add_slack(list, along / length, tolerance);
    add_slack(list, limit - along / length, tolerance);
}

static void add_contact(const carom_stepper *s, const carom_step_mode *mode, int contact, double cap, const map_point *at, double speed,
                        slack_list *list) {
    const int row = carom_step_contact_row(s, contact);
    const size_t diagonal = (size_t)row * ((size_t)carom_impact_contact_size(s->impact) + 1);
    const double small_speed = SIGN_TOLERANCE * speed, small_impulse = small_speed / carom_impact_delassus(s->impact)[diagonal];
    const double normal = at->impulse[row], *tangent = at->impulse + row + 1;
    const double limit = carom_impact_get_data(s->impact)->friction[s->first + contact] * normal;
    if (mode->open) {
        add_slack(list, at->u[row], small_speed);
        return;
    }
    if (mode->capped)
        add_slack(list, -at->u[row], small_speed);
    else
        add_slack(list, normal, small_impulse);
    if (!mode->capped && s->beta >= 0) add_slack(list, at->one * cap - normal, small_impulse);
    if (mode->friction == CAROM_MODE_STICK)
        add_stick(s, limit, tangent, small_impulse, list);
    else
        add_slip(s, mode, at->u + row + 1, small_speed, list);
    if (mode->friction == CAROM_MODE_FACET) add_facet(s, mode, limit, tangent, small_impulse, list);
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

// The slacks of the base point and of each direction become rows; constant ones only have a say on feasibility.
static bool add_rows(polyhedron *p, int count, const double *base, const double *tolerance, double *const *directions) {
    double largest = 0;
    for (int k = 0; k < p->dimension; k++) largest = fmax(largest, carom_max_abs((size_t)count, directions[k]));
    for (int i = 0; i < count; i++) {
        double *row = p->slope + p->rows * p->dimension, length = 0;
        for (int k = 0; k < p->dimension; k++) length += directions[k][i] * directions[k][i];
        length = sqrt(length);
        if (length <= CONSTANT * largest) {
            if (base[i] < -tolerance[i]) return false;
            continue;
        }
        for (int k = 0; k < p->dimension; k++) row[k] = directions[k][i] / length;
        p->level[p->rows++] = -(base[i] + tolerance[i]) / length;
    }
    return true;
}

// The contact velocity at parameters x of the affine map.
static void velocity_at(int n, int dimension, const double *u, const double *x, double *velocity) {
    for (int c = 0; c < n; c++) {
        velocity[c] = u[c];
        for (int k = 0; k < dimension; k++) velocity[c] += x[k] * u[(k + 1) * n + c];
    }
}

// Projects the origin and two opposite far targets, and compares the velocities there.
static carom_status compare_points(const carom_stepper *s, const polyhedron *p, const double *u, double *work, bool *vary,
                                   carom_error *error) {
    const int n = carom_impact_contact_size(s->impact), d = p->dimension;
    double *target = work, *x = work + d, *first = x + d, *other = first + n;
    const double different = DIFFERENT * carom_max_abs((size_t)n, s->u);
    bool feasible = true;
    memset(target, 0, (size_t)d * sizeof *target);
    carom_status status = project(p, target, x, &feasible, error);
    if (status || !feasible) return status;
    velocity_at(n, d, u, x, first);
    const double far = FAR * (1 + carom_max_abs((size_t)d, x));
    for (int sign = -1; sign <= 1 && !status && !*vary; sign += 2) {
        // Components without a pattern, so that no face of the polyhedron is met squarely.
        for (int k = 0; k < d; k++) target[k] = sign * far * cos(1 + 2.5 * k);
        status = project(p, target, x, &feasible, error);
        if (status || !feasible) break;
        velocity_at(n, d, u, x, other);
        for (int c = 0; c < n; c++) *vary = *vary || fabs(other[c] - first[c]) > different;
    }
    return status;
}

carom_status carom_step_modes_vary(const carom_stepper *s, const carom_step_mode *modes, const double *lmax, int dimension,
                                   const double *impulse, const double *u, bool *vary, carom_error *error) {
    *vary = false;
    const size_t n = (size_t)carom_impact_contact_size(s->impact), d = (size_t)dimension, most = (size_t)most_slacks(s);
    double *arena = malloc((most * (2 + d) + most * d + most + most * most + 2 * most + 2 * d + 2 * n) * sizeof *arena);
    double **slacks = malloc((1 + d) * sizeof *slacks);
    if (!arena || !slacks) {
        free(arena);
        free(slacks);
        return carom_fail_memory(error, "enumeration");
    }
    double *tolerance = arena, *next = arena + most;
    int count = 0;
    for (size_t k = 0; k <= d; k++, next += most) {
        slacks[k] = next;
        slack_list list = {slacks[k], tolerance, 0};
        const map_point at = {impulse + k * n, u + k * n, k == 0};
        for (int i = 0; i < s->count; i++) add_contact(s, &modes[i], i, lmax ? lmax[i] : 0, &at, carom_max_abs(n, s->u), &list);
        count = list.count;
    }
    polyhedron p = {.dimension = dimension, .slope = next, .level = next + most * d};
    p.gram = p.level + most;
    p.w = p.gram + most * most;
    p.y = p.w + most;
    carom_status status = CAROM_OK;
    if (add_rows(&p, count, slacks[0], tolerance, slacks + 1)) status = compare_points(s, &p, u, p.y + most, vary, error);
    free(arena);
    free(slacks);
    return status;
}
