// SPDX-License-Identifier: Apache-2.0
// Unions of convex hulls of points, and a tree of boxes over them for nearest neighbours.
//
// The tree halves the pieces at the median of their first points along the widest side of the box, until a leaf holds few. A search goes to
// the nearer child first, and leaves out boxes that are farther than the best piece so far. Memory: 2 d + 3 numbers for each node, and the
// first point of each piece once more, in the tree's order.
#include "sets/set.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"

// Pieces in a leaf of the tree: distances from points are as cheap as those from boxes, distances from polytopes are not.
enum { LEAF_POINTS = 8, LEAF_POLYTOPES = 1 };

// Pieces that nodes have sorted between two questions whether to stop.
enum { POLL = 1 << 16 };

// ------------------------------------------------------------------------------------------------------------- the tree

// Pieces are sorted into the tree by their first points, which move with them: passes over neighbours in the tree then are passes over
// neighbours in memory.
static double key_of(const carom_set *set, int64_t place, int axis) {
    return set->sorted[(size_t)place * (size_t)set->dimension + (size_t)axis];
}

static void exchange_pieces(carom_set *set, int64_t i, int64_t j) {
    const int64_t held = set->order[i];
    set->order[i] = set->order[j];
    set->order[j] = held;
    const size_t d = (size_t)set->dimension;
    double *a = set->sorted + (size_t)i * d, *b = set->sorted + (size_t)j * d;
    for (size_t k = 0; k < d; k++) {
        const double value = a[k];
        a[k] = b[k];
        b[k] = value;
    }
}

// Puts the piece that stands at `middle` in the sorted order there, smaller ones before it (Hoare's selection).
static void select_middle(carom_set *set, int64_t first, int64_t last, int64_t middle, int axis) {
    while (first < last) {
        const double pivot = key_of(set, first + (last - first) / 2, axis);
        int64_t i = first, j = last;
        while (i <= j) {
            while (key_of(set, i, axis) < pivot) i++;
            while (key_of(set, j, axis) > pivot) j--;
            if (i > j) break;
            exchange_pieces(set, i++, j--);
        }
        if (middle <= j)
            last = j;
        else if (middle >= i)
            first = i;
        else
            return;
    }
}

