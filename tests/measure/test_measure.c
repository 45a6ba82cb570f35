// SPDX-License-Identifier: Apache-2.0
// Measured impacts: tests, floors and scores that are known, on impacts of a known law with known noise.
#include "measure_support.h"

static const truth single = {.count = 240, .contacts = 1, .mu = 0.2, .e = 0.3, .noise = 0.002, .inertia = {1.1e-3, 1e-3, 0.9e-3}};

static carom_measure_law ask_stronge(carom_stronge_options *options) {
    *options = carom_stronge_defaults();
    return (carom_measure_law){.law = &carom_law_stronge, .options = options, .friction = {NAN, NAN}, .restitution = {NAN, NAN}};
}

// Quantiles of chi-square distributions, from tables.
static void tails_of_chi_square_are_those_of_tables(void **state) {
    (void)state;
    const double table[][3] = {{1, 3.841458820694124, 0.05},  {2, 5.991464547107979, 0.05}, {3, 11.344866730144373, 0.01},
                               {6, 12.591587243743977, 0.05}, {9, 3.325112843066815, 0.95}, {12, 26.216967305535853, 0.01}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_close(carom_measure_chi_square_tail(table[i][1], (int)table[i][0]), table[i][2], 1e-12);
    assert_close(carom_measure_chi_square_tail(0, 3), 1, 0);
    assert_close(carom_measure_chi_square_tail(INFINITY, 3), 0, 0);
    assert_true(isnan(carom_measure_chi_square_tail(NAN, 3)));
}

// chi2 per degree of freedom is one for the law that made the impacts, and its 95 % regions hold 95 % of them; another one is rejected.
static void the_true_law_is_accepted_and_another_one_is_rejected(void **state) {
    (void)state;
    truth more = single;
    more.count = support_count(200, 1200, 4000);
    carom_measurements made = make_measurements(&more, 1);
    carom_error error = {0};
    double sum[2] = {0}, contained[2] = {0}, lever = 0;
    int freedom[2] = {0}, lever_freedom = 0;
    for (int wrong = 0; wrong < 2; wrong++) {
        carom_stronge_options options;
        carom_measure_law law = ask_stronge(&options);
        if (wrong) law.restitution = (carom_interval){0.33, 0.33};
        for (int i = 0; i < made.count; i++) {
            carom_measure_set set;
            carom_measure_score score;
            carom_measure_chi_square chi;
            assert_ok(carom_measure_ask(&law, &made.list[i], i, NULL, NULL, &set, &error), error);
            assert_int_equal(set.count, 1);
            assert_ok(carom_measure_score_set(&made.list[i], set.members, set.count, true, &score, &error), error);
            // The score of a point is its error.
            assert_close(score.energy, score.error, 1e-14);
            assert_ok(carom_measure_find_chi_square(&law, &made.list[i], &set, &score, &chi, &error), error);
            assert_int_equal(chi.freedom, NV);
            sum[wrong] += chi.value;
            freedom[wrong] += chi.freedom;
            contained[wrong] += chi.tail >= 0.05;
            carom_measure_set_free(&set);
            double value;
            int degrees;
            assert_ok(carom_measure_lever(&made.list[i], &value, &degrees, &error), error);
            assert_int_equal(degrees, 3);
            if (wrong) continue;
            lever += value;
            lever_freedom += degrees;
        }
    }
    // Means of 6 and 3 degrees of freedom each: standard deviations sqrt(2/6/n) and sqrt(2/3/n); the share has sqrt(0.05*0.95/n).
    const double n = made.count;
    assert_true(fabs(sum[0] / freedom[0] - 1) < 4 * sqrt(2 / 6.0 / n));
    assert_true(fabs(sum[0] / freedom[0] - 1) < 0.1);
    assert_true(fabs(lever / lever_freedom - 1) < 4 * sqrt(2 / 3.0 / n));
    assert_true(fabs(contained[0] / n - 0.95) < 4 * sqrt(0.05 * 0.95 / n));
    assert_true(sum[1] / freedom[1] > 3);
    assert_true(contained[1] / n < 0.6);
    carom_measurements_free(&made);
}

// An impulse that acts elsewhere fails the lever test.
static void the_lever_test_finds_a_wrong_contact(void **state) {
    (void)state;
    truth moved = single;
    moved.count = 30;
    moved.com[0] = 0.004;
    carom_measurements made = make_measurements(&moved, 2);
    carom_error error = {0};
    double sum = 0;
    for (int i = 0; i < made.count; i++) {
        // The same impact, as if the centre of mass were the reference point.
        carom_impact_data data = *carom_impact_get_data(made.list[i].impact);
        double M[36];
        memcpy(M, data.mass, sizeof M);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) M[(3 + a) * NV + b] = M[a * NV + 3 + b] = 0;
        data.mass = M;
        carom_impact *believed = support_impact(&data);
        carom_measurement one = made.list[i];
        one.impact = believed;
        double chi2;
        int freedom;
        assert_ok(carom_measure_lever(&one, &chi2, &freedom, &error), error);
        sum += chi2 / freedom;
        carom_impact_free(believed);
    }
    assert_true(sum / made.count > 10);
    carom_measurements_free(&made);
}

