// SPDX-License-Identifier: Apache-2.0
// Set queries against closed forms and brute force, metrics, bad input, and `carom query` end to end.
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "sets/set.h"
#include "support.h"

static carom_set *make_set(int dimension, int64_t pieces, const int64_t *starts, const double *points) {
    carom_set *set;
    carom_error error;
    assert_ok(carom_set_create(dimension, pieces, starts, points, &set, &error), error);
    return set;
}

static double *random_points(carom_stream *stream, int64_t count, int dimension) {
    double *points = malloc((size_t)count * (size_t)dimension * sizeof *points);
    assert_non_null(points);
    for (int64_t i = 0; i < count * dimension; i++) points[i] = carom_stream_normal(stream);
    return points;
}

// ------------------------------------------------------------------------------------------------------------ distances

static void distances_from_a_triangle(void **state) {
    (void)state;
    static const double triangle[] = {0, 0, 0, 2, 0, 0, 0, 1, 0};
    static const struct {
        double x[3], nearest[3];
    } rows[] = {
        {{0.5, 0.25, 0}, {0.5, 0.25, 0}}, {{0.5, 0.25, 3}, {0.5, 0.25, 0}}, {{-1, -2, 0}, {0, 0, 0}},   {{1, -1, 0}, {1, 0, 0}},
        {{3, 0, 4}, {2, 0, 0}},           {{0, 1, 0}, {0, 1, 0}},           {{2, 2, 0}, {1.2, 0.4, 0}}, {{-1, 0.5, 0}, {0, 0.5, 0}},
    };
    carom_set *set = make_set(3, 1, (const int64_t[]){0, 3}, triangle);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double nearest[3], square = 0;
        const double distance = carom_set_distance(set, rows[i].x, nearest);
        for (int k = 0; k < 3; k++) square += pow(rows[i].x[k] - rows[i].nearest[k], 2);
        assert_close(distance, sqrt(square), 1e-14);
        assert_all_close(nearest, rows[i].nearest, 3, 1e-14);
    }
    carom_set_free(set);
}

// The nearest point p of a hull is certified by a.(q - p) <= 0 for a = x - p and every vertex q, and by being a point of the hull, whose
// distance from the hull is 0.
static void assert_nearest(const carom_set *set, const double *points, int64_t count, int d, const double *x) {
    double p[8], a[8], largest = 0;
    const double distance = carom_set_distance(set, x, p);
    for (int k = 0; k < d; k++) a[k] = x[k] - p[k];
    for (int64_t i = 0; i < count; i++) {
        double lead = 0, square = 0;
        for (int k = 0; k < d; k++) {
            lead += a[k] * (points[i * d + k] - p[k]);
            square += pow(points[i * d + k] - x[k], 2);
        }
        largest = fmax(largest, sqrt(square));
        assert_true(lead <= 1e-12 * largest * largest);
    }
    assert_close(distance, sqrt(carom_dot(d, a, a)), 1e-13 * largest);
    assert_true(carom_set_distance(set, p, NULL) <= 1e-13 * largest);
}

static void nearest_points_of_hulls_are_certified(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    for (int trial = 0; trial < support_count(100, 2000, 50000); trial++) {
        const int d = support_random_integer(&stream, 1, 8), count = support_random_integer(&stream, 1, 20);
        double *points = random_points(&stream, count, d), x[8];
        // Flat hulls, too: the last coordinate repeats the first.
        for (int i = 0; i < count && trial % 3 == 0 && d > 1; i++) points[i * d + d - 1] = points[i * d];
        for (int k = 0; k < d; k++) x[k] = 2 * carom_stream_normal(&stream);
        carom_set *set = make_set(d, 1, (const int64_t[]){0, count}, points);
        assert_nearest(set, points, count, d, x);
        // A random point of the hull.
        double sum = 0, weights[20];
        for (int i = 0; i < count; i++) sum += weights[i] = carom_stream_uniform(&stream);
        for (int k = 0; k < d; k++) {
            x[k] = 0;
            for (int i = 0; i < count; i++) x[k] += weights[i] / sum * points[i * d + k];
        }
        assert_true(carom_set_distance(set, x, NULL) <= 1e-13);
        carom_set_free(set);
        free(points);
    }
}

