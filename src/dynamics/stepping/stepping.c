// SPDX-License-Identifier: Apache-2.0
// Integrator `stepping`: mechanisms in time whose contacts are detected, through flight, sustained contact with friction, stops and
// impacts that a set-valued law decides. This file has its row, and the start and end of a run.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/stepping/columns.h"

// The default impact speed: an approach that a free fall of two steps gives, and at least this [m/s].
#define LEAST_IMPACT_SPEED 1e-3
#define STANDARD_GRAVITY   9.80665

static const char *const force_fields[] = {"normal_force", "gap", "fx", "fy", "fz", "x", "y", "z", NULL};

static const carom_column state_columns[STATE_COLUMNS] = {
    [STATE_TIME] = {"t", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    [STATE_POSITION] = {"qpos", CAROM_COLUMN_REAL, CAROM_WIDTH_POSITION, "m, rad, quaternions", "position", NULL},
    [STATE_VELOCITY] = {"qvel", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "velocity", NULL},
    [STATE_CONTACTS] = {"contacts", CAROM_COLUMN_CONTACTS, 1, "", "closed constraints of the step that ends here", NULL},
    [STATE_FORCES] = {"contact_forces", CAROM_COLUMN_SERIES, FORCE_FIELDS, "N, m",
                      "for each of them: normal force (of a joint's stop a torque [N m]), gap, force on the second geom, point, in world "
                      "axes",
                      force_fields},
    [STATE_KINETIC] = {"kinetic_energy", CAROM_COLUMN_REAL, 1, "J", "kinetic energy", NULL},
    [STATE_POTENTIAL] = {"potential_energy", CAROM_COLUMN_REAL, 1, "J", "of gravity and springs", NULL},
    [STATE_ENERGY] = {"energy", CAROM_COLUMN_REAL, 1, "J", "kinetic and potential", NULL},
    [STATE_ACTUATORS] = {"actuator_work", CAROM_COLUMN_REAL, 1, "J", "of actuators since the start", NULL},
    [STATE_RESISTANCE] = {"damping_work", CAROM_COLUMN_REAL, 1, "J", "of dampers, drag and the implicit terms", NULL},
    [STATE_FRICTION] = {"friction_work", CAROM_COLUMN_REAL, 1, "J", "of friction at contacts and in joints", NULL},
    [STATE_CONTACT] = {"contact_work", CAROM_COLUMN_REAL, 1, "J", "of normal forces: slow closing, and the correction of penetration",
                       NULL},
    [STATE_IMPACT] = {"impact_work", CAROM_COLUMN_REAL, 1, "J", "change of kinetic energy by impacts", NULL},
};

static const carom_column impact_columns[IMPACT_COLUMNS] = {
    [IMPACT_TIME] = {"t", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    [IMPACT_CONTACTS] = {"contacts", CAROM_COLUMN_CONTACTS, 1, "", "that are closed", NULL},
    [IMPACT_OUTCOME] = {"outcome", CAROM_COLUMN_INTEGER, 1, "", "which of the law's outcomes was drawn, from 0; none: it found none", NULL},
    [IMPACT_OUTCOMES] = {"outcomes", CAROM_COLUMN_INTEGER, 1, "", "terminated outcomes of the law", NULL},
    [IMPACT_APPROACH] = {"approach", CAROM_COLUMN_REAL, 1, "m/s", "largest speed of approach", NULL},
    [IMPACT_NORMAL] = {"normal_impulse", CAROM_COLUMN_SERIES, 1, "N s", "normal impulses of the contacts", NULL},
    [IMPACT_POSITION] = {"qpos", CAROM_COLUMN_REAL, CAROM_WIDTH_POSITION, "m, rad, quaternions", "position", NULL},
    [IMPACT_BEFORE] = {"qvel_before", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "velocity before", NULL},
    [IMPACT_AFTER] = {"qvel_after", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "velocity after", NULL},
};

enum {
    RESULT_FAILURES = CAROM_MOTION_RESULT_COLUMNS,
    RESULT_IMPACTS,
    RESULT_SOLVES,
    RESULT_PIVOTS,
    RESULT_RESIDUAL,
    RESULT_PENETRATION,
    RESULT_GAIN,
    RESULT_EXCESS,
    RESULT_TAKEN_BACK,
    RESULT_SCALE,
    RESULT_LAW
};

static const carom_column own_result_columns[] = {
    {"failures", CAROM_COLUMN_INTEGER, 1, "", "contact problems without a verified solution, and impacts without an outcome", NULL},
    {"impact_count", CAROM_COLUMN_INTEGER, 1, "", "impacts", NULL},
    {"contact_problems", CAROM_COLUMN_INTEGER, 1, "", "contact problems that were solved", NULL},
    {"pivots", CAROM_COLUMN_INTEGER, 1, "", "of Lemke's method in all of them", NULL},
    {"max_residual", CAROM_COLUMN_REAL, 1, "", "largest residual of a contact problem", NULL},
    {"max_penetration", CAROM_COLUMN_REAL, 1, "m", "largest penetration of a closed contact at the middle of a step", NULL},
    {"max_energy_gain", CAROM_COLUMN_REAL, 1, "J", "largest kinetic energy that a contact problem or an impact has added", NULL},
    {"max_energy_excess", CAROM_COLUMN_REAL, 1, "J",
     "largest energy above that of the start with the work of actuators and damping, to which contacts may add nothing", NULL},
    {"penetration_work", CAROM_COLUMN_REAL, 1, "J", "energy that taking back penetrations has added", NULL},
    {"energy_scale", CAROM_COLUMN_REAL, 1, "J",
     "what gains are compared with: the largest kinetic energy, the range of the potential energy, or the weight times the length of the "
     "mechanism",
     NULL},
    {"law", CAROM_COLUMN_TEXT, 1, "", "of all impacts", NULL},
};

static void defaults(void *options) {
    *(stepping_options *)options = (stepping_options){.step = 0.001,
                                                      .duration = 10,
                                                      .law = "auto",
                                                      .impact_speed = NAN,
                                                      .locate = true,
                                                      .stabilisation = 0.2,
                                                      .margin = 1e-3,
                                                      .tolerance = 1e-7,
                                                      .energy_limit = 0.05,
                                                      .penetration_limit = 0.1,
                                                      .cone_edges = CAROM_MIN_CONE_EDGES,
                                                      .every = 1,
                                                      .record = ""};
}

static const char *const gyroscopic_names[] = {[STEPPING_START] = "start", [STEPPING_MIDDLE] = "middle", NULL};

static const carom_option option_rows[] = {
    {"step", CAROM_OPTION_REAL, offsetof(stepping_options, step), CAROM_POSITIVE, HUGE_VAL, "s", "0.001", "length of a step", NULL},
    {"duration", CAROM_OPTION_REAL, offsetof(stepping_options, duration), 0, HUGE_VAL, "s", "10", "time to be covered", NULL},
    {"law", CAROM_OPTION_TEXT, offsetof(stepping_options, law), 0, 0, "", "auto",
     "law of all impacts, with its options under `impact`; auto: the law named there, or moreau where there is restitution, or "
     "anitescu-potra",
     NULL},
    {"impact_speed", CAROM_OPTION_REAL, offsetof(stepping_options, impact_speed), CAROM_POSITIVE, HUGE_VAL, "m/s", "auto",
     "contacts that close faster start an impact; slower ones are stopped by the step. auto: 2 g step, and at least 1e-3", NULL},
    {"locate", CAROM_OPTION_SWITCH, offsetof(stepping_options, locate), 0, 0, "", "true",
     "locate the first touches inside a step; with --locate=false impacts stand at its middle", NULL},
    {"stabilisation", CAROM_OPTION_REAL, offsetof(stepping_options, stabilisation), 0, 1, "", "0.2",
     "share of a penetration that a step takes back", NULL},
    {"margin", CAROM_OPTION_REAL, offsetof(stepping_options, margin), 0, 1, "", "0.001",
     "detection looks at least this far, relative to the size of the mechanism", NULL},
    {"tolerance", CAROM_OPTION_REAL, offsetof(stepping_options, tolerance), 1e-12, 1e-2, "", "1e-7",
     "contacts with a smaller gap are closed, relative to the size of the mechanism", NULL},
    {"energy_limit", CAROM_OPTION_REAL, offsetof(stepping_options, energy_limit), CAROM_POSITIVE, HUGE_VAL, "", "0.05",
     "a motion that gains more energy than this share of its scale is not complete", NULL},
    {"penetration_limit", CAROM_OPTION_REAL, offsetof(stepping_options, penetration_limit), CAROM_POSITIVE, HUGE_VAL, "", "0.1",
     "a motion in which a contact is deeper than this share of the thinner geom's half thickness is not complete", NULL},
    {"gyroscopic", CAROM_OPTION_CHOICE, offsetof(stepping_options, gyroscopic), 0, 0, "", "start",
     "velocity at which the forces of a step are evaluated; middle: of free flight, which costs one more evaluation", gyroscopic_names},
    {"cone_edges", CAROM_OPTION_INTEGER, offsetof(stepping_options, cone_edges), CAROM_MIN_CONE_EDGES, CAROM_MAX_CONE_EDGES, "", "4",
     "edges of the friction cones of sustained contacts, even", NULL},
    {"seed", CAROM_OPTION_INTEGER, offsetof(stepping_options, seed), 0, CAROM_MOST_SEED / 2, "", "0", "chooses among outcomes of laws",
     NULL},
    {"record", CAROM_OPTION_TEXT, offsetof(stepping_options, record), 0, 0, "", "none",
     "times of the states in JSON and of an ensemble's tubes, with commas between them; FROM:TO:STEP for many", NULL},
    {"every", CAROM_OPTION_INTEGER, offsetof(stepping_options, every), 1, 1e9, "", "1", "steps between recorded states", NULL},
};

// ---------------------------------------------------------------------------------------------------------------- start

static void take_terms(carom_arena *arena, size_t n, carom_mechanism_terms *terms) {
    double **const squares[] = {&terms->mass, &terms->damping, &terms->stiffness};
    double **const vectors[] = {&terms->force, &terms->actuation, &terms->resistance, &terms->dry_friction};
    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++) *squares[k] = carom_arena_take(arena, n * n, sizeof(double));
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) *vectors[k] = carom_arena_take(arena, n, sizeof(double));
}

