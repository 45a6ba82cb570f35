// SPDX-License-Identifier: Apache-2.0
// The weights of one piece of a walk: which contacts take part, which of them are held at n_i v = 0, and a direction that stays in the
// inclusion.
#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "reach/walk.h"

// Probability that a contact takes part in a piece; weights spread evenly over this many octaves, so that nearly one contact alone acts now
// and then. They decide how evenly walks cover the set, not which of its points they can reach: these, and how often walk.c goes on to an
// event, cover the sets of the rocking block, the box and wall, the compass gait and RAMone well among those tried.
#define TAKES_PART 0.6
#define OCTAVES    9

// Probabilities that a contact with Jn_i v = 0 is held there, by the weight under which it neither opens nor is pressed down; that the
// least such weight is sought first; and that a contact which would open under its weight gets a smaller one, and is not held.
#define HOLDS 0.4
#define LEAST 0.5
#define LIGHT 0.5

// A weight below every one that matters: friction with mu up to 1e6 under it is nothing beside the other contacts'.
#define TINY_WEIGHT 0x1p-60

// Draws of weights for one piece; nearly all first ones serve.
enum { MOST_DRAWS = 64 };

const char *const carom_weights_names[] = {
    [CAROM_WEIGHTS_MIXED] = "mixed", [CAROM_WEIGHTS_CONSTANT] = "constant", [CAROM_WEIGHTS_SINGLE] = "single", NULL};

// ---------------------------------------------------------------------------------------------------------- one direction

int carom_walk_octaves(double mu) { return OCTAVES + ilogb(1 + mu); }

// 2^-octave: what ldexp would call for.
static double power_of_half(int octave) {
    const uint64_t bits = (uint64_t)(DBL_MAX_EXP - 1 - octave) << (DBL_MANT_DIG - 1);
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

// A weight: octaves spread evenly. With large mu, friction makes itself felt under normal impulses that are smaller by the factor mu:
// weights are drawn down to there. Without a logarithm, whose last bits differ between machines.
double carom_walk_draw_weight(carom_walker *walker, int contact) {
    const int octave = (int)(walker->octaves[contact] * carom_numbers_take(&walker->numbers, CAROM_TAPE_OCTAVE, contact));
    return (1 + carom_numbers_take(&walker->numbers, CAROM_TAPE_MANTISSA, contact)) * power_of_half(octave);
}

// The whole weight on one contact, until it is spent: then on another one, each with the same probability.
static void choose_single(carom_walker *walker) {
    int unspent = 0;
    const bool stays = walker->single >= 0 && walk_unspent(walker, walker->single, walker->stride);
    for (int i = 0; i < walker->contacts && !stays; i++)
        if (walk_unspent(walker, i, walker->stride) && carom_numbers_take(&walker->numbers, CAROM_TAPE_ALONE, i) * ++unspent < 1)
            walker->single = i;
    walker->p[walker->stride * walker->single] = 1;
}

// The proportion of the walk, of those that are active; the others drive those that are at rest, and hold them.
static void share_constantly(carom_walker *walker) {
    for (int i = 0; i < walker->contacts; i++) {
        if (!walk_active(walker, i, walker->stride)) continue;
        walker->p[walker->stride * i] = walker->proportion[i];
        walker->part[i] = walk_unspent(walker, i, walker->stride) ? PART_FREE : PART_HELD;
    }
}

// Random weights of a random non-empty subset of the active contacts, and which of those with n_i v = 0 are held.
static CAROM_INLINE void draw_weights(carom_walker *walker, int contacts, int stride) {
    for (int c = 0; c < contacts * stride; c++) walker->p[c] = 0;
    for (int i = 0; i < contacts; i++) walker->part[i] = PART_FREE;
    if (walker->weights == CAROM_WEIGHTS_SINGLE) choose_single(walker);
    if (walker->weights == CAROM_WEIGHTS_CONSTANT) share_constantly(walker);
    if (walker->weights != CAROM_WEIGHTS_MIXED) return;
    // Contacts that take no part have the weight zero.
    int active = 0, drawn = 0, one = 0;
    for (int i = 0; i < contacts; i++) {
        if (!walk_active(walker, i, stride)) continue;
        // Each active contact is the one that takes part alone, should no other, with the same probability.
        if (carom_numbers_take(&walker->numbers, CAROM_TAPE_ALONE, i) * ++active < 1) one = i;
        // The others take part at random.
        if (!walker->settles && carom_numbers_take(&walker->numbers, CAROM_TAPE_PART, i) >= TAKES_PART) continue;
        walker->p[stride * i] = carom_walk_draw_weight(walker, i);
        drawn++;
    }
    if (!drawn) walker->p[stride * one] = 1;
    // One at least is not held: it drives the others.
    for (int i = 0; i < contacts && drawn > 1; i++) {
        if (!(walker->p[stride * i] > 0 && walker->u[stride * i] == 0)) continue;
        if (!walker->settles && carom_numbers_take(&walker->numbers, CAROM_TAPE_HOLD, i) >= HOLDS) continue;
        if (carom_numbers_take(&walker->numbers, CAROM_TAPE_LEAST, i) < LEAST) walker->p[stride * i] *= TINY_WEIGHT;
        walker->part[i] = PART_HELD;
        drawn--;
    }
}

// A contact with n_i v = 0 that takes part and has nothing stored must stay closed: an open contact has no impulse.
static CAROM_INLINE int find_opening(const carom_walker *walker, int contacts, int stride) {
    for (int i = 0; i < contacts; i++)
        if (walker->p[stride * i] > 0 && walker->u[stride * i] == 0 && walker->du[stride * i] > 0 && !(walker->rebound->stored[i] > 0))
            return i;
    return -1;
}

// Does a contact take part?
static CAROM_INLINE bool has_weights(const carom_walker *walker, int contacts, int stride) {
    for (int i = 0; i < contacts; i++)
        if (walker->p[stride * i] > 0) return true;
    return false;
}

// One direction in D(v) that stays in D for a while. A contact that would open under its weight gets a smaller one or is held, or
// is left out where that is not possible; contacts without weight may open or be pressed down. So every draw with friction that can be
// solved comes to an end.
static CAROM_INLINE bool choose(carom_walker *walker, carom_walk_hold hold, int contacts, int stride) {
    for (int draw = 0; draw < MOST_DRAWS; draw++) {
        draw_weights(walker, contacts, stride);
        for (;;) {
            if (!hold(walker)) {
                // Without those that cannot be held.
                bool held = false;
                for (int i = 0; i < contacts; i++) {
                    if (walker->part[i] != PART_HELD) continue;
                    walk_leave_out(walker, i);
                    held = true;
                }
                if (!held) break;
                continue;
            }
            const int opening = find_opening(walker, contacts, stride);
            if (opening < 0 && has_weights(walker, contacts, stride)) return true;
            if (opening < 0) break;
            if (walker->weights == CAROM_WEIGHTS_MIXED && !walker->settles &&
                carom_numbers_take(&walker->numbers, CAROM_TAPE_LIGHTEN, opening) < LIGHT)
                walker->p[stride * opening] *= carom_numbers_take(&walker->numbers, CAROM_TAPE_LIGHTER, opening);
            else
                walker->part[opening] = PART_HELD;
        }
    }
    return false;
}

bool carom_walk_choose_direction(carom_walker *walker, carom_walk_hold hold) {
    return walker->n == 4 ? choose(walker, hold, 2, 2) : choose(walker, hold, walker->contacts, walker->stride);
}
