// SPDX-License-Identifier: Apache-2.0
/// @file
/// Column tables: rows of named, typed columns; outcome sets and result rows are tables.
#ifndef CAROM_TABLE_H
#define CAROM_TABLE_H

#include "carom/loop.h"

CAROM_API_BEGIN

typedef enum carom_column_type {
    CAROM_COLUMN_REAL,      ///< `width` doubles a row; NaN means "not determined"
    CAROM_COLUMN_SQUARE,    ///< the same, a square matrix by rows: `width` is 4, 9, 16, ...
    CAROM_COLUMN_INTEGER,   ///< `width` int64_t a row; CAROM_NO_INTEGER means "not determined"
    CAROM_COLUMN_BOOLEAN,   ///< one int64_t a row, 0 or 1
    CAROM_COLUMN_FLAGS,     ///< one int64_t a row, a bit for each entry of `flags`
    CAROM_COLUMN_CHOICE,    ///< one int64_t a row, the number of an entry of `flags`
    CAROM_COLUMN_TEXT,      ///< one text a row
    CAROM_COLUMN_CONTACTS,  ///< one list of contact indices a row, or none
    CAROM_COLUMN_SERIES,    ///< one list of doubles a row, a multiple of `width` long; of records where `flags` names their fields
} carom_column_type;

/// "real", "square", "integer", "boolean", "flags", "choice", "text", "contacts", "series".
const char *carom_column_type_name(carom_column_type type);

#define CAROM_NO_INTEGER INT64_MIN

/// Widths that depend on the problem.
enum {
    CAROM_WIDTH_VELOCITY = -1,
    CAROM_WIDTH_CONTACTS = -2,
    CAROM_WIDTH_TANGENTS = -3,
    CAROM_WIDTH_CONTACT_SPACE = -4,
    CAROM_WIDTH_POSITION = -5,
};

/// One column of a table: JSON fields, HDF5 datasets, tables on the terminal and docs are made from it.
typedef struct carom_column {
    const char *name;
    carom_column_type type;
    int width;         ///< entries a row, or a CAROM_WIDTH constant
    const char *unit;  ///< "" where it has none
    const char *doc;
    /// NULL-terminated: names of the bits of a flags column; of the numbers 0, 1, ... of a choice; of the fields of a series of records,
    /// each followed by "=NAME" for every text that its numbers 0, 1, ... stand for, where they do.
    const char *const *flags;
} carom_column;

/// Initialises `KIND_columns` and `KIND_column_count` of a law or an integrator from an array, KIND being outcome, state, impact or result.
#define CAROM_COLUMN_TABLE(kind, array) .kind##_columns = (array), .kind##_column_count = sizeof(array) / sizeof *(array)

/// What the width constants stand for in one problem.
typedef struct carom_sizes {
    int nv, contacts,
        tangents;   ///< velocities; contacts; tangential components (contacts x tangent_dim). Contact space: contacts + tangents
    int positions;  ///< coordinates, more than velocities where some are quaternions
} carom_sizes;

int carom_column_width(const carom_column *column, const carom_sizes *sizes);

/// Rows of named, typed columns. An outcome set is one, and so are the results that a law reports once.
typedef struct carom_table carom_table;

/// An empty table over `first_count` columns followed by `second_count` more (either may be 0). The rows of columns are borrowed.
carom_status carom_table_create(const carom_column *first, int first_count, const carom_column *second, int second_count,
                                const carom_sizes *sizes, carom_table **table, carom_error *error);
/// An empty table with the same columns, which are borrowed as those of the other.
carom_status carom_table_create_like(const carom_table *other, carom_table **table, carom_error *error);
void carom_table_free(carom_table *table);
/// Removes all rows and keeps the memory.
void carom_table_clear(carom_table *table);
int64_t carom_table_rows(const carom_table *table);
int carom_table_columns(const carom_table *table);
const carom_column *carom_table_column(const carom_table *table, int column);
const carom_sizes *carom_table_sizes(const carom_table *table);
/// Index of the column called `name`, -1 if there is none.
int carom_table_find(const carom_table *table, const char *name);

/// Adds one row: NaN, 0, false, "" and "no list". Cells are then filled by the setters, which address the last row.
carom_status carom_table_add_row(carom_table *table, carom_error *error);
/// Adds `count` rows; setters address the last of them.
carom_status carom_table_add_rows(carom_table *table, int64_t count, carom_error *error);
/// Appends all rows of a table with the same columns.
carom_status carom_table_append(carom_table *table, const carom_table *rows, carom_error *error);

/// Appends `count` rows of such a table from `first` on.
carom_status carom_table_append_rows(carom_table *table, const carom_table *rows, int64_t first, int64_t count, carom_error *error);
/// The same of a table that has the first columns of this one; the others are then "not determined".
carom_status carom_table_append_narrow(carom_table *table, const carom_table *rows, int64_t first, int64_t count, carom_error *error);

/// Writes all rows after what `into` holds.
carom_status carom_table_pack(const carom_table *table, carom_bytes *into, carom_error *error);
/// Replaces the rows of a table with the same columns by those that such a message holds. Nothing in it is trusted: neither counts nor ends
/// of texts nor contacts. After a failure the table is empty.
/// @return CAROM_INTERNAL for a message that is cut short or damaged
carom_status carom_table_unpack(carom_table *table, carom_bytes *from, carom_error *error);

/// Cells of the last row, `width` of them, to be written. Only for real and square columns.
double *carom_table_reals(carom_table *table, int column);
/// Cells of the last row. For integer, boolean and flags columns.
int64_t *carom_table_integers(carom_table *table, int column);
carom_status carom_table_set_text(carom_table *table, int column, const char *text, carom_error *error);
carom_status carom_table_set_list(carom_table *table, int column, const int *contacts, int count, carom_error *error);

/// A series of `count` doubles for the last row.
carom_status carom_table_set_series(carom_table *table, int column, const double *values, int count, carom_error *error);
/// Series of `count` doubles each for the last `rows` rows, which have none yet.
/// @param values  [rows x count]
carom_status carom_table_set_series_rows(carom_table *table, int column, int64_t rows, const double *values, int count, carom_error *error);

/// The whole column, rows x width. For real and square columns, and for integer, boolean and flags columns, respectively.
const double *carom_table_real_column(const carom_table *table, int column);
const int64_t *carom_table_integer_column(const carom_table *table, int column);
const char *carom_table_text(const carom_table *table, int column, int64_t row);
/// The list in a cell; NULL with `*count` -1 where there is none.
const int *carom_table_list(const carom_table *table, int column, int64_t row, int *count);

/// The series in a cell, `*count` doubles.
const double *carom_table_series(const carom_table *table, int column, int64_t row, int *count);

/// Receives blocks of rows in order. The table in memory and the result file are sinks.
typedef struct carom_sink {
    void *user;
    carom_status (*receive)(void *user, const carom_table *rows, carom_error *error);
} carom_sink;

/// A sink that appends to `table`.
carom_sink carom_table_sink(carom_table *table);

CAROM_API_END

#endif