static carom_status allocate(stepping *run, carom_error *error) {
    const size_t n = run->n;
    take_terms(&run->arena, n, &run->terms);
    take_terms(&run->arena, n, &run->frozen);
    double **const positions[] = {&run->q, &run->q_middle, &run->q_trial};
    double **const velocities[] = {&run->v, &run->change, &run->start, &run->next, &run->spring, &run->work_vector, &run->before};
    double **const squares[] = {&run->factor, &run->work_square};
    for (size_t k = 0; k < sizeof positions / sizeof *positions; k++)
        *positions[k] = carom_arena_take(&run->arena, (size_t)run->nq, sizeof(double));
    run->activation = carom_arena_take(&run->arena, (size_t)run->mechanism->activations, sizeof(double));
    for (size_t k = 0; k < sizeof velocities / sizeof *velocities; k++) *velocities[k] = carom_arena_take(&run->arena, n, sizeof(double));
    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++) *squares[k] = carom_arena_take(&run->arena, n * n, sizeof(double));
    return run->arena.failed ? carom_fail_memory(error, "stepping") : stepping_reserve(run, 0, 0, error);
}

// Start of a run: the state of the mechanism, displaced for a member of an ensemble.
static carom_status load_start(stepping *run, carom_error *error) {
    const carom_mechanism *mechanism = run->mechanism;
    const carom_motion *motion = run->call->motion;
    memcpy(run->q, mechanism->position, (size_t)run->nq * sizeof *run->q);
    if (motion->displacement > 0) {
        carom_stream stream;
        carom_stream_start(&stream, 0, (uint64_t)motion->member);
        for (size_t i = 0; i < run->n; i++) run->next[i] = carom_stream_normal(&stream);
        mechanism->advance(mechanism->self, run->q, run->next, motion->displacement, run->q);
    }
    memcpy(run->v, mechanism->velocity, run->n * sizeof *run->v);
    if (mechanism->activations) {
        memcpy(run->activation, mechanism->activation, (size_t)mechanism->activations * sizeof *run->activation);
        mechanism->activate(run->workspace, run->activation);
    }
    stepping_look(run);
    run->initial = run->terms.kinetic + run->terms.potential;
    run->scale = fmax(fabs(run->initial), run->terms.kinetic);
    run->balance.kinetic = run->terms.kinetic;
    run->balance.lowest = run->balance.highest = run->terms.potential;
    carom_status status = CAROM_OK;
    if (run->call->resume) status = stepping_resume(run, run->call->resume, error);
    stepping_look(run);
    if (!status && !isfinite(run->terms.kinetic + run->terms.potential))
        status = carom_fail(error, CAROM_BAD_INPUT,
                            run->call->resume ? "resume: the energy of the model is not finite there"
                                              : "state: the energy of the model is not finite there");
    return status;
}

