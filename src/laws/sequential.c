// SPDX-License-Identifier: Apache-2.0
// Law `sequential`: one contact at a time, in an order that is repeated until no contact approaches (Halm & Posa, section 3.2).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/arena.h"
#include "laws/laws_internal.h"

#define DEFAULT_IMPACTS 10000
#define MOST_IMPACTS    1e7
#define DEFAULT_DRAWS   100
#define MOST_DRAWS      1e7

// Up to so many contacts all orders are asked by default.
enum { FEW_CONTACTS = 5 };

carom_sequential_options carom_sequential_defaults(void) {
    return (carom_sequential_options){.rule = CAROM_RULE_AUTO,
                                      .draws = DEFAULT_DRAWS,
                                      .restitution = NAN,
                                      .max_impacts = DEFAULT_IMPACTS,
                                      .method = carom_step_choice_defaults()};
}

static void defaults(void *options) { *(carom_sequential_options *)options = carom_sequential_defaults(); }

static const char *const rules[] = {
    [CAROM_RULE_AUTO] = "auto", [CAROM_RULE_ANITESCU_POTRA] = "anitescu-potra", [CAROM_RULE_STRONGE] = "stronge", NULL};

static const char *const orders[] = {
    [CAROM_ORDERS_AUTO] = "auto", [CAROM_ORDERS_CYCLIC] = "cyclic", [CAROM_ORDERS_ALL] = "all", [CAROM_ORDERS_RANDOM] = "random", NULL};

static const carom_option option_rows[] = {
    {"order", CAROM_OPTION_CONTACTS, offsetof(carom_sequential_options, order), 0, 0, "", "those of orders",
     "contacts in the order of their impacts, with commas; every contact once", NULL},
    {"orders", CAROM_OPTION_CHOICE, offsetof(carom_sequential_options, orders), 0, 0, "", "auto",
     "which orders of the contacts: all of them, cyclic starts, random ones; auto: all up to five contacts, cyclic starts beyond", orders},
    {"draws", CAROM_OPTION_INTEGER, offsetof(carom_sequential_options, draws), 1, MOST_DRAWS, "", "100", "number of random orders", NULL},
    {"seed", CAROM_OPTION_INTEGER, offsetof(carom_sequential_options, seed), 0, CAROM_MOST_SEED, "", "0", "seed of random orders", NULL},
    {"rule", CAROM_OPTION_CHOICE, offsetof(carom_sequential_options, rule), 0, 0, "", "auto",
     "law of a single impact; auto is inelastic: in space stronge without restitution where it is defined, otherwise anitescu-potra",
     rules},
    {"restitution", CAROM_OPTION_REAL, offsetof(carom_sequential_options, restitution), 0, 1, "", "scene",
     "coefficient of restitution of all contacts for the rule stronge, instead of the scene's", NULL},
    {"max_impacts", CAROM_OPTION_INTEGER, offsetof(carom_sequential_options, max_impacts), 1, MOST_IMPACTS, "", "10000",
     "single impacts after which an order counts as not terminated", NULL},
    CAROM_STEP_CHOICE_ROWS(carom_sequential_options, method, carom_selection_names_solver, "lemke"),
};

enum { OUTCOME_PATH, OUTCOME_OWN_COLUMNS };

static const carom_column outcome_columns[OUTCOME_OWN_COLUMNS] = {
    [OUTCOME_PATH] = {"path", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "m/s",
                      "contact velocities (per contact normal, tangents) before the impact and after every contact that acted", NULL},
};

enum { RESULT_RULE, RESULT_OWN_COLUMNS };

static const carom_column result_columns[RESULT_OWN_COLUMNS] = {
    [RESULT_RULE] = {"rule", CAROM_COLUMN_CHOICE, 1, "", "law of a single impact that was used", rules},
};

// One run of the law; its arrays serve one order after the other.
typedef struct sequence {
    const carom_law_call *call;
    const carom_sequential_options *options;
    carom_sequential_rule rule;          // that `auto` stands for
    double restitution;                  // of the rule `stronge`; NaN: each contact's own
    int contacts, n, nv;                 // sizes: contacts, contact space, velocities
    carom_stepper **steppers;            // [contacts]; none for the rule `stronge`
    int *order;                          // [contacts]
    double *v;                           // [nv]
    double *u, *impulse, *step_impulse;  // [n]
    int *word;                           // [acted], contacts that acted
    double *history;                     // [acted + 1, n], contact velocities before the impact and after each of them
    int64_t acted, capacity;             // capacity of `word`; `history` has one row more
    carom_table *outcomes;
} sequence;

