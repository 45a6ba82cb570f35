// SPDX-License-Identifier: Apache-2.0
// The LCP solvers of Siconos Numerics, as rows of our table.
//
// What Siconos reports is never trusted, and every trap of its interface is closed here: data are scaled by powers of two, because
// some of its tolerances are absolute; entries that cannot matter are zeroed, because pivots on them overflow and end in an assertion; z is
// zeroed, because failures leave it unwritten; sizes of one are solved here, because it divides without a look at the sign; fatal errors
// return through its jump buffer. Solvers that print, abort, exit or corrupt memory are refused by name.
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>
#include <sn_error_handling.h>

#include "carom/dense.h"
#include "carom/lcp.h"

// A solver of Siconos and how to run it.
typedef struct method {
    int id;
    double tolerance;  // of Siconos' own stopping test, for data scaled to one
    int iterations;    // limit, plus `iterations_per_row` times n
    int iterations_per_row;
    int perturbations;      // attempts with a perturbed w after the first
    bool divides;           // by the diagonal of W
    carom_verdict failure;  // what a failure below the iteration limit means
} method;

// Pivoting methods take about 2n pivots; one that needs fifty times n is cycling. Iterative ones converge in hundreds of cheap sweeps, or
// never.
enum { PIVOTS_PER_ROW = 50, SWEEPS = 10000 };
// Siconos does not check its allocations: n x (2n + 2) doubles then stay below 300 MB.
enum { MAX_SIZE = 4096, MAX_ENUMERATED = 20 };

// Iterative methods stop here; the basis is then solved again, so that only the set of basic variables must be right.
#define ITERATIVE_TOLERANCE 1e-11
// Candidates of the enumeration may be negative by this much; larger values accept wrong bases.
#define ENUMERATION_TOLERANCE 1e-10
// The default of Siconos' Lemke: a test of the method, not of the accuracy.
#define PIVOTING_TOLERANCE 1e-6

// Refined solutions reach 1e-15; one above this came from a wrong pivot on a degenerate tableau.
#define RESIDUAL_GOAL 1e-12
// Relative to the largest entry. Below a unit of round-off of it in any sum, and far above what makes pivots overflow.
#define NEGLIGIBLE 0x1p-64
// A z larger than this, for data scaled to one, came from a pivot on round-off: its residual may be small, but not its impulses of contacts
// that do not touch.
#define CREDIBLE_SIZE 1e13
// Perturbations of w, relative to its largest entry, in the order they are tried: the least one that makes the problem nondegenerate is the
// best.
static const double perturbation_sizes[] = {1e-10, 1e-9, 1e-8, 1e-7};
enum { PERTURBATIONS = sizeof perturbation_sizes / sizeof *perturbation_sizes };
// Any constant: the perturbation is the same in every run.
enum { PERTURBATION_SEED = 4 };

typedef struct siconos {
    carom_arena arena;
    const method *method;
    int n;
    const double *W;    // borrowed, row-major
    int W_exponent;     // the columns are W / 2^W_exponent
    double *columns;    // [n x n] column-major, scaled
    double *scaled;     // [n] w, scaled
    double *perturbed;  // [n] what Siconos solves for
    double *z, *slack;  // [n] what it returns
    double *noise;      // [n] uniform in (1, 2)
    double *candidate;  // [n] of the current attempt
    bool *basic;        // [n]
    carom_lcp_basis *basis;
    SolverOptions *options;
    LinearComplementarityProblem *problem;
} siconos;

// ------------------------------------------------------------------------------------------------------------- lifetime

static void siconos_free(void *state) {
    siconos *solver = state;
    if (!solver) return;
    if (solver->problem) {
        // Freeing the problem would free these, which are ours.
        if (solver->problem->M) solver->problem->M->matrix0 = NULL;
        solver->problem->q = NULL;
        freeLinearComplementarityProblem(solver->problem);
    }
    if (solver->options) {
        solver_options_delete(solver->options);
        // Siconos 4.4 deletes what the options own, and loses the options.
        free(solver->options);
    }
    carom_lcp_basis_free(solver->basis);
    carom_arena_free(&solver->arena);
    free(solver);
}

// x / 2^exponent, zero where it is negligible beside one. Exact: scaling by powers of two changes no pivot.
static double scale_entry(double x, int exponent) {
    const double scaled = ldexp(x, -exponent);
    return fabs(scaled) < NEGLIGIBLE ? 0 : scaled;
}

