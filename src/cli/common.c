// SPDX-License-Identifier: Apache-2.0
// What the subcommands share: messages, scenes, and asking a law.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "carom/json.h"
#include "cli/cli_internal.h"
#include "cli/ranks/ranks.h"

int cli_report(const carom_error *error) {
    if (cli_ranks_is_first()) fprintf(stderr, "carom: %s\n", error->message);
    const bool could_not_finish = error->status == CAROM_OUT_OF_MEMORY || error->status == CAROM_INTERNAL;
    return could_not_finish ? EXIT_INCOMPLETE : EXIT_BAD_INPUT;
}

void cli_warn(const carom_scene *scene) {
    for (int i = 0; i < carom_scene_warnings(scene) && cli_ranks_is_first(); i++)
        fprintf(stderr, "carom: warning: %s\n", carom_scene_warning(scene, i));
}

double cli_shown(const carom_impact *impact, double velocity) {
    // Four digits below the tolerance of termination.
    const double round_off = 1e-4 * CAROM_TERMINATION_TOLERANCE * carom_impact_velocity_scale(impact);
    return fabs(velocity) <= round_off ? 0 : velocity;
}

char *cli_join_path(const char *directory, const char *name) {
    const size_t length = strlen(directory), size = length + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s%s%s", directory, length && directory[length - 1] == '/' ? "" : "/", name);
    return path;
}

carom_status cli_make_directory(const char *path, bool *made, carom_error *error) {
    *made = !mkdir(path, 0777);
    if (*made) return CAROM_OK;
    struct stat about;
    if (errno == EEXIST && !stat(path, &about) && S_ISDIR(about.st_mode)) return CAROM_OK;
    return carom_fail(error, CAROM_IO_FAILED, "%s: the directory cannot be made (%s)", path, strerror(errno == EEXIST ? ENOTDIR : errno));
}

int cli_print_json(json_t *document, int status) {
    carom_error error;
    const carom_status written = carom_json_write(stdout, document, &error);
    json_decref(document);
    return written ? cli_report(&error) : status;
}

// ------------------------------------------------------------------------------------------------------- asking a law

// Where a block of outcomes goes: always into the extent, then into memory and the file where wanted.
typedef struct splitter {
    carom_extent *extent;
    cli_points *points;
    carom_table *kept;
    const carom_sink *file;
} splitter;

static carom_status split(void *user, const carom_table *rows, carom_error *error) {
    const splitter *s = user;
    carom_extent_widen(s->extent, rows);
    carom_status status = s->file ? s->file->receive(s->file->user, rows, error) : CAROM_OK;
    if (!status && s->points) status = cli_points_add(s->points, rows, error);
    if (!status && s->kept) status = carom_table_append(s->kept, rows, error);
    return status;
}

double cli_seconds_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

// Answers through the splitter; `file` is the open group of the writer, or NULL.
carom_status cli_ask_law(const cli_arguments *arguments, const carom_scene *scene, const void *law_options, const carom_control *control,
                         const cli_run_options *options, const carom_sink *file, cli_run *run, carom_error *error) {
    const carom_impact *impact = carom_scene_impact(scene);
    const carom_law *law = run->law;
    carom_table *kept = NULL;
    carom_status status = carom_extent_create(impact, &run->extent, error);
    if (!status && options->collect_points) status = cli_points_create(impact, &run->points, error);
    if (!status && options->keep_outcomes)
        status = carom_outcomes_create(impact, law->outcome_columns, law->outcome_column_count, &kept, error);
    if (!status) {
        splitter way = {run->extent, run->points, kept, file};
        const carom_sink sink = {&way, split};
        struct timespec start;
        clock_gettime(CLOCK_MONOTONIC, &start);
        const carom_law_call call = {impact, law_options, arguments->registry, control, &sink, NULL};
        status = carom_law_resolve(law, &call, &run->answer, error);
        run->seconds = cli_seconds_since(&start);
        cli_end_progress();
    }
    if (!status && kept) {
        carom_table_free(run->answer.outcomes);
        run->answer.outcomes = kept;
        kept = NULL;
    }
    carom_table_free(kept);
    return status;
}

// A scene's max_steps counts the steps of the scene's sampler: it says nothing about another one that the command line asks for.
static void forget_steps_of_other_sampler(const cli_arguments *arguments, const carom_law *law, void *options) {
    const int sampler = carom_option_find(law->options, law->option_count, "sampler");
    const int steps = carom_option_find(law->options, law->option_count, "max_steps");
    const char *asked = cli_value(arguments, "sampler");
    if (sampler < 0 || steps < 0 || !asked) return;
    char scenes[CLI_NAME_SIZE];
    carom_option_print(&law->options[sampler], options, scenes, sizeof scenes);
    if (strcmp(asked, scenes) != 0) carom_option_set(&law->options[steps], options, law->options[steps].initial, NULL);
}

carom_status cli_prepare_options(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law, bool strict,
                                 const char *const *preset, void **options, carom_error *error) {
    *options = malloc(law->options_size);
    if (!*options) return carom_fail_memory(error, law->name);
    law->defaults(*options);
    carom_status status = CAROM_OK;
    for (; preset && *preset && !status; preset += 2) status = carom_law_set(law, *options, preset[0], preset[1], error);
    if (!status) status = carom_scene_apply(scene, law->options, law->option_count, *options, error);
    if (!status) forget_steps_of_other_sampler(arguments, law, *options);
    if (!status) status = cli_apply(arguments, law, strict, *options, error);
    return status;
}

// Is the message about this option? It begins with "NAME: " then.
bool cli_is_about(const carom_error *error, const carom_option *row) {
    const size_t length = strlen(row->name);
    return error->status == CAROM_BAD_INPUT && !strncmp(error->message, row->name, length) && !strncmp(error->message + length, ": ", 2);
}

