// SPDX-License-Identifier: Apache-2.0
// Exact sets where the velocity before the impact is any of a polytope, and where friction is any of an interval.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact_support.h"

enum { MOST_VELOCITIES = 10, MOST_CORNERS = 64 };

// The corners of a box around a velocity; no corner twice where a width is zero.
static int box_corners(int nv, const double *centre, const double *width, double *corners) {
    int count = 1;
    memcpy(corners, centre, (size_t)nv * sizeof *corners);
    for (int j = 0; j < nv; j++) {
        if (width[j] == 0) continue;
        for (int k = 0; k < count; k++) {
            memcpy(corners + (count + k) * nv, corners + k * nv, (size_t)nv * sizeof *corners);
            corners[k * nv + j] -= width[j];
            corners[(count + k) * nv + j] += width[j];
        }
        count *= 2;
        assert_true(count <= MOST_CORNERS);
    }
    return count;
}

static carom_exact_set *solve_start(const carom_impact *impact, int count, const double *vertices) {
    const carom_exact_start start = {.count = count, .vertices = vertices};
    carom_exact_options options = carom_exact_defaults();
    options.start = &start;
    return solve(impact, &options);
}

// The same impact with another velocity and other friction (NULL: the same).
static carom_impact *with_inputs(const carom_impact *impact, const double *velocity, const double *friction) {
    carom_impact_data data = *carom_impact_get_data(impact);
    if (velocity) data.velocity = velocity;
    if (friction) data.friction = friction;
    return support_impact(&data);
}

static void range_of_velocity(const carom_polyhedra *set, int j, double *least, double *most) {
    for (int p = 0; p < set->count; p++)
        for (int k = 0; k < set->pieces[p].vertices; k++) {
            *least = fmin(*least, set->pieces[p].velocity[k * set->nv + j]);
            *most = fmax(*most, set->pieces[p].velocity[k * set->nv + j]);
        }
}

// Sets of points of the box, and walks from them, lie in the set of the box; velocities, too, are within its ranges.
static void assert_contains_points(const carom_impact *impact, const carom_exact_set *all, const double *width, int points) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int nv = data->nv, n = carom_impact_contact_size(impact);
    const double tolerance = 1e-9 * carom_impact_velocity_scale(impact);
    carom_stream stream;
    carom_stream_start(&stream, 7, 0);
    for (int i = 0; i < points; i++) {
        double v[MOST_VELOCITIES], u[16], impulse[16];
        for (int j = 0; j < nv; j++) v[j] = data->velocity[j] + width[j] * (2 * carom_stream_uniform(&stream) - 1);
        carom_impact *one = with_inputs(impact, v, NULL);
        carom_exact_set *set = solve_mode(one, CAROM_EXACT_UNION);
        assert_true(carom_exact_set_complete(set));
        assert_true(worst_excess(set->pieces, all->pieces) <= tolerance);
        for (int j = 0; j < nv; j++) {
            double least = INFINITY, most = -INFINITY, outer_least = INFINITY, outer_most = -INFINITY;
            range_of_velocity(set->pieces, j, &least, &most);
            range_of_velocity(all->pieces, j, &outer_least, &outer_most);
            assert_true(outer_least <= least + 1e-7 && most <= outer_most + 1e-7);
        }
        carom_exact_set_free(set);
        carom_walker *walker;
        carom_error error;
        assert_ok(carom_walker_create(one, &(carom_walker_options){.max_steps = 10000, .rebound = {0, {NAN, NAN}}}, &walker, &error),
                  error);
        for (int walk = 0; walk < 20; walk++) {
            carom_sample_counts counts = {0};
            if (carom_walker_run(walker, 1, i * 20 + walk, v, impulse, &counts) != CAROM_COMPLETE) continue;
            carom_impact_contact_velocity(one, v, u);
            assert_true(distance_out(all->pieces, u) <= tolerance);
        }
        carom_walker_free(walker);
        carom_impact_free(one);
    }
    assert_true(n <= 16);
}

