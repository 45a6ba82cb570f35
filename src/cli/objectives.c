// SPDX-License-Identifier: Apache-2.0
// --max EXPR and --min EXPR of commands that look for extremes.
#include <string.h>

#include "cli/cli_internal.h"

carom_status cli_read_objective(const carom_impact *impact, const char *expression, bool minimum, cli_objective *objective,
                                carom_error *error) {
    *objective = (cli_objective){.expression = expression, .minimum = minimum};
    carom_functional *f = &objective->functional;
    const carom_status status = carom_functional_parse(impact, expression, f, error);
    if (status || !minimum) return status;
    for (int k = 0; k < f->n; k++) f->contact[k] = 0 - f->contact[k];
    for (int k = 0; k < f->n; k++) f->impulse[k] = 0 - f->impulse[k];
    for (int k = 0; k < f->nv; k++) f->velocity[k] = 0 - f->velocity[k];
    f->energy = 0 - f->energy;
    return CAROM_OK;
}

carom_status cli_read_objectives(const cli_arguments *arguments, const carom_impact *impact, cli_objective *objectives, int *count,
                                 carom_error *error) {
    *count = 0;
    for (int i = 0; i < arguments->count; i++) {
        const char *name = arguments->settings[i].name;
        const bool minimum = !strcmp(name, "min");
        if (!minimum && strcmp(name, "max") != 0) continue;
        carom_error inner;
        const carom_status status = cli_read_objective(impact, arguments->settings[i].value, minimum, &objectives[*count], &inner);
        if (status) return carom_fail(error, status, "--%s: %s", name, inner.message);
        ++*count;
    }
    if (!*count) return carom_fail(error, CAROM_BAD_INPUT, "ask for an extreme with --max EXPR or --min EXPR");
    return CAROM_OK;
}
