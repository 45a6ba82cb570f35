// SPDX-License-Identifier: Apache-2.0
// Pictures of curves and areas in space.
#include "carom/space.h"

#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/sets.h"
#include "io/plot/key.h"
#include "io/plot/paper.h"

// The eye is turned so far to the right of the second axis, and so far above the floor [radians].
#define AZIMUTH   0.6
#define ELEVATION 0.42
// The box is so high, as a share of the longer side of its floor.
#define HEIGHT 0.9

// What is seen is as high at least, as a share of its width, where a size leaves less.
#define LEAST_HEIGHT 0.75

// On paper [mm]: margins, room for the numbers of an axis and for its label, a number, a tick, half a mark, rows of the title.
#define MARGIN        4.0
#define NUMBERS       8.0
#define NUMBER_WIDTH  9.0
#define NUMBER_HEIGHT 4.0
#define LABEL         5.0
#define UNDER         7.5
#define TICK          1.2
#define MARK          0.55
#define TITLE_ROW     4.8
#define SAMPLE        7.0

enum { MOST_ENTRIES = 32, TITLE_FONT = 10, TICKS = 10, MOST_TICKS = 12 };

#define BOX_INK  0x707070
#define GRID_INK 0xe0e0e0

// The picture under way.
typedef struct space {
    const carom_space_plot *plot;
    carom_paper *paper;
    double low[3], high[3];   // of the box
    double unit[3];           // of each axis, as a share of the longer side of the floor
    double scale, origin[2];  // mm of that share, and where the middle of the floor is [mm]
    double key_top, top;      // of the key, and of what is seen [mm]
    carom_key_entry entries[MOST_ENTRIES];
    int entry[MOST_ENTRIES], entry_count;  // the series of each entry
} space;

// Where a point is seen, in shares of the longer side of the floor, from the middle of the floor.
static void see(const space *s, const double point[3], double seen[2]) {
    double at[3];
    for (int k = 0; k < 3; k++) at[k] = (point[k] - (k < 2 ? 0.5 * (s->low[k] + s->high[k]) : s->low[k])) * s->unit[k];
    seen[0] = cos(AZIMUTH) * at[0] + sin(AZIMUTH) * at[1];
    seen[1] = sin(ELEVATION) * (cos(AZIMUTH) * at[1] - sin(AZIMUTH) * at[0]) + cos(ELEVATION) * at[2];
}

static void widen(const double seen[2], double low[2], double high[2]) {
    for (int k = 0; k < 2; k++) {
        low[k] = fmin(low[k], seen[k]);
        high[k] = fmax(high[k], seen[k]);
    }
}

static void place(const space *s, const double point[3], double at[2]) {
    see(s, point, at);
    for (int k = 0; k < 2; k++) at[k] = s->origin[k] + s->scale * at[k];
}

static void draw_line(const space *s, const double from[3], const double to[3], int64_t colour, double width) {
    double a[2], b[2];
    place(s, from, a);
    place(s, to, b);
    carom_paper_line(s->paper, a[0], a[1], b[0], b[1], colour, width);
}

