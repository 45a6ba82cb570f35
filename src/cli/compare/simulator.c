// SPDX-License-Identifier: Apache-2.0
// The law `mujoco`: impacts by MuJoCo's own contact solver, over what its users may choose.
#include "cli/compare/simulator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Some time constants of MuJoCo's default contacts, 20 ms.
#define DEFAULT_HORIZON 0.1

typedef struct mujoco_options {
    int64_t perturbations, seed;
    double perturb, horizon;
    carom_model *model;
} mujoco_options;

static void defaults(void *options) {
    *(mujoco_options *)options = (mujoco_options){.perturbations = 10, .perturb = 1e-3, .horizon = DEFAULT_HORIZON};
}

#define FIELD(name) offsetof(mujoco_options, name)
enum { ROWS = 4 };
static const carom_option rows[ROWS] = {
    {"perturbations", CAROM_OPTION_INTEGER, FIELD(perturbations), 0, 1e4, "", "10", "perturbed starts besides the scene's own", NULL},
    {"perturb", CAROM_OPTION_REAL, FIELD(perturb), 0, 1, "", "0.001",
     "size of the perturbations: normal numbers times this, of coordinates in m and rad, of velocities over the largest of them", NULL},
    {"seed", CAROM_OPTION_INTEGER, FIELD(seed), 0, CAROM_MOST_SEED, "", "0", "of the perturbations", NULL},
    {"horizon", CAROM_OPTION_REAL, FIELD(horizon), CAROM_POSITIVE, 1e3, "s", "0.1", "longest time of an impact", NULL},
};

// ------------------------------------------------------------------------------------------------------------ settings

typedef struct setting {
    const char *name;
    double solref[2], solimp[3];
} setting;

// The first is MuJoCo's default. All are damped at least critically: a spring that bounces is restitution, which the set has none of.
static const setting settings[CLI_MUJOCO_SETTINGS] = {
    {"default", {0.02, 1}, {0.9, 0.95, 0.001}},
    {"overdamped", {0.02, 4}, {0.9, 0.95, 0.001}},
    {"stiff", {0.005, 1}, {0.9, 0.95, 0.001}},
    {"hard", {0.005, 1}, {0.99, 0.999, 0.0001}},
};
static const double timesteps[CLI_MUJOCO_TIMESTEPS] = {2e-3, 5e-3, 1e-3, 5e-4, 1e-4};  // the first is MuJoCo's default
static const char *const cones[CLI_MUJOCO_CONES] = {"pyramidal", "elliptic"};

// Runs from one start.
enum { RUNS = CLI_MUJOCO_SETTINGS * CLI_MUJOCO_TIMESTEPS * CLI_MUJOCO_CONES };

enum { COLUMN_TIMESTEP, COLUMN_SETTING, COLUMN_CONE, COLUMN_START, COLUMN_TIME, COLUMNS };
static const carom_column outcome_columns[COLUMNS] = {
    [COLUMN_TIMESTEP] = {"timestep", CAROM_COLUMN_REAL, 1, "s", "time step", NULL},
    [COLUMN_SETTING] = {"setting", CAROM_COLUMN_TEXT, 1, "", "contact setting: default, overdamped, stiff or hard", NULL},
    [COLUMN_CONE] = {"cone", CAROM_COLUMN_TEXT, 1, "", "friction cone: pyramidal or elliptic", NULL},
    [COLUMN_START] = {"start", CAROM_COLUMN_INTEGER, 1, "", "number of the start; 0 is the scene's own", NULL},
    [COLUMN_TIME] = {"time", CAROM_COLUMN_REAL, 1, "s", "when the impact ended", NULL},
};

static const carom_column result_columns[CLI_MUJOCO_RESULTS] = {
    [CLI_MUJOCO_RUNS] = {"runs", CAROM_COLUMN_INTEGER, 1, "", "runs of the simulator", NULL},
    [CLI_MUJOCO_UNPERTURBED] = {"unperturbed", CAROM_COLUMN_INTEGER, 1, "", "of them, from the scene's own state", NULL},
};

// ---------------------------------------------------------------------------------------------------------------- runs

typedef struct runner {
    const carom_law_call *call;
    const mujoco_options *options;
    carom_model_simulator *simulator;
    carom_table *outcomes;
    double *displacement, *kick;  // [nv]
    carom_model_end end;
    double largest;  // of the velocities before the impact
} runner;

