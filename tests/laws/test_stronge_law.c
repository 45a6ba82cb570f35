// SPDX-License-Identifier: Apache-2.0
// The law `stronge` and what is built on it: sequences of single impacts, and the limit of the set-valued model.
#include <math.h>
#include <stdio.h>

#include "stronge_support.h"

// ------------------------------------------------------------------------------------------------------------- the law

// scenes/ball.yaml: slip stops, so that It = -gamma-/3.5 per mass; the normal impulse is 1 + e.
static void the_ball_rolls_off(void **state) {
    (void)state;
    carom_scene *scene;
    carom_error error;
    assert_ok(carom_scene_read("scenes/ball.yaml", registry, &scene, &error), error);
    carom_answer answer = support_ask(registry, carom_scene_impact(scene), "stronge", NULL);
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_IMPULSE), 1.9, 1e-14);
    assert_all_close(carom_table_real_column(answer.outcomes, CAROM_OUTCOME_TANGENT_IMPULSE), ((double[]){-1 / 3.5, -1.1 / 3.5}), 2, 1e-14);
    assert_string_equal(carom_table_text(answer.outcomes, carom_table_find(answer.outcomes, "course"), 0), "line+stick");
    carom_answer_free(&answer);
    carom_scene_free(scene);
}

// A body with full inertia, one contact: the law's outcome is that of its contact space.
static void the_law_solves_the_contact_of_an_impact(void **state) {
    (void)state;
    static const double mass[] = {2, 0, 0, 0, 1, 0, 0, 0, 1}, normal[] = {0, 0.3, 1}, tangent[] = {1, 0, 0.1, 0, 1, 0.2}, mu[] = {0.4},
                        e[] = {0.5}, v[] = {0.5, 0.2, -1};
    const carom_impact_data data = {.nv = 3,
                                    .contacts = 1,
                                    .tangent_dim = 2,
                                    .mass = mass,
                                    .normal = normal,
                                    .tangent = tangent,
                                    .friction = mu,
                                    .restitution = e,
                                    .velocity = v};
    carom_impact *impact = support_impact(&data);
    carom_contact_problem problem;
    double u[3];
    carom_impact_contact_velocity(impact, v, u);
    carom_contact_extract(impact, 0, u, &problem);
    assert_close(problem.tangential[0], 0.5 + 0.01, 1e-15);
    assert_close(problem.coupling[1], 0.3 + 0.2, 1e-15);
    assert_close(problem.velocity.tangent[0], 0.4, 1e-15);
    const carom_contact_result r = solve_with(&problem, CAROM_RESTITUTION_STRONGE, 1e-12);
    carom_answer answer = support_ask(registry, impact, "stronge", NULL);
    assert_true(carom_answer_complete(&answer));
    assert_int_equal(carom_table_rows(answer.outcomes), 1);
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_IMPULSE), r.impulse.normal, 1e-15);
    assert_all_close(carom_table_real_column(answer.outcomes, CAROM_OUTCOME_TANGENT_VELOCITY), r.velocity.tangent, 2, 1e-14);
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY), r.velocity.normal, 1e-14);
    const int events = carom_table_find(answer.outcomes, "events"), rays = carom_table_find(answer.outcomes, "invariant_directions");
    assert_string_equal(carom_table_text(answer.outcomes, events, 0), r.events);
    int numbers;
    carom_table_series(answer.outcomes, rays, 0, &numbers);
    assert_true(numbers == 6 || numbers == 12);
    carom_answer_free(&answer);

    // The option wins over the impact's coefficient, and the hypothesis is passed on.
    answer = support_ask(registry, impact, "stronge", (const char *[]){"restitution", "0.75", "hypothesis", "newton", NULL});
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY), -0.75 * u[0], 1e-12);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

static void a_contact_is_chosen_by_name(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    const carom_law *law = carom_law_find(registry, "stronge");
    carom_answer answer;
    carom_error error;
    assert_refused(carom_law_resolve(law, &(carom_law_call){.impact = impact}, &answer, &error), CAROM_BAD_INPUT, error,
                   "contact: the scene has 2 contacts");
    answer = support_ask(registry, impact, "stronge", (const char *[]){"contact", "B", NULL});
    int count;
    const int *word = carom_table_list(answer.outcomes, CAROM_OUTCOME_WORD, 0, &count);
    assert_int_equal(count, 1);
    assert_int_equal(word[0], 1);
    const double *normal = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_IMPULSE);
    assert_true(normal[0] == 0 && normal[1] > 0);
    // The other corner approaches still.
    assert_false(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED)[0]);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

