// SPDX-License-Identifier: Apache-2.0
// The naive set that laws are to beat: any dissipative impulse within the friction cones, with a moderate rebound.
//
// In kinetic coordinates x = L'(v+ - v-) of the range of L^-1 J' it is the cone of the columns g_k (edges of the friction cones), cut by
// the ball |L'v- + x| <= |L'v-| and by the slabs 0 <= Jn_i v+ <= 0.5 max approach. Hit and run takes a random line through the current
// point and a uniform point of the chord, which leaves the uniform distribution as it is (Smith 1984).
#include <math.h>
#include <string.h>

#include "measure/measure_internal.h"

// The largest normal velocity after the impact, over the fastest approach before it.
#define MOST_REBOUND 0.5
// The walk starts where the inelastic impulse, made larger by this share, leads: within the slabs, with less energy than before.
#define START_REBOUND 0.25
// Steps before the first point and between two, for each dimension.
enum { FIRST_STEPS = 50, STEPS_BETWEEN = 1 };
// Exchanges after which the basis is factored anew, and those of one move after which rounding must have made it go in circles.
enum { RENEW_AFTER = 64, MOST_EXCHANGES = 512 };
// A weight changes when its rate exceeds this share of the largest one.
#define RATE 1e-12

// A point of the cone as a combination of `d` independent edges: x = sum_i weight_i g_{basis_i}, weight >= 0.
typedef struct cone_point {
    int d, count;
    const double *edges;        // [count x d]
    int *basis;                 // [d]
    double *inverse;            // [d x d] of the matrix whose columns are the edges of the basis
    double *x, *weight, *rate;  // [d]
    double *work;               // [d x d]
    int *exchanges;             // [d]
    int renewal;                // exchanges since the basis was factored
} cone_point;

static bool renew(cone_point *p) {
    const int d = p->d;
    for (int i = 0; i < d; i++)
        for (int k = 0; k < d; k++) p->work[k * d + i] = p->edges[p->basis[i] * d + k];
    if (!carom_lu_factor(d, p->work, p->exchanges)) return false;
    for (int i = 0; i < d; i++) {
        for (int k = 0; k < d; k++) p->weight[k] = k == i;
        carom_lu_solve(d, p->work, p->exchanges, p->weight);
        for (int k = 0; k < d; k++) p->inverse[k * d + i] = p->weight[k];
    }
    for (int i = 0; i < d; i++) p->weight[i] = fmax(carom_dot(d, p->inverse + i * d, p->x), 0);
    p->renewal = 0;
    return true;
}

// Moves along `line` by at most `most` within the cone; returns how far. The weights are linear in the way until one of them vanishes:
// another edge then takes its place, or, where no edge can, row r of the inverse is a face of the cone that ends the way.
static double move(cone_point *p, const double *line, double most) {
    const int d = p->d;
    double way = 0;
    for (int exchange = 0; way < most && exchange < MOST_EXCHANGES; exchange++) {
        double fastest = 0, reach = most - way;
        int leaving = -1;
        for (int i = 0; i < d; i++) {
            p->rate[i] = carom_dot(d, p->inverse + i * d, line);
            fastest = fmax(fastest, fabs(p->rate[i]));
        }
        for (int i = 0; i < d; i++) {
            if (p->rate[i] >= -RATE * fastest || p->weight[i] > -p->rate[i] * reach) continue;
            reach = p->weight[i] / -p->rate[i];
            leaving = i;
        }
        way += reach;
        for (int i = 0; i < d; i++) {
            p->weight[i] = i == leaving ? 0 : fmax(p->weight[i] + reach * p->rate[i], 0);
            p->x[i] += reach * line[i];
        }
        if (leaving < 0) break;
        // The edge that lies farthest on the other side of the face of the remaining ones.
        const double *face = p->inverse + leaving * d;
        int entering = -1;
        double lowest = -MEASURE_RANK;
        for (int k = 0; k < p->count; k++) {
            const double share = carom_dot(d, face, p->edges + k * d);
            if (!(share < lowest)) continue;
            lowest = share;
            entering = k;
        }
        if (entering < 0) break;
        // The inverse follows the exchange of one column.
        for (int i = 0; i < d; i++) p->rate[i] = carom_dot(d, p->inverse + i * d, p->edges + entering * d);
        const double pivot = p->rate[leaving];
        for (int k = 0; k < d; k++) p->inverse[leaving * d + k] /= pivot;
        for (int i = 0; i < d; i++)
            for (int k = 0; k < d && i != leaving; k++) p->inverse[i * d + k] -= p->rate[i] * p->inverse[leaving * d + k];
        p->basis[leaving] = entering;
        if (++p->renewal >= RENEW_AFTER && !renew(p)) break;
    }
    return way;
}

