// SPDX-License-Identifier: Apache-2.0
/// @file
/// Plays tapes, each on the impact that it is for: where some numbers of the impact are uncertain, a tape begins with a point of them.
/// Not installed.
#ifndef CAROM_REACH_PLAYER_H
#define CAROM_REACH_PLAYER_H

#include "carom/worst.h"

typedef struct carom_player {
    const carom_impact *impact;  ///< of the last play
    const carom_uncertainty *uncertainty;
    const carom_member_source *source;
    const carom_control *control;
    bool records;         ///< members have their paths
    carom_impact *drawn;  ///< NULL where nothing is uncertain
    void *maker;
    carom_tape start;                ///< the point of the last play
    double *point, *asked, *values;  ///< [dimension], [dimension], [count]
    carom_members members;           ///< of the last play
    carom_arena arena;
} carom_player;

/// @param uncertainty  may be NULL
carom_status carom_player_create(const carom_impact *impact, const carom_uncertainty *uncertainty, const carom_member_source *source,
                                 bool records, const carom_control *control, carom_player *player, carom_error *error);
void carom_player_release(carom_player *player);

/// Plays from now on poll `control`; NULL: never.
void carom_player_watch(carom_player *player, const carom_control *control);

/// The members of a tape on the impact of its point; numbers of the point that it lacks are those of draw `index`.
/// @return CAROM_BAD_INPUT where there is no impact at this point
carom_status carom_player_play(carom_player *player, const carom_tape *played, int64_t seed, int64_t index, carom_tape *recorded,
                               carom_error *error);

/// The largest value of a functional among the members of the last play, the first one that has it; -INFINITY for none.
double carom_player_value(const carom_player *player, const carom_functional *functional, int64_t *member);

#endif
