// SPDX-License-Identifier: Apache-2.0
// Impacts with numbers that are not known: values at the points of the unit cube, impacts, columns, and what is refused.
#include "carom/uncertain.h"

#include "impact_support.h"

static carom_uncertainty *make(const carom_impact *impact, const carom_uncertainty_data *data) {
    carom_uncertainty *made;
    carom_error error;
    assert_ok(carom_uncertainty_create(impact, data, &made, &error), error);
    return made;
}

// Boxes and intervals are linear in their number, normal ones have the quantiles of the cut distribution.
static void values_of_numbers_one_by_one(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    const double *known = carom_impact_get_data(impact)->velocity;
    const double box[] = {0.05, 0, 0.01};
    const carom_spread friction[] = {{.kind = CAROM_SPREAD_UNIFORM, .range = {0.5, 0.9}}, {.kind = CAROM_SPREAD_NORMAL, .deviation = 0.1}};
    const carom_spread restitution[] = {{.kind = CAROM_SPREAD_NONE}, {.kind = CAROM_SPREAD_NORMAL, .deviation = 0.5}};
    carom_uncertainty *u = make(
        impact,
        &(carom_uncertainty_data){
            .velocity_spread = CAROM_VELOCITY_BOX, .velocity = box, .friction = friction, .restitution = restitution, .mass = {0.9, 1.1}});
    static const char *const names[] = {"v0.1", "v0.3", "mu.A", "mu.B", "restitution.B", "mass"};
    assert_int_equal(carom_uncertainty_count(u), 6);
    assert_int_equal(carom_uncertainty_dimension(u), 6);
    for (int i = 0; i < 6; i++) assert_string_equal(carom_uncertainty_parameters(u)[i].name, names[i]);
    assert_false(carom_uncertainty_keeps_contacts(u));

    const double low[6] = {0}, high[6] = {1, 1, 1, 1, 1, 1}, middle[6] = {.5, .5, .25, .5, .5, .75};
    double values[6];
    carom_uncertainty_values(u, low, values);
    assert_all_close(values, ((double[]){known[0] - .05, known[2] - .01, .5, 1 - .3, 0, .9}), 6, 1e-13);
    carom_uncertainty_values(u, high, values);
    assert_all_close(values, ((double[]){known[0] + .05, known[2] + .01, .9, 1 + .3, 1, 1.1}), 6, 1e-13);
    // Restitution 0 has the upper half of a normal distribution, cut at two deviations: Phi(x) = 1/2 + (Phi(2) - 1/2)/2.
    carom_uncertainty_values(u, middle, values);
    assert_all_close(values, ((double[]){known[0], known[2], .6, 1, .5 * 0.639111910871, 1.05}), 6, 1e-9);
    carom_uncertainty_free(u);
    carom_impact_free(impact);
}