// Without noise the floor is zero, within the cones too, and its impulse has the friction and the restitution of the law.
static void the_floor_of_an_exact_impact_is_zero(void **state) {
    (void)state;
    for (int contacts = 1; contacts <= 2; contacts++) {
        truth exact = single;
        exact.noise = 0;
        exact.contacts = contacts;
        exact.count = 40;
        carom_measurements made = make_measurements(&exact, 3);
        carom_error error = {0};
        int sliding = 0;
        for (int i = 0; i < made.count; i++) {
            carom_measure_floor floor, narrow;
            assert_ok(carom_measure_find_floor(&made.list[i], NAN, 64, &floor, &error), error);
            assert_close(floor.any, 0, 1e-12);
            // The round cone reaches beyond that with 64 edges by 1 - cos(pi/64).
            assert_true(floor.cone < 1.3e-3);
            assert_ok(carom_measure_find_floor(&made.list[i], 0.02, 32, &narrow, &error), error);
            assert_true(narrow.cone >= floor.cone - 1e-12);
            assert_true(isnan(floor.friction) == (contacts == 2));
            if (contacts == 2) continue;
            assert_true(floor.friction <= 0.2 + 1e-9);
            sliding += floor.friction > 0.15;
        }
        // Slip that turns costs some of it.
        assert_true(contacts == 2 || sliding > 3);
        carom_measurements_free(&made);
    }
}

// Every point of a null set obeys its definition: energy, normal velocities, friction cones, also where contacts are redundant.
static void points_of_the_null_set_obey_its_definition(void **state) {
    (void)state;
    enum { POINTS = 60 };
    carom_stream stream;
    carom_stream_start(&stream, 11, 0);
    carom_error error = {0};
    int sets = 0;
    for (int trial = 0; trial < support_count(20, 60, 400); trial++) {
        carom_impact *impact = support_random_impact(&stream, trial % 3 ? FAMILY_PLAIN : FAMILY_DUPLICATED, 4, 1 + trial % 2, 0.8);
        const carom_impact_data *data = carom_impact_get_data(impact);
        double *points = malloc((size_t)(POINTS * data->nv) * sizeof *points), fastest = 0;
        assert_non_null(points);
        for (int i = 0; i < data->contacts; i++) {
            double speed = 0;
            for (int k = 0; k < data->nv; k++) speed += data->normal[i * data->nv + k] * data->velocity[k];
            fastest = fmax(fastest, -speed);
        }
        carom_measurement one = {.impact = impact, .after = data->velocity};
        int64_t found;
        assert_ok(carom_measure_null_set(&one, NAN, 16, 5, POINTS, points, &found, &error), error);
        assert_true(found == 0 || found == POINTS);
        sets += found > 0;
        for (int64_t i = 0; i < found; i++) {
            const double *v = points + i * data->nv;
            assert_true(carom_impact_kinetic_energy(impact, v) <= (1 + 1e-9) * carom_impact_initial_energy(impact));
            for (int c = 0; c < data->contacts; c++) {
                double speed = 0;
                for (int k = 0; k < data->nv; k++) speed += data->normal[c * data->nv + k] * v[k];
                assert_true(speed >= -1e-6 * fastest && speed <= (0.5 + 1e-6) * fastest);
            }
            carom_measure_floor floor;
            one.after = v;
            assert_ok(carom_measure_find_floor(&one, NAN, 16, &floor, &error), error);
            assert_true(floor.cone < 1e-6);
        }
        free(points);
        carom_impact_free(impact);
    }
    assert_true(sets > 5);
}

