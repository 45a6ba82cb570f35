// SPDX-License-Identifier: Apache-2.0
// Every impact against every law: the one loop over the measurements, in parallel, with rows in their order.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/many.h"
#include "measure/measure_internal.h"

const carom_column carom_measure_impact_columns[CAROM_MEASURE_IMPACT_COLUMNS] = {
    [CAROM_MEASURE_INDEX] = {"index", CAROM_COLUMN_INTEGER, 1, "", "of the impact in the file, from 0", NULL},
    [CAROM_MEASURE_KIND] = {"kind", CAROM_COLUMN_TEXT, 1, "", "as the file says, or by the number of contacts", NULL},
    [CAROM_MEASURE_GROUP] = {"group", CAROM_COLUMN_INTEGER, 1, "", "rank of its group among all", NULL},
    [CAROM_MEASURE_CONTACTS] = {"contacts", CAROM_COLUMN_INTEGER, 1, "", "that touch", NULL},
    [CAROM_MEASURE_SPEED] = {"speed", CAROM_COLUMN_REAL, 1, "m/s", "fastest approach of a contact", NULL},
    [CAROM_MEASURE_LEVER_CHI2] = {"lever_chi2", CAROM_COLUMN_REAL, 1, "", "of the lever test: did the impulse act at the contacts?", NULL},
    [CAROM_MEASURE_LEVER_FREEDOM] = {"lever_freedom", CAROM_COLUMN_INTEGER, 1, "", "its degrees of freedom", NULL},
    [CAROM_MEASURE_FLOOR] = {"floor", CAROM_COLUMN_REAL, 1, "", "least relative error of any impulse at the contacts", NULL},
    [CAROM_MEASURE_FLOOR_CONE] = {"floor_cone", CAROM_COLUMN_REAL, 1, "", "least relative error of one within the friction cones", NULL},
    [CAROM_MEASURE_BEST_RESTITUTION] = {"best_restitution", CAROM_COLUMN_REAL, 1, "", "-u_n+ / u_n- of a single contact", NULL},
    [CAROM_MEASURE_BEST_FRICTION] = {"best_friction", CAROM_COLUMN_REAL, 1, "",
                                     "tangential over normal part of the best impulse at a single contact", NULL},
    [CAROM_MEASURE_NULL_ERROR] = {"null_error", CAROM_COLUMN_REAL, 1, "", "relative error of the nearest point of the null set", NULL},
    [CAROM_MEASURE_NULL_RADIUS] = {"null_radius", CAROM_COLUMN_REAL, 1, "", "largest distance of one of its points from their mean", NULL},
    [CAROM_MEASURE_NULL_SCORE] = {"null_score", CAROM_COLUMN_REAL, 1, "", "energy score of the null set", NULL},
};

const carom_column carom_measure_law_columns[CAROM_MEASURE_LAW_COLUMNS] = {
    [CAROM_MEASURE_APPLIES] = {"applies", CAROM_COLUMN_BOOLEAN, 1, "", "the law has something to say of such an impact", NULL},
    [CAROM_MEASURE_MEMBERS] = {"members", CAROM_COLUMN_INTEGER, 1, "", "outcomes after which no contact approaches", NULL},
    [CAROM_MEASURE_ERROR] = {"error", CAROM_COLUMN_REAL, 1, "", "|v+ - x|_M / |v-|_M of the nearest member x", NULL},
    [CAROM_MEASURE_RADIUS] = {"radius", CAROM_COLUMN_REAL, 1, "", "largest distance of a member from their mean, over |v-|_M", NULL},
    [CAROM_MEASURE_SCORE] = {"energy_score", CAROM_COLUMN_REAL, 1, "", "E|x - v+| - E|x - x'| / 2, over |v-|_M", NULL},
    [CAROM_MEASURE_CHI2] = {"chi2", CAROM_COLUMN_REAL, 1, "", "of the residual, with the noise of both velocities", NULL},
    [CAROM_MEASURE_FREEDOM] = {"freedom", CAROM_COLUMN_INTEGER, 1, "", "rank of the covariance of the residual", NULL},
    [CAROM_MEASURE_TAIL] = {"tail", CAROM_COLUMN_REAL, 1, "", "probability of a larger chi2", NULL},
    [CAROM_MEASURE_NEAREST] = {"nearest", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "v+ of the nearest member", NULL},
    [CAROM_MEASURE_REASON] = {"reason", CAROM_COLUMN_TEXT, 1, "", "why the law has no outcome, where it says so", NULL},
    [CAROM_MEASURE_APPROXIMATE] = {"approximate", CAROM_COLUMN_INTEGER, 1, "", "members that may lie outside the set by O(h)", NULL},
};

