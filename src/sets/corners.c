// SPDX-License-Identifier: Apache-2.0
// The corners of a stream of outcomes: of each plane of two contact velocities the convex hull of what came so far, by Qhull. An outcome
// that lies in the hulls is forgotten at once; others are gathered and become part of the hulls a few at a time.
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
    LEAST_LIMIT = 1024,  // rows, below which no forgotten ones are looked for
};

typedef struct point {
    double x, y;
    int64_t row;  // of the outcomes kept
} point;

// Inside is where a (x - x0) + b (y - y0) + c >= 0 for all sides, (x0, y0) being the lower left corner of the box; a^2 + b^2 = 1.
typedef struct sides {
    double *a, *b, *c;
} sides;

typedef struct plane {
    int axes[2];
    point *points;  // corners of the hull, counter-clockwise, then those gathered since
    int corners, count, capacity;
    double low[2], high[2], tolerance;  // of the hull's box
    sides sides;                        // [corners], when there are at least two
} plane;

struct carom_hull_filter {
    const carom_impact *impact;
    const carom_column *own;
    int own_count, axes, plane_count;
    plane *planes;
    carom_table *kept;
    int64_t limit;   // rows kept, at which those that no plane needs are dropped
    double *values;  // [axes], of the outcome at hand
};

// ---------------------------------------------------------------------------------------------------------- one plane

static bool is_outside(const plane *p, double x, double y) {
    if (!p->corners) return true;
    const double dx = x - p->low[0], dy = y - p->low[1], out = -p->tolerance;
    if (dx < out || dy < out || p->high[0] - x < out || p->high[1] - y < out) return true;
    if (p->corners < 2) return false;
    int beyond = 0;  // counted, not searched for: the loop becomes vector instructions
    for (int i = 0; i < p->corners; i++) beyond += p->sides.a[i] * dx + p->sides.b[i] * dy + p->sides.c[i] < out;
    return beyond > 0;
}

static void measure_box(plane *p, double scale) {
    p->low[0] = p->high[0] = p->points[0].x;
    p->low[1] = p->high[1] = p->points[0].y;
    for (int i = 1; i < p->corners; i++) {
        p->low[0] = fmin(p->low[0], p->points[i].x);
        p->high[0] = fmax(p->high[0], p->points[i].x);
        p->low[1] = fmin(p->low[1], p->points[i].y);
        p->high[1] = fmax(p->high[1], p->points[i].y);
    }
    p->tolerance = fmax(NEAR * fmax(p->high[0] - p->low[0], p->high[1] - p->low[1]), ROUNDING * scale);
}

// Their arrays move when there is room for more corners, and are then filled again.
static void make_sides(plane *p) {
    for (int i = 0; i < p->corners && p->corners > 1; i++) {
        const point *from = &p->points[i], *to = &p->points[(i + 1) % p->corners];
        const double length = hypot(to->x - from->x, to->y - from->y);
        p->sides.a[i] = (from->y - to->y) / length;
        p->sides.b[i] = (to->x - from->x) / length;
        p->sides.c[i] = -(p->sides.a[i] * (from->x - p->low[0]) + p->sides.b[i] * (from->y - p->low[1]));
    }
}

static carom_status reserve(plane *p, int count, carom_error *error) {
    if (count <= p->capacity) return CAROM_OK;
    int capacity = p->capacity ? p->capacity : 2 * GATHERED;
    while (capacity < count) capacity *= 2;
    point *points = realloc(p->points, (size_t)capacity * sizeof *points);
    double *a = realloc(p->sides.a, 3 * (size_t)capacity * sizeof *a);
    if (points) p->points = points;
    if (a) p->sides = (sides){a, a + capacity, a + 2 * capacity};
    if (!points || !a) return carom_fail_memory(error, "convex hull");
    p->capacity = capacity;
    make_sides(p);
    return CAROM_OK;
}

// Makes the hull of its corners and of what was gathered.
static carom_status make_hull(plane *p, double scale, carom_error *error) {
    const size_t count = (size_t)p->count;
    double *coordinates = malloc(2 * count * sizeof *coordinates);
    int64_t *hull = malloc(count * sizeof *hull), corners = 0;
    point *ordered = malloc(count * sizeof *ordered);
    carom_status status = coordinates && hull && ordered ? CAROM_OK : carom_fail_memory(error, "convex hull");
    for (size_t i = 0; i < count && !status; i++) {
        coordinates[i] = p->points[i].x;
        coordinates[count + i] = p->points[i].y;
    }
    if (!status) status = carom_plot_hull(coordinates, coordinates + count, p->count, hull, &corners, error);
    if (!status) {
        for (int64_t i = 0; i < corners; i++) ordered[i] = p->points[hull[i]];
        memcpy(p->points, ordered, (size_t)corners * sizeof *ordered);
        p->corners = p->count = (int)corners;
        measure_box(p, scale);
        make_sides(p);
    }
    free(coordinates);
    free(hull);
    free(ordered);
    return status;
}

static carom_status gather(plane *p, point one, double scale, carom_error *error) {
    carom_status status = reserve(p, p->count + 1, error);
    if (status) return status;
    p->points[p->count++] = one;
    return p->count - p->corners < GATHERED ? CAROM_OK : make_hull(p, scale, error);
}

// --------------------------------------------------------------------------------------------------------- all planes

