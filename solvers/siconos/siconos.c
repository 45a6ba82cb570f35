// SPDX-License-Identifier: Apache-2.0
// The LCP solvers of Siconos Numerics behind our table rows.
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
    const char *name;
    int id;
    double tolerance;  // of Siconos' own stopping test, for data scaled to one
    int iterations;    // limit, plus `iterations_per_row` times n
    int iterations_per_row;
    int perturbations;      // attempts with a perturbed w after the first
    bool divides;           // by the diagonal of W
    bool probed;            // may be missing from a build, which only a trial tells
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
    siconos *s = state;
    if (!s) return;
    if (s->problem) {
        // Freeing the problem would free these, which are ours.
        if (s->problem->M) s->problem->M->matrix0 = NULL;
        s->problem->q = NULL;
        freeLinearComplementarityProblem(s->problem);
    }
    if (s->options) {
        solver_options_delete(s->options);
        // Siconos 4.4 deletes what the options own, and loses the options.
        free(s->options);
    }
    carom_lcp_basis_free(s->basis);
    free(s->columns);
    free(s->scaled);
    free(s->perturbed);
    free(s->z);
    free(s->slack);
    free(s->noise);
    free(s->candidate);
    free(s->basic);
    free(s);
}

static bool allocate_arrays(siconos *s) {
    const size_t size = (size_t)s->n;
    s->columns = malloc(size * size * sizeof *s->columns);
    s->scaled = malloc(size * sizeof *s->scaled);
    s->perturbed = malloc(size * sizeof *s->perturbed);
    s->z = malloc(size * sizeof *s->z);
    s->slack = malloc(size * sizeof *s->slack);
    s->noise = malloc(size * sizeof *s->noise);
    s->candidate = malloc(size * sizeof *s->candidate);
    s->basic = malloc(size * sizeof *s->basic);
    return s->columns && s->scaled && s->perturbed && s->z && s->slack && s->noise && s->candidate && s->basic;
}

static bool allocate_problem(siconos *s) {
    s->options = solver_options_create(s->method->id);
    s->problem = newLCP();
    if (!s->options || !s->problem) return false;
    s->problem->size = s->n;
    s->problem->q = s->perturbed;
    s->problem->M = NM_create_from_data(NM_DENSE, s->n, s->n, s->columns);
    return s->problem->M != NULL;
}

// x / 2^exponent without what is negligible beside one. Exact: scaling by powers of two changes no pivot.
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

static void fill_constant_data(siconos *s) {
    const size_t size = (size_t)s->n;
    s->W_exponent = largest_exponent(size * size, s->W);
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++) s->columns[j * size + i] = scale_entry(s->W[i * size + j], s->W_exponent);
    carom_stream stream;
    carom_stream_start(&stream, PERTURBATION_SEED, 0);
    for (size_t i = 0; i < size; i++) s->noise[i] = 1 + carom_stream_uniform(&stream);
    s->options->iparam[SICONOS_IPARAM_MAX_ITER] = s->method->iterations + s->method->iterations_per_row * s->n;
    s->options->dparam[SICONOS_DPARAM_TOL] = s->method->tolerance;
}

static carom_status bind_method(const method *m, int n, const double *W, void **state, carom_error *error) {
    siconos *s = calloc(1, sizeof *s);
    if (!s) return carom_fail_memory(error, m->name);
    *s = (siconos){.method = m, .n = n, .W = W};
    carom_status status = carom_lcp_basis_create(n, W, &s->basis, error);
    if (!status && !(allocate_arrays(s) && allocate_problem(s))) status = carom_fail_memory(error, m->name);
    if (status) {
        siconos_free(s);
        return status;
    }
    fill_constant_data(s);
    *state = s;
    return CAROM_OK;
}

// -------------------------------------------------------------------------------------------------------------- solving

