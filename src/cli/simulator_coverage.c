// SPDX-License-Identifier: Apache-2.0
// How much of a set a simulator's runs show.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/simulator.h"
#include "io/json.h"

static const cli_run *find_run(const cli_comparison *c, const char *name) {
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->runs[i].law->name, name) && c->runs[i].extent->outcomes) return &c->runs[i];
    return NULL;
}

// What is measured by: the exact set where it is complete, otherwise samples.
static const cli_run *choose_set(const cli_comparison *c) {
    const cli_run *exact = find_run(c, "halm-posa-exact");
    return exact && carom_answer_complete(&exact->answer) ? exact : find_run(c, "halm-posa");
}

// The first `rows` outcomes as a set in contact space: the pieces of an exact set, or points.
static carom_status make_set(const cli_comparison *c, const carom_table *outcomes, int64_t count, carom_set **set, carom_error *error) {
    const carom_sizes sizes = carom_impact_sizes(c->impact);
    const int dim = sizes.tangents / sizes.contacts, n = sizes.contacts + sizes.tangents,
              piece_column = carom_table_find(outcomes, "piece");
    const double *normal = carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    const double *tangent = carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY);
    const int64_t *piece = piece_column < 0 ? NULL : carom_table_integer_column(outcomes, piece_column);
    double *points = malloc((size_t)count * (size_t)n * sizeof *points + 1), *next = points;
    int64_t *starts = calloc((size_t)count + 1, sizeof *starts), pieces = 0;
    carom_status status = points && starts ? CAROM_OK : carom_fail_memory(error, "coverage");
    for (int64_t row = 0; row < count && !status; row++) {
        for (int i = 0; i < sizes.contacts; i++) {
            *next++ = normal[row * sizes.contacts + i];
            for (int k = 0; k < dim; k++) *next++ = tangent[row * sizes.tangents + i * dim + k];
        }
        if (!row || !piece || piece[row] != piece[row - 1]) starts[pieces++] = row;
    }
    if (!status) starts[pieces] = count;
    if (!status) status = carom_set_create(n, pieces, starts, points, set, error);
    free(points);
    free(starts);
    return status;
}

// Largest distance of the set's points from the first `count` outcomes; NaN when the caller stops it.
static carom_status measure_cover(const cli_comparison *c, const carom_set *set, const carom_table *outcomes, int64_t count,
                                  const carom_control *control, double *radius, carom_error *error) {
    const carom_cover_options options = carom_cover_defaults();
    carom_set *net = NULL;
    carom_cover cover = {.point = malloc((size_t)carom_impact_contact_size(c->impact) * sizeof(double))};
    carom_status status = cover.point ? make_set(c, outcomes, count, &net, error) : carom_fail_memory(error, "coverage");
    if (!status) status = carom_set_cover(set, net, &options, control, &cover, error);
    if (!status) *radius = cover.interrupted ? NAN : cover.radius;
    carom_set_free(net);
    free(cover.point);
    return status;
}

static void measure_outcomes(const cli_comparison *c, const carom_set *set, const carom_table *outcomes, cli_coverage *coverage,
                             double *u) {
    const carom_sizes sizes = carom_impact_sizes(c->impact);
    const int dim = sizes.tangents / sizes.contacts;
    const double *normal = carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    const double *tangent = carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY);
    const double limit = CLI_COVERAGE_SHARE * carom_impact_velocity_scale(c->impact);
    for (int64_t row = 0; row < coverage->runs; row++) {
        double *next = u;
        for (int i = 0; i < sizes.contacts; i++) {
            *next++ = normal[row * sizes.contacts + i];
            for (int k = 0; k < dim; k++) *next++ = tangent[row * sizes.tangents + i * dim + k];
        }
        const double distance = carom_set_distance(set, u, NULL);
        coverage->outside = fmax(coverage->outside, distance);
        coverage->inside += distance <= limit;
    }
}

// The part of the set's range of each normal velocity that lies within the range of the runs.
static void measure_shown(const cli_comparison *c, const carom_extent *set, const carom_extent *runs, double *shown) {
    for (int i = 0; i < set->sizes.contacts; i++) {
        const double *all = set->normal + 2 * i, *some = runs->normal + 2 * i, width = all[1] - all[0];
        const double common = fmin(all[1], some[1]) - fmax(all[0], some[0]);
        shown[i] = width > -carom_impact_approach_limit(c->impact) ? fmax(common, 0) / width : NAN;
    }
}

