// SPDX-License-Identifier: Apache-2.0
// Bodies as solids.
#include <string.h>

#include "bodies/bodies_internal.h"
#include "carom/vector3.h"

// The turn between neighbours of an even distribution of directions over the sphere: pi (3 - sqrt 5).
#define GOLDEN_ANGLE 2.399963229728653

carom_status carom_body_solids(const carom_body *body, const double position[3], const double rotation[9], carom_arena *arena,
                               carom_solids *solids, carom_error *error) {
    const carom_shape_data *shape = carom_body_shape(body);
    const bool lens = shape->ellipsoids == 2 && shape->combine == CAROM_COMBINE_INTERSECTION;
    const int count = lens || shape->vertices ? 1 : shape->ellipsoids;
    double *vertex = carom_arena_take(arena, lens ? 3 * CAROM_BODY_DIRECTIONS : 3 * (size_t)shape->vertices, sizeof *vertex);
    *solids = (carom_solids){.count = count, .solid = carom_arena_take(arena, (size_t)count, sizeof *solids->solid)};
    if (arena->failed) return carom_fail_memory(error, "the solids of a body");

    // The hull of the vertices, or of support points of the lens between two ellipsoids.
    if (shape->vertices) memcpy(vertex, shape->vertex, 3 * (size_t)shape->vertices * sizeof *vertex);
    for (int i = 0; i < CAROM_BODY_DIRECTIONS && lens; i++) {
        const double z = 1 - (2.0 * i + 1) / CAROM_BODY_DIRECTIONS, across = sqrt(1 - z * z), angle = GOLDEN_ANGLE * i;
        const double direction[3] = {across * cos(angle), across * sin(angle), z};
        carom_intersection_support(shape, direction, vertex + 3 * i);
    }
    for (int i = 0; i < count; i++) {
        carom_solid *solid = &solids->solid[i];
        *solid = (carom_solid){.name = "", .body = "body", .body_index = 1, .rounding = shape->rounding};
        memcpy(solid->position, position, sizeof solid->position);
        memcpy(solid->rotation, rotation, sizeof solid->rotation);
        if (lens || shape->vertices) {
            solid->kind = CAROM_SOLID_HULL;
            solid->vertices = lens ? CAROM_BODY_DIRECTIONS : shape->vertices;
            solid->vertex = vertex;
        } else {
            double center[3];
            solid->kind = CAROM_SOLID_ELLIPSOID;
            memcpy(solid->size, shape->semiaxes + 3 * i, sizeof solid->size);
            carom_multiply3(rotation, shape->centers + 3 * i, center);
            carom_add3(1, center, solid->position);
        }
    }
    return CAROM_OK;
}
