// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of one contact with friction and restitution share: a registry, contacts, their solution, and the laws of mechanics that
/// it obeys.
#ifndef CAROM_TESTS_STRONGE_SUPPORT_H
#define CAROM_TESTS_STRONGE_SUPPORT_H

#include <math.h>
#include <string.h>

#include "support.h"

static carom_registry *registry;

static inline int start(void **state) {
    (void)state;
    return carom_registry_create(&registry, NULL) != CAROM_OK;
}

static inline int stop(void **state) {
    (void)state;
    carom_registry_free(registry);
    return 0;
}

// Full accuracy, for facts that hold exactly.
static const double FINEST = 1e-15;

static inline carom_contact_result solve_with(const carom_contact_problem *problem, carom_restitution hypothesis, double tolerance) {
    carom_contact_options options = carom_contact_defaults();
    options.hypothesis = hypothesis;
    options.tolerance = tolerance;
    carom_contact_result result;
    carom_error error;
    assert_ok(carom_contact_solve(problem, &options, &result, &error), error);
    return result;
}

static inline carom_contact_result solve(const carom_contact_problem *problem) {
    return solve_with(problem, CAROM_RESTITUTION_STRONGE, FINEST);
}

static inline void unpack(const carom_contact_vector *v, double all[3]) {
    all[0] = v->tangent[0];
    all[1] = v->tangent[1];
    all[2] = v->normal;
}

static inline double carom_dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// y = W x
static inline void multiply(const carom_contact_problem *p, const double x[3], double y[3]) {
    y[0] = p->tangential[0] * x[0] + p->tangential[1] * x[1] + p->coupling[0] * x[2];
    y[1] = p->tangential[1] * x[0] + p->tangential[2] * x[1] + p->coupling[1] * x[2];
    y[2] = p->coupling[0] * x[0] + p->coupling[1] * x[1] + p->normal * x[2];
}

// x = B^-1 y in the tangent plane.
static inline void divide(const carom_contact_problem *p, const double y[2], double x[2]) {
    const double determinant = p->tangential[0] * p->tangential[2] - p->tangential[1] * p->tangential[1];
    x[0] = (p->tangential[2] * y[0] - p->tangential[1] * y[1]) / determinant;
    x[1] = (p->tangential[0] * y[1] - p->tangential[1] * y[0]) / determinant;
}

static inline double schur_of(const carom_contact_problem *p) {
    double x[2];
    divide(p, p->coupling, x);
    return p->normal - p->coupling[0] * x[0] - p->coupling[1] * x[1];
}

// v' W^-1 v / 2: the least kinetic energy of a system with this contact velocity.
static inline double energy_of(const carom_contact_problem *p) {
    const double *g = p->velocity.tangent;
    double x[2];
    divide(p, g, x);
    const double rest = p->velocity.normal - p->coupling[0] * x[0] - p->coupling[1] * x[1];
    return 0.5 * (g[0] * x[0] + g[1] * x[1] + rest * rest / schur_of(p));
}

// W = A A' + 0.05 I with A standard normal; friction log-uniform between its bounds; slip standard normal, approaching.
static inline carom_contact_problem random_contact(carom_stream *stream, double least_friction, double most_friction) {
    double A[9], W[9];
    for (int i = 0; i < 9; i++) A[i] = carom_stream_normal(stream);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) W[3 * i + k] = carom_dot3(A + 3 * i, A + 3 * k) + (i == k ? 0.05 : 0);
    carom_contact_problem p = {.tangential = {W[0], W[1], W[4]}, .coupling = {W[2], W[5]}, .normal = W[8]};
    p.friction = least_friction * pow(most_friction / least_friction, carom_stream_uniform(stream));
    p.restitution = carom_stream_uniform(stream);
    for (int i = 0; i < 2; i++) p.velocity.tangent[i] = carom_stream_normal(stream);
    p.velocity.normal = -fabs(carom_stream_normal(stream));
    return p;
}

// Truncated icosahedron against tetrahedron (Jia & Wang 2017, Fig. 3): W as printed, v- such that it reproduces their result.
static inline carom_contact_problem polyhedra(double friction, double dx, double dy, double dz) {
    return (carom_contact_problem){.tangential = {11.5984, -0.910367, 9.90134},
                                   .coupling = {2.442355, 1.957465},
                                   .normal = 2.59042,
                                   .friction = friction,
                                   .restitution = 0.95,
                                   .velocity = {{-0.26197583 + dx, 0.38632923 + dy}, -0.07717472 + dz}};
}

static const carom_contact_problem pin = {.tangential = {1.55465, .002386755, 5.15191},
                                          .coupling = {-.360808, -.00313296},
                                          .normal = 1.105,
                                          .friction = 0.7,
                                          .restitution = 0.7,
                                          .velocity = {{-.20691338, .11765509}, -1.5069}};

static const carom_contact_problem recompressed = {.tangential = {1.3673867067468835, -.3552972699915408, 1.1445678331877123},
                                                   .coupling = {-1.113238212468424, 1.027280275703944},
                                                   .normal = 2.027017404014809,
                                                   .friction = 1.9511482542630871,
                                                   .restitution = .7285106793313822,
                                                   .velocity = {{-.5881044010302925, -.48797982075893975}, -.28105909355479175}};

// v+ = v- + W I, the friction cone, no energy gain, the work law, the bound of the impulse, and a defined end.
static inline void check_mechanics(const carom_contact_problem *p, const carom_contact_result *r, double accuracy) {
    double I[3], before[3], after[3], change[3], mean[3];
    unpack(&r->impulse, I);
    unpack(&p->velocity, before);
    unpack(&r->velocity, after);
    multiply(p, I, change);
    double velocity_scale = 0;
    for (int k = 0; k < 3; k++)
        velocity_scale = fmax(velocity_scale, fabs(before[k]) + fabs(I[k]) * (p->tangential[0] + p->tangential[2] + p->normal));
    for (int k = 0; k < 3; k++) assert_true(fabs(before[k] + change[k] - after[k]) <= 1e-13 * velocity_scale);
    for (int k = 0; k < 3; k++) mean[k] = 0.5 * (before[k] + after[k]);

    assert_int_equal(r->status, CAROM_CONTACT_IMPACT);
    assert_true(I[2] > 0 && after[2] >= -1e-13 * velocity_scale);
    assert_true(hypot(I[0], I[1]) <= p->friction * I[2] * (1 + accuracy));
    assert_true(r->events[strlen(r->events) - 1] == 'r');

    // Works by the process, energy by its end points: they agree, and the energy does not grow.
    const double energy = energy_of(p), gain = carom_dot3(I, mean), e = p->restitution;
    const double works = r->restitution_work - r->compression_work - r->friction_work;
    assert_true(gain <= accuracy * energy);
    assert_true(fabs(gain - works) <= accuracy * energy);
    assert_true(r->friction_work >= 0);
    assert_true(fabs(r->restitution_work - e * e * r->compression_work) <= 1e-12 * r->compression_work);

    const double reach = fabs(before[2]) + p->friction * hypot(before[0], before[1]);
    assert_true(I[2] <= (1 + e) * reach / schur_of(p) * (1 + accuracy));
    if (r->sticks) assert_true(after[0] == 0 && after[1] == 0);
}

#endif
