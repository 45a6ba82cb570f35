// SPDX-License-Identifier: Apache-2.0
// Rigid bodies: checks, mass properties, and the support points from which everything about a plane follows.
#include <stdlib.h>
#include <string.h>

#include "bodies/bodies_internal.h"
#include "carom/dense.h"
#include "carom/rotation.h"
#include "carom/vector3.h"

// Largest relative asymmetry of a given inertia, and violation of J1 <= J2 + J3, that count as round-off of how it was computed.
#define INERTIA_TOLERANCE 1e-9

struct carom_body {
    double mass, radius;
    double inertia[9];
    carom_mass_properties uniform;
    carom_shape_data shape;  // with memory of its own; points inside a hull left out
    double *memory;          // semiaxes, centers, vertices
    carom_climb climb;       // of a hull of many vertices
    carom_compound *compound;
};

// Hulls with more vertices are descended, others gone through.
enum { MANY_VERTICES = 64 };
// Defect of a part's rotation that is more than rounding of printed digits.
#define ROTATION_TOLERANCE 1e-8

// -------------------------------------------------------------------------------------------------------------- shapes

static carom_status check_numbers(const char *key, const double *values, int count, carom_error *error) {
    if (carom_all_finite((size_t)count, values)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: a number is not finite", key);
}

// Ellipsoids and hulls of points in their own frames.
static carom_status check_parts(const carom_shape_data *shape, carom_error *error) {
    if (shape->parts > CAROM_MAX_PARTS)
        return carom_fail(error, CAROM_BAD_INPUT, "parts: %d are more than %d", shape->parts, CAROM_MAX_PARTS);
    carom_status status = CAROM_OK;
    for (int i = 0; i < shape->parts && !status; i++) {
        const carom_part *part = &shape->part[i];
        if (part->semiaxes) {
            status = check_numbers("semiaxes", part->semiaxes, 3, error);
            for (int k = 0; k < 3 && !status; k++)
                if (part->semiaxes[k] <= 0)
                    status = carom_fail(error, CAROM_BAD_INPUT, "semiaxes: %g of part %d is not greater than 0", part->semiaxes[k], i);
        } else if (part->vertices < 4 || part->vertices > CAROM_MAX_VERTICES) {
            status =
                carom_fail(error, CAROM_BAD_INPUT, "vertices: part %d has %d, a hull takes 4 to %d", i, part->vertices, CAROM_MAX_VERTICES);
        } else {
            status = check_numbers("vertices", part->vertex, 3 * part->vertices, error);
        }
        if (!status) status = check_numbers("center", part->center, 3, error);
        if (!status) status = check_numbers("rotation", part->rotation, 9, error);
        double adjugate[9];
        if (!status && !(carom_rotation_defect(part->rotation) <= ROTATION_TOLERANCE && carom_adjugate3(part->rotation, adjugate) > 0))
            status = carom_fail(error, CAROM_BAD_INPUT, "rotation: that of part %d is not a rotation matrix", i);
    }
    return status;
}

// Either ellipsoids or vertices or parts, as many as are allowed, of finite numbers.
static carom_status check_shape(const carom_shape_data *shape, carom_error *error) {
    if (!isfinite(shape->rounding) || shape->rounding < 0)
        return carom_fail(error, CAROM_BAD_INPUT, "rounding: must be a finite number, at least 0");
    if ((shape->ellipsoids > 0) + (shape->vertices > 0) + (shape->parts > 0) != 1)
        return carom_fail(error, CAROM_BAD_INPUT, "shape: one of ellipsoids, vertices and parts is needed");
    if (shape->triangles > CAROM_MAX_TRIANGLES || (shape->triangles && !shape->vertices))
        return carom_fail(error, CAROM_BAD_INPUT, "mesh: %d triangles are more than %d, or have no vertices", shape->triangles,
                          CAROM_MAX_TRIANGLES);
    for (int i = 0; i < 3 * shape->triangles; i++)
        if (shape->triangle[i] < 0 || shape->triangle[i] >= shape->vertices)
            return carom_fail(error, CAROM_BAD_INPUT, "mesh: triangle %d has corner %d, and there are %d vertices", i / 3,
                              shape->triangle[i], shape->vertices);
    if (shape->parts > 0) return check_parts(shape, error);
    if (shape->ellipsoids <= 0) {
        if (shape->vertices < 4 || shape->vertices > CAROM_MAX_VERTICES)
            return carom_fail(error, CAROM_BAD_INPUT, "vertices: there are %d, a hull takes 4 to %d", shape->vertices, CAROM_MAX_VERTICES);
        return check_numbers("vertices", shape->vertex, 3 * shape->vertices, error);
    }
    if (shape->ellipsoids > CAROM_MAX_ELLIPSOIDS)
        return carom_fail(error, CAROM_BAD_INPUT, "ellipsoids: %d are more than %d", shape->ellipsoids, CAROM_MAX_ELLIPSOIDS);
    carom_status status = check_numbers("semiaxes", shape->semiaxes, 3 * shape->ellipsoids, error);
    if (!status && shape->centers) status = check_numbers("center", shape->centers, 3 * shape->ellipsoids, error);
    for (int i = 0; i < 3 * shape->ellipsoids && !status; i++)
        if (shape->semiaxes[i] <= 0)
            status = carom_fail(error, CAROM_BAD_INPUT, "semiaxes: %g of ellipsoid %d is not greater than 0", shape->semiaxes[i], i / 3);
    if (!status && shape->combine == CAROM_COMBINE_INTERSECTION && shape->ellipsoids > 2)
        status = carom_fail(error, CAROM_BAD_INPUT, "combine: an intersection takes at most two ellipsoids");
    return status;
}

// A copy that owns its memory, with all centers given, and a hull's vertices only. The hull, the memory and the compound are to be freed in
// every case.
static carom_status copy_shape(const carom_shape_data *given, carom_shape_data *shape, double **memory, carom_hull *hull,
                               carom_compound **compound, carom_error *error) {
    *hull = (carom_hull){0};
    *compound = NULL;
    carom_status status = check_shape(given, error);
    if (!status && given->parts) status = carom_compound_create(given, compound, error);
    if (!status && given->vertices) status = carom_hull_create(given->vertex, given->vertices, hull, error);
    if (status) return status;
    *shape = *given;
    const size_t ellipsoids = 3 * (size_t)given->ellipsoids, vertices = 3 * (size_t)hull->vertices;
    *memory = calloc(2 * ellipsoids + vertices + 1, sizeof **memory);
    if (!*memory) return carom_fail_memory(error, "shape");
    double *semiaxes = *memory, *centers = semiaxes + ellipsoids, *vertex = centers + ellipsoids;
    if (ellipsoids) memcpy(semiaxes, given->semiaxes, ellipsoids * sizeof *semiaxes);
    if (ellipsoids && given->centers) memcpy(centers, given->centers, ellipsoids * sizeof *centers);
    if (vertices) memcpy(vertex, hull->vertex, vertices * sizeof *vertex);
    shape->semiaxes = semiaxes;
    shape->centers = centers;
    shape->vertex = vertex;
    shape->vertices = hull->vertices;
    shape->triangles = 0;
    shape->triangle = NULL;
    shape->part = NULL;
    if (shape->ellipsoids == 2 && shape->combine == CAROM_COMBINE_INTERSECTION && !carom_intersection_exists(shape))
        return carom_fail(error, CAROM_BAD_INPUT, "ellipsoids: their intersection is empty");
    return CAROM_OK;
}

// The quadrature's time grows with nearly the third power of the number of ellipsoids: 16 take seconds.
enum { MOST_INTEGRATED = 16 };

// ... and with the number of faces of polyhedra among them. Each edge of a rounded hull is looked for among all.
enum { MOST_INTEGRATED_FACES = 1000, MOST_ROUNDED = 4096 };

// Mass properties at uniform density; unknown where no method computes them, or it would take too long.
// @param given  the shape with its surface
static carom_status find_mass(const carom_shape_data *given, const carom_shape_data *shape, const carom_hull *hull,
                              const carom_compound *compound, carom_mass_properties *mass, carom_error *error) {
    *mass = (carom_mass_properties){0};
    if ((shape->ellipsoids && shape->rounding > 0) || shape->ellipsoids > MOST_INTEGRATED) return CAROM_OK;
    if (hull->vertices > MOST_ROUNDED && shape->rounding > 0) return CAROM_OK;
    int faces = 0;
    const bool one_hull = compound && compound->parts == 1 && !compound->part[0].round;
    for (int k = 0; compound && !one_hull && k < compound->parts; k++) faces += compound->part[k].hull.triangles;
    if (compound && (shape->rounding > 0 || compound->parts > MOST_INTEGRATED || faces > MOST_INTEGRATED_FACES)) return CAROM_OK;
    if (shape->ellipsoids == 1) {
        // In closed form: V = 4/3 pi abc, J1/m = (b^2 + c^2)/5.
        const double *e = shape->semiaxes;
        *mass = (carom_mass_properties){.known = true, .volume = 4.0 / 3 * 3.141592653589793 * e[0] * e[1] * e[2]};
        memcpy(mass->centroid, shape->centers, sizeof mass->centroid);
        for (int i = 0; i < 3; i++) {
            const double a = e[(i + 1) % 3], b = e[(i + 2) % 3];
            mass->inertia[4 * i] = (a * a + b * b) / 5;
        }
        return CAROM_OK;
    }
    carom_moments moments;
    carom_status status;
    if (one_hull) {
        status = carom_hull_moments(&compound->part[0].hull, 0, &moments, error);
    } else if (compound) {
        status = carom_convex_moments(compound->part, compound->parts, compound->combine, &moments, error);
    } else if (shape->ellipsoids) {
        carom_convex part[MOST_INTEGRATED] = {0};
        for (int i = 0; i < shape->ellipsoids; i++) {
            memcpy(part[i].semiaxes, shape->semiaxes + 3 * i, sizeof part[i].semiaxes);
            memcpy(part[i].center, shape->centers + 3 * i, sizeof part[i].center);
            memcpy(part[i].rotation, CAROM_IDENTITY3, sizeof part[i].rotation);
            carom_convex_set_round(&part[i]);
        }
        status = carom_convex_moments(part, shape->ellipsoids, shape->combine, &moments, error);
    } else if (given->triangles && shape->rounding == 0) {
        status = carom_surface_moments(given, &moments, error);
    } else {
        status = carom_hull_moments(hull, shape->rounding, &moments, error);
    }
    if (status) return status;
    // With the mean S of (rho - centroid)(rho - centroid)': J/m = tr S I - S.
    double spread[9], trace = 0;
    mass->known = true;
    mass->volume = moments.volume;
    for (int i = 0; i < 3; i++) mass->centroid[i] = moments.first[i] / moments.volume;
    for (int i = 0; i < 9; i++) spread[i] = moments.second[i] / moments.volume - mass->centroid[i / 3] * mass->centroid[i % 3];
    for (int i = 0; i < 3; i++) trace += spread[4 * i];
    for (int i = 0; i < 9; i++) mass->inertia[i] = (i % 4 == 0 ? trace : 0) - spread[i];
    return CAROM_OK;
}

carom_status carom_shape_mass(const carom_shape_data *given, carom_mass_properties *mass, carom_error *error) {
    *mass = (carom_mass_properties){0};
    carom_shape_data shape;
    double *memory = NULL;
    carom_hull hull;
    carom_compound *compound;
    carom_status status = copy_shape(given, &shape, &memory, &hull, &compound, error);
    if (!status) status = find_mass(given, &shape, &hull, compound, mass, error);
    carom_hull_release(&hull);
    carom_compound_free(compound);
    free(memory);
    return status;
}

// ------------------------------------------------------------------------------------------------------------ creation

// Symmetric, positive definite, and with principal moments J1 <= J2 + J3, as any mass distribution has.
static carom_status check_inertia(const double *inertia, carom_error *error) {
    double vectors[9], moments[3];
    carom_status status = check_numbers("inertia", inertia, 9, error);
    if (status) return status;
    const double largest = carom_max_abs(9, inertia);
    for (int i = 0; i < 9; i++)
        if (fabs(inertia[i] - inertia[3 * (i % 3) + i / 3]) > INERTIA_TOLERANCE * largest)
            return carom_fail(error, CAROM_BAD_INPUT, "inertia: it is not symmetric");
    memcpy(vectors, inertia, sizeof vectors);
    status = carom_symmetric_eigen(3, vectors, moments, error);
    if (status) return status;
    if (moments[0] <= INERTIA_TOLERANCE * moments[2])
        return carom_fail(error, CAROM_BAD_INPUT, "inertia: it is not positive definite: its smallest principal moment is %g", moments[0]);
    if (moments[2] > (1 + INERTIA_TOLERANCE) * (moments[0] + moments[1]))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "inertia: no mass distribution has principal moments %g > %g + %g: none exceeds the sum of the other two",
                          moments[2], moments[0], moments[1]);
    return CAROM_OK;
}

