// SPDX-License-Identifier: Apache-2.0
// Surfaces of solids as triangles in the world.
#include <math.h>
#include <string.h>

#include "bodies/bodies_internal.h"
#include "carom/outline.h"
#include "carom/vector3.h"

// Around an axis, and from pole to pole.
enum { MERIDIANS = 24, PARALLELS = 13 };

// Vertices of a face whose normal is one of those of a rounding, relative to the size of the hull.
#define SAME_FACE 1e-9

static const double TURN = 6.283185307179586;

// A mesh that is being filled, with its room.
typedef struct growing {
    const carom_solid *solid;
    carom_mesh *mesh;
    double *point;
    int *triangle;
} growing;

// Adds a point of the solid's frame.
static void add_point(growing *g, double x, double y, double z) {
    double *point = g->point + 3 * g->mesh->points++;
    carom_multiply3(g->solid->rotation, (double[]){x, y, z}, point);
    for (int k = 0; k < 3; k++) point[k] += g->solid->position[k];
}

static void add_triangle(growing *g, int a, int b, int c) {
    const int corners[] = {a, b, c};
    memcpy(g->triangle + 3 * (size_t)g->mesh->triangles++, corners, sizeof corners);
}

// Triangles between rings of points, from the bottom to the top; the first and the last ring are single points.
static void close_rings(growing *g, int rings) {
    const int last = 1 + (rings - 2) * MERIDIANS;
    for (int ring = 1; ring < rings - 1; ring++)
        for (int i = 0; i < MERIDIANS; i++) {
            const int here = 1 + (ring - 1) * MERIDIANS + i, next = 1 + (ring - 1) * MERIDIANS + (i + 1) % MERIDIANS;
            if (ring == 1) add_triangle(g, 0, next, here);
            if (ring == rings - 2) {
                add_triangle(g, last, here, next);
            } else {
                add_triangle(g, here, next, next + MERIDIANS);
                add_triangle(g, here, next + MERIDIANS, here + MERIDIANS);
            }
        }
}

// The point of a curved surface, in the solid's frame, where the outer normal is n. That of an ellipsoid is where n comes to when the unit
// sphere is stretched: points with normals at equal angles would leave its flat sides bare.
static void find_point(const carom_solid *solid, const double n[3], double point[3]) {
    const double *size = solid->size;
    double normal[3] = {n[0], n[1], n[2]};
    const bool ellipsoid = solid->kind == CAROM_SOLID_ELLIPSOID;
    for (int k = 0; k < 3 && ellipsoid; k++) normal[k] /= size[k];
    const double length = carom_norm3(normal);
    for (int k = 0; k < 3; k++) point[k] = size[ellipsoid ? k : 0] * n[k] + solid->rounding * normal[k] / length;
    // The half of a capsule on the normal's side.
    if (solid->kind == CAROM_SOLID_CAPSULE) point[2] += copysign(size[1], n[2]);
}

// Points with normals all around. A capsule has its equator twice, below and above its cylinder.
static void add_round(growing *g) {
    const bool doubled = g->solid->kind == CAROM_SOLID_CAPSULE;
    const int rings = PARALLELS + doubled;
    for (int ring = 0; ring < rings; ring++) {
        const int parallel = ring - (doubled && ring > PARALLELS / 2);
        const double latitude = TURN / 2 * ((double)parallel / (PARALLELS - 1) - 0.5);
        const bool pole = ring == 0 || ring == rings - 1, equator = parallel == PARALLELS / 2;
        // The sign of zero tells the sides of the equator apart.
        const double up = equator ? (doubled && ring == PARALLELS / 2 ? -0.0 : 0.0) : sin(latitude), across = pole ? 0 : cos(latitude);
        for (int i = 0; i < (pole ? 1 : MERIDIANS); i++) {
            const double angle = TURN * i / MERIDIANS, n[3] = {across * cos(angle), across * sin(angle), up};
            double point[3];
            find_point(g->solid, n, point);
            add_point(g, point[0], point[1], point[2]);
        }
    }
    close_rings(g, rings);
}

// A rounded hull is that of points of its surface: with each of some normals, all vertices that reach furthest along it, moved outwards.
static carom_status round_hull(const carom_solid *solid, carom_arena *arena, carom_solid *rounded, carom_error *error) {
    enum { MOST_POINTS = 4 * MERIDIANS * PARALLELS };
    double *point = carom_arena_take(arena, 3 * MOST_POINTS, sizeof *point);
    if (arena->failed) return carom_fail_memory(error, "the surface of a solid");
    double extent = 0;
    for (int i = 0; i < 3 * solid->vertices; i++) extent = fmax(extent, fabs(solid->vertex[i]));
    int count = 0;
    for (int ring = 0; ring < PARALLELS; ring++) {
        const double latitude = TURN / 2 * ((double)ring / (PARALLELS - 1) - 0.5);
        const bool pole = ring == 0 || ring == PARALLELS - 1;
        for (int i = 0; i < (pole ? 1 : MERIDIANS); i++) {
            const double angle = TURN * i / MERIDIANS, across = pole ? 0 : cos(latitude);
            const double n[3] = {across * cos(angle), across * sin(angle), sin(latitude)};
            double furthest = -INFINITY;
            for (int v = 0; v < solid->vertices; v++) furthest = fmax(furthest, carom_dot3(solid->vertex + 3 * v, n));
            for (int v = 0; v < solid->vertices && count < MOST_POINTS; v++) {
                if (carom_dot3(solid->vertex + 3 * v, n) < furthest - SAME_FACE * extent) continue;
                for (int k = 0; k < 3; k++) point[3 * count + k] = solid->vertex[3 * v + k] + solid->rounding * n[k];
                count++;
            }
        }
    }
    *rounded = *solid;
    rounded->rounding = 0;
    rounded->vertices = count;
    rounded->vertex = point;
    rounded->triangles = 0;
    return CAROM_OK;
}

