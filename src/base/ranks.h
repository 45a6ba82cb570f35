// SPDX-License-Identifier: Apache-2.0
/// @file
/// What ranks agree on.
#ifndef CAROM_BASE_RANKS_H
#define CAROM_BASE_RANKS_H

#include "carom/base.h"

/// carom_ranks_agree, which also makes `*value` the least of all ranks.
carom_status carom_ranks_agree_least(carom_ranks *ranks, carom_status status, int64_t *value, carom_error *error);

#endif
