// SPDX-License-Identifier: Apache-2.0
// The solvers of Siconos: each name solves or is refused with a reason, silently, and `siconos-lemke` agrees with our Lemke.
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1  // as gcc calls it
#endif
#endif

static const double small_W[] = {2, 1, 1, 2}, small_w[] = {-1, -1};

typedef void (*visit)(const carom_lcp_solver *solver);

static carom_registry *make_registry(void) {
    carom_error error;
    carom_registry *registry = NULL;
    assert_ok(carom_registry_create_empty(&registry, &error), error);
    assert_ok(carom_siconos_register(registry, &error), error);
    return registry;
}

static const carom_lcp_solver *find(const carom_registry *registry, const char *name) {
    const carom_lcp_solver *solver = carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, name);
    assert_non_null(solver);
    return solver;
}

// Siconos loses memory in every solve of its enumeration, which a leak checker would lay at our door.
static bool may_run(const carom_lcp_solver *solver) {
#ifdef __SANITIZE_ADDRESS__
    const bool checked = true;
#else
    const bool checked = getenv("CAROM_TEST_WRAPPER") != NULL;
#endif
    return !checked || strcmp(solver->name, "siconos-enum") != 0;
}

// Calls `visit` for every solver that this build offers; returns their number.
static int visit_offered(visit call) {
    carom_registry *registry = make_registry();
    int offered = 0;
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_SOLVERS); i++) {
        const carom_lcp_solver *solver = carom_registry_entry(registry, CAROM_REGISTRY_SOLVERS, i);
        carom_lcp *lcp = NULL;
        if (!may_run(solver) || carom_lcp_create(solver, 2, small_W, &lcp, NULL)) continue;
        carom_lcp_free(lcp);
        call(solver);
        offered++;
    }
    carom_registry_free(registry);
    return offered;
}

static carom_lcp *bind(const carom_lcp_solver *solver, int n, const double *W) {
    carom_error error;
    carom_lcp *lcp = NULL;
    assert_ok(carom_lcp_create(solver, n, W, &lcp, &error), error);
    return lcp;
}

static carom_stepper *make_stepper(const carom_impact *impact, const carom_lcp_solver *solver) {
    carom_error error;
    carom_stepper *stepper = NULL;
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = CAROM_STEP_CAPPED;
    options.solver = solver;
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    return stepper;
}

// ------------------------------------------------------------------------------------------------------- every solver

static void test_every_name_solves_or_is_refused_with_a_reason(void **state) {
    (void)state;
    carom_registry *registry = make_registry();
    const int count = carom_registry_count(registry, CAROM_REGISTRY_SOLVERS);
    assert_true(count > 10);
    for (int i = 0; i < count; i++) {
        const carom_lcp_solver *solver = carom_registry_entry(registry, CAROM_REGISTRY_SOLVERS, i);
        assert_int_equal(strncmp(solver->name, "siconos-", 8), 0);
        assert_false(solver->canonical);
        assert_true(strlen(solver->summary) > 10);
        if (!may_run(solver)) continue;
        carom_error error;
        carom_lcp *lcp = NULL;
        const carom_status status = carom_lcp_create(solver, 2, small_W, &lcp, &error);
        if (status) {
            assert_refused(status, CAROM_UNSUPPORTED, error, solver->name);
            assert_true(strlen(error.message) > strlen(solver->name) + 10);
            continue;
        }
        double z[2];
        carom_lcp_info info;
        carom_lcp_solve(lcp, small_w, z, &info);
        assert_int_equal(info.verdict, CAROM_COMPLETE);
        assert_all_close(z, ((double[]){1.0 / 3, 1.0 / 3}), 2, 1e-9);
        carom_lcp_free(lcp);
    }
    carom_registry_free(registry);
}

