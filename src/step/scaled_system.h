// SPDX-License-Identifier: Apache-2.0
/// @file
/// Small linear systems whose rows and columns differ in size: mu = 1e5 is no reason to call one singular.
#ifndef CAROM_STEP_SCALED_SYSTEM_H
#define CAROM_STEP_SCALED_SYSTEM_H

#include "carom/arena.h"
#include "carom/base.h"

/// A square matrix, and the factors of what it becomes when first its rows and then its columns are scaled to unit size.
typedef struct carom_scaled_system {
    int n;
    double *matrix, *factors;          ///< [n x n]
    double *row_scale, *column_scale;  ///< [n]
    double *rest;                      ///< [n] scratch
    int *exchanges;                    ///< [n]
} carom_scaled_system;

/// Takes room for systems of at most `most` unknowns.
void carom_scaled_system_take(carom_arena *arena, size_t most, carom_scaled_system *system);

/// Factors the matrix. False when it counts as singular: a pivot of the scaled matrix is small against the largest.
bool carom_scaled_system_factor(carom_scaled_system *system);

/// The solution x for this right side, after the factoring, refined with residuals in extended precision against the unscaled matrix.
void carom_scaled_system_solve(const carom_scaled_system *system, const double *right_side, double *x);

#endif
