// SPDX-License-Identifier: Apache-2.0
// A file with one velocity: {v: [...]} as YAML or JSON.
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"

enum { SIZE, LENGTHS };

typedef struct velocity_fields {
    const double *v;
} velocity_fields;

static const carom_field FIELDS[] = {
    {"v", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(velocity_fields, v), .rows = SIZE},
};

carom_status carom_velocity_read(const char *path, int nv, double *v, carom_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    carom_document *document = NULL;
    velocity_fields fields = {0};
    carom_length lengths[LENGTHS] = {[SIZE] = {.least = nv, .most = nv, .value = nv}};
    carom_status status = carom_file_read(path, CAROM_MAX_FILE_SIZE, &bytes, &size, error);
    if (!status) status = carom_document_parse(path, bytes, size, &document, error);
    if (!status) status = carom_fields_read(document, carom_document_root(document), CAROM_FIELD_ROWS(FIELDS), lengths, &fields, error);
    if (!status) memcpy(v, fields.v, (size_t)nv * sizeof *v);
    carom_document_free(document);
    free(bytes);
    return status;
}
