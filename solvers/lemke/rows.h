// SPDX-License-Identifier: Apache-2.0
/// @file
/// The loops over the rows of a remembered pivot, for AVX2 and for compilers without it. Both versions give the same bits: products and
/// differences are element by element, and the minimum is folded in one order. With AVX2, a sample takes two thirds of the time that the
/// plain loops take, even when the compiler may use AVX2 for them.
#ifndef CAROM_SOLVERS_LEMKE_ROWS_H
#define CAROM_SOLVERS_LEMKE_ROWS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

// Arrays of rows are aligned to a cache line and padded to a multiple of it.
enum { ROW_LANES = 8 };
// Bounds are kept in single precision: the margin covers its round-off, the least bound covers numbers below its range. A row within its
// bound need not tie; the tie-break checks it exactly.
#define BOUND_MARGIN 1.0001
#define LEAST_BOUND  FLT_MIN

#if defined(__AVX2__)

// min of rhs_i * inverse_i over the rows whose inverse is not zero; infinite when there is none.
static double least_ratio(size_t rows, const double *rhs, const double *inverse) {
    const __m256d none = _mm256_set1_pd(INFINITY), zero = _mm256_setzero_pd();
    __m256d low = none, high = none;
    for (size_t i = 0; i < rows; i += ROW_LANES) {
        const __m256d a = _mm256_load_pd(inverse + i), b = _mm256_load_pd(inverse + i + 4);
        const __m256d ra = _mm256_mul_pd(_mm256_load_pd(rhs + i), a), rb = _mm256_mul_pd(_mm256_load_pd(rhs + i + 4), b);
        low = _mm256_min_pd(_mm256_blendv_pd(none, ra, _mm256_cmp_pd(a, zero, _CMP_NEQ_OQ)), low);
        high = _mm256_min_pd(_mm256_blendv_pd(none, rb, _mm256_cmp_pd(b, zero, _CMP_NEQ_OQ)), high);
    }
    const __m256d four = _mm256_min_pd(low, high);
    const __m128d two = _mm_min_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_min_sd(two, _mm_unpackhi_pd(two, two)));
}

// max |column_i| / unit_i.
static double largest_in(size_t rows, const double *column, const double *per_unit) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    __m256d low = _mm256_setzero_pd(), high = low;
    for (size_t i = 0; i < rows; i += ROW_LANES) {
        low = _mm256_max_pd(_mm256_andnot_pd(sign, _mm256_mul_pd(_mm256_load_pd(column + i), _mm256_load_pd(per_unit + i))), low);
        high = _mm256_max_pd(_mm256_andnot_pd(sign, _mm256_mul_pd(_mm256_load_pd(column + i + 4), _mm256_load_pd(per_unit + i + 4))), high);
    }
    const __m256d four = _mm256_max_pd(low, high);
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
}

// Row r gets a value. As part of a vector, because vector loads would wait for a number that was stored alone.
static void put(double *values, int r, double value) {
    double *four = values + (r & ~3);
    const __m256i is_row = _mm256_cmpeq_epi64(_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(r & 3));
    _mm256_store_pd(four, _mm256_blendv_pd(_mm256_load_pd(four), _mm256_set1_pd(value), _mm256_castsi256_pd(is_row)));
}

// next = rhs - theta column.
static void subtract_column(size_t rows, const double *rhs, const double *column, double theta, double *next) {
    const __m256d factor = _mm256_set1_pd(theta);
    for (size_t i = 0; i < rows; i += 4)
        _mm256_store_pd(next + i, _mm256_sub_pd(_mm256_load_pd(rhs + i), _mm256_mul_pd(factor, _mm256_load_pd(column + i))));
}

// weight_i += share |column_i|.
static void add_magnitudes(size_t rows, const double *column, double share, double *weight) {
    const __m256d factor = _mm256_set1_pd(share), sign = _mm256_set1_pd(-0.0);
    for (size_t i = 0; i < rows; i += 4) {
        const __m256d part = _mm256_mul_pd(factor, _mm256_andnot_pd(sign, _mm256_load_pd(column + i)));
        _mm256_store_pd(weight + i, _mm256_add_pd(_mm256_load_pd(weight + i), part));
    }
}

