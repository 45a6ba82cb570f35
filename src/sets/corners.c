// SPDX-License-Identifier: Apache-2.0
// The corners of a stream of outcomes: for each plane of two contact velocities, the convex hull of the outcomes so far. An outcome inside
// all hulls is forgotten at once; the others are gathered and join the hulls a few at a time.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/sets.h"

// Outcomes that are less than this outside of a hull, relative to its extent, lie in it. It bounds the number of corners: even a circle
// has no more than 1e5 that are so far apart.
#define NEAR 1e-9
// The same, relative to the velocity scale of the impact, for hulls whose extent is rounding.
#define ROUNDING 1e-12

enum {
    GATHERED = 64,       // outcomes outside of a hull before it is made anew
    LEAST_LIMIT = 1024,  // rows that are kept without looking for forgotten ones
};

typedef struct point {
    double x, y;
    int64_t row;  // of the outcomes kept
} point;

// One plane of contact velocities, and the corners of the hull in it.
typedef struct plane {
    int axes[2];
    point *points;  // corners of the hull, counter-clockwise, then those gathered since
    int corners, count, capacity;
    double low[2], high[2], tolerance;  // of the hull's box
    double *a, *b, *c;  // [corners] sides, when there are at least two: inside is a (x - low_x) + b (y - low_y) + c >= 0, a^2 + b^2 = 1
} plane;

struct carom_corners {
    const carom_impact *impact;
    const carom_column *own;
    int own_count, axes, plane_count;
    plane *planes;
    carom_table *kept;
    int64_t limit;   // rows kept, at which those that no plane needs are dropped
    double *values;  // [axes], of the outcome at hand
};

// ---------------------------------------------------------------------------------------------------------- one plane

// The box first: it is cheap, and decides for most outcomes that lie outside.
static bool is_outside(const plane *p, double x, double y) {
    if (!p->corners) return true;
    const double dx = x - p->low[0], dy = y - p->low[1], out = -p->tolerance;
    if (dx < out || dy < out || p->high[0] - x < out || p->high[1] - y < out) return true;
    if (p->corners < 2) return false;
    int beyond = 0;  // counted, not searched for: the loop becomes vector instructions
    for (int i = 0; i < p->corners; i++) beyond += p->a[i] * dx + p->b[i] * dy + p->c[i] < out;
    return beyond > 0;
}

// Unit normals of the edges, which point inwards, as the corners go around counter-clockwise.
static void make_sides(plane *p) {
    for (int i = 0; i < p->corners && p->corners > 1; i++) {
        const point *from = &p->points[i], *to = &p->points[(i + 1) % p->corners];
        const double length = hypot(to->x - from->x, to->y - from->y);
        p->a[i] = (from->y - to->y) / length;
        p->b[i] = (to->x - from->x) / length;
        p->c[i] = -(p->a[i] * (from->x - p->low[0]) + p->b[i] * (from->y - p->low[1]));
    }
}

// Makes the hull of its corners and of the outcomes gathered since.
static carom_status make_hull(plane *p, double scale, carom_error *error) {
    const size_t count = (size_t)p->count;
    carom_arena arena = {0};
    double *x = carom_arena_take(&arena, count, sizeof *x), *y = carom_arena_take(&arena, count, sizeof *y);
    int64_t *hull = carom_arena_take(&arena, count, sizeof *hull), corners = 0;
    point *ordered = carom_arena_take(&arena, count, sizeof *ordered);
    carom_status status = arena.failed ? carom_fail_memory(error, "convex hull") : CAROM_OK;
    for (size_t i = 0; i < count && !status; i++) {
        x[i] = p->points[i].x;
        y[i] = p->points[i].y;
    }
    if (!status) status = carom_hull_plane(x, y, p->count, hull, &corners, error);
    if (!status) {
        for (int64_t i = 0; i < corners; i++) ordered[i] = p->points[hull[i]];
        memcpy(p->points, ordered, (size_t)corners * sizeof *ordered);
        p->corners = p->count = (int)corners;
        // Its box, and the distance that counts as inside.
        p->low[0] = p->high[0] = p->points[0].x;
        p->low[1] = p->high[1] = p->points[0].y;
        for (int i = 1; i < p->corners; i++) {
            p->low[0] = fmin(p->low[0], p->points[i].x);
            p->high[0] = fmax(p->high[0], p->points[i].x);
            p->low[1] = fmin(p->low[1], p->points[i].y);
            p->high[1] = fmax(p->high[1], p->points[i].y);
        }
        p->tolerance = fmax(NEAR * fmax(p->high[0] - p->low[0], p->high[1] - p->low[1]), ROUNDING * scale);
        make_sides(p);
    }
    carom_arena_free(&arena);
    return status;
}

// Adds an outcome that lies outside; makes the hull anew when enough have gathered.
static carom_status gather(plane *p, point outcome, double scale, carom_error *error) {
    if (p->count == p->capacity) {
        const int capacity = p->capacity ? 2 * p->capacity : 2 * GATHERED;
        point *points = realloc(p->points, (size_t)capacity * sizeof *points);
        if (points) p->points = points;
        double *sides = realloc(p->a, 3 * (size_t)capacity * sizeof *sides);
        if (sides) {
            // The three arrays have moved apart: fill them again.
            p->a = sides;
            p->b = sides + capacity;
            p->c = sides + 2 * capacity;
        }
        if (!points || !sides) return carom_fail_memory(error, "convex hull");
        p->capacity = capacity;
        make_sides(p);
    }
    p->points[p->count++] = outcome;
    return p->count - p->corners < GATHERED ? CAROM_OK : make_hull(p, scale, error);
}

