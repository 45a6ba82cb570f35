// SPDX-License-Identifier: Apache-2.0
// The data of an impact: refusals, names, storage, and when an impact has ended.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "impact_support.h"

// ----------------------------------------------------------------------------------------------------------- refusals

static void assert_impact_refused(const draft *spoilt, const char *fragment) {
    carom_error error;
    carom_impact *impact = (carom_impact *)(uintptr_t)&error;
    assert_refused(carom_impact_create(&spoilt->data, &impact, &error), CAROM_BAD_INPUT, error, fragment);
    assert_null(impact);
    assert_int_equal(carom_impact_create(&spoilt->data, &impact, NULL), CAROM_BAD_INPUT);
}

static void assert_delassus_refused(const draft *spoilt, const char *fragment) {
    carom_error error;
    carom_impact *impact = (carom_impact *)(uintptr_t)&error;
    assert_refused(carom_impact_create_delassus(&spoilt->contact_data, &impact, &error), CAROM_BAD_INPUT, error, fragment);
    assert_null(impact);
    assert_int_equal(carom_impact_create_delassus(&spoilt->contact_data, &impact, NULL), CAROM_BAD_INPUT);
}

// One entry of a draft, its spoilt value, and what the message says.
typedef struct spoilt_entry {
    size_t offset;
    double value;
    const char *fragment;
} spoilt_entry;

#define ENTRY(member) offsetof(draft, member)

static void test_the_draft_itself_is_accepted(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    carom_error error;
    carom_impact *impact = NULL, *contact_space = NULL;
    assert_ok(carom_impact_create(&made.data, &impact, &error), error);
    assert_ok(carom_impact_create_delassus(&made.contact_data, &contact_space, &error), error);
    assert_all_close(carom_impact_delassus(impact), made.delassus, 16, 1e-15);
    carom_impact_free(impact);
    carom_impact_free(contact_space);
    carom_impact_free(NULL);
}

