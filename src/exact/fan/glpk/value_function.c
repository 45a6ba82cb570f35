// SPDX-License-Identifier: Apache-2.0
// The best function on a fan, by linear programs. Unknowns are V at the rays, free values of faces, the slope c2 and rho >= |c2|_W, all
// without units: values over |c|_W, the slope in the units of the coordinates.
#include "exact/fan/glpk/value_function.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "exact/fan/glpk/linear_program.h"

// The slope's norm may exceed rho by this share of |c|_W when cuts end.
#define CUT_GAP 1e-10
// Largest entry of the slope, in the units of the coordinates and |c|_W. More than |c| is never needed.
#define MOST_SLOPE 4.0
// Sums of two ways of length one that are shorter say little, and their round-off is large.
#define SHORTEST_SUM 1e-3
// Ways up to which all pairs have cuts.
enum { MOST_PAIRED = 8 };
// Prices of rows below this are round-off: the value is about one, and so are entries.
#define LEAST_PRICE 1e-9

// -------------------------------------------------------------------------------------------------------------- pieces

// A set of faces, by open addressing.
typedef struct face {
    int rays[FAN_MOST_DIMENSION];  // ascending, then -1
    int simplex;                   // -1: an empty place
    uint32_t mask;
    bool covered;
} face;

typedef struct face_set {
    size_t count, capacity;  // a power of two
    face *faces;
} face_set;

static void name_face(const fan *f, int simplex, uint32_t mask, face *named) {
    int count = 0;
    *named = (face){.simplex = simplex, .mask = mask};
    for (int k = 0; k < FAN_MOST_DIMENSION; k++) named->rays[k] = -1;
    for (int i = 0; i < f->problem->dimension; i++) {
        if (!(mask >> i & 1)) continue;
        int k = count++;
        for (; k > 0 && named->rays[k - 1] > f->simplices[simplex].rays[i]; k--) named->rays[k] = named->rays[k - 1];
        named->rays[k] = f->simplices[simplex].rays[i];
    }
}

// The place of a face, or the empty one where it belongs.
static face *find_face(face_set *set, const face *sought) {
    uint64_t hash = 14695981039346656037u;
    for (int k = 0; k < FAN_MOST_DIMENSION; k++) hash = (hash ^ (uint64_t)(sought->rays[k] + 1)) * 1099511628211u;
    size_t place = (size_t)(hash ^ hash >> 29) & (set->capacity - 1);
    while (set->faces[place].simplex >= 0 && memcmp(set->faces[place].rays, sought->rays, sizeof sought->rays) != 0)
        place = (place + 1) & (set->capacity - 1);
    return &set->faces[place];
}

static bool add_face(face_set *set, const face *added) {
    if (2 * (set->count + 1) > set->capacity) {
        face_set grown = {.capacity = set->capacity ? 2 * set->capacity : 1024};
        grown.faces = malloc(grown.capacity * sizeof *grown.faces);
        if (!grown.faces) return false;
        for (size_t i = 0; i < grown.capacity; i++) grown.faces[i].simplex = -1;
        for (size_t i = 0; i < set->capacity; i++)
            if (set->faces[i].simplex >= 0) *find_face(&grown, &set->faces[i]) = set->faces[i];
        grown.count = set->count;
        free(set->faces);
        *set = grown;
    }
    face *place = find_face(set, added);
    if (place->simplex >= 0) return true;
    *place = *added;
    set->count++;
    return true;
}

// The speeds that are active on the inside of each face of a simplex, [2^dimension] by the masks of their rays.
static void find_speeds(const fan *f, const fan_simplex *simplex, uint64_t *speeds) {
    for (uint32_t mask = 0; mask < (uint32_t)1 << f->problem->dimension; mask++) {
        uint64_t positive, negative;
        fan_face_signs(f, simplex, mask, &positive, &negative);
        speeds[mask] = fan_active_speeds(f->problem, positive, negative);
    }
}

