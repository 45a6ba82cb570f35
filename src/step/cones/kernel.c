// SPDX-License-Identifier: Apache-2.0
// Lookup of complementary cones in lanes, compiled once for every instruction set: the build defines KERNEL and INSTRUCTION_SET.
#include "step/cones/kernel.h"

#include <math.h>

#include "carom/lcp.h"
#include "step/cones/lanes.h"
#include "step/step_internal.h"

#ifndef KERNEL
#define KERNEL          carom_cone_kernel_portable
#define INSTRUCTION_SET "portable"
#endif

_Static_assert((int)LANES == (int)CAROM_CONE_LANES, "columns are padded to lanes");
_Static_assert((int)PICKED == (int)CAROM_CONE_MOST_GUESSED, "one table holds a coefficient of every cone");

enum { MOST_GROUPS = CAROM_CONE_MOST_SAMPLES / LANES, ROWS_AT_ONCE = CAROM_CONE_ROWS };

// For loops whose bounds are constants in the calls that matter most: those of two planar contacts.
#define INLINE inline __attribute__((always_inline))

// Relative residual above which impulses are refined: what our Lemke asks of a tableau.
#define REFINED 1e-14
// Relative residual of a guess that is right: the share of size(x) up to which rows hold.
#define GUESS_TOLERANCE 1e-13

// -------------------------------------------------------------------------------------------------------------- lookup

// Which of the open lanes have all rows first..last-1 on their side, ROWS_AT_ONCE by ROWS_AT_ONCE: one load of an input serves them all,
// and their sums don't wait for each other. `width` is a constant in the calls below, so that loops unroll.
static INLINE unsigned test_rows(const double *row, const double *end, int width, const double *x, size_t stride, unsigned open) {
    const lanes zero = spread(0);
    for (; row < end && open; row += ROWS_AT_ONCE * width) {
        const double *second = row + width, *third = second + width, *fourth = third + width;
        const lanes first_input = load(x);
        lanes a = multiply(spread(row[0]), first_input), b = multiply(spread(second[0]), first_input);
        lanes c = multiply(spread(third[0]), first_input), d = multiply(spread(fourth[0]), first_input);
        for (int j = 1; j < width; j++) {
            const lanes input = load(x + (size_t)j * stride);
            a = add(a, multiply(spread(row[j]), input));
            b = add(b, multiply(spread(second[j]), input));
            c = add(c, multiply(spread(third[j]), input));
            d = add(d, multiply(spread(fourth[j]), input));
        }
        open &= at_least(lesser(lesser(a, b), lesser(c, d)), zero);
    }
    return open;
}

static unsigned inside(const carom_cones *c, int cone, const double *x, size_t stride, unsigned open) {
    const int width = c->inputs + 1;
    const double *first = c->rows + (size_t)c->first_row[cone] * (size_t)width,
                 *end = c->rows + (size_t)c->first_row[cone + 1] * (size_t)width;
    if (width == 7) return test_rows(first, end, 7, x, stride, open);
    return test_rows(first, end, width, x, stride, open);
}

// Moves the samples whose bits are set to the front of every column, in order. Never overwrites what has not been moved.
static void keep(double *columns, int count, size_t stride, const unsigned char *bits, int groups) {
    for (int j = 0; j < count; j++) {
        double *column = columns + (size_t)j * stride, *to = column;
        for (int g = 0; g < groups; g++) {
            pack(to, load(column + g * LANES), bits[g]);
            to += __builtin_popcount(bits[g]);
        }
    }
}

// The samples that are open move to the front. Returns their number.
static int gather_open(const carom_cones *c, const carom_cone_batch *b, int groups, const unsigned char *open) {
    int count = 0;
    keep(b->work, c->inputs + 1, b->stride, open, groups);
    for (int g = 0; g < groups; g++)
        for (unsigned bits = open[g]; bits; bits &= bits - 1) b->samples[count++] = b->samples[g * LANES + __builtin_ctz(bits)];
    return count;
}

