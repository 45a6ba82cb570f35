// SPDX-License-Identifier: Apache-2.0
// Rank correlations and first-order indices by binning.
#include "carom/sensitivity.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_BINS = 2, MOST_BINS = 20 };

typedef struct ranked {
    double value;
    int64_t index;
} ranked;

static int compare(const void *a, const void *b) {
    const double x = ((const ranked *)a)->value, y = ((const ranked *)b)->value;
    return (x > y) - (x < y);
}

// The rank of each number from 0; equal ones share their mean rank. Returns how many different ones there are.
static int64_t rank(int64_t count, const double *values, ranked *order, double *ranks) {
    for (int64_t i = 0; i < count; i++) order[i] = (ranked){values[i], i};
    qsort(order, (size_t)count, sizeof *order, compare);
    int64_t different = 0;
    for (int64_t from = 0, to; from < count; from = to, different++) {
        for (to = from + 1; to < count && order[to].value == order[from].value;) to++;
        for (int64_t i = from; i < to; i++) ranks[order[i].index] = (double)(from + to - 1) / 2;
    }
    return different;
}

carom_status carom_sensitivity_measure(int64_t count, const double *x, const double *y, carom_sensitivity *sensitivity,
                                       carom_error *error) {
    *sensitivity = (carom_sensitivity){.rank_correlation = NAN, .first_order = NAN, .bias = NAN};
    const size_t size = (size_t)count;
    ranked *order = malloc(size * sizeof *order);
    double *ranks = malloc(2 * size * sizeof *ranks);
    if (!order || !ranks) {
        free(order);
        free(ranks);
        return carom_fail_memory(error, "sensitivity");
    }
    const int64_t different = rank(count, x, order, ranks);
    rank(count, y, order, ranks + count);

    // Correlation of the ranks, whose mean is (count - 1) / 2.
    double xx = 0, yy = 0, xy = 0, mean = 0;
    for (int64_t i = 0; i < count; i++) {
        const double a = ranks[i] - (double)(count - 1) / 2, b = ranks[count + i] - (double)(count - 1) / 2;
        xx += a * a;
        yy += b * b;
        xy += a * b;
        mean += y[i] / (double)count;
    }
    if (xx > 0 && yy > 0) sensitivity->rank_correlation = xy / (sqrt(xx) * sqrt(yy));

    // Variance of the means of bins over the whole variance. Equal x have one rank, and so one bin.
    int bins = (int)fmin(sqrt((double)different), MOST_BINS);
    if (bins < LEAST_BINS) bins = LEAST_BINS;
    double sums[MOST_BINS] = {0}, between = 0, whole = 0;
    int64_t members[MOST_BINS] = {0};
    for (int64_t i = 0; i < count; i++) {
        int bin = (int)((ranks[i] + 0.5) / (double)count * bins);
        if (bin >= bins) bin = bins - 1;
        sums[bin] += y[i] - mean;
        members[bin]++;
        whole += (y[i] - mean) * (y[i] - mean);
    }
    for (int k = 0; k < bins; k++)
        if (members[k]) between += sums[k] * sums[k] / (double)members[k];
    sensitivity->bins = bins;
    if (yy > 0 && whole > 0) sensitivity->first_order = between / whole;
    if (different > 1) sensitivity->bias = fmin((double)(bins - 1) / (double)(different - 1), 1);
    free(order);
    free(ranks);
    return CAROM_OK;
}
