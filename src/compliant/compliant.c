// SPDX-License-Identifier: Apache-2.0
// Sweeps of impacts of compliant bodies (Halm & Posa 2023, section 5.4.1): over the ratio of two stiffnesses, and over the initial angle.
//
// Rigid impacts with several contacts have many outcomes because they do not say which contact acts first and how fast. Here the
// stiffnesses say it, or an angle by which one contact touches earlier; a sweep over them shows which outcomes are limits of compliant
// bodies.
#include "compliant/compliant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"

// The authors' speed of rest over m / k_min [m/s^3].
#define REST_FACTOR 1e-3
// Shifts along the common normal open every contact by the same length up to this.
#define COMMON_NORMAL 1e-9

// Shorter than any impact; CVODE's clock needs more than the smallest numbers [s].
#define LEAST_HORIZON 1e-12

#define RADIANS_PER_DEGREE 0.017453292519943295

carom_compliant_options carom_compliant_defaults(void) {
    return (carom_compliant_options){.sweep = CAROM_SWEEP_STIFFNESS,
                                     .min_stiffness = 1e6,
                                     .damping_ratio = 5,
                                     .slip_regularisation = 1e-10,
                                     .points = 51,
                                     .decades = 5,
                                     .angle = 0.01,
                                     .horizon = 0.1,
                                     .least_impulse = 0.01};
}

static void defaults(void *options) { *(carom_compliant_options *)options = carom_compliant_defaults(); }

static const char *const sweep_names[] = {"stiffness", "angle", NULL};

#define FIELD(name) offsetof(carom_compliant_options, name)
const carom_option carom_compliant_rows[CAROM_COMPLIANT_ROWS] = {
    {"sweep", CAROM_OPTION_CHOICE, FIELD(sweep), 0, 0, "", "stiffness",
     "what is varied: the ratio of the stiffnesses of two contacts, or the initial angle of the model's hinge", sweep_names},
    {"min_stiffness", CAROM_OPTION_REAL, FIELD(min_stiffness), CAROM_POSITIVE, 1e30, "N/m", "1e6", "stiffness of the softest contact",
     NULL},
    {"damping_ratio", CAROM_OPTION_REAL, FIELD(damping_ratio), 0, 1e6, "", "5", "zeta of the dampers, 2 zeta sqrt(k m)", NULL},
    {"slip_regularisation", CAROM_OPTION_REAL, FIELD(slip_regularisation), CAROM_POSITIVE, 1e6, "m/s", "1e-10",
     "slip velocity below which friction is viscous", NULL},
    {"points", CAROM_OPTION_INTEGER, FIELD(points), 1, 1e6, "", "51", "impacts of the sweep", NULL},
    {"decades", CAROM_OPTION_REAL, FIELD(decades), 0, 12, "", "5", "the stiffness sweep goes from 10^-X to 10^X", NULL},
    {"angle", CAROM_OPTION_REAL, FIELD(angle), 0, 90, "deg", "0.01", "the angle sweep goes from -X to X", NULL},
    {"horizon", CAROM_OPTION_REAL, FIELD(horizon), LEAST_HORIZON, 1e6, "s", "0.1", "longest time of an impact", NULL},
    {"least_impulse", CAROM_OPTION_REAL, FIELD(least_impulse), 0, 1, "", "0.01",
     "normal impulse that every contact has before an impact may end, over mass times largest approach speed", NULL},
};

static const carom_column outcome_columns[CAROM_COMPLIANT_COLUMNS] = {
    [CAROM_COMPLIANT_PARAMETER] = {"parameter", CAROM_COLUMN_REAL, 1, "",
                                   "log10 of the ratio of stiffnesses, or the initial angle in degrees", NULL},
    [CAROM_COMPLIANT_SETTLED] = {"settled", CAROM_COLUMN_BOOLEAN, 1, "", "the impact ended before the horizon", NULL},
    [CAROM_COMPLIANT_TIME] = {"time", CAROM_COLUMN_REAL, 1, "s", "when the impact ended", NULL},
};