static void neighbours_are_those_of_brute_force(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 4, 0);
    for (int d = 1; d <= 6; d++) {
        const int64_t count = 3000;
        double *points = random_points(&stream, count, d), *queries = random_points(&stream, 300, d);
        // Repeated coordinates and points.
        for (int64_t i = 0; i < count / 2; i++) points[i * d] = floor(points[i * d]);
        carom_set *set = make_set(d, count, NULL, points);
        for (int q = 0; q < 300; q++) {
            double least = INFINITY;
            int64_t first = -1, piece;
            for (int64_t i = 0; i < count; i++) {
                const double distance = carom_set_piece_distance(set, i, queries + q * d, NULL);
                if (distance < least) least = distance, first = i;
            }
            assert_true(carom_set_nearest_piece(set, queries + q * d, &piece, NULL) == least);
            assert_int_equal(piece, first);
        }
        carom_set_free(set);
        free(points);
        free(queries);
    }
}

static void support_functions(void **state) {
    (void)state;
    static const double points[] = {0, 0, 3, 1, -1, 5, 3, 0};
    carom_set *set = make_set(2, 4, NULL, points);
    int64_t point;
    assert_true(carom_set_support(set, (const double[]){1, 0}, &point) == 3);
    assert_int_equal(point, 1);
    assert_true(carom_set_support(set, (const double[]){-1, 1}, &point) == 6);
    assert_int_equal(point, 2);
    assert_true(carom_set_extent(set) == 2.5);
    carom_set_free(set);
}

// --------------------------------------------------------------------------------------------------------------- hulls

static void volumes_of_hulls(void **state) {
    (void)state;
    static const struct {
        int dimension, count;
        double points[32], volume;
    } rows[] = {
        {2, 4, {0, 0, 1, 0, 0, 1, 1, 1}, 1},
        {2, 3, {0, 0, 1, 1, 2, 2}, 0},
        {2, 1, {3, 4}, 0},
        {1, 3, {5, -1, 2}, 6},
        {3, 4, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, 1.0 / 6},
        {3, 9, {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0.5, 0.5, 0.5}, 1},
        {3, 4, {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}, 0},
        // Far away and tiny.
        {2, 4, {1000, 1000, 1000.0009765625, 1000, 1000, 1000.0009765625, 1000.0009765625, 1000.0009765625}, 9.5367431640625e-07},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double volume;
        carom_error error;
        assert_ok(carom_hull_volume(rows[i].dimension, rows[i].count, rows[i].points, NULL, &volume, &error), error);
        assert_true(fabs(volume - rows[i].volume) <= 1e-12 * rows[i].volume);
    }
}

// In the plane, against the vertices of the pictures' hulls.
// Stops the second time that it is asked.
static bool stop_second(void *user) {
    int *asked = user;
    return ++*asked > 1;
}

static void hulls_can_be_stopped(void **state) {
    (void)state;
    // On a sphere every point is a corner: Qhull makes tens of thousands of facets.
    enum { POINTS = 4000, DIMENSION = 4 };
    static double points[POINTS * DIMENSION];
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    for (int i = 0; i < POINTS; i++) {
        double square = 0, *x = points + i * DIMENSION;
        for (int k = 0; k < DIMENSION; k++) {
            x[k] = 2 * carom_stream_uniform(&stream) - 1;
            square += x[k] * x[k];
        }
        for (int k = 0; k < DIMENSION; k++) x[k] /= sqrt(square);
    }
    int asked = 0;
    const carom_control control = {.cancelled = stop_second, .user = &asked};
    double volume;
    carom_error error;
    assert_ok(carom_hull_volume(DIMENSION, POINTS, points, &control, &volume, &error), error);
    assert_true(isnan(volume) && asked == 2);
    // The unit ball has the volume pi^2/2.
    assert_ok(carom_hull_volume(DIMENSION, POINTS, points, NULL, &volume, &error), error);
    assert_true(volume > 4.7 && volume < 4.9348);
}

static void areas_agree_with_the_shoelace_formula(void **state) {
    (void)state;
    enum { COUNT = 500 };
    carom_stream stream;
    carom_stream_start(&stream, 6, 0);
    double *points = random_points(&stream, COUNT, 2), x[COUNT], y[COUNT], area = 0, volume;
    for (int i = 0; i < COUNT; i++) x[i] = points[2 * i], y[i] = points[2 * i + 1];
    int64_t hull[COUNT], vertices;
    carom_error error;
    assert_ok(carom_hull_plane(x, y, COUNT, hull, &vertices, &error), error);
    for (int64_t i = 0; i < vertices; i++) {
        const int64_t a = hull[i], b = hull[(i + 1) % vertices];
        area += (x[a] * y[b] - x[b] * y[a]) / 2;
    }
    assert_ok(carom_hull_volume(2, COUNT, points, NULL, &volume, &error), error);
    assert_close(volume, area, 1e-12);
    free(points);
}

