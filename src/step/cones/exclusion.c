// SPDX-License-Identifier: Apache-2.0
// Proofs that a cone and the cell of an outcome have no inputs in common.
//
// The proof is Farkas' lemma. Let f_k . x >= m size be conditions of the cell, as many independent ones as x has dimensions (conditions of
// contact velocities u = J v, and lmax >= 0, for which m = 0), and q . x >= -t size a row of the cone, or a mean of rows. In the
// coordinates f_k . x, q = sum_k b_k f_k; if no b_k is positive, q . x <= -sum_k |b_k| m size. Round-off and thresholds together are
// smaller than the margin, so that also the lookup, in floating point, finds that the cone does not have x. Several choices of the f_k are
// tried on all cones.
#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "step/cones/cells.h"

// Functionals of a cone in one proof.
enum { MOST_FUNCTIONALS = 40 };

static double lesser(double a, double b) { return a < b ? a : b; }

// ---------------------------------------------------------------------------------------------------------------- space

void carom_cell_to_coordinates(const cell_space *space, const double *row, double *at) {
    const carom_cones *cones = space->cones;
    memset(at, 0, CAROM_CELL_MOST_DIMENSIONS * sizeof *at);
    for (int e = 0; e < space->rank; e++) at[e] = carom_dot(cones->n, space->range + e * cones->n, row);
    for (int j = cones->n; j < cones->inputs; j++) at[space->rank + j - cones->n] = row[j];
}

bool carom_cell_fill_space(cell_space *space, carom_arena *arena) {
    const carom_cones *cones = space->cones;
    const int n = cones->n, inputs = cones->inputs, rows = cones->first_row[cones->count];
    space->rows = carom_arena_take(arena, (size_t)rows * CAROM_CELL_MOST_DIMENSIONS + 1, sizeof(double));
    space->velocities = carom_arena_take(arena, (size_t)(cones->count * n) * CAROM_CELL_MOST_DIMENSIONS, sizeof(double));
    if (arena->failed) return false;
    double scaled[CAROM_CELL_MOST_DIMENSIONS];
    for (int i = 0; i < rows; i++) {
        double *at = space->rows + (size_t)i * CAROM_CELL_MOST_DIMENSIONS;
        carom_cell_scale_row(cones, cones->rows + i * (inputs + 1), scaled);
        carom_cell_to_coordinates(space, scaled, at);
        if (carom_max_abs((size_t)space->dimensions, at) <= CAROM_CELL_VANISHING) memset(at, 0, CAROM_CELL_MOST_DIMENSIONS * sizeof *at);
    }
    for (int i = 0; i < cones->count * n; i++) {
        for (int j = 0; j < inputs; j++) scaled[j] = carom_cell_velocity_by(cones, i / n, i % n, j);
        carom_cell_to_coordinates(space, scaled, space->velocities + (size_t)i * CAROM_CELL_MOST_DIMENSIONS);
    }
    return true;
}

// ----------------------------------------------------------------------------------------------------------------- proof

