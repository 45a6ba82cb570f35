// SPDX-License-Identifier: Apache-2.0
// One sample of the impact inclusion, step by step: `Sim(h, v0, N)` of Algorithm 1 (Halm & Posa, section 5.1).
#include <stdlib.h>
#include <string.h>

#include "carom/arena.h"
#include "reach/certify.h"
#include "reach/numbers.h"
#include "reach/reach_internal.h"

struct carom_time_stepping {
    const carom_impact *impact;
    carom_stepper *stepper;
    carom_certifier *certifier;
    double step;
    int64_t max_steps;
    double *lmax;          // [contacts]
    double *u;             // [n] contact velocity
    double *step_impulse;  // [n]
    carom_stream selection;
    const carom_control *control;
    carom_draw_caps draw;
    carom_draw_state draws;
    carom_trace trace;
    carom_arena arena;
};

carom_status carom_time_stepping_create(const carom_impact *impact, const carom_stepper_options *stepper, double step, int64_t max_steps,
                                        carom_draw draw, carom_time_stepping **stepping, carom_error *error) {
    *stepping = NULL;
    // Written so that NaN is refused, too.
    if (!(step > 0)) return carom_fail(error, CAROM_BAD_INPUT, "step: %g is not greater than 0", step);
    if (max_steps < 1) return carom_fail(error, CAROM_BAD_INPUT, "max_steps: %lld is below the least value 1", (long long)max_steps);
    carom_time_stepping *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "time stepping");
    const size_t n = (size_t)carom_impact_contact_size(impact), contacts = (size_t)carom_impact_get_data(impact)->contacts;
    *made = (carom_time_stepping){.impact = impact, .step = step, .max_steps = max_steps, .draw = carom_draw_function(draw)};
    made->draws.direction = carom_arena_take(&made->arena, contacts, sizeof(double));
    made->lmax = carom_arena_take(&made->arena, contacts, sizeof(double));
    made->u = carom_arena_take(&made->arena, n, sizeof(double));
    made->step_impulse = carom_arena_take(&made->arena, n, sizeof(double));
    carom_status status = made->arena.failed ? carom_fail_memory(error, "time stepping") : CAROM_OK;
    if (!status) status = carom_stepper_create(impact, stepper, &made->stepper, error);
    if (!status) status = carom_certifier_create(impact, carom_instructions_widest(), &made->certifier, error);
    if (status)
        carom_time_stepping_free(made);
    else
        *stepping = made;
    return status;
}

void carom_time_stepping_free(carom_time_stepping *stepping) {
    if (!stepping) return;
    carom_stepper_free(stepping->stepper);
    carom_certifier_free(stepping->certifier);
    carom_arena_free(&stepping->arena);
    carom_trace_release(&stepping->trace);
    free(stepping);
}

const carom_stepper *carom_time_stepping_stepper(const carom_time_stepping *stepping) { return stepping->stepper; }

carom_status carom_time_stepping_record(carom_time_stepping *stepping, bool record, carom_error *error) {
    (void)error;
    if (!record) carom_trace_release(&stepping->trace);
    stepping->trace.wanted = record;
    stepping->trace.rows = 0;
    return CAROM_OK;
}

const double *carom_time_stepping_trace(const carom_time_stepping *stepping, int *rows) {
    *rows = stepping->trace.lost ? 0 : stepping->trace.rows;
    return *rows ? stepping->trace.u : NULL;
}

const double *carom_time_stepping_impulses(const carom_time_stepping *stepping, int *rows) {
    *rows = stepping->trace.lost ? 0 : stepping->trace.rows;
    return *rows ? stepping->trace.impulse : NULL;
}

void carom_time_stepping_watch(carom_time_stepping *stepping, const carom_control *control) {
    stepping->control = control;
    carom_stepper_watch(stepping->stepper, control);
}

// The contact velocity of v and the impulse go to the trace; says whether no contact approaches.
static bool has_terminated(carom_time_stepping *stepping, const double *v, const double *impulse) {
    carom_stepper_contact_velocity(stepping->stepper, v, stepping->u);
    if (stepping->trace.wanted) carom_trace_append(&stepping->trace, carom_impact_contact_size(stepping->impact), stepping->u, 1, impulse);
    return carom_impact_terminated(stepping->impact, stepping->u);
}

