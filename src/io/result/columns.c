// SPDX-License-Identifier: Apache-2.0
#include "io/result/columns.h"

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

struct carom_result_columns {
    int count;
    column_files files[];
};

static const column_files CLOSED = {-1, -1, 0};

// Columns that are declared one wide have one dimension, all others two, even where there is only one contact.
static hsize_t line_width(const carom_column *column, const carom_sizes *sizes) {
    const bool wide = column->type == CAROM_COLUMN_REAL || column->type == CAROM_COLUMN_SQUARE || column->type == CAROM_COLUMN_INTEGER ||
                      column->type == CAROM_COLUMN_SERIES;
    return wide && column->width != 1 ? (hsize_t)carom_column_width(column, sizes) : 0;
}

static bool is_list(const carom_column *column) { return column->type == CAROM_COLUMN_CONTACTS || column->type == CAROM_COLUMN_SERIES; }

bool carom_result_column_is_scalar(const carom_column *column) {
    const bool wide = column->type == CAROM_COLUMN_REAL || column->type == CAROM_COLUMN_SQUARE || column->type == CAROM_COLUMN_INTEGER;
    return !is_list(column) && (!wide || column->width == 1);
}

static hid_t file_type(const carom_column *column) {
    switch (column->type) {
    case CAROM_COLUMN_REAL:
    case CAROM_COLUMN_SQUARE:
    case CAROM_COLUMN_SERIES: return H5Tcopy(H5T_IEEE_F64LE);
    case CAROM_COLUMN_BOOLEAN: return H5Tcopy(H5T_STD_I8LE);
    case CAROM_COLUMN_CONTACTS: return H5Tcopy(H5T_STD_I32LE);
    case CAROM_COLUMN_TEXT: return carom_hdf5_text_type();
    case CAROM_COLUMN_INTEGER:
    case CAROM_COLUMN_FLAGS: break;
    }
    return H5Tcopy(H5T_STD_I64LE);
}

// ----------------------------------------------------------------------------------------------------- lists and series

// The list in a cell, in lines of the dataset; one that is absent is stored as the single entry -1.
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

// The lists of all rows, one behind the other, and where each ends.
typedef struct flat_lists {
    void *entries;
    int64_t *ends;
} flat_lists;

static bool flatten(const carom_table *rows, int index, int64_t total, size_t line_size, int64_t start, flat_lists *flat) {
    flat->entries = malloc((size_t)total * line_size + 1);
    flat->ends = malloc((size_t)carom_table_rows(rows) * sizeof *flat->ends + 1);
    if (!flat->entries || !flat->ends) return false;
    char *next = flat->entries;
    for (int64_t row = 0; row < carom_table_rows(rows); row++) {
        int64_t lines;
        const void *list = list_lines(rows, index, row, &lines);
        if (lines) memcpy(next, list, (size_t)lines * line_size);
        next += (size_t)lines * line_size;
        flat->ends[row] = start += lines;
    }
    return true;
}

static bool append_lists(column_files *files, const carom_table *rows, int index) {
    const carom_column *column = carom_table_column(rows, index);
    const bool series = column->type == CAROM_COLUMN_SERIES;
    const size_t line_size = series ? (size_t)carom_column_width(column, carom_table_sizes(rows)) * sizeof(double) : sizeof(int);
    const int64_t total = count_lines(rows, index);
    flat_lists flat = {0};
    const bool written = flatten(rows, index, total, line_size, files->lines, &flat) &&
                         carom_hdf5_append(files->data, series ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT, (hsize_t)total, flat.entries) &&
                         carom_hdf5_append(files->offsets, H5T_NATIVE_INT64, (hsize_t)carom_table_rows(rows), flat.ends);
    files->lines += total;
    free(flat.entries);
    free(flat.ends);
    return written;
}

// ------------------------------------------------------------------------------------------------------------- creating

// Lines that are stored together: all of them where there will be no more.
static hsize_t chunk_lines(hsize_t width, int64_t lines, bool last) {
    const int64_t full = CHUNK_BYTES / 8 / (int64_t)(width ? width : 1);
    const int64_t chosen = last && lines < full ? lines : full;
    return chosen > 1 ? (hsize_t)chosen : 1;
}

static bool describe_column(hid_t dataset, const carom_column *column) {
    if (!carom_hdf5_describe(dataset, column->unit, column->doc)) return false;
    int count = 0;
    while (column->flags && column->flags[count]) count++;
    return !count || carom_hdf5_put_texts(dataset, is_list(column) ? "fields" : "flags", column->flags, count);
}

// The dataset NAME_offsets: the list of row i is the lines offsets[i] to offsets[i+1] of NAME.
static bool create_offsets(hid_t group, const carom_column *column, int64_t rows, bool last, column_files *files) {
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s_offsets", column->name);
    const carom_hdf5_layout layout = {H5T_STD_I64LE, 0, chunk_lines(0, rows + 1, last)};
    const int64_t zero = 0;
    files->offsets = carom_hdf5_create_dataset(group, name, &layout);
    return files->offsets >= 0 && carom_hdf5_append(files->offsets, H5T_NATIVE_INT64, 1, &zero) &&
           carom_hdf5_describe(files->offsets, "", "where each row's list starts; one entry more than there are rows");
}

static bool create_column(hid_t group, const carom_table *first, int index, bool last, column_files *files) {
    const carom_column *column = carom_table_column(first, index);
    const hsize_t width = line_width(column, carom_table_sizes(first));
    const carom_hdf5_layout layout = {file_type(column), width, chunk_lines(width, count_lines(first, index), last)};
    files->data = carom_hdf5_create_dataset(group, column->name, &layout);
    H5Tclose(layout.type);
    if (files->data < 0 || !describe_column(files->data, column)) return false;
    return !is_list(column) || create_offsets(group, column, carom_table_rows(first), last, files);
}

// ------------------------------------------------------------------------------------------------------------- growing

static bool append_texts(hid_t dataset, const carom_table *rows, int index) {
    const int64_t count = carom_table_rows(rows);
    const char **texts = calloc((size_t)count + 1, sizeof *texts);
    for (int64_t row = 0; row < count && texts; row++) texts[row] = carom_table_text(rows, index, row);
    const bool written = texts && carom_hdf5_append_texts(dataset, texts, (hsize_t)count);
    free(texts);
    return written;
}

static bool append_column(column_files *files, const carom_table *rows, int index) {
    const hsize_t count = (hsize_t)carom_table_rows(rows);
    if (!count) return true;
    switch (carom_table_column(rows, index)->type) {
    case CAROM_COLUMN_REAL:
    case CAROM_COLUMN_SQUARE: return carom_hdf5_append(files->data, H5T_NATIVE_DOUBLE, count, carom_table_real_column(rows, index));
    case CAROM_COLUMN_TEXT: return append_texts(files->data, rows, index);
    case CAROM_COLUMN_CONTACTS:
    case CAROM_COLUMN_SERIES: return append_lists(files, rows, index);
    case CAROM_COLUMN_INTEGER:
    case CAROM_COLUMN_BOOLEAN:
    case CAROM_COLUMN_FLAGS: break;
    }
    return carom_hdf5_append(files->data, H5T_NATIVE_INT64, count, carom_table_integer_column(rows, index));
}

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
        const int64_t width = (int64_t)line_width(column, carom_table_sizes(rows));
        bytes += 8 * count_lines(rows, i) * (width ? width : 1);
        for (int64_t row = 0; column->type == CAROM_COLUMN_TEXT && row < carom_table_rows(rows); row++)
            bytes += (int64_t)strlen(carom_table_text(rows, i, row));
    }
    return bytes;
}