// Calls Siconos for w + size * noise. Returns its code, 0 for success, and leaves z in s->z.
static int call_driver(siconos *s, double size) {
    const size_t n = (size_t)s->n;
    for (size_t i = 0; i < n; i++) s->perturbed[i] = s->scaled[i] + size * s->noise[i];
    memset(s->z, 0, n * sizeof *s->z);
    memset(s->slack, 0, n * sizeof *s->slack);
    s->options->iparam[SICONOS_IPARAM_ITER_DONE] = 0;
    if (setjmp(*sn_get_jmp_buf())) {
        sn_release_jmp_buf();
        return -1;
    }
    const int code = linearComplementarity_driver(s->problem, s->z, s->slack, s->options);
    sn_release_jmp_buf();
    return code;
}

static carom_verdict judge_failure(const siconos *s, int code) {
    if (code == 0) return CAROM_UNVERIFIED;
    const bool spent = s->options->iparam[SICONOS_IPARAM_ITER_DONE] >= s->options->iparam[SICONOS_IPARAM_MAX_ITER];
    return spent ? CAROM_BUDGET_SPENT : s->method->failure;
}

// One attempt: Siconos' z, scaled back, and its basis solved again for the w that was asked. Returns the candidate's residual.
static double attempt(siconos *s, double size, const double *w, int w_exponent, carom_lcp_info *info) {
    info->verdict = judge_failure(s, call_driver(s, size));
    info->pivots += s->options->iparam[SICONOS_IPARAM_ITER_DONE];
    if (!(carom_max_abs((size_t)s->n, s->z) < CREDIBLE_SIZE)) return INFINITY;
    for (int i = 0; i < s->n; i++) {
        s->candidate[i] = ldexp(s->z[i], w_exponent - s->W_exponent);
        s->basic[i] = s->z[i] > 0;
    }
    return carom_lcp_basis_polish(s->basis, s->basic, w, s->candidate);
}

static void solve_scalar(double W, double w, double *z, carom_lcp_info *info) {
    info->verdict = w >= 0 || W > 0 ? CAROM_COMPLETE : CAROM_RAY;
    *z = w < 0 && W > 0 ? -w / W : 0;
}

static void siconos_solve(void *state, int try, const double *w, double *z, carom_lcp_info *info) {
    (void)try;
    siconos *s = state;
    if (s->n == 1) {
        solve_scalar(*s->W, *w, z, info);
        return;
    }
    const size_t n = (size_t)s->n;
    const int w_exponent = largest_exponent(n, w);
    for (size_t i = 0; i < n; i++) s->scaled[i] = scale_entry(w[i], w_exponent);

    // The first attempt as it is; then perturbed ones, which are not degenerate but have the same basis.
    double best = INFINITY;
    for (int k = 0; k <= s->method->perturbations && !(best <= RESIDUAL_GOAL); k++) {
        info->fallbacks = k;
        const double residual = attempt(s, k ? perturbation_sizes[k - 1] : 0, w, w_exponent, info);
        if (!(residual < best)) continue;
        best = residual;
        memcpy(z, s->candidate, n * sizeof *z);
    }
    if (best <= CAROM_LCP_TOLERANCE) info->verdict = CAROM_COMPLETE;
    // The end point of a ray is no candidate.
    else if (info->verdict == CAROM_RAY)
        memset(z, 0, n * sizeof *z);
}

// One call as a program makes it that binds to Siconos itself, for measurements: w unscaled, no retry, the basis not solved again. W is
// scaled nevertheless, because a pivot that overflows ends in an assertion.
static void siconos_solve_raw(void *state, int try, const double *w, double *z, carom_lcp_info *info) {
    (void)try;
    siconos *s = state;
    if (s->n == 1) {
        solve_scalar(*s->W, *w, z, info);
        return;
    }
    memcpy(s->scaled, w, (size_t)s->n * sizeof *w);
    info->verdict = judge_failure(s, call_driver(s, 0));
    info->pivots = s->options->iparam[SICONOS_IPARAM_ITER_DONE];
    const double unit = ldexp(1, -s->W_exponent);
    for (int i = 0; i < s->n; i++) z[i] = unit * s->z[i];
}

// ------------------------------------------------------------------------------------------------------------- creation

