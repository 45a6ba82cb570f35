// SPDX-License-Identifier: Apache-2.0
// Units for tolerances, by equilibration.
#include "carom/lcp.h"

#include <math.h>

#include "carom/dense.h"

// Sweeps of equilibration: the units need an order of magnitude, no more.
enum { SWEEPS = 4 };

// Entries below this share of the largest of their row or column are the round-off of zeros, as in products of cone directions. A true
// entry as small would need bodies of 1e14 kg, or of 1e-14 kg.
#define NOISE 1e-14

// The power of two next to the geometric mean of the smallest and the largest entry.
static double unit_of(double least, double largest) {
    if (!(largest > 0)) return 1;
    int exponent;
    frexp(sqrt(least) * sqrt(largest), &exponent);
    return ldexp(1, exponent);
}

// A row (or column) of W, `stride` apart, weighted entry by entry: its unit.
static double vector_unit(int n, const double *entries, int stride, const double *unit, bool divide) {
    double least = INFINITY, largest = 0, most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(entries[(size_t)k * (size_t)stride]));
    for (int k = 0; k < n; k++) {
        const double entry = fabs(entries[(size_t)k * (size_t)stride]), size = divide ? entry / unit[k] : entry * unit[k];
        if (!(entry > NOISE * most)) continue;
        least = fmin(least, size);
        largest = fmax(largest, size);
    }
    return unit_of(least, largest);
}

void carom_lcp_units(int n, const double *W, double *y_unit, double *z_unit) {
    for (int i = 0; i < n; i++) y_unit[i] = z_unit[i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int i = 0; i < n; i++) y_unit[i] = vector_unit(n, W + (size_t)i * (size_t)n, 1, z_unit, false);
        for (int j = 0; j < n; j++) z_unit[j] = 1 / vector_unit(n, W + j, n, y_unit, true);
    }
}

double carom_lcp_relative_residual(int n, const double *W, const double *w, const double *z, const double *y_unit, const double *z_unit) {
    double worst = 0, scale = 0;
    for (int i = 0; i < n; i++) {
        const double y = (w[i] + carom_dot(n, W + (size_t)i * (size_t)n, z)) / y_unit[i], x = z[i] / z_unit[i];
        if (!isfinite(y) || !isfinite(x)) return INFINITY;
        worst = fmax(worst, fabs(fmin(x, y)));
        scale = fmax(scale, fmax(fabs(w[i]) / y_unit[i], fabs(x)));
    }
    return worst > 0 ? worst / scale : 0;
}
