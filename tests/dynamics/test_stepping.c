// SPDX-License-Identifier: Apache-2.0
// The integrator `stepping`: closed forms (sliding, resting, bouncing, swinging), what is conserved, and every way in which a run may be
// refused.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/studies.h"
#include "integrators.h"
#include "mechanisms.h"

// -------------------------------------------------------------------------------------------------------------- helpers

static carom_status try_run(const carom_mechanism *mechanism, const char *const *pairs, const carom_sink *states,
                            carom_motion_answer *answer, carom_error *error) {
    const carom_motion motion = {.form = CAROM_MOTION_MECHANISM, .mechanism = mechanism};
    return run_integrator("stepping", &motion, pairs, NULL, states, answer, error);
}

static carom_motion_answer run(carom_mechanism mechanism, const char *const *pairs) {
    carom_motion_answer answer;
    carom_error error;
    assert_ok(try_run(&mechanism, pairs, NULL, &answer, &error), error);
    assert_string_equal(verdict(&answer), "complete");
    return answer;
}

// All states of a run.
static carom_table *run_states(carom_mechanism mechanism, const char *const *pairs, carom_motion_answer *answer) {
    carom_table *states;
    carom_error error;
    const carom_motion motion = {.form = CAROM_MOTION_MECHANISM, .mechanism = &mechanism};
    assert_ok(carom_motion_create_states(carom_integrator_find(registry, "stepping"), &motion, &states, &error), error);
    const carom_sink sink = carom_table_sink(states);
    assert_ok(try_run(&mechanism, pairs, &sink, answer, &error), error);
    assert_string_equal(verdict(answer), "complete");
    return states;
}

static int64_t integer(const carom_motion_answer *answer, const char *name) {
    return *carom_table_integer_column(answer->result, carom_table_find(answer->result, name));
}

// Options of the integrator, given as name, text pairs, NULL at the end.
typedef struct stepping_choice {
    const carom_integrator *integrator;
    void *options;
} stepping_choice;

static stepping_choice *start_options(const char *const *pairs) {
    stepping_choice *choice = malloc(sizeof *choice);
    const carom_integrator *one = choice->integrator = carom_integrator_find(registry, "stepping");
    choice->options = malloc(one->options_size);
    one->defaults(choice->options);
    carom_error error;
    for (; *pairs; pairs += 2)
        assert_ok(carom_option_set(&one->options[carom_option_find(one->options, one->option_count, pairs[0])], choice->options, pairs[1],
                                   &error),
                  error);
    return choice;
}

static void free_options(stepping_choice *choice) {
    free(choice->options);
    free(choice);
}

// Everything was solved, and neither contact problems nor impacts added energy beyond round-off.
static void assert_sound(const carom_motion_answer *answer, double energy) {
    assert_int_equal(integer(answer, "failures"), 0);
    assert_true(*reals(answer->result, "max_residual") <= 1e-9);
    assert_true(*reals(answer->result, "max_energy_gain") <= 1e-12 * energy);
}

// A box of 1 kg, 0.2 m by 0.1 m, on its two lower corners on the line.
static planar_body box_on_line(double slope) {
    return (planar_body){.mass = 1,
                         .inertia = 0.05 / 12,
                         .slope = slope,
                         .friction = 0.3,
                         .corners = 4,
                         .corner = {{-0.1, -0.05}, {0.1, -0.05}, {-0.1, 0.05}, {0.1, 0.05}},
                         .position = {-0.05 * sin(slope), 0.05 * cos(slope), slope}};
}

// ---------------------------------------------------------------------------------------------------------- smooth motion

static void free_flight_keeps_the_momentum(void **state) {
    (void)state;
    const spatial_box box = {.half = {0.1, 0.2, 0.3},
                             .mass = 2,
                             .inertia = {0.1, 0.2, 0.15},
                             .position = {0, 0, 100, 1, 0, 0, 0},
                             .velocity = {1, -2, 3, 4, 0.5, -1}};
    carom_motion_answer answer = run(box_mechanism(&box), (const char *[]){"duration", "1", NULL});
    const double *q = reals(answer.final, "qpos"), *v = reals(answer.final, "qvel");
    const double expected[] = {1, -2, 3 - GRAVITY, 1, -2, 100 + 3 - 0.5 * GRAVITY};
    const double found[] = {v[0], v[1], v[2], q[0], q[1], q[2]};
    // The mean of old and new velocity is exact for constant forces.
    assert_all_close(found, expected, 6, 1e-13);
    // The quaternion keeps its length.
    assert_close(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6], 1, 1e-14);
    assert_int_equal(integer(&answer, "contact_problems"), 0);
    carom_motion_answer_free(&answer);
}

