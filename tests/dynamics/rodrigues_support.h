// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of the integrator `rodrigues` share: motions to integrate, runs with options or step by step, distances between states.
#ifndef CAROM_TESTS_RODRIGUES_SUPPORT_H
#define CAROM_TESTS_RODRIGUES_SUPPORT_H

#include <stdlib.h>

#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"
#include "integrators.h"

#define PI 3.141592653589793

// ------------------------------------------------------------------------------------------------------------- motions

// A motion of up to MOST_BODIES bodies, and the arrays that it points to.
enum { RING = 80, MOST_BODIES = 1000 };

typedef struct problem {
    carom_particle body[MOST_BODIES];
    carom_potential potential[3];
    carom_wall wall[6];
    carom_surface_law collisions;
    int pairs[2 * MOST_BODIES];
    double planes[4];
    carom_bodies_motion motion;
} problem;

static inline void borrow(problem *s, int bodies, int potentials) {
    s->motion.bodies = bodies;
    s->motion.body = s->body;
    s->motion.potentials = potentials;
    s->motion.potential = s->potential;
    s->motion.wall = s->wall;
}

// The pendulum of Baker & Gonzalez, section 4.1, with m = g = J = 1.
static inline problem pendulum(void) {
    return (problem){.body = {{.mass = 1,
                               .inertia = {1, 1, 1},
                               .attitude = {0.38268343236508977, 0, 0.92387953251128674, 0},
                               .angular_velocity = {0.2, 0, 0.2}}},
                     .potential = {{.type = CAROM_POTENTIAL_OFFSET_MASS, .offset_mass = {1, {0, 0, 1}}}},
                     .motion = {.bodies = 1, .potentials = 1}};
}

// A magnet in a linear field, with a trap and gravity.
static inline problem magnet(void) {
    return (problem){.body = {{.mass = 1,
                               .inertia = {0.4, 0.4, 0.4},
                               .radius = 0.3,
                               .position = {0.3, -0.2, 1},
                               .attitude = {0.8, 0, 0.6, 0},
                               .velocity = {0.1, 0.4, 0},
                               .angular_velocity = {0.3, -1, 0.5}}},
                     .potential = {{.type = CAROM_POTENTIAL_DIPOLE,
                                    .dipole = {.moment = 0.7,
                                               .direction = {0.6, 0, 0.8},
                                               .field = {0.2, 0.1, 1},
                                               .gradient = {0.3, 0.1, 0, 0.1, -0.5, 0.2, 0, 0.2, 0.2},
                                               .trap = 0.6,
                                               .gravity = 1}}},
                     .motion = {.bodies = 1, .potentials = 1}};
}

static inline problem magnet_above_floor(carom_surface surface, double restitution) {
    problem s = magnet();
    s.wall[0] = (carom_wall){{0.1, 0, 1}, -0.1, {surface, restitution, surface == CAROM_SURFACE_COULOMB ? 0.3 : 0}};
    s.motion.walls = 1;
    return s;
}

// A cluster in free flight: n bodies at random, of different size, all turning, bonded in a ring.
static inline problem *create_cluster(int n, carom_shear shear) {
    problem *s = calloc(1, sizeof *s);
    assert_non_null(s);
    carom_stream stream;
    carom_stream_start(&stream, 3, (uint64_t)n);
    for (int i = 0; i < n; i++) {
        carom_particle *body = &s->body[i];
        const double moment = 0.5 + carom_stream_uniform(&stream);
        *body = (carom_particle){.mass = 0.5 + carom_stream_uniform(&stream), .inertia = {moment, moment, moment}, .attitude = {1}};
        for (int k = 0; k < 3; k++) {
            body->position[k] = 2 * carom_stream_normal(&stream);
            body->velocity[k] = 0.3 * carom_stream_normal(&stream);
            body->angular_velocity[k] = 0.5 * carom_stream_normal(&stream);
        }
        s->pairs[2 * i] = i;
        s->pairs[2 * i + 1] = (i + 1) % n;
    }
    s->potential[0] = (carom_potential){.type = CAROM_POTENTIAL_BONDS,
                                        .bonds = {.count = n, .pairs = s->pairs, .Km = 1, .Ka = 20, .Ks = 5, .shear = shear}};
    borrow(s, n, 1);
    return s;
}

