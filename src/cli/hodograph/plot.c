// SPDX-License-Identifier: Apache-2.0
// Pictures of `carom hodograph`: the plane of slip with its invariant rays, impulses over their clock, and Routh's plane of impulses.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/canvas.h"
#include "cli/hodograph/hodograph.h"

// Rays and guides run this much farther than the curves.
#define BEYOND 1.12

// Where in the picture a state stands: one or two points.
typedef void (*place_state)(cli_canvas *c, const carom_contact_state *state);

static void place_slip(cli_canvas *c, const carom_contact_state *state) {
    cli_canvas_point(c, state->velocity.tangent[0], state->velocity.tangent[1]);
}

static void place_impulses(cli_canvas *c, const carom_contact_state *state) {
    for (int i = 0; i < 2; i++) cli_canvas_point(c, state->impulse.normal, state->impulse.tangent[i]);
}

static void place_in_plane(cli_canvas *c, const carom_contact_state *state) {
    cli_canvas_point(c, state->impulse.tangent[0], state->impulse.normal);
}

// Marks the start of the curve and its events, except where slip meets an invariant ray.
static void add_events(cli_canvas *c, const hodograph *h, place_state place) {
    const char *events = h->curve.result.events;
    cli_canvas_series(c, "start", CAROM_PLOT_MARKS, 2);
    place(c, &h->curve.states[0]);
    for (int i = 0; events[i]; i++) {
        if (events[i] == 'l') continue;
        cli_canvas_series(c, hodograph_event_name(events[i]), CAROM_PLOT_MARKS, 2);
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
    cli_canvas c = {0};
    // Rays reach a little beyond the largest slip of all curves.
    double radius = largest_slip(&h->curve);
    int64_t points = 0;
    for (int i = 0; i < h->fan_count; i++) {
        radius = fmax(radius, largest_slip(&h->fan[i]));
        points += h->fan[i].count + 1;
    }
    radius *= BEYOND;
    // The fan comes first, so that the scene's own curve lies on top.
    if (points) cli_canvas_series(&c, "other initial slips", CAROM_PLOT_TRACES, points);
    for (int i = 0; i < h->fan_count; i++) {
        for (int k = 0; k < h->fan[i].count; k++) place_slip(&c, &h->fan[i].states[k]);
        cli_canvas_point(&c, NAN, NAN);
    }
    cli_canvas_series(&c, "hodograph", CAROM_PLOT_LINE, h->curve.count);
    for (int i = 0; i < h->curve.count; i++) place_slip(&c, &h->curve.states[i]);
    // Rays from the origin, a series for each kind that there is.
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        bool found = false;
        for (int i = 0; i < h->ray_count; i++) {
            if (h->rays[i].type != kinds[kind].type) continue;
            if (!found) cli_canvas_series(&c, kinds[kind].label, kinds[kind].style, 3 * CAROM_MOST_RAYS);
            found = true;
            cli_canvas_segment(&c, 0, 0, radius * h->rays[i].direction[0], radius * h->rays[i].direction[1]);
        }
    }
    add_events(&c, h, place_slip);
    const carom_plot plot = {.title = carom_scene_name(h->scene),
                             .x_label = "slip along tangent 1 [m/s]",
                             .y_label = "slip along tangent 2 [m/s]",
                             .equal = true};
    return cli_canvas_write(&c, plot, directory, "hodograph", files, error);
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
    cli_canvas c = {0};
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
        cli_canvas_series(&c, lines[i].label, lines[i].style, 3);
        cli_canvas_segment(&c, x + low * along[0], y + low * along[1], x + high * along[0], y + high * along[1]);
    }
    cli_canvas_series(&c, "impulse", CAROM_PLOT_LINE, h->curve.count);
    for (int i = 0; i < h->curve.count; i++) place_in_plane(&c, &h->curve.states[i]);
    add_events(&c, h, place_in_plane);
    const carom_plot plot = {.title = carom_scene_name(h->scene), .x_label = "tangential impulse [N s]", .y_label = "normal impulse [N s]"};
    return cli_canvas_write(&c, plot, directory, "impulse-plane", files, error);
}

carom_status hodograph_draw(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    if (h->tangent_dim == 1) return draw_impulse_plane(h, directory, files, error);
    const carom_status status = draw_slip(h, directory, files, error);
    if (status) return status;
    // Tangential impulses over the normal impulse, which is the clock of the process.
    static const char *const labels[] = {"along tangent 1", "along tangent 2"};
    cli_canvas c = {0};
    for (int axis = 0; axis < 2; axis++) {
        cli_canvas_series(&c, labels[axis], CAROM_PLOT_LINE, h->curve.count);
        for (int i = 0; i < h->curve.count; i++)
            cli_canvas_point(&c, h->curve.states[i].impulse.normal, h->curve.states[i].impulse.tangent[axis]);
    }
    add_events(&c, h, place_impulses);
    const carom_plot plot = {.title = carom_scene_name(h->scene), .x_label = "normal impulse [N s]", .y_label = "tangential impulse [N s]"};
    return cli_canvas_write(&c, plot, directory, "impulse", files, error);
}
