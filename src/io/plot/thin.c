// SPDX-License-Identifier: Apache-2.0
// Long lines with no more points than a picture can show.
//
// Of points in a row that lie in one column of pixels, the first, the lowest, the highest and the last draw the same line as all of them
// (Jugel et al. 2014, "M4: a visualization-oriented time series data aggregation").
#include "io/plot/thin.h"

#include <math.h>

// Columns that a picture is divided into: two for each of its pixels, so that the difference cannot be seen.
enum { COLUMNS = 2400 };
// Lines with fewer points are drawn as they are.
enum { SHORT_LINE = 4 * COLUMNS };

static bool is_visible(const carom_plot_series *line, int64_t i) { return isfinite(line->x[i]) && isfinite(line->y[i]); }

// The column of a point; -1 for a gap.
static double column_of(const carom_plot_series *line, int64_t i, double least, double width) {
    return is_visible(line, i) ? floor((line->x[i] - least) / width) : -1;
}

int64_t carom_plot_take_run(const carom_plot_series *line, int64_t first, double least, double most, int64_t kept[CAROM_PLOT_KEPT],
                            int *count) {
    // The run: the points of a long line that follow in the same column.
    const double width = (most - least) / COLUMNS;
    int64_t next = first + 1;
    if (line->count > SHORT_LINE && width > 0) {
        const double column = column_of(line, first, least, width);
        while (next < line->count && column_of(line, next, least, width) == column) next++;
    }
    // Four points of the run in their order, without repetitions. A gap is one point, however long.
    const int64_t last = is_visible(line, first) ? next - 1 : first;
    int64_t lowest = first, highest = first;
    for (int64_t i = first; i <= last; i++) {
        if (line->y[i] < line->y[lowest]) lowest = i;
        if (line->y[i] > line->y[highest]) highest = i;
    }
    const int64_t wanted[] = {first, lowest < highest ? lowest : highest, lowest < highest ? highest : lowest, last};
    *count = 0;
    for (int i = 0; i < CAROM_PLOT_KEPT; i++)
        if (!*count || wanted[i] > kept[*count - 1]) kept[(*count)++] = wanted[i];
    return next;
}