// Three balls in a row, frictionless: elastic impacts hand the velocity on, plastic ones share it.
static void sequences_of_single_impacts_have_restitution(void **state) {
    (void)state;
    static const double mass[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, normal[] = {-1, 1, 0, 0, -1, 1}, v[] = {1, 0, 0};
    const carom_impact_data data = {.nv = 3, .contacts = 2, .tangent_dim = 1, .mass = mass, .normal = normal, .velocity = v};
    carom_impact *impact = support_impact(&data);
    static const double elastic[] = {0, 0, 1}, half[] = {1. / 4, 3. / 16, 9. / 16};
    carom_answer answer =
        support_ask(registry, impact, "sequential", (const char *[]){"rule", "stronge", "restitution", "1", "order", "A,B", NULL});
    assert_all_close(carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY), elastic, 3, 1e-14);
    assert_string_equal(carom_table_text(answer.result, CAROM_RESULT_SELECTION, 0), "");
    carom_answer_free(&answer);
    // Two impacts at e = 1/2 leave (1/4, 3/16, 9/16), and then A is hit again.
    answer = support_ask(registry, impact, "sequential", (const char *[]){"rule", "stronge", "restitution", "0.5", "order", "A,B", NULL});
    int count;
    const int path = carom_table_find(answer.outcomes, "path");
    const double *velocities = carom_table_series(answer.outcomes, path, 0, &count);
    assert_close(velocities[2 * 4], half[1] - half[0], 1e-14);
    assert_close(velocities[2 * 4 + 2], half[2] - half[1], 1e-14);
    assert_true(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED)[0]);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

static void assert_rule(const carom_answer *answer, const char *rule) {
    const int column = carom_table_find(answer->result, "rule");
    assert_string_equal(carom_table_column(answer->result, column)->flags[carom_table_integer_column(answer->result, column)[0]], rule);
}

// By default single impacts in space are exact and inelastic, whatever restitution contacts have. A cube of 1 kg, 1 m wide, falls at 1 m/s
// on two corners of its lower edge: a corner alone lifts the other by 0.0036 m/s; linearised cones would have it lift by 0.0399.
static void sequences_in_space_are_of_exact_contacts(void **state) {
    (void)state;
    static const double a = 0.70710678118654752, w = 1.0 / 6, e[] = {0.7, 0.7}, mu[] = {0.3, 0.3}, v[] = {0, 0, -1, 0, 0, 0};
    const double mass[] = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, w, 0, 0, 0, 0, 0, 0, w, 0, 0, 0, 0, 0, 0, w};
    static const double normal[] = {0, 0, 1, -0.5, 0, 0, 0, 0, 1, 0.5, 0, 0};
    const double tangent[] = {1, 0, 0, 0, -a, 0.5, 0, 1, 0, a, 0, 0, 1, 0, 0, 0, -a, -0.5, 0, 1, 0, a, 0, 0};
    const carom_impact_data data = {.nv = 6,
                                    .contacts = 2,
                                    .tangent_dim = 2,
                                    .mass = mass,
                                    .normal = normal,
                                    .tangent = tangent,
                                    .friction = mu,
                                    .velocity = v,
                                    .restitution = e};
    carom_impact *impact = support_impact(&data);
    carom_answer answer = support_ask(registry, impact, "sequential", NULL),
                 exact = support_ask(registry, impact, "sequential", (const char *[]){"rule", "stronge", "restitution", "0", NULL});
    const double *lift = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    assert_close(fmax(lift[0], lift[1]), 0.0036, 5e-5);
    assert_memory_equal(lift, carom_table_real_column(exact.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY), 4 * sizeof *lift);
    assert_rule(&answer, "stronge");
    carom_answer_free(&answer);
    carom_answer_free(&exact);
    answer = support_ask(registry, impact, "sequential", (const char *[]){"rule", "anitescu-potra", NULL});
    lift = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    assert_close(fmax(lift[0], lift[1]), 0.0399, 5e-5);
    carom_answer_free(&answer);
    carom_impact_free(impact);

    // A contact that slides where nothing can move it has no exact impact, and takes a step. One that does not slide there has.
    static const double W[] = {2, 0.5, 0, 0.5, 1, 0, 0, 0, 0};
    for (int slides = 0; slides < 2; slides++) {
        const double u[] = {-1, 0.2, slides};
        const carom_delassus_data still = {.contacts = 1, .tangent_dim = 2, .delassus = W, .velocity = u, .friction = mu};
        carom_error error;
        assert_ok(carom_impact_create_delassus(&still, &impact, &error), error);
        answer = support_ask(registry, impact, "sequential", NULL);
        assert_int_equal(carom_table_rows(answer.outcomes), 1);
        assert_rule(&answer, slides ? "anitescu-potra" : "stronge");
        carom_answer_free(&answer);
        carom_impact_free(impact);
    }
    impact = support_impact(&reference_block);
    answer = support_ask(registry, impact, "sequential", NULL);
    assert_rule(&answer, "anitescu-potra");
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

