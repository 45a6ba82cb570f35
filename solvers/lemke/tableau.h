// SPDX-License-Identifier: Apache-2.0
// Lemke's method on a condensed tableau, written once for several precisions and instruction sets.
//
// The including file defines REAL, a floating-point type, and makes a carom_lemke_kernel of the functions.
//
// The tableau holds the columns of the non-basic variables only: x_B = rhs - T x_N, with T = [-W | -d] and rhs = w at the start, where
// the basic variables are the slacks y = w + W z + d z0 and the last column belongs to the artificial variable z0, d the covering vector. A
// pivot exchanges one basic and one non-basic variable. Variables: y_i is i, z_i is n + i, z0 is 2n.
//
// A large tableau does not fit into the cache, and a pivot that rewrites all of it waits for memory. So pivots wait instead: a row takes
// those that it has missed when it is read, and all rows do when MOST_WAITING pivots have come together. Each entry then sees the same
// operations in the same order as if every pivot had been carried out at once, and has the same bits.
#include <stdlib.h>
#include <string.h>

#include "carom/arena.h"
#include "solvers/lemke/kernel.h"

// Rows start at multiples of the widest vector register and are padded with zeros to a multiple of it: no loop has a remainder.
enum { LANES = CAROM_ARENA_ALIGNMENT / sizeof(double) };

// Covers the round-off of sums that are bounds.
#define SCALE_MARGIN (1 + 1e-9)
// Share of w, in units, that no right-hand side may fall below zero by a tie: of the order of the solver's goal for residuals.
#define MOST_NEGATIVE 1e-10
// Share of their column's largest entry that pivots may be round-off below, when right-hand sides say so.
#define DOUBTFUL_PIVOT 1e-4
// Share of the tie tolerance, and of its first value, where the artificial variable is zero but for round-off.
#define VANISHED 1
// Pivots between two questions whether to stop: the largest in quadruple precision take a tenth of a second together. In double precision
// a single one of the second size takes about a millisecond.
enum { POLL_EVERY = 16, POLL_ALWAYS = 1024 };
// Pivots that wait at most: their rows stay in the second cache. In tableaus of up to so many variables none waits: there it takes longer.
enum { MOST_WAITING = 16, MOST_AT_ONCE = 96 };

typedef struct lemke_tableau {
    carom_arena arena;
    int n;
    size_t stride;           // n + 1 columns and padding
    size_t rows;             // n and padding, of the arrays of rows
    REAL *T;                 // [n x stride]
    REAL *rhs;               // [rows] right-hand sides
    REAL *weight;            // [rows] bounds of sum_j |inverse basis_ij| |w_j|, the scale of the round-off of each right-hand side
    REAL *column;            // [rows] the entering column
    REAL *unit;              // [2n+1] of each variable, for the size of pivots
    REAL *row_unit;          // [rows] of each row's variable
    REAL *covering;          // [rows] d
    REAL *uncover;           // [rows] 1 / d
    REAL size;               // of w in units
    REAL vanished;           // what the artificial variable's round-off is below
    double *kept;            // [n] z at the first basis where that variable had vanished, for the case that the method fails later
    bool *kept_basic;        // [n] which of these were basic
    bool keeps, ends_there;  // is there one; is it the answer
    int *lists;              // [5n+2] the next four, one after the other
    int *basic;              // [n] variable of each row
    int *nonbasic;           // [n+1] variable of each column
    int *place;              // [2n+1] row of a basic variable, ~column of a non-basic one
    int *tied;               // [n] rows that tie in a ratio test
    const double *w;         // [n] the problem's vector
    REAL *slack_size;        // [stride] |w_j| where slack y_j is a column, 0 in the other columns
    // Pivots that rows may not have taken yet; the arrays are NULL in small tableaus.
    int waiting;
    REAL *waiting_row;     // [MOST_WAITING x stride] their rows over their pivots
    REAL *waiting_factor;  // [MOST_WAITING x rows] what each row subtracts of them: 0 where it has taken the pivot

    // Polled between pivots; the caller's, or NULL.
    const carom_control *control;
} lemke_tableau;

static REAL magnitude(REAL x) { return x < 0 ? -x : x; }

