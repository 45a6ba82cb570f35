// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arithmetic in texts: formulas over named numbers, for models whose sizes depend on parameters. Shared by carom's own libraries.
#ifndef CAROM_EXPRESSION_H
#define CAROM_EXPRESSION_H

#include "carom/base.h"

CAROM_API_BEGIN

/// Value of a formula: numbers, names, `pi`, `sqrt(...)`, + - * / ^ and parentheses, with the usual precedence; ^ binds to the right.
/// @param text   [length], need not be terminated
/// @param names  [count], with their `values`
/// @return CAROM_BAD_INPUT naming what is not understood, an unknown name, or a result that is not finite
carom_status carom_expression_evaluate(const char *text, size_t length, const char *const *names, const double *values, int count,
                                       double *value, carom_error *error);

CAROM_API_END

#endif
