// SPDX-License-Identifier: Apache-2.0
// LCP files: {W, w} as YAML or JSON, a text of Siconos, and the linearised contact problem of an FCLIB file or such a text.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/fclib/file.h"
#include "io/io_internal.h"

// The one length that both arrays share.
enum { SIZE, LENGTHS };

// What the reader finds in a document, which owns it.
typedef struct lcp_fields {
    const double *matrix, *vector;
} lcp_fields;

static const carom_field FIELDS[] = {
    {"w", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(lcp_fields, vector), .rows = SIZE},
    {"W", CAROM_FIELD_MATRIX, .required = true, .offset = offsetof(lcp_fields, matrix), .rows = SIZE, .columns = SIZE},
};

// Makes room for an LCP of this size with a copy of W.
static carom_status make_problem(const char *path, int size, const double *W, carom_lcp_problem *problem, carom_error *error) {
    const size_t n = (size_t)size;
    *problem = (carom_lcp_problem){.n = size, .W = malloc(n * n * sizeof *W), .w = malloc(n * sizeof *W)};
    if (!problem->W || !problem->w) return carom_fail_memory(error, path);
    memcpy(problem->W, W, n * n * sizeof *W);
    return CAROM_OK;
}

// The LCP of the simultaneous step, which Anitescu & Potra's law solves, and a warning where W is not symmetric.
static carom_status read_contacts(const char *path, const char *bytes, size_t size, carom_lcp_problem *problem, carom_error *error) {
    carom_fclib_problem contact;
    carom_status status = carom_contact_file_parse(path, bytes, size, &contact, error);
    if (status) return status;
    const carom_delassus_data data = {.contacts = contact.contacts,
                                      .tangent_dim = contact.tangent_dim,
                                      .delassus = contact.delassus,
                                      .velocity = contact.velocity,
                                      .friction = contact.friction};
    // The impact of the problem; its errors do not name the file.
    const carom_stepper_options options = carom_stepper_defaults();
    carom_impact *impact = NULL;
    carom_stepper *stepper = NULL;
    carom_error inner;
    status = carom_impact_create_delassus(&data, &impact, &inner);
    if (status) carom_fail(error, status, "%s: %s", path, inner.message);
    if (!status) status = carom_stepper_create(impact, &options, &stepper, error);
    if (!status) status = make_problem(path, carom_stepper_lcp_size(stepper), carom_stepper_lcp_matrix(stepper), problem, error);
    if (!status) carom_stepper_lcp_vector(stepper, carom_impact_get_data(impact)->velocity, NULL, problem->w);

    // The impact has averaged W with its transpose.
    char sentence[CAROM_MESSAGE_SIZE];
    if (!status && carom_asymmetry_describe(contact.contacts * (1 + contact.tangent_dim), contact.delassus, sentence)) {
        const size_t length = strlen(path) + strlen(sentence) + sizeof ": W ";
        problem->warning = malloc(length);
        if (problem->warning)
            snprintf(problem->warning, length, "%s: W %s", path, sentence);
        else
            status = carom_fail_memory(error, path);
    }
    carom_stepper_free(stepper);
    carom_impact_free(impact);
    carom_fclib_problem_release(&contact);
    return status;
}

carom_status carom_lcp_problem_read(const char *path, carom_lcp_problem *problem, carom_error *error) {
    *problem = (carom_lcp_problem){0};
    char *bytes = NULL;
    size_t size = 0;
    carom_status status = carom_file_read(path, CAROM_MAX_FILE_SIZE, &bytes, &size, error);
    // Names of files say nothing: the first bytes do.
    const bool text = !status && carom_siconos_is_text(bytes);
    if (text && carom_siconos_is_lcp(bytes)) {
        status = carom_siconos_parse_lcp(path, bytes, &problem->n, &problem->W, &problem->w, error);
    } else if (text || (!status && carom_fclib_is_hdf5(bytes, size))) {
        status = read_contacts(path, bytes, size, problem, error);
    } else if (!status) {
        carom_document *document = NULL;
        lcp_fields fields = {0};
        carom_length lengths[LENGTHS] = {[SIZE] = {.least = 1, .most = CAROM_MAX_LCP}};
        status = carom_document_parse(path, bytes, size, &document, error);
        if (!status) status = carom_fields_read(document, carom_document_root(document), CAROM_FIELD_ROWS(FIELDS), lengths, &fields, error);
        if (!status) status = make_problem(path, lengths[SIZE].value, fields.matrix, problem, error);
        if (!status) memcpy(problem->w, fields.vector, (size_t)problem->n * sizeof *problem->w);
        carom_document_free(document);
    }
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
