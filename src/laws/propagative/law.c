// SPDX-License-Identifier: Apache-2.0
// Law `propagative`: single elastic impacts in every order until no contact approaches, and plastic and inelastic outcomes derived from
// them (Seghete & Murphey). Frictionless: coefficients of the scene are ignored, and outcomes say so.
#include "carom/propagative.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "laws/laws_internal.h"

#define MOST_STATES  1e8
#define MOST_LETTERS 1e9

carom_propagative_options carom_propagative_defaults(void) {
    return (carom_propagative_options){.restitution = 1, .limits = carom_word_limits_defaults()};
}

static void defaults(void *options) { *(carom_propagative_options *)options = carom_propagative_defaults(); }

static const carom_option option_rows[] = {
    {"restitution", CAROM_OPTION_REAL, offsetof(carom_propagative_options, restitution), 0, 1, "", "1",
     "energetic coefficient R of the whole impact: 1 elastic, 0 plastic", NULL},
    {"plastic", CAROM_OPTION_CHOICE, offsetof(carom_propagative_options, plastic), 0, 0, "", "unilateral",
     "plastic outcome: contacts only push, or all stop", carom_plastic_kind_names},
    {"words", CAROM_OPTION_CHOICE, offsetof(carom_propagative_options, words), 0, 0, "", "admissible",
     "which sequences of single impacts; `literal` is for comparison", carom_word_set_names},
    {"order", CAROM_OPTION_CONTACTS, offsetof(carom_propagative_options, order), 0, 0, "", "every order",
     "one outcome: argmin, argmax, random, or contacts gone through again and again", NULL},
    {"seed", CAROM_OPTION_INTEGER, offsetof(carom_propagative_options, seed), 0, CAROM_MOST_SEED, "", "0", "seed of the order `random`",
     NULL},
    {"max_states", CAROM_OPTION_INTEGER, offsetof(carom_propagative_options, limits.max_states), 1, MOST_STATES, "", "100000",
     "distinct momenta, or unfinished words, after which a set is incomplete", NULL},
    {"max_length", CAROM_OPTION_INTEGER, offsetof(carom_propagative_options, limits.max_length), 1, MOST_LETTERS, "", "1000000",
     "single impacts after which a word counts as not finished", NULL},
};

enum { OUTCOME_COUNT, OUTCOME_MIN_LENGTH, OUTCOME_MAX_LENGTH, OUTCOME_JAMMED, OUTCOME_OWN_COLUMNS };

static const carom_column outcome_columns[OUTCOME_OWN_COLUMNS] = {
    [OUTCOME_COUNT] = {"count", CAROM_COLUMN_INTEGER, 1, "", "words that end here; 0 for a plastic outcome", NULL},
    [OUTCOME_MIN_LENGTH] = {"min_length", CAROM_COLUMN_INTEGER, 1, "", "single impacts of the shortest of them", NULL},
    [OUTCOME_MAX_LENGTH] = {"max_length", CAROM_COLUMN_INTEGER, 1, "", "single impacts of the longest of them", NULL},
    [OUTCOME_JAMMED] = {"jammed", CAROM_COLUMN_BOOLEAN, 1, "", "plastic, because elastic words need not end", NULL},
};

enum { RESULT_JAMMED, RESULT_WORDS, RESULT_MARGIN, RESULT_CERTIFICATE, RESULT_STANDS_FOR, RESULT_OWN_COLUMNS };

static const carom_column result_columns[RESULT_OWN_COLUMNS] = {
    [RESULT_JAMMED] = {"jammed", CAROM_COLUMN_BOOLEAN, 1, "", "the cone of feasible momenta is flat: elastic words need not end", NULL},
    [RESULT_WORDS] = {"words", CAROM_COLUMN_TEXT, 1, "", "set that was enumerated: admissible, minimal, literal; one-order; none", NULL},
    [RESULT_MARGIN] = {"margin", CAROM_COLUMN_REAL, 1, "", "margin of the cone of feasible momenta", NULL},
    [RESULT_CERTIFICATE] = {"certificate", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "",
                            "weights that combine the unit normals to zero, where jammed", NULL},
    [RESULT_STANDS_FOR] = {"stands_for", CAROM_COLUMN_INTEGER, CAROM_WIDTH_CONTACTS, "",
                           "number of the contact whose mirror this one shares: its own, or an earlier one with the same normal", NULL},
};

// ------------------------------------------------------------------------------------------------------------ outcomes

