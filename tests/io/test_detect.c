// SPDX-License-Identifier: Apache-2.0
// `contacts: {detect: ...}` in scenes: its keys beside `detect: true` or inside a map, and what is refused.
#include "scene_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char model[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='5 5 1'/><body name='sled' pos='0 0 0.1'><freejoint/>"
    "<geom name='front' type='box' size='0.1 0.1 0.1' pos='0.5 0 0'/><geom name='back' type='box' size='0.1 0.1 0.1' pos='-0.5 0 0'/>"
    "<body pos='0 0 0.5'><joint name='arm' axis='0 1 0' limited='true' range='0 90'/><geom name='hand' size='0.1' pos='0 0 1'/></body>"
    "</body></worldbody></mujoco>";

static carom_status read_contacts(const fixture *it, const char *contacts, carom_scene **scene, carom_error *error) {
    char text[512];
    snprintf(text, sizeof text, "model: sled.xml\nstate: {qvel: [0, 0, -1, 0, 0, 0, 0]}\ncontacts: %s\n", contacts);
    free(write_bytes(it, "sled.xml", model, strlen(model)));
    return read_bytes(it, text, strlen(text), scene, error);
}

static void keys_stand_beside_or_inside(void **state) {
    static const struct {
        const char *contacts, *names;
    } cases[] = {
        {"{detect: true, only: front}", "front:1 front:2 front:3 front:4"},
        {"{detect: {only: [front, \"LIMIT:*\"], merge: 0.01}}", "front:1 front:2 front:3 front:4 LIMIT:arm"},
        {"{detect: true, merge: 0.01, stops: false}", "front:2 front:4 back:1 back:3"},
        {"{detect: {merge: 0.01, stops: false, self: false, margin: 0.01, friction: 0.3}}", "front:2 front:4 back:1 back:3"},
        {"{detect: {}, exclude: [\"fr*\", \"back:[234]\"]}", NULL},
        {"{detect: true, exclude: [\"fr*\", \"back:[234]\"], self: true, stops: true}", "back:1 LIMIT:arm"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_scene *scene = NULL;
        carom_error error;
        const carom_status status = read_contacts(*state, cases[i].contacts, &scene, &error);
        if (!cases[i].names) {
            assert_refused(status, CAROM_BAD_INPUT, error, ":3: contacts.exclude: belongs into the map 'detect', beside its other keys");
            continue;
        }
        assert_ok(status, error);
        const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
        char names[512] = "";
        size_t used = 0;
        for (int k = 0; k < data->contacts; k++)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", k ? " " : "", data->names[k]);
        assert_string_equal(names, cases[i].names);
        carom_scene_free(scene);
    }
}

// Friction and restitution by pair of names: geoms or bodies in any order, with wildcards, before those of all contacts. The first entry
// that gives a coefficient counts; one that gives none is told.
static void pairs_have_their_own_coefficients(void **state) {
    static const struct {
        const char *contacts;
        double friction[2], restitution[2];  // of `front`, then of `back`
        int warnings;
    } cases[] = {
        {"{detect: true, pairs: [{between: [front, floor], friction: 0.2, restitution: 0.5}]}", {0.2, 1}, {0.5, 0}, 0},
        {"{detect: true, friction: 0.7, restitution: 0.1, pairs: [{between: [floor, back], restitution: 0.9}]}", {0.7, 0.7}, {0.1, 0.9}, 0},
        {"{detect: {friction: 0.7, pairs: [{between: ['f*t', world], friction: 0}, {between: [sled, floor], friction: 3, restitution: "
         "1}]}}",
         {0, 3},
         {1, 1},
         0},
        {"{detect: true, pairs: [{between: ['*', '*'], friction: 0.4}, {between: [front, floor], friction: 0.2}]}", {0.4, 0.4}, {0, 0}, 1},
        {"{detect: true, pairs: [{between: [front, back], friction: 0.4}]}", {1, 1}, {0, 0}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_scene *scene = NULL;
        carom_error error;
        assert_ok(read_contacts(*state, cases[i].contacts, &scene, &error), error);
        const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
        for (int k = 0; k < 8; k++) {
            const int back = strncmp(data->names[k], "back", 4) == 0;
            assert_close(data->friction[k], cases[i].friction[back], 0);
            assert_close(data->restitution[k], cases[i].restitution[back], 0);
        }
        int idle = 0;
        for (int k = 0; k < carom_scene_warnings(scene); k++)
            idle += strstr(carom_scene_warning(scene, k), "is not used: no contact of this state takes a coefficient from it") != NULL;
        assert_int_equal(idle, cases[i].warnings);
        carom_scene_free(scene);
    }
}

static void bad_choices_are_refused(void **state) {
    static const char *const cases[][2] = {
        {"{detect: false}", ":3: contacts.detect: must be true, or a map"},
        {"{detect: [true]}", ":3: contacts.detect: must be true, or a map"},
        {"{only: front}", ":3: contacts: the key 'detect' is missing"},
        {"{detect: {onli: front}}", ":3: contacts.detect.onli: unknown key; did you mean 'only'?"},
        {"{detect: true, self: no}", ":3: contacts.self: 'no' is neither true nor false"},
        {"{detect: {only: {a: b}}}", ":3: contacts.detect.only: must be a list of names"},
        {"{detect: {only: []}}", ":3: contacts.detect.only: must be a list of names"},
        {"{detect: {exclude: [[a]]}}", ":3: contacts.detect.exclude[0]: must be text"},
        {"{detect: {only: *front}}", ":3: aliases (*name) are not allowed; put a text that starts with * in quotes"},
        {"{detect: {only: [*front*]}}", "while scanning an alias; put a text that starts with * in quotes"},
        {"{detect: {merge: -1}}", ":3: contacts.detect.merge: -1 is below the least value 0"},
        {"{detect: {only: frnot}}", ":3: contacts: only: 'frnot' is no body, geom or contact of the model"},
        {"{detect: true, pairs: {a: b}}", ":3: contacts.pairs: must be a list such as"},
        {"{detect: true, pairs: []}", ":3: contacts.pairs: must be a list such as"},
        {"{detect: true, pairs: [front]}", ":3: contacts.pairs[0]"},
        {"{detect: true, pairs: [{friction: 1}]}", ":3: contacts.pairs[0]: the key 'between' is missing"},
        {"{detect: true, pairs: [{between: [front], friction: 1}]}", ":3: contacts.pairs[0].between: has 1 item, must have 2"},
        {"{detect: true, pairs: [{between: [front, floor]}]}", ":3: contacts.pairs[0]: gives neither 'friction' nor 'restitution'"},
        {"{detect: true, pairs: [{between: [front, floor], frction: 1}]}",
         "contacts.pairs[0].frction: unknown key; did you mean 'friction'?"},
        {"{detect: true, pairs: [{between: [fron, floor], friction: 1}]}",
         ":3: contacts.pairs[0].between: 'fron' is no body or geom of the model; near names: 'front'"},
        {"{detect: true, pairs: [{between: [arm, floor], friction: 1}]}", "'arm' is no body or geom of the model"},
        {"{detect: true, pairs: [{between: [front, floor], friction: .nan}]}",
         ":3: contacts.pairs[0].friction: '.nan' is not a finite number"},
        {"{detect: true, pairs: [{between: [front, floor], friction: .inf}]}",
         ":3: contacts.pairs[0].friction: '.inf' is not a finite number"},
        {"{detect: true, pairs: [{between: [front, floor], friction: -1}]}",
         ":3: contacts.pairs[0].friction: -1 is below the least value 0"},
        {"{detect: {pairs: [{between: [front, floor], restitution: 1.5}]}}",
         "contacts.detect.pairs[0].restitution: 1.5 is not between 0 and 1"},
        {"{detect: true, pairs: [{between: [front, floor], friction: 1}, {between: [floor, front], restitution: 1}]}",
         ":3: contacts.pairs[1].between: names the same two as pairs[0]"},
        {"{detect: {only: hand, stops: false}}", ":3: contacts: none of the 8 contacts found is left: 'only' leaves out 8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_scene *scene = NULL;
        carom_error error;
        assert_refused(read_contacts(*state, cases[i][0], &scene, &error), CAROM_BAD_INPUT, error, cases[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_stand_beside_or_inside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pairs_have_their_own_coefficients, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_choices_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
