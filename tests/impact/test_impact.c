// SPDX-License-Identifier: Apache-2.0
// The impact: refusals, operators against brute force, the reference scenes, contact space, friction cones, outcome sets.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "support.h"

// Indexes a row-major matrix.
#define AT(A, columns, i, j) ((A)[(size_t)(i) * (size_t)(columns) + (size_t)(j)])

static double *make_doubles(int count) {
    double *values = calloc((size_t)count, sizeof *values);
    assert_non_null(values);
    return values;
}

static bool same_bits(const double *a, const double *b, int count) { return memcmp(a, b, (size_t)count * sizeof *a) == 0; }

static void assert_no_negative_zeros(const double *values, int count) {
    for (int i = 0; i < count; i++) assert_false(values[i] == 0 && signbit(values[i]));
}

// ----------------------------------------------------------------------------------------------------------- refusals

// The rocking block as data that a test may spoil: [2 contacts, 3 velocities], and its contact-space form.
typedef struct draft {
    double mass[9], normal[6], tangent[6], friction[2], restitution[2], velocity[3];
    double delassus[16], contact_velocity[4];
    const char *names[2];
    carom_impact_data data;
    carom_delassus_data contact_data;
} draft;

static void start_draft(draft *made) {
    const carom_impact_data *block = &reference_block;
    *made = (draft){.restitution = {0, 1}, .names = {"left", "right"}, .contact_velocity = {-1, 0, -1, 0}};
    memcpy(made->mass, block->mass, sizeof made->mass);
    memcpy(made->normal, block->normal, sizeof made->normal);
    memcpy(made->tangent, block->tangent, sizeof made->tangent);
    memcpy(made->friction, block->friction, sizeof made->friction);
    memcpy(made->velocity, block->velocity, sizeof made->velocity);
    const double W[] = {1.6, -1.2, 0.4, -1.2, -1.2, 3.4, 1.2, 3.4, 0.4, 1.2, 1.6, 1.2, -1.2, 3.4, 1.2, 3.4};
    memcpy(made->delassus, W, sizeof W);
    made->data = (carom_impact_data){
        3, 2, 1, made->mass, made->normal, made->tangent, made->friction, made->restitution, made->velocity, made->names};
    made->contact_data =
        (carom_delassus_data){2, 1, made->delassus, made->contact_velocity, made->friction, made->restitution, made->names};
}

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
        {ENTRY(mass[0]), 0, "M is not positive definite (its leading minor of order 1)"},
        {ENTRY(mass[4]), -1, "M is not positive definite (its leading minor of order 2)"},
        {ENTRY(mass[8]), -0.1, "M is not positive definite (its leading minor of order 3)"},
        {ENTRY(friction[1]), -0.1, "mu[1] is -0.1: a friction coefficient is a finite number >= 0"},
        {ENTRY(friction[0]), NAN, "mu[0] is "},
        {ENTRY(friction[0]), INFINITY, "mu[0] is inf"},
        {ENTRY(restitution[0]), 1.1, "restitution[0] is 1.1: it is between 0 and 1"},
        {ENTRY(restitution[1]), -0.1, "restitution[1] is -0.1: it is between 0 and 1"},
        {ENTRY(restitution[1]), NAN, "restitution[1] is "},
        {ENTRY(mass[8]), 1e-320, "J M^-1 J' overflows"},
        {ENTRY(tangent[0]), 1e200, "J M^-1 J' overflows"},
        {ENTRY(velocity[0]), 1e200, "kinetic energy of v overflow"},
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

// ---------------------------------------------------------------------------------------------------------- operators

// Row c of J, contact-major, from the data.
static const double *jacobian_row(const carom_impact_data *data, int c) {
    const int stride = 1 + data->tangent_dim, contact = c / stride, k = c % stride;
    return k ? &AT(data->tangent, data->nv, contact * data->tangent_dim + k - 1, 0) : &AT(data->normal, data->nv, contact, 0);
}

// M^-1 J_c' by LU, rows c.
static double *solve_response(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int nv = data->nv, n = carom_impact_contact_size(impact);
    double *LU = make_doubles(nv * nv), *response = make_doubles(n * nv);
    int *rows = calloc((size_t)nv, sizeof *rows);
    assert_non_null(rows);
    memcpy(LU, data->mass, (size_t)(nv * nv) * sizeof *LU);
    assert_true(carom_lu_factor(nv, LU, rows));
    for (int c = 0; c < n; c++) {
        memcpy(response + c * nv, jacobian_row(data, c), (size_t)nv * sizeof *LU);
        carom_lu_solve(nv, LU, rows, response + c * nv);
    }
    free(LU);
    free(rows);
    return response;
}

