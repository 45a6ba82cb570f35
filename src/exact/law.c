// SPDX-License-Identifier: Apache-2.0
// Law `halm-posa-exact`: the set of post-impact velocities of the impact inclusion as polytopes. In libcarom-exact.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/exact.h"
#include "carom/laws.h"

// The law's own result columns: what carom_exact_set says.
enum {
    RESULT_STATUS,
    RESULT_REASON,
    RESULT_CERTIFICATE,
    RESULT_FRICTION,
    RESULT_DIMENSION,
    RESULT_PIECES,
    RESULT_ELAPSES,
    RESULT_BITS,
    RESULT_DATA_CHANGE,
    RESULT_ENERGY_RATIO,
    RESULT_START,
    RESULT_OWN_COLUMNS
};

static const carom_column result_columns[RESULT_OWN_COLUMNS] = {
    [RESULT_STATUS] = {"status", CAROM_COLUMN_TEXT, 1, "", "ok, incomplete, terminal-start, unbounded, too-large or bad-data", NULL},
    [RESULT_REASON] = {"reason", CAROM_COLUMN_TEXT, 1, "",
                       "one sentence on a status that is not ok, or on an outer set that need not shrink", NULL},
    [RESULT_CERTIFICATE] = {"certificate", CAROM_COLUMN_TEXT, 1, "", "what the outcomes are of the set: exact, inner, outer, or none",
                            NULL},
    [RESULT_FRICTION] = {"friction", CAROM_COLUMN_TEXT, 1, "",
                         "whose set it is: planar, or for linearised cones of so many edges, whose set is neither in nor around that of "
                         "round cones",
                         NULL},
    [RESULT_DIMENSION] = {"dimension", CAROM_COLUMN_INTEGER, 1, "", "of the contact space that can be reached: the rank of J", NULL},
    [RESULT_PIECES] = {"pieces", CAROM_COLUMN_INTEGER, 1, "", "convex pieces of the set", NULL},
    [RESULT_ELAPSES] = {"elapses", CAROM_COLUMN_INTEGER, 1, "", "pieces that were elapsed within a cell", NULL},
    [RESULT_BITS] = {"bits", CAROM_COLUMN_INTEGER, 1, "", "of the largest coefficient", NULL},
    [RESULT_DATA_CHANGE] = {"data_change", CAROM_COLUMN_REAL, 1, "",
                            "largest rounding of a number of the impact, over its scale; 0: all were taken exactly", NULL},
    [RESULT_ENERGY_RATIO] = {"energy_ratio", CAROM_COLUMN_REAL, 1, "",
                             "largest kinetic energy of the set, over that before the impact; above 1: restitution gains energy", NULL},
    [RESULT_START] = {"start", CAROM_COLUMN_SERIES, CAROM_WIDTH_VELOCITY, "",
                      "where the velocity before the impact is uncertain: the vertices of its polytope; otherwise empty", NULL},
};

static void defaults(void *options) { *(carom_halm_posa_exact_options *)options = carom_halm_posa_exact_defaults(); }

// ------------------------------------------------------------------------------------------------------------- outcomes

// Rows a_1 ... a_n b as a series of the a and one of the b, in the last outcome.
static carom_status set_rows(carom_table *outcomes, carom_piece_column normals, carom_piece_column offsets, const double *rows, int count,
                             int n, carom_error *error) {
    if (!count) return CAROM_OK;
    double *a = malloc((size_t)count * ((size_t)n + 1) * sizeof *a);
    if (!a) return carom_fail_memory(error, "halm-posa-exact");
    double *b = a + count * n;
    for (int i = 0; i < count; i++) {
        memcpy(a + i * n, rows + i * (n + 1), (size_t)n * sizeof *a);
        b[i] = rows[i * (n + 1) + n];
    }
    carom_status status = carom_table_set_series(outcomes, CAROM_OUTCOME_COLUMNS + (int)normals, a, count * n, error);
    if (!status) status = carom_table_set_series(outcomes, CAROM_OUTCOME_COLUMNS + (int)offsets, b, count, error);
    free(a);
    return status;
}