// The set in coordinates of the space of the edges, and a point that walks in it.
typedef struct null_walk {
    int nv, d, contacts;
    double *basis;            // [d x nv] orthonormal, of the space of the edges in kinetic coordinates
    double *edges;            // [count x d]
    double *independent;      // [d x d] orthonormal, of the first basis of edges
    double *normals;          // [contacts x d] change of the normal velocities
    double *approach;         // [contacts] normal velocities before the impact
    double fastest, highest;  // approach, and rebound
    double *center, radius;   // of the ball of those with no more energy
    double *start, *line;     // [nv]
    double *target;           // [nv]
    cone_point point;
} null_walk;

static void take_arrays(carom_arena *arena, int nv, int contacts, int edges, null_walk *walk) {
    const size_t n = (size_t)nv, rows = (size_t)contacts * (size_t)edges;
    *walk = (null_walk){.nv = nv,
                        .contacts = contacts,
                        .basis = carom_arena_take(arena, n * n, sizeof(double)),
                        .edges = carom_arena_take(arena, rows * n, sizeof(double)),
                        .independent = carom_arena_take(arena, rows * n, sizeof(double)),
                        .normals = carom_arena_take(arena, (size_t)contacts * n, sizeof(double)),
                        .approach = carom_arena_take(arena, (size_t)contacts, sizeof(double)),
                        .center = carom_arena_take(arena, n, sizeof(double)),
                        .start = carom_arena_take(arena, n, sizeof(double)),
                        .line = carom_arena_take(arena, n, sizeof(double)),
                        .target = carom_arena_take(arena, n, sizeof(double))};
    walk->point = (cone_point){.edges = walk->edges,
                               .basis = carom_arena_take(arena, n, sizeof(int)),
                               .inverse = carom_arena_take(arena, n * n, sizeof(double)),
                               .x = carom_arena_take(arena, n, sizeof(double)),
                               .weight = carom_arena_take(arena, n, sizeof(double)),
                               .rate = carom_arena_take(arena, n, sizeof(double)),
                               .work = carom_arena_take(arena, n * n, sizeof(double)),
                               .exchanges = carom_arena_take(arena, n, sizeof(int))};
}

