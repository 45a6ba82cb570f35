// SPDX-License-Identifier: Apache-2.0
// Instruction sets that methods have kernels for: their names, whether this machine has them, and the loops that batches share.
#include <stdlib.h>
#include <string.h>

#include "carom/instruction_sets.h"
#include "step/step_internal.h"

const char *const carom_instructions_names[CAROM_INSTRUCTIONS] = {[CAROM_INSTRUCTIONS_SCALAR] = "scalar",
                                                                  [CAROM_INSTRUCTIONS_PORTABLE] = "portable",
                                                                  [CAROM_INSTRUCTIONS_AVX2] = "avx2",
                                                                  [CAROM_INSTRUCTIONS_AVX512] = "avx512"};

bool carom_instructions_available(carom_instructions instructions) {
    // Scalar and portable code runs on every machine.
    switch (instructions) {
    case CAROM_INSTRUCTIONS_AVX512: return CAROM_HAS_AVX512;
    case CAROM_INSTRUCTIONS_AVX2: return CAROM_HAS_AVX2;
    default: return true;
    }
}

carom_instructions carom_instructions_widest(void) {
    carom_instructions widest = CAROM_INSTRUCTIONS - 1;
    while (!carom_instructions_available(widest)) widest--;
    return widest;
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
