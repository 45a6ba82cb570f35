// SPDX-License-Identifier: Apache-2.0
/// @file
/// Measured impacts of a known law with known noise.
#ifndef CAROM_TESTS_MEASURE_SUPPORT_H
#define CAROM_TESTS_MEASURE_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/vector3.h"
#include "support.h"

enum { NV = 6, BOTH = 12, TOSS = 3 };  // a free body; both velocities; impacts in each group

/// What synthetic impacts are made of.
typedef struct truth {
    int count, contacts;  ///< impacts; contacts of each, 1 or 2
    double mu, e;
    double noise;       ///< standard deviation of velocities [m/s]; angular ones have 20 times as much [rad/s]
    double inertia[3];  ///< of the body [kg m^2]
    double com[3];      ///< centre of mass from the reference point, whose velocity is measured
    bool turned;        ///< attitudes are random, not those of the world
} truth;

#define TRUTH_MASS 0.37

/// A random rotation [9], by Shoemake's quaternion.
static inline void random_rotation(carom_stream *stream, double R[9]) {
    double q[4], length = 0;
    for (int k = 0; k < 4; k++) {
        q[k] = carom_stream_normal(stream);
        length += q[k] * q[k];
    }
    for (int k = 0; k < 4; k++) q[k] /= sqrt(length);
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double rotation[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                                2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                                2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, rotation, sizeof rotation);
}

/// Impacts of the law `stronge` (one contact), or with `contacts` 2 of Moreau's law; noise on both velocities, which are correlated.
static inline carom_measurements make_measurements(const truth *t, uint64_t seed) {
    carom_measurements made = {.mass = TRUTH_MASS};
    made.list = carom_arena_take(&made.arena, (size_t)t->count, sizeof *made.list);
    assert_false(made.arena.failed);
    made.count = t->count;
    made.groups = (t->count + TOSS - 1) / TOSS;
    for (int i = 0; i < t->count; i++) {
        carom_stream stream;
        carom_stream_start(&stream, seed, (uint64_t)i);
        double *R = carom_arena_take(&made.arena, 9, sizeof *R), *after = carom_arena_take(&made.arena, NV, sizeof *after);
        double *S = carom_arena_take(&made.arena, (size_t)BOTH * BOTH, sizeof *S);
        memcpy(R, CAROM_IDENTITY3, 9 * sizeof *R);
        if (t->turned) random_rotation(&stream, R);
        // M of the reference point o, world axes: m [[1, -[c]x], [[c]x, I_o/m]] with I_o = R I R' + m (|c|^2 1 - c c').
        double M[36] = {0}, c[3], Jn[2 * NV], Jt[4 * NV], before[NV];
        carom_multiply3(R, t->com, c);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                double moment = TRUTH_MASS * ((a == b) * carom_dot3(c, c) - c[a] * c[b]);
                for (int k = 0; k < 3; k++) moment += R[3 * a + k] * t->inertia[k] * R[3 * b + k];
                M[(3 + a) * NV + 3 + b] = moment;
                M[a * NV + b] = TRUTH_MASS * (a == b);
            }
        const double cross[9] = {0, -c[2], c[1], c[2], 0, -c[0], -c[1], c[0], 0};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                M[(3 + a) * NV + b] = TRUTH_MASS * cross[3 * a + b];
                M[a * NV + 3 + b] = -TRUTH_MASS * cross[3 * a + b];
            }
        // Contacts below, on a floor: rows (d, r x d).
        for (int j = 0; j < t->contacts; j++) {
            const double r[3] = {0.1 * (carom_stream_uniform(&stream) - 0.5) + (t->contacts > 1 ? 0.05 - 0.1 * j : 0),
                                 0.1 * (carom_stream_uniform(&stream) - 0.5), -0.07 - 0.01 * carom_stream_uniform(&stream)};
            const double direction[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
            for (int d = 0; d < 3; d++) {
                double *row = d ? Jt + (2 * j + d - 1) * NV : Jn + j * NV;
                memcpy(row, direction[d], 3 * sizeof *row);
                carom_cross3(r, direction[d], row + 3);
            }
        }
        // Towards the floor, slow enough in rotation that every contact approaches.
        for (int k = 0; k < NV; k++) before[k] = (k < 3 ? 0.5 : 4) * carom_stream_normal(&stream);
        before[2] = -1.5 - 0.3 * carom_stream_uniform(&stream);
        const double mu[2] = {t->mu, t->mu}, e[2] = {t->e, t->e};
        const carom_impact_data data = {.nv = NV,
                                        .contacts = t->contacts,
                                        .tangent_dim = 2,
                                        .mass = M,
                                        .normal = Jn,
                                        .tangent = Jt,
                                        .friction = mu,
                                        .restitution = e,
                                        .velocity = before};
        carom_impact *true_impact = support_impact(&data), *measured;
        carom_error error = {0};
        const carom_law_call call = {.impact = true_impact};
        carom_answer answer;
        assert_ok(carom_law_resolve(t->contacts == 1 ? &carom_law_stronge : &carom_law_moreau, &call, &answer, &error), error);
        memcpy(after, carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY), NV * sizeof *after);
        carom_answer_free(&answer);
        carom_impact_free(true_impact);
        // Noise (a_k, b_k) of each component: a_k of both, b_k of v+ alone.
        for (int k = 0; k < NV; k++) {
            const double own = t->noise * (k < 3 ? 1 : 20), first = own * carom_stream_normal(&stream),
                         second = own * carom_stream_normal(&stream);
            before[k] += first;
            after[k] += 0.5 * first + second;
            S[k * BOTH + k] = own * own;
            S[k * BOTH + NV + k] = S[(NV + k) * BOTH + k] = 0.5 * own * own;
            S[(NV + k) * BOTH + NV + k] = 1.25 * own * own;
        }
        assert_ok(carom_impact_create(&data, &measured, &error), error);
        made.list[i] = (carom_measurement){.impact = measured,
                                           .after = after,
                                           .covariance = t->noise > 0 ? S : NULL,
                                           .attitude = R,
                                           .kind = "made",
                                           .group = i / TOSS,
                                           .friction_known = true};
    }
    assert_false(made.arena.failed);
    return made;
}

#endif
