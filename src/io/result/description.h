// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a result file says of its impact beside the matrices: names of velocities, and where the contacts are. Files of older versions say
/// nothing.
#ifndef CAROM_IO_RESULT_DESCRIPTION_H
#define CAROM_IO_RESULT_DESCRIPTION_H

#include "io/result/file.h"

/// Names and kinds of velocities, as they are read.
typedef struct carom_velocity_names {
    int nv;                    ///< 0 in contact space
    const char *const *names;  ///< [nv]; NULL: none in the file
    const bool *turns;         ///< [nv]; NULL: not known
} carom_velocity_names;

/// Reads names of velocities into `memory`.
carom_status carom_result_read_velocity_names(const carom_result *result, carom_velocity_names *velocities, carom_arena *memory,
                                              carom_error *error);
/// Reads where the contacts are into `memory`; `*geometry` is NULL where the file does not say.
carom_status carom_result_read_geometry(const carom_result *result, const carom_contact_geometry **geometry, carom_arena *memory,
                                        carom_error *error);

#endif
