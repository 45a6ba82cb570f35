// SPDX-License-Identifier: Apache-2.0
// Prints a digest of the outcomes of every law of the core for the reference scenes and for random impacts, a line each: the same lines on
// every machine.
#include <stdio.h>
#include <stdlib.h>

#include "carom/base.h"
#include "support.h"

static const char *const sampled[][7] = {{"selection", "lemke", "samples", "64", "step", "0.3"},
                                         {"selection", "random", "samples", "64", "step", "0.3"},
                                         {"selection", "scattered", "samples", "64", "step", "0.3"}};

// A law that does not serve the impact says so in its place.
static void print(const char *scene, const carom_registry *registry, const carom_impact *impact, const carom_law *law,
                  const char *const *pairs) {
    carom_digest *digest;
    carom_error error;
    carom_answer answer;
    char text[CAROM_DIGEST_TEXT_SIZE];
    void *options = malloc(law->options_size);
    assert_non_null(options);
    law->defaults(options);
    for (const char *const *pair = pairs; pair[0]; pair += 2) assert_ok(carom_law_set(law, options, pair[0], pair[1], &error), error);
    printf("%s %s %s ", scene, law->name, pairs[0] ? pairs[1] : "default");
    const carom_law_call call = {.impact = impact, .options = options, .registry = registry};
    const carom_status status = carom_law_resolve(law, &call, &answer, &error);
    if (status) {
        printf("%s\n", carom_status_name(status));
    } else {
        const size_t outcomes = (size_t)carom_table_rows(answer.outcomes), nv = (size_t)carom_impact_get_data(impact)->nv;
        assert_ok(carom_digest_create(&digest, &error), error);
        carom_digest_add_doubles(digest, carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY), outcomes * nv);
        carom_digest_finish(digest, text);
        printf("%zu %s\n", outcomes, text);
        fflush(stdout);
        carom_digest_free(digest);
        carom_answer_free(&answer);
    }
    free(options);
}

static void print_laws(const char *scene, const carom_registry *registry, const carom_impact *impact) {
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_LAWS); i++) {
        const carom_law *law = carom_registry_entry(registry, CAROM_REGISTRY_LAWS, i);
        if (law == &carom_law_halm_posa)
            for (size_t k = 0; k < sizeof sampled / sizeof *sampled; k++) print(scene, registry, impact, law, sampled[k]);
        else
            print(scene, registry, impact, law, (const char *const[]){NULL});
    }
}

int main(void) {
    const carom_impact_data *scenes[] = {&reference_block, &reference_compass, &reference_boxwall, &reference_ramone};
    static const char *const names[] = {"block", "compass", "boxwall", "ramone"};
    carom_registry *registry;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        carom_impact *impact = support_impact(scenes[k]);
        print_laws(names[k], registry, impact);
        carom_impact_free(impact);
    }
    carom_stream stream;
    carom_stream_start(&stream, 1, 0);
    for (int trial = 0; trial < 5; trial++) {
        char name[32];
        carom_impact *impact = support_random_impact(&stream, (support_family)(trial % FAMILIES), 2, 1 + trial % 2, 1);
        snprintf(name, sizeof name, "random-%d", trial);
        print_laws(name, registry, impact);
        carom_impact_free(impact);
    }
    carom_registry_free(registry);
}
