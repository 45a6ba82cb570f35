// SPDX-License-Identifier: Apache-2.0
// Are the friction cones pointed? Floating point proposes a certificate; sums in quadruple precision, bounded together with their rounding,
// prove it (Halm & Posa 2023, Assumption 2).
#include "reach/pointed.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/arena.h"
#include "carom/dense.h"
#include "carom/lcp.h"
#include "carom/quad.h"

// Quadruple precision holds every product of two doubles exactly, and that of four without overflow. This is twice its unit round-off.
#define QUAD_ROUNDING 0x1p-112

// Round-off of r.M^-1 f over 1 that the shortest r may have.
#define LEAST_R_TOLERANCE 1e-6

// Added to the diagonal of W in the search for forces that cancel, as shares of it, one after another.
static const double shifts[] = {1e-8, 1e-11, 1e-14};

// Rays up to which forces that cancel are sought.
enum { MOST_CANCELLING_RAYS = 512 };

// The generators of the cones: rows of J for an impact with a system, and of W in contact space, where the impulses themselves have no
// coordinates of velocity. The ray of edge j of contact i is row i (1 + dim) plus mu_i times the rows after it along d_j.
typedef struct cones {
    const carom_impact *impact;
    const carom_impact_data *data;
    int edges, rays;           // rays = contacts * edges
    const double *directions;  // [edges x tangent_dim]
    double *rows;              // [n x nv]
} cones;

static carom_status collect_cones(const carom_impact *impact, int edges, carom_arena *arena, cones *all, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact), nv = (size_t)data->nv, dim = (size_t)data->tangent_dim;
    double *directions = carom_arena_take(arena, (size_t)edges * dim, sizeof *directions);
    double *rows = carom_arena_take(arena, n * nv, sizeof *rows);
    if (arena->failed) return carom_fail_memory(error, "pointedness");
    carom_cone_directions((int)dim, edges, directions);
    for (size_t c = 0; c < n; c++) {
        const size_t contact = c / (1 + dim), tangent = c % (1 + dim);
        const double *row = !carom_impact_has_system(impact) ? carom_impact_delassus(impact) + c * n
                            : tangent                        ? data->tangent + (contact * dim + tangent - 1) * nv
                                                             : data->normal + contact * nv;
        memcpy(rows + c * nv, row, nv * sizeof *rows);
    }
    *all = (cones){.impact = impact, .data = data, .edges = edges, .rays = data->contacts * edges, .directions = directions, .rows = rows};
    return CAROM_OK;
}

// Entry k of a ray; `magnitude` receives the sum of its terms' sizes.
static carom_quad ray_entry(const cones *all, int ray, int k, carom_quad *magnitude) {
    const int dim = all->data->tangent_dim, contact = ray / all->edges, edge = ray % all->edges;
    const double *row = all->rows + (size_t)contact * (size_t)(1 + dim) * (size_t)all->data->nv;
    carom_quad sum = row[k];
    *magnitude = fabs(row[k]);
    for (int p = 0; p < dim; p++) {
        const carom_quad term = (carom_quad)all->data->friction[contact] * all->directions[edge * dim + p] *
                                row[(size_t)(1 + p) * (size_t)all->data->nv + (size_t)k];
        sum += term;
        *magnitude += term < 0 ? -term : term;
    }
    return sum;
}

// ---------------------------------------------------------------------------------------------------------- pointed

// s.f > 0 for every ray, beyond the rounding of every sum.
static bool supports(const cones *all, const double *s) {
    const int nv = all->data->nv;
    for (int ray = 0; ray < all->rays; ray++) {
        carom_quad sum = 0, size = 0;
        for (int k = 0; k < nv; k++) {
            carom_quad magnitude;
            sum += s[k] * ray_entry(all, ray, k, &magnitude);
            size += fabs(s[k]) * magnitude;
        }
        if (!(sum > (nv + 8) * (carom_quad)QUAD_ROUNDING * size)) return false;
    }
    return true;
}

