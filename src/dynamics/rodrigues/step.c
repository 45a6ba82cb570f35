// SPDX-License-Identifier: Apache-2.0
// The step: half kick, drift, forces, half kick (Baker & Gonzalez, eqs. 21, 23, 25, 27; the factor R'R of eq. 21d acts on its own axis
// and is 1). A step is made beside the state and accepted as a whole.
#include <string.h>

#include "carom/quaternion.h"
#include "carom/rotation.h"
#include "dynamics/rodrigues/rodrigues.h"

// Turns of a step beyond which `tan` misses the angle by more than 20 %: 2 pi / 3.
#define FAST_TURN 2.0943951023931953

// ---------------------------------------------------------------------------------------------------------------- turns

// out = (w, vector) q, of unit length. Cheap steps spend their time here: written out, so that all of it stays in registers.
static inline void turn_by(double w, const double vector[3], const double q[4], double out[4]) {
    const double x = vector[0], y = vector[1], z = vector[2], a = q[0], b = q[1], c = q[2], d = q[3];
    const double p = w * a - x * b - y * c - z * d, r = w * b + a * x + y * d - z * c, s = w * c + a * y + z * b - x * d;
    const double t = w * d + a * z + x * c - y * b, scale = 1 / sqrt(p * p + r * r + s * s + t * t);
    out[0] = p * scale;
    out[1] = r * scale;
    out[2] = s * scale;
    out[3] = t * scale;
}

// Turns by a rotation vector, exactly. The sine of half its angle over the angle tends to 1/2.
static void turn_exactly(const double angle[3], const double q[4], double out[4]) {
    const double z = carom_norm3(angle), ratio = z > 0 ? sin(0.5 * z) / z : 0.5;
    const double vector[3] = {ratio * angle[0], ratio * angle[1], ratio * angle[2]};
    turn_by(cos(0.5 * z), vector, q, out);
}

// Turns a body about its axis k by `time` times the component of its spin along it, L.R e_k.
static void turn_about_axis(int k, double time, const double L[3], double q[4]) {
    if (time == 0) return;
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    const double w = q[0], x = q[1 + k], y = q[1 + a], z = q[1 + b];
    const double spin = L[k] * (1 - 2 * (y * y + z * z)) + 2 * (L[a] * (x * y + w * z) + L[b] * (x * z - w * y));
    const double half = 0.5 * time * spin, c = cos(half), s = sin(half);
    q[0] = c * w - s * x;
    q[1 + k] = c * x + s * w;
    q[1 + a] = c * y + s * z;
    q[1 + b] = c * z - s * y;
}

// Any moments: with m the axis of the middle one, L.Omega/2 = |L|^2/(2 Jm) + sum over the other axes of (1/Ja - 1/Jm) Pi_a^2/2. The first
// part turns the body about L and commutes with all; the others turn it about its own axes, in the symmetric order a b a (splittings into
// such turns: McLachlan 1993; Reich 1994; into a symmetric top and a rest: Dullweber, Leimkuhler & McLachlan 1997). Second order, L is
// kept; with two equal moments only one of the two is left, and the turn is exact.
static void turn_by_axes(const double inverse[3], double h, const double L[3], const double q[4], double out[4]) {
    int least = 0, most = 0;
    for (int k = 1; k < 3; k++) {
        if (inverse[k] < inverse[least]) least = k;
        if (inverse[k] >= inverse[most]) most = k;
    }
    const double middle = inverse[3 - least - most], rates[] = {inverse[least] - middle, inverse[most] - middle};
    // The faster turn is the one that is halved: the error of the other counts twice.
    const int outer = fabs(rates[0]) > fabs(rates[1]) ? 0 : 1, axes[] = {least, most};
    double turned[4];
    memcpy(turned, q, sizeof turned);
    turn_about_axis(axes[outer], 0.5 * h * rates[outer], L, turned);
    turn_about_axis(axes[1 - outer], h * rates[1 - outer], L, turned);
    turn_about_axis(axes[outer], 0.5 * h * rates[outer], L, turned);
    const double angle[] = {h * middle * L[0], h * middle * L[1], h * middle * L[2]};
    turn_exactly(angle, turned, out);
}

