// SPDX-License-Identifier: Apache-2.0
// Law `propagative`: single elastic impacts in every order until no contact approaches, and plastic and inelastic outcomes derived from
// them (Seghete & Murphey). Frictionless: coefficients of the scene are ignored, and outcomes say so.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/arena.h"
#include "carom/dense.h"
#include "laws/laws_internal.h"
#include "laws/propagative/propagative_internal.h"

#define MOST_STATES  1e8
#define MOST_LETTERS 1e9
#define MOST_DRAWS   1e7

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
    {"seed", CAROM_OPTION_INTEGER, offsetof(carom_propagative_options, seed), 0, CAROM_MOST_SEED, "", "0",
     "seed of the order `random` and of the orders that are drawn", NULL},
    {"max_states", CAROM_OPTION_INTEGER, offsetof(carom_propagative_options, limits.max_states), 1, MOST_STATES, "", "100000",
     "distinct momenta, or unfinished words, after which a set is incomplete; admissible words are then drawn", NULL},
    {"draws", CAROM_OPTION_INTEGER, offsetof(carom_propagative_options, limits.draws), 1, MOST_DRAWS, "", "1000",
     "number of random orders where admissible words are too many; argmin and argmax come on top", NULL},
    {"max_length", CAROM_OPTION_INTEGER, offsetof(carom_propagative_options, limits.max_length), 1, MOST_LETTERS, "", "1000000",
     "single impacts after which a word counts as not finished", NULL},
};

// The law's own columns of outcomes, and of the result row below.
enum { OUTCOME_COUNT, OUTCOME_MIN_LENGTH, OUTCOME_MAX_LENGTH, OUTCOME_JAMMED, OUTCOME_OWN_COLUMNS };

static const carom_column outcome_columns[OUTCOME_OWN_COLUMNS] = {
    [OUTCOME_COUNT] =
        {"count", CAROM_COLUMN_INTEGER, 1, "",
         "words that end here, of a sampled set orders that were followed; 0 for a plastic outcome; not counted (null, or the least "
         "integer) where they are more than the limits allow and all end here",
         NULL},
    [OUTCOME_MIN_LENGTH] = {"min_length", CAROM_COLUMN_INTEGER, 1, "", "single impacts of the shortest of them", NULL},
    [OUTCOME_MAX_LENGTH] = {"max_length", CAROM_COLUMN_INTEGER, 1, "", "single impacts of the longest of them that is known", NULL},
    [OUTCOME_JAMMED] = {"jammed", CAROM_COLUMN_BOOLEAN, 1, "", "plastic, because elastic words need not end", NULL},
};

enum {
    RESULT_JAMMED,
    RESULT_WORDS,
    RESULT_MARGIN,
    RESULT_CERTIFICATE,
    RESULT_STANDS_FOR,
    RESULT_SAMPLED,
    RESULT_ORDERS,
    RESULT_XI,
    RESULT_OWN_COLUMNS
};

static const carom_column result_columns[RESULT_OWN_COLUMNS] = {
    [RESULT_JAMMED] = {"jammed", CAROM_COLUMN_BOOLEAN, 1, "", "the cone of feasible momenta is flat: elastic words need not end", NULL},
    [RESULT_WORDS] = {"words", CAROM_COLUMN_TEXT, 1, "", "set that was enumerated: admissible, minimal, literal; sampled; one-order; none",
                      NULL},
    [RESULT_MARGIN] = {"margin", CAROM_COLUMN_REAL, 1, "", "margin of the cone of feasible momenta", NULL},
    [RESULT_CERTIFICATE] = {"certificate", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "",
                            "weights that combine the unit normals to zero, where jammed", NULL},
    [RESULT_STANDS_FOR] = {"stands_for", CAROM_COLUMN_INTEGER, CAROM_WIDTH_CONTACTS, "",
                           "number of the contact whose mirror this one shares: its own, or an earlier one with the same normal", NULL},
    [RESULT_SAMPLED] = {"sampled", CAROM_COLUMN_BOOLEAN, 1, "",
                        "the admissible words are too many to enumerate: outcomes of argmin, argmax and random orders", NULL},
    [RESULT_ORDERS] = {"orders", CAROM_COLUMN_INTEGER, 1, "", "orders that were followed; 0 where words were enumerated", NULL},
    [RESULT_XI] = {"xi", CAROM_COLUMN_REAL, 1, "",
                   "largest kinetic distance of two elastic outcomes over |p-|; a lower bound where the set is sampled or incomplete",
                   NULL},
};

// ------------------------------------------------------------------------------------------------------------ outcomes