// The exponent that brings the largest of the numbers into [1/2, 1).
static int largest_exponent(size_t count, const double *values) {
    int exponent;
    frexp(carom_max_abs(count, values), &exponent);
    return exponent;
}

static carom_status bind_method(const carom_lcp_solver *row, int n, const double *W, void **state, carom_error *error) {
    const size_t size = (size_t)n;
    siconos *solver = calloc(1, sizeof *solver);
    if (!solver) return carom_fail_memory(error, row->name);
    *solver = (siconos){.method = row->method, .n = n, .W = W, .W_exponent = largest_exponent(size * size, W)};
    carom_arena *arena = &solver->arena;
    solver->columns = carom_arena_take(arena, size * size, sizeof *solver->columns);
    solver->scaled = carom_arena_take(arena, size, sizeof *solver->scaled);
    solver->perturbed = carom_arena_take(arena, size, sizeof *solver->perturbed);
    solver->z = carom_arena_take(arena, size, sizeof *solver->z);
    solver->slack = carom_arena_take(arena, size, sizeof *solver->slack);
    solver->noise = carom_arena_take(arena, size, sizeof *solver->noise);
    solver->candidate = carom_arena_take(arena, size, sizeof *solver->candidate);
    solver->basic = carom_arena_take(arena, size, sizeof *solver->basic);
    // Siconos works on our arrays.
    solver->options = solver_options_create(solver->method->id);
    solver->problem = newLCP();
    bool allocated = !arena->failed && solver->options && solver->problem;
    if (allocated) {
        solver->problem->size = n;
        solver->problem->q = solver->perturbed;
        solver->problem->M = NM_create_from_data(NM_DENSE, n, n, solver->columns);
        allocated = solver->problem->M;
    }
    carom_status status = carom_lcp_basis_create(n, W, &solver->basis, error);
    if (!status && !allocated) status = carom_fail_memory(error, row->name);
    if (status) {
        siconos_free(solver);
        return status;
    }
    // Column-major and of size one, as Siconos takes it.
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++) solver->columns[j * size + i] = scale_entry(W[i * size + j], solver->W_exponent);
    carom_stream stream;
    carom_stream_start(&stream, PERTURBATION_SEED, 0);
    for (size_t i = 0; i < size; i++) solver->noise[i] = 1 + carom_stream_uniform(&stream);
    solver->options->iparam[SICONOS_IPARAM_MAX_ITER] = solver->method->iterations + solver->method->iterations_per_row * n;
    solver->options->dparam[SICONOS_DPARAM_TOL] = solver->method->tolerance;
    *state = solver;
    return CAROM_OK;
}

// -------------------------------------------------------------------------------------------------------------- solving

// Calls Siconos for w + size * noise, which leaves z in solver->z. Returns what its code means.
static carom_verdict call_driver(siconos *solver, double size) {
    const size_t n = (size_t)solver->n;
    int *numbers = solver->options->iparam;
    for (size_t i = 0; i < n; i++) solver->perturbed[i] = solver->scaled[i] + size * solver->noise[i];
    memset(solver->z, 0, n * sizeof *solver->z);
    memset(solver->slack, 0, n * sizeof *solver->slack);
    numbers[SICONOS_IPARAM_ITER_DONE] = 0;
    // A fatal error of Siconos jumps back to here.
    volatile int code = -1;
    if (!setjmp(*sn_get_jmp_buf())) code = linearComplementarity_driver(solver->problem, solver->z, solver->slack, solver->options);
    sn_release_jmp_buf();
    // Success is believed only after the check; a failure at the iteration limit is a spent budget.
    if (code == 0) return CAROM_UNVERIFIED;
    return numbers[SICONOS_IPARAM_ITER_DONE] >= numbers[SICONOS_IPARAM_MAX_ITER] ? CAROM_BUDGET_SPENT : solver->method->failure;
}

static void solve_scalar(double W, double w, double *z, carom_lcp_info *info) {
    info->verdict = w >= 0 || W > 0 ? CAROM_COMPLETE : CAROM_RAY;
    *z = w < 0 && W > 0 ? -w / W : 0;
}

