// SPDX-License-Identifier: Apache-2.0
// The core's LCP solvers.
#include "carom/solvers.h"

carom_status carom_solvers_register(carom_registry *registry, carom_error *error) {
    return carom_registry_add(registry, CAROM_REGISTRY_SOLVERS, carom_lcp_lemke.name, &carom_lcp_lemke, error);
}
