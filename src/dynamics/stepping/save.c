// SPDX-License-Identifier: Apache-2.0
// The state of a run between two steps, with all that the next step depends on: a run that goes on from it is the same, bit by bit.
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/stepping/columns.h"
#include "dynamics/stepping/solver.h"

// Sizes of a basis and of impulses beyond which a file is not one of ours, and would only take memory.
enum { MOST_BASIS = STEPPING_MOST_PIVOTED, MOST_ROWS = CAROM_MAX_LCP };

enum { KEY_FIELDS = 4, WORKS = 5, EXTREMES = 14, COUNTERS = 4 };

const carom_column stepping_saved_columns[SAVED_COLUMNS] = {
    [SAVED_STEP] = {"step", CAROM_COLUMN_REAL, 1, "s", "length of a step", NULL},
    [SAVED_COUNT] = {"steps", CAROM_COLUMN_INTEGER, 1, "", "steps done", NULL},
    [SAVED_POSITION] = {"qpos", CAROM_COLUMN_REAL, CAROM_WIDTH_POSITION, "m, rad, quaternions", "position", NULL},
    [SAVED_VELOCITY] = {"qvel", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "velocity", NULL},
    [SAVED_ACTIVATION] = {"activation", CAROM_COLUMN_SERIES, 1, "", "of actuators", NULL},
    [SAVED_CLOSED] = {"closed", CAROM_COLUMN_SERIES, KEY_FIELDS, "", "closed constraints: kind, first, second, ordinal", NULL},
    [SAVED_BASIS] = {"basis", CAROM_COLUMN_SERIES, 1, "", "of the last contact problem", NULL},
    [SAVED_IMPULSE] = {"impulse", CAROM_COLUMN_SERIES, 1, "N s, N m s", "of the last contact problem", NULL},
    [SAVED_WORK] = {"work", CAROM_COLUMN_REAL, WORKS, "J", "of actuators, resistance, friction, contacts, impacts", NULL},
    [SAVED_EXTREMES] =
        {"extremes", CAROM_COLUMN_REAL, EXTREMES, "",
         "initial energy; scale of energies; largest energy error, penetration, energy gain and residual; largest kinetic, least and "
         "largest potential energy; largest excess of energy; work of implicit terms; energy by penetrations and by contacts; depth",
         NULL},
    [SAVED_COUNTERS] = {"counters", CAROM_COLUMN_INTEGER, COUNTERS, "", "failures, impacts, contact problems, pivots", NULL},
};

// The numbers of a run that are saved one after the other.
static void list_work(stepping *run, double *list[WORKS]) {
    stepping_work *work = &run->work;
    memcpy(list, (double *[]){&work->actuators, &work->resistance, &work->friction, &work->contact, &work->impact}, WORKS * sizeof *list);
}
static void list_extremes(stepping *run, double *list[EXTREMES]) {
    stepping_balance *balance = &run->balance;
    memcpy(list,
           (double *[]){&run->initial, &run->scale, &run->energy_error, &run->penetration, &run->gain, &run->residual, &balance->kinetic,
                        &balance->lowest, &balance->highest, &balance->excess, &balance->implicit, &balance->taken_back, &balance->added,
                        &balance->depth},
           EXTREMES * sizeof *list);
}
static void list_counters(stepping *run, int64_t *list[COUNTERS]) {
    memcpy(list, (int64_t *[]){&run->failures, &run->impacts, &run->solves, &run->pivots}, COUNTERS * sizeof *list);
}