// ------------------------------------------------------------------------------------------------------------ coverage

static carom_cover cover(const carom_set *set, const carom_set *net, double gap, double *point) {
    carom_cover result = {.point = point};
    carom_cover_options options = carom_cover_defaults();
    options.relative_gap = gap;
    carom_error error;
    assert_ok(carom_set_cover(set, net, &options, NULL, &result, &error), error);
    assert_true(result.radius <= result.bound && !result.interrupted);
    assert_close(carom_set_distance(net, point, NULL), result.radius, 1e-12);
    assert_true(carom_set_distance(set, point, NULL) <= 1e-12);
    return result;
}

// Worst covered points that geometry knows.
static void covers_of_known_radius(void **state) {
    (void)state;
    static const double unit_square[] = {0, 0, 1, 0, 1, 1, 0, 1}, corners_and_centre[] = {0, 0, 1, 0, 1, 1, 0, 1, 0.5, 0.5};
    static const double segment[] = {0, 0, 1, 0}, square_far_away[] = {3, 0, 4, 0, 4, 1, 3, 1};
    static const int64_t whole_square[] = {0, 4}, whole_segment[] = {0, 2};
    double worst[3];
    carom_set *line = make_set(2, 1, whole_segment, segment), *ends = make_set(2, 2, NULL, segment);
    carom_set *square = make_set(2, 1, whole_square, unit_square), *corners = make_set(2, 4, NULL, unit_square);
    carom_set *five = make_set(2, 5, NULL, corners_and_centre), *far_away = make_set(2, 1, whole_square, square_far_away);
    const struct {
        const carom_set *set, *net;
        double radius;
    } rows[] = {{line, ends, 0.5},
                {ends, line, 0},
                {square, corners, sqrt(0.5)},
                {square, five, 0.5},
                {corners, square, 0},
                {square, square, 0},
                {square, line, 1},
                {line, square, 0},
                {square, far_away, 3},
                {far_away, square, 3},
                {far_away, corners, sqrt(9.25)},
                {line, five, 0.5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const carom_cover found = cover(rows[i].set, rows[i].net, 0, worst);
        assert_close(found.radius, rows[i].radius, 1e-11);
        assert_true(found.bound == found.radius);
    }
    carom_set *all[] = {line, ends, square, corners, five, far_away};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) carom_set_free(all[i]);
}

// The cube and its corners: sqrt(3)/2 at the centre; a net of parallel squares, between which distances are constant on a plane.
static void covers_in_space_have_a_stated_gap(void **state) {
    (void)state;
    static const double cube[] = {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1};
    double worst[3];
    carom_set *whole = make_set(3, 1, (const int64_t[]){0, 8}, cube), *corners = make_set(3, 8, NULL, cube);
    carom_set *walls = make_set(3, 2, (const int64_t[]){0, 4, 8}, cube);
    const carom_cover net = cover(whole, corners, 0.01, worst), sheets = cover(whole, walls, 0.01, worst);
    assert_true(net.radius <= sqrt(0.75) + 1e-12 && net.bound >= sqrt(0.75) - 1e-12);
    assert_true(net.bound <= 1.01 * net.radius * (1 + 1e-12));
    assert_true(sheets.radius <= 0.5 + 1e-12 && sheets.bound >= 0.5 - 1e-12 && sheets.bound <= 1.01 * sheets.radius * (1 + 1e-12));
    carom_set_free(whole);
    carom_set_free(corners);
    carom_set_free(walls);
}

