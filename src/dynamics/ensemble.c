// SPDX-License-Identifier: Apache-2.0
// An ensemble: the same motion from perturbed starts, and how far each member is from the reference after each impact.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/tubes.h"

// Size of perturbations of a body where nobody says one [m, rad].
#define DEFAULT_PERTURBATION 1e-8

static const carom_column columns[CAROM_MEMBER_COLUMNS] = {
    [CAROM_MEMBER_INDEX] = {"index", CAROM_COLUMN_INTEGER, 1, "", "the member's number: it draws from the stream (seed 0, index)", NULL},
    [CAROM_MEMBER_VERDICT] = {"verdict", CAROM_COLUMN_TEXT, 1, "", "how far the run got", NULL},
    [CAROM_MEMBER_STEPS] = {"steps", CAROM_COLUMN_INTEGER, 1, "", "grid steps done", NULL},
    [CAROM_MEMBER_TIME] = {"time", CAROM_COLUMN_REAL, 1, "s", "time reached", NULL},
    [CAROM_MEMBER_ENERGY_ERROR] = {"max_relative_energy_error", CAROM_COLUMN_REAL, 1, "", "as of the reference", NULL},
    [CAROM_MEMBER_IMPACTS] = {"impact_count", CAROM_COLUMN_INTEGER, 1, "", "impacts", NULL},
    [CAROM_MEMBER_FAILURES] = {"failures", CAROM_COLUMN_INTEGER, 1, "", "contact problems or impacts that were not solved", NULL},
    [CAROM_MEMBER_DISTANCES] = {"distances", CAROM_COLUMN_SERIES, 1, "",
                                "of a body: |dx| + |dR| between member and reference just after their k-th impacts, in meters and as a "
                                "spectral norm",
                                NULL},
    [CAROM_MEMBER_FINAL] = {"final_state", CAROM_COLUMN_SERIES, 1, "", "of a system: coordinates, then their rates, at the end", NULL},
    [CAROM_MEMBER_MESSAGE] = {"message", CAROM_COLUMN_TEXT, 1, "", "why the member is not complete; empty where the verdict says it all",
                              NULL},
};

// Of recorded states, after the integrator's.
static const carom_column member_column = {"member", CAROM_COLUMN_INTEGER, 1, "", "index of the ensemble's member", NULL};

typedef struct ensemble_loop {
    const carom_motion_request *request;
    const carom_motion_answer *reference;
    carom_ensemble *ensemble;
    carom_motion_answer *answers;  // [slots] of members on their way
    carom_table **states;          // [slots] what they recorded; NULL where nobody wants it
    carom_error *refusals;         // [slots] why their runs were refused
    int64_t refused;
    carom_error first_refusal;
    carom_tubes tubes;  // of a mechanism
    bool interrupted;   // the members from here on are left out
} ensemble_loop;

static carom_status compute(void *user, int worker, int slot, int64_t block, carom_error *error) {
    (void)worker;
    const ensemble_loop *loop = user;
    const carom_control *control = loop->request->control;
    carom_motion perturbed;
    carom_motion_room room;
    carom_status status = carom_motion_perturb(loop->request->motion, loop->ensemble->perturbed, loop->ensemble->perturbation, 0, block,
                                               &room, &perturbed, error);
    if (status) return status;
    // A member runs on one thread and is silent: the loop over members is parallel, and shows the progress.
    carom_control quiet = {.threads = 1};
    if (control) {
        quiet.cancelled = control->cancelled;
        quiet.user = control->user;
    }
    carom_motion_request request = *loop->request;
    request.motion = &perturbed;
    request.control = &quiet;
    carom_table *states = loop->states[slot];
    carom_sink sink;
    if (states) {
        carom_table_clear(states);
        sink = carom_table_sink(states);
    }
    // A run that is refused leaves its reason, and the others go on.
    carom_error *refusal = &loop->refusals[slot];
    refusal->status = CAROM_OK;
    status = carom_integrator_run(&request, states ? &sink : NULL, &loop->answers[slot], refusal);
    if (status != CAROM_BAD_INPUT && status != CAROM_UNSUPPORTED)
        return status ? carom_fail(error, status, "member %" PRId64 ": %s", block, refusal->message) : CAROM_OK;
    if (states) carom_table_clear(states);
    refusal->status = status;
    return CAROM_OK;
}

