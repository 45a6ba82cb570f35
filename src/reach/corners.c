// SPDX-License-Identifier: Apache-2.0
// Steps with corners, eight contacts at once, compiled once for every instruction set: the build defines KERNEL.
#include "reach/corners.h"

#include <math.h>

#include "carom/lanes.h"

#ifndef KERNEL
#define KERNEL carom_corners_follow_portable
#endif

_Static_assert((int)LANES == (int)CAROM_STEP_LANES, "contacts are filled up to lanes");

// Changes of mode that are followed, for each contact: few steps have more than one.
enum { MOST_CHANGES = 4 };

static INLINE unsigned positive(lanes a) { return ALL_LANES & ~at_least(spread(0), a); }
static INLINE unsigned negative(lanes a) { return ALL_LANES & ~at_least(a, spread(0)); }

// Where component k of contact space stands.
static INLINE int place(const carom_corners *c, int k) { return k / 2 + k % 2 * c->filled; }

// velocity += W impulse, where these shares are all of the impulse.
static INLINE void add_response(const carom_corners *c, int count, const int *columns, const double *shares, double *velocity) {
    const int size = 2 * c->filled;
    for (int k = 0; k < size; k += LANES) {
        lanes sum = load(velocity + k);
        for (int j = 0; j < count; j++) sum = add(sum, multiply(spread(shares[j]), load(c->response + columns[j] * size + k)));
        store(velocity + k, sum);
    }
}

// Rates of impulse and velocity where closed contacts press in proportion to what is left; friction at rest minimises the rate of slip.
// False where nothing presses, or friction is not solved.
static INLINE bool set_rates(carom_corners *c) {
    carom_box *box = c->friction;
    const lanes zero = spread(0);
    _Alignas(64) double limit[LANES], friction[LANES];
    size_t set = 0;
    int count = 0;
    box->size = 0;
    for (int first = 0; first < c->filled; first += LANES) {
        const lanes weight = choose(at_least(zero, load(c->u + first)), load(c->left + first), zero);
        const lanes slip = load(c->u + c->filled + first), most = multiply(load(c->mu + first), weight);
        const unsigned rubs = positive(most), back = negative(slip), slips = positive(slip) | back;
        store(c->weight + first, weight);
        store(limit, most);
        store(friction, choose(back, most, subtract(zero, most)));
        for (unsigned rest = positive(weight); rest; rest &= rest - 1, count++) {
            const int i = first + __builtin_ctz(rest);
            c->columns[count] = i;
            c->shares[count] = c->weight[i];
        }
        for (unsigned rest = rubs & slips; rest; rest &= rest - 1, count++) {
            const int l = __builtin_ctz(rest);
            c->columns[count] = c->filled + first + l;
            c->shares[count] = friction[l];
        }
        for (unsigned rest = rubs & ~slips; rest; rest &= rest - 1, box->size++) {
            const int l = __builtin_ctz(rest);
            c->resting[box->size] = first + l;
            box->bound[box->size] = limit[l];
        }
        if (!first) set = rubs & ~slips;
    }
    if (!count) return false;
    for (int k = 0; k < 2 * c->filled; k += LANES) store(c->du + k, zero);
    add_response(c, count, c->columns, c->shares, c->du);
    if (!box->size) return true;
    for (int a = 0; a < box->size; a++) {
        c->columns[a] = c->filled + c->resting[a];
        box->b[a] = c->du[c->columns[a]];
    }
    if (!carom_corners_hold(c, set)) return false;
    add_response(c, box->size, c->columns, box->x, c->du);
    for (int a = 0; a < box->size; a++) c->du[c->columns[a]] = box->slope[a];
    return true;
}

// The share of the rest of the step until the slip of a contact that presses, or the normal velocity of one that is to press, is zero: of
// the component *at. 1, and -1, where that does not happen.
static INLINE double find_change(const carom_corners *c, int *at) {
    const lanes one = spread(1), zero = spread(0);
    _Alignas(64) double until[LANES];
    double length = 1;
    *at = -1;
    for (int first = 0; first < 2 * c->filled; first += LANES) {
        const bool normal = first < c->filled;
        const lanes u = load(c->u + first), du = load(c->du + first);
        // What vanishes has a rate of the other sign.
        unsigned ends = normal ? positive(load(c->left + first)) & positive(u) & negative(du)
                               : positive(load(c->weight + first - c->filled)) & negative(multiply(u, du));
        if (!ends) continue;
        store(until, divide(subtract(zero, u), choose(ends, du, one)));
        for (; ends; ends &= ends - 1) {
            const int l = __builtin_ctz(ends);
            if (!(until[l] < length)) continue;
            length = until[l];
            *at = first + l;
        }
    }
    return length;
}

// Moves on by this share of the rest of the step. False where a contact opens that presses; *done: nothing is left.
static INLINE bool move_on(carom_corners *c, double length, int at, bool *done) {
    const lanes rest = spread(c->rest), zero = spread(0), remains = spread(at < 0 ? 0 : 1 - length);
    for (int k = 0; k < 2 * c->filled; k += LANES) {
        const lanes moved = add(load(c->u + k), multiply(spread(length), load(c->du + k)));
        store(c->u + k, choose(at_least(rest, magnitude(moved)), zero, moved));
    }
    if (at >= 0) c->u[at] = 0;
    unsigned opens = 0, more = 0;
    for (int i = 0; i < c->filled; i += LANES) {
        const unsigned presses = positive(load(c->weight + i));
        const lanes left = load(c->left + i), after = choose(presses, multiply(remains, left), left);
        store(c->left + i, after);
        opens |= presses & positive(load(c->u + i));
        more |= positive(after);
    }
    *done = !more;
    return !opens;
}

bool KERNEL(carom_corners *c, const double *u, const double *impulse, size_t stride) {
    int count = 0;
    for (int k = 0; k < 2 * c->contacts; k++) {
        const double start = u[(size_t)k * stride], share = impulse[(size_t)k * stride];
        c->u[place(c, k)] = fabs(start) <= c->rest ? 0 : start;
        c->end[place(c, k)] = start;
        c->columns[count] = place(c, k);
        c->shares[count] = share;
        count += share != 0;
        if (k % 2 == 0) c->left[k / 2] = share > c->nothing[k / 2] ? share : 0;
    }
    add_response(c, count, c->columns, c->shares, c->end);
    bool done = false;
    for (int change = 0; change < MOST_CHANGES * c->contacts && !done; change++) {
        if (!set_rates(c)) return false;
        int at;
        const double length = find_change(c, &at);
        if (!move_on(c, length, at, &done)) return false;
    }
    unsigned apart = !done;
    for (int k = 0; k < 2 * c->filled; k += LANES)
        apart |= positive(subtract(magnitude(subtract(load(c->u + k), load(c->end + k))), spread(2 * c->rest)));
    return !apart;
}