// Everything as q.y in the orthonormal basis q of the space of the edges. `start` holds v+ of the start, and then its coordinates.
static void choose_coordinates(null_walk *walk, const carom_measurement *measurement, const measure_frame *frame, double friction,
                               int edges) {
    const carom_impact_data *data = carom_impact_get_data(measurement->impact);
    const double *half = carom_impact_half_response(measurement->impact);
    const int nv = walk->nv;
    double *rows = walk->independent;
    const int count = measure_cone_edges(measurement, half, friction, edges, rows);
    memcpy(walk->edges, rows, (size_t)count * (size_t)nv * sizeof *rows);
    const int d = measure_basis(count, nv, walk->edges, walk->basis);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < d; k++) walk->edges[i * d + k] = carom_dot(nv, walk->basis + k * nv, rows + i * nv);
    for (int i = 0; i < walk->contacts; i++) {
        for (int k = 0; k < d; k++) walk->normals[i * d + k] = carom_dot(nv, walk->basis + k * nv, half + i * (1 + data->tangent_dim) * nv);
        walk->approach[i] = carom_dot(nv, data->normal + i * nv, data->velocity);
        walk->fastest = fmax(walk->fastest, -walk->approach[i]);
    }
    walk->highest = MOST_REBOUND * walk->fastest;
    measure_whiten(frame, walk->start, walk->target);
    for (int k = 0; k < nv; k++) walk->target[k] -= frame->before[k];
    // What v- has beside the space of the edges stays: the ball is |center - x| <= |center| there.
    double square = 0;
    for (int k = 0; k < d; k++) {
        walk->center[k] = -carom_dot(nv, walk->basis + k * nv, frame->before);
        walk->start[k] = carom_dot(nv, walk->basis + k * nv, walk->target);
        square += walk->center[k] * walk->center[k];
    }
    walk->radius = sqrt(square);
    walk->d = walk->point.d = d;
    walk->point.count = count;
}

// A first basis of independent edges, with the point at their sum. False where there is none.
static bool choose_basis(null_walk *walk) {
    cone_point *p = &walk->point;
    const int d = walk->d;
    int rank = 0;
    for (int k = 0; k < p->count && rank < d; k++) {
        double *q = walk->independent + rank * d;
        memcpy(q, walk->edges + k * d, (size_t)d * sizeof *q);
        const double length = sqrt(carom_dot(d, q, q));
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j < rank; j++) {
                const double share = carom_dot(d, walk->independent + j * d, q);
                for (int i = 0; i < d; i++) q[i] -= share * walk->independent[j * d + i];
            }
        const double rest = sqrt(carom_dot(d, q, q));
        // Well apart from the others, as neighbouring edges of one cone still are.
        if (!(rest > 1e-3 * length)) continue;
        for (int i = 0; i < d; i++) q[i] /= rest;
        p->basis[rank++] = k;
        for (int i = 0; i < d; i++) p->x[i] += walk->edges[k * d + i] * walk->radius / length;
    }
    return rank == d && renew(p);
}

// From the sum of the edges to the start. False where that does not lie in the slabs, but for rounding.
static bool go_to_start(null_walk *walk) {
    cone_point *p = &walk->point;
    double way = 0;
    for (int k = 0; k < walk->d; k++) {
        walk->line[k] = walk->start[k] - p->x[k];
        way += walk->line[k] * walk->line[k];
    }
    way = sqrt(way);
    for (int k = 0; k < walk->d; k++) walk->line[k] /= way;
    if (way > 0) move(p, walk->line, way);
    bool inside = true;
    for (int i = 0; i < walk->contacts; i++) {
        const double speed = walk->approach[i] + carom_dot(walk->d, walk->normals + i * walk->d, p->x);
        inside &= speed >= -CAROM_TERMINATION_TOLERANCE * walk->fastest && speed <= walk->highest;
    }
    return inside;
}

// The part [low, high] of the line through the point that lies in the ball and in the slabs.
static void cut_line(const null_walk *walk, double *low, double *high) {
    const double *x = walk->point.x, *line = walk->line;
    const int d = walk->d;
    // |x - center|^2 + 2 t line.(x - center) + t^2 = radius^2, for a line of unit length.
    double b = 0, c = -walk->radius * walk->radius;
    for (int k = 0; k < d; k++) {
        b += line[k] * (x[k] - walk->center[k]);
        c += (x[k] - walk->center[k]) * (x[k] - walk->center[k]);
    }
    const double root = sqrt(fmax(b * b - c, 0));
    *low = -b - root;
    *high = -b + root;
    for (int i = 0; i < walk->contacts; i++) {
        const double speed = walk->approach[i] + carom_dot(d, walk->normals + i * d, x), rate = carom_dot(d, walk->normals + i * d, line);
        if (rate == 0) continue;
        const double first = -speed / rate, second = (walk->highest - speed) / rate;
        *low = fmax(*low, fmin(first, second));
        *high = fmin(*high, fmax(first, second));
    }
}

