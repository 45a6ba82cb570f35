// SPDX-License-Identifier: Apache-2.0
// Impacts one by one: a queue with the next event of each body, which is an impact or the way into an adjacent cell.
#include "dynamics/rodrigues/agenda.h"

#include <float.h>
#include <string.h>

#include "carom/vector3.h"
#include "dynamics/rodrigues/rodrigues.h"

// Partners that are a side of the body's cell: this plus 2 axis + (0: lower side, 1: upper side).
#define SIDE INT32_MIN
enum { SIDES = 6 };

// A cell is wider than it must be by this share: a body that is about to leave may be counted to the next cell a little early.
#define MARGIN 1e-6
// Beyond so many cells from the origin the sides of a cell have no digits left.
#define FURTHEST_CELL 1e12
// Changes of cells between two looks at whether to stop: about a millisecond.
enum { CHANGES_PER_CALL = 1024 };
// Changes for each body after which cells may have become too small for what has spread.
enum { CHANGES_PER_WIDTH = 64 };
// So few bodies all have room in the 27 cells that are looked at: they, and bodies that do not collide, get ever wider cells.
enum { FEW_BODIES = 27 };
#define WIDER 1000

// --------------------------------------------------------------------------------------------------------------- the queue

static double time_at(const rodrigues_agenda *agenda, int place) { return agenda->errand[agenda->queue[place]].time; }

static void set_place(rodrigues_agenda *agenda, int place, int body) {
    agenda->queue[place] = body;
    agenda->errand[body].place = place;
}

// Moves a body up or down in the heap to where its time belongs.
static void sift(rodrigues_agenda *agenda, int bodies, int body) {
    const double time = agenda->errand[body].time;
    int place = agenda->errand[body].place;
    for (; place > 0 && time_at(agenda, (place - 1) / 2) > time; place = (place - 1) / 2)
        set_place(agenda, place, agenda->queue[(place - 1) / 2]);
    while (2 * place + 1 < bodies) {
        int child = 2 * place + 1;
        if (child + 1 < bodies && time_at(agenda, child + 1) < time_at(agenda, child)) child++;
        if (!(time_at(agenda, child) < time)) break;
        set_place(agenda, place, agenda->queue[child]);
        place = child;
    }
    set_place(agenda, place, body);
}

// --------------------------------------------------------------------------------------------------------------- the cells

// The bucket of a cell. Cells that follow each other along the first axis have buckets that do, so that they are near in memory; their
// rows are scattered, by products with the fractions of the golden ratio and of the square root of two, of which high bits are random.
static int bucket_of(const rodrigues_agenda *agenda, const int64_t cell[3]) {
    const uint64_t row = (uint64_t)cell[1] * 0x9E3779B97F4A7C15u + (uint64_t)cell[2] * 0x6A09E667F3BCC909u;
    return (int)(((row >> 32) + (uint64_t)cell[0]) & (uint64_t)(agenda->buckets - 1));
}

static void enter_cell(rodrigues_agenda *agenda, int i) {
    rodrigues_errand *own = &agenda->errand[i];
    int *first = &agenda->bucket[bucket_of(agenda, own->cell)];
    own->following = *first;
    own->preceding = -1;
    if (*first >= 0) agenda->errand[*first].preceding = i;
    *first = i;
}

static void leave_cell(rodrigues_agenda *agenda, int i) {
    const rodrigues_errand *own = &agenda->errand[i];
    if (own->preceding >= 0)
        agenda->errand[own->preceding].following = own->following;
    else
        agenda->bucket[bucket_of(agenda, own->cell)] = own->following;
    if (own->following >= 0) agenda->errand[own->following].preceding = own->preceding;
}

// ------------------------------------------------------------------------------------------------------------ what comes next

// Where a body is at a time: x + t v + t^2 a/2 with the velocity v + t a, t after the time of its state.
static void place_at(const rodrigues_agenda *agenda, const rodrigues_errand *body, double time, double x[3], double v[3]) {
    const double t = time - body->since;
    for (int k = 0; k < 3; k++) {
        v[k] = body->velocity[k] + t * agenda->acceleration[k];
        x[k] = body->position[k] + 0.5 * t * (body->velocity[k] + v[k]);
    }
}

