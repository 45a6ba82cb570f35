// SPDX-License-Identifier: Apache-2.0
// Named entries of several kinds, owned by the caller.
#include <stdlib.h>
#include <string.h>

#include "carom/base.h"

// The type of an entry follows from its kind.
typedef struct named_entry {
    const char *name;
    const void *entry;
} named_entry;

// The entries of one kind, in the order in which they were added.
typedef struct shelf {
    named_entry *entries;
    int count, capacity;
} shelf;

struct carom_registry {
    shelf shelves[CAROM_REGISTRY_KINDS];
};

carom_status carom_registry_create_empty(carom_registry **registry, carom_error *error) {
    *registry = calloc(1, sizeof **registry);
    return *registry ? CAROM_OK : carom_fail_memory(error, "registry");
}

void carom_registry_free(carom_registry *registry) {
    if (!registry) return;
    for (int kind = 0; kind < CAROM_REGISTRY_KINDS; kind++) free(registry->shelves[kind].entries);
    free(registry);
}

// Names and entries are borrowed: they are rows of tables that live as long as the program.
carom_status carom_registry_add(carom_registry *registry, carom_registry_kind kind, const char *name, const void *entry,
                                carom_error *error) {
    if (carom_registry_find(registry, kind, name)) return carom_fail(error, CAROM_BAD_INPUT, "registry: the name '%s' is taken", name);
    shelf *kept = &registry->shelves[kind];
    if (kept->count == kept->capacity) {
        const int capacity = kept->capacity ? 2 * kept->capacity : 8;
        named_entry *entries = realloc(kept->entries, (size_t)capacity * sizeof *entries);
        if (!entries) return carom_fail_memory(error, "registry");
        kept->entries = entries;
        kept->capacity = capacity;
    }
    kept->entries[kept->count++] = (named_entry){name, entry};
    return CAROM_OK;
}

int carom_registry_count(const carom_registry *registry, carom_registry_kind kind) { return registry->shelves[kind].count; }

const void *carom_registry_entry(const carom_registry *registry, carom_registry_kind kind, int index) {
    return registry->shelves[kind].entries[index].entry;
}

const void *carom_registry_find(const carom_registry *registry, carom_registry_kind kind, const char *name) {
    const shelf *kept = &registry->shelves[kind];
    // A few dozen names: a linear search is enough.
    for (int i = 0; i < kept->count; i++)
        if (!strcmp(kept->entries[i].name, name)) return kept->entries[i].entry;
    return NULL;
}

const char *carom_registry_suggest(const carom_registry *registry, carom_registry_kind kind, const char *name,
                                   char text[CAROM_SUGGESTION_SIZE]) {
    const shelf *kept = &registry->shelves[kind];
    carom_suggestion suggestion = {.wanted = name};
    for (int i = 0; i < kept->count; i++) carom_suggestion_offer(&suggestion, kept->entries[i].name);
    return carom_suggestion_phrase(&suggestion, text);
}