typedef struct answer {
    const carom_law_call *call;
    const carom_propagative_options *options;
    const carom_propagative *propagative;
    carom_table *outcomes;
    double *plastic, *impulse;  // [contacts]
    double *whole, *velocity;   // [n], [nv]
    int64_t flags;              // of every outcome
} answer;

static void set_integer(carom_table *outcomes, int column, int64_t value) {
    *carom_table_integers(outcomes, CAROM_OUTCOME_COLUMNS + column) = value;
}

// A row from normal impulses.
static carom_status add_row(answer *a, const double *normal_impulse, int64_t steps, int64_t flags, carom_error *error) {
    const carom_impact *impact = a->call->impact;
    const size_t n = (size_t)carom_impact_contact_size(impact), contacts = (size_t)carom_impact_get_data(impact)->contacts;
    memset(a->whole, 0, n * sizeof *a->whole);
    for (size_t i = 0; i < contacts; i++) a->whole[i * (n / contacts)] = normal_impulse[i];
    carom_impact_apply(impact, carom_impact_get_data(impact)->velocity, a->whole, a->velocity);
    return carom_outcomes_add(a->outcomes, impact, a->velocity, a->whole, steps, a->flags | flags, error);
}

static carom_status add_plastic(answer *a, bool jammed, carom_error *error) {
    const carom_status status = add_row(a, a->plastic, 0, 0, error);
    if (!status) set_integer(a->outcomes, OUTCOME_JAMMED, jammed);
    return status;
}

static carom_status add_word(void *user, const carom_elastic_outcome *elastic, carom_error *error) {
    answer *a = user;
    const double *impulse = elastic->impulse;
    if (a->options->restitution < 1) {
        carom_propagative_blend(a->propagative, a->options->restitution, a->plastic, elastic->impulse, a->impulse);
        impulse = a->impulse;
    }
    carom_status status = add_row(a, impulse, elastic->min_length, elastic->marginal ? CAROM_FLAG_MARGINAL : 0, error);
    if (status) return status;
    set_integer(a->outcomes, OUTCOME_COUNT, elastic->count);
    set_integer(a->outcomes, OUTCOME_MIN_LENGTH, elastic->min_length);
    set_integer(a->outcomes, OUTCOME_MAX_LENGTH, elastic->max_length);
    return carom_table_set_list(a->outcomes, CAROM_OUTCOME_WORD, elastic->witness, (int)elastic->min_length, error);
}

// --------------------------------------------------------------------------------------------------------------- words

// Contacts of "A,B,A", any of them any number of times.
static carom_status parse_list(const carom_impact *impact, const char *text, int *list, int *count, carom_error *error) {
    char name[CAROM_MAX_NAME + 1];
    *count = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        int contact = -1;
        if (length <= CAROM_MAX_NAME) {
            memcpy(name, at, length);
            name[length] = '\0';
            contact = carom_impact_find_contact(impact, name);
        }
        if (contact < 0)
            return carom_fail(error, CAROM_BAD_INPUT,
                              "order: '%.200s' is not argmin, argmax or random, and names a contact that the scene does not have", text);
        list[(*count)++] = contact;
        at += length;
        if (!*at) return CAROM_OK;
    }
}

static carom_status follow(answer *a, const char *text, carom_verdict *verdict, carom_error *error) {
    // A list has one entry more than commas, and no more than characters.
    int *list = malloc((strlen(text) + 1) * sizeof *list);
    if (!list) return carom_fail_memory(error, "order");
    carom_word_order order = {.kind = CAROM_ORDER_GIVEN, .seed = (uint64_t)a->options->seed, .list = list};
    carom_status status = CAROM_OK;
    if (!strcmp(text, "argmin"))
        order.kind = CAROM_ORDER_ARGMIN;
    else if (!strcmp(text, "argmax"))
        order.kind = CAROM_ORDER_ARGMAX;
    else if (!strcmp(text, "random"))
        order.kind = CAROM_ORDER_RANDOM;
    else
        status = parse_list(a->call->impact, text, list, &order.count, error);
    if (!status)
        status = carom_propagative_follow(a->propagative, &order, &a->options->limits, a->call->control, add_word, a, verdict, error);
    free(list);
    return status;
}

