// SPDX-License-Identifier: Apache-2.0
// The reduced planar step: the laws of contact, agreement with Lemke's method and with the enumeration of modes, the same bits for every
// instruction set, and the proof of uniqueness that lets it serve `lemke`.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/lcp.h"
#include "step/reduced.h"
#include "support.h"

enum { MOST_CONTACTS = 6, MOST_VELOCITIES = 18, MOST_SPACE = 2 * MOST_CONTACTS, MOST_SIZE = 5 * MOST_CONTACTS };

static const carom_impact_data *const scenes[] = {&reference_block, &reference_compass, &reference_boxwall, &reference_ramone,
                                                  &reference_disks};
enum { SCENES = sizeof scenes / sizeof *scenes };

static carom_status try_stepper(const carom_impact *impact, carom_step_kind kind, const char *path, carom_selection selection,
                                carom_stepper **stepper, carom_error *error) {
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = kind;
    options.path = path;
    options.selection = selection;
    return carom_stepper_create(impact, &options, stepper, error);
}

static carom_stepper *make_stepper(const carom_impact *impact, carom_step_kind kind, const char *path) {
    carom_stepper *stepper;
    carom_error error;
    assert_ok(try_stepper(impact, kind, path, CAROM_SELECT_LEMKE, &stepper, &error), error);
    return stepper;
}

// A random planar impact of the family with its caps, and what a step returns.
typedef struct trial {
    carom_impact *impact;
    const carom_impact_data *data;
    double lmax[MOST_CONTACTS], v[MOST_VELOCITIES], impulse[MOST_SPACE];
    carom_step_info info;
} trial;

static void start_trial(trial *t, uint64_t index, int most_contacts, double most_friction) {
    carom_stream stream;
    carom_stream_start(&stream, 51, index);
    const support_family family = (support_family)(index % FAMILIES);
    t->impact = support_random_impact(&stream, family, most_contacts, 1, most_friction);
    t->data = carom_impact_get_data(t->impact);
    for (int i = 0; i < t->data->contacts; i++) {
        t->lmax[i] = carom_stream_uniform(&stream);
        if (family == FAMILY_ZERO_CAPS && carom_stream_uniform(&stream) < 0.4) t->lmax[i] = 0;
    }
}

static void solve(trial *t, carom_stepper *stepper, carom_step_kind kind) {
    carom_stepper_solve(stepper, t->data->velocity, kind == CAROM_STEP_CAPPED ? t->lmax : NULL, t->v, t->impulse, &t->info);
}

static double distance(int n, const double *a, const double *b) {
    double largest = 0;
    for (int k = 0; k < n; k++) largest = fmax(largest, fabs(a[k] - b[k]));
    return largest;
}

// ------------------------------------------------------------------------------------------------------- laws of contact

// Signorini with caps, Coulomb, and dissipation, from v' and the impulses alone.
static void check_laws(const carom_impact *impact, const double *before, const double *lmax, const double *v, const double *impulse) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    double u[MOST_SPACE], u_before[MOST_SPACE];
    carom_impact_contact_velocity(impact, v, u);
    carom_impact_contact_velocity(impact, before, u_before);
    const double speed = 1 + carom_max_abs((size_t)(2 * data->contacts), u_before), small = 1e-9 * speed;
    for (int i = 0; i < data->contacts; i++) {
        const double lam_n = impulse[2 * i], lam_t = impulse[2 * i + 1], u_n = u[2 * i], u_t = u[2 * i + 1];
        const double bound = data->friction[i] * lam_n, scale = 1e-9 * (1 + fabs(lam_t));
        assert_true(lam_n >= 0 && lam_n <= lmax[i]);
        assert_true(lam_n == 0 || u_n <= small);
        assert_true(lam_n == lmax[i] || u_n >= -small);
        assert_true(fabs(lam_t) <= bound + scale);
        assert_true(lam_t >= bound - scale || u_t >= -small);
        assert_true(lam_t <= -bound + scale || u_t <= small);
    }
    const double energy = carom_impact_kinetic_energy(impact, before);
    assert_true(carom_impact_kinetic_energy(impact, v) - energy <= 1e-11 * (1 + energy));
}

