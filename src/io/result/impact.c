// SPDX-License-Identifier: Apache-2.0
// The impact of a result file, from the matrices that stand in it.
#include <stdlib.h>

#include "io/result/description.h"

static const char group[] = "impact";

enum { MOST_MATRICES = 6, ANY_SIZE = -1 };

// Reads one matrix after the other until something is wrong, and keeps them to be freed together.
typedef struct matrix_reader {
    const carom_result *result;
    double *kept[MOST_MATRICES];
    int count, width;  // matrices read; columns of the last one
    carom_status status;
    carom_error *error;
} matrix_reader;

// A matrix of this shape; vectors have one column.
static const double *read_matrix(matrix_reader *reader, const char *name, int rows, int columns) {
    double *values = NULL;
    int64_t lines = 0;
    if (reader->status) return NULL;
    reader->status = carom_result_read_dataset(reader->result, group, name, &values, &lines, &reader->width, reader->error);
    if (reader->status) return NULL;
    reader->kept[reader->count++] = values;
    const int wanted = columns == ANY_SIZE ? reader->width : columns;
    if (reader->width != wanted || lines != (rows == ANY_SIZE ? wanted : rows))
        reader->status = carom_result_refuse(reader->result, reader->error, "%s of its impact has another size than it should", name);
    return values;
}

carom_status carom_result_read_impact(const carom_result *result, carom_impact **impact, carom_error *error) {
    *impact = NULL;
    const char *const *names = carom_result_contact_names(result);
    const int contacts = carom_result_contacts(result), dim = carom_result_tangent_dim(result), n = contacts * (1 + dim);
    matrix_reader reader = {.result = result, .error = error};
    const double *friction = read_matrix(&reader, "mu", contacts, 1), *restitution = read_matrix(&reader, "restitution", contacts, 1);
    // An impact in contact space has W and u, any other M, J and v.
    if (carom_result_has_dataset(result, group, "W")) {
        carom_delassus_data data = {
            .contacts = contacts, .tangent_dim = dim, .friction = friction, .restitution = restitution, .names = names};
        data.delassus = read_matrix(&reader, "W", n, n);
        data.velocity = read_matrix(&reader, "u", n, 1);
        if (!reader.status) reader.status = carom_impact_create_delassus(&data, impact, error);
    } else {
        carom_impact_data data = {
            .contacts = contacts, .tangent_dim = dim, .friction = friction, .restitution = restitution, .names = names};
        // The mass matrix says how many velocities there are.
        data.mass = read_matrix(&reader, "M", ANY_SIZE, ANY_SIZE);
        data.nv = reader.width;
        data.normal = read_matrix(&reader, "Jn", contacts, data.nv);
        data.tangent = read_matrix(&reader, "Jt", contacts * dim, data.nv);
        data.velocity = read_matrix(&reader, "v", data.nv, 1);
        // Files of older versions have neither names of velocities nor places of contacts.
        const carom_quantities quantities = carom_result_quantities(result);
        if (data.nv == quantities.nv) {
            data.velocity_names = quantities.velocity_names;
            data.velocity_turns = quantities.velocity_turns;
        }
        carom_arena memory = {0};
        if (!reader.status) reader.status = carom_result_read_geometry(result, &data.geometry, &memory, error);
        if (!reader.status) reader.status = carom_impact_create(&data, impact, error);
        carom_arena_free(&memory);
    }
    for (int i = 0; i < reader.count; i++) free(reader.kept[i]);
    return reader.status;
}