static void boxes_contain_their_points(void **state) {
    (void)state;
    const carom_impact_data *scenes[] = {&reference_block, &reference_boxwall, &reference_compass, &reference_ramone};
    static const double widths[][MOST_VELOCITIES] = {{0.05, 0, 0.05}, {0.05, 0.05, 0}, {0, 0, 0.02, 0.02}, {0, 0, 0, 0.05, 0.05}};
    for (int i = 0; i < 4; i++) {
        carom_impact *impact = support_impact(scenes[i]);
        double corners[MOST_CORNERS * MOST_VELOCITIES];
        const int count = box_corners(scenes[i]->nv, scenes[i]->velocity, widths[i], corners);
        assert_int_equal(count, 4);
        carom_exact_set *set = solve_start(impact, count, corners);
        assert_int_equal(set->status, CAROM_EXACT_OK);
        assert_string_equal(set->certificate, "exact");
        assert_contains_points(impact, set, widths[i], support_count(5, 25, 100));
        carom_exact_set_free(set);
        carom_impact_free(impact);
    }
}

// A polytope of one point, and one of a point three times, have the set of the point.
static void points_are_polytopes(void **state) {
    (void)state;
    const carom_impact_data *scenes[] = {&reference_block, &reference_boxwall, &reference_compass, &reference_ramone};
    for (int i = 0; i < 4; i++) {
        carom_impact *impact = support_impact(scenes[i]);
        const int nv = scenes[i]->nv;
        double vertices[3 * MOST_VELOCITIES];
        for (int k = 0; k < 3; k++) memcpy(vertices + k * nv, scenes[i]->velocity, (size_t)nv * sizeof *vertices);
        carom_exact_set *plain = solve_mode(impact, CAROM_EXACT_UNION);
        for (int count = 1; count <= 3; count += 2) {
            carom_exact_set *set = solve_start(impact, count, vertices);
            assert_int_equal(set->status, CAROM_EXACT_OK);
            assert_int_equal(set->elapses, plain->elapses);
            assert_same_set(set->pieces, plain->pieces, 1e-15);
            carom_exact_set_free(set);
        }
        carom_exact_set_free(plain);
        carom_impact_free(impact);
    }
}

// Every vertex of the set of an interval is near the set of some point of it: the set is no larger than the union.
static void intervals_are_no_larger_than_their_points(void **state) {
    (void)state;
    enum { POINTS = 41 };
    carom_impact *impact = make_impact(&block);
    const double ends[] = {-0.05, -0.4429, 0, 0.05, -0.4429, 0};
    carom_exact_set *all = solve_start(impact, 2, ends), *sets[POINTS];
    for (int i = 0; i < POINTS; i++) {
        const double v[] = {-0.05 + 0.1 * i / (POINTS - 1), -0.4429, 0};
        carom_impact *one = with_inputs(impact, v, NULL);
        sets[i] = solve_mode(one, CAROM_EXACT_UNION);
        carom_impact_free(one);
    }
    for (int p = 0; p < all->pieces->count; p++)
        for (int k = 0; k < all->pieces->pieces[p].vertices; k++) {
            double least = INFINITY;
            for (int i = 0; i < POINTS; i++)
                least = fmin(least, distance_out(sets[i]->pieces, all->pieces->pieces[p].contact_velocity + 4 * k));
            assert_true(least <= 0.1 / (POINTS - 1));
        }
    for (int i = 0; i < POINTS; i++) carom_exact_set_free(sets[i]);
    carom_exact_set_free(all);
    carom_impact_free(impact);
}

