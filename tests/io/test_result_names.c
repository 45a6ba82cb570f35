// SPDX-License-Identifier: Apache-2.0
// Names of velocities and places of contacts in result files, and files of older versions, which have none.
#include <hdf5.h>
#include <string.h>

#include "result_support.h"

#define NAMED_SCENE                                                                                                                        \
    "matrices: {M: [[2, 0], [0, 1]], Jn: [[0, 1], [1, 0]], Jt: [[1, 0], [0, 1]], mu: [0.5, 1], v: [-1, -2], velocities: [slider, \"lift "  \
    "é\"]}\n"

static carom_impact *read_impact(const char *path, bool apart) {
    carom_error error = {0};
    carom_result *result;
    carom_impact *impact;
    assert_ok(apart ? carom_result_open_apart(path, NULL, &result, &error) : carom_result_open(path, &result, &error), error);
    assert_ok(carom_result_read_impact(result, &impact, &error), error);
    carom_result_close(result);
    return impact;
}

static void names_come_back(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    carom_scene_free(b.scene);
    b.scene = read_scene(&b, NAMED_SCENE);
    assert_ok(write_file(&b, b.target, 3, 3, "complete", &error), error);
    for (int apart = 0; apart < 2; apart++) {
        carom_impact *impact = read_impact(b.target, apart);
        assert_string_equal(carom_impact_get_data(impact)->velocity_names[0], "slider");
        assert_string_equal(carom_impact_get_data(impact)->velocity_names[1], "lift é");
        assert_null(carom_impact_get_data(impact)->velocity_turns);
        assert_null(carom_impact_get_data(impact)->geometry);
        carom_impact_free(impact);
    }
    finish(&b);
}

// A model gives everything; it comes back to the bit, NaN and missing names included.
static void places_come_back(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    free(support_write_file(b.directory, "arm.xml",
                            "<mujoco><worldbody><body name='arm' pos='0 0 0.3'><joint name='z' type='slide' axis='0 0 1'/>"
                            "<geom size='0.1'/><site name='tip' pos='0.25 0 -0.3'/><body pos='0 0 1'>"
                            "<joint name='door' limited='true' range='0 90'/><geom size='0.1'/></body></body></worldbody></mujoco>"));
    carom_scene_free(b.scene);
    b.scene = read_scene(&b, "model: arm.xml\nstate: {qvel: [-1, -1]}\n"
                             "contacts: [{name: tip, site: tip, normal: [0, 0, 1], friction: 0.5}]\n");
    carom_result_writer *writer;
    assert_ok(carom_result_writer_create(b.target, b.scene, &writer, &error), error);
    assert_ok(carom_result_writer_commit(writer, &error), error);
    carom_result_writer_free(writer);
    const carom_impact_data *given = carom_impact_get_data(carom_scene_impact(b.scene));
    for (int apart = 0; apart < 2; apart++) {
        carom_impact *impact = read_impact(b.target, apart);
        const carom_impact_data *read = carom_impact_get_data(impact);
        const size_t places = 3 * sizeof(double) * (size_t)given->contacts;
        assert_int_equal(given->contacts, 2);
        assert_string_equal(read->velocity_names[1], "door");
        assert_true(!read->velocity_turns[0] && read->velocity_turns[1]);
        assert_memory_equal(read->geometry->normals, given->geometry->normals, places / 2);
        assert_true(isnan(read->geometry->points[3]) && isnan(read->geometry->normals[3]));
        assert_memory_equal(read->geometry->points, given->geometry->points, places / 2);
        assert_int_equal(read->geometry->nq, 2);
        assert_string_equal(read->geometry->bodies[1], "arm");
        assert_null(read->geometry->bodies[2]);
        assert_null(read->geometry->geoms[1]);
        carom_impact_free(impact);
    }
    finish(&b);
}

// Files of older versions lack all of this: they are read, and velocities have their numbers.
static void older_files_are_read(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    carom_scene_free(b.scene);
    b.scene = read_scene(&b, NAMED_SCENE);
    assert_ok(write_file(&b, b.target, 3, 3, "complete", &error), error);
    const hid_t file = H5Fopen(b.target, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0 && H5Ldelete(file, "impact/velocity_names", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    carom_impact *impact = read_impact(b.target, false);
    assert_null(carom_impact_get_data(impact)->velocity_names);
    carom_functional f;
    assert_ok(carom_functional_parse(impact, "v.2 - Jn.A", &f, &error), error);
    carom_functional_release(&f);
    assert_refused(carom_functional_parse(impact, "slider", &f, &error), CAROM_BAD_INPUT, error, "does not begin with");
    carom_impact_free(impact);
    finish(&b);
}

// Names that do not fit the velocities are damage.
static void names_must_fit(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    carom_scene_free(b.scene);
    b.scene = read_scene(&b, NAMED_SCENE);
    assert_ok(write_file(&b, b.target, 3, 3, "complete", &error), error);
    const hid_t file = H5Fopen(b.target, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    assert_true(H5Ldelete(file, "impact/velocity_names", H5P_DEFAULT) >= 0 && H5Tset_size(type, 4) >= 0);
    const hid_t space = H5Screate_simple(1, (hsize_t[]){3}, NULL);
    const hid_t dataset = H5Dcreate2(file, "impact/velocity_names", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, "abc\0def\0ghi") >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
    carom_result *result;
    assert_refused(carom_result_open(b.target, &result, &error), CAROM_BAD_INPUT, error, "velocity_names of its impact has another size");
    assert_null(result);
    finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_back),
        cmocka_unit_test(places_come_back),
        cmocka_unit_test(older_files_are_read),
        cmocka_unit_test(names_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
