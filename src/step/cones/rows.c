// SPDX-License-Identifier: Apache-2.0
// Rows of a cone: linear inequalities in the step's inputs x, with thresholds relative to size(x).
#include <math.h>
#include <stdlib.h>

#include "carom/dense.h"
#include "step/cones/build.h"

// Rows of unit size closer than this are the same.
#define SAME_ROW 1e-12

double carom_cone_row_size(const carom_cone_builder *builder, const double *row) {
    double size = 0;
    for (int j = 0; j < builder->inputs; j++) size = fmax(size, fabs(row[j]) * builder->unit[j]);
    return size;
}

carom_status carom_cone_rows_add(const carom_cone_builder *builder, carom_cone_rows *rows, const double *row, double size, double threshold,
                                 carom_error *error) {
    const int inputs = rows->inputs, width = inputs + 1;
    if (rows->count == rows->capacity) {
        const int capacity = 2 * rows->capacity + 8;
        double *moved = realloc(rows->rows, (size_t)capacity * (size_t)width * sizeof *moved);
        if (!moved) return carom_fail_memory(error, "cone map");
        rows->rows = moved;
        rows->capacity = capacity;
    }
    // The new row stands after the others while it is compared with them.
    double *made = rows->rows + (size_t)rows->count * (size_t)width;
    for (int j = 0; j < inputs; j++) made[j] = row[j] / size;
    made[inputs] = -threshold / size;
    // A row that is there already keeps the stronger threshold.
    for (int i = 0; i < rows->count; i++) {
        double *other = rows->rows + (size_t)i * (size_t)width;
        int same = 0;
        while (same < inputs && !(fabs(made[same] - other[same]) * builder->unit[same] > SAME_ROW)) same++;
        if (same < inputs) continue;
        other[inputs] = fmin(other[inputs], made[inputs]);
        return CAROM_OK;
    }
    rows->count++;
    return CAROM_OK;
}

double carom_cone_input_size(int inputs, const double *per_unit, const double *x) {
    double size = 0;
    for (int j = 0; j < inputs; j++) size = fmax(size, fabs(x[j]) * per_unit[j]);
    return size;
}

bool carom_cone_rows_hold(int inputs, const double *rows, int count, const double *x, double size) {
    for (const double *row = rows, *end = rows + count * (inputs + 1); row < end; row += inputs + 1)
        if (!(carom_dot(inputs, row, x) + row[inputs] * size >= 0)) return false;
    return true;
}

// Row r of the groups of `count` that stand side by side from `to` on, in the place of one of eight cones, or of one of eight rows.
static void place(const double *row, int width, int r, int count, double *to) {
    for (int j = 0; j < width; j++) to[(j * count + r) * CAROM_STEP_LANES] = row[j];
}

carom_status carom_cones_stand_side_by_side(carom_cones *cones, carom_error *error) {
    enum { HEADS = CAROM_CONE_HEADS, SIDES = CAROM_CONE_SIDES, LANES = CAROM_STEP_LANES, REST = SIDES * LANES };
    const int width = cones->inputs + 1;
    cones->first_side = calloc((size_t)cones->count + 1, sizeof *cones->first_side);
    if (!cones->first_side) return carom_fail_memory(error, "cone map");
    for (int i = 0; i < cones->count; i++) {
        const int rest = cones->first_row[i + 1] - cones->first_row[i] - HEADS;
        cones->first_side[i + 1] = cones->first_side[i] + (rest > 0 ? (rest + REST - 1) / REST : 0);
    }
    const size_t heads_size = (size_t)(width * HEADS * LANES), sides_size = (size_t)(width * REST);
    cones->heads = carom_step_columns_create(((size_t)cones->count + LANES - 1) / LANES + 1, heads_size);
    cones->sides = carom_step_columns_create((size_t)cones->first_side[cones->count] + 1, sides_size);
    if (!cones->heads || !cones->sides) return carom_fail_memory(error, "cone map");
    for (int i = 0; i < cones->count; i++) {
        double *heads = cones->heads + (size_t)(i / LANES) * heads_size + i % LANES;
        double *sides = cones->sides + (size_t)cones->first_side[i] * sides_size;
        for (int r = 0; r < cones->first_row[i + 1] - cones->first_row[i]; r++) {
            const double *row = cones->rows + (size_t)(cones->first_row[i] + r) * (size_t)width;
            const int side = r - HEADS;
            if (side < 0)
                place(row, width, r, HEADS, heads);
            else
                place(row, width, side / LANES % SIDES, SIDES, sides + (size_t)(side / REST) * sides_size + side % LANES);
        }
    }
    return CAROM_OK;
}
