// SPDX-License-Identifier: Apache-2.0
// The course of a run: smooth motion from switch to switch, and at each switch impacts until nothing approaches.
#include <math.h>
#include <string.h>

#include "dynamics/inclusion/inclusion.h"

// Where substeps fall below this share of the grid step, forces grow without bound or the equations have no solution: the run ends.
#define LEAST_SUBSTEP 1e-9
// Growth limits of substeps, and the safety factor of the step that the error estimate proposes.
#define MOST_GROWTH  4.0
#define LEAST_GROWTH 0.2
#define SAFETY       0.9
// Largest sum of the angles by which joints may turn in one substep [rad]. Free flight has no error that would limit it, and a point that
// turns further could touch and lift again unseen.
#define MOST_TURN 0.25
// A hop lower than this share of the system's length cannot be told from the round-off of gaps: a contact that leaves so slowly stays
// closed.
#define LEAST_HOP 1e-15
// Rounds of impacts and modes at one instant, and switches at one instant in a row.
enum { MOST_SETTLING = 100 };

// Energy less the work of actuators, dampers and fluids may fall where contacts slip or collide, but never grow.
static void note_energy(inclusion_loop *loop) {
    inclusion *run = &loop->run;
    const double sum = inclusion_energy(run, run->y + run->nv), energy = sum - run->y[2 * run->nv + 1];
    loop->kinetic = fmax(loop->kinetic, sum - run->terms.potential);
    loop->energy_error = fmax(loop->energy_error, energy - loop->energy);
    loop->energy = fmin(loop->energy, energy);
    for (int i = 0; i < run->contacts; i++) loop->penetration = fmax(loop->penetration, -run->terms.gap[i]);
}

// -------------------------------------------------------------------------------------------------------------- impacts

// Contacts after an impact: those whose normal speed is at most `slow` stay closed, the others leave. Those that would leave by too
// low a hop stay, too, and are counted.
static void sort_contacts(inclusion_loop *loop, uint64_t touching, double slow) {
    inclusion *run = &loop->run;
    for (int i = 0; i < run->contacts; i++) {
        if (!(touching & inclusion_bit(i))) continue;
        // The speed at the start of the lowest hop that can be resolved, in free fall: v^2 = 2 a h.
        const double hop = sqrt(2 * LEAST_HOP * run->system->length * fmax(-run->free[2 * i], 0));
        const bool stays = inclusion_opening(run, i) <= fmax(slow, hop);
        loop->unresolved_hops += stays && inclusion_opening(run, i) > slow;
        const double slip = inclusion_slip(run, i);
        run->closed = stays ? run->closed | inclusion_bit(i) : run->closed & ~inclusion_bit(i);
        run->mode[i] = !stays ? INCLUSION_OPEN : fabs(slip) <= slow ? INCLUSION_STICKS : inclusion_slip_mode(slip);
    }
}

// Takes the velocity after the loop's outcome. States before and after are recorded at one time, and s grows by the impulses.
static carom_status apply_outcome(inclusion_loop *loop, const char *kind, double slow, carom_error *error) {
    inclusion *run = &loop->run;
    carom_status status = inclusion_record_state(loop, false, error);
    if (!status) status = inclusion_record_state(loop, true, error);
    if (!status) status = inclusion_record_impact(loop, kind, error);
    if (status) return status;
    memcpy(run->y + run->nv, loop->outcome.velocity, (size_t)run->nv * sizeof *run->y);
    for (int i = 0; i < run->contacts; i++) run->y[2 * run->nv] += loop->outcome.impulse[2 * i];
    sort_contacts(loop, loop->outcome.contacts, slow);
    if (!inclusion_project(run, run->y)) loop->verdict = CAROM_NO_CONVERGENCE;
    note_energy(loop);
    if (loop->verdict == CAROM_COMPLETE) status = inclusion_record_state(loop, true, error);
    if (loop->impacts >= run->options->max_impacts) loop->verdict = CAROM_ZENO_LIMIT;
    return status;
}

