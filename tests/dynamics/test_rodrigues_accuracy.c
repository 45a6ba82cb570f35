// SPDX-License-Identifier: Apache-2.0
// The integrator `rodrigues`: reference states of the pendulum, errors, orders of convergence, invariants, and bodies that are not spheres.
#include <math.h>
#include <stdlib.h>

#include "carom/quaternion.h"
#include "rodrigues_support.h"

// ------------------------------------------------------------------------------------------------------------ pendulum

// States of the pendulum on which steps of fourth order with four maps agree to 1e-12.
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

// Distances between the final states of two runs of one body: x, v, attitude, Omega.
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
    // From here on only the state of the run is read, which does not need the motion.
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
        cmocka_unit_test(other_inertias_have_their_maps),
        cmocka_unit_test(sin_is_the_implicit_update_of_spheres),
    };
    return cmocka_run_group_tests_name("rodrigues accuracy", tests, start, stop);
}
