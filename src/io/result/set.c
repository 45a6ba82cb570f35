// SPDX-License-Identifier: Apache-2.0
// The outcomes of one law in a result file as a set of points or polytopes.
#include <stdio.h>
#include <stdlib.h>

#include "io/result/file.h"

carom_status carom_result_read_contact_velocities(const carom_result *result, int law, double **u, int64_t *rows, carom_error *error) {
    const int contacts = carom_result_contacts(result), dim = carom_result_tangent_dim(result);
    double *normal = NULL, *tangent = NULL;
    int64_t tangent_rows = 0;
    int width = 0, tangent_width = 0;
    *u = NULL;
    // Two columns in the file, whose widths and numbers of rows must agree.
    carom_status status = carom_result_read_reals(result, law, "normal_velocity", &normal, rows, &width, error);
    if (!status) status = carom_result_read_reals(result, law, "tangent_velocity", &tangent, &tangent_rows, &tangent_width, error);
    if (!status && (width != contacts || tangent_width != contacts * dim || tangent_rows != *rows))
        status = carom_result_refuse(result, error, "the velocities of %s do not fit its contacts", carom_result_law_name(result, law));
    if (!status) {
        *u = malloc((size_t)*rows * (size_t)(contacts * (1 + dim)) * sizeof **u + 1);
        if (!*u) status = carom_fail_memory(error, "outcomes");
    }
    // Per contact the normal, then the tangents.
    double *next = *u;
    for (int64_t i = 0; i < *rows * contacts && !status; i++) {
        *next++ = normal[i];
        for (int p = 0; p < dim; p++) *next++ = tangent[i * dim + p];
    }
    free(normal);
    free(tangent);
    return status;
}

carom_status carom_result_set_read(const carom_result *result, int law, const carom_impact *impact, carom_result_set *set,
                                   carom_error *error) {
    const char *name = carom_result_law_name(result, law), *column = carom_piece_columns[CAROM_PIECE_INDEX].name;
    int64_t rows = 0, *piece = NULL;
    int width = 0;
    *set = (carom_result_set){.n = carom_impact_contact_size(impact)};
    carom_status status = carom_result_read_contact_velocities(result, law, &set->u, &set->points, error);
    if (!status && !set->points)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s has no outcomes there (`--keep extent` leaves them out)", name);

    // Generalised velocities, where the impact has a system.
    if (!status && carom_impact_has_system(impact)) {
        set->nv = carom_impact_get_data(impact)->nv;
        status = carom_result_read_reals(result, law, "v_plus", &set->v, &rows, &width, error);
        if (!status && (rows != set->points || width != set->nv))
            status = carom_result_refuse(result, error, "the outcomes of %s do not fit the velocities of the impact", name);
    }

    // Consecutive rows with the same piece are its vertices; without pieces every row is one.
    const bool polyhedral = carom_result_has_dataset(result, name, column);
    if (!status && polyhedral) {
        status = carom_result_read_integers(result, law, column, &piece, &rows, &width, error);
        if (!status && rows != set->points) status = carom_result_refuse(result, error, "the outcomes of %s do not fit their pieces", name);
    }
    // At most one piece for each point.
    if (!status) {
        set->starts = malloc(((size_t)set->points + 1) * sizeof *set->starts);
        if (!set->starts) status = carom_fail_memory(error, "set");
    }
    for (int64_t i = 0; i < set->points && !status; i++)
        if (!piece || i == 0 || piece[i] != piece[i - 1]) set->starts[set->pieces++] = i;
    free(piece);
    if (status) {
        carom_result_set_release(set);
        return status;
    }
    // The last piece ends with the points. Laws with pieces say what they are of the set.
    set->starts[set->pieces] = set->points;
    snprintf(set->certificate, sizeof set->certificate, "%s", polyhedral ? "none" : "samples");
    if (polyhedral) carom_result_read_attribute(result, law, "certificate", set->certificate, sizeof set->certificate);
    status = carom_result_check(result, error);
    if (status) carom_result_set_release(set);
    return status;
}

void carom_result_set_release(carom_result_set *set) {
    free(set->u);
    free(set->v);
    free(set->starts);
    *set = (carom_result_set){0};
}
