// SPDX-License-Identifier: Apache-2.0
// Lookup of complementary cones in lanes, compiled once for every instruction set: the build defines KERNEL and INSTRUCTION_SET.
#include "step/cones/kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/lanes.h"
#include "carom/lcp.h"
#include "step/cones/build.h"
#include "step/step_internal.h"

#ifndef KERNEL
#define KERNEL          carom_cone_kernel_portable
#define INSTRUCTION_SET "portable"
#endif

_Static_assert((int)LANES == (int)CAROM_STEP_LANES, "columns are padded to lanes");
_Static_assert((int)SINGLES == (int)CAROM_CONE_ABREAST, "one vector holds a coefficient of every cone abreast");
_Static_assert((int)PICKED == (int)CAROM_CONE_MOST_GUESSED, "one table holds a coefficient of every cone");

enum { MOST_GROUPS = CAROM_STEP_MOST_BATCHED / LANES };
enum { HEADS = CAROM_CONE_HEADS, ABREAST = CAROM_CONE_ABREAST };

// Relative residual above which impulses are refined: what our Lemke asks of a tableau.
#define REFINED 1e-14
// Relative residual of a guess that is right: the share of size(x) up to which rows hold.
#define GUESS_TOLERANCE 1e-13

// One bit for each of the first `count` samples, in groups of lanes. Returns the number of groups.
static int open_all(int count, unsigned char *open) {
    const int groups = (count + LANES - 1) / LANES;
    for (int g = 0; g < groups; g++) open[g] = ALL_LANES;
    if (count % LANES) open[groups - 1] = (unsigned char)((1 << count % LANES) - 1);
    return groups;
}

// -------------------------------------------------------------------------------------------------------------- lookup

// Inputs of a sample, side by side: as they are, with their size, and in single precision in units of the largest of them.
static INLINE void take_sample(const carom_cones *cones, int inputs, const carom_step_batch *batch, int i, double *x, float *scaled) {
    double size = 0, largest = 0;
    for (int j = 0; j < inputs; j++) {
        x[j] = batch->x[(size_t)j * batch->stride + (size_t)i];
        const double own = __builtin_fabs(x[j]) * cones->per_unit[j], share = __builtin_fabs(x[j]) * cones->per_scale[j];
        size = own > size ? own : size;
        largest = share > largest ? share : largest;
    }
    x[inputs] = size;
    const double per_largest = largest > DBL_MIN ? 1 / largest : 0;
    for (int j = 0; j < inputs; j++) scaled[j] = (float)(x[j] * cones->per_scale[j] * per_largest);
}

// Which of ABREAST cones may have a sample, as far as their first rows say?
static INLINE unsigned test_heads(const float *heads, int inputs, const float *scaled) {
    singles sum[HEADS];
    for (int r = 0; r < HEADS; r++) sum[r] = load_singles(heads + r * ABREAST);
    for (int j = 0; j < inputs; j++) {
        heads += HEADS * ABREAST;
        for (int r = 0; r < HEADS; r++) sum[r] = add_product(sum[r], load_singles(heads + r * ABREAST), scaled[j]);
    }
    for (int r = 1; r < HEADS; r++) sum[0] = least_of(sum[r], sum[0]);
    return none_negative(sum[0]);
}

// Has this cone x? Eight rows at once.
static INLINE bool has(const carom_cones *cones, int cone, int width, const double *x) {
    const double *rows = cones->sides + (size_t)cones->first_side[cone] * (size_t)(LANES * width);
    for (int i = cones->first_side[cone]; i < cones->first_side[cone + 1]; i++, rows += LANES * width) {
        lanes sum = multiply(load(rows), spread(x[0]));
        for (int j = 1; j < width; j++) sum = add(sum, multiply(load(rows + j * LANES), spread(x[j])));
        if (at_least(sum, spread(0)) != ALL_LANES) return false;
    }
    return true;
}

