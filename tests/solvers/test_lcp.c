// SPDX-License-Identifier: Apache-2.0
// The LCP layer and our Lemke: the verifier by hand, solutions against all complementary bases, refusals.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/lcp.h"
#include "solvers/lemke/kernel.h"
#include "support.h"

enum { MAX_N = 8, MAX_SOLUTIONS = 1 << MAX_N };

typedef struct problem {
    int n;
    double W[MAX_N * MAX_N], w[MAX_N];
} problem;

static carom_lcp *bind(const problem *p) {
    carom_error error;
    carom_lcp *lcp = NULL;
    assert_ok(carom_lcp_create(&carom_lcp_lemke, p->n, p->W, &lcp, &error), error);
    return lcp;
}

static carom_lcp_info solve(const problem *p, double *z) {
    carom_lcp *lcp = bind(p);
    carom_lcp_info info;
    carom_lcp_solve(lcp, p->w, z, &info);
    carom_lcp_free(lcp);
    return info;
}

static void assert_solution(const problem *p, const double *expected) {
    double z[MAX_N];
    const carom_lcp_info info = solve(p, z);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    assert_true(info.residual <= 1e-14);
    assert_all_close(z, expected, p->n, 1e-14);
}

// ---------------------------------------------------------------------------------------- enumeration, the brute force

// Gaussian elimination with full row exchange on the small system A x = b. False when a pivot is negligible: the basis is skipped.
static bool eliminate(int n, double A[][MAX_N], double *b) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i][k]) > fabs(A[best][k])) best = i;
        if (fabs(A[best][k]) < 1e-9) return false;
        for (int j = 0; j < n; j++) {
            const double kept = A[k][j];
            A[k][j] = A[best][j];
            A[best][j] = kept;
        }
        const double kept = b[k];
        b[k] = b[best];
        b[best] = kept;
        for (int i = k + 1; i < n; i++) {
            const double factor = A[i][k] / A[k][k];
            for (int j = k; j < n; j++) A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
    return true;
}

// The candidate of one complementary basis: bit i of `mask` says that z_i is basic.
static bool basis_solution(const problem *p, unsigned mask, double *z) {
    int members[MAX_N], count = 0;
    double A[MAX_N][MAX_N], b[MAX_N];
    for (int i = 0; i < p->n; i++)
        if (mask >> i & 1) members[count++] = i;
    for (int a = 0; a < count; a++) {
        for (int c = 0; c < count; c++) A[a][c] = p->W[members[a] * p->n + members[c]];
        b[a] = -p->w[members[a]];
    }
    if (!eliminate(count, A, b)) return false;
    memset(z, 0, (size_t)p->n * sizeof *z);
    for (int a = 0; a < count; a++) z[members[a]] = b[a];
    return carom_lcp_residual(p->n, p->W, p->w, z) < 1e-10;
}

static int enumerate(const problem *p, double solutions[][MAX_N]) {
    int found = 0;
    for (unsigned mask = 0; mask < 1U << p->n; mask++)
        if (basis_solution(p, mask, solutions[found])) found++;
    return found;
}

