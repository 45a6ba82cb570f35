// SPDX-License-Identifier: Apache-2.0
// The integrator `rodrigues`: forces against their energies, bonded clusters, and the ring of bonded particles that hits a wall.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/quaternion.h"
#include "rodrigues_support.h"

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

// Forces sum to zero. The objective form of shear keeps the total angular momentum, the published form only the total spin.
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

// Torque and energy of bending follow the angle to the last digits, from 0 to almost a half turn.
static void bending_is_exact_at_small_angles(void **state) {
    (void)state;
    const double angles[] = {0, 1e-12, 1e-8, 1e-4, 1, 3.14};
    for (int k = 0; k < 6; k++) {
        double position[] = {0, 0, 0, 1, 0, 0}, attitude[] = {cos(angles[k] / 2), 0, 0, sin(angles[k] / 2), -1, 0, 0, 0};
        const rodrigues_state now = {.position = position, .attitude = attitude};
        const carom_bonds law = {.Km = 2};
        const rodrigues_bond bond = {.first = 0, .second = 1, .length = 1, .direction = {-1, 0, 0}, .law = &law};
        rodrigues_push push;
        rodrigues_bond_push(&bond, &now, &push, NULL);
        assert_true(fabs(push.torque[0][2] + 2 * angles[k]) <= 1e-15 * angles[k] * 4);
        assert_true(fabs(push.energy - angles[k] * angles[k]) <= 1e-15 * angles[k] * angles[k] * 4);
        assert_close(push.torque[1][2], -push.torque[0][2], 0);
    }
}

// --------------------------------------------------------------------------------------------------------------- torus

// The run of Baker & Gonzalez, section 4.2, at h = 1e-3 until T = 25: energies, and the momentum that the wall takes.
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
        // The first-order map gets to the end with an error above 1 %.
        assert_string_equal(verdict(&answer), rows[k].least_error > 0.01 ? "energy-limit" : "complete");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_gradients),
        cmocka_unit_test(bonds_keep_what_they_should),
        cmocka_unit_test(bending_is_exact_at_small_angles),
        cmocka_unit_test(the_torus_behaves_as_known),
        cmocka_unit_test(a_free_torus_keeps_its_angular_momentum),
        cmocka_unit_test(the_torus_converges_before_chaos),
        cmocka_unit_test(unstable_steps_are_reported),
        cmocka_unit_test(the_stiffest_frequency_is_found),
    };
    return cmocka_run_group_tests_name("rodrigues forces", tests, start, stop);
}