static void assert_operators(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int nv = data->nv, n = carom_impact_contact_size(impact);
    double *response = solve_response(impact), *expected = make_doubles(n * n);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) expected[a * n + b] = carom_dot(nv, jacobian_row(data, a), response + b * nv);
    const double *W = carom_impact_delassus(impact);
    assert_all_close(W, expected, n * n, 1e-11);
    assert_all_close(carom_impact_response(impact), response, n * nv, 1e-11);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < a; b++) assert_true(same_bits(&AT(W, n, a, b), &AT(W, n, b, a), 1));
    free(response);
    free(expected);
}

static void test_operators_agree_with_brute_force(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 30, 0);
    const int count = support_count(10, 60, 2000);
    for (int family = 0; family < FAMILIES; family++)
        for (int i = 0; i < count; i++) {
            carom_impact *impact = support_random_impact(&stream, (support_family)family, 6, 1 + i % 2, 2);
            assert_operators(impact);
            carom_impact_free(impact);
        }
}

// A well-conditioned planar impact of any size.
static carom_impact *sized_impact(carom_stream *stream, int nv, int contacts) {
    double *mass = make_doubles(nv * nv), *rows = make_doubles(2 * contacts * nv), *friction = make_doubles(contacts);
    for (int i = 0; i < nv; i++)
        for (int j = 0; j <= i; j++) AT(mass, nv, i, j) = AT(mass, nv, j, i) = i == j ? 2 * nv : carom_stream_normal(stream);
    for (int i = 0; i < 2 * contacts * nv; i++) rows[i] = carom_stream_normal(stream);
    carom_impact *impact = support_impact(&(carom_impact_data){.nv = nv,
                                                               .contacts = contacts,
                                                               .tangent_dim = 1,
                                                               .mass = mass,
                                                               .normal = rows,
                                                               .tangent = rows + contacts * nv,
                                                               .friction = friction,
                                                               .velocity = rows});
    free(mass);
    free(rows);
    free(friction);
    return impact;
}

// So large that BLAS and LAPACK take over: nv, or only n, beyond the size of our own loops.
static void test_large_operators_agree_with_brute_force(void **state) {
    (void)state;
    const int shapes[][2] = {{140, 3}, {20, 70}};
    carom_stream stream;
    carom_stream_start(&stream, 31, 0);
    for (int s = 0; s < 2; s++) {
        carom_impact *impact = sized_impact(&stream, shapes[s][0], shapes[s][1]);
        assert_operators(impact);
        carom_impact_free(impact);
    }
}

// u = J v, v+ = v + M^-1 J' p and K = v'Mv/2 from the data, and the energy balance K(v+) - K(v) = p.(u + u+)/2.
static void assert_maps(const carom_impact *impact, carom_stream *stream) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int nv = data->nv, n = carom_impact_contact_size(impact);
    double *v = make_doubles(nv), *p = make_doubles(n), *next = make_doubles(nv), *u = make_doubles(n), *u_next = make_doubles(n);
    double *expected = make_doubles(nv), *response = solve_response(impact);
    for (int k = 0; k < nv; k++) expected[k] = v[k] = carom_stream_normal(stream);
    for (int c = 0; c < n; c++) p[c] = carom_stream_normal(stream);
    for (int c = 0; c < n; c++)
        for (int k = 0; k < nv; k++) expected[k] += p[c] * response[c * nv + k];
    carom_impact_apply(impact, v, p, next);
    assert_all_close(next, expected, nv, 1e-11);

    carom_impact_contact_velocity(impact, v, u);
    carom_impact_contact_velocity(impact, next, u_next);
    for (int c = 0; c < n; c++) assert_close(u[c], carom_dot(nv, jacobian_row(data, c), v), 1e-13);
    double twice = 0, work = 0;
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++) twice += v[i] * AT(data->mass, nv, i, j) * v[j];
    const double before = carom_impact_kinetic_energy(impact, v), after = carom_impact_kinetic_energy(impact, next);
    assert_close(before, twice / 2, 1e-12);
    for (int c = 0; c < n; c++) work += p[c] * (u[c] + u_next[c]) / 2;
    assert_true(fabs(after - before - work) <= 1e-11 * (1 + after + before));

    // In place the bits are the same, and no impulse changes nothing.
    carom_impact_apply(impact, v, p, v);
    assert_true(same_bits(v, next, nv));
    memset(p, 0, (size_t)n * sizeof *p);
    carom_impact_apply(impact, v, p, v);
    assert_true(same_bits(v, next, nv));
    free(v);
    free(p);
    free(next);
    free(u);
    free(u_next);
    free(expected);
    free(response);
}

