// SPDX-License-Identifier: Apache-2.0
/// @file
/// The clock of budgets of time; shared by carom's own libraries, not installed.
#ifndef CAROM_CLOCK_H
#define CAROM_CLOCK_H

#include "carom/api.h"

CAROM_API_BEGIN

/// Seconds of the monotonic clock, since a moment that stays the same while the process runs. Thread-safe.
double carom_clock_seconds(void);

CAROM_API_END

#endif
