// SPDX-License-Identifier: Apache-2.0
// Law `lzb`: three balls with known stiffness ratios, one contact as law `stronge`, invariants, bad input; steps of differential equations.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/ode.h"
#include "support.h"

// ------------------------------------------------------------------------------------------------------------- steps

// The harmonic oscillator y'' = -y.
static void oscillate(void *user, double s, const double *y, double *dy) {
    (void)user;
    (void)s;
    dy[0] = y[1];
    dy[1] = -y[0];
}

static void steps_keep_to_the_tolerance(void **state) {
    (void)state;
    carom_arena arena = {0};
    carom_ode ode;
    carom_ode_create(&arena, 2, &ode);
    const double tolerance[] = {1e-11, 1e-11};
    ode.rate = oscillate;
    ode.tolerance = tolerance;
    ode.y[0] = 1;
    ode.length = 10;
    int steps = 0;
    while (ode.s < 10) {
        ode.length = fmin(ode.length, 10 - ode.s);
        assert_true(carom_ode_step(&ode));
        carom_ode_advance(&ode);
        steps++;
    }
    assert_close(ode.y[0], cos(10), 1e-8);
    assert_true(steps > 20 && steps < 2000);
    carom_arena_free(&arena);
}

// --------------------------------------------------------------------------------------------------------------- law

typedef struct outcome {
    double v[8], energy_ratio;
    int64_t compressions[4];
    bool complete;
    int64_t steps;
} outcome;

static outcome ask(const carom_impact *impact, const char *stiffness, const char *restitution, const char *tolerance) {
    carom_registry *registry;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    carom_answer answer =
        support_ask(registry, impact, "lzb",
                    (const char *const[]){"tolerance", tolerance ? tolerance : "1e-10", restitution ? "restitution" : NULL, restitution,
                                          stiffness ? "stiffness" : NULL, stiffness, NULL});
    assert_int_equal(carom_table_rows(answer.outcomes), 1);
    const carom_impact_data *data = carom_impact_get_data(impact);
    outcome found = {.complete = carom_answer_complete(&answer)};
    memcpy(found.v, carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY), (size_t)data->nv * sizeof(double));
    memcpy(found.compressions, carom_table_integer_column(answer.outcomes, carom_table_find(answer.outcomes, "compressions")),
           (size_t)data->contacts * sizeof(int64_t));
    found.energy_ratio = *carom_table_real_column(answer.outcomes, CAROM_OUTCOME_ENERGY_RATIO);
    found.steps = *carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_STEPS);
    carom_answer_free(&answer);
    carom_registry_free(registry);
    return found;
}

// Three equal balls in a row: v+ for ratios k2/k1, at a relative tolerance of 1e-11.
static void three_balls_share_by_stiffness(void **state) {
    (void)state;
    static const struct {
        const char *e, *ratio;
        double v[3];
    } rows[] = {
        {"1", "1,1e-3", {-0.000116866, 0.000116879, 0.999999986}}, {"1", "1,0.1", {-0.01184085, 0.01198276, 0.99985809}},
        {"1", "1,1", {-0.1302617, 0.15022957, 0.98003213}},        {"1", "1,10", {-0.33099389, 0.61717162, 0.71382227}},
        {"1", "1,1e3", {-0.33333322, 0.66633054, 0.66700268}},     {"0.5", "1,1e-3", {0.21670138, 0.2181732, 0.56512542}},
        {"0.5", "1,0.1", {0.20507803, 0.2301203, 0.56480167}},     {"0.5", "1,1", {0.18273486, 0.23398418, 0.58328096}},
        {"0.5", "1,10", {0.00665682, 0.46645201, 0.52689118}},     {"0.5", "1,1e3", {0.0000462, 0.49967136, 0.50028243}},
    };
    const carom_impact_data data = {.nv = 3,
                                    .contacts = 2,
                                    .tangent_dim = 1,
                                    .mass = (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 1},
                                    .normal = (const double[]){-1, 1, 0, 0, -1, 1},
                                    .tangent = (const double[6]){0},
                                    .friction = (const double[]){0, 0},
                                    .velocity = (const double[]){1, 0, 0}};
    carom_impact *impact = support_impact(&data);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const outcome found = ask(impact, rows[k].ratio, rows[k].e, "1e-11");
        assert_true(found.complete);
        assert_all_close(found.v, rows[k].v, 3, 2e-8);
        if (!strcmp(rows[k].e, "1")) assert_close(found.energy_ratio, 1, 1e-8);
    }
    carom_impact_free(impact);
}

// A single spring is energetic restitution: law `stronge`, with friction, in the plane.
static void one_contact_is_that_of_the_law_stronge(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    for (int k = 0; k < support_count(50, 300, 3000); k++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 1, 1, 1.5);
        char e[32];
        carom_print_number(0.05 + 0.95 * carom_stream_uniform(&stream), e, sizeof e);
        double u[2];
        carom_contact_problem problem;
        const carom_contact_options options = carom_contact_defaults();
        carom_contact_result result;
        carom_error error;
        carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, u);
        carom_contact_extract(impact, 0, u, &problem);
        carom_parse_number(e, &problem.restitution);
        const double product = problem.normal * problem.tangential[0];
        // With one coordinate alone friction may cancel all forces.
        if (product - problem.coupling[0] * problem.coupling[0] > 1e-4 * product) {
            const outcome found = ask(impact, NULL, e, "1e-12");
            assert_ok(carom_contact_solve(&problem, &options, &result, &error), error);
            const double scale = hypot(u[0], u[1]);
            carom_impact_contact_velocity(impact, found.v, u);
            assert_true(found.complete);
            assert_close(u[0] / scale, result.velocity.normal / scale, 1e-7);
            assert_close(u[1] / scale, result.velocity.tangent[0] / scale, 1e-7);
            assert_int_equal(found.compressions[0], result.compressions);
        }
        carom_impact_free(impact);
    }
}

