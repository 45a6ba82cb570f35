// SPDX-License-Identifier: Apache-2.0
// One impact of compliant bodies by CVODE: backward differentiation formulas, an analytic Jacobian, events as roots.
//
// Forces are not smooth where a contact touches, leaves, sticks or slides. Each contact therefore has a mode, in which its force is smooth;
// CVODE stops at the roots that end a mode, modes change, and the integration starts anew from there.
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "compliant/compliant.h"

// Local errors of a step, relative and absolute [m, m/s, N s]. At the first the block's outcomes are good for 1e-9 m/s; rounding of the
// gaps of very stiff contacts may keep steps from it, and such an impact is followed again at the second.
static const double tolerances[][2] = {{1e-10, 1e-14}, {1e-9, 1e-13}};
enum { ATTEMPTS = sizeof tolerances / sizeof *tolerances };
// Between two events; an impact of the block takes below a thousand.
enum { MOST_STEPS = 20000 };
// A gap at the start that is smaller than this share of the system's length is closed: round-off of positions.
#define TOUCHING 1e-12
// Contacts change their modes a few times in an impact; one that does not stop would not end.
enum { MOST_EVENTS = 10000 };

struct compliant_solver {
    compliant_motion motion;
    const compliant_start *start;
    double damping_ratio;
    // CVODE and the parts that it works with; the state y.
    SUNContext context;
    N_Vector y;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    void *cvode;
    int *roots, *directions;  // [ROOTS contacts + 1], the last is the end of the impact
};

// Roots of each contact.
enum { ROOT_GAP, ROOT_PUSH, ROOT_SLIP, ROOTS };

bool carom_compliant_available(void) { return true; }

const char *carom_compliant_sundials_version(void) { return SUNDIALS_VERSION; }

// ---------------------------------------------------------------------------------------------------------- callbacks

// y' and its derivatives, as CVODE asks for them.
static int derive(sunrealtype time, N_Vector y, N_Vector rate, void *user) {
    (void)time;
    compliant_derive(&((compliant_solver *)user)->motion, N_VGetArrayPointer(y), N_VGetArrayPointer(rate));
    return 0;
}

static int linearise(sunrealtype time, N_Vector y, N_Vector rate, SUNMatrix jacobian, void *user, N_Vector a, N_Vector b, N_Vector c) {
    (void)time, (void)rate, (void)a, (void)b, (void)c;
    compliant_linearise(&((compliant_solver *)user)->motion, N_VGetArrayPointer(y), SUNDenseMatrix_Cols(jacobian));
    return 0;
}

// Negative while the impact goes on: a closed contact approaches, or a contact has not had its share of impulse. Terms are those at y.
static double measure_end(const compliant_solver *solver, const double *y) {
    const compliant_motion *motion = &solver->motion;
    const double *impulse = y + 2 * motion->nv;
    double least = INFINITY;
    for (int i = 0; i < motion->contacts; i++) {
        if (compliant_is_closed(motion, i)) least = fmin(least, compliant_gap_rate(motion, y, i) + solver->start->rest_speed);
        least = fmin(least, impulse[i] - solver->start->least_impulse);
    }
    return least;
}

// Of each contact the events that can change its mode: a touch, the end of a push and its return, the borders of sticking. A function that
// has no root now is 1.
static int find_roots(sunrealtype time, N_Vector state, sunrealtype *roots, void *user) {
    (void)time;
    compliant_solver *solver = user;
    compliant_motion *motion = &solver->motion;
    const double *y = N_VGetArrayPointer(state);
    compliant_evaluate(motion, y);
    for (int i = 0; i < motion->contacts; i++, roots += ROOTS) {
        // How far the slip is beyond the border of sticking, in the direction of sliding: a step may pass all that lies between the
        // borders.
        const double slip = motion->slip[i], width = motion->slip_regularisation;
        const bool pushes = compliant_pushes(motion, i);
        roots[ROOT_GAP] = pushes ? 1 : motion->terms.gap[i];
        roots[ROOT_PUSH] = compliant_is_closed(motion, i) ? motion->push[i] : 1;
        switch (motion->mode[i]) {
        case COMPLIANT_SLIDES_UP: roots[ROOT_SLIP] = slip - width; break;
        case COMPLIANT_SLIDES_DOWN: roots[ROOT_SLIP] = -slip - width; break;
        default: roots[ROOT_SLIP] = pushes ? fabs(slip) - width : 1;
        }
    }
    *roots = measure_end(solver, y);
    return 0;
}

// What differs between SUNDIALS 6 and 7: nothing is printed in either.
#if SUNDIALS_VERSION_MAJOR < 7
#define SUN_COMM_NULL NULL
static void drop_message(int code, const char *module, const char *function, char *message, void *user) {
    (void)code, (void)module, (void)function, (void)message, (void)user;
}
static bool silence(const compliant_solver *solver) { return !CVodeSetErrHandlerFn(solver->cvode, drop_message, NULL); }
#else
static bool silence(const compliant_solver *solver) { return !SUNContext_ClearErrHandlers(solver->context); }
#endif

