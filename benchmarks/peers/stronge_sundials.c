// SPDX-License-Identifier: Apache-2.0
// The hodograph of a single contact by SUNDIALS: y = (gamma, Iz, vz, N) in the clock tau, with the events as roots.
#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "stronge_peers.h"

enum { SLIP_X, SLIP_Y, IMPULSE, NORMAL, WORK, STATES };
enum { ROOT_NORMAL, ROOT_TARGET, ROOT_REST, ROOTS };

#ifndef SUN_COMM_NULL  // before SUNDIALS 7
#define SUN_COMM_NULL NULL
#endif

// Later than any impact ends.
#define HORIZON 1e9

// Slip below this many tolerances is rest: closer to zero the error of the integration keeps it from falling any further.
#define REST 100

enum { MOST_STEPS = 100000 };

struct peer_sundials {
    peer_method method;
    SUNContext context;
    N_Vector y;
    SUNNonlinearSolver iteration;
    void *solver;
    contact_process *process;
    double remaining;  // work that ends the restitution
};

static int derive(realtype time, N_Vector state, N_Vector rates, void *user) {
    (void)time;
    const contact_frame *f = ((const peer_sundials *)user)->process->frame;
    const double *y = N_VGetArrayPointer(state);
    double *rate = N_VGetArrayPointer(rates);
    const double speed = sqrt(y[SLIP_X] * y[SLIP_X] + y[SLIP_Y] * y[SLIP_Y]);
    rate[SLIP_X] = f->d[0] * speed - f->mu * f->lambda[0] * y[SLIP_X];
    rate[SLIP_Y] = f->d[1] * speed - f->mu * f->lambda[1] * y[SLIP_Y];
    rate[IMPULSE] = speed;
    rate[NORMAL] = f->w * speed - f->mu * (f->d[0] * y[SLIP_X] + f->d[1] * y[SLIP_Y]);
    rate[WORK] = y[NORMAL] * speed;
    return 0;
}

static int find_roots(realtype time, N_Vector state, realtype *roots, void *user) {
    (void)time;
    const peer_sundials *peer = user;
    const double *y = N_VGetArrayPointer(state);
    roots[ROOT_NORMAL] = y[NORMAL];
    roots[ROOT_TARGET] = peer->process->restituting ? y[WORK] - peer->remaining : -1;
    roots[ROOT_REST] = sqrt(y[SLIP_X] * y[SLIP_X] + y[SLIP_Y] * y[SLIP_Y]) - peer->process->snap;
    return 0;
}

static bool set_up_adams(peer_sundials *peer) {
    peer->solver = CVodeCreate(CV_ADAMS, peer->context);
    peer->iteration = SUNNonlinSol_FixedPoint(peer->y, 0, peer->context);
    return !CVodeInit(peer->solver, derive, 0, peer->y) && !CVodeSetNonlinearSolver(peer->solver, peer->iteration) &&
           !CVodeSetUserData(peer->solver, peer) && !CVodeRootInit(peer->solver, ROOTS, find_roots) &&
           !CVodeSetMaxNumSteps(peer->solver, MOST_STEPS) && !CVodeSetErrFile(peer->solver, NULL);
}

static bool set_up_runge_kutta(peer_sundials *peer) {
    peer->solver = ERKStepCreate(derive, 0, peer->y, peer->context);
    return peer->solver && !ERKStepSetTableNum(peer->solver, ARKODE_FEHLBERG_13_7_8) && !ERKStepSetUserData(peer->solver, peer) &&
           !ERKStepRootInit(peer->solver, ROOTS, find_roots) && !ERKStepSetMaxNumSteps(peer->solver, MOST_STEPS) &&
           !ERKStepSetErrFile(peer->solver, NULL);
}