static void siconos_solve(void *state, int try, const double *w, double *z, carom_lcp_info *info) {
    (void)try;
    siconos *solver = state;
    // Siconos divides by W without a look at its sign.
    if (solver->n == 1) {
        solve_scalar(*solver->W, *w, z, info);
        return;
    }
    const size_t n = (size_t)solver->n;
    const int w_exponent = largest_exponent(n, w);
    for (size_t i = 0; i < n; i++) solver->scaled[i] = scale_entry(w[i], w_exponent);

    // The first attempt as it is; then perturbed ones, which are not degenerate but have the same basis.
    double best = INFINITY;
    for (int k = 0; k <= solver->method->perturbations && !(best <= RESIDUAL_GOAL); k++) {
        info->fallbacks = k;
        info->verdict = call_driver(solver, k ? perturbation_sizes[k - 1] : 0);
        info->pivots += solver->options->iparam[SICONOS_IPARAM_ITER_DONE];
        // Written so that NaN is passed over.
        if (!(carom_max_abs(n, solver->z) < CREDIBLE_SIZE)) continue;
        // z scaled back, and its basis solved again for the w that was asked.
        for (size_t i = 0; i < n; i++) {
            solver->candidate[i] = ldexp(solver->z[i], w_exponent - solver->W_exponent);
            solver->basic[i] = solver->z[i] > 0;
        }
        const double residual = carom_lcp_basis_polish(solver->basis, solver->basic, w, solver->candidate);
        if (!(residual < best)) continue;
        best = residual;
        memcpy(z, solver->candidate, n * sizeof *z);
    }
    if (best <= CAROM_LCP_TOLERANCE) info->verdict = CAROM_COMPLETE;
    // The end point of a ray is no candidate.
    else if (info->verdict == CAROM_RAY)
        memset(z, 0, n * sizeof *z);
}

// One call as made by a program that binds to Siconos itself, for measurements: w unscaled, no retry, the basis not solved again. W is
// scaled nevertheless, because a pivot that overflows ends in an assertion.
static void siconos_solve_raw(void *state, int try, const double *w, double *z, carom_lcp_info *info) {
    (void)try;
    siconos *solver = state;
    if (solver->n == 1) {
        solve_scalar(*solver->W, *w, z, info);
        return;
    }
    memcpy(solver->scaled, w, (size_t)solver->n * sizeof *w);
    info->verdict = call_driver(solver, 0);
    info->pivots = solver->options->iparam[SICONOS_IPARAM_ITER_DONE];
    const double unit = ldexp(1, -solver->W_exponent);
    for (int i = 0; i < solver->n; i++) z[i] = unit * solver->z[i];
}

// ------------------------------------------------------------------------------------------------------------- creation

// Projected Gauss-Seidel divides by the diagonal.
static carom_status create(const carom_lcp_solver *row, int n, const double *W, void **state, carom_error *error) {
    const bool divides = ((const method *)row->method)->divides;
    for (size_t i = 0; divides && i < (size_t)n; i++)
        if (!(W[i * (size_t)n + i] > 0))
            return carom_fail(error, CAROM_BAD_INPUT, "%s divides by the diagonal of W, and W[%zu][%zu] is not positive", row->name, i, i);
    return bind_method(row, n, W, state, error);
}

// For a method that may be missing from the build, which then leaves z alone: it must solve a small problem with one, positive solution.
static carom_status create_probed(const carom_lcp_solver *row, int n, const double *W, void **state, carom_error *error) {
    static const double probe_W[] = {2, 1, 1, 2}, probe_w[] = {-1, -1};
    double z[2] = {0};
    void *probe = NULL;
    carom_lcp_info info = {0};
    if (!bind_method(row, 2, probe_W, &probe, NULL)) siconos_solve(probe, 0, probe_w, z, &info);
    siconos_free(probe);
    if (!(carom_lcp_residual(2, probe_W, probe_w, z) <= CAROM_LCP_TOLERANCE))
        return carom_fail(error, CAROM_UNSUPPORTED, "%s: this build of Siconos lacks the solver", row->name);
    return create(row, n, W, state, error);
}

// A method that would harm the program that calls it: its summary says why.
static carom_status refuse(const carom_lcp_solver *row, int n, const double *W, void **state, carom_error *error) {
    (void)n, (void)W, (void)state;
    return carom_fail(error, CAROM_UNSUPPORTED, "%s is %s", row->name, row->summary);
}

// ------------------------------------------------------------------------------------------------------------ the table

// clang-format off
#define SOLVER(label, most, text, creation, solution, ...)                                                                                  \
    {.name = label, .summary = text, .max_size = most, .method = &(const method){__VA_ARGS__},                                              \
     .create = creation, .solve = solution, .free = siconos_free}
#define PIVOTING(label, text, ...)                                                                                                          \
    SOLVER(label, MAX_SIZE, text, create, siconos_solve, .tolerance = PIVOTING_TOLERANCE, .iterations_per_row = PIVOTS_PER_ROW, __VA_ARGS__)
