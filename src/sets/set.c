// SPDX-License-Identifier: Apache-2.0
// Unions of convex hulls of points, and a tree of boxes over them for nearest neighbours.
#include "sets/set.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"

// Pieces in a leaf of the tree: distances from points are as cheap as those from boxes, distances from polytopes are not.
enum { LEAF_POINTS = 8, LEAF_POLYTOPES = 1 };

static int64_t leaf_size(const carom_set *set) { return set->most_points == 1 ? LEAF_POINTS : LEAF_POLYTOPES; }

// -------------------------------------------------------------------------------------------------------------- the set

static carom_status check_shape(int dimension, int64_t pieces, const int64_t *starts, const double *points, carom_error *error) {
    if (dimension < 1 || dimension > CAROM_SET_MOST_DIMENSIONS)
        return carom_fail(error, CAROM_BAD_INPUT, "set: its dimension %d is not between 1 and %d", dimension, CAROM_SET_MOST_DIMENSIONS);
    if (pieces < 1) return carom_fail(error, CAROM_BAD_INPUT, "set: it is empty");
    for (int64_t i = 0; starts && i < pieces; i++)
        if (starts[0] != 0 || starts[i + 1] <= starts[i] || starts[i + 1] - starts[i] > INT_MAX)
            return carom_fail(error, CAROM_BAD_INPUT, "set: piece %lld has no points", (long long)i);
    const int64_t count = starts ? starts[pieces] : pieces;
    if (!carom_all_finite((size_t)count * (size_t)dimension, points))
        return carom_fail(error, CAROM_BAD_INPUT, "set: a coordinate is not finite");
    return CAROM_OK;
}

static carom_status fill_set(carom_set *set, const int64_t *starts, const double *points, carom_error *error) {
    const size_t values = (size_t)set->points * (size_t)set->dimension;
    set->starts = malloc(((size_t)set->pieces + 1) * sizeof *set->starts);
    set->coordinates = malloc(values * sizeof *set->coordinates);
    if (!set->starts || !set->coordinates) return carom_fail_memory(error, "set");
    memcpy(set->coordinates, points, values * sizeof *points);
    for (int64_t i = 0; i <= set->pieces; i++) set->starts[i] = starts ? starts[i] : i;
    for (int64_t i = 0; i < set->pieces; i++) set->most_points = (int)fmax(set->most_points, (double)(set->starts[i + 1] - set->starts[i]));
    const carom_status status = carom_set_build_tree(set, error);
    for (int k = 0; !status && k < set->dimension; k++)
        set->extent = fmax(set->extent, (set->boxes[set->dimension + k] - set->boxes[k]) / 2);
    return status;
}

carom_status carom_set_create(int dimension, int64_t pieces, const int64_t *starts, const double *points, carom_set **set,
                              carom_error *error) {
    *set = NULL;
    carom_status status = check_shape(dimension, pieces, starts, points, error);
    if (status) return status;
    carom_set *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "set");
    *made = (carom_set){.dimension = dimension, .pieces = pieces, .points = starts ? starts[pieces] : pieces};
    status = fill_set(made, starts, points, error);
    if (status)
        carom_set_free(made);
    else
        *set = made;
    return status;
}

