// SPDX-License-Identifier: Apache-2.0
// Pieces of walks in space: with the round cone, a contact that slides has the friction -mu_j lambda_j t_j/|t_j|, and turns where its
// acceleration is not along its slip. Unknowns are the impulses P and the integrals N_i of the normal velocities, from which the work is
// known:
//
//     dP/ds = (lambda, f),   u = u0 + W P,   dN_i/ds = n_i,   the work of contact i is -lambda_i N_i.
//
// Contacts at zero slip solve a convex problem at every state (balance.h), which also says when they slide off. Where slip is so small that
// t/|t| cannot be followed, a short step is implicit: friction is that of the slip at its end, or brings it to rest. A piece ends at the
// first event: n_i = 0, a contact has given back what it stored, slip vanishes, friction at rest reaches its bound or leaves it, or the
// weight that holds a contact vanishes.
#include "reach/arc.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/ode.h"
#include "reach/balance.h"
#include "reach/walk.h"

// Shares of the tolerance: the error of a step; velocities that count as zero; the error where slip turns within an implicit step; and the
// square of the change of velocities in an implicit step, whose error is of second order.
#define STEP_SHARE  0.0003
#define REST_SHARE  0.003
#define TURN_SHARE  0.02
#define CREEP_SHARE 0.00001
// Slip whose direction turns by no more than this share of its rates is straight.
#define STRAIGHT 1e-12
// The event is found within this share of a step; what is left is a straight line from there.
#define FOUND 1e-6
// Where the end of a step is looked for beside the secant's, as a share of the bracket.
#define BESIDE 0.02
// The first step, as a share of the length in which slip changes by itself.
#define FIRST 0.2

// How far the end goes back from just after an event at most, as a share of the step; stored work below this share is none.
#define MOST_BACK 1e-3
#define ROUNDING  1e-13

// A piece of more steps ends where it is: it is a solution so far.
enum { MOST_STEPS = 400, MOST_SEARCH = 60, MOST_RETRIES = 8 };

// The rates at the end of a step.
enum { LAST_STAGE = 6 };

// What may end a piece, for each contact.
enum { EVENT_NORMAL, EVENT_SPENT, EVENT_SLIP, EVENT_WEIGHT, EVENTS };

struct carom_arc {
    const carom_impact *impact;
    carom_walker *walker;  // of the present piece
    int contacts, n;
    double rest;   // velocities below are zero [m/s]
    double turn;   // error of slow slip that turns within an implicit step [m/s]
    double creep;  // change of velocities in an implicit step [m/s]
    carom_balance balance;
    carom_ode ode;                // impulses, [n], then integrals of normal velocities, [contacts]
    double *tolerance;            // of these
    double *u;                    // [n] where rates were asked for last
    double *p;                    // [n] rates there
    double *sign;                 // [contacts] of n_i on the piece; 0 at rest
    double *owed;                 // [contacts] Poisson: the rate of R_i over the weight
    bool *creeps, *landed;        // [contacts] in an implicit step; came to rest in it
    double *low, *high, *middle;  // [EVENTS x contacts] > 0 before an event, at both ends of the bracket and between
    carom_slip *before;           // [contacts] before an implicit step, and the rates
    double *start;                // [n]
    double *inside;               // [n + contacts]
    bool failed;                  // friction was not solved somewhere in the present step
    carom_arena arena;
};

// ------------------------------------------------------------------------------------------------------------- the rates

// u = u0 + W P: W is symmetric, so that its rows are its columns.
static void find_velocities(carom_arc *arc, const double *P) {
    const double *column = carom_impact_delassus(arc->impact);
    memcpy(arc->u, arc->walker->u, (size_t)arc->n * sizeof *arc->u);
    for (int c = 0; c < arc->n; c++, column += arc->n)
        for (int r = 0; r < arc->n; r++) arc->u[r] += column[r] * P[c];
}

