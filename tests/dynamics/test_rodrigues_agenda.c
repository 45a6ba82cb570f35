// SPDX-License-Identifier: Apache-2.0
// The integrator `rodrigues`: impacts one by one, where nothing but gravity acts between them, against steps that are cut for all bodies,
// and against the kinetic theory of hard spheres.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rodrigues_support.h"

static const int64_t *integers(const carom_table *table, const char *name) {
    return carom_table_integer_column(table, carom_table_find(table, name));
}

// Bodies of different sizes and masses on a grid in a box, thrown in all directions; with gravity and losses for some numbers.
static problem *create_crowd(int number) {
    problem *s = calloc(1, sizeof *s);
    assert_non_null(s);
    carom_stream stream;
    carom_stream_start(&stream, 29, (uint64_t)number);
    const int bodies = 60;
    const double size = number % 3 == 0 ? 1 : number % 3 == 1 ? 1e-3 : 1e4, away = number % 2 ? 100 * size : 0;
    for (int i = 0; i < bodies; i++) {
        carom_particle *body = &s->body[i];
        const double radius = size * (0.1 + 0.3 * carom_stream_uniform(&stream)), mass = 0.5 + carom_stream_uniform(&stream);
        const double moment = 0.4 * mass * radius * radius;
        const int place[] = {i % 4, i / 4 % 4, i / 16};
        *body = (carom_particle){.mass = mass, .inertia = {moment, moment, moment}, .radius = radius, .attitude = {1}};
        for (int k = 0; k < 3; k++) {
            body->position[k] = away + size * (0.9 * place[k] + 0.5);
            body->velocity[k] = size * carom_stream_normal(&stream);
            body->angular_velocity[k] = carom_stream_normal(&stream);
        }
    }
    const carom_surface surface = (carom_surface)(number % 3);
    const carom_surface_law law = {surface, number % 4 == 3 ? 0.9 : 1, surface == CAROM_SURFACE_COULOMB ? 0.3 : 0};
    for (int w = 0; w < 6; w++) {
        s->wall[w] = (carom_wall){.law = law};
        s->wall[w].normal[w / 2] = w % 2 ? -2 : 2;
        s->wall[w].offset = w % 2 ? 2 * (away + 4 * size) : -2 * away;
    }
    s->collisions = law;
    s->potential[0] = (carom_potential){.type = CAROM_POTENTIAL_GRAVITY, .acceleration = {0.1 * size, 0, number % 4 ? -2 * size : 0}};
    // A magnet without moment in no field does nothing, but is no gravity.
    s->potential[1] = (carom_potential){.type = CAROM_POTENTIAL_DIPOLE, .dipole = {.direction = {0, 0, 1}}};
    s->motion = (carom_bodies_motion){.bodies = bodies, .walls = 6, .collisions = &s->collisions, .potentials = 1};
    return s;
}

// The same impacts, in the same order, at the same times, with the same impulses, and the same states after them. Chaos lets rounding grow
// a thousandfold with every few impacts of a body; so a few impacts each are compared.
static void impacts_one_by_one_are_those_of_cut_steps(void **state) {
    (void)state;
    int compared = 0;  // of all crowds
    for (int number = 0; number < 12; number++) {
        problem *s = create_crowd(number);
        carom_motion_answer each, cut;
        RUN(s, &each, "map", "exact", "step", "0.05", "duration", "0.7");
        s->motion.potentials = 2;
        RUN(s, &cut, "map", "exact", "step", "0.05", "duration", "0.7");
        const int64_t impacts = carom_table_rows(cut.impacts);
        assert_true(impacts > 60);
        assert_int_equal(carom_table_rows(each.impacts), impacts);
        compared += (int)impacts;
        for (const char *const *name = (const char *[]){"step", "body", "other", "wall", NULL}; *name; name++)
            assert_memory_equal(integers(each.impacts, *name), integers(cut.impacts, *name), (size_t)impacts * sizeof(int64_t));
        for (const char *const *name = (const char *[]){"time", "approach_speed", "normal_impulse", "tangent_impulse", NULL}; *name;
             name++) {
            const double *a = reals(each.impacts, *name), *b = reals(cut.impacts, *name);
            double scale = 0;
            for (int64_t k = 0; k < impacts; k++) scale = fmax(scale, fabs(b[k]));
            for (int64_t k = 0; k < impacts; k++) assert_close(a[k], b[k], 1e-8 * scale);
        }
        double scale = 0;
        const double *x = final_series(&each, "position"), *y = final_series(&cut, "position");
        const double *q = final_series(&each, "attitude"), *r = final_series(&cut, "attitude");
        for (int i = 0; i < s->motion.bodies; i++) scale = fmax(scale, carom_norm3(y + 3 * i));
        for (int i = 0; i < s->motion.bodies; i++) {
            assert_true(distance3(x + 3 * i, y + 3 * i) < 1e-8 * scale);
            assert_true(attitude_error(q + 4 * i, r + 4 * i) < 1e-6);
        }
        carom_motion_answer_free(&each);
        carom_motion_answer_free(&cut);
        free(s);
    }
    assert_true(compared > 1000);
}