static void test_maps_agree_with_the_data(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 32, 0);
    const int count = support_count(20, 200, 5000);
    for (int i = 0; i < count; i++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 5, 1 + i % 2, 2);
        assert_maps(impact, &stream);
        carom_impact_free(impact);
    }
}

static void test_scales_of_the_initial_velocity(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 33, 0);
    for (int i = 0; i < 50; i++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 5, 1 + i % 2, 2);
        const carom_impact_data *data = carom_impact_get_data(impact);
        double scale = 0;
        for (int c = 0; c < carom_impact_contact_size(impact); c++)
            scale = fmax(scale, fabs(carom_dot(data->nv, jacobian_row(data, c), data->velocity)));
        assert_close(carom_impact_velocity_scale(impact), scale, 1e-15);
        assert_true(carom_impact_initial_energy(impact) == carom_impact_kinetic_energy(impact, data->velocity));
        carom_impact_free(impact);
    }
}

// --------------------------------------------------------------------------------------------------- reference scenes

enum { MOST_REFERENCE_CONTACTS = 5 };

static void test_reference_scenes(void **state) {
    (void)state;
    const struct {
        const carom_impact_data *data;
        double energy, normal[MOST_REFERENCE_CONTACTS], tangent[MOST_REFERENCE_CONTACTS];
    } scenes[] = {
        {&reference_block, 0.098100000000000007, {-0.44294469180700202, -0.44294469180700202}, {0, 0}},
        {&reference_compass, 0.075423295551331315, {-0.4890738003669029, 0}, {0, 0}},
        {&reference_boxwall, 0.5, {0, -1}, {1, 0}},
        {&reference_ramone, 1.0350488147911687, {-0.53209872036004791, 0}, {0, 0}},
        {&reference_disks,
         0.5,
         {0, 0, -0.86602540378443871, -0.86602540378443871, 0},
         {0, 0, 0.50000000000000011, -0.50000000000000011, 0}},
    };
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
        carom_impact *impact = support_impact(scenes[s].data);
        const int contacts = scenes[s].data->contacts;
        double u[2 * MOST_REFERENCE_CONTACTS], least = INFINITY;
        carom_impact_contact_velocity(impact, scenes[s].data->velocity, u);
        for (int i = 0; i < contacts; i++) {
            assert_close(u[2 * i], scenes[s].normal[i], 1e-13);
            assert_close(u[2 * i + 1], scenes[s].tangent[i], 1e-13);
            least = fmin(least, scenes[s].normal[i]);
        }
        assert_close(carom_impact_initial_energy(impact), scenes[s].energy, 1e-13);
        assert_close(carom_impact_min_normal(impact, u), least, 1e-13);
        assert_false(carom_impact_terminated(impact, u));
        assert_operators(impact);
        carom_impact_free(impact);
    }
}

// Anitescu-Potra outcome of the box against the wall: published impulses bring every contact to rest.
static void test_a_published_impulse_brings_the_box_to_rest(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_boxwall);
    const double impulse[] = {0.35010376910485408, -0.35010376910485408, 0.64989623089514525, -0.35010376910485469};
    double v[3], u[4];
    carom_impact_apply(impact, reference_boxwall.velocity, impulse, v);
    carom_impact_contact_velocity(impact, v, u);
    assert_all_close(u, ((double[4]){0}), 4, 1e-14);
    assert_close(carom_impact_kinetic_energy(impact, v), 0, 1e-14);
    assert_true(carom_impact_terminated(impact, u));
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

// ------------------------------------------------------------------------------------------------------- contact space

// The same impact, from its Delassus operator and contact velocity alone.
static carom_impact *to_contact_space(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    double *u = make_doubles(carom_impact_contact_size(impact));
    carom_impact_contact_velocity(impact, data->velocity, u);
    const carom_delassus_data contact_data = {data->contacts,    data->tangent_dim, carom_impact_delassus(impact), u, data->friction,
                                              data->restitution, data->names};
    carom_error error;
    carom_impact *made = NULL;
    assert_ok(carom_impact_create_delassus(&contact_data, &made, &error), error);
    free(u);
    return made;
}