// Fits a box around the pieces of a node and gives the node two children of half its pieces each, unless it is a leaf.
static void split_node(carom_set *set, int64_t index) {
    carom_set_node *node = &set->nodes[index];
    const int d = set->dimension;
    double *low = set->boxes + (size_t)index * 2 * (size_t)d, *high = low + d;
    for (int k = 0; k < d; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (int64_t i = node->first; i < node->first + node->count; i++) {
        const int64_t piece = set->order[i], points = set->starts[piece + 1] - set->starts[piece];
        const double *x = points == 1 ? set->sorted + i * d : set->coordinates + set->starts[piece] * d;
        for (int64_t point = 0; point < points; point++, x += d)
            for (int k = 0; k < d; k++) {
                if (x[k] < low[k]) low[k] = x[k];
                if (x[k] > high[k]) high[k] = x[k];
            }
    }
    // Halve the pieces along its widest side.
    if (node->count <= set->leaf_size) return;
    int widest = 0;
    for (int k = 1; k < d; k++)
        if (high[k] - low[k] > high[widest] - low[widest]) widest = k;
    const int64_t half = node->count / 2;
    select_middle(set, node->first, node->first + node->count - 1, node->first + half, widest);
    node->child = set->node_count;
    set->nodes[set->node_count++] = (carom_set_node){node->first, half, 0};
    set->nodes[set->node_count++] = (carom_set_node){node->first + half, node->count - half, 0};
}

// -------------------------------------------------------------------------------------------------------------- the set

carom_status carom_set_create(int dimension, int64_t pieces, const int64_t *starts, const double *points, carom_set **set,
                              carom_error *error) {
    return carom_set_create_watched(dimension, pieces, starts, points, NULL, set, error);
}

carom_status carom_set_create_watched(int dimension, int64_t pieces, const int64_t *starts, const double *points,
                                      const carom_control *control, carom_set **set, carom_error *error) {
    *set = NULL;
    if (dimension < 1 || dimension > CAROM_SET_MOST_DIMENSIONS)
        return carom_fail(error, CAROM_BAD_INPUT, "set: its dimension %d is not between 1 and %d", dimension, CAROM_SET_MOST_DIMENSIONS);
    if (pieces < 1) return carom_fail(error, CAROM_BAD_INPUT, "set: it is empty");
    int64_t most_points = 1;
    for (int64_t i = 0; starts && i < pieces; i++) {
        const int64_t count = starts[i + 1] - starts[i];
        if (starts[0] != 0 || count <= 0 || count > INT_MAX)
            return carom_fail(error, CAROM_BAD_INPUT, "set: piece %lld has no points", (long long)i);
        if (count > most_points) most_points = count;
    }
    const int64_t count = starts ? starts[pieces] : pieces;
    const size_t values = (size_t)count * (size_t)dimension;
    if (!carom_all_finite(values, points)) return carom_fail(error, CAROM_BAD_INPUT, "set: a coordinate is not finite");

    carom_set *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "set");
    *made = (carom_set){.dimension = dimension, .pieces = pieces, .points = count};
    made->leaf_size = most_points == 1 ? LEAF_POINTS : LEAF_POLYTOPES;
    // A leaf that is not the root holds more than half of what a leaf may.
    const size_t most_nodes = 2 * (2 * (size_t)pieces / ((size_t)made->leaf_size + 1) + 1);
    made->starts = carom_arena_take(&made->arena, (size_t)pieces + 1, sizeof *made->starts);
    made->coordinates = carom_arena_take(&made->arena, values, sizeof *made->coordinates);
    made->order = carom_arena_take(&made->arena, (size_t)pieces, sizeof *made->order);
    made->sorted = carom_arena_take(&made->arena, (size_t)pieces * (size_t)dimension, sizeof *made->sorted);
    made->nodes = carom_arena_take(&made->arena, most_nodes, sizeof *made->nodes);
    made->boxes = carom_arena_take(&made->arena, most_nodes * 2 * (size_t)dimension, sizeof *made->boxes);
    if (made->arena.failed) {
        carom_set_free(made);
        return carom_fail_memory(error, "set");
    }

    // Split nodes from the root on; their number grows meanwhile.
    memcpy(made->coordinates, points, values * sizeof *points);
    for (int64_t i = 0; i <= pieces; i++) made->starts[i] = starts ? starts[i] : i;
    for (int64_t i = 0; i < pieces; i++) {
        made->order[i] = i;
        memcpy(made->sorted + i * dimension, points + made->starts[i] * dimension, (size_t)dimension * sizeof *points);
    }
    made->nodes[0] = (carom_set_node){0, pieces, 0};
    made->node_count = 1;
    int64_t sorted = 0;
    for (int64_t i = 0; i < made->node_count; i++) {
        split_node(made, i);
        sorted += made->nodes[i].count;
        if (sorted < POLL) continue;
        sorted = 0;
        if (!carom_control_cancelled(control)) continue;
        carom_set_free(made);
        return CAROM_OK;
    }
    for (int k = 0; k < dimension; k++) made->extent = fmax(made->extent, (made->boxes[dimension + k] - made->boxes[k]) / 2);
    *set = made;
    return CAROM_OK;
}

void carom_set_free(carom_set *set) {
    if (!set) return;
    carom_arena_free(&set->arena);
    free(set);
}

double carom_set_extent(const carom_set *set) { return set->extent; }

double carom_set_support(const carom_set *set, const double *direction, int64_t *point) {
    double most = -INFINITY;
    *point = 0;
    for (int64_t i = 0; i < set->points; i++) {
        const double value = carom_dot(set->dimension, direction, set->coordinates + (size_t)i * (size_t)set->dimension);
        if (value > most) {
            most = value;
            *point = i;
        }
    }
    return most;
}

// ------------------------------------------------------------------------------------------------------------ distances

