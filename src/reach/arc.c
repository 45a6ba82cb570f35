// SPDX-License-Identifier: Apache-2.0
// Pieces of walks in space: with the round cone, a contact that slides has the friction -mu_j lambda_j t_j/|t_j|, and turns where its
// acceleration is not along its slip. A piece is integrated in steps of power series (series.h) for the velocities, the impulses, and the
// integrals N_i of the normal velocities, from which the work of contact i is -lambda_i N_i.
//
// Contacts at zero slip solve a convex problem (balance.h) at the ends of steps, which also says when they slide off; within a step they
// stick. A piece ends at the first event: n_i = 0, a contact has given back what it stored, slip vanishes, friction at rest reaches its
// bound, or the weight that holds a contact vanishes.
#include "reach/arc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "reach/balance.h"
#include "reach/series.h"
#include "reach/walk.h"

// The error of a step, as a share of the tolerance.
#define STEP_SHARE 0.05
// Impulses that alone would change velocities by so many times the velocity scale of the impact, and together do not, cancel.
#define FUTILE 1e6
// Slip whose direction turns by no more than this share of its rates is straight.
#define STRAIGHT 1e-12
// Where friction at rest reaches its bound is found within this share of a step.
#define FOUND 1e-6
// The error of a step, as a share of each slip at most: slip would never vanish otherwise.
#define SLIP_SHARE 0.03

// A piece of more steps ends where it is: it is a solution so far.
enum { MOST_STEPS = 400, MOST_SEARCH = 60 };

struct carom_arc {
    const carom_impact *impact;
    carom_walker *walker;  // of the present piece
    int contacts, n;
    double tolerance;  // of velocities in a step [m/s]
    carom_balance balance;
    carom_series series;
    double *u, *p;           // [n] where the present step begins
    double *impulse, *work;  // [n], [contacts] integrals of p and of the normal velocities there, since the piece began
    double *next, *rates;    // [n] velocities and p where the step ends
    double *change;          // [n]
    double *sign;            // [contacts] of n_i on the piece; 0 at rest
    double *owed;            // [contacts] Poisson: the rate of R_i over the weight
    double *spent;           // [contacts] where in the step nothing is stored any more
    carom_slip *starts;      // [contacts] what they do in the step
    carom_arena arena;
};

static void find_directions(carom_arc *arc, const double *u) {
    for (int i = 0; i < arc->contacts; i++) {
        if (arc->balance.slip[i] != CAROM_SLIP_SLIDING) continue;
        const double *t = u + 3 * i + 1, speed = sqrt(t[0] * t[0] + t[1] * t[1]);
        // Exactly no slip keeps the last direction.
        for (int k = 0; k < 2 && speed > 0; k++) arc->balance.direction[2 * i + k] = -t[k] / speed;
    }
}

// Slip below the tolerance of walks is taken as rest, where walks do not get on otherwise: where one contact sticks, the slip of others
// that move with it may be an error, which friction does not take away, and motion is stiff then, in steps as short as such slip is small.
static void rest(const carom_arc *arc, double *u) {
    bool sticks = false;
    for (int i = 0; i < arc->contacts; i++) sticks = sticks || arc->balance.slip[i] >= CAROM_SLIP_STICKING;
    if (!sticks) return;
    for (int i = 0; i < arc->contacts; i++) {
        double *t = u + 3 * i + 1;
        if (arc->balance.slip[i] == CAROM_SLIP_SLIDING && hypot(t[0], t[1]) <= arc->tolerance / STEP_SHARE) t[0] = t[1] = 0;
    }
}

// ------------------------------------------------------------------------------------------------------------- one piece

