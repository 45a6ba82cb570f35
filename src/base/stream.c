// SPDX-License-Identifier: Apache-2.0
// Counter-based random streams: Philox4x64-10 of Random123.
#include <math.h>

#include <Random123/philox.h>
#include <Random123/u01fixedpt.h>

#include "base/stream_lanes.h"
#include "carom/base.h"
#include "carom/instruction_sets.h"

enum { WORDS = 4 };
static const double TWO_PI = 6.283185307179586476925286766559;

// The use is the second word of the counter, so that uses never share a block.
void carom_stream_start_use(carom_stream *stream, uint64_t seed, uint64_t index, carom_stream_use use) {
    // The buffer counts as spent: the first number makes the first block.
    *stream = (carom_stream){.key = {seed, index}, .counter = {0, (uint64_t)use}, .used = WORDS};
}

void carom_stream_start(carom_stream *stream, uint64_t seed, uint64_t index) {
    carom_stream_start_use(stream, seed, index, CAROM_STREAM_GENERAL);
}

// The four words of a block: a function of key and counter alone.
static philox4x64_ctr_t block_of(uint64_t seed, uint64_t index, uint64_t block, uint64_t use) {
    const philox4x64_ctr_t counter = {{block, use, 0, 0}};
    const philox4x64_key_t key = {{seed, index}};
    return philox4x64(counter, key);
}

// Four words a block; a new block when all are spent.
uint64_t carom_stream_bits(carom_stream *stream) {
    if (stream->used == WORDS) {
        const philox4x64_ctr_t words = block_of(stream->key[0], stream->key[1], stream->counter[0]++, stream->counter[1]);
        for (int i = 0; i < WORDS; i++) stream->buffer[i] = words.v[i];
        stream->used = 0;
    }
    return stream->buffer[stream->used++];
}

double carom_stream_uniform(carom_stream *stream) { return u01fixedpt_open_open_64_double(carom_stream_bits(stream)); }

double carom_stream_peek(carom_stream *stream) {
    const double next = carom_stream_uniform(stream);
    stream->used--;
    return next;
}

void carom_stream_uniform_block(uint64_t seed, const uint64_t *index, size_t count, carom_stream_use use, uint64_t block, size_t stride,
                                double *numbers) {
#if defined(__x86_64__)
    if (CAROM_HAS_AVX512) {
        uniform_lanes(seed, index, count, (uint64_t[]){block, (uint64_t)use}, stride, numbers);
        return;
    }
#endif
    for (size_t i = 0; i < count; i++) {
        const philox4x64_ctr_t words = block_of(seed, index[i], block, (uint64_t)use);
        for (size_t k = 0; k < WORDS; k++) numbers[k * stride + i] = u01fixedpt_open_open_64_double(words.v[k]);
    }
}

// Box-Muller: sqrt(-2 ln u1) cos(2 pi u2).
double carom_stream_normal(carom_stream *stream) {
    const double radius = sqrt(-2 * log(carom_stream_uniform(stream)));
    return radius * cos(TWO_PI * carom_stream_uniform(stream));
}