// Reads "A,C,B": every contact exactly once. The first fault is the one that is reported.
static carom_status read_order(const carom_impact *impact, const char *text, int *order, carom_error *error) {
    const int contacts = carom_impact_get_data(impact)->contacts;
    int *list, count;
    const carom_status status = carom_law_read_contacts(impact, text, &list, &count, error);
    if (status) return status;
    bool known = true;
    char phrase[CAROM_SUGGESTION_SIZE] = "";
    const char *why = count < contacts ? "does not name every contact" : NULL;
    for (int i = count - 1; i >= 0; i--) {
        for (int k = 0; k < i; k++)
            if (list[k] == list[i]) why = "names a contact twice";
        if (list[i] < 0) why = "names a contact that the scene does not have";
        known = known && list[i] >= 0;
    }
    if (!known) carom_law_suggest_contact(impact, text, phrase);
    if (!why) memcpy(order, list, (size_t)contacts * sizeof *order);
    free(list);
    return why ? carom_fail(error, CAROM_BAD_INPUT, "order: '%.200s' %s%s", text, why, phrase) : CAROM_OK;
}

// Appends the contact velocities to the history, and the contact that led to them to the word; -1 for the start.
static carom_status record(sequence *run, int contact, carom_error *error) {
    if (run->acted == run->capacity) {
        const int64_t capacity = 2 * run->capacity + 16;
        int *word = realloc(run->word, (size_t)capacity * sizeof *word);
        if (word) run->word = word;
        double *history = realloc(run->history, (size_t)(capacity + 1) * (size_t)run->n * sizeof *history);
        if (history) run->history = history;
        if (!word || !history) return carom_fail_memory(error, "sequential");
        run->capacity = capacity;
    }
    if (contact >= 0) run->word[run->acted++] = contact;
    for (int c = 0; c < run->n; c++) run->history[run->acted * run->n + c] = run->u[c] + 0.0;
    return CAROM_OK;
}

// The single impact of a contact that approaches: updates v, u and the impulse.
static carom_status collide(sequence *run, int contact, carom_verdict *verdict, carom_error *error) {
    const carom_impact *impact = run->call->impact;
    if (run->rule == CAROM_RULE_STRONGE) {
        // With friction and restitution, as the law `stronge` does.
        const carom_contact_options options = carom_contact_defaults();
        carom_contact_problem problem;
        carom_contact_result result;
        carom_contact_extract(impact, contact, run->u, &problem);
        if (!isnan(run->restitution)) problem.restitution = run->restitution;
        const carom_status status = carom_contact_solve(&problem, &options, &result, error);
        if (status) return status;
        memset(run->step_impulse, 0, (size_t)run->n * sizeof *run->step_impulse);
        carom_contact_place_impulse(impact, contact, &result.impulse, run->step_impulse);
        carom_impact_apply(impact, run->v, run->step_impulse, run->v);
    } else {
        // Inelastic: one step with this contact alone.
        carom_step_info info;
        carom_stepper_solve(run->steppers[contact], run->v, NULL, run->v, run->step_impulse, &info);
        *verdict = info.verdict;
    }
    for (int c = 0; c < run->n; c++) run->impulse[c] += run->step_impulse[c];
    carom_impact_contact_velocity(impact, run->v, run->u);
    return record(run, contact, error);
}

