// SPDX-License-Identifier: Apache-2.0
// Outcome sets: the columns that every law's outcomes have, and how a row is filled.
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/impact.h"

static const char *const flag_names[] = {"unsolved", "energy-gain", "friction-ignored", "marginal", "adhesive", NULL};

static const carom_column columns[CAROM_OUTCOME_COLUMNS] = {
    [CAROM_OUTCOME_VELOCITY] = {"v_plus", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s, rad/s", "post-impact velocity", NULL},
    [CAROM_OUTCOME_NORMAL_IMPULSE] = {"normal_impulse", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "N s", "accumulated normal impulses",
                                      NULL},
    [CAROM_OUTCOME_TANGENT_IMPULSE] = {"tangent_impulse", CAROM_COLUMN_REAL, CAROM_WIDTH_TANGENTS, "N s", "accumulated tangential impulses",
                                       NULL},
    [CAROM_OUTCOME_NORMAL_VELOCITY] = {"normal_velocity", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "m/s", "Jn v_plus, positive opening",
                                       NULL},
    [CAROM_OUTCOME_TANGENT_VELOCITY] = {"tangent_velocity", CAROM_COLUMN_REAL, CAROM_WIDTH_TANGENTS, "m/s", "Jt v_plus", NULL},
    [CAROM_OUTCOME_ENERGY_RATIO] = {"energy_ratio", CAROM_COLUMN_REAL, 1, "", "kinetic energy after over before", NULL},
    [CAROM_OUTCOME_WORD] = {"word", CAROM_COLUMN_CONTACTS, 1, "", "contacts that acted, in order", NULL},
    [CAROM_OUTCOME_STEPS] = {"steps", CAROM_COLUMN_INTEGER, 1, "", "impact steps taken", NULL},
    [CAROM_OUTCOME_TERMINATED] = {"terminated", CAROM_COLUMN_BOOLEAN, 1, "", "no contact approaches any more", NULL},
    [CAROM_OUTCOME_FLAGS] = {"flags", CAROM_COLUMN_FLAGS, 1, "", "what to know about this outcome", flag_names},
};

const carom_column *carom_outcome_columns(void) { return columns; }

carom_status carom_outcomes_create(const carom_impact *impact, const carom_column *own, int own_count, carom_table **outcomes,
                                   carom_error *error) {
    const carom_sizes sizes = carom_impact_sizes(impact);
    return carom_table_create(columns, CAROM_OUTCOME_COLUMNS, own, own_count, &sizes, outcomes, error);
}

// Splits a contact-major vector into normal and tangential parts, with positive zeros.
static void split(const carom_impact *impact, const double *vector, double *normal, double *tangent) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int dim = data->tangent_dim;
    for (int i = 0; i < data->contacts; i++) {
        const double *part = vector + i * (1 + dim);
        normal[i] = part[0] + 0.0;
        for (int k = 0; k < dim; k++) tangent[i * dim + k] = part[1 + k] + 0.0;
    }
}

// Jn v and Jt v; in contact space v is the contact velocity itself.
static void contact_velocities(const carom_impact *impact, const double *v, double *normal, double *tangent) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    if (!carom_impact_has_system(impact)) {
        split(impact, v, normal, tangent);
        return;
    }
    carom_multiply(data->contacts, data->nv, data->normal, v, normal);
    carom_multiply(data->contacts * data->tangent_dim, data->nv, data->tangent, v, tangent);
}

static bool all_separate(const carom_impact *impact, const double *normal) {
    for (int i = 0; i < carom_impact_get_data(impact)->contacts; i++)
        if (normal[i] < carom_impact_approach_limit(impact)) return false;
    return true;
}

