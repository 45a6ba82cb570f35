// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers of scene files: decimals and fractions, each as the nearest double.
#ifndef CAROM_IO_NUMBER_H
#define CAROM_IO_NUMBER_H

#include <stdbool.h>

/// Longest numerator or denominator, in digits.
enum { CAROM_MAX_FRACTION_DIGITS = 400 };

/// Reads "0.25", "-1e-3" or "p/q" with whole p and q > 0; the double is the correctly rounded value of the text.
/// False for anything else: "1abc", "nan", "1/0", a value that no finite double is near.
bool carom_number_read(const char *text, double *value);

#endif