static REAL *row_of(const lemke_tableau *tableau, int i) {
    return __builtin_assume_aligned(tableau->T + (size_t)i * tableau->stride, CAROM_ARENA_ALIGNMENT);
}

// Largest |value_i| / unit_i. With W of 1e9 1/kg, the ones of the caps are no round-off: only units tell.
static REAL largest_in_units(int n, const REAL *values, const REAL *unit) {
    REAL largest = 0;
    for (int i = 0; i < n; i++) {
        const REAL size = magnitude(values[i]) / unit[i];
        if (size > largest) largest = size;
    }
    return largest;
}

// ------------------------------------------------------------------------------------------------------------- pivots

// T = [-W | -d], rhs = w, and all y basic.
static void start(lemke_tableau *tableau, const double *W, const double *rest, const double *w) {
    const int n = tableau->n;
    tableau->w = w;
    for (int i = 0; i < n; i++) {
        REAL *row = row_of(tableau, i);
        for (int j = 0; j < n; j++) row[j] = -(REAL)W[(size_t)i * (size_t)n + (size_t)j];
        for (int j = 0; rest && j < n; j++) row[j] -= (REAL)rest[(size_t)i * (size_t)n + (size_t)j];
        row[n] = -tableau->covering[i];
        tableau->rhs[i] = w[i];
        tableau->weight[i] = magnitude(w[i]);
        tableau->row_unit[i] = tableau->unit[i];
        tableau->basic[i] = i;
        tableau->nonbasic[i] = n + i;
        tableau->place[i] = i;
        tableau->place[n + i] = ~i;
    }
    tableau->nonbasic[n] = 2 * n;
    tableau->place[2 * n] = ~n;
    tableau->waiting = 0;
}

// The row where z0 enters, the one of the least w_i / d_i. Of rows that tie, the last: the lexicographic rule for the unit basis.
static int first_row(const lemke_tableau *tableau, const REAL *w, REAL tie_tolerance) {
    const int n = tableau->n;
    const REAL *uncover = tableau->uncover;
    REAL least = w[0] * uncover[0];
    for (int i = 1; i < n; i++) least = w[i] * uncover[i] < least ? w[i] * uncover[i] : least;
    int first = 0;
    for (int i = 0; i < n; i++)
        if (w[i] * uncover[i] - least <= tie_tolerance * -least) first = i;
    return first;
}

static const REAL *waiting_row(const lemke_tableau *tableau, int k) {
    return __builtin_assume_aligned(tableau->waiting_row + (size_t)k * tableau->stride, CAROM_ARENA_ALIGNMENT);
}

static REAL *waiting_factors(const lemke_tableau *tableau, int k) {
    return __builtin_assume_aligned(tableau->waiting_factor + (size_t)k * tableau->rows, CAROM_ARENA_ALIGNMENT);
}

static void copy_column(lemke_tableau *tableau, int c) {
    REAL *column = tableau->column;
    for (int i = 0; i < tableau->n; i++) column[i] = row_of(tableau, i)[c];
    for (int k = 0; k < tableau->waiting; k++) {
        const REAL entry = waiting_row(tableau, k)[c], *factors = waiting_factors(tableau, k);
        for (size_t i = 0; entry != 0 && i < tableau->rows; i++) column[i] -= factors[i] * entry;
    }
}

// row -= factor * pivot_row. A function, so that the compiler believes `restrict`.
static void subtract_row(REAL *restrict row, const REAL *restrict pivot_row, REAL factor, size_t stride) {
    row = __builtin_assume_aligned(row, CAROM_ARENA_ALIGNMENT);
    pivot_row = __builtin_assume_aligned(pivot_row, CAROM_ARENA_ALIGNMENT);
    for (size_t j = 0; j < stride; j += LANES)
        for (size_t l = 0; l < LANES; l++) row[j + l] -= factor * pivot_row[j + l];
}

