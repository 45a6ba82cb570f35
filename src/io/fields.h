// SPDX-License-Identifier: Apache-2.0
/// @file
/// The table-driven reader: a table says which keys a map may have, their types, shapes and ranges, and where their values go.
#ifndef CAROM_IO_FIELDS_H
#define CAROM_IO_FIELDS_H

#include "carom/suggest.h"
#include "io/document.h"

typedef enum carom_field_type {
    CAROM_FIELD_NODE,     ///< const carom_node *: of any form, read by the caller
    CAROM_FIELD_MAP,      ///< const carom_node *: a map
    CAROM_FIELD_LIST,     ///< const carom_node *: a list of `rows` entries of any form
    CAROM_FIELD_TEXT,     ///< const char *: valid UTF-8 without control characters, not empty
    CAROM_FIELD_TEXTS,    ///< const char **: a list of `rows` texts
    CAROM_FIELD_NUMBER,   ///< double
    CAROM_FIELD_VECTOR,   ///< const double *: a list of `rows` numbers
    CAROM_FIELD_MATRIX,   ///< const double *: a list of `rows` lists of `columns` numbers, row-major
    CAROM_FIELD_REFUSED,  ///< a key that has a meaning elsewhere; `doc` says why it is refused
} carom_field_type;

/// A length that several fields share. The first field that is read with it sets it; the others must agree.
typedef struct carom_length {
    int least, most;
    int value;           ///< 0 until it is known
    const char *origin;  ///< key of the field that set it
} carom_length;

/// A length that is the same in every file, in place of an index into the lengths.
#define CAROM_EXACTLY(n) (-(n))

/// One key. Values belong to the document; a key that is left out leaves its value alone.
typedef struct carom_field {
    const char *key;
    carom_field_type type;
    bool required;
    size_t offset;       ///< of the value in the caller's struct
    int rows, columns;   ///< indices into the caller's lengths, or CAROM_EXACTLY(n)
    double least, most;  ///< closed range of every number; both 0: any finite number
    const char *doc;     ///< what is wrong with a refused key
} carom_field;

/// The keys that a map may have.
typedef struct carom_field_table {
    const carom_field *rows;
    int count;
} carom_field_table;

/// An array of rows as a table, and as two arguments.
#define CAROM_FIELD_ROWS(array) (array), (int)(sizeof(array) / sizeof *(array))
#define CAROM_FIELD_TABLE(array)                                                                                                           \
    { CAROM_FIELD_ROWS(array) }

/// Reads `map` by `count` rows into `values`. Every key of the map must be among the rows.
/// @param lengths  what the rows' indices refer to; NULL where all lengths are exact
/// @return CAROM_BAD_INPUT with file, line, key and rule
carom_status carom_fields_read(carom_document *document, const carom_node *map, const carom_field *fields, int count, carom_length *lengths,
                               void *values, carom_error *error);

/// The same in two halves, for a map whose keys several tables describe: every key must be in one of them ...
carom_status carom_fields_check(carom_document *document, const carom_node *map, const carom_field_table *tables, int table_count,
                                carom_error *error);
/// ... and each table takes its own.
carom_status carom_fields_take(carom_document *document, const carom_node *map, const carom_field *fields, int count, carom_length *lengths,
                               void *values, carom_error *error);

/// CAROM_BAD_INPUT: the key of `node` is unknown.
carom_status carom_suggestion_refuse(const carom_suggestion *suggestion, const carom_document *document, const carom_node *node,
                                     carom_error *error);

/// Bytes in front of the first control character, or of the end.
size_t carom_text_span(const char *text);
/// Checks the rules of CAROM_FIELD_TEXT.
carom_status carom_text_check(const carom_document *document, const carom_node *node, carom_error *error);

#endif
