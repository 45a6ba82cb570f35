// SPDX-License-Identifier: Apache-2.0
/// @file
/// Mechanisms given by callbacks: a body in the plane, a box in space, a double pendulum with stops. Their motions are known in closed
/// form, or conserve something.
#ifndef CAROM_TESTS_MECHANISMS_H
#define CAROM_TESTS_MECHANISMS_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/mechanism.h"
#include "carom/quaternion.h"

enum { MECHANISM_MOST_TOUCHES = 64 };
#define GRAVITY 9.81

/// The memory of one workspace.
typedef struct mechanism_workspace {
    const void *self;
    carom_touch touch[MECHANISM_MOST_TOUCHES];
    double normal[MECHANISM_MOST_TOUCHES * 6], tangent[2 * MECHANISM_MOST_TOUCHES * 6], residual[1], equation[6];
} mechanism_workspace;

static inline carom_status mechanism_open(const void *self, void **workspace, carom_error *error) {
    mechanism_workspace *made = calloc(1, sizeof *made);
    if (made) made->self = self;
    *workspace = made;
    return made ? CAROM_OK : carom_fail_memory(error, "mechanism");
}

static inline void mechanism_close(void *workspace) { free(workspace); }

static inline void mechanism_name(const void *self, const carom_touch *touch, char *name, size_t size) {
    (void)self;
    if (touch->kind == CAROM_TOUCH_LIMIT)
        snprintf(name, size, "LIMIT:%d:%d", touch->first, touch->second);
    else
        snprintf(name, size, "corner%d", touch->ordinal);
}

static inline void clear_terms(int nv, carom_mechanism_terms *terms) {
    const size_t n = (size_t)nv;
    double *const squares[] = {terms->mass, terms->damping, terms->stiffness};
    double *const vectors[] = {terms->force, terms->actuation, terms->resistance, terms->dry_friction};
    for (int k = 0; k < 3; k++) memset(squares[k], 0, n * n * sizeof(double));
    for (int k = 0; k < 4; k++) memset(vectors[k], 0, n * sizeof(double));
    terms->kinetic = terms->potential = 0;
}

// ---------------------------------------------------------------------------------------------------- a body in the plane

/// Coordinates x, z, theta; corners above a line through the origin that rises by `slope`.
typedef struct planar_body {
    double mass, inertia, slope, friction, restitution;
    int corners;
    double corner[4][2];
    double damping[3], stiffness[3], dry_friction[3];
    double push;    ///< an actuator along x [N]
    double length;  ///< of a rod that holds the body to the origin; 0: none
    double position[3], velocity[3];
} planar_body;

static inline void planar_evaluate(void *workspace, double time, const double *q, const double *v, carom_mechanism_terms *terms) {
    (void)time;
    const planar_body *body = ((mechanism_workspace *)workspace)->self;
    const double mass[] = {body->mass, body->mass, body->inertia};
    clear_terms(3, terms);
    terms->potential = body->mass * GRAVITY * q[1];
    terms->force[1] = -body->mass * GRAVITY;
    terms->actuation[0] = body->push;
    for (int i = 0; i < 3; i++) {
        terms->mass[4 * i] = mass[i];
        terms->damping[4 * i] = body->damping[i];
        terms->stiffness[4 * i] = body->stiffness[i];
        terms->dry_friction[i] = body->dry_friction[i];
        terms->resistance[i] = -body->damping[i] * v[i];
        terms->force[i] += terms->resistance[i] + terms->actuation[i] - body->stiffness[i] * q[i];
        terms->kinetic += 0.5 * mass[i] * v[i] * v[i];
        terms->potential += 0.5 * body->stiffness[i] * q[i] * q[i];
    }
}

static inline carom_status planar_detect(void *workspace, const double *q, double margin, carom_touches *touches, carom_error *error) {
    (void)error;
    mechanism_workspace *room = workspace;
    const planar_body *body = room->self;
    const double n[] = {-sin(body->slope), cos(body->slope)}, t[] = {cos(body->slope), sin(body->slope)};
    *touches = (carom_touches){
        .touch = room->touch, .normal = room->normal, .tangent = room->tangent, .residual = room->residual, .equation = room->equation};
    for (int i = 0; i < body->corners; i++) {
        const double c = cos(q[2]), s = sin(q[2]), x = c * body->corner[i][0] - s * body->corner[i][1],
                     z = s * body->corner[i][0] + c * body->corner[i][1];
        const double gap = n[0] * (q[0] + x) + n[1] * (q[1] + z);
        if (gap > margin) continue;
        const int k = touches->count++;
        room->touch[k] = (carom_touch){CAROM_TOUCH_CONTACT,
                                       0,
                                       1,
                                       i,
                                       gap,
                                       body->friction,
                                       body->restitution,
                                       {q[0] + x, 0, q[1] + z},
                                       {{n[0], 0, n[1]}, {t[0], 0, t[1]}, {0, 1, 0}},
                                       0};
        memcpy(room->normal + 3 * k, (double[]){n[0], n[1], -n[0] * z + n[1] * x}, 3 * sizeof(double));
        memcpy(room->tangent + 6 * k, (double[]){t[0], t[1], -t[0] * z + t[1] * x, 0, 0, 0}, 6 * sizeof(double));
    }
    if (body->length > 0) {
        const double r = hypot(q[0], q[1]);
        touches->equations = 1;
        room->residual[0] = r - body->length;
        memcpy(room->equation, (double[]){q[0] / r, q[1] / r, 0}, 3 * sizeof(double));
    }
    return CAROM_OK;
}