void cli_place_error(const cli_arguments *arguments, const carom_scene *scene, const carom_option *rows, int count, carom_error *error) {
    for (int i = 0; i < count; i++) {
        if (!cli_is_about(error, &rows[i])) continue;
        // Commands spell their own flags as they are typed, and options of laws as scenes do.
        char flag[CLI_NAME_SIZE];
        cli_spell_flag(&rows[i], flag);
        const carom_error inner = *error;
        if (cli_given(arguments, rows[i].name) || cli_given(arguments, flag))
            cli_pass_on(&rows[i], &inner, error);
        else
            carom_scene_place_error(scene, rows[i].name, error);
        return;
    }
}

// Asks a law for all that it can give, in memory; what cannot be had, too many solutions to enumerate, leaves nothing behind.
static carom_status run_thorough(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law,
                                 const carom_control *control, const cli_run_options *options, cli_run *run, carom_error *error) {
    void *law_options = NULL;
    carom_sink file;
    carom_status status = cli_prepare_options(arguments, scene, law, options->strict, law->thorough, &law_options, error);
    cli_run_options in_memory = *options;
    in_memory.keep_outcomes = true;
    if (!status) status = cli_ask_law(arguments, scene, law_options, control, &in_memory, NULL, run, error);
    if (!status && options->writer) status = carom_result_writer_open_law(options->writer, law, law_options, &file, error);
    if (!status && options->writer) status = file.receive(file.user, run->answer.outcomes, error);
    if (!status && options->writer) status = carom_result_writer_close_law(options->writer, run->answer.result, error);
    free(law_options);
    if (status) {
        cli_run_release(run);
        *run = (cli_run){.law = law};
    }
    return status;
}

const char *const cli_keep_names[] = {"all", "extent", "hull", NULL};

// Asks a law whose outcomes, or some of them, go into its open group of the writer.
static carom_status ask_into_file(const cli_arguments *arguments, const carom_scene *scene, const void *law_options,
                                  const carom_control *control, const cli_run_options *options, const carom_sink *file, cli_run *run,
                                  carom_error *error) {
    if (options->keep == CLI_KEEP_ALL) {
        const carom_status status = cli_ask_law(arguments, scene, law_options, control, options, file, run, error);
        if (!status) run->written = run->extent->outcomes;
        return status;
    }
    carom_corners *corners = NULL;
    carom_sink sink;
    carom_status status = CAROM_OK;
    if (options->keep == CLI_KEEP_HULL)
        status =
            carom_corners_create(carom_scene_impact(scene), run->law->outcome_columns, run->law->outcome_column_count, &corners, error);
    if (corners) sink = carom_corners_sink(corners);
    if (!status) status = cli_ask_law(arguments, scene, law_options, control, options, corners ? &sink : NULL, run, error);
    const carom_table *kept = NULL;
    if (!status && corners) status = carom_corners_outcomes(corners, &kept, error);
    if (!status && kept) status = file->receive(file->user, kept, error);
    if (!status && kept) run->written = carom_table_rows(kept);
    if (!status) status = carom_result_writer_put_extent(options->writer, cli_keep_names[options->keep], run->extent, error);
    carom_corners_free(corners);
    return status;
}

carom_status cli_run_law(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law, const carom_control *control,
                         const cli_run_options *options, cli_run *run, carom_error *error) {
    *run = (cli_run){.law = law};
    if (options->thorough && law->thorough && !run_thorough(arguments, scene, law, control, options, run, error)) return CAROM_OK;
    void *law_options = NULL;
    carom_sink file;
    carom_status status = cli_prepare_options(arguments, scene, law, options->strict, NULL, &law_options, error);
    if (!status && options->writer) status = carom_result_writer_open_law(options->writer, law, law_options, &file, error);
    if (!status && options->writer)
        status = ask_into_file(arguments, scene, law_options, control, options, &file, run, error);
    else if (!status)
        status = cli_ask_law(arguments, scene, law_options, control, options, NULL, run, error);
    if (!status && options->writer) status = carom_result_writer_close_law(options->writer, run->answer.result, error);
    free(law_options);
    if (status) {
        cli_place_error(arguments, scene, law->options, law->option_count, error);
        cli_run_release(run);
    }
    return status;
}

void cli_run_release(cli_run *run) {
    carom_answer_free(&run->answer);
    carom_extent_free(run->extent);
    cli_points_free(run->points);
    run->extent = NULL;
    run->points = NULL;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

json_t *cli_extent_json(const carom_extent *extent) {
    if (!extent->outcomes) return json_null();
    return json_pack("{s:o, s:o}", "normal", carom_json_matrix(extent->normal, extent->sizes.contacts, 2), "tangent",
                     carom_json_matrix(extent->tangent, extent->sizes.tangents, 2));
}

void cli_add_contact_velocity(json_t *object, const carom_impact *impact, const double *u) {
    const int n = carom_impact_contact_size(impact), stride = 1 + carom_impact_get_data(impact)->tangent_dim;
    json_t *normal = json_array(), *tangent = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(i % stride ? tangent : normal, carom_json_real(u[i]));
    json_object_set_new(object, "normal_velocity", normal);
    json_object_set_new(object, "tangent_velocity", tangent);
}

void cli_print_findings(const carom_table *result, int first) {
    for (int i = first; i < carom_table_columns(result); i++) {
        const carom_column *column = carom_table_column(result, i);
        if (column->type == CAROM_COLUMN_BOOLEAN && *carom_table_integer_column(result, i)) printf("%s: %s\n", column->name, column->doc);
    }
}

void cli_add_result(json_t *document, const carom_table *result) {
    json_t *row = carom_json_row(result, 0, NULL);
    json_object_update(document, row);
    json_decref(row);
}