// True when the method solves a small problem with one, positive solution. A method that was left out of the build leaves z alone.
static bool works(const method *m) {
    static const double W[] = {2, 1, 1, 2}, w[] = {-1, -1};
    double z[2];
    void *state;
    carom_lcp_info info = {0};
    if (bind_method(m, 2, W, &state, NULL)) return false;
    siconos_solve(state, 0, w, z, &info);
    siconos_free(state);
    return carom_lcp_residual(2, W, w, z) <= CAROM_LCP_TOLERANCE;
}

static carom_status create(const method *m, int n, const double *W, void **state, carom_error *error) {
    if (m->probed && !works(m)) return carom_fail(error, CAROM_UNSUPPORTED, "%s: this build of Siconos lacks the solver", m->name);
    for (size_t i = 0; m->divides && i < (size_t)n; i++)
        if (!(W[i * (size_t)n + i] > 0))
            return carom_fail(error, CAROM_BAD_INPUT, "%s divides by the diagonal of W, and W[%zu][%zu] is not positive", m->name, i, i);
    return bind_method(m, n, W, state, error);
}

static carom_status refuse(const char *name, const char *reason, carom_error *error) {
    return carom_fail(error, CAROM_UNSUPPORTED, "%s is not offered: %s", name, reason);
}

// ------------------------------------------------------------------------------------------------------------ the table

// Methods that work. X(key, name, largest size, summary, fields of the method)
#define METHOD_LIST(X)                                                                                                                     \
    X(lemke, "siconos-lemke", MAX_SIZE, "Siconos: Lemke's method, lexicographic, with perturbed retries", .id = SICONOS_LCP_LEMKE,         \
      .tolerance = PIVOTING_TOLERANCE, .iterations_per_row = PIVOTS_PER_ROW, .perturbations = PERTURBATIONS, .failure = CAROM_RAY)         \
    X(avi, "siconos-avi-caoferris", MAX_SIZE, "Siconos: pivoting method of Cao and Ferris for affine variational inequalities",            \
      .id = SICONOS_LCP_AVI_CAOFERRIS, .tolerance = PIVOTING_TOLERANCE, .iterations_per_row = PIVOTS_PER_ROW, .failure = CAROM_RAY)        \
    X(murty, "siconos-murty", MAX_SIZE, "Siconos: Murty's least-index method, for P-matrices", .id = SICONOS_LCP_MURTY,                    \
      .tolerance = PIVOTING_TOLERANCE, .iterations_per_row = PIVOTS_PER_ROW, .failure = CAROM_UNVERIFIED)                                  \
    X(bard, "siconos-bard", MAX_SIZE, "Siconos: Bard's principal pivoting method, may cycle", .id = SICONOS_LCP_BARD,                      \
      .tolerance = PIVOTING_TOLERANCE, .iterations_per_row = PIVOTS_PER_ROW, .failure = CAROM_UNVERIFIED)                                  \
    X(enumeration, "siconos-enum", MAX_ENUMERATED, "Siconos: tries all 2^n bases; loses 32 bytes of memory in every solve",                \
      .id = SICONOS_LCP_ENUM, .tolerance = ENUMERATION_TOLERANCE, .iterations = SWEEPS, .failure = CAROM_INCOMPLETE)                       \
    X(rpgs, "siconos-rpgs", MAX_SIZE, "Siconos: regularised projected Gauss-Seidel", .id = SICONOS_LCP_RPGS,                               \
      .tolerance = ITERATIVE_TOLERANCE, .iterations = SWEEPS, .failure = CAROM_UNVERIFIED)                                                 \
    X(cpg, "siconos-cpg", MAX_SIZE, "Siconos: conjugate projected gradient, for symmetric matrices", .id = SICONOS_LCP_CPG,                \
      .tolerance = ITERATIVE_TOLERANCE, .iterations = SWEEPS, .failure = CAROM_UNVERIFIED)                                                 \
    X(pgs, "siconos-pgs", MAX_SIZE, "Siconos: projected Gauss-Seidel, for matrices with a positive diagonal", .id = SICONOS_LCP_PGS,       \
      .tolerance = ITERATIVE_TOLERANCE, .iterations = SWEEPS, .divides = true, .failure = CAROM_UNVERIFIED)                                \
    X(path, "siconos-path", MAX_SIZE, "Siconos: PATH of Ferris and Munson, where the build has it", .id = SICONOS_LCP_PATH,                \
      .tolerance = PIVOTING_TOLERANCE, .iterations = SWEEPS, .probed = true, .failure = CAROM_UNVERIFIED)

