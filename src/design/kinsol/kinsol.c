// SPDX-License-Identifier: Apache-2.0
// The nearest point of {F = 0} by KINSOL. With a basis B of rows that span the scaled gradients at some point, x = x0 + D B'y has as many
// unknowns y as F has equations. Where the gradients are those at the solution itself, x - x0 is a combination of them: the condition of
// Lagrange for the least |D^-1 (x - x0)|. So bases and solutions alternate until they agree.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <kinsol/kinsol.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "carom/dense.h"
#include "carom/design.h"

// Steps of central differences in scaled variables: truncation and round-off are about equal at the third root of 1e-16.
#define DIFFERENCE_STEP 6e-6
// KINSOL goes on until round-off stops it; the residual then decides.
#define KINSOL_TOLERANCE 1e-16
// The solution is where its gradients were taken, in scaled variables: beyond, differences of gradients are round-off.
#define SAME_POINT 1e-7
// What a whole step must make of the distance between the gradients' point and the solution.
#define CLOSER 0.7

enum { MOST_BASES = 40, MOST_ITERATIONS = 100 };

typedef struct search {
    const carom_design_problem *problem;
    const carom_control *control;
    carom_design_result *result;
    size_t variables, equations;
    double *basis;           // [equations x variables], orthonormal rows, in scaled variables
    double *x;               // [variables]
    double *best;            // [variables], the point of the least residual so far
    double *jacobian;        // [equations x variables]
    double *gram;            // [equations x equations]
    double *ahead, *behind;  // [equations], residuals of a difference
    double *shifted;         // [variables]
    carom_status status;     // of the last evaluation that cannot be recovered from
    carom_error *error;
} search;

// What KINSOL needs.
typedef struct solver {
    SUNContext context;
    void *memory;
    N_Vector y, ones;  // [equations]
    SUNMatrix matrix;
    SUNLinearSolver linear;
} solver;

// What differs between SUNDIALS 6 and 7. Neither prints: the result says what happened.
#if SUNDIALS_VERSION_MAJOR < 7
#define SUN_COMM_NULL NULL
static void drop_message(int code, const char *module, const char *function, char *message, void *user) {
    (void)code, (void)module, (void)function, (void)message, (void)user;
}
static bool silence(const solver *kinsol) { return !KINSetErrHandlerFn(kinsol->memory, drop_message, NULL); }
#else
static bool silence(const solver *kinsol) { return !SUNContext_ClearErrHandlers(kinsol->context); }
#endif

// ---------------------------------------------------------------------------------------------------------- evaluation

// F at x; keeps the best point. 0, 1 when x has no value, -1 when the search must end: what KINSOL wants.
static int evaluate(search *s, const double *x, double *residual) {
    carom_error inner;
    s->result->evaluations++;
    const carom_status status = s->problem->evaluate(s->problem->user, x, residual, &inner);
    if (status == CAROM_BAD_INPUT || (!status && !carom_all_finite(s->equations, residual))) return 1;
    if (status) {
        s->status = carom_fail(s->error, status, "%s", inner.message);
        return -1;
    }
    const double size = carom_max_abs(s->equations, residual);
    if (size < s->result->residual) {
        s->result->residual = size;
        memcpy(s->best, x, s->variables * sizeof *x);
    }
    return 0;
}

// Column of the derivative along `direction` (scaled variables) at x: central, one-sided nowhere.
static int differentiate(search *s, const double *x, const double *direction, double *column, size_t stride) {
    int status = 0;
    for (int side = 0; side < 2 && !status; side++) {
        for (size_t i = 0; i < s->variables; i++)
            s->shifted[i] = x[i] + (side ? -DIFFERENCE_STEP : DIFFERENCE_STEP) * s->problem->scale[i] * direction[i];
        status = evaluate(s, s->shifted, side ? s->behind : s->ahead);
    }
    for (size_t e = 0; e < s->equations && !status; e++) column[e * stride] = (s->ahead[e] - s->behind[e]) / (2 * DIFFERENCE_STEP);
    return status;
}

// x = x0 + D B' y.
static void place(search *s, const double *y) {
    for (size_t i = 0; i < s->variables; i++) {
        double step = 0;
        for (size_t e = 0; e < s->equations; e++) step += s->basis[e * s->variables + i] * y[e];
        s->x[i] = s->problem->start[i] + s->problem->scale[i] * step;
    }
}

// The equations, as KINSOL calls them.
static int kinsol_residual(N_Vector y, N_Vector residual, void *user) {
    search *s = user;
    if (carom_control_cancelled(s->control)) {
        s->result->verdict = CAROM_INTERRUPTED;
        return -1;
    }
    place(s, N_VGetArrayPointer(y));
    return evaluate(s, s->x, N_VGetArrayPointer(residual));
}

