// SPDX-License-Identifier: Apache-2.0
// Dense linear algebra in a fixed order of operations.
#include "carom/dense.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"

double carom_dot_rest(int n, const double *a, const double *b, double value) {
    // Every product and every sum is a number and its round-off; the round-offs are summed apart.
    double sum = -value, rest = 0;
    for (int i = 0; i < n; i++) {
        // Many are zero: off a basis, and before the first sweep of a refinement.
        if (b[i] == 0) continue;
        const double product = a[i] * b[i], next = sum + product, part = next - sum;
        rest += fma(a[i], b[i], -product) + ((sum - (next - part)) + (product - part));
        sum = next;
    }
    return sum + rest;
}

double carom_scale_to_one(double size) {
    int exponent;
    frexp(size, &exponent);
    return size > 0 && isfinite(size) ? ldexp(1, 1 - exponent) : 1;
}

double carom_round_down(double most) {
    const double power = pow(10, floor(log10(most))), share = most / power;
    return power * (share >= 5 ? 5 : share >= 2 ? 2 : 1);
}

int carom_first_least(int n, const double *a, double tolerance) {
    double least = INFINITY;
    for (int i = 0; i < n; i++) least = fmin(least, a[i]);
    for (int i = 0; i < n && isfinite(least); i++)
        if (a[i] <= least + tolerance) return i;
    return -1;
}

bool carom_all_finite(size_t n, const double *a) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(a[i])) return false;
    return true;
}

static int compare(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void carom_sort(int count, double *values) { qsort(values, (size_t)count, sizeof *values, compare); }

double carom_quantile(int count, const double *sorted, double share) {
    if (!count) return (double)NAN;
    const double place = share * (count - 1);
    const int below = (int)place;
    return below + 1 < count ? sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]) : sorted[count - 1];
}

void carom_multiply(int rows, int columns, const double *A, const double *x, double *y) {
    for (int i = 0; i < rows; i++) y[i] = carom_dot(columns, A + (size_t)i * (size_t)columns, x);
}

// Room that BLAS and LAPACK may need beside an n x n matrix and a copy of it: the buffer of OpenBLAS has 128 MiB.
#define BLAS_BUFFER ((size_t)136 << 20)

// OpenBLAS looks for its buffer for ever when there is no memory for it: is there, at this moment?
static bool blas_has_room(int n) { return carom_has_room(BLAS_BUFFER + 2 * (size_t)n * (size_t)n * sizeof(double)); }

void carom_gram(int rows, int columns, const double *X, double *G) {
    const size_t size = (size_t)rows, width = (size_t)columns;
    // Without room for BLAS, our own loops serve, slowly.
    if ((rows > CAROM_FIXED_ORDER_SIZE || columns > CAROM_FIXED_ORDER_SIZE) && blas_has_room(rows))
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, rows, columns, 1, X, columns, 0, G, rows);
    else
        for (size_t i = 0; i < size; i++)
            for (size_t j = 0; j <= i; j++) G[i * size + j] = carom_dot(columns, X + i * width, X + j * width);
    // The upper triangle mirrors the lower one.
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < i; j++) G[j * size + i] = G[i * size + j];
}

int carom_cholesky_factor(int n, double *A) {
    const size_t size = (size_t)n;
    const bool library = n > CAROM_FIXED_ORDER_SIZE && blas_has_room(n);
    const int failed = library ? (int)LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, A, n) : carom_cholesky_factor_in_order(n, A);
    // The factor is used as a whole matrix, too: what stands above the diagonal must not be read.
    for (size_t i = 0; i < size; i++)
        for (size_t j = i + 1; j < size; j++) A[i * size + j] = 0;
    // LAPACKE refuses NaN by a negative number.
    return failed < 0 ? 1 : failed;
}

static void exchange(double *a, double *b) {
    const double kept = *a;
    *a = *b;
    *b = kept;
}

static void exchange_rows(size_t n, double *A, size_t a, size_t b) {
    for (size_t k = 0; k < n; k++) exchange(&A[a * n + k], &A[b * n + k]);
}

