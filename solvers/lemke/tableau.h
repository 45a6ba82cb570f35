// SPDX-License-Identifier: Apache-2.0
// Lemke's method on a condensed tableau, written once for several precisions and instruction sets.
//
// The including file defines REAL, a floating-point type, and makes a carom_lemke_kernel of the functions.
//
// The tableau holds the columns of the non-basic variables only: x_B = rhs - T x_N, with T = [-W | -1] and rhs = w at the start, where
// the basic variables are the slacks y = w + W z + z0 and the last column belongs to the artificial variable z0 (covering vector of
// ones). A pivot exchanges one basic and one non-basic variable. Variables: y_i is i, z_i is n + i, z0 is 2n.
#include <stdlib.h>
#include <string.h>

#include "solvers/lemke/kernel.h"

// Rows start at multiples of the widest vector register and are padded with zeros to a multiple of it: no loop has a remainder.
enum { ALIGNMENT = 64, LANES = ALIGNMENT / sizeof(double) };

typedef struct tableau {
    int n;
    size_t stride;    // n + 1 columns and padding
    size_t rows;      // n and padding, of the arrays of rows
    REAL *T;          // [n x stride]
    REAL *rhs;        // [rows] right-hand sides
    REAL *weight;     // [rows] bounds of sum_j |inverse basis_ij| |w_j|, the magnitude behind the round-off of each right-hand side
    REAL *column;     // [rows] the entering column
    REAL *unit;       // [2n+1] of each variable, for the size of pivots
    REAL *row_unit;   // [rows] of each row's variable
    int *basic;       // [n] variable of each row
    int *nonbasic;    // [n+1] variable of each column
    int *place;       // [2n+1] row of a basic variable, ~column of a non-basic one
    int *tied;        // [n] rows that tie in a ratio test
    const double *w;  // [n] the problem's vector
} tableau;

static REAL magnitude(REAL x) { return x < 0 ? -x : x; }

static REAL *row_of(const tableau *t, int i) { return __builtin_assume_aligned(t->T + (size_t)i * t->stride, ALIGNMENT); }

static void start(tableau *t, const double *W, const double *w) {
    const int n = t->n;
    t->w = w;
    for (int i = 0; i < n; i++) {
        REAL *row = row_of(t, i);
        for (int j = 0; j < n; j++) row[j] = -(REAL)W[(size_t)i * (size_t)n + (size_t)j];
        row[n] = -1;
        t->rhs[i] = w[i];
        t->weight[i] = magnitude(w[i]);
        t->row_unit[i] = t->unit[i];
        t->basic[i] = i;
        t->nonbasic[i] = n + i;
        t->place[i] = i;
        t->place[n + i] = ~i;
    }
    t->nonbasic[n] = 2 * n;
    t->place[2 * n] = ~n;
}

static void subtract_row(REAL *restrict row, const REAL *restrict pivot_row, REAL factor, size_t stride) {
    row = __builtin_assume_aligned(row, ALIGNMENT);
    pivot_row = __builtin_assume_aligned(pivot_row, ALIGNMENT);
    for (size_t j = 0; j < stride; j += LANES)
        for (size_t l = 0; l < LANES; l++) row[j + l] -= factor * pivot_row[j + l];
}

// Exchanges the basic variable of row r with the non-basic variable of column c, whose entries stand in t->column.
static void pivot(tableau *t, int r, int c) {
    REAL *pivot_row = row_of(t, r);
    const REAL inverse = 1 / t->column[r], rhs = t->rhs[r] * inverse, weight = t->weight[r] * magnitude(inverse);
    for (size_t j = 0; j < t->stride; j += LANES)
        for (size_t l = 0; l < LANES; l++) pivot_row[j + l] *= inverse;
    for (int i = 0; i < t->n; i++) {
        const REAL factor = t->column[i];
        if (i == r) continue;
        REAL *row = row_of(t, i);
        subtract_row(row, pivot_row, factor, t->stride);
        // After the row: vectors that are loaded wait long for a number stored into them before.
        row[c] = -factor * inverse;
        t->rhs[i] -= factor * rhs;
        t->weight[i] += magnitude(factor) * weight;
    }
    t->rhs[r] = rhs;
    t->weight[r] = weight;
    pivot_row[c] = inverse;
    const int leaving = t->basic[r], entering = t->nonbasic[c];
    t->basic[r] = entering;
    t->row_unit[r] = t->unit[entering];
    t->nonbasic[c] = leaving;
    t->place[entering] = r;
    t->place[leaving] = ~c;
}

