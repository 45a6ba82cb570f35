// SPDX-License-Identifier: Apache-2.0
// Algorithm 1 (Halm & Posa, section 5.1) for many samples at once: all take their next step together, those that are done leave.
#include "reach/batch.h"

#include <stdlib.h>
#include <string.h>

#include "reach/reach_internal.h"
#include "step/cones/map.h"

// Samples and steps of the training: a millisecond or some, whatever the run. A sample of more steps than that is cut off, so that tiny
// steps do not keep the training busy for hours.
enum { TRAINING_SAMPLES = 1024, TRAINING_STEPS = 4096 };
// `auto` takes the map where it is expected to serve this share of the steps: below, looking up costs more than it saves. A trial that is
// far from it ends the training; it is judged every few samples.
#define WORTHWHILE 0.75
#define HOPELESS   0.4
enum { TRIAL_STEPS = 512, TRIAL_SAMPLES = 32 };

enum { WORDS = 4 };

struct carom_batch_plan {
    const carom_impact *impact;
    carom_stepper_options stepper;
    double step;
    int64_t max_steps;
    carom_draw draw;
    carom_cone_map *map;
    const carom_cone_kernel *kernel;
    double *start;  // [n] contact velocity before the impact
};

// A sample's contact velocities.
typedef struct record {
    double *values;  // [capacity x n]
    int rows, capacity;
} record;

struct carom_batch {
    const carom_batch_plan *plan;
    carom_stepper *stepper;  // for steps that no cone serves
    carom_cone_batch lanes;
    size_t stride;
    carom_cone_run run;      // of the samples that still run, and in which order they left
    double *numbers;         // [WORDS] numbers drawn ahead; those that are left are the run's
    uint64_t *index;         // [stride] of the samples, for their streams
    unsigned char *stopped;  // [stride / lanes] bits of samples that met an unsolved step
    bool any_unsolved;
    uint64_t next_draw;  // block of numbers
    // Of all samples of the run, by slot: their places in it.
    double *impulse;  // [n]
    int64_t *steps;   // [stride]
    bool *terminated, *unsolved, *gained;
    record *records;
    carom_draw_state *draws;  // NULL for uniform caps
    double *directions;       // [stride x contacts] of the draws
    // Of the rows.
    double *v_plus;  // [nv]
    int64_t *row_steps, *flags, *samples;
    bool *row_terminated;
    int32_t *row_slot;
    double *u, *lmax, *step_impulse;  // [n], [contacts], [n] of one sample
};

// ------------------------------------------------------------------------------------------------------------ the plan

bool carom_batch_is_path(const char *path) {
    bool available;
    return !strcmp(path, "cone-map") || carom_cone_kernel_find(path, &available);
}

void carom_batch_plan_free(carom_batch_plan *plan) {
    if (!plan) return;
    carom_cone_map_free(plan->map);
    free(plan->start);
    free(plan);
}

// Trains on samples of a stream of their own.
static carom_status train(const carom_batch_plan *plan, bool automatic, double *u, double *lmax, carom_draw_state *draws,
                          carom_error *error) {
    const int contacts = carom_impact_get_data(plan->impact)->contacts, n = carom_impact_contact_size(plan->impact);
    const int64_t most = plan->max_steps < TRAINING_STEPS ? plan->max_steps : TRAINING_STEPS;
    carom_status status = CAROM_OK;
    int steps = 0;
    for (uint64_t i = 0; i < TRAINING_SAMPLES && steps < TRAINING_STEPS && !status; i++) {
        bool solved = true;
        memcpy(u, plan->start, (size_t)n * sizeof *u);
        if (automatic && i % TRIAL_SAMPLES == 0 && steps >= TRIAL_STEPS && carom_cone_map_hit_rate(plan->map) < HOPELESS) return CAROM_OK;
        carom_stream_start_use(&draws->stream, 0, i, CAROM_STREAM_TRAINING);
        draws->has_direction = false;
        for (int64_t k = 0; k < most && solved && !status && !carom_impact_terminated(plan->impact, u); k++, steps++) {
            carom_draw_function(plan->draw)(draws, contacts, plan->step, lmax);
            status = carom_cone_map_train(plan->map, u, lmax, u, &solved, error);
        }
    }
    return status ? status : carom_cone_map_freeze(plan->map, error);
}

