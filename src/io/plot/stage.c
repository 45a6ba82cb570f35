// SPDX-License-Identifier: Apache-2.0
// Pictures of a mechanism at an impact. Everything is placed on paper here, so that views have one scale, arrows heads of one size, and
// texts room.
#include "carom/stage.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/sets.h"
#include "carom/vector3.h"
#include "io/plot/stage_internal.h"

// Lengths of what is drawn besides bodies, as shares of the largest extent of a view.
#define LONGEST_VELOCITY 0.22
#define LONGEST_IMPULSE  0.25
#define CONE             0.13
#define NORMAL           0.17
#define GROUND_MARGIN    0.12
// Cones and normals of more contacts are smaller, so that together they hide no more.
#define FULL_CONES 4
// A contact with so much of a body before it is hidden.
#define HIDDEN 0.05
// Arrows shorter than this share of the longest one of their kind are round-off.
#define NO_ARROW 1e-6

// On paper [mm]: margins, room for labels around a view, between views, between strokes of the ground.
#define MARGIN     4.0
#define LABEL_ROOM 5.0
#define PANEL_GAP  6.0
#define HATCH      1.6
// Names that take more of a view's width are long.
#define LONG_NAME 0.13
// Height of a row of views at least, as a share of the width.
#define LEAST_DRAWING 0.5

enum { NUMBERED_FROM = 7, MOST_TREES = 40, CIRCLE = 24 };

// -------------------------------------------------------------------------------------------------------------- content

carom_status carom_stage_draw(const carom_stage *stage, int index, carom_arena *arena, carom_stage_drawing *drawing, carom_error *error) {
    const int count = stage->solids.count;
    int *order = carom_arena_take(arena, (size_t)count, sizeof *order);
    drawing->outline = carom_arena_take(arena, (size_t)count, sizeof *drawing->outline);
    drawing->order = order;
    carom_status status = arena->failed ? carom_fail_memory(error, "a drawing") : CAROM_OK;
    for (int i = 0; i < count && !status; i++)
        if (stage->solids.solid[i].kind != CAROM_SOLID_PLANE)
            status = carom_solid_outline(&stage->solids.solid[i], &stage->view[index], arena, &drawing->outline[i], error);
    if (!status) status = carom_solids_order(count, stage->solids.solid, drawing->outline, &stage->view[index], order, error);
    return status;
}

static const stage_frame empty_frame = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};

static void hold(stage_frame *f, const double at[2]) {
    for (int k = 0; k < 2 && isfinite(at[0]) && isfinite(at[1]); k++) {
        f->low[k] = fmin(f->low[k], at[k]);
        f->high[k] = fmax(f->high[k], at[k]);
    }
}

static void hold_outline(stage_frame *f, const carom_outline *outline) {
    for (int i = 0; i < outline->corners; i++) hold(f, outline->corner + 2 * i);
    for (int i = 0; i < outline->points; i++) hold(f, outline->line + 2 * i);
}

static void hold_arrow(stage_frame *f, const carom_view *view, const double from[3], const double along[3], double scale) {
    double to[3], at[2];
    for (int k = 0; k < 3; k++) to[k] = from[k] + scale * along[k];
    carom_view_project(view, from, at);
    hold(f, at);
    carom_view_project(view, to, at);
    hold(f, at);
}

bool stage_is_drawn(const carom_stage_contact *contact) {
    return isfinite(carom_dot3(contact->point, contact->point)) && isfinite(carom_dot3(contact->normal, contact->normal));
}

static double longest_of(double longest, const double vector[3]) {
    const double length = carom_norm3(vector);
    return isfinite(length) ? fmax(longest, length) : longest;
}

