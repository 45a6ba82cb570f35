// SPDX-License-Identifier: Apache-2.0
// JSON values from numbers, texts and tables.
#include "carom/json.h"
#include "carom/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *carom_json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *integer(int64_t value) { return value == CAROM_NO_INTEGER ? json_null() : json_integer(value); }

// Nothing is known of a list that has only NaN; an empty list is known to be empty.
static bool all_nan(const double *values, int count) {
    for (int i = 0; i < count; i++)
        if (!isnan(values[i])) return false;
    return count > 0;
}

// Appends and takes over `item`. A NULL anywhere frees the list, so that callers check once, at the end.
static json_t *append(json_t *list, json_t *item) {
    if (list && !json_array_append_new(list, item)) return list;
    if (!list) json_decref(item);
    json_decref(list);
    return NULL;
}

static json_t *list_of_reals(const double *values, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count && list; i++) list = append(list, carom_json_real(values[i]));
    return list;
}

json_t *carom_json_reals(const double *values, int count) { return all_nan(values, count) ? json_null() : list_of_reals(values, count); }

json_t *carom_json_matrix(const double *values, int rows, int columns) {
    json_t *list = json_array();
    for (int i = 0; i < rows && list; i++) list = append(list, list_of_reals(values + (size_t)i * (size_t)columns, columns));
    return list;
}

// Valid UTF-8, with U+FFFD for stray bytes, because jansson refuses anything else.
json_t *carom_json_text(const char *text) {
    if (!text) return json_null();
    char *repaired = carom_utf8_repair(text);
    json_t *value = repaired ? json_string(repaired) : NULL;
    free(repaired);
    return value;
}

// A record: its fields by name. Names that begin with = are texts that numbers of the field before them stand for.
static json_t *record(const char *const *names, const double *values) {
    json_t *object = json_object();
    for (; *names && object; values++) {
        const char *const *texts = names + 1, *const *next = texts;
        while (*next && **next == '=') next++;
        const bool named = next > texts && *values >= 0 && *values < (double)(next - texts);
        json_t *value = named ? carom_json_text(texts[(size_t)*values] + 1) : next > texts ? json_null() : carom_json_real(*values);
        if (json_object_set_new(object, *names, value)) {
            json_decref(object);
            object = NULL;
        }
        names = next;
    }
    return object;
}

// The value of one cell by the type of its column. A column that is declared one wide gives a value, others lists.
static json_t *cell(const carom_table *table, int index, int64_t row, const char *const *contact_names) {
    const carom_column *column = carom_table_column(table, index);
    const int width = carom_column_width(column, carom_table_sizes(table));
    const size_t start = (size_t)row * (size_t)width;
    int count;
    switch (column->type) {
    case CAROM_COLUMN_REAL: {
        const double *values = carom_table_real_column(table, index) + start;
        return column->width == 1 ? carom_json_real(*values) : carom_json_reals(values, width);
    }
    case CAROM_COLUMN_SQUARE: {
        const double *values = carom_table_real_column(table, index) + start;
        // The side of the square: its width is 4, 9, 16, ...
        int size = 1;
        while (size * size < width) size++;
        return all_nan(values, width) ? json_null() : carom_json_matrix(values, size, size);
    }
    case CAROM_COLUMN_INTEGER: {
        const int64_t *values = carom_table_integer_column(table, index) + start;
        if (column->width == 1) return integer(*values);
        json_t *list = json_array();
        for (int i = 0; i < width && list; i++) list = append(list, integer(values[i]));
        return list;
    }
    case CAROM_COLUMN_BOOLEAN: return json_boolean(carom_table_integer_column(table, index)[start]);
    case CAROM_COLUMN_FLAGS: {
        const int64_t bits = carom_table_integer_column(table, index)[start];
        // The names of the bits that are set.
        json_t *list = json_array();
        for (int bit = 0; list && column->flags[bit]; bit++)
            if (bits >> bit & 1) list = append(list, carom_json_text(column->flags[bit]));
        return list;
    }
    case CAROM_COLUMN_CHOICE: return carom_json_text(column->flags[carom_table_integer_column(table, index)[start]]);
    case CAROM_COLUMN_TEXT: return carom_json_text(carom_table_text(table, index, row));
    case CAROM_COLUMN_CONTACTS: {
        const int *contacts = carom_table_list(table, index, row, &count);
        // No list is not the same as an empty one.
        if (!contacts) return json_null();
        json_t *list = json_array();
        for (int i = 0; i < count && list; i++) list = append(list, carom_json_text(contact_names[contacts[i]]));
        return list;
    }
    case CAROM_COLUMN_SERIES: {
        const double *values = carom_table_series(table, index, row, &count);
        if (!column->flags && column->width == 1) return list_of_reals(values, count);
        // Lists of the width of a line, or records where the column names their fields.
        const int lines = width ? count / width : 0;
        if (!column->flags) return carom_json_matrix(values, lines, width);
        json_t *list = json_array();
        for (int i = 0; i < lines && list; i++) list = append(list, record(column->flags, values + i * width));
        return list;
    }
    }
    return json_null();
}

