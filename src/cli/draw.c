// SPDX-License-Identifier: Apache-2.0
// `carom draw`: the mechanism of a scene in a picture, with what laws make of its impact.
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/sketch.h"

static const cli_flag flags[] = {
    {"output", "FILE", "the picture: PNG, SVG or PDF by its ending"},
    {"view", "VIEW,VIEW,...",
     "side (x to the right, z up), front (y, z), top (x, y), 3d (default: the plane of a planar scene, else side,3d)"},
    {"outcome", "LAW,LAW,...", "show impulses, velocities after, and the pose a short time later, by these laws"},
    {"number", "N,N,...", "which of their outcomes, in the order of `carom resolve` (default 1)"},
    {"size", "SIZE",
     "on paper: column (84 x 63 mm), page (174 x 120), slide (254 x 143), or WxH in millimetres; higher where texts need room"},
    {"threads", "N", "threads of a sampled law (default: one per core)"},
    {"json", NULL, "print what is drawn as one JSON document; -o is then not needed"},
};

// The impact of a scene; or a motion, which has none, at its start.
static carom_status read_scene(const cli_arguments *arguments, carom_scene **scene, carom_error *error) {
    const carom_status status = carom_scene_read(arguments->operand, arguments->registry, scene, error);
    if (status != CAROM_BAD_INPUT) return status;
    carom_error other;
    carom_scene *motion = NULL;
    if (!carom_scene_read_motion(arguments->operand, arguments->registry, &motion, &other) && !carom_scene_impact(motion)) {
        *scene = motion;
        return CAROM_OK;
    }
    carom_scene_free(motion);
    return status;
}

// The next word of a list with commas, cut to fit; NULL after the last one.
static const char *next_word(const char **list, char word[CLI_NAME_SIZE]) {
    if (!*list) return NULL;
    const size_t length = strcspn(*list, ",");
    snprintf(word, CLI_NAME_SIZE, "%.*s", (int)length, *list);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return word;
}

// Asks one law, and adds the outcomes of these numbers.
static carom_status add_law(const cli_question *question, const char *numbers, cli_sketch *sketch, int *exit_status, carom_error *error) {
    cli_run run = {0};
    carom_status status = cli_run_law(question, &run, error);
    if (status) return status;
    const int64_t rows = carom_table_rows(run.answer.outcomes);
    if (!rows) status = carom_fail(error, CAROM_BAD_INPUT, "--outcome: %s has no outcome of this impact", question->law->name);
    char word[CLI_NAME_SIZE];
    while (!status && next_word(&numbers, word)) {
        char *end;
        const long long number = strtoll(word, &end, 10);
        if (!*word || *end || number < 1 || number > rows)
            status = carom_fail(error, CAROM_BAD_INPUT, "--number: '%s' is not one of the %lld outcome%s of %s, which are counted from 1",
                                word, (long long)rows, rows == 1 ? "" : "s", question->law->name);
        else
            status = cli_sketch_add(sketch, question->law, run.answer.outcomes, number - 1, error);
    }
    if (!status && cli_exit_status(&run.answer) != EXIT_DONE) *exit_status = EXIT_INCOMPLETE;
    cli_run_release(&run);
    return status;
}

static carom_status add_outcomes(const cli_arguments *arguments, const carom_scene *scene, cli_sketch *sketch, int *exit_status,
                                 carom_error *error) {
    const char *laws = cli_value(arguments, "outcome"), *numbers = cli_value(arguments, "number");
    if (!laws && numbers) return carom_fail(error, CAROM_BAD_INPUT, "--number: has no meaning without --outcome LAW");
    if (!laws) return CAROM_OK;
    if (!carom_scene_impact(scene))
        return carom_fail(error, CAROM_BAD_INPUT, "--outcome: %s has no impact, only a motion", carom_scene_path(scene));
    carom_control control;
    carom_status status = cli_start_control(arguments, &control, error);
    char word[CLI_NAME_SIZE], phrase[CAROM_SUGGESTION_SIZE];
    const bool strict = !strchr(laws, ',');
    while (!status && next_word(&laws, word)) {
        cli_question question = {.arguments = arguments, .scene = scene, .control = &control, .strict = strict, .keep_outcomes = true};
        question.law = carom_law_find(arguments->registry, word);
        if (!question.law)
            return carom_fail(error, CAROM_BAD_INPUT, "--outcome: there is no law '%s'; `carom resolve --list` prints them%s", word,
                              carom_registry_suggest(arguments->registry, CAROM_REGISTRY_LAWS, word, phrase));
        question.threads = carom_option_find(question.law->options, question.law->option_count, "cone_edges") >= 0;
        status = add_law(&question, numbers ? numbers : "1", sketch, exit_status, error);
    }
    return status ? status : cli_sketch_finish(sketch, error);
}

static int run_draw(const cli_arguments *arguments) {
    carom_error error, inner;
    carom_scene *scene = NULL;
    cli_sketch sketch = {0};
    int exit_status = EXIT_DONE;
    const char *file = cli_value(arguments, "output"), *views = cli_value(arguments, "view"), *size = cli_value(arguments, "size");
    carom_status status = CAROM_OK;
    if (!file && !cli_given(arguments, "json"))
        status = carom_fail(&error, CAROM_BAD_INPUT, "-o FILE is missing: the picture, PNG, SVG or PDF");
    if (!status && size && carom_plot_parse_size(size, &sketch.stage.size, &inner))
        status = carom_fail(&error, CAROM_BAD_INPUT, "--size: %s", inner.message);
    // That the picture can be written is known before a law computes.
    if (!status && file && cli_given(arguments, "outcome")) status = carom_plot_check(file, &error);
    if (!status) status = read_scene(arguments, &scene, &error);
    if (!status) status = cli_sketch_start(&sketch, scene, &error);
    if (!status && views) status = cli_sketch_views(&sketch, views, &error);
    if (!status) status = add_outcomes(arguments, scene, &sketch, &exit_status, &error);
    if (!status && file) status = carom_stage_write(&sketch.stage, file, &error);
    json_t *document = NULL;
    if (!status && cli_given(arguments, "json")) {
        document = cli_sketch_json(&sketch, &error);
        if (!document) status = error.status;
    }
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn(scene);
        if (sketch.stage.solids.left_out)
            cli_say("warning", arguments->operand, "%d deformable part%s not drawn", sketch.stage.solids.left_out,
                    sketch.stage.solids.left_out == 1 ? " is" : "s are");
        json_t *files = json_array();
        if (file) json_array_append_new(files, carom_json_text(file));
        if (document) {
            json_object_set_new(document, "files", files);
            exit_status = cli_print_json(document, exit_status);
        } else {
            printf("%s\n", file);
            json_decref(files);
        }
    }
    cli_sketch_free(&sketch);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_draw = {
    .name = "draw",
    .summary = "the mechanism in a picture: bodies, contacts, velocities, and outcomes of laws",
    .operand = "SCENE",
    .models = true,
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ALL_LAWS,
    .run = run_draw,
};