// One bit for each of the first `count` samples.
static int open_all(int count, unsigned char *open) {
    const int groups = (count + LANES - 1) / LANES;
    for (int g = 0; g < groups; g++) open[g] = ALL_LANES;
    if (count % LANES) open[groups - 1] = (unsigned char)((1 << count % LANES) - 1);
    return groups;
}

// The inputs and sizes of the samples into the work columns, which the lookup shrinks.
static void start_lookup(const carom_cones *c, const carom_cone_batch *b, int count) {
    double *sizes = b->work + (size_t)c->inputs * b->stride;
    for (int i = 0; i < count; i++) b->samples[i] = i;
    for (int i = 0; i < count; i += LANES) {
        lanes size = spread(0);
        for (int j = 0; j < c->inputs; j++) {
            const size_t at = (size_t)j * b->stride + (size_t)i;
            const lanes input = load(b->x + at);
            store(b->work + at, input);
            size = larger(multiply(magnitude(input), spread(c->per_unit[j])), size);
        }
        store(sizes + i, size);
    }
}

// Cone by cone over all samples that have none yet: a sample gets the first cone that has it.
static void find(const carom_cones *c, carom_cone_batch *b, int count) {
    unsigned char open[MOST_GROUPS];
    int live = count, left = count, groups = open_all(count, open);
    start_lookup(c, b, count);
    for (int i = 0; i < groups * LANES; i++) b->cone[i] = CAROM_CONE_NONE;
    for (int cone = 0; cone < c->count && left; cone++) {
        // Moving costs about as much as a row of every second sample.
        if (left <= live - live / 4 && left + LANES <= live) {
            live = gather_open(c, b, groups, open);
            groups = open_all(live, open);
        }
        for (int g = 0; g < groups; g++) {
            if (!open[g]) continue;
            unsigned found = inside(c, cone, b->work + (size_t)g * LANES, b->stride, open[g]);
            open[g] &= (unsigned char)~found;
            for (; found; found &= found - 1, left--) b->cone[b->samples[g * LANES + __builtin_ctz(found)]] = cone;
        }
    }
}

// The cone to try by the sides of some planes. That x is in it is left to the verification, which then has the tolerance of rows.
static INLINE lanes sides(const carom_cones *c, int inputs, const double *x, size_t stride) {
    static const double places[CAROM_CONE_MOST_SPLITS] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
    lanes code = spread(0);
    for (int k = 0; k < c->splits; k++) {
        const double *row = c->split_rows + k * inputs;
        lanes sum = multiply(spread(row[0]), load(x));
        for (int j = 1; j < inputs; j++) sum = add(sum, multiply(spread(row[j]), load(x + (size_t)j * stride)));
        code = add(code, choose(at_least(sum, spread(0)), spread(places[k]), spread(0)));
    }
    return code;
}

// ------------------------------------------------------------------------------------------------------------- impulses

// map times `count` inputs of one sample, from `x` on, into `impulse`, or added to it. Lanes are impulses here.
static INLINE void multiply_map(const double *map, size_t map_rows, int n, const double *x, int count, size_t stride, double *impulse,
                                bool adds) {
    _Alignas(64) double result[LANES];
    for (size_t r = 0; r < map_rows; r += LANES) {
        lanes sum = multiply(spread(x[0]), load(map + r));
        for (int j = 1; j < count; j++) sum = add(sum, multiply(spread(x[(size_t)j * stride]), load(map + (size_t)j * map_rows + r)));
        store(result, sum);
        for (int k = 0; k < LANES && (int)r + k < n; k++) {
            double *at = impulse + (r + (size_t)k) * stride;
            *at = adds ? *at + result[k] : result[k];
        }
    }
}

static void apply_map(const carom_cones *c, const double *map, const double *x, size_t stride, double *impulse) {
    if (c->inputs == 6 && c->n == 4)
        multiply_map(map, LANES, 4, x, 6, stride, impulse, false);
    else
        multiply_map(map, c->map_rows, c->n, x, c->inputs, stride, impulse, false);
}

static const double *map_of(const carom_cones *c, const carom_cone_batch *b, int i) {
    return c->maps + (size_t)b->cone[i] * (size_t)c->inputs * c->map_rows;
}

