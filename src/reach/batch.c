// SPDX-License-Identifier: Apache-2.0
// Algorithm 1 (Halm & Posa, section 5.1) for many samples at once: all take their next step together, those that are done leave.
#include "reach/batch.h"

#include <stdlib.h>
#include <string.h>

#include "carom/arena.h"
#include "reach/certify.h"
#include "reach/reach_internal.h"

// The method says how many steps the training has. It has one sample for so many of them, and fewer steps where samples are shorter.
enum { STEPS_A_SAMPLE = 4 };
// `auto` takes a method where it is expected to serve this share of the steps: below, batches cost more than they save. A trial that is far
// from it ends the training; it is judged every few samples.
#define WORTHWHILE 0.75
#define HOPELESS   0.4
enum { TRIAL_STEPS = 512, TRIAL_SAMPLES = 32 };

// Numbers that a stream gives at once.
enum { WORDS = 4 };

struct carom_batch_plan {
    const carom_impact *impact;
    carom_stepper_options stepper;
    double step;
    int64_t max_steps;
    carom_draw draw;
    const carom_step_method *method;
    carom_instructions instructions;
    const carom_step_loops *loops;
    carom_stepper *teacher;  // whose steps the method learns from
    void *state;             // the method's
    double *start;           // [n] contact velocity before the impact
};

struct carom_batch {
    const carom_batch_plan *plan;
    carom_stepper *stepper;      // for steps that the method leaves unserved
    carom_certifier *certifier;  // of steps that stay in the set
    carom_stepper *plain;        // for those that no cone serves, where the stepper scatters; NULL elsewhere
    carom_step_batch steps;      // of the samples that still run
    carom_step_samples running;  // what goes with them, and in which order they left
    size_t stride;
    double *columns;         // the columns of doubles below and of `running`
    double *numbers;         // [WORDS] numbers drawn ahead; those that are left are running.ahead
    uint64_t *index;         // [stride] of the samples, for their streams
    unsigned char *stopped;  // [stride / lanes] bits of samples that met an unsolved step
    bool any_unsolved;
    uint64_t next_draw;  // block of numbers
    // Of all samples of the run, by slot: their places in it.
    double *impulse;       // [n]
    int64_t *step_counts;  // [stride]
    bool *terminated, *unsolved, *gained, *approximate;
    carom_trace *traces;
    carom_draw_state *draws;  // not for uniform caps
    carom_stream *choices;    // which of several solutions is taken, for methods that choose
    // Of the rows.
    double *v_plus;  // [nv]
    int64_t *row_steps, *flags, *samples;
    bool *row_terminated;
    int32_t *row_slot;
    double *u, *lmax, *step_impulse;  // [n], [contacts], [n] of one sample
    double *v;                        // [nv] of one sample
    carom_arena arena;
};

// ------------------------------------------------------------------------------------------------------------ the plan

void carom_batch_plan_free(carom_batch_plan *plan) {
    if (!plan) return;
    plan->method->batch->free(plan->state);
    carom_stepper_free(plan->teacher);
    free(plan->start);
    free(plan);
}

// Makes the method's state and has it learn from samples of a stream of their own.
static carom_status learn(carom_batch_plan *plan, const carom_control *control, carom_instructions instructions, bool automatic,
                          carom_error *error) {
    const carom_step_batch_method *method = plan->method->batch;
    const int contacts = carom_impact_get_data(plan->impact)->contacts, n = carom_impact_contact_size(plan->impact);
    carom_status status = carom_stepper_create(plan->impact, &plan->stepper, &plan->teacher, error);
    if (!status) status = method->create(plan->teacher, plan->step, instructions, &plan->state, error);
    if (status) return status;
    const int training = method->training_steps(plan->state);
    // A sample with more steps is cut off: with tiny steps the training would otherwise take hours.
    const int64_t most = plan->max_steps < training ? plan->max_steps : training;
    carom_arena arena = {0};
    double *u = carom_arena_take(&arena, (size_t)n, sizeof *u), *lmax = carom_arena_take(&arena, (size_t)contacts, sizeof *lmax);
    carom_draw_state draws = {.direction = carom_arena_take(&arena, (size_t)contacts, sizeof(double))};
    if (arena.failed) status = carom_fail_memory(error, "batches of samples");
    int steps = 0;
    const uint64_t samples = (uint64_t)(training / STEPS_A_SAMPLE);
    bool hopeless = false, cancelled = false;
    for (uint64_t i = 0; i < samples && steps < training && !status && !hopeless && !cancelled; i++) {
        bool solved = true;
        memcpy(u, plan->start, (size_t)n * sizeof *u);
        // `auto` gives up early where the method has little to offer.
        hopeless = automatic && i % TRIAL_SAMPLES == 0 && steps >= TRIAL_STEPS && method->promise(plan->state) < HOPELESS;
        carom_stream_start_use(&draws.stream, 0, i, CAROM_STREAM_TRAINING);
        draws.has_direction = false;
        for (int64_t k = 0; k < most && solved && !status && !hopeless && !carom_impact_terminated(plan->impact, u); k++, steps++) {
            carom_draw_function(plan->draw)(&draws, contacts, plan->step, lmax);
            status = method->learn(plan->state, u, lmax, u, &solved, error);
            // Nothing will be sampled then.
            cancelled = carom_control_cancelled(control);
            solved = solved && !cancelled;
        }
    }
    carom_arena_free(&arena);
    return status || hopeless ? status : method->freeze(plan->state, error);
}

