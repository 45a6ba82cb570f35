// SPDX-License-Identifier: Apache-2.0
// Shapes of several convex parts, each an ellipsoid or a polyhedron that may be turned: unions and intersections.
//
// The deepest point of a union is that of its deepest part. That of an intersection is the deepest point of a part where this lies in all
// others; elsewhere it is on a rim where parts cross, min u.rho subject to g_i(rho) <= 0: an interior path to where it shows which
// conditions hold with equality, then Newton's method on these.
#include <stdlib.h>
#include <string.h>

#include "bodies/bodies_internal.h"
#include "carom/dense.h"
#include "carom/sets.h"
#include "carom/vector3.h"

// Polyhedra with more vertices are descended, others gone through.
enum { MANY_VERTICES = 64 };
// A point is in a part up to this share of the body's size: the rounding of its distance from the surface.
#define INSIDE_TOLERANCE 1e-13
// Faces whose normals and distances agree to this share are one.
#define EQUAL_FACES 1e-10
// The interior path: from this weight of the depth to the last one, by this factor; Newton steps at each.
#define FIRST_WEIGHT  10.0
#define LAST_WEIGHT   1e14
#define INNER_WEIGHT  1e8
#define PROBED_WEIGHT 200.0
#define WEIGHT_GROWTH 20.0
enum { MOST_NEWTON = 60, MOST_BACKTRACKS = 60, MOST_ACTIVE = 3 };
// Shares of the whole force that an active condition carries at least, which are tried in turn: what is found is verified.
static const double ACTIVE_SHARES[] = {0.02, 1e-3, 1e-5, 0.2};
enum { SHARES = sizeof ACTIVE_SHARES / sizeof *ACTIVE_SHARES };
// Residual of the conditions at a rim point, relative to the size.
#define RIM_TOLERANCE 1e-13

// ----------------------------------------------------------------------------------------------------------- one part

void carom_convex_set_round(carom_convex *part) {
    // With S = R E^2 R' the part is (rho - c)' S^-1 (rho - c) <= 1.
    const double *R = part->rotation;
    part->round = true;
    for (int i = 0; i < 9; i++) {
        part->spread[i] = part->quadric[i] = 0;
        for (int k = 0; k < 3; k++) {
            const double square = part->semiaxes[k] * part->semiaxes[k], product = R[i / 3 * 3 + k] * R[i % 3 * 3 + k];
            part->spread[i] += product * square;
            part->quadric[i] += product / square;
        }
    }
}

static carom_status create_convex(const carom_part *given, carom_convex *part, carom_error *error) {
    memcpy(part->center, given->center, sizeof part->center);
    memcpy(part->rotation, given->rotation, sizeof part->rotation);
    if (given->semiaxes) {
        memcpy(part->semiaxes, given->semiaxes, sizeof part->semiaxes);
        carom_convex_set_round(part);
        return CAROM_OK;
    }
    double *points = malloc(3 * (size_t)given->vertices * sizeof *points);
    if (!points) return carom_fail_memory(error, "parts");
    for (int v = 0; v < given->vertices; v++) {
        carom_multiply3(part->rotation, given->vertex + 3 * v, points + 3 * v);
        carom_add3(1, part->center, points + 3 * v);
    }
    carom_status status = carom_hull_create(points, given->vertices, &part->hull, error);
    free(points);
    if (!status && part->hull.vertices > MANY_VERTICES) status = carom_climb_create(&part->hull, &part->climb, error);
    return status;
}

static void release_convex(carom_convex *part) {
    carom_hull_release(&part->hull);
    carom_climb_release(&part->climb);
}

int carom_convex_deepest_vertex(const carom_convex *part, const double u[3]) {
    const double *vertex = part->hull.vertex;
    if (part->climb.first) return carom_climb_deepest(&part->climb, vertex, u);
    double least = carom_dot3(u, vertex);
    int deepest = 0;
    for (int i = 1; i < part->hull.vertices; i++) {
        const double depth = carom_dot3(u, vertex + 3 * i);
        if (depth < least) least = depth, deepest = i;
    }
    return deepest;
}

// The least u.rho: u.c - |E R'u| of an ellipsoid.
static double convex_support(const carom_convex *part, const double u[3], double rho[3]) {
    if (!part->round) {
        memcpy(rho, part->hull.vertex + 3 * carom_convex_deepest_vertex(part, u), 3 * sizeof *rho);
        return carom_dot3(u, rho);
    }
    double Su[3];
    carom_multiply3(part->spread, u, Su);
    const double length = sqrt(carom_dot3(u, Su));
    for (int i = 0; i < 3; i++) rho[i] = part->center[i] - Su[i] / length;
    return carom_dot3(u, part->center) - length;
}

