// SPDX-License-Identifier: Apache-2.0
// Integrator `lgvci`: a body that bounces on a plane, from impact to impact (Tran & Leok 2023, Algorithm 5.2).
#include "dynamics/lgvci/lgvci.h"

#include <string.h>

#include "carom/dense.h"
#include "carom/rotation.h"

// A start that lies below the plane by less than this, relative to the body's radius, touches.
#define START_TOLERANCE LGVCI_TOUCH_TOLERANCE
// Attitudes further from a rotation than this are refused; nearer ones are projected.
#define ATTITUDE_TOLERANCE 1e-8
// Speeds of approach below this share of the fastest speed count as zero.
#define GRAZING_SPEED 1e-10
// Accelerations below this share of those of gravity and turning count as zero.
#define GRAZING_ACCELERATION 1e-9
// Height of a hop, in resolutions of the gap, that detection is sure to see: halving an interval may step over the top of a lower one, and
// its end is then where the gap has fallen below the plane by another resolution.
#define RESOLVED_HOP 3
// Change of a segment's length, relative to the step, at which the discrete jump and the next impact agree.
#define SEGMENT_TOLERANCE 1e-13
// Grid steps between two corrections of the attitude's rounding, whose defect is then about 1e-14, and between polls.
enum { STEPS_BETWEEN_CORRECTIONS = 4096, STEPS_BETWEEN_POLLS = 256, BLOCK_ROWS = 1024 };
// Substeps of one step, where the body spins too fast for the whole; beyond, the step is refused.
enum { MOST_SUBSTEPS = 1000 };
// Rounds in which the discrete jump and the time of the next impact in the same step are brought together.
enum { MOST_ROUNDS = 100 };

enum {
    RESULT_ORTHOGONALITY = CAROM_MOTION_RESULT_COLUMNS,
    RESULT_INITIAL_ENERGY,
    RESULT_IMPACTS,
    RESULT_SEVERAL,
    RESULT_LAW,
    RESULT_REST,
    RESULT_STILL
};

static const carom_column own_result_columns[] = {
    {"max_orthogonality_error", CAROM_COLUMN_REAL, 1, "", "largest |R'R - I| (Frobenius) at impacts, before corrections, at the end", NULL},
    {"initial_energy", CAROM_COLUMN_REAL, 1, "J", "energy at the start", NULL},
    {"impact_count", CAROM_COLUMN_INTEGER, 1, "", "impacts", NULL},
    {"simultaneous_count", CAROM_COLUMN_INTEGER, 1, "", "impacts at which several points touch", NULL},
    {"law", CAROM_COLUMN_TEXT, 1, "", "law of all impacts; none: reflection without friction", NULL},
    {"rest_time", CAROM_COLUMN_REAL, 1, "s", "when a point first stayed on the plane, and the run went on", NULL},
    {"still_time", CAROM_COLUMN_REAL, 1, "s", "when the body lay still", NULL},
};

// ------------------------------------------------------------------------------------------------------------- options

static const char *const orders[] = {"2", "4", NULL};
static const char *const rests[] = {[LGVCI_REST_ENDS] = "end", [LGVCI_REST_GOES_ON] = "go-on", NULL};
static const char *const jumps[] = {"energy", "discrete", NULL};

static void defaults(void *options) {
    *(lgvci_options *)options = (lgvci_options){.step = 0.01,
                                                .duration = 10,
                                                .order = LGVCI_FOURTH_ORDER,
                                                .jump = LGVCI_JUMP_ENERGY,
                                                .restitution = NAN,
                                                .law = "auto",
                                                .max_impacts = 1000,
                                                .every = 1};
}

