// SPDX-License-Identifier: Apache-2.0
// Walks in space: one contact against law `stronge`, planar impacts written as spatial ones, other tangents, and what holds for every walk.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "support.h"

enum { MOST = 64 };

static carom_walker *make_walker(const carom_impact *impact, carom_hypothesis hypothesis, double restitution, carom_weights weights) {
    const carom_walker_options options = {10000, (int)weights, {(int)hypothesis, {restitution, restitution}}, 0};
    carom_walker *walker;
    carom_error error;
    assert_ok(carom_walker_create(impact, &options, &walker, &error), error);
    return walker;
}

// --------------------------------------------------------------------------------------------------------- one contact

// One contact has no freedom: the outcome of law `stronge`, with both hypotheses.
static void one_contact_is_that_of_the_law_stronge(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 11, 0);
    int compared = 0;
    for (int k = 0; k < support_count(100, 500, 10000); k++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 1, 2, 1.5);
        const double e = k % 10 ? carom_stream_uniform(&stream) : (double)(k % 20 > 0);
        double u[3], v[MOST], impulse[3];
        carom_error error;
        carom_contact_problem problem;
        carom_contact_options options = carom_contact_defaults();
        carom_contact_result result;
        carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, u);
        carom_contact_extract(impact, 0, u, &problem);
        problem.restitution = e;
        options.hypothesis = k % 2 ? CAROM_RESTITUTION_POISSON : CAROM_RESTITUTION_STRONGE;
        // The law refuses contacts that have no motion along some direction.
        if (!carom_contact_solve(&problem, &options, &result, &error)) {
            carom_walker *walker = make_walker(impact, k % 2 ? CAROM_HYPOTHESIS_POISSON : CAROM_HYPOTHESIS_STRONGE, e, CAROM_WEIGHTS_MIXED);
            carom_sample_counts counts;
            carom_walker_run(walker, 1, 0, v, impulse, &counts);
            assert_true(counts.terminated);
            carom_impact_contact_velocity(impact, v, u);
            const double scale = carom_impact_velocity_scale(impact);
            double difference = fabs(u[0] - result.velocity.normal) / scale;
            for (int t = 0; t < 2; t++) difference = fmax(difference, fabs(u[1 + t] - result.velocity.tangent[t]) / scale);
            assert_close(difference, 0, 1e-8);
            compared++;
            carom_walker_free(walker);
        }
        carom_impact_free(impact);
    }
    assert_true(compared > support_count(20, 100, 2000));
}

// ------------------------------------------------------------------------------------------------- planar ones, in space

// Copies of a planar impact in space: the tangents in the rotated frame c t1 + s t2, -s t1 + c t2, and t2 without motion.
static carom_impact *raise(const carom_impact_data *planar, double c, double s) {
    double tangent[2 * MOST * 8] = {0};
    for (int i = 0; i < planar->contacts; i++)
        for (int k = 0; k < planar->nv; k++) {
            tangent[(2 * i) * planar->nv + k] = c * planar->tangent[i * planar->nv + k];
            tangent[(2 * i + 1) * planar->nv + k] = -s * planar->tangent[i * planar->nv + k];
        }
    carom_impact_data spatial = *planar;
    spatial.tangent_dim = 2;
    spatial.tangent = tangent;
    return support_impact(&spatial);
}

// Walk for walk the same, with and without restitution; also where the tangents do not lie in the plane.
static void planar_impacts_in_space_are_planar(void **state) {
    (void)state;
    const carom_impact_data *const scenes[] = {&reference_block, &reference_boxwall, &reference_compass};
    for (int k = 0; k < 12; k++) {
        carom_impact *planar = support_impact(scenes[k % 3]), *spatial = raise(scenes[k % 3], k < 6 ? 1 : 0.6, k < 6 ? 0 : 0.8);
        const carom_hypothesis hypothesis = k / 3 % 2 ? CAROM_HYPOTHESIS_STRONGE : CAROM_HYPOTHESIS_NONE;
        carom_walker *in_plane = make_walker(planar, hypothesis, 0.5, CAROM_WEIGHTS_MIXED);
        carom_walker *in_space = make_walker(spatial, hypothesis, 0.5, CAROM_WEIGHTS_MIXED);
        const int nv = scenes[k % 3]->nv, walks = support_count(50, 150, 4000);
        double least[2 * MOST], most[2 * MOST];
        int same = 0;
        for (int i = 0; i < 2 * nv; i++) {
            least[i] = INFINITY;
            most[i] = -INFINITY;
        }
        for (int i = 0; i < walks; i++) {
            double v[2 * MOST], impulse[MOST], difference = 0;
            carom_sample_counts counts;
            carom_walker_run(in_plane, 1, i, v, impulse, &counts);
            assert_true(counts.terminated);
            carom_walker_run(in_space, 1, i, v + nv, impulse, &counts);
            assert_true(counts.terminated);
            for (int c = 0; c < 2 * nv; c++) {
                least[c] = fmin(least[c], v[c]);
                most[c] = fmax(most[c], v[c]);
            }
            for (int c = 0; c < nv; c++) difference = fmax(difference, fabs(v[c] - v[nv + c]));
            same += difference < 1e-9;
        }
        // Rounding may decide otherwise whether a contact is held.
        assert_true(same > 0.7 * walks);
        for (int c = 0; c < nv; c++) {
            assert_close(least[nv + c], least[c], 0.05);
            assert_close(most[nv + c], most[c], 0.05);
        }
        carom_walker_free(in_plane);
        carom_walker_free(in_space);
        carom_impact_free(planar);
        carom_impact_free(spatial);
    }
}