static stage_scales find_scales(const carom_stage *stage, double extent) {
    stage_scales s = {.extent = extent > 0 ? extent : 1, .trees = stage->solids.trees > MOST_TREES ? 0 : stage->solids.trees};
    for (int i = 0; i < s.trees; i++) s.centre = longest_of(s.centre, stage->solids.tree[i].velocity);
    for (int i = 0; i < stage->contacts; i++)
        if (stage_is_drawn(&stage->contact[i])) s.contact = longest_of(s.contact, stage->contact[i].velocity);
    const double shrink = stage->contacts > FULL_CONES ? sqrt((double)FULL_CONES / stage->contacts) : 1;
    s.cone = shrink * CONE * s.extent;
    s.normal = shrink * NORMAL * s.extent;
    s.velocity = fmax(s.contact, s.centre);
    for (int i = 0; i < stage->contacts; i++) {
        if (!stage_is_drawn(&stage->contact[i])) continue;
        for (int k = 0; k < stage->outcomes; k++) {
            s.velocity = longest_of(s.velocity, stage->outcome[k].velocity + 3 * i);
            s.impulse = longest_of(s.impulse, stage->outcome[k].impulse + 3 * i);
        }
    }
    s.per_velocity = s.velocity > 0 ? LONGEST_VELOCITY * s.extent / s.velocity : 0;
    s.per_impulse = s.impulse > 0 ? LONGEST_IMPULSE * s.extent / s.impulse : 0;
    return s;
}

// Points of a friction cone as it is seen, [CIRCLE + 1 x 2] in metres: its tip, and its rim, which in the plane has two points. Returns
// their number.
static int find_cone(const carom_stage *stage, const carom_view *view, const carom_stage_contact *contact, double length, double *points) {
    const double angle = atan(contact->friction), along = length * cos(angle), across = length * sin(angle);
    double tangents[6], point[3];
    carom_complete_frame3(contact->normal, tangents);
    if (stage->planar) memcpy(tangents, contact->tangent, 3 * sizeof *tangents);
    carom_view_project(view, contact->point, points);
    const int rim = stage->planar ? 2 : CIRCLE;
    for (int i = 0; i < rim; i++) {
        const double turn = 6.283185307179586 * i / rim, first = across * cos(turn), second = stage->planar ? 0 : across * sin(turn);
        for (int k = 0; k < 3; k++)
            point[k] = contact->point[k] + along * contact->normal[k] + first * tangents[k] + second * tangents[3 + k];
        carom_view_project(view, point, points + 2 * (i + 1));
    }
    return rim + 1;
}

// --------------------------------------------------------------------------------------------------------------- ground

enum { GROUND_CORNERS = 4 + 16 };

// The corners of a plane's part that is shown, [m]: under everything else, with a margin, within its own size, and on the side of other
// planes where bodies are. Returns their number.
static int find_ground(const carom_stage *stage, const carom_solid *plane, double extent, carom_arena *arena,
                       double corners[GROUND_CORNERS * 3], carom_status *status, carom_error *error) {
    carom_view above = {.name = "above"};
    for (int k = 0; k < 3; k++) {
        above.right[k] = plane->rotation[3 * k];
        above.up[k] = plane->rotation[3 * k + 1];
        above.toward[k] = plane->rotation[3 * k + 2];
    }
    stage_frame under = empty_frame;
    for (int i = 0; i < stage->solids.count && !*status; i++) {
        carom_outline outline;
        if (stage->solids.solid[i].kind == CAROM_SOLID_PLANE) continue;
        *status = carom_solid_outline(&stage->solids.solid[i], &above, arena, &outline, error);
        if (!*status) hold_outline(&under, &outline);
    }
    double center[2], at[2];
    carom_view_project(&above, plane->position, center);
    for (int i = 0; i < stage->contacts; i++) {
        carom_view_project(&above, stage->contact[i].point, at);
        hold(&under, at);
    }
    if (*status || !(under.low[0] <= under.high[0])) return 0;
    for (int k = 0; k < 2; k++) {
        under.low[k] -= GROUND_MARGIN * extent;
        under.high[k] += GROUND_MARGIN * extent;
        if (plane->size[k] <= 0) continue;
        under.low[k] = fmax(under.low[k], center[k] - plane->size[k]);
        under.high[k] = fmin(under.high[k], center[k] + plane->size[k]);
        if (!(under.low[k] < under.high[k])) return 0;
    }
    const double height = carom_dot3(above.toward, plane->position);
    const double xs[4] = {under.low[0], under.high[0], under.high[0], under.low[0]},
                 ys[4] = {under.low[1], under.low[1], under.high[1], under.high[1]};
    int count = 4;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) corners[3 * i + k] = xs[i] * above.right[k] + ys[i] * above.up[k] + height * above.toward[k];

    // Cut off what is below other planes (Sutherland & Hodgman 1974); each of them adds one corner at most.
    for (int j = 0; j < stage->solids.count; j++) {
        const carom_solid *other = &stage->solids.solid[j];
        const double normal[3] = {other->rotation[2], other->rotation[5], other->rotation[8]};
        if (other->kind != CAROM_SOLID_PLANE || other == plane || other->size[0] > 0 || other->size[1] > 0) continue;
        double kept[GROUND_CORNERS * 3];
        int left = 0;
        for (int i = 0; i < count; i++) {
            const double *a = corners + 3 * i, *b = corners + 3 * ((i + 1) % count);
            const double offset = carom_dot3(normal, other->position), above_a = carom_dot3(normal, a) - offset,
                         above_b = carom_dot3(normal, b) - offset;
            if (above_a >= 0 && left < GROUND_CORNERS) memcpy(kept + 3 * left++, a, 3 * sizeof *a);
            if ((above_a >= 0) == (above_b >= 0) || left >= GROUND_CORNERS) continue;
            for (int k = 0; k < 3; k++) kept[3 * left + k] = a[k] + above_a / (above_a - above_b) * (b[k] - a[k]);
            left++;
        }
        memcpy(corners, kept, 3 * (size_t)left * sizeof *kept);
        count = left;
        if (count < 2) return 0;
    }
    return count;
}

