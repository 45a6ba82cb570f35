// SPDX-License-Identifier: Apache-2.0
// The gate for problems that are none: what is refused, what is said, and that units and orders change neither.
#include "impact_support.h"

#include <stdio.h>

enum { N = 4, MOST = 8 };

// The sentences of a review.
typedef struct heard {
    int count;
    char texts[MOST][CAROM_MESSAGE_SIZE];
} heard;

static carom_status hear(void *user, const char *sentence, carom_error *error) {
    (void)error;
    heard *all = user;
    assert_in_range(all->count, 0, MOST - 1);
    snprintf(all->texts[all->count++], CAROM_MESSAGE_SIZE, "%s", sentence);
    return CAROM_OK;
}

static heard review(const carom_impact *impact) {
    heard all = {0};
    carom_error error;
    assert_ok(carom_impact_review(impact, hear, &all, &error), error);
    return all;
}

static const char *const names[N] = {"z", "pitch", "a", "b"};

// The base of a robot with a joint a, and a joint b at a lever of `lever` that adds `armature` of its own; velocities in other units.
static void fill_mass(double lever, double armature, const double units[N], double M[N * N]) {
    const double base[3][3] = {{10, 0, 1}, {0, 5, 0.5}, {1, 0.5, 0.3}};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double entry = base[i < 3 ? i : 2][j < 3 ? j : 2];
            if (i == 3) entry *= lever;
            if (j == 3) entry *= lever;
            M[N * i + j] = units[i] * (i == 3 && j == 3 ? entry + armature : entry) * units[j];
        }
}

static void test_a_joint_without_inertia_is_refused_by_name_in_all_units(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 39, 0);
    carom_error error;
    double M[N * N], units[N];
    for (int trial = 0; trial < 600; trial++) {
        for (int i = 0; i < N; i++) units[i] = pow(10, 8 * carom_stream_uniform(&stream) - 4);
        // A joint b that is lighter than a is the one that needs inertia.
        units[3] = units[2];
        const double lever = 0.9 * carom_stream_uniform(&stream) + 0.05;
        fill_mass(lever, 0, units, M);
        assert_refused(carom_mass_check(N, M, names, &error), CAROM_BAD_INPUT, error, "give 'b' inertia of its own");
        assert_refused(carom_mass_check(N, M, NULL, &error), CAROM_BAD_INPUT, error, "give 'v.4' inertia of its own");
        // Every armature above round-off is inertia, and less than none is not.
        fill_mass(lever, 1e-10 * lever * lever, units, M);
        assert_ok(carom_mass_check(N, M, names, &error), error);
        fill_mass(lever, -1e-3 * lever * lever, units, M);
        assert_refused(carom_mass_check(N, M, names, &error), CAROM_BAD_INPUT, error, "negative kinetic energy");
    }
}

static void test_an_impact_has_the_same_gate(void **state) {
    (void)state;
    double M[N * N];
    const double one[N] = {1, 1, 1, 1}, Jn[] = {1, 0.2, 0, 0, 1, -0.2, 0, 0}, v[] = {-1, 0.2, 0.1, 0};
    carom_impact_data data = {.nv = N, .contacts = 2, .tangent_dim = 1, .mass = M, .normal = Jn, .velocity = v, .velocity_names = names};
    carom_impact *impact;
    carom_error error;
    fill_mass(0.1, 0, one, M);
    assert_refused(carom_impact_create(&data, &impact, &error), CAROM_BAD_INPUT, error,
                   "M is not positive definite: a motion of 'a', 'b' has no kinetic energy; give 'b' inertia of its own");
    // A small armature is accepted with a word, a usual one without.
    fill_mass(0.1, 1e-12, one, M);
    assert_ok(carom_impact_create(&data, &impact, &error), error);
    heard said = review(impact);
    carom_impact_free(impact);
    assert_int_equal(said.count, 1);
    assert_non_null(strstr(said.texts[0], "M is nearly singular: a motion of 'a', 'b' has"));
    assert_non_null(strstr(said.texts[0], "give 'b' inertia"));
    fill_mass(0.1, 1e-6, one, M);
    assert_ok(carom_impact_create(&data, &impact, &error), error);
    assert_int_equal(review(impact).count, 0);
    carom_impact_free(impact);
}

static void test_matrices_of_less_rank_are_refused(void **state) {
    (void)state;
    enum { LARGE = 20 };
    carom_stream stream;
    carom_stream_start(&stream, 40, 0);
    carom_error error;
    double A[LARGE * LARGE], M[LARGE * LARGE];
    for (int trial = 0; trial < 500; trial++) {
        // M = A A' of n - 1 columns has rank n - 1; one column more, and it has an inverse.
        const int n = 2 + trial % (LARGE - 1);
        for (int i = 0; i < n * n; i++) A[i] = carom_stream_uniform(&stream) - 0.5;
        for (int columns = n - 1; columns <= n; columns++) {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    double sum = 0;
                    for (int k = 0; k < columns; k++) sum += A[i * n + k] * A[j * n + k];
                    M[i * n + j] = sum;
                }
            if (columns < n)
                assert_int_equal(carom_mass_check(n, M, NULL, &error), CAROM_BAD_INPUT);
            else
                assert_ok(carom_mass_check(n, M, NULL, &error), error);
        }
    }
}

