// SPDX-License-Identifier: Apache-2.0
// Pictures of `carom hodograph`: the plane of slip with its invariant rays, impulses over their clock, and Routh's plane of impulses.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/hodograph/hodograph.h"

// Rays and guides run this much farther than the curves.
#define BEYOND 1.12

// A picture under way: its series, and the points that they own.
enum { MOST_SERIES = 32 };

typedef struct canvas {
    carom_plot_series series[MOST_SERIES];
    double *points[MOST_SERIES];  // [2 x capacity], x behind each other, then y
    int64_t capacity[MOST_SERIES];
    int count;
    bool out_of_memory;
} canvas;

static void add_series(canvas *c, const char *label, carom_plot_style style, int64_t capacity) {
    double *points = malloc(2 * (size_t)capacity * sizeof *points);
    c->out_of_memory = c->out_of_memory || !points;
    c->capacity[c->count] = points ? capacity : 0;
    c->points[c->count] = points;
    c->series[c->count] = (carom_plot_series){label, style, 0, points, points ? points + capacity : NULL};
    c->count++;
}

// A point of the series that was added last.
static void add_point(canvas *c, double x, double y) {
    carom_plot_series *series = &c->series[c->count - 1];
    const int64_t capacity = c->capacity[c->count - 1];
    if (series->count == capacity) return;
    c->points[c->count - 1][series->count] = x;
    c->points[c->count - 1][capacity + series->count++] = y;
}

static void add_segment(canvas *c, double x0, double y0, double x1, double y1) {
    add_point(c, x0, y0);
    add_point(c, x1, y1);
    add_point(c, NAN, NAN);
}

static carom_status write_canvas(canvas *c, const char *title, const char *x, const char *y, bool equal, const char *directory,
                                 const char *name, json_t *files, carom_error *error) {
    static const char *const endings[] = {".png", ".svg"};
    const carom_plot plot = {title, x, y, c->series, c->count, false, equal};
    char *stem = cli_join_path(directory, name);
    carom_status status = c->out_of_memory || !stem ? carom_fail_memory(error, "picture") : CAROM_OK;
    for (int i = 0; i < 2 && !status; i++) {
        char *path = malloc(strlen(stem) + strlen(endings[i]) + 1);
        status = path ? carom_plot_write(&plot, strcat(strcpy(path, stem), endings[i]), error) : carom_fail_memory(error, "picture");
        if (!status) json_array_append_new(files, carom_json_text(path));
        free(path);
    }
    free(stem);
    for (int i = 0; i < c->count; i++) free(c->points[i]);
    return status;
}

// ---------------------------------------------------------------------------------------------------------- hodographs

static double curve_radius(const hodograph_curve *curve) {
    double radius = 0;
    for (int i = 0; i < curve->count; i++)
        radius = fmax(radius, hypot(curve->states[i].velocity.tangent[0], curve->states[i].velocity.tangent[1]));
    return radius;
}

static double largest_radius(const hodograph *h) {
    double radius = curve_radius(&h->curve);
    for (int i = 0; i < h->fan_count; i++) radius = fmax(radius, curve_radius(&h->fan[i]));
    return BEYOND * radius;
}

static void add_rays(canvas *c, const hodograph *h, carom_ray_type type, const char *label, carom_plot_style style) {
    const double radius = largest_radius(h);
    int count = 0;
    for (int i = 0; i < h->ray_count; i++) count += h->rays[i].type == type;
    if (!count) return;
    add_series(c, label, style, 3 * CAROM_MOST_RAYS);
    for (int i = 0; i < h->ray_count; i++)
        if (h->rays[i].type == type) add_segment(c, 0, 0, radius * h->rays[i].direction[0], radius * h->rays[i].direction[1]);
}

static void add_fan(canvas *c, const hodograph *h) {
    int64_t points = 0;
    for (int i = 0; i < h->fan_count; i++) points += h->fan[i].count + 1;
    if (!points) return;
    add_series(c, "other initial slips", CAROM_PLOT_TRACES, points);
    for (int i = 0; i < h->fan_count; i++) {
        const hodograph_curve *curve = &h->fan[i];
        for (int k = 0; k < curve->count; k++) add_point(c, curve->states[k].velocity.tangent[0], curve->states[k].velocity.tangent[1]);
        add_point(c, NAN, NAN);
    }
}

// Where in the picture a state stands: one or two points.
typedef void (*place_state)(canvas *c, const carom_contact_state *state);

static void place_slip(canvas *c, const carom_contact_state *s) { add_point(c, s->velocity.tangent[0], s->velocity.tangent[1]); }

static void place_impulses(canvas *c, const carom_contact_state *s) {
    for (int i = 0; i < 2; i++) add_point(c, s->impulse.normal, s->impulse.tangent[i]);
}

static void place_in_plane(canvas *c, const carom_contact_state *s) { add_point(c, s->impulse.tangent[0], s->impulse.normal); }

