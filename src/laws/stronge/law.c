// SPDX-License-Identifier: Apache-2.0
// Law `stronge`: one contact with Coulomb friction and restitution, its normal impulse growing until the work of restitution is e^2 times
// that of compression (Jia & Wang 2017; the contact itself is solved in contact.c).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/arena.h"
#include "laws/laws_internal.h"

static const char *const hypotheses[] = {
    [CAROM_RESTITUTION_STRONGE] = "stronge", [CAROM_RESTITUTION_POISSON] = "poisson", [CAROM_RESTITUTION_NEWTON] = "newton", NULL};

static const carom_option option_rows[] = {
    {"contact", CAROM_OPTION_TEXT, offsetof(carom_stronge_options, contact), 0, 0, "", "the only one",
     "contact that collides, where the scene has several", NULL},
    {"hypothesis", CAROM_OPTION_CHOICE, offsetof(carom_stronge_options, hypothesis), 0, 0, "", "stronge",
     "what restitution means: energetic, kinetic or kinematic", hypotheses},
    {"restitution", CAROM_OPTION_REAL, offsetof(carom_stronge_options, restitution), 0, 1, "", "scene",
     "coefficient of restitution, instead of the scene's", NULL},
    {"tolerance", CAROM_OPTION_REAL, offsetof(carom_stronge_options, tolerance), 1e-15, 1e-3, "", "1e-12",
     "of the integration, relative to the contact's pre-impact velocity", NULL},
    {"allow_tangential", CAROM_OPTION_SWITCH, offsetof(carom_stronge_options, allow_tangential), 0, 0, "", "false",
     "at an approach speed of exactly zero, take the limit of small ones", NULL},
};

carom_stronge_options carom_stronge_defaults(void) {
    return (carom_stronge_options){.restitution = NAN, .tolerance = carom_contact_defaults().tolerance};
}

static void defaults(void *options) { *(carom_stronge_options *)options = carom_stronge_defaults(); }

// ------------------------------------------------------------------------------------------------------------- columns

// The law's own outcome columns: what carom_contact_result says, and the invariant directions.
enum {
    OWN_STATUS,
    OWN_EVENTS,
    OWN_EVENT_IMPULSES,
    OWN_COURSE,
    OWN_STICKS,
    OWN_IMPULSE_COMPRESSION,
    OWN_COMPRESSIONS,
    OWN_INVARIANT_DIRECTIONS,
    OWN_JAMS,
    OWN_MAY_JAM,
    OWN_COMPRESSION_WORK,
    OWN_RESTITUTION_WORK,
    OWN_FRICTION_WORK,
    OWN_INTEGRATION_STEPS,
    OWN_COLUMNS
};

// In the order of the letters below.
static const char event_letters[] = "lsckr";
static const char *const event_fields[] = {"event", "=l", "=s", "=c", "=k", "=r", "impulse", NULL};
enum { EVENT_FIELDS = 2 };

// In the order of carom_ray_type.
static const char *const ray_fields[] = {"angle", "rate", "type", "=attracting", "=repelling", "=centrifugal", "=merged", NULL};
enum { RAY_FIELDS = 3 };

static const carom_column outcome_columns[OWN_COLUMNS] = {
    [OWN_STATUS] = {"status", CAROM_COLUMN_TEXT, 1, "", "impact, no-impact, or tangential: approach speed zero, no impulse", NULL},
    [OWN_EVENTS] = {"events", CAROM_COLUMN_TEXT, 1, "",
                    "in order: l starts on an invariant ray, s slip is zero, c compression ends, k recompression starts, r end", NULL},
    [OWN_EVENT_IMPULSES] = {"event_impulses", CAROM_COLUMN_SERIES, EVENT_FIELDS, "N s", "normal impulse at each event", event_fields},
    [OWN_COURSE] = {"course", CAROM_COLUMN_TEXT, 1, "", "how the contact slides: slip, line, stick, resume, frictionless, in order", NULL},
    [OWN_STICKS] = {"sticks", CAROM_COLUMN_BOOLEAN, 1, "", "the contact ends without slip", NULL},
    [OWN_IMPULSE_COMPRESSION] = {"impulse_compression", CAROM_COLUMN_REAL, 3, "N s",
                                 "impulse along tangent 1, tangent 2 and normal at the end of the first compression", NULL},
    [OWN_COMPRESSIONS] = {"compressions", CAROM_COLUMN_INTEGER, 1, "", "phases of compression", NULL},
    [OWN_INVARIANT_DIRECTIONS] = {"invariant_directions", CAROM_COLUMN_SERIES, RAY_FIELDS, "rad, 1/kg",
                                  "directions in which slip stays straight; none where every direction is one", ray_fields},
    [OWN_JAMS] = {"jams", CAROM_COLUMN_BOOLEAN, 1, "", "at first, the impulse drives the bodies together", NULL},
    [OWN_MAY_JAM] = {"may_jam", CAROM_COLUMN_BOOLEAN, 1, "", "w <= mu |d|: there are directions of slip in which it does", NULL},
    [OWN_COMPRESSION_WORK] = {"compression_work", CAROM_COLUMN_REAL, 1, "J", "taken by the normal impulse in all compressions", NULL},
    [OWN_RESTITUTION_WORK] = {"restitution_work", CAROM_COLUMN_REAL, 1, "J", "given back by the normal impulse", NULL},
    [OWN_FRICTION_WORK] = {"friction_work", CAROM_COLUMN_REAL, 1, "J", "taken by friction", NULL},
    [OWN_INTEGRATION_STEPS] = {"integration_steps", CAROM_COLUMN_INTEGER, 1, "", "steps of the numerical integration", NULL},
};