// --------------------------------------------------------------------------------------------------------- conditions

// The conditions g(rho) <= 0 of all parts of an intersection, in units of its size: quadrics, then faces.
// g and its gradient; its Hessian is the quadric, or zero where that is NULL.
static double condition(const carom_compound *compound, int index, const double rho[3], double gradient[3], const double **quadric) {
    *quadric = NULL;
    for (int k = 0; k < compound->parts; k++) {
        const carom_convex *part = &compound->part[k];
        if (!part->round) continue;
        if (index-- > 0) continue;
        // ((rho - c)' A (rho - c) - 1)/2.
        double apart[3];
        for (int i = 0; i < 3; i++) apart[i] = rho[i] - part->center[i];
        carom_multiply3(part->quadric, apart, gradient);
        *quadric = part->quadric;
        return 0.5 * (carom_dot3(apart, gradient) - 1);
    }
    const double *face = compound->face + 4 * index;
    for (int i = 0; i < 3; i++) gradient[i] = face[i] / compound->size;
    return (carom_dot3(face, rho) - face[3]) / compound->size;
}

static bool is_inside(const carom_compound *compound, const double rho[3]) {
    double gradient[3];
    const double *quadric;
    for (int i = 0; i < compound->conditions; i++)
        if (condition(compound, i, rho, gradient, &quadric) > INSIDE_TOLERANCE) return false;
    return true;
}

// Newton's method for the least weight (d.x) - sum log(-g_i), with g_i(rho) - s for a fourth unknown s where it is there; x is inside at
// the start and at the end.
static void center_path(const carom_compound *compound, double weight, const double direction[4], bool slack, double x[4]) {
    const int n = slack ? 4 : 3;
    for (int step = 0; step < MOST_NEWTON; step++) {
        double gradient[4], hessian[16] = {0}, move[4], factor[16];
        int rows[4];
        for (int i = 0; i < n; i++) gradient[i] = weight * direction[i];
        for (int c = 0; c < compound->conditions; c++) {
            double slope[4] = {0, 0, 0, -1};
            const double *quadric, room = (slack ? x[3] : 0) - condition(compound, c, x, slope, &quadric);
            for (int i = 0; i < n; i++) {
                gradient[i] += slope[i] / room;
                for (int j = 0; j < n; j++)
                    hessian[n * i + j] += slope[i] * slope[j] / (room * room) + (quadric && i < 3 && j < 3 ? quadric[3 * i + j] / room : 0);
            }
        }
        memcpy(factor, hessian, sizeof factor);
        for (int i = 0; i < n; i++) move[i] = -gradient[i];
        if (!carom_lu_factor(n, factor, rows)) return;
        carom_lu_solve(n, factor, rows, move);
        const double decrement = -carom_dot(n, gradient, move);
        if (!(decrement > 1e-14)) return;
        // A damped step stays inside; where rounding says otherwise it is halved.
        double length = decrement > 0.0625 ? 1 / (1 + sqrt(decrement)) : 1, next[4] = {0};
        bool fits = false;
        for (int back = 0; back < MOST_BACKTRACKS && !fits; back++, length *= 0.5) {
            for (int i = 0; i < n; i++) next[i] = x[i] + length * move[i];
            fits = true;
            for (int c = 0; c < compound->conditions && fits; c++) {
                double slope[3];
                const double *quadric;
                fits = condition(compound, c, next, slope, &quadric) < (slack ? next[3] : 0);
            }
        }
        if (!fits) return;
        memcpy(x, next, (size_t)n * sizeof *x);
    }
}

