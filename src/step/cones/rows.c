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
