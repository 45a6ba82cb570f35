// SPDX-License-Identifier: Apache-2.0
#include "exact/ppl/rational.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Grid of computed numbers: 2^-40 of the scale. Moves no velocity by more than some 1e-12 of the largest, and keeps the coefficients of
// polyhedra short.
enum { GRID_BITS = 40 };
// Numbers that differ by less than this share of their scale are meant to be equal: far above the round-off of a model's kinematics, far
// below what a user would tell apart.
#define SAME_SHARE 0x1p-31
// Decimal exponents, and digits behind the point, of any number that a double holds as more than 0.
enum { MOST_DECIMAL_EXPONENT = 1024 };

mpq_t *exact_rationals_create(size_t count) {
    mpq_t *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; values && i < count; i++) mpq_init(values[i]);
    return values;
}

void exact_rationals_free(mpq_t *values, size_t count) {
    for (size_t i = 0; values && i < count; i++) mpq_clear(values[i]);
    free(values);
}

// ---------------------------------------------------------------------------------------------------------------- text

// Appends the digits at `text` to `digits`; returns how many there are.
static size_t take_digits(const char *text, char *digits) {
    const size_t count = strspn(text, "0123456789");
    strncat(digits, text, count);
    return count;
}

// value = digits * 10^exponent
static void set_decimal(mpq_t value, const char *digits, long exponent) {
    mpz_t power;
    mpz_init(power);
    mpz_ui_pow_ui(power, 10, (unsigned long)labs(exponent));
    mpz_set_str(mpq_numref(value), digits, 10);
    mpz_set_ui(mpq_denref(value), 1);
    if (exponent > 0)
        mpz_mul(mpq_numref(value), mpq_numref(value), power);
    else
        mpz_set(mpq_denref(value), power);
    mpq_canonicalize(value);
    mpz_clear(power);
}

// Unsigned: "12.5e-3". `digits` has room for all of the text.
static bool read_decimal(mpq_t value, const char *text, char *digits) {
    const size_t whole = take_digits(text, digits);
    text += whole;
    size_t fraction = 0;
    if (*text == '.') fraction = take_digits(++text, digits);
    text += fraction;
    if (!(whole + fraction) || fraction > MOST_DECIMAL_EXPONENT) return false;
    long exponent = 0;
    if (*text == 'e' || *text == 'E') {
        char *end;
        const char *number = text + 1 + (text[1] == '-' || text[1] == '+');
        if (!isdigit((unsigned char)*number)) return false;
        exponent = strtol(text + 1, &end, 10);
        text = end;
    }
    if (*text || exponent < -MOST_DECIMAL_EXPONENT || exponent > MOST_DECIMAL_EXPONENT) return false;
    set_decimal(value, digits, exponent - (long)fraction);
    return true;
}

// Unsigned: "12/25". Only digits, for mpz_set_str skips blanks.
static bool read_fraction(mpq_t value, const char *text, const char *slash) {
    if (strspn(text, "0123456789") != (size_t)(slash - text) || strspn(slash + 1, "0123456789") != strlen(slash + 1)) return false;
    if (slash == text || !slash[1] || mpq_set_str(value, text, 10) || !mpz_sgn(mpq_denref(value))) return false;
    mpq_canonicalize(value);
    return true;
}

bool exact_rational_read(mpq_t value, const char *text) {
    const bool negative = *text == '-';
    text += negative || *text == '+';
    const char *slash = strchr(text, '/');
    bool read;
    if (slash) {
        read = read_fraction(value, text, slash);
    } else {
        char *digits = calloc(strlen(text) + 1, 1);
        read = digits && read_decimal(value, text, digits);
        free(digits);
    }
    if (!read) mpq_set_ui(value, 0, 1);
    if (negative) mpq_neg(value, value);
    return read;
}

// ------------------------------------------------------------------------------------------------------------- doubles

int exact_scale_exponent(double largest) {
    int exponent;
    frexp(largest, &exponent);
    return exponent;
}

double exact_rational_round(mpq_t value, double x, int exponent) {
    // 2^exponent is up to twice the scale
    const int grid = exponent - 1 - GRID_BITS;
    const double rounded = ldexp(round(ldexp(x, -grid)), grid);
    mpq_set_d(value, rounded);
    return rounded;
}

void exact_settle(size_t count, double *values, double scale) {
    const double same = SAME_SHARE * scale;
    for (size_t i = 0; i < count; i++) {
        if (fabs(values[i]) <= same) values[i] = 0;
        for (size_t k = 0; k < i; k++) {
            if (!(fabs(fabs(values[i]) - fabs(values[k])) <= same)) continue;
            values[i] = copysign(values[k], values[i]);
            break;
        }
    }
}

// |value - x|
static void measure_distance(mpq_t distance, const mpq_t value, double x) {
    mpq_set_d(distance, x);
    mpq_sub(distance, distance, value);
    mpq_abs(distance, distance);
}

double exact_rational_double(const mpq_t value) {
    // GMP truncates towards zero: the nearest double is that, or the next one away from zero.
    const double below = mpq_get_d(value), above = nextafter(below, mpq_sgn(value) < 0 ? -INFINITY : INFINITY);
    if (!isfinite(below) || !isfinite(above)) return below;
    mpq_t near, far;
    mpq_inits(near, far, NULL);
    measure_distance(near, value, below);
    measure_distance(far, value, above);
    const double nearest = mpq_cmp(far, near) < 0 ? above : below;
    mpq_clears(near, far, NULL);
    return nearest;
}

void exact_rational_above_root(mpq_t root, const mpq_t value) {
    // one double up covers the truncation, another the rounding of the root
    const double above = nextafter(sqrt(nextafter(mpq_get_d(value), INFINITY)), INFINITY);
    mpq_set_d(root, above);
}

void exact_rational_add_product(mpq_t sum, const mpq_t x, const mpq_t y, mpq_t scratch) {
    if (!mpq_sgn(x) || !mpq_sgn(y)) return;
    mpq_mul(scratch, x, y);
    mpq_add(sum, sum, scratch);
}
