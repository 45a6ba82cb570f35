// SPDX-License-Identifier: Apache-2.0
/// @file
/// JSON from tables and arrays, on jansson. Numbers that are not finite become null, text is made valid UTF-8.
/// Functions that return a value return a new reference, or NULL when out of memory; shared with the command, not installed.
#ifndef CAROM_JSON_H
#define CAROM_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "carom/base.h"

CAROM_API_BEGIN

/// A number, null when it is not finite.
json_t *carom_json_real(double value);
/// A list; null when *all* values are NaN, which stands for "not determined".
json_t *carom_json_reals(const double *values, int count);
/// A list of rows. Entries that are not finite are null one by one.
json_t *carom_json_matrix(const double *values, int rows, int columns);
/// Text; bytes that are not valid UTF-8 become U+FFFD. NULL gives null.
json_t *carom_json_text(const char *text);

/// One row of a table: an object with a field for each column, in their order. A column that is declared one wide gives a number, others
/// lists, square ones lists of rows; flags give the names of the bits that are set, contacts a list of names or null, a series a list of
/// lists of `width`.
/// @param contact_names  [contacts]; NULL where the table has no columns of contacts
json_t *carom_json_row(const carom_table *table, int64_t row, const char *const *contact_names);

/// Writes one document with 17 significant digits and a newline at its end. `document` is borrowed; NULL is reported as lack of memory.
carom_status carom_json_write(FILE *file, json_t *document, carom_error *error);

/// A matrix that may be too large to be made of values of jansson, which take five times its memory: it is written row by row.
typedef struct carom_json_large {
    const char *object;  ///< field of the document whose field it is; NULL: it is a field of the document itself
    const char *key;     ///< where the document has null
    const double *values;
    int rows, columns;
} carom_json_large;

/// The same document, with these matrices instead of null, as carom_json_matrix would make them.
carom_status carom_json_write_large(FILE *file, json_t *document, const carom_json_large *matrices, int count, carom_error *error);

CAROM_API_END

#endif
