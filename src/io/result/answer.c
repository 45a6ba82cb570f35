// SPDX-License-Identifier: Apache-2.0
// The whole answer of one law in a result file: every column of its outcomes, and its result row.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/result/file.h"

// Rows between two questions whether to stop.
enum { POLL = 4096 };

// One column as it stands in the file.
typedef struct stored_column {
    void *values;      // [lines x width] doubles, whole numbers, or texts of `width` bytes
    int64_t *offsets;  // lines where the rows of lists and series begin, and the end; NULL for others
    int64_t rows;
    int width;
} stored_column;

static carom_stored_type stored_type(carom_column_type type) {
    switch (type) {
    case CAROM_COLUMN_REAL:
    case CAROM_COLUMN_SQUARE:
    case CAROM_COLUMN_SERIES: return CAROM_STORED_REALS;
    case CAROM_COLUMN_TEXT: return CAROM_STORED_TEXTS;
    case CAROM_COLUMN_INTEGER:
    case CAROM_COLUMN_BOOLEAN:
    case CAROM_COLUMN_FLAGS:
    case CAROM_COLUMN_CHOICE:
    case CAROM_COLUMN_CONTACTS: break;
    }
    return CAROM_STORED_INTEGERS;
}

// Is it the number of an entry of the names of a choice?
static bool is_choice(const carom_column *column, int64_t value) {
    int64_t count = 0;
    while (column->flags[count]) count++;
    return value >= 0 && value < count;
}

// Reads one column of a group; without values where it is missing.
static carom_status read_column(const carom_result *result, const char *group, const carom_table *table, int index, stored_column *into,
                                carom_error *error) {
    const carom_column *column = carom_table_column(table, index);
    if (!carom_result_has_dataset(result, group, column->name)) return CAROM_OK;
    carom_status status =
        carom_result_read_stored(result, group, column->name, stored_type(column->type), &into->values, &into->rows, &into->width, error);
    if (status) return status;
    const int width = column->type == CAROM_COLUMN_CONTACTS ? 1 : carom_column_width(column, carom_table_sizes(table));
    if (column->type != CAROM_COLUMN_TEXT && into->width != width)
        return carom_result_refuse(result, error, "%s of %s does not fit its contacts", column->name, group);
    // Texts fill their cells, and end there at the latest.
    if (column->type == CAROM_COLUMN_TEXT)
        for (int64_t i = 1; i <= into->rows; i++) ((char *)into->values)[i * into->width - 1] = '\0';
    // A list of contacts that is absent is the single entry -1.
    const int64_t *contacts = column->type == CAROM_COLUMN_CONTACTS ? into->values : NULL;
    for (int64_t i = 0; contacts && i < into->rows; i++)
        if (contacts[i] < -1 || contacts[i] >= carom_table_sizes(table)->contacts)
            return carom_result_refuse(result, error, "%s of %s names a contact that is not there", column->name, group);
    // Choices have a name.
    const bool choice = column->type == CAROM_COLUMN_CHOICE;
    for (int64_t i = 0; choice && i < into->rows * into->width; i++)
        if (!is_choice(column, ((const int64_t *)into->values)[i]))
            return carom_result_refuse(result, error, "%s of %s has a number without a name", column->name, group);
    const bool listed = contacts || column->type == CAROM_COLUMN_SERIES;
    return listed ? carom_result_read_offsets(result, group, column->name, into->rows, &into->offsets, &into->rows, error) : CAROM_OK;
}

