// SPDX-License-Identifier: Apache-2.0
// `carom --version`: of carom, and with `--verbose` of the libraries that decide what a build can do.
#include <cblas.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli_internal.h"

// The libraries that a build may lack: the table of scripts/libraries.mk.
static const struct library {
    const char *name, *what, *packages;
    bool present;
} libraries[] = {OPTIONAL_LIBRARIES};

// The version of a library that can say it.
static const char *find_version(const char *name, char text[CAROM_HDF5_VERSION]) {
    if (!strcmp(name, "MUJOCO")) return carom_model_mujoco_version();
    if (!strcmp(name, "HDF5")) return carom_hdf5_version(text);
    if (!strcmp(name, "PPL")) return carom_exact_ppl_version();
    if (!strcmp(name, "GLPK")) return carom_bound_glpk_version();
    if (!strcmp(name, "SUNDIALS")) return carom_compliant_sundials_version();
    return "yes";
}

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
    printf("%-8s  %s\n", "BLAS", openblas_get_config());
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        char text[CAROM_HDF5_VERSION];
        if (libraries[i].present)
            printf("%-8s  %s\n", libraries[i].name, find_version(libraries[i].name, text));
        else
            printf("%-8s  not in this build, which has no %s: install %s\n", libraries[i].name, libraries[i].what, libraries[i].packages);
    }
    // The program that draws pictures is looked for when it is needed.
    char drawn_by[80];
    FILE *gnuplot = popen("gnuplot --version 2> /dev/null", "r");
    if (gnuplot && fscanf(gnuplot, "gnuplot %79[^\n]", drawn_by) == 1)
        printf("%-8s  %s\n", "gnuplot", drawn_by);
    else
        printf("%-8s  not found, and there are no pictures without it: install gnuplot-nox\n", "gnuplot");
    if (gnuplot) pclose(gnuplot);
    return EXIT_DONE;
}
