// SPDX-License-Identifier: Apache-2.0
// Files of witnesses: JSON with the scene, the options, and for each witness its tape, its path and its value.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/worst/worst.h"

static const char schema[] = "carom.witness/1";

const carom_file_kind witness_kind = {"the witnesses of an earlier run", "{\"schema\": \"carom.witness/1\"", false, ".json"};

enum { MOST_CONTACT_PIECES = 1 << 24, OPTION_SIZE = 1024 };

// ------------------------------------------------------------------------------------------------------------- writing

json_t *witness_path_json(const carom_impact *impact, const carom_witness *witness) {
    json_t *pieces = json_array();
    const int n = witness->n, stride = 1 + carom_impact_get_data(impact)->tangent_dim;
    for (int k = 0; k + 1 < witness->rows; k++) {
        json_t *piece = json_object(), *normal = json_array(), *tangent = json_array();
        const double *before = witness->impulse + (size_t)k * (size_t)n, *after = before + n;
        for (int c = 0; c < n; c++) json_array_append_new(c % stride ? tangent : normal, carom_json_real(after[c] - before[c]));
        json_object_set_new(piece, "normal_impulse", normal);
        json_object_set_new(piece, "tangent_impulse", tangent);
        cli_add_contact_velocity(piece, impact, witness->u + (size_t)(k + 1) * (size_t)n);
        json_array_append_new(pieces, piece);
    }
    return pieces;
}

json_t *witness_parameters_json(const carom_uncertainty *uncertainty, const carom_witness *witness) {
    if (!uncertainty || !witness->parameters) return json_null();
    json_t *parameters = json_object();
    const carom_uncertain_parameter *names = carom_uncertainty_parameters(uncertainty);
    for (int i = 0; i < carom_uncertainty_count(uncertainty); i++)
        json_object_set_new(parameters, names[i].name, carom_json_real(witness->parameters[i]));
    return parameters;
}

carom_status witness_digest(const carom_scene *scene, char text[CAROM_DIGEST_TEXT_SIZE], carom_error *error) {
    const carom_uncertainty *uncertainty = carom_scene_uncertainty(scene);
    carom_status status = carom_impact_digest(carom_scene_impact(scene), text, error);
    if (status || !uncertainty) return status;
    // The parameters at three points tell an uncertainty from others.
    enum { POINTS = 3 };
    const int dimension = carom_uncertainty_dimension(uncertainty), count = carom_uncertainty_count(uncertainty);
    double *point = calloc((size_t)(dimension + count) + 1, sizeof *point), *values = point ? point + dimension : NULL;
    carom_digest *digest;
    if (!point) return carom_fail_memory(error, "witness");
    status = carom_digest_create(&digest, error);
    if (!status) {
        carom_digest_add_bytes(digest, text, strlen(text));
        for (int k = 1; k <= POINTS; k++) {
            for (int i = 0; i < dimension; i++) point[i] = (double)(1 + (k + i) % POINTS) / (POINTS + 1);
            carom_uncertainty_values(uncertainty, point, values);
            carom_digest_add_doubles(digest, values, (size_t)count);
        }
        carom_digest_finish(digest, text);
        carom_digest_free(digest);
    }
    free(point);
    return status;
}

json_t *witness_checks_json(const carom_witness *witness) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "balance", carom_json_real(witness->balance), "cone", carom_json_real(witness->cone),
                     "energy", carom_json_real(witness->energy), "opening", carom_json_real(witness->opening), "slip",
                     carom_json_real(witness->slip));
}

json_t *witness_word_json(const carom_impact *impact, const carom_witness *witness) {
    if (!witness->word_length) return json_null();
    json_t *word = json_array();
    for (int i = 0; i < witness->word_length; i++)
        json_array_append_new(word, carom_json_text(carom_impact_get_data(impact)->names[witness->word[i]]));
    return word;
}

// The options of the law that are not its defaults, as texts.
static carom_status options_json(const worst_run *run, json_t **options, carom_error *error) {
    *options = json_object();
    void *defaults = malloc(run->law->options_size);
    if (!defaults) return carom_fail_memory(error, "witness");
    run->law->defaults(defaults);
    for (int i = 0; i < run->law->option_count; i++) {
        char text[OPTION_SIZE], usual[OPTION_SIZE];
        carom_option_print(&run->law->options[i], run->law_options, text, sizeof text);
        carom_option_print(&run->law->options[i], defaults, usual, sizeof usual);
        if (strcmp(text, usual) != 0) json_object_set_new(*options, run->law->options[i].name, carom_json_text(text));
    }
    free(defaults);
    return CAROM_OK;
}

