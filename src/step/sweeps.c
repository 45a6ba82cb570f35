// SPDX-License-Identifier: Apache-2.0
// Contact problems with many contacts: block Gauss-Seidel over contacts (Jean & Moreau 1992), and the semismooth Newton method on the
// conditions of contact and friction (Alart & Curnier 1991), which gives the digits that sweeps are slow to find.
#include "carom/sweeps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"

// Sweeps in all; sweeps between looks at the residual; repetitions within a contact; steps of Newton's method.
enum { MOST_SWEEPS = 2000, SWEEPS_A_LOOK = 20, LOCAL_SWEEPS = 4, MOST_NEWTON = 8, MOST_CAUTIOUS = 60 };
// Newton's method starts when sweeps are as near.
#define NEAR_RESIDUAL 1e-2
// Ends the search: verified solutions need CAROM_LCP_TOLERANCE.
#define GOAL 1e-11
// Where contacts depend on each other, impulses are not unique: Newton's steps keep to the last ones by this share of the largest of W, and
// cautious ones by the residual, since a step from afar guesses many contacts wrong.
#define PROXIMITY 1e-9
// A point this near to a corner of a friction cone's section, relative to its radius, is there.
#define ACTIVE_CORNER 1e-12

enum { MOST_WIDTH = 3 };

// What one unknown of a Newton step pushes, and the velocity that it stops, on the rows of its node: a contact, or one row of dry friction.
typedef struct unknown {
    int node, row, width;
    double trial[MOST_WIDTH], test[MOST_WIDTH];
} unknown;

struct carom_sweep_room {
    carom_arena arena;
    int *first, *column;  // [all + 1], [entries] of W that are not zero, row by row
    double *entry;
    double *kept;   // [all] the best impulses
    double *fixed;  // [all] the impulse of a Newton step without unknowns
    // Nodes are contacts, then rows of dry friction; W couples each with its neighbours, of which it is one.
    int nodes, *node_of;               // [all] of each row
    int *first_neighbour, *neighbour;  // [nodes + 1], [entries]
    int *order, *mark;                 // [nodes] such that neighbours are close; who has been reached
    int *first_unknown, *end_unknown;  // [nodes] where each node's unknowns begin, and where they have ended
    unknown *unknowns;
    double *matrix, *right;  // [unknowns x unknowns] or its band, [unknowns]
    int *exchanges;
};

carom_status carom_sweep_room_create(int all, carom_sweep_room **room, carom_error *error) {
    const size_t n = (size_t)all;
    carom_sweep_room *made = *room = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "contact problem");
    carom_arena *arena = &made->arena;
    made->first = carom_arena_take(arena, n + 1, sizeof *made->first);
    made->column = carom_arena_take(arena, n * n, sizeof *made->column);
    made->entry = carom_arena_take(arena, n * n, sizeof *made->entry);
    made->kept = carom_arena_take(arena, n, sizeof *made->kept);
    made->fixed = carom_arena_take(arena, n, sizeof *made->fixed);
    made->node_of = carom_arena_take(arena, n, sizeof *made->node_of);
    made->first_neighbour = carom_arena_take(arena, n + 1, sizeof *made->first_neighbour);
    made->neighbour = carom_arena_take(arena, n * n, sizeof *made->neighbour);
    made->order = carom_arena_take(arena, n, sizeof *made->order);
    made->mark = carom_arena_take(arena, n, sizeof *made->mark);
    made->first_unknown = carom_arena_take(arena, n, sizeof *made->first_unknown);
    made->end_unknown = carom_arena_take(arena, n, sizeof *made->end_unknown);
    made->unknowns = carom_arena_take(arena, n, sizeof *made->unknowns);
    made->matrix = carom_arena_take(arena, n * n, sizeof *made->matrix);
    made->right = carom_arena_take(arena, n, sizeof *made->right);
    made->exchanges = carom_arena_take(arena, n, sizeof *made->exchanges);
    if (!arena->failed) return CAROM_OK;
    carom_sweep_room_free(made);
    *room = NULL;
    return carom_fail_memory(error, "contact problem");
}