// A cube in eight dimensions, which Qhull is not asked to cut. Its vertices settle it where the net is convex; otherwise they bound it: the
// worst points of the net of two opposite vertices are the vertices half-way between them, but one of the two alone is sqrt(8) away.
static void covers_in_many_dimensions_are_bounded(void **state) {
    (void)state;
    enum { D = 8, VERTICES = 1 << D };
    double *cube = malloc(VERTICES * D * sizeof *cube), worst[D];
    assert_non_null(cube);
    for (int i = 0; i < VERTICES; i++)
        for (int k = 0; k < D; k++) cube[i * D + k] = i >> k & 1;
    static const double ends[2 * D] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    carom_set *whole = make_set(D, 1, (const int64_t[]){0, VERTICES}, cube), *point = make_set(D, 1, NULL, ends);
    carom_set *diagonal = make_set(D, 1, (const int64_t[]){0, 2}, ends), *both = make_set(D, 2, NULL, ends);
    const carom_cover from_point = cover(whole, point, 0.01, worst), from_diagonal = cover(whole, diagonal, 0.01, worst),
                      from_both = cover(whole, both, 0.01, worst);
    assert_close(from_point.radius, sqrt(8), 1e-14);
    assert_close(from_diagonal.radius, sqrt(2), 1e-14);
    assert_true(from_point.bound == from_point.radius && from_diagonal.bound == from_diagonal.radius);
    assert_close(from_both.radius, 2, 1e-14);
    assert_close(from_both.bound, sqrt(8), 1e-14);
    carom_set *all[] = {whole, point, diagonal, both};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) carom_set_free(all[i]);
    free(cube);
}

// Random nets of a polygon in four dimensions, against a grid on it.
static void covers_agree_with_a_grid(void **state) {
    (void)state;
    enum { NET = 400, GRID = 150 };
    carom_stream stream;
    carom_stream_start(&stream, 9, 0);
    for (int trial = 0; trial < support_count(2, 10, 100); trial++) {
        double *triangle = random_points(&stream, 3, 4), *net_points = malloc(NET * 4 * sizeof *net_points), worst[4], longest = 0;
        for (int i = 0; i < NET; i++) {
            double a = carom_stream_uniform(&stream), b = carom_stream_uniform(&stream);
            if (a + b > 1) a = 1 - a, b = 1 - b;
            for (int k = 0; k < 4; k++)
                net_points[4 * i + k] = triangle[k] + a * (triangle[4 + k] - triangle[k]) + b * (triangle[8 + k] - triangle[k]);
        }
        carom_set *set = make_set(4, 1, (const int64_t[]){0, 3}, triangle), *net = make_set(4, NET, NULL, net_points);
        const carom_cover found = cover(set, net, 0, worst);
        assert_true(found.bound == found.radius);
        double grid = 0;
        for (int i = 0; i <= GRID; i++)
            for (int j = 0; i + j <= GRID; j++) {
                double x[4];
                for (int k = 0; k < 4; k++)
                    x[k] = triangle[k] + (i * (triangle[4 + k] - triangle[k]) + j * (triangle[8 + k] - triangle[k])) / GRID;
                grid = fmax(grid, carom_set_distance(net, x, NULL));
            }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++) {
                double square = 0;
                for (int k = 0; k < 4; k++) square += pow(triangle[4 * i + k] - triangle[4 * j + k], 2);
                longest = fmax(longest, sqrt(square));
            }
        assert_true(grid <= found.radius + 1e-12 && found.radius <= grid + longest / GRID);
        carom_set_free(set);
        carom_set_free(net);
        free(triangle);
        free(net_points);
    }
}

static void bad_sets_are_refused(void **state) {
    (void)state;
    carom_set *set, *line = make_set(1, 2, NULL, (const double[]){0, 1}), *plane = make_set(2, 1, NULL, (const double[]){0, 1});
    carom_error error;
    const double points[] = {0, 1, NAN, 3};
    assert_refused(carom_set_create(0, 1, NULL, points, &set, &error), CAROM_BAD_INPUT, error, "dimension");
    assert_refused(carom_set_create(2, 0, NULL, points, &set, &error), CAROM_BAD_INPUT, error, "empty");
    assert_refused(carom_set_create(2, 2, NULL, points, &set, &error), CAROM_BAD_INPUT, error, "finite");
    assert_refused(carom_set_create(1, 2, (const int64_t[]){0, 0, 2}, points, &set, &error), CAROM_BAD_INPUT, error, "no points");
    assert_null(set);
    double worst[2], volume;
    carom_cover result = {.point = worst};
    carom_cover_options options = carom_cover_defaults();
    assert_refused(carom_set_cover(line, plane, &options, NULL, &result, &error), CAROM_BAD_INPUT, error, "dimensions");
    options.relative_gap = NAN;
    assert_refused(carom_set_cover(line, line, &options, NULL, &result, &error), CAROM_BAD_INPUT, error, "gap");
    assert_refused(carom_hull_volume(2, 2, points, NULL, &volume, &error), CAROM_BAD_INPUT, error, "finite");
    assert_refused(carom_hull_volume(7, 2, points, NULL, &volume, &error), CAROM_BAD_INPUT, error, "dimensions");
    assert_refused(carom_hull_volume(2, 0, points, NULL, &volume, &error), CAROM_BAD_INPUT, error, "points");
    carom_set_free(line);
    carom_set_free(plane);
}

