// SPDX-License-Identifier: Apache-2.0
// `carom resolve`: the outcomes of one law.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "carom/json.h"
#include "cli/cli_internal.h"

// Outcomes, and contacts of a word, that the table on the terminal shows; JSON and files have them all.
enum { SHOWN_OUTCOMES = 20, SHOWN_CONTACTS = 12 };

static const cli_flag flags[] = {
    {"law", "NAME", "the impact law (default: the scene's)"},
    {"list", NULL, "print the laws, one per line"},
    {"threads", "N", "threads of a sampled law (default: one per core)"},
    {"output", "FILE", "write the outcomes to an HDF5 file"},
    {"json", NULL, "print one JSON document"},
};

// ---------------------------------------------------------------------------------------------------------------- text

static void print_velocities(const carom_impact *impact, const double *values, int count) {
    for (int i = 0; i < count; i++) printf(" %12.6g", cli_shown(impact, values[i]));
}

// The law and its verdict, then a table of the first outcomes.
static int print_text(const carom_scene *scene, const cli_run *run, const char *file) {
    const carom_impact *impact = carom_scene_impact(scene);
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int tangents = data->contacts * data->tangent_dim;
    const carom_table *outcomes = run->answer.outcomes;
    const int64_t rows = carom_table_rows(outcomes);
    printf("%s, law %s: %" PRId64 " outcome%s, %s\n", carom_scene_name(scene), run->law->name, rows, rows == 1 ? "" : "s",
           carom_table_text(run->answer.result, CAROM_RESULT_VERDICT, 0));
    cli_print_findings(run->answer.result, CAROM_RESULT_COLUMNS);
    char caveat[CAROM_CAVEAT_SIZE];
    const carom_extent *extent = run->extent;
    const bool outside = carom_outcomes_caveat(extent->sizes, extent->approximate, extent->outcomes, caveat);
    if (outside) printf(CLI_OUTSIDE " (approximate) %s\n", caveat);
    printf("contacts:");
    for (int i = 0; i < data->contacts; i++) printf(" %s", data->names[i]);
    printf("\n%4s  normal velocities [m/s] | tangential velocities [m/s] | energy ratio | steps | word\n", "");
    for (int64_t row = 0; row < rows && row < SHOWN_OUTCOMES; row++) {
        // One line of the table: velocities, energy, steps, the word of contacts, and what is remarkable about the outcome.
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
        // The word: the contacts that acted, in their order.
        int count;
        const int *word = carom_table_list(outcomes, CAROM_OUTCOME_WORD, row, &count);
        for (int i = 0; i < count && i < SHOWN_CONTACTS; i++) printf("%s%s", i ? "-" : "  ", data->names[word[i]]);
        if (count > SHOWN_CONTACTS) printf("-... (%d)", count);
        if (!carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED)[row]) printf("  (not terminated)");
        // Flags are bits, with a name for each.
        const char *const *flag_names = carom_table_column(outcomes, CAROM_OUTCOME_FLAGS)->flags;
        const int64_t set = carom_table_integer_column(outcomes, CAROM_OUTCOME_FLAGS)[row];
        for (int i = 0; flag_names[i]; i++)
            if (set >> i & 1) printf("  (%s)", flag_names[i]);
        putchar('\n');
    }
    // One velocity is worth its joints.
    if (rows == 1 && data->velocity_names)
        cli_print_velocities("velocity after", data, carom_table_real_column(outcomes, CAROM_OUTCOME_VELOCITY), true);
    // What the rest covers.
    if (rows > SHOWN_OUTCOMES) {
        for (int end = 0; end < 2; end++) {
            printf("%s", end == 0 ? "from " : "  to ");
            for (int i = 0; i < data->contacts; i++) print_velocities(impact, &extent->normal[2 * i + end], 1);
            printf(" |");
            for (int i = 0; i < tangents; i++) print_velocities(impact, &extent->tangent[2 * i + end], 1);
            printf(" | %9.6f%s\n", extent->energy_ratio[end], outside ? "  " CLI_OUTSIDE : "");
        }
        printf("... and %" PRId64 " more; --json and -o FILE give them all\n", rows - SHOWN_OUTCOMES);
    }
    if (file) printf("written to %s (HDF5)\n", file);
    return cli_exit_status(&run->answer);
}

