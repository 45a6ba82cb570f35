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

/// The options with the sampler that they come to: restitution is walked.
carom_sample_options carom_sample_serve(const carom_sample_options *options);

/// The members of a search that names none: inelastic walks.
carom_status carom_usual_members(carom_member_source *source, carom_error *error);

/// @return CAROM_BAD_INPUT for a count, a seed or a choice out of range
carom_status carom_sample_check(const carom_sample_options *options, carom_error *error);
/// One restitution of all contacts and uncertain coefficients of restitution exclude each other.
carom_status carom_reach_check_restitution(const carom_rebound_options *rebound, const carom_uncertainty *uncertainty, carom_error *error);

#endif
