// SPDX-License-Identifier: Apache-2.0
/// @file
/// Eight numbers in one instruction or in several, for the instruction set that the file is compiled for. Every operation is lane by lane
/// and nothing is contracted: all versions give the same bits. Not installed.
#ifndef CAROM_LANES_H
#define CAROM_LANES_H

#include <stddef.h>
#include <stdint.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

// For loops whose bounds are constants in the calls that matter most.
#define INLINE inline __attribute__((always_inline))

enum { LANES = 8, ALL_LANES = (1 << LANES) - 1, PICKED = 2 * LANES };
// Numbers in single precision, in as many bytes.
enum { SINGLES = 2 * LANES };

#if defined(__AVX512F__)

typedef __m512d lanes;

// One number in every lane; aligned columns in and out; element-wise arithmetic.
static inline lanes spread(double a) { return _mm512_set1_pd(a); }
static inline lanes load(const double *from) { return _mm512_load_pd(from); }
static inline void store(double *to, lanes a) { _mm512_store_pd(to, a); }
static inline lanes add(lanes a, lanes b) { return _mm512_add_pd(a, b); }
static inline lanes subtract(lanes a, lanes b) { return _mm512_sub_pd(a, b); }
static inline lanes multiply(lanes a, lanes b) { return _mm512_mul_pd(a, b); }
static inline lanes divide(lanes a, lanes b) { return _mm512_div_pd(a, b); }
// a where a > b, otherwise b.
static inline lanes larger(lanes a, lanes b) { return _mm512_max_pd(a, b); }
static inline lanes lesser(lanes a, lanes b) { return _mm512_min_pd(a, b); }
static inline lanes magnitude(lanes a) { return _mm512_abs_pd(a); }
// Bit l: a_l >= b_l; false for NaN.
static inline unsigned at_least(lanes a, lanes b) { return _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ); }
// a where the bit is set, otherwise b.
static inline lanes choose(unsigned bits, lanes a, lanes b) { return _mm512_mask_blend_pd((__mmask8)bits, b, a); }

// The lanes whose bits are set, one after the other; LANES numbers are written.
static inline void pack(double *to, lanes a, unsigned bits) { _mm512_storeu_pd(to, _mm512_maskz_compress_pd((__mmask8)bits, a)); }

// In single precision, for tests that leave a margin for round-off: the bits of a sum may depend on the instruction set.
typedef __m512 singles;
static inline singles load_singles(const float *from) { return _mm512_load_ps(from); }
// sum + a b
static inline singles add_product(singles sum, singles a, float b) { return _mm512_fmadd_ps(a, _mm512_set1_ps(b), sum); }
static inline singles least_of(singles a, singles b) { return _mm512_min_ps(a, b); }
// Bit l: a_l >= 0.
static inline unsigned none_negative(singles a) { return _mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_GE_OQ); }

// table[code_l] for codes that are whole numbers.
static inline void look_up(const int32_t *table, lanes code, int32_t *to) {
    _mm256_store_si256((__m256i *)to, _mm256_i32gather_epi32(table, _mm512_cvttpd_epi32(code), sizeof *table));
}
// Bit l: index_l >= 0.
static inline unsigned not_negative(const int32_t *index) {
    return _mm512_cmpge_epi64_mask(_mm512_cvtepi32_epi64(_mm256_load_si256((const __m256i *)index)), _mm512_setzero_si512());
}
// table[index_l] of a table of PICKED numbers; any of them for an index outside.
static inline lanes pick(const double *table, const int32_t *index) {
    const __m512i place = _mm512_cvtepi32_epi64(_mm256_load_si256((const __m256i *)index));
    return _mm512_permutex2var_pd(_mm512_load_pd(table), place, _mm512_load_pd(table + LANES));
}

#elif !defined(SCALAR_LANES)

// Vectors of the compiler, as wide as the registers of AVX2, or of NEON and SSE2. With intrinsics for AVX2, sampling takes 1 % less time.
#if defined(__AVX2__)
enum { WIDTH = 4, PARTS = LANES / WIDTH };
#else
enum { WIDTH = 2, PARTS = LANES / WIDTH };
#endif
typedef double vector __attribute__((vector_size(WIDTH * sizeof(double)), may_alias));
// Ones or zeros in every lane, as comparisons give them.
typedef int64_t mask __attribute__((vector_size(WIDTH * sizeof(int64_t))));
typedef struct lanes {
    vector part[PARTS];
} lanes;

