// SPDX-License-Identifier: Apache-2.0
// The table of step methods, and what their names in `--path` mean. A new method is one file or folder, and one row here.
#include <stdio.h>
#include <string.h>

#include "step/step_internal.h"

const carom_step_method *const carom_step_methods[] = {&carom_step_cone_map, &carom_step_sweeps, &carom_step_lemke, &carom_step_modes,
                                                       NULL};

bool carom_step_method_serves(const carom_step_method *method, carom_selection selection) { return method->selections >> selection & 1; }

carom_status carom_step_method_find(const char *path, const carom_step_method **method, carom_instructions *instructions,
                                    carom_error *error) {
    *method = NULL;
    *instructions = carom_instructions_widest();
    if (!strcmp(path, "auto")) return CAROM_OK;
    // NAME, or NAME:SET.
    const size_t length = strcspn(path, ":");
    for (const carom_step_method *const *row = carom_step_methods; *row; row++)
        if (strlen((*row)->name) == length && !strncmp(path, (*row)->name, length)) *method = *row;
    if (*method && !path[length]) return CAROM_OK;
    // What stands after the colon names the instruction set.
    for (int set = 0; *method && set < CAROM_INSTRUCTIONS; set++) {
        if (strcmp(path + length + 1, carom_instructions_names[set]) != 0) continue;
        if (!(*method)->has_kernels) {
            *method = NULL;
            return carom_fail(error, CAROM_BAD_INPUT, "path: %.*s has no versions for instruction sets: leave ':%s' out", (int)length, path,
                              carom_instructions_names[set]);
        }
        *instructions = (carom_instructions)set;
        if (carom_instructions_available(*instructions)) return CAROM_OK;
        return carom_fail(error, CAROM_UNSUPPORTED, "%s: this machine lacks the instructions", path);
    }
    *method = NULL;
    // The message lists all rows of the table.
    char names[256] = "auto";
    for (const carom_step_method *const *row = carom_step_methods; *row; row++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", (*row)->name);
    }
    return carom_fail(error, CAROM_BAD_INPUT, "path: '%.60s' is none of %s, alone or with :scalar, :portable, :avx2 or :avx512", path,
                      names);
}
