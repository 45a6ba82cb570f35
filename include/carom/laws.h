// SPDX-License-Identifier: Apache-2.0
/// @file
/// Impact laws. Every law is a set-valued map from an impact to an outcome set, and a row in one table.
#ifndef CAROM_LAWS_H
#define CAROM_LAWS_H

#include "carom/reach.h"

CAROM_API_BEGIN

/// One question to a law. Everything is borrowed.
typedef struct carom_law_call {
    const carom_impact *impact;
    const void *options;             ///< the law's option struct
    const carom_registry *registry;  ///< where named solvers are found
    const carom_control *control;    ///< threads, cancellation, progress
    const carom_sink *outcomes;      ///< receives blocks of outcomes in order
    carom_table *result;             ///< one row with the law's result columns, already added
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
    const char *const
        *thorough;  ///< option, value, ..., NULL: what a comparison asks for where it can be had and nobody says otherwise; or NULL
    bool (*applies)(const carom_impact *impact);  ///< is the question worth asking? Comparisons pass over other laws. NULL: always
    const carom_column *outcome_columns;          ///< the law's own, behind the common ones
    int outcome_column_count;
    const carom_column *result_columns;  ///< the law's own, behind `verdict`, `selection`
    int result_column_count;
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

/// Asks `law`; outcomes go to `sink`, or into `answer->outcomes` when `sink` is NULL. `options` NULL means the defaults.
/// @return CAROM_BAD_INPUT naming the option; a computation that could not finish is a verdict in the result row
carom_status carom_law_resolve(const carom_law *law, const carom_impact *impact, const void *options, const carom_registry *registry,
                               const carom_control *control, const carom_sink *sink, carom_answer *answer, carom_error *error);
void carom_answer_free(carom_answer *answer);
/// True when the result row's verdict is "complete".
bool carom_answer_complete(const carom_answer *answer);

// What `resolve` of a law calls at its end; laws of side libraries and of programs do, too.

/// Sets the two common result columns.
carom_status carom_law_conclude(const carom_law_call *call, carom_verdict verdict, carom_selection selection, carom_error *error);

/// Hands a finished table of outcomes to the call's sink.
carom_status carom_law_emit(const carom_law_call *call, const carom_table *outcomes, carom_error *error);

/// A registry with the core's solvers and laws.
carom_status carom_registry_create(carom_registry **registry, carom_error *error);
const carom_law *carom_law_find(const carom_registry *registry, const char *name);

CAROM_API_END

#endif