static void test_harmful_solvers_are_refused(void **state) {
    (void)state;
    static const char *const refusals[][2] = {
        {"siconos-pivot", "prints to standard output"},
        {"siconos-pivot-lumod", "aborts"},
        {"siconos-qp", "lacks"},
        {"siconos-nsqp", "lacks"},
        {"siconos-gams", "lacks"},
        {"siconos-newton-fb", "prints to standard error"},
        {"siconos-convexqp-pg", "memory"},
        {"siconos-nsgs-sbm", "exits"},
    };
    carom_registry *registry = make_registry();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        carom_error error;
        carom_lcp *lcp = NULL;
        const carom_status status = carom_lcp_create(find(registry, refusals[i][0]), 2, small_W, &lcp, &error);
        assert_refused(status, CAROM_UNSUPPORTED, error, refusals[i][1]);
        assert_null(lcp);
    }
    carom_registry_free(registry);
}

static void test_names_are_registered_once(void **state) {
    (void)state;
    carom_error error;
    carom_registry *registry = make_registry();
    assert_refused(carom_siconos_register(registry, &error), CAROM_BAD_INPUT, error, "siconos-lemke");
    carom_registry_free(registry);
}

static void check_size_one(const carom_lcp_solver *solver) {
    const double positive = 4;
    double z;
    carom_lcp_info info;
    carom_lcp *lcp = bind(solver, 1, &positive);
    carom_lcp_solve(lcp, &(double){-2}, &z, &info);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    assert_true(z == 0.5);
    carom_lcp_free(lcp);
    // Siconos would return -q/M for these: a negative z, and infinity.
    for (double W = -1; W <= 0; W++) {
        if (carom_lcp_create(solver, 1, &W, &lcp, NULL)) continue;
        carom_lcp_solve(lcp, &(double){-2}, &z, &info);
        assert_int_equal(info.verdict, CAROM_RAY);
        assert_true(z == 0);
        carom_lcp_free(lcp);
    }
}

static void check_not_finite(const carom_lcp_solver *solver) {
    carom_lcp *lcp = bind(solver, 2, small_W);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        double z[] = {7, 7};
        carom_lcp_info info;
        carom_lcp_solve(lcp, (double[]){-1, bad[i]}, z, &info);
        assert_int_equal(info.verdict, CAROM_UNVERIFIED);
        assert_true(info.residual == INFINITY);
        assert_true(z[0] == 0 && z[1] == 0);
    }
    carom_lcp_free(lcp);
}

static void check_unsolvable(const carom_lcp_solver *solver) {
    const double W[] = {1, -1, -1, 1};
    double z[2];
    carom_lcp_info info;
    carom_lcp *lcp = bind(solver, 2, W);
    carom_lcp_solve(lcp, small_w, z, &info);
    assert_int_not_equal(info.verdict, CAROM_COMPLETE);
    if (info.verdict == CAROM_RAY) assert_true(z[0] == 0 && z[1] == 0);
    carom_lcp_free(lcp);
}

// Diagonally dominant and symmetric: a problem for every method. The size changes from solve to solve.
static void check_sizes(const carom_lcp_solver *solver) {
    carom_stream stream;
    carom_stream_start(&stream, 2, 1);
    const int sizes[] = {3, 12, 2, 7, 12, 5};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        const int n = sizes[t];
        double W[144], w[12], z[12], ours[12];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) W[i * n + j] = W[j * n + i] = carom_stream_normal(&stream) / n;
            W[i * n + i] = 4;
            w[i] = carom_stream_normal(&stream);
        }
        carom_lcp_info info;
        carom_lcp *lcp = bind(solver, n, W), *lemke = bind(&carom_lcp_lemke, n, W);
        carom_lcp_solve(lcp, w, z, &info);
        assert_int_equal(info.verdict, CAROM_COMPLETE);
        carom_lcp_solve(lemke, w, ours, &info);
        assert_all_close(z, ours, n, 1e-9);
        carom_lcp_free(lcp);
        carom_lcp_free(lemke);
    }
}

