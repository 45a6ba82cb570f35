// SPDX-License-Identifier: Apache-2.0
/// @file
/// Event-exact random solutions of the impact inclusion for planar contacts: straight pieces between random points and sign changes,
/// without a step size. Shared by carom's own libraries, not installed.
#ifndef CAROM_REACH_WALK_H
#define CAROM_REACH_WALK_H

#include "carom/reach.h"

CAROM_API_BEGIN

/// Walks from the pre-impact velocity to the end of the impact. With its workspace; not to be shared between threads.
typedef struct carom_walker carom_walker;

/// @param max_steps  straight pieces of one walk, >= 1
/// @return CAROM_BAD_INPUT for spatial contacts, whose solutions are not piecewise straight
carom_status carom_walker_create(const carom_impact *impact, int64_t max_steps, carom_walker **walker, carom_error *error);
void carom_walker_free(carom_walker *walker);

/// One solution of dv/ds in D(v) (Halm & Posa, section 3), random by the stream (seed, index): on each straight piece the active contacts
/// share the normal impulse with random constant weights, and friction follows. Its end is a point of the set up to rounding.
/// @param v        [nv] receives the last velocity
/// @param impulse  [n] receives the accumulated impulse, contact-major
/// @param counts   `steps` are straight pieces; there are no residuals
/// @return CAROM_COMPLETE, CAROM_BUDGET_SPENT after max_steps, or CAROM_INTERRUPTED
carom_verdict carom_walker_run(carom_walker *walker, int64_t seed, int64_t index, double *v, double *impulse, carom_sample_counts *counts);

/// Runs from now on poll `control` before every piece. Borrowed; NULL: never.
void carom_walker_watch(carom_walker *walker, const carom_control *control);

/// Makes runs from now on record their contact velocities, or stop doing so.
carom_status carom_walker_record(carom_walker *walker, bool record, carom_error *error);
/// The trace of the last run, [rows x n] contact-major: before the impact, then after every piece. NULL with `*rows` 0 when not recorded.
const double *carom_walker_trace(const carom_walker *walker, int *rows);

CAROM_API_END

#endif