static void random_steps_obey_the_laws(void **state) {
    (void)state;
    const int count = support_count(500, 20000, 200000);
    double worst = 0;
    int fallbacks = 0;
    for (int i = 0; i < count; i++) {
        trial t;
        start_trial(&t, (uint64_t)i, MOST_CONTACTS, 10);
        carom_stepper *stepper = make_stepper(t.impact, CAROM_STEP_CAPPED, "reduced");
        solve(&t, stepper, CAROM_STEP_CAPPED);
        assert_int_equal(t.info.verdict, CAROM_COMPLETE);
        worst = fmax(worst, t.info.residual);
        // What the LCP solver finds keeps to the caps but for round-off.
        if (t.info.fallbacks)
            fallbacks++;
        else
            check_laws(t.impact, t.data->velocity, t.lmax, t.v, t.impulse);
        carom_stepper_free(stepper);
        carom_impact_free(t.impact);
    }
    assert_true(worst <= 1e-11);
    // Five contacts of two velocities, all entries -1, 0 or 1: more ties than tolerances tell apart, once in 200,000 steps.
    assert_true(fallbacks <= count / 50000);
}

// Friction coefficients up to 1e5: always solved, by the reduced step itself but for less than one in a thousand.
static void steep_cones_are_solved(void **state) {
    (void)state;
    const int count = support_count(200, 3000, 20000);
    int fallbacks = 0;
    for (int i = 0; i < count; i++) {
        trial t;
        start_trial(&t, (uint64_t)i, MOST_CONTACTS, 1e5);
        carom_stepper *stepper = make_stepper(t.impact, CAROM_STEP_CAPPED, "reduced");
        solve(&t, stepper, CAROM_STEP_CAPPED);
        assert_int_equal(t.info.verdict, CAROM_COMPLETE);
        fallbacks += t.info.fallbacks > 0;
        carom_stepper_free(stepper);
        carom_impact_free(t.impact);
    }
    assert_true(fallbacks * 1000 <= count);
}

// Every kind of step is the same problem with other data.
static void uncapped_steps_are_solved(void **state) {
    (void)state;
    static const carom_step_kind kinds[] = {CAROM_STEP_SIMULTANEOUS, CAROM_STEP_ONE_CONTACT, CAROM_STEP_NEWTON};
    double none[MOST_CONTACTS];
    for (int i = 0; i < MOST_CONTACTS; i++) none[i] = INFINITY;
    for (uint64_t i = 0; i < (uint64_t)support_count(300, 3000, 30000); i++) {
        trial t;
        start_trial(&t, i, MOST_CONTACTS, 10);
        const carom_step_kind kind = kinds[i % 3];
        carom_stepper *stepper = make_stepper(t.impact, kind, "reduced");
        solve(&t, stepper, kind);
        assert_int_equal(t.info.verdict, CAROM_COMPLETE);
        assert_int_equal(t.info.fallbacks, 0);
        if (kind == CAROM_STEP_SIMULTANEOUS) check_laws(t.impact, t.data->velocity, none, t.v, t.impulse);
        carom_stepper_free(stepper);
        carom_impact_free(t.impact);
    }
}

static void simple_steps_are_exact(void **state) {
    (void)state;
    static const double none[MOST_CONTACTS] = {0}, leaving[] = {0.5, 0.25, 0};
    for (uint64_t i = 0; i < 500; i++) {
        trial t;
        start_trial(&t, i, MOST_CONTACTS, 10);
        carom_stepper *stepper = make_stepper(t.impact, CAROM_STEP_CAPPED, "reduced");
        carom_stepper_solve(stepper, t.data->velocity, none, t.v, t.impulse, &t.info);
        assert_int_equal(t.info.verdict, CAROM_COMPLETE);
        for (int k = 0; k < t.data->nv; k++) assert_true(t.v[k] == t.data->velocity[k]);
        carom_stepper_free(stepper);
        carom_impact_free(t.impact);
    }
    carom_impact *block = support_impact(&reference_block);
    carom_stepper *stepper = make_stepper(block, CAROM_STEP_CAPPED, "reduced");
    double v[3], impulse[4];
    carom_step_info info;
    carom_stepper_solve(stepper, leaving, (double[]){1, 1}, v, impulse, &info);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    assert_int_equal(info.pivots, 0);
    assert_memory_equal(v, leaving, sizeof v);
    carom_stepper_free(stepper);
    carom_impact_free(block);
}

