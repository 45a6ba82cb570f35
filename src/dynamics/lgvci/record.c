// SPDX-License-Identifier: Apache-2.0
// What `lgvci` reports: the columns of states and impacts, and their rows.
#include <string.h>

#include "carom/rotation.h"
#include "dynamics/lgvci/lgvci.h"

enum { STATE_TOUCHING = LGVCI_STATE_COLUMNS - 1 };

const carom_column lgvci_state_columns[LGVCI_STATE_COLUMNS] = {
    {"time", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    {"position", CAROM_COLUMN_REAL, 3, "m", "center of mass", NULL},
    {"attitude", CAROM_COLUMN_SQUARE, 9, "", "rotation matrix from body to inertial frame, by rows", NULL},
    {"quaternion", CAROM_COLUMN_REAL, 4, "", "the attitude as a unit quaternion w, x, y, z", NULL},
    {"momentum", CAROM_COLUMN_REAL, 3, "N s", "linear momentum, inertial frame", NULL},
    {"angular_momentum", CAROM_COLUMN_REAL, 3, "N m s", "about the center of mass, body frame", NULL},
    {"translational_energy", CAROM_COLUMN_REAL, 1, "J", "kinetic energy of the center of mass", NULL},
    {"rotational_energy", CAROM_COLUMN_REAL, 1, "J", "kinetic energy of rotation", NULL},
    {"potential_energy", CAROM_COLUMN_REAL, 1, "J", "m g x3", NULL},
    {"energy", CAROM_COLUMN_REAL, 1, "J", "sum of the three", NULL},
    {"gap", CAROM_COLUMN_REAL, 1, "m", "distance from the plane", NULL},
    [STATE_TOUCHING] = {"touching", CAROM_COLUMN_INTEGER, 1, "", "points in sustained contact; 0 in flight", NULL},
};

void lgvci_fill_state(const lgvci *run, const carom_body_state *state, double time, carom_table *table) {
    double terms[3], q[4];
    const double energy = lgvci_energy(run, state, terms), gap = lgvci_gap(run, state);
    carom_rotation_quaternion(state->attitude, q);
    // In the order of the columns.
    const double *const values[STATE_TOUCHING] = {
        &time,     state->position, state->attitude, q,   state->momentum, state->angular_momentum, &terms[0],
        &terms[1], &terms[2],       &energy,         &gap};
    *carom_table_integers(table, STATE_TOUCHING) = run->touching;
    for (int c = 0; c < STATE_TOUCHING; c++)
        memcpy(carom_table_reals(table, c), values[c], (size_t)lgvci_state_columns[c].width * sizeof(double));
}

// The columns that hold integers.
enum { IMPACT_STEP = 1, IMPACT_TOUCHING = 3 };

const carom_column lgvci_impact_columns[LGVCI_IMPACT_COLUMNS] = {
    {"time", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    [IMPACT_STEP] = {"step", CAROM_COLUMN_INTEGER, 1, "", "grid step in which it happens, from 1; 0 at the start", NULL},
    {"normal_impulse", CAROM_COLUMN_REAL, 1, "N s", "sum over the points that touch", NULL},
    [IMPACT_TOUCHING] = {"touching", CAROM_COLUMN_INTEGER, 1, "",
                         "points that touch; the outcome of several at once is not the limit of nearly simultaneous ones", NULL},
    {"position", CAROM_COLUMN_REAL, 3, "m", "center of mass", NULL},
    {"attitude", CAROM_COLUMN_SQUARE, 9, "", "rotation matrix from body to inertial frame, by rows", NULL},
    {"momentum_before", CAROM_COLUMN_REAL, 3, "N s", "linear momentum, inertial frame", NULL},
    {"momentum_after", CAROM_COLUMN_REAL, 3, "N s", "linear momentum, inertial frame", NULL},
    {"angular_momentum_before", CAROM_COLUMN_REAL, 3, "N m s", "about the center of mass, body frame", NULL},
    {"angular_momentum_after", CAROM_COLUMN_REAL, 3, "N m s", "about the center of mass, body frame", NULL},
    {"contact_point", CAROM_COLUMN_REAL, 3, "m", "the first point that touches, body frame", NULL},
    {"gap", CAROM_COLUMN_REAL, 1, "m", "distance from the plane, zero but for rounding", NULL},
    {"energy_change", CAROM_COLUMN_REAL, 1, "J", "energy after minus before", NULL},
};

carom_status lgvci_record_impact(const lgvci *run, const lgvci_impact *impact, carom_table *table, carom_error *error) {
    const carom_body_state *before = impact->before, *after = impact->after;
    const carom_status status = carom_table_add_row(table, error);
    if (status) return status;
    double terms[3], jump[3];
    for (int i = 0; i < 3; i++) jump[i] = after->momentum[i] - before->momentum[i];
    // Tangential impulses have no component along the normal.
    const double impulse = carom_dot3(jump, run->normal), gap = lgvci_gap(run, before);
    const double change = lgvci_energy(run, after, terms) - lgvci_energy(run, before, terms);
    // In the order of the columns; NULL for integers.
    const double *const values[LGVCI_IMPACT_COLUMNS] = {&impact->time,
                                                        NULL,
                                                        &impulse,
                                                        NULL,
                                                        before->position,
                                                        before->attitude,
                                                        before->momentum,
                                                        after->momentum,
                                                        before->angular_momentum,
                                                        after->angular_momentum,
                                                        impact->contacts[0].rho,
                                                        &gap,
                                                        &change};
    for (int c = 0; c < LGVCI_IMPACT_COLUMNS; c++)
        if (values[c]) memcpy(carom_table_reals(table, c), values[c], (size_t)lgvci_impact_columns[c].width * sizeof(double));
    *carom_table_integers(table, IMPACT_STEP) = impact->step;
    *carom_table_integers(table, IMPACT_TOUCHING) = impact->touching;
    return CAROM_OK;
}