static void copy_column(tableau *t, int c) {
    for (int i = 0; i < t->n; i++) t->column[i] = row_of(t, i)[c];
}

// Entry (i, j) of the inverse basis: the tableau's column of slack y_j.
static REAL inverse_entry(const tableau *t, int i, int j) {
    const int place = t->place[j];
    return place < 0 ? row_of(t, i)[~place] : place == i ? 1 : 0;
}

// sum_j |inverse basis_ij| |w_j|: right-hand sides that differ by a small share of it are equal up to round-off. Free of units.
static REAL round_off_scale(const tableau *t, int i) {
    REAL sum = 0;
    for (int j = 0; j < t->n; j++) sum += magnitude(inverse_entry(t, i, j) * t->w[j]);
    return sum;
}

// Is `excess`, by which row i misses the least ratio, round-off? The running upper bound of the scale, and the right-hand side as a lower
// one, spare the sum in most cases.
static bool is_tie(const tableau *t, int i, REAL excess, REAL tie_tolerance) {
    if (excess > tie_tolerance * t->weight[i]) return false;
    return excess <= tie_tolerance * magnitude(t->rhs[i]) || excess <= tie_tolerance * round_off_scale(t, i);
}

// Of the tied rows, the lexicographically smallest row of the inverse basis over its pivot entry. Ratios of one column that differ by less
// than the tolerance times the largest count as equal.
static int lexicographic(const tableau *t, int count, REAL tie_tolerance) {
    for (int j = 0; j < t->n && count > 1; j++) {
        REAL least = 0, largest = 0;
        for (int k = 0; k < count; k++) {
            const REAL ratio = inverse_entry(t, t->tied[k], j) / t->column[t->tied[k]];
            if (k == 0 || ratio < least) least = ratio;
            if (magnitude(ratio) > largest) largest = magnitude(ratio);
        }
        // A slack that is basic elsewhere, or zero in all tied rows, decides nothing.
        if (largest == 0) continue;
        int kept = 0;
        for (int k = 0; k < count; k++) {
            const int row = t->tied[k];
            if (inverse_entry(t, row, j) / t->column[row] - least <= tie_tolerance * largest) t->tied[kept++] = row;
        }
        count = kept;
    }
    return t->tied[0];
}

static bool is_pivot(const tableau *t, int i, REAL acceptable) { return t->column[i] > acceptable * t->row_unit[i]; }

// Largest entry of the entering column. In units: with W of 1e9 1/kg, the ones of the caps are no round-off.
static REAL largest_in_units(const tableau *t) {
    REAL largest = 0;
    for (int i = 0; i < t->n; i++) {
        const REAL size = magnitude(t->column[i]) / t->row_unit[i];
        if (size > largest) largest = size;
    }
    return largest;
}

// Row that leaves when the variable of t->column enters; -1 on a ray. The artificial variable leaves when it ties.
static int ratio_test(tableau *t, REAL pivot_tolerance, REAL tie_tolerance) {
    const int n = t->n;
    const REAL acceptable = pivot_tolerance * largest_in_units(t);
    int best = -1;
    REAL least = 0;
    for (int i = 0; i < n; i++) {
        if (!is_pivot(t, i, acceptable)) continue;
        const REAL ratio = t->rhs[i] / t->column[i];
        if (best >= 0 && ratio >= least) continue;
        best = i;
        least = ratio;
    }
    if (best < 0) return -1;
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (!is_pivot(t, i, acceptable) || !is_tie(t, i, t->rhs[i] - least * t->column[i], tie_tolerance)) continue;
        if (t->basic[i] == 2 * n) return i;
        t->tied[count++] = i;
    }
    // Nothing ties when a ratio is not finite.
    return count ? lexicographic(t, count, tie_tolerance) : -1;
}

