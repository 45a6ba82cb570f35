// SPDX-License-Identifier: Apache-2.0
/// @file
/// Impacts of `lgvci` that a law decides.
#ifndef CAROM_DYNAMICS_LGVCI_LAW_H
#define CAROM_DYNAMICS_LGVCI_LAW_H

#include "dynamics/lgvci/lgvci.h"

typedef struct lgvci_law {
    bool named;   // by the scene: it decides single contacts too. Otherwise `moreau`, for several at once
    bool singly;  // it takes one contact: several at once collide one after the other
    const carom_law *law;
    void *options;
    double friction, restitution;  // NaN: what the law's options say
    int64_t seed;
    int most;                 // contacts that are looked at
    lgvci_contact *contacts;  // [most], those that touch
    double *rows;             // workspace of the impact
} lgvci_law;

/// @return CAROM_BAD_INPUT for an unknown law or a value that it refuses. Released in every case.
carom_status lgvci_law_create(const lgvci *run, const carom_motion_call *call, lgvci_law *law, carom_error *error);
void lgvci_law_release(lgvci_law *law);

/// Asks the law about the first `count` contacts: the state gets the momenta of its first outcome. A law that takes one contact (`applies`)
/// is asked about the one that approaches fastest, which is then the first.
/// @param index   of the impact: the law's seed is raised by it
/// @param solved  false when the law has no complete answer
carom_status lgvci_law_apply(const lgvci *run, const carom_motion_call *call, lgvci_law *law, int64_t index, int count,
                             carom_body_state *state, bool *solved, carom_error *error);

#endif