static void test_an_impact_in_contact_space(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_compass), *reduced = to_contact_space(impact);
    const carom_impact_data *data = carom_impact_get_data(reduced);
    assert_false(carom_impact_has_system(reduced));
    assert_int_equal(data->nv, 4);
    assert_int_equal(carom_impact_contact_size(reduced), 4);
    assert_null(data->mass);
    assert_null(data->normal);
    assert_null(data->tangent);
    assert_non_null(data->restitution);
    assert_string_equal(data->names[1], "B");
    assert_true(data->friction[0] == 5);
    assert_true(same_bits(carom_impact_response(reduced), carom_impact_delassus(reduced), 16));
    // The velocity is the contact velocity.
    double u[4];
    carom_impact_contact_velocity(reduced, data->velocity, u);
    assert_true(same_bits(u, data->velocity, 4));
    assert_true(carom_impact_velocity_scale(reduced) == carom_impact_velocity_scale(impact));
    carom_impact_free(impact);
    carom_impact_free(reduced);
}

// No eigenvalue of W is so small that it could be either round-off or a direction that matters for the energy.
static bool has_clear_rank(const carom_impact *impact) {
    const int n = carom_impact_contact_size(impact);
    double *V = make_doubles(n * n), *values = make_doubles(n);
    memcpy(V, carom_impact_delassus(impact), (size_t)(n * n) * sizeof *V);
    carom_error error;
    assert_ok(carom_symmetric_eigen(n, V, values, &error), error);
    bool clear = true;
    for (int i = 0; i < n; i++) clear = clear && (values[i] < 1e-13 * values[n - 1] || values[i] > 1e-7 * values[n - 1]);
    free(V);
    free(values);
    return clear;
}

// One system against its contact-space form: same W, same contact velocity after an impulse, same change of energy. The energy itself is
// the least of any system with this contact velocity: equal where J determines the velocity.
static void assert_same_impact(const carom_impact *impact, const carom_impact *reduced, bool determined, carom_stream *stream) {
    const int nv = carom_impact_get_data(impact)->nv, n = carom_impact_contact_size(impact);
    assert_true(same_bits(carom_impact_delassus(reduced), carom_impact_delassus(impact), n * n));
    double *p = make_doubles(n), *v = make_doubles(nv), *u = make_doubles(n), *u_next = make_doubles(n);
    for (int c = 0; c < n; c++) p[c] = carom_stream_normal(stream);
    carom_impact_apply(impact, carom_impact_get_data(impact)->velocity, p, v);
    carom_impact_contact_velocity(impact, v, u);
    carom_impact_apply(reduced, carom_impact_get_data(reduced)->velocity, p, u_next);
    assert_all_close(u_next, u, n, 1e-11);

    const double before = carom_impact_initial_energy(impact), after = carom_impact_kinetic_energy(impact, v);
    const double reduced_before = carom_impact_initial_energy(reduced), reduced_after = carom_impact_kinetic_energy(reduced, u_next);
    const double allowed = 1e-9 * (1 + before + after);
    assert_true(fabs((after - before) - (reduced_after - reduced_before)) <= allowed);
    assert_true(reduced_before >= 0 && reduced_before <= before + allowed);
    if (determined) assert_true(fabs(reduced_before - before) <= allowed);
    free(p);
    free(v);
    free(u);
    free(u_next);
}

static void test_contact_space_gives_the_same_impact(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 35, 0);
    const int count = support_count(20, 100, 3000);
    int determined = 0, undetermined = 0;
    for (int family = 0; family < FAMILIES; family++)
        for (int i = 0; i < count; i++) {
            carom_impact *impact = support_random_impact(&stream, (support_family)family, 4, 1 + i % 2, 2);
            carom_impact *reduced = to_contact_space(impact);
            // Random real rows have full rank.
            const bool full_rank = family == FAMILY_PLAIN && carom_impact_get_data(impact)->nv <= carom_impact_contact_size(impact);
            const bool clear = has_clear_rank(impact);
            if (clear) assert_same_impact(impact, reduced, full_rank, &stream);
            if (clear) *(full_rank ? &determined : &undetermined) += 1;
            carom_impact_free(reduced);
            carom_impact_free(impact);
        }
    // Nearly all have one.
    assert_true(determined > count / 4 && undetermined > count);
}

// 140 contact directions of a system with 20 velocities: a large operator of low rank.
static void test_a_large_impact_in_contact_space(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 39, 0);
    carom_impact *impact = sized_impact(&stream, 20, 70), *reduced = to_contact_space(impact);
    assert_same_impact(impact, reduced, true, &stream);
    carom_impact_free(reduced);
    carom_impact_free(impact);
}

