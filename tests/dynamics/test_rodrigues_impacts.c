// SPDX-License-Identifier: Apache-2.0
// The integrator `rodrigues`: impacts inside steps, with walls and between bodies, and the lists of neighbours that find them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/quaternion.h"
#include "rodrigues_support.h"

// ------------------------------------------------------------------------------------------------------------- impacts

static double value_of(const double *c, int degree, double t) {
    double value = 0;
    for (int k = degree; k >= 0; k--) value = value * t + c[k];
    return value;
}

// The gap, evaluated at many times, is not negative before the contact that is found, and zero there.
static void first_contacts_are_found(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 11, 0);
    const int count = support_count(300, 3000, 100000);
    int hits = 0;
    for (int trial = 0; trial < count; trial++) {
        const int degree = trial % 2 ? 4 : 2;
        double c[5];
        for (int k = 0; k <= degree; k++) c[k] = carom_stream_normal(&stream);
        c[0] = fabs(c[0]);
        const double time = rodrigues_first_contact(c, degree, 2), end = fmin(time, 2);
        hits += isfinite(time);
        // A dip between two of these times is shallower than this.
        for (int k = 1; k < 400; k++) assert_true(value_of(c, degree, end * k / 400) > -1e-12);
        if (isfinite(time)) assert_true(fabs(value_of(c, degree, time)) < 1e-12);
    }
    assert_true(hits > count / 4 && hits < count);
    // Grazing, touching and leaving, touching and about to sink, already inside.
    assert_true(isinf(rodrigues_first_contact((double[]){1, -2, 1.0000001}, 2, 5)));
    assert_close(rodrigues_first_contact((double[]){1, -2, 0.9999}, 2, 5), 1 / 1.01, 1e-3);
    assert_true(isinf(rodrigues_first_contact((double[]){0, 1, 0}, 2, 5)));
    assert_true(isinf(rodrigues_first_contact((double[]){0, 0, 1}, 2, 5)));
    assert_true(rodrigues_first_contact((double[]){0, 0, -1}, 2, 5) == 0);
    assert_true(rodrigues_first_contact((double[]){-1e-16, -1, 0}, 2, 5) == 0);
    assert_close(rodrigues_first_contact((double[]){0, 1, -1}, 2, 5), 1, 1e-15);
}

static void impacts_keep_the_order(void **state) {
    (void)state;
    for (int surface = CAROM_SURFACE_SMOOTH; surface <= CAROM_SURFACE_COULOMB; surface++) {
        double errors[2][4];
        carom_motion_answer reference, answer;
        problem s = magnet_above_floor((carom_surface)surface, surface == CAROM_SURFACE_COULOMB ? 0.8 : 1);
        RUN(&s, &reference, "map", "exact", "step", "0.0001", "duration", "6");
        assert_true(carom_table_rows(reference.impacts) >= 3);
        const char *const steps[] = {"0.04", "0.0025"};
        for (int k = 0; k < 2; k++) {
            RUN(&s, &answer, "map", "tan", "step", steps[k], "duration", "6");
            assert_int_equal(carom_table_rows(answer.impacts), carom_table_rows(reference.impacts));
            errors[k][0] = distance3(final_series(&answer, "position"), final_series(&reference, "position"));
            errors[k][1] = distance3(final_series(&answer, "velocity"), final_series(&reference, "velocity"));
            errors[k][2] = attitude_error(final_series(&answer, "attitude"), final_series(&reference, "attitude"));
            errors[k][3] = distance3(final_series(&answer, "angular_velocity"), final_series(&reference, "angular_velocity"));
            carom_motion_answer_free(&answer);
        }
        // Four halvings; the reference's own error is a 600th of the finer one.
        for (int e = 0; e < 4; e++) assert_close(log2(errors[0][e] / errors[1][e]) / 4, 2, 0.05);
        carom_motion_answer_free(&reference);
    }
}