// Numbers over `decades` orders of magnitude, some zero. Results are checked by the layer; here only that no input kills the program, which
// overflow and assertions inside Siconos could.
static void feed_wild_numbers(const carom_lcp_solver *solver, double decades, int count) {
    carom_stream stream;
    carom_stream_start(&stream, 2, 2);
    for (int t = 0; t < count; t++) {
        const int n = support_random_integer(&stream, 2, 9);
        double W[81], w[9], z[9];
        for (int i = 0; i < n * n; i++) {
            const double magnitude = pow(10, decades * (carom_stream_uniform(&stream) - 1));
            W[i] = carom_stream_uniform(&stream) < 0.7 ? magnitude * carom_stream_normal(&stream) : 0;
        }
        for (int i = 0; i < n; i++) w[i] = carom_stream_normal(&stream) * pow(10, decades * (carom_stream_uniform(&stream) - 1));
        carom_lcp *lcp = NULL;
        if (carom_lcp_create(solver, n, W, &lcp, NULL)) continue;
        carom_lcp_info info;
        carom_lcp_solve(lcp, w, z, &info);
        // What counts as solved passes the verifier; the residual in the problem's own units may refuse more.
        assert_true(info.verdict != CAROM_COMPLETE || carom_lcp_residual(n, W, w, z) <= CAROM_LCP_TOLERANCE);
        carom_lcp_free(lcp);
    }
}

static void check_wild_numbers(const carom_lcp_solver *solver) {
    feed_wild_numbers(solver, 30, support_count(20, 200, 5000));
    feed_wild_numbers(solver, 300, support_count(20, 200, 5000));
}

static void test_sizes_of_one(void **state) {
    (void)state;
    assert_true(visit_offered(check_size_one) >= 6);
}

static void test_vectors_that_are_not_finite(void **state) {
    (void)state;
    visit_offered(check_not_finite);
}

static void test_unsolvable_problems(void **state) {
    (void)state;
    visit_offered(check_unsolvable);
}

static void test_sizes_in_any_order(void **state) {
    (void)state;
    visit_offered(check_sizes);
}

static void test_wild_numbers(void **state) {
    (void)state;
    visit_offered(check_wild_numbers);
}

// Without the zeroing of negligible entries, the assertion on a pivot that overflowed ended the program within a thousand of these.
static void test_overflow_is_no_end(void **state) {
    (void)state;
    carom_registry *registry = make_registry();
    feed_wild_numbers(find(registry, "siconos-avi-caoferris"), 300, support_count(20, 5000, 200000));
    feed_wild_numbers(find(registry, "siconos-lemke"), 300, support_count(20, 5000, 200000));
    carom_registry_free(registry);
}

static void test_limits_are_refused(void **state) {
    (void)state;
    carom_registry *registry = make_registry();
    carom_error error;
    carom_lcp *lcp = NULL;
    const double zero_diagonal[] = {1, 1, 1, 0};
    double large[21 * 21] = {0};
    assert_refused(carom_lcp_create(find(registry, "siconos-enum"), 21, large, &lcp, &error), CAROM_BAD_INPUT, error, "size 21");
    assert_refused(carom_lcp_create(find(registry, "siconos-pgs"), 2, zero_diagonal, &lcp, &error), CAROM_BAD_INPUT, error, "W[1][1]");
    carom_registry_free(registry);
}

// ------------------------------------------------------------------------------------------------------- siconos-lemke

