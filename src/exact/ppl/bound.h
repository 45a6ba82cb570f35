// SPDX-License-Identifier: Apache-2.0
/// @file
/// Outer bounds that always come out: by energy and impulses alone.
#ifndef CAROM_EXACT_PPL_BOUND_H
#define CAROM_EXACT_PPL_BOUND_H

#include "exact/ppl/fixpoint.h"

/// The box around the ellipsoid of velocities with no more energy than before the impact.
exact_polyhedron exact_energy_box(exact_session *session, const exact_data *data);

/// What the energy allows with no contact approaching and one at rest: the box's part in T. Cheap in every dimension that is tried.
void exact_energy_bound(exact_session *session, const exact_cells *cells, exact_polyhedron box, exact_pieces *bound);
/// What impulses in the friction cones lead to, without more energy, with no contact approaching and one at rest that had been active.
void exact_impulse_bound(exact_session *session, const exact_cells *cells, exact_polyhedron box, exact_pieces *bound);

#endif
