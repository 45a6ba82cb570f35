// SPDX-License-Identifier: Apache-2.0
// Scaled factors of small linear systems, and solutions that are refined by them.
#include "step/scaled_system.h"

#include <math.h>
#include <string.h>

#include "carom/dense.h"

// A pivot below this share of the largest one makes a system singular.
#define SINGULAR_PIVOT 1e-11

enum { REFINEMENTS = 2 };

void carom_scaled_system_take(carom_arena *arena, size_t most, carom_scaled_system *system) {
    *system = (carom_scaled_system){.matrix = carom_arena_take(arena, most * most, sizeof(double)),
                                    .factors = carom_arena_take(arena, most * most, sizeof(double)),
                                    .row_scale = carom_arena_take(arena, most, sizeof(double)),
                                    .column_scale = carom_arena_take(arena, most, sizeof(double)),
                                    .rest = carom_arena_take(arena, most, sizeof(double)),
                                    .exchanges = carom_arena_take(arena, most, sizeof(int))};
}

static double reciprocal(double size) { return size > 0 ? 1 / size : 1; }

bool carom_scaled_system_factor(carom_scaled_system *system) {
    const int n = system->n;
    for (int i = 0; i < n; i++) system->row_scale[i] = reciprocal(carom_max_abs((size_t)n, system->matrix + i * n));
    for (int j = 0; j < n; j++) {
        double largest = 0;
        for (int i = 0; i < n; i++) largest = fmax(largest, fabs(system->row_scale[i] * system->matrix[i * n + j]));
        system->column_scale[j] = reciprocal(largest);
        for (int i = 0; i < n; i++) system->factors[i * n + j] = system->row_scale[i] * system->matrix[i * n + j] * system->column_scale[j];
    }
    if (!carom_lu_factor(n, system->factors, system->exchanges)) return false;
    double least = INFINITY, largest = 0;
    for (int i = 0; i < n; i++) {
        least = fmin(least, fabs(system->factors[i * n + i]));
        largest = fmax(largest, fabs(system->factors[i * n + i]));
    }
    // A system without unknowns is regular.
    return least > SINGULAR_PIVOT * largest;
}

void carom_scaled_system_solve(const carom_scaled_system *system, const double *right_side, double *x) {
    const int n = system->n;
    memset(x, 0, (size_t)n * sizeof *x);
    for (int sweep = 0; sweep <= REFINEMENTS; sweep++) {
        // Cancellation is what refinement lives on.
        bool done = true;
        for (int i = 0; i < n; i++) {
            system->rest[i] = -carom_dot_rest(n, system->matrix + i * n, x, right_side[i]) * system->row_scale[i];
            done = done && system->rest[i] == 0;
        }
        // Many right-hand sides are zero.
        if (done) break;
        carom_lu_solve(n, system->factors, system->exchanges, system->rest);
        for (int j = 0; j < n; j++) x[j] += system->column_scale[j] * system->rest[j];
    }
}
