// SPDX-License-Identifier: Apache-2.0
// LCP files: {W, w} as YAML or JSON.
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"

enum { SIZE, LENGTHS };

typedef struct lcp_fields {
    const double *matrix, *vector;
} lcp_fields;

static const carom_field FIELDS[] = {
    {"w", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(lcp_fields, vector), .rows = SIZE},
    {"W", CAROM_FIELD_MATRIX, .required = true, .offset = offsetof(lcp_fields, matrix), .rows = SIZE, .columns = SIZE},
};

static double *copy(const double *values, size_t count) {
    double *made = malloc(count * sizeof *made);
    if (made) memcpy(made, values, count * sizeof *made);
    return made;
}

static carom_status read_fields(carom_document *document, carom_lcp_problem *problem, carom_error *error) {
    lcp_fields fields = {0};
    carom_length lengths[LENGTHS] = {[SIZE] = {.least = 1, .most = CAROM_MAX_LCP}};
    const carom_status status =
        carom_fields_read(document, carom_document_root(document), CAROM_FIELD_ROWS(FIELDS), lengths, &fields, error);
    if (status) return status;
    const size_t n = (size_t)lengths[SIZE].value;
    *problem = (carom_lcp_problem){.n = (int)n, .W = copy(fields.matrix, n * n), .w = copy(fields.vector, n)};
    if (problem->W && problem->w) return CAROM_OK;
    carom_lcp_problem_release(problem);
    return carom_fail_memory(error, carom_document_path(document));
}

carom_status carom_lcp_problem_read(const char *path, carom_lcp_problem *problem, carom_error *error) {
    *problem = (carom_lcp_problem){0};
    char *bytes = NULL;
    size_t size = 0;
    carom_document *document = NULL;
    carom_status status = carom_file_read(path, &bytes, &size, error);
    if (!status) status = carom_document_parse(path, bytes, size, &document, error);
    if (!status) status = read_fields(document, problem, error);
    free(bytes);
    carom_document_free(document);
    return status;
}

void carom_lcp_problem_release(carom_lcp_problem *problem) {
    free(problem->W);
    free(problem->w);
    *problem = (carom_lcp_problem){0};
}