static void find_directions(carom_arc *arc, const double *u) {
    for (int i = 0; i < arc->contacts; i++) {
        if (arc->balance.slip[i] != CAROM_SLIP_SLIDING) continue;
        const double *t = u + 3 * i + 1, speed = sqrt(t[0] * t[0] + t[1] * t[1]);
        // Exactly no slip keeps the last direction.
        for (int k = 0; k < 2 && speed > 0; k++) arc->balance.direction[2 * i + k] = -t[k] / speed;
    }
}

// A carom_ode_rate.
static void find_rates(void *user, double s, const double *y, double *rates) {
    (void)s;
    carom_arc *arc = user;
    find_velocities(arc, y);
    find_directions(arc, arc->u);
    if (!carom_balance_solve(&arc->balance, arc->p)) arc->failed = true;
    memcpy(rates, arc->p, (size_t)arc->n * sizeof *rates);
    for (int i = 0; i < arc->contacts; i++) rates[arc->n + i] = arc->u[3 * i];
}

// ------------------------------------------------------------------------------------------------------------- one piece

carom_status carom_arc_create(const carom_impact *impact, double tolerance, carom_arc **arc, carom_error *error) {
    *arc = NULL;
    carom_arc *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "walk in space");
    const size_t n = (size_t)carom_impact_contact_size(impact), contacts = (size_t)carom_impact_get_data(impact)->contacts;
    const double speed = carom_impact_velocity_scale(impact);
    *made = (carom_arc){.impact = impact,
                        .contacts = (int)contacts,
                        .n = (int)n,
                        .rest = REST_SHARE * tolerance * speed,
                        .turn = TURN_SHARE * tolerance * speed,
                        .creep = sqrt(CREEP_SHARE * tolerance) * speed};
    carom_balance_create(impact, &made->arena, &made->balance);
    carom_ode_create(&made->arena, (int)(n + contacts), &made->ode);
    made->tolerance = carom_arena_take(&made->arena, n + contacts, sizeof(double));
    made->u = carom_arena_take(&made->arena, n, sizeof(double));
    made->p = carom_arena_take(&made->arena, n, sizeof(double));
    made->sign = carom_arena_take(&made->arena, contacts, sizeof(double));
    made->owed = carom_arena_take(&made->arena, contacts, sizeof(double));
    made->creeps = carom_arena_take(&made->arena, contacts, sizeof(bool));
    made->landed = carom_arena_take(&made->arena, contacts, sizeof(bool));
    made->low = carom_arena_take(&made->arena, EVENTS * contacts, sizeof(double));
    made->high = carom_arena_take(&made->arena, EVENTS * contacts, sizeof(double));
    made->middle = carom_arena_take(&made->arena, EVENTS * contacts, sizeof(double));
    made->before = carom_arena_take(&made->arena, contacts, sizeof(carom_slip));
    made->start = carom_arena_take(&made->arena, n, sizeof(double));
    made->inside = carom_arena_take(&made->arena, n + contacts, sizeof(double));
    if (made->arena.failed) {
        carom_arc_free(made);
        return carom_fail_memory(error, "walk in space");
    }
    // An impulse changes velocities by its column of W at most; without any motion nothing is integrated.
    for (size_t c = 0; c < n; c++) {
        const double most = carom_max_abs(n, carom_impact_delassus(impact) + c * n),
                     impulse = STEP_SHARE * tolerance * speed / (most > 0 ? most : 1);
        made->tolerance[c] = fmax(impulse, DBL_MIN);
        if (c % 3 == 0) made->tolerance[n + c / 3] = fmax(impulse * speed, DBL_MIN);
    }
    made->ode.rate = find_rates;
    made->ode.user = made;
    made->ode.tolerance = made->tolerance;
    *arc = made;
    return CAROM_OK;
}

void carom_arc_free(carom_arc *arc) {
    if (!arc) return;
    carom_arena_free(&arc->arena);
    free(arc);
}