static void elastic_impacts_keep_the_energy(void **state) {
    (void)state;
    for (int surface = CAROM_SURFACE_SMOOTH; surface <= CAROM_SURFACE_ROUGH; surface++) {
        problem s = magnet_above_floor((carom_surface)surface, 1);
        carom_motion_answer answer;
        RUN(&s, &answer, "step", "0.01", "duration", support_count(0, 0, 1) ? "20000" : "2000");
        assert_string_equal(verdict(&answer), "complete");
        assert_true(result(&answer, "max_relative_energy_error") < 4.2e-4);
        assert_true(carom_table_rows(answer.impacts) > 1000);
        carom_motion_answer_free(&answer);
    }
}

// A ball on its parabola: between impacts everything but the attitude is exact for every map.
static void bouncing_balls_are_exact(void **state) {
    (void)state;
    const double g = 9.80665, fall = sqrt(2 * 0.9 / g);
    problem s = {.body = {{.mass = 1,
                           .inertia = {0.004, 0.004, 0.004},
                           .radius = 0.1,
                           .position = {0, 0, 1},
                           .attitude = {1},
                           .velocity = {1, 0, 0},
                           .angular_velocity = {0, -20, 5}}},
                 .potential = {{.type = CAROM_POTENTIAL_GRAVITY, .acceleration = {0, 0, -9.80665}}},
                 .wall = {{{0, 0, 2}, 0, {CAROM_SURFACE_ROUGH, 1, 0}}},
                 .motion = {.bodies = 1, .potentials = 1, .walls = 1}};
    carom_motion_answer answer;
    RUN(&s, &answer, "map", "exact", "duration", "5");
    assert_int_equal(carom_table_rows(answer.impacts), 6);
    for (int k = 0; k < 6; k++) assert_close(reals(answer.impacts, "time")[k], (1 + 2 * k) * fall, 1e-12);
    // Slip before: 1 + 20 * 0.1 = 3; it is reversed by 2 * 3 / (1 + 0.01 / 0.004), and back by the next impact.
    assert_close(reals(answer.impacts, "tangent_impulse")[0], 6 / 3.5, 1e-14);
    assert_close(final_series(&answer, "velocity")[0], 1, 1e-12);
    assert_close(final_series(&answer, "angular_velocity")[2], 5, 1e-12);
    assert_true(result(&answer, "max_relative_energy_error") < 1e-13);
    carom_motion_answer_free(&answer);
}

// A ball hits two others at once, where the order of the two impacts decides: the first pair of the list, in every frame and size.
static void impacts_at_one_time_are_taken_in_order(void **state) {
    (void)state;
    for (int k = 0; k < 24; k++) {
        const double angle = 0.37 * k, size = k % 3 == 0 ? 1 : k % 3 == 1 ? 0.1 : 3e4, c = cos(angle), s = sin(angle);
        // Before the turn: the cue ball at the origin, the others at 30 degrees on both sides of its way.
        const double x[3][2] = {{0, 0}, {1.3, 0.75}, {1.3, -0.75}};
        problem balls = {.collisions = {CAROM_SURFACE_SMOOTH, 1, 0}};
        for (int i = 0; i < 3; i++)
            balls.body[i] = (carom_particle){.mass = 0.7,
                                             .inertia = {0.1 * size * size, 0.1 * size * size, 0.1 * size * size},
                                             .radius = 0.5 * size,
                                             .attitude = {1},
                                             .position = {size * (c * x[i][0] - s * x[i][1]), size * (s * x[i][0] + c * x[i][1]), 0}};
        balls.body[0].velocity[0] = size * c;
        balls.body[0].velocity[1] = size * s;
        balls.motion = (carom_bodies_motion){.bodies = 3, .collisions = &balls.collisions};
        carom_motion_answer answer;
        RUN(&balls, &answer, "map", "exact", "duration", "2");
        assert_true(carom_table_rows(answer.impacts) >= 2);
        assert_int_equal(carom_table_integer_column(answer.impacts, carom_table_find(answer.impacts, "other"))[0], 1);
        assert_int_equal(carom_table_integer_column(answer.impacts, carom_table_find(answer.impacts, "other"))[1], 2);
        carom_motion_answer_free(&answer);
    }
}

