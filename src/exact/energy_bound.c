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
    int contacts, dim, n, edges, unknowns;
    const double *mu;
    double *W, *u, *d;  // [n x n], [n], [n]
    double *rays;       // [contacts edges x n] edges of the cones
    double *pushed;     // [contacts edges x n] W times these
    double *inner;      // [n] W times an impulse, in the inside of all polar cones turned round; zero where none was found
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

// The bound of d.P for a multiplier of the energy: the largest d.P - lambda (energy) with polygonal cones and contacts that open, by
// Lemke's method; its multipliers a and its impulse s, made feasible, prove a bound. Infinity where they do not.
static double prove(energy_question *q, double lambda) {
    const int n = q->n, stride = 1 + q->dim, count = q->contacts * q->edges, all = q->unknowns;
    for (int a = 0; a < count; a++) {
        const double *ray = q->rays + a * n;
        q->w[a] = lambda * carom_dot(n, ray, q->u) - carom_dot(n, ray, q->d);
        for (int b = 0; b < count; b++) q->matrix[a * all + b] = lambda * carom_dot(n, ray, q->pushed + b * n);
        for (int i = 0; i < q->contacts; i++) {
            q->matrix[a * all + count + i] = -q->pushed[a * n + i * stride];
            q->matrix[(count + i) * all + a] = q->pushed[a * n + i * stride];
        }
    }
    for (int i = 0; i < q->contacts; i++) {
        q->w[count + i] = q->u[i * stride];
        for (int j = 0; j < q->contacts; j++) q->matrix[(count + i) * all + count + j] = 0;
    }
    if (carom_lcp_lemke_once(all, q->matrix, q->w, q->z) != CAROM_COMPLETE) return INFINITY;
    memset(q->s, 0, (size_t)n * sizeof *q->s);
    for (int a = 0; a < count; a++)
        for (int k = 0; k < n; k++) q->s[k] += fmax(0, q->z[a]) * q->rays[a * n + k];
    // g, and how far round-off may have moved it.
    double opening = 0, size = 0;
    for (int i = 0; i < q->contacts; i++) opening += fmax(0, q->z[count + i]) * q->u[i * stride];
    double *pull = q->z + all;
    for (int k = 0; k < n; k++) pull[k] = (k % stride ? 0 : fmax(0, q->z[count + k / stride])) - lambda * q->s[k];
    for (int k = 0; k < n; k++) {
        double terms = fabs(q->d[k]) + lambda * fabs(q->u[k]);
        q->g[k] = q->d[k] - lambda * q->u[k];
        for (int j = 0; j < n; j++) {
            q->g[k] += q->W[k * n + j] * pull[j];
            terms += fabs(q->W[k * n + j] * pull[j]);
        }
        size = fmax(size, terms);
    }
    double steepest = 0;
    for (int i = 0; i < q->contacts; i++) steepest = fmax(steepest, q->mu[i]);
    const double excess = worst_side(q, q->g) + ROUND_OFF * (1 + 2 * steepest) * size;
    // -lambda s changes by that of s0.
    if (excess > 0)
        for (int k = 0; k < n; k++) q->s[k] += excess / lambda * q->inner_impulse[k];
    const bool feasible = excess <= 0 || carom_max_abs((size_t)n, q->inner) > 0;
    const double energy = push(q, q->s, q->g);
    double terms = 0;
    for (int k = 0; k < n; k++) terms += fabs(q->s[k] * q->g[k]);
    const double bound = opening + lambda / 2 * energy;
    return feasible && isfinite(bound) ? bound + ROUND_OFF * (fabs(opening) + lambda / 2 * terms) : INFINITY;
}

// |c|_(M^-1) |v-|_M, the bound of c.v+ by energy alone; in contact space sqrt(c'Wc) for the velocity's part.
static carom_status find_ball(const carom_impact *impact, const carom_functional *f, double *ball, carom_error *error) {
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
    *ball = sqrt(fmax(0, square) * 2 * carom_impact_initial_energy(impact)) * (1 + data->nv * ROUND_OFF);
    carom_arena_free(&memory);
    return status;
}

