// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of the integrators share.
#ifndef CAROM_DYNAMICS_INTERNAL_H
#define CAROM_DYNAMICS_INTERNAL_H

#include "carom/dynamics.h"

/// The table's rows.
extern const carom_integrator carom_integrator_inclusion, carom_integrator_lgvci, carom_integrator_propagative, carom_integrator_rodrigues;

/// Sets the common result columns.
carom_status carom_motion_conclude(const carom_motion_call *call, carom_verdict verdict, int64_t steps, double time, double energy_error,
                                   carom_error *error);

/// Hands recorded states on and clears them; nothing where there are none, or no table of them.
carom_status carom_motion_flush(const carom_motion_call *call, carom_table *states, carom_error *error);

/// Grid steps of a run, whole ones.
/// @return CAROM_BAD_INPUT "step: ..." when they are too many to be counted, or none although there is time to be covered
carom_status carom_motion_count_steps(double duration, double step, int64_t *steps, carom_error *error);

/// Sets a number among an option struct's fields by the row's name, if there is such a row.
carom_status carom_motion_set_option(const carom_law *law, void *options, const char *name, double value, carom_error *error);

#endif
