// SPDX-License-Identifier: Apache-2.0
// The LCP solvers of Siconos in a build without it: rows that are there to say so when asked for by name.
#include "carom/lcp.h"

static carom_status refuse(const carom_lcp_solver *row, int n, const double *W, void **state, carom_error *error) {
    (void)n, (void)W, (void)state;
    return carom_fail(error, CAROM_UNSUPPORTED, "%s: " WITHOUT_SICONOS, row->name);
}

// Of no state: none is ever created.
static void solve_nothing(void *state, int attempt, const double *w, double *z, carom_lcp_info *info) {
    (void)state, (void)attempt, (void)w, (void)z;
    *info = (carom_lcp_info){.verdict = CAROM_UNVERIFIED};
}

static void free_nothing(void *state) { (void)state; }

#define MISSING(label)                                                                                                                     \
    { .name = label, .summary = "not in this build", .create = refuse, .solve = solve_nothing, .free = free_nothing }

static const carom_lcp_solver rows[] = {
    MISSING("siconos-lemke"), MISSING("siconos-avi-caoferris"), MISSING("siconos-murty"), MISSING("siconos-bard"), MISSING("siconos-enum"),
    MISSING("siconos-rpgs"),  MISSING("siconos-cpg"),           MISSING("siconos-pgs"),   MISSING("siconos-path"), MISSING("siconos-raw"),
};

carom_status carom_siconos_register(carom_registry *registry, carom_error *error) {
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !status; i++)
        status = carom_registry_add(registry, CAROM_REGISTRY_SOLVERS, rows[i].name, &rows[i], error);
    return status;
}
