// SPDX-License-Identifier: Apache-2.0
// LCP files: {W, w} as YAML or JSON, and the linearised contact problem of an FCLIB file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/fclib/file.h"
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
    return problem->W && problem->w ? CAROM_OK : carom_fail_memory(error, carom_document_path(document));
}

static carom_status read_document(const char *path, const char *bytes, size_t size, carom_lcp_problem *problem, carom_error *error) {
    carom_document *document = NULL;
    carom_status status = carom_document_parse(path, bytes, size, &document, error);
    if (!status) status = read_fields(document, problem, error);
    carom_document_free(document);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- FCLIB

// The LCP of the simultaneous step: what Anitescu & Potra's law solves.
static carom_status linearise(const char *path, const carom_impact *impact, carom_lcp_problem *problem, carom_error *error) {
    const carom_stepper_options options = carom_stepper_defaults();
    carom_stepper *stepper = NULL;
    carom_status status = carom_stepper_create(impact, &options, &stepper, error);
    if (status) return status;
    const size_t n = (size_t)carom_stepper_lcp_size(stepper);
    *problem = (carom_lcp_problem){.n = (int)n, .W = copy(carom_stepper_lcp_matrix(stepper), n * n), .w = malloc(n * sizeof(double))};
    if (problem->W && problem->w)
        carom_stepper_lcp_vector(stepper, carom_impact_get_data(impact)->velocity, NULL, problem->w);
    else
        status = carom_fail_memory(error, path);
    carom_stepper_free(stepper);
    return status;
}

static carom_status describe_asymmetry(const char *path, const carom_delassus_data *data, carom_lcp_problem *problem, carom_error *error) {
    char sentence[CAROM_MESSAGE_SIZE];
    if (!carom_asymmetry_describe(data->contacts * (1 + data->tangent_dim), data->delassus, sentence)) return CAROM_OK;
    const size_t size = strlen(path) + strlen(sentence) + sizeof ": W ";
    problem->warning = malloc(size);
    if (!problem->warning) return carom_fail_memory(error, path);
    snprintf(problem->warning, size, "%s: W %s", path, sentence);
    return CAROM_OK;
}

static carom_status read_fclib(const char *path, const char *bytes, size_t size, carom_lcp_problem *problem, carom_error *error) {
    carom_fclib_problem contact;
    carom_status status = carom_fclib_parse(path, bytes, size, &contact, error);
    if (status) return status;
    const carom_delassus_data data = {.contacts = contact.contacts,
                                      .tangent_dim = contact.tangent_dim,
                                      .delassus = contact.delassus,
                                      .velocity = contact.velocity,
                                      .friction = contact.friction};
    carom_impact *impact = NULL;
    carom_error inner;
    status = carom_impact_create_delassus(&data, &impact, &inner);
    if (status) carom_fail(error, status, "%s: %s", path, inner.message);
    if (!status) status = linearise(path, impact, problem, error);
    if (!status) status = describe_asymmetry(path, &data, problem, error);
    carom_impact_free(impact);
    carom_fclib_problem_release(&contact);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- files

carom_status carom_lcp_problem_read(const char *path, carom_lcp_problem *problem, carom_error *error) {
    *problem = (carom_lcp_problem){0};
    char *bytes = NULL;
    size_t size = 0;
    carom_status status = carom_file_read(path, &bytes, &size, error);
    if (!status && carom_fclib_is_hdf5(bytes, size))
        status = read_fclib(path, bytes, size, problem, error);
    else if (!status)
        status = read_document(path, bytes, size, problem, error);
    free(bytes);
    if (status) carom_lcp_problem_release(problem);
    return status;
}

void carom_lcp_problem_release(carom_lcp_problem *problem) {
    free(problem->W);
    free(problem->w);
    free(problem->warning);
    *problem = (carom_lcp_problem){0};
}