// The error of the energy: how far it is from that of the start and all work since, or how far above that of the start, actuators and
// resistance alone, to which contacts and impacts must not add.
static void note_energy(stepping *run) {
    const stepping_work *work = &run->work;
    stepping_look(run);
    const double energy = run->terms.kinetic + run->terms.potential;
    run->scale = fmax(run->scale, run->terms.kinetic);
    const double most = run->initial + work->actuators + work->resistance;
    const double expected = most + work->friction + work->contact + work->impact;
    run->energy_error = fmax(run->energy_error, fmax(fabs(energy - expected), energy - most));
    run->balance.kinetic = fmax(run->balance.kinetic, run->terms.kinetic);
    run->balance.lowest = fmin(run->balance.lowest, run->terms.potential);
    run->balance.highest = fmax(run->balance.highest, run->terms.potential);
    // What the implicit terms take is larger than what springs lose by them: it does not hide a gain, and is none.
    run->balance.excess = fmax(run->balance.excess, energy - (most - fmin(run->balance.implicit, 0)));
    if (!isfinite(energy)) run->verdict = CAROM_NO_FORCE;
}

// ------------------------------------------------------------------------------------------------------------------ run

static carom_status run_grid(stepping *run, carom_error *error) {
    const carom_control *control = run->call->control;
    // The state from which a run goes on was the last of another one.
    carom_status status = run->call->resume ? CAROM_OK : stepping_record_state(run, error);
    while (!status && run->verdict == CAROM_COMPLETE && run->step < run->steps) {
        if (control && control->progress) control->progress(control->user, run->step, run->steps);
        if (carom_control_cancelled(control)) run->verdict = CAROM_INTERRUPTED;
        if (run->verdict != CAROM_COMPLETE) break;
        run->t = (double)run->step * run->options->step;
        status = stepping_take_step(run, error);
        if (status || run->verdict != CAROM_COMPLETE) break;
        run->t = (double)++run->step * run->options->step;
        run->fresh = false;
        note_energy(run);
        if (run->verdict == CAROM_COMPLETE) status = stepping_record_state(run, error);
    }
    return status;
}

