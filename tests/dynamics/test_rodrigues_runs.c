// SPDX-License-Identifier: Apache-2.0
// Runs of the integrator `rodrigues`: threads, recorded states, every way in which a run may end, and what is refused.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rodrigues_support.h"

static void digest_final(const carom_motion_answer *answer, char text[CAROM_DIGEST_TEXT_SIZE]) {
    carom_digest *digest;
    carom_error error;
    assert_ok(carom_digest_create(&digest, &error), error);
    const char *const names[] = {"position", "attitude", "velocity", "angular_velocity"};
    for (int k = 0; k < 4; k++) {
        int count;
        const double *values = carom_table_series(answer->final, carom_table_find(answer->final, names[k]), 0, &count);
        carom_digest_add_doubles(digest, values, (size_t)count);
    }
    carom_digest_finish(digest, text);
    carom_digest_free(digest);
}

// A cluster of several blocks whose bodies also press on each other and hit walls.
static void threads_change_nothing(void **state) {
    (void)state;
    problem *s = create_cluster(700, CAROM_SHEAR_OBJECTIVE);
    carom_error error;
    for (int i = 0; i < 700; i++) s->body[i].radius = 0.2;
    s->potential[1] = (carom_potential){.type = CAROM_POTENTIAL_HERTZ, .hertz = {.Kpp = 10}};
    s->wall[0] = (carom_wall){{0, 0, 1}, 9, {CAROM_SURFACE_COULOMB, 0.7, 0.3}};
    borrow(s, 700, 2);
    s->motion.walls = 1;
    char digests[3][CAROM_DIGEST_TEXT_SIZE];
    const int threads[] = {1, 2, 5};
    for (int k = 0; k < 3; k++) {
        carom_motion_answer answer;
        assert_ok(try_run(&s->motion, (const char *[]){"step", "0.002", "duration", "0.4", "energy_limit", "10", NULL}, threads[k], &answer,
                          &error),
                  error);
        assert_string_equal(verdict(&answer), "complete");
        digest_final(&answer, digests[k]);
        carom_motion_answer_free(&answer);
    }
    assert_string_equal(digests[0], digests[1]);
    assert_string_equal(digests[0], digests[2]);
    free(s);
}

static void states_are_recorded(void **state) {
    (void)state;
    problem s = pendulum();
    carom_motion_answer answer;
    RUN(&s, &answer, "step", "0.1", "duration", "1", "record", "0.5,1,0,7");
    assert_int_equal(carom_table_rows(answer.recorded), 3);
    assert_all_close(reals(answer.recorded, "time"), ((double[]){0, 0.5, 1}), 3, 1e-15);
    assert_int_equal(carom_table_integer_column(answer.result, CAROM_MOTION_STEPS)[0], 10);
    carom_motion_answer_free(&answer);
    RUN(&s, &answer, "duration", "0");
    assert_string_equal(verdict(&answer), "complete");
    assert_all_close(final_series(&answer, "attitude"), s.body[0].attitude, 4, 1e-15);
    carom_motion_answer_free(&answer);
    // No body at all.
    s.motion.bodies = s.motion.potentials = 0;
    RUN(&s, &answer, "duration", "1");
    assert_string_equal(verdict(&answer), "complete");
    carom_motion_answer_free(&answer);
}

static void fast_spins_are_refused_by_sin(void **state) {
    (void)state;
    problem s = pendulum();
    s.body[0].angular_velocity[0] = 12;
    carom_motion_answer answer;
    RUN(&s, &answer, "map", "sin", "step", "0.1", "duration", "1");
    assert_string_equal(verdict(&answer), "step-too-large");
    assert_non_null(strstr(message(&answer), "body 0 turns by h |Omega| = 1.2"));
    assert_non_null(strstr(message(&answer), "the step must be below 0.083"));
    // The state is that of the last whole step.
    assert_all_close(final_series(&answer, "angular_velocity"), s.body[0].angular_velocity, 3, 1e-15);
    assert_close(result(&answer, "time"), 0, 0);
    carom_motion_answer_free(&answer);
    // Exactly 1 is too much, too.
    problem limit = {.body = {{.mass = 1, .inertia = {1, 1, 1}, .attitude = {1}, .angular_velocity = {0, 0, 4}}}, .motion = {.bodies = 1}};
    RUN(&limit, &answer, "map", "sin", "step", "0.25");
    assert_string_equal(verdict(&answer), "step-too-large");
    carom_motion_answer_free(&answer);
    // `tan` goes on, and counts.
    RUN(&limit, &answer, "step", "0.75", "duration", "7.5");
    assert_int_equal(carom_table_integer_column(answer.result, carom_table_find(answer.result, "fast_turns"))[0], 10);
    carom_motion_answer_free(&answer);
}

static void spoil(void *user, int bodies, const double *x, const double *q, double *force, double *torque, double *energy) {
    (void)user, (void)q, (void)torque, (void)energy;
    for (int i = 0; i < bodies; i++)
        if (x[3 * i] > 0.5) force[3 * i] = NAN;
}

