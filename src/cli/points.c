// SPDX-License-Identifier: Apache-2.0
// Contact velocities of outcomes as they stream by, in memory while they are not too many.
#include <stdlib.h>

#include "cli/cli_internal.h"

carom_status cli_points_create(const carom_impact *impact, cli_points **points, carom_error *error) {
    *points = calloc(1, sizeof **points);
    if (!*points) return carom_fail_memory(error, "outcomes");
    **points = (cli_points){.impact = impact, .n = carom_impact_contact_size(impact)};
    return CAROM_OK;
}

void cli_points_free(cli_points *points) {
    if (!points) return;
    free(points->u);
    free(points);
}

static carom_status grow(cli_points *points, int64_t count, carom_error *error) {
    if (count <= points->capacity) return CAROM_OK;
    const int64_t capacity = count > 2 * points->capacity ? count : 2 * points->capacity;
    double *u = realloc(points->u, (size_t)capacity * (size_t)points->n * sizeof *u);
    if (!u) return carom_fail_memory(error, "outcomes");
    points->u = u;
    points->capacity = capacity;
    return CAROM_OK;
}

static void drop(cli_points *points) {
    free(points->u);
    points->u = NULL;
    points->count = points->capacity = 0;
    points->dropped = true;
}

// Velocities of one outcome, contact by contact: those that it has itself, which a law that moves the bodies takes where they are in the
// end.
static void take_row(const cli_points *points, const carom_table *outcomes, int64_t row, double *u) {
    const carom_sizes sizes = carom_impact_sizes(points->impact);
    const int dim = sizes.tangents / sizes.contacts;
    const double *normal = carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY) + row * sizes.contacts;
    const double *tangent = carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY) + row * sizes.tangents;
    for (int i = 0; i < sizes.contacts; i++) {
        *u++ = normal[i];
        for (int k = 0; k < dim; k++) *u++ = tangent[i * dim + k];
    }
}

carom_status cli_points_add(cli_points *points, const carom_table *outcomes, carom_error *error) {
    const int64_t rows = carom_table_rows(outcomes);
    if (points->dropped) return CAROM_OK;
    if (points->count + rows > CLI_MOST_POINTS) {
        drop(points);
        return CAROM_OK;
    }
    const carom_status status = grow(points, points->count + rows, error);
    if (status) return status;
    for (int64_t row = 0; row < rows; row++) take_row(points, outcomes, row, points->u + points->count++ * points->n);
    return CAROM_OK;
}