// The inertia that is given, or that of uniform density, with the centroid of the shape moved to the origin.
static carom_status set_inertia(carom_body *body, const double *given, carom_error *error) {
    if (given) {
        const carom_status status = check_inertia(given, error);
        for (int i = 0; i < 9; i++) body->inertia[i] = 0.5 * (given[i] + given[3 * (i % 3) + i / 3]);
        return status;
    }
    if (!body->uniform.known)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "inertia: it is not computed for rounded ellipsoids and parts, nor for more than %d ellipsoids or parts, nor for "
                          "parts with more than %d faces, and must be given",
                          MOST_INTEGRATED, MOST_INTEGRATED_FACES);
    for (int i = 0; i < 9; i++) body->inertia[i] = body->mass * body->uniform.inertia[i];
    // Centers and vertices follow the semiaxes in memory.
    const size_t axes = 3 * (size_t)body->shape.ellipsoids, moved = axes + 3 * (size_t)body->shape.vertices;
    for (size_t i = 0; i < moved; i++) body->memory[axes + i] -= body->uniform.centroid[i % 3];
    const double back[3] = {-body->uniform.centroid[0], -body->uniform.centroid[1], -body->uniform.centroid[2]};
    if (body->compound) carom_compound_move(body->compound, back);
    return check_inertia(body->inertia, error);
}

