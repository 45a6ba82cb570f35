// SPDX-License-Identifier: Apache-2.0
// What is known of FCLIB's files without HDF5.
#include "io/fclib/file.h"

#include <stdlib.h>
#include <string.h>

bool carom_fclib_is_hdf5(const char *bytes, size_t size) {
    static const char signature[] = "\211HDF\r\n\032\n";
    return size >= sizeof signature - 1 && !memcmp(bytes, signature, sizeof signature - 1);
}

void carom_fclib_problem_release(carom_fclib_problem *problem) {
    free(problem->delassus);
    free(problem->velocity);
    free(problem->friction);
    *problem = (carom_fclib_problem){0};
}
