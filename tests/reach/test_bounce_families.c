// SPDX-License-Identifier: Apache-2.0
// Random families of bounces: single contacts in space against law `stronge`, and the energy, the end and the numbers of walks with several
// contacts, in the plane and in space.
#include <math.h>

#include "bounce_support.h"
#include "carom/dense.h"

// --------------------------------------------------------------------------------------------------------- one contact

// The walk and the law, both hypotheses in turn; 10,000 contacts in long tests.
static void single_contacts_in_space_are_those_of_the_law_stronge(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 11, 0);
    int compared = 0, within = 0;
    for (int tries = 0; compared < support_count(60, 300, 10000); tries++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 1, 2, 1.5);
        const double e = tries % 10 ? carom_stream_uniform(&stream) : (double)(tries % 20 > 0);
        const carom_hypothesis hypothesis = tries % 2 ? CAROM_HYPOTHESIS_POISSON : CAROM_HYPOTHESIS_STRONGE;
        carom_error error;
        carom_contact_problem problem;
        carom_contact_options options = carom_contact_defaults();
        carom_contact_result result;
        double u[3];
        carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, u);
        carom_contact_extract(impact, 0, u, &problem);
        problem.restitution = e;
        options.hypothesis = tries % 2 ? CAROM_RESTITUTION_POISSON : CAROM_RESTITUTION_STRONGE;
        // The law refuses contacts that have no motion along some direction.
        if (u[0] < 0 && !carom_contact_solve(&problem, &options, &result, &error)) {
            carom_walker *walker = make_bouncer(impact, hypothesis, e, CAROM_WEIGHTS_MIXED, 10000);
            const bounce b = run(walker, impact, 0);
            const double scale = carom_impact_velocity_scale(impact);
            double difference = fabs(b.u[0] - result.velocity.normal);
            for (int t = 0; t < 2; t++) difference = fmax(difference, fabs(b.u[1 + t] - result.velocity.tangent[t]));
            assert_true(b.counts.terminated);
            // Steps keep to the tolerance of 1e-8, which a few contacts magnify.
            assert_true(difference <= 2e-7 * scale);
            within += difference <= 1e-8 * scale;
            compared++;
            carom_walker_free(walker);
        }
        carom_impact_free(impact);
    }
    print_message("%d of %d single contacts within 1e-8\n", within, compared);
    assert_true(within >= 0.99 * compared);
}

// ----------------------------------------------------------------------------------------------------- several contacts

// Walks of one way to share the impulse: how many, and how many had not ended after 1000 pieces.
typedef struct tally {
    int64_t walks, unfinished;
} tally;

// Random impacts of all families with up to four contacts, ten energetic walks of each kind of weights in turn.
static void count_walks(int tangent_dim, int impacts, double tolerance, tally pointed[3], tally *rest) {
    carom_stream stream;
    carom_stream_start(&stream, 77, 0);
    int64_t above = 0;
    double most = -1;
    for (int k = 0; k < impacts; k++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(k % FAMILIES), 4, tangent_dim, 1.5);
        const size_t n = (size_t)carom_impact_contact_size(impact);
        const double energy = carom_impact_initial_energy(impact), e = k % 7 ? carom_stream_uniform(&stream) : 1;
        const double speed = carom_impact_velocity_scale(impact), mobility = carom_max_abs(n * n, carom_impact_delassus(impact));
        carom_reach_bounds bounds;
        carom_error error;
        assert_ok(carom_reach_get_bounds(impact, tangent_dim == 1 ? 2 : 8, 1, &bounds, &error), error);
        carom_walker *walker = make_bouncer(impact, CAROM_HYPOTHESIS_STRONGE, e, (carom_weights)(k % 3), 1000);
        tally *counted = bounds.pointed ? &pointed[k % 3] : rest;
        for (int i = 0; i < 10 && energy > 0; i++) {
            const bounce b = run(walker, impact, i);
            counted->walks++;
            counted->unfinished += !b.counts.terminated;
            if (!b.counts.terminated) continue;
            assert_true(carom_all_finite((size_t)carom_impact_get_data(impact)->nv, b.v));
            // Rates within 1e-12 of the impulses that they are made of count as zero, which large ones that nearly cancel magnify.
            const double gain = carom_impact_kinetic_energy(impact, b.v) / energy - 1, impulse = carom_max_abs(n, b.impulse);
            above += gain > 1e-12;
            most = fmax(most, gain);
            assert_true(gain <= (impulse > 0 ? 1e-12 * (1 + impulse * mobility / speed) : 1e-12));
            assert_true(b.counts.max_energy_gain <= tolerance * energy);
        }
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
    print_message("the most energy that a walk gains is %.3g of that before; %lld gain more than 1e-12\n", most, (long long)above);
    for (int w = 0; w < 3; w++)
        print_message("%s: %lld of %lld walks do not end in 1000 pieces where cones are pointed\n", carom_weights_names[w],
                      (long long)pointed[w].unfinished, (long long)pointed[w].walks);
    print_message("%lld of %lld where they are not\n", (long long)rest->unfinished, (long long)rest->walks);
}

