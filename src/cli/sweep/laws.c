// SPDX-License-Identifier: Apache-2.0
// Answers of laws at each point of a sweep, and the HDF5 file with all that a sweep finds.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/sweep/sweep.h"

enum {
    POINT_PARAMETER,
    POINT_SECOND,
    POINT_CERTIFIED,
    POINT_UNIQUE,
    POINT_MODES,
    POINT_LIST,
    POINT_OUTSIDE,
    POINT_NORMAL,
    POINT_TANGENT,
    POINT_COLUMNS
};

// ---------------------------------------------------------------------------------------------------------------- laws

static const carom_column of_point = {"point", CAROM_COLUMN_INTEGER, 1, "", "number of the point of the sweep, from 0", NULL};

// One law by its name, with the options of the scene, and a table for its outcomes.
static carom_status add_law(sweep *s, const char *name, carom_error *error) {
    const cli_arguments *arguments = s->arguments;
    sweep_law *added = &s->laws[s->law_count];
    *added = (sweep_law){.law = carom_law_find(arguments->registry, name)};
    char phrase[CAROM_SUGGESTION_SIZE];
    if (!added->law)
        return carom_fail(error, CAROM_BAD_INPUT, "--laws: there is no law '%.60s'; `carom resolve --list` prints them%s", name,
                          carom_registry_suggest(arguments->registry, CAROM_REGISTRY_LAWS, name, phrase));
    for (int i = 0; i < s->law_count; i++)
        if (s->laws[i].law == added->law) return carom_fail(error, CAROM_BAD_INPUT, "--laws: %s is named twice", name);
    s->law_count++;
    const int own = added->law->outcome_column_count;
    const cli_question question = {.arguments = arguments, .scene = s->scene, .law = added->law};
    carom_status status = cli_prepare_options(&question, NULL, &added->options, error);
    added->columns = calloc((size_t)own + 1, sizeof *added->columns);
    if (!added->columns) return carom_fail_memory(error, "sweep");
    for (int k = 0; k < own; k++) added->columns[k] = added->law->outcome_columns[k];
    added->columns[own] = of_point;
    if (!status) status = carom_outcomes_create(s->impact, added->columns, own + 1, &added->outcomes, error);
    return status;
}

carom_status sweep_read_laws(sweep *s, carom_error *error) {
    const char *text = cli_value(s->arguments, "laws");
    if (!text) return CAROM_OK;
    size_t names = 1;
    for (const char *at = text; *at; at++) names += *at == ',';
    s->laws = calloc(names, sizeof *s->laws);
    char *copy = strdup(text), *rest = copy;
    carom_status status = s->laws && copy ? CAROM_OK : carom_fail_memory(error, "sweep");
    while (!status && rest) {
        char *comma = strchr(rest, ','), *name = rest;
        if (comma) *comma = '\0';
        rest = comma ? comma + 1 : NULL;
        status = add_law(s, name, error);
    }
    free(copy);
    return status;
}

static carom_status keep_refusal(sweep_law *asked, int point, const char *reason, carom_error *error) {
    char **grown = realloc(asked->refusals, ((size_t)point + 1) * sizeof *grown);
    if (!grown) return carom_fail_memory(error, "sweep");
    asked->refusals = grown;
    while (asked->refusal_count <= point) grown[asked->refusal_count++] = NULL;
    grown[point] = strdup(reason);
    return grown[point] ? CAROM_OK : carom_fail_memory(error, "sweep");
}

// Why a law has no answer at a point; NULL where it has one.
static const char *refusal_at(const sweep_law *asked, int point) { return point < asked->refusal_count ? asked->refusals[point] : NULL; }

carom_status sweep_ask_laws(sweep *s, const carom_impact *impact, int point, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int i = 0; i < s->law_count && !status; i++) {
        sweep_law *asked = &s->laws[i];
        carom_answer answer = {0};
        const carom_law_call call = {
            .impact = impact, .options = asked->options, .registry = s->arguments->registry, .control = s->finder.control};
        carom_error inner;
        status = carom_law_resolve(asked->law, &call, &answer, &inner);
        // A law need not have an answer to every impact: the other points and laws keep theirs.
        if (status == CAROM_BAD_INPUT || status == CAROM_UNSUPPORTED)
            status = keep_refusal(asked, point, inner.message, error);
        else if (status)
            carom_fail(error, status, "--laws: %s: %.400s", asked->law->name, inner.message);
        const bool answered = !status && answer.outcomes;
        s->unfinished = s->unfinished || (answered && !carom_answer_complete(&answer));
        for (int64_t row = 0; answered && row < carom_table_rows(answer.outcomes) && !status; row++) {
            status = carom_table_append_narrow(asked->outcomes, answer.outcomes, row, 1, error);
            if (!status) *carom_table_integers(asked->outcomes, CAROM_OUTCOME_COLUMNS + asked->law->outcome_column_count) = point;
        }
        carom_answer_free(&answer);
    }
    return status;
}

