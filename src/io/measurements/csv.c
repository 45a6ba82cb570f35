// SPDX-License-Identifier: Apache-2.0
// Measured impacts of a model as a table: a line of names, then a line for each impact, with commas.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/measurements/measurements.h"
#include "io/number.h"

// What a column holds; numbered ones have a place behind a dot: "qpos.1".
enum { POSITION, BEFORE, AFTER, DEVIATION, NUMBERED, KIND = NUMBERED, GROUP, TOSS, UNUSED };

static const char *const names[] = {"qpos", "v_minus", "v_plus", "std", "kind", "group", "toss"};

typedef struct column {
    int what, place;  // place from 0
} column;

// A table under way. Lines and cells are cut in the bytes of the file.
typedef struct table {
    const char *path;
    carom_model *model;
    int nq, nv, columns;
    column *list;
    double *numbers[NUMBERED];  // of one line: [nq], [nv], [nv], [2 nv]
    int sizes[NUMBERED];
    double *covariance;  // [2nv x 2nv]
    bool noise;          // there are standard deviations
} table;

// Cuts the next cell off, without the blanks around it; NULL where the line has ended.
static char *take_cell(char **line) {
    char *cell = *line;
    if (!cell) return NULL;
    char *comma = strchr(cell, ',');
    *line = comma ? comma + 1 : NULL;
    char *end = comma ? comma : cell + strlen(cell);
    while (end > cell && strchr(" \t\r", end[-1])) end--;
    *end = '\0';
    return cell + strspn(cell, " \t");
}

static column understand(const table *t, const char *name) {
    for (int what = 0; what < UNUSED; what++) {
        const size_t length = strlen(names[what]);
        if (strncmp(name, names[what], length) != 0) continue;
        double place;
        if (what >= NUMBERED && !name[length]) return (column){what, 0};
        if (what < NUMBERED && name[length] == '.' && carom_parse_whole(name + length + 1, &place) && place >= 1 && place <= t->sizes[what])
            return (column){what, (int)place - 1};
    }
    return (column){UNUSED, 0};
}

// The first line: every number of position and velocities must have a column.
static carom_status read_names(table *t, char *line, carom_error *error) {
    int found[NUMBERED] = {0};
    t->columns = 1;
    for (const char *c = line; *c; c++) t->columns += *c == ',';
    t->list = calloc((size_t)t->columns, sizeof *t->list);
    if (!t->list) return carom_fail_memory(error, t->path);
    for (int i = 0; i < t->columns; i++) {
        const char *name = take_cell(&line);
        t->list[i] = understand(t, name);
        for (int k = 0; k < i && t->list[i].what != UNUSED; k++) {
            const int other = t->list[k].what, what = t->list[i].what;
            if (other == what && t->list[k].place == t->list[i].place)
                return carom_fail(error, CAROM_BAD_INPUT, "%s:1: the column '%.60s' stands twice", t->path, name);
            if ((other == GROUP && what == TOSS) || (other == TOSS && what == GROUP))
                return carom_fail(error, CAROM_BAD_INPUT, "%s:1: only one of the columns 'group' and 'toss' is allowed", t->path);
        }
        if (t->list[i].what < NUMBERED) found[t->list[i].what]++;
    }
    for (int what = 0; what < NUMBERED; what++)
        if (found[what] != t->sizes[what] && (what != DEVIATION || found[what]))
            return carom_fail(error, CAROM_BAD_INPUT, "%s:1: there are %d columns %s.1, %s.2, ..., must be %d for the model", t->path,
                              found[what], names[what], names[what], t->sizes[what]);
    t->noise = found[DEVIATION] > 0;
    return CAROM_OK;
}

