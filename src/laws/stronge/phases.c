// SPDX-License-Identifier: Apache-2.0
// Phases of a single impact: compression, restitution and their ends, and the segments on which they have closed forms
// (Jia & Wang 2017).
#include <math.h>
#include <string.h>

#include "laws/stronge/contact.h"

// -------------------------------------------------------------------------------------------------------------- events

void contact_note(contact_process *p, char event) {
    const size_t count = strlen(p->result->events);
    if (count == CAROM_MOST_CONTACT_EVENTS) return;
    p->result->events[count] = event;
    p->result->event_impulse[count] = p->impulse;
}

// Restitution spends what all compressions together stored (pooled works; pooled impulses in Poisson's hypothesis).
double contact_remaining_restitution(const contact_process *p) {
    const double e = p->frame->e;
    switch (p->options->hypothesis) {
    case CAROM_RESTITUTION_POISSON: return e * p->compression_impulse - p->restitution_impulse;
    case CAROM_RESTITUTION_NEWTON: return -e * p->frame->normal - p->normal;
    case CAROM_RESTITUTION_STRONGE: break;
    }
    return e * e * p->compression_work - p->restitution_work;
}

void contact_add(contact_process *p, const contact_part *part) {
    for (int i = 0; i < 2; i++) p->tangential[i] += part->tangential[i];
    p->impulse += part->impulse;
    p->friction_work += part->friction_work;
    if (p->restituting) {
        p->restitution_work += part->work;
        p->restitution_impulse += part->impulse;
    } else {
        p->compression_work -= part->work;
        p->compression_impulse += part->impulse;
    }
}

void contact_end(contact_process *p) {
    contact_note(p, 'r');
    p->over = true;
}

void contact_end_compression(contact_process *p) {
    p->normal = 0;
    p->restituting = true;
    if (p->result->compressions++ == 0) {
        memcpy(p->first_compression, p->tangential, sizeof p->tangential);
        p->first_compression[2] = p->impulse;
    }
    contact_note(p, 'c');
    if (p->frame->e == 0) contact_end(p);
}

void contact_start_recompression(contact_process *p) {
    p->normal = 0;
    p->restituting = false;
    contact_note(p, 'k');
}

// ------------------------------------------------------------------------------------------------------------ segments

// Normal impulse until restitution is over when the normal velocity grows by `rate`; infinite when it is not before the contact
// approaches again.
static double impulse_to_the_end(const contact_process *p, double rate) {
    const double remaining = contact_remaining_restitution(p);
    if (!(remaining > 0)) return 0;
    switch (p->options->hypothesis) {
    case CAROM_RESTITUTION_POISSON: return remaining;
    case CAROM_RESTITUTION_NEWTON: return rate > 0 ? remaining / rate : INFINITY;
    case CAROM_RESTITUTION_STRONGE: break;
    }
    // vz D + rate D^2/2 = remaining, by the root that does not cancel.
    const double discriminant = p->normal * p->normal + 2 * rate * remaining;
    return discriminant >= 0 ? 2 * remaining / (p->normal + sqrt(discriminant)) : INFINITY;
}

static void advance(contact_process *p, const contact_segment *g, double impulse) {
    const double speed = sqrt(p->slip[0] * p->slip[0] + p->slip[1] * p->slip[1]);
    // The mean speed of the part; where slip stops at its end, rounding must not make it negative.
    const double mean = fmax(speed + 0.5 * g->speed_rate * impulse, 0);
    contact_add(p, &(contact_part){.tangential = {g->tangential_rate[0] * impulse, g->tangential_rate[1] * impulse},
                                   .impulse = impulse,
                                   .work = impulse * (p->normal + 0.5 * g->normal_rate * impulse),
                                   .friction_work = g->friction > 0 ? g->friction * mean * impulse : 0});
    for (int i = 0; i < 2; i++) p->slip[i] += g->slip_rate[i] * impulse;
    p->normal += g->normal_rate * impulse;
}

static double run_compression(contact_process *p, const contact_segment *g, double left) {
    const bool ends = g->normal_rate > 0 && -p->normal <= g->normal_rate * left;
    const double impulse = ends ? -p->normal / g->normal_rate : left;
    advance(p, g, impulse);
    if (ends) contact_end_compression(p);
    return impulse;
}

static double run_restitution(contact_process *p, const contact_segment *g, double left) {
    const double end = impulse_to_the_end(p, g->normal_rate);
    const double drop = g->normal_rate < 0 ? -p->normal / g->normal_rate : INFINITY;
    const double impulse = fmin(left, fmin(end, drop));
    advance(p, g, impulse);
    if (impulse == end)
        contact_end(p);
    else if (impulse == drop)
        contact_start_recompression(p);
    return impulse;
}

void contact_run_segment(contact_process *p, const contact_segment *segment) {
    double left = segment->length;
    while (!p->over && left > 0) {
        const double impulse = p->restituting ? run_restitution(p, segment, left) : run_compression(p, segment, left);
        left -= impulse;
        contact_trace(p);
        // An endless segment on which the contact does not open: excluded by W being positive definite.
        if (isinf(impulse)) p->over = true;
    }
}
