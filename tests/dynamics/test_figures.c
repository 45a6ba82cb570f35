// SPDX-License-Identifier: Apache-2.0
// Pictures that integrators share, of made-up motions: windows of time, coordinates by unit, small changes of energy.
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/dynamics_internal.h"

enum { ROWS = 11, HINGES = 9, WIDTH = 7 + HINGES };

static const carom_column columns[] = {{"t", CAROM_COLUMN_REAL, 1, "s", "", NULL},
                                       {"qpos", CAROM_COLUMN_REAL, WIDTH, "", "", NULL},
                                       {"energy", CAROM_COLUMN_REAL, 1, "J", "", NULL}};

// A state each tenth of a second, coordinate k at k + t, and an energy of 1e6 J that grows by 3e-6 J in a second.
static carom_table *make_states(void) {
    carom_error error;
    carom_table *states;
    const carom_sizes none = {0};
    assert_ok(carom_table_create(columns, 3, NULL, 0, &none, &states, &error), error);
    for (int i = 0; i < ROWS; i++) {
        assert_ok(carom_table_add_row(states, &error), error);
        *carom_table_reals(states, 0) = 0.1 * i;
        for (int k = 0; k < WIDTH; k++) carom_table_reals(states, 1)[k] = k + 0.1 * i;
        *carom_table_reals(states, 2) = 1e6 + 3e-7 * i;
    }
    return states;
}

// What a picture must look like.
typedef struct expected {
    const char *name, *y_label;
    int lines;
    double first;  // value of the first line at the start of the window
} expected;

static const expected pictures[] = {{"energy-change", "energy since the start [1e-06 J]", 1, 0.6},
                                    {"coordinates-m", "coordinate [m]", 3, 0.2},
                                    {"coordinates-rad", "angle [rad]", 7, 7.2},
                                    {"coordinates-rad-2", "angle [rad]", 2, 14.2},
                                    {"coordinates-quaternion", "quaternion", 4, 3.2}};

static carom_status check_picture(void *user, const char *name, const carom_plot *picture, carom_error *error) {
    (void)error;
    int *seen = user;
    const expected *e = &pictures[(*seen)++];
    assert_string_equal(name, e->name);
    assert_string_equal(picture->y_label, e->y_label);
    assert_int_equal(picture->series_count, e->lines);
    for (int s = 0; s < picture->series_count; s++) {
        // From 0.2 s to 0.4 s, both included.
        assert_int_equal(picture->series[s].count, 3);
        assert_close(picture->series[s].x[0], 0.2, 1e-15);
        assert_close(picture->series[s].x[2], 0.4, 1e-15);
        // An energy of 1e6 J is rounded by 1e-10 J.
        assert_close(picture->series[s].y[0], e->first + s, 1e-3);
    }
    return CAROM_OK;
}

// A trunk that turns about its z axis, and hinges.
static void advance(const void *self, const double *position, const double *velocity, double duration, double *moved) {
    (void)self;
    for (int k = 0; k < WIDTH; k++) moved[k] = position[k] + (k < 3 ? velocity[k] : k < 7 ? 0 : velocity[k - 1]) * duration;
    moved[3] += cos(0.5 * velocity[5] * duration) - 1;
    moved[6] += sin(0.5 * velocity[5] * duration);
}

static void pictures_show_a_window_and_one_unit_each(void **state) {
    (void)state;
    static const char *const names[WIDTH] = {"trunk.x", "trunk.y", "trunk.z", "trunk.qw", "trunk.qx", "trunk.qy", "trunk.qz", "h1.q",
                                             "h2",      "h3.knee", "h4",      "h5",       "h6",       "h7",       "h8",       "h9"};
    bool turns[WIDTH - 1];
    for (int i = 0; i < WIDTH - 1; i++) turns[i] = i >= 3;
    const double position[WIDTH] = {1, 2, 1e6, 1};
    const carom_mechanism mechanism = {
        .nq = WIDTH, .nv = WIDTH - 1, .position = position, .position_names = names, .turns = turns, .advance = advance};
    const carom_motion motion = {.form = CAROM_MOTION_MECHANISM, .mechanism = &mechanism};
    carom_table *states = make_states();
    carom_error error;
    int seen = 0;
    const double window[] = {0.15, 0.4};
    const carom_figures figures = {
        .title = "", .motion = &motion, .states = states, .window = window, .user = &seen, .receive = check_picture};
    assert_ok(carom_figure_mechanics(&figures, &error), error);
    assert_int_equal(seen, sizeof pictures / sizeof *pictures);
    carom_table_free(states);
}