// The energy of a box that tumbles freely drifts with the step, and with its square where forces are those of the middle.
static void gyroscopic_forces_of_the_middle_are_better(void **state) {
    (void)state;
    const spatial_box box = {.half = {0.1, 0.2, 0.3},
                             .mass = 2,
                             .inertia = {0.1, 0.2, 0.15},
                             .position = {0, 0, 100, 1, 0, 0, 0},
                             .velocity = {0, 0, 0, 4, 0.5, -1}};
    double error[2][2];
    for (int k = 0; k < 4; k++) {
        const char *const pairs[] = {"duration", "1", "step", k & 1 ? "0.001" : "0.002", "gyroscopic", k & 2 ? "middle" : "start", NULL};
        carom_motion_answer answer = run(box_mechanism(&box), pairs);
        const double *w = reals(answer.final, "qvel") + 3;
        error[k >> 1][k & 1] = fabs(0.05 * w[0] * w[0] + 0.1 * w[1] * w[1] + 0.075 * w[2] * w[2] - 0.9);
        carom_motion_answer_free(&answer);
    }
    assert_close(error[0][0] / error[0][1], 2, 0.1);
    assert_true(error[1][0] / error[1][1] > 3.5);
    assert_true(error[1][1] < 0.01 * error[0][1]);
}

// One step with dampers is MuJoCo's: (M + h D) (v' - v) = h f.
static void dampers_are_implicit(void **state) {
    (void)state;
    planar_body body = {.mass = 2, .inertia = 1, .damping = {3, 0, 500}, .velocity = {1, 2, -3}, .position = {0, 5, 0}};
    carom_motion_answer answer = run(planar_mechanism(&body), (const char *[]){"step", "0.1", "duration", "0.1", NULL});
    const double expected[] = {1 - 0.1 * 3 / (2 + 0.1 * 3), 2 - 0.1 * GRAVITY, -3 + 0.1 * 1500 / (1 + 0.1 * 500)};
    assert_all_close(reals(answer.final, "qvel"), expected, 3, 1e-14);
    carom_motion_answer_free(&answer);
    // A servo whose period is a fiftieth of the step does not make the motion grow.
    body = (planar_body){.mass = 1, .inertia = 1, .stiffness = {1e9, 0, 0}, .position = {1e-3, 5, 0}};
    answer = run(planar_mechanism(&body), (const char *[]){"step", "0.01", "duration", "1", NULL});
    assert_true(fabs(*reals(answer.final, "qpos")) < 1e-12);
    carom_motion_answer_free(&answer);
}

static double pendulum_end(const char *step) {
    const double_pendulum pendulum = {.stop = 10, .position = {1, 0.5}, .velocity = {0, 1}};
    carom_motion_answer answer = run(pendulum_mechanism(&pendulum), (const char *[]){"step", step, "duration", "1", NULL});
    const double end = *reals(answer.final, "qpos");
    carom_motion_answer_free(&answer);
    return end;
}

static void halving_the_step_halves_the_error(void **state) {
    (void)state;
    const double reference = pendulum_end("1e-5"), coarse = pendulum_end("0.002") - reference, fine = pendulum_end("0.001") - reference;
    assert_true(fabs(coarse) > 1e-5);
    assert_close(coarse / fine, 2, 0.1);
}

// So does the error of the energy that a run reports, also of one whose energy is 0 at the start.
static void energy_errors_halve_too(void **state) {
    (void)state;
    const double_pendulum pendulum = {.stop = 10, .position = {acos(-1) / 2, acos(-1) / 2}};
    double error[2];
    for (int k = 0; k < 2; k++) {
        carom_motion_answer answer =
            run(pendulum_mechanism(&pendulum), (const char *[]){"step", k ? "0.0005" : "0.001", "duration", "0.5", NULL});
        error[k] = reals(answer.result, "max_relative_energy_error")[0];
        carom_motion_answer_free(&answer);
    }
    assert_true(error[1] > 1e-6 && error[1] < 1e-2);
    assert_close(error[0] / error[1], 2, 0.1);
}

// -------------------------------------------------------------------------------------------------------------- contact

