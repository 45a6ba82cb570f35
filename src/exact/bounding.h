// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ways of proving a bound. Not installed.
#ifndef CAROM_EXACT_BOUNDING_H
#define CAROM_EXACT_BOUNDING_H

#include "carom/bound.h"

/// The least upper bound that the energy, the cone of impulses and the end of the impact give together, as far as a few linear
/// complementarity problems find it: any of their answers proves a bound, once it is checked.
carom_status bound_by_energy(const carom_impact *impact, const carom_functional *functional, const carom_bound_options *options,
                             double *upper, carom_error *error);

/// How long to go on.
typedef struct bound_effort {
    double deadline;               ///< on the monotonic clock [s]; infinite for none
    const carom_control *control;  ///< may be NULL
} bound_effort;

/// Is the time over, or was the caller asked to stop?
bool bound_effort_spent(const bound_effort *effort);

/// Lowers the bound by a value function where the impact has a fan; otherwise leaves it, and says why in `reason`.
/// @param known   a value that a member of the set has
carom_status bound_by_fan(const carom_impact *impact, const carom_functional *functional, const carom_bound_options *options, double known,
                          const bound_effort *effort, carom_bound *bound, carom_error *error);

#endif