// The collision of the touching contacts, by the law, and the limit of the accumulation that it may be part of.
static carom_status collide(inclusion_loop *loop, uint64_t touching, carom_error *error) {
    inclusion *run = &loop->run;
    // After an impact, Newton's law allows a contact that separated with speed u to approach with e u: nothing has ended then. A contact
    // that rebounds waits for the next impact of the instant, which is its own if it approaches by then.
    for (int i = 0; i < run->contacts; i++)
        if (touching & inclusion_bit(i) && run->system->restitution[i] > 0 && inclusion_opening(run, i) > inclusion_slow(run))
            touching &= ~inclusion_bit(i);
    carom_status status = inclusion_collide(run, touching, loop->impacts, &loop->outcome, error);
    if (!status && !loop->outcome.solved) loop->verdict = CAROM_NO_CONVERGENCE;
    if (!status && loop->outcome.solved) {
        // Approach and slip below the law's own tolerance count as zero.
        double scale = 0;
        for (int i = 0; i < run->contacts; i++)
            if (touching & inclusion_bit(i)) scale = fmax(fmax(scale, fabs(inclusion_opening(run, i))), fabs(inclusion_slip(run, i)));
        status = apply_outcome(loop, "collision", fmax(CAROM_TERMINATION_TOLERANCE * scale, inclusion_slow(run)), error);
    }
    inclusion_remember(run, touching);
    // If the last impacts are part of an accumulation with a known limit, the motion goes on from the limit.
    uint64_t contacts;
    if (status || loop->verdict != CAROM_COMPLETE || !inclusion_pass_accumulation(run, &contacts)) return status;
    if (!loop->accumulations++) {
        loop->accumulation[0] = run->t;
        loop->accumulation[1] = run->y[2 * run->nv];
    }
    if (!inclusion_assemble(run, run->y)) loop->verdict = CAROM_NO_CONVERGENCE;
    // At the limit these contacts have no normal speed: all of them close. Slip may remain.
    sort_contacts(loop, contacts, run->fastest);
    for (int i = 0; i < run->contacts; i++) {
        const double slip = inclusion_slip(run, i);
        if (run->closed & inclusion_bit(i) && fabs(slip) > inclusion_slow(run)) run->mode[i] = inclusion_slip_mode(slip);
    }
    if (loop->verdict == CAROM_COMPLETE && !inclusion_project(run, run->y)) loop->verdict = CAROM_NO_CONVERGENCE;
    note_energy(loop);
    return loop->verdict != CAROM_COMPLETE ? CAROM_OK : inclusion_record_state(loop, true, error);
}

