// SPDX-License-Identifier: Apache-2.0
// Lemke's method in double precision, compiled once for every instruction set: the build defines KERNEL.
#define REAL double
#ifndef KERNEL
#define KERNEL carom_lemke_kernel_portable
#endif
#include "solvers/lemke/memory.h"

// y = W z + w, column by column: half of the z of a solution are zero.
static void fill_slacks(const carom_lcp_columns *c, const double *w, const double *z, double *y) {
    for (size_t i = 0; i < c->rows; i++) y[i] = 0;
    for (int j = 0; j < c->n; j++) {
        const double *column = c->columns + (size_t)j * c->rows, factor = z[j];
        if (factor == 0) continue;
        for (size_t i = 0; i < c->rows; i++) y[i] += factor * column[i];
    }
    for (int i = 0; i < c->n; i++) y[i] += w[i];
}

// Without the function call of fmax; NaN are counted apart.
static double larger(double a, double b) { return a > b ? a : b; }

static void check(const carom_lcp_columns *c, const double *w, const double *z, double *residual, double *relative) {
    double *y = c->slacks, worst = 0, worst_relative = 0, scale = 0, scale_w = 0, scale_z = 0, undefined = 0;
    fill_slacks(c, w, z, y);
    for (int i = 0; i < c->n; i++) {
        const double x = z[i], y_relative = y[i] * c->y_per_unit[i], x_relative = x * c->z_per_unit[i];
        worst = larger(worst, fabs(y[i] < x ? y[i] : x));
        worst_relative = larger(worst_relative, fabs(y_relative < x_relative ? y_relative : x_relative));
        scale = larger(scale, fabs(w[i]));
        scale_w = larger(scale_w, fabs(w[i]) * c->y_per_unit[i]);
        scale_z = larger(scale_z, fabs(x_relative));
        // NaN when something is not finite, otherwise zero.
        undefined += 0 * y[i] + 0 * x;
    }
    const bool defined = undefined == 0 && scale_z <= CAROM_MOST_AMPLIFICATION * scale_w;
    *residual = defined ? worst / (1 + scale) : INFINITY;
    *relative = !defined ? INFINITY : worst_relative > 0 ? worst_relative / larger(scale_w, scale_z) : 0;
}

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)

const carom_lemke_kernel KERNEL = {.name = NAME_OF(KERNEL),
                                   .create = create,
                                   .free = release,
                                   .run = run,
                                   .extract = extract,
                                   .remember = remember,
                                   .forget = forget,
                                   .recall = recall,
                                   .read_out = read_out,
                                   .check = check};
