// SPDX-License-Identifier: Apache-2.0
// What the search for worst cases is among with a law: the set that it samples, or the list of its outcomes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws/laws_internal.h"

// A law that answers with a list, and how it is asked.
typedef struct lister {
    const carom_law *law;
    carom_law_call call;
} lister;

// Its list for one impact, which is made when it is first asked for.
typedef struct list {
    const lister *asked;
    const carom_impact *impact;
    const carom_control *control;
    bool made;
    carom_verdict verdict;
    carom_answer answer;
    carom_table *ended;   // the outcomes that have terminated
    double *u, *impulse;  // [rows x n] contact-major
} list;

static void free_list(void *made) {
    list *own = made;
    if (!own) return;
    carom_answer_free(&own->answer);
    carom_table_free(own->ended);
    free(own->u);
    free(own);
}

static carom_status create_list(const void *user, const carom_impact *impact, bool records, void **made, carom_error *error) {
    (void)records;
    list *own = calloc(1, sizeof *own);
    *made = own;
    if (!own) return carom_fail_memory(error, "worst cases");
    own->asked = user;
    own->impact = impact;
    return CAROM_OK;
}

static void watch_list(void *made, const carom_control *control) { ((list *)made)->control = control; }

// Normal and tangential parts side by side, contact by contact.
static void merge(int64_t rows, int contacts, int dim, const double *normal, const double *tangent, double *merged) {
    for (int64_t i = 0; i < rows * contacts; i++) {
        merged[i * (1 + dim)] = normal[i];
        for (int k = 0; k < dim; k++) merged[i * (1 + dim) + 1 + k] = tangent[i * dim + k];
    }
}

static carom_status ask(list *own, carom_error *error) {
    const carom_law *law = own->asked->law;
    const carom_control control = {
        .threads = 1, .cancelled = own->control ? own->control->cancelled : NULL, .user = own->control ? own->control->user : NULL};
    carom_law_call call = own->asked->call;
    call.impact = own->impact;
    call.control = &control;
    call.sink = NULL;
    carom_status status = carom_law_resolve(law, &call, &own->answer, error);
    if (!status) status = carom_outcomes_create(own->impact, law->outcome_columns, law->outcome_column_count, &own->ended, error);
    if (status) return status;
    own->verdict = carom_answer_verdict(&own->answer);
    for (int64_t i = 0; i < carom_table_rows(own->answer.outcomes) && !status; i++)
        if (carom_table_integer_column(own->answer.outcomes, CAROM_OUTCOME_TERMINATED)[i])
            status = carom_table_append_rows(own->ended, own->answer.outcomes, i, 1, error);
    const int64_t rows = carom_table_rows(own->ended);
    const carom_sizes sizes = carom_impact_sizes(own->impact);
    const int n = sizes.contacts + sizes.tangents, dim = sizes.tangents / sizes.contacts;
    own->u = status ? NULL : malloc(2 * (size_t)(rows + 1) * (size_t)n * sizeof *own->u);
    if (!status && !own->u) status = carom_fail_memory(error, "worst cases");
    if (status) return status;
    own->impulse = own->u + (rows + 1) * n;
    merge(rows, sizes.contacts, dim, carom_table_real_column(own->ended, CAROM_OUTCOME_NORMAL_VELOCITY),
          carom_table_real_column(own->ended, CAROM_OUTCOME_TANGENT_VELOCITY), own->u);
    merge(rows, sizes.contacts, dim, carom_table_real_column(own->ended, CAROM_OUTCOME_NORMAL_IMPULSE),
          carom_table_real_column(own->ended, CAROM_OUTCOME_TANGENT_IMPULSE), own->impulse);
    own->made = true;
    return CAROM_OK;
}

static carom_status play_list(void *made, const carom_tape *played, int64_t seed, int64_t index, carom_tape *recorded,
                              carom_members *members, carom_error *error) {
    (void)played, (void)seed, (void)index;
    list *own = made;
    if (recorded) recorded->count = 0;
    const carom_status status = own->made ? CAROM_OK : ask(own, error);
    if (status) return status;
    *members = (carom_members){.count = carom_table_rows(own->ended),
                               .v = carom_table_real_column(own->ended, CAROM_OUTCOME_VELOCITY),
                               .u = own->u,
                               .impulse = own->impulse,
                               .verdict = own->verdict,
                               .path = CAROM_PATH_JUMP,
                               .outcomes = own->ended};
    return CAROM_OK;
}

static const carom_member_kind lists = {"list", false, create_list, free_list, watch_list, play_list};

carom_status carom_law_members(const carom_law *law, const carom_law_call *call, carom_member_source *source, carom_error *error) {
    *source = (carom_member_source){0};
    if (law->members) {
        carom_law_call complete = *call;
        void *options;
        carom_registry *solvers;
        carom_status status = carom_law_complete(law, &complete, &options, &solvers, error);
        if (!status) status = law->members(&complete, source, error);
        carom_registry_free(solvers);
        free(options);
        return status;
    }
    lister *asked = malloc(sizeof *asked);
    *source = (carom_member_source){.kind = &lists, .user = asked};
    if (!asked) return carom_fail_memory(error, "worst cases");
    *asked = (lister){law, *call};
    return CAROM_OK;
}
