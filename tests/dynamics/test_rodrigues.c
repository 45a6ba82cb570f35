// SPDX-License-Identifier: Apache-2.0
// The integrator `rodrigues`: reference states of the pendulum, errors, orders and invariants, forces against their energies, bonded
// clusters, impacts inside steps, neighbours, bodies that are not spheres, and every way in which a run may end.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"
#include "integrators.h"

#define PI 3.141592653589793

// ------------------------------------------------------------------------------------------------------------- motions

// One body, or all of a ring, with what its motion borrows.
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

static void borrow(problem *s, int bodies, int potentials) {
    s->motion.bodies = bodies;
    s->motion.body = s->body;
    s->motion.potentials = potentials;
    s->motion.potential = s->potential;
    s->motion.wall = s->wall;
}

// Baker & Gonzalez, section 4.1, with m = g = J = 1.
static problem pendulum(void) {
    return (problem){.body = {{.mass = 1,
                               .inertia = {1, 1, 1},
                               .attitude = {0.38268343236508977, 0, 0.92387953251128674, 0},
                               .angular_velocity = {0.2, 0, 0.2}}},
                     .potential = {{.type = CAROM_POTENTIAL_OFFSET_MASS, .offset_mass = {1, {0, 0, 1}}}},
                     .motion = {.bodies = 1, .potentials = 1}};
}

