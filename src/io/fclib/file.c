// SPDX-License-Identifier: Apache-2.0
// What is known of FCLIB's files without HDF5.
#include "io/fclib/file.h"

#include <stdlib.h>
#include <string.h>

bool carom_fclib_is_hdf5(const char *bytes, size_t size) {
    static const char signature[] = "\211HDF\r\n\032\n";
    return size >= sizeof signature - 1 && !memcmp(bytes, signature, sizeof signature - 1);
}

carom_status carom_contact_file_parse(const char *path, const char *bytes, size_t size, carom_fclib_problem *problem, carom_error *error) {
    if (!carom_fclib_is_hdf5(bytes, size) && carom_siconos_is_text(bytes)) return carom_siconos_parse(path, bytes, problem, error);
    return carom_fclib_parse(path, bytes, size, problem, error);
}

void carom_fclib_problem_release(carom_fclib_problem *problem) {
    free(problem->delassus);
    free(problem->velocity);
    free(problem->friction);
    *problem = (carom_fclib_problem){0};
}
