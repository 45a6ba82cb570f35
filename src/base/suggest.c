// SPDX-License-Identifier: Apache-2.0
// The name nearest to a misspelt one, by Levenshtein's distance, in which two letters that change places are one slip.
#include "carom/suggest.h"

#include <stdio.h>
#include <string.h>

enum {
    LONGEST_SUGGESTION = 100,  // bytes: longer than any name of a contact or a joint
    SHORT_NAME = 4,            // two slips in a word of four letters make another word
    SHORTEST_BEGINNING = 3,    // letters that say which name was meant
};

void carom_suggestion_offer(carom_suggestion *suggestion, const char *name) {
    const char *wanted = suggestion->wanted;
    const size_t rows = strlen(wanted), columns = strlen(name);
    if (rows > LONGEST_SUGGESTION || columns > LONGEST_SUGGESTION) return;

    // Levenshtein's distance, row by row of its table: change, remove or insert a letter, or exchange two.
    int before[LONGEST_SUGGESTION + 1], previous[LONGEST_SUGGESTION + 1], current[LONGEST_SUGGESTION + 1];
    for (size_t j = 0; j <= columns; j++) previous[j] = (int)j;
    for (size_t i = 1; i <= rows; i++) {
        current[0] = (int)i;
        for (size_t j = 1; j <= columns; j++) {
            const int change = previous[j - 1] + (wanted[i - 1] != name[j - 1]);
            const int gap = 1 + (previous[j] < current[j - 1] ? previous[j] : current[j - 1]);
            current[j] = change < gap ? change : gap;
            const bool swapped = i > 1 && j > 1 && wanted[i - 1] == name[j - 2] && wanted[i - 2] == name[j - 1];
            if (swapped && before[j - 2] + 1 < current[j]) current[j] = before[j - 2] + 1;
        }
        memcpy(before, previous, sizeof before);
        memcpy(previous, current, sizeof previous);
    }
    int distance = previous[columns];

    // A beginning counts less than any misspelling.
    const int most = columns > SHORT_NAME ? 2 : 1;
    if (distance > most && rows >= SHORTEST_BEGINNING && !strncmp(wanted, name, rows))
        distance = most + 1;
    else if (distance > most)
        return;
    if (suggestion->best && distance >= suggestion->distance) return;
    suggestion->best = name;
    suggestion->distance = distance;
}

const char *carom_suggestion_phrase(const carom_suggestion *suggestion, char text[CAROM_SUGGESTION_SIZE]) {
    *text = '\0';
    if (suggestion->best) snprintf(text, CAROM_SUGGESTION_SIZE, "; did you mean '%s'?", suggestion->best);
    return text;
}

const char *carom_suggest(const char *wanted, const char *const *names, int count, char text[CAROM_SUGGESTION_SIZE]) {
    carom_suggestion suggestion = {.wanted = wanted};
    for (int i = 0; i < count; i++) carom_suggestion_offer(&suggestion, names[i]);
    return carom_suggestion_phrase(&suggestion, text);
}