// --------------------------------------------------------------------------------------------------------------- panels

static void to_paper(const stage_panel *v, const double seen[2], double at[2]) {
    at[0] = v->left + v->scale * (seen[0] - v->bounds.low[0]);
    at[1] = v->bottom + v->scale * (seen[1] - v->bounds.low[1]);
}

void stage_place(const stage_panel *v, const double point[3], double at[2]) {
    double seen[2];
    carom_view_project(v->view, point, seen);
    to_paper(v, seen, at);
}

// What the bodies need.
static carom_status frame_bodies(carom_paper *p, int index, stage_panel *v, carom_error *error) {
    const carom_stage *stage = v->stage;
    v->view = &stage->view[index];
    v->bounds = empty_frame;
    carom_status status = carom_stage_draw(stage, index, &p->arena, &v->drawing, error);
    for (int i = 0; i < stage->solids.count && !status; i++) hold_outline(&v->bounds, &v->drawing.outline[i]);
    for (int k = 0; k < stage->outcomes && !status; k++) {
        const carom_solids *ghost = &stage->outcome[k].ghost;
        v->ghost[k] = carom_arena_take(&p->arena, (size_t)ghost->count, sizeof *v->ghost[k]);
        if (p->arena.failed) return carom_fail_memory(error, "a picture");
        for (int i = 0; i < ghost->count && !status; i++) {
            if (ghost->solid[i].fixed || ghost->solid[i].kind == CAROM_SOLID_PLANE) continue;
            status = carom_solid_outline(&ghost->solid[i], v->view, &p->arena, &v->ghost[k][i], error);
            hold_outline(&v->bounds, &v->ghost[k][i]);
        }
    }
    for (int i = 0; i < stage->contacts; i++) {
        double at[2];
        carom_view_project(v->view, stage->contact[i].point, at);
        hold(&v->bounds, at);
    }
    return status;
}

