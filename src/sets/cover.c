// SPDX-License-Identifier: Apache-2.0
// One-sided Hausdorff distances by branch and bound: the least eps for which a net covers a set, and the worst covered point.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "sets/hull.h"
#include "sets/set.h"

// Bounds that differ by less than this share of the extents are equal: the rounding of distances is a few digits below.
#define EXACT 1e-12

// Pieces of larger dimension are searched to the gap of the options only: the number of cells grows with 1/gap^dimension.
enum { EXACT_DIMENSION = 2 };

// Cells between two questions whether to stop.
enum { POLL = 1024 };

// A simplex of a piece, and an upper bound of the distances of its points from the net. Its corners stand in the search's `corners`.
typedef struct cell {
    double bound;
    int64_t first;  // of its corners
    int64_t piece;  // of the net, from which the bound is
    int size;
} cell;

typedef struct search {
    const carom_set *set, *net;
    const carom_cover_options *options;
    carom_cover *cover;
    double extent;     // of both sets
    double dropped;    // largest bound of the cells that were dropped
    cell *heap;        // largest bound first
    int64_t *corners;  // indices of points, `size` for each cell
    double *points;    // [.. x dimension]
    double *centre;    // [dimension]
    int64_t heap_count, heap_room, corner_count, corner_room, point_count, point_room;
} search;

// ------------------------------------------------------------------------------------------------------------- storage

// Makes room for `more` further entries of `size` bytes.
static bool reserve(void **entries, int64_t count, int64_t more, int64_t *room, size_t size) {
    if (count + more <= *room) return true;
    const int64_t larger = 2 * (*room + more);
    void *moved = realloc(*entries, (size_t)larger * size);
    if (!moved) return false;
    *entries = moved;
    *room = larger;
    return true;
}

// Makes room for further corners.
static bool reserve_corners(search *s, int64_t more) {
    void *corners = s->corners;
    const bool reserved = reserve(&corners, s->corner_count, more, &s->corner_room, sizeof *s->corners);
    s->corners = corners;
    return reserved;
}

static double *point_of(const search *s, int64_t index) { return s->points + (size_t)index * (size_t)s->set->dimension; }

// Index of a new point; -1 when there is no memory.
static int64_t add_point(search *s, const double *x) {
    const size_t bytes = (size_t)s->set->dimension * sizeof *x;
    void *points = s->points;
    const bool reserved = reserve(&points, s->point_count, 1, &s->point_room, bytes);
    s->points = points;
    if (!reserved) return -1;
    memcpy(point_of(s, s->point_count), x, bytes);
    return s->point_count++;
}

static void swap_cells(cell *a, cell *b) {
    const cell held = *a;
    *a = *b;
    *b = held;
}

static bool push_cell(search *s, const cell *added) {
    void *heap = s->heap;
    const bool reserved = reserve(&heap, s->heap_count, 1, &s->heap_room, sizeof *s->heap);
    s->heap = heap;
    if (!reserved) return false;
    int64_t i = s->heap_count++;
    s->heap[i] = *added;
    for (; i > 0 && s->heap[(i - 1) / 2].bound < s->heap[i].bound; i = (i - 1) / 2) swap_cells(&s->heap[i], &s->heap[(i - 1) / 2]);
    return true;
}

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

// The distance of a point of the set from the net: a lower bound of the radius.
static int64_t probe(search *s, const double *x) {
    int64_t piece;
    const double distance = carom_set_nearest_piece(s->net, x, &piece, NULL);
    s->cover->cells++;
    if (distance > s->cover->radius) {
        s->cover->radius = distance;
        memcpy(s->cover->point, x, (size_t)s->set->dimension * sizeof *x);
    }
    return piece;
}

// The distance from one convex piece is a convex function: on a simplex it is largest at a corner.
static double bound_by(const search *s, const cell *c, int64_t piece) {
    double bound = 0;
    for (int i = 0; i < c->size; i++)
        bound = fmax(bound, carom_set_piece_distance(s->net, piece, point_of(s, s->corners[c->first + i]), NULL));
    return bound;
}