// Turns a body by its spin L in time h; false where the map has no solution.
static bool turn(rodrigues_map map, const double moments[3], const double inverse[3], double h, const double L[3], const double q[4],
                 double out[4], int64_t *fast_turns) {
    if (map == RODRIGUES_IMPLICIT) {
        // The Lie group variational integrator: Newton's iteration for the Cayley vector in the body frame.
        const double J[9] = {moments[0], 0, 0, 0, moments[1], 0, 0, 0, moments[2]};
        const double inverted[9] = {inverse[0], 0, 0, 0, inverse[1], 0, 0, 0, inverse[2]};
        double a[3], c[3];
        carom_quaternion_rotate_back(q, L, a);
        for (int k = 0; k < 3; k++) a[k] *= h;
        if (!carom_rotation_solve(J, inverted, a, c)) return false;
        carom_quaternion_product(q, (const double[4]){1, c[0], c[1], c[2]}, out);
        carom_quaternion_normalise(out);
        return true;
    }
    if (map == RODRIGUES_SPLITTING || !rodrigues_is_sphere(moments)) {
        turn_by_axes(inverse, h, L, q, out);
        return true;
    }

    // Equal moments: the increment alpha = h g(h|W|) W, W = L/J, whose quaternion is (1, alpha/2) but for its length.
    const double W[3] = {inverse[0] * L[0], inverse[0] * L[1], inverse[0] * L[2]};
    const double angle[3] = {h * W[0], h * W[1], h * W[2]}, square = carom_dot3(angle, angle);
    double g = 1;
    if (map == RODRIGUES_SIN) {
        // g = 2 / (1 + sqrt(1 - square)), without the division (eqs. 21, 23).
        if (!(square < 1)) return false;
        turn_by(1 + sqrt(1 - square), angle, q, out);
        return true;
    } else if (map == RODRIGUES_CUBIC) {
        g = 1 + square / 12;
    } else if (map == RODRIGUES_EXACT) {
        turn_exactly(angle, q, out);
        return true;
    } else {
        *fast_turns += square > FAST_TURN * FAST_TURN;
    }
    const double half[3] = {0.5 * g * angle[0], 0.5 * g * angle[1], 0.5 * g * angle[2]};
    turn_by(1, half, q, out);
    return true;
}

// --------------------------------------------------------------------------------------------------------------- passes

// v' = v + h/2 F/m, L' = L + h/2 T, x' = x + h v', and the attitude turned by L'; eq. 27 kicks by the whole step here. False where the
// attitude cannot be turned. Both states may be the same.
static inline bool drift(const rodrigues *run, int64_t i, double h, const rodrigues_state *from, const rodrigues_state *to,
                         int64_t *fast_turns) {
    const double kick = run->map == RODRIGUES_FIRST ? h : 0.5 * h, push = kick * run->inverse_mass[i];
    double spin[3];
    for (int k = 0; k < 3; k++) {
        const int64_t j = 3 * i + k;
        const double velocity = from->velocity[j] + push * from->force[j];
        spin[k] = from->spin[j] + kick * from->torque[j];
        to->velocity[j] = velocity;
        to->spin[j] = spin[k];
        to->position[j] = from->position[j] + h * velocity;
    }
    return turn(run->map, run->inertia + 3 * i, run->inverse_inertia + 3 * i, h, spin, from->attitude + 4 * i, to->attitude + 4 * i,
                fast_turns);
}

// Where impacts are taken one by one, bodies had theirs at different times of the step.
static inline double duration(const rodrigues *run, int64_t i) {
    return run->agenda.serves ? run->step - run->agenda.errand[i].since : run->step;
}

static void kick_and_drift(rodrigues *run, int64_t block, int64_t first, int64_t end) {
    rodrigues_partial partial = {.bad = -1};
    for (int64_t i = first; i < end; i++)
        if (!drift(run, i, duration(run, i), &run->now, &run->next, &partial.fast_turns) && partial.bad < 0) partial.bad = i;
    run->partials[block] = partial;
}