// The answer on its way, and what every outcome needs.
typedef struct word_answer {
    const carom_law_call *call;
    const carom_propagative_options *options;
    const carom_propagative *propagative;
    carom_table *outcomes;
    propagative_places elastic;  // their momenta
    double *momentum;            // [rank]
    double *plastic, *blended;   // [contacts], normal impulses
    double *impulse, *v;         // [n], [nv]
    int64_t flags;               // of every outcome
} word_answer;

// Adds an outcome from its normal impulses.
static carom_status add_row(word_answer *answer, const double *normal_impulse, int64_t steps, int64_t flags, carom_error *error) {
    const carom_impact *impact = answer->call->impact;
    const size_t n = (size_t)carom_impact_contact_size(impact), contacts = (size_t)carom_impact_get_data(impact)->contacts;
    memset(answer->impulse, 0, n * sizeof *answer->impulse);
    for (size_t i = 0; i < contacts; i++) answer->impulse[i * (n / contacts)] = normal_impulse[i];
    carom_impact_apply(impact, carom_impact_get_data(impact)->velocity, answer->impulse, answer->v);
    return carom_outcomes_add(answer->outcomes, impact, answer->v, answer->impulse, steps, answer->flags | flags, error);
}

// Adds an elastic outcome, or the inelastic one between it and the plastic one.
static carom_status add_word(void *user, const carom_elastic_outcome *elastic, carom_error *error) {
    word_answer *answer = user;
    const double restitution = answer->options->restitution, *impulse = elastic->impulse;
    int place;
    propagative_momentum_after(answer->propagative, elastic->impulse, answer->momentum);
    carom_status status = propagative_places_add(&answer->elastic, answer->momentum, &place, error);
    if (status) return status;
    if (restitution < 1) {
        carom_propagative_blend(answer->propagative, restitution, answer->plastic, elastic->impulse, answer->blended);
        impulse = answer->blended;
    }
    status = add_row(answer, impulse, elastic->min_length, elastic->marginal ? CAROM_FLAG_MARGINAL : 0, error);
    if (status) return status;
    // What is known of the words that end here.
    const int own = CAROM_OUTCOME_COLUMNS;
    *carom_table_integers(answer->outcomes, own + OUTCOME_COUNT) = elastic->count;
    *carom_table_integers(answer->outcomes, own + OUTCOME_MIN_LENGTH) = elastic->min_length;
    *carom_table_integers(answer->outcomes, own + OUTCOME_MAX_LENGTH) = elastic->max_length;
    return carom_table_set_list(answer->outcomes, CAROM_OUTCOME_WORD, elastic->witness, (int)elastic->min_length, error);
}