// The single bits of a part, the lowest first.
static inline mask places(int part) {
    mask bits;
    for (int l = 0; l < WIDTH; l++) bits[l] = (int64_t)1 << (part * WIDTH + l);
    return bits;
}

// a where m has ones, otherwise b.
static inline vector where(mask m, vector a, vector b) { return (vector)((((mask)a ^ (mask)b) & m) ^ (mask)b); }
static inline vector larger_part(vector a, vector b) { return where(a > b, a, b); }
static inline vector lesser_part(vector a, vector b) { return where(a < b, a, b); }
// Bit l: lane l has ones.
static inline unsigned bits_of(const mask m[PARTS]) {
    mask bits = {0};
    for (int p = 0; p < PARTS; p++) bits |= m[p] & places(p);
    int64_t all = 0;
    for (int l = 0; l < WIDTH; l++) all |= bits[l];
    return (unsigned)all;
}

#define PART_BY_PART(expression)                                                                                                           \
    lanes result;                                                                                                                          \
    for (int p = 0; p < PARTS; p++) result.part[p] = (expression);                                                                         \
    return result

// a - 0, which keeps the sign of a zero.
static inline lanes spread(double a) { PART_BY_PART(a - (vector){0}); }
static inline lanes load(const double *from) { PART_BY_PART(((const vector *)from)[p]); }
static inline void store(double *to, lanes a) {
    for (int p = 0; p < PARTS; p++) ((vector *)to)[p] = a.part[p];
}
static inline lanes add(lanes a, lanes b) { PART_BY_PART(a.part[p] + b.part[p]); }
static inline lanes subtract(lanes a, lanes b) { PART_BY_PART(a.part[p] - b.part[p]); }
static inline lanes multiply(lanes a, lanes b) { PART_BY_PART(a.part[p] * b.part[p]); }
static inline lanes divide(lanes a, lanes b) { PART_BY_PART(a.part[p] / b.part[p]); }
static inline lanes larger(lanes a, lanes b) { PART_BY_PART(larger_part(a.part[p], b.part[p])); }
static inline lanes lesser(lanes a, lanes b) { PART_BY_PART(lesser_part(a.part[p], b.part[p])); }
static inline lanes magnitude(lanes a) { PART_BY_PART((vector)((mask)a.part[p] & INT64_MAX)); }
static inline unsigned at_least(lanes a, lanes b) {
    mask holds[PARTS];
    for (int p = 0; p < PARTS; p++) holds[p] = a.part[p] >= b.part[p];
    return bits_of(holds);
}
static inline lanes choose(unsigned bits, lanes a, lanes b) {
    PART_BY_PART(where((((mask){0} + (int64_t)bits) & places(p)) == places(p), a.part[p], b.part[p]));
}

typedef float single_vector __attribute__((vector_size(WIDTH * sizeof(double)), may_alias));
typedef int32_t single_mask __attribute__((vector_size(WIDTH * sizeof(double))));
typedef struct singles {
    single_vector part[PARTS];
} singles;
static inline singles load_singles(const float *from) {
    singles result;
    for (int p = 0; p < PARTS; p++) result.part[p] = ((const single_vector *)from)[p];
    return result;
}
static inline singles add_product(singles sum, singles a, float b) {
    for (int p = 0; p < PARTS; p++) sum.part[p] += a.part[p] * (b - (single_vector){0});
    return sum;
}
static inline singles least_of(singles a, singles b) {
    for (int p = 0; p < PARTS; p++) {
        const single_mask less = a.part[p] < b.part[p];
        a.part[p] = (single_vector)((((single_mask)a.part[p] ^ (single_mask)b.part[p]) & less) ^ (single_mask)b.part[p]);
    }
    return a;
}
static inline unsigned none_negative(singles a) {
    single_mask bits = {0};
    for (int p = 0; p < PARTS; p++) {
        single_mask places;
        for (int l = 0; l < 2 * WIDTH; l++) places[l] = 1 << (p * 2 * WIDTH + l);
        bits |= (a.part[p] >= 0) & places;
    }
    int32_t all = 0;
    for (int l = 0; l < 2 * WIDTH; l++) all |= bits[l];
    return (unsigned)all;
}

