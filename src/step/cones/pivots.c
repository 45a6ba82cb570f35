// SPDX-License-Identifier: Apache-2.0
// Where Lemke's method takes the same pivots.
//
// The tableau behind a sequence of pivots does not depend on w, and its right-hand sides are linear in w. So every choice that the method
// makes, the least right-hand side or the least ratio, is a set of linear inequalities in the step's inputs x. On the polyhedral cone of
// all of them the method ends on the same basis: there this basis gives Lemke's solution, whether or not there are others.
#include <math.h>
#include <stdlib.h>
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

// The whole tableau: x_B = rhs - T x_N with the columns of y, of z, of the artificial variable, and of the functionals that give rhs.
typedef struct pursuit {
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
} pursuit;

static double *tableau_row(const pursuit *p, int i) { return p->T + (size_t)i * (size_t)p->columns; }
static double *functional(const pursuit *p, int i) { return tableau_row(p, i) + 2 * p->n + 1; }

static double value_at(int inputs, const double *row, const double *x) {
    double sum = 0;
    for (int j = 0; j < inputs; j++) sum += row[j] * x[j];
    return sum;
}

static void start(pursuit *p, const double *x) {
    const carom_cone_builder *b = p->builder;
    for (int i = 0; i < p->n; i++) {
        double *row = tableau_row(p, i);
        memset(row, 0, (size_t)p->columns * sizeof *row);
        row[i] = 1;
        for (int j = 0; j < p->n; j++) row[p->n + j] = -b->stepper->W[i * p->n + j];
        row[2 * p->n] = -1;
        memcpy(functional(p, i), b->vector + i * p->inputs, (size_t)p->inputs * sizeof *row);
        p->w[i] = p->rhs[i] = value_at(p->inputs, functional(p, i), x);
        p->most[i] = 0;
        for (int j = 0; j < p->inputs; j++) p->most[i] += fabs(functional(p, i)[j]) * b->unit[j];
        p->basic[i] = i;
    }
}

// The round-off scale of row i: sum_j |inverse basis_ij| |w_j|, at x, or the most it can be for inputs of size one.
static double round_off_scale(const pursuit *p, int i, const double *w) {
    double sum = 0;
    for (int j = 0; j < p->n; j++) sum += fabs(tableau_row(p, i)[j] * w[j]);
    return sum;
}

// p->row has to be positive, or to be zero where it ties. `scale` is that of its round-off.
static carom_status require(pursuit *p, bool ties, double tie_tolerance, double scale, carom_error *error) {
    const double size = carom_cone_row_size(p->builder, p->row);
    if (!ties) return carom_cone_rows_add(p->builder, p->rows, p->row, size, CLEAR_MARGIN * tie_tolerance * scale, error);
    if (size <= IDENTICAL * scale) return CAROM_OK;
    carom_status status = carom_cone_rows_add(p->builder, p->rows, p->row, size, -TIE_SHARE * scale, error);
    for (int j = 0; j < p->inputs; j++) p->row[j] = -p->row[j];
    if (!status) status = carom_cone_rows_add(p->builder, p->rows, p->row, size, -TIE_SHARE * scale, error);
    return status;
}

// The artificial variable enters where w is least and negative; among ties in the last row.
static carom_status first_choice(pursuit *p, int *chosen, carom_error *error) {
    double least = p->w[0];
    for (int i = 1; i < p->n; i++) least = fmin(least, p->w[i]);
    *chosen = NO_ROW;
    if (!(least < 0)) return CAROM_OK;
    for (int i = 0; i < p->n; i++) {
        p->tied[i] = p->w[i] - least <= CAROM_LEMKE_TIE_TOLERANCE * -least;
        if (p->tied[i]) *chosen = i;
    }
    const double *best = functional(p, *chosen);
    for (int j = 0; j < p->inputs; j++) p->row[j] = -best[j];
    carom_status status = require(p, false, CAROM_LEMKE_TIE_TOLERANCE, p->most[*chosen], error);
    for (int i = 0; i < p->n && !status; i++) {
        if (i == *chosen) continue;
        for (int j = 0; j < p->inputs; j++) p->row[j] = functional(p, i)[j] - best[j];
        status = require(p, p->tied[i], CAROM_LEMKE_TIE_TOLERANCE, fmax(p->most[i], p->most[*chosen]), error);
    }
    return status;
}

// Exchanges the basic variable of a row with the entering one; returns what left.
static int pivot(pursuit *p, int chosen, const double *x) {
    double *pivot_row = tableau_row(p, chosen);
    const double inverse = 1 / pivot_row[p->entering];
    for (int c = 0; c < p->columns; c++) pivot_row[c] *= inverse;
    for (int i = 0; i < p->n; i++) {
        double *row = tableau_row(p, i);
        const double factor = row[p->entering];
        for (int c = 0; i != chosen && factor != 0 && c < p->columns; c++) row[c] -= factor * pivot_row[c];
        if (i != chosen) row[p->entering] = 0;
        p->rhs[i] = value_at(p->inputs, functional(p, i), x);
    }
    const int left = p->basic[chosen];
    p->basic[chosen] = p->entering;
    return left;
}

