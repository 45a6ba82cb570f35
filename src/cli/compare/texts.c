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

bool cli_compare_caveat(const cli_comparison *comparison, char caveat[CAROM_CAVEAT_SIZE]) {
    int64_t approximate = 0, outcomes = 0;
    for (int i = 0; i < comparison->count; i++) {
        const carom_extent *extent = comparison->runs[i].extent;
        if (extent->approximate <= 0) continue;
        approximate += extent->approximate;
        outcomes += extent->outcomes;
    }
    return carom_outcomes_caveat(carom_impact_sizes(comparison->impact), approximate, outcomes, caveat);
}

const char *cli_outside_mark(const cli_run *run) { return run->extent->approximate > 0 ? "\\" CLI_OUTSIDE : ""; }

bool cli_bounces(const cli_comparison *comparison) {
    bool bounces = false;
    for (int i = 0; i < comparison->count; i++) {
        const cli_run *run = &comparison->runs[i];
        bounces = bounces || run->restitution.most > 0 || (run->unused & CAROM_UNUSED_RESTITUTION);
    }
    return bounces;
}

void cli_describe_restitution(const cli_run *run, char text[CLI_RESTITUTION_SIZE]) {
    char least[24], most[24];
    snprintf(least, sizeof least, "%.4g", run->restitution.least);
    snprintf(most, sizeof most, "%.4g", run->restitution.most);
    const char *meaning = run->hypothesis ? run->hypothesis : "";
    if (isnan(run->restitution.least))
        snprintf(text, CLI_RESTITUTION_SIZE, "-");
    else if (!strcmp(least, most))
        snprintf(text, CLI_RESTITUTION_SIZE, "%s%s%s", meaning, *meaning ? " " : "", least);
    else
        snprintf(text, CLI_RESTITUTION_SIZE, "%s%s%s to %s", meaning, *meaning ? " " : "", least, most);
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
