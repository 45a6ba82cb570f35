// SPDX-License-Identifier: Apache-2.0
// What `carom bench --growth` prints: how the cost grows with the sizes of random impacts.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/bench/bench.h"

static const struct {
    const char *name, *title, *axis;
} sweeps[BENCH_SWEEPS] = {
    [BENCH_SWEEP_CONTACTS] = {"contacts", "Time per LCP against contacts", "log10 of the contacts m"},
    [BENCH_SWEEP_VELOCITIES] = {"velocities", "Time per sample against velocities", "log10 of the velocities nv"},
    [BENCH_SWEEP_SAMPLES] = {"samples", "Time of a run against samples", "log10 of the samples"},
};

json_t *cli_growth_json(const bench_growth *growth) {
    json_t *list = json_array();
    for (int i = 0; i < growth->count; i++) {
        const bench_growth_row *row = &growth->rows[i];
        json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:i, s:I, s:s, s:o, s:o}", "sweep", sweeps[row->sweep].name, "contacts",
                                              row->contacts, "nv", row->velocities, "cone_edges", row->edges, "samples",
                                              (json_int_t)row->samples, "path", row->path, "ns_per_lcp", carom_json_real(row->ns_per_lcp),
                                              "ns_per_sample", carom_json_real(row->ns_per_sample)));
    }
    return list;
}

void cli_growth_print(const bench_growth *growth, FILE *file) {
    fprintf(file, "| sweep      |  m |  nv |  k | path          | samples |   ns/LCP | ns/sample |\n"
                  "|------------|---:|----:|---:|---------------|--------:|---------:|----------:|\n");
    for (int i = 0; i < growth->count; i++) {
        const bench_growth_row *row = &growth->rows[i];
        char lcp[32] = "";
        // Of whole runs the LCPs are not timed.
        if (!isnan(row->ns_per_lcp)) snprintf(lcp, sizeof lcp, "%.0f", row->ns_per_lcp);
        fprintf(file, "| %-10s | %2d | %3d | %2d | %-13s | %7" PRId64 " | %8s | %9.0f |\n", sweeps[row->sweep].name, row->contacts,
                row->velocities, row->edges, row->path, row->samples, lcp, row->ns_per_sample);
    }
}

// The curves of a picture: rows of one sweep, with one path and one k each.
enum { MOST_CURVES = 8 };

// What the plot library draws: series, their labels, and room for their points.
typedef struct curves {
    carom_plot_series series[MOST_CURVES];
    char labels[MOST_CURVES][CLI_NAME_SIZE];
    double x[MOST_CURVES][BENCH_GROWTH_ROWS], y[MOST_CURVES][BENCH_GROWTH_ROWS];
    int count;
} curves;

// PREFIX-SWEEP.png
static carom_status name_picture(int sweep, const char *prefix, char name[FILENAME_MAX], carom_error *error) {
    if (snprintf(name, FILENAME_MAX, "%s-%s.png", prefix, sweeps[sweep].name) < FILENAME_MAX) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "--output: the name is too long");
}

carom_status cli_growth_check(const char *prefix, carom_error *error) {
    carom_status status = CAROM_OK;
    char name[FILENAME_MAX];
    for (int sweep = 0; sweep < BENCH_SWEEPS && !status; sweep++) {
        status = name_picture(sweep, prefix, name, error);
        if (!status) status = carom_plot_check(name, error);
    }
    return status;
}

carom_status cli_growth_plot(const bench_growth *growth, const char *prefix, carom_error *error) {
    curves *c = malloc(sizeof *c);
    if (!c) return carom_fail_memory(error, "bench");
    carom_status status = CAROM_OK;
    for (int sweep = 0; sweep < BENCH_SWEEPS && !status; sweep++) {
        c->count = 0;
        for (int i = 0; i < growth->count; i++) {
            const bench_growth_row *row = &growth->rows[i];
            if ((int)row->sweep != sweep) continue;
            // Find the row's curve by its label, or begin it.
            char label[CLI_NAME_SIZE];
            snprintf(label, sizeof label, "%s, k = %d", row->path, row->edges);
            int k = 0;
            while (k < c->count && strcmp(c->labels[k], label) != 0) k++;
            if (k == MOST_CURVES) continue;
            if (k == c->count) {
                strcpy(c->labels[k], label);
                c->series[k] = (carom_plot_series){c->labels[k], CAROM_PLOT_LINE, 0, c->x[k], c->y[k]};
                c->count++;
            }
            // The time that is of interest in the sweep, over the size that it changes.
            const double sizes[BENCH_SWEEPS] = {row->contacts, row->velocities, (double)row->samples};
            const double times[BENCH_SWEEPS] = {row->ns_per_lcp, row->ns_per_sample, row->ns_per_sample * (double)row->samples};
            const int64_t point = c->series[k].count++;
            c->x[k][point] = log10(sizes[sweep]);
            c->y[k][point] = log10(times[sweep]);
        }
        char name[FILENAME_MAX];
        status = name_picture(sweep, prefix, name, error);
        const carom_plot plot = {.title = sweeps[sweep].title,
                                 .x_label = sweeps[sweep].axis,
                                 .y_label = "log10 of the time [ns]",
                                 .series = c->series,
                                 .series_count = c->count};
        if (!status) status = carom_plot_write(&plot, name, error);
    }
    free(c);
    return status;
}