// Numbers the rows that some plane needs, in their order; the others get -1.
static int64_t number_needed(const carom_hull_filter *f, int64_t *numbers, int64_t rows) {
    for (int64_t row = 0; row < rows; row++) numbers[row] = -1;
    for (int k = 0; k < f->plane_count; k++)
        for (int i = 0; i < f->planes[k].count; i++) numbers[f->planes[k].points[i].row] = 0;
    int64_t needed = 0;
    for (int64_t row = 0; row < rows; row++)
        if (numbers[row] == 0) numbers[row] = needed++;
    return needed;
}

// Drops the rows that no plane needs any more.
static carom_status forget(carom_hull_filter *f, carom_error *error) {
    const int64_t rows = carom_table_rows(f->kept);
    int64_t *numbers = malloc((size_t)(rows + 1) * sizeof *numbers);
    if (!numbers) return carom_fail_memory(error, "convex hull");
    const int64_t needed = number_needed(f, numbers, rows);
    carom_table *kept = NULL;
    carom_status status = carom_outcomes_create(f->impact, f->own, f->own_count, &kept, error);
    for (int64_t row = 0; row < rows && !status; row++)
        if (numbers[row] >= 0) status = carom_table_append_row(kept, f->kept, row, error);
    if (!status) {
        for (int k = 0; k < f->plane_count; k++)
            for (int i = 0; i < f->planes[k].count; i++) f->planes[k].points[i].row = numbers[f->planes[k].points[i].row];
        carom_table *old = f->kept;
        f->kept = kept;
        kept = old;
        f->limit = 2 * needed + LEAST_LIMIT;
    }
    carom_table_free(kept);
    free(numbers);
    return status;
}

static carom_status take_row(carom_hull_filter *f, const carom_table *rows, int64_t row, carom_error *error) {
    const double scale = carom_impact_velocity_scale(f->impact);
    const int contacts = carom_table_sizes(rows)->contacts, tangents = carom_table_sizes(rows)->tangents;
    memcpy(f->values, carom_table_real_column(rows, CAROM_OUTCOME_NORMAL_VELOCITY) + row * contacts, (size_t)contacts * sizeof(double));
    memcpy(f->values + contacts, carom_table_real_column(rows, CAROM_OUTCOME_TANGENT_VELOCITY) + row * tangents,
           (size_t)tangents * sizeof(double));
    const int64_t place = carom_table_rows(f->kept);
    carom_status status = CAROM_OK;
    for (int k = 0; k < f->plane_count && !status; k++) {
        plane *p = &f->planes[k];
        const double x = f->values[p->axes[0]], y = f->values[p->axes[1]];
        if (!is_outside(p, x, y)) continue;
        if (carom_table_rows(f->kept) == place) status = carom_table_append_row(f->kept, rows, row, error);
        if (!status) status = gather(p, (point){x, y, place}, scale, error);
    }
    if (!status && carom_table_rows(f->kept) >= f->limit) status = forget(f, error);
    return status;
}

static carom_status receive_rows(void *user, const carom_table *rows, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int64_t row = 0; row < carom_table_rows(rows) && !status; row++) status = take_row(user, rows, row, error);
    return status;
}

// ---------------------------------------------------------------------------------------------------------- interface

static void name_planes(carom_hull_filter *f) {
    plane *next = f->planes;
    for (int first = 0; first < f->axes; first++)
        for (int second = first + 1; second < f->axes; second++, next++) {
            next->axes[0] = first;
            next->axes[1] = second;
        }
}

carom_status carom_hull_filter_create(const carom_impact *impact, const carom_column *own, int own_count, carom_hull_filter **filter,
                                      carom_error *error) {
    *filter = NULL;
    const int axes = carom_impact_contact_size(impact);
    if (axes > CAROM_MOST_HULL_AXES)
        return carom_fail(error, CAROM_UNSUPPORTED, "hulls are kept for at most %d contact velocities, this impact has %d",
                          CAROM_MOST_HULL_AXES, axes);
    carom_hull_filter *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "convex hull");
    // A single contact velocity, of one contact without tangents, does not exist: there is always a plane.
    *made = (carom_hull_filter){
        .impact = impact, .own = own, .own_count = own_count, .axes = axes, .plane_count = axes * (axes - 1) / 2, .limit = LEAST_LIMIT};
    made->planes = calloc((size_t)made->plane_count, sizeof *made->planes);
    made->values = malloc((size_t)axes * sizeof *made->values);
    carom_status status = made->planes && made->values ? CAROM_OK : carom_fail_memory(error, "convex hull");
    if (!status) status = carom_outcomes_create(impact, own, own_count, &made->kept, error);
    if (status) {
        carom_hull_filter_free(made);
        return status;
    }
    name_planes(made);
    *filter = made;
    return CAROM_OK;
}

void carom_hull_filter_free(carom_hull_filter *filter) {
    if (!filter) return;
    for (int k = 0; filter->planes && k < filter->plane_count; k++) {
        free(filter->planes[k].points);
        free(filter->planes[k].sides.a);
    }
    free(filter->planes);
    free(filter->values);
    carom_table_free(filter->kept);
    free(filter);
}

carom_sink carom_hull_filter_sink(carom_hull_filter *filter) { return (carom_sink){filter, receive_rows}; }

carom_status carom_hull_filter_outcomes(carom_hull_filter *filter, const carom_table **outcomes, carom_error *error) {
    const double scale = carom_impact_velocity_scale(filter->impact);
    carom_status status = CAROM_OK;
    for (int k = 0; k < filter->plane_count && !status; k++)
        if (filter->planes[k].count > filter->planes[k].corners) status = make_hull(&filter->planes[k], scale, error);
    if (!status) status = forget(filter, error);
    *outcomes = status ? NULL : filter->kept;
    return status;
}
