// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of Lemke's method: the same code for several precisions and instruction sets. All double kernels give the same bits, because
/// every vector operation is element by element and nothing is contracted.
#ifndef CAROM_SOLVERS_LEMKE_KERNEL_H
#define CAROM_SOLVERS_LEMKE_KERNEL_H

#include "carom/lcp.h"

/// Largest n of a kernel's memory of pivots: sets of rows are the bits of one word.
enum { CAROM_LEMKE_MOST_REMEMBERED = 64 };

/// An LCP matrix by columns, for checks of many solutions.
typedef struct carom_lcp_columns {
    int n;
    size_t rows;                            ///< n, padded to whole cache lines
    double *columns;                        ///< [n x rows]
    double *slacks;                         ///< [rows] scratch
    const double *y_per_unit, *z_per_unit;  ///< [n] reciprocals of the units of carom_lcp_units
} carom_lcp_columns;

typedef struct carom_lemke_kernel {
    const char *name;
    /// A tableau for LCPs of size n with these units of its variables (NULL: ones), and a covering vector of ones; NULL when out of memory.
    void *(*create)(int n, const double *y_unit, const double *z_unit);
    void (*free)(void *tableau);
    /// Takes another covering vector, [n] copied.
    void (*cover)(void *tableau, const double *covering);
    /// Takes the control that `run` polls, borrowed; NULL: it runs to its end.
    void (*watch)(void *tableau, const carom_control *control);
    /// Pivots until the artificial variable leaves, at most `limit` pivots in all, or the control asks to stop; adds to `*pivots`.
    /// @param rest             [n x n] added to W; NULL: nothing
    /// @param pivot_tolerance  entries below this share of their column's largest, both in units, are no pivots
    /// @param tie_tolerance    ratios closer than this share of the round-off scale are equal
    carom_verdict (*run)(void *tableau, const double *W, const double *rest, const double *w, int64_t limit, double pivot_tolerance,
                         double tie_tolerance, int64_t *pivots);
    /// The solution, and which z are basic (NULL: not asked for).
    void (*extract)(const void *tableau, double *z, bool *basic);

    /// The same method with a memory of its pivots, for one W, many w, and n up to CAROM_LEMKE_MOST_REMEMBERED; NULL in extended precision.
    /// W and units are borrowed; NULL when out of memory.
    void *(*remember)(int n, const double *W, const double *y_unit, const double *z_unit, double pivot_tolerance, double tie_tolerance);
    void (*forget)(void *memory);
    /// Takes another covering vector, [n] copied, and forgets the pivots of the former one.
    void (*cover_again)(void *memory, const double *covering);
    /// For a w with a negative entry, at most CAROM_LEMKE_PIVOTS_PER_ROW * n pivots.
    carom_verdict (*recall)(void *memory, const double *w, int64_t *pivots);
    void (*read_out)(const void *memory, double *z, bool *basic);

    /// Both residuals of z in one pass, bit for bit those of carom_lcp_residual and carom_lcp_relative_residual; infinite where z exceeds w
    /// by CAROM_LCP_MOST_AMPLIFICATION. NULL in extended precision.
    void (*check)(const carom_lcp_columns *matrix, const double *w, const double *z, double *residual, double *relative);
} carom_lemke_kernel;

extern const carom_lemke_kernel carom_lemke_kernel_scalar, carom_lemke_kernel_portable, carom_lemke_kernel_quad;
#if defined(__x86_64__)
extern const carom_lemke_kernel carom_lemke_kernel_avx2;
#endif

/// The fastest kernel that this machine runs.
const carom_lemke_kernel *carom_lemke_kernel_fastest(void);

/// [n] which z are basic in the solution that a solver of the `lemke` family, with this state, found last.
bool *carom_lemke_basis(void *state);
/// carom_lcp_lemke_solve_basis
bool carom_lemke_solve_basis(void *state, const double *w, double *z);

#endif
