// SPDX-License-Identifier: Apache-2.0
/// @file
/// A bracket of the zero of a function that falls from positive to negative: false position in the form of Illinois (Dowell & Jarratt
/// 1971), with a halving where the bracket shrinks too slowly.
#ifndef CAROM_BRACKET_H
#define CAROM_BRACKET_H

#include <stdbool.h>

typedef struct carom_bracket {
    double low, high;  ///< where the function is not negative, and negative
    double p, q;       ///< its values there, halved where an end stays
    int side;          ///< which end moved last: +1 low, -1 high
    int stalls;        ///< steps in a row that did not halve the bracket
} carom_bracket;

/// Steps that may fail to halve the bracket: Illinois takes at most two before a long one.
enum { CAROM_BRACKET_STALLS = 3 };

/// Where to look next; an end of the bracket when it cannot shrink any more.
static inline double carom_bracket_guess(const carom_bracket *b) {
    if (b->stalls >= CAROM_BRACKET_STALLS) return 0.5 * (b->low + b->high);
    return b->low + (b->high - b->low) * (b->p / (b->p - b->q));
}

static inline void carom_bracket_update(carom_bracket *b, double at, double value) {
    const double width = b->high - b->low;
    if (value >= 0) {
        if (b->side > 0) b->q *= 0.5;
        b->low = at;
        b->p = value;
        b->side = 1;
    } else {
        if (b->side < 0) b->p *= 0.5;
        b->high = at;
        b->q = value;
        b->side = -1;
    }
    b->stalls = b->high - b->low <= 0.5 * width ? 0 : b->stalls + 1;
}

#endif
