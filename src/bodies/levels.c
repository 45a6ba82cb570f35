// SPDX-License-Identifier: Apache-2.0
// Bodies by tables: the surface on which a tabulated function is zero, a part without others by such a table, and the polyhedron of
// tabulated supports.
//
// Cubes of the grid are cut into six tetrahedra each, all along the same diagonals, so that neighbours share their faces. In a tetrahedron
// the function is linear, and its zero is a triangle or two, with corners on the edges.
#include <stdlib.h>
#include <string.h>

#include "bodies/bodies_internal.h"
#include "carom/vector3.h"

// Edges of tetrahedra that begin at a grid point: to the seven other corners of its cube.
enum { EDGES = 7 };

// The six tetrahedra along the diagonal of a cube, each of positive volume. Corners are bits along x, y, z.
static const int TETRAHEDRA[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

typedef struct cutting {
    const carom_level_table *table;
    size_t offset[8];  // of the corners of a cube in the table
    int *place;        // [grid points x EDGES], the number of the point on an edge plus 1; 0: none yet
    double *point;
    int *triangle;
    int points, triangles;
    size_t point_room, triangle_room;
} cutting;

static bool is_inside(const cutting *cut, size_t at) { return cut->table->values[at] < 0; }

static void grid_place(const carom_level_table *table, size_t at, double x[3]) {
    const size_t nx = (size_t)table->counts[0], ny = (size_t)table->counts[1];
    const size_t index[] = {at % nx, at / nx % ny, at / nx / ny};
    for (int k = 0; k < 3; k++) x[k] = table->origin[k] + (double)index[k] * table->spacing[k];
}

// The point of the surface on the edge between two corners of a cube.
static carom_status cut_edge(cutting *cut, size_t cube, int first, int second, int *point, carom_error *error) {
    const int low = first < second ? first : second, high = first < second ? second : first;
    const size_t from = cube + cut->offset[low], to = cube + cut->offset[high];
    int *place = &cut->place[from * EDGES + (size_t)(high - low) - 1];
    if (*place == 0) {
        if (cut->points == CAROM_MAX_VERTICES)
            return carom_fail(error, CAROM_BAD_INPUT, "the surface has more than %d points", CAROM_MAX_VERTICES);
        if ((size_t)cut->points == cut->point_room) {
            cut->point_room = 2 * cut->point_room + 256;
            double *grown = realloc(cut->point, 3 * cut->point_room * sizeof *grown);
            if (!grown) return carom_fail_memory(error, "surface");
            cut->point = grown;
        }
        const double a = cut->table->values[from], b = cut->table->values[to], share = a / (a - b);
        double x[3], y[3];
        grid_place(cut->table, from, x);
        grid_place(cut->table, to, y);
        for (int k = 0; k < 3; k++) cut->point[3 * cut->points + k] = x[k] + share * (y[k] - x[k]);
        *place = ++cut->points;
    }
    *point = *place - 1;
    return CAROM_OK;
}

// The triangles in one tetrahedron, turned outwards.
static carom_status cut_tetrahedron(cutting *cut, size_t cube, const int tetrahedron[4], carom_error *error) {
    // Inside corners first; each exchange turns the tetrahedron over.
    int corner[4], inside = 0;
    bool turned = false;
    memcpy(corner, tetrahedron, sizeof corner);
    for (int k = 0; k < 4; k++) {
        if (!is_inside(cut, cube + cut->offset[corner[k]])) continue;
        const int moved = corner[k];
        if (k != inside) turned = !turned;
        corner[k] = corner[inside];
        corner[inside++] = moved;
    }
    if (inside == 0 || inside == 4) return CAROM_OK;
    // The edges that are cut, around the surface: of one corner to the three others, or of two to two.
    static const int CUTS[4][4][2] = {
        {{0, 0}, {0, 0}, {0, 0}, {0, 0}},
        {{0, 1}, {0, 2}, {0, 3}, {0, 0}},
        {{0, 2}, {0, 3}, {1, 3}, {1, 2}},
        {{3, 0}, {3, 1}, {3, 2}, {0, 0}},
    };
    // From an inside corner the three others go round so that their triangle is turned away from it. The fourth corner has the other sense,
    // and is outside: the triangle is turned towards it.
    const int count = inside == 2 ? 4 : 3;
    int point[4];
    carom_status status = CAROM_OK;
    for (int k = 0; k < count && !status; k++)
        status = cut_edge(cut, cube, corner[CUTS[inside][k][0]], corner[CUTS[inside][k][1]], &point[k], error);
    if (status) return status;
    if ((size_t)cut->triangles + 2 > cut->triangle_room) {
        cut->triangle_room = 2 * cut->triangle_room + 256;
        int *grown = realloc(cut->triangle, 3 * cut->triangle_room * sizeof *grown);
        if (!grown) return carom_fail_memory(error, "surface");
        cut->triangle = grown;
    }
    for (int k = 1; k + 1 < count; k++) {
        int *triangle = cut->triangle + 3 * cut->triangles++;
        triangle[0] = point[0];
        triangle[1] = point[turned ? k + 1 : k];
        triangle[2] = point[turned ? k : k + 1];
    }
    return CAROM_OK;
}

carom_status carom_level_surface(const carom_level_table *table, carom_arena *arena, carom_shape_data *shape, carom_error *error) {
    *shape = (carom_shape_data){0};
    size_t points = 1;
    for (int k = 0; k < 3; k++) {
        if (table->counts[k] < 3 || table->counts[k] > CAROM_MAX_LEVELS || !(table->spacing[k] > 0) || !isfinite(table->spacing[k]) ||
            !isfinite(table->origin[k]))
            return carom_fail(error, CAROM_BAD_INPUT, "the table needs 3 to %d points and a spacing greater than 0 along each axis",
                              CAROM_MAX_LEVELS);
        points *= (size_t)table->counts[k];
    }
    const size_t nx = (size_t)table->counts[0], ny = (size_t)table->counts[1], nz = (size_t)table->counts[2];
    bool some = false;
    for (size_t at = 0; at < points; at++) {
        const size_t i = at % nx, j = at / nx % ny, k = at / nx / ny;
        const bool edge = i == 0 || j == 0 || k == 0 || i + 1 == nx || j + 1 == ny || k + 1 == nz, inside = table->values[at] < 0;
        if (!isfinite(table->values[at])) return carom_fail(error, CAROM_BAD_INPUT, "value %zu of the table is not finite", at);
        if (edge && inside)
            return carom_fail(error, CAROM_BAD_INPUT, "the body reaches the edge of the table, at point (%zu, %zu, %zu)", i, j, k);
        some = some || inside;
    }
    if (!some) return carom_fail(error, CAROM_BAD_INPUT, "no value of the table is negative: there is no body");

    cutting cut = {.table = table, .place = calloc(points * EDGES, sizeof *cut.place)};
    for (size_t c = 0; c < 8; c++) cut.offset[c] = (c & 1) + nx * (c >> 1 & 1) + nx * ny * (c >> 2 & 1);
    carom_status status = cut.place ? CAROM_OK : carom_fail_memory(error, "surface");
    for (size_t at = 0; at < points && !status; at++) {
        if (at % nx + 1 == nx || at / nx % ny + 1 == ny || at / nx / ny + 1 == nz) continue;
        for (int t = 0; t < 6 && !status; t++) status = cut_tetrahedron(&cut, at, TETRAHEDRA[t], error);
    }
    double *point = status ? NULL : carom_arena_take(arena, 3 * (size_t)cut.points, sizeof *point);
    int *triangle = status ? NULL : carom_arena_take(arena, 3 * (size_t)cut.triangles, sizeof *triangle);
    if (!status && arena->failed) status = carom_fail_memory(error, "surface");
    if (!status) {
        memcpy(point, cut.point, 3 * (size_t)cut.points * sizeof *point);
        memcpy(triangle, cut.triangle, 3 * (size_t)cut.triangles * sizeof *triangle);
        *shape = (carom_shape_data){.vertices = cut.points, .vertex = point, .triangles = cut.triangles, .triangle = triangle};
    }
    free(cut.place);
    free(cut.point);
    free(cut.triangle);
    return status;
}

// Negative inside a part and zero on its surface; near it a distance, up to a factor.
static double part_level(const carom_convex *part, const double x[3]) {
    double largest = -INFINITY;
    if (part->round) {
        double apart[3], turned[3];
        for (int k = 0; k < 3; k++) apart[k] = x[k] - part->center[k];
        carom_multiply3(part->quadric, apart, turned);
        return (sqrt(carom_dot3(apart, turned)) - 1) * fmin(fmin(part->semiaxes[0], part->semiaxes[1]), part->semiaxes[2]);
    }
    for (int t = 0; t < part->hull.triangles; t++) {
        const double *normal = part->hull.normal + 3 * t;
        largest = fmax(largest, carom_dot3(normal, x) - carom_dot3(normal, part->hull.vertex + 3 * part->hull.triangle[3 * t]));
    }
    return largest;
}

carom_status carom_shape_subtract(const carom_shape_data *given, int resolution, carom_arena *arena, carom_shape_data *shape,
                                  carom_error *error) {
    *shape = (carom_shape_data){0};
    carom_shape_data united = *given;
    united.combine = CAROM_COMBINE_UNION;
    if (given->parts < 2) return carom_fail(error, CAROM_BAD_INPUT, "parts: a difference needs a part and one that is taken from it");
    if (resolution < 4 || resolution > CAROM_MAX_LEVELS - 3)
        return carom_fail(error, CAROM_BAD_INPUT, "resolution: %d is not from 4 to %d", resolution, CAROM_MAX_LEVELS - 3);
    carom_compound *compound;
    carom_status status = carom_compound_create(&united, &compound, error);
    if (status) return status;
    // A table about the first part, with a point outside on every side. Cells are as good as cubes.
    carom_level_table table;
    double low[3], high[3], longest = 0;
    for (int k = 0; k < 3; k++) {
        const double u[3] = {k == 0, k == 1, k == 2}, minus[3] = {-u[0], -u[1], -u[2]};
        double rho[3];
        low[k] = carom_compound_part_support(compound, 0, u, rho);
        high[k] = -carom_compound_part_support(compound, 0, minus, rho);
        longest = fmax(longest, high[k] - low[k]);
    }
    size_t points = 1;
    for (int k = 0; k < 3; k++) {
        const int cells = (int)ceil(resolution * (high[k] - low[k]) / longest) + 1;
        table.spacing[k] = longest / resolution;
        table.counts[k] = cells + 2;
        table.origin[k] = 0.5 * (low[k] + high[k]) - 0.5 * (cells + 1) * table.spacing[k];
        points *= (size_t)table.counts[k];
    }
    double *values = malloc(points * sizeof *values);
    table.values = values;
    if (!values) status = carom_fail_memory(error, "parts");
    for (size_t at = 0; at < points && !status; at++) {
        double x[3];
        grid_place(&table, at, x);
        values[at] = part_level(&compound->part[0], x);
        for (int p = 1; p < compound->parts; p++) values[at] = fmax(values[at], -part_level(&compound->part[p], x));
    }
    if (!status) status = carom_level_surface(&table, arena, shape, error);
    free(values);
    carom_compound_free(compound);
    return status;
}

carom_status carom_support_shape(int directions, const double *support, carom_arena *arena, carom_shape_data *shape, carom_error *error) {
    *shape = (carom_shape_data){0};
    double *face = carom_arena_take(arena, 4 * (size_t)directions, sizeof *face);
    if (!face) return carom_fail_memory(error, "support");
    double size = 0;
    for (int f = 0; f < directions; f++) {
        const double length = carom_norm3(support + 4 * f);
        if (!(length > 0) || !isfinite(length) || !isfinite(support[4 * f + 3]))
            return carom_fail(error, CAROM_BAD_INPUT, "support: direction %d is zero, or a number is not finite", f);
        for (int k = 0; k < 4; k++) face[4 * f + k] = support[4 * f + k] / length;
        size = fmax(size, fabs(face[4 * f + 3]));
    }
    return carom_faces_corners(face, directions, size, arena, &shape->vertices, &shape->vertex, error);
}
