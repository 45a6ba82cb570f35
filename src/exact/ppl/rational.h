// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rational numbers: from text and from doubles on a grid, and back. Arrays of them, on GMP.
#ifndef CAROM_EXACT_PPL_RATIONAL_H
#define CAROM_EXACT_PPL_RATIONAL_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

/// Arrays of rationals that are freed together. A struct of zeros holds no arrays.
typedef struct exact_rationals {
    struct exact_rational_block *last;  ///< of the arrays taken so far, each of which knows the one before
    bool failed;                        ///< some array could not be had: ask once, after taking them all
} exact_rationals;

/// An array of `count` zeros; NULL, and `arrays` has failed, when there is no memory.
mpq_t *exact_rationals_take(exact_rationals *arrays, size_t count);
void exact_rationals_free(exact_rationals *arrays);

/// "p/q", "p" or a decimal with or without an exponent, exactly. False for anything else, and for exponents or decimal places
/// beyond 1024, more than doubles have.
bool exact_rational_read(mpq_t value, const char *text);

/// The exponent e with 2^(e-1) <= |largest| < 2^e; 0 for zero.
int exact_scale_exponent(double largest);
/// x to the nearest multiple of 2^-40 of a scale 2^exponent, ties away from zero, so that zero stays zero, equal numbers stay equal and
/// opposite ones opposite.
/// @return value
double exact_rational_round(mpq_t value, double x, int exponent);

/// The decimal with the fewest places whose nearest double is x: what a person wrote who wrote x. Of numbers of at most 1 that is found
/// within 17 places; of others x itself.
void exact_rational_shortest(mpq_t value, double x);

/// The last of the continued fraction of x >= 0 with a denominator of at most this: it is off by less than its inverse over its
/// denominator.
void exact_rational_near(mpq_t value, double x, long most_denominator);

/// Makes numbers equal that were meant to be: those within 2^-31 of the scale become zero, or, up to their sign, the first of those that
/// are so close. A grid alone would part equal numbers on both sides of the middle between two of its points.
void exact_settle(size_t count, double *values, double scale);

/// The nearest double.
double exact_rational_double(const mpq_t value);

/// A rational that is at least sqrt(value), for value >= 0, and hardly more.
void exact_rational_above_root(mpq_t root, const mpq_t value);

/// sum += x * y, with `scratch` for the product.
void exact_rational_add_product(mpq_t sum, const mpq_t x, const mpq_t y, mpq_t scratch);

#endif
