// SPDX-License-Identifier: Apache-2.0
#include "io/fields.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/number.h"

/// What every reader of one map needs.
typedef struct field_reader {
    carom_document *document;
    carom_length *lengths;
    carom_error *error;
} field_reader;

// -------------------------------------------------------------------------------------------------------- suggestions

enum { LONGEST_SUGGESTION = 32 };

/// Levenshtein's distance; far apart when a name is too long to be a key.
static int edit_distance(const char *left, const char *right) {
    const size_t rows = strlen(left), columns = strlen(right);
    if (rows > LONGEST_SUGGESTION || columns > LONGEST_SUGGESTION) return INT_MAX;
    int previous[LONGEST_SUGGESTION + 1], current[LONGEST_SUGGESTION + 1];
    for (size_t j = 0; j <= columns; j++) previous[j] = (int)j;
    for (size_t i = 1; i <= rows; i++) {
        current[0] = (int)i;
        for (size_t j = 1; j <= columns; j++) {
            const int change = previous[j - 1] + (left[i - 1] != right[j - 1]);
            const int gap = 1 + (previous[j] < current[j - 1] ? previous[j] : current[j - 1]);
            current[j] = change < gap ? change : gap;
        }
        memcpy(previous, current, sizeof previous);
    }
    return previous[columns];
}

void carom_suggestion_offer(carom_suggestion *suggestion, const char *name) {
    // two slips in a word of four letters make another word
    const int distance = edit_distance(suggestion->wanted, name), tolerated = strlen(name) > 4 ? 2 : 1;
    if (distance > tolerated || (suggestion->best && distance >= suggestion->distance)) return;
    suggestion->best = name;
    suggestion->distance = distance;
}

carom_status carom_suggestion_refuse(const carom_suggestion *suggestion, const carom_document *document, const carom_node *node,
                                     carom_error *error) {
    if (!suggestion->best) return carom_document_refuse(document, node, error, "unknown key");
    return carom_document_refuse(document, node, error, "unknown key; did you mean '%s'?", suggestion->best);
}

// -------------------------------------------------------------------------------------------------------------- scalars

static bool is_null(const carom_node *node) {
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    if (node->kind != CAROM_NODE_SCALAR || node->quoted) return false;
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        if (strcmp(node->text, nulls[i]) == 0) return true;
    return false;
}

static carom_status expect(const carom_document *document, const carom_node *node, carom_node_kind kind, const char *what,
                           carom_error *error) {
    static const char *const names[] = {[CAROM_NODE_SCALAR] = "a single value", [CAROM_NODE_LIST] = "a list", [CAROM_NODE_MAP] = "a map"};
    if (node->kind == kind && !is_null(node)) return CAROM_OK;
    return carom_document_refuse(document, node, error, "must be %s, not %s", what, is_null(node) ? "empty" : names[node->kind]);
}

size_t carom_text_span(const char *text) {
    // those of ASCII, and U+0080 to U+009f, which are c2 80 to c2 9f
    const unsigned char *byte = (const unsigned char *)text;
    while (*byte >= 0x20 && *byte != 0x7f && !(*byte == 0xc2 && byte[1] < 0xa0)) byte++;
    return (size_t)(byte - (const unsigned char *)text);
}

carom_status carom_text_check(const carom_document *document, const carom_node *node, carom_error *error) {
    const carom_status status = expect(document, node, CAROM_NODE_SCALAR, "text", error);
    if (status) return status;
    if (!*node->text) return carom_document_refuse(document, node, error, "must not be empty");
    if (node->text[carom_text_span(node->text)]) return carom_document_refuse(document, node, error, "must not contain control characters");
    return CAROM_OK;
}

static carom_status read_number(const field_reader *reader, const carom_field *field, const carom_node *node, double *value) {
    const carom_status status = expect(reader->document, node, CAROM_NODE_SCALAR, "a number", reader->error);
    if (status) return status;
    if (!carom_number_read(node->text, value))
        return carom_document_refuse(reader->document, node, reader->error, "'%.60s' is not a finite number (decimal or \"p/q\")",
                                     node->text);
    if (field->least == field->most || (*value >= field->least && *value <= field->most)) return CAROM_OK;
    if (field->least == CAROM_POSITIVE && isinf(field->most))
        return carom_document_refuse(reader->document, node, reader->error, "%.60s is not greater than 0", node->text);
    if (isinf(field->most))
        return carom_document_refuse(reader->document, node, reader->error, "%.60s is below the least value %g", node->text, field->least);
    return carom_document_refuse(reader->document, node, reader->error, "%.60s is not between %g and %g", node->text, field->least,
                                 field->most);
}

// --------------------------------------------------------------------------------------------------------------- lists

/// Checks that `node` is a list whose entries are as many as the length says, or sets the length.
static carom_status take_length(const field_reader *reader, const carom_node *node, int index, const char *key, const char *entry) {
    const carom_status status = expect(reader->document, node, CAROM_NODE_LIST, "a list", reader->error);
    if (status) return status;
    carom_length *length = &reader->lengths[index];
    const char *plural = node->count == 1 ? "" : "s";
    if (length->value > 0 && node->count != length->value) {
        const char *origin = length->origin;
        return carom_document_refuse(reader->document, node, reader->error, "has %d %s%s, must have %d%s%s%s", node->count, entry, plural,
                                     length->value, origin ? " to fit '" : "", origin ? origin : "", origin ? "'" : "");
    }
    if (node->count < length->least || node->count > length->most)
        return carom_document_refuse(reader->document, node, reader->error, "has %d %s%s, must have %d to %d", node->count, entry, plural,
                                     length->least, length->most);
    if (length->value == 0) {
        length->value = node->count;
        length->origin = key;
    }
    return CAROM_OK;
}

