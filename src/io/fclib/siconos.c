// SPDX-License-Identifier: Apache-2.0
// Texts of Siconos Numerics: numbers between blanks, sizes first. A matrix is "storage rows columns", then for storage 0 (dense) sizes
// again and its entries, and for storage 1 (blocks) their rows in compressed form; entries stand column by column in both.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "io/fclib/file.h"
#include "io/io_internal.h"

enum {
    DENSE,
    BLOCKS,
    STORAGES,
    TOKEN_SIZE = 64,
    LARGEST_CONTACT_SPACE = 3 * CAROM_MAX_CONTACTS,
};

// Where reading is; after the first error it stays there.
typedef struct text_reader {
    const char *path, *next;
    carom_status status;
    carom_error *error;
} text_reader;

static const char *skip_blanks(const char *text) {
    while (isspace((unsigned char)*text)) text++;
    return text;
}

// The next number; 0 after an error.
static double take_number(text_reader *reader, const char *what) {
    if (reader->status) return 0;
    const char *start = skip_blanks(reader->next);
    size_t length = 0;
    while (start[length] && !isspace((unsigned char)start[length])) length++;
    char token[TOKEN_SIZE] = "";
    double value = 0;
    if (length < sizeof token) memcpy(token, start, length);
    if (!length)
        reader->status = carom_fail(reader->error, CAROM_BAD_INPUT, "%s: not a problem of Siconos: it ends before %s", reader->path, what);
    else if (!carom_parse_number(token, &value))
        reader->status = carom_fail(reader->error, CAROM_BAD_INPUT, "%s: not a problem of Siconos: '%.*s' of %s is not a finite number",
                                    reader->path, length < 40 ? (int)length : 40, start, what);
    reader->next = start + length;
    return reader->status ? 0 : value;
}

// A whole number within limits.
static int64_t take_integer(text_reader *reader, const char *what, int64_t least, int64_t most) {
    const double value = take_number(reader, what);
    if (!reader->status && !(value >= (double)least && value <= (double)most && value == floor(value)))
        reader->status =
            carom_fail(reader->error, CAROM_BAD_INPUT, "%s: not a problem of Siconos: %s is %g, must be a whole number from %lld to %lld",
                       reader->path, what, value, (long long)least, (long long)most);
    return reader->status ? least : (int64_t)value;
}

// An array to be freed, NULL after an error.
static void *take_room(text_reader *reader, int64_t count, size_t size) {
    void *room = reader->status ? NULL : calloc((size_t)count + 1, size);
    if (!room && !reader->status) reader->status = carom_fail_memory(reader->error, reader->path);
    return room;
}

static double *take_numbers(text_reader *reader, const char *what, int64_t count) {
    double *values = take_room(reader, count, sizeof *values);
    for (int64_t i = 0; values && i < count; i++) values[i] = take_number(reader, what);
    return values;
}

// Where blocks end; the last one ends the matrix.
static int64_t *take_ends(text_reader *reader, int64_t count, int64_t size) {
    int64_t *ends = take_room(reader, count, sizeof *ends);
    for (int64_t i = 0, before = 0; ends && i < count; before = ends[i++])
        ends[i] = take_integer(reader, "an end of a block", i + 1 < count ? before + 1 : size, size);
    return ends;
}

// Blocks in compressed rows. Entries of blocks that stand twice are summed.
static void take_blocks(text_reader *reader, int64_t rows, int64_t columns, double *matrix) {
    const int64_t count = take_integer(reader, "the number of blocks", 0, rows * columns);
    if (!count) return;
    const int64_t lines = take_integer(reader, "the number of rows of blocks", 1, rows),
                  widths = take_integer(reader, "the number of columns of blocks", 1, columns);
    int64_t *below = take_ends(reader, lines, rows), *right = take_ends(reader, widths, columns);
    const int64_t filled = take_integer(reader, "the number of starts of rows of blocks", 1, lines + 1);
    const int64_t stored = take_integer(reader, "the number of stored blocks", count, count);
    int64_t *starts = take_room(reader, filled, sizeof *starts), *places = take_room(reader, stored, sizeof *places);
    for (int64_t i = 0; starts && i < filled; i++)
        starts[i] = take_integer(reader, "a start of a row of blocks", i ? starts[i - 1] : 0, stored);
    for (int64_t i = 0; places && i < stored; i++) places[i] = take_integer(reader, "a column of a block", 0, widths - 1);
    for (int64_t line = 0; line + 1 < filled && !reader->status; line++)
        for (int64_t k = starts[line]; k < starts[line + 1] && !reader->status; k++) {
            take_integer(reader, "the number of a block", k, k);
            const int64_t place = places[k], top = line ? below[line - 1] : 0, left = place ? right[place - 1] : 0;
            for (int64_t j = left; j < right[place]; j++)
                for (int64_t i = top; i < below[line]; i++) matrix[i * columns + j] += take_number(reader, "a block");
        }
    free(below);
    free(right);
    free(starts);
    free(places);
}

