// SPDX-License-Identifier: Apache-2.0
// Convex polyhedra: hulls of points, and their moments with rounded edges and corners.
#include <stdlib.h>
#include <string.h>

#include "bodies/bodies_internal.h"
#include "carom/sets.h"
#include "carom/vector3.h"

// ---------------------------------------------------------------------------------------------------------------- hull

// Qhull orders the corners of all triangles in the same sense, but which one depends on how it was built. Where the volume comes out
// negative, the sense is turned round.
static void orient(carom_hull *hull) {
    double volume = 0;
    for (int t = 0; t < hull->triangles; t++) {
        const int *corner = hull->triangle + 3 * t;
        const double *origin = hull->vertex;
        double edges[3][3], bc[3];
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) edges[k][i] = hull->vertex[3 * corner[k] + i] - origin[i];
        carom_cross3(edges[1], edges[2], bc);
        volume += carom_dot3(edges[0], bc);
    }
    for (int t = 0; volume < 0 && t < hull->triangles; t++) {
        const int kept = hull->triangle[3 * t + 1];
        hull->triangle[3 * t + 1] = hull->triangle[3 * t + 2];
        hull->triangle[3 * t + 2] = kept;
    }
}

carom_status carom_hull_create(const double *points, int count, carom_hull *hull, carom_error *error) {
    *hull = (carom_hull){0};
    carom_arena arena = {0};
    carom_facets facets;
    int *places = carom_arena_take(&arena, (size_t)count, sizeof *places);
    carom_status status = places ? carom_hull_facets(3, count, points, NULL, &arena, &facets, error) : CAROM_OUT_OF_MEMORY;
    if (status == CAROM_INTERNAL)
        status = carom_fail(error, CAROM_BAD_INPUT, "vertices: they lie in one plane, or nearly so; a body has a volume");
    else if (!status) {
        // Vertices keep the order in which they were given, so that nothing depends on Qhull's.
        for (int i = 0; i < 3 * facets.count; i++) places[facets.corners[i]] = 1;
        for (int i = 0; i < count; i++) hull->vertices += places[i];
        hull->vertex = malloc((size_t)hull->vertices * 3 * sizeof *hull->vertex);
        hull->triangle = malloc((size_t)facets.count * 3 * sizeof *hull->triangle);
        hull->normal = malloc((size_t)facets.count * 3 * sizeof *hull->normal);
        if (!hull->vertex || !hull->triangle || !hull->normal) status = CAROM_OUT_OF_MEMORY;
    }
    if (status == CAROM_OUT_OF_MEMORY) carom_fail_memory(error, "vertices");
    if (!status) {
        for (int i = 0, next = 0; i < count; i++) {
            if (!places[i]) continue;
            places[i] = next++;
            memcpy(hull->vertex + 3 * places[i], points + 3 * i, 3 * sizeof *points);
        }
        hull->triangles = facets.count;
        for (int t = 0; t < facets.count; t++) {
            const int *corner = facets.corners + 3 * t, first = facets.mirrored[t];
            const int order[3] = {first, !first, 2};
            for (int k = 0; k < 3; k++) hull->triangle[3 * t + k] = places[corner[order[k]]];
        }
        memcpy(hull->normal, facets.normals, (size_t)facets.count * 3 * sizeof *hull->normal);
        orient(hull);
    }
    carom_arena_free(&arena);
    if (status) carom_hull_release(hull);
    return status;
}

void carom_hull_release(carom_hull *hull) {
    free(hull->vertex);
    free(hull->triangle);
    free(hull->normal);
    *hull = (carom_hull){0};
}

// ------------------------------------------------------------------------------------------------------------- moments

// Adds the moments 1, p, p p' of a point with a weight.
static void add_point(carom_moments *moments, double weight, const double p[3]) {
    moments->volume += weight;
    for (int i = 0; i < 3; i++) {
        moments->first[i] += weight * p[i];
        for (int j = 0; j < 3; j++) moments->second[3 * i + j] += weight * p[i] * p[j];
    }
}

// Gauss-Legendre nodes and weights on [0, 1]; six integrate polynomials up to degree 11.
enum { NODES = 6 };
static const double NODE[NODES] = {0.033765242898423989, 0.16939530676686774, 0.38069040695840156,
                                   0.61930959304159849,  0.83060469323313224, 0.96623475710157603};
static const double WEIGHT[NODES] = {0.085662246189585178, 0.18038078652406930, 0.23395696728634552,
                                     0.23395696728634552,  0.18038078652406930, 0.085662246189585178};
// Pieces of an arc of a rounded edge or corner: with six nodes each, a quarter turn is exact to rounding.
enum { ARC_PIECES = 4 };

