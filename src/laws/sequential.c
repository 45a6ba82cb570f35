// SPDX-License-Identifier: Apache-2.0
// Law `sequential`: one contact at a time, in a cyclic order, until no contact approaches (Halm & Posa, section 3.2).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws/laws_internal.h"

#define DEFAULT_IMPACTS 10000
#define MOST_IMPACTS    1e7

// Which law a single impact obeys.
enum { RULE_ANITESCU_POTRA, RULE_STRONGE };
static const char *const rules[] = {[RULE_ANITESCU_POTRA] = "anitescu-potra", [RULE_STRONGE] = "stronge", NULL};

typedef struct sequential_options {
    const char *order;  // contact names with commas; NULL: every cyclic start
    int rule;
    double restitution;  // of the rule `stronge`; NaN: each contact's own
    int64_t max_impacts;
    carom_step_choice method;
} sequential_options;

static const carom_option option_rows[] = {
    {"order", CAROM_OPTION_CONTACTS, offsetof(sequential_options, order), 0, 0, "", "all cyclic starts",
     "contacts in the order of their impacts, with commas; every contact once", NULL},
    {"rule", CAROM_OPTION_CHOICE, offsetof(sequential_options, rule), 0, 0, "", "anitescu-potra", "law of a single impact", rules},
    {"restitution", CAROM_OPTION_REAL, offsetof(sequential_options, restitution), 0, 1, "", "scene",
     "coefficient of restitution of all contacts for the rule stronge, instead of the scene's", NULL},
    {"max_impacts", CAROM_OPTION_INTEGER, offsetof(sequential_options, max_impacts), 1, MOST_IMPACTS, "", "10000",
     "single impacts after which an order counts as not terminated", NULL},
    CAROM_STEP_CHOICE_ROWS(sequential_options, method, carom_selection_names_solver),
};

enum { OUTCOME_PATH, OUTCOME_OWN_COLUMNS };

static const carom_column outcome_columns[OUTCOME_OWN_COLUMNS] = {
    [OUTCOME_PATH] = {"path", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "m/s",
                      "contact velocities (per contact normal, tangents) before the impact and after every contact that acted", NULL},
};

static void defaults(void *options) {
    *(sequential_options *)options =
        (sequential_options){.restitution = NAN, .max_impacts = DEFAULT_IMPACTS, .method = carom_step_choice_defaults()};
}

typedef struct sequence {
    const carom_law_call *call;
    const sequential_options *options;
    int contacts, n, nv;
    carom_stepper **steppers;  // one for each contact; none for the rule `stronge`
    int *order;                // [contacts]
    double *v, *u, *impulse, *step_impulse;
    int *word;                // contacts that acted
    double *path;             // contact velocities, n a row
    int64_t acted, capacity;  // of the word; the path has one row more
    carom_table *outcomes;
} sequence;

// -------------------------------------------------------------------------------------------------------------- orders

static carom_status refuse_order(const char *text, const char *why, carom_error *error) {
    return carom_fail(error, CAROM_BAD_INPUT, "order: '%.200s' %s", text, why);
}

// Reads "A,C,B": every contact exactly once.
static carom_status parse_order(const carom_impact *impact, const char *text, int *order, carom_error *error) {
    const int contacts = carom_impact_get_data(impact)->contacts;
    char *copy = strdup(text);
    if (!copy) return carom_fail_memory(error, "order");
    int count = 0;
    const char *why = NULL;
    char *rest = copy;
    while (rest && !why) {
        char *name = rest;
        rest = strchr(rest, ',');
        if (rest) *rest++ = '\0';
        const int contact = carom_impact_find_contact(impact, name);
        for (int i = 0; i < count && !why; i++)
            if (order[i] == contact) why = "names a contact twice";
        if (contact < 0) why = "names a contact that the scene does not have";
        if (!why) order[count++] = contact;
    }
    free(copy);
    if (!why && count < contacts) why = "does not name every contact";
    return why ? refuse_order(text, why, error) : CAROM_OK;
}