static const carom_column result_columns[CAROM_COMPLIANT_RESULT_COLUMNS] = {
    [CAROM_COMPLIANT_SWEEP] = {"sweep", CAROM_COLUMN_TEXT, 1, "", "what was varied", NULL},
    [CAROM_COMPLIANT_FIRST_FRACTION] = {"first_corner_fraction", CAROM_COLUMN_REAL, 1, "",
                                        "angle sweep, largest angle: share of the first contact's normal impulse before the second touches",
                                        NULL},
};

// -------------------------------------------------------------------------------------------------------------- impacts

// What the impacts of a sweep have in common.
typedef struct sweep {
    const carom_law_call *call;
    const carom_compliant_options *options;
    const carom_system *system;
    int hinge;                         // of an angle sweep
    double *shift;                     // [nv] slides that open every contact by 1 m
    double energy;                     // kinetic and potential, at the system's state [J]
    double rest_speed, least_impulse;  // ends of impacts
    compliant_solver **solvers;        // [workers]
    compliant_motion *probes;          // [workers]
    double *rooms;                     // [slots x room] start and end of an impact
    compliant_end *ends;               // [slots]
    size_t room;
    carom_table *outcomes;
    double first_fraction;  // of the last impact of an angle sweep
    bool stuck;             // some impact could not be followed to its end
} sweep;

// Kinetic energy of v at what the probe saw last, whose M is factored: |L'v|^2 / 2.
static double kinetic_energy(const compliant_motion *probe, const double *v) {
    double sum = 0;
    for (int j = 0; j < probe->nv; j++) {
        double entry = 0;
        for (int i = j; i < probe->nv; i++) entry += probe->terms.mass[i * probe->nv + j] * v[i];
        sum += entry * entry;
    }
    return sum / 2;
}

// The exponent or angle of a point of the sweep: from -most to most in equal steps.
static double parameter_of(const sweep *s, int64_t point) {
    const double most = s->options->sweep == CAROM_SWEEP_ANGLE ? s->options->angle : s->options->decades;
    const int64_t last = s->options->points - 1;
    return last ? most * ((double)(2 * point - last) / (double)last) : 0;
}

// Prepares the start of one impact in the slot's room and follows it to its end.
static carom_status compute(void *user, int worker, int slot, int64_t point, carom_error *error) {
    const sweep *s = user;
    const carom_compliant_options *options = s->options;
    const int nv = s->system->nv, contacts = s->system->contacts;
    double *y = s->rooms + (size_t)slot * s->room, *stiffness = y + 2 * nv + contacts;
    compliant_end *end = &s->ends[slot];
    end->velocity = stiffness + contacts;
    end->impulse = end->velocity + nv;
    end->normal_velocity = end->impulse + contacts;
    end->tangent_velocity = end->normal_velocity + contacts;
    for (int j = 0; j < nv; j++) {
        y[j] = 0;
        y[nv + j] = s->system->velocity[j];
    }
    for (int i = 0; i < contacts; i++) stiffness[i] = options->min_stiffness;
    const double parameter = parameter_of(s, point);
    if (options->sweep == CAROM_SWEEP_STIFFNESS) {
        // k_1 / k_2 = 10^parameter, and the softer one has the least stiffness.
        stiffness[0] = options->min_stiffness * pow(10, fmax(parameter, 0));
        stiffness[1] = options->min_stiffness * pow(10, fmax(-parameter, 0));
    } else {
        // Turn the hinge, raise the system until its lowest contact touches, and scale the velocity to the old total energy.
        compliant_motion *probe = &s->probes[worker];
        y[s->hinge] = parameter * RADIANS_PER_DEGREE;
        compliant_evaluate(probe, y);
        double lowest = INFINITY;
        for (int i = 0; i < contacts; i++) lowest = fmin(lowest, probe->terms.gap[i]);
        for (int j = 0; j < nv; j++) y[j] -= lowest * s->shift[j];
        compliant_evaluate(probe, y);
        const double kinetic = kinetic_energy(probe, y + nv), left = s->energy - probe->terms.potential;
        if (!(kinetic > 0))
            return carom_fail(error, CAROM_BAD_INPUT, "angle: the system rests at its state, and has no velocity to be scaled");
        if (!(left >= 0))
            return carom_fail(error, CAROM_BAD_INPUT, "angle: %g degrees raise the system higher than its kinetic energy does", parameter);
        for (int j = 0; j < nv; j++) y[nv + j] *= sqrt(left / kinetic);
    }
    const compliant_start start = {stiffness, y, y + nv, s->rest_speed, s->least_impulse, options->horizon};
    return compliant_solver_run(s->solvers[worker], &start, end, error);
}

