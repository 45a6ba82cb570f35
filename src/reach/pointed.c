// SPDX-License-Identifier: Apache-2.0
// Are the friction cones pointed? Floating point proposes a certificate; sums in quadruple precision, bounded together with their rounding,
// prove it (Halm & Posa 2023, Assumption 2).
#include "reach/pointed.h"

#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/lcp.h"
#include "reach/cone_rays.h"

typedef carom_quad quad;
typedef carom_cone_rays cones;

// Added to the diagonal of W in the search for forces that cancel, as shares of it, one after another.
static const double shifts[] = {1e-8, 1e-11, 1e-14};

// Rays up to which all of them share in the forces that cancel: an LCP with a variable for each.
enum { MOST_SHARING_RAYS = 512 };

// ---------------------------------------------------------------------------------------------------------- pointed

// s.f > 0 for every ray, beyond the rounding of every sum.
static bool supports(const cones *all, const double *s) {
    const int nv = all->data->nv;
    for (int ray = 0; ray < all->rays; ray++) {
        quad sum = 0, size = 0;
        for (int k = 0; k < nv; k++) {
            quad magnitude;
            sum += s[k] * carom_cone_ray_entry(all, ray, k, &magnitude);
            size += fabs(s[k]) * magnitude;
        }
        if (!(sum > (nv + 8) * (quad)CAROM_QUAD_ROUNDING * size)) return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------------------- not pointed

// Two normals that are exactly opposite, or one that vanishes. Products of two doubles are exact in quadruple precision.
static bool has_opposite_normals(const cones *all) {
    const int m = all->data->contacts, nv = all->data->nv, stride = (1 + all->data->tangent_dim) * nv;
    for (int i = 0; i < m; i++) {
        const double *a = all->rows + (size_t)i * (size_t)stride;
        int pivot = 0;
        for (int k = 1; k < nv; k++)
            if (fabs(a[k]) > fabs(a[pivot])) pivot = k;
        if (a[pivot] == 0) return true;
        for (int j = i + 1; j < m; j++) {
            const double *b = all->rows + (size_t)j * (size_t)stride;
            bool opposite = b[pivot] != 0 && (a[pivot] > 0) != (b[pivot] > 0);
            for (int k = 0; k < nv && opposite; k++) opposite = (quad)a[pivot] * b[k] == (quad)b[pivot] * a[k];
            if (opposite) return true;
        }
    }
    return false;
}

// The rays as columns of F [dimension x rays], scaled by powers of two, without the coordinates in which all vanish.
typedef struct columns {
    int dimension;
    int *coordinate;       // [dimension]
    double *scale_column;  // [rays]
    double *F;             // [dimension x rays], rounded
} columns;

static bool collect_columns(const cones *all, carom_arena *arena, columns *f) {
    const int nv = all->data->nv, rays = all->rays;
    f->coordinate = carom_arena_take(arena, (size_t)nv, sizeof *f->coordinate);
    f->scale_column = carom_arena_take(arena, (size_t)rays, sizeof *f->scale_column);
    f->F = carom_arena_take(arena, (size_t)nv * (size_t)rays, sizeof *f->F);
    if (arena->failed) return false;
    f->dimension = 0;
    for (int k = 0; k < nv; k++)
        if (all->scale[k] > 0) f->coordinate[f->dimension++] = k;
    for (int ray = 0; ray < rays; ray++) {
        double square = 0;
        for (int a = 0; a < f->dimension; a++) {
            quad magnitude;
            const double entry = all->scale[f->coordinate[a]] * (double)carom_cone_ray_entry(all, ray, f->coordinate[a], &magnitude);
            f->F[(size_t)a * (size_t)rays + (size_t)ray] = entry;
            square += entry * entry;
        }
        if (!(square > 0 && isfinite(square))) return false;
        f->scale_column[ray] = carom_scale_to_one(sqrt(square));
        for (int a = 0; a < f->dimension; a++) f->F[(size_t)a * (size_t)rays + (size_t)ray] *= f->scale_column[ray];
    }
    return true;
}

// Columns that are a basis, the heaviest first: Gram-Schmidt on x_k F_k. False where their rank is too low.
static bool choose_basis(const columns *f, int rays, const double *x, carom_arena *arena, int *basis) {
    const size_t d = (size_t)f->dimension, n = (size_t)rays;
    double *rest = carom_arena_take(arena, d * n, sizeof *rest);
    if (arena->failed) return false;
    for (size_t a = 0; a < d; a++)
        for (size_t k = 0; k < n; k++) rest[a * n + k] = x[k] * f->F[a * n + k];
    for (size_t b = 0; b < d; b++) {
        size_t best = 0;
        double largest = 0;
        for (size_t k = 0; k < n; k++) {
            double square = 0;
            for (size_t a = 0; a < d; a++) square += rest[a * n + k] * rest[a * n + k];
            if (square > largest) {
                largest = square;
                best = k;
            }
        }
        if (!(largest > 0)) return false;
        basis[b] = (int)best;
        for (size_t k = 0; k < n; k++) {
            if (k == best) continue;
            double share = 0;
            for (size_t a = 0; a < d; a++) share += rest[a * n + best] * rest[a * n + k] / largest;
            for (size_t a = 0; a < d; a++) rest[a * n + k] -= share * rest[a * n + best];
        }
        for (size_t a = 0; a < d; a++) rest[a * n + best] = 0;
    }
    return true;
}

// Proves that x, changed a little in the basis B, cancels exactly and stays positive. With R = F_B^-1 in floating point, the change is
// F_B^-1 F x, at most |R F x| / (1 - |I - R F_B|) in the maximum norm; all with their rounding.
static bool cancels(const cones *all, const columns *f, const double *x, const int *basis, carom_arena *arena) {
    const int d = f->dimension, rays = all->rays;
    double *factor = carom_arena_take(arena, (size_t)d * (size_t)d, sizeof *factor);
    double *inverse = carom_arena_take(arena, (size_t)d * (size_t)d, sizeof *inverse),
           *side = carom_arena_take(arena, (size_t)d, sizeof *side);
    quad *sums = carom_arena_take(arena, (size_t)d, sizeof *sums), *sizes = carom_arena_take(arena, (size_t)d, sizeof *sizes);
    int *exchanges = carom_arena_take(arena, (size_t)d, sizeof *exchanges);
    if (arena->failed) return false;
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) factor[a * d + b] = f->F[(size_t)a * (size_t)rays + (size_t)basis[b]];
    if (!carom_lu_factor(d, factor, exchanges)) return false;
    for (int b = 0; b < d; b++) {
        for (int a = 0; a < d; a++) side[a] = a == b;
        carom_lu_solve(d, factor, exchanges, side);
        for (int a = 0; a < d; a++) inverse[a * d + b] = side[a];
    }
    const quad rounding = (rays + d + 8) * (quad)CAROM_QUAD_ROUNDING;
    // The columns of the basis and F x, with the sizes of their terms, by the inverse: |R F_B - I| by rows, and R F x.
    quad contraction = 0, change = 0;
    quad *row_sums = carom_arena_take(arena, (size_t)d, sizeof *row_sums);
    if (arena->failed) return false;
    for (int column = 0; column <= d; column++) {
        for (int a = 0; a < d; a++) {
            sums[a] = sizes[a] = 0;
            for (int k = 0; k < rays; k++) {
                const quad weight = column < d ? (quad)(k == basis[column]) : (quad)x[k];
                if (weight == 0) continue;
                quad magnitude;
                const quad scale = (quad)all->scale[f->coordinate[a]] * f->scale_column[k] * weight,
                           entry = carom_cone_ray_entry(all, k, f->coordinate[a], &magnitude);
                sums[a] += scale * entry;
                sizes[a] += scale * magnitude;
            }
        }
        for (int a = 0; a < d; a++) {
            quad product = column == a ? -1 : 0, size = column == a ? 1 : 0;
            for (int b = 0; b < d; b++) {
                product += inverse[a * d + b] * sums[b];
                size += fabs(inverse[a * d + b]) * sizes[b];
            }
            const quad most = (product < 0 ? -product : product) + 2 * rounding * size;
            if (column < d)
                row_sums[a] += most;
            else if (most > change)
                change = most;
        }
    }
    for (int a = 0; a < d; a++)
        if (row_sums[a] > contraction) contraction = row_sums[a];
    for (int b = 0; b < d; b++)
        if (!(contraction < (quad)0.5 && 2 * change < x[basis[b]])) return false;
    return true;
}

// min p'Wp/2 over the impulses with y'(W f) >= 1 for all rays f, as in Lemma 6. Its optimality conditions, in impulses p (normal) and q
// (along the edges) with impulse y = (p, D q), are those of an Anitescu-Potra step whose normal velocities are -1 (-target), and whose
// sliding speeds gamma also act on the normals, by -mu:
//
//     0 <= p _|_ W_nn p + W_nD q - mu gamma - 1 >= 0,   0 <= q _|_ W_Dn p + W_DD q + E gamma >= 0,   0 <= gamma _|_ mu p - E'q >= 0.
//
// With `shift` added to the diagonal of W as a share of it there always is such an impulse; nearly all of it cancels, and all rays that can
// take part do. Written in (p, q), mu = 1e8 is no harder than mu = 1. `weights` [rays] are 0 where nothing was found.
static carom_status share_weights(const cones *all, double shift, carom_arena *arena, double *weights, carom_error *error) {
    const int m = all->data->contacts, dim = all->data->tangent_dim, edges = all->edges, n = m * (1 + dim), impulses = m * (1 + edges);
    const size_t size = (size_t)(impulses + m);
    double *matrix = carom_arena_take(arena, size * size, sizeof *matrix), *w = carom_arena_take(arena, size, sizeof *w);
    double *z = carom_arena_take(arena, size, sizeof *z);
    // An impulse in contact space for each of p and q: one entry for p, one for each tangent for q.
    double *basis = carom_arena_take(arena, (size_t)impulses * (size_t)dim, sizeof *basis);
    int *first = carom_arena_take(arena, (size_t)impulses, sizeof *first);
    int *entries = carom_arena_take(arena, (size_t)impulses, sizeof *entries);
    double *W = carom_arena_take(arena, (size_t)n * (size_t)n, sizeof *W);
    if (arena->failed) return carom_fail_memory(error, "pointedness");
    memcpy(W, carom_impact_delassus(all->impact), (size_t)n * (size_t)n * sizeof *W);
    for (int c = 0; c < n; c++) W[c * n + c] *= 1 + shift;
    for (int i = 0; i < m; i++) {
        first[i] = i * (1 + dim);
        entries[i] = 1;
        basis[i * dim] = 1;
        for (int j = 0; j < edges; j++) {
            const int q = m + i * edges + j;
            first[q] = i * (1 + dim) + 1;
            entries[q] = dim;
            memcpy(basis + q * dim, all->directions + j * dim, (size_t)dim * sizeof *basis);
        }
    }
    // In units in which the largest entry of W is near 1.
    const double most = carom_max_abs((size_t)n * (size_t)n, W), unit = carom_scale_to_one(most);
    for (int a = 0; a < impulses; a++)
        for (int b = 0; b < impulses; b++)
            for (int k = 0; k < entries[a]; k++)
                for (int l = 0; l < entries[b]; l++)
                    matrix[(size_t)a * size + (size_t)b] +=
                        unit * basis[a * dim + k] * basis[b * dim + l] * W[(size_t)(first[a] + k) * (size_t)n + (size_t)(first[b] + l)];
    for (int i = 0; i < m; i++) {
        const size_t gamma = (size_t)(impulses + i);
        w[i] = -shift;
        matrix[(size_t)i * size + gamma] = -all->data->friction[i];
        matrix[gamma * size + (size_t)i] = all->data->friction[i];
        for (int j = 0; j < edges; j++) {
            const size_t q = (size_t)(m + i * edges + j);
            matrix[q * size + gamma] = 1;
            matrix[gamma * size + q] = -1;
        }
    }
    memset(weights, 0, (size_t)all->rays * sizeof *weights);
    carom_lcp *lcp = NULL;
    const carom_status status = carom_lcp_create(&carom_lcp_lemke, (int)size, matrix, &lcp, error);
    if (!status) {
        carom_lcp_info info;
        carom_lcp_solve(lcp, w, z, &info);
    }
    carom_lcp_free(lcp);
    // p_i is the sum of the weights of its rays, and q_ij mu_i times one of them; what is left goes to all alike.
    for (int i = 0; i < m && !status; i++) {
        double rest = z[i];
        for (int j = 0; j < edges; j++) {
            const double mu = all->data->friction[i], weight = mu > 0 ? z[m + i * edges + j] / mu : 0;
            weights[i * edges + j] = weight;
            rest -= weight;
        }
        for (int j = 0; j < edges; j++) weights[i * edges + j] += fmax(0, rest) / edges;
    }
    return status;
}

// Are these weights, up to what a proof needs, of forces that cancel? False also where memory runs out.
static bool prove_cancelling(const cones *all, const columns *f, double *weights, carom_arena *arena) {
    int *basis = carom_arena_take(arena, (size_t)all->data->nv, sizeof *basis);
    if (arena->failed) return false;
    for (int ray = 0; ray < all->rays; ray++) weights[ray] /= f->scale_column[ray];
    return choose_basis(f, all->rays, weights, arena, basis) && cancels(all, f, weights, basis, arena);
}

// Forces that cancel because 0 lies in the interior of the hull of the rays: no small change of them helps.
// @param weights  [rays] of rays that nearly cancel, or 0; overwritten
static carom_status find_cancelling(const cones *all, carom_arena *arena, double *weights, bool *found, carom_error *error) {
    *found = false;
    if (all->rays <= all->data->nv) return CAROM_OK;
    columns f;
    const bool usable = collect_columns(all, arena, &f);
    if (usable) *found = prove_cancelling(all, &f, weights, arena);
    carom_status status = arena->failed ? carom_fail_memory(error, "pointedness") : CAROM_OK;
    for (size_t k = 0; k < sizeof shifts / sizeof *shifts && !status && usable && !*found && all->rays <= MOST_SHARING_RAYS; k++) {
        status = share_weights(all, shifts[k], arena, weights, error);
        if (!status) *found = prove_cancelling(all, &f, weights, arena);
        if (!status && arena->failed) status = carom_fail_memory(error, "pointedness");
    }
    return status;
}

// ----------------------------------------------------------------------------------------------------------- answers

carom_status carom_pointed_decide(const carom_impact *impact, int edges, bool *pointed, bool *certified, carom_error *error) {
    *pointed = *certified = false;
    carom_arena arena = {0};
    cones all = {0};
    carom_status status = carom_cone_rays_of_forces(impact, edges, &arena, &all, error);
    carom_shortest support = {.x = carom_arena_take(&arena, (size_t)carom_impact_get_data(impact)->nv, sizeof *support.x),
                              .weights = carom_arena_take(&arena, (size_t)all.rays, sizeof *support.weights)};
    if (!status && arena.failed) status = carom_fail_memory(error, "pointedness");
    if (!status) status = carom_cone_shortest(&all, true, &arena, &support, error);
    if (!status) *pointed = support.found && carom_all_finite((size_t)all.data->nv, support.x) && supports(&all, support.x);
    if (!status && !*pointed) {
        *certified = has_opposite_normals(&all);
        if (!*certified) status = find_cancelling(&all, &arena, support.weights, certified, error);
    }
    *certified = *certified || *pointed;
    carom_arena_free(&arena);
    return status;
}

carom_status carom_pointed_least_r(const carom_impact *impact, int edges, double *r_norm, carom_error *error) {
    *r_norm = NAN;
    carom_arena arena = {0};
    cones all = {0};
    carom_status status = carom_cone_rays_of_responses(impact, edges, &arena, &all, error);
    carom_shortest r = {.x = carom_arena_take(&arena, (size_t)carom_impact_get_data(impact)->nv, sizeof *r.x)};
    if (!status && arena.failed) status = carom_fail_memory(error, "pointedness");
    if (!status) status = carom_cone_shortest(&all, false, &arena, &r, error);
    if (!status && r.found) *r_norm = r.norm;
    carom_arena_free(&arena);
    return status;
}
