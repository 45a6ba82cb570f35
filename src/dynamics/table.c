// SPDX-License-Identifier: Apache-2.0
// The table of integrators: the only place that lists them.
#include "dynamics/dynamics_internal.h"

// A row for each integrator, whose folder has the same name.
#define INTEGRATORS(ROW) ROW(lgvci) ROW(rodrigues) ROW(inclusion) ROW(propagative) ROW(stepping)

#define DECLARE(name) extern const carom_integrator carom_integrator_##name;
#define ADDRESS(name) &carom_integrator_##name,

INTEGRATORS(DECLARE)
static const carom_integrator *const integrators[] = {INTEGRATORS(ADDRESS)};

carom_status carom_dynamics_register(carom_registry *registry, carom_error *error) {
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < sizeof integrators / sizeof *integrators && !status; i++)
        status = carom_registry_add(registry, CAROM_REGISTRY_INTEGRATORS, integrators[i]->name, integrators[i], error);
    return status;
}

const carom_integrator *carom_integrator_find(const carom_registry *registry, const char *name) {
    return carom_registry_find(registry, CAROM_REGISTRY_INTEGRATORS, name);
}