static carom_status conclude(stepping *run, carom_error *error) {
    const carom_motion_call *call = run->call;
    // After a failure the last state is that before the step; its energy may not be a number.
    carom_status status = stepping_fill_state(run, call->final, error);
    if (!status && (run->verdict == CAROM_COMPLETE || run->verdict == CAROM_INTERRUPTED)) status = stepping_save(run, error);
    if (!status) status = stepping_judge(run, error);
    if (!status) status = carom_table_set_text(call->result, RESULT_LAW, run->law.law->name, error);
    *carom_table_integers(call->result, RESULT_FAILURES) = run->failures;
    *carom_table_integers(call->result, RESULT_IMPACTS) = run->impacts;
    *carom_table_integers(call->result, RESULT_SOLVES) = run->solves;
    *carom_table_integers(call->result, RESULT_PIVOTS) = run->pivots;
    *carom_table_reals(call->result, RESULT_RESIDUAL) = run->residual;
    *carom_table_reals(call->result, RESULT_PENETRATION) = run->penetration;
    *carom_table_reals(call->result, RESULT_GAIN) = run->gain;
    *carom_table_reals(call->result, RESULT_EXCESS) = run->balance.excess;
    *carom_table_reals(call->result, RESULT_TAKEN_BACK) = run->balance.taken_back;
    *carom_table_reals(call->result, RESULT_SCALE) = stepping_energy_scale(run);
    return status ? status : carom_motion_conclude(call, run->verdict, run->step, run->t, run->energy_error, run->scale, error);
}

