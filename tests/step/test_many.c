// SPDX-License-Identifier: Apache-2.0
// Steps of many contacts by sweeps: walls of balls, upright, leaning and hexagonal, with friction and without, simultaneous and capped.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

// Of a hexagonal wall; the others have no contacts between a ball and the one that is above and to the left.
enum { ROWS = 8, COLUMNS = 10, BALLS = ROWS * COLUMNS, WIDTH = 6, NV = WIDTH * BALLS };
enum { CONTACTS = BALLS + ROWS * (COLUMNS - 1) + (ROWS - 1) * (COLUMNS - 1) };

typedef struct wall {
    double mass[NV * NV], normal[CONTACTS * NV], tangent[2 * CONTACTS * NV], friction[CONTACTS], velocity[NV];
} wall;

typedef struct wall_shape {
    double lean;  // of its columns [rad]; hexagonal at a sixth of half a turn
    double mass_ratio, friction;
} wall_shape;

static const double HEXAGONAL = 0.52359877559829887308;

// A contact whose normal points from ball `below` (-1: the ground) to ball `above`: unit balls turn about their centres.
static void add_contact(wall *made, int contact, int below, int above, const double n[3]) {
    const double axes[3][3] = {{n[0], n[1], n[2]}, {n[2], 0, -n[0]}, {0, 1, 0}};
    for (int a = 0; a < 3; a++) {
        double *row = a ? made->tangent + (2 * contact + a - 1) * NV : made->normal + contact * NV;
        const double *d = axes[a];
        for (int side = 0; side < 2; side++) {
            const int ball = side ? above : below, sign = side ? 1 : -1;
            if (ball < 0) continue;
            // The point is half a diameter from the centre, against the normal for the upper ball; (r x d) turns it. Signs cancel.
            const double r[3] = {-0.5 * n[0], -0.5 * n[1], -0.5 * n[2]};
            for (int k = 0; k < 3; k++) {
                row[WIDTH * ball + k] = sign * d[k];
                row[WIDTH * ball + 3 + k] = r[(k + 1) % 3] * d[(k + 2) % 3] - r[(k + 2) % 3] * d[(k + 1) % 3];
            }
        }
    }
}

// The wall falls at 1 m/s, and its balls move a little.
static carom_impact *build_wall(wall *made, wall_shape shape) {
    const double up[3] = {0, 0, 1}, right[3] = {1, 0, 0}, along[3] = {sin(shape.lean), 0, cos(shape.lean)},
                 left[3] = {-along[0], 0, along[2]};
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    memset(made, 0, sizeof *made);
    int contacts = 0;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            const int ball = row * COLUMNS + column;
            add_contact(made, contacts++, row ? ball - COLUMNS : -1, ball, row ? along : up);
            if (column) add_contact(made, contacts++, ball - 1, ball, right);
            if (shape.lean == HEXAGONAL && row && column < COLUMNS - 1) add_contact(made, contacts++, ball - COLUMNS + 1, ball, left);
        }
    double mass = 1;
    for (int k = 0; k < NV; k++) {
        if (k % WIDTH == 0 && shape.mass_ratio > 1) mass = 1 + (shape.mass_ratio - 1) * carom_stream_uniform(&stream);
        made->mass[k * NV + k] = mass * (k % WIDTH < 3 ? 1 : 0.1);
        made->velocity[k] = (k % WIDTH == 2 ? -1 : 0) + 0.2 * (carom_stream_uniform(&stream) - 0.5);
    }
    for (int i = 0; i < contacts; i++) made->friction[i] = shape.friction;
    return support_impact(&(carom_impact_data){.nv = NV,
                                               .contacts = contacts,
                                               .tangent_dim = 2,
                                               .mass = made->mass,
                                               .normal = made->normal,
                                               .tangent = made->tangent,
                                               .friction = made->friction,
                                               .velocity = made->velocity});
}

// One step of the wall, which is solved; `path` is what solved it.
static void take_step(const carom_impact *impact, carom_step_kind kind, carom_selection selection, const char *path, const double *lmax,
                      double *v_next, double *impulse) {
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = kind;
    options.selection = selection;
    carom_stepper *stepper;
    carom_error error;
    carom_step_info info;
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    if (path) assert_string_equal(carom_stepper_path(stepper), path);
    carom_stepper_solve(stepper, carom_impact_get_data(impact)->velocity, lmax, v_next, impulse, &info);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    assert_true(info.residual <= CAROM_LCP_TOLERANCE);
    // Sweeps have no pivots: nothing was left to Lemke's method.
    if (path) assert_int_equal(info.pivots, 0);
    carom_stepper_free(stepper);
}