carom_status stepping_save(stepping *run, carom_error *error) {
    carom_table *table = run->call->saved;
    const stepping_solver *solver = run->solver;
    double *work[WORKS], *extremes[EXTREMES];
    int64_t *counters[COUNTERS];
    carom_status status = carom_table_add_row(table, error);
    if (status) return status;
    *carom_table_reals(table, SAVED_STEP) = run->options->step;
    *carom_table_integers(table, SAVED_COUNT) = run->step;
    memcpy(carom_table_reals(table, SAVED_POSITION), run->q, (size_t)run->nq * sizeof *run->q);
    memcpy(carom_table_reals(table, SAVED_VELOCITY), run->v, run->n * sizeof *run->v);
    list_work(run, work);
    list_extremes(run, extremes);
    list_counters(run, counters);
    for (int k = 0; k < WORKS; k++) carom_table_reals(table, SAVED_WORK)[k] = *work[k];
    for (int k = 0; k < EXTREMES; k++) carom_table_reals(table, SAVED_EXTREMES)[k] = *extremes[k];
    for (int k = 0; k < COUNTERS; k++) carom_table_integers(table, SAVED_COUNTERS)[k] = *counters[k];
    // Lists, as numbers.
    const int keys = KEY_FIELDS * run->closed_count, most = keys > solver->basic_size ? keys : solver->basic_size;
    double *list = malloc(((size_t)most + 1) * sizeof *list);
    if (!list) return carom_fail_memory(error, "state");
    for (int i = 0; i < run->closed_count; i++) {
        const stepping_key *key = &run->closed[i];
        const int fields[KEY_FIELDS] = {key->kind, key->first, key->second, key->ordinal};
        for (int k = 0; k < KEY_FIELDS; k++) list[KEY_FIELDS * i + k] = fields[k];
    }
    status = carom_table_set_series(table, SAVED_CLOSED, list, keys, error);
    if (!status) status = carom_table_set_series(table, SAVED_ACTIVATION, run->activation, run->mechanism->activations, error);
    for (int i = 0; i < solver->basic_size; i++) list[i] = solver->basic[i];
    if (!status) status = carom_table_set_series(table, SAVED_BASIS, list, solver->basic_size, error);
    free(list);
    if (!status) status = carom_table_set_series(table, SAVED_IMPULSE, solver->previous, solver->previous_rows, error);
    return status;
}

carom_status stepping_resume(stepping *run, const carom_table *saved, carom_error *error) {
    double *work[WORKS], *extremes[EXTREMES];
    int64_t *counters[COUNTERS];
    const double step = *carom_table_real_column(saved, SAVED_STEP);
    if (step != run->options->step)
        return carom_fail(error, CAROM_BAD_INPUT, "step: %.17g s is not the %.17g s of the saved state", run->options->step, step);
    const int64_t done = *carom_table_integer_column(saved, SAVED_COUNT);
    if (done < 0) return carom_fail(error, CAROM_BAD_INPUT, "resume: steps: a run cannot have done %" PRId64 " steps", done);
    if (done > run->steps)
        return carom_fail(error, CAROM_BAD_INPUT, "duration: %g s end before the saved state, at %g s", run->options->duration,
                          (double)done * step);
    run->step = done;
    run->t = (double)done * step;
    run->fresh = false;
    memcpy(run->q, carom_table_real_column(saved, SAVED_POSITION), (size_t)run->nq * sizeof *run->q);
    memcpy(run->v, carom_table_real_column(saved, SAVED_VELOCITY), run->n * sizeof *run->v);
    list_work(run, work);
    list_extremes(run, extremes);
    list_counters(run, counters);
    for (int k = 0; k < WORKS; k++) *work[k] = carom_table_real_column(saved, SAVED_WORK)[k];
    for (int k = 0; k < EXTREMES; k++) *extremes[k] = carom_table_real_column(saved, SAVED_EXTREMES)[k];
    for (int k = 0; k < COUNTERS; k++) *counters[k] = carom_table_integer_column(saved, SAVED_COUNTERS)[k];
    int numbers, size, rows, activations;
    const double *activation = carom_table_series(saved, SAVED_ACTIVATION, 0, &activations);
    if (activations != run->mechanism->activations)
        return carom_fail(error, CAROM_BAD_INPUT, "resume: activation: the model has %d, not %d", run->mechanism->activations, activations);
    if (activations) {
        memcpy(run->activation, activation, (size_t)activations * sizeof *run->activation);
        run->mechanism->activate(run->workspace, run->activation);
    }
    const double *keys = carom_table_series(saved, SAVED_CLOSED, 0, &numbers);
    for (int i = 0; i < numbers; i++)
        if (!(keys[i] >= INT_MIN && keys[i] <= INT_MAX && keys[i] == floor(keys[i])))
            return carom_fail(error, CAROM_BAD_INPUT, "resume: closed: %g is not the number of a constraint", keys[i]);
    carom_status status = stepping_reserve(run, numbers / KEY_FIELDS, 0, error);
    for (int i = 0; i < numbers / KEY_FIELDS && !status; i++) {
        const double *key = keys + KEY_FIELDS * i;
        run->closed[run->closed_count++] = (stepping_key){(int)key[0], (int)key[1], (int)key[2], (int)key[3]};
    }
    const double *basis = carom_table_series(saved, SAVED_BASIS, 0, &size), *impulse = carom_table_series(saved, SAVED_IMPULSE, 0, &rows);
    if (size > MOST_BASIS || rows > MOST_ROWS)
        return carom_fail(error, CAROM_BAD_INPUT, "resume: %s: no contact problem has %d numbers", size > MOST_BASIS ? "basis" : "impulse",
                          size > MOST_BASIS ? size : rows);
    return status ? status : stepping_solver_set_start(run->solver, basis, size, impulse, rows, error);
}