// -------------------------------------------------------------------------------------------------- the LCP's own verifier

// z is a solution of the step's LCP by the one verifier, and the residual that is reported is its.
static void solutions_pass_the_one_verifier(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (uint64_t)support_count(300, 3000, 30000); i++) {
        trial t;
        start_trial(&t, i, MOST_CONTACTS, i % 2 ? 10 : 1e5);
        carom_stepper *stepper = make_stepper(t.impact, CAROM_STEP_CAPPED, NULL);
        carom_step_reduced *reduced;
        carom_error error;
        assert_ok(carom_step_reduced_create(stepper, "reduced", &reduced, &error), error);
        const int n = carom_stepper_lcp_size(stepper);
        const double *W = carom_stepper_lcp_matrix(stepper);
        double w[MOST_SIZE], z[MOST_SIZE], y_unit[MOST_SIZE], z_unit[MOST_SIZE];
        carom_stepper_lcp_vector(stepper, t.data->velocity, t.lmax, w);
        carom_lcp_info info;
        carom_step_reduced_solve(reduced, w, z, &info);
        if (info.verdict == CAROM_COMPLETE) {
            carom_lcp_units(n, W, y_unit, z_unit);
            for (int k = 0; k < n; k++) assert_true(z[k] >= 0);
            // Both sum the same numbers in another order.
            const double round_off = 1e-15 * (1 + carom_max_abs((size_t)(n * n), W)) * (1 + carom_max_abs((size_t)n, z));
            assert_true(fabs(carom_lcp_residual(n, W, w, z) - info.residual) <= round_off);
            assert_true(carom_lcp_relative_residual(n, W, w, z, y_unit, z_unit) <= CAROM_LCP_TOLERANCE);
        } else {
            assert_true(i % 2 == 0);
        }
        carom_step_reduced_free(reduced);
        carom_stepper_free(stepper);
        carom_impact_free(t.impact);
    }
}

// ------------------------------------------------------------------------------------------- agreement with other methods

typedef struct search {
    const double *v;
    int nv;
    double nearest, farthest;  // velocities of solutions from v
} search;

static carom_status visit(void *user, const double *v_next, const double *impulse, const carom_step_info *info, carom_error *error) {
    (void)impulse;
    (void)info;
    (void)error;
    search *s = user;
    const double away = distance(s->nv, v_next, s->v) / (1 + carom_max_abs((size_t)s->nv, v_next));
    s->nearest = fmin(s->nearest, away);
    s->farthest = fmax(s->farthest, away);
    return CAROM_OK;
}

static search enumerate(trial *t, bool *complete) {
    search s = {.v = t->v, .nv = t->data->nv, .nearest = INFINITY};
    carom_stepper *all;
    carom_error error;
    assert_ok(try_stepper(t->impact, CAROM_STEP_CAPPED, NULL, CAROM_SELECT_ALL, &all, &error), error);
    assert_ok(carom_stepper_enumerate(all, t->data->velocity, t->lmax, visit, &s, complete, &error), error);
    carom_stepper_free(all);
    return s;
}