// Whatever the steps are, when they are recorded, and on how many threads.
static void impacts_do_not_depend_on_the_grid(void **state) {
    (void)state;
    problem *s = create_crowd(0);
    carom_motion_answer coarse, fine;
    RUN(s, &coarse, "map", "exact", "step", "0.7", "duration", "0.7");
    RUN(s, &fine, "map", "exact", "step", "0.001", "duration", "0.7");
    const int64_t impacts = carom_table_rows(coarse.impacts);
    assert_int_equal(carom_table_rows(fine.impacts), impacts);
    assert_memory_equal(integers(fine.impacts, "body"), integers(coarse.impacts, "body"), (size_t)impacts * sizeof(int64_t));
    assert_true(distance3(final_series(&fine, "position"), final_series(&coarse, "position")) < 1e-9);
    carom_motion_answer_free(&coarse);
    carom_motion_answer_free(&fine);
    free(s);
}

// A run that ends within a step has all bodies at that time: the energy, of which gravity is a part, is that of the start.
static void runs_that_end_within_a_step_end_at_one_time(void **state) {
    (void)state;
    problem *s = create_crowd(1);
    s->motion.bodies = 2;
    s->motion.collisions = NULL;
    for (int i = 0; i < 2; i++) {
        const double x[] = {0.101 + 0.001 * i, 0.101, 0.101};
        memcpy(s->body[i].position, x, sizeof x);
    }
    carom_motion_answer answer;
    RUN(s, &answer, "map", "exact", "step", "100", "duration", "100", "max_impacts", "20", "record", "0");
    assert_string_equal(verdict(&answer), "zeno-limit");
    const double time = reals(answer.final, "time")[0];
    assert_true(time > 0 && time < 100);
    assert_close(time, reals(answer.impacts, "time")[carom_table_rows(answer.impacts) - 1], 1);
    const double initial = reals(answer.recorded, "energy")[0];
    assert_close(reals(answer.final, "energy")[0], initial, 1e-12 * fabs(reals(answer.recorded, "translational_energy")[0]));
    carom_motion_answer_free(&answer);
    free(s);
}

// A body that flies past others, and one that rests until it is hit, far from everything and without walls.
static void empty_space_is_crossed(void **state) {
    (void)state;
    problem s = {.collisions = {CAROM_SURFACE_SMOOTH, 1, 0}};
    s.motion = (carom_bodies_motion){.bodies = 3, .collisions = &s.collisions};
    for (int i = 0; i < 3; i++)
        s.body[i] = (carom_particle){.mass = 1, .inertia = {1, 1, 1}, .radius = 0.5, .position = {1000 * i, 0, 0}, .attitude = {1}};
    s.body[0].velocity[0] = 50;
    carom_motion_answer answer;
    RUN(&s, &answer, "map", "exact", "step", "10", "duration", "100");
    assert_int_equal(carom_table_rows(answer.impacts), 2);
    for (int k = 0; k < 2; k++) {
        assert_close(reals(answer.impacts, "time")[k], 999.0 / 50 * (k + 1), 1e-12);
        assert_int_equal(integers(answer.impacts, "other")[k], k + 1);
    }
    carom_motion_answer_free(&answer);
}

// A cloud that spreads to a hundred thousand times its size: cells grow with it, or each body would change its own a million times.
static void clouds_spread(void **state) {
    (void)state;
    problem *s = calloc(1, sizeof *s);
    assert_non_null(s);
    carom_stream stream;
    carom_stream_start(&stream, 32, 0);
    s->collisions = (carom_surface_law){.restitution = 1};
    s->wall[0] = (carom_wall){.normal = {0, 0, 1}, .law = {.restitution = 1}};
    // The second potential does nothing, but is no gravity: with it, all bodies take each step.
    s->potential[1] = (carom_potential){.type = CAROM_POTENTIAL_DIPOLE, .dipole = {.direction = {0, 0, 1}}};
    s->potential[0] = (carom_potential){.type = CAROM_POTENTIAL_GRAVITY};
    for (int i = 0; i < 64; i++) {
        const int place[] = {i % 4, i / 4 % 4, i / 16};
        s->body[i] = (carom_particle){.mass = 1, .inertia = {1e-12, 1e-12, 1e-12}, .radius = 1e-5, .attitude = {1}};
        for (int k = 0; k < 3; k++) {
            s->body[i].position[k] = 3e-5 * place[k] + (k == 2 ? 1e-3 : 0);
            s->body[i].velocity[k] = carom_stream_normal(&stream);
        }
    }
    for (int bodies = 8; bodies <= 64; bodies += 56) {
        s->motion = (carom_bodies_motion){.bodies = bodies, .walls = 1, .collisions = &s->collisions, .potentials = 1};
        carom_motion_answer each, cut;
        RUN(s, &each, "map", "exact", "step", "5", "duration", "10");
        s->motion.potentials = 2;
        RUN(s, &cut, "map", "exact", "step", "5", "duration", "10");
        const int64_t impacts = carom_table_rows(cut.impacts);
        assert_true(impacts >= 4);
        assert_int_equal(carom_table_rows(each.impacts), impacts);
        assert_memory_equal(integers(each.impacts, "body"), integers(cut.impacts, "body"), (size_t)impacts * sizeof(int64_t));
        for (int i = 0; i < bodies; i++)
            assert_true(distance3(final_series(&each, "position") + 3 * i, final_series(&cut, "position") + 3 * i) < 1e-6);
        carom_motion_answer_free(&each);
        carom_motion_answer_free(&cut);
    }
    free(s);
}