static const carom_option option_rows[] = {
    {"step", CAROM_OPTION_REAL, offsetof(lgvci_options, step), CAROM_POSITIVE, HUGE_VAL, "s", "0.01", "grid step", NULL},
    {"duration", CAROM_OPTION_REAL, offsetof(lgvci_options, duration), 0, HUGE_VAL, "s", "10", "time to be covered", NULL},
    {"order", CAROM_OPTION_CHOICE, offsetof(lgvci_options, order), 0, 0, "", "4",
     "of the rotation: 2 as published, 4 with the preprocessed inertia at the same cost", orders},
    {"jump", CAROM_OPTION_CHOICE, offsetof(lgvci_options, jump), 0, 0, "", "energy",
     "what an impact keeps: the energy, or the discrete energy (symplectic; order 2 only)", jumps},
    {"restitution", CAROM_OPTION_REAL, offsetof(lgvci_options, restitution), 0, 1, "", "auto",
     "coefficient of restitution; auto is 1, or what the law's own options say", NULL},
    {"law", CAROM_OPTION_TEXT, offsetof(lgvci_options, law), 0, 0, "", "auto",
     "law of all impacts, with its options under `impact`; auto: the law named there, or none; none: reflection without friction", NULL},
    {"friction", CAROM_OPTION_REAL, offsetof(lgvci_options, friction), 0, HUGE_VAL, "", "0",
     "Coulomb coefficient, for a law that has friction", NULL},
    {"seed", CAROM_OPTION_INTEGER, offsetof(lgvci_options, seed), 0, (CAROM_MOST_SEED - 1) / 2, "", "0",
     "of a law that uses random numbers; each impact adds its index", NULL},
    {"max_impacts", CAROM_OPTION_INTEGER, offsetof(lgvci_options, max_impacts), 1, 1e9, "", "1000",
     "impacts in one step; one more, and the run ends as a Zeno sequence", NULL},
    {"every", CAROM_OPTION_INTEGER, offsetof(lgvci_options, every), 1, 1e9, "", "1", "grid steps between recorded states", NULL},
    {"rest", CAROM_OPTION_CHOICE, offsetof(lgvci_options, rest), 0, 0, "", "end",
     "a point that stays on the plane ends the run, or it goes on: sliding, rolling, sticking, until the body lies still", rests},
};

// --------------------------------------------------------------------------------------------------------------- a run

typedef struct lgvci_loop {
    const carom_motion_call *call;
    const lgvci_options *options;
    lgvci run;
    lgvci_law law, rest_law;
    bool resting, still;  // a point stays on the plane; the body lies still
    double rest_time, still_time;
    int64_t steps, step;  // grid steps to do; the one being done, from 1
    double offset;        // of the base inside it
    int64_t launch_step;  // where the flight began
    double launch_offset;
    int64_t impacts, several, in_step;
    bool dissipates;          // impacts may lower the energy
    double initial, current;  // energies: at the start, and what the flight should have
    double energy_error, kinetic, orthogonality_error;
    carom_verdict verdict;  // CAROM_COMPLETE until something ends the run early
    carom_table *states;    // a block of them
} lgvci_loop;

static void note_orthogonality(lgvci_loop *loop) {
    loop->orthogonality_error = fmax(loop->orthogonality_error, carom_rotation_defect(loop->run.base.attitude));
}

static void note_energy(lgvci_loop *loop) {
    double terms[3];
    loop->energy_error = fmax(loop->energy_error, fabs(lgvci_energy(&loop->run, &loop->run.base, terms) - loop->current));
    loop->kinetic = fmax(loop->kinetic, terms[0] + terms[1]);
}

static double base_time(const lgvci_loop *loop) { return (double)(loop->step - 1) * loop->options->step + loop->offset; }

static carom_status record_state(lgvci_loop *loop, double time, carom_error *error) {
    if (!loop->states) return CAROM_OK;
    carom_status status = carom_table_add_row(loop->states, error);
    if (status) return status;
    lgvci_fill_state(&loop->run, &loop->run.base, time, loop->states);
    return carom_table_rows(loop->states) < BLOCK_ROWS ? CAROM_OK : carom_motion_flush(loop->call, loop->states, error);
}

// ------------------------------------------------------------------------------------------------------------- impacts

