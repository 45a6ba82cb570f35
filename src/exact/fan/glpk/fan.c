// SPDX-License-Identifier: Apache-2.0
// Simplicial fans by division of edges. A plane that crosses a simplex crosses one of its edges; dividing that edge where it crosses, in
// all simplices that have it, leaves a fan, and new rays lie on the plane, so that no new edge crosses it.
#include "exact/fan/glpk/fan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Sums of doubles below this share of their terms are round-off.
#define ROUND_OFF 1e-10

static size_t weight_count(const fan *f) { return (size_t)((f->problem->speed_count + f->problem->starts) * f->problem->dimension); }

// ------------------------------------------------------------------------------------------------------------- storage

// Doubles of rationals, each truncated: within 2^-52 of its size.
static void set_reals(size_t count, mpq_t *values, double *reals) {
    for (size_t i = 0; i < count; i++) reals[i] = mpq_get_d(values[i]);
}

// Room for one more ray; NULL when there is no memory.
static fan_ray *add_ray(fan *f) {
    const size_t d = (size_t)f->problem->dimension;
    if (f->ray_count == f->ray_capacity) {
        const int capacity = 2 * f->ray_capacity + 16;
        fan_ray *rays = realloc(f->rays, (size_t)capacity * sizeof *rays);
        if (!rays) return NULL;
        f->rays = rays;
        f->ray_capacity = capacity;
    }
    fan_ray *ray = &f->rays[f->ray_count];
    *ray = (fan_ray){.real = carom_arena_take(&f->reals, d, sizeof(double))};
    if (!f->rough) ray->y = exact_rationals_take(&f->rationals, d);
    if (!ray->real || f->rationals.failed) return NULL;
    f->ray_count++;
    return ray;
}

// Room for one more simplex; NULL when there is no memory.
static fan_simplex *add_simplex(fan *f) {
    if (f->simplex_count == f->simplex_capacity) {
        const int capacity = 2 * f->simplex_capacity + 16;
        fan_simplex *simplices = realloc(f->simplices, (size_t)capacity * sizeof *simplices);
        if (!simplices) return NULL;
        f->simplices = simplices;
        f->simplex_capacity = capacity;
    }
    fan_simplex *simplex = &f->simplices[f->simplex_count];
    *simplex = (fan_simplex){.real = carom_arena_take(&f->reals, weight_count(f), sizeof(double))};
    if (!f->rough) simplex->weights = exact_rationals_take(&f->rationals, weight_count(f));
    if (!simplex->real || f->rationals.failed) return NULL;
    f->simplex_count++;
    return simplex;
}

void fan_free(fan *freed) {
    if (!freed) return;
    exact_rationals_free(&freed->rationals);
    carom_arena_free(&freed->reals);
    free(freed->rays);
    free(freed->simplices);
    free(freed);
}

