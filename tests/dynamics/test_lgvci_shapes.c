// SPDX-License-Identifier: Apache-2.0
// Bodies of any shape on the plane: meshes from files, parts, tables; what is refused in their scenes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrators.h"

static const char BOX_OBJ[] =
    "# sides 2, 3, 4\no box\nv -1 -1.5 -2\nv 1 -1.5 -2\nv -1 1.5 -2\nv 1 1.5 -2\nv -1 -1.5 2\nv 1 -1.5 2\nv -1 1.5 2\n"
    "v 1 1.5 2 # last\nvn 0 0 1\nf 1/1/1 5//1 7 3\nf 2 4 8 6\nf 1 2 6 5\nf 3 7 8 4\nf -8 -6 \\\n -5 -7\nf 5 6 8 7\n";

// The same sides as text and binary STL, whose numbers are exact in single precision.
static const int SIDES[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};

static void fill_stl(char *text, size_t *size, bool binary) {
    char *at = text;
    if (binary) {
        memset(text, 0, 84);
        text[80] = 12;
        at += 84;
    } else {
        at += sprintf(at, "solid box\n");
    }
    for (int t = 0; t < 12; t++) {
        if (binary) memset(at, 0, 12), at += 12;
        for (int k = 0; k < 3; k++) {
            const int corner = SIDES[t / 2][k ? k + t % 2 : 0];
            const float x[] = {corner & 1 ? 1 : -1, corner & 2 ? 1.5F : -1.5F, corner & 4 ? 2 : -2};
            if (binary)
                memcpy(at, x, 12), at += 12;
            else
                at += sprintf(at, "  vertex %g %g %ge0\n", (double)x[0], (double)x[1], (double)x[2]);
        }
        if (binary) memset(at, 0, 2), at += 2;
    }
    if (!binary) at += sprintf(at, "endsolid\n");
    *size = (size_t)(at - text);
}

// Runs a body of this shape; files of the box are beside the scene.
static carom_status run_shape(const char *shape, const char *const *pairs, carom_motion_answer *answer, carom_error *error) {
    char *directory = support_make_directory(), text[4000], stl[4000], path_of[300];
    for (int kind = 0; kind < 3; kind++) {
        size_t size = strlen(BOX_OBJ);
        if (kind) fill_stl(stl, &size, kind == 2);
        snprintf(path_of, sizeof path_of, "%s/%s", directory, ((const char *[]){"box.obj", "text.stl", "binary.stl"})[kind]);
        FILE *file = fopen(path_of, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(kind ? stl : BOX_OBJ, 1, size, file), size);
        fclose(file);
    }
    free(support_write_file(directory, "levels.txt", "1 1 1\n1 1 1\n1 1 1\n1 1 1 1 -0.5 1 1 1 1\n1 1 1 1 1 1 1 1 1"));
    free(support_write_file(directory, "bad.obj", "v 0 0 0\nv 1 0 0\nf 1 2 5\n"));
    snprintf(text, sizeof text,
             "body: {mass: 1, shape: %s}\ninitial: {position: [0, 0, 5], momentum: [1, 0.5, 0], angular_momentum: [2, 1, -1]}\n"
             "simulate: {integrator: lgvci}\n",
             shape);
    char *path = support_write_file(directory, "scene.yaml", text);
    carom_scene *scene;
    *answer = (carom_motion_answer){0};
    carom_status status = carom_scene_read_motion(path, registry, &scene, error);
    if (!status) status = run_integrator("lgvci", carom_scene_motion(scene), pairs, NULL, NULL, answer, error);
    if (!status) carom_scene_free(scene);
    free(path);
    support_remove_directory(directory);
    return status;
}

