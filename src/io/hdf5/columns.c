// SPDX-License-Identifier: Apache-2.0
// Tables as HDF5 datasets that grow by blocks of rows.
#include "io/hdf5/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BYTES = 512 << 10,  // of a dataset that grows; HDF5 keeps chunks of up to 1 MiB in memory
    NAME_SIZE = 256,
};

// Where one column goes: lists and series have a second dataset that says where each row starts.
typedef struct column_files {
    hid_t data, offsets;
    int64_t lines;  // written to `data`
} column_files;

// One for each column of the table, in its order.
struct carom_result_columns {
    int count;
    column_files files[];
};

static const column_files CLOSED = {-1, -1, 0};

static bool is_list(const carom_column *column) { return column->type == CAROM_COLUMN_CONTACTS || column->type == CAROM_COLUMN_SERIES; }

// Columns that are declared one wide have one dimension, all others two, even where there is only one contact.
static bool is_wide(const carom_column *column) {
    const bool numbers = column->type == CAROM_COLUMN_REAL || column->type == CAROM_COLUMN_SQUARE || column->type == CAROM_COLUMN_INTEGER ||
                         column->type == CAROM_COLUMN_SERIES;
    return numbers && column->width != 1;
}

static hsize_t line_width(const carom_table *rows, const carom_column *column) {
    return is_wide(column) ? (hsize_t)carom_column_width(column, carom_table_sizes(rows)) : 0;
}

// These become attributes in result rows.
bool carom_result_column_is_scalar(const carom_column *column) { return !is_list(column) && !is_wide(column); }

// The list or series in a cell, in lines of the dataset; a list that is absent is stored as the single entry -1.
static const void *list_lines(const carom_table *rows, int index, int64_t row, int64_t *lines) {
    static const int absent = -1;
    const carom_column *column = carom_table_column(rows, index);
    int count;
    if (column->type == CAROM_COLUMN_SERIES) {
        const double *series = carom_table_series(rows, index, row, &count);
        *lines = count / carom_column_width(column, carom_table_sizes(rows));
        return series;
    }
    const int *list = carom_table_list(rows, index, row, &count);
    *lines = list ? count : 1;
    return list ? list : &absent;
}

// Lines of the dataset that the rows take.
static int64_t count_lines(const carom_table *rows, int index) {
    if (!is_list(carom_table_column(rows, index))) return carom_table_rows(rows);
    int64_t total = 0, lines;
    for (int64_t row = 0; row < carom_table_rows(rows); row++) {
        list_lines(rows, index, row, &lines);
        total += lines;
    }
    return total;
}

// ------------------------------------------------------------------------------------------------------------- creating

// Creates a dataset with chunks of `lines` lines where there will be no more, otherwise of CHUNK_BYTES.
static hid_t create_dataset(hid_t group, const char *name, hid_t type, hsize_t width, int64_t lines, bool last) {
    const int64_t full = CHUNK_BYTES / 8 / (int64_t)(width ? width : 1), chunk = last && lines < full ? lines : full;
    return carom_hdf5_create_dataset(group, name, &(carom_hdf5_layout){type, width, chunk > 1 ? (hsize_t)chunk : 1});
}

// Creates the dataset of a column, empty, and says in attributes what it holds.
static bool create_column(hid_t group, const carom_table *first, int index, bool last, column_files *files) {
    const carom_column *column = carom_table_column(first, index);
    // The type in the file: little-endian everywhere, small where the values are small.
    hid_t type = H5T_STD_I64LE, text = carom_hdf5_text_type();
    switch (column->type) {
    case CAROM_COLUMN_REAL:
    case CAROM_COLUMN_SQUARE:
    case CAROM_COLUMN_SERIES: type = H5T_IEEE_F64LE; break;
    case CAROM_COLUMN_BOOLEAN:
    case CAROM_COLUMN_CHOICE: type = H5T_STD_I8LE; break;
    case CAROM_COLUMN_CONTACTS: type = H5T_STD_I32LE; break;
    case CAROM_COLUMN_TEXT: type = text; break;
    case CAROM_COLUMN_INTEGER:
    case CAROM_COLUMN_FLAGS: break;
    }
    files->data = create_dataset(group, column->name, type, line_width(first, column), count_lines(first, index), last);
    H5Tclose(text);
    // Unit, doc, and the names of flags, of the numbers of a choice, or of the fields of records.
    int names = 0;
    while (column->flags && column->flags[names]) names++;
    if (files->data < 0 || !carom_hdf5_describe(files->data, column->unit, column->doc)) return false;
    const char *kind = is_list(column) ? "fields" : column->type == CAROM_COLUMN_CHOICE ? "choices" : "flags";
    if (names && !carom_hdf5_put_texts(files->data, kind, column->flags, names)) return false;
    if (!is_list(column)) return true;

    // The dataset NAME_offsets: the list of row i is the lines offsets[i] to offsets[i+1] of NAME.
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s_offsets", column->name);
    const int64_t zero = 0;
    files->offsets = create_dataset(group, name, H5T_STD_I64LE, 0, carom_table_rows(first) + 1, last);
    return files->offsets >= 0 && carom_hdf5_append(files->offsets, H5T_NATIVE_INT64, 1, &zero) &&
           carom_hdf5_describe(files->offsets, "", "where each row's list starts; one entry more than there are rows");
}

