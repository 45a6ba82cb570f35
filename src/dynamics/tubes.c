// SPDX-License-Identifier: Apache-2.0
// What the members of a mechanism's ensemble have in common: the extent and the quantiles of every coordinate at the recorded times, and
// the shares of what is closed at the end.
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "dynamics/tubes.h"

static const double shares[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};
enum { SHARES = sizeof shares / sizeof *shares };

static const carom_column tube_columns[] = {
    [CAROM_TUBE_TIME] = {"t", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    [CAROM_TUBE_COORDINATE] = {"coordinate", CAROM_COLUMN_TEXT, 1, "", "name of the coordinate", NULL},
    [CAROM_TUBE_MEMBERS] = {"members", CAROM_COLUMN_INTEGER, 1, "", "members that reached the time", NULL},
    [CAROM_TUBE_LEAST] = {"least", CAROM_COLUMN_REAL, 1, "", "least value [m, rad, or of a unit quaternion]", NULL},
    {"q05", CAROM_COLUMN_REAL, 1, "", "5 % of the members are below", NULL},
    {"q25", CAROM_COLUMN_REAL, 1, "", "25 % of the members are below", NULL},
    {"median", CAROM_COLUMN_REAL, 1, "", "half of the members are below", NULL},
    {"q75", CAROM_COLUMN_REAL, 1, "", "75 % of the members are below", NULL},
    {"q95", CAROM_COLUMN_REAL, 1, "", "95 % of the members are below", NULL},
    {"most", CAROM_COLUMN_REAL, 1, "", "largest value", NULL},
};

static const carom_column end_columns[] = {
    [CAROM_END_CONTACTS] = {"contacts", CAROM_COLUMN_TEXT, 1, "", "closed constraints at the end, with spaces between them", NULL},
    [CAROM_END_COUNT] = {"count", CAROM_COLUMN_INTEGER, 1, "", "complete members that end so", NULL},
    [CAROM_END_SHARE] = {"share", CAROM_COLUMN_REAL, 1, "", "of the complete members", NULL},
};

carom_status carom_tubes_create(const carom_motion *motion, carom_tubes *tubes, carom_error *error) {
    const carom_sizes none = {0};
    *tubes = (carom_tubes){.mechanism = motion->mechanism};
    carom_status status =
        carom_table_create(tube_columns, sizeof tube_columns / sizeof *tube_columns, NULL, 0, &none, &tubes->tubes, error);
    if (!status) status = carom_table_create(end_columns, sizeof end_columns / sizeof *end_columns, NULL, 0, &none, &tubes->ends, error);
    return status;
}

void carom_tubes_free(carom_tubes *tubes) {
    for (int64_t i = 0; i < tubes->end_count; i++) free(tubes->end[i]);
    free(tubes->end);
    free(tubes->values);
    free(tubes->first);
    free(tubes->time);
    carom_table_free(tubes->tubes);
    carom_table_free(tubes->ends);
    *tubes = (carom_tubes){0};
}

static int compare_texts(const void *left, const void *right) { return strcmp(*(char *const *)left, *(char *const *)right); }

// The names of the constraints that are closed in the final state, sorted, each once, with spaces between them; to be freed.
static char *describe_end(const carom_motion_answer *answer) {
    int count;
    const int *list = carom_table_list(answer->final, carom_table_find(answer->final, "contacts"), 0, &count);
    const char **names = malloc(((size_t)count + 1) * sizeof *names);
    size_t length = 1;
    for (int i = 0; names && i < count; i++) {
        names[i] = carom_table_text(answer->names, CAROM_MOTION_NAME, list[i]);
        length += strlen(names[i]) + 1;
    }
    char *text = names ? calloc(length, 1) : NULL;
    if (text) {
        qsort(names, (size_t)count, sizeof *names, compare_texts);
        char *end = text;
        for (int i = 0; i < count; i++) {
            if (i && !strcmp(names[i], names[i - 1])) continue;
            const size_t size = strlen(names[i]);
            if (end > text) *end++ = ' ';
            memcpy(end, names[i], size);
            end += size;
        }
    }
    free(names);
    return text;
}

carom_status carom_tubes_add(carom_tubes *tubes, const carom_motion_answer *answer, carom_error *error) {
    const size_t nq = (size_t)tubes->mechanism->nq, members = (size_t)tubes->members, rows = (size_t)carom_table_rows(answer->recorded);
    size_t *first = realloc(tubes->first, (members + 2) * sizeof *first);
    if (!first) return carom_fail_memory(error, "ensemble");
    tubes->first = first;
    if (!members) first[0] = 0;
    double *values = realloc(tubes->values, ((first[members] + rows) * nq + 1) * sizeof *values);
    if (!values) return carom_fail_memory(error, "ensemble");
    tubes->values = values;
    if (rows) memcpy(values + first[members] * nq, carom_motion_column(answer->recorded, "qpos"), rows * nq * sizeof *values);
    first[members + 1] = first[members] + rows;
    // A member that ends early has the first of the times.
    if (rows > tubes->times) {
        double *time = realloc(tubes->time, rows * sizeof *time);
        if (!time) return carom_fail_memory(error, "ensemble");
        tubes->time = time;
        memcpy(time, carom_motion_column(answer->recorded, "t"), rows * sizeof *time);
        tubes->times = rows;
    }
    tubes->members++;
    if (!carom_motion_answer_complete(answer)) return CAROM_OK;
    char *end = describe_end(answer);
    char **ends = end ? realloc(tubes->end, ((size_t)tubes->end_count + 1) * sizeof *ends) : NULL;
    if (!ends) {
        free(end);
        return carom_fail_memory(error, "ensemble");
    }
    tubes->end = ends;
    ends[tubes->end_count++] = end;
    return CAROM_OK;
}

// A row for every coordinate at one time.
static carom_status add_time(carom_tubes *tubes, size_t time, double *sorted, carom_error *error) {
    const size_t nq = (size_t)tubes->mechanism->nq;
    carom_status status = CAROM_OK;
    for (size_t k = 0; k < nq && !status; k++) {
        int count = 0;
        for (size_t i = 0; i < (size_t)tubes->members; i++)
            if (tubes->first[i + 1] - tubes->first[i] > time) sorted[count++] = tubes->values[(tubes->first[i] + time) * nq + k];
        carom_sort(count, sorted);
        status = carom_table_add_row(tubes->tubes, error);
        if (!status) status = carom_table_set_text(tubes->tubes, CAROM_TUBE_COORDINATE, tubes->mechanism->position_names[k], error);
        if (status) return status;
        *carom_table_reals(tubes->tubes, CAROM_TUBE_TIME) = tubes->time[time];
        *carom_table_integers(tubes->tubes, CAROM_TUBE_MEMBERS) = count;
        for (int j = 0; j < SHARES; j++) *carom_table_reals(tubes->tubes, CAROM_TUBE_LEAST + j) = carom_quantile(count, sorted, shares[j]);
    }
    return status;
}

carom_status carom_tubes_conclude(carom_tubes *tubes, carom_error *error) {
    double *sorted = malloc(((size_t)tubes->members + 1) * sizeof *sorted);
    if (!sorted) return carom_fail_memory(error, "ensemble");
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < tubes->times && !status; i++) status = add_time(tubes, i, sorted, error);
    free(sorted);
    if (tubes->end_count) qsort(tubes->end, (size_t)tubes->end_count, sizeof *tubes->end, compare_texts);
    for (int64_t i = 0, next; i < tubes->end_count && !status; i = next) {
        for (next = i + 1; next < tubes->end_count && !strcmp(tubes->end[i], tubes->end[next]);) next++;
        status = carom_table_add_row(tubes->ends, error);
        if (!status) status = carom_table_set_text(tubes->ends, CAROM_END_CONTACTS, tubes->end[i], error);
        if (status) break;
        *carom_table_integers(tubes->ends, CAROM_END_COUNT) = next - i;
        *carom_table_reals(tubes->ends, CAROM_END_SHARE) = (double)(next - i) / (double)tubes->end_count;
    }
    return status;
}