static void add_events(canvas *c, const hodograph *h, place_state place) {
    add_series(c, "start", CAROM_PLOT_MARKS, 2);
    place(c, &h->curve.states[0]);
    for (int i = 0; h->curve.result.events[i]; i++) {
        if (h->curve.result.events[i] == 'l') continue;
        add_series(c, hodograph_event_name(h->curve.result.events[i]), CAROM_PLOT_MARKS, 2);
        place(c, hodograph_event_state(&h->curve, i));
    }
}

static carom_status draw_hodograph(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    canvas c = {0};
    add_fan(&c, h);
    add_series(&c, "hodograph", CAROM_PLOT_LINE, h->curve.count);
    for (int i = 0; i < h->curve.count; i++) place_slip(&c, &h->curve.states[i]);
    add_rays(&c, h, CAROM_RAY_ATTRACTING, "attracting directions", CAROM_PLOT_LINE);
    add_rays(&c, h, CAROM_RAY_CENTRIFUGAL, "centrifugal direction", CAROM_PLOT_LINE);
    add_rays(&c, h, CAROM_RAY_MERGED, "merged directions", CAROM_PLOT_LINE);
    add_rays(&c, h, CAROM_RAY_REPELLING, "repelling directions", CAROM_PLOT_GUIDE);
    add_events(&c, h, place_slip);
    return write_canvas(&c, carom_scene_name(h->scene), "slip along tangent 1 [m/s]", "slip along tangent 2 [m/s]", true, directory,
                        "hodograph", files, error);
}

static carom_status draw_impulses(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    static const char *const labels[] = {"along tangent 1", "along tangent 2"};
    canvas c = {0};
    for (int axis = 0; axis < 2; axis++) {
        add_series(&c, labels[axis], CAROM_PLOT_LINE, h->curve.count);
        for (int i = 0; i < h->curve.count; i++) add_point(&c, h->curve.states[i].impulse.normal, h->curve.states[i].impulse.tangent[axis]);
    }
    add_events(&c, h, place_impulses);
    return write_canvas(&c, carom_scene_name(h->scene), "normal impulse [N s]", "tangential impulse [N s]", false, directory, "impulse",
                        files, error);
}

// ------------------------------------------------------------------------------------------------ Routh's impulse plane

// The part of the line a x + b y + c = 0 with |x| <= width, 0 <= y <= height.
static void add_line(canvas *p, const char *label, carom_plot_style style, double a, double b, double c, double width, double height) {
    // Through the point nearest to the origin, along (-b, a), between the borders.
    const double norm = a * a + b * b, x = -a * c / norm, y = -b * c / norm;
    double low = -INFINITY, high = INFINITY;
    const double along[2] = {-b, a}, least[2] = {-width - x, -y}, most[2] = {width - x, height - y};
    for (int i = 0; i < 2; i++) {
        const double first = least[i] / along[i], second = most[i] / along[i];
        if (along[i] == 0 && (least[i] > 0 || most[i] < 0)) return;
        if (along[i] == 0) continue;
        low = fmax(low, fmin(first, second));
        high = fmin(high, fmax(first, second));
    }
    if (!(low < high)) return;
    add_series(p, label, style, 3);
    add_segment(p, x + low * along[0], y + low * along[1], x + high * along[0], y + high * along[1]);
}

static carom_status draw_impulse_plane(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    const carom_contact_problem *q = &h->curve.problem;
    const carom_contact_state *end = &h->curve.states[h->curve.count - 1];
    double reach = 0;
    for (int i = 0; i < h->curve.count; i++) reach = fmax(reach, fabs(h->curve.states[i].impulse.tangent[0]));
    const double height = BEYOND * end->impulse.normal, width = 2 * BEYOND * fmax(reach, 0.25 * height);
    canvas c = {0};
    if (height > 0) {
        add_line(&c, "no slip", CAROM_PLOT_LINE, q->tangential[0], q->coupling[0], q->velocity.tangent[0], width, height);
        add_line(&c, "greatest compression", CAROM_PLOT_LINE, q->coupling[0], q->normal, q->velocity.normal, width, height);
        add_line(&c, "limits of friction", CAROM_PLOT_GUIDE, 1, -q->friction, 0, width, height);
        add_line(&c, "", CAROM_PLOT_GUIDE, 1, q->friction, 0, width, height);
    }
    add_series(&c, "impulse", CAROM_PLOT_LINE, h->curve.count);
    for (int i = 0; i < h->curve.count; i++) place_in_plane(&c, &h->curve.states[i]);
    add_events(&c, h, place_in_plane);
    return write_canvas(&c, carom_scene_name(h->scene), "tangential impulse [N s]", "normal impulse [N s]", false, directory,
                        "impulse-plane", files, error);
}

carom_status hodograph_draw(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    if (h->tangent_dim == 1) return draw_impulse_plane(h, directory, files, error);
    const carom_status status = draw_hodograph(h, directory, files, error);
    return status ? status : draw_impulses(h, directory, files, error);
}