// A point mass of 2 kg with two equal contacts: W has rank 2 of 4, the energy is that of the point.
static void test_energy_of_a_rank_deficient_operator(void **state) {
    (void)state;
    const double W[] = {0.5, 0, 0.5, 0, 0, 0.5, 0, 0.5, 0.5, 0, 0.5, 0, 0, 0.5, 0, 0.5};
    const double u[] = {-3, 4, -3, 4}, friction[] = {1, 1};
    carom_error error;
    carom_impact *impact = NULL;
    assert_ok(carom_impact_create_delassus(&(carom_delassus_data){2, 1, W, u, friction, NULL, NULL}, &impact, &error), error);
    assert_close(carom_impact_initial_energy(impact), 25, 1e-14);
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

// ------------------------------------------------------------------------------------------------------ friction cones

static void test_numbers_of_cone_edges(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 36, 0);
    carom_impact *planar = support_random_impact(&stream, FAMILY_PLAIN, 3, 1, 1);
    carom_impact *spatial = support_random_impact(&stream, FAMILY_PLAIN, 3, 2, 1);
    const int64_t refused[] = {-4, 0, 2, 3, 5, 63, 65, 66, 4294967300, INT64_MIN, INT64_MAX};
    carom_error error;
    int edges;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char fragment[64];
        snprintf(fragment, sizeof fragment, "cone_edges: %lld is not an even number between 4 and 64", (long long)refused[i]);
        assert_refused(carom_impact_cone_edges(spatial, refused[i], &edges, &error), CAROM_BAD_INPUT, error, fragment);
        assert_ok(carom_impact_cone_edges(planar, refused[i], &edges, &error), error);
        assert_int_equal(edges, 2);
    }
    for (int64_t asked = CAROM_MIN_CONE_EDGES; asked <= CAROM_MAX_CONE_EDGES; asked += 2) {
        assert_ok(carom_impact_cone_edges(spatial, asked, &edges, &error), error);
        assert_int_equal(edges, asked);
    }
    carom_impact_free(planar);
    carom_impact_free(spatial);
}

static void test_cone_directions(void **state) {
    (void)state;
    double d[2 * CAROM_MAX_CONE_EDGES];
    carom_cone_directions(1, 2, d);
    assert_true(d[0] == 1 && d[1] == -1);
    // Four edges are the tangents themselves.
    const double axes[] = {1, 0, 0, 1, -1, 0, 0, -1};
    carom_cone_directions(2, 4, d);
    assert_true(same_bits(d, axes, 8));
    for (int edges = CAROM_MIN_CONE_EDGES; edges <= CAROM_MAX_CONE_EDGES; edges += 2) {
        carom_cone_directions(2, edges, d);
        assert_no_negative_zeros(d, 2 * edges);
        for (int j = 0; j < edges; j++) {
            const double angle = 2 * acos(-1) * j / edges;
            assert_close(d[2 * j], cos(angle), 1e-15);
            assert_close(d[2 * j + 1], sin(angle), 1e-15);
            assert_close(hypot(d[2 * j], d[2 * j + 1]), 1, 4e-16);
            for (int axis = 0; axis < 2; axis++) assert_true(d[2 * j + axis] == -d[2 * ((j + edges / 2) % edges) + axis]);
        }
    }
}

// -------------------------------------------------------------------------------------------------------- outcome sets

static void test_outcome_columns(void **state) {
    (void)state;
    const char *const names[] = {"v_plus",       "normal_impulse", "tangent_impulse", "normal_velocity", "tangent_velocity",
                                 "energy_ratio", "word",           "steps",           "terminated",      "flags"};
    const carom_column own[] = {{"count", CAROM_COLUMN_INTEGER, 1, "", "a law's own", NULL}};
    carom_impact *impact = support_impact(&reference_disks);
    carom_error error;
    carom_table *outcomes = NULL;
    assert_ok(carom_outcomes_create(impact, own, 1, &outcomes, &error), error);
    assert_int_equal(carom_table_columns(outcomes), CAROM_OUTCOME_COLUMNS + 1);
    for (int i = 0; i < CAROM_OUTCOME_COLUMNS; i++) {
        assert_int_equal(carom_table_find(outcomes, names[i]), i);
        assert_ptr_equal(carom_table_column(outcomes, i), &carom_outcome_columns()[i]);
    }
    assert_int_equal(carom_table_find(outcomes, "count"), CAROM_OUTCOME_COLUMNS);
    assert_int_equal(carom_column_width(carom_table_column(outcomes, CAROM_OUTCOME_VELOCITY), carom_table_sizes(outcomes)), 9);
    assert_int_equal(carom_column_width(carom_table_column(outcomes, CAROM_OUTCOME_TANGENT_IMPULSE), carom_table_sizes(outcomes)), 5);
    // Each flag's bit is that of its name.
    const char *const *flags = carom_outcome_columns()[CAROM_OUTCOME_FLAGS].flags;
    assert_int_equal(CAROM_FLAG_UNSOLVED, 1 << 0);
    assert_string_equal(flags[0], "unsolved");
    assert_int_equal(CAROM_FLAG_ENERGY_GAIN, 1 << 1);
    assert_string_equal(flags[1], "energy-gain");
    assert_int_equal(CAROM_FLAG_FRICTION_IGNORED, 1 << 2);
    assert_string_equal(flags[2], "friction-ignored");
    assert_int_equal(CAROM_FLAG_MARGINAL, 1 << 3);
    assert_string_equal(flags[3], "marginal");
    assert_int_equal(CAROM_FLAG_ADHESIVE, 1 << 4);
    assert_string_equal(flags[4], "adhesive");
    assert_null(flags[5]);
    carom_table_free(outcomes);
    carom_impact_free(impact);
}