static void sliding_box_stops_where_coulomb_says(void **state) {
    (void)state;
    double error[2];
    for (int k = 0; k < 2; k++) {
        planar_body box = box_on_line(0);
        box.velocity[0] = 2;
        const char *const options[] = {"step", k ? "0.0005" : "0.001", "duration", "1", NULL};
        carom_motion_answer answer;
        carom_table *states = run_states(planar_mechanism(&box), options, &answer);
        const double distance = 4 / (2 * 0.3 * GRAVITY), time = 2 / (0.3 * GRAVITY), step = k ? 0.0005 : 0.001;
        assert_sound(&answer, 2);
        error[k] = fabs(*reals(answer.final, "qpos") - distance);
        // At v0^2/(2 mu g) after v0/(mu g), to the order of the step.
        assert_true(error[k] < 2 * step * distance);
        const double *t = reals(states, "t"), *v = reals(states, "qvel");
        int64_t stop = 0;
        while (v[3 * stop] > 1e-9) stop++;
        assert_true(fabs(t[stop] - time) <= 1.5 * step);
        // Friction took the energy, and nothing else did.
        assert_close(*reals(answer.final, "friction_work"), -2, 1e-12);
        assert_int_equal(integer(&answer, "impact_count"), 0);
        carom_motion_answer_free(&answer);
        carom_table_free(states);
    }
}

static void box_on_a_slope_rests(void **state) {
    (void)state;
    const planar_body box = box_on_line(atan(0.29));
    carom_motion_answer answer = run(planar_mechanism(&box), (const char *[]){"duration", "10", NULL});
    assert_all_close(reals(answer.final, "qpos"), box.position, 3, 1e-9);
    assert_sound(&answer, 1);
    // Its contacts carry the weight: J'p = m g h, by their forces in the world.
    int count;
    const double *force = carom_table_series(answer.final, carom_table_find(answer.final, "contact_forces"), 0, &count);
    assert_int_equal(count, 16);
    assert_close(force[4] + force[12], GRAVITY, 1e-9);
    assert_close(force[2] + force[10], 0, 1e-9);
    carom_motion_answer_free(&answer);
}

static void steep_slope_slides(void **state) {
    (void)state;
    const double angle = atan(0.5);
    const planar_body box = box_on_line(angle);
    carom_motion_answer answer = run(planar_mechanism(&box), (const char *[]){"duration", "1", NULL});
    const double *q = reals(answer.final, "qpos"), a = GRAVITY * (sin(angle) - 0.3 * cos(angle));
    assert_close(hypot(q[0] - box.position[0], q[1] - box.position[1]), 0.5 * a, 1e-9);
    carom_motion_answer_free(&answer);
}

// A cube in space on its face, on an edge and on a corner: it falls over, comes to rest, and its energy never grows.
static void spatial_box_falls_over(void **state) {
    (void)state;
    const double starts[][4] = {{1, 0, 0, 0}, {0.9, 0.43588989435406740, 0, 0}, {0.85, 0.4, 0.27, 0.2109502310972899}};
    for (int k = 0; k < 3; k++) {
        spatial_box box = {.half = {0.1, 0.1, 0.1}, .mass = 1, .inertia = {2. / 300, 2. / 300, 2. / 300}, .friction = 0.5};
        memcpy(box.position + 3, starts[k], sizeof starts[k]);
        carom_quaternion_normalise(box.position + 3);
        box.position[2] = 0.25;
        box.velocity[3] = 0.3;
        carom_motion_answer answer;
        carom_table *states = run_states(box_mechanism(&box), (const char *[]){"duration", "2", NULL}, &answer);
        const double *energy = reals(states, "energy");
        assert_sound(&answer, GRAVITY);
        // The scheme's own error in the energy of a tumbling box is of the order of the step; it is seen in flight.
        for (int64_t i = 1; i < carom_table_rows(states); i++) assert_true(energy[i] <= energy[i - 1] + 1e-4);
        assert_close(*reals(answer.final, "kinetic_energy"), 0, 1e-9);
        assert_close(reals(answer.final, "qpos")[2], 0.1, 1e-5);
        assert_true(integer(&answer, "impact_count") > 0);
        carom_motion_answer_free(&answer);
        carom_table_free(states);
    }
}

