// SPDX-License-Identifier: Apache-2.0
// Files of states from which a motion goes on: one JSON document, with a field for each column of the saved state.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "carom/temporary.h"
#include "cli/simulate/simulate.h"

static const char schema[] = "carom.state/1";
static const carom_file_kind state_kind = {"a state of `carom simulate --save-state`", "{\"schema\": \"carom.state/1\"", false, ".json"};

static carom_status put_document(FILE *file, const void *content, carom_error *error) {
    return carom_json_write(file, (json_t *)(uintptr_t)content, error);
}

carom_status cli_check_state(const char *path, carom_error *error) { return carom_temporary_check(path, &state_kind, error); }

carom_status cli_write_state(const char *path, const cli_motion *motion, carom_error *error) {
    const carom_table *saved = motion->answer.saved;
    json_t *document = json_pack("{s:s, s:s, s:s, s:o}", "schema", schema, "version", CAROM_VERSION, "integrator",
                                 motion->request.integrator->name, "scene", carom_json_text(carom_scene_path(motion->scene)));
    json_t *row = carom_json_row(saved, 0, NULL);
    if (document && (!row || json_object_update_new(document, row))) {
        json_decref(document);
        document = NULL;
    }
    const carom_status status =
        document ? carom_text_write(path, &state_kind, put_document, document, error) : carom_fail_memory(error, path);
    json_decref(document);
    return status;
}

// Appends the numbers of a value, of a list, or of lists in a list; false where something else is in it. `numbers` may be NULL: they are
// counted.
static bool list_numbers(const json_t *value, double *numbers, int *count) {
    bool good = json_is_array(value) || json_is_number(value);
    for (size_t i = 0; good && i < json_array_size(value); i++) good = list_numbers(json_array_get(value, i), numbers, count);
    if (!good || json_is_array(value)) return good;
    if (numbers) numbers[*count] = json_number_value(value);
    ++*count;
    return true;
}

// The cells of one column.
static carom_status read_cells(const json_t *document, const char *path, carom_table *saved, int index, carom_error *error) {
    const carom_column *column = carom_table_column(saved, index);
    const json_t *value = json_object_get(document, column->name);
    const bool series = column->type == CAROM_COLUMN_SERIES;
    const int width = carom_column_width(column, carom_table_sizes(saved));
    int count = 0, filled = 0;
    if (!list_numbers(value, NULL, &count) || (series ? count % width : count != width))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: %s: has not %s%d number%s, as for this model", path, column->name,
                          series ? "lines of " : "", width, width == 1 ? "" : "s");
    double *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
    if (!numbers) return carom_fail_memory(error, path);
    list_numbers(value, numbers, &filled);
    carom_status status = series ? carom_table_set_series(saved, index, numbers, count, error) : CAROM_OK;
    for (int k = 0; k < count && !status && !series; k++)
        if (column->type == CAROM_COLUMN_REAL)
            carom_table_reals(saved, index)[k] = numbers[k];
        else if (fabs(numbers[k]) <= CAROM_MOST_SEED && numbers[k] == floor(numbers[k]))
            carom_table_integers(saved, index)[k] = (int64_t)numbers[k];
        else
            status = carom_fail(error, CAROM_BAD_INPUT, "%s: %s: %g is not a whole number", path, column->name, numbers[k]);
    free(numbers);
    return status;
}

carom_status cli_read_state(const char *path, const carom_motion_request *request, carom_table **saved, carom_error *error) {
    *saved = NULL;
    json_t *document;
    carom_status status = cli_read_json(path, &document, error);
    if (status) return status;
    const char *found = json_string_value(json_object_get(document, "schema"));
    const char *integrator = json_string_value(json_object_get(document, "integrator"));
    if (!found || strcmp(found, schema) != 0)
        status =
            carom_fail(error, CAROM_BAD_INPUT, "%s: schema: is not %s: this is no file of `carom simulate --save-state`", path, schema);
    else if (!integrator || strcmp(integrator, request->integrator->name) != 0)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: integrator: is not %s", path, request->integrator->name);
    if (!status) status = carom_motion_create_saved(request->integrator, request->motion, saved, error);
    if (!status) status = carom_table_add_row(*saved, error);
    for (int i = 0; !status && i < carom_table_columns(*saved); i++) status = read_cells(document, path, *saved, i, error);
    json_decref(document);
    return status;
}
