// SPDX-License-Identifier: Apache-2.0
// Where Lemke's method takes the same pivots.
//
// The tableau after a sequence of pivots does not depend on w, and its right-hand sides are linear in w. So every choice that the method
// makes, the least right-hand side or the least ratio, is a set of linear inequalities in the step's inputs x. On the polyhedral cone of
// all of them the method ends on the same basis: there this basis gives Lemke's solution, whether or not there are others.
#include <math.h>
#include <string.h>

#include "carom/lcp.h"
#include "step/cones/build.h"

// A row that is not chosen must miss the choice by this multiple of what the method takes for a tie.
#define CLEAR_MARGIN 4
// Rows that tie must do so within this share of the round-off scale: a thousandth of what the method takes for a tie.
#define TIE_SHARE 1e-13
// Functionals below this share of the round-off scale are zero for every x: their ties are part of the sequence.
#define IDENTICAL 1e-12

enum { NO_ROW = -1 };

// Lemke's method at x with the whole tableau: x_B = rhs - T x_N with the columns of y, of z, of the artificial variable, and of the
// functionals that give rhs.
typedef struct followed {
    const carom_cone_builder *builder;
    carom_cone_rows *rows;
    int n, inputs, columns;
    double *T;     // [n x columns]
    double *rhs;   // [n] at x
    double *w;     // [n] at x
    double *most;  // [n] largest |w_i| of inputs of size one
    double *row;   // [inputs] scratch
    int *basic;    // [n]
    bool *open;    // [n] rows with an acceptable pivot
    bool *tied;    // [n]
    int entering;
} followed;

static double *tableau_row(const followed *tableau, int i) { return tableau->T + (size_t)i * (size_t)tableau->columns; }
static double *functional(const followed *tableau, int i) { return tableau_row(tableau, i) + 2 * tableau->n + 1; }

static double value_at(int inputs, const double *row, const double *x) {
    double sum = 0;
    for (int j = 0; j < inputs; j++) sum += row[j] * x[j];
    return sum;
}

// The round-off scale of row i: sum_j |inverse basis_ij| |w_j|, at x, or the most it can be for inputs of size one.
static double round_off_scale(const followed *tableau, int i, const double *w) {
    double sum = 0;
    for (int j = 0; j < tableau->n; j++) sum += fabs(tableau_row(tableau, i)[j] * w[j]);
    return sum;
}

// Entry i of the covering vector in SI units: Lemke's method runs in natural ones.
static double covering(const followed *tableau, int i) {
    const carom_stepper *stepper = tableau->builder->stepper;
    return stepper->covering[i] * stepper->y_natural[i] / stepper->y_natural[stepper->normal];
}

// tableau->row has to be positive, or to be zero where it ties. `scale` is that of its round-off.
static carom_status require(followed *tableau, bool ties, double tie_tolerance, double scale, carom_error *error) {
    const double size = carom_cone_row_size(tableau->builder, tableau->row);
    if (!ties) return carom_cone_rows_add(tableau->builder, tableau->rows, tableau->row, size, CLEAR_MARGIN * tie_tolerance * scale, error);
    if (size <= IDENTICAL * scale) return CAROM_OK;
    carom_status status = carom_cone_rows_add(tableau->builder, tableau->rows, tableau->row, size, -TIE_SHARE * scale, error);
    for (int j = 0; j < tableau->inputs; j++) tableau->row[j] = -tableau->row[j];
    if (!status) status = carom_cone_rows_add(tableau->builder, tableau->rows, tableau->row, size, -TIE_SHARE * scale, error);
    return status;
}

