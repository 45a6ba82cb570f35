// SPDX-License-Identifier: Apache-2.0
// Integrator `propagative`: systems through strings of single impacts without friction (Seghete & Murphey, section VI).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "dynamics/propagative/motion.h"

enum { BLOCK_ROWS = 1024, STEPS_BETWEEN_POLLS = 64 };

// ------------------------------------------------------------------------------------------------------------- options

typedef struct propagative_options {
    double step, duration;
    double restitution;  // NaN: the law's
    int plastic;         // 0: the law's
    int order;           // 0: the law's, or argmin
    int64_t seed;
    double contact_tolerance;
    int64_t zeno_limit, max_impacts, every;
} propagative_options;

// "auto", then carom_plastic_kind and carom_word_order_kind one higher.
static const char *const plastic_kinds[] = {"auto", "unilateral", "bilateral", NULL};
static const char *const orders[] = {"auto", "argmin", "argmax", "random", NULL};

static void defaults(void *options) {
    *(propagative_options *)options = (propagative_options){
        .step = 0.01, .duration = 10, .restitution = NAN, .contact_tolerance = 1e-10, .zeno_limit = 2, .max_impacts = 1000, .every = 1};
}

static const carom_option option_rows[] = {
    {"step", CAROM_OPTION_REAL, offsetof(propagative_options, step), CAROM_POSITIVE, HUGE_VAL, "s", "0.01", "grid step", NULL},
    {"duration", CAROM_OPTION_REAL, offsetof(propagative_options, duration), 0, HUGE_VAL, "s", "10", "time to be covered", NULL},
    {"restitution", CAROM_OPTION_REAL, offsetof(propagative_options, restitution), 0, 1, "", "auto",
     "energetic coefficient R of each impact; auto: that of the scene's `impact`, or 1", NULL},
    {"plastic", CAROM_OPTION_CHOICE, offsetof(propagative_options, plastic), 0, 0, "", "auto",
     "plastic outcome: contacts only push, or all stop; auto: that of `impact`, or unilateral", plastic_kinds},
    {"order", CAROM_OPTION_CHOICE, offsetof(propagative_options, order), 0, 0, "", "auto",
     "which contact of several comes first: the most or the least violated, or any; auto: that of `impact`, or argmin", orders},
    {"seed", CAROM_OPTION_INTEGER, offsetof(propagative_options, seed), 0, CAROM_MOST_SEED / 2, "", "0", "seed of the order `random`",
     NULL},
    {"contact_tolerance", CAROM_OPTION_REAL, offsetof(propagative_options, contact_tolerance), CAROM_POSITIVE, HUGE_VAL, "m", "1e-10",
     "gaps this small are closed: contacts within it are one impact", NULL},
    {"zeno_limit", CAROM_OPTION_INTEGER, offsetof(propagative_options, zeno_limit), 1, 1e9, "", "2",
     "impacts of one contact in one step; one more, and it is closed plastically and held", NULL},
    {"max_impacts", CAROM_OPTION_INTEGER, offsetof(propagative_options, max_impacts), 1, 1e9, "", "1000",
     "impacts in one step; one more, and the run ends", NULL},
    {"every", CAROM_OPTION_INTEGER, offsetof(propagative_options, every), 1, 1e9, "", "1", "grid steps between recorded states", NULL},
};

// A field of a law's options by the row's name; NULL when there is none of that type.
static const void *law_field(const carom_law *law, const void *options, const char *name, carom_option_type type) {
    const int row = carom_option_find(law->options, law->option_count, name);
    return row < 0 || law->options[row].type != type ? NULL : (const char *)options + law->options[row].offset;
}

// ------------------------------------------------------------------------------------------------------------- columns

enum {
    STATE_TIME,
    STATE_POSITION,
    STATE_VELOCITY,
    STATE_MOMENTUM,
    STATE_GAP,
    STATE_HELD,
    STATE_KINETIC,
    STATE_POTENTIAL,
    STATE_ENERGY,
    STATE_COLUMNS
};

