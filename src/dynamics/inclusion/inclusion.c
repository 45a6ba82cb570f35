// SPDX-License-Identifier: Apache-2.0
// Integrator `inclusion`: a planar mechanism through impacts, sustained contact and accumulations of impacts, over time and accumulated
// impulse (Halm & Posa 2023, section 4).
#include "dynamics/inclusion/inclusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"

// Substeps below this share of the grid step: the forces grow without bound, or the equations have no solution.
#define LEAST_SUBSTEP 1e-9
// Growth limits of substeps, and the safety factor of the step that the error estimate proposes.
#define MOST_GROWTH  4.0
#define LEAST_GROWTH 0.2
#define SAFETY       0.9
// Largest sum of the angles by which joints may turn in one substep [rad]. Free flight has no error that would limit it, and a point that
// turns further could touch and lift again unseen.
#define MOST_TURN 0.25
// A hop lower than this share of the system's length is lost in the round-off of gaps, and its end with it: a contact that leaves so slowly
// stays.
#define LEAST_HOP 1e-15
// A start that lies below a plane by less than this, relative to the system's length, touches.
#define START_TOLERANCE 1e-9
enum { BLOCK_ROWS = 1024, MOST_SETTLING = 100, DRAWN_SAMPLES = 16 };

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
    [IMPACT_AFTER] = {"qvel_after", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "velocity behind", NULL},
    [IMPACT_POSITION] = {"qpos", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m, rad", "coordinates", NULL},
};

enum {
    RESULT_ACCUMULATION_T = CAROM_MOTION_RESULT_COLUMNS,
    RESULT_ACCUMULATION_S,
    RESULT_ACCUMULATIONS,
    RESULT_IMPACTS,
    RESULT_SWITCHES,
    RESULT_PENETRATION
};

static const carom_column own_result_columns[] = {
    {"accumulation_t", CAROM_COLUMN_REAL, 1, "s", "time of the first accumulation of impacts", NULL},
    {"accumulation_s", CAROM_COLUMN_REAL, 1, "", "its independent variable", NULL},
    {"accumulation_count", CAROM_COLUMN_INTEGER, 1, "", "accumulations of impacts that were passed", NULL},
    {"impact_count", CAROM_COLUMN_INTEGER, 1, "", "impacts", NULL},
    {"switch_count", CAROM_COLUMN_INTEGER, 1, "", "times at which contacts touched, opened, stuck or slipped", NULL},
    {"max_penetration", CAROM_COLUMN_REAL, 1, "m", "largest penetration at the ends of steps", NULL},
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
     "law of all impacts, with its options under `impact`; auto: the law named there, or anitescu-potra", NULL},
    {"tolerance", CAROM_OPTION_REAL, offsetof(inclusion_options, tolerance), 1e-14, 1e-2, "", "1e-11",
     "relative error of a step of smooth motion", NULL},
    {"seed", CAROM_OPTION_INTEGER, offsetof(inclusion_options, seed), 0, CAROM_MOST_SEED / 2, "", "0",
     "chooses among outcomes of laws and among modes of contact", NULL},
    {"max_impacts", CAROM_OPTION_INTEGER, offsetof(inclusion_options, max_impacts), 1, 1e9, "", "100000",
     "impacts at which the run ends as a Zeno sequence", NULL},
    {"every", CAROM_OPTION_INTEGER, offsetof(inclusion_options, every), 1, 1e9, "", "1", "grid steps between recorded states", NULL},
};

// --------------------------------------------------------------------------------------------------------------- a run

typedef struct inclusion_loop {
    inclusion run;
    int64_t steps, step;
    int64_t impacts, accumulations, switches;
    double accumulation[2];  // t, s of the first
    double initial, energy, energy_error, penetration;
    bool ended;
    carom_verdict verdict;
    carom_table *states;
    inclusion_outcome outcome;
    double *outcome_block;
} inclusion_loop;

static void end_run(inclusion_loop *loop, carom_verdict verdict) {
    loop->verdict = verdict;
    loop->ended = true;
}

static uint64_t bit(int contact) { return (uint64_t)1 << contact; }