static void apply_maps(const carom_cones *c, const carom_cone_batch *b, int count) {
    for (int i = 0; i < count; i++)
        if (b->cone[i] != CAROM_CONE_NONE) apply_map(c, map_of(c, b, i), b->x + i, b->stride, b->impulse + i);
}

// Impulses of eight samples of different cones. Lanes are samples here; the sums are those of multiply_map.
static INLINE void pick_maps(const carom_cones *c, int inputs, int n, const carom_cone_batch *b, int i) {
    const double *x = b->x + i, *table = c->picks;
    for (int r = 0; r < n; r++) {
        lanes sum = multiply(pick(table, b->cone + i), load(x));
        table += PICKED;
        for (int j = 1; j < inputs; j++, table += PICKED)
            sum = add(sum, multiply(pick(table, b->cone + i), load(x + (size_t)j * b->stride)));
        store(b->impulse + (size_t)r * b->stride + i, sum);
    }
}

// Cones and impulses of all samples by the sides of the planes on which they are. In two passes: processors then work on several groups at
// once.
static INLINE void guess_shape(const carom_cones *c, int rank, int inputs, int n, const carom_cone_batch *b, int count) {
    const int32_t *guesses = c->guesses + ((size_t)rank << c->splits);
    for (int i = 0; i < count; i += LANES) look_up(guesses, sides(c, inputs, b->x + i, b->stride), b->cone + i);
    for (int i = 0; i < count; i += LANES) pick_maps(c, inputs, n, b, i);
}

static void guess(const carom_cones *c, int rank, const carom_cone_batch *b, int count) {
    if (c->inputs == 6 && c->n == 4)
        guess_shape(c, rank, 6, 4, b, count);
    else
        guess_shape(c, rank, c->inputs, c->n, b, count);
}

// Iterative refinement: the velocities that the impulse should have stopped are put through the map again, with caps of zero. Coefficients
// of velocities that the cone leaves free are zero.
static void refine(const carom_cones *c, const carom_cone_batch *b, int i) {
    multiply_map(map_of(c, b, i), c->map_rows, c->n, b->u_next + i, c->n, b->stride, b->impulse + i, true);
}

// --------------------------------------------------------------------------------------------------------- verification

// Eight samples under verification.
typedef struct check {
    const carom_cone_physics *p;
    int contacts, dim, edges, n;         // as in p, where the compiler may know them
    const double *x, *impulse, *u_next;  // at the first of the samples
    size_t stride;
    lanes worst, worst_relative;  // violations of complementarity
    lanes scale, scale_w, scale_z;
    unsigned accepted;
} check;

static INLINE lanes column(const double *columns, size_t stride, int row) { return load(columns + (size_t)row * stride); }

// Complementarity of one pair z_i, y_i.
static INLINE void add_pair(check *k, int index, lanes y, lanes z) {
    const lanes y_relative = multiply(y, spread(k->p->y_per_unit[index])), z_relative = multiply(z, spread(k->p->z_per_unit[index]));
    k->worst = larger(magnitude(lesser(y, z)), k->worst);
    k->worst_relative = larger(magnitude(lesser(y_relative, z_relative)), k->worst_relative);
    k->scale_z = larger(magnitude(z_relative), k->scale_z);
}

// The size of its w_i.
static INLINE void add_size(check *k, int index, lanes w) {
    const lanes size = magnitude(w);
    k->scale = larger(size, k->scale);
    k->scale_w = larger(multiply(size, spread(k->p->y_per_unit[index])), k->scale_w);
}

static INLINE lanes along(const check *k, int edge, const double *columns, int row) {
    // The line has the edges 1 and -1.
    if (k->dim == 1) return edge ? subtract(spread(0), column(columns, k->stride, row)) : column(columns, k->stride, row);
    const double *d = k->p->directions + edge * k->dim;
    return add(multiply(spread(d[0]), column(columns, k->stride, row)), multiply(spread(d[1]), column(columns, k->stride, row + 1)));
}

// Weights of lam_t on cone edges: on the two edges of the sector around it, or, in the plane, on the one that it points along.
typedef struct split {
    lanes first, second, sector;
} split;