void carom_sweep_room_free(carom_sweep_room *room) {
    if (!room) return;
    carom_arena_free(&room->arena);
    free(room);
}

static int size_of(const carom_sweep_problem *problem) { return problem->rows + problem->dry; }

// Row r of W times p, in the order of carom_dot without its zeros: most contacts know few others.
static double multiply_row(const carom_sweep_room *room, int r, const double *p) {
    double sum = 0;
    for (int k = room->first[r]; k < room->first[r + 1]; k++) sum += room->entry[k] * p[room->column[k]];
    return sum;
}

static void list_entries(const carom_sweep_problem *problem, carom_sweep_room *room) {
    const int all = size_of(problem);
    int count = 0;
    for (int r = 0; r < all; r++) {
        const double *row = problem->W + (size_t)r * (size_t)all;
        room->first[r] = count;
        for (int c = 0; c < all; c++)
            if (row[c] != 0) {
                room->column[count] = c;
                room->entry[count++] = row[c];
            }
    }
    room->first[all] = count;
}

// ------------------------------------------------------------------------------------------------------------ couplings

static int first_row(const carom_sweep_problem *problem, int node) {
    return node < problem->contacts ? problem->contact[node].row : problem->rows + node - problem->contacts;
}

static int end_row(const carom_sweep_problem *problem, int node) {
    return first_row(problem, node) + 1 + (node < problem->contacts ? problem->contact[node].tangents : 0);
}

static void list_neighbours(const carom_sweep_problem *problem, carom_sweep_room *room) {
    room->nodes = problem->contacts + problem->dry;
    for (int node = 0; node < room->nodes; node++) {
        room->mark[node] = -1;
        for (int r = first_row(problem, node); r < end_row(problem, node); r++) room->node_of[r] = node;
    }
    int count = 0;
    for (int node = 0; node < room->nodes; node++) {
        room->first_neighbour[node] = count;
        for (int k = room->first[first_row(problem, node)]; k < room->first[end_row(problem, node)]; k++) {
            const int other = room->node_of[room->column[k]];
            if (room->mark[other] == node) continue;
            room->mark[other] = node;
            room->neighbour[count++] = other;
        }
    }
    room->first_neighbour[room->nodes] = count;
}

// Puts the nodes that can be reached from `start` after the first `count` of the order, breadth first. Returns how many there are then.
static int spread(carom_sweep_room *room, int start, int count, int mark) {
    int end = count;
    room->order[end++] = start;
    room->mark[start] = mark;
    for (int k = count; k < end; k++)
        for (int i = room->first_neighbour[room->order[k]]; i < room->first_neighbour[room->order[k] + 1]; i++) {
            const int other = room->neighbour[i];
            if (room->mark[other] == mark) continue;
            room->mark[other] = mark;
            room->order[end++] = other;
        }
    return end;
}

// An order in which neighbours are close (Cuthill & McKee 1969): breadth first from a node at an end, which is the last one that is reached
// from another. Newton's equations then have a band. Small problems keep their order.
static void order_nodes(const carom_sweep_problem *problem, carom_sweep_room *room) {
    enum { UNSEEN, SEEN, ORDERED };
    for (int node = 0; node < room->nodes; node++) {
        room->order[node] = node;
        room->mark[node] = UNSEEN;
    }
    if (size_of(problem) <= CAROM_FIXED_ORDER_SIZE) return;
    for (int node = 0, count = 0; node < room->nodes; node++) {
        if (room->mark[node] != UNSEEN) continue;
        const int end = spread(room, node, count, SEEN);
        count = spread(room, room->order[end - 1], count, ORDERED);
    }
}

// ------------------------------------------------------------------------------------------------------------- residual

