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
    size_t n, k;             // variables, equations
    double *basis;           // [k x n], orthonormal rows, in scaled variables
    double *x;               // [n]
    double *best;            // [n], the point of the least residual so far
    double *jacobian;        // [k x n]
    double *gram;            // [k x k]
    double *ahead, *behind;  // [k], residuals of a difference
    double *shifted;         // [n]
    double *centre, *next;   // [n], where the gradients of the last solved plane were taken, and of the next one are
    carom_status status;     // of the last evaluation that cannot be recovered from
    carom_error *error;
} search;

// ---------------------------------------------------------------------------------------------------------- evaluation

// F at x; keeps the best point. 0, 1 when x has no value, -1 when the search must end: what KINSOL wants.
static int evaluate(search *s, const double *x, double *residual) {
    carom_error inner;
    s->result->evaluations++;
    const carom_status status = s->problem->evaluate(s->problem->user, x, residual, &inner);
    if (status == CAROM_BAD_INPUT || (!status && !carom_all_finite(s->k, residual))) return 1;
    if (status) {
        s->status = carom_fail(s->error, status, "%s", inner.message);
        return -1;
    }
    const double size = carom_max_abs(s->k, residual);
    if (size < s->result->residual) {
        s->result->residual = size;
        memcpy(s->best, x, s->n * sizeof *x);
    }
    return 0;
}

// Column of the derivative along `direction` (scaled variables) at x: central, one-sided nowhere.
static int differentiate(search *s, const double *x, const double *direction, double *column, size_t stride) {
    int status = 0;
    for (int side = 0; side < 2 && !status; side++) {
        for (size_t i = 0; i < s->n; i++)
            s->shifted[i] = x[i] + (side ? -DIFFERENCE_STEP : DIFFERENCE_STEP) * s->problem->scale[i] * direction[i];
        status = evaluate(s, s->shifted, side ? s->behind : s->ahead);
    }
    for (size_t e = 0; e < s->k && !status; e++) column[e * stride] = (s->ahead[e] - s->behind[e]) / (2 * DIFFERENCE_STEP);
    return status;
}

static void place(search *s, const double *y) {
    for (size_t i = 0; i < s->n; i++) {
        double step = 0;
        for (size_t e = 0; e < s->k; e++) step += s->basis[e * s->n + i] * y[e];
        s->x[i] = s->problem->start[i] + s->problem->scale[i] * step;
    }
}

static int kinsol_residual(N_Vector y, N_Vector residual, void *user) {
    search *s = user;
    if (carom_control_cancelled(s->control)) {
        s->result->verdict = CAROM_INTERRUPTED;
        return -1;
    }
    place(s, N_VGetArrayPointer(y));
    return evaluate(s, s->x, N_VGetArrayPointer(residual));
}

