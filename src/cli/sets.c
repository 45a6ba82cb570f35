// SPDX-License-Identifier: Apache-2.0
// Exact sets by which a command measures other outcomes.
#include "cli/sets.h"

carom_status cli_solve_exact(const cli_arguments *arguments, const carom_scene *scene, const carom_control *control,
                             carom_result_writer *writer, carom_exact_set **set, carom_error *error) {
    const carom_law *law = carom_law_find(arguments->registry, "halm-posa-exact");
    const cli_question question = {.arguments = arguments, .scene = scene, .law = law, .control = control, .writer = writer};
    carom_exact_options options = carom_exact_defaults();
    carom_answer answer = {NULL, NULL};
    *set = NULL;
    if (!carom_exact_available()) return carom_exact_solve(carom_scene_impact(scene), &options, control, set, error);
    carom_status status = carom_scene_apply(scene, law->options, law->option_count, &options, error);
    options.mode = CAROM_EXACT_UNION;
    options.set = set;
    if (!status) status = cli_resolve_law(&question, &options, &answer, error);
    carom_answer_free(&answer);
    return status;
}

carom_status cli_set_create(const carom_polyhedra *polyhedra, int stride, carom_set **set, carom_error *error) {
    const int n = polyhedra->n, dimension = n / stride;
    size_t vertices = 0;
    for (int i = 0; i < polyhedra->count; i++) vertices += (size_t)polyhedra->pieces[i].vertices;
    carom_arena arena = {0};
    int64_t *starts = carom_arena_take(&arena, (size_t)polyhedra->count + 1, sizeof *starts);
    double *points = carom_arena_take(&arena, vertices * (size_t)dimension, sizeof *points), *next = points;
    carom_status status = arena.failed ? carom_fail_memory(error, "exact set") : CAROM_OK;
    for (int i = 0; i < polyhedra->count && !status; i++) {
        const carom_piece *piece = &polyhedra->pieces[i];
        starts[i + 1] = starts[i] + piece->vertices;
        for (int k = 0; k < piece->vertices; k++)
            for (int j = 0; j < n; j += stride) *next++ = piece->contact_velocity[k * n + j];
    }
    if (!status) status = carom_set_create(dimension, polyhedra->count, starts, points, set, error);
    carom_arena_free(&arena);
    return status;
}