// A plan for this method and selection; NULL where `automatic` and another way is expected to be faster.
static carom_status make_plan(const carom_batch_options *options, const carom_step_method *method, carom_instructions instructions,
                              bool automatic, carom_selection selection, carom_batch_plan **plan, carom_error *error) {
    *plan = NULL;
    carom_batch_plan *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "batches of samples");
    *made = (carom_batch_plan){.impact = options->impact,
                               .stepper = *options->stepper,
                               .step = options->step,
                               .max_steps = options->max_steps,
                               .draw = options->draw,
                               .method = method,
                               .instructions = instructions,
                               .loops = carom_step_loops_of[instructions],
                               .start = malloc((size_t)carom_impact_contact_size(options->impact) * sizeof(double))};
    // The selection may be less than what the stepper options ask for.
    made->stepper.selection = selection;
    carom_status status = made->start ? CAROM_OK : carom_fail_memory(error, "batches of samples");
    if (!status) {
        carom_impact_contact_velocity(made->impact, carom_impact_get_data(made->impact)->velocity, made->start);
        status = learn(made, options->control, instructions, automatic, error);
    }
    if (!status && !(automatic && method->batch->promise(made->state) < WORTHWHILE))
        *plan = made;
    else
        carom_batch_plan_free(made);
    return automatic && status == CAROM_UNSUPPORTED ? CAROM_OK : status;
}

carom_status carom_batch_plan_create(const carom_batch_options *options, carom_batch_plan **plan, carom_error *error) {
    const carom_selection selection = options->stepper->selection;
    const carom_step_method *asked;
    carom_instructions instructions;
    *plan = NULL;
    carom_status status = carom_step_method_find(options->path, &asked, &instructions, error);
    if (status || options->stepper->solver != &carom_lcp_lemke || (asked && !asked->batch)) return status;
    // A path that was asked for is taken, worthwhile or not.
    if (asked) {
        status = make_plan(options, asked, instructions, false, selection, plan, error);
        // Who asks for the path takes the selection that it serves.
        if (status == CAROM_UNSUPPORTED && selection == CAROM_SELECT_LEMKE)
            status = make_plan(options, asked, instructions, false, CAROM_SELECT_ANY, plan, error);
        return status;
    }
    for (const carom_step_method *const *row = carom_step_methods; *row && !*plan && !status; row++)
        if ((*row)->batch && carom_step_method_serves(*row, selection))
            status = make_plan(options, *row, instructions, true, selection, plan, error);
    return status;
}

carom_selection carom_batch_plan_selection(const carom_batch_plan *plan) { return plan->stepper.selection; }
const carom_step_method *carom_batch_plan_method(const carom_batch_plan *plan) { return plan->method; }
const char *carom_batch_plan_path(const carom_batch_plan *plan) { return plan->method->batch->path(plan->state); }

// ------------------------------------------------------------------------------------------------------------ lifetime

