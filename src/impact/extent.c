// SPDX-License-Identifier: Apache-2.0
// What a stream of outcomes covers.
#include <math.h>
#include <stdlib.h>

#include "carom/impact.h"

static void start(double *ranges, int width) {
    for (int i = 0; i < 2 * width; i++) ranges[i] = NAN;
}

carom_status carom_extent_create(const carom_impact *impact, carom_extent **extent, carom_error *error) {
    *extent = calloc(1, sizeof **extent);
    if (!*extent) return carom_fail_memory(error, "extent");
    const carom_sizes sizes = carom_impact_sizes(impact);
    (*extent)->sizes = sizes;
    (*extent)->normal = malloc(2 * (size_t)sizes.contacts * sizeof(double));
    (*extent)->tangent = malloc(2 * (size_t)sizes.tangents * sizeof(double));
    if (!(*extent)->normal || !(*extent)->tangent) {
        carom_extent_free(*extent);
        *extent = NULL;
        return carom_fail_memory(error, "extent");
    }
    start((*extent)->normal, sizes.contacts);
    start((*extent)->tangent, sizes.tangents);
    start((*extent)->energy_ratio, 1);
    return CAROM_OK;
}

void carom_extent_free(carom_extent *extent) {
    if (!extent) return;
    free(extent->normal);
    free(extent->tangent);
    free(extent);
}

// A NaN value changes nothing, and a range that is still NaN takes the first value.
static void widen(double *ranges, const double *values, int64_t rows, int width) {
    for (int64_t row = 0; row < rows; row++)
        for (int k = 0; k < width; k++) {
            ranges[2 * k] = fmin(ranges[2 * k], values[row * width + k]);
            ranges[2 * k + 1] = fmax(ranges[2 * k + 1], values[row * width + k]);
        }
}

void carom_extent_widen(carom_extent *extent, const carom_table *outcomes) {
    const int64_t rows = carom_table_rows(outcomes);
    extent->outcomes += rows;
    widen(extent->normal, carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY), rows, extent->sizes.contacts);
    widen(extent->tangent, carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY), rows, extent->sizes.tangents);
    widen(extent->energy_ratio, carom_table_real_column(outcomes, CAROM_OUTCOME_ENERGY_RATIO), rows, 1);
}
