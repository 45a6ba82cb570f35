// SPDX-License-Identifier: Apache-2.0
// Convex quadratic programs over a box: the friction of resting contacts under given normal impulses.
#include "carom/box.h"

#include <math.h>
#include <stdlib.h>

#include "carom/dense.h"

// Slopes within this share of the terms they are a sum of have no sign, and neither have excesses over a bound.
#define ROUNDING 1e-13

// Pivots for each unknown; two or three in all are usual.
enum { PIVOTS_PER_UNKNOWN = 1000 };

// Where an unknown stands.
enum { AT_LOWER = -1, FREE = 0, AT_UPPER = 1 };

carom_status carom_box_create(int capacity, carom_box **box, carom_error *error) {
    *box = NULL;
    carom_box *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "quadratic program");
    const size_t n = (size_t)capacity;
    // A and its factor are the only square arrays.
    made->A = carom_arena_take(&made->arena, n * n, sizeof(double));
    made->factor = carom_arena_take(&made->arena, n * n, sizeof(double));
    made->b = carom_arena_take(&made->arena, n, sizeof(double));
    made->bound = carom_arena_take(&made->arena, n, sizeof(double));
    made->x = carom_arena_take(&made->arena, n, sizeof(double));
    made->slope = carom_arena_take(&made->arena, n, sizeof(double));
    made->side = carom_arena_take(&made->arena, n, sizeof(double));
    made->place = carom_arena_take(&made->arena, n, sizeof(int));
    made->free_ones = carom_arena_take(&made->arena, n, sizeof(int));
    if (made->arena.failed) {
        carom_box_free(made);
        return carom_fail_memory(error, "quadratic program");
    }
    *box = made;
    return CAROM_OK;
}

void carom_box_free(carom_box *box) {
    if (!box) return;
    carom_arena_free(&box->arena);
    free(box);
}

// x where it is at its bounds, and where it is free such that the slope vanishes there.
static CAROM_INLINE bool solve_free(carom_box *box, int size) {
    const size_t n = (size_t)size;
    int count = 0;
    for (int i = 0; i < size; i++) {
        box->x[i] = box->place[i] * box->bound[i];
        if (box->place[i] == FREE) box->free_ones[count++] = i;
    }
    // The equations of the free unknowns: A_ff x_f = -b_f - A_fb x_b.
    for (int a = 0; a < count; a++) {
        const size_t row = (size_t)box->free_ones[a];
        box->side[a] = -box->b[row] - carom_dot(size, box->A + row * n, box->x);
        for (int k = 0; k < count; k++) box->factor[a * count + k] = box->A[row * n + (size_t)box->free_ones[k]];
    }
    if (size > CAROM_FIXED_ORDER_SIZE ? carom_cholesky_factor(count, box->factor) : carom_cholesky_factor_in_order(count, box->factor))
        return false;
    carom_cholesky_forward(count, box->factor, box->side);
    carom_cholesky_backward(count, box->factor, box->side);
    for (int a = 0; a < count; a++) box->x[box->free_ones[a]] = box->side[a];
    return true;
}

static CAROM_INLINE bool solve(carom_box *box, int n) {
    for (int i = 0; i < n; i++) box->place[i] = FREE;
    for (int64_t pivots = 0; pivots <= (int64_t)PIVOTS_PER_UNKNOWN * n; pivots++) {
        if (!solve_free(box, n)) return false;
        // The first unknown that stands in the wrong place, by its own conditions alone, moves.
        bool moved = false;
        for (int i = 0; i < n && !moved; i++) {
            const int place = box->place[i];
            int better = place;
            if (place == FREE) {
                const double limit = box->bound[i] * (1 + ROUNDING);
                box->slope[i] = 0;
                better = box->x[i] > limit ? AT_UPPER : box->x[i] < -limit ? AT_LOWER : FREE;
            } else {
                // The slope A x + b, 0 within rounding: at the lower bound it must not be negative, at the upper one not positive.
                const double *row = box->A + (size_t)i * (size_t)n;
                double sum = box->b[i], magnitude = fabs(box->b[i]);
                for (int k = 0; k < n; k++) {
                    sum += row[k] * box->x[k];
                    magnitude += fabs(row[k] * box->x[k]);
                }
                box->slope[i] = fabs(sum) <= ROUNDING * magnitude ? 0 : sum;
                if (place * box->slope[i] > 0) better = FREE;
            }
            moved = better != place;
            box->place[i] = better;
        }
        if (!moved) return true;
    }
    return false;
}

// One or two unknowns are usual: their loops then have bounds that are constants.
bool carom_box_solve(carom_box *box) { return box->size == 1 ? solve(box, 1) : box->size == 2 ? solve(box, 2) : solve(box, box->size); }
