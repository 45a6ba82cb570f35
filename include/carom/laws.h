// SPDX-License-Identifier: Apache-2.0
/// @file
/// Impact laws. Every law is a set-valued map from an impact to an outcome set, and a row in one table.
#ifndef CAROM_LAWS_H
#define CAROM_LAWS_H

#include "carom/propagative.h"
#include "carom/reach.h"
#include "carom/stronge.h"
#include "carom/worst.h"

CAROM_API_BEGIN

/// One question to a law. Everything is borrowed; only `impact` must be set.
typedef struct carom_law_call {
    const carom_impact *impact;
    const void *options;             ///< the law's option struct, such as a carom_sequential_options; NULL: its defaults
    const carom_registry *registry;  ///< where LCP solvers are found by name; NULL: the core's
    const carom_control *control;    ///< threads, cancellation, progress; NULL: all by default
    const carom_sink *sink;          ///< receives blocks of outcomes in order; NULL: the answer keeps them
    carom_table *result;             ///< one row with the result columns: set by carom_law_resolve, filled by the law
} carom_law_call;

/// A law as a table row. Flags, scene keys, `--help`, JSON, HDF5 and docs are made from it.
typedef struct carom_law {
    const char *name;
    const char *summary;  ///< one line
    const char *source;   ///< paper and equation
    const carom_option *options;
    int option_count;
    size_t options_size;
    void (*defaults)(void *options);
    /// Option, value, ..., NULL: settings for a comparison, unless the scene or the command line says otherwise. NULL: none.
    const char *const *thorough;
    /// Option, value, sentence, ..., NULL: why the law does not offer a choice that others do. NULL: the names of its choices say enough.
    const char *const *refusals;
    /// The same for the search for worst cases: settings with which the outcomes are all that the law can choose. NULL: those above.
    const char *const *exhaustive;
    /// What a search is among where the outcomes are draws of a set. NULL: the outcomes are a list.
    carom_status (*members)(const carom_law_call *call, carom_member_source *source, carom_error *error);
    bool samples;  ///< its outcomes, or its one outcome, are random draws of a set: other seeds give others
    /// Its impacts are elastic unless its own option `restitution` says otherwise, whatever the coefficients of the contacts are: where
    /// nothing bounces, comparisons ask it only by its name.
    bool elastic;
    /// The option that decides whether the law uses the coefficients of restitution, and its choices with which it does; NULL-terminated.
    /// NULL: it always does where it has an option `restitution`, and never otherwise.
    const char *const *bouncing;
    bool frictionless;  ///< coefficients of friction have no part in it
    /// Comparisons pass over the law where this is false. NULL: always true.
    bool (*applies)(const carom_impact *impact);
    const carom_column *outcome_columns;  ///< the law's own; they follow the common ones
    int outcome_column_count;
    const carom_column *result_columns;  ///< the law's own; they follow the common ones
    int result_column_count;
    /// Finds the outcomes. The call is complete: options, registry, sink and result are never NULL.
    carom_status (*resolve)(const carom_law_call *call, carom_error *error);
} carom_law;

/// Result columns that every law has, in this order.
typedef enum carom_result_column {
    CAROM_RESULT_VERDICT,    ///< text: name of a carom_verdict; "complete" when what was asked for was finished
    CAROM_RESULT_SELECTION,  ///< text: selection that was served; "" where a law has none
    CAROM_RESULT_COLUMNS
} carom_result_column;

/// An answer: the outcome set in memory and the result row.
typedef struct carom_answer {
    carom_table *outcomes;
    carom_table *result;
} carom_answer;

/// Asks `law`. Outcomes go to the call's sink, or into `answer->outcomes` where it has none.
/// @return CAROM_BAD_INPUT naming the option; a computation that could not finish is a verdict in the result row
carom_status carom_law_resolve(const carom_law *law, const carom_law_call *call, carom_answer *answer, carom_error *error);
/// An answer without outcomes, and a result row that says nothing: to be filled with what a law has answered before.
carom_status carom_answer_create(const carom_law *law, const carom_impact *impact, carom_answer *answer, carom_error *error);
void carom_answer_free(carom_answer *answer);
/// The result row's verdict.
carom_verdict carom_answer_verdict(const carom_answer *answer);
/// True when it is CAROM_COMPLETE.
bool carom_answer_complete(const carom_answer *answer);