static double distance(int n, const double *a, const double *b) {
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

static double distance_to_nearest(int n, const double *z, int count, double solutions[][MAX_N]) {
    double nearest = INFINITY;
    for (int i = 0; i < count; i++) nearest = fmin(nearest, distance(n, z, solutions[i]));
    return nearest;
}

// ----------------------------------------------------------------------------------------------------- random problems

static void draw_vector(carom_stream *stream, problem *p) {
    for (int i = 0; i < p->n; i++) p->w[i] = carom_stream_normal(stream);
}

// W = A A' with A [n x rank], plus `shift` on the diagonal, plus `skew` times a skew-symmetric matrix. A is of small integers, so that a
// singular basis is exactly singular and the others are well conditioned.
static problem draw_semidefinite(carom_stream *stream, int rank, double shift, double skew) {
    problem p = {.n = support_random_integer(stream, 1, MAX_N)};
    double A[MAX_N][MAX_N];
    for (int i = 0; i < p.n; i++)
        for (int j = 0; j < rank; j++) A[i][j] = support_random_integer(stream, -3, 3);
    for (int i = 0; i < p.n; i++) {
        for (int j = 0; j < p.n; j++)
            for (int k = 0; k < rank; k++) p.W[i * p.n + j] += A[i][k] * A[j][k];
        p.W[i * p.n + i] += shift;
    }
    for (int i = 0; i < p.n; i++) {
        for (int j = 0; j < i; j++) {
            const double entry = skew * carom_stream_normal(stream);
            p.W[i * p.n + j] += entry;
            p.W[j * p.n + i] -= entry;
        }
    }
    draw_vector(stream, &p);
    return p;
}

// Non-negative entries and a positive diagonal: strictly copositive, rarely definite.
static problem draw_copositive(carom_stream *stream) {
    problem p = {.n = support_random_integer(stream, 1, MAX_N)};
    for (int i = 0; i < p.n * p.n; i++) p.W[i] = carom_stream_uniform(stream);
    draw_vector(stream, &p);
    return p;
}

// Capped steps, whose LCPs are those of sampling.
static carom_stepper *make_capped(const carom_impact *impact) {
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = CAROM_STEP_CAPPED;
    carom_error error;
    carom_stepper *stepper = NULL;
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    return stepper;
}

static int problems(void) { return support_count(50, 1000, 20000); }

// ------------------------------------------------------------------------------------------------------------ verifier

static void test_residual_of_hand_examples(void **state) {
    (void)state;
    const double W[] = {2, 1, 1, 2}, w[] = {-1, -1};
    // Solution (1/3, 1/3); at zero the slack is w: 1 / (1 + 1); at (1, 0) it is (1, 0).
    assert_close(carom_lcp_residual(2, W, w, (double[]){1.0 / 3, 1.0 / 3}), 0, 1e-16);
    assert_close(carom_lcp_residual(2, W, w, (double[]){0, 0}), 0.5, 1e-16);
    assert_close(carom_lcp_residual(2, W, w, (double[]){1, 0}), 0.5, 1e-16);
    // A negative z counts by its size: slack (0.5, 0.75), scale 2.
    assert_close(carom_lcp_residual(2, W, (double[]){1, 1}, (double[]){-0.25, 0}), 0.125, 1e-16);
    // The scale is 1 + ||w||_inf = 8, and rows of W are read as rows.
    const double V[] = {0, 3, 1, 0}, v[] = {4, -7};
    assert_close(carom_lcp_residual(2, V, v, (double[]){2, 0}), 5.0 / 8, 1e-16);
}

static void test_residual_of_numbers_that_are_not_finite(void **state) {
    (void)state;
    const double good[] = {1, 1};
    const double W[] = {2, 1, 1, 2};
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        const double vector[] = {1, bad[i]}, matrix[] = {1, 0, bad[i], 1};
        assert_true(carom_lcp_residual(2, W, good, vector) == INFINITY);
        assert_true(carom_lcp_residual(2, W, vector, good) == INFINITY);
        assert_true(carom_lcp_residual(2, matrix, good, good) == INFINITY);
    }
    // Finite data whose product overflows.
    const double huge[] = {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX};
    assert_true(carom_lcp_residual(2, huge, good, (double[]){2, 2}) == INFINITY);
}

// ------------------------------------------------------------------------------------------------------------- solving

static void test_small_problems(void **state) {
    (void)state;
    assert_solution(&(problem){2, {2, 1, 1, 2}, {-1, -1}}, (double[]){1.0 / 3, 1.0 / 3});
    assert_solution(&(problem){2, {2, 1, 1, 2}, {-5, -6}}, (double[]){4.0 / 3, 7.0 / 3});
    assert_solution(&(problem){2, {2, 1, 1, 2}, {-1, 3}}, (double[]){0.5, 0});
    // A zero diagonal, as in the cap block of the impact step.
    assert_solution(&(problem){2, {0, -1, 1, 0}, {1, -1}}, (double[]){1, 1});
    assert_solution(&(problem){1, {4}, {-2}}, (double[]){0.5});
}

static void test_finds_one_of_several_solutions(void **state) {
    (void)state;
    // (1, 0), (0, 1) and (1/3, 1/3).
    const problem p = {2, {1, 2, 2, 1}, {-1, -1}};
    double z[2], solutions[MAX_SOLUTIONS][MAX_N];
    assert_int_equal(enumerate(&p, solutions), 3);
    assert_int_equal(solve(&p, z).verdict, CAROM_COMPLETE);
    assert_true(distance_to_nearest(2, z, 3, solutions) < 1e-15);
}

