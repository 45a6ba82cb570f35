// SPDX-License-Identifier: Apache-2.0
// The part of the plane that a picture shows, and what of very many points is drawn in it.
#include <math.h>
#include <stdlib.h>

#include "carom/plot.h"

// A mark so far from the sets, in extents of them, is beyond the edge of a picture that is fitted to them.
#define FAR 0.5
// Extents below this share of the numbers themselves are made by rounding.
#define ROUNDING 1e-9

static double extent_of(const double range[2]) { return range[1] > range[0] ? range[1] - range[0] : 0; }

static double largest_of(const double range[2]) { return fmax(fabs(range[0]), fabs(range[1])); }

static void widen(double range[2], double value) {
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}

// Adds a margin. A range without extent of its own gets one: gnuplot cannot draw an empty range, and rounding must not fill the picture.
static void pad(const double inner[2], const double other[2], double share, double padded[2]) {
    // A share of the extent; a quarter of the other one for a line; a tenth of the distance from zero for a point.
    double margin = share * extent_of(inner);
    if (extent_of(inner) <= ROUNDING * fmax(largest_of(inner), extent_of(other))) margin = 0.25 * extent_of(other);
    if (margin <= ROUNDING * largest_of(inner)) margin = 0.1 * fmax(largest_of(inner), largest_of(other));
    if (margin <= 0) margin = 1;
    padded[0] = inner[0] - margin;
    padded[1] = inner[1] + margin;
}

void carom_plot_fit(const carom_plot_window *sets, int64_t count, const double *x, const double *y, double margin,
                    carom_plot_window *shown) {
    carom_plot_window fitted = *sets;
    // Where there are no sets, or they are a point, all marks count.
    const double wide = extent_of(sets->x), high = extent_of(sets->y), longest = fmax(wide, high);
    const bool any = longest > ROUNDING * fmax(largest_of(sets->x), largest_of(sets->y)) && isfinite(longest);
    const double reach_x = FAR * (wide > ROUNDING * longest ? wide : high), reach_y = FAR * (high > ROUNDING * longest ? high : wide);
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) continue;
        if (any &&
            !(x[i] >= sets->x[0] - reach_x && x[i] <= sets->x[1] + reach_x && y[i] >= sets->y[0] - reach_y && y[i] <= sets->y[1] + reach_y))
            continue;
        widen(fitted.x, x[i]);
        widen(fitted.y, y[i]);
    }
    pad(fitted.x, fitted.y, margin, shown->x);
    pad(fitted.y, fitted.x, margin, shown->y);
}

// A cell with its first point, and how many points are in it.
typedef struct cell {
    int64_t point, count;
} cell;

// Fewer points first, so that the densest cells are drawn last; of as many the first.
static int compare_cells(const void *a, const void *b) {
    const cell *one = a, *two = b;
    if (one->count != two->count) return one->count < two->count ? -1 : 1;
    return (one->point > two->point) - (one->point < two->point);
}

carom_status carom_plot_shade(int64_t count, const double *x, const double *y, const carom_plot_window *shown, const int cells[2],
                              int64_t *points, int64_t *counts, int64_t *kept, carom_error *error) {
    *kept = 0;
    const size_t all = (size_t)cells[0] * (size_t)cells[1];
    cell *found = calloc(all + 1, sizeof *found);
    if (!found) return carom_fail_memory(error, "a picture");
    for (int64_t i = 0; i < count; i++) {
        const double across = cells[0] * (x[i] - shown->x[0]) / (shown->x[1] - shown->x[0]);
        const double up = cells[1] * (y[i] - shown->y[0]) / (shown->y[1] - shown->y[0]);
        if (!(across >= 0 && across < cells[0] && up >= 0 && up < cells[1])) continue;
        cell *at = &found[(size_t)up * (size_t)cells[0] + (size_t)across];
        if (!at->count++) at->point = i;
    }
    for (size_t k = 0; k < all; k++)
        if (found[k].count) found[(*kept)++] = found[k];
    qsort(found, (size_t)*kept, sizeof *found, compare_cells);
    for (int64_t k = 0; k < *kept; k++) {
        points[k] = found[k].point;
        counts[k] = found[k].count;
    }
    free(found);
    return CAROM_OK;
}

unsigned carom_plot_shade_colour(unsigned colour, int64_t count, int64_t most, bool dark) {
    const double share = most > 1 ? log((double)count) / log((double)most) : 1;
    const unsigned paper = dark ? CAROM_PLOT_DARK_PAPER : 0xffffff, ink = dark ? 0xffffff : 0x000000;
    return share < 0.5 ? carom_plot_mix(colour, paper, 0.65 * (1 - 2 * share)) : carom_plot_mix(colour, ink, 0.45 * (2 * share - 1));
}