static double normal_speed(const inclusion *run, int contact) {
    return carom_dot(run->nv, run->terms.normal + contact * run->nv, run->y + run->nv);
}

// The scale of speeds only grows: what counts as rest does not depend on where a motion comes to rest.
static void note_speed(inclusion *run) {
    for (int i = 0; i < run->contacts; i++) {
        run->fastest = fmax(run->fastest, fabs(normal_speed(run, i)));
        run->fastest = fmax(run->fastest, fabs(carom_dot(run->nv, run->terms.tangent + i * run->nv, run->y + run->nv)));
    }
}

// ----------------------------------------------------------------------------------------------------------- recording

// The state, with the forces of its modes; in an impact time stands still.
static void fill_state(inclusion_loop *loop, bool in_impact, carom_table *table) {
    inclusion *run = &loop->run;
    const size_t nv = (size_t)run->nv;
    double total = 0;
    if (inclusion_assemble(run, run->y)) inclusion_solve_modes(run, run->mode);
    for (int i = 0; i < run->contacts; i++) {
        carom_table_reals(table, STATE_NORMAL_FORCE)[i] = run->force[2 * i] + 0.0;
        carom_table_reals(table, STATE_TANGENT_FORCE)[i] = run->force[2 * i + 1] + 0.0;
        total += run->force[2 * i];
    }
    const double rate = in_impact ? 0 : 1 / (1 + total);
    *carom_table_reals(table, STATE_TIME) = run->t;
    *carom_table_reals(table, STATE_IMPULSE) = run->y[2 * nv];
    memcpy(carom_table_reals(table, STATE_POSITION), run->y, nv * sizeof *run->y);
    memcpy(carom_table_reals(table, STATE_VELOCITY), run->y + nv, nv * sizeof *run->y);
    memcpy(carom_table_reals(table, STATE_GAP), run->terms.gap, (size_t)run->contacts * sizeof *run->y);
    *carom_table_reals(table, STATE_RATE) = rate;
    *carom_table_reals(table, STATE_IMPULSE_RATE) = 1 - rate;
    *carom_table_reals(table, STATE_ENERGY) = inclusion_energy(run, run->y + nv);
}

static carom_status record_state(inclusion_loop *loop, bool in_impact, carom_error *error) {
    if (!loop->states) return CAROM_OK;
    carom_status status = carom_table_add_row(loop->states, error);
    if (status) return status;
    fill_state(loop, in_impact, loop->states);
    return carom_table_rows(loop->states) < BLOCK_ROWS ? CAROM_OK : carom_motion_flush(loop->run.call, loop->states, error);
}