// What arrows, cones and the ground need.
static carom_status frame_rest(carom_paper *p, stage_panel *v, const stage_scales *s, carom_error *error) {
    const carom_stage *stage = v->stage;
    carom_status status = CAROM_OK;
    for (int i = 0; i < s->trees; i++)
        hold_arrow(&v->bounds, v->view, stage->solids.tree[i].center, stage->solids.tree[i].velocity, s->per_velocity);
    for (int i = 0; i < stage->contacts; i++) {
        const carom_stage_contact *contact = &stage->contact[i];
        if (!stage_is_drawn(contact)) continue;
        double cone[2 * (CIRCLE + 1)];
        const int points = find_cone(stage, v->view, contact, s->cone, cone);
        for (int k = 0; k < points; k++) hold(&v->bounds, cone + 2 * k);
        hold_arrow(&v->bounds, v->view, contact->point, contact->normal, s->normal);
        hold_arrow(&v->bounds, v->view, contact->point, contact->velocity, s->per_velocity);
        for (int k = 0; k < stage->outcomes; k++) {
            hold_arrow(&v->bounds, v->view, contact->point, stage->outcome[k].velocity + 3 * i, s->per_velocity);
            hold_arrow(&v->bounds, v->view, contact->point, stage->outcome[k].impulse + 3 * i, s->per_impulse);
        }
    }
    const size_t count = (size_t)stage->solids.count;
    v->ground = carom_arena_take(&p->arena, count * GROUND_CORNERS * 3, sizeof *v->ground);
    v->ground_corners = carom_arena_take(&p->arena, count, sizeof *v->ground_corners);
    // Segments of labels: three for each arrow and cone.
    v->segment = carom_arena_take(&p->arena, (size_t)stage->contacts * (size_t)(5 + 2 * stage->outcomes) + (size_t)stage->solids.trees,
                                  sizeof *v->segment);
    v->line_room = (int)count;
    for (size_t i = 0; i < count; i++) v->line_room += v->drawing.outline[i].corners;
    for (int k = 0; k < stage->outcomes; k++)
        for (int i = 0; i < stage->outcome[k].ghost.count; i++) v->line_room += v->ghost[k][i].corners;
    v->line = carom_arena_take(&p->arena, (size_t)v->line_room, sizeof *v->line);
    if (p->arena.failed) return carom_fail_memory(error, "a picture");
    for (size_t i = 0; i < count && !status; i++) {
        const carom_solid *plane = &stage->solids.solid[i];
        if (plane->kind != CAROM_SOLID_PLANE) continue;
        double *corners = v->ground + i * GROUND_CORNERS * 3;
        v->ground_corners[i] = find_ground(stage, plane, s->extent, &p->arena, corners, &status, error);
        for (int k = 0; k < v->ground_corners[i]; k++) {
            double at[2];
            carom_view_project(v->view, corners + 3 * k, at);
            hold(&v->bounds, at);
        }
    }
    return status;
}

// A plane: an area where one looks onto it, and where it is seen from its edge a line with strokes on the side of the ground.
static void draw_ground(carom_paper *p, stage_panel *v, int index) {
    const carom_solid *plane = &v->stage->solids.solid[index];
    const double normal[3] = {plane->rotation[2], plane->rotation[5], plane->rotation[8]},
                 *corners = v->ground + (size_t)index * GROUND_CORNERS * 3;
    const int count = v->ground_corners[index];
    double seen[2 * GROUND_CORNERS];
    for (int i = 0; i < count; i++) stage_place(v, corners + 3 * i, seen + 2 * i);
    if (count < 2) return;
    const double facing = carom_dot3(normal, v->view->toward);
    if (fabs(facing) > 1e-6) {
        carom_paper_shape(p, count, seen, facing > 0 ? 0xf0efec : CAROM_NO_COLOUR, 0xb4b2ac, 1);
        return;
    }
    // The ends of what is seen, along the line.
    const double along[2] = {carom_dot3(v->view->up, normal), -carom_dot3(v->view->right, normal)};
    int first = 0, last = 0;
    for (int i = 1; i < count; i++) {
        const double place = along[0] * seen[2 * i] + along[1] * seen[2 * i + 1];
        if (place < along[0] * seen[2 * first] + along[1] * seen[2 * first + 1]) first = i;
        if (place > along[0] * seen[2 * last] + along[1] * seen[2 * last + 1]) last = i;
    }
    const double *a = seen + 2 * first, *b = seen + 2 * last, length = hypot(b[0] - a[0], b[1] - a[1]);
    const double down[2] = {along[1], -along[0]};  // against the normal
    const int strokes = (int)(length / HATCH);
    for (int i = 0; i < strokes; i++) {
        const double x = a[0] + (i + 0.7) * HATCH * along[0], y = a[1] + (i + 0.7) * HATCH * along[1];
        carom_paper_line(p, x, y, x + HATCH * (0.8 * down[0] - 0.6 * along[0]), y + HATCH * (0.8 * down[1] - 0.6 * along[1]), 0x909090, 1);
    }
    carom_paper_line(p, a[0], a[1], b[0], b[1], 0x606060, 2);
    memcpy(v->line[v->lines], a, 2 * sizeof *a);
    memcpy(v->line[v->lines++] + 2, b, 2 * sizeof *b);
}

