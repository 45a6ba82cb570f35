// SPDX-License-Identifier: Apache-2.0
// Numbers of scene files. A fraction p/q becomes the double nearest to it, by long division of its digits.
#include "io/number.h"

#include <stdio.h>
#include <string.h>

#include "carom/base.h"

// p/q differs from the midpoint of two doubles, if at all, within the digits of p, of q and of a double together.
// That many digits of the quotient, and one more that says whether a rest follows, are therefore rounded like p/q itself.
enum { DOUBLE_DIGITS = 20, MAX_QUOTIENT_DIGITS = 2 * CAROM_MAX_FRACTION_DIGITS + DOUBLE_DIGITS };

// A run of decimal digits without leading zeros.
typedef struct digit_run {
    const char *first;
    size_t count;
} digit_run;

// Takes the digits at `*text` and moves after them. False when there are none or too many.
static bool take_digits(const char **text, digit_run *run) {
    const size_t length = strspn(*text, "0123456789"), zeros = strspn(*text, "0");
    if (length == 0 || length - zeros > CAROM_MAX_FRACTION_DIGITS) return false;
    *run = (digit_run){*text + zeros, length - zeros};
    *text += length;
    return true;
}

// p/q as the text of a decimal that rounds to the same double.
static void divide(const digit_run *p, const digit_run *q, const char *sign, char *text, size_t size) {
    // The rest has one digit more in front than q: it stays below ten times q.
    char rest[CAROM_MAX_FRACTION_DIGITS + 1], quotient[MAX_QUOTIENT_DIGITS + 1];
    memset(rest, '0', sizeof rest);
    const size_t wanted = p->count + q->count + DOUBLE_DIGITS;
    size_t found = 0, place = 0;
    for (; place < p->count || found < wanted; place++) {
        // Bring the next digit of p down, or a zero after its last one.
        memmove(rest, rest + 1, q->count);
        rest[q->count] = place < p->count ? p->first[place] : '0';
        // The quotient's digit is how often q can be subtracted.
        char digit = '0';
        for (; rest[0] > '0' || memcmp(rest + 1, q->first, q->count) >= 0; digit++) {
            int borrow = 0;
            for (size_t i = q->count + 1; i-- > 0;) {
                const int difference = rest[i] - borrow - (i > 0 ? q->first[i - 1] : '0');
                borrow = difference < 0;
                rest[i] = (char)('0' + difference + 10 * borrow);
            }
        }
        if (found > 0 || digit != '0') quotient[found++] = digit;
    }
    bool remains = false;
    for (size_t i = 0; i <= q->count; i++) remains |= rest[i] != '0';
    snprintf(text, size, "%s%.*s%de%d", sign, (int)found, quotient, remains, (int)p->count - (int)place - 1);
}

bool carom_number_read(const char *text, double *value) {
    if (!strchr(text, '/')) return carom_parse_number(text, value);

    *value = 0;
    const char *sign = *text == '-' ? "-" : "";
    text += *text == '-' || *text == '+';
    digit_run p, q;
    if (!take_digits(&text, &p) || *text++ != '/' || !take_digits(&text, &q) || *text != '\0' || q.count == 0) return false;
    if (p.count == 0) return true;
    char decimal[MAX_QUOTIENT_DIGITS + 32];
    divide(&p, &q, sign, decimal, sizeof decimal);
    return carom_parse_number(decimal, value);
}