// Follows our Lemke's trajectories of the block and compares each step; returns the number of steps.
static int compare_steps(const carom_impact *impact, const carom_lcp_solver *solver, double step, int samples) {
    carom_stepper *ours = make_stepper(impact, &carom_lcp_lemke), *theirs = make_stepper(impact, solver);
    assert_int_equal(carom_stepper_selection(theirs), CAROM_SELECT_ANY);
    const carom_impact_data *data = carom_impact_get_data(impact);
    int steps = 0;
    for (int sample = 0; sample < samples; sample++) {
        carom_stream stream;
        carom_stream_start(&stream, 3, (uint64_t)sample);
        double v[9], v_ours[9], v_theirs[9], u[10], lmax[5], impulse[10];
        memcpy(v, data->velocity, (size_t)data->nv * sizeof *v);
        carom_impact_contact_velocity(impact, v, u);
        for (int k = 0; k < 30 && !carom_impact_terminated(impact, u); k++, steps++) {
            carom_step_info info;
            for (int i = 0; i < data->contacts; i++) lmax[i] = step * carom_stream_uniform(&stream);
            carom_stepper_solve(theirs, v, lmax, v_theirs, impulse, &info);
            assert_int_equal(info.verdict, CAROM_COMPLETE);
            carom_stepper_solve(ours, v, lmax, v_ours, impulse, &info);
            assert_int_equal(info.verdict, CAROM_COMPLETE);
            assert_all_close(v_theirs, v_ours, data->nv, 1e-9);
            memcpy(v, v_ours, sizeof v);
            carom_impact_contact_velocity(impact, v, u);
        }
    }
    carom_stepper_free(ours);
    carom_stepper_free(theirs);
    return steps;
}

static void test_lemke_agrees_on_the_block(void **state) {
    (void)state;
    carom_registry *registry = make_registry();
    carom_impact *impact = support_impact(&reference_block);
    const int samples = support_count(50, 3000, 50000);
    assert_true(compare_steps(impact, find(registry, "siconos-lemke"), 0.3, samples) > samples);
    carom_impact_free(impact);
    carom_registry_free(registry);
}

// Failures of Siconos' Lemke are frequent in these families; the perturbed retries solve all.
static void test_lemke_solves_degenerate_impacts(void **state) {
    (void)state;
    carom_registry *registry = make_registry();
    carom_stream stream;
    carom_stream_start(&stream, 4, 0);
    int fallbacks = 0, unsolved = 0;
    const int count = support_count(30, 1000, 20000);
    for (int t = 0; t < count; t++) {
        const support_family family = (support_family)(t % FAMILIES);
        carom_impact *impact = support_random_impact(&stream, family, 4, 1 + t / FAMILIES % 2, 2);
        carom_stepper *stepper = make_stepper(impact, find(registry, "siconos-lemke"));
        const carom_impact_data *data = carom_impact_get_data(impact);
        double lmax[4], v_next[12], impulse[12];
        for (int i = 0; i < data->contacts; i++) lmax[i] = family == FAMILY_ZERO_CAPS && i % 2 == 0 ? 0 : carom_stream_uniform(&stream);
        carom_step_info info;
        carom_stepper_solve(stepper, data->velocity, lmax, v_next, impulse, &info);
        fallbacks += info.fallbacks > 0;
        unsolved += info.verdict != CAROM_COMPLETE;
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
    assert_true(fallbacks > 0);
    assert_int_equal(unsolved, 0);
    carom_registry_free(registry);
}

typedef struct stream_run {
    const carom_impact *impact;
    const carom_lcp_solver *solver;
    double results[2000][2];  // v_next of the block's height and angle
} stream_run;

static carom_status run_block(void *user, int worker, int slot, int64_t block, carom_error *error) {
    (void)worker, (void)slot;
    stream_run *run = user;
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = CAROM_STEP_CAPPED;
    options.solver = run->solver;
    carom_stepper *stepper = NULL;
    const carom_status status = carom_stepper_create(run->impact, &options, &stepper, error);
    if (status) return status;
    for (int64_t i = 100 * block; i < 100 * block + 100; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 5, (uint64_t)i);
        const double lmax[] = {0.3 * carom_stream_uniform(&stream), 0.3 * carom_stream_uniform(&stream)};
        double v_next[3], impulse[4];
        carom_step_info info;
        carom_stepper_solve(stepper, reference_block.velocity, lmax, v_next, impulse, &info);
        run->results[i][0] = v_next[1];
        run->results[i][1] = v_next[2];
    }
    carom_stepper_free(stepper);
    return CAROM_OK;
}