// ABREAST cones by ABREAST over all samples that have none yet: a sample gets the first cone that has it.
static INLINE void find_shape(const carom_cones *cones, int inputs, carom_step_batch *batch, int count) {
    const carom_cone_scratch *scratch = batch->scratch;
    const int width = inputs + 1;
    for (int i = 0; i < count; i++) {
        take_sample(cones, inputs, batch, i, scratch->work + i * width, scratch->scaled + i * inputs);
        scratch->samples[i] = i;
    }
    for (int i = 0; i < count || i % LANES; i++) batch->served[i] = CAROM_STEP_UNSERVED;
    const float *heads = cones->heads;
    for (int first = 0, left = count; first < cones->count && left; first += ABREAST, heads += width * HEADS * ABREAST) {
        // Samples that one of these cones may have are listed without a branch, which processors would guess wrong.
        const int live = left;
        int hopeful = 0;
        for (int k = 0; k < live; k++) {
            const int sample = scratch->samples[k];
            const unsigned open = test_heads(heads, inputs, scratch->scaled + sample * inputs);
            scratch->hopeful[hopeful] = sample;
            scratch->open[hopeful] = open;
            hopeful += open != 0;
        }
        for (int k = 0; k < hopeful; k++) {
            const int sample = scratch->hopeful[k];
            unsigned open = scratch->open[k];
            while (open && !has(cones, first + __builtin_ctz(open), width, scratch->work + sample * width)) open &= open - 1;
            if (open) batch->served[sample] = first + __builtin_ctz(open);
        }
        // Samples without a cone move to the front of the list.
        left = 0;
        for (int k = 0; k < live; k++) {
            const int sample = scratch->samples[k];
            scratch->samples[left] = sample;
            left += batch->served[sample] < 0;
        }
    }
}

static void find(const carom_cones *cones, carom_step_batch *batch, int count) {
    // Bounds of loops are constants for two planar contacts and for four in space.
    if (cones->inputs == 6)
        find_shape(cones, 6, batch, count);
    else if (cones->inputs == 16)
        find_shape(cones, 16, batch, count);
    else
        find_shape(cones, cones->inputs, batch, count);
}

// Velocities before the step below which solutions are always listed.
#define LEAST_SIZE 1e-200

// A step with more solutions of different velocities is left unserved.
enum { MOST_SOLUTIONS = CAROM_CONE_MOST_SOLUTIONS, LISTED_AT_ONCE = 16 };

// The distinct solutions of one sample, and room for one more.
typedef struct solution_list {
    int count;
    bool crowded;  // there are too many
    int32_t cone[MOST_SOLUTIONS];
    _Alignas(64) double velocity[(MOST_SOLUTIONS + 1) * CAROM_MOST_MAPPED];
} solution_list;

// Adds the solution of a cone, unless its velocity is there already. Lanes are velocities here.
static INLINE void add_solution(const carom_cones *cones, int inputs, int n, int cone, const double *x, solution_list *list) {
    const size_t map_rows = n <= LANES ? LANES : cones->map_rows;
    const double *map = cones->velocities + (size_t)(cone * inputs) * map_rows;
    double *own = list->velocity + (size_t)list->count * map_rows, largest = x[inputs];
    for (size_t r = 0; r < map_rows; r += LANES) {
        lanes sum = multiply(spread(x[0]), load(map + r));
        for (int j = 1; j < inputs; j++) sum = add(sum, multiply(spread(x[j]), load(map + (size_t)j * map_rows + r)));
        store(own + r, sum);
    }
    for (int r = 0; r < n; r++) largest = __builtin_fabs(own[r]) > largest ? __builtin_fabs(own[r]) : largest;
    for (int d = 0; d < list->count; d++) {
        const double *known = list->velocity + (size_t)d * map_rows;
        bool same = true;
        for (int r = 0; r < n; r++) same &= __builtin_fabs(own[r] - known[r]) <= CAROM_CONE_SAME_VELOCITY * largest;
        if (same) return;
    }
    if (list->count == MOST_SOLUTIONS)
        list->crowded = true;
    else
        list->cone[list->count++] = cone;
}