// The column of the points' numbers.
static const int64_t *points_of(const sweep_law *asked) {
    return carom_table_integer_column(asked->outcomes, CAROM_OUTCOME_COLUMNS + asked->law->outcome_column_count);
}

json_t *sweep_laws_json(const sweep *s, int point) {
    json_t *laws = json_object();
    for (int i = 0; i < s->law_count; i++) {
        const sweep_law *asked = &s->laws[i];
        json_t *outcomes = json_array();
        for (int64_t row = 0; row < carom_table_rows(asked->outcomes); row++)
            if (points_of(asked)[row] == point)
                json_array_append_new(outcomes, carom_json_row(asked->outcomes, row, carom_impact_get_data(s->impact)->names));
        json_object_set_new(laws, asked->law->name, outcomes);
    }
    return laws;
}

json_t *sweep_refusals_json(const sweep *s, int point) {
    json_t *refusals = json_object();
    for (int i = 0; i < s->law_count; i++) {
        const char *reason = refusal_at(&s->laws[i], point);
        if (reason) json_object_set_new(refusals, s->laws[i].law->name, carom_json_text(reason));
    }
    return refusals;
}

bool sweep_lies_outside(const carom_table *outcomes, int64_t row) {
    return carom_table_integer_column(outcomes, CAROM_OUTCOME_FLAGS)[row] & CAROM_FLAG_APPROXIMATE;
}

void sweep_print_laws(const sweep *s, int point) {
    enum { SHOWN = 6 };
    const carom_impact_data *data = carom_impact_get_data(s->impact);
    for (int i = 0; i < s->law_count; i++) {
        const sweep_law *asked = &s->laws[i];
        int count = 0;
        for (int64_t row = 0; row < carom_table_rows(asked->outcomes); row++) {
            if (points_of(asked)[row] != point || ++count > SHOWN) continue;
            printf("    %-16s", asked->law->name);
            const double *normal = carom_table_real_column(asked->outcomes, CAROM_OUTCOME_NORMAL_VELOCITY) + row * data->contacts;
            const char *mark = sweep_lies_outside(asked->outcomes, row) ? CLI_OUTSIDE : "";
            for (int k = 0; k < data->contacts; k++) printf("  Jn.%s %.6g%s", data->names[k], cli_shown(s->impact, normal[k]), mark);
            putchar('\n');
        }
        if (count > SHOWN) printf("    %-16s  ... %d more outcomes\n", "", count - SHOWN);
        const char *reason = refusal_at(asked, point);
        if (reason)
            printf("    %-16s  left out: %s\n", asked->law->name, reason);
        else if (!count)
            printf("    %-16s  no outcome\n", asked->law->name);
    }
}

void sweep_release_laws(sweep *s) {
    for (int i = 0; i < s->law_count; i++) {
        free(s->laws[i].options);
        free(s->laws[i].columns);
        carom_table_free(s->laws[i].outcomes);
        for (int k = 0; k < s->laws[i].refusal_count; k++) free(s->laws[i].refusals[k]);
        free(s->laws[i].refusals);
    }
    free(s->laws);
}

// ------------------------------------------------------------------------------------------------------------ the file

bool sweep_is_table(const char *path) {
    const char *ending = strrchr(path, '.');
    return ending && (!strcmp(ending, ".h5") || !strcmp(ending, ".hdf5"));
}

// [least, most] of each normal or tangent into a cell.
static void fill_extents(const carom_joint_modes *modes, int count, bool tangent, double *cell) {
    for (int k = 0; k < count; k++) sweep_extent(modes, k, tangent, cell + 2 * k);
}

