// SPDX-License-Identifier: Apache-2.0
// Lemke's method in double precision, compiled once for every instruction set: the build defines KERNEL.
#define REAL double
#ifndef KERNEL
#define KERNEL carom_lemke_kernel_portable
#endif
#include "solvers/lemke/memory.h"
#include "solvers/solvers_internal.h"

static void check(const carom_lcp_columns *matrix, const double *w, const double *z, double *residual, double *relative) {
    // y = W z + w column by column, which vector instructions can do in the order of carom_dot. Half of the z of a solution are zero.
    double *y = matrix->slacks;
    for (size_t i = 0; i < matrix->rows; i++) y[i] = 0;
    for (int j = 0; j < matrix->n; j++) {
        const double *column = matrix->columns + (size_t)j * matrix->rows, factor = z[j];
        if (factor == 0) continue;
        for (size_t i = 0; i < matrix->rows; i++) y[i] += factor * column[i];
    }
    for (int i = 0; i < matrix->n; i++) y[i] += w[i];

    // Then the residuals, row by row.
    carom_lcp_violation sums = {0};
    for (int i = 0; i < matrix->n; i++) carom_lcp_add_row(&sums, y[i], z[i], w[i], matrix->y_per_unit[i], matrix->z_per_unit[i]);
    if (!(sums.z_relative <= CAROM_LCP_MOST_AMPLIFICATION * sums.w_relative)) sums.undefined = NAN;
    *residual = carom_lcp_absolute(&sums);
    *relative = carom_lcp_relative(&sums);
}

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)

const carom_lemke_kernel KERNEL = {.name = NAME_OF(KERNEL),
                                   .create = create,
                                   .free = release,
                                   .cover = cover,
                                   .run = run,
                                   .watch = watch,
                                   .extract = extract,
                                   .remember = remember,
                                   .forget = forget,
                                   .cover_again = cover_again,
                                   .recall = recall,
                                   .read_out = read_out,
                                   .check = check};