// -------------------------------------------------------------------------------------------------------------- the law

carom_status carom_stronge_prepare(const carom_impact *impact, const carom_stronge_options *law_options, int *contact,
                                   carom_contact_problem *problem, carom_contact_options *options, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    // Which contact: the one that is named, or the only one.
    *contact = law_options->contact ? carom_impact_find_contact(impact, law_options->contact) : 0;
    char phrase[CAROM_SUGGESTION_SIZE];
    if (*contact < 0)
        return carom_fail(error, CAROM_BAD_INPUT, "contact: the scene has no contact '%.80s'%s", law_options->contact,
                          carom_impact_suggest_contact(impact, law_options->contact, phrase));
    if (!law_options->contact && data->contacts > 1)
        return carom_fail(error, CAROM_BAD_INPUT, "contact: the scene has %d contacts, and this law takes one: name it", data->contacts);
    // Its part of W and of u = J v-, with the coefficient of the options where there is one.
    double *u = malloc((size_t)carom_impact_contact_size(impact) * sizeof *u);
    if (!u) return carom_fail_memory(error, "stronge");
    carom_impact_contact_velocity(impact, data->velocity, u);
    carom_contact_extract(impact, *contact, u, problem);
    free(u);
    if (!isnan(law_options->restitution)) problem->restitution = law_options->restitution;
    *options = (carom_contact_options){.hypothesis = (carom_restitution)law_options->hypothesis,
                                       .tolerance = law_options->tolerance,
                                       .tangential = law_options->allow_tangential};
    return CAROM_OK;
}

void carom_contact_place_impulse(const carom_impact *impact, int contact, const carom_contact_vector *total, double *impulse) {
    const int dim = carom_impact_get_data(impact)->tangent_dim;
    double *place = impulse + contact * (1 + dim);
    place[0] = total->normal;
    for (int i = 0; i < dim; i++) place[1 + i] = total->tangent[i];
}

// The columns that all laws share.
static carom_status add_outcome(carom_table *outcomes, const carom_impact *impact, int contact, const carom_contact_result *result,
                                carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    carom_arena arena = {0};
    double *v = carom_arena_take(&arena, (size_t)data->nv, sizeof *v);
    double *impulse = carom_arena_take(&arena, (size_t)carom_impact_contact_size(impact), sizeof *impulse);
    carom_status status = arena.failed ? carom_fail_memory(error, "stronge") : CAROM_OK;
    if (!status) {
        // The impulse of this contact alone acts on the whole impact.
        carom_contact_place_impulse(impact, contact, &result->impulse, impulse);
        carom_impact_apply(impact, data->velocity, impulse, v);
        const double before = carom_impact_initial_energy(impact), gain = carom_impact_kinetic_energy(impact, v) - before;
        const int64_t flags = gain > CAROM_ENERGY_GAIN_FLAGGED * before ? CAROM_FLAG_ENERGY_GAIN : 0;
        // The word has the contact as its letter, or none.
        const bool acts = result->status == CAROM_CONTACT_IMPACT;
        status = carom_outcomes_add(outcomes, impact, v, impulse, acts, flags, error);
        if (!status) status = carom_table_set_list(outcomes, CAROM_OUTCOME_WORD, &contact, acts, error);
    }
    carom_arena_free(&arena);
    return status;
}