// Fills a cell of the table's last row from a row of the file.
static carom_status fill_cell(carom_table *table, int index, const stored_column *from, int64_t row, carom_error *error) {
    const size_t width = (size_t)from->width, size = width * sizeof(double);
    const char *cell = (const char *)from->values + (size_t)row * size, *text = (const char *)from->values + (size_t)row * width;
    const int64_t first = from->offsets ? from->offsets[row] : 0, lines = from->offsets ? from->offsets[row + 1] - first : 0;
    const int64_t *contacts = (const int64_t *)from->values + first;
    int *list = NULL;
    carom_status status = CAROM_OK;
    if (lines > INT_MAX / from->width) return carom_fail_memory(error, "outcomes");
    switch (carom_table_column(table, index)->type) {
    case CAROM_COLUMN_REAL:
    case CAROM_COLUMN_SQUARE: memcpy(carom_table_reals(table, index), cell, size); break;
    case CAROM_COLUMN_INTEGER:
    case CAROM_COLUMN_BOOLEAN:
    case CAROM_COLUMN_FLAGS:
    case CAROM_COLUMN_CHOICE: memcpy(carom_table_integers(table, index), cell, size); break;
    case CAROM_COLUMN_TEXT: status = carom_table_set_text(table, index, text, error); break;
    case CAROM_COLUMN_SERIES:
        status =
            carom_table_set_series(table, index, (const double *)from->values + (size_t)first * width, (int)lines * from->width, error);
        break;
    case CAROM_COLUMN_CONTACTS:
        if (lines == 1 && contacts[0] < 0) break;
        list = malloc((size_t)lines * sizeof *list + 1);
        if (!list) return carom_fail_memory(error, "outcomes");
        for (int64_t i = 0; i < lines; i++) list[i] = contacts[i] < 0 ? 0 : (int)contacts[i];
        status = carom_table_set_list(table, index, list, (int)lines, error);
        free(list);
        break;
    }
    return status;
}

// Reads the columns of a group into a table, which has no rows yet or the one that is to be filled.
static carom_status read_columns(const carom_result *result, const char *group, carom_table *table, carom_error *error) {
    const int count = carom_table_columns(table);
    stored_column *columns = calloc((size_t)count + 1, sizeof *columns);
    if (!columns) return carom_fail_memory(error, "outcomes");
    carom_status status = CAROM_OK;
    int64_t rows = -1;
    for (int i = 0; i < count && !status; i++) {
        status = read_column(result, group, table, i, &columns[i], error);
        if (status || !columns[i].values) continue;
        if (rows < 0) rows = columns[i].rows;
        if (rows != columns[i].rows || (rows != 1 && carom_table_rows(table)))
            status = carom_result_refuse(result, error, "the columns of %s differ in length", group);
    }
    const bool adds = !carom_table_rows(table);
    for (int64_t row = 0; row < rows && !status; row++) {
        if (row % POLL == 0) status = carom_result_poll(result, error);
        if (adds && !status) status = carom_table_add_row(table, error);
        for (int i = 0; i < count && !status; i++)
            if (columns[i].values) status = fill_cell(table, i, &columns[i], row, error);
    }
    for (int i = 0; i < count; i++) {
        free(columns[i].values);
        free(columns[i].offsets);
    }
    free(columns);
    return status;
}

// Single numbers and texts of a result row are attributes of the law's group; everything else stands in its group `result`.
static carom_status read_row(const carom_result *result, int law, carom_table *row, carom_error *error) {
    const char *name = carom_result_law_name(result, law);
    carom_status status = CAROM_OK;
    for (int i = 0; i < carom_table_columns(row) && !status; i++) {
        const carom_column *column = carom_table_column(row, i);
        char text[CAROM_STORED_TEXT];
        double number;
        if (column->width != 1) continue;
        const bool found = carom_result_read_attribute(result, law, column->name, text, sizeof text);
        // A count that a file of an older version lacks is not zero.
        if (!found && column->type == CAROM_COLUMN_INTEGER) *carom_table_integers(row, i) = CAROM_NO_INTEGER;
        if (!found) continue;
        if (column->type == CAROM_COLUMN_TEXT)
            status = carom_table_set_text(row, i, text, error);
        else if (column->type == CAROM_COLUMN_REAL)
            *carom_table_reals(row, i) = carom_parse_number(text, &number) ? number : NAN;
        else
            *carom_table_integers(row, i) = strtoll(text, NULL, 10);
        if (column->type == CAROM_COLUMN_CHOICE && !is_choice(column, *carom_table_integers(row, i)))
            status = carom_result_refuse(result, error, "%s of %s has a number without a name", column->name, name);
    }
    char group[CAROM_STORED_NAME];
    snprintf(group, sizeof group, "%s/result", name);
    return status ? status : read_columns(result, group, row, error);
}

carom_status carom_result_read_answer(const carom_result *result, int index, const carom_impact *impact, const carom_law *law,
                                      carom_answer *answer, carom_error *error) {
    *answer = (carom_answer){0};
    carom_status status = carom_answer_create(law, impact, answer, error);
    if (!status) status = read_columns(result, carom_result_law_name(result, index), answer->outcomes, error);
    if (!status) status = read_row(result, index, answer->result, error);
    if (!status) status = carom_result_check(result, error);
    if (status) carom_answer_free(answer);
    return status;
}

