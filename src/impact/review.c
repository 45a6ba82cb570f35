// SPDX-License-Identifier: Apache-2.0
// One gate for problems that are none, or are seldom meant: the words are the same for scenes, models, files and programs.
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "impact/impact_internal.h"

// Round-off of M changes shares of inertia by at most about nv/2 units in the last place; this many times nv are allowed.
#define MASS_ROUND_OFF 2
// A velocity that keeps this share of its inertia while those before it are free takes part in no weak motion.
#define SOUND_PIVOT 1e-2
// Below this share of inertia, results have fewer digits than tolerances of laws ask for.
#define DOUBTFUL_SHARE 1e-8
// Velocities whose part in a motion is below this share of the largest one are not named.
#define MINOR_PART 0.1
// A larger part of u outside the range of W is no round-off of numbers that people type; exact sets allow the same.
#define UNEXPLAINED_VELOCITY 1e-6
// Rows of J are parallel, or equal, when the sine of the angle between them, in the metric of M^-1, is below about the root of this.
#define PARALLEL 1e-12
// Contacts that are deeper than this are seldom meant [m].
#define DEEP 2e-3

enum {
    NAMED_VELOCITIES = 4,  // of one motion
    NAMED_CONTACTS = 3,    // of one kind: the sentence ends with dots where there are more
    LIST_SIZE = CAROM_MESSAGE_SIZE / 2,
};

// ---------------------------------------------------------------------------------------------------------- the mass matrix

// The motion z of velocity k and those before it that has the least energy with z_k = 1, (-M_11^-1 m_1k, 1) with M_11 = L_11 L_11': its
// energy over the sum of those of its parts, z'Mz / sum_j M_jj z_j^2, where z'Mz is L_kk^2 before its root is taken.
static double find_share(size_t n, const double *mass, const double *factor, size_t k, double *z) {
    const double *row = factor + k * n, pivot = mass[k * n + k] - carom_dot((int)k, row, row);
    double parts = mass[k * n + k];
    for (size_t j = 0; j < k; j++) z[j] = -row[j];
    for (size_t i = k; i-- > 0;) {
        z[i] /= factor[i * n + i];
        for (size_t j = 0; j < i; j++) z[j] -= factor[i * n + j] * z[i];
        parts += z[i] * z[i] * mass[i * n + i];
    }
    z[k] = 1;
    return parts > 0 ? pivot / parts : pivot < 0 ? -1 : 0;
}

double carom_mass_certain_share(int nv) { return MASS_ROUND_OFF * nv * DBL_EPSILON; }

int carom_mass_find_weak(int nv, const double *mass, const double *factor, int minor, double limit, double *z, double *share) {
    const size_t n = (size_t)nv, end = minor ? (size_t)minor : n;
    for (size_t k = 0; k < end; k++) {
        const double inertia = mass[k * n + k], pivot = factor[k * n + k] * factor[k * n + k];
        const bool failed = minor && k == end - 1;
        if (!failed && pivot > SOUND_PIVOT * inertia) continue;
        *share = find_share(n, mass, factor, k, z);
        if (failed || *share < limit) return (int)k;
    }
    return -1;
}

// A motion with next to no kinetic energy, in words.
typedef struct weak_motion {
    double share;                // of its energy in that of its parts
    int lightest;                // of the velocities that take part, the one with the least inertia; -1: there is no such motion
    char velocities[LIST_SIZE];  // "'a', 'b'"
} weak_motion;

// The next name of a list: numbers from 1 where there are no names.
static size_t add_velocity(char text[LIST_SIZE], size_t used, const char *const *names, size_t index) {
    const char *between = used ? ", " : "";
    if (used >= LIST_SIZE) return used;
    return used + (size_t)(names ? snprintf(text + used, LIST_SIZE - used, "%s'%s'", between, names[index])
                                 : snprintf(text + used, LIST_SIZE - used, "%s'v.%zu'", between, index + 1));
}

