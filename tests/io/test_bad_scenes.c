// SPDX-License-Identifier: Apache-2.0
// The scene reader refuses: every rule it states, and files that are no scenes at all.
#include "scene_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ------------------------------------------------------------------------------------------------------------ fixtures

static void assert_text_refused(const fixture *it, const char *text, const char *fragment) {
    carom_scene *scene = NULL;
    carom_error error;
    assert_refused(read_bytes(it, text, strlen(text), &scene, &error), CAROM_BAD_INPUT, error, fragment);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ----------------------------------------------------------------------------------------------------------- bad input

#define BALL  "{mass: 1, inertia_world: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], contact_arm: [0, 0, -1]}"
#define BODY  "M: [[1, 0], [0, 1]], Jn: [[1, 0]], v: [-1, 0]"
#define FRAME "name: A, normal: [0, 0, 1], friction: 1"

static void bad_scenes_are_refused(void **state) {
    static const struct {
        const char *text, *fragment;
    } cases[] = {
        // the file
        {"", ":1: the file is empty"},
        {"# only a comment\n", ":1: the file is empty"},
        {"---\n", ":2: must be a map, not empty"},
        {"just text\n", ":1: must be a map, not a single value"},
        {"[1, 2]\n", ":1: must be a map, not a list"},
        {"name: a\nname: b\n", ":2: name: the key stands twice, first in line 1"},
        {"matrices: {" BODY ",\n  mu: [0],\n  mu: [1]}\n", ":3: matrices.mu: the key stands twice, first in line 2"},
        {"name: a\n---\nname: b\n", ":2: a second document starts here"},
        {"name: a\n? [1, 2]\n: 3\n", ":2: a key must be text"},
        {"name: &x a\nmodel: *x\n", ":2: aliases"},
        {"impact: &y [*y]\n", ":1: aliases"},
        {"name: !!str a\n", ":1: tags"},
        {"name: \"a\\0b\"\n", ":1: a text contains a NUL character"},
        {"\"a\\0b\": 1\n", ":1: a key contains a NUL character"},
        {"name: a\nmatrices: [1, 2\n", ":3: not valid YAML"},
        {"name: a\n\tmatrices: 1\n", ":2: not valid YAML"},
        {"name: a\nbad: \xff\xfe\n", ":2: not valid YAML"},
        {"name: a\x01\n", ":1: not valid YAML"},
        // keys of the top level
        {"name: a\n", ":1: one of the keys 'model', 'matrices', 'delassus', 'two_bodies', 'balls', 'body' and 'bodies' is needed"},
        {"name: a\nmatrixes: {}\n", ":2: matrixes: unknown key; did you mean 'matrices'?"},
        {"name: a\nsomething: {}\n", ":2: something: unknown key"},
        {"name: [a]\n", ":1: name: must be text, not a list"},
        {"name:\n", ":1: name: must be text, not empty"},
        {"name: ''\n", ":1: name: must not be empty"},
        {"name: \"a\\nb\"\n", ":1: name: must not contain control characters"},
        {"matrices: {" BODY "}\ndelassus: {}\n", ":1: only one of the keys"},
        {"matrices: {" BODY "}\nmodel: block.xml\n", ":1: only one of the keys"},
        {"matrices: {" BODY "}\ncontacts: []\n", ":2: contacts: belongs to a scene with 'model'"},
        {"matrices: {" BODY "}\nstate: {qpos: [1]}\n", ":2: state: belongs to a scene with 'model'"},
        {"matrices: {" BODY "}\ngravity: 9.81\n", ":2: gravity: belongs to a scene with 'body'"},
        {"simulate: {}\nbody: {}\n", ":2: body: a scene of this form describes a motion in time"},
        {"simulate: {}\nbodies: []\npotentials: []\n", ":2: bodies: a scene of this form describes a motion in time"},
        {"matrices: {" BODY "}\nwalls: []\n", ":2: walls: belongs to a scene with 'bodies'"},
        {"matrices: {" BODY "}\nnormal: [0, 0, 1]\n", ":2: normal: belongs to a scene with 'two_bodies'"},
        {"balls: {}\n", ":1: balls: the key 'masses' is missing"},
        // two bodies
        {"two_bodies: []\nnormal: [0, 0, 1]\n", ":1: two_bodies: has 0 items, must have 2"},
        {"two_bodies: [{fixed: true}, " BALL "]\n", ":1: the key 'normal' is missing beside 'two_bodies'"},
        {"two_bodies: [{fixed: true}, " BALL "]\nnormal: [0, 0, 0]\n", ":2: normal: needs a finite length"},
        {"two_bodies: [{fixed: true}, " BALL "]\nnormal: [0, 1]\n", ":2: normal: has 2 numbers, must have 3"},
        {"two_bodies: [{fixed: true}, {fixed: true}]\nnormal: [0, 0, 1]\n", ":1: two_bodies: one of the two bodies must be free"},
        {"two_bodies: [{fixed: true, mass: 1}, " BALL "]\nnormal: [0, 0, 1]\n", ":1: two_bodies[0]: a fixed body is {fixed: true}"},
        {"two_bodies: [{fixed: true}, {mass: 1}]\nnormal: [0, 0, 1]\n", ":1: two_bodies[1]: the key 'inertia_world' is missing"},
        {"two_bodies: [{fixed: true}, {inertia_world: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}]\nnormal: [0, 0, 1]\n",
         ":1: two_bodies[1]: the key 'mass' is missing"},
        {"two_bodies: [{fixed: true}, {mass: -1, inertia_world: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], contact_arm: [0, 0, 1]}]\nnormal: [0, "
         "0, 1]\n",
         ":1: two_bodies: M is not positive definite"},
        {"two_bodies: [{fixed: true}, " BALL "]\nnormal: [0, 0, 1]\ntangents: [[1, 0, 1]]\n", ":3: tangents: tangent 1 needs a length"},
        {"two_bodies: [{fixed: true}, " BALL "]\nnormal: [0, 0, 1]\nfriction: -1\n", ":3: friction: -1 is below"},
        {"two_bodies: [{fixed: true}, " BALL "]\nnormal: [0, 0, 1]\nrestitution: 2\n", ":3: restitution: 2 is not between"},
        // matrices
        {"matrices: 3\n", ":1: matrices: must be a map, not a single value"},
        {"matrices: null\n", ":1: matrices: must be a map, not empty"},
        {"name: a\nmatrices: {Jn: [[1]], v: [1]}\n", ":2: matrices: the key 'M' is missing"},
        {"matrices:\n  M: [[1, 0], [0, 1]]\n  Jn: [[1, 0],\n       [1]]\n  v: [-1, 0]\n",
         ":4: matrices.Jn[1]: has 1 number, must have 2 to fit 'v'"},
        {"matrices: {M: [[1, 0]], Jn: [[1, 0]], v: [-1, 0]}\n", ":1: matrices.M: has 1 row, must have 2 to fit 'v'"},
        {"matrices: {M: [1, 0], Jn: [[1, 0]], v: [-1, 0]}\n", ":1: matrices.M[0]: must be a list, not a single value"},
        {"matrices: {" BODY ", v: []}\n", ":1: matrices.v: the key stands twice"},
        {"matrices: {M: [[1]], Jn: [[1]], v: []}\n", ":1: matrices.v: has 0 numbers, must have 1 to 4096"},
        {"matrices: {M: [[1]], Jn: [], v: [1]}\n", ":1: matrices.Jn: has 0 rows, must have 1 to 1024"},
        {"matrices:\n  " BODY "\n", ":2: not valid YAML"},
        {"matrices: {" BODY ",\n  Jt: [[1, 0], [0, 1], [1, 1]], mu: [1]}\n",
         ":2: matrices.Jt: the number of rows is 3, must be 1 (planar) or 2 (spatial)"},
        {"matrices: {" BODY ", mu: [1]}\n", ":1: matrices: the key 'Jt' is missing: friction needs tangents"},
        {"matrices: {" BODY ", mu: [1, 1]}\n", ":1: matrices.mu: has 2 numbers, must have 1 to fit 'Jn'"},
        {"matrices: {" BODY ", Jt: [[0, 1]], mu: [-1]}\n", ":1: matrices.mu[0]: -1 is below the least value 0"},
        {"matrices: {" BODY ", restitution: [2]}\n", ":1: matrices.restitution[0]: 2 is not between 0 and 1"},
        {"matrices: {" BODY ", names: [A, B]}\n", ":1: matrices.names: has 2 items, must have 1 to fit 'Jn'"},
        {"matrices: {" BODY ", names: [[A]]}\n", ":1: matrices.names[0]: must be text, not a list"},
        {"matrices: {" BODY ", nanes: [A]}\n", ":1: matrices.nanes: unknown key; did you mean 'names'?"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [1abc]}\n", ":1: matrices.v[0]: '1abc' is not a finite number"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [nan]}\n", ":1: matrices.v[0]: 'nan' is not a finite number"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [.inf]}\n", ":1: matrices.v[0]: '.inf' is not a finite number"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [1e999]}\n", ":1: matrices.v[0]: '1e999' is not a finite number"},
        {"matrices: {M: [[1/0]], Jn: [[1]], v: [1]}\n", ":1: matrices.M[0][0]: '1/0' is not a finite number"},
        {"matrices: {M: [[1]], Jn: [[0x1]], v: [1]}\n", ":1: matrices.Jn[0][0]: '0x1' is not"},
        {"matrices: {M: [[1]], Jn: [[~]], v: [1]}\n", ":1: matrices.Jn[0][0]: must be a number, not empty"},
        {"matrices: {M: [[1]], Jn: [[{}]], v: [1]}\n", ":1: matrices.Jn[0][0]: must be a number, not a map"},
        {"name: a\nmatrices:\n  {M: [[1, 2], [0, 1]], Jn: [[1, 0]], v: [-1, 0]}\n", ":2: matrices: M is not symmetric: M[1][0]"},
        {"matrices: {M: [[-1]], Jn: [[1]], v: [1]}\n", ":1: matrices: M is not positive definite"},
        {"matrices: {M: [[1]], Jn: [[0]], v: [1]}\n", ":1: matrices: Jn[0] is zero"},
        {"matrices: {M: [[1]], Jn: [[1], [-1]], v: [1], names: [A, A]}\n", ":1: matrices: names[0] and names[1] are both 'A'"},
        // delassus
        {"delassus: {W: [[1]], u: [-1], mu: [0]}\n", ":1: delassus.u: the length is 1, must be 2 (planar) or 3 (spatial)"},
        {"delassus: {W: [[1, 0], [0, 1]], u: [-1, 0, 0], mu: [0]}\n", ":1: delassus.W: has 2 rows, must have 3 to fit 'u'"},
        {"delassus: {W: [[1, 0], [0, 1]], u: [-1, 0]}\n", ":1: delassus: the key 'mu' is missing"},
        {"name: a\ndelassus: {file: x.hdf5, u: [1]}\n", ":2: delassus.u: is read from 'file'"},
        {"delassus: {W: [[1, 0.5], [0, 1]], u: [-1, 0], mu: [0]}\n", ":1: delassus: W is not symmetric"},
        // impact
        {"matrices: {" BODY "}\nimpact: {law: third}\n", ":2: impact.law: 'third' is not one of: first, second"},
        {"matrices: {" BODY "}\nimpact: {law: [first]}\n", ":2: impact.law: must be text"},
        {"matrices: {" BODY "}\nimpact:\n  law: first\n  stepp: 1\n", ":4: impact.stepp: unknown key; did you mean 'step'?"},
        {"matrices: {" BODY "}\nimpact: {max_steps: 0}\n", ":2: impact.max_steps: 0 is"},
        {"matrices: {" BODY "}\nimpact: {max_steps: 1.5}\n", ":2: impact.max_steps: "},
        {"matrices: {" BODY "}\nimpact: {step: much}\n", ":2: impact.step: "},
        {"matrices: {" BODY "}\nimpact: {selection: none}\n", ":2: impact.selection: "},
        {"matrices: {" BODY "}\nimpact: {step: {a: 1}}\n", ":2: impact.step: must be a value or a list of values"},
        {"matrices: {" BODY "}\nimpact: {order: [A, \"B,C\"]}\n", ":2: impact.order[1]: must not contain a comma"},
        {"matrices: {" BODY "}\nimpact: {order: [A, [B]]}\n", ":2: impact.order[1]: must be text, not a list"},
        {"matrices: {" BODY "}\nimpact: 3\n", ":2: impact: must be a map"},
        // model, state
        {"model: [a]\n", ":1: model: must be text"},
        {"model: block.xml\ncontacts: []\n", ":2: contacts: an impact needs 1 to 1024 contacts, not 0; no joint is at its stop"},
        {"model: block.xml\nstate: {key: down}\n", ":1: the key 'contacts' is missing"},
        {"model: block.xml\nstate: {}\ncontacts: []\n", ":3: contacts: an impact needs 1 to 1024 contacts, not 0"},
        {"model: block.xml\nstate: {key: down, qpos: [0, 0, 0]}\ncontacts: []\n", ":2: state: 'key' and 'qpos' both"},
        {"model: block.xml\nstate: {key: up}\ncontacts: []\n", ":2: state: "},
        {"model: block.xml\nstate: {qpos: [0, 0]}\ncontacts: []\n", ":2: state: "},
        {"model: block.xml\nstate: {qpos: [0, 0, 0], qvel: [0, x, 0]}\ncontacts: []\n", ":2: state.qvel[1]: 'x' is not a finite number"},
        {"model: block.xml\nstate: {pos: [0]}\ncontacts: []\n", ":2: state.pos: unknown key; did you mean 'qpos'?"},
        {"model: scene.yaml\nstate: {key: down}\ncontacts: []\n", ":1: model: "},
        // contacts
        {STATE "contacts: []\n", ":3: contacts: an impact needs 1 to 1024 contacts, not 0"},
        {STATE "contacts: 3\n", ":3: contacts: must be a list"},
        {STATE "contacts: {detect: true}\n", ":3: contacts: no geoms touch"},
        {STATE "contacts: {detect: true}\nsimulate: {integrator: stepping}\n", "this scene is a motion, which `carom simulate` follows"},
        {STATE "contacts: [A]\n", ":3: contacts[0]: must be a map"},
        {STATE "contacts: [{site: left_corner, " FRAME ", open: maybe}]\n", ":3: contacts[0].open: must be true or false"},
        {STATE "contacts: [{site: left_corner, " FRAME ", open: true}]\n", ":3: contacts[0]: a contact that is open needs the 'offset'"},
        {STATE "contacts: [{site: left_corner, " FRAME
               ", open: true, offset: 0}, {site: right_corner, name: B, normal: [0, 0, 1], friction: "
               "1}]\n",
         ":3: contacts[1]: touches: contacts that are open stand after"},
        {STATE "contacts: [{" FRAME "}]\n", ":3: contacts[0]: must say where it is"},
        {STATE "contacts: [{" FRAME ", site: left, sites: [left, right]}]\n", ":3: contacts[0]: must say where it is"},
        {STATE "contacts: [{" FRAME ", site: left, geom: box}]\n", ":3: contacts[0]: a place is one of"},
        {STATE "contacts: [{" FRAME ", site: left, point: [0, 0, 0]}]\n", ":3: contacts[0]: a place is one of"},
        {STATE "contacts: [{" FRAME ", body: block}]\n", ":3: contacts[0]: 'body' needs a 'point'"},
        {STATE "contacts: [{" FRAME ", at: {body: block, point: [0, 0]}}]\n", ":3: contacts[0].at.point: has 2 numbers, must have 3"},
        {STATE "contacts: [{" FRAME ", at: {}}]\n", ":3: contacts[0].at: a place is one of"},
        {STATE "contacts: [{" FRAME ", at: left}]\n", ":3: contacts[0].at: must be a map"},
        {STATE "contacts: [{" FRAME ", sites: [left]}]\n", ":3: contacts[0].sites: has 1 item, must have 2"},
        {STATE "contacts:\n  - {" FRAME ", site: left}\n  - {" FRAME ", site: nowhere}\n", ":3: contacts: "},
        {STATE "contacts: [{name: A, site: left, friction: 1}]\n", ":3: contacts[0]: the key 'normal' is missing"},
        {STATE "contacts: [{name: A, site: left, normal: [0, 0, 1]}]\n", ":3: contacts[0]: the key 'friction' is missing"},
        {STATE "contacts: [{name: A, site: left, normal: [0, 0, 0], friction: 1}]\n", ":3: contacts: "},
        {STATE "contacts: [{" FRAME ", site: left, tangents: [[1, 0]]}]\n", ":3: contacts[0].tangents[0]: has 2 numbers, must have 3"},
        {STATE "contacts: [{" FRAME ", site: left, tangents: [[1, 0, 0], [0, 1, 0], [0, 1, 0]]}]\n",
         ":3: contacts[0].tangents: has 3 rows, must have 1 to 2"},
        {STATE "contacts: [{" FRAME ", site: left, restitution: 1.5}]\n", ":3: contacts[0].restitution: 1.5 is not between 0 and 1"},
        {STATE "contacts: [{" FRAME ", site: left, frictoin: 1}]\n", ":3: contacts[0].frictoin: unknown key; did you mean 'friction'?"},
    };
    // all cases are tried, so that a changed sentence shows every case that it breaks
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_scene *scene = NULL;
        carom_error error;
        const carom_status status = read_bytes(*state, cases[i].text, strlen(cases[i].text), &scene, &error);
        if (status == CAROM_BAD_INPUT && strstr(error.message, cases[i].fragment)) continue;
        print_error("expected '%s', found '%s' for:\n%s", cases[i].fragment, error.message, cases[i].text);
        carom_scene_free(scene);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/// A list of `count` equal entries behind `head`.