// row -= sum of four such products, each subtracted on its own: the entries of the row stay in registers.
static void subtract_four(REAL *restrict row, const REAL *restrict a, const REAL *restrict b, const REAL *restrict c,
                          const REAL *restrict d, const REAL *restrict factors, size_t stride) {
    const REAL of_a = factors[0], of_b = factors[1], of_c = factors[2], of_d = factors[3];
    row = __builtin_assume_aligned(row, CAROM_ARENA_ALIGNMENT);
    a = __builtin_assume_aligned(a, CAROM_ARENA_ALIGNMENT);
    b = __builtin_assume_aligned(b, CAROM_ARENA_ALIGNMENT);
    c = __builtin_assume_aligned(c, CAROM_ARENA_ALIGNMENT);
    d = __builtin_assume_aligned(d, CAROM_ARENA_ALIGNMENT);
    for (size_t j = 0; j < stride; j++) row[j] = row[j] - of_a * a[j] - of_b * b[j] - of_c * c[j] - of_d * d[j];
}

// Row i as of the last pivot: it takes those that it has missed.
static REAL *current_row(lemke_tableau *tableau, int i) {
    const REAL *rows[MOST_WAITING];
    REAL factors[MOST_WAITING], *row = row_of(tableau, i);
    int missed = 0, k = 0;
    for (int p = 0; p < tableau->waiting; p++) {
        REAL *factor = waiting_factors(tableau, p) + i;
        if (*factor == 0) continue;
        rows[missed] = waiting_row(tableau, p);
        factors[missed++] = *factor;
        *factor = 0;
    }
    for (; k + 4 <= missed; k += 4) subtract_four(row, rows[k], rows[k + 1], rows[k + 2], rows[k + 3], factors + k, tableau->stride);
    for (; k < missed; k++) subtract_row(row, rows[k], factors[k], tableau->stride);
    return row;
}

static void exchange_variables(lemke_tableau *tableau, int r, int c) {
    const int leaving = tableau->basic[r], entering = tableau->nonbasic[c];
    tableau->basic[r] = entering;
    tableau->row_unit[r] = tableau->unit[entering];
    tableau->nonbasic[c] = leaving;
    tableau->place[entering] = r;
    tableau->place[leaving] = ~c;
}

// Exchanges the basic variable of row r with the non-basic variable of column c, whose entries stand in tableau->column.
static void pivot(lemke_tableau *tableau, int r, int c) {
    // The pivot row over its pivot: row r solved for the entering variable.
    REAL *pivot_row = row_of(tableau, r);
    const REAL inverse = 1 / tableau->column[r], rhs = tableau->rhs[r] * inverse, weight = tableau->weight[r] * magnitude(inverse);
    for (size_t j = 0; j < tableau->stride; j += LANES)
        for (size_t l = 0; l < LANES; l++) pivot_row[j + l] *= inverse;
    // Put into every other row. Column c now belongs to the variable that leaves.
    for (int i = 0; i < tableau->n; i++) {
        const REAL factor = tableau->column[i];
        // Most tableaus are half zeros.
        if (i == r || factor == 0) continue;
        REAL *row = row_of(tableau, i);
        subtract_row(row, pivot_row, factor, tableau->stride);
        // After the row: a vector load stalls on a number that was just stored into it.
        row[c] = -factor * inverse;
        tableau->rhs[i] -= factor * rhs;
        tableau->weight[i] += magnitude(factor) * weight;
    }
    tableau->rhs[r] = rhs;
    tableau->weight[r] = weight;
    pivot_row[c] = inverse;
    exchange_variables(tableau, r, c);
}

// The same exchange, which the other rows take later.
static void pivot_later(lemke_tableau *tableau, int r, int c) {
    REAL *pivot_row = current_row(tableau, r), *column = tableau->column;
    const REAL inverse = 1 / column[r], rhs = tableau->rhs[r] * inverse, weight = tableau->weight[r] * magnitude(inverse);
    for (size_t j = 0; j < tableau->stride; j++) pivot_row[j] *= inverse;
    const int last = tableau->waiting++;
    memcpy(tableau->waiting_row + (size_t)last * tableau->stride, pivot_row, tableau->stride * sizeof *pivot_row);
    // Column c now belongs to the variable that leaves: nothing that waits is its business.
    for (int k = 0; k <= last; k++) tableau->waiting_row[(size_t)k * tableau->stride + (size_t)c] = 0;
    column[r] = 0;
    memcpy(waiting_factors(tableau, last), column, tableau->rows * sizeof *column);
    for (int i = 0; i < tableau->n; i++) {
        row_of(tableau, i)[c] = -column[i] * inverse;
        tableau->rhs[i] -= column[i] * rhs;
        tableau->weight[i] += magnitude(column[i]) * weight;
    }
    tableau->rhs[r] = rhs;
    tableau->weight[r] = weight;
    pivot_row[c] = inverse;
    exchange_variables(tableau, r, c);
    if (tableau->waiting < MOST_WAITING) return;
    for (int i = 0; i < tableau->n; i++) current_row(tableau, i);
    tableau->waiting = 0;
}