carom_status carom_arc_create(const carom_impact *impact, double tolerance, carom_arc **arc, carom_error *error) {
    *arc = NULL;
    carom_arc *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "walk in space");
    const size_t n = (size_t)carom_impact_contact_size(impact), contacts = (size_t)carom_impact_get_data(impact)->contacts;
    *made = (carom_arc){.impact = impact,
                        .contacts = (int)contacts,
                        .n = (int)n,
                        .tolerance = STEP_SHARE * tolerance * carom_impact_velocity_scale(impact)};
    carom_balance_create(impact, &made->arena, &made->balance);
    carom_series_create(impact, &made->arena, &made->series);
    double **const of_rows[] = {&made->u, &made->p, &made->impulse, &made->next, &made->rates, &made->change};
    double **const of_contacts[] = {&made->work, &made->sign, &made->owed, &made->spent};
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) *of_rows[k] = carom_arena_take(&made->arena, n, sizeof(double));
    for (size_t k = 0; k < sizeof of_contacts / sizeof *of_contacts; k++)
        *of_contacts[k] = carom_arena_take(&made->arena, contacts, sizeof(double));
    made->starts = carom_arena_take(&made->arena, contacts, sizeof *made->starts);
    if (made->arena.failed) {
        carom_arc_free(made);
        return carom_fail_memory(error, "walk in space");
    }
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
    if (!solved) {
        rest(arc, walker->u);
        return false;
    }
    // Rates that friction and weights keep at zero are exactly that; sliding off is along the friction.
    walk_find_rates(walker, walker->n);
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
        if (dot < 0 && (slides || (along && walk_active(walker, i, 3)))) event = fmin(event, square / -dot);
    }
    return event;
}

double carom_arc_longest(const carom_walker *walker) {
    double fastest = 0;
    for (int i = 0; i < walker->contacts; i++) fastest = fmax(fastest, walker->p[3 * i] * walk_delassus(walker, 3 * i, 3 * i));
    return FUTILE * carom_impact_velocity_scale(walker->impact) / fastest;
}

// The first event of the step, at x or before: where in it, with what is spent there.
static bool find_event(carom_arc *arc, double *x) {
    const carom_series *series = &arc->series;
    const carom_rebound *rebound = arc->walker->rebound;
    const double end = *x;
    for (int i = 0; i < arc->contacts; i++) {
        const double e = rebound->restitution[i], weight = arc->p[3 * i], stored = rebound->stored[i];
        const double *normal = series->velocities + 3 * i, *work = series->works + i * CAROM_WORK_TERMS;
        arc->spent[i] = INFINITY;
        if (arc->balance.held[i]) {
            *x = fmin(*x, carom_series_root(CAROM_SERIES_RATES, series->width, series->rates + series->column_of[3 * i], 0, 1, *x));
        } else if (arc->sign[i] != 0) {
            *x = fmin(*x, carom_series_root(CAROM_SERIES_TERMS, arc->n, normal, 0, arc->sign[i], *x));
        } else {
            for (int side = -1; side <= 1; side += 2)
                *x = fmin(*x, carom_series_root(CAROM_SERIES_TERMS, arc->n, normal, arc->walker->zero_velocity, side, *x));
        }
        if (rebound->hypothesis == CAROM_HYPOTHESIS_STRONGE && stored > 0 && arc->sign[i] > 0 && weight > 0 && !arc->balance.held[i])
            arc->spent[i] = carom_series_root(CAROM_WORK_TERMS, 1, work, e * e * stored - weight * arc->work[i], -weight, *x);
        if (rebound->hypothesis == CAROM_HYPOTHESIS_POISSON && arc->owed[i] < 0) {
            const double left = stored + arc->owed[i] * arc->impulse[3 * i];
            arc->spent[i] = arc->balance.held[i] ? carom_series_root(CAROM_SERIES_TERMS, series->width,
                                                                     series->impulses + series->column_of[3 * i], left, arc->owed[i], *x)
                                                 : carom_series_root(CAROM_SERIES_TERMS, 1, series->times, left, arc->owed[i] * weight, *x);
        }
        *x = fmin(*x, arc->spent[i]);
    }
    return *x < end;
}

