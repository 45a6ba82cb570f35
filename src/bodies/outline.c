// SPDX-License-Identifier: Apache-2.0
// What is seen of solids in a parallel projection.
#include "carom/outline.h"

#include <stdlib.h>
#include <string.h>

#include "bodies/bodies_internal.h"
#include "carom/dense.h"
#include "carom/sets.h"
#include "carom/vector3.h"

// Faces that are turned away from the eye by less than this are not seen: the round-off of a rotation.
#define EDGE_ON 1e-9
// Cosine of the angle between two faces beyond which their edge is drawn: 15 degrees.
#define SHARP 0.9659258262890683
// Lines of a grid of heights along each side.
enum { MOST_GRID_LINES = 24 };
// Rays through the common box of two outlines, along each side.
enum { RAYS = 9 };

static const double TWO_PI = 6.283185307179586;

// --------------------------------------------------------------------------------------------------------------- views

// From the direction (1, -1.6, 0.9): two sides and the top of a box are seen, the right one less than the front.
const carom_view carom_views[CAROM_VIEWS] = {
    {"side", {1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
    {"front", {0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
    {"top", {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {"3d",
     {0.8479983040050879, 0.5299989400031799, 0},
     {-0.22817958817434628, 0.365087341078954, 0.9025770376674143},
     {0.4783648732349398, -0.7653837971759038, 0.4305283859114458}},
};

const carom_view *carom_view_find(const char *name) {
    for (int i = 0; i < CAROM_VIEWS; i++)
        if (!strcmp(carom_views[i].name, name)) return &carom_views[i];
    return NULL;
}

carom_view carom_view_of_plane(const double normal[3]) {
    for (int i = 0; i < 3; i++)
        if (fabs(carom_dot3(carom_views[i].toward, normal)) > 1 - EDGE_ON) return carom_views[i];
    // One looks against y, as the side view does, or against x.
    carom_view view = {.name = "plane"};
    const double sign = fabs(normal[1]) > EDGE_ON ? -copysign(1, normal[1]) : copysign(1, normal[0]);
    for (int k = 0; k < 3; k++) view.toward[k] = sign * normal[k];
    // right = e3 x toward, which is not zero: a horizontal plane has the view from the top.
    const double length = hypot(view.toward[0], view.toward[1]);
    view.right[0] = -view.toward[1] / length;
    view.right[1] = view.toward[0] / length;
    carom_cross3(view.toward, view.right, view.up);
    return view;
}

void carom_view_project(const carom_view *view, const double point[3], double seen[2]) {
    seen[0] = carom_dot3(view->right, point);
    seen[1] = carom_dot3(view->up, point);
}

// ------------------------------------------------------------------------------------------------------------ surfaces

static const double box_corners[24] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1, -1, -1, 1, 1, -1, 1, -1, 1, 1, 1, 1, 1};
// Two triangles for each face, counter-clockwise from outside: -x, +x, -y, +y, -z, +z.
static const int box_triangles[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                      2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};

carom_status carom_solid_find_surface(carom_solid *solid, carom_arena *arena, carom_error *error) {
    if (solid->kind != CAROM_SOLID_HULL || solid->triangles) return CAROM_OK;
    carom_hull hull;
    const carom_status status = solid->vertices < 4 ? CAROM_BAD_INPUT : carom_hull_create(solid->vertex, solid->vertices, &hull, error);
    if (status == CAROM_OUT_OF_MEMORY) return status;
    if (status) return CAROM_OK;  // flat, or no Qhull
    double *vertex = carom_arena_take(arena, 3 * (size_t)hull.vertices, sizeof *vertex);
    int *triangle = carom_arena_take(arena, 3 * (size_t)hull.triangles, sizeof *triangle);
    if (!arena->failed) {
        memcpy(vertex, hull.vertex, 3 * (size_t)hull.vertices * sizeof *vertex);
        memcpy(triangle, hull.triangle, 3 * (size_t)hull.triangles * sizeof *triangle);
        solid->vertices = hull.vertices;
        solid->vertex = vertex;
        solid->triangles = hull.triangles;
        solid->triangle = triangle;
    }
    carom_hull_release(&hull);
    return arena->failed ? carom_fail_memory(error, "the surface of a hull") : CAROM_OK;
}

// A point of the solid's frame in the world.
static void place(const carom_solid *solid, const double local[3], double point[3]) {
    carom_multiply3(solid->rotation, local, point);
    for (int k = 0; k < 3; k++) point[k] += solid->position[k];
}

// The triangles of a box or hull, in its frame: their number. `vertex` gets the corners of a box, for which it has room.
static int take_triangles(const carom_solid *solid, double box[24], const double **vertex, const int **triangle) {
    if (solid->kind == CAROM_SOLID_BOX) {
        for (int i = 0; i < 24; i++) box[i] = box_corners[i] * solid->size[i % 3];
        *vertex = box;
        *triangle = box_triangles;
        return 12;
    }
    *vertex = solid->vertex;
    *triangle = solid->triangle;
    return solid->kind == CAROM_SOLID_HULL ? solid->triangles : 0;
}

// The unit normal of a triangle; 0 where it has no area.
static void find_normal(const double *vertex, const int *triangle, double normal[3]) {
    double first[3], second[3];
    for (int k = 0; k < 3; k++) {
        first[k] = vertex[3 * triangle[1] + k] - vertex[3 * triangle[0] + k];
        second[k] = vertex[3 * triangle[2] + k] - vertex[3 * triangle[0] + k];
    }
    carom_cross3(first, second, normal);
    const double length = carom_norm3(normal);
    for (int k = 0; k < 3 && length > 0; k++) normal[k] /= length;
}

// ------------------------------------------------------------------------------------------------------------ outlines

// Points seen, on their way into a hull.
typedef struct seen_points {
    int64_t count;
    double *x, *y;
} seen_points;

static void see(seen_points *seen, const carom_view *view, const double point[3], double reach, double cosine, double sine) {
    double at[2];
    carom_view_project(view, point, at);
    seen->x[seen->count] = at[0] + reach * cosine;
    seen->y[seen->count++] = at[1] + reach * sine;
}

// Points of a solid whose hull is its outline. Directions begin along what is seen of the frame's z axis, so that the sides of capsules and
// cylinders are exact.
static void collect_points(const carom_solid *solid, const carom_view *view, seen_points *seen) {
    const double axis[3] = {solid->rotation[2], solid->rotation[5], solid->rotation[8]};
    const double start = atan2(carom_dot3(view->up, axis), carom_dot3(view->right, axis));
    double box[24];
    for (int i = 0; i < solid->vertices && solid->kind == CAROM_SOLID_HULL; i++) {
        double point[3];
        place(solid, solid->vertex + 3 * i, point);
        see(seen, view, point, 0, 1, 0);
    }
    for (int i = 0; i < 8 && solid->kind == CAROM_SOLID_BOX; i++) {
        double point[3];
        for (int k = 0; k < 3; k++) box[k] = box_corners[3 * i + k] * solid->size[k];
        place(solid, box, point);
        see(seen, view, point, 0, 1, 0);
    }
    if (solid->kind == CAROM_SOLID_HULL || solid->kind == CAROM_SOLID_BOX) return;

    for (int i = 0; i < CAROM_OUTLINE_POINTS; i++) {
        const double angle = start + TWO_PI * i / CAROM_OUTLINE_POINTS, cosine = cos(angle), sine = sin(angle);
        double along[3], local[3], support[3] = {0}, point[3];
        for (int k = 0; k < 3; k++) along[k] = cosine * view->right[k] + sine * view->up[k];
        carom_multiply3_transposed(solid->rotation, along, local);
        if (solid->kind == CAROM_SOLID_SPHERE) {
            see(seen, view, solid->position, solid->size[0], cosine, sine);
        } else if (solid->kind == CAROM_SOLID_ELLIPSOID) {
            // The farthest point along u is E^2 u / |E u|.
            double scaled[3];
            for (int k = 0; k < 3; k++) scaled[k] = solid->size[k] * local[k];
            const double length = carom_norm3(scaled);
            for (int k = 0; k < 3; k++) support[k] = solid->size[k] * scaled[k] / length;
            place(solid, support, point);
            see(seen, view, point, solid->rounding, cosine, sine);
        } else {
            // Both ends: a sphere's farthest point, or that of a disc.
            const double across = hypot(local[0], local[1]);
            const bool disc = solid->kind == CAROM_SOLID_CYLINDER;
            for (int end = -1; end <= 1; end += 2) {
                for (int k = 0; k < 2; k++) support[k] = disc && across > EDGE_ON ? solid->size[0] * local[k] / across : 0;
                support[2] = end * solid->size[1];
                place(solid, support, point);
                see(seen, view, point, disc ? 0 : solid->size[0], cosine, sine);
            }
        }
    }
}

// The hull of the points seen.
static carom_status close_outline(const seen_points *seen, carom_arena *arena, carom_outline *outline, carom_error *error) {
    int64_t *corners = carom_arena_take(arena, (size_t)seen->count, sizeof *corners), count = 0;
    if (arena->failed) return carom_fail_memory(error, "an outline");
    const carom_status status = carom_hull_plane(seen->x, seen->y, seen->count, corners, &count, error);
    outline->corner = carom_arena_take(arena, 2 * (size_t)count, sizeof *outline->corner);
    if (!status && arena->failed) return carom_fail_memory(error, "an outline");
    for (int64_t i = 0; i < count && !status; i++) {
        outline->corner[2 * i] = seen->x[corners[i]];
        outline->corner[2 * i + 1] = seen->y[corners[i]];
    }
    outline->corners = status ? 0 : (int)count;
    return status;
}

// An edge of a triangle, with its vertices in order.
typedef struct edge {
    int low, high, triangle;
} edge;

static int compare_edges(const void *left, const void *right) {
    const edge *a = left, *b = right;
    return a->low != b->low ? (a->low > b->low) - (a->low < b->low) : (a->high > b->high) - (a->high < b->high);
}

static void draw_to(carom_outline *outline, const carom_view *view, const double point[3]) {
    carom_view_project(view, point, outline->line + 2 * outline->points);
    outline->points++;
}

static void lift_pen(carom_outline *outline) {
    outline->line[2 * outline->points] = outline->line[2 * outline->points + 1] = NAN;
    outline->points++;
}

// Edges between two faces that are seen and meet sharply.
static carom_status draw_edges(const carom_solid *solid, const carom_view *view, carom_arena *arena, carom_outline *outline,
                               carom_error *error) {
    double box[24], toward[3];
    const double *vertex;
    const int *triangle;
    const int count = take_triangles(solid, box, &vertex, &triangle);
    edge *edges = carom_arena_take(arena, 3 * (size_t)count, sizeof *edges);
    double *normals = carom_arena_take(arena, 3 * (size_t)count, sizeof *normals);
    outline->line = carom_arena_take(arena, 2 * 3 * 3 * (size_t)count, sizeof *outline->line);
    if (arena->failed) return carom_fail_memory(error, "an outline");
    carom_multiply3_transposed(solid->rotation, view->toward, toward);
    for (int t = 0; t < count; t++) {
        find_normal(vertex, triangle + 3 * t, normals + 3 * t);
        for (int k = 0; k < 3; k++) {
            const int a = triangle[3 * t + k], b = triangle[3 * t + (k + 1) % 3];
            edges[3 * t + k] = (edge){a < b ? a : b, a < b ? b : a, t};
        }
    }
    qsort(edges, 3 * (size_t)count, sizeof *edges, compare_edges);
    // The two triangles of an edge now stand side by side.
    for (int i = 0; i + 1 < 3 * count; i++) {
        if (compare_edges(&edges[i], &edges[i + 1])) continue;
        const double *first = normals + 3 * edges[i].triangle, *second = normals + 3 * edges[i + 1].triangle;
        if (carom_dot3(first, toward) < EDGE_ON || carom_dot3(second, toward) < EDGE_ON || carom_dot3(first, second) > SHARP) continue;
        // On a rounded edge, halfway between its faces.
        double outward[3];
        for (int k = 0; k < 3; k++) outward[k] = first[k] + second[k];
        const double length = carom_norm3(outward);
        const int ends[2] = {edges[i].low, edges[i].high};
        for (int end = 0; end < 2; end++) {
            double local[3], point[3];
            memcpy(local, vertex + 3 * ends[end], sizeof local);
            carom_add3(solid->rounding / length, outward, local);
            place(solid, local, point);
            draw_to(outline, view, point);
        }
        lift_pen(outline);
    }
    return CAROM_OK;
}

// The rim of the end that is seen.
static carom_status draw_rim(const carom_solid *solid, const carom_view *view, carom_arena *arena, carom_outline *outline,
                             carom_error *error) {
    const double axis[3] = {solid->rotation[2], solid->rotation[5], solid->rotation[8]}, facing = carom_dot3(axis, view->toward);
    outline->line = carom_arena_take(arena, 2 * (CAROM_OUTLINE_POINTS + 2), sizeof *outline->line);
    if (arena->failed) return carom_fail_memory(error, "an outline");
    if (fabs(facing) < EDGE_ON) return CAROM_OK;
    for (int i = 0; i <= CAROM_OUTLINE_POINTS; i++) {
        const double angle = TWO_PI * i / CAROM_OUTLINE_POINTS;
        const double local[3] = {solid->size[0] * cos(angle), solid->size[0] * sin(angle), copysign(solid->size[1], facing)};
        double point[3];
        place(solid, local, point);
        draw_to(outline, view, point);
    }
    lift_pen(outline);
    return CAROM_OK;
}

// Lines of a grid in both directions: every so many rows and columns, the last ones included.
static carom_status draw_grid(const carom_solid *solid, const carom_view *view, carom_arena *arena, carom_outline *outline,
                              carom_error *error) {
    const int sides[2] = {solid->rows, solid->columns};
    outline->line =
        carom_arena_take(arena, 2 * (size_t)(MOST_GRID_LINES + 2) * (size_t)(solid->rows + solid->columns + 2), sizeof *outline->line);
    if (arena->failed) return carom_fail_memory(error, "an outline");
    for (int side = 0; side < 2; side++) {
        const int stride = (sides[side] + MOST_GRID_LINES - 1) / MOST_GRID_LINES;
        for (int i = 0; i < sides[side] + stride - 1; i += stride) {
            const int line = i < sides[side] ? i : sides[side] - 1;
            for (int j = 0; j < sides[!side]; j++) {
                const int row = side ? j : line, column = side ? line : j;
                const double local[3] = {solid->size[0] * (2.0 * column / (solid->columns - 1) - 1),
                                         solid->size[1] * (2.0 * row / (solid->rows - 1) - 1),
                                         solid->height[row * solid->columns + column]};
                double point[3];
                place(solid, local, point);
                draw_to(outline, view, point);
            }
            lift_pen(outline);
        }
    }
    return CAROM_OK;
}

carom_status carom_solid_outline(carom_solid *solid, const carom_view *view, carom_arena *arena, carom_outline *outline,
                                 carom_error *error) {
    *outline = (carom_outline){0};
    if (solid->kind == CAROM_SOLID_PLANE) return carom_fail(error, CAROM_BAD_INPUT, "carom_solid_outline: a plane has no outline");
    if (solid->kind == CAROM_SOLID_HEIGHTS) return draw_grid(solid, view, arena, outline, error);
    carom_status status = carom_solid_find_surface(solid, arena, error);
    if (status) return status;
    const size_t room = (size_t)(solid->vertices > 2 * CAROM_OUTLINE_POINTS ? solid->vertices : 2 * CAROM_OUTLINE_POINTS);
    seen_points seen = {0, carom_arena_take(arena, room, sizeof(double)), carom_arena_take(arena, room, sizeof(double))};
    if (arena->failed) return carom_fail_memory(error, "an outline");
    collect_points(solid, view, &seen);
    status = close_outline(&seen, arena, outline, error);
    // A rounded hull: circles around its corners.
    if (!status && solid->kind == CAROM_SOLID_HULL && solid->rounding > 0) {
        const size_t circles = (size_t)outline->corners * CAROM_OUTLINE_POINTS;
        seen = (seen_points){0, carom_arena_take(arena, circles, sizeof(double)), carom_arena_take(arena, circles, sizeof(double))};
        for (size_t i = 0; i < circles && !arena->failed; i++) {
            const double angle = TWO_PI * (double)(i % CAROM_OUTLINE_POINTS) / CAROM_OUTLINE_POINTS,
                         *corner = outline->corner + 2 * (i / CAROM_OUTLINE_POINTS);
            seen.x[seen.count] = corner[0] + solid->rounding * cos(angle);
            seen.y[seen.count++] = corner[1] + solid->rounding * sin(angle);
        }
        status = arena->failed ? carom_fail_memory(error, "an outline") : close_outline(&seen, arena, outline, error);
    }
    if (!status && solid->kind == CAROM_SOLID_CYLINDER) status = draw_rim(solid, view, arena, outline, error);
    if (!status && (solid->kind == CAROM_SOLID_BOX || solid->kind == CAROM_SOLID_HULL))
        status = draw_edges(solid, view, arena, outline, error);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- rays

// Narrows an interval to where a t^2 + 2 b t + c <= 0, for a >= 0; false where nothing is left.
static bool narrow_quadric(double a, double b, double c, double interval[2]) {
    if (a <= 0) return c <= 0;
    const double discriminant = b * b - a * c;
    if (discriminant < 0) return false;
    const double root = sqrt(discriminant);
    interval[0] = fmax(interval[0], (-b - root) / a);
    interval[1] = fmin(interval[1], (-b + root) / a);
    return interval[0] <= interval[1];
}

// The same for height + slope t <= 0.
static bool narrow_half_space(double slope, double height, double interval[2]) {
    if (slope > 0) interval[1] = fmin(interval[1], -height / slope);
    if (slope < 0) interval[0] = fmax(interval[0], -height / slope);
    return interval[0] <= interval[1] && (slope != 0 || height <= 0);
}

bool carom_solid_ray(const carom_solid *solid, const double from[3], const double along[3], double interval[2]) {
    // The ray in the solid's frame.
    double offset[3], o[3], d[3], box[24];
    for (int k = 0; k < 3; k++) offset[k] = from[k] - solid->position[k];
    carom_multiply3_transposed(solid->rotation, offset, o);
    carom_multiply3_transposed(solid->rotation, along, d);
    const double radius = solid->size[0], half = solid->size[1];
    interval[0] = -INFINITY;
    interval[1] = INFINITY;
    switch (solid->kind) {
    case CAROM_SOLID_SPHERE: return narrow_quadric(carom_dot3(d, d), carom_dot3(o, d), carom_dot3(o, o) - radius * radius, interval);
    case CAROM_SOLID_ELLIPSOID:
        for (int k = 0; k < 3; k++) {
            o[k] /= solid->size[k] + solid->rounding;
            d[k] /= solid->size[k] + solid->rounding;
        }
        return narrow_quadric(carom_dot3(d, d), carom_dot3(o, d), carom_dot3(o, o) - 1, interval);
    case CAROM_SOLID_CYLINDER:
        return narrow_quadric(d[0] * d[0] + d[1] * d[1], o[0] * d[0] + o[1] * d[1], o[0] * o[0] + o[1] * o[1] - radius * radius,
                              interval) &&
               narrow_half_space(d[2], o[2] - half, interval) && narrow_half_space(-d[2], -o[2] - half, interval);
    case CAROM_SOLID_CAPSULE: {
        // The union of two spheres and the cylinder between them is convex.
        const carom_solid middle = {.kind = CAROM_SOLID_CYLINDER, .size = {radius, half}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        double all[2] = {INFINITY, -INFINITY};
        for (int part = -1; part <= 1; part++) {
            const double end[3] = {o[0], o[1], o[2] - part * half};
            double own[2] = {-INFINITY, INFINITY};
            const bool hit = part ? narrow_quadric(carom_dot3(d, d), carom_dot3(end, d), carom_dot3(end, end) - radius * radius, own)
                                  : carom_solid_ray(&middle, o, d, own);
            if (hit) all[0] = fmin(all[0], own[0]);
            if (hit) all[1] = fmax(all[1], own[1]);
        }
        interval[0] = all[0];
        interval[1] = all[1];
        return all[0] <= all[1];
    }
    case CAROM_SOLID_BOX:
    case CAROM_SOLID_HULL: {
        const double *vertex;
        const int *triangle;
        const int count = take_triangles(solid, box, &vertex, &triangle);
        bool hit = count > 0;
        for (int t = 0; t < count && hit; t++) {
            double normal[3];
            find_normal(vertex, triangle + 3 * t, normal);
            const double height = carom_dot3(normal, o) - carom_dot3(normal, vertex + 3 * triangle[3 * t]) - solid->rounding;
            hit = narrow_half_space(carom_dot3(normal, d), height, interval);
        }
        return hit;
    }
    case CAROM_SOLID_PLANE:
    case CAROM_SOLID_HEIGHTS: break;
    }
    return false;
}

// --------------------------------------------------------------------------------------------------------------- order

// The box of an outline: least x and y, greatest x and y.
static void bound(const carom_outline *outline, double box[4]) {
    box[0] = box[1] = INFINITY;
    box[2] = box[3] = -INFINITY;
    for (int i = 0; i < 2 * outline->corners; i++) {
        box[i % 2] = fmin(box[i % 2], outline->corner[i]);
        box[2 + i % 2] = fmax(box[2 + i % 2], outline->corner[i]);
    }
}

// Which of two solids is nearer over most of the places where both are seen: above 0 the first, below 0 the second.
static int compare_depths(const carom_solid *a, const carom_solid *b, const double box_a[4], const double box_b[4],
                          const carom_view *view) {
    const double low[2] = {fmax(box_a[0], box_b[0]), fmax(box_a[1], box_b[1])};
    const double high[2] = {fmin(box_a[2], box_b[2]), fmin(box_a[3], box_b[3])};
    if (!(low[0] < high[0]) || !(low[1] < high[1])) return 0;
    int votes = 0;
    for (int i = 0; i < RAYS * RAYS; i++) {
        const double x = low[0] + (high[0] - low[0]) * (i % RAYS + 0.5) / RAYS, y = low[1] + (high[1] - low[1]) * (i / RAYS + 0.5) / RAYS;
        double from[3], first[2], second[2];
        for (int k = 0; k < 3; k++) from[k] = x * view->right[k] + y * view->up[k];
        if (!carom_solid_ray(a, from, view->toward, first) || !carom_solid_ray(b, from, view->toward, second)) continue;
        votes += (first[1] > second[1]) - (first[1] < second[1]);
    }
    return (votes > 0) - (votes < 0);
}

carom_status carom_solids_order(int count, const carom_solid *solids, const carom_outline *outlines, const carom_view *view, int *order,
                                carom_error *error) {
    carom_arena arena = {0};
    const size_t n = (size_t)count;
    double *box = carom_arena_take(&arena, 4 * n, sizeof *box), *depth = carom_arena_take(&arena, n, sizeof *depth);
    signed char *nearer = carom_arena_take(&arena, n * n, 1);
    int *behind = carom_arena_take(&arena, n, sizeof *behind);  // solids behind each that are not drawn yet; -1: it is drawn
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "solids");
    }
    for (size_t i = 0; i < n; i++) {
        bound(&outlines[i], box + 4 * i);
        depth[i] = outlines[i].corners ? carom_dot3(view->toward, solids[i].position) : -INFINITY;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const int sign = compare_depths(&solids[i], &solids[j], box + 4 * i, box + 4 * j, view);
            nearer[i * n + j] = (signed char)sign;
            nearer[j * n + i] = (signed char)-sign;
            behind[sign > 0 ? i : j] += sign != 0;
        }
    for (int place_in_order = 0; place_in_order < count; place_in_order++) {
        // Of those that hide no other one, or in a circle of all, the farthest.
        size_t next = n;
        for (size_t i = 0; i < n; i++) {
            if (behind[i] < 0) continue;
            const bool free_to_go = behind[i] == 0, best_is_free = next < n && behind[next] == 0;
            if (next == n || (free_to_go && !best_is_free) || (free_to_go == best_is_free && depth[i] < depth[next])) next = i;
        }
        order[place_in_order] = (int)next;
        behind[next] = -1;
        for (size_t i = 0; i < n; i++) behind[i] -= behind[i] > 0 && nearer[i * n + next] > 0;
    }
    carom_arena_free(&arena);
    return CAROM_OK;
}