// The motion of a box, whichever way its shape is given: the same impacts to rounding, which grows tenfold with each impact.
static void a_box_is_a_box(void **state) {
    (void)state;
    static const char *const shapes[] = {
        "{box: [2, 3, 4]}",
        "{mesh: box.obj}",
        "{mesh: text.stl}",
        "{mesh: binary.stl}",
        "{mesh: box.obj, scale: 1}",
        "{parts: [{box: [2, 3, 4]}]}",
        "{parts: [{mesh: box.obj}]}",
        "{parts: [{box: [4, 3, 2], rotation: [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]}]}",
        "{combine: intersection, parts: [{box: [2, 5, 4]}, {box: [6, 3, 9]}]}",
        "{combine: union, parts: [{box: [2, 3, 3], center: [0, 0, 0.5]}, {box: [2, 3, 3], center: [0, 0, -0.5]}]}",
        "{support: [[1, 0, 0, 1], [-1, 0, 0, 1], [0, 1, 0, 1.5], [0, -1, 0, 1.5], [0, 0, 3, 6], [0, 0, -1, 2]]}",
    };
    carom_motion_answer box, other;
    carom_error error;
    assert_ok(run_shape(shapes[0], (const char *[]){"duration", "4", NULL}, &box, &error), error);
    assert_int_equal(carom_table_rows(box.impacts), 5);
    for (size_t i = 1; i < sizeof shapes / sizeof *shapes; i++) {
        assert_ok(run_shape(shapes[i], (const char *[]){"duration", "4", NULL}, &other, &error), error);
        assert_int_equal(carom_table_rows(other.impacts), 5);
        assert_all_close(reals(other.impacts, "time"), reals(box.impacts, "time"), 4, 1e-12);
        assert_all_close(reals(other.impacts, "momentum_after"), reals(box.impacts, "momentum_after"), 9, 1e-12);
        carom_motion_answer_free(&other);
    }
    carom_motion_answer_free(&box);
}

// The shipped scenes keep their energy, through rims, corners and edges.
static void shipped_shapes_keep_their_energy(void **state) {
    (void)state;
    static const char *const paths[] = {"scenes/l-block.yaml", "scenes/die.yaml", "scenes/hammer.yaml", "scenes/bowl.yaml"};
    for (int i = 0; i < 4; i++) {
        carom_scene *scene;
        carom_motion_answer answer;
        carom_error error;
        assert_ok(carom_scene_read_motion(paths[i], registry, &scene, &error), error);
        assert_ok(run_integrator("lgvci", carom_scene_motion(scene), (const char *[]){"duration", "5", NULL}, NULL, NULL, &answer, &error),
                  error);
        assert_string_equal(verdict(&answer), "complete");
        assert_true(carom_table_rows(answer.impacts) >= 5);
        assert_true(reals(answer.result, "max_relative_energy_error")[0] <= 1e-12);
        for (int64_t row = 0; row < carom_table_rows(answer.impacts); row++) assert_true(fabs(reals(answer.impacts, "gap")[row]) <= 1e-12);
        carom_motion_answer_free(&answer);
        carom_scene_free(scene);
    }
}

static void impossible_shapes_are_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{box: [1, 1, 1], mesh: box.obj}", "needs one of the keys 'ellipsoids', 'vertices', 'box', 'mesh', 'parts'"},
        {"{mesh: levels.txt}", "is neither STL nor OBJ"},
        {"{mesh: bad.obj}", "bad.obj:3: 'f' names a point that is not there ('5')"},
        {"{parts: [{box: [1, 1, 1], semiaxes: [1, 1, 1]}]}", "parts[0]: needs one of the keys 'semiaxes', 'box', 'vertices' and 'mesh'"},
        {"{parts: [{box: [1, 1, 1]}], combine: sum}", "is not one of: union, intersection, difference"},
        {"{box: [1, 1, 1], combine: union}", "belongs to 'ellipsoids' or 'parts'"},
        {"{parts: [{box: [1, 1, 1]}, {box: [1, 1, 1], center: [3, 0, 0]}], combine: intersection}", "their intersection is empty"},
        {"{parts: [{box: [1, 1, 1]}, {box: [2, 2, 2]}], combine: difference}", "no value of the table is negative"},
        {"{support: [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [0, 0, -1, 1]]}", "the faces"},
        {"{signed_distance: {counts: [3, 3, 3], origin: [0, 0, 0], spacing: [1, 1, 1]}}", "needs one of the keys 'values' and 'file'"},
        {"{signed_distance: {counts: [3, 3, 4], origin: [0, 0, 0], spacing: [1, 1, 1], file: levels.txt}}", "there are 27 numbers, and"},
        {"{signed_distance: {counts: [3, 3.5, 3], origin: [0, 0, 0], spacing: [1, 1, 1], file: levels.txt}}", "3.5 is not an integer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_motion_answer answer;
        carom_error error;
        assert_refused(run_shape(cases[i][0], NULL, &answer, &error), CAROM_BAD_INPUT, error, cases[i][1]);
    }
    carom_motion_answer answer;
    carom_error error;
    assert_refused(run_shape("{mesh: none.obj}", NULL, &answer, &error), CAROM_IO_FAILED, error, "none.obj: cannot be opened");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_is_a_box),
        cmocka_unit_test(shipped_shapes_keep_their_energy),
        cmocka_unit_test(impossible_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