static int kinsol_jacobian(N_Vector y, N_Vector residual, SUNMatrix J, void *user, N_Vector work1, N_Vector work2) {
    (void)residual;
    (void)work1;
    (void)work2;
    search *s = user;
    place(s, N_VGetArrayPointer(y));
    int status = 0;
    for (size_t e = 0; e < s->k && !status; e++)
        status = differentiate(s, s->x, s->basis + e * s->n, SUNDenseMatrix_Column(J, (sunindextype)e), 1);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- basis

// Orthonormal rows that span the scaled gradients at x. False where they are dependent, or F has no value beside x.
static bool find_basis(search *s, const double *x) {
    double *unit = s->basis;  // its first row serves as the direction until it is filled
    for (size_t i = 0; i < s->n; i++) {
        memset(unit, 0, s->n * sizeof *unit);
        unit[i] = 1;
        if (differentiate(s, x, unit, s->jacobian + i, s->n)) return false;
    }
    carom_gram((int)s->k, (int)s->n, s->jacobian, s->gram);
    if (carom_cholesky_factor((int)s->k, s->gram)) return false;
    // B = L^-1 J, column by column.
    for (size_t i = 0; i < s->n; i++) {
        for (size_t e = 0; e < s->k; e++) s->ahead[e] = s->jacobian[e * s->n + i];
        carom_cholesky_forward((int)s->k, s->gram, s->ahead);
        for (size_t e = 0; e < s->k; e++) s->basis[e * s->n + i] = s->ahead[e];
    }
    return true;
}

// -------------------------------------------------------------------------------------------------------------- KINSOL

// Everything that KINSOL needs for k equations.
typedef struct solver {
    SUNContext context;
    void *memory;
    N_Vector y, ones;
    SUNMatrix matrix;
    SUNLinearSolver linear;
} solver;

// The library does not print: the result says what happened.
static void drop_message(int code, const char *module, const char *function, char *message, void *user) {
    (void)code;
    (void)module;
    (void)function;
    (void)message;
    (void)user;
}

static void release_solver(solver *k) {
    if (k->linear) SUNLinSolFree(k->linear);
    if (k->matrix) SUNMatDestroy(k->matrix);
    if (k->y) N_VDestroy(k->y);
    if (k->ones) N_VDestroy(k->ones);
    if (k->memory) KINFree(&k->memory);
    if (k->context) SUNContext_Free(&k->context);
}

static carom_status create_solver(search *s, solver *k, carom_error *error) {
    const sunindextype size = (sunindextype)s->k;
    *k = (solver){0};
    if (SUNContext_Create(NULL, &k->context)) return carom_fail_memory(error, "KINSOL");
    k->memory = KINCreate(k->context);
    k->y = N_VNew_Serial(size, k->context);
    k->ones = N_VNew_Serial(size, k->context);
    k->matrix = SUNDenseMatrix(size, size, k->context);
    if (!k->memory || !k->y || !k->ones || !k->matrix) return carom_fail_memory(error, "KINSOL");
    k->linear = SUNLinSol_Dense(k->y, k->matrix, k->context);
    if (!k->linear) return carom_fail_memory(error, "KINSOL");
    N_VConst(1, k->ones);
    const bool ready = !KINSetErrHandlerFn(k->memory, drop_message, NULL) && !KINInit(k->memory, kinsol_residual, k->y) &&
                       !KINSetUserData(k->memory, s) && !KINSetLinearSolver(k->memory, k->linear, k->matrix) &&
                       !KINSetJacFn(k->memory, kinsol_jacobian) && !KINSetFuncNormTol(k->memory, KINSOL_TOLERANCE) &&
                       !KINSetScaledStepTol(k->memory, KINSOL_TOLERANCE) && !KINSetNumMaxIters(k->memory, MOST_ITERATIONS) &&
                       !KINSetMaxSetupCalls(k->memory, 1);
    return ready ? CAROM_OK : carom_fail(error, CAROM_INTERNAL, "KINSOL refused its settings");
}

// Solves on the plane of the basis; the residual of the best point says how far it came.
static void solve_plane(search *s, solver *k) {
    double *y = N_VGetArrayPointer(k->y);
    for (size_t e = 0; e < s->k; e++) {
        y[e] = 0;
        for (size_t i = 0; i < s->n; i++) y[e] += s->basis[e * s->n + i] * (s->x[i] - s->problem->start[i]) / s->problem->scale[i];
    }
    KINSol(k->memory, k->y, KIN_LINESEARCH, k->ones, k->ones);
    long iterations = 0;
    KINGetNumNonlinSolvIters(k->memory, &iterations);
    s->result->iterations += iterations;
}

static double distance(const search *s, const double *a, const double *b) {
    double square = 0;
    for (size_t i = 0; i < s->n; i++) square += (a[i] - b[i]) * (a[i] - b[i]) / (s->problem->scale[i] * s->problem->scale[i]);
    return sqrt(square);
}

// Bases and solutions in turn. The point c whose gradients are taken moves towards the solution x(c): all the way at first, less where that
// does not bring them closer or leads to a plane without solution, as for strongly curved equations. Every plane starts its own search of
// the best point: later solutions are nearer to the start, not better.
static void alternate(search *s, solver *k, double *x) {
    double kept = s->result->residual, last = INFINITY, share = 1;
    memcpy(s->centre, x, s->n * sizeof *x);
    memcpy(s->next, x, s->n * sizeof *x);
    for (int round = 0; round < MOST_BASES; round++) {
        bool solved = find_basis(s, s->next);
        if (solved) {
            memcpy(s->x, x, s->n * sizeof *x);
            s->result->residual = INFINITY;
            solve_plane(s, k);
            solved = s->result->residual <= CAROM_DESIGN_TOLERANCE;
        }
        if (s->status || s->result->verdict == CAROM_INTERRUPTED) break;
        if (!solved && round == 0) {
            // What was found is the best that there is to say.
            memcpy(x, s->best, s->n * sizeof *x);
            return;
        }
        if (solved) {
            memcpy(x, s->best, s->n * sizeof *x);
            memcpy(s->centre, s->next, s->n * sizeof *x);
            kept = s->result->residual;
        }
        const double gap = distance(s, x, s->centre);
        if (gap <= SAME_POINT) break;
        if (!solved || gap > CLOSER * last) share *= 0.5;
        last = gap;
        for (size_t i = 0; i < s->n; i++) s->next[i] = s->centre[i] + share * (x[i] - s->centre[i]);
    }
    s->result->residual = kept;
}

// --------------------------------------------------------------------------------------------------------- the problem

static carom_status check(const carom_design_problem *problem, carom_error *error) {
    if (problem->equations < 1 || problem->equations > problem->variables)
        return carom_fail(error, CAROM_BAD_INPUT, "%d equations need at least as many free variables, not %d", problem->equations,
                          problem->variables);
    for (int i = 0; i < problem->variables; i++) {
        if (!isfinite(problem->start[i])) return carom_fail(error, CAROM_BAD_INPUT, "start[%d] is not a finite number", i);
        if (!(problem->scale[i] > 0) || !isfinite(problem->scale[i]))
            return carom_fail(error, CAROM_BAD_INPUT, "scale[%d] is %g: it must be greater than 0", i, problem->scale[i]);
    }
    return CAROM_OK;
}

static carom_status run(search *s, double *x, carom_error *error) {
    carom_error inner;
    carom_status status = s->problem->evaluate(s->problem->user, x, s->ahead, &inner);
    if (status) return carom_fail(error, status, "%s", inner.message);
    s->result->residual = carom_max_abs(s->k, s->ahead);
    memcpy(s->best, x, s->n * sizeof *x);
    s->result->evaluations = 1;
    solver k;
    status = create_solver(s, &k, error);
    if (!status) alternate(s, &k, x);
    release_solver(&k);
    return status ? status : s->status;
}

carom_status carom_design_solve(const carom_design_problem *problem, const carom_control *control, double *x, carom_design_result *result,
                                carom_error *error) {
    *result = (carom_design_result){.verdict = CAROM_INCOMPLETE, .residual = INFINITY};
    memcpy(x, problem->start, (size_t)problem->variables * sizeof *x);
    carom_status status = check(problem, error);
    if (status) return status;
    const size_t n = (size_t)problem->variables, k = (size_t)problem->equations;
    double *work = calloc(2 * k * n + k * k + 2 * k + 5 * n, sizeof *work);
    if (!work) return carom_fail_memory(error, "design");
    search s = {.problem = problem, .control = control, .result = result, .n = n, .k = k, .error = error};
    s.basis = work;
    s.jacobian = s.basis + k * n;
    s.gram = s.jacobian + k * n;
    s.ahead = s.gram + k * k;
    s.behind = s.ahead + k;
    s.x = s.behind + k;
    s.best = s.x + n;
    s.shifted = s.best + n;
    s.centre = s.shifted + n;
    s.next = s.centre + n;
    status = run(&s, x, error);
    if (result->verdict != CAROM_INTERRUPTED && result->residual <= CAROM_DESIGN_TOLERANCE) result->verdict = CAROM_COMPLETE;
    free(work);
    return status;
}