// Of all cones that have a sample, those of distinct solutions in the order of the cones, and the one of them that its choice says, for
// some samples at once: rows come from memory once for all of them.
static INLINE void choose_listed(const carom_cones *cones, int inputs, int n, carom_step_batch *batch, const int32_t *samples, int count) {
    const carom_cone_scratch *scratch = batch->scratch;
    const int width = inputs + 1;
    solution_list lists[LISTED_AT_ONCE];
    for (int k = 0; k < count; k++) lists[k].count = lists[k].crowded = 0;
    const float *heads = cones->heads;
    for (int first = 0; first < cones->count; first += ABREAST, heads += width * HEADS * ABREAST)
        for (int k = 0; k < count; k++) {
            const double *x = scratch->work + samples[k] * width;
            for (unsigned open = test_heads(heads, inputs, scratch->scaled + samples[k] * inputs); open; open &= open - 1) {
                const int cone = first + __builtin_ctz(open);
                if (has(cones, cone, width, x)) add_solution(cones, inputs, n, cone, x, &lists[k]);
            }
        }
    for (int k = 0; k < count; k++) {
        const solution_list *list = &lists[k];
        const bool served = list->count && !list->crowded;
        if (scratch->listed && served) memcpy(scratch->listed, list->cone, (size_t)list->count * sizeof *list->cone);
        batch->solutions[samples[k]] = served ? list->count : 0;
        batch->served[samples[k]] = served ? list->cone[(int)(batch->choice[samples[k]] * list->count)] : CAROM_STEP_UNSERVED;
    }
}

// The solution that the choice of a sample says where it is in a cell and in none of the cell's cones to be tested. False elsewhere.
static INLINE bool choose_known(const carom_cones *cones, int inputs, carom_step_batch *batch, int i) {
    const carom_cone_scratch *scratch = batch->scratch;
    const carom_cone_cells *cells = cones->cells;
    const int cell = batch->served[i], width = inputs + 1;
    // Below the least size round-off is not relative.
    if (cell < 0 || !(scratch->work[i * width + inputs] > LEAST_SIZE)) return false;
    for (int group = cells->first_rest[cell]; group < cells->first_rest[cell + 1]; group++) {
        const float *heads = cells->heads + (size_t)group * (size_t)(width * HEADS * ABREAST);
        for (unsigned open = test_heads(heads, inputs, scratch->scaled + i * inputs); open; open &= open - 1)
            if (has(cones, cells->rest[group * ABREAST + __builtin_ctz(open)], width, scratch->work + i * width)) return false;
    }
    const int solutions = batch->solutions[i] = cells->solution_count[cell];
    batch->served[i] = cells->solutions[cell * MOST_SOLUTIONS + (int)(batch->choice[i] * solutions)];
    return true;
}

static INLINE void list_shape(const carom_cones *cones, int inputs, int n, carom_step_batch *batch, int count) {
    const carom_cone_scratch *scratch = batch->scratch;
    if (cones->cells) {
        find_shape(&cones->cells->where, inputs, batch, count);
    } else {
        for (int i = 0; i < count; i++)
            take_sample(cones, inputs, batch, i, scratch->work + i * (inputs + 1), scratch->scaled + i * inputs);
        for (int i = 0; i < count || i % LANES; i++) batch->served[i] = CAROM_STEP_UNSERVED;
    }
    int left = 0;
    for (int i = 0; i < count; i++)
        if (!choose_known(cones, inputs, batch, i)) scratch->samples[left++] = i;
    for (int first = 0; first < left; first += LISTED_AT_ONCE)
        choose_listed(cones, inputs, n, batch, scratch->samples + first, left - first < LISTED_AT_ONCE ? left - first : LISTED_AT_ONCE);
}

