// SPDX-License-Identifier: Apache-2.0
// Generalised velocities in a few lines, by the names of their joints.
#include <string.h>

#include "cli/cli_internal.h"

enum {
    SHOWN_WIDTH = 100,  // columns of a line
    SHOWN_LINES = 4,    // of velocities, unless all are wanted
    INDENT = 8,         // of the lines that follow the first
    ENTRY_SIZE = CAROM_MAX_NAME + 32,
};

void cli_print_velocities(const char *label, const carom_impact_data *data, const double *v, bool full) {
    // Of many velocities those that are not zero.
    int zeros = 0, lines = 1, shown = 0;
    for (int i = 0; i < data->nv; i++) zeros += v[i] == 0;
    const bool all = full || data->nv <= SHOWN_LINES * 4 || zeros == data->nv;
    // Their unit, and how many are left out.
    bool turns = false, slides = false;
    for (int i = 0; i < data->nv && data->velocity_turns; i++) {
        turns = turns || data->velocity_turns[i];
        slides = slides || !data->velocity_turns[i];
    }
    int column = printf("%s", label);
    if (turns || slides) column += printf(" [%s%s%s]", slides ? "m/s" : "", turns && slides ? ", " : "", turns ? "rad/s" : "");
    if (!all && zeros) column += printf(" (%d are 0)", zeros);
    for (int i = 0; i < data->nv; i++) {
        if (!all && v[i] == 0) continue;
        char entry[ENTRY_SIZE], number[16];
        snprintf(number, sizeof number, "v.%d", i + 1);
        snprintf(entry, sizeof entry, "  %s %.6g", data->velocity_names ? data->velocity_names[i] : number, v[i]);
        const int width = (int)strlen(entry);
        if (column + width > SHOWN_WIDTH && shown) {
            if (!full && lines == SHOWN_LINES) {
                printf("  ... (--full)");
                break;
            }
            printf("\n%*s", INDENT, "");
            column = INDENT;
            lines++;
        }
        column += printf("%s", entry);
        shown++;
    }
    putchar('\n');
}