carom_status carom_body_create(const carom_body_data *data, carom_body **body, carom_error *error) {
    *body = NULL;
    if (!isfinite(data->mass) || data->mass <= 0) return carom_fail(error, CAROM_BAD_INPUT, "mass: must be a finite number greater than 0");
    carom_body *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "body");
    carom_hull hull;
    made->mass = data->mass;
    carom_status status = copy_shape(&data->shape, &made->shape, &made->memory, &hull, &made->compound, error);
    if (!status && !data->inertia) status = find_mass(&data->shape, &made->shape, &hull, made->compound, &made->uniform, error);
    if (!status) status = set_inertia(made, data->inertia, error);
    if (!status && hull.vertices > MANY_VERTICES) status = carom_climb_create(&hull, &made->climb, error);
    carom_hull_release(&hull);
    if (status) {
        carom_body_free(made);
        return status;
    }
    // A sphere about the centre of mass that holds the body; an intersection is inside each of its parts.
    const carom_shape_data *shape = &made->shape;
    for (int i = 0; i < shape->vertices; i++) made->radius = fmax(made->radius, carom_norm3(shape->vertex + 3 * i));
    for (int i = 0; i < shape->ellipsoids; i++) {
        const double reach = carom_norm3(shape->centers + 3 * i) + carom_max_abs(3, shape->semiaxes + 3 * i);
        made->radius = i && shape->combine == CAROM_COMBINE_INTERSECTION ? fmin(made->radius, reach) : fmax(made->radius, reach);
    }
    for (int k = 0; made->compound && k < made->compound->parts; k++) {
        const carom_convex *part = &made->compound->part[k];
        double reach = part->round ? carom_norm3(part->center) + carom_max_abs(3, part->semiaxes) : 0;
        for (int i = 0; i < part->hull.vertices; i++) reach = fmax(reach, carom_norm3(part->hull.vertex + 3 * i));
        made->radius = k && shape->combine == CAROM_COMBINE_INTERSECTION ? fmin(made->radius, reach) : fmax(made->radius, reach);
    }
    made->radius += shape->rounding;
    *body = made;
    return CAROM_OK;
}

