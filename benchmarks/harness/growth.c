// SPDX-License-Identifier: Apache-2.0
// How the cost grows: random impacts of increasing sizes, one size at a time.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/bench.h"
#include "carom/json.h"

// The size that a sweep changes.
typedef enum sweep_kind { SWEEP_CONTACTS, SWEEP_VELOCITIES, SWEEP_SAMPLES, SWEEPS } sweep_kind;

static const struct {
    const char *name, *title, *axis;
} sweeps[SWEEPS] = {
    [SWEEP_CONTACTS] = {"contacts", "Time per LCP against contacts", "log10 of the contacts m"},
    [SWEEP_VELOCITIES] = {"velocities", "Time per sample against velocities", "log10 of the velocities nv"},
    [SWEEP_SAMPLES] = {"samples", "Time of a run against samples", "log10 of the samples"},
};

typedef struct growth_row {
    sweep_kind sweep;
    int contacts, velocities, edges;
    int64_t samples;
    const char *path;
    double ns_per_lcp;  // NaN where it was not measured
    double ns_per_sample;
} growth_row;

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
};

static const int edge_counts[] = {2, 4, 8}, velocity_counts[] = {3, 6, 12, 24, 40, 60};
enum { EDGE_COUNTS = sizeof edge_counts / sizeof *edge_counts, VELOCITY_COUNTS = sizeof velocity_counts / sizeof *velocity_counts };
enum { MOST_ROWS = PATHS * (MOST_CONTACTS * EDGE_COUNTS + VELOCITY_COUNTS + MOST_SAMPLES_EXPONENT - LEAST_SAMPLES_EXPONENT + 1) };

struct bench_growth {
    const carom_registry *registry;
    const bench_effort *effort;
    growth_row rows[MOST_ROWS];
    int count;
};

enum { GROWTH_SEED = 7 };

static carom_status make_impact(const growth_row *row, carom_impact **impact, carom_error *error) {
    carom_stream stream;
    carom_stream_start(&stream, GROWTH_SEED, (uint64_t)row->velocities);
    return bench_random_impact(&stream, row->contacts, row->velocities, row->edges == 2 ? 1 : 2, BENCH_PLAIN, impact, error);
}

// ---------------------------------------------------------------------------------------------------------- measurement

static carom_sample_options sample_options(const growth_row *row) {
    carom_sample_options options = carom_sample_defaults();
    options.samples = row->samples;
    if (row->edges > 2) options.method.cone_edges = row->edges;
    return options;
}

// Rows of a size, one a path.
static carom_status measure_size(bench_growth *g, const growth_row *size, carom_error *error) {
    bench_case cases[PATHS] = {0};
    const carom_sample_options options = sample_options(size);
    carom_impact *impact = NULL;
    bench_problem *problem = NULL;
    bench_find_path(g->registry, bench_reference, &cases[0].path);
    bench_find_path(g->registry, carom_lcp_lemke.name, &cases[1].path);
    carom_status status = make_impact(size, &impact, error);
    if (!status) status = bench_problem_create(impact, &options, g->registry, &problem, error);
    if (!status) status = bench_measure(problem, g->effort, cases, PATHS, error);
    for (int i = 0; i < PATHS && !status; i++) {
        growth_row *row = &g->rows[g->count++];
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

static carom_status sweep_sizes(bench_growth *g, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int k = 0; k < EDGE_COUNTS; k++)
        for (int m = 1; m <= MOST_CONTACTS && !status; m++)
            status = measure_size(g, &(growth_row){SWEEP_CONTACTS, m, CONTACT_SWEEP_VELOCITIES, edge_counts[k], 1, NULL, 0, 0}, error);
    for (int i = 0; i < VELOCITY_COUNTS && !status; i++)
        status = measure_size(
            g, &(growth_row){SWEEP_VELOCITIES, VELOCITY_SWEEP_CONTACTS, velocity_counts[i], VELOCITY_SWEEP_EDGES, 1, NULL, 0, 0}, error);
    return status;
}

// Nanoseconds a sample of runs with this many samples: one run each repetition.
static carom_status time_runs(const bench_growth *g, const carom_impact *impact, growth_row *row, carom_error *error) {
    carom_sample_options options = sample_options(row);
    // Our Lemke itself; `auto` would look up.
    if (!strcmp(row->path, carom_lcp_lemke.name)) options.path = row->path;
    const int repetitions = (int)g->effort->repetitions;
    double *times = malloc((size_t)repetitions * sizeof *times);
    if (!times) return carom_fail_memory(error, "bench");
    carom_status status = CAROM_OK;
    for (int i = 0; i < repetitions && !status; i++) status = bench_time_run(impact, &options, g->registry, 1, &times[i], NULL, error);
    if (!status) row->ns_per_sample = 1e9 * bench_median(times, repetitions) / (double)row->samples;
    free(times);
    return status;
}

static carom_status sweep_samples(bench_growth *g, carom_error *error) {
    growth_row row = {SWEEP_SAMPLES, SAMPLE_SWEEP_CONTACTS, SAMPLE_SWEEP_VELOCITIES, 2, 0, carom_lcp_lemke.name, NAN, 0};
    carom_impact *impact = NULL;
    carom_status status = make_impact(&row, &impact, error);
    for (int exponent = LEAST_SAMPLES_EXPONENT; exponent <= MOST_SAMPLES_EXPONENT && !status; exponent++) {
        row.samples = (int64_t)1 << exponent;
        status = time_runs(g, impact, &row, error);
        if (!status) g->rows[g->count++] = row;
    }
    carom_impact_free(impact);
    return status;
}

carom_status bench_growth_create(const carom_registry *registry, const bench_effort *effort, bench_growth **growth, carom_error *error) {
    *growth = NULL;
    bench_growth *g = calloc(1, sizeof *g);
    if (!g) return carom_fail_memory(error, "bench");
    g->registry = registry;
    g->effort = effort;
    carom_status status = sweep_sizes(g, error);
    if (!status) status = sweep_samples(g, error);
    if (status) {
        free(g);
        return status;
    }
    *growth = g;
    return CAROM_OK;
}

void bench_growth_free(bench_growth *growth) { free(growth); }

// --------------------------------------------------------------------------------------------------------------- output

json_t *bench_growth_json(const bench_growth *growth) {
    json_t *list = json_array();
    for (int i = 0; i < growth->count; i++) {
        const growth_row *r = &growth->rows[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:i, s:i, s:i, s:I, s:s, s:o, s:o}", "sweep", sweeps[r->sweep].name, "contacts", r->contacts,
                                        "nv", r->velocities, "cone_edges", r->edges, "samples", (json_int_t)r->samples, "path", r->path,
                                        "ns_per_lcp", carom_json_real(r->ns_per_lcp), "ns_per_sample", carom_json_real(r->ns_per_sample)));
    }
    return list;
}

