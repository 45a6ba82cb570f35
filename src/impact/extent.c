// SPDX-License-Identifier: Apache-2.0
// What a stream of outcomes covers.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "carom/impact.h"

carom_status carom_extent_create(const carom_impact *impact, carom_extent **extent, carom_error *error) {
    *extent = NULL;
    carom_extent *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "extent");
    const carom_sizes sizes = carom_impact_sizes(impact);
    const size_t contacts = (size_t)sizes.contacts, tangents = (size_t)sizes.tangents;
    made->sizes = sizes;
    made->tolerance = -carom_impact_approach_limit(impact);
    made->normal = carom_arena_take(&made->arena, 2 * contacts, sizeof(double));
    made->tangent = carom_arena_take(&made->arena, 2 * tangents, sizeof(double));
    made->modes = carom_arena_take(&made->arena, contacts * CAROM_CONTACT_MODES, sizeof(int64_t));
    if (made->arena.failed) {
        carom_extent_free(made);
        return carom_fail_memory(error, "extent");
    }
    // Ranges are NaN until the first value comes.
    for (size_t i = 0; i < 2 * contacts; i++) made->normal[i] = NAN;
    for (size_t i = 0; i < 2 * tangents; i++) made->tangent[i] = NAN;
    made->energy_ratio[0] = made->energy_ratio[1] = NAN;
    *extent = made;
    return CAROM_OK;
}

void carom_extent_free(carom_extent *extent) {
    if (!extent) return;
    carom_arena_free(&extent->arena);
    free(extent);
}

// A NaN value changes nothing: comparisons with NaN are false.
static void widen(double *ranges, const double *values, int64_t rows, int width) {
    for (int k = 0; k < width; k++) {
        // Components of a row stand side by side; each is followed through all rows.
        double least = ranges[2 * k], most = ranges[2 * k + 1];
        // A range without values takes the first number.
        int64_t row = 0;
        for (; row < rows && isnan(least); row++) least = most = values[row * width + k];
        for (; row < rows; row++) {
            const double value = values[row * width + k];
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
        ranges[2 * k] = least;
        ranges[2 * k + 1] = most;
    }
}

// Takes rows in that follow each other.
static void take_rows(carom_extent *extent, const carom_table *outcomes, int64_t first, int64_t rows) {
    if (rows == 0) return;
    const int contacts = extent->sizes.contacts, tangents = extent->sizes.tangents, dim = tangents / contacts;
    const double *normal = carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY) + first * contacts;
    const double *tangent = carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY) + first * tangents;
    const int64_t *flags = carom_table_integer_column(outcomes, CAROM_OUTCOME_FLAGS) + first;
    extent->outcomes += rows;
    for (int64_t row = 0; row < rows; row++) extent->approximate += (flags[row] & CAROM_FLAG_APPROXIMATE) != 0;
    widen(extent->normal, normal, rows, contacts);
    widen(extent->tangent, tangent, rows, tangents);
    widen(extent->energy_ratio, carom_table_real_column(outcomes, CAROM_OUTCOME_ENERGY_RATIO) + first, rows, 1);
    // How often each contact is in each mode.
    for (int64_t row = 0; row < rows; row++)
        for (int i = 0; i < contacts; i++) {
            const int64_t place = row * contacts + i;
            const carom_contact_mode mode = carom_contact_mode_of(normal[place], tangent + place * dim, dim, extent->tolerance);
            extent->modes[i * CAROM_CONTACT_MODES + (int)mode]++;
        }
}

void carom_extent_widen(carom_extent *extent, const carom_table *outcomes) { take_rows(extent, outcomes, 0, carom_table_rows(outcomes)); }

void carom_extent_widen_by_members(carom_extent *extent, const carom_table *outcomes) {
    const int64_t rows = carom_table_rows(outcomes), *flags = carom_table_integer_column(outcomes, CAROM_OUTCOME_FLAGS);
    for (int64_t first = 0, next; first < rows; first = next + 1) {
        for (next = first; next < rows && !(flags[next] & CAROM_FLAG_APPROXIMATE);) next++;
        take_rows(extent, outcomes, first, next - first);
    }
}

bool carom_outcomes_caveat(carom_sizes sizes, int64_t approximate, int64_t outcomes, char text[CAROM_CAVEAT_SIZE]) {
    const bool may = approximate > 0, spatial = sizes.tangents > sizes.contacts;
    *text = '\0';
    if (may)
        snprintf(text, CAROM_CAVEAT_SIZE,
                 "%" PRId64 " of %" PRId64
                 " outcomes may lie outside the set by O(h)%s: slip %s within a step, or an open contact presses; "
                 "walks (sampler walk) never do",
                 approximate, outcomes, spatial ? ", and by the edges of their friction cones" : "", spatial ? "turns" : "reverses");
    return may;
}