void carom_body_free(carom_body *body) {
    if (!body) return;
    carom_climb_release(&body->climb);
    carom_compound_free(body->compound);
    free(body->memory);
    free(body);
}

const carom_shape_data *carom_body_shape(const carom_body *body) { return &body->shape; }
const carom_compound *carom_body_compound(const carom_body *body) { return body->compound; }
double carom_body_mass(const carom_body *body) { return body->mass; }
const double *carom_body_inertia(const carom_body *body) { return body->inertia; }
const carom_mass_properties *carom_body_uniform(const carom_body *body) { return &body->uniform; }
double carom_body_radius(const carom_body *body) { return body->radius; }

// ------------------------------------------------------------------------------------------------------------- support

// The least u.rho on the ellipsoid is u.center - |E u|, E the diagonal matrix of the semiaxes.
double carom_ellipsoid_support(const double semiaxes[3], const double center[3], const double u[3], double rho[3]) {
    double scaled[3];
    for (int i = 0; i < 3; i++) scaled[i] = semiaxes[i] * u[i];
    const double length = carom_norm3(scaled);
    for (int i = 0; i < 3; i++) rho[i] = center[i] - semiaxes[i] * scaled[i] / length;
    return carom_dot3(u, center) - length;
}

int carom_body_features(const carom_body *body) {
    if (body->compound) return carom_compound_features(body->compound);
    if (body->shape.vertices) return body->shape.vertices;
    return body->shape.combine == CAROM_COMBINE_UNION ? body->shape.ellipsoids : 1;
}

