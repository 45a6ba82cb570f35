// SPDX-License-Identifier: Apache-2.0
// Pictures of `carom hodograph`: the plane of slip with its invariant rays, impulses over their clock, and Routh's plane of impulses.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "carom/space.h"
#include "cli/canvas.h"
#include "cli/hodograph/hodograph.h"

// Rays and guides run this much farther than the curves.
#define BEYOND 1.12
// The fastest rate of slip is drawn so long, as a share of the picture's radius.
#define CONE_SHARE 0.5

// A convex polygon gets one corner more for each half plane that cuts it.
enum { MOST_HEADS = 24 };  // of arrows in a fan
enum { CONE_POINTS = 96, COMPRESSION_CORNERS = 4 + CONE_POINTS + 2 };

static const double FULL_TURN = 6.283185307179586476925286766559;

// Looks, places in carom_plot_looks: the same thing has the same one in all pictures.
enum {
    LOOK_COURSE = 0,       // the scene's own curve, and its start
    LOOK_COMPRESSION = 1,  // where compression ends; the centrifugal direction
    LOOK_NO_SLIP = 2,      // where slip is zero; attracting directions
    LOOK_MERGED = 8,
    LOOK_OTHERS = 6,  // the fan
};

// Where in the picture a state stands.
typedef void (*locate_state)(const carom_contact_state *state, double at[2]);

static void locate_slip(const carom_contact_state *state, double at[2]) { memcpy(at, state->velocity.tangent, 2 * sizeof *at); }

static void locate_in_plane(const carom_contact_state *state, double at[2]) {
    at[0] = state->impulse.tangent[0];
    at[1] = state->impulse.normal;
}

static void locate_first(const carom_contact_state *state, double at[2]) {
    at[0] = state->impulse.normal;
    at[1] = state->impulse.tangent[0];
}

static void locate_second(const carom_contact_state *state, double at[2]) {
    at[0] = state->impulse.normal;
    at[1] = state->impulse.tangent[1];
}

// The look of an event's mark, by its letter.
static int event_look(char event) { return event == 'c' ? 3 : event == 's' ? 4 : event == 'k' ? 5 : 7; }

// The name of an event in the key, where it is the first of its kind.
static const char *event_label(const char *events, int i) {
    return strchr(events, events[i]) == events + i ? hodograph_event_name(events[i]) : "";
}

static void place_state(cli_canvas *c, const carom_contact_state *state, locate_state locate) {
    double at[2];
    locate(state, at);
    cli_canvas_point(c, at[0], at[1]);
}

static void add_curve(cli_canvas *c, const hodograph_curve *curve, locate_state locate) {
    for (int i = 0; i < curve->count; i++) place_state(c, &curve->states[i], locate);
}

// Marks the start of the curve and its events, except where slip meets an invariant ray.
static void add_events(cli_canvas *c, const hodograph *h, locate_state locate) {
    const char *events = h->curve.result.events;
    cli_canvas_series(c, "start", CAROM_PLOT_MARKS, 1);
    cli_canvas_look(c, LOOK_COURSE);
    place_state(c, &h->curve.states[0], locate);
    for (int i = 0; events[i]; i++) {
        if (events[i] == 'l') continue;
        cli_canvas_series(c, event_label(events, i), CAROM_PLOT_MARKS, 1);
        cli_canvas_look(c, event_look(events[i]));
        place_state(c, hodograph_event_state(&h->curve, i), locate);
    }
}

// Heads of arrows that say where a curve goes: at equal shares of its length, each from the state before to the place itself.
static void add_heads(cli_canvas *c, const hodograph_curve *curve, locate_state locate, int heads) {
    double length = 0, from[2], to[2];
    for (int i = 1; i < curve->count; i++) {
        locate(&curve->states[i - 1], from);
        locate(&curve->states[i], to);
        length += hypot(to[0] - from[0], to[1] - from[1]);
    }
    double gone = 0;
    int made = 0;
    for (int i = 1; i < curve->count && length > 0; i++) {
        locate(&curve->states[i - 1], from);
        locate(&curve->states[i], to);
        const double step = hypot(to[0] - from[0], to[1] - from[1]);
        for (; made < heads && gone + step >= length * (made + 1) / (heads + 1); made++) {
            const double share = step > 0 ? (length * (made + 1) / (heads + 1) - gone) / step : 1;
            cli_canvas_segment(c, from[0], from[1], from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1]));
        }
        gone += step;
    }
}