static carom_status record_impact(inclusion_loop *loop, const char *kind, carom_error *error) {
    const inclusion *run = &loop->run;
    const inclusion_outcome *outcome = &loop->outcome;
    carom_table *table = run->call->impacts;
    int list[INCLUSION_MOST_CONTACTS], count = 0;
    carom_status status = carom_table_add_row(table, error);
    for (int i = 0; i < run->contacts; i++)
        if (outcome->contacts & bit(i)) list[count++] = i;
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

// Energy may fall where contacts slip or collide, and by dampers, but never grow.
static void note_energy(inclusion_loop *loop) {
    inclusion *run = &loop->run;
    const double energy = inclusion_energy(run, run->y + run->nv);
    loop->energy_error = fmax(loop->energy_error, energy - loop->energy);
    loop->energy = fmin(loop->energy, energy);
    for (int i = 0; i < run->contacts; i++) loop->penetration = fmax(loop->penetration, -run->terms.gap[i]);
}

// -------------------------------------------------------------------------------------------------------------- impacts

// The speed of a hop that cannot be resolved, in free fall.
static double hop_speed(const inclusion *run, int contact) {
    return sqrt(2 * LEAST_HOP * run->system->length * fmax(-run->free[2 * contact], 0));
}

// Contacts behind an impact: those without normal velocity stay closed, the others leave.
static void sort_contacts(inclusion *run, uint64_t touching, double slow) {
    for (int i = 0; i < run->contacts; i++) {
        if (!(touching & bit(i))) continue;
        const bool stays = normal_speed(run, i) <= fmax(slow, hop_speed(run, i));
        const double slip = carom_dot(run->nv, run->terms.tangent + i * run->nv, run->y + run->nv);
        run->closed = stays ? run->closed | bit(i) : run->closed & ~bit(i);
        run->mode[i] = !stays               ? INCLUSION_OPEN
                       : fabs(slip) <= slow ? INCLUSION_STICKS
                       : slip > 0           ? INCLUSION_SLIPS_FORWARD
                                            : INCLUSION_SLIPS_BACKWARD;
    }
}

static carom_status apply_outcome(inclusion_loop *loop, const char *kind, double slow, carom_error *error) {
    inclusion *run = &loop->run;
    carom_status status = record_state(loop, false, error);
    if (!status) status = record_state(loop, true, error);
    if (!status) status = record_impact(loop, kind, error);
    if (status) return status;
    memcpy(run->y + run->nv, loop->outcome.velocity, (size_t)run->nv * sizeof *run->y);
    for (int i = 0; i < run->contacts; i++) run->y[2 * run->nv] += loop->outcome.impulse[2 * i];
    sort_contacts(run, loop->outcome.contacts, slow);
    if (!inclusion_project(run, run->y)) end_run(loop, CAROM_NO_CONVERGENCE);
    note_energy(loop);
    if (!loop->ended) status = record_state(loop, true, error);
    if (loop->impacts >= run->options->max_impacts) end_run(loop, CAROM_ZENO_LIMIT);
    return status;
}

static carom_status collide(inclusion_loop *loop, uint64_t touching, carom_error *error) {
    inclusion *run = &loop->run;
    const carom_status status = inclusion_collide(run, touching, loop->impacts, &loop->outcome, error);
    if (status) return status;
    if (!loop->outcome.solved) {
        end_run(loop, CAROM_NO_CONVERGENCE);
        return CAROM_OK;
    }
    // What a law's tolerance leaves of approach and slip is none.
    double scale = 0;
    for (int i = 0; i < run->contacts; i++) {
        if (!(touching & bit(i))) continue;
        scale = fmax(scale, fabs(normal_speed(run, i)));
        scale = fmax(scale, fabs(carom_dot(run->nv, run->terms.tangent + i * run->nv, run->y + run->nv)));
    }
    return apply_outcome(loop, "collision", fmax(CAROM_TERMINATION_TOLERANCE * scale, inclusion_slow(run)), error);
}

// Contacts at their planes; `*approach` when one of them comes closer.
static uint64_t find_touching(const inclusion *run, bool *approach) {
    uint64_t touching = 0;
    *approach = false;
    for (int i = 0; i < run->contacts; i++) {
        if (!(run->closed & bit(i)) && run->terms.gap[i] > INCLUSION_TOUCH * run->system->length) continue;
        touching |= bit(i);
        *approach = *approach || normal_speed(run, i) < -inclusion_slow(run);
    }
    return touching;
}

// Behind an impact, Newton's law allows a contact that separated with speed u to approach with e u: nothing has ended then. A contact that
// rebounds waits for the next impact of the instant, which is its own if it approaches by then.
static uint64_t leave_out_rebounds(const inclusion *run, uint64_t touching) {
    for (int i = 0; i < run->contacts; i++)
        if (touching & bit(i) && run->system->restitution[i] > 0 && normal_speed(run, i) > inclusion_slow(run)) touching &= ~bit(i);
    return touching;
}

static void close_slow_contacts(inclusion *run, uint64_t touching) {
    for (int i = 0; i < run->contacts; i++) {
        const double speed = normal_speed(run, i), slow = inclusion_slow(run);
        if (touching & bit(i)) run->closed = speed > slow ? run->closed & ~bit(i) : run->closed | bit(i);
    }
}

// --------------------------------------------------------------------------------------------------------- accumulation

static carom_status pass_accumulation(inclusion_loop *loop, carom_error *error) {
    inclusion *run = &loop->run;
    uint64_t contacts;
    if (!inclusion_pass_accumulation(run, &contacts)) return CAROM_OK;
    if (!loop->accumulations++) {
        loop->accumulation[0] = run->t;
        loop->accumulation[1] = run->y[2 * run->nv];
    }
    if (!inclusion_assemble(run, run->y)) end_run(loop, CAROM_NO_CONVERGENCE);
    // Nothing is left of the speed with which these contacts touch.
    sort_contacts(run, contacts, run->fastest);
    for (int i = 0; i < run->contacts; i++) {
        const double slip = carom_dot(run->nv, run->terms.tangent + i * run->nv, run->y + run->nv);
        if (run->closed & bit(i) && fabs(slip) > inclusion_slow(run))
            run->mode[i] = slip > 0 ? INCLUSION_SLIPS_FORWARD : INCLUSION_SLIPS_BACKWARD;
    }
    if (!loop->ended && !inclusion_project(run, run->y)) end_run(loop, CAROM_NO_CONVERGENCE);
    note_energy(loop);
    return loop->ended ? CAROM_OK : record_state(loop, true, error);
}

// Impacts at this instant until nothing approaches, then the modes in which the motion goes on.
static carom_status settle(inclusion_loop *loop, const inclusion_mode *leave, carom_error *error) {
    inclusion *run = &loop->run;
    for (int round = 0; round < MOST_SETTLING && !loop->ended; round++) {
        carom_status status = CAROM_OK;
        bool approach;
        int jams;
        if (!inclusion_assemble(run, run->y)) break;
        note_speed(run);
        const uint64_t touching = find_touching(run, &approach);
        if (approach) {
            const uint64_t colliding = leave_out_rebounds(run, touching);
            status = collide(loop, colliding, error);
            inclusion_remember(run, colliding);
            if (!status && !loop->ended) status = pass_accumulation(loop, error);
            leave = NULL;
        } else {
            close_slow_contacts(run, touching);
            if (__builtin_popcountll(run->closed) > INCLUSION_MOST_CLOSED)
                return carom_fail(error, CAROM_UNSUPPORTED, "integrator: inclusion sustains up to %d contacts at once",
                                  INCLUSION_MOST_CLOSED);
            if (inclusion_choose_modes(run, leave, &jams)) return record_state(loop, false, error);
            if (jams < 0) break;
            status = inclusion_jam(run, jams, &loop->outcome, error);
            if (!status) status = apply_outcome(loop, "without-collision", inclusion_slow(run), error);
        }
        if (status) return status;
    }
    if (!loop->ended) end_run(loop, CAROM_NO_CONVERGENCE);
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------ smoothly

// Time in which the joints turn by the most that a substep may.
static double turning_time(const inclusion *run) {
    double rate = 0;
    for (int j = 0; j < run->nv; j++)
        if (run->system->turns[j]) rate += fabs(run->y[run->nv + j]);
    return MOST_TURN / rate;
}

// One substep with a small enough error. False when there is none: the forces of the modes are about to become infinite.
static bool try_substep(inclusion *run, double left, double *h, double *y) {
    *h = fmin(fmin(run->substep, turning_time(run)), left);
    while (*h > LEAST_SUBSTEP * run->options->step || *h == left) {
        const double ratio = inclusion_advance(run, *h, y, run->error) ? inclusion_error_ratio(run, *h, y, run->error) : INFINITY;
        const double factor = isfinite(ratio) ? SAFETY * pow(fmax(ratio, 1e-10), -1. / 5) : LEAST_GROWTH;
        const double grown = *h * fmin(fmax(factor, LEAST_GROWTH), MOST_GROWTH);
        if (ratio <= 1) {
            // A short rest of a grid step says nothing about the next.
            run->substep = *h < left ? grown : fmax(run->substep, grown);
            return true;
        }
        run->substep = *h = grown;
    }
    return false;
}

static void take_state(inclusion_loop *loop, double h, const double *y) {
    inclusion *run = &loop->run;
    run->t += h;
    memcpy(run->y, y, (2 * (size_t)run->nv + 1) * sizeof *y);
    if (!inclusion_project(run, run->y)) end_run(loop, CAROM_NO_CONVERGENCE);
    if (!run->closed) inclusion_assemble(run, run->y);
    note_energy(loop);
}

// Up to the next switch or the end of the substep.
static carom_status move(inclusion_loop *loop, double left, double *next, carom_error *error) {
    inclusion *run = &loop->run;
    double h, when;
    if (!try_substep(run, left, &h, next)) {
        end_run(loop, CAROM_NO_CONVERGENCE);
        return CAROM_OK;
    }
    const bool switches = inclusion_find_switch(run, h, next, &when);
    if (switches) {
        if (when > 0 && !inclusion_advance(run, when, next, NULL)) end_run(loop, CAROM_NO_CONVERGENCE);
        if (when == 0) memcpy(next, run->y, (2 * (size_t)run->nv + 1) * sizeof *next);
    }
    take_state(loop, switches ? when : h, next);
    if (!switches || loop->ended) return CAROM_OK;
    inclusion_mode leave[INCLUSION_MOST_CONTACTS];
    memcpy(leave, run->mode, (size_t)run->contacts * sizeof *leave);
    loop->switches++;
    return settle(loop, leave, error);
}

static bool is_stopped(const inclusion_loop *loop) {
    const carom_control *control = loop->run.call->control;
    if (control && control->progress) control->progress(control->user, loop->step, loop->steps);
    return carom_control_cancelled(control);
}

// Switches at one instant that do not end are Zeno's, too.
static carom_status do_step(inclusion_loop *loop, double *next, carom_error *error) {
    inclusion *run = &loop->run;
    const double end = (double)(loop->step + 1) * run->options->step;
    int64_t idle = 0;
    while (!loop->ended && run->t < end) {
        const double start = run->t;
        const carom_status status = move(loop, end - run->t, next, error);
        if (status) return status;
        idle = run->t > start ? 0 : idle + 1;
        if (idle > MOST_SETTLING) end_run(loop, CAROM_ZENO_LIMIT);
        // A step of fast joints has many substeps.
        if (carom_control_cancelled(run->call->control)) end_run(loop, CAROM_INTERRUPTED);
    }
    return CAROM_OK;
}

static carom_status run_grid(inclusion_loop *loop, carom_error *error) {
    inclusion *run = &loop->run;
    double *next = malloc((2 * (size_t)run->nv + 1) * sizeof *next);
    if (!next) return carom_fail_memory(error, "inclusion");
    carom_status status = settle(loop, NULL, error);
    while (!status && !loop->ended && loop->step < loop->steps) {
        if (is_stopped(loop)) {
            end_run(loop, CAROM_INTERRUPTED);
            break;
        }
        status = do_step(loop, next, error);
        if (status || loop->ended) break;
        loop->step++;
        // Accumulations may lie beyond the grid point by less than a step.
        if (run->t < (double)(loop->step + 1) * run->options->step) run->t = fmax(run->t, (double)loop->step * run->options->step);
        if (loop->step % run->options->every == 0) status = record_state(loop, false, error);
    }
    free(next);
    return status;
}

// ----------------------------------------------------------------------------------------------------- start and end

static carom_status allocate(inclusion_loop *loop, carom_error *error) {
    inclusion *run = &loop->run;
    const size_t nv = (size_t)run->nv, m = (size_t)run->contacts, y = 2 * nv + 1, rows = 2 * m;
    // Two copies of a system of modes and its null space, rows of an impact, or a displacement.
    const size_t work = 2 * rows * rows + rows + 2 * m * nv + nv, records = INCLUSION_RECORDS * 2 * nv;
    const size_t sizes[] = {y,    nv * nv, nv,   m,     m * nv, m * nv, m,     m,     nv * nv, nv, rows * nv, rows * rows, rows,
                            rows, nv,      work, 7 * y, y,      y,      3 * m, 3 * m, m,       m,  records,   nv,          rows};
    double **const arrays[] = {&run->y,
                               &run->terms.mass,
                               &run->terms.bias,
                               &run->terms.gap,
                               &run->terms.normal,
                               &run->terms.tangent,
                               &run->terms.normal_drift,
                               &run->terms.tangent_drift,
                               &run->factor,
                               &run->smooth,
                               &run->response,
                               &run->delassus,
                               &run->free,
                               &run->force,
                               &run->acceleration,
                               &run->work,
                               &run->stages,
                               &run->trial,
                               &run->error,
                               &run->before,
                               &run->located,
                               &run->rate_before,
                               &run->rate_located,
                               &run->records[0].state,
                               &loop->outcome.velocity,
                               &loop->outcome.impulse};
    size_t total = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) total += sizes[i];
    run->block = calloc(total, sizeof *run->block);
    run->mode = calloc(m, sizeof *run->mode);
    run->exchanges = calloc(rows, sizeof *run->exchanges);
    if (!run->block || !run->mode || !run->exchanges) return carom_fail_memory(error, "inclusion");
    double *next = run->block;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; next += sizes[i++]) *arrays[i] = next;
    for (int i = 1; i < INCLUSION_RECORDS; i++) run->records[i].state = run->records[0].state + (size_t)i * 2 * nv;
    return CAROM_OK;
}