// --------------------------------------------------------------------------------------------------------- ratio test

// Entry (i, j) of the inverse basis: the tableau's column of slack y_j.
static REAL inverse_entry(const lemke_tableau *tableau, int i, int j) {
    const int place = tableau->place[j];
    if (place >= 0) return place == i ? 1 : 0;
    REAL entry = row_of(tableau, i)[~place];
    for (int k = 0; k < tableau->waiting; k++) entry -= waiting_factors(tableau, k)[i] * waiting_row(tableau, k)[~place];
    return entry;
}

// sum_j |inverse basis_ij| |w_j|: right-hand sides that differ by a small share of it are equal up to round-off. Free of units.
static REAL round_off_scale(lemke_tableau *tableau, int i) {
    const REAL *row = current_row(tableau, i), *size = tableau->slack_size;
    REAL sums[LANES] = {0}, sum = tableau->basic[i] < tableau->n ? magnitude(tableau->w[tableau->basic[i]]) : 0;
    for (size_t j = 0; j < tableau->stride; j += LANES)
        for (size_t l = 0; l < LANES; l++) sums[l] += magnitude(row[j + l]) * size[j + l];
    for (int l = 0; l < LANES; l++) sum += sums[l];
    return sum;
}

// Of the tied rows, the lexicographically smallest row of the inverse basis over its pivot entry. Ratios of one column that differ by less
// than the tolerance times the largest count as equal.
static int lexicographic(const lemke_tableau *tableau, int count, REAL tie_tolerance) {
    int *tied = tableau->tied;
    for (int j = 0; j < tableau->n && count > 1; j++) {
        REAL least = 0, largest = 0;
        for (int k = 0; k < count; k++) {
            const REAL ratio = inverse_entry(tableau, tied[k], j) / tableau->column[tied[k]];
            if (k == 0 || ratio < least) least = ratio;
            if (magnitude(ratio) > largest) largest = magnitude(ratio);
        }
        // A slack that is basic elsewhere, or zero in all tied rows, decides nothing.
        if (largest == 0) continue;
        int kept = 0;
        for (int k = 0; k < count; k++)
            if (inverse_entry(tableau, tied[k], j) / tableau->column[tied[k]] - least <= tie_tolerance * largest) tied[kept++] = tied[k];
        count = kept;
    }
    return tied[0];
}

// Of the tied rows, those at whose ratio no other one becomes negative by more than round-off, as it does where a small pivot hides that
// ratios differ. Returns how many are left.
static int drop_distant(lemke_tableau *tableau, int count, REAL least) {
    const REAL *column = tableau->column;
    REAL steepest = 0;
    for (int k = 0; k < count; k++) {
        const int i = tableau->tied[k];
        const REAL slope = column[i] / tableau->row_unit[i];
        if (slope > steepest) steepest = slope;
    }
    int kept = 0;
    for (int k = 0; k < count; k++) {
        const int i = tableau->tied[k];
        if ((tableau->rhs[i] / column[i] - least) * steepest <= (REAL)MOST_NEGATIVE * tableau->size) tableau->tied[kept++] = i;
    }
    return kept;
}

