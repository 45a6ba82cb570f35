// SPDX-License-Identifier: Apache-2.0
// How the cost grows: random impacts of increasing sizes, one size at a time.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/harness.h"

enum {
    MOST_CONTACTS = 8,
    CONTACT_SWEEP_VELOCITIES = 24,  // 3m for the most contacts, so that W is regular throughout
    VELOCITY_SWEEP_CONTACTS = 3,
    VELOCITY_SWEEP_EDGES = 4,
    SAMPLE_SWEEP_CONTACTS = 2,
    SAMPLE_SWEEP_VELOCITIES = 3,
    LEAST_SAMPLES_EXPONENT = 10,
    MOST_SAMPLES_EXPONENT = 22,
    PATHS = 2,
    GROWTH_SEED = 7,
};

static const int edge_counts[] = {2, 4, 8}, velocity_counts[] = {3, 6, 12, 24, 40, 60};
enum { EDGE_COUNTS = sizeof edge_counts / sizeof *edge_counts, VELOCITY_COUNTS = sizeof velocity_counts / sizeof *velocity_counts };
_Static_assert(PATHS *(MOST_CONTACTS *EDGE_COUNTS + VELOCITY_COUNTS) + MOST_SAMPLES_EXPONENT - LEAST_SAMPLES_EXPONENT + 1 <=
                   BENCH_GROWTH_ROWS,
               "room for every row");

// A random impact with the row's sizes.
static carom_status make_impact(const bench_growth_row *row, carom_impact **impact, carom_error *error) {
    const bench_random kind = {row->contacts, row->velocities, row->edges == 2 ? 1 : 2, BENCH_PLAIN, BENCH_MOST_FRICTION, true};
    carom_stream stream;
    carom_stream_start(&stream, GROWTH_SEED, (uint64_t)row->velocities);
    return bench_random_impact(&stream, &kind, impact, error);
}

// How the row is sampled.
static carom_sample_options sample_options(const bench_growth_row *row) {
    carom_sample_options options = carom_sample_defaults();
    options.samples = row->samples;
    options.sampler = CAROM_SAMPLER_LCP;
    options.method.selection = CAROM_SELECT_LEMKE;
    if (row->edges > 2) options.method.cone_edges = row->edges;
    return options;
}

// Adds the rows of a size, one for each path.
static carom_status measure_size(const carom_registry *registry, const bench_effort *effort, const bench_growth_row *size,
                                 bench_growth *growth, carom_error *error) {
    bench_case cases[PATHS] = {0};
    const carom_sample_options options = sample_options(size);
    carom_impact *impact = NULL;
    bench_problem *problem = NULL;
    // Our Lemke against the reference.
    bench_find_path(registry, bench_reference, &cases[0].path);
    bench_find_path(registry, carom_lcp_lemke.name, &cases[1].path);
    carom_status status = make_impact(size, &impact, error);
    if (!status) status = bench_problem_create(impact, &options, registry, &problem, error);
    if (!status) status = bench_measure(problem, effort, cases, PATHS, error);
    for (int i = 0; i < PATHS && !status; i++) {
        bench_growth_row *row = &growth->rows[growth->count++];
        *row = *size;
        row->path = cases[i].path.solver->name;
        row->samples = cases[i].samples;
        row->ns_per_lcp = cases[i].ns_per_lcp;
        row->ns_per_sample = cases[i].ns_per_sample;
    }
    bench_problem_free(problem);
    carom_impact_free(impact);
    return status;
}

// Whole runs of increasing numbers of samples: one run in each repetition.
static carom_status sweep_samples(const carom_registry *registry, int repetitions, bench_growth *growth, carom_error *error) {
    bench_growth_row row = {BENCH_SWEEP_SAMPLES, SAMPLE_SWEEP_CONTACTS, SAMPLE_SWEEP_VELOCITIES, 2, 0, carom_lcp_lemke.name, NAN, 0};
    carom_impact *impact = NULL;
    double *times = malloc((size_t)repetitions * sizeof *times);
    carom_status status = times ? make_impact(&row, &impact, error) : carom_fail_memory(error, "bench");
    for (int exponent = LEAST_SAMPLES_EXPONENT; exponent <= MOST_SAMPLES_EXPONENT && !status; exponent++) {
        row.samples = (int64_t)1 << exponent;
        // Our Lemke itself; `auto` would look solutions up.
        carom_sample_options options = sample_options(&row);
        options.path = row.path;
        for (int k = 0; k < repetitions && !status; k++) {
            bench_run run;
            status = bench_time_run(impact, &options, registry, 1, &run, error);
            times[k] = run.seconds;
        }
        if (status) break;
        row.ns_per_sample = 1e9 * bench_median(times, repetitions) / (double)row.samples;
        growth->rows[growth->count++] = row;
    }
    carom_impact_free(impact);
    free(times);
    return status;
}

carom_status bench_growth_measure(const carom_registry *registry, const bench_effort *effort, bench_growth *growth, carom_error *error) {
    growth->count = 0;
    carom_status status = CAROM_OK;
    // Contacts, with every number of cone edges.
    for (int k = 0; k < EDGE_COUNTS; k++)
        for (int m = 1; m <= MOST_CONTACTS && !status; m++) {
            const bench_growth_row size = {BENCH_SWEEP_CONTACTS, m, CONTACT_SWEEP_VELOCITIES, edge_counts[k], 1, NULL, 0, 0};
            status = measure_size(registry, effort, &size, growth, error);
        }
    // Velocities, at a fixed number of contacts.
    for (int i = 0; i < VELOCITY_COUNTS && !status; i++) {
        const bench_growth_row size = {
            BENCH_SWEEP_VELOCITIES, VELOCITY_SWEEP_CONTACTS, velocity_counts[i], VELOCITY_SWEEP_EDGES, 1, NULL, 0, 0};
        status = measure_size(registry, effort, &size, growth, error);
    }
    return status ? status : sweep_samples(registry, (int)effort->repetitions, growth, error);
}
