// SPDX-License-Identifier: Apache-2.0
// One-sided Hausdorff distances by branch and bound: the least eps for which a net covers a set, and the worst covered point.
//
// A cell is a simplex of the set. Its center and corners bound the radius from below. From above, all its points are at most as far from
// the net as the farthest corner is from one convex piece of it. Cells whose bound does not exceed the radius by more than the gap are
// dropped; the others are bisected, those of the largest bound first.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "sets/set.h"

// Bounds that differ by less than this share of the extents are equal: the rounding of distances is a few digits below.
#define EXACT 1e-12

// Pieces of larger dimension are searched to the gap of the options only: the number of cells grows with 1/gap^dimension.
enum { EXACT_DIMENSION = 2 };

// Points or cells between two questions whether to stop. In ten and more dimensions each may take a millisecond.
enum { POLL = 64 };

// A simplex of a piece, and an upper bound of the distances of its points from the net. Its corners stand in the search's `corners`.
typedef struct cell {
    double bound;
    int64_t first;  // of its corners
    int64_t piece;  // of the net, whose distance gives the bound
    int size;
} cell;

// The search for the farthest point of one set from another, by branch and bound.
typedef struct search {
    const carom_set *set, *net;
    const carom_cover_options *options;
    carom_cover *cover;
    double extent;     // of both sets
    double dropped;    // largest bound of the cells that were dropped
    cell *heap;        // largest bound first
    int64_t *corners;  // indices of points, `size` for each cell
    double *points;    // [.. x dimension]
    double *center;    // [dimension]
    int64_t heap_count, heap_room, corner_count, corner_room, point_count, point_room;
} search;

// ------------------------------------------------------------------------------------------------------------- storage

// Makes room for `more` further entries of `size` bytes in the array that the pointer at `entries` points to.
static bool reserve(void *entries, int64_t count, int64_t more, int64_t *room, size_t size) {
    if (count + more <= *room) return true;
    const int64_t larger = 2 * (*room + more);
    void *array;
    memcpy(&array, entries, sizeof array);
    array = realloc(array, (size_t)larger * size);
    if (!array) return false;
    memcpy(entries, &array, sizeof array);
    *room = larger;
    return true;
}

// The same for corners of cells.
static bool reserve_corners(search *s, int64_t more) {
    return reserve(&s->corners, s->corner_count, more, &s->corner_room, sizeof *s->corners);
}

static double *point_of(const search *s, int64_t index) { return s->points + (size_t)index * (size_t)s->set->dimension; }

// Index of a new point; -1 when there is no memory.
static int64_t add_point(search *s, const double *x) {
    const size_t bytes = (size_t)s->set->dimension * sizeof *x;
    if (!reserve(&s->points, s->point_count, 1, &s->point_room, bytes)) return -1;
    memcpy(point_of(s, s->point_count), x, bytes);
    return s->point_count++;
}

static void swap_cells(cell *a, cell *b) {
    const cell held = *a;
    *a = *b;
    *b = held;
}

// Takes the cell of the largest bound out of the heap.
static cell pop_cell(search *s) {
    const cell top = s->heap[0];
    s->heap[0] = s->heap[--s->heap_count];
    for (int64_t i = 0;;) {
        int64_t largest = i;
        for (int64_t child = 2 * i + 1; child <= 2 * i + 2 && child < s->heap_count; child++)
            if (s->heap[child].bound > s->heap[largest].bound) largest = child;
        if (largest == i) return top;
        swap_cells(&s->heap[i], &s->heap[largest]);
        i = largest;
    }
}

// -------------------------------------------------------------------------------------------------------------- bounds

// Takes the distance of a point of the set from the net as a lower bound of the radius, if it is larger than those before.
static void raise_radius(search *s, const double *x, double distance) {
    s->cover->cells++;
    if (distance <= s->cover->radius) return;
    s->cover->radius = distance;
    memcpy(s->cover->point, x, (size_t)s->set->dimension * sizeof *x);
}

// Most points are near some piece of the net, and cannot raise the radius: no search for the nearest piece is needed for them.
static void probe(search *s, const double *x) { raise_radius(s, x, carom_set_distance_beyond(s->net, x, s->cover->radius)); }

