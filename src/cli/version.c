// SPDX-License-Identifier: Apache-2.0
// `carom --version`: of carom, and with `--verbose` of the libraries that decide what a build can do.
#include <cblas.h>
#include <hdf5.h>
#include <string.h>

#include "cli/cli_internal.h"

static void print_library(const char *name, const char *version) { printf("%-8s  %s\n", name, version ? version : "not in this build"); }

int cli_version(int argc, char **argv) {
    const bool verbose = argc == 3 && !strcmp(argv[2], "--verbose");
    if (argc > 2 && !verbose) {
        carom_error error;
        carom_fail(&error, CAROM_BAD_INPUT, "--version takes no '%.60s'; `carom --version --verbose` names the libraries, too",
                   argv[strcmp(argv[2], "--verbose") ? 2 : 3]);
        return cli_report(&error);
    }
    puts("carom " CAROM_VERSION);
    if (!verbose) return EXIT_DONE;
    unsigned parts[3];
    char hdf5[64];
    H5get_libversion(&parts[0], &parts[1], &parts[2]);
    snprintf(hdf5, sizeof hdf5, "%u.%u.%u", parts[0], parts[1], parts[2]);
    print_library("MuJoCo", carom_model_mujoco_version());
    print_library("HDF5", hdf5);
    print_library("BLAS", openblas_get_config());
    print_library("PPL", carom_exact_ppl_version());
    print_library("GLPK", carom_bound_glpk_version());
    print_library("SUNDIALS", carom_compliant_sundials_version());
    return EXIT_DONE;
}
