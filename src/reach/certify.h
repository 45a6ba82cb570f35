// SPDX-License-Identifier: Apache-2.0
/// @file
/// Certificates that steps of time stepping are solutions of the inclusion. Not installed.
#ifndef CAROM_REACH_CERTIFY_H
#define CAROM_REACH_CERTIFY_H

#include "carom/impact.h"
#include "carom/step.h"

/// Decides for one impact, with workspace; not to be shared between threads.
typedef struct carom_certifier carom_certifier;

/// @param instructions  of this machine; they do not change what is decided
carom_status carom_certifier_create(const carom_impact *impact, carom_instructions instructions, carom_certifier **certifier,
                                    carom_error *error);
void carom_certifier_free(carom_certifier *certifier);

/// Is there a solution of the inclusion, with round cones, from the start of a verified step to its end? A step applies the friction
/// of its end to its whole impulse: where slip reverses or turns, its end may lie outside the set by O(h), and in space also because its
/// friction has the directions of linearised cones alone. True is certain, to 2e-9 of the velocity
/// scale; false says that neither the straight line nor, in the plane, the solution that spends each normal impulse evenly ends there.
/// @param u, impulse  contact velocity at the start, and the impulse of the step; component c stands at c * stride
bool carom_certify_step(carom_certifier *certifier, const double *u, const double *impulse, size_t stride);

#endif