// The mark of a look with its middle at a point: an open polygon, or strokes from the middle.
static void draw_mark(carom_paper *paper, const double at[2], const carom_plot_look *look) {
    static const struct {
        int corners;
        double first;  // its direction, as a share of a turn
        bool strokes;
    } shapes[] = {
        [CAROM_PLOT_CIRCLE] = {24, 0, false}, [CAROM_PLOT_SQUARE] = {4, 0.125, false},        [CAROM_PLOT_TRIANGLE] = {3, 0.25, false},
        [CAROM_PLOT_DIAMOND] = {4, 0, false}, [CAROM_PLOT_TRIANGLE_DOWN] = {3, -0.25, false}, [CAROM_PLOT_CROSS] = {4, 0.125, true},
        [CAROM_PLOT_PLUS] = {4, 0, true},     [CAROM_PLOT_PENTAGON] = {5, 0.25, false},       [CAROM_PLOT_STAR] = {8, 0, true},
        [CAROM_PLOT_DISC] = {24, 0, false}};
    const int corners = shapes[look->shape].corners;
    double corner[2 * 24];
    for (int i = 0; i < corners; i++) {
        const double turn = 6.283185307179586 * (shapes[look->shape].first + (double)i / corners);
        corner[2 * i] = at[0] + MARK * look->size * cos(turn);
        corner[2 * i + 1] = at[1] + MARK * look->size * sin(turn);
        if (shapes[look->shape].strokes) carom_paper_line(paper, at[0], at[1], corner[2 * i], corner[2 * i + 1], look->colour, 2.5);
    }
    if (!shapes[look->shape].strokes)
        carom_paper_shape(paper, corners, corner, look->shape == CAROM_PLOT_DISC ? (int64_t)look->colour : CAROM_NO_COLOUR, look->colour,
                          2.5);
}

// Colours and pen of a series.
static void choose_pen(const carom_space_series *series, int64_t *fill, int64_t *line, double *width) {
    const unsigned colour = carom_plot_looks[series->look].colour;
    const bool cone = series->style == CAROM_PLOT_CONE, area = cone || series->style == CAROM_PLOT_AREAS;
    *fill = cone ? CAROM_CONE_FILL : area ? (int64_t)(0x90000000U | colour) : CAROM_NO_COLOUR;
    *line = cone ? CAROM_CONE_RIM : series->style == CAROM_PLOT_TRACES ? BOX_INK : (int64_t)colour;
    *width = area || series->style == CAROM_PLOT_TRACES ? 1 : series->style == CAROM_PLOT_GUIDE ? 2 : 3;
}

