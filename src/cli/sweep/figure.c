// SPDX-License-Identifier: Apache-2.0
// The picture of a sweep: extents of the normal velocities over one parameter, or a map of the mode lists over two.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/plot.h"
#include "cli/sweep/sweep.h"

enum { LABEL_SIZE = 128, MOST_LISTS = 8 };

// Lines closer than this share of the largest velocity lie on one another, as those of mirrored contacts do.
#define SAME_LINE 1e-9

// The least or largest normal velocity of a contact at each point; returns its largest amount.
static double fill_line(const sweep *s, int contact, int end, double *line) {
    double largest = 0;
    for (int k = 0; k < s->count; k++) {
        double range[2];
        sweep_extent(s->points[k].found.modes, contact, false, range);
        line[k] = cli_shown(s->impact, range[end]);
        largest = fmax(largest, fabs(line[k]));
    }
    return largest;
}

static double line_distance(const double *a, const double *b, int count) {
    double apart = 0;
    for (int i = 0; i < count; i++) apart = fmax(apart, fabs(a[i] - b[i]));
    return apart;
}

// A line for the largest normal velocity of each contact, and a dashed one for the least where it is not zero. Contacts whose lines are the
// same share one.
static carom_status draw_extents(const sweep *s, const char *path, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(s->impact);
    const size_t contacts = (size_t)data->contacts, count = (size_t)s->count;
    carom_arena arena = {0};
    carom_plot_series *series = carom_arena_take(&arena, 2 * contacts, sizeof *series);
    char(*labels)[LABEL_SIZE] = carom_arena_take(&arena, 2 * contacts, LABEL_SIZE);
    double *x = carom_arena_take(&arena, count, sizeof *x), *y = carom_arena_take(&arena, 2 * contacts * count, sizeof *y);
    for (int k = 0; k < s->count && !arena.failed; k++) x[k] = s->points[k].values[0];
    int made = 0;
    for (int line = 0; line < 2 * data->contacts && !arena.failed; line++) {
        const int contact = line % data->contacts, end = line < data->contacts;  // the largest first
        const carom_plot_style style = end ? CAROM_PLOT_LINE : CAROM_PLOT_GUIDE;
        double *values = y + (size_t)made * count;
        const double largest = fill_line(s, contact, end, values);
        if (!end && largest == 0) continue;
        int same = 0;
        while (same < made && (series[same].style != style || line_distance(series[same].y, values, s->count) > SAME_LINE * largest))
            same++;
        if (same < made) {
            const size_t used = strlen(labels[same]);
            snprintf(labels[same] + used, LABEL_SIZE - used, ", Jn.%s", data->names[contact]);
            continue;
        }
        snprintf(labels[made], LABEL_SIZE, "%s Jn.%s", end ? "largest" : "least", data->names[contact]);
        series[made] = (carom_plot_series){labels[made], style, s->count, x, values};
        made++;
    }
    const carom_plot plot = {.title = carom_scene_name(s->scene),
                             .x_label = s->axes[0].name,
                             .y_label = "normal velocity after the impact [m/s]",
                             .series = series,
                             .series_count = made};
    const carom_status status = arena.failed ? carom_fail_memory(error, "figure") : carom_plot_write(&plot, path, error);
    carom_arena_free(&arena);
    return status;
}

// A mark at each point of the grid, one kind for each list of modes; lists beyond the first eight share one.
static carom_status draw_map(const sweep *s, const char *path, carom_error *error) {
    const size_t count = (size_t)s->count;
    carom_arena arena = {0};
    char labels[MOST_LISTS + 1][LABEL_SIZE], letter[SWEEP_LETTER_SIZE];
    carom_plot_series series[MOST_LISTS + 1];
    double *x = carom_arena_take(&arena, (MOST_LISTS + 1) * count, sizeof *x),
           *y = carom_arena_take(&arena, (MOST_LISTS + 1) * count, sizeof *y);
    int64_t sizes[MOST_LISTS + 1] = {0};
    for (int i = 0; i < s->count && !arena.failed; i++) {
        const sweep_point *point = &s->points[i];
        const int list = point->list < MOST_LISTS ? point->list : MOST_LISTS, modes = point->found.modes->count;
        if (!sizes[list]) snprintf(labels[list], LABEL_SIZE, "%s: %d mode%s", sweep_letter(list, letter), modes, modes == 1 ? "" : "s");
        const size_t target = (size_t)list * count + (size_t)sizes[list]++;
        x[target] = point->values[0];
        y[target] = point->values[1];
    }
    if (sizes[MOST_LISTS]) snprintf(labels[MOST_LISTS], LABEL_SIZE, "other lists");
    int made = 0;
    for (int i = 0; i <= MOST_LISTS && !arena.failed; i++)
        if (sizes[i])
            series[made++] = (carom_plot_series){labels[i], CAROM_PLOT_MARKS, sizes[i], x + (size_t)i * count, y + (size_t)i * count};
    const carom_plot plot = {.title = carom_scene_name(s->scene),
                             .x_label = s->axes[0].name,
                             .y_label = s->axes[1].name,
                             .series = series,
                             .series_count = made};
    const carom_status status = arena.failed ? carom_fail_memory(error, "figure") : carom_plot_write(&plot, path, error);
    carom_arena_free(&arena);
    return status;
}

carom_status sweep_write_figure(const sweep *s, const char *path, carom_error *error) {
    return s->axis_count == 1 ? draw_extents(s, path, error) : draw_map(s, path, error);
}