double carom_body_feature_support(const carom_body *body, int feature, const double u[3], double rho[3]) {
    const carom_shape_data *shape = &body->shape;
    double depth;
    if (body->compound) {
        depth = carom_compound_feature_support(body->compound, feature, u, rho);
    } else if (shape->vertices) {
        memcpy(rho, shape->vertex + 3 * feature, 3 * sizeof *rho);
        depth = carom_dot3(u, rho);
    } else if (shape->combine == CAROM_COMBINE_INTERSECTION && shape->ellipsoids == 2) {
        depth = carom_intersection_support(shape, u, rho);
    } else {
        depth = carom_ellipsoid_support(shape->semiaxes + 3 * feature, shape->centers + 3 * feature, u, rho);
    }
    carom_add3(-shape->rounding, u, rho);
    return depth - shape->rounding;
}

double carom_body_support(const carom_body *body, const double u[3], double rho[3]) {
    // Rounding moves every point by the same distance along u.
    if (body->compound) {
        const double depth = carom_compound_support(body->compound, u, rho);
        carom_add3(-body->shape.rounding, u, rho);
        return depth - body->shape.rounding;
    }
    // The support point of a hull is its deepest vertex.
    if (body->climb.first) return carom_body_feature_support(body, carom_climb_deepest(&body->climb, body->shape.vertex, u), u, rho);
    if (body->shape.vertices) {
        const double *vertex = body->shape.vertex;
        double least = carom_dot3(u, vertex);
        int deepest = 0;
        for (int i = 1; i < body->shape.vertices; i++) {
            const double depth = carom_dot3(u, vertex + 3 * i);
            if (depth < least) least = depth, deepest = i;
        }
        return carom_body_feature_support(body, deepest, u, rho);
    }
    // Of several ellipsoids, the deepest point of any.
    double least = carom_body_feature_support(body, 0, u, rho);
    for (int i = 1; i < carom_body_features(body); i++) {
        double point[3];
        const double depth = carom_body_feature_support(body, i, u, point);
        if (!(depth < least)) continue;
        least = depth;
        memcpy(rho, point, sizeof point);
    }
    return least;
}

int carom_body_parts(const carom_body *body) {
    if (body->compound) return carom_compound_is_rimmed(body->compound) ? 1 : body->compound->parts;
    return body->shape.vertices ? 1 : carom_body_features(body);
}

double carom_body_part_support(const carom_body *body, int part, const double u[3], double rho[3]) {
    if (body->compound) {
        const double depth = carom_compound_part_support(body->compound, part, u, rho);
        carom_add3(-body->shape.rounding, u, rho);
        return depth - body->shape.rounding;
    }
    return body->shape.vertices ? carom_body_support(body, u, rho) : carom_body_feature_support(body, part, u, rho);
}

bool carom_body_holds_center(const carom_body *body) {
    // The hull misses the origin exactly where some direction's support is positive. The search climbs from the direction of the
    // nearest point found so far (Gilbert 1966), whose distance falls to that of the hull.
    enum { MOST_STEPS = 2000 };
    double nearest[3], u[3], rho[3];
    carom_body_support(body, (const double[3]){0, 0, 1}, nearest);
    for (int step = 0; step < MOST_STEPS; step++) {
        const double distance = carom_norm3(nearest);
        if (distance <= INERTIA_TOLERANCE * body->radius) return true;
        for (int i = 0; i < 3; i++) u[i] = nearest[i] / distance;
        if (carom_body_support(body, u, rho) > 0) return false;
        // The nearest point of the segment from `nearest` to the support point.
        double along = 0, length = 0;
        for (int i = 0; i < 3; i++) along += nearest[i] * (nearest[i] - rho[i]), length += (nearest[i] - rho[i]) * (nearest[i] - rho[i]);
        const double share = length > 0 ? fmin(along / length, 1) : 0;
        for (int i = 0; i < 3; i++) nearest[i] += share * (rho[i] - nearest[i]);
    }
    return true;
}