bool carom_arc_hold(carom_walker *walker) {
    carom_arc *arc = walker->arc;
    carom_balance *balance = &arc->balance;
    const double *mu = carom_impact_get_data(walker->impact)->friction;
    // Contacts with an impulse and friction slide, or are at zero slip.
    for (int i = 0; i < walker->contacts; i++) {
        const double *t = walker->u + 3 * i + 1, weight = walker->p[3 * i];
        balance->held[i] = walker->part[i] == PART_HELD && weight > 0;
        const bool rubs = weight > 0 && mu[i] > 0 && balance->omega[i] > 0;
        balance->slip[i] = !rubs ? CAROM_SLIP_NONE : t[0] != 0 || t[1] != 0 ? CAROM_SLIP_SLIDING : CAROM_SLIP_STICKING;
        walker->p[3 * i + 1] = walker->p[3 * i + 2] = 0;
    }
    find_directions(arc, walker->u);
    balance->leaves = true;
    const bool solved = carom_balance_solve(balance, walker->p);
    for (int i = 0; i < walker->contacts; i++)
        if (walker->part[i] == PART_HELD && !balance->held[i]) walk_leave_out(walker, i);
    if (!solved) return false;
    // Rates that friction and weights keep at zero are exactly that; sliding off is along the friction.
    for (int c = 0; c < walker->n; c++) walker->du[c] = walk_rate(walker, c);
    for (int i = 0; i < walker->contacts; i++) {
        double *du = walker->du + 3 * i, *f = walker->p + 3 * i + 1;
        if (balance->held[i]) du[0] = 0;
        const double size = hypot(f[0], f[1]), along = size > 0 ? fmax(-(du[1] * f[0] + du[2] * f[1]) / size, 0) : 0;
        for (int k = 0; k < 2 && balance->slip[i] == CAROM_SLIP_STICKING; k++) du[1 + k] = 0;
        for (int k = 0; k < 2 && balance->slip[i] == CAROM_SLIP_ROLLING; k++) du[1 + k] = size > 0 ? -along * f[k] / size : du[1 + k];
    }
    return true;
}

static double cross(const double a[2], const double b[2]) { return a[0] * b[1] - a[1] * b[0]; }

double carom_arc_event(const carom_walker *walker, bool *straight) {
    const carom_balance *balance = &walker->arc->balance;
    double event = INFINITY;
    *straight = true;
    for (int i = 0; i < walker->contacts; i++) {
        const double *t = walker->u + 3 * i + 1, *a = walker->du + 3 * i + 1;
        const double dot = t[0] * a[0] + t[1] * a[1], square = t[0] * t[0] + t[1] * t[1];
        const bool along = fabs(cross(t, a)) <= STRAIGHT * sqrt(square * (a[0] * a[0] + a[1] * a[1]));
        const bool slides = balance->slip[i] == CAROM_SLIP_SLIDING;
        if (slides && !along) *straight = false;
        // Contacts without friction turn as they like; where their slip vanishes, they may begin to stick.
        if (dot < 0 && (slides || (along && walk_active(walker, i)))) event = fmin(event, square / -dot);
    }
    return event;
}

// How far each contact is from its events: > 0 before, where rates were asked for last, with P and N in `y`.
static void measure_events(const carom_arc *arc, const double *y, double *values) {
    const carom_rebound *rebound = arc->walker->rebound;
    const carom_balance *balance = &arc->balance;
    for (int i = 0; i < arc->contacts; i++) {
        double *value = values + EVENTS * i;
        const double e = rebound->restitution[i], weight = arc->p[3 * i], stored = rebound->stored[i];
        for (int k = 0; k < EVENTS; k++) value[k] = INFINITY;
        if (!balance->held[i]) value[EVENT_NORMAL] = arc->sign[i] != 0 ? arc->sign[i] * arc->u[3 * i] : arc->rest - fabs(arc->u[3 * i]);
        if (rebound->hypothesis == CAROM_HYPOTHESIS_STRONGE && stored > 0 && arc->sign[i] > 0 && weight > 0)
            value[EVENT_SPENT] = stored - weight * y[arc->n + i] / (e * e);
        if (rebound->hypothesis == CAROM_HYPOTHESIS_POISSON && arc->owed[i] < 0) value[EVENT_SPENT] = stored + arc->owed[i] * y[3 * i];
        if (balance->slip[i] >= CAROM_SLIP_STICKING) value[EVENT_SLIP] = -balance->margin[i];
        if (balance->held[i]) value[EVENT_WEIGHT] = weight;
    }
}