static carom_status prepare_law(inclusion *run, carom_error *error) {
    const carom_law_settings *settings = run->call->settings;
    const char *name = run->options->law;
    if (!strcmp(name, "auto")) name = settings && settings->law ? settings->law : "anitescu-potra";
    run->law = carom_law_find(run->call->registry, name);
    if (!run->law) return carom_fail(error, CAROM_BAD_INPUT, "law: there is no law '%.60s'", name);
    run->law_options = malloc(run->law->options_size);
    if (!run->law_options) return carom_fail_memory(error, "inclusion");
    run->law->defaults(run->law_options);
    carom_status status = CAROM_OK;
    if (settings) status = settings->apply(settings->user, run->law, run->law_options, error);
    // One outcome is wanted of a sampled set; a few more are drawn in case that some do not terminate.
    return status ? status : carom_motion_set_option(run->law, run->law_options, "samples", DRAWN_SAMPLES, error);
}

static carom_status check_problem(const carom_motion_call *call, carom_error *error) {
    const carom_system *system = call->motion->system;
    if (system->tangent_dim != 1)
        return carom_fail(error, CAROM_UNSUPPORTED, "contacts: inclusion is for planar scenes whose contacts have a tangent");
    if (system->contacts > INCLUSION_MOST_CONTACTS)
        return carom_fail(error, CAROM_UNSUPPORTED, "contacts: inclusion takes up to %d contacts", INCLUSION_MOST_CONTACTS);
    return CAROM_OK;
}

