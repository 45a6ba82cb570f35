// SPDX-License-Identifier: Apache-2.0
// Exact sets as commands measure other outcomes by them.
#include "cli/sets.h"

#include <stdlib.h>

static carom_status resolve(const cli_arguments *arguments, const carom_scene *scene, const carom_control *control,
                            carom_result_writer *writer, const carom_law *law, void *options, carom_error *error) {
    carom_answer answer = {NULL, NULL};
    carom_sink file;
    carom_status status = writer ? carom_result_writer_open_law(writer, law, options, &file, error) : CAROM_OK;
    const carom_law_call call = {carom_scene_impact(scene), options, arguments->registry, control, writer ? &file : NULL, NULL};
    if (!status) status = carom_law_resolve(law, &call, &answer, error);
    if (!status && writer) status = carom_result_writer_close_law(writer, answer.result, error);
    carom_answer_free(&answer);
    return status;
}

carom_status cli_solve_exact(const cli_arguments *arguments, const carom_scene *scene, const carom_control *control,
                             carom_result_writer *writer, carom_exact_set **set, carom_error *error) {
    const carom_law *law = carom_law_find(arguments->registry, "halm-posa-exact");
    carom_exact_options options = carom_exact_defaults();
    *set = NULL;
    if (!carom_exact_available()) return carom_exact_solve(carom_scene_impact(scene), &options, control, set, error);
    carom_status status = carom_scene_apply(scene, law->options, law->option_count, &options, error);
    options.mode = CAROM_EXACT_UNION;
    options.set = set;
    return status ? status : resolve(arguments, scene, control, writer, law, &options, error);
}

carom_status cli_set_create(const carom_polyhedra *polyhedra, int stride, carom_set **set, carom_error *error) {
    const int n = polyhedra->n, dimension = n / stride;
    int64_t vertices = 0;
    for (int i = 0; i < polyhedra->count; i++) vertices += polyhedra->pieces[i].vertices;
    int64_t *starts = calloc((size_t)polyhedra->count + 1, sizeof *starts);
    double *points = malloc((size_t)vertices * (size_t)dimension * sizeof *points + 1), *next = points;
    carom_status status = starts && points ? CAROM_OK : carom_fail_memory(error, "exact set");
    for (int i = 0; i < polyhedra->count && !status; i++) {
        const carom_piece *piece = &polyhedra->pieces[i];
        starts[i + 1] = starts[i] + piece->vertices;
        for (int k = 0; k < piece->vertices; k++)
            for (int j = 0; j < n; j += stride) *next++ = piece->contact_velocity[k * n + j];
    }
    if (!status) status = carom_set_create(dimension, polyhedra->count, starts, points, set, error);
    free(starts);
    free(points);
    return status;
}