static void test_non_negative_vector_gives_zero(void **state) {
    (void)state;
    // W has no say: it may even be negative.
    const problem p = {3, {-1, 0, 0, 0, -1, 0, 0, 0, -1}, {0, 2, 1e-300}};
    double z[] = {7, 7, 7};
    const carom_lcp_info info = solve(&p, z);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    assert_int_equal(info.pivots, 0);
    assert_true(info.residual == 0);
    for (int i = 0; i < 3; i++) assert_true(z[i] == 0);
}

static void test_unsolvable_problem_ends_on_a_ray(void **state) {
    (void)state;
    const problem unsolvable[] = {
        {1, {0}, {-1}}, {1, {-1}, {-1}}, {2, {-1, 0, 0, -1}, {-1, -1}}, {2, {1, -1, -1, 1}, {-1, -1}}, {3, {0}, {-1, 2, 3}}};
    for (size_t i = 0; i < sizeof unsolvable / sizeof *unsolvable; i++) {
        double z[MAX_N];
        const carom_lcp_info info = solve(&unsolvable[i], z);
        assert_int_equal(info.verdict, CAROM_RAY);
        assert_true(info.residual > CAROM_LCP_TOLERANCE);
        for (int j = 0; j < unsolvable[i].n; j++) assert_true(z[j] == 0);
    }
}

static void test_definite_problems_have_the_enumerated_solution(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 1, 1);
    for (int t = 0; t < problems(); t++) {
        const problem p = draw_semidefinite(&stream, MAX_N, 0.1, t % 2 ? 1 : 0);
        double z[MAX_N], solutions[MAX_SOLUTIONS][MAX_N];
        assert_int_equal(enumerate(&p, solutions), 1);
        const carom_lcp_info info = solve(&p, z);
        assert_int_equal(info.verdict, CAROM_COMPLETE);
        assert_true(info.residual < 1e-13);
        assert_all_close(z, solutions[0], p.n, 1e-10);
    }
}

static void test_semidefinite_problems_are_solved_where_they_can_be(void **state) {
    (void)state;
    int solved = 0, rays = 0;
    carom_stream stream;
    carom_stream_start(&stream, 1, 2);
    for (int t = 0; t < problems(); t++) {
        const problem p = draw_semidefinite(&stream, support_random_integer(&stream, 1, 3), 0, 0);
        double z[MAX_N], solutions[MAX_SOLUTIONS][MAX_N];
        const bool solvable = enumerate(&p, solutions) > 0;
        const carom_lcp_info info = solve(&p, z);
        assert_int_equal(info.verdict == CAROM_COMPLETE, solvable);
        solved += solvable;
        rays += info.verdict == CAROM_RAY;
    }
    assert_true(solved > 0 && rays > 0);
}

static void test_copositive_problems_have_an_enumerated_solution(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 1, 3);
    for (int t = 0; t < problems(); t++) {
        const problem p = draw_copositive(&stream);
        double z[MAX_N], solutions[MAX_SOLUTIONS][MAX_N];
        const int count = enumerate(&p, solutions);
        assert_int_equal(solve(&p, z).verdict, CAROM_COMPLETE);
        double scale = 1;
        for (int i = 0; i < p.n; i++) scale = fmax(scale, z[i]);
        assert_true(distance_to_nearest(p.n, z, count, solutions) < 1e-9 * scale);
    }
}

static void test_scaling_the_vector_scales_the_solution(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 1, 4);
    const double factors[] = {0x1p-20, 3.7, 0x1p20, 1e-9};
    for (int t = 0; t < problems(); t++) {
        // Solutions need not be unique here: the path, too, must be the same.
        const problem p = draw_copositive(&stream);
        problem scaled = p;
        double z[MAX_N], z_scaled[MAX_N];
        const double factor = factors[t % 4];
        for (int i = 0; i < p.n; i++) scaled.w[i] *= factor;
        const carom_lcp_info info = solve(&p, z), info_scaled = solve(&scaled, z_scaled);
        assert_int_equal(info_scaled.verdict, CAROM_COMPLETE);
        assert_int_equal(info_scaled.pivots, info.pivots);
        for (int i = 0; i < p.n; i++) z_scaled[i] /= factor;
        assert_all_close(z_scaled, z, p.n, 1e-10);
    }
}