static inline void flat_advance(const void *self, const double *q, const double *v, double duration, double *moved) {
    (void)self;
    for (int i = 0; i < 3; i++) moved[i] = q[i] + duration * v[i];
}

static inline carom_mechanism planar_mechanism(const planar_body *body) {
    static const char *const names[] = {"x", "z", "theta"};
    static const bool turns[] = {false, false, true};
    return (carom_mechanism){.self = body,
                             .nq = 3,
                             .nv = 3,
                             .position = body->position,
                             .velocity = body->velocity,
                             .position_names = names,
                             .velocity_names = names,
                             .turns = turns,
                             .mass = body->mass,
                             .length = 1,
                             .open = mechanism_open,
                             .close = mechanism_close,
                             .evaluate = planar_evaluate,
                             .detect = planar_detect,
                             .advance = flat_advance,
                             .name = mechanism_name};
}

// -------------------------------------------------------------------------------------------------------- a box in space

/// Position and quaternion; velocity of the center in the world, angular velocity in the body. Its corners are above z = 0.
typedef struct spatial_box {
    double half[3], mass, inertia[3], friction, restitution;
    int feet;  ///< so many by so many points of the lower face, in place of the corners; 0: the corners
    double position[7], velocity[6];
} spatial_box;

static inline void box_evaluate(void *workspace, double time, const double *q, const double *v, carom_mechanism_terms *terms) {
    (void)time;
    const spatial_box *box = ((mechanism_workspace *)workspace)->self;
    clear_terms(6, terms);
    double momentum[3], torque[3];
    for (int i = 0; i < 3; i++) {
        terms->mass[7 * i] = box->mass;
        terms->mass[7 * (i + 3)] = box->inertia[i];
        momentum[i] = box->inertia[i] * v[3 + i];
        terms->kinetic += 0.5 * (box->mass * v[i] * v[i] + momentum[i] * v[3 + i]);
    }
    carom_cross3(momentum, v + 3, torque);
    memcpy(terms->force + 3, torque, sizeof torque);
    terms->force[2] = -box->mass * GRAVITY;
    terms->potential = box->mass * GRAVITY * q[2];
}