// Impacts at this instant until nothing approaches, then the modes in which the motion goes on.
static carom_status settle(inclusion_loop *loop, const inclusion_mode *leave, carom_error *error) {
    inclusion *run = &loop->run;
    for (int round = 0; round < MOST_SETTLING && loop->verdict == CAROM_COMPLETE; round++) {
        carom_status status = CAROM_OK;
        if (!inclusion_assemble(run, run->y)) break;
        // The scale of speeds only grows, so that a motion that comes to rest does not lower the speed that counts as rest.
        for (int i = 0; i < run->contacts; i++) {
            run->fastest = fmax(run->fastest, fabs(inclusion_opening(run, i)));
            run->fastest = fmax(run->fastest, fabs(inclusion_slip(run, i)));
        }
        // Contacts at their planes.
        const double slow = inclusion_slow(run);
        uint64_t touching = 0;
        bool approach = false;
        for (int i = 0; i < run->contacts; i++) {
            if (!(run->closed & inclusion_bit(i)) && run->terms.gap[i] > INCLUSION_TOUCH * run->system->length) continue;
            touching |= inclusion_bit(i);
            approach = approach || inclusion_opening(run, i) < -slow;
        }
        if (approach) {
            status = collide(loop, touching, error);
            leave = NULL;
        } else {
            // Nothing approaches: those that do not leave are closed, and modes or an impact without collision follow.
            for (int i = 0; i < run->contacts; i++)
                if (touching & inclusion_bit(i))
                    run->closed = inclusion_opening(run, i) > slow ? run->closed & ~inclusion_bit(i) : run->closed | inclusion_bit(i);
            if (__builtin_popcountll(run->closed) > INCLUSION_MOST_CLOSED)
                return carom_fail(error, CAROM_UNSUPPORTED, "integrator: inclusion sustains up to %d contacts at once",
                                  INCLUSION_MOST_CLOSED);
            int jams;
            if (inclusion_choose_modes(run, leave, &jams)) return inclusion_record_state(loop, false, error);
            if (jams < 0) break;
            status = inclusion_jam(run, jams, &loop->outcome, error);
            if (!status) status = apply_outcome(loop, "without-collision", slow, error);
        }
        if (status) return status;
    }
    if (loop->verdict == CAROM_COMPLETE) loop->verdict = CAROM_NO_CONVERGENCE;
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------- smooth motion

// One substep with a small enough error. False when no length has one: the forces of the modes are about to become infinite.
static bool try_substep(inclusion *run, double left, double *h, double *y) {
    double turning = 0;
    for (int j = 0; j < run->nv; j++)
        if (run->system->turns[j]) turning += fabs(run->y[run->nv + j]);
    *h = fmin(fmin(run->substep, MOST_TURN / turning), left);
    while (*h > LEAST_SUBSTEP * run->options->step || *h == left) {
        const double ratio = inclusion_advance(run, *h, y, run->error) ? inclusion_error_ratio(run, *h, y, run->error) : INFINITY;
        const double factor = isfinite(ratio) ? SAFETY * pow(fmax(ratio, 1e-10), -1. / 5) : LEAST_GROWTH;
        const double grown = *h * fmin(fmax(factor, LEAST_GROWTH), MOST_GROWTH);
        if (ratio <= 1) {
            // A substep cut short by the grid says nothing about the next one's length.
            run->substep = *h < left ? grown : fmax(run->substep, grown);
            return true;
        }
        run->substep = *h = grown;
    }
    return false;
}

carom_status inclusion_run_grid(inclusion_loop *loop, carom_error *error) {
    inclusion *run = &loop->run;
    const carom_control *control = run->call->control;
    const size_t size = (size_t)inclusion_size(run) * sizeof *run->y;
    carom_status status = settle(loop, NULL, error);
    while (!status && loop->verdict == CAROM_COMPLETE && loop->step < loop->steps) {
        if (control && control->progress) control->progress(control->user, loop->step, loop->steps);
        if (carom_control_cancelled(control)) loop->verdict = CAROM_INTERRUPTED;
        // One grid step, from switch to switch. Switches at one instant that do not end are Zeno's, too.
        const double end = (double)(loop->step + 1) * run->options->step;
        int64_t idle = 0;
        while (!status && loop->verdict == CAROM_COMPLETE && run->t < end) {
            const double start = run->t;
            double h, when;
            if (!try_substep(run, end - start, &h, run->next)) {
                loop->verdict = CAROM_NO_CONVERGENCE;
                break;
            }
            const bool switches = inclusion_find_switch(run, h, run->next, &when);
            if (switches) {
                if (when > 0 && !inclusion_advance(run, when, run->next, NULL)) loop->verdict = CAROM_NO_CONVERGENCE;
                if (when == 0) memcpy(run->next, run->y, size);
            }
            // A flight may be too short to move the time on.
            loop->unresolved_hops += switches && when > 0 && run->t + when == run->t;
            run->t += switches ? when : h;
            memcpy(run->y, run->next, size);
            if (!inclusion_project(run, run->y)) loop->verdict = CAROM_NO_CONVERGENCE;
            // Without closed contacts the projection did nothing, and the terms are still those of a Runge-Kutta stage.
            if (!run->closed) inclusion_assemble(run, run->y);
            note_energy(loop);
            if (switches && loop->verdict == CAROM_COMPLETE) {
                inclusion_mode leave[INCLUSION_MOST_CONTACTS];
                memcpy(leave, run->mode, (size_t)run->contacts * sizeof *leave);
                loop->switches++;
                status = settle(loop, leave, error);
            }
            idle = run->t > start ? 0 : idle + 1;
            if (!status && idle > MOST_SETTLING) loop->verdict = CAROM_ZENO_LIMIT;
            // A step of fast joints has many substeps.
            if (!status && carom_control_cancelled(control)) loop->verdict = CAROM_INTERRUPTED;
        }
        if (status || loop->verdict != CAROM_COMPLETE) break;
        loop->step++;
        // The limit of an accumulation may lie beyond the grid point, by less than a step: then the time is not moved back.
        if (run->t < (double)(loop->step + 1) * run->options->step) run->t = fmax(run->t, (double)loop->step * run->options->step);
        if (loop->step % run->options->every == 0) status = inclusion_record_state(loop, false, error);
    }
    return status;
}