// ------------------------------------------------------------------------------------------------------------- metrics

// Reachable velocities v- + M^-1 J'p: both metrics map them back, the kinetic one measures sqrt(dv'M dv), and nothing of them is
// unreachable.
static void metrics_of_reachable_velocities(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 11, 0);
    for (int trial = 0; trial < support_count(20, 200, 2000); trial++) {
        carom_impact *impact = support_random_impact(&stream, trial % 2 ? FAMILY_PLAIN : FAMILY_DUPLICATED, 3, 1 + trial % 4 / 2, 1);
        const carom_impact_data *data = carom_impact_get_data(impact);
        double impulse[18], v[18], u[18], x[18], back[18], difference[18];
        for (int c = 0; c < carom_impact_contact_size(impact); c++) impulse[c] = carom_stream_normal(&stream);
        carom_impact_apply(impact, data->velocity, impulse, v);
        carom_impact_contact_velocity(impact, v, u);
        for (int k = 0; k < data->nv; k++) difference[k] = v[k] - data->velocity[k];
        for (int kind = 0; carom_metric_names[kind]; kind++) {
            carom_metric *metric;
            carom_error error;
            assert_ok(carom_metric_create(impact, (carom_metric_kind)kind, &metric, &error), error);
            const int n = carom_impact_contact_size(impact);
            carom_metric_map(metric, u, x);
            carom_metric_unmap(metric, x, back);
            assert_all_close(back, u, n, 1e-8);
            carom_metric_velocity(metric, u, back);
            assert_all_close(back, v, data->nv, 1e-8);
            const double length = sqrt(carom_dot(n, x, x)), energy = sqrt(2 * carom_impact_kinetic_energy(impact, difference));
            if (kind == CAROM_METRIC_KINETIC) assert_close(length, energy, 1e-8);
            assert_true(carom_metric_unreachable(metric, v) <= 1e-7 * (1 + energy));
            carom_metric_free(metric);
        }
        carom_impact_free(impact);
    }
}

// The compass has no such direction, one contact of a body in the plane has: a spin about the contact.
static void what_no_impulse_reaches_is_measured(void **state) {
    (void)state;
    const carom_impact_data data = {.nv = 2,
                                    .contacts = 1,
                                    .tangent_dim = 1,
                                    .mass = (const double[]){2, 0, 0, 8},
                                    .normal = (const double[]){1, 0},
                                    .velocity = (const double[]){-1, 0}};
    carom_impact *impact = support_impact(&data);
    carom_metric *metric;
    carom_error error;
    assert_ok(carom_metric_create(impact, CAROM_METRIC_KINETIC, &metric, &error), error);
    assert_close(carom_metric_unreachable(metric, (const double[]){3, 0.5}), sqrt(8) * 0.5, 1e-14);
    assert_close(carom_metric_unreachable(metric, (const double[]){3, 0}), 0, 1e-14);
    carom_metric_free(metric);
    carom_impact_free(impact);
}

// ----------------------------------------------------------------------------------------------------- the command

enum { TEXT_SIZE = 1 << 16 };

static json_t *ask(const char *format, const char *directory, const char *rest) {
    static char text[TEXT_SIZE];
    char arguments[2048];
    snprintf(arguments, sizeof arguments, format, directory, rest);
    assert_int_equal(support_run_command(arguments, false, text, TEXT_SIZE), 0);
    json_t *answer = json_loads(text, 0, NULL);
    assert_non_null(answer);
    return answer;
}

static double number(const json_t *answer, const char *key) { return json_number_value(json_object_get(answer, key)); }

