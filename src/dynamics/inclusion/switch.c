// SPDX-License-Identifier: Apache-2.0
// Where contact modes end, and which ones follow.
#include <math.h>
#include <string.h>

#include "carom/bracket.h"
#include "dynamics/inclusion/inclusion.h"

// Forces and accelerations below this share of the largest ones count as zero.
#define FORCE_TOLERANCE 1e-9
// Accelerations of two sets of modes that differ by less, relatively, are one solution.
#define SAME_ACCELERATION 1e-7
// Limit of iterations of a root search, monitors of each contact, and most solutions that are kept.
enum { MOST_ITERATIONS = 200, MONITORS = 3, MOST_SOLUTIONS = 64 };
// Halvings of a step in search of a rise from zero: a billionth of the step is left.
enum { MOST_HALVINGS = 30 };

// ------------------------------------------------------------------------------------------------------------- monitors

// What must stay positive in the present modes: gaps; normal forces, what is left of friction on both sides; slip along its direction.
static bool monitor(inclusion *run, const double *y, double *values, double *rates) {
    const int nv = run->nv;
    if (!inclusion_assemble(run, y) || !inclusion_solve_modes(run, run->mode)) return false;
    for (int i = 0; i < run->contacts; i++) {
        double *own = values + MONITORS * i;
        const double bound = run->system->friction[i] * run->force[2 * i], tangential = run->force[2 * i + 1];
        const double slip = carom_dot(nv, run->terms.tangent + i * nv, y + nv);
        // An open contact has its gap to watch, a closed one its normal force, and what its tangential mode may lose.
        own[1] = own[2] = INFINITY;
        rates[i] = carom_dot(nv, run->terms.normal + i * nv, y + nv);
        own[0] = run->mode[i] == INCLUSION_OPEN ? run->terms.gap[i] : run->force[2 * i];
        if (run->mode[i] == INCLUSION_STICKS) {
            own[1] = bound - tangential;
            own[2] = bound + tangential;
        }
        if (run->mode[i] == INCLUSION_SLIPS_FORWARD) own[1] = slip;
        if (run->mode[i] == INCLUSION_SLIPS_BACKWARD) own[1] = -slip;
    }
    return true;
}

// One function of time inside the step: a monitor, or the rate of a gap.
typedef struct probe {
    inclusion *run;
    int monitor;  // beyond all monitors: rates of gaps
    bool failed;
} probe;

static double probe_at(probe *p, double tau) {
    inclusion *run = p->run;
    const int count = MONITORS * run->contacts;
    if (!inclusion_advance(run, tau, run->trial, NULL) || !monitor(run, run->trial, run->located, run->rate_located)) {
        p->failed = true;
        return 0;
    }
    return p->monitor < count ? run->located[p->monitor] : run->rate_located[p->monitor - count];
}

// The root between two times of opposite signs; the end of its bracket where the sign is that of `low`.
static double find_root(probe *p, double low, double at_low, double high, double at_high) {
    const double sign = at_low < 0 ? -1 : 1;
    carom_bracket b = {low, high, sign * at_low, sign * at_high, 0, 0};
    for (int i = 0; i < MOST_ITERATIONS && !p->failed; i++) {
        double guess = carom_bracket_guess(&b);
        if (!(guess > b.low && guess < b.high)) guess = b.low + (b.high - b.low) / 2;
        if (!(guess > b.low && guess < b.high)) break;
        const double value = sign * probe_at(p, guess);
        if (value == 0) return guess;
        carom_bracket_update(&b, guess, value);
    }
    return b.low;
}

// --------------------------------------------------------------------------------------------------------------- search

// A step, with the values at its end.
typedef struct span {
    double h, *end, *rate_end;
} span;

// A time before `high` at which the probed function is positive; 0 when there is no such time that differs from the start.
static double find_rise(probe *p, double high) {
    for (int i = 0; i < MOST_HALVINGS && !p->failed; i++) {
        high /= 2;
        if (probe_at(p, high) > 0) return high;
    }
    return 0;
}

