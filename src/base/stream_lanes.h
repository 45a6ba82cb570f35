// SPDX-License-Identifier: Apache-2.0
/// @file
/// Philox 4x64-10 (Salmon et al. 2011) for eight streams at once with AVX-512, which Random123 does not offer. The same bits. Without it
/// long runs of the cone map take 5 to 11 % more time.
#ifndef CAROM_BASE_STREAM_LANES_H
#define CAROM_BASE_STREAM_LANES_H

#include <Random123/philox.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define STREAM_LANES __attribute__((target("avx512f")))

// The 128 bits of x times a factor.
typedef struct wide_lanes {
    __m512i high, low;
} wide_lanes;

// By products of 32-bit halves: x = y 2^32 + x0, factor = g 2^32 + f.
STREAM_LANES static inline wide_lanes multiply_wide(__m512i x, uint64_t factor) {
    const __m512i low_half = _mm512_set1_epi64(0xffffffff);
    const __m512i f = _mm512_set1_epi64((long long)(factor & 0xffffffff)), g = _mm512_set1_epi64((long long)(factor >> 32));
    const __m512i y = _mm512_srli_epi64(x, 32), xf = _mm512_mul_epu32(x, f), xg = _mm512_mul_epu32(x, g);
    const __m512i yf = _mm512_mul_epu32(y, f), yg = _mm512_mul_epu32(y, g);
    const __m512i carried = _mm512_add_epi64(yf, _mm512_srli_epi64(xf, 32));
    const __m512i middle = _mm512_add_epi64(xg, _mm512_and_si512(carried, low_half));
    const __m512i high = _mm512_add_epi64(_mm512_add_epi64(yg, _mm512_srli_epi64(carried, 32)), _mm512_srli_epi64(middle, 32));
    return (wide_lanes){high, _mm512_mask_blend_epi32(0xaaaa, xf, _mm512_slli_epi64(middle, 32))};
}

// Streams side by side: one counter and first key word, and second key words of their own.
typedef struct philox_lanes {
    __m512i a, b, c, d, key;
} philox_lanes;

// Counter {block, use, 0, 0}; key {seed, index}.
STREAM_LANES static inline void philox_start(philox_lanes *p, const uint64_t counter[2], __m512i key) {
    p->a = _mm512_set1_epi64((long long)counter[0]);
    p->b = _mm512_set1_epi64((long long)counter[1]);
    p->c = p->d = _mm512_setzero_si512();
    p->key = key;
}

// One of ten rounds; the keys grow by Weyl constants.
STREAM_LANES static inline void philox_round(philox_lanes *p, uint64_t first_key) {
    enum { EXCLUSIVE_OR_OF_THREE = 0x96 };
    const wide_lanes first = multiply_wide(p->a, PHILOX_M4x64_0), second = multiply_wide(p->c, PHILOX_M4x64_1);
    p->a = _mm512_ternarylogic_epi64(second.high, p->b, _mm512_set1_epi64((long long)first_key), EXCLUSIVE_OR_OF_THREE);
    p->b = second.low;
    p->c = _mm512_ternarylogic_epi64(first.high, p->d, p->key, EXCLUSIVE_OR_OF_THREE);
    p->d = first.low;
    p->key = _mm512_add_epi64(p->key, _mm512_set1_epi64((long long)PHILOX_W64_1));
}

// u01fixedpt_open_open_64_double: (1/2 + the upper 52 bits) / 2^52, exactly, from a number in [1,2) with these bits.
STREAM_LANES static inline void store_uniform(double *to, __mmask8 wanted, __m512i bits) {
    const __m512i number = _mm512_or_si512(_mm512_srli_epi64(bits, 12), _mm512_set1_epi64(0x3ff0000000000000));
    _mm512_mask_storeu_pd(to, wanted, _mm512_sub_pd(_mm512_castsi512_pd(number), _mm512_set1_pd(1 - 0x1p-53)));
}

// The four words of a block are four numbers of each stream.
STREAM_LANES static inline void store_words(double *numbers, size_t stride, __mmask8 wanted, const philox_lanes *p) {
    store_uniform(numbers, wanted, p->a);
    store_uniform(numbers + stride, wanted, p->b);
    store_uniform(numbers + 2 * stride, wanted, p->c);
    store_uniform(numbers + 3 * stride, wanted, p->d);
}

// One block of every stream; two vectors at a time, whose products need not wait for each other.
STREAM_LANES static void uniform_lanes(uint64_t seed, const uint64_t *index, size_t count, const uint64_t counter[2], size_t stride,
                                       double *numbers) {
    for (size_t i = 0; i < count; i += 16) {
        const unsigned wanted = count - i < 16 ? (1U << (count - i)) - 1 : 0xffff;
        const __mmask8 low = (__mmask8)wanted, high = (__mmask8)(wanted >> 8);
        philox_lanes first, second;
        uint64_t key = seed;
        philox_start(&first, counter, _mm512_maskz_loadu_epi64(low, index + i));
        philox_start(&second, counter, _mm512_maskz_loadu_epi64(high, index + i + 8));
        for (int round = 0; round < 10; round++, key += PHILOX_W64_0) {
            philox_round(&first, key);
            philox_round(&second, key);
        }
        store_words(numbers + i, stride, low, &first);
        store_words(numbers + i + 8, stride, high, &second);
    }
}

#endif

#endif
