// SPDX-License-Identifier: Apache-2.0
// The integrator `rodrigues`: energies by term, the bound of the stiffest frequency, bonds that break, states to go on from, and the map
// that takes forces in the middle of the step.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rodrigues_support.h"

static int64_t whole(const carom_table *table, const char *name) {
    return carom_table_integer_column(table, carom_table_find(table, name))[0];
}

// A cluster that presses on itself and on a plane, with all potentials of section 4.2, in gravity.
static problem *create_all_terms(int n, carom_shear shear) {
    problem *s = create_cluster(n, shear);
    const double floor[] = {0, 0, 2, 4};
    for (int i = 0; i < n; i++) s->body[i].radius = 0.7;
    memcpy(s->planes, floor, sizeof floor);
    s->potential[1] = (carom_potential){.type = CAROM_POTENTIAL_HERTZ, .hertz = {.Kpp = 10, .Kpw = 20, .planes = 1, .plane = s->planes}};
    s->potential[2] = (carom_potential){.type = CAROM_POTENTIAL_GRAVITY, .acceleration = {0.1, 0, -1}};
    borrow(s, n, 3);
    return s;
}

// Each term is the whole potential energy where the others have no stiffness; together they are the sum. Gravity's is -m a.x.
static void energies_by_term_add_up(void **state) {
    (void)state;
    for (int k = 0; k < 2 * RODRIGUES_TERMS; k++) {
        const int only = k % RODRIGUES_TERMS;
        problem *s = create_all_terms(40, k < RODRIGUES_TERMS ? CAROM_SHEAR_OBJECTIVE : CAROM_SHEAR_PUBLISHED);
        double terms[RODRIGUES_TERMS], sum = 0, scale = 0;
        rodrigues run;
        make(s, RODRIGUES_TAN, false, &run);
        do_steps(&run, 0.002, 100);
        assert_true(rodrigues_energy_terms(&run, terms));
        for (int t = 0; t < RODRIGUES_TERMS; t++) {
            sum += terms[t];
            scale += fabs(terms[t]);
            assert_true(terms[t] != 0);
        }
        assert_close(sum, run.potential, 1e-13 * scale);
        const double expected = terms[only];
        // The same state, with the stiffness of one term alone.
        carom_bonds *law = &s->potential[0].bonds;
        if (only != RODRIGUES_BENDING) law->Km = 0;
        if (only != RODRIGUES_STRETCHING) law->Ka = 0;
        if (only != RODRIGUES_SHEAR) law->Ks = 0;
        if (only != RODRIGUES_CONTACT) run.Kpp = 0;
        if (only != RODRIGUES_PLANE) run.planes = 0;
        if (only != RODRIGUES_FIELD) memset(s->potential[2].acceleration, 0, sizeof s->potential[2].acceleration);
        double energy;
        assert_true(rodrigues_evaluate(&run, &run.now, &energy));
        assert_close(energy, expected, 1e-13 * scale);
        rodrigues_release(&run);
        free(s);
    }
}

// The pendulum about its stable direction: elsewhere it may have no vibration.
static problem hanging_pendulum(void) {
    problem s = pendulum();
    memcpy(s.body[0].attitude, (double[]){1, 0, 0, 0}, sizeof s.body[0].attitude);
    return s;
}

// The bound is never below what the power iteration finds, nor far above it: bonds of both kinds, bent and stretched, contacts, magnets,
// pendulums. For the ring at rest it is the chain's 2 sqrt(Ka/(m r0^2)).
static void frequencies_are_bounded(void **state) {
    (void)state;
    carom_error error;
    double power, bound, worst = 0;
    for (int k = 0; k < 12; k++) {
        problem *s = k < 10 ? create_all_terms(10 + 7 * k, (carom_shear)(k % 2)) : calloc(1, sizeof *s);
        if (k == 10) *s = magnet();
        if (k == 11) *s = hanging_pendulum();
        rodrigues run;
        make(s, RODRIGUES_TAN, false, &run);
        do_steps(&run, 0.002, 10 * k);
        assert_ok(rodrigues_stiffest_frequency(&run, &power, &error), error);
        assert_ok(rodrigues_bound_frequency(&run, &bound, &error), error);
        assert_true(bound >= power * (1 - 1e-9));
        worst = fmax(worst, bound / power);
        rodrigues_release(&run);
        free(s);
    }
    assert_true(worst < 2);
    problem *s = create_torus(CAROM_SHEAR_OBJECTIVE);
    rodrigues run;
    make(s, RODRIGUES_TAN, false, &run);
    assert_ok(rodrigues_bound_frequency(&run, &bound, &error), error);
    assert_close(bound / 240.1, 1, 1e-3);
    rodrigues_release(&run);
    free(s);
}

