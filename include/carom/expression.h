// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arithmetic in texts: formulas over named numbers and linear sums of named variables. Shared by carom's own libraries.
/// The language is numbers, names, `pi`, `sqrt(...)`, + - * / ^ and parentheses with the usual precedence; ^ binds to the right.
/// Names may hold any character: at every place the longest name counts that an operator, a parenthesis or the end follows.
#ifndef CAROM_EXPRESSION_H
#define CAROM_EXPRESSION_H

#include "carom/base.h"

CAROM_API_BEGIN

/// Value of a formula, as `2*pi*radius^2`.
/// @param text   [length], need not be terminated
/// @param names  [count], with their `values`
/// @return CAROM_BAD_INPUT naming what is not understood, an unknown name, or a result that is not finite
carom_status carom_expression_evaluate(const char *text, size_t length, const char *const *names, const double *values, int count,
                                       double *value, carom_error *error);

/// Factors of a sum of multiples of variables, as `2*Jn.A - (Jt.B + v.3)/2`. They may overflow to infinity.
/// @param names    [count] of the variables
/// @param factors  [count]
/// @return CAROM_BAD_INPUT naming what is not understood, an unknown name, a constant term, or what is not linear
carom_status carom_expression_linear(const char *text, const char *const *names, int count, double *factors, carom_error *error);

/// The same with a number beside the sum, of a text that need not be terminated: a number alone, too.
/// @param text  [length]
carom_status carom_expression_affine(const char *text, size_t length, const char *const *names, int count, double *factors, double *number,
                                     carom_error *error);

/// Index of the longest name that the text up to `end` begins with, where blanks and then the end or one of `enders` follow; -1 for none.
/// @param size  receives the bytes of the name, 0 for none
int carom_expression_match(const char *text, const char *end, const char *const *names, int count, const char *enders, size_t *size);

/// The names with commas between them, cut where `size` bytes do not hold them.
void carom_expression_list(const char *const *names, int count, char *list, size_t size);

CAROM_API_END

#endif
