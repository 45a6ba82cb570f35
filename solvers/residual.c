// SPDX-License-Identifier: Apache-2.0
// Units for tolerances, by equilibration, and the residuals of a candidate with and without them.
#include "carom/dense.h"
#include "solvers/solvers_internal.h"

// Sweeps of equilibration: an order of magnitude is enough.
enum { SWEEPS = 4 };

// Entries below this share of the largest of their row or column are the round-off of zeros, as in products of cone directions. A true
// entry as small would need bodies of 1e14 kg, or of 1e-14 kg.
#define NOISE 1e-14

// Vectors of W that are read together: columns are then not one cache line for each entry.
enum { TOGETHER = 32 };

// The units of the rows (or columns) of W: the power of two next to the geometric mean of the smallest and the largest entry, each first
// multiplied (or divided) by its weight. Entries of a vector are `along` apart, vectors `across`.
static void vector_units(int n, const double *W, size_t along, size_t across, const double *weight, bool divide, double *unit) {
    for (int start = 0; start < n; start += TOGETHER) {
        const int count = n - start < TOGETHER ? n - start : TOGETHER;
        const double *first = W + (size_t)start * across;
        double least[TOGETHER], largest[TOGETHER] = {0}, most[TOGETHER] = {0};
        for (int k = 0; k < n; k++)
            for (int j = 0; j < count; j++) {
                const double entry = fabs(first[(size_t)k * along + (size_t)j * across]);
                most[j] = entry > most[j] ? entry : most[j];
            }
        for (int j = 0; j < count; j++) least[j] = INFINITY;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < count; j++) {
                const double entry = fabs(first[(size_t)k * along + (size_t)j * across]);
                const double size = divide ? entry / weight[k] : entry * weight[k];
                if (!(entry > NOISE * most[j])) continue;
                least[j] = size < least[j] ? size : least[j];
                largest[j] = size > largest[j] ? size : largest[j];
            }
        for (int j = 0; j < count; j++) {
            int exponent = 0;
            if (largest[j] > 0) frexp(sqrt(least[j]) * sqrt(largest[j]), &exponent);
            unit[start + j] = ldexp(1, exponent);
        }
    }
}

void carom_lcp_units(int n, const double *W, double *y_unit, double *z_unit) {
    for (int i = 0; i < n; i++) y_unit[i] = z_unit[i] = 1;
    // Rows and columns in turn. W_ij z_unit_j / y_unit_i then is of the order of one.
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        vector_units(n, W, 1, (size_t)n, z_unit, false, y_unit);
        vector_units(n, W, (size_t)n, 1, y_unit, true, z_unit);
        for (int j = 0; j < n; j++) z_unit[j] = 1 / z_unit[j];
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