// A ball without friction: the null set is the segment of rebounds from 0 to half of the approach, and its points are uniform on it.
static void the_null_set_of_a_frictionless_ball_is_uniform(void **state) {
    (void)state;
    enum { POINTS = 20000 };
    const double M[] = {2, 0, 0, 2}, Jn[] = {0, 1}, Jt[] = {1, 0}, v[] = {0.3, -1}, mu[] = {0};
    const carom_impact_data data = {
        .nv = 2, .contacts = 1, .tangent_dim = 1, .mass = M, .normal = Jn, .tangent = Jt, .friction = mu, .velocity = v};
    carom_impact *impact = support_impact(&data);
    const carom_measurement one = {.impact = impact, .after = v};
    double *points = malloc(2 * POINTS * sizeof *points);
    int64_t found;
    carom_error error = {0};
    assert_ok(carom_measure_null_set(&one, NAN, 4, 1, POINTS, points, &found, &error), error);
    assert_int_equal(found, POINTS);
    double sum = 0, square = 0;
    for (int i = 0; i < POINTS; i++) {
        assert_close(points[2 * i], 0.3, 1e-12);
        sum += points[2 * i + 1];
        square += points[2 * i + 1] * points[2 * i + 1];
    }
    assert_true(fabs(sum / POINTS - 0.25) < 4 * 0.5 / sqrt(12.0 * POINTS));
    assert_true(fabs(square / POINTS - 0.25 / 3) < 4 * 0.1 / sqrt(POINTS));
    free(points);
    carom_impact_free(impact);
}

// In the plane with friction it is two-dimensional: shares of its points are those of areas, here by rejection from a box.
static void the_null_set_of_a_sliding_block_has_the_shares_of_areas(void **state) {
    (void)state;
    enum { POINTS = 20000 };
    const double M[] = {1, 0, 0, 1}, Jn[] = {0, 1}, Jt[] = {1, 0}, v[] = {1, -1}, mu[] = {0.6};
    const carom_impact_data data = {
        .nv = 2, .contacts = 1, .tangent_dim = 1, .mass = M, .normal = Jn, .tangent = Jt, .friction = mu, .velocity = v};
    carom_impact *impact = support_impact(&data);
    const carom_measurement one = {.impact = impact, .after = v};
    double *points = malloc(2 * POINTS * sizeof *points), expected = 0, inside = 0, share = 0;
    int64_t found;
    carom_error error = {0};
    assert_ok(carom_measure_null_set(&one, NAN, 4, 1, POINTS, points, &found, &error), error);
    assert_int_equal(found, POINTS);
    for (int i = 0; i < POINTS; i++) share += points[2 * i] > 1 && points[2 * i + 1] < 0.25;
    // The set: normal impulse p in [1, 1.5], tangential impulse within 0.6 p, energy at most that before.
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    for (int i = 0; i < 200000; i++) {
        const double p = 1 + 0.5 * carom_stream_uniform(&stream), q = -0.9 + 1.8 * carom_stream_uniform(&stream);
        const double vx = 1 + q, vy = p - 1;
        if (fabs(q) > 0.6 * p || vx * vx + vy * vy > 2) continue;
        inside++;
        expected += vx > 1 && vy < 0.25;
    }
    assert_true(fabs(share / POINTS - expected / inside) < 0.02);
    free(points);
    carom_impact_free(impact);
}