// v' is one of the solutions that the contact modes have; the only one where the proof says so, and Lemke's then.
static void velocities_are_among_all_solutions(void **state) {
    (void)state;
    int checked = 0, proved = 0, several = 0;
    for (uint64_t i = 0; i < (uint64_t)support_count(300, 3000, 30000); i++) {
        trial t;
        start_trial(&t, i, 3, i % 2 ? 1 : 10);
        carom_stepper *stepper = make_stepper(t.impact, CAROM_STEP_CAPPED, "reduced");
        solve(&t, stepper, CAROM_STEP_CAPPED);
        bool complete;
        const search found = enumerate(&t, &complete);
        if (complete) {
            checked++;
            several += found.farthest > 1e-6;
            assert_true(found.nearest <= 1e-9);
            if (carom_stepper_selection(stepper) == CAROM_SELECT_LEMKE) {
                proved++;
                assert_true(found.farthest <= 1e-9);
            }
        }
        carom_stepper_free(stepper);
        carom_impact_free(t.impact);
    }
    // The family has everything in it.
    assert_true(checked > 100 && proved > 50 && several > 1);
}

static void proved_steps_are_those_of_lemke(void **state) {
    (void)state;
    int proved = 0;
    for (uint64_t i = 0; i < (uint64_t)support_count(500, 10000, 200000); i++) {
        trial t;
        start_trial(&t, i, 4, 2);
        carom_stepper *reduced = make_stepper(t.impact, CAROM_STEP_CAPPED, "reduced"),
                      *lemke = make_stepper(t.impact, CAROM_STEP_CAPPED, NULL);
        if (carom_stepper_selection(reduced) == CAROM_SELECT_LEMKE) {
            double expected[MOST_VELOCITIES];
            solve(&t, lemke, CAROM_STEP_CAPPED);
            memcpy(expected, t.v, sizeof expected);
            solve(&t, reduced, CAROM_STEP_CAPPED);
            assert_all_close(t.v, expected, t.data->nv, 1e-12);
            proved++;
        }
        carom_stepper_free(reduced);
        carom_stepper_free(lemke);
        carom_impact_free(t.impact);
    }
    assert_true(proved > 100);
}

static carom_simulator *make_simulator(const carom_impact *impact, const char *path) {
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = CAROM_STEP_CAPPED;
    options.path = path;
    carom_simulator *simulator;
    carom_error error;
    assert_ok(carom_simulator_create(impact, &options, 0.3, 100, CAROM_DRAW_UNIFORM, &simulator, &error), error);
    return simulator;
}

// Whole samples of the block, whose v' is proved unique: the same steps to the same velocity.
static void samples_of_the_block_are_those_of_lemke(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_simulator *reduced = make_simulator(impact, "reduced"), *lemke = make_simulator(impact, NULL);
    assert_int_equal(carom_simulator_selection(reduced), CAROM_SELECT_LEMKE);
    for (int64_t i = 0; i < support_count(500, 5000, 50000); i++) {
        double v[3], expected[3], impulse[4];
        carom_simulation own, other;
        carom_simulator_run(reduced, 0, i, v, impulse, &own);
        carom_simulator_run(lemke, 0, i, expected, impulse, &other);
        assert_int_equal(own.steps, other.steps);
        assert_int_equal(own.fallbacks, 0);
        assert_all_close(v, expected, 3, 1e-12);
    }
    carom_simulator_free(reduced);
    carom_simulator_free(lemke);
    carom_impact_free(impact);
}