static carom_status draw_series(const space *s, const carom_space_series *series, carom_error *error) {
    const carom_plot_style style = series->style;
    const bool area = style == CAROM_PLOT_CONE || style == CAROM_PLOT_AREAS;
    int64_t fill, line;
    double width;
    choose_pen(series, &fill, &line, &width);
    for (int first = 0; first < series->count;) {
        // A run of points up to a gap.
        int points = 0;
        while (first + points < series->count && isfinite(series->point[3 * (first + points)])) points++;
        const double *point = series->point + 3 * first;
        first += points + 1;
        if (!points) continue;
        if (style == CAROM_PLOT_MARKS || style == CAROM_PLOT_ARROWS) {
            double at[2], to[2];
            for (int i = 0; i < points && style == CAROM_PLOT_MARKS; i++) {
                place(s, point + 3 * i, at);
                draw_mark(s->paper, at, &carom_plot_looks[series->look]);
            }
            if (style == CAROM_PLOT_MARKS || points < 2) continue;
            // The head ends at the second point; the rest of the arrow is the line that it lies on.
            place(s, point, at);
            place(s, point + 3, to);
            const double length = hypot(to[0] - at[0], to[1] - at[1]), head = 2.6;
            if (!(length > 0)) continue;
            for (int k = 0; k < 2; k++) at[k] = to[k] - head * (to[k] - at[k]) / length;
            carom_paper_arrow(s->paper, at, to, line, width);
            continue;
        }
        // What is seen of a convex area, which may be a body, is the hull of its points on the paper.
        double *x = carom_arena_take(&s->paper->arena, (size_t)points, sizeof *x),
               *y = carom_arena_take(&s->paper->arena, (size_t)points, sizeof *y);
        int64_t *corner = carom_arena_take(&s->paper->arena, (size_t)points, sizeof *corner), corners = points;
        if (s->paper->arena.failed) return carom_fail_memory(error, "a picture");
        for (int i = 0; i < points; i++) {
            double at[2];
            place(s, point + 3 * i, at);
            x[i] = at[0];
            y[i] = at[1];
            corner[i] = i;
        }
        const carom_status status = area ? carom_hull_plane(x, y, points, corner, &corners, error) : CAROM_OK;
        if (status) return status;
        carom_mark *mark = carom_paper_add(s->paper, (int)corners);
        for (int i = 0; i < mark->points; i++) {
            mark->point[2 * i] = x[corner[i]];
            mark->point[2 * i + 1] = y[corner[i]];
        }
        mark->fill = fill;
        mark->line = line;
        mark->width = width;
        mark->closed = area;
        mark->dashed = style == CAROM_PLOT_GUIDE;
    }
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------------ box

// The floor with its grid, and the numbers and labels of the three axes: two at the edges of the floor that are nearest, one at the corner
// of the floor that is seen at the left.
static void draw_box(const space *s) {
    carom_paper *paper = s->paper;
    const double corner[4][3] = {{s->low[0], s->low[1], s->low[2]},
                                 {s->high[0], s->low[1], s->low[2]},
                                 {s->high[0], s->high[1], s->low[2]},
                                 {s->low[0], s->high[1], s->low[2]}};
    double at[4][2];
    for (int i = 0; i < 4; i++) place(s, corner[i], at[i]);
    const double above[3] = {s->low[0], s->low[1], s->high[2]};
    const double rooms[3] = {NUMBER_WIDTH / cos(AZIMUTH), NUMBER_HEIGHT / (sin(ELEVATION) * cos(AZIMUTH)),
                             1.5 * NUMBER_HEIGHT / cos(ELEVATION)};
    for (int axis = 0; axis < 3; axis++) {
        // Of steps 1, 2 or 5 times a power of ten the least whose numbers have room on the paper, and that makes few of them.
        const double unit = s->scale * s->unit[axis], most = (s->high[axis] - s->low[axis]) / TICKS;
        const double step = carom_round_down(2.5 * fmax(rooms[axis] / unit, most));
        const double start = ceil(s->low[axis] / step - 1e-9);
        for (int i = 0; i < MOST_TICKS && (start + i) * step <= s->high[axis] + 1e-9 * step; i++) {
            const double value = (start + i) * step + 0.0;
            char number[32];
            snprintf(number, sizeof number, "%.6g", value);
            // From the edge with the numbers, across the floor.
            double near[3] = {s->low[0], s->low[1], s->low[2]}, far[3], edge[2];
            if (axis == 1) near[0] = s->high[0];
            near[axis] = value;
            memcpy(far, near, sizeof far);
            if (axis == 0) far[1] = s->high[1];
            if (axis == 1) far[0] = s->low[0];
            if (axis < 2) draw_line(s, near, far, GRID_INK, 1);
            place(s, near, edge);
            const double x[3] = {-0.3, 0.6, -1}, y[3] = {-1, -1, 0};
            carom_paper_line(paper, edge[0], edge[1], edge[0] + TICK * x[axis], edge[1] + TICK * y[axis], BOX_INK, 1);
            carom_paper_text(paper, edge[0] + (TICK + 0.6) * x[axis], edge[1] + (axis < 2 ? TICK + 1.4 : 0) * y[axis], axis == 1 ? -1 : 1,
                             CAROM_KEY_FONT, number);
        }
    }
    for (int i = 0; i < 4; i++) draw_line(s, corner[i], corner[(i + 1) % 4], i < 2 ? BOX_INK : GRID_INK, 1);
    draw_line(s, corner[0], above, BOX_INK, 1);
    // Above everything, on the side of its axis.
    carom_paper_text(paper, MARGIN, s->top + 0.8 * LABEL, -1, CAROM_KEY_FONT, s->plot->label[2]);
    // Labels of the floor's axes under the middle of their edges, where the numbers leave room; so much lower as they must move inwards.
    for (int axis = 0; axis < 2; axis++) {
        const double *left = at[axis], *right = at[axis + 1], side = axis ? 1 : -1,
                     width = CAROM_KEY_CHARACTER * (double)strlen(s->plot->label[axis]);
        const double wanted = 0.5 * (left[0] + right[0]) + 6 * side;
        const double x = axis ? fmin(wanted, paper->size.width - MARGIN - width) : fmax(wanted, MARGIN + width);
        const double slope = fabs((right[1] - left[1]) / (right[0] - left[0]));
        const double y = fmax(0.5 * (left[1] + right[1]) - UNDER - slope * fabs(x - wanted), at[1][1] - NUMBERS);
        carom_paper_text(paper, x, y, axis ? -1 : 1, CAROM_KEY_FONT, s->plot->label[axis]);
    }
}

// ------------------------------------------------------------------------------------------------------------------ key

// A carom_key_visitor that draws an entry.
static void draw_entry(void *user, int index, double x, int row, const char *line) {
    const space *s = user;
    const carom_space_series *series = &s->plot->series[s->entry[index]];
    const double y = s->key_top - CAROM_KEY_ROW * (row + 0.5);
    if (line) {
        carom_paper_text(s->paper, x, y, -1, CAROM_KEY_FONT, line);
        return;
    }
    int64_t fill, ink;
    double width;
    choose_pen(series, &fill, &ink, &width);
    if (series->style == CAROM_PLOT_MARKS) {
        draw_mark(s->paper, (const double[2]){x + 0.5 * SAMPLE, y}, &carom_plot_looks[series->look]);
    } else if (fill != CAROM_NO_COLOUR) {
        carom_paper_shape(s->paper, 4, (const double[8]){x, y - 1.2, x + SAMPLE, y - 1.2, x + SAMPLE, y + 1.2, x, y + 1.2}, fill, ink,
                          width);
    } else {
        carom_paper_line(s->paper, x, y, x + SAMPLE, y, ink, width);
        if (!s->paper->failed) s->paper->mark[s->paper->marks - 1].dashed = series->style == CAROM_PLOT_GUIDE;
    }
}

// A carom_key_visitor that draws a line of the title in the middle.
static void draw_title(void *user, int index, double x, int row, const char *line) {
    (void)index, (void)x;
    const space *s = user;
    const carom_plot_size *size = &s->paper->size;
    if (line) carom_paper_text(s->paper, 0.5 * size->width, size->height - 1.5 - TITLE_ROW * (row + 0.5), 0, TITLE_FONT, line);
}

// -------------------------------------------------------------------------------------------------------------- writing

// The box around everything, a little larger, and the units of its axes.
static carom_status find_box(space *s, carom_error *error) {
    for (int k = 0; k < 3; k++) {
        s->low[k] = INFINITY;
        s->high[k] = -INFINITY;
    }
    for (int i = 0; i < s->plot->series_count; i++) {
        const carom_space_series *series = &s->plot->series[i];
        switch (series->style) {
        case CAROM_PLOT_CONE:
        case CAROM_PLOT_AREAS:
        case CAROM_PLOT_LINE:
        case CAROM_PLOT_GUIDE:
        case CAROM_PLOT_TRACES:
        case CAROM_PLOT_MARKS:
        case CAROM_PLOT_ARROWS: break;
        default:
            return carom_fail(error, CAROM_BAD_INPUT, "series '%.60s' has a style that a picture in space does not have", series->label);
        }
        for (int p = 0; p < series->count; p++)
            for (int k = 0; k < 3 && isfinite(series->point[3 * p]); k++) {
                s->low[k] = fmin(s->low[k], series->point[3 * p + k]);
                s->high[k] = fmax(s->high[k], series->point[3 * p + k]);
            }
    }
    if (!(s->low[0] <= s->high[0])) return carom_fail(error, CAROM_BAD_INPUT, "there is nothing to draw");
    // A floor without extent in one direction gets that of the other; a box without any has the side 1.
    double side = fmax(s->high[0] - s->low[0], s->high[1] - s->low[1]);
    if (!(side > 0)) side = s->high[2] > s->low[2] ? s->high[2] - s->low[2] : 1;
    for (int k = 0; k < 2; k++)
        if (s->high[k] - s->low[k] < 0.2 * side) {
            const double middle = 0.5 * (s->low[k] + s->high[k]);
            s->low[k] = middle - 0.1 * side;
            s->high[k] = middle + 0.1 * side;
        }
    if (!(s->high[2] > s->low[2])) s->high[2] = s->low[2] + side;
    for (int k = 0; k < 3; k++) s->unit[k] = k < 2 ? 1 / side : HEIGHT / (s->high[2] - s->low[2]);
    return CAROM_OK;
}

static carom_status compose(space *s, carom_error *error) {
    const carom_space_plot *plot = s->plot;
    carom_status status = find_box(s, error);
    if (status) return status;
    for (int i = 0; i < plot->series_count && s->entry_count < MOST_ENTRIES; i++) {
        if (!plot->series[i].count || !*plot->series[i].label) continue;
        s->entry[s->entry_count] = i;
        s->entries[s->entry_count++] = (carom_key_entry){SAMPLE, plot->series[i].label};
    }
    carom_plot_size *size = &s->paper->size;
    *size = plot->size.width > 0 ? plot->size : (carom_plot_size){174, 150};
    // What the floor, the axis upwards and everything else take, in shares of the longer side of the floor.
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, seen[2];
    // Looked up in `ends`, not chosen by conditions, on which gcc 12 for 64-bit ARM fails with an internal error.
    const double *const ends[] = {s->low, s->high};
    for (int i = 0; i < 5; i++) {
        see(s, (const double[3]){ends[i & 1][0], ends[i >> 1 & 1][1], ends[i >> 2][2]}, seen);
        widen(seen, low, high);
    }
    for (int i = 0; i < plot->series_count; i++)
        for (int k = 0; k < plot->series[i].count; k++) {
            if (!isfinite(plot->series[i].point[3 * k])) continue;
            see(s, plot->series[i].point + 3 * k, seen);
            widen(seen, low, high);
        }
    // The scale: what fits between the texts. Where a small paper has no room for the texts, it becomes higher.
    const carom_key_entry title = {0, plot->title};
    const double title_width = (size->width - 2 * MARGIN) * CAROM_KEY_FONT / TITLE_FONT;
    const double below =
        CAROM_KEY_ROW * carom_key_flow(s->entry_count, s->entries, MARGIN, size->width - MARGIN, NULL, NULL) + 2 + NUMBERS + LABEL;
    const double above = TITLE_ROW * carom_key_flow(1, &title, 0, title_width, NULL, NULL) + 2 + 2 * LABEL;
    const double room = size->width - 2 * (MARGIN + NUMBERS);
    s->scale = room / (high[0] - low[0]);
    if (plot->size.width > 0) s->scale = fmin(s->scale, fmax(size->height - below - above, LEAST_HEIGHT * room) / (high[1] - low[1]));
    const double needed = below + above + s->scale * (high[1] - low[1]);
    if (plot->size.width <= 0 || size->height < needed) size->height = needed;
    s->origin[0] = 0.5 * (size->width + NUMBERS - s->scale * (high[0] + low[0])) - 0.5 * NUMBERS;
    s->origin[1] = below + 0.5 * (size->height - needed) - s->scale * low[1];
    s->top = s->origin[1] + s->scale * high[1];
    draw_box(s);
    for (int i = 0; i < plot->series_count && !status; i++) status = draw_series(s, &plot->series[i], error);
    s->key_top = below - NUMBERS - LABEL - 1;
    carom_key_flow(s->entry_count, s->entries, MARGIN, size->width - MARGIN, draw_entry, s);
    carom_key_flow(1, &title, 0, title_width, draw_title, s);
    return status;
}

carom_status carom_space_write(const carom_space_plot *plot, const char *path, carom_error *error) {
    carom_paper paper = {0};
    space s = {.plot = plot, .paper = &paper};
    const carom_gnuplot_format *format;
    carom_status status = carom_gnuplot_find(path, &format, error);
    if (!status) status = compose(&s, error);
    if (!status) status = carom_paper_write(&paper, path, error);
    carom_paper_free(&paper);
    return status;
}