// The artificial variable enters where w_i / d_i is least and negative; among ties in the last row.
static carom_status first_choice(followed *tableau, int *chosen, carom_error *error) {
    // The least w_i / d_i, and the rows that tie with it.
    double least = INFINITY;
    for (int i = 0; i < tableau->n; i++) least = fmin(least, tableau->w[i] / covering(tableau, i));
    *chosen = NO_ROW;
    if (!(least < 0)) return CAROM_OK;
    for (int i = 0; i < tableau->n; i++) {
        tableau->tied[i] = tableau->w[i] / covering(tableau, i) - least <= CAROM_LEMKE_TIE_TOLERANCE * -least;
        if (tableau->tied[i]) *chosen = i;
    }
    // For which inputs the choice is the same: w_chosen < 0, and every other row is above it, or ties as it does here.
    const double *best = functional(tableau, *chosen);
    for (int j = 0; j < tableau->inputs; j++) tableau->row[j] = -best[j];
    carom_status status = require(tableau, false, CAROM_LEMKE_TIE_TOLERANCE, tableau->most[*chosen], error);
    for (int i = 0; i < tableau->n && !status; i++) {
        if (i == *chosen) continue;
        const double share = covering(tableau, i) / covering(tableau, *chosen);
        for (int j = 0; j < tableau->inputs; j++) tableau->row[j] = functional(tableau, i)[j] - share * best[j];
        status =
            require(tableau, tableau->tied[i], CAROM_LEMKE_TIE_TOLERANCE, fmax(tableau->most[i], share * tableau->most[*chosen]), error);
    }
    return status;
}

// Exchanges the basic variable of a row with the entering one; returns what left.
static int pivot(followed *tableau, int chosen, const double *x) {
    double *pivot_row = tableau_row(tableau, chosen);
    // Gauss-Jordan: the pivot row is divided by the pivot and subtracted from every other row.
    const double inverse = 1 / pivot_row[tableau->entering];
    for (int c = 0; c < tableau->columns; c++) pivot_row[c] *= inverse;
    for (int i = 0; i < tableau->n; i++) {
        double *row = tableau_row(tableau, i);
        const double factor = row[tableau->entering];
        for (int c = 0; i != chosen && factor != 0 && c < tableau->columns; c++) row[c] -= factor * pivot_row[c];
        if (i != chosen) row[tableau->entering] = 0;
        tableau->rhs[i] = value_at(tableau->inputs, functional(tableau, i), x);
    }
    const int left = tableau->basic[chosen];
    tableau->basic[chosen] = tableau->entering;
    return left;
}

static double unit_of(const followed *tableau, int variable) {
    const carom_cone_builder *b = tableau->builder;
    if (variable < tableau->n) return b->y_unit[variable];
    if (variable < 2 * tableau->n) return b->z_unit[variable - tableau->n];
    // y_i grows by d_i times the artificial variable, which has the largest unit that one of them gives it.
    double largest = 0;
    for (int i = 0; i < tableau->n; i++) largest = fmax(largest, b->y_unit[i] / covering(tableau, i));
    return largest;
}

// Is row a of the inverse basis over its pivot lexicographically before row b's?
static bool precedes(const followed *tableau, int a, int b) {
    const double *row_a = tableau_row(tableau, a), *row_b = tableau_row(tableau, b);
    // The first column in which the ratios differ decides.
    for (int j = 0; j < tableau->n; j++) {
        const double ratio_a = row_a[j] / row_a[tableau->entering], ratio_b = row_b[j] / row_b[tableau->entering];
        if (fabs(ratio_a - ratio_b) > CAROM_LEMKE_TIE_TOLERANCE * fmax(fabs(ratio_a), fabs(ratio_b))) return ratio_a < ratio_b;
    }
    return a < b;
}