// The distance from one convex piece is a convex function: on a simplex it is largest at a corner.
static double bound_by(const search *s, const cell *c, int64_t piece) {
    double bound = 0;
    for (int i = 0; i < c->size; i++)
        bound = fmax(bound, carom_set_piece_distance(s->net, piece, point_of(s, s->corners[c->first + i]), NULL));
    return bound;
}

// Bounds the cell by the piece that is nearest to its center, or by its parent's (-1: none).
static void bound_cell(search *s, cell *c, int64_t parents_piece) {
    for (int k = 0; k < s->set->dimension; k++) {
        s->center[k] = 0;
        for (int i = 0; i < c->size; i++) s->center[k] += point_of(s, s->corners[c->first + i])[k] / c->size;
    }
    raise_radius(s, s->center, carom_set_nearest_piece(s->net, s->center, &c->piece, NULL));
    c->bound = bound_by(s, c, c->piece);
    if (parents_piece < 0 || parents_piece == c->piece) return;
    const double other = bound_by(s, c, parents_piece);
    if (!(other < c->bound)) return;
    c->bound = other;
    c->piece = parents_piece;
}

// The rounding of distances.
static double exact_gap(const search *s) { return EXACT * fmax(s->extent, s->cover->radius); }

// May the cell hold points worse than the worst so far, beyond the gap? A cell that may not is dropped.
static bool is_open(search *s, const cell *c) {
    const double gap = exact_gap(s), allowed = s->options->relative_gap * s->cover->radius;
    if (c->bound > s->cover->radius + (c->size - 1 <= EXACT_DIMENSION ? gap : fmax(gap, allowed))) return true;
    s->dropped = fmax(s->dropped, c->bound);
    return false;
}

// Puts the cell into the heap unless it is dropped. False when there is no memory.
static bool keep_cell(search *s, const cell *c) {
    if (!is_open(s, c)) return true;
    if (!reserve(&s->heap, s->heap_count, 1, &s->heap_room, sizeof *s->heap)) return false;
    int64_t i = s->heap_count++;
    s->heap[i] = *c;
    for (; i > 0 && s->heap[(i - 1) / 2].bound < s->heap[i].bound; i = (i - 1) / 2) swap_cells(&s->heap[i], &s->heap[(i - 1) / 2]);
    return true;
}

// ------------------------------------------------------------------------------------------------------------ the search

// Cuts one piece into simplices, unless its vertices settle it: where the net is convex they always do.
static carom_status add_piece(search *s, int64_t piece, const carom_control *control, carom_error *error) {
    const carom_set *set = s->set;
    const int64_t first = set->starts[piece], count = set->starts[piece + 1] - first, base = s->point_count;
    const double *points = set->coordinates + (size_t)first * (size_t)set->dimension;

    // Its vertices bound all of it, because the distance from one convex piece is largest at a vertex.
    if (!reserve_corners(s, count)) return carom_fail_memory(error, "coverage");
    for (int64_t i = 0; i < count; i++) {
        const double *x = points + (size_t)i * (size_t)set->dimension;
        probe(s, x);
        s->corners[s->corner_count + i] = add_point(s, x);
        if (s->corners[s->corner_count + i] < 0) return carom_fail_memory(error, "coverage");
    }
    cell whole = {.first = s->corner_count, .size = (int)count};
    bound_cell(s, &whole, -1);

    carom_arena arena = {0};
    carom_triangulation cells = {0};
    carom_status status = CAROM_OK;
    bool uncut = whole.bound <= s->cover->radius + exact_gap(s);
    if (!uncut) status = carom_hull_triangulate(set->dimension, (int)count, points, control, &arena, &cells, error);
    // Where Qhull cannot cut it, or was stopped, no better bound than that of the whole is known.
    if (status == CAROM_UNSUPPORTED || status == CAROM_INTERNAL || cells.interrupted) {
        uncut = true;
        status = CAROM_OK;
    }
    if (uncut) s->dropped = fmax(s->dropped, whole.bound);
    if (!uncut && !status) {
        const int64_t entries = (int64_t)cells.count * cells.size, corner = s->corner_count;
        bool kept = reserve_corners(s, entries);
        for (int64_t i = 0; kept && i < entries; i++) s->corners[corner + i] = base + cells.corners[i];
        s->corner_count += kept ? entries : 0;
        for (int i = 0; kept && i < cells.count; i++) {
            cell added = {.first = corner + (int64_t)i * cells.size, .size = cells.size};
            bound_cell(s, &added, -1);
            kept = keep_cell(s, &added);
        }
        if (!kept) status = carom_fail_memory(error, "coverage");
    }
    carom_arena_free(&arena);
    return status;
}