static void states_are_found_by_time(void **state) {
    (void)state;
    carom_table *states = make_states();
    const double times[] = {-1, 0, 0.04, 0.06, 0.1, 0.99, 1, 7};
    const int rows[] = {0, 0, 0, 1, 1, 10, 10, 10};
    for (int i = 0; i < 8; i++) assert_int_equal(carom_motion_find_state(states, times[i]), rows[i]);
    // Of states at one time the last: what an impact has made.
    carom_error error;
    assert_ok(carom_table_add_row(states, &error), error);
    *carom_table_reals(states, 0) = 1;
    assert_int_equal(carom_motion_find_state(states, 1), 11);
    carom_table_free(states);
}

static carom_status check_chosen(void *user, const char *name, const carom_plot *picture, carom_error *error) {
    (void)error;
    int *seen = user;
    const bool tilt = ++*seen > 1;
    assert_string_equal(name, *seen == 1 ? "coordinate-h3.knee" : *seen == 2 ? "coordinate-trunk.tilt" : "coordinate-tilt");
    assert_string_equal(picture->y_label, *seen == 1 ? "h3.knee [rad]" : *seen == 2 ? "trunk.tilt [rad]" : "tilt [rad]");
    assert_int_equal(picture->series_count, 1);
    assert_int_equal(picture->series[0].count, ROWS);
    for (int i = 0; i < ROWS; i++) assert_close(picture->series[0].y[i], tilt ? 0.3 * i : 9 + 0.1 * i, 1e-14);
    return CAROM_OK;
}

// A tilt is the angle of the body's z axis to the vertical, whatever the body's heading.
static void chosen_coordinates_have_pictures_of_their_own(void **state) {
    (void)state;
    static const char *const names[WIDTH] = {"trunk.x", "trunk.y", "trunk.z", "trunk.qw", "trunk.qx", "trunk.qy", "trunk.qz", "h1.q",
                                             "h2",      "h3.knee", "h4",      "h5",       "h6",       "h7",       "h8",       "h9"};
    bool turns[WIDTH - 1];
    for (int i = 0; i < WIDTH - 1; i++) turns[i] = i >= 3;
    const double position[WIDTH] = {1, 2, 1e6, 1};
    const carom_mechanism mechanism = {
        .nq = WIDTH, .nv = WIDTH - 1, .position = position, .position_names = names, .turns = turns, .advance = advance};
    const carom_motion motion = {.form = CAROM_MOTION_MECHANISM, .mechanism = &mechanism};
    carom_table *states = make_states();
    // A heading of 1.1 rad, then a pitch about the body's y axis that grows by 0.3 rad from state to state: the product of quaternions.
    for (int i = 0; i < ROWS; i++) {
        const double a = 0.55, b = 0.15 * i;
        const double turned[4] = {cos(a) * cos(b), -sin(a) * sin(b), cos(a) * sin(b), sin(a) * cos(b)};
        memcpy(carom_table_reals(states, 1) - (ROWS - 1 - i) * WIDTH + 3, turned, sizeof turned);
    }
    carom_error error;
    int seen = 0;
    const char *const chosen[] = {"h3.knee", "trunk.tilt", "tilt"}, *const unknown[] = {"h3.kne"}, *const fixed[] = {"h2.tilt"};
    const carom_figures figures = {.title = "",
                                   .motion = &motion,
                                   .states = states,
                                   .coordinates = chosen,
                                   .coordinate_count = 3,
                                   .user = &seen,
                                   .receive = check_chosen};
    assert_ok(carom_motion_check_coordinates(&motion, chosen, 3, &error), error);
    assert_ok(carom_figure_coordinates(&figures, &error), error);
    assert_int_equal(seen, 3);
    assert_refused(carom_motion_check_coordinates(&motion, unknown, 1, &error), CAROM_BAD_INPUT, error, "there is no coordinate 'h3.kne'");
    assert_refused(carom_motion_check_coordinates(&motion, fixed, 1, &error), CAROM_BAD_INPUT, error, "no such free or ball joint");
    carom_table_free(states);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_show_a_window_and_one_unit_each),
        cmocka_unit_test(states_are_found_by_time),
        cmocka_unit_test(chosen_coordinates_have_pictures_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
