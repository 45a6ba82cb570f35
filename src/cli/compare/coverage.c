// SPDX-License-Identifier: Apache-2.0
// How much of a set the runs of a simulator show: distances both ways, and the shares of its ranges.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/compare/simulator.h"

carom_status cli_coverage_measure(cli_comparison *c, const cli_run *run, const carom_control *control, carom_error *error) {
    const carom_table *outcomes = run->answer.outcomes;
    const int64_t *ended = carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED);
    cli_coverage *coverage = calloc(1, sizeof *coverage);
    if (!coverage) return carom_fail_memory(error, "coverage");
    c->coverage = coverage;
    coverage->runs = carom_table_rows(outcomes);
    coverage->unperturbed = *carom_table_integer_column(run->answer.result, CAROM_RESULT_COLUMNS + CAROM_MUJOCO_UNPERTURBED);
    for (int64_t i = 0; i < coverage->runs; i++) coverage->ended += ended[i];
    if (!coverage->runs) return CAROM_OK;

    // Measure by the exact set where it is complete, otherwise by samples; by neither where there are too many outcomes to be kept.
    const cli_run *exact = cli_find_exact(c), *reference = exact && exact->points->count ? exact : NULL;
    for (int i = 0; i < c->count && !reference; i++)
        if (!strcmp(c->runs[i].law->name, "halm-posa") && c->runs[i].points->count) reference = &c->runs[i];
    // Nor are distances measured in more dimensions.
    if (!reference || reference->points->n > CAROM_SET_MOST_DIMENSIONS) return CAROM_OK;
    const cli_points *points = reference->points, *shown = run->points;
    carom_set *set = NULL;
    carom_status status = reference == exact ? cli_make_exact_set(exact, &set, error)
                                             : carom_set_create(points->n, points->count, NULL, points->u, &set, error);
    if (status || !set) return status;
    coverage->set = reference->law->name;
    coverage->shown = calloc((size_t)carom_impact_get_data(c->impact)->contacts, sizeof *coverage->shown);
    if (!coverage->shown) status = carom_fail_memory(error, "coverage");
    // How far the worst point of the set is from the outcomes of the default run, of the unperturbed runs, and of all.
    const int64_t counts[] = {1, coverage->unperturbed, coverage->runs};
    const carom_cover_options options = carom_cover_defaults();
    carom_cover cover = {.point = malloc((size_t)shown->n * sizeof *cover.point)};
    if (!status && !cover.point) status = carom_fail_memory(error, "coverage");
    for (int i = 0; i < 3 && !status; i++) {
        carom_set *net = NULL;
        status = carom_set_create(shown->n, counts[i], NULL, shown->u, &net, error);
        if (!status) status = carom_set_cover(set, net, &options, control, &cover, error);
        coverage->uncovered[i] = status || cover.interrupted ? NAN : cover.radius;
        carom_set_free(net);
    }
    free(cover.point);
    // How far the outcomes are from the set.
    const double limit = CLI_COVERAGE_SHARE * carom_impact_velocity_scale(c->impact);
    for (int64_t i = 0; i < shown->count && !status; i++) {
        const double distance = carom_set_distance(set, shown->u + i * shown->n, NULL);
        coverage->outside = fmax(coverage->outside, distance);
        coverage->inside += distance <= limit;
    }
    // The part of the set's range of each normal velocity that lies within the range of the runs.
    const double rest = -carom_impact_approach_limit(c->impact);
    for (int i = 0; i < reference->extent->sizes.contacts && !status; i++) {
        const double *all = reference->extent->normal + 2 * i, *some = run->extent->normal + 2 * i, width = all[1] - all[0];
        const double common = fmin(all[1], some[1]) - fmax(all[0], some[0]);
        coverage->shown[i] = width > rest ? fmax(common, 0) / width : NAN;
    }
    carom_set_free(set);
    return status;
}

void cli_coverage_free(cli_coverage *coverage) {
    if (!coverage) return;
    free(coverage->shown);
    free(coverage);
}

