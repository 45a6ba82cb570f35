// SPDX-License-Identifier: Apache-2.0
// The operators of an impact against brute force, the reference scenes, and impacts in contact space.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "impact_support.h"

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

// ------------------------------------------------------------------------------------------------------- contact space

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators_agree_with_brute_force),
        cmocka_unit_test(test_large_operators_agree_with_brute_force),
        cmocka_unit_test(test_maps_agree_with_the_data),
        cmocka_unit_test(test_scales_of_the_initial_velocity),
        cmocka_unit_test(test_reference_scenes),
        cmocka_unit_test(test_a_published_impulse_brings_the_box_to_rest),
        cmocka_unit_test(test_an_impact_in_contact_space),
        cmocka_unit_test(test_contact_space_gives_the_same_impact),
        cmocka_unit_test(test_a_large_impact_in_contact_space),
        cmocka_unit_test(test_energy_of_a_rank_deficient_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