/// Sets one option in the law's option struct, from text as in a scene. Texts are borrowed.
/// @return CAROM_BAD_INPUT where the law has no such option, or the text breaks its rule
carom_status carom_law_set(const carom_law *law, void *options, const char *name, const char *text, carom_error *error);

/// Why the law does not offer this choice of an option; NULL where its names of choices say enough.
const char *carom_law_refusal(const carom_law *law, const char *name, const char *value);

/// Do impacts bounce with these options: has the law a restitution, and no choice (`bouncing`) that makes it inelastic?
bool carom_law_bounces(const carom_law *law, const void *options);
/// What restitution means to the law with these options: the choice of its `hypothesis`, or of what it has instead; NULL where it does not
/// bounce, or has no choice.
const char *carom_law_hypothesis(const carom_law *law, const void *options);
/// The coefficients of restitution that the law uses with these options: least and largest of all contacts.
/// @return false, and NaN, where it uses none
bool carom_law_restitution(const carom_law *law, const void *options, const carom_impact *impact, carom_interval *range);

/// What the search for worst cases is among with this law (carom/worst.h): the set that it draws from, or the list of its outcomes.
/// Outcomes that have not terminated are left out. Options, registry and law of the call are borrowed as long as the source lives.
/// @param call  its impact is the one that is known; sink and result are not used
/// @return CAROM_BAD_INPUT for options out of range; those that a list breaks are found when it is asked for
carom_status carom_law_members(const carom_law *law, const carom_law_call *call, carom_member_source *source, carom_error *error);

// ------------------------------------------------------------------------------------------------ what is given and not used

/// What is given for a law to use.
typedef struct carom_given {
    const carom_impact *impact;
    const carom_uncertainty *uncertainty;  ///< of the impact; NULL: everything is known
    bool restitution;                      ///< a setting beside the impact gives a coefficient, whether or not the law has such an option
} carom_given;

/// Bits: what of this a law does not use.
enum {
    CAROM_UNUSED_RESTITUTION = 1,  ///< coefficients that are not 0
    CAROM_UNUSED_FRICTION = 2,     ///< coefficients that are not 0
    CAROM_UNUSED_HYPOTHESIS = 4,   ///< a hypothesis of restitution, and all coefficients are 0
};

/// What of all that is given the law does not use with these options.
int carom_law_unused(const carom_law *law, const void *options, const carom_given *given);

/// How sentences spell options.
typedef enum carom_spelling {
    CAROM_SPELL_FLAGS,     ///< --hypothesis poisson
    CAROM_SPELL_KEYWORDS,  ///< hypothesis="poisson"
} carom_spelling;

enum { CAROM_MOST_CAVEATS = 4 };

/// Sentences that stand beside an answer.
typedef struct carom_caveats {
    int count;
    char text[CAROM_MOST_CAVEATS][CAROM_MESSAGE_SIZE];
} carom_caveats;

/// Says what laws do not use, in one sentence for each kind: names the contacts, the laws, and what makes the laws use it.
/// @param unused  [count] bits of carom_law_unused
void carom_law_caveats(const carom_given *given, const carom_law *const *laws, const int *unused, int count, carom_spelling spelling,
                       carom_caveats *caveats);

// The end of a law's `resolve`, also of laws in other libraries and programs.

/// Sets the two common result columns.
carom_status carom_law_conclude(const carom_law_call *call, carom_verdict verdict, carom_selection selection, carom_error *error);

/// Hands a finished table of outcomes to the call's sink.
carom_status carom_law_emit(const carom_law_call *call, const carom_table *outcomes, carom_error *error);

/// Hands one outcome to the call's sink, for laws without outcome columns of their own.
/// @param v        [nv] v+
/// @param impulse  [n], contact-major, or NULL: as carom_outcomes_add
carom_status carom_law_emit_one(const carom_law_call *call, const double *v, const double *impulse, int64_t steps, int64_t flags,
                                carom_error *error);