carom_status carom_batch_create(const carom_batch_plan *plan, int capacity, carom_batch **batch, carom_error *error) {
    *batch = NULL;
    carom_batch *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "batches of samples");
    made->plan = plan;
    carom_status status = plan->method->batch->batch_create(plan->state, capacity, &made->steps, error);
    if (!status) status = carom_stepper_create(plan->impact, &plan->stepper, &made->stepper, error);
    if (!status) status = carom_certifier_create(plan->impact, plan->instructions, &made->certifier, error);
    if (!status && plan->stepper.selection == CAROM_SELECT_SCATTERED) {
        carom_stepper_options plain = plan->stepper;
        plain.selection = CAROM_SELECT_LEMKE;
        plain.method = NULL;
        status = carom_stepper_create(plan->impact, &plain, &made->plain, error);
    }
    if (status) {
        carom_batch_free(made);
        return status;
    }
    const carom_impact_data *data = carom_impact_get_data(plan->impact);
    const size_t n = (size_t)carom_impact_contact_size(plan->impact), nv = (size_t)data->nv, contacts = (size_t)data->contacts;
    // Arrays by sample are as long as the method's columns.
    const size_t stride = made->stride = made->steps.stride;
    carom_arena *arena = &made->arena;
    made->index = carom_arena_take(arena, stride, sizeof *made->index);
    made->row_slot = carom_arena_take(arena, stride, sizeof *made->row_slot);
    made->stopped = carom_arena_take(arena, stride / CAROM_STEP_LANES, 1);
    made->step_counts = carom_arena_take(arena, stride, sizeof *made->step_counts);
    made->row_steps = carom_arena_take(arena, stride, sizeof *made->row_steps);
    made->flags = carom_arena_take(arena, stride, sizeof *made->flags);
    made->samples = carom_arena_take(arena, stride, sizeof *made->samples);
    made->terminated = carom_arena_take(arena, stride, sizeof *made->terminated);
    made->unsolved = carom_arena_take(arena, stride, sizeof *made->unsolved);
    made->gained = carom_arena_take(arena, stride, sizeof *made->gained);
    made->approximate = carom_arena_take(arena, stride, sizeof *made->approximate);
    made->row_terminated = carom_arena_take(arena, stride, sizeof *made->row_terminated);
    made->traces = carom_arena_take(arena, stride, sizeof *made->traces);
    made->draws = carom_arena_take(arena, stride, sizeof *made->draws);
    made->choices = made->steps.choice ? carom_arena_take(arena, stride, sizeof *made->choices) : NULL;
    made->v = carom_arena_take(arena, nv, sizeof(double));
    double *directions = carom_arena_take(arena, stride * contacts, sizeof *directions);
    made->u = carom_arena_take(arena, n, sizeof(double));
    made->step_impulse = carom_arena_take(arena, n, sizeof(double));
    made->lmax = carom_arena_take(arena, contacts, sizeof(double));
    made->columns = carom_step_columns_create(3 * n + 2 + WORDS + nv, stride);
    if (arena->failed || !made->columns) {
        carom_batch_free(made);
        return carom_fail_memory(error, "batches of samples");
    }
    // Each sample has a direction of its own for correlated and single draws.
    for (size_t i = 0; i < stride; i++) made->draws[i].direction = directions + i * contacts;
    made->running.total = made->columns;
    made->running.done_total = made->running.total + n * stride;
    made->impulse = made->running.done_total + n * stride;
    made->running.slot = made->impulse + n * stride;
    made->running.done_slot = made->running.slot + stride;
    made->numbers = made->running.done_slot + stride;
    made->v_plus = made->numbers + WORDS * stride;
    *batch = made;
    return CAROM_OK;
}

void carom_batch_free(carom_batch *batch) {
    if (!batch) return;
    for (size_t i = 0; batch->traces && i < batch->stride; i++) carom_trace_release(&batch->traces[i]);
    batch->plan->method->batch->batch_free(&batch->steps);
    carom_certifier_free(batch->certifier);
    carom_stepper_free(batch->stepper);
    carom_stepper_free(batch->plain);
    free(batch->columns);
    carom_arena_free(&batch->arena);
    free(batch);
}

// ------------------------------------------------------------------------------------------------------------- recording

static int slot_of(const carom_batch *batch, int i) { return (int)batch->running.slot[i]; }

// Its index among all samples.
static int64_t index_of(const carom_batch_request *request, int slot) { return request->first + request->every * slot; }

// Appends a contact velocity, whose components stand `stride` apart.
static carom_status append(carom_trace *into, int n, const double *u, size_t stride, carom_error *error) {
    carom_trace_append(into, n, u, stride, NULL);
    return carom_trace_check(into, error);
}

