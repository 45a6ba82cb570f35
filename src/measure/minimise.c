// SPDX-License-Identifier: Apache-2.0
// The least value of a function of one or two numbers in a box, without derivatives: errors of laws have kinks.
#include <math.h>
#include <string.h>

#include "measure/measure_internal.h"

#define GOLDEN 0.6180339887498949  // (sqrt 5 - 1) / 2
enum { MOST_ROUNDS = 200, CORNERS = 3 };

static carom_status evaluate(const carom_fit_problem *problem, const double *x, double *value, carom_error *error) {
    const carom_status status = problem->evaluate(problem->user, x, value, error);
    if (isnan(*value)) *value = INFINITY;
    return status;
}

// Golden section between two places around the best one of the grid (Kiefer 1953).
static carom_status search_line(const carom_fit_problem *problem, double low, double high, double *x, double *value, carom_error *error) {
    double inner[2] = {high - GOLDEN * (high - low), low + GOLDEN * (high - low)}, values[2];
    carom_status status = evaluate(problem, &inner[0], &values[0], error);
    if (!status) status = evaluate(problem, &inner[1], &values[1], error);
    const double width = problem->tolerance * (problem->most[0] - problem->least[0]);
    while (!status && high - low > width) {
        // The worse place becomes the new end, the better one stays within.
        const int better = values[1] < values[0];
        if (better)
            low = inner[0];
        else
            high = inner[1];
        inner[!better] = inner[better];
        values[!better] = values[better];
        inner[better] = better ? low + GOLDEN * (high - low) : high - GOLDEN * (high - low);
        status = evaluate(problem, &inner[better], &values[better], error);
    }
    for (int i = 0; i < 2 && !status; i++) {
        if (values[i] >= *value) continue;
        *value = values[i];
        *x = inner[i];
    }
    return status;
}

// A place on the ray from `center` through `from`, `factor` beyond the center, within the box.
static void place(const carom_fit_problem *problem, const double *center, const double *from, double factor, double *x) {
    for (int k = 0; k < 2; k++) x[k] = fmin(fmax(center[k] + factor * (center[k] - from[k]), problem->least[k]), problem->most[k]);
}

// The simplex of Nelder & Mead (1965) with their coefficients, places outside of the box moved to its border.
static carom_status search_plane(const carom_fit_problem *problem, const double *size, double *x, double *value, carom_error *error) {
    double corner[CORNERS][2], values[CORNERS] = {*value};
    carom_status status = CAROM_OK;
    for (int i = 0; i < CORNERS && !status; i++) {
        memcpy(corner[i], x, sizeof corner[i]);
        if (!i) continue;
        // Into the box from its border.
        corner[i][i - 1] += x[i - 1] + size[i - 1] <= problem->most[i - 1] ? size[i - 1] : -size[i - 1];
        status = evaluate(problem, corner[i], &values[i], error);
    }
    for (int round = 0; round < MOST_ROUNDS && !status; round++) {
        // The best corner first, the worst one last.
        for (int i = 1; i < CORNERS; i++)
            for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
                const double held[3] = {values[k], corner[k][0], corner[k][1]};
                values[k] = values[k - 1];
                memcpy(corner[k], corner[k - 1], sizeof corner[k]);
                values[k - 1] = held[0];
                memcpy(corner[k - 1], held + 1, sizeof corner[k]);
            }
        double extent = 0;
        for (int i = 1; i < CORNERS; i++)
            for (int k = 0; k < 2; k++) extent = fmax(extent, fabs(corner[i][k] - corner[0][k]) / (problem->most[k] - problem->least[k]));
        if (extent <= problem->tolerance) break;
        // Reflect the worst corner, go farther where that is the best of all, less far where it stays the worst.
        const double center[2] = {0.5 * (corner[0][0] + corner[1][0]), 0.5 * (corner[0][1] + corner[1][1])};
        double tried[2], other[2], tried_value, other_value = INFINITY;
        place(problem, center, corner[2], 1, tried);
        status = evaluate(problem, tried, &tried_value, error);
        const bool best = tried_value < values[0], poor = !(tried_value < values[1]);
        if ((best || poor) && !status) {
            place(problem, center, corner[2], best ? 2 : tried_value < values[2] ? 0.5 : -0.5, other);
            status = evaluate(problem, other, &other_value, error);
        }
        const double *taken = other_value < tried_value ? other : tried;
        const double taken_value = fmin(tried_value, other_value);
        if (taken_value < values[2] && !(poor && !(other_value < values[2]))) {
            memcpy(corner[2], taken, sizeof corner[2]);
            values[2] = taken_value;
            continue;
        }
        // Nothing helps: shrink towards the best corner.
        for (int i = 1; i < CORNERS && !status; i++) {
            for (int k = 0; k < 2; k++) corner[i][k] = 0.5 * (corner[i][k] + corner[0][k]);
            status = evaluate(problem, corner[i], &values[i], error);
        }
    }
    if (!status && values[0] < *value) {
        *value = values[0];
        memcpy(x, corner[0], sizeof corner[0]);
    }
    return status;
}

carom_status carom_fit_minimise(const carom_fit_problem *problem, double *x, double *value, carom_error *error) {
    const int columns = problem->dimension == 2 ? problem->starts[1] : 1;
    int best[2] = {0, 0};
    carom_status status = CAROM_OK;
    *value = INFINITY;
    for (int i = 0; i < problem->starts[0] * columns && !status; i++) {
        const int at[2] = {i / columns, i % columns};
        const double tried[2] = {problem->start[0][at[0]], problem->dimension == 2 ? problem->start[1][at[1]] : 0};
        double tried_value;
        status = evaluate(problem, tried, &tried_value, error);
        if (status || tried_value >= *value) continue;
        *value = tried_value;
        memcpy(best, at, sizeof best);
    }
    // Half-way to the neighbours on the grid.
    double size[2] = {0};
    for (int k = 0; k < problem->dimension; k++) {
        const double *start = problem->start[k];
        const int i = best[k], last = problem->starts[k] - 1;
        x[k] = start[i];
        size[k] = 0.5 * (i < last ? start[i + 1] - start[i] : start[i] - start[i - 1]);
    }
    if (status || !isfinite(*value)) return status;
    if (problem->dimension == 2) return search_plane(problem, size, x, value, error);
    const int i = best[0], last = problem->starts[0] - 1;
    return search_line(problem, i ? problem->start[0][i - 1] : problem->least[0], i < last ? problem->start[0][i + 1] : problem->most[0], x,
                       value, error);
}