// Contact velocities alone: those of the whole set, where that is found, and a finished set where the whole takes far too long.
static void contact_velocities_need_no_others(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_ramone);
    static const double widths[][MOST_VELOCITIES] = {{0, 0, 0, 0.05, 0.05}, {0.05, 0.05, 0.05}};
    for (int i = 0; i < 2; i++) {
        double corners[MOST_CORNERS * MOST_VELOCITIES];
        const carom_exact_start start = {.count = box_corners(7, reference_ramone.velocity, widths[i], corners), .vertices = corners};
        carom_exact_options options = carom_exact_defaults();
        options.start = &start;
        options.contacts_only = true;
        carom_exact_set *contacts = solve(impact, &options);
        assert_int_equal(contacts->status, CAROM_EXACT_OK);
        carom_exact_set *whole = i ? NULL : solve_start(impact, start.count, corners);
        if (whole) assert_same_set(contacts->pieces, whole->pieces, 1e-12);
        carom_exact_set_free(whole);
        // Sets of points lie in it.
        carom_stream stream;
        carom_stream_start(&stream, 9, (uint64_t)i);
        for (int k = 0; k < support_count(4, 12, 100); k++) {
            double v[MOST_VELOCITIES];
            for (int j = 0; j < 7; j++) v[j] = reference_ramone.velocity[j] + widths[i][j] * (2 * carom_stream_uniform(&stream) - 1);
            carom_impact *one = with_inputs(impact, v, NULL);
            carom_exact_set *set = solve_mode(one, CAROM_EXACT_UNION);
            assert_true(worst_excess(set->pieces, contacts->pieces) <= 1e-9 * carom_impact_velocity_scale(impact));
            carom_exact_set_free(set);
            carom_impact_free(one);
        }
        carom_exact_set_free(contacts);
    }
    carom_impact_free(impact);
}

// Velocities that no contact feels stay what they are, and each goes with its own outcome: a particle (x, y) without friction on a floor,
// with v_x from 1 to 2 where it falls at v_x.
static void what_no_contact_feels_is_kept(void **state) {
    (void)state;
    const text_scene particle = {2, 1, "1 0 0 1", "0 1", "0 0", "0", "0 -1"};
    carom_impact *impact = make_impact(&particle);
    const double falls[] = {1, -1, 2, -2};
    carom_exact_set *set = solve_start(impact, 2, falls);
    assert_int_equal(set->status, CAROM_EXACT_OK);
    assert_int_equal(set->pieces->count, 1);
    assert_int_equal(set->pieces->pieces[0].dimension, 0);
    assert_int_equal(set->pieces->pieces[0].vertices, 2);
    const double *v = set->pieces->pieces[0].velocity;
    assert_true(fmin(v[0], v[2]) == 1 && fmax(v[0], v[2]) == 2 && v[1] == 0 && v[3] == 0);
    carom_exact_set_free(set);
    // Where it rises at v_x, v+ is v-: the relation of the two is kept.
    const double rises[] = {1, 1, 2, 2};
    set = solve_start(impact, 2, rises);
    assert_int_equal(set->status, CAROM_EXACT_TERMINAL_START);
    v = set->pieces->pieces[0].velocity;
    assert_true(set->pieces->count == 1 && set->pieces->pieces[0].dimension == 1 && v[0] == v[1] && v[2] == v[3] && v[0] + v[2] == 3);
    carom_exact_set_free(set);
    // From falling to rising, both, in all modes.
    const double both[] = {1, -1, 3, 1};
    const carom_exact_start start = {.count = 2, .vertices = both};
    for (carom_exact_mode mode = CAROM_EXACT_UNION; mode <= CAROM_EXACT_EPS; mode++) {
        carom_exact_options options = carom_exact_defaults();
        options.start = &start;
        options.mode = (int)mode;
        set = solve(impact, &options);
        assert_int_equal(set->status, CAROM_EXACT_OK);
        double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
        for (int j = 0; j < 2; j++) range_of_velocity(set->pieces, j, &least[j], &most[j]);
        assert_close(least[0], 1, 1e-12);
        assert_close(most[0], 3, 1e-12);
        assert_true(least[1] <= 0 && least[1] >= -1e-2);
        assert_close(most[1], 1, 1e-12);
        carom_exact_set_free(set);
    }
    carom_impact_free(impact);
}

// Texts of a start are taken exactly, and the outcomes of its corners with them.
static void texts_of_a_start_are_exact(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&block);
    static const char *const texts[] = {"0", "-0.4429", "0", "0", "-1/3", "0"};
    const double vertices[] = {0, -0.4429, 0, 0, -1.0 / 3, 0};
    const carom_exact_start start = {2, vertices, texts};
    carom_exact_options options = carom_exact_defaults();
    options.start = &start;
    carom_exact_set *set = solve(impact, &options);
    assert_int_equal(set->status, CAROM_EXACT_OK);
    assert_true(set->data_change == 0);
    // k v0 = 0.21 x 1/3 lies within the segment that 0.21 x 0.4429 ends
    int exact = 0;
    for (int p = 0; p < set->pieces->count; p++)
        for (int k = 0; k < 4 * set->pieces->pieces[p].vertices; k++) exact += !strcmp(set->pieces->pieces[p].exact[k], "93009/1000000");
    assert_int_equal(exact, 2);
    carom_exact_set_free(set);
    carom_impact_free(impact);
}