// A magnet in a linear field, with a trap and gravity.
static problem magnet(void) {
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

// The ring of section 4.2. Bonds (k, k + 1), particle 0 touches the wall x1 = 0.
static problem *create_torus(carom_shear shear) {
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

// A cluster in free flight: n bodies at random, of different size, all turning, bonded in a ring.
static problem *create_cluster(int n, carom_shear shear) {
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

// ------------------------------------------------------------------------------------------------------------- running

static void make(problem *s, rodrigues_map map, bool fourth, rodrigues *run) {
    carom_error error;
    borrow(s, s->motion.bodies, s->motion.potentials);
    assert_ok(rodrigues_create(&s->motion, map, fourth, 1, run, &error), error);
}

static void do_steps(rodrigues *run, double h, int64_t steps) {
    for (int64_t k = 0; k < steps; k++) assert_true(rodrigues_step(run, h));
}

static carom_status try_run(const carom_bodies_motion *bodies, const char *const *pairs, int threads, carom_motion_answer *answer,
                            carom_error *error) {
    const carom_motion motion = {.form = CAROM_MOTION_BODIES, .bodies = bodies};
    const carom_control control = {.threads = threads};
    return run_integrator("rodrigues", &motion, pairs, &control, NULL, answer, error);
}

#define RUN(s, answer, ...) run_with(s, answer, (const char *[]){__VA_ARGS__, NULL})

static void run_with(problem *s, carom_motion_answer *answer, const char *const *pairs) {
    carom_error error;
    borrow(s, s->motion.bodies, s->motion.potentials);
    assert_ok(try_run(&s->motion, pairs, 1, answer, &error), error);
}

static double result(const carom_motion_answer *answer, const char *name) { return reals(answer->result, name)[0]; }

static const double *final_series(const carom_motion_answer *answer, const char *name) {
    int count;
    return carom_table_series(answer->final, carom_table_find(answer->final, name), 0, &count);
}

static const char *message(const carom_motion_answer *answer) {
    return carom_table_text(answer->result, carom_table_find(answer->result, "message"), 0);
}

// Angle between two attitudes.
static double attitude_error(const double q[4], const double reference[4]) {
    double turn[4];
    carom_quaternion_difference(q, reference, turn);
    return carom_quaternion_angle(turn);
}

static double distance3(const double a[3], const double b[3]) {
    const double d[] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return carom_norm3(d);
}

static void angular_velocity(const rodrigues *run, int64_t i, double Omega[3]) { rodrigues_angular_velocity(run, &run->now, i, Omega); }

// ------------------------------------------------------------------------------------------------------------ pendulum

// States of the pendulum, which composed steps of four maps agree on to 1e-12.
static const struct {
    double time, q[4], Omega[3];
} known[] = {
    {1, {0.541957162610, -0.051815844260, 0.825754885715, 0.147398849717}, {0.346753657393, -0.771849345057, 0.2}},
    {2, {0.890668539670, -0.069350268066, 0.300931257315, 0.333677196003}, {0.726149282998, -1.595444908462, 0.2}},
    {5, {0.262410843547, 0.145179892492, -0.904275048155, 0.303891403775}, {-0.313900216207, -0.022758757365, 0.2}},
    {10, {0.058717609919, 0.278920336212, -0.844210178591, -0.453943677890}, {0.408223190112, 0.354426115107, 0.2}},
};

static void known_states_are_met(void **state) {
    (void)state;
    const rodrigues_map maps[] = {RODRIGUES_SIN, RODRIGUES_TAN, RODRIGUES_EXACT, RODRIGUES_CUBIC};
    for (int m = 0; m < 4; m++) {
        problem s = pendulum();
        rodrigues run;
        make(&s, maps[m], true, &run);
        double time = 0;
        for (int k = 0; k < 4; k++) {
            double Omega[3];
            do_steps(&run, 1.0 / 800, (int64_t)(800 * (known[k].time - time) + 0.5));
            time = known[k].time;
            angular_velocity(&run, 0, Omega);
            // Composed steps of this length are good for 2e-11 with `sin`, for 3e-12 with the others.
            assert_true(attitude_error(run.now.attitude, known[k].q) < 3e-11);
            assert_true(distance3(Omega, known[k].Omega) < 3e-11);
        }
        rodrigues_release(&run);
    }
}

static void first_steps_have_their_digits(void **state) {
    (void)state;
    static const struct {
        rodrigues_map map;
        int steps;
        double q[4], Omega[2];
    } digits[] = {
        {RODRIGUES_SIN,
         1,
         {0.38427792584372306, -0.005412510849228993, 0.9231091133055364, 0.013066957098700156},
         {0.2014142135623731, -0.07082131209347005}},
        {RODRIGUES_TAN,
         1,
         {0.38427760985813336, -0.005411411432894678, 0.9231092888593798, 0.01306430287287516},
         {0.20141392635858152, -0.07082129254360683}},
        {RODRIGUES_FIRST,
         1,
         {0.38590883914116514, -0.005411386072233289, 0.9224285394347299, 0.013064241646822482},
         {0.2, -0.07071067811865475}},
        {RODRIGUES_SIN,
         10,
         {0.5419965383868753, -0.05185817306893194, 0.8257486046190999, 0.14727431626799847},
         {0.34665538984647226, -0.7720426504691131}},
        {RODRIGUES_TAN,
         10,
         {0.5418451286051099, -0.05182347440410508, 0.8258710247422875, 0.1471571765111141},
         {0.3465881802191193, -0.7720132039929113}},
    };
    for (size_t k = 0; k < sizeof digits / sizeof *digits; k++) {
        problem s = pendulum();
        rodrigues run;
        make(&s, digits[k].map, false, &run);
        do_steps(&run, 0.1, digits[k].steps);
        const double tolerance = digits[k].steps == 1 ? 1e-13 : 1e-12;
        assert_all_close(run.now.attitude, digits[k].q, 4, tolerance);
        assert_all_close(run.now.spin, digits[k].Omega, 2, tolerance);
        assert_close(run.now.spin[2], 0.2, 0);
        rodrigues_release(&run);
    }
}

static void pendulum_errors_are_known(void **state) {
    (void)state;
    static const struct {
        const char *map, *step;
        double attitude, Omega, measure, energy, norms;
    } rows[] = {
        {"sin", "0.1", 9.455e-3, 1.433e-2, 4.424e-3, 8.220e-3, 8.4e-3},
        {"sin", "0.0125", 1.451e-4, 2.219e-4, 6.907e-5, 1.279e-4, 1.05e-3},
        {"tan", "0.1", 5.359e-3, 5.820e-3, 5.047e-4, 6.249e-4, 3.05e-2},
        {"tan", "0.0125", 8.418e-5, 9.116e-5, 7.883e-6, 9.766e-6, 3.81e-3},
        {"exact", "0.1", 1.480e-3, 1.197e-3, 1.589e-3, 3.136e-3, 2.55e-2},
        {"exact", "0.0125", 2.315e-5, 1.870e-5, 2.483e-5, 4.900e-5, 3.17e-3},
        {"first-order", "0.1", 1.854e-2, 1.358e-2, 5.564e-2, 7.088e-2, 7.75e-2},
        {"first-order", "0.0125", 2.895e-3, 1.209e-3, 6.943e-3, 8.623e-3, 2.81e-2},
    };
    problem fine = pendulum();
    carom_motion_answer reference;
    RUN(&fine, &reference, "map", "exact", "order", "4", "step", "0.00025", "norms", "on");
    const double norm = result(&reference, "trajectory_norm_squared");
    assert_close(norm, 66.8630, 1e-6);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        problem s = pendulum();
        carom_motion_answer answer;
        RUN(&s, &answer, "map", rows[k].map, "step", rows[k].step, "norms", "on");
        assert_close(attitude_error(final_series(&answer, "attitude"), known[3].q) / rows[k].attitude, 1, 1e-3);
        assert_close(distance3(final_series(&answer, "angular_velocity"), known[3].Omega) / rows[k].Omega, 1, 1e-3);
        assert_close(result(&answer, "energy_measure") / rows[k].measure, 1, 1e-3);
        assert_close(result(&answer, "max_relative_energy_error") * result(&answer, "initial_energy") / rows[k].energy, 1, 1e-3);
        assert_close(sqrt(fabs(result(&answer, "trajectory_norm_squared") - norm) / norm) / rows[k].norms, 1, 1e-2);
        assert_close(result(&answer, "initial_energy"), 0.7471067811865476, 1e-15);
        carom_motion_answer_free(&answer);
    }
    carom_motion_answer_free(&reference);
}

// What differs between two runs of one body at the end: x, v, attitude, Omega.
static void compare_ends(const rodrigues *run, const rodrigues *reference, double errors[4]) {
    double Omega[2][3];
    angular_velocity(run, 0, Omega[0]);
    angular_velocity(reference, 0, Omega[1]);
    errors[0] = distance3(run->now.position, reference->now.position);
    errors[1] = distance3(run->now.velocity, reference->now.velocity);
    errors[2] = attitude_error(run->now.attitude, reference->now.attitude);
    errors[3] = distance3(Omega[0], Omega[1]);
}

static void run_to(problem s, rodrigues_map map, bool fourth, double time, int steps, rodrigues *run) {
    problem *kept = malloc(sizeof *kept);
    assert_non_null(kept);
    *kept = s;
    make(kept, map, fourth, run);
    do_steps(run, time / steps, steps);
    // What is left does not look at the motion.
    free(kept);
}

// Mean slope between 32 and 256 times `base` steps of each error that is not rounding.
static void measure_orders(problem s, rodrigues_map map, bool fourth, double time, int base, double orders[4]) {
    rodrigues reference, coarse, fine;
    run_to(s, RODRIGUES_EXACT, true, time, 2048 * base, &reference);
    run_to(s, map, fourth, time, 32 * base, &coarse);
    run_to(s, map, fourth, time, 256 * base, &fine);
    double before[4], after[4];
    compare_ends(&coarse, &reference, before);
    compare_ends(&fine, &reference, after);
    for (int k = 0; k < 4; k++) orders[k] = before[k] > 1e-12 ? log2(before[k] / after[k]) / 3 : NAN;
    rodrigues_release(&reference);
    rodrigues_release(&coarse);
    rodrigues_release(&fine);
}

static void orders_are_two_four_and_one(void **state) {
    (void)state;
    static const struct {
        rodrigues_map map;
        bool fourth;
        int base;
        double order, tolerance;
    } rows[] = {{RODRIGUES_SIN, false, 3, 2, 0.05},   {RODRIGUES_TAN, false, 3, 2, 0.05},       {RODRIGUES_CUBIC, false, 3, 2, 0.05},
                {RODRIGUES_EXACT, false, 3, 2, 0.05}, {RODRIGUES_SPLITTING, false, 3, 2, 0.05}, {RODRIGUES_IMPLICIT, false, 3, 2, 0.05},
                {RODRIGUES_SIN, true, 2, 4, 0.15},    {RODRIGUES_TAN, true, 2, 4, 0.15},        {RODRIGUES_EXACT, true, 2, 4, 0.15},
                {RODRIGUES_FIRST, false, 32, 1, 0.05}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        for (int moving = 0; moving < 2; moving++) {
            double orders[4];
            measure_orders(moving ? magnet() : pendulum(), rows[k].map, rows[k].fourth, 5, rows[k].base, orders);
            for (int e = moving ? 0 : 2; e < 4; e++) assert_close(orders[e], rows[k].order, rows[k].tolerance / rows[k].order);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- invariants

// With `tan`, E - h^2 |T|^2 / (8 J) is kept exactly where U is linear in R.
static double modified_energy(const rodrigues *run, double h) {
    return rodrigues_energy(run) - h * h * carom_dot3(run->now.torque, run->now.torque) / 8;
}

static void the_tan_map_has_an_exact_invariant(void **state) {
    (void)state;
    const double steps[] = {0.1, 1};
    const int64_t count = support_count(10000, 100000, 1000000);
    for (int k = 0; k < 2; k++) {
        problem s = pendulum();
        rodrigues run;
        make(&s, RODRIGUES_TAN, false, &run);
        const double before = modified_energy(&run, steps[k]);
        double worst = 0;
        for (int64_t i = 0; i < count; i++) {
            assert_true(rodrigues_step(&run, steps[k]));
            worst = fmax(worst, fabs(modified_energy(&run, steps[k]) - before));
        }
        assert_true(worst < 1e-12 * fabs(before));
        rodrigues_release(&run);
    }
}

static void the_pendulum_keeps_its_spins(void **state) {
    (void)state;
    for (int map = RODRIGUES_SIN; map <= RODRIGUES_IMPLICIT; map++) {
        problem s = pendulum();
        rodrigues run;
        make(&s, (rodrigues_map)map, false, &run);
        double u[3];
        const double up[] = {0, 0, 1};
        carom_quaternion_rotate(run.now.attitude, up, u);
        const double along = carom_dot3(u, run.now.spin);
        for (int k = 0; k < 20000; k++) {
            assert_true(rodrigues_step(&run, 0.05));
            carom_quaternion_rotate(run.now.attitude, up, u);
            assert_close(carom_dot3(u, run.now.spin), along, 2e-13);
            assert_true(run.now.spin[2] == 0.2);
        }
        rodrigues_release(&run);
    }
}

static void energies_do_not_drift(void **state) {
    (void)state;
    static const struct {
        rodrigues_map map;
        double first, second;
    } rows[] = {{RODRIGUES_SIN, 8.219e-3, 8.220e-3}, {RODRIGUES_TAN, 6.2500e-4, 6.2489e-4}, {RODRIGUES_EXACT, 3.1380e-3, 3.1382e-3}};
    for (int k = 0; k < 3; k++) {
        problem s = pendulum();
        rodrigues run;
        make(&s, rows[k].map, false, &run);
        const double before = rodrigues_energy(&run);
        double worst[2] = {0};
        for (int i = 0; i < 100000; i++) {
            assert_true(rodrigues_step(&run, 0.1));
            worst[i >= 50000] = fmax(worst[i >= 50000], fabs(rodrigues_energy(&run) - before));
        }
        assert_close(worst[0] / rows[k].first, 1, 5e-4);
        assert_close(worst[1] / rows[k].second, 1, 5e-4);
        rodrigues_release(&run);
    }
}

static void reverse(rodrigues *run) {
    for (int k = 0; k < 3 * run->bodies; k++) {
        run->now.velocity[k] = -run->now.velocity[k];
        run->now.spin[k] = -run->now.spin[k];
    }
}

static void time_runs_backwards(void **state) {
    (void)state;
    for (int map = RODRIGUES_SIN; map <= RODRIGUES_IMPLICIT; map++) {
        for (int way = 0; way < 2; way++) {
            problem s = magnet();
            rodrigues run;
            make(&s, (rodrigues_map)map, false, &run);
            do_steps(&run, 0.01, 5000);
            // Negative steps, or negative velocities.
            if (way) reverse(&run);
            do_steps(&run, way ? 0.01 : -0.01, 5000);
            const double error = distance3(run.now.position, s.body[0].position) + attitude_error(run.now.attitude, s.body[0].attitude);
            if (map == RODRIGUES_FIRST)
                assert_true(error > 1e-3);
            else
                assert_true(error < 1e-10);
            rodrigues_release(&run);
        }
    }
}

static void free_bodies_turn_by_known_angles(void **state) {
    (void)state;
    static const struct {
        rodrigues_map map;
        double angle, tolerance;
    } rows[] = {{RODRIGUES_SIN, 0.5235987755982988, 1e-15},
                {RODRIGUES_TAN, 0.4899573262537283, 1e-15},
                {RODRIGUES_EXACT, 0.5, 1e-15},
                {RODRIGUES_FIRST, 0.4899573262537283, 1e-15},
                {RODRIGUES_CUBIC, 0.5, 2.7e-4},
                {RODRIGUES_IMPLICIT, 0.5235987755982988, 1e-15}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        problem s = {.body = {{.mass = 1, .inertia = {2, 2, 2}, .attitude = {1}, .angular_velocity = {3, 0, 4}}}, .motion = {.bodies = 1}};
        rodrigues run;
        make(&s, rows[k].map, false, &run);
        do_steps(&run, 0.1, 1);
        assert_close(carom_quaternion_angle(run.now.attitude), rows[k].angle, rows[k].tolerance);
        assert_close(run.now.attitude[1] / run.now.attitude[3], 0.75, 1e-15);
        rodrigues_release(&run);
    }
}

// A pendulum passes upside down again and again: vectors of accumulated rotations would become infinite there.
static void half_turns_are_passed(void **state) {
    (void)state;
    problem s = pendulum();
    rodrigues run;
    make(&s, RODRIGUES_TAN, false, &run);
    const int64_t steps = support_count(100000, 1000000, 100000000);
    double closest = 0, worst = 0;
    for (int64_t k = 0; k < steps; k++) {
        if (!rodrigues_step(&run, 0.01)) fail_msg("step %lld", (long long)k);
        const double *q = run.now.attitude, length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        closest = fmax(closest, carom_quaternion_angle(q));
        worst = fmax(worst, fabs(length - 1));
    }
    assert_true(closest > 0.9999 * PI);
    assert_true(worst < 1e-14);
    assert_true(fabs(rodrigues_energy(&run) - 0.7471067811865476) < 1e-5);
    rodrigues_release(&run);
}

// --------------------------------------------------------------------------------------------------------------- forces

// Energy with coordinate `index` of body `i` moved: 0-2 its position, 3-5 a rotation in the inertial frame.
static double moved_energy(rodrigues *run, int i, int index, double by) {
    double kept[4], energy, *x = run->now.position + 3 * i, *q = run->now.attitude + 4 * i, force[3 * 8], torque[3 * 8];
    rodrigues_state moved = run->now;
    moved.force = force;
    moved.torque = torque;
    assert_true(run->bodies <= 8);
    if (index < 3) {
        kept[0] = x[index];
        x[index] += by;
    } else {
        double turn[4] = {cos(by / 2), 0, 0, 0};
        turn[index - 2] = sin(by / 2);
        memcpy(kept, q, sizeof kept);
        carom_quaternion_product(turn, kept, q);
    }
    assert_true(rodrigues_evaluate(run, &moved, &energy));
    if (index < 3)
        x[index] = kept[0];
    else
        memcpy(q, kept, sizeof kept);
    return energy;
}

static void check_gradient(problem *s) {
    const double by = 1e-5;
    rodrigues run;
    make(s, RODRIGUES_TAN, false, &run);
    // Away from the reference state, where forces are zero.
    do_steps(&run, 0.05, 10);
    double scale = 0;
    for (int k = 0; k < 3 * run.bodies; k++) scale = fmax(scale, fmax(fabs(run.now.force[k]), fabs(run.now.torque[k])));
    assert_true(scale > 1e-3);
    for (int i = 0; i < run.bodies; i++) {
        for (int k = 0; k < 6; k++) {
            const double slope = -(moved_energy(&run, i, k, by) - moved_energy(&run, i, k, -by)) / (2 * by);
            const double exact = k < 3 ? run.now.force[3 * i + k] : run.now.torque[3 * i + k - 3];
            assert_true(fabs(slope - exact) < 1e-7 * scale);
        }
    }
    rodrigues_release(&run);
}

// U = k (x1 - x2)^2/2 of the first two bodies' positions, and a torque on the first: what a program may ask for.
static void spring(void *user, int bodies, const double *x, const double *q, double *force, double *torque, double *energy) {
    const double k = *(const double *)user, up[] = {0, 0, 1};
    double arm[3];
    assert_true(bodies >= 2);
    for (int d = 0; d < 3; d++) {
        force[d] -= k * (x[d] - x[3 + d]);
        force[3 + d] += k * (x[d] - x[3 + d]);
        *energy += 0.5 * k * (x[d] - x[3 + d]) * (x[d] - x[3 + d]);
    }
    carom_quaternion_rotate(q, up, arm);
    torque[0] += arm[1];
    torque[1] -= arm[0];
    *energy -= arm[2];
}

static void forces_are_gradients(void **state) {
    (void)state;
    problem one = pendulum(), field = magnet();
    check_gradient(&one);
    check_gradient(&field);
    for (int shear = 0; shear < 2; shear++) {
        problem *s = create_cluster(5, (carom_shear)shear);
        check_gradient(s);
        // Large spheres press on each other, and on a plane through their middle.
        for (int i = 0; i < 5; i++) s->body[i].radius = 3;
        s->planes[2] = 2;
        s->planes[3] = 1;
        s->potential[1] =
            (carom_potential){.type = CAROM_POTENTIAL_HERTZ, .hertz = {.Kpp = 30, .Kpw = 20, .planes = 1, .plane = s->planes}};
        double stiffness = 3;
        s->potential[2] = (carom_potential){.type = CAROM_POTENTIAL_USER, .callback = {spring, &stiffness}};
        s->motion.potentials = 3;
        check_gradient(s);
        free(s);
    }
}

static void sum_moments(const rodrigues *run, double force[3], double spin_rate[3], double moment[3]) {
    for (int k = 0; k < 3; k++) force[k] = spin_rate[k] = moment[k] = 0;
    for (int i = 0; i < run->bodies; i++) {
        double turning[3];
        carom_cross3(run->now.position + 3 * i, run->now.force + 3 * i, turning);
        carom_add3(1, run->now.force + 3 * i, force);
        carom_add3(1, run->now.torque + 3 * i, spin_rate);
        carom_add3(1, run->now.torque + 3 * i, moment);
        carom_add3(1, turning, moment);
    }
}

// Newton's third law, and for the objective form also that of torques. The printed form keeps the spin alone.
static void bonds_keep_what_they_should(void **state) {
    (void)state;
    for (int shear = 0; shear < 2; shear++) {
        problem *s = create_cluster(4, (carom_shear)shear);
        rodrigues run;
        make(s, RODRIGUES_TAN, false, &run);
        double P[2][3] = {0}, spin[2][3] = {0}, L[2][3] = {0};
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 4; i++) {
                double orbital[3];
                carom_cross3(run.now.position + 3 * i, run.now.velocity + 3 * i, orbital);
                carom_add3(run.mass[i], run.now.velocity + 3 * i, P[round]);
                carom_add3(1, run.now.spin + 3 * i, spin[round]);
                carom_add3(1, run.now.spin + 3 * i, L[round]);
                carom_add3(run.mass[i], orbital, L[round]);
            }
            if (round) continue;
            do_steps(&run, 0.01, 5000);
            double force[3], rate[3], moment[3];
            sum_moments(&run, force, rate, moment);
            assert_true(carom_norm3(force) < 1e-13 * 20);
            assert_true(carom_norm3(shear == CAROM_SHEAR_OBJECTIVE ? moment : rate) < 1e-12);
        }
        assert_true(distance3(P[0], P[1]) < 1e-12);
        assert_true((distance3(spin[0], spin[1]) < 1e-12) == (shear == CAROM_SHEAR_PUBLISHED));
        assert_true((distance3(L[0], L[1]) < 1e-12 * fmax(1, carom_norm3(L[0]))) == (shear == CAROM_SHEAR_OBJECTIVE));
        if (shear == CAROM_SHEAR_PUBLISHED) assert_true(distance3(L[0], L[1]) > 0.1);
        rodrigues_release(&run);
        free(s);
    }
}

// The angle itself, from 1e-9 to a half turn, and back to it.
static void bending_is_exact_at_small_angles(void **state) {
    (void)state;
    const double angles[] = {0, 1e-12, 1e-8, 1e-4, 1, 3.14};
    for (int k = 0; k < 6; k++) {
        double position[] = {0, 0, 0, 1, 0, 0}, attitude[] = {cos(angles[k] / 2), 0, 0, sin(angles[k] / 2), -1, 0, 0, 0};
        const rodrigues_state now = {.position = position, .attitude = attitude};
        const rodrigues_bond bond = {.first = 0, .second = 1, .length = 1, .direction = {-1, 0, 0}, .Km = 2};
        rodrigues_push push;
        rodrigues_bond_push(&bond, &now, &push);
        assert_true(fabs(push.torque[0][2] + 2 * angles[k]) <= 1e-15 * angles[k] * 4);
        assert_true(fabs(push.energy - angles[k] * angles[k]) <= 1e-15 * angles[k] * angles[k] * 4);
        assert_close(push.torque[1][2], -push.torque[0][2], 0);
    }
}

// --------------------------------------------------------------------------------------------------------------- torus

// The run of section 4.2 at h = 1e-3, T = 25: energies in the ring and what the wall takes.
static void the_torus_behaves_as_known(void **state) {
    (void)state;
    static const struct {
        carom_shear shear;
        const char *map;
        double least_error, most_error, most_measure, momentum;
    } rows[] = {{CAROM_SHEAR_PUBLISHED, "tan", 1e-3, 6e-3, 3e-3, 120.95},
                {CAROM_SHEAR_PUBLISHED, "sin", 1e-3, 6e-3, 3e-3, 121.03},
                {CAROM_SHEAR_PUBLISHED, "first-order", 1.64e-2, 1.66e-2, 3.5e-3, 120.95},
                {CAROM_SHEAR_OBJECTIVE, "tan", 1e-3, 1e-2, 5e-3, 94.47}};
    for (int k = 0; k < 4; k++) {
        problem *s = create_torus(rows[k].shear);
        carom_motion_answer answer;
        RUN(s, &answer, "map", rows[k].map, "step", "0.001", "duration", "25");
        const double *P = reals(answer.final, "momentum"), *spin = reals(answer.final, "spin");
        const double *x = final_series(&answer, "position");
        assert_string_equal(verdict(&answer), "complete");
        assert_close(result(&answer, "initial_energy"), 40, 1e-14);
        // The motion is chaotic: starts that differ by 1e-13 give largest errors from 1.6e-3 to 7.3e-3, and measures from 4.7e-4 to 3.6e-3.
        // The first-order map's are larger than chance.
        const double error = result(&answer, "max_relative_energy_error");
        assert_true(error > rows[k].least_error && error < rows[k].most_error);
        assert_true(result(&answer, "energy_measure") < rows[k].most_measure);
        assert_close((P[0] + 80) / rows[k].momentum, 1, 1e-3);
        assert_true(fabs(P[1]) < 2e-12 && P[2] == 0);
        if (rows[k].shear == CAROM_SHEAR_PUBLISHED) assert_true(fabs(spin[2]) < 2e-12);
        for (int i = 0; i < RING; i++) assert_true(x[3 * i + 2] == 0);
        carom_motion_answer_free(&answer);
        free(s);
    }
}

// A ring that shakes and turns in free flight, with contacts: momenta about the origin against the sum of their parts' sizes.
static void a_free_torus_keeps_its_angular_momentum(void **state) {
    (void)state;
    problem *s = create_torus(CAROM_SHEAR_OBJECTIVE);
    carom_stream stream;
    carom_stream_start(&stream, 5, 0);
    for (int i = 0; i < RING; i++) {
        const double *x = s->body[i].position;
        const double turning[] = {-0.3 * x[1], 0.3 * x[0], 0};
        for (int k = 0; k < 3; k++) {
            s->body[i].velocity[k] = turning[k] + 0.05 * carom_stream_normal(&stream);
            s->body[i].angular_velocity[k] = 0.3 * (k == 2) + 0.05 * carom_stream_normal(&stream);
        }
    }
    s->potential[1].hertz.planes = 0;
    carom_motion_answer answer;
    RUN(s, &answer, "step", "0.001", "duration", support_count(0, 0, 1) ? "1000" : "20", "record", "0");
    const double *before = reals(answer.recorded, "angular_momentum"), *after = reals(answer.final, "angular_momentum");
    assert_string_equal(verdict(&answer), "complete");
    assert_true(distance3(before, after) < 1e-12 * carom_norm3(before));
    assert_true(distance3(reals(answer.recorded, "momentum"), reals(answer.final, "momentum")) < 1e-12 * carom_norm3(before));
    assert_true(distance3(reals(answer.recorded, "spin"), reals(answer.final, "spin")) > 1e-3);
    carom_motion_answer_free(&answer);
    free(s);
}

// Errors at t = 0.1 against a much smaller step, before chaos: second order as far as contacts that open and close allow.
static void the_torus_converges_before_chaos(void **state) {
    (void)state;
    const double known_errors[] = {2.8e-4, 5.5e-5, 9.8e-6, 2.4e-6, 5.1e-7};
    problem *s = create_torus(CAROM_SHEAR_PUBLISHED);
    rodrigues reference;
    make(s, RODRIGUES_TAN, false, &reference);
    do_steps(&reference, 0.1 / 51200, 51200);
    for (int k = 0; k < 5; k++) {
        rodrigues run;
        make(s, RODRIGUES_TAN, false, &run);
        do_steps(&run, 0.001 / (1 << k), 100 << k);
        double square = 0;
        for (int i = 0; i < 3 * RING; i++) {
            const double d = run.now.position[i] - reference.now.position[i];
            square += d * d;
        }
        assert_close(sqrt(square) / known_errors[k], 1, 0.1);
        rodrigues_release(&run);
    }
    rodrigues_release(&reference);
    free(s);
}

static void unstable_steps_are_reported(void **state) {
    (void)state;
    const char *const steps[] = {"0.005", "0.01"};
    for (int k = 0; k < 2; k++) {
        problem *s = create_torus(CAROM_SHEAR_PUBLISHED);
        carom_motion_answer answer;
        RUN(s, &answer, "step", steps[k], "duration", "500");
        assert_string_equal(verdict(&answer), "energy-limit");
        assert_non_null(strstr(message(&answer), "stiffest frequency"));
        if (k) assert_true(result(&answer, "time") < 0.2);
        carom_motion_answer_free(&answer);
        free(s);
    }
}

// A chain's highest frequency is 2 sqrt(Ka / (m r0^2)) = 240.1 rad/s, where contacts and other bonds add nothing.
static void the_stiffest_frequency_is_found(void **state) {
    (void)state;
    problem *s = create_torus(CAROM_SHEAR_OBJECTIVE);
    s->potential[0].bonds.Km = s->potential[0].bonds.Ks = 0;
    s->motion.potentials = 1;
    rodrigues run;
    carom_error error;
    double frequency;
    make(s, RODRIGUES_TAN, false, &run);
    assert_ok(rodrigues_stiffest_frequency(&run, &frequency, &error), error);
    assert_true(frequency < 240.2 && frequency > 0.96 * 240.1);
    rodrigues_release(&run);
    free(s);
}

// ------------------------------------------------------------------------------------------------------------- impacts

static double value_of(const double *c, int degree, double t) {
    double value = 0;
    for (int k = degree; k >= 0; k--) value = value * t + c[k];
    return value;
}

// Against looking at many times: no contact before the one that is found, and a root there.
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

static problem magnet_above_floor(carom_surface surface, double restitution) {
    problem s = magnet();
    s.wall[0] = (carom_wall){{0.1, 0, 1}, -0.1, {surface, restitution, surface == CAROM_SURFACE_COULOMB ? 0.3 : 0}};
    s.motion.walls = 1;
    return s;
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

// The same as an impact: velocities in the inertial frame; at the contact those of the first body minus those of the second.
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

// What happens inside a step is what the law `stronge` has for the mass matrix and Jacobians of both bodies.
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
        // Lists outlive some of the moves.
        assert_true(list.generation < MOVES);
        rodrigues_neighbours_release(&list);
    }
}

// ------------------------------------------------------------------------------------------------------- other inertias

static problem top(double J1, double J2, double J3) {
    return (problem){.body = {{.mass = 1, .inertia = {J1, J2, J3}, .attitude = {0.8, 0, 0.6, 0}, .angular_velocity = {0.4, 0.2, 1.1}}},
                     .potential = {{.type = CAROM_POTENTIAL_OFFSET_MASS, .offset_mass = {1, {0, 0, 1}}}},
                     .motion = {.bodies = 1, .potentials = 1}};
}

// Largest attitude error along ten seconds at h = 0.1, and errors of spin about e3 and of energy.
static double other_inertia_error(problem s, rodrigues_map map) {
    rodrigues run, reference;
    make(&s, map, false, &run);
    make(&s, RODRIGUES_SPLITTING, true, &reference);
    const double spin[] = {run.now.spin[0], run.now.spin[1], run.now.spin[2]}, energy = rodrigues_energy(&run);
    double error = 0;
    for (int k = 0; k < 100; k++) {
        do_steps(&run, 0.1, 1);
        do_steps(&reference, 0.002, 50);
        error = fmax(error, attitude_error(run.now.attitude, reference.now.attitude));
        assert_true(s.motion.potentials || distance3(run.now.spin, spin) < 1e-13);
        assert_true(fabs(run.now.spin[2] - spin[2]) < 1e-13);
        assert_true(fabs(rodrigues_energy(&run) - energy) < 0.02);
    }
    rodrigues_release(&run);
    rodrigues_release(&reference);
    return error;
}

static void other_inertias_have_their_maps(void **state) {
    (void)state;
    problem heavy = top(1, 2, 3), free_body = heavy;
    free_body.motion.potentials = 0;
    problem mild = top(1, 1.2, 1.4);
    mild.motion.potentials = 0;
    const double implicit = other_inertia_error(free_body, RODRIGUES_IMPLICIT), split = other_inertia_error(free_body, RODRIGUES_SPLITTING);
    assert_true(implicit > 1e-3 && implicit < 0.03 && split < implicit / 20);
    assert_true(other_inertia_error(mild, RODRIGUES_SPLITTING) < other_inertia_error(mild, RODRIGUES_IMPLICIT) / 300);
    assert_true(other_inertia_error(heavy, RODRIGUES_IMPLICIT) < 0.05);
    assert_true(other_inertia_error(heavy, RODRIGUES_SPLITTING) < 0.005);
    // Two equal moments, in each place: the free flow is exact, so the reference is what is left.
    for (int axis = 0; axis < 3; axis++) {
        problem s = top(axis == 0 ? 2 : 1, axis == 1 ? 2 : 1, axis == 2 ? 2 : 1);
        s.motion.potentials = 0;
        assert_true(other_inertia_error(s, RODRIGUES_EXACT) < 1e-10);
    }
}

// For equal moments the implicit update is the map `sin` in closed form (same discrete Lagrangian).
static void sin_is_the_implicit_update_of_spheres(void **state) {
    (void)state;
    problem s = pendulum();
    rodrigues explicit_run, implicit_run;
    make(&s, RODRIGUES_SIN, false, &explicit_run);
    make(&s, RODRIGUES_IMPLICIT, false, &implicit_run);
    do_steps(&explicit_run, 0.1, 100);
    do_steps(&implicit_run, 0.1, 100);
    assert_true(attitude_error(explicit_run.now.attitude, implicit_run.now.attitude) < 1e-13);
    assert_true(distance3(explicit_run.now.spin, implicit_run.now.spin) < 1e-13);
    rodrigues_release(&explicit_run);
    rodrigues_release(&implicit_run);
}

// ---------------------------------------------------------------------------------------------------------------- runs

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
    const carom_motion_request request = {carom_integrator_find(registry, "rodrigues"), &motion, NULL, registry, NULL, &control};
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
    assert_ok(carom_integrator_run(&(carom_motion_request){one, &motion, options, registry, NULL, &control}, NULL, &answer, &error), error);
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
        cmocka_unit_test(known_states_are_met),
        cmocka_unit_test(first_steps_have_their_digits),
        cmocka_unit_test(pendulum_errors_are_known),
        cmocka_unit_test(orders_are_two_four_and_one),
        cmocka_unit_test(the_tan_map_has_an_exact_invariant),
        cmocka_unit_test(the_pendulum_keeps_its_spins),
        cmocka_unit_test(energies_do_not_drift),
        cmocka_unit_test(time_runs_backwards),
        cmocka_unit_test(free_bodies_turn_by_known_angles),
        cmocka_unit_test(half_turns_are_passed),
        cmocka_unit_test(forces_are_gradients),
        cmocka_unit_test(bonds_keep_what_they_should),
        cmocka_unit_test(bending_is_exact_at_small_angles),
        cmocka_unit_test(the_torus_behaves_as_known),
        cmocka_unit_test(a_free_torus_keeps_its_angular_momentum),
        cmocka_unit_test(the_torus_converges_before_chaos),
        cmocka_unit_test(unstable_steps_are_reported),
        cmocka_unit_test(the_stiffest_frequency_is_found),
        cmocka_unit_test(first_contacts_are_found),
        cmocka_unit_test(impacts_keep_the_order),
        cmocka_unit_test(elastic_impacts_keep_the_energy),
        cmocka_unit_test(bouncing_balls_are_exact),
        cmocka_unit_test(coulomb_impacts_are_those_of_stronge),
        cmocka_unit_test(spheres_pass_on_their_velocity),
        cmocka_unit_test(a_gas_keeps_energy_and_momenta),
        cmocka_unit_test(bodies_that_come_to_rest_end_the_run),
        cmocka_unit_test(neighbours_are_complete),
        cmocka_unit_test(other_inertias_have_their_maps),
        cmocka_unit_test(sin_is_the_implicit_update_of_spheres),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(states_are_recorded),
        cmocka_unit_test(fast_spins_are_refused_by_sin),
        cmocka_unit_test(forces_that_are_not_finite_end_the_run),
        cmocka_unit_test(runs_can_be_stopped),
        cmocka_unit_test(steps_with_many_impacts_can_be_stopped),
        cmocka_unit_test(bad_motions_are_refused),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests_name("rodrigues", tests, start, stop);
}
