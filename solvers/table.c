// SPDX-License-Identifier: Apache-2.0
// The core's LCP solvers: the only place that lists them.
#include "carom/lcp.h"

static carom_status add(carom_registry *registry, const carom_lcp_solver *solver, carom_error *error) {
    return carom_registry_add(registry, CAROM_REGISTRY_SOLVERS, solver->name, solver, error);
}

carom_status carom_solvers_register(carom_registry *registry, carom_error *error) {
    carom_status status = add(registry, &carom_lcp_lemke, error);
    for (int i = 0; i < CAROM_LCP_LEMKE_KERNELS && !status; i++) status = add(registry, &carom_lcp_lemke_kernels[i], error);
    return status;
}

bool carom_lcp_available(const carom_lcp_solver *solver) {
    static const double identity[] = {1, 0, 0, 1};
    carom_lcp *lcp;
    const carom_status status = carom_lcp_create(solver, 2, identity, &lcp, NULL);
    carom_lcp_free(lcp);
    return status != CAROM_UNSUPPORTED;
}