// The set that was asked for; `*words` is the one that was served: no minimal word may be admissible.
static carom_status enumerate(answer *a, const char **words, carom_verdict *verdict, carom_error *error) {
    const carom_word_set set = (carom_word_set)a->options->words;
    *words = carom_word_set_names[set];
    carom_status status =
        carom_propagative_enumerate(a->propagative, set, &a->options->limits, a->call->control, add_word, a, verdict, error);
    if (status || set != CAROM_WORDS_MINIMAL || *verdict != CAROM_COMPLETE || carom_table_rows(a->outcomes) > 0) return status;
    *words = carom_word_set_names[CAROM_WORDS_ADMISSIBLE];
    return carom_propagative_enumerate(a->propagative, CAROM_WORDS_ADMISSIBLE, &a->options->limits, a->call->control, add_word, a, verdict,
                                       error);
}

// ------------------------------------------------------------------------------------------------------------- the law

static carom_status report(const answer *a, const char *words, carom_verdict verdict, carom_error *error) {
    carom_table *result = a->call->result;
    const carom_propagative *p = a->propagative;
    const int contacts = carom_impact_get_data(a->call->impact)->contacts, first = CAROM_RESULT_COLUMNS;
    const bool jammed = carom_propagative_is_jammed(p);
    *carom_table_integers(result, first + RESULT_JAMMED) = jammed;
    *carom_table_reals(result, first + RESULT_MARGIN) = carom_propagative_margin(p);
    double *certificate = carom_table_reals(result, first + RESULT_CERTIFICATE);
    int64_t *stands_for = carom_table_integers(result, first + RESULT_STANDS_FOR);
    for (int i = 0; i < contacts; i++) {
        if (jammed) certificate[i] = carom_propagative_weights(p)[i];
        stands_for[i] = carom_propagative_stands_for(p, i);
    }
    carom_status status = carom_table_set_text(result, first + RESULT_WORDS, words, error);
    if (!status) status = carom_table_set_text(result, CAROM_RESULT_VERDICT, carom_verdict_name(verdict), error);
    return status;
}

static carom_status solve(answer *a, carom_error *error) {
    const bool jammed = carom_propagative_is_jammed(a->propagative), plastic = a->options->restitution == 0;
    const char *words = "none";
    carom_verdict verdict = CAROM_COMPLETE;
    carom_status status = CAROM_OK;
    if (jammed || a->options->restitution < 1) {
        bool adhesive;
        status = carom_propagative_plastic(a->propagative, (carom_plastic_kind)a->options->plastic, a->plastic, &adhesive, error);
        if (adhesive) a->flags |= CAROM_FLAG_ADHESIVE;
    }
    if (!status && (jammed || plastic)) {
        status = add_plastic(a, jammed, error);
    } else if (!status && a->options->order) {
        words = "one-order";
        status = follow(a, a->options->order, &verdict, error);
    } else if (!status) {
        status = enumerate(a, &words, &verdict, error);
    }
    if (!status) status = carom_law_emit(a->call, a->outcomes, error);
    return status ? status : report(a, words, verdict, error);
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(call->impact);
    const size_t contacts = (size_t)data->contacts, n = (size_t)carom_impact_contact_size(call->impact);
    carom_propagative *propagative = NULL;
    answer a = {.call = call, .options = call->options};
    if (carom_max_abs(contacts, data->friction) > 0) a.flags = CAROM_FLAG_FRICTION_IGNORED;
    double *work = malloc((2 * contacts + n + (size_t)data->nv) * sizeof *work);
    carom_status status = work ? carom_propagative_create(call->impact, &propagative, error) : carom_fail_memory(error, "propagative");
    if (!status) status = carom_outcomes_create(call->impact, outcome_columns, OUTCOME_OWN_COLUMNS, &a.outcomes, error);
    if (!status) {
        a.propagative = propagative;
        a.plastic = work;
        a.impulse = work + contacts;
        a.whole = work + 2 * contacts;
        a.velocity = a.whole + n;
        status = solve(&a, error);
    }
    carom_table_free(a.outcomes);
    carom_propagative_free(propagative);
    free(work);
    return status;
}

const carom_law carom_law_propagative = {
    .name = "propagative",
    .summary = "single elastic impacts in every order, one outcome for each distinct end",
    .source = "Seghete & Murphey, A propagative model of simultaneous impact",
    .options = option_rows,
    .option_count = sizeof option_rows / sizeof *option_rows,
    .options_size = sizeof(carom_propagative_options),
    .defaults = defaults,
    .outcome_columns = outcome_columns,
    .outcome_column_count = OUTCOME_OWN_COLUMNS,
    .result_columns = result_columns,
    .result_column_count = RESULT_OWN_COLUMNS,
    .resolve = resolve,
};
