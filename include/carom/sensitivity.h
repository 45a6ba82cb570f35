// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which of several uncertain parameters explains an outcome: statistics of pairs of numbers. In libcarom-sets.
#ifndef CAROM_SENSITIVITY_H
#define CAROM_SENSITIVITY_H

#include "carom/base.h"

CAROM_API_BEGIN

/// What one parameter says about a number.
typedef struct carom_sensitivity {
    /// Spearman's rank correlation, the correlation of the ranks, equal numbers sharing their mean rank: 1 where y grows with x. NaN where
    /// one of them is constant.
    double rank_correlation;
    /// First-order index Var(E[y | x]) / Var(y), by bins of equally many x: the share of the variance of y that x explains alone. NaN where
    /// y is constant.
    double first_order;
    int bins;  ///< that were used, 2 to 20: the square root of the number of different x
    /// What the index is on the average where x explains nothing: (bins - 1) / (different x - 1), at most.
    double bias;
} carom_sensitivity;

/// @param x, y  [count] finite numbers, count >= 1
/// Cost: two sorts.
carom_status carom_sensitivity_measure(int64_t count, const double *x, const double *y, carom_sensitivity *sensitivity, carom_error *error);

CAROM_API_END

#endif
