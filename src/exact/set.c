// SPDX-License-Identifier: Apache-2.0
// What exact sets are in every build: options, statuses, memory.
#include <math.h>
#include <stdlib.h>

#include "exact/exact_internal.h"

typedef struct status_text {
    const char *name, *sentence;
} status_text;

#define CAROM_EXACT_TEXT(constant, name, sentence) [constant] = {name, sentence},
static const status_text status_texts[] = {CAROM_EXACT_STATUS_LIST(CAROM_EXACT_TEXT)};
#undef CAROM_EXACT_TEXT

const char *carom_exact_status_name(carom_exact_status status) { return status_texts[status].name; }
const char *carom_exact_status_sentence(carom_exact_status status) { return status_texts[status].sentence; }

// Two contacts need below a megabyte; 10,000 polyhedra in nine dimensions some hundred megabytes.
#define DEFAULT_PIECES 10000
// Sets that finish stay below 1000 bits; hulls in six dimensions pass 1200 on their way to nowhere.
#define DEFAULT_BITS    8192
#define DEFAULT_SECONDS 30
#define DEFAULT_COVER   1e-3
// A million times the speed: there walks give up, too.
#define DEFAULT_GAIN 1e12

carom_exact_options carom_exact_defaults(void) {
    return (carom_exact_options){.mode = CAROM_EXACT_UNION,
                                 .seconds = DEFAULT_SECONDS,
                                 .pieces = DEFAULT_PIECES,
                                 .bits = DEFAULT_BITS,
                                 .restitution = NAN,
                                 .gain = DEFAULT_GAIN,
                                 .cover = DEFAULT_COVER};
}

carom_halm_posa_exact_options carom_halm_posa_exact_defaults(void) { return carom_exact_defaults(); }

static const char *const mode_names[] = {"exact", "hull", "eps", NULL};
static const char *const hypothesis_names[] = {[CAROM_EXACT_INELASTIC] = "none", [CAROM_EXACT_POISSON] = "poisson", NULL};

const carom_option carom_exact_rows[CAROM_EXACT_ROWS] = {
    {"mode", CAROM_OPTION_CHOICE, offsetof(carom_exact_options, mode), 0, 0, "", "exact",
     "the set itself, or an outer set: one hull a cell, or cells that overlap by `cover`", mode_names},
    {"seconds", CAROM_OPTION_REAL, offsetof(carom_exact_options, seconds), CAROM_POSITIVE, 1e9, "s", "30",
     "budget of time of the whole run", NULL},
    {"pieces", CAROM_OPTION_INTEGER, offsetof(carom_exact_options, pieces), 1, 1e9, "", "10000", "budget of polyhedra in memory", NULL},
    {"bits", CAROM_OPTION_INTEGER, offsetof(carom_exact_options, bits), 64, 1e9, "", "8192", "budget of bits of a coefficient", NULL},
    {"cover", CAROM_OPTION_REAL, offsetof(carom_exact_options, cover), 1e-9, 1, "", "0.001",
     "overlap of the cells of mode eps, over the largest pre-impact contact velocity", NULL},
    {"hypothesis", CAROM_OPTION_CHOICE, offsetof(carom_exact_options, hypothesis), 0, 0, "", "none",
     "what restitution means: none, which is inelastic, or kinetic (poisson), in mode exact", hypothesis_names},
    {"restitution", CAROM_OPTION_REAL, offsetof(carom_exact_options, restitution), 0, 1, "", "scene",
     "coefficient of restitution of all contacts", NULL},
    {"gain", CAROM_OPTION_REAL, offsetof(carom_exact_options, gain), 1, INFINITY, "", "1e12",
     "with restitution, budget of kinetic energy, over that before the impact: pieces beyond it are not continued", NULL},
};

void carom_exact_set_free(carom_exact_set *set) {
    if (!set) return;
    carom_polyhedra_free(set->pieces);
    carom_polyhedra_free(set->outer);
    carom_polyhedra_free(set->reached);
    free(set);
}

bool carom_exact_set_complete(const carom_exact_set *set) {
    return set->status == CAROM_EXACT_OK || set->status == CAROM_EXACT_TERMINAL_START;
}

bool carom_exact_set_unique(const carom_exact_set *set) {
    return carom_exact_set_complete(set) && set->pieces->count == 1 && set->pieces->pieces->dimension == 0;
}

carom_status exact_check_uncertain(const carom_impact_data *data, const carom_exact_start *start, const carom_interval *friction,
                                   carom_error *error) {
    if (start && !(start->count >= 1 && start->count <= CAROM_EXACT_MOST_STARTS))
        return carom_fail(error, CAROM_BAD_INPUT, "start: %d vertices are not between 1 and %d", start->count, CAROM_EXACT_MOST_STARTS);
    for (int k = 0; start && k < start->count * data->nv; k++)
        if (!isfinite(start->vertices[k]))
            return carom_fail(error, CAROM_BAD_INPUT, "start: component %d of vertex %d is not finite", k % data->nv + 1, k / data->nv + 1);
    for (int i = 0; friction && i < data->contacts; i++)
        if (!(0 <= friction[i].least && friction[i].least <= friction[i].most && isfinite(friction[i].most)))
            return carom_fail(error, CAROM_BAD_INPUT, "friction: %g to %g of contact %s is no interval of numbers that are not negative",
                              friction[i].least, friction[i].most, data->names[i]);
    return CAROM_OK;
}