bool carom_lu_factor(int n, double *A, int *rows) {
    const size_t size = (size_t)n;
    for (size_t k = 0; k < size; k++) {
        // The largest entry of column k becomes its pivot.
        size_t best = k;
        for (size_t i = k + 1; i < size; i++)
            if (fabs(A[i * size + k]) > fabs(A[best * size + k])) best = i;
        rows[k] = (int)best;
        if (best != k) exchange_rows(size, A, k, best);
        const double pivot = A[k * size + k];
        if (pivot == 0 || !isfinite(pivot)) return false;
        // Below the pivot stand the factors of L; the rest of each row loses its share of row k.
        for (size_t i = k + 1; i < size; i++) {
            const double factor = A[i * size + k] /= pivot;
            if (factor == 0) continue;
            for (size_t j = k + 1; j < size; j++) A[i * size + j] -= factor * A[k * size + j];
        }
    }
    return true;
}

void carom_lu_solve(int n, const double *LU, const int *rows, double *x) {
    const size_t size = (size_t)n;
    // carom_lu_factor exchanges whole rows, the factors included: so all exchanges come first.
    for (int k = 0; k < n; k++) exchange(&x[k], &x[rows[k]]);
    // L has ones on its diagonal; then U from the last row.
    for (int i = 0; i < n; i++) x[i] -= carom_dot(i, LU + (size_t)i * size, x);
    for (int i = n - 1; i >= 0; i--) {
        const double *row = LU + (size_t)i * size;
        x[i] = (x[i] - carom_dot(n - 1 - i, row + i + 1, x + i + 1)) / row[i];
    }
}

bool carom_solve_square(int n, double *A, int *rows, double *x) {
    if (n > CAROM_FIXED_ORDER_SIZE && blas_has_room(n)) return LAPACKE_dgesv(LAPACK_ROW_MAJOR, n, 1, A, n, rows, x, 1) == 0;
    if (!carom_lu_factor(n, A, rows)) return false;
    carom_lu_solve(n, A, rows, x);
    return true;
}

bool carom_solve_banded(int n, int width, double *band, int *rows, double *x) {
    return blas_has_room(n) && LAPACKE_dgbsv_work(LAPACK_COL_MAJOR, n, width, width, 1, band, CAROM_BAND_HEIGHT(width), rows, x, n) == 0;
}

// x of the first `rank` unknowns from the upper triangle, in place; then the column exchanges are undone.
static void substitute_back(size_t n, size_t rank, const double *A, const int *columns, double *x) {
    for (size_t i = rank; i-- > 0;) {
        for (size_t j = i + 1; j < rank; j++) x[i] -= A[i * n + j] * x[j];
        x[i] /= A[i * n + i];
    }
    for (size_t k = rank; k-- > 0;) exchange(&x[k], &x[(size_t)columns[k]]);
}

int carom_solve_general(int n, double *A, double *b, double tolerance, double *null_vectors, int *exchanges) {
    const size_t size = (size_t)n;
    const double negligible = tolerance * carom_max_abs(size * size, A), negligible_b = tolerance * carom_max_abs(size, b);
    size_t rank = 0;
    for (; rank < size; rank++) {
        // The largest entry of the remaining block comes to the diagonal. Elimination ends where all of the block is negligible.
        const size_t k = rank;
        size_t row = k, column = k;
        for (size_t i = k; i < size; i++)
            for (size_t j = k; j < size; j++)
                if (fabs(A[i * size + j]) > fabs(A[row * size + column])) row = i, column = j;
        if (!(fabs(A[row * size + column]) > negligible)) break;
        exchange_rows(size, A, k, row);
        for (size_t i = 0; i < size; i++) exchange(&A[i * size + k], &A[i * size + column]);
        exchange(&b[k], &b[row]);
        exchanges[k] = (int)column;
        for (size_t i = k + 1; i < size; i++) {
            const double factor = A[i * size + k] / A[k * size + k];
            for (size_t j = k; j < size; j++) A[i * size + j] -= factor * A[k * size + j];
            b[i] -= factor * b[k];
        }
    }
    // The equations that are left have zeros on the left.
    for (size_t i = rank; i < size; i++) {
        if (fabs(b[i]) > negligible_b) return -1;
        b[i] = 0;
    }
    substitute_back(size, rank, A, exchanges, b);
    // A null vector for each free unknown, which is 1.
    for (size_t free_column = rank; free_column < size; free_column++) {
        double *vector = null_vectors + (free_column - rank) * size;
        for (size_t i = 0; i < size; i++) vector[i] = i < rank ? -A[i * size + free_column] : i == free_column;
        substitute_back(size, rank, A, exchanges, vector);
    }
    return (int)rank;
}