// ------------------------------------------------------------------------------------------------------------ creation

carom_status compliant_solver_create(const carom_system *system, const carom_compliant_options *options, compliant_solver **solver,
                                     carom_error *error) {
    *solver = NULL;
    compliant_solver *created = calloc(1, sizeof *created);
    if (!created) return carom_fail_memory(error, "compliant contact");
    created->damping_ratio = options->damping_ratio;
    const int contacts = system->contacts, roots = ROOTS * contacts + 1, states = 2 * system->nv + contacts;
    created->roots = calloc((size_t)roots, sizeof *created->roots);
    created->directions = calloc((size_t)roots, sizeof *created->directions);
    carom_status status = created->roots && created->directions ? CAROM_OK : carom_fail_memory(error, "compliant contact");
    if (!status) status = compliant_motion_create(system, options->slip_regularisation, &created->motion, error);
    if (!status && !SUNContext_Create(SUN_COMM_NULL, &created->context)) {
        created->y = N_VNew_Serial(states, created->context);
        created->matrix = SUNDenseMatrix(states, states, created->context);
        created->cvode = CVodeCreate(CV_BDF, created->context);
        if (created->y && created->matrix) created->linear = SUNLinSol_Dense(created->y, created->matrix, created->context);
    }
    void *cvode = created->cvode;
    // Nothing is wrong with the sizes: memory is all that SUNDIALS can lack here.
    if (!status && (!cvode || !created->linear)) status = carom_fail_memory(error, "compliant contact: SUNDIALS");
    if (!status) N_VConst(0, created->y);
    if (!status && (!silence(created) || CVodeInit(cvode, derive, 0, created->y) || CVodeSetUserData(cvode, created) ||
                    CVodeSStolerances(cvode, tolerances[0][0], tolerances[0][1]) ||
                    CVodeSetLinearSolver(cvode, created->linear, created->matrix) || CVodeSetJacFn(cvode, linearise) ||
                    CVodeRootInit(cvode, roots, find_roots) || CVodeSetNoInactiveRootWarn(cvode) || CVodeSetMaxNumSteps(cvode, MOST_STEPS)))
        status = carom_fail_memory(error, "compliant contact: SUNDIALS");
    if (status)
        compliant_solver_free(created);
    else
        *solver = created;
    return status;
}

void compliant_solver_free(compliant_solver *solver) {
    if (!solver) return;
    if (solver->cvode) CVodeFree(&solver->cvode);
    if (solver->linear) SUNLinSolFree(solver->linear);
    if (solver->matrix) SUNMatDestroy(solver->matrix);
    if (solver->y) N_VDestroy(solver->y);
    if (solver->context) SUNContext_Free(&solver->context);
    compliant_motion_release(&solver->motion);
    free(solver->roots);
    free(solver->directions);
    free(solver);
}

// ------------------------------------------------------------------------------------------------------------- running

// From an event at `end->time` to the next one, or to the horizon, or as far as steps can be made.
static carom_status advance(compliant_solver *solver, compliant_end *end, bool *event, carom_error *error) {
    // A function that is zero but for rounding just after its event must not be one again: each has the direction in which its mode ends.
    const compliant_motion *motion = &solver->motion;
    for (int i = 0; i < motion->contacts; i++) {
        int *directions = solver->directions + ROOTS * i;
        directions[ROOT_GAP] = motion->mode[i] == COMPLIANT_OPEN ? -1 : 1;
        directions[ROOT_PUSH] = compliant_pushes(motion, i) ? -1 : 1;
        directions[ROOT_SLIP] = motion->mode[i] == COMPLIANT_STICKS ? 1 : -1;
    }
    solver->directions[ROOTS * motion->contacts] = 1;

    const double horizon = solver->start->horizon;
    int flag = CVodeReInit(solver->cvode, end->time, solver->y);
    if (!flag) flag = CVodeSetStopTime(solver->cvode, horizon);
    if (!flag) flag = CVodeSetRootDirection(solver->cvode, solver->directions);
    if (!flag) flag = CVode(solver->cvode, horizon, solver->y, &end->time, CV_NORMAL);
    *event = flag == CV_ROOT_RETURN;
    if (*event) flag = CVodeGetRootInfo(solver->cvode, solver->roots);
    end->stuck = flag == CV_TOO_MUCH_WORK || flag == CV_ERR_FAILURE || flag == CV_CONV_FAILURE;
    if (flag >= 0 || end->stuck) return CAROM_OK;
    char *name = CVodeGetReturnFlagName(flag);
    const carom_status status = carom_fail(error, CAROM_INTERNAL, "compliant contact: the integration failed after %.3g s: %s", end->time,
                                           name ? name : "out of memory");
    free(name);
    return status;
}

