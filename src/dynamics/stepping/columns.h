// SPDX-License-Identifier: Apache-2.0
/// @file
/// Columns of the tables of `stepping`, which its row and its records share.
#ifndef CAROM_DYNAMICS_STEPPING_COLUMNS_H
#define CAROM_DYNAMICS_STEPPING_COLUMNS_H

#include "dynamics/stepping/stepping.h"

enum {
    STATE_TIME,
    STATE_POSITION,
    STATE_VELOCITY,
    STATE_CONTACTS,
    STATE_FORCES,
    STATE_KINETIC,
    STATE_POTENTIAL,
    STATE_ENERGY,
    STATE_ACTUATORS,
    STATE_RESISTANCE,
    STATE_FRICTION,
    STATE_CONTACT,
    STATE_IMPACT,
    STATE_COLUMNS
};

enum {
    IMPACT_TIME,
    IMPACT_CONTACTS,
    IMPACT_OUTCOME,
    IMPACT_OUTCOMES,
    IMPACT_APPROACH,
    IMPACT_NORMAL,
    IMPACT_POSITION,
    IMPACT_BEFORE,
    IMPACT_AFTER,
    IMPACT_COLUMNS
};

enum {
    SAVED_STEP,
    SAVED_COUNT,
    SAVED_POSITION,
    SAVED_VELOCITY,
    SAVED_CLOSED,
    SAVED_BASIS,
    SAVED_IMPULSE,
    SAVED_WORK,
    SAVED_EXTREMES,
    SAVED_COUNTERS,
    SAVED_COLUMNS
};

extern const carom_column stepping_saved_columns[SAVED_COLUMNS];

/// Fields of a record of STATE_FORCES.
enum { FORCE_NORMAL, FORCE_GAP, FORCE_X, FORCE_POINT = FORCE_X + 3, FORCE_FIELDS = FORCE_POINT + 3 };

#endif