static const char block_scene[] = "name: block\n"
                                  "matrices: {M: [[1,0,0],[0,1,0],[0,0,5/12]], Jn: [[0,1,-0.5],[0,1,0.5]], Jt: [[1,0,1],[1,0,1]],\n"
                                  "           mu: [1,1], v: [0,-0.4429,0]}\n"
                                  "impact: {step: 0.3, max_steps: 10}\n";

static int set_up(void **state) {
    char *directory = support_make_directory(), text[TEXT_SIZE], arguments[2048];
    free(support_write_file(directory, "block.yaml", block_scene));
    snprintf(arguments, sizeof arguments, "sample %s/block.yaml --sampler walk --samples 2000 -o %s/walk.h5", directory, directory);
    assert_int_equal(support_run_command(arguments, false, text, TEXT_SIZE), 0);
    snprintf(arguments, sizeof arguments, "sample %s/block.yaml --samples 500 -o %s/lcp.h5", directory, directory);
    assert_int_equal(support_run_command(arguments, false, text, TEXT_SIZE), 0);
    *state = directory;
    return 0;
}

static int tear_down(void **state) {
    support_remove_directory(*state);
    return 0;
}

static json_t *sample_walks(const char *directory, const char *rest) {
    return ask("sample %s/block.yaml --sampler walk --samples 300 --json %s", directory, rest);
}

// The scene's ten steps are those of time stepping: walks take as many pieces as they need, unless the command line says otherwise.
static void command_samples_walks(void **state) {
    json_t *answer = sample_walks(*state, "");
    assert_true(number(answer, "terminated") == 300 && number(answer, "lcp_solves") == 0 && number(answer, "max_residual") == 0);
    assert_string_equal(json_string_value(json_object_get(answer, "solver")), "walk");
    assert_string_equal(json_string_value(json_object_get(answer, "path")), "walk");
    assert_true(json_is_null(json_object_get(answer, "step")));
    json_t *again = sample_walks(*state, "--threads 2");
    assert_string_equal(json_string_value(json_object_get(again, "digest")), json_string_value(json_object_get(answer, "digest")));
    json_decref(again);
    json_decref(answer);
    answer = sample_walks(*state, "--max-steps 2");
    assert_true(number(answer, "terminated") < 300);
    json_decref(answer);
    char text[TEXT_SIZE];
    assert_int_equal(support_run_command("sample scenes/cube-k4.yaml --sampler walk --samples 16", false, text, TEXT_SIZE), 0);
    assert_non_null(strstr(text, "terminated 16 (100 %)"));
}

static void command_finds_worst_cases(void **state) {
    json_t *answer = ask("query %s/walk.h5 --max '%s' --json", *state, "2*Jn.A - 0.5*Jt.B + v.2");
    assert_string_equal(json_string_value(json_object_get(answer, "schema")), "carom.query/1");
    assert_true(json_is_false(json_object_get(answer, "certified")));
    // The maximum is that of the answer's own velocity, and no more than at the tip of the set, where A lifts at 0.093009.
    const json_t *v = json_object_get(answer, "v_plus");
    double velocity[3];
    for (size_t k = 0; k < 3; k++) velocity[k] = json_number_value(json_array_get(v, k));
    const double normal = velocity[1] - 0.5 * velocity[2], tangent = velocity[0] + velocity[2];
    assert_close(number(answer, "maximum"), 2 * normal - 0.5 * tangent + velocity[1], 1e-15);
    assert_true(number(answer, "maximum") <= 2.5 * 0.093009 + 1e-12 && number(answer, "maximum") >= 2.49 * 0.093009);
    json_decref(answer);
}

static void command_decides_containment(void **state) {
    const char *directory = *state;
    json_t *answer = ask("query %s/walk.h5 --max %s --json", directory, "Jn.A");
    char *text = json_dumps(json_object_get(answer, "v_plus"), JSON_REAL_PRECISION(17)), file[256];
    snprintf(file, sizeof file, "{v: %s}\n", text);
    free(support_write_file(directory, "in.yaml", file));
    free(support_write_file(directory, "out.yaml", "v: [0, -0.4429, 0]\n"));
    free(text);
    json_decref(answer);
    char rest[512];
    snprintf(rest, sizeof rest, "%s/in.yaml", directory);
    answer = ask("query %s/walk.h5 --contains %s --json", directory, rest);
    assert_true(json_is_true(json_object_get(answer, "contained")));
    assert_true(number(answer, "distance") <= 1e-12);
    json_decref(answer);
    snprintf(rest, sizeof rest, "%s/out.yaml --metric kinetic", directory);
    answer = ask("query %s/walk.h5 --contains %s --json", directory, rest);
    assert_true(json_is_false(json_object_get(answer, "contained")));
    // From v- to rest it is sqrt(v'Mv); points of the set are at most as near as the tip.
    assert_true(number(answer, "distance") <= 0.4429 + 1e-3 && number(answer, "distance") >= 0.4429 - 0.1);
    json_decref(answer);
}

