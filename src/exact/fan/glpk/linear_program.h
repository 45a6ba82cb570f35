// SPDX-License-Identifier: Apache-2.0
/// @file
/// Linear programs on GLPK, which prints, and ends the process on its own errors, unless it is told otherwise.
#ifndef CAROM_EXACT_FAN_LINEAR_PROGRAM_H
#define CAROM_EXACT_FAN_LINEAR_PROGRAM_H

#include "exact/bounding.h"

/// Minimise objective . x subject to rows . x <= limits, x free. Rows are sparse and may be added between solutions.
typedef struct linear_program linear_program;

/// @return CAROM_OUT_OF_MEMORY
carom_status linear_program_create(int columns, const double *objective, linear_program **made, carom_error *error);
void linear_program_free(linear_program *freed);

/// Adds `columns[k], entries[k]`, k < count, as a row; columns from 0, each at most once. The row counts from the next solution on.
carom_status linear_program_add_row(linear_program *program, int count, const int *columns, const double *entries, double limit,
                                    carom_error *error);

/// @param effort  when to give up
/// @param x       [columns] the solution
/// @param prices  receives [rows], until the next call: by how much a row's limit counts, <= 0; NULL where there is no solution
/// @param solved  false where there is none, or GLPK gave up
/// @return CAROM_OUT_OF_MEMORY, or CAROM_INTERNAL for an error of GLPK
carom_status linear_program_solve(linear_program *program, const bound_effort *effort, double *x, const double **prices, bool *solved,
                                  carom_error *error);

#endif