// Six by six feet under a box, most of them redundant: it slides and stops as a point would, turns while it does, and rests.
static void many_feet_slide_and_stop(void **state) {
    (void)state;
    const spatial_box box = {.half = {0.3, 0.3, 0.05},
                             .mass = 1,
                             .inertia = {0.03, 0.03, 0.06},
                             .friction = 0.3,
                             .feet = 6,
                             .position = {0, 0, 0.05, 1, 0, 0, 0},
                             .velocity = {1, 0, 0, 0, 0, 0}};
    spatial_box turning = box;
    turning.velocity[5] = 2;
    carom_motion_answer answer = run(box_mechanism(&box), (const char *[]){"duration", "0.6", NULL});
    assert_close(*reals(answer.final, "qpos"), 1 / (2 * 0.3 * GRAVITY), 1e-3);
    assert_sound(&answer, 0.5);
    carom_motion_answer_free(&answer);
    for (int k = 0; k < 2; k++) {
        answer = run(box_mechanism(&turning), (const char *[]){"duration", "0.6", "cone_edges", k ? "8" : "4", NULL});
        assert_sound(&answer, 1);
        // A turning box slides farther, and comes to rest all the same.
        assert_true(*reals(answer.final, "qpos") > 1 / (2 * 0.3 * GRAVITY) + 1e-3);
        assert_close(*reals(answer.final, "kinetic_energy"), 0, 1e-20);
        assert_close(*reals(answer.final, "friction_work"), -0.5 - 0.5 * 0.06 * 4, 1e-6);
        carom_motion_answer_free(&answer);
    }
}

// ------------------------------------------------------------------------------------------------------------ rods, joints

// A body on a rod is a pendulum: the equation holds to the stabilisation, and the energy to the step.
static void equations_hold(void **state) {
    (void)state;
    const planar_body body = {.mass = 1, .inertia = 1, .length = 1, .position = {1, 0, 0}};
    carom_motion_answer answer = run(planar_mechanism(&body), (const char *[]){"duration", "2", NULL});
    const double *q = reals(answer.final, "qpos");
    assert_close(hypot(q[0], q[1]), 1, 1e-4);
    assert_close(*reals(answer.final, "energy"), 0, 0.05);
    carom_motion_answer_free(&answer);
}

// Dry friction holds a weight below its bound, and slows a faster one by its bound.
static void dry_friction_holds_and_slows(void **state) {
    (void)state;
    planar_body body = {.mass = 1, .inertia = 1, .dry_friction = {0, GRAVITY + 0.1, 0.5}, .position = {0, 5, 0}, .velocity = {1, 0, 2}};
    carom_motion_answer answer = run(planar_mechanism(&body), (const char *[]){"duration", "1", NULL});
    const double position[] = {1, 5, 1.75}, velocity[] = {1, 0, 1.5};
    assert_all_close(reals(answer.final, "qpos"), position, 3, 1e-11);
    assert_all_close(reals(answer.final, "qvel"), velocity, 3, 1e-11);
    assert_sound(&answer, 3);
    carom_motion_answer_free(&answer);
}

// A pendulum that swings into its stops: they hold, and an elastic one keeps the energy to the order of the step.
static void stops_hold(void **state) {
    (void)state;
    for (int elastic = 0; elastic < 2; elastic++) {
        const double_pendulum pendulum = {.stop = 0.5, .restitution = elastic, .position = {0, 0.2}, .velocity = {3, 1}};
        carom_motion_answer answer;
        carom_table *states = run_states(pendulum_mechanism(&pendulum), (const char *[]){"duration", "2", "law", "moreau", NULL}, &answer);
        const double *q = reals(states, "qpos"), *energy = reals(states, "energy");
        const int64_t rows = carom_table_rows(states);
        for (int64_t i = 0; i < rows; i++) assert_true(fabs(q[2 * i]) < 0.5 + 1e-4);
        assert_true(integer(&answer, "impact_count") > 0);
        assert_int_equal(integer(&answer, "failures"), 0);
        if (elastic) assert_close(energy[rows - 1], energy[0], 0.05);
        assert_string_equal(carom_table_text(answer.names, CAROM_MOTION_NAME, 0), "LIMIT:0:1");
        carom_motion_answer_free(&answer);
        carom_table_free(states);
    }
}

// -------------------------------------------------------------------------------------------------------------- impacts