// From a point of the interior path, the point where the conditions that carry force hold with equality: u/size + sum l_i grad g_i = 0.
static bool polish(const carom_compound *compound, const double direction[3], double weight, double share, const double from[3],
                   double rho[3]) {
    int active[MOST_ACTIVE], count = 0;
    double force[MOST_ACTIVE], strength[MOST_ACTIVE];
    for (int c = 0; c < compound->conditions; c++) {
        double slope[3];
        const double *quadric;
        const double carried = -1 / (weight * condition(compound, c, from, slope, &quadric));
        const double own = carried * carom_norm3(slope);
        if (own < share * carom_norm3(direction)) continue;
        // Three conditions hold a point; of more, the strongest.
        int place = count < MOST_ACTIVE ? count++ : -1;
        for (int a = 0; a < count && place < 0; a++)
            if (strength[a] < own && (place < 0 || strength[a] < strength[place])) place = a;
        if (place < 0) continue;
        active[place] = c;
        force[place] = carried;
        strength[place] = own;
    }
    memcpy(rho, from, 3 * sizeof *rho);
    for (int step = 0; step < MOST_NEWTON; step++) {
        const int n = 3 + count;
        double matrix[36] = {0}, right[6];
        int rows[6];
        for (int i = 0; i < 3; i++) right[i] = -direction[i];
        double residual = 0;
        for (int a = 0; a < count; a++) {
            double slope[3];
            const double *quadric, value = condition(compound, active[a], rho, slope, &quadric);
            residual = fmax(residual, fabs(value));
            right[3 + a] = -value;
            for (int i = 0; i < 3; i++) {
                right[i] -= force[a] * slope[i];
                matrix[n * i + 3 + a] = matrix[n * (3 + a) + i] = slope[i];
                for (int j = 0; j < 3 && quadric; j++) matrix[n * i + j] += force[a] * quadric[3 * i + j];
            }
        }
        if (!carom_lu_factor(n, matrix, rows)) return false;
        carom_lu_solve(n, matrix, rows, right);
        carom_add3(1, right, rho);
        for (int a = 0; a < count; a++) force[a] += right[3 + a];
        const double moved = carom_norm3(right) / compound->size;
        if (!isfinite(moved) || moved > 1) return false;
        if (moved <= 4e-16 || (step > 3 && moved <= RIM_TOLERANCE && residual <= RIM_TOLERANCE)) {
            for (int a = 0; a < count; a++)
                if (!(force[a] >= 0)) return false;
            return is_inside(compound, rho);
        }
    }
    return false;
}

static double intersection_support(const carom_compound *compound, const double u[3], double rho[3]) {
    // The deepest point of one part, where it lies in all others.
    for (int k = 0; k < compound->parts; k++) {
        const double depth = convex_support(&compound->part[k], u, rho);
        if (is_inside(compound, rho)) return depth;
    }
    // Otherwise the deepest point on a rim.
    const double direction[4] = {u[0] / compound->size, u[1] / compound->size, u[2] / compound->size, 0};
    double x[4] = {compound->interior[0], compound->interior[1], compound->interior[2], 0};
    for (double weight = FIRST_WEIGHT; weight <= LAST_WEIGHT; weight *= WEIGHT_GROWTH) {
        center_path(compound, weight, direction, false, x);
        for (int share = 0; weight >= PROBED_WEIGHT && share < SHARES; share++)
            if (polish(compound, direction, weight, ACTIVE_SHARES[share], x, rho)) return carom_dot3(u, rho);
    }
    memcpy(rho, x, 3 * sizeof *rho);
    return carom_dot3(u, rho);
}

// A point inside all parts, far from their surfaces: the least s with g_i <= s.
static bool find_interior(carom_compound *compound) {
    const double down[4] = {0, 0, 0, 1};
    double x[4] = {0}, slope[3];
    const double *quadric;
    for (int k = 0; k < compound->parts; k++) {
        double low[3], high[3];
        convex_support(&compound->part[k], (const double[]){1, 0, 0}, low);
        convex_support(&compound->part[k], (const double[]){-1, 0, 0}, high);
        for (int i = 0; i < 3; i++) x[i] += 0.5 * (low[i] + high[i]) / compound->parts;
    }
    for (int c = 0; c < compound->conditions; c++) x[3] = fmax(x[3], condition(compound, c, x, slope, &quadric));
    x[3] += 1;
    // Many conditions push together: s is kept down by as much.
    for (double weight = FIRST_WEIGHT; weight <= INNER_WEIGHT; weight *= WEIGHT_GROWTH)
        center_path(compound, weight * compound->conditions, down, true, x);
    memcpy(compound->interior, x, sizeof compound->interior);
    return x[3] < -1e-6;
}

// ------------------------------------------------------------------------------------------------------------ creation