static carom_status run(const carom_motion_call *call, carom_error *error) {
    const carom_mechanism *mechanism = call->motion->mechanism;
    const stepping_options *options = call->options;
    if (options->cone_edges % 2)
        return carom_fail(error, CAROM_BAD_INPUT, "cone_edges: %" PRId64 " is odd; edges come in opposite pairs", options->cone_edges);
    stepping all = {.call = call, .options = options, .mechanism = mechanism, .nq = mechanism->nq, .nv = mechanism->nv};
    all.n = (size_t)mechanism->nv;
    all.impact_speed =
        isnan(options->impact_speed) ? fmax(LEAST_IMPACT_SPEED, 2 * STANDARD_GRAVITY * options->step) : options->impact_speed;
    all.tolerance = options->tolerance * mechanism->length;
    all.margin = options->margin * mechanism->length;
    carom_status status = carom_motion_count_steps(options->duration, options->step, &all.steps, error);
    if (!status)
        status = carom_motion_parse_times(options->record, options->step, all.steps, &all.arena, &all.records, &all.record_count, error);
    if (!status) status = allocate(&all, error);
    if (!status) status = carom_motion_find_law(call, options->law, mechanism->restitution, &all.arena, &all.law, error);
    if (!status) status = stepping_solver_create(&all.solver, (int)options->cone_edges, error);
    if (!status) status = mechanism->open(mechanism->self, &all.workspace, error);
    if (!status && call->states) status = carom_motion_create_states(&carom_integrator_stepping, call->motion, &all.states, error);
    if (!status) status = load_start(&all, error);
    if (!status && !call->resume) status = stepping_note_start(&all, error);
    if (!status) status = run_grid(&all, error);
    if (!status) status = carom_motion_flush(call, all.states, error);
    if (!status) status = conclude(&all, error);
    if (all.workspace) mechanism->close(all.workspace);
    stepping_solver_free(all.solver);
    carom_arena_free(&all.arena);
    carom_arena_free(&all.rows);
    carom_table_free(all.states);
    free(all.named);
    return status;
}

const carom_integrator carom_integrator_stepping = {
    .name = "stepping",
    .summary = "any mechanism through flight, detected contacts with friction, stops and set-valued impacts: time stepping",
    .source = "Anitescu & Potra 1997; Jean & Moreau 1992",
    .form = CAROM_MOTION_MECHANISM,
    CAROM_OPTION_TABLE(stepping_options, option_rows),
    .defaults = defaults,
    CAROM_COLUMN_TABLE(state, state_columns),
    CAROM_COLUMN_TABLE(impact, impact_columns),
    CAROM_COLUMN_TABLE(result, own_result_columns),
    .run = run,
    CAROM_COLUMN_TABLE(saved, stepping_saved_columns),
    .figures = stepping_figures,
};
