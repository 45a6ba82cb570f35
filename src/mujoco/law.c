// SPDX-License-Identifier: Apache-2.0
// The law `mujoco`: impacts by MuJoCo's own contact solver, over what its users may choose.
//
// A soft contact resolves an impact in one way for each choice of time step, contact setting and friction cone, and small perturbations of
// the start move the order of events. All these runs together show which part of the set of outcomes a user of the simulator may meet.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "carom/model.h"

// ------------------------------------------------------------------------------------------------------------- options

// The longest time is some time constants of MuJoCo's default contacts, 20 ms.
carom_mujoco_options carom_mujoco_defaults(void) { return (carom_mujoco_options){.perturbations = 10, .perturb = 1e-3, .horizon = 0.1}; }

static void write_defaults(void *options) { *(carom_mujoco_options *)options = carom_mujoco_defaults(); }

#define FIELD(name) offsetof(carom_mujoco_options, name)
static const carom_option option_rows[] = {
    {"perturbations", CAROM_OPTION_INTEGER, FIELD(perturbations), 0, 1e4, "", "10", "perturbed starts besides the scene's own", NULL},
    {"perturb", CAROM_OPTION_REAL, FIELD(perturb), 0, 1, "", "0.001",
     "size of the perturbations: normal numbers times this, of coordinates in m and rad, of velocities over the largest of them", NULL},
    {"seed", CAROM_OPTION_INTEGER, FIELD(seed), 0, CAROM_MOST_SEED, "", "0", "of the perturbations", NULL},
    {"horizon", CAROM_OPTION_REAL, FIELD(horizon), CAROM_POSITIVE, 1e3, "s", "0.1", "longest time of an impact", NULL},
};

// ------------------------------------------------------------------------------------------------------------ settings

// solref: time constant [s] and damping ratio; solimp: least and largest impedance, and width [m].
typedef struct setting {
    const char *name;
    double solref[2], solimp[3];
} setting;

// The first is MuJoCo's default. All are damped at least critically: a spring that bounces is restitution, which the set has none of.
static const setting settings[CAROM_MUJOCO_SETTINGS] = {
    {"default", {0.02, 1}, {0.9, 0.95, 0.001}},
    {"overdamped", {0.02, 4}, {0.9, 0.95, 0.001}},
    {"stiff", {0.005, 1}, {0.9, 0.95, 0.001}},
    {"hard", {0.005, 1}, {0.99, 0.999, 0.0001}},
};
static const double timesteps[CAROM_MUJOCO_TIMESTEPS] = {2e-3, 5e-3, 1e-3, 5e-4, 1e-4};  // the first is MuJoCo's default
static const char *const cones[CAROM_MUJOCO_CONES] = {"pyramidal", "elliptic"};

// Runs from one start.
enum { RUNS = CAROM_MUJOCO_SETTINGS * CAROM_MUJOCO_TIMESTEPS * CAROM_MUJOCO_CONES };

enum { COLUMN_TIMESTEP, COLUMN_SETTING, COLUMN_CONE, COLUMN_START, COLUMN_TIME, COLUMNS };
static const carom_column outcome_columns[COLUMNS] = {
    [COLUMN_TIMESTEP] = {"timestep", CAROM_COLUMN_REAL, 1, "s", "time step", NULL},
    [COLUMN_SETTING] = {"setting", CAROM_COLUMN_TEXT, 1, "", "contact setting: default, overdamped, stiff or hard", NULL},
    [COLUMN_CONE] = {"cone", CAROM_COLUMN_TEXT, 1, "", "friction cone: pyramidal or elliptic", NULL},
    [COLUMN_START] = {"start", CAROM_COLUMN_INTEGER, 1, "", "number of the start; 0 is the scene's own", NULL},
    [COLUMN_TIME] = {"time", CAROM_COLUMN_REAL, 1, "s", "when the impact ended", NULL},
};

static const carom_column result_columns[CAROM_MUJOCO_RESULTS] = {
    [CAROM_MUJOCO_RUNS] = {"runs", CAROM_COLUMN_INTEGER, 1, "", "runs of the simulator", NULL},
    [CAROM_MUJOCO_UNPERTURBED] = {"unperturbed", CAROM_COLUMN_INTEGER, 1, "", "of them, from the scene's own state", NULL},
};

// ---------------------------------------------------------------------------------------------------------------- runs