#else

// One number after the other, for tests: what the others must agree with.
typedef struct lanes {
    double at[LANES];
} lanes;

#define LANE_BY_LANE(expression)                                                                                                           \
    lanes result;                                                                                                                          \
    for (int l = 0; l < LANES; l++) result.at[l] = (expression);                                                                           \
    return result

static inline lanes spread(double a) { LANE_BY_LANE(a); }
static inline lanes load(const double *from) { LANE_BY_LANE(from[l]); }
static inline void store(double *to, lanes a) {
    for (int l = 0; l < LANES; l++) to[l] = a.at[l];
}
static inline lanes add(lanes a, lanes b) { LANE_BY_LANE(a.at[l] + b.at[l]); }
static inline lanes subtract(lanes a, lanes b) { LANE_BY_LANE(a.at[l] - b.at[l]); }
static inline lanes multiply(lanes a, lanes b) { LANE_BY_LANE(a.at[l] * b.at[l]); }
static inline lanes divide(lanes a, lanes b) { LANE_BY_LANE(a.at[l] / b.at[l]); }
static inline lanes larger(lanes a, lanes b) { LANE_BY_LANE(a.at[l] > b.at[l] ? a.at[l] : b.at[l]); }
static inline lanes lesser(lanes a, lanes b) { LANE_BY_LANE(a.at[l] < b.at[l] ? a.at[l] : b.at[l]); }
static inline lanes magnitude(lanes a) { LANE_BY_LANE(__builtin_fabs(a.at[l])); }
static inline unsigned at_least(lanes a, lanes b) {
    unsigned bits = 0;
    for (int l = 0; l < LANES; l++) bits |= (unsigned)(a.at[l] >= b.at[l]) << l;
    return bits;
}
static inline lanes choose(unsigned bits, lanes a, lanes b) { LANE_BY_LANE(bits >> l & 1 ? a.at[l] : b.at[l]); }

typedef struct singles {
    float at[SINGLES];
} singles;
static inline singles load_singles(const float *from) {
    singles result;
    for (int l = 0; l < SINGLES; l++) result.at[l] = from[l];
    return result;
}
static inline singles add_product(singles sum, singles a, float b) {
    for (int l = 0; l < SINGLES; l++) sum.at[l] += a.at[l] * b;
    return sum;
}
static inline singles least_of(singles a, singles b) {
    for (int l = 0; l < SINGLES; l++) a.at[l] = a.at[l] < b.at[l] ? a.at[l] : b.at[l];
    return a;
}
static inline unsigned none_negative(singles a) {
    unsigned bits = 0;
    for (int l = 0; l < SINGLES; l++) bits |= (unsigned)(a.at[l] >= 0) << l;
    return bits;
}

#endif

#if !defined(__AVX512F__)

// Lane by lane where AVX-512 has one instruction: table lookups and packing.
static inline void look_up(const int32_t *table, lanes code, int32_t *to) {
    _Alignas(64) double from[LANES];
    store(from, code);
    for (int l = 0; l < LANES; l++) to[l] = table[(int)from[l]];
}
static inline unsigned not_negative(const int32_t *index) {
    unsigned bits = 0;
    for (int l = 0; l < LANES; l++) bits |= (unsigned)(index[l] >= 0) << l;
    return bits;
}
static inline lanes pick(const double *table, const int32_t *index) {
    _Alignas(64) double picked[LANES];
    for (int l = 0; l < LANES; l++) picked[l] = table[index[l] & (PICKED - 1)];
    return load(picked);
}

static inline void pack(double *to, lanes a, unsigned bits) {
    _Alignas(64) double from[LANES];
    store(from, a);
    for (; bits; bits &= bits - 1) *to++ = from[__builtin_ctz(bits)];
}

#endif

// The largest of *most and the lanes.
static inline void raise_to(double *most, lanes values) {
    _Alignas(64) double at[LANES];
    store(at, values);
    for (int l = 0; l < LANES; l++) *most = at[l] > *most ? at[l] : *most;
}

#endif