static void test_impact_steps_of_every_family_are_solved(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 1, 5);
    for (int t = 0; t < support_count(30, 600, 20000); t++) {
        const support_family family = (support_family)(t % FAMILIES);
        carom_impact *impact = support_random_impact(&stream, family, 4, 1 + t / FAMILIES % 2, 2);
        const carom_impact_data *data = carom_impact_get_data(impact);
        carom_error error;
        carom_stepper *stepper = make_capped(impact);
        const int n = carom_stepper_lcp_size(stepper);
        double lmax[4], w[28], z[28];
        for (int i = 0; i < data->contacts; i++) lmax[i] = family == FAMILY_ZERO_CAPS && i % 2 == 0 ? 0 : carom_stream_uniform(&stream);
        carom_stepper_lcp_vector(stepper, data->velocity, lmax, w);
        carom_lcp *lcp = NULL;
        assert_ok(carom_lcp_create(&carom_lcp_lemke, n, carom_stepper_lcp_matrix(stepper), &lcp, &error), error);
        carom_lcp_info info;
        carom_lcp_solve(lcp, w, z, &info);
        assert_int_equal(info.verdict, CAROM_COMPLETE);
        assert_true(info.residual < 1e-12);
        carom_lcp_free(lcp);
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
}

// ----------------------------------------------------------------------------------------------------------- the layer

static void test_solves_do_not_depend_on_history(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 1, 6);
    problem p = draw_copositive(&stream);
    double first[MAX_N], again[MAX_N], other[MAX_N];
    carom_lcp *lcp = bind(&p);
    // The matrix is copied: the caller may overwrite it.
    for (int i = 0; i < p.n * p.n; i++) p.W[i] = NAN;
    carom_lcp_info info;
    carom_lcp_solve(lcp, p.w, first, &info);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    for (int t = 0; t < 20; t++) {
        problem q = p;
        draw_vector(&stream, &q);
        carom_lcp_solve(lcp, q.w, other, &info);
        carom_lcp_solve(lcp, p.w, again, &info);
        assert_memory_equal(again, first, (size_t)p.n * sizeof *first);
    }
    carom_lcp_free(lcp);
}

// Lemke remembers pivots: a handle with a long memory gives the bits of a fresh one, on degenerate vectors above all.
static void test_memory_changes_nothing(void **state) {
    (void)state;
    enum { STEP_N = 25 };
    carom_error error;
    carom_impact *impact = support_impact(&reference_disks);
    carom_stepper *stepper = make_capped(impact);
    const int n = carom_stepper_lcp_size(stepper);
    assert_int_equal(n, STEP_N);
    carom_lcp *old = NULL;
    assert_ok(carom_lcp_create(&carom_lcp_lemke, n, carom_stepper_lcp_matrix(stepper), &old, &error), error);
    carom_stream stream;
    carom_stream_start(&stream, 1, 21);
    double v[9], caps[5], w[STEP_N], remembered[STEP_N], fresh[STEP_N];
    for (int t = 0; t < support_count(200, 3000, 30000); t++) {
        for (int i = 0; i < 9; i++) v[i] = t % 3 ? carom_stream_normal(&stream) : reference_disks.velocity[i];
        for (int i = 0; i < 5; i++) caps[i] = carom_stream_uniform(&stream);
        carom_stepper_lcp_vector(stepper, v, caps, w);
        carom_lcp_info info;
        carom_lcp_solve(old, w, remembered, &info);
        assert_int_equal(info.verdict, CAROM_COMPLETE);
        if (t % 50 > 1) continue;
        const int64_t pivots = info.pivots;
        carom_lcp *made = NULL;
        assert_ok(carom_lcp_create(&carom_lcp_lemke, n, carom_stepper_lcp_matrix(stepper), &made, &error), error);
        carom_lcp_solve(made, w, fresh, &info);
        assert_memory_equal(remembered, fresh, (size_t)n * sizeof *fresh);
        assert_int_equal(info.pivots, pivots);
        carom_lcp_free(made);
    }
    carom_lcp_free(old);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
}