static double unit_of(const pursuit *p, int variable) {
    const carom_cone_builder *b = p->builder;
    if (variable < p->n) return b->y_unit[variable];
    if (variable < 2 * p->n) return b->z_unit[variable - p->n];
    double largest = 0;
    for (int i = 0; i < p->n; i++) largest = fmax(largest, b->y_unit[i]);
    return largest;
}

// Rows whose pivot is acceptable, and those of them that tie at x. Returns the row of the least ratio.
static int compare_ratios(pursuit *p) {
    double largest = 0, least = INFINITY;
    int best = NO_ROW;
    for (int i = 0; i < p->n; i++) largest = fmax(largest, fabs(tableau_row(p, i)[p->entering]) / unit_of(p, p->basic[i]));
    for (int i = 0; i < p->n; i++) {
        const double entry = tableau_row(p, i)[p->entering];
        p->open[i] = entry > CAROM_LEMKE_PIVOT_TOLERANCE * largest * unit_of(p, p->basic[i]);
        if (p->open[i] && p->rhs[i] / entry < least) least = p->rhs[i] / entry, best = i;
    }
    for (int i = 0; i < p->n; i++) {
        const double miss = p->rhs[i] - least * tableau_row(p, i)[p->entering];
        p->tied[i] = best != NO_ROW && p->open[i] && miss <= CAROM_LEMKE_TIE_TOLERANCE * round_off_scale(p, i, p->w);
    }
    return best;
}

// Is row a of the inverse basis over its pivot lexicographically before row b's?
static bool precedes(const pursuit *p, int a, int b) {
    const double *row_a = tableau_row(p, a), *row_b = tableau_row(p, b);
    for (int j = 0; j < p->n; j++) {
        const double ratio_a = row_a[j] / row_a[p->entering], ratio_b = row_b[j] / row_b[p->entering];
        if (fabs(ratio_a - ratio_b) > CAROM_LEMKE_TIE_TOLERANCE * fmax(fabs(ratio_a), fabs(ratio_b))) return ratio_a < ratio_b;
    }
    return a < b;
}

// The row that leaves: the least ratio, of ties the artificial variable's or the lexicographically smallest.
static carom_status next_choice(pursuit *p, int *chosen, carom_error *error) {
    *chosen = compare_ratios(p);
    if (*chosen == NO_ROW) return CAROM_OK;
    for (int i = 0; i < p->n; i++) {
        if (!p->tied[i] || p->basic[*chosen] == 2 * p->n) continue;
        if (!p->tied[*chosen] || p->basic[i] == 2 * p->n || precedes(p, i, *chosen)) *chosen = i;
    }
    const double *best = functional(p, *chosen), best_entry = tableau_row(p, *chosen)[p->entering];
    carom_status status = CAROM_OK;
    for (int i = 0; i < p->n && !status; i++) {
        if (!p->open[i] || i == *chosen) continue;
        const double ratio = tableau_row(p, i)[p->entering] / best_entry;
        for (int j = 0; j < p->inputs; j++) p->row[j] = functional(p, i)[j] - ratio * best[j];
        const double scale = round_off_scale(p, i, p->most) + fabs(ratio) * round_off_scale(p, *chosen, p->most);
        status = require(p, p->tied[i], CAROM_LEMKE_TIE_TOLERANCE, scale, error);
    }
    return status;
}

static carom_status follow(pursuit *p, const double *x, bool *ended, carom_error *error) {
    int chosen;
    start(p, x);
    p->entering = 2 * p->n;
    *ended = false;
    carom_status status = first_choice(p, &chosen, error);
    for (int k = 0; !status && chosen != NO_ROW && k < CAROM_LEMKE_PIVOTS_PER_ROW * p->n; k++) {
        const int left = pivot(p, chosen, x);
        *ended = left == 2 * p->n;
        if (*ended) return CAROM_OK;
        p->entering = left < p->n ? left + p->n : left - p->n;
        status = next_choice(p, &chosen, error);
    }
    return status;
}

static bool has_basis(const pursuit *p, const bool *basic) {
    int members = 0, common = 0, own = 0;
    for (int i = 0; i < p->n; i++) {
        members += basic[i];
        own += p->basic[i] >= p->n;
        common += p->basic[i] >= p->n && basic[p->basic[i] - p->n];
    }
    return members == common && own == common;
}

carom_status carom_cone_follow_lemke(const carom_cone_builder *builder, const double *x, const bool *basic, carom_cone_rows *rows,
                                     bool *same, carom_error *error) {
    const size_t n = (size_t)builder->size, inputs = (size_t)builder->inputs, columns = 2 * n + 1 + inputs;
    pursuit p = {.builder = builder, .rows = rows, .n = builder->size, .inputs = builder->inputs, .columns = (int)columns};
    double *arena = calloc(n * columns + 3 * n + inputs, sizeof *arena);
    p.basic = malloc(n * sizeof *p.basic);
    p.open = malloc(2 * n * sizeof *p.open);
    *same = false;
    carom_status status = CAROM_OK;
    if (arena && p.basic && p.open) {
        p.T = arena;
        p.rhs = arena + n * columns;
        p.w = p.rhs + n;
        p.most = p.w + n;
        p.row = p.most + n;
        p.tied = p.open + n;
        status = follow(&p, x, same, error);
        *same = *same && has_basis(&p, basic);
    } else {
        status = carom_fail_memory(error, "cone map");
    }
    free(arena);
    free(p.basic);
    free(p.open);
    return status;
}