int carom_solve_least_norm(int n, double *A, double *b, double tolerance, double *null_vectors, int *exchanges) {
    const int rank = carom_solve_general(n, A, b, tolerance, null_vectors, exchanges);
    // Components along the null space, made orthonormal on the way, are removed.
    for (int i = 0; rank >= 0 && i < n - rank; i++) {
        double *own = null_vectors + i * n;
        for (int k = 0; k < i; k++) {
            const double along = carom_dot(n, own, null_vectors + k * n);
            for (int j = 0; j < n; j++) own[j] -= along * null_vectors[k * n + j];
        }
        const double length = sqrt(carom_dot(n, own, own));
        for (int j = 0; j < n; j++) own[j] /= length;
        const double along = carom_dot(n, own, b);
        for (int j = 0; j < n; j++) b[j] -= along * own[j];
    }
    return rank;
}

// One Jacobi rotation that annihilates A[p][q] (Golub & Van Loan, symmetric Schur decomposition), applied to A and to the rows of V.
static void rotate(size_t n, double *A, double *V, size_t p, size_t q) {
    // The smaller root of t^2 + 2 tau t - 1 = 0, the tangent of the angle: the rotation is by at most 45 degrees.
    const double tau = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
    const double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau));
    const double c = 1 / sqrt(1 + t * t), s = t * c;
    // A R, then R'(A R) and R'V.
    for (size_t k = 0; k < n; k++) {
        const double a = A[k * n + p], b = A[k * n + q];
        A[k * n + p] = c * a - s * b;
        A[k * n + q] = s * a + c * b;
    }
    for (size_t k = 0; k < n; k++) {
        const double a = A[p * n + k], b = A[q * n + k];
        A[p * n + k] = c * a - s * b;
        A[q * n + k] = s * a + c * b;
        const double v = V[p * n + k], w = V[q * n + k];
        V[p * n + k] = c * v - s * w;
        V[q * n + k] = s * v + c * w;
    }
    A[p * n + q] = A[q * n + p] = 0;
}

// Cyclic Jacobi: rotates all pairs until the off-diagonal entries are negligible, then sorts.
static carom_status jacobi_eigen(int n, double *A, double *values, carom_error *error) {
    // Quadratic convergence: six to ten sweeps are usual, and this is far beyond.
    enum { MOST_SWEEPS = 60 };
    const size_t size = (size_t)n;
    double *V = calloc(size * size, sizeof *V);
    if (!V) return carom_fail_memory(error, "eigenvalues");
    for (size_t i = 0; i < size; i++) V[i * size + i] = 1;
    // Round-off of the largest entry.
    const double negligible = 1e-17 * carom_max_abs(size * size, A);
    bool rotated = true;
    for (int sweep = 0; sweep < MOST_SWEEPS && rotated; sweep++) {
        rotated = false;
        for (size_t p = 0; p < size; p++)
            for (size_t q = p + 1; q < size; q++) {
                if (fabs(A[p * size + q]) <= negligible) continue;
                rotate(size, A, V, p, q);
                rotated = true;
            }
    }
    // Ascending, by selection.
    for (size_t i = 0; i < size; i++) values[i] = A[i * size + i];
    for (size_t i = 0; i + 1 < size; i++) {
        size_t least = i;
        for (size_t j = i + 1; j < size; j++)
            if (values[j] < values[least]) least = j;
        if (least == i) continue;
        exchange(&values[i], &values[least]);
        exchange_rows(size, V, i, least);
    }
    memcpy(A, V, size * size * sizeof *A);
    free(V);
    return CAROM_OK;
}

carom_status carom_symmetric_eigen(int n, double *A, double *values, carom_error *error) {
    if (!carom_all_finite((size_t)n * (size_t)n, A)) return carom_fail(error, CAROM_INTERNAL, "eigenvalues of a matrix that is not finite");
    if (n <= CAROM_FIXED_ORDER_SIZE) return jacobi_eigen(n, A, values, error);
    if (!blas_has_room(n)) return carom_fail_memory(error, "eigenvalues");
    // Columns of the column-major result are our rows.
    if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', n, A, n, values))
        return carom_fail(error, CAROM_INTERNAL, "the eigenvalues of a symmetric matrix did not converge");
    return CAROM_OK;
}