#define ITERATIVE(label, text, ...)                                                                                                         \
    SOLVER(label, MAX_SIZE, text, create, siconos_solve, .tolerance = ITERATIVE_TOLERANCE, .iterations = SWEEPS,                            \
           .failure = CAROM_UNVERIFIED, __VA_ARGS__)
#define REFUSED(label, reason) {.name = label, .summary = "not offered: " reason, .create = refuse, .solve = siconos_solve, .free = siconos_free}

static const carom_lcp_solver rows[] = {
    PIVOTING("siconos-lemke", "Siconos: Lemke's method, lexicographic, with perturbed retries",
             .id = SICONOS_LCP_LEMKE, .perturbations = PERTURBATIONS, .failure = CAROM_RAY),
    PIVOTING("siconos-avi-caoferris", "Siconos: pivoting method of Cao and Ferris for affine variational inequalities",
             .id = SICONOS_LCP_AVI_CAOFERRIS, .failure = CAROM_RAY),
    PIVOTING("siconos-murty", "Siconos: Murty's least-index method, for P-matrices",
             .id = SICONOS_LCP_MURTY, .failure = CAROM_UNVERIFIED),
    PIVOTING("siconos-bard", "Siconos: Bard's principal pivoting method, may cycle",
             .id = SICONOS_LCP_BARD, .failure = CAROM_UNVERIFIED),
    SOLVER("siconos-enum", MAX_ENUMERATED, "Siconos: tries all 2^n bases; loses 32 bytes of memory in every solve", create, siconos_solve,
           .id = SICONOS_LCP_ENUM, .tolerance = ENUMERATION_TOLERANCE, .iterations = SWEEPS, .failure = CAROM_INCOMPLETE),
    ITERATIVE("siconos-rpgs", "Siconos: regularised projected Gauss-Seidel", .id = SICONOS_LCP_RPGS),
    ITERATIVE("siconos-cpg", "Siconos: conjugate projected gradient, for symmetric matrices", .id = SICONOS_LCP_CPG),
    ITERATIVE("siconos-pgs", "Siconos: projected Gauss-Seidel, for matrices with a positive diagonal",
              .id = SICONOS_LCP_PGS, .divides = true),
    SOLVER("siconos-path", MAX_SIZE, "Siconos: PATH of Ferris and Munson, where the build has it", create_probed, siconos_solve,
           .id = SICONOS_LCP_PATH, .tolerance = PIVOTING_TOLERANCE, .iterations = SWEEPS, .failure = CAROM_UNVERIFIED),
    REFUSED("siconos-pivot", "Siconos prints to standard output when it ends on a ray"),
    REFUSED("siconos-pivot-lumod", "Siconos aborts the program when it ends on a ray"),
    REFUSED("siconos-pathsearch", "Siconos prints to standard output"),
    REFUSED("siconos-psor", "Siconos prints to standard output"),
    REFUSED("siconos-latin", "Siconos prints to standard output when a factorisation fails"),
    REFUSED("siconos-latin-w", "Siconos prints to standard output when a factorisation fails"),
    REFUSED("siconos-newton-min", "Siconos prints to standard output when a factorisation fails"),
    REFUSED("siconos-newton-fb", "Siconos prints to standard error when a Jacobian is singular"),
    REFUSED("siconos-newton-min-fblsa", "Siconos prints to standard error when a Jacobian is singular"),
    REFUSED("siconos-qp", "this build of Siconos lacks the QP solver QL0001, and aborts the program without it"),
    REFUSED("siconos-nsqp", "this build of Siconos lacks the QP solver QL0001, and aborts the program without it"),
    REFUSED("siconos-gams", "this build of Siconos lacks GAMS, and aborts the program without it"),
    REFUSED("siconos-convexqp-pg", "Siconos corrupts memory in it"),
    REFUSED("siconos-nsgs-sbm", "it takes sparse block matrices only, and Siconos exits the program on any other"),
    SOLVER("siconos-raw", MAX_SIZE, "Siconos: siconos-lemke without its safeguards, for measurements; fails on degenerate steps",
           create, siconos_solve_raw, .id = SICONOS_LCP_LEMKE, .tolerance = PIVOTING_TOLERANCE, .iterations_per_row = PIVOTS_PER_ROW,
           .perturbations = PERTURBATIONS, .failure = CAROM_RAY),
};
// clang-format on

carom_status carom_siconos_register(carom_registry *registry, carom_error *error) {
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !status; i++)
        status = carom_registry_add(registry, CAROM_REGISTRY_SOLVERS, rows[i].name, &rows[i], error);
    return status;
}