// A face needs no rows of its own where it bounds one, larger by a ray, on which the same speeds are active: what holds there holds here.
static bool is_covered(int dimension, uint32_t mask, const uint64_t *speeds) {
    for (int i = 0; i < dimension; i++)
        if (!(mask >> i & 1) && speeds[mask | (uint32_t)1 << i] == speeds[mask]) return true;
    return false;
}

// Faces of all simplices that their own simplex does not cover, then those of them that no other one covers.
static bool collect_faces(const fan *f, uint64_t *speeds, face_set *set) {
    const int d = f->problem->dimension;
    const uint32_t all = ((uint32_t)1 << d) - 1;
    face named;
    for (int pass = 0; pass < 2; pass++)
        for (int s = 0; s < f->simplex_count; s++) {
            find_speeds(f, &f->simplices[s], speeds);
            for (uint32_t mask = 1; mask < all; mask++) {
                if (!speeds[mask] || is_covered(d, mask, speeds) == (pass == 0)) continue;
                name_face(f, s, mask, &named);
                if (pass == 0 && !add_face(set, &named)) return false;
                if (pass == 1 && set->count) find_face(set, &named)->covered = true;
            }
        }
    return true;
}

carom_status value_function_create(const fan *on, value_function **made, carom_error *error) {
    *made = NULL;
    const int d = on->problem->dimension;
    const uint32_t all = ((uint32_t)1 << d) - 1;
    face_set set = {0};
    uint64_t *speeds = malloc(((size_t)1 << d) * sizeof *speeds);
    const bool collected = speeds && collect_faces(on, speeds, &set);
    value_function *function = calloc(1, sizeof *function);
    const size_t most = (size_t)on->simplex_count + set.count;
    if (function) {
        function->on = on;
        function->pieces = calloc(most, sizeof *function->pieces);
        function->values = calloc((size_t)on->ray_count, sizeof *function->values);
        function->free = calloc(set.count * (size_t)d + 1, sizeof *function->free);
        function->above = calloc((size_t)(on->simplex_count * d), sizeof *function->above);
    }
    if (!collected || !function || !function->pieces || !function->values || !function->free || !function->above) {
        free(set.faces);
        free(speeds);
        value_function_free(function);
        return carom_fail_memory(error, "bound");
    }
    // Simplices and their faces, in an order that does not depend on the places of a table.
    face named;
    for (int s = 0; s < on->simplex_count; s++) {
        find_speeds(on, &on->simplices[s], speeds);
        for (uint32_t mask = 1; mask <= all; mask++) {
            if (!speeds[mask] || (mask < all && is_covered(d, mask, speeds))) continue;
            name_face(on, s, mask, &named);
            const face *found = mask < all ? find_face(&set, &named) : &named;
            if (found->simplex != s || found->mask != mask || found->covered) continue;
            function->pieces[function->piece_count++] =
                (fan_piece){.simplex = s, .mask = mask, .speeds = speeds[mask], .first_free = function->free_count};
            for (int i = 0; i < d; i++) function->free_count += !(mask >> i & 1);
        }
    }
    free(speeds);
    free(set.faces);
    for (int k = 0; k < d; k++) function->slope[k] = mpq_get_d(on->problem->target[k]);
    function->estimate = on->problem->target_norm * on->problem->energy_radius;
    *made = function;
    return CAROM_OK;
}

void value_function_free(value_function *freed) {
    if (!freed) return;
    free(freed->pieces);
    free(freed->values);
    free(freed->free);
    free(freed->above);
    free(freed);
}

// ------------------------------------------------------------------------------------------------------ linear programs

// sqrt(slope' What slope) for a slope in units, What_kl = W_kl / (unit_k unit_l); `product` receives What slope.
static double slope_norm(const fan_problem *problem, const double *slope, double *product) {
    const int d = problem->dimension;
    double square = 0;
    for (int k = 0; k < d; k++) {
        product[k] = 0;
        for (int l = 0; l < d; l++) product[k] += problem->delassus[k * d + l] / (problem->unit[k] * problem->unit[l]) * slope[l];
        square += slope[k] * product[k];
    }
    return sqrt(fmax(square, 0));
}

