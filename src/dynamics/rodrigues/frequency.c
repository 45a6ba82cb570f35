// SPDX-License-Identifier: Apache-2.0
// The stiffest vibration of the present state, which limits the step of an explicit method (h omega < 2, and well below where contacts open
// and close): power iteration with differences of forces.
#include <string.h>

#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"

// Rounds after which the Rayleigh quotient of a chain's crowded upper spectrum is about 1 % low.
enum { ROUNDS = 50 };
// Displacement of a difference, relative to the largest radius, and as an angle: about the cube root of the rounding unit.
#define DIFFERENCE 1e-5

// Forces and torques after a displacement of `now` along z [n x 6]: translations in units of `length`, then rotations.
static bool forces_at(rodrigues *run, const double *z, double displacement, double length) {
    const rodrigues_state *state = &run->next;
    for (int64_t i = 0; i < run->bodies; i++, z += 6) {
        const double half[4] = {1, 0.5 * displacement * z[3], 0.5 * displacement * z[4], 0.5 * displacement * z[5]};
        for (int k = 0; k < 3; k++) state->position[3 * i + k] = run->now.position[3 * i + k] + displacement * length * z[k];
        carom_quaternion_product(half, run->now.attitude + 4 * i, state->attitude + 4 * i);
        carom_quaternion_normalise(state->attitude + 4 * i);
    }
    double energy;
    return rodrigues_evaluate(run, state, &energy);
}

carom_status rodrigues_stiffest_frequency(rodrigues *run, double *frequency, carom_error *error) {
    *frequency = 0;
    const size_t n = (size_t)run->bodies;
    carom_arena memory = {0};
    double *z = carom_arena_take(&memory, 6 * n, sizeof *z), *change = carom_arena_take(&memory, 6 * n, sizeof *change);
    double *force = carom_arena_take(&memory, 3 * n, sizeof *force), *torque = carom_arena_take(&memory, 3 * n, sizeof *torque);
    if (memory.failed) {
        carom_arena_free(&memory);
        return carom_fail_memory(error, "frequency");
    }
    // Lengths are measured in radii, so that translations and rotations compare. The first direction is random, always the same.
    double size = 0, square = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, run->radius[i]);
    if (!(size > 0)) size = 1;
    carom_stream stream;
    carom_stream_start(&stream, 0, 0);
    for (size_t i = 0; i < 6 * n; i++) z[i] = carom_stream_uniform(&stream) - 0.5;
    for (int round = 0; round < ROUNDS; round++) {
        // change = K z, K the matrix of second derivatives of U in (x / size, rotation).
        if (!forces_at(run, z, DIFFERENCE, size)) break;
        memcpy(force, run->next.force, 3 * n * sizeof *force);
        memcpy(torque, run->next.torque, 3 * n * sizeof *torque);
        if (!forces_at(run, z, -DIFFERENCE, size)) break;
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < 3; k++) {
                change[6 * i + k] = size * (run->next.force[3 * i + k] - force[3 * i + k]) / (2 * DIFFERENCE);
                change[6 * i + 3 + k] = (run->next.torque[3 * i + k] - torque[3 * i + k]) / (2 * DIFFERENCE);
            }
        }
        // The estimate z.Kz / z.Mz, then z = M^-1 K z, scaled. A body's least moment stands for its inertia.
        double stiffness = 0, inertia = 0, largest = 0;
        for (size_t i = 0; i < n; i++) {
            const double *J = run->inertia + 3 * i, mass = run->mass[i] * size * size, moment = fmin(J[0], fmin(J[1], J[2]));
            for (size_t k = 6 * i; k < 6 * i + 6; k++) {
                const double m = k < 6 * i + 3 ? mass : moment;
                stiffness += z[k] * change[k];
                inertia += m * z[k] * z[k];
                z[k] = change[k] / m;
                largest = fmax(largest, fabs(z[k]));
            }
        }
        for (size_t i = 0; largest > 0 && i < 6 * n; i++) z[i] /= largest;
        const double estimate = inertia > 0 ? stiffness / inertia : 0;
        // If forces are not finite here, the estimate of the previous round is returned.
        if (!isfinite(estimate)) break;
        square = estimate;
        // Where no displacement changes a force, as under gravity alone, nothing vibrates.
        if (!(largest > 0)) break;
    }
    carom_arena_free(&memory);
    *frequency = sqrt(fmax(square, 0));
    return CAROM_OK;
}