// The contact velocities u of the running samples whose traces are wanted.
static carom_status record_live(carom_batch *batch, const double *u, const carom_batch_request *request, carom_error *error) {
    const int n = carom_impact_contact_size(batch->plan->impact);
    carom_status status = CAROM_OK;
    if (request->first >= request->recorded) return status;
    for (int i = 0; i < batch->running.live && !status; i++) {
        const int slot = slot_of(batch, i);
        if (index_of(request, slot) < request->recorded) status = append(&batch->traces[slot], n, u + i, batch->stride, error);
    }
    return status;
}

carom_status carom_batch_record(carom_batch *batch, int64_t row, const double *v, carom_error *error) {
    carom_trace *own = &batch->traces[batch->row_slot[row]];
    if (!own->rows) return CAROM_OK;
    carom_impact_contact_velocity(batch->plan->impact, v, batch->u);
    return append(own, carom_impact_contact_size(batch->plan->impact), batch->u, 1, error);
}

const double *carom_batch_trace(const carom_batch *batch, int64_t row, int *rows) {
    const carom_trace *own = &batch->traces[batch->row_slot[row]];
    *rows = own->rows;
    return own->rows ? own->u : NULL;
}

// ------------------------------------------------------------------------------------------------------------- one step

// Caps of the next step of every sample: the numbers that its own stream would give.
static void draw_caps(carom_batch *batch, const carom_batch_request *request) {
    const carom_batch_plan *plan = batch->plan;
    const int contacts = carom_impact_get_data(plan->impact)->contacts, n = carom_impact_contact_size(plan->impact);
    carom_step_samples *running = &batch->running;
    if (plan->draw != CAROM_DRAW_UNIFORM) {
        for (int i = 0; i < running->live; i++) {
            carom_draw_function(plan->draw)(&batch->draws[slot_of(batch, i)], contacts, plan->step, batch->lmax);
            for (int c = 0; c < contacts; c++) batch->steps.x[(size_t)(n + c) * batch->stride + (size_t)i] = batch->lmax[c];
        }
        return;
    }
    // Uniform caps come from blocks of WORDS numbers of all samples; what is left of a block goes with the samples to the next step.
    for (int c = 0; c < contacts; c++) {
        if (!running->ahead_count) {
            for (int i = 0; i < running->live; i++) batch->index[i] = (uint64_t)index_of(request, slot_of(batch, i));
            carom_stream_uniform_block((uint64_t)request->seed, batch->index, (size_t)running->live, CAROM_STREAM_CAPS, batch->next_draw++,
                                       batch->stride, batch->numbers);
            running->ahead_count = WORDS;
        }
        const double *numbers = batch->numbers + (size_t)(WORDS - running->ahead_count--) * batch->stride;
        running->ahead = batch->numbers + (size_t)(WORDS - running->ahead_count) * batch->stride;
        double *caps = batch->steps.x + (size_t)(n + c) * batch->stride;
        for (int i = 0; i < running->live; i++) caps[i] = plan->step * numbers[i];
    }
}

// The step of sample i one by one. A method that chooses among solutions leaves the choice, by the sample's own stream, to the stepper.
static void solve_alone(carom_batch *batch, int i, carom_step_info *info) {
    const carom_impact *impact = batch->plan->impact;
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int contacts = data->contacts, n = carom_impact_contact_size(impact);
    carom_step_batch *steps = &batch->steps;
    for (int c = 0; c < contacts; c++) batch->lmax[c] = steps->x[(size_t)(n + c) * batch->stride + (size_t)i];
    const bool plainly = batch->plain && steps->choice[i] < CAROM_STEP_LEFT_OUT;
    if (steps->choice && !plainly) {
        for (int c = 0; c < n; c++) batch->step_impulse[c] = batch->running.total[(size_t)c * batch->stride + (size_t)i];
        carom_impact_apply(impact, data->velocity, batch->step_impulse, batch->v);
        carom_stepper_set_stream(batch->stepper, &batch->choices[slot_of(batch, i)]);
        carom_stepper_solve(batch->stepper, batch->v, batch->lmax, batch->v, batch->step_impulse, info);
        carom_impact_contact_velocity(impact, batch->v, batch->u);
    } else {
        for (int c = 0; c < n; c++) batch->u[c] = steps->x[(size_t)c * batch->stride + (size_t)i];
        carom_stepper_solve_contact(plainly ? batch->plain : batch->stepper, batch->u, batch->lmax, batch->u, batch->step_impulse, info);
    }
    for (int c = 0; c < n; c++) {
        steps->u_next[(size_t)c * batch->stride + (size_t)i] = batch->u[c];
        steps->impulse[(size_t)c * batch->stride + (size_t)i] = batch->step_impulse[c];
    }
}

