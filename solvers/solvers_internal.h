// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of this room share: the one formula of the residuals, and how a candidate is cleaned.
#ifndef CAROM_SOLVERS_INTERNAL_H
#define CAROM_SOLVERS_INTERNAL_H

#include <math.h>

#include "carom/lcp.h"

/// How far rows 0 <= z_i _|_ y_i >= 0 are violated, and what that is compared with: the largest numbers over the rows that were added.
typedef struct carom_lcp_violation {
    double worst, worst_relative;   ///< |min(z_i, y_i)|, as it is and in units
    double w;                       ///< |w_i|
    double w_relative, z_relative;  ///< |w_i| and |z_i| in units
    double undefined;               ///< NaN once something is not finite, otherwise 0
} carom_lcp_violation;

/// Without the function call of fmax. NaN are counted apart.
static inline double carom_lcp_larger(double a, double b) { return a > b ? a : b; }

/// Adds row i. Rows may come in any order; y was summed in index order, so that every caller gets the same bits.
/// @param y_per_unit, z_per_unit  reciprocals of the units of y_i and z_i, powers of two
static inline void carom_lcp_add_row(carom_lcp_violation *sums, double y, double z, double w, double y_per_unit, double z_per_unit) {
    const double y_relative = y * y_per_unit, z_relative = z * z_per_unit;
    sums->worst = carom_lcp_larger(sums->worst, fabs(y < z ? y : z));
    sums->worst_relative = carom_lcp_larger(sums->worst_relative, fabs(y_relative < z_relative ? y_relative : z_relative));
    sums->w = carom_lcp_larger(sums->w, fabs(w));
    sums->w_relative = carom_lcp_larger(sums->w_relative, fabs(w) * y_per_unit);
    sums->z_relative = carom_lcp_larger(sums->z_relative, fabs(z_relative));
    sums->undefined += 0 * y + 0 * z;
}

/// max_i |min(z_i, y_i)| / (1 + max_i |w_i|).
static inline double carom_lcp_absolute(const carom_lcp_violation *sums) {
    return sums->undefined == 0 ? sums->worst / (1 + sums->w) : INFINITY;
}

/// The same in units, over the largest of w and z.
static inline double carom_lcp_relative(const carom_lcp_violation *sums) {
    if (sums->undefined != 0) return INFINITY;
    return sums->worst_relative > 0 ? sums->worst_relative / carom_lcp_larger(sums->w_relative, sums->z_relative) : 0;
}

/// Sets round-off below zero to zero, and NaN, which is a candidate for nothing.
static inline void carom_lcp_clip(int n, double *z) {
    for (int i = 0; i < n; i++)
        if (!(z[i] > 0)) z[i] = 0;
}

/// Our Lemke held to one instruction set.
enum { CAROM_LCP_LEMKE_KERNELS = 4 };
extern const carom_lcp_solver carom_lcp_lemke_kernels[CAROM_LCP_LEMKE_KERNELS];

#endif
