// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of the propagative model share: cradles, particles and random systems, and their outcomes.
#ifndef CAROM_TESTS_PROPAGATIVE_SUPPORT_H
#define CAROM_TESTS_PROPAGATIVE_SUPPORT_H

#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "support.h"

enum { MOST_BALLS = 8, MOST_OUTCOMES = 256, MOST_SIZE = 16 };

static const double PI = 3.14159265358979323846;

// ------------------------------------------------------------------------------------------------------------ problems

// Balls in a row, touching: contact i is between ball i and ball i + 1.
static inline carom_impact *make_cradle(const double *masses, const double *v, int balls) {
    double mass[MOST_BALLS * MOST_BALLS] = {0}, normal[MOST_BALLS * MOST_BALLS] = {0};
    for (int i = 0; i < balls; i++) mass[i * balls + i] = masses[i];
    for (int i = 0; i + 1 < balls; i++) {
        normal[i * balls + i] = -1;
        normal[i * balls + i + 1] = 1;
    }
    return support_impact(
        &(carom_impact_data){.nv = balls, .contacts = balls - 1, .tangent_dim = 1, .mass = mass, .normal = normal, .velocity = v});
}

// A particle of unit mass in `nv` dimensions before walls with these normals.
static inline carom_impact *make_particle(const double *normals, int contacts, const double *v, int nv) {
    double mass[MOST_SIZE * MOST_SIZE] = {0};
    for (int i = 0; i < nv; i++) mass[i * nv + i] = 1;
    return support_impact(
        &(carom_impact_data){.nv = nv, .contacts = contacts, .tangent_dim = 1, .mass = mass, .normal = normals, .velocity = v});
}

// Random masses, normals and velocity; `toward`: all contacts approach.
static inline carom_impact *make_random(carom_stream *stream, int contacts, int nv, bool toward) {
    double factor[MOST_SIZE * MOST_SIZE], mass[MOST_SIZE * MOST_SIZE], normal[MOST_SIZE * MOST_SIZE], v[MOST_SIZE];
    for (int i = 0; i < nv * nv; i++) factor[i] = carom_stream_normal(stream);
    carom_gram(nv, nv, factor, mass);
    for (int i = 0; i < nv; i++) mass[i * nv + i] += 0.3;
    for (int i = 0; i < contacts * nv; i++) normal[i] = carom_stream_normal(stream);
    for (;;) {
        for (int i = 0; i < nv; i++) v[i] = carom_stream_normal(stream);
        bool all = true;
        for (int c = 0; c < contacts; c++) all = all && carom_dot(nv, normal + c * nv, v) < 0;
        if (all || !toward) break;
    }
    return support_impact(
        &(carom_impact_data){.nv = nv, .contacts = contacts, .tangent_dim = 1, .mass = mass, .normal = normal, .velocity = v});
}

// ------------------------------------------------------------------------------------------------------------ outcomes

typedef struct outcome {
    double v[MOST_SIZE], impulse[MOST_SIZE];
    int64_t count, min_length, max_length;
    char word[64];  // digits
    bool marginal;
} outcome;

typedef struct outcomes {
    const carom_propagative *p;
    outcome list[MOST_OUTCOMES];
    int count;
    carom_verdict verdict;
} outcomes;

static inline carom_status keep(void *user, const carom_elastic_outcome *elastic, carom_error *error) {
    outcomes *all = user;
    // The rest is only counted.
    if (all->count++ >= MOST_OUTCOMES) return CAROM_OK;
    outcome *o = &all->list[all->count - 1];
    const int contacts = carom_impact_get_data(carom_propagative_impact(all->p))->contacts;
    *o = (outcome){
        .count = elastic->count, .min_length = elastic->min_length, .max_length = elastic->max_length, .marginal = elastic->marginal};
    memcpy(o->impulse, elastic->impulse, (size_t)contacts * sizeof *o->impulse);
    for (int k = 0; k < elastic->min_length && k < 63; k++) o->word[k] = (char)('0' + elastic->witness[k]);
    return carom_propagative_velocity(all->p, elastic->impulse, o->v, error);
}

static inline carom_propagative *bind(const carom_impact *impact) {
    carom_error error;
    carom_propagative *p;
    assert_ok(carom_propagative_create(impact, &p, &error), error);
    return p;
}

static inline outcomes enumerate_within(const carom_propagative *p, carom_word_set set, int64_t max_states) {
    outcomes all = {.p = p};
    carom_error error;
    carom_word_limits limits = carom_word_limits_defaults();
    limits.max_states = max_states;
    // No more outcomes than the list holds.
    limits.draws = MOST_OUTCOMES - 2;
    assert_ok(carom_propagative_enumerate(p, set, &limits, NULL, keep, &all, &all.verdict, &error), error);
    return all;
}

static inline outcomes enumerate(const carom_propagative *p, carom_word_set set) {
    return enumerate_within(p, set, carom_word_limits_defaults().max_states);
}

static inline outcomes follow(const carom_propagative *p, const carom_word_order *order) {
    outcomes all = {.p = p};
    carom_error error;
    const carom_word_limits limits = carom_word_limits_defaults();
    assert_ok(carom_propagative_follow(p, order, &limits, NULL, keep, &all, &all.verdict, &error), error);
    assert_int_equal(all.count, 1);
    return all;
}

static inline double distance(const carom_impact *impact, const double *a, const double *b) {
    double difference[MOST_SIZE];
    const int nv = carom_impact_get_data(impact)->nv;
    for (int k = 0; k < nv; k++) difference[k] = a[k] - b[k];
    return sqrt(2 * carom_impact_kinetic_energy(impact, difference));
}

static inline carom_uniqueness *study(const carom_impact *impact) {
    carom_error error;
    carom_uniqueness *u;
    carom_propagative *p = bind(impact);
    const carom_word_limits limits = carom_word_limits_defaults();
    assert_ok(carom_propagative_uniqueness(p, &limits, NULL, &u, &error), error);
    carom_propagative_free(p);
    return u;
}

#endif
