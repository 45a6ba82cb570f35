// SPDX-License-Identifier: Apache-2.0
// The outcomes of one law in a result file as a set of points or polytopes.
#include <stdio.h>
#include <stdlib.h>

#include "io/result/file.h"

static carom_status refuse(const carom_result *result, int law, const char *why, carom_error *error) {
    return carom_fail(error, CAROM_BAD_INPUT, "the outcomes of %s %s", carom_result_law_name(result, law), why);
}

// Per contact the normal, then the tangents.
static void interleave(const carom_result_set *set, int contacts, const double *normal, const double *tangent) {
    const int dim = set->n / contacts - 1;
    double *u = set->u;
    for (int64_t row = 0; row < set->points; row++)
        for (int i = 0; i < contacts; i++) {
            *u++ = normal[row * contacts + i];
            for (int p = 0; p < dim; p++) *u++ = tangent[(row * contacts + i) * dim + p];
        }
}

static carom_status read_contact_velocities(const carom_result *result, int law, carom_result_set *set, carom_error *error) {
    const int contacts = carom_result_contacts(result);
    double *normal = NULL, *tangent = NULL;
    int64_t rows = 0;
    int width = 0, tangent_width = 0;
    carom_status status = carom_result_read_reals(result, law, "normal_velocity", &normal, &set->points, &width, error);
    if (!status) status = carom_result_read_reals(result, law, "tangent_velocity", &tangent, &rows, &tangent_width, error);
    if (!status && (width != contacts || tangent_width != set->n - contacts || rows != set->points))
        status = refuse(result, law, "do not fit the contacts", error);
    if (!status && !set->points) status = refuse(result, law, "are none", error);
    if (!status) {
        set->u = malloc((size_t)set->points * (size_t)set->n * sizeof *set->u);
        if (set->u)
            interleave(set, contacts, normal, tangent);
        else
            status = carom_fail_memory(error, "set");
    }
    free(normal);
    free(tangent);
    return status;
}

static carom_status read_velocities(const carom_result *result, int law, carom_result_set *set, carom_error *error) {
    if (!set->nv) return CAROM_OK;
    int64_t rows = 0;
    int width = 0;
    const carom_status status = carom_result_read_reals(result, law, "v_plus", &set->v, &rows, &width, error);
    if (status) return status;
    return rows == set->points && width == set->nv ? CAROM_OK : refuse(result, law, "do not fit the velocities of the impact", error);
}

static carom_status read_pieces(const carom_result *result, int law, carom_result_set *set, carom_error *error) {
    int64_t *piece = NULL, rows = set->points;
    int width = 0;
    const char *column = carom_piece_columns[CAROM_PIECE_INDEX].name;
    const bool polyhedral = carom_result_has_column(result, law, column);
    carom_status status = polyhedral ? carom_result_read_integers(result, law, column, &piece, &rows, &width, error) : CAROM_OK;
    if (!status && rows != set->points) status = refuse(result, law, "do not fit their pieces", error);
    set->starts = malloc(((size_t)set->points + 1) * sizeof *set->starts);
    if (!status && !set->starts) status = carom_fail_memory(error, "set");
    for (int64_t i = 0; i < set->points && !status; i++)
        if (!piece || i == 0 || piece[i] != piece[i - 1]) set->starts[set->pieces++] = i;
    if (!status) set->starts[set->pieces] = set->points;
    snprintf(set->certificate, sizeof set->certificate, "%s", polyhedral ? "none" : "samples");
    if (polyhedral) carom_result_read_attribute(result, law, "certificate", set->certificate, sizeof set->certificate);
    free(piece);
    return status;
}

carom_status carom_result_set_read(const carom_result *result, int law, const carom_impact *impact, carom_result_set *set,
                                   carom_error *error) {
    *set = (carom_result_set){.n = carom_impact_contact_size(impact)};
    if (carom_impact_has_system(impact)) set->nv = carom_impact_get_data(impact)->nv;
    carom_status status = read_contact_velocities(result, law, set, error);
    if (!status) status = read_velocities(result, law, set, error);
    if (!status) status = read_pieces(result, law, set, error);
    if (status) carom_result_set_release(set);
    return status;
}

void carom_result_set_release(carom_result_set *set) {
    free(set->u);
    free(set->v);
    free(set->starts);
    *set = (carom_result_set){0};
}
