// SPDX-License-Identifier: Apache-2.0
// Dense algebra: products rebuild the matrices, our own loops agree with BLAS and LAPACK, singular matrices are refused.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "support.h"

enum { LARGE = 150 };  // beyond CAROM_FIXED_ORDER_SIZE, where LAPACK takes over

static double *make_matrix(int rows, int columns) {
    double *A = calloc((size_t)rows * (size_t)columns, sizeof *A);
    assert_non_null(A);
    return A;
}

static double *copy_matrix(int n, const double *A) {
    double *copy = make_matrix(n, n);
    memcpy(copy, A, (size_t)n * (size_t)n * sizeof *A);
    return copy;
}

static double *draw_matrix(carom_stream *stream, int rows, int columns) {
    double *A = make_matrix(rows, columns);
    for (int i = 0; i < rows * columns; i++) A[i] = carom_stream_normal(stream);
    return A;
}

// C = A B' in the plainest way.
static double *multiply_transposed(int rows, int inner, int columns, const double *A, const double *B) {
    double *C = make_matrix(rows, columns);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            for (int k = 0; k < inner; k++) C[i * columns + j] += A[i * inner + k] * B[j * inner + k];
    return C;
}

// X X' + shift I of a random X [n x rank].
static double *draw_symmetric(carom_stream *stream, int n, int rank, double shift) {
    double *X = draw_matrix(stream, n, rank), *A = multiply_transposed(n, rank, n, X, X);
    for (int i = 0; i < n; i++) A[i * n + i] += shift;
    free(X);
    return A;
}

static double *leading_block(int n, const double *A, int size) {
    double *block = make_matrix(size, size);
    for (int i = 0; i < size; i++) memcpy(block + i * size, A + i * n, (size_t)size * sizeof *A);
    return block;
}

static const int sizes_to_try[] = {1, 2, 3, 7, 40, CAROM_FIXED_ORDER_SIZE, CAROM_FIXED_ORDER_SIZE + 1, LARGE};
enum { SIZES_TO_TRY = sizeof sizes_to_try / sizeof *sizes_to_try };

static void test_elementary_operations(void **state) {
    (void)state;
    const double a[] = {1, -2, 3}, b[] = {4, 5, -6}, x[] = {2, 1};
    const double A[] = {1, 2, 3, 4, 5, 6};
    double y[3];
    assert_true(carom_dot(3, a, b) == -24);
    assert_true(carom_dot(0, a, b) == 0);
    assert_true(carom_max_abs(3, b) == 6);
    assert_true(carom_max_abs(0, b) == 0);
    carom_multiply(3, 2, A, x, y);
    assert_true(y[0] == 4 && y[1] == 10 && y[2] == 16);
    static const double most[][2] = {{1, 1}, {1.9, 1}, {2.1, 2}, {499, 200}, {0.6, 0.5}, {9e7, 5e7}};
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) assert_close(carom_round_down(most[i][0]), most[i][1], 1e-15 * most[i][1]);
    assert_true(carom_all_finite(3, a));
    assert_true(carom_all_finite(0, NULL));
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) assert_false(carom_all_finite(3, (double[]){1, bad[i], 2}));
}

// The first of what is least up to the tolerance; infinite entries take no part.
static void test_least_entries_in_order(void **state) {
    (void)state;
    const double a[] = {INFINITY, 1 + 1e-14, 2, 1, 1 - 1e-14};
    assert_int_equal(carom_first_least(5, a, 1e-12), 1);
    assert_int_equal(carom_first_least(5, a, 0), 4);
    assert_int_equal(carom_first_least(3, a + 2, 0.999), 1);
    assert_int_equal(carom_first_least(3, a + 2, 1.001), 0);
    assert_int_equal(carom_first_least(1, a, 1), -1);
    assert_int_equal(carom_first_least(0, a, 1), -1);
}

static void test_gram_is_exactly_symmetric(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 20, 0);
    const int shapes[][2] = {{1, 1}, {5, 3}, {3, 5}, {128, 20}, {20, 128}, {LARGE, 9}, {9, LARGE}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int n = shapes[s][0], width = shapes[s][1];
        double *X = draw_matrix(&stream, n, width), *G = draw_matrix(&stream, n, n), *expected = multiply_transposed(n, width, n, X, X);
        carom_gram(n, width, X, G);
        assert_all_close(G, expected, n * n, 1e-13);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) assert_memory_equal(&G[i * n + j], &G[j * n + i], sizeof *G);
        free(X);
        free(G);
        free(expected);
    }
}

