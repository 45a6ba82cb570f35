// SPDX-License-Identifier: Apache-2.0
// Phases of a single impact: compression, restitution and their ends, and the segments on which they have closed forms
// (Jia & Wang 2017).
#include <math.h>
#include <string.h>

#include "laws/stronge/contact.h"

// -------------------------------------------------------------------------------------------------------------- events

void contact_note(contact_process *process, char event) {
    // Events beyond the room for them are dropped.
    const size_t count = strlen(process->result->events);
    if (count == CAROM_MOST_CONTACT_EVENTS) return;
    process->result->events[count] = event;
    process->result->event_impulse[count] = process->impulse;
}

// Restitution spends what all compressions together stored (pooled works; pooled impulses in Poisson's hypothesis).
double contact_remaining_restitution(const contact_process *process) {
    // e times the impulse or the speed, e^2 times the work.
    const double e = process->frame->e;
    switch (process->options->hypothesis) {
    case CAROM_RESTITUTION_POISSON: return e * process->compression_impulse - process->restitution_impulse;
    case CAROM_RESTITUTION_NEWTON: return -e * process->frame->normal - process->normal;
    case CAROM_RESTITUTION_STRONGE: break;
    }
    return e * e * process->compression_work - process->restitution_work;
}

// Normal work and impulse belong to the phase in which they are added.
void contact_add(contact_process *process, const contact_part *part) {
    for (int i = 0; i < 2; i++) process->tangential[i] += part->tangential[i];
    process->impulse += part->impulse;
    process->friction_work += part->friction_work;
    if (process->restituting) {
        process->restitution_work += part->work;
        process->restitution_impulse += part->impulse;
    } else {
        process->compression_work -= part->work;
        process->compression_impulse += part->impulse;
    }
}

void contact_end(contact_process *process) {
    contact_note(process, 'r');
    process->over = true;
}

// The first compression is remembered. Without restitution, the impact ends here.
void contact_end_compression(contact_process *process) {
    process->normal = 0;
    process->restituting = true;
    if (process->result->compressions++ == 0) {
        memcpy(process->first_compression, process->tangential, sizeof process->tangential);
        process->first_compression[2] = process->impulse;
    }
    contact_note(process, 'c');
    if (process->frame->e == 0) contact_end(process);
}

// Restitution is not over, but the contact approaches again.
void contact_start_recompression(contact_process *process) {
    process->normal = 0;
    process->restituting = false;
    contact_note(process, 'k');
}

// ------------------------------------------------------------------------------------------------------------ segments

// Normal impulse until restitution is over when the normal velocity grows by `rate`; infinite when the contact approaches again before.
static double impulse_to_the_end(const contact_process *process, double rate) {
    const double remaining = contact_remaining_restitution(process);
    if (!(remaining > 0)) return 0;
    switch (process->options->hypothesis) {
    case CAROM_RESTITUTION_POISSON: return remaining;
    case CAROM_RESTITUTION_NEWTON: return rate > 0 ? remaining / rate : INFINITY;
    case CAROM_RESTITUTION_STRONGE: break;
    }
    // vz D + rate D^2/2 = remaining, by the root that does not cancel.
    const double discriminant = process->normal * process->normal + 2 * rate * remaining;
    return discriminant >= 0 ? 2 * remaining / (process->normal + sqrt(discriminant)) : INFINITY;
}

void contact_run_segment(contact_process *process, const contact_segment *segment) {
    double left = segment->length;
    while (!process->over && left > 0) {
        // Up to the end of the segment, or to what comes first: the end of restitution, or the point where vz is zero, at which a
        // compression ends or starts. NaN for what does not come.
        const bool restituting = process->restituting;
        const double rate = segment->normal_rate;
        const bool turns = restituting ? rate < 0 : rate > 0 && -process->normal <= rate * left;
        const double turn = turns ? -process->normal / rate : NAN, end = restituting ? impulse_to_the_end(process, rate) : NAN;
        const double impulse = restituting ? fmin(left, fmin(end, turn)) : turns ? turn : left;

        // The mean speed of the part; where slip stops at its end, rounding must not make it negative.
        const double speed = sqrt(process->slip[0] * process->slip[0] + process->slip[1] * process->slip[1]);
        const double mean = fmax(speed + 0.5 * segment->speed_rate * impulse, 0);
        contact_add(process, &(contact_part){.tangential = {segment->tangential_rate[0] * impulse, segment->tangential_rate[1] * impulse},
                                             .impulse = impulse,
                                             .work = impulse * (process->normal + 0.5 * rate * impulse),
                                             .friction_work = segment->friction > 0 ? segment->friction * mean * impulse : 0});
        for (int i = 0; i < 2; i++) process->slip[i] += segment->slip_rate[i] * impulse;
        process->normal += rate * impulse;

        if (impulse == end)
            contact_end(process);
        else if (impulse == turn && restituting)
            contact_start_recompression(process);
        else if (impulse == turn)
            contact_end_compression(process);
        left -= impulse;
        contact_trace(process);
        // An endless segment on which the contact does not open: excluded by W being positive definite.
        if (isinf(impulse)) process->over = true;
    }
}