static void forces_that_are_not_finite_end_the_run(void **state) {
    (void)state;
    problem s = {.body = {{.mass = 1, .inertia = {1, 1, 1}, .attitude = {1}, .velocity = {1, 0, 0}}},
                 .potential = {{.type = CAROM_POTENTIAL_USER, .callback = {spoil, NULL}}},
                 .motion = {.bodies = 1, .potentials = 1}};
    carom_motion_answer answer;
    RUN(&s, &answer, "step", "0.1", "duration", "2");
    assert_string_equal(verdict(&answer), "no-force");
    assert_non_null(strstr(message(&answer), "body 0"));
    assert_close(final_series(&answer, "position")[0], 0.5, 1e-14);
    carom_motion_answer_free(&answer);
    // Two bonded bodies that fly into each other's centers.
    problem pair = {.pairs = {0, 1}, .motion = {.bodies = 2, .potentials = 1}};
    for (int i = 0; i < 2; i++)
        pair.body[i] = (carom_particle){
            .mass = 1, .inertia = {1, 1, 1}, .position = {i ? 1 : -1, 0, 0}, .attitude = {1}, .velocity = {i ? -1 : 1, 0, 0}};
    pair.potential[0] = (carom_potential){.type = CAROM_POTENTIAL_BONDS, .bonds = {.count = 1, .pairs = pair.pairs}};
    RUN(&pair, &answer, "step", "0.5", "duration", "2");
    assert_string_equal(verdict(&answer), "no-force");
    assert_non_null(strstr(message(&answer), "the centers of bodies 0 and 1 coincide in step 2"));
    carom_motion_answer_free(&answer);
}

static bool stop_at_once(void *user) {
    (void)user;
    return true;
}

static void runs_can_be_stopped(void **state) {
    (void)state;
    problem s = pendulum();
    borrow(&s, 1, 1);
    const carom_motion motion = {.form = CAROM_MOTION_BODIES, .bodies = &s.motion};
    const carom_control control = {.cancelled = stop_at_once};
    carom_motion_answer answer;
    carom_error error;
    const carom_motion_request request = {carom_integrator_find(registry, "rodrigues"), &motion, NULL, registry, NULL, &control, NULL};
    assert_ok(carom_integrator_run(&request, NULL, &answer, &error), error);
    assert_string_equal(verdict(&answer), "interrupted");
    carom_motion_answer_free(&answer);
}

static bool stop_the_second_time(void *user) { return ++*(int *)user > 1; }

// A single step with hundreds of impacts between two walls stops after one of them; what happened before is kept.
static void steps_with_many_impacts_can_be_stopped(void **state) {
    (void)state;
    problem s = {.body = {{.mass = 1, .inertia = {1, 1, 1}, .radius = 0.1, .attitude = {1}, .velocity = {1, 0, 0}}},
                 .wall = {{{1, 0, 0}, 1, {CAROM_SURFACE_SMOOTH, 1, 0}}, {{-1, 0, 0}, 1, {CAROM_SURFACE_SMOOTH, 1, 0}}},
                 .motion = {.walls = 2}};
    borrow(&s, 1, 0);
    const carom_motion motion = {.form = CAROM_MOTION_BODIES, .bodies = &s.motion};
    int looks = 0;
    const carom_control control = {.user = &looks, .cancelled = stop_the_second_time};
    const carom_integrator *one = carom_integrator_find(registry, "rodrigues");
    void *options = malloc(one->options_size);
    assert_non_null(options);
    one->defaults(options);
    carom_motion_answer answer;
    carom_error error;
    for (int i = 0; i < one->option_count; i++)
        if (!strcmp(one->options[i].name, "step") || !strcmp(one->options[i].name, "duration"))
            assert_ok(carom_option_set(&one->options[i], options, "1000", &error), error);
    assert_ok(carom_integrator_run(&(carom_motion_request){one, &motion, options, registry, NULL, &control, NULL}, NULL, &answer, &error),
              error);
    assert_string_equal(verdict(&answer), "interrupted");
    const int64_t impacts = carom_table_rows(answer.impacts);
    assert_in_range(impacts, 1, 100);
    assert_close(result(&answer, "time"), 0.9 + 1.8 * (double)(impacts - 1), 1e-12);
    assert_close(fabs(final_series(&answer, "position")[0]), 0.9, 1e-12);
    carom_motion_answer_free(&answer);
    free(options);
}

// Spoils one thing of a motion that is otherwise good.
typedef void change(problem *s);