// How an outline is drawn.
typedef struct pen {
    int64_t fill, line;
    double width;
    bool dashed;
} pen;

// The corners and lines of an outline on paper. Points become dots, and segments thick lines.
static void draw_outline(carom_paper *p, stage_panel *v, const carom_outline *outline, const pen *how) {
    const double width = how->width;
    carom_mark *area = NULL;
    if (outline->corners == 1) {
        double at[2];
        to_paper(v, outline->corner, at);
        carom_paper_dot(p, at[0], at[1], 0.8, how->line, CAROM_NO_COLOUR, 0);
    } else if (outline->corners) {
        area = carom_paper_add(p, outline->corners);
        for (int i = 0; i < area->points; i++) to_paper(v, outline->corner + 2 * i, area->point + 2 * i);
        area->line = how->line;
        area->fill = outline->corners > 2 ? how->fill : CAROM_NO_COLOUR;
        area->width = outline->corners > 2 ? width : 2 * width;
        area->closed = true;
        area->dashed = how->dashed;
        // Labels keep away from it.
        for (int i = 0; i < area->points && v->lines < v->line_room; i++, v->lines++) {
            memcpy(v->line[v->lines], area->point + 2 * i, 2 * sizeof(double));
            memcpy(v->line[v->lines] + 2, area->point + 2 * ((i + 1) % area->points), 2 * sizeof(double));
        }
    }
    if (!outline->points || how->fill == CAROM_NO_COLOUR) return;
    area = carom_paper_add(p, outline->points);
    for (int i = 0; i < area->points; i++) to_paper(v, outline->line + 2 * i, area->point + 2 * i);
    area->line = how->line;
    area->width = 0.6 * width;
}

// An arrow of the drawing, which labels keep away from. Round-off is none.
static void draw_arrow(carom_paper *p, stage_panel *v, const double from[3], const double along[3], double scale, double longest,
                       int64_t colour, double width) {
    const double length = carom_norm3(along);
    if (!(length > NO_ARROW * longest)) return;
    double to[3], *ends = v->segment[v->segments++];
    for (int k = 0; k < 3; k++) to[k] = from[k] + scale * along[k];
    stage_place(v, from, ends);
    stage_place(v, to, ends + 2);
    carom_paper_arrow(p, ends, ends + 2, colour, width);
}