// The part of the line point + t along that is within a box: t[0] <= t[1], or none.
static bool clip_line(int dimension, const double *point, const double *along, const double *low, const double *high, double t[2]) {
    t[0] = -INFINITY;
    t[1] = INFINITY;
    for (int k = 0; k < dimension; k++) {
        const double first = (low[k] - point[k]) / along[k], second = (high[k] - point[k]) / along[k];
        if (along[k] == 0 && (point[k] < low[k] || point[k] > high[k])) return false;
        if (along[k] == 0) continue;
        t[0] = fmax(t[0], fmin(first, second));
        t[1] = fmin(t[1], fmax(first, second));
    }
    return t[0] < t[1];
}

// The largest tangential impulse of the process, and a quarter of the normal one where that is more: pictures of impulses are so wide.
static double impulse_reach(const hodograph *h) {
    double reach = 0.25 * h->curve.states[h->curve.count - 1].impulse.normal;
    for (int i = 0; i < h->curve.count; i++) {
        const double *tangent = h->curve.states[i].impulse.tangent;
        reach = fmax(reach, hypot(tangent[0], tangent[1]));
    }
    return reach;
}

// ---------------------------------------------------------------------------------------------------------- hodographs

// The largest speed of slip on a curve.
static double largest_slip(const hodograph_curve *curve) {
    double speed = 0;
    for (int i = 0; i < curve->count; i++)
        speed = fmax(speed, hypot(curve->states[i].velocity.tangent[0], curve->states[i].velocity.tangent[1]));
    return speed;
}