// Bounds that are kept in single precision do not lose the ties of vectors that are smaller than its numbers.
static void test_tiny_vectors_take_the_same_pivots(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 1, 22);
    for (int t = 0; t < support_count(40, 200, 2000); t++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(t % FAMILIES), 4, 1 + t / FAMILIES % 2, 2);
        const carom_impact_data *data = carom_impact_get_data(impact);
        carom_error error;
        carom_stepper *stepper = make_capped(impact);
        const int n = carom_stepper_lcp_size(stepper);
        double lmax[4], w[28], first[28], z[28];
        for (int i = 0; i < data->contacts; i++) lmax[i] = carom_stream_uniform(&stream);
        carom_stepper_lcp_vector(stepper, data->velocity, lmax, w);
        carom_lcp_info info;
        carom_lcp *lcp = NULL;
        assert_ok(carom_lcp_create(&carom_lcp_lemke, n, carom_stepper_lcp_matrix(stepper), &lcp, &error), error);
        carom_lcp_solve(lcp, w, z, &info);
        carom_lcp_free(lcp);
        const int64_t pivots = info.pivots;
        for (int i = 0; i < n; i++) w[i] *= t % 2 ? 0x1p-150 : 0x1p-400;
        assert_ok(carom_lcp_create(&carom_lcp_lemke, n, carom_stepper_lcp_matrix(stepper), &lcp, &error), error);
        for (int repeat = 0; repeat < 4; repeat++) {
            carom_lcp_solve(lcp, w, repeat ? z : first, &info);
            assert_int_equal(info.pivots, pivots);
            if (repeat) assert_memory_equal(z, first, (size_t)n * sizeof *first);
        }
        carom_lcp_free(lcp);
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
}

// A rung ends after 50 pivots a row, remembered or not. With coefficients of friction of 1e9 tolerances break the lexicographic order.
static void test_remembered_pivots_are_bounded(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 1, 1);
    const carom_lemke_kernel *kernel = carom_lemke_kernel_fastest();
    int endless = 0;
    for (int t = 0; t < 60; t++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(t % FAMILIES), 3, 1 + t / FAMILIES % 2, 1e9);
        const carom_impact_data *data = carom_impact_get_data(impact);
        carom_stepper *stepper = make_capped(impact);
        const int n = carom_stepper_lcp_size(stepper);
        const double *W = carom_stepper_lcp_matrix(stepper);
        double y_unit[21], z_unit[21], v[9], caps[3], w[21];
        carom_lcp_units(n, W, y_unit, z_unit);
        void *memory = kernel->remember(n, W, y_unit, z_unit, CAROM_LEMKE_PIVOT_TOLERANCE, CAROM_LEMKE_TIE_TOLERANCE);
        assert_non_null(memory);
        for (int k = 0; k < 20; k++) {
            for (int i = 0; i < data->nv; i++) v[i] = data->velocity[i] * carom_stream_normal(&stream);
            for (int i = 0; i < data->contacts; i++) caps[i] = carom_stream_uniform(&stream);
            carom_stepper_lcp_vector(stepper, v, caps, w);
            double least = 0;
            for (int i = 0; i < n; i++) least = fmin(least, w[i]);
            if (!(least < 0)) continue;
            int64_t pivots = 0;
            const carom_verdict verdict = kernel->recall(memory, w, &pivots);
            assert_true(pivots <= CAROM_LEMKE_PIVOTS_PER_ROW * n);
            endless += verdict == CAROM_BUDGET_SPENT;
        }
        kernel->forget(memory);
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
    assert_true(endless > 0);
}