// The cone that was found, or one of its rivals that have the sample, too, with another velocity.
static void choose_rival(const carom_cones *cones, const carom_cone_physics *physics, carom_step_batch *batch, int i) {
    const int found = batch->served[i], width = cones->inputs + 1;
    const double *x = ((carom_cone_scratch *)batch->scratch)->work + i * width;
    batch->solutions[i] = found >= 0;
    if (batch->choice[i] >= CAROM_STEP_LEFT_OUT) batch->served[i] = CAROM_STEP_UNSERVED;
    if (batch->served[i] < 0 || cones->first_rival[found] == cones->first_rival[found + 1]) return;
    double velocity[MOST_SOLUTIONS * CAROM_MOST_MAPPED];
    int32_t cone[MOST_SOLUTIONS] = {found};
    int count = 1;
    carom_cone_velocity(cones, physics->delassus, found, x, velocity);
    for (int k = cones->first_rival[found]; k < cones->first_rival[found + 1] && count < MOST_SOLUTIONS; k++) {
        if (!has(cones, cones->rivals[k], width, x)) continue;
        double *own = velocity + count * cones->n;
        carom_cone_velocity(cones, physics->delassus, cones->rivals[k], x, own);
        bool known = false;
        for (int d = 0; d < count && !known; d++) known = carom_cone_same_velocity(cones->n, x, velocity + d * cones->n, own);
        if (!known) cone[count++] = cones->rivals[k];
    }
    batch->solutions[i] = count;
    batch->served[i] = cone[(int)(batch->choice[i] / CAROM_STEP_LEFT_OUT * count)];
}

// ------------------------------------------------------------------------------------------------------------- impulses

// Map of sample i's cone times `count` of its inputs, from `x` on, into its n impulses, or added to them. Lanes are impulses here.
static INLINE void multiply_map(const carom_cones *cones, int n, const carom_step_batch *batch, int i, const double *x, int count,
                                bool adds) {
    const size_t stride = batch->stride, map_rows = n <= LANES ? LANES : cones->map_rows;
    const double *map = cones->maps + (size_t)batch->served[i] * (size_t)cones->inputs * map_rows;
    _Alignas(64) double result[LANES];
    for (size_t r = 0; r < map_rows; r += LANES) {
        lanes sum = multiply(spread(x[0]), load(map + r));
        for (int j = 1; j < count; j++) sum = add(sum, multiply(spread(x[(size_t)j * stride]), load(map + (size_t)j * map_rows + r)));
        store(result, sum);
        for (int k = 0; k < LANES && (int)r + k < n; k++) {
            double *at = batch->impulse + i + (r + (size_t)k) * stride;
            *at = adds ? *at + result[k] : result[k];
        }
    }
}

// Cones and impulses of all samples by the sides of the planes on which they are; that x is in its cone is left to the verification, which
// then has the tolerance of rows. In two passes: processors then work on several groups at once.
static INLINE void guess_shape(const carom_cones *cones, int rank, int inputs, int n, const carom_step_batch *batch, int count) {
    static const double places[CAROM_CONE_MOST_SPLITS] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
    const int32_t *guesses = cones->guesses + ((size_t)rank << cones->splits);
    const size_t stride = batch->stride;
    for (int i = 0; i < count; i += LANES) {
        const double *x = batch->x + i;
        lanes code = spread(0);
        for (int k = 0; k < cones->splits; k++) {
            const double *row = cones->split_rows + k * inputs;
            lanes sum = multiply(spread(row[0]), load(x));
            for (int j = 1; j < inputs; j++) sum = add(sum, multiply(spread(row[j]), load(x + (size_t)j * stride)));
            code = add(code, choose(at_least(sum, spread(0)), spread(places[k]), spread(0)));
        }
        look_up(guesses, code, batch->served + i);
    }
    // Impulses of eight samples of different cones. Lanes are samples here; the sums are those of multiply_map.
    for (int i = 0; i < count; i += LANES) {
        const double *x = batch->x + i, *table = cones->picks;
        for (int r = 0; r < n; r++) {
            lanes sum = multiply(pick(table, batch->served + i), load(x));
            table += PICKED;
            for (int j = 1; j < inputs; j++, table += PICKED)
                sum = add(sum, multiply(pick(table, batch->served + i), load(x + (size_t)j * stride)));
            store(batch->impulse + (size_t)r * stride + i, sum);
        }
    }
}

// The impulses of all samples that have a cone.
static void apply_maps(const carom_cones *cones, const carom_step_batch *batch, int count) {
    const bool planar_pair = cones->inputs == 6 && cones->n == 4;
    for (int i = 0; i < count; i++) {
        if (batch->served[i] == CAROM_STEP_UNSERVED) continue;
        if (planar_pair)
            multiply_map(cones, 4, batch, i, batch->x + i, 6, false);
        else
            multiply_map(cones, cones->n, batch, i, batch->x + i, cones->inputs, false);
    }
}

