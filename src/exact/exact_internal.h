// SPDX-License-Identifier: Apache-2.0
/// @file
/// What exact sets and bounds share. Not installed.
#ifndef CAROM_EXACT_INTERNAL_H
#define CAROM_EXACT_INTERNAL_H

#include "carom/exact.h"

/// A start and intervals of friction as a program may have filled them; NULL for either.
carom_status exact_check_uncertain(const carom_impact_data *data, const carom_exact_start *start, const carom_interval *friction,
                                   carom_error *error);

#endif
