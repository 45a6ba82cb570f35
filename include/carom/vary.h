// SPDX-License-Identifier: Apache-2.0
/// @file
/// The same impact with other numbers: friction, restitution, a velocity or the masses, by name. For sweeps over them.
#ifndef CAROM_VARY_H
#define CAROM_VARY_H

#include "carom/impact.h"

CAROM_API_BEGIN

/// A number of an impact.
typedef struct carom_parameter {
    enum {
        CAROM_PARAMETER_FRICTION,     ///< mu of a contact
        CAROM_PARAMETER_RESTITUTION,  ///< e of a contact
        CAROM_PARAMETER_VELOCITY,     ///< of v- [m/s, rad/s]; in contact space of u-
        CAROM_PARAMETER_MASS          ///< a factor of all masses, 1 for those that the impact has
    } kind;
    int index;  ///< of the contact, -1 for all of them; of the velocity
} carom_parameter;

/// Finds `mu`, `mu.CONTACT`, `restitution`, `restitution.CONTACT`, `mass`, `v.I` (I from 1), or a velocity by its name.
/// @return CAROM_BAD_INPUT for another name, with the one that was perhaps meant
carom_status carom_parameter_find(const carom_impact *impact, const char *name, carom_parameter *parameter, carom_error *error);

/// The impact with these values [count] of its parameters; everything else is the same, exact texts included. A value is taken for exact
/// computations as the double that it is. That of one contact goes before that of all of them, in whatever order they come.
/// @return CAROM_BAD_INPUT as carom_impact_create, for a value that the impact cannot have
carom_status carom_impact_vary(const carom_impact *impact, int count, const carom_parameter *parameters, const double *values,
                               carom_impact **varied, carom_error *error);

CAROM_API_END

#endif
