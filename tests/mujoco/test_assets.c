// SPDX-License-Identifier: Apache-2.0
// Files that models name: what is damaged is refused in one sentence, and what only shows is not needed.
#include "robot_support.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "mujoco/compatible.h"

// A tetrahedron, so that every format can have one face too many.
#define POINTS            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
#define FACES             "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
#define INERTIAL          "<inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/>"
#define MJCF(asset, body) "<mujoco><asset>" asset "</asset><worldbody><body name='b'><freejoint/>" body "</body></worldbody></mujoco>"
#define ONE_MESH(file)    MJCF("<mesh name='m' file='" file "'/>", INERTIAL "<geom type='mesh' mesh='m'/>")
#define URDF(file)                                                                                                                         \
    "<robot name='r'><link name='world'/><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "      \
    "iyz='0'/></inertial><collision><geometry><mesh filename='" file "'/></geometry></collision></link><joint name='j' type='floating'>"   \
    "<parent link='world'/><child link='b'/></joint></robot>"

static carom_status load_at(const char *directory, const char *name, const char *text, carom_model **model, carom_error *error) {
    char *path = support_write_file(directory, name, text);
    const carom_status status = carom_model_load(path, model, error);
    free(path);
    return status;
}

static void write_bytes(const char *directory, const char *name, const void *bytes, size_t size) {
    char *path = support_join_path(directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(path);
}

// The same refusal for MJCF and URDF, which name the file `mesh.ENDING`.
static void assert_mesh_refused(const char *directory, bool msh, const char *message) {
    carom_model *model;
    carom_error error;
    assert_refused(load_at(directory, "model.xml", msh ? ONE_MESH("mesh.msh") : ONE_MESH("mesh.obj"), &model, &error), CAROM_BAD_INPUT,
                   error, message);
    assert_null(strchr(error.message, '\n'));
    assert_refused(load_at(directory, "model.urdf", msh ? URDF("mesh.msh") : URDF("mesh.obj"), &model, &error), CAROM_BAD_INPUT, error,
                   message);
}

static void test_damaged_obj(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {POINTS FACES "f 1 2 1000001\n", "mesh.obj:9: 'f' names a point that is not there ('1000001')"},
        {POINTS FACES "f 1 2 5\n", "mesh.obj:9: 'f' names a point that is not there ('5')"},
        {POINTS FACES "f 1 2 99999999999\n", "'f' names a point that is not there ('99999999999')"},
        {POINTS FACES "f -1 -2 -5\n", "'f' names a point that is not there ('-5')"},
        {POINTS FACES "f 0 1 2\n", "'f' names a point that is not there ('0')"},
        {POINTS "vn 0 0 1\n" FACES "f 1//1 2//1 3//7\n", "'f' names a normal that is not there ('7')"},
        {POINTS "vt 0 0\n" FACES "f 1/1 2/1 3/7\n", "'f' names a texture coordinate that is not there ('7')"},
        {POINTS FACES "f 1", "'f' needs three corners"},
        {POINTS "v 0 0 nan\n" FACES, "mesh.obj:5: 'v' needs three numbers ('nan')"},
        {POINTS "v 0 0 1e300\n" FACES, "point 4 of the mesh is not finite, or farther away than 1e9 m"},
        {FACES, "'f' names a point that is not there"},
        {"", "fewer than 4 points"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 2 3 0\nf 1 2 3\n", "mesh.obj: the mesh is flat"},
        {"v 0 0 0\nv 1 2 3\nv 2 4 6\nv 3 6 9\nf 1 2 3\n", "mesh.obj: the mesh is flat"},
    };
    char *directory = support_make_directory();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        free(support_write_file(directory, "mesh.obj", cases[i][0]));
        assert_mesh_refused(directory, false, cases[i][1]);
    }
    // Indices that count from the end, and a face before its points.
    static const char *const good[] = {POINTS "f -4 -2 -3\nf -4 -3 -1\nf -3 -2 -1\nf -4 -1 -2\n", FACES POINTS,
                                       POINTS "f 1/5/6 3/5/6 2/5/6\n" FACES};
    carom_model *model;
    carom_error error;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        free(support_write_file(directory, "mesh.obj", good[i]));
        assert_ok(load_at(directory, "model.xml", ONE_MESH("mesh.obj"), &model, &error), error);
        carom_model_free(model);
    }
    support_remove_directory(directory);
}

