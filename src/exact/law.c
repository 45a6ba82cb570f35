// SPDX-License-Identifier: Apache-2.0
// Law `halm-posa-exact`: the set of post-impact velocities of the impact inclusion as polytopes. In libcarom-exact.
#include <stdlib.h>
#include <string.h>

#include "carom/exact.h"
#include "carom/laws.h"

typedef enum result_column {
    RESULT_STATUS,
    RESULT_REASON,
    RESULT_CERTIFICATE,
    RESULT_DIMENSION,
    RESULT_PIECES,
    RESULT_ELAPSES,
    RESULT_BITS,
    RESULT_DATA_CHANGE,
    RESULT_OWN_COLUMNS
} result_column;

static const carom_column result_columns[RESULT_OWN_COLUMNS] = {
    [RESULT_STATUS] = {"status", CAROM_COLUMN_TEXT, 1, "", "ok, incomplete, terminal-start, unbounded, too-large or bad-data", NULL},
    [RESULT_REASON] = {"reason", CAROM_COLUMN_TEXT, 1, "", "one sentence on a status that is not ok", NULL},
    [RESULT_CERTIFICATE] = {"certificate", CAROM_COLUMN_TEXT, 1, "", "what the outcomes are of the set: exact, inner, outer, or none",
                            NULL},
    [RESULT_DIMENSION] = {"dimension", CAROM_COLUMN_INTEGER, 1, "", "of the contact space that can be reached: the rank of J", NULL},
    [RESULT_PIECES] = {"pieces", CAROM_COLUMN_INTEGER, 1, "", "convex pieces of the set", NULL},
    [RESULT_ELAPSES] = {"elapses", CAROM_COLUMN_INTEGER, 1, "", "pieces that were elapsed within a cell", NULL},
    [RESULT_BITS] = {"bits", CAROM_COLUMN_INTEGER, 1, "", "of the largest coefficient", NULL},
    [RESULT_DATA_CHANGE] = {"data_change", CAROM_COLUMN_REAL, 1, "",
                            "largest rounding of a number of the impact, over its scale; 0: all were taken exactly", NULL},
};

static void defaults(void *options) { *(carom_exact_options *)options = carom_exact_defaults(); }

// ------------------------------------------------------------------------------------------------------------- outcomes

static int own(carom_piece_column column) { return CAROM_OUTCOME_COLUMNS + (int)column; }

// Rows a_1 ... a_n b as a series of the a and one of the b.
static carom_status set_rows(carom_table *outcomes, carom_piece_column normals, carom_piece_column offsets, const double *rows, int count,
                             int n, carom_error *error) {
    if (!count) return CAROM_OK;
    double *a = malloc((size_t)count * ((size_t)n + 1) * sizeof *a), *b = a + count * n;
    if (!a) return carom_fail_memory(error, "halm-posa-exact");
    for (int i = 0; i < count; i++) {
        memcpy(a + i * n, rows + i * (n + 1), (size_t)n * sizeof *a);
        b[i] = rows[i * (n + 1) + n];
    }
    carom_status status = carom_table_set_series(outcomes, own(normals), a, count * n, error);
    if (!status) status = carom_table_set_series(outcomes, own(offsets), b, count, error);
    free(a);
    return status;
}

static carom_status set_exact(carom_table *outcomes, char *const *texts, int n, carom_error *error) {
    size_t size = 1;
    for (int i = 0; i < n; i++) size += strlen(texts[i]) + 1;
    char *text = malloc(size), *next = text;
    if (!text) return carom_fail_memory(error, "halm-posa-exact");
    *text = '\0';
    for (int i = 0; i < n; i++) {
        if (i) *next++ = ' ';
        next = stpcpy(next, texts[i]);
    }
    const carom_status status = carom_table_set_text(outcomes, own(CAROM_PIECE_EXACT), text, error);
    free(text);
    return status;
}

static carom_status add_vertex(carom_table *outcomes, const carom_impact *impact, const carom_polyhedra *set, int index, int vertex,
                               carom_error *error) {
    const carom_piece *piece = &set->pieces[index];
    carom_status status = carom_outcomes_add(outcomes, impact, piece->velocity + vertex * set->nv, NULL, 0, 0, error);
    if (status) return status;
    *carom_table_integers(outcomes, own(CAROM_PIECE_INDEX)) = index;
    *carom_table_integers(outcomes, own(CAROM_PIECE_DIMENSION)) = piece->dimension;
    status = set_exact(outcomes, piece->exact + vertex * set->n, set->n, error);
    if (status || vertex) return status;
    status = set_rows(outcomes, CAROM_PIECE_PLANES, CAROM_PIECE_PLANE_OFFSETS, piece->equality, piece->equalities, set->n, error);
    if (status) return status;
    return set_rows(outcomes, CAROM_PIECE_FACETS, CAROM_PIECE_FACET_OFFSETS, piece->inequality, piece->inequalities, set->n, error);
}