// Takes a body's state from the run's.
static void take_state(rodrigues *run, int i, double time) {
    rodrigues_errand *own = &run->agenda.errand[i];
    memcpy(own->position, run->now.position + 3 * (int64_t)i, sizeof own->position);
    memcpy(own->velocity, run->now.velocity + 3 * (int64_t)i, sizeof own->velocity);
    own->since = time;
}

// When and through which side a body at x leaves its cell; returns how long that takes.
static double time_to_leave(const rodrigues_agenda *agenda, const int64_t cell[3], const double x[3], const double v[3], int *side) {
    double first = INFINITY;
    for (int k = 0; k < 3; k++) {
        const double lower = agenda->width * (double)cell[k], half = 0.5 * agenda->acceleration[k];
        for (int upper = 0; upper < 2; upper++) {
            // The distance from the side falls to zero: gap + t rate + t^2 half' <= 0.
            const double sign = upper ? -1 : 1, gap = fmax(sign * (x[k] - lower - upper * agenda->width), 0), rate = sign * v[k];
            double time = INFINITY;
            if (half == 0) {
                if (rate < 0) time = gap / -rate;
            } else {
                const double square = rate * rate - 4 * sign * half * gap;
                // The smaller positive root, in the form without cancellation; a body that is there but moves inwards may come back.
                if (rate < 0 && square >= 0)
                    time = 2 * gap / (-rate + sqrt(square));
                else if (rate >= 0 && sign * half < 0)
                    time = (rate + sqrt(square)) / (-2 * sign * half);
            }
            if (time < first) {
                first = time;
                *side = SIDE + 2 * k + upper;
            }
        }
    }
    return first;
}

// The time after which two bodies at a distance dx, with a relative velocity dv, touch: |dx + t dv| = D. Both fall alike.
static double time_to_meet(const double dx[3], const double dv[3], double D) {
    const double approach = -carom_dot3(dx, dv);
    if (!(approach > 0)) return INFINITY;
    const double gap = carom_dot3(dx, dx) - D * D;
    if (gap <= 0) return 0;
    const double square = approach * approach - carom_dot3(dv, dv) * gap;
    return square > 0 ? gap / (approach + sqrt(square)) : INFINITY;
}

// Finds the next event of a body from a time on, with what is in its cell and the 26 around it, and puts it into the queue.
static void look_ahead(rodrigues *run, int i, double now) {
    rodrigues_agenda *agenda = &run->agenda;
    rodrigues_errand *own = &agenda->errand[i];
    double x[3], v[3];
    int side = SIDE;
    place_at(agenda, own, now, x, v);
    // Until it leaves its cell. A body that never does rests: others come to it.
    const double stay = time_to_leave(agenda, own->cell, x, v, &side);
    own->leaves = now + stay;
    rodrigues_event event = {.time = INFINITY};
    if (isfinite(stay)) rodrigues_meet_walls(run, i, x, v, stay, &event);
    // The first bodies of all chains are asked for before one of them is needed: with many bodies, memory is what this waits for.
    int64_t cells[27][3];
    int heads[27];
    const int around = run->motion->collisions ? 27 : 0;
    for (int near = 0; near < around; near++) {
        const int64_t offset[3] = {near % 3 - 1, near / 3 % 3 - 1, near / 9 - 1};
        for (int k = 0; k < 3; k++) cells[near][k] = own->cell[k] + offset[k];
        heads[near] = agenda->bucket[bucket_of(agenda, cells[near])];
        if (heads[near] < 0) continue;
        __builtin_prefetch(agenda->errand[heads[near]].position);
        __builtin_prefetch(agenda->errand[heads[near]].cell);
    }
    for (int near = 0; near < around; near++) {
        for (int j = heads[near]; j >= 0; j = agenda->errand[j].following) {
            // Other cells may share the bucket.
            const rodrigues_errand *other = &agenda->errand[j];
            if (j == i || memcmp(other->cell, cells[near], sizeof cells[near]) != 0) continue;
            double dx[3], dv[3];
            place_at(agenda, other, now, dx, dv);
            for (int k = 0; k < 3; k++) {
                dx[k] -= x[k];
                dv[k] -= v[k];
            }
            const double time = time_to_meet(dx, dv, own->radius + other->radius);
            // After one of them has left its cell, that one looks again.
            if (!(time <= stay && now + time <= other->leaves)) continue;
            rodrigues_keep_first(run, &(rodrigues_event){.time = time, .body = i < j ? i : j, .other = i < j ? j : i, .wall = -1}, &event);
        }
    }
    own->time = own->leaves;
    own->partner = side;
    if (event.time <= stay) {
        own->time = now + event.time;
        own->partner = event.other < 0 ? -1 - event.wall : (int)(event.body == i ? event.other : event.body);
        if (event.other >= 0) own->partner_impacts = agenda->errand[own->partner].impacts;
    }
    sift(agenda, run->bodies, i);
}