// Bodies from back to front; cones, contacts and arrows over them.
static carom_status draw_panel(carom_paper *p, stage_panel *v, const stage_scales *s, carom_error *error) {
    static const unsigned fills[] = {0xdce6f0, 0xe8eff6, 0xd0dde9};
    const carom_stage *stage = v->stage;
    const carom_solids *solids = &stage->solids;
    for (int i = 0; i < solids->count; i++)
        if (solids->solid[i].kind == CAROM_SOLID_PLANE) draw_ground(p, v, i);
    for (int i = 0; i < solids->count; i++) {
        const int index = v->drawing.order[i];
        const carom_solid *solid = &solids->solid[index];
        draw_outline(p, v, &v->drawing.outline[index],
                     &(pen){solid->fixed ? 0xe6e4e0 : fills[solid->body_index % 3], 0x46505a, 1.4, false});
    }
    for (int k = 0; k < stage->outcomes; k++)
        for (int i = 0; i < stage->outcome[k].ghost.count; i++)
            draw_outline(p, v, &v->ghost[k][i],
                         &(pen){CAROM_NO_COLOUR, carom_plot_looks[stage->outcome[k].look].colour, 1.4 + 1.8 * (stage->outcomes - 1 - k),
                                stage->outcome[k].dashed});

    for (int i = 0; i < stage->contacts; i++) {
        const carom_stage_contact *contact = &stage->contact[i];
        if (!stage_is_drawn(contact)) continue;
        double cone[2 * (CIRCLE + 1)], x[CIRCLE + 1], y[CIRCLE + 1];
        int64_t hull[CIRCLE + 1], corners = 0;
        const int points = find_cone(stage, v->view, contact, s->cone, cone);
        for (int k = 0; k < points; k++) {
            to_paper(v, cone + 2 * k, cone + 2 * k);
            x[k] = cone[2 * k];
            y[k] = cone[2 * k + 1];
        }
        const carom_status status = carom_hull_plane(x, y, contact->friction > 0 ? points : 0, hull, &corners, error);
        if (status) return status;
        carom_mark *area = carom_paper_add(p, (int)corners);
        for (int k = 0; k < area->points; k++) {
            area->point[2 * k] = x[hull[k]];
            area->point[2 * k + 1] = y[hull[k]];
        }
        area->fill = CAROM_CONE_FILL;
        area->line = CAROM_CONE_RIM;
        area->width = 0.8;
        // Labels keep away from the cone's sides.
        for (int k = 0; k < 2 && contact->friction > 0; k++) {
            double *side = v->segment[v->segments++];
            memcpy(side, cone, 2 * sizeof *side);
            memcpy(side + 2, cone + 2 + k * (points - 1), 2 * sizeof *side);
        }
        draw_arrow(p, v, contact->point, contact->normal, s->normal, 1, STAGE_NORMAL, 1);
    }
    for (int i = 0; i < s->trees; i++) {
        double at[2];
        stage_place(v, solids->tree[i].center, at);
        draw_arrow(p, v, solids->tree[i].center, solids->tree[i].velocity, s->per_velocity, s->velocity, STAGE_CENTRE, 1.8);
        carom_paper_dot(p, at[0], at[1], 0.7, 0xffffff, STAGE_CENTRE, 1);
    }
    // Impulses under velocities; of several outcomes later ones are thinner, so that equal ones all show.
    for (int k = 0; k < stage->outcomes; k++)
        for (int i = 0; i < stage->contacts; i++)
            if (stage_is_drawn(&stage->contact[i]))
                draw_arrow(p, v, stage->contact[i].point, stage->outcome[k].impulse + 3 * i, s->per_impulse, s->impulse,
                           carom_plot_looks[stage->outcome[k].look].colour, 5 + 3 * (stage->outcomes - 1 - k));
    for (int i = 0; i < stage->contacts; i++)
        if (stage_is_drawn(&stage->contact[i]))
            draw_arrow(p, v, stage->contact[i].point, stage->contact[i].velocity, s->per_velocity, s->velocity, STAGE_INK, 1.8);
    for (int k = 0; k < stage->outcomes; k++)
        for (int i = 0; i < stage->contacts; i++)
            if (stage_is_drawn(&stage->contact[i]))
                draw_arrow(p, v, stage->contact[i].point, stage->outcome[k].velocity + 3 * i, s->per_velocity, s->velocity,
                           carom_plot_looks[stage->outcome[k].look].colour, 1.8 + 2 * (stage->outcomes - 1 - k));
    // Hollow dots behind bodies of a scene in space, or on their far sides; then the others over them.
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < stage->contacts; i++) {
            double at[2], interval[2];
            if (!stage_is_drawn(&stage->contact[i])) continue;
            bool hidden = false;
            for (int k = 0; k < solids->count && !hidden && !stage->planar; k++)
                hidden = carom_solid_ray(&solids->solid[k], stage->contact[i].point, v->view->toward, interval) &&
                         interval[1] > HIDDEN * s->extent;
            stage_place(v, stage->contact[i].point, at);
            if (hidden == (pass == 0))
                carom_paper_dot(p, at[0], at[1], 0.85, hidden ? 0xffffff : STAGE_INK, hidden ? STAGE_INK : 0xffffff, hidden ? 1.4 : 0.8);
        }
    return CAROM_OK;
}

// -------------------------------------------------------------------------------------------------------------- writing