// One outcome for each vertex of a piece; the first one carries the planes and facets of the piece.
static carom_status add_piece(carom_table *outcomes, const carom_impact *impact, const carom_polyhedra *set, int index,
                              carom_error *error) {
    const carom_piece *piece = &set->pieces[index];
    const int n = set->n, own = CAROM_OUTCOME_COLUMNS;
    carom_status status = CAROM_OK;
    for (int vertex = 0; vertex < piece->vertices && !status; vertex++) {
        status = carom_outcomes_add(outcomes, impact, piece->velocity + vertex * set->nv, NULL, 0, 0, error);
        if (status) break;
        *carom_table_integers(outcomes, own + CAROM_PIECE_INDEX) = index;
        *carom_table_integers(outcomes, own + CAROM_PIECE_DIMENSION) = piece->dimension;

        // The exact contact velocities, with blanks between them.
        char *const *texts = piece->exact + vertex * n;
        size_t size = 1;
        for (int i = 0; i < n; i++) size += strlen(texts[i]) + 1;
        char *text = calloc(size, 1), *next = text;
        for (int i = 0; text && i < n; i++) {
            if (i) *next++ = ' ';
            next = stpcpy(next, texts[i]);
        }
        status = text ? carom_table_set_text(outcomes, own + CAROM_PIECE_EXACT, text, error) : carom_fail_memory(error, "halm-posa-exact");
        free(text);
        // Constraints stand with the first vertex.
        if (vertex) continue;
        if (!status)
            status = set_rows(outcomes, CAROM_PIECE_PLANES, CAROM_PIECE_PLANE_OFFSETS, piece->equality, piece->equalities, n, error);
        if (!status)
            status = set_rows(outcomes, CAROM_PIECE_FACETS, CAROM_PIECE_FACET_OFFSETS, piece->inequality, piece->inequalities, n, error);
    }
    return status;
}

// The largest K(v+) of the vertices over the largest K(v-): the energy is convex, so that no other point of a piece has more. NaN for no
// vertex, and where velocities are not known.
static double largest_energy_ratio(const carom_impact *impact, const carom_exact_options *options, const carom_polyhedra *set) {
    const carom_exact_start *start = options->start;
    if (start && options->contacts_only) return NAN;
    double before = start ? 0 : carom_impact_initial_energy(impact), largest = NAN;
    for (int k = 0; start && k < start->count; k++)
        before = fmax(before, carom_impact_kinetic_energy(impact, start->vertices + k * set->nv));
    for (int i = 0; i < set->count && before > 0; i++)
        for (int k = 0; k < set->pieces[i].vertices; k++)
            largest = fmax(largest, carom_impact_kinetic_energy(impact, set->pieces[i].velocity + k * set->nv) / before);
    return largest;
}

// Emits `pieces`, which are the set of the run or an outer one, and what the run says of them.
static carom_status answer(const carom_law_call *call, const carom_exact_set *set, const carom_polyhedra *pieces, const char *certificate,
                           carom_error *error) {
    const carom_halm_posa_exact_options *options = call->options;
    carom_table *outcomes, *result = call->result;
    carom_status status = carom_outcomes_create(call->impact, carom_piece_columns, CAROM_PIECE_COLUMNS, &outcomes, error);
    for (int i = 0; i < pieces->count && !status; i++) status = add_piece(outcomes, call->impact, pieces, i, error);
    if (!status) status = carom_law_emit(call, outcomes, error);
    carom_table_free(outcomes);
    if (status) return status;

    const int own = CAROM_RESULT_COLUMNS;
    *carom_table_integers(result, own + RESULT_DIMENSION) = set->dimension;
    *carom_table_integers(result, own + RESULT_PIECES) = pieces->count;
    *carom_table_integers(result, own + RESULT_ELAPSES) = set->elapses;
    *carom_table_integers(result, own + RESULT_BITS) = set->bits;
    *carom_table_reals(result, own + RESULT_DATA_CHANGE) = set->data_change;
    *carom_table_reals(result, own + RESULT_ENERGY_RATIO) = largest_energy_ratio(call->impact, options, pieces);
    const carom_exact_start *start = options->start;
    const int numbers = start ? start->count * carom_impact_get_data(call->impact)->nv : 0;
    status = carom_table_set_series(result, own + RESULT_START, start ? start->vertices : NULL, numbers, error);
    if (!status) status = carom_table_set_text(result, own + RESULT_STATUS, carom_exact_status_name(set->status), error);
    if (!status) status = carom_table_set_text(result, own + RESULT_REASON, set->reason, error);
    if (!status) status = carom_table_set_text(result, own + RESULT_CERTIFICATE, certificate, error);
    char friction[64] = "planar";
    if (set->cone_edges) snprintf(friction, sizeof friction, "for linearised cones of %" PRId64 " edges", set->cone_edges);
    if (!status) status = carom_table_set_text(result, own + RESULT_FRICTION, friction, error);
    // There is nothing to select: the set has them all.
    const carom_verdict verdict = carom_exact_set_complete(set)            ? CAROM_COMPLETE
                                  : carom_control_cancelled(call->control) ? CAROM_INTERRUPTED
                                                                           : CAROM_INCOMPLETE;
    return status ? status : carom_law_conclude(call, verdict, CAROM_SELECT_ALL, error);
}