// One law on one impact.
typedef struct law_finding {
    bool applies;
    int64_t approximate;
    carom_measure_score score;
    carom_measure_chi_square chi;
    double *nearest;  // [widest nv]
    carom_error reason;
} law_finding;

// One impact on its way from a thread to the tables.
typedef struct finding {
    double lever_chi2;
    int lever_freedom;
    carom_measure_floor floor;
    carom_measure_score null;
    law_finding *laws;  // [law_count]
} finding;

typedef struct assessment {
    const carom_measure_request *request;
    carom_control alone;  // of each law: its thread is one of ours
    finding *slots;
    double **points;  // [workers] room for a null set
    int widest;
    carom_table *impacts;
    carom_table *const *laws;
} assessment;

static carom_status confront(const assessment *run, int index, law_finding *found, const carom_measure_law *law, carom_error *error) {
    const carom_measurement *one = &run->request->measurements->list[index];
    *found = (law_finding){.applies = carom_measure_applies(law, one), .nearest = found->nearest, .chi = {.value = NAN, .tail = NAN}};
    for (int k = 0; k < run->widest; k++) found->nearest[k] = NAN;
    carom_measure_set set = {0};
    carom_status status = CAROM_OK;
    if (found->applies) status = carom_measure_ask(law, one, index, NULL, &run->alone, &set, error);
    // What an interruption has cut short is not scored.
    if (carom_control_cancelled(&run->alone)) set.count = 0;
    if (!status) status = carom_measure_score_set(one, set.members, set.count, law->law->samples, &found->score, error);
    if (!status && set.count) status = carom_measure_find_chi_square(law, one, &set, &found->score, &found->chi, error);
    if (!status && set.count && found->score.nearest >= 0)
        memcpy(found->nearest, set.members + found->score.nearest * set.nv, (size_t)set.nv * sizeof *found->nearest);
    found->approximate = set.count ? set.approximate : 0;
    found->reason = set.reason;
    carom_measure_set_free(&set);
    return status;
}

static carom_status compute(void *user, int worker, int slot, int64_t block, carom_error *error) {
    assessment *run = user;
    const carom_measure_request *request = run->request;
    const int index = (int)block, part = request->part[index];
    const carom_measurement *one = &request->measurements->list[index];
    finding *found = &run->slots[slot];
    carom_error inner;
    carom_status status = carom_measure_lever(one, &found->lever_chi2, &found->lever_freedom, &inner);
    if (!status) status = carom_measure_find_floor(one, request->friction[part], request->edges, &found->floor, &inner);
    int64_t points = 0;
    if (!status && request->null_members)
        status = carom_measure_null_set(one, request->friction[part], request->edges, carom_many_seed(request->seed, index),
                                        request->null_members, run->points[worker], &points, &inner);
    if (!status) status = carom_measure_score_set(one, run->points[worker], points, true, &found->null, &inner);
    for (int i = 0; i < request->law_count && !status && !carom_control_cancelled(&run->alone); i++)
        status = confront(run, index, &found->laws[i], &request->laws[part * request->law_count + i], &inner);
    return status ? carom_fail(error, status, "impacts[%d]: %s", index, inner.message) : CAROM_OK;
}

