// SPDX-License-Identifier: Apache-2.0
// Polyhedra as text for programs that take sets of velocities as reset sets.
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "carom/io.h"
#include "carom/temporary.h"

static const carom_file_kind kind = {"a text of polyhedra that begins with '# carom polyhedra'", "# carom polyhedra"};

static void print_coordinates(FILE *file, const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    fputs("# coordinates [m/s]:", file);
    for (int i = 0; i < data->contacts; i++) {
        fprintf(file, " Jn.%s", data->names[i]);
        for (int p = 0; p < data->tangent_dim; p++) fprintf(file, p ? " Jt.%s.2" : " Jt.%s", data->names[i]);
    }
    fputc('\n', file);
}

static void print_rows(FILE *file, const char *name, int count, int width, const double *rows) {
    fprintf(file, "%s %d\n", name, count);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < width; j++) fprintf(file, "%.17g%c", rows[i * width + j], j + 1 < width ? ' ' : '\n');
}

static void print_piece(FILE *file, const carom_polyhedra *set, int index) {
    const carom_piece *piece = &set->pieces[index];
    fprintf(file, "piece %d dimension %d\nvertices %d\n", index + 1, piece->dimension, piece->vertices);
    for (int i = 0; i < piece->vertices * set->n; i++) fprintf(file, "%s%c", piece->exact[i], (i + 1) % set->n ? ' ' : '\n');
    print_rows(file, "equalities", piece->equalities, set->n + 1, piece->equality);
    print_rows(file, "inequalities", piece->inequalities, set->n + 1, piece->inequality);
}

static void print_set(FILE *file, const char *name, const carom_polyhedra *set) {
    fprintf(file, "%s %d pieces\n", name, set->count);
    for (int i = 0; i < set->count; i++) print_piece(file, set, i);
}

static void print_document(FILE *file, const carom_scene *scene, const carom_polyhedra *set, const carom_polyhedra *outer) {
    fprintf(file, "# carom polyhedra 1 (carom %s)\n# scene: %s\n# scene hash: %s\n", CAROM_VERSION, carom_scene_name(scene),
            carom_scene_hash(scene));
    print_coordinates(file, carom_scene_impact(scene));
    fputs("# vertices: fractions, one point a line; equalities and inequalities: a_1 ... a_n b with a.u + b = 0 and >= 0\n", file);
    print_set(file, "set", set);
    if (outer) print_set(file, "outer", outer);
}

// The host program may have a locale with a decimal comma.
static carom_status print_file(FILE *file, const char *path, const carom_scene *scene, const carom_polyhedra *set,
                               const carom_polyhedra *outer, carom_error *error) {
    const locale_t neutral = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!neutral) return carom_fail_memory(error, path);
    const locale_t callers = uselocale(neutral);
    print_document(file, scene, set, outer);
    uselocale(callers);
    freelocale(neutral);
    if (!fflush(file) && !ferror(file)) return CAROM_OK;
    return carom_fail(error, CAROM_IO_FAILED, "%s: the file could not be written: %s", path, strerror(errno));
}

carom_status carom_polyhedra_check(const char *path, carom_error *error) { return carom_temporary_check(path, &kind, error); }

carom_status carom_polyhedra_write(const char *path, const carom_scene *scene, const carom_polyhedra *set, const carom_polyhedra *outer,
                                   carom_error *error) {
    carom_temporary temporary;
    int descriptor;
    carom_status status = carom_temporary_create(path, &kind, &temporary, &descriptor, error);
    if (status) return status;
    FILE *file = fdopen(descriptor, "w");
    if (!file) {
        close(descriptor);
        status = carom_fail_memory(error, path);
    } else {
        status = print_file(file, path, scene, set, outer, error);
        if (fclose(file) && !status)
            status = carom_fail(error, CAROM_IO_FAILED, "%s: the file could not be written: %s", path, strerror(errno));
    }
    if (!status) status = carom_temporary_commit(&temporary, error);
    carom_temporary_discard(&temporary);
    return status;
}
