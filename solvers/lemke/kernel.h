// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of Lemke's method: the same code for several precisions and instruction sets. All double kernels give the same bits, because
/// every vector operation is element by element and nothing is contracted.
#ifndef CAROM_SOLVERS_LEMKE_KERNEL_H
#define CAROM_SOLVERS_LEMKE_KERNEL_H

#include "carom/lcp.h"

/// Tolerances of the first rung of the ladder, which solves nearly all problems.
#define CAROM_LEMKE_PIVOT_TOLERANCE 1e-9
#define CAROM_LEMKE_TIE_TOLERANCE   1e-10

/// Where z, in units, exceeds w by this factor, w is lost in the round-off of W z, and a small residual means nothing.
#define CAROM_MOST_AMPLIFICATION 1e12

/// An LCP matrix by columns, for checks of many solutions.
typedef struct carom_lcp_columns {
    int n;
    size_t rows;                            ///< n, padded
    double *columns;                        ///< [n x rows]
    double *slacks;                         ///< [rows] scratch
    const double *y_per_unit, *z_per_unit;  ///< [n] reciprocals of the units of lcp_units.h
} carom_lcp_columns;

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

    /// The same method with a memory of its pivots, for one W, many w, and n up to CAROM_MOST_REMEMBERED; NULL in extended precision.
    /// W and units are borrowed; NULL when out of memory.
    void *(*remember)(int n, const double *W, const double *y_unit, const double *z_unit, double pivot_tolerance, double tie_tolerance);
    void (*forget)(void *memory);
    /// For a w with a negative entry, at most CAROM_PIVOTS_PER_ROW * n pivots.
    carom_verdict (*recall)(void *memory, const double *w, int64_t *pivots);
    void (*read_out)(const void *memory, double *z, bool *basic);

    /// The residual of carom_lcp_residual, and the relative one of lcp_units.h, in one pass; NULL in extended precision.
    void (*check)(const carom_lcp_columns *matrix, const double *w, const double *z, double *residual, double *relative);
} carom_lemke_kernel;

/// Lemke needs about 2n pivots; the limit only bounds a run whose tolerances broke the lexicographic order.
enum { CAROM_PIVOTS_PER_ROW = 50, CAROM_MOST_REMEMBERED = 64 };

extern const carom_lemke_kernel carom_lemke_kernel_scalar, carom_lemke_kernel_portable, carom_lemke_kernel_quad;
#if defined(__x86_64__)
extern const carom_lemke_kernel carom_lemke_kernel_avx2, carom_lemke_kernel_avx512;
#endif

/// The fastest kernel that this machine runs.
const carom_lemke_kernel *carom_lemke_kernel_fastest(void);

/// [n] which z are basic in the solution that a solver of the `lemke` family, with this state, found last.
const bool *carom_lemke_basis(const void *state);

#endif
