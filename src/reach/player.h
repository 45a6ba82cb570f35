// SPDX-License-Identifier: Apache-2.0
/// @file
/// Plays tapes, each on the impact that it is for: where some numbers of the impact are uncertain, a tape begins with a point of them.
/// Not installed.
#ifndef CAROM_REACH_PLAYER_H
#define CAROM_REACH_PLAYER_H

#include "carom/reach.h"

typedef struct carom_player {
    const carom_impact *impact;  ///< of the last walk
    const carom_uncertainty *uncertainty;
    const carom_walker_options *options;
    const carom_control *control;
    bool records;         ///< walks record their paths
    carom_impact *drawn;  ///< NULL where nothing is uncertain
    carom_walker *walker;
    carom_tape start;                ///< the point of the last walk
    double *point, *asked, *values;  ///< [dimension], [dimension], [count]
    double *v, *u, *impulse;         ///< [nv], [n], [n] where the last walk ended
    carom_sample_counts counts;
    carom_arena arena;
} carom_player;

/// @param uncertainty  may be NULL
carom_status carom_player_create(const carom_impact *impact, const carom_uncertainty *uncertainty, const carom_walker_options *options,
                                 const carom_control *control, carom_player *player, carom_error *error);
void carom_player_release(carom_player *player);

/// carom_walker_play on the impact of the tape's point; numbers of the point that it lacks are those of draw `index`.
/// @return CAROM_BAD_INPUT where there is no impact at this point
carom_status carom_player_play(carom_player *player, const carom_tape *played, int64_t seed, int64_t index, carom_tape *recorded,
                               carom_verdict *verdict, carom_error *error);

#endif