static char *long_list(const char *head, const char *entry, size_t count, const char *tail) {
    char *text = malloc(strlen(head) + count * strlen(entry) + strlen(tail) + 1);
    assert_non_null(text);
    char *end = text + sprintf(text, "%s", head);
    for (size_t i = 0; i < count; i++) {
        memcpy(end, entry, strlen(entry));
        end += strlen(entry);
    }
    strcpy(end, tail);
    return text;
}

static void absurd_sizes_are_refused_at_once(void **state) {
    static const struct {
        const char *head, *entry, *tail, *fragment;
    } cases[] = {
        {"name: ", "[", "", ":1: lists and maps are nested more than 64 deep"},
        {"name: ", "{a: ", "", ":1: lists and maps are nested more than 64 deep"},
        {"", "- ", "", ":1: lists and maps are nested more than 64 deep"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [1", ",1", "]}\n", ":1: matrices.v: has 100001 numbers, must have 1 to 4096"},
        {"matrices: {M: [[1]], v: [1], Jn: [[1]", ",[1]", "]}\n", ":1: matrices.Jn: has 100001 rows, must have 1 to 1024"},
        {"delassus: {W: [[1]], u: [1], mu: [1", ",1", "]}\n", ":1: delassus.mu: has 100001 numbers"},
        {STATE "contacts: [a", ",a", "]\n", ":3: contacts: must be a list of 1 to 1024"},
        {"matrices: {M: [[1]], v: [1], Jn: [[1]]}\nimpact: {order: [A", ",A", "]}\nnam: 1\n", ":3: nam: unknown key; did you mean 'name'?"},
        {"impact: {k: 1", ", k: 1", "}\n", ":1: impact.k: the key stands twice"},
        {"\"", "\\t", "\": 1\n", ":1: not valid YAML"},
        {"name: ", "a", "\nnam: 1\n", ":2: nam: unknown key"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [", "x", "]}\n", ":1: matrices.v[0]: 'xxx"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = long_list(cases[i].head, cases[i].entry, 100000, cases[i].tail);
        const double start = seconds();
        assert_text_refused(*state, text, cases[i].fragment);
        // a quadratic parser takes 20 s
        assert_true(seconds() - start < 5);
        free(text);
    }
}