// Whatever is remembered, and however long a sequence is that nobody has met: solutions have the bits of a tableau that takes all pivots.
static void test_remembered_pivots_are_those_of_a_tableau(void **state) {
    (void)state;
    enum { MOST_CONTACTS = 9, MOST_N = 7 * MOST_CONTACTS, LONG = 40 };
    carom_stream stream;
    carom_stream_start(&stream, 1, 2);
    const carom_lemke_kernel *kernel = carom_lemke_kernel_fastest();
    int long_ones = 0;
    for (int t = 0; t < support_count(30, 60, 600); t++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(t % FAMILIES), MOST_CONTACTS, 1 + t / FAMILIES % 2, 2);
        const carom_impact_data *data = carom_impact_get_data(impact);
        carom_stepper *stepper = make_capped(impact);
        const int n = carom_stepper_lcp_size(stepper);
        const double *W = carom_stepper_lcp_matrix(stepper);
        double y_unit[MOST_N], z_unit[MOST_N], v[3 * MOST_CONTACTS], caps[MOST_CONTACTS], w[MOST_N], z[MOST_N], expected[MOST_N];
        bool basic[MOST_N];
        carom_lcp_units(n, W, y_unit, z_unit);
        void *memory = kernel->remember(n, W, y_unit, z_unit, CAROM_LEMKE_PIVOT_TOLERANCE, CAROM_LEMKE_TIE_TOLERANCE);
        void *tableau = kernel->create(n, y_unit, z_unit);
        assert_true(memory && tableau);
        for (int k = 0; k < 40; k++) {
            for (int i = 0; i < data->nv; i++) v[i] = k % 3 ? carom_stream_normal(&stream) : data->velocity[i];
            for (int i = 0; i < data->contacts; i++) caps[i] = carom_stream_uniform(&stream);
            carom_stepper_lcp_vector(stepper, v, caps, w);
            double least = 0;
            for (int i = 0; i < n; i++) least = fmin(least, w[i]);
            if (!(least < 0)) continue;
            int64_t pivots = 0, taken = 0;
            const carom_verdict verdict = kernel->recall(memory, w, &pivots);
            kernel->read_out(memory, z, basic);
            assert_int_equal(kernel->run(tableau, W, NULL, w, (int64_t)CAROM_LEMKE_PIVOTS_PER_ROW * n, CAROM_LEMKE_PIVOT_TOLERANCE,
                                         CAROM_LEMKE_TIE_TOLERANCE, &taken),
                             verdict);
            assert_int_equal(taken, pivots);
            kernel->extract(tableau, expected, basic);
            for (int i = 0; i < n; i++) assert_true(z[i] == expected[i]);
            long_ones += pivots > LONG;
        }
        kernel->free(tableau);
        kernel->forget(memory);
        carom_stepper_free(stepper);
        carom_impact_free(impact);
    }
    assert_true(long_ones > 0);
}

static void test_vector_that_is_not_finite_is_not_solved(void **state) {
    (void)state;
    const problem p = {2, {2, 1, 1, 2}, {0, 0}};
    const double bad[] = {NAN, INFINITY, -INFINITY};
    carom_lcp *lcp = bind(&p);
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

static bool stop_at_the_third_question(void *user) { return ++*(int *)user == 3; }

// Whoever watches a solve stops it between pivots; the handle then solves the same problem.
static void test_a_watched_solve_is_stopped(void **state) {
    (void)state;
    enum { SIZE = CAROM_LEMKE_MOST_REMEMBERED + 36 };
    double W[SIZE * SIZE] = {0}, w[SIZE], z[SIZE];
    for (int i = 0; i < SIZE; i++) {
        W[i * SIZE + i] = 2;
        w[i] = -1 - i;
        z[i] = 7;
    }
    carom_lcp *lcp = NULL;
    carom_error error;
    carom_lcp_info info;
    int questions = 0;
    assert_ok(carom_lcp_create(&carom_lcp_lemke, SIZE, W, &lcp, &error), error);
    carom_lcp_watch(lcp, &(carom_control){.cancelled = stop_at_the_third_question, .user = &questions});
    carom_lcp_solve(lcp, w, z, &info);
    assert_int_equal(info.verdict, CAROM_INTERRUPTED);
    assert_int_equal(questions, 3);
    assert_true(info.pivots > 0 && info.pivots < SIZE && isinf(info.residual));
    for (int i = 0; i < SIZE; i++) assert_true(z[i] == 0);
    carom_lcp_watch(lcp, NULL);
    carom_lcp_solve(lcp, w, z, &info);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    assert_int_equal(questions, 3);
    for (int i = 0; i < SIZE; i++) assert_true(fabs(z[i] - 0.5 * (1 + i)) < 1e-12);
    carom_lcp_free(lcp);
}

static void test_bad_problems_are_refused(void **state) {
    (void)state;
    carom_error error;
    carom_lcp *lcp = NULL;
    const double W[] = {1, 0, 0, NAN}, V[] = {1, -INFINITY, 0, 1};
    const int sizes[] = {0, -1, CAROM_MAX_LCP + 1, INT32_MAX};
    for (int i = 0; i < 4; i++) {
        assert_refused(carom_lcp_create(&carom_lcp_lemke, sizes[i], V, &lcp, &error), CAROM_BAD_INPUT, error, "size");
        assert_null(lcp);
    }
    assert_refused(carom_lcp_create(&carom_lcp_lemke, 2, W, &lcp, &error), CAROM_BAD_INPUT, error, "W[1][1]");
    assert_refused(carom_lcp_create(&carom_lcp_lemke, 2, V, &lcp, &error), CAROM_BAD_INPUT, error, "W[0][1]");
    assert_int_equal(carom_lcp_create(&carom_lcp_lemke, 0, V, &lcp, NULL), CAROM_BAD_INPUT);
    carom_lcp_free(NULL);
}

static void test_lemke_is_registered_once(void **state) {
    (void)state;
    carom_error error;
    carom_registry *registry = NULL;
    assert_ok(carom_registry_create_empty(&registry, &error), error);
    assert_ok(carom_solvers_register(registry, &error), error);
    assert_ptr_equal(carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, "lemke"), &carom_lcp_lemke);
    assert_true(carom_lcp_lemke.canonical);
    assert_refused(carom_solvers_register(registry, &error), CAROM_BAD_INPUT, error, "lemke");
    carom_registry_free(registry);
}

