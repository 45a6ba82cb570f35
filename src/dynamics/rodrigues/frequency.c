// SPDX-License-Identifier: Apache-2.0
// The stiffest vibration of the present state, which limits the step of an explicit method (h omega < 2, and well below where contacts open
// and close): power iteration with differences of forces.
#include <stdlib.h>
#include <string.h>

#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"

// Rounds after which the Rayleigh quotient of a chain's crowded upper spectrum is about 1 % low.
enum { ROUNDS = 50 };
// Displacement of a difference, relative to the largest radius, and as an angle: the cube root of the rounding unit, about.
#define DIFFERENCE 1e-5

// Direction z [n x 6] with |z| at most 1, and what the forces change by along it.
typedef struct power_iteration {
    rodrigues *run;
    double length;
    double *z, *change;
} power_iteration;

static bool forces_at(power_iteration *power, double displacement, double *force, double *torque) {
    rodrigues *run = power->run;
    const rodrigues_state *state = &run->next;
    for (int64_t i = 0; i < run->bodies; i++) {
        const double *z = power->z + 6 * i, half[4] = {1, 0.5 * displacement * z[3], 0.5 * displacement * z[4], 0.5 * displacement * z[5]};
        for (int k = 0; k < 3; k++) state->position[3 * i + k] = run->now.position[3 * i + k] + displacement * power->length * z[k];
        carom_quaternion_product(half, run->now.attitude + 4 * i, state->attitude + 4 * i);
        carom_quaternion_normalise(state->attitude + 4 * i);
    }
    double energy;
    return rodrigues_evaluate(run, state, force, torque, &energy);
}

// change = K z, K the matrix of second derivatives of U in (x / length, rotation).
static bool apply_stiffness(power_iteration *power) {
    rodrigues *run = power->run;
    const int64_t n = run->bodies;
    double *back = power->change + 6 * n;
    if (!forces_at(power, DIFFERENCE, run->next_force, run->next_torque)) return false;
    memcpy(back, run->next_force, 3 * (size_t)n * sizeof *back);
    memcpy(back + 3 * n, run->next_torque, 3 * (size_t)n * sizeof *back);
    if (!forces_at(power, -DIFFERENCE, run->next_force, run->next_torque)) return false;
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            power->change[6 * i + k] = power->length * (run->next_force[3 * i + k] - back[3 * i + k]) / (2 * DIFFERENCE);
            power->change[6 * i + 3 + k] = (run->next_torque[3 * i + k] - back[3 * n + 3 * i + k]) / (2 * DIFFERENCE);
        }
    }
    return true;
}

// z.Kz / z.Mz, then z = M^-1 K z, scaled. A body's least moment stands for its inertia.
static double next_direction(power_iteration *power) {
    const rodrigues *run = power->run;
    double stiffness = 0, inertia = 0, largest = 0;
    for (int64_t i = 0; i < run->bodies; i++) {
        const double *J = run->inertia + 3 * i, mass = run->mass[i] * power->length * power->length;
        const double moment = fmin(J[0], fmin(J[1], J[2]));
        for (int k = 0; k < 6; k++) {
            double *z = power->z + 6 * i + k;
            const double m = k < 3 ? mass : moment, change = power->change[6 * i + k];
            stiffness += *z * change;
            inertia += m * *z * *z;
            *z = change / m;
            largest = fmax(largest, fabs(*z));
        }
    }
    for (int64_t i = 0; largest > 0 && i < 6 * (int64_t)run->bodies; i++) power->z[i] /= largest;
    return inertia > 0 ? stiffness / inertia : 0;
}

carom_status rodrigues_stiffest_frequency(rodrigues *run, double *frequency, carom_error *error) {
    *frequency = 0;
    const size_t n = (size_t)run->bodies;
    double *room = malloc((18 * n + 1) * sizeof *room);
    if (!room) return carom_fail_memory(error, "frequency");
    power_iteration power = {run, 0, room, room + 6 * n};
    for (size_t i = 0; i < n; i++) power.length = fmax(power.length, run->radius[i]);
    if (!(power.length > 0)) power.length = 1;
    carom_stream stream;
    carom_stream_start(&stream, 0, 0);
    for (size_t i = 0; i < 6 * n; i++) room[i] = carom_stream_uniform(&stream) - 0.5;
    double square = 0;
    for (int round = 0; round < ROUNDS; round++) {
        // Forces that are not finite here leave the estimate of the round before.
        if (!apply_stiffness(&power)) break;
        const double estimate = next_direction(&power);
        if (!isfinite(estimate)) break;
        square = estimate;
    }
    free(room);
    *frequency = sqrt(fmax(square, 0));
    return CAROM_OK;
}