// The row of a member whose run was refused.
static carom_status deliver_refused(ensemble_loop *loop, int64_t block, const carom_error *refusal, carom_error *error) {
    carom_table *members = loop->ensemble->members;
    if (!loop->refused++) carom_fail(&loop->first_refusal, refusal->status, "member %" PRId64 ": %s", block, refusal->message);
    carom_status status = carom_table_add_row(members, error);
    if (status) return status;
    *carom_table_integers(members, CAROM_MEMBER_INDEX) = block;
    *carom_table_integers(members, CAROM_MEMBER_FAILURES) = CAROM_NO_INTEGER;
    *carom_table_reals(members, CAROM_MEMBER_ENERGY_ERROR) = NAN;
    status = carom_table_set_text(members, CAROM_MEMBER_VERDICT, carom_verdict_name(CAROM_INCOMPLETE), error);
    return status ? status : carom_table_set_text(members, CAROM_MEMBER_MESSAGE, refusal->message, error);
}

// Series of the row that was just added: distances of impacts, and the end of a system's motion.
static carom_status set_series(const ensemble_loop *loop, const carom_motion_answer *answer, carom_error *error) {
    const carom_integrator *integrator = loop->request->integrator;
    carom_table *members = loop->ensemble->members;
    carom_status status = CAROM_OK;
    // Impacts are counted, not matched: the k-th of the member against the k-th of the reference.
    if (integrator->impact_distance) {
        const carom_table *reference = loop->reference->impacts;
        const int64_t rows = carom_table_rows(answer->impacts), others = carom_table_rows(reference), count = rows < others ? rows : others;
        double *distances = malloc((size_t)count * sizeof *distances + 1);
        if (!distances) return carom_fail_memory(error, "ensemble");
        for (int64_t i = 0; i < count; i++) distances[i] = integrator->impact_distance(reference, answer->impacts, i);
        status = carom_table_set_series(members, CAROM_MEMBER_DISTANCES, distances, (int)count, error);
        free(distances);
    }
    const double *position = carom_motion_column(answer->final, "qpos"), *velocity = carom_motion_column(answer->final, "qvel");
    if (status || !position || !velocity) return status;
    const carom_sizes *sizes = carom_table_sizes(answer->final);
    const size_t nq = (size_t)sizes->positions, nv = (size_t)sizes->nv;
    double *state = malloc((nq + nv) * sizeof *state + 1);
    if (!state) return carom_fail_memory(error, "ensemble");
    memcpy(state, position, nq * sizeof *state);
    memcpy(state + nq, velocity, nv * sizeof *state);
    status = carom_table_set_series(members, CAROM_MEMBER_FINAL, state, (int)(nq + nv), error);
    free(state);
    return status;
}

// An interrupted member has no end to report: it and all later members are dropped, the finished ones before it are kept.
static carom_status deliver(void *user, int slot, int64_t block, carom_error *error) {
    ensemble_loop *loop = user;
    carom_motion_answer *answer = &loop->answers[slot];
    carom_table *members = loop->ensemble->members;
    if (!answer->result) return loop->interrupted ? CAROM_OK : deliver_refused(loop, block, &loop->refusals[slot], error);
    const char *verdict = carom_table_text(answer->result, CAROM_MOTION_VERDICT, 0);
    loop->interrupted = loop->interrupted || !strcmp(verdict, carom_verdict_name(CAROM_INTERRUPTED));
    carom_status status = CAROM_OK;
    if (!loop->interrupted) {
        status = carom_table_add_row(members, error);
        if (!status) {
            *carom_table_integers(members, CAROM_MEMBER_INDEX) = block;
            *carom_table_integers(members, CAROM_MEMBER_STEPS) = *carom_table_integer_column(answer->result, CAROM_MOTION_STEPS);
            *carom_table_integers(members, CAROM_MEMBER_IMPACTS) = carom_table_rows(answer->impacts);
            const int failures = carom_table_find(answer->result, "failures");
            *carom_table_integers(members, CAROM_MEMBER_FAILURES) =
                failures < 0 ? CAROM_NO_INTEGER : *carom_table_integer_column(answer->result, failures);
            *carom_table_reals(members, CAROM_MEMBER_TIME) = *carom_table_real_column(answer->result, CAROM_MOTION_TIME);
            *carom_table_reals(members, CAROM_MEMBER_ENERGY_ERROR) = *carom_table_real_column(answer->result, CAROM_MOTION_ENERGY_ERROR);
            status = carom_table_set_text(members, CAROM_MEMBER_VERDICT, verdict, error);
            if (!status)
                status =
                    carom_table_set_text(members, CAROM_MEMBER_MESSAGE, carom_table_text(answer->result, CAROM_MOTION_MESSAGE, 0), error);
        }
        if (!status) status = set_series(loop, answer, error);
        if (!status && loop->tubes.tubes) status = carom_tubes_add(&loop->tubes, answer, error);
        const carom_table *states = status ? NULL : loop->states[slot];
        if (states && loop->ensemble->recorded) {
            carom_table *all = loop->ensemble->states;
            const int64_t rows = carom_table_rows(states);
            status = carom_table_append_narrow(all, states, 0, rows, error);
            // Cells of the last row are the end of a whole column.
            int64_t *end = status || !rows ? NULL : carom_table_integers(all, carom_table_columns(all) - 1);
            for (int64_t i = 0; end && i < rows; i++) end[-i] = block;
        }
        if (!status && states && loop->ensemble->traced && loop->request->integrator->trace) {
            // The member's states as pictures need them, and a row of NaN.
            const carom_integrator *integrator = loop->request->integrator;
            carom_ensemble *ensemble = loop->ensemble;
            const size_t width = (size_t)integrator->trace_width;
            const int64_t rows = carom_table_rows(states), first = ensemble->trace_count;
            double *grown = realloc(ensemble->traces, width * (size_t)(first + rows + 1) * sizeof *grown);
            if (grown) {
                for (int64_t i = 0; i < rows; i++) integrator->trace(states, i, grown + width * (size_t)(first + i));
                for (size_t k = 0; k < width; k++) grown[width * (size_t)(first + rows) + k] = NAN;
                ensemble->traces = grown;
                ensemble->trace_count = first + rows + 1;
            } else {
                status = carom_fail_memory(error, "ensemble");
            }
        }
    }
    carom_motion_answer_free(answer);
    return status;
}