bool carom_cell_choose_simplex(const cell_space *space, const cell_region *region, int first, cell_simplex *simplex) {
    const int dimensions = space->dimensions;
    double matrix[CAROM_CELL_MOST_DIMENSIONS * CAROM_CELL_MOST_DIMENSIONS], basis[CAROM_CELL_MOST_DIMENSIONS][CAROM_CELL_MOST_DIMENSIONS];
    // Facets, then unit vectors for the directions that are left, as long as they are independent of those before (Gram-Schmidt, twice).
    int rank = 0;
    for (int i = 0; i < region->facets + dimensions && rank < dimensions; i++) {
        const int index = i < region->facets ? (first + i) % region->facets : -1;
        if (index >= 0 && region->facet[index].implied) continue;
        double *rest = basis[rank], *to = matrix + rank * dimensions;
        for (int j = 0; j < dimensions; j++) rest[j] = index >= 0 ? region->facet[index].at[j] : j == i - region->facets;
        const double length = sqrt(carom_dot(dimensions, rest, rest));
        for (int twice = 0; twice < 2; twice++)
            for (int e = 0; e < rank; e++) {
                const double share = carom_dot(dimensions, rest, basis[e]);
                for (int j = 0; j < dimensions; j++) rest[j] -= share * basis[e][j];
            }
        const double left = sqrt(carom_dot(dimensions, rest, rest));
        if (!(left > CAROM_CELL_DEPENDENT * length)) continue;
        for (int j = 0; j < dimensions; j++) rest[j] /= left;
        memcpy(to, index >= 0 ? region->facet[index].at : rest, (size_t)dimensions * sizeof *to);
        simplex->member[rank++] = index;
    }
    double factors[CAROM_CELL_MOST_DIMENSIONS * CAROM_CELL_MOST_DIMENSIONS];
    int exchanges[CAROM_CELL_MOST_DIMENSIONS];
    memcpy(factors, matrix, sizeof factors);
    if (rank < dimensions || !carom_lu_factor(dimensions, factors, exchanges)) return false;
    memset(simplex->inverse, 0, sizeof simplex->inverse);
    simplex->lines = 0;
    for (int k = 0; k < dimensions; k++) simplex->lines |= (unsigned)(simplex->member[k] < 0) << k;
    for (int k = 0; k < dimensions; k++) {
        double column[CAROM_CELL_MOST_DIMENSIONS] = {0};
        column[k] = 1;
        carom_lu_solve(dimensions, factors, exchanges, column);
        for (int j = 0; j < dimensions; j++) simplex->inverse[j * CAROM_CELL_MOST_DIMENSIONS + k] = column[j];
    }
    simplex->error = 0;
    for (int j = 0; j < dimensions; j++)
        for (int c = 0; c < dimensions; c++) {
            double sum = j == c ? -1 : 0, size = 0;
            for (int k = 0; k < dimensions; k++) {
                const double product = simplex->inverse[j * CAROM_CELL_MOST_DIMENSIONS + k] * matrix[k * dimensions + c];
                sum += product;
                size += fabs(product);
            }
            simplex->error = fmax(simplex->error, fabs(sum) + dimensions * DBL_EPSILON * size);
        }
    return true;
}

// The bits of the b_k that forbid a proof: bit k where b_k is positive, and bit CAROM_CELL_MOST_DIMENSIONS + k where it is negative, which
// counts for directions without facet alone.
static unsigned forbidding(const cell_simplex *simplex, unsigned bits) {
    return bits & (simplex->lines << CAROM_CELL_MOST_DIMENSIONS | 0xffff);
}

// Is q . x + threshold size(x) < 0 in the region, in floating point, if no b_k is positive? With |x_j| <= CAROM_CELL_MOST_CAP size(x).
static bool proves(const cell_space *space, const cell_region *region, const cell_simplex *simplex, const double *b, double threshold) {
    const int d = space->dimensions, inputs = space->cones->inputs;
    double margin = 0, sum = 1;
    for (int k = 0; k < d; k++) {
        sum += fabs(b[k]);
        if (simplex->member[k] >= 0 && region->facet[simplex->member[k]].is_condition)
            margin += carom_cell_larger(0, -b[k]) * CAROM_CELL_MARGIN;
    }
    // What the coefficients leave over of q; velocities that are not in the range of J; the round-off of sums of `inputs` products.
    const double left_over = (d * d * 4) * (simplex->error + CAROM_CELL_FUZZ) * CAROM_CELL_MOST_CAP;
    const double outside = 16 * CAROM_CELL_OUT_OF_RANGE * sum, round_off = (2 * inputs * inputs) * DBL_EPSILON * CAROM_CELL_MOST_CAP * sum;
    return margin > 2 * (left_over + outside + round_off + threshold);
}

bool carom_cell_implies(const cell_space *space, const cell_region *region, const cell_simplex *simplex, const cell_facet *own, double *b) {
    _Alignas(64) double opposite[CAROM_CELL_MOST_DIMENSIONS];
    for (int j = 0; j < CAROM_CELL_MOST_DIMENSIONS; j++) opposite[j] = -own->at[j];
    const unsigned bits = space->kernel->resolve(opposite, simplex->inverse, space->dimensions, CAROM_CELL_FUZZ, b);
    return !forbidding(simplex, bits) && proves(space, region, simplex, b, own->margin - CAROM_CELL_MARGIN);
}

// A functional q of D, in coordinates f_k . x: q . x >= -threshold size(x) where D has x.
typedef struct functional {
    _Alignas(64) double b[CAROM_CELL_MOST_DIMENSIONS];
    double threshold;
    unsigned bits;
} functional;