static bool any_event(const carom_arc *arc, const double *values) {
    for (int k = 0; k < EVENTS * arc->contacts; k++)
        if (values[k] <= 0) return true;
    return false;
}

// The share of the step at which the first event has just happened: points at both sides of the secants' roots in turn.
static double find_event(carom_arc *arc) {
    const int count = EVENTS * arc->contacts;
    double low = 0, high = 1;
    for (int k = 0; k < MOST_SEARCH && high - low > FOUND; k++) {
        const double width = high - low;
        double first = high;
        for (int c = 0; c < count; c++) {
            if (!(arc->high[c] <= 0)) continue;
            // What begins at 0 has no secant.
            const double share = arc->low[c] > 0 ? arc->low[c] / (arc->low[c] - arc->high[c]) : 0.5;
            first = fmin(first, low + share * width);
        }
        const double beside = first + (k % 2 ? -BESIDE : BESIDE) * width;
        const double share = fmin(fmax(beside, low + BESIDE / 2 * width), high - BESIDE / 2 * width);
        carom_ode_inside(&arc->ode, share, arc->inside);
        find_rates(arc, 0, arc->inside, arc->ode.trial);
        measure_events(arc, arc->inside, arc->middle);
        const bool happened = any_event(arc, arc->middle);
        *(happened ? &high : &low) = share;
        memcpy(happened ? arc->high : arc->low, arc->middle, (size_t)count * sizeof *arc->middle);
    }
    return high;
}

// Moves the end of the step along a straight line.
static void move_end(carom_arc *arc, double by) {
    const double *rates = arc->ode.stage[LAST_STAGE];
    for (int k = 0; k < arc->ode.n; k++) arc->ode.end[k] += by * rates[k];
    arc->ode.length += by;
}

// Ends the step at the first of its events. Whose normal velocity vanishes or who is spent, exactly: on a straight line back from just
// after.
static void stop_at_event(carom_arc *arc) {
    carom_rebound *rebound = arc->walker->rebound;
    find_rates(arc, 0, arc->ode.y, arc->ode.trial);
    measure_events(arc, arc->ode.y, arc->low);
    carom_ode_shorten(&arc->ode, find_event(arc) * arc->ode.length);
    measure_events(arc, arc->ode.end, arc->high);
    double back = 0;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < arc->contacts; i++) {
            const double e = rebound->restitution[i], n = arc->u[3 * i], weight = arc->p[3 * i];
            const double normal = arc->high[EVENTS * i + EVENT_NORMAL], spent = arc->high[EVENTS * i + EVENT_SPENT];
            const double opens =
                arc->sign[i] * carom_dot(arc->n, carom_impact_delassus(arc->impact) + (size_t)(3 * i) * (size_t)arc->n, arc->p);
            const double spends = rebound->hypothesis == CAROM_HYPOTHESIS_POISSON ? arc->owed[i] * weight : -weight * n / (e * e);
            // First the earliest event, then who is spent there.
            if (k == 0 && normal <= 0 && opens < 0) back = fmax(back, normal / opens);
            if (k == 0 && spent <= 0 && spends < 0) back = fmax(back, spent / spends);
            if (k == 1 && spent <= 0 && spent - back * spends <= ROUNDING * rebound->stored[i]) rebound->spent[i] = 0;
        }
        if (k == 0) back = fmin(back, MOST_BACK * arc->ode.length);
    }
    move_end(arc, -back);
}

