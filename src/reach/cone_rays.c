// SPDX-License-Identifier: Apache-2.0
// The rays of the friction cones, as forces or as what they do to the velocity.
#include "reach/cone_rays.h"

#include <math.h>
#include <string.h>

#include "carom/dense.h"

// Everything but rows and scale, which receive room where asked for.
static carom_status start(const carom_impact *impact, int edges, carom_arena *arena, double **scale, carom_cone_rays *rays,
                          carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    double *directions = carom_arena_take(arena, (size_t)edges * (size_t)data->tangent_dim, sizeof *directions);
    *scale = carom_arena_take(arena, (size_t)data->nv, sizeof **scale);
    if (arena->failed) return carom_fail_memory(error, "friction cones");
    carom_cone_directions(data->tangent_dim, edges, directions);
    *rays = (carom_cone_rays){
        .impact = impact, .data = data, .edges = edges, .rays = data->contacts * edges, .directions = directions, .scale = *scale};
    return CAROM_OK;
}

carom_status carom_cone_rays_of_forces(const carom_impact *impact, int edges, carom_arena *arena, carom_cone_rays *rays,
                                       carom_error *error) {
    double *scale;
    const carom_status status = start(impact, edges, arena, &scale, rays, error);
    if (status) return status;
    const carom_impact_data *data = rays->data;
    const size_t n = (size_t)carom_impact_contact_size(impact), nv = (size_t)data->nv, dim = (size_t)data->tangent_dim;
    rays->rows = carom_impact_delassus(impact);
    if (carom_impact_has_system(impact)) {
        double *rows = carom_arena_take(arena, n * nv, sizeof *rows);
        if (arena->failed) return carom_fail_memory(error, "friction cones");
        for (size_t c = 0; c < n; c++) {
            const size_t contact = c / (1 + dim), tangent = c % (1 + dim);
            memcpy(rows + c * nv, tangent ? data->tangent + (contact * dim + tangent - 1) * nv : data->normal + contact * nv,
                   nv * sizeof *rows);
        }
        rays->rows = rows;
    }
    for (size_t k = 0; k < nv; k++) {
        double largest = 0;
        for (size_t c = 0; c < n; c++) largest = fmax(largest, fabs(rays->rows[c * nv + k]));
        scale[k] = largest > 0 ? carom_scale_to_one(largest) : 0;
    }
    return CAROM_OK;
}

carom_status carom_cone_rays_of_responses(const carom_impact *impact, int edges, carom_arena *arena, carom_cone_rays *rays,
                                          carom_error *error) {
    double *scale;
    const carom_status status = start(impact, edges, arena, &scale, rays, error);
    if (status) return status;
    rays->rows = carom_impact_response(impact);
    for (int k = 0; k < rays->data->nv; k++) scale[k] = 1;
    return CAROM_OK;
}

carom_quad carom_cone_ray_entry(const carom_cone_rays *rays, int ray, int k, carom_quad *magnitude) {
    const int dim = rays->data->tangent_dim, contact = ray / rays->edges, edge = ray % rays->edges;
    const size_t nv = (size_t)rays->data->nv;
    const double *row = rays->rows + (size_t)contact * (size_t)(1 + dim) * nv;
    carom_quad sum = row[k];
    *magnitude = fabs(row[k]);
    for (int p = 0; p < dim; p++) {
        const carom_quad term =
            (carom_quad)rays->data->friction[contact] * rays->directions[edge * dim + p] * row[(size_t)(1 + p) * nv + (size_t)k];
        sum += term;
        *magnitude += term < 0 ? -term : term;
    }
    return sum;
}
