// SPDX-License-Identifier: Apache-2.0
// `carom resolve`: the outcomes of one law.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "carom/json.h"
#include "cli/cli_internal.h"

// Outcomes that the table on the terminal shows; JSON and files have them all.
enum { SHOWN_OUTCOMES = 20 };

static const cli_flag flags[] = {
    {"law", "NAME", "the impact law (default: the scene's)"},
    {"list", NULL, "print the laws, one a line"},
    {"threads", "N", "threads of a sampled law (default: one a core)"},
    {"output", "FILE", "write the outcomes to an HDF5 file"},
    {"json", NULL, "print one JSON document"},
};

static int print_list(const carom_registry *registry) {
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_LAWS); i++) {
        const carom_law *law = carom_registry_entry(registry, CAROM_REGISTRY_LAWS, i);
        printf("%-16s  %s\n", law->name, law->summary);
    }
    return EXIT_DONE;
}

static carom_status find_law(const cli_arguments *arguments, const carom_scene *scene, const carom_law **law, carom_error *error) {
    const char *name = cli_value(arguments, "law");
    if (!name) name = carom_scene_law(scene);
    if (!name)
        return carom_fail(error, CAROM_BAD_INPUT, "--law is missing, and the scene names no law; `carom resolve --list` prints them");
    *law = carom_law_find(arguments->registry, name);
    if (*law) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "--law: there is no law '%.60s'; `carom resolve --list` prints them", name);
}

static json_t *outcomes_json(const carom_impact *impact, const carom_table *outcomes) {
    json_t *list = json_array();
    for (int64_t row = 0; row < carom_table_rows(outcomes); row++) {
        json_t *outcome = carom_json_row(outcomes, row, carom_impact_get_data(impact)->names);
        // In contact space the velocity column holds contact velocities, which stand in columns of their own.
        if (!carom_impact_has_system(impact)) json_object_set_new(outcome, "v_plus", json_null());
        json_array_append_new(list, outcome);
    }
    return list;
}

static int print_json(const carom_scene *scene, const cli_run *run, const char *file) {
    json_t *document = json_pack("{s:s, s:s, s:b, s:o}", "schema", "carom.resolve/1", "law", run->law->name, "complete",
                                 carom_answer_complete(&run->answer), "seconds", carom_json_real(run->seconds));
    cli_add_result(document, run->answer.result);
    json_object_set_new(document, "outcomes", outcomes_json(carom_scene_impact(scene), run->answer.outcomes));
    json_object_set_new(document, "file", carom_json_text(file));
    return cli_print_json(document, carom_answer_complete(&run->answer) ? EXIT_DONE : EXIT_INCOMPLETE);
}

// ---------------------------------------------------------------------------------------------------------------- text

static void print_velocities(const carom_impact *impact, const double *values, int count) {
    for (int i = 0; i < count; i++) printf(" %12.6g", cli_shown(impact, values[i]));
}

static void print_word(const carom_table *outcomes, int64_t row, const char *const *names) {
    int count;
    const int *word = carom_table_list(outcomes, CAROM_OUTCOME_WORD, row, &count);
    enum { SHOWN_CONTACTS = 12 };
    for (int i = 0; i < count && i < SHOWN_CONTACTS; i++) printf("%s%s", i ? "-" : "  ", names[word[i]]);
    if (count > SHOWN_CONTACTS) printf("-... (%d)", count);
}

static void print_flags(const carom_table *outcomes, int64_t row) {
    const char *const *names = carom_table_column(outcomes, CAROM_OUTCOME_FLAGS)->flags;
    const int64_t set = carom_table_integer_column(outcomes, CAROM_OUTCOME_FLAGS)[row];
    for (int i = 0; names[i]; i++)
        if (set >> i & 1) printf("  (%s)", names[i]);
}

static void print_outcomes(const carom_impact *impact, const carom_table *outcomes) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int tangents = data->contacts * data->tangent_dim;
    const int64_t rows = carom_table_rows(outcomes), shown = rows < SHOWN_OUTCOMES ? rows : SHOWN_OUTCOMES;
    printf("contacts:");
    for (int i = 0; i < data->contacts; i++) printf(" %s", data->names[i]);
    printf("\n%4s  normal velocities [m/s] | tangential velocities [m/s] | energy ratio | steps | word\n", "");
    for (int64_t row = 0; row < shown; row++) {
        printf("%4" PRId64 " ", row + 1);
        print_velocities(impact, carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY) + row * data->contacts, data->contacts);
        printf(" |");
        print_velocities(impact, carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY) + row * tangents, tangents);
        const double energy_ratio = carom_table_real_column(outcomes, CAROM_OUTCOME_ENERGY_RATIO)[row];
        if (isnan(energy_ratio))
            printf(" | %9s", "-");
        else
            printf(" | %9.6f", energy_ratio);
        printf(" | %4" PRId64, carom_table_integer_column(outcomes, CAROM_OUTCOME_STEPS)[row]);
        print_word(outcomes, row, data->names);
        if (!carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED)[row]) printf("  (not terminated)");
        print_flags(outcomes, row);
        putchar('\n');
    }
    if (shown < rows) printf("... and %" PRId64 " more; --json and -o FILE give them all\n", rows - shown);
}

static int print_text(const carom_scene *scene, const cli_run *run, const char *file) {
    const char *verdict = carom_table_text(run->answer.result, CAROM_RESULT_VERDICT, 0);
    const int64_t rows = carom_table_rows(run->answer.outcomes);
    printf("%s, law %s: %" PRId64 " outcome%s, %s\n", carom_scene_name(scene), run->law->name, rows, rows == 1 ? "" : "s", verdict);
    cli_print_findings(run->answer.result, CAROM_RESULT_COLUMNS);
    print_outcomes(carom_scene_impact(scene), run->answer.outcomes);
    if (file) printf("written to %s\n", file);
    return carom_answer_complete(&run->answer) ? EXIT_DONE : EXIT_INCOMPLETE;
}

static carom_status answer(const cli_arguments *arguments, const carom_scene *scene, const char *file, cli_run *run, carom_error *error) {
    const carom_law *law = NULL;
    carom_control control;
    carom_result_writer *writer = NULL;
    carom_status status = find_law(arguments, scene, &law, error);
    if (!status) status = cli_start_control(arguments, &control, error);
    if (!status && file) status = carom_result_writer_create(file, scene, &writer, error);
    const cli_run_options options = {.keep_outcomes = true, .strict = true, .writer = writer};
    if (!status) status = cli_run_law(arguments, scene, law, &control, &options, run, error);
    if (!status && writer) {
        status = carom_result_writer_commit(writer, error);
        if (status) cli_run_release(run);
    }
    carom_result_writer_free(writer);
    return status;
}

static int run_resolve(const cli_arguments *arguments) {
    if (cli_given(arguments, "list")) return print_list(arguments->registry);
    carom_error error;
    carom_scene *scene = NULL;
    cli_run run;
    const char *file = cli_value(arguments, "output");
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    if (!status) status = answer(arguments, scene, file, &run, &error);
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn(scene);
        exit_status = cli_given(arguments, "json") ? print_json(scene, &run, file) : print_text(scene, &run, file);
        cli_run_release(&run);
    }
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_resolve = {
    .name = "resolve",
    .summary = "the outcomes of one impact law",
    .operand = "SCENE",
    .optional_switch = "list",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ONE_LAW,
    .run = run_resolve,
};