// Methods that would harm the program that calls them. X(key, name, reason)
#define REFUSED_LIST(X)                                                                                                                    \
    X(pivot, "siconos-pivot", "Siconos prints to standard output when it ends on a ray")                                                   \
    X(pivot_lumod, "siconos-pivot-lumod", "Siconos aborts the program when it ends on a ray")                                              \
    X(pathsearch, "siconos-pathsearch", "Siconos prints to standard output")                                                               \
    X(psor, "siconos-psor", "Siconos prints to standard output")                                                                           \
    X(latin, "siconos-latin", "Siconos prints to standard output when a factorisation fails")                                              \
    X(latin_w, "siconos-latin-w", "Siconos prints to standard output when a factorisation fails")                                          \
    X(newton_min, "siconos-newton-min", "Siconos prints to standard output when a factorisation fails")                                    \
    X(newton_fb, "siconos-newton-fb", "Siconos prints to standard error when a Jacobian is singular")                                      \
    X(newton_min_fb, "siconos-newton-min-fblsa", "Siconos prints to standard error when a Jacobian is singular")                           \
    X(qp, "siconos-qp", "this build of Siconos lacks the QP solver QL0001, and aborts the program without it")                             \
    X(nsqp, "siconos-nsqp", "this build of Siconos lacks the QP solver QL0001, and aborts the program without it")                         \
    X(gams, "siconos-gams", "this build of Siconos lacks GAMS, and aborts the program without it")                                         \
    X(convexqp_pg, "siconos-convexqp-pg", "Siconos corrupts memory in it")                                                                 \
    X(nsgs_sbm, "siconos-nsgs-sbm", "it takes sparse block matrices only, and Siconos exits the program on any other")

// A row's `create` is not told the row: each has its own, which names the method.
#define DEFINE_METHOD(key, label, most, summary, ...)                                                                                      \
    static carom_status create_##key(int n, const double *W, void **state, carom_error *error) {                                           \
        static const method m = {.name = label, __VA_ARGS__};                                                                              \
        return create(&m, n, W, state, error);                                                                                             \
    }
METHOD_LIST(DEFINE_METHOD)

#define DEFINE_REFUSED(key, label, reason)                                                                                                 \
    static carom_status create_##key(int n, const double *W, void **state, carom_error *error) {                                           \
        (void)n, (void)W, (void)state;                                                                                                     \
        return refuse(label, reason, error);                                                                                               \
    }
REFUSED_LIST(DEFINE_REFUSED)

#define METHOD_ROW(key, label, most, text, ...)                                                                                            \
    {.name = label, .summary = text, .max_size = most, .create = create_##key, .solve = siconos_solve, .free = siconos_free},
#define REFUSED_ROW(key, label, reason)                                                                                                    \
    {.name = label, .summary = "not offered: " reason, .create = create_##key, .solve = siconos_solve, .free = siconos_free},
static const carom_lcp_solver rows[] = {METHOD_LIST(METHOD_ROW) REFUSED_LIST(REFUSED_ROW){
    .name = "siconos-raw",
    .summary = "Siconos: siconos-lemke without its safeguards, for measurements; fails on degenerate steps",
    .max_size = MAX_SIZE,
    .create = create_lemke,
    .solve = siconos_solve_raw,
    .free = siconos_free,
}};

carom_status carom_siconos_register(carom_registry *registry, carom_error *error) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const carom_status status = carom_registry_add(registry, CAROM_REGISTRY_SOLVERS, rows[i].name, &rows[i], error);
        if (status) return status;
    }
    return CAROM_OK;
}
