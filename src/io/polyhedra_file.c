// SPDX-License-Identifier: Apache-2.0
// Polyhedra as text for programs that take sets of velocities as reset sets.
#include "carom/functional.h"
#include "carom/io.h"
#include "carom/temporary.h"

static const carom_file_kind kind = {"a text of polyhedra that begins with '# carom polyhedra'", "# carom polyhedra", false, ".txt"};

// What a file is printed from.
typedef struct document {
    const carom_scene *scene;
    const carom_polyhedra *set, *outer;
} document;

// A matrix by its name, with a line for each row.
static void print_rows(FILE *file, const char *name, int count, int width, const double *rows) {
    fprintf(file, "%s %d\n", name, count);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < width; j++) fprintf(file, "%.17g%c", rows[i * width + j], j + 1 < width ? ' ' : '\n');
}

// The pieces of a set, each with its vertices and constraints.
static void print_set(FILE *file, const char *name, const carom_polyhedra *set) {
    fprintf(file, "%s %d pieces\n", name, set->count);
    for (int k = 0; k < set->count; k++) {
        const carom_piece *piece = &set->pieces[k];
        fprintf(file, "piece %d dimension %d\nvertices %d\n", k + 1, piece->dimension, piece->vertices);
        for (int i = 0; i < piece->vertices * set->n; i++) fprintf(file, "%s%c", piece->exact[i], (i + 1) % set->n ? ' ' : '\n');
        print_rows(file, "equalities", piece->equalities, set->n + 1, piece->equality);
        print_rows(file, "inequalities", piece->inequalities, set->n + 1, piece->inequality);
    }
}

static carom_status print_document(FILE *file, const void *content, carom_error *error) {
    const document *from = content;
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(from->scene));
    carom_axes axes;
    const carom_status status = carom_axes_create(data->contacts, data->tangent_dim, data->names, &axes, error);
    if (status) return status;
    fprintf(file, "# carom polyhedra 1 (carom %s)\n# scene: %s\n# scene hash: %s\n# coordinates [m/s]:", CAROM_VERSION,
            carom_scene_name(from->scene), carom_scene_hash(from->scene));
    // Contact space has the normal of each contact, then its tangents; the axes begin with all normals.
    for (int i = 0; i < data->contacts; i++)
        for (int p = 0; p <= data->tangent_dim; p++)
            fprintf(file, " %s", axes.names[p ? data->contacts + i * data->tangent_dim + p - 1 : i]);
    carom_axes_free(&axes);
    fputs("\n# vertices: fractions, one point a line; equalities and inequalities: a_1 ... a_n b with a.u + b = 0 and >= 0\n", file);
    print_set(file, "set", from->set);
    if (from->outer) print_set(file, "outer", from->outer);
    return CAROM_OK;
}

carom_status carom_polyhedra_check(const char *path, carom_error *error) { return carom_temporary_check(path, &kind, error); }

carom_status carom_polyhedra_write(const char *path, const carom_scene *scene, const carom_polyhedra *set, const carom_polyhedra *outer,
                                   carom_error *error) {
    return carom_text_write(path, &kind, print_document, &(document){scene, set, outer}, error);
}