// Is the next event of a body an impact that still holds? Otherwise the body leaves its cell, or its partner was hit by another.
static bool is_impact(const rodrigues_agenda *agenda, int i) {
    const rodrigues_errand *own = &agenda->errand[i];
    return own->partner < 0 ? own->partner >= SIDE + SIDES : agenda->errand[own->partner].impacts == own->partner_impacts;
}

// Moves a body into the cell that it enters, if it leaves its own, and looks for its next event.
static void look_again(rodrigues *run, int i) {
    rodrigues_agenda *agenda = &run->agenda;
    rodrigues_errand *own = &agenda->errand[i];
    if (own->partner < SIDE + SIDES) {
        const int side = own->partner - SIDE;
        leave_cell(agenda, i);
        own->cell[side / 2] += side % 2 ? 1 : -1;
        enter_cell(agenda, i);
        agenda->changes++;
    }
    look_ahead(run, i, fmax(agenda->now, own->time));
}

// The impact of a body's entry, with its bodies in order.
static rodrigues_event event_of(const rodrigues_agenda *agenda, int i) {
    const int partner = agenda->errand[i].partner;
    const double time = fmax(agenda->errand[i].time - agenda->now, 0);
    if (partner < 0) return (rodrigues_event){.time = time, .body = i, .other = -1, .wall = -1 - partner};
    return (rodrigues_event){.time = time, .body = i < partner ? i : partner, .other = i < partner ? partner : i, .wall = -1};
}

// Goes through the part of the heap below a place whose events are at one time with the first one, until `limit`. Keeps the impact whose
// bodies have the lowest numbers; returns a body whose entry is no impact any more, -1 for none.
static int take_ties(const rodrigues *run, int place, double limit, rodrigues_event *event) {
    const rodrigues_agenda *agenda = &run->agenda;
    if (place >= run->bodies || !(time_at(agenda, place) <= limit)) return -1;
    const int i = agenda->queue[place];
    if (!is_impact(agenda, i)) return i;
    const rodrigues_event found = event_of(agenda, i);
    rodrigues_keep_first(run, &found, event);
    const int left = take_ties(run, 2 * place + 1, limit, event);
    return left >= 0 ? left : take_ties(run, 2 * place + 2, limit, event);
}

// The width of cells that hold about one body, and that are as wide as the largest distance at which two touch. Bodies fill four times
// their mean distance from the center: one that is far from all others counts little.
static double fitting_width(const rodrigues *run, double now) {
    const rodrigues_agenda *agenda = &run->agenda;
    double x[3], v[3], center[3] = {0}, distance[3] = {0}, radius = 0, volume = 1;
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < run->bodies; i++) {
        place_at(agenda, &agenda->errand[i], now, x, v);
        radius = fmax(radius, run->radius[i]);
        carom_add3(1.0 / run->bodies, x, center);
        for (int k = 0; k < 3; k++) {
            lower[k] = fmin(lower[k], x[k]);
            upper[k] = fmax(upper[k], x[k]);
        }
    }
    for (int i = 0; i < run->bodies; i++) {
        place_at(agenda, &agenda->errand[i], now, x, v);
        for (int k = 0; k < 3; k++) distance[k] += fabs(x[k] - center[k]) / run->bodies;
    }
    for (int k = 0; k < 3; k++) volume *= fmax(fmin(upper[k] - lower[k], 4 * distance[k]), 2 * radius);
    const double width = (1 + MARGIN) * fmax(2 * radius, cbrt(volume / run->bodies));
    return width > 0 ? width : 1;
}

