// SPDX-License-Identifier: Apache-2.0
// Rows of named, typed columns: outcome sets and result rows.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/base.h"

// One column's cells. Fixed-width types keep 8-byte cells; texts and lists keep bytes in a pool and the end of each row's part.
typedef struct cells {
    const carom_column *column;
    int width;
    union {
        double *reals;
        int64_t *integers;
        int64_t *ends;  // of each row's part of the pool; the sign bit marks "no list"
    };
    char *pool;
    size_t pool_size, pool_capacity;
} cells;

struct carom_table {
    carom_sizes sizes;
    cells *cells;
    int columns;
    int64_t rows, capacity;
};

// The mark of "no list", the sign bit of a row's end.
static const int64_t NO_LIST = INT64_MIN;

const char *carom_column_type_name(carom_column_type type) {
    switch (type) {
    case CAROM_COLUMN_REAL: return "real";
    case CAROM_COLUMN_SQUARE: return "square";
    case CAROM_COLUMN_INTEGER: return "integer";
    case CAROM_COLUMN_BOOLEAN: return "boolean";
    case CAROM_COLUMN_FLAGS: return "flags";
    case CAROM_COLUMN_CHOICE: return "choice";
    case CAROM_COLUMN_TEXT: return "text";
    case CAROM_COLUMN_CONTACTS: return "contacts";
    case CAROM_COLUMN_SERIES: return "series";
    }
    return "";
}

// Negative widths stand for sizes of the problem.
int carom_column_width(const carom_column *column, const carom_sizes *sizes) {
    switch (column->width) {
    case CAROM_WIDTH_VELOCITY: return sizes->nv;
    case CAROM_WIDTH_CONTACTS: return sizes->contacts;
    case CAROM_WIDTH_TANGENTS: return sizes->tangents;
    case CAROM_WIDTH_CONTACT_SPACE: return sizes->contacts + sizes->tangents;
    case CAROM_WIDTH_POSITION: return sizes->positions;
    default: return column->width;
    }
}

// Types whose cells differ in size.
static bool is_pooled(const cells *cell) {
    const carom_column_type type = cell->column->type;
    return type == CAROM_COLUMN_TEXT || type == CAROM_COLUMN_CONTACTS || type == CAROM_COLUMN_SERIES;
}

// 8-byte cells a row.
static size_t row_cells(const cells *cell) { return is_pooled(cell) ? 1 : (size_t)cell->width; }

// A table without columns, and room for them.
static carom_status allocate_table(int columns, const carom_sizes *sizes, carom_table **table, carom_error *error) {
    carom_table *made = *table = calloc(1, sizeof *made);
    cells *all = calloc((size_t)(columns ? columns : 1), sizeof *all);
    if (made && all) {
        *made = (carom_table){.sizes = *sizes, .cells = all, .columns = columns};
        return CAROM_OK;
    }
    free(made);
    free(all);
    *table = NULL;
    return carom_fail_memory(error, "table");
}

carom_status carom_table_create(const carom_column *first, int first_count, const carom_column *second, int second_count,
                                const carom_sizes *sizes, carom_table **table, carom_error *error) {
    const carom_status status = allocate_table(first_count + second_count, sizes, table, error);
    // The widths are fixed from here on: the sizes of a table do not change.
    for (int i = 0; i < first_count + second_count && !status; i++) {
        cells *cell = &(*table)->cells[i];
        cell->column = i < first_count ? &first[i] : &second[i - first_count];
        cell->width = carom_column_width(cell->column, sizes);
    }
    return status;
}

carom_status carom_table_create_like(const carom_table *other, carom_table **table, carom_error *error) {
    const carom_status status = allocate_table(other->columns, &other->sizes, table, error);
    for (int i = 0; i < other->columns && !status; i++)
        (*table)->cells[i] = (cells){.column = other->cells[i].column, .width = other->cells[i].width};
    return status;
}

void carom_table_free(carom_table *table) {
    if (!table) return;
    for (int i = 0; i < table->columns; i++) {
        // The members of the union share one pointer, so that freeing one of them is enough.
        free(table->cells[i].reals);
        free(table->cells[i].pool);
    }
    free(table->cells);
    free(table);
}

void carom_table_clear(carom_table *table) {
    // Fixed-width cells are filled again when rows are added; only pools know how far they are filled.
    table->rows = 0;
    for (int i = 0; i < table->columns; i++) table->cells[i].pool_size = 0;
}

int64_t carom_table_rows(const carom_table *table) { return table->rows; }
int carom_table_columns(const carom_table *table) { return table->columns; }
const carom_column *carom_table_column(const carom_table *table, int column) { return table->cells[column].column; }
const carom_sizes *carom_table_sizes(const carom_table *table) { return &table->sizes; }