static const carom_column state_columns[STATE_COLUMNS] = {
    [STATE_TIME] = {"time", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    [STATE_POSITION] = {"qpos", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m, rad", "coordinates", NULL},
    [STATE_VELOCITY] = {"qvel", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "their rates", NULL},
    [STATE_MOMENTUM] = {"momentum", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "N s, N m s", "M v", NULL},
    [STATE_GAP] = {"gap", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "m", "distances of the contacts", NULL},
    [STATE_HELD] = {"held", CAROM_COLUMN_CONTACTS, 1, "", "contacts that stay closed", NULL},
    [STATE_KINETIC] = {"kinetic_energy", CAROM_COLUMN_REAL, 1, "J", "v'Mv/2", NULL},
    [STATE_POTENTIAL] = {"potential_energy", CAROM_COLUMN_REAL, 1, "J", "of gravity and springs", NULL},
    [STATE_ENERGY] = {"energy", CAROM_COLUMN_REAL, 1, "J", "sum of both", NULL},
};

enum {
    IMPACT_TIME,
    IMPACT_STEP,
    IMPACT_WORD,
    IMPACT_CONTACTS,
    IMPACT_KIND,
    IMPACT_RATIO,
    IMPACT_UNIQUENESS,
    IMPACT_XI,
    IMPACT_IMPULSE,
    IMPACT_POSITION,
    IMPACT_BEFORE,
    IMPACT_AFTER,
    IMPACT_COLUMNS
};

static const carom_column impact_columns[IMPACT_COLUMNS] = {
    [IMPACT_TIME] = {"time", CAROM_COLUMN_REAL, 1, "s", "time", NULL},
    [IMPACT_STEP] = {"step", CAROM_COLUMN_INTEGER, 1, "", "grid step in which it happens, from 1", NULL},
    [IMPACT_WORD] = {"word", CAROM_COLUMN_CONTACTS, 1, "", "contacts in the order of their impacts; none where contacts were closed", NULL},
    [IMPACT_CONTACTS] = {"contacts", CAROM_COLUMN_CONTACTS, 1, "", "contacts that touch", NULL},
    [IMPACT_KIND] = {"kind", CAROM_COLUMN_TEXT, 1, "",
                     "elastic, inelastic, plastic (R = 0); closed plastically: accumulation (more impacts in the step than zeno_limit), "
                     "jammed (words need not end)",
                     NULL},
    [IMPACT_RATIO] = {"energy_ratio", CAROM_COLUMN_REAL, 1, "", "kinetic energy after over before", NULL},
    [IMPACT_UNIQUENESS] = {"uniqueness", CAROM_COLUMN_TEXT, 1, "", "does the order of the elastic impacts matter? as in `carom info`",
                           NULL},
    [IMPACT_XI] = {"xi", CAROM_COLUMN_REAL, 1, "", "largest kinetic distance of two elastic outcomes over |p-|", NULL},
    [IMPACT_IMPULSE] = {"normal_impulse", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "N s", "normal impulses", NULL},
    [IMPACT_POSITION] = {"qpos", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m, rad", "coordinates", NULL},
    [IMPACT_BEFORE] = {"qvel_before", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "velocity before", NULL},
    [IMPACT_AFTER] = {"qvel_after", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "velocity after", NULL},
};

static const char *const kind_names[] = {[PROPAGATIVE_ELASTIC] = "elastic",
                                         [PROPAGATIVE_INELASTIC] = "inelastic",
                                         [PROPAGATIVE_PLASTIC] = "plastic",
                                         [PROPAGATIVE_ACCUMULATION] = "accumulation",
                                         [PROPAGATIVE_JAMMED] = "jammed"};

enum { RESULT_ZENO = CAROM_MOTION_RESULT_COLUMNS, RESULT_INITIAL_ENERGY, RESULT_IMPACTS, RESULT_MULTIPLE, RESULT_FRICTION };

static const carom_column own_result_columns[] = {
    {"zeno_time", CAROM_COLUMN_REAL, 1, "s", "when an accumulation of impacts was first closed", NULL},
    {"initial_energy", CAROM_COLUMN_REAL, 1, "J", "energy at the start", NULL},
    {"impact_count", CAROM_COLUMN_INTEGER, 1, "", "impacts", NULL},
    {"multiple_count", CAROM_COLUMN_INTEGER, 1, "", "impacts whose outcome depends on the order", NULL},
    {"friction_ignored", CAROM_COLUMN_BOOLEAN, 1, "", "a contact with friction took part in an impact, and impacts have none here", NULL},
};

// --------------------------------------------------------------------------------------------------------------- a run

typedef struct propagative_loop {
    const carom_motion_call *call;
    propagative_options options;
    propagative_motion *motion;
    int nv, contacts;
    int64_t steps, step;  // grid steps to do; the one being done, from 1
    int64_t impacts, multiple;
    bool friction_ignored;
    double zeno_time;
    double initial, energy_error, kinetic;
    carom_verdict verdict;
    int *list;            // [contacts]
    carom_table *states;  // a block of them; NULL: nobody wants them
} propagative_loop;

// Momenta are the state; velocities follow from them.
static carom_status fill_state(propagative_loop *loop, double time, carom_table *table, carom_error *error) {
    propagative_motion *motion = loop->motion;
    const size_t size = (size_t)loop->nv * sizeof(double), contacts = (size_t)loop->contacts;
    int held = 0;
    for (int c = 0; c < loop->contacts; c++)
        if (motion->held[c]) loop->list[held++] = c;
    *carom_table_reals(table, STATE_TIME) = time;
    memcpy(carom_table_reals(table, STATE_POSITION), motion->q, size);
    memcpy(carom_table_reals(table, STATE_MOMENTUM), motion->p, size);
    propagative_flight_velocity(motion->flight, motion->q, motion->p, carom_table_reals(table, STATE_VELOCITY));
    memcpy(carom_table_reals(table, STATE_GAP), propagative_flight_look(motion->flight, motion->q)->gap, contacts * sizeof(double));
    double potential;
    const double kinetic = propagative_motion_energy(motion, &potential);
    *carom_table_reals(table, STATE_KINETIC) = kinetic;
    *carom_table_reals(table, STATE_POTENTIAL) = potential;
    *carom_table_reals(table, STATE_ENERGY) = kinetic + potential;
    return carom_table_set_list(table, STATE_HELD, loop->list, held, error);
}

static carom_status record_state(propagative_loop *loop, carom_error *error) {
    if (!loop->states || loop->step % loop->options.every) return CAROM_OK;
    carom_status status = carom_table_add_row(loop->states, error);
    if (!status) status = fill_state(loop, (double)loop->step * loop->options.step, loop->states, error);
    return status || carom_table_rows(loop->states) < BLOCK_ROWS ? status : carom_motion_flush(loop->call, loop->states, error);
}

// A row for each event of a step. Words and outcomes that orders decide are counted.
static carom_status record_impact(void *user, const propagative_event *event, carom_error *error) {
    propagative_loop *loop = user;
    carom_table *table = loop->call->impacts;
    const size_t size = (size_t)loop->nv * sizeof(double);
    carom_status status = carom_table_add_row(table, error);
    if (status) return status;
    loop->impacts++;
    loop->multiple += event->uniqueness == CAROM_UNIQUE_NOT || event->uniqueness == CAROM_UNIQUE_MINIMAL;
    if (event->kind == PROPAGATIVE_ACCUMULATION && isnan(loop->zeno_time)) loop->zeno_time = event->time;
    *carom_table_reals(table, IMPACT_TIME) = event->time;
    *carom_table_integers(table, IMPACT_STEP) = loop->step;
    *carom_table_reals(table, IMPACT_RATIO) = event->energy_ratio;
    *carom_table_reals(table, IMPACT_XI) = event->xi;
    double *impulse = carom_table_reals(table, IMPACT_IMPULSE);
    memset(impulse, 0, (size_t)loop->contacts * sizeof *impulse);
    for (int i = 0; i < event->count; i++) {
        const int contact = event->contacts[i];
        impulse[contact] = event->impulse[i];
        loop->friction_ignored = loop->friction_ignored || (event->impulse[i] > 0 && loop->call->motion->system->friction[contact] > 0);
    }
    memcpy(carom_table_reals(table, IMPACT_POSITION), event->q, size);
    memcpy(carom_table_reals(table, IMPACT_BEFORE), event->v_before, size);
    memcpy(carom_table_reals(table, IMPACT_AFTER), event->v_after, size);
    if (event->word) status = carom_table_set_list(table, IMPACT_WORD, event->word, (int)event->length, error);
    if (!status) status = carom_table_set_list(table, IMPACT_CONTACTS, event->contacts, event->count, error);
    if (!status) status = carom_table_set_text(table, IMPACT_KIND, kind_names[event->kind], error);
    return status ? status : carom_table_set_text(table, IMPACT_UNIQUENESS, carom_uniqueness_name(event->uniqueness), error);
}

static double energy_of(propagative_loop *loop) {
    double potential;
    const double kinetic = propagative_motion_energy(loop->motion, &potential);
    loop->kinetic = fmax(loop->kinetic, kinetic);
    return kinetic + potential;
}

// Resolves the options and creates the motion at its start. A start that penetrates is refused, whether displaced or not.
static carom_status prepare(propagative_loop *loop, carom_error *error) {
    const carom_motion_call *call = loop->call;
    propagative_options *options = &loop->options;
    // An option "auto" takes the value that the scene's `impact` gives the law of the same name, or a default.
    const carom_law *law = call->registry ? carom_registry_find(call->registry, CAROM_REGISTRY_LAWS, "propagative") : NULL;
    void *from = law ? calloc(1, law->options_size) : NULL;
    if (law && !from) return carom_fail_memory(error, law->name);
    carom_status status = CAROM_OK;
    if (law) {
        law->defaults(from);
        if (call->settings) status = call->settings->apply(call->settings->user, law, from, error);
        const double *restitution = law_field(law, from, "restitution", CAROM_OPTION_REAL);
        const int *plastic = law_field(law, from, "plastic", CAROM_OPTION_CHOICE);
        const char *const *order = law_field(law, from, "order", CAROM_OPTION_CONTACTS);
        if (isnan(options->restitution) && restitution) options->restitution = *restitution;
        if (!options->plastic && plastic) options->plastic = *plastic + 1;
        // Orders that list contacts are for one impact.
        if (!status && !options->order && order && *order) {
            int k = CAROM_ORDER_ARGMIN + 1;
            while (orders[k] && strcmp(*order, orders[k]) != 0) k++;
            options->order = k;
            if (!orders[k])
                status = carom_fail(error, CAROM_BAD_INPUT,
                                    "order: that of 'impact', '%.60s', is for one impact; a motion has argmin, argmax or random", *order);
        }
        free(from);
    }
    if (isnan(options->restitution)) options->restitution = 1;
    // What the scene gives and these impacts do not use.
    const carom_system *system = call->motion->system;
    const double given = carom_max_abs((size_t)system->contacts, system->restitution);
    if (!status && given > 0 && given != options->restitution)
        status = carom_motion_note(call, error,
                                   "the restitution of the contacts (up to %g) is not used: impacts have R = %g, the option 'restitution'",
                                   given, options->restitution);
    if (!status && carom_max_abs((size_t)system->contacts, system->friction) > 0)
        status =
            carom_motion_note(call, error, "impacts have no friction with this integrator; that of the contacts acts between impacts only");
    if (!status && call->settings && call->settings->law && strcmp(call->settings->law, "propagative") != 0)
        status = carom_motion_note(call, error, "the law '%s' of 'impact' is not used: this integrator has impacts of its own",
                                   call->settings->law);
    if (!options->plastic) options->plastic = CAROM_PLASTIC_UNILATERAL + 1;
    if (!options->order) options->order = CAROM_ORDER_ARGMIN + 1;
    if (!status) status = carom_motion_check_step(options->duration, options->step, error);
    if (status) return status;
    loop->steps = (int64_t)(options->duration / options->step + 0.5);
    const propagative_rules rules = {.contact_tolerance = options->contact_tolerance,
                                     .restitution = options->restitution,
                                     .plastic = (carom_plastic_kind)(options->plastic - 1),
                                     .order = (carom_word_order_kind)(options->order - 1),
                                     .seed = (uint64_t)(options->seed + call->motion->member),
                                     .zeno_limit = options->zeno_limit,
                                     .max_impacts = options->max_impacts};
    loop->list = malloc(((size_t)loop->contacts + 1) * sizeof *loop->list);
    double *q = malloc((size_t)loop->nv * sizeof *q);
    if (loop->list && q) {
        carom_motion_place(call->motion, q);
        status = propagative_motion_create(call->motion->system, &rules, q, call->motion->system->velocity, &loop->motion, error);
    } else {
        status = carom_fail_memory(error, "motion");
    }
    free(q);
    if (!status && call->states) status = carom_motion_create_states(&carom_integrator_propagative, call->motion, &loop->states, error);
    if (!status) loop->initial = energy_of(loop);
    if (!status && !isfinite(loop->initial)) status = carom_fail(error, CAROM_BAD_INPUT, "the energy of the start is not finite");
    return status;
}

static carom_status run(const carom_motion_call *call, carom_error *error) {
    const carom_system *system = call->motion->system;
    // The tables have the widths of the impact.
    const carom_sizes sizes = call->motion->impact ? carom_impact_sizes(call->motion->impact) : (carom_sizes){0};
    if (sizes.nv != system->nv || sizes.contacts != system->contacts)
        return carom_fail(error, CAROM_BAD_INPUT, "impact: it has other velocities or contacts than the system in motion");
    if (system->tangent_dim > 1 && carom_max_abs((size_t)system->contacts, system->friction) > 0)
        return carom_fail(error, CAROM_UNSUPPORTED, "contacts: friction of propagative is for contacts with one tangent");
    propagative_loop loop = {.call = call,
                             .options = *(const propagative_options *)call->options,
                             .nv = system->nv,
                             .contacts = system->contacts,
                             .zeno_time = NAN,
                             .verdict = CAROM_COMPLETE};
    carom_status status = prepare(&loop, error);
    if (!status) status = record_state(&loop, error);
    const carom_control *control = call->control;
    while (!status && loop.verdict == CAROM_COMPLETE && loop.step < loop.steps) {
        const double end = (double)(loop.step + 1) * loop.options.step;
        // Impacts are recorded with the number of the step that they fall into.
        loop.step++;
        status = propagative_motion_step(loop.motion, end, control, record_impact, &loop, &loop.verdict, error);
        if (status || loop.verdict != CAROM_COMPLETE) {
            loop.step--;
            break;
        }
        // Without the loss of inelastic impacts and dampers the energy is that of the start.
        loop.energy_error = fmax(loop.energy_error, fabs(energy_of(&loop) + loop.motion->loss - loop.initial));
        if (control && control->progress && loop.step % STEPS_BETWEEN_POLLS == 0) control->progress(control->user, loop.step, loop.steps);
        status = record_state(&loop, error);
    }
    if (!status) status = carom_motion_flush(call, loop.states, error);
    if (!status) status = fill_state(&loop, loop.motion->time, call->final, error);
    if (!status) {
        *carom_table_reals(call->result, RESULT_ZENO) = loop.zeno_time;
        *carom_table_reals(call->result, RESULT_INITIAL_ENERGY) = loop.initial;
        *carom_table_integers(call->result, RESULT_IMPACTS) = loop.impacts;
        *carom_table_integers(call->result, RESULT_MULTIPLE) = loop.multiple;
        *carom_table_integers(call->result, RESULT_FRICTION) = loop.friction_ignored;
        status = carom_motion_limit_energy(call, loop.energy_error, loop.initial, loop.kinetic, loop.motion->time, &loop.verdict, error);
    }
    if (!status) {
        status = carom_motion_conclude(call, loop.verdict, loop.step, loop.motion->time, loop.energy_error, loop.initial, error);
    }
    propagative_motion_free(loop.motion);
    carom_table_free(loop.states);
    free(loop.list);
    return status;
}

const carom_integrator carom_integrator_propagative = {
    .name = "propagative",
    .summary = "balls and planar mechanisms: impacts as strings of single impacts without friction",
    .source = "Seghete & Murphey, A propagative model of simultaneous impact, section VI",
    .form = CAROM_MOTION_SYSTEM,
    CAROM_OPTION_TABLE(propagative_options, option_rows),
    .defaults = defaults,
    CAROM_COLUMN_TABLE(state, state_columns),
    CAROM_COLUMN_TABLE(impact, impact_columns),
    CAROM_COLUMN_TABLE(result, own_result_columns),
    .run = run,
    .figures = propagative_figures,
    .order_distances = propagative_order_distances,
};