// An unfinished run bounds all points of the box: by hulls, impulses or energy.
static void unfinished_boxes_are_bounded(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_compass);
    double corners[MOST_CORNERS * MOST_VELOCITIES];
    static const double width[] = {0, 0.3, 0.02, 0.02};
    const carom_exact_start start = {.count = box_corners(4, reference_compass.velocity, width, corners), .vertices = corners};
    carom_exact_options options = carom_exact_defaults();
    options.start = &start;
    carom_exact_set *whole = solve(impact, &options);
    assert_int_equal(whole->status, CAROM_EXACT_OK);
    for (options.pieces = 10; options.pieces <= 80; options.pieces *= 2) {
        carom_exact_set *part = solve(impact, &options);
        if (part->status == CAROM_EXACT_INCOMPLETE) {
            assert_string_equal(part->certificate, part->pieces->count ? "inner" : "none");
            assert_true(worst_excess(part->pieces, whole->pieces) <= 1e-12);
            assert_non_null(part->outer);
            assert_true(worst_excess(whole->pieces, part->outer) <= 1e-12);
        }
        carom_exact_set_free(part);
    }
    carom_exact_set_free(whole);
    carom_impact_free(impact);
}

// ------------------------------------------------------------------------------------------------------------ friction

static carom_exact_set *solve_friction(const carom_impact *impact, const carom_interval *friction) {
    carom_exact_options options = carom_exact_defaults();
    options.friction = friction;
    return solve(impact, &options);
}

// A particle that comes at (1, -1): v+ = (1 - mu, 0), so that the set of an interval is the segment between both ends, and that of mu = 1/2
// is not in that of mu = 1/4: a larger cone is no outer set.
static void particle_slides_by_its_friction(void **state) {
    (void)state;
    const text_scene particle = {2, 1, "1 0 0 1", "0 1", "1 0", "1/2", "1 -1"};
    carom_impact *impact = make_impact(&particle);
    const carom_interval friction = {0.25, 0.75};
    carom_exact_set *set = solve_friction(impact, &friction);
    assert_int_equal(set->status, CAROM_EXACT_OK);
    assert_string_equal(set->certificate, "outer");
    assert_int_equal(set->pieces->count, 1);
    assert_int_equal(set->pieces->pieces[0].vertices, 2);
    const double *u = set->pieces->pieces[0].contact_velocity;
    assert_true(u[0] == 0 && u[2] == 0 && fmin(u[1], u[3]) == 0.25 && fmax(u[1], u[3]) == 0.75);
    carom_exact_set_free(set);
    carom_impact_free(impact);
}

static void intervals_of_friction_contain_their_points(void **state) {
    (void)state;
    const carom_impact_data *scenes[] = {&reference_block, &reference_boxwall, &reference_compass};
    carom_stream stream;
    carom_stream_start(&stream, 11, 0);
    for (int i = 0; i < 3; i++) {
        carom_impact *impact = support_impact(scenes[i]);
        const double mu = scenes[i]->friction[0];
        const carom_interval friction[] = {{0.3 * mu, mu}, {0.5 * mu, 1.2 * mu}};
        carom_exact_set *outer = solve_friction(impact, friction);
        assert_int_equal(outer->status, CAROM_EXACT_OK);
        assert_string_equal(outer->certificate, "outer");
        const int points = support_count(5, 25, 100);
        for (int k = 0; k < points; k++) {
            double at[2];
            for (int c = 0; c < 2; c++) at[c] = friction[c].least + (friction[c].most - friction[c].least) * carom_stream_uniform(&stream);
            carom_impact *one = with_inputs(impact, NULL, at);
            carom_exact_set *set = solve_mode(one, CAROM_EXACT_UNION);
            assert_true(worst_excess(set->pieces, outer->pieces) <= 1e-9 * carom_impact_velocity_scale(impact));
            carom_exact_set_free(set);
            carom_impact_free(one);
        }
        carom_exact_set_free(outer);
        carom_impact_free(impact);
    }
    // Intervals without width have the set of the impact.
    carom_impact *impact = make_impact(&compass);
    carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION), *same = solve_friction(impact, (const carom_interval[]){{5, 5}, {5, 5}});
    assert_same_set(set->pieces, same->pieces, 1e-15);
    assert_string_equal(same->certificate, "exact");
    carom_exact_set_free(set);
    carom_exact_set_free(same);
    carom_impact_free(impact);
}

