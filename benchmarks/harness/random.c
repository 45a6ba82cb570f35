// SPDX-License-Identifier: Apache-2.0
// Random impacts to measure on.
#include <math.h>
#include <string.h>

#include "benchmarks/harness/harness.h"

#define RANDOM_FRICTION 0.5

static void fill_normal(carom_stream *stream, size_t count, double *values) {
    for (size_t i = 0; i < count; i++) values[i] = carom_stream_normal(stream);
}

// Rounds to -1, 0 or 1.
static void round_to_unit(size_t count, double *values) {
    for (size_t i = 0; i < count; i++) values[i] = fmin(fmax(rint(values[i]), -1), 1);
}

carom_status bench_random_impact(carom_stream *stream, const bench_sizes *sizes, bench_degeneracy degeneracy, carom_impact **impact,
                                 carom_error *error) {
    const size_t nv = (size_t)sizes->velocities, contacts = (size_t)sizes->contacts, tangents = (size_t)sizes->tangent_dim * contacts;
    carom_arena arena = {0};
    double *factor = carom_arena_take(&arena, nv * nv, sizeof *factor), *mass = carom_arena_take(&arena, nv * nv, sizeof *mass);
    double *normal = carom_arena_take(&arena, contacts * nv, sizeof *normal);
    double *tangent = carom_arena_take(&arena, tangents * nv, sizeof *tangent);
    double *velocity = carom_arena_take(&arena, nv, sizeof *velocity), *friction = carom_arena_take(&arena, contacts, sizeof *friction);
    *impact = NULL;
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "bench");
    }
    // M = I + A A'/nv.
    fill_normal(stream, nv * nv, factor);
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < nv; j++) {
            double sum = i == j;
            for (size_t k = 0; k < nv; k++) sum += factor[i * nv + k] * factor[j * nv + k] / (double)nv;
            mass[i * nv + j] = sum;
        }
    // The order of the draws is part of every number that a benchmark reports.
    fill_normal(stream, nv, velocity);
    fill_normal(stream, contacts * nv, normal);
    fill_normal(stream, tangents * nv, tangent);

    if (degeneracy == BENCH_INTEGER) {
        round_to_unit(contacts * nv, normal);
        round_to_unit(tangents * nv, tangent);
        round_to_unit(nv, velocity);
        // A row of zeros is no normal.
        for (size_t i = 0; i < contacts; i++) {
            double size = 0;
            for (size_t j = 0; j < nv; j++) size += fabs(normal[i * nv + j]);
            if (size == 0) normal[i * nv + i % nv] = 1;
        }
    }
    // The second half of the contacts repeats the first.
    if (degeneracy == BENCH_DUPLICATED) {
        const size_t half = contacts / 2, row = tangents / contacts * nv;
        memcpy(normal + (contacts - half) * nv, normal, half * nv * sizeof(double));
        memcpy(tangent + (contacts - half) * row, tangent, half * row * sizeof(double));
    }
    for (size_t i = 0; i < contacts; i++) friction[i] = degeneracy == BENCH_FRICTIONLESS ? 0 : RANDOM_FRICTION;

    // Turn normals around so that every contact approaches.
    for (size_t i = 0; i < contacts; i++) {
        double *row = normal + i * nv, speed = 0;
        for (size_t j = 0; j < nv; j++) speed += row[j] * velocity[j];
        for (size_t j = 0; j < nv && speed > 0; j++) row[j] = -row[j];
    }
    const carom_impact_data data = {.nv = sizes->velocities,
                                    .contacts = sizes->contacts,
                                    .tangent_dim = sizes->tangent_dim,
                                    .mass = mass,
                                    .normal = normal,
                                    .tangent = tangent,
                                    .friction = friction,
                                    .velocity = velocity};
    const carom_status status = carom_impact_create(&data, impact, error);
    carom_arena_free(&arena);
    return status;
}
