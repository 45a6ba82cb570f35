// SPDX-License-Identifier: Apache-2.0
// Outcomes of uncertain impacts: conditions on what was drawn, and what explains a number.
#include "cli/query/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/condition.h"
#include "carom/dense.h"

// Eigenvalues of W below this share of the largest one are round-off of a rank-deficient operator.
#define NEGLIGIBLE_EIGENVALUE 1e-12

enum { NAME_SIZE = CAROM_MAX_NAME + 16 };

// PREFIX and the name that there is, or else the number from 1.
static const char *make_name(carom_arena *memory, const char *prefix, const char *name, int index) {
    char *made = carom_arena_take(memory, NAME_SIZE, 1);
    if (made && name) snprintf(made, NAME_SIZE, "%s%s", prefix, name);
    if (made && !name) snprintf(made, NAME_SIZE, "%s%d", prefix, index + 1);
    return made;
}

carom_status query_read_parameters(const query_source *from, query_parameters *parameters, carom_error *error) {
    static const struct {
        const char *column, *prefix;
    } kinds[] = {{"v_minus", "v0."}, {"friction", "mu."}, {"restitution", "restitution."}, {"qpos", "qpos."}, {"mass_scale", "mass"}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const carom_impact_data *data = carom_impact_get_data(from->impact);
    const int64_t points = from->set.points;
    double *columns[KINDS] = {NULL};
    int widths[KINDS] = {0};
    int64_t *draw = NULL, rows;
    carom_status status = CAROM_OK;
    if (!carom_result_has_column(from->result, from->law, "draw")) return CAROM_OK;
    int width;
    status = carom_result_read_integers(from->result, from->law, "draw", &draw, &rows, &width, error);
    for (int k = 0; k < KINDS && !status; k++) {
        if (!carom_result_has_column(from->result, from->law, kinds[k].column)) continue;
        status = carom_result_read_reals(from->result, from->law, kinds[k].column, &columns[k], &rows, &widths[k], error);
        const bool names_velocities = k == 0, names_contacts = k == 1 || k == 2;
        if (!status && (rows != points || (names_velocities && widths[k] != data->nv) || (names_contacts && widths[k] != data->contacts)))
            status = carom_fail(error, CAROM_BAD_INPUT, "the column %s does not fit the outcomes", kinds[k].column);
        parameters->count += widths[k];
    }
    // One row for each outcome, and a name for each of its numbers.
    const size_t count = (size_t)parameters->count;
    parameters->names = carom_arena_take(&parameters->memory, count, sizeof *parameters->names);
    parameters->values = carom_arena_take(&parameters->memory, count * (size_t)points, sizeof(double));
    if (!status && parameters->memory.failed) status = carom_fail_memory(error, "parameters");
    parameters->velocities = widths[0];
    for (int k = 0, next = 0; k < KINDS && !status; next += widths[k++])
        for (int i = 0; i < widths[k]; i++) {
            const char *name = k == 0 && data->velocity_names ? data->velocity_names[i] : k == 1 || k == 2 ? data->names[i] : NULL;
            parameters->names[next + i] = make_name(&parameters->memory, kinds[k].prefix, k == 4 ? "" : name, i);
            for (int64_t row = 0; row < points; row++)
                parameters->values[row * parameters->count + next + i] = columns[k][row * widths[k] + i];
        }
    // Samples of one draw follow each other.
    for (int64_t row = 0; row < points && !status; row++) parameters->draws += !row || draw[row] != draw[row - 1];
    if (!status && parameters->memory.failed) status = carom_fail_memory(error, "parameters");
    for (int k = 0; k < KINDS; k++) free(columns[k]);
    free(draw);
    return status;
}

// The names that a condition may use: parameters, Jn.A ..., Pn.A ..., v.1 ..., K; where velocities have names, these and v0.1 ..., too.
static const char **list_names(const query_source *from, const query_parameters *parameters, const carom_axes *axes, carom_arena *memory,
                               int *count) {
    const char *const *joints = carom_impact_get_data(from->impact)->velocity_names;
    const int nv = from->set.nv, named = joints ? nv : 0, numbered = joints ? parameters->velocities : 0;
    *count = parameters->count + 2 * axes->count + nv + named + numbered + 1;
    const char **names = carom_arena_take(memory, (size_t)*count, sizeof *names), **next = names;
    if (!names) return NULL;
    for (int i = 0; i < parameters->count; i++) *next++ = parameters->names[i];
    for (int i = 0; i < axes->count; i++) *next++ = axes->names[i];
    for (int i = 0; i < axes->count; i++) *next++ = make_name(memory, "P", axes->names[i] + 1, 0);
    for (int i = 0; i < nv; i++) *next++ = make_name(memory, "v.", NULL, i);
    for (int i = 0; i < named; i++) *next++ = make_name(memory, "", joints[i], i);
    for (int i = 0; i < numbered; i++) *next++ = make_name(memory, "v0.", NULL, i);
    *next = "K";
    return names;
}

// The values of these names for one outcome.
static void fill_row(const query_source *from, const query_parameters *parameters, int64_t point, const carom_axes *axes, double *values) {
    const carom_outcome_set *set = &from->set;
    const bool named = carom_impact_get_data(from->impact)->velocity_names;
    const int64_t n = set->n, nv = set->nv;
    for (int i = 0; i < parameters->count; i++) *values++ = parameters->values[point * parameters->count + i];
    for (int i = 0; i < axes->count; i++) *values++ = set->u[point * n + axes->places[i]];
    for (int i = 0; i < axes->count; i++) *values++ = set->impulse ? set->impulse[point * n + axes->places[i]] : (double)NAN;
    for (int i = 0; i < (named ? 2 * nv : nv); i++) *values++ = set->v[point * nv + i % nv];
    for (int i = 0; i < (named ? parameters->velocities : 0); i++) *values++ = parameters->values[point * parameters->count + i];
    *values = set->energy ? set->energy[point] : (double)NAN;
}

carom_status query_keep_where(query_source *from, query_parameters *parameters, const char *text, carom_error *error) {
    carom_outcome_set *set = &from->set;
    const carom_impact_data *data = carom_impact_get_data(from->impact);
    if (strcmp(set->certificate, "samples") != 0)
        return carom_fail(error, CAROM_BAD_INPUT, "a condition is on samples one by one, and these are pieces of a set");
    const carom_functional everything = {.has_impulse = true, .energy = 1};
    carom_axes axes;
    carom_status status = carom_result_set_read_for(from->result, from->law, &everything, set, error);
    if (!status) status = carom_axes_create(data->contacts, data->tangent_dim, data->names, &axes, error);
    if (status) return status;

    carom_arena memory = {0};
    int count;
    const char **names = list_names(from, parameters, &axes, &memory, &count);
    double *values = carom_arena_take(&memory, (size_t)count, sizeof *values);
    parameters->rows = carom_arena_take(&parameters->memory, (size_t)set->points, sizeof *parameters->rows);
    carom_condition *condition = NULL;
    if (memory.failed || parameters->memory.failed) status = carom_fail_memory(error, "condition");
    if (!status) status = carom_condition_create(text, names, count, &condition, error);

    // The rows that stay move to the front.
    int64_t kept = 0;
    parameters->draws = 0;
    const size_t n = (size_t)set->n, nv = (size_t)set->nv, width = (size_t)parameters->count;
    for (int64_t i = 0; i < set->points && !status; i++) {
        fill_row(from, parameters, i, &axes, values);
        if (!carom_condition_holds(condition, values)) continue;
        const size_t to = (size_t)kept, at = (size_t)i;
        memmove(set->u + to * n, set->u + at * n, n * sizeof *set->u);
        if (set->v) memmove(set->v + to * nv, set->v + at * nv, nv * sizeof *set->v);
        memmove(set->impulse + to * n, set->impulse + at * n, n * sizeof *set->impulse);
        set->energy[to] = set->energy[at];
        set->flags[to] = set->flags[at];
        if (width) memmove(parameters->values + to * width, parameters->values + at * width, width * sizeof(double));
        parameters->draws +=
            !kept || memcmp(parameters->values + to * width, parameters->values + (to - 1) * width, width * sizeof(double));
        parameters->rows[kept++] = i;
    }
    if (!status && !kept) status = carom_fail(error, CAROM_BAD_INPUT, "'%.120s' holds for none of the outcomes", text);
    if (!status) {
        set->points = kept;
        free(set->starts);
        set->starts = NULL;
        status = carom_outcome_set_group(set, NULL, error);
    }
    carom_condition_free(condition);
    carom_arena_free(&memory);
    carom_axes_free(&axes);
    return status;
}

carom_status query_check_pose(const query_source *from, carom_error *error) {
    if (!carom_result_has_column(from->result, from->law, "qpos")) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT,
                      "the pose was uncertain: one velocity has other contact velocities at each outcome, and no distance from the set");
}

