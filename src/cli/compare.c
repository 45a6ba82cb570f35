// SPDX-License-Identifier: Apache-2.0
// `carom compare`: every law on one scene, as a table and as pictures with all of them.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "io/json.h"

enum { PATH_SIZE = 4096 };

static const cli_flag flags[] = {
    {"threads", "N", "threads of sampled laws (default: one a core)"},
    {"output", "DIR", "write DIR/compare.h5 and pictures with all laws; DIR is made where it is missing"},
    {"json", NULL, "print one JSON document"},
};

typedef struct comparison {
    cli_run *runs;  // one for each law
    int count;
    json_t *files;  // written
} comparison;

static json_t *law_json(const cli_run *run) {
    const carom_extent *extent = run->extent;
    const bool known = extent->outcomes && !isnan(extent->energy_ratio[0]);
    return json_pack("{s:I, s:o, s:o, s:b, s:o}", "count", (json_int_t)extent->outcomes, "extent", cli_extent_json(extent), "energy_ratio",
                     known ? carom_json_reals(extent->energy_ratio, 2) : json_null(), "complete", carom_answer_complete(&run->answer),
                     "seconds", carom_json_real(run->seconds));
}

static int exit_status_of(const comparison *c) {
    for (int i = 0; i < c->count; i++)
        if (!carom_answer_complete(&c->runs[i].answer)) return EXIT_INCOMPLETE;
    return EXIT_DONE;
}

static int print_json(const comparison *c) {
    json_t *laws = json_object();
    for (int i = 0; i < c->count; i++) json_object_set_new(laws, c->runs[i].law->name, law_json(&c->runs[i]));
    return cli_print_json(json_pack("{s:s, s:o, s:O}", "schema", "carom.compare/1", "laws", laws, "files", c->files), exit_status_of(c));
}

// ---------------------------------------------------------------------------------------------------------------- text

static void print_law(const carom_impact *impact, const cli_run *run) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const carom_extent *extent = run->extent;
    printf("%-16s %9" PRId64, run->law->name, extent->outcomes);
    if (extent->outcomes) {
        if (isnan(extent->energy_ratio[0]))
            printf("  %18s ", "-");
        else
            printf("  %7.4f .. %-7.4f ", extent->energy_ratio[0], extent->energy_ratio[1]);
        for (int i = 0; i < data->contacts; i++)
            printf("  %s [%.5g, %.5g]", data->names[i], cli_shown(impact, extent->normal[2 * i]),
                   cli_shown(impact, extent->normal[2 * i + 1]));
    }
    if (!carom_answer_complete(&run->answer)) printf("  (%s)", carom_table_text(run->answer.result, CAROM_RESULT_VERDICT, 0));
    putchar('\n');
}

static int print_text(const carom_scene *scene, const comparison *c) {
    printf("%s\n%-16s %9s  %18s   %s\n", carom_scene_name(scene), "law", "outcomes", "energy ratio",
           "normal velocities after the impact [m/s]");
    for (int i = 0; i < c->count; i++) print_law(carom_scene_impact(scene), &c->runs[i]);
    for (size_t i = 0; i < json_array_size(c->files); i++) printf("written: %s\n", json_string_value(json_array_get(c->files, i)));
    if (!json_array_size(c->files)) printf("(-o DIR draws them)\n");
    return exit_status_of(c);
}

// ------------------------------------------------------------------------------------------------------------- running

static carom_status make_directory(const char *path, bool *made, carom_error *error) {
    *made = !mkdir(path, 0777);
    if (*made) return CAROM_OK;
    struct stat about;
    if (errno == EEXIST && !stat(path, &about) && S_ISDIR(about.st_mode)) return CAROM_OK;
    return carom_fail(error, CAROM_IO_FAILED, "%s: the directory cannot be made (%s)", path, strerror(errno == EEXIST ? ENOTDIR : errno));
}

static carom_status join(const char *directory, const char *name, char path[PATH_SIZE], carom_error *error) {
    if (snprintf(path, PATH_SIZE, "%s/%s", directory, name) < PATH_SIZE) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%.60s...: the path is too long", directory);
}

static carom_status run_laws(const cli_arguments *arguments, const carom_scene *scene, carom_result_writer *writer, comparison *c,
                             carom_error *error) {
    carom_control control;
    carom_status status = cli_start_control(arguments, &control, error);
    const cli_run_options options = {.writer = writer};
    const int laws = carom_registry_count(arguments->registry, CAROM_REGISTRY_LAWS);
    for (int i = 0; i < laws && !status; i++) {
        const carom_law *law = carom_registry_entry(arguments->registry, CAROM_REGISTRY_LAWS, i);
        status = cli_run_law(arguments, scene, law, &control, &options, &c->runs[c->count], error);
        if (!status) c->count++;
    }
    return status;
}

static void note_file(void *user, const char *path) {
    const comparison *c = user;
    json_array_append_new(c->files, carom_json_text(path));
}

static carom_status draw(const char *directory, const char *result, comparison *c, carom_error *error) {
    char prefix[PATH_SIZE];
    const carom_status status = join(directory, "compare", prefix, error);
    if (status) return status;
    const carom_plot_request request = {.output = prefix, .svg = true};
    return carom_plot_result(result, &request, note_file, c, error);
}

static carom_status compare(const cli_arguments *arguments, const carom_scene *scene, const char *directory, comparison *c,
                            carom_error *error) {
    char result[PATH_SIZE];
    carom_result_writer *writer = NULL;
    carom_status status = CAROM_OK;
    bool made = false;
    if (directory) {
        status = make_directory(directory, &made, error);
        if (!status) status = join(directory, "compare.h5", result, error);
        if (!status) status = carom_result_writer_create(result, scene, &writer, error);
    }
    if (!status) status = run_laws(arguments, scene, writer, c, error);
    if (!status && writer) status = carom_result_writer_commit(writer, error);
    carom_result_writer_free(writer);
    if (!status && directory) {
        note_file(c, result);
        status = draw(directory, result, c, error);
    }
    // Nothing is left behind; a directory with a result in it stays.
    if (status && made) rmdir(directory);
    return status;
}

static int run_compare(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    const size_t laws = (size_t)carom_registry_count(arguments->registry, CAROM_REGISTRY_LAWS);
    comparison c = {.runs = calloc(laws, sizeof(cli_run)), .files = json_array()};
    carom_status status = c.runs && c.files ? CAROM_OK : carom_fail_memory(&error, "compare");
    if (!status) status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    if (!status) status = compare(arguments, scene, cli_value(arguments, "output"), &c, &error);
    int exit_status;
    if (!status) cli_warn(scene);
    if (status)
        exit_status = cli_report(&error);
    else
        exit_status = cli_given(arguments, "json") ? print_json(&c) : print_text(scene, &c);
    for (int i = 0; i < c.count; i++) cli_run_release(&c.runs[i]);
    free(c.runs);
    json_decref(c.files);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_compare = {
    .name = "compare",
    .summary = "every law on one scene: a table, and pictures with all of them",
    .operand = "SCENE",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ALL_LAWS,
    .run = run_compare,
};