// --------------------------------------------------------------------------------------------------------- verification

// Eight samples under verification.
typedef struct verification {
    const carom_cone_physics *physics;
    int contacts, dim, edges, n;         // as in physics, where the compiler may know them
    const double *x, *impulse, *u_next;  // at the first of the samples
    size_t stride;
    lanes worst, worst_relative;  // violations of complementarity
    lanes scale, scale_w, scale_z;
    unsigned accepted;
} verification;

static INLINE lanes column(const double *columns, size_t stride, int row) { return load(columns + (size_t)row * stride); }

// Complementarity of one pair z_i, y_i.
static INLINE void add_pair(verification *v, int index, lanes y, lanes z) {
    const lanes y_relative = multiply(y, spread(v->physics->y_per_unit[index]));
    const lanes z_relative = multiply(z, spread(v->physics->z_per_unit[index]));
    const lanes y_natural = multiply(y, spread(v->physics->y_per_natural[index]));
    const lanes z_natural = multiply(z, spread(v->physics->z_per_natural[index]));
    v->worst = larger(magnitude(lesser(y_natural, z_natural)), v->worst);
    v->worst_relative = larger(magnitude(lesser(y_relative, z_relative)), v->worst_relative);
    v->scale_z = larger(magnitude(z_relative), v->scale_z);
}

// The size of its w_i.
static INLINE void add_size(verification *v, int index, lanes w) {
    const lanes size = magnitude(w);
    v->scale = larger(multiply(size, spread(v->physics->y_per_natural[index])), v->scale);
    v->scale_w = larger(multiply(size, spread(v->physics->y_per_unit[index])), v->scale_w);
}

// Component of a tangential vector along a cone edge. The line has the edges 1 and -1.
static INLINE lanes along(const verification *v, int edge, const double *columns, int row) {
    if (v->dim == 1) return edge ? subtract(spread(0), column(columns, v->stride, row)) : column(columns, v->stride, row);
    const double *d = v->physics->directions + edge * v->dim;
    return add(multiply(spread(d[0]), column(columns, v->stride, row)), multiply(spread(d[1]), column(columns, v->stride, row + 1)));
}

// Weights of lam_t on cone edges: on the two edges of the sector around it, or, in the plane, on the one that it points along.
typedef struct edge_weights {
    lanes first, second, sector;
} edge_weights;

static INLINE edge_weights split_on_edges(const verification *v, int row) {
    const lanes zero = spread(0), a = column(v->impulse, v->stride, row);
    if (v->dim == 1) return (edge_weights){larger(a, zero), larger(subtract(zero, a), zero), zero};
    const lanes b = column(v->impulse, v->stride, row + 1);
    edge_weights best = {zero, zero, zero};
    lanes least = spread(INFINITY);
    for (int j = 0; j < v->edges; j++) {
        const double *d = v->physics->directions + 2 * j, *e = v->physics->directions + 2 * ((j + 1) % v->edges);
        const double inverse = 1 / (d[0] * e[1] - d[1] * e[0]);
        const lanes on_d = multiply(subtract(multiply(a, spread(e[1])), multiply(b, spread(e[0]))), spread(inverse));
        const lanes on_e = multiply(subtract(multiply(b, spread(d[0])), multiply(a, spread(d[1]))), spread(inverse));
        // Take the sector whose weights are least negative.
        const lanes misfit = add(larger(subtract(zero, on_d), zero), larger(subtract(zero, on_e), zero));
        const unsigned worse = at_least(misfit, least);
        least = choose(worse, least, misfit);
        best.first = choose(worse, best.first, larger(on_d, zero));
        best.second = choose(worse, best.second, larger(on_e, zero));
        best.sector = choose(worse, best.sector, spread(j));
    }
    return best;
}