// The end of the step at x: velocities, and rates with the friction of contacts that stick. Returns what friction there lacks at most;
// negative where all contacts stick on.
static double find_end(carom_arc *arc, double x) {
    carom_balance *balance = &arc->balance;
    carom_series_sum(CAROM_SERIES_TERMS, arc->n, arc->series.velocities, x, arc->next);
    memcpy(arc->rates, arc->p, (size_t)arc->n * sizeof *arc->rates);
    carom_series_sum(CAROM_SERIES_RATES, arc->series.width, arc->series.rates, x, arc->change);
    for (int c = 0; c < arc->series.width; c++) arc->rates[arc->series.rows[c]] = arc->change[c];
    bool sticks = false;
    for (int i = 0; i < arc->contacts; i++) sticks = sticks || balance->slip[i] == CAROM_SLIP_STICKING;
    if (!sticks) return -INFINITY;
    double lacks = -INFINITY;
    memcpy(arc->starts, balance->slip, (size_t)arc->contacts * sizeof *arc->starts);
    for (int i = 0; i < arc->contacts; i++)
        if (balance->slip[i] == CAROM_SLIP_ROLLING) balance->slip[i] = CAROM_SLIP_SLIDING;
    find_directions(arc, arc->next);
    if (!carom_balance_solve(balance, arc->rates)) lacks = INFINITY;
    for (int i = 0; i < arc->contacts; i++) {
        if (arc->starts[i] == CAROM_SLIP_STICKING) lacks = fmax(lacks, balance->margin[i]);
        balance->slip[i] = arc->starts[i];
    }
    return lacks;
}

// Where in the step, before x, friction at rest has just reached its bound: it lacks `high` at x.
static double find_slip(carom_arc *arc, double x, double high) {
    double before = 0, after = x, low = find_end(arc, 0);
    for (int k = 0; k < MOST_SEARCH && after - before > FOUND * x; k++) {
        // Between the secant and the middle of the bracket.
        const double secant = isfinite(low) && isfinite(high) && low < 0 ? low / (low - high) : 0.5;
        const double share = k % 3 == 2 ? 0.5 : fmin(fmax(secant, 0.01), 0.99);
        const double middle = before + share * (after - before), value = find_end(arc, middle);
        *(value > 0 ? &after : &before) = middle;
        *(value > 0 ? &high : &low) = value;
    }
    find_end(arc, after);
    return after;
}

// Moves on to x: impulses and work of the step, and its end. Returns its length in s.
static double advance(carom_arc *arc, double x) {
    const carom_series *series = &arc->series;
    double elapsed;
    carom_series_sum(CAROM_SERIES_TERMS, 1, series->times, x, &elapsed);
    for (int i = 0; i < arc->contacts; i++)
        if (!arc->balance.held[i]) arc->impulse[3 * i] += arc->p[3 * i] * elapsed;
    carom_series_sum(CAROM_SERIES_TERMS, series->width, series->impulses, x, arc->change);
    for (int c = 0; c < series->width; c++) arc->impulse[series->rows[c]] += arc->change[c];
    for (int i = 0; i < arc->contacts; i++) {
        if (!(arc->p[3 * i] > 0) || arc->balance.held[i]) continue;
        double work;
        carom_series_sum(CAROM_WORK_TERMS, 1, arc->series.works + i * CAROM_WORK_TERMS, x, &work);
        arc->work[i] += work;
    }
    memcpy(arc->u, arc->next, (size_t)arc->n * sizeof *arc->u);
    memcpy(arc->p, arc->rates, (size_t)arc->n * sizeof *arc->p);
    return elapsed;
}