// Adds the outcome of run number `index` from a start. Contact velocities are those at the end's configuration, as the simulator sees them.
static carom_status add_outcome(carom_table *outcomes, const carom_impact *impact, const carom_model_end *end, int index, int64_t start,
                                carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int own = CAROM_OUTCOME_COLUMNS, tangents = data->tangent_dim;
    const int cone = index % CAROM_MUJOCO_CONES, step = index / CAROM_MUJOCO_CONES % CAROM_MUJOCO_TIMESTEPS;
    const int contacts = index / (CAROM_MUJOCO_CONES * CAROM_MUJOCO_TIMESTEPS);
    carom_status status = carom_outcomes_add(outcomes, impact, end->velocity, NULL, (int64_t)lround(end->time / timesteps[step]), 0, error);
    if (status) return status;
    double *normal = carom_table_reals(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    double *tangent = carom_table_reals(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY);
    for (int i = 0; i < data->contacts; i++) {
        const double *u = end->contact + i * (1 + tangents);
        normal[i] = u[0] + 0.0;
        for (int k = 0; k < tangents; k++) tangent[i * tangents + k] = u[1 + k] + 0.0;
    }
    // An impact that the horizon cut off has not terminated.
    *carom_table_integers(outcomes, CAROM_OUTCOME_TERMINATED) = end->ended;
    *carom_table_reals(outcomes, own + COLUMN_TIMESTEP) = timesteps[step];
    *carom_table_reals(outcomes, own + COLUMN_TIME) = end->time;
    *carom_table_integers(outcomes, own + COLUMN_START) = start;
    status = carom_table_set_text(outcomes, own + COLUMN_SETTING, settings[contacts].name, error);
    return status ? status : carom_table_set_text(outcomes, own + COLUMN_CONE, cones[cone], error);
}

// Runs the model with every combination of time step, contact setting and cone, from the scene's start and from perturbed ones.
static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_mujoco_options *options = call->options;
    const carom_impact_data *data = carom_impact_get_data(call->impact);
    if (!options->model) return carom_fail(error, CAROM_BAD_INPUT, "mujoco needs a model");
    const int nv = data->nv;
    carom_arena arena = {0};
    double *displacement = carom_arena_take(&arena, (size_t)nv, sizeof *displacement);
    double *kick = carom_arena_take(&arena, (size_t)nv, sizeof *kick);
    carom_model_end end = {.velocity = carom_arena_take(&arena, (size_t)nv, sizeof *end.velocity),
                           .contact = carom_arena_take(&arena, (size_t)carom_impact_contact_size(call->impact), sizeof *end.contact)};
    carom_table *outcomes = NULL;
    carom_model_simulator *simulator = NULL;
    carom_status status = arena.failed ? carom_fail_memory(error, "mujoco") : CAROM_OK;
    if (!status) status = carom_outcomes_create(call->impact, outcome_columns, COLUMNS, &outcomes, error);
    if (!status) status = carom_model_simulator_create(options->model, call->impact, &simulator, error);

    // All settings from the scene's own start, then from each perturbed one.
    double fastest = 0;
    for (int j = 0; j < nv; j++) fastest = fmax(fastest, fabs(data->velocity[j]));
    const int64_t starts = options->perturbations + 1;
    for (int64_t start = 0; start < starts && !status && !carom_control_cancelled(call->control); start++) {
        // Each start has a stream of its own, so that it does not depend on how many there are.
        carom_stream stream;
        carom_stream_start(&stream, (uint64_t)options->seed, (uint64_t)start);
        for (int j = 0; j < nv; j++) {
            displacement[j] = start ? options->perturb * carom_stream_normal(&stream) : 0;
            kick[j] = start ? options->perturb * fastest * carom_stream_normal(&stream) : 0;
        }
        // The cone varies fastest, then the time step, then the setting.
        for (int i = 0; i < RUNS && !status; i++) {
            const setting *set = &settings[i / (CAROM_MUJOCO_CONES * CAROM_MUJOCO_TIMESTEPS)];
            const carom_model_run run = {.timestep = timesteps[i / CAROM_MUJOCO_CONES % CAROM_MUJOCO_TIMESTEPS],
                                         .solref = {set->solref[0], set->solref[1]},
                                         .solimp = {set->solimp[0], set->solimp[1], set->solimp[2]},
                                         .elliptic = i % CAROM_MUJOCO_CONES == 1,
                                         .displacement = displacement,
                                         .kick = kick,
                                         .approach_limit = carom_impact_approach_limit(call->impact),
                                         .horizon = options->horizon};
            status = carom_model_simulator_run(simulator, &run, &end, error);
            if (!status) status = add_outcome(outcomes, call->impact, &end, i, start, error);
        }
        if (call->control && call->control->progress) call->control->progress(call->control->user, start + 1, starts);
    }

    // A caller may stop between starts: the unperturbed runs are there from the first one on.
    if (!status) {
        const int64_t runs = carom_table_rows(outcomes);
        *carom_table_integers(call->result, CAROM_RESULT_COLUMNS + CAROM_MUJOCO_RUNS) = runs;
        *carom_table_integers(call->result, CAROM_RESULT_COLUMNS + CAROM_MUJOCO_UNPERTURBED) = runs < RUNS ? runs : RUNS;
        status = carom_law_emit(call, outcomes, error);
        const carom_verdict verdict = runs == RUNS * starts ? CAROM_COMPLETE : CAROM_INTERRUPTED;
        if (!status) status = carom_law_conclude(call, verdict, CAROM_SELECT_ANY, error);
    }
    carom_model_simulator_free(simulator);
    carom_table_free(outcomes);
    carom_arena_free(&arena);
    return status;
}

const carom_law carom_law_mujoco = {
    .name = "mujoco",
    .summary = "MuJoCo's own soft contacts, over time steps, contact settings, cones and starts",
    .source = "Todorov 2014; MuJoCo",
    CAROM_OPTION_TABLE(carom_mujoco_options, option_rows),
    .defaults = write_defaults,
    CAROM_COLUMN_TABLE(outcome, outcome_columns),
    CAROM_COLUMN_TABLE(result, result_columns),
    .resolve = resolve,
};
