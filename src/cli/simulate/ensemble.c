// SPDX-License-Identifier: Apache-2.0
// An ensemble: the same motion from perturbed starts, and how far each member is from the reference after each impact.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "cli/simulate/simulate.h"

static const carom_column columns[CLI_ENSEMBLE_COLUMNS] = {
    [CLI_MEMBER_INDEX] = {"index", CAROM_COLUMN_INTEGER, 1, "", "the member's number: it draws from the stream (seed 0, index)", NULL},
    [CLI_MEMBER_VERDICT] = {"verdict", CAROM_COLUMN_TEXT, 1, "", "how far the run got", NULL},
    [CLI_MEMBER_STEPS] = {"steps", CAROM_COLUMN_INTEGER, 1, "", "grid steps done", NULL},
    [CLI_MEMBER_TIME] = {"time", CAROM_COLUMN_REAL, 1, "s", "time reached", NULL},
    [CLI_MEMBER_ENERGY_ERROR] = {"max_relative_energy_error", CAROM_COLUMN_REAL, 1, "", "as of the reference", NULL},
    [CLI_MEMBER_IMPACTS] = {"impact_count", CAROM_COLUMN_INTEGER, 1, "", "impacts", NULL},
    [CLI_MEMBER_DISTANCES] = {"distances", CAROM_COLUMN_SERIES, 1, "",
                              "of a body: |dx| + |dR| between member and reference just after their k-th impacts, in meters and as a "
                              "spectral norm",
                              NULL},
    [CLI_MEMBER_FINAL] = {"final_state", CAROM_COLUMN_SERIES, 1, "", "of a system: coordinates, then their rates, at the end", NULL},
};

// Largest singular value of a difference of rotation matrices.
static double spectral_norm(const double D[9]) {
    double gram[9], values[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) gram[3 * i + j] = D[i] * D[j] + D[3 + i] * D[3 + j] + D[6 + i] * D[6 + j];
    return carom_symmetric_eigen(3, gram, values, NULL) ? NAN : sqrt(fmax(values[2], 0));
}

double cli_impact_distance(const carom_table *first, const carom_table *second, int64_t index) {
    const int position = carom_table_find(first, "position"), attitude = carom_table_find(first, "attitude");
    if (position < 0 || attitude < 0) return NAN;
    const double *x = carom_table_real_column(first, position) + 3 * index, *y = carom_table_real_column(second, position) + 3 * index;
    const double *R = carom_table_real_column(first, attitude) + 9 * index, *S = carom_table_real_column(second, attitude) + 9 * index;
    double turned[9], moved = 0;
    for (int i = 0; i < 3; i++) moved += (x[i] - y[i]) * (x[i] - y[i]);
    for (int i = 0; i < 9; i++) turned[i] = R[i] - S[i];
    return sqrt(moved) + spectral_norm(turned);
}

// A member in flight.
typedef struct member {
    carom_motion_answer answer;
    carom_table *states;  // kept for the figure of a bundle; NULL otherwise
} member;

typedef struct ensemble_loop {
    cli_motion *motion;
    member *slots;
    bool interrupted;  // the members from here on are left out
} ensemble_loop;

// Which member it was that could not start.
static carom_status fail_member(int64_t index, const carom_error *inner, carom_error *error) {
    return carom_fail(error, inner->status, "--ensemble: member %" PRId64 ": %s", index, inner->message);
}

static carom_status compute(void *user, int worker, int slot, int64_t block, carom_error *error) {
    (void)worker;
    const ensemble_loop *loop = user;
    const cli_motion *motion = loop->motion;
    carom_motion perturbed;
    carom_motion_room room;
    carom_status status = carom_motion_perturb(carom_scene_motion(motion->scene), motion->perturbed, motion->perturbation, 0, block, &room,
                                               &perturbed, error);
    if (status) return status;
    const carom_law_settings settings = cli_motion_settings(motion);
    const carom_control quiet = {.threads = 1, .cancelled = motion->control.cancelled, .user = motion->control.user};
    member *own = &loop->slots[slot];
    if (own->states) carom_table_clear(own->states);
    const carom_sink sink = carom_table_sink(own->states);
    carom_error inner;
    status = carom_integrator_run(motion->integrator, &perturbed, motion->options, motion->arguments->registry, &settings, &quiet,
                                  own->states ? &sink : NULL, &own->answer, &inner);
    return status ? fail_member(block, &inner, error) : CAROM_OK;
}

