// SPDX-License-Identifier: Apache-2.0
// Our Lemke: the canonical selection, given its covering vector (lexicographic ratio test: docs/laws.md, "Selection").
//
// A ladder of precisions and tolerances: tolerances decide which entries of a degenerate tableau count as zero or as equal, and no
// pair of them suits every problem. A rung is left when it ends on a ray or its solution fails the residual goal. The last ones perturb w,
// which makes the problem non-degenerate, and solve the final basis for w itself.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/instruction_sets.h"
#include "solvers/lemke/kernel.h"
#include "solvers/solvers_internal.h"

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

// ------------------------------------------------------------------------------------------------------------- kernels

// What a row of the solvers runs.
typedef struct kernel_choice {
    const carom_lemke_kernel *kernel;
    bool needs_avx2;
} kernel_choice;

static const kernel_choice scalar = {&carom_lemke_kernel_scalar, false};
static const kernel_choice portable = {&carom_lemke_kernel_portable, false};
static const kernel_choice avx2 = {CAROM_X86_KERNEL(carom_lemke_kernel_avx2), true};

const carom_lemke_kernel *carom_lemke_kernel_fastest(void) { return CAROM_HAS_AVX2 ? avx2.kernel : portable.kernel; }

const char *carom_lcp_lemke_path(void) { return CAROM_HAS_AVX2 ? "lemke:avx2" : "lemke:portable"; }

// -------------------------------------------------------------------------------------------------------------- solver

typedef struct lemke {
    carom_arena arena;
    int n;
    const double *W;
    const carom_lemke_kernel *fast;  // the double kernel
    void *memory;                    // of the first rung; NULL for large n
    void *plain, *extended;          // tableaus of the two kernels
    carom_lcp_basis *basis;          // solves the final basis again
    bool *basic;                     // [n] which z are basic
    double *covering;                // [n] the covering vector
    bool covers_extended;            // has the tableau in quadruple precision got it, too
    carom_verdict last;              // of the rung that was climbed last
    double *perturbed;               // [n] w of a perturbed rung
    double *rest;                    // [n x n] what W has rounded off, once it is known; for the rungs in extended precision
    carom_lcp_rest fill;             // where to ask for it; NULL: nowhere
    void *user;                      // of fill
    bool knows_rest;
} lemke;

static void lemke_free(void *state) {
    lemke *solver = state;
    solver->fast->forget(solver->memory);
    solver->fast->free(solver->plain);
    carom_lemke_kernel_quad.free(solver->extended);
    carom_lcp_basis_free(solver->basis);
    carom_arena_free(&solver->arena);
    free(solver);
}

static carom_status create(const carom_lcp_solver *row, int n, const double *W, void **state, carom_error *error) {
    // A row without a choice takes the fastest kernel.
    const kernel_choice *choice = row->method;
    if (choice && choice->needs_avx2 && !CAROM_HAS_AVX2)
        return carom_fail(error, CAROM_UNSUPPORTED, "%s: this machine lacks the instructions", row->name);
    lemke *solver = calloc(1, sizeof *solver);
    if (!solver) return carom_fail_memory(error, "lemke");
    *solver = (lemke){.n = n, .W = W, .fast = choice ? choice->kernel : carom_lemke_kernel_fastest()};
    // Beyond these sizes, the first rung runs without a memory, and the rungs in quadruple precision are passed over.
    const bool remembers = n <= CAROM_LEMKE_MOST_REMEMBERED, extends = n <= MOST_QUADRUPLE;
    solver->basic = carom_arena_take(&solver->arena, (size_t)n, sizeof *solver->basic);
    solver->covering = carom_arena_take(&solver->arena, (size_t)n, sizeof *solver->covering);
    solver->perturbed = carom_arena_take(&solver->arena, (size_t)n, sizeof *solver->perturbed);
    if (extends) solver->rest = carom_arena_take(&solver->arena, (size_t)n * (size_t)n, sizeof *solver->rest);
    double *y_unit = carom_arena_take(&solver->arena, (size_t)n, sizeof *y_unit);
    double *z_unit = carom_arena_take(&solver->arena, (size_t)n, sizeof *z_unit);
    carom_status status = carom_lcp_basis_create(n, W, &solver->basis, error);
    if (!status && !solver->arena.failed) {
        carom_lcp_units(n, W, y_unit, z_unit);
        solver->plain = solver->fast->create(n, y_unit, z_unit);
        if (remembers) solver->memory = solver->fast->remember(n, W, y_unit, z_unit, ladder[0].pivot_tolerance, ladder[0].tie_tolerance);
        if (extends) solver->extended = carom_lemke_kernel_quad.create(n, y_unit, z_unit);
    }
    for (int i = 0; i < n && !solver->arena.failed; i++) solver->covering[i] = 1;
    solver->covers_extended = true;
    const bool complete = solver->plain && (solver->memory || !remembers) && (solver->extended || !extends);
    if (!status && !complete) status = carom_fail_memory(error, "lemke");
    if (status)
        lemke_free(solver);
    else
        *state = solver;
    return status;
}

static void lemke_cover(void *state, const double *covering) {
    lemke *solver = state;
    solver->fast->cover(solver->plain, covering);
    if (solver->memory) solver->fast->cover_again(solver->memory, covering);
    // Few solves come to quadruple precision, where divisions are slow.
    memcpy(solver->covering, covering, (size_t)solver->n * sizeof *covering);
    solver->covers_extended = false;
}

static void lemke_sharpen(void *state, carom_lcp_rest fill, void *user) {
    lemke *solver = state;
    solver->fill = fill;
    solver->user = user;
    solver->knows_rest = false;
}