// The ring of Baker & Gonzalez, section 4.2: bonds join particles k and k + 1, and particle 0 touches the wall x1 = 0.
static inline problem *create_torus(carom_shear shear) {
    problem *s = calloc(1, sizeof *s);
    assert_non_null(s);
    const double diameter = 3 * sin(PI / RING);
    for (int k = 0; k < RING; k++) {
        const double angle = PI + 2 * PI * k / RING;
        s->body[k] = (carom_particle){.mass = 1,
                                      .inertia = {1, 1, 1},
                                      .radius = diameter / 2,
                                      .position = {1.5 + diameter / 2 + 1.5 * cos(angle), 1.5 * sin(angle), 0},
                                      .attitude = {1},
                                      .velocity = {-1, 0, 0}};
        s->pairs[2 * k] = k;
        s->pairs[2 * k + 1] = (k + 1) % RING;
    }
    s->planes[0] = 1;
    s->potential[0] = (carom_potential){.type = CAROM_POTENTIAL_BONDS,
                                        .bonds = {.count = RING, .pairs = s->pairs, .Km = 10, .Ka = 200, .Ks = 200, .shear = shear}};
    s->potential[1] =
        (carom_potential){.type = CAROM_POTENTIAL_HERTZ, .hertz = {.Kpp = 2100, .Kpw = 2100, .planes = 1, .plane = s->planes}};
    borrow(s, RING, 2);
    return s;
}

// ------------------------------------------------------------------------------------------------------------- running

static inline void make(problem *s, rodrigues_map map, bool fourth, rodrigues *run) {
    carom_error error;
    borrow(s, s->motion.bodies, s->motion.potentials);
    assert_ok(rodrigues_create(&s->motion, map, fourth, 1, run, &error), error);
}

static inline void do_steps(rodrigues *run, double h, int64_t steps) {
    for (int64_t k = 0; k < steps; k++) assert_true(rodrigues_step(run, h));
}

static inline carom_status try_run(const carom_bodies_motion *bodies, const char *const *pairs, int threads, carom_motion_answer *answer,
                                   carom_error *error) {
    const carom_motion motion = {.form = CAROM_MOTION_BODIES, .bodies = bodies};
    const carom_control control = {.threads = threads};
    return run_integrator("rodrigues", &motion, pairs, &control, NULL, answer, error);
}

#define RUN(s, answer, ...) run_with(s, answer, (const char *[]){__VA_ARGS__, NULL})

static inline void run_with(problem *s, carom_motion_answer *answer, const char *const *pairs) {
    carom_error error;
    borrow(s, s->motion.bodies, s->motion.potentials);
    assert_ok(try_run(&s->motion, pairs, 1, answer, &error), error);
}

static inline double result(const carom_motion_answer *answer, const char *name) { return reals(answer->result, name)[0]; }

static inline const double *final_series(const carom_motion_answer *answer, const char *name) {
    int count;
    return carom_table_series(answer->final, carom_table_find(answer->final, name), 0, &count);
}

static inline const char *message(const carom_motion_answer *answer) {
    return carom_table_text(answer->result, carom_table_find(answer->result, "message"), 0);
}

// Angle between two attitudes.
static inline double attitude_error(const double q[4], const double reference[4]) {
    double turn[4];
    carom_quaternion_difference(q, reference, turn);
    return carom_quaternion_angle(turn);
}

static inline double distance3(const double a[3], const double b[3]) {
    const double d[] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return carom_norm3(d);
}

static inline void angular_velocity(const rodrigues *run, int64_t i, double Omega[3]) {
    rodrigues_angular_velocity(run, &run->now, i, Omega);
}

#endif
