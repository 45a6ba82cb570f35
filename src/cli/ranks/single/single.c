// SPDX-License-Identifier: Apache-2.0
// A build without MPI: one process. Under a launcher each of several would do the whole work and write the same file.
#include <stdlib.h>

#include "cli/ranks/ranks.h"

// What launchers tell a process (Open MPI; MPICH and its kin): how many there are, and which it is.
static const char *const launchers[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}};

static int number_of(const char *variable) {
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

static bool first = true;

carom_status cli_ranks_start(carom_error *error) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const int count = number_of(launchers[i][0]);
        if (count < 2) continue;
        first = number_of(launchers[i][1]) == 0;
        return carom_fail(error, CAROM_UNSUPPORTED,
                          "started as one of %d ranks, but this carom was built without MPI: build it with `make MPI=1`", count);
    }
    return CAROM_OK;
}

carom_ranks *cli_ranks(void) { return NULL; }
bool cli_ranks_is_first(void) { return first; }
int cli_ranks_finish(int status) { return status; }
