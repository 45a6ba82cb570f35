// SPDX-License-Identifier: Apache-2.0
/// @file
/// "Did you mean": the name nearest to a misspelt one.
#ifndef CAROM_SUGGEST_H
#define CAROM_SUGGEST_H

#include "carom/api.h"

CAROM_API_BEGIN

/// Room for what carom_suggestion_phrase writes.
enum { CAROM_SUGGESTION_SIZE = 128 };

/// The nearest of the names offered so far.
typedef struct carom_suggestion {
    const char *wanted;  ///< what was written
    const char *best;    ///< NULL when none is near
    int distance;
} carom_suggestion;

/// Offers a name. Near are names that one letter changed, added or left out makes of the other, two in names of more than four letters, and
/// names that begin with three or more letters of what was written. The first of the nearest stays.
/// Cost: the product of the lengths.
void carom_suggestion_offer(carom_suggestion *suggestion, const char *name);

/// "; did you mean 'NAME'?", or nothing where no name is near.
/// @return text
const char *carom_suggestion_phrase(const carom_suggestion *suggestion, char text[CAROM_SUGGESTION_SIZE]);

/// The same for `count` names at once: offers all of them and writes the phrase.
const char *carom_suggest(const char *wanted, const char *const *names, int count, char text[CAROM_SUGGESTION_SIZE]);

CAROM_API_END

#endif