static carom_status make_map(carom_batch_plan *plan, bool automatic, carom_error *error) {
    const size_t n = (size_t)carom_impact_contact_size(plan->impact), contacts = (size_t)carom_impact_get_data(plan->impact)->contacts;
    double *work = malloc((n + 2 * contacts) * sizeof *work);
    carom_status status = work && plan->start ? CAROM_OK : carom_fail_memory(error, "cone map");
    if (!status) {
        carom_draw_state draws = {.direction = work + n + contacts};
        carom_impact_contact_velocity(plan->impact, carom_impact_get_data(plan->impact)->velocity, plan->start);
        status = carom_cone_map_create(plan->impact, &plan->stepper, plan->step, &plan->map, error);
        if (!status) status = train(plan, automatic, work, work + n, &draws, error);
    }
    free(work);
    return status;
}

carom_status carom_batch_plan_create(const carom_batch_options *options, carom_batch_plan **plan, carom_error *error) {
    *plan = NULL;
    const bool automatic = !carom_batch_is_path(options->path);
    bool available;
    const carom_cone_kernel *kernel = carom_cone_kernel_find(automatic ? "cone-map" : options->path, &available);
    if (!available) return carom_fail(error, CAROM_UNSUPPORTED, "%s: this machine lacks the instructions", options->path);
    carom_batch_plan *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "cone map");
    *made = (carom_batch_plan){.impact = options->impact,
                               .stepper = *options->stepper,
                               .step = options->step,
                               .max_steps = options->max_steps,
                               .draw = options->draw,
                               .kernel = kernel,
                               .start = malloc((size_t)carom_impact_contact_size(options->impact) * sizeof(double))};
    carom_status status = make_map(made, automatic, error);
    // Who asks for the path takes the selection that it serves.
    if (status == CAROM_UNSUPPORTED && !automatic && options->stepper->selection == CAROM_SELECT_LEMKE) {
        made->stepper.selection = CAROM_SELECT_ANY;
        status = make_map(made, automatic, error);
    }
    if (!status && !(automatic && carom_cone_map_hit_rate(made->map) < WORTHWHILE)) {
        *plan = made;
        return CAROM_OK;
    }
    carom_batch_plan_free(made);
    return automatic && status == CAROM_UNSUPPORTED ? CAROM_OK : status;
}

carom_status carom_batch_plan_choose(const carom_impact *impact, const carom_sample_options *sample, const carom_stepper_options *stepper,
                                     double step, carom_batch_plan **plan, carom_error *error) {
    const bool asked = carom_batch_is_path(sample->path), ours = stepper->solver == &carom_lcp_lemke;
    *plan = NULL;
    if (asked && !ours) return carom_fail(error, CAROM_BAD_INPUT, "path: %s takes no other solver than lemke", sample->path);
    if (!ours || !(asked || !strcmp(sample->path, "auto"))) return CAROM_OK;
    const carom_batch_options options = {impact, stepper, step, carom_sample_max_steps(sample), (carom_draw)sample->draw, sample->path};
    return carom_batch_plan_create(&options, plan, error);
}

carom_selection carom_batch_plan_selection(const carom_batch_plan *plan) { return plan->stepper.selection; }
const char *carom_batch_plan_path(const carom_batch_plan *plan) { return plan->kernel->name; }

// ------------------------------------------------------------------------------------------------------------ lifetime

