// SPDX-License-Identifier: Apache-2.0
// How a comparison writes velocities, shares and texts.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "cli/compare/compare.h"

double cli_show_velocity(const cli_comparison *comparison, double velocity) {
    return fabs(velocity) <= -carom_impact_approach_limit(comparison->impact) ? 0 : velocity;
}

void cli_describe_share(int64_t count, int64_t outcomes, char *text, size_t size) {
    const double percent = 100 * (double)count / (double)outcomes;
    // Rounding must turn neither a few into none nor nearly all into all.
    if (count == 0 || count == outcomes)
        snprintf(text, size, "%d %%", count ? 100 : 0);
    else if (percent < 0.1)
        snprintf(text, size, "<0.1 %%");
    else
        snprintf(text, size, "%.1f %%", fmin(percent, 99.9));
}

void cli_put_text(FILE *file, const char *text) {
    static const char special[] = "\\`*_[]<>|~&#$";
    for (const char *c = text; *c; c++) {
        // An underscore within a word and an ampersand before a blank mean nothing.
        const bool plain =
            (*c == '_' && c > text && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1])) || (*c == '&' && c[1] == ' ');
        if (strchr(special, *c) && !plain) fputc('\\', file);
        fputc((unsigned char)*c < 0x20 ? ' ' : *c, file);
    }
}