// The discrete jump. Its next segment ends at the grid point, a time `left` away, or sooner at the next impact of the same step, whose time
// depends on the jump: the two are brought together. `before` and `c` belong to the segment that ended here.
static bool jump_discretely(lgvci_loop *loop, const carom_body_state *touch, double before, const double c[3], double left,
                            carom_body_state *after) {
    double length = left;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double impulse, found, unused[3];
        carom_body_state next;
        if (!lgvci_discrete_impulse(&loop->run, touch, &loop->law.contacts[0], before, c, length, &impulse)) return false;
        *after = *touch;
        lgvci_push(&loop->run, &loop->law.contacts[0], impulse, after);
        if (left == 0) return true;
        lgvci trial = loop->run;
        lgvci_launch(&trial, after);
        // Such a step is too long for the rotation; do_step refuses it.
        if (left > trial.longest) return true;
        if (lgvci_find_hit(&trial, left, &found, &next, unused) == LGVCI_UNSOLVED) return false;
        if (fabs(found - length) <= SEGMENT_TOLERANCE * loop->options->step) return true;
        length = found;
    }
    return false;
}

// What the points that touch do.
typedef enum touch { TOUCH_LEAVES, TOUCH_RESTS, TOUCH_APPROACHES } touch;

// A point approaches when it is faster than rounding, and than a fall from the height of a hop that is too low to be seen. It rests when it
// is as slow in both directions, and free flight does not lift it.
static touch judge_touch(const lgvci_loop *loop, int count) {
    const lgvci *run = &loop->run;
    const double slow = GRAZING_SPEED * lgvci_speed_scale(run, &run->base);
    const double level = GRAZING_ACCELERATION * (run->gravity + run->acceleration);
    const double height = RESOLVED_HOP * (lgvci_gap_resolution(run, &run->base) + fmax(0, -lgvci_gap(run, &run->base)));
    touch judged = TOUCH_LEAVES;
    for (int i = 0; i < count; i++) {
        const lgvci_contact *contact = &loop->law.contacts[i];
        const double acceleration = lgvci_gap_acceleration(run, &run->base, contact);
        const double quiet = fmax(slow, acceleration < 0 ? sqrt(-2 * acceleration * height) : 0);
        if (contact->speed < -quiet) return TOUCH_APPROACHES;
        if (contact->speed <= quiet && acceleration <= level) judged = TOUCH_RESTS;
    }
    return judged;
}

// Runs whose impacts take energy go on where a point stays on the plane, if they are asked to.
static bool goes_on(const lgvci_loop *loop) { return loop->dissipates && loop->options->rest == LGVCI_REST_GOES_ON; }

static void begin_rest(lgvci_loop *loop) {
    loop->resting = true;
    if (isnan(loop->rest_time)) loop->rest_time = base_time(loop);
}

// What is left of a step, on the plane; a body that leaves it flies from here on. It does so once in a step.
static carom_status rest_on(lgvci_loop *loop, double left, bool *left_before, bool *done, carom_error *error) {
    lgvci *run = &loop->run;
    lgvci_rest rest;
    double terms[3];
    const double parts = fmax(1, ceil(left / run->longest));
    *done = true;
    for (double part = 0; part < parts; part++) {
        const carom_status status = lgvci_rest_step(run, loop->call, &loop->rest_law, left / parts, !*left_before, &rest, error);
        if (status) return status;
        if (rest == LGVCI_REST_FAILS || parts > MOST_SUBSTEPS) {
            loop->verdict = rest == LGVCI_REST_FAILS ? CAROM_NO_CONVERGENCE : CAROM_STEP_TOO_LARGE;
            return CAROM_OK;
        }
        if (rest == LGVCI_REST_LEAVES) {
            // The flight begins here.
            *left_before = true;
            *done = false;
            loop->resting = false;
            run->touching = 0;
            lgvci_launch(run, &run->base);
            loop->launch_step = loop->step;
            loop->launch_offset = loop->offset;
            return CAROM_OK;
        }
        loop->offset += left / parts;
        loop->current = fmin(loop->current, lgvci_energy(run, &run->base, terms));
        if (rest == LGVCI_REST_STILL && !loop->still) {
            loop->still = true;
            loop->still_time = base_time(loop);
        }
    }
    return CAROM_OK;
}