// Bounce heights of a ball fall by e^2, and its flights end where they must.
static void ball_bounces_by_its_restitution(void **state) {
    (void)state;
    const planar_body ball = {.mass = 1, .inertia = 1, .restitution = 0.7, .corners = 1, .corner = {{0, 0}}, .position = {0, 1, 0}};
    carom_motion_answer answer = run(planar_mechanism(&ball), (const char *[]){"duration", "2.5", "law", "moreau", NULL});
    const double *t = reals(answer.impacts, "t"), *after = reals(answer.impacts, "qvel_after");
    double time = sqrt(2 / GRAVITY), speed = sqrt(2 * GRAVITY);
    assert_true(carom_table_rows(answer.impacts) >= 5);
    for (int64_t k = 0; k < 5; k++) {
        speed *= 0.7;
        assert_close(t[k], time, 1e-6);
        assert_close(after[3 * k + 1], speed, 1e-5);
        time += 2 * speed / GRAVITY;
    }
    assert_sound(&answer, GRAVITY);
    carom_motion_answer_free(&answer);
    // Without locating, impacts are in the middle of steps: right to the step.
    answer = run(planar_mechanism(&ball), (const char *[]){"duration", "2", "law", "moreau", "locate", "false", NULL});
    assert_close(reals(answer.impacts, "t")[0], sqrt(2 / GRAVITY), 1e-3);
    assert_sound(&answer, GRAVITY);
    carom_motion_answer_free(&answer);
}

// The first impact is that of the frozen law at the same state.
static void impact_is_the_frozen_law(void **state) {
    (void)state;
    planar_body box = box_on_line(0);
    box.position[1] = 0.5;
    box.velocity[2] = 0.7;
    box.velocity[0] = 0.4;
    carom_motion_answer answer = run(planar_mechanism(&box), (const char *[]){"duration", "0.4", "law", "anitescu-potra", NULL});
    const double *before = reals(answer.impacts, "qvel_before"), *q = reals(answer.impacts, "qpos");
    void *workspace;
    carom_error error;
    carom_touches touches;
    assert_ok(mechanism_open(&box, &workspace, &error), error);
    assert_ok(planar_detect(workspace, q, 1e-6, &touches, &error), error);
    const double tangent[] = {touches.tangent[0], touches.tangent[1], touches.tangent[2]};
    const carom_impact_data data = {.nv = 3,
                                    .contacts = 1,
                                    .tangent_dim = 1,
                                    .mass = (double[]){1, 0, 0, 0, 1, 0, 0, 0, 0.05 / 12},
                                    .normal = touches.normal,
                                    .tangent = tangent,
                                    .friction = &box.friction,
                                    .velocity = before};
    carom_impact *impact = support_impact(&data);
    carom_answer frozen = support_ask(registry, impact, "anitescu-potra", (const char *[]){NULL});
    assert_int_equal(touches.count, 1);
    assert_all_close(reals(answer.impacts, "qvel_after"), carom_table_real_column(frozen.outcomes, CAROM_OUTCOME_VELOCITY), 3, 1e-12);
    carom_answer_free(&frozen);
    carom_impact_free(impact);
    carom_motion_answer_free(&answer);
    mechanism_close(workspace);
}

// ------------------------------------------------------------------------------------------------------------- ensembles

// A digest of everything that a table says, by its packed bytes.
static void digest_table(const carom_table *table, char text[CAROM_DIGEST_TEXT_SIZE]) {
    carom_bytes *bytes;
    carom_error error;
    size_t size;
    assert_ok(carom_bytes_create(&bytes, &error), error);
    assert_ok(carom_table_pack(table, bytes, &error), error);
    carom_digest *digest;
    assert_ok(carom_digest_create(&digest, &error), error);
    const void *data = carom_bytes_data(bytes, &size);
    carom_digest_add_bytes(digest, data, size);
    carom_digest_finish(digest, text);
    carom_digest_free(digest);
    carom_bytes_free(bytes);
}