// The row that leaves: the least ratio, of ties the artificial variable's or the lexicographically smallest.
static carom_status next_choice(followed *tableau, int *chosen, carom_error *error) {
    // Rows whose pivot is acceptable are open; of them, those that tie at x with the least ratio.
    double largest = 0, least = INFINITY;
    int best = NO_ROW;
    for (int i = 0; i < tableau->n; i++)
        largest = fmax(largest, fabs(tableau_row(tableau, i)[tableau->entering]) / unit_of(tableau, tableau->basic[i]));
    for (int i = 0; i < tableau->n; i++) {
        const double entry = tableau_row(tableau, i)[tableau->entering];
        tableau->open[i] = entry > CAROM_LEMKE_PIVOT_TOLERANCE * largest * unit_of(tableau, tableau->basic[i]);
        if (tableau->open[i] && tableau->rhs[i] / entry < least) least = tableau->rhs[i] / entry, best = i;
    }
    *chosen = best;
    if (best == NO_ROW) return CAROM_OK;
    for (int i = 0; i < tableau->n; i++) {
        const double miss = tableau->rhs[i] - least * tableau_row(tableau, i)[tableau->entering];
        tableau->tied[i] = tableau->open[i] && miss <= CAROM_LEMKE_TIE_TOLERANCE * round_off_scale(tableau, i, tableau->w);
    }
    const int artificial = 2 * tableau->n;
    for (int i = 0; i < tableau->n; i++) {
        if (!tableau->tied[i] || tableau->basic[*chosen] == artificial) continue;
        if (!tableau->tied[*chosen] || tableau->basic[i] == artificial || precedes(tableau, i, *chosen)) *chosen = i;
    }
    // For which inputs the choice is the same: every other open row must miss it, rhs_i - ratio rhs_chosen > 0, or tie as it does here.
    const double *chosen_rhs = functional(tableau, *chosen), chosen_entry = tableau_row(tableau, *chosen)[tableau->entering];
    carom_status status = CAROM_OK;
    for (int i = 0; i < tableau->n && !status; i++) {
        if (!tableau->open[i] || i == *chosen) continue;
        const double ratio = tableau_row(tableau, i)[tableau->entering] / chosen_entry;
        for (int j = 0; j < tableau->inputs; j++) tableau->row[j] = functional(tableau, i)[j] - ratio * chosen_rhs[j];
        const double scale = round_off_scale(tableau, i, tableau->most) + fabs(ratio) * round_off_scale(tableau, *chosen, tableau->most);
        status = require(tableau, tableau->tied[i], CAROM_LEMKE_TIE_TOLERANCE, scale, error);
    }
    return status;
}

carom_status carom_cone_follow_lemke(const carom_cone_builder *builder, const double *x, const bool *basic, carom_cone_rows *rows,
                                     bool *same, carom_error *error) {
    const int size = builder->size, inputs = builder->inputs, artificial = 2 * size;
    const size_t n = (size_t)size, columns = 2 * n + 1 + (size_t)inputs;
    carom_arena arena = {0};
    followed tableau = {.builder = builder,
                        .rows = rows,
                        .n = size,
                        .inputs = inputs,
                        .columns = (int)columns,
                        .T = carom_arena_take(&arena, n * columns, sizeof(double)),
                        .rhs = carom_arena_take(&arena, n, sizeof(double)),
                        .w = carom_arena_take(&arena, n, sizeof(double)),
                        .most = carom_arena_take(&arena, n, sizeof(double)),
                        .row = carom_arena_take(&arena, (size_t)inputs, sizeof(double)),
                        .basic = carom_arena_take(&arena, n, sizeof(int)),
                        .open = carom_arena_take(&arena, n, sizeof(bool)),
                        .tied = carom_arena_take(&arena, n, sizeof(bool)),
                        .entering = artificial};
    *same = false;
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "cone map");
    }
    // y - W z - d z_0 = w: all y are basic.
    for (int i = 0; i < size; i++) {
        double *row = tableau_row(&tableau, i), *rhs = functional(&tableau, i);
        row[i] = 1;
        for (int j = 0; j < size; j++) row[size + j] = -builder->stepper->W[i * size + j];
        row[artificial] = -covering(&tableau, i);
        memcpy(rhs, builder->vector + i * inputs, (size_t)inputs * sizeof *rhs);
        tableau.w[i] = tableau.rhs[i] = value_at(inputs, rhs, x);
        for (int j = 0; j < inputs; j++) tableau.most[i] += fabs(rhs[j]) * builder->unit[j];
        tableau.basic[i] = i;
    }
    int chosen;
    carom_status status = first_choice(&tableau, &chosen, error);
    for (int k = 0; !status && !*same && chosen != NO_ROW && k < CAROM_LEMKE_PIVOTS_PER_ROW * size; k++) {
        const int left = pivot(&tableau, chosen, x);
        *same = left == artificial;
        tableau.entering = left < size ? left + size : left - size;
        if (!*same) status = next_choice(&tableau, &chosen, error);
    }
    // The method must have ended on this basis.
    int members = 0, common = 0, own = 0;
    for (int i = 0; i < size; i++) {
        const bool is_z = tableau.basic[i] >= size;
        members += basic[i];
        own += is_z;
        common += *same && is_z && basic[tableau.basic[i] - size];
    }
    *same = *same && members == common && own == common;
    carom_arena_free(&arena);
    return status;
}