// Nearest member, radius and energy score of three points, by their definition.
static void scores_are_those_of_the_definition(void **state) {
    (void)state;
    const double M[] = {4, 0, 0, 1}, Jn[] = {0, 1}, Jt[] = {1, 0}, v[] = {0, -2}, after[] = {0, 1};
    const double members[] = {1, 1, 0, 2, -1, 1};
    const carom_impact_data data = {.nv = 2, .contacts = 1, .tangent_dim = 1, .mass = M, .normal = Jn, .tangent = Jt, .velocity = v};
    carom_impact *impact = support_impact(&data);
    const carom_measurement one = {.impact = impact, .after = after};
    carom_measure_score score;
    carom_error error = {0};
    assert_ok(carom_measure_score_set(&one, members, 3, true, &score, &error), error);
    // |v-|_M = 2; distances to y are 2, 1, 2; between the members sqrt(5), 4, sqrt(5); the mean is (0, 4/3).
    assert_int_equal(score.nearest, 1);
    assert_close(score.error, 0.5, 1e-14);
    assert_close(score.radius, sqrt(4 + 1.0 / 9) / 2, 1e-14);
    assert_close(score.energy, (5.0 / 3 - 0.5 * (2 * sqrt(5) + 4) / 3) / 2, 1e-14);
    // Members that are all there is make nine pairs, of which three are of one and the same.
    assert_ok(carom_measure_score_set(&one, members, 3, false, &score, &error), error);
    assert_close(score.energy, (5.0 / 3 - 0.5 * 2 * (2 * sqrt(5) + 4) / 9) / 2, 1e-14);
    assert_ok(carom_measure_score_set(&one, members, 0, true, &score, &error), error);
    assert_true(isnan(score.error) && score.nearest == -1);
    carom_impact_free(impact);
}

// A union comes sorted by friction. The score of a set that is too large for all of its pairs is that of a smaller one: its members are
// uniform on a segment of length 8 in the order of their blocks, so that E|x - y| = 2 and E|x - x'| = 8/3 for y in the middle.
static void scores_do_not_depend_on_the_order_of_members(void **state) {
    (void)state;
    const double M[] = {1, 0, 0, 1}, Jn[] = {0, 1}, Jt[] = {1, 0}, v[] = {0, -1}, after[] = {4, 0};
    const carom_impact_data data = {.nv = 2, .contacts = 1, .tangent_dim = 1, .mass = M, .normal = Jn, .tangent = Jt, .velocity = v};
    carom_impact *impact = support_impact(&data);
    const carom_measurement one = {.impact = impact, .after = after};
    enum { MEMBERS = 8000, BLOCKS = 8 };
    static double members[2 * MEMBERS];
    for (int count = 2000; count <= MEMBERS; count *= 2) {
        carom_stream stream;
        carom_stream_start(&stream, 3, (uint64_t)count);
        for (int i = 0; i < count; i++) {
            members[2 * i] = i / (count / BLOCKS) + carom_stream_uniform(&stream);
            members[2 * i + 1] = 0;
        }
        carom_measure_score score;
        carom_error error = {0};
        assert_ok(carom_measure_score_set(&one, members, count, true, &score, &error), error);
        // Five deviations of a mean over pairs of 2000 members: half of twice the deviation of E_x'|x - x'|, 8/sqrt(180), over sqrt(2000).
        assert_close(score.energy, 2 - 0.5 * 8 / 3, 5 * 8 / sqrt(180) / sqrt(2000));
    }
    carom_impact_free(impact);
}

