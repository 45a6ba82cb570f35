// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of sampling share: how the caps of steps are drawn, and which options make sense.
#ifndef CAROM_REACH_INTERNAL_H
#define CAROM_REACH_INTERNAL_H

#include "carom/worst.h"

/// What a draw remembers from one step of a sample to the next.
typedef struct carom_draw_state {
    carom_stream stream;
    double *direction;  ///< [contacts], shares of h in [0,1]; the largest is at most 1
    bool has_direction;
} carom_draw_state;

/// Draws the caps of one step, each in [0, h].
typedef void (*carom_draw_caps)(carom_draw_state *state, int contacts, double h, double *lmax);

carom_draw_caps carom_draw_function(carom_draw draw);

/// The recorded path of a run: contact velocities before the impact and after every step, with the impulses so far. A struct of zeros is
/// empty.
typedef struct carom_trace {
    bool wanted;
    bool lost;            ///< there was no memory for a row
    int rows, capacity;   ///< a run begins with 0 rows
    double *u, *impulse;  ///< [capacity x n]; no impulses where none are given
} carom_trace;

/// Adds a row, whose velocities stand `stride` apart.
void carom_trace_append(carom_trace *trace, int n, const double *u, size_t stride, const double *impulse);
/// @return CAROM_OUT_OF_MEMORY where a row was lost
carom_status carom_trace_check(const carom_trace *trace, carom_error *error);
void carom_trace_release(carom_trace *trace);

/// The options with the sampler that they come to: restitution is walked.
carom_sample_options carom_sample_serve(const carom_sample_options *options);

/// The members of a search that names none: inelastic walks.
carom_status carom_usual_members(carom_member_source *source, carom_error *error);

/// The scale of the velocities u + W P under impulses P [n]: the largest velocity before the impact, or the largest |W_rc P_c| where these
/// terms cancel.
double carom_velocity_scale_of(const carom_impact *impact, const double *impulse);

/// @return CAROM_BAD_INPUT for a count, a seed or a choice out of range
carom_status carom_sample_check(const carom_sample_options *options, carom_error *error);
/// One restitution of all contacts and uncertain coefficients of restitution exclude each other.
carom_status carom_reach_check_restitution(const carom_rebound_options *rebound, const carom_uncertainty *uncertainty, carom_error *error);

#endif
