// SPDX-License-Identifier: Apache-2.0
#include "io/plot/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Outcomes that differ by less, relative to the fastest contact, differ by rounding only.
#define NO_EXTENT 1e-9

static char *axis_name(const char *kind, const char *contact, int tangent) {
    const size_t size = strlen(contact) + 16;
    char *name = malloc(size);
    if (name) snprintf(name, size, tangent ? "%s.%s.%d" : "%s.%s", kind, contact, tangent + 1);
    return name;
}

carom_status carom_axes_create(const carom_result *result, carom_axes *axes, carom_error *error) {
    const int contacts = carom_result_contacts(result), dim = carom_result_tangent_dim(result);
    *axes = (carom_axes){calloc((size_t)(contacts * (1 + dim)), sizeof(carom_axis)), 0};
    if (!axes->axes) return carom_fail_memory(error, "axes");
    for (int i = 0; i < contacts; i++)
        axes->axes[axes->count++] = (carom_axis){axis_name("Jn", carom_result_contact_name(result, i), 0), true, i, i * (1 + dim)};
    for (int i = 0; i < contacts * dim; i++) {
        const int contact = i / dim, tangent = i % dim;
        char *name = axis_name("Jt", carom_result_contact_name(result, contact), tangent);
        axes->axes[axes->count++] = (carom_axis){name, false, i, contact * (1 + dim) + 1 + tangent};
    }
    for (int i = 0; i < axes->count; i++) {
        if (axes->axes[i].name) continue;
        carom_axes_free(axes);
        return carom_fail_memory(error, "axes");
    }
    return CAROM_OK;
}

void carom_axes_free(carom_axes *axes) {
    for (int i = 0; i < axes->count; i++) free(axes->axes[i].name);
    free(axes->axes);
    *axes = (carom_axes){0};
}

// -------------------------------------------------------------------------------------------------------------- parsing

// Index of the axis that the `size` bytes at `text` name, without blanks around them; -1 if there is none.
static int find_axis(const carom_axes *axes, const char *text, size_t size) {
    while (size && *text == ' ') text++, size--;
    while (size && text[size - 1] == ' ') size--;
    for (int i = 0; i < axes->count; i++)
        if (strlen(axes->axes[i].name) == size && !memcmp(axes->axes[i].name, text, size)) return i;
    return -1;
}

// The names with commas between them; cut when there are very many.
static void list_names(const carom_axes *axes, char *list, size_t size) {
    size_t used = 0;
    list[0] = '\0';
    for (int i = 0; i < axes->count && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%s", i ? ", " : "", axes->axes[i].name);
}

carom_status carom_axes_parse(const carom_axes *axes, const char *text, int chosen[2], carom_error *error) {
    chosen[0] = 0;
    chosen[1] = axes->count > 1;
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ',')) {
        const int x = find_axis(axes, text, (size_t)(comma - text)), y = find_axis(axes, comma + 1, strlen(comma + 1));
        if (x < 0 || y < 0) continue;
        chosen[0] = x;
        chosen[1] = y;
        return CAROM_OK;
    }
    char valid[CAROM_MESSAGE_SIZE / 2];
    list_names(axes, valid, sizeof valid);
    return carom_fail(error, CAROM_BAD_INPUT, "axes: '%.200s' is not two of the contact velocities with a comma between them: %s", text,
                      valid);
}

// ------------------------------------------------------------------------------------------------------------- choosing

// Higher is better: with extent before without, normal before tangential.
static int tier(const carom_axis *axis, double extent, double scale) { return 2 * (extent > NO_EXTENT * scale) + axis->normal; }

static double extent_of(double least, double most) { return most > least ? most - least : 0; }

static int best_axis(const carom_axes *axes, const double *least, const double *most, double scale, int except) {
    int best = -1;
    for (int i = 0; i < axes->count; i++) {
        if (i == except) continue;
        const double extent = extent_of(least[i], most[i]), leader = best < 0 ? 0 : extent_of(least[best], most[best]);
        const int rank = tier(&axes->axes[i], extent, scale), leading = best < 0 ? -1 : tier(&axes->axes[best], leader, scale);
        const bool matters = rank >= 2;
        if (rank > leading || (rank == leading && matters && extent > leader)) best = i;
    }
    return best;
}

void carom_axes_choose(const carom_axes *axes, const double *least, const double *most, int chosen[2]) {
    double scale = 0;
    for (int i = 0; i < axes->count; i++)
        if (least[i] <= most[i]) scale = fmax(scale, fmax(fabs(least[i]), fabs(most[i])));
    const int first = best_axis(axes, least, most, scale, -1), second = best_axis(axes, least, most, scale, first);
    chosen[0] = first < second ? first : second;
    chosen[1] = first < second ? second : first;
}
