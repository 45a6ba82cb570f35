// SPDX-License-Identifier: Apache-2.0
// The shortest vector on the positive side of all rays of the friction cones: a quadratic program in nv unknowns, by the dual active-set
// method of Goldfarb & Idnani (1983) in quadruple precision, where cones of mu = 1e6 are no harder than others.
#include <float.h>
#include <math.h>
#include <string.h>

#include "reach/cone_rays.h"

// In quadruple precision, of rays of length 1. A ray may fall short of its bound by this share of it: ample for a double.
#define SHORTFALL 1e-17
// What is left of a ray beside those of which it is a combination. Data in doubles that do not depend leave far more, round-off far less.
#define DEPENDENT 1e-20
// Multipliers that count as growing.
#define GROWS 1e-24

// min ||x||^2/2 with a.x >= b for rays a of length 1. The `active` rays, held at a.x = b, are Q R; x = sum of u a over them.
typedef struct program {
    const carom_cone_rays *rays;
    int nv, count;        // active rays
    double *length;       // [rays] before the scaling to 1
    double *bound;        // [rays]
    int *active;          // [nv + 1]
    carom_quad *x;        // [nv]
    carom_quad *u;        // [nv + 1] their multipliers, > 0; the last is that of the ray which is being added
    carom_quad *Q, *R;    // [nv x nv] orthonormal rows, and column k of R as row k
    carom_quad *a;        // [nv] the ray to add
    carom_quad *along;    // [nv] its products with Q
    carom_quad *share;    // [nv] R^-1 of those: as a combination of the active rays
    carom_quad *outside;  // [nv] what is left of it
} program;

static carom_quad dot(int n, const carom_quad *a, const carom_quad *b) {
    carom_quad sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// Newton's step makes a root in doubles one in quadruple precision.
static carom_quad root(carom_quad square) {
    const carom_quad first = sqrt((double)square);
    return first > 0 ? (first + square / first) / 2 : first;
}

static carom_status start(program *p, const carom_cone_rays *rays, bool unit, carom_arena *arena, carom_error *error) {
    const size_t nv = (size_t)rays->data->nv, count = (size_t)rays->rays;
    *p = (program){.rays = rays, .nv = (int)nv};
    p->length = carom_arena_take(arena, count, sizeof *p->length);
    p->bound = carom_arena_take(arena, count, sizeof *p->bound);
    p->active = carom_arena_take(arena, nv + 1, sizeof *p->active);
    p->x = carom_arena_take(arena, nv, sizeof *p->x);
    p->u = carom_arena_take(arena, nv + 1, sizeof *p->u);
    p->Q = carom_arena_take(arena, nv * nv, sizeof *p->Q);
    p->R = carom_arena_take(arena, nv * nv, sizeof *p->R);
    p->a = carom_arena_take(arena, nv, sizeof *p->a);
    p->along = carom_arena_take(arena, nv, sizeof *p->along);
    p->share = carom_arena_take(arena, nv, sizeof *p->share);
    p->outside = carom_arena_take(arena, nv, sizeof *p->outside);
    if (arena->failed) return carom_fail_memory(error, "friction cones");
    for (int ray = 0; ray < rays->rays; ray++) {
        carom_quad square = 0, magnitude;
        for (int k = 0; k < p->nv; k++) {
            const carom_quad entry = rays->scale[k] * carom_cone_ray_entry(rays, ray, k, &magnitude);
            square += entry * entry;
        }
        p->length[ray] = (double)root(square);
        p->bound[ray] = unit ? 1 : 1 / p->length[ray];
    }
    return CAROM_OK;
}

// The ray that x misses by most, -1 where it misses none.
static int find_violated(const program *p) {
    const carom_cone_rays *rays = p->rays;
    const int dim = rays->data->tangent_dim;
    carom_quad most = 0;
    int worst = -1;
    for (int contact = 0; contact < rays->data->contacts; contact++) {
        carom_quad product[3] = {0};
        for (int c = 0; c <= dim; c++) {
            const double *row = rays->rows + (size_t)(contact * (1 + dim) + c) * (size_t)p->nv;
            for (int k = 0; k < p->nv; k++) product[c] += p->x[k] * rays->scale[k] * row[k];
        }
        for (int edge = 0; edge < rays->edges; edge++) {
            const int ray = contact * rays->edges + edge;
            carom_quad along = 0;
            for (int t = 0; t < dim; t++) along += rays->directions[edge * dim + t] * product[1 + t];
            const carom_quad missing = p->bound[ray] - (product[0] + rays->data->friction[contact] * along) / p->length[ray];
            if (missing > most && missing > (carom_quad)SHORTFALL * p->bound[ray]) {
                most = missing;
                worst = ray;
            }
        }
    }
    return worst;
}

// a = Q along + outside, orthogonalised twice; share = R^-1 along. False where nothing is left outside.
static bool decompose(program *p) {
    const size_t nv = (size_t)p->nv;
    memcpy(p->outside, p->a, nv * sizeof *p->a);
    memset(p->along, 0, nv * sizeof *p->along);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < p->count; i++) {
            const carom_quad *q = p->Q + (size_t)i * nv, product = dot(p->nv, q, p->outside);
            p->along[i] += product;
            for (size_t k = 0; k < nv; k++) p->outside[k] -= product * q[k];
        }
    for (int i = p->count - 1; i >= 0; i--) {
        carom_quad sum = p->along[i];
        for (int j = i + 1; j < p->count; j++) sum -= p->R[(size_t)j * nv + (size_t)i] * p->share[j];
        p->share[i] = sum / p->R[(size_t)i * nv + (size_t)i];
    }
    return p->count < p->nv && dot(p->nv, p->outside, p->outside) > (carom_quad)DEPENDENT * DEPENDENT;
}