int carom_table_find(const carom_table *table, const char *name) {
    for (int i = 0; i < table->columns; i++)
        if (!strcmp(table->cells[i].column->name, name)) return i;
    return -1;
}

// Room for `rows` rows in every column.
static carom_status reserve_rows(carom_table *table, int64_t rows, carom_error *error) {
    if (rows <= table->capacity) return CAROM_OK;
    // Doubled, so that adding rows one by one costs the same as adding them at once.
    int64_t capacity = table->capacity ? table->capacity : 16;
    while (capacity < rows) capacity *= 2;
    for (int i = 0; i < table->columns; i++) {
        // At least a byte: realloc frees what is made empty.
        void *moved = realloc(table->cells[i].reals, (size_t)capacity * row_cells(&table->cells[i]) * sizeof(double) + 1);
        if (!moved) return carom_fail_memory(error, "outcome set");
        table->cells[i].reals = moved;
    }
    table->capacity = capacity;
    return CAROM_OK;
}

// Room for `size` bytes in a column's pool.
static carom_status reserve_pool(cells *cell, size_t size, carom_error *error) {
    if (size <= cell->pool_capacity) return CAROM_OK;
    size_t capacity = cell->pool_capacity ? cell->pool_capacity : 256;
    while (capacity < size) capacity *= 2;
    char *moved = realloc(cell->pool, capacity);
    if (!moved) return carom_fail_memory(error, "outcome set");
    cell->pool = moved;
    cell->pool_capacity = capacity;
    return CAROM_OK;
}

// Nothing is determined yet in `count` more rows, for which there is room: NaN, zero, an empty text, no list.
static void clear_cells(cells *cell, int64_t rows, int64_t count) {
    const carom_column_type type = cell->column->type;
    const size_t start = (size_t)rows * row_cells(cell), values = (size_t)count * row_cells(cell);
    const int64_t end = (int64_t)cell->pool_size | (type == CAROM_COLUMN_CONTACTS ? NO_LIST : 0);
    if (type == CAROM_COLUMN_REAL || type == CAROM_COLUMN_SQUARE)
        for (size_t k = 0; k < values; k++) cell->reals[start + k] = NAN;
    else if (is_pooled(cell))
        for (size_t k = 0; k < values; k++) cell->ends[start + k] = end;
    else
        memset(cell->integers + start, 0, values * sizeof(int64_t));
}

carom_status carom_table_add_rows(carom_table *table, int64_t count, carom_error *error) {
    const carom_status status = reserve_rows(table, table->rows + count, error);
    if (status) return status;
    for (int i = 0; i < table->columns; i++) clear_cells(&table->cells[i], table->rows, count);
    table->rows += count;
    return CAROM_OK;
}

carom_status carom_table_add_row(carom_table *table, carom_error *error) { return carom_table_add_rows(table, 1, error); }

// The part of the pool that belongs to a row; NULL where there is no list.
static const char *pooled_part(const cells *cell, int64_t row, size_t *size) {
    const size_t start = row ? (size_t)(cell->ends[row - 1] & ~NO_LIST) : 0;
    *size = (size_t)(cell->ends[row] & ~NO_LIST) - start;
    // An empty list is not "no list", even when nothing was ever pooled.
    return cell->ends[row] < 0 ? NULL : cell->pool ? cell->pool + start : "";
}

carom_status carom_table_append_rows(carom_table *table, const carom_table *from, int64_t first, int64_t count, carom_error *error) {
    if (table->columns != from->columns) return carom_fail(error, CAROM_INTERNAL, "tables with different columns were joined");
    return carom_table_append_narrow(table, from, first, count, error);
}

carom_status carom_table_append_narrow(carom_table *table, const carom_table *from, int64_t first, int64_t count, carom_error *error) {
    if (table->columns < from->columns) return carom_fail(error, CAROM_INTERNAL, "tables with different columns were joined");
    if (!count) return CAROM_OK;
    carom_status status = reserve_rows(table, table->rows + count, error);
    for (int i = from->columns; i < table->columns && !status; i++) clear_cells(&table->cells[i], table->rows, count);
    for (int i = 0; i < from->columns && !status; i++) {
        cells *cell = &table->cells[i];
        const cells *more = &from->cells[i];
        const size_t width = row_cells(cell);
        if (!is_pooled(cell)) {
            memcpy(cell->reals + (size_t)table->rows * width, more->reals + (size_t)first * width, (size_t)count * width * sizeof(double));
            continue;
        }
        // The rows' part of the pool moves as a whole; their ends move with it, and keep the mark of "no list".
        const int64_t start = first ? more->ends[first - 1] & ~NO_LIST : 0, end = more->ends[first + count - 1] & ~NO_LIST;
        const size_t size = (size_t)(end - start);
        status = reserve_pool(cell, cell->pool_size + size, error);
        if (status) break;
        if (size) memcpy(cell->pool + cell->pool_size, more->pool + start, size);
        for (int64_t row = 0; row < count; row++)
            cell->ends[table->rows + row] = more->ends[first + row] + ((int64_t)cell->pool_size - start);
        cell->pool_size += size;
    }
    if (!status) table->rows += count;
    return status;
}

