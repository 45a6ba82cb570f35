// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of Lemke's method: the same code for several precisions and instruction sets. All double kernels give the same bits, because
/// every vector operation is element by element and nothing is contracted.
#ifndef CAROM_SOLVERS_LEMKE_KERNEL_H
#define CAROM_SOLVERS_LEMKE_KERNEL_H

#include "carom/solvers.h"

typedef struct carom_lemke_kernel {
    const char *name;
    /// A tableau for LCPs of size n with these units of its variables; NULL when out of memory.
    void *(*create)(int n, const double *y_unit, const double *z_unit);
    void (*free)(void *tableau);
    /// Pivots until the artificial variable leaves, at most `limit` pivots in all; adds to `*pivots`.
    /// @param pivot_tolerance  entries below this share of their column's largest, both in units, are no pivots
    /// @param tie_tolerance    ratios closer than this share of the round-off scale are equal
    carom_verdict (*run)(void *tableau, const double *W, const double *w, int64_t limit, double pivot_tolerance, double tie_tolerance,
                         int64_t *pivots);
    /// The solution, and which z are basic.
    void (*extract)(const void *tableau, double *z, bool *basic);
} carom_lemke_kernel;

extern const carom_lemke_kernel carom_lemke_kernel_scalar, carom_lemke_kernel_portable, carom_lemke_kernel_quad;
#if defined(__x86_64__)
extern const carom_lemke_kernel carom_lemke_kernel_avx2, carom_lemke_kernel_avx512;
#endif

#endif