// The unit vector at an angle from `from` towards `across`, both unit and perpendicular.
static void unit_at(const double from[3], const double across[3], double angle, double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = cos(angle) * from[i] + sin(angle) * across[i];
}

// The angle between unit vectors, and the unit vector across.
static double angle_between(const double from[3], const double to[3], double across[3]) {
    double axis[3];
    carom_cross3(from, to, axis);
    const double sine = carom_norm3(axis), cosine = carom_dot3(from, to);
    for (int i = 0; i < 3; i++) across[i] = sine > 0 ? (to[i] - cosine * from[i]) / sine : 0;
    return atan2(sine, cosine);
}

// The slab of a thickness on a triangle. Quadratic moments of a triangle are those of its edge midpoints, a third of the area each.
static void add_slab(carom_moments *moments, const carom_hull *hull, int triangle, double thickness) {
    const int *corner = hull->triangle + 3 * triangle;
    const double *a = hull->vertex + 3 * corner[0], *b = hull->vertex + 3 * corner[1], *c = hull->vertex + 3 * corner[2];
    double ab[3], ac[3], normal[3];
    for (int i = 0; i < 3; i++) ab[i] = b[i] - a[i], ac[i] = c[i] - a[i];
    carom_cross3(ab, ac, normal);
    const double area = 0.5 * carom_norm3(normal);
    for (int side = 0; side < 3; side++) {
        const double *from = hull->vertex + 3 * corner[side], *to = hull->vertex + 3 * corner[(side + 1) % 3];
        for (int k = 0; k < NODES; k++) {
            double p[3] = {0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1]), 0.5 * (from[2] + to[2])};
            carom_add3(NODE[k] * thickness, hull->normal + 3 * triangle, p);
            add_point(moments, area / 3 * WEIGHT[k] * thickness, p);
        }
    }
}

// The sector of a cylinder along an edge between two faces with normals `from` and `to`.
static void add_edge_sector(carom_moments *moments, const double a[3], const double b[3], const double from[3], const double to[3],
                            double radius) {
    double across[3], ab[3];
    const double angle = angle_between(from, to, across);
    for (int i = 0; i < 3; i++) ab[i] = b[i] - a[i];
    const double length = carom_norm3(ab);
    for (int piece = 0; piece < ARC_PIECES * NODES * NODES; piece++) {
        const int along = piece % NODES, ring = piece / NODES % NODES, arc = piece / NODES / NODES;
        for (int k = 0; k < NODES; k++) {
            double out[3], p[3] = {a[0], a[1], a[2]};
            unit_at(from, across, angle * (arc + NODE[k]) / ARC_PIECES, out);
            carom_add3(NODE[along], ab, p);
            const double distance = NODE[ring] * radius;
            carom_add3(distance, out, p);
            add_point(moments, WEIGHT[along] * length * WEIGHT[ring] * radius * distance * WEIGHT[k] * angle / ARC_PIECES, p);
        }
    }
}

// The sector of a ball at a corner over the spherical triangle (pole, from, to): arcs from the pole to the points of the arc from-to. The
// solid angle of the strip between two such arcs is (1 - cos of their length) times the angle between them at the pole.
static void add_corner_sector(carom_moments *moments, const double corner[3], const double pole[3], const double from[3],
                              const double to[3], double radius) {
    double across[3], edge_across[3], first[3];
    const double edge = angle_between(from, to, edge_across);
    if (edge == 0 || angle_between(pole, from, first) == 0) return;
    for (int piece = 0; piece < ARC_PIECES * NODES; piece++) {
        double point[3], tangent[3], normal[3], toward[3];
        const double at = edge * (piece / NODES + NODE[piece % NODES]) / ARC_PIECES;
        unit_at(from, edge_across, at, point);
        unit_at(from, edge_across, at + 1.5707963267948966, tangent);
        const double length = angle_between(pole, point, toward);
        // Turn of the arc's direction at the pole for each radian along the edge.
        carom_cross3(pole, toward, normal);
        const double rate = carom_dot3(normal, tangent) / sin(length), width = rate * WEIGHT[piece % NODES] * edge / ARC_PIECES;
        for (int k = 0; k < ARC_PIECES * NODES; k++) {
            const double share = (k / NODES + NODE[k % NODES]) / ARC_PIECES;
            unit_at(pole, toward, share * length, across);
            const double solid = width * sin(share * length) * length * WEIGHT[k % NODES] / ARC_PIECES;
            for (int ring = 0; ring < NODES; ring++) {
                const double distance = NODE[ring] * radius;
                double p[3] = {corner[0], corner[1], corner[2]};
                carom_add3(distance, across, p);
                add_point(moments, solid * distance * distance * WEIGHT[ring] * radius, p);
            }
        }
    }
}

