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
    double normal[INCLUSION_MOST_CONTACTS], tangent[INCLUSION_MOST_CONTACTS];
    carom_motion_outcome drawn = {.velocity = outcome->velocity, .normal = normal, .tangent = tangent};
    carom_status status = freeze(run, touching, &rows, &impact, error);
    if (!status)
        status = carom_motion_draw(run->call, &run->law, impact, run->options->seed + run->call->motion->member, index, &run->choices,
                                   &drawn, error);
    carom_impact_free(impact);
    if (status) return status;
    outcome->contacts = touching;
    outcome->index = drawn.index;
    outcome->count = drawn.count;
    outcome->solved = drawn.index >= 0 && drawn.complete;
    if (!outcome->solved) return CAROM_OK;
    // Its impulses in the rows of all contacts.
    memset(outcome->impulse, 0, 2 * (size_t)run->contacts * sizeof *outcome->impulse);
    for (int k = 0; k < rows.count; k++) {
        outcome->impulse[2 * rows.list[k]] = normal[k];
        outcome->impulse[2 * rows.list[k] + 1] = tangent[k];
    }
    if (carom_all_finite(2 * (size_t)run->contacts, outcome->impulse)) return CAROM_OK;
    return carom_fail(error, CAROM_UNSUPPORTED, "law: '%s' leaves impulses open, which inclusion accumulates", run->law.law->name);
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
