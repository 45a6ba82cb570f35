// SPDX-License-Identifier: Apache-2.0
// Outcome sets: the columns that every law's outcomes have, and how a row is filled.
#include "base/dense.h"
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