static INLINE split split_on_edges(const check *k, int row) {
    const carom_cone_physics *p = k->p;
    const lanes zero = spread(0), a = column(k->impulse, k->stride, row);
    if (k->dim == 1) return (split){larger(a, zero), larger(subtract(zero, a), zero), zero};
    const lanes b = column(k->impulse, k->stride, row + 1);
    split best = {zero, zero, zero};
    lanes least = spread(INFINITY);
    for (int j = 0; j < k->edges; j++) {
        const double *d = p->directions + 2 * j, *e = p->directions + 2 * ((j + 1) % k->edges);
        const double inverse = 1 / (d[0] * e[1] - d[1] * e[0]);
        const lanes on_d = multiply(subtract(multiply(a, spread(e[1])), multiply(b, spread(e[0]))), spread(inverse));
        const lanes on_e = multiply(subtract(multiply(b, spread(d[0])), multiply(a, spread(d[1]))), spread(inverse));
        // Of the sectors around, the one whose weights are least negative.
        const lanes misfit = add(larger(subtract(zero, on_d), zero), larger(subtract(zero, on_e), zero));
        const unsigned worse = at_least(misfit, least);
        least = choose(worse, least, misfit);
        best.first = choose(worse, best.first, larger(on_d, zero));
        best.second = choose(worse, best.second, larger(on_e, zero));
        best.sector = choose(worse, best.sector, spread(j));
    }
    return best;
}

static INLINE lanes weight_on(const check *k, const split *s, int edge) {
    if (k->dim == 1) return edge ? s->second : s->first;
    const lanes zero = spread(0), here = spread(edge), before = spread((edge + k->edges - 1) % k->edges);
    const unsigned on_first = at_least(s->sector, here) & at_least(here, s->sector);
    const unsigned on_second = at_least(s->sector, before) & at_least(before, s->sector);
    return choose(on_first, s->first, choose(on_second, s->second, zero));
}

// The LCP's pairs of one contact, with the multipliers recovered from the velocity after the step: beta = max(0, -u'_n), gamma the
// greatest sliding speed against an edge.
static INLINE void check_pairs(check *k, int contact) {
    const carom_cone_physics *p = k->p;
    const int row = contact * (1 + k->dim);
    const lanes zero = spread(0), normal = column(k->impulse, k->stride, row), u = column(k->u_next, k->stride, row);
    const lanes cap = column(k->x, k->stride, k->n + contact), beta = larger(subtract(zero, u), zero);
    add_size(k, contact, cap);
    add_pair(k, contact, subtract(cap, normal), beta);
    add_size(k, k->contacts + contact, column(k->x, k->stride, row));
    add_pair(k, k->contacts + contact, add(u, beta), normal);
    lanes gamma = zero, sum = zero;
    for (int a = 0; a < k->edges; a++) gamma = larger(subtract(zero, along(k, a, k->u_next, row + 1)), gamma);
    const split weights = split_on_edges(k, row + 1);
    for (int a = 0; a < k->edges; a++) {
        const lanes weight = weight_on(k, &weights, a);
        const int index = 2 * k->contacts + contact * k->edges + a;
        sum = add(sum, weight);
        add_size(k, index, along(k, a, k->x, row + 1));
        add_pair(k, index, add(gamma, along(k, a, k->u_next, row + 1)), weight);
    }
    add_pair(k, (2 + k->edges) * k->contacts + contact, subtract(multiply(spread(p->friction[contact]), normal), sum), gamma);
}

// The friction cone and the caps, from the impulses alone.
static INLINE void check_friction_law(check *k, int contact, lanes tolerance) {
    const carom_cone_physics *p = k->p;
    const int row = contact * (1 + k->dim);
    const lanes normal = column(k->impulse, k->stride, row), cap = column(k->x, k->stride, k->n + contact);
    const lanes limit = add(multiply(spread(p->friction[contact]), normal), tolerance);
    lanes tangent = column(k->impulse, k->stride, row + 1), square = multiply(tangent, tangent);
    if (k->dim == 2) {
        tangent = column(k->impulse, k->stride, row + 2);
        square = add(square, multiply(tangent, tangent));
    }
    k->accepted &= at_least(normal, spread(0)) & at_least(add(cap, tolerance), normal) & at_least(multiply(limit, limit), square);
}