// The base touches: an impact where a point approaches; the end of free flight where one rests; otherwise it leaves by itself. `before` and
// `c` belong to the segment that ended here.
static carom_status touch_down(lgvci_loop *loop, double before, const double c[3], carom_error *error) {
    lgvci *run = &loop->run;
    lgvci_law *law = &loop->law;
    note_orthogonality(loop);
    note_energy(loop);
    // After an overflow no comparison below would hold.
    if (!isfinite(lgvci_speed_scale(run, &run->base))) loop->verdict = CAROM_NO_CONVERGENCE;
    // A law that takes one contact is asked again, in the same instant, until no point approaches.
    for (bool again = true; again && loop->verdict == CAROM_COMPLETE;) {
        if (loop->in_step++ == loop->options->max_impacts) {
            if (goes_on(loop))
                begin_rest(loop);
            else
                loop->verdict = CAROM_ZENO_LIMIT;
            return CAROM_OK;
        }
        const int count = lgvci_collect_contacts(run, &run->base, law->contacts, law->most);
        const touch judged = judge_touch(loop, count);
        if (judged == TOUCH_RESTS && goes_on(loop))
            begin_rest(loop);
        else if (judged == TOUCH_RESTS)
            loop->verdict = CAROM_PERSISTENT_CONTACT;
        if (judged != TOUCH_APPROACHES) return CAROM_OK;

        // The momenta after the impact: by the law, by the discrete energy, or by reflection.
        const carom_body_state touching = run->base;
        carom_body_state after = touching;
        bool solved = true;
        carom_status status = CAROM_OK;
        if (count > 1 || law->named)
            status = lgvci_law_apply(run, loop->call, law, loop->impacts, count, &after, &solved, error);
        else if (loop->options->jump == LGVCI_JUMP_DISCRETE)
            solved = jump_discretely(loop, &touching, before, c, loop->options->step - loop->offset, &after);
        else
            lgvci_push(run, &law->contacts[0], lgvci_reflecting_impulse(run, &law->contacts[0], law->restitution), &after);
        if (status) return status;
        if (!solved) {
            loop->verdict = CAROM_NO_CONVERGENCE;
            return CAROM_OK;
        }
        const lgvci_impact impact = {base_time(loop), loop->step, count, law->contacts, &touching, &after};
        status = lgvci_record_impact(run, &impact, loop->call->impacts, error);
        if (status) return status;
        loop->impacts++;
        loop->several += count > 1;

        // The next flight, from here.
        lgvci_launch(run, &after);
        loop->launch_step = loop->step;
        loop->launch_offset = loop->offset;
        double terms[3];
        if (loop->dissipates) loop->current = fmin(lgvci_energy(run, &after, terms), loop->current);
        again = law->singly && count > 1;
    }
    return CAROM_OK;
}

// One grid step, from impact to impact, in equal parts that the rotation can be solved for.
static carom_status do_step(lgvci_loop *loop, carom_error *error) {
    lgvci *run = &loop->run;
    const double step = loop->options->step;
    loop->in_step = 0;
    loop->offset = 0;
    bool left_before = false;
    for (double left = step; loop->verdict == CAROM_COMPLETE && left > 0 && !loop->still;) {
        if (loop->resting) {
            bool done;
            const carom_status status = rest_on(loop, left, &left_before, &done, error);
            if (status || done) return status;
        }
        const double parts = ceil(left / run->longest), piece = parts > 1 ? left / parts : left;
        if (parts > 1 && (parts > MOST_SUBSTEPS || loop->options->jump != LGVCI_JUMP_ENERGY)) {
            loop->verdict = CAROM_STEP_TOO_LARGE;
            break;
        }
        // The base moves to the impact, or to the end of the part.
        double s, c[3];
        carom_body_state next;
        const lgvci_search found = lgvci_find_hit(run, piece, &s, &next, c);
        if (found == LGVCI_UNSOLVED) {
            loop->verdict = CAROM_NO_CONVERGENCE;
            break;
        }
        run->base = next;
        loop->offset += s;
        run->elapsed = (double)(loop->step - loop->launch_step) * step + (loop->offset - loop->launch_offset);
        if (found == LGVCI_FREE && piece == left) break;
        left = step - loop->offset;
        const carom_status status = found == LGVCI_HIT ? touch_down(loop, s, c, error) : CAROM_OK;
        if (status) return status;
    }
    return CAROM_OK;
}