// Everything on the paper.
static carom_status compose(carom_paper *p, const carom_stage *stage, carom_error *error) {
    stage_panel panels[CAROM_STAGE_VIEWS] = {{0}};
    carom_status status = CAROM_OK;
    double extent = 0;
    for (int i = 0; i < stage->views && !status; i++) {
        panels[i].stage = stage;
        panels[i].view = &stage->view[i];
        status = frame_bodies(p, i, &panels[i], error);
        for (int k = 0; k < 2 && !status; k++) extent = fmax(extent, panels[i].bounds.high[k] - panels[i].bounds.low[k]);
        if (!status && !(panels[i].bounds.low[0] <= panels[i].bounds.high[0]))
            return carom_fail(error, CAROM_BAD_INPUT, "there is nothing to draw");
    }
    const stage_scales s = find_scales(stage, extent);
    // Views stand in rows of two.
    enum { COLUMNS = 2, ROWS = (CAROM_STAGE_VIEWS + 1) / COLUMNS };
    double widths[COLUMNS] = {0}, heights[ROWS] = {0}, width = 0, height = 0;
    const int columns = stage->views < COLUMNS ? stage->views : COLUMNS, rows = (stage->views + COLUMNS - 1) / COLUMNS;
    for (int i = 0; i < stage->views && !status; i++) {
        const stage_frame *bounds = &panels[i].bounds;
        status = frame_rest(p, &panels[i], &s, error);
        widths[i % COLUMNS] = fmax(widths[i % COLUMNS], bounds->high[0] - bounds->low[0]);
        heights[i / COLUMNS] = fmax(heights[i / COLUMNS], bounds->high[1] - bounds->low[1]);
    }
    for (int i = 0; i < columns; i++) width += widths[i];
    for (int i = 0; i < rows; i++) height += heights[i];

    // Many contacts, and long names, are numbers.
    const bool natural = stage->size.width <= 0;
    p->size = natural ? (carom_plot_size){174, 110 + 40 * rows} : stage->size;
    bool numbered = stage->contacts >= NUMBERED_FROM;
    for (int i = 0; i < stage->contacts; i++)
        numbered = numbered || CAROM_KEY_CHARACTER * (double)strlen(stage->contact[i].name) > LONG_NAME * p->size.width / columns;
    stage_key key;
    if (!status) status = stage_list_key(p, stage, &s, numbered, &key, error);
    if (status) return status;

    // The scale: what fits into the width, and into the height that texts and gaps leave.
    const double caption = stage->views > 1 ? CAROM_KEY_ROW : 0, below = stage_measure_key(p, &key);
    const double column_gaps = (PANEL_GAP + 2 * LABEL_ROOM) * (columns - 1), row_gap = caption + 2 * LABEL_ROOM;
    const double room = p->size.width - 2 * (MARGIN + LABEL_ROOM) - column_gaps;
    const double texts = stage_measure_title(p, stage->title) + below + row_gap * rows;
    const double high = fmax(p->size.height - texts, LEAST_DRAWING * rows * p->size.width);
    double scale = fmin(width > 0 ? room / width : DBL_MAX, height > 0 ? high / height : DBL_MAX);
    if (!(width > 0) && !(height > 0)) scale = LEAST_DRAWING * room / s.extent;
    if (natural || p->size.height < texts + height * scale) p->size.height = texts + height * scale;

    // Rows from below, in the middle of the paper.
    double bottom = below + 0.5 * (p->size.height - texts - height * scale);
    for (int row = rows - 1; row >= 0; row--) {
        double left = 0.5 * (p->size.width - width * scale - column_gaps);
        for (int i = row * COLUMNS; i < stage->views && i < (row + 1) * COLUMNS && !status; i++) {
            stage_panel *v = &panels[i];
            const double wide = v->bounds.high[0] - v->bounds.low[0], tall = v->bounds.high[1] - v->bounds.low[1];
            v->scale = scale;
            v->left = left + 0.5 * scale * (widths[i % COLUMNS] - wide);
            v->bottom = bottom + caption + LABEL_ROOM + 0.5 * scale * (heights[row] - tall);
            if (caption > 0)
                carom_paper_text(p, left + 0.5 * scale * widths[i % COLUMNS], bottom + 0.5 * caption, 0, CAROM_KEY_FONT, v->view->name);
            status = draw_panel(p, v, &s, error);
            if (!status) status = stage_draw_labels(p, v, numbered, error);
            left += widths[i % COLUMNS] * scale + PANEL_GAP + 2 * LABEL_ROOM;
        }
        bottom += heights[row] * scale + row_gap;
    }
    stage_draw_title(p, stage->title);
    stage_draw_key(p, &key, scale);
    return status;
}

carom_status carom_stage_write(const carom_stage *stage, const char *path, carom_error *error) {
    carom_paper paper = {0};
    const carom_gnuplot_format *format;
    carom_status status = carom_gnuplot_find(path, &format, error);
    if (!status) status = compose(&paper, stage, error);
    if (!status) status = carom_paper_write(&paper, path, error);
    carom_paper_free(&paper);
    return status;
}