static INLINE lanes weight_on(const verification *v, const edge_weights *weights, int edge) {
    if (v->dim == 1) return edge ? weights->second : weights->first;
    const lanes zero = spread(0), here = spread(edge), before = spread((edge + v->edges - 1) % v->edges);
    const unsigned on_first = at_least(weights->sector, here) & at_least(here, weights->sector);
    const unsigned on_second = at_least(weights->sector, before) & at_least(before, weights->sector);
    return choose(on_first, weights->first, choose(on_second, weights->second, zero));
}

// The LCP's pairs of one contact, with the multipliers recovered from the velocity after the step: beta = max(0, -u'_n), gamma the
// greatest sliding speed against an edge. Then the friction cone and the caps, from the impulses alone.
static INLINE void check_contact(verification *v, int contact, lanes tolerance) {
    const carom_cone_physics *physics = v->physics;
    const int row = contact * (1 + v->dim);
    const lanes zero = spread(0), normal = column(v->impulse, v->stride, row), u = column(v->u_next, v->stride, row);
    const lanes cap = column(v->x, v->stride, v->n + contact), beta = larger(subtract(zero, u), zero);
    add_size(v, contact, cap);
    add_pair(v, contact, subtract(cap, normal), beta);
    add_size(v, v->contacts + contact, column(v->x, v->stride, row));
    add_pair(v, v->contacts + contact, add(u, beta), normal);
    lanes gamma = zero, sum = zero;
    for (int a = 0; a < v->edges; a++) gamma = larger(subtract(zero, along(v, a, v->u_next, row + 1)), gamma);
    // Edges: lam_D >= 0 against the sliding speeds gamma + d_a.u'_t >= 0; then the friction bound against gamma.
    const edge_weights weights = split_on_edges(v, row + 1);
    for (int a = 0; a < v->edges; a++) {
        const lanes weight = weight_on(v, &weights, a);
        const int index = 2 * v->contacts + contact * v->edges + a;
        sum = add(sum, weight);
        add_size(v, index, along(v, a, v->x, row + 1));
        add_pair(v, index, add(gamma, along(v, a, v->u_next, row + 1)), weight);
    }
    add_pair(v, (2 + v->edges) * v->contacts + contact, subtract(multiply(spread(physics->friction[contact]), normal), sum), gamma);

    const lanes limit = add(multiply(spread(physics->friction[contact]), normal), tolerance);
    lanes tangent = column(v->impulse, v->stride, row + 1), square = multiply(tangent, tangent);
    if (v->dim == 2) {
        tangent = column(v->impulse, v->stride, row + 2);
        square = add(square, multiply(tangent, tangent));
    }
    v->accepted &= at_least(normal, zero) & at_least(add(cap, tolerance), normal) & at_least(multiply(limit, limit), square);
}

// Eight samples from i on. `accepted` are the bits of those that pass, `rough` of those above the goal of refinement; `residual` is that of
// carom_lcp_residual.
typedef struct verdict {
    unsigned accepted, rough;
    lanes residual;
} verdict;

