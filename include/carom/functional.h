// SPDX-License-Identifier: Apache-2.0
/// @file
/// Names of contact velocities, and linear functionals of outcomes as users write them: 2*Jn.A - Jt.B.2 + 0.5*v.3.
#ifndef CAROM_FUNCTIONAL_H
#define CAROM_FUNCTIONAL_H

#include "carom/arena.h"
#include "carom/impact.h"

CAROM_API_BEGIN

/// The contact velocities of a problem by name: the normal ones, then the tangential ones contact by contact.
typedef struct carom_axes {
    int contacts, count;       ///< the first `contacts` of them are normal velocities
    const char *const *names;  ///< [count] Jn.CONTACT; Jt.CONTACT for the first tangent, Jt.CONTACT.2 for the second
    const int *places;         ///< [count] in contact space: per contact the normal, then the tangents
    carom_arena memory;
} carom_axes;

/// @param names  [contacts]
carom_status carom_axes_create(int contacts, int tangent_dim, const char *const *names, carom_axes *axes, carom_error *error);
void carom_axes_free(carom_axes *axes);

/// Indices of at least `least` axes in a text of names with commas between them, as in "Jn.A,Jt.B.2". Names of contacts may
/// hold blanks and dots: the longest name counts.
/// @param most    room in `chosen`
/// @param count   receives how many there are
/// @return CAROM_BAD_INPUT with the names that are valid
carom_status carom_axes_parse(const carom_axes *axes, const char *text, int least, int most, int *chosen, int *count, carom_error *error);

/// A linear functional of an outcome: contact . u + velocity . v.
typedef struct carom_functional {
    double *contact;   ///< [n] factors of contact velocities, contact-major
    double *velocity;  ///< [nv] factors of generalised velocities; of an impact in contact space all are zero
} carom_functional;

/// Reads a linear functional (carom/expression.h) of the contact velocities by name and, where the impact has a system, of its generalised
/// velocities v.1 to v.NV.
/// @return CAROM_BAD_INPUT with what is wrong and the names that are valid
carom_status carom_functional_parse(const carom_impact *impact, const char *text, carom_functional *functional, carom_error *error);
void carom_functional_release(carom_functional *functional);

CAROM_API_END

#endif