// The end of a system's motion; other motions have no such columns.
static carom_status set_final(cli_motion *motion, const carom_table *final, carom_error *error) {
    const int position = carom_table_find(final, "qpos"), velocity = carom_table_find(final, "qvel");
    if (position < 0 || velocity < 0) return CAROM_OK;
    const size_t nv = (size_t)carom_table_sizes(final)->nv;
    double *state = malloc(2 * nv * sizeof *state);
    if (!state) return carom_fail_memory(error, "ensemble");
    memcpy(state, carom_table_real_column(final, position), nv * sizeof *state);
    memcpy(state + nv, carom_table_real_column(final, velocity), nv * sizeof *state);
    const carom_status status = carom_table_set_series(motion->ensemble, CLI_MEMBER_FINAL, state, (int)(2 * nv), error);
    free(state);
    return status;
}

static carom_status set_distances(cli_motion *motion, const carom_table *impacts, carom_error *error) {
    const carom_table *reference = motion->answer.impacts;
    if (carom_table_find(reference, "attitude") < 0) return CAROM_OK;
    const int64_t rows = carom_table_rows(impacts), others = carom_table_rows(reference), count = rows < others ? rows : others;
    double *distances = malloc((size_t)count * sizeof *distances + 1);
    if (!distances) return carom_fail_memory(error, "ensemble");
    for (int64_t i = 0; i < count; i++) distances[i] = cli_impact_distance(reference, impacts, i);
    const carom_status status = carom_table_set_series(motion->ensemble, CLI_MEMBER_DISTANCES, distances, (int)count, error);
    free(distances);
    return status;
}

static carom_status add_member(const ensemble_loop *loop, int slot, int64_t block, carom_error *error) {
    const carom_motion_answer *answer = &loop->slots[slot].answer;
    carom_table *table = loop->motion->ensemble;
    carom_status status = carom_table_add_row(table, error);
    if (!status) {
        *carom_table_integers(table, CLI_MEMBER_INDEX) = block;
        *carom_table_integers(table, CLI_MEMBER_STEPS) = *carom_table_integer_column(answer->result, CAROM_MOTION_STEPS);
        *carom_table_integers(table, CLI_MEMBER_IMPACTS) = carom_table_rows(answer->impacts);
        *carom_table_reals(table, CLI_MEMBER_TIME) = *carom_table_real_column(answer->result, CAROM_MOTION_TIME);
        *carom_table_reals(table, CLI_MEMBER_ENERGY_ERROR) = *carom_table_real_column(answer->result, CAROM_MOTION_ENERGY_ERROR);
        status = carom_table_set_text(table, CLI_MEMBER_VERDICT, carom_table_text(answer->result, CAROM_MOTION_VERDICT, 0), error);
    }
    if (!status) status = set_distances(loop->motion, answer->impacts, error);
    if (!status) status = set_final(loop->motion, answer->final, error);
    if (!status && loop->slots[slot].states) status = cli_add_to_bundle(loop->motion, loop->slots[slot].states, error);
    return status;
}

// A member that was interrupted on its way says nothing of where it would have ended: the finished ones before it are kept.
static carom_status deliver(void *user, int slot, int64_t block, carom_error *error) {
    ensemble_loop *loop = user;
    carom_motion_answer *answer = &loop->slots[slot].answer;
    const char *verdict = carom_table_text(answer->result, CAROM_MOTION_VERDICT, 0);
    loop->interrupted = loop->interrupted || !strcmp(verdict, carom_verdict_name(CAROM_INTERRUPTED));
    const carom_status status = loop->interrupted ? CAROM_OK : add_member(loop, slot, block, error);
    carom_motion_answer_free(answer);
    return status;
}

carom_status cli_run_ensemble(cli_motion *motion, carom_error *error) {
    const carom_sizes none = {0};
    const int workers = carom_control_workers(&motion->control), slots = carom_loop_slots(workers);
    ensemble_loop loop = {motion, calloc((size_t)slots, sizeof(member)), false};
    if (!loop.slots) return carom_fail_memory(error, "ensemble");
    carom_status status = carom_table_create(columns, CLI_ENSEMBLE_COLUMNS, NULL, 0, &none, &motion->ensemble, error);
    const carom_integrator *one = motion->integrator;
    const carom_motion *problem = carom_scene_motion(motion->scene);
    for (int i = 0; i < slots && !status && motion->states && problem->system; i++) {
        const carom_sizes sizes = carom_impact_sizes(problem->impact);
        status = carom_table_create(one->state_columns, one->state_column_count, NULL, 0, &sizes, &loop.slots[i].states, error);
    }
    const carom_loop all = {.blocks = motion->members, .user = &loop, .compute = compute, .deliver = deliver};
    int64_t delivered;
    if (!status) status = carom_loop_run(&all, &motion->control, workers, &delivered, error);
    for (int i = 0; i < slots; i++) {
        carom_motion_answer_free(&loop.slots[i].answer);
        carom_table_free(loop.slots[i].states);
    }
    free(loop.slots);
    return status;
}
