// SPDX-License-Identifier: Apache-2.0
// The colours and marks of pictures, and which law has which: the table that the command and the Python package draw by.
#include <string.h>

#include "carom/plot.h"

// Colours that people with any colour vision tell apart (Okabe & Ito 2008; the last two by Tol 2021).
const carom_plot_look carom_plot_looks[CAROM_PLOT_LOOKS] = {
    {0x0072b2, CAROM_PLOT_CIRCLE, 3.4},  {0xd55e00, CAROM_PLOT_SQUARE, 3},        {0x009e73, CAROM_PLOT_TRIANGLE, 2.4},
    {0xcc79a7, CAROM_PLOT_DIAMOND, 1.9}, {0xe69f00, CAROM_PLOT_TRIANGLE_DOWN, 2}, {0x56b4e9, CAROM_PLOT_CROSS, 1.8},
    {0x000000, CAROM_PLOT_PLUS, 1.6},    {0x882255, CAROM_PLOT_PENTAGON, 2.7},    {0x808020, CAROM_PLOT_STAR, 2.1},
};

// Laws in the order of the looks. Blue samples stand out against the orange of the exact set under them.
static const char *const laws_by_look[CAROM_PLOT_LOOKS] = {
    "halm-posa", "anitescu-potra", "sequential", "propagative", "halm-posa-exact", "routh", "moreau", "stronge", "lzb",
};

const char *carom_plot_shape_name(carom_plot_shape shape) {
    static const char *const names[] = {[CAROM_PLOT_CIRCLE] = "circle",
                                        [CAROM_PLOT_SQUARE] = "square",
                                        [CAROM_PLOT_TRIANGLE] = "triangle",
                                        [CAROM_PLOT_DIAMOND] = "diamond",
                                        [CAROM_PLOT_TRIANGLE_DOWN] = "triangle-down",
                                        [CAROM_PLOT_CROSS] = "cross",
                                        [CAROM_PLOT_PLUS] = "plus",
                                        [CAROM_PLOT_PENTAGON] = "pentagon",
                                        [CAROM_PLOT_STAR] = "star"};
    return names[shape];
}

void carom_plot_assign_looks(int count, const char *const *laws, int *looks) {
    // Laws with a look of their own come first, so that no other series takes it from them.
    bool taken[CAROM_PLOT_LOOKS] = {false};
    for (int i = 0; i < count; i++) {
        looks[i] = -1;
        for (int k = 0; k < CAROM_PLOT_LOOKS && looks[i] < 0 && laws[i]; k++)
            if (!strcmp(laws[i], laws_by_look[k]) && !taken[k]) looks[i] = k;
        if (looks[i] >= 0) taken[looks[i]] = true;
    }
    for (int i = 0; i < count; i++) {
        if (looks[i] >= 0) continue;
        int free_one = 0;
        while (free_one < CAROM_PLOT_LOOKS && taken[free_one]) free_one++;
        looks[i] = free_one < CAROM_PLOT_LOOKS ? free_one : i % CAROM_PLOT_LOOKS;
        taken[looks[i]] = true;
    }
}