carom_status carom_table_append(carom_table *table, const carom_table *rows, carom_error *error) {
    return carom_table_append_rows(table, rows, 0, rows->rows, error);
}

// ------------------------------------------------------------------------------------------------- tables as messages

// Of `rows` rows of one column, without their pool.
static size_t cell_bytes(const cells *cell, int64_t rows) { return (size_t)rows * row_cells(cell) * sizeof(double); }

// A message holds the number of rows, and for each column the size of its pool, the cells, and the pool.
carom_status carom_table_pack(const carom_table *table, carom_bytes *into, carom_error *error) {
    carom_status status = carom_bytes_put(into, &table->rows, sizeof table->rows, error);
    for (int i = 0; i < table->columns && !status; i++) {
        const cells *cell = &table->cells[i];
        status = carom_bytes_put(into, &cell->pool_size, sizeof cell->pool_size, error);
        if (!status) status = carom_bytes_put(into, cell->reals, cell_bytes(cell, table->rows), error);
        if (!status) status = carom_bytes_put(into, cell->pool, cell->pool_size, error);
    }
    return status;
}

// Bits of a flags column, or values of a choice: the entries of its names.
static int64_t count_names(const carom_column *column) {
    int64_t count = 0;
    while (column->flags && column->flags[count]) count++;
    return count;
}

// Are the cells of a column that came as a message such as the setters leave them? Ends of parts grow up to the pool's; texts end with NUL;
// lists hold contacts of the problem, series whole rows; truths, bits and choices have names.
static bool is_sound(const cells *cell, const carom_sizes *sizes, int64_t rows) {
    const carom_column_type type = cell->column->type;
    const bool named = type == CAROM_COLUMN_FLAGS || type == CAROM_COLUMN_CHOICE, truth = type == CAROM_COLUMN_BOOLEAN;
    if (named || truth) {
        const int64_t names = truth ? 2 : count_names(cell->column),
                      most = type == CAROM_COLUMN_FLAGS && names < 63 ? (int64_t)1 << names : names;
        bool sound = type != CAROM_COLUMN_FLAGS || names < 63;
        for (int64_t k = 0; k < rows * cell->width && sound; k++) sound = cell->integers[k] >= 0 && cell->integers[k] < most;
        return sound;
    }
    if (!is_pooled(cell)) return true;
    int64_t start = 0;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t end = cell->ends[row] & ~NO_LIST;
        if (end < start || end > (int64_t)cell->pool_size || (cell->ends[row] < 0 && type != CAROM_COLUMN_CONTACTS)) return false;
        const char *part = end > start ? cell->pool + start : "";
        const size_t size = (size_t)(end - start), each = sizeof(double) * (size_t)cell->width;
        if (type == CAROM_COLUMN_TEXT && size && part[size - 1]) return false;
        if (type == CAROM_COLUMN_SERIES && (each ? size % each : size)) return false;
        if (type == CAROM_COLUMN_CONTACTS && size % sizeof(int)) return false;
        for (size_t k = 0; type == CAROM_COLUMN_CONTACTS && k < size; k += sizeof(int)) {
            int contact;
            memcpy(&contact, part + k, sizeof contact);
            if (contact < 0 || contact >= sizes->contacts) return false;
        }
        start = end;
    }
    return start == (int64_t)cell->pool_size;
}