// The distribution of many draws: mean and deviation of a normal number that is cut at three deviations.
static void draws_have_the_distribution(void **state) {
    (void)state;
    enum { DRAWS = 20000 };
    carom_impact *impact = support_impact(&reference_block);
    const double deviations[] = {2, 0, 0};
    carom_uncertainty *u = make(impact, &(carom_uncertainty_data){.velocity_spread = CAROM_VELOCITY_DEVIATIONS, .velocity = deviations});
    assert_true(carom_uncertainty_keeps_contacts(u));
    double sum = 0, squares = 0, fourth = 0;
    for (int i = 0; i < DRAWS; i++) {
        double uniform, value;
        carom_uncertainty_draw(u, 3, i, &uniform);
        assert_true(uniform > 0 && uniform < 1);
        carom_uncertainty_values(u, &uniform, &value);
        const double x = (value - carom_impact_get_data(impact)->velocity[0]) / 2;
        assert_true(fabs(x) <= CAROM_NORMAL_CUT);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    // Variance 1 - 6 phi(3) / (2 Phi(3) - 1) = 0.973337; the bounds are five deviations of the means.
    const double variance = squares / DRAWS;
    assert_true(fabs(sum / DRAWS) < 5 * sqrt(.9733 / DRAWS));
    assert_true(fabs(variance - .973337) < 5 * sqrt((fourth / DRAWS - variance * variance) / DRAWS));
    carom_uncertainty_free(u);
    carom_impact_free(impact);
}

// A covariance of rank one moves along its direction alone, and a full one has the sums of squares of its entries.
static void covariances(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    const double *known = carom_impact_get_data(impact)->velocity;
    const double direction[] = {1e-3, 2, 0};
    double covariance[9];
    for (int i = 0; i < 9; i++) covariance[i] = direction[i / 3] * direction[i % 3];
    carom_uncertainty *u = make(impact, &(carom_uncertainty_data){.velocity_spread = CAROM_VELOCITY_COVARIANCE, .velocity = covariance});
    assert_int_equal(carom_uncertainty_dimension(u), 1);
    assert_int_equal(carom_uncertainty_count(u), 2);
    const double uniform = 0.999;
    double values[3];
    carom_uncertainty_values(u, &uniform, values);
    assert_true(fabs(values[1] - known[1]) > 4);
    assert_close((values[0] - known[0]) * 2, (values[1] - known[1]) * 1e-3, 1e-12);
    carom_uncertainty_free(u);

    // At one deviation in each direction alone, the squares of the changes add up to the variances.
    const double full[] = {.04, .01, -.02, .01, .09, .03, -.02, .03, .16};
    u = make(impact, &(carom_uncertainty_data){.velocity_spread = CAROM_VELOCITY_COVARIANCE, .velocity = full});
    assert_int_equal(carom_uncertainty_dimension(u), 3);
    const double below = .5 * erfc(3 / sqrt(2)), one = (.5 * erfc(-1 / sqrt(2)) - below) / (1 - 2 * below);
    double sums[9] = {0};
    for (int k = 0; k < 3; k++) {
        double point[] = {.5, .5, .5};
        point[k] = one;
        carom_uncertainty_values(u, point, values);
        for (int i = 0; i < 9; i++) sums[i] += (values[i / 3] - known[i / 3]) * (values[i % 3] - known[i % 3]);
    }
    assert_all_close(sums, full, 9, 1e-12);
    carom_uncertainty_free(u);
    carom_impact_free(impact);
}

// Points of a polytope are mixtures of its vertices, and come as near to each vertex as doubles allow.
static void polytopes(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    const double vertices[] = {1, -1, 0, 2, -1, 0, 1, -2, 0};
    carom_uncertainty *u =
        make(impact, &(carom_uncertainty_data){.velocity_spread = CAROM_VELOCITY_VERTICES, .velocity = vertices, .vertices = 3});
    assert_int_equal(carom_uncertainty_dimension(u), 3);
    double uniforms[3], values[3];
    for (int i = 0; i < 1000; i++) {
        carom_uncertainty_draw(u, 0, i, uniforms);
        carom_uncertainty_values(u, uniforms, values);
        assert_true(values[0] >= 1 && values[1] <= -1 && values[0] - 1 - values[1] - 1 <= 1 + 1e-14 && values[2] == 0);
    }
    carom_uncertainty_values(u, (double[]){1, 0, 1}, values);
    assert_all_close(values, vertices + 3, 3, 1e-15);
    carom_uncertainty_values(u, (double[]){1, 1, 1}, values);
    assert_all_close(values, ((double[]){4. / 3, -4. / 3, 0}), 3, 1e-15);
    carom_impact *varied;
    carom_error error;
    assert_ok(carom_uncertainty_impact(u, values, &varied, &error), error);
    assert_true(same_bits(carom_impact_get_data(varied)->velocity, values, 3));
    carom_impact_free(varied);
    carom_uncertainty_free(u);
    carom_impact_free(impact);
}

// Draws lie in the support, and reach close to its ends; what is known is known there.
static void support_holds_all_draws(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    const double *v = reference_block.velocity, box[] = {0.5, 0, 0.25}, listed[] = {1, -1, 0, 2, -1, 0, 1, -2, 0};
    const double covariance[] = {0.04, 0.01, 0, 0.01, 0.09, 0, 0, 0, 0};
    const carom_spread friction[] = {{.kind = CAROM_SPREAD_NORMAL, .deviation = 1}, {0}};
    const carom_uncertainty_data data[] = {
        {.velocity_spread = CAROM_VELOCITY_BOX, .velocity = box, .friction = friction},
        {.velocity_spread = CAROM_VELOCITY_DEVIATIONS, .velocity = box},
        {.velocity_spread = CAROM_VELOCITY_COVARIANCE, .velocity = covariance},
        {.velocity_spread = CAROM_VELOCITY_VERTICES, .velocity = listed, .vertices = 3},
        {.friction = friction},
    };
    static const int vertices[] = {4, 4, 4, 3, 0};
    for (int i = 0; i < 5; i++) {
        carom_uncertainty *u = make(impact, &data[i]);
        carom_uncertain_support support;
        carom_error error;
        assert_ok(carom_uncertainty_support(u, &support, &error), error);
        assert_int_equal(support.vertices, vertices[i]);
        double least[3], most[3];
        for (int j = 0; j < 3; j++) {
            least[j] = most[j] = support.vertices ? support.velocity[j] : v[j];
            for (int k = 1; k < support.vertices; k++) {
                least[j] = fmin(least[j], support.velocity[3 * k + j]);
                most[j] = fmax(most[j], support.velocity[3 * k + j]);
            }
        }
        if (i == 0) assert_true(least[0] == v[0] - 0.5 && most[0] == v[0] + 0.5 && least[1] == v[1] && most[2] == v[2] + 0.25);
        if (i == 1) assert_true(least[0] == v[0] - 1.5 && most[2] == v[2] + 0.75);
        assert_int_equal(support.friction != NULL, i % 4 == 0);
        if (support.friction) {
            assert_true(support.friction[0].least == fmax(0, reference_block.friction[0] - 3));
            assert_true(support.friction[0].most == reference_block.friction[0] + 3);
            assert_true(support.friction[1].least == reference_block.friction[1] &&
                        support.friction[1].most == reference_block.friction[1]);
        }
        for (int k = 0; k < 200; k++) {
            double uniforms[8], values[8];
            carom_impact *drawn;
            carom_uncertainty_draw(u, 0, k, uniforms);
            carom_uncertainty_values(u, uniforms, values);
            assert_ok(carom_uncertainty_impact(u, values, &drawn, &error), error);
            for (int j = 0; j < 3; j++) {
                const double component = carom_impact_get_data(drawn)->velocity[j];
                assert_true(component >= least[j] - 1e-14 && component <= most[j] + 1e-14);
            }
            carom_impact_free(drawn);
        }
        carom_uncertain_support_free(&support);
        carom_uncertainty_free(u);
    }
    carom_impact_free(impact);
}

// Another order of contacts gives the same impact, in that order.
static void the_order_of_contacts(void **state) {
    (void)state;
    draft made, turned;
    start_draft(&made);
    start_draft(&turned);
    for (int i = 0; i < 6; i++) {
        turned.normal[i] = made.normal[(i + 3) % 6];
        turned.tangent[i] = made.tangent[(i + 3) % 6];
    }
    for (int i = 0; i < 2; i++) {
        turned.friction[i] = made.friction[1 - i];
        turned.restitution[i] = made.restitution[1 - i];
        turned.names[i] = made.names[1 - i];
    }
    const carom_spread friction[] = {{.kind = CAROM_SPREAD_UNIFORM, .range = {0, 1}}, {.kind = CAROM_SPREAD_NORMAL, .deviation = 0.1}};
    const carom_spread swapped[] = {friction[1], friction[0]};
    carom_impact *one = support_impact(&made.data), *two = support_impact(&turned.data), *from_one, *from_two;
    carom_uncertainty *u = make(one, &(carom_uncertainty_data){.friction = friction}),
                      *w = make(two, &(carom_uncertainty_data){.friction = swapped});
    double a[2], b[2];
    carom_uncertainty_values(u, (double[]){.3, .8}, a);
    carom_uncertainty_values(w, (double[]){.8, .3}, b);
    carom_error error;
    assert_ok(carom_uncertainty_impact(u, a, &from_one, &error), error);
    assert_ok(carom_uncertainty_impact(w, b, &from_two, &error), error);
    for (int i = 0; i < 2; i++)
        assert_true(carom_impact_get_data(from_one)->friction[i] == carom_impact_get_data(from_two)->friction[1 - i]);
    carom_impact *all[] = {one, two, from_one, from_two};
    for (int i = 0; i < 4; i++) carom_impact_free(all[i]);
    carom_uncertainty_free(u);
    carom_uncertainty_free(w);
}

// An impact at another pose: here the pose is the velocity of the first coordinate, and pose 9 has other contacts.
static carom_status freeze(void *user, const double *qpos, carom_impact **impact, carom_error *error) {
    draft made;
    start_draft(&made);
    (void)user;
    made.velocity[0] = qpos[0];
    if (qpos[0] > 8) made.data.contacts = 1;
    return carom_impact_create(&made.data, impact, error);
}

static void poses_and_columns(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    carom_impact *impact = support_impact(&made.data), *posed;
    carom_error error;
    const double qpos[] = {5, 1}, box[] = {4, 0};
    const carom_spread friction[] = {{.kind = CAROM_SPREAD_NONE}, {.kind = CAROM_SPREAD_UNIFORM, .range = {.25, .5}}};
    carom_uncertainty *u =
        make(impact, &(carom_uncertainty_data){.friction = friction, .nq = 2, .qpos = qpos, .qpos_box = box, .freeze = freeze});
    assert_string_equal(carom_uncertainty_parameters(u)[1].name, "qpos.1");
    assert_ok(carom_uncertainty_impact(u, (double[]){.3, 7}, &posed, &error), error);
    assert_true(carom_impact_get_data(posed)->velocity[0] == 7 && carom_impact_get_data(posed)->friction[1] == .3);
    const carom_impact *with = posed;
    assert_refused(carom_uncertainty_impact(u, (double[]){.3, 9}, &posed, &error), CAROM_BAD_INPUT, error, "other contacts");
    assert_null(posed);

    const carom_column *columns;
    carom_table *rows;
    const int count = carom_uncertainty_columns(u, &columns);
    assert_int_equal(count, 3);
    assert_ok(carom_outcomes_create(impact, columns, count, &rows, &error), error);
    assert_ok(carom_outcomes_add(rows, with, made.velocity, NULL, 0, 0, &error), error);
    carom_uncertainty_fill(u, 4, (double[]){.3, 7}, rows, CAROM_OUTCOME_COLUMNS);
    assert_int_equal(carom_table_integer_column(rows, carom_table_find(rows, "draw"))[0], 4);
    const double *mu = carom_table_real_column(rows, carom_table_find(rows, "friction"));
    assert_true(mu[0] == made.friction[0] && mu[1] == .3);
    const double *pose = carom_table_real_column(rows, carom_table_find(rows, "qpos"));
    assert_true(pose[0] == 7 && pose[1] == 1);
    carom_table_free(rows);
    carom_uncertainty_free(u);
    carom_impact_free((carom_impact *)with);
    carom_impact_free(impact);
}

static void bad_data_are_refused(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    const double negative[] = {0, -1, 0}, not_finite[] = {0, 0, NAN}, infinite[] = {INFINITY, 0, 0};
    const double skewed[] = {1, .5, 0, 0, 1, 0, 0, 0, 1}, indefinite[] = {1, .9, -.9, .9, 1, .9, -.9, .9, 1};
    const double variance[] = {-1, 0, 0, 0, 1, 0, 0, 0, 1}, none[] = {0, .1, 0, .1, 1, 0, 0, 0, 1};
    const carom_spread friction[][2] = {{{.kind = CAROM_SPREAD_UNIFORM, .range = {-.1, 1}}, {0}},
                                        {{0}, {.kind = CAROM_SPREAD_UNIFORM, .range = {1, .5}}},
                                        {{0}, {.kind = CAROM_SPREAD_UNIFORM, .range = {0, NAN}}},
                                        {{0}, {.kind = CAROM_SPREAD_NORMAL, .deviation = -1}}};
    const carom_spread above[] = {{.kind = CAROM_SPREAD_UNIFORM, .range = {0, 1.5}}, {0}};
    const struct {
        carom_uncertainty_data data;
        const char *message;
    } cases[] = {
        {{.velocity_spread = CAROM_VELOCITY_BOX, .velocity = negative}, "velocity.box: entry [1] is -1"},
        {{.velocity_spread = CAROM_VELOCITY_BOX, .velocity = infinite}, "velocity.box: entry [0]"},
        {{.velocity_spread = CAROM_VELOCITY_DEVIATIONS, .velocity = not_finite}, "velocity.std: entry [2]"},
        {{.velocity_spread = CAROM_VELOCITY_COVARIANCE, .velocity = skewed}, "not symmetric"},
        {{.velocity_spread = CAROM_VELOCITY_COVARIANCE, .velocity = indefinite}, "not positive semidefinite"},
        {{.velocity_spread = CAROM_VELOCITY_COVARIANCE, .velocity = none}, "not positive semidefinite"},
        {{.velocity_spread = CAROM_VELOCITY_COVARIANCE, .velocity = variance}, "a variance below 0"},
        {{.velocity_spread = CAROM_VELOCITY_VERTICES, .velocity = negative}, "there are none"},
        {{.velocity_spread = CAROM_VELOCITY_VERTICES, .velocity = not_finite, .vertices = 1}, "not finite"},
        {{.friction = friction[0]}, "friction.A: [-0.1, 1] is no interval of numbers >= 0"},
        {{.friction = friction[1]}, "friction.B: [1, 0.5]"},
        {{.friction = friction[2]}, "friction.B"},
        {{.friction = friction[3]}, "friction.B: the deviation -1"},
        {{.restitution = above}, "restitution.A: [0, 1.5]"},
        {{.mass = {0, 1}}, "mass.scale"},
        {{.mass = {1, INFINITY}}, "mass.scale"},
        {{.mass = {2, 1}}, "mass.scale"},
        {{.nq = 1}, "qpos"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_uncertainty *made;
        carom_error error;
        assert_refused(carom_uncertainty_create(impact, &cases[i].data, &made, &error), CAROM_BAD_INPUT, error, cases[i].message);
        assert_null(made);
    }
    // Widths of zero leave nothing that is not known.
    const double nothing[9] = {0};
    for (int spread = CAROM_VELOCITY_BOX; spread <= CAROM_VELOCITY_COVARIANCE; spread++) {
        carom_uncertainty *u =
            make(impact, &(carom_uncertainty_data){.velocity_spread = (carom_velocity_spread)spread, .velocity = nothing});
        assert_int_equal(carom_uncertainty_dimension(u), 0);
        assert_int_equal(carom_uncertainty_count(u), 0);
        carom_impact *same;
        carom_error error;
        assert_ok(carom_uncertainty_impact(u, nothing, &same, &error), error);
        assert_true(same_bits(carom_impact_get_data(same)->velocity, carom_impact_get_data(impact)->velocity, 3));
        carom_impact_free(same);
        carom_uncertainty_free(u);
    }
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_numbers_one_by_one),
        cmocka_unit_test(draws_have_the_distribution),
        cmocka_unit_test(covariances),
        cmocka_unit_test(polytopes),
        cmocka_unit_test(support_holds_all_draws),
        cmocka_unit_test(the_order_of_contacts),
        cmocka_unit_test(poses_and_columns),
        cmocka_unit_test(bad_data_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