static void test_cholesky_reproduces_the_matrix(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 21, 0);
    for (int s = 0; s < SIZES_TO_TRY; s++) {
        const int n = sizes_to_try[s];
        double *A = draw_symmetric(&stream, n, n, 1), *L = copy_matrix(n, A);
        // Only the lower triangle is read, and the upper one is zero afterwards.
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) L[i * n + j] = NAN;
        assert_int_equal(carom_cholesky_factor(n, L), 0);
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) assert_true(L[i * n + j] == 0);
        double *product = multiply_transposed(n, n, n, L, L);
        assert_all_close(product, A, n * n, 1e-13);
        // Forward, then backward: x = A^-1 b.
        double *b = draw_matrix(&stream, n, 1), *x = make_matrix(n, 1), *Ax = make_matrix(n, 1);
        memcpy(x, b, (size_t)n * sizeof *b);
        carom_cholesky_forward(n, L, x);
        carom_cholesky_backward(n, L, x);
        carom_multiply(n, n, A, x, Ax);
        assert_all_close(Ax, b, n, 1e-10);
        free(A);
        free(L);
        free(product);
        free(b);
        free(x);
        free(Ax);
    }
}

// The factor of a leading block is the leading block of the factor: so both ways of computing meet on the same numbers.
static void test_cholesky_agrees_with_lapack(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 22, 0);
    double *A = draw_symmetric(&stream, LARGE, LARGE, 1), *L = leading_block(LARGE, A, CAROM_FIXED_ORDER_SIZE);
    assert_int_equal(carom_cholesky_factor(LARGE, A), 0);
    assert_int_equal(carom_cholesky_factor(CAROM_FIXED_ORDER_SIZE, L), 0);
    double *block = leading_block(LARGE, A, CAROM_FIXED_ORDER_SIZE);
    assert_all_close(L, block, CAROM_FIXED_ORDER_SIZE * CAROM_FIXED_ORDER_SIZE, 1e-10);
    free(A);
    free(L);
    free(block);
}

static void test_gram_agrees_with_blas(void **state) {
    (void)state;
    enum { WIDTH = 100, SMALL = 90 };
    carom_stream stream;
    carom_stream_start(&stream, 23, 0);
    double *X = draw_matrix(&stream, LARGE, WIDTH), *G = make_matrix(LARGE, LARGE), *small = make_matrix(SMALL, SMALL);
    carom_gram(LARGE, WIDTH, X, G);
    carom_gram(SMALL, WIDTH, X, small);
    double *block = leading_block(LARGE, G, SMALL);
    assert_all_close(small, block, SMALL * SMALL, 1e-10);
    free(X);
    free(G);
    free(small);
    free(block);
}

static int factor_identity_with(int n, int at, double value) {
    double *A = make_matrix(n, n);
    for (int i = 0; i < n; i++) A[i * n + i] = 1;
    A[at * n + at] = value;
    const int minor = carom_cholesky_factor(n, A);
    free(A);
    return minor;
}

static void test_cholesky_names_the_minor_that_fails(void **state) {
    (void)state;
    const double bad[] = {0, -1, -INFINITY};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(factor_identity_with(1, 0, bad[i]), 1);
        assert_int_equal(factor_identity_with(5, 3, bad[i]), 4);
        assert_int_equal(factor_identity_with(LARGE, 139, bad[i]), 140);
    }
    assert_int_equal(carom_cholesky_factor(2, (double[]){1, 1, 1, 1}), 2);
    assert_int_equal(carom_cholesky_factor(2, (double[]){1, 2, 2, 1}), 2);
    // What is not a number is not positive definite; LAPACK refuses before it knows where.
    assert_int_equal(factor_identity_with(5, 3, NAN), 4);
    assert_true(factor_identity_with(LARGE, 139, NAN) > 0);
}

static void test_lu_solves(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 24, 0);
    for (int s = 0; s < SIZES_TO_TRY; s++) {
        const int n = sizes_to_try[s];
        double *A = draw_matrix(&stream, n, n), *LU = copy_matrix(n, A), *b = draw_matrix(&stream, n, 1), *Ax = make_matrix(n, 1);
        int *exchanges = calloc((size_t)n, sizeof *exchanges);
        assert_non_null(exchanges);
        assert_true(carom_lu_factor(n, LU, exchanges));
        double *x = make_matrix(n, 1);
        memcpy(x, b, (size_t)n * sizeof *b);
        carom_lu_solve(n, LU, exchanges, x);
        carom_multiply(n, n, A, x, Ax);
        assert_all_close(Ax, b, n, 1e-11);
        // With partial pivoting no multiplier exceeds one.
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) assert_true(fabs(LU[i * n + j]) <= 1);
        free(A);
        free(LU);
        free(b);
        free(Ax);
        free(exchanges);
        free(x);
    }
}