// -------------------------------------------------------------------------------------------------------------- output

// What the simulator switches off, because an impact has none of it.
static const char *const switched_off[] = {"gravity", "springs", "damping", "frictionloss", "actuators", "fluid forces"};
enum { SWITCHED_OFF = sizeof switched_off / sizeof *switched_off };

// Null for what needs a set, where there is none to measure by.
json_t *cli_coverage_json(const cli_comparison *c) {
    const cli_coverage *coverage = c->coverage;
    if (!coverage) return json_null();
    json_t *object =
        json_pack("{s:s, s:I, s:I, s:I, s:o}", "name", carom_law_mujoco.name, "runs", (json_int_t)coverage->runs, "unperturbed",
                  (json_int_t)coverage->unperturbed, "ended", (json_int_t)coverage->ended, "set", carom_json_text(coverage->set));
    json_t *off = json_array();
    for (int i = 0; i < SWITCHED_OFF; i++) json_array_append_new(off, json_string(switched_off[i]));
    json_object_set_new(object, "switched_off", off);
    const bool known = coverage->set;
    json_object_set_new(object, "inside", known ? json_integer((json_int_t)coverage->inside) : json_null());
    json_object_set_new(object, "outside", known ? carom_json_real(coverage->outside) : json_null());
    json_object_set_new(object, "uncovered_by_default_run", known ? carom_json_real(coverage->uncovered[0]) : json_null());
    json_object_set_new(object, "uncovered_by_unperturbed_runs", known ? carom_json_real(coverage->uncovered[1]) : json_null());
    json_object_set_new(object, "uncovered_by_all_runs", known ? carom_json_real(coverage->uncovered[2]) : json_null());
    json_object_set_new(object, "shown", known ? carom_json_reals(coverage->shown, carom_impact_sizes(c->impact).contacts) : json_null());
    return object;
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
            line_start, (long long)coverage->runs, CAROM_MUJOCO_TIMESTEPS, CAROM_MUJOCO_SETTINGS, CAROM_MUJOCO_CONES, (long long)starts,
            starts == 1 ? "start" : "starts", (long long)coverage->ended);
    fprintf(file, "%sswitched off, as an impact has none of them:", line_start);
    for (int i = 0; i < SWITCHED_OFF; i++) fprintf(file, "%s %s", i ? "," : "", switched_off[i]);
    fputc('\n', file);
    if (!coverage->set) {
        fprintf(file, "%sthere is no set to measure them by\n", line_start);
        return;
    }
    bool outside = false;
    for (int i = 0; i < c->count; i++) outside |= !strcmp(c->runs[i].law->name, coverage->set) && c->runs[i].extent->approximate > 0;
    fprintf(file, "%s%lld outcomes within %g %% of the impact's speed from the set (%s%s), the farthest %.3g m/s outside\n", line_start,
            (long long)coverage->inside, 100 * CLI_COVERAGE_SHARE, coverage->set, outside ? ", of which samples may lie outside" : "",
            coverage->outside);
    // The searches run one after another: the last one knows of any interruption.
    if (isnan(coverage->uncovered[2]))
        fprintf(file, "%sinterrupted before it was measured how much of the set the runs leave out\n", line_start);
    else
        fprintf(
            file,
            "%sa possible outcome is up to %.3g m/s from that of MuJoCo's defaults, %.3g from all unperturbed runs, %.3g from all runs\n",
            line_start, coverage->uncovered[0], coverage->uncovered[1], coverage->uncovered[2]);
    const carom_impact_data *data = carom_impact_get_data(c->impact);
    bool any = false;
    for (int i = 0; i < data->contacts; i++) {
        if (isnan(coverage->shown[i])) continue;
        if (!any) fprintf(file, "%sshare of the set's range of normal velocities that the runs span:", line_start);
        fprintf(file, " %s %.0f %%", data->names[i], 100 * coverage->shown[i]);
        any = true;
    }
    if (any)
        fputc('\n', file);
    else
        fprintf(file, "%sthe set has no range of normal velocities\n", line_start);
}