// Every outcome has each contact in one mode.
static carom_status check_modes(const carom_result *result, const char *group, const carom_extent *extent, carom_error *error) {
    if (extent->outcomes == CAROM_NO_INTEGER) return CAROM_OK;
    bool sound = extent->outcomes >= 0 &&
                 (extent->approximate == CAROM_NO_INTEGER || (extent->approximate >= 0 && extent->approximate <= extent->outcomes));
    for (int i = 0; i < extent->sizes.contacts && sound; i++) {
        int64_t left = extent->outcomes;
        for (int k = 0; k < CAROM_CONTACT_MODES && sound; k++) {
            const int64_t count = extent->modes[i * CAROM_CONTACT_MODES + k];
            sound = count >= 0 && count <= left;
            left -= count;
        }
        sound = sound && left == 0;
    }
    return sound ? CAROM_OK : carom_result_refuse(result, error, "modes of %s do not add up to its outcomes", group);
}

carom_status carom_result_read_extent(const carom_result *result, int law, const carom_impact *impact, char keep[CAROM_CERTIFICATE_SIZE],
                                      carom_extent **extent, carom_error *error) {
    *extent = NULL;
    const bool partial = carom_result_read_attribute(result, law, "keep", keep, CAROM_CERTIFICATE_SIZE) && strcmp(keep, "all") != 0;
    if (!partial) snprintf(keep, CAROM_CERTIFICATE_SIZE, "all");
    carom_status status = carom_result_check(result, error);
    if (status || !partial) return status;

    // Rows of least and largest values.
    char group[CAROM_STORED_NAME];
    snprintf(group, sizeof group, "%s/extent", carom_result_law_name(result, law));
    carom_extent *read;
    status = carom_extent_create(impact, &read, error);
    if (status) return status;
    const struct {
        const char *name;
        double *into;
        int64_t count;
    } ranges[] = {{"normal", read->normal, 2 * read->sizes.contacts},
                  {"tangent", read->tangent, 2 * read->sizes.tangents},
                  {"energy_ratio", read->energy_ratio, 2}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && !status; i++) {
        double *values;
        int64_t rows;
        int width;
        status = carom_result_read_dataset(result, group, ranges[i].name, &values, &rows, &width, error);
        if (!status && rows * width != ranges[i].count)
            status = carom_result_refuse(result, error, "%s of %s does not fit its contacts", ranges[i].name, group);
        if (!status) memcpy(ranges[i].into, values, (size_t)ranges[i].count * sizeof *values);
        free(values);
    }
    // How many outcomes there were, and how many of them had each contact in each mode; files of older versions have neither.
    char outcomes[CAROM_STORED_TEXT], approximate[CAROM_STORED_TEXT];
    read->outcomes = read->approximate = CAROM_NO_INTEGER;
    // Files of older versions say it of sampled sets, in the row of their results.
    if (!status && (carom_result_read_group_text(result, group, "approximate", approximate, sizeof approximate) ||
                    carom_result_read_attribute(result, law, "approximate", approximate, sizeof approximate)))
        read->approximate = strtoll(approximate, NULL, 10);
    if (!status && carom_result_read_group_text(result, group, "outcomes", outcomes, sizeof outcomes)) {
        void *counts;
        int64_t rows;
        int width;
        read->outcomes = strtoll(outcomes, NULL, 10);
        status = carom_result_read_stored(result, group, "modes", CAROM_STORED_INTEGERS, &counts, &rows, &width, error);
        if (!status && (rows != read->sizes.contacts || width != CAROM_CONTACT_MODES))
            status = carom_result_refuse(result, error, "modes of %s does not fit its contacts", group);
        if (!status) memcpy(read->modes, counts, (size_t)rows * CAROM_CONTACT_MODES * sizeof *read->modes);
        free(counts);
    }
    if (!status) status = check_modes(result, group, read, error);
    if (status)
        carom_extent_free(read);
    else
        *extent = read;
    return status;
}

bool carom_result_read_option(const carom_result *result, int law, const char *name, char *text, size_t size) {
    char group[CAROM_STORED_NAME];
    snprintf(group, sizeof group, "%s/options", carom_result_law_name(result, law));
    return carom_result_read_group_text(result, group, name, text, size);
}
