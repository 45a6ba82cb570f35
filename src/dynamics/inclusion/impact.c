// SPDX-License-Identifier: Apache-2.0
// Impacts: collisions by a law of the toolkit, and impacts without collision.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "dynamics/inclusion/inclusion.h"

// ---------------------------------------------------------------------------------------------------------- collisions

// Rows of the contacts that take part.
typedef struct frozen_rows {
    int count;
    int list[INCLUSION_MOST_CONTACTS];
    double friction[INCLUSION_MOST_CONTACTS], restitution[INCLUSION_MOST_CONTACTS];
    const char *names[INCLUSION_MOST_CONTACTS];
} frozen_rows;

static carom_status freeze(const inclusion *run, uint64_t touching, frozen_rows *rows, carom_impact **impact, carom_error *error) {
    const size_t nv = (size_t)run->nv;
    const char *const *names = carom_impact_get_data(run->call->motion->impact)->names;
    double *normal = run->work, *tangent = normal + (size_t)run->contacts * nv;
    rows->count = 0;
    for (int i = 0; i < run->contacts; i++) {
        if (!(touching >> i & 1)) continue;
        const size_t at = (size_t)rows->count * nv;
        memcpy(normal + at, run->terms.normal + (size_t)i * nv, nv * sizeof *normal);
        memcpy(tangent + at, run->terms.tangent + (size_t)i * nv, nv * sizeof *tangent);
        rows->friction[rows->count] = run->system->friction[i];
        rows->restitution[rows->count] = run->system->restitution[i];
        rows->names[rows->count] = names[i];
        rows->list[rows->count++] = i;
    }
    const carom_impact_data data = {.nv = run->nv,
                                    .contacts = rows->count,
                                    .tangent_dim = 1,
                                    .mass = run->terms.mass,
                                    .normal = normal,
                                    .tangent = tangent,
                                    .friction = rows->friction,
                                    .restitution = rows->restitution,
                                    .velocity = run->y + nv,
                                    .names = rows->names};
    return carom_impact_create(&data, impact, error);
}

// One of the outcomes after which nothing approaches; -1 when there is none.
static int64_t draw_outcome(inclusion *run, const carom_table *outcomes, int64_t *count) {
    const int64_t *terminated = carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED), rows = carom_table_rows(outcomes);
    *count = 0;
    for (int64_t i = 0; i < rows; i++) *count += terminated[i];
    if (!*count) return -1;
    int64_t left = *count > 1 ? (int64_t)(carom_stream_uniform(&run->choices) * (double)*count) : 0;
    for (int64_t i = 0; i < rows; i++)
        if (terminated[i] && left-- == 0) return i;
    return -1;
}

static void take_outcome(const inclusion *run, const frozen_rows *rows, const carom_table *outcomes, inclusion_outcome *outcome) {
    const size_t nv = (size_t)run->nv, row = (size_t)outcome->index;
    memcpy(outcome->velocity, carom_table_real_column(outcomes, CAROM_OUTCOME_VELOCITY) + row * nv, nv * sizeof *outcome->velocity);
    memset(outcome->impulse, 0, 2 * (size_t)run->contacts * sizeof *outcome->impulse);
    const double *normal = carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_IMPULSE) + row * (size_t)rows->count;
    const double *tangent = carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_IMPULSE) + row * (size_t)rows->count;
    for (int k = 0; k < rows->count; k++) {
        outcome->impulse[2 * rows->list[k]] = normal[k];
        outcome->impulse[2 * rows->list[k] + 1] = tangent[k];
    }
}

carom_status inclusion_collide(inclusion *run, uint64_t touching, int64_t index, inclusion_outcome *outcome, carom_error *error) {
    frozen_rows rows;
    carom_impact *impact = NULL;
    carom_answer answer = {0};
    outcome->contacts = touching;
    outcome->solved = false;
    // Every impact of every member draws numbers of its own.
    carom_stream stream;
    carom_stream_start(&stream, (uint64_t)(run->options->seed + run->call->motion->member), (uint64_t)index);
    const double seed = (double)(carom_stream_bits(&stream) >> 11);
    carom_status status = carom_motion_set_option(run->law, run->law_options, "seed", seed, error);
    if (!status) status = freeze(run, touching, &rows, &impact, error);
    const carom_law_call question = {impact, run->law_options, run->call->registry, run->call->control, NULL, NULL};
    if (!status) status = carom_law_resolve(run->law, &question, &answer, error);
    if (!status) {
        outcome->index = draw_outcome(run, answer.outcomes, &outcome->count);
        outcome->solved = outcome->index >= 0;
        if (outcome->solved) take_outcome(run, &rows, answer.outcomes, outcome);
        if (outcome->solved && !carom_all_finite(2 * (size_t)run->contacts, outcome->impulse))
            status = carom_fail(error, CAROM_UNSUPPORTED, "law: '%s' leaves impulses open, which inclusion accumulates", run->law->name);
        carom_answer_free(&answer);
    }
    carom_impact_free(impact);
    return status;
}

// --------------------------------------------------------------------------------------------------- without collision

carom_status inclusion_jam(inclusion *run, int contact, inclusion_outcome *outcome, carom_error *error) {
    const int nv = run->nv, rows = 2 * run->contacts;
    const double *block = run->delassus + 2 * contact * rows + 2 * contact;
    const double slip = carom_dot(nv, run->terms.tangent + contact * nv, run->y + nv);
    const carom_contact_problem problem = {.tangential = {block[rows + 1], 0, 0},
                                           .coupling = {block[1], 0},
                                           .normal = block[0],
                                           .friction = run->system->friction[contact],
                                           .velocity = {{slip, 0}, 0}};
    carom_contact_options options = carom_contact_defaults();
    options.tangential = true;
    carom_contact_result result;
    const carom_status status = carom_contact_solve(&problem, &options, &result, error);
    if (status) return status;
    outcome->contacts = (uint64_t)1 << contact;
    outcome->index = 0;
    outcome->count = 1;
    outcome->solved = true;
    memset(outcome->impulse, 0, (size_t)rows * sizeof *outcome->impulse);
    outcome->impulse[2 * contact] = result.impulse.normal;
    outcome->impulse[2 * contact + 1] = result.impulse.tangent[0];
    const double *normal = run->response + 2 * contact * nv, *tangent = normal + nv;
    for (int j = 0; j < nv; j++)
        outcome->velocity[j] = run->y[nv + j] + result.impulse.normal * normal[j] + result.impulse.tangent[0] * tangent[j];
    return CAROM_OK;
}