// The size of an implicit step: velocities change in it by the square root of the tolerance.
static double creep_length(const carom_arc *arc) {
    const double *W = carom_impact_delassus(arc->impact), *mu = carom_impact_get_data(arc->impact)->friction;
    double strongest = 0;
    for (int i = 0; i < arc->contacts; i++) {
        const double mass = arc->balance.omega[i], normal = W[(size_t)(3 * i) * (size_t)arc->n + (size_t)(3 * i)];
        strongest = fmax(strongest, arc->p[3 * i] * (1 + mu[i]) * fmax(normal, mass > 0 ? 1 / mass : 0));
    }
    return arc->creep / strongest;
}

// Is the slip so small that friction may end it within the length?
static bool is_slow(const carom_arc *arc, int i, double length) {
    const double *t = arc->u + 3 * i + 1, mu = carom_impact_get_data(arc->impact)->friction[i];
    if (arc->balance.slip[i] == CAROM_SLIP_ROLLING) return true;
    if (arc->balance.slip[i] != CAROM_SLIP_SLIDING) return false;
    return hypot(t[0], t[1]) <= mu * arc->p[3 * i] / arc->balance.omega[i] * length;
}

// One implicit step, with constant rates: contacts that slip slowly come to rest in it, or have the friction of the slip at its end. Those
// that slide fast have the direction of the middle. `*happened`: the piece ends there.
static bool creep(carom_arc *arc, double length, double limit, bool *happened) {
    carom_balance *balance = &arc->balance;
    carom_ode *ode = &arc->ode;
    carom_rebound *rebound = arc->walker->rebound;
    const size_t n = (size_t)arc->n;
    const double *W = carom_impact_delassus(arc->impact);
    memcpy(arc->inside, arc->u, n * sizeof *arc->inside);
    memcpy(arc->before, balance->slip, (size_t)arc->contacts * sizeof *balance->slip);
    memcpy(arc->start, arc->p, n * sizeof *arc->p);
    for (int i = 0; i < arc->contacts; i++) {
        arc->creeps[i] = is_slow(arc, i, length);
        const double *t = arc->u + 3 * i + 1;
        for (int k = 0; k < 2; k++) {
            balance->offset[2 * i + k] = arc->creeps[i] && balance->slip[i] == CAROM_SLIP_SLIDING ? t[k] / length : 0;
            arc->inside[3 * i + 1 + k] += length / 2 * carom_dot(arc->n, W + (size_t)(3 * i + 1 + k) * n, arc->p);
        }
    }
    for (int i = 0; i < arc->contacts; i++)
        if (arc->creeps[i]) balance->slip[i] = CAROM_SLIP_STICKING;
    find_directions(arc, arc->inside);
    const bool solved = carom_balance_solve(balance, arc->p);
    memset(balance->offset, 0, 2 * (size_t)arc->contacts * sizeof *balance->offset);
    // Slip that turns is left to shorter steps.
    bool follows = solved;
    for (int i = 0; i < arc->contacts; i++) {
        const double *t = arc->u + 3 * i + 1, *f = arc->p + 3 * i + 1;
        if (!arc->creeps[i] || balance->slip[i] != CAROM_SLIP_ROLLING) continue;
        const bool against = t[0] * f[0] + t[1] * f[1] <= 0 && fabs(cross(t, f)) <= arc->turn * hypot(f[0], f[1]);
        if (!against && hypot(t[0], t[1]) > arc->turn) follows = false;
    }
    if (!follows) {
        memcpy(balance->slip, arc->before, (size_t)arc->contacts * sizeof *balance->slip);
        memcpy(arc->p, arc->start, n * sizeof *arc->p);
        return false;
    }
    // Rates are constant: the other events are those of a straight piece.
    double end = fmin(length, limit - ode->s);
    *happened = false;
    measure_events(arc, ode->y, arc->low);
    for (int i = 0; i < arc->contacts; i++) {
        const double dn = carom_dot(arc->n, W + (size_t)(3 * i) * n, arc->p), now = arc->u[3 * i], weight = arc->p[3 * i];
        const double e = rebound->restitution[i], left = arc->low[EVENTS * i + EVENT_SPENT];
        arc->middle[i] = INFINITY;
        if (!balance->held[i] && arc->sign[i] * now > 0 && arc->sign[i] * dn < 0) arc->middle[i] = -now / dn;
        if (!isinf(left) && rebound->hypothesis == CAROM_HYPOTHESIS_POISSON)
            arc->middle[i] = fmin(arc->middle[i], -left / (arc->owed[i] * weight));
        if (!isinf(left) && rebound->hypothesis == CAROM_HYPOTHESIS_STRONGE) {
            // weight (now s + dn s^2/2) = e^2 left
            const double work = fmax(e * e * left / weight, 0), radicand = now * now + 2 * dn * work;
            const double spent = radicand >= 0 ? 2 * work / (now + sqrt(radicand)) : INFINITY;
            if (spent <= fmin(end, arc->middle[i])) rebound->spent[i] = 0;
            arc->middle[i] = fmin(arc->middle[i], spent);
        }
        if (arc->middle[i] <= end) *happened = true;
    }
    for (int i = 0; i < arc->contacts; i++) end = fmin(end, arc->middle[i]);
    for (int i = 0; i < arc->contacts; i++) {
        const double dn = carom_dot(arc->n, W + (size_t)(3 * i) * n, arc->p);
        if (arc->middle[i] > end) rebound->spent[i] = INFINITY;
        ode->end[arc->n + i] = ode->y[arc->n + i] + end * (arc->u[3 * i] + end / 2 * dn);
        if (balance->held[i] && !(arc->p[3 * i] > 0)) *happened = true;
        const bool rolls = balance->slip[i] == CAROM_SLIP_ROLLING;
        // Friction at rest has reached its bound, or slip its end.
        if (!arc->creeps[i] && rolls) *happened = true;
        if (!arc->creeps[i]) continue;
        arc->landed[i] = !rolls && end == length;
        if (arc->landed[i]) *happened = true;
        balance->slip[i] = CAROM_SLIP_SLIDING;
    }
    for (int c = 0; c < arc->n; c++) ode->end[c] = ode->y[c] + end * arc->p[c];
    ode->length = end;
    find_velocities(arc, ode->end);
    return true;
}