// The plane of slip. From below: the friction cone, the rays on which the direction of slip does not change, the fan, the curve.
static carom_status draw_slip(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    static const struct {
        carom_ray_type type;
        const char *label;
        carom_plot_style style;
        int look;
    } kinds[] = {{CAROM_RAY_ATTRACTING, "attracting directions", CAROM_PLOT_LINE, LOOK_NO_SLIP},
                 {CAROM_RAY_CENTRIFUGAL, "centrifugal direction", CAROM_PLOT_LINE, LOOK_COMPRESSION},
                 {CAROM_RAY_MERGED, "merged directions", CAROM_PLOT_LINE, LOOK_MERGED},
                 {CAROM_RAY_REPELLING, "repelling directions", CAROM_PLOT_GUIDE, 0}};
    const carom_contact_problem *problem = &h->curve.problem;
    cli_canvas c = {0};
    // Rays reach a little beyond the largest slip of all curves.
    double radius = largest_slip(&h->curve);
    int64_t points = 0;
    for (int i = 0; i < h->fan_count; i++) {
        radius = fmax(radius, largest_slip(&h->fan[i]));
        points += h->fan[i].count + 1;
    }
    radius *= BEYOND;

    // What the friction cone makes of slip: an impulse (-mu s, 1) of the cone changes it at the rate d - mu B s, and all of them fill an
    // ellipse, drawn around zero slip with a scale of its own. Zero is inside where friction can hold the contact: |B^-1 d| < mu.
    double rates[2 * CONE_POINTS], fastest = 0;
    for (int i = 0; i < CONE_POINTS; i++) {
        const double s[2] = {cos(FULL_TURN * i / CONE_POINTS), sin(FULL_TURN * i / CONE_POINTS)}, *B = problem->tangential;
        for (int k = 0; k < 2; k++) rates[2 * i + k] = problem->coupling[k] - problem->friction * (B[k] * s[0] + B[k + 1] * s[1]);
        fastest = fmax(fastest, hypot(rates[2 * i], rates[2 * i + 1]));
    }
    if (problem->friction > 0) {
        cli_canvas_series(&c, "friction cone: rates of slip (own scale)", CAROM_PLOT_CONE, CONE_POINTS + 1);
        for (int i = 0; i <= CONE_POINTS; i++) {
            const double *rate = rates + 2 * (i % CONE_POINTS);
            cli_canvas_point(&c, CONE_SHARE * radius / fastest * rate[0], CONE_SHARE * radius / fastest * rate[1]);
        }
    }
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        bool found = false;
        for (int i = 0; i < h->ray_count; i++) {
            if (h->rays[i].type != kinds[kind].type) continue;
            if (!found) cli_canvas_series(&c, kinds[kind].label, kinds[kind].style, 3 * CAROM_MOST_RAYS);
            if (!found) cli_canvas_look(&c, kinds[kind].look);
            found = true;
            cli_canvas_segment(&c, 0, 0, radius * h->rays[i].direction[0], radius * h->rays[i].direction[1]);
        }
    }
    if (points) {
        cli_canvas_series(&c, "other initial slips", CAROM_PLOT_TRACES, points);
        for (int i = 0; i < h->fan_count; i++) {
            add_curve(&c, &h->fan[i], locate_slip);
            cli_canvas_point(&c, NAN, NAN);
        }
        cli_canvas_series(&c, "", CAROM_PLOT_ARROWS, 3 * MOST_HEADS);
        cli_canvas_look(&c, LOOK_OTHERS);
        const int each = (h->fan_count + MOST_HEADS - 1) / MOST_HEADS;
        for (int i = 0; i < h->fan_count; i += each) add_heads(&c, &h->fan[i], locate_slip, 1);
    }
    cli_canvas_series(&c, "hodograph", CAROM_PLOT_LINE, h->curve.count);
    cli_canvas_look(&c, LOOK_COURSE);
    add_curve(&c, &h->curve, locate_slip);
    cli_canvas_series(&c, "", CAROM_PLOT_ARROWS, 6);
    cli_canvas_look(&c, LOOK_COURSE);
    add_heads(&c, &h->curve, locate_slip, 2);
    add_events(&c, h, locate_slip);
    const carom_plot plot = {.title = carom_scene_name(h->scene),
                             .x_label = "slip along tangent 1 [m/s]",
                             .y_label = "slip along tangent 2 [m/s]",
                             .equal = true,
                             .size = h->size};
    return cli_canvas_write(&c, plot, directory, "hodograph", files, error);
}

// ------------------------------------------------------------------------------------------------ Routh's impulse plane

// A line a x + b y + c = 0.
typedef struct line {
    const char *label;
    carom_plot_style style;
    int look;
    double a, b, c;
} line;