static carom_status deliver_nothing(void *user, int slot, int64_t block, carom_error *error) {
    (void)user, (void)slot, (void)block, (void)error;
    return CAROM_OK;
}

static void test_threads_give_the_same_bits(void **state) {
    (void)state;
    carom_registry *registry = make_registry();
    carom_impact *impact = support_impact(&reference_block);
    stream_run runs[2];
    for (int r = 0; r < 2; r++) {
        carom_error error;
        int64_t delivered;
        memset(&runs[r], 0, sizeof runs[r]);
        runs[r].impact = impact;
        runs[r].solver = find(registry, "siconos-lemke");
        const carom_loop loop = {.blocks = 20, .user = &runs[r], .compute = run_block, .deliver = deliver_nothing};
        const carom_control control = {.threads = r + 1};
        assert_ok(carom_loop_run(&loop, &control, r + 1, &delivered, &error), error);
        assert_int_equal(delivered, 20);
    }
    assert_memory_equal(runs[0].results, runs[1].results, sizeof runs[0].results);
    carom_impact_free(impact);
    carom_registry_free(registry);
}

// ------------------------------------------------------------------------------------------------------------- silence

static void solve_impacts(const carom_lcp_solver *solver) {
    carom_stream stream;
    carom_stream_start(&stream, 6, 0);
    for (int t = 0; t < support_count(10, 60, 1000); t++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(t % FAMILIES), 2, 1, 2);
        const double *velocity = carom_impact_get_data(impact)->velocity;
        carom_stepper_options options = carom_stepper_defaults();
        options.kind = CAROM_STEP_CAPPED;
        options.solver = solver;
        carom_stepper *stepper = NULL;
        // Where the diagonal must be positive, impact steps are refused.
        if (!carom_stepper_create(impact, &options, &stepper, NULL)) {
            double v_next[6], impulse[4];
            carom_step_info info;
            carom_stepper_solve(stepper, velocity, (double[]){0.3, 0.2}, v_next, impulse, &info);
        }
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
}

static void test_nothing_is_printed(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char *path = support_write_file(directory, "output", "");
    // Everything that writes to the two descriptors is caught, C library or not.
    fflush(NULL);
    const int file = open(path, O_WRONLY | O_APPEND), kept_out = dup(STDOUT_FILENO), kept_err = dup(STDERR_FILENO);
    assert_true(file >= 0 && kept_out >= 0 && kept_err >= 0);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    visit_offered(solve_impacts);
    visit_offered(check_unsolvable);
    fflush(NULL);
    dup2(kept_out, STDOUT_FILENO);
    dup2(kept_err, STDERR_FILENO);
    close(file);
    close(kept_out);
    close(kept_err);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 0);
    free(path);
    support_remove_directory(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_name_solves_or_is_refused_with_a_reason),
        cmocka_unit_test(test_harmful_solvers_are_refused),
        cmocka_unit_test(test_names_are_registered_once),
        cmocka_unit_test(test_sizes_of_one),
        cmocka_unit_test(test_vectors_that_are_not_finite),
        cmocka_unit_test(test_unsolvable_problems),
        cmocka_unit_test(test_sizes_in_any_order),
        cmocka_unit_test(test_wild_numbers),
        cmocka_unit_test(test_overflow_is_no_end),
        cmocka_unit_test(test_limits_are_refused),
        cmocka_unit_test(test_lemke_agrees_on_the_block),
        cmocka_unit_test(test_lemke_solves_degenerate_impacts),
        cmocka_unit_test(test_threads_give_the_same_bits),
        cmocka_unit_test(test_nothing_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
