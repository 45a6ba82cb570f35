// SPDX-License-Identifier: Apache-2.0
/// @file
/// Units of an LCP's rows and columns, for tolerances only: the problem that is solved stays unscaled, because scaling it changes which of
/// several solutions Lemke's method takes. Shared by carom's own libraries, not installed.
#ifndef CAROM_SOLVERS_LCP_UNITS_H
#define CAROM_SOLVERS_LCP_UNITS_H

#include "carom/solvers.h"

CAROM_API_BEGIN

/// Sizes of y_i and z_i, powers of two, such that W_ij z_unit_j / y_unit_i is of the order of one where it is not zero. An impact LCP mixes
/// impulses and speeds, and a mass of 1e-9 kg makes them differ by as much.
/// @param y_unit, z_unit  [n]
void carom_lcp_units(int n, const double *W, double *y_unit, double *z_unit);

/// The residual in these units: max_i |min(z_i / z_unit_i, y_i / y_unit_i)| over the largest of |w_i| / y_unit_i and |z_i| / z_unit_i.
/// Infinite when anything is not finite; 0 for w = 0 and z = 0. Multiplying w, rows or columns changes nothing.
double carom_lcp_relative_residual(int n, const double *W, const double *w, const double *z, const double *y_unit, const double *z_unit);

CAROM_API_END

#endif