static void append(program *p) {
    const size_t nv = (size_t)p->nv, last = (size_t)p->count++;
    const carom_quad length = root(dot(p->nv, p->outside, p->outside));
    memcpy(p->R + last * nv, p->along, last * sizeof *p->R);
    p->R[last * nv + last] = length;
    for (size_t k = 0; k < nv; k++) p->Q[last * nv + k] = p->outside[k] / length;
}

// Takes active ray `gone` out. Column j of R then has an entry below the diagonal, which a rotation of rows j and j + 1 of R and Q removes.
static void drop(program *p, int gone) {
    const size_t nv = (size_t)p->nv;
    p->count--;
    // The multiplier of the ray that is being added moves, too.
    for (int j = gone; j <= p->count; j++) {
        p->active[j] = p->active[j + 1];
        p->u[j] = p->u[j + 1];
        if (j < p->count) memcpy(p->R + (size_t)j * nv, p->R + (size_t)(j + 1) * nv, (size_t)(j + 2) * sizeof *p->R);
    }
    for (int j = gone; j < p->count; j++) {
        const size_t row = (size_t)j;
        const carom_quad top = p->R[row * nv + row], below = p->R[row * nv + row + 1], length = root(top * top + below * below),
                         c = top / length, s = below / length;
        for (size_t k = row; k < (size_t)p->count; k++) {
            carom_quad *entry = p->R + k * nv + row;
            const carom_quad upper = c * entry[0] + s * entry[1], lower = c * entry[1] - s * entry[0];
            entry[0] = upper;
            entry[1] = lower;
        }
        carom_quad *first = p->Q + row * nv, *second = first + nv;
        for (size_t k = 0; k < nv; k++) {
            const carom_quad upper = c * first[k] + s * second[k], lower = c * second[k] - s * first[k];
            first[k] = upper;
            second[k] = lower;
        }
    }
}

// Raises the multiplier of one violated ray until it is held; others whose multipliers fall to zero on the way are let go.
// @return false where it can grow for ever: the ray and the active ones cancel
static bool hold(program *p, int ray) {
    carom_quad magnitude;
    for (int k = 0; k < p->nv; k++) p->a[k] = p->rays->scale[k] * carom_cone_ray_entry(p->rays, ray, k, &magnitude) / p->length[ray];
    p->u[p->count] = 0;
    p->active[p->count] = ray;
    for (;;) {
        const bool outside = decompose(p);
        carom_quad largest = 1, full = -1, step = -1;
        for (int i = 0; i < p->count; i++) largest = fmax((double)largest, fabs((double)p->share[i]));
        int gone = -1;
        for (int i = 0; i < p->count; i++) {
            if (!(p->share[i] > (carom_quad)GROWS * largest)) continue;
            const carom_quad possible = p->u[i] / p->share[i];
            if (gone < 0 || possible < step) {
                step = possible;
                gone = i;
            }
        }
        if (outside) full = (p->bound[ray] - dot(p->nv, p->a, p->x)) / dot(p->nv, p->outside, p->a);
        if (gone < 0 && !outside) return false;
        const bool ends = outside && (gone < 0 || full <= step);
        if (ends) step = full;
        for (int i = 0; i < p->count; i++) p->u[i] -= step * p->share[i];
        p->u[p->count] += step;
        for (int k = 0; k < p->nv && outside; k++) p->x[k] += step * p->outside[k];
        if (ends) {
            append(p);
            return true;
        }
        drop(p, gone);
    }
}

// The ray and minus its shares: what cancels.
static void collect_weights(const program *p, int ray, double *weights) {
    weights[ray] = 1 / p->length[ray];
    for (int i = 0; i < p->count; i++) weights[p->active[i]] = fmax(0, (double)-p->share[i]) / p->length[p->active[i]];
}

carom_status carom_cone_shortest(const carom_cone_rays *rays, bool unit, carom_arena *arena, carom_shortest *shortest, carom_error *error) {
    program p;
    const carom_status status = start(&p, rays, unit, arena, error);
    if (status) return status;
    shortest->found = false;
    if (shortest->weights) memset(shortest->weights, 0, (size_t)rays->rays * sizeof *shortest->weights);
    for (int ray = 0; ray < rays->rays; ray++)
        if (!(p.length[ray] > 0 && isfinite(p.bound[ray]))) return CAROM_OK;
    // Each ray makes x longer, so that none is held twice with the same others; in practice some nv are held.
    const int most = 1000 + 50 * p.nv;
    for (int k = 0; k < most && !shortest->found; k++) {
        const int ray = find_violated(&p);
        if (ray < 0) {
            shortest->found = true;
        } else if (!hold(&p, ray)) {
            if (shortest->weights) collect_weights(&p, ray, shortest->weights);
            return CAROM_OK;
        }
    }
    carom_quad square = 0;
    for (int k = 0; k < p.nv; k++) {
        shortest->x[k] = (double)(p.x[k] * rays->scale[k]);
        square += p.x[k] * p.x[k];
    }
    shortest->norm = (double)root(square);
    return CAROM_OK;
}