static void add_cylinder(growing *g) {
    const double radius = g->solid->size[0], half = g->solid->size[1];
    add_point(g, 0, 0, -half);
    for (int end = 0; end < 2; end++)
        for (int i = 0; i < MERIDIANS; i++)
            add_point(g, radius * cos(TURN * i / MERIDIANS), radius * sin(TURN * i / MERIDIANS), end ? half : -half);
    add_point(g, 0, 0, half);
    close_rings(g, 4);
}

static void add_box(growing *g) {
    // Corners by the signs of their coordinates, x first; faces counter-clockwise from outside.
    static const int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    const double *size = g->solid->size;
    for (int i = 0; i < 8; i++) add_point(g, i & 1 ? size[0] : -size[0], i & 2 ? size[1] : -size[1], i & 4 ? size[2] : -size[2]);
    for (int f = 0; f < 6; f++) {
        add_triangle(g, faces[f][0], faces[f][1], faces[f][2]);
        add_triangle(g, faces[f][0], faces[f][2], faces[f][3]);
    }
}

// A grid over x and y: heights, or a plane of 2 x 2 points.
static void add_grid(growing *g, const double half[2], int rows, int columns, const double *height) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            add_point(g, half[0] * (2.0 * j / (columns - 1) - 1), half[1] * (2.0 * i / (rows - 1) - 1),
                      height ? height[i * columns + j] : 0);
    for (int i = 0; i + 1 < rows; i++)
        for (int j = 0; j + 1 < columns; j++) {
            const int a = i * columns + j;
            add_triangle(g, a, a + 1, a + columns + 1);
            add_triangle(g, a, a + columns + 1, a + columns);
        }
}

carom_status carom_solid_mesh(carom_solid *solid, double unbounded, carom_arena *arena, carom_mesh *mesh, carom_error *error) {
    *mesh = (carom_mesh){0};
    const bool hull = solid->kind == CAROM_SOLID_HULL;
    carom_solid rounded;
    carom_status status = hull && solid->rounding > 0 ? round_hull(solid, arena, &rounded, error) : CAROM_OK;
    if (hull && solid->rounding > 0) solid = &rounded;
    if (!status && hull) status = carom_solid_find_surface(solid, arena, error);
    if (status) return status;
    // Room for whatever has most points and triangles.
    size_t points = (PARALLELS + 1) * MERIDIANS, triangles = 2 * points;
    if (hull) points = (size_t)solid->vertices;
    if (hull) triangles = (size_t)solid->triangles;
    if (solid->kind == CAROM_SOLID_HEIGHTS) points = (size_t)solid->rows * (size_t)solid->columns;
    if (solid->kind == CAROM_SOLID_HEIGHTS) triangles = 2 * points;
    growing g = {solid, mesh, carom_arena_take(arena, 3 * points, sizeof(double)), carom_arena_take(arena, 3 * triangles, sizeof(int))};
    if (arena->failed) return carom_fail_memory(error, "the surface of a solid");
    mesh->point = g.point;
    mesh->triangle = g.triangle;
    const double *size = solid->size, half[] = {size[0] > 0 ? size[0] : unbounded, size[1] > 0 ? size[1] : unbounded};
    const bool thin = (solid->kind == CAROM_SOLID_SPHERE || solid->kind == CAROM_SOLID_CAPSULE) && !(size[0] + solid->rounding > 0);
    if (thin) {
        // A point, or the two ends of a segment.
        for (int end = 0; end < (solid->kind == CAROM_SOLID_CAPSULE ? 2 : 1); end++)
            add_point(&g, 0, 0, solid->kind == CAROM_SOLID_CAPSULE ? (end ? size[1] : -size[1]) : 0);
    } else if (hull) {
        for (int i = 0; i < solid->vertices; i++) add_point(&g, solid->vertex[3 * i], solid->vertex[3 * i + 1], solid->vertex[3 * i + 2]);
        for (int i = 0; i < solid->triangles; i++)
            add_triangle(&g, solid->triangle[3 * i], solid->triangle[3 * i + 1], solid->triangle[3 * i + 2]);
    } else if (solid->kind == CAROM_SOLID_CYLINDER) {
        add_cylinder(&g);
    } else if (solid->kind == CAROM_SOLID_BOX) {
        add_box(&g);
    } else if (solid->kind == CAROM_SOLID_PLANE) {
        add_grid(&g, half, 2, 2, NULL);
    } else if (solid->kind == CAROM_SOLID_HEIGHTS) {
        add_grid(&g, size, solid->rows, solid->columns, solid->height);
    } else {
        add_round(&g);
    }
    return CAROM_OK;
}