// ------------------------------------------------------------------------------------------------------------- running

static int run_resolve(const cli_arguments *arguments) {
    if (cli_given(arguments, "list")) return cli_list(arguments->registry, CAROM_REGISTRY_LAWS);
    carom_error error;
    carom_scene *scene = NULL;
    cli_run run = {0};
    carom_control control;
    cli_question question = {.arguments = arguments, .control = &control, .strict = true, .keep_outcomes = true};
    const char *file = cli_value(arguments, "output"), *name = cli_value(arguments, "law");
    char phrase[CAROM_SUGGESTION_SIZE];
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    // The law of the command line, or the one that the scene names.
    question.scene = scene;
    if (!status && !name) name = carom_scene_law(scene);
    if (!status && !name)
        status = carom_fail(&error, CAROM_BAD_INPUT, "--law is missing, and the scene names no law; `carom resolve --list` prints them");
    if (!status) question.law = carom_law_find(arguments->registry, name);
    if (!status && !question.law)
        status = carom_fail(&error, CAROM_BAD_INPUT, "--law: there is no law '%.60s'; `carom resolve --list` prints them%s", name,
                            carom_registry_suggest(arguments->registry, CAROM_REGISTRY_LAWS, name, phrase));
    if (!status) status = cli_start_control(arguments, &control, &error);
    // Laws of steps have cone edges, and one stepper.
    if (!status) question.threads = carom_option_find(question.law->options, question.law->option_count, "cone_edges") >= 0;
    if (!status && file) status = carom_result_writer_create(file, scene, &question.writer, &error);
    // An exact set is that of all that is uncertain at once.
    const bool whole = !status && carom_scene_uncertainty(scene) && cli_takes_all(question.law);
    carom_uncertain_support support = {0};
    carom_exact_start start;
    if (whole) {
        void *options = NULL;
        status = cli_prepare_options(&question, NULL, &options, &error);
        if (!status) status = cli_ask_for_all(&question, options, &support, &start, &error);
        free(options);
    }
    if (!status) status = cli_run_law(&question, &run, &error);
    carom_uncertain_support_free(&support);
    if (!status && file) status = carom_result_writer_commit(question.writer, &error);
    carom_result_writer_free(question.writer);
    int exit_status;
    if (!status && whole) cli_warn_uncertain(scene);
    if (!status && !whole) cli_warn(scene);
    if (!status) cli_say_unused(arguments, scene, &run.law, &run.unused, 1);
    if (status) {
        exit_status = cli_report(&error);
    } else if (cli_given(arguments, "json")) {
        const carom_impact *impact = carom_scene_impact(scene);
        const carom_table *outcomes = run.answer.outcomes;
        json_t *document = json_pack("{s:s, s:s, s:b, s:o}", "schema", "carom.resolve/1", "law", run.law->name, "complete",
                                     carom_answer_complete(&run.answer), "seconds", carom_json_real(run.seconds));
        json_t *list = json_array();
        for (int64_t row = 0; row < carom_table_rows(outcomes); row++) {
            json_t *outcome = carom_json_row(outcomes, row, carom_impact_get_data(impact)->names);
            // In contact space the velocity column holds contact velocities, which stand in columns of their own.
            if (!carom_impact_has_system(impact)) json_object_set_new(outcome, "v_plus", json_null());
            json_array_append_new(list, outcome);
        }
        cli_add_result(document, run.answer.result);
        json_object_set_new(document, "joints", cli_joints_json(carom_impact_get_data(impact)));
        json_object_set_new(document, "outcomes", list);
        char caveat[CAROM_CAVEAT_SIZE];
        carom_outcomes_caveat(run.extent->sizes, run.extent->approximate, run.extent->outcomes, caveat);
        cli_add_caveat(document, caveat);
        json_object_set_new(document, "file", carom_json_text(file));
        exit_status = cli_print_json(document, cli_exit_status(&run.answer));
    } else {
        exit_status = print_text(scene, &run, file);
    }
    cli_run_release(&run);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_resolve = {
    .name = "resolve",
    .summary = "the outcomes of one impact law",
    .operand = "SCENE",
    .models = true,
    .optional_switch = "list",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ONE_LAW,
    .run = run_resolve,
};
