// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pointed friction cones: certificates that hold in exact arithmetic, and the shortest vector of the termination theory. Not installed.
#ifndef CAROM_REACH_POINTED_H
#define CAROM_REACH_POINTED_H

#include "carom/impact.h"

/// Is there a non-zero combination of the forces f_ij = Jn_i' + mu_i (Jt_i)'d_j, with weights >= 0, that vanishes (Halm & Posa 2023,
/// Assumption 2)? A vector s with s.f_ij > 0 for all of them proves that there is none; two normals that are exactly opposite, or weights
/// whose error is bounded while 0 lies in the interior of the hull, prove that there is one. The numbers of the impact, and of the
/// directions of spatial cones, are taken as they stand in double precision; every sum is bounded together with its rounding.
/// @param pointed    true where proved
/// @param certified  true where either was proved
carom_status carom_pointed_decide(const carom_impact *impact, int edges, bool *pointed, bool *certified, carom_error *error);

/// The least ||r||_2 with r.M^-1 f_ij >= 1 for all i, j: Lemma 6. NaN where none was found.
carom_status carom_pointed_least_r(const carom_impact *impact, int edges, double *r_norm, carom_error *error);

#endif
