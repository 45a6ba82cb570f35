// SPDX-License-Identifier: Apache-2.0
// The implicit midpoint rule with increments of Rodrigues, as an example of the implicit schemes of discrete elements (Campello 2015):
// forces are those of the middle of the step, so that they are found with the state after it.
#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"

// Rounds of the iteration, each with one evaluation of the forces; the error shrinks by (h omega)^2/4 in each.
enum { MOST_ROUNDS = 100 };
// The iteration has ended when positions, relative to the largest, and angles change by no more than rounding.
#define ROUNDING (4 * DBL_EPSILON)
// Turns of a step that miss the angle by more than 20 %: 2 pi / 3, as for `tan`.
#define FAST_TURN 2.0943951023931953

// Places of the middle and the end: x + h (v + v')/4 and x + h (v + v')/2; the attitude turned by the increment a = h (W + W')/2 or by half
// of its angle. v' and W' are those of the last round.
static void place_block(rodrigues *run, int64_t block, int64_t first, int64_t end) {
    const rodrigues_state *now = &run->now, *next = &run->next, *middle = &run->middle;
    rodrigues_partial partial = {.bad = -1};
    for (int64_t i = first; i < end; i++) {
        double angle[3];
        for (int64_t k = 0; k < 3; k++) {
            const int64_t j = 3 * i + k;
            const double way = 0.5 * run->step * (now->velocity[j] + next->velocity[j]);
            middle->position[j] = now->position[j] + 0.5 * way;
            next->position[j] = now->position[j] + way;
            angle[k] = 0.5 * run->step * run->inverse_inertia[j] * (now->spin[j] + next->spin[j]);
        }
        const double square = carom_dot3(angle, angle);
        partial.fast_turns += square > FAST_TURN * FAST_TURN;
        // (1, a/2) scaled to length 1 is the whole turn; with 1 added to its first number it is half of it, but for its length.
        double turn[4] = {1, 0.5 * angle[0], 0.5 * angle[1], 0.5 * angle[2]};
        carom_quaternion_normalise(turn);
        carom_quaternion_product(turn, now->attitude + 4 * i, next->attitude + 4 * i);
        carom_quaternion_normalise(next->attitude + 4 * i);
        turn[0] += 1;
        carom_quaternion_product(turn, now->attitude + 4 * i, middle->attitude + 4 * i);
        carom_quaternion_normalise(middle->attitude + 4 * i);
    }
    run->partials[block] = partial;
}

// v' = v + h F/m and L' = L + h T by the forces in the middle, and how much that changes where the step ends.
static void kick_block(rodrigues *run, int64_t block, int64_t first, int64_t end) {
    const rodrigues_state *now = &run->now, *next = &run->next, *middle = &run->middle;
    const double h = run->step;
    rodrigues_partial *partial = &run->partials[block];
    for (int64_t j = 3 * first; j < 3 * end; j++) {
        const double velocity = now->velocity[j] + h * run->inverse_mass[j / 3] * middle->force[j];
        const double spin = now->spin[j] + h * middle->torque[j];
        partial->moved = fmax(partial->moved, fabs(0.5 * h * (velocity - next->velocity[j])));
        partial->turned = fmax(partial->turned, fabs(0.5 * h * run->inverse_inertia[j] * (spin - next->spin[j])));
        partial->away = fmax(partial->away, fabs(next->position[j]));
        if (!isfinite(velocity + spin) && partial->bad < 0) partial->bad = j / 3;
        next->velocity[j] = velocity;
        next->spin[j] = spin;
    }
}

bool rodrigues_find_midpoint(rodrigues *run, double h) {
    const size_t size = 3 * (size_t)run->bodies * sizeof(double);
    memcpy(run->next.velocity, run->now.velocity, size);
    memcpy(run->next.spin, run->now.spin, size);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double unused;
        rodrigues_for_blocks(run, run->bodies, place_block);
        rodrigues_partial all = {.bad = -1};
        if (!rodrigues_evaluate(run, &run->middle, &unused)) return false;
        rodrigues_for_blocks(run, run->bodies, kick_block);
        for (int64_t b = run->blocks - 1; b >= 0; b--) {
            all.moved = fmax(all.moved, run->partials[b].moved);
            all.turned = fmax(all.turned, run->partials[b].turned);
            all.away = fmax(all.away, run->partials[b].away);
            if (run->partials[b].bad >= 0) all.bad = run->partials[b].bad;
        }
        if (all.bad >= 0) {
            rodrigues_explain_force(run, &run->middle);
            return false;
        }
        // Places are those of the velocities before, from which the new ones differ by rounding.
        if (all.moved <= ROUNDING * all.away && all.turned <= ROUNDING) return true;
    }
    run->failure = (rodrigues_failure){RODRIGUES_NO_MIDPOINT, -1, -1, fabs(h)};
    return false;
}
