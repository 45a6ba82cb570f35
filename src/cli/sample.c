// SPDX-License-Identifier: Apache-2.0
// `carom sample`: the set of possible outcomes, sampled, streamed to a file.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/cli_internal.h"
#include "cli/ranks/ranks.h"

static const char law_name[] = "halm-posa";

static const cli_flag flags[] = {
    {"threads", "N", "threads (default: one per core); results do not depend on it"},
    {"output", "FILE", "write the terminated samples to an HDF5 file"},
    {"keep", "all|extent|hull", "with -o, what to write: all samples (default), only their extent, or the corners of their convex hulls"},
    {"json", NULL, "print one JSON document"},
};

enum { KEEP_ALL, KEEP_EXTENT, KEEP_HULL };
static const char *const keep_names[] = {"all", "extent", "hull"};

// ---------------------------------------------------------------------------------------------------------------- text

// Cells of the result row, by their column.
static int64_t integer(const cli_run *run, const char *column) {
    return carom_table_integer_column(run->answer.result, carom_table_find(run->answer.result, column))[0];
}

static double real(const cli_run *run, const char *column) {
    return carom_table_real_column(run->answer.result, carom_table_find(run->answer.result, column))[0];
}

static const char *text(const cli_run *run, const char *column) {
    return carom_table_text(run->answer.result, carom_table_find(run->answer.result, column), 0);
}

// @param mark  behind numbers of outcomes that may lie outside the set; otherwise empty
static void print_range(const carom_impact *impact, const char *label, const double range[2], const char *mark) {
    printf("  %s [%.9g, %.9g]%s", label, cli_shown(impact, range[0]), cli_shown(impact, range[1]), mark);
}

// @param written  outcomes in the file
static int print_text(const carom_scene *scene, const cli_run *run, const char *file, int64_t written) {
    const carom_impact *impact = carom_scene_impact(scene);
    const carom_impact_data *data = carom_impact_get_data(impact);
    const carom_extent *extent = run->extent;
    const carom_uncertainty *uncertainty = carom_scene_uncertainty(scene);
    const int64_t samples = integer(run, "samples"), unsolved = integer(run, "unsolved"), closed = integer(run, "closed");
    // Samples are in the set, but for those of time stepping that are not certified.
    char caveat[CAROM_CAVEAT_SIZE];
    const bool outside = carom_outcomes_caveat(extent->sizes, extent->approximate, extent->outcomes, caveat);
    const char *mark = outside ? CLI_OUTSIDE : "";
    const int64_t terminated = integer(run, "terminated");
    const double h = real(run, "step");
    printf("%s: %" PRId64 " of %" PRId64 " samples, %s%s\n", carom_scene_name(scene), samples, integer(run, "requested"),
           text(run, "verdict"),
           !terminated || outside ? ""
           : uncertainty          ? " (inner approximation of the union of the sets)"
                                  : " (inner approximation of the set)");
    if (uncertainty) {
        printf("  %" PRId64 " draw%s of what is uncertain", integer(run, "draws"), integer(run, "draws") == 1 ? "" : "s");
        cli_print_parameters(uncertainty);
    }
    printf("  terminated %" PRId64, terminated);
    if (samples) printf(" (%.4g %%)", 100 * (double)terminated / (double)samples);
    if (closed) printf(", %" PRId64 " of them by the closing step", closed);
    if (unsolved) printf(", UNSOLVED %" PRId64, unsolved);
    putchar('\n');
    if (outside) printf("  " CLI_OUTSIDE " %s\n", caveat);
    // Walks have neither a step nor LCPs.
    const int64_t walks = integer(run, "walks");
    if (!isnan(h)) {
        printf("  %" PRId64 " by time stepping: %.4f +- %.4f LCPs per sample, h = %.6g N s, selection %s, solver %s\n", samples - walks,
               real(run, "lcps_per_sample"), real(run, "lcps_per_sample_ci95"), h, text(run, "selection"), text(run, "solver"));
        const double share = real(run, "nonunique_share");
        if (share > 0) printf("  %.3g %% of the steps have several solutions\n", 100 * share);
        if (isnan(share)) printf("  how many steps have several solutions is not known\n");
    }
    if (walks) printf("  %" PRId64 " walks: random solutions of the inclusion, without a step\n", walks);
    if (!isnan(h)) printf("  largest residual %.2g, ", real(run, "max_residual"));
    printf("%slargest relative energy gain %.2g\n", isnan(h) ? "  " : "", real(run, "max_relative_energy_gain"));
    // How far the outcomes reach in each contact velocity.
    if (extent->outcomes) {
        printf("extent of the outcomes:\n");
        size_t width = 12;
        for (int i = 0; i < data->contacts; i++) width = strlen(data->names[i]) > width ? strlen(data->names[i]) : width;
        for (int i = 0; i < data->contacts; i++) {
            printf("  %-*s", (int)width, data->names[i]);
            print_range(impact, "normal", extent->normal + 2 * i, mark);
            for (int k = 0; k < data->tangent_dim; k++)
                print_range(impact, k ? "tangent 2" : "tangent", extent->tangent + 2 * (i * data->tangent_dim + k), mark);
            printf(" m/s\n");
        }
        if (!isnan(extent->energy_ratio[0]))
            printf("kinetic energy after / before: %.6g to %.6g%s\n", extent->energy_ratio[0], extent->energy_ratio[1], mark);
    } else if (samples) {
        // Walks have no step; those of contacts that only pass an impulse to and fro never end.
        printf("no sample terminated: raise --max-steps%s\n", isnan(h) ? "" : " or --step");
    }
    printf("digest %s\n%.3g s, %.3g samples/s\n", text(run, "digest"), run->seconds, (double)samples / fmax(run->seconds, 1e-9));
    if (file && written) {
        printf("%" PRId64 " outcomes written to %s (HDF5); `carom plot ", written, file);
        cli_print_word(file);
        puts("` draws them");
    }
    if (file && !written) printf("written to %s (HDF5)\n", file);
    return cli_exit_status(&run->answer);
}

