// SPDX-License-Identifier: Apache-2.0
/// @file
/// How the caps of sampled steps are drawn.
#ifndef CAROM_REACH_INTERNAL_H
#define CAROM_REACH_INTERNAL_H

#include "carom/reach.h"

/// What a draw remembers from one step of a sample to the next.
typedef struct carom_draw_state {
    carom_stream stream;
    double *direction;  ///< [contacts], shares of h in [0,1]; the largest is at most 1
    bool has_direction;
} carom_draw_state;

/// Draws the caps of one step, each in [0, h].
typedef void (*carom_draw_caps)(carom_draw_state *state, int contacts, double h, double *lmax);

carom_draw_caps carom_draw_function(carom_draw draw);

#endif