carom_status query_check_reach(const query_source *from, carom_error *error) {
    // An exact set has the vertices of the velocities that it began with, draws have one each.
    static const char vertices[] = "result/start";
    bool uncertain = carom_result_has_column(from->result, from->law, "v_minus");
    if (carom_result_has_column(from->result, from->law, vertices)) {
        double *start;
        int64_t count;
        int width;
        const carom_status status = carom_result_read_reals(from->result, from->law, vertices, &start, &count, &width, error);
        if (status) return status;
        free(start);
        uncertain = count > 0;
    }
    if (!uncertain) return CAROM_OK;
    // Impulses reach every velocity where W has rank nv.
    const int n = carom_impact_contact_size(from->impact);
    const size_t entries = (size_t)n * (size_t)n;
    double *W = malloc((entries + (size_t)n) * sizeof *W), *eigenvalues = W + entries;
    if (!W) return carom_fail_memory(error, "query");
    memcpy(W, carom_impact_delassus(from->impact), entries * sizeof *W);
    carom_status status = carom_symmetric_eigen(n, W, eigenvalues, error);
    int rank = 0;
    for (int i = 0; i < n && !status; i++) rank += eigenvalues[i] > NEGLIGIBLE_EIGENVALUE * eigenvalues[n - 1];
    free(W);
    if (!status && rank < carom_impact_get_data(from->impact)->nv)
        status = carom_fail(error, CAROM_BAD_INPUT,
                            "the velocity before the impact was uncertain, and impulses do not reach every velocity from each of them");
    return status;
}