// Two bodies that touch along n, in which they approach. Every fourth pair are spheres.
static problem touching_pair(int trial, double n[3]) {
    carom_stream stream;
    carom_stream_start(&stream, 17, (uint64_t)trial);
    problem s = {.collisions = {CAROM_SURFACE_COULOMB, carom_stream_uniform(&stream), 0.6 * carom_stream_uniform(&stream)}};
    for (int i = 0; i < 2; i++) {
        carom_particle *body = &s.body[i];
        // Moments that belong to a body: sums of two of three squares.
        const double a[] = {1 + carom_stream_uniform(&stream), 1 + carom_stream_uniform(&stream), 1 + carom_stream_uniform(&stream)};
        *body = (carom_particle){.mass = 1 + carom_stream_uniform(&stream), .radius = 0.5};
        for (int k = 0; k < 3; k++) {
            body->inertia[k] = trial % 4 ? 0.05 * (a[(k + 1) % 3] + a[(k + 2) % 3]) : 0.1;
            body->velocity[k] = carom_stream_normal(&stream);
            body->angular_velocity[k] = 3 * carom_stream_normal(&stream);
        }
        for (int k = 0; k < 4; k++) body->attitude[k] = carom_stream_normal(&stream);
        carom_quaternion_normalise(body->attitude);
    }
    const double speed = distance3(s.body[0].velocity, s.body[1].velocity);
    for (int k = 0; k < 3; k++) n[k] = (s.body[1].velocity[k] - s.body[0].velocity[k]) / speed + 0.3 * carom_stream_uniform(&stream);
    const double size = carom_norm3(n);
    for (int k = 0; k < 3; k++) s.body[0].position[k] = n[k] /= size;
    return s;
}

// Column k of a body's inertia in the inertial frame.
static void inertia_column(const carom_particle *body, int k, double column[3]) {
    const double unit[] = {k == 0, k == 1, k == 2};
    double back[3];
    carom_quaternion_rotate_back(body->attitude, unit, back);
    for (int d = 0; d < 3; d++) back[d] *= body->inertia[d];
    carom_quaternion_rotate(body->attitude, back, column);
}

// The same collision as an impact: velocities in the inertial frame; contact velocities are those of the first body minus those of the
// second.
static carom_impact *impact_of_pair(const problem *s, const double n[3]) {
    double M[144] = {0}, rows[3][12], directions[9], v[12];
    memcpy(directions, n, 3 * sizeof *n);
    carom_complete_frame3(n, directions + 3);
    for (int i = 0; i < 2; i++) {
        const carom_particle *body = &s->body[i];
        const double side = i ? -1 : 1, arm[] = {-side * 0.5 * n[0], -side * 0.5 * n[1], -side * 0.5 * n[2]};
        for (int k = 0; k < 3; k++) {
            double J[3], turn[3];
            inertia_column(body, k, J);
            M[13 * (6 * i + k)] = body->mass;
            // Symmetric to the last bit.
            for (int d = k; d < 3; d++) M[12 * (6 * i + 3 + d) + 6 * i + 3 + k] = M[12 * (6 * i + 3 + k) + 6 * i + 3 + d] = J[d];
            v[6 * i + k] = body->velocity[k];
            v[6 * i + 3 + k] = body->angular_velocity[k];
            carom_cross3(arm, directions + 3 * k, turn);
            for (int d = 0; d < 3; d++) {
                rows[k][6 * i + d] = side * directions[3 * k + d];
                rows[k][6 * i + 3 + d] = side * turn[d];
            }
        }
    }
    const carom_impact_data data = {.nv = 12,
                                    .contacts = 1,
                                    .tangent_dim = 2,
                                    .mass = M,
                                    .normal = rows[0],
                                    .tangent = rows[1],
                                    .friction = &s->collisions.friction,
                                    .restitution = &s->collisions.restitution,
                                    .velocity = v};
    return support_impact(&data);
}

