// SPDX-License-Identifier: Apache-2.0
// What must not matter to bounces: the order of contacts, left and right, masses and speeds, a third dimension, copies of a contact.
#include <math.h>

#include "bounce_support.h"
#include "carom/dense.h"

enum { CONTACTS = 4, COORDINATES = 9 };

// Two contacts that both matter: walks of the block spread over both corners, those of the box over floor and wall, at any slip.
static const carom_impact_data *const scenes[] = {&reference_block, &reference_boxwall, &reference_compass};
enum { SCENES = sizeof scenes / sizeof *scenes };

static const carom_hypothesis hypotheses[] = {CAROM_HYPOTHESIS_STRONGE, CAROM_HYPOTHESIS_POISSON};

// -------------------------------------------------------------------------------------------------------- statistics

// Of the velocities [nv] and the energy of walks.
typedef struct statistics {
    int walks, quantities;
    double sum[COORDINATES + 1], squares[COORDINATES + 1], least[COORDINATES + 1], most[COORDINATES + 1];
} statistics;

static statistics collect(const carom_impact *impact, carom_hypothesis hypothesis, double e, int walks) {
    const int nv = carom_impact_get_data(impact)->nv;
    statistics s = {.walks = walks, .quantities = nv + 1};
    for (int q = 0; q <= nv; q++) s.least[q] = INFINITY, s.most[q] = -INFINITY;
    carom_walker *walker = make_bouncer(impact, hypothesis, e, CAROM_WEIGHTS_MIXED, 10000);
    for (int i = 0; i < walks; i++) {
        const bounce b = run(walker, impact, i);
        assert_true(b.counts.terminated);
        for (int q = 0; q <= nv; q++) {
            const double value = q < nv ? b.v[q] : carom_impact_kinetic_energy(impact, b.v) / carom_impact_initial_energy(impact);
            s.sum[q] += value;
            s.squares[q] += value * value;
            s.least[q] = fmin(s.least[q], value);
            s.most[q] = fmax(s.most[q], value);
        }
    }
    carom_walker_free(walker);
    return s;
}

// Means within five times the error of their difference, and extents within `share` of their width.
static void assert_alike(const statistics *a, const statistics *b, double share) {
    for (int q = 0; q < a->quantities; q++) {
        const double mean = a->sum[q] / a->walks, other = b->sum[q] / b->walks;
        const double variance = a->squares[q] / a->walks - mean * mean + b->squares[q] / b->walks - other * other;
        const double error = sqrt(fmax(variance, 0) / a->walks), width = fmax(a->most[q] - a->least[q], 1e-9);
        assert_true(fabs(mean - other) <= 5 * error + 1e-9);
        assert_true(fabs(a->least[q] - b->least[q]) <= share * width && fabs(a->most[q] - b->most[q]) <= share * width);
    }
}

// ------------------------------------------------------------------------------------------------- exact symmetries

// An impact whose contact i is contact `from[i]` of a planar one, its slip times `sign`, its mass and its velocity times a factor.
static carom_impact *change(const carom_impact_data *data, int contacts, const int *from, double sign, double mass, double velocity) {
    double M[COORDINATES * COORDINATES], normal[CONTACTS * COORDINATES], tangent[CONTACTS * COORDINATES], mu[CONTACTS], v[COORDINATES];
    const int nv = data->nv;
    for (int k = 0; k < nv * nv; k++) M[k] = mass * data->mass[k];
    for (int k = 0; k < nv; k++) v[k] = velocity * data->velocity[k];
    for (int i = 0; i < contacts; i++) {
        mu[i] = data->friction[from[i]];
        for (int k = 0; k < nv; k++) {
            normal[i * nv + k] = data->normal[from[i] * nv + k];
            tangent[i * nv + k] = sign * data->tangent[from[i] * nv + k];
        }
    }
    carom_impact_data changed = *data;
    changed.contacts = contacts;
    changed.mass = M, changed.normal = normal, changed.tangent = tangent, changed.friction = mu, changed.velocity = v;
    return support_impact(&changed);
}

static const int in_order[] = {0, 1, 2, 3};

// Left and right: the same walks bit by bit, slips with the other sign.
static void left_and_right_are_alike(void **state) {
    (void)state;
    for (int k = 0; k < SCENES; k++)
        for (int h = 0; h < 2; h++) {
            carom_impact *impact = support_impact(scenes[k]), *mirrored = change(scenes[k], 2, in_order, -1, 1, 1);
            carom_walker *a = make_bouncer(impact, hypotheses[h], 0.6, CAROM_WEIGHTS_MIXED, 10000);
            carom_walker *b = make_bouncer(mirrored, hypotheses[h], 0.6, CAROM_WEIGHTS_MIXED, 10000);
            for (int i = 0; i < 500; i++) {
                const bounce of_a = run(a, impact, i), of_b = run(b, mirrored, i);
                assert_int_equal(of_a.counts.steps, of_b.counts.steps);
                for (int c = 0; c < scenes[k]->nv; c++) assert_true(of_a.v[c] == of_b.v[c]);
            }
            carom_walker_free(a);
            carom_walker_free(b);
            carom_impact_free(impact);
            carom_impact_free(mirrored);
        }
}

