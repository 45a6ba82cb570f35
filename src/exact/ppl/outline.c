// SPDX-License-Identifier: Apache-2.0
// Questions about rational polyhedra, in doubles. A sum a.y + b of rounded numbers is off by at most ROUNDING of the sum of its terms'
// sizes: each term by 2^-49 of its own, the sum of at most 24 of them by 24 2^-53 of all.
#include "exact/ppl/outline.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDING 1e-13
// Numbers below the range of doubles become zero; no sum that counts is so small.
#define SMALLEST 1e-290
// A segment is said to leave a polytope only where it does so visibly, as shares of its length and of the sum of sizes.
#define VISIBLE_SHARE 1e-5
#define VISIBLE       1e-9

void exact_outline_free(exact_outline *outline) {
    free(outline->vertex);
    free(outline->row);
    free(outline->equality);
    *outline = (exact_outline){0};
}

// Room for one more group of `width` numbers.
static bool make_room(double **numbers, int count, int width, int *room) {
    if (count < *room) return true;
    const int wanted = 2 * *room + 8;
    double *grown = realloc(*numbers, (size_t)wanted * (size_t)width * sizeof *grown);
    if (!grown) return false;
    *numbers = grown;
    *room = wanted;
    return true;
}

bool exact_outline_add_vertex(exact_outline *outline, mpz_t *numerators, const mpz_t divisor) {
    const int d = outline->dimension;
    if (!make_room(&outline->vertex, outline->vertices, d, &outline->vertex_room)) return false;
    // Quotients of long numbers, by their leading bits and their exponents.
    long up, down;
    const double below = mpz_get_d_2exp(&down, divisor);
    int64_t bits = (int64_t)mpz_sizeinbase(divisor, 2);
    for (int k = 0; k < d; k++) {
        const double above = mpz_get_d_2exp(&up, numerators[k]);
        outline->vertex[outline->vertices * d + k] = ldexp(above / below, (int)(up - down));
        if ((int64_t)mpz_sizeinbase(numerators[k], 2) > bits) bits = (int64_t)mpz_sizeinbase(numerators[k], 2);
    }
    if (bits > outline->bits) outline->bits = bits;
    outline->vertices++;
    return true;
}

bool exact_outline_add_row(exact_outline *outline, mpz_t *row, bool equality) {
    const int width = outline->dimension + 1, before = outline->row_room;
    if (!make_room(&outline->row, outline->rows, width, &outline->row_room)) return false;
    if (outline->row_room > before) {
        bool *grown = realloc(outline->equality, (size_t)outline->row_room * sizeof *grown);
        if (!grown) return false;
        outline->equality = grown;
    }
    // Divided by the power of two above the largest.
    long exponent, most = 0;
    bool any = false;
    for (int k = 0; k < width; k++) {
        if (!mpz_sgn(row[k])) continue;
        mpz_get_d_2exp(&exponent, row[k]);
        if (!any || exponent > most) most = exponent;
        any = true;
    }
    for (int k = 0; k < width; k++) {
        const double leading = mpz_get_d_2exp(&exponent, row[k]);
        outline->row[outline->rows * width + k] = ldexp(leading, (int)(exponent - most));
    }
    outline->equality[outline->rows++] = equality;
    return true;
}

// a.y + b, with the sum of the sizes of its terms.
static double evaluate(const double *row, const double *y, int d, double *size) {
    double value = row[d];
    *size = fabs(row[d]);
    for (int k = 0; k < d; k++) {
        const double term = row[k] * y[k];
        value += term;
        *size += fabs(term);
    }
    return value;
}

bool exact_outline_lacks(const exact_outline *outline, const exact_outline *other) {
    const int d = outline->dimension;
    double size;
    for (int i = 0; i < outline->rows; i++)
        for (int k = 0; k < other->vertices; k++) {
            const double value = evaluate(outline->row + i * (d + 1), other->vertex + k * d, d, &size);
            const double least = -ROUNDING * size - SMALLEST;
            if (value < least || (outline->equality[i] && -value < least)) return true;
        }
    return false;
}

bool exact_outline_misses(const exact_outline *polytope, const exact_outline *other) {
    const int d = polytope->dimension;
    double size;
    for (int i = 0; i < other->rows && polytope->bounded; i++) {
        // All vertices below the plane, or above that of an equality.
        int below = 0, above = 0;
        for (int k = 0; k < polytope->vertices; k++) {
            const double value = evaluate(other->row + i * (d + 1), polytope->vertex + k * d, d, &size);
            below += value < -ROUNDING * size - SMALLEST;
            above += value > ROUNDING * size + SMALLEST;
        }
        if (below == polytope->vertices || (other->equality[i] && above == polytope->vertices)) return true;
    }
    return false;
}

// The share s of the segment from v, which is in the polytope, to w at which it leaves the polytope; 1 where it does not do so visibly.
static double leaving_share(const exact_outline *polytope, const double *v, const double *w) {
    const int d = polytope->dimension;
    double share = 1, start_size, end_size;
    for (int i = 0; i < polytope->rows; i++) {
        const double *row = polytope->row + i * (d + 1);
        const double start = evaluate(row, v, d, &start_size), end = evaluate(row, w, d, &end_size);
        const double visible = VISIBLE * fmax(start_size, end_size);
        if (polytope->equality[i] && fabs(end) > visible) return 0;
        if (!polytope->equality[i] && end < -visible) share = fmin(share, fmax(start, 0) / (fmax(start, 0) - end));
    }
    return share;
}

bool exact_outline_parts(const exact_outline *first, const exact_outline *second) {
    const int d = first->dimension;
    for (int i = 0; i < first->vertices; i++)
        for (int k = 0; k < second->vertices; k++) {
            const double *v = first->vertex + i * d, *w = second->vertex + k * d;
            if (leaving_share(first, v, w) + VISIBLE_SHARE < 1 - leaving_share(second, w, v)) return true;
        }
    return false;
}