static carom_status deliver(void *user, int slot, int64_t block, carom_error *error) {
    assessment *run = user;
    const carom_measurement *one = &run->request->measurements->list[block];
    const carom_impact_data *data = carom_impact_get_data(one->impact);
    const finding *found = &run->slots[slot];
    // An impact that an interruption has cut short is not there.
    if (carom_control_cancelled(&run->alone)) return CAROM_OK;
    carom_table *impacts = run->impacts;
    carom_status status = carom_table_add_row(impacts, error);
    if (!status) status = carom_table_set_text(impacts, CAROM_MEASURE_KIND, one->kind, error);
    if (status) return status;
    double speed = 0;
    for (int i = 0; i < data->contacts; i++) speed = fmax(speed, -carom_dot(data->nv, data->normal + i * data->nv, data->velocity));
    *carom_table_integers(impacts, CAROM_MEASURE_INDEX) = block;
    *carom_table_integers(impacts, CAROM_MEASURE_GROUP) = one->group;
    *carom_table_integers(impacts, CAROM_MEASURE_CONTACTS) = data->contacts;
    *carom_table_reals(impacts, CAROM_MEASURE_SPEED) = speed;
    *carom_table_reals(impacts, CAROM_MEASURE_LEVER_CHI2) = found->lever_chi2;
    *carom_table_integers(impacts, CAROM_MEASURE_LEVER_FREEDOM) = found->lever_freedom;
    *carom_table_reals(impacts, CAROM_MEASURE_FLOOR) = found->floor.any;
    *carom_table_reals(impacts, CAROM_MEASURE_FLOOR_CONE) = found->floor.cone;
    *carom_table_reals(impacts, CAROM_MEASURE_BEST_RESTITUTION) = found->floor.restitution;
    *carom_table_reals(impacts, CAROM_MEASURE_BEST_FRICTION) = found->floor.friction;
    *carom_table_reals(impacts, CAROM_MEASURE_NULL_ERROR) = found->null.error;
    *carom_table_reals(impacts, CAROM_MEASURE_NULL_RADIUS) = found->null.radius;
    *carom_table_reals(impacts, CAROM_MEASURE_NULL_SCORE) = found->null.energy;
    for (int i = 0; i < run->request->law_count && !status; i++) {
        const law_finding *law = &found->laws[i];
        carom_table *rows = run->laws[i];
        status = carom_table_add_row(rows, error);
        if (!status) status = carom_table_set_text(rows, CAROM_MEASURE_REASON, law->reason.message, error);
        if (status) break;
        *carom_table_integers(rows, CAROM_MEASURE_APPLIES) = law->applies;
        *carom_table_integers(rows, CAROM_MEASURE_MEMBERS) = law->score.members;
        *carom_table_integers(rows, CAROM_MEASURE_APPROXIMATE) = law->approximate;
        *carom_table_reals(rows, CAROM_MEASURE_ERROR) = law->score.error;
        *carom_table_reals(rows, CAROM_MEASURE_RADIUS) = law->score.radius;
        *carom_table_reals(rows, CAROM_MEASURE_SCORE) = law->score.energy;
        *carom_table_reals(rows, CAROM_MEASURE_CHI2) = law->chi.value;
        *carom_table_integers(rows, CAROM_MEASURE_FREEDOM) = law->chi.freedom;
        *carom_table_reals(rows, CAROM_MEASURE_TAIL) = law->chi.tail;
        memcpy(carom_table_reals(rows, CAROM_MEASURE_NEAREST), law->nearest, (size_t)run->widest * sizeof *law->nearest);
    }
    return status;
}

carom_status carom_measure_assess(const carom_measure_request *request, const carom_control *control, carom_table *impacts,
                                  carom_table *const *laws, carom_error *error) {
    assessment run = {.request = request, .alone = {.threads = 1}, .impacts = impacts, .laws = laws};
    if (control) {
        run.alone.cancelled = control->cancelled;
        run.alone.user = control->user;
    }
    const int workers = carom_control_workers(control), slots = carom_loop_slots(workers);
    for (int i = 0; i < request->measurements->count; i++) {
        const int nv = carom_impact_get_data(request->measurements->list[i].impact)->nv;
        run.widest = nv > run.widest ? nv : run.widest;
    }
    carom_arena arena = {0};
    const size_t widest = (size_t)run.widest, law_count = (size_t)request->law_count;
    run.slots = carom_arena_take(&arena, (size_t)slots, sizeof *run.slots);
    run.points = carom_arena_take(&arena, (size_t)workers, sizeof *run.points);
    for (int i = 0; i < slots && !arena.failed; i++) {
        run.slots[i].laws = carom_arena_take(&arena, law_count, sizeof *run.slots[i].laws);
        for (size_t k = 0; k < law_count && !arena.failed; k++)
            run.slots[i].laws[k].nearest = carom_arena_take(&arena, widest, sizeof(double));
    }
    for (int i = 0; i < workers && !arena.failed; i++)
        run.points[i] = carom_arena_take(&arena, (size_t)request->null_members * widest, sizeof(double));
    carom_status status = arena.failed ? carom_fail_memory(error, "measured impacts") : CAROM_OK;
    const carom_loop loop = {.blocks = request->measurements->count, .user = &run, .compute = compute, .deliver = deliver};
    int64_t delivered;
    if (!status) status = carom_loop_run(&loop, control, workers, &delivered, error);
    carom_arena_free(&arena);
    return status;
}