// Friction that sticks may be shared in many ways: where the one taken leaves a cone, another one of the same effect does not.
static void share_friction(carom_arc *arc, double length) {
    carom_balance *balance = &arc->balance;
    const double *mu = carom_impact_get_data(arc->impact)->friction;
    bool leaves = false;
    for (int i = 0; i < arc->contacts; i++) {
        const double *P = arc->impulse + 3 * i;
        leaves = leaves || (balance->slip[i] == CAROM_SLIP_STICKING && hypot(P[1], P[2]) > mu[i] * P[0]);
    }
    if (!leaves) return;
    for (int i = 0; i < arc->contacts; i++) {
        balance->held[i] = false;
        for (int k = 0; k < 2; k++) balance->direction[2 * i + k] = arc->impulse[3 * i + 1 + k] / (mu[i] * arc->impulse[3 * i]);
    }
    for (int c = 0; c < arc->n; c++) arc->rates[c] = arc->impulse[c] / length;
    if (!carom_balance_solve(balance, arc->rates)) return;
    for (int c = 0; c < arc->n; c++) arc->impulse[c] = arc->rates[c] * length;
}

// Makes the walker's rates the means of the piece, and its end what is at rest.
static void take_means(carom_arc *arc, double length) {
    carom_walker *walker = arc->walker;
    for (int i = 0; i < arc->contacts; i++) {
        double *u = arc->u + 3 * i;
        if (arc->balance.held[i]) u[0] = 0;
        if (arc->balance.slip[i] == CAROM_SLIP_STICKING) u[1] = u[2] = 0;
        walker->mean[i] = arc->balance.held[i] ? 0 : arc->work[i] / length;
        walker->rebound->rate[i] = arc->owed[i] * arc->impulse[3 * i] / length;
    }
    share_friction(arc, length);
    for (int c = 0; c < arc->n; c++) {
        walker->p[c] = arc->impulse[c] / length;
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
        arc->work[i] = 0;
        walker->rebound->spent[i] = INFINITY;
    }
    memcpy(arc->p, walker->p, (size_t)arc->n * sizeof *arc->p);
    memcpy(arc->u, walker->u, (size_t)arc->n * sizeof *arc->u);
    memset(arc->impulse, 0, (size_t)arc->n * sizeof *arc->impulse);
}

double carom_arc_go(carom_walker *walker, double first, double limit) {
    carom_arc *arc = walker->arc;
    carom_balance *balance = &arc->balance;
    begin(arc, walker);
    const double guess = fmin(first, limit);
    double length = 0;
    bool happened = false;
    for (int k = 0; k < MOST_STEPS && !happened; k++) {
        if (!carom_series_expand(&arc->series, balance, arc->u, arc->p, guess)) break;
        const carom_series *series = &arc->series;
        double tolerance = arc->tolerance;
        for (int i = 0; i < arc->contacts; i++)
            if (balance->slip[i] == CAROM_SLIP_SLIDING) tolerance = fmin(tolerance, SLIP_SHARE * series->speeds[i]);
        // A series goes through zero slip, which is where the motion ends.
        double x = carom_series_reach(series, tolerance);
        for (int i = 0; i < arc->contacts; i++)
            if (balance->slip[i] == CAROM_SLIP_SLIDING || balance->slip[i] == CAROM_SLIP_ROLLING)
                x = fmin(x, carom_series_root(CAROM_SERIES_RATES, arc->contacts, series->speeds + i, 0, 1, x));
        const double left = carom_series_root(CAROM_SERIES_TERMS, 1, series->times, limit - length, -1, x);
        if (left <= x) happened = true;
        x = fmin(x, left);
        if (find_event(arc, &x)) happened = true;
        const double lacks = find_end(arc, x);
        if (lacks > 0) {
            x = find_slip(arc, x, lacks);
            happened = true;
        }
        for (int i = 0; i < arc->contacts; i++)
            if (arc->spent[i] <= x) walker->rebound->spent[i] = 0;
        length += advance(arc, x);
        for (int i = 0; i < arc->contacts; i++) {
            if (balance->slip[i] != CAROM_SLIP_SLIDING && balance->slip[i] != CAROM_SLIP_ROLLING) continue;
            balance->slip[i] = CAROM_SLIP_SLIDING;
            if (hypot(arc->u[3 * i + 1], arc->u[3 * i + 2]) <= walker->zero_velocity) happened = true;
        }
    }
    if (!happened) rest(arc, length > 0 ? arc->u : walker->u);
    if (length > 0) take_means(arc, length);
    return length;
}