static carom_status put_points(const sweep *s, carom_result_writer *writer, carom_error *error) {
    const carom_sizes sizes = carom_impact_sizes(s->impact);
    const carom_column columns[POINT_COLUMNS] = {
        [POINT_PARAMETER] = {"parameter", CAROM_COLUMN_REAL, 1, "", s->axes[0].name, NULL},
        [POINT_SECOND] = {"parameter_2", CAROM_COLUMN_REAL, 1, "", s->axis_count > 1 ? s->axes[1].name : "there is none", NULL},
        [POINT_CERTIFIED] = {"certified", CAROM_COLUMN_BOOLEAN, 1, "", "from an exact set; otherwise seen in samples", NULL},
        [POINT_UNIQUE] = {"unique", CAROM_COLUMN_BOOLEAN, 1, "", "certified: there is one velocity", NULL},
        [POINT_MODES] = {"modes", CAROM_COLUMN_INTEGER, 1, "", "number of joint contact modes", NULL},
        [POINT_LIST] = {"list", CAROM_COLUMN_INTEGER, 1, "", "number of the list of modes, in the order in which lists first appear", NULL},
        [POINT_OUTSIDE] = {"may_lie_outside", CAROM_COLUMN_INTEGER, 1, "", "samples in the extents that may lie outside the set by O(h)",
                           NULL},
        [POINT_NORMAL] = {"normal_extent", CAROM_COLUMN_REAL, 2 * sizes.contacts, "m/s", "least and largest of each contact", NULL},
        [POINT_TANGENT] = {"tangent_extent", CAROM_COLUMN_REAL, 2 * sizes.tangents, "m/s", "least and largest of each tangent", NULL},
    };
    carom_table *table = NULL;
    carom_status status = carom_table_create(columns, POINT_COLUMNS, NULL, 0, &sizes, &table, error);
    for (int i = 0; i < s->count && !status; i++) {
        const sweep_point *point = &s->points[i];
        status = carom_table_add_row(table, error);
        if (status) break;
        *carom_table_reals(table, POINT_PARAMETER) = point->values[0];
        *carom_table_reals(table, POINT_SECOND) = s->axis_count > 1 ? point->values[1] : NAN;
        *carom_table_integers(table, POINT_CERTIFIED) = point->found.certified;
        *carom_table_integers(table, POINT_UNIQUE) = point->found.certified && point->found.unique;
        *carom_table_integers(table, POINT_MODES) = point->found.modes->count;
        *carom_table_integers(table, POINT_LIST) = point->list;
        *carom_table_integers(table, POINT_OUTSIDE) = point->found.modes->approximate;
        fill_extents(point->found.modes, sizes.contacts, false, carom_table_reals(table, POINT_NORMAL));
        fill_extents(point->found.modes, sizes.tangents, true, carom_table_reals(table, POINT_TANGENT));
    }
    if (!status) status = carom_result_writer_put_table(writer, "points", table, error);
    carom_table_free(table);
    return status;
}

static carom_status put_changes(const sweep *s, carom_result_writer *writer, carom_error *error) {
    enum { VALUE, OTHER, BEFORE, AFTER, COLUMNS };
    static const carom_column columns[COLUMNS] = {
        [VALUE] = {"parameter", CAROM_COLUMN_REAL, 1, "", "value of the first parameter at which the list of modes, or uniqueness, changes",
                   NULL},
        [OTHER] = {"parameter_2", CAROM_COLUMN_REAL, 1, "", "of the second parameter there", NULL},
        [BEFORE] = {"unique_before", CAROM_COLUMN_BOOLEAN, 1, "", "there is one velocity below it", NULL},
        [AFTER] = {"unique_after", CAROM_COLUMN_BOOLEAN, 1, "", "there is one velocity above it", NULL},
    };
    const carom_sizes sizes = carom_impact_sizes(s->impact);
    carom_table *table = NULL;
    carom_status status = carom_table_create(columns, COLUMNS, NULL, 0, &sizes, &table, error);
    for (int i = 0; i < s->change_count && !status; i++) {
        const sweep_change *change = &s->changes[i];
        status = carom_table_add_row(table, error);
        if (status) break;
        *carom_table_reals(table, VALUE) = change->value;
        *carom_table_reals(table, OTHER) = s->axis_count > 1 ? change->other : NAN;
        *carom_table_integers(table, BEFORE) = change->before.found.unique;
        *carom_table_integers(table, AFTER) = change->after.found.unique;
    }
    if (!status) status = carom_result_writer_put_table(writer, "critical", table, error);
    carom_table_free(table);
    return status;
}

carom_status sweep_write_tables(const sweep *s, carom_result_writer *writer, bool finished, carom_error *error) {
    carom_status status = put_points(s, writer, error);
    if (!status && cli_given(s->arguments, "critical")) status = put_changes(s, writer, error);
    for (int i = 0; i < s->law_count && !status; i++)
        status = carom_result_writer_put_table(writer, s->laws[i].law->name, s->laws[i].outcomes, error);
    if (!finished) carom_result_writer_mark_incomplete(writer);
    return status ? status : carom_result_writer_commit(writer, error);
}