static carom_status allocate(carom_batch *b, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(b->plan->impact);
    const int n = carom_impact_contact_size(b->plan->impact);
    const size_t contacts = (size_t)data->contacts, stride = b->stride = b->lanes.stride;
    const bool uniform = b->plan->draw == CAROM_DRAW_UNIFORM;
    b->run.total = carom_cone_columns_create(n, stride);
    b->run.slot = carom_cone_columns_create(1, stride);
    b->run.done_total = carom_cone_columns_create(n, stride);
    b->run.done_slot = carom_cone_columns_create(1, stride);
    b->numbers = carom_cone_columns_create(WORDS, stride);
    b->impulse = carom_cone_columns_create(n, stride);
    b->v_plus = carom_cone_columns_create(data->nv, stride);
    b->index = malloc(stride * sizeof *b->index);
    b->row_slot = malloc(stride * sizeof *b->row_slot);
    b->stopped = calloc(stride / CAROM_CONE_LANES, 1);
    b->steps = malloc(4 * stride * sizeof *b->steps);
    b->terminated = malloc(4 * stride * sizeof *b->terminated);
    b->records = calloc(stride, sizeof *b->records);
    b->draws = calloc(uniform ? 1 : stride, sizeof *b->draws);
    b->directions = malloc((uniform ? 1 : stride) * contacts * sizeof(double));
    b->u = malloc((2 * (size_t)n + contacts) * sizeof(double));
    if (!b->run.total || !b->run.slot || !b->run.done_total || !b->run.done_slot || !b->numbers || !b->impulse || !b->v_plus || !b->index ||
        !b->row_slot || !b->stopped || !b->steps || !b->terminated || !b->records || !b->draws || !b->directions || !b->u)
        return carom_fail_memory(error, "cone map");
    b->row_steps = b->steps + stride;
    b->flags = b->row_steps + stride;
    b->samples = b->flags + stride;
    b->unsolved = b->terminated + stride;
    b->gained = b->unsolved + stride;
    b->row_terminated = b->gained + stride;
    b->step_impulse = b->u + n;
    b->lmax = b->step_impulse + n;
    for (size_t i = 0; !uniform && i < stride; i++) b->draws[i].direction = b->directions + i * contacts;
    return CAROM_OK;
}

carom_status carom_batch_create(const carom_batch_plan *plan, int capacity, carom_batch **batch, carom_error *error) {
    *batch = NULL;
    carom_batch *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "cone map");
    made->plan = plan;
    carom_status status = carom_cone_batch_create(plan->map, capacity, &made->lanes, error);
    if (!status) status = allocate(made, error);
    if (!status) status = carom_stepper_create(plan->impact, &plan->stepper, &made->stepper, error);
    if (status)
        carom_batch_free(made);
    else
        *batch = made;
    return status;
}

void carom_batch_free(carom_batch *batch) {
    if (!batch) return;
    for (size_t i = 0; batch->records && i < batch->stride; i++) free(batch->records[i].values);
    carom_cone_batch_free(&batch->lanes);
    carom_stepper_free(batch->stepper);
    free(batch->run.total);
    free(batch->run.slot);
    free(batch->run.done_total);
    free(batch->run.done_slot);
    free(batch->numbers);
    free(batch->impulse);
    free(batch->v_plus);
    free(batch->index);
    free(batch->row_slot);
    free(batch->stopped);
    free(batch->steps);
    free(batch->terminated);
    free(batch->records);
    free(batch->draws);
    free(batch->directions);
    free(batch->u);
    free(batch);
}

// ------------------------------------------------------------------------------------------------------------- recording

static int slot_of(const carom_batch *b, int i) { return (int)b->run.slot[i]; }

// Appends the contact velocity of a running sample to its record.
static carom_status append(record *r, int n, const double *u, size_t stride, carom_error *error) {
    // Room for the closing step, too, as a simulator has.
    if (r->rows >= CAROM_MOST_PATH_STEPS + 2) return CAROM_OK;
    if (r->rows == r->capacity) {
        const int capacity = 2 * r->capacity + 8;
        double *moved = realloc(r->values, (size_t)capacity * (size_t)n * sizeof *moved);
        if (!moved) return carom_fail_memory(error, "path of a sample");
        r->values = moved;
        r->capacity = capacity;
    }
    for (int c = 0; c < n; c++) r->values[r->rows * n + c] = u[(size_t)c * stride];
    r->rows++;
    return CAROM_OK;
}

