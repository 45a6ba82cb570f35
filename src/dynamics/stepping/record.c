// SPDX-License-Identifier: Apache-2.0
// What a run reports of states and impacts.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/stepping/columns.h"

// Rows of states that are handed on at once.
enum { BLOCK_ROWS = 1024 };

carom_status stepping_name(stepping *run, const carom_touch *touch, int *index, carom_error *error) {
    const stepping_key key = stepping_key_of(touch);
    for (*index = 0; *index < run->named_count; ++*index)
        if (!memcmp(&run->named[*index], &key, sizeof key)) return CAROM_OK;
    if (run->named_count == run->named_room) {
        const int room = run->named_room ? 2 * run->named_room : 16;
        stepping_key *grown = realloc(run->named, (size_t)room * sizeof *grown);
        if (!grown) return carom_fail_memory(error, "contacts");
        run->named = grown;
        run->named_room = room;
    }
    char name[CAROM_MAX_NAME + 1];
    run->mechanism->name(run->mechanism->self, touch, name, sizeof name);
    carom_status status = carom_table_add_row(run->call->names, error);
    if (!status) status = carom_table_set_text(run->call->names, CAROM_MOTION_NAME, name, error);
    if (!status) run->named[run->named_count++] = key;
    return status;
}

// The closed constraints of the problem, as indices of names.
static carom_status set_contacts(stepping *run, carom_table *table, int column, carom_error *error) {
    carom_status status = CAROM_OK;
    int *list = malloc(((size_t)run->problem.contacts + 1) * sizeof *list);
    if (!list) return carom_fail_memory(error, "contacts");
    for (int i = 0; i < run->problem.contacts && !status; i++) status = stepping_name(run, &run->problem.contact[i].touch, &list[i], error);
    if (!status) status = carom_table_set_list(table, column, list, run->problem.contacts, error);
    free(list);
    return status;
}

carom_status stepping_fill_state(stepping *run, carom_table *table, carom_error *error) {
    const stepping_problem *problem = &run->problem;
    stepping_look(run);
    *carom_table_reals(table, STATE_TIME) = run->t;
    memcpy(carom_table_reals(table, STATE_POSITION), run->q, (size_t)run->nq * sizeof *run->q);
    memcpy(carom_table_reals(table, STATE_VELOCITY), run->v, run->n * sizeof *run->v);
    const struct {
        int column;
        double value;
    } energies[] = {{STATE_KINETIC, run->terms.kinetic},
                    {STATE_POTENTIAL, run->terms.potential},
                    {STATE_ENERGY, run->terms.kinetic + run->terms.potential},
                    {STATE_ACTUATORS, run->work.actuators},
                    {STATE_RESISTANCE, run->work.resistance},
                    {STATE_FRICTION, run->work.friction},
                    {STATE_CONTACT, run->work.contact},
                    {STATE_IMPACT, run->work.impact}};
    for (size_t k = 0; k < sizeof energies / sizeof *energies; k++) *carom_table_reals(table, energies[k].column) = energies[k].value;
    carom_status status = set_contacts(run, table, STATE_CONTACTS, error);
    if (status || !problem->contacts) return status;
    // The force on the second geom in the world, J'p / h of the last part of the step; where and how far from its surface.
    double *records = malloc((size_t)problem->contacts * FORCE_FIELDS * sizeof *records);
    if (!records) return carom_fail_memory(error, "contacts");
    for (int i = 0; i < problem->contacts; i++) {
        const stepping_contact *contact = &problem->contact[i];
        const double *p = problem->impulse + contact->row;
        double *record = records + i * FORCE_FIELDS;
        record[FORCE_NORMAL] = p[0] / run->h + 0.0;
        record[FORCE_GAP] = contact->touch.gap;
        for (int k = 0; k < 3; k++) {
            double force = p[0] * contact->touch.axes[0][k];
            for (int a = 0; a < contact->tangents; a++)
                for (int b = 0; b < 2; b++) force += p[1 + a] * contact->turn[a][b] * contact->touch.axes[1 + b][k];
            const bool limit = contact->touch.kind == CAROM_TOUCH_LIMIT;
            record[FORCE_X + k] = limit ? NAN : force / run->h + 0.0;
            record[FORCE_POINT + k] = limit ? NAN : contact->touch.point[k];
        }
    }
    status = carom_table_set_series(table, STATE_FORCES, records, problem->contacts * FORCE_FIELDS, error);
    free(records);
    return status;
}

carom_status stepping_record_state(stepping *run, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int k = 0; k < run->record_count && !status; k++) {
        if (run->records[k] != run->step) continue;
        status = carom_table_add_row(run->call->recorded, error);
        if (!status) status = stepping_fill_state(run, run->call->recorded, error);
    }
    if (status || !run->states || run->step % run->options->every != 0) return status;
    status = carom_table_add_row(run->states, error);
    if (!status) status = stepping_fill_state(run, run->states, error);
    return status || carom_table_rows(run->states) < BLOCK_ROWS ? status : carom_motion_flush(run->call, run->states, error);
}

carom_status stepping_record_impact(stepping *run, double t, const double *q, const carom_motion_outcome *outcome, carom_error *error) {
    carom_table *table = run->call->impacts;
    const size_t m = (size_t)run->problem.contacts;
    carom_status status = carom_table_add_row(table, error);
    if (!status) status = set_contacts(run, table, IMPACT_CONTACTS, error);
    if (!status && outcome->index >= 0) status = carom_table_set_series(table, IMPACT_NORMAL, outcome->normal, (int)m, error);
    if (status) return status;
    double approach = 0;
    for (size_t i = 0; i < m; i++) approach = fmax(approach, -run->problem.contact[i].rate);
    *carom_table_reals(table, IMPACT_TIME) = t;
    *carom_table_reals(table, IMPACT_APPROACH) = approach;
    *carom_table_integers(table, IMPACT_OUTCOME) = outcome->index < 0 ? CAROM_NO_INTEGER : outcome->index;
    *carom_table_integers(table, IMPACT_OUTCOMES) = outcome->count;
    memcpy(carom_table_reals(table, IMPACT_POSITION), q, (size_t)run->nq * sizeof *q);
    memcpy(carom_table_reals(table, IMPACT_BEFORE), run->before, run->n * sizeof *run->before);
    memcpy(carom_table_reals(table, IMPACT_AFTER), run->v, run->n * sizeof *run->v);
    return CAROM_OK;
}