// Contact velocities are those at the end's configuration: the body has turned a little since the impact began, and what touches there
// would seem to move if the impact's Jacobians were taken.
static carom_status deliver(void *user, int slot, int64_t point, carom_error *error) {
    sweep *s = user;
    const compliant_end *end = &s->ends[slot];
    carom_table *table = s->outcomes;
    const int contacts = s->system->contacts;
    const size_t size = (size_t)contacts * sizeof(double);
    const carom_status status = carom_outcomes_add(table, s->call->impact, end->velocity, NULL, 0, 0, error);
    if (status) return status;
    double least = INFINITY;
    for (int i = 0; i < contacts; i++) least = fmin(least, end->normal_velocity[i]);
    memcpy(carom_table_reals(table, CAROM_OUTCOME_NORMAL_IMPULSE), end->impulse, size);
    memcpy(carom_table_reals(table, CAROM_OUTCOME_NORMAL_VELOCITY), end->normal_velocity, size);
    memcpy(carom_table_reals(table, CAROM_OUTCOME_TANGENT_VELOCITY), end->tangent_velocity, size);
    *carom_table_integers(table, CAROM_OUTCOME_TERMINATED) = least >= carom_impact_approach_limit(s->call->impact);
    *carom_table_reals(table, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_PARAMETER) = parameter_of(s, point);
    *carom_table_integers(table, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_SETTLED) = end->settled;
    *carom_table_reals(table, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_TIME) = end->time;
    s->stuck = s->stuck || end->stuck;
    if (s->options->sweep == CAROM_SWEEP_ANGLE) s->first_fraction = end->first_fraction;
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------- running

// The only hinge, the energy at the system's state, and the slides' direction d with Jn_i d = 1 for every contact, of least length for the
// first. `y` [2 nv + contacts] is zero.
static carom_status prepare_angle(sweep *s, compliant_motion *probe, double *y, carom_error *error) {
    const carom_system *system = s->system;
    const int nv = system->nv;
    int hinges = 0;
    for (int j = 0; j < nv; j++) {
        if (!system->turns[j]) continue;
        s->hinge = j;
        hinges++;
    }
    if (hinges != 1) return carom_fail(error, CAROM_UNSUPPORTED, "sweep: angle turns the model's only hinge, and the model has %d", hinges);
    for (int j = 0; j < nv; j++) y[nv + j] = system->velocity[j];
    compliant_evaluate(probe, y);
    s->energy = kinetic_energy(probe, system->velocity) + probe->terms.potential;
    double square = 0;
    for (int j = 0; j < nv; j++) {
        s->shift[j] = system->turns[j] ? 0 : probe->terms.normal[j];
        square += s->shift[j] * s->shift[j];
    }
    for (int j = 0; j < nv && square > 0; j++) s->shift[j] /= square;
    for (int i = 0; i < system->contacts; i++)
        if (!(fabs(carom_dot(nv, probe->terms.normal + i * nv, s->shift) - 1) <= COMMON_NORMAL))
            return carom_fail(error, CAROM_UNSUPPORTED, "sweep: angle needs slides along one normal that all contacts have");
    return CAROM_OK;
}

// One impact for each point of the sweep.
static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_compliant_options *options = call->options;
    const carom_system *system = options->system;
    if (!system) return carom_fail(error, CAROM_BAD_INPUT, "compliant contact needs a system");
    const carom_impact_data *data = carom_impact_get_data(call->impact);
    if (data->nv != system->nv || data->contacts != system->contacts)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "the system's contacts are not those of the impact: capsules and joint stops have no compliant contacts");
    if (data->tangent_dim != 1)
        return carom_fail(error, CAROM_UNSUPPORTED, "compliant contact is for planar scenes, with one tangent a contact");
    if (options->sweep == CAROM_SWEEP_STIFFNESS && system->contacts != 2)
        return carom_fail(error, CAROM_UNSUPPORTED, "sweep: stiffness varies a ratio between two contacts, and the scene has %d",
                          system->contacts);

    // An impact ends when no closed contact approaches faster than the rest speed, and each has a share of the impulse m |Jn v-| of the
    // fastest.
    double approach = 0;
    for (int i = 0; i < data->contacts; i++) approach = fmax(approach, -carom_dot(data->nv, data->normal + i * data->nv, data->velocity));
    sweep s = {.call = call, .options = options, .system = system, .first_fraction = NAN};
    s.rest_speed = REST_FACTOR * system->mass / options->min_stiffness;
    s.least_impulse = options->least_impulse * system->mass * approach;

    // A solver and a probe for each worker, and room for each impact that is under way.
    carom_arena arena = {0};
    const int workers = carom_control_workers(call->control);
    const size_t nv = (size_t)system->nv, contacts = (size_t)system->contacts, slots = (size_t)carom_loop_slots(workers);
    s.room = 3 * nv + 5 * contacts;
    s.solvers = carom_arena_take(&arena, (size_t)workers, sizeof(compliant_solver *));
    s.probes = carom_arena_take(&arena, (size_t)workers, sizeof *s.probes);
    s.rooms = carom_arena_take(&arena, slots * s.room, sizeof *s.rooms);
    s.ends = carom_arena_take(&arena, slots, sizeof *s.ends);
    s.shift = carom_arena_take(&arena, nv, sizeof *s.shift);
    carom_status status = arena.failed ? carom_fail_memory(error, "compliant contact") : CAROM_OK;
    if (!status) status = carom_outcomes_create(call->impact, outcome_columns, CAROM_COMPLIANT_COLUMNS, &s.outcomes, error);
    for (int i = 0; i < workers && !status; i++) {
        status = compliant_solver_create(system, options, &s.solvers[i], error);
        if (!status) status = compliant_motion_create(system, options->slip_regularisation, &s.probes[i], error);
    }
    if (!status && options->sweep == CAROM_SWEEP_ANGLE) status = prepare_angle(&s, &s.probes[0], s.rooms, error);

    const carom_loop loop = {.blocks = options->points, .user = &s, .compute = compute, .deliver = deliver};
    int64_t delivered = 0;
    if (!status) status = carom_loop_run(&loop, call->control, workers, &delivered, error);
    if (!status) {
        *carom_table_reals(call->result, CAROM_RESULT_COLUMNS + CAROM_COMPLIANT_FIRST_FRACTION) = s.first_fraction;
        const carom_verdict verdict = delivered < options->points ? CAROM_INTERRUPTED : s.stuck ? CAROM_NO_CONVERGENCE : CAROM_COMPLETE;
        status = carom_table_set_text(call->result, CAROM_RESULT_COLUMNS + CAROM_COMPLIANT_SWEEP, sweep_names[options->sweep], error);
        if (!status) status = carom_law_emit(call, s.outcomes, error);
        if (!status) status = carom_law_conclude(call, verdict, CAROM_SELECT_ANY, error);
    }
    for (int i = 0; i < workers && !arena.failed; i++) {
        compliant_solver_free(s.solvers[i]);
        compliant_motion_release(&s.probes[i]);
    }
    carom_table_free(s.outcomes);
    carom_arena_free(&arena);
    return status;
}

const carom_law carom_compliant_law = {
    .name = "compliant",
    .summary = "impacts of compliant bodies, integrated in time: springs, dampers and friction at the contacts",
    .source = "Halm & Posa 2023, section 5.4.1",
    CAROM_OPTION_TABLE(carom_compliant_options, carom_compliant_rows),
    .defaults = defaults,
    CAROM_COLUMN_TABLE(outcome, outcome_columns),
    CAROM_COLUMN_TABLE(result, result_columns),
    .resolve = resolve,
};