carom_status fan_copy_roughly(const fan *source, fan **copy, carom_error *error) {
    const size_t d = (size_t)source->problem->dimension;
    fan *made = calloc(1, sizeof *made);
    bool failed = !made;
    if (made) *made = (fan){.problem = source->problem, .rough = true};
    for (int i = 0; i < source->ray_count && !failed; i++) {
        fan_ray *ray = add_ray(made);
        failed = !ray;
        if (failed) break;
        memcpy(ray->real, source->rays[i].real, d * sizeof *ray->real);
        ray->positive = source->rays[i].positive;
        ray->negative = source->rays[i].negative;
    }
    for (int i = 0; i < source->simplex_count && !failed; i++) {
        fan_simplex *simplex = add_simplex(made);
        failed = !simplex;
        if (failed) break;
        memcpy(simplex->rays, source->simplices[i].rays, sizeof simplex->rays);
        memcpy(simplex->real, source->simplices[i].real, weight_count(source) * sizeof *simplex->real);
    }
    if (failed) fan_free(made);
    *copy = failed ? NULL : made;
    return failed ? carom_fail_memory(error, "bound") : CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------ division

// Gives a ray a length of about one by a power of two, which adds no bits.
// @return its exponent
static int scale_ray(const fan *f, fan_ray *ray) {
    const int d = f->problem->dimension;
    double largest = 0;
    if (!f->rough) set_reals((size_t)d, ray->y, ray->real);
    for (int k = 0; k < d; k++) largest = fmax(largest, fabs(ray->real[k]) / f->problem->unit[k]);
    const int exponent = exact_scale_exponent(largest);
    for (int k = 0; k < d; k++) {
        ray->real[k] = ldexp(ray->real[k], -exponent);
        if (f->rough) continue;
        if (exponent > 0) mpq_div_2exp(ray->y[k], ray->y[k], (mp_bitcnt_t)exponent);
        if (exponent < 0) mpq_mul_2exp(ray->y[k], ray->y[k], (mp_bitcnt_t)-exponent);
    }
    return exponent;
}

// Where an edge between two rays crosses a plane: the new ray is share[0] times the first and share[1] times the second.
typedef struct division {
    int ends[2], ray;
    mpq_t share[2];
    double real[2];
} division;

// The weights of a simplex in which the new ray takes the place of one end of the edge. With x = ... + w_a a + w_b b and
// new = s_a a + s_b b in the place of a, they are w_new = w_a / s_a and w_b - s_b w_new.
static void replace_end(const fan *f, fan_simplex *simplex, const int *places, int replaced, const division *at, mpq_t scratch) {
    const int d = f->problem->dimension, gone = places[replaced], kept = places[1 - replaced];
    simplex->rays[gone] = at->ray;
    for (int g = 0; g < f->problem->speed_count + f->problem->starts; g++) {
        double *real = simplex->real + g * d;
        if (f->rough) {
            // Round-off in the place of zero would be a row of its own to a linear program that scales what it is given.
            const double before = real[kept], moved = at->real[1 - replaced] * (real[gone] /= at->real[replaced]);
            real[kept] = fabs(before - moved) <= ROUND_OFF * (fabs(before) + fabs(moved)) ? 0 : before - moved;
            continue;
        }
        mpq_t *weights = simplex->weights + g * d;
        mpq_div(weights[gone], weights[gone], at->share[replaced]);
        mpq_mul(scratch, at->share[1 - replaced], weights[gone]);
        mpq_sub(weights[kept], weights[kept], scratch);
        real[gone] = mpq_get_d(weights[gone]);
        real[kept] = mpq_get_d(weights[kept]);
    }
}

// Divides every simplex that has the edge in two.
static carom_status divide(fan *f, const division *at, carom_error *error) {
    const int d = f->problem->dimension, before = f->simplex_count;
    carom_status status = CAROM_OK;
    mpq_t scratch;
    mpq_init(scratch);
    for (int s = 0; s < before && !status && !f->too_large; s++) {
        int places[2] = {-1, -1};
        for (int i = 0; i < d; i++)
            for (int end = 0; end < 2; end++)
                if (f->simplices[s].rays[i] == at->ends[end]) places[end] = i;
        if (places[0] < 0 || places[1] < 0) continue;
        f->too_large = f->simplex_count >= FAN_MOST_SIMPLICES;
        fan_simplex *second = f->too_large ? NULL : add_simplex(f);
        if (!f->too_large && !second) status = carom_fail_memory(error, "bound");
        if (!second) break;
        fan_simplex *first = &f->simplices[s];
        memcpy(second->rays, first->rays, sizeof second->rays);
        memcpy(second->real, first->real, weight_count(f) * sizeof *second->real);
        for (size_t k = 0; k < weight_count(f) && !f->rough; k++) mpq_set(second->weights[k], first->weights[k]);
        replace_end(f, first, places, 0, at, scratch);
        replace_end(f, second, places, 1, at, scratch);
    }
    mpq_clear(scratch);
    return status;
}

// sum_k h_k y_k in doubles; zero where it is round-off of its terms.
static double rough_product(int d, const double *h, const double *y) {
    double sum = 0, size = 0;
    for (int k = 0; k < d; k++) {
        sum += h[k] * y[k];
        size += fabs(h[k] * y[k]);
    }
    return fabs(sum) <= ROUND_OFF * size ? 0 : sum;
}

void fan_find_sides(const fan *of, const fan_plane *plane, bool rough, signed char *signs) {
    const int d = of->problem->dimension;
    mpq_t value, scratch;
    mpq_inits(value, scratch, NULL);
    for (int r = 0; r < of->ray_count; r++) {
        const double product = rough ? rough_product(d, plane->real, of->rays[r].real) : 0;
        if (!rough) fan_product(d, plane->h, of->rays[r].y, value, scratch);
        signs[r] = (signed char)(rough ? (product > 0) - (product < 0) : mpq_sgn(value));
    }
    mpq_clears(value, scratch, NULL);
}

// The first edge of a simplex that crosses, its ends in the order of rays; false where none does. New rays, which have no sign, lie on the
// plane.
static bool find_crossing(const fan *f, const fan_simplex *simplex, const signed char *signs, int signed_rays, int ends[2]) {
    ends[0] = ends[1] = f->ray_count;
    for (int i = 0; i < f->problem->dimension; i++)
        for (int j = 0; j < f->problem->dimension; j++) {
            const int a = simplex->rays[i], b = simplex->rays[j];
            if (a >= b || b >= signed_rays || signs[a] * signs[b] >= 0) continue;
            if (a > ends[0] || (a == ends[0] && b > ends[1])) continue;
            ends[0] = a;
            ends[1] = b;
        }
    return ends[0] < f->ray_count;
}

// The ray where an edge crosses a plane, |h.b| a + |h.a| b, with the shares of its ends. The planes of the problem do not cross the edge:
// the ray is on the sides of both ends.
static carom_status add_crossing(fan *f, const fan_plane *plane, division *at, carom_error *error) {
    const int d = f->problem->dimension;
    fan_ray *ray = add_ray(f);
    if (!ray) return carom_fail_memory(error, "bound");
    at->ray = f->ray_count - 1;
    const fan_ray *ends[2] = {&f->rays[at->ends[0]], &f->rays[at->ends[1]]};
    ray->positive = ends[0]->positive | ends[1]->positive;
    ray->negative = ends[0]->negative | ends[1]->negative;
    mpq_t scratch;
    mpq_init(scratch);
    for (int end = 0; end < 2; end++) {
        if (f->rough) {
            at->real[end] = fabs(rough_product(d, plane->real, ends[1 - end]->real));
            for (int k = 0; k < d; k++) ray->real[k] += at->real[end] * ends[end]->real[k];
        } else {
            fan_product(d, plane->h, ends[1 - end]->y, at->share[end], scratch);
            mpq_abs(at->share[end], at->share[end]);
            for (int k = 0; k < d; k++) exact_rational_add_product(ray->y[k], at->share[end], ends[end]->y[k], scratch);
        }
    }
    const int exponent = scale_ray(f, ray);
    for (int end = 0; end < 2; end++) {
        at->real[end] = ldexp(at->real[end], -exponent);
        if (exponent > 0) mpq_div_2exp(at->share[end], at->share[end], (mp_bitcnt_t)exponent);
        if (exponent < 0) mpq_mul_2exp(at->share[end], at->share[end], (mp_bitcnt_t)-exponent);
    }
    mpq_clear(scratch);
    return CAROM_OK;
}

carom_status fan_insert(fan *cut, const fan_plane *plane, carom_error *error) {
    const int before = cut->ray_count;
    signed char *signs = malloc((size_t)before);
    if (!signs) return carom_fail_memory(error, "bound");
    fan_find_sides(cut, plane, cut->rough, signs);
    carom_status status = CAROM_OK;
    division at = {.ray = 0};
    mpq_inits(at.share[0], at.share[1], NULL);
    for (int s = 0; s < cut->simplex_count && !status; s++)
        while (!status && !cut->too_large && find_crossing(cut, &cut->simplices[s], signs, before, at.ends)) {
            status = add_crossing(cut, plane, &at, error);
            if (!status) status = divide(cut, &at, error);
        }
    mpq_clears(at.share[0], at.share[1], NULL);
    free(signs);
    return status;
}

// ------------------------------------------------------------------------------------------------------------ the fan

// Independent functionals h_1 ... h_d: the first planes of the problem that are, and coordinates where these do not span (no plane follows
// the slip of a contact without friction). And the rays with h_i.r_j = 1 for i = j and 0 otherwise, by elimination on [H | 1]: rows of H
// become unit rows, and columns of H^-1 stand beside them.
// @param basis  [d x d] receives h_i in row i
// @param rays   [d x d] receives r_j in row j
static void find_basis(const fan_problem *problem, mpq_t *basis, mpq_t *rays, mpq_t *work) {
    const int d = problem->dimension, width = 2 * d;
    int pivots[FAN_MOST_DIMENSION], found = 0;
    mpq_t factor, scratch;
    mpq_inits(factor, scratch, NULL);
    for (int p = 0; p < problem->plane_count + d && found < d; p++) {
        mpq_t *row = work + found * width, *functional = basis + found * d;
        for (int k = 0; k < d; k++) {
            if (p < problem->plane_count)
                mpq_set(functional[k], problem->planes[p * d + k]);
            else
                mpq_set_ui(functional[k], k == p - problem->plane_count, 1);
            mpq_set(row[k], functional[k]);
            mpq_set_ui(row[d + k], k == found, 1);
        }
        for (int i = 0; i < found; i++) {
            if (!mpq_sgn(row[pivots[i]])) continue;
            mpq_neg(factor, row[pivots[i]]);
            for (int k = 0; k < width; k++) exact_rational_add_product(row[k], factor, work[i * width + k], scratch);
        }
        int pivot = 0;
        while (pivot < d && !mpq_sgn(row[pivot])) pivot++;
        if (pivot == d) continue;
        mpq_set(factor, row[pivot]);
        for (int k = 0; k < width; k++) mpq_div(row[k], row[k], factor);
        for (int i = 0; i < found; i++) {
            mpq_t *earlier = work + i * width;
            mpq_neg(factor, earlier[pivot]);
            for (int k = 0; k < width; k++) exact_rational_add_product(earlier[k], factor, row[k], scratch);
        }
        pivots[found++] = pivot;
    }
    // Row i says y_pivot = sum_j inverse_ij h_j: the coordinate of ray j.
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) mpq_set(rays[j * d + pivots[i]], work[i * width + d + j]);
    mpq_clears(factor, scratch, NULL);
}

