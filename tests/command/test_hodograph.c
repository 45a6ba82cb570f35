// SPDX-License-Identifier: Apache-2.0
// `carom hodograph`, and the law `stronge` that it draws: one contact during its impact.
#include "command_support.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The curve of the impulse plane has the impulses of the document: both axes have one scale, and y of an SVG
// grows downwards.
static void check_drawn_curve(const char *directory, const json_t *hodograph) {
    char *svg = read_file(directory, "out/impulse-plane.svg");
    const char *place = svg;
    // Samples of the key and arrows have one segment.
    do {
        place = strstr(place + 1, "<path stroke='rgb(  0, 114, 178)'");
        assert_non_null(place);
        place = strstr(place, " d='") + 4;
    } while (strchr(strchr(place, 'L') + 1, 'L') > strchr(place, '\''));
    double first[2] = {0}, seen[2], scale = 0;
    const json_t *curve = at(hodograph, "curve");
    for (size_t i = 0; i < json_array_size(curve); i++) {
        int used = 0;
        assert_int_equal(sscanf(place, "%*1[ML]%lf,%lf %n", &seen[0], &seen[1], &used), 2);
        place += used;
        double impulse[2];
        for (size_t k = 0; k < 2; k++)
            impulse[k] = json_number_value(json_array_get(json_object_get(json_array_get(curve, i), "impulse"), k));
        if (!i) memcpy(first, seen, sizeof first);
        if (i == 1) scale = (seen[0] - first[0]) / impulse[0];
        assert_close(seen[0] - first[0], scale * impulse[0], 1e-3);
        assert_close(seen[1] - first[1], -scale * impulse[1], 1e-3);
    }
    assert_true(scale > 100);
    free(svg);
}

// The two published contacts with the sharpest numbers (Jia & Wang 2017), as shipped, and a planar one.
static void one_contact_is_followed(void **state) {
    char path[PATH_SIZE];
    static const double compression[] = {0.486472, -0.0221367, 1.5224919341};
    json_t *resolved = ask(*state, "resolve", join(path, scenes_path, "pin.yaml"), "-o", "pin.h5");
    assert_string_equal(text(resolved, "outcomes.0.events"), "scr");
    assert_string_equal(text(resolved, "outcomes.0.course"), "slip+stick");
    assert_string_equal(text(resolved, "selection"), "");
    assert_close(number(resolved, "outcomes.0.normal_impulse.0"), 2.5850130310, 1e-10);
    check_numbers(resolved, "outcomes.0.impulse_compression", compression, 3, 1e-6);
    assert_int_equal(length(resolved, "outcomes.0.invariant_directions"), 4);
    assert_string_equal(text(resolved, "outcomes.0.invariant_directions.1.type"), "repelling");
    assert_string_equal(text(resolved, "outcomes.0.event_impulses.0.event"), "s");
    assert_close(number(resolved, "outcomes.0.event_impulses.0.impulse"), .2918852444, 1e-10);

    // Records are lines whose attribute names the fields.
    assert_int_equal(count_rows(join(path, *state, "pin.h5"), "stronge/invariant_directions"), 4);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(H5Aexists_by_name(file, "stronge/event_impulses", "fields", H5P_DEFAULT) > 0);
    H5Fclose(file);

    json_t *fan = ask(*state, "hodograph", join(path, scenes_path, "polyhedra-fan.yaml"), "--fan", "15", "-o", "out");
    assert_string_equal(text(fan, "schema"), "carom.hodograph/1");
    assert_int_equal(length(fan, "fan"), 15);
    int stops = 0;
    for (size_t i = 0; i < 15; i++) stops += strchr(text(json_array_get(at(fan, "fan"), i), "events"), 's') != NULL;
    assert_int_equal(stops, 11);
    assert_int_equal(length(fan, "curve.0.impulse"), 3);
    assert_close(number(fan, "curve.0.slip.0"), 1, 1e-15);
    assert_string_equal(text(fan, "events.0.event"), "s");
    check_pictures(*state, fan, 6);
    // What the pictures show is named in their keys.
    if (!system("command -v gnuplot > /dev/null")) {
        static const char *const shown[][3] = {{"hodograph.svg", "friction cone: rates of slip (own scale)", "attracting directions"},
                                               {"impulse.svg", "friction cone", "along tangent 2"},
                                               {"impulse-space.svg", "no slip (line)", "compression ends (plane)"}};
        for (int i = 0; i < 3; i++) {
            char name[64];
            snprintf(name, sizeof name, "out/%s", shown[i][0]);
            char *svg = read_file(*state, name);
            for (int k = 1; k < 3; k++) assert_non_null(strstr(svg, shown[i][k]));
            free(svg);
        }
    }

    json_t *rod = ask(*state, "hodograph", join(path, scenes_path, "rod.yaml"), "-o", "out", "--restitution", "0", "--size", "column");
    assert_int_equal(length(rod, "curve.0.slip"), 1);
    assert_int_equal(length(rod, "curve.0.impulse"), 2);
    check_pictures(*state, rod, 2);
    if (!system("command -v gnuplot > /dev/null")) check_drawn_curve(*state, rod);
    json_decref(resolved);
    json_decref(fan);
    json_decref(rod);
}

// -------------------------------------------------------------------------------------------------------------------------------- bad
// input

static const refusal refusals[] = {
    // one contact
    {"hodograph set.h5", "set.h5", NULL},
    {"hodograph case.yaml --fan 0", "--fan: 0 is not between", "matrices: {" FLAT_PARTS "}\n"},
    {"hodograph case.yaml --fan 5", "--fan: slip of a planar contact", "delassus: {W: [[1, 0], [0, 1]], u: [-1, 1], mu: [1]}\n"},
    {"hodograph case.yaml -o out --size small", "--size: 'small' is no size", "delassus: {W: [[1, 0], [0, 1]], u: [-1, 1], mu: [1]}\n"},
    {"hodograph case.yaml --contact Z", "--contact: the scene has no contact 'Z'",
     "delassus: {W: [[1, 0], [0, 1]], u: [-1, 1], mu: [1]}\n"},
};

static void bad_input_is_refused_in_one_line(void **state) { check_refusals(*state, refusals, sizeof refusals / sizeof *refusals); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_contact_is_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_in_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