// The one word of an order: argmin, argmax, random, or contacts as in "A,B,A", any of them any number of times.
static carom_status follow(word_answer *answer, carom_verdict *verdict, carom_error *error) {
    const carom_propagative_options *options = answer->options;
    const char *text = options->order;
    carom_word_order order = {.kind = CAROM_ORDER_GIVEN, .seed = (uint64_t)options->seed};
    int *list = NULL;
    if (!strcmp(text, "argmin"))
        order.kind = CAROM_ORDER_ARGMIN;
    else if (!strcmp(text, "argmax"))
        order.kind = CAROM_ORDER_ARGMAX;
    else if (!strcmp(text, "random"))
        order.kind = CAROM_ORDER_RANDOM;
    carom_status status = CAROM_OK;
    if (order.kind == CAROM_ORDER_GIVEN) {
        status = carom_law_read_contacts(answer->call->impact, text, &list, &order.count, error);
        char phrase[CAROM_SUGGESTION_SIZE];
        for (int i = 0; i < order.count && !status; i++)
            if (list[i] < 0)
                status = carom_fail(error, CAROM_BAD_INPUT,
                                    "order: '%.200s' is not argmin, argmax or random, and names a contact that the scene does not have%s",
                                    text, carom_law_suggest_contact(answer->call->impact, text, phrase));
        order.list = list;
    }
    if (!status)
        status = carom_propagative_follow(answer->propagative, &order, &options->limits, answer->call->control, add_word, answer, verdict,
                                          error);
    free(list);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- the law

// Finds the outcomes.
// @param words  receives the set of words that was served
static carom_status find_outcomes(word_answer *answer, const char **words, carom_verdict *verdict, carom_error *error) {
    const carom_propagative *propagative = answer->propagative;
    const carom_propagative_options *options = answer->options;
    const bool jammed = carom_propagative_is_jammed(propagative);
    carom_word_set set = (carom_word_set)options->words;
    carom_status status = CAROM_OK;
    *verdict = CAROM_COMPLETE;
    *words = "none";
    // The plastic outcome is the answer where elastic words need not end, and one end of inelastic ones.
    if (jammed || options->restitution < 1) {
        bool adhesive;
        status = carom_propagative_plastic(propagative, (carom_plastic_kind)options->plastic, answer->plastic, &adhesive, error);
        if (adhesive) answer->flags |= CAROM_FLAG_ADHESIVE;
    }
    if (status) return status;
    if (jammed || options->restitution == 0) {
        status = add_row(answer, answer->plastic, 0, 0, error);
        if (!status) *carom_table_integers(answer->outcomes, CAROM_OUTCOME_COLUMNS + OUTCOME_JAMMED) = jammed;
        return status;
    }
    // One word by an order, or all of a set.
    if (options->order) {
        *words = "one-order";
        return follow(answer, verdict, error);
    }
    carom_word_limits limits = options->limits;
    limits.seed = (uint64_t)options->seed;
    for (;;) {
        *words = carom_word_set_names[set];
        status = carom_propagative_enumerate(propagative, set, &limits, answer->call->control, add_word, answer, verdict, error);
        if (set == CAROM_WORDS_ADMISSIBLE && *verdict == CAROM_INCOMPLETE) *words = "sampled";
        // Where no minimal word is admissible, all admissible ones are served.
        if (status || set != CAROM_WORDS_MINIMAL || *verdict != CAROM_COMPLETE || carom_table_rows(answer->outcomes) > 0) return status;
        set = CAROM_WORDS_ADMISSIBLE;
    }
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(call->impact);
    const size_t contacts = (size_t)data->contacts;
    carom_propagative *propagative = NULL;
    carom_arena arena = {0};
    word_answer answer = {.call = call, .options = call->options};
    if (carom_max_abs(contacts, data->friction) > 0) answer.flags = CAROM_FLAG_FRICTION_IGNORED;
    answer.plastic = carom_arena_take(&arena, contacts, sizeof *answer.plastic);
    answer.blended = carom_arena_take(&arena, contacts, sizeof *answer.blended);
    answer.impulse = carom_arena_take(&arena, (size_t)carom_impact_contact_size(call->impact), sizeof *answer.impulse);
    answer.v = carom_arena_take(&arena, (size_t)data->nv, sizeof *answer.v);
    answer.momentum = carom_arena_take(&arena, contacts, sizeof *answer.momentum);
    carom_status status = arena.failed ? carom_fail_memory(error, "propagative") : CAROM_OK;
    const char *words = NULL;
    carom_verdict verdict = CAROM_COMPLETE;
    if (!status) status = carom_propagative_create(call->impact, &propagative, error);
    answer.propagative = answer.elastic.p = propagative;
    if (!status) status = carom_outcomes_create(call->impact, outcome_columns, OUTCOME_OWN_COLUMNS, &answer.outcomes, error);
    if (!status) status = find_outcomes(&answer, &words, &verdict, error);
    if (!status) status = carom_law_emit(call, answer.outcomes, error);

    // The result row.
    if (!status) {
        const int own = CAROM_RESULT_COLUMNS;
        const bool jammed = carom_propagative_is_jammed(propagative);
        *carom_table_integers(call->result, own + RESULT_JAMMED) = jammed;
        *carom_table_reals(call->result, own + RESULT_MARGIN) = carom_propagative_margin(propagative);
        double *certificate = carom_table_reals(call->result, own + RESULT_CERTIFICATE);
        int64_t *stands_for = carom_table_integers(call->result, own + RESULT_STANDS_FOR);
        for (int i = 0; i < data->contacts; i++) {
            if (jammed) certificate[i] = carom_propagative_weights(propagative)[i];
            stands_for[i] = carom_propagative_stands_for(propagative, i);
        }
        const bool sampled = !strcmp(words, "sampled");
        *carom_table_integers(call->result, own + RESULT_SAMPLED) = sampled;
        *carom_table_integers(call->result, own + RESULT_ORDERS) = sampled ? answer.options->limits.draws + 2 : !strcmp(words, "one-order");
        *carom_table_reals(call->result, own + RESULT_XI) = jammed ? NAN : propagative_spread(&answer.elastic);
        status = carom_table_set_text(call->result, own + RESULT_WORDS, words, error);
        if (!status) status = carom_law_set_verdict(call, verdict, error);
    }
    carom_table_free(answer.outcomes);
    propagative_places_free(&answer.elastic);
    carom_propagative_free(propagative);
    carom_arena_free(&arena);
    return status;
}

const carom_law carom_law_propagative = {
    .name = "propagative",
    .summary = "single elastic impacts in every order, one outcome for each distinct end",
    .source = "Seghete & Murphey, A propagative model of simultaneous impact",
    CAROM_OPTION_TABLE(carom_propagative_options, option_rows),
    .defaults = defaults,
    CAROM_COLUMN_TABLE(outcome, outcome_columns),
    CAROM_COLUMN_TABLE(result, result_columns),
    .elastic = true,
    .frictionless = true,
    .resolve = resolve,
};
