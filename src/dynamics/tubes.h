// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tubes and ends of the members of an ensemble while they are collected.
#ifndef CAROM_DYNAMICS_TUBES_H
#define CAROM_DYNAMICS_TUBES_H

#include "dynamics/dynamics_internal.h"

typedef struct carom_tubes {
    const carom_mechanism *mechanism;
    int64_t members;
    size_t times;    // most that a member has recorded
    double *time;    // [times]
    double *values;  // [first[members] x nq] recorded positions of all members
    size_t *first;   // [members + 1] where those of each start
    char **end;      // [end_count] what is closed at the end of the complete members
    int64_t end_count;
    carom_table *tubes, *ends;  // the answer
} carom_tubes;

carom_status carom_tubes_create(const carom_motion *motion, carom_tubes *tubes, carom_error *error);
void carom_tubes_free(carom_tubes *tubes);
/// Takes a member in.
carom_status carom_tubes_add(carom_tubes *tubes, const carom_motion_answer *answer, carom_error *error);
/// Fills the tables.
carom_status carom_tubes_conclude(carom_tubes *tubes, carom_error *error);

#endif