// The second half of the kick, by the forces of the new state, where there is one.
static inline void kick_again(const rodrigues *run, int64_t i, double h, const rodrigues_state *state) {
    const bool whole = run->map == RODRIGUES_FIRST || run->map == RODRIGUES_MIDPOINT;
    const double kick = whole ? 0 : 0.5 * h, push = kick * run->inverse_mass[i];
    for (int k = 0; k < 3; k++) {
        state->velocity[3 * i + k] += push * state->force[3 * i + k];
        state->spin[3 * i + k] += kick * state->torque[3 * i + k];
    }
}

// That, and the kinetic energy after it.
static void complete_block(rodrigues *run, int64_t block, int64_t first, int64_t end) {
    const rodrigues_state *next = &run->next;
    double kinetic = 0;
    for (int64_t i = first; i < end; i++) {
        kick_again(run, i, duration(run, i), next);
        kinetic +=
            0.5 * run->mass[i] * carom_dot3(next->velocity + 3 * i, next->velocity + 3 * i) + rodrigues_rotational_energy(run, next, i);
    }
    run->partials[block].kinetic = kinetic;
}

void rodrigues_fly(rodrigues *run, int64_t body, double h) {
    drift(run, body, h, &run->now, &run->now, &run->fast_turns);
    kick_again(run, body, h, &run->now);
}

bool rodrigues_advance(rodrigues *run, double h) {
    run->step = h;
    if (run->map != RODRIGUES_MIDPOINT)
        rodrigues_for_blocks(run, run->bodies, kick_and_drift);
    else if (!rodrigues_find_midpoint(run, h))
        return false;
    int64_t fast_turns = 0, bad = -1;
    for (int64_t b = run->blocks - 1; b >= 0; b--) {
        fast_turns += run->partials[b].fast_turns;
        if (run->partials[b].bad >= 0) bad = run->partials[b].bad;
    }
    if (bad >= 0) {
        double Omega[3];
        rodrigues_angular_velocity(run, &run->next, bad, Omega);
        run->failure = (rodrigues_failure){RODRIGUES_TOO_FAST, bad, -1, fabs(h) * carom_norm3(Omega)};
        // The spin is not finite where the torque was not.
        if (!isfinite(run->failure.turn)) rodrigues_explain_force(run, &run->now);
        return false;
    }
    // The attitude of `next` is the map's for this L only: bodies that are not spheres are turned before L is kicked again.
    double potential, kinetic = 0;
    if (!rodrigues_evaluate(run, &run->next, &potential)) return false;
    rodrigues_for_blocks(run, run->bodies, complete_block);
    for (int64_t b = 0; b < run->blocks; b++) kinetic += run->partials[b].kinetic;
    if (!isfinite(kinetic + potential)) {
        rodrigues_explain_force(run, &run->next);
        return false;
    }
    // Nothing failed: `next` becomes `now`.
    const rodrigues_state state = run->now;
    run->now = run->next;
    run->next = state;
    run->kinetic = kinetic;
    run->potential = potential;
    run->fast_turns += fast_turns;
    return true;
}

bool rodrigues_step(rodrigues *run, double h) {
    if (!run->fourth_order) return rodrigues_advance(run, h);
    // The triple jump (Yoshida 1990; Suzuki 1990): weights c, 1 - 2c, c with c = 1/(2 - 2^(1/3)).
    static const double weight = 1.3512071919596578;
    const double parts[] = {weight * h, h - 2 * weight * h, weight * h};
    // Positions, attitudes, velocities and spins follow each other in memory: 13 numbers for each body.
    const size_t size = 13 * (size_t)run->bodies * sizeof(double);
    const double kinetic = run->kinetic, potential = run->potential;
    memcpy(run->saved, run->now.position, size);
    for (int k = 0; k < 3; k++) {
        if (rodrigues_advance(run, parts[k])) continue;
        // Back to the state before the first part. Its forces could be taken before, so they can be taken again.
        const rodrigues_failure failure = run->failure;
        double again;
        memcpy(run->now.position, run->saved, size);
        rodrigues_evaluate(run, &run->now, &again);
        run->kinetic = kinetic;
        run->potential = potential;
        run->failure = failure;
        return false;
    }
    return true;
}