// Four counts, four points and four triangles; each case changes one number.
static void test_damaged_msh(void **state) {
    (void)state;
    typedef struct msh {
        int32_t counts[4];
        float points[12];
        int32_t faces[12];
    } msh;
    const msh whole = {{4, 0, 0, 4}, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2}};
    char *directory = support_make_directory();
    carom_model *model;
    carom_error error;
    write_bytes(directory, "mesh.msh", &whole, sizeof whole);
    assert_ok(load_at(directory, "model.xml", ONE_MESH("mesh.msh"), &model, &error), error);
    carom_model_free(model);
    static const struct {
        int place, value;
        const char *message;
    } cases[] = {
        {4, 1000000, "triangle 0 names the point 1000000, but there are 4, numbered from 0"},
        {15, -5, "triangle 3 names the point -5"},
        {0, 1000000, "but its counts say"},
        {0, 4 + (1 << 30), "but its counts say"},
        {1, -1, "has a negative count"},
        {3, 0x7fffffff, "but its counts say"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        msh damaged = whole;
        *(cases[i].place < 4 ? &damaged.counts[cases[i].place] : &damaged.faces[cases[i].place - 4]) = cases[i].value;
        write_bytes(directory, "mesh.msh", &damaged, sizeof damaged);
        assert_mesh_refused(directory, true, cases[i].message);
    }
    write_bytes(directory, "mesh.msh", &whole, 7);
    assert_mesh_refused(directory, true, "ends before its four counts");
    write_bytes(directory, "mesh.msh", &whole, 90);
    assert_mesh_refused(directory, true, "has 90 bytes");
    support_remove_directory(directory);
}

static void test_damaged_height_fields(void **state) {
    (void)state;
    typedef struct field {
        int32_t sides[2];
        float heights[4];
    } field;
    char *directory = support_make_directory();
    carom_model *model;
    carom_error error;
    const char *text = "<mujoco><asset><hfield name='h' file='h.bin' size='1 1 1 1'/></asset><worldbody><geom type='hfield' hfield='h'/>"
                       "<body><freejoint/><geom size='1'/></body></worldbody></mujoco>";
    static const struct {
        int32_t sides[2];
        const char *message;
    } cases[] = {
        {{65536, 65536}, "has 1 to 10000 rows and columns, but this has 65536 and 65536"},
        {{-2, -2}, "but this has -2 and -2"},
        {{3, 3}, "has 24 bytes, which is not what 3 rows and 3 columns take"},
        {{2, 2}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const field made = {{cases[i].sides[0], cases[i].sides[1]}, {0, 1, 2, 3}};
        write_bytes(directory, "h.bin", &made, sizeof made);
        const carom_status status = load_at(directory, "model.xml", text, &model, &error);
        if (cases[i].message) {
            assert_refused(status, CAROM_BAD_INPUT, error, cases[i].message);
            continue;
        }
        assert_ok(status, error);
        carom_model_free(model);
    }
    support_remove_directory(directory);
}

static void test_damaged_meshes_in_the_model(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {MJCF("<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 0 1 4'/>", INERTIAL "<geom type='mesh' mesh='m'/>"),
         "the mesh 'm' has a face with the vertex 4, but it has 4, numbered from 0"},
        {MJCF("<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 0 1 -9'/>", INERTIAL "<geom type='mesh' mesh='m'/>"),
         "a face with the vertex -9"},
        {MJCF("<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 nan'/>", INERTIAL "<geom type='mesh' mesh='m'/>"), "point 3 of the mesh"},
        {MJCF("<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/>", INERTIAL "<geom type='mesh' mesh='m'/>"), "the mesh is flat"},
        {MJCF("<mesh name='m' scale='1 1 0' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>", INERTIAL "<geom type='mesh' mesh='m'/>"), "is flat"},
    };
    char *directory = support_make_directory();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_model *model;
        carom_error error;
        assert_refused(load_at(directory, "model.xml", cases[i][0], &model, &error), CAROM_BAD_INPUT, error, cases[i][1]);
    }
    support_remove_directory(directory);
}