// Finds where a gap becomes negative: at the end of the step, or in a dip inside it. A contact that has just left starts with a gap, and
// perhaps a rate, that is only round-off and whose roots mean nothing: the search then starts at the top of its hop.
static bool find_touch(inclusion *run, int contact, const span *step, probe *p, double *when) {
    const double gap0 = run->before[MONITORS * contact], gap1 = step->end[MONITORS * contact];
    const double rate0 = run->rate_before[contact], rate1 = step->rate_end[contact];
    const int gap = MONITORS * contact, rate = MONITORS * run->contacts + contact;
    double low = 0, at_low = gap0, high = step->h, at_high = gap1;
    if (rate0 < 0 && rate1 > 0) {
        // The gap is smallest inside the step, where its rate vanishes.
        p->monitor = rate;
        high = find_root(p, 0, rate0, step->h, rate1);
        p->monitor = gap;
        at_high = probe_at(p, high);
        if (!(at_high < -INCLUSION_TOUCH * run->system->length)) return false;
    } else if (!(gap1 < 0 && rate1 < 0)) {
        return false;
    }
    if (gap0 <= INCLUSION_TOUCH * run->system->length && rate1 < 0) {
        // The top of the hop.
        p->monitor = rate;
        const double rise = rate0 > 0 ? 0 : find_rise(p, high);
        if (rate0 > 0 || rise > 0) low = find_root(p, rise, rise > 0 ? probe_at(p, rise) : rate0, high, rate1);
        p->monitor = gap;
        at_low = probe_at(p, low);
    }
    p->monitor = gap;
    *when = at_low > 0 ? find_root(p, low, at_low, high, at_high) : low;
    return true;
}

static double force_scale(const inclusion *run) {
    return FORCE_TOLERANCE * (carom_max_abs(2 * (size_t)run->contacts, run->force) + carom_max_abs((size_t)run->nv, run->terms.bias));
}

bool inclusion_find_switch(inclusion *run, double h, const double *end, double *when) {
    const int contacts = run->contacts;
    double values[MONITORS * INCLUSION_MOST_CONTACTS], rates[INCLUSION_MOST_CONTACTS];
    const span step = {h, values, rates};
    *when = h;
    if (!monitor(run, run->y, run->before, run->rate_before) || !monitor(run, end, values, rates)) return false;
    // The earliest of all: slip counts on the scale of speeds, all else on that of forces.
    const double forces = force_scale(run), slow = inclusion_slow(run);
    bool found = false;
    for (int i = 0; i < MONITORS * contacts; i++) {
        const inclusion_mode mode = run->mode[i / MONITORS];
        probe p = {.run = run, .monitor = i};
        double tau = h;
        if (mode == INCLUSION_OPEN) {
            if (i % MONITORS || !find_touch(run, i / MONITORS, &step, &p, &tau)) continue;
        } else {
            // Forces and slip: below zero by more than round-off at the end. What starts at zero, as slip does where a contact has just
            // come loose, may rise before it falls.
            if (!(values[i] < -(i % MONITORS == 1 && mode != INCLUSION_STICKS ? slow : forces))) continue;
            double start = 0, at_start = run->before[i];
            if (!(at_start > 0)) {
                start = find_rise(&p, h);
                at_start = start > 0 ? probe_at(&p, start) : 0;
            }
            tau = at_start > 0 ? find_root(&p, start, at_start, h, values[i]) : 0;
        }
        if (p.failed) continue;
        *when = fmin(*when, tau);
        found = true;
    }
    return found;
}

// ---------------------------------------------------------------------------------------------------------- next modes

// Do forces and accelerations of the solved modes obey the laws of contact?
static bool is_consistent(const inclusion *run, const inclusion_mode *mode) {
    const int rows = 2 * run->contacts;
    const double forces = force_scale(run), accelerations = FORCE_TOLERANCE * carom_max_abs((size_t)rows, run->free);
    for (int i = 0; i < run->contacts; i++) {
        if (!(run->closed & inclusion_bit(i))) continue;
        const double *f = run->force + 2 * i;
        const double normal = run->free[2 * i] + carom_dot(rows, run->delassus + 2 * i * rows, run->force);
        const double tangent = run->free[2 * i + 1] + carom_dot(rows, run->delassus + (2 * i + 1) * rows, run->force);
        const bool starts = fabs(inclusion_slip(run, i)) <= inclusion_slow(run);
        // Nothing penetrates or pulls; friction stays in its cone, and slip that starts goes where its mode says.
        if (normal < -accelerations || f[0] < -forces) return false;
        if (mode[i] == INCLUSION_STICKS && fabs(f[1]) > run->system->friction[i] * f[0] + forces) return false;
        if (mode[i] == INCLUSION_SLIPS_FORWARD && starts && tangent < -accelerations) return false;
        if (mode[i] == INCLUSION_SLIPS_BACKWARD && starts && tangent > accelerations) return false;
    }
    return true;
}