/// `bouncing` of laws with an option `hypothesis`.
extern const char *const carom_law_by_hypothesis[4];

/// A registry with the core's solvers and laws.
carom_status carom_registry_create(carom_registry **registry, carom_error *error);
const carom_law *carom_law_find(const carom_registry *registry, const char *name);

// ---------------------------------------------------------------------------------------------- the laws and their options

extern const carom_law carom_law_anitescu_potra, carom_law_halm_posa, carom_law_lzb, carom_law_moreau, carom_law_propagative,
    carom_law_routh, carom_law_sequential, carom_law_stronge;

/// Options of `anitescu-potra`.
typedef struct carom_anitescu_potra_options {
    int64_t seed;              ///< of the selection `random`: 0 to CAROM_MOST_SEED
    carom_step_choice method;  ///< how the step is solved
} carom_anitescu_potra_options;

/// Seed 0; the method of carom_step_choice_defaults.
carom_anitescu_potra_options carom_anitescu_potra_defaults(void);

/// Options of `lzb`.
typedef struct carom_lzb_options {
    const char *stiffness;  ///< "K1,K2,...", > 0, one for each contact, whose ratios matter alone; NULL: equal
    double restitution;     ///< energetic, of all contacts, in [0, 1]; NaN: each contact's own
    double tolerance;       ///< of the integration, relative to the speed before the impact: 1e-14 to 1e-3
} carom_lzb_options;

/// Equal stiffnesses, each contact's own restitution, tolerance 1e-10.
carom_lzb_options carom_lzb_defaults(void);

/// Options of `moreau`.
typedef struct carom_moreau_options {
    double restitution;        ///< of all contacts, in [0, 1]; NaN: each contact's own
    carom_step_choice method;  ///< how the step is solved
} carom_moreau_options;

/// Each contact's own restitution; the method of carom_step_choice_defaults.
carom_moreau_options carom_moreau_defaults(void);

/// The law that a single impact obeys in `sequential`.
typedef enum carom_sequential_rule {
    CAROM_RULE_AUTO,            ///< inelastic: in space the exact single contact, with round cone, where it is defined; otherwise one LCP
    CAROM_RULE_ANITESCU_POTRA,  ///< inelastic, one LCP
    CAROM_RULE_STRONGE,         ///< energetic restitution, exact friction cone
} carom_sequential_rule;

/// Which orders of the contacts `sequential` goes through.
typedef enum carom_sequential_orders {
    CAROM_ORDERS_AUTO,    ///< all of them up to five contacts, cyclic starts beyond
    CAROM_ORDERS_CYCLIC,  ///< A B C, B C A, C A B
    CAROM_ORDERS_ALL,     ///< every permutation, up to CAROM_MOST_PERMUTED contacts
    CAROM_ORDERS_RANDOM,  ///< permutations drawn at random
} carom_sequential_orders;

enum { CAROM_MOST_PERMUTED = 9 };

/// Options of `sequential`.
typedef struct carom_sequential_options {
    const char *order;         ///< names of all contacts, with commas, in the order of their impacts; NULL: those of `orders`
    int orders;                ///< a carom_sequential_orders
    int64_t draws;             ///< how many random orders: 1 to 10,000,000
    int64_t seed;              ///< of random orders: 0 to CAROM_MOST_SEED
    int rule;                  ///< a carom_sequential_rule
    double restitution;        ///< of the rule `stronge`, in [0, 1]; NaN: each contact's own
    int64_t max_impacts;       ///< single impacts after which an order counts as not terminated: 1 to 10,000,000
    carom_step_choice method;  ///< of the rule `anitescu-potra`
} carom_sequential_options;

/// Orders and rule `auto`, each contact's own restitution, 10,000 impacts.
carom_sequential_options carom_sequential_defaults(void);

/// Options of `halm-posa`: those of sampling.
typedef carom_sample_options carom_halm_posa_options;
carom_halm_posa_options carom_halm_posa_defaults(void);

/// Options of `routh`: those of sampling, for one sample. `samples`, `paths`, `epsilon` and `sampler` are not used.
typedef carom_sample_options carom_routh_options;
carom_routh_options carom_routh_defaults(void);

CAROM_API_END

#endif