// min p'Wp/2 over the impulses with y'(W f) >= 1 for all rays f, as in Lemma 6. Its optimality conditions, in impulses p (normal) and q
// (along the edges) with y = (p, D q), are those of an Anitescu-Potra step whose normal velocities are -1 (-target), and whose sliding
// speeds gamma also act on the normals, by -mu:
//
//     0 <= p _|_ W_nn p + W_nD q - mu gamma - 1 >= 0,   0 <= q _|_ W_Dn p + W_DD q + E gamma >= 0,   0 <= gamma _|_ mu p - E'q >= 0.
//
// A positive semidefinite LCP, on which Lemke ends on a ray exactly when there is no such y. Written in (p, q), mu = 1e8 is no harder than
// mu = 1; in multipliers of the edges it would square mu in the condition number. With a positive definite W instead there always is one.
// `y` [n], contact-major, is zero where nothing was found; `weights` [rays] of the same impulses, may be NULL.
static carom_status solve_least_norm(const cones *all, const double *W, carom_arena *arena, double target, double *y, double *weights,
                                     bool *solved, carom_error *error) {
    const int m = all->data->contacts, dim = all->data->tangent_dim, edges = all->edges, n = m * (1 + dim), impulses = m * (1 + edges);
    const size_t size = (size_t)(impulses + m);
    double *matrix = carom_arena_take(arena, size * size, sizeof *matrix), *w = carom_arena_take(arena, size, sizeof *w);
    double *z = carom_arena_take(arena, size, sizeof *z);
    // An impulse in contact space for each of p and q: one entry for p, one for each tangent for q.
    double *basis = carom_arena_take(arena, (size_t)impulses * (size_t)dim, sizeof *basis);
    int *first = carom_arena_take(arena, (size_t)impulses, sizeof *first);
    int *entries = carom_arena_take(arena, (size_t)impulses, sizeof *entries);
    if (arena->failed) return carom_fail_memory(error, "pointedness");
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
        w[i] = -target;
        matrix[(size_t)i * size + gamma] = -all->data->friction[i];
        matrix[gamma * size + (size_t)i] = all->data->friction[i];
        for (int j = 0; j < edges; j++) {
            const size_t q = (size_t)(m + i * edges + j);
            matrix[q * size + gamma] = 1;
            matrix[gamma * size + q] = -1;
        }
    }
    carom_lcp *lcp = NULL;
    const carom_status status = carom_lcp_create(&carom_lcp_lemke, (int)size, matrix, &lcp, error);
    if (!status) {
        carom_lcp_info info;
        carom_lcp_solve(lcp, w, z, &info);
        *solved = info.verdict == CAROM_COMPLETE;
    }
    carom_lcp_free(lcp);
    memset(y, 0, (size_t)n * sizeof *y);
    for (int a = 0; a < impulses; a++)
        for (int k = 0; k < entries[a]; k++) y[first[a] + k] += unit * basis[a * dim + k] * z[a];
    // p_i is the sum of the weights of its rays, and q_ij mu_i times one of them; what is left goes to all alike.
    for (int i = 0; i < m && weights; i++) {
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

// s = M^-1 J'y, or y itself in contact space.
static void respond(const cones *all, const double *y, double *s) {
    const int n = carom_impact_contact_size(all->impact), nv = all->data->nv;
    memset(s, 0, (size_t)nv * sizeof *s);
    for (int c = 0; c < n; c++)
        for (int k = 0; k < nv; k++)
            s[k] += y[c] * (carom_impact_has_system(all->impact) ? carom_impact_response(all->impact)[(size_t)c * (size_t)nv + (size_t)k]
                                                                 : (double)(c == k));
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
            for (int k = 0; k < nv && opposite; k++) opposite = (carom_quad)a[pivot] * b[k] == (carom_quad)b[pivot] * a[k];
            if (opposite) return true;
        }
    }
    return false;
}

// The rays as columns of F [dimension x rays], scaled by powers of two, without the coordinates in which all vanish.
typedef struct columns {
    int dimension;
    int *coordinate;       // [dimension]
    double *scale_row;     // [dimension]
    double *scale_column;  // [rays]
    double *F;             // [dimension x rays], rounded
} columns;