static void load_start(inclusion *run) {
    const carom_motion *motion = run->call->motion;
    const int nv = run->nv;
    memcpy(run->y, run->system->position, (size_t)nv * sizeof *run->y);
    memcpy(run->y + nv, run->system->velocity, (size_t)nv * sizeof *run->y);
    carom_stream stream;
    carom_stream_start(&stream, 0, (uint64_t)motion->member);
    for (int j = 0; j < nv && motion->displacement > 0; j++) run->y[j] += motion->displacement * carom_stream_normal(&stream);
    for (int i = 0; i < run->contacts; i++) run->mode[i] = INCLUSION_OPEN;
    carom_stream_start_use(&run->choices, (uint64_t)(run->options->seed + motion->member), 0, CAROM_STREAM_SELECTION);
}

// A displaced start that penetrates is moved out of its planes.
static carom_status check_start(inclusion_loop *loop, carom_error *error) {
    inclusion *run = &loop->run;
    if (!inclusion_assemble(run, run->y)) return carom_fail(error, CAROM_BAD_INPUT, "state: the model has no finite mass matrix there");
    for (int i = 0; i < run->contacts; i++) {
        if (!(run->terms.gap[i] < 0)) continue;
        if (run->call->motion->displacement == 0 && run->terms.gap[i] < -START_TOLERANCE * run->system->length)
            return carom_fail(error, CAROM_BAD_INPUT, "contacts: contact %d lies %.9g m below its plane at the start", i + 1,
                              -run->terms.gap[i]);
    }
    for (int i = 0; i < run->contacts; i++)
        if (run->terms.gap[i] < 0) run->closed |= bit(i);
    // Only the positions: nothing sticks yet, and no speed has a scale.
    const uint64_t below = run->closed;
    double *velocity = run->trial;
    memcpy(velocity, run->y + run->nv, (size_t)run->nv * sizeof *velocity);
    if (below) inclusion_project(run, run->y);
    memcpy(run->y + run->nv, velocity, (size_t)run->nv * sizeof *velocity);
    run->closed = 0;
    inclusion_assemble(run, run->y);
    loop->initial = loop->energy = inclusion_energy(run, run->y + run->nv);
    run->substep = run->options->step;
    return CAROM_OK;
}

