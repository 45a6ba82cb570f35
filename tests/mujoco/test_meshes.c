// SPDX-License-Identifier: Apache-2.0
// Meshes of URDF files: packages, folders and names, files of one name, and files that MuJoCo cannot read.
#define _XOPEN_SOURCE 700  // setenv
#include "robot_support.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// A folder robots/dog with the folders urdf and meshes/{left,right}.
static char *make_package(void) {
    char *directory = support_make_directory();
    static const char *const folders[] = {
        "robots", "robots/dog", "robots/dog/urdf", "robots/dog/meshes", "robots/dog/meshes/left", "robots/dog/meshes/right"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = support_join_path(directory, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
        free(path);
    }
    return directory;
}

// A cube of this half edge as a binary STL file: a header, the number of triangles, and for each normal, corners and two bytes.
static void write_cube(const char *directory, const char *name, float half) {
    char *path = support_join_path(directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    const char header[80] = "cube";
    const uint32_t count = 12;
    assert_int_equal(fwrite(header, 1, sizeof header, file), sizeof header);
    assert_int_equal(fwrite(&count, sizeof count, 1, file), 1);
    for (int side = 0; side < 6; side++)
        for (int part = 0; part < 2; part++) {
            const int axis = side / 2;
            const float sign = side % 2 ? 1 : -1;
            // Counter-clockwise as seen from outside.
            static const float corners[2][3][2] = {{{-1, -1}, {1, -1}, {1, 1}}, {{-1, -1}, {1, 1}, {-1, 1}}};
            float numbers[12] = {0};
            for (int corner = 0; corner < 3; corner++) {
                float *at = numbers + 3 + 3 * corner;
                at[axis] = sign * half;
                at[(axis + 1) % 3] = half * corners[part][corner][0];
                at[(axis + 2) % 3] = half * sign * corners[part][corner][1];
            }
            const uint16_t nothing = 0;
            assert_int_equal(fwrite(numbers, sizeof *numbers, 12, file), 12);
            assert_int_equal(fwrite(&nothing, sizeof nothing, 1, file), 1);
        }
    assert_int_equal(fclose(file), 0);
    free(path);
}

#define BODY_INERTIA                                                                                                                       \
    "<inertial><mass value='1'/><inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial>"                               \
    "<visual><geometry><mesh filename='package://dog/meshes/missing.dae'/></geometry></visual>"
#define MESH(file) "<collision><geometry><mesh filename='" file "'/></geometry></collision>"
#define ROBOT(before, base, leg)                                                                                                           \
    "<robot name='dog'>" before "<link name='base'>" BODY_INERTIA base "</link>\n<link name='leg'>" BODY_INERTIA leg "</link>"             \
    "<joint name='hip' type='continuous'><parent link='base'/><child link='leg'/><origin xyz='0 0 -1'/><axis xyz='0 0 "                    \
    "1'/></joint></robot>"

static carom_status load_text_at(const char *directory, const char *name, const char *text, carom_model **model, carom_error *error) {
    char *path = support_write_file(directory, name, text);
    const carom_ground ground = {.friction = 1};
    const carom_model_options options = {.free_root = true, .ground = &ground};
    const carom_status status = carom_model_load_with(path, &options, model, error);
    free(path);
    return status;
}

// The height of the base on the ground: of the leg's cube below it, or, with the leg up, of its own.
static void assert_heights(const char *directory, const char *text, double below, double above) {
    carom_model *model;
    carom_error error;
    assert_ok(load_text_at(directory, "robots/dog/urdf/dog.urdf", text, &model, &error), error);
    assert_ok(carom_model_lower(model, NULL, NULL, &error), error);
    assert_close(carom_model_qpos(model)[2], 1 + below, 1e-7);
    assert_ok(carom_model_set_state(model, (double[]){0, 0, 0, 0, 1, 0, 0, 0}, 8, NULL, 0, &error), error);
    assert_ok(carom_model_lower(model, NULL, NULL, &error), error);
    assert_close(carom_model_qpos(model)[2], above, 1e-7);
    carom_model_free(model);
}

static void test_meshes_are_found(void **state) {
    (void)state;
    char *directory = make_package();
    write_cube(directory, "robots/dog/meshes/left/foot.stl", 0.125F);
    write_cube(directory, "robots/dog/meshes/right/foot.STL", 0.25F);
    static const char *const texts[] = {
        // By package; under another name, as a download may have; by a path from the file; meshes of one name in two folders.
        ROBOT("", MESH("package://dog/meshes/right/foot.STL"), MESH("package://dog/meshes/left/foot.stl")),
        ROBOT("", MESH("package://dog_description/meshes/right/foot.STL"), MESH("model://dog/meshes/left/foot.stl")),
        ROBOT("", MESH("../meshes/right/foot.STL"), MESH("../meshes/left/foot.stl")),
        ROBOT("<mujoco><compiler meshdir='../meshes/right'/></mujoco>", MESH("package://dog/meshes/right/foot.STL"),
              MESH("package://dog/meshes/left/foot.stl")),
        ROBOT("<mujoco><compiler meshdir='../meshes' strippath='false'/></mujoco>", MESH("right/foot.STL"), MESH("left/foot.stl")),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_heights(directory, texts[i], 0.125, 0.25);
    // One file twice, and in three sizes.
    assert_heights(directory,
                   ROBOT("", MESH("../meshes/right/foot.STL") MESH("../meshes/right/foot.STL"), MESH("../meshes/right/foot.STL")), 0.25,
                   0.25);
    assert_heights(directory,
                   ROBOT("", MESH("../meshes/right/foot.STL' scale='0.5 0.5 0.5") MESH("../meshes/right/foot.STL' scale='0.25 0.25 0.25"),
                         MESH("../meshes/right/foot.STL' scale='2 2 2") MESH("../meshes/right/foot.STL' scale='0.25 0.25 0.25")),
                   0.5, 0.125);
    support_remove_directory(directory);
}

// The folders of ROS_PACKAGE_PATH hold packages, or are packages.
static void test_package_path(void **state) {
    (void)state;
    char *directory = make_package(), *elsewhere = support_make_directory();
    write_cube(directory, "robots/dog/meshes/foot.stl", 0.25F);
    char *robots = support_join_path(directory, "robots"), path[4096];
    carom_model *model;
    carom_error error;
    const char *text = ROBOT("", MESH("package://dog/meshes/foot.stl"), "");
    assert_refused(load_text_at(elsewhere, "dog.urdf", text, &model, &error), CAROM_BAD_INPUT, error,
                   "dog.urdf:1: the mesh 'package://dog/meshes/foot.stl' was not found");
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, i ? "%s/dog::/nowhere" : "/nowhere:%s", robots);
        assert_int_equal(setenv("ROS_PACKAGE_PATH", path, 1), 0);
        assert_ok(load_text_at(elsewhere, "dog.urdf", text, &model, &error), error);
        carom_model_free(model);
    }
    assert_int_equal(unsetenv("ROS_PACKAGE_PATH"), 0);
    free(robots);
    support_remove_directory(directory);
    support_remove_directory(elsewhere);
}

// A corner 0.5 below the origin in units of 0.1 m, scaled by 10 in an outer node, moved down by 2 units and mirrored in an inner one: the
// lowest point is at -(2 + 5) units of 0.1 m, whichever axis the file calls upward.
#define COLLADA(primitive)                                                                                                                 \
    "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema'><asset><unit meter='0.1'/><up_axis>Y_UP</up_axis></asset>"              \
    "<library_geometries><geometry id='g'><mesh><source id='s'><float_array count='12'>0 0 -0.5 1 0 0 0 1 0 -1 -1 0</float_array>"         \
    "<technique_common><accessor count='4' stride='3'/></technique_common></source>"                                                       \
    "<vertices id='v'><input semantic='POSITION' source='#s'/></vertices>" primitive "</mesh></geometry></library_geometries>"             \
    "<library_visual_scenes><visual_scene><node><translate>0 0 -2</translate><rotate>0 0 1 90</rotate><scale>10 10 10</scale>"             \
    "<node><matrix>-1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url='#g'/></node></node></visual_scene>"                    \
    "</library_visual_scenes></COLLADA>"
#define INPUTS "<input semantic='VERTEX' source='#v' offset='0'/><input semantic='NORMAL' source='#n' offset='1'/>"

static void test_collada(void **state) {
    (void)state;
    static const char *const texts[] = {
        COLLADA("<triangles count='4'>" INPUTS "<p>0 9 2 9 1 9 0 9 3 9 2 9 0 9 1 9 3 9 1 9 2 9 3 9</p></triangles>"),
        COLLADA("<polylist count='4'>" INPUTS "<vcount>3 3 3 3</vcount><p>0 9 2 9 1 9 0 9 3 9 2 9 0 9 1 9 3 9 1 9 2 9 3 9</p></polylist>"),
        COLLADA("<polygons count='4'>" INPUTS "<p>0 9 2 9 1 9</p><p>0 9 3 9 2 9</p><p>0 9 1 9 3 9</p><p>1 9 2 9 3 9</p></polygons>"),
    };
    char *directory = make_package();
    carom_model *model;
    carom_error error;
    const char *text = ROBOT("", "", MESH("package://dog/meshes/foot.dae"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        free(support_write_file(directory, "robots/dog/meshes/foot.dae", texts[i]));
        assert_ok(load_text_at(directory, "robots/dog/urdf/dog.urdf", text, &model, &error), error);
        assert_ok(carom_model_lower(model, NULL, NULL, &error), error);
        assert_close(carom_model_qpos(model)[2], 1.7, 1e-6);
        carom_model_free(model);
    }
    // Indices and sizes out of range, and a node inside itself.
    static const char *const bad[] = {
        "<COLLADA/>",
        "not a file of this kind",
        COLLADA("<polylist count='4'>" INPUTS "<vcount>-3 1e9</vcount><p>0 9 7 9 -1 9 1e300 9</p></polylist>"),
        COLLADA("<triangles><input semantic='VERTEX' source='#v' offset='-1'/><p>0 1 2</p></triangles>"),
        "<COLLADA><visual_scene><node id='a'><instance_node url='#a'/><instance_node url='#a'/></node></visual_scene></COLLADA>",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        free(support_write_file(directory, "robots/dog/meshes/foot.dae", bad[i]));
        assert_refused(load_text_at(directory, "robots/dog/urdf/dog.urdf", text, &model, &error), CAROM_BAD_INPUT, error,
                       "no triangles are found in this COLLADA file");
    }
    support_remove_directory(directory);
}

// Another kind of file needs a conversion, after which the same URDF loads.
static void test_other_formats(void **state) {
    (void)state;
    char *directory = make_package();
    carom_model *model;
    carom_error error;
    free(support_write_file(directory, "robots/dog/meshes/foot.ply", "ply"));
    const char *text = ROBOT("", "", MESH("package://dog/meshes/foot.ply"));
    assert_refused(load_text_at(directory, "robots/dog/urdf/dog.urdf", text, &model, &error), CAROM_BAD_INPUT, error,
                   "dog.urdf:2: <collision> has the mesh 'package://dog/meshes/foot.ply', of a kind that is not read: STL, OBJ and COLLADA "
                   "are; convert it, such as by 'assimp export foot.ply foot.stl', and leave the new file beside it");
    write_cube(directory, "robots/dog/meshes/foot.stl", 0.125F);
    assert_ok(load_text_at(directory, "robots/dog/urdf/dog.urdf", text, &model, &error), error);
    assert_ok(carom_model_lower(model, NULL, NULL, &error), error);
    assert_close(carom_model_qpos(model)[2], 1.125, 1e-7);
    carom_model_free(model);

    free(support_write_file(directory, "robots/dog/meshes/ball.obj",
                            "v 0 0 -0.5\nv 1 0 0\nv 0 1 0\nv -1 -1 0\nf 1 3 2\nf 1 4 3\nf 1 2 4\nf 2 3 4\n"));
    text = ROBOT("", "", MESH("package://dog/meshes/ball.obj"));
    assert_ok(load_text_at(directory, "robots/dog/urdf/dog.urdf", text, &model, &error), error);
    assert_ok(carom_model_lower(model, NULL, NULL, &error), error);
    assert_close(carom_model_qpos(model)[2], 1.5, 1e-6);
    carom_model_free(model);

    // All objects of a file count, also those after the first: the lowest corner is of the second one.
    free(support_write_file(directory, "robots/dog/meshes/ball.obj",
                            "o one\nv 0 0 -0.5\nv 1 0 0\nv 0 1 0\nv -1 -1 0\nf 1 3 2\nf 1 4 3\nf 1 2 4\nf 2 3 4\n"
                            "o two\nv 0 0 -0.75\nv 1 0 0\nv 0 1 0\nv -1 -1 0\nf 5 7 6\nf 5 8 7\nf 5 6 8\nf 6 7 8\n"));
    assert_ok(load_text_at(directory, "robots/dog/urdf/dog.urdf", text, &model, &error), error);
    assert_ok(carom_model_lower(model, NULL, NULL, &error), error);
    assert_close(carom_model_qpos(model)[2], 1.75, 1e-6);
    carom_model_free(model);

    // STL in words, as some programs write it: a corner 0.75 below the origin.
    free(support_write_file(directory, "robots/dog/meshes/words.stl",
                            "solid thing\nfacet normal 0 0 0\nouter loop\nvertex 0 0 -0.75\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
                            "facet normal 0 0 0\nouter loop\nvertex 0 0 -0.75\nvertex -1 -1 0\nvertex 0 1 0\nendloop\nendfacet\n"
                            "facet normal 0 0 0\nouter loop\nvertex 0 0 -0.75\nvertex 1 0 0\nvertex -1 -1 0\nendloop\nendfacet\n"
                            "facet normal 0 0 0\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex -1 -1 0\nendloop\nendfacet\n"
                            "endsolid thing\n"));
    text = ROBOT("", MESH("package:///dog/meshes/words.stl"), MESH("package://dog/meshes/words.stl"));
    assert_ok(load_text_at(directory, "robots/dog/urdf/dog.urdf", text, &model, &error), error);
    assert_ok(carom_model_lower(model, NULL, NULL, &error), error);
    assert_close(carom_model_qpos(model)[2], 1.75, 1e-6);
    carom_model_free(model);
    support_remove_directory(directory);
}

// A foot of four uneven corners, with an edge above them, in two sizes along its axes, turned and moved.
#define FOOT_TURN 0.3
#define FOOT                                                                                                                               \
    "<robot name='foot'><link name='base'><inertial><mass value='1'/><inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/>"     \
    "</inertial><collision><origin xyz='0.1 0.2 0.7' rpy='0 0 0.3'/><geometry><mesh filename='foot.obj' scale='1 2 1'/></geometry>"        \
    "</collision></link></robot>"

// Every MuJoCo gives a mesh's contacts to the precision of doubles where the file has its points: turned by hand here, in rows from y =
// -inf on. For a body without a turn, Jn of a point (x, y) is (0, 0, 1, y, -x, 0).
static void test_corners_are_those_of_the_file(void **state) {
    (void)state;
    static const double corners[4][2] = {{0, 0}, {0.2, 0.01}, {0.013, 0.09}, {0.19, 0.11}};
    char *directory = support_make_directory();
    free(support_write_file(directory, "foot.obj",
                            "v 0 0 -0.1\nv 0.2 0.01 -0.1\nv 0.19 0.11 -0.1\nv 0.013 0.09 -0.1\nv 0.05 0.04 0.06\nv 0.08 0.05 0.06\n"
                            "f 1 3 2\nf 1 4 3\nf 1 2 6\nf 1 6 5\nf 2 3 6\nf 3 4 6\nf 4 5 6\nf 4 1 5\n"));
    carom_model *model;
    carom_error error;
    assert_ok(load_text_at(directory, "foot.urdf", FOOT, &model, &error), error);
    assert_ok(carom_model_lower(model, NULL, NULL, &error), error);
    assert_close(carom_model_qpos(model)[2], -0.6, 1e-12);
    set_velocity(model, (double[]){0, 0, -1, 0, 0, 0});
    carom_impact *impact = detect(model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->contacts, 4);
    for (int i = 0; i < 4; i++) {
        const double x = corners[i][0], y = 2 * corners[i][1], c = cos(FOOT_TURN), s = sin(FOOT_TURN);
        assert_close(data->normal[6 * i + 3], 0.2 + s * x + c * y, 1e-12);
        assert_close(data->normal[6 * i + 4], -(0.1 + c * x - s * y), 1e-12);
    }
    carom_impact_free(impact);
    carom_model_free(model);
    support_remove_directory(directory);
}

// MuJoCo leaves out turns of a mesh's frame of 1e-7, as this sheared block has: its corners stay where the file has them.
static void test_corners_of_a_sheared_block(void **state) {
    (void)state;
    char *directory = support_make_directory(), text[1024] = "";
    for (int i = 0; i < 8; i++)
        sprintf(text + strlen(text), "v %s0.3 %s %s1\n", i & 1 ? "" : "-",
                i & 2 ? (i & 4 ? "0.5000003" : "0.4999997") : (i & 4 ? "-0.4999997" : "-0.5000003"), i & 4 ? "" : "-");
    strcat(text, "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
    free(support_write_file(directory, "foot.obj", text));
    carom_model *model;
    carom_error error;
    assert_ok(
        load_text_at(directory, "foot.urdf",
                     "<robot name='foot'><link name='base'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
                     "iyz='0'/></inertial><collision><geometry><mesh filename='foot.obj'/></geometry></collision></link></robot>",
                     &model, &error),
        error);
    assert_ok(carom_model_lower(model, NULL, NULL, &error), error);
    set_velocity(model, (double[]){0, 0, -1, 0, 0, 0});
    carom_impact *impact = detect(model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->contacts, 4);
    for (int i = 0; i < 4; i++) {
        assert_close(data->normal[6 * i + 3], i < 2 ? -0.5000003 : 0.4999997, 1e-12);
        assert_close(data->normal[6 * i + 4], i % 2 ? -0.3 : 0.3, 1e-12);
    }
    carom_impact_free(impact);
    carom_model_free(model);
    support_remove_directory(directory);
}

// Placeholders with moments that no body can have load, with a warning that names the first of them.
static void test_impossible_inertia(void **state) {
    (void)state;
    char *directory = support_make_directory();
    carom_model *model;
    carom_error error;
    assert_ok(load_text_at(directory, "dog.urdf",
                           "<robot name='dog'><link name='ghost'><inertial><mass value='1e-6'/><inertia ixx='1e-6' iyy='1e-6' izz='1e-6' "
                           "ixy='1e-6' ixz='1e-6' iyz='1e-6'/></inertial><collision><geometry><sphere radius='1'/></geometry></collision>"
                           "</link></robot>",
                           &model, &error),
              error);
    assert_true(warns(model, "the link 'ghost' has moments of inertia that no body can have"));
    carom_model_free(model);
    // One moment alone, of a link that moves.
    assert_ok(load_text_at(directory, "free.urdf",
                           "<robot name='dog'><link name='world'/><link name='ghost'><inertial><mass value='1e-6'/><inertia ixx='1e-6' "
                           "iyy='1e-6' izz='1e-6' ixy='1e-6' ixz='1e-6' iyz='1e-6'/></inertial></link><joint name='root' type='floating'>"
                           "<parent link='world'/><child link='ghost'/></joint></robot>",
                           &model, &error),
              error);
    assert_true(warns(model, "the link 'ghost' has moments of inertia that no body can have"));
    carom_model_free(model);
    support_remove_directory(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes_are_found),
        cmocka_unit_test(test_package_path),
        cmocka_unit_test(test_collada),
        cmocka_unit_test(test_other_formats),
        cmocka_unit_test(test_impossible_inertia),
        cmocka_unit_test(test_corners_are_those_of_the_file),
        cmocka_unit_test(test_corners_of_a_sheared_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