// Bounds the cell by the piece that is nearest to its centre, or by its parent's (-1: none).
static void bound_cell(search *s, cell *c, int64_t parents_piece) {
    const int d = s->set->dimension;
    for (int k = 0; k < d; k++) {
        s->centre[k] = 0;
        for (int i = 0; i < c->size; i++) s->centre[k] += point_of(s, s->corners[c->first + i])[k] / c->size;
    }
    c->piece = probe(s, s->centre);
    c->bound = bound_by(s, c, c->piece);
    if (parents_piece < 0 || parents_piece == c->piece) return;
    const double other = bound_by(s, c, parents_piece);
    if (!(other < c->bound)) return;
    c->bound = other;
    c->piece = parents_piece;
}

// The rounding of distances.
static double exact_gap(const search *s) { return EXACT * fmax(s->extent, s->cover->radius); }

// What the bound of a cell may exceed the radius by.
static double gap_of(const search *s, const cell *c) {
    if (c->size - 1 <= EXACT_DIMENSION) return exact_gap(s);
    return fmax(exact_gap(s), s->options->relative_gap * s->cover->radius);
}

// Keeps the cell where its points may be worse than the worst so far.
static bool keep_cell(search *s, const cell *c) {
    if (c->bound > s->cover->radius + gap_of(s, c)) return push_cell(s, c);
    s->dropped = fmax(s->dropped, c->bound);
    return true;
}

// ----------------------------------------------------------------------------------------------------------- branching

static double edge_square(const search *s, int64_t a, int64_t b) {
    const double *p = point_of(s, a), *q = point_of(s, b);
    double square = 0;
    for (int k = 0; k < s->set->dimension; k++) square += (p[k] - q[k]) * (p[k] - q[k]);
    return square;
}

static void find_longest_edge(const search *s, const cell *c, int longest[2]) {
    const int64_t *corners = s->corners + c->first;
    double most = -1;
    for (int i = 0; i < c->size; i++)
        for (int j = i + 1; j < c->size; j++) {
            const double square = edge_square(s, corners[i], corners[j]);
            if (square <= most) continue;
            most = square;
            longest[0] = i;
            longest[1] = j;
        }
}

// Adds the cell that has the new point in place of one corner of its parent.
static bool add_half(search *s, const cell *parent, int replaced, int64_t point) {
    if (!reserve_corners(s, parent->size)) return false;
    cell half = {.first = s->corner_count, .size = parent->size};
    memcpy(s->corners + half.first, s->corners + parent->first, (size_t)half.size * sizeof *s->corners);
    s->corners[half.first + replaced] = point;
    s->corner_count += half.size;
    bound_cell(s, &half, parent->piece);
    return keep_cell(s, &half);
}

// Bisects a cell at its longest edge.
static bool bisect(search *s, const cell *c) {
    int longest[2] = {0, 0};
    find_longest_edge(s, c, longest);
    const double *p = point_of(s, s->corners[c->first + longest[0]]), *q = point_of(s, s->corners[c->first + longest[1]]);
    for (int k = 0; k < s->set->dimension; k++) s->centre[k] = p[k] / 2 + q[k] / 2;
    probe(s, s->centre);
    const int64_t middle = add_point(s, s->centre);
    return middle >= 0 && add_half(s, c, longest[0], middle) && add_half(s, c, longest[1], middle);
}

// ------------------------------------------------------------------------------------------------------------ the search

// The vertices of one piece, and a bound of all of it: the distance from one convex piece is largest at a vertex.
static bool add_vertices(search *s, int64_t piece, double *bound) {
    const carom_set *set = s->set;
    const int64_t first = set->starts[piece], count = set->starts[piece + 1] - first;
    if (!reserve_corners(s, count)) return false;
    for (int64_t i = 0; i < count; i++) {
        const double *x = set->coordinates + (size_t)(first + i) * (size_t)set->dimension;
        probe(s, x);
        s->corners[s->corner_count + i] = add_point(s, x);
        if (s->corners[s->corner_count + i] < 0) return false;
    }
    cell whole = {.first = s->corner_count, .size = (int)count};
    bound_cell(s, &whole, -1);
    *bound = whole.bound;
    return true;
}