carom_status carom_outcomes_add(carom_table *outcomes, const carom_impact *impact, const double *v_plus, const double *impulse,
                                int64_t steps, int64_t flags, carom_error *error) {
    const carom_status status = carom_table_add_row(outcomes, error);
    if (status) return status;
    const int nv = carom_impact_get_data(impact)->nv;
    double *v = carom_table_reals(outcomes, CAROM_OUTCOME_VELOCITY);
    for (int k = 0; k < nv; k++) v[k] = v_plus[k] + 0.0;
    if (impulse)
        split(impact, impulse, carom_table_reals(outcomes, CAROM_OUTCOME_NORMAL_IMPULSE),
              carom_table_reals(outcomes, CAROM_OUTCOME_TANGENT_IMPULSE));
    double *normal = carom_table_reals(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    contact_velocities(impact, v, normal, carom_table_reals(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY));
    const double before = carom_impact_initial_energy(impact);
    if (before > 0) *carom_table_reals(outcomes, CAROM_OUTCOME_ENERGY_RATIO) = carom_impact_kinetic_energy(impact, v) / before;
    *carom_table_integers(outcomes, CAROM_OUTCOME_STEPS) = steps;
    *carom_table_integers(outcomes, CAROM_OUTCOME_TERMINATED) = all_separate(impact, normal);
    *carom_table_integers(outcomes, CAROM_OUTCOME_FLAGS) = flags;
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------ many at once

// The cells of the first of the rows that were added last.
static double *first_reals(carom_table *outcomes, const carom_outcome_rows *rows, int column) {
    const int width = carom_column_width(carom_table_column(outcomes, column), carom_table_sizes(outcomes));
    return carom_table_reals(outcomes, column) - (size_t)(rows->count - 1) * (size_t)width;
}

static int64_t *first_integers(carom_table *outcomes, const carom_outcome_rows *rows, int column) {
    return carom_table_integers(outcomes, column) - (rows->count - 1);
}

// One component of a column of cells `width` apart, with positive zeros.
static void write_component(const carom_outcome_rows *rows, const double *values, double *cells, int width) {
    for (int64_t i = 0; i < rows->count; i++) cells[i * width] = values[i] + 0.0;
}

// values_i = sum_k row_k v_k,i in the order of carom_dot.
static void multiply_row(const carom_outcome_rows *rows, int nv, const double *row, double *values) {
    for (int64_t i = 0; i < rows->count; i++) values[i] = 0;
    for (int k = 0; k < nv; k++) {
        const double *v = rows->v_plus + (size_t)k * rows->stride;
        for (int64_t i = 0; i < rows->count; i++) values[i] += row[k] * v[i];
    }
}

void carom_outcome_velocities(const carom_impact *impact, const carom_outcome_rows *rows, double *v_plus) {
    const int nv = carom_impact_get_data(impact)->nv;
    for (int k = 0; k < nv; k++) write_component(rows, rows->v_plus + (size_t)k * rows->stride, v_plus + k, nv);
}

static void write_impulses(carom_table *outcomes, const carom_impact_data *data, const carom_outcome_rows *rows) {
    const int dim = data->tangent_dim;
    double *normal = first_reals(outcomes, rows, CAROM_OUTCOME_NORMAL_IMPULSE);
    double *tangent = first_reals(outcomes, rows, CAROM_OUTCOME_TANGENT_IMPULSE);
    for (int i = 0; i < data->contacts; i++) {
        const double *part = rows->impulse + (size_t)(i * (1 + dim)) * rows->stride;
        write_component(rows, part, normal + i, data->contacts);
        for (int k = 0; k < dim; k++)
            write_component(rows, part + (size_t)(1 + k) * rows->stride, tangent + i * dim + k, data->contacts * dim);
    }
}

// One row of contact velocities; in contact space v is the contact velocity itself.
static void write_velocity(const carom_impact *impact, const carom_outcome_rows *rows, const double *jacobian, int jacobian_row, int row,
                           double *scratch, double *cells, int width) {
    const double *values = rows->v_plus + (size_t)row * rows->stride;
    if (carom_impact_has_system(impact)) {
        const int nv = carom_impact_get_data(impact)->nv;
        multiply_row(rows, nv, jacobian + jacobian_row * nv, scratch);
        values = scratch;
    }
    write_component(rows, values, cells, width);
}

static void write_velocities(carom_table *outcomes, const carom_impact *impact, const carom_outcome_rows *rows, double *scratch) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int dim = data->tangent_dim, tangents = data->contacts * dim;
    double *normal = first_reals(outcomes, rows, CAROM_OUTCOME_NORMAL_VELOCITY);
    double *tangent = first_reals(outcomes, rows, CAROM_OUTCOME_TANGENT_VELOCITY);
    for (int i = 0; i < data->contacts; i++) {
        write_velocity(impact, rows, data->normal, i, i * (1 + dim), scratch, normal + i, data->contacts);
        for (int k = i * dim; k < (i + 1) * dim; k++)
            write_velocity(impact, rows, data->tangent, k, 1 + i + k, scratch, tangent + k, tangents);
    }
}

// v'Mv/2 over the energy before, in the order of carom_impact_kinetic_energy.
static void write_energies(carom_table *outcomes, const carom_impact *impact, const carom_outcome_rows *rows, double *scratch) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double before = carom_impact_initial_energy(impact);
    double *ratio = first_reals(outcomes, rows, CAROM_OUTCOME_ENERGY_RATIO);
    if (!(before > 0)) return;
    if (!carom_impact_has_system(impact)) {
        const double *v = first_reals(outcomes, rows, CAROM_OUTCOME_VELOCITY);
        for (int64_t i = 0; i < rows->count; i++) ratio[i] = carom_impact_kinetic_energy(impact, v + i * data->nv) / before;
        return;
    }
    for (int64_t i = 0; i < rows->count; i++) ratio[i] = 0;
    for (int k = 0; k < data->nv; k++) {
        const double *v = rows->v_plus + (size_t)k * rows->stride;
        multiply_row(rows, data->nv, data->mass + k * data->nv, scratch);
        for (int64_t i = 0; i < rows->count; i++) ratio[i] += v[i] * scratch[i];
    }
    for (int64_t i = 0; i < rows->count; i++) ratio[i] = 0.5 * ratio[i] / before;
}