// The nearest point of a section of the friction cone, of radius mu p_n.
static void project_friction(const carom_sweep_contact *contact, double radius, const double *point, double *nearest) {
    if (contact->tangents == 1) {
        *nearest = fmin(fmax(*point, -radius), radius);
        return;
    }
    // The nearest point of a regular polygon with corners radius d_j: the point itself, or one on the side where it lies outside.
    double best = INFINITY;
    bool outside = !(radius > 0);
    for (int j = 0; j < contact->edges; j++) {
        const double *from = contact->directions + 2 * j, *to = contact->directions + 2 * ((j + 1) % contact->edges);
        const double a[2] = {radius * from[0], radius * from[1]}, side[2] = {radius * to[0] - a[0], radius * to[1] - a[1]};
        const double off[2] = {point[0] - a[0], point[1] - a[1]};
        outside = outside || side[0] * off[1] - side[1] * off[0] < 0;
        const double length = side[0] * side[0] + side[1] * side[1];
        const double along = length > 0 ? fmin(fmax((side[0] * off[0] + side[1] * off[1]) / length, 0), 1) : 0;
        const double x = a[0] + along * side[0], y = a[1] + along * side[1], dx = point[0] - x, dy = point[1] - y,
                     distance = dx * dx + dy * dy;
        if (!(distance < best)) continue;
        best = distance;
        nearest[0] = x;
        nearest[1] = y;
    }
    if (!outside) memcpy(nearest, point, 2 * sizeof *point);
}

// The residual, with the velocities in `after`.
static double judge(const carom_sweep_problem *problem) {
    const double per_impulse = 1 / (problem->mass * problem->speed), per_speed = 1 / problem->speed;
    double worst = 0, largest = 0;
    for (int r = 0; r < size_of(problem); r++) largest = fmax(largest, fabs(problem->free[r]) * per_speed);
    for (int i = 0; i < problem->contacts; i++) {
        const carom_sweep_contact *contact = &problem->contact[i];
        const double *p = problem->impulse + contact->row, *u = problem->after + contact->row;
        worst = fmax(worst, fabs(fmax(fmin(p[0] * per_impulse, u[0] * per_speed), (p[0] - contact->cap) * per_impulse)));
        if (!contact->edges) continue;
        // Friction of largest dissipation: p_t is the point of its section of the cone that is nearest to p_t - u_t.
        double point[2] = {0}, nearest[2] = {0};
        for (int k = 0; k < contact->tangents; k++) point[k] = p[1 + k] * per_impulse - u[1 + k] * per_speed;
        project_friction(contact, contact->friction * fmax(p[0], 0) * per_impulse, point, nearest);
        for (int k = 0; k < contact->tangents; k++) worst = fmax(worst, fabs(nearest[k] - p[1 + k] * per_impulse));
    }
    for (int d = 0; d < problem->dry; d++) {
        const int r = problem->rows + d;
        const double p = problem->impulse[r] * per_impulse, bound = problem->bound[d] * per_impulse;
        worst = fmax(worst, fabs(fmin(fmax(p - problem->after[r] * per_speed, -bound), bound) - p));
    }
    const double residual = worst / (1 + largest);
    return isfinite(residual) ? residual : INFINITY;
}

double carom_sweep_residual(carom_sweep_problem *problem) {
    const int all = size_of(problem);
    carom_multiply(all, all, problem->W, problem->impulse, problem->after);
    for (int r = 0; r < all; r++) problem->after[r] += problem->free[r];
    return judge(problem);
}

// The same by the entries that are not zero.
static double find_residual(carom_sweep_problem *problem, const carom_sweep_room *room) {
    for (int r = 0; r < size_of(problem); r++) problem->after[r] = multiply_row(room, r, problem->impulse) + problem->free[r];
    return judge(problem);
}

// ------------------------------------------------------------------------------------------------------------- sweeping

// The largest eigenvalue of a contact's tangential block of W.
static double find_stiffness(const carom_sweep_problem *problem, const carom_sweep_contact *contact) {
    const size_t all = (size_t)size_of(problem), first = (size_t)contact->row + 1;
    const double *block = problem->W + first * all + first;
    if (contact->tangents < 2) return contact->tangents ? block[0] : 0;
    return 0.5 * (block[0] + block[all + 1]) + hypot(0.5 * (block[0] - block[all + 1]), block[1]);
}