// Textures and skins are not read, and meshes that only show need not be there; what collides or has mass must be.
static void test_what_only_shows_is_not_needed(void **state) {
    (void)state;
#define LOOKS                                                                                                                              \
    "<texture name='t' type='2d' file='no.png'/><texture name='c' type='cube' fileup='no.png'/><material name='k' texture='t'/>"           \
    "<mesh file='sub/shown.obj'/>"
#define SHOWN(more) "<geom type='mesh' mesh='shown' contype='0' conaffinity='0' " more "/><geom size='1' material='k'/>"
    static const struct {
        const char *text, *message;
    } cases[] = {
        {MJCF(LOOKS, INERTIAL SHOWN("")), NULL},
        {MJCF(LOOKS, SHOWN("mass='0'")), NULL},
        {MJCF(LOOKS, SHOWN("")), "a geom of the body 'b' gives the body its inertia by it, because there is no <inertial>"},
        {MJCF(LOOKS, INERTIAL SHOWN("class='main'") "<geom type='mesh' mesh='shown'/>"), "a geom of the body 'b' collides with it"},
        {"<mujoco><default><default class='show'><geom contype='0' conaffinity='0' type='mesh'/></default></default><asset>" LOOKS
         "</asset><worldbody><geom class='show' mesh='shown'/><body childclass='show' name='b'><freejoint/>" INERTIAL
         "<geom mesh='shown'/></body></worldbody></mujoco>",
         NULL},
        {"<mujoco><default><geom contype='0' conaffinity='0'/><default class='hit'><geom contype='1'/></default></default><asset>" LOOKS
         "</asset><worldbody><body name='b'><freejoint/>" INERTIAL
         "<geom class='hit' type='mesh' mesh='shown'/></body></worldbody></mujoco>",
         "collides with it"},
    };
    char *directory = support_make_directory();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_model *model;
        carom_error error;
        const carom_status status = load_at(directory, "model.xml", cases[i].text, &model, &error);
        if (cases[i].message) {
            assert_refused(status, CAROM_BAD_INPUT, error, "the file 'sub/shown.obj' of the mesh 'shown' was not found");
            assert_refused(status, CAROM_BAD_INPUT, error, cases[i].message);
            continue;
        }
        assert_ok(status, error);
        assert_true(warns(model, "1 mesh file was not found, such as 'sub/shown.obj'"));
        carom_model_free(model);
    }
    support_remove_directory(directory);
}

// One place of a URDF's mesh, whatever MuJoCo's version: where the name says, and where `meshdir` says.
static void test_meshdir(void **state) {
    (void)state;
#define WITH_DIRECTORY(directory, file)                                                                                                    \
    "<robot name='r'><mujoco><compiler meshdir='" directory "' discardvisual='false'/></mujoco><link name='world'/><link name='b'>"        \
    "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial><visual><geometry><mesh "             \
    "filename='none.dae'/></geometry><material name='a'/><material name='a'/></visual><collision><geometry><mesh filename='" file          \
    "'/></geometry></collision></link><joint name='j' type='floating'><parent link='world'/><child link='b'/></joint></robot>"
    static const char *const texts[] = {WITH_DIRECTORY("meshes", "meshes/m.obj"), WITH_DIRECTORY("meshes", "m.obj"),
                                        WITH_DIRECTORY("meshes/", "package://r/other/m.obj"), WITH_DIRECTORY(".", "meshes/m.obj"),
                                        WITH_DIRECTORY("nowhere", "file://meshes/m.obj")};
    char *directory = support_make_directory(), *folder = support_join_path(directory, "meshes");
    assert_int_equal(mkdir(folder, 0700), 0);
    free(support_write_file(directory, "meshes/m.obj", POINTS FACES));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        carom_model *model;
        carom_error error;
        assert_ok(load_at(directory, "model.urdf", texts[i], &model, &error), error);
        carom_model_free(model);
    }
    carom_model *model;
    carom_error error;
    assert_refused(load_at(directory, "model.urdf", WITH_DIRECTORY("meshes", "meshes/no.obj"), &model, &error), CAROM_BAD_INPUT, error,
                   "model.urdf:1: the mesh 'meshes/no.obj' was not found");
    free(folder);
    support_remove_directory(directory);
}

// A type of joint that MuJoCo does not know ended the process before 3.0.
static void test_unknown_joints(void **state) {
    (void)state;
#define JOINT(type)                                                                                                                        \
    "<robot name='r'><link name='world'/><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "      \
    "iyz='0'/></inertial></link><joint name='j' type='" type                                                                               \
    "'><parent link='world'/><child link='b'/><axis xyz='1 0 0'/></joint></robot>"
    char *directory = support_make_directory();
    carom_model *model;
    carom_error error;
    assert_refused(load_at(directory, "model.urdf", JOINT("universal"), &model, &error), CAROM_BAD_INPUT, error,
                   "model.urdf:1: the joint 'j' has the type 'universal'");
    assert_ok(load_at(directory, "model.urdf", JOINT("spherical"), &model, &error), error);
    carom_model_free(model);
    support_remove_directory(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_obj),
        cmocka_unit_test(test_damaged_msh),
        cmocka_unit_test(test_damaged_height_fields),
        cmocka_unit_test(test_damaged_meshes_in_the_model),
        cmocka_unit_test(test_what_only_shows_is_not_needed),
        cmocka_unit_test(test_meshdir),
        cmocka_unit_test(test_unknown_joints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
