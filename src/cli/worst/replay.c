// SPDX-License-Identifier: Apache-2.0
// `carom replay`: a witness of `carom worst` once more, bit by bit, with its path.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/worst/worst.h"

static const cli_flag flags[] = {
    {"scene", "FILE", "the scene, where it is not at the path that the witness has"},
    {"index", "N", "which of several witnesses, from 0 (default: all; the first one is the answer's v_plus and value)"},
    {"path", NULL, "print the whole path: impulses and normal velocities of each piece"},
    {"json", NULL, "print one JSON document"},
};

// Which one is wanted; -1: all.
typedef struct choice {
    int64_t index;
} choice;

static const carom_option choice_rows[] = {
    {"index", CAROM_OPTION_INTEGER, offsetof(choice, index), 0, 1e6, "", "all", "which of several witnesses", NULL},
};

// One witness that was played again.
typedef struct replayed {
    witness_entry entry;
    cli_objective asked;
    carom_witness witness;
    double value;
    bool same;  // bit by bit
} replayed;

// Plays one witness of the file.
static carom_status replay(const char *path, const witness_file *file, int index, const carom_scene *scene, replayed *one,
                           const carom_member_source *source, carom_error *error) {
    const carom_impact *impact = carom_scene_impact(scene);
    carom_worst_options options = carom_worst_defaults();
    options.source = source;
    options.uncertainty = carom_scene_uncertainty(scene);
    carom_status status = witness_entry_read(path, file, index, scene, &one->entry, error);
    if (status) return status;
    carom_error inner;
    status = cli_read_objective(impact, one->entry.expression, one->entry.minimum, &one->asked, &inner);
    if (status) return carom_fail(error, status, "%s: witnesses[%d].expression: %s", path, index, inner.message);
    status = carom_witness_create(impact, &options, &one->entry.tape, one->entry.member, &one->witness, &inner);
    if (status) return carom_fail(error, status, "%s: witnesses[%d]: %s", path, index, inner.message);
    const double value = carom_witness_value(&one->witness, &one->asked.functional);
    one->value = one->entry.minimum ? 0 - value : value;
    one->same = one->value == one->entry.value;
    for (int k = 0; k < carom_impact_get_data(impact)->nv; k++) one->same = one->same && one->witness.v[k] == one->entry.v[k];
    json_t *path_again = witness_path_json(impact, &one->witness);
    json_t *parameters = witness_parameters_json(options.uncertainty, &one->witness);
    one->same = one->same && json_equal(path_again, one->entry.path) && json_equal(parameters, one->entry.parameters);
    json_decref(path_again);
    json_decref(parameters);
    return CAROM_OK;
}

// The scene of the file, if it is still the same.
static carom_status read_scene(const cli_arguments *arguments, const witness_file *file, carom_scene **scene, carom_error *error) {
    const char *other = cli_value(arguments, "scene"), *path = other ? other : file->scene;
    char digest[CAROM_DIGEST_TEXT_SIZE];
    carom_status status = carom_scene_read(path, arguments->registry, scene, error);
    if (!status) status = witness_digest(*scene, digest, error);
    if (!status && strcmp(digest, file->digest) != 0)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: the scene %s has changed: its numbers are not those of the witness",
                            arguments->operand, path);
    return status;
}

// Pieces as a table: the normal impulse of each contact, then the normal velocities after the piece.
static void print_path(const carom_impact *impact, const carom_witness *witness) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int n = witness->n, stride = 1 + data->tangent_dim;
    printf("  piece");
    for (int i = 0; i < data->contacts; i++) printf("  %12s", data->names[i]);
    for (int i = 0; i < data->contacts; i++) printf("  Jn.%-9s", data->names[i]);
    printf("\n  %5s  normal impulses [N s], then normal velocities [m/s]\n", "");
    for (int k = 0; k < witness->rows; k++) {
        printf("  %5d", k);
        for (int i = 0; i < data->contacts; i++) {
            const double *after = witness->impulse + (size_t)k * (size_t)n + stride * i, pressed = k ? after[0] - after[-n] : 0;
            if (pressed > 0)
                printf("  %12.6g", pressed);
            else
                printf("  %12s", "-");
        }
        for (int i = 0; i < data->contacts; i++)
            printf("  %12.6g", cli_shown(impact, witness->u[(size_t)k * (size_t)n + (size_t)(stride * i)]));
        putchar('\n');
    }
}