static carom_table *start_outcomes(const carom_impact *impact) {
    carom_error error;
    carom_table *outcomes = NULL;
    assert_ok(carom_outcomes_create(impact, NULL, 0, &outcomes, &error), error);
    return outcomes;
}

static void add_outcome(carom_table *outcomes, const carom_impact *impact, const double *v, const double *impulse, int64_t steps,
                        int64_t flags) {
    carom_error error;
    assert_ok(carom_outcomes_add(outcomes, impact, v, impulse, steps, flags, &error), error);
}

static const double *reals(const carom_table *outcomes, carom_outcome_column column, int width, int64_t row) {
    return carom_table_real_column(outcomes, (int)column) + row * width;
}

// Row 0: rest, from the published impulses. Row 1: still approaching, impulses not determined.
static void test_an_outcome_fills_its_row(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_boxwall);
    carom_table *outcomes = start_outcomes(impact);
    const double impulse[] = {0.35010376910485408, -0.35010376910485408, 0.64989623089514525, -0.35010376910485469};
    double v[3];
    carom_impact_apply(impact, reference_boxwall.velocity, impulse, v);
    add_outcome(outcomes, impact, v, impulse, 7, 0);
    add_outcome(outcomes, impact, reference_boxwall.velocity, NULL, 0, CAROM_FLAG_UNSOLVED | CAROM_FLAG_ENERGY_GAIN);
    assert_int_equal(carom_table_rows(outcomes), 2);

    assert_true(same_bits(reals(outcomes, CAROM_OUTCOME_VELOCITY, 3, 0), v, 3));
    assert_true(same_bits(reals(outcomes, CAROM_OUTCOME_NORMAL_IMPULSE, 2, 0), (double[]){impulse[0], impulse[2]}, 2));
    assert_true(same_bits(reals(outcomes, CAROM_OUTCOME_TANGENT_IMPULSE, 2, 0), (double[]){impulse[1], impulse[3]}, 2));
    assert_all_close(reals(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY, 2, 0), ((double[2]){0}), 2, 1e-14);
    assert_all_close(reals(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY, 2, 0), ((double[2]){0}), 2, 1e-14);
    assert_close(*reals(outcomes, CAROM_OUTCOME_ENERGY_RATIO, 1, 0), 0, 1e-14);

    for (int i = 0; i < 2; i++) {
        assert_true(isnan(reals(outcomes, CAROM_OUTCOME_NORMAL_IMPULSE, 2, 1)[i]));
        assert_true(isnan(reals(outcomes, CAROM_OUTCOME_TANGENT_IMPULSE, 2, 1)[i]));
    }
    assert_all_close(reals(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY, 2, 1), ((double[]){0, -1}), 2, 1e-15);
    assert_all_close(reals(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY, 2, 1), ((double[]){1, 0}), 2, 1e-15);
    assert_true(*reals(outcomes, CAROM_OUTCOME_ENERGY_RATIO, 1, 1) == 1);

    const int64_t steps[] = {7, 0}, terminated[] = {1, 0}, flags[] = {0, 3};
    for (int row = 0; row < 2; row++) {
        int count;
        assert_int_equal(carom_table_integer_column(outcomes, CAROM_OUTCOME_STEPS)[row], steps[row]);
        assert_int_equal(carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED)[row], terminated[row]);
        assert_int_equal(carom_table_integer_column(outcomes, CAROM_OUTCOME_FLAGS)[row], flags[row]);
        assert_null(carom_table_list(outcomes, CAROM_OUTCOME_WORD, row, &count));
    }
    carom_table_free(outcomes);
    carom_impact_free(impact);
}

