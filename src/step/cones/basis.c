// SPDX-License-Identifier: Apache-2.0
// The complementary cone of a basis of the step's LCP.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/lcp.h"
#include "step/cones/build.h"

// Coefficients below this share of the solution's largest, both in units, are round-off.
#define NEGLIGIBLE 1e-12
// Signs below this share of size(x) are zero: the round-off of states on a cone's boundary, as velocities are after a contact has stopped.
#define SIGN_TOLERANCE 1e-13

// Solution and impulse of a basis by a unit of each input. False when the basis is singular.
static bool solve_basis(const carom_cone_builder *builder, uint64_t members) {
    // The solution is linear in the inputs: one solve for each of them gives the whole map.
    bool basic[CAROM_MOST_MAPPED];
    double w[CAROM_MOST_MAPPED];
    const int size = builder->size;
    for (int i = 0; i < size; i++) basic[i] = members >> i & 1;
    for (int j = 0; j < builder->inputs; j++) {
        double *z = builder->z + (size_t)j * (size_t)size;
        for (int i = 0; i < size; i++) w[i] = builder->vector[i * builder->inputs + j] / builder->stepper->y_natural[i];
        memset(z, 0, (size_t)size * sizeof *z);
        if (!carom_lcp_basis_solve(builder->basis, basic, w, z)) return false;
        for (int i = 0; i < size; i++) {
            w[i] *= builder->stepper->y_natural[i];
            z[i] *= builder->stepper->z_natural[i];
        }
        // y = W z + w.
        for (int i = 0; i < size; i++) {
            const double *W = builder->stepper->W + (size_t)i * (size_t)size;
            builder->y[j * size + i] = carom_dot_rest(size, W, z, -w[i]);
        }
        carom_step_collect_impulse(builder->stepper, z, builder->impulse + (size_t)j * (size_t)builder->n);
    }
    return true;
}

// The signs that a basis asks for: z_i >= 0 where it is basic, y_i >= 0 elsewhere.
static carom_status add_signs(const carom_cone_builder *builder, uint64_t members, carom_cone_rows *rows, carom_error *error) {
    const int inputs = builder->inputs, lcp_size = builder->size;
    double row[2 * CAROM_MOST_MAPPED], largest = 0;
    for (int j = 0; j < inputs; j++)
        for (int i = 0; i < lcp_size; i++) {
            const int at = j * lcp_size + i;
            // The largest coefficient of the solution, in units: what round-off is measured by.
            const double in_units = fmax(fabs(builder->z[at]) / builder->z_unit[i], fabs(builder->y[at]) / builder->y_unit[i]);
            largest = fmax(largest, builder->unit[j] * in_units);
        }
    carom_status status = CAROM_OK;
    for (int i = 0; i < lcp_size && !status; i++) {
        const bool basic = members >> i & 1;
        for (int j = 0; j < inputs; j++) row[j] = (basic ? builder->z : builder->y)[j * lcp_size + i];
        const double negligible = NEGLIGIBLE * largest * (basic ? builder->z_unit : builder->y_unit)[i];
        const double size = carom_cone_row_size(builder, row);
        // Caps are never negative: a non-negative combination of them asks for nothing.
        bool asks = false;
        for (int j = 0; j < inputs; j++)
            asks = asks || row[j] * builder->unit[j] < 0 || (j < builder->n && fabs(row[j]) * builder->unit[j] > negligible);
        if (size > negligible && asks) status = carom_cone_rows_add(builder, rows, row, size, -SIGN_TOLERANCE * size, error);
    }
    return status;
}

carom_status carom_cone_make_basis(const carom_cone_builder *builder, uint64_t members, carom_cone_rows *rows, bool *regular,
                                   carom_error *error) {
    *regular = solve_basis(builder, members);
    return *regular ? add_signs(builder, members, rows, error) : CAROM_OK;
}