// Steps along the samples of every planar scene: velocities at rest and impulses at caps make them as degenerate as they come.
static void steps_of_the_scenes_obey_the_laws(void **state) {
    (void)state;
    for (int k = 0; k < SCENES; k++) {
        carom_impact *impact = support_impact(scenes[k]);
        carom_stepper *stepper = make_stepper(impact, CAROM_STEP_CAPPED, "reduced");
        // Only of the block's is v' proved unique; compass and RAMone have three.
        assert_int_equal(carom_stepper_selection(stepper), k == 0 ? CAROM_SELECT_LEMKE : CAROM_SELECT_ANY);
        carom_stream stream;
        carom_stream_start(&stream, 9, (uint64_t)k);
        double v[MOST_VELOCITIES], next[MOST_VELOCITIES], impulse[MOST_SPACE], u[MOST_SPACE], lmax[MOST_CONTACTS];
        memcpy(v, scenes[k]->velocity, (size_t)scenes[k]->nv * sizeof *v);
        for (int i = 0; i < support_count(300, 3000, 30000); i++) {
            for (int c = 0; c < scenes[k]->contacts; c++) lmax[c] = 0.3 * carom_stream_uniform(&stream);
            carom_step_info info;
            carom_stepper_solve(stepper, v, lmax, next, impulse, &info);
            assert_int_equal(info.verdict, CAROM_COMPLETE);
            assert_int_equal(info.fallbacks, 0);
            check_laws(impact, v, lmax, next, impulse);
            carom_impact_contact_velocity(impact, next, u);
            memcpy(v, carom_impact_terminated(impact, u) ? scenes[k]->velocity : next, (size_t)scenes[k]->nv * sizeof *v);
        }
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
}

// ------------------------------------------------------------------------------------------------------ instruction sets

static void instruction_sets_give_the_same_bits(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (uint64_t)support_count(300, 3000, 30000); i++) {
        trial t;
        start_trial(&t, i, MOST_CONTACTS, i % 2 ? 10 : 1e5);
        double v[MOST_VELOCITIES], impulse[MOST_SPACE];
        for (int p = 0; carom_step_reduced_names[p]; p++) {
            carom_stepper *stepper;
            carom_error error;
            const carom_status status =
                try_stepper(t.impact, CAROM_STEP_CAPPED, carom_step_reduced_names[p], CAROM_SELECT_ANY, &stepper, &error);
            if (status == CAROM_UNSUPPORTED) continue;
            assert_ok(status, error);
            solve(&t, stepper, CAROM_STEP_CAPPED);
            if (p == 0) {
                memcpy(v, t.v, sizeof v);
                memcpy(impulse, t.impulse, sizeof impulse);
            }
            assert_memory_equal(t.v, v, (size_t)t.data->nv * sizeof *v);
            assert_memory_equal(t.impulse, impulse, (size_t)(2 * t.data->contacts) * sizeof *impulse);
            carom_stepper_free(stepper);
        }
        carom_impact_free(t.impact);
    }
}

// ------------------------------------------------------------------------------------------------------ proof of uniqueness

static carom_selection served(const carom_impact *impact) {
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_CAPPED, "reduced");
    const carom_selection selection = carom_stepper_selection(stepper);
    carom_stepper_free(stepper);
    return selection;
}

// The block's corners slide together because they belong to one body. The same matrix in contact space knows no body, and there the corners
// may slide against each other: nothing is proved.
static void the_proof_of_the_block_needs_its_body(void **state) {
    (void)state;
    carom_impact *block = support_impact(&reference_block), *delassus;
    double u[4];
    carom_error error;
    carom_impact_contact_velocity(block, reference_block.velocity, u);
    const carom_delassus_data data = {2, 1, carom_impact_delassus(block), u, reference_block.friction, NULL, NULL};
    assert_ok(carom_impact_create_delassus(&data, &delassus, &error), error);
    assert_int_equal(served(block), CAROM_SELECT_LEMKE);
    assert_int_equal(served(delassus), CAROM_SELECT_ANY);
    carom_impact_free(delassus);
    carom_impact_free(block);
}

// One contact with W = [[2, -c], [-c, 2]]: slip has the determinant 2 - mu c, and mu c > 2 is Painleve's case of several solutions.
static void the_proof_finds_the_limit_of_friction(void **state) {
    (void)state;
    static const double W[] = {2, -1.5, -1.5, 2}, u[] = {-1, 0.3};
    static const struct {
        double mu;
        carom_selection served;
    } rows[] = {{0, CAROM_SELECT_LEMKE}, {1.3, CAROM_SELECT_LEMKE}, {1.34, CAROM_SELECT_ANY}, {10, CAROM_SELECT_ANY}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const carom_delassus_data data = {1, 1, W, u, &rows[i].mu, NULL, NULL};
        carom_impact *impact;
        carom_error error;
        assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
        assert_int_equal(served(impact), rows[i].served);
        carom_impact_free(impact);
    }
}