// u' = u + W lambda, and the energy change lambda'(u + u')/2.
static INLINE lanes update(const carom_cone_physics *p, const carom_cone_batch *b, size_t i, int n) {
    lanes gain = spread(0);
    for (int r = 0; r < n; r++) {
        const double *W = p->delassus + (size_t)r * (size_t)n;
        const lanes u = load(b->x + (size_t)r * b->stride + i);
        lanes next = u;
        for (int c = 0; c < n; c++) next = add(next, multiply(spread(W[c]), load(b->impulse + (size_t)c * b->stride + i)));
        store(b->u_next + (size_t)r * b->stride + i, next);
        gain = add(gain, multiply(multiply(spread(0.5), load(b->impulse + (size_t)r * b->stride + i)), add(u, next)));
    }
    store(b->gain + i, gain);
    return gain;
}

// The bits of eight samples from i on that pass; `residual` receives that of carom_lcp_residual, `rough` the bits above the goal of
// refinement.
static INLINE unsigned verify_shape(const carom_cone_physics *p, int contacts, int dim, int edges, const carom_cone_batch *b, size_t i,
                                    double tolerance_relative, lanes *residual, unsigned *rough) {
    const lanes zero = spread(0), gain = update(p, b, i, contacts * (1 + dim));
    const int n = contacts * (1 + dim);
    check k = {p, contacts, dim, edges, n, b->x + i, b->impulse + i, b->u_next + i, b->stride, zero, zero, zero, zero, zero, ALL_LANES};
    lanes speed = zero, largest = zero;
    for (int r = 0; r < n; r++) {
        speed = larger(magnitude(column(k.x, k.stride, r)), speed);
        largest = larger(magnitude(column(k.impulse, k.stride, r)), largest);
    }
    const lanes tolerance = multiply(spread(CAROM_PHYSICAL_TOLERANCE), larger(largest, multiply(speed, spread(p->least_mass))));
    for (int c = 0; c < contacts; c++) {
        check_pairs(&k, c);
        check_friction_law(&k, c, tolerance);
    }
    const lanes limit = spread(CAROM_LCP_TOLERANCE), limit_relative = spread(tolerance_relative),
                allowed = multiply(limit, add(spread(1), k.scale));
    *rough = ALL_LANES & ~at_least(multiply(spread(REFINED), larger(k.scale_w, k.scale_z)), k.worst_relative);
    *residual = divide(k.worst, add(spread(1), k.scale));
    // The gain is not finite when an impulse or velocity is not: zero times it is then NaN.
    return k.accepted & at_least(zero, multiply(zero, gain)) & at_least(allowed, k.worst) &
           at_least(multiply(limit_relative, larger(k.scale_w, k.scale_z)), k.worst_relative) &
           at_least(multiply(spread(CAROM_LCP_MOST_AMPLIFICATION), k.scale_w), k.scale_z) & at_least(multiply(tolerance, speed), gain);
}

static void raise(double *most, lanes values) {
    _Alignas(64) double at[LANES];
    store(at, values);
    for (int l = 0; l < LANES; l++) *most = at[l] > *most ? at[l] : *most;
}

// The groups under verification: the bits of samples that have not passed, of those that are to be refined, and the largest residual of
// the others.
typedef struct verdicts {
    int groups;
    unsigned char *left, rough[MOST_GROUPS];
    lanes worst;
} verdicts;

// Whatever becomes of the others: what happens to a sample must not depend on its neighbours.
static INLINE void verify_groups(const carom_cone_physics *p, int contacts, int dim, int edges, const carom_cone_batch *b, double tolerance,
                                 verdicts *v) {
    for (int g = 0; g < v->groups; g++) {
        const size_t i = (size_t)g * LANES;
        const unsigned found = v->left[g] & not_negative(b->cone + i);
        lanes residual;
        unsigned rough;
        const unsigned accepted = found & verify_shape(p, contacts, dim, edges, b, i, tolerance, &residual, &rough) & ~rough;
        v->rough[g] = (unsigned char)(rough & found);
        v->left[g] &= (unsigned char)~accepted;
        v->worst = choose(accepted, larger(residual, v->worst), v->worst);
    }
}

