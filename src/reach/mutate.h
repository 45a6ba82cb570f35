// SPDX-License-Identifier: Apache-2.0
/// @file
/// Small and large changes of the tape of a walk. Not installed.
#ifndef CAROM_REACH_MUTATE_H
#define CAROM_REACH_MUTATE_H

#include "carom/reach.h"

/// Makes `child` a random change of `parent`: of some numbers of a piece, of whole pieces, or by the end of `mate`.
void carom_tape_mutate(const carom_impact *impact, const carom_tape *parent, const carom_tape *mate, carom_stream *stream,
                       carom_tape *child);

/// Pieces that the tape has numbers for.
int carom_tape_pieces(const carom_tape *tape);

#endif
