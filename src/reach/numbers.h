// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where a walk takes its random numbers from: a stream, or first a tape. Not installed.
#ifndef CAROM_REACH_NUMBERS_H
#define CAROM_REACH_NUMBERS_H

#include <Random123/u01fixedpt.h>

#include "carom/reach.h"

typedef struct carom_numbers {
    carom_stream stream;
    bool taped;                ///< there is a tape, to be played or to be recorded
    const carom_tape *played;  ///< may be NULL
    carom_tape *recorded;      ///< may be NULL
    int contacts, piece;
    int64_t next, end;  ///< of the numbers that the played tape still has for this piece
} carom_numbers;

/// Goes on to the numbers of a piece.
void carom_numbers_turn_to(carom_numbers *numbers, int64_t piece);

/// A number of the tape, or of the stream where the tape has none.
double carom_numbers_play(carom_numbers *numbers, carom_tape_decision decision, int contact);

/// A number of the tape, or another one where the tape has none.
double carom_numbers_prefer(carom_numbers *numbers, carom_tape_decision decision, int contact, double other);

/// The next number in (0, 1) for a decision about a contact; 0 where it is about none.
static inline double carom_numbers_take(carom_numbers *numbers, carom_tape_decision decision, int contact) {
    if (numbers->taped) return carom_numbers_play(numbers, decision, contact);
    // What carom_stream_uniform does, without a call while the block lasts.
    carom_stream *stream = &numbers->stream;
    enum { WORDS = sizeof stream->buffer / sizeof *stream->buffer };
    return stream->used < WORDS ? u01fixedpt_open_open_64_double(stream->buffer[stream->used++]) : carom_stream_uniform(stream);
}

#endif