/// Zeroed memory for `count` values, or an error that names the node.
static carom_status allocate(const field_reader *reader, size_t count, size_t size, void **memory) {
    *memory = carom_document_allocate(reader->document, count * size);
    return *memory ? CAROM_OK : carom_fail_memory(reader->error, carom_document_path(reader->document));
}

static carom_status read_texts(const field_reader *reader, const carom_field *field, const carom_node *node, const char ***texts) {
    carom_status status = take_length(reader, node, field->rows, field->key, "item");
    void *memory = NULL;
    if (!status) status = allocate(reader, (size_t)node->count, sizeof **texts, &memory);
    const char **next = memory;
    for (const carom_node *entry = node->first; !status && entry; entry = entry->next) {
        status = carom_text_check(reader->document, entry, reader->error);
        *next++ = entry->text;
    }
    *texts = memory;
    return status;
}

static carom_status read_row(const field_reader *reader, const carom_field *field, const carom_node *row, double *values) {
    carom_status status = CAROM_OK;
    for (const carom_node *entry = row->first; !status && entry; entry = entry->next) status = read_number(reader, field, entry, values++);
    return status;
}

static carom_status read_vector(const field_reader *reader, const carom_field *field, const carom_node *node, const double **vector) {
    carom_status status = take_length(reader, node, field->rows, field->key, "number");
    void *memory = NULL;
    if (!status) status = allocate(reader, (size_t)node->count, sizeof **vector, &memory);
    if (!status) status = read_row(reader, field, node, memory);
    *vector = memory;
    return status;
}

static carom_status read_matrix(const field_reader *reader, const carom_field *field, const carom_node *node, const double **matrix) {
    // all shapes first: a ragged matrix must not cost the memory of a full one
    carom_status status = take_length(reader, node, field->rows, field->key, "row");
    for (const carom_node *row = node->first; !status && row; row = row->next)
        status = take_length(reader, row, field->columns, field->key, "number");
    if (status) return status;

    const size_t columns = (size_t)reader->lengths[field->columns].value;
    void *memory = NULL;
    status = allocate(reader, (size_t)node->count * columns, sizeof **matrix, &memory);
    double *values = memory;
    for (const carom_node *row = node->first; !status && row; row = row->next, values += columns)
        status = read_row(reader, field, row, values);
    *matrix = memory;
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- maps

static carom_status read_field(const field_reader *reader, const carom_field *field, const carom_node *node, void *value) {
    carom_status status = CAROM_OK;
    switch (field->type) {
    case CAROM_FIELD_MAP:
        status = expect(reader->document, node, CAROM_NODE_MAP, "a map", reader->error);
        *(const carom_node **)value = node;
        return status;
    case CAROM_FIELD_LIST:
        status = take_length(reader, node, field->rows, field->key, "item");
        *(const carom_node **)value = node;
        return status;
    case CAROM_FIELD_NODE: *(const carom_node **)value = node; return CAROM_OK;
    case CAROM_FIELD_TEXT: *(const char **)value = node->text; return carom_text_check(reader->document, node, reader->error);
    case CAROM_FIELD_TEXTS: return read_texts(reader, field, node, value);
    case CAROM_FIELD_NUMBER: return read_number(reader, field, node, value);
    case CAROM_FIELD_VECTOR: return read_vector(reader, field, node, value);
    case CAROM_FIELD_MATRIX: return read_matrix(reader, field, node, value);
    case CAROM_FIELD_REFUSED: return carom_document_refuse(reader->document, node, reader->error, "%s", field->doc);
    }
    return carom_fail(reader->error, CAROM_INTERNAL, "%s: a field row of unknown type", field->key);
}

static carom_status refuse_unknown(const field_reader *reader, const carom_node *map, const carom_field *fields, int count) {
    for (const carom_node *entry = map->first; entry; entry = entry->next) {
        bool known = false;
        carom_suggestion suggestion = {.wanted = entry->key};
        for (int i = 0; i < count && !known; i++) {
            known = strcmp(fields[i].key, entry->key) == 0;
            if (fields[i].type != CAROM_FIELD_REFUSED) carom_suggestion_offer(&suggestion, fields[i].key);
        }
        if (!known) return carom_suggestion_refuse(&suggestion, reader->document, entry, reader->error);
    }
    return CAROM_OK;
}

carom_status carom_fields_read(carom_document *document, const carom_node *map, const carom_field *fields, int count, carom_length *lengths,
                               void *values, carom_error *error) {
    const field_reader reader = {document, lengths, error};
    carom_status status = expect(document, map, CAROM_NODE_MAP, "a map", error);
    if (!status) status = refuse_unknown(&reader, map, fields, count);
    for (int i = 0; !status && i < count; i++) {
        const carom_node *node = carom_node_find(map, fields[i].key);
        if (node)
            status = read_field(&reader, &fields[i], node, (char *)values + fields[i].offset);
        else if (fields[i].required)
            status = carom_document_refuse(document, map, error, "the key '%s' is missing", fields[i].key);
    }
    return status;
}