// The score is proper: samples of the distribution that the outcomes are from have the least mean score.
static void the_energy_score_prefers_the_true_distribution(void **state) {
    (void)state;
    const double M[] = {1, 0, 0, 1}, Jn[] = {0, 1}, Jt[] = {1, 0}, v[] = {0, -1};
    const carom_impact_data data = {.nv = 2, .contacts = 1, .tangent_dim = 1, .mass = M, .normal = Jn, .tangent = Jt, .velocity = v};
    carom_impact *impact = support_impact(&data);
    carom_error error = {0};
    carom_stream stream;
    carom_stream_start(&stream, 8, 0);
    enum { OUTCOMES = 300, MEMBERS = 60, WIDTHS = 3 };
    const double width[WIDTHS] = {0.1, 0.2, 0.4};
    double total[WIDTHS] = {0};
    for (int i = 0; i < OUTCOMES; i++) {
        const double after[2] = {0.2 * carom_stream_normal(&stream), 0.2 * carom_stream_normal(&stream)};
        const carom_measurement one = {.impact = impact, .after = after};
        for (int w = 0; w < WIDTHS; w++) {
            double members[2 * MEMBERS];
            for (int k = 0; k < 2 * MEMBERS; k++) members[k] = width[w] * carom_stream_normal(&stream);
            carom_measure_score score;
            assert_ok(carom_measure_score_set(&one, members, MEMBERS, true, &score, &error), error);
            total[w] += score.energy;
        }
    }
    assert_true(total[1] < total[0] && total[1] < total[2]);
    carom_impact_free(impact);
}

// chi2 of a set is that of its nearest member along its walk: small where the outcome is a walk of the law with a little noise.
static void walks_are_followed(void **state) {
    (void)state;
    truth two = single;
    two.contacts = 2;
    two.count = 12;
    two.noise = 1e-4;
    carom_measurements made = make_measurements(&two, 4);
    carom_error error = {0};
    carom_halm_posa_options options = carom_halm_posa_defaults();
    options.sampler = CAROM_SAMPLER_WALK;
    options.samples = 40;
    const carom_measure_law law = {
        .law = &carom_law_halm_posa, .options = &options, .friction = {NAN, NAN}, .restitution = {NAN, NAN}, .seed = 3};
    double sum = 0;
    int freedom = 0;
    for (int i = 0; i < made.count; i++) {
        carom_measure_set set;
        carom_measure_score score;
        carom_measure_chi_square chi;
        carom_measurement one = made.list[i];
        assert_ok(carom_measure_ask(&law, &one, i, NULL, NULL, &set, &error), error);
        assert_true(set.count > 0);
        // The outcome: the first walk, with the noise of v+ and v- as far as it reaches it.
        double after[NV];
        carom_stream stream;
        carom_stream_start(&stream, 5, (uint64_t)i);
        double noisy[NV];
        const carom_impact_data *data = carom_impact_get_data(one.impact);
        for (int k = 0; k < NV; k++) noisy[k] = data->velocity[k] + sqrt(one.covariance[k * BOTH + k]) * carom_stream_normal(&stream);
        carom_measure_set moved;
        assert_ok(carom_measure_ask(&law, &one, i, noisy, NULL, &moved, &error), error);
        for (int k = 0; k < NV; k++) after[k] = moved.members[k];
        // v- has this noise, v+ none of its own.
        double S[BOTH * BOTH] = {0};
        for (int k = 0; k < NV; k++) {
            S[k * BOTH + k] = one.covariance[k * BOTH + k];
            S[(NV + k) * BOTH + NV + k] = 1e-2 * one.covariance[k * BOTH + k];
            after[k] += 0.1 * sqrt(one.covariance[k * BOTH + k]) * carom_stream_normal(&stream);
        }
        one.after = after;
        one.covariance = S;
        assert_ok(carom_measure_score_set(&one, set.members, set.count, true, &score, &error), error);
        assert_ok(carom_measure_find_chi_square(&law, &one, &set, &score, &chi, &error), error);
        assert_true(chi.freedom == NV);
        sum += chi.value;
        freedom += chi.freedom;
        carom_measure_set_free(&set);
        carom_measure_set_free(&moved);
    }
    assert_true(sum / freedom > 0.4 && sum / freedom < 1.7);
    carom_measurements_free(&made);
}

