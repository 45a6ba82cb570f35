// SPDX-License-Identifier: Apache-2.0
// Pictures of `carom hodograph`: the plane of slip with its invariant rays, impulses over their clock, and Routh's plane of impulses.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/hodograph/hodograph.h"

// Rays and guides run this much farther than the curves.
#define BEYOND 1.12

// A picture under way: its series, and the arena of their points.
enum { MOST_SERIES = 32 };

typedef struct canvas {
    carom_arena arena;
    carom_plot_series series[MOST_SERIES];
    double *x[MOST_SERIES], *y[MOST_SERIES];  // [capacity]
    int64_t capacity[MOST_SERIES];
    int count;
} canvas;

// Begins a series with room for `capacity` points.
static void add_series(canvas *c, const char *label, carom_plot_style style, int64_t capacity) {
    const int i = c->count++;
    c->x[i] = carom_arena_take(&c->arena, (size_t)capacity, sizeof(double));
    c->y[i] = carom_arena_take(&c->arena, (size_t)capacity, sizeof(double));
    c->capacity[i] = c->arena.failed ? 0 : capacity;
    c->series[i] = (carom_plot_series){label, style, 0, c->x[i], c->y[i]};
}

// A point of the series that was added last.
static void add_point(canvas *c, double x, double y) {
    const int i = c->count - 1;
    if (c->series[i].count == c->capacity[i]) return;
    c->x[i][c->series[i].count] = x;
    c->y[i][c->series[i].count++] = y;
}

// A segment of that series, with a gap after it.
static void add_segment(canvas *c, double x0, double y0, double x1, double y1) {
    add_point(c, x0, y0);
    add_point(c, x1, y1);
    add_point(c, NAN, NAN);
}

// Writes DIRECTORY/NAME.png and .svg with the labels of `plot`, and frees the canvas.
static carom_status write_canvas(canvas *c, carom_plot plot, const char *directory, const char *name, json_t *files, carom_error *error) {
    static const char *const endings[] = {".png", ".svg"};
    carom_status status = c->arena.failed ? carom_fail_memory(error, "picture") : CAROM_OK;
    plot.series = c->series;
    plot.series_count = c->count;
    for (int i = 0; i < 2 && !status; i++) {
        char file[64];
        snprintf(file, sizeof file, "%s%s", name, endings[i]);
        char *path = cli_join_path(directory, file);
        status = path ? carom_plot_write(&plot, path, error) : carom_fail_memory(error, "picture");
        if (!status) cli_note_file(files, path);
        free(path);
    }
    carom_arena_free(&c->arena);
    return status;
}

// Where in the picture a state stands: one or two points.
typedef void (*place_state)(canvas *c, const carom_contact_state *state);

static void place_slip(canvas *c, const carom_contact_state *state) {
    add_point(c, state->velocity.tangent[0], state->velocity.tangent[1]);
}

static void place_impulses(canvas *c, const carom_contact_state *state) {
    for (int i = 0; i < 2; i++) add_point(c, state->impulse.normal, state->impulse.tangent[i]);
}

static void place_in_plane(canvas *c, const carom_contact_state *state) { add_point(c, state->impulse.tangent[0], state->impulse.normal); }

// Marks the start of the curve and its events, except where slip meets an invariant ray.
static void add_events(canvas *c, const hodograph *h, place_state place) {
    const char *events = h->curve.result.events;
    add_series(c, "start", CAROM_PLOT_MARKS, 2);
    place(c, &h->curve.states[0]);
    for (int i = 0; events[i]; i++) {
        if (events[i] == 'l') continue;
        add_series(c, hodograph_event_name(events[i]), CAROM_PLOT_MARKS, 2);
        place(c, hodograph_event_state(&h->curve, i));
    }
}

// ---------------------------------------------------------------------------------------------------------- hodographs

// The largest speed of slip on a curve.
static double largest_slip(const hodograph_curve *curve) {
    double speed = 0;
    for (int i = 0; i < curve->count; i++)
        speed = fmax(speed, hypot(curve->states[i].velocity.tangent[0], curve->states[i].velocity.tangent[1]));
    return speed;
}

// The plane of slip: the curve, the fan, and the rays on which the direction of slip does not change.
static carom_status draw_slip(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    static const struct {
        carom_ray_type type;
        const char *label;
        carom_plot_style style;
    } kinds[] = {{CAROM_RAY_ATTRACTING, "attracting directions", CAROM_PLOT_LINE},
                 {CAROM_RAY_CENTRIFUGAL, "centrifugal direction", CAROM_PLOT_LINE},
                 {CAROM_RAY_MERGED, "merged directions", CAROM_PLOT_LINE},
                 {CAROM_RAY_REPELLING, "repelling directions", CAROM_PLOT_GUIDE}};
    canvas c = {0};
    // Rays reach a little beyond the largest slip of all curves.
    double radius = largest_slip(&h->curve);
    int64_t points = 0;
    for (int i = 0; i < h->fan_count; i++) {
        radius = fmax(radius, largest_slip(&h->fan[i]));
        points += h->fan[i].count + 1;
    }
    radius *= BEYOND;
    // The fan comes first, so that the scene's own curve lies on top.
    if (points) add_series(&c, "other initial slips", CAROM_PLOT_TRACES, points);
    for (int i = 0; i < h->fan_count; i++) {
        for (int k = 0; k < h->fan[i].count; k++) place_slip(&c, &h->fan[i].states[k]);
        add_point(&c, NAN, NAN);
    }
    add_series(&c, "hodograph", CAROM_PLOT_LINE, h->curve.count);
    for (int i = 0; i < h->curve.count; i++) place_slip(&c, &h->curve.states[i]);
    // Rays from the origin, a series for each kind that there is.
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        bool found = false;
        for (int i = 0; i < h->ray_count; i++) {
            if (h->rays[i].type != kinds[kind].type) continue;
            if (!found) add_series(&c, kinds[kind].label, kinds[kind].style, 3 * CAROM_MOST_RAYS);
            found = true;
            add_segment(&c, 0, 0, radius * h->rays[i].direction[0], radius * h->rays[i].direction[1]);
        }
    }
    add_events(&c, h, place_slip);
    const carom_plot plot = {.title = carom_scene_name(h->scene),
                             .x_label = "slip along tangent 1 [m/s]",
                             .y_label = "slip along tangent 2 [m/s]",
                             .equal = true};
    return write_canvas(&c, plot, directory, "hodograph", files, error);
}