void bench_growth_print(const bench_growth *growth, FILE *file) {
    fprintf(file, "| sweep      |  m |  nv |  k | path          | samples |   ns/LCP | ns/sample |\n"
                  "|------------|---:|----:|---:|---------------|--------:|---------:|----------:|\n");
    for (int i = 0; i < growth->count; i++) {
        const growth_row *r = &growth->rows[i];
        char lcp[32] = "";
        if (!isnan(r->ns_per_lcp)) snprintf(lcp, sizeof lcp, "%.0f", r->ns_per_lcp);
        fprintf(file, "| %-10s | %2d | %3d | %2d | %-13s | %7" PRId64 " | %8s | %9.0f |\n", sweeps[r->sweep].name, r->contacts,
                r->velocities, r->edges, r->path, r->samples, lcp, r->ns_per_sample);
    }
}

// A point of a log-log picture: the time that is of interest in its sweep.
static void place_point(const growth_row *r, double *x, double *y) {
    const double sizes[SWEEPS] = {r->contacts, r->velocities, (double)r->samples};
    const double times[SWEEPS] = {r->ns_per_lcp, r->ns_per_sample, r->ns_per_sample * (double)r->samples};
    *x = log10(sizes[r->sweep]);
    *y = log10(times[r->sweep]);
}

enum { MOST_CURVES = PATHS * EDGE_COUNTS };

typedef struct curves {
    carom_plot_series series[MOST_CURVES];
    char labels[MOST_CURVES][CLI_NAME_SIZE];
    double x[MOST_CURVES][MOST_ROWS], y[MOST_CURVES][MOST_ROWS];
    int count;
} curves;

// The points of a sweep with one path and one k.
static void add_curve(curves *c, const bench_growth *growth, sweep_kind sweep, const char *path, int edges) {
    int64_t points = 0;
    for (int i = 0; i < growth->count; i++) {
        const growth_row *r = &growth->rows[i];
        if (r->sweep != sweep || r->edges != edges || strcmp(r->path, path) != 0) continue;
        place_point(r, &c->x[c->count][points], &c->y[c->count][points]);
        points++;
    }
    if (!points) return;
    snprintf(c->labels[c->count], sizeof c->labels[c->count], "%s, k = %d", path, edges);
    c->series[c->count] = (carom_plot_series){c->labels[c->count], CAROM_PLOT_LINE, points, c->x[c->count], c->y[c->count]};
    c->count++;
}

static carom_status plot_sweep(const bench_growth *growth, sweep_kind sweep, const char *prefix, curves *c, carom_error *error) {
    const char *const paths[PATHS] = {bench_reference, carom_lcp_lemke.name};
    c->count = 0;
    for (int p = 0; p < PATHS; p++)
        for (int k = 0; k < EDGE_COUNTS; k++) add_curve(c, growth, sweep, paths[p], edge_counts[k]);
    char name[FILENAME_MAX];
    if (snprintf(name, sizeof name, "%s-%s.png", prefix, sweeps[sweep].name) >= (int)sizeof name)
        return carom_fail(error, CAROM_BAD_INPUT, "--output: the name is too long");
    const carom_plot plot = {.title = sweeps[sweep].title,
                             .x_label = sweeps[sweep].axis,
                             .y_label = "log10 of the time [ns]",
                             .series = c->series,
                             .series_count = c->count};
    return carom_plot_write(&plot, name, error);
}

carom_status bench_growth_plot(const bench_growth *growth, const char *prefix, carom_error *error) {
    curves *c = malloc(sizeof *c);
    if (!c) return carom_fail_memory(error, "bench");
    carom_status status = CAROM_OK;
    for (int sweep = 0; sweep < SWEEPS && !status; sweep++) status = plot_sweep(growth, (sweep_kind)sweep, prefix, c, error);
    free(c);
    return status;
}
