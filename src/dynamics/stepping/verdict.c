// SPDX-License-Identifier: Apache-2.0
// The verdict on a run that got to its end: what was not solved, which energy was gained, and what penetrates.
#include <inttypes.h>
#include <math.h>

#include "dynamics/stepping/stepping.h"

// Penetrations below this share of the mechanism's length are not deep, however thin the geoms are.
#define LEAST_DEPTH 1e-3
// Pairs of geoms that notes name at most.
enum { MOST_NOTES = 8 };

double stepping_depth(const stepping *run, const carom_touch *touch) {
    return -touch->gap / fmax(run->options->penetration_limit * touch->size, LEAST_DEPTH * run->mechanism->length);
}

double stepping_energy_scale(const stepping *run) {
    const carom_mechanism *mechanism = run->mechanism;
    const stepping_balance *balance = &run->balance;
    const double weight = mechanism->mass * mechanism->gravity * mechanism->length;
    // Speeds below that of an impact are not resolved.
    const double slow = 0.5 * mechanism->mass * run->impact_speed * run->impact_speed;
    return fmax(fmax(balance->kinetic, balance->highest - balance->lowest), fmax(weight, slow));
}

// Are two constraints of the same two geoms, or of the same limit?
static bool is_same_pair(const carom_touch *a, const carom_touch *b) {
    return a->kind == b->kind && a->first == b->first && a->second == b->second;
}

// Notes those of a list that penetrate deeply, each pair of geoms at its deepest point; `*notes` counts the pairs.
static carom_status note_touches(stepping *run, const carom_touch *touches, int count, int *notes, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int i = 0; !status && i < count; i++) {
        const carom_touch *touch = &touches[i];
        const double depth = stepping_depth(run, touch);
        if (depth <= 1) continue;
        run->balance.depth = fmax(run->balance.depth, depth);
        run->penetration = fmax(run->penetration, -touch->gap);
        bool deepest = true;
        for (int j = 0; j < count && deepest; j++) {
            const carom_touch *other = &touches[j];
            deepest = !is_same_pair(other, touch) || other->gap > touch->gap || (other->gap == touch->gap && j >= i);
        }
        // A pair with idle points that has others too is named by those.
        for (int j = 0; j < run->touches.count && touches == run->touches.idle && deepest; j++) {
            const carom_touch *other = &run->touches.touch[j];
            deepest = !is_same_pair(other, touch) || stepping_depth(run, other) <= 1;
        }
        if (!deepest || ++*notes > MOST_NOTES) continue;
        char name[CAROM_MAX_NAME + 1], advice[CAROM_MESSAGE_SIZE] = "";
        run->mechanism->name(run->mechanism->self, touch, name, sizeof name);
        if (touch->kind == CAROM_TOUCH_CONTACT && run->mechanism->advise)
            run->mechanism->advise(run->mechanism->self, touch, advice, sizeof advice);
        if (touch->kind == CAROM_TOUCH_LIMIT)
            status = carom_motion_note(run->call, error, "'%s' is %.3g (m or rad) beyond its limit at the start", name, -touch->gap);
        else
            status = carom_motion_note(run->call, error, "'%s' penetrates by %.3g mm at the start%s%s", name, -1e3 * touch->gap,
                                       *advice ? ": " : "", advice);
    }
    return status;
}

carom_status stepping_note_start(stepping *run, carom_error *error) {
    int notes = 0;
    carom_status status = stepping_detect(run, run->q, run->margin, error);
    if (!status) status = note_touches(run, run->touches.touch, run->touches.count, &notes, error);
    // Those that nothing moves now do not act until something turns them.
    if (!status) status = note_touches(run, run->touches.idle, run->touches.idle_count, &notes, error);
    if (!status && notes > MOST_NOTES)
        status = carom_motion_note(run->call, error, "%d further pair%s penetrate%s deeply at the start", notes - MOST_NOTES,
                                   notes == MOST_NOTES + 1 ? "" : "s", notes == MOST_NOTES + 1 ? "s" : "");
    return status;
}

carom_status stepping_judge(stepping *run, carom_error *error) {
    const stepping_balance *balance = &run->balance;
    const double scale = stepping_energy_scale(run), most = run->options->energy_limit * scale;
    carom_status status = CAROM_OK;
    if (run->verdict != CAROM_COMPLETE) return CAROM_OK;
    if (run->failures) {
        run->verdict = CAROM_NO_CONVERGENCE;
        status = carom_motion_explain(run->call, error, "%" PRId64 " of %" PRId64 " contact problems and impacts were not solved",
                                      run->failures, run->solves + run->impacts);
    }
    const struct {
        double energy;
        const char *by;
    } gains[] = {
        {balance->added, "contact problems and impacts by the law added energy"},
        {balance->taken_back, "taking back penetrations added energy"},
        {balance->excess, "the energy grew beyond the work of actuators and damping (a shorter step, or gyroscopic: middle, may help)"},
    };
    for (size_t k = 0; k < sizeof gains / sizeof *gains && !status; k++) {
        if (gains[k].energy <= most) continue;
        if (run->verdict == CAROM_COMPLETE) run->verdict = CAROM_ENERGY_LIMIT;
        status = carom_motion_explain(run->call, error, "%s: %.3g J, more than %g of the scale of %.3g J", gains[k].by, gains[k].energy,
                                      run->options->energy_limit, scale);
    }
    if (!status && !(balance->depth <= 1)) {
        if (run->verdict == CAROM_COMPLETE) run->verdict = CAROM_DEEP_PENETRATION;
        status = carom_motion_explain(run->call, error,
                                      "contacts penetrate, or stops are passed, by up to %.3g m or rad, %.3g times what is deep (%g of the "
                                      "thinner geom's half thickness or of half a stop's range, or %g of the length of the mechanism)",
                                      run->penetration, balance->depth, run->options->penetration_limit, LEAST_DEPTH);
    }
    return status;
}