// Where slip does not reverse within an impact, the inelastic rules agree.
static void inelastic_sequences_are_those_of_anitescu_potra(void **state) {
    (void)state;
    const carom_impact_data *scenes[] = {&reference_block, &reference_compass, &reference_disks};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        carom_impact *impact = support_impact(scenes[i]);
        carom_answer step = support_ask(registry, impact, "sequential", NULL),
                     process = support_ask(registry, impact, "sequential", (const char *[]){"rule", "stronge", NULL});
        const int64_t rows = carom_table_rows(step.outcomes);
        assert_int_equal(carom_table_rows(process.outcomes), rows);
        assert_true(carom_answer_complete(&process));
        assert_all_close(carom_table_real_column(process.outcomes, CAROM_OUTCOME_VELOCITY),
                         carom_table_real_column(step.outcomes, CAROM_OUTCOME_VELOCITY), rows * scenes[i]->nv, 1e-10);
        carom_answer_free(&step);
        carom_answer_free(&process);
        carom_impact_free(impact);
    }
}

// ------------------------------------------------------------------------------------- the set-valued model in the limit

// Largest distance of sampled contact velocities from the answer of `stronge`.
static double sampled_error(const carom_impact *impact, const char *step, const char *edges, const char *samples) {
    carom_answer sampled =
        support_ask(registry, impact, "halm-posa",
                    (const char *[]){"step", step, "cone_edges", edges, "max_steps", "1000000", "samples", samples, "seed", "5", NULL});
    carom_answer exact = support_ask(registry, impact, "stronge", NULL);
    const int64_t rows = carom_table_rows(sampled.outcomes);
    assert_true(rows > 0);
    const int nv = carom_impact_get_data(impact)->nv;
    const double *v = carom_table_real_column(sampled.outcomes, CAROM_OUTCOME_VELOCITY);
    const double *expected = carom_table_real_column(exact.outcomes, CAROM_OUTCOME_VELOCITY);
    double largest = 0;
    for (int64_t i = 0; i < rows * nv; i++) largest = fmax(largest, fabs(v[i] - expected[i % nv]));
    carom_answer_free(&sampled);
    carom_answer_free(&exact);
    return largest;
}

static carom_impact *contact_space(int dim, const double *W, const double *u, double friction) {
    const carom_delassus_data data = {1, dim, W, u, &friction, NULL, NULL};
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
    return impact;
}

// One planar contact, e = 0, slip that reverses: the impact inclusion has one solution, and samples approach it as h.
static void planar_samples_converge_with_the_step(void **state) {
    (void)state;
    static const double W[] = {2, 1.5, 1.5, 1.5}, u[] = {-1, -0.2};
    carom_impact *impact = contact_space(1, W, u, 0.5);
    const double coarse = sampled_error(impact, "0.01", "4", "32"), middle = sampled_error(impact, "0.001", "4", "32"),
                 fine = sampled_error(impact, "0.0001", "4", "32");
    assert_true(fine < 1e-4);
    assert_true(log10(coarse / middle) > 0.7 && log10(coarse / middle) < 1.3);
    assert_true(log10(middle / fine) > 0.7 && log10(middle / fine) < 1.3);
    carom_impact_free(impact);
}

// Spatial contacts, e = 0: the error falls with the square of the number of cone edges, when steps are small enough not to matter.
// Measured over twelve contacts and 8 to 64 edges: order 1.9.
static void spatial_samples_converge_with_the_cone(void **state) {
    (void)state;
    enum { LEVELS = 3 };
    static const char *const edges[LEVELS] = {"8", "16", "32"};
    const int contacts = support_count(2, 6, 12);
    double logarithms[LEVELS] = {0};
    for (int i = 0; i < contacts; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 81, (uint64_t)i);
        const carom_contact_problem p = random_contact(&stream, 0.2, 0.6);
        const double *B = p.tangential, *d = p.coupling;
        const double W[9] = {p.normal, d[0], d[1], d[0], B[0], B[1], d[1], B[1], B[2]};
        const double u[3] = {-1, p.velocity.tangent[0], p.velocity.tangent[1]};
        carom_impact *impact = contact_space(2, W, u, p.friction);
        char step[32];
        snprintf(step, sizeof step, "%.6g", 3e-4 / p.normal);
        for (int k = 0; k < LEVELS; k++) logarithms[k] += log2(sampled_error(impact, step, edges[k], "2")) / contacts;
        carom_impact_free(impact);
    }
    const double order = (logarithms[0] - logarithms[LEVELS - 1]) / (LEVELS - 1);
    assert_true(logarithms[LEVELS - 1] < -10);
    assert_true(order > 1.2 && order < 2.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ball_rolls_off),
        cmocka_unit_test(the_law_solves_the_contact_of_an_impact),
        cmocka_unit_test(a_contact_is_chosen_by_name),
        cmocka_unit_test(sequences_of_single_impacts_have_restitution),
        cmocka_unit_test(sequences_in_space_are_of_exact_contacts),
        cmocka_unit_test(inelastic_sequences_are_those_of_anitescu_potra),
        cmocka_unit_test(planar_samples_converge_with_the_step),
        cmocka_unit_test(spatial_samples_converge_with_the_cone),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
