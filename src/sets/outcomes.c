// SPDX-License-Identifier: Apache-2.0
// The outcomes of a law as a set of points or polytopes: from an answer in memory, and what every source of them shares.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/polyhedra.h"
#include "carom/questions.h"

// A normal and a tangential column as one array: per contact the normal, then the tangents.
static double *join(const carom_table *outcomes, int normal_column, int tangent_column) {
    const carom_sizes *sizes = carom_table_sizes(outcomes);
    const int dim = sizes->tangents / sizes->contacts;
    const int64_t rows = carom_table_rows(outcomes);
    const double *normal = carom_table_real_column(outcomes, normal_column);
    const double *tangent = carom_table_real_column(outcomes, tangent_column);
    double *joined = malloc((size_t)rows * (size_t)(sizes->contacts + sizes->tangents) * sizeof *joined), *next = joined;
    for (int64_t i = 0; i < rows * sizes->contacts && joined; i++) {
        *next++ = normal[i];
        for (int p = 0; p < dim; p++) *next++ = tangent[i * dim + p];
    }
    return joined;
}

static double *copy(const double *values, size_t count) {
    double *copied = malloc(count * sizeof *copied);
    return copied ? memcpy(copied, values, count * sizeof *copied) : NULL;
}

carom_status carom_outcome_set_create(const carom_impact *impact, const carom_table *outcomes, const carom_table *result, const char *law,
                                      bool corners, carom_outcome_set *set, carom_error *error) {
    const carom_sizes sizes = carom_impact_sizes(impact), *of_table = carom_table_sizes(outcomes);
    const int64_t points = carom_table_rows(outcomes);
    *set = (carom_outcome_set){.n = carom_impact_contact_size(impact), .points = points, .law = law, .corners = corners};
    if (sizes.nv != of_table->nv || sizes.contacts != of_table->contacts || sizes.tangents != of_table->tangents)
        return carom_fail(error, CAROM_BAD_INPUT, "the outcomes of %s are of another impact", law);
    if (!points) return carom_fail(error, CAROM_BAD_INPUT, "%s has no outcomes in memory", law);

    // Contact velocities, impulses, energies, and generalised velocities where the impact has a system.
    set->u = join(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY, CAROM_OUTCOME_TANGENT_VELOCITY);
    set->impulse = join(outcomes, CAROM_OUTCOME_NORMAL_IMPULSE, CAROM_OUTCOME_TANGENT_IMPULSE);
    set->energy = copy(carom_table_real_column(outcomes, CAROM_OUTCOME_ENERGY_RATIO), (size_t)points);
    set->flags = malloc((size_t)points * sizeof *set->flags);
    if (set->flags) memcpy(set->flags, carom_table_integer_column(outcomes, CAROM_OUTCOME_FLAGS), (size_t)points * sizeof *set->flags);
    bool failed = !set->u || !set->impulse || !set->energy || !set->flags;
    if (carom_impact_has_system(impact)) {
        set->nv = sizes.nv;
        set->v = copy(carom_table_real_column(outcomes, CAROM_OUTCOME_VELOCITY), (size_t)points * (size_t)sizes.nv);
        failed = failed || !set->v;
    }
    carom_status status = failed ? carom_fail_memory(error, "set") : CAROM_OK;

    // Laws with pieces say what they are of the set.
    const int piece = carom_table_find(outcomes, carom_piece_columns[CAROM_PIECE_INDEX].name);
    const int certificate = carom_table_find(result, "certificate");
    const char *text = piece < 0                                      ? "samples"
                       : certificate < 0 || !carom_table_rows(result) ? "none"
                                                                      : carom_table_text(result, certificate, 0);
    snprintf(set->certificate, sizeof set->certificate, "%s", text);
    if (!status) status = carom_outcome_set_group(set, piece < 0 ? NULL : carom_table_integer_column(outcomes, piece), error);
    if (status) carom_outcome_set_release(set);
    return status;
}

carom_status carom_outcome_set_group(carom_outcome_set *set, const int64_t *piece, carom_error *error) {
    // At most one piece for each point; the last one ends with the points.
    set->starts = malloc(((size_t)set->points + 1) * sizeof *set->starts);
    if (!set->starts) return carom_fail_memory(error, "set");
    set->pieces = 0;
    for (int64_t i = 0; i < set->points; i++)
        if (!piece || i == 0 || piece[i] != piece[i - 1]) set->starts[set->pieces++] = i;
    set->starts[set->pieces] = set->points;
    return CAROM_OK;
}

carom_outcome_point carom_outcome_set_point(const carom_outcome_set *set, int64_t index) {
    return (carom_outcome_point){.u = set->u + index * set->n,
                                 .v = set->v ? set->v + index * set->nv : NULL,
                                 .impulse = set->impulse ? set->impulse + index * set->n : NULL,
                                 .energy_ratio = set->energy ? set->energy[index] : (double)NAN};
}

bool carom_outcome_set_caveat(const carom_outcome_set *set, const carom_impact *impact, char text[CAROM_CAVEAT_SIZE]) {
    int64_t approximate = 0;
    for (int64_t i = 0; i < set->points; i++) approximate += (set->flags[i] & CAROM_FLAG_APPROXIMATE) != 0;
    return carom_outcomes_caveat(carom_impact_sizes(impact), approximate, set->points, text);
}

void carom_outcome_set_release(carom_outcome_set *set) {
    free(set->u);
    free(set->v);
    free(set->starts);
    free(set->impulse);
    free(set->energy);
    free(set->flags);
    *set = (carom_outcome_set){0};
}
