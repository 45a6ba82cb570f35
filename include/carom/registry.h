// SPDX-License-Identifier: Apache-2.0
/// @file
/// Registries of solvers, laws and integrators, owned by the caller.
#ifndef CAROM_REGISTRY_H
#define CAROM_REGISTRY_H

#include "carom/status.h"
#include "carom/suggest.h"

CAROM_API_BEGIN

/// Named things that the caller owns: LCP solvers, laws, integrators. Side libraries add theirs by explicit calls.
/// Not synchronised: fill it first, then share it between threads.
typedef struct carom_registry carom_registry;

typedef enum carom_registry_kind {
    CAROM_REGISTRY_SOLVERS,
    CAROM_REGISTRY_LAWS,
    CAROM_REGISTRY_INTEGRATORS,
    CAROM_REGISTRY_KINDS
} carom_registry_kind;

carom_status carom_registry_create_empty(carom_registry **registry, carom_error *error);
void carom_registry_free(carom_registry *registry);
/// @return CAROM_BAD_INPUT when the name is taken
carom_status carom_registry_add(carom_registry *registry, carom_registry_kind kind, const char *name, const void *entry,
                                carom_error *error);
int carom_registry_count(const carom_registry *registry, carom_registry_kind kind);
const void *carom_registry_entry(const carom_registry *registry, carom_registry_kind kind, int index);
/// NULL when there is none of that name.
const void *carom_registry_find(const carom_registry *registry, carom_registry_kind kind, const char *name);
/// Writes "; did you mean 'NAME'?" where a name of this kind is near, otherwise nothing.
/// @return text
const char *carom_registry_suggest(const carom_registry *registry, carom_registry_kind kind, const char *name,
                                   char text[CAROM_SUGGESTION_SIZE]);

CAROM_API_END

#endif