// Bit i: next_i <= scale * bound_i.
static uint64_t rows_within(size_t rows, const double *next, const float *bound, double scale) {
    const __m256d factor = _mm256_set1_pd(scale);
    uint64_t within = 0;
    for (size_t i = 0; i < rows; i += 4) {
        const __m256d limit = _mm256_mul_pd(factor, _mm256_cvtps_pd(_mm_load_ps(bound + i)));
        within |= (uint64_t)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_load_pd(next + i), limit, _CMP_LE_OQ)) << i;
    }
    return within;
}

// 1 / column_i, and weight_i as a bound, where column_i / unit_i > acceptable, a pivot; 0 and minus infinity elsewhere.
static void list_pivots(size_t rows, const double *column, const double *per_unit, const double *weight, double acceptable, double *inverse,
                        float *bound) {
    const __m256d none = _mm256_set1_pd(-INFINITY), least = _mm256_set1_pd(acceptable), one = _mm256_set1_pd(1);
    for (size_t i = 0; i < rows; i += 4) {
        const __m256d entry = _mm256_load_pd(column + i);
        const __m256d open = _mm256_cmp_pd(_mm256_mul_pd(entry, _mm256_load_pd(per_unit + i)), least, _CMP_GT_OQ);
        const __m256d product = _mm256_mul_pd(_mm256_set1_pd(BOUND_MARGIN), _mm256_load_pd(weight + i));
        const __m256d limit = _mm256_add_pd(product, _mm256_set1_pd(LEAST_BOUND));
        _mm256_store_pd(inverse + i, _mm256_and_pd(open, _mm256_div_pd(one, entry)));
        _mm_store_ps(bound + i, _mm256_cvtpd_ps(_mm256_blendv_pd(none, limit, open)));
    }
}

#else

static double lesser(double a, double b) { return a < b ? a : b; }

static double least_ratio(size_t rows, const double *rhs, const double *inverse) {
    double low[ROW_LANES];
    for (int l = 0; l < ROW_LANES; l++) low[l] = INFINITY;
    for (size_t i = 0; i < rows; i += ROW_LANES)
        for (size_t l = 0; l < ROW_LANES; l++) low[l] = lesser(inverse[i + l] != 0 ? rhs[i + l] * inverse[i + l] : INFINITY, low[l]);
    for (int width = ROW_LANES / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++) low[l] = lesser(low[l], low[l + width]);
    return low[0];
}

static double largest_in(size_t rows, const double *column, const double *per_unit) {
    double high[ROW_LANES] = {0};
    for (size_t i = 0; i < rows; i += ROW_LANES)
        for (size_t l = 0; l < ROW_LANES; l++) {
            const double share = fabs(column[i + l] * per_unit[i + l]);
            high[l] = share > high[l] ? share : high[l];
        }
    for (int l = 1; l < ROW_LANES; l++) high[0] = high[l] > high[0] ? high[l] : high[0];
    return high[0];
}

static void put(double *values, int r, double value) { values[r] = value; }

static void subtract_column(size_t rows, const double *rhs, const double *column, double theta, double *next) {
    for (size_t i = 0; i < rows; i++) next[i] = rhs[i] - theta * column[i];
}

static void add_magnitudes(size_t rows, const double *column, double share, double *weight) {
    for (size_t i = 0; i < rows; i++) weight[i] += share * fabs(column[i]);
}

static void list_pivots(size_t rows, const double *column, const double *per_unit, const double *weight, double acceptable, double *inverse,
                        float *bound) {
    for (size_t i = 0; i < rows; i++) {
        const bool open = column[i] * per_unit[i] > acceptable;
        inverse[i] = open ? 1 / column[i] : 0;
        bound[i] = open ? (float)(BOUND_MARGIN * weight[i] + LEAST_BOUND) : -HUGE_VALF;
    }
}

static uint64_t rows_within(size_t rows, const double *next, const float *bound, double scale) {
    uint64_t within = 0;
    for (size_t i = 0; i < rows; i++) within |= (uint64_t)(next[i] <= scale * (double)bound[i]) << i;
    return within;
}

#endif

#endif
