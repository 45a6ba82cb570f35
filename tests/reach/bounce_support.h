// SPDX-License-Identifier: Apache-2.0
/// @file
/// Walks with restitution, one by one.
#ifndef CAROM_TESTS_BOUNCE_SUPPORT_H
#define CAROM_TESTS_BOUNCE_SUPPORT_H

#include <string.h>

#include "support.h"

enum { MOST = 64 };

/// One bounce, with its contact velocities and its record of works.
typedef struct bounce {
    double v[MOST], u[MOST], impulse[MOST], record[CAROM_REBOUND_FIELDS * MOST];
    carom_sample_counts counts;
} bounce;

/// A walker of at most `pieces` pieces; `restitution` NaN: the impact's.
static inline carom_walker *make_bouncer(const carom_impact *impact, carom_hypothesis hypothesis, double restitution, carom_weights weights,
                                         int64_t pieces) {
    const carom_walker_options options = {pieces, (int)weights, {(int)hypothesis, {restitution, restitution}}, 0};
    carom_walker *walker;
    carom_error error;
    assert_ok(carom_walker_create(impact, &options, &walker, &error), error);
    return walker;
}

static inline bounce run(carom_walker *walker, const carom_impact *impact, int64_t index) {
    bounce b;
    carom_walker_run(walker, 1, index, b.v, b.impulse, &b.counts);
    carom_impact_contact_velocity(impact, b.v, b.u);
    memcpy(b.record, carom_walker_bounces(walker),
           CAROM_REBOUND_FIELDS * (size_t)carom_impact_get_data(impact)->contacts * sizeof *b.record);
    return b;
}

#endif