// Takes the simplices of a piece whose points begin at `base`.
static bool add_simplices(search *s, int64_t base, const carom_triangulation *cells) {
    const int64_t entries = (int64_t)cells->count * cells->size, first = s->corner_count;
    if (!reserve_corners(s, entries)) return false;
    for (int64_t i = 0; i < entries; i++) s->corners[first + i] = base + cells->corners[i];
    s->corner_count += entries;
    for (int i = 0; i < cells->count; i++) {
        cell added = {.first = first + (int64_t)i * cells->size, .size = cells->size};
        bound_cell(s, &added, -1);
        if (!keep_cell(s, &added)) return false;
    }
    return true;
}

// Cuts one piece, unless its vertices settle it: where the net is convex they always do.
static carom_status add_piece(search *s, int64_t piece, carom_error *error) {
    const carom_set *set = s->set;
    const int64_t first = set->starts[piece], count = set->starts[piece + 1] - first, base = s->point_count;
    double bound;
    if (!add_vertices(s, piece, &bound)) return carom_fail_memory(error, "coverage");
    carom_triangulation cells = {0};
    carom_status status = CAROM_OK;
    const bool settled = bound <= s->cover->radius + exact_gap(s);
    if (!settled)
        status =
            carom_hull_triangulate(set->dimension, (int)count, set->coordinates + (size_t)first * (size_t)set->dimension, &cells, error);
    // Where Qhull cannot cut it, the bound of the whole is what is known.
    const bool uncut = settled || status == CAROM_UNSUPPORTED || status == CAROM_INTERNAL;
    if (uncut) s->dropped = fmax(s->dropped, bound);
    if (!uncut && !status && !add_simplices(s, base, &cells)) status = carom_fail_memory(error, "coverage");
    free(cells.corners);
    return uncut ? CAROM_OK : status;
}

// A piece that is one point needs no cell.
static carom_status add_pieces(search *s, const carom_control *control, carom_error *error) {
    const carom_set *set = s->set;
    carom_status status = CAROM_OK;
    for (int64_t i = 0; i < set->pieces && !status; i++) {
        if (set->starts[i + 1] - set->starts[i] > 1)
            status = add_piece(s, i, error);
        else
            probe(s, set->coordinates + (size_t)set->starts[i] * (size_t)set->dimension);
        if (i % POLL) continue;
        s->cover->interrupted = carom_control_cancelled(control);
        // What was not looked at may be anywhere.
        if (s->cover->interrupted) s->dropped = INFINITY;
        if (s->cover->interrupted) break;
    }
    return status;
}

static carom_status refine(search *s, const carom_control *control, carom_error *error) {
    for (int64_t round = 1; s->heap_count && s->cover->cells < s->options->most_cells && !s->cover->interrupted; round++) {
        const cell top = pop_cell(s);
        // The radius may have grown since.
        if (top.bound <= s->cover->radius + gap_of(s, &top)) {
            s->dropped = fmax(s->dropped, top.bound);
            continue;
        }
        if (!bisect(s, &top)) return carom_fail_memory(error, "coverage");
        if (round % POLL == 0) s->cover->interrupted = carom_control_cancelled(control);
    }
    return CAROM_OK;
}

// Bounds of the kept cells and of the dropped ones; equal to the radius when the difference is rounding.
static void conclude(search *s) {
    carom_cover *cover = s->cover;
    cover->bound = fmax(cover->radius, s->dropped);
    if (s->heap_count) cover->bound = fmax(cover->bound, s->heap[0].bound);
    if (cover->bound <= cover->radius + exact_gap(s)) cover->bound = cover->radius;
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
    s.centre = malloc((size_t)set->dimension * sizeof *s.centre);
    carom_status status = s.centre ? add_pieces(&s, control, error) : carom_fail_memory(error, "coverage");
    if (!status) status = refine(&s, control, error);
    conclude(&s);
    free(s.heap);
    free(s.corners);
    free(s.points);
    free(s.centre);
    return status;
}