static void perturb(runner *r, int64_t start) {
    const int nv = carom_impact_sizes(r->call->impact).nv;
    carom_stream stream;
    carom_stream_start(&stream, (uint64_t)r->options->seed, (uint64_t)start);
    for (int j = 0; j < nv; j++) {
        r->displacement[j] = start ? r->options->perturb * carom_stream_normal(&stream) : 0;
        r->kick[j] = start ? r->options->perturb * r->largest * carom_stream_normal(&stream) : 0;
    }
}

// Contact velocities are those at the end's configuration, as the simulator sees them.
static carom_status add_outcome(runner *r, const setting *set, double timestep, int cone, int64_t start, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(r->call->impact);
    carom_table *table = r->outcomes;
    const int own = CAROM_OUTCOME_COLUMNS, stride = 1 + data->tangent_dim;
    carom_status status =
        carom_outcomes_add(table, r->call->impact, r->end.velocity, NULL, (int64_t)lround(r->end.time / timestep), 0, error);
    if (status) return status;
    double *normal = carom_table_reals(table, CAROM_OUTCOME_NORMAL_VELOCITY),
           *tangent = carom_table_reals(table, CAROM_OUTCOME_TANGENT_VELOCITY);
    for (int i = 0; i < data->contacts; i++) {
        normal[i] = r->end.contact[i * stride] + 0.0;
        for (int k = 0; k < data->tangent_dim; k++) tangent[i * data->tangent_dim + k] = r->end.contact[i * stride + 1 + k] + 0.0;
    }
    *carom_table_integers(table, CAROM_OUTCOME_TERMINATED) = r->end.ended;
    *carom_table_reals(table, own + COLUMN_TIMESTEP) = timestep;
    *carom_table_reals(table, own + COLUMN_TIME) = r->end.time;
    *carom_table_integers(table, own + COLUMN_START) = start;
    status = carom_table_set_text(table, own + COLUMN_SETTING, set->name, error);
    return status ? status : carom_table_set_text(table, own + COLUMN_CONE, cones[cone], error);
}

static carom_status run_one(runner *r, int index, int64_t start, carom_error *error) {
    const int cone = index % CLI_MUJOCO_CONES, step = index / CLI_MUJOCO_CONES % CLI_MUJOCO_TIMESTEPS;
    const setting *set = &settings[index / (CLI_MUJOCO_CONES * CLI_MUJOCO_TIMESTEPS)];
    const carom_model_run run = {.timestep = timesteps[step],
                                 .solref = {set->solref[0], set->solref[1]},
                                 .solimp = {set->solimp[0], set->solimp[1], set->solimp[2]},
                                 .elliptic = cone == 1,
                                 .displacement = r->displacement,
                                 .kick = r->kick,
                                 .approach_limit = carom_impact_approach_limit(r->call->impact),
                                 .horizon = r->options->horizon};
    const carom_status status = carom_model_simulator_run(r->simulator, &run, &r->end, error);
    return status ? status : add_outcome(r, set, timesteps[step], cone, start, error);
}

static carom_status run_all(runner *r, carom_error *error) {
    const carom_control *control = r->call->control;
    const int64_t starts = r->options->perturbations + 1;
    carom_status status = CAROM_OK;
    for (int64_t start = 0; start < starts && !status && !carom_control_cancelled(control); start++) {
        perturb(r, start);
        for (int i = 0; i < RUNS && !status; i++) status = run_one(r, i, start, error);
        if (control && control->progress) control->progress(control->user, start + 1, starts);
    }
    return status;
}

