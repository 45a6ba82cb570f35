// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of the integrator `lgvci` share: the cases of Tran & Leok 2023 (Table 3), random bodies above random planes, and runs.
#ifndef CAROM_TESTS_LGVCI_SUPPORT_H
#define CAROM_TESTS_LGVCI_SUPPORT_H

#include <math.h>
#include <stdio.h>

#include "carom/rotation.h"
#include "dynamics/lgvci/lgvci.h"
#include "integrators.h"

enum { CASES = 4, KNOWN_IMPACTS = 6 };

static const double ONE[] = {2, 3, 4}, PAIR[] = {3, 4, 5, 6, 1, 1}, CENTERS[] = {1.5 - 0.9937128, 0, 0, -4.5 - 0.9937128, 0, 0};
static const double ONE_INERTIA[] = {5, 0, 0, 0, 4, 0, 0, 0, 2.6}, BOX_INERTIA[] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
static const double PAIR_INERTIA[] = {7.5932718, 0, 0, 0, 9.9326434, 0, 0, 0, 8.2731252};
#define Q 1.7320508075688772
static const double BOX[] = {-Q, -Q, -Q, Q, -Q, -Q, -Q, Q, -Q, Q, Q, -Q, -Q, -Q, Q, Q, -Q, Q, -Q, Q, Q, Q, Q, Q};

typedef struct published {
    carom_shape_data shape;
    const double *inertia;
    bool tilted;
    double times[KNOWN_IMPACTS], impulse, momentum[3], angular[3], energy;
    double second_errors[4], fourth_error;  // allowed at h = 0.01: of the first four times at order 2, of all four at order 4
} published;

// At order 2 the box is on another trajectory after the second impact.
static const published cases[CASES] = {
    {{.ellipsoids = 1, .semiaxes = ONE},
     ONE_INERTIA,
     false,
     {2.64913234317539, 4.89453052942347, 5.35206125190704, 6.52504340307982, 9.46167823241175, 11.2062715017734},
     27.586410197743056,
     {2, 2, 11.607296504542049},
     {-4.65399876522746, 15.713414120086696, 13.286522661055397},
     158.74342307692308,
     {3.5e-6, 6e-4, 2e-3, 5.1e-3},
     2e-6},
    {{.ellipsoids = 1, .semiaxes = ONE},
     ONE_INERTIA,
     true,
     {2.65826047731505, 4.53847870611144, 7.23696220229809, 7.35470567894901, 10.5511037000983, 11.8399016069117},
     26.059901952062724,
     {2.9094774622435113, 2, 9.975396854046863},
     {-5.036342618967984, 20.49324908789556, 12.228598498551687},
     158.74342307692308,
     {6.4e-6, 1.3e-3, 1.4e-3, 2e-2},
     1e-5},
    {{.ellipsoids = 2, .semiaxes = PAIR, .centers = CENTERS},
     PAIR_INERTIA,
     false,
     {2.00929383478525, 2.92887029547532, 5.89033286254964, 6.23852200485927, 8.82396080163620, 11.4418350371437},
     6.907452338910812,
     {2, 2, -2.7969890459860385},
     {3.3095301062343956, 26.3964261760691, -12.995322375379667},
     154.89247581166669,
     {5.3e-6, 1.2e-5, 1e-3, 3.2e-2},
     2e-6},
    {{.vertices = 8, .vertex = BOX, .rounding = 1e-13},
     BOX_INERTIA,
     false,
     {2.60887286080872, 3.65775115320798, 6.54510746224091, 8.80919395166536, 10.8965716473975, 13.1938850538218},
     20.52924140388967,
     {2, 2, 4.944938363439774},
     {8.975648902498463, 16.485955709658796, -11.510306807160333},
     164.0665,
     {8.6e-5, 2.3e-4, 0.08, INFINITY},
     4e-4},
};

static inline carom_body *create_body(const carom_shape_data *shape, double mass, const double *inertia) {
    carom_body *body;
    carom_error error;
    const carom_body_data data = {.mass = mass, .inertia = inertia, .shape = *shape};
    assert_ok(carom_body_create(&data, &body, &error), error);
    return body;
}

static const carom_body_state COMMON_START = {{0, 0, 10}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {2, 2, 10}, {4, -4, 4}};

