// SPDX-License-Identifier: Apache-2.0
// `carom sample`: the set of possible outcomes, sampled, streamed to a file.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "carom/json.h"
#include "cli/cli_internal.h"
#include "cli/ranks/ranks.h"

static const char law_name[] = "halm-posa";

static const cli_flag flags[] = {
    {"threads", "N", "threads (default: one a core); results do not depend on it"},
    {"output", "FILE", "write the terminated samples to an HDF5 file"},
    {"keep", "all|extent|hull", "which of them: all (default), none but their extent, or the corners of their convex hulls"},
    {"json", NULL, "print one JSON document"},
};

static int64_t integer(const cli_run *run, const char *column) {
    return carom_table_integer_column(run->answer.result, carom_table_find(run->answer.result, column))[0];
}

static double real(const cli_run *run, const char *column) {
    return carom_table_real_column(run->answer.result, carom_table_find(run->answer.result, column))[0];
}

static const char *text(const cli_run *run, const char *column) {
    return carom_table_text(run->answer.result, carom_table_find(run->answer.result, column), 0);
}

static int print_json(const cli_run *run, const char *file) {
    json_t *document = json_pack("{s:s}", "schema", "carom.sample/1");
    cli_add_result(document, run->answer.result);
    json_object_set_new(document, "complete", json_boolean(carom_answer_complete(&run->answer)));
    json_object_set_new(document, "extent", cli_extent_json(run->extent));
    json_object_set_new(document, "seconds", carom_json_real(run->seconds));
    json_object_set_new(document, "file", carom_json_text(file));
    return cli_print_json(document, carom_answer_complete(&run->answer) ? EXIT_DONE : EXIT_INCOMPLETE);
}

// ---------------------------------------------------------------------------------------------------------------- text

static void print_extent(const carom_impact *impact, const char *label, const double *ranges, int axis) {
    printf("  %s [%.9g, %.9g]", label, cli_shown(impact, ranges[2 * axis]), cli_shown(impact, ranges[2 * axis + 1]));
}

static void print_extents(const carom_impact *impact, const carom_extent *extent) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    for (int i = 0; i < data->contacts; i++) {
        printf("  %-12s", data->names[i]);
        print_extent(impact, "normal", extent->normal, i);
        for (int p = 0; p < data->tangent_dim; p++)
            print_extent(impact, p ? "tangent 2" : "tangent", extent->tangent, i * data->tangent_dim + p);
        printf(" m/s\n");
    }
}

static int print_text(const carom_scene *scene, const cli_run *run, const char *file) {
    const int64_t samples = integer(run, "samples"), unsolved = integer(run, "unsolved"), closed = integer(run, "closed");
    const double h = real(run, "step");
    printf("%s: %" PRId64 " of %" PRId64 " samples, %s (inner approximation of the set)\n", carom_scene_name(scene), samples,
           integer(run, "requested"), text(run, "verdict"));
    printf("  terminated %" PRId64, integer(run, "terminated"));
    if (samples) printf(" (%.4g %%)", 100 * (double)integer(run, "terminated") / (double)samples);
    if (closed) printf(", %" PRId64 " of them by the closing step", closed);
    if (unsolved) printf(", UNSOLVED %" PRId64, unsolved);
    // Walks have neither a step nor LCPs.
    if (isnan(h))
        printf("\n  random solutions of the inclusion, largest relative energy gain %.2g\n", real(run, "max_relative_energy_gain"));
    else
        printf("\n  %.4f +- %.4f LCPs per sample, h = %.6g N s, selection %s, solver %s\n"
               "  largest residual %.2g, largest relative energy gain %.2g\n",
               real(run, "lcps_per_sample"), real(run, "lcps_per_sample_ci95"), h, text(run, "selection"), text(run, "solver"),
               real(run, "max_residual"), real(run, "max_relative_energy_gain"));
    if (run->extent->outcomes) {
        printf("extent of the outcomes:\n");
        print_extents(carom_scene_impact(scene), run->extent);
        if (!isnan(run->extent->energy_ratio[0]))
            printf("kinetic energy after / before: %.6g to %.6g\n", run->extent->energy_ratio[0], run->extent->energy_ratio[1]);
    } else if (samples) {
        printf("no sample terminated: raise --max-steps or --step\n");
    }
    printf("digest %s\n%.3g s, %.3g samples/s\n", text(run, "digest"), run->seconds, (double)samples / fmax(run->seconds, 1e-9));
    if (file && run->written) printf("%" PRId64 " outcomes written to %s; `carom plot %s` draws them\n", run->written, file, file);
    if (file && !run->written) printf("written to %s\n", file);
    return carom_answer_complete(&run->answer) ? EXIT_DONE : EXIT_INCOMPLETE;
}

static carom_status find_keep(const cli_arguments *arguments, cli_keep *keep, carom_error *error) {
    const char *name = cli_value(arguments, "keep");
    *keep = CLI_KEEP_ALL;
    if (!name) return CAROM_OK;
    for (int i = 0; cli_keep_names[i]; i++) {
        *keep = (cli_keep)i;
        if (!strcmp(name, cli_keep_names[i])) return CAROM_OK;
    }
    return carom_fail(error, CAROM_BAD_INPUT, "--keep: '%.60s' is not one of all, extent, hull", name);
}

static carom_status sample(const cli_arguments *arguments, const carom_scene *scene, const char *file, cli_run *run, carom_error *error) {
    carom_control control;
    carom_result_writer *writer = NULL;
    *run = (cli_run){0};
    cli_run_options options = {.strict = true};
    carom_status status = find_keep(arguments, &options.keep, error);
    if (!status) status = cli_start_control(arguments, &control, error);
    control.ranks = cli_ranks();
    if (!status && file && cli_ranks_is_first()) status = carom_result_writer_create(file, scene, &writer, error);
    options.writer = writer;
    if (!status) status = cli_run_law(arguments, scene, carom_law_find(arguments->registry, law_name), &control, &options, run, error);
    status = carom_ranks_agree(control.ranks, status, error);
    if (!status && writer) status = carom_result_writer_commit(writer, error);
    if (status) cli_run_release(run);
    carom_result_writer_free(writer);
    return status;
}

static int run_sample(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    cli_run run;
    const char *file = cli_value(arguments, "output");
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    status = carom_ranks_agree(cli_ranks(), status, &error);
    if (!status) status = sample(arguments, scene, file, &run, &error);
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn(scene);
        exit_status = cli_given(arguments, "json") ? print_json(&run, file) : print_text(scene, &run, file);
        cli_run_release(&run);
    }
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_sample = {
    .name = "sample",
    .summary = "the set of possible outcomes, sampled (law halm-posa)",
    .operand = "SCENE",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ONE_LAW,
    .law = law_name,
    .shared = true,
    .run = run_sample,
};
