// SPDX-License-Identifier: Apache-2.0
// Integrator `inclusion`: a planar mechanism through impacts, sustained contact and accumulations of impacts, over time and accumulated
// impulse (Halm & Posa 2023, section 4). This file has its row, and the start, records and end of a run.
#include "dynamics/inclusion/inclusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A start that lies below a plane by less than this, relative to the system's length, touches.
#define START_TOLERANCE 1e-9
enum { BLOCK_ROWS = 1024 };

// What is recorded.
enum {
    STATE_TIME,
    STATE_IMPULSE,
    STATE_POSITION,
    STATE_VELOCITY,
    STATE_GAP,
    STATE_NORMAL_FORCE,
    STATE_TANGENT_FORCE,
    STATE_RATE,
    STATE_IMPULSE_RATE,
    STATE_ENERGY,
    STATE_WORK,
    STATE_COLUMNS
};

static const carom_column state_columns[STATE_COLUMNS] = {
    [STATE_TIME] = {"t", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    [STATE_IMPULSE] = {"s", CAROM_COLUMN_REAL, 1, "",
                       "independent variable: time in s, plus accumulated normal impulse in N s, of impacts and of sustained contact",
                       NULL},
    [STATE_POSITION] = {"qpos", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m, rad", "coordinates", NULL},
    [STATE_VELOCITY] = {"qvel", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "their rates", NULL},
    [STATE_GAP] = {"gap", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "m", "distances from the contact planes", NULL},
    [STATE_NORMAL_FORCE] = {"normal_force", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "N", "of sustained contact", NULL},
    [STATE_TANGENT_FORCE] = {"tangent_force", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "N", "of sustained contact", NULL},
    [STATE_RATE] = {"time_rate", CAROM_COLUMN_REAL, 1, "", "dt/ds = 1/(1 + |lambda_n|_1); 0 in an impact", NULL},
    [STATE_IMPULSE_RATE] = {"impulse_rate", CAROM_COLUMN_REAL, 1, "", "accumulated normal impulse over s; 1 in an impact", NULL},
    [STATE_ENERGY] = {"energy", CAROM_COLUMN_REAL, 1, "J", "kinetic and potential", NULL},
    [STATE_WORK] = {"work", CAROM_COLUMN_REAL, 1, "J", "of actuators, dampers and fluids since the start", NULL},
};

enum {
    IMPACT_TIME,
    IMPACT_S,
    IMPACT_CONTACTS,
    IMPACT_OUTCOME,
    IMPACT_OUTCOMES,
    IMPACT_KIND,
    IMPACT_NORMAL,
    IMPACT_TANGENT,
    IMPACT_BEFORE,
    IMPACT_AFTER,
    IMPACT_POSITION,
    IMPACT_COLUMNS
};

static const carom_column impact_columns[IMPACT_COLUMNS] = {
    [IMPACT_TIME] = {"t", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    [IMPACT_S] = {"s", CAROM_COLUMN_REAL, 1, "", "independent variable just before", NULL},
    [IMPACT_CONTACTS] = {"contacts", CAROM_COLUMN_CONTACTS, 1, "", "that touch", NULL},
    [IMPACT_OUTCOME] = {"outcome", CAROM_COLUMN_INTEGER, 1, "", "which of the law's outcomes was drawn, from 0", NULL},
    [IMPACT_OUTCOMES] = {"outcomes", CAROM_COLUMN_INTEGER, 1, "", "terminated outcomes of the law", NULL},
    [IMPACT_KIND] = {"kind", CAROM_COLUMN_TEXT, 1, "", "collision, or without-collision (Painleve)", NULL},
    [IMPACT_NORMAL] = {"normal_impulse", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "N s", "normal impulses", NULL},
    [IMPACT_TANGENT] = {"tangent_impulse", CAROM_COLUMN_REAL, CAROM_WIDTH_TANGENTS, "N s", "tangential impulses", NULL},
    [IMPACT_BEFORE] = {"qvel_before", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "velocity before", NULL},
    [IMPACT_AFTER] = {"qvel_after", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "velocity after", NULL},
    [IMPACT_POSITION] = {"qpos", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m, rad", "coordinates", NULL},
};

enum {
    RESULT_ACCUMULATION_T = CAROM_MOTION_RESULT_COLUMNS,
    RESULT_ACCUMULATION_S,
    RESULT_ACCUMULATIONS,
    RESULT_IMPACTS,
    RESULT_SWITCHES,
    RESULT_PENETRATION,
    RESULT_UNRESOLVED_HOPS
};

static const carom_column own_result_columns[] = {
    {"accumulation_t", CAROM_COLUMN_REAL, 1, "s", "time of the first accumulation of impacts", NULL},
    {"accumulation_s", CAROM_COLUMN_REAL, 1, "", "its independent variable", NULL},
    {"accumulation_count", CAROM_COLUMN_INTEGER, 1, "", "accumulations of impacts that were passed", NULL},
    {"impact_count", CAROM_COLUMN_INTEGER, 1, "", "impacts", NULL},
    {"switch_count", CAROM_COLUMN_INTEGER, 1, "", "times at which contacts touched, opened, stuck or slipped", NULL},
    {"max_penetration", CAROM_COLUMN_REAL, 1, "m", "largest penetration at the ends of steps", NULL},
    {"unresolved_hops", CAROM_COLUMN_INTEGER, 1, "",
     "hops below double precision: so low that their contacts were closed at once, or so short that the time stood still", NULL},
};

static const carom_result_group accumulation = {"accumulation", RESULT_ACCUMULATION_T, 2};

static void defaults(void *options) {
    *(inclusion_options *)options =
        (inclusion_options){.step = 0.001, .duration = 10, .law = "auto", .tolerance = 1e-11, .seed = 0, .max_impacts = 100000, .every = 1};
}

static const carom_option option_rows[] = {
    {"step", CAROM_OPTION_REAL, offsetof(inclusion_options, step), CAROM_POSITIVE, HUGE_VAL, "s", "0.001",
     "grid step: of recorded states, and the largest of the integration", NULL},
    {"duration", CAROM_OPTION_REAL, offsetof(inclusion_options, duration), 0, HUGE_VAL, "s", "10", "time to be covered", NULL},
    {"law", CAROM_OPTION_TEXT, offsetof(inclusion_options, law), 0, 0, "", "auto",
     "law of all impacts, with its options under `impact`; auto: the law named there, or moreau where there is restitution, or "
     "anitescu-potra",
     NULL},
    {"tolerance", CAROM_OPTION_REAL, offsetof(inclusion_options, tolerance), 1e-14, 1e-2, "", "1e-11",
     "relative error of a step of smooth motion", NULL},
    {"seed", CAROM_OPTION_INTEGER, offsetof(inclusion_options, seed), 0, CAROM_MOST_SEED / 2, "", "0",
     "chooses among outcomes of laws and among modes of contact", NULL},
    {"max_impacts", CAROM_OPTION_INTEGER, offsetof(inclusion_options, max_impacts), 1, 1e9, "", "100000",
     "impacts at which the run ends as a Zeno sequence", NULL},
    {"every", CAROM_OPTION_INTEGER, offsetof(inclusion_options, every), 1, 1e9, "", "1", "grid steps between recorded states", NULL},
};

// ----------------------------------------------------------------------------------------------------------- recording

void inclusion_fill_state(inclusion_loop *loop, bool in_impact, carom_table *table) {
    inclusion *run = &loop->run;
    const size_t nv = (size_t)run->nv;
    double total = 0;
    if (inclusion_assemble(run, run->y)) inclusion_solve_modes(run, run->mode);
    for (int i = 0; i < run->contacts; i++) {
        carom_table_reals(table, STATE_NORMAL_FORCE)[i] = run->force[2 * i] + 0.0;
        carom_table_reals(table, STATE_TANGENT_FORCE)[i] = run->force[2 * i + 1] + 0.0;
        total += run->force[2 * i];
    }
    // dt/ds, from s' = 1 + |lambda_n|_1.
    const double rate = in_impact ? 0 : 1 / (1 + total);
    *carom_table_reals(table, STATE_TIME) = run->t;
    *carom_table_reals(table, STATE_IMPULSE) = run->y[2 * nv];
    memcpy(carom_table_reals(table, STATE_POSITION), run->y, nv * sizeof *run->y);
    memcpy(carom_table_reals(table, STATE_VELOCITY), run->y + nv, nv * sizeof *run->y);
    memcpy(carom_table_reals(table, STATE_GAP), run->terms.gap, (size_t)run->contacts * sizeof *run->y);
    *carom_table_reals(table, STATE_RATE) = rate;
    *carom_table_reals(table, STATE_IMPULSE_RATE) = 1 - rate;
    *carom_table_reals(table, STATE_ENERGY) = inclusion_energy(run, run->y + nv);
    *carom_table_reals(table, STATE_WORK) = run->y[2 * nv + 1] + 0.0;
}

carom_status inclusion_record_state(inclusion_loop *loop, bool in_impact, carom_error *error) {
    if (!loop->states) return CAROM_OK;
    carom_status status = carom_table_add_row(loop->states, error);
    if (status) return status;
    inclusion_fill_state(loop, in_impact, loop->states);
    return carom_table_rows(loop->states) < BLOCK_ROWS ? CAROM_OK : carom_motion_flush(loop->run.call, loop->states, error);
}

carom_status inclusion_record_impact(inclusion_loop *loop, const char *kind, carom_error *error) {
    const inclusion *run = &loop->run;
    const inclusion_outcome *outcome = &loop->outcome;
    carom_table *table = run->call->impacts;
    int list[INCLUSION_MOST_CONTACTS], count = 0;
    carom_status status = carom_table_add_row(table, error);
    for (int i = 0; i < run->contacts; i++)
        if (outcome->contacts & inclusion_bit(i)) list[count++] = i;
    if (!status) status = carom_table_set_list(table, IMPACT_CONTACTS, list, count, error);
    if (!status) status = carom_table_set_text(table, IMPACT_KIND, kind, error);
    if (status) return status;
    const size_t size = (size_t)run->nv * sizeof *run->y;
    *carom_table_reals(table, IMPACT_TIME) = run->t;
    *carom_table_reals(table, IMPACT_S) = run->y[2 * run->nv];
    *carom_table_integers(table, IMPACT_OUTCOME) = outcome->index;
    *carom_table_integers(table, IMPACT_OUTCOMES) = outcome->count;
    for (int i = 0; i < run->contacts; i++) {
        carom_table_reals(table, IMPACT_NORMAL)[i] = outcome->impulse[2 * i];
        carom_table_reals(table, IMPACT_TANGENT)[i] = outcome->impulse[2 * i + 1];
    }
    memcpy(carom_table_reals(table, IMPACT_BEFORE), run->y + run->nv, size);
    memcpy(carom_table_reals(table, IMPACT_AFTER), outcome->velocity, size);
    memcpy(carom_table_reals(table, IMPACT_POSITION), run->y, size);
    loop->impacts++;
    return CAROM_OK;
}

// ----------------------------------------------------------------------------------------------------- start and end

static carom_status allocate(inclusion_loop *loop, carom_error *error) {
    inclusion *run = &loop->run;
    carom_system_terms *terms = &run->terms;
    const size_t nv = (size_t)run->nv, m = (size_t)run->contacts, y = (size_t)inclusion_size(run), rows = 2 * m;
    const struct {
        size_t size;
        double **arrays[7];
    } rooms[] = {{y, {&run->y, &run->next, &run->trial, &run->error}},
                 {7 * y, {&run->stages}},
                 {nv, {&terms->bias, &terms->actuation, &terms->resistance, &run->smooth, &run->acceleration, &loop->outcome.velocity}},
                 {nv * nv, {&terms->mass, &run->factor}},
                 {m, {&terms->gap, &terms->normal_drift, &terms->tangent_drift, &run->rate_before, &run->rate_located}},
                 {3 * m, {&run->before, &run->located}},
                 {m * nv, {&terms->normal, &terms->tangent}},
                 {rows, {&run->free, &run->force, &loop->outcome.impulse}},
                 {rows * nv, {&run->response}},
                 {rows * rows, {&run->delassus}},
                 {2 * rows * rows + rows + 2 * m * nv + nv, {&run->work}}};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        for (double **const *array = rooms[i].arrays; *array; array++)
            **array = carom_arena_take(&run->arena, rooms[i].size, sizeof(double));
    for (int i = 0; i < INCLUSION_RECORDS; i++) run->records[i].state = carom_arena_take(&run->arena, 2 * nv, sizeof(double));
    run->mode = carom_arena_take(&run->arena, m, sizeof *run->mode);
    run->exchanges = carom_arena_take(&run->arena, rows, sizeof *run->exchanges);
    return run->arena.failed ? carom_fail_memory(error, "inclusion") : CAROM_OK;
}

// The start, with nothing closed yet: the first `settle` finds out what touches.
static carom_status load_start(inclusion_loop *loop, carom_error *error) {
    inclusion *run = &loop->run;
    const carom_motion *motion = run->call->motion;
    const size_t nv = (size_t)run->nv;
    carom_motion_place(motion, run->y);
    memcpy(run->y + nv, run->system->velocity, nv * sizeof *run->y);
    for (int i = 0; i < run->contacts; i++) run->mode[i] = INCLUSION_OPEN;
    carom_stream_start_use(&run->choices, (uint64_t)(run->options->seed + motion->member), 0, CAROM_STREAM_SELECTION);
    if (!inclusion_assemble(run, run->y)) return carom_fail(error, CAROM_BAD_INPUT, "state: the model has no finite mass matrix there");
    for (int i = 0; i < run->contacts; i++) {
        if (!(run->terms.gap[i] < 0)) continue;
        if (motion->displacement == 0 && run->terms.gap[i] < -START_TOLERANCE * run->system->length)
            return carom_fail(error, CAROM_BAD_INPUT, "contacts: contact %d lies %.9g m below its plane at the start", i + 1,
                              -run->terms.gap[i]);
        run->closed |= inclusion_bit(i);
    }
    // A displaced start that penetrates is moved out of its planes. Only the positions: nothing sticks yet, and no speed has a scale.
    memcpy(run->trial, run->y + nv, nv * sizeof *run->y);
    if (run->closed) inclusion_project(run, run->y);
    memcpy(run->y + nv, run->trial, nv * sizeof *run->y);
    run->closed = 0;
    inclusion_assemble(run, run->y);
    loop->initial = loop->energy = inclusion_energy(run, run->y + nv);
    run->substep = run->options->step;
    return CAROM_OK;
}

static carom_status run(const carom_motion_call *call, carom_error *error) {
    const carom_system *system = call->motion->system;
    const inclusion_options *options = call->options;
    if (system->tangent_dim != 1)
        return carom_fail(error, CAROM_UNSUPPORTED, "contacts: inclusion is for planar scenes whose contacts have a tangent");
    if (system->contacts > INCLUSION_MOST_CONTACTS)
        return carom_fail(error, CAROM_UNSUPPORTED, "contacts: inclusion takes up to %d contacts", INCLUSION_MOST_CONTACTS);
    inclusion_loop loop = {.run = {.call = call, .options = options, .system = system, .nv = system->nv, .contacts = system->contacts}};
    inclusion *motion = &loop.run;
    carom_status status = carom_motion_count_steps(options->duration, options->step, &loop.steps, error);
    if (!status) status = allocate(&loop, error);
    if (!status)
        status = carom_motion_find_law(call, options->law, carom_max_abs((size_t)system->contacts, system->restitution), &motion->arena,
                                       &motion->law, error);
    if (!status) status = system->open(system->self, &motion->workspace, error);
    if (!status && call->states) status = carom_motion_create_states(&carom_integrator_inclusion, call->motion, &loop.states, error);
    if (!status) status = load_start(&loop, error);
    if (!status) status = inclusion_run_grid(&loop, error);
    if (!status) status = carom_motion_flush(call, loop.states, error);
    // The end.
    if (!status) {
        inclusion_fill_state(&loop, false, call->final);
        if (loop.accumulations) {
            *carom_table_reals(call->result, RESULT_ACCUMULATION_T) = loop.accumulation[0];
            *carom_table_reals(call->result, RESULT_ACCUMULATION_S) = loop.accumulation[1];
        }
        *carom_table_integers(call->result, RESULT_ACCUMULATIONS) = loop.accumulations;
        *carom_table_integers(call->result, RESULT_IMPACTS) = loop.impacts;
        *carom_table_integers(call->result, RESULT_SWITCHES) = loop.switches;
        *carom_table_reals(call->result, RESULT_PENETRATION) = loop.penetration;
        *carom_table_integers(call->result, RESULT_UNRESOLVED_HOPS) = loop.unresolved_hops;
        status = carom_motion_limit_energy(call, loop.energy_error, loop.initial, loop.kinetic, motion->t, &loop.verdict, error);
    }
    if (!status) {
        status = carom_motion_conclude(call, loop.verdict, loop.step, motion->t, loop.energy_error, loop.initial, error);
    }
    if (motion->workspace) system->close(motion->workspace);
    carom_arena_free(&motion->arena);
    carom_table_free(loop.states);
    return status;
}

const carom_integrator carom_integrator_inclusion = {
    .name = "inclusion",
    .summary = "planar mechanisms through impacts, sustained contact and Zeno: the time-augmented inclusion",
    .source = "Halm & Posa 2023, section 4; Genot & Brogliato 1999 for impacts without collision",
    .form = CAROM_MOTION_SYSTEM,
    CAROM_OPTION_TABLE(inclusion_options, option_rows),
    .defaults = defaults,
    CAROM_COLUMN_TABLE(state, state_columns),
    CAROM_COLUMN_TABLE(impact, impact_columns),
    CAROM_COLUMN_TABLE(result, own_result_columns),
    .result_groups = &accumulation,
    .result_group_count = 1,
    .run = run,
    .describe = inclusion_describe,
    .figures = inclusion_figures,
    .trace = inclusion_trace,
    .trace_width = INCLUSION_TRACE_WIDTH,
};
