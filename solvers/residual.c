// SPDX-License-Identifier: Apache-2.0
// Units for tolerances, by equilibration, and the residuals of a candidate with and without them.
#include "carom/dense.h"
#include "solvers/solvers_internal.h"

// Sweeps of equilibration: an order of magnitude is enough.
enum { SWEEPS = 4 };

// Entries below this share of the largest of their row or column are the round-off of zeros, as in products of cone directions. A true
// entry as small would need bodies of 1e14 kg, or of 1e-14 kg.
#define NOISE 1e-14

// The unit of a row (or column) of W, its entries `stride` apart: the power of two next to the geometric mean of its smallest and its
// largest entry, each first multiplied (or divided) by its weight.
static double vector_unit(int n, const double *entries, int stride, const double *weight, bool divide) {
    double least = INFINITY, largest = 0, most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(entries[(size_t)k * (size_t)stride]));
    for (int k = 0; k < n; k++) {
        const double entry = fabs(entries[(size_t)k * (size_t)stride]), size = divide ? entry / weight[k] : entry * weight[k];
        if (!(entry > NOISE * most)) continue;
        least = fmin(least, size);
        largest = fmax(largest, size);
    }
    if (!(largest > 0)) return 1;
    int exponent;
    frexp(sqrt(least) * sqrt(largest), &exponent);
    return ldexp(1, exponent);
}

void carom_lcp_units(int n, const double *W, double *y_unit, double *z_unit) {
    for (int i = 0; i < n; i++) y_unit[i] = z_unit[i] = 1;
    // Rows and columns in turn. W_ij z_unit_j / y_unit_i then is of the order of one.
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int i = 0; i < n; i++) y_unit[i] = vector_unit(n, W + (size_t)i * (size_t)n, 1, z_unit, false);
        for (int j = 0; j < n; j++) z_unit[j] = 1 / vector_unit(n, W + j, n, y_unit, true);
    }
}

// Rows of y = w + W z, each summed in index order as the kernels do it column by column: the bits agree.
double carom_lcp_residual(int n, const double *W, const double *w, const double *z) {
    carom_lcp_violation sums = {0};
    for (int i = 0; i < n; i++) carom_lcp_add_row(&sums, w[i] + carom_dot(n, W + (size_t)i * (size_t)n, z), z[i], w[i], 1, 1);
    return carom_lcp_absolute(&sums);
}

double carom_lcp_relative_residual(int n, const double *W, const double *w, const double *z, const double *y_unit, const double *z_unit) {
    carom_lcp_violation sums = {0};
    for (int i = 0; i < n; i++)
        carom_lcp_add_row(&sums, w[i] + carom_dot(n, W + (size_t)i * (size_t)n, z), z[i], w[i], 1 / y_unit[i], 1 / z_unit[i]);
    return carom_lcp_relative(&sums);
}