// Routh's plane of a planar contact: the path of the impulse within the friction cone, and the lines where something changes.
static carom_status draw_impulse_plane(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    const carom_contact_problem *problem = &h->curve.problem;
    // Contact velocities are linear in the impulse: slip u_t + B p_t + d p_n = 0, normal velocity u_n + d p_t + w p_n = 0.
    const line lines[] = {
        {"no slip", CAROM_PLOT_GUIDE, LOOK_NO_SLIP, problem->tangential[0], problem->coupling[0], problem->velocity.tangent[0]},
        {"greatest compression", CAROM_PLOT_LINE, LOOK_COMPRESSION, problem->coupling[0], problem->normal, problem->velocity.normal},
    };
    // The picture: as high as the last impulse, and wide enough for the line of friction.
    const double height = BEYOND * h->curve.states[h->curve.count - 1].impulse.normal, width = 2 * BEYOND * impulse_reach(h);
    cli_canvas c = {0};
    // The cone |p_t| <= mu p_n, up to the borders.
    const double mu = problem->friction, edge = fmin(width, mu * height), rise = mu * height > width ? width / mu : height;
    if (mu > 0 && height > 0) {
        cli_canvas_series(&c, "friction cone", CAROM_PLOT_CONE, 6);
        const double x[] = {0, edge, edge, -edge, -edge, 0}, y[] = {0, rise, height, height, rise, 0};
        for (int i = 0; i < 6; i++) cli_canvas_point(&c, x[i], y[i]);
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines && height > 0; i++) {
        // Through the line's point nearest to the origin, along (-b, a), between the borders.
        const double a = lines[i].a, b = lines[i].b, norm = a * a + b * b, point[2] = {-a * lines[i].c / norm, -b * lines[i].c / norm};
        const double along[2] = {-b, a}, low[2] = {-width, 0}, high[2] = {width, height};
        double t[2];
        if (!clip_line(2, point, along, low, high, t)) continue;
        cli_canvas_series(&c, lines[i].label, lines[i].style, 3);
        cli_canvas_look(&c, lines[i].look);
        cli_canvas_segment(&c, point[0] + t[0] * along[0], point[1] + t[0] * along[1], point[0] + t[1] * along[0],
                           point[1] + t[1] * along[1]);
    }
    cli_canvas_series(&c, "impulse", CAROM_PLOT_LINE, h->curve.count);
    cli_canvas_look(&c, LOOK_COURSE);
    add_curve(&c, &h->curve, locate_in_plane);
    cli_canvas_series(&c, "", CAROM_PLOT_ARROWS, 3);
    cli_canvas_look(&c, LOOK_COURSE);
    add_heads(&c, &h->curve, locate_in_plane, 1);
    add_events(&c, h, locate_in_plane);
    const carom_plot plot = {.title = carom_scene_name(h->scene),
                             .x_label = "tangential impulse [N s]",
                             .y_label = "normal impulse [N s]",
                             .equal = true,
                             .size = h->size};
    return cli_canvas_write(&c, plot, directory, "impulse-plane", files, error);
}

// ------------------------------------------------------------------------------------------------------ impulses in space

// The corners of the area where compression ends, [corners x 3]: the plane d.It + w Iz + u_n = 0, within the friction cone and the box
// |It_k| <= side, 0 <= Iz <= height. Returns their number.
static int find_compression(const carom_contact_problem *problem, double side, double height, double corners[3 * COMPRESSION_CORNERS]) {
    double kept[COMPRESSION_CORNERS][2] = {{-side, -side}, {side, -side}, {side, side}, {-side, side}}, cut[COMPRESSION_CORNERS][2];
    int count = 4;
    // The plane's height over tangential impulses, Iz = rise + slope.It, is linear, and so is each bound, free + normal.It >= 0: the top,
    // the floor, and half spaces around the cone, s.It <= mu Iz. What is beyond them is cut off (Sutherland & Hodgman 1974).
    const double rise = -problem->velocity.normal / problem->normal,
                 slope[2] = {-problem->coupling[0] / problem->normal, -problem->coupling[1] / problem->normal};
    const double mu = problem->friction;
    for (int bound = 0; bound < 2 + (mu > 0 ? CONE_POINTS : 0); bound++) {
        const double turn = FULL_TURN * bound / CONE_POINTS, sign = bound ? 1 : -1;
        double free = sign * rise + (bound ? 0 : height), normal[2] = {sign * slope[0], sign * slope[1]};
        if (bound > 1) {
            free = mu * rise;
            normal[0] = mu * slope[0] - cos(turn);
            normal[1] = mu * slope[1] - sin(turn);
        }
        int left = 0;
        for (int i = 0; i < count; i++) {
            const double *a = kept[i], *b = kept[(i + 1) % count];
            const double inside_a = free + normal[0] * a[0] + normal[1] * a[1], inside_b = free + normal[0] * b[0] + normal[1] * b[1];
            if (inside_a >= 0) memcpy(cut[left++], a, sizeof cut[0]);
            if ((inside_a >= 0) == (inside_b >= 0)) continue;
            for (int k = 0; k < 2; k++) cut[left][k] = a[k] + inside_a / (inside_a - inside_b) * (b[k] - a[k]);
            left++;
        }
        memcpy(kept, cut, (size_t)left * sizeof cut[0]);
        count = left;
    }
    for (int i = 0; i < count; i++) {
        memcpy(corners + 3 * i, kept[i], sizeof kept[i]);
        corners[3 * i + 2] = rise + slope[0] * kept[i][0] + slope[1] * kept[i][1];
    }
    return count;
}