// Spatial contacts have two tangential entries each, contact-major, in every column; contact space reports the same.
static void test_outcomes_of_spatial_contacts(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 37, 0);
    for (int round = 0; round < 50; round++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 4, 2, 1), *reduced = to_contact_space(impact);
        const int nv = carom_impact_get_data(impact)->nv, n = carom_impact_contact_size(impact), contacts = n / 3;
        carom_table *outcomes = start_outcomes(impact), *reduced_outcomes = start_outcomes(reduced);
        double *v = make_doubles(nv), *u = make_doubles(n), *p = make_doubles(n);
        for (int c = 0; c < n; c++) p[c] = carom_stream_normal(&stream);
        carom_impact_apply(impact, carom_impact_get_data(impact)->velocity, p, v);
        carom_impact_contact_velocity(impact, v, u);
        add_outcome(outcomes, impact, v, p, 1, 0);
        add_outcome(reduced_outcomes, reduced, u, p, 1, 0);
        const carom_table *both[] = {outcomes, reduced_outcomes};
        for (int t = 0; t < 2; t++)
            for (int c = 0; c < n; c++) {
                const int at = c % 3 ? c / 3 * 2 + c % 3 - 1 : c / 3;
                const int width = c % 3 ? 2 * contacts : contacts;
                assert_true(reals(both[t], c % 3 ? CAROM_OUTCOME_TANGENT_IMPULSE : CAROM_OUTCOME_NORMAL_IMPULSE, width, 0)[at] == p[c]);
                assert_close(reals(both[t], c % 3 ? CAROM_OUTCOME_TANGENT_VELOCITY : CAROM_OUTCOME_NORMAL_VELOCITY, width, 0)[at], u[c],
                             1e-13);
            }
        assert_int_equal(*carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED), carom_impact_terminated(impact, u));
        free(v);
        free(u);
        free(p);
        carom_table_free(outcomes);
        carom_table_free(reduced_outcomes);
        carom_impact_free(reduced);
        carom_impact_free(impact);
    }
}

static void test_outcomes_have_no_negative_zeros(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block), *reduced = to_contact_space(impact);
    const carom_impact *both[] = {impact, reduced};
    const double zeros[] = {-0.0, -0.0, -0.0, -0.0};
    for (int t = 0; t < 2; t++) {
        carom_table *outcomes = start_outcomes(both[t]);
        add_outcome(outcomes, both[t], zeros, zeros, 1, 0);
        const carom_sizes sizes = carom_impact_sizes(both[t]);
        for (int c = CAROM_OUTCOME_VELOCITY; c <= CAROM_OUTCOME_ENERGY_RATIO; c++)
            assert_no_negative_zeros(carom_table_real_column(outcomes, c), carom_column_width(carom_table_column(outcomes, c), &sizes));
        carom_table_free(outcomes);
    }
    carom_impact_free(reduced);
    carom_impact_free(impact);
}

static void test_no_energy_ratio_at_rest(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    memset(made.velocity, 0, sizeof made.velocity);
    carom_impact *impact = support_impact(&made.data);
    carom_table *outcomes = start_outcomes(impact);
    add_outcome(outcomes, impact, made.velocity, NULL, 0, 0);
    assert_true(isnan(*reals(outcomes, CAROM_OUTCOME_ENERGY_RATIO, 1, 0)));
    assert_int_equal(*carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED), 1);
    carom_table_free(outcomes);
    carom_impact_free(impact);
}

// ------------------------------------------------------------------------------------------------------------- extents

static void test_an_extent_starts_undetermined(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_disks);
    carom_error error;
    carom_extent *extent = NULL;
    assert_ok(carom_extent_create(impact, &extent, &error), error);
    carom_table *outcomes = start_outcomes(impact);
    carom_extent_widen(extent, outcomes);
    assert_int_equal(extent->outcomes, 0);
    assert_int_equal(extent->sizes.contacts, 5);
    for (int i = 0; i < 10; i++) assert_true(isnan(extent->normal[i]) && isnan(extent->tangent[i]));
    assert_true(isnan(extent->energy_ratio[0]) && isnan(extent->energy_ratio[1]));
    carom_table_free(outcomes);
    carom_extent_free(extent);
    carom_extent_free(NULL);
    carom_impact_free(impact);
}

