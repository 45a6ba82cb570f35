// SPDX-License-Identifier: Apache-2.0
// Our Lemke: the canonical selection (covering vector of ones, unscaled data, lexicographic ratio test: docs/laws.md, "Selection").
//
// A ladder of precisions and tolerances: tolerances decide which entries of a degenerate tableau count as zero or as equal, and no
// pair of them suits every problem. A rung is left when it ends on a ray or its solution fails the residual goal. The last ones perturb w,
// which makes the problem non-degenerate, and solve the final basis for w itself.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/instruction_sets.h"
#include "carom/lcp.h"
#include "solvers/lemke/kernel.h"

// Relative to the column's largest entry, and to the round-off weight of the right-hand side.
typedef struct rung {
    bool extended;
    double pivot_tolerance, tie_tolerance;
    double perturbation;  // of w, relative to its largest entry
} rung;

// Measured: of 200,000 degenerate random steps with mu <= 10 the first rung solves all but 16, with mu = 1e5 96 %.
static const rung ladder[] = {
    {false, CAROM_LEMKE_PIVOT_TOLERANCE, CAROM_LEMKE_TIE_TOLERANCE, 0},
    {false, 1e-8, 1e-12, 0},
    {true, 1e-13, 1e-14, 0},
    {true, 1e-18, 1e-20, 0},
    {true, 1e-22, 1e-24, 0},
    {true, 1e-18, 1e-20, 1e-12},
    {true, 1e-13, 1e-14, 1e-9},
    {false, 1e-9, 1e-10, 1e-9},
};
enum { RUNGS = sizeof ladder / sizeof *ladder };

// Relative residuals, in the units of the problem. A tableau's solution is solved again when it has more than some round-off. Above the
// second goal it came from a wrong decision on an ill-conditioned basis: refined solutions reach 1e-15, with mu = 1e5 1e-11, and with
// hundreds of contacts 1e-10.
#define TABLEAU_GOAL 1e-14
#define BASIS_GOAL   2e-10
#define RUNG_GOALS   TABLEAU_GOAL, BASIS_GOAL
static const double goals[2 * RUNGS] = {RUNG_GOALS, RUNG_GOALS, RUNG_GOALS, RUNG_GOALS, RUNG_GOALS, RUNG_GOALS, RUNG_GOALS, RUNG_GOALS};
// Quadruple precision is some fifty times slower: beyond this size its rungs take minutes, and are passed over.
enum { MOST_QUADRUPLE = 256 };

typedef struct lemke {
    int n;
    const double *W;
    const carom_lemke_kernel *fast;  // the double kernel
    void *memory;                    // of the first rung; NULL for large n
    void *plain, *extended;          // tableaus of the two kernels
    carom_lcp_basis *basis;          // solves the final basis again
    bool *basic;                     // [n] which z are basic
    carom_verdict last;              // of the rung that was climbed last
    double *perturbed;               // w of a perturbed rung
    double *y_unit, *z_unit;         // for tolerances
} lemke;

static void lemke_free(void *state) {
    lemke *s = state;
    s->fast->forget(s->memory);
    s->fast->free(s->plain);
    carom_lemke_kernel_quad.free(s->extended);
    carom_lcp_basis_free(s->basis);
    free(s->basic);
    free(s->perturbed);
    free(s->y_unit);
    free(s->z_unit);
    free(s);
}

static carom_status create(const carom_lemke_kernel *kernel, int n, const double *W, void **state, carom_error *error) {
    const size_t size = (size_t)n;
    lemke *s = calloc(1, sizeof *s);
    if (!s) return carom_fail_memory(error, "lemke");
    s->n = n;
    s->W = W;
    s->fast = kernel;
    s->basic = malloc(size * sizeof *s->basic);
    s->perturbed = malloc(size * sizeof *s->perturbed);
    s->y_unit = malloc(size * sizeof *s->y_unit);
    s->z_unit = malloc(size * sizeof *s->z_unit);
    carom_status status = carom_lcp_basis_create(n, W, &s->basis, error);
    if (!status && s->y_unit && s->z_unit) {
        carom_lcp_units(n, W, s->y_unit, s->z_unit);
        s->plain = s->fast->create(n, s->y_unit, s->z_unit);
        if (n <= CAROM_MOST_REMEMBERED)
            s->memory = s->fast->remember(n, W, s->y_unit, s->z_unit, ladder[0].pivot_tolerance, ladder[0].tie_tolerance);
        if (n <= MOST_QUADRUPLE) s->extended = carom_lemke_kernel_quad.create(n, s->y_unit, s->z_unit);
    }
    const bool complete =
        s->plain && (s->memory || n > CAROM_MOST_REMEMBERED) && (s->extended || n > MOST_QUADRUPLE) && s->basic && s->perturbed;
    if (!status && !complete) status = carom_fail_memory(error, "lemke");
    if (status) {
        lemke_free(s);
        return status;
    }
    *state = s;
    return CAROM_OK;
}

// w + eps ||w|| (1 + noise), the same noise at every call.
static const double *perturb(lemke *s, const double *w, double perturbation) {
    if (perturbation == 0) return w;
    const double size = perturbation * carom_max_abs((size_t)s->n, w);
    carom_stream noise;
    carom_stream_start(&noise, 0, 0);
    for (int i = 0; i < s->n; i++) s->perturbed[i] = w[i] + size * (1 + carom_stream_uniform(&noise));
    return s->perturbed;
}