double carom_ensemble_default_perturbation(const carom_motion *motion) {
    return motion->form == CAROM_MOTION_SYSTEM || motion->form == CAROM_MOTION_MECHANISM ? 0 : DEFAULT_PERTURBATION;
}

carom_status carom_ensemble_run(const carom_motion_request *request, const carom_motion_answer *reference, carom_ensemble *ensemble,
                                carom_error *error) {
    const carom_sizes none = {0};
    const carom_control silent = {0}, *control = request->control ? request->control : &silent;
    const int workers = carom_control_workers(control), slots = carom_loop_slots(workers);
    ensemble->members = NULL;
    ensemble->traces = NULL;
    ensemble->trace_count = 0;
    ensemble->tubes = ensemble->ends = NULL;
    ensemble->states = NULL;
    const carom_integrator *integrator = request->integrator;
    carom_arena arena = {0};
    ensemble_loop loop = {.request = request, .reference = reference, .ensemble = ensemble};
    loop.answers = carom_arena_take(&arena, (size_t)slots, sizeof *loop.answers);
    loop.states = carom_arena_take(&arena, (size_t)slots, sizeof *loop.states);
    loop.refusals = carom_arena_take(&arena, (size_t)slots, sizeof *loop.refusals);
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "ensemble");
    }
    carom_status status = carom_table_create(columns, CAROM_MEMBER_COLUMNS, NULL, 0, &none, &ensemble->members, error);
    const bool keeps = ensemble->recorded || (ensemble->traced && integrator->trace);
    for (int i = 0; i < slots && !status && keeps; i++)
        status = carom_motion_create_states(integrator, request->motion, &loop.states[i], error);
    if (!status && ensemble->recorded)
        status = carom_table_create(integrator->state_columns, integrator->state_column_count, &member_column, 1,
                                    carom_table_sizes(loop.states[0]), &ensemble->states, error);
    if (!status && request->motion->form == CAROM_MOTION_MECHANISM) status = carom_tubes_create(request->motion, &loop.tubes, error);
    const carom_loop all = {.blocks = ensemble->requested, .user = &loop, .compute = compute, .deliver = deliver};
    int64_t delivered;
    if (!status) status = carom_loop_run(&all, control, workers, &delivered, error);
    // Where no member at all could start, what is asked for is wrong.
    if (!status && loop.refused && loop.refused == carom_table_rows(ensemble->members))
        status = carom_fail(error, loop.first_refusal.status, "%s", loop.first_refusal.message);
    if (!status && loop.tubes.tubes) {
        status = carom_tubes_conclude(&loop.tubes, error);
        ensemble->tubes = loop.tubes.tubes;
        ensemble->ends = loop.tubes.ends;
        loop.tubes.tubes = loop.tubes.ends = NULL;
    }
    carom_tubes_free(&loop.tubes);
    for (int i = 0; i < slots; i++) {
        carom_motion_answer_free(&loop.answers[i]);
        carom_table_free(loop.states[i]);
    }
    carom_arena_free(&arena);
    return status;
}

void carom_ensemble_free(carom_ensemble *ensemble) {
    carom_table_free(ensemble->members);
    carom_table_free(ensemble->states);
    carom_table_free(ensemble->tubes);
    carom_table_free(ensemble->ends);
    free(ensemble->traces);
    ensemble->members = ensemble->states = ensemble->tubes = ensemble->ends = NULL;
    ensemble->traces = NULL;
}
