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
    const carom_compound *compound = carom_body_compound(body);
    // What touches with rims is the hull of support points.
    const bool lens =
        compound ? carom_compound_is_rimmed(compound) : shape->ellipsoids == 2 && shape->combine == CAROM_COMBINE_INTERSECTION;
    const int count = carom_body_parts(body);
    *solids = (carom_solids){.count = count, .solid = carom_arena_take(arena, (size_t)count, sizeof *solids->solid)};
    for (int i = 0; i < count && !arena->failed; i++) {
        carom_solid *solid = &solids->solid[i];
        *solid = (carom_solid){.name = "", .body = "body", .body_index = 1, .rounding = shape->rounding};
        memcpy(solid->position, position, sizeof solid->position);
        memcpy(solid->rotation, rotation, sizeof solid->rotation);
        const carom_convex *part = compound && !lens ? &compound->part[i] : NULL;
        if (lens || shape->vertices || (part && !part->round)) {
            solid->kind = CAROM_SOLID_HULL;
            solid->vertices = lens ? CAROM_BODY_DIRECTIONS : part ? part->hull.vertices : shape->vertices;
            double *vertex = carom_arena_take(arena, 3 * (size_t)solid->vertices, sizeof *vertex);
            if (!vertex) break;
            solid->vertex = vertex;
            if (!lens) memcpy(vertex, part ? part->hull.vertex : shape->vertex, 3 * (size_t)solid->vertices * sizeof *vertex);
            for (int v = 0; v < solid->vertices && lens; v++) {
                const double z = 1 - (2.0 * v + 1) / CAROM_BODY_DIRECTIONS, across = sqrt(1 - z * z), angle = GOLDEN_ANGLE * v;
                const double direction[3] = {across * cos(angle), across * sin(angle), z};
                if (compound)
                    carom_compound_support(compound, direction, vertex + 3 * v);
                else
                    carom_intersection_support(shape, direction, vertex + 3 * v);
            }
        } else {
            double center[3];
            solid->kind = CAROM_SOLID_ELLIPSOID;
            memcpy(solid->size, part ? part->semiaxes : shape->semiaxes + 3 * i, sizeof solid->size);
            if (part) carom_product3(rotation, part->rotation, solid->rotation);
            carom_multiply3(rotation, part ? part->center : shape->centers + 3 * i, center);
            carom_add3(1, center, solid->position);
        }
    }
    if (arena->failed) return carom_fail_memory(error, "the solids of a body");
    return CAROM_OK;
}
