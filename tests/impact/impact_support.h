// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of the impact share: matrices, comparisons of bits, data that a test may spoil, and the contact-space form of an impact.
#ifndef CAROM_TESTS_IMPACT_SUPPORT_H
#define CAROM_TESTS_IMPACT_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

// Indexes a row-major matrix.
#define AT(A, columns, i, j) ((A)[(size_t)(i) * (size_t)(columns) + (size_t)(j)])

static inline double *make_doubles(int count) {
    double *values = calloc((size_t)count, sizeof *values);
    assert_non_null(values);
    return values;
}

static inline bool same_bits(const double *a, const double *b, int count) { return memcmp(a, b, (size_t)count * sizeof *a) == 0; }

static inline void assert_no_negative_zeros(const double *values, int count) {
    for (int i = 0; i < count; i++) assert_false(values[i] == 0 && signbit(values[i]));
}

// The rocking block as data that a test may spoil: [2 contacts, 3 velocities], and its contact-space form.
typedef struct draft {
    double mass[9], normal[6], tangent[6], friction[2], restitution[2], velocity[3];
    double delassus[16], contact_velocity[4];
    const char *names[2];
    carom_impact_data data;
    carom_delassus_data contact_data;
} draft;

static inline void start_draft(draft *made) {
    const carom_impact_data *block = &reference_block;
    *made = (draft){.restitution = {0, 1}, .names = {"left", "right"}, .contact_velocity = {-1, 0, -1, 0}};
    memcpy(made->mass, block->mass, sizeof made->mass);
    memcpy(made->normal, block->normal, sizeof made->normal);
    memcpy(made->tangent, block->tangent, sizeof made->tangent);
    memcpy(made->friction, block->friction, sizeof made->friction);
    memcpy(made->velocity, block->velocity, sizeof made->velocity);
    const double W[] = {1.6, -1.2, 0.4, -1.2, -1.2, 3.4, 1.2, 3.4, 0.4, 1.2, 1.6, 1.2, -1.2, 3.4, 1.2, 3.4};
    memcpy(made->delassus, W, sizeof W);
    made->data = (carom_impact_data){.nv = 3,
                                     .contacts = 2,
                                     .tangent_dim = 1,
                                     .mass = made->mass,
                                     .normal = made->normal,
                                     .tangent = made->tangent,
                                     .friction = made->friction,
                                     .restitution = made->restitution,
                                     .velocity = made->velocity,
                                     .names = made->names};
    made->contact_data =
        (carom_delassus_data){2, 1, made->delassus, made->contact_velocity, made->friction, made->restitution, made->names};
}

// The same impact, from its Delassus operator and contact velocity alone.
static inline carom_impact *to_contact_space(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    double *u = make_doubles(carom_impact_contact_size(impact));
    carom_impact_contact_velocity(impact, data->velocity, u);
    const carom_delassus_data contact_data = {data->contacts,    data->tangent_dim, carom_impact_delassus(impact), u, data->friction,
                                              data->restitution, data->names};
    carom_error error;
    carom_impact *made = NULL;
    assert_ok(carom_impact_create_delassus(&contact_data, &made, &error), error);
    free(u);
    return made;
}

#endif
