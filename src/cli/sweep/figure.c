// SPDX-License-Identifier: Apache-2.0
// The pictures of a sweep: extents of the normal velocities, or the modes that are possible, over one parameter, and a map of the lists of
// modes over two.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/plot.h"
#include "cli/sweep/sweep.h"

enum { LABEL_SIZE = 128, TITLE_SIZE = 256, MOST_LISTS = 8, MOST_ROWS = 16 };
// Lists of modes that are longer, in characters, are not written out in the key.
enum { SHORT_LIST = 80 };

// Lines closer than this share of the largest velocity lie on one another, as those of mirrored contacts do.
#define SAME_LINE 1e-9

// "SCENE: what is drawn", and whether samples have only seen it.
static void write_title(const sweep *s, const char *what, char title[TITLE_SIZE]) {
    bool sampled = false, outside = false;
    for (int i = 0; i < s->count; i++) {
        sampled |= !s->points[i].found.certified;
        outside |= s->points[i].found.modes->approximate > 0;
    }
    snprintf(title, TITLE_SIZE, "%s: %s%s%s", carom_scene_name(s->scene), what, sampled ? ", as far as samples reach" : "",
             outside ? ", which may lie outside" : "");
}

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
    char title[TITLE_SIZE];
    write_title(s, "extents of the set", title);
    const carom_plot plot = {.title = title,
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
        if (!sizes[list]) {
            // The list itself where it is short, otherwise its length.
            FILE *text = fmemopen(labels[list], LABEL_SIZE, "w");
            if (text) fprintf(text, "%s: ", sweep_letter(list, letter));
            for (int k = 0; k < modes && text; k++) {
                if (k) fputs("; ", text);
                sweep_put_motions(text, s->impact, &point->found.modes->modes[k]);
            }
            const long length = text ? ftell(text) : LABEL_SIZE;
            if (text) fclose(text);
            if (length > SHORT_LIST) snprintf(labels[list], LABEL_SIZE, "%s: %d modes", letter, modes);
        }
        const size_t target = (size_t)list * count + (size_t)sizes[list]++;
        x[target] = point->values[0];
        y[target] = point->values[1];
    }
    if (sizes[MOST_LISTS]) snprintf(labels[MOST_LISTS], LABEL_SIZE, "other lists");
    int made = 0;
    for (int i = 0; i <= MOST_LISTS && !arena.failed; i++)
        if (sizes[i])
            series[made++] = (carom_plot_series){labels[i], CAROM_PLOT_MARKS, sizes[i], x + (size_t)i * count, y + (size_t)i * count};
    char title[TITLE_SIZE];
    write_title(s, "which joint modes are possible", title);
    const carom_plot plot = {
        .title = title, .x_label = s->axes[0].name, .y_label = s->axes[1].name, .series = series, .series_count = made};
    const carom_status status = arena.failed ? carom_fail_memory(error, "figure") : carom_plot_write(&plot, path, error);
    carom_arena_free(&arena);
    return status;
}

// A line for each mode over the values for which it is possible: from half-way to the value before to half-way to the next. Where changes
// were bisected, their two sides are values, too.
static carom_status draw_modes(const sweep *s, const char *path, carom_error *error) {
    const size_t room = (size_t)s->count + 2 * (size_t)s->change_count, contacts = (size_t)carom_impact_get_data(s->impact)->contacts;
    carom_arena arena = {0};
    const sweep_point **points = carom_arena_take(&arena, room, sizeof *points);
    char labels[MOST_ROWS][LABEL_SIZE];
    double *x = carom_arena_take(&arena, 3 * MOST_ROWS * room, sizeof *x), *y = carom_arena_take(&arena, 3 * MOST_ROWS * room, sizeof *y);
    const carom_joint_mode *rows[MOST_ROWS];
    carom_plot_series series[MOST_ROWS];
    int total = 0, change = 0, made = 0;
    bool more = false;
    for (int i = 0; i < s->count && !arena.failed; i++) {
        for (; change < s->change_count && s->changes[change].value < s->points[i].values[0]; change++) {
            points[total++] = &s->changes[change].before;
            points[total++] = &s->changes[change].after;
        }
        points[total++] = &s->points[i];
    }
    for (int i = 0; i < total; i++) {
        const double value = points[i]->values[0], half = s->axes[0].step / 2;
        const double left = i ? (points[i - 1]->values[0] + value) / 2 : total > 1 ? value : value - half;
        const double right = i + 1 < total ? (value + points[i + 1]->values[0]) / 2 : total > 1 ? value : value + half;
        const carom_joint_modes *modes = points[i]->found.modes;
        for (int k = 0; k < modes->count; k++) {
            // Rows are in the order in which modes first appear.
            int row = 0;
            while (row < made && memcmp(rows[row]->motions, modes->modes[k].motions, contacts)) row++;
            if (row == MOST_ROWS) more = true;
            if (row == MOST_ROWS) continue;
            const size_t first = 3 * (size_t)row * room;
            if (row == made) {
                rows[made++] = &modes->modes[k];
                series[row] = (carom_plot_series){labels[row], CAROM_PLOT_LINE, 0, x + first, y + first};
                FILE *text = fmemopen(labels[row], LABEL_SIZE, "w");
                if (text) fprintf(text, "%d: ", row + 1);
                if (text) sweep_put_motions(text, s->impact, rows[row]);
                if (text) fclose(text);
            }
            const double ends[] = {left, right, NAN};
            for (int end = 0; end < 3; end++, series[row].count++) {
                x[first + (size_t)series[row].count] = ends[end];
                y[first + (size_t)series[row].count] = row + 1;
            }
        }
    }
    char title[TITLE_SIZE];
    write_title(s, more ? "the first joint modes that are possible" : "which joint modes are possible", title);
    const carom_plot plot = {.title = title,
                             .x_label = s->axes[0].name,
                             .y_label = "joint mode, by its number in the key",
                             .series = series,
                             .series_count = made,
                             .rows = true};
    const carom_status status = arena.failed ? carom_fail_memory(error, "figure") : carom_plot_write(&plot, path, error);
    carom_arena_free(&arena);
    return status;
}

carom_status sweep_write_figure(const sweep *s, const char *path, carom_error *error) {
    if (s->axis_count > 1) return draw_map(s, path, error);
    return cli_given(s->arguments, "map") ? draw_modes(s, path, error) : draw_extents(s, path, error);
}