static void frequencies_are_a_choice(void **state) {
    (void)state;
    problem s = hanging_pendulum();
    carom_motion_answer answer;
    const char *const ways[] = {"bound", "power", "off"};
    for (int k = 0; k < 3; k++) {
        RUN(&s, &answer, "duration", "0.1", "frequency", ways[k]);
        const double frequency = result(&answer, "stiffest_frequency");
        if (k == 2) assert_true(isnan(frequency));
        if (k < 2) assert_close(frequency, 1, 0.02);
        assert_int_equal(whole(answer.result, "force_evaluations"), 10);
        carom_motion_answer_free(&answer);
    }
}

// ------------------------------------------------------------------------------------------------------ bonds that break

// Two bodies at rest length 1 that part with 2 v: the force Ka s reaches the limit F at the stretch s = F/Ka, if the kinetic energy
// m v^2 suffices for Ka s^2/2. The energy in the bond is then lost, and both fly on with what is left.
static void bonds_break_at_their_limit(void **state) {
    (void)state;
    const double Ka = 100, speed = 1;
    for (int k = 0; k < 3; k++) {
        problem s = {.pairs = {0, 1}, .motion = {.bodies = 2, .potentials = 1}};
        for (int i = 0; i < 2; i++)
            s.body[i] = (carom_particle){.mass = 1,
                                         .inertia = {1, 1, 1},
                                         .position = {i ? 0.5 : -0.5, 0, 0},
                                         .attitude = {1},
                                         .velocity = {i ? speed : -speed, 0, 0}};
        s.potential[0] = (carom_potential){.type = CAROM_POTENTIAL_BONDS, .bonds = {.count = 1, .pairs = s.pairs, .Ka = Ka}};
        // By force, by energy, and not at all: the largest stretch is sqrt(2 m v^2/Ka), its force 14.1.
        if (k == 0) s.potential[0].bonds.break_force = 10;
        if (k == 1) s.potential[0].bonds.break_energy = 0.5;
        if (k == 2) s.potential[0].bonds.break_force = 14.2;
        carom_motion_answer answer;
        RUN(&s, &answer, "step", "0.0001", "duration", "1", "energy_limit", "1e-3");
        assert_string_equal(verdict(&answer), "complete");
        assert_int_equal(whole(answer.result, "broken_bonds"), k < 2);
        assert_int_equal(whole(answer.final, "broken_bonds"), k < 2);
        if (k < 2) {
            // s = 0.1: 0.5 J of the 1 J.
            assert_close(reals(answer.final, "energy")[0], 0.5, 2e-3);
            assert_close(reals(answer.final, "potential_energy")[0], 0, 0);
            assert_close(reals(answer.final, "energy")[0] + reals(answer.final, "broken_energy")[0], 1, 1e-5);
            assert_close(final_series(&answer, "velocity")[3], sqrt(0.5), 2e-3);
        }
        // What broke is no error.
        assert_true(result(&answer, "max_relative_energy_error") < 1e-5);
        carom_motion_answer_free(&answer);
    }
    problem s = pendulum();
    carom_motion_answer answer;
    carom_error error;
    s.potential[0] = (carom_potential){.type = CAROM_POTENTIAL_BONDS, .bonds = {.break_force = -1}};
    borrow(&s, 1, 1);
    assert_refused(try_run(&s.motion, NULL, 1, &answer, &error), CAROM_BAD_INPUT, error, "potentials[0].break_force: -1 is not 0 or more");
}

// ----------------------------------------------------------------------------------------------------- states to go on from