// Puts all bodies into cells of a width, at a time before which nothing is left to do, and looks for their next events.
static void fill_cells(rodrigues *run, double width, double now) {
    rodrigues_agenda *agenda = &run->agenda;
    double x[3], v[3];
    agenda->width = width;
    agenda->changes = 0;
    for (int b = 0; b < agenda->buckets; b++) agenda->bucket[b] = -1;
    for (int i = 0; i < run->bodies; i++) {
        rodrigues_errand *own = &agenda->errand[i];
        place_at(agenda, own, now, x, v);
        for (int k = 0; k < 3; k++) own->cell[k] = (int64_t)floor(x[k] / width);
        own->leaves = INFINITY;
        enter_cell(agenda, i);
    }
    // Each pair is found by the second of its bodies at the latest, when the times of both are known.
    for (int i = 0; i < run->bodies; i++) look_ahead(run, i, now);
}

// Makes cells wider that bodies change too often: those of a cloud that has spread since it got them.
static void widen_cells(rodrigues *run, double now) {
    rodrigues_agenda *agenda = &run->agenda;
    const bool few = run->bodies <= FEW_BODIES || !run->motion->collisions;
    const double width = few ? WIDER * agenda->width : fitting_width(run, now);
    agenda->changes = 0;
    if (isfinite(width) && width > 2 * agenda->width) fill_cells(run, width, now);
}

void rodrigues_agenda_next(rodrigues *run, double left, rodrigues_event *event) {
    rodrigues_agenda *agenda = &run->agenda;
    const double end = agenda->now + left;
    for (int change = 0; change < CHANGES_PER_CALL; change++) {
        const double time = time_at(agenda, 0);
        *event = (rodrigues_event){.time = INFINITY};
        if (!(time <= end)) return;
        if (agenda->changes > CHANGES_PER_WIDTH * (int64_t)run->bodies) {
            widen_cells(run, fmax(time, agenda->now));
            continue;
        }
        const int body = take_ties(run, 0, time + run->tie, event);
        if (body < 0) return;
        look_again(run, body);
    }
    *event = (rodrigues_event){.time = 0, .body = -1};
}

// ------------------------------------------------------------------------------------------------------------------ impacts

void rodrigues_agenda_meet(rodrigues *run, const rodrigues_event *event) {
    rodrigues_agenda *agenda = &run->agenda;
    agenda->now += event->time;
    const int64_t bodies[] = {event->body, event->other};
    for (int k = 0; k < 2 && bodies[k] >= 0; k++) {
        rodrigues_fly(run, bodies[k], agenda->now - agenda->errand[bodies[k]].since);
    }
}

void rodrigues_agenda_part(rodrigues *run, const rodrigues_event *event) {
    rodrigues_agenda *agenda = &run->agenda;
    const int bodies[] = {(int)event->body, (int)event->other}, count = event->other < 0 ? 1 : 2;
    for (int k = 0; k < count; k++) {
        agenda->errand[bodies[k]].impacts++;
        take_state(run, bodies[k], agenda->now);
    }
    for (int k = 0; k < count; k++) look_ahead(run, bodies[k], agenda->now);
}

bool rodrigues_agenda_finish(rodrigues *run, double h) {
    if (!rodrigues_advance(run, h)) return false;
    // Times are now from this grid point. Subtracting the same number keeps their order.
    for (int i = 0; i < run->bodies; i++) {
        take_state(run, i, 0);
        run->agenda.errand[i].time -= h;
        run->agenda.errand[i].leaves -= h;
    }
    run->agenda.now = 0;
    return true;
}

