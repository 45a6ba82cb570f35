// SPDX-License-Identifier: Apache-2.0
// Axes for pictures of outcomes where nobody asks for others.
#include <math.h>

#include "carom/plot.h"

// Outcomes that differ by less, relative to the fastest contact, differ by rounding only.
#define NO_EXTENT 1e-9

// 0 where there are no outcomes, whose range is empty.
static double extent_of(const double range[2]) { return range[1] > range[0] ? range[1] - range[0] : 0; }

// The best axis other than `except`: one with extent before one without, normal before tangential, and of two with extent the wider one.
static int best_axis(int contacts, int count, const double *ranges, double scale, int except) {
    int best = -1, leading = -1;
    for (int i = 0; i < count; i++) {
        if (i == except) continue;
        const double extent = extent_of(ranges + 2 * i);
        const bool extended = extent > NO_EXTENT * scale;
        const int rank = 2 * extended + (i < contacts);
        if (rank < leading || (rank == leading && !(extended && extent > extent_of(ranges + 2 * best)))) continue;
        best = i;
        leading = rank;
    }
    return best;
}

void carom_plot_choose_axes(int contacts, int count, const double *ranges, int chosen[2]) {
    // The fastest of all outcomes.
    double scale = 0;
    for (int i = 0; i < count; i++) {
        const double *range = ranges + 2 * i;
        if (range[0] <= range[1]) scale = fmax(scale, fmax(fabs(range[0]), fabs(range[1])));
    }
    const int first = best_axis(contacts, count, ranges, scale, -1), second = best_axis(contacts, count, ranges, scale, first);
    chosen[0] = first < second ? first : second;
    chosen[1] = first < second ? second : first;
}