static void test_velocities_that_no_system_has_are_refused(void **state) {
    (void)state;
    // Three frictionless contacts of one degree of freedom, in units of their own: u must be the same for all.
    const double scale[] = {1, 2, 0.5}, mu[3] = {0};
    double W[36] = {0}, u[6] = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) W[12 * i + 2 * j] = scale[i] * scale[j];
    for (int i = 0; i < 3; i++) W[6 * (2 * i + 1) + 2 * i + 1] = 1;
    carom_error error;
    carom_impact *impact;
    for (int consistent = 0; consistent < 2; consistent++) {
        for (int i = 0; i < 3; i++) u[2 * i] = -scale[i] + (consistent ? 1e-9 : 1e-3) * i;
        const carom_delassus_data data = {3, 1, W, u, mu, NULL, NULL};
        assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
        heard said = {0};
        const carom_status status = carom_impact_review(impact, hear, &said, &error);
        if (consistent)
            assert_ok(status, error);
        else
            assert_refused(status, CAROM_BAD_INPUT, error, "u is not in the range of W: no velocity");
        carom_impact_free(impact);
    }
}

static void test_equal_and_opposite_contacts_are_named(void **state) {
    (void)state;
    const double M[] = {2, 0.3, 0, 0.3, 5, 0, 0, 0, 1e-3}, v[] = {0, -1, 0.5};
    const double Jn[] = {0.1, 1, 0.3, 0.1, 1, 0.3, -0.3, -3, -0.9, 0.1, 1, 0.31};
    const double Jt[] = {1, 0, 0.2, 1, 0, 0.2, 1, 0, 0.2, 1, 0, 0.2};
    carom_impact_data data = {.nv = 3, .contacts = 4, .tangent_dim = 1, .mass = M, .normal = Jn, .tangent = Jt, .velocity = v};
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create(&data, &impact, &error), error);
    const heard said = review(impact);
    assert_int_equal(said.count, 2);
    assert_non_null(strstr(said.texts[0], "contacts 'A' and 'B' have the same rows of J"));
    assert_non_null(strstr(said.texts[1], "contacts 'A' and 'C', 'B' and 'C' have opposite normals"));
    // The same in contact space, where W tells.
    const carom_delassus_data space = {4, 1, carom_impact_delassus(impact), (double[]){-1, 0, -1, 0, 3, 0, -1, 0}, NULL, NULL, NULL};
    double u[8];
    carom_impact_contact_velocity(impact, v, u);
    carom_delassus_data same = space;
    same.velocity = u;
    carom_impact *reduced;
    assert_ok(carom_impact_create_delassus(&same, &reduced, &error), error);
    const heard again = review(reduced);
    assert_int_equal(again.count, 2);
    for (int i = 0; i < 2; i++) assert_string_equal(again.texts[i], said.texts[i]);
    carom_impact_free(reduced);
    carom_impact_free(impact);
    // Two contacts of one point with other tangents, and a block on its corners, are as they should be.
    impact = NULL;
    assert_ok(carom_impact_create(&reference_block, &impact, &error), error);
    assert_int_equal(review(impact).count, 0);
    carom_impact_free(impact);
}

static void test_depths_and_neighbours_are_named(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    const double nowhere[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
    carom_contact_geometry geometry = {.points = nowhere, .normals = nowhere, .tangents = nowhere};
    made.data.geometry = &geometry;
    const struct {
        double gaps[2];
        int joints[2];
        const char *fragments[2];
    } cases[] = {
        {{-0.058, -1e-3}, {0, 0}, {"bodies penetrate each other at 'left' by 58 mm: "}},
        {{-0.058, -0.01}, {0, 0}, {"at 'left' by 58 mm, 'right' by 10 mm: "}},
        {{NAN, 1e-4}, {0, 3}, {NULL}},
        {{NAN, 0}, {0, 2}, {"'right' is a contact between neighbouring links"}},
        {{-0.5, NAN}, {1, 1}, {"at 'left' by 500 mm", "'left', 'right' are contacts between neighbouring links"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        geometry.gaps = cases[i].gaps;
        geometry.joints = cases[i].joints;
        carom_impact *impact;
        carom_error error;
        assert_ok(carom_impact_create(&made.data, &impact, &error), error);
        const heard said = review(impact);
        assert_int_equal(said.count, !!cases[i].fragments[0] + !!cases[i].fragments[1]);
        for (int k = 0; k < said.count; k++) assert_non_null(strstr(said.texts[k], cases[i].fragments[k]));
        carom_impact_free(impact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_joint_without_inertia_is_refused_by_name_in_all_units),
        cmocka_unit_test(test_an_impact_has_the_same_gate),
        cmocka_unit_test(test_matrices_of_less_rank_are_refused),
        cmocka_unit_test(test_velocities_that_no_system_has_are_refused),
        cmocka_unit_test(test_equal_and_opposite_contacts_are_named),
        cmocka_unit_test(test_depths_and_neighbours_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
