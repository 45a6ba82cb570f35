// SPDX-License-Identifier: Apache-2.0
// What `lgvci` reports: the columns of states and impacts, and their rows.
#include <string.h>

#include "carom/rotation.h"
#include "dynamics/lgvci/lgvci.h"

enum {
    STATE_TIME,
    STATE_POSITION,
    STATE_ATTITUDE,
    STATE_QUATERNION,
    STATE_MOMENTUM,
    STATE_ANGULAR,
    STATE_TRANSLATIONAL,
    STATE_ROTATIONAL,
    STATE_POTENTIAL,
    STATE_ENERGY,
    STATE_GAP,
};

const carom_column lgvci_state_columns[LGVCI_STATE_COLUMNS] = {
    [STATE_TIME] = {"time", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    [STATE_POSITION] = {"position", CAROM_COLUMN_REAL, 3, "m", "center of mass", NULL},
    [STATE_ATTITUDE] = {"attitude", CAROM_COLUMN_SQUARE, 9, "", "rotation matrix from body to inertial frame, by rows", NULL},
    [STATE_QUATERNION] = {"quaternion", CAROM_COLUMN_REAL, 4, "", "the attitude as a unit quaternion w, x, y, z", NULL},
    [STATE_MOMENTUM] = {"momentum", CAROM_COLUMN_REAL, 3, "N s", "linear momentum, inertial frame", NULL},
    [STATE_ANGULAR] = {"angular_momentum", CAROM_COLUMN_REAL, 3, "N m s", "about the center of mass, body frame", NULL},
    [STATE_TRANSLATIONAL] = {"translational_energy", CAROM_COLUMN_REAL, 1, "J", "kinetic energy of the center of mass", NULL},
    [STATE_ROTATIONAL] = {"rotational_energy", CAROM_COLUMN_REAL, 1, "J", "kinetic energy of rotation", NULL},
    [STATE_POTENTIAL] = {"potential_energy", CAROM_COLUMN_REAL, 1, "J", "m g x3", NULL},
    [STATE_ENERGY] = {"energy", CAROM_COLUMN_REAL, 1, "J", "sum of the three", NULL},
    [STATE_GAP] = {"gap", CAROM_COLUMN_REAL, 1, "m", "distance from the plane", NULL},
};

enum {
    IMPACT_TIME,
    IMPACT_STEP,
    IMPACT_IMPULSE,
    IMPACT_CONTACTS,
    IMPACT_POSITION,
    IMPACT_ATTITUDE,
    IMPACT_MOMENTUM_BEFORE,
    IMPACT_MOMENTUM_AFTER,
    IMPACT_ANGULAR_BEFORE,
    IMPACT_ANGULAR_AFTER,
    IMPACT_POINT,
    IMPACT_GAP,
    IMPACT_ENERGY,
};

const carom_column lgvci_impact_columns[LGVCI_IMPACT_COLUMNS] = {
    [IMPACT_TIME] = {"time", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    [IMPACT_STEP] = {"step", CAROM_COLUMN_INTEGER, 1, "", "grid step in which it happens, from 1; 0 at the start", NULL},
    [IMPACT_IMPULSE] = {"normal_impulse", CAROM_COLUMN_REAL, 1, "N s", "sum over the points that touch", NULL},
    [IMPACT_CONTACTS] = {"touching", CAROM_COLUMN_INTEGER, 1, "",
                         "points that touch; the outcome of several at once is not the limit of "
                         "nearly simultaneous ones",
                         NULL},
    [IMPACT_POSITION] = {"position", CAROM_COLUMN_REAL, 3, "m", "center of mass", NULL},
    [IMPACT_ATTITUDE] = {"attitude", CAROM_COLUMN_SQUARE, 9, "", "rotation matrix from body to inertial frame, by rows", NULL},
    [IMPACT_MOMENTUM_BEFORE] = {"momentum_before", CAROM_COLUMN_REAL, 3, "N s", "linear momentum, inertial frame", NULL},
    [IMPACT_MOMENTUM_AFTER] = {"momentum_after", CAROM_COLUMN_REAL, 3, "N s", "linear momentum, inertial frame", NULL},
    [IMPACT_ANGULAR_BEFORE] = {"angular_momentum_before", CAROM_COLUMN_REAL, 3, "N m s", "about the center of mass, body frame", NULL},
    [IMPACT_ANGULAR_AFTER] = {"angular_momentum_after", CAROM_COLUMN_REAL, 3, "N m s", "about the center of mass, body frame", NULL},
    [IMPACT_POINT] = {"contact_point", CAROM_COLUMN_REAL, 3, "m", "the first point that touches, body frame", NULL},
    [IMPACT_GAP] = {"gap", CAROM_COLUMN_REAL, 1, "m", "distance from the plane, zero but for rounding", NULL},
    [IMPACT_ENERGY] = {"energy_change", CAROM_COLUMN_REAL, 1, "J", "energy after minus before", NULL},
};

void lgvci_fill_state(const lgvci *run, const carom_body_state *state, double time, carom_table *table) {
    double terms[3];
    *carom_table_reals(table, STATE_TIME) = time;
    memcpy(carom_table_reals(table, STATE_POSITION), state->position, sizeof state->position);
    memcpy(carom_table_reals(table, STATE_ATTITUDE), state->attitude, sizeof state->attitude);
    carom_rotation_quaternion(state->attitude, carom_table_reals(table, STATE_QUATERNION));
    memcpy(carom_table_reals(table, STATE_MOMENTUM), state->momentum, sizeof state->momentum);
    memcpy(carom_table_reals(table, STATE_ANGULAR), state->angular_momentum, sizeof state->angular_momentum);
    *carom_table_reals(table, STATE_ENERGY) = lgvci_energy(run, state, terms);
    *carom_table_reals(table, STATE_TRANSLATIONAL) = terms[0];
    *carom_table_reals(table, STATE_ROTATIONAL) = terms[1];
    *carom_table_reals(table, STATE_POTENTIAL) = terms[2];
    *carom_table_reals(table, STATE_GAP) = lgvci_gap(run, state);
}

carom_status lgvci_record_impact(const lgvci *run, const lgvci_impact *hit, carom_table *table, carom_error *error) {
    const carom_body_state *before = hit->before, *after = hit->after;
    const carom_status status = carom_table_add_row(table, error);
    if (status) return status;
    double terms[3], impulse[3];
    for (int i = 0; i < 3; i++) impulse[i] = after->momentum[i] - before->momentum[i];
    *carom_table_reals(table, IMPACT_TIME) = hit->time;
    *carom_table_integers(table, IMPACT_STEP) = hit->step;
    // Tangential impulses have no component along the normal.
    *carom_table_reals(table, IMPACT_IMPULSE) = carom_dot3(impulse, run->normal);
    *carom_table_integers(table, IMPACT_CONTACTS) = hit->touching;
    memcpy(carom_table_reals(table, IMPACT_POSITION), before->position, sizeof before->position);
    memcpy(carom_table_reals(table, IMPACT_ATTITUDE), before->attitude, sizeof before->attitude);
    memcpy(carom_table_reals(table, IMPACT_MOMENTUM_BEFORE), before->momentum, sizeof before->momentum);
    memcpy(carom_table_reals(table, IMPACT_MOMENTUM_AFTER), after->momentum, sizeof after->momentum);
    memcpy(carom_table_reals(table, IMPACT_ANGULAR_BEFORE), before->angular_momentum, sizeof before->angular_momentum);
    memcpy(carom_table_reals(table, IMPACT_ANGULAR_AFTER), after->angular_momentum, sizeof after->angular_momentum);
    memcpy(carom_table_reals(table, IMPACT_POINT), hit->contacts[0].rho, 3 * sizeof(double));
    *carom_table_reals(table, IMPACT_GAP) = lgvci_gap(run, before);
    *carom_table_reals(table, IMPACT_ENERGY) = lgvci_energy(run, after, terms) - lgvci_energy(run, before, terms);
    return CAROM_OK;
}
