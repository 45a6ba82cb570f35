// SPDX-License-Identifier: Apache-2.0
// The bound that always exists. Every solution has an impulse P in the product K of the friction cones, does not gain energy,
// u.P + P'WP/2 <= 0, and ends with (u + W P)_n >= 0. For any lambda > 0, a >= 0 and s, the change d.P of the functional is at most
//     d.P + a.(u + W P)_n - lambda (u.P + P'WP/2)  <=  a.u_n + lambda s'Ws/2 + (d + W (E a - lambda s) - lambda u).P
// (E a: normal impulses a), and the last term is <= 0 on K where each contact has g_n + mu |g_t| <= 0 for g = d + W (E a - lambda s) -
// lambda u. That is checked; where a, lambda and s come from does not matter.
#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/arena.h"
#include "carom/dense.h"
#include "carom/lcp.h"
#include "exact/bounding.h"

// Edges of a polygon around the round cone: more give a smaller bound, and larger LCPs.
enum { SPATIAL_EDGES = 8, MOST_UNKNOWNS = 600, SECTIONS = 50 };
// The multiplier of the energy, without units, is sought between these.
#define LEAST_LOG_MULTIPLIER -9.0
#define MOST_LOG_MULTIPLIER  5.0
#define GOLDEN               0.6180339887498949
// Round-off of sums, and of W itself, as a share of their terms: bounds grow by it.
#define ROUND_OFF 1e-11

// The question without units: W over its largest entry, u over the velocity scale, d over its largest entry.
typedef struct energy_question {
    int contacts, dim, n, edges, unknowns, starts;
    double mass_scale, speed, change;  // what W, u and d were divided by
    double *mu;                        // [contacts]
    double *W, *d;                     // [n x n], [n]
    double *u;                         // [starts x n]
    double *centre;                    // [n] the mean of u
    double *before;                    // [starts] the functional before the impact, over change * speed / mass_scale
    double terms;                      // the sum of the sizes of its terms, at most
    double *rays;                      // [contacts edges x n] edges of the cones
    double *pushed;                    // [contacts edges x n] W times these
    double *inner;                     // [n] W times an impulse, in the inside of all polar cones turned round; zero where none was found
    double *inner_impulse;
    double *matrix, *w, *z, *s, *g;
    carom_arena memory;
} energy_question;

// max over contacts of g_n + mu |g_t|: not positive where g is in the polar cone of K.
static double worst_side(const energy_question *q, const double *g) {
    double worst = -INFINITY;
    for (int i = 0; i < q->contacts; i++) {
        const double *row = g + i * (1 + q->dim);
        const double slip = q->dim == 1 ? fabs(row[1]) : hypot(row[1], row[2]);
        worst = fmax(worst, row[0] + q->mu[i] * slip);
    }
    return worst;
}

// s'Ws, and W s.
static double push(const energy_question *q, const double *s, double *Ws) {
    carom_multiply(q->n, q->n, q->W, s, Ws);
    return carom_dot(q->n, s, Ws);
}

// An impulse s0 with (W s0)_n - mu |(W s0)_t| >= 1 at all contacts, which friction cones that are pointed have: the shortest one with
// W s0 . f >= 1 for all edges f.
static void find_inner(energy_question *q) {
    const int count = q->contacts * q->edges;
    for (int a = 0; a < count; a++) {
        q->w[a] = -1;
        for (int b = 0; b < count; b++) q->matrix[a * count + b] = carom_dot(q->n, q->rays + a * q->n, q->pushed + b * q->n);
    }
    memset(q->inner, 0, (size_t)q->n * sizeof *q->inner);
    if (carom_lcp_lemke_once(count, q->matrix, q->w, q->z) != CAROM_COMPLETE) return;
    memset(q->inner_impulse, 0, (size_t)q->n * sizeof *q->inner_impulse);
    for (int a = 0; a < count; a++)
        for (int k = 0; k < q->n; k++) q->inner_impulse[k] += fmax(0, q->z[a]) * q->rays[a * q->n + k];
    push(q, q->inner_impulse, q->inner);
    // -W s0 in the polar cone, by a margin that becomes one.
    for (int k = 0; k < q->n; k++) q->g[k] = -q->inner[k];
    const double margin = -worst_side(q, q->g);
    for (int k = 0; k < q->n; k++) {
        q->inner[k] = margin > 0 ? q->inner[k] / margin : 0;
        q->inner_impulse[k] = margin > 0 ? q->inner_impulse[k] / margin : 0;
    }
}