static carom_status conclude(const runner *r, carom_error *error) {
    const int64_t runs = carom_table_rows(r->outcomes);
    *carom_table_integers(r->call->result, CAROM_RESULT_COLUMNS + CLI_MUJOCO_RUNS) = runs;
    *carom_table_integers(r->call->result, CAROM_RESULT_COLUMNS + CLI_MUJOCO_UNPERTURBED) = runs < RUNS ? runs : RUNS;
    const carom_status status = carom_law_emit(r->call, r->outcomes, error);
    const bool all = runs == RUNS * (r->options->perturbations + 1);
    return status ? status : carom_law_conclude(r->call, all ? CAROM_COMPLETE : CAROM_INTERRUPTED, CAROM_SELECT_ANY, error);
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(call->impact);
    runner r = {.call = call, .options = call->options};
    if (!r.options->model) return carom_fail(error, CAROM_BAD_INPUT, "mujoco needs a model");
    const size_t nv = (size_t)data->nv;
    double *room = calloc(3 * nv + (size_t)carom_impact_contact_size(call->impact), sizeof *room);
    if (!room) return carom_fail_memory(error, "mujoco");
    r.displacement = room;
    r.kick = room + nv;
    r.end = (carom_model_end){.velocity = room + 2 * nv, .contact = room + 3 * nv};
    for (size_t j = 0; j < nv; j++) r.largest = fmax(r.largest, fabs(data->velocity[j]));
    carom_status status = carom_outcomes_create(call->impact, outcome_columns, COLUMNS, &r.outcomes, error);
    if (!status) status = carom_model_simulator_create(r.options->model, call->impact, &r.simulator, error);
    if (!status) status = run_all(&r, error);
    if (!status) status = conclude(&r, error);
    carom_model_simulator_free(r.simulator);
    carom_table_free(r.outcomes);
    free(room);
    return status;
}

const carom_law cli_mujoco_law = {
    .name = "mujoco",
    .summary = "MuJoCo's own soft contacts, over time steps, contact settings, cones and starts",
    .source = "Todorov 2014; MuJoCo 2.2.2",
    .options = rows,
    .option_count = ROWS,
    .options_size = sizeof(mujoco_options),
    .defaults = defaults,
    .outcome_columns = outcome_columns,
    .outcome_column_count = COLUMNS,
    .result_columns = result_columns,
    .result_column_count = CLI_MUJOCO_RESULTS,
    .resolve = resolve,
};

// ------------------------------------------------------------------------------------------------------------- asking

// What the command line says of the simulator: its flags are the law's options; `--seed` is the samples', too.
static carom_status prepare(const cli_comparison *c, mujoco_options *options, carom_error *error) {
    defaults(options);
    for (int i = 0; i < ROWS; i++) {
        const char *value = cli_value(c->arguments, rows[i].name);
        carom_error inner;
        if (value && carom_option_set(&rows[i], options, value, &inner)) return cli_pass_on(&rows[i], &inner, error);
    }
    options->model = carom_scene_model(c->scene);
    if (options->model) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "--simulator: %s has no 'model' that MuJoCo could simulate", carom_scene_path(c->scene));
}

static carom_status ask(cli_comparison *c, const mujoco_options *options, const carom_control *control, carom_result_writer *writer,
                        cli_run *run, carom_error *error) {
    carom_sink file;
    carom_status status = writer ? carom_result_writer_open_law(writer, run->law, options, &file, error) : CAROM_OK;
    const cli_question question = {
        .arguments = c->arguments, .scene = c->scene, .law = run->law, .control = control, .keep_outcomes = true, .collect_points = true};
    if (!status) status = cli_ask_law(&question, options, writer ? &file : NULL, run, error);
    if (!status && writer) status = carom_result_writer_close_law(writer, run->answer.result, error);
    return status;
}

carom_status cli_check_simulator(const cli_comparison *c, carom_error *error) {
    const char *name = cli_value(c->arguments, "simulator");
    mujoco_options options;
    if (!name) {
        for (int i = 0; i < ROWS; i++)
            if (strcmp(rows[i].name, "seed") != 0 && cli_given(c->arguments, rows[i].name))
                return carom_fail(error, CAROM_BAD_INPUT, "--%s belongs to --simulator", rows[i].name);
        return CAROM_OK;
    }
    if (strcmp(name, cli_mujoco_law.name) != 0)
        return carom_fail(error, CAROM_BAD_INPUT, "--simulator: '%.60s' is not a simulator; there is 'mujoco'", name);
    return prepare(c, &options, error);
}

carom_status cli_simulate_impact(cli_comparison *c, const carom_control *control, carom_result_writer *writer, carom_error *error) {
    mujoco_options options;
    cli_run *run = &c->runs[c->count];
    *run = (cli_run){.law = &cli_mujoco_law};
    carom_status status = prepare(c, &options, error);
    if (!status) status = ask(c, &options, control, writer, run, error);
    if (!status) status = cli_coverage_measure(c, run, control, error);
    if (status)
        cli_run_release(run);
    else
        c->count++;
    return status;
}