// ----------------------------------------------------------------------------------------------------- start and end

static carom_status check_motion(const carom_body_motion *motion, carom_error *error) {
    const carom_body_state *initial = &motion->initial;
    const struct {
        const char *key;
        const double *values;
        int count;
    } numbers[] = {{"gravity", &motion->gravity, 1},
                   {"plane.normal", motion->plane_normal, 3},
                   {"plane.offset", &motion->plane_offset, 1},
                   {"initial.position", initial->position, 3},
                   {"initial.attitude", initial->attitude, 9},
                   {"initial.momentum", initial->momentum, 3},
                   {"initial.angular_momentum", initial->angular_momentum, 3}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!carom_all_finite((size_t)numbers[i].count, numbers[i].values))
            return carom_fail(error, CAROM_BAD_INPUT, "%s: a number is not finite", numbers[i].key);
    if (motion->gravity < 0) return carom_fail(error, CAROM_BAD_INPUT, "gravity: %g is below 0", motion->gravity);
    if (motion->plane_normal[2] <= 0)
        return carom_fail(error, CAROM_BAD_INPUT, "plane.normal: its third component must be positive: walls and ceilings are not covered");
    const double defect = carom_rotation_defect(initial->attitude);
    double adjugate[9];
    if (carom_adjugate3(initial->attitude, adjugate) < 0)
        return carom_fail(error, CAROM_BAD_INPUT, "initial.attitude: its determinant is negative: it mirrors the body");
    if (!(defect <= ATTITUDE_TOLERANCE))
        return carom_fail(error, CAROM_BAD_INPUT, "initial.attitude: it is not a rotation matrix (|R'R - I| = %.3g)", defect);
    return CAROM_OK;
}

// Checks the motion and the options, starts the flight, and does the impact of a body that touches at the start.
static carom_status prepare(lgvci_loop *loop, carom_error *error) {
    const carom_motion_call *call = loop->call;
    const lgvci_options *options = loop->options;
    lgvci *run = &loop->run;
    carom_status status = check_motion(call->motion->body, error);
    if (status) return status;
    lgvci_start(run, call->motion->body, options->order == LGVCI_FOURTH_ORDER);
    // A small defect of the given attitude is removed; the iteration squares it.
    carom_rotation_project(run->base.attitude);
    carom_rotation_project(run->base.attitude);
    status = lgvci_law_create(run, call, &loop->law, error);
    loop->dissipates = loop->law.named || loop->law.restitution != 1;
    if (!status && goes_on(loop)) status = lgvci_rest_create(run, call, &loop->rest_law, error);
    if (!status) status = carom_motion_count_steps(options->duration, options->step, &loop->steps, error);
    if (status) return status;
    if (options->jump == LGVCI_JUMP_DISCRETE && options->order != LGVCI_SECOND_ORDER)
        return carom_fail(error, CAROM_BAD_INPUT, "jump: the discrete energy is that of order 2; set the order to 2");
    if (options->jump == LGVCI_JUMP_DISCRETE && loop->dissipates)
        return carom_fail(error, CAROM_BAD_INPUT, "jump: the discrete one is for impacts without loss: no law, restitution 1");
    if (call->states) status = carom_motion_create_states(&carom_integrator_lgvci, call->motion, &loop->states, error);
    if (status) return status;

    // The body must not be below the plane, and its energy must be a number.
    double terms[3];
    const double no_turn[3] = {0}, gap = lgvci_gap(run, &run->base);
    loop->initial = loop->current = lgvci_energy(run, &run->base, terms);
    if (!isfinite(loop->initial) || !isfinite(run->acceleration) || !isfinite(run->spin))
        return carom_fail(error, CAROM_BAD_INPUT, "initial: the energy of the start is not finite");
    if (!isfinite(gap)) return carom_fail(error, CAROM_BAD_INPUT, "initial: the distance from the plane is not finite");
    if (gap < -START_TOLERANCE * run->radius)
        return carom_fail(error, CAROM_BAD_INPUT, "initial: the body penetrates the plane at the start: its gap is %.9g m", gap);
    return gap > START_TOLERANCE * run->radius ? CAROM_OK : touch_down(loop, 0, no_turn, error);
}