// ------------------------------------------------------------------------------------------------ Routh's impulse plane

// A line a x + b y + c = 0.
typedef struct line {
    const char *label;
    carom_plot_style style;
    double a, b, c;
} line;

// Routh's plane of a planar contact: the path of the impulse between the lines where something changes.
static carom_status draw_impulse_plane(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    const carom_contact_problem *problem = &h->curve.problem;
    const carom_contact_state *end = &h->curve.states[h->curve.count - 1];
    // Contact velocities are linear in the impulse: slip u_t + B p_t + d p_n = 0, normal velocity u_n + d p_t + w p_n = 0.
    const line lines[] = {
        {"no slip", CAROM_PLOT_LINE, problem->tangential[0], problem->coupling[0], problem->velocity.tangent[0]},
        {"greatest compression", CAROM_PLOT_LINE, problem->coupling[0], problem->normal, problem->velocity.normal},
        {"limits of friction", CAROM_PLOT_GUIDE, 1, -problem->friction, 0},
        {"", CAROM_PLOT_GUIDE, 1, problem->friction, 0},
    };
    double reach = 0;
    for (int i = 0; i < h->curve.count; i++) reach = fmax(reach, fabs(h->curve.states[i].impulse.tangent[0]));
    // The picture: as high as the last impulse, and wide enough for the line of friction.
    const double height = BEYOND * end->impulse.normal, width = 2 * BEYOND * fmax(reach, 0.25 * height);
    canvas c = {0};
    for (size_t i = 0; i < sizeof lines / sizeof *lines && height > 0; i++) {
        // The part of the line with |x| <= width, 0 <= y <= height: through its point nearest to the origin, along (-b, a), between the
        // borders.
        const double a = lines[i].a, b = lines[i].b, norm = a * a + b * b, x = -a * lines[i].c / norm, y = -b * lines[i].c / norm;
        double low = -INFINITY, high = INFINITY;
        const double along[2] = {-b, a}, least[2] = {-width - x, -y}, most[2] = {width - x, height - y};
        for (int k = 0; k < 2; k++) {
            // The interval of the line within these two borders; a parallel line lies inside or outside.
            const double first = least[k] / along[k], second = most[k] / along[k];
            const bool parallel = along[k] == 0, outside = least[k] > 0 || most[k] < 0;
            low = fmax(low, !parallel ? fmin(first, second) : outside ? INFINITY : low);
            high = fmin(high, !parallel ? fmax(first, second) : high);
        }
        if (!(low < high)) continue;
        add_series(&c, lines[i].label, lines[i].style, 3);
        add_segment(&c, x + low * along[0], y + low * along[1], x + high * along[0], y + high * along[1]);
    }
    add_series(&c, "impulse", CAROM_PLOT_LINE, h->curve.count);
    for (int i = 0; i < h->curve.count; i++) place_in_plane(&c, &h->curve.states[i]);
    add_events(&c, h, place_in_plane);
    const carom_plot plot = {.title = carom_scene_name(h->scene), .x_label = "tangential impulse [N s]", .y_label = "normal impulse [N s]"};
    return write_canvas(&c, plot, directory, "impulse-plane", files, error);
}

carom_status hodograph_draw(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    if (h->tangent_dim == 1) return draw_impulse_plane(h, directory, files, error);
    const carom_status status = draw_slip(h, directory, files, error);
    if (status) return status;
    // Tangential impulses over the normal impulse, which is the clock of the process.
    static const char *const labels[] = {"along tangent 1", "along tangent 2"};
    canvas c = {0};
    for (int axis = 0; axis < 2; axis++) {
        add_series(&c, labels[axis], CAROM_PLOT_LINE, h->curve.count);
        for (int i = 0; i < h->curve.count; i++) add_point(&c, h->curve.states[i].impulse.normal, h->curve.states[i].impulse.tangent[axis]);
    }
    add_events(&c, h, place_impulses);
    const carom_plot plot = {.title = carom_scene_name(h->scene), .x_label = "normal impulse [N s]", .y_label = "tangential impulse [N s]"};
    return write_canvas(&c, plot, directory, "impulse", files, error);
}