// One step under the caps in lmax; adds to the impulse and to the counts, but for the number of steps.
static carom_verdict take_step(carom_time_stepping *stepping, double *v, double *impulse, carom_sample_counts *counts) {
    carom_step_info info;
    carom_stepper_solve(stepping->stepper, v, stepping->lmax, v, stepping->step_impulse, &info);
    counts->fallbacks += info.fallbacks > 0;
    if (info.verdict != CAROM_COMPLETE) {
        counts->unsolved = info.verdict != CAROM_INTERRUPTED;
        return info.verdict;
    }
    counts->listed += info.solutions > 0;
    counts->several += info.solutions > 1;
    if (!carom_certify_step(stepping->certifier, stepping->u, stepping->step_impulse, 1)) counts->approximate = 1;
    // Only verified steps count.
    for (int c = 0; c < carom_impact_contact_size(stepping->impact); c++) impulse[c] += stepping->step_impulse[c];
    if (info.residual > counts->max_residual) counts->max_residual = info.residual;
    if (info.energy_change > counts->max_energy_gain) counts->max_energy_gain = info.energy_change;
    return CAROM_COMPLETE;
}

carom_verdict carom_time_stepping_run(carom_time_stepping *stepping, int64_t seed, int64_t index, double *v, double *impulse,
                                      carom_sample_counts *counts) {
    return carom_time_stepping_play(stepping, NULL, seed, index, v, impulse, NULL, counts);
}

// Caps and selection of the next step, by the numbers of a tape.
static void follow_tape(carom_time_stepping *stepping, carom_numbers *numbers, int64_t step) {
    const int contacts = carom_impact_get_data(stepping->impact)->contacts;
    carom_numbers_turn_to(numbers, step);
    stepping->draw(&stepping->draws, contacts, 1, stepping->lmax);
    for (int i = 0; i < contacts; i++)
        stepping->lmax[i] = stepping->step * carom_numbers_prefer(numbers, CAROM_TAPE_CAP, i, stepping->lmax[i]);
    const carom_selection selection = carom_stepper_selection(stepping->stepper);
    if (selection != CAROM_SELECT_RANDOM && selection != CAROM_SELECT_SCATTERED) return;
    // One number stands for all that the selection draws in this step.
    const double number = carom_numbers_take(numbers, CAROM_TAPE_SELECT, 0);
    uint64_t key;
    memcpy(&key, &number, sizeof key);
    carom_stream_start_use(&stepping->selection, key, (uint64_t)step, CAROM_STREAM_SELECTION);
}

carom_verdict carom_time_stepping_play(carom_time_stepping *stepping, const carom_tape *played, int64_t seed, int64_t index, double *v,
                                       double *impulse, carom_tape *recorded, carom_sample_counts *counts) {
    const carom_impact_data *data = carom_impact_get_data(stepping->impact);
    stepping->trace.rows = 0;
    stepping->trace.lost = false;
    stepping->draws.has_direction = false;
    // Caps and selections draw from streams of their own, so that neither disturbs the other.
    carom_stream_start_use(&stepping->selection, (uint64_t)seed, (uint64_t)index, CAROM_STREAM_SELECTION);
    carom_stepper_set_stream(stepping->stepper, &stepping->selection);
    carom_stream_start_use(&stepping->draws.stream, (uint64_t)seed, (uint64_t)index, CAROM_STREAM_CAPS);
    carom_numbers numbers = {.taped = played || recorded, .played = played, .recorded = recorded, .contacts = data->contacts};
    numbers.stream = stepping->selection;
    if (recorded) recorded->count = 0;
    memcpy(v, data->velocity, (size_t)data->nv * sizeof *v);
    memset(impulse, 0, (size_t)carom_impact_contact_size(stepping->impact) * sizeof *impulse);
    *counts = (carom_sample_counts){.samples = 1};
    carom_verdict taken = CAROM_COMPLETE;
    while (!(counts->terminated = has_terminated(stepping, v, impulse)) && counts->steps < stepping->max_steps && taken == CAROM_COMPLETE) {
        if (carom_control_cancelled(stepping->control)) return CAROM_INTERRUPTED;
        counts->steps++;
        if (numbers.taped)
            follow_tape(stepping, &numbers, counts->steps);
        else
            stepping->draw(&stepping->draws, data->contacts, stepping->step, stepping->lmax);
        taken = take_step(stepping, v, impulse, counts);
    }
    counts->steps_squared = (double)counts->steps * (double)counts->steps;
    if (taken == CAROM_INTERRUPTED) return taken;
    return counts->unsolved ? CAROM_UNVERIFIED : counts->terminated ? CAROM_COMPLETE : CAROM_BUDGET_SPENT;
}

void carom_time_stepping_close(carom_time_stepping *stepping, double cap, double *v, double *impulse, carom_sample_counts *counts) {
    // A sample that has ended stays where it is: v' = v solves the step of a separating v (Halm & Posa, Lemma 8).
    if (counts->terminated) return;
    carom_impact_contact_velocity(stepping->impact, v, stepping->u);
    // All contacts have the same small cap: what still approaches is stopped to within epsilon.
    for (int i = 0; i < carom_impact_get_data(stepping->impact)->contacts; i++) stepping->lmax[i] = cap;
    take_step(stepping, v, impulse, counts);
    counts->terminated = counts->closed = has_terminated(stepping, v, impulse);
}