static carom_status conclude(inclusion_loop *loop, carom_error *error) {
    const carom_motion_call *call = loop->run.call;
    carom_status status = carom_motion_flush(loop->run.call, loop->states, error);
    if (status) return status;
    fill_state(loop, false, call->final);
    if (loop->accumulations) {
        *carom_table_reals(call->result, RESULT_ACCUMULATION_T) = loop->accumulation[0];
        *carom_table_reals(call->result, RESULT_ACCUMULATION_S) = loop->accumulation[1];
    }
    *carom_table_integers(call->result, RESULT_ACCUMULATIONS) = loop->accumulations;
    *carom_table_integers(call->result, RESULT_IMPACTS) = loop->impacts;
    *carom_table_integers(call->result, RESULT_SWITCHES) = loop->switches;
    *carom_table_reals(call->result, RESULT_PENETRATION) = loop->penetration;
    const double relative = loop->initial != 0 ? loop->energy_error / fabs(loop->initial) : NAN;
    return carom_motion_conclude(call, loop->ended ? loop->verdict : CAROM_COMPLETE, loop->step, loop->run.t, relative, error);
}

static void release(inclusion_loop *loop) {
    inclusion *run = &loop->run;
    if (run->workspace) run->system->close(run->workspace);
    free(run->law_options);
    free(run->block);
    free(run->mode);
    free(run->exchanges);
    carom_table_free(loop->states);
}