// Three times the mass, or three times the speed: the same walks. Rounding may decide another way whether two events coincide.
static void masses_and_speeds_scale(void **state) {
    (void)state;
    int same = 0, walks = 0;
    for (int k = 0; k < SCENES; k++)
        for (int h = 0; h < 2; h++)
            for (int which = 0; which < 2; which++) {
                const double factor = which ? 3 : 1;
                carom_impact *impact = support_impact(scenes[k]);
                carom_impact *scaled = change(scenes[k], 2, in_order, 1, which ? 1 : 3, factor);
                carom_walker *a = make_bouncer(impact, hypotheses[h], 0.6, CAROM_WEIGHTS_MIXED, 10000);
                carom_walker *b = make_bouncer(scaled, hypotheses[h], 0.6, CAROM_WEIGHTS_MIXED, 10000);
                const double speed = carom_impact_velocity_scale(impact);
                for (int i = 0; i < 500; i++) {
                    const bounce of_a = run(a, impact, i), of_b = run(b, scaled, i);
                    double difference = 0;
                    for (int c = 0; c < 4; c++) difference = fmax(difference, fabs(of_b.u[c] / factor - of_a.u[c]));
                    same += difference <= 1e-12 * speed;
                    walks++;
                }
                carom_walker_free(a);
                carom_walker_free(b);
                carom_impact_free(impact);
                carom_impact_free(scaled);
            }
    print_message("%d of %d walks are the same within 1e-12\n", same, walks);
    assert_true(same >= 0.95 * walks);
}

// ---------------------------------------------------------------------------------------- symmetries of the whole set

// Contacts that change places have other random numbers, and the same statistics.
static void contacts_may_change_places(void **state) {
    (void)state;
    for (int k = 0; k < SCENES; k++)
        for (int h = 0; h < 2; h++) {
            carom_impact *impact = support_impact(scenes[k]), *exchanged = change(scenes[k], 2, (const int[]){1, 0}, 1, 1, 1);
            const int walks = support_count(16384, 16384, 65536);
            const statistics a = collect(impact, hypotheses[h], 0.5, walks), b = collect(exchanged, hypotheses[h], 0.5, walks);
            assert_alike(&a, &b, 0.15);
            carom_impact_free(impact);
            carom_impact_free(exchanged);
        }
}

// A copy of a contact shares its impulse and changes the probabilities, but not the set.
static void copies_of_a_contact_change_nothing(void **state) {
    (void)state;
    for (int k = 0; k < SCENES; k++) {
        carom_impact *impact = support_impact(scenes[k]), *copied = change(scenes[k], 4, (const int[]){0, 1, 0, 1}, 1, 1, 1);
        const int walks = support_count(16384, 16384, 65536);
        const statistics a = collect(impact, CAROM_HYPOTHESIS_STRONGE, 0.5, walks);
        const statistics b = collect(copied, CAROM_HYPOTHESIS_STRONGE, 0.5, walks);
        for (int q = 0; q < a.quantities; q++) {
            const double width = fmax(a.most[q] - a.least[q], 1e-9);
            assert_true(fabs(a.least[q] - b.least[q]) <= 0.15 * width && fabs(a.most[q] - b.most[q]) <= 0.15 * width);
        }
        carom_impact_free(impact);
        carom_impact_free(copied);
    }
    // Three balls, one of whose two contacts stands there twice: the energies of the arc's ends hold to the last digits.
    const carom_impact_data balls = {.nv = 3,
                                     .contacts = 2,
                                     .tangent_dim = 1,
                                     .mass = (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 1},
                                     .normal = (const double[]){-1, 1, 0, 0, -1, 1},
                                     .tangent = (const double[6]){0},
                                     .friction = (const double[]){0, 0},
                                     .velocity = (const double[]){1, 0, 0}};
    carom_impact *copied = change(&balls, 3, (const int[]){0, 1, 1}, 1, 1, 1);
    const statistics half = collect(copied, CAROM_HYPOTHESIS_STRONGE, 0.5, 4096);
    const statistics elastic = collect(copied, CAROM_HYPOTHESIS_STRONGE, 1, 4096);
    assert_true(half.least[3] >= 0.41259765625 - 1e-12 && half.most[3] <= 0.5 + 1e-12);
    assert_close(half.least[3], 0.41259765625, 1e-3);
    assert_close(half.most[3], 0.5, 1e-3);
    assert_close(elastic.least[3], 1, 1e-12);
    assert_close(elastic.most[3], 1, 1e-12);
    assert_close(elastic.least[2], 2.0 / 3, 1e-3);
    carom_impact_free(copied);
}

// A planar impact as one in space, whose second tangents do not move: the same set, with Poisson's hypothesis as well.
static void a_third_dimension_changes_nothing(void **state) {
    (void)state;
    for (int h = 0; h < 2; h++) {
        const carom_impact_data *planar = &reference_block;
        double tangent[2 * CONTACTS * COORDINATES] = {0};
        for (int i = 0; i < planar->contacts; i++)
            for (int k = 0; k < planar->nv; k++) {
                tangent[2 * i * planar->nv + k] = 0.8 * planar->tangent[i * planar->nv + k];
                tangent[(2 * i + 1) * planar->nv + k] = -0.6 * planar->tangent[i * planar->nv + k];
            }
        carom_impact_data spatial = *planar;
        spatial.tangent_dim = 2;
        spatial.tangent = tangent;
        carom_impact *in_plane = support_impact(planar), *in_space = support_impact(&spatial);
        const int walks = support_count(500, 1000, 8192);
        const statistics a = collect(in_plane, hypotheses[h], 0.5, walks), b = collect(in_space, hypotheses[h], 0.5, walks);
        assert_alike(&a, &b, 0.15);
        carom_impact_free(in_plane);
        carom_impact_free(in_space);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(left_and_right_are_alike),          cmocka_unit_test(masses_and_speeds_scale),
        cmocka_unit_test(contacts_may_change_places),        cmocka_unit_test(copies_of_a_contact_change_nothing),
        cmocka_unit_test(a_third_dimension_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