// One contact, with the impulses of all others as they are: its normal impulse, then its friction, in turn.
static void sweep_contact(const carom_sweep_problem *problem, const carom_sweep_room *room, const carom_sweep_contact *contact) {
    const int all = size_of(problem), width = 1 + contact->tangents;
    const double *W = problem->W + (size_t)contact->row * (size_t)all + (size_t)contact->row;
    double *p = problem->impulse + contact->row, u[MOST_WIDTH] = {0};
    for (int a = 0; a < width; a++) u[a] = problem->free[contact->row + a] + multiply_row(room, contact->row + a, problem->impulse);
    const double stiffness = find_stiffness(problem, contact);
    for (int k = 0; k < (contact->edges ? LOCAL_SWEEPS : 1); k++) {
        double change[MOST_WIDTH] = {0}, point[2] = {0}, nearest[2] = {0};
        if (W[0] > 0) change[0] = fmin(fmax(p[0] - u[0] / W[0], 0), contact->cap) - p[0];
        for (int r = 0; r < width; r++) u[r] += W[r * all] * change[0];
        p[0] += change[0];
        if (!contact->edges || !(stiffness > 0)) continue;
        for (int r = 0; r < contact->tangents; r++) point[r] = p[1 + r] - u[1 + r] / stiffness;
        project_friction(contact, contact->friction * p[0], point, nearest);
        for (int r = 0; r < contact->tangents; r++) {
            change[1 + r] = nearest[r] - p[1 + r];
            p[1 + r] = nearest[r];
        }
        for (int r = 0; r < width; r++)
            for (int q = 1; q < width; q++) u[r] += W[r * all + q] * change[q];
    }
}

static void sweep(const carom_sweep_problem *problem, const carom_sweep_room *room) {
    const int all = size_of(problem);
    for (int i = 0; i < problem->contacts; i++) sweep_contact(problem, room, &problem->contact[i]);
    for (int r = problem->rows; r < all; r++) {
        const double diagonal = problem->W[(size_t)r * (size_t)(all + 1)], bound = problem->bound[r - problem->rows];
        if (!(diagonal > 0)) continue;
        const double u = problem->free[r] + multiply_row(room, r, problem->impulse);
        problem->impulse[r] = fmin(fmax(problem->impulse[r] - u / diagonal, -bound), bound);
    }
}

// -------------------------------------------------------------------------------------------------------------- Newton

// Adds an unknown that pushes along `trial` and stops the velocity along `test`, [width] on rows from `row`.
static void add_unknown(carom_sweep_room *room, int *count, int node, int row, int width, const double *trial, const double *test) {
    unknown *made = &room->unknowns[(*count)++];
    *made = (unknown){.node = node, .row = row, .width = width};
    memcpy(made->trial, trial, (size_t)width * sizeof *trial);
    memcpy(made->test, test, (size_t)width * sizeof *test);
}