// --------------------------------------------------------------------------------------------------------- all planes

// Drops the rows that no plane needs any more.
static carom_status forget(carom_corners *corners, carom_error *error) {
    const int64_t rows = carom_table_rows(corners->kept);
    int64_t *numbers = malloc((size_t)(rows + 1) * sizeof *numbers), needed = 0;
    if (!numbers) return carom_fail_memory(error, "convex hull");
    // Number the rows that some plane needs, in their order; the others get -1.
    for (int64_t row = 0; row < rows; row++) numbers[row] = -1;
    for (int k = 0; k < corners->plane_count; k++)
        for (int i = 0; i < corners->planes[k].count; i++) numbers[corners->planes[k].points[i].row] = 0;
    for (int64_t row = 0; row < rows; row++)
        if (numbers[row] == 0) numbers[row] = needed++;
    // Copy them into a new table, and tell the planes their numbers there.
    carom_table *kept = NULL;
    carom_status status = carom_outcomes_create(corners->impact, corners->own, corners->own_count, &kept, error);
    for (int64_t row = 0; row < rows && !status; row++)
        if (numbers[row] >= 0) status = carom_table_append_rows(kept, corners->kept, row, 1, error);
    if (!status) {
        for (int k = 0; k < corners->plane_count; k++)
            for (int i = 0; i < corners->planes[k].count; i++) corners->planes[k].points[i].row = numbers[corners->planes[k].points[i].row];
        carom_table *old = corners->kept;
        corners->kept = kept;
        kept = old;
        corners->limit = 2 * needed + LEAST_LIMIT;
    }
    carom_table_free(kept);
    free(numbers);
    return status;
}

// Offers each row to all planes, and keeps it where one of them has it outside.
static carom_status receive_rows(void *user, const carom_table *rows, carom_error *error) {
    carom_corners *corners = user;
    const double scale = carom_impact_velocity_scale(corners->impact);
    const int contacts = carom_table_sizes(rows)->contacts, tangents = carom_table_sizes(rows)->tangents;
    const double *normal = carom_table_real_column(rows, CAROM_OUTCOME_NORMAL_VELOCITY);
    const double *tangent = carom_table_real_column(rows, CAROM_OUTCOME_TANGENT_VELOCITY);
    const int64_t count = carom_table_rows(rows);
    carom_status status = CAROM_OK;
    for (int64_t row = 0; row < count && !status; row++) {
        memcpy(corners->values, normal + row * contacts, (size_t)contacts * sizeof(double));
        if (tangents) memcpy(corners->values + contacts, tangent + row * tangents, (size_t)tangents * sizeof(double));
        const int64_t place = carom_table_rows(corners->kept);
        for (int k = 0; k < corners->plane_count && !status; k++) {
            plane *p = &corners->planes[k];
            const double x = corners->values[p->axes[0]], y = corners->values[p->axes[1]];
            if (!is_outside(p, x, y)) continue;
            if (carom_table_rows(corners->kept) == place) status = carom_table_append_rows(corners->kept, rows, row, 1, error);
            if (!status) status = gather(p, (point){x, y, place}, scale, error);
        }
        if (!status && carom_table_rows(corners->kept) >= corners->limit) status = forget(corners, error);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------------------- interface

carom_status carom_corners_create(const carom_impact *impact, const carom_column *own, int own_count, carom_corners **corners,
                                  carom_error *error) {
    *corners = NULL;
    const int axes = carom_impact_contact_size(impact);
    if (axes > CAROM_CORNERS_MOST_AXES)
        return carom_fail(error, CAROM_UNSUPPORTED, "hulls are kept for at most %d contact velocities, this impact has %d",
                          CAROM_CORNERS_MOST_AXES, axes);
    carom_corners *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "convex hull");
    // A single contact velocity, of one contact without tangents, does not exist: there is always a plane.
    *made = (carom_corners){
        .impact = impact, .own = own, .own_count = own_count, .axes = axes, .plane_count = axes * (axes - 1) / 2, .limit = LEAST_LIMIT};
    made->planes = calloc((size_t)made->plane_count, sizeof *made->planes);
    made->values = malloc((size_t)axes * sizeof *made->values);
    carom_status status = made->planes && made->values ? CAROM_OK : carom_fail_memory(error, "convex hull");
    if (!status) status = carom_outcomes_create(impact, own, own_count, &made->kept, error);
    if (status) {
        carom_corners_free(made);
        return status;
    }
    plane *next = made->planes;
    for (int first = 0; first < axes; first++)
        for (int second = first + 1; second < axes; second++, next++) {
            next->axes[0] = first;
            next->axes[1] = second;
        }
    *corners = made;
    return CAROM_OK;
}

void carom_corners_free(carom_corners *corners) {
    if (!corners) return;
    for (int k = 0; corners->planes && k < corners->plane_count; k++) {
        free(corners->planes[k].points);
        free(corners->planes[k].a);
    }
    free(corners->planes);
    free(corners->values);
    carom_table_free(corners->kept);
    free(corners);
}

carom_sink carom_corners_sink(carom_corners *corners) { return (carom_sink){corners, receive_rows}; }

carom_status carom_corners_outcomes(carom_corners *corners, const carom_table **outcomes, carom_error *error) {
    const double scale = carom_impact_velocity_scale(corners->impact);
    carom_status status = CAROM_OK;
    // What was gathered since the last hulls may lie inside by now.
    for (int k = 0; k < corners->plane_count && !status; k++)
        if (corners->planes[k].count > corners->planes[k].corners) status = make_hull(&corners->planes[k], scale, error);
    if (!status) status = forget(corners, error);
    *outcomes = status ? NULL : corners->kept;
    return status;
}