static void test_an_extent_covers_its_outcomes(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 38, 0);
    carom_impact *impact = support_impact(&reference_block);
    carom_error error;
    carom_extent *extent = NULL;
    assert_ok(carom_extent_create(impact, &extent, &error), error);
    double normal[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY}, tangent[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    double energy[2] = {INFINITY, -INFINITY};
    // Several blocks, as a sampler delivers them.
    for (int block = 0; block < 5; block++) {
        carom_table *outcomes = start_outcomes(impact);
        for (int row = 0; row < 20; row++) {
            double v[3], u[4];
            for (int k = 0; k < 3; k++) v[k] = carom_stream_normal(&stream);
            carom_impact_contact_velocity(impact, v, u);
            for (int i = 0; i < 2; i++) {
                normal[2 * i] = fmin(normal[2 * i], u[2 * i]);
                normal[2 * i + 1] = fmax(normal[2 * i + 1], u[2 * i]);
                tangent[2 * i] = fmin(tangent[2 * i], u[2 * i + 1]);
                tangent[2 * i + 1] = fmax(tangent[2 * i + 1], u[2 * i + 1]);
            }
            const double ratio = carom_impact_kinetic_energy(impact, v) / carom_impact_initial_energy(impact);
            energy[0] = fmin(energy[0], ratio);
            energy[1] = fmax(energy[1], ratio);
            add_outcome(outcomes, impact, v, NULL, 0, 0);
        }
        carom_extent_widen(extent, outcomes);
        carom_table_free(outcomes);
    }
    assert_int_equal(extent->outcomes, 100);
    assert_all_close(extent->normal, normal, 4, 1e-15);
    assert_all_close(extent->tangent, tangent, 4, 1e-15);
    assert_all_close(extent->energy_ratio, energy, 2, 1e-15);
    carom_extent_free(extent);
    carom_impact_free(impact);
}

// A value that is not determined widens nothing.
static void test_an_extent_skips_what_is_not_determined(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_error error;
    carom_extent *extent = NULL;
    assert_ok(carom_extent_create(impact, &extent, &error), error);
    carom_table *outcomes = start_outcomes(impact);
    const double v[] = {0, 1, 0};
    for (int row = 0; row < 3; row++) {
        add_outcome(outcomes, impact, v, NULL, 0, 0);
        if (row != 1) *carom_table_reals(outcomes, CAROM_OUTCOME_ENERGY_RATIO) = NAN;
    }
    carom_extent_widen(extent, outcomes);
    const double ratio = 0.5 / carom_impact_initial_energy(impact);
    assert_all_close(extent->energy_ratio, ((double[]){ratio, ratio}), 2, 1e-15);
    assert_all_close(extent->normal, ((double[]){1, 1, 1, 1}), 4, 1e-15);
    assert_int_equal(extent->outcomes, 3);
    carom_table_free(outcomes);
    carom_extent_free(extent);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_draft_itself_is_accepted),
        cmocka_unit_test(test_bad_entries_are_refused),
        cmocka_unit_test(test_bad_entries_of_a_delassus_operator_are_refused),
        cmocka_unit_test(test_bad_sizes_are_refused),
        cmocka_unit_test(test_bad_names_are_refused),
        cmocka_unit_test(test_a_zero_normal_is_refused),
        cmocka_unit_test(test_a_zero_tangent_is_accepted),
        cmocka_unit_test(test_round_off_asymmetry_is_removed),
        cmocka_unit_test(test_operators_agree_with_brute_force),
        cmocka_unit_test(test_large_operators_agree_with_brute_force),
        cmocka_unit_test(test_maps_agree_with_the_data),
        cmocka_unit_test(test_scales_of_the_initial_velocity),
        cmocka_unit_test(test_reference_scenes),
        cmocka_unit_test(test_a_published_impulse_brings_the_box_to_rest),
        cmocka_unit_test(test_standard_names),
        cmocka_unit_test(test_given_names),
        cmocka_unit_test(test_the_largest_number_of_contacts),
        cmocka_unit_test(test_the_data_are_copied),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_signs_of_zero_are_normalised),
        cmocka_unit_test(test_signs_of_zero_are_normalised_in_contact_space),
        cmocka_unit_test(test_an_impact_in_contact_space),
        cmocka_unit_test(test_contact_space_gives_the_same_impact),
        cmocka_unit_test(test_a_large_impact_in_contact_space),
        cmocka_unit_test(test_energy_of_a_rank_deficient_operator),
        cmocka_unit_test(test_termination_is_relative_to_the_velocity),
        cmocka_unit_test(test_a_system_at_rest_is_terminated),
        cmocka_unit_test(test_the_least_normal_velocity),
        cmocka_unit_test(test_numbers_of_cone_edges),
        cmocka_unit_test(test_cone_directions),
        cmocka_unit_test(test_outcome_columns),
        cmocka_unit_test(test_an_outcome_fills_its_row),
        cmocka_unit_test(test_outcomes_of_spatial_contacts),
        cmocka_unit_test(test_outcomes_have_no_negative_zeros),
        cmocka_unit_test(test_no_energy_ratio_at_rest),
        cmocka_unit_test(test_an_extent_starts_undetermined),
        cmocka_unit_test(test_an_extent_covers_its_outcomes),
        cmocka_unit_test(test_an_extent_skips_what_is_not_determined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
