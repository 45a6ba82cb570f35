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
            if (share >= lowest) continue;
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

// The part [low, high] of a line x + t line that lies in the ball and in the slabs.
static void cut_line(int d, int contacts, const double *x, const double *line, const double *center, double radius, const double *normals,
                     const double *approach, double most_rebound, double *low, double *high) {
    // |x - center|^2 + 2 t line.(x - center) + t^2 = radius^2, for a line of unit length.
    double b = 0, c = -radius * radius;
    for (int k = 0; k < d; k++) {
        b += line[k] * (x[k] - center[k]);
        c += (x[k] - center[k]) * (x[k] - center[k]);
    }
    const double root = sqrt(fmax(b * b - c, 0));
    *low = -b - root;
    *high = -b + root;
    for (int i = 0; i < contacts; i++) {
        const double speed = approach[i] + carom_dot(d, normals + i * d, x), rate = carom_dot(d, normals + i * d, line);
        if (rate == 0) continue;
        const double first = -speed / rate, second = (most_rebound - speed) / rate;
        *low = fmax(*low, fmin(first, second));
        *high = fmin(*high, fmax(first, second));
    }
}

// The start: the impulse of the inelastic law, a little larger.
static carom_status find_start(const carom_measurement *measurement, double friction, int edges, double *start, bool *found,
                               carom_error *error) {
    carom_anitescu_potra_options options = carom_anitescu_potra_defaults();
    options.method.cone_edges = edges;
    const carom_measure_law inelastic = {
        .law = &carom_law_anitescu_potra, .options = &options, .friction = {friction, friction}, .restitution = NAN};
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
    const int nv = data->nv, contacts = data->contacts;
    int used_edges;
    bool started = false;
    carom_status status = carom_impact_cone_edges(measurement->impact, edges, &used_edges, error);
    measure_frame frame;
    if (!status) status = measure_frame_make(measurement, NULL, &frame, error);
    if (status) return status;
    carom_arena *arena = &frame.arena;
    const size_t n = (size_t)nv, most_rows = (size_t)contacts * (size_t)used_edges;
    double *rows = carom_arena_take(arena, most_rows * n, sizeof *rows), *spare = carom_arena_take(arena, most_rows * n, sizeof *spare);
    double *basis = carom_arena_take(arena, n * n, sizeof *basis),
           *normals = carom_arena_take(arena, (size_t)contacts * n, sizeof *normals);
    double *approach = carom_arena_take(arena, (size_t)contacts, sizeof *approach);
    double *start = carom_arena_take(arena, n, sizeof *start), *target = carom_arena_take(arena, n, sizeof *target);
    double *center = carom_arena_take(arena, n, sizeof *center), *line = carom_arena_take(arena, n, sizeof *line);
    cone_point p = {.edges = spare,
                    .basis = carom_arena_take(arena, n, sizeof(int)),
                    .inverse = carom_arena_take(arena, n * n, sizeof(double)),
                    .x = carom_arena_take(arena, n, sizeof(double)),
                    .weight = carom_arena_take(arena, n, sizeof(double)),
                    .rate = carom_arena_take(arena, n, sizeof(double)),
                    .work = carom_arena_take(arena, n * n, sizeof(double)),
                    .exchanges = carom_arena_take(arena, n, sizeof(int))};
    if (arena->failed) status = carom_fail_memory(error, "null set");
    if (!status) status = find_start(measurement, friction, edges, start, &started, error);
    if (status || !started) {
        carom_arena_free(arena);
        return status;
    }

    const double *half = carom_impact_half_response(measurement->impact);
    // Everything in coordinates of the space of the edges: q.y with its orthonormal basis q.
    p.count = measure_cone_edges(measurement, half, friction, used_edges, rows);
    memcpy(spare, rows, (size_t)p.count * n * sizeof *spare);
    p.d = measure_basis(p.count, nv, spare, basis);
    const int d = p.d;
    for (int i = 0; i < p.count; i++)
        for (int k = 0; k < d; k++) spare[i * d + k] = carom_dot(nv, basis + k * nv, rows + i * nv);
    double fastest = 0;
    for (int i = 0; i < contacts; i++) {
        for (int k = 0; k < d; k++) normals[i * d + k] = carom_dot(nv, basis + k * nv, half + i * (1 + data->tangent_dim) * nv);
        approach[i] = carom_dot(nv, data->normal + i * nv, data->velocity);
        fastest = fmax(fastest, -approach[i]);
    }
    measure_whiten(&frame, start, target);
    for (int k = 0; k < nv; k++) target[k] -= frame.before[k];
    // What v- has beside the space of the edges stays: the ball is |center - x| <= |center| there.
    double radius = 0;
    for (int k = 0; k < d; k++) {
        center[k] = -carom_dot(nv, basis + k * nv, frame.before);
        start[k] = carom_dot(nv, basis + k * nv, target);
        radius += center[k] * center[k];
    }
    radius = sqrt(radius);

    // A first basis of independent edges, at their sum, and from there to the start.
    int rank = 0;
    double *independent = rows;
    for (int k = 0; k < p.count && rank < d; k++) {
        double *q = independent + rank * d;
        memcpy(q, spare + k * d, (size_t)d * sizeof *q);
        const double length = sqrt(carom_dot(d, q, q));
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j < rank; j++) {
                const double share = carom_dot(d, independent + j * d, q);
                for (int i = 0; i < d; i++) q[i] -= share * independent[j * d + i];
            }
        const double rest = sqrt(carom_dot(d, q, q));
        // Well apart from the others, as neighbouring edges of one cone still are.
        if (!(rest > 1e-3 * length)) continue;
        for (int i = 0; i < d; i++) q[i] /= rest;
        p.basis[rank++] = k;
        for (int i = 0; i < d; i++) p.x[i] += spare[k * d + i] * radius / length;
    }
    started = rank == d && renew(&p);
    double way = 0;
    for (int k = 0; k < d; k++) {
        line[k] = start[k] - p.x[k];
        way += line[k] * line[k];
    }
    way = sqrt(way);
    for (int k = 0; k < d; k++) line[k] /= way;
    if (started && way > 0) move(&p, line, way);
    // It must lie in the slabs and the ball, but for rounding.
    const double highest = MOST_REBOUND * fastest;
    for (int i = 0; i < contacts && started; i++) {
        const double speed = approach[i] + carom_dot(d, normals + i * d, p.x);
        started = speed >= -CAROM_TERMINATION_TOLERANCE * fastest && speed <= highest;
    }

    carom_stream stream;
    carom_stream_start_use(&stream, (uint64_t)seed, 0, CAROM_STREAM_MEASURE);
    for (int64_t i = 0; started && i < count; i++) {
        const int steps = d * (i ? STEPS_BETWEEN : FIRST_STEPS);
        for (int step = 0; step < steps; step++) {
            double length = 0;
            for (int k = 0; k < d; k++) {
                line[k] = carom_stream_normal(&stream);
                length += line[k] * line[k];
            }
            for (int k = 0; k < d; k++) line[k] /= sqrt(length);
            double low, high;
            cut_line(d, contacts, p.x, line, center, radius, normals, approach, highest, &low, &high);
            const double place = carom_stream_uniform(&stream);
            if (!(low < 0 || high > 0) || low > high) continue;
            // To both ends of the chord within the cone, then to its point.
            for (int k = 0; k < d; k++) line[k] = -line[k];
            const double back = move(&p, line, fmax(-low, 0));
            for (int k = 0; k < d; k++) line[k] = -line[k];
            const double chord = move(&p, line, back + fmax(high, 0));
            for (int k = 0; k < d; k++) line[k] = -line[k];
            move(&p, line, chord * (1 - place));
        }
        double *v = members + i * nv;
        for (int k = 0; k < nv; k++) {
            v[k] = frame.before[k];
            for (int j = 0; j < d; j++) v[k] += p.x[j] * basis[j * nv + k];
        }
        measure_unwhiten(&frame, v, v);
        *found = i + 1;
    }
    carom_arena_free(arena);
    return CAROM_OK;
}