// Makes the walker's rates the means of the piece, and its end what is at rest.
static void take_means(carom_arc *arc) {
    carom_walker *walker = arc->walker;
    const double *y = arc->ode.y, length = arc->ode.s;
    find_velocities(arc, y);
    for (int i = 0; i < arc->contacts; i++) {
        double *u = arc->u + 3 * i;
        if (arc->balance.held[i] || fabs(u[0]) <= arc->rest) u[0] = 0;
        if (arc->landed[i] || arc->balance.slip[i] == CAROM_SLIP_STICKING || hypot(u[1], u[2]) <= arc->rest) u[1] = u[2] = 0;
        walker->mean[i] = arc->balance.held[i] ? 0 : y[arc->n + i] / length;
        walker->rebound->rate[i] = arc->owed[i] * y[3 * i] / length;
    }
    for (int c = 0; c < arc->n; c++) {
        walker->p[c] = y[c] / length;
        walker->du[c] = (arc->u[c] - walker->u[c]) / length;
    }
}

// What is known at the start of a piece.
static void begin(carom_arc *arc, carom_walker *walker) {
    arc->walker = walker;
    arc->balance.leaves = false;
    for (int i = 0; i < arc->contacts; i++) {
        const double n = walker->u[3 * i], dn = walker->du[3 * i], weight = walker->p[3 * i];
        arc->sign[i] = n != 0 ? (n > 0) - (n < 0) : (dn > 0) - (dn < 0);
        arc->owed[i] = weight > 0 ? walker->rebound->rate[i] / weight : 0;
        arc->landed[i] = false;
        walker->rebound->spent[i] = INFINITY;
    }
    memcpy(arc->p, walker->p, (size_t)arc->n * sizeof *arc->p);
    memcpy(arc->u, walker->u, (size_t)arc->n * sizeof *arc->u);
    memset(arc->ode.y, 0, (size_t)arc->ode.n * sizeof *arc->ode.y);
    arc->ode.s = 0;
}

