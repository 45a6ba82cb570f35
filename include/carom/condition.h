// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conditions in texts, on numbers that have names: "mu.A > 0.7 and v0.1 <= 2*v0.2 or mass > 1". Shared by carom's own libraries.
#ifndef CAROM_CONDITION_H
#define CAROM_CONDITION_H

#include "carom/base.h"

CAROM_API_BEGIN

/// Comparisons of sums of multiples of variables and numbers, joined by `and` and `or`; `and` binds closer.
typedef struct carom_condition carom_condition;

/// @param names  [count] of the variables (carom/expression.h)
/// @return CAROM_BAD_INPUT naming what is not understood: what has no comparison <, <=, >, >=, ==, != or several, an unknown name, what is
///         not linear
carom_status carom_condition_create(const char *text, const char *const *names, int count, carom_condition **condition, carom_error *error);
void carom_condition_free(carom_condition *condition);
/// True where it holds for these values [count]; a comparison with a value that is not a number does not.
bool carom_condition_holds(const carom_condition *condition, const double *values);

CAROM_API_END

#endif
