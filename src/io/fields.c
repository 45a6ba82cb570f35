// SPDX-License-Identifier: Apache-2.0
// The table-driven reader of maps: types, shapes and ranges of their values, and keys that are unknown, missing or misspelt.
#include "io/fields.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/number.h"

carom_status carom_suggestion_refuse(const carom_suggestion *suggestion, const carom_document *document, const carom_node *node,
                                     carom_error *error) {
    char phrase[CAROM_SUGGESTION_SIZE];
    return carom_document_refuse(document, node, error, "unknown key%s", carom_suggestion_phrase(suggestion, phrase));
}

// -------------------------------------------------------------------------------------------------------------- values

// The node must be of this kind, and not empty; `what` is what the rule calls it.
static carom_status expect(const carom_document *document, const carom_node *node, carom_node_kind kind, const char *what,
                           carom_error *error) {
    static const char *const names[] = {[CAROM_NODE_SCALAR] = "a single value", [CAROM_NODE_LIST] = "a list", [CAROM_NODE_MAP] = "a map"};
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    bool empty = false;
    for (size_t i = 0; node->kind == CAROM_NODE_SCALAR && !node->quoted && i < sizeof nulls / sizeof *nulls; i++)
        empty |= strcmp(node->text, nulls[i]) == 0;
    if (node->kind == kind && !empty) return CAROM_OK;
    return carom_document_refuse(document, node, error, "must be %s, not %s", what, empty ? "empty" : names[node->kind]);
}

size_t carom_text_span(const char *text) {
    // Control characters are those of ASCII, and U+0080 to U+009f, which are c2 80 to c2 9f in UTF-8.
    const unsigned char *byte = (const unsigned char *)text;
    while (*byte >= 0x20 && *byte != 0x7f && !(*byte == 0xc2 && byte[1] < 0xa0)) byte++;
    return (size_t)(byte - (const unsigned char *)text);
}

// Text is one line that is not empty.
carom_status carom_text_check(const carom_document *document, const carom_node *node, carom_error *error) {
    const carom_status status = expect(document, node, CAROM_NODE_SCALAR, "text", error);
    if (status) return status;
    if (!*node->text) return carom_document_refuse(document, node, error, "must not be empty");
    if (node->text[carom_text_span(node->text)]) return carom_document_refuse(document, node, error, "must not contain control characters");
    return CAROM_OK;
}

// A finite number within the row's range.
static carom_status read_number(const carom_document *document, const carom_field *field, const carom_node *node, double *value,
                                carom_error *error) {
    const carom_status status = expect(document, node, CAROM_NODE_SCALAR, "a number", error);
    if (status) return status;
    if (!carom_number_read(node->text, value))
        return carom_document_refuse(document, node, error, "'%.60s' is not a finite number (decimal or \"p/q\")", node->text);
    if (field->least == field->most || (*value >= field->least && *value <= field->most)) return CAROM_OK;
    if (field->least == CAROM_POSITIVE && isinf(field->most))
        return carom_document_refuse(document, node, error, "%.60s is not greater than 0", node->text);
    if (isinf(field->most))
        return carom_document_refuse(document, node, error, "%.60s is below the least value %g", node->text, field->least);
    return carom_document_refuse(document, node, error, "%.60s is not between %g and %g", node->text, field->least, field->most);
}

// A list with as many entries as its length says. `length` is an index into the lengths or CAROM_EXACTLY(n); `entry` names one entry.
static carom_status check_length(const carom_document *document, const carom_node *node, carom_length *lengths, int length, const char *key,
                                 const char *entry, carom_error *error) {
    const carom_status status = expect(document, node, CAROM_NODE_LIST, "a list", error);
    if (status) return status;
    carom_length exact = {.value = -length}, *wanted = length < 0 ? &exact : &lengths[length];
    const char *plural = node->count == 1 ? "" : "s", *origin = wanted->origin;
    if (wanted->value > 0 && node->count != wanted->value)
        return carom_document_refuse(document, node, error, "has %d %s%s, must have %d%s%s%s", node->count, entry, plural, wanted->value,
                                     origin ? " to fit '" : "", origin ? origin : "", origin ? "'" : "");
    if (wanted->value == 0 && (node->count < wanted->least || node->count > wanted->most))
        return carom_document_refuse(document, node, error, "has %d %s%s, must have %d to %d", node->count, entry, plural, wanted->least,
                                     wanted->most);
    if (wanted->value == 0) *wanted = (carom_length){wanted->least, wanted->most, node->count, key};
    return CAROM_OK;
}