// An interval of friction is the union of the sets over it.
static void an_interval_of_friction_is_a_union(void **state) {
    (void)state;
    truth few = single;
    few.count = 1;
    carom_measurements made = make_measurements(&few, 6);
    carom_error error = {0};
    carom_stronge_options options;
    carom_measure_law law = ask_stronge(&options);
    law.friction = (carom_interval){0.1, 0.3};
    carom_measure_set set, one;
    assert_ok(carom_measure_ask(&law, &made.list[0], 0, NULL, NULL, &set, &error), error);
    assert_int_equal(set.count, CAROM_MEASURE_FRICTIONS);
    law.friction.least = law.friction.most;
    assert_ok(carom_measure_ask(&law, &made.list[0], 0, NULL, NULL, &one, &error), error);
    assert_all_close(set.members + (set.count - 1) * NV, one.members, NV, 0);
    assert_close(set.origins[0].friction, 0.1, 0);
    // Each value has random numbers of its own.
    for (int i = 0; i < CAROM_MEASURE_FRICTIONS; i++)
        for (int k = 0; k < i; k++) assert_true(set.origins[i].seed != set.origins[k].seed);
    carom_measure_set_free(&set);
    carom_measure_set_free(&one);
    carom_measurements_free(&made);
}

// Rows do not depend on the number of threads.
static void assessments_do_not_depend_on_threads(void **state) {
    (void)state;
    truth few = single;
    few.count = 24;
    carom_measurements made = make_measurements(&few, 7);
    carom_error error = {0};
    carom_stronge_options options;
    const carom_measure_law law = ask_stronge(&options);
    int part[24] = {0};
    const double friction = NAN;
    const carom_measure_request request = {
        .measurements = &made, .law_count = 1, .laws = &law, .part = part, .friction = &friction, .edges = 16, .null_members = 50};
    const carom_sizes sizes = {.nv = NV};
    carom_table *impacts[2], *rows[2];
    for (int i = 0; i < 2; i++) {
        const carom_control control = {.threads = i ? 3 : 1};
        assert_ok(carom_table_create(carom_measure_impact_columns, CAROM_MEASURE_IMPACT_COLUMNS, NULL, 0, &sizes, &impacts[i], &error),
                  error);
        assert_ok(carom_table_create(carom_measure_law_columns, CAROM_MEASURE_LAW_COLUMNS, NULL, 0, &sizes, &rows[i], &error), error);
        assert_ok(carom_measure_assess(&request, &control, impacts[i], &rows[i], &error), error);
        assert_int_equal(carom_table_rows(impacts[i]), 24);
    }
    const int reals[] = {CAROM_MEASURE_LEVER_CHI2, CAROM_MEASURE_FLOOR, CAROM_MEASURE_FLOOR_CONE, CAROM_MEASURE_NULL_ERROR,
                         CAROM_MEASURE_NULL_SCORE};
    for (size_t k = 0; k < sizeof reals / sizeof *reals; k++)
        assert_memory_equal(carom_table_real_column(impacts[0], reals[k]), carom_table_real_column(impacts[1], reals[k]),
                            24 * sizeof(double));
    assert_memory_equal(carom_table_real_column(rows[0], CAROM_MEASURE_CHI2), carom_table_real_column(rows[1], CAROM_MEASURE_CHI2),
                        24 * sizeof(double));
    for (int i = 0; i < 2; i++) {
        carom_table_free(impacts[i]);
        carom_table_free(rows[i]);
    }
    carom_measurements_free(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_of_chi_square_are_those_of_tables),
        cmocka_unit_test(the_true_law_is_accepted_and_another_one_is_rejected),
        cmocka_unit_test(the_lever_test_finds_a_wrong_contact),
        cmocka_unit_test(the_floor_of_an_exact_impact_is_zero),
        cmocka_unit_test(points_of_the_null_set_obey_its_definition),
        cmocka_unit_test(the_null_set_of_a_frictionless_ball_is_uniform),
        cmocka_unit_test(the_null_set_of_a_sliding_block_has_the_shares_of_areas),
        cmocka_unit_test(scores_are_those_of_the_definition),
        cmocka_unit_test(scores_do_not_depend_on_the_order_of_members),
        cmocka_unit_test(the_energy_score_prefers_the_true_distribution),
        cmocka_unit_test(walks_are_followed),
        cmocka_unit_test(an_interval_of_friction_is_a_union),
        cmocka_unit_test(assessments_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