// A block that lands flat on a plane by a law with many outcomes: members differ, by seeds alone, and threads change nothing.
static void members_draw_their_own_outcomes(void **state) {
    (void)state;
    const planar_body box = {.mass = 1,
                             .inertia = 5. / 12,
                             .friction = 1,
                             .corners = 4,
                             .corner = {{-0.5, -1}, {0.5, -1}, {-0.5, 1}, {0.5, 1}},
                             .position = {0, 1.25, 0}};
    const carom_mechanism mechanism = planar_mechanism(&box);
    const carom_motion motion = {.form = CAROM_MOTION_MECHANISM, .mechanism = &mechanism};
    stepping_choice *options = start_options((const char *[]){"law", "halm-posa", "duration", "0.5", "record", "0.1:0.5:0.2", NULL});
    carom_error error;
    char digests[2][4][CAROM_DIGEST_TEXT_SIZE];
    for (int k = 0; k < 2; k++) {
        const carom_control control = {.threads = k ? 4 : 1};
        const carom_motion_request request = {
            .integrator = options->integrator, .motion = &motion, .options = options->options, .registry = registry, .control = &control};
        carom_motion_answer answer;
        carom_ensemble ensemble = {.requested = 12, .perturbation = carom_ensemble_default_perturbation(&motion)};
        assert_ok(carom_integrator_run(&request, NULL, &answer, &error), error);
        assert_ok(carom_ensemble_run(&request, &answer, &ensemble, &error), error);
        const carom_table *tables[] = {ensemble.members, ensemble.tubes, ensemble.ends, answer.final};
        for (int j = 0; j < 4; j++) digest_table(tables[j], digests[k][j]);
        // Three times of three coordinates. Until the impact all are the same; then they part.
        assert_int_equal(carom_table_rows(ensemble.tubes), 9);
        const double *least = reals(ensemble.tubes, "least"), *median = reals(ensemble.tubes, "median"),
                     *most = reals(ensemble.tubes, "most");
        assert_string_equal(carom_table_text(ensemble.tubes, CAROM_TUBE_COORDINATE, 2), "theta");
        assert_close(least[1], 1.25 - 0.5 * GRAVITY * 0.01, 1e-12);
        assert_true(least[1] == most[1] && most[8] > least[8] + 1e-3);
        for (int j = 0; j < 9; j++) assert_true(least[j] <= median[j] && median[j] <= most[j]);
        double shares = 0;
        for (int64_t j = 0; j < carom_table_rows(ensemble.ends); j++) shares += reals(ensemble.ends, "share")[j];
        assert_close(shares, 1, 1e-12);
        carom_ensemble_free(&ensemble);
        carom_motion_answer_free(&answer);
    }
    for (int j = 0; j < 4; j++) assert_string_equal(digests[0][j], digests[1][j]);
    free_options(options);
}

// Pictures that were received: their names, how many lines all have, and from when to when these go.
typedef struct gallery {
    char names[256];
    int lines;
    double from, to;
} gallery;

static carom_status hang(void *user, const char *name, const carom_plot *picture, carom_error *error) {
    (void)error;
    gallery *all = user;
    strcat(strcat(all->names, name), " ");
    all->lines += picture->series_count;
    for (int k = 0; k < picture->series_count; k++) {
        const carom_plot_series *line = &picture->series[k];
        all->from = fmin(all->from, line->x[0]);
        all->to = fmax(all->to, line->x[line->count - 1]);
    }
    return CAROM_OK;
}

// Coordinates of a unit share a picture, and have tubes but for quaternions. A window shows what is in it.
static void pictures_show_coordinates_by_kind(void **state) {
    (void)state;
    planar_body body = box_on_line(0);
    body.position[1] = 0.3;
    const spatial_box box = {.half = {0.1, 0.1, 0.1}, .mass = 1, .inertia = {1, 1, 1}, .position = {0, 0, 5, 1, 0, 0, 0}};
    const carom_mechanism mechanisms[] = {planar_mechanism(&body), box_mechanism(&box)};
    const char *const names[] = {"energy coordinates-m coordinates-rad tube-m tube-rad ",
                                 "energy coordinates-m coordinates-quaternion tube-m "};
    for (int k = 0; k < 2; k++) {
        const char *const pairs[] = {"duration", "0.3", "record", "0.1,0.2,0.3", NULL};
        const carom_motion motion = {.form = CAROM_MOTION_MECHANISM, .mechanism = &mechanisms[k]};
        stepping_choice *options = start_options(pairs);
        const carom_motion_request request = {
            .integrator = options->integrator, .motion = &motion, .options = options->options, .registry = registry};
        carom_ensemble ensemble = {.requested = 2, .perturbation = 1e-3};
        carom_motion_answer answer, other;
        carom_error error;
        carom_table *states = run_states(mechanisms[k], pairs, &answer);
        assert_ok(carom_integrator_run(&request, NULL, &other, &error), error);
        assert_ok(carom_ensemble_run(&request, &other, &ensemble, &error), error);
        for (int windowed = 0; windowed < 2; windowed++) {
            static const double window[] = {0.15, 0.25};
            gallery all = {.from = INFINITY, .to = -INFINITY};
            const carom_figures figures = {.motion = &motion,
                                           .states = states,
                                           .window = windowed ? window : NULL,
                                           .answer = &answer,
                                           .ensemble = &ensemble,
                                           .user = &all,
                                           .receive = hang};
            assert_ok(options->integrator->figures(&figures, &error), error);
            assert_string_equal(all.names, names[k]);
            assert_int_equal(all.lines, 6 + (k ? 3 + 4 + 5 : 2 + 1 + 5 + 5));
            assert_close(all.from, windowed ? 0.15 : 0, 1e-9);
            assert_close(all.to, windowed ? 0.25 : 0.3, 1e-9);
        }
        carom_ensemble_free(&ensemble);
        carom_motion_answer_free(&answer);
        carom_motion_answer_free(&other);
        carom_table_free(states);
        free_options(options);
    }
}