static void cyclic_order(int contacts, int start, int *order) {
    for (int i = 0; i < contacts; i++) order[i] = (start + i) % contacts;
}

// ---------------------------------------------------------------------------------------------------------- one order

static carom_status record(sequence *s, int contact, carom_error *error) {
    if (s->acted == s->capacity) {
        const int64_t capacity = 2 * s->capacity + 16;
        int *word = realloc(s->word, (size_t)capacity * sizeof *word);
        if (word) s->word = word;
        double *path = realloc(s->path, (size_t)(capacity + 1) * (size_t)s->n * sizeof *path);
        if (path) s->path = path;
        if (!word || !path) return carom_fail_memory(error, "sequential");
        s->capacity = capacity;
    }
    if (contact >= 0) s->word[s->acted++] = contact;
    for (int c = 0; c < s->n; c++) s->path[s->acted * s->n + c] = s->u[c] + 0.0;
    return CAROM_OK;
}

// The single impact of `contact` by the law `stronge`.
static carom_status collide(sequence *s, int contact, carom_error *error) {
    const carom_impact *impact = s->call->impact;
    const carom_contact_options options = carom_contact_defaults();
    carom_contact_problem problem;
    carom_contact_result result;
    carom_contact_extract(impact, contact, s->u, &problem);
    if (!isnan(s->options->restitution)) problem.restitution = s->options->restitution;
    const carom_status status = carom_contact_solve(&problem, &options, &result, error);
    memset(s->step_impulse, 0, (size_t)s->n * sizeof *s->step_impulse);
    carom_contact_place_impulse(impact, contact, &result.impulse, s->step_impulse);
    carom_impact_apply(impact, s->v, s->step_impulse, s->v);
    return status;
}

// The single impact of `contact`, unless it does not approach.
static carom_status visit(sequence *s, int contact, carom_verdict *verdict, carom_error *error) {
    const carom_impact *impact = s->call->impact;
    const int stride = s->n / s->contacts;
    if (s->u[contact * stride] >= carom_impact_approach_limit(impact)) return CAROM_OK;
    if (s->options->rule == RULE_STRONGE) {
        const carom_status status = collide(s, contact, error);
        if (status) return status;
    } else {
        carom_step_info info;
        carom_stepper_solve(s->steppers[contact], s->v, NULL, s->v, s->step_impulse, &info);
        *verdict = info.verdict;
    }
    for (int c = 0; c < s->n; c++) s->impulse[c] += s->step_impulse[c];
    carom_impact_contact_velocity(impact, s->v, s->u);
    return record(s, contact, error);
}

static carom_status emit(sequence *s, int64_t visits, carom_verdict verdict, carom_error *error) {
    const int64_t flags = verdict == CAROM_UNVERIFIED || verdict == CAROM_RAY ? CAROM_FLAG_UNSOLVED : 0;
    carom_table_clear(s->outcomes);
    carom_status status = carom_outcomes_add(s->outcomes, s->call->impact, s->v, s->impulse, visits, flags, error);
    if (!status) status = carom_table_set_list(s->outcomes, CAROM_OUTCOME_WORD, s->word, (int)s->acted, error);
    if (!status)
        status = carom_table_set_series(s->outcomes, CAROM_OUTCOME_COLUMNS + OUTCOME_PATH, s->path, (int)((s->acted + 1) * s->n), error);
    if (!status) status = carom_law_emit(s->call, s->outcomes, error);
    return status;
}

// Cycles through the order; `verdict` says how it ended.
static carom_status run_order(sequence *s, carom_verdict *verdict, carom_error *error) {
    const carom_impact *impact = s->call->impact;
    memcpy(s->v, carom_impact_get_data(impact)->velocity, (size_t)s->nv * sizeof *s->v);
    memset(s->impulse, 0, (size_t)s->n * sizeof *s->impulse);
    carom_impact_contact_velocity(impact, s->v, s->u);
    s->acted = 0;
    *verdict = CAROM_COMPLETE;
    carom_status status = record(s, -1, error);
    int64_t visits = 0;
    while (!status && *verdict == CAROM_COMPLETE && !carom_impact_terminated(impact, s->u)) {
        if (carom_control_cancelled(s->call->control))
            *verdict = CAROM_INTERRUPTED;
        else if (visits == s->options->max_impacts)
            *verdict = CAROM_BUDGET_SPENT;
        else
            status = visit(s, s->order[visits++ % s->contacts], verdict, error);
    }
    return status ? status : emit(s, visits, *verdict, error);
}

