// SPDX-License-Identifier: Apache-2.0
// Outcome sets: the columns that every law's outcomes have, and how a row is filled.
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/impact.h"

// In the order of the CAROM_FLAG bits.
static const char *const flag_names[] = {"unsolved", "energy-gain", "friction-ignored", "marginal", "adhesive", "approximate", NULL};

// What every outcome reports, in the order of carom_outcome_column.
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
    // One row alone is a vector, and costs less as one.
    if (rows->stride == 1) {
        *values = carom_dot(nv, row, rows->v_plus);
        return;
    }
    for (int64_t i = 0; i < rows->count; i++) values[i] = 0;
    for (int k = 0; k < nv; k++) {
        const double *v = rows->v_plus + (size_t)k * rows->stride;
        for (int64_t i = 0; i < rows->count; i++) values[i] += row[k] * v[i];
    }
}

// Structure of arrays to rows, with positive zeros.
void carom_outcome_velocities(const carom_impact *impact, const carom_outcome_rows *rows, double *v_plus) {
    const int nv = carom_impact_get_data(impact)->nv;
    for (int k = 0; k < nv; k++) write_component(rows, rows->v_plus + (size_t)k * rows->stride, v_plus + k, nv);
}

// Fills the common columns of the rows that were added last. `scratch` has room for one number a row.
static void fill_rows(carom_table *outcomes, const carom_impact *impact, const carom_outcome_rows *rows, double *scratch) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int nv = data->nv, contacts = data->contacts, dim = data->tangent_dim, tangents = contacts * dim;
    const bool has_system = carom_impact_has_system(impact);
    double *velocity = first_reals(outcomes, rows, CAROM_OUTCOME_VELOCITY);
    carom_outcome_velocities(impact, rows, velocity);

    // Impulses, from contact-major order to normal and tangential parts. Without them the cells stay NaN.
    double *impulses[] = {first_reals(outcomes, rows, CAROM_OUTCOME_NORMAL_IMPULSE),
                          first_reals(outcomes, rows, CAROM_OUTCOME_TANGENT_IMPULSE)};
    for (int r = 0; rows->impulse && r < contacts + tangents; r++) {
        const int contact = r / (1 + dim), k = r % (1 + dim);
        const double *values = rows->impulse + (size_t)r * rows->stride;
        if (k == 0)
            write_component(rows, values, impulses[0] + contact, contacts);
        else
            write_component(rows, values, impulses[1] + contact * dim + k - 1, tangents);
    }

    // Contact velocities Jn v and Jt v; in contact space v is the contact velocity itself.
    double *normal = first_reals(outcomes, rows, CAROM_OUTCOME_NORMAL_VELOCITY);
    double *tangent = first_reals(outcomes, rows, CAROM_OUTCOME_TANGENT_VELOCITY);
    for (int r = 0; r < contacts + tangents; r++) {
        const int contact = r / (1 + dim), k = r % (1 + dim), row = k ? contact * dim + k - 1 : contact;
        const double *values = has_system ? scratch : rows->v_plus + (size_t)r * rows->stride;
        if (has_system) multiply_row(rows, nv, (k ? data->tangent : data->normal) + (size_t)row * (size_t)nv, scratch);
        write_component(rows, values, (k ? tangent : normal) + row, k ? tangents : contacts);
    }

    // v'Mv/2 over the energy before, in the order of carom_impact_kinetic_energy.
    const double before = carom_impact_initial_energy(impact);
    double *ratio = first_reals(outcomes, rows, CAROM_OUTCOME_ENERGY_RATIO);
    if (before > 0 && has_system && rows->count > 1) {
        for (int64_t i = 0; i < rows->count; i++) ratio[i] = 0;
        for (int k = 0; k < nv; k++) {
            const double *v = rows->v_plus + (size_t)k * rows->stride;
            multiply_row(rows, nv, data->mass + (size_t)k * (size_t)nv, scratch);
            for (int64_t i = 0; i < rows->count; i++) ratio[i] += v[i] * scratch[i];
        }
        for (int64_t i = 0; i < rows->count; i++) ratio[i] = 0.5 * ratio[i] / before;
    } else if (before > 0) {
        for (int64_t i = 0; i < rows->count; i++) ratio[i] = carom_impact_kinetic_energy(impact, velocity + i * nv) / before;
    }

    // A row has terminated when no contact approaches any more.
    const double limit = carom_impact_approach_limit(impact);
    int64_t *terminated = first_integers(outcomes, rows, CAROM_OUTCOME_TERMINATED);
    for (int64_t i = 0; i < rows->count; i++) terminated[i] = 1;
    for (int c = 0; c < contacts; c++)
        for (int64_t i = 0; i < rows->count; i++) terminated[i] &= !(normal[i * contacts + c] < limit);
    memcpy(first_integers(outcomes, rows, CAROM_OUTCOME_STEPS), rows->steps, (size_t)rows->count * sizeof *rows->steps);
    memcpy(first_integers(outcomes, rows, CAROM_OUTCOME_FLAGS), rows->flags, (size_t)rows->count * sizeof *rows->flags);
}

carom_status carom_outcomes_add(carom_table *outcomes, const carom_impact *impact, const double *v_plus, const double *impulse,
                                int64_t steps, int64_t flags, carom_error *error) {
    const carom_outcome_rows row = {.count = 1, .stride = 1, .v_plus = v_plus, .impulse = impulse, .steps = &steps, .flags = &flags};
    // One row is a batch of one: the bits are the same by construction.
    double scratch;
    const carom_status status = carom_table_add_rows(outcomes, 1, error);
    if (!status) fill_rows(outcomes, impact, &row, &scratch);
    return status;
}

carom_status carom_outcomes_add_rows(carom_table *outcomes, const carom_impact *impact, const carom_outcome_rows *rows,
                                     carom_error *error) {
    if (rows->count < 1) return CAROM_OK;
    double *scratch = malloc((size_t)rows->count * sizeof *scratch);
    if (!scratch) return carom_fail_memory(error, "outcome set");
    const carom_status status = carom_table_add_rows(outcomes, rows->count, error);
    if (!status) fill_rows(outcomes, impact, rows, scratch);
    free(scratch);
    return status;
}