// Runs with options, from a saved state if there is one.
static carom_status run_from(problem *s, const carom_table *saved, const char *step, const char *duration, const char *map,
                             const char *order, carom_motion_answer *answer, carom_error *error) {
    borrow(s, s->motion.bodies, s->motion.potentials);
    const carom_motion motion = {.form = CAROM_MOTION_BODIES, .bodies = &s->motion};
    const carom_integrator *one = carom_integrator_find(registry, "rodrigues");
    const carom_control control = {.threads = 1};
    const char *const pairs[][2] = {{"step", step}, {"duration", duration}, {"map", map}, {"order", order}, {"norms", "on"}};
    void *options = malloc(one->options_size);
    assert_non_null(options);
    one->defaults(options);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const int row = carom_option_find(one->options, one->option_count, pairs[k][0]);
        assert_ok(carom_option_set(&one->options[row], options, pairs[k][1], error), *error);
    }
    const carom_motion_request request = {
        .integrator = one, .motion = &motion, .options = options, .registry = registry, .control = &control, .resume = saved};
    const carom_status status = carom_integrator_run(&request, NULL, answer, error);
    free(options);
    return status;
}

// Bonds of which some break, with contacts, a plane and gravity; spheres one by one; a magnet above a floor; a crowd in a trap.
static problem *create_motion(int kind) {
    problem *s = kind == 0 || kind == 4 ? create_all_terms(60, CAROM_SHEAR_OBJECTIVE) : create_cluster(60, CAROM_SHEAR_OBJECTIVE);
    if (kind == 0) s->potential[0].bonds.break_force = 4;
    if (kind == 0 || kind == 4) return s;
    s->motion.potentials = 0;
    s->motion.walls = 1;
    s->wall[0] = (carom_wall){{0, 0, 1}, 4, {CAROM_SURFACE_ROUGH, 1, 0}};
    s->collisions = (carom_surface_law){CAROM_SURFACE_COULOMB, 0.9, 0.3};
    s->motion.collisions = &s->collisions;
    for (int i = 0; i < 60; i++) {
        const double place[] = {0.7 * (i % 4), 0.7 * (i / 4 % 4), 0.7 * (i / 16)};
        memcpy(s->body[i].position, place, sizeof place);
        s->body[i].radius = 0.2 + 0.002 * i;
        for (int k = 0; k < 3; k++) s->body[i].velocity[k] -= 0.5 * place[k];
    }
    // Gravity alone lets impacts be taken one by one; a trap does not.
    if (kind == 1) s->potential[s->motion.potentials++] = (carom_potential){.type = CAROM_POTENTIAL_GRAVITY, .acceleration = {0, 0, -1}};
    if (kind >= 2) s->potential[s->motion.potentials++] = magnet().potential[0];
    return s;
}

static void runs_go_on_bit_by_bit(void **state) {
    (void)state;
    static const char *const maps[] = {"tan", "exact", "cubic", "sin", "midpoint"};
    for (int kind = 0; kind < 5; kind++) {
        problem *s = create_motion(kind);
        const char *order = kind == 4 ? "4" : "2";
        carom_motion_answer all, first, second;
        carom_error error;
        assert_ok(run_from(s, NULL, "0.004", "0.8", maps[kind], order, &all, &error), error);
        assert_ok(run_from(s, NULL, "0.004", "0.5", maps[kind], order, &first, &error), error);
        assert_string_equal(verdict(&all), "complete");
        assert_int_equal(carom_table_rows(first.saved), 1);
        assert_ok(run_from(s, first.saved, "0.004", "0.8", maps[kind], order, &second, &error), error);
        for (const char *const *name = (const char *[]){"position", "attitude", "velocity", "angular_velocity", NULL}; *name; name++) {
            int count;
            carom_table_series(all.final, carom_table_find(all.final, *name), 0, &count);
            assert_memory_equal(final_series(&second, *name), final_series(&all, *name), (size_t)count * sizeof(double));
        }
        // So are impacts, counts and integrals.
        const int64_t before = carom_table_rows(first.impacts), impacts = carom_table_rows(all.impacts);
        assert_int_equal(before + carom_table_rows(second.impacts), impacts);
        if (kind > 0 && kind < 4) assert_true(before > 10 && before < impacts);
        assert_memory_equal(reals(second.impacts, "time"), reals(all.impacts, "time") + before,
                            (size_t)(impacts - before) * sizeof(double));
        const char *const numbers[] = {"time",           "max_relative_energy_error", "energy_measure",          "trajectory_norm_squared",
                                       "initial_energy", "stiffest_frequency",        "last_stiffest_frequency", NULL};
        for (const char *const *name = numbers; *name; name++) assert_close(result(&second, *name), result(&all, *name), 0);
        for (const char *const *name = (const char *[]){"steps", "impact_count", "broken_bonds", "force_evaluations", NULL}; *name; name++)
            assert_int_equal(whole(second.result, *name), whole(all.result, *name));
        if (kind == 0)
            assert_true(whole(all.result, "broken_bonds") > whole(first.result, "broken_bonds") && whole(first.result, "broken_bonds"));
        carom_motion_answer_free(&all);
        carom_motion_answer_free(&first);
        carom_motion_answer_free(&second);
        free(s);
    }
}