// Reads one value to where its row says. Arrays are allocated in the document after all shapes are checked: a ragged matrix must not cost
// the memory of a full one.
static carom_status read_value(carom_document *document, const carom_field *field, const carom_node *node, carom_length *lengths,
                               void *value, carom_error *error) {
    carom_status status = CAROM_OK;
    switch (field->type) {
    case CAROM_FIELD_NODE: *(const carom_node **)value = node; return CAROM_OK;
    case CAROM_FIELD_MAP: *(const carom_node **)value = node; return expect(document, node, CAROM_NODE_MAP, "a map", error);
    case CAROM_FIELD_LIST:
        *(const carom_node **)value = node;
        return check_length(document, node, lengths, field->rows, field->key, "item", error);
    case CAROM_FIELD_TEXT: *(const char **)value = node->text; return carom_text_check(document, node, error);
    case CAROM_FIELD_NUMBER: return read_number(document, field, node, value, error);
    case CAROM_FIELD_REFUSED: return carom_document_refuse(document, node, error, "%s", field->doc);
    case CAROM_FIELD_TEXTS: {
        status = check_length(document, node, lengths, field->rows, field->key, "item", error);
        if (status) return status;
        const char **texts = carom_document_allocate(document, (size_t)node->count * sizeof *texts);
        if (!texts) return carom_fail_memory(error, carom_document_path(document));
        *(const char ***)value = texts;
        for (const carom_node *entry = node->first; !status && entry; entry = entry->next) {
            status = carom_text_check(document, entry, error);
            *texts++ = entry->text;
        }
        return status;
    }
    case CAROM_FIELD_VECTOR:
    case CAROM_FIELD_MATRIX: {
        const bool matrix = field->type == CAROM_FIELD_MATRIX;
        status = check_length(document, node, lengths, field->rows, field->key, matrix ? "row" : "number", error);
        for (const carom_node *row = node->first; matrix && !status && row; row = row->next)
            status = check_length(document, row, lengths, field->columns, field->key, "number", error);
        if (status) return status;
        const size_t columns = !matrix ? 1 : (size_t)(field->columns < 0 ? -field->columns : lengths[field->columns].value);
        double *numbers = carom_document_allocate(document, (size_t)node->count * columns * sizeof *numbers);
        if (!numbers) return carom_fail_memory(error, carom_document_path(document));
        *(const double **)value = numbers;
        for (const carom_node *entry = node->first; !status && entry; entry = entry->next)
            for (const carom_node *one = matrix ? entry->first : entry; !status && one; one = matrix ? one->next : NULL)
                status = read_number(document, field, one, numbers++, error);
        return status;
    }
    }
    return carom_fail(error, CAROM_INTERNAL, "%s: a field row of unknown type", field->key);
}

// ---------------------------------------------------------------------------------------------------------------- maps

// A key that no table has gets the nearest one of all tables as a suggestion.
carom_status carom_fields_check(carom_document *document, const carom_node *map, const carom_field_table *tables, int table_count,
                                carom_error *error) {
    const carom_status status = expect(document, map, CAROM_NODE_MAP, "a map", error);
    if (status) return status;
    for (const carom_node *entry = map->first; entry; entry = entry->next) {
        bool known = false;
        carom_suggestion suggestion = {.wanted = entry->key};
        for (int t = 0; t < table_count && !known; t++)
            for (int i = 0; i < tables[t].count && !known; i++) {
                const carom_field *row = &tables[t].rows[i];
                known = strcmp(row->key, entry->key) == 0;
                if (row->type != CAROM_FIELD_REFUSED) carom_suggestion_offer(&suggestion, row->key);
            }
        if (!known) return carom_suggestion_refuse(&suggestion, document, entry, error);
    }
    return CAROM_OK;
}

// Rows are read in the order of the table, so that the first of them set the lengths that later ones must fit.
carom_status carom_fields_take(carom_document *document, const carom_node *map, const carom_field *fields, int count, carom_length *lengths,
                               void *values, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int i = 0; !status && i < count; i++) {
        const carom_node *node = carom_node_find(map, fields[i].key);
        if (node)
            status = read_value(document, &fields[i], node, lengths, (char *)values + fields[i].offset, error);
        else if (fields[i].required)
            status = carom_document_refuse(document, map, error, "the key '%s' is missing", fields[i].key);
    }
    return status;
}

carom_status carom_fields_read(carom_document *document, const carom_node *map, const carom_field *fields, int count, carom_length *lengths,
                               void *values, carom_error *error) {
    const carom_field_table table = {fields, count};
    const carom_status status = carom_fields_check(document, map, &table, 1, error);
    return status ? status : carom_fields_take(document, map, fields, count, lengths, values, error);
}