// The contact velocities u of the running samples.
static carom_status record_live(carom_batch *b, const double *u, int64_t first, int64_t recorded, carom_error *error) {
    const int n = carom_impact_contact_size(b->plan->impact);
    carom_status status = CAROM_OK;
    if (first >= recorded) return status;
    for (int i = 0; i < b->run.live && !status; i++)
        if (first + slot_of(b, i) < recorded) status = append(&b->records[slot_of(b, i)], n, u + i, b->stride, error);
    return status;
}

carom_status carom_batch_record(carom_batch *batch, int64_t row, const double *v, carom_error *error) {
    record *r = &batch->records[batch->row_slot[row]];
    if (!r->rows) return CAROM_OK;
    carom_impact_contact_velocity(batch->plan->impact, v, batch->u);
    return append(r, carom_impact_contact_size(batch->plan->impact), batch->u, 1, error);
}

const double *carom_batch_path(const carom_batch *batch, int64_t row, int *rows) {
    const record *r = &batch->records[batch->row_slot[row]];
    *rows = r->rows;
    return r->rows ? r->values : NULL;
}

// ------------------------------------------------------------------------------------------------------------- one step

// The next number of every sample: what its own stream would give.
static const double *draw_numbers(carom_batch *b, int64_t seed, int64_t first) {
    if (!b->run.ahead_count) {
        for (int i = 0; i < b->run.live; i++) b->index[i] = (uint64_t)(first + slot_of(b, i));
        carom_stream_uniform_block((uint64_t)seed, b->index, (size_t)b->run.live, CAROM_STREAM_CAPS, b->next_draw++, b->stride, b->numbers);
        b->run.ahead_count = WORDS;
    }
    const double *numbers = b->numbers + (size_t)(WORDS - b->run.ahead_count--) * b->stride;
    b->run.ahead = b->numbers + (size_t)(WORDS - b->run.ahead_count) * b->stride;
    return numbers;
}

// Caps in [0,h].
static void draw_uniform_caps(carom_batch *b, int64_t seed, int64_t first) {
    const int contacts = carom_impact_get_data(b->plan->impact)->contacts, n = carom_impact_contact_size(b->plan->impact);
    for (int c = 0; c < contacts; c++) {
        const double *numbers = draw_numbers(b, seed, first);
        double *caps = b->lanes.x + (size_t)(n + c) * b->stride;
        for (int i = 0; i < b->run.live; i++) caps[i] = b->plan->step * numbers[i];
    }
}

static void draw_caps(carom_batch *b, int64_t seed, int64_t first) {
    if (b->plan->draw == CAROM_DRAW_UNIFORM) {
        draw_uniform_caps(b, seed, first);
        return;
    }
    const int contacts = carom_impact_get_data(b->plan->impact)->contacts, n = carom_impact_contact_size(b->plan->impact);
    for (int i = 0; i < b->run.live; i++) {
        carom_draw_function(b->plan->draw)(&b->draws[slot_of(b, i)], contacts, b->plan->step, b->lmax);
        for (int c = 0; c < contacts; c++) b->lanes.x[(size_t)(n + c) * b->stride + (size_t)i] = b->lmax[c];
    }
}