// Goes through the order again and again until no contact approaches, and emits the outcome; `verdict` says how it ended.
static carom_status run_order(sequence *run, carom_verdict *verdict, carom_error *error) {
    const carom_impact *impact = run->call->impact;
    const int stride = run->n / run->contacts;
    // From the velocity before the impact.
    memcpy(run->v, carom_impact_get_data(impact)->velocity, (size_t)run->nv * sizeof *run->v);
    memset(run->impulse, 0, (size_t)run->n * sizeof *run->impulse);
    carom_impact_contact_velocity(impact, run->v, run->u);
    run->acted = 0;
    *verdict = CAROM_COMPLETE;
    carom_status status = record(run, -1, error);
    int64_t visits = 0;
    while (!status && *verdict == CAROM_COMPLETE && !carom_impact_terminated(impact, run->u)) {
        if (carom_control_cancelled(run->call->control)) {
            *verdict = CAROM_INTERRUPTED;
        } else if (visits == run->options->max_impacts) {
            *verdict = CAROM_BUDGET_SPENT;
        } else {
            // A contact whose turn it is acts when it approaches.
            const int contact = run->order[visits++ % run->contacts];
            if (run->u[contact * stride] < carom_impact_approach_limit(impact)) status = collide(run, contact, verdict, error);
        }
    }
    if (status) return status;

    // The outcome, also of an order that did not end, with its word and the velocities on the way.
    const int64_t flags = *verdict == CAROM_UNVERIFIED || *verdict == CAROM_RAY ? CAROM_FLAG_UNSOLVED : 0;
    const int entries = (int)((run->acted + 1) * run->n);
    carom_table_clear(run->outcomes);
    status = carom_outcomes_add(run->outcomes, impact, run->v, run->impulse, visits, flags, error);
    if (!status) status = carom_table_set_list(run->outcomes, CAROM_OUTCOME_WORD, run->word, (int)run->acted, error);
    if (!status) status = carom_table_set_series(run->outcomes, CAROM_OUTCOME_COLUMNS + OUTCOME_PATH, run->history, entries, error);
    return status ? status : carom_law_emit(run->call, run->outcomes, error);
}

// The permutation that follows in the order of the alphabet; false after the last one.
static bool permute(int *order, int count) {
    int rise = count - 2, above = count - 1;
    while (rise >= 0 && order[rise] > order[rise + 1]) rise--;
    if (rise < 0) return false;
    while (order[above] < order[rise]) above--;
    const int moved = order[rise];
    order[rise] = order[above];
    order[above] = moved;
    for (int low = rise + 1, high = count - 1; low < high; low++, high--) {
        const int other = order[low];
        order[low] = order[high];
        order[high] = other;
    }
    return true;
}

// The order after `done` others; false where there is none.
static bool choose_order(const sequence *run, carom_sequential_orders kind, int64_t done, carom_status *status, carom_error *error) {
    const int contacts = run->contacts;
    if (run->options->order) {
        // The one that was asked for, read once.
        if (!done) *status = read_order(run->call->impact, run->options->order, run->order, error);
        return !done && !*status;
    }
    if (kind == CAROM_ORDERS_ALL && done > 0) return permute(run->order, contacts);
    for (int i = 0; i < contacts; i++) run->order[i] = (int)((i + (kind == CAROM_ORDERS_CYCLIC ? done : 0)) % contacts);
    if (kind == CAROM_ORDERS_CYCLIC) return done < contacts;
    if (kind == CAROM_ORDERS_ALL) return true;
    // A shuffle, with a stream of its own for each order.
    carom_stream stream;
    carom_stream_start(&stream, (uint64_t)run->options->seed, (uint64_t)done);
    for (int i = contacts - 1; i > 0; i--) {
        const int k = (int)(carom_stream_uniform(&stream) * (i + 1)), other = run->order[k];
        run->order[k] = run->order[i];
        run->order[i] = other;
    }
    return done < run->options->draws;
}

