// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the laws share among themselves.
#ifndef CAROM_LAWS_INTERNAL_H
#define CAROM_LAWS_INTERNAL_H

#include "carom/laws.h"

/// Sets the verdict alone: for laws without impact steps, where nothing is selected.
carom_status carom_law_set_verdict(const carom_law_call *call, carom_verdict verdict, carom_error *error);

/// Gives a call options and solvers where the caller left them out: the law's defaults, and the core's.
/// @param options, solvers  to be freed after the call, also after a failure; NULL where the caller has them
carom_status carom_law_complete(const carom_law *law, carom_law_call *call, void **options, carom_registry **solvers, carom_error *error);

/// Reads contact names with commas between them, as in "A,B,A".
/// @param list  receives the numbers of the contacts, -1 for a name that the impact does not have; to be freed
carom_status carom_law_read_contacts(const carom_impact *impact, const char *text, int **list, int *count, carom_error *error);
/// Writes "; did you mean 'NAME'?" about the first name of such a text that is no contact's, where a contact's name is near.
/// @return phrase
const char *carom_law_suggest_contact(const carom_impact *impact, const char *text, char phrase[CAROM_SUGGESTION_SIZE]);

/// Writes the impulse of one contact into `impulse` ([n], contact-major), whose other entries are left alone.
void carom_contact_place_impulse(const carom_impact *impact, int contact, const carom_contact_vector *total, double *impulse);

#endif