// Infinite times as the largest number: files have no infinity.
void rodrigues_agenda_save(const rodrigues *run, double *errands) {
    for (int i = 0; i < run->bodies; i++, errands += RODRIGUES_ERRAND) {
        const rodrigues_errand *own = &run->agenda.errand[i];
        const double cells[] = {(double)own->cell[0], (double)own->cell[1], (double)own->cell[2]};
        const double values[RODRIGUES_ERRAND] = {fmin(own->time, DBL_MAX),
                                                 fmin(own->leaves, DBL_MAX),
                                                 cells[0],
                                                 cells[1],
                                                 cells[2],
                                                 own->partner,
                                                 own->partner_impacts,
                                                 own->impacts};
        memcpy(errands, values, sizeof values);
    }
}

bool rodrigues_agenda_resume(rodrigues *run, double width, const double *errands) {
    rodrigues_agenda *agenda = &run->agenda;
    if (!(width > 0)) return false;
    for (int64_t i = 0; i < run->bodies; i++) {
        const double *own = errands + RODRIGUES_ERRAND * i, partner = own[5];
        for (int k = 2; k < 5; k++)
            if (!(fabs(own[k]) <= FURTHEST_CELL)) return false;
        for (int k = 6; k < 8; k++)
            if (!(fabs(own[k]) <= INT32_MAX)) return false;
        const bool side = partner >= SIDE && partner < SIDE + SIDES, met = partner >= -run->motion->walls && partner < run->bodies;
        if ((!side && !met) || partner != floor(partner)) return false;
    }
    agenda->width = width;
    for (int i = 0; i < run->bodies; i++, errands += RODRIGUES_ERRAND) {
        rodrigues_errand *own = &agenda->errand[i];
        leave_cell(agenda, i);
        own->time = errands[0] < DBL_MAX ? errands[0] : INFINITY;
        own->leaves = errands[1] < DBL_MAX ? errands[1] : INFINITY;
        for (int k = 0; k < 3; k++) own->cell[k] = (int64_t)errands[2 + k];
        own->partner = (int)errands[5];
        own->partner_impacts = (int)errands[6];
        own->impacts = (int)errands[7];
        enter_cell(agenda, i);
        sift(agenda, run->bodies, i);
    }
    return true;
}

// --------------------------------------------------------------------------------------------------------------------- life

carom_status rodrigues_agenda_create(rodrigues *run, carom_error *error) {
    rodrigues_agenda *agenda = &run->agenda;
    *agenda = (rodrigues_agenda){.buckets = 1};
    if (run->map == RODRIGUES_FIRST || run->map == RODRIGUES_SIN || run->map == RODRIGUES_IMPLICIT) return CAROM_OK;
    for (int p = 0; p < run->motion->potentials; p++) {
        if (run->motion->potential[p].type != CAROM_POTENTIAL_GRAVITY) return CAROM_OK;
        carom_add3(1, run->motion->potential[p].acceleration, agenda->acceleration);
    }

    const size_t n = (size_t)run->bodies;
    while (agenda->buckets < run->bodies) agenda->buckets *= 2;
    carom_arena *memory = &agenda->memory;
    agenda->errand = carom_arena_take(memory, n, sizeof *agenda->errand);
    agenda->queue = carom_arena_take(memory, n, sizeof *agenda->queue);
    agenda->bucket = carom_arena_take(memory, (size_t)agenda->buckets, sizeof *agenda->bucket);
    if (memory->failed) return carom_fail_memory(error, "impacts");

    double furthest = 0;
    for (int i = 0; i < run->bodies; i++) {
        agenda->errand[i] = (rodrigues_errand){.radius = run->radius[i], .time = INFINITY, .leaves = INFINITY};
        take_state(run, i, 0);
        set_place(agenda, i, i);
        for (int k = 0; k < 3; k++) furthest = fmax(furthest, fabs(agenda->errand[i].position[k]));
    }
    const double width = fitting_width(run, 0);
    agenda->serves = isfinite(width) && furthest < FURTHEST_CELL * width;
    if (agenda->serves) fill_cells(run, width, 0);
    return CAROM_OK;
}

void rodrigues_agenda_release(rodrigues_agenda *agenda) {
    carom_arena_free(&agenda->memory);
    *agenda = (rodrigues_agenda){0};
}