// Divides a velocity y by its length sqrt(y'(W_BB^-1)y), for W_BB = L L'; false where that is not more than `least`, or no number.
static bool scale_way(int d, const double *factor, double least, double *y, double *scratch) {
    memcpy(scratch, y, (size_t)d * sizeof *y);
    carom_cholesky_forward(d, factor, scratch);
    const double length = sqrt(carom_dot(d, scratch, scratch));
    if (!(length > least) || isinf(length)) return false;
    for (int k = 0; k < d; k++) y[k] /= length;
    return true;
}

static bool add_cut(slope_cuts *cuts, int d, const double *normal) {
    if (cuts->count == cuts->capacity) {
        const int capacity = 2 * cuts->capacity + 32;
        double *normals = realloc(cuts->normals, (size_t)(capacity * d) * sizeof *normals);
        if (!normals) return false;
        cuts->normals = normals;
        cuts->capacity = capacity;
    }
    memcpy(cuts->normals + cuts->count++ * d, normal, (size_t)d * sizeof *normal);
    return true;
}

carom_status slope_cuts_create(const fan_problem *problem, slope_cuts *cuts, carom_error *error) {
    const int d = problem->dimension, count = problem->plane_count + 2, first_pair = count <= MOST_PAIRED ? 0 : count - 2;
    *cuts = (slope_cuts){0};
    double *factor = malloc((size_t)(d * d + count * d + d) * sizeof *factor), *ways = factor + d * d, *normal = ways + count * d;
    if (!factor) return carom_fail_memory(error, "bound");
    memcpy(factor, problem->delassus, (size_t)(d * d) * sizeof *factor);
    // What impulses along the planes' normals and along c do, W_BB h, and the start.
    for (int i = 0; i < count; i++) {
        mpq_t *along = i < problem->plane_count ? problem->planes + i * d : problem->target;
        for (int k = 0; k < d; k++) normal[k] = mpq_get_d(along[k]);
        carom_multiply(d, d, problem->delassus, normal, ways + i * d);
        for (int k = 0; k < d && i == count - 1; k++) ways[i * d + k] = mpq_get_d(problem->start[k]);
    }
    if (carom_cholesky_factor(d, factor)) {
        free(factor);
        return carom_fail(error, CAROM_INTERNAL,
                          "rows of the contacts depend on each other up to round-off: only the energy bounds solutions");
    }
    // Ways of length one, y'(W_BB^-1)y = 1: c2.y <= |c2|_W for each of them, and for the sums and differences of two. A start may be zero.
    bool room = true;
    for (int i = 0; i < count; i++)
        if (!scale_way(d, factor, 0, ways + i * d, normal)) memset(ways + i * d, 0, (size_t)d * sizeof *ways);
    for (int i = 0; i < count && room; i++)
        for (int j = i; j < count && room; j++)
            for (int signs = 0; signs < (i == j ? 2 : 4) && room; signs++) {
                if (i != j && i < first_pair && j < first_pair) continue;
                for (int k = 0; k < d; k++) {
                    normal[k] = signs & 1 ? -ways[i * d + k] : ways[i * d + k];
                    if (i != j) normal[k] += signs & 2 ? -ways[j * d + k] : ways[j * d + k];
                }
                double scaled[FAN_MOST_DIMENSION];
                if (!scale_way(d, factor, SHORTEST_SUM, normal, scaled)) continue;
                for (int k = 0; k < d; k++) normal[k] /= problem->unit[k];
                room = add_cut(cuts, d, normal);
            }
    cuts->fixed = cuts->count;
    free(factor);
    return room ? CAROM_OK : carom_fail_memory(error, "bound");
}

void slope_cuts_release(slope_cuts *cuts) {
    free(cuts->normals);
    *cuts = (slope_cuts){0};
}

