// SPDX-License-Identifier: Apache-2.0
// Rigorous bounds of solutions of small linear systems, in doubles.
#include <float.h>
#include <math.h>

#include "carom/dense.h"

// Bounds are themselves sums of doubles that are not negative: one per cent covers the round-off of such sums, and some more.
#define SAFETY 1.01
// Regularity is not claimed beyond this norm of I - R A.
#define LARGEST_DEFECT 0.5

bool carom_enclose_solution(const carom_uncertain_system *system, double *x, double *radius) {
    const int n = system->n;
    double *scaled = system->work, *inverse = scaled + n * n, *column_unit = inverse + n * n, *row_unit = column_unit + n;
    double *residual = row_unit + n, *column = residual + n;
    const double round_off = (n + 4) * DBL_EPSILON;
    for (int i = 0; i < n; i++) x[i] = 0;
    // Rows, then columns of about unit size, by powers of two: no rounding.
    for (int i = 0; i < n; i++) row_unit[i] = carom_scale_to_one(carom_max_abs((size_t)n, system->A + i * n));
    for (int j = 0; j < n; j++) {
        double largest = 0;
        for (int i = 0; i < n; i++) largest = fmax(largest, row_unit[i] * fabs(system->A[i * n + j]));
        column_unit[j] = carom_scale_to_one(largest);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) scaled[i * n + j] = row_unit[i] * system->A[i * n + j] * column_unit[j];
    if (!carom_lu_factor(n, scaled, system->exchanges)) return false;

    // R by columns, and x = R b.
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) column[i] = i == j;
        carom_lu_solve(n, scaled, system->exchanges, column);
        for (int i = 0; i < n; i++) inverse[i * n + j] = column[i];
    }
    for (int i = 0; i < n; i++) x[i] = row_unit[i] * system->b[i];
    carom_lu_solve(n, scaled, system->exchanges, x);
    for (int i = 0; i < n; i++) x[i] *= column_unit[i];

    // The residual of x for any system within the errors.
    for (int i = 0; i < n; i++) {
        double sum = system->b[i], size = fabs(sum), error = system->b_error[i];
        for (int j = 0; j < n; j++) {
            sum -= system->A[i * n + j] * x[j];
            size += fabs(system->A[i * n + j] * x[j]);
            error += system->A_error[i * n + j] * fabs(x[j]);
        }
        residual[i] = row_unit[i] * (fabs(sum) + round_off * size + error);
    }
    // |x_true - x| <= d + C |x_true - x|, d = |R| residual, C = |I - R A| with all errors: its row sums below 1 bound the solution.
    double defect = 0, most = 0;
    for (int i = 0; i < n; i++) {
        double row_defect = 0;
        radius[i] = 0;
        for (int k = 0; k < n; k++) radius[i] += fabs(inverse[i * n + k]) * residual[k];
        for (int j = 0; j < n; j++) {
            double product = i == j ? -1 : 0, size = 1, error = 0;
            for (int k = 0; k < n; k++) {
                const double entry = row_unit[k] * system->A[k * n + j] * column_unit[j];
                product += inverse[i * n + k] * entry;
                size += fabs(inverse[i * n + k] * entry);
                error += fabs(inverse[i * n + k]) * (row_unit[k] * system->A_error[k * n + j] * column_unit[j]);
            }
            row_defect += fabs(product) + round_off * size + error;
        }
        defect = fmax(defect, SAFETY * row_defect);
        most = fmax(most, radius[i]);
        // NaN is no proof.
        if (!(row_defect < LARGEST_DEFECT) || !isfinite(radius[i])) return false;
    }
    for (int i = 0; i < n; i++) radius[i] = SAFETY * column_unit[i] * (radius[i] + defect / (1 - defect) * most) + DBL_MIN;
    return defect < LARGEST_DEFECT;
}