// Masses of very different sizes, turned so that friction takes nearly all of the impulse: a number of steps that does not grow with the
// condition of W, the velocities of law `stronge`, and no complete answer that misses them.
static void ill_conditioned_contacts_stick_exactly(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 39, 0);
    int complete = 0;
    const int count = support_count(100, 600, 20000);
    for (int k = 0; k < count; k++) {
        const double spread = 16 * carom_stream_uniform(&stream) - 8, turn = 6.28 * carom_stream_uniform(&stream), heavy = pow(10, spread);
        const double c = cos(turn), s = sin(turn), friction = pow(10, 3 * carom_stream_uniform(&stream) - 2);
        const double e = k % 3 ? carom_stream_uniform(&stream) : 0;
        double row[6];
        for (int i = 0; i < 6; i++) row[i] = carom_stream_normal(&stream);
        if (row[0] * row[4] + row[1] * row[5] > 0)
            for (int i = 4; i < 6; i++) row[i] = -row[i];
        const carom_impact_data data = {
            .nv = 2,
            .contacts = 1,
            .tangent_dim = 1,
            .mass = (const double[]){heavy * c * c + s * s, (heavy - 1) * c * s, (heavy - 1) * c * s, heavy * s * s + c * c},
            .normal = row,
            .tangent = row + 2,
            .friction = &friction,
            .restitution = &e,
            .velocity = row + 4};
        carom_impact *impact;
        carom_error error;
        assert_ok(carom_impact_create(&data, &impact, &error), error);
        double u[2];
        carom_contact_problem problem;
        const carom_contact_options options = carom_contact_defaults();
        carom_contact_result result;
        carom_impact_contact_velocity(impact, data.velocity, u);
        const double scale = fmax(fabs(u[0]), fabs(u[1]));
        carom_contact_extract(impact, 0, u, &problem);
        problem.restitution = e;
        const outcome found = ask(impact, NULL, NULL, NULL);
        assert_true(found.steps < 10);
        // Beyond doubles W is singular, to the other law.
        if (!carom_contact_solve(&problem, &options, &result, &error)) {
            carom_impact_contact_velocity(impact, found.v, u);
            const double apart = fmax(fabs(u[0] - result.velocity.normal), fabs(u[1] - result.velocity.tangent[0]));
            const double product = problem.normal * problem.tangential[0];
            const bool usual = product - problem.coupling[0] * problem.coupling[0] > 1e-5 * product;
            if (found.complete) assert_true(apart <= 1e-7 * scale);
            if (usual) assert_true(found.complete);
            complete += found.complete;
        }
        carom_impact_free(impact);
    }
    assert_true(complete > count / 2);
}

// Energy never grows, nothing approaches; contacts that change places change nothing; only ratios of stiffnesses count.
static void outcomes_are_possible(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 17, 0);
    int ended = 0, asked = 0;
    for (int k = 0; k < support_count(20, 100, 1000); k++) {
        carom_impact *impact = support_random_impact(&stream, k % 2 ? FAMILY_PLAIN : FAMILY_FRICTIONLESS, 2, 1, 1);
        const carom_impact_data *data = carom_impact_get_data(impact);
        if (data->contacts < 2 || data->nv < 4) {
            carom_impact_free(impact);
            continue;
        }
        const outcome found = ask(impact, "1,3", "0.6", "1e-10"), again = ask(impact, "4,12", "0.6", "1e-10");
        asked++;
        ended += found.complete;
        if (found.complete) {
            double u[4];
            carom_impact_contact_velocity(impact, found.v, u);
            const double scale = carom_impact_velocity_scale(impact);
            assert_true(found.energy_ratio <= 1 + 1e-7);
            assert_true(u[0] >= -1e-7 * scale && u[2] >= -1e-7 * scale);
            assert_all_close(again.v, found.v, data->nv, 1e-6);
        }
        carom_impact_free(impact);
    }
    assert_true(asked > 0 && ended >= asked * 9 / 10);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    carom_impact *block = support_impact(&reference_block), *cube = NULL;
    carom_answer answer;
    carom_error error;
    static const struct {
        const char *text, *message;
    } rows[] = {{"1", "stiffness: 1 numbers for 2 contacts"},
                {"1,2,3", "stiffness: 3 numbers for 2 contacts"},
                {"1,-2", "stiffness: '-2' is not a number greater than 0"},
                {"1,,2", "stiffness: '' is not a number greater than 0"},
                {"a,b", "stiffness: 'a' is not a number greater than 0"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        carom_lzb_options options = carom_lzb_defaults();
        options.stiffness = rows[i].text;
        const carom_law_call call = {.impact = block, .options = &options};
        assert_refused(carom_law_resolve(&carom_law_lzb, &call, &answer, &error), CAROM_BAD_INPUT, error, rows[i].message);
    }
    // Round friction cones in space are not taken.
    carom_stream stream;
    carom_stream_start(&stream, 1, 0);
    cube = support_random_impact(&stream, FAMILY_PLAIN, 2, 2, 1);
    const carom_law_call call = {.impact = cube};
    assert_refused(carom_law_resolve(&carom_law_lzb, &call, &answer, &error), CAROM_UNSUPPORTED, error, "planar contacts");
    assert_false(carom_law_lzb.applies(cube));
    carom_impact_free(block);
    carom_impact_free(cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_keep_to_the_tolerance),
        cmocka_unit_test(three_balls_share_by_stiffness),
        cmocka_unit_test(one_contact_is_that_of_the_law_stronge),
        cmocka_unit_test(ill_conditioned_contacts_stick_exactly),
        cmocka_unit_test(outcomes_are_possible),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