// A chain of exchanges, exact: row i of the matrix is a power of two times the unit vector of row (i + 2) mod 5.
static void test_lu_exchanges_rows(void **state) {
    (void)state;
    enum { N = 5 };
    double A[N * N] = {0}, x[N];
    int exchanges[N];
    for (int i = 0; i < N; i++) {
        A[i * N + (i + 2) % N] = ldexp(1, i);
        x[i] = ldexp((i + 2) % N + 1, i);
    }
    assert_true(carom_lu_factor(N, A, exchanges));
    carom_lu_solve(N, A, exchanges, x);
    for (int i = 0; i < N; i++) assert_true(x[i] == i + 1);
    // A tiny pivot is exchanged for the large one below it.
    double B[] = {1e-20, 1, 1, 1}, y[] = {1, 2};
    assert_true(carom_lu_factor(2, B, exchanges));
    carom_lu_solve(2, B, exchanges, y);
    assert_all_close(y, ((double[]){1, 1}), 2, 1e-15);
}

// A band of one diagonal below and three above, within a width of three: the pivots of half of the columns stand below the diagonal.
static void test_bands_are_solved(void **state) {
    (void)state;
    enum { N = 150, BELOW = 1, BAND = 3 };
    static double band[N * CAROM_BAND_HEIGHT(BAND)], x[N], known[N];
    static int rows[N];
    carom_stream stream;
    carom_stream_start(&stream, 5, 0);
    for (int j = 0; j < N; j++) known[j] = carom_stream_uniform(&stream) - 0.5;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            if (i - j > BELOW || j - i > BAND) continue;
            const double entry = (i == j && j % 2 ? 1e-3 : 1) * (0.5 + carom_stream_uniform(&stream));
            band[j * CAROM_BAND_HEIGHT(BAND) + 2 * BAND + i - j] = entry;
            x[i] += entry * known[j];
        }
    assert_true(carom_solve_banded(N, BAND, band, rows, x));
    for (int j = 0; j < N; j++) assert_close(x[j], known[j], 1e-9);
    memset(band, 0, sizeof band);
    assert_false(carom_solve_banded(N, BAND, band, rows, x));
}

static void test_lu_refuses_singular_matrices(void **state) {
    (void)state;
    int exchanges[3];
    assert_false(carom_lu_factor(1, (double[]){0}, exchanges));
    assert_false(carom_lu_factor(2, (double[]){1, 2, 2, 4}, exchanges));
    assert_false(carom_lu_factor(3, (double[]){1, 2, 0, 3, 4, 0, 5, 6, 0}, exchanges));
    assert_false(carom_lu_factor(3, (double[]){1, 0, 0, 0, 0, 0, 0, 0, 1}, exchanges));
    assert_false(carom_lu_factor(1, (double[]){NAN}, exchanges));
    assert_false(carom_lu_factor(2, (double[]){INFINITY, 1, 1, 1}, exchanges));
    assert_false(carom_lu_factor(2, (double[]){1, 1, 1, NAN}, exchanges));
    assert_false(carom_lu_factor(2, (double[]){1, 1, NAN, 1}, exchanges));
}

// A = V' diag(values) V with V V' = I and ascending values. `scale` is that of A.
static void assert_eigen(int n, const double *A) {
    double *V = copy_matrix(n, A), *values = make_matrix(n, 1), *rebuilt = make_matrix(n, n);
    carom_error error;
    assert_ok(carom_symmetric_eigen(n, V, values, &error), error);
    for (int i = 1; i < n; i++) assert_true(values[i - 1] <= values[i]);
    double *identity = multiply_transposed(n, n, n, V, V);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) assert_close(identity[i * n + j], i == j, 1e-12);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) rebuilt[i * n + j] += values[k] * V[k * n + i] * V[k * n + j];
    const double scale = carom_max_abs((size_t)n * (size_t)n, A);
    for (int i = 0; i < n * n; i++) assert_true(fabs(rebuilt[i] - A[i]) <= 1e-13 * n * scale);
    free(V);
    free(values);
    free(rebuilt);
    free(identity);
}

static void test_eigenvectors_rebuild_the_matrix(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 25, 0);
    for (int s = 0; s < SIZES_TO_TRY; s++) {
        const int n = sizes_to_try[s];
        double *definite = draw_symmetric(&stream, n, n, 0.1), *deficient = draw_symmetric(&stream, n, n / 3 + 1, 0);
        double *shifted = draw_symmetric(&stream, n, n / 2 + 1, -n);
        assert_eigen(n, definite);
        assert_eigen(n, deficient);
        assert_eigen(n, shifted);
        for (int scale = -600; scale <= 600; scale += 1200) {
            double *scaled = copy_matrix(n, definite);
            for (int i = 0; i < n * n; i++) scaled[i] = ldexp(scaled[i], scale);
            assert_eigen(n, scaled);
            free(scaled);
        }
        free(definite);
        free(deficient);
        free(shifted);
    }
}

