// SPDX-License-Identifier: Apache-2.0
// Rows of a cone: linear inequalities in the step's inputs x, with thresholds relative to size(x).
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

carom_status carom_cone_rows_order(carom_cone_rows *rows, const double *witnesses, int count, carom_error *error) {
    enum { WITNESSES = CAROM_CONE_WITNESSES };
    const int width = rows->inputs + 1;
    uint64_t *turned = calloc((size_t)rows->count + 1, sizeof *turned), passing = UINT64_MAX;
    if (!turned) return carom_fail_memory(error, "cone map");
    // Bit t: witness t is on the wrong side of the row.
    for (int i = 0; i < rows->count; i++) {
        double sum[WITNESSES] = {0};
        for (int j = 0; j < width; j++)
            for (int t = 0; t < WITNESSES; t++) sum[t] += rows->rows[i * width + j] * witnesses[j * WITNESSES + t];
        for (int t = 0; t < count; t++) turned[i] |= (uint64_t) !(sum[t] >= 0) << t;
    }
    // Greedily: of the rows left, the one that turns away most of those that still pass.
    for (int first = 0; first < rows->count && passing; first++) {
        int best = first;
        for (int i = first + 1; i < rows->count; i++)
            if (__builtin_popcountll(turned[i] & passing) > __builtin_popcountll(turned[best] & passing)) best = i;
        passing &= ~turned[best];
        double *x = rows->rows + first * width, *y = rows->rows + best * width;
        for (int j = 0; best != first && j < width; j++) {
            const double kept = x[j];
            x[j] = y[j];
            y[j] = kept;
        }
        turned[best] = turned[first];
    }
    free(turned);
    return CAROM_OK;
}

carom_status carom_cones_take_rows(carom_cones *cones, const carom_cone_rows *rows, carom_error *error) {
    const size_t width = (size_t)cones->inputs + 1;
    cones->first_row = calloc((size_t)cones->count + 1, sizeof *cones->first_row);
    if (!cones->first_row) return carom_fail_memory(error, "cone map");
    for (int i = 0; i < cones->count; i++) cones->first_row[i + 1] = cones->first_row[i] + rows[i].count;
    cones->rows = calloc(((size_t)cones->first_row[cones->count] + 1) * width, sizeof *cones->rows);
    if (!cones->rows) return carom_fail_memory(error, "cone map");
    for (int i = 0; i < cones->count; i++) {
        // A cone that is the whole space has no rows.
        if (rows[i].count)
            memcpy(cones->rows + (size_t)cones->first_row[i] * width, rows[i].rows, (size_t)rows[i].count * width * sizeof(double));
    }
    return CAROM_OK;
}

// Row r of cone i among the heads. In units of per_scale its coefficients are single-precision numbers up to one, as are inputs; their
// round-off, that of their products, and of the sum are each below a share FLT_EPSILON / 2 of sum_j |row_j|, and size(x) is at most `reach`
// times the largest input.
static void place_head(const carom_cones *cones, const double *row, int i, int r, double reach) {
    enum { HEADS = CAROM_CONE_HEADS, ABREAST = CAROM_CONE_ABREAST };
    const int inputs = cones->inputs;
    float *to = cones->heads + (size_t)(i / ABREAST) * (size_t)((1 + inputs) * HEADS * ABREAST) + r * ABREAST + i % ABREAST;
    double sum = 0;
    for (int j = 0; j < inputs; j++) {
        const double coefficient = row[j] / cones->per_scale[j];
        to[(1 + j) * HEADS * ABREAST] = (float)coefficient;
        sum += fabs(coefficient);
    }
    to[0] = (float)(fmax(row[inputs], 0) * reach + (inputs + 4) * (double)FLT_EPSILON * sum);
}

carom_status carom_cones_stand_side_by_side(carom_cones *cones, carom_error *error) {
    enum { HEADS = CAROM_CONE_HEADS, ABREAST = CAROM_CONE_ABREAST, LANES = CAROM_STEP_LANES };
    const int inputs = cones->inputs, width = inputs + 1, groups = (cones->count + ABREAST - 1) / ABREAST;
    cones->first_side = calloc((size_t)cones->count + 1, sizeof *cones->first_side);
    if (!cones->first_side) return carom_fail_memory(error, "cone map");
    for (int i = 0; i < cones->count; i++) {
        const int rows = cones->first_row[i + 1] - cones->first_row[i];
        cones->first_side[i + 1] = cones->first_side[i] + (rows + LANES - 1) / LANES;
    }
    const size_t sides_size = (size_t)(width * LANES), heads_size = (size_t)((1 + inputs) * HEADS * ABREAST);
    cones->sides = carom_step_columns_create((size_t)cones->first_side[cones->count] + 1, sides_size);
    // Two numbers in single precision have the place of one.
    cones->heads = (float *)(void *)carom_step_columns_create((size_t)groups + 1, heads_size / 2);
    if (!cones->heads || !cones->sides) return carom_fail_memory(error, "cone map");
    double reach = 0;
    for (int j = 0; j < inputs; j++) reach = fmax(reach, cones->per_unit[j] / cones->per_scale[j]);
    for (int i = 0; i < cones->count; i++) {
        double *sides = cones->sides + (size_t)cones->first_side[i] * sides_size;
        const int rows = cones->first_row[i + 1] - cones->first_row[i];
        for (int r = 0; r < rows; r++) {
            // Samples that pass the heads are likely to be on the side of these rows: they are tested last.
            const double *row = cones->rows + (size_t)(cones->first_row[i] + r) * (size_t)width;
            const int place = (r + HEADS * (rows - 1)) % rows;
            double *to = sides + (size_t)(place / LANES) * sides_size + place % LANES;
            for (int j = 0; j < width; j++) to[j * LANES] = row[j];
            if (r < HEADS) place_head(cones, row, i, r, reach);
        }
    }
    // Places without a cone have none of the samples.
    for (int i = cones->count; i < groups * ABREAST; i++) cones->heads[(size_t)(i / ABREAST) * heads_size + (size_t)(i % ABREAST)] = -1;
    return CAROM_OK;
}
