// SPDX-License-Identifier: Apache-2.0
// Changes of tapes: what the search for worst cases tries. A number that a change takes away is drawn anew when the walk asks for it.
#include "reach/mutate.h"

#include <math.h>

#include "reach/walk.h"

// How often each change is tried; the last one, smaller steps of lengths and weights, has the rest.
typedef enum change {
    CHANGE_FLIP,
    CHANGE_REDRAW,
    CHANGE_INSERT,
    CHANGE_DOUBLE,
    CHANGE_DELETE,
    CHANGE_CUT,
    CHANGE_CROSS,
    CHANGE_ALONE,
    CHANGES
} change;
static const double chances[CHANGES] = {[CHANGE_FLIP] = 0.10,   [CHANGE_REDRAW] = 0.14, [CHANGE_INSERT] = 0.09, [CHANGE_DOUBLE] = 0.09,
                                        [CHANGE_DELETE] = 0.12, [CHANGE_CUT] = 0.04,    [CHANGE_CROSS] = 0.08,  [CHANGE_ALONE] = 0.05};

// Steps are normal, of a size between 1 and 2^-FINEST, all octaves alike: no size has to be found first, and kinks cost nothing.
#define FINEST 18
// Probability that a step changes one number of one piece alone; otherwise all of this piece, and perhaps of others.
#define ONE_NUMBER 0.4
// Probability that a step is one of the point of an uncertain impact.
#define OF_POINT 0.3

// Runs of pieces that are deleted or drawn anew: a share of half the walk, a uniform number to this power.
#define RUN 6

// Caps of the others where one contact is to act alone.
#define NEARLY_NOTHING 1e-3

static const double LEAST_NUMBER = 0x1p-53;

int carom_tape_pieces(const carom_tape *tape) {
    const int last = tape->count ? tape->numbers[tape->count - 1].piece : 0;
    return last > 0 ? last : 0;
}

static carom_tape_decision decision_of(const carom_tape_number *number, int contacts) {
    return (carom_tape_decision)(number->what / contacts);
}

static bool is_continuous(const carom_tape_number *number, int contacts) {
    if (number->piece == CAROM_TAPE_POINT) return true;
    const carom_tape_decision decision = decision_of(number, contacts);
    return decision == CAROM_TAPE_LENGTH || decision == CAROM_TAPE_MANTISSA || decision == CAROM_TAPE_LIGHTER ||
           decision == CAROM_TAPE_RESTITUTION || decision == CAROM_TAPE_SHARE || decision == CAROM_TAPE_CAP;
}

// Into the open interval (0, 1), reflected at its ends.
static double reflect(double x) {
    x = fabs(x - 2 * floor(x / 2));
    if (x > 1) x = 2 - x;
    return fmin(fmax(x, LEAST_NUMBER), 1 - LEAST_NUMBER);
}

// A step of number k. A weight, an octave and then its mantissa, moves in its logarithm.
static void move(const carom_impact *impact, carom_tape *child, int64_t k, double step) {
    const int contacts = carom_impact_get_data(impact)->contacts, contact = child->numbers[k].what % contacts;
    carom_tape_number *number = &child->numbers[k];
    if (number->piece == CAROM_TAPE_POINT) {
        // The worst parameters often are extreme.
        number->value = fmin(fmax(number->value + step, LEAST_NUMBER), 1 - LEAST_NUMBER);
        return;
    }
    const bool weight = decision_of(number, contacts) == CAROM_TAPE_MANTISSA && k > 0 &&
                        decision_of(number - 1, contacts) == CAROM_TAPE_OCTAVE && (number - 1)->what % contacts == contact;
    if (!weight) {
        number->value = reflect(number->value + step);
        return;
    }
    const int octaves = carom_walk_octaves(carom_impact_get_data(impact)->friction[contact]);
    const double exponent = log2(1 + number->value) - floor(octaves * (number - 1)->value);
    // From 2^(1 - octaves) to 2.
    const double moved = 1 - octaves + octaves * reflect((exponent + octaves - 1 + octaves * step) / octaves);
    const double octave = fmin(fmax(-floor(moved), 0), octaves - 1);
    (number - 1)->value = (octave + 0.5) / octaves;
    number->value = reflect(exp2(moved + octave) - 1);
}

