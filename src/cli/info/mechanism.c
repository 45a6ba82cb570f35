// SPDX-License-Identifier: Apache-2.0
// The parts of `carom info` that speak of the mechanism: what its velocities are of, and where its contacts are.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "cli/info/info.h"

enum {
    SHOWN_CONTACTS = 8,  // without --full
    ENTRY_SIZE = CAROM_MAX_NAME + 32,
};

// Coordinates below this share of the largest one are shown as zero.
#define ROUND_OFF 1e-12

// ---------------------------------------------------------------------------------------------------------------- JSON

// Rows of three numbers, null for those that are not known.
static json_t *places_json(const double *rows, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, carom_json_reals(rows + 3 * (size_t)i, 3));
    return list;
}

// Pairs of names, null for those that are not known.
static json_t *pairs_json(const char *const *names, int count) {
    if (!names) return json_null();
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_pack("[o, o]", carom_json_text(names[2 * i]), carom_json_text(names[2 * i + 1])));
    return list;
}

void cli_add_mechanism(json_t *document, const carom_impact_data *data) {
    static const char *const places[] = {"contact_points", "contact_normals", "contact_tangents",
                                         "contact_bodies", "contact_geoms",   "qpos"};
    json_t *units = data->velocity_turns ? json_array() : json_null();
    for (int i = 0; i < data->nv && data->velocity_turns; i++)
        json_array_append_new(units, json_string(data->velocity_turns[i] ? "rad/s" : "m/s"));
    json_object_set_new(document, "joints", cli_joints_json(data));
    json_object_set_new(document, "joint_units", units);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) json_object_set_new(document, places[i], json_null());
    const carom_contact_geometry *geometry = data->geometry;
    if (!geometry) return;
    const int contacts = data->contacts;
    json_object_set_new(document, "contact_points", places_json(geometry->points, contacts));
    json_object_set_new(document, "contact_normals", places_json(geometry->normals, contacts));
    json_object_set_new(document, "contact_tangents", places_json(geometry->tangents, contacts * data->tangent_dim));
    json_object_set_new(document, "contact_bodies", pairs_json(geometry->bodies, contacts));
    json_object_set_new(document, "contact_geoms", pairs_json(geometry->geoms, contacts));
    if (geometry->nq) json_object_set_new(document, "qpos", carom_json_reals(geometry->qpos, geometry->nq));
}

// ---------------------------------------------------------------------------------------------------------------- text

// "first - second", the world left out; empty where nothing is known.
static void write_bodies(const carom_contact_geometry *geometry, int contact, char text[ENTRY_SIZE]) {
    const char *first = geometry && geometry->bodies ? geometry->bodies[2 * contact] : NULL;
    const char *second = geometry && geometry->bodies ? geometry->bodies[2 * contact + 1] : NULL;
    const bool one = !first || !strcmp(first, "world");
    if (!second)
        snprintf(text, ENTRY_SIZE, "-");
    else if (one)
        snprintf(text, ENTRY_SIZE, "%s", second);
    else
        snprintf(text, ENTRY_SIZE, "%.50s - %.50s", first, second);
}

void cli_print_contacts(const carom_impact *impact, bool full) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const carom_contact_geometry *geometry = data->geometry;
    const int dim = data->tangent_dim, shown = full || data->contacts <= SHOWN_CONTACTS + 1 ? data->contacts : SHOWN_CONTACTS;
    // Columns are as wide as the longest name among the rows.
    int name_width = 7, body_width = 6;
    char bodies[ENTRY_SIZE];
    for (int i = 0; i < shown; i++) {
        write_bodies(geometry, i, bodies);
        name_width = (int)fmax(name_width, (double)strlen(data->names[i]));
        body_width = (int)fmax(body_width, (double)strlen(bodies));
    }
    printf("%-*s  ", name_width, "contact");
    if (geometry) printf("%-*s  %-26s  ", body_width, "bodies", "at x, y, z [m]");
    // Restitution has a column where there is any.
    const bool bounces = carom_max_abs((size_t)data->contacts, data->restitution) > 0;
    printf("%8s  %s%12s  %s\n", "friction", bounces ? "restitution  " : "", "normal [m/s]", "tangential [m/s]");
    // Coordinates that are round-off of the others are zero.
    double reach = 0;
    for (int i = 0; geometry && i < 3 * data->contacts; i++) reach = fmax(reach, fabs(geometry->points[i]));
    double u[3];  // normal, then tangential
    for (int i = 0; i < shown; i++) {
        // J v, or in contact space the velocity itself, contact-major.
        for (int c = 0; c <= dim; c++) {
            if (!carom_impact_has_system(impact))
                u[c] = data->velocity[i * (1 + dim) + c];
            else if (c == 0)
                u[c] = carom_dot(data->nv, data->normal + (size_t)i * (size_t)data->nv, data->velocity);
            else
                u[c] = carom_dot(data->nv, data->tangent + (size_t)(i * dim + c - 1) * (size_t)data->nv, data->velocity);
        }
        printf("%-*s  ", name_width, data->names[i]);
        if (geometry) {
            double at[3];
            char point[64] = "-";
            for (int k = 0; k < 3; k++) {
                at[k] = geometry->points[3 * (size_t)i + (size_t)k];
                if (fabs(at[k]) <= ROUND_OFF * reach) at[k] = 0;
            }
            if (!isnan(*at)) snprintf(point, sizeof point, "%.4g, %.4g, %.4g", at[0], at[1], at[2]);
            write_bodies(geometry, i, bodies);
            printf("%-*s  %-26s  ", body_width, bodies, point);
        }
        printf("%8.5g  ", data->friction[i]);
        if (bounces) printf("%11.5g  ", data->restitution[i]);
        printf("%12.6g  %.6g", cli_shown(impact, u[0]), cli_shown(impact, u[1]));
        if (dim == 2) printf(", %.6g", cli_shown(impact, u[2]));
        putchar('\n');
    }
    if (shown < data->contacts) printf("... and %d more (--full)\n", data->contacts - shown);
}

// A matrix by rows, with its name before the first.
static void print_matrix(const char *name, const double *A, int rows, int columns) {
    for (int i = 0; i < rows; i++) {
        printf("%-4s", i ? "" : name);
        for (int j = 0; j < columns; j++) printf(" %11.5g", A[(size_t)i * (size_t)columns + (size_t)j]);
        putchar('\n');
    }
}

void cli_print_matrices(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    putchar('\n');
    if (!carom_impact_has_system(impact)) {
        const int n = carom_impact_contact_size(impact);
        print_matrix("W", carom_impact_delassus(impact), n, n);
        return;
    }
    // The names of the columns, cut to their width.
    printf("    ");
    for (int j = 0; j < data->nv && data->velocity_names; j++) printf(" %11.11s", data->velocity_names[j]);
    putchar('\n');
    print_matrix("M", data->mass, data->nv, data->nv);
    print_matrix("Jn", data->normal, data->contacts, data->nv);
    print_matrix("Jt", data->tangent, data->contacts * data->tangent_dim, data->nv);
    print_matrix("v", data->velocity, 1, data->nv);
}
