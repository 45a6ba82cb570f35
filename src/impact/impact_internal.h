// SPDX-License-Identifier: Apache-2.0
// What the files of impacts share.
#ifndef CAROM_IMPACT_INTERNAL_H
#define CAROM_IMPACT_INTERNAL_H

#include "carom/impact.h"

// The first velocity k of M = L L' that moves with those before it at an energy below `limit` times that of the parts of the motion; -1:
// there is none. Scaling of velocities changes nothing, and no motion has a smaller share than M scaled to a unit diagonal has eigenvalues.
// `minor` is what the factorisation in a fixed order returned: its last row is such a velocity.
// `z` [nv] receives the motion up to k.
int carom_mass_find_weak(int nv, const double *mass, const double *factor, int minor, double limit, double *z, double *share);
// Shares below this are round-off of the entries of M, and might as well be negative.
double carom_mass_certain_share(int nv);

// The part of u that no velocity of a system with this W has, over the length of u; 0 for an impact with a mass matrix.
double carom_impact_range_defect(const carom_impact *impact);

#endif