// A million walks in long tests. Where cones are pointed, mixed weights always come to an end; one contact at a time, or one proportion,
// may converge to a state in which others would have to act.
static void planar_walks_gain_no_energy(void **state) {
    (void)state;
    tally pointed[3] = {{0}}, rest = {0};
    count_walks(1, support_count(300, 800, 102000), 1e-12, pointed, &rest);
    assert_int_equal(pointed[CAROM_WEIGHTS_MIXED].unfinished, 0);
    assert_true((double)pointed[CAROM_WEIGHTS_CONSTANT].unfinished <= 0.01 * (double)pointed[CAROM_WEIGHTS_CONSTANT].walks);
    assert_true((double)pointed[CAROM_WEIGHTS_SINGLE].unfinished <= 0.1 * (double)pointed[CAROM_WEIGHTS_SINGLE].walks);
}

// In space a piece may gain as much as the tolerance.
static void walks_in_space_gain_no_energy(void **state) {
    (void)state;
    tally pointed[3] = {{0}}, rest = {0};
    count_walks(2, support_count(15, 30, 3000), 1e-8, pointed, &rest);
    assert_true((double)pointed[CAROM_WEIGHTS_MIXED].unfinished <= 1e-3 * (double)pointed[CAROM_WEIGHTS_MIXED].walks);
}

// Poisson's hypothesis with several contacts in space: walks end, nothing approaches, impulses keep to the cones. Energy may grow.
static void poissons_walks_in_space_end(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 79, 0);
    int64_t walks = 0, ended = 0;
    for (int k = 0; k < support_count(60, 60, 600); k++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(k % FAMILIES), 4, 2, 1.5);
        const carom_impact_data *data = carom_impact_get_data(impact);
        carom_walker *walker = make_bouncer(impact, CAROM_HYPOTHESIS_POISSON, carom_stream_uniform(&stream), CAROM_WEIGHTS_MIXED, 10000);
        for (int i = 0; i < 10; i++) {
            const bounce b = run(walker, impact, i);
            walks++;
            if (!b.counts.terminated) continue;
            ended++;
            const double speed = fmax(carom_impact_velocity_scale(impact), carom_max_abs(3 * (size_t)data->contacts, b.u));
            for (int c = 0; c < data->contacts; c++) {
                const double *impulse = b.impulse + 3 * c;
                assert_true(b.u[3 * c] >= -1e-6 * speed);
                assert_true(hypot(impulse[1], impulse[2]) <= data->friction[c] * impulse[0] * (1 + 1e-9) + 1e-12);
            }
        }
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
    print_message("%lld of %lld walks end\n", (long long)ended, (long long)walks);
    assert_true((double)ended >= 0.9 * (double)walks);
}

// A ball on a ball on the floor, whose contacts have two tangents without motion: the exact set of the planar one, and its gain of energy.
static void poissons_balls_in_space_are_the_planar_ones(void **state) {
    (void)state;
    const carom_impact_data stack = {.nv = 2,
                                     .contacts = 2,
                                     .tangent_dim = 2,
                                     .mass = (const double[]){1, 0, 0, 1},
                                     .normal = (const double[]){1, -1, 0, 1},
                                     .tangent = (const double[8]){0},
                                     .friction = (const double[]){0.5, 0},
                                     .velocity = (const double[]){-1, 0}};
    carom_impact *impact = support_impact(&stack);
    carom_walker *walker = make_bouncer(impact, CAROM_HYPOTHESIS_POISSON, 1, CAROM_WEIGHTS_MIXED, 10000);
    double most[2] = {0}, energy = 0;
    for (int i = 0; i < support_count(2000, 8192, 65536); i++) {
        const bounce b = run(walker, impact, i);
        assert_true(b.counts.terminated);
        for (int c = 0; c < 2; c++) most[c] = fmax(most[c], b.u[3 * c]);
        energy = fmax(energy, carom_impact_kinetic_energy(impact, b.v) / carom_impact_initial_energy(impact));
    }
    assert_true(most[0] <= 2 + 1e-8 && most[1] <= 1.5 + 1e-8 && energy <= 5 + 1e-7);
    assert_close(most[0], 2, 0.05);
    assert_close(most[1], 1.5, 0.05);
    assert_close(energy, 5, 0.05);
    carom_walker_free(walker);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_contacts_in_space_are_those_of_the_law_stronge),
        cmocka_unit_test(planar_walks_gain_no_energy),
        cmocka_unit_test(walks_in_space_gain_no_energy),
        cmocka_unit_test(poissons_walks_in_space_end),
        cmocka_unit_test(poissons_balls_in_space_are_the_planar_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