static carom_status read_line(table *t, char *line, int row, measured_file *file, carom_error *error) {
    measured_numbers numbers = {.nv = t->nv, .before = t->numbers[BEFORE], .after = t->numbers[AFTER], .body_mass = NAN};
    for (int i = 0; i < t->columns; i++) {
        char *cell = take_cell(&line);
        const column *c = &t->list[i];
        if (!cell) return carom_fail(error, CAROM_BAD_INPUT, "%s:%d: has %d cells, must have %d", t->path, row, i, t->columns);
        if (c->what < NUMBERED && !carom_number_read(cell, &t->numbers[c->what][c->place]))
            return carom_fail(error, CAROM_BAD_INPUT, "%s:%d: %s.%d: '%.60s' is not a finite number", t->path, row, names[c->what],
                              c->place + 1, cell);
        if (c->what == DEVIATION && t->numbers[DEVIATION][c->place] < 0)
            return carom_fail(error, CAROM_BAD_INPUT, "%s:%d: std.%d: '%.60s' is below 0", t->path, row, c->place + 1, cell);
        if (c->what == KIND && *cell) numbers.kind = cell;
        if ((c->what == GROUP || c->what == TOSS) && *cell) numbers.group = cell;
    }
    if (line) return carom_fail(error, CAROM_BAD_INPUT, "%s:%d: has more than %d cells", t->path, row, t->columns);
    for (int k = 0; k < 2 * t->nv && t->noise; k++)
        t->covariance[k * (2 * t->nv + 1)] = t->numbers[DEVIATION][k] * t->numbers[DEVIATION][k];
    if (t->noise) numbers.covariance = t->covariance;
    carom_impact *impact = NULL;
    carom_error inner;
    carom_status status = carom_model_set_state(t->model, t->numbers[POSITION], t->nq, t->numbers[BEFORE], t->nv, &inner);
    if (!status) status = carom_model_detect(t->model, NULL, &impact, &inner);
    if (!status) status = measured_file_add_impact(file, impact, true, &numbers, &inner);
    return status ? carom_fail(error, status, "%s:%d: %s", t->path, row, inner.message) : CAROM_OK;
}

// The end of a line becomes the end of a text; `*rest` is the next line, NULL after the last one.
static char *take_line(char **rest) {
    char *line = *rest, *end = line ? strchr(line, '\n') : NULL;
    *rest = end ? end + 1 : NULL;
    if (end) *end = '\0';
    return line;
}

carom_status carom_measurements_read_csv(const char *path, char *bytes, size_t size, measured_file *file,
                                         const carom_measurements_options *options, carom_measurements *into, carom_error *error) {
    table t = {.path = path};
    if (strlen(bytes) != size) return carom_fail(error, CAROM_BAD_INPUT, "%s: has a NUL byte: it is not a text", path);
    // Spreadsheets begin a text in UTF-8 with a mark.
    if (!strncmp(bytes, "\xEF\xBB\xBF", 3)) bytes += 3;
    int count = 1, row = 1;
    for (const char *c = bytes; *c; c++) count += *c == '\n';
    carom_status status = carom_model_load(options->model, &t.model, error);
    if (!status) {
        t.nq = carom_model_nq(t.model);
        t.nv = carom_model_nv(t.model);
        const int sizes[NUMBERED] = {t.nq, t.nv, t.nv, 2 * t.nv};
        memcpy(t.sizes, sizes, sizeof sizes);
        status = measured_file_begin(file, options, count, into, error);
    }
    for (int what = 0; what < NUMBERED && !status; what++)
        t.numbers[what] = carom_arena_take(&into->arena, (size_t)t.sizes[what], sizeof(double));
    if (!status) t.covariance = carom_arena_take(&into->arena, 4 * (size_t)t.nv * (size_t)t.nv, sizeof(double));
    if (!status && into->arena.failed) status = carom_fail_memory(error, path);
    char *rest = bytes;
    if (!status) status = read_names(&t, take_line(&rest), error);
    for (char *line; !status && (line = take_line(&rest));) {
        row++;
        if (line[strspn(line, " \t\r")]) status = read_line(&t, line, row, file, error);
    }
    if (!status && !into->count) status = carom_fail(error, CAROM_BAD_INPUT, "%s: there is no line after that of the names", path);
    carom_error inner;
    if (!status && (status = measured_file_end(file, &inner))) carom_fail(error, status, "%s: %s", path, inner.message);
    free(t.list);
    carom_model_free(t.model);
    return status;
}