// What a contact does at the present impulses: it is open, at its cap or stops approaching; and it sticks, or its friction is a corner of
// its section of the cone, or on a side of it.
static void list_contact(const carom_sweep_problem *problem, carom_sweep_room *room, int node, int *count) {
    static const double axes[MOST_WIDTH][MOST_WIDTH] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const carom_sweep_contact *contact = &problem->contact[node];
    const int row = contact->row, width = 1 + contact->tangents;
    const double *p = problem->impulse + row, *u = problem->after + row, mu = contact->friction;
    const double diagonal = problem->W[(size_t)row * (size_t)(size_of(problem) + 1)], reach = diagonal * p[0] - u[0];
    if (!(reach > 0)) return;
    const bool capped = reach > diagonal * contact->cap;
    // A unit of normal impulse drags mu times it along a corner of the section, but where the contact sticks.
    double push[MOST_WIDTH] = {1}, point[2] = {0}, nearest[2] = {0}, side[MOST_WIDTH] = {0};
    bool sticks = contact->edges > 0, on_side = false;
    if (contact->edges) {
        const double stiffness = find_stiffness(problem, contact), radius = mu * fmax(p[0], 0);
        for (int r = 0; r < contact->tangents; r++) point[r] = p[1 + r] - u[1 + r] / stiffness;
        project_friction(contact, radius, point, nearest);
        sticks = !memcmp(point, nearest, sizeof point);
        // The corner that is nearest, and the side that starts there or ends there.
        int corner = 0;
        double best = INFINITY;
        for (int e = 0; e < contact->edges; e++) {
            double off = 0;
            for (int r = 0; r < contact->tangents; r++)
                off = hypot(off, nearest[r] - radius * contact->directions[e * contact->tangents + r]);
            if (!(off < best)) continue;
            best = off;
            corner = e;
        }
        const double *d = contact->directions + corner * contact->tangents;
        for (int r = 0; r < contact->tangents && !sticks; r++) push[1 + r] = mu * d[r];
        on_side = !sticks && contact->tangents == 2 && best > ACTIVE_CORNER * radius;
        if (on_side) {
            const double along = d[0] * nearest[1] - d[1] * nearest[0];
            const double *other = contact->directions + 2 * ((corner + (along > 0 ? 1 : contact->edges - 1)) % contact->edges);
            for (int r = 0; r < 2; r++) side[1 + r] = other[r] - d[r];
        }
    }
    if (!capped) add_unknown(room, count, node, row, width, push, axes[0]);
    for (int a = 0; a < width && capped; a++) room->fixed[row + a] = contact->cap * push[a];
    for (int r = 1; r < width && sticks; r++) add_unknown(room, count, node, row, width, axes[r], axes[r]);
    if (on_side) add_unknown(room, count, node, row, width, side, side);
}

static void list_dry(const carom_sweep_problem *problem, carom_sweep_room *room, int node, int *count) {
    static const double one = 1;
    const int r = first_row(problem, node);
    const double diagonal = problem->W[(size_t)r * (size_t)(size_of(problem) + 1)], bound = problem->bound[r - problem->rows];
    const double reach = diagonal * problem->impulse[r] - problem->after[r];
    if (fabs(reach) <= diagonal * bound)
        add_unknown(room, count, node, r, 1, &one, &one);
    else
        room->fixed[r] = reach > 0 ? bound : -bound;
}

// The unknowns of all nodes, in their order; returns how many there are.
static int list_unknowns(const carom_sweep_problem *problem, carom_sweep_room *room) {
    int count = 0;
    for (int k = 0; k < room->nodes; k++) {
        const int node = room->order[k];
        room->first_unknown[node] = count;
        if (node < problem->contacts)
            list_contact(problem, room, node, &count);
        else
            list_dry(problem, room, node, &count);
        room->end_unknown[node] = count;
    }
    return count;
}

// The largest distance of two unknowns that are coupled.
static int find_band(const carom_sweep_room *room, int size) {
    int width = 0;
    for (int i = 0; i < size; i++) {
        const int node = room->unknowns[i].node;
        for (int k = room->first_neighbour[node]; k < room->first_neighbour[node + 1]; k++) {
            const int other = room->neighbour[k], first = room->first_unknown[other], last = room->end_unknown[other] - 1;
            if (last < first) continue;
            width = i - first > width ? i - first : width;
            width = last - i > width ? last - i : width;
        }
    }
    return width;
}

