// SPDX-License-Identifier: Apache-2.0
// Impacts: collisions by a law of the toolkit, and impacts without collision.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/inclusion/inclusion.h"

// ---------------------------------------------------------------------------------------------------------- collisions

// The contacts that take part, with their rows of the impact's data.
typedef struct frozen_rows {
    int count;
    int list[INCLUSION_MOST_CONTACTS];
    double friction[INCLUSION_MOST_CONTACTS], restitution[INCLUSION_MOST_CONTACTS];
    const char *names[INCLUSION_MOST_CONTACTS];
} frozen_rows;

// The impact of the touching contacts at the present state; its arrays are in `rows` and the scratch memory.
static carom_status freeze(const inclusion *run, uint64_t touching, frozen_rows *rows, carom_impact **impact, carom_error *error) {
    const size_t nv = (size_t)run->nv;
    const char *const *names = carom_impact_get_data(run->call->motion->impact)->names;
    // Rows of J are packed into the scratch memory.
    double *normal = run->work, *tangent = normal + (size_t)run->contacts * nv;
    rows->count = 0;
    for (int i = 0; i < run->contacts; i++) {
        if (!(touching & inclusion_bit(i))) continue;
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
    if (status) {
        carom_impact_free(impact);
        return status;
    }
    // One of the outcomes after which nothing approaches, chosen at random where there are several.
    const int64_t *terminated = carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED);
    const int64_t found = carom_table_rows(answer.outcomes);
    outcome->index = -1;
    outcome->count = 0;
    for (int64_t i = 0; i < found; i++) outcome->count += terminated[i];
    int64_t left = outcome->count > 1 ? (int64_t)(carom_stream_uniform(&run->choices) * (double)outcome->count) : 0;
    for (int64_t i = 0; i < found && outcome->index < 0; i++)
        if (terminated[i] && left-- == 0) outcome->index = i;
    outcome->solved = outcome->index >= 0;
    if (outcome->solved) {
        // Its velocity, and its impulses in the rows of all contacts.
        const size_t nv = (size_t)run->nv, row = (size_t)outcome->index;
        const double *velocity = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY) + row * nv;
        const double *normal = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_IMPULSE) + row * (size_t)rows.count;
        const double *tangent = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_TANGENT_IMPULSE) + row * (size_t)rows.count;
        memcpy(outcome->velocity, velocity, nv * sizeof *velocity);
        memset(outcome->impulse, 0, 2 * (size_t)run->contacts * sizeof *outcome->impulse);
        for (int k = 0; k < rows.count; k++) {
            outcome->impulse[2 * rows.list[k]] = normal[k];
            outcome->impulse[2 * rows.list[k] + 1] = tangent[k];
        }
        if (!carom_all_finite(2 * (size_t)run->contacts, outcome->impulse))
            status = carom_fail(error, CAROM_UNSUPPORTED, "law: '%s' leaves impulses open, which inclusion accumulates", run->law->name);
    }
    carom_answer_free(&answer);
    carom_impact_free(impact);
    return status;
}

// --------------------------------------------------------------------------------------------------- without collision

carom_status inclusion_jam(inclusion *run, int contact, inclusion_outcome *outcome, carom_error *error) {
    const int nv = run->nv, rows = 2 * run->contacts;
    // Routh's method on the contact's block of W, from its slip without approach.
    const double *block = run->delassus + 2 * contact * rows + 2 * contact;
    const carom_contact_problem problem = {.tangential = {block[rows + 1], 0, 0},
                                           .coupling = {block[1], 0},
                                           .normal = block[0],
                                           .friction = run->system->friction[contact],
                                           .velocity = {{inclusion_slip(run, contact), 0}, 0}};
    carom_contact_options options = carom_contact_defaults();
    options.tangential = true;
    carom_contact_result result;
    const carom_status status = carom_contact_solve(&problem, &options, &result, error);
    if (status) return status;
    outcome->contacts = inclusion_bit(contact);
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
