// SPDX-License-Identifier: Apache-2.0
/// @file
/// The rows of the table of laws.
#ifndef CAROM_LAWS_INTERNAL_H
#define CAROM_LAWS_INTERNAL_H

#include "carom/laws.h"

extern const carom_law carom_law_anitescu_potra, carom_law_halm_posa, carom_law_moreau, carom_law_routh, carom_law_sequential;

#endif