static json_t *tape_json(const carom_tape *tape) {
    json_t *numbers = json_array();
    for (int64_t k = 0; k < tape->count; k++) {
        const carom_tape_number *number = &tape->numbers[k];
        json_array_append_new(numbers, json_pack("[i, i, f]", (int)number->piece, (int)number->what, number->value));
    }
    return numbers;
}

static carom_status put_document(FILE *file, const void *content, carom_error *error) {
    return carom_json_write(file, (json_t *)(uintptr_t)content, error);
}

carom_status witness_write(const char *path, const worst_run *run, carom_error *error) {
    const carom_impact *impact = carom_scene_impact(run->scene);
    char digest[CAROM_DIGEST_TEXT_SIZE];
    json_t *options = NULL;
    carom_status status = witness_digest(run->scene, digest, error);
    if (!status) status = options_json(run, &options, error);
    if (status) {
        json_decref(options);
        return status;
    }
    json_t *witnesses = json_array();
    for (int i = 0; i < run->count; i++) {
        const worst_question *q = &run->questions[i];
        if (!q->witness.rows) continue;
        json_t *one = json_pack("{s:o, s:s, s:f}", "expression", carom_json_text(q->asked.expression), "sense",
                                q->asked.minimum ? "min" : "max", "value", worst_signed(q, q->found.value));
        json_object_set_new(one, "v_plus", carom_json_reals(q->witness.v, carom_impact_get_data(impact)->nv));
        json_object_set_new(one, "parameters", witness_parameters_json(run->options.uncertainty, &q->witness));
        json_object_set_new(one, "tape", tape_json(&q->found.tape));
        json_object_set_new(one, "member", json_integer(q->found.member));
        json_object_set_new(one, "word", witness_word_json(impact, &q->witness));
        json_object_set_new(one, "path", witness_path_json(impact, &q->witness));
        json_array_append_new(witnesses, one);
    }
    json_t *document = json_pack("{s:s, s:s, s:o, s:s, s:I, s:s, s:o, s:o}", "schema", schema, "version", CAROM_VERSION, "scene",
                                 carom_json_text(carom_scene_path(run->scene)), "digest", digest, "seed", (json_int_t)run->options.seed,
                                 "law", run->law->name, "options", options, "witnesses", witnesses);
    status = document ? carom_text_write(path, &witness_kind, put_document, document, error) : carom_fail_memory(error, path);
    json_decref(document);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- reading

// A list of so many numbers.
static bool read_numbers(const json_t *list, size_t count, double *numbers) {
    bool good = json_array_size(list) == count;
    for (size_t k = 0; k < count && good; k++) {
        good = json_is_number(json_array_get(list, k));
        numbers[k] = json_number_value(json_array_get(list, k));
    }
    return good;
}

carom_status witness_read(const char *path, const carom_registry *registry, witness_file *file, carom_error *error) {
    *file = (witness_file){0};
    const carom_status read = cli_read_json(path, &file->document, error);
    if (read) return read;
    const json_t *document = file->document;
    const char *found = json_string_value(json_object_get(document, "schema"));
    if (!found || strcmp(found, schema) != 0)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: schema: is not %s: this is no file of `carom worst -o`", path, schema);
    file->scene = json_string_value(json_object_get(document, "scene"));
    file->digest = json_string_value(json_object_get(document, "digest"));
    if (!file->scene || !file->digest)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: %s: is not a text", path, file->scene ? "digest" : "scene");
    file->count = (int)json_array_size(json_object_get(document, "witnesses"));
    if (!file->count) return carom_fail(error, CAROM_BAD_INPUT, "%s: witnesses: there is none", path);
    // The law, and how it was asked.
    const char *law = json_string_value(json_object_get(document, "law"));
    file->law = law ? carom_law_find(registry, law) : NULL;
    if (!file->law) return carom_fail(error, CAROM_BAD_INPUT, "%s: law: is not one that this program has", path);
    file->law_options = malloc(file->law->options_size);
    if (!file->law_options) return carom_fail_memory(error, path);
    file->law->defaults(file->law_options);
    json_t *options = json_object_get(document, "options"), *value;
    if (!json_is_object(options)) return carom_fail(error, CAROM_BAD_INPUT, "%s: options: is not a list of options and their texts", path);
    const char *name;
    json_object_foreach(options, name, value) {
        carom_error inner;
        if (!json_is_string(value)) return carom_fail(error, CAROM_BAD_INPUT, "%s: options: %.60s is not a text", path, name);
        if (carom_law_set(file->law, file->law_options, name, json_string_value(value), &inner))
            return carom_fail(error, CAROM_BAD_INPUT, "%s: options: %s", path, inner.message);
    }
    // For the reader; what is played again needs none of it.
    if (!json_is_string(json_object_get(document, "version")) || !json_is_integer(json_object_get(document, "seed")))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: version or seed is not what `carom worst` writes", path);
    return CAROM_OK;
}

void witness_release(witness_file *file) {
    json_decref(file->document);
    free(file->law_options);
}

carom_status witness_entry_read(const char *path, const witness_file *file, int index, const carom_scene *scene, witness_entry *entry,
                                carom_error *error) {
    *entry = (witness_entry){0};
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    const carom_uncertainty *uncertainty = carom_scene_uncertainty(scene);
    const json_t *one = json_array_get(json_object_get(file->document, "witnesses"), (size_t)index);
    const json_t *tape = json_object_get(one, "tape"), *value = json_object_get(one, "value");
    const char *sense = json_string_value(json_object_get(one, "sense"));
    entry->expression = json_string_value(json_object_get(one, "expression"));
    if (!entry->expression || !sense || (strcmp(sense, "max") != 0 && strcmp(sense, "min") != 0) || !json_is_number(value))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: witnesses[%d]: expression, sense or value is missing", path, index);
    entry->minimum = !strcmp(sense, "min");
    entry->value = json_number_value(value);
    entry->path = json_object_get(one, "path");
    entry->parameters = json_object_get(one, "parameters");
    if (!json_is_array(entry->path) || !entry->parameters)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: witnesses[%d]: path or parameters is missing", path, index);
    const json_t *member = json_object_get(one, "member");
    entry->member = json_integer_value(member);
    if (!json_is_integer(member) || entry->member < 0)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: witnesses[%d].member: is not a whole number from 0", path, index);
    entry->v = malloc((size_t)data->nv * sizeof *entry->v);
    if (!entry->v) return carom_fail_memory(error, path);
    if (!read_numbers(json_object_get(one, "v_plus"), (size_t)data->nv, entry->v))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "%s: witnesses[%d].v_plus: is not a list of numbers, one for each of the scene's %d velocities", path, index,
                          data->nv);
    if (!json_is_array(tape)) return carom_fail(error, CAROM_BAD_INPUT, "%s: witnesses[%d].tape: is not a list", path, index);
    // First the point of what is uncertain, then piece by piece the decisions of the contacts.
    const json_int_t dimension = uncertainty ? carom_uncertainty_dimension(uncertainty) : 0;
    const json_int_t decisions = (json_int_t)CAROM_TAPE_DECISIONS * data->contacts;
    json_int_t piece = CAROM_TAPE_POINT;
    for (size_t k = 0; k < json_array_size(tape); k++) {
        const json_t *number = json_array_get(tape, k), *at = json_array_get(number, 0), *what = json_array_get(number, 1);
        const json_int_t place = json_integer_value(at), decision = json_integer_value(what);
        const double taken = json_number_value(json_array_get(number, 2));
        if (json_array_size(number) != 3 || !json_is_integer(at) || !json_is_integer(what) || place < piece ||
            place > MOST_CONTACT_PIECES || decision < 0 || decision >= (place == CAROM_TAPE_POINT ? dimension : decisions) ||
            !(taken > 0 && taken < 1))
            return carom_fail(error, CAROM_BAD_INPUT,
                              "%s: witnesses[%d].tape[%zu]: is not a piece, in order, a decision, and a number between 0 and 1", path,
                              index, k);
        piece = place;
        carom_tape_add(&entry->tape, (carom_tape_number){(int32_t)place, (int32_t)decision, taken});
    }
    return entry->tape.failed ? carom_fail_memory(error, path) : CAROM_OK;
}

void witness_entry_release(witness_entry *entry) {
    free(entry->v);
    carom_tape_release(&entry->tape);
}