// One step, shorter where friction is not solved.
static bool take_step(carom_arc *arc) {
    for (int k = 0; k < MOST_RETRIES; k++) {
        arc->failed = false;
        const bool made = carom_ode_step(&arc->ode);
        if (made && !arc->failed) return true;
        arc->ode.length /= 8;
    }
    return false;
}

// The step to try where slip turns by itself.
static double guess_length(const carom_arc *arc, double first) {
    const double *W = carom_impact_delassus(arc->impact);
    double guess = first;
    for (int i = 0; i < arc->contacts; i++) {
        if (arc->balance.slip[i] != CAROM_SLIP_SLIDING) continue;
        const double *row = W + (size_t)(3 * i + 1) * (size_t)arc->n, *t = arc->u + 3 * i + 1;
        guess = fmin(guess, FIRST * hypot(t[0], t[1]) / hypot(carom_dot(arc->n, row, arc->p), carom_dot(arc->n, row + arc->n, arc->p)));
    }
    return guess;
}

double carom_arc_go(carom_walker *walker, double first, double limit) {
    carom_arc *arc = walker->arc;
    carom_ode *ode = &arc->ode;
    begin(arc, walker);
    bool happened = false, starts = true;
    for (int k = 0; k < MOST_STEPS && !happened && ode->s < limit; k++) {
        const double length = creep_length(arc);
        bool slow = false;
        for (int i = 0; i < arc->contacts; i++) slow = slow || is_slow(arc, i, length);
        if (slow && creep(arc, length, limit, &happened)) {
            ode->next = ode->length;
            carom_ode_advance(ode);
            starts = true;
            continue;
        }
        if (starts) ode->length = guess_length(arc, first);
        starts = false;
        ode->length = fmin(ode->length, limit - ode->s);
        for (int i = 0; i < arc->contacts; i++)
            if (arc->balance.slip[i] == CAROM_SLIP_ROLLING) ode->length = fmin(ode->length, length);
        if (!take_step(arc)) break;
        measure_events(arc, ode->end, arc->high);
        happened = any_event(arc, arc->high);
        if (happened) stop_at_event(arc);
        // Who slides off has a direction of its own.
        for (int i = 0; i < arc->contacts; i++)
            if (arc->balance.slip[i] == CAROM_SLIP_ROLLING && hypot(arc->u[3 * i + 1], arc->u[3 * i + 2]) > arc->rest)
                arc->balance.slip[i] = CAROM_SLIP_SLIDING;
        carom_ode_advance(ode);
    }
    if (ode->s > 0) take_means(arc);
    return ode->s;
}

void carom_arc_settle(carom_walker *walker, const double *impulse) {
    const carom_arc *arc = walker->arc;
    carom_impact_contact_velocity(walker->impact, carom_impact_get_data(walker->impact)->velocity, walker->u);
    const double *column = carom_impact_delassus(walker->impact);
    for (int c = 0; c < arc->n; c++, column += arc->n)
        for (int r = 0; r < arc->n; r++) walker->u[r] += column[r] * impulse[c];
    for (int i = 0; i < arc->contacts; i++) {
        double *u = walker->u + 3 * i;
        if (fabs(u[0]) <= arc->rest) u[0] = 0;
        if (hypot(u[1], u[2]) <= arc->rest) u[1] = u[2] = 0;
    }
}