peer_sundials *peer_sundials_create(peer_method method) {
    peer_sundials *peer = calloc(1, sizeof *peer);
    if (!peer || SUNContext_Create(SUN_COMM_NULL, &peer->context)) return NULL;
    peer->method = method;
    peer->y = N_VNew_Serial(STATES, peer->context);
    if (peer->y && (method == PEER_ADAMS ? set_up_adams(peer) : set_up_runge_kutta(peer))) return peer;
    peer_sundials_free(peer);
    return NULL;
}

void peer_sundials_free(peer_sundials *peer) {
    if (peer->method == PEER_ADAMS) {
        CVodeFree(&peer->solver);
        SUNNonlinSolFree(peer->iteration);
    } else {
        ERKStepFree(&peer->solver);
    }
    N_VDestroy(peer->y);
    SUNContext_Free(&peer->context);
    free(peer);
}

static bool set_tolerance(peer_sundials *peer, double tolerance) {
    return !(peer->method == PEER_ADAMS ? CVodeSStolerances(peer->solver, tolerance, tolerance)
                                        : ERKStepSStolerances(peer->solver, tolerance, tolerance));
}

// Integrates from `y` at time 0 to the first root.
static bool integrate(peer_sundials *peer, int roots[ROOTS], long *steps) {
    realtype time;
    if (peer->method == PEER_ADAMS)
        return !CVodeReInit(peer->solver, 0, peer->y) && CVode(peer->solver, HORIZON, peer->y, &time, CV_NORMAL) == CV_ROOT_RETURN &&
               !CVodeGetRootInfo(peer->solver, roots) && !CVodeGetNumSteps(peer->solver, steps);
    return !ERKStepReInit(peer->solver, derive, 0, peer->y) &&
           ERKStepEvolve(peer->solver, HORIZON, peer->y, &time, ARK_NORMAL) == ARK_ROOT_RETURN &&
           !ERKStepGetRootInfo(peer->solver, roots) && !ERKStepGetNumSteps(peer->solver, steps);
}

// Moves the process to where the integration stands.
static void take_over(contact_process *p, const double *y) {
    contact_part part = {.impulse = y[IMPULSE], .work = y[WORK]};
    const double slip[2] = {y[SLIP_X], y[SLIP_Y]};
    for (int i = 0; i < 2; i++) {
        part.tangential[i] = (slip[i] - p->slip[i] - y[IMPULSE] * p->frame->d[i]) / p->frame->lambda[i];
        p->slip[i] = slip[i];
    }
    p->normal = y[NORMAL];
    contact_add(p, &part);
}

// From the state of the process to its next event.
static bool run_to_event(peer_sundials *peer) {
    contact_process *p = peer->process;
    double *y = N_VGetArrayPointer(peer->y);
    const double start[STATES] = {p->slip[0], p->slip[1], 0, p->normal, 0};
    for (int i = 0; i < STATES; i++) y[i] = start[i];
    peer->remaining = p->restituting ? contact_remaining_restitution(p) : 0;
    int roots[ROOTS];
    long steps;
    if (!integrate(peer, roots, &steps)) return false;
    take_over(p, y);
    p->result->steps += (int)steps;
    if (roots[ROOT_TARGET])
        contact_end(p);
    else if (roots[ROOT_NORMAL] && !p->restituting)
        contact_end_compression(p);
    else if (roots[ROOT_NORMAL])
        contact_start_recompression(p);
    else
        contact_leave_rest(p);
    return true;
}

bool peer_sundials_solve(peer_sundials *peer, const carom_contact_problem *problem, double tolerance, carom_contact_result *result) {
    *result = (carom_contact_result){.status = CAROM_CONTACT_IMPACT};
    carom_contact_options options = carom_contact_defaults();
    options.tolerance = REST * tolerance;
    contact_frame frame;
    if (contact_frame_make(problem, &frame, NULL) || !set_tolerance(peer, tolerance)) return false;
    contact_process process = contact_process_start(&frame, &options, result);
    peer->process = &process;
    result->course = CAROM_COURSE_SLIP;
    while (!process.over)
        if (!run_to_event(peer)) return false;
    contact_write_result(&process);
    return true;
}