// The bound of the functional for a multiplier of the energy: the largest d.P - lambda (energy) with polygonal cones and contacts that
// open, by Lemke's method; its multipliers a and its impulse s, made feasible, prove a bound. Infinity where they do not.
static double prove(energy_question *q, double lambda) {
    const int n = q->n, stride = 1 + q->dim, count = q->contacts * q->edges, all = q->unknowns;
    for (int a = 0; a < count; a++) {
        const double *ray = q->rays + a * n;
        q->w[a] = lambda * carom_dot(n, ray, q->centre) - carom_dot(n, ray, q->d);
        for (int b = 0; b < count; b++) q->matrix[a * all + b] = lambda * carom_dot(n, ray, q->pushed + b * n);
        for (int i = 0; i < q->contacts; i++) {
            q->matrix[a * all + count + i] = -q->pushed[a * n + i * stride];
            q->matrix[(count + i) * all + a] = q->pushed[a * n + i * stride];
        }
    }
    for (int i = 0; i < q->contacts; i++) {
        q->w[count + i] = q->centre[i * stride];
        for (int j = 0; j < q->contacts; j++) q->matrix[(count + i) * all + count + j] = 0;
    }
    if (carom_lcp_lemke_once(all, q->matrix, q->w, q->z) != CAROM_COMPLETE) return INFINITY;
    memset(q->s, 0, (size_t)n * sizeof *q->s);
    for (int a = 0; a < count; a++)
        for (int k = 0; k < n; k++) q->s[k] += fmax(0, q->z[a]) * q->rays[a * n + k];
    double *pull = q->z + all, largest = -INFINITY, excess = 0;
    for (int k = 0; k < n; k++) pull[k] = (k % stride ? 0 : fmax(0, q->z[count + k / stride])) - lambda * q->s[k];
    for (int start = 0; start < q->starts; start++) {
        // g, and how far round-off may have moved it.
        const double *u = q->u + start * n;
        double opening = 0, size = 0;
        for (int i = 0; i < q->contacts; i++) opening += fmax(0, q->z[count + i]) * u[i * stride];
        for (int k = 0; k < n; k++) {
            double terms = fabs(q->d[k]) + lambda * fabs(u[k]);
            q->g[k] = q->d[k] - lambda * u[k];
            for (int j = 0; j < n; j++) {
                q->g[k] += q->W[k * n + j] * pull[j];
                terms += fabs(q->W[k * n + j] * pull[j]);
            }
            size = fmax(size, terms);
        }
        excess = fmax(excess, worst_side(q, q->g) + ROUND_OFF * (1 + 2 * carom_max_abs((size_t)q->contacts, q->mu)) * size);
        largest = fmax(largest, q->before[start] + opening + ROUND_OFF * fabs(opening));
    }
    // -lambda s changes by that of s0.
    if (excess > 0)
        for (int k = 0; k < n; k++) q->s[k] += excess / lambda * q->inner_impulse[k];
    const bool feasible = excess <= 0 || carom_max_abs((size_t)n, q->inner) > 0;
    const double energy = push(q, q->s, q->g);
    double terms = 0;
    for (int k = 0; k < n; k++) terms += fabs(q->s[k] * q->g[k]);
    const double bound = largest + lambda / 2 * energy;
    return feasible && isfinite(bound) ? bound + ROUND_OFF * (fabs(largest) + lambda / 2 * terms) : INFINITY;
}

// What a vertex of the start is: the velocity of the impact where it is a point.
static const double *start_velocity(const carom_impact *impact, const carom_exact_start *start, int index) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    return start ? start->vertices + (size_t)index * (size_t)data->nv : data->velocity;
}