static void refine_group(const carom_cones *c, const carom_cone_physics *p, const carom_cone_batch *b, int group, double tolerance,
                         verdicts *v) {
    const int i = group * LANES;
    lanes residual;
    unsigned rough;
    for (unsigned rest = v->rough[group]; rest; rest &= rest - 1) refine(c, b, i + __builtin_ctz(rest));
    const unsigned accepted = v->rough[group] & verify_shape(p, p->contacts, p->dim, p->edges, b, (size_t)i, tolerance, &residual, &rough);
    v->left[group] &= (unsigned char)~accepted;
    v->worst = choose(accepted, larger(residual, v->worst), v->worst);
}

// Samples that have no cone, or fail, are left with their bits set and without a cone. Returns their number.
static int verify(const carom_cones *c, const carom_cone_physics *p, carom_cone_batch *b, int count, double tolerance, unsigned char *left,
                  double *max_residual) {
    verdicts v = {.groups = open_all(count, left), .left = left, .worst = spread(0)};
    int failed = 0;
    if (p->contacts == 2 && p->dim == 1)
        verify_groups(p, 2, 1, 2, b, tolerance, &v);
    else
        verify_groups(p, p->contacts, p->dim, p->edges, b, tolerance, &v);
    for (int g = 0; g < v.groups; g++) {
        if (v.rough[g]) refine_group(c, p, b, g, tolerance, &v);
        for (unsigned rest = left[g]; rest; rest &= rest - 1, failed++) b->cone[g * LANES + __builtin_ctz(rest)] = CAROM_CONE_NONE;
    }
    raise(max_residual, v.worst);
    return failed;
}

// ---------------------------------------------------------------------------------------------------------------- step

// Steps by looking through the cones.
static int look_through(const carom_cones *c, const carom_cone_physics *p, carom_cone_batch *b, int count, double *max_residual) {
    unsigned char bits[MOST_GROUPS];
    find(c, b, count);
    apply_maps(c, b, count);
    return verify(c, p, b, count, CAROM_LCP_TOLERANCE, bits, max_residual);
}

// The inputs of the samples of the bits, side by side.
static void gather(const carom_cones *c, const carom_cone_batch *b, const unsigned char *bits, int groups, carom_cone_batch *into) {
    size_t at = 0;
    for (int g = 0; g < groups; g++) {
        if (!bits[g]) continue;
        for (size_t j = 0; j < (size_t)c->inputs; j++)
            pack(into->x + j * into->stride + at, load(b->x + j * b->stride + g * LANES), bits[g]);
        at += (size_t)__builtin_popcount(bits[g]);
    }
}

// What became of them, to where they came from.
static void scatter(const carom_cone_physics *p, const carom_cone_batch *from, const unsigned char *bits, int groups, carom_cone_batch *b) {
    size_t at = 0;
    for (int g = 0; g < groups; g++)
        for (unsigned rest = bits[g]; rest; rest &= rest - 1, at++) {
            const size_t i = (size_t)(g * LANES + __builtin_ctz(rest));
            for (size_t r = 0; r < (size_t)p->n; r++) {
                b->impulse[r * b->stride + i] = from->impulse[r * from->stride + at];
                b->u_next[r * b->stride + i] = from->u_next[r * from->stride + at];
            }
            b->gain[i] = from->gain[at];
            b->cone[i] = from->cone[at];
        }
}

// The guesses from `rank` on; what they get wrong is put side by side for the next.
static int try_guesses(const carom_cones *c, int rank, const carom_cone_physics *p, carom_cone_batch *b, int count, double *max_residual) {
    unsigned char bits[MOST_GROUPS];
    if (!c->splits || rank == CAROM_CONE_GUESSES) return look_through(c, p, b, count, max_residual);
    guess(c, rank, b, count);
    const int groups = (count + LANES - 1) / LANES, wrong = verify(c, p, b, count, GUESS_TOLERANCE, bits, max_residual);
    if (!wrong) return 0;
    gather(c, b, bits, groups, b->left);
    const int alone = try_guesses(c, rank + 1, p, b->left, wrong, max_residual);
    scatter(p, b->left, bits, groups, b);
    return alone;
}