static void test_eigenvalues_of_plain_matrices(void **state) {
    (void)state;
    carom_error error;
    double values[4];
    double diagonal[] = {3, 0, 0, 0, 0, -1, 0, 0, 0, 0, 2, 0, 0, 0, 0, -1};
    assert_ok(carom_symmetric_eigen(4, diagonal, values, &error), error);
    assert_true(values[0] == -1 && values[1] == -1 && values[2] == 2 && values[3] == 3);
    double zero[4] = {0};
    assert_ok(carom_symmetric_eigen(2, zero, values, &error), error);
    assert_true(values[0] == 0 && values[1] == 0);
    double exchange[] = {0, 1, 1, 0};
    assert_ok(carom_symmetric_eigen(2, exchange, values, &error), error);
    assert_all_close(values, ((double[]){-1, 1}), 2, 1e-15);
    // The second difference on four points: 2 - 2 cos(k pi / 5).
    double chain[] = {2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2};
    assert_ok(carom_symmetric_eigen(4, chain, values, &error), error);
    for (int k = 0; k < 4; k++) assert_close(values[k], 2 - 2 * cos((k + 1) * acos(-1) / 5), 1e-15);
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The eigenvalues of a block-diagonal matrix are those of its blocks: LAPACK computes the whole, our Jacobi method the blocks.
static void test_eigenvalues_agree_with_lapack(void **state) {
    (void)state;
    enum { FIRST = 100, SECOND = LARGE - FIRST };
    carom_stream stream;
    carom_stream_start(&stream, 26, 0);
    double *first = draw_symmetric(&stream, FIRST, FIRST, 0), *second = draw_symmetric(&stream, SECOND, 5, 0),
           *whole = make_matrix(LARGE, LARGE);
    for (int i = 0; i < FIRST; i++) memcpy(whole + i * LARGE, first + i * FIRST, FIRST * sizeof *whole);
    for (int i = 0; i < SECOND; i++) memcpy(whole + (FIRST + i) * LARGE + FIRST, second + i * SECOND, SECOND * sizeof *whole);
    double of_blocks[LARGE], of_whole[LARGE];
    carom_error error;
    assert_ok(carom_symmetric_eigen(FIRST, first, of_blocks, &error), error);
    assert_ok(carom_symmetric_eigen(SECOND, second, of_blocks + FIRST, &error), error);
    assert_ok(carom_symmetric_eigen(LARGE, whole, of_whole, &error), error);
    qsort(of_blocks, LARGE, sizeof *of_blocks, compare_doubles);
    assert_all_close(of_blocks, of_whole, LARGE, 1e-10);
    free(first);
    free(second);
    free(whole);
}

// Eigenvalues that did not converge are an error, never an answer.
static void test_eigenvalues_refuse_what_is_not_a_number(void **state) {
    (void)state;
    const int sizes[] = {3, LARGE};
    for (int s = 0; s < 2; s++) {
        const int n = sizes[s];
        double *A = make_matrix(n, n), *values = make_matrix(n, 1);
        for (int i = 0; i < n; i++) A[i * n + i] = i + 1;
        A[n + 2] = A[2 * n + 1] = NAN;
        carom_error error;
        assert_refused(carom_symmetric_eigen(n, A, values, &error), CAROM_INTERNAL, error, "eigenvalues");
        free(A);
        free(values);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementary_operations),
        cmocka_unit_test(test_least_entries_in_order),
        cmocka_unit_test(test_gram_is_exactly_symmetric),
        cmocka_unit_test(test_cholesky_reproduces_the_matrix),
        cmocka_unit_test(test_cholesky_agrees_with_lapack),
        cmocka_unit_test(test_gram_agrees_with_blas),
        cmocka_unit_test(test_cholesky_names_the_minor_that_fails),
        cmocka_unit_test(test_lu_solves),
        cmocka_unit_test(test_lu_exchanges_rows),
        cmocka_unit_test(test_lu_refuses_singular_matrices),
        cmocka_unit_test(test_bands_are_solved),
        cmocka_unit_test(test_eigenvectors_rebuild_the_matrix),
        cmocka_unit_test(test_eigenvalues_of_plain_matrices),
        cmocka_unit_test(test_eigenvalues_agree_with_lapack),
        cmocka_unit_test(test_eigenvalues_refuse_what_is_not_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