// Looks for a motion whose share is below `limit`.
static carom_status find_weak_motion(int nv, const double *mass, const char *const *names, double limit, weak_motion *found,
                                     carom_error *error) {
    const size_t n = (size_t)nv;
    double *factor = malloc((n * n + n) * sizeof *factor), *z = factor + n * n;
    if (!factor) return carom_fail_memory(error, "mass matrix");
    memcpy(factor, mass, n * n * sizeof *factor);
    const int minor = carom_cholesky_factor_in_order(nv, factor);
    *found = (weak_motion){.share = 1};
    found->lightest = carom_mass_find_weak(nv, mass, factor, minor, limit, z, &found->share);
    size_t used = 0, named = 0;
    const size_t count = (size_t)(found->lightest + 1);
    // Parts are compared by the energies that they would have alone.
    double largest = 0;
    for (size_t j = 0; j < count; j++) largest = fmax(largest, z[j] * z[j] * mass[j * n + j]);
    for (size_t j = 0; j < count; j++) {
        if (j + 1 < count && !(z[j] * z[j] * mass[j * n + j] > MINOR_PART * MINOR_PART * largest)) continue;
        if (mass[j * n + j] < mass[(size_t)found->lightest * n + (size_t)found->lightest]) found->lightest = (int)j;
        if (named++ < NAMED_VELOCITIES || j + 1 == count) used = add_velocity(found->velocities, used, names, j);
    }
    if (named > NAMED_VELOCITIES + 1 && used < LIST_SIZE)
        snprintf(found->velocities + used, LIST_SIZE - used, " and %zu more", named - NAMED_VELOCITIES - 1);
    free(factor);
    return CAROM_OK;
}

carom_status carom_mass_check(int nv, const double *mass, const char *const *names, carom_error *error) {
    const double certain = carom_mass_certain_share(nv);
    weak_motion weak;
    const carom_status status = find_weak_motion(nv, mass, names, certain, &weak, error);
    if (status || weak.lightest < 0) return status;
    char lightest[LIST_SIZE];
    add_velocity(lightest, 0, names, (size_t)weak.lightest);
    return carom_fail(error, CAROM_BAD_INPUT,
                      "M is not positive definite: a motion of %s has %s kinetic energy; give %s inertia of its own (an armature, a mass), "
                      "or leave it out",
                      weak.velocities, weak.share < -certain ? "negative" : "no", lightest);
}

// ------------------------------------------------------------------------------------------------------------------ review

// Where the sentences go.
typedef struct listener {
    carom_say *say;
    void *user;
    carom_error *error;
} listener;

static carom_status say(const listener *to, const char *format, ...) CAROM_PRINTF(2, 3);