static bool collect_columns(const cones *all, carom_arena *arena, columns *f) {
    const int nv = all->data->nv, rays = all->rays;
    const size_t n = (size_t)carom_impact_contact_size(all->impact);
    f->coordinate = carom_arena_take(arena, (size_t)nv, sizeof *f->coordinate);
    f->scale_row = carom_arena_take(arena, (size_t)nv, sizeof *f->scale_row);
    f->scale_column = carom_arena_take(arena, (size_t)rays, sizeof *f->scale_column);
    f->F = carom_arena_take(arena, (size_t)nv * (size_t)rays, sizeof *f->F);
    if (arena->failed) return false;
    f->dimension = 0;
    for (int k = 0; k < nv; k++) {
        double largest = 0;
        for (size_t c = 0; c < n; c++) largest = fmax(largest, fabs(all->rows[c * (size_t)nv + (size_t)k]));
        if (largest == 0) continue;
        f->scale_row[f->dimension] = carom_scale_to_one(largest);
        f->coordinate[f->dimension++] = k;
    }
    for (int ray = 0; ray < rays; ray++) {
        double square = 0;
        for (int a = 0; a < f->dimension; a++) {
            carom_quad magnitude;
            const double entry = f->scale_row[a] * (double)ray_entry(all, ray, f->coordinate[a], &magnitude);
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
    carom_quad *sums = carom_arena_take(arena, (size_t)d, sizeof *sums), *sizes = carom_arena_take(arena, (size_t)d, sizeof *sizes);
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
    const carom_quad rounding = (rays + d + 8) * (carom_quad)QUAD_ROUNDING;
    // The columns of the basis and F x, with the sizes of their terms, by the inverse: |R F_B - I| by rows, and R F x.
    carom_quad contraction = 0, change = 0;
    carom_quad *row_sums = carom_arena_take(arena, (size_t)d, sizeof *row_sums);
    if (arena->failed) return false;
    for (int column = 0; column <= d; column++) {
        for (int a = 0; a < d; a++) {
            sums[a] = sizes[a] = 0;
            for (int k = 0; k < rays; k++) {
                const carom_quad weight = column < d ? (carom_quad)(k == basis[column]) : (carom_quad)x[k];
                if (weight == 0) continue;
                carom_quad magnitude;
                const carom_quad scale = (carom_quad)f->scale_row[a] * f->scale_column[k] * weight,
                                 entry = ray_entry(all, k, f->coordinate[a], &magnitude);
                sums[a] += scale * entry;
                sizes[a] += scale * magnitude;
            }
        }
        for (int a = 0; a < d; a++) {
            carom_quad product = column == a ? -1 : 0, size = column == a ? 1 : 0;
            for (int b = 0; b < d; b++) {
                product += inverse[a * d + b] * sums[b];
                size += fabs(inverse[a * d + b]) * sizes[b];
            }
            const carom_quad most = (product < 0 ? -product : product) + 2 * rounding * size;
            if (column < d)
                row_sums[a] += most;
            else if (most > change)
                change = most;
        }
    }
    for (int a = 0; a < d; a++)
        if (row_sums[a] > contraction) contraction = row_sums[a];
    for (int b = 0; b < d; b++)
        if (!(contraction < (carom_quad)0.5 && 2 * change < x[basis[b]])) return false;
    return true;
}

// Forces that cancel because 0 lies in the interior of the hull of the rays: no small change of them helps.
static carom_status find_cancelling(const cones *all, carom_arena *arena, bool *found, carom_error *error) {
    *found = false;
    if (all->rays > MOST_CANCELLING_RAYS || all->rays <= all->data->nv) return CAROM_OK;
    columns f;
    const size_t n = (size_t)carom_impact_contact_size(all->impact);
    double *W = carom_arena_take(arena, n * n, sizeof *W), *y = carom_arena_take(arena, n, sizeof *y);
    double *x = carom_arena_take(arena, (size_t)all->rays, sizeof *x);
    int *basis = carom_arena_take(arena, (size_t)all->data->nv, sizeof *basis);
    const bool usable = collect_columns(all, arena, &f);
    carom_status status = arena->failed ? carom_fail_memory(error, "pointedness") : CAROM_OK;
    for (size_t k = 0; k < sizeof shifts / sizeof *shifts && !status && usable && !*found; k++) {
        // The weights of impulses with the largest sum of normal ones beside their energy: nearly all of them cancel.
        bool solved = false;
        memcpy(W, carom_impact_delassus(all->impact), n * n * sizeof *W);
        for (size_t c = 0; c < n; c++) W[c * n + c] *= 1 + shifts[k];
        status = solve_least_norm(all, W, arena, shifts[k], y, x, &solved, error);
        if (status) continue;
        for (int ray = 0; ray < all->rays; ray++) x[ray] /= f.scale_column[ray];
        *found = choose_basis(&f, all->rays, x, arena, basis) && cancels(all, &f, x, basis, arena);
        if (arena->failed) status = carom_fail_memory(error, "pointedness");
    }
    return status;
}

// ----------------------------------------------------------------------------------------------------------- answers

carom_status carom_pointed_decide(const carom_impact *impact, int edges, bool *pointed, bool *certified, carom_error *error) {
    *pointed = *certified = false;
    carom_arena arena = {0};
    cones all;
    carom_status status = collect_cones(impact, edges, &arena, &all, error);
    double *y = carom_arena_take(&arena, (size_t)carom_impact_contact_size(impact), sizeof *y);
    double *s = carom_arena_take(&arena, (size_t)carom_impact_get_data(impact)->nv, sizeof *s);
    if (!status && arena.failed) status = carom_fail_memory(error, "pointedness");
    bool solved = false;
    // A support vector of least kinetic energy.
    if (!status) status = solve_least_norm(&all, carom_impact_delassus(impact), &arena, 1, y, NULL, &solved, error);
    if (!status) {
        respond(&all, y, s);
        *pointed = solved && carom_all_finite((size_t)all.data->nv, s) && supports(&all, s);
    }
    if (!status && !*pointed) {
        *certified = has_opposite_normals(&all);
        if (!*certified) status = find_cancelling(&all, &arena, certified, error);
    }
    *certified = *certified || *pointed;
    carom_arena_free(&arena);
    return status;
}

carom_status carom_pointed_least_r(const carom_impact *impact, int edges, double *r_norm, carom_error *error) {
    *r_norm = NAN;
    carom_arena arena = {0};
    cones all;
    carom_status status = collect_cones(impact, edges, &arena, &all, error);
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact), nv = (size_t)data->nv, dim = (size_t)data->tangent_dim;
    double *square = carom_arena_take(&arena, n * n, sizeof *square), *y = carom_arena_take(&arena, n, sizeof *y);
    double *r = carom_arena_take(&arena, nv, sizeof *r);
    if (!status && arena.failed) status = carom_fail_memory(error, "pointedness");
    bool solved = false;
    if (!status) {
        // r = M^-1 J'y has the 2-norm of the operator J M^-2 J'.
        carom_gram((int)n, (int)nv, carom_impact_response(impact), square);
        status = solve_least_norm(&all, square, &arena, 1, y, NULL, &solved, error);
    }
    if (!status && solved) {
        for (size_t c = 0; c < n; c++)
            for (size_t k = 0; k < nv; k++) r[k] += y[c] * carom_impact_response(impact)[c * nv + k];
        // r.M^-1 f >= 1 for every edge, up to round-off of its terms.
        for (int i = 0; i < data->contacts && solved; i++) {
            const double *response = carom_impact_response(impact) + (size_t)i * (1 + dim) * nv;
            const double normal = carom_dot((int)nv, response, r);
            for (int j = 0; j < edges; j++) {
                double along = 0;
                for (size_t p = 0; p < dim; p++)
                    along += all.directions[(size_t)j * dim + p] * carom_dot((int)nv, response + (1 + p) * nv, r);
                if (!(normal + data->friction[i] * along >= 1 - LEAST_R_TOLERANCE)) solved = false;
            }
        }
        if (solved) *r_norm = sqrt(carom_dot((int)nv, r, r));
    }
    carom_arena_free(&arena);
    return status;
}
