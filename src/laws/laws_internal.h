// SPDX-License-Identifier: Apache-2.0
/// @file
/// The rows of the table of laws, and what their files share.
#ifndef CAROM_LAWS_INTERNAL_H
#define CAROM_LAWS_INTERNAL_H

#include "carom/laws.h"

extern const carom_law carom_law_anitescu_potra, carom_law_halm_posa, carom_law_moreau, carom_law_propagative, carom_law_routh,
    carom_law_sequential;

/// Sets the two common result columns.
carom_status carom_law_conclude(const carom_law_call *call, carom_verdict verdict, carom_selection selection, carom_error *error);

/// Hands a finished table of outcomes to the call's sink.
carom_status carom_law_emit(const carom_law_call *call, const carom_table *outcomes, carom_error *error);

#endif