// The law's own columns of the last outcome.
static carom_status fill_columns(carom_table *outcomes, const carom_contact_problem *problem, const carom_contact_result *result,
                                 carom_error *error) {
    const int own = CAROM_OUTCOME_COLUMNS;
    // Numbers and flags as they are.
    double *compression = carom_table_reals(outcomes, own + OWN_IMPULSE_COMPRESSION);
    for (int i = 0; i < 2; i++) compression[i] = result->compression.tangent[i];
    compression[2] = result->compression.normal;
    *carom_table_reals(outcomes, own + OWN_COMPRESSION_WORK) = result->compression_work;
    *carom_table_reals(outcomes, own + OWN_RESTITUTION_WORK) = result->restitution_work;
    *carom_table_reals(outcomes, own + OWN_FRICTION_WORK) = result->friction_work;
    *carom_table_integers(outcomes, own + OWN_STICKS) = result->sticks;
    *carom_table_integers(outcomes, own + OWN_COMPRESSIONS) = result->compressions;
    *carom_table_integers(outcomes, own + OWN_JAMS) = result->jams;
    *carom_table_integers(outcomes, own + OWN_MAY_JAM) = result->may_jam;
    *carom_table_integers(outcomes, own + OWN_INTEGRATION_STEPS) = result->steps;
    carom_status status = carom_table_set_text(outcomes, own + OWN_STATUS, carom_contact_status_name(result->status), error);
    if (!status) status = carom_table_set_text(outcomes, own + OWN_COURSE, carom_contact_course_name(result->course), error);
    if (!status) status = carom_table_set_text(outcomes, own + OWN_EVENTS, result->events, error);

    // Records of events: the number of the letter, the normal impulse.
    double events[CAROM_MOST_CONTACT_EVENTS * EVENT_FIELDS];
    int count = 0;
    for (; result->events[count]; count++) {
        events[EVENT_FIELDS * count] = (double)(strchr(event_letters, result->events[count]) - event_letters);
        events[EVENT_FIELDS * count + 1] = result->event_impulse[count];
    }
    if (!status) status = carom_table_set_series(outcomes, own + OWN_EVENT_IMPULSES, events, EVENT_FIELDS * count, error);

    // Records of invariant directions.
    carom_invariant_ray rays[CAROM_MOST_RAYS];
    double lines[CAROM_MOST_RAYS * RAY_FIELDS];
    if (!status) status = carom_contact_invariant_rays(problem, rays, &count, error);
    for (int i = 0; i < count && !status; i++) {
        lines[RAY_FIELDS * i] = rays[i].angle;
        lines[RAY_FIELDS * i + 1] = rays[i].rate;
        lines[RAY_FIELDS * i + 2] = rays[i].type;
    }
    return status ? status : carom_table_set_series(outcomes, own + OWN_INVARIANT_DIRECTIONS, lines, RAY_FIELDS * count, error);
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    // One contact is solved, in closed form or numerically to the tolerance: the answer is always complete.
    int contact;
    carom_contact_problem problem;
    carom_contact_options options;
    carom_contact_result result;
    carom_table *outcomes = NULL;
    carom_status status = carom_stronge_prepare(call->impact, call->options, &contact, &problem, &options, error);
    if (!status) status = carom_contact_solve(&problem, &options, &result, error);
    if (!status) status = carom_outcomes_create(call->impact, outcome_columns, OWN_COLUMNS, &outcomes, error);
    if (!status) status = add_outcome(outcomes, call->impact, contact, &result, error);
    if (!status) status = fill_columns(outcomes, &problem, &result, error);
    if (!status) status = carom_law_emit(call, outcomes, error);
    if (!status) status = carom_law_set_verdict(call, CAROM_COMPLETE, error);
    carom_table_free(outcomes);
    return status;
}

// Where there are several, an option must say which one is meant.
static bool has_one_contact(const carom_impact *impact) { return carom_impact_get_data(impact)->contacts == 1; }

const carom_law carom_law_stronge = {
    .name = "stronge",
    .summary = "one contact with friction and energetic restitution, exact friction cone",
    .source = "Jia & Wang 2017; Stronge 1990",
    CAROM_OPTION_TABLE(carom_stronge_options, option_rows),
    .defaults = defaults,
    CAROM_COLUMN_TABLE(outcome, outcome_columns),
    .applies = has_one_contact,
    .resolve = resolve,
};