// Lengths and weights of one piece, and of some others.
static void tune(const carom_impact *impact, int pieces, carom_stream *stream, carom_tape *child) {
    const int contacts = carom_impact_get_data(impact)->contacts;
    const bool uncertain = child->count && child->numbers[0].piece == CAROM_TAPE_POINT;
    const int chosen = uncertain && (!pieces || carom_stream_uniform(stream) < OF_POINT)
                           ? CAROM_TAPE_POINT
                           : (int)((pieces + 1) * carom_stream_uniform(stream));
    const bool one = carom_stream_uniform(stream) < ONE_NUMBER;
    const double others = carom_stream_uniform(stream) < 0.5 ? 0 : 2.0 / (pieces + 1), size = exp2(-FINEST * carom_stream_uniform(stream));
    int64_t last = -1;
    int seen = 0;
    for (int64_t k = 0; k < child->count; k++) {
        const carom_tape_number *number = &child->numbers[k];
        if (!is_continuous(number, contacts)) continue;
        if (one && number->piece == chosen && carom_stream_uniform(stream) * ++seen < 1) last = k;
        if (one || (number->piece != chosen && carom_stream_uniform(stream) >= others)) continue;
        move(impact, child, k, size * carom_stream_normal(stream));
    }
    if (last >= 0) move(impact, child, last, size * carom_stream_normal(stream));
}

// Numbers of the pieces `first` to `last` of a tape, `shift` pieces later.
static void add_pieces(const carom_tape *from, int first, int last, int shift, carom_tape *child) {
    for (int64_t k = 0; k < from->count; k++) {
        carom_tape_number number = from->numbers[k];
        if (number.piece < first || number.piece > last) continue;
        number.piece += shift;
        carom_tape_add(child, number);
    }
}

// One contact alone in a piece: it takes part, and no other does, or has a cap that matters.
static void single_out(int contacts, int piece, carom_stream *stream, carom_tape *child) {
    const int contact = (int)(contacts * carom_stream_uniform(stream));
    for (int64_t k = 0; k < child->count; k++) {
        carom_tape_number *number = &child->numbers[k];
        const bool chosen = number->what % contacts == contact;
        if (number->piece == piece && decision_of(number, contacts) == CAROM_TAPE_PART) number->value = chosen ? 0.25 : 0.75;
        if (number->piece == piece && decision_of(number, contacts) == CAROM_TAPE_CAP)
            number->value = chosen ? reflect((1 + number->value) / 2) : NEARLY_NOTHING * number->value;
    }
}

// One decision of a piece that is not a length or a weight is drawn anew.
static void flip(int contacts, int piece, carom_stream *stream, carom_tape *child) {
    int64_t chosen = -1;
    int seen = 0;
    for (int64_t k = 0; k < child->count; k++)
        if (child->numbers[k].piece == piece && !is_continuous(&child->numbers[k], contacts) && carom_stream_uniform(stream) * ++seen < 1)
            chosen = k;
    if (chosen >= 0) child->numbers[chosen].value = carom_stream_uniform(stream);
}

void carom_tape_mutate(const carom_impact *impact, const carom_tape *parent, const carom_tape *mate, carom_stream *stream,
                       carom_tape *child) {
    const int contacts = carom_impact_get_data(impact)->contacts, pieces = carom_tape_pieces(parent);
    double draw = carom_stream_uniform(stream);
    int what = 0;
    while (what < CHANGES && draw >= chances[what]) draw -= chances[what++];
    // Where no walk is to be made, there is the point of an uncertain impact alone.
    if (!pieces) what = CHANGES;
    const int piece = 1 + (int)(pieces * carom_stream_uniform(stream));
    // Mostly one piece, sometimes many.
    const int run = 1 + (int)(pieces / 2 * pow(carom_stream_uniform(stream), RUN));
    child->count = 0;
    switch (what) {
    case CHANGE_REDRAW:
    case CHANGE_DELETE:
        add_pieces(parent, CAROM_TAPE_POINT, piece - 1, 0, child);
        add_pieces(parent, piece + run, pieces, what == CHANGE_DELETE ? -run : 0, child);
        break;
    case CHANGE_INSERT:
        add_pieces(parent, CAROM_TAPE_POINT, piece - 1, 0, child);
        add_pieces(parent, piece, pieces, 1, child);
        break;
    case CHANGE_DOUBLE:
        add_pieces(parent, CAROM_TAPE_POINT, piece, 0, child);
        add_pieces(parent, piece, pieces, 1, child);
        break;
    case CHANGE_CUT: add_pieces(parent, CAROM_TAPE_POINT, piece - 1, 0, child); break;
    case CHANGE_CROSS: {
        const int theirs = carom_tape_pieces(mate), from = 1 + (int)(theirs * carom_stream_uniform(stream));
        add_pieces(parent, CAROM_TAPE_POINT, piece - 1, 0, child);
        add_pieces(mate, from, theirs, piece - from, child);
        break;
    }
    default:
        carom_tape_copy(parent, child);
        if (what == CHANGE_FLIP) flip(contacts, piece, stream, child);
        if (what == CHANGE_ALONE) single_out(contacts, piece, stream, child);
        if (what == CHANGES) tune(impact, pieces, stream, child);
    }
}