static carom_status run(const carom_motion_call *call, carom_error *error) {
    const lgvci_options *options = call->options;
    const carom_control *control = call->control;
    // The start is the end of step 0.
    lgvci_loop loop = {
        .call = call, .options = options, .offset = options->step, .launch_offset = options->step, .rest_time = NAN, .still_time = NAN};
    carom_status status = prepare(&loop, error);
    if (!status) status = record_state(&loop, 0, error);
    while (!status && loop.verdict == CAROM_COMPLETE && loop.step < loop.steps) {
        if (loop.step % STEPS_BETWEEN_POLLS == 0) {
            if (control && control->progress) control->progress(control->user, loop.step, loop.steps);
            if (carom_control_cancelled(control)) {
                loop.verdict = CAROM_INTERRUPTED;
                break;
            }
        }
        loop.step++;
        status = do_step(&loop, error);
        if (status || loop.verdict != CAROM_COMPLETE) break;
        // Exactly the grid point: the parts of the step add up to it only within rounding.
        loop.offset = options->step;
        note_energy(&loop);
        if (loop.step % STEPS_BETWEEN_CORRECTIONS == 0) {
            note_orthogonality(&loop);
            carom_rotation_project(loop.run.base.attitude);
        }
        if (loop.step % options->every == 0) status = record_state(&loop, (double)loop.step * options->step, error);
    }
    if (!status) status = carom_motion_flush(call, loop.states, error);
    if (!status) {
        // The last state and the results. A run that ended inside a step reports the time of its base, and only the steps before.
        const bool grid_point = loop.verdict == CAROM_COMPLETE || loop.verdict == CAROM_INTERRUPTED;
        const double time = grid_point ? (double)loop.step * options->step : base_time(&loop);
        const int64_t done = grid_point || loop.step == 0 ? loop.step : loop.step - 1;
        note_orthogonality(&loop);
        lgvci_fill_state(&loop.run, &loop.run.base, time, call->final);
        *carom_table_reals(call->result, RESULT_ORTHOGONALITY) = loop.orthogonality_error;
        *carom_table_reals(call->result, RESULT_INITIAL_ENERGY) = loop.initial;
        *carom_table_integers(call->result, RESULT_IMPACTS) = loop.impacts;
        *carom_table_integers(call->result, RESULT_SEVERAL) = loop.several;
        *carom_table_reals(call->result, RESULT_REST) = loop.rest_time;
        *carom_table_reals(call->result, RESULT_STILL) = loop.still_time;
        status = carom_table_set_text(call->result, RESULT_LAW, loop.law.named ? loop.law.law->name : "none", error);
        if (!status) status = carom_motion_limit_energy(call, loop.energy_error, loop.initial, loop.kinetic, time, &loop.verdict, error);
        if (!status) status = carom_motion_conclude(call, loop.verdict, done, time, loop.energy_error, loop.initial, error);
    }
    lgvci_law_release(&loop.law);
    lgvci_law_release(&loop.rest_law);
    carom_table_free(loop.states);
    return status;
}

const carom_integrator carom_integrator_lgvci = {
    .name = "lgvci",
    .summary = "one body bouncing on a plane: Lie group variational collision integrator",
    .source = "Tran & Leok 2023, Algorithm 5.2; Lee, Leok & McClamroch 2007; Hairer & Vilmart 2006",
    .form = CAROM_MOTION_BODY,
    CAROM_OPTION_TABLE(lgvci_options, option_rows),
    .defaults = defaults,
    CAROM_COLUMN_TABLE(state, lgvci_state_columns),
    CAROM_COLUMN_TABLE(impact, lgvci_impact_columns),
    CAROM_COLUMN_TABLE(result, own_result_columns),
    .run = run,
    .figures = lgvci_figures,
    .impact_distance = lgvci_impact_distance,
    .trace = lgvci_trace,
    .trace_width = LGVCI_TRACE_WIDTH,
};