static void states_of_other_motions_are_refused(void **state) {
    (void)state;
    problem *s = create_motion(1);
    carom_motion_answer first, answer;
    carom_error error;
    assert_ok(run_from(s, NULL, "0.004", "0.4", "exact", "2", &first, &error), error);
    assert_refused(run_from(s, first.saved, "0.005", "0.8", "exact", "2", &answer, &error), CAROM_BAD_INPUT, error, "step: 0.005");
    assert_refused(run_from(s, first.saved, "0.004", "0.2", "exact", "2", &answer, &error), CAROM_BAD_INPUT, error, "duration: 0.2 s end");
    // By map sin, impacts are not taken one by one.
    assert_refused(run_from(s, first.saved, "0.004", "0.8", "sin", "2", &answer, &error), CAROM_BAD_INPUT, error, "next_events");
    const int column = carom_table_find(first.saved, "next_events");
    int count;
    const double *given = carom_table_series(first.saved, column, 0, &count);
    double *spoiled = malloc((size_t)count * sizeof *spoiled);
    assert_non_null(spoiled);
    const double bad[] = {1e6, 0.5, -2, NAN};
    memcpy(spoiled, given, (size_t)count * sizeof *spoiled);
    for (int k = 0; k < 4; k++) {
        spoiled[RODRIGUES_ERRAND * 7 + 5] = bad[k];
        assert_ok(carom_table_set_series(first.saved, column, spoiled, count, &error), error);
        assert_refused(run_from(s, first.saved, "0.004", "0.8", "exact", "2", &answer, &error), CAROM_BAD_INPUT, error, "next_events");
    }
    free(spoiled);
    s->body[3].mass *= 1.001;
    assert_refused(run_from(s, first.saved, "0.004", "0.8", "exact", "2", &answer, &error), CAROM_BAD_INPUT, error,
                   "resume: the state was saved with a kinetic energy of");
    s->motion.bodies = 59;
    assert_refused(run_from(s, first.saved, "0.004", "0.8", "exact", "2", &answer, &error), CAROM_BAD_INPUT, error,
                   "resume: position has 60 bodies, not the 59 of this motion");
    carom_motion_answer_free(&first);
    free(s);
}

// A run that ends within a step leaves no state: bodies have had their impacts at different times.
static void runs_that_end_within_a_step_leave_no_state(void **state) {
    (void)state;
    problem s = {.body = {{.mass = 1, .inertia = {1, 1, 1}, .radius = 0.1, .position = {0, 0, 1}, .attitude = {1}}},
                 .wall = {{{0, 0, 1}, 0, {CAROM_SURFACE_SMOOTH, 0.5, 0}}},
                 .potential = {{.type = CAROM_POTENTIAL_GRAVITY, .acceleration = {0, 0, -9.8}}},
                 .motion = {.walls = 1}};
    borrow(&s, 1, 1);
    carom_motion_answer answer;
    RUN(&s, &answer, "step", "2", "duration", "4", "max_impacts", "20");
    assert_string_equal(verdict(&answer), "zeno-limit");
    assert_int_equal(carom_table_rows(answer.saved), 0);
    carom_motion_answer_free(&answer);
}

// ---------------------------------------------------------------------------------------------------------- map midpoint