static void no_mass(problem *s) { s->body[0].mass = 0; }
static void bad_inertia(problem *s) { s->body[0].inertia[1] = NAN; }
static void impossible_inertia(problem *s) { s->body[0].inertia[1] = 2.1; }
static void a_top(problem *s) { s->body[0].inertia[2] = 2; }
static void no_body(problem *s) {
    s->body[0].inertia[1] = 2;
    s->body[0].inertia[2] = 3;
}
static void long_quaternion(problem *s) { s->body[0].attitude[0] = 1.1; }
static void endless_velocity(problem *s) { s->body[0].velocity[2] = INFINITY; }
static void below_zero_radius(problem *s) { s->body[0].radius = -1; }
static void bad_gravity(problem *s) { s->potential[0].offset_mass.gravity = NAN; }
static void no_callback(problem *s) { s->potential[0] = (carom_potential){.type = CAROM_POTENTIAL_USER}; }
static void bond_to_nobody(problem *s) {
    s->pairs[1] = 7;
    s->potential[0] = (carom_potential){.type = CAROM_POTENTIAL_BONDS, .bonds = {.count = 1, .pairs = s->pairs}};
}
static void bond_to_itself(problem *s) {
    s->potential[0] = (carom_potential){.type = CAROM_POTENTIAL_BONDS, .bonds = {.count = 1, .pairs = s->pairs}};
}
static void planes_without_list(problem *s) { s->potential[0] = (carom_potential){.type = CAROM_POTENTIAL_HERTZ, .hertz = {.planes = 2}}; }
static void fewer_than_no_walls(problem *s) { s->motion.walls = -1; }
static void flat_wall(problem *s) {
    s->wall[0] = (carom_wall){.offset = 1};
    s->motion.walls = 1;
}
static void lively_wall(problem *s) {
    s->wall[0] = (carom_wall){{0, 0, 1}, 1, {CAROM_SURFACE_SMOOTH, 1.5, 0}};
    s->motion.walls = 1;
}
static void inside_a_wall(problem *s) {
    s->wall[0] = (carom_wall){{0, 0, 1}, -1, {CAROM_SURFACE_SMOOTH, 1, 0}};
    s->motion.walls = 1;
}
static void collisions_of_points(problem *s) { s->motion.collisions = &s->collisions; }

static void bad_motions_are_refused(void **state) {
    (void)state;
    static const struct {
        change *spoils;
        carom_status status;
        const char *text;
    } rows[] = {{no_mass, CAROM_BAD_INPUT, "bodies[0].mass"},
                {bad_inertia, CAROM_BAD_INPUT, "bodies[0].inertia"},
                {impossible_inertia, CAROM_BAD_INPUT, "no mass distribution has the moments 1, 2.1, 1"},
                {a_top, CAROM_UNSUPPORTED, "map splitting or implicit, or exact"},
                {no_body, CAROM_UNSUPPORTED, "map splitting or implicit"},
                {long_quaternion, CAROM_BAD_INPUT, "bodies[0].attitude"},
                {endless_velocity, CAROM_BAD_INPUT, "bodies[0].velocity"},
                {below_zero_radius, CAROM_BAD_INPUT, "bodies[0].radius"},
                {bad_gravity, CAROM_BAD_INPUT, "potentials[0].gravity"},
                {no_callback, CAROM_BAD_INPUT, "callback is missing"},
                {bond_to_nobody, CAROM_BAD_INPUT, "bodies 0 and 7"},
                {bond_to_itself, CAROM_BAD_INPUT, "with itself"},
                {planes_without_list, CAROM_BAD_INPUT, "potentials: planes: there is no list of 2 entries"},
                {fewer_than_no_walls, CAROM_BAD_INPUT, "walls: there is no list"},
                {flat_wall, CAROM_BAD_INPUT, "walls[0].normal"},
                {lively_wall, CAROM_BAD_INPUT, "walls[0].restitution"},
                {inside_a_wall, CAROM_BAD_INPUT, "wall 0"},
                {collisions_of_points, CAROM_BAD_INPUT, "bodies[0].radius"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        problem s = pendulum();
        carom_motion_answer answer;
        carom_error error;
        rows[k].spoils(&s);
        borrow(&s, 1, 1);
        assert_refused(try_run(&s.motion, NULL, 1, &answer, &error), rows[k].status, error, rows[k].text);
    }
}

static void bad_options_are_refused(void **state) {
    (void)state;
    static const char *const rows[][5] = {{"record", "1,x", NULL, NULL, "record: 'x'"},
                                          {"order", "4", "map", "first-order", "order: 4 is composed of symmetric steps"},
                                          {"step", "1e-300", NULL, NULL, "step: "}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        problem s = pendulum();
        carom_motion_answer answer;
        carom_error error;
        borrow(&s, 1, 1);
        const char *const pairs[] = {rows[k][0], rows[k][1], rows[k][2], rows[k][3], NULL};
        assert_refused(try_run(&s.motion, pairs, 1, &answer, &error), CAROM_BAD_INPUT, error, rows[k][4]);
    }
    problem s = magnet_above_floor(CAROM_SURFACE_SMOOTH, 1);
    carom_motion_answer answer;
    carom_error error;
    borrow(&s, 1, 1);
    assert_refused(try_run(&s.motion, (const char *[]){"order", "4", NULL}, 1, &answer, &error), CAROM_BAD_INPUT, error, "without impacts");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),        cmocka_unit_test(states_are_recorded),
        cmocka_unit_test(fast_spins_are_refused_by_sin), cmocka_unit_test(forces_that_are_not_finite_end_the_run),
        cmocka_unit_test(runs_can_be_stopped),           cmocka_unit_test(steps_with_many_impacts_can_be_stopped),
        cmocka_unit_test(bad_motions_are_refused),       cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests_name("rodrigues runs", tests, start, stop);
}