// ------------------------------------------------------------------------------------------------------------- running

// Asks into the writer's file: all outcomes, or the extent of them all with, of the outcomes, none or the corners of their hulls.
static carom_status fill_file(const cli_question *question, int keep, cli_run *run, int64_t *written, carom_error *error) {
    const carom_law *law = question->law;
    carom_result_writer *writer = question->writer;
    carom_corners *filter = NULL;
    void *options = NULL;
    carom_sink file, corners;
    const carom_table *kept = NULL;
    *run = (cli_run){.law = law};
    carom_status status = cli_prepare_options(question, NULL, &options, error);
    if (!status) status = carom_result_writer_open_law(writer, law, options, &file, error);
    if (!status && keep == KEEP_HULL) {
        status = carom_corners_create(carom_scene_impact(question->scene), law->outcome_columns, law->outcome_column_count, &filter, error);
        if (!status) corners = carom_corners_sink(filter);
    }
    // Where the law's outcomes go directly: into the file, nowhere, or through the filter.
    const carom_sink *const sinks[] = {[KEEP_ALL] = &file, [KEEP_EXTENT] = NULL, [KEEP_HULL] = &corners};
    if (!status) status = cli_ask_law(question, options, sinks[keep], run, error);
    // The corners are known only at the end.
    if (!status && filter) status = carom_corners_outcomes(filter, &kept, error);
    if (!status && kept) status = file.receive(file.user, kept, error);
    if (!status) *written = keep == KEEP_ALL ? run->extent->outcomes : kept ? carom_table_rows(kept) : 0;
    // The file says that it does not hold every outcome, and how far all of them reach.
    if (!status && keep != KEEP_ALL) status = carom_result_writer_put_extent(writer, keep_names[keep], run->extent, error);
    if (!status) status = carom_result_writer_close_law(writer, run->answer.result, error);
    carom_corners_free(filter);
    free(options);
    if (status) {
        cli_place_error(question->arguments, question->scene, law->options, law->option_count, error);
        cli_run_release(run);
    }
    return status;
}

