// SPDX-License-Identifier: Apache-2.0
/// @file
/// One walk on its way: what straight and curved pieces share. Not installed.
#ifndef CAROM_REACH_WALK_H
#define CAROM_REACH_WALK_H

#include <math.h>

#include "carom/box.h"
#include "carom/dense.h"
#include "reach/reach_internal.h"
#include "reach/rebound.h"

/// What becomes of a contact in one piece: it has a weight, it is held, or its weight has been sought and it is held no more.
typedef enum contact_part { PART_FREE, PART_HELD, PART_LEFT } contact_part;

struct carom_walker {
    const carom_impact *impact;
    const carom_impact_data *data;  // of the impact
    const double *delassus;         // W [n x n]
    const carom_control *control;
    int64_t max_steps;
    carom_weights weights;
    carom_rebound *rebound;
    int contacts, n;
    int stride;             // 1 + tangent_dim: contact i has the rows stride * i, its normal, and the tangents after it
    double gain;            // of energy on the present walk [J]; with Poisson's hypothesis of K alone
    double zero_velocity;   // AT_REST in m/s
    double most_impulse;    // MOST_IMPULSE in N s
    double regularisation;  // REGULARISATION in 1/kg
    double *columns;        // [n x n] of W; each has room for whole WALK_ROWS
    double *u;              // [n] contact velocity, contact-major: normal, tangents
    double *du;             // [n] its rate, with the same room
    double *p;              // [n] rates of the impulses: weights, and friction
    double *mean;           // [contacts] mean normal velocity on the piece
    contact_part *part;     // [contacts]
    int *octaves;           // [contacts] carom_walk_octaves
    double *proportion;     // [contacts] of constant weights
    int single;             // the contact of single weights
    bool settles;           // the present piece goes straight on
    struct carom_arc *arc;  // curved pieces; NULL for planar contacts
    // Friction of planar contacts
    int *resting;         // [contacts] that take part with friction and t_i v = 0
    double *side;         // [contacts] sign of the friction of those that slide or are about to; 0 for those that stick
    carom_box *friction;  // of the resting ones
    // Newton's method for held contacts: which rows of W are unknown (2 i a weight, 2 i + 1 friction that sticks), and its equations
    int *unknown, *exchanges;  // [n]
    double *matrix, *change;   // [n x n], [n]
    carom_numbers numbers;
    carom_trace trace;
    carom_arena arena;
};

// Functions that take `contacts` and `stride` are made once for two planar contacts, whose loops have bounds that are constants, and once
// for all others; hold_contacts of walk.c, where most of the time goes, for two to five.

/// May the contact have an impulse: n_i v <= 0, or something is stored?
static inline bool walk_active(const carom_walker *walker, int contact, int stride) {
    return !(walker->u[stride * contact] > 0) || walker->rebound->stored[contact] > 0;
}

/// Has a contact still to be acted on?
static inline bool walk_unspent(const carom_walker *walker, int contact, int stride) {
    return walker->u[stride * contact] < 0 || walker->rebound->stored[contact] > 0;
}

static inline double walk_delassus(const carom_walker *walker, int row, int column) {
    return walker->delassus[(size_t)row * (size_t)walker->n + (size_t)column];
}

/// Leaves a contact out of the piece.
static inline void walk_leave_out(carom_walker *walker, int contact) {
    walker->p[walker->stride * contact] = 0;
    walker->part[contact] = PART_LEFT;
}

/// Rates within this share of the terms they are a sum of are zero.
#define WALK_STEADY 1e-12

/// Rows of W p at a time, in vectors of the compiler that any machine has.
enum { WALK_ROWS = 2 };
typedef double walk_rows __attribute__((vector_size(WALK_ROWS * sizeof(double)), may_alias));
typedef int64_t walk_bits __attribute__((vector_size(WALK_ROWS * sizeof(int64_t))));

/// WALK_ROWS of the rates du = W p; a sum that is round-off of its terms is zero, so that steady contacts stay steady.
static CAROM_INLINE void walk_find_rows(carom_walker *walker, int row, int n) {
    const size_t width = (size_t)(n + n % WALK_ROWS);
    walk_rows sum = {0}, magnitude = {0};
    const double *column = walker->columns + row;
    for (int c = 0; c < n; c++, column += width) {
        const walk_rows term = *(const walk_rows *)column * walker->p[c];
        sum += term;
        magnitude += (walk_rows)((walk_bits)term & INT64_MAX);
    }
    const walk_bits steady = (walk_rows)((walk_bits)sum & INT64_MAX) <= WALK_STEADY * magnitude;
    *(walk_rows *)(walker->du + row) = (walk_rows)((walk_bits)sum & ~steady);
}

/// All of du = W p.
static CAROM_INLINE void walk_find_rates(carom_walker *walker, int n) {
    for (int row = 0; row < n; row += WALK_ROWS) walk_find_rows(walker, row, n);
}

/// Over how many octaves the weights of a contact with this friction spread.
int carom_walk_octaves(double mu);

/// A random weight of a contact.
double carom_walk_draw_weight(carom_walker *walker, int contact);

/// Finds friction and the weights of the held contacts for the weights in p, and the rates du. False where there are none, or they are not
/// found; those whose weight would not be positive are left out.
typedef bool (*carom_walk_hold)(carom_walker *walker);

/// One direction in D(v) that stays in D on a piece: weights, friction and rates. False where no draw of weights has one.
bool carom_walk_choose_direction(carom_walker *walker, carom_walk_hold hold);

#endif
