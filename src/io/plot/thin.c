// SPDX-License-Identifier: Apache-2.0
// Long lines with no more points than a picture can show.
//
// Of points in a row that lie in one column of pixels, the first, the lowest, the highest and the last draw the same line as all of them
// (Jugel et al. 2014, "M4: a visualization-oriented time series data aggregation").
#include "io/plot/thin.h"

#include <math.h>

// Columns that a picture is divided into: two for each of its pixels, so that nobody sees the difference.
enum { COLUMNS = 2400 };
// Lines with fewer points are drawn as they are.
enum { SHORT_LINE = 4 * COLUMNS };

static bool is_visible(const carom_plot_series *line, int64_t i) { return isfinite(line->x[i]) && isfinite(line->y[i]); }

// The column of a point; -1 for a gap.
static double column_of(const carom_plot_series *line, int64_t i, double least, double width) {
    return is_visible(line, i) ? floor((line->x[i] - least) / width) : -1;
}

// Keeps four points of a run from `first` to `last`, in their order.
static int keep_run(const carom_plot_series *line, int64_t first, int64_t last, int64_t kept[CAROM_PLOT_KEPT]) {
    int64_t lowest = first, highest = first;
    int count = 0;
    for (int64_t i = first; i <= last; i++) {
        if (line->y[i] < line->y[lowest]) lowest = i;
        if (line->y[i] > line->y[highest]) highest = i;
    }
    const int64_t wanted[] = {first, lowest < highest ? lowest : highest, lowest < highest ? highest : lowest, last};
    for (int i = 0; i < CAROM_PLOT_KEPT; i++)
        if (!count || wanted[i] > kept[count - 1]) kept[count++] = wanted[i];
    return count;
}

int64_t carom_plot_take_run(const carom_plot_series *line, int64_t first, double least, double most, int64_t kept[CAROM_PLOT_KEPT],
                            int *count) {
    const double width = (most - least) / COLUMNS;
    int64_t next = first + 1;
    if (line->count > SHORT_LINE && width > 0) {
        const double column = column_of(line, first, least, width);
        while (next < line->count && column_of(line, next, least, width) == column) next++;
    }
    // A gap is one, however long.
    *count = keep_run(line, first, is_visible(line, first) ? next - 1 : first, kept);
    return next;
}