// The implicit midpoint rule keeps a quadratic energy, momenta, and is undone by a negative step.
static void the_midpoint_keeps_what_it_should(void **state) {
    (void)state;
    problem trap = magnet();
    trap.potential[0].dipole.moment = 0;
    carom_motion_answer answer;
    RUN(&trap, &answer, "map", "midpoint", "step", "0.5", "duration", "100");
    assert_true(result(&answer, "max_relative_energy_error") < 1e-13);
    carom_motion_answer_free(&answer);
    problem *s = create_cluster(12, CAROM_SHEAR_OBJECTIVE);
    rodrigues run;
    double before[3], after[3];
    make(s, RODRIGUES_MIDPOINT, false, &run);
    for (int pass = 0; pass < 2; pass++) {
        double *sum = pass ? after : before;
        memset(sum, 0, sizeof before);
        for (int i = 0; i < 12; i++) {
            double orbital[3];
            carom_cross3(run.now.position + 3 * i, run.now.velocity + 3 * i, orbital);
            carom_add3(run.mass[i], orbital, sum);
            carom_add3(1, run.now.spin + 3 * i, sum);
        }
        if (!pass) do_steps(&run, 0.01, 500);
    }
    assert_true(distance3(before, after) < 1e-11);
    do_steps(&run, -0.01, 500);
    for (int i = 0; i < 12; i++) assert_true(distance3(run.now.position + 3 * i, s->body[i].position) < 1e-9);
    rodrigues_release(&run);
    free(s);
}

// Second order, with an attitude error five sixths of that of `tan` on the pendulum; several evaluations a step.
static void the_midpoint_is_of_second_order(void **state) {
    (void)state;
    const double reference[] = {0.058717609919, 0.278920336212, -0.844210178591, -0.453943677890};
    double errors[2][2];
    for (int k = 0; k < 2; k++) {
        for (int m = 0; m < 2; m++) {
            problem s = pendulum();
            carom_motion_answer answer;
            RUN(&s, &answer, "map", m ? "midpoint" : "tan", "step", k ? "0.0125" : "0.1", "duration", "10");
            errors[m][k] = attitude_error(final_series(&answer, "attitude"), reference);
            const double evaluations = (double)whole(answer.result, "force_evaluations") / (double)whole(answer.result, "steps");
            if (m) assert_true(evaluations > 3 && evaluations < 9);
            carom_motion_answer_free(&answer);
        }
    }
    assert_close(errors[1][0] / 4.484e-3, 1, 1e-3);
    for (int m = 0; m < 2; m++) assert_close(log2(errors[m][0] / errors[m][1]) / 3, 2, 0.05);
}

static void the_midpoint_has_its_limits(void **state) {
    (void)state;
    // An oscillator of frequency 1: the iteration shrinks errors by h^2/4.
    problem trap = magnet();
    trap.potential[0].dipole.moment = trap.potential[0].dipole.gravity = 0;
    trap.potential[0].dipole.trap = 1;
    carom_motion_answer answer;
    carom_error error;
    RUN(&trap, &answer, "map", "midpoint", "step", "2.1", "duration", "21");
    assert_string_equal(verdict(&answer), "no-convergence");
    assert_non_null(strstr(message(&answer), "the middle of step 1 is not found"));
    assert_close(final_series(&answer, "position")[0], trap.body[0].position[0], 0);
    carom_motion_answer_free(&answer);
    problem floor = magnet_above_floor(CAROM_SURFACE_SMOOTH, 1);
    borrow(&floor, 1, 1);
    assert_refused(try_run(&floor.motion, (const char *[]){"map", "midpoint", NULL}, 1, &answer, &error), CAROM_BAD_INPUT, error,
                   "map: midpoint");
    problem top = pendulum();
    top.body[0].inertia[2] = 1.5;
    borrow(&top, 1, 1);
    assert_refused(try_run(&top.motion, (const char *[]){"map", "midpoint", NULL}, 1, &answer, &error), CAROM_UNSUPPORTED, error, "differ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energies_by_term_add_up),
        cmocka_unit_test(frequencies_are_bounded),
        cmocka_unit_test(frequencies_are_a_choice),
        cmocka_unit_test(bonds_break_at_their_limit),
        cmocka_unit_test(runs_go_on_bit_by_bit),
        cmocka_unit_test(states_of_other_motions_are_refused),
        cmocka_unit_test(runs_that_end_within_a_step_leave_no_state),
        cmocka_unit_test(the_midpoint_keeps_what_it_should),
        cmocka_unit_test(the_midpoint_is_of_second_order),
        cmocka_unit_test(the_midpoint_has_its_limits),
    };
    return cmocka_run_group_tests_name("rodrigues states", tests, start, stop);
}