static void lemke_watch(void *state, const carom_control *control) {
    lemke *solver = state;
    solver->fast->watch(solver->plain, control);
    if (solver->extended) carom_lemke_kernel_quad.watch(solver->extended, control);
}

// One rung of the ladder: Lemke's method in its precision, with its tolerances and its perturbation of w.
static carom_verdict climb(lemke *solver, const rung *now, const double *w, double *z, int64_t *pivots) {
    const int n = solver->n;
    // The first rung with the memory of pivots: nearly all problems end here.
    if (now == ladder && solver->memory) {
        const carom_verdict verdict = solver->fast->recall(solver->memory, w, pivots);
        solver->fast->read_out(solver->memory, z, solver->basic);
        return verdict;
    }
    if (now->perturbation > 0) {
        // w + eps ||w|| (1 + noise), the same noise at every call.
        const double size = now->perturbation * carom_max_abs((size_t)n, w);
        carom_stream noise;
        carom_stream_start(&noise, 0, 0);
        for (int i = 0; i < n; i++) solver->perturbed[i] = w[i] + size * (1 + carom_stream_uniform(&noise));
        w = solver->perturbed;
    }
    // Every rung has pivots of its own.
    const int64_t limit = *pivots + (int64_t)CAROM_LEMKE_PIVOTS_PER_ROW * n;
    const carom_lemke_kernel *kernel = now->extended ? &carom_lemke_kernel_quad : solver->fast;
    void *tableau = now->extended ? solver->extended : solver->plain;
    if (now->extended && !solver->covers_extended) {
        carom_lemke_kernel_quad.cover(solver->extended, solver->covering);
        solver->covers_extended = true;
    }
    if (now->extended && solver->fill && !solver->knows_rest) {
        solver->fill(solver->user, solver->rest);
        solver->knows_rest = true;
    }
    const double *rest = now->extended && solver->knows_rest ? solver->rest : NULL;
    const carom_verdict verdict = kernel->run(tableau, solver->W, rest, w, limit, now->pivot_tolerance, now->tie_tolerance, pivots);
    kernel->extract(tableau, z, solver->basic);
    return verdict;
}

static bool is_non_negative(int n, const double *w) {
    for (int i = 0; i < n; i++)
        if (w[i] < 0) return false;
    return true;
}

// Attempt 2k is rung k; attempt 2k + 1 solves the equations of the basis that it ended on again.
static void lemke_solve(void *state, int attempt, const double *w, double *z, carom_lcp_info *info) {
    lemke *solver = state;
    const rung *now = &ladder[attempt / 2];
    info->fallbacks = attempt / 2;
    // z = 0 solves it.
    if (attempt == 0 && is_non_negative(solver->n, w)) {
        memset(solver->basic, 0, (size_t)solver->n * sizeof *solver->basic);
        info->verdict = solver->last = CAROM_COMPLETE;
        return;
    }
    if (attempt % 2 == 0 && !(now->extended && !solver->extended)) solver->last = climb(solver, now, w, z, &info->pivots);
    info->verdict = solver->last;
    if (solver->last == CAROM_COMPLETE && attempt % 2 == 1) carom_lcp_basis_solve(solver->basis, solver->basic, w, z);
    carom_lcp_clip(solver->n, z);
}

bool *carom_lemke_basis(void *state) { return ((lemke *)state)->basic; }

bool carom_lemke_solve_basis(void *state, const double *w, double *z) {
    const lemke *solver = state;
    return carom_lcp_basis_solve(solver->basis, solver->basic, w, z);
}

carom_verdict carom_lcp_lemke_once(int n, const double *W, const double *w, double *z) {
    memset(z, 0, (size_t)n * sizeof *z);
    if (is_non_negative(n, w)) return CAROM_COMPLETE;
    const carom_lemke_kernel *kernel = carom_lemke_kernel_fastest();
    void *tableau = kernel->create(n, NULL, NULL);
    if (!tableau) return CAROM_UNVERIFIED;
    int64_t pivots = 0;
    const carom_verdict verdict = kernel->run(tableau, W, NULL, w, (int64_t)CAROM_LEMKE_PIVOTS_PER_ROW * n, CAROM_LEMKE_PIVOT_TOLERANCE,
                                              CAROM_LEMKE_TIE_TOLERANCE, &pivots);
    kernel->extract(tableau, z, NULL);
    kernel->free(tableau);
    return verdict;
}

// --------------------------------------------------------------------------------------------------------------- table

// clang-format off
#define LEMKE_SOLVER(text, about, choice) \
    {.name = text, .summary = about, .canonical = true, .attempts = 2 * RUNGS, .goals = goals, .method = choice, \
     .create = create, .solve = lemke_solve, .free = lemke_free, .cover = lemke_cover, .sharpen = lemke_sharpen, .watch = lemke_watch}

const carom_lcp_solver carom_lcp_lemke =
    LEMKE_SOLVER("lemke", "Lemke's method, lexicographic (canonical; alone, with a covering vector of ones)", NULL);

const carom_lcp_solver carom_lcp_lemke_kernels[CAROM_LCP_LEMKE_KERNELS] = {
    LEMKE_SOLVER("lemke:scalar", "lemke without vector instructions: the same bits, for comparison", &scalar),
    LEMKE_SOLVER("lemke:portable", "lemke with the vector instructions that every machine has", &portable),
    LEMKE_SOLVER("lemke:avx2", "lemke with AVX2", &avx2),
    LEMKE_SOLVER("lemke:avx512", "the same as lemke:avx2: AVX-512 is no faster", &avx2),
};
// clang-format on