static void write_counts(carom_table *outcomes, const carom_impact *impact, const carom_outcome_rows *rows) {
    const int contacts = carom_impact_get_data(impact)->contacts;
    const double limit = carom_impact_approach_limit(impact);
    int64_t *terminated = first_integers(outcomes, rows, CAROM_OUTCOME_TERMINATED);
    memcpy(first_integers(outcomes, rows, CAROM_OUTCOME_STEPS), rows->steps, (size_t)rows->count * sizeof *rows->steps);
    memcpy(first_integers(outcomes, rows, CAROM_OUTCOME_FLAGS), rows->flags, (size_t)rows->count * sizeof *rows->flags);
    for (int64_t i = 0; i < rows->count; i++) terminated[i] = 1;
    for (int c = 0; c < contacts; c++) {
        const double *normal = first_reals(outcomes, rows, CAROM_OUTCOME_NORMAL_VELOCITY) + c;
        for (int64_t i = 0; i < rows->count; i++) terminated[i] &= !(normal[i * contacts] < limit);
    }
}

carom_status carom_outcomes_add_rows(carom_table *outcomes, const carom_impact *impact, const carom_outcome_rows *rows,
                                     carom_error *error) {
    if (rows->count < 1) return CAROM_OK;
    const carom_impact_data *data = carom_impact_get_data(impact);
    double *scratch = malloc((size_t)rows->count * sizeof *scratch);
    if (!scratch) return carom_fail_memory(error, "outcome set");
    const carom_status status = carom_table_add_rows(outcomes, rows->count, error);
    if (!status) {
        carom_outcome_velocities(impact, rows, first_reals(outcomes, rows, CAROM_OUTCOME_VELOCITY));
        write_impulses(outcomes, data, rows);
        write_velocities(outcomes, impact, rows, scratch);
        write_energies(outcomes, impact, rows, scratch);
        write_counts(outcomes, impact, rows);
    }
    free(scratch);
    return status;
}