// ------------------------------------------------------------------------------------------------------- several contacts

// Where cones are pointed, the impulses are bounded: ends, finite numbers, no energy from nowhere, impulses within the cones.
static void every_walk_in_space_is_a_solution(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 13, 0);
    int walks = 0, ended = 0;
    for (int k = 0; k < support_count(8, 16, 5000); k++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 4, 2, 1);
        const carom_impact_data *data = carom_impact_get_data(impact);
        carom_reach_bounds bounds;
        carom_error error;
        assert_ok(carom_reach_get_bounds(impact, 16, NAN, &bounds, &error), error);
        if (!bounds.pointed || bounds.r_norm > 1e3) {
            carom_impact_free(impact);
            continue;
        }
        carom_walker *walker = make_walker(impact, k % 3 ? CAROM_HYPOTHESIS_STRONGE : CAROM_HYPOTHESIS_NONE, carom_stream_uniform(&stream),
                                           k % 5 ? CAROM_WEIGHTS_MIXED : CAROM_WEIGHTS_CONSTANT);
        const double energy = carom_impact_initial_energy(impact);
        for (int i = 0; i < 10; i++) {
            double v[MOST], impulse[3 * MOST], u[3 * MOST];
            carom_sample_counts counts;
            carom_walker_run(walker, 1, i, v, impulse, &counts);
            walks++;
            if (!counts.terminated) continue;
            ended++;
            assert_true(carom_all_finite((size_t)data->nv, v));
            assert_true(carom_impact_kinetic_energy(impact, v) <= energy * (1 + 1e-12));
            assert_true(counts.max_energy_gain <= 1e-12 * energy);
            carom_impact_contact_velocity(impact, v, u);
            // Velocities within 1e-12 of the scale are zero, at the end of each piece.
            const double zero = 1e-12 * (double)(counts.steps + 10) * carom_impact_velocity_scale(impact);
            for (int c = 0; c < data->contacts; c++) assert_true(u[3 * c] >= -zero);
            for (int c = 0; c < data->contacts; c++)
                assert_true(hypot(impulse[3 * c + 1], impulse[3 * c + 2]) <= data->friction[c] * impulse[3 * c] * (1 + 1e-9) + 1e-12);
        }
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
    assert_true(walks > 0 && ended > 0.999 * walks);
}

// Other tangents at every contact: the same walks, up to the tolerance, where no rounding decides.
static void tangents_do_not_matter(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 17, 0);
    int walks = 0, same = 0;
    for (int k = 0; k < support_count(4, 8, 100); k++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 3, 2, 1);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const int nv = data->nv;
        double tangent[MOST * MOST];
        for (int i = 0; i < data->contacts; i++)
            for (int c = 0; c < nv; c++) {
                const double *row = data->tangent + 2 * i * nv + c;
                tangent[2 * i * nv + c] = 0.28 * row[0] + 0.96 * row[nv];
                tangent[(2 * i + 1) * nv + c] = -0.96 * row[0] + 0.28 * row[nv];
            }
        carom_impact_data turned = *data;
        turned.tangent = tangent;
        carom_impact *other = support_impact(&turned);
        carom_walker *first = make_walker(impact, CAROM_HYPOTHESIS_STRONGE, 0.5, CAROM_WEIGHTS_MIXED);
        carom_walker *second = make_walker(other, CAROM_HYPOTHESIS_STRONGE, 0.5, CAROM_WEIGHTS_MIXED);
        for (int i = 0; i < 10; i++) {
            double v[2][MOST], impulse[3 * MOST], difference = 0, size = carom_max_abs((size_t)nv, data->velocity);
            carom_sample_counts counts;
            carom_walker_run(first, 1, i, v[0], impulse, &counts);
            carom_walker_run(second, 1, i, v[1], impulse, &counts);
            for (int c = 0; c < nv; c++) difference = fmax(difference, fabs(v[0][c] - v[1][c]));
            walks++;
            same += difference <= 1e-5 * size;
        }
        carom_walker_free(first);
        carom_walker_free(second);
        carom_impact_free(impact);
        carom_impact_free(other);
    }
    assert_true(same >= 0.9 * walks);
}

// The sampler `auto` steps spatial contacts, and walks them where there is restitution.
static void sets_in_space_are_walked_where_asked(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 5, 0);
    carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 2, 2, 1);
    carom_registry *registry;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    carom_sample_options options = carom_sample_defaults();
    carom_sample_statistics statistics;
    options.samples = 64;
    assert_ok(carom_reach_sample(impact, &options, registry, NULL, NULL, &statistics, &error), error);
    assert_int_equal(statistics.walks, 0);
    options.rebound = (carom_rebound_options){CAROM_HYPOTHESIS_STRONGE, {0.5, 0.5}};
    assert_ok(carom_reach_sample(impact, &options, registry, NULL, NULL, &statistics, &error), error);
    assert_int_equal(statistics.walks, 64);
    options.tolerance = 1e-20;
    assert_refused(carom_reach_sample(impact, &options, registry, NULL, NULL, &statistics, &error), CAROM_BAD_INPUT, error,
                   "tolerance: 1e-20");
    carom_registry_free(registry);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_contact_is_that_of_the_law_stronge), cmocka_unit_test(planar_impacts_in_space_are_planar),
        cmocka_unit_test(every_walk_in_space_is_a_solution),      cmocka_unit_test(tangents_do_not_matter),
        cmocka_unit_test(sets_in_space_are_walked_where_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