static json_t *one_json(const carom_scene *scene, const replayed *one) {
    const carom_impact *impact = carom_scene_impact(scene);
    json_t *json =
        json_pack("{s:o, s:s}", "expression", carom_json_text(one->entry.expression), "sense", one->entry.minimum ? "min" : "max");
    json_object_set_new(json, "value", carom_json_real(one->value));
    json_object_set_new(json, "v_plus", carom_json_reals(one->witness.v, carom_impact_get_data(impact)->nv));
    json_object_set_new(json, "reproduced", json_boolean(one->same));
    json_object_set_new(json, "verified", json_boolean(one->witness.verified));
    json_object_set_new(json, "checks", witness_checks_json(&one->witness));
    json_object_set_new(json, "energy_ratio", carom_json_real(one->witness.energy_ratio));
    json_object_set_new(json, "parameters", witness_parameters_json(carom_scene_uncertainty(scene), &one->witness));
    json_object_set_new(json, "word", witness_word_json(impact, &one->witness));
    json_object_set_new(json, "path", witness_path_json(impact, &one->witness));
    return json;
}

static void print_one(const cli_arguments *arguments, const carom_impact *impact, const replayed *one) {
    printf("%s %s = %.17g %s%s\n", one->entry.minimum ? "min" : "max", one->entry.expression, one->value, one->asked.functional.unit,
           one->same ? ", as the file has it" : "");
    if (!one->same)
        printf("  the file has %.17g, or another velocity, path or parameters: another version or machine computed it, or it was changed\n",
               one->entry.value);
    static const char *const parts[] = {
        [CAROM_PATH_SOLUTION] = "piece", [CAROM_PATH_STEPS] = "impact step", [CAROM_PATH_JUMP] = "jump of the velocity"};
    const int count = one->witness.rows - 1;
    printf("  %d %s%s; energy after / before %.6g; the independent check %s\n", count, parts[one->witness.path],
           count == 1 || one->witness.path == CAROM_PATH_JUMP ? "" : "s", one->witness.energy_ratio,
           one->witness.verified ? "passed" : "failed");
    for (int i = 0; i < one->witness.word_length; i++)
        printf("%s%s%s",
               i ? "-" : "  contacts in the order in which they acted: ", carom_impact_get_data(impact)->names[one->witness.word[i]],
               i + 1 < one->witness.word_length ? "" : "\n");
    if (cli_given(arguments, "path")) print_path(impact, &one->witness);
}

static int run_replay(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    witness_file file;
    choice wanted = {-1};
    int count = 0;
    replayed *all = NULL;
    carom_status status = cli_apply_rows(arguments, choice_rows, 1, &wanted, &error);
    if (status) return cli_report(&error);
    status = witness_read(arguments->operand, arguments->registry, &file, &error);
    if (!status && wanted.index >= file.count)
        status = carom_fail(&error, CAROM_BAD_INPUT, "--index: %lld is not below the number of witnesses, %d", (long long)wanted.index,
                            file.count);
    if (!status) status = read_scene(arguments, &file, &scene, &error);
    const int first = wanted.index < 0 ? 0 : (int)wanted.index, end = wanted.index < 0 ? file.count : first + 1;
    carom_member_source source = {0};
    if (!status) {
        // As `carom worst` has asked the law.
        const carom_law_call call = {carom_scene_impact(scene), file.law_options, arguments->registry, NULL, NULL, NULL};
        carom_error inner;
        status = carom_law_members(file.law, &call, &source, &inner);
        if (status) carom_fail(&error, status, "%s: options: %s", arguments->operand, inner.message);
    }
    if (!status) all = calloc((size_t)(end - first), sizeof *all);
    if (!status && !all) status = carom_fail_memory(&error, "replay");
    bool same = true;
    for (int i = first; i < end && !status; i++) {
        status = replay(arguments->operand, &file, i, scene, &all[count], &source, &error);
        same = same && all[count].same;
        count++;
    }
    int exit_status = same ? EXIT_DONE : EXIT_INCOMPLETE;
    if (!status) cli_warn_uncertain(scene);
    if (!status) cli_say_unused_by(arguments, scene, file.law, file.law_options);
    if (status) {
        exit_status = cli_report(&error);
    } else if (cli_given(arguments, "json")) {
        json_t *document = json_pack("{s:s, s:o}", "schema", "carom.replay/1", "scene", carom_json_text(carom_scene_path(scene)));
        json_t *one = one_json(scene, &all[0]);
        json_object_update(document, one);
        json_decref(one);
        json_t *witnesses = json_array();
        for (int i = 0; i < count; i++) json_array_append_new(witnesses, one_json(scene, &all[i]));
        json_object_set_new(document, "witnesses", witnesses);
        exit_status = cli_print_json(document, exit_status);
    } else {
        for (int i = 0; i < count; i++) print_one(arguments, carom_scene_impact(scene), &all[i]);
    }
    for (int i = 0; i < count; i++) {
        witness_entry_release(&all[i].entry);
        carom_functional_release(&all[i].asked.functional);
        carom_witness_release(&all[i].witness);
    }
    free(all);
    carom_member_source_release(&source);
    witness_release(&file);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_replay = {
    .name = "replay",
    .summary = "a witness of `carom worst` once more, bit by bit",
    .operand = "WITNESS",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run_replay,
};