static carom_status emit(const carom_law_call *call, const carom_polyhedra *set, carom_error *error) {
    carom_table *outcomes = NULL;
    carom_status status = carom_outcomes_create(call->impact, carom_piece_columns, CAROM_PIECE_COLUMNS, &outcomes, error);
    for (int i = 0; i < set->count && !status; i++)
        for (int vertex = 0; vertex < set->pieces[i].vertices && !status; vertex++)
            status = add_vertex(outcomes, call->impact, set, i, vertex, error);
    if (!status) status = carom_law_emit(call, outcomes, error);
    carom_table_free(outcomes);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- result

static bool is_complete(const carom_exact_set *set) { return set->status == CAROM_EXACT_OK || set->status == CAROM_EXACT_TERMINAL_START; }

static const char *certificate_of(const carom_exact_set *set, carom_exact_mode mode) {
    if (set->status == CAROM_EXACT_TERMINAL_START) return "exact";
    if (!set->pieces->count) return "none";
    if (mode != CAROM_EXACT_UNION) return "outer";
    return is_complete(set) ? "exact" : "inner";
}

static void set_integer(carom_table *result, result_column column, int64_t value) {
    *carom_table_integers(result, CAROM_RESULT_COLUMNS + (int)column) = value;
}

static carom_status set_text(carom_table *result, result_column column, const char *text, carom_error *error) {
    return carom_table_set_text(result, CAROM_RESULT_COLUMNS + (int)column, text, error);
}

// What the run says of `pieces`, which are its set or an outer one.
static carom_status report(const carom_law_call *call, const carom_exact_set *set, const carom_polyhedra *pieces, const char *certificate,
                           carom_error *error) {
    carom_table *result = call->result;
    set_integer(result, RESULT_DIMENSION, set->dimension);
    set_integer(result, RESULT_PIECES, pieces->count);
    set_integer(result, RESULT_ELAPSES, set->elapses);
    set_integer(result, RESULT_BITS, set->bits);
    *carom_table_reals(result, CAROM_RESULT_COLUMNS + RESULT_DATA_CHANGE) = set->data_change;
    carom_status status = set_text(result, RESULT_STATUS, carom_exact_status_name(set->status), error);
    if (!status) status = set_text(result, RESULT_REASON, set->reason, error);
    if (!status) status = set_text(result, RESULT_CERTIFICATE, certificate, error);
    // There is nothing to select: the set has them all.
    const carom_verdict verdict = is_complete(set)                         ? CAROM_COMPLETE
                                  : carom_control_cancelled(call->control) ? CAROM_INTERRUPTED
                                                                           : CAROM_INCOMPLETE;
    if (!status) status = carom_law_conclude(call, verdict, CAROM_SELECT_ALL, error);
    return status;
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_exact_options *options = call->options;
    carom_exact_set *set;
    carom_status status = carom_exact_solve(call->impact, options, call->control, &set, error);
    if (status) return status;
    status = emit(call, set->pieces, error);
    if (!status) status = report(call, set, set->pieces, certificate_of(set, (carom_exact_mode)options->mode), error);
    if (!status && options->set)
        *options->set = set;
    else
        carom_exact_set_free(set);
    return status;
}

static carom_status resolve_outer(const carom_law_call *call, carom_error *error) {
    const carom_exact_options *options = call->options;
    const carom_exact_set *set = options->set ? *options->set : NULL;
    if (!set || !set->outer) return carom_fail(error, CAROM_BAD_INPUT, "set: there is no outer set to take the outcomes from");
    const carom_status status = emit(call, set->outer, error);
    return status ? status : report(call, set, set->outer, "outer", error);
}

static bool is_usual(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    return carom_exact_available() && data->tangent_dim == 1 && data->contacts <= CAROM_EXACT_USUAL_CONTACTS;
}

// A page of comparisons waits less long than someone who asks for this set alone.
static const char *const thorough[] = {"seconds", "10", NULL};

static const carom_law law = {
    .name = "halm-posa-exact",
    .summary = "the set of possible outcomes as polytopes, in exact arithmetic (planar, few contacts)",
    .source = "Halm & Posa 2023, the impact inclusion; reachability over the cells of contact space",
    .options = carom_exact_rows,
    .option_count = CAROM_EXACT_ROWS,
    .options_size = sizeof(carom_exact_options),
    .defaults = defaults,
    .thorough = thorough,
    .applies = is_usual,
    .outcome_columns = carom_piece_columns,
    .outcome_column_count = CAROM_PIECE_COLUMNS,
    .result_columns = result_columns,
    .result_column_count = RESULT_OWN_COLUMNS,
    .resolve = resolve,
};

const carom_law carom_exact_outer_law = {
    .name = "halm-posa-exact-outer",
    .summary = "the certified outer set that an incomplete run of halm-posa-exact found",
    .source = "Halm & Posa 2023, the impact inclusion; hulls of the cells, or the impulse cone cut by the energy",
    .options = carom_exact_rows,
    .option_count = CAROM_EXACT_ROWS,
    .options_size = sizeof(carom_exact_options),
    .defaults = defaults,
    .outcome_columns = carom_piece_columns,
    .outcome_column_count = CAROM_PIECE_COLUMNS,
    .result_columns = result_columns,
    .result_column_count = RESULT_OWN_COLUMNS,
    .resolve = resolve_outer,
};

carom_status carom_exact_register(carom_registry *registry, carom_error *error) {
    return carom_registry_add(registry, CAROM_REGISTRY_LAWS, law.name, &law, error);
}