static void command_measures_hulls_and_distances(void **state) {
    json_t *answer = ask("query %s/walk.h5 --hull %s --json", *state, "Jn.A,Jn.B");
    // The triangle of 0 and the two tips.
    assert_true(number(answer, "area") <= 0.093009 * 0.093009 / 2 + 1e-12 && number(answer, "area") >= 0.99 * 0.093009 * 0.093009 / 2);
    json_decref(answer);
    answer = ask("query %s/walk.h5 --hull %s --json", *state, "Jn.A,Jn.B,Jt.A");
    assert_true(fabs(number(answer, "volume")) <= 1e-12);
    json_decref(answer);
    char rest[512];
    snprintf(rest, sizeof rest, "%s/lcp.h5", (const char *)*state);
    answer = ask("query %s/walk.h5 --distance %s --json", *state, rest);
    assert_true(number(answer, "gap") == 0);
    // Few samples of time stepping cover worse than many walks, which reach the tips.
    assert_true(number(answer, "a_to_b") > number(answer, "b_to_a") && number(answer, "a_to_b") < 0.05);
    assert_true(number(answer, "hausdorff") == number(answer, "a_to_b"));
    assert_int_equal(json_array_size(json_object_get(json_object_get(answer, "worst_point"), "normal_velocity")), 2);
    json_decref(answer);
    snprintf(rest, sizeof rest, "%s/walk.h5", (const char *)*state);
    answer = ask("query %s/walk.h5 --distance %s --json", *state, rest);
    assert_true(number(answer, "a_to_b") == 0 && number(answer, "b_to_a") == 0);
    json_decref(answer);
}

static void command_queries_exact_sets(void **state) {
    static char text[TEXT_SIZE];
    const char *directory = *state;
    char arguments[2048], rest[512];
    snprintf(arguments, sizeof arguments, "exact %s/block.yaml -o %s/exact.h5", directory, directory);
    // Without the library of exact polyhedra there is nothing to query.
    if (support_run_command(arguments, false, text, TEXT_SIZE) != 0) skip();
    json_t *answer = ask("query %s/exact.h5 --max %s --json", directory, "Jn.A");
    assert_true(json_is_true(json_object_get(answer, "certified")));
    assert_string_equal(json_string_value(json_object_get(answer, "set")), "exact");
    assert_close(number(answer, "maximum"), 0.093009, 1e-15);
    json_decref(answer);
    // Both corners attain the sum: the first of the file is shown, whatever round-off the factors have.
    static const char *const sums[] = {"'Jn.A + Jn.B'", "'Jn.B/3 + Jn.A/3'", "'0.1*Jn.A + 0.3*Jn.B - 0.2*Jn.B'", "'0.7*Jn.B + 0.7*Jn.A'"};
    json_t *first = ask("query %s/exact.h5 --max %s --json", directory, sums[0]);
    for (int i = 1; i < 4; i++) {
        answer = ask("query %s/exact.h5 --max %s --json", directory, sums[i]);
        assert_true(json_equal(json_object_get(answer, "v_plus"), json_object_get(first, "v_plus")));
        json_decref(answer);
    }
    json_decref(first);
    snprintf(rest, sizeof rest, "%s/walk.h5", directory);
    answer = ask("query %s/exact.h5 --distance %s --json", directory, rest);
    assert_true(number(answer, "a_to_b") <= 0.0015 && number(answer, "b_to_a") <= 1e-12 && number(answer, "gap") == 0);
    assert_string_equal(json_string_value(json_object_get(answer, "unit")), "m/s");
    json_decref(answer);
    snprintf(rest, sizeof rest, "%s/walk.h5 --metric kinetic", directory);
    answer = ask("query %s/exact.h5 --distance %s --json", directory, rest);
    assert_string_equal(json_string_value(json_object_get(answer, "metric")), "kinetic");
    assert_string_equal(json_string_value(json_object_get(answer, "unit")), "sqrt(J)");
    json_decref(answer);
}