// A collision inside a step gives what the law `stronge` gives for the mass matrix and Jacobians of both bodies.
static void coulomb_impacts_are_those_of_stronge(void **state) {
    (void)state;
    const carom_law *law = carom_law_find(registry, "stronge");
    for (int trial = 0; trial < 40; trial++) {
        double n[3];
        problem s = touching_pair(trial, n);
        s.motion = (carom_bodies_motion){.bodies = 2, .collisions = &s.collisions};
        rodrigues run;
        rodrigues_event event;
        carom_error error;
        carom_answer answer;
        make(&s, RODRIGUES_SPLITTING, false, &run);
        assert_ok(rodrigues_check_gaps(&run, &error), error);
        assert_true(rodrigues_find_event(&run, 0.1, &event));
        assert_true(event.time < 1e-14 && event.body == 0 && event.other == 1);
        assert_ok(rodrigues_collide(&run, &event, &error), error);

        carom_impact *impact = impact_of_pair(&s, n);
        void *options = malloc(law->options_size);
        law->defaults(options);
        assert_ok(carom_law_resolve(law, &(carom_law_call){.impact = impact, .options = options}, &answer, &error), error);
        const double *after = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY);
        for (int i = 0; i < 2; i++) {
            double Omega[3];
            angular_velocity(&run, i, Omega);
            assert_all_close(run.now.velocity + 3 * i, after + 6 * i, 3, 1e-10);
            assert_all_close(Omega, after + 6 * i + 3, 3, 1e-10);
        }
        carom_answer_free(&answer);
        free(options);
        carom_impact_free(impact);
        rodrigues_release(&run);
    }
}

// Spheres of equal mass that meet head on exchange their velocities; a third that stands still passes them on.
static void spheres_pass_on_their_velocity(void **state) {
    (void)state;
    problem s = {.collisions = {CAROM_SURFACE_SMOOTH, 1, 0}};
    s.motion = (carom_bodies_motion){.bodies = 3, .collisions = &s.collisions};
    for (int i = 0; i < 3; i++)
        s.body[i] = (carom_particle){.mass = 1, .inertia = {1, 1, 1}, .radius = 0.5, .position = {2.0 * i, 0, 0}, .attitude = {1}};
    s.body[0].velocity[0] = 1;
    carom_motion_answer answer;
    RUN(&s, &answer, "step", "0.3", "duration", "3");
    assert_int_equal(carom_table_rows(answer.impacts), 2);
    assert_close(reals(answer.impacts, "time")[0], 1, 1e-14);
    assert_close(reals(answer.impacts, "time")[1], 2, 1e-14);
    assert_all_close(final_series(&answer, "position"), ((double[]){1, 0, 0, 3, 0, 0, 5, 0, 0}), 9, 1e-14);
    carom_motion_answer_free(&answer);
}

// A gas of hard rough spheres, without walls: everything is kept, and no two ever overlap.
static void a_gas_keeps_energy_and_momenta(void **state) {
    (void)state;
    problem *s = calloc(1, sizeof *s);
    assert_non_null(s);
    carom_stream stream;
    carom_stream_start(&stream, 2, 0);
    s->collisions = (carom_surface_law){CAROM_SURFACE_ROUGH, 1, 0};
    s->motion = (carom_bodies_motion){.bodies = 125, .collisions = &s->collisions};
    for (int i = 0; i < 125; i++) {
        carom_particle *body = &s->body[i];
        const double radius = 0.2 + 0.1 * carom_stream_uniform(&stream);
        *body = (carom_particle){.mass = 1, .inertia = {0.02, 0.02, 0.02}, .radius = radius, .attitude = {1}};
        const int place[] = {i % 5 - 2, i / 5 % 5 - 2, i / 25 - 2};
        for (int k = 0; k < 3; k++) {
            body->position[k] = 0.7 * place[k];
            // They fly towards the middle.
            body->velocity[k] = 0.3 * carom_stream_normal(&stream) - body->position[k];
        }
    }
    carom_motion_answer answer;
    RUN(s, &answer, "map", "exact", "step", "0.02", "duration", "1", "record", "0");
    assert_true(carom_table_rows(answer.impacts) > 100);
    assert_true(result(&answer, "max_relative_energy_error") < 1e-13);
    assert_true(distance3(reals(answer.final, "momentum"), reals(answer.recorded, "momentum")) < 1e-12);
    assert_true(distance3(reals(answer.final, "angular_momentum"), reals(answer.recorded, "angular_momentum")) < 1e-12);
    const double *x = final_series(&answer, "position");
    for (int i = 0; i < 125; i++)
        for (int j = 0; j < i; j++) assert_true(distance3(x + 3 * i, x + 3 * j) > s->body[i].radius + s->body[j].radius - 1e-12);
    carom_motion_answer_free(&answer);
    free(s);
}