// The rule `auto`: in space linearised cones would make a single contact slide, and bounce, where it does not.
static carom_sequential_rule choose_rule(const sequence *run) {
    const carom_impact *impact = run->call->impact;
    if (run->n == 2 * run->contacts) return CAROM_RULE_ANITESCU_POTRA;
    const carom_contact_options options = carom_contact_defaults();
    for (int i = 0; i < run->contacts; i++) {
        // Each contact as if it approached: whether its matrix and its slip belong together does not depend on how fast it does.
        carom_contact_problem problem;
        carom_contact_result result;
        carom_error unused;
        carom_contact_extract(impact, i, run->u, &problem);
        problem.restitution = 0;
        problem.velocity.normal = -carom_impact_velocity_scale(impact);
        if (carom_contact_solve(&problem, &options, &result, &unused)) return CAROM_RULE_ANITESCU_POTRA;
    }
    return CAROM_RULE_STRONGE;
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_sequential_options *options = call->options;
    const carom_impact_data *data = carom_impact_get_data(call->impact);
    const size_t contacts = (size_t)data->contacts, n = (size_t)carom_impact_contact_size(call->impact);
    carom_arena arena = {0};
    sequence run = {.call = call, .options = options, .contacts = data->contacts, .n = (int)n, .nv = data->nv};
    run.steppers = carom_arena_take(&arena, contacts, sizeof *run.steppers);
    run.order = carom_arena_take(&arena, contacts, sizeof *run.order);
    run.v = carom_arena_take(&arena, (size_t)data->nv, sizeof *run.v);
    run.u = carom_arena_take(&arena, n, sizeof *run.u);
    run.impulse = carom_arena_take(&arena, n, sizeof *run.impulse);
    run.step_impulse = carom_arena_take(&arena, n, sizeof *run.step_impulse);
    carom_status status = arena.failed ? carom_fail_memory(error, "sequential") : CAROM_OK;

    // A step for each contact, where the rule takes one.
    carom_stepper_options stepper;
    run.rule = (carom_sequential_rule)options->rule;
    run.restitution = options->restitution;
    if (!status && run.rule == CAROM_RULE_AUTO) {
        carom_impact_contact_velocity(call->impact, data->velocity, run.u);
        run.rule = choose_rule(&run);
        run.restitution = 0;
    }
    const bool steps = run.rule != CAROM_RULE_STRONGE;
    if (!status && steps) status = carom_step_choice_resolve(&options->method, CAROM_STEP_ONE_CONTACT, call->registry, &stepper, error);
    for (int i = 0; !status && steps && i < run.contacts; i++) {
        stepper.contact = i;
        status = carom_stepper_create(call->impact, &stepper, &run.steppers[i], error);
    }
    if (!status) status = carom_outcomes_create(call->impact, outcome_columns, OUTCOME_OWN_COLUMNS, &run.outcomes, error);

    // The order that was asked for, or those of a kind.
    carom_sequential_orders kind = (carom_sequential_orders)options->orders;
    if (kind == CAROM_ORDERS_AUTO) kind = run.contacts <= FEW_CONTACTS ? CAROM_ORDERS_ALL : CAROM_ORDERS_CYCLIC;
    if (!status && kind == CAROM_ORDERS_ALL && run.contacts > CAROM_MOST_PERMUTED)
        status =
            carom_fail(error, CAROM_BAD_INPUT, "orders: %d contacts have too many orders; ask for cyclic or random ones", run.contacts);
    carom_verdict worst = CAROM_COMPLETE;
    for (int64_t done = 0; !status && worst != CAROM_INTERRUPTED && choose_order(&run, kind, done, &status, error); done++) {
        carom_verdict verdict = CAROM_COMPLETE;
        status = run_order(&run, &verdict, error);
        if (verdict != CAROM_COMPLETE) worst = verdict;
    }
    // A rule without steps selects nothing.
    if (!status && steps) status = carom_law_conclude(call, worst, carom_stepper_selection(run.steppers[0]), error);
    if (!status && !steps) status = carom_law_set_verdict(call, worst, error);
    if (!status) *carom_table_integers(call->result, CAROM_RESULT_COLUMNS + RESULT_RULE) = run.rule;

    for (int i = 0; run.steppers && i < run.contacts; i++) carom_stepper_free(run.steppers[i]);
    carom_table_free(run.outcomes);
    free(run.word);
    free(run.history);
    carom_arena_free(&arena);
    return status;
}

// Every order there is.
static const char *const exhaustive[] = {"orders", "all", NULL};

static const char *const bouncing[] = {"rule", "stronge", NULL};

const carom_law carom_law_sequential = {
    .name = "sequential",
    .summary = "one contact at a time, one outcome for each order",
    .source = "Halm & Posa 2023, section 3.2",
    CAROM_OPTION_TABLE(carom_sequential_options, option_rows),
    .defaults = defaults,
    .exhaustive = exhaustive,
    .bouncing = bouncing,
    CAROM_COLUMN_TABLE(outcome, outcome_columns),
    CAROM_COLUMN_TABLE(result, result_columns),
    .resolve = resolve,
};
