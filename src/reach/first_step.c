// SPDX-License-Identifier: Apache-2.0
// Assumption 6 of Halm & Posa for one impact: is the velocity after the first step a function of the caps? All solutions of that step at
// caps that stand for what a solution may do: all contacts together at several shares of the step, each contact alone, and no caps at all.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/arena.h"
#include "carom/dense.h"
#include "carom/reach.h"

// Combinations of modes up to which all solutions of a step are listed: four planar contacts, two in space. Some tens of milliseconds.
#define MOST_COMBINATIONS 5000
// Shares of the step that all contacts have as their caps. Then come the contacts, each alone, and the step without caps.
static const double shares[] = {1, 0.5, 0.25, 0.0625};
enum { SHARES = sizeof shares / sizeof *shares };

static carom_status count_solution(void *user, const double *v_next, const double *impulse, const carom_step_info *info,
                                   carom_error *error) {
    (void)v_next, (void)impulse, (void)info, (void)error;
    ++*(int *)user;
    return CAROM_OK;
}

static void describe_caps(const carom_impact_data *data, int set, char *text, size_t size) {
    if (set < SHARES)
        snprintf(text, size, "with all caps %g h", shares[set]);
    else if (set < SHARES + data->contacts)
        snprintf(text, size, "with %.60s alone", data->names[set - SHARES]);
    else
        snprintf(text, size, "without caps");
}

// Lists the solutions at all sets of caps.
// @param caps   [contacts], scratch
// @param where  receives the set with the most solutions
// @param sure   receives whether every list is complete and not empty
static carom_status try_caps(const carom_impact *impact, carom_stepper *capped, carom_stepper *uncapped, const carom_control *control,
                             double *caps, carom_first_step *first, int *where, bool *sure, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    carom_status status = CAROM_OK;
    *sure = true;
    for (int set = 0; set <= SHARES + data->contacts && !status; set++) {
        if (carom_control_cancelled(control)) {
            *sure = false;
            break;
        }
        for (int i = 0; i < data->contacts; i++) caps[i] = set < SHARES ? shares[set] * first->step : i == set - SHARES ? first->step : 0;
        const bool has_caps = set < SHARES + data->contacts;
        int count = 0;
        bool complete;
        status = carom_stepper_enumerate(has_caps ? capped : uncapped, data->velocity, has_caps ? caps : NULL, count_solution, &count,
                                         &complete, error);
        *sure = *sure && complete && count > 0;
        first->sets++;
        first->several += count > 1;
        if (count > first->most) *where = set;
        if (count > first->most) first->most = count;
    }
    return status;
}

carom_status carom_reach_first_step(const carom_impact *impact, int64_t cone_edges, const carom_control *control, carom_first_step *first,
                                    carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    *first = (carom_first_step){.verdict = CAROM_FIRST_STEP_UNDECIDED, .step = NAN};
    int edges;
    carom_status status = carom_impact_cone_edges(impact, cone_edges, &edges, error);
    if (status) return status;
    carom_arena arena = {0};
    double *u = carom_arena_take(&arena, (size_t)carom_impact_contact_size(impact), sizeof *u);
    double *caps = carom_arena_take(&arena, (size_t)data->contacts, sizeof *caps);
    carom_stepper *capped = NULL, *uncapped = NULL;
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "first step");
    }

    // A contact is open, or stopped or capped with stick or slip along an edge; in space also with slip between two edges.
    const double combinations = pow(1 + 2 * (1 + edges * data->tangent_dim), data->contacts);
    carom_impact_contact_velocity(impact, data->velocity, u);
    if (carom_impact_terminated(impact, u)) {
        first->verdict = CAROM_FIRST_STEP_ONE;
        snprintf(first->by, sizeof first->by, "no contact approaches: the velocity stays");
    } else if (carom_max_abs((size_t)data->contacts, data->friction) == 0) {
        first->verdict = CAROM_FIRST_STEP_ONE;
        snprintf(first->by, sizeof first->by, "without friction a step with given caps is a convex program: one velocity");
    } else if (combinations > MOST_COMBINATIONS) {
        snprintf(first->by, sizeof first->by, "not tried: the step has %.3g combinations of contact modes, more than %d", combinations,
                 MOST_COMBINATIONS);
    } else {
        int where = 0;
        bool sure = false;
        carom_stepper_options options = carom_stepper_defaults();
        options.cone_edges = (int)cone_edges;
        options.selection = CAROM_SELECT_ALL;
        status = carom_reach_auto_step(impact, cone_edges, &first->step, error);
        if (!status) status = carom_stepper_create(impact, &options, &uncapped, error);
        options.kind = CAROM_STEP_CAPPED;
        if (!status) status = carom_stepper_create(impact, &options, &capped, error);
        if (!status) carom_stepper_watch(uncapped, control);
        if (!status) carom_stepper_watch(capped, control);
        if (!status) status = try_caps(impact, capped, uncapped, control, caps, first, &where, &sure, error);
        first->verdict = first->several ? CAROM_FIRST_STEP_SEVERAL : sure ? CAROM_FIRST_STEP_ONE : CAROM_FIRST_STEP_UNDECIDED;
        char caps_text[96];
        describe_caps(data, where, caps_text, sizeof caps_text);
        if (first->several)
            snprintf(first->by, sizeof first->by,
                     "all solutions of the first step: %d velocities %s, several at %d of %d choices of the caps", first->most, caps_text,
                     first->several, first->sets);
        else
            snprintf(first->by, sizeof first->by, "%s solutions of the first step, at each of %d choices of the caps: one velocity%s",
                     sure ? "all" : "known", first->sets, sure ? "" : ", not proved to be the only one");
    }
    carom_stepper_free(capped);
    carom_stepper_free(uncapped);
    carom_arena_free(&arena);
    return status;
}