json_t *carom_json_row(const carom_table *table, int64_t row, const char *const *contact_names) {
    // A value that could not be made is NULL, which jansson refuses to set.
    json_t *object = json_object();
    for (int i = 0; i < carom_table_columns(table) && object; i++) {
        if (!json_object_set_new(object, carom_table_column(table, i)->name, cell(table, i, row, contact_names))) continue;
        json_decref(object);
        object = NULL;
    }
    return object;
}

// A value inside a document. 17 digits bring back the same double.
static bool dump(FILE *file, const json_t *value) { return value && !json_dumpf(value, file, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)); }

static bool dump_rows(FILE *file, const carom_json_large *matrix) {
    bool written = fputc('[', file) != EOF;
    for (int i = 0; i < matrix->rows && written; i++) {
        json_t *row = list_of_reals(matrix->values + (size_t)i * (size_t)matrix->columns, matrix->columns);
        written = (i == 0 || fputs(", ", file) != EOF) && dump(file, row);
        json_decref(row);
    }
    return written && fputc(']', file) != EOF;
}

// An object of the document, `name` NULL for the document itself: field by field where it has large matrices.
static bool dump_object(FILE *file, const char *name, json_t *object, const carom_json_large *matrices, int count) {
    const char *key, *separator = "";
    json_t *value;
    bool written = fputc('{', file) != EOF;
    json_object_foreach(object, key, value) {
        const carom_json_large *matrix = NULL;
        bool has_matrix = false;
        for (int i = 0; i < count; i++) {
            const char *owner = matrices[i].object;
            if (!strcmp(owner ? owner : "", name ? name : "") && !strcmp(matrices[i].key, key)) matrix = &matrices[i];
            has_matrix = has_matrix || (!name && owner && !strcmp(owner, key));
        }
        json_t *text = json_string(key);
        written = written && fputs(separator, file) != EOF && dump(file, text) && fputs(": ", file) != EOF;
        json_decref(text);
        if (written)
            written = matrix ? dump_rows(file, matrix) : has_matrix ? dump_object(file, key, value, matrices, count) : dump(file, value);
        separator = ", ";
    }
    return written && fputc('}', file) != EOF;
}

carom_status carom_json_write_large(FILE *file, json_t *document, const carom_json_large *matrices, int count, carom_error *error) {
    if (!document) return carom_fail_memory(error, "JSON document");
    const bool whole = count ? dump_object(file, NULL, document, matrices, count) : dump(file, document);
    if (whole && fputc('\n', file) != EOF && !fflush(file)) return CAROM_OK;
    return carom_fail_system(error, errno, "the JSON document could not be written");
}

carom_status carom_json_write(FILE *file, json_t *document, carom_error *error) {
    return carom_json_write_large(file, document, NULL, 0, error);
}
