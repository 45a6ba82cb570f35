// SPDX-License-Identifier: Apache-2.0
// Asking a law: completes the call, makes the tables of the answer, and lets the law fill them.
#include <stdlib.h>
#include <string.h>

#include "laws/laws_internal.h"

// Result columns that every law has.
static const carom_column result_columns[CAROM_RESULT_COLUMNS] = {
    [CAROM_RESULT_VERDICT] = {"verdict", CAROM_COLUMN_TEXT, 1, "", "how far the answer got", NULL},
    [CAROM_RESULT_SELECTION] = {"selection", CAROM_COLUMN_TEXT, 1, "", "which solutions were served where a step has several", NULL},
};

const carom_law *carom_law_find(const carom_registry *registry, const char *name) {
    return carom_registry_find(registry, CAROM_REGISTRY_LAWS, name);
}

carom_status carom_law_set(const carom_law *law, void *options, const char *name, const char *text, carom_error *error) {
    // The row knows type, range and place of the option.
    const int row = carom_option_find(law->options, law->option_count, name);
    if (row < 0) return carom_fail(error, CAROM_BAD_INPUT, "%.60s: the law '%s' has no such option", name, law->name);
    const char *reason = carom_law_refusal(law, name, text);
    if (reason) return carom_fail(error, CAROM_BAD_INPUT, "%s: %s", name, reason);
    return carom_option_set(&law->options[row], options, text, error);
}

const char *carom_law_refusal(const carom_law *law, const char *name, const char *value) {
    for (const char *const *refused = law->refusals; refused && *refused; refused += 3)
        if (!strcmp(refused[0], name) && !strcmp(refused[1], value)) return refused[2];
    return NULL;
}

carom_status carom_law_read_contacts(const carom_impact *impact, const char *text, int **list, int *count, carom_error *error) {
    // A list has one entry more than commas, and no more than characters and one.
    *count = 0;
    *list = malloc((strlen(text) + 1) * sizeof **list);
    if (!*list) return carom_fail_memory(error, "order");
    for (const char *name = text; name;) {
        // A name that is longer than any is that of no contact.
        char copy[CAROM_MAX_NAME + 1] = {0};
        const size_t length = strcspn(name, ",");
        const bool fits = length <= CAROM_MAX_NAME;
        if (fits) memcpy(copy, name, length);
        (*list)[(*count)++] = fits ? carom_impact_find_contact(impact, copy) : -1;
        name = name[length] ? name + length + 1 : NULL;
    }
    return CAROM_OK;
}

const char *carom_law_suggest_contact(const carom_impact *impact, const char *text, char phrase[CAROM_SUGGESTION_SIZE]) {
    *phrase = '\0';
    for (const char *name = text; name;) {
        char copy[CAROM_MAX_NAME + 1] = {0};
        const size_t length = strcspn(name, ",");
        memcpy(copy, name, length <= CAROM_MAX_NAME ? length : CAROM_MAX_NAME);
        if (carom_impact_find_contact(impact, copy) < 0) return carom_impact_suggest_contact(impact, copy, phrase);
        name = name[length] ? name + length + 1 : NULL;
    }
    return phrase;
}

// ---------------------------------------------------------------------------------------------------- the end of a `resolve`

carom_status carom_law_set_verdict(const carom_law_call *call, carom_verdict verdict, carom_error *error) {
    return carom_table_set_text(call->result, CAROM_RESULT_VERDICT, carom_verdict_name(verdict), error);
}

carom_status carom_law_conclude(const carom_law_call *call, carom_verdict verdict, carom_selection selection, carom_error *error) {
    const carom_status status = carom_law_set_verdict(call, verdict, error);
    if (status) return status;
    return carom_table_set_text(call->result, CAROM_RESULT_SELECTION, carom_selection_name(selection), error);
}

carom_status carom_law_emit(const carom_law_call *call, const carom_table *outcomes, carom_error *error) {
    return call->sink->receive(call->sink->user, outcomes, error);
}

carom_status carom_law_emit_one(const carom_law_call *call, const double *v, const double *impulse, int64_t steps, int64_t flags,
                                carom_error *error) {
    carom_table *outcomes;
    carom_status status = carom_outcomes_create(call->impact, NULL, 0, &outcomes, error);
    if (status) return status;
    status = carom_outcomes_add(outcomes, call->impact, v, impulse, steps, flags, error);
    if (!status) status = carom_law_emit(call, outcomes, error);
    carom_table_free(outcomes);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- answers

carom_status carom_answer_create(const carom_law *law, const carom_impact *impact, carom_answer *answer, carom_error *error) {
    *answer = (carom_answer){NULL, NULL};
    const carom_sizes sizes = carom_impact_sizes(impact);
    carom_status status = carom_outcomes_create(impact, law->outcome_columns, law->outcome_column_count, &answer->outcomes, error);
    if (!status)
        status = carom_table_create(result_columns, CAROM_RESULT_COLUMNS, law->result_columns, law->result_column_count, &sizes,
                                    &answer->result, error);
    if (!status) status = carom_table_add_row(answer->result, error);
    if (status) carom_answer_free(answer);
    return status;
}

void carom_answer_free(carom_answer *answer) {
    carom_table_free(answer->outcomes);
    carom_table_free(answer->result);
    *answer = (carom_answer){NULL, NULL};
}

carom_verdict carom_answer_verdict(const carom_answer *answer) {
#define VERDICT_ENTRY(constant, name, sentence) constant,
    static const carom_verdict verdicts[] = {CAROM_VERDICT_LIST(VERDICT_ENTRY)};
#undef VERDICT_ENTRY
    const char *name = carom_table_text(answer->result, CAROM_RESULT_VERDICT, 0);
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        if (!strcmp(name, carom_verdict_name(verdicts[i]))) return verdicts[i];
    // A row that no law has filled.
    return CAROM_INCOMPLETE;
}

bool carom_answer_complete(const carom_answer *answer) { return carom_answer_verdict(answer) == CAROM_COMPLETE; }

carom_status carom_law_complete(const carom_law *law, carom_law_call *call, void **options, carom_registry **solvers, carom_error *error) {
    *options = NULL;
    *solvers = NULL;
    carom_status status = CAROM_OK;
    if (!call->options) {
        call->options = *options = malloc(law->options_size);
        if (*options)
            law->defaults(*options);
        else
            status = carom_fail_memory(error, law->name);
    }
    if (!status && !call->registry) {
        status = carom_registry_create_empty(solvers, error);
        if (!status) status = carom_solvers_register(*solvers, error);
        call->registry = *solvers;
    }
    return status;
}

carom_status carom_law_resolve(const carom_law *law, const carom_law_call *call, carom_answer *answer, carom_error *error) {
    carom_status status = carom_answer_create(law, call->impact, answer, error);
    if (status) return status;

    // Laws see a complete call: what the caller left out gets its default.
    carom_law_call complete = *call;
    complete.result = answer->result;
    const carom_sink memory = carom_table_sink(answer->outcomes);
    if (!call->sink) complete.sink = &memory;
    void *options;
    carom_registry *solvers;
    status = carom_law_complete(law, &complete, &options, &solvers, error);

    // An answer that failed is no answer at all.
    if (!status) status = law->resolve(&complete, error);
    carom_registry_free(solvers);
    free(options);
    if (status) carom_answer_free(answer);
    return status;
}