// -------------------------------------------------------------------------------------------------------------- bounds

static double largest_component(const carom_polyhedra *set, int k, int sign) {
    double largest = -INFINITY;
    for (int p = 0; p < set->count; p++)
        for (int a = 0; a < set->pieces[p].vertices; a++) largest = fmax(largest, sign * set->pieces[p].contact_velocity[a * set->n + k]);
    return largest;
}

// In every axis direction no bound is below the set, which the options describe, and the worst is at most `gap` of the scale above it.
static void assert_bounds(const carom_impact *impact, const carom_exact_options *options, int64_t planes, double gap) {
    carom_exact_set *set = solve(impact, options);
    assert_int_equal(set->status, CAROM_EXACT_OK);
    const double scale = carom_impact_velocity_scale(impact);
    carom_bound_options how = carom_bound_defaults();
    how.planes = planes;
    how.seconds = NAN;
    how.start = options->start;
    how.friction = options->friction;
    for (int axis = 0; axis < 2 * set->pieces->n; axis++) {
        carom_functional functional;
        carom_bound bound;
        carom_error error;
        assert_ok(carom_functional_parse(impact, "v.1", &functional, &error), error);
        functional.velocity[0] = 0;
        functional.has_velocity = false;
        functional.contact[axis / 2] = axis % 2 ? -1 : 1;
        const double known = largest_component(set->pieces, axis / 2, axis % 2 ? -1 : 1);
        assert_ok(carom_bound_solve(impact, &functional, &how, known, NULL, &bound, &error), error);
        assert_true(bound.upper >= known - 1e-12 * scale);
        assert_true(bound.energy >= known - 1e-12 * scale);
        if (carom_bound_glpk_version()) assert_true(bound.upper <= known + gap * scale);
        carom_functional_release(&functional);
    }
    carom_exact_set_free(set);
}

static void bounds_hold_on_boxes_and_intervals(void **state) {
    (void)state;
    const text_scene *scenes[] = {&block, &boxwall, &compass};
    static const double widths[][4] = {{0.05, 0, 0.05}, {0.05, 0.05, 0.02}, {0, 0, 0.02, 0.02}};
    // A box that reaches into T, too: there v+ is v-.
    static const double large[] = {0.05, 0.6, 0.05};
    for (int i = 0; i < 4; i++) {
        carom_impact *impact = make_impact(scenes[i % 3]);
        const carom_impact_data *data = carom_impact_get_data(impact);
        double corners[MOST_CORNERS * MOST_VELOCITIES];
        const carom_exact_start start = {.count = box_corners(data->nv, data->velocity, i < 3 ? widths[i] : large, corners),
                                         .vertices = corners};
        const carom_interval friction[] = {{0.5 * data->friction[0], data->friction[0]}, {0.9 * data->friction[1], data->friction[1]}};
        carom_exact_options options = carom_exact_defaults();
        options.start = &start;
        // The compass gait needs seven planes, and takes seconds.
        assert_bounds(impact, &options, 1, i == 2 ? 1 : 0.04);
        options.friction = friction;
        assert_bounds(impact, &options, 0, 2);
        carom_impact_free(impact);
    }
}