// -------------------------------------------------------------------------------------------------------------- restart

// A run in two parts is the run in one, bit by bit: through impacts drawn at random, and through sustained contact.
static void saved_states_go_on_bit_by_bit(void **state) {
    (void)state;
    spatial_box box = {.half = {0.1, 0.15, 0.2},
                       .mass = 1,
                       .inertia = {0.02, 0.016, 0.01},
                       .friction = 0.5,
                       .position = {0, 0, 0.4, 0.85, 0.4, 0.27, 0.21},
                       .velocity = {0.5, 0, 0, 1, 2, 3}};
    carom_quaternion_normalise(box.position + 3);
    const carom_mechanism mechanism = box_mechanism(&box);
    const carom_motion motion = {.form = CAROM_MOTION_MECHANISM, .mechanism = &mechanism};
    for (const char *const *middle = (const char *const[]){"0.2", "0.25", "0.8", NULL}; *middle; middle++) {
        carom_error error;
        carom_motion_answer whole = run(mechanism, (const char *[]){"law", "routh", "duration", "1", NULL});
        carom_motion_answer first = run(mechanism, (const char *[]){"law", "routh", "duration", *middle, NULL}), second;
        stepping_choice *options = start_options((const char *[]){"law", "routh", "duration", "1", NULL});
        const carom_motion_request request = {
            .integrator = options->integrator, .motion = &motion, .options = options->options, .registry = registry, .resume = first.saved};
        assert_ok(carom_integrator_run(&request, NULL, &second, &error), error);
        char digests[2][2][CAROM_DIGEST_TEXT_SIZE];
        digest_table(whole.saved, digests[0][0]);
        digest_table(second.saved, digests[0][1]);
        digest_table(whole.result, digests[1][0]);
        digest_table(second.result, digests[1][1]);
        assert_string_equal(digests[0][0], digests[0][1]);
        assert_string_equal(digests[1][0], digests[1][1]);
        assert_int_equal(carom_table_rows(whole.impacts), carom_table_rows(first.impacts) + carom_table_rows(second.impacts));
        carom_motion_answer_free(&whole);
        carom_motion_answer_free(&first);
        carom_motion_answer_free(&second);
        free_options(options);
    }
    // Another step, and an end before the start, are refused.
    carom_motion_answer first = run(mechanism, (const char *[]){"duration", "0.1", NULL});
    const struct {
        const char *pairs[5];
        const char *text;
    } cases[] = {{{"step", "0.002", "duration", "1"}, "step: 0.002"}, {{"duration", "0.05"}, "duration: 0.05 s end before"}};
    for (int i = 0; i < 2; i++) {
        stepping_choice *options = start_options(cases[i].pairs);
        const carom_motion_request request = {
            .integrator = options->integrator, .motion = &motion, .options = options->options, .registry = registry, .resume = first.saved};
        carom_motion_answer answer;
        carom_error error;
        assert_refused(carom_integrator_run(&request, NULL, &answer, &error), CAROM_BAD_INPUT, error, cases[i].text);
        free_options(options);
    }
    // So are numbers that no run has saved.
    static const struct {
        const char *column;
        int count;
        double first;
        const char *text;
    } wrong[] = {{"closed", 4, 0.5, "resume: closed: 0.5 is not the number of a constraint"},
                 {"closed", 4, 1e300, "resume: closed: 1e+300 is not"},
                 {"basis", 401, 1, "resume: basis: no contact problem has 401 numbers"},
                 {"steps", 0, -1, "resume: steps: a run cannot have done -1 steps"}};
    for (int i = 0; i < 4; i++) {
        carom_motion_answer other = run(mechanism, (const char *[]){"duration", "0.1", NULL}), answer;
        carom_error error;
        double numbers[401] = {wrong[i].first};
        const int column = carom_table_find(other.saved, wrong[i].column);
        if (wrong[i].count)
            assert_ok(carom_table_set_series(other.saved, column, numbers, wrong[i].count, &error), error);
        else
            *carom_table_integers(other.saved, column) = (int64_t)wrong[i].first;
        stepping_choice *options = start_options((const char *[]){"duration", "1", NULL});
        const carom_motion_request request = {
            .integrator = options->integrator, .motion = &motion, .options = options->options, .registry = registry, .resume = other.saved};
        assert_refused(carom_integrator_run(&request, NULL, &answer, &error), CAROM_BAD_INPUT, error, wrong[i].text);
        carom_motion_answer_free(&other);
        free_options(options);
    }
    carom_motion_answer_free(&first);
}

