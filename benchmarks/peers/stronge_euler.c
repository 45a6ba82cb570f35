// SPDX-License-Identifier: Apache-2.0
// Explicit Euler steps in the normal impulse, as Jia & Wang 2017 integrate: slip and normal velocity change at constant rates in a step, so
// that its events have closed forms. At zero slip, and close to an invariant direction, the closed forms take over.
#include <math.h>

#include "stronge_peers.h"

enum { MOST_STEPS = 10000000 };

static double length_of(const double v[2]) { return sqrt(v[0] * v[0] + v[1] * v[1]); }

// Their step: by arc length and curvature (their eq. 37), kappa = gamma' x gamma'' / |gamma'|^3 with gamma'' = -mu B s_perp T / |gamma|.
static double choose_step(const peer_euler *scheme, const contact_frame *f, const double s[2], const double rate[2], double speed) {
    if (scheme->step > 0) return scheme->step * f->mass_unit / f->velocity_unit;
    const double turning = (s[0] * rate[1] - s[1] * rate[0]) / speed, arc = length_of(rate);
    const double bend[2] = {f->mu * f->lambda[0] * s[1] * turning, -f->mu * f->lambda[1] * s[0] * turning};
    const double curvature = fabs(rate[0] * bend[1] - rate[1] * bend[0]) / (arc * arc * arc);
    const double straight = scheme->length / f->velocity_unit / arc;
    // Without curvature the arc length alone decides.
    const double curved = curvature > 0 ? scheme->turn / (curvature * arc) : straight;
    return scheme->share * straight + (1 - scheme->share) * curved;
}

// One step; true when slip stops in it.
static bool step(const peer_euler *scheme, contact_process *p, const double s[2]) {
    const contact_frame *f = p->frame;
    double rate[2];
    contact_drive(f, s, rate);
    const double speed = length_of(p->slip), length = choose_step(scheme, f, s, rate, speed);
    const double along = p->slip[0] * rate[0] + p->slip[1] * rate[1];
    // The nearest point to the origin lies in the step, and nearer than the step is long: slip has stopped there.
    const double nearest = -along / (rate[0] * rate[0] + rate[1] * rate[1]);
    const double miss = fabs(p->slip[0] * rate[1] - p->slip[1] * rate[0]) / length_of(rate);
    const bool stops = nearest > 0 && nearest <= length && miss <= length * length_of(rate);
    contact_run_segment(p, &(contact_segment){.slip_rate = {rate[0], rate[1]},
                                              .normal_rate = f->w - f->mu * (f->d[0] * s[0] + f->d[1] * s[1]),
                                              .tangential_rate = {-f->mu * s[0], -f->mu * s[1]},
                                              .speed_rate = s[0] * rate[0] + s[1] * rate[1],
                                              .friction = f->mu,
                                              .length = stops ? nearest : length});
    p->result->steps++;
    return stops;
}

bool peer_euler_solve(const peer_euler *scheme, const carom_contact_problem *problem, carom_contact_result *result) {
    *result = (carom_contact_result){.status = CAROM_CONTACT_IMPACT};
    const carom_contact_options options = carom_contact_defaults();
    contact_frame frame;
    if (contact_frame_make(problem, &frame, NULL)) return false;
    contact_process p = contact_process_start(&frame, &options, result);
    result->course = CAROM_COURSE_SLIP;
    while (!p.over && result->steps < MOST_STEPS) {
        const double speed = length_of(p.slip);
        double s[2] = {p.slip[0] / speed, p.slip[1] / speed};
        if (contact_snap_to_ray(&frame, scheme->collinear, s))
            contact_run_line(&p, s);
        else if (step(scheme, &p, s) && !p.over)
            contact_leave_rest(&p);
    }
    contact_write_result(&p);
    return p.over;
}