// A motion has no outcomes.
static void command_refuses_motions(void **state) {
    static char text[TEXT_SIZE];
    const char *directory = *state;
    char arguments[2048];
    snprintf(arguments, sizeof arguments, "simulate scenes/bouncing-ball.yaml --duration 0.01 -o %s/motion.h5", directory);
    assert_int_equal(support_run_command(arguments, false, text, TEXT_SIZE), 0);
    snprintf(arguments, sizeof arguments, "query %s/motion.h5 --max Jn.ground", directory);
    assert_int_equal(support_run_command(arguments, true, text, TEXT_SIZE), 2);
    assert_non_null(strstr(text, "holds a motion"));
}

static void command_refuses(void **state) {
    static char text[TEXT_SIZE];
    static const char *const rows[][2] = {
        {"", "ask for one of"},
        {"--max Jn.C", "Jn.A"},
        {"--max '2*'", "ends too early"},
        {"--max 'Jn.A Jn.B'", "does not begin"},
        {"--max v.4", "does not begin"},
        {"--max v.0", "does not begin"},
        {"--max '1e999*Jn.A'", "not a finite number"},
        {"--max '1e308*Jn.A + 1e308*Jn.A'", "too large"},
        {"--hull Jn.A", "only one"},
        {"--hull Jn.A,Jn.B,", "does not begin"},
        {"--max Jn.A --hull Jn.A,Jn.B", "one question"},
        {"--contains missing.yaml", "missing.yaml"},
        {"--distance missing.h5", "missing.h5"},
        {"--max Jn.A --law routh", "--law"},
        {"--max Jn.A --metric manhattan", "--metric"},
        {"--distance /dev/null", "/dev/null"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char arguments[2048];
        snprintf(arguments, sizeof arguments, "query %s/walk.h5 %s", (const char *)*state, rows[i][0]);
        assert_int_equal(support_run_command(arguments, true, text, TEXT_SIZE), 2);
        assert_non_null(strstr(text, rows[i][1]));
        assert_int_equal(strncmp(text, "carom: ", 7), 0);
    }
    // Velocities far beyond anything, and of another length.
    static const char *const velocities[][2] = {{"v: [1e300, 0, 0]\n", "too large"}, {"v: [0, 0]\n", "must have 3\n"}};
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++) {
        char arguments[2048], *file = support_write_file(*state, "odd.yaml", velocities[i][0]);
        snprintf(arguments, sizeof arguments, "query %s/walk.h5 --contains %s", (const char *)*state, file);
        assert_int_equal(support_run_command(arguments, true, text, TEXT_SIZE), 2);
        assert_non_null(strstr(text, velocities[i][1]));
        free(file);
    }
}

int main(void) {
    const struct CMUnitTest sets[] = {
        cmocka_unit_test(distances_from_a_triangle),
        cmocka_unit_test(nearest_points_of_hulls_are_certified),
        cmocka_unit_test(neighbours_are_those_of_brute_force),
        cmocka_unit_test(support_functions),
        cmocka_unit_test(volumes_of_hulls),
        cmocka_unit_test(hulls_can_be_stopped),
        cmocka_unit_test(areas_agree_with_the_shoelace_formula),
        cmocka_unit_test(covers_of_known_radius),
        cmocka_unit_test(covers_in_space_have_a_stated_gap),
        cmocka_unit_test(covers_in_many_dimensions_are_bounded),
        cmocka_unit_test(covers_agree_with_a_grid),
        cmocka_unit_test(bad_sets_are_refused),
        cmocka_unit_test(metrics_of_reachable_velocities),
        cmocka_unit_test(what_no_impulse_reaches_is_measured),
    };
    const struct CMUnitTest commands[] = {
        cmocka_unit_test(command_samples_walks),       cmocka_unit_test(command_finds_worst_cases),
        cmocka_unit_test(command_decides_containment), cmocka_unit_test(command_measures_hulls_and_distances),
        cmocka_unit_test(command_queries_exact_sets),  cmocka_unit_test(command_refuses),
        cmocka_unit_test(command_refuses_motions),
    };
    const int failed = cmocka_run_group_tests_name("sets", sets, NULL, NULL);
    // The command asks about files.
    return failed + (support_has("HDF5") ? cmocka_run_group_tests_name("query", commands, set_up, tear_down) : 0);
}
