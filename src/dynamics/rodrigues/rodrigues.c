// SPDX-License-Identifier: Apache-2.0
// Integrator `rodrigues`: bodies under potentials, with impacts inside the steps (Baker & Gonzalez).
#include "dynamics/rodrigues/rodrigues.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "carom/quaternion.h"

// The run asks whether to stop after so many steps and parts of steps, or so many moves of bodies: about a millisecond of work.
enum { MOST_PARTS_BETWEEN_POLLS = 64, MOVES_BETWEEN_POLLS = 8192, BLOCK_ROWS = 64 };

// Impacts closer together than this share of a step are at one time: roots of gaps have such round-off where bodies are slow.
#define EQUAL_TIMES 1e-9

// Columns of a state: numbers, then series with a row for each body.
enum { STATE_TERMS = 4, STATE_BROKEN = 15, STATE_SERIES = 16, STATE_COLUMNS = 20 };

static const carom_column state_columns[STATE_COLUMNS] = {
    {"time", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    {"translational_energy", CAROM_COLUMN_REAL, 1, "J", "kinetic energy of the centers of mass", NULL},
    {"rotational_energy", CAROM_COLUMN_REAL, 1, "J", "kinetic energy of rotation", NULL},
    {"potential_energy", CAROM_COLUMN_REAL, 1, "J", "of all potentials", NULL},
    [STATE_TERMS + RODRIGUES_BENDING] = {"bending_energy", CAROM_COLUMN_REAL, 1, "J", "potential energy of bonds by bending", NULL},
    [STATE_TERMS + RODRIGUES_STRETCHING] = {"stretching_energy", CAROM_COLUMN_REAL, 1, "J", "of bonds by stretching", NULL},
    [STATE_TERMS + RODRIGUES_SHEAR] = {"shear_energy", CAROM_COLUMN_REAL, 1, "J", "of bonds by shear", NULL},
    [STATE_TERMS + RODRIGUES_CONTACT] = {"contact_energy", CAROM_COLUMN_REAL, 1, "J", "of soft contacts between bodies", NULL},
    [STATE_TERMS + RODRIGUES_PLANE] = {"plane_energy", CAROM_COLUMN_REAL, 1, "J", "of soft contacts with planes", NULL},
    [STATE_TERMS + RODRIGUES_FIELD] = {"field_energy", CAROM_COLUMN_REAL, 1, "J", "of gravity, offset masses, dipoles and callbacks", NULL},
    {"energy", CAROM_COLUMN_REAL, 1, "J", "of translation, rotation and all potentials", NULL},
    {"broken_energy", CAROM_COLUMN_REAL, 1, "J", "that was in bonds when they broke", NULL},
    {"momentum", CAROM_COLUMN_REAL, 3, "N s", "sum of m v", NULL},
    {"spin", CAROM_COLUMN_REAL, 3, "N m s", "sum of J Omega, inertial frame", NULL},
    {"angular_momentum", CAROM_COLUMN_REAL, 3, "N m s", "sum of x cross m v and J Omega, about the origin", NULL},
    [STATE_BROKEN] = {"broken_bonds", CAROM_COLUMN_INTEGER, 1, "", "bonds that have broken", NULL},
    {"position", CAROM_COLUMN_SERIES, 3, "m", "centers of mass", NULL},
    {"attitude", CAROM_COLUMN_SERIES, 4, "", "unit quaternions w, x, y, z, body to inertial frame", NULL},
    {"velocity", CAROM_COLUMN_SERIES, 3, "m/s", "of the centers of mass", NULL},
    {"angular_velocity", CAROM_COLUMN_SERIES, 3, "rad/s", "inertial frame", NULL},
};

// Columns of an impact; those from IMPACT_NORMAL on are all real.
enum { IMPACT_TIME, IMPACT_STEP, IMPACT_BODY, IMPACT_OTHER, IMPACT_WALL, IMPACT_NORMAL, IMPACT_COLUMNS = IMPACT_NORMAL + 5 };

static const carom_column impact_columns[IMPACT_COLUMNS] = {
    {"time", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    {"step", CAROM_COLUMN_INTEGER, 1, "", "grid step in which it happens, from 1", NULL},
    {"body", CAROM_COLUMN_INTEGER, 1, "", "index of the body, from 0", NULL},
    {"other", CAROM_COLUMN_INTEGER, 1, "", "the body that it meets, -1 for a wall", NULL},
    {"wall", CAROM_COLUMN_INTEGER, 1, "", "the wall that it meets, -1 for a body", NULL},
    {"normal", CAROM_COLUMN_REAL, 3, "", "towards the body", NULL},
    {"approach_speed", CAROM_COLUMN_REAL, 1, "m/s", "along the normal, before", NULL},
    {"normal_impulse", CAROM_COLUMN_REAL, 1, "N s", "on the body", NULL},
    {"tangent_impulse", CAROM_COLUMN_REAL, 1, "N s", "along the surface", NULL},
    {"energy_change", CAROM_COLUMN_REAL, 1, "J", "energy after minus before", NULL},
};

enum {
    RESULT_INITIAL_ENERGY = CAROM_MOTION_RESULT_COLUMNS,
    RESULT_ENERGY_MEASURE,
    RESULT_NORM,
    RESULT_IMPACTS,
    RESULT_FAST_TURNS,
    RESULT_BROKEN,
    RESULT_EVALUATIONS,
    RESULT_FREQUENCY,
    RESULT_LAST_FREQUENCY,
    RESULT_UNIT_ERROR
};

static const carom_column own_result_columns[] = {
    {"initial_energy", CAROM_COLUMN_REAL, 1, "J", "energy at the start", NULL},
    {"energy_measure", CAROM_COLUMN_REAL, 1, "", "L2 norm in time of the energy error over |E0| sqrt(T)", NULL},
    {"trajectory_norm_squared", CAROM_COLUMN_REAL, 1, "", "integral of |x|^2 + |v|^2 + theta^2 + |Omega|^2; with option norms", NULL},
    {"impact_count", CAROM_COLUMN_INTEGER, 1, "", "impacts", NULL},
    {"fast_turns", CAROM_COLUMN_INTEGER, 1, "",
     "turns of more than a third of a circle in one step by map tan, first-order or midpoint, whose angle is then wrong by more than 20 %",
     NULL},
    {"broken_bonds", CAROM_COLUMN_INTEGER, 1, "", "bonds that have broken", NULL},
    {"force_evaluations", CAROM_COLUMN_INTEGER, 1, "", "of all steps", NULL},
    {"stiffest_frequency", CAROM_COLUMN_REAL, 1, "rad/s",
     "of small motions at the start, as option frequency says; step times this must stay below 2", NULL},
    {"last_stiffest_frequency", CAROM_COLUMN_REAL, 1, "rad/s", "the same at the end", NULL},
    {"unit_error", CAROM_COLUMN_REAL, 1, "", "largest | |q| - 1 | at the end", NULL},
};

// ------------------------------------------------------------------------------------------------------------- options

typedef struct rodrigues_options {
    double step, duration;
    int map, order, norms, frequency;
    const char *record;
    double energy_limit;
    int64_t max_impacts, every;
} rodrigues_options;

enum { SECOND_ORDER, FOURTH_ORDER };

static const char *const maps[] = {"sin", "tan", "exact", "first-order", "cubic", "splitting", "implicit", "midpoint", NULL};
static const char *const orders[] = {"2", "4", NULL};
static const char *const switches[] = {"off", "on", NULL};
enum { FREQUENCY_BOUND, FREQUENCY_POWER, FREQUENCY_OFF };
static const char *const frequencies[] = {"bound", "power", "off", NULL};

static void defaults(void *options) {
    *(rodrigues_options *)options = (rodrigues_options){.step = 0.01,
                                                        .duration = 10,
                                                        .map = RODRIGUES_TAN,
                                                        .order = SECOND_ORDER,
                                                        .record = "",
                                                        .energy_limit = 0.5,
                                                        .max_impacts = 1000,
                                                        .every = 1};
}

static const carom_option option_rows[] = {
    {"step", CAROM_OPTION_REAL, offsetof(rodrigues_options, step), CAROM_POSITIVE, HUGE_VAL, "s", "0.01", "grid step", NULL},
    {"duration", CAROM_OPTION_REAL, offsetof(rodrigues_options, duration), 0, HUGE_VAL, "s", "10", "time to be covered", NULL},
    {"map", CAROM_OPTION_CHOICE, offsetof(rodrigues_options, map), 0, 0, "", "tan",
     "how spin turns a body: sin, tan and first-order as published, cubic and exact for fast spins; splitting and implicit for any "
     "inertia; "
     "midpoint: forces in the middle of the step, implicit",
     maps},
    {"order", CAROM_OPTION_CHOICE, offsetof(rodrigues_options, order), 0, 0, "", "2", "4: triple jump, three force evaluations a step",
     orders},
    {"record", CAROM_OPTION_TEXT, offsetof(rodrigues_options, record), 0, 0, "", "none",
     "times of the states in JSON, with commas between them, FROM:TO:STEP for many; each is moved to the nearest grid point; times after "
     "the end are left out",
     NULL},
    {"every", CAROM_OPTION_INTEGER, offsetof(rodrigues_options, every), 1, 1e9, "", "1", "grid steps between recorded states", NULL},
    {"energy_limit", CAROM_OPTION_REAL, offsetof(rodrigues_options, energy_limit), CAROM_POSITIVE, HUGE_VAL, "", "0.5",
     "energy error that ends the run, relative to the initial energy or the largest kinetic energy", NULL},
    {"max_impacts", CAROM_OPTION_INTEGER, offsetof(rodrigues_options, max_impacts), 1, 1e9, "", "1000",
     "impacts of one body in one step; one more, and the run ends as a Zeno sequence", NULL},
    {"norms", CAROM_OPTION_CHOICE, offsetof(rodrigues_options, norms), 0, 0, "", "off", "integrate the norm of the trajectory", switches},
    {"frequency", CAROM_OPTION_CHOICE, offsetof(rodrigues_options, frequency), 0, 0, "", "bound",
     "how the stiffest frequency is found: bound, a bound for the cost of a step; power, about 1 % low, by a hundred evaluations of the "
     "forces; callbacks need power; off",
     frequencies},
};

// --------------------------------------------------------------------------------------------------------------- a run

typedef struct rodrigues_loop {
    const carom_motion_call *call;
    const rodrigues_options *options;
    rodrigues run;
    int64_t steps, step;  // grid steps to do; those done
    double offset;        // time since the last grid point
    int64_t parts;        // steps and parts of steps until the run asks again whether to stop
    int64_t *records;     // grid steps to be recorded, in the order given
    int record_count;
    bool bounces;  // there are walls or collisions
    int64_t impacts;
    double initial, lost;  // energy at the start, and the sum of what impacts changed
    double broken;         // energy of bonds when they broke
    double energy_error, largest_kinetic;
    double error_square, norm_square;  // integrals, by the trapezoidal rule on the grid
    double error_before, norm_before;  // without the last grid point
    double frequency;
    carom_verdict verdict;  // CAROM_COMPLETE until something ends the run early
    char message[CAROM_MESSAGE_SIZE];
    int64_t *hits;        // [n] impacts of each body in this step
    double *velocities;   // [n x 3], scratch of recording
    carom_arena memory;   // of these three arrays
    carom_table *states;  // a block of them
} rodrigues_loop;

static double time_of(const rodrigues_loop *loop) { return (double)loop->step * loop->options->step + loop->offset; }

static double energy_deviation(const rodrigues_loop *loop) {
    return rodrigues_energy(&loop->run) + loop->broken - loop->initial - loop->lost;
}

CAROM_PRINTF(3, 4) static void end_run(rodrigues_loop *loop, carom_verdict verdict, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(loop->message, sizeof loop->message, format, arguments);
    va_end(arguments);
    loop->verdict = verdict;
}

// Fills the last row of a table of states.
static carom_status fill_state(rodrigues_loop *loop, carom_table *table, carom_error *error) {
    rodrigues *run = &loop->run;
    // Sums over the bodies: momentum P = sum m v, spin = sum L, angular momentum = sum x cross m v + spin, and the kinetic energies.
    double momentum[3] = {0}, spin[3] = {0}, angular[3] = {0}, translational = 0, rotational = 0, terms[RODRIGUES_TERMS];
    if (!rodrigues_energy_terms(run, terms)) return carom_fail_memory(error, "contacts");
    for (int64_t i = 0; i < run->bodies; i++) {
        const double *x = run->now.position + 3 * i, *v = run->now.velocity + 3 * i;
        double orbital[3];
        carom_cross3(x, v, orbital);
        carom_add3(run->mass[i], v, momentum);
        carom_add3(1, run->now.spin + 3 * i, spin);
        carom_add3(run->mass[i], orbital, angular);
        translational += 0.5 * run->mass[i] * carom_dot3(v, v);
        rotational += rodrigues_rotational_energy(run, &run->now, i);
        rodrigues_angular_velocity(run, &run->now, i, loop->velocities + 3 * i);
    }
    carom_add3(1, spin, angular);
    // In the order of the columns.
    const double time = time_of(loop), energy = rodrigues_energy(run);
    const double *const values[STATE_COLUMNS] = {
        &time,     &translational, &rotational,       &run->potential,   &terms[0],         &terms[1],       &terms[2],
        &terms[3], &terms[4],      &terms[5],         &energy,           &loop->broken,     momentum,        spin,
        angular,   NULL,           run->now.position, run->now.attitude, run->now.velocity, loop->velocities};
    *carom_table_integers(table, STATE_BROKEN) = run->broken;
    for (int c = 0; c < STATE_BROKEN; c++) memcpy(carom_table_reals(table, c), values[c], (size_t)state_columns[c].width * sizeof(double));
    carom_status status = CAROM_OK;
    for (int c = STATE_SERIES; !status && c < STATE_COLUMNS; c++)
        status = carom_table_set_series(table, c, values[c], state_columns[c].width * run->bodies, error);
    return status;
}

// A grid point's share of the integrals.
static void integrate_grid_point(rodrigues_loop *loop) {
    const rodrigues *run = &loop->run;
    const double weight = loop->options->step * (loop->step == 0 || loop->step == loop->steps ? 0.5 : 1);
    const double deviation = energy_deviation(loop);
    loop->energy_error = fmax(loop->energy_error, fabs(deviation));
    loop->largest_kinetic = fmax(loop->largest_kinetic, run->kinetic);
    loop->error_before = loop->error_square;
    loop->norm_before = loop->norm_square;
    loop->error_square += weight * deviation * deviation;
    if (loop->options->norms) {
        // Integrand of the norm (Baker & Gonzalez, eq. 35), with the angle itself: the logarithm's vector jumps at pi.
        double sum = 0;
        for (int64_t i = 0; i < run->bodies; i++) {
            const double *x = run->now.position + 3 * i, *v = run->now.velocity + 3 * i;
            const double angle = carom_quaternion_angle(run->now.attitude + 4 * i);
            double Omega[3];
            rodrigues_angular_velocity(run, &run->now, i, Omega);
            sum += carom_dot3(x, x) + carom_dot3(v, v) + angle * angle + carom_dot3(Omega, Omega);
        }
        loop->norm_square += weight * sum;
    }
}

// A grid point: its share of the integrals, and its state where it is asked for.
static carom_status take_grid_point(rodrigues_loop *loop, carom_error *error) {
    integrate_grid_point(loop);
    // A row for each recorded time that is this grid point, and one for the trajectory.
    carom_status status = CAROM_OK;
    for (int k = 0; !status && k < loop->record_count; k++) {
        if (loop->records[k] != loop->step) continue;
        status = carom_table_add_row(loop->call->recorded, error);
        if (!status) status = fill_state(loop, loop->call->recorded, error);
    }
    if (status || !loop->states || loop->step % loop->options->every != 0) return status;
    status = carom_table_add_row(loop->states, error);
    if (!status) status = fill_state(loop, loop->states, error);
    return status || carom_table_rows(loop->states) < BLOCK_ROWS ? status : carom_motion_flush(loop->call, loop->states, error);
}

// --------------------------------------------------------------------------------------------------------------- steps

// Before each step and after each impact: ends the run where it was cancelled.
static bool is_stopped(rodrigues_loop *loop) {
    const carom_control *control = loop->call->control;
    if (loop->parts-- > 0) return false;
    const int64_t parts = MOVES_BETWEEN_POLLS / (loop->run.bodies + 1);
    loop->parts = (parts < 1 ? 1 : parts > MOST_PARTS_BETWEEN_POLLS ? MOST_PARTS_BETWEEN_POLLS : parts) - 1;
    if (control && control->progress) control->progress(control->user, loop->step, loop->steps);
    if (!carom_control_cancelled(control)) return false;
    end_run(loop, CAROM_INTERRUPTED, "stopped");
    return true;
}

// Ends the run with the reason for which a step could not be done.
static carom_status end_by_failure(rodrigues_loop *loop, carom_error *error) {
    const rodrigues_failure *failure = &loop->run.failure;
    const long long step = (long long)loop->step + 1;
    const int body = (int)failure->body;
    switch (failure->problem) {
    case RODRIGUES_FINE: break;
    case RODRIGUES_TOO_FAST:
        // With impacts the step that failed may be a part of the grid's.
        if (loop->options->map == RODRIGUES_SIN)
            end_run(loop, CAROM_STEP_TOO_LARGE,
                    "body %d turns by h |Omega| = %.6g in step %lld, and map sin needs less than 1: the step must be below %.6g s", body,
                    failure->turn, step, (loop->bounces ? loop->run.step : loop->options->step) / failure->turn);
        else
            end_run(loop, CAROM_NO_CONVERGENCE, "the rotation of body %d by h |Omega| = %.6g has no solution in step %lld", body,
                    failure->turn, step);
        break;
    case RODRIGUES_NO_FORCE:
        if (body < 0)
            end_run(loop, CAROM_NO_FORCE, "the energy is not finite in step %lld", step);
        else
            end_run(loop, CAROM_NO_FORCE, "the force on body %d is not finite in step %lld", body, step);
        break;
    case RODRIGUES_COINCIDENT:
        end_run(loop, CAROM_NO_FORCE, "the centers of bodies %d and %d coincide in step %lld", body, (int)failure->other, step);
        break;
    case RODRIGUES_NO_MIDPOINT:
        end_run(loop, CAROM_NO_CONVERGENCE,
                "the middle of step %lld is not found: the iteration of map midpoint needs a step times the stiffest frequency below 2",
                step);
        break;
    case RODRIGUES_NO_MEMORY: return carom_fail_memory(error, "contacts");
    }
    return CAROM_OK;
}

// One grid step. With impacts it is cut at each of them: a whole step up to the impact, the impulse, and on with what is left; for all
// bodies, or for those of the impact where the others do not feel it.
static carom_status do_step(rodrigues_loop *loop, carom_error *error) {
    rodrigues *run = &loop->run;
    double left = loop->options->step;
    if (!loop->bounces) return rodrigues_step(run, left) ? CAROM_OK : end_by_failure(loop, error);
    memset(loop->hits, 0, (size_t)run->bodies * sizeof *loop->hits);
    while (true) {
        rodrigues_event event;
        const bool alone = run->agenda.serves;
        if (alone)
            rodrigues_agenda_next(run, left, &event);
        else if (!rodrigues_find_event(run, left, &event))
            return carom_fail_memory(error, "neighbours");
        const bool hit = event.time <= left;
        const double length = hit ? event.time : left;
        if (hit && event.body < 0) {
            if (is_stopped(loop)) return CAROM_OK;
            continue;
        }
        if (alone && hit)
            rodrigues_agenda_meet(run, &event);
        else if (alone ? !rodrigues_agenda_finish(run, loop->options->step) : length > 0 && !rodrigues_advance(run, length))
            return end_by_failure(loop, error);
        if (!hit) return CAROM_OK;
        left -= length;
        loop->offset += length;

        // Count the impact for its bodies: one that chatters ends the run.
        int64_t most = loop->hits[event.body]++;
        if (event.other >= 0 && loop->hits[event.other]++ > most) most = loop->hits[event.other] - 1;
        if (most >= loop->options->max_impacts) {
            end_run(loop, CAROM_ZENO_LIMIT,
                    "body %d has more than %lld impacts in step %lld, the last at %.9g s with %s %d: it comes to rest there",
                    (int)event.body, (long long)loop->options->max_impacts, (long long)loop->step + 1, time_of(loop),
                    event.other < 0 ? "wall" : "body", event.other < 0 ? event.wall : (int)event.other);
            return CAROM_OK;
        }

        // The impulse, and its row in the table of impacts.
        carom_status status = rodrigues_collide(run, &event, error);
        carom_table *table = loop->call->impacts;
        if (!status) status = carom_table_add_row(table, error);
        if (status) return status;
        *carom_table_reals(table, IMPACT_TIME) = time_of(loop);
        *carom_table_integers(table, IMPACT_STEP) = loop->step + 1;
        *carom_table_integers(table, IMPACT_BODY) = event.body;
        *carom_table_integers(table, IMPACT_OTHER) = event.other;
        *carom_table_integers(table, IMPACT_WALL) = event.wall;
        // In the order of the columns.
        const double *const values[] = {event.normal, &event.approach, &event.normal_impulse, &event.tangent_impulse, &event.energy_change};
        for (int c = IMPACT_NORMAL; c < IMPACT_COLUMNS; c++)
            memcpy(carom_table_reals(table, c), values[c - IMPACT_NORMAL], (size_t)impact_columns[c].width * sizeof(double));
        loop->impacts++;
        loop->lost += event.energy_change;
        if (alone) rodrigues_agenda_part(run, &event);
        if (is_stopped(loop)) return CAROM_OK;
    }
}

// -------------------------------------------------------------------------------------------------- states to go on from

enum { SAVED_STEP, SAVED_COUNT, SAVED_SUMS, SAVED_COUNTERS, SAVED_WIDTH, SAVED_SERIES, SAVED_BROKEN = SAVED_SERIES + 4, SAVED_ERRANDS };
enum { SUMS = 10, COUNTERS = 4, SAVED_STATES = 4 };
// A saved state has the energy that it has here, to this share of it. With other masses, stiffnesses or references it has another.
#define SAME_ENERGY 1e-9

static const carom_column saved_columns[] = {
    [SAVED_STEP] = {"step", CAROM_COLUMN_REAL, 1, "s", "length of a step", NULL},
    [SAVED_COUNT] = {"steps", CAROM_COLUMN_INTEGER, 1, "", "steps done", NULL},
    [SAVED_SUMS] =
        {"sums", CAROM_COLUMN_REAL, SUMS, "",
         "kinetic and potential energy, energy at the start, change by impacts, energy of broken bonds, largest energy error and kinetic "
         "energy, integrals of the squares of energy error and norm, stiffest frequency at the start",
         NULL},
    [SAVED_COUNTERS] = {"counters", CAROM_COLUMN_INTEGER, COUNTERS, "",
                        "impacts, fast turns, evaluations of forces, changes of cells since they have their width", NULL},
    [SAVED_WIDTH] = {"cell_width", CAROM_COLUMN_REAL, 1, "m", "of impacts one by one; 0 without them", NULL},
    [SAVED_SERIES] = {"position", CAROM_COLUMN_SERIES, 3, "m", "centers of mass", NULL},
    {"attitude", CAROM_COLUMN_SERIES, 4, "", "unit quaternions", NULL},
    {"velocity", CAROM_COLUMN_SERIES, 3, "m/s", "of the centers of mass", NULL},
    {"spin", CAROM_COLUMN_SERIES, 3, "N m s", "J Omega, inertial frame", NULL},
    [SAVED_BROKEN] = {"broken", CAROM_COLUMN_SERIES, 1, "", "of each bond: 1 if it has broken", NULL},
    [SAVED_ERRANDS] = {"next_events", CAROM_COLUMN_SERIES, RODRIGUES_ERRAND, "",
                       "of impacts one by one, of each body: time, time of leaving its cell, cell, partner, its impacts, own impacts",
                       NULL},
};

static void list_sums(rodrigues_loop *loop, double *list[SUMS]) {
    memcpy(list,
           (double *[]){&loop->run.kinetic, &loop->run.potential, &loop->initial, &loop->lost, &loop->broken, &loop->energy_error,
                        &loop->largest_kinetic, &loop->error_before, &loop->norm_before, &loop->frequency},
           SUMS * sizeof *list);
}
static void list_counters(rodrigues_loop *loop, int64_t *list[COUNTERS]) {
    memcpy(list, (int64_t *[]){&loop->impacts, &loop->run.fast_turns, &loop->run.evaluations, &loop->run.agenda.changes},
           COUNTERS * sizeof *list);
}
static void list_states(const rodrigues *run, double *list[SAVED_STATES]) {
    memcpy(list, (double *[]){run->now.position, run->now.attitude, run->now.velocity, run->now.spin}, SAVED_STATES * sizeof *list);
}

// A state between two steps, with all that the next step depends on.
static carom_status save(rodrigues_loop *loop, carom_table *table, carom_error *error) {
    rodrigues *run = &loop->run;
    double *sums[SUMS], *states[SAVED_STATES];
    int64_t *counters[COUNTERS];
    carom_status status = carom_table_add_row(table, error);
    if (status) return status;
    list_sums(loop, sums);
    list_counters(loop, counters);
    list_states(run, states);
    *carom_table_reals(table, SAVED_STEP) = loop->options->step;
    *carom_table_integers(table, SAVED_COUNT) = loop->step;
    *carom_table_reals(table, SAVED_WIDTH) = run->agenda.serves ? run->agenda.width : 0;
    // A frequency that nobody asked for is not a number, which files do not have.
    for (int k = 0; k < SUMS; k++) carom_table_reals(table, SAVED_SUMS)[k] = isnan(*sums[k]) ? -1 : *sums[k];
    for (int k = 0; k < COUNTERS; k++) carom_table_integers(table, SAVED_COUNTERS)[k] = *counters[k];
    for (int k = 0; k < SAVED_STATES && !status; k++)
        status = carom_table_set_series(table, SAVED_SERIES + k, states[k], saved_columns[SAVED_SERIES + k].width * run->bodies, error);
    const size_t errands = run->agenda.serves ? RODRIGUES_ERRAND * (size_t)run->bodies : 0, bonds = (size_t)run->bonds;
    carom_arena memory = {0};
    double *list = carom_arena_take(&memory, errands > bonds ? errands : bonds, sizeof *list);
    if (!status && memory.failed) status = carom_fail_memory(error, "state");
    for (size_t k = 0; k < bonds && !status; k++) list[k] = run->bond[k].broken;
    if (!status) status = carom_table_set_series(table, SAVED_BROKEN, list, (int)bonds, error);
    if (!status && errands) rodrigues_agenda_save(run, list);
    if (!status) status = carom_table_set_series(table, SAVED_ERRANDS, list, (int)errands, error);
    carom_arena_free(&memory);
    return status;
}

// Takes a saved state in place of the start, from which bonds have their references.
static carom_status resume(rodrigues_loop *loop, const carom_table *saved, carom_error *error) {
    rodrigues *run = &loop->run;
    double *sums[SUMS], *states[SAVED_STATES];
    int64_t *counters[COUNTERS];
    const double step = *carom_table_real_column(saved, SAVED_STEP);
    if (step != loop->options->step)
        return carom_fail(error, CAROM_BAD_INPUT, "step: %.17g s is not the %.17g s of the saved state", loop->options->step, step);
    loop->step = *carom_table_integer_column(saved, SAVED_COUNT);
    if (loop->step < 0 || loop->step > loop->steps)
        return carom_fail(error, CAROM_BAD_INPUT, "duration: %g s end before the saved state, at %g s", loop->options->duration,
                          (double)loop->step * step);
    // Series of this motion's bodies and bonds.
    list_states(run, states);
    for (int k = 0; k < SAVED_STATES; k++) {
        int count;
        const double *values = carom_table_series(saved, SAVED_SERIES + k, 0, &count);
        const int width = saved_columns[SAVED_SERIES + k].width;
        if (count != width * run->bodies)
            return carom_fail(error, CAROM_BAD_INPUT, "resume: %s has %d bodies, not the %d of this motion",
                              saved_columns[SAVED_SERIES + k].name, count / width, run->bodies);
        memcpy(states[k], values, (size_t)count * sizeof *values);
    }
    int bonds, errands;
    const double *broken = carom_table_series(saved, SAVED_BROKEN, 0, &bonds),
                 *next = carom_table_series(saved, SAVED_ERRANDS, 0, &errands);
    if (bonds != run->bonds)
        return carom_fail(error, CAROM_BAD_INPUT, "resume: broken has %d bonds, not the %d of this motion", bonds, (int)run->bonds);
    for (int k = 0; k < bonds; k++) {
        run->bond[k].broken = broken[k] != 0;
        run->broken += run->bond[k].broken;
    }
    if (!rodrigues_evaluate(run, &run->now, &run->potential)) return carom_fail_memory(error, "contacts");
    if (!isfinite(run->potential)) return carom_fail(error, CAROM_BAD_INPUT, "resume: the energy is not finite there");
    double kinetic = 0;
    for (int64_t i = 0; i < run->bodies; i++) {
        const double *v = run->now.velocity + 3 * i;
        kinetic += 0.5 * run->mass[i] * carom_dot3(v, v) + rodrigues_rotational_energy(run, &run->now, i);
    }
    const double *saved_energy = carom_table_real_column(saved, SAVED_SUMS);
    const double share = SAME_ENERGY * (fabs(saved_energy[0]) + fabs(saved_energy[1]));
    if (!(fabs(kinetic - saved_energy[0]) <= share && fabs(run->potential - saved_energy[1]) <= share))
        return carom_fail(
            error, CAROM_BAD_INPUT,
            "resume: the state was saved with a kinetic energy of %g J and a potential energy of %g J, and has %g and %g J in "
            "this motion: this is another one",
            saved_energy[0], saved_energy[1], kinetic, run->potential);
    // Impacts one by one start anew there, and go on as they were.
    rodrigues_agenda_release(&run->agenda);
    const carom_status status = loop->bounces ? rodrigues_agenda_create(run, error) : CAROM_OK;
    if (status) return status;
    if (errands != (run->agenda.serves ? RODRIGUES_ERRAND * run->bodies : 0) ||
        (errands && !rodrigues_agenda_resume(run, *carom_table_real_column(saved, SAVED_WIDTH), next)))
        return carom_fail(error, CAROM_BAD_INPUT, "resume: next_events are not those of this motion");
    list_sums(loop, sums);
    list_counters(loop, counters);
    for (int k = 0; k < SUMS; k++) *sums[k] = carom_table_real_column(saved, SAVED_SUMS)[k];
    for (int k = 0; k < COUNTERS; k++) *counters[k] = carom_table_integer_column(saved, SAVED_COUNTERS)[k];
    if (loop->frequency < 0) loop->frequency = NAN;
    loop->error_square = loop->error_before;
    loop->norm_square = loop->norm_before;
    integrate_grid_point(loop);
    return CAROM_OK;
}

// ----------------------------------------------------------------------------------------------------- start and end

// The stiffest frequency of the present state, as the option says.
static carom_status find_frequency(rodrigues_loop *loop, double *frequency, carom_error *error) {
    *frequency = NAN;
    if (loop->options->frequency == FREQUENCY_OFF) return CAROM_OK;
    const bool bound = loop->options->frequency == FREQUENCY_BOUND && !loop->run.has_users;
    return bound ? rodrigues_bound_frequency(&loop->run, frequency, error) : rodrigues_stiffest_frequency(&loop->run, frequency, error);
}

// Takes the options and the motion, and what is measured at the start.
static carom_status prepare(rodrigues_loop *loop, carom_error *error) {
    const carom_motion_call *call = loop->call;
    const rodrigues_options *options = loop->options;
    const carom_bodies_motion *motion = call->motion->bodies;
    const carom_status counted = carom_motion_check_step(options->duration, options->step, error);
    if (counted) return counted;
    loop->steps = (int64_t)(options->duration / options->step + 0.5);

    carom_status status =
        carom_motion_parse_times(options->record, options->step, loop->steps, &loop->memory, &loop->records, &loop->record_count, error);
    if (status) return status;
    status = rodrigues_create(motion, (rodrigues_map)options->map, options->order == FOURTH_ORDER, carom_control_workers(call->control),
                              &loop->run, error);
    loop->run.tie = EQUAL_TIMES * options->step;
    loop->bounces = motion->walls > 0 || motion->collisions;
    if (!status && loop->bounces) status = rodrigues_check_gaps(&loop->run, error);
    if (!status && loop->bounces) status = rodrigues_agenda_create(&loop->run, error);
    if (!status) status = find_frequency(loop, &loop->frequency, error);
    if (status) return status;
    loop->initial = rodrigues_energy(&loop->run);
    loop->run.evaluations = 0;
    loop->velocities = carom_arena_take(&loop->memory, 3 * (size_t)motion->bodies, sizeof *loop->velocities);
    loop->hits = carom_arena_take(&loop->memory, (size_t)motion->bodies, sizeof *loop->hits);
    if (loop->memory.failed) return carom_fail_memory(error, "states");
    status = call->states ? carom_motion_create_states(&carom_integrator_rodrigues, call->motion, &loop->states, error) : CAROM_OK;
    return status || !call->resume ? status : resume(loop, call->resume, error);
}

static carom_status run(const carom_motion_call *call, carom_error *error) {
    rodrigues_loop loop = {.call = call, .options = call->options};
    carom_status status = prepare(&loop, error);
    if (!status && call->settings && call->settings->law)
        status = carom_motion_note(call, error, "the law '%s' of 'impact' is not used: walls and collisions have surfaces of their own",
                                   call->settings->law);
    if (!status && !call->resume) status = take_grid_point(&loop, error);
    while (!status && loop.verdict == CAROM_COMPLETE && loop.step < loop.steps) {
        if (is_stopped(&loop)) break;
        status = do_step(&loop, error);
        if (status || loop.verdict != CAROM_COMPLETE) break;
        loop.step++;
        loop.offset = 0;
        // What breaks takes its energy with it.
        const double potential = loop.run.potential;
        if (loop.run.bonds && !rodrigues_break_bonds(&loop.run)) status = end_by_failure(&loop, error);
        loop.broken += potential - loop.run.potential;
        if (status) break;
        status = take_grid_point(&loop, error);
        // An energy far from the first one says that the step is too long for the stiffest vibration.
        const double scale = fmax(fabs(loop.initial), loop.largest_kinetic), deviation = energy_deviation(&loop);
        if (status || !(fabs(deviation) > loop.options->energy_limit * scale)) continue;
        double frequency;
        status = rodrigues_stiffest_frequency(&loop.run, &frequency, error);
        end_run(&loop, CAROM_ENERGY_LIMIT,
                "the energy is wrong by %.3g J in step %lld: the step times the stiffest frequency is %.3g, and must stay well below 2",
                deviation, (long long)loop.step, loop.options->step * frequency);
    }
    // Within a step there is nothing to go on from, bit by bit.
    if (!status && loop.offset == 0) status = save(&loop, call->saved, error);
    // A run that ended within a step has its bodies at different times.
    if (!status && loop.run.agenda.serves && loop.offset > 0 && !rodrigues_agenda_finish(&loop.run, loop.run.agenda.now))
        status = end_by_failure(&loop, error);
    // The last state and the results.
    double last_frequency = 0, unit_error = 0;
    if (!status) status = carom_motion_flush(call, loop.states, error);
    if (!status) status = fill_state(&loop, call->final, error);
    const int64_t evaluations = loop.run.evaluations;
    if (!status) status = find_frequency(&loop, &last_frequency, error);
    if (!status) status = carom_table_set_text(call->result, CAROM_MOTION_MESSAGE, loop.message, error);
    if (!status) {
        const double time = time_of(&loop), scale = fabs(loop.initial);
        for (int64_t i = 0; i < loop.run.bodies; i++) {
            const double *q = loop.run.now.attitude + 4 * i;
            unit_error = fmax(unit_error, fabs(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1));
        }
        *carom_table_reals(call->result, RESULT_INITIAL_ENERGY) = loop.initial;
        *carom_table_reals(call->result, RESULT_ENERGY_MEASURE) = scale > 0 && time > 0 ? sqrt(loop.error_square / time) / scale : NAN;
        *carom_table_reals(call->result, RESULT_NORM) = loop.options->norms ? loop.norm_square : NAN;
        *carom_table_integers(call->result, RESULT_IMPACTS) = loop.impacts;
        *carom_table_integers(call->result, RESULT_FAST_TURNS) = loop.run.fast_turns;
        *carom_table_integers(call->result, RESULT_BROKEN) = loop.run.broken;
        *carom_table_integers(call->result, RESULT_EVALUATIONS) = evaluations;
        *carom_table_reals(call->result, RESULT_FREQUENCY) = loop.frequency;
        *carom_table_reals(call->result, RESULT_LAST_FREQUENCY) = last_frequency;
        *carom_table_reals(call->result, RESULT_UNIT_ERROR) = unit_error;
        // What did not end the run may still be too much of an error.
        status = carom_motion_limit_energy(call, loop.energy_error, loop.initial, loop.largest_kinetic, time, &loop.verdict, error);
        if (!status) status = carom_motion_conclude(call, loop.verdict, loop.step, time, loop.energy_error, loop.initial, error);
    }
    rodrigues_release(&loop.run);
    carom_arena_free(&loop.memory);
    carom_table_free(loop.states);
    return status;
}

const carom_integrator carom_integrator_rodrigues = {
    .name = "rodrigues",
    .summary = "bodies under potentials: explicit variational integrator on rescaled Rodrigues increments",
    .source = "Baker & Gonzalez, eqs. 21-27",
    .form = CAROM_MOTION_BODIES,
    CAROM_OPTION_TABLE(rodrigues_options, option_rows),
    .defaults = defaults,
    CAROM_COLUMN_TABLE(state, state_columns),
    CAROM_COLUMN_TABLE(impact, impact_columns),
    CAROM_COLUMN_TABLE(result, own_result_columns),
    CAROM_COLUMN_TABLE(saved, saved_columns),
    .run = run,
    .figures = rodrigues_figures,
    .convergence = &rodrigues_convergence,
};