void carom_set_free(carom_set *set) {
    if (!set) return;
    free(set->starts);
    free(set->coordinates);
    free(set->order);
    free(set->nodes);
    free(set->boxes);
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

// ------------------------------------------------------------------------------------------------------------- the tree

static void widen_box(const carom_set *set, int64_t piece, double *box) {
    const int d = set->dimension;
    for (int64_t i = set->starts[piece]; i < set->starts[piece + 1]; i++)
        for (int k = 0; k < d; k++) {
            const double value = set->coordinates[(size_t)i * (size_t)d + (size_t)k];
            box[k] = fmin(box[k], value);
            box[d + k] = fmax(box[d + k], value);
        }
}

static void fit_box(const carom_set *set, const carom_set_node *node, double *box) {
    for (int k = 0; k < set->dimension; k++) {
        box[k] = INFINITY;
        box[set->dimension + k] = -INFINITY;
    }
    for (int64_t i = node->first; i < node->first + node->count; i++) widen_box(set, set->order[i], box);
}

static int widest_axis(const carom_set *set, const double *box) {
    int widest = 0;
    for (int k = 1; k < set->dimension; k++)
        if (box[set->dimension + k] - box[k] > box[set->dimension + widest] - box[widest]) widest = k;
    return widest;
}

// Pieces are sorted into the tree by their first points.
static double key_of(const carom_set *set, int64_t piece, int axis) {
    return set->coordinates[(size_t)set->starts[piece] * (size_t)set->dimension + (size_t)axis];
}

// Puts the piece that stands at `middle` in the sorted order there, smaller ones before it (Hoare's selection).
static void select_middle(const carom_set *set, int64_t *order, int64_t first, int64_t last, int64_t middle, int axis) {
    while (first < last) {
        const double pivot = key_of(set, order[first + (last - first) / 2], axis);
        int64_t i = first, j = last;
        while (i <= j) {
            while (key_of(set, order[i], axis) < pivot) i++;
            while (key_of(set, order[j], axis) > pivot) j--;
            if (i > j) break;
            const int64_t held = order[i];
            order[i++] = order[j];
            order[j--] = held;
        }
        if (middle <= j)
            last = j;
        else if (middle >= i)
            first = i;
        else
            return;
    }
}

// Gives a node two children of half its pieces each.
static void split_node(carom_set *set, int64_t index) {
    carom_set_node *node = &set->nodes[index];
    double *box = set->boxes + (size_t)index * 2 * (size_t)set->dimension;
    fit_box(set, node, box);
    if (node->count <= leaf_size(set)) return;
    const int64_t half = node->count / 2;
    select_middle(set, set->order, node->first, node->first + node->count - 1, node->first + half, widest_axis(set, box));
    node->child = set->node_count;
    set->nodes[set->node_count++] = (carom_set_node){node->first, half, 0};
    set->nodes[set->node_count++] = (carom_set_node){node->first + half, node->count - half, 0};
}

carom_status carom_set_build_tree(carom_set *set, carom_error *error) {
    // A leaf that is not the root holds more than half of what a leaf may.
    const size_t most_nodes = 2 * (2 * (size_t)set->pieces / ((size_t)leaf_size(set) + 1) + 1);
    set->order = malloc((size_t)set->pieces * sizeof *set->order);
    set->nodes = malloc(most_nodes * sizeof *set->nodes);
    set->boxes = malloc(most_nodes * 2 * (size_t)set->dimension * sizeof *set->boxes);
    if (!set->order || !set->nodes || !set->boxes) return carom_fail_memory(error, "set");
    for (int64_t i = 0; i < set->pieces; i++) set->order[i] = i;
    set->nodes[0] = (carom_set_node){0, set->pieces, 0};
    set->node_count = 1;
    for (int64_t i = 0; i < set->node_count; i++) split_node(set, i);
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------ distances

static double point_distance(int dimension, const double *point, const double *x) {
    double square = 0;
    for (int k = 0; k < dimension; k++) square += (point[k] - x[k]) * (point[k] - x[k]);
    return sqrt(square);
}

double carom_set_piece_distance(const carom_set *set, int64_t piece, const double *x, double *nearest) {
    const int64_t first = set->starts[piece], count = set->starts[piece + 1] - first;
    const double *points = set->coordinates + (size_t)first * (size_t)set->dimension;
    if (count == 1) {
        if (nearest) memcpy(nearest, points, (size_t)set->dimension * sizeof *nearest);
        return point_distance(set->dimension, points, x);
    }
    return carom_convex_distance(set->dimension, count, points, x, nearest);
}

static double box_distance(const carom_set *set, int64_t node, const double *x) {
    const int d = set->dimension;
    const double *box = set->boxes + (size_t)node * 2 * (size_t)d;
    double square = 0;
    for (int k = 0; k < d; k++) {
        const double outside = fmax(fmax(box[k] - x[k], x[k] - box[d + k]), 0);
        square += outside * outside;
    }
    return sqrt(square);
}

// The best piece so far of a search.
typedef struct search {
    const carom_set *set;
    const double *x;
    double least;
    int64_t piece;
} search;

static void search_leaf(search *s, const carom_set_node *node) {
    for (int64_t i = node->first; i < node->first + node->count; i++) {
        const int64_t piece = s->set->order[i];
        const double distance = carom_set_piece_distance(s->set, piece, s->x, NULL);
        // Ties go to the first piece, whatever the tree's order.
        if (distance > s->least || (distance == s->least && piece > s->piece)) continue;
        s->least = distance;
        s->piece = piece;
    }
}

// Nearer boxes first; boxes farther than the best piece are left out. As deep as the tree, that is logarithmic.
static void search_node(search *s, int64_t index) {
    const carom_set_node *node = &s->set->nodes[index];
    if (!node->child) {
        search_leaf(s, node);
        return;
    }
    const double distances[2] = {box_distance(s->set, node->child, s->x), box_distance(s->set, node->child + 1, s->x)};
    const int nearer = distances[1] < distances[0];
    if (distances[nearer] <= s->least) search_node(s, node->child + nearer);
    if (distances[!nearer] <= s->least) search_node(s, node->child + !nearer);
}

double carom_set_nearest_piece(const carom_set *set, const double *x, int64_t *piece, double *nearest) {
    search s = {set, x, INFINITY, INT64_MAX};
    search_node(&s, 0);
    *piece = s.piece;
    return nearest ? carom_set_piece_distance(set, s.piece, x, nearest) : s.least;
}

double carom_set_distance(const carom_set *set, const double *x, double *nearest) {
    int64_t piece;
    return carom_set_nearest_piece(set, x, &piece, nearest);
}