double carom_set_piece_distance(const carom_set *set, int64_t piece, const double *x, double *nearest) {
    // A piece that is one point is its own nearest point.
    const int64_t first = set->starts[piece], count = set->starts[piece + 1] - first;
    const double *points = set->coordinates + (size_t)first * (size_t)set->dimension;
    if (count > 1) return carom_convex_distance(set->dimension, count, points, x, nearest);
    if (nearest) memcpy(nearest, points, (size_t)set->dimension * sizeof *nearest);
    double square = 0;
    for (int k = 0; k < set->dimension; k++) square += (points[k] - x[k]) * (points[k] - x[k]);
    return sqrt(square);
}

// Square of the distance from a box, 0 inside. Term by term it is at most that of any point in the box, also after rounding.
static double box_square(const carom_set *set, int64_t node, const double *x) {
    const int d = set->dimension;
    const double *low = set->boxes + (size_t)node * 2 * (size_t)d, *high = low + d;
    double square = 0;
    for (int k = 0; k < d; k++) {
        const double outside = x[k] < low[k] ? low[k] - x[k] : x[k] > high[k] ? x[k] - high[k] : 0;
        square += outside * outside;
    }
    return square;
}

// The largest number whose square root is at most `length`: squares are compared in place of lengths, with the same outcome.
static double largest_square(double length) {
    double square = length * length;
    while (sqrt(square) > length) square = nextafter(square, 0);
    while (sqrt(nextafter(square, INFINITY)) <= length) square = nextafter(square, INFINITY);
    return square;
}

// The best piece so far of a search, which may end at the first piece within `enough`.
typedef struct search {
    const carom_set *set;
    const double *x;
    double enough, least;
    double limit;  // of squares: what is beyond is farther than the best piece
    int64_t piece;
} search;

// Nearer boxes first; boxes farther than the best piece are left out. As deep as the tree: logarithmic.
static void search_node(search *best, int64_t index) {
    const carom_set *set = best->set;
    const carom_set_node *node = &set->nodes[index];
    if (node->child) {
        const double squares[2] = {box_square(set, node->child, best->x), box_square(set, node->child + 1, best->x)};
        const int nearer = squares[1] < squares[0];
        if (squares[nearer] <= best->limit) search_node(best, node->child + nearer);
        if (squares[!nearer] <= best->limit && best->least > best->enough) search_node(best, node->child + !nearer);
        return;
    }
    const int d = set->dimension;
    for (int64_t i = node->first; i < node->first + node->count; i++) {
        const int64_t piece = set->order[i];
        double distance;
        if (set->starts[piece + 1] - set->starts[piece] > 1) {
            distance = carom_set_piece_distance(set, piece, best->x, NULL);
        } else {
            // The same for a point, without the root of most squares.
            const double *point = set->sorted + i * d;
            double square = 0;
            for (int k = 0; k < d; k++) square += (point[k] - best->x[k]) * (point[k] - best->x[k]);
            if (square > best->limit) continue;
            distance = sqrt(square);
        }
        // Ties go to the first piece, whatever the tree's order.
        if (distance > best->least || (distance == best->least && piece > best->piece)) continue;
        if (distance < best->least) best->limit = largest_square(distance);
        best->least = distance;
        best->piece = piece;
    }
}

double carom_set_nearest_piece(const carom_set *set, const double *x, int64_t *piece, double *nearest) {
    search best = {set, x, -1, INFINITY, INFINITY, INT64_MAX};
    search_node(&best, 0);
    *piece = best.piece;
    return nearest ? carom_set_piece_distance(set, best.piece, x, nearest) : best.least;
}

double carom_set_distance_beyond(const carom_set *set, const double *x, double enough) {
    search best = {set, x, enough, INFINITY, INFINITY, INT64_MAX};
    search_node(&best, 0);
    return best.least;
}

double carom_set_distance(const carom_set *set, const double *x, double *nearest) {
    int64_t piece;
    return carom_set_nearest_piece(set, x, &piece, nearest);
}
