// SPDX-License-Identifier: Apache-2.0
// The core's LCP solvers: the only place that lists them. A new solver is one file, and one row here.
#include "solvers/solvers_internal.h"

static const carom_lcp_solver *const solvers[] = {
    &carom_lcp_lemke, &carom_lcp_lemke_kernels[0], &carom_lcp_lemke_kernels[1], &carom_lcp_lemke_kernels[2], &carom_lcp_lemke_kernels[3],
};

carom_status carom_solvers_register(carom_registry *registry, carom_error *error) {
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers && !status; i++)
        status = carom_registry_add(registry, CAROM_REGISTRY_SOLVERS, solvers[i]->name, solvers[i], error);
    return status;
}

bool carom_lcp_available(const carom_lcp_solver *solver) {
    static const double identity[] = {1, 0, 0, 1};
    carom_lcp *lcp;
    const carom_status status = carom_lcp_create(solver, 2, identity, &lcp, NULL);
    carom_lcp_free(lcp);
    return status != CAROM_UNSUPPORTED;
}