// Adds the cell that has the new point in place of one corner of its parent. False when there is no memory.
static bool add_half(search *s, const cell *parent, int replaced, int64_t point) {
    if (!reserve_corners(s, parent->size)) return false;
    cell half = {.first = s->corner_count, .size = parent->size};
    memcpy(s->corners + half.first, s->corners + parent->first, (size_t)half.size * sizeof *s->corners);
    s->corners[half.first + replaced] = point;
    s->corner_count += half.size;
    bound_cell(s, &half, parent->piece);
    return keep_cell(s, &half);
}

// Bisects a cell at its longest edge. False when there is no memory.
static bool bisect(search *s, const cell *c) {
    const int64_t *corners = s->corners + c->first;
    int longest[2] = {0, 0};
    double most = -1;
    for (int i = 0; i < c->size; i++)
        for (int j = i + 1; j < c->size; j++) {
            const double *p = point_of(s, corners[i]), *q = point_of(s, corners[j]);
            double square = 0;
            for (int k = 0; k < s->set->dimension; k++) square += (p[k] - q[k]) * (p[k] - q[k]);
            if (square <= most) continue;
            most = square;
            longest[0] = i;
            longest[1] = j;
        }
    const double *p = point_of(s, corners[longest[0]]), *q = point_of(s, corners[longest[1]]);
    for (int k = 0; k < s->set->dimension; k++) s->center[k] = p[k] / 2 + q[k] / 2;
    probe(s, s->center);
    const int64_t middle = add_point(s, s->center);
    return middle >= 0 && add_half(s, c, longest[0], middle) && add_half(s, c, longest[1], middle);
}

carom_cover_options carom_cover_defaults(void) { return (carom_cover_options){.relative_gap = 0.01, .most_cells = 2000000}; }

carom_status carom_set_cover(const carom_set *set, const carom_set *net, const carom_cover_options *options, const carom_control *control,
                             carom_cover *cover, carom_error *error) {
    *cover = (carom_cover){.radius = -1, .bound = NAN, .point = cover->point};
    if (set->dimension != net->dimension)
        return carom_fail(error, CAROM_BAD_INPUT, "coverage: the sets have the dimensions %d and %d", set->dimension, net->dimension);
    if (!(options->relative_gap >= 0) || options->most_cells < 1)
        return carom_fail(error, CAROM_BAD_INPUT, "coverage: the gap %g or the number of cells is below its least value",
                          options->relative_gap);
    search s = {.set = set, .net = net, .options = options, .cover = cover, .extent = fmax(set->extent, net->extent)};
    s.center = malloc((size_t)set->dimension * sizeof *s.center);
    carom_status status = s.center ? CAROM_OK : carom_fail_memory(error, "coverage");

    // Begin with the simplices of all pieces; a piece that is one point needs no cell.
    for (int64_t i = 0; i < set->pieces && !status && !cover->interrupted; i++) {
        if (set->starts[i + 1] - set->starts[i] > 1)
            status = add_piece(&s, i, control, error);
        else
            probe(&s, set->coordinates + (size_t)set->starts[i] * (size_t)set->dimension);
        if (i % POLL) continue;
        cover->interrupted = carom_control_cancelled(control);
        // The pieces that were not looked at may be anywhere.
        if (cover->interrupted) s.dropped = INFINITY;
    }

    // Bisect the cell of the largest bound until no cell can hold a worse point. The radius may have grown since a cell was kept.
    for (int64_t round = 1; !status && s.heap_count && cover->cells < options->most_cells && !cover->interrupted; round++) {
        const cell top = pop_cell(&s);
        if (!is_open(&s, &top)) continue;
        if (!bisect(&s, &top)) status = carom_fail_memory(error, "coverage");
        if (round % POLL == 0) cover->interrupted = carom_control_cancelled(control);
    }

    // Bounds of the kept cells and of the dropped ones; equal to the radius when the difference is rounding.
    cover->bound = fmax(cover->radius, s.dropped);
    if (s.heap_count) cover->bound = fmax(cover->bound, s.heap[0].bound);
    if (cover->bound <= cover->radius + exact_gap(&s)) cover->bound = cover->radius;
    free(s.heap);
    free(s.corners);
    free(s.points);
    free(s.center);
    return status;
}