// N hard spheres of diameter d in a box, at equilibrium: Enskog's collision rate is N 2 n d^2 sqrt(pi kT/m) g, and the pressure is
// n kT (1 + 4 phi g), with g = (1 - phi/2)/(1 - phi)^3 (Carnahan & Starling 1969) and n the density in the box of side L - d that centers
// reach. Within d of its walls a part of the directions from which others come is behind the wall: (1 - z/d)/2 at a distance z, which
// takes 3d/2(L - d) off the rate. What is left out, the higher density near the walls, is of the order of phi times that.
static void gases_agree_with_kinetic_theory(void **state) {
    (void)state;
    enum { SIDE = 20, BODIES = SIDE * SIDE * SIDE };
    const double d = 0.1, phi = 0.02, start_time = 1, duration = 5;
    const double n = 6 * phi / (PI * d * d * d), L = cbrt(BODIES / n) + d;
    carom_particle *body = calloc(BODIES, sizeof *body);
    assert_non_null(body);
    carom_stream stream;
    carom_stream_start(&stream, 31, 0);
    for (int i = 0; i < BODIES; i++) {
        const int place[] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        body[i] = (carom_particle){.mass = 1, .inertia = {0.001, 0.001, 0.001}, .radius = 0.5 * d, .attitude = {1}};
        for (int k = 0; k < 3; k++) {
            body[i].position[k] = L * ((place[k] + 0.5) / SIDE - 0.5);
            body[i].velocity[k] = carom_stream_normal(&stream);
        }
    }
    carom_wall wall[6];
    for (int w = 0; w < 6; w++) {
        wall[w] = (carom_wall){.offset = 0.5 * L, .law = {.restitution = 1}};
        wall[w].normal[w / 2] = w % 2 ? -1 : 1;
    }
    const carom_surface_law law = {.restitution = 1};
    const carom_bodies_motion motion = {.bodies = BODIES, .body = body, .walls = 6, .wall = wall, .collisions = &law};
    // The temperature is that of the random start, which nothing changes.
    double kinetic = 0;
    for (int i = 0; i < BODIES; i++) kinetic += 0.5 * carom_dot3(body[i].velocity, body[i].velocity);
    const double temperature = 2 * kinetic / (3 * BODIES);
    carom_motion_answer answer;
    carom_error error;
    assert_ok(try_run(&motion, (const char *[]){"map", "exact", "step", "1", "duration", "6", NULL}, 1, &answer, &error), error);
    assert_true(result(&answer, "max_relative_energy_error") < 1e-12);
    const double *time = reals(answer.impacts, "time"), *impulse = reals(answer.impacts, "normal_impulse");
    const int64_t *other = integers(answer.impacts, "other");
    const double *approach = reals(answer.impacts, "approach_speed");
    double collisions = 0, push = 0, speed = 0;
    for (int64_t k = 0; k < carom_table_rows(answer.impacts); k++) {
        if (time[k] < start_time) continue;
        if (other[k] >= 0) collisions++, speed += approach[k];
        if (other[k] < 0) push += impulse[k];
    }
    const double g = (1 - 0.5 * phi) / pow(1 - phi, 3);
    const double rate = BODIES * 2 * n * d * d * sqrt(PI * temperature) * g * (1 - 1.5 * d / (L - d)),
                 pressure = n * temperature * (1 + 4 * phi * g);
    const double area = 6 * (L - d) * (L - d);
    assert_close(collisions / duration / rate, 1, 0.02);
    assert_close(push / duration / area / pressure, 1, 0.02);
    assert_close(speed / collisions / sqrt(PI * temperature), 1, 0.01);
    carom_motion_answer_free(&answer);
    free(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impacts_one_by_one_are_those_of_cut_steps),
        cmocka_unit_test(impacts_do_not_depend_on_the_grid),
        cmocka_unit_test(runs_that_end_within_a_step_end_at_one_time),
        cmocka_unit_test(empty_space_is_crossed),
        cmocka_unit_test(clouds_spread),
        cmocka_unit_test(gases_agree_with_kinetic_theory),
    };
    return cmocka_run_group_tests_name("rodrigues agenda", tests, start, stop);
}
