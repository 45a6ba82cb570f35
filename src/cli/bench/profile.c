// SPDX-License-Identifier: Apache-2.0
// What `carom bench --profiles` prints: performance profiles of the LCP solvers.
#include <math.h>
#include <stdlib.h>

#include "carom/json.h"
#include "cli/bench/bench.h"

static const double factors[] = {1, 2, 5, 10, 100};
enum { FACTORS = sizeof factors / sizeof *factors };

json_t *cli_profile_json(const bench_profile *profile) {
    json_t *list = json_array();
    for (int s = 0; s < profile->solver_count; s++) {
        json_t *shares = json_array();
        for (int k = 0; k < FACTORS; k++)
            json_array_append_new(shares,
                                  json_pack("{s:f, s:f}", "factor", factors[k], "share", bench_profile_share(profile, s, factors[k])));
        json_array_append_new(list, json_pack("{s:s, s:f, s:o}", "solver", profile->solvers[s]->name, "success_rate",
                                              bench_profile_success(profile, s), "within", shares));
    }
    return list;
}

void cli_profile_print(const bench_profile *profile, FILE *file) {
    fprintf(file, "| solver %-20s | LCPs solved |", "");
    for (int k = 0; k < FACTORS; k++) fprintf(file, " within %3.0fx |", factors[k]);
    fputs("\n|-----------------------------|------------:|", file);
    for (int k = 0; k < FACTORS; k++) fputs("------------:|", file);
    fputc('\n', file);
    for (int s = 0; s < profile->solver_count; s++) {
        fprintf(file, "| %-27s | %9.2f %% |", profile->solvers[s]->name, 100 * bench_profile_success(profile, s));
        for (int k = 0; k < FACTORS; k++) fprintf(file, " %9.0f %% |", 100 * bench_profile_share(profile, s, factors[k]));
        fputc('\n', file);
    }
}

// The picture reaches factors of 10^3, and leaves out solvers that hardly solve any problem: the table has them.
enum { POINTS = 121, DECADES = 3 };
#define LEAST_SUCCESS 0.1

// PREFIX-profiles.png
static carom_status name_picture(const char *prefix, char name[FILENAME_MAX], carom_error *error) {
    if (snprintf(name, FILENAME_MAX, "%s-profiles.png", prefix) < FILENAME_MAX) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "--output: the name is too long");
}

carom_status cli_profile_check(const char *prefix, carom_error *error) {
    char name[FILENAME_MAX];
    const carom_status status = name_picture(prefix, name, error);
    return status ? status : carom_plot_check(name, error);
}

carom_status cli_profile_plot(const bench_profile *profile, const char *prefix, carom_error *error) {
    char name[FILENAME_MAX];
    const carom_status named = name_picture(prefix, name, error);
    if (named) return named;
    double *points = malloc((1 + BENCH_PROFILE_SOLVERS) * POINTS * sizeof *points);
    if (!points) return carom_fail_memory(error, "bench");
    carom_plot_series series[BENCH_PROFILE_SOLVERS];
    for (int i = 0; i < POINTS; i++) points[i] = (double)(DECADES * i) / (POINTS - 1);
    int count = 0;
    for (int s = 0; s < profile->solver_count; s++) {
        if (bench_profile_success(profile, s) < LEAST_SUCCESS) continue;
        double *shares = points + (size_t)(1 + count) * POINTS;
        for (int i = 0; i < POINTS; i++) shares[i] = bench_profile_share(profile, s, pow(10, points[i]));
        series[count++] = (carom_plot_series){profile->solvers[s]->name, CAROM_PLOT_LINE, POINTS, points, shares};
    }
    const carom_plot plot = {.title = "Performance profiles of LCP solvers",
                             .x_label = "log10 of the factor over the fastest",
                             .y_label = "share of the problems solved",
                             .series = series,
                             .series_count = count};
    const carom_status status = carom_plot_write(&plot, name, error);
    free(points);
    return status;
}