// ------------------------------------------------------------------------------------------------------------- bad input

static void bad_input_is_refused(void **state) {
    (void)state;
    const planar_body box = box_on_line(0);
    const carom_mechanism mechanism = planar_mechanism(&box);
    const struct {
        const char *pairs[5];
        const char *text;
    } cases[] = {
        {{"law", "nobody"}, "law: there is no law 'nobody'"},         {{"cone_edges", "5"}, "cone_edges: 5 is odd"},
        {{"step", "1", "duration", "0.1"}, "step: 1 s are too long"}, {{"step", "1e-300"}, "step: 1e-300 s are too small"},
        {{"record", "0.1,x"}, "record: 'x' is not a time"},           {{"record", "0:1"}, "record: '0:1' is not a time"},
        {{"record", "0:1:-1"}, "record: '0:1:-1' is not a time"},     {{"record", "0:1e9:1"}, "record: '0:1e9:1' is not a time"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_motion_answer answer;
        carom_error error;
        assert_refused(try_run(&mechanism, cases[i].pairs, NULL, &answer, &error), CAROM_BAD_INPUT, error, cases[i].text);
    }
    // So is a law that cannot decide an impact, with the instant: both corners of a box land at once.
    planar_body fallen = box;
    fallen.position[1] = 0.06;
    const carom_mechanism falling = planar_mechanism(&fallen);
    carom_motion_answer none;
    carom_error reason;
    assert_refused(try_run(&falling, (const char *[]){"law", "stronge", "duration", "0.1", NULL}, NULL, &none, &reason), CAROM_BAD_INPUT,
                   reason, "law: stronge does not decide the impact of 2 contacts at 0.045");
    // A force that is not a number ends the run with its reason.
    planar_body broken = box;
    broken.push = NAN;
    const carom_mechanism other = planar_mechanism(&broken);
    carom_motion_answer answer;
    carom_error error;
    assert_ok(try_run(&other, NULL, NULL, &answer, &error), error);
    assert_string_equal(verdict(&answer), "no-force");
    carom_motion_answer_free(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_flight_keeps_the_momentum),
        cmocka_unit_test(gyroscopic_forces_of_the_middle_are_better),
        cmocka_unit_test(dampers_are_implicit),
        cmocka_unit_test(halving_the_step_halves_the_error),
        cmocka_unit_test(energy_errors_halve_too),
        cmocka_unit_test(sliding_box_stops_where_coulomb_says),
        cmocka_unit_test(box_on_a_slope_rests),
        cmocka_unit_test(steep_slope_slides),
        cmocka_unit_test(spatial_box_falls_over),
        cmocka_unit_test(many_feet_slide_and_stop),
        cmocka_unit_test(equations_hold),
        cmocka_unit_test(dry_friction_holds_and_slows),
        cmocka_unit_test(stops_hold),
        cmocka_unit_test(ball_bounces_by_its_restitution),
        cmocka_unit_test(impact_is_the_frozen_law),
        cmocka_unit_test(members_draw_their_own_outcomes),
        cmocka_unit_test(pictures_show_coordinates_by_kind),
        cmocka_unit_test(saved_states_go_on_bit_by_bit),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