carom_status fan_create(const fan_problem *problem, fan **made, carom_error *error) {
    *made = NULL;
    const int d = problem->dimension;
    fan *f = calloc(1, sizeof *f);
    if (!f) return carom_fail_memory(error, "bound");
    f->problem = problem;
    f->too_large = d >= 31 || (1L << d) > FAN_MOST_SIMPLICES;
    *made = f;
    if (f->too_large) return CAROM_OK;
    exact_rationals rationals = {0};
    mpq_t *basis = exact_rationals_take(&rationals, (size_t)(d * d)), *rays = exact_rationals_take(&rationals, (size_t)(d * d)),
          *work = exact_rationals_take(&rationals, (size_t)(2 * d * d));
    carom_status status = rationals.failed ? carom_fail_memory(error, "bound") : CAROM_OK;
    if (!status) find_basis(problem, basis, rays, work);
    // Rays +r_j and -r_j of the basis, in turn, of their lengths.
    for (int i = 0; i < 2 * d && !status; i++) {
        fan_ray *ray = add_ray(f);
        if (!ray) status = carom_fail_memory(error, "bound");
        for (int k = 0; k < d && !status; k++) {
            mpq_set(ray->y[k], rays[(i / 2) * d + k]);
            if (i % 2) mpq_neg(ray->y[k], ray->y[k]);
        }
        if (!status) scale_ray(f, ray);
    }
    // An orthant for each choice of signs. The weight of x on ray j is |h_j.x| over h_j.ray, up to its sign.
    mpq_t value, length, scratch;
    mpq_inits(value, length, scratch, NULL);
    for (int signs = 0; signs < 1 << d && !status; signs++) {
        fan_simplex *simplex = add_simplex(f);
        if (!simplex) status = carom_fail_memory(error, "bound");
        for (int i = 0; i < d && !status; i++) {
            mpq_t *plane = basis + i * d;
            simplex->rays[i] = 2 * i + (signs >> i & 1);
            fan_product(d, plane, f->rays[simplex->rays[i]].y, length, scratch);
            for (int g = 0; g < problem->speed_count + problem->starts; g++) {
                mpq_t *of = g < problem->speed_count ? problem->speeds + g * d : problem->start + (g - problem->speed_count) * d;
                fan_product(d, plane, of, value, scratch);
                mpq_div(simplex->weights[g * d + i], value, length);
            }
        }
        if (!status) set_reals(weight_count(f), simplex->weights, simplex->real);
    }
    mpq_clears(value, length, scratch, NULL);
    exact_rationals_free(&rationals);
    // The other planes; then no plane of the problem crosses a simplex, and each ray has its sides.
    for (int p = 0; p < problem->plane_count && !status && !f->too_large; p++)
        status = fan_insert(f, &(fan_plane){.h = problem->planes + p * d}, error);
    signed char *signs = malloc((size_t)f->ray_count + 1);
    if (!status && !signs) status = carom_fail_memory(error, "bound");
    for (int p = 0; p < problem->plane_count && !status; p++) {
        fan_find_sides(f, &(fan_plane){.h = problem->planes + p * d}, false, signs);
        for (int r = 0; r < f->ray_count; r++) {
            if (signs[r] > 0) f->rays[r].positive |= (uint64_t)1 << p;
            if (signs[r] < 0) f->rays[r].negative |= (uint64_t)1 << p;
        }
    }
    free(signs);
    if (status) {
        fan_free(f);
        *made = NULL;
    }
    return status;
}

void fan_face_signs(const fan *of, const fan_simplex *simplex, uint32_t mask, uint64_t *positive, uint64_t *negative) {
    *positive = *negative = 0;
    for (int i = 0; i < of->problem->dimension; i++) {
        if (!(mask >> i & 1)) continue;
        *positive |= of->rays[simplex->rays[i]].positive;
        *negative |= of->rays[simplex->rays[i]].negative;
    }
}

fan_share fan_start_share(const fan *of, const fan_simplex *simplex) {
    const int d = of->problem->dimension, first = of->problem->speed_count;
    fan_share share = FAN_ALL;
    for (int i = 0; i < d; i++) {
        int negative = 0;
        for (int s = 0; s < of->problem->starts; s++) {
            const int weight = (first + s) * d + i;
            negative += of->rough ? simplex->real[weight] < 0 : mpq_sgn(simplex->weights[weight]) < 0;
        }
        if (negative == of->problem->starts) return FAN_NOTHING;
        if (negative) share = FAN_PART;
    }
    return share;
}