// A step that no cone serves, by Lemke's method.
static void solve_alone(carom_batch *b, int i, carom_batch_result *result) {
    const int contacts = carom_impact_get_data(b->plan->impact)->contacts, n = carom_impact_contact_size(b->plan->impact);
    const size_t at = (size_t)i;
    carom_step_info info;
    for (int c = 0; c < n; c++) b->u[c] = b->lanes.x[(size_t)c * b->stride + at];
    for (int c = 0; c < contacts; c++) b->lmax[c] = b->lanes.x[(size_t)(n + c) * b->stride + at];
    carom_stepper_solve_contact(b->stepper, b->u, b->lmax, b->u, b->step_impulse, &info);
    for (int c = 0; c < n; c++) {
        b->lanes.u_next[(size_t)c * b->stride + at] = b->u[c];
        b->lanes.impulse[(size_t)c * b->stride + at] = b->step_impulse[c];
    }
    b->lanes.gain[at] = info.energy_change;
    result->fallbacks += info.fallbacks > 0;
    if (info.verdict != CAROM_COMPLETE) {
        b->unsolved[slot_of(b, i)] = b->any_unsolved = true;
        b->stopped[i / CAROM_CONE_LANES] |= (unsigned char)(1U << i % CAROM_CONE_LANES);
        b->lanes.gain[at] = 0;
    } else if (info.residual > result->max_residual) {
        result->max_residual = info.residual;
    }
}

static void note_gains(carom_batch *b, carom_batch_result *result) {
    const double flagged = CAROM_ENERGY_GAIN_FLAGGED * carom_impact_initial_energy(b->plan->impact);
    const double largest = b->plan->kernel->largest_gain(&b->lanes, b->run.live);
    if (largest > result->max_energy_gain) result->max_energy_gain = largest;
    for (int i = 0; largest > flagged && i < b->run.live; i++)
        if (b->lanes.gain[i] > flagged) b->gained[slot_of(b, i)] = true;
}

static void solve_steps(carom_batch *b, carom_batch_result *result) {
    const carom_cone_map *map = b->plan->map;
    const int alone =
        b->plan->kernel->step(carom_cone_map_cones(map), carom_cone_map_physics(map), &b->lanes, b->run.live, &result->max_residual);
    for (int i = 0; alone && i < b->run.live; i++)
        if (b->lanes.cone[i] == CAROM_CONE_NONE) solve_alone(b, i, result);
    result->looked_up += b->run.live - alone;
    note_gains(b, result);
}

// ------------------------------------------------------------------------------------------------------ who is finished

// Samples that have left since `before`, all after this many steps; those that met an unsolved step have not terminated.
static void note_done(carom_batch *b, int before, int64_t steps, bool terminated, carom_batch_result *result) {
    const double *slots = b->run.done_slot;
    const int64_t left = b->run.done - before;
    int64_t unsolved = 0;
    for (int i = before; i < b->run.done; i++) {
        const int slot = (int)slots[i];
        b->steps[slot] = steps;
        b->terminated[slot] = terminated && !b->unsolved[slot];
        unsolved += b->unsolved[slot];
    }
    result->terminated += terminated ? left - unsolved : 0;
    result->unsolved += unsolved;
    result->steps += steps * left;
    result->steps_squared += (double)steps * (double)steps * (double)left;
}

static void advance(carom_batch *b, int64_t steps, carom_batch_result *result) {
    const int before = b->run.done;
    b->plan->kernel->advance(carom_cone_map_physics(b->plan->map), &b->lanes, &b->run, carom_impact_approach_limit(b->plan->impact),
                             b->any_unsolved ? b->stopped : NULL);
    note_done(b, before, steps, true, result);
    if (b->any_unsolved) memset(b->stopped, 0, b->stride / CAROM_CONE_LANES);
    b->any_unsolved = false;
}

// The samples that still run leave: before the first step, or after the last.
static void end_all(carom_batch *b, int64_t steps, bool terminated, carom_batch_result *result) {
    const int before = b->run.done;
    for (int i = 0; i < b->run.live; i++, b->run.done++) {
        b->run.done_slot[b->run.done] = b->run.slot[i];
        for (int c = 0; c < carom_impact_contact_size(b->plan->impact); c++) {
            const size_t column = (size_t)c * b->stride;
            b->run.done_total[column + (size_t)b->run.done] = b->run.total[column + (size_t)i];
        }
    }
    b->run.live = 0;
    note_done(b, before, steps, terminated, result);
}

// ------------------------------------------------------------------------------------------------------------ whole run