static INLINE verdict verify_shape(const carom_cone_physics *physics, int contacts, int dim, int edges, const carom_step_batch *batch,
                                   size_t i, double tolerance_relative) {
    const lanes zero = spread(0);
    const int n = contacts * (1 + dim);
    const size_t stride = batch->stride;
    // u' = u + W lambda, and the energy change lambda'(u + u')/2.
    lanes gain = zero;
    for (int r = 0; r < n; r++) {
        const double *W = physics->delassus + (size_t)r * (size_t)n;
        const lanes u = load(batch->x + (size_t)r * stride + i);
        lanes next = u;
        for (int c = 0; c < n; c++) next = add(next, multiply(spread(W[c]), load(batch->impulse + (size_t)c * stride + i)));
        store(batch->u_next + (size_t)r * stride + i, next);
        gain = add(gain, multiply(multiply(spread(0.5), load(batch->impulse + (size_t)r * stride + i)), add(u, next)));
    }
    store(batch->gain + i, gain);

    verification v = {.physics = physics, .contacts = contacts, .dim = dim, .edges = edges, .n = n, .stride = stride};
    v.x = batch->x + i, v.impulse = batch->impulse + i, v.u_next = batch->u_next + i;
    v.worst = v.worst_relative = v.scale = v.scale_w = v.scale_z = zero;
    v.accepted = ALL_LANES;
    // Round-off of the physical checks: a share of the step's impulses, or of those that stop the contacts.
    lanes speed = zero, largest = zero;
    for (int r = 0; r < n; r++) {
        speed = larger(magnitude(column(v.x, stride, r)), speed);
        largest = larger(magnitude(column(v.impulse, stride, r)), largest);
    }
    const lanes tolerance = multiply(spread(CAROM_PHYSICAL_TOLERANCE), larger(largest, multiply(speed, spread(physics->least_mass))));
    for (int c = 0; c < contacts; c++) check_contact(&v, c, tolerance);

    const lanes allowed = multiply(spread(CAROM_LCP_TOLERANCE), add(spread(1), v.scale)), size = larger(v.scale_w, v.scale_z);
    // The gain is not finite when an impulse or velocity is not: zero times it is then NaN.
    const unsigned accepted = v.accepted & at_least(zero, multiply(zero, gain)) & at_least(allowed, v.worst) &
                              at_least(multiply(spread(tolerance_relative), size), v.worst_relative) &
                              at_least(multiply(spread(CAROM_LCP_MOST_AMPLIFICATION), v.scale_w), v.scale_z) &
                              at_least(multiply(tolerance, speed), gain);
    return (verdict){.accepted = accepted,
                     .rough = ALL_LANES & ~at_least(multiply(spread(REFINED), size), v.worst_relative),
                     .residual = divide(v.worst, add(spread(1), v.scale))};
}

// Verifies the samples that have a cone. Those that have none, or fail, are left with their bits set and unserved. Returns their number.
static int verify(const carom_cones *cones, const carom_cone_physics *physics, carom_step_batch *batch, int count, double tolerance,
                  unsigned char *left, double *max_residual) {
    const int groups = open_all(count, left);
    unsigned char rough[MOST_GROUPS];
    lanes worst = spread(0);
    // Every group is verified in full: what happens to a sample must not depend on its neighbours.
    for (int g = 0; g < groups; g++) {
        const size_t i = (size_t)g * LANES;
        const unsigned found = left[g] & not_negative(batch->served + i);
        const verdict group = physics->contacts == 2 && physics->dim == 1
                                  ? verify_shape(physics, 2, 1, 2, batch, i, tolerance)
                                  : verify_shape(physics, physics->contacts, physics->dim, physics->edges, batch, i, tolerance);
        const unsigned accepted = found & group.accepted & ~group.rough;
        rough[g] = (unsigned char)(group.rough & found);
        left[g] &= (unsigned char)~accepted;
        worst = choose(accepted, larger(group.residual, worst), worst);
    }
    int failed = 0;
    for (int g = 0; g < groups; g++) {
        if (rough[g]) {
            // Iterative refinement: the velocities that the impulse should have stopped are put through the map again, with caps of zero.
            // Coefficients of velocities that the cone leaves free are zero.
            const int i = g * LANES;
            for (unsigned rest = rough[g]; rest; rest &= rest - 1) {
                const int sample = i + __builtin_ctz(rest);
                multiply_map(cones, cones->n, batch, sample, batch->u_next + sample, cones->n, true);
            }
            const verdict group = verify_shape(physics, physics->contacts, physics->dim, physics->edges, batch, (size_t)i, tolerance);
            const unsigned accepted = rough[g] & group.accepted;
            left[g] &= (unsigned char)~accepted;
            worst = choose(accepted, larger(group.residual, worst), worst);
        }
        for (unsigned rest = left[g]; rest; rest &= rest - 1, failed++)
            batch->served[g * LANES + __builtin_ctz(rest)] = CAROM_STEP_UNSERVED;
    }
    raise_to(max_residual, worst);
    return failed;
}

// ---------------------------------------------------------------------------------------------------------------- step

