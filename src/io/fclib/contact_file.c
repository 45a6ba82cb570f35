// SPDX-License-Identifier: Apache-2.0
// Files of contact problems: HDF5, or a text of Siconos.
#include "io/fclib/file.h"

carom_status carom_contact_file_parse(const char *path, const char *bytes, size_t size, carom_fclib_problem *problem, carom_error *error) {
    if (!carom_fclib_is_hdf5(bytes, size) && carom_siconos_is_text(bytes)) return carom_siconos_parse(path, bytes, problem, error);
    return carom_fclib_parse(path, bytes, size, problem, error);
}