static void start(carom_batch *b, int64_t seed, int64_t first, int count) {
    const int n = carom_impact_contact_size(b->plan->impact);
    b->run.live = count;
    b->run.done = b->run.ahead_count = 0;
    b->next_draw = 0;
    b->any_unsolved = false;
    for (int c = 0; c < n; c++)
        for (int i = 0; i < count; i++) {
            b->lanes.x[(size_t)c * b->stride + (size_t)i] = b->plan->start[c];
            b->run.total[(size_t)c * b->stride + (size_t)i] = 0;
        }
    for (int i = 0; i < count; i++) {
        b->run.slot[i] = i;
        b->unsolved[i] = b->gained[i] = false;
        b->records[i].rows = 0;
        if (b->plan->draw == CAROM_DRAW_UNIFORM) continue;
        b->draws[i].has_direction = false;
        carom_stream_start_use(&b->draws[i].stream, (uint64_t)seed, (uint64_t)(first + i), CAROM_STREAM_CAPS);
    }
}

// Impulses by slot, whatever the order in which samples left.
static void sort_impulses(carom_batch *b) {
    for (int c = 0; c < carom_impact_contact_size(b->plan->impact); c++) {
        const double *from = b->run.done_total + (size_t)c * b->stride, *slots = b->run.done_slot;
        double *to = b->impulse + (size_t)c * b->stride;
        for (int i = 0; i < b->run.done; i++) to[(int)slots[i]] = from[i];
    }
}

static int list_rows(carom_batch *b, int64_t first, int count, bool all) {
    int rows = 0;
    for (int i = 0; i < count; i++) {
        b->row_slot[rows] = i;
        b->samples[rows] = first + i;
        b->row_steps[rows] = b->steps[i];
        b->row_terminated[rows] = b->terminated[i];
        b->flags[rows] = (b->unsolved[i] ? CAROM_FLAG_UNSOLVED : 0) | (b->gained[i] ? CAROM_FLAG_ENERGY_GAIN : 0);
        rows += all || b->terminated[i];
    }
    return rows;
}

static void collect_rows(carom_batch *b, int64_t first, int count, bool all, carom_batch_result *result) {
    const carom_impact_data *data = carom_impact_get_data(b->plan->impact);
    const int rows = list_rows(b, first, count, all), n = carom_impact_contact_size(b->plan->impact);
    const carom_cone_velocities sums = {data->nv, n, data->velocity, carom_impact_response(b->plan->impact)};
    sort_impulses(b);
    for (int c = 0; rows < count && c < n; c++)
        for (int i = 0; i < rows; i++)
            b->impulse[(size_t)c * b->stride + (size_t)i] = b->impulse[(size_t)c * b->stride + (size_t)b->row_slot[i]];
    b->plan->kernel->velocities(&sums, b->impulse, b->stride, rows, b->v_plus);
    result->rows = (carom_outcome_rows){rows, b->stride, b->v_plus, b->impulse, b->row_steps, b->flags};
    result->samples = b->samples;
    result->is_terminated = b->row_terminated;
}

carom_status carom_batch_run(carom_batch *batch, int64_t seed, int64_t first, int count, int64_t recorded, bool all,
                             const carom_control *control, carom_batch_result *result, carom_error *error) {
    *result = (carom_batch_result){0};
    start(batch, seed, first, count);
    carom_status status = record_live(batch, batch->lanes.x, first, recorded, error);
    if (carom_impact_terminated(batch->plan->impact, batch->plan->start)) end_all(batch, 0, true, result);
    for (int64_t steps = 1; batch->run.live && !status; steps++) {
        result->interrupted = carom_control_cancelled(control);
        if (result->interrupted) return CAROM_OK;
        draw_caps(batch, seed, first);
        solve_steps(batch, result);
        status = record_live(batch, batch->lanes.u_next, first, recorded, error);
        advance(batch, steps, result);
        if (steps == batch->plan->max_steps) end_all(batch, steps, false, result);
    }
    if (!status) collect_rows(batch, first, count, all, result);
    return status;
}