// One step of every running sample: by the method, and one by one where it leaves one unserved.
static void solve_steps(carom_batch *batch, carom_sample_counts *counts) {
    const carom_batch_plan *plan = batch->plan;
    const int live = batch->running.live;
    carom_step_batch *steps = &batch->steps;
    // `random` draws as steps one by one do: only where there is a choice. `scattered` draws for every step, covering vectors where the
    // stepper takes it.
    const bool always = batch->plain != NULL;
    for (int i = 0; steps->choice && i < live; i++) steps->choice[i] = carom_stream_peek(&batch->choices[slot_of(batch, i)]);
    const int unserved = plan->method->batch->solve(plan->state, steps, live, &counts->max_residual);
    counts->looked_up += live - unserved;
    for (int i = 0; steps->choice && i < live; i++)
        if (always ? steps->choice[i] < CAROM_STEP_LEFT_OUT : steps->served[i] >= 0 && steps->solutions[i] > 1)
            carom_stream_uniform(&batch->choices[slot_of(batch, i)]);
    for (int i = 0; unserved && i < live; i++) {
        if (steps->served[i] >= 0) continue;
        const size_t at = (size_t)i;
        carom_step_info info;
        solve_alone(batch, i, &info);
        steps->gain[at] = info.energy_change;
        counts->fallbacks += info.fallbacks > 0;
        if (info.verdict != CAROM_COMPLETE) {
            batch->unsolved[slot_of(batch, i)] = batch->any_unsolved = true;
            batch->stopped[i / CAROM_STEP_LANES] |= (unsigned char)(1U << i % CAROM_STEP_LANES);
            steps->gain[at] = 0;
        } else if (info.residual > counts->max_residual) {
            counts->max_residual = info.residual;
        }
    }
    // How many steps had several solutions, where the method knows.
    for (int i = 0; steps->solutions && i < live; i++) {
        if (steps->served[i] < 0) continue;
        counts->listed += steps->solutions[i] > 0;
        counts->several += steps->solutions[i] > 1;
    }
    // Samples that may have left the set.
    for (int i = 0; i < live; i++) {
        bool *approximate = &batch->approximate[slot_of(batch, i)];
        if (!*approximate) *approximate = !carom_certify_step(batch->certifier, steps->x + i, steps->impulse + i, batch->stride);
    }
    // Energy gains: the largest counts, and samples with more than a share of K(v-) are flagged.
    const double flagged = CAROM_ENERGY_GAIN_FLAGGED * carom_impact_initial_energy(plan->impact);
    const double largest = plan->loops->largest_gain(steps, live);
    if (largest > counts->max_energy_gain) counts->max_energy_gain = largest;
    for (int i = 0; largest > flagged && i < live; i++)
        if (steps->gain[i] > flagged) batch->gained[slot_of(batch, i)] = true;
}

// ------------------------------------------------------------------------------------------------------ who is finished

// Samples that have left since `before`, all after this many steps; those that met an unsolved step have not terminated.
static void note_done(carom_batch *batch, int before, int64_t steps, bool terminated, carom_sample_counts *counts) {
    const int64_t left = batch->running.done - before;
    int64_t unsolved = 0, approximate = 0;
    for (int i = before; i < batch->running.done; i++) {
        const int slot = (int)batch->running.done_slot[i];
        batch->step_counts[slot] = steps;
        batch->terminated[slot] = terminated && !batch->unsolved[slot];
        unsolved += batch->unsolved[slot];
        approximate += batch->terminated[slot] && batch->approximate[slot];
    }
    counts->terminated += terminated ? left - unsolved : 0;
    counts->unsolved += unsolved;
    counts->approximate += approximate;
    counts->steps += steps * left;
    counts->steps_squared += (double)steps * (double)steps * (double)left;
}

// The samples that still run leave: before the first step, or after the last.
static void end_all(carom_batch *batch, int64_t steps, bool terminated, carom_sample_counts *counts) {
    carom_step_samples *running = &batch->running;
    const int before = running->done;
    for (int i = 0; i < running->live; i++, running->done++) {
        running->done_slot[running->done] = running->slot[i];
        for (int c = 0; c < carom_impact_contact_size(batch->plan->impact); c++) {
            const size_t column = (size_t)c * batch->stride;
            running->done_total[column + (size_t)running->done] = running->total[column + (size_t)i];
        }
    }
    running->live = 0;
    note_done(batch, before, steps, terminated, counts);
}