// Sets of modes with distinct accelerations.
typedef struct solutions {
    int count;
    inclusion_mode mode[MOST_SOLUTIONS][INCLUSION_MOST_CONTACTS];
} solutions;

// Tries all modes of the closed contacts, those that stick first.
static void enumerate(inclusion *run, const inclusion_mode *leave, solutions *all) {
    const size_t nv = (size_t)run->nv, size = (size_t)run->contacts * sizeof(inclusion_mode);
    const double slow = inclusion_slow(run);
    int list[INCLUSION_MOST_CONTACTS], count = 0;
    inclusion_mode mode[INCLUSION_MOST_CONTACTS];
    for (int i = 0; i < run->contacts; i++) {
        mode[i] = INCLUSION_OPEN;
        if (run->closed & inclusion_bit(i)) list[count++] = i;
    }
    all->count = 0;
    for (long code = 0; code < 1L << 2 * count && all->count < MOST_SOLUTIONS; code++) {
        // May the contacts do this at their present velocities? One that slips goes on, or opens.
        bool admissible = true;
        for (int k = 0; k < count; k++) {
            const inclusion_mode own = mode[list[k]] = (inclusion_mode)(code >> 2 * k & 3);
            const double slip = inclusion_slip(run, list[k]);
            if (own == INCLUSION_OPEN || !(fabs(slip) > slow)) continue;
            admissible = admissible && own == inclusion_slip_mode(slip);
        }
        if (!admissible || (leave && !memcmp(mode, leave, size))) continue;
        if (!inclusion_solve_modes(run, mode) || !is_consistent(run, mode)) continue;
        // Other modes with the same acceleration are the same solution.
        double *own = run->trial, *difference = run->error;
        bool known = false;
        memcpy(own, run->acceleration, nv * sizeof *own);
        for (int k = 0; k < all->count && !known; k++) {
            if (!inclusion_solve_modes(run, all->mode[k])) continue;
            for (size_t j = 0; j < nv; j++) difference[j] = own[j] - run->acceleration[j];
            const double scale = carom_max_abs(nv, own) + carom_max_abs(nv, run->smooth);
            known = carom_max_abs(nv, difference) <= SAME_ACCELERATION * scale;
        }
        if (!known) memcpy(all->mode[all->count++], mode, size);
    }
}

bool inclusion_choose_modes(inclusion *run, const inclusion_mode *leave, int *jams) {
    solutions all;
    *jams = -1;
    if (!inclusion_assemble(run, run->y)) return false;
    enumerate(run, leave, &all);
    if (!all.count && leave) enumerate(run, NULL, &all);
    // The first contact that slips with its normal acceleration falling when it is pressed: a +- mu b < 0 (Painleve 1895).
    int jam = -1;
    for (int i = 0; i < run->contacts && jam < 0; i++) {
        const double slip = inclusion_slip(run, i), *W = run->delassus + 2 * i * 2 * run->contacts + 2 * i;
        if (!(run->closed & inclusion_bit(i)) || fabs(slip) <= inclusion_slow(run)) continue;
        if (W[0] - copysign(run->system->friction[i], slip) * W[1] < 0) jam = i;
    }
    // Its impact is one more way to go on.
    const int ways = all.count + (jam >= 0);
    if (!ways) return false;
    const int chosen = ways > 1 ? (int)(carom_stream_uniform(&run->choices) * ways) : 0;
    if (chosen == all.count) {
        *jams = jam;
        return false;
    }
    memcpy(run->mode, all.mode[chosen], (size_t)run->contacts * sizeof *run->mode);
    for (int i = 0; i < run->contacts; i++)
        if (run->mode[i] == INCLUSION_OPEN) run->closed &= ~inclusion_bit(i);
    return true;
}