carom_status cli_coverage_measure(cli_comparison *c, const cli_run *run, const carom_control *control, carom_error *error) {
    const carom_table *outcomes = run->answer.outcomes;
    const int64_t *ended = carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED);
    const cli_run *reference = choose_set(c);
    cli_coverage *coverage = calloc(1, sizeof *coverage);
    if (!coverage) return carom_fail_memory(error, "coverage");
    c->coverage = coverage;
    const int n = carom_impact_contact_size(c->impact);
    coverage->runs = carom_table_rows(outcomes);
    coverage->unperturbed = *carom_table_integer_column(run->answer.result, CAROM_RESULT_COLUMNS + CLI_MUJOCO_UNPERTURBED);
    for (int64_t i = 0; i < coverage->runs; i++) coverage->ended += ended[i];
    if (!reference || !coverage->runs) return CAROM_OK;
    coverage->set = reference->law->name;
    coverage->shown = calloc((size_t)(n + carom_impact_get_data(c->impact)->contacts), sizeof *coverage->shown);
    if (!coverage->shown) return carom_fail_memory(error, "coverage");
    carom_set *set = NULL;
    const int64_t counts[] = {1, coverage->unperturbed, coverage->runs};
    carom_status status = make_set(c, reference->answer.outcomes, carom_table_rows(reference->answer.outcomes), &set, error);
    for (int i = 0; i < 3 && !status; i++) status = measure_cover(c, set, outcomes, counts[i], control, &coverage->uncovered[i], error);
    if (!status) measure_outcomes(c, set, outcomes, coverage, coverage->shown);
    if (!status) measure_shown(c, reference->extent, run->extent, coverage->shown);
    carom_set_free(set);
    return status;
}

void cli_coverage_free(cli_coverage *coverage) {
    if (!coverage) return;
    free(coverage->shown);
    free(coverage);
}

// -------------------------------------------------------------------------------------------------------------- output

json_t *cli_coverage_json(const cli_comparison *c) {
    const cli_coverage *coverage = c->coverage;
    if (!coverage) return json_null();
    json_t *object =
        json_pack("{s:s, s:I, s:I, s:I, s:o}", "name", cli_mujoco_law.name, "runs", (json_int_t)coverage->runs, "unperturbed",
                  (json_int_t)coverage->unperturbed, "ended", (json_int_t)coverage->ended, "set", carom_json_text(coverage->set));
    const bool known = coverage->set;
    json_object_set_new(object, "inside", known ? json_integer((json_int_t)coverage->inside) : json_null());
    json_object_set_new(object, "outside", known ? carom_json_real(coverage->outside) : json_null());
    json_object_set_new(object, "uncovered_by_default_run", known ? carom_json_real(coverage->uncovered[0]) : json_null());
    json_object_set_new(object, "uncovered_by_unperturbed_runs", known ? carom_json_real(coverage->uncovered[1]) : json_null());
    json_object_set_new(object, "uncovered_by_all_runs", known ? carom_json_real(coverage->uncovered[2]) : json_null());
    json_object_set_new(object, "shown", known ? carom_json_reals(coverage->shown, carom_impact_sizes(c->impact).contacts) : json_null());
    return object;
}

static void print_uncovered(const cli_coverage *coverage, FILE *file, const char *line_start) {
    // The searches run one after another: the last one knows of any interruption.
    if (isnan(coverage->uncovered[2]))
        fprintf(file, "%show much of the set they leave out was not measured: interrupted\n", line_start);
    else
        fprintf(
            file,
            "%sa possible outcome is up to %.3g m/s from that of MuJoCo's defaults, %.3g from all unperturbed runs, %.3g from all runs\n",
            line_start, coverage->uncovered[0], coverage->uncovered[1], coverage->uncovered[2]);
}

static void print_shown(const cli_comparison *c, FILE *file, const char *line_start) {
    const carom_impact_data *data = carom_impact_get_data(c->impact);
    const double *shown = c->coverage->shown;
    bool any = false;
    for (int i = 0; i < data->contacts; i++) {
        if (isnan(shown[i])) continue;
        if (!any) fprintf(file, "%sshare of the set's range of normal velocities that the runs span:", line_start);
        fprintf(file, " %s %.0f %%", data->names[i], 100 * shown[i]);
        any = true;
    }
    if (any)
        fputc('\n', file);
    else
        fprintf(file, "%sthe set has no range of normal velocities\n", line_start);
}

void cli_coverage_print(const cli_comparison *c, FILE *file, const char *line_start) {
    const cli_coverage *coverage = c->coverage;
    if (!coverage->runs) {
        fprintf(file, "%sno run of MuJoCo: interrupted before the first\n", line_start);
        return;
    }
    // Runs stop between starts, so that the unperturbed ones are those of one start.
    const int64_t starts = coverage->runs / coverage->unperturbed;
    fprintf(file,
            "%s%lld runs of MuJoCo: %d time steps, %d contact settings, %d friction cones, %lld %s; in %lld no contact approaches in "
            "the end\n",
            line_start, (long long)coverage->runs, CLI_MUJOCO_TIMESTEPS, CLI_MUJOCO_SETTINGS, CLI_MUJOCO_CONES, (long long)starts,
            starts == 1 ? "start" : "starts", (long long)coverage->ended);
    if (!coverage->set) {
        fprintf(file, "%sno set to measure them by\n", line_start);
        return;
    }
    fprintf(file, "%s%lld outcomes within %g %% of the impact's speed from the set (%s), the farthest %.3g m/s outside\n", line_start,
            (long long)coverage->inside, 100 * CLI_COVERAGE_SHARE, coverage->set, coverage->outside);
    print_uncovered(coverage, file, line_start);
    print_shown(c, file, line_start);
}
