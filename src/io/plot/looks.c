// SPDX-License-Identifier: Apache-2.0
// How laws look in pictures: the one table that the command and the Python package draw by, and where marks lie over each other.
#include <math.h>
#include <string.h>

#include "carom/plot.h"

// Colours that people with any colour vision tell apart (Okabe & Ito 2008; the last three by Tol 2021), and in grey by their marks. Sizes
// make the shapes look equally large. Blue samples stand out against the orange of the exact set under them.
const carom_plot_look carom_plot_looks[CAROM_PLOT_LOOKS] = {
    {"halm-posa", 0x0072b2, CAROM_PLOT_CIRCLE, 1.0},
    {"anitescu-potra", 0xd55e00, CAROM_PLOT_SQUARE, 0.95},
    {"sequential", 0x009e73, CAROM_PLOT_TRIANGLE, 0.86},
    {"propagative", 0xcc79a7, CAROM_PLOT_DIAMOND, 0.84},
    {"halm-posa-exact", 0xe69f00, CAROM_PLOT_TRIANGLE_DOWN, 0.87},
    {"routh", 0x56b4e9, CAROM_PLOT_CROSS, 1.12},
    {"moreau", 0x000000, CAROM_PLOT_PLUS, 1.25},
    {"stronge", 0x882255, CAROM_PLOT_PENTAGON, 0.94},
    {"lzb", 0x808020, CAROM_PLOT_STAR, 1.3},
    {"mujoco", 0x666666, CAROM_PLOT_DISC, 0.6},
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
                                        [CAROM_PLOT_STAR] = "star",
                                        [CAROM_PLOT_DISC] = "disc"};
    return names[shape];
}

void carom_plot_assign_looks(int count, const char *const *laws, int *looks) {
    // Laws with a look of their own come first, so that no other series takes it from them.
    bool taken[CAROM_PLOT_LOOKS] = {false};
    for (int i = 0; i < count; i++) {
        looks[i] = -1;
        for (int k = 0; k < CAROM_PLOT_LOOKS && looks[i] < 0 && laws[i]; k++)
            if (!strcmp(laws[i], carom_plot_looks[k].law) && !taken[k]) looks[i] = k;
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

unsigned carom_plot_mix(unsigned colour, unsigned other, double share) {
    unsigned mixed = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        const double part = (1 - share) * (colour >> shift & 0xff) + share * (other >> shift & 0xff);
        mixed |= (unsigned)lround(part) << shift;
    }
    return mixed;
}

void carom_plot_nest(int count, const double *x, const double *y, const int *looks, int *rings) {
    // From the innermost shape to the outermost: each mark encloses those that it would hide, or be hidden by.
    for (int shape = -1; shape < CAROM_PLOT_SHAPES; shape++)
        for (int i = 0; i < count; i++) {
            if ((looks[i] < 0 ? -1 : (int)carom_plot_looks[looks[i]].shape) != shape) continue;
            rings[i] = 0;
            for (int k = 0; k < count; k++)
                if ((looks[k] < 0 ? -1 : (int)carom_plot_looks[looks[k]].shape) < shape && rings[k] >= rings[i] &&
                    hypot(x[k] - x[i], y[k] - y[i]) < CAROM_PLOT_MARK / 2)
                    rings[i] = rings[k] + 1;
        }
}
