// SPDX-License-Identifier: Apache-2.0
/// @file
/// Small dense linear algebra in a fixed order of operations, so that results are the same bits on every machine; shared by
/// carom's own libraries, not installed. Row-major throughout.
///
/// Beyond CAROM_FIXED_ORDER_SIZE the cubic operations go to BLAS and LAPACK, whose bits are promised for one machine only.
#ifndef CAROM_DENSE_H
#define CAROM_DENSE_H

#include <math.h>

#include "carom/base.h"

CAROM_API_BEGIN

enum { CAROM_FIXED_ORDER_SIZE = 128 };

// For loops whose bounds are constants in the calls that matter most.
#define CAROM_INLINE inline __attribute__((always_inline))

/// Sum of a_i b_i in index order, never split: every machine and every form of an algorithm that sums in this order gets the same bits.
static inline double carom_dot(int n, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}
/// a.b - value, with a.b summed in twice the digits of a double (Ogita, Rump & Oishi 2005): what `value` has rounded off.
double carom_dot_rest(int n, const double *a, const double *b, double value);
/// Largest |a_i|; 0 for n = 0.
static inline double carom_max_abs(size_t n, const double *a) {
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        if (fabs(a[i]) > largest) largest = fabs(a[i]);
    return largest;
}
/// Index of the first entry that exceeds the least one by at most `tolerance`: numbers that only round-off tells apart are taken in their
/// order. Entries of +infinity take no part; -1 where no other is left.
int carom_first_least(int n, const double *a, double tolerance);
/// The power of two p with 1 <= size p < 2, by which numbers are scaled without rounding; 1 for zero and for what is not finite.
double carom_scale_to_one(double size);
/// 1, 2 or 5 times a power of ten: the largest that is not more than `most` > 0.
double carom_round_down(double most);
bool carom_all_finite(size_t n, const double *a);
/// Sorts numbers, ascending.
void carom_sort(int count, double *values);
/// Value at a share of sorted numbers, linear between them; NaN for none.
double carom_quantile(int count, const double *sorted, double share);
/// y = A x with A [rows x columns].
void carom_multiply(int rows, int columns, const double *A, const double *x, double *y);
/// G = X X' with X [rows x columns]; exactly symmetric. Overflow is the caller's to check.
void carom_gram(int rows, int columns, const double *X, double *G);

/// Factors the symmetric A [n x n] in place into L L' (lower triangle; the upper one is zeroed).
/// @return 0, or the 1-based order of the leading minor that is not positive definite
int carom_cholesky_factor(int n, double *A);
/// The same without BLAS, whatever n, and the upper triangle stays: column by column, L_jj^2 = A_jj - sum_k L_jk^2, and
/// L_ij L_jj = A_ij - sum_k L_ik L_jk below it.
static inline int carom_cholesky_factor_in_order(int n, double *A) {
    for (int j = 0; j < n; j++) {
        double *row_j = A + (size_t)j * (size_t)n;
        const double pivot = row_j[j] - carom_dot(j, row_j, row_j);
        // Written so that NaN fails, too.
        if (!(pivot > 0)) return j + 1;
        row_j[j] = sqrt(pivot);
        for (int i = j + 1; i < n; i++) {
            double *row_i = A + (size_t)i * (size_t)n;
            row_i[j] = (row_i[j] - carom_dot(j, row_i, row_j)) / row_j[j];
        }
    }
    return 0;
}
/// x = L^-1 b in place, from the first row to the last: x_i = (b_i - sum_j L_ij x_j) / L_ii.
static inline void carom_cholesky_forward(int n, const double *L, double *x) {
    for (int i = 0; i < n; i++) {
        const double *row = L + (size_t)i * (size_t)n;
        x[i] = (x[i] - carom_dot(i, row, x)) / row[i];
    }
}
/// x = L^-T b in place, from the last row to the first. A row of L is a column of L': each x_i is taken out of the rows above it.
static inline void carom_cholesky_backward(int n, const double *L, double *x) {
    for (int i = n - 1; i >= 0; i--) {
        const double *row = L + (size_t)i * (size_t)n;
        x[i] /= row[i];
        for (int j = 0; j < i; j++) x[j] -= row[j] * x[i];
    }
}

/// Factors A [n x n] in place with partial pivoting; `rows` [n] receives the exchanges.
/// @return false when a pivot is exactly zero or not finite
bool carom_lu_factor(int n, double *A, int *rows);
/// x = A^-1 b in place, from the factors.
void carom_lu_solve(int n, const double *LU, const int *rows, double *x);
/// x = A^-1 b in place for one b: A is overwritten, by LAPACK beyond n = CAROM_FIXED_ORDER_SIZE.
/// @return false when A is singular
bool carom_solve_square(int n, double *A, int *rows, double *x);
/// The same for a band of `width` diagonals on each side of the main one, by LAPACK: column j of A begins at band + j CAROM_BAND_HEIGHT,
/// with A_ij in its row 2 width + i - j; the first `width` rows are scratch.
bool carom_solve_banded(int n, int width, double *band, int *rows, double *x);
#define CAROM_BAND_HEIGHT(width) (3 * (width) + 1)

/// A linear system whose entries are known up to errors.
typedef struct carom_uncertain_system {
    int n;
    const double *A, *b;              ///< [n x n], [n]
    const double *A_error, *b_error;  ///< the same, >= 0
    double *work;                     ///< [2 n n + 4 n]
    int *exchanges;                   ///< [n] workspace
} carom_uncertain_system;

/// Bounds the solution: |true x - x| <= radius in every component, for every system within the errors (Rump's verification by an
/// approximate inverse R and the norm of I - R A, rows and columns scaled).
/// @return false when the systems are not proved to be regular; x is then the solution in doubles, or zero
bool carom_enclose_solution(const carom_uncertain_system *system, double *x, double *radius);

/// All solutions of A x = b, A [n x n] of any rank, by elimination with complete pivoting. A and b are overwritten; b becomes a solution.
/// @param tolerance     pivots below this share of the largest entry of A, and right-hand sides below this share of b's, count as zero
/// @param null_vectors  [n x n]; the first n - rank rows receive a basis of the null space; its entries for free unknowns are 0 and 1
/// @param exchanges     [n] workspace
/// @return the rank, or -1 when there is no solution
int carom_solve_general(int n, double *A, double *b, double tolerance, double *null_vectors, int *exchanges);
/// The solution of least norm, with the same arguments.
int carom_solve_least_norm(int n, double *A, double *b, double tolerance, double *null_vectors, int *exchanges);

/// Eigenvalues of the symmetric A [n x n], ascending; A is overwritten by the eigenvectors as rows.
/// Cyclic Jacobi up to the fixed-order size: accurate to round-off of the largest one.
carom_status carom_symmetric_eigen(int n, double *A, double *values, carom_error *error);

CAROM_API_END

#endif