// Their Jacobian, as KINSOL calls it.
static int kinsol_jacobian(N_Vector y, N_Vector residual, SUNMatrix J, void *user, N_Vector work1, N_Vector work2) {
    (void)residual, (void)work1, (void)work2;
    search *s = user;
    place(s, N_VGetArrayPointer(y));
    int status = 0;
    for (size_t e = 0; e < s->equations && !status; e++)
        status = differentiate(s, s->x, s->basis + e * s->variables, SUNDenseMatrix_Column(J, (sunindextype)e), 1);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- basis

// Orthonormal rows B = L^-1 J that span the scaled gradients J at x, with J J' = L L'. False where they are dependent, or F has no value
// beside x.
static bool find_basis(search *s, const double *x) {
    double *unit = s->basis;  // its first row serves as the direction until it is filled
    for (size_t i = 0; i < s->variables; i++) {
        memset(unit, 0, s->variables * sizeof *unit);
        unit[i] = 1;
        if (differentiate(s, x, unit, s->jacobian + i, s->variables)) return false;
    }
    carom_gram((int)s->equations, (int)s->variables, s->jacobian, s->gram);
    if (carom_cholesky_factor((int)s->equations, s->gram)) return false;
    for (size_t i = 0; i < s->variables; i++) {
        for (size_t e = 0; e < s->equations; e++) s->ahead[e] = s->jacobian[e * s->variables + i];
        carom_cholesky_forward((int)s->equations, s->gram, s->ahead);
        for (size_t e = 0; e < s->equations; e++) s->basis[e * s->variables + i] = s->ahead[e];
    }
    return true;
}

// -------------------------------------------------------------------------------------------------------------- search

// Bases and solutions in turn. The point c whose gradients are taken moves towards the solution x(c): all the way at first, less where that
// does not bring them closer or leads to a plane without solution, as for strongly curved equations. Every plane starts its own search of
// the best point: later solutions are nearer to the start, not better.
// `center`, `next` [variables]: where the gradients of the last solved plane were taken, and of the next one are; both x at first.
static void alternate(search *s, const solver *kinsol, double *center, double *next, double *x) {
    const size_t bytes = s->variables * sizeof *x;
    double kept = s->result->residual, last = INFINITY, share = 1;
    for (int round = 0; round < MOST_BASES; round++) {
        bool solved = find_basis(s, next);
        if (solved) {
            // Solve F(x0 + D B'y) = 0 on the plane of the basis, from y = B D^-1 (x - x0). The best point says how far it came.
            double *y = N_VGetArrayPointer(kinsol->y);
            for (size_t e = 0; e < s->equations; e++) {
                y[e] = 0;
                for (size_t i = 0; i < s->variables; i++)
                    y[e] += s->basis[e * s->variables + i] * (x[i] - s->problem->start[i]) / s->problem->scale[i];
            }
            s->result->residual = INFINITY;
            KINSol(kinsol->memory, kinsol->y, KIN_LINESEARCH, kinsol->ones, kinsol->ones);
            long iterations = 0;
            KINGetNumNonlinSolvIters(kinsol->memory, &iterations);
            s->result->iterations += iterations;
            solved = s->result->residual <= CAROM_DESIGN_TOLERANCE;
        }
        if (s->status || s->result->verdict == CAROM_INTERRUPTED) break;
        if (!solved && round == 0) {
            // There is nothing better than the best point.
            memcpy(x, s->best, bytes);
            return;
        }
        if (solved) {
            memcpy(x, s->best, bytes);
            memcpy(center, next, bytes);
            kept = s->result->residual;
        }
        // Their distance in scaled variables.
        double square = 0;
        for (size_t i = 0; i < s->variables; i++)
            square += (x[i] - center[i]) * (x[i] - center[i]) / (s->problem->scale[i] * s->problem->scale[i]);
        const double gap = sqrt(square);
        if (gap <= SAME_POINT) break;
        if (!solved || gap > CLOSER * last) share *= 0.5;
        last = gap;
        for (size_t i = 0; i < s->variables; i++) next[i] = center[i] + share * (x[i] - center[i]);
    }
    s->result->residual = kept;
}

carom_status carom_design_solve(const carom_design_problem *problem, const carom_control *control, double *x, carom_design_result *result,
                                carom_error *error) {
    *result = (carom_design_result){.verdict = CAROM_INCOMPLETE, .residual = INFINITY};
    memcpy(x, problem->start, (size_t)problem->variables * sizeof *x);
    if (problem->equations < 1 || problem->equations > problem->variables)
        return carom_fail(error, CAROM_BAD_INPUT, "%d equations need at least as many free variables, not %d", problem->equations,
                          problem->variables);
    for (int i = 0; i < problem->variables; i++) {
        if (!isfinite(problem->start[i])) return carom_fail(error, CAROM_BAD_INPUT, "start[%d] is not a finite number", i);
        if (!(problem->scale[i] > 0) || !isfinite(problem->scale[i]))
            return carom_fail(error, CAROM_BAD_INPUT, "scale[%d] is %g: it must be greater than 0", i, problem->scale[i]);
    }

    const size_t n = (size_t)problem->variables, k = (size_t)problem->equations;
    search s = {.problem = problem, .control = control, .result = result, .variables = n, .equations = k, .error = error};
    solver kinsol = {0};
    carom_arena arena = {0};
    s.basis = carom_arena_take(&arena, k * n, sizeof *s.basis);
    s.jacobian = carom_arena_take(&arena, k * n, sizeof *s.jacobian);
    s.gram = carom_arena_take(&arena, k * k, sizeof *s.gram);
    s.ahead = carom_arena_take(&arena, k, sizeof *s.ahead);
    s.behind = carom_arena_take(&arena, k, sizeof *s.behind);
    s.x = carom_arena_take(&arena, n, sizeof *s.x);
    s.best = carom_arena_take(&arena, n, sizeof *s.best);
    s.shifted = carom_arena_take(&arena, n, sizeof *s.shifted);
    double *center = carom_arena_take(&arena, n, sizeof *center), *next = carom_arena_take(&arena, n, sizeof *next);
    carom_status status = arena.failed ? carom_fail_memory(error, "design") : CAROM_OK;

    // F must have a value at the start.
    carom_error inner;
    if (!status && (status = problem->evaluate(problem->user, x, s.ahead, &inner))) carom_fail(error, status, "%s", inner.message);
    if (!status) {
        result->residual = carom_max_abs(k, s.ahead);
        result->evaluations = 1;
        memcpy(s.best, x, n * sizeof *x);
        memcpy(center, x, n * sizeof *x);
        memcpy(next, x, n * sizeof *x);
    }

    // KINSOL for as many unknowns as equations.
    const sunindextype size = (sunindextype)k;
    if (!status && !SUNContext_Create(SUN_COMM_NULL, &kinsol.context)) {
        kinsol.memory = KINCreate(kinsol.context);
        kinsol.y = N_VNew_Serial(size, kinsol.context);
        kinsol.ones = N_VNew_Serial(size, kinsol.context);
        kinsol.matrix = SUNDenseMatrix(size, size, kinsol.context);
        if (kinsol.y && kinsol.matrix) kinsol.linear = SUNLinSol_Dense(kinsol.y, kinsol.matrix, kinsol.context);
    }
    if (!status && (!kinsol.memory || !kinsol.ones || !kinsol.linear)) status = carom_fail_memory(error, "KINSOL");
    if (!status) N_VConst(1, kinsol.ones);
    if (!status && (!silence(&kinsol) || KINInit(kinsol.memory, kinsol_residual, kinsol.y) || KINSetUserData(kinsol.memory, &s) ||
                    KINSetLinearSolver(kinsol.memory, kinsol.linear, kinsol.matrix) || KINSetJacFn(kinsol.memory, kinsol_jacobian) ||
                    KINSetFuncNormTol(kinsol.memory, KINSOL_TOLERANCE) || KINSetScaledStepTol(kinsol.memory, KINSOL_TOLERANCE) ||
                    KINSetNumMaxIters(kinsol.memory, MOST_ITERATIONS) || KINSetMaxSetupCalls(kinsol.memory, 1)))
        status = carom_fail(error, CAROM_INTERNAL, "KINSOL refused its settings");

    if (!status) {
        alternate(&s, &kinsol, center, next, x);
        status = s.status;
    }
    if (result->verdict != CAROM_INTERRUPTED && result->residual <= CAROM_DESIGN_TOLERANCE) result->verdict = CAROM_COMPLETE;
    if (kinsol.linear) SUNLinSolFree(kinsol.linear);
    if (kinsol.matrix) SUNMatDestroy(kinsol.matrix);
    if (kinsol.y) N_VDestroy(kinsol.y);
    if (kinsol.ones) N_VDestroy(kinsol.ones);
    if (kinsol.memory) KINFree(&kinsol.memory);
    if (kinsol.context) SUNContext_Free(&kinsol.context);
    carom_arena_free(&arena);
    return status;
}
