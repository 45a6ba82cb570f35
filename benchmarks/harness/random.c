// SPDX-License-Identifier: Apache-2.0
// Random impacts, to measure and to test on. The order of the draws is part of every number that they lead to.
#include <string.h>

#include "benchmarks/harness/harness.h"

// What is added to the diagonal of A A': M is then far from singular at every size.
#define MASS_SHIFT 0.1

static int64_t draw_integer(carom_stream *stream, int64_t least, int64_t most) {
    return least + (int64_t)(carom_stream_uniform(stream) * (double)(most - least + 1));
}

// Standard normal entries, or -1, 0 and 1.
static void draw_entries(carom_stream *stream, bench_degeneracy degeneracy, double *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = degeneracy == BENCH_INTEGER ? (double)draw_integer(stream, -1, 1) : carom_stream_normal(stream);
}

carom_status bench_random_impact(carom_stream *stream, const bench_random *kind, carom_impact **impact, carom_error *error) {
    const size_t nv = (size_t)kind->velocities, contacts = (size_t)kind->contacts, dim = (size_t)kind->tangent_dim;
    const bench_degeneracy degeneracy = kind->degeneracy;
    carom_arena arena = {0};
    double *factor = carom_arena_take(&arena, nv * nv, sizeof *factor), *mass = carom_arena_take(&arena, nv * nv, sizeof *mass);
    double *normal = carom_arena_take(&arena, contacts * nv, sizeof *normal);
    double *tangent = carom_arena_take(&arena, contacts * dim * nv, sizeof *tangent);
    double *velocity = carom_arena_take(&arena, nv, sizeof *velocity), *friction = carom_arena_take(&arena, contacts, sizeof *friction);
    *impact = NULL;
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "random impact");
    }

    // M = A A' + shift I, with shift 1 where the entries are whole numbers.
    draw_entries(stream, degeneracy, factor, nv * nv);
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = i != j ? 0 : degeneracy == BENCH_INTEGER ? 1 : MASS_SHIFT;
            for (size_t k = 0; k < nv; k++) sum += factor[i * nv + k] * factor[j * nv + k];
            mass[i * nv + j] = mass[j * nv + i] = sum;
        }

    // A row of zeros is no normal: such a row is drawn again.
    for (size_t i = 0; i < contacts; i++)
        for (bool zero = true; zero;) {
            draw_entries(stream, degeneracy, normal + i * nv, nv);
            for (size_t j = 0; j < nv; j++) zero = zero && normal[i * nv + j] == 0;
        }
    draw_entries(stream, degeneracy, tangent, contacts * dim * nv);
    for (size_t i = 0; i < contacts; i++)
        friction[i] = degeneracy == BENCH_FRICTIONLESS ? 0 : kind->most_friction * carom_stream_uniform(stream);
    draw_entries(stream, degeneracy, velocity, nv);

    // Some contacts become equal to an earlier one in all respects: the last always, each other with probability one third.
    for (size_t i = 1; degeneracy == BENCH_DUPLICATED && i < contacts; i++) {
        if (i < contacts - 1 && carom_stream_uniform(stream) > 1.0 / 3) continue;
        const size_t source = (size_t)draw_integer(stream, 0, (int64_t)i - 1);
        memcpy(normal + i * nv, normal + source * nv, nv * sizeof(double));
        memcpy(tangent + i * dim * nv, tangent + source * dim * nv, dim * nv * sizeof(double));
        friction[i] = friction[source];
    }

    // Turn normals around so that every contact approaches.
    for (size_t i = 0; kind->approaching && i < contacts; i++) {
        double *row = normal + i * nv, speed = 0;
        for (size_t j = 0; j < nv; j++) speed += row[j] * velocity[j];
        for (size_t j = 0; j < nv && speed > 0; j++) row[j] = -row[j];
    }
    const carom_impact_data data = {.nv = kind->velocities,
                                    .contacts = kind->contacts,
                                    .tangent_dim = kind->tangent_dim,
                                    .mass = mass,
                                    .normal = normal,
                                    .tangent = tangent,
                                    .friction = friction,
                                    .velocity = velocity};
    const carom_status status = carom_impact_create(&data, impact, error);
    carom_arena_free(&arena);
    return status;
}
