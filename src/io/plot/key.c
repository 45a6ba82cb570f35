// SPDX-License-Identifier: Apache-2.0
// Keys of pictures with a size on paper.
#include "io/plot/key.h"

#include <stdio.h>
#include <string.h>

// Between a sample and its text, and between entries [mm].
#define SAMPLE_GAP 1.5
#define ENTRY_GAP  4.0

enum { LINE_SIZE = 512 };

int carom_key_flow(int count, const carom_key_entry *entries, double left, double right, carom_key_visitor *visit, void *user) {
    double x = left;
    int row = 0;
    for (int i = 0; i < count; i++) {
        const carom_key_entry *entry = &entries[i];
        const double indent = entry->sample > 0 ? entry->sample + SAMPLE_GAP : 0;
        if (x > left && x + indent + CAROM_KEY_CHARACTER * (double)strlen(entry->text) > right) {
            x = left;
            row++;
        }
        if (visit) visit(user, i, x, row, NULL);
        // Words, as many as fit into a row.
        char line[LINE_SIZE] = "";
        for (const char *word = entry->text; *word;) {
            const size_t length = strcspn(word, " "), used = strlen(line);
            if (used && x + indent + CAROM_KEY_CHARACTER * (double)(used + 1 + length) > right) {
                if (visit) visit(user, i, x + indent, row, line);
                row++;
                *line = '\0';
                continue;
            }
            snprintf(line + used, sizeof line - used, "%s%.*s", used ? " " : "", (int)length, word);
            word += length;
            word += *word == ' ';
        }
        if (visit) visit(user, i, x + indent, row, line);
        x += indent + CAROM_KEY_CHARACTER * (double)strlen(line) + ENTRY_GAP;
    }
    return count ? row + 1 : 0;
}