// Row that leaves when the variable of tableau->column enters; -1 on a ray. The artificial variable leaves when it ties.
static int ratio_test(lemke_tableau *tableau, REAL pivot_tolerance, REAL tie_tolerance) {
    const int n = tableau->n;
    const REAL *column = tableau->column, *rhs = tableau->rhs;
    const REAL steepest = largest_in_units(n, column, tableau->row_unit);
    REAL acceptable = pivot_tolerance * steepest, least;
    int best;
    for (;;) {
        // The least ratio over the acceptable pivots.
        best = -1;
        least = 0;
        for (int i = 0; i < n; i++) {
            if (!(column[i] > acceptable * tableau->row_unit[i])) continue;
            const REAL ratio = rhs[i] / column[i];
            if (best >= 0 && ratio >= least) continue;
            best = i;
            least = ratio;
        }
        if (best < 0) return -1;
        // Right-hand sides are negative by round-off only. Where a ratio is so by more, its small pivot is round-off, too, and so are those
        // below it.
        const REAL slope = column[best] / tableau->row_unit[best];
        if (-least * steepest <= (REAL)MOST_NEGATIVE * tableau->size || slope > (REAL)DOUBTFUL_PIVOT * steepest) break;
        acceptable = (REAL)SCALE_MARGIN * slope;
    }
    // The rows that miss it by round-off. The running upper bound of the scale, and the right-hand side as a lower one, make the sum of
    // round_off_scale unnecessary in most cases; where it was needed, the bound starts from it again.
    int count = 0;
    for (int i = 0; i < n; i++) {
        const REAL excess = rhs[i] - least * column[i];
        if (!(column[i] > acceptable * tableau->row_unit[i]) || excess > tie_tolerance * tableau->weight[i]) continue;
        if (!(excess <= tie_tolerance * magnitude(rhs[i]))) {
            const REAL scale = round_off_scale(tableau, i);
            tableau->weight[i] = (REAL)SCALE_MARGIN * scale;
            if (!(excess <= tie_tolerance * scale)) continue;
        }
        if (tableau->basic[i] == 2 * n) return i;
        tableau->tied[count++] = i;
    }
    count = drop_distant(tableau, count, least);
    // Nothing ties when a ratio is not finite.
    return count ? lexicographic(tableau, count, tie_tolerance) : -1;
}

// Keeps the present basis, with the variable that left last in the place of the artificial one, which left no trace beside it.
static void keep(lemke_tableau *tableau, int left) {
    for (int i = 0; i < tableau->n; i++) {
        const int variable = tableau->n + i, place = tableau->place[variable];
        tableau->kept_basic[i] = place >= 0 || left == variable;
        tableau->kept[i] = place >= 0 ? (double)tableau->rhs[place] : 0;
    }
    tableau->keeps = true;
}

static carom_verdict run(void *kernel_tableau, const double *W, const double *rest, const double *w, int64_t limit, double pivot_tolerance,
                         double tie_tolerance, int64_t *pivots) {
    lemke_tableau *tableau = kernel_tableau;
    const int n = tableau->n;
    start(tableau, W, rest, w);
    int leaving = first_row(tableau, tableau->rhs, (REAL)tie_tolerance), column = n;
    tableau->size = largest_in_units(n, tableau->rhs, tableau->row_unit);
    tableau->vanished = (REAL)(VANISHED * tie_tolerance) * magnitude(tableau->rhs[leaving] * tableau->uncover[leaving]);
    tableau->keeps = tableau->ends_there = false;
    for (size_t c = 0; c < tableau->stride; c++) tableau->slack_size[c] = 0;
    copy_column(tableau, column);
    carom_verdict verdict = CAROM_BUDGET_SPENT;
    while (*pivots < limit && leaving >= 0) {
        if ((n >= POLL_ALWAYS || *pivots % POLL_EVERY == 0) && carom_control_cancelled(tableau->control)) return CAROM_INTERRUPTED;
        const int left = tableau->basic[leaving];
        // Bounds that start from the scale itself stay close to it.
        tableau->weight[leaving] = (REAL)SCALE_MARGIN * round_off_scale(tableau, leaving);
        if (tableau->waiting_row)
            pivot_later(tableau, leaving, column);
        else
            pivot(tableau, leaving, column);
        tableau->slack_size[column] = left < n ? magnitude((REAL)w[left]) : 0;
        ++*pivots;
        if (left == 2 * n) return CAROM_COMPLETE;
        if (!tableau->keeps && tableau->rhs[tableau->place[2 * n]] <= tableau->vanished) keep(tableau, left);
        // The complement of what left enters: y_i for z_i and z_i for y_i.
        column = ~tableau->place[left < n ? left + n : left - n];
        copy_column(tableau, column);
        leaving = ratio_test(tableau, (REAL)pivot_tolerance, (REAL)tie_tolerance);
        if (leaving < 0) verdict = CAROM_RAY;
    }
    // Without the artificial variable the basis that was kept is a solution.
    tableau->ends_there = tableau->keeps;
    return tableau->keeps ? CAROM_COMPLETE : verdict;
}

