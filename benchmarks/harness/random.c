// SPDX-License-Identifier: Apache-2.0
// Random impacts to measure on.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/bench.h"

#define RANDOM_FRICTION 0.5

typedef struct draft {
    size_t nv, contacts, tangent_dim;
    double *factor, *mass, *normal, *tangent, *velocity, *friction;
} draft;

static void fill_normal(carom_stream *stream, size_t count, double *values) {
    for (size_t i = 0; i < count; i++) values[i] = carom_stream_normal(stream);
}

// M = I + A A'/nv.
static void fill_mass(carom_stream *stream, const draft *d) {
    const size_t nv = d->nv;
    fill_normal(stream, nv * nv, d->factor);
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < nv; j++) {
            double sum = i == j;
            for (size_t k = 0; k < nv; k++) sum += d->factor[i * nv + k] * d->factor[j * nv + k] / (double)nv;
            d->mass[i * nv + j] = sum;
        }
}

// To -1, 0 or 1.
static void round_off(size_t count, double *values) {
    for (size_t i = 0; i < count; i++) values[i] = fmin(fmax(rint(values[i]), -1), 1);
}

// A row of zeros is no normal.
static void mend_normals(const draft *d) {
    for (size_t i = 0; i < d->contacts; i++) {
        double *row = d->normal + i * d->nv, size = 0;
        for (size_t j = 0; j < d->nv; j++) size += fabs(row[j]);
        if (size == 0) row[i % d->nv] = 1;
    }
}

static void make_degenerate(const draft *d, bench_family family) {
    const size_t rows = d->tangent_dim * d->nv, half = d->contacts / 2;
    if (family == BENCH_INTEGER) {
        round_off(d->contacts * d->nv, d->normal);
        round_off(d->contacts * rows, d->tangent);
        round_off(d->nv, d->velocity);
        mend_normals(d);
    }
    if (family == BENCH_DUPLICATED) {
        memcpy(d->normal + (d->contacts - half) * d->nv, d->normal, half * d->nv * sizeof(double));
        memcpy(d->tangent + (d->contacts - half) * rows, d->tangent, half * rows * sizeof(double));
    }
    for (size_t i = 0; i < d->contacts; i++) d->friction[i] = family == BENCH_FRICTIONLESS ? 0 : RANDOM_FRICTION;
}

// Turns normals around so that every contact approaches.
static void make_approach(const draft *d) {
    for (size_t i = 0; i < d->contacts; i++) {
        double *row = d->normal + i * d->nv, speed = 0;
        for (size_t j = 0; j < d->nv; j++) speed += row[j] * d->velocity[j];
        for (size_t j = 0; j < d->nv && speed > 0; j++) row[j] = -row[j];
    }
}

carom_status bench_random_impact(carom_stream *stream, int contacts, int velocities, int tangent_dim, bench_family family,
                                 carom_impact **impact, carom_error *error) {
    *impact = NULL;
    draft d = {.nv = (size_t)velocities, .contacts = (size_t)contacts, .tangent_dim = (size_t)tangent_dim};
    double *arena = malloc((2 * d.nv * d.nv + (1 + d.tangent_dim) * d.contacts * d.nv + d.nv + d.contacts) * sizeof *arena);
    if (!arena) return carom_fail_memory(error, "bench");
    d.factor = arena;
    d.mass = d.factor + d.nv * d.nv;
    d.normal = d.mass + d.nv * d.nv;
    d.tangent = d.normal + d.contacts * d.nv;
    d.velocity = d.tangent + d.tangent_dim * d.contacts * d.nv;
    d.friction = d.velocity + d.nv;
    fill_mass(stream, &d);
    fill_normal(stream, d.nv, d.velocity);
    fill_normal(stream, d.contacts * d.nv, d.normal);
    fill_normal(stream, d.tangent_dim * d.contacts * d.nv, d.tangent);
    make_degenerate(&d, family);
    make_approach(&d);
    const carom_impact_data data = {.nv = velocities,
                                    .contacts = contacts,
                                    .tangent_dim = tangent_dim,
                                    .mass = d.mass,
                                    .normal = d.normal,
                                    .tangent = d.tangent,
                                    .friction = d.friction,
                                    .velocity = d.velocity};
    const carom_status status = carom_impact_create(&data, impact, error);
    free(arena);
    return status;
}