// The faces of all polyhedra, each once.
static carom_status collect_faces(carom_compound *compound, carom_error *error) {
    size_t room = 0;
    for (int k = 0; k < compound->parts; k++) room += (size_t)compound->part[k].hull.triangles;
    compound->face = malloc((4 * room + 1) * sizeof *compound->face);
    if (!compound->face) return carom_fail_memory(error, "parts");
    int faces = 0;
    for (int k = 0; k < compound->parts; k++) {
        const carom_hull *hull = &compound->part[k].hull;
        for (int t = 0; t < hull->triangles; t++) {
            double *face = compound->face + 4 * faces;
            memcpy(face, hull->normal + 3 * t, 3 * sizeof *face);
            face[3] = carom_dot3(face, hull->vertex + 3 * hull->triangle[3 * t]);
            bool known = false;
            for (int f = 0; f < faces && !known; f++) {
                const double *other = compound->face + 4 * f;
                known = fabs(face[3] - other[3]) <= EQUAL_FACES * compound->size;
                for (int i = 0; i < 3; i++) known = known && fabs(face[i] - other[i]) <= EQUAL_FACES;
            }
            faces += !known;
        }
    }
    compound->faces = faces;
    return CAROM_OK;
}

carom_status carom_faces_corners(const double *face, int faces, double size, carom_arena *arena, int *corners, const double **corner,
                                 carom_error *error) {
    // By duality: the faces of the hull of the points n/(b - n.x), for a point x inside.
    carom_compound bounds = {.size = size, .faces = faces, .conditions = faces, .face = (double *)face};
    if (!find_interior(&bounds)) return carom_fail(error, CAROM_BAD_INPUT, "the faces leave no volume between them");
    carom_facets facets;
    double *dual = carom_arena_take(arena, 3 * (size_t)faces, sizeof *dual);
    if (!dual) return carom_fail_memory(error, "faces");
    for (int f = 0; f < faces; f++) {
        const double distance = (face[4 * f + 3] - carom_dot3(face + 4 * f, bounds.interior)) / size;
        for (int i = 0; i < 3; i++) dual[3 * f + i] = face[4 * f + i] / distance;
    }
    const carom_status status = carom_hull_facets(3, faces, dual, NULL, arena, &facets, error);
    if (status == CAROM_INTERNAL) return carom_fail(error, CAROM_BAD_INPUT, "the faces bound no body");
    if (status) return status;
    double *found = carom_arena_take(arena, 3 * (size_t)facets.count, sizeof *found);
    if (!found) return carom_fail_memory(error, "faces");
    *corners = 0;
    for (int t = 0; t < facets.count; t++) {
        // The plane m.p = d of a facet is the corner m/d. Facets of one corner are triangles of it.
        const double *normal = facets.normals + 3 * t, reach = carom_dot3(normal, dual + 3 * facets.corners[3 * t]);
        double *point = found + 3 * *corners;
        if (!(reach > 0)) return carom_fail(error, CAROM_BAD_INPUT, "the faces do not bound the body on all sides");
        for (int i = 0; i < 3; i++) point[i] = bounds.interior[i] + size * normal[i] / reach;
        bool known = false;
        for (int c = 0; c < *corners && !known; c++) {
            known = true;
            for (int i = 0; i < 3; i++) known = known && fabs(point[i] - found[3 * c + i]) <= EQUAL_FACES * size;
        }
        *corners += !known;
    }
    *corner = found;
    return CAROM_OK;
}

// An intersection of polyhedra is one polyhedron.
static carom_status meet_polyhedra(carom_compound *compound, carom_error *error) {
    carom_arena arena = {0};
    carom_part met = {0};
    memcpy(met.rotation, CAROM_IDENTITY3, sizeof met.rotation);
    carom_status status = carom_faces_corners(compound->face, compound->faces, compound->size, &arena, &met.vertices, &met.vertex, error);
    if (!status) {
        for (int k = 0; k < compound->parts; k++) release_convex(&compound->part[k]);
        compound->parts = 1;
        compound->part[0] = (carom_convex){0};
        status = create_convex(&met, &compound->part[0], error);
    }
    carom_arena_free(&arena);
    return status;
}

carom_status carom_compound_create(const carom_shape_data *shape, carom_compound **compound, carom_error *error) {
    *compound = NULL;
    carom_compound *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "parts");
    made->combine = shape->combine;
    made->part = calloc((size_t)shape->parts, sizeof *made->part);
    carom_status status = made->part ? CAROM_OK : carom_fail_memory(error, "parts");
    bool round = false;
    for (int k = 0; k < shape->parts && !status; k++) {
        made->parts = k + 1;
        status = create_convex(&shape->part[k], &made->part[k], error);
        round = round || made->part[k].round;
        // The largest distance between points of a part along an axis.
        for (int i = 0; i < 3 && !status; i++) {
            const double u[3] = {i == 0, i == 1, i == 2}, minus[3] = {-u[0], -u[1], -u[2]};
            double rho[3];
            made->size = fmax(made->size, -convex_support(&made->part[k], u, rho) - convex_support(&made->part[k], minus, rho));
        }
    }
    if (!status && made->combine == CAROM_COMBINE_INTERSECTION && made->parts > 1) {
        status = collect_faces(made, error);
        made->conditions = made->faces;
        for (int k = 0; k < made->parts; k++) made->conditions += made->part[k].round;
        if (!status && !find_interior(made))
            status = carom_fail(error, CAROM_BAD_INPUT, "parts: their intersection is empty, or has no volume");
        if (!status && !round) status = meet_polyhedra(made, error);
    }
    if (status)
        carom_compound_free(made);
    else
        *compound = made;
    return status;
}

