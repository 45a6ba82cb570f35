// SPDX-License-Identifier: Apache-2.0
// The impact of a result file, from the matrices that stand in it.
#include <stdlib.h>

#include "io/result/file.h"

static const char group[] = "impact";

enum { MOST_MATRICES = 6 };

// The matrices read so far, freed together.
typedef struct matrices {
    double *values[MOST_MATRICES];
    int count;
} matrices;

// Reads a matrix and checks its shape; vectors have one column.
static carom_status read_matrix(const carom_result *result, const char *name, int64_t rows, int columns, matrices *kept,
                                const double **matrix, carom_error *error) {
    int64_t lines = 0;
    int width = 0;
    double *values = NULL;
    const carom_status status = carom_result_read_dataset(result, group, name, &values, &lines, &width, error);
    if (status) return status;
    kept->values[kept->count++] = values;
    *matrix = values;
    if (lines == rows && width == columns) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "not a carom result file: %s of its impact has another size than it should", name);
}

static const char **list_names(const carom_result *result) {
    const int contacts = carom_result_contacts(result);
    const char **names = malloc((size_t)contacts * sizeof *names);
    for (int i = 0; names && i < contacts; i++) names[i] = carom_result_contact_name(result, i);
    return names;
}

static carom_status read_system(const carom_result *result, const char *const *names, const double *friction, const double *restitution,
                                matrices *kept, carom_impact **impact, carom_error *error) {
    carom_impact_data data = {.contacts = carom_result_contacts(result),
                              .tangent_dim = carom_result_tangent_dim(result),
                              .friction = friction,
                              .restitution = restitution,
                              .names = names};
    int64_t rows = 0;
    double *mass = NULL;
    carom_status status = carom_result_read_dataset(result, group, "M", &mass, &rows, &data.nv, error);
    if (status) return status;
    kept->values[kept->count++] = mass;
    data.mass = mass;
    if (rows != data.nv) return carom_fail(error, CAROM_BAD_INPUT, "not a carom result file: its mass matrix is not square");
    status = read_matrix(result, "Jn", data.contacts, data.nv, kept, &data.normal, error);
    if (!status) status = read_matrix(result, "Jt", data.contacts * data.tangent_dim, data.nv, kept, &data.tangent, error);
    if (!status) status = read_matrix(result, "v", data.nv, 1, kept, &data.velocity, error);
    return status ? status : carom_impact_create(&data, impact, error);
}

static carom_status read_contact_space(const carom_result *result, const char *const *names, const double *friction,
                                       const double *restitution, matrices *kept, carom_impact **impact, carom_error *error) {
    carom_delassus_data data = {.contacts = carom_result_contacts(result),
                                .tangent_dim = carom_result_tangent_dim(result),
                                .friction = friction,
                                .restitution = restitution,
                                .names = names};
    const int n = data.contacts * (1 + data.tangent_dim);
    carom_status status = read_matrix(result, "W", n, n, kept, &data.delassus, error);
    if (!status) status = read_matrix(result, "u", n, 1, kept, &data.velocity, error);
    return status ? status : carom_impact_create_delassus(&data, impact, error);
}

carom_status carom_result_read_impact(const carom_result *result, carom_impact **impact, carom_error *error) {
    *impact = NULL;
    matrices kept = {.count = 0};
    const double *friction = NULL, *restitution = NULL;
    const int contacts = carom_result_contacts(result);
    const char **names = list_names(result);
    carom_status status = names ? CAROM_OK : carom_fail_memory(error, "impact");
    if (!status) status = read_matrix(result, "mu", contacts, 1, &kept, &friction, error);
    if (!status) status = read_matrix(result, "restitution", contacts, 1, &kept, &restitution, error);
    const bool in_contact_space = carom_result_has_dataset(result, group, "W");
    if (!status)
        status = in_contact_space ? read_contact_space(result, names, friction, restitution, &kept, impact, error)
                                  : read_system(result, names, friction, restitution, &kept, impact, error);
    for (int i = 0; i < kept.count; i++) free(kept.values[i]);
    free(names);
    return status;
}