// ------------------------------------------------------------------------------------------------------------ the laws

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_halm_posa_exact_options *options = call->options;
    carom_exact_set *set;
    carom_status status = carom_exact_solve(call->impact, options, call->control, &set, error);
    if (status) return status;
    status = answer(call, set, set->pieces, set->certificate, error);
    // The caller may want to keep the set.
    if (!status && options->set)
        *options->set = set;
    else
        carom_exact_set_free(set);
    return status;
}

static carom_status resolve_outer(const carom_law_call *call, carom_error *error) {
    const carom_halm_posa_exact_options *options = call->options;
    const carom_exact_set *set = options->set ? *options->set : NULL;
    if (!set || !set->outer) return carom_fail(error, CAROM_BAD_INPUT, "set: there is no outer set to take the outcomes from");
    return answer(call, set, set->outer, "outer", error);
}

static carom_status resolve_reached(const carom_law_call *call, carom_error *error) {
    const carom_halm_posa_exact_options *options = call->options;
    const carom_exact_set *set = options->set ? *options->set : NULL;
    if (!set || !set->reached) return carom_fail(error, CAROM_BAD_INPUT, "set: it does not have what solutions pass through");
    return answer(call, set, set->reached, carom_exact_set_complete(set) ? set->certificate : "inner", error);
}

// Sets of this size usually finish.
static bool is_usual(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    return carom_exact_available() && data->tangent_dim == 1 && data->contacts <= CAROM_EXACT_USUAL_CONTACTS;
}

// A comparison should not wait as long as someone who asks for this set alone.
static const char *const thorough[] = {"seconds", "10", NULL};

static const char *const refusals[] = {"hypothesis", "stronge",
                                       "the energetic set has curved sides and is no union of polytopes: sample it (`carom sample`)", NULL};

const carom_law carom_exact_law = {
    .name = "halm-posa-exact",
    .summary = "the set of possible outcomes as polytopes, in exact arithmetic (planar, few contacts)",
    .source = "Halm & Posa 2023, the impact inclusion; reachability over the cells of contact space",
    CAROM_OPTION_TABLE(carom_exact_options, carom_exact_rows),
    .defaults = defaults,
    .bouncing = carom_law_by_hypothesis,
    .thorough = thorough,
    .refusals = refusals,
    .applies = is_usual,
    CAROM_COLUMN_TABLE(outcome, carom_piece_columns),
    CAROM_COLUMN_TABLE(result, result_columns),
    .resolve = resolve,
};

const carom_law carom_exact_outer_law = {
    .name = "halm-posa-exact-outer",
    .summary = "the certified outer set that an incomplete run of halm-posa-exact found",
    .source = "Halm & Posa 2023, the impact inclusion; hulls of the cells, or the impulse cone cut by the energy",
    CAROM_OPTION_TABLE(carom_exact_options, carom_exact_rows),
    .defaults = defaults,
    .bouncing = carom_law_by_hypothesis,
    CAROM_COLUMN_TABLE(outcome, carom_piece_columns),
    CAROM_COLUMN_TABLE(result, result_columns),
    .resolve = resolve_outer,
};

const carom_law carom_exact_reached_law = {
    .name = CAROM_REACHED_NAME,
    .summary = "the velocities that solutions pass through, which a run of halm-posa-exact kept",
    .source = "Halm & Posa 2023, the impact inclusion; reachability over the cells of contact space",
    CAROM_OPTION_TABLE(carom_exact_options, carom_exact_rows),
    .defaults = defaults,
    .bouncing = carom_law_by_hypothesis,
    CAROM_COLUMN_TABLE(outcome, carom_piece_columns),
    CAROM_COLUMN_TABLE(result, result_columns),
    .resolve = resolve_reached,
};

carom_status carom_exact_register(carom_registry *registry, carom_error *error) {
    return carom_registry_add(registry, CAROM_REGISTRY_LAWS, carom_exact_law.name, &carom_exact_law, error);
}