static carom_status say(const listener *to, const char *format, ...) {
    char sentence[CAROM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return to->say(to->user, sentence, to->error);
}

// A list of contacts, or of pairs of them, of which the first are named.
typedef struct contact_list {
    int count;
    size_t used;
    char text[LIST_SIZE];
} contact_list;

static void list_contacts(contact_list *list, const char *format, ...) CAROM_PRINTF(2, 3);

static void list_contacts(contact_list *list, const char *format, ...) {
    list->count++;
    if (list->count > NAMED_CONTACTS + 1 || list->used >= sizeof list->text) return;
    const size_t room = sizeof list->text - list->used;
    if (list->count > NAMED_CONTACTS) {
        list->used += (size_t)snprintf(list->text + list->used, room, ", ...");
        return;
    }
    if (list->count > 1) list->used += (size_t)snprintf(list->text + list->used, room, ", ");
    if (list->used >= sizeof list->text) return;
    va_list arguments;
    va_start(arguments, format);
    list->used += (size_t)vsnprintf(list->text + list->used, sizeof list->text - list->used, format, arguments);
    va_end(arguments);
}

// A mass matrix that passed the gate, but narrowly.
static carom_status review_mass(const carom_impact_data *data, const listener *to) {
    weak_motion weak;
    const carom_status status = find_weak_motion(data->nv, data->mass, data->velocity_names, DOUBTFUL_SHARE, &weak, to->error);
    if (status || weak.lightest < 0) return status;
    char lightest[LIST_SIZE];
    add_velocity(lightest, 0, data->velocity_names, (size_t)weak.lightest);
    return say(
        to,
        "M is nearly singular: a motion of %s has %.2g of the kinetic energy of its parts, so that velocities have about %.0f digits; "
        "give %s inertia of its own (an armature, a mass)",
        weak.velocities, weak.share, floor(log10(weak.share / DBL_EPSILON)), lightest);
}

// Normals and tangents in the metric of M^-1, where W has the products of all rows: no unit matters.
static carom_status review_rows(const carom_impact *impact, const listener *to) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double *W = carom_impact_delassus(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact), width = 1 + (size_t)data->tangent_dim;
    contact_list equal = {0}, opposite = {0};
    for (size_t i = 0; i < (size_t)data->contacts; i++)
        for (size_t j = i + 1; j < (size_t)data->contacts; j++) {
            const size_t a = i * width, b = j * width;
            const double product = W[a * n + b], length = sqrt(W[a * n + a]) * sqrt(W[b * n + b]);
            if (product < (PARALLEL - 1) * length) list_contacts(&opposite, "'%s' and '%s'", data->names[i], data->names[j]);
            bool same = product > 0;
            for (size_t k = 0; k < width && same; k++) {
                const double *row = W + (a + k) * n, *other = W + (b + k) * n;
                same = fabs(row[a + k] + other[b + k] - 2 * row[b + k]) <= 4 * PARALLEL * row[a + k];
            }
            if (same) list_contacts(&equal, "'%s' and '%s'", data->names[i], data->names[j]);
        }
    carom_status status = CAROM_OK;
    if (equal.count)
        status = say(to, "contacts %s have the same rows of J: they are one contact, given twice, and how they share its impulse is open",
                     equal.text);
    if (!status && opposite.count)
        status = say(to, "contacts %s have opposite normals: neither can ever open; is one of the normals turned?", opposite.text);
    return status;
}

// Depths of contacts, and links of one robot beside each other, where somebody knows them.
static carom_status review_places(const carom_impact_data *data, const listener *to) {
    const carom_contact_geometry *geometry = data->geometry;
    contact_list deep = {0}, near = {0};
    for (int i = 0; i < data->contacts && geometry; i++) {
        const double gap = geometry->gaps ? geometry->gaps[i] : NAN;
        if (gap < -DEEP) list_contacts(&deep, "'%s' by %.4g mm", data->names[i], -1e3 * gap);
        const int joints = geometry->joints ? geometry->joints[i] : 0;
        if (joints > 0 && joints <= CAROM_NEIGHBOUR_JOINTS) list_contacts(&near, "'%s'", data->names[i]);
    }
    carom_status status = CAROM_OK;
    if (deep.count)
        status = say(to, "bodies penetrate each other at %s: an impact begins where they touch; is the position right?", deep.text);
    if (!status && near.count)
        status = say(to,
                     "%s %s between neighbouring links of one robot, whose shapes overlap: `exclude: [NAME, ...]` or `self: false` under "
                     "`contacts` leaves such contacts out",
                     near.text, near.count == 1 ? "is a contact" : "are contacts");
    return status;
}

carom_status carom_impact_review(const carom_impact *impact, carom_say *listen, void *user, carom_error *error) {
    const listener to = {listen, user, error};
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double defect = carom_impact_range_defect(impact);
    if (defect > UNEXPLAINED_VELOCITY)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "u is not in the range of W: no velocity of a system with this W has %.2g of it, and its kinetic energy is not "
                          "defined",
                          defect);
    carom_status status = carom_impact_has_system(impact) ? review_mass(data, &to) : CAROM_OK;
    if (!status) status = review_rows(impact, &to);
    return status ? status : review_places(data, &to);
}