static void sweeps_solve_a_wall(void **state) {
    (void)state;
    static wall made;
    static double v_next[NV], lemke[NV], impulse[3 * CONTACTS], lmax[CONTACTS];
    carom_impact *impact = build_wall(&made, (wall_shape){0, 1, 0.4});
    take_step(impact, CAROM_STEP_SIMULTANEOUS, CAROM_SELECT_ANY, "sweeps", NULL, v_next, impulse);
    double largest = 0;
    const int contacts = carom_impact_get_data(impact)->contacts;
    for (int i = 0; i < contacts; i++) {
        assert_true(hypot(impulse[3 * i + 1], impulse[3 * i + 2]) <= 0.4 * impulse[3 * i] + 1e-9);
        largest = fmax(largest, impulse[3 * i]);
    }
    // Caps that many contacts reach.
    for (int i = 0; i < contacts; i++) lmax[i] = 0.2 * largest;
    take_step(impact, CAROM_STEP_CAPPED, CAROM_SELECT_ANY, "sweeps", lmax, v_next, impulse);
    int capped = 0;
    for (int i = 0; i < contacts; i++) capped += impulse[3 * i] > (1 - 1e-9) * lmax[i];
    assert_true(capped > 5);
    carom_impact_free(impact);
    // Without friction v' is unique.
    impact = build_wall(&made, (wall_shape){0, 1, 0});
    take_step(impact, CAROM_STEP_SIMULTANEOUS, CAROM_SELECT_ANY, "sweeps", NULL, v_next, impulse);
    take_step(impact, CAROM_STEP_SIMULTANEOUS, CAROM_SELECT_LEMKE, NULL, NULL, lemke, impulse);
    for (int k = 0; k < NV; k++) assert_true(fabs(v_next[k] - lemke[k]) <= 1e-7);
    carom_impact_free(impact);
}

// Masses that differ, much friction, and columns that lean: each makes sweeps go round in circles, and Newton's steps have to find out.
static void sweeps_solve_walls_of_many_shapes(void **state) {
    (void)state;
    static const wall_shape shapes[] = {{0, 100, 0.3}, {0, 100, 2},         {0.2, 1, 0.3},       {0.2, 1, 2},
                                        {0.2, 100, 1}, {HEXAGONAL, 1, 0.3}, {HEXAGONAL, 100, 1}, {HEXAGONAL, 1, 2}};
    static wall made;
    static double v_next[NV], impulse[3 * CONTACTS];
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        carom_impact *impact = build_wall(&made, shapes[s]);
        take_step(impact, CAROM_STEP_SIMULTANEOUS, CAROM_SELECT_ANY, "sweeps", NULL, v_next, impulse);
        carom_impact_free(impact);
    }
}

// Cancels at the second poll.
static bool is_cancelled(void *user) { return ++*(int *)user > 1; }

static void sweeps_can_be_stopped(void **state) {
    (void)state;
    static wall made;
    static double v_next[NV], impulse[3 * CONTACTS];
    carom_impact *impact = build_wall(&made, (wall_shape){0, 1, 0.4});
    carom_stepper_options options = carom_stepper_defaults();
    options.selection = CAROM_SELECT_ANY;
    carom_stepper *stepper;
    carom_error error;
    carom_step_info info;
    int polls = 0;
    const carom_control control = {.cancelled = is_cancelled, .user = &polls};
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    carom_stepper_watch(stepper, &control);
    carom_stepper_solve(stepper, made.velocity, NULL, v_next, impulse, &info);
    assert_int_equal(info.verdict, CAROM_INTERRUPTED);
    // Sweeps, their attempts with Newton's method, and pivots each ask but a few times more.
    assert_true(polls <= 8);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sweeps_solve_a_wall), cmocka_unit_test(sweeps_solve_walls_of_many_shapes),
                                       cmocka_unit_test(sweeps_can_be_stopped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