// One step: the impulses p = fixed + sum x trial of what each contact does at the present ones, with
//     test'(free + W p + e (p - present)) = 0.
// False when the equations are singular.
static bool newton_step(carom_sweep_problem *problem, carom_sweep_room *room, double proximity) {
    const size_t all = (size_t)size_of(problem);
    memset(room->fixed, 0, all * sizeof *room->fixed);
    const int size = list_unknowns(problem, room), width = find_band(room, size);
    // Entry (i, j) stands at first + i down + j across: row by row, or the band column by column, where that is smaller.
    const bool banded = size > CAROM_FIXED_ORDER_SIZE && CAROM_BAND_HEIGHT(width) < size;
    const size_t height = (size_t)(banded ? CAROM_BAND_HEIGHT(width) : size);
    const size_t first = banded ? 2 * (size_t)width : 0, down = banded ? 1 : height, across = banded ? height - 1 : 1;
    memset(room->matrix, 0, height * (size_t)size * sizeof *room->matrix);
    for (int i = 0; i < size; i++) {
        const unknown *test = &room->unknowns[i];
        room->right[i] = 0;
        for (int a = 0; a < test->width; a++) {
            const int r = test->row + a;
            if (test->test[a] == 0) continue;
            room->right[i] -= test->test[a] *
                              (problem->free[r] + multiply_row(room, r, room->fixed) + proximity * (room->fixed[r] - problem->impulse[r]));
        }
        for (int k = room->first_neighbour[test->node]; k < room->first_neighbour[test->node + 1]; k++)
            for (int j = room->first_unknown[room->neighbour[k]]; j < room->end_unknown[room->neighbour[k]]; j++) {
                const unknown *trial = &room->unknowns[j];
                double sum = 0;
                for (int a = 0; a < test->width; a++) {
                    const double *W = problem->W + (size_t)(test->row + a) * all + trial->row;
                    for (int b = 0; b < trial->width; b++) sum += test->test[a] * W[b] * trial->trial[b];
                    if (test->row == trial->row) sum += proximity * test->test[a] * trial->trial[a];
                }
                room->matrix[first + (size_t)i * down + (size_t)j * across] = sum;
            }
    }
    const bool solved = banded ? carom_solve_banded(size, width, room->matrix, room->exchanges, room->right)
                               : carom_solve_square(size, room->matrix, room->exchanges, room->right);
    if (!solved) return false;
    if (!carom_all_finite((size_t)size, room->right)) return false;
    memcpy(problem->impulse, room->fixed, all * sizeof *room->fixed);
    for (int j = 0; j < size; j++)
        for (int b = 0; b < room->unknowns[j].width; b++)
            problem->impulse[room->unknowns[j].row + b] += room->right[j] * room->unknowns[j].trial[b];
    return true;
}

// Is the search to go on?
static bool goes_on(const carom_sweep_problem *problem, double residual) {
    return residual > GOAL && !carom_control_cancelled(problem->control);
}

// At most so many steps of Newton's method from the present impulses; the best that there were come back.
static double polish(carom_sweep_problem *problem, carom_sweep_room *room, double residual, int most, bool cautious) {
    const size_t all = (size_t)size_of(problem);
    memcpy(room->kept, problem->impulse, all * sizeof *problem->impulse);
    double best = residual, now = residual;
    for (int k = 0; k < most && goes_on(problem, best); k++) {
        const double proximity = cautious ? fmin(fmax(now, PROXIMITY), 1) : PROXIMITY;
        if (!newton_step(problem, room, proximity / problem->mass)) break;
        now = find_residual(problem, room);
        if (!(now < best)) continue;
        best = now;
        memcpy(room->kept, problem->impulse, all * sizeof *problem->impulse);
    }
    memcpy(problem->impulse, room->kept, all * sizeof *problem->impulse);
    return find_residual(problem, room);
}

double carom_sweep(carom_sweep_problem *problem, carom_sweep_room *room) {
    list_entries(problem, room);
    list_neighbours(problem, room);
    order_nodes(problem, room);
    double residual = find_residual(problem, room), tried = INFINITY;
    for (int sweeps = 0; sweeps < MOST_SWEEPS && goes_on(problem, residual); sweeps += SWEEPS_A_LOOK) {
        // Again only from a point that is nearer than the last one.
        if (residual <= fmin(NEAR_RESIDUAL, 0.5 * tried)) {
            tried = residual;
            residual = polish(problem, room, residual, MOST_NEWTON, false);
        }
        if (residual <= GOAL) break;
        for (int k = 0; k < SWEEPS_A_LOOK; k++) sweep(problem, room);
        residual = find_residual(problem, room);
    }
    // Where friction makes sweeps go round in circles.
    for (int k = 0; k < problem->attempts && goes_on(problem, residual); k++) {
        residual = polish(problem, room, residual, MOST_CAUTIOUS, true);
        for (int q = 0; q < SWEEPS_A_LOOK && residual > GOAL; q++) sweep(problem, room);
        if (residual > GOAL) residual = find_residual(problem, room);
    }
    return residual;
}
