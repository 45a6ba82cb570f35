// SPDX-License-Identifier: Apache-2.0
// The table of the core's laws: the only place that lists them.
#include "laws/laws_internal.h"

static const carom_law *const laws[] = {
    &carom_law_anitescu_potra, &carom_law_moreau,    &carom_law_sequential, &carom_law_propagative,
    &carom_law_routh,          &carom_law_halm_posa, &carom_law_stronge,    &carom_law_lzb,
};

carom_status carom_registry_create(carom_registry **registry, carom_error *error) {
    carom_status status = carom_registry_create_empty(registry, error);
    if (!status) status = carom_solvers_register(*registry, error);
    for (size_t i = 0; i < sizeof laws / sizeof *laws && !status; i++)
        status = carom_registry_add(*registry, CAROM_REGISTRY_LAWS, laws[i]->name, laws[i], error);
    if (status) {
        carom_registry_free(*registry);
        *registry = NULL;
    }
    return status;
}
