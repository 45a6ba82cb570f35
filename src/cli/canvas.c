// SPDX-License-Identifier: Apache-2.0
// Pictures that commands make of their own numbers.
#include "cli/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_canvas_series(cli_canvas *c, const char *label, carom_plot_style style, int64_t capacity) {
    const int i = c->count++;
    c->x[i] = carom_arena_take(&c->arena, (size_t)capacity, sizeof(double));
    c->y[i] = carom_arena_take(&c->arena, (size_t)capacity, sizeof(double));
    c->capacity[i] = c->arena.failed ? 0 : capacity;
    c->series[i] = (carom_plot_series){label, style, 0, c->x[i], c->y[i]};
}

void cli_canvas_law(cli_canvas *c, const char *law) { c->laws[c->count - 1] = law; }

void cli_canvas_look(cli_canvas *c, int look) { c->chosen[c->count - 1] = look + 1; }

void cli_canvas_point(cli_canvas *c, double x, double y) {
    const int i = c->count - 1;
    if (c->series[i].count == c->capacity[i]) return;
    c->x[i][c->series[i].count] = x;
    c->y[i][c->series[i].count++] = y;
}

void cli_canvas_segment(cli_canvas *c, double x0, double y0, double x1, double y1) {
    cli_canvas_point(c, x0, y0);
    cli_canvas_point(c, x1, y1);
    cli_canvas_point(c, NAN, NAN);
}

carom_status cli_canvas_write(cli_canvas *c, carom_plot plot, const char *directory, const char *name, json_t *files, carom_error *error) {
    static const char *const endings[] = {".png", ".svg"};
    carom_status status = c->arena.failed ? carom_fail_memory(error, "picture") : CAROM_OK;
    plot.series = c->series;
    plot.series_count = c->count;
    bool with_looks = false;
    int looks[CLI_MOST_SERIES];
    for (int i = 0; i < c->count; i++) with_looks = with_looks || c->laws[i] || c->chosen[i];
    carom_plot_assign_looks(c->count, c->laws, looks);
    for (int i = 0; i < c->count; i++)
        if (c->chosen[i]) looks[i] = c->chosen[i] - 1;
    for (int i = 0; i < 2 && !status; i++) {
        const size_t size = strlen(name) + strlen(endings[i]) + 1;
        char *file = malloc(size), *path = NULL;
        if (file) snprintf(file, size, "%s%s", name, endings[i]);
        if (file) path = cli_join_path(directory, file);
        status = path ? (with_looks ? carom_plot_write_looks(&plot, looks, path, error) : carom_plot_write(&plot, path, error))
                      : carom_fail_memory(error, "picture");
        if (!status) cli_note_file(files, path);
        free(path);
        free(file);
    }
    carom_arena_free(&c->arena);
    return status;
}