// Adds the tetrahedra of triangles and the origin: volume det/6, and moments by the corners and their sum, exactly.
static void add_tetrahedra(carom_moments *moments, const double *vertex, const int *triangle, int triangles) {
    for (int t = 0; t < triangles; t++) {
        const int *corner = triangle + 3 * t;
        const double *a = vertex + 3 * corner[0], *b = vertex + 3 * corner[1], *c = vertex + 3 * corner[2];
        double bc[3], sum[3];
        carom_cross3(b, c, bc);
        const double det = carom_dot3(a, bc);
        for (int i = 0; i < 3; i++) sum[i] = a[i] + b[i] + c[i];
        moments->volume += det / 6;
        for (int i = 0; i < 3; i++) {
            moments->first[i] += det / 24 * sum[i];
            for (int j = 0; j < 3; j++)
                moments->second[3 * i + j] += det / 120 * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + sum[i] * sum[j]);
        }
    }
}

static int compare_edges(const void *first, const void *second) {
    const int *a = first, *b = second;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

carom_status carom_surface_moments(const carom_shape_data *shape, carom_moments *moments, carom_error *error) {
    *moments = (carom_moments){0};
    // Closed: along every edge as many triangles go one way as the other.
    const size_t edges = 3 * (size_t)shape->triangles;
    int(*forth)[2] = malloc(edges * sizeof *forth), (*back)[2] = malloc(edges * sizeof *back);
    carom_status status = forth && back ? CAROM_OK : carom_fail_memory(error, "mesh");
    if (!status) {
        for (size_t k = 0; k < edges; k++) {
            forth[k][0] = back[k][1] = shape->triangle[k];
            forth[k][1] = back[k][0] = shape->triangle[k / 3 * 3 + (k + 1) % 3];
        }
        qsort(forth, edges, sizeof *forth, compare_edges);
        qsort(back, edges, sizeof *back, compare_edges);
        if (memcmp(forth, back, edges * sizeof *forth) != 0)
            status = carom_fail(error, CAROM_BAD_INPUT,
                                "mesh: its surface is not closed, or not turned the same way everywhere: the inertia must be given");
    }
    free(forth);
    free(back);
    if (status) return status;
    add_tetrahedra(moments, shape->vertex, shape->triangle, shape->triangles);
    // Triangles that are all turned inwards have minus the moments.
    const double sign = moments->volume < 0 ? -1 : 1;
    moments->volume *= sign;
    for (int i = 0; i < 9; i++) moments->second[i] *= sign;
    for (int i = 0; i < 3; i++) moments->first[i] *= sign;
    return moments->volume > 0 ? CAROM_OK : carom_fail(error, CAROM_BAD_INPUT, "mesh: its surface bounds no volume");
}

carom_status carom_hull_moments(const carom_hull *hull, double rounding, carom_moments *moments, carom_error *error) {
    *moments = (carom_moments){0};
    add_tetrahedra(moments, hull->vertex, hull->triangle, hull->triangles);
    if (rounding == 0) return CAROM_OK;
    // A corner's sector is the fan of spherical triangles from a pole to the arcs of its edges; the mean of its faces' normals is a pole
    // inside.
    double *poles = calloc((size_t)hull->vertices * 3, sizeof *poles);
    if (!poles) return carom_fail_memory(error, "vertices");
    for (int t = 0; t < hull->triangles; t++)
        for (int k = 0; k < 3; k++) carom_add3(1, hull->normal + 3 * t, poles + 3 * hull->triangle[3 * t + k]);
    for (int i = 0; i < hull->vertices; i++) {
        const double length = carom_norm3(poles + 3 * i);
        for (int k = 0; k < 3; k++) poles[3 * i + k] /= length;
    }
    for (int t = 0; t < hull->triangles; t++) {
        add_slab(moments, hull, t, rounding);
        for (int k = 0; k < 3; k++) {
            // The triangle on the other side of the edge has its corners in the other order. Of both, the lower one adds the edge.
            const int a = hull->triangle[3 * t + k], b = hull->triangle[3 * t + (k + 1) % 3];
            int other = -1;
            for (int side = 0; side < 3 * hull->triangles && other < 0; side++)
                if (hull->triangle[side] == b && hull->triangle[side / 3 * 3 + (side + 1) % 3] == a) other = side / 3;
            if (other < t) continue;
            const double *own = hull->normal + 3 * t, *others = hull->normal + 3 * other;
            add_edge_sector(moments, hull->vertex + 3 * a, hull->vertex + 3 * b, own, others, rounding);
            add_corner_sector(moments, hull->vertex + 3 * a, poles + 3 * a, others, own, rounding);
            add_corner_sector(moments, hull->vertex + 3 * b, poles + 3 * b, own, others, rounding);
        }
    }
    free(poles);
    return CAROM_OK;
}