static void test_bad_entries_are_refused(void **state) {
    (void)state;
    const spoilt_entry cases[] = {
        {ENTRY(mass[4]), NAN, "M[1][1] is not a finite number"},
        {ENTRY(mass[2]), INFINITY, "M[0][2] is not a finite number"},
        {ENTRY(normal[5]), NAN, "Jn[1][2] is not a finite number"},
        {ENTRY(tangent[3]), -INFINITY, "Jt[1][0] is not a finite number"},
        {ENTRY(velocity[1]), NAN, "v[1] is not a finite number"},
        {ENTRY(velocity[2]), INFINITY, "v[2] is not a finite number"},
        {ENTRY(mass[1]), 0.5, "M is not symmetric: M[1][0] is 0, M[0][1] is 0.5"},
        {ENTRY(mass[7]), 2e-9, "M is not symmetric: M[2][1] is 2e-09, M[1][2] is 0"},
        {ENTRY(mass[0]), 0, "M is not positive definite: a motion of 'v.1' has no kinetic energy; give 'v.1' inertia"},
        {ENTRY(mass[4]), -1, "M is not positive definite: a motion of 'v.2' has negative kinetic energy"},
        {ENTRY(mass[8]), -0.1, "M is not positive definite: a motion of 'v.3' has negative kinetic energy"},
        {ENTRY(friction[1]), -0.1, "mu[1] is -0.1: a friction coefficient is a finite number >= 0"},
        {ENTRY(friction[0]), NAN, "mu[0] is "},
        {ENTRY(friction[0]), INFINITY, "mu[0] is inf"},
        {ENTRY(restitution[0]), 1.1, "restitution[0] is 1.1: it is between 0 and 1"},
        {ENTRY(restitution[1]), -0.1, "restitution[1] is -0.1: it is between 0 and 1"},
        {ENTRY(restitution[1]), NAN, "restitution[1] is "},
        {ENTRY(mass[8]), 1e-320, "J M^-1 J' overflows"},
        {ENTRY(tangent[0]), 1e200, "J M^-1 J' overflows"},
        {ENTRY(velocity[0]), 1e200, "kinetic energy of v overflow"},
        {ENTRY(velocity[0]), 1e120, "choose other units"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        draft made;
        start_draft(&made);
        memcpy((char *)&made + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        assert_impact_refused(&made, cases[i].fragment);
    }
}

static void test_bad_entries_of_a_delassus_operator_are_refused(void **state) {
    (void)state;
    const spoilt_entry cases[] = {
        {ENTRY(delassus[6]), NAN, "W[1][2] is not a finite number"},
        {ENTRY(delassus[0]), INFINITY, "W[0][0] is not a finite number"},
        {ENTRY(contact_velocity[3]), NAN, "u[3] is not a finite number"},
        {ENTRY(delassus[1]), -1.1, "W is not symmetric: W[1][0] is -1.2, W[0][1] is -1.1"},
        {ENTRY(delassus[10]), 0, "W[2][2] is not positive: it is the inverse mass along the normal of contact 1"},
        {ENTRY(delassus[0]), -1, "W[0][0] is not positive: it is the inverse mass along the normal of contact 0"},
        {ENTRY(delassus[5]), -3.4, "W is not positive semidefinite: it has the eigenvalue -"},
        {ENTRY(friction[1]), -1, "mu[1] is -1"},
        {ENTRY(friction[1]), NAN, "mu[1] is "},
        {ENTRY(restitution[0]), 2, "restitution[0] is 2"},
        {ENTRY(contact_velocity[0]), 1e200, "kinetic energy of v overflow"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        draft made;
        start_draft(&made);
        memcpy((char *)&made + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        assert_delassus_refused(&made, cases[i].fragment);
    }
}

static void test_bad_sizes_are_refused(void **state) {
    (void)state;
    const struct {
        int nv, contacts, tangent_dim;
        const char *fragment;
    } cases[] = {
        {0, 2, 1, "0 velocities: 1 to 4096 are supported"},
        {-1, 2, 1, "-1 velocities"},
        {CAROM_MAX_VELOCITIES + 1, 2, 1, "4097 velocities: 1 to 4096 are supported"},
        {3, 0, 1, "0 contacts: 1 to 1024 are supported"},
        {3, -2, 1, "-2 contacts"},
        {3, CAROM_MAX_CONTACTS + 1, 1, "1025 contacts: 1 to 1024 are supported"},
        {3, 2, 0, "tangent_dim is 0: 1 (planar) and 2 (spatial) are supported"},
        {3, 2, 3, "tangent_dim is 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        draft made;
        start_draft(&made);
        made.data.nv = cases[i].nv;
        made.data.contacts = made.contact_data.contacts = cases[i].contacts;
        made.data.tangent_dim = made.contact_data.tangent_dim = cases[i].tangent_dim;
        assert_impact_refused(&made, cases[i].fragment);
        if (cases[i].nv == 3) assert_delassus_refused(&made, cases[i].fragment);
    }
}

static void test_bad_names_are_refused(void **state) {
    (void)state;
    const struct {
        const char *names[2], *fragment;
    } cases[] = {
        {{"A", "A"}, "names[0] and names[1] are both 'A'"},
        {{"", "B"}, "names[0] is empty"},
        {{"A", NULL}, "names[1] is empty"},
        {{"A", "B,C"}, "names[1] contains a comma"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        draft made;
        start_draft(&made);
        memcpy(made.names, cases[i].names, sizeof made.names);
        assert_impact_refused(&made, cases[i].fragment);
        assert_delassus_refused(&made, cases[i].fragment);
    }
}

// Names of velocities follow the rules of names of contacts.
static void test_bad_names_of_velocities_are_refused(void **state) {
    (void)state;
    const struct {
        const char *names[3], *fragment;
    } cases[] = {
        {{"x", "z", "x"}, "velocities[0] and velocities[2] are both 'x'"},
        {{"x", "", "turn"}, "velocities[1] is empty"},
        {{"x", "z", NULL}, "velocities[2] is empty"},
        {{"x,z", "z", "turn"}, "velocities[0] contains a comma"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        draft made;
        start_draft(&made);
        made.data.velocity_names = cases[i].names;
        assert_impact_refused(&made, cases[i].fragment);
    }
}

// Rows of the geometry are numbers, or all NaN for a contact that is nowhere.
static void test_bad_geometry_is_refused(void **state) {
    (void)state;
    const struct {
        double point[3];
        int nq;
        double qpos;
        const char *fragment;
    } cases[] = {
        {{0, (double)NAN, 0}, 1, 0, "geometry: points[1] is not finite"},
        {{0, 0, (double)INFINITY}, 1, 0, "geometry: points[1] is not finite"},
        {{0, 0, 0}, -1, 0, "geometry: -1 positions"},
        {{0, 0, 0}, 1, (double)NAN, "qpos[0] is not a finite number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        draft made;
        start_draft(&made);
        double points[6] = {0}, directions[6] = {0, 0, 1, 0, 0, 1};
        memcpy(points + 3, cases[i].point, sizeof cases[i].point);
        const carom_contact_geometry geometry = {
            .points = points, .normals = directions, .tangents = directions, .nq = cases[i].nq, .qpos = &cases[i].qpos};
        made.data.geometry = &geometry;
        assert_impact_refused(&made, cases[i].fragment);
    }
}

// What says nothing to any law is copied all the same, and absent where nobody gave it.
static void test_descriptions_are_copied(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    char name[] = "turn", body[] = "foot";
    const char *names[] = {"x", "z", name}, *bodies[] = {"world", body, NULL, NULL};
    bool turns[] = {false, false, true};
    double points[] = {1, 2, 3, (double)NAN, (double)NAN, (double)NAN}, qpos[] = {-0.0, 5};
    const carom_contact_geometry geometry = {
        .points = points, .normals = points, .tangents = points, .bodies = bodies, .nq = 2, .qpos = qpos};
    made.data.velocity_names = names;
    made.data.velocity_turns = turns;
    made.data.geometry = &geometry;
    carom_impact *impact = support_impact(&made.data);
    name[0] = body[0] = '?';
    turns[2] = false;
    points[0] = qpos[1] = 0;
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_string_equal(data->velocity_names[2], "turn");
    assert_true(data->velocity_turns[2] && !data->velocity_turns[0]);
    assert_string_equal(data->geometry->bodies[1], "foot");
    assert_null(data->geometry->bodies[2]);
    assert_null(data->geometry->geoms);
    assert_true(data->geometry->points[0] == 1 && isnan(data->geometry->points[3]));
    assert_true(data->geometry->nq == 2 && data->geometry->qpos[1] == 5 && !signbit(data->geometry->qpos[0]));
    carom_impact_free(impact);

    start_draft(&made);
    impact = support_impact(&made.data);
    data = carom_impact_get_data(impact);
    assert_null(data->velocity_names);
    assert_null(data->velocity_turns);
    assert_null(data->geometry);
    carom_impact_free(impact);
}

static void test_a_zero_normal_is_refused(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    for (int j = 0; j < 3; j++) made.normal[3 + j] = j ? -0.0 : 0.0;
    assert_impact_refused(&made, "Jn[1] is zero");
}

// A tangent may be zero: a planar contact among spatial ones, or no friction.
static void test_a_zero_tangent_is_accepted(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    memset(made.tangent, 0, sizeof made.tangent);
    made.data.restitution = NULL;
    carom_impact *impact = support_impact(&made.data);
    for (int c = 0; c < 4; c++) assert_true(AT(carom_impact_delassus(impact), 4, 1, c) == 0);
    assert_true(carom_impact_get_data(impact)->restitution[0] == 0 && carom_impact_get_data(impact)->restitution[1] == 0);
    carom_impact_free(impact);
}

static void test_round_off_asymmetry_is_removed(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    made.mass[1] = 5e-10;
    carom_impact *impact = support_impact(&made.data);
    assert_true(AT(carom_impact_get_data(impact)->mass, 3, 0, 1) == 2.5e-10);
    assert_true(AT(carom_impact_get_data(impact)->mass, 3, 1, 0) == 2.5e-10);
    carom_impact_free(impact);
    // Published Delassus operators are asymmetric by up to a percent.
    made.delassus[1] += 0.03;
    carom_error error;
    assert_ok(carom_impact_create_delassus(&made.contact_data, &impact, &error), error);
    assert_close(AT(carom_impact_delassus(impact), 4, 0, 1), -1.185, 1e-15);
    assert_true(AT(carom_impact_delassus(impact), 4, 1, 0) == AT(carom_impact_delassus(impact), 4, 0, 1));
    carom_impact_free(impact);
}

// --------------------------------------------------------------------------------------------------- names and storage

static carom_impact *impact_of_points(int contacts, const char *const *names) {
    double *rows = make_doubles(contacts), *tangents = make_doubles(contacts);
    for (int i = 0; i < contacts; i++) rows[i] = 1;
    carom_impact *impact = support_impact(&(carom_impact_data){.nv = 1,
                                                               .contacts = contacts,
                                                               .tangent_dim = 1,
                                                               .mass = (const double[]){2},
                                                               .normal = rows,
                                                               .tangent = tangents,
                                                               .friction = tangents,
                                                               .velocity = (const double[]){-1},
                                                               .names = names});
    free(rows);
    free(tangents);
    return impact;
}

static void test_standard_names(void **state) {
    (void)state;
    carom_impact *impact = impact_of_points(30, NULL);
    const char *const *names = carom_impact_get_data(impact)->names;
    for (int i = 0; i < 26; i++) {
        assert_int_equal(names[i][0], "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
        assert_int_equal(names[i][1], '\0');
    }
    assert_string_equal(names[26], "C27");
    assert_string_equal(names[29], "C30");
    for (int i = 0; i < 30; i++) assert_int_equal(carom_impact_find_contact(impact, names[i]), i);
    const char *const absent[] = {"", "a", "AA", "C26", "C3", "C31"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) assert_int_equal(carom_impact_find_contact(impact, absent[i]), -1);
    carom_impact_free(impact);
}

static void test_given_names(void **state) {
    (void)state;
    const char *names[] = {"left toe", "B", "\xc3\xa9tai", "A"};
    carom_impact *impact = impact_of_points(4, names);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(carom_impact_get_data(impact)->names[i], names[i]);
        assert_int_equal(carom_impact_find_contact(impact, names[i]), i);
    }
    assert_int_equal(carom_impact_find_contact(impact, "C"), -1);
    carom_impact_free(impact);
}

static void test_the_largest_number_of_contacts(void **state) {
    (void)state;
    carom_impact *impact = impact_of_points(CAROM_MAX_CONTACTS, NULL);
    assert_int_equal(carom_impact_find_contact(impact, "C1024"), CAROM_MAX_CONTACTS - 1);
    const double *W = carom_impact_delassus(impact);
    assert_close(W[0], 0.5, 1e-15);
    assert_close(AT(W, 2 * CAROM_MAX_CONTACTS, 2, 2 * CAROM_MAX_CONTACTS - 2), 0.5, 1e-15);
    carom_impact_free(impact);
}

// The impact keeps nothing of what its creator lent.
static void test_the_data_are_copied(void **state) {
    (void)state;
    draft made, original;
    start_draft(&made);
    start_draft(&original);
    char name[] = "left";
    made.names[0] = name;
    carom_impact *impact = support_impact(&made.data);
    memset(&made, 0, sizeof made);
    name[0] = 'x';
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->nv, 3);
    assert_int_equal(data->contacts, 2);
    assert_int_equal(data->tangent_dim, 1);
    assert_true(same_bits(data->mass, original.mass, 9));
    assert_true(same_bits(data->normal, original.normal, 6));
    assert_true(same_bits(data->tangent, original.tangent, 6));
    assert_true(same_bits(data->friction, original.friction, 2));
    assert_true(same_bits(data->restitution, original.restitution, 2));
    assert_true(same_bits(data->velocity, original.velocity, 3));
    assert_string_equal(data->names[0], "left");
    assert_string_equal(data->names[1], "right");
    carom_impact_free(impact);
}

static void test_sizes(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 34, 0);
    for (int dim = 1; dim <= 2; dim++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 5, dim, 1);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const carom_sizes sizes = carom_impact_sizes(impact);
        assert_int_equal(sizes.nv, data->nv);
        assert_int_equal(sizes.contacts, data->contacts);
        assert_int_equal(sizes.tangents, dim * data->contacts);
        assert_int_equal(carom_impact_contact_size(impact), (1 + dim) * data->contacts);
        assert_true(carom_impact_has_system(impact));
        carom_impact_free(impact);
    }
}

// A zero that was written -0 gives the bits of one that was written 0.
static void test_signs_of_zero_are_normalised(void **state) {
    (void)state;
    draft plain, negative;
    start_draft(&plain);
    start_draft(&negative);
    double *arrays[] = {negative.mass, negative.normal, negative.tangent, negative.velocity, negative.restitution};
    const int counts[] = {9, 6, 6, 3, 2};
    for (int a = 0; a < 5; a++)
        for (int i = 0; i < counts[a]; i++)
            if (arrays[a][i] == 0) arrays[a][i] = -0.0;
    carom_impact *expected = support_impact(&plain.data), *impact = support_impact(&negative.data);
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double *stored[] = {data->mass, data->normal, data->tangent, data->velocity, data->restitution};
    for (int a = 0; a < 5; a++) assert_no_negative_zeros(stored[a], counts[a]);
    assert_no_negative_zeros(carom_impact_delassus(impact), 16);
    assert_true(same_bits(carom_impact_delassus(impact), carom_impact_delassus(expected), 16));
    assert_true(same_bits(carom_impact_response(impact), carom_impact_response(expected), 12));
    carom_impact_free(expected);
    carom_impact_free(impact);
}

static void test_signs_of_zero_are_normalised_in_contact_space(void **state) {
    (void)state;
    const double W[] = {1, -0.0, -0.0, 2}, u[] = {-1, -0.0}, friction[] = {-0.0};
    carom_error error;
    carom_impact *impact = NULL;
    const carom_delassus_data data = {1, 1, W, u, friction, NULL, NULL};
    assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
    assert_no_negative_zeros(carom_impact_delassus(impact), 4);
    assert_no_negative_zeros(carom_impact_response(impact), 4);
    assert_no_negative_zeros(carom_impact_get_data(impact)->velocity, 2);
    assert_no_negative_zeros(carom_impact_get_data(impact)->friction, 1);
    carom_impact_free(impact);
}

// --------------------------------------------------------------------------------------------------------- termination

static void test_termination_is_relative_to_the_velocity(void **state) {
    (void)state;
    const double scales[] = {1, 1e-90, 1e90};
    for (int s = 0; s < 3; s++) {
        draft made;
        start_draft(&made);
        for (int k = 0; k < 3; k++) made.velocity[k] *= scales[s];
        carom_impact *impact = support_impact(&made.data);
        const double limit = carom_impact_approach_limit(impact);
        assert_true(fabs(limit / scales[s] + CAROM_TERMINATION_TOLERANCE * 0.44294469180700202) <= 1e-22);
        assert_true(carom_impact_terminated(impact, (double[]){limit, -1, limit, -1}));
        assert_false(carom_impact_terminated(impact, (double[]){scales[s], 1, 1.0000001 * limit, 1}));
        assert_false(carom_impact_terminated(impact, (double[]){1.0000001 * limit, 1, scales[s], 1}));
        carom_impact_free(impact);
    }
}

static void test_a_system_at_rest_is_terminated(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    memset(made.velocity, 0, sizeof made.velocity);
    carom_impact *impact = support_impact(&made.data);
    assert_true(carom_impact_approach_limit(impact) == 0);
    assert_true(carom_impact_velocity_scale(impact) == 0);
    assert_true(carom_impact_terminated(impact, (double[]){0, 0, -0.0, 0}));
    assert_false(carom_impact_terminated(impact, (double[]){0, 0, -1e-300, 0}));
    carom_impact_free(impact);
}

// Tangential velocities may have any sign.
static void test_the_least_normal_velocity(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    carom_impact *planar = support_impact(&made.data);
    assert_true(carom_impact_min_normal(planar, (double[]){3, -9, 2, -8}) == 2);
    assert_true(carom_impact_min_normal(planar, (double[]){-3, -9, 2, -8}) == -3);
    carom_impact_free(planar);
    const double W[36] = {[0] = 1, [7] = 1, [14] = 1, [21] = 1, [28] = 1, [35] = 1}, u[6] = {-1}, friction[2] = {0};
    carom_impact *spatial = NULL;
    carom_error error;
    assert_ok(carom_impact_create_delassus(&(carom_delassus_data){2, 2, W, u, friction, NULL, NULL}, &spatial, &error), error);
    assert_true(carom_impact_min_normal(spatial, (double[]){4, -1, -2, 3, -5, -6}) == 3);
    assert_true(carom_impact_min_normal(spatial, (double[]){-4, -11, -2, 3, -5, -6}) == -4);
    carom_impact_free(spatial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_draft_itself_is_accepted),
        cmocka_unit_test(test_bad_entries_are_refused),
        cmocka_unit_test(test_bad_entries_of_a_delassus_operator_are_refused),
        cmocka_unit_test(test_bad_sizes_are_refused),
        cmocka_unit_test(test_bad_names_are_refused),
        cmocka_unit_test(test_bad_names_of_velocities_are_refused),
        cmocka_unit_test(test_bad_geometry_is_refused),
        cmocka_unit_test(test_descriptions_are_copied),
        cmocka_unit_test(test_a_zero_normal_is_refused),
        cmocka_unit_test(test_a_zero_tangent_is_accepted),
        cmocka_unit_test(test_round_off_asymmetry_is_removed),
        cmocka_unit_test(test_standard_names),
        cmocka_unit_test(test_given_names),
        cmocka_unit_test(test_the_largest_number_of_contacts),
        cmocka_unit_test(test_the_data_are_copied),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_signs_of_zero_are_normalised),
        cmocka_unit_test(test_signs_of_zero_are_normalised_in_contact_space),
        cmocka_unit_test(test_termination_is_relative_to_the_velocity),
        cmocka_unit_test(test_a_system_at_rest_is_terminated),
        cmocka_unit_test(test_the_least_normal_velocity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