// Random impacts with boxes and intervals: bounds in random directions are never below members, whose inputs are random.
static void bounds_of_random_impacts_hold(void **state) {
    (void)state;
    const int impacts = support_count(4, 12, 60);
    carom_stream stream;
    carom_stream_start(&stream, 29, 0);
    for (int i = 0; i < impacts; i++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 2, 1 + i % 2, 1.5);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const int nv = data->nv, n = carom_impact_contact_size(impact);
        double corners[MOST_CORNERS * MOST_VELOCITIES], width[MOST_VELOCITIES] = {0};
        assert_true(nv <= MOST_VELOCITIES);
        for (int j = 0; j < nv && j < 3; j++) width[j] = 0.3 * carom_stream_uniform(&stream);
        const carom_exact_start start = {.count = box_corners(nv, data->velocity, width, corners), .vertices = corners};
        carom_interval friction[2];
        for (int c = 0; c < data->contacts; c++)
            friction[c] = (carom_interval){data->friction[c] * carom_stream_uniform(&stream), data->friction[c]};
        carom_bound_options how = carom_bound_defaults();
        how.planes = i % 2 ? 0 : 1;
        how.seconds = NAN;
        how.start = &start;
        how.friction = friction;
        enum { DIRECTIONS = 4, MEMBERS = 40 };
        double members[MEMBERS * 16], impulse[16];
        bool found[MEMBERS] = {false};
        for (int k = 0; k < MEMBERS; k++) {
            double v[MOST_VELOCITIES], mu[2];
            for (int j = 0; j < nv; j++) v[j] = data->velocity[j] + width[j] * (2 * carom_stream_uniform(&stream) - 1);
            for (int c = 0; c < data->contacts; c++)
                mu[c] = friction[c].least + (friction[c].most - friction[c].least) * carom_stream_uniform(&stream);
            carom_impact *one = with_inputs(impact, v, mu);
            carom_walker *walker;
            carom_error error;
            assert_ok(carom_walker_create(one, &(carom_walker_options){.max_steps = 2000}, &walker, &error), error);
            carom_sample_counts counts = {0};
            found[k] = carom_walker_run(walker, 3, k, v, impulse, &counts) == CAROM_COMPLETE;
            carom_impact_contact_velocity(one, v, members + k * n);
            carom_walker_free(walker);
            carom_impact_free(one);
        }
        for (int way = 0; way < DIRECTIONS; way++) {
            carom_functional functional;
            carom_bound bound;
            carom_error error;
            assert_ok(carom_functional_parse(impact, "v.1", &functional, &error), error);
            functional.velocity[0] = 0;
            functional.has_velocity = false;
            for (int k = 0; k < n; k++) functional.contact[k] = carom_stream_normal(&stream);
            assert_ok(carom_bound_solve(impact, &functional, &how, -INFINITY, NULL, &bound, &error), error);
            for (int k = 0; k < MEMBERS; k++) {
                double value = 0;
                for (int c = 0; c < n; c++) value += functional.contact[c] * members[k * n + c];
                if (found[k]) assert_true(value <= bound.upper + 1e-6 * carom_impact_velocity_scale(impact));
            }
            carom_functional_release(&functional);
        }
        carom_impact_free(impact);
    }
}

static void odd_inputs_are_refused(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&block);
    carom_exact_set *set;
    carom_error error;
    carom_exact_options options = carom_exact_defaults();
    const double vertices[] = {0, NAN, 0};
    carom_exact_start start = {.count = 1, .vertices = vertices};
    options.start = &start;
    assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "start");
    start.count = 0;
    assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "start");
    options.start = NULL;
    const carom_interval odd[][2] = {{{0.5, 0.4}, {1, 1}}, {{1, 1}, {-1, 1}}, {{1, INFINITY}, {1, 1}}, {{NAN, NAN}, {1, 1}}};
    for (int i = 0; i < 4; i++) {
        options.friction = odd[i];
        assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "friction");
    }
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_contain_their_points),
        cmocka_unit_test(points_are_polytopes),
        cmocka_unit_test(intervals_are_no_larger_than_their_points),
        cmocka_unit_test(contact_velocities_need_no_others),
        cmocka_unit_test(what_no_contact_feels_is_kept),
        cmocka_unit_test(texts_of_a_start_are_exact),
        cmocka_unit_test(unfinished_boxes_are_bounded),
        cmocka_unit_test(particle_slides_by_its_friction),
        cmocka_unit_test(intervals_of_friction_contain_their_points),
        cmocka_unit_test(bounds_hold_on_boxes_and_intervals),
        cmocka_unit_test(bounds_of_random_impacts_hold),
        cmocka_unit_test(odd_inputs_are_refused),
    };
    return carom_exact_available() ? cmocka_run_group_tests(tests, NULL, NULL) : skip_all();
}
