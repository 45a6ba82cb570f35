// SPDX-License-Identifier: Apache-2.0
// What the study of convergence needs of `rodrigues`: the most exact run that there is, and errors of all bodies at the end.
#include <math.h>
#include <string.h>

#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"

enum { POSITION, VELOCITY, ATTITUDE, ANGULAR_VELOCITY, ENERGY, NORM, ERRORS };

static const carom_column columns[ERRORS] = {
    [POSITION] = {"position", CAROM_COLUMN_REAL, 1, "m", "|x - x_ref| over all bodies, at the end", NULL},
    [VELOCITY] = {"velocity", CAROM_COLUMN_REAL, 1, "m/s", "|v - v_ref|", NULL},
    [ATTITUDE] = {"attitude", CAROM_COLUMN_REAL, 1, "rad", "angles of R_ref' R, root of the sum of squares", NULL},
    [ANGULAR_VELOCITY] = {"angular_velocity", CAROM_COLUMN_REAL, 1, "rad/s", "|Omega - Omega_ref|", NULL},
    [ENERGY] = {"energy_measure", CAROM_COLUMN_REAL, 1, "", "L2 norm in time of the energy error over |E0| sqrt(T)", NULL},
    [NORM] = {"norm_measure", CAROM_COLUMN_REAL, 1, "",
              "sqrt(| |q|^2 - |q_ref|^2 |) / |q_ref| of trajectories (Baker & Gonzalez, eq. 37): the difference of two norms, not "
              "the norm of a difference, under a root",
              NULL},
};

static const char *const labels[ERRORS] = {
    [POSITION] = "position [m]",           [VELOCITY] = "velocity [m/s]",
    [ATTITUDE] = "attitude [rad]",         [ANGULAR_VELOCITY] = "angular velocity [rad/s]",
    [ENERGY] = "energy, in time (eq. 38)", [NORM] = "difference of norms (eq. 37)",
};

static carom_status prepare(const carom_motion *motion, bool reference, void *options, carom_error *error) {
    const carom_integrator *one = &carom_integrator_rodrigues;
    carom_status status = carom_motion_set(one, options, "norms", "on", error);
    if (status || !reference) return status;
    char map[32];
    carom_option_print(&one->options[carom_option_find(one->options, one->option_count, "map")], options, map, sizeof map);
    if (!strcmp(map, "first-order")) status = carom_motion_set(one, options, "map", "tan", error);
    // Steps can be composed to fourth order where no impacts forbid it.
    const bool smooth = motion->bodies->walls == 0 && !motion->bodies->collisions;
    return status || !smooth ? status : carom_motion_set(one, options, "order", "4", error);
}

// Root of the sum of squares of the differences of a series at the end of two runs; attitudes differ by angles.
static double difference(const carom_motion_answer *one, const carom_motion_answer *reference, const char *name) {
    int count;
    const int column = carom_table_find(one->final, name), width = carom_table_column(one->final, column)->width;
    const double *a = carom_table_series(one->final, column, 0, &count), *b = carom_table_series(reference->final, column, 0, &count);
    double sum = 0;
    for (int i = 0; i < count && width == 4; i += 4) {
        double turn[4];
        carom_quaternion_difference(a + i, b + i, turn);
        sum += carom_quaternion_angle(turn) * carom_quaternion_angle(turn);
    }
    for (int i = 0; i < count && width != 4; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static void measure(const carom_motion_answer *one, const carom_motion_answer *reference, double *errors) {
    errors[POSITION] = difference(one, reference, "position");
    errors[VELOCITY] = difference(one, reference, "velocity");
    errors[ATTITUDE] = difference(one, reference, "attitude");
    errors[ANGULAR_VELOCITY] = difference(one, reference, "angular_velocity");
    errors[ENERGY] = *carom_motion_column(one->result, "energy_measure");
    const double norm = *carom_motion_column(reference->result, "trajectory_norm_squared");
    errors[NORM] = sqrt(fabs(*carom_motion_column(one->result, "trajectory_norm_squared") - norm) / norm);
}

const carom_convergence_hooks rodrigues_convergence = {columns, labels, ERRORS, prepare, measure};