// Nothing in a message is trusted: it may come from a file.
carom_status carom_table_unpack(carom_table *table, carom_bytes *from, carom_error *error) {
    // The table stays empty when the message is cut short or damaged.
    carom_table_clear(table);
    int64_t rows = 0;
    size_t each = 0;
    for (int i = 0; i < table->columns; i++) each += row_cells(&table->cells[i]);
    carom_status status = carom_bytes_take(from, &rows, sizeof rows, error);
    if (!status && rows < 0)
        status = carom_fail(error, CAROM_INTERNAL, "a message between ranks is damaged: it has %lld rows", (long long)rows);
    // Rows and pools for which the message has no bytes are not given any memory.
    if (!status && table->columns && (size_t)rows > carom_bytes_left(from) / sizeof(double) / (each ? each : 1))
        status = carom_fail(error, CAROM_INTERNAL, "a message between ranks is too short");
    if (!status) status = reserve_rows(table, rows, error);
    for (int i = 0; i < table->columns && !status; i++) {
        cells *cell = &table->cells[i];
        size_t size = 0;
        status = carom_bytes_take(from, &size, sizeof size, error);
        if (!status) status = carom_bytes_take(from, cell->reals, cell_bytes(cell, rows), error);
        if (!status && size > (is_pooled(cell) ? carom_bytes_left(from) : 0))
            status = carom_fail(error, CAROM_INTERNAL, "a message between ranks is too short");
        if (!status) status = reserve_pool(cell, size, error);
        if (!status) status = carom_bytes_take(from, cell->pool, size, error);
        if (!status) cell->pool_size = size;
        if (!status && !is_sound(cell, &table->sizes, rows))
            status = carom_fail(error, CAROM_INTERNAL, "a message between ranks is damaged: cells of %s", cell->column->name);
    }
    // Only a message that was read to its end counts.
    if (status)
        carom_table_clear(table);
    else
        table->rows = rows;
    return status;
}

// The setters address the last row: rows are filled one after the other.
double *carom_table_reals(carom_table *table, int column) {
    const cells *cell = &table->cells[column];
    return cell->reals + (size_t)(table->rows - 1) * (size_t)cell->width;
}

int64_t *carom_table_integers(carom_table *table, int column) {
    const cells *cell = &table->cells[column];
    return cell->integers + (size_t)(table->rows - 1) * (size_t)cell->width;
}

// Replaces the last row's part of the pool, which is always at the end of it.
static carom_status set_pooled(carom_table *table, int column, const void *bytes, size_t size, carom_error *error) {
    cells *cell = &table->cells[column];
    const size_t start = table->rows > 1 ? (size_t)(cell->ends[table->rows - 2] & ~NO_LIST) : 0;
    const carom_status status = reserve_pool(cell, start + size, error);
    if (status) return status;
    if (size) memcpy(cell->pool + start, bytes, size);
    cell->pool_size = start + size;
    cell->ends[table->rows - 1] = (int64_t)cell->pool_size;
    return CAROM_OK;
}

carom_status carom_table_set_text(carom_table *table, int column, const char *text, carom_error *error) {
    // An empty text is what a new row has.
    return set_pooled(table, column, text, *text ? strlen(text) + 1 : 0, error);
}

carom_status carom_table_set_list(carom_table *table, int column, const int *contacts, int count, carom_error *error) {
    return set_pooled(table, column, contacts, (size_t)count * sizeof *contacts, error);
}

carom_status carom_table_set_series(carom_table *table, int column, const double *values, int count, carom_error *error) {
    return set_pooled(table, column, values, (size_t)count * sizeof *values, error);
}

carom_status carom_table_set_series_rows(carom_table *table, int column, int64_t rows, const double *values, int count,
                                         carom_error *error) {
    cells *cell = &table->cells[column];
    const size_t each = (size_t)count * sizeof *values, size = (size_t)rows * each;
    const carom_status status = reserve_pool(cell, cell->pool_size + size, error);
    if (status || !size) return status;
    memcpy(cell->pool + cell->pool_size, values, size);
    for (int64_t row = 0; row < rows; row++) {
        cell->pool_size += each;
        cell->ends[table->rows - rows + row] = (int64_t)cell->pool_size;
    }
    return CAROM_OK;
}

const double *carom_table_real_column(const carom_table *table, int column) { return table->cells[column].reals; }
const int64_t *carom_table_integer_column(const carom_table *table, int column) { return table->cells[column].integers; }

// Readers. Texts are kept with their end, so that a cell can be returned as it stands.
const char *carom_table_text(const carom_table *table, int column, int64_t row) {
    size_t size;
    const char *text = pooled_part(&table->cells[column], row, &size);
    return size ? text : "";
}

const int *carom_table_list(const carom_table *table, int column, int64_t row, int *count) {
    size_t size;
    const void *list = pooled_part(&table->cells[column], row, &size);
    *count = list ? (int)(size / sizeof(int)) : -1;
    return list;
}

const double *carom_table_series(const carom_table *table, int column, int64_t row, int *count) {
    size_t size;
    const void *series = pooled_part(&table->cells[column], row, &size);
    *count = (int)(size / sizeof(double));
    return series;
}

static carom_status append_rows(void *user, const carom_table *rows, carom_error *error) { return carom_table_append(user, rows, error); }

// The sink of a table in memory.
carom_sink carom_table_sink(carom_table *table) { return (carom_sink){table, append_rows}; }
