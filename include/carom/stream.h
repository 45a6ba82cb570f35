// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counter-based streams of random numbers.
#ifndef CAROM_STREAM_H
#define CAROM_STREAM_H

#include "carom/api.h"

CAROM_API_BEGIN

/// Largest seed that an option takes, 2^53 - 1: a whole number that its text gives exactly.
#define CAROM_MOST_SEED 9007199254740991.0

/// What a stream is for. Uses of one (seed, index) draw from streams of their own, so that a new use does not shift the numbers of another.
typedef enum carom_stream_use {
    CAROM_STREAM_GENERAL,
    CAROM_STREAM_CAPS,       ///< caps of sampled impact steps
    CAROM_STREAM_SELECTION,  ///< which of several solutions a step takes
    CAROM_STREAM_TRAINING,   ///< caps of the steps that cone maps are trained on
    CAROM_STREAM_WALK,       ///< directions and lengths of random solutions
    CAROM_STREAM_MANY,       ///< seeds of many impacts, and which of their outcomes are taken
    CAROM_STREAM_MEASURE,    ///< points of null sets, resampled groups of measured impacts, pairs of members
    CAROM_STREAM_UNCERTAIN,  ///< parameters of uncertain impacts
    CAROM_STREAM_SEARCH,     ///< changes of tapes in the search for worst cases
} carom_stream_use;

/// A stream of pseudo-random numbers: Philox4x64-10 keyed by (seed, index) (Salmon et al. 2011, library Random123).
/// Streams with different keys are independent, so that sample `index` draws the same numbers on every thread count.
typedef struct carom_stream {
    uint64_t key[2];      ///< seed, index
    uint64_t counter[2];  ///< of the next block of four words: block, use
    uint64_t buffer[4];   ///< words of the current block
    int used;             ///< words of the buffer that are spent
} carom_stream;

void carom_stream_start(carom_stream *stream, uint64_t seed, uint64_t index);
void carom_stream_start_use(carom_stream *stream, uint64_t seed, uint64_t index, carom_stream_use use);

/// Next 64 random bits.
uint64_t carom_stream_bits(carom_stream *stream);

/// Next number, uniform in the open interval (0, 1): never exactly 0 or 1.
double carom_stream_uniform(carom_stream *stream);

/// The number that carom_stream_uniform gives next.
double carom_stream_peek(carom_stream *stream);

/// Numbers 4 block to 4 block + 3 of many uniform streams at once: those that carom_stream_uniform draws one after the other.
/// @param index    [count] of the streams (seed, index)
/// @param numbers  [4 x stride] number 4 block + k of stream i at k * stride + i
void carom_stream_uniform_block(uint64_t seed, const uint64_t *index, size_t count, carom_stream_use use, uint64_t block, size_t stride,
                                double *numbers);

/// Next number of a standard normal distribution (Box-Muller, cosine branch: two uniform numbers each).
double carom_stream_normal(carom_stream *stream);

CAROM_API_END

#endif