// ------------------------------------------------------------------------------------------------------------- the law

static void release(sequence *s) {
    for (int i = 0; s->steppers && i < s->contacts; i++) carom_stepper_free(s->steppers[i]);
    free(s->steppers);
    free(s->order);
    free(s->v);
    free(s->u);
    free(s->impulse);
    free(s->step_impulse);
    free(s->word);
    free(s->path);
    carom_table_free(s->outcomes);
}

static carom_status make_steppers(sequence *s, carom_error *error) {
    carom_stepper_options stepper;
    carom_status status = carom_step_choice_resolve(&s->options->method, CAROM_STEP_ONE_CONTACT, s->call->registry, &stepper, error);
    for (int i = 0; i < s->contacts && !status; i++) {
        stepper.contact = i;
        status = carom_stepper_create(s->call->impact, &stepper, &s->steppers[i], error);
    }
    return status;
}

static carom_status prepare(sequence *s, carom_error *error) {
    const size_t n = (size_t)s->n;
    s->steppers = calloc((size_t)s->contacts, sizeof *s->steppers);
    s->order = malloc((size_t)s->contacts * sizeof *s->order);
    s->v = malloc((size_t)s->nv * sizeof *s->v);
    s->u = malloc(n * sizeof *s->u);
    s->impulse = malloc(n * sizeof *s->impulse);
    s->step_impulse = malloc(n * sizeof *s->step_impulse);
    if (!s->steppers || !s->order || !s->v || !s->u || !s->impulse || !s->step_impulse) return carom_fail_memory(error, "sequential");
    const carom_status status = s->options->rule == RULE_STRONGE ? CAROM_OK : make_steppers(s, error);
    return status ? status : carom_outcomes_create(s->call->impact, outcome_columns, OUTCOME_OWN_COLUMNS, &s->outcomes, error);
}

static carom_status run_orders(sequence *s, carom_error *error) {
    const int starts = s->options->order ? 1 : s->contacts;
    carom_verdict worst = CAROM_COMPLETE;
    carom_status status = CAROM_OK;
    for (int start = 0; start < starts && !status; start++) {
        carom_verdict verdict = CAROM_COMPLETE;
        if (s->options->order)
            status = parse_order(s->call->impact, s->options->order, s->order, error);
        else
            cyclic_order(s->contacts, start, s->order);
        if (!status) status = run_order(s, &verdict, error);
        if (verdict != CAROM_COMPLETE) worst = verdict;
    }
    if (status) return status;
    if (s->options->rule == RULE_STRONGE) return carom_law_set_verdict(s->call, worst, error);
    return carom_law_conclude(s->call, worst, carom_stepper_selection(s->steppers[0]), error);
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(call->impact);
    sequence s = {
        .call = call, .options = call->options, .contacts = data->contacts, .n = carom_impact_contact_size(call->impact), .nv = data->nv};
    carom_status status = prepare(&s, error);
    if (!status) status = run_orders(&s, error);
    release(&s);
    return status;
}

const carom_law carom_law_sequential = {
    .name = "sequential",
    .summary = "one contact at a time, one outcome for each order",
    .source = "Halm & Posa 2023, section 3.2",
    .options = option_rows,
    .option_count = sizeof option_rows / sizeof *option_rows,
    .options_size = sizeof(sequential_options),
    .defaults = defaults,
    .outcome_columns = outcome_columns,
    .outcome_column_count = OUTCOME_OWN_COLUMNS,
    .resolve = resolve,
};