// --------------------------------------------------------------------------------------------------- the basis, again

static void test_basis_is_solved_again(void **state) {
    (void)state;
    carom_error error;
    carom_lcp_basis *basis = NULL;
    const double W[] = {2, 1, 1, 2}, w[] = {-1, 3};
    assert_ok(carom_lcp_basis_create(2, W, &basis, &error), error);
    // A rough solution becomes exact.
    double z[] = {0.5 + 1e-7, -1e-9};
    assert_true(carom_lcp_basis_polish(basis, (bool[]){true, false}, w, z) == 0);
    assert_true(z[0] == 0.5 && z[1] == 0);
    // A wrong basis gives nothing better: z stays.
    z[0] = 0.5;
    assert_true(carom_lcp_basis_polish(basis, (bool[]){true, true}, w, z) == 0);
    assert_true(z[0] == 0.5 && z[1] == 0);
    carom_lcp_basis_free(basis);
}

static void test_singular_basis_leaves_the_solution(void **state) {
    (void)state;
    carom_error error;
    carom_lcp_basis *basis = NULL;
    const double W[] = {1, 1, 1, 1}, w[] = {-1, -1};
    assert_ok(carom_lcp_basis_create(2, W, &basis, &error), error);
    double z[] = {0.25, 0.75};
    assert_true(carom_lcp_basis_polish(basis, (bool[]){true, true}, w, z) == 0);
    assert_true(z[0] == 0.25 && z[1] == 0.75);
    carom_lcp_basis_free(basis);
    carom_lcp_basis_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_residual_of_hand_examples),
        cmocka_unit_test(test_residual_of_numbers_that_are_not_finite),
        cmocka_unit_test(test_small_problems),
        cmocka_unit_test(test_finds_one_of_several_solutions),
        cmocka_unit_test(test_non_negative_vector_gives_zero),
        cmocka_unit_test(test_unsolvable_problem_ends_on_a_ray),
        cmocka_unit_test(test_definite_problems_have_the_enumerated_solution),
        cmocka_unit_test(test_semidefinite_problems_are_solved_where_they_can_be),
        cmocka_unit_test(test_copositive_problems_have_an_enumerated_solution),
        cmocka_unit_test(test_scaling_the_vector_scales_the_solution),
        cmocka_unit_test(test_impact_steps_of_every_family_are_solved),
        cmocka_unit_test(test_solves_do_not_depend_on_history),
        cmocka_unit_test(test_memory_changes_nothing),
        cmocka_unit_test(test_tiny_vectors_take_the_same_pivots),
        cmocka_unit_test(test_remembered_pivots_are_bounded),
        cmocka_unit_test(test_remembered_pivots_are_those_of_a_tableau),
        cmocka_unit_test(test_vector_that_is_not_finite_is_not_solved),
        cmocka_unit_test(test_a_watched_solve_is_stopped),
        cmocka_unit_test(test_bad_problems_are_refused),
        cmocka_unit_test(test_lemke_is_registered_once),
        cmocka_unit_test(test_basis_is_solved_again),
        cmocka_unit_test(test_singular_basis_leaves_the_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