// One step of hit and run.
static void take_step(null_walk *walk, carom_stream *stream) {
    double length = 0;
    for (int k = 0; k < walk->d; k++) {
        walk->line[k] = carom_stream_normal(stream);
        length += walk->line[k] * walk->line[k];
    }
    for (int k = 0; k < walk->d; k++) walk->line[k] /= sqrt(length);
    double low, high;
    cut_line(walk, &low, &high);
    const double place = carom_stream_uniform(stream);
    if (!(low < 0 || high > 0) || low > high) return;
    // To both ends of the chord within the cone, then to its point.
    for (int k = 0; k < walk->d; k++) walk->line[k] = -walk->line[k];
    const double back = move(&walk->point, walk->line, fmax(-low, 0));
    for (int k = 0; k < walk->d; k++) walk->line[k] = -walk->line[k];
    const double chord = move(&walk->point, walk->line, back + fmax(high, 0));
    for (int k = 0; k < walk->d; k++) walk->line[k] = -walk->line[k];
    move(&walk->point, walk->line, chord * (1 - place));
}

// The start: the impulse of the inelastic law, a little larger.
static carom_status find_start(const carom_measurement *measurement, double friction, int edges, double *start, bool *found,
                               carom_error *error) {
    carom_anitescu_potra_options options = carom_anitescu_potra_defaults();
    options.method.cone_edges = edges;
    const carom_measure_law inelastic = {
        .law = &carom_law_anitescu_potra, .options = &options, .friction = {friction, friction}, .restitution = {NAN, NAN}};
    carom_measure_set set;
    const carom_status status = carom_measure_ask(&inelastic, measurement, 0, NULL, NULL, &set, error);
    if (status) return status;
    const double *before = carom_impact_get_data(measurement->impact)->velocity;
    *found = set.count > 0;
    for (int k = 0; k < set.nv && *found; k++) start[k] = before[k] + (1 + START_REBOUND) * (set.members[k] - before[k]);
    carom_measure_set_free(&set);
    return CAROM_OK;
}

carom_status carom_measure_null_set(const carom_measurement *measurement, double friction, int edges, int64_t seed, int64_t count,
                                    double *members, int64_t *found, carom_error *error) {
    *found = 0;
    const carom_impact_data *data = carom_impact_get_data(measurement->impact);
    const int nv = data->nv;
    int used_edges;
    carom_status status = carom_impact_cone_edges(measurement->impact, edges, &used_edges, error);
    measure_frame frame;
    if (!status) status = measure_frame_make(measurement, NULL, &frame, error);
    if (status) return status;
    null_walk walk;
    bool started = false;
    take_arrays(&frame.arena, nv, data->contacts, used_edges, &walk);
    if (frame.arena.failed) status = carom_fail_memory(error, "null set");
    if (!status) status = find_start(measurement, friction, edges, walk.start, &started, error);
    if (!status && started) {
        choose_coordinates(&walk, measurement, &frame, friction, used_edges);
        started = choose_basis(&walk) && go_to_start(&walk);
    }

    carom_stream stream;
    carom_stream_start_use(&stream, (uint64_t)seed, 0, CAROM_STREAM_MEASURE);
    for (int64_t i = 0; !status && started && i < count; i++) {
        for (int step = 0; step < walk.d * (i ? STEPS_BETWEEN : FIRST_STEPS); step++) take_step(&walk, &stream);
        // v+ from the coordinates.
        double *v = members + i * nv;
        for (int k = 0; k < nv; k++) {
            v[k] = frame.before[k];
            for (int j = 0; j < walk.d; j++) v[k] += walk.point.x[j] * walk.basis[j * nv + k];
        }
        measure_unwhiten(&frame, v, v);
        *found = i + 1;
    }
    carom_arena_free(&frame.arena);
    return status;
}