// normal . slope <= rho
static carom_status add_cut_row(linear_program *program, const slope_cuts *cuts, int index, int d, int slopes, carom_error *error) {
    int columns[FAN_MOST_DIMENSION + 1];
    double entries[FAN_MOST_DIMENSION + 1];
    for (int k = 0; k < d; k++) {
        columns[k] = slopes + k;
        entries[k] = cuts->normals[index * d + k];
    }
    columns[d] = slopes + d;
    entries[d] = -1;
    return linear_program_add_row(program, d + 1, columns, entries, 0, error);
}

// The rows of all pieces, of the ends of impacts, and of the cuts so far.
static carom_status add_rows(const value_function *function, const slope_cuts *cuts, linear_program *program, carom_error *error) {
    const fan *f = function->on;
    const fan_problem *problem = f->problem;
    const int d = problem->dimension, slopes = f->ray_count + function->free_count;
    int columns[FAN_MOST_DIMENSION + 1];
    double entries[FAN_MOST_DIMENSION + 1];
    carom_status status = CAROM_OK;
    // The derivative of V along a speed: sum_i V_i (weight of the speed on ray i) <= 0.
    for (int p = 0; p < function->piece_count && !status; p++) {
        const fan_piece *piece = &function->pieces[p];
        const fan_simplex *simplex = &f->simplices[piece->simplex];
        for (int i = 0, free = piece->first_free; i < d; i++) columns[i] = piece->mask >> i & 1 ? simplex->rays[i] : f->ray_count + free++;
        for (int g = 0; g < problem->speed_count && !status; g++) {
            if (!(piece->speeds >> g & 1)) continue;
            for (int i = 0; i < d; i++) entries[i] = problem->speed_factor[g] * simplex->real[g * d + i];
            status = linear_program_add_row(program, d, columns, entries, 0, error);
        }
    }
    // V >= (c - c2).ray where impacts end.
    for (int r = 0; r < f->ray_count && !status; r++) {
        const fan_ray *ray = &f->rays[r];
        if (!fan_is_end(problem, ray->positive, ray->negative)) continue;
        double target = 0;
        for (int k = 0; k < d; k++) {
            columns[k] = slopes + k;
            entries[k] = -ray->real[k] / problem->unit[k];
            target += mpq_get_d(problem->target[k]) * ray->real[k];
        }
        columns[d] = r;
        entries[d] = -1;
        status = linear_program_add_row(program, d + 1, columns, entries, -target / problem->target_norm, error);
    }
    // Before there are enough cuts the slope would run away.
    for (int k = 0; k < 2 * d && !status; k++) {
        const int column = slopes + k / 2;
        const double way = k % 2 ? -1 : 1;
        status = linear_program_add_row(program, 1, &column, &way, MOST_SLOPE, error);
    }
    for (int i = 0; i < cuts->count && !status; i++) status = add_cut_row(program, cuts, i, d, slopes, error);
    return status;
}

// z >= V + extra on the start. A simplex that holds all of it says so for each vertex, with the weights of V. One that may hold a part has
// a linear function m >= V at its rays, and z >= m + extra at each vertex: V <= m on the simplex, and m is largest at a vertex.
static carom_status add_start(const value_function *function, int bound, int first_free, linear_program *program, carom_error *error) {
    const fan *f = function->on;
    const fan_problem *problem = f->problem;
    const int d = problem->dimension;
    int columns[FAN_MOST_DIMENSION + 1];
    double entries[FAN_MOST_DIMENSION + 1];
    carom_status status = CAROM_OK;
    for (int s = 0, next = first_free; s < f->simplex_count && !status; s++) {
        const fan_simplex *simplex = &f->simplices[s];
        const fan_share share = fan_start_share(f, simplex);
        if (share == FAN_NOTHING) continue;
        for (int i = 0; i < d; i++) columns[i] = share == FAN_ALL ? simplex->rays[i] : next++;
        for (int i = 0; i < d && share == FAN_PART && !status; i++)
            status = linear_program_add_row(program, 2, (int[2]){simplex->rays[i], columns[i]}, (double[2]){1, -1}, 0, error);
        for (int k = 0; k < problem->starts && !status; k++) {
            for (int i = 0; i < d; i++) entries[i] = simplex->real[(problem->speed_count + k) * d + i] / problem->energy_radius;
            columns[d] = bound;
            entries[d] = -1;
            const double extra = problem->extra[k] / (problem->target_norm * problem->energy_radius);
            status = linear_program_add_row(program, d + 1, columns, entries, -extra, error);
        }
        // One simplex is enough where it holds all.
        if (share == FAN_ALL) break;
    }
    return status;
}

