// SPDX-License-Identifier: Apache-2.0
// The geoms that are nearest to each other, for states in which none touch.
//
// MuJoCo finds contacts of geoms that are closer than a margin. The margin is doubled until enough pairs are within it, and is then
// narrowed to the nearest pair, because distances of convex shapes are the better the closer the margin is to them.
#include <math.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

// Margins that are tried: from this share of the model's extent on, doubled up to a thousand times the extent.
#define FIRST_MARGIN 1e-3
enum { MARGINS = 20, NARROWINGS = 3 };

// Takes a contact's pair among the nearest, which are in order of their distance.
static void note_pair(const mjContact *contact, mjContact *nearest, int *count) {
    // A pair that is known by another point has the smaller distance of the two.
    for (int i = 0; i < *count; i++) {
        if (nearest[i].geom1 != contact->geom1 || nearest[i].geom2 != contact->geom2) continue;
        if (nearest[i].dist <= contact->dist) return;
        for (int k = i; k + 1 < *count; k++) nearest[k] = nearest[k + 1];
        (*count)--;
        break;
    }
    int place = *count;
    while (place > 0 && nearest[place - 1].dist > contact->dist) place--;
    if (place == MODEL_NEAREST) return;
    if (*count < MODEL_NEAREST) (*count)++;
    for (int k = *count - 1; k > place; k--) nearest[k] = nearest[k - 1];
    nearest[place] = *contact;
}

// The pairs within a margin and at least `least` apart, as far as the detection takes them; false where MuJoCo has no room for them.
static bool look_within(carom_model *model, const carom_detection *detection, double least, double margin, mjContact *nearest, int *count) {
    *count = 0;
    if (model_find_contacts(model, margin, NULL)) return false;
    for (int i = 0; i < model->data->ncon; i++) {
        const mjContact *contact = &model->data->contact[i];
        if (model_touches_flex(contact) || !(contact->dist >= least)) continue;
        if (detection && model_judge_pair(model, detection, (int[]){contact->geom1, contact->geom2}) != MODEL_KEPT) continue;
        note_pair(contact, nearest, count);
    }
    return true;
}

int model_find_nearest(carom_model *model, const carom_detection *detection, double least, mjContact nearest[MODEL_NEAREST]) {
    mjContact found[MODEL_NEAREST];
    int count = 0, found_count;
    double margin = FIRST_MARGIN * model->compiled->stat.extent;
    for (int i = 0; i < MARGINS && count < MODEL_NEAREST; i++, margin *= 2) {
        if (!look_within(model, detection, least, margin, found, &found_count)) break;
        if (found_count < count) continue;
        memcpy(nearest, found, sizeof *nearest * (size_t)found_count);
        count = found_count;
    }
    if (count) model_narrow_to_pair(model, &nearest[0]);
    return count;
}

bool model_narrow_to_pair(carom_model *model, mjContact *pair) {
    int kept = 0;
    for (int i = 0; i < NARROWINGS; i++) {
        const double margin = fmax(pair->dist, 0) * 1.001 + 1e-9 * model->compiled->stat.extent;
        if (model_find_contacts(model, margin, NULL)) return false;
        // All points of the pair, of which the nearest says the distance.
        kept = 0;
        mjContact *contacts = model->data->contact, nearest = *pair;
        for (int k = 0; k < model->data->ncon; k++) {
            if (contacts[k].geom1 != pair->geom1 || contacts[k].geom2 != pair->geom2) continue;
            if (!kept || contacts[k].dist < nearest.dist) nearest = contacts[k];
            contacts[kept++] = contacts[k];
        }
        model->data->ncon = kept;
        if (!kept) return false;
        *pair = nearest;
        if (!(pair->dist > 0)) break;
    }
    return true;
}