// t first + (1 - t) second, for 0 <= t <= 1.
static functional mean_of(const cell_space *space, const cell_simplex *simplex, double t, const functional *first,
                          const functional *second) {
    _Alignas(64) double both[2 * CAROM_CELL_MOST_DIMENSIONS];
    const double weights[] = {t, 1 - t};
    functional mean = {.threshold = carom_cell_larger(first->threshold, second->threshold)};
    memcpy(both, first->b, sizeof first->b);
    memcpy(both + CAROM_CELL_MOST_DIMENSIONS, second->b, sizeof second->b);
    mean.bits = forbidding(simplex, space->kernel->resolve(weights, both, 2, CAROM_CELL_FUZZ, mean.b));
    return mean;
}

// Is some mean of two functionals, neither of which forbids what the other does, a proof?
static bool pair_proves(const cell_space *space, const cell_region *region, const cell_simplex *simplex, const functional *first,
                        const functional *second) {
    double least = 0, most = 1;
    for (unsigned rest = first->bits; rest && least <= most; rest &= rest - 1) {
        const int k = __builtin_ctz(rest) % CAROM_CELL_MOST_DIMENSIONS;
        most = lesser(most, -second->b[k] / (first->b[k] - second->b[k]));
    }
    for (unsigned rest = second->bits; rest && least <= most; rest &= rest - 1) {
        const int k = __builtin_ctz(rest) % CAROM_CELL_MOST_DIMENSIONS;
        least = carom_cell_larger(least, second->b[k] / (second->b[k] - first->b[k]));
    }
    if (!(least <= most)) return false;
    const functional mean = mean_of(space, simplex, 0.5 * (least + most), first, second);
    return !mean.bits && proves(space, region, simplex, mean.b, mean.threshold);
}

// Means of these functionals in which the direction k without facet does not occur (Fourier-Motzkin), as many as there is room for.
static int eliminate(const cell_space *space, const cell_simplex *simplex, int k, functional *functionals, int count) {
    functional kept[MOST_FUNCTIONALS];
    int made = 0;
    const unsigned positive = 1U << k, negative = positive << CAROM_CELL_MOST_DIMENSIONS;
    for (int i = 0; i < count; i++)
        if (!(functionals[i].bits & (positive | negative))) kept[made++] = functionals[i];
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count && made < MOST_FUNCTIONALS; j++) {
            const functional *first = &functionals[i], *second = &functionals[j];
            if (!(first->bits & positive) || !(second->bits & negative)) continue;
            kept[made] = mean_of(space, simplex, second->b[k] / (second->b[k] - first->b[k]), first, second);
            made += !(kept[made].bits & (positive | negative));
        }
    memcpy(functionals, kept, (size_t)made * sizeof *kept);
    return made;
}

bool carom_cell_excludes(const cell_space *space, const cell_region *region, const cell_simplex *simplex, int cone) {
    const carom_cones *cones = space->cones;
    functional functionals[MOST_FUNCTIONALS];
    int count = 0;
    for (int i = cones->first_row[cone]; i < cones->first_row[cone + 1] && count < MOST_FUNCTIONALS; i++) {
        functional *own = &functionals[count++];
        own->bits = forbidding(simplex, space->kernel->resolve(space->rows + (size_t)i * CAROM_CELL_MOST_DIMENSIONS, simplex->inverse,
                                                               space->dimensions, CAROM_CELL_FUZZ, own->b));
        own->threshold = carom_cell_larger(0, cones->rows[(i + 1) * (cones->inputs + 1) - 1] / cones->per_scale[0]);
        if (!own->bits && proves(space, region, simplex, own->b, own->threshold)) return true;
    }
    for (unsigned rest = simplex->lines; rest; rest &= rest - 1) count = eliminate(space, simplex, __builtin_ctz(rest), functionals, count);
    for (int i = 0; i < count; i++) {
        if (!functionals[i].bits && proves(space, region, simplex, functionals[i].b, functionals[i].threshold)) return true;
        for (int j = 0; j < i; j++)
            if (!(functionals[i].bits & functionals[j].bits) && pair_proves(space, region, simplex, &functionals[i], &functionals[j]))
                return true;
    }
    return false;
}