// |c|_(M^-1) |v-|_M for the fastest v-, the bound of c.v+ by energy alone; in contact space sqrt(c'Wc) for the velocity's part.
static carom_status find_ball(const carom_impact *impact, const carom_functional *f, const carom_exact_start *start, double *ball,
                              carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t nv = (size_t)data->nv, n = (size_t)f->n;
    carom_arena memory = {0};
    double *c = carom_arena_take(&memory, nv, sizeof *c), *factor = carom_arena_take(&memory, nv * nv, sizeof *factor);
    carom_status status = memory.failed ? carom_fail_memory(error, "bound") : CAROM_OK;
    double square = 0;
    if (!status && !carom_impact_has_system(impact)) {
        const double *W = carom_impact_delassus(impact);
        for (size_t k = 0; k < n; k++) square += f->contact[k] * carom_dot((int)n, W + k * n, f->contact);
    } else if (!status) {
        const size_t stride = 1 + (size_t)data->tangent_dim;
        for (size_t j = 0; j < nv; j++) {
            c[j] = f->velocity[j];
            for (size_t k = 0; k < n; k++) {
                const size_t contact = k / stride, tangent = contact * (stride - 1) + k % stride - 1;
                c[j] += f->contact[k] * (k % stride ? data->tangent[tangent * nv + j] : data->normal[contact * nv + j]);
            }
        }
        memcpy(factor, data->mass, nv * nv * sizeof *factor);
        if (carom_cholesky_factor(data->nv, factor)) status = carom_fail(error, CAROM_INTERNAL, "the mass matrix has no factor");
        if (!status) carom_cholesky_forward(data->nv, factor, c);
        if (!status) square = carom_dot(data->nv, c, c);
    }
    double energy = 0;
    for (int k = 0; k < (start ? start->count : 1); k++)
        energy = fmax(energy, carom_impact_kinetic_energy(impact, start_velocity(impact, start, k)));
    *ball = sqrt(fmax(0, square) * 2 * energy) * (1 + data->nv * ROUND_OFF);
    carom_arena_free(&memory);
    return status;
}

// The question of an impact, without units, with the edges of its cones. Takes the memory of all that follows.
static carom_status ask(const carom_impact *impact, const carom_functional *functional, const carom_bound_options *options,
                        energy_question *q, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)q->n, all = (size_t)q->unknowns, rays = (size_t)(q->contacts * q->edges), starts = (size_t)q->starts;
    double **arrays[] = {&q->mu,     &q->W, &q->u, &q->centre, &q->before, &q->d, &q->rays, &q->pushed, &q->inner, &q->inner_impulse,
                         &q->matrix, &q->w, &q->z, &q->s,      &q->g};
    const size_t sizes[] = {(size_t)q->contacts, n * n, starts * n, n, starts, n, rays * n, rays * n, n, n, all * all, all, all + n, n, n};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) *arrays[i] = carom_arena_take(&q->memory, sizes[i], sizeof(double));
    if (q->memory.failed) return carom_fail_memory(error, "bound");
    for (int i = 0; i < q->contacts; i++) q->mu[i] = options->friction ? options->friction[i].most : data->friction[i];

    // d = J M^-1 c, the change of the functional by unit impulses; and the functional before the impact.
    const double *W = carom_impact_delassus(impact), *response = carom_impact_response(impact);
    for (size_t k = 0; k < n; k++) {
        q->d[k] = carom_dot(q->n, W + k * n, functional->contact);
        for (int j = 0; j < functional->nv; j++) q->d[k] += response[k * (size_t)data->nv + (size_t)j] * functional->velocity[j];
    }
    for (size_t s = 0; s < starts; s++) {
        const double *v = start_velocity(impact, options->start, (int)s);
        double *u = q->u + s * n, terms = 0;
        carom_impact_contact_velocity(impact, v, u);
        q->speed = fmax(q->speed, carom_max_abs(n, u));
        for (size_t k = 0; k < n; k++) q->before[s] += functional->contact[k] * u[k];
        for (size_t k = 0; k < n; k++) terms += fabs(functional->contact[k] * u[k]);
        for (int j = 0; j < functional->nv; j++) q->before[s] += functional->velocity[j] * v[j];
        for (int j = 0; j < functional->nv; j++) terms += fabs(functional->velocity[j] * v[j]);
        q->terms = fmax(q->terms, terms);
    }
    q->mass_scale = carom_max_abs(n * n, W);
    q->change = carom_max_abs(n, q->d);
    if (!(q->speed > 0) || !(q->change > 0)) return CAROM_OK;
    for (size_t k = 0; k < n * n; k++) q->W[k] = W[k] / q->mass_scale;
    for (size_t k = 0; k < n; k++) q->d[k] /= q->change;
    for (size_t k = 0; k < starts * n; k++) q->u[k] /= q->speed;
    for (size_t k = 0; k < starts * n; k++) q->centre[k % n] += q->u[k] / (double)starts;
    for (size_t s = 0; s < starts; s++) q->before[s] /= q->change * q->speed / q->mass_scale;

    // Edges of the cones: normal impulses one, friction mu d_j, tangents of the round cone's circle.
    double directions[2 * SPATIAL_EDGES];
    carom_cone_directions(q->dim, q->edges, directions);
    const double around = q->dim == 1 ? 1 : 1 / cos(acos(-1) / SPATIAL_EDGES);
    for (int i = 0; i < q->contacts; i++)
        for (int j = 0; j < q->edges; j++) {
            double *ray = q->rays + (i * q->edges + j) * q->n;
            ray[i * (1 + q->dim)] = 1;
            for (int p = 0; p < q->dim; p++) ray[i * (1 + q->dim) + 1 + p] = q->mu[i] * around * directions[j * q->dim + p];
            push(q, ray, q->pushed + (i * q->edges + j) * q->n);
        }
    return CAROM_OK;
}

