// SPDX-License-Identifier: Apache-2.0
// A law's outcomes for draws of an uncertain impact.
#include "carom/draws.h"

#include <stdlib.h>

// Asks about one draw, and hands its outcomes on with what was drawn.
static carom_status resolve_one(const carom_law *law, const carom_law_call *call, const carom_uncertainty *uncertainty, int64_t draw,
                                const double *values, carom_table *rows, carom_answer *one, carom_error *error) {
    carom_impact *impact = NULL;
    carom_status status = carom_uncertainty_impact(uncertainty, values, &impact, error);
    carom_law_call asked = *call;
    asked.impact = impact;
    asked.sink = NULL;
    if (!status) status = carom_law_resolve(law, &asked, one, error);
    carom_table_clear(rows);
    const int first = status ? 0 : carom_table_columns(one->outcomes);
    for (int64_t i = 0; !status && i < carom_table_rows(one->outcomes); i++) {
        status = carom_table_append_narrow(rows, one->outcomes, i, 1, error);
        if (!status) carom_uncertainty_fill(uncertainty, draw, values, rows, first);
    }
    if (!status && carom_table_rows(rows)) status = call->sink->receive(call->sink->user, rows, error);
    carom_impact_free(impact);
    return status;
}

carom_status carom_law_resolve_draws(const carom_law *law, const carom_law_call *call, const carom_uncertainty *uncertainty, int64_t draws,
                                     int64_t seed, carom_answer *answer, carom_error *error) {
    carom_column *columns = NULL;
    carom_table *rows = NULL;
    int count;
    carom_arena arena = {0};
    double *uniforms = carom_arena_take(&arena, (size_t)carom_uncertainty_dimension(uncertainty), sizeof *uniforms);
    double *values = carom_arena_take(&arena, (size_t)carom_uncertainty_count(uncertainty), sizeof *values);
    carom_status status = carom_answer_create(law, call->impact, answer, error);
    if (!status && arena.failed) status = carom_fail_memory(error, law->name);
    if (!status) status = carom_uncertainty_extend(uncertainty, law->outcome_columns, law->outcome_column_count, &columns, &count, error);
    if (!status) status = carom_outcomes_create(call->impact, columns, count, &rows, error);
    carom_verdict verdict = CAROM_COMPLETE;
    for (int64_t draw = 0; draw < draws && !status; draw++) {
        if (carom_control_cancelled(call->control)) {
            verdict = CAROM_INTERRUPTED;
            break;
        }
        carom_answer one = {0};
        carom_uncertainty_draw(uncertainty, seed, draw, uniforms);
        carom_uncertainty_values(uncertainty, uniforms, values);
        status = resolve_one(law, call, uncertainty, draw, values, rows, &one, error);
        if (!status && verdict == CAROM_COMPLETE) verdict = carom_answer_verdict(&one);
        if (!status && draw == 0)
            status = carom_table_set_text(answer->result, CAROM_RESULT_SELECTION, carom_table_text(one.result, CAROM_RESULT_SELECTION, 0),
                                          error);
        carom_answer_free(&one);
    }
    if (!status) status = carom_table_set_text(answer->result, CAROM_RESULT_VERDICT, carom_verdict_name(verdict), error);
    carom_table_free(rows);
    free(columns);
    carom_arena_free(&arena);
    if (status) carom_answer_free(answer);
    return status;
}
