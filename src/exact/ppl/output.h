// SPDX-License-Identifier: Apache-2.0
/// @file
/// From rational pieces in y to polyhedra in contact velocities.
#ifndef CAROM_EXACT_PPL_OUTPUT_H
#define CAROM_EXACT_PPL_OUTPUT_H

#include "carom/joint_modes.h"
#include "carom/polyhedra.h"
#include "exact/ppl/fixpoint.h"

/// @return CAROM_OK also when the session stops; the pieces written until then are in `*polyhedra`
carom_status exact_output_create(exact_session *session, const exact_data *data, const exact_pieces *pieces, carom_polyhedra **polyhedra,
                                 carom_error *error);
/// Adds the joint modes that the pieces meet, each counted once for every piece.
/// @return as of exact_output_create; when the session stops, modes may be missing
carom_status exact_output_modes(exact_session *session, const exact_data *data, const exact_pieces *pieces, carom_joint_modes *modes,
                                carom_error *error);

#endif
