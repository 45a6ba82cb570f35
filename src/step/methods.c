// SPDX-License-Identifier: Apache-2.0
// The table of step methods, and what their names in `--path` mean. A new method is one file or folder, and one row here.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/instruction_sets.h"
#include "step/step_internal.h"

const carom_step_method *const carom_step_methods[] = {&carom_step_cone_map, &carom_step_lemke, &carom_step_modes, NULL};

bool carom_step_method_serves(const carom_step_method *method, carom_selection selection) { return method->selections >> selection & 1; }

// -------------------------------------------------------------------------------------------------- instruction sets

const char *const carom_instructions_names[CAROM_INSTRUCTIONS] = {[CAROM_INSTRUCTIONS_SCALAR] = "scalar",
                                                                  [CAROM_INSTRUCTIONS_PORTABLE] = "portable",
                                                                  [CAROM_INSTRUCTIONS_AVX2] = "avx2",
                                                                  [CAROM_INSTRUCTIONS_AVX512] = "avx512"};

bool carom_instructions_available(carom_instructions instructions) {
    // Narrower sets than the widest that the processor has are always there.
    switch (instructions) {
    case CAROM_INSTRUCTIONS_AVX512: return CAROM_HAS_AVX512;
    case CAROM_INSTRUCTIONS_AVX2: return CAROM_HAS_AVX2;
    default: return true;
    }
}

extern const carom_step_loops carom_step_loops_scalar, carom_step_loops_portable;
#if defined(__x86_64__)
extern const carom_step_loops carom_step_loops_avx2, carom_step_loops_avx512;
#endif

const carom_step_loops *const carom_step_loops_of[CAROM_INSTRUCTIONS] = {
    [CAROM_INSTRUCTIONS_SCALAR] = &carom_step_loops_scalar,
    [CAROM_INSTRUCTIONS_PORTABLE] = &carom_step_loops_portable,
    [CAROM_INSTRUCTIONS_AVX2] = CAROM_X86_KERNEL(carom_step_loops_avx2),
    [CAROM_INSTRUCTIONS_AVX512] = CAROM_X86_KERNEL(carom_step_loops_avx512)};

double *carom_step_columns_create(size_t count, size_t stride) {
    const size_t size = count * stride * sizeof(double);
    double *columns = aligned_alloc(CAROM_STEP_LANES * sizeof(double), size);
    if (columns) memset(columns, 0, size);
    return columns;
}

// --------------------------------------------------------------------------------------------------------------- names

carom_status carom_step_method_find(const char *path, const carom_step_method **method, carom_instructions *instructions,
                                    carom_error *error) {
    *method = NULL;
    *instructions = CAROM_INSTRUCTIONS - 1;
    while (!carom_instructions_available(*instructions)) --*instructions;
    if (!strcmp(path, "auto")) return CAROM_OK;
    // NAME, or NAME:SET.
    const size_t length = strcspn(path, ":");
    for (const carom_step_method *const *row = carom_step_methods; *row; row++)
        if (strlen((*row)->name) == length && !strncmp(path, (*row)->name, length)) *method = *row;
    if (*method && !path[length]) return CAROM_OK;
    // What stands after the colon names the instruction set.
    for (int set = 0; *method && set < CAROM_INSTRUCTIONS; set++) {
        if (strcmp(path + length + 1, carom_instructions_names[set]) != 0) continue;
        *instructions = (carom_instructions)set;
        if (carom_instructions_available(*instructions)) return CAROM_OK;
        return carom_fail(error, CAROM_UNSUPPORTED, "%s: this machine lacks the instructions", path);
    }
    *method = NULL;
    // The sentence lists the table, so that it knows every row.
    char names[256] = "auto";
    for (const carom_step_method *const *row = carom_step_methods; *row; row++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", (*row)->name);
    }
    return carom_fail(error, CAROM_BAD_INPUT, "path: '%.60s' is none of %s, alone or with :scalar, :portable, :avx2 or :avx512", path,
                      names);
}