static carom_status run(const carom_motion_call *call, carom_error *error) {
    carom_status status = check_problem(call, error);
    if (status) return status;
    const carom_system *system = call->motion->system;
    const inclusion_options *options = call->options;
    const carom_sizes sizes = carom_impact_sizes(call->motion->impact);
    inclusion_loop loop = {.run = {.call = call, .options = options, .system = system, .nv = system->nv, .contacts = system->contacts}};
    status = carom_motion_count_steps(options->duration, options->step, &loop.steps, error);
    if (!status) status = allocate(&loop, error);
    if (!status) status = prepare_law(&loop.run, error);
    if (!status) status = system->open(system->self, &loop.run.workspace, error);
    if (!status && call->states) status = carom_table_create(state_columns, STATE_COLUMNS, NULL, 0, &sizes, &loop.states, error);
    if (!status) {
        load_start(&loop.run);
        status = check_start(&loop, error);
    }
    if (!status) status = run_grid(&loop, error);
    if (!status) status = conclude(&loop, error);
    release(&loop);
    return status;
}

const carom_integrator carom_integrator_inclusion = {
    .name = "inclusion",
    .summary = "planar mechanisms through impacts, sustained contact and Zeno: the time-augmented inclusion",
    .source = "Halm & Posa 2023, section 4; Genot & Brogliato 1999 for impacts without collision",
    .form = CAROM_MOTION_SYSTEM,
    .options = option_rows,
    .option_count = sizeof option_rows / sizeof *option_rows,
    .options_size = sizeof(inclusion_options),
    .defaults = defaults,
    .state_columns = state_columns,
    .state_column_count = STATE_COLUMNS,
    .impact_columns = impact_columns,
    .impact_column_count = IMPACT_COLUMNS,
    .result_columns = own_result_columns,
    .result_column_count = sizeof own_result_columns / sizeof *own_result_columns,
    .result_groups = &accumulation,
    .result_group_count = 1,
    .run = run,
    .describe = inclusion_describe,
    .figures = inclusion_figures,
    .trace = inclusion_trace,
    .trace_width = INCLUSION_TRACE_WIDTH,
};