// Round-off below zero; impulses are non-negative. NaN becomes zero, too: it is no candidate for anything.
static void clip(int n, double *z) {
    for (int i = 0; i < n; i++)
        if (!(z[i] > 0)) z[i] = 0;
}

// The first rung on what is remembered: nearly all problems end here.
static carom_verdict recall(lemke *s, const double *w, double *z, int64_t *pivots) {
    const carom_verdict verdict = s->fast->recall(s->memory, w, pivots);
    s->fast->read_out(s->memory, z, s->basic);
    return verdict;
}

static carom_verdict climb(lemke *s, const rung *r, const double *given, double *z, int64_t *pivots) {
    if (r == ladder && s->memory) return recall(s, given, z, pivots);
    const double *w = perturb(s, given, r->perturbation);
    const int64_t limit = *pivots + (int64_t)CAROM_PIVOTS_PER_ROW * s->n;
    const carom_lemke_kernel *kernel = r->extended ? &carom_lemke_kernel_quad : s->fast;
    void *tableau = r->extended ? s->extended : s->plain;
    const carom_verdict verdict = kernel->run(tableau, s->W, w, limit, r->pivot_tolerance, r->tie_tolerance, pivots);
    kernel->extract(tableau, z, s->basic);
    return verdict;
}

static bool is_non_negative(int n, const double *w) {
    for (int i = 0; i < n; i++)
        if (w[i] < 0) return false;
    return true;
}

// Attempt 2k is rung k; attempt 2k + 1 solves the equations of the basis that it ended on again.
static void lemke_solve(void *state, int attempt, const double *w, double *z, carom_lcp_info *info) {
    lemke *s = state;
    const rung *r = &ladder[attempt / 2];
    info->fallbacks = attempt / 2;
    if (attempt == 0 && is_non_negative(s->n, w)) {
        memset(s->basic, 0, (size_t)s->n * sizeof *s->basic);
        info->verdict = s->last = CAROM_COMPLETE;
        return;
    }
    if (attempt % 2 == 0 && !(r->extended && !s->extended)) s->last = climb(s, r, w, z, &info->pivots);
    info->verdict = s->last;
    if (s->last == CAROM_COMPLETE && attempt % 2 == 1) carom_lcp_basis_solve(s->basis, s->basic, w, z);
    clip(s->n, z);
}

const bool *carom_lemke_basis(const void *state) { return ((const lemke *)state)->basic; }

// ------------------------------------------------------------------------------------------------------------- kernels

typedef struct kernel_choice {
    const carom_lemke_kernel *kernel;
    const char *name;  // of the solver that uses it
} kernel_choice;

static const kernel_choice scalar = {&carom_lemke_kernel_scalar, "lemke:scalar"};
static const kernel_choice portable = {&carom_lemke_kernel_portable, "lemke:portable"};
static const kernel_choice avx2 = {CAROM_X86_KERNEL(carom_lemke_kernel_avx2), "lemke:avx2"};
static const kernel_choice avx512 = {CAROM_X86_KERNEL(carom_lemke_kernel_avx512), "lemke:avx512"};

// The fastest kernel that this machine runs.
static const kernel_choice *fastest(void) { return CAROM_HAS_AVX512 ? &avx512 : CAROM_HAS_AVX2 ? &avx2 : &portable; }

const carom_lemke_kernel *carom_lemke_kernel_fastest(void) { return fastest()->kernel; }

const char *carom_lcp_lemke_path(void) { return fastest()->name; }

static carom_status create_if(bool available, const kernel_choice *choice, int n, const double *W, void **state, carom_error *error) {
    if (available) return create(choice->kernel, n, W, state, error);
    return carom_fail(error, CAROM_UNSUPPORTED, "%s: this machine lacks the instructions", choice->name);
}

static carom_status create_fastest(int n, const double *W, void **state, carom_error *error) {
    return create(fastest()->kernel, n, W, state, error);
}

static carom_status create_scalar(int n, const double *W, void **state, carom_error *error) {
    return create_if(true, &scalar, n, W, state, error);
}

static carom_status create_portable(int n, const double *W, void **state, carom_error *error) {
    return create_if(true, &portable, n, W, state, error);
}

static carom_status create_avx2(int n, const double *W, void **state, carom_error *error) {
    return create_if(CAROM_HAS_AVX2, &avx2, n, W, state, error);
}

static carom_status create_avx512(int n, const double *W, void **state, carom_error *error) {
    return create_if(CAROM_HAS_AVX512, &avx512, n, W, state, error);
}

// clang-format off
#define LEMKE_SOLVER(text, about, how) \
    {.name = text, .summary = about, .canonical = true, .attempts = 2 * RUNGS, .goals = goals, \
     .create = how, .solve = lemke_solve, .free = lemke_free}

const carom_lcp_solver carom_lcp_lemke =
    LEMKE_SOLVER("lemke", "Lemke's method, lexicographic, covering vector of ones (canonical)", create_fastest);

const carom_lcp_solver carom_lcp_lemke_kernels[CAROM_LCP_LEMKE_KERNELS] = {
    LEMKE_SOLVER("lemke:scalar", "lemke without vector instructions: the same bits, for comparison", create_scalar),
    LEMKE_SOLVER("lemke:portable", "lemke with the vector instructions that every machine has", create_portable),
    LEMKE_SOLVER("lemke:avx2", "lemke with AVX2", create_avx2),
    LEMKE_SOLVER("lemke:avx512", "lemke with AVX-512", create_avx512),
};
// clang-format on