// Rows of pieces come first, one for each speed.
static void find_binding(value_function *function, const double *prices) {
    for (int p = 0, row = 0; p < function->piece_count; p++) {
        fan_piece *piece = &function->pieces[p];
        piece->binds = false;
        for (int g = 0; g < function->on->problem->speed_count; g++) {
            if (!(piece->speeds >> g & 1)) continue;
            piece->binds = piece->binds || prices[row] < -LEAST_PRICE;
            row++;
        }
    }
}

carom_status value_function_solve(value_function *function, slope_cuts *cuts, int rounds, const bound_effort *effort, bool *solved,
                                  carom_error *error) {
    const fan *f = function->on;
    const fan_problem *problem = f->problem;
    const int d = problem->dimension, slopes = f->ray_count + function->free_count;
    // After the slope rho, the largest V of the start over R, and the functions above V where the start has parts.
    const int bound = slopes + d + 1;
    int columns = bound + 1;
    for (int s = 0; s < f->simplex_count; s++) columns += fan_start_share(f, &f->simplices[s]) == FAN_PART ? d : 0;
    *solved = false;
    double normal[FAN_MOST_DIMENSION];
    cuts->count = cuts->fixed;
    double *x = calloc(2 * (size_t)columns, sizeof *x), *objective = x + columns;
    linear_program *program = NULL;
    carom_status status = x ? CAROM_OK : carom_fail_memory(error, "bound");
    if (!status) objective[slopes + d] = objective[bound] = 1;
    if (!status) status = linear_program_create(columns, objective, &program, error);
    if (!status) status = add_rows(function, cuts, program, error);
    if (!status) status = add_start(function, bound, bound + 1, program, error);
    bool again = true;
    for (int round = 0; round < rounds && again && !status && (round == 0 || !bound_effort_spent(effort)); round++) {
        bool optimal;
        const double *prices;
        status = linear_program_solve(program, effort, x, &prices, &optimal, error);
        if (status || !optimal) break;
        *solved = true;
        const double norm = problem->target_norm, length = slope_norm(problem, x + slopes, normal), rho = x[slopes + d];
        for (int r = 0; r < f->ray_count; r++) function->values[r] = norm * x[r];
        for (int i = 0; i < function->free_count; i++) function->free[i] = norm * x[f->ray_count + i];
        for (int k = 0; k < d; k++) function->slope[k] = norm * x[slopes + k] / problem->unit[k];
        for (int s = 0, next = bound + 1; s < f->simplex_count; s++)
            for (int i = 0; i < d && fan_start_share(f, &f->simplices[s]) == FAN_PART; i++) function->above[s * d + i] = norm * x[next++];
        const double value = x[bound];
        function->estimate = (value + length) * norm * problem->energy_radius;
        function->hope = (value + rho) * norm * problem->energy_radius;
        find_binding(function, prices);
        // A tangent of the norm where it is above rho.
        again = length > rho + CUT_GAP;
        if (!again || round + 1 == rounds) break;
        for (int k = 0; k < d; k++) normal[k] /= length;
        if (!add_cut(cuts, d, normal))
            status = carom_fail_memory(error, "bound");
        else
            status = add_cut_row(program, cuts, cuts->count - 1, d, slopes, error);
    }
    linear_program_free(program);
    free(x);
    return status;
}