static inline carom_status box_detect(void *workspace, const double *q, double margin, carom_touches *touches, carom_error *error) {
    (void)error;
    mechanism_workspace *room = workspace;
    const spatial_box *box = room->self;
    *touches = (carom_touches){.touch = room->touch, .normal = room->normal, .tangent = room->tangent};
    for (int i = 0; i < (box->feet ? box->feet * box->feet : 8); i++) {
        double corner[] = {i & 1 ? box->half[0] : -box->half[0], i & 2 ? box->half[1] : -box->half[1],
                           i & 4 ? box->half[2] : -box->half[2]};
        if (box->feet) {
            corner[0] = box->half[0] * (2. * (i % box->feet) / (box->feet - 1) - 1);
            corner[1] = box->half[1] * (2. * (i / box->feet) / (box->feet - 1) - 1);
            corner[2] = -box->half[2];
        }
        double arm[3];
        carom_quaternion_rotate(q + 3, corner, arm);
        if (q[2] + arm[2] > margin) continue;
        const int k = touches->count++;
        room->touch[k] = (carom_touch){CAROM_TOUCH_CONTACT,
                                       0,
                                       1,
                                       i,
                                       q[2] + arm[2],
                                       box->friction,
                                       box->restitution,
                                       {q[0] + arm[0], q[1] + arm[1], q[2] + arm[2]},
                                       {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
                                       0};
        for (int a = 0; a < 3; a++) {
            // Row of an axis d: d.(v + R (w x c)) = d.v + (c x R'd).w
            const double *axis = room->touch[k].axes[a];
            double body_axis[3], turn[3];
            carom_quaternion_rotate_back(q + 3, axis, body_axis);
            carom_cross3(corner, body_axis, turn);
            double *row = a ? room->tangent + 6 * (2 * k + a - 1) : room->normal + 6 * k;
            memcpy(row, axis, 3 * sizeof *row);
            memcpy(row + 3, turn, sizeof turn);
        }
    }
    return CAROM_OK;
}

static inline void box_advance(const void *self, const double *q, const double *v, double duration, double *moved) {
    (void)self;
    double turned[4], step[4] = {1, 0, 0, 0};
    const double speed = carom_norm3(v + 3), half = 0.5 * duration * speed;
    if (speed > 0) {
        step[0] = cos(half);
        for (int i = 0; i < 3; i++) step[1 + i] = sin(half) * v[3 + i] / speed;
    }
    carom_quaternion_product(q + 3, step, turned);
    carom_quaternion_normalise(turned);
    for (int i = 0; i < 3; i++) moved[i] = q[i] + duration * v[i];
    memcpy(moved + 3, turned, sizeof turned);
}

static inline carom_mechanism box_mechanism(const spatial_box *box) {
    static const char *const positions[] = {"x", "y", "z", "w", "i", "j", "k"}, *const velocities[] = {"x", "y", "z", "rx", "ry", "rz"};
    static const bool turns[] = {false, false, false, true, true, true};
    return (carom_mechanism){.self = box,
                             .nq = 7,
                             .nv = 6,
                             .position = box->position,
                             .velocity = box->velocity,
                             .position_names = positions,
                             .velocity_names = velocities,
                             .turns = turns,
                             .mass = box->mass,
                             .length = 1,
                             .open = mechanism_open,
                             .close = mechanism_close,
                             .evaluate = box_evaluate,
                             .detect = box_detect,
                             .advance = box_advance,
                             .name = mechanism_name};
}

// ------------------------------------------------------------------------------------------ a double pendulum with stops

/// Two point masses of 1 kg on rods of 1 m; angles from below, the second absolute. Stops at +-`stop` for the first.
typedef struct double_pendulum {
    double stop, restitution;
    double position[2], velocity[2];
} double_pendulum;

static inline void pendulum_evaluate(void *workspace, double time, const double *q, const double *v, carom_mechanism_terms *terms) {
    (void)workspace;
    (void)time;
    clear_terms(2, terms);
    const double c = cos(q[0] - q[1]), s = sin(q[0] - q[1]);
    memcpy(terms->mass, (double[]){2, c, c, 1}, 4 * sizeof(double));
    terms->force[0] = -s * v[1] * v[1] - 2 * GRAVITY * sin(q[0]);
    terms->force[1] = s * v[0] * v[0] - GRAVITY * sin(q[1]);
    terms->kinetic = v[0] * v[0] + c * v[0] * v[1] + 0.5 * v[1] * v[1];
    terms->potential = -GRAVITY * (2 * cos(q[0]) + cos(q[1]));
}

static inline carom_status pendulum_detect(void *workspace, const double *q, double margin, carom_touches *touches, carom_error *error) {
    (void)error;
    mechanism_workspace *room = workspace;
    const double_pendulum *pendulum = room->self;
    *touches = (carom_touches){.touch = room->touch, .normal = room->normal, .tangent = room->tangent};
    for (int end = 0; end < 2; end++) {
        const double gap = end ? pendulum->stop - q[0] : pendulum->stop + q[0];
        if (gap > margin) continue;
        const int k = touches->count++;
        room->touch[k] = (carom_touch){.kind = CAROM_TOUCH_LIMIT, .second = end, .gap = gap, .restitution = pendulum->restitution};
        memcpy(room->normal + 2 * k, (double[]){end ? -1 : 1, 0}, 2 * sizeof(double));
        memset(room->tangent + 4 * k, 0, 4 * sizeof(double));
    }
    return CAROM_OK;
}

static inline void pendulum_advance(const void *self, const double *q, const double *v, double duration, double *moved) {
    (void)self;
    for (int i = 0; i < 2; i++) moved[i] = q[i] + duration * v[i];
}

static inline carom_mechanism pendulum_mechanism(const double_pendulum *pendulum) {
    static const char *const names[] = {"first", "second"};
    static const bool turns[] = {true, true};
    return (carom_mechanism){.self = pendulum,
                             .nq = 2,
                             .nv = 2,
                             .position = pendulum->position,
                             .velocity = pendulum->velocity,
                             .position_names = names,
                             .velocity_names = names,
                             .turns = turns,
                             .mass = 2,
                             .length = 1,
                             .open = mechanism_open,
                             .close = mechanism_close,
                             .evaluate = pendulum_evaluate,
                             .detect = pendulum_detect,
                             .advance = pendulum_advance,
                             .name = mechanism_name};
}

#endif