// --------------------------------------------------------------------------------------------------------- broken files

static const char *const GOOD[] = {MATRICES, JSON, MODEL};

/// Whatever the bytes are: a scene, or a message.
static void try_bytes(const fixture *it, const char *bytes, size_t size) {
    carom_scene *scene = NULL;
    carom_error error;
    if (read_bytes(it, bytes, size, &scene, &error)) return;
    assert_int_equal(strlen(carom_scene_hash(scene)), 64);
    carom_scene_free(scene);
}

static void every_prefix_reads_or_fails(void **state) {
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        for (size_t size = 0; size <= strlen(GOOD[i]); size++) try_bytes(*state, GOOD[i], size);
}

static void flipped_bytes_read_or_fail(void **state) {
    carom_stream stream;
    carom_stream_start(&stream, 2, 0);
    for (int trial = 0; trial < support_count(300, 3000, 30000); trial++) {
        const char *good = GOOD[trial % 3];
        const int size = (int)strlen(good), flips = support_random_integer(&stream, 1, 4);
        char *bytes = strdup(good);
        assert_non_null(bytes);
        for (int i = 0; i < flips; i++)
            bytes[support_random_integer(&stream, 0, size - 1)] ^= (char)(1 << support_random_integer(&stream, 0, 7));
        try_bytes(*state, bytes, (size_t)size);
        free(bytes);
    }
}

static void random_bytes_fail(void **state) {
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    for (int trial = 0; trial < 300; trial++) {
        char bytes[256];
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)carom_stream_bits(&stream);
        try_bytes(*state, bytes, sizeof bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bad_scenes_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(absurd_sizes_are_refused_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_prefix_reads_or_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flipped_bytes_read_or_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_bytes_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