// First pivot: z0 enters where w is least; among ties the largest index, which is the lexicographic rule for the unit basis.
static int first_row(const tableau *t, REAL tie_tolerance) {
    REAL least = t->rhs[0];
    for (int i = 1; i < t->n; i++) least = t->rhs[i] < least ? t->rhs[i] : least;
    int r = 0;
    for (int i = 0; i < t->n; i++)
        if (t->rhs[i] - least <= tie_tolerance * -least) r = i;
    return r;
}

static carom_verdict run(void *kernel_tableau, const double *W, const double *w, int64_t limit, double pivot_tolerance,
                         double tie_tolerance, int64_t *pivots) {
    tableau *t = kernel_tableau;
    const int n = t->n;
    start(t, W, w);
    int leaving = first_row(t, (REAL)tie_tolerance), column = n;
    copy_column(t, column);
    while (*pivots < limit) {
        const int left = t->basic[leaving];
        pivot(t, leaving, column);
        ++*pivots;
        if (left == 2 * n) return CAROM_COMPLETE;
        // The complement of what left enters: y_i for z_i and z_i for y_i.
        column = ~t->place[left < n ? left + n : left - n];
        copy_column(t, column);
        leaving = ratio_test(t, (REAL)pivot_tolerance, (REAL)tie_tolerance);
        if (leaving < 0) return CAROM_RAY;
    }
    return CAROM_BUDGET_SPENT;
}

static void extract(const void *kernel_tableau, double *z, bool *basic) {
    const tableau *t = kernel_tableau;
    for (int i = 0; i < t->n; i++) {
        const int place = t->place[t->n + i];
        basic[i] = place >= 0;
        z[i] = basic[i] ? (double)t->rhs[place] : 0;
    }
}

static void release(void *kernel_tableau) {
    tableau *t = kernel_tableau;
    if (!t) return;
    free(t->T);
    free(t->rhs);
    free(t->weight);
    free(t->column);
    free(t->unit);
    free(t->row_unit);
    free(t->basic);
    free(t->nonbasic);
    free(t->place);
    free(t->tied);
    free(t);
}

// The artificial variable is added to every y, and is measured by the largest.
static void set_units(tableau *t, const double *y_unit, const double *z_unit) {
    t->unit[2 * t->n] = y_unit[0];
    for (int i = 0; i < t->n; i++) {
        t->unit[i] = y_unit[i];
        t->unit[t->n + i] = z_unit[i];
        if (t->unit[i] > t->unit[2 * t->n]) t->unit[2 * t->n] = t->unit[i];
    }
}

static REAL *allocate_rows(size_t rows, REAL value) {
    REAL *made = aligned_alloc(ALIGNMENT, rows * sizeof *made);
    for (size_t i = 0; made && i < rows; i++) made[i] = value;
    return made;
}

static void *create(int n, const double *y_unit, const double *z_unit) {
    const size_t size = (size_t)n;
    tableau *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->n = n;
    t->stride = (size + 1 + LANES - 1) / LANES * LANES;
    t->rows = (size + LANES - 1) / LANES * LANES;
    t->T = aligned_alloc(ALIGNMENT, size * t->stride * sizeof *t->T);
    t->rhs = allocate_rows(t->rows, 0);
    t->weight = allocate_rows(t->rows, 0);
    t->column = allocate_rows(t->rows, 0);
    t->row_unit = allocate_rows(t->rows, 1);
    t->unit = malloc((2 * size + 1) * sizeof *t->unit);
    t->basic = malloc(size * sizeof *t->basic);
    t->nonbasic = malloc((size + 1) * sizeof *t->nonbasic);
    t->place = malloc((2 * size + 1) * sizeof *t->place);
    t->tied = malloc(size * sizeof *t->tied);
    if (t->T && t->rhs && t->weight && t->column && t->row_unit && t->unit && t->basic && t->nonbasic && t->place && t->tied) {
        memset(t->T, 0, size * t->stride * sizeof *t->T);
        set_units(t, y_unit, z_unit);
        return t;
    }
    release(t);
    return NULL;
}
