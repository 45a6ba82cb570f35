// SPDX-License-Identifier: Apache-2.0
// Asking a law: options, result row, sink.
#include <stdlib.h>
#include <string.h>

#include "laws/laws_internal.h"

static const carom_column result_columns[CAROM_RESULT_COLUMNS] = {
    [CAROM_RESULT_VERDICT] = {"verdict", CAROM_COLUMN_TEXT, 1, "", "how far the answer got", NULL},
    [CAROM_RESULT_SELECTION] = {"selection", CAROM_COLUMN_TEXT, 1, "", "which solutions were served where a step has several", NULL},
};

const carom_law *carom_law_find(const carom_registry *registry, const char *name) {
    return carom_registry_find(registry, CAROM_REGISTRY_LAWS, name);
}

carom_status carom_law_set_verdict(const carom_law_call *call, carom_verdict verdict, carom_error *error) {
    return carom_table_set_text(call->result, CAROM_RESULT_VERDICT, carom_verdict_name(verdict), error);
}

carom_status carom_law_conclude(const carom_law_call *call, carom_verdict verdict, carom_selection selection, carom_error *error) {
    const carom_status status = carom_law_set_verdict(call, verdict, error);
    if (status) return status;
    return carom_table_set_text(call->result, CAROM_RESULT_SELECTION, carom_selection_name(selection), error);
}

carom_status carom_law_emit(const carom_law_call *call, const carom_table *outcomes, carom_error *error) {
    return call->outcomes->receive(call->outcomes->user, outcomes, error);
}

void carom_answer_free(carom_answer *answer) {
    carom_table_free(answer->outcomes);
    carom_table_free(answer->result);
    *answer = (carom_answer){NULL, NULL};
}

bool carom_answer_complete(const carom_answer *answer) {
    return !strcmp(carom_table_text(answer->result, CAROM_RESULT_VERDICT, 0), carom_verdict_name(CAROM_COMPLETE));
}

static carom_status make_tables(const carom_law *law, const carom_impact *impact, carom_answer *answer, carom_error *error) {
    const carom_sizes sizes = carom_impact_sizes(impact);
    carom_status status = carom_outcomes_create(impact, law->outcome_columns, law->outcome_column_count, &answer->outcomes, error);
    if (!status)
        status = carom_table_create(result_columns, CAROM_RESULT_COLUMNS, law->result_columns, law->result_column_count, &sizes,
                                    &answer->result, error);
    if (!status) status = carom_table_add_row(answer->result, error);
    return status;
}

carom_status carom_law_resolve(const carom_law *law, const carom_impact *impact, const void *options, const carom_registry *registry,
                               const carom_control *control, const carom_sink *sink, carom_answer *answer, carom_error *error) {
    *answer = (carom_answer){NULL, NULL};
    void *defaults = NULL;
    carom_status status = make_tables(law, impact, answer, error);
    if (!status && !options) {
        options = defaults = malloc(law->options_size);
        if (defaults)
            law->defaults(defaults);
        else
            status = carom_fail_memory(error, law->name);
    }
    if (!status) {
        const carom_sink memory = carom_table_sink(answer->outcomes);
        const carom_law_call call = {impact, options, registry, control, sink ? sink : &memory, answer->result};
        status = law->resolve(&call, error);
    }
    free(defaults);
    if (status) carom_answer_free(answer);
    return status;
}