static int step(const carom_cones *cones, const carom_cone_physics *physics, carom_cone_batch *batch, int count, double *max_residual) {
    return try_guesses(cones, 0, physics, batch, count, max_residual);
}

// ------------------------------------------------------------------------------------------------------------- advance

static double largest_gain(const carom_cone_batch *b, int count) {
    lanes largest = spread(0);
    double gain = 0;
    int i = 0;
    for (; i + LANES <= count; i += LANES) largest = larger(load(b->gain + i), largest);
    if (i < count) largest = choose((1U << (count - i)) - 1, larger(load(b->gain + i), largest), largest);
    raise(&gain, largest);
    return gain;
}

// The lanes whose bits are set, from place i of some columns to place `at` of others. In place, they never overwrite what is still to come.
static INLINE void move(const double *from, int columns, size_t stride, size_t i, unsigned bits, double *to, size_t at) {
    for (int c = 0; c < columns; c++) pack(to + (size_t)c * stride + at, load(from + (size_t)c * stride + i), bits);
}

// Which of eight samples have an approaching contact after the step.
static INLINE unsigned approaching(const carom_cone_batch *b, int contacts, int dim, size_t i, double limit) {
    lanes least = load(b->u_next + i);
    for (int c = 1; c < contacts; c++) least = lesser(load(b->u_next + (size_t)(c * (1 + dim)) * b->stride + i), least);
    return ALL_LANES & ~at_least(least, spread(limit));
}

static INLINE void advance_shape(int contacts, int dim, carom_cone_batch *b, carom_cone_run *run, double limit,
                                 const unsigned char *stopped) {
    const int n = contacts * (1 + dim), groups = (run->live + LANES - 1) / LANES, ragged = run->live % LANES;
    const size_t stride = b->stride;
    size_t live = 0, done = (size_t)run->done;
    for (int g = 0; g < groups; g++) {
        const size_t i = (size_t)g * LANES;
        const unsigned here = g == groups - 1 && ragged ? (1U << ragged) - 1 : ALL_LANES;
        const unsigned stay = here & approaching(b, contacts, dim, i, limit) & ~(stopped ? stopped[g] : 0U), leave = here & ~stay;
        for (size_t c = i; c < (size_t)n * stride; c += stride) store(run->total + c, add(load(run->total + c), load(b->impulse + c)));
        if (leave) {
            move(run->total, n, stride, i, leave, run->done_total, done);
            move(run->slot, 1, stride, i, leave, run->done_slot, done);
            done += (size_t)__builtin_popcount(leave);
        }
        move(b->u_next, n, stride, i, stay, b->x, live);
        move(run->total, n, stride, i, stay, run->total, live);
        move(run->slot, 1, stride, i, stay, run->slot, live);
        move(run->ahead, run->ahead_count, stride, i, stay, run->ahead, live);
        live += (size_t)__builtin_popcount(stay);
    }
    run->live = (int)live;
    run->done = (int)done;
}

static void advance(const carom_cone_physics *p, carom_cone_batch *b, carom_cone_run *run, double limit, const unsigned char *stopped) {
    if (p->contacts == 2 && p->dim == 1)
        advance_shape(2, 1, b, run, limit, stopped);
    else
        advance_shape(p->contacts, p->dim, b, run, limit, stopped);
}

static void velocities(const carom_cone_velocities *sums, const double *impulse, size_t stride, int count, double *v) {
    for (int k = 0; k < sums->nv; k++)
        for (size_t i = 0; i < (size_t)count; i += LANES) {
            lanes sum = spread(sums->start[k]);
            for (int c = 0; c < sums->n; c++)
                sum = add(sum, multiply(load(impulse + (size_t)c * stride + i), spread(sums->response[c * sums->nv + k])));
            store(v + (size_t)k * stride + i, sum);
        }
}

const carom_cone_kernel KERNEL = {
    .name = "cone-map:" INSTRUCTION_SET, .step = step, .largest_gain = largest_gain, .advance = advance, .velocities = velocities};