// Is the parameter the same for all outcomes?
static bool is_constant(const query_source *from, const query_parameters *parameters, int index) {
    for (int64_t i = 1; i < from->set.points; i++)
        if (parameters->values[i * parameters->count + index] != parameters->values[index]) return false;
    return true;
}

void query_add_parameters(json_t *document, const query_parameters *parameters, int64_t point) {
    if (!parameters->count) return;
    json_t *object = json_object();
    for (int i = 0; i < parameters->count; i++)
        json_object_set_new(object, parameters->names[i], carom_json_real(parameters->values[point * parameters->count + i]));
    json_object_set_new(document, "parameters", object);
}

carom_status query_add_sensitivity(json_t *document, const query_source *from, const query_parameters *parameters,
                                   const carom_functional *functional, carom_error *error) {
    const carom_outcome_set *set = &from->set;
    if (!parameters->count) return carom_fail(error, CAROM_BAD_INPUT, "nothing was uncertain in the scene of these outcomes");
    if (set->corners)
        return carom_fail(error, CAROM_BAD_INPUT, "the corners of hulls alone (`--keep hull`) are no fair sample of the outcomes");
    const size_t points = (size_t)set->points;
    double *x = malloc(2 * points * sizeof *x), *y = x + points;
    if (!x) return carom_fail_memory(error, "sensitivity");
    carom_status status = CAROM_OK;
    for (int64_t i = 0; i < set->points && !status; i++) {
        const carom_outcome_point point = carom_outcome_set_point(set, i);
        y[i] = carom_functional_value(functional, &point);
        if (!isfinite(y[i])) status = carom_fail(error, CAROM_BAD_INPUT, "the expression is not determined for every outcome");
    }
    json_t *list = json_array();
    for (int k = 0; k < parameters->count && !status; k++) {
        if (is_constant(from, parameters, k)) continue;
        carom_sensitivity found;
        for (int64_t i = 0; i < set->points; i++) x[i] = parameters->values[i * parameters->count + k];
        status = carom_sensitivity_measure(set->points, x, y, &found, error);
        if (status) break;
        json_t *one = json_pack("{s:s, s:i}", "parameter", parameters->names[k], "bins", found.bins);
        json_object_set_new(one, "rank_correlation", carom_json_real(found.rank_correlation));
        json_object_set_new(one, "first_order", carom_json_real(found.first_order));
        json_object_set_new(one, "bias", carom_json_real(found.bias));
        json_array_append_new(list, one);
    }
    free(x);
    json_object_set_new(document, "outcomes", json_integer(set->points));
    json_object_set_new(document, "draws", json_integer(parameters->draws));
    json_object_set_new(document, "sensitivity", list);
    return status;
}