static void bodies_that_come_to_rest_end_the_run(void **state) {
    (void)state;
    problem s = {.body = {{.mass = 1, .inertia = {1, 1, 1}, .radius = 0.1, .position = {0, 0, 1}, .attitude = {1}}},
                 .potential = {{.type = CAROM_POTENTIAL_GRAVITY, .acceleration = {0, 0, -10}}},
                 .wall = {{{0, 0, 1}, 0, {CAROM_SURFACE_SMOOTH, 0.5, 0}}},
                 .motion = {.bodies = 1, .potentials = 1, .walls = 1}};
    carom_motion_answer answer;
    RUN(&s, &answer, "max_impacts", "100", "duration", "5");
    assert_string_equal(verdict(&answer), "zeno-limit");
    assert_non_null(strstr(message(&answer), "body 0 has more than 100 impacts"));
    // Falls, and hops that halve: sqrt(2 h/g) (1 + 2 (e + e^2 + ...)) = 3 sqrt(0.18).
    assert_true(fabs(result(&answer, "time") - 3 * sqrt(0.18)) < 0.011);
    carom_motion_answer_free(&answer);
}

// ---------------------------------------------------------------------------------------------------------- neighbours

static bool is_listed(const rodrigues_neighbours *list, int i, int j) {
    for (int64_t k = list->start[i]; k < list->start[i + 1]; k++)
        if (list->second[k] == j) return true;
    return false;
}

// All pairs in contact are listed, once, in clouds that are dense, loose, far from the origin, and move.
static void neighbours_are_complete(void **state) {
    (void)state;
    enum { BODIES = 200, MOVES = 20 };
    double x[3 * BODIES], radii[BODIES];
    carom_stream stream;
    for (int cloud = 0; cloud < 6; cloud++) {
        carom_stream_start(&stream, 23, (uint64_t)cloud);
        const double size = cloud % 3 + 0.5, away = cloud < 3 ? 0 : -1e6;
        for (int i = 0; i < BODIES; i++) radii[i] = 0.3 * carom_stream_uniform(&stream);
        for (int i = 0; i < 3 * BODIES; i++) x[i] = away + size * carom_stream_normal(&stream);
        rodrigues_neighbours list;
        carom_error error;
        assert_ok(rodrigues_neighbours_create(BODIES, &list, &error), error);
        int contacts = 0;
        for (int move = 0; move < MOVES; move++) {
            for (int i = 0; i < 3 * BODIES; i++) x[i] += 0.02 * carom_stream_normal(&stream);
            assert_true(rodrigues_neighbours_update(&list, x, radii, 0));
            for (int i = 0; i < BODIES; i++) {
                for (int j = i + 1; j < BODIES; j++) {
                    const bool touch = distance3(x + 3 * i, x + 3 * j) < radii[i] + radii[j];
                    contacts += touch;
                    assert_true(!touch || is_listed(&list, i, j));
                }
                for (int64_t k = list.start[i] + 1; k < list.start[i + 1]; k++) assert_int_not_equal(list.second[k - 1], list.second[k]);
            }
        }
        assert_true(contacts > 0);
        // Not every move needs a new list.
        assert_true(list.generation < MOVES);
        rodrigues_neighbours_release(&list);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_contacts_are_found),
        cmocka_unit_test(impacts_keep_the_order),
        cmocka_unit_test(elastic_impacts_keep_the_energy),
        cmocka_unit_test(impacts_at_one_time_are_taken_in_order),
        cmocka_unit_test(bouncing_balls_are_exact),
        cmocka_unit_test(coulomb_impacts_are_those_of_stronge),
        cmocka_unit_test(spheres_pass_on_their_velocity),
        cmocka_unit_test(a_gas_keeps_energy_and_momenta),
        cmocka_unit_test(bodies_that_come_to_rest_end_the_run),
        cmocka_unit_test(neighbours_are_complete),
    };
    return cmocka_run_group_tests_name("rodrigues impacts", tests, start, stop);
}