// The least proof of all multipliers. The bound is convex in them: golden sections of the logarithm.
static double least_proof(energy_question *q) {
    double low = LEAST_LOG_MULTIPLIER, high = MOST_LOG_MULTIPLIER, points[2], values[2], least = INFINITY;
    for (int section = -2; section < SECTIONS; section++) {
        // The first two are the inner points; then the worse one moves, the end beyond it follows.
        const int better = section < 0 ? section + 2 : values[1] < values[0];
        if (section >= 0) {
            *(better ? &low : &high) = points[1 - better];
            points[1 - better] = points[better];
            values[1 - better] = values[better];
        }
        points[better] = better ? low + GOLDEN * (high - low) : high - GOLDEN * (high - low);
        values[better] = prove(q, pow(10, points[better]));
        least = fmin(least, values[better]);
    }
    return least;
}

carom_status bound_by_energy(const carom_impact *impact, const carom_functional *functional, const carom_bound_options *options,
                             double *upper, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    energy_question q = {.contacts = data->contacts,
                         .dim = data->tangent_dim,
                         .n = carom_impact_contact_size(impact),
                         .edges = data->tangent_dim == 1 ? 2 : SPATIAL_EDGES,
                         .starts = options->start ? options->start->count : 1};
    q.unknowns = q.contacts * (q.edges + 1);
    carom_status status = find_ball(impact, functional, options->start, upper, error);
    if (status || q.unknowns > MOST_UNKNOWNS) return status;
    status = ask(impact, functional, options, &q, error);
    if (!status && q.speed > 0 && q.change > 0) {
        find_inner(&q);
        // In units of the functional's change by an impulse speed / mass_scale.
        const double bound = least_proof(&q) * q.change * q.speed / q.mass_scale;
        *upper = fmin(*upper, bound + ROUND_OFF * (q.terms + fabs(bound)));
    } else if (!status) {
        // Nothing moves, or nothing changes.
        for (int s = 1; s < q.starts; s++) q.before[0] = fmax(q.before[0], q.before[s]);
        *upper = fmin(*upper, q.before[0] + ROUND_OFF * q.terms);
    }
    carom_arena_free(&q.memory);
    return status;
}