// What a contact does after one of its events. Its functions are zero there but for rounding: only signs of others decide.
static compliant_mode next_mode(const compliant_motion *motion, const double *y, int contact, const int *roots) {
    const compliant_mode sliding = motion->slip[contact] > 0 ? COMPLIANT_SLIDES_UP : COMPLIANT_SLIDES_DOWN;
    switch (motion->mode[contact]) {
    case COMPLIANT_OPEN: return compliant_closed_mode(motion, y, contact);
    case COMPLIANT_RELEASED:
        if (roots[ROOT_GAP]) return COMPLIANT_OPEN;
        return fabs(motion->slip[contact]) <= motion->slip_regularisation ? COMPLIANT_STICKS : sliding;
    case COMPLIANT_STICKS: return roots[ROOT_PUSH] ? COMPLIANT_RELEASED : sliding;
    case COMPLIANT_SLIDES_UP:
    case COMPLIANT_SLIDES_DOWN: return roots[ROOT_PUSH] ? COMPLIANT_RELEASED : COMPLIANT_STICKS;
    }
    return COMPLIANT_OPEN;
}

// Follows the impact from event to event until it is over.
static carom_status integrate(compliant_solver *solver, compliant_end *end, carom_error *error) {
    compliant_motion *motion = &solver->motion;
    const double *y = N_VGetArrayPointer(solver->y);
    // The contact that touches alone at first, -1 when several do; and its impulse when the second touches.
    int closed = 0, first = -1;
    double before = NAN;
    for (int i = 0; i < motion->contacts; i++) {
        if (!compliant_is_closed(motion, i)) continue;
        first = i;
        closed++;
    }
    if (closed != 1) first = -1;

    carom_status status = CAROM_OK;
    bool event = true;
    for (int events = 0; !status && event && !end->settled; events++) {
        end->stuck = events == MOST_EVENTS;
        if (!end->stuck) status = advance(solver, end, &event, error);
        if (status || end->stuck || !event) break;
        // Contacts with an event change their modes.
        compliant_evaluate(motion, y);
        bool touched = false;
        for (int i = 0; i < motion->contacts; i++) {
            const int *roots = solver->roots + ROOTS * i;
            if (!roots[ROOT_GAP] && !roots[ROOT_PUSH] && !roots[ROOT_SLIP]) continue;
            touched = touched || (motion->mode[i] == COMPLIANT_OPEN && i != first);
            motion->mode[i] = next_mode(motion, y, i, roots);
        }
        if (touched && first >= 0 && isnan(before)) before = y[2 * motion->nv + first];
        end->settled = solver->roots[ROOTS * motion->contacts] || measure_end(solver, y) >= 0;
    }
    // NaN when no second contact touched.
    if (first >= 0) end->first_fraction = before / y[2 * motion->nv + first];
    return status;
}

carom_status compliant_solver_run(compliant_solver *solver, const compliant_start *start, compliant_end *end, carom_error *error) {
    compliant_motion *motion = &solver->motion;
    double *y = N_VGetArrayPointer(solver->y);
    const int nv = motion->nv;
    carom_status status = CAROM_OK;
    solver->start = start;
    end->stuck = true;
    for (int attempt = 0; attempt < ATTEMPTS && end->stuck && !status; attempt++) {
        if (CVodeSStolerances(solver->cvode, tolerances[attempt][0], tolerances[attempt][1]))
            return carom_fail(error, CAROM_INTERNAL, "compliant contact: SUNDIALS refuses the tolerances");
        // The state at time 0, with the contacts closed that touch.
        for (int i = 0; i < motion->states; i++) y[i] = 0;
        for (int j = 0; j < nv; j++) {
            y[j] = start->displacement[j];
            y[nv + j] = start->velocity[j];
        }
        for (int i = 0; i < motion->contacts; i++) {
            motion->stiffness[i] = start->stiffness[i];
            motion->damping[i] = 2 * solver->damping_ratio * sqrt(start->stiffness[i] * motion->system->mass);
        }
        compliant_evaluate(motion, y);
        const double touching = TOUCHING * motion->system->length;
        for (int i = 0; i < motion->contacts; i++)
            motion->mode[i] = motion->terms.gap[i] <= touching ? compliant_closed_mode(motion, y, i) : COMPLIANT_OPEN;
        end->time = 0;
        end->settled = end->stuck = false;
        end->first_fraction = NAN;
        status = integrate(solver, end, error);
    }
    // Velocities at the configuration of the end.
    compliant_evaluate(motion, y);
    for (int j = 0; j < nv; j++) end->velocity[j] = y[nv + j];
    for (int i = 0; i < motion->contacts; i++) {
        end->impulse[i] = y[2 * nv + i];
        end->normal_velocity[i] = compliant_gap_rate(motion, y, i);
        end->tangent_velocity[i] = motion->slip[i];
    }
    return status;
}
