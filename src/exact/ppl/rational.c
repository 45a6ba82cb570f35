// SPDX-License-Identifier: Apache-2.0
// Rational numbers from text and doubles, and back to the nearest double.
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
// Decimal exponents, and digits after the point, of any number that a double holds as more than 0.
enum { MOST_DECIMAL_EXPONENT = 1024 };

// -------------------------------------------------------------------------------------------------------------- arrays

struct exact_rational_block {
    struct exact_rational_block *before;
    size_t count;
    mpq_t values[];
};

mpq_t *exact_rationals_take(exact_rationals *arrays, size_t count) {
    struct exact_rational_block *block = malloc(sizeof *block + count * sizeof *block->values);
    if (!block) {
        arrays->failed = true;
        return NULL;
    }
    *block = (struct exact_rational_block){.before = arrays->last, .count = count};
    for (size_t i = 0; i < count; i++) mpq_init(block->values[i]);
    arrays->last = block;
    return block->values;
}

void exact_rationals_free(exact_rationals *arrays) {
    while (arrays->last) {
        struct exact_rational_block *block = arrays->last;
        arrays->last = block->before;
        for (size_t i = 0; i < block->count; i++) mpq_clear(block->values[i]);
        free(block);
    }
    arrays->failed = false;
}

// ---------------------------------------------------------------------------------------------------------------- text

// Appends the digits at `text` to `digits`; returns how many there are.
static size_t take_digits(const char *text, char *digits) {
    const size_t count = strspn(text, "0123456789");
    strncat(digits, text, count);
    return count;
}

// Unsigned: "12.5e-3". `digits` is empty and has room for all of the text.
static bool read_decimal(mpq_t value, const char *text, char *digits) {
    const size_t whole = take_digits(text, digits);
    text += whole;
    size_t fraction = 0;
    if (*text == '.') fraction = take_digits(++text, digits);
    text += fraction;
    if (!(whole + fraction) || fraction > MOST_DECIMAL_EXPONENT) return false;

    // The exponent, which must end the text.
    long exponent = 0;
    if (*text == 'e' || *text == 'E') {
        char *end;
        const char *number = text + 1 + (text[1] == '-' || text[1] == '+');
        if (!isdigit((unsigned char)*number)) return false;
        exponent = strtol(text + 1, &end, 10);
        text = end;
    }
    if (*text || exponent < -MOST_DECIMAL_EXPONENT || exponent > MOST_DECIMAL_EXPONENT) return false;

    // value = digits * 10^(exponent - fraction)
    const long power = exponent - (long)fraction;
    mpz_set_str(mpq_numref(value), digits, 10);
    mpz_ui_pow_ui(mpq_denref(value), 10, (unsigned long)labs(power));
    if (power > 0) {
        mpz_mul(mpq_numref(value), mpq_numref(value), mpq_denref(value));
        mpz_set_ui(mpq_denref(value), 1);
    }
    mpq_canonicalize(value);
    return true;
}

bool exact_rational_read(mpq_t value, const char *text) {
    // One sign at most; what follows is unsigned.
    const bool negative = *text == '-';
    text += negative || *text == '+';
    const char *slash = strchr(text, '/');
    bool read;
    if (slash) {
        // Digits alone on both sides, since GMP would pass over blanks; and no zero below.
        const size_t above = strspn(text, "0123456789"), below = strspn(slash + 1, "0123456789");
        read = above > 0 && below > 0 && text + above == slash && !slash[1 + below] && !mpq_set_str(value, text, 10) &&
               mpz_sgn(mpq_denref(value)) != 0;
        if (read) mpq_canonicalize(value);
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
        // Near zero, or near an earlier number or its opposite.
        if (fabs(values[i]) <= same) values[i] = 0;
        for (size_t k = 0; k < i; k++) {
            if (!(fabs(fabs(values[i]) - fabs(values[k])) <= same)) continue;
            values[i] = copysign(values[k], values[i]);
            break;
        }
    }
}

void exact_rational_shortest(mpq_t value, double x) {
    enum { MOST_PLACES = 17 };
    mpq_t exact;
    mpz_t power;
    mpq_init(exact);
    mpz_init_set_ui(power, 1);
    mpq_set_d(exact, x);
    bool found = false;
    for (int places = 0; places <= MOST_PLACES && !found; places++, mpz_mul_ui(power, power, 10)) {
        // x 10^places, rounded to the nearest whole number: floor((2 p + q) / 2 q) of p / q.
        mpq_set_z(value, power);
        mpq_mul(value, value, exact);
        mpz_mul_2exp(mpq_numref(value), mpq_numref(value), 1);
        mpz_add(mpq_numref(value), mpq_numref(value), mpq_denref(value));
        mpz_mul_2exp(mpq_denref(value), mpq_denref(value), 1);
        mpz_fdiv_q(mpq_numref(value), mpq_numref(value), mpq_denref(value));
        mpz_set(mpq_denref(value), power);
        mpq_canonicalize(value);
        found = exact_rational_double(value) == x;
    }
    if (!found) mpq_set(value, exact);
    mpz_clear(power);
    mpq_clear(exact);
}

void exact_rational_near(mpq_t value, double x, long most_denominator) {
    // Convergents p/q of x = a_0 + 1/(a_1 + 1/(a_2 + ...)).
    long p = (long)floor(x), q = 1, p_before = 1, q_before = 0;
    double rest = x - floor(x);
    while (rest > 0 && 1 / rest < (double)most_denominator) {
        const long a = (long)floor(1 / rest);
        if (a * q + q_before > most_denominator) break;
        const long p_next = a * p + p_before, q_next = a * q + q_before;
        p_before = p, q_before = q;
        p = p_next, q = q_next;
        rest = 1 / rest - floor(1 / rest);
    }
    mpq_set_si(value, p, (unsigned long)q);
    mpq_canonicalize(value);
}

double exact_rational_double(const mpq_t value) {
    // GMP truncates towards zero: the nearest double is that, or the next one away from zero.
    const double candidates[2] = {mpq_get_d(value), nextafter(mpq_get_d(value), mpq_sgn(value) < 0 ? -INFINITY : INFINITY)};
    if (!isfinite(candidates[0]) || !isfinite(candidates[1])) return candidates[0];
    mpq_t distances[2];
    for (int i = 0; i < 2; i++) {
        mpq_init(distances[i]);
        mpq_set_d(distances[i], candidates[i]);
        mpq_sub(distances[i], distances[i], value);
        mpq_abs(distances[i], distances[i]);
    }
    const double nearest = candidates[mpq_cmp(distances[1], distances[0]) < 0];
    for (int i = 0; i < 2; i++) mpq_clear(distances[i]);
    return nearest;
}

void exact_rational_above_root(mpq_t root, const mpq_t value) {
    // One double up covers the truncation of `value`, another the rounding of the root.
    mpq_set_d(root, nextafter(sqrt(nextafter(mpq_get_d(value), INFINITY)), INFINITY));
}

void exact_rational_add_product(mpq_t sum, const mpq_t x, const mpq_t y, mpq_t scratch) {
    if (!mpq_sgn(x) || !mpq_sgn(y)) return;
    mpq_mul(scratch, x, y);
    mpq_add(sum, sum, scratch);
}
