// SPDX-License-Identifier: Apache-2.0
/// @file
/// Convex quadratic programs over a box that is symmetric about 0, by principal pivoting. Shared by carom's own libraries, not installed.
#ifndef CAROM_BOX_H
#define CAROM_BOX_H

#include "carom/arena.h"
#include "carom/base.h"

/// min x'Ax/2 + b'x over |x_i| <= bound_i, with workspace. Owned by carom_box_create; the caller fills size, A, b and bound.
typedef struct carom_box {
    int size;       ///< unknowns, up to the capacity
    double *A;      ///< [size x size], symmetric positive definite
    double *b;      ///< [size]
    double *bound;  ///< [size], >= 0
    double *x;      ///< [size], the solution
    double *slope;  ///< [size], A x + b there: exactly 0 between the bounds, >= 0 at the lower ones, <= 0 at the upper ones
    // Workspace
    double *factor, *side;
    int *place, *free_ones;
    carom_arena arena;
} carom_box;

carom_status carom_box_create(int capacity, carom_box **box, carom_error *error);
void carom_box_free(carom_box *box);

/// Murty's least-index principal pivoting, extended to upper bounds (Judice & Pires, 1992); finite for positive definite A.
/// @return false when rounding keeps it from an end
bool carom_box_solve(carom_box *box);

#endif