// Tries the guesses from `rank` on, then looks cones up; the samples that a guess gets wrong are packed for the next guess.
static int try_guesses(const carom_cones *cones, int rank, const carom_cone_physics *physics, carom_step_batch *batch, int count,
                       double *max_residual) {
    unsigned char bits[MOST_GROUPS];
    // Bounds of loops are constants for two planar contacts, which matter most.
    const bool planar_pair = cones->inputs == 6 && cones->n == 4;
    if (!cones->splits || rank == CAROM_CONE_GUESSES) {
        find(cones, batch, count);
        apply_maps(cones, batch, count);
        return verify(cones, physics, batch, count, CAROM_LCP_TOLERANCE, bits, max_residual);
    }
    if (planar_pair)
        guess_shape(cones, rank, 6, 4, batch, count);
    else
        guess_shape(cones, rank, cones->inputs, cones->n, batch, count);
    const int wrong = verify(cones, physics, batch, count, GUESS_TOLERANCE, bits, max_residual);
    if (!wrong) return 0;
    // The inputs of the samples that are left, side by side.
    carom_step_batch *next = ((carom_cone_scratch *)batch->scratch)->left;
    const int groups = (count + LANES - 1) / LANES;
    size_t at = 0;
    for (int g = 0; g < groups; g++) {
        if (!bits[g]) continue;
        for (size_t j = 0; j < (size_t)cones->inputs; j++)
            pack(next->x + j * next->stride + at, load(batch->x + j * batch->stride + g * LANES), bits[g]);
        at += (size_t)__builtin_popcount(bits[g]);
    }
    const int unserved = try_guesses(cones, rank + 1, physics, next, wrong, max_residual);
    // What became of them goes back to where they came from.
    at = 0;
    for (int g = 0; g < groups; g++)
        for (unsigned rest = bits[g]; rest; rest &= rest - 1, at++) {
            const size_t i = (size_t)(g * LANES + __builtin_ctz(rest));
            for (size_t r = 0; r < (size_t)physics->n; r++) {
                batch->impulse[r * batch->stride + i] = next->impulse[r * next->stride + at];
                batch->u_next[r * batch->stride + i] = next->u_next[r * next->stride + at];
            }
            batch->gain[i] = next->gain[at];
            batch->served[i] = next->served[at];
        }
    return unserved;
}

static int step(const carom_cones *cones, const carom_cone_physics *physics, carom_step_batch *batch, int count, double *max_residual) {
    return try_guesses(cones, 0, physics, batch, count, max_residual);
}

static int choose_solution(const carom_cones *cones, const carom_cone_physics *physics, carom_step_batch *batch, int count,
                           double *max_residual) {
    unsigned char bits[MOST_GROUPS];
    if (cones->rivals) {
        find(cones, batch, count);
        for (int i = 0; i < count; i++) choose_rival(cones, physics, batch, i);
    } else if (cones->inputs == 6 && cones->n == 4)
        list_shape(cones, 6, 4, batch, count);
    else if (cones->inputs == 12 && cones->n == 8)
        list_shape(cones, 12, 8, batch, count);
    else
        list_shape(cones, cones->inputs, cones->n, batch, count);
    apply_maps(cones, batch, count);
    return verify(cones, physics, batch, count, CAROM_LCP_TOLERANCE, bits, max_residual);
}

static unsigned resolve(const double *q, const double *inverse, int coordinates, double small, double *b) {
    enum { COLUMNS = CAROM_CONE_MOST_RESOLVED };
    lanes left = spread(0), right = spread(0);
    for (int j = 0; j < coordinates; j++) {
        left = add(left, multiply(spread(q[j]), load(inverse + j * COLUMNS)));
        right = add(right, multiply(spread(q[j]), load(inverse + j * COLUMNS + LANES)));
    }
    store(b, left);
    store(b + LANES, right);
    const unsigned at_most = at_least(spread(small), left) | at_least(spread(small), right) << LANES;
    const unsigned not_below = at_least(left, spread(-small)) | at_least(right, spread(-small)) << LANES;
    return ~(at_most | not_below << COLUMNS);
}

const carom_cone_kernel KERNEL = {.name = "cone-map:" INSTRUCTION_SET, .step = step, .choose = choose_solution, .resolve = resolve};
