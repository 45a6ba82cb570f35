// SPDX-License-Identifier: Apache-2.0
/// @file
/// Names of contact velocities, and functionals of outcomes as users write them: 2*Jn.A - Jt.B.2 + 0.5*knee_left.
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

/// What the quantities of an impact are called. Borrowed texts.
typedef struct carom_quantities {
    int contacts, tangent_dim;
    const char *const *contact_names;   ///< [contacts]
    int nv;                             ///< 0 in contact space
    const char *const *velocity_names;  ///< [nv]; NULL: only v.1, v.2, ...
    const bool *velocity_turns;         ///< [nv]; NULL: units of velocities are not known
} carom_quantities;

carom_quantities carom_impact_quantities(const carom_impact *impact);

/// A functional of an outcome: contact . u + velocity . v + impulse . P + energy * K, linear but for the energy ratio K.
typedef struct carom_functional {
    int n, nv;
    double *contact;    ///< [n] factors of contact velocities, contact-major
    double *velocity;   ///< [nv] factors of generalised velocities
    double *impulse;    ///< [n] factors of impulses, contact-major
    double energy;      ///< factor of the energy ratio
    const char *unit;   ///< "m/s", "rad/s", "N s"; "" for the energy ratio, for what is not known, and for sums of different things
    bool has_velocity;  ///< some factor of a generalised velocity is not 0
    bool has_impulse;
} carom_functional;

/// Reads a functional (carom/expression.h), a sum of multiples of
/// - Jn.CONTACT, and Jt.CONTACT or Jt.CONTACT.1 and Jt.CONTACT.2: contact velocities after the impact
/// - v.I, I from 1, or v.NAME, or NAME alone: velocities by their joints; `base` stands for the joint of the first six velocities that are
///   called PREFIX.x, .y, .z, .wx, .wy, .wz where no velocity has that name itself
/// - Pn.CONTACT, Pt.CONTACT[.1|.2]: impulses
/// - K: the energy ratio
///
/// A velocity called K, pi or sqrt, or with a name that begins with Jn., Jt., Pn., Pt., v., a digit or a point is v.NAME only, and where
/// NAME is a number, that is an index.
/// @return CAROM_BAD_INPUT with what is wrong, and the names that are valid or the nearest one
carom_status carom_functional_read(const carom_quantities *quantities, const char *text, carom_functional *functional, carom_error *error);
/// The same with the quantities of an impact.
carom_status carom_functional_parse(const carom_impact *impact, const char *text, carom_functional *functional, carom_error *error);
void carom_functional_release(carom_functional *functional);

/// Reads `least` to `most` functionals with commas between them, the axes of a picture or a hull.
/// @param chosen  receives `count` functionals, to be released; none after a failure
/// @param texts   [most] receives the text of each without blanks around it, in `memory`; NULL where nobody asks
carom_status carom_functional_read_list(const carom_quantities *quantities, const char *text, int least, int most, carom_functional *chosen,
                                        const char **texts, int *count, carom_arena *memory, carom_error *error);

/// What functionals are of: one outcome. Parts that a functional does not have may be NULL.
typedef struct carom_outcome_point {
    const double *u, *v, *impulse;  ///< [n], [nv], [n]
    double energy_ratio;
} carom_outcome_point;

/// Its value; NaN where something that it has is not determined.
double carom_functional_value(const carom_functional *functional, const carom_outcome_point *point);

CAROM_API_END

#endif
