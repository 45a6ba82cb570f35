// SPDX-License-Identifier: Apache-2.0
// The outcomes of one law in a result file as a set of points or polytopes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/result/file.h"

// A normal and a tangential column, whose widths and numbers of rows must agree, as one array: per contact the normal, then the tangents.
static carom_status read_pair(const carom_result *result, int law, const char *normal_column, const char *tangent_column, const char *what,
                              double **joined, int64_t *rows, carom_error *error) {
    const int contacts = carom_result_contacts(result), dim = carom_result_tangent_dim(result);
    double *normal = NULL, *tangent = NULL;
    int64_t tangent_rows = 0;
    int width = 0, tangent_width = 0;
    *joined = NULL;
    carom_status status = carom_result_read_reals(result, law, normal_column, &normal, rows, &width, error);
    if (!status) status = carom_result_read_reals(result, law, tangent_column, &tangent, &tangent_rows, &tangent_width, error);
    if (!status && (width != contacts || tangent_width != contacts * dim || tangent_rows != *rows))
        status = carom_result_refuse(result, error, "the %s of %s do not fit its contacts", what, carom_result_law_name(result, law));
    if (!status) {
        *joined = malloc((size_t)*rows * (size_t)(contacts * (1 + dim)) * sizeof **joined + 1);
        if (!*joined) status = carom_fail_memory(error, "outcomes");
    }
    double *next = *joined;
    for (int64_t i = 0; i < *rows * contacts && !status; i++) {
        *next++ = normal[i];
        for (int p = 0; p < dim; p++) *next++ = tangent[i * dim + p];
    }
    free(normal);
    free(tangent);
    return status;
}

carom_status carom_result_read_contact_velocities(const carom_result *result, int law, double **u, int64_t *rows, carom_error *error) {
    return read_pair(result, law, "normal_velocity", "tangent_velocity", "velocities", u, rows, error);
}

carom_status carom_result_read_impulses(const carom_result *result, int law, double **impulses, int64_t *rows, carom_error *error) {
    return read_pair(result, law, "normal_impulse", "tangent_impulse", "impulses", impulses, rows, error);
}

bool carom_result_has_column(const carom_result *result, int law, const char *column) {
    return carom_result_has_dataset(result, carom_result_law_name(result, law), column);
}

carom_status carom_result_read_draw_columns(const carom_result *result, int law, carom_column columns[CAROM_UNCERTAIN_COLUMNS], int *count,
                                            carom_error *error) {
    carom_status status = CAROM_OK;
    *count = 0;
    for (int i = 0; i < CAROM_UNCERTAIN_COLUMNS && !status; i++) {
        const carom_column *known = &carom_uncertain_columns[i];
        if (!carom_result_has_column(result, law, known->name)) continue;
        // The coordinates of a pose are as many as the file has.
        carom_column *column = &columns[(*count)++];
        *column = *known;
        double *values = NULL;
        int64_t rows;
        if (!known->width) status = carom_result_read_reals(result, law, known->name, &values, &rows, &column->width, error);
        free(values);
    }
    return status;
}

carom_status carom_result_set_read(const carom_result *result, int law, const carom_impact *impact, carom_outcome_set *set,
                                   carom_error *error) {
    const char *name = carom_result_law_name(result, law), *column = carom_piece_columns[CAROM_PIECE_INDEX].name;
    int64_t rows = 0, *piece = NULL;
    int width = 0;
    *set = (carom_outcome_set){.n = carom_impact_contact_size(impact), .law = name};
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

    if (!status) status = carom_result_read_integers(result, law, "flags", &set->flags, &rows, &width, error);
    if (!status && rows != set->points) status = carom_result_refuse(result, error, "the outcomes of %s do not fit their flags", name);

    // Consecutive rows with the same piece are its vertices; without pieces every row is one.
    const bool polyhedral = carom_result_has_dataset(result, name, column);
    if (!status && polyhedral) {
        status = carom_result_read_integers(result, law, column, &piece, &rows, &width, error);
        if (!status && rows != set->points) status = carom_result_refuse(result, error, "the outcomes of %s do not fit their pieces", name);
    }
    if (!status) status = carom_outcome_set_group(set, piece, error);
    free(piece);
    if (status) {
        carom_outcome_set_release(set);
        return status;
    }
    // Laws with pieces say what they are of the set.
    snprintf(set->certificate, sizeof set->certificate, "%s", polyhedral ? "none" : "samples");
    if (polyhedral) carom_result_read_attribute(result, law, "certificate", set->certificate, sizeof set->certificate);
    char keep[CAROM_CERTIFICATE_SIZE] = "";
    set->corners = carom_result_read_attribute(result, law, "keep", keep, sizeof keep) && !strcmp(keep, "hull");
    status = carom_result_check(result, error);
    if (status) carom_outcome_set_release(set);
    return status;
}

carom_status carom_result_set_read_for(const carom_result *result, int law, const carom_functional *functional, carom_outcome_set *set,
                                       carom_error *error) {
    const char *name = carom_result_law_name(result, law);
    int64_t rows = set->points;
    int width = 1;
    carom_status status = CAROM_OK;
    if (functional->has_impulse && !set->impulse) status = carom_result_read_impulses(result, law, &set->impulse, &rows, error);
    if (!status && rows == set->points && functional->energy != 0 && !set->energy)
        status = carom_result_read_reals(result, law, "energy_ratio", &set->energy, &rows, &width, error);
    if (!status && (rows != set->points || width != 1))
        status = carom_result_refuse(result, error, "the outcomes of %s have columns of different lengths", name);
    return status;
}