carom_status bound_by_energy(const carom_impact *impact, const carom_functional *functional, double *upper, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    carom_status status = find_ball(impact, functional, upper, error);
    energy_question q = {.contacts = data->contacts,
                         .dim = data->tangent_dim,
                         .n = carom_impact_contact_size(impact),
                         .edges = data->tangent_dim == 1 ? 2 : SPATIAL_EDGES,
                         .mu = data->friction};
    q.unknowns = q.contacts * (q.edges + 1);
    if (status || q.unknowns > MOST_UNKNOWNS) return status;
    const size_t n = (size_t)q.n, all = (size_t)q.unknowns, rays = (size_t)(q.contacts * q.edges);
    q.W = carom_arena_take(&q.memory, n * n, sizeof(double));
    q.u = carom_arena_take(&q.memory, n, sizeof(double));
    q.d = carom_arena_take(&q.memory, n, sizeof(double));
    q.rays = carom_arena_take(&q.memory, rays * n, sizeof(double));
    q.pushed = carom_arena_take(&q.memory, rays * n, sizeof(double));
    q.inner = carom_arena_take(&q.memory, n, sizeof(double));
    q.inner_impulse = carom_arena_take(&q.memory, n, sizeof(double));
    q.matrix = carom_arena_take(&q.memory, all * all, sizeof(double));
    q.w = carom_arena_take(&q.memory, all, sizeof(double));
    q.z = carom_arena_take(&q.memory, all + n, sizeof(double));
    q.s = carom_arena_take(&q.memory, n, sizeof(double));
    q.g = carom_arena_take(&q.memory, n, sizeof(double));
    if (q.memory.failed) {
        carom_arena_free(&q.memory);
        return carom_fail_memory(error, "bound");
    }

    // The functional before the impact, and d = J M^-1 c, its change by unit impulses.
    const double *W = carom_impact_delassus(impact), *response = carom_impact_response(impact);
    double before = 0, terms = 0;
    carom_impact_contact_velocity(impact, data->velocity, q.u);
    for (size_t k = 0; k < n; k++) {
        before += functional->contact[k] * q.u[k];
        terms += fabs(functional->contact[k] * q.u[k]);
        q.d[k] = carom_dot(q.n, W + k * n, functional->contact);
        for (int j = 0; j < functional->nv; j++) q.d[k] += response[k * (size_t)data->nv + (size_t)j] * functional->velocity[j];
    }
    for (int j = 0; j < functional->nv; j++) {
        before += functional->velocity[j] * data->velocity[j];
        terms += fabs(functional->velocity[j] * data->velocity[j]);
    }
    const double mass_scale = carom_max_abs(n * n, W), speed = carom_impact_velocity_scale(impact), change = carom_max_abs(n, q.d);
    // Nothing moves, or nothing changes.
    if (!(speed > 0) || !(change > 0)) {
        *upper = fmin(*upper, before + ROUND_OFF * terms);
        carom_arena_free(&q.memory);
        return CAROM_OK;
    }
    for (size_t k = 0; k < n * n; k++) q.W[k] = W[k] / mass_scale;
    for (size_t k = 0; k < n; k++) q.u[k] /= speed;
    for (size_t k = 0; k < n; k++) q.d[k] /= change;
    // Edges of the cones: normal impulses one, friction mu d_j, tangents of the round cone's circle.
    double directions[2 * SPATIAL_EDGES];
    carom_cone_directions(q.dim, q.edges, directions);
    const double around = q.dim == 1 ? 1 : 1 / cos(acos(-1) / SPATIAL_EDGES);
    for (int i = 0; i < q.contacts; i++)
        for (int j = 0; j < q.edges; j++) {
            double *ray = q.rays + (i * q.edges + j) * q.n;
            ray[i * (1 + q.dim)] = 1;
            for (int p = 0; p < q.dim; p++) ray[i * (1 + q.dim) + 1 + p] = q.mu[i] * around * directions[j * q.dim + p];
            push(&q, ray, q.pushed + (i * q.edges + j) * q.n);
        }
    find_inner(&q);
    // The bound is convex in the multiplier: golden sections of its logarithm.
    double low = LEAST_LOG_MULTIPLIER, high = MOST_LOG_MULTIPLIER, points[2], values[2], least = INFINITY;
    for (int side = 0; side < 2; side++) {
        points[side] = side ? low + GOLDEN * (high - low) : high - GOLDEN * (high - low);
        values[side] = prove(&q, pow(10, points[side]));
        least = fmin(least, values[side]);
    }
    for (int section = 0; section < SECTIONS; section++) {
        const int better = values[1] < values[0];
        if (better)
            low = points[0];
        else
            high = points[1];
        points[1 - better] = points[better];
        values[1 - better] = values[better];
        points[better] = better ? low + GOLDEN * (high - low) : high - GOLDEN * (high - low);
        values[better] = prove(&q, pow(10, points[better]));
        least = fmin(least, values[better]);
    }
    // d.P in units of `change` times the impulse speed / mass_scale.
    const double bound = least * change * speed / mass_scale;
    *upper = fmin(*upper, before + bound + ROUND_OFF * (terms + fabs(bound)));
    carom_arena_free(&q.memory);
    return CAROM_OK;
}