// ------------------------------------------------------------------------------------------------------------ whole run

static void start(carom_batch *batch, const carom_batch_request *request) {
    const carom_batch_plan *plan = batch->plan;
    batch->running.live = request->count;
    batch->running.done = batch->running.ahead_count = 0;
    batch->next_draw = 0;
    batch->any_unsolved = false;
    for (int c = 0; c < carom_impact_contact_size(plan->impact); c++)
        for (int i = 0; i < request->count; i++) {
            batch->steps.x[(size_t)c * batch->stride + (size_t)i] = plan->start[c];
            batch->running.total[(size_t)c * batch->stride + (size_t)i] = 0;
        }
    for (int i = 0; i < request->count; i++) {
        batch->running.slot[i] = i;
        batch->unsolved[i] = batch->gained[i] = batch->approximate[i] = false;
        batch->traces[i].rows = 0;
        if (batch->choices)
            carom_stream_start_use(&batch->choices[i], (uint64_t)request->seed, (uint64_t)index_of(request, i), CAROM_STREAM_SELECTION);
        if (plan->draw == CAROM_DRAW_UNIFORM) continue;
        batch->draws[i].has_direction = false;
        carom_stream_start_use(&batch->draws[i].stream, (uint64_t)request->seed, (uint64_t)index_of(request, i), CAROM_STREAM_CAPS);
    }
}

// The outcomes in the order of the samples, whatever the order in which they left.
static void collect_rows(carom_batch *batch, const carom_batch_request *request, carom_batch_result *result) {
    const carom_batch_plan *plan = batch->plan;
    const int n = carom_impact_contact_size(plan->impact);
    int rows = 0;
    for (int i = 0; i < request->count; i++) {
        batch->row_slot[rows] = i;
        batch->samples[rows] = index_of(request, i);
        batch->row_steps[rows] = batch->step_counts[i];
        batch->row_terminated[rows] = batch->terminated[i];
        batch->flags[rows] = (batch->unsolved[i] ? CAROM_FLAG_UNSOLVED : 0) | (batch->gained[i] ? CAROM_FLAG_ENERGY_GAIN : 0) |
                             (batch->approximate[i] ? CAROM_FLAG_APPROXIMATE : 0);
        rows += request->all || batch->terminated[i];
    }
    // Impulses by slot, then without the samples that have no row.
    for (int c = 0; c < n; c++) {
        const double *from = batch->running.done_total + (size_t)c * batch->stride, *slots = batch->running.done_slot;
        double *to = batch->impulse + (size_t)c * batch->stride;
        for (int i = 0; i < batch->running.done; i++) to[(int)slots[i]] = from[i];
        for (int i = 0; rows < request->count && i < rows; i++) to[i] = to[batch->row_slot[i]];
    }
    plan->loops->velocities(plan->impact, batch->impulse, batch->stride, rows, batch->v_plus);
    result->rows = (carom_outcome_rows){rows, batch->stride, batch->v_plus, batch->impulse, batch->row_steps, batch->flags};
    result->samples = batch->samples;
    result->is_terminated = batch->row_terminated;
}

carom_status carom_batch_run(carom_batch *batch, const carom_batch_request *request, carom_batch_result *result, carom_error *error) {
    const carom_batch_plan *plan = batch->plan;
    carom_sample_counts *counts = &result->counts;
    *result = (carom_batch_result){.counts.samples = request->count};
    start(batch, request);
    carom_status status = record_live(batch, batch->steps.x, request, error);
    if (carom_impact_terminated(plan->impact, plan->start)) end_all(batch, 0, true, counts);
    for (int64_t steps = 1; batch->running.live && !status; steps++) {
        result->interrupted = carom_control_cancelled(request->control);
        if (result->interrupted) return CAROM_OK;
        draw_caps(batch, request);
        solve_steps(batch, counts);
        status = record_live(batch, batch->steps.u_next, request, error);
        const int before = batch->running.done;
        plan->loops->advance(plan->impact, &batch->steps, &batch->running, batch->any_unsolved ? batch->stopped : NULL);
        note_done(batch, before, steps, true, counts);
        if (batch->any_unsolved) memset(batch->stopped, 0, batch->stride / CAROM_STEP_LANES);
        batch->any_unsolved = false;
        if (steps == plan->max_steps) end_all(batch, steps, false, counts);
    }
    if (!status) collect_rows(batch, request, result);
    return status;
}