// ------------------------------------------------------------------------------------------------------------- growing

// Appends the cells of one column to its datasets; false when HDF5 fails.
static bool append_column(column_files *files, const carom_table *rows, int index) {
    const carom_column *column = carom_table_column(rows, index);
    const int64_t count = carom_table_rows(rows);
    bool written = true;
    if (!count) return true;
    if (column->type == CAROM_COLUMN_TEXT) {
        const char **texts = calloc((size_t)count, sizeof *texts);
        for (int64_t row = 0; row < count && texts; row++) texts[row] = carom_table_text(rows, index, row);
        written = texts && carom_hdf5_append_texts(files->data, texts, (hsize_t)count);
        free(texts);
    } else if (is_list(column)) {
        // The lists of all rows one after the other, and where each ends.
        const bool series = column->type == CAROM_COLUMN_SERIES;
        const size_t line_size = series ? (size_t)carom_column_width(column, carom_table_sizes(rows)) * sizeof(double) : sizeof(int);
        const int64_t total = count_lines(rows, index);
        char *entries = malloc((size_t)total * line_size + 1), *next = entries;
        int64_t *ends = malloc((size_t)count * sizeof *ends), end = files->lines;
        for (int64_t row = 0; row < count && entries && ends; row++) {
            int64_t lines;
            const void *list = list_lines(rows, index, row, &lines);
            if (lines) memcpy(next, list, (size_t)lines * line_size);
            next += (size_t)lines * line_size;
            ends[row] = end += lines;
        }
        written = entries && ends && carom_hdf5_append(files->data, series ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT, (hsize_t)total, entries) &&
                  carom_hdf5_append(files->offsets, H5T_NATIVE_INT64, (hsize_t)count, ends);
        files->lines += total;
        free(entries);
        free(ends);
    } else {
        // Numbers stand in the table as they go to the file; HDF5 converts to smaller ones.
        const bool real = column->type == CAROM_COLUMN_REAL || column->type == CAROM_COLUMN_SQUARE;
        const void *cells = real ? (const void *)carom_table_real_column(rows, index) : carom_table_integer_column(rows, index);
        written = carom_hdf5_append(files->data, real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, (hsize_t)count, cells);
    }
    return written;
}

// Writes what HDF5 still holds.
static bool close_column(column_files *files) {
    const bool data_closed = files->data < 0 || H5Dclose(files->data) >= 0;
    const bool offsets_closed = files->offsets < 0 || H5Dclose(files->offsets) >= 0;
    *files = CLOSED;
    return data_closed && offsets_closed;
}

carom_result_columns *carom_result_columns_create(hid_t group, const carom_table *first, bool last) {
    const int count = carom_table_columns(first);
    carom_result_columns *columns = malloc(sizeof *columns + (size_t)count * sizeof *columns->files);
    if (!columns) return NULL;
    // All closed first, so that a failure can close what is open.
    columns->count = count;
    for (int i = 0; i < count; i++) columns->files[i] = CLOSED;
    for (int i = 0; i < count; i++) {
        if (create_column(group, first, i, last, &columns->files[i])) continue;
        carom_result_columns_close(columns);
        return NULL;
    }
    return columns;
}

bool carom_result_columns_append(carom_result_columns *columns, const carom_table *rows) {
    bool written = true;
    for (int i = 0; i < columns->count && written; i++) written = append_column(&columns->files[i], rows, i);
    return written;
}

bool carom_result_columns_close(carom_result_columns *columns) {
    // A dataset that cannot be closed has lost something, but the others are closed all the same.
    bool closed = true;
    for (int i = 0; columns && i < columns->count; i++)
        if (!close_column(&columns->files[i])) closed = false;
    free(columns);
    return closed;
}

bool carom_result_column_write(hid_t group, const carom_table *rows, int index) {
    column_files files = CLOSED;
    const bool written = create_column(group, rows, index, true, &files) && append_column(&files, rows, index);
    return close_column(&files) && written;
}

int64_t carom_result_columns_size(const carom_table *rows) {
    int64_t bytes = 0;
    for (int i = 0; i < carom_table_columns(rows); i++) {
        const carom_column *column = carom_table_column(rows, i);
        const int64_t width = (int64_t)line_width(rows, column);
        // Numbers have 8 bytes in memory, whatever they have in the file.
        bytes += 8 * count_lines(rows, i) * (width ? width : 1);
        for (int64_t row = 0; column->type == CAROM_COLUMN_TEXT && row < carom_table_rows(rows); row++)
            bytes += (int64_t)strlen(carom_table_text(rows, i, row));
    }
    return bytes;
}