static void extract(const void *kernel_tableau, double *z, bool *basic) {
    const lemke_tableau *tableau = kernel_tableau;
    for (int i = 0; i < tableau->n; i++) {
        const int place = tableau->place[tableau->n + i];
        if (basic) basic[i] = tableau->ends_there ? tableau->kept_basic[i] : place >= 0;
        z[i] = tableau->ends_there ? tableau->kept[i] : place >= 0 ? (double)tableau->rhs[place] : 0;
    }
}

// ----------------------------------------------------------------------------------------------------------- lifetime

static void release(void *kernel_tableau) {
    lemke_tableau *tableau = kernel_tableau;
    if (!tableau) return;
    carom_arena_free(&tableau->arena);
    free(tableau);
}

static void cover(void *kernel_tableau, const double *covering) {
    lemke_tableau *tableau = kernel_tableau;
    // y_i grows by d_i z0: the artificial variable has the largest unit that one of them gives it.
    REAL largest = 0;
    for (int i = 0; i < tableau->n; i++) {
        tableau->covering[i] = covering ? covering[i] : 1;
        tableau->uncover[i] = 1 / tableau->covering[i];
        const REAL unit = tableau->unit[i] * tableau->uncover[i];
        if (unit > largest) largest = unit;
    }
    tableau->unit[2 * tableau->n] = largest;
}

static void watch(void *kernel_tableau, const carom_control *control) { ((lemke_tableau *)kernel_tableau)->control = control; }

static void *create(int n, const double *y_unit, const double *z_unit) {
    const size_t size = (size_t)n;
    lemke_tableau *tableau = calloc(1, sizeof *tableau);
    if (!tableau) return NULL;
    carom_arena *arena = &tableau->arena;
    tableau->n = n;
    tableau->stride = (size + 1 + LANES - 1) / LANES * LANES;
    tableau->rows = (size + LANES - 1) / LANES * LANES;
    tableau->T = carom_arena_take(arena, size * tableau->stride, sizeof *tableau->T);
    REAL *arrays = carom_arena_take(arena, 6 * tableau->rows, sizeof *arrays);
    tableau->slack_size = carom_arena_take(arena, tableau->stride, sizeof *tableau->slack_size);
    tableau->unit = carom_arena_take(arena, 2 * size + 1, sizeof *tableau->unit);
    tableau->kept = carom_arena_take(arena, size, sizeof *tableau->kept);
    tableau->kept_basic = carom_arena_take(arena, size, sizeof *tableau->kept_basic);
    tableau->lists = carom_arena_take(arena, 5 * size + 2, sizeof *tableau->lists);
    if (n > MOST_AT_ONCE) {
        tableau->waiting_row = carom_arena_take(arena, MOST_WAITING * tableau->stride, sizeof *tableau->waiting_row);
        tableau->waiting_factor = carom_arena_take(arena, MOST_WAITING * tableau->rows, sizeof *tableau->waiting_factor);
    }
    if (arena->failed) {
        release(tableau);
        return NULL;
    }
    // Few blocks, because certificates make many small tableaus.
    tableau->rhs = arrays;
    tableau->weight = arrays + tableau->rows;
    tableau->column = arrays + 2 * tableau->rows;
    tableau->row_unit = arrays + 3 * tableau->rows;
    tableau->covering = arrays + 4 * tableau->rows;
    tableau->uncover = arrays + 5 * tableau->rows;
    tableau->basic = tableau->lists;
    tableau->nonbasic = tableau->lists + size;
    tableau->place = tableau->lists + 2 * size + 1;
    tableau->tied = tableau->lists + 4 * size + 2;
    // Padded rows are divided by their unit, too.
    for (size_t i = 0; i < tableau->rows; i++) tableau->row_unit[i] = 1;
    for (int i = 0; i < n; i++) {
        tableau->unit[i] = y_unit ? y_unit[i] : 1;
        tableau->unit[n + i] = z_unit ? z_unit[i] : 1;
    }
    cover(tableau, NULL);
    return tableau;
}