static int run_sample(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    cli_run run = {0};
    int64_t written = 0;
    const char *file = cli_value(arguments, "output"), *what = cli_value(arguments, "keep");
    carom_law law = *carom_law_find(arguments->registry, law_name);
    carom_column *columns = NULL;
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    status = carom_ranks_agree(cli_ranks(), status, &error);
    // Which outcomes the file is to hold.
    int keep = KEEP_ALL;
    char phrase[CAROM_SUGGESTION_SIZE];
    while (what && keep <= KEEP_HULL && strcmp(what, keep_names[keep]) != 0) keep++;
    if (!status && keep > KEEP_HULL)
        status = carom_fail(&error, CAROM_BAD_INPUT, "--keep: '%.60s' is not one of all, extent, hull%s", what,
                            carom_suggest(what, keep_names, KEEP_HULL + 1, phrase));

    // The parameters that are drawn are columns, too.
    const carom_uncertainty *uncertainty = status ? NULL : carom_scene_uncertainty(scene);
    if (uncertainty)
        status = carom_uncertainty_extend(uncertainty, law.outcome_columns, law.outcome_column_count, &columns, &law.outcome_column_count,
                                          &error);
    if (columns) law.outcome_columns = columns;

    // Every rank samples its share; the first one has the file and the answer.
    if (!status) {
        carom_control control;
        carom_result_writer *writer = NULL;
        status = cli_start_control(arguments, &control, &error);
        control.ranks = cli_ranks();
        if (!status && file && cli_ranks_is_first()) status = carom_result_writer_create(file, scene, &writer, &error);
        const cli_question question = {.arguments = arguments,
                                       .scene = scene,
                                       .law = &law,
                                       .control = &control,
                                       .writer = writer,
                                       .strict = true,
                                       .uncertainty = uncertainty,
                                       .threads = status ? 1 : carom_control_workers(&control)};
        if (!status) status = writer ? fill_file(&question, keep, &run, &written, &error) : cli_run_law(&question, &run, &error);
        // A failure of one rank is a failure of all.
        status = carom_ranks_agree(control.ranks, status, &error);
        if (!status && writer) status = carom_result_writer_commit(writer, &error);
        carom_result_writer_free(writer);
    }
    int exit_status;
    if (!status) cli_warn_uncertain(scene);
    if (!status) cli_say_unused(arguments, scene, &run.law, &run.unused, 1);
    if (status) {
        exit_status = cli_report(&error);
    } else if (cli_given(arguments, "json")) {
        // The result row with all statistics, and what the command adds to it.
        json_t *document = json_pack("{s:s}", "schema", "carom.sample/1");
        cli_add_result(document, run.answer.result);
        json_object_set_new(document, "complete", json_boolean(carom_answer_complete(&run.answer)));
        json_object_set_new(document, "extent", cli_extent_json(run.extent));
        char caveat[CAROM_CAVEAT_SIZE];
        const bool outside = carom_outcomes_caveat(run.extent->sizes, run.extent->approximate, run.extent->outcomes, caveat);
        json_object_set_new(document, "extent_may_lie_outside", json_boolean(outside));
        cli_add_caveat(document, caveat);
        json_object_set_new(document, "seconds", carom_json_real(run.seconds));
        json_object_set_new(document, "file", carom_json_text(file));
        json_object_set_new(document, "uncertain", json_boolean(uncertainty != NULL));
        if (uncertainty) json_object_set_new(document, "parameters", cli_parameters_json(uncertainty));
        exit_status = cli_print_json(document, cli_exit_status(&run.answer));
    } else {
        exit_status = print_text(scene, &run, file, written);
    }
    cli_run_release(&run);
    free(columns);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_sample = {
    .name = "sample",
    .summary = "the set of possible outcomes, sampled (law halm-posa)",
    .operand = "SCENE",
    .models = true,
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ONE_LAW,
    .law = law_name,
    .shared = true,
    .run = run_sample,
};