// The impulse of a spatial contact as a curve in space, its shadow on the floor, the friction cone, the plane on which compression ends,
// and the line on which slip is zero.
static carom_status draw_impulse_space(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    enum { MOST_SERIES = 8 + CAROM_MOST_CONTACT_EVENTS };
    const carom_contact_problem *problem = &h->curve.problem;
    const int count = h->curve.count;
    const double side = BEYOND * impulse_reach(h), height = BEYOND * h->curve.states[count - 1].impulse.normal;
    carom_arena arena = {0};
    double *curve = carom_arena_take(&arena, 3 * (size_t)count, sizeof *curve),
           *shadow = carom_arena_take(&arena, 3 * (size_t)count, sizeof *shadow);
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "picture");
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            curve[3 * i + k] = k < 2 ? h->curve.states[i].impulse.tangent[k] : h->curve.states[i].impulse.normal;
            shadow[3 * i + k] = k < 2 ? curve[3 * i + k] : 0;
        }
    carom_space_series series[MOST_SERIES];
    int made = 0;
    // The cone |It| <= mu Iz as far as it is within the box: its tip and a circle, which is drawn once more.
    const double mu = problem->friction, rise = mu * height > side ? side / mu : height;
    double cone[3 * (CONE_POINTS + 2)] = {0};
    for (int i = 0; i <= CONE_POINTS; i++) {
        cone[3 * i + 3] = mu * rise * cos(FULL_TURN * i / CONE_POINTS);
        cone[3 * i + 4] = mu * rise * sin(FULL_TURN * i / CONE_POINTS);
        cone[3 * i + 5] = rise;
    }
    if (mu > 0 && height > 0) {
        series[made++] = (carom_space_series){"friction cone", CAROM_PLOT_CONE, 0, CONE_POINTS + 2, cone};
        series[made++] = (carom_space_series){"", CAROM_PLOT_TRACES, 0, CONE_POINTS + 1, cone + 3};
    }
    double compression[3 * COMPRESSION_CORNERS];
    const int corners = find_compression(problem, side, height, compression);
    if (corners > 2)
        series[made++] = (carom_space_series){"compression ends (plane)", CAROM_PLOT_AREAS, LOOK_COMPRESSION, corners, compression};
    series[made++] = (carom_space_series){"impulse on the floor", CAROM_PLOT_TRACES, 0, count, shadow};
    // No slip: It = -B^-1 (gamma- + d Iz).
    const double *B = problem->tangential, determinant = B[0] * B[2] - B[1] * B[1];
    double point[3] = {0}, along[3] = {0, 0, 1}, t[2], stick[6];
    for (int part = 0; part < 2; part++) {
        const double *right = part ? problem->coupling : problem->velocity.tangent;
        double *solution = part ? along : point;
        solution[0] = -(B[2] * right[0] - B[1] * right[1]) / determinant;
        solution[1] = -(B[0] * right[1] - B[1] * right[0]) / determinant;
    }
    const double low[3] = {-side, -side, 0}, high[3] = {side, side, height};
    if (clip_line(3, point, along, low, high, t)) {
        for (int i = 0; i < 6; i++) stick[i] = point[i % 3] + t[i / 3] * along[i % 3];
        series[made++] = (carom_space_series){"no slip (line)", CAROM_PLOT_GUIDE, LOOK_NO_SLIP, 2, stick};
    }
    series[made++] = (carom_space_series){"impulse", CAROM_PLOT_LINE, LOOK_COURSE, count, curve};
    // An arrow halfway to the first event.
    const char *events = h->curve.result.events;
    int half = 1;
    const double halfway = *events ? 0.5 * hodograph_event_state(&h->curve, *events == 'l')->impulse.normal : 0;
    while (half < count - 1 && curve[3 * half + 2] < halfway) half++;
    double arrow[6];
    if (halfway > 0 && count > 1) {
        const double *from = curve + 3 * (half - 1), *to = curve + 3 * half, share = fmin(1, (halfway - from[2]) / (to[2] - from[2]));
        for (int k = 0; k < 3; k++) {
            arrow[k] = from[k];
            arrow[3 + k] = from[k] + share * (to[k] - from[k]);
        }
        series[made++] = (carom_space_series){"", CAROM_PLOT_ARROWS, LOOK_COURSE, 2, arrow};
    }
    series[made++] = (carom_space_series){"start", CAROM_PLOT_MARKS, LOOK_COURSE, 1, curve};
    for (int i = 0; events[i] && made < MOST_SERIES; i++)
        if (events[i] != 'l')
            series[made++] = (carom_space_series){event_label(events, i), CAROM_PLOT_MARKS, event_look(events[i]), 1,
                                                  curve + 3 * (hodograph_event_state(&h->curve, i) - h->curve.states)};
    const carom_space_plot plot = {.title = carom_scene_name(h->scene),
                                   .label = {"along tangent 1 [N s]", "along tangent 2 [N s]", "normal impulse [N s]"},
                                   .series = series,
                                   .series_count = made,
                                   .size = h->size};
    carom_status status = CAROM_OK;
    static const char *const names[] = {"impulse-space.png", "impulse-space.svg"};
    for (int i = 0; i < 2 && !status; i++) {
        char *path = cli_join_path(directory, names[i]);
        status = path ? carom_space_write(&plot, path, error) : carom_fail_memory(error, "picture");
        if (!status) cli_note_file(files, path);
        free(path);
    }
    carom_arena_free(&arena);
    return status;
}