static inline carom_body_motion motion_of(const carom_body *body, bool tilted) {
    const double angle = tilted ? 2 * 0.017453292519943295 : 0;
    return (carom_body_motion){body, 9.80665, {sin(angle), 0, cos(angle)}, 0, COMMON_START};
}

// An ellipsoid lying flat, a height above the plane.
static inline carom_body_motion lying(const carom_body *body, double height) {
    return (carom_body_motion){body, 9.80665, {0, 0, 1}, 0, {{0, 0, 4 + height}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0}, {0}}};
}

// Runs with options given as name, text pairs, NULL at the end.
static inline carom_status try_run(const carom_body_motion *body, const char *const *pairs, const carom_sink *states,
                                   carom_motion_answer *answer, carom_error *error) {
    const carom_motion motion = {.form = CAROM_MOTION_BODY, .body = body};
    return run_integrator("lgvci", &motion, pairs, NULL, states, answer, error);
}

static inline carom_motion_answer run(const carom_body_motion *body, const char *const *pairs) {
    carom_motion_answer answer;
    carom_error error;
    assert_ok(try_run(body, pairs, NULL, &answer, &error), error);
    return answer;
}

static inline carom_motion_answer run_for(const carom_body_motion *body, const char *order, double step, double duration) {
    char steps[32], durations[32];
    snprintf(steps, sizeof steps, "%.17g", step);
    snprintf(durations, sizeof durations, "%.17g", duration);
    return run(body, (const char *[]){"order", order, "step", steps, "duration", durations, NULL});
}

static inline void random_rotation(carom_stream *stream, double R[9]) {
    double c[3];
    for (int i = 0; i < 3; i++) c[i] = carom_stream_normal(stream);
    carom_rotation_matrix(c, R);
}

// A random inertia with valid principal moments, in a random frame.
static inline void random_inertia(carom_stream *stream, double J[9]) {
    double R[9], spread[3], scaled[9];
    random_rotation(stream, R);
    for (int i = 0; i < 3; i++) spread[i] = 0.2 + carom_stream_uniform(stream);
    for (int i = 0; i < 9; i++) scaled[i] = R[i] * (spread[0] + spread[1] + spread[2] - spread[i % 3]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            J[3 * i + j] = 0;
            for (int k = 0; k < 3; k++) J[3 * i + j] += scaled[3 * i + k] * R[3 * j + k];
        }
    for (int i = 0; i < 9; i++) J[i] = J[3 * (i % 3) + i / 3];
}

// A random body, off-center and not symmetric, above a random plane: ellipsoids, an intersection, a hull.
typedef struct random_case {
    double semiaxes[6], centers[6], vertex[30], inertia[9];
    carom_body *body;
    carom_body_motion motion;
} random_case;

static inline void draw_case(carom_stream *stream, int kind, random_case *drawn) {
    for (int i = 0; i < 6; i++) drawn->semiaxes[i] = 0.5 + carom_stream_uniform(stream);
    for (int i = 0; i < 6; i++) drawn->centers[i] = 0.2 * carom_stream_normal(stream);
    for (int i = 0; i < 30; i++) drawn->vertex[i] = carom_stream_normal(stream);
    random_inertia(stream, drawn->inertia);
    carom_shape_data shape = {.ellipsoids = 2, .semiaxes = drawn->semiaxes, .centers = drawn->centers};
    if (kind == 1) shape.combine = CAROM_COMBINE_INTERSECTION;
    if (kind == 2) shape = (carom_shape_data){.vertices = 10, .vertex = drawn->vertex, .rounding = 0.1};
    drawn->body = create_body(&shape, 1.3, drawn->inertia);
    carom_body_motion *m = &drawn->motion;
    *m = (carom_body_motion){.body = drawn->body, .gravity = 9.81, .plane_offset = carom_stream_normal(stream)};
    for (int i = 0; i < 3; i++) m->plane_normal[i] = i < 2 ? 0.1 * carom_stream_normal(stream) : 1;
    const double length = carom_norm3(m->plane_normal);
    for (int i = 0; i < 3; i++) m->plane_normal[i] /= length;
    m->plane_offset /= length;
    m->initial.position[2] = 8 - m->plane_offset;
    random_rotation(stream, m->initial.attitude);
    for (int i = 0; i < 3; i++) {
        m->initial.momentum[i] = 2 * carom_stream_normal(stream);
        m->initial.angular_momentum[i] = 2 * carom_stream_normal(stream);
    }
}

#endif