// --------------------------------------------------------------------------------------------------------------- refusals

static void bad_paths_are_refused(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 1, 1);
    carom_impact *spatial = support_random_impact(&stream, FAMILY_PLAIN, 3, 2, 1), *block = support_impact(&reference_block);
    carom_stepper *stepper;
    carom_error error;
    assert_refused(try_stepper(spatial, CAROM_STEP_CAPPED, "reduced", CAROM_SELECT_ANY, &stepper, &error), CAROM_BAD_INPUT, error,
                   "planar contacts");
    assert_null(stepper);
    assert_refused(try_stepper(block, CAROM_STEP_CAPPED, "reduced:mmx", CAROM_SELECT_ANY, &stepper, &error), CAROM_BAD_INPUT, error,
                   "reduced:mmx");
    carom_impact_free(spatial);
    carom_impact_free(block);
}

static void nan_velocities_are_unsolved(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_stepper *stepper = make_stepper(impact, CAROM_STEP_CAPPED, "reduced");
    const double v[] = {0, NAN, 0};
    double next[3], impulse[4];
    carom_step_info info;
    carom_stepper_solve(stepper, v, (double[]){1, 1}, next, impulse, &info);
    assert_int_equal(info.verdict, CAROM_UNVERIFIED);
    for (int c = 0; c < 4; c++) assert_true(impulse[c] == 0);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

static carom_status sample(const carom_impact_data *data, const char *path, carom_sample_statistics *statistics, carom_error *error) {
    carom_impact *impact = support_impact(data);
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, error), *error);
    carom_sample_options options = carom_sample_defaults();
    options.samples = 600;
    options.path = path;
    const carom_status status = carom_reach_sample(impact, &options, registry, NULL, NULL, statistics, error);
    carom_registry_free(registry);
    carom_impact_free(impact);
    return status;
}

// The sampler takes the path, says what ran and what was served.
static void sampling_records_path_and_selection(void **state) {
    (void)state;
    carom_sample_statistics statistics, scalar;
    carom_error error;
    assert_ok(sample(&reference_disks, "reduced", &statistics, &error), error);
    assert_string_equal(statistics.path, carom_step_reduced_path("reduced"));
    assert_int_equal(statistics.selection, CAROM_SELECT_ANY);
    assert_int_equal(statistics.unsolved, 0);
    assert_ok(sample(&reference_disks, "reduced:scalar", &scalar, &error), error);
    assert_string_equal(scalar.path, "reduced:scalar");
    assert_string_equal(scalar.digest, statistics.digest);
    assert_ok(sample(&reference_block, "reduced", &statistics, &error), error);
    assert_int_equal(statistics.selection, CAROM_SELECT_LEMKE);
    assert_refused(sample(&reference_block, "reduce", &statistics, &error), CAROM_BAD_INPUT, error, "path: 'reduce'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_steps_obey_the_laws),
        cmocka_unit_test(steep_cones_are_solved),
        cmocka_unit_test(uncapped_steps_are_solved),
        cmocka_unit_test(simple_steps_are_exact),
        cmocka_unit_test(solutions_pass_the_one_verifier),
        cmocka_unit_test(velocities_are_among_all_solutions),
        cmocka_unit_test(proved_steps_are_those_of_lemke),
        cmocka_unit_test(samples_of_the_block_are_those_of_lemke),
        cmocka_unit_test(steps_of_the_scenes_obey_the_laws),
        cmocka_unit_test(instruction_sets_give_the_same_bits),
        cmocka_unit_test(the_proof_of_the_block_needs_its_body),
        cmocka_unit_test(the_proof_finds_the_limit_of_friction),
        cmocka_unit_test(bad_paths_are_refused),
        cmocka_unit_test(nan_velocities_are_unsolved),
        cmocka_unit_test(sampling_records_path_and_selection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