carom_status hodograph_draw(const hodograph *h, const char *directory, json_t *files, carom_error *error) {
    if (h->tangent_dim == 1) return draw_impulse_plane(h, directory, files, error);
    carom_status status = draw_slip(h, directory, files, error);
    if (!status) status = draw_impulse_space(h, directory, files, error);
    if (status) return status;
    // Tangential impulses over the normal impulse, which is the clock of the process, within the friction cone |It_i| <= mu Iz: all of it,
    // unless the impulse would look small in it.
    static const char *const labels[] = {"along tangent 1", "along tangent 2"};
    const double end = h->curve.states[h->curve.count - 1].impulse.normal, mu = h->curve.problem.friction,
                 reach = 2 * BEYOND * impulse_reach(h);
    const double rise = mu * end > reach ? reach / mu : end, edge = fmin(reach, mu * end);
    cli_canvas c = {0};
    if (mu > 0 && end > 0) {
        cli_canvas_series(&c, "friction cone", CAROM_PLOT_CONE, 6);
        const double x[] = {0, rise, end, end, rise, 0}, y[] = {0, edge, edge, -edge, -edge, 0};
        for (int i = 0; i < 6; i++) cli_canvas_point(&c, x[i], y[i]);
    }
    for (int axis = 0; axis < 2; axis++) {
        const locate_state locate = axis ? locate_second : locate_first;
        cli_canvas_series(&c, labels[axis], CAROM_PLOT_LINE, h->curve.count);
        cli_canvas_look(&c, axis ? LOOK_COMPRESSION : LOOK_COURSE);
        add_curve(&c, &h->curve, locate);
    }
    // Events have a mark on either curve.
    const char *events = h->curve.result.events;
    for (int i = 0; events[i]; i++) {
        if (events[i] == 'l') continue;
        cli_canvas_series(&c, event_label(events, i), CAROM_PLOT_MARKS, 2);
        cli_canvas_look(&c, event_look(events[i]));
        for (int axis = 0; axis < 2; axis++) place_state(&c, hodograph_event_state(&h->curve, i), axis ? locate_second : locate_first);
    }
    const carom_plot plot = {
        .title = carom_scene_name(h->scene), .x_label = "normal impulse [N s]", .y_label = "tangential impulse [N s]", .size = h->size};
    return cli_canvas_write(&c, plot, directory, "impulse", files, error);
}