void carom_compound_free(carom_compound *compound) {
    if (!compound) return;
    for (int k = 0; k < compound->parts; k++) release_convex(&compound->part[k]);
    free(compound->part);
    free(compound->face);
    free(compound);
}

void carom_compound_move(carom_compound *compound, const double by[3]) {
    for (int k = 0; k < compound->parts; k++) {
        carom_convex *part = &compound->part[k];
        carom_add3(1, by, part->center);
        for (int v = 0; v < part->hull.vertices; v++) carom_add3(1, by, part->hull.vertex + 3 * v);
    }
    for (int f = 0; f < compound->faces; f++) compound->face[4 * f + 3] += carom_dot3(compound->face + 4 * f, by);
    carom_add3(1, by, compound->interior);
}

// ------------------------------------------------------------------------------------------------------------- support

bool carom_compound_is_rimmed(const carom_compound *compound) {
    return compound->combine == CAROM_COMBINE_INTERSECTION && compound->parts > 1;
}

double carom_compound_support(const carom_compound *compound, const double u[3], double rho[3]) {
    if (carom_compound_is_rimmed(compound)) return intersection_support(compound, u, rho);
    double least = convex_support(&compound->part[0], u, rho);
    for (int k = 1; k < compound->parts; k++) {
        double point[3];
        const double depth = convex_support(&compound->part[k], u, point);
        if (!(depth < least)) continue;
        least = depth;
        memcpy(rho, point, sizeof point);
    }
    return least;
}

double carom_compound_part_support(const carom_compound *compound, int part, const double u[3], double rho[3]) {
    return carom_compound_is_rimmed(compound) ? intersection_support(compound, u, rho) : convex_support(&compound->part[part], u, rho);
}

// A rimmed body that lies on a flat face touches with all of it: its deepest point, and the points that reach furthest in directions along
// the plane, which are the deepest ones when it is tilted by a little. Where these are near the first, they are the same.
enum { FACE_POINTS = 8 };
#define FACE_TILT  1e-6
#define SAME_POINT 1e-3

int carom_compound_features(const carom_compound *compound) {
    int count = 0;
    for (int k = 0; k < compound->parts; k++) count += compound->part[k].round ? 1 : compound->part[k].hull.vertices;
    return !carom_compound_is_rimmed(compound) ? count : compound->faces ? 1 + FACE_POINTS : 1;
}

double carom_compound_feature_support(const carom_compound *compound, int feature, const double u[3], double rho[3]) {
    if (carom_compound_is_rimmed(compound)) {
        const double depth = intersection_support(compound, u, rho), angle = 6.283185307179586 * feature / FACE_POINTS;
        if (feature == 0) return depth;
        double frame[6], tilted[3] = {u[0], u[1], u[2]}, deepest[3] = {rho[0], rho[1], rho[2]}, apart = 0;
        carom_complete_frame3(u, frame);
        carom_add3(FACE_TILT * cos(angle), frame, tilted);
        carom_add3(FACE_TILT * sin(angle), frame + 3, tilted);
        const double length = carom_norm3(tilted);
        for (int i = 0; i < 3; i++) tilted[i] /= length;
        intersection_support(compound, tilted, rho);
        for (int i = 0; i < 3; i++) apart = fmax(apart, fabs(rho[i] - deepest[i]));
        return apart > SAME_POINT * compound->size ? carom_dot3(u, rho) : INFINITY;
    }
    for (int k = 0; k < compound->parts; k++) {
        const carom_convex *part = &compound->part[k];
        const int own = part->round ? 1 : part->hull.vertices;
        if (feature >= own) {
            feature -= own;
            continue;
        }
        if (part->round) return convex_support(part, u, rho);
        memcpy(rho, part->hull.vertex + 3 * feature, 3 * sizeof *rho);
        break;
    }
    return carom_dot3(u, rho);
}