// A matrix [rows x columns], row by row, to be freed; sizes of 0 are taken from the text, within the limit.
static double *take_matrix(text_reader *reader, const char *what, int64_t *rows, int64_t *columns, int64_t most) {
    const int64_t storage = take_integer(reader, "the storage of a matrix", 0, STORAGES);
    if (!reader->status && storage == STORAGES)
        reader->status = carom_fail(reader->error, CAROM_UNSUPPORTED,
                                    "%s: %s has Siconos' sparse storage, whose text has 6 digits only: write it dense, or as an FCLIB file",
                                    reader->path, what);
    *rows = take_integer(reader, "the number of rows of a matrix", *rows ? *rows : 1, *rows ? *rows : most);
    *columns = take_integer(reader, "the number of columns of a matrix", *columns ? *columns : 1, *columns ? *columns : most);
    double *matrix = take_room(reader, *rows * *columns, sizeof *matrix);
    if (matrix && storage == BLOCKS) take_blocks(reader, *rows, *columns, matrix);
    if (!matrix || storage == BLOCKS) return matrix;
    take_integer(reader, "the number of rows of a matrix", *rows, *rows);
    take_integer(reader, "the number of columns of a matrix", *columns, *columns);
    for (int64_t j = 0; j < *columns; j++)
        for (int64_t i = 0; i < *rows; i++) matrix[i * *columns + j] = take_number(reader, what);
    return matrix;
}

// The next numbers are those that stand before a matrix of this size.
static bool has_matrix(const text_reader *reader, int64_t rows, int64_t columns) {
    text_reader ahead = {.path = reader->path, .next = reader->next, .status = reader->status};
    const double storage = take_number(&ahead, ""), height = take_number(&ahead, ""), width = take_number(&ahead, "");
    return !ahead.status && storage >= 0 && storage <= STORAGES && storage == floor(storage) && height == (double)rows &&
           width == (double)columns;
}

// ------------------------------------------------------------------------------------------------------------- problems

bool carom_siconos_is_text(const char *text) { return isdigit((unsigned char)*skip_blanks(text)); }

// "n storage n n", and not "dimension contacts storage": where both fit, it is the former.
bool carom_siconos_is_lcp(const char *text) {
    text_reader reader = {.path = "", .next = text};
    double first[4] = {0};
    for (int i = 0; i < 4; i++) first[i] = take_number(&reader, "");
    return !reader.status && first[0] == first[2] && first[0] == first[3] && first[1] >= 0 && first[1] <= STORAGES;
}

carom_status carom_siconos_parse(const char *path, const char *text, carom_fclib_problem *problem, carom_error *error) {
    *problem = (carom_fclib_problem){0};
    text_reader reader = {.path = path, .next = text, .error = error};
    problem->tangent_dim = (int)take_integer(&reader, "the dimension", 2, 3) - 1;
    problem->contacts = (int)take_integer(&reader, "the number of contacts", 1, CAROM_MAX_CONTACTS);
    int64_t n = (int64_t)problem->contacts * (1 + problem->tangent_dim), rows = 0, columns = 0;
    double *first = take_matrix(&reader, "the first matrix", &rows, &columns, CAROM_MAX_VELOCITIES);
    if (!reader.status && rows != columns)
        reader.status = carom_fail(error, CAROM_BAD_INPUT, "%s: not a problem of Siconos: its first matrix is not square, but %lld x %lld",
                                   path, (long long)rows, (long long)columns);
    // A global problem goes on with H, a local one with q. Remarks may follow.
    double *directions = NULL, *force = NULL, *shift = NULL;
    const bool local = rows == n && !has_matrix(&reader, n, n);
    if (local) {
        problem->velocity = take_numbers(&reader, "q", n);
    } else {
        directions = take_matrix(&reader, "H", &rows, &n, rows);
        force = take_numbers(&reader, "q", rows);
        shift = take_numbers(&reader, "b", n);
    }
    problem->friction = take_numbers(&reader, "mu", problem->contacts);
    if (local) {
        problem->delassus = first;
    } else {
        if (!reader.status)
            reader.status = carom_fclib_reduce(path, &(carom_fclib_global){(int)rows, first, directions, force, shift}, problem, error);
        free(first);
    }
    free(directions);
    free(force);
    free(shift);
    if (reader.status) carom_fclib_problem_release(problem);
    return reader.status;
}

carom_status carom_siconos_parse_lcp(const char *path, const char *text, int *n, double **W, double **w, carom_error *error) {
    text_reader reader = {.path = path, .next = text, .error = error};
    int64_t size = take_integer(&reader, "the size", 1, CAROM_MAX_LCP), columns = size;
    *W = take_matrix(&reader, "M", &size, &columns, size);
    *w = take_numbers(&reader, "q", size);
    *n = (int)size;
    return reader.status;
}
