// SPDX-License-Identifier: Apache-2.0
// Certified bounds: never below what solutions reach, exact where the set is known, the same in other units and orders.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "exact_support.h"

// Builds without GLPK have the bound by energy alone.
static void needs_fans(void **state) {
    (void)state;
    if (!carom_bound_glpk_version()) skip();
}

// ------------------------------------------------------------------------------------------------------------- asking

static carom_bound bound_of(const carom_impact *impact, const carom_functional *functional, int64_t planes, double known) {
    carom_bound_options options = carom_bound_defaults();
    options.planes = planes;
    options.seconds = NAN;
    carom_bound bound;
    carom_error error;
    assert_ok(carom_bound_solve(impact, functional, &options, known, NULL, &bound, &error), error);
    // Also false for NaN.
    assert_true(bound.upper <= bound.energy);
    return bound;
}

static carom_bound bound_expression(const carom_impact *impact, const char *expression, int64_t planes) {
    carom_functional functional;
    carom_error error;
    assert_ok(carom_functional_parse(impact, expression, &functional, &error), error);
    const carom_bound bound = bound_of(impact, &functional, planes, -INFINITY);
    carom_functional_release(&functional);
    return bound;
}

// A functional of contact velocities alone, to be released.
static carom_functional direction(const carom_impact *impact, const double *factors) {
    carom_functional functional;
    carom_error error;
    assert_ok(carom_functional_parse(impact, "v.1", &functional, &error), error);
    for (int k = 0; k < functional.n; k++) functional.contact[k] = factors[k];
    memset(functional.velocity, 0, (size_t)functional.nv * sizeof(double));
    functional.has_velocity = false;
    return functional;
}

static double largest_of(const carom_polyhedra *set, const double *factors) {
    double largest = -INFINITY;
    for (int i = 0; i < set->count; i++)
        for (int k = 0; k < set->pieces[i].vertices; k++) {
            double value = 0;
            for (int j = 0; j < set->n; j++) value += factors[j] * set->pieces[i].contact_velocity[k * set->n + j];
            largest = fmax(largest, value);
        }
    return largest;
}

// The contact velocities of members of the set by walks, [found x n].
static double *walk_members(const carom_impact *impact, int walks, int *found) {
    const int n = carom_impact_contact_size(impact), nv = carom_impact_get_data(impact)->nv;
    const carom_walker_options options = {.max_steps = 2000};
    carom_walker *walker;
    carom_error error;
    assert_ok(carom_walker_create(impact, &options, &walker, &error), error);
    double *members = calloc((size_t)(walks * n + nv + n), sizeof *members), *v = members + walks * n, *impulse = v + nv;
    *found = 0;
    for (int i = 0; i < walks; i++) {
        carom_sample_counts counts = {0};
        if (carom_walker_run(walker, 1, i, v, impulse, &counts) != CAROM_COMPLETE) continue;
        carom_impact_contact_velocity(impact, v, members + (*found)++ * n);
    }
    carom_walker_free(walker);
    return members;
}

// ---------------------------------------------------------------------------------------------------- known sets

// Every axis direction of the scenes of the paper, and of a block in a corner, is bounded to 1 % of the velocity scale.
static void known_sets_are_bounded_closely(void **state) {
    needs_fans(state);
    const text_scene cornered = {3,         3, "1 0 0 0 1 0 0 0 5/12", "0 1 -1/2 0 1 1/2 -1 0 -1", "1 0 1 1 0 1 0 1 1/2", "1/2 1/2 1/2",
                                 "1 -1/4 0"};
    carom_impact *impacts[] = {make_impact(&block), make_impact(&boxwall), make_impact(&compass), make_impact(&cornered),
                               support_impact(&reference_ramone)};
    for (size_t i = 0; i < sizeof impacts / sizeof *impacts; i++) {
        const carom_impact *impact = impacts[i];
        carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION);
        assert_int_equal(set->status, CAROM_EXACT_OK);
        const int n = carom_impact_contact_size(impact);
        const double scale = carom_impact_velocity_scale(impact);
        for (int axis = 0; axis < 2 * n; axis++) {
            double factors[8] = {0};
            factors[axis / 2] = axis % 2 ? -1 : 1;
            const double known = largest_of(set->pieces, factors);
            carom_functional functional = direction(impact, factors);
            const carom_bound bound = bound_of(impact, &functional, 8, known);
            assert_true(bound.upper >= known - 1e-12 * scale);
            assert_true(bound.upper <= known + 0.01 * scale);
            assert_int_equal(bound.method, CAROM_BOUND_FAN);
            carom_functional_release(&functional);
        }
        carom_exact_set_free(set);
        carom_impact_free(impacts[i]);
    }
}

// ------------------------------------------------------------------------------------------------------ random impacts

// A random planar impact of exactly so many contacts.
static carom_impact *random_impact(carom_stream *stream, int contacts, support_family family) {
    carom_impact *impact = support_random_impact(stream, family, contacts, 1, 1.5);
    while (carom_impact_get_data(impact)->contacts != contacts) {
        carom_impact_free(impact);
        impact = support_random_impact(stream, family, contacts, 1, 1.5);
    }
    return impact;
}

// No vertex of an exact set and no walk lies beyond a bound, whatever the direction and however fine the fan.
static void no_solution_passes_a_bound(void **state) {
    needs_fans(state);
    const int scenes = support_count(4, 8, 60), directions = support_count(4, 6, 200);
    carom_stream stream;
    carom_stream_start(&stream, 4711, 0);
    for (int scene = 0; scene < scenes; scene++) {
        carom_impact *impact = random_impact(&stream, 1 + scene % 3, scene % 4 == 3 ? FAMILY_INTEGER : FAMILY_PLAIN);
        const int n = carom_impact_contact_size(impact);
        const double scale = carom_impact_velocity_scale(impact);
        carom_exact_options options = carom_exact_defaults();
        options.seconds = 5;
        options.pieces = 500;
        carom_exact_set *set = solve(impact, &options);
        int found;
        double *members = walk_members(impact, 200, &found);
        for (int d = 0; d < directions; d++) {
            double factors[8], size = 0;
            for (int k = 0; k < n; k++) factors[k] = 2 * carom_stream_uniform(&stream) - 1;
            for (int k = 0; k < n; k++) size += fabs(factors[k]);
            carom_functional functional = direction(impact, factors);
            const carom_bound bound = bound_of(impact, &functional, d % 20 || n > 4 ? 0 : 2, -INFINITY);
            // An exact set has the rounded numbers of the bound, an inner one, too; walks have round-off.
            assert_true(largest_of(set->pieces, factors) <= bound.upper + 1e-12 * size * scale);
            for (int i = 0; i < found; i++) assert_true(carom_dot(n, factors, members + i * n) <= bound.upper + 1e-9 * size * scale);
            carom_functional_release(&functional);
        }
        free(members);
        carom_exact_set_free(set);
        carom_impact_free(impact);
    }
}

// The same in space, where speeds stand for round cones and walks follow these.
static void no_walk_in_space_passes_a_bound(void **state) {
    needs_fans(state);
    const int scenes = support_count(2, 2, 40);
    carom_stream stream;
    carom_stream_start(&stream, 1234, 0);
    for (int scene = 0; scene < scenes; scene++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 1 + scene % 2, 2, 1);
        const int n = carom_impact_contact_size(impact);
        int found;
        double *members = walk_members(impact, 20, &found);
        for (int d = 0; d < 3; d++) {
            double factors[6], size = 0;
            for (int k = 0; k < n; k++) factors[k] = 2 * carom_stream_uniform(&stream) - 1;
            for (int k = 0; k < n; k++) size += fabs(factors[k]);
            carom_functional functional = direction(impact, factors);
            const carom_bound bound = bound_of(impact, &functional, n == 3 ? 2 : 0, -INFINITY);
            for (int i = 0; i < found; i++)
                assert_true(carom_dot(n, factors, members + i * n) <= bound.upper + 1e-6 * size * carom_impact_velocity_scale(impact));
            carom_functional_release(&functional);
        }
        free(members);
        carom_impact_free(impact);
    }
}

// Rows that a careless model has: zero tangents, rows that are equal, opposite, multiples or sums of others, or nearly so; contacts without
// friction, with very little and with very much. Some contact approaches.
static carom_impact *degenerate_impact(carom_stream *stream, int contacts, int tangent_dim) {
    enum { MOST = 9 };
    static const double frictions[] = {0, 0, 0, 1e-6, 0.5, 1, 1e5}, factors[] = {1, -1, 2, 0.5, 1 + 1e-9, 1 + 1e-12},
                        units[] = {1, 1, 1, 1, 1, 1e-6, 1e-12, 1e8};
    const int nv = support_random_integer(stream, 1, 5), rows = contacts * (1 + tangent_dim);
    double mass[MOST * MOST], root[MOST * MOST], J[MOST * MOST], mu[3], velocity[MOST];
    bool approaches = false;
    while (!approaches) {
        for (int k = 0; k < nv * nv; k++) root[k] = carom_stream_normal(stream);
        for (int i = 0; i < nv; i++)
            for (int j = 0; j < nv; j++) mass[i * nv + j] = carom_dot(nv, root + i * nv, root + j * nv) + 0.1 * (i == j);
        for (int r = 0; r < rows; r++) {
            const bool whole = support_random_integer(stream, 0, 1), zero = r >= contacts && support_random_integer(stream, 0, 3) == 0;
            double *row = J + r * nv;
            for (int j = 0; j < nv; j++)
                row[j] = zero ? 0 : whole ? support_random_integer(stream, -1, 1) : 2 * carom_stream_uniform(stream) - 1;
            if (r == 0 || zero || support_random_integer(stream, 0, 2)) continue;
            const double *first = J + support_random_integer(stream, 0, r - 1) * nv,
                         *other = J + support_random_integer(stream, 0, r - 1) * nv;
            const double factor = factors[support_random_integer(stream, 0, 5)], share = support_random_integer(stream, 0, 1);
            for (int j = 0; j < nv; j++) row[j] = factor * first[j] + share * other[j];
        }
        // A contact in other units than the others.
        const double unit = units[support_random_integer(stream, 0, 7)];
        for (int j = 0; j < nv; j++) J[j] *= unit;
        for (int j = 0; j < nv; j++) velocity[j] = support_random_integer(stream, 0, 3) ? carom_stream_normal(stream) : 0;
        bool normals = true;
        for (int i = 0; i < contacts; i++) {
            mu[i] = frictions[support_random_integer(stream, 0, 6)];
            normals = normals && carom_max_abs((size_t)nv, J + i * nv) > 0;
            approaches = approaches || carom_dot(nv, J + i * nv, velocity) < 0;
        }
        approaches = approaches && normals;
    }
    const carom_impact_data data = {.nv = nv,
                                    .contacts = contacts,
                                    .tangent_dim = tangent_dim,
                                    .mass = mass,
                                    .normal = J,
                                    .tangent = J + contacts * nv,
                                    .friction = mu,
                                    .velocity = velocity};
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create(&data, &impact, &error), error);
    return impact;
}

// Vertices of exact sets, walks in space: bounds hold, and are answers, whatever rows are dependent and wherever friction is missing.
static void bounds_hold_where_rows_are_dependent(void **state) {
    needs_fans(state);
    const int scenes = support_count(12, 40, 1000), directions = support_count(2, 4, 20);
    carom_stream stream;
    carom_stream_start(&stream, 39, 0);
    for (int scene = 0; scene < scenes; scene++) {
        const int tangents = scene % 3 == 2 ? 2 : 1;
        carom_impact *impact = degenerate_impact(&stream, support_random_integer(&stream, 1, 4 - tangents), tangents);
        const int n = carom_impact_contact_size(impact);
        const double scale = carom_impact_velocity_scale(impact);
        carom_exact_options options = carom_exact_defaults();
        options.seconds = 0.2;
        options.pieces = 100;
        carom_exact_set *set = tangents == 1 ? solve(impact, &options) : NULL;
        const bool known = set && (set->status == CAROM_EXACT_OK || set->status == CAROM_EXACT_INCOMPLETE);
        int found;
        double *members = walk_members(impact, 20, &found);
        for (int d = 0; d < directions; d++) {
            double factors[9], size = 0;
            for (int k = 0; k < n; k++) factors[k] = d % 2 ? 2 * carom_stream_uniform(&stream) - 1 : support_random_integer(&stream, -1, 1);
            for (int k = 0; k < n; k++) size += fabs(factors[k]);
            carom_functional functional = direction(impact, factors);
            const carom_bound bound = bound_of(impact, &functional, n <= 4 ? 1 : 0, -INFINITY);
            if (known) assert_true(largest_of(set->pieces, factors) <= bound.upper + 1e-11 * size * scale);
            for (int i = 0; i < found; i++) assert_true(carom_dot(n, factors, members + i * n) <= bound.upper + 1e-6 * size * scale);
            carom_functional_release(&functional);
        }
        free(members);
        carom_exact_set_free(set);
        carom_impact_free(impact);
    }
}

// Two contacts: three of four axis directions within a tenth of the velocity scale, with at most three planes. Where forces cancel there is
// no fan.
static void two_contacts_are_bounded_closely(void **state) {
    needs_fans(state);
    const int scenes = support_count(2, 5, 40);
    int close = 0, asked = 0;
    carom_stream stream;
    carom_stream_start(&stream, 815, 0);
    for (int scene = 0; scene < scenes;) {
        carom_impact *impact = random_impact(&stream, 2, FAMILY_PLAIN);
        carom_exact_options options = carom_exact_defaults();
        options.seconds = 5;
        carom_exact_set *set = solve(impact, &options);
        const int n = carom_impact_contact_size(impact);
        for (int axis = 0; axis < 2 * n && set->status == CAROM_EXACT_OK; axis++) {
            double factors[8] = {0};
            factors[axis / 2] = axis % 2 ? -1 : 1;
            const double known = largest_of(set->pieces, factors);
            carom_functional functional = direction(impact, factors);
            const carom_bound bound = bound_of(impact, &functional, 3, known);
            close += bound.method == CAROM_BOUND_FAN && bound.upper - known <= 0.1 * carom_impact_velocity_scale(impact);
            asked += bound.method == CAROM_BOUND_FAN;
            carom_functional_release(&functional);
        }
        scene += set->status == CAROM_EXACT_OK;
        carom_exact_set_free(set);
        carom_impact_free(impact);
    }
    assert_true(asked > 0 && 4 * close >= 3 * asked);
}

// The order of contacts, the sign of tangents and the units do not matter, nor for which planes are chosen.
static void bounds_do_not_depend_on_how_the_impact_is_written(void **state) {
    needs_fans(state);
    const int scenes = support_count(1, 8, 30);
    carom_stream stream;
    carom_stream_start(&stream, 99, 0);
    for (int scene = 0; scene < scenes; scene++) {
        carom_impact *impact = random_impact(&stream, 2, FAMILY_PLAIN);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const size_t nv = (size_t)data->nv;
        const double scale = carom_impact_velocity_scale(impact), factors[4] = {1, 0.3, -0.4, 0.2};
        carom_functional functional = direction(impact, factors);
        const double upper = bound_of(impact, &functional, 2, -INFINITY).upper;
        carom_functional_release(&functional);

        // The contacts the other way round, and tangents that point backwards.
        double *normal = malloc(4 * nv * sizeof *normal), *tangent = normal + 2 * nv;
        const double friction[2] = {data->friction[1], data->friction[0]}, turned[4] = {-0.4, -0.2, 1, -0.3};
        for (size_t i = 0; i < 2; i++)
            for (size_t j = 0; j < nv; j++) {
                normal[i * nv + j] = data->normal[(1 - i) * nv + j];
                tangent[i * nv + j] = 0 - data->tangent[(1 - i) * nv + j];
            }
        carom_impact_data changed = *data;
        changed.normal = normal;
        changed.tangent = tangent;
        changed.friction = friction;
        changed.names = NULL;
        carom_impact *other = support_impact(&changed);
        functional = direction(other, turned);
        assert_close(bound_of(other, &functional, 2, -INFINITY).upper / scale, upper / scale, 1e-9);
        carom_functional_release(&functional);
        carom_impact_free(other);
        free(normal);

        // Units.
        other = support_impact_in_units(data, 3, 0.7, 1.3, NULL);
        functional = direction(other, factors);
        const double unit = carom_impact_velocity_scale(other) / scale;
        assert_close(bound_of(other, &functional, 2, -INFINITY).upper / (unit * scale), upper / scale, 1e-9);
        carom_functional_release(&functional);
        carom_impact_free(other);
        carom_impact_free(impact);
    }
}

// ------------------------------------------------------------------------------------------------ velocities of joints

// A functional of generalised velocities, which the exact set bounds at its vertices.
static void joints_are_bounded(void **state) {
    needs_fans(state);
    static const char *const expressions[] = {"v.1", "-v.1", "v.3 + 0.5*Jn.A", "v.2 - Jt.B"};
    carom_impact *impact = make_impact(&boxwall);
    carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION);
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        carom_functional functional;
        carom_error error;
        assert_ok(carom_functional_parse(impact, expressions[i], &functional, &error), error);
        double known = -INFINITY;
        for (int p = 0; p < set->pieces->count; p++)
            for (int k = 0; k < set->pieces->pieces[p].vertices; k++) {
                const carom_outcome_point vertex = {.u = set->pieces->pieces[p].contact_velocity + k * 4,
                                                    .v = set->pieces->pieces[p].velocity + k * 3};
                known = fmax(known, carom_functional_value(&functional, &vertex));
            }
        const double upper = bound_of(impact, &functional, 4, known).upper;
        assert_true(upper >= known - 1e-12 && upper <= known + 0.01);
        carom_functional_release(&functional);
    }
    carom_exact_set_free(set);
    carom_impact_free(impact);
}

// ---------------------------------------------------------------------------------------------------------- by energy

// The bound by energy holds for walks in the plane and in space, with and without restitution.
static void energy_bounds_hold(void **state) {
    (void)state;
    const int scenes = support_count(4, 10, 100);
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    for (int scene = 0; scene < scenes; scene++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 3, 1 + scene % 2, 1);
        const int n = carom_impact_contact_size(impact), nv = carom_impact_get_data(impact)->nv;
        carom_bound_options options = carom_bound_defaults();
        options.hypothesis = CAROM_BOUND_STRONGE;
        options.restitution = (carom_interval){0.5, 0.5};
        const carom_walker_options how = {.max_steps = 2000, .rebound = {CAROM_HYPOTHESIS_STRONGE, options.restitution}};
        carom_walker *walker;
        carom_error error;
        assert_ok(carom_walker_create(impact, &how, &walker, &error), error);
        double factors[9], size = 0, v[9], u[9], impulse[9];
        for (int k = 0; k < n; k++) factors[k] = 2 * carom_stream_uniform(&stream) - 1;
        for (int k = 0; k < n; k++) size += fabs(factors[k]);
        assert_true(nv <= 9);
        carom_functional functional = direction(impact, factors);
        carom_bound bound;
        assert_ok(carom_bound_solve(impact, &functional, &options, -INFINITY, NULL, &bound, &error), error);
        assert_int_equal(bound.method, CAROM_BOUND_ENERGY);
        assert_non_null(strstr(bound.reason, "restitution"));
        for (int i = 0; i < 20; i++) {
            carom_sample_counts counts = {0};
            if (carom_walker_run(walker, 1, i, v, impulse, &counts) != CAROM_COMPLETE) continue;
            carom_impact_contact_velocity(impact, v, u);
            assert_true(carom_dot(n, factors, u) <= bound.upper + 1e-6 * size * carom_impact_velocity_scale(impact));
        }
        carom_functional_release(&functional);
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
}

// ------------------------------------------------------------------------------------------------------- special cases

static void an_impact_that_has_ended_stays(void **state) {
    needs_fans(state);
    text_scene opening = block;
    opening.velocity = "0.25 0.5 0";
    carom_impact *impact = make_impact(&opening);
    const carom_bound bound = bound_expression(impact, "Jn.A + 2*Jt.B", 3);
    assert_int_equal(bound.method, CAROM_BOUND_START);
    assert_true(bound.upper >= 1 && bound.upper <= 1 + 4 * DBL_EPSILON);
    carom_impact_free(impact);
}

// A ball between two walls: forces cancel, and only the energy says anything.
static void forces_that_cancel_are_said(void **state) {
    needs_fans(state);
    const text_scene walls = {2, 2, "1 0 0 1", "1 0 -1 0", "0 1 0 1", "1/2 1/2", "-1 0.5"};
    carom_impact *impact = make_impact(&walls);
    const carom_bound bound = bound_expression(impact, "v.2", 3);
    assert_int_equal(bound.method, CAROM_BOUND_ENERGY);
    assert_non_null(strstr(bound.reason, "cancel"));
    assert_true(bound.upper >= 0.5);
    carom_impact_free(impact);
}

// A ball that meets a smooth floor at rest along it stops: no plane of the problem follows its slip.
static void planes_that_do_not_span_are_met(void **state) {
    needs_fans(state);
    const text_scene ball = {2, 1, "1 0 0 1", "0 1", "1 0", "0", "1 -1"},
                     feet = {3, 2, "1 0 0 0 1 0 0 0 5/12", "0 1 -1/2 0 1 1/2", "1 0 1 1 0 2", "0 0", "0 -0.4429 0"};
    carom_impact *impact = make_impact(&ball);
    const char *const expressions[] = {"Jn.A", "-1*Jn.A", "Jt.A", "-1*Jt.A"};
    const double known[] = {0, 0, 1, -1};
    for (int i = 0; i < 4; i++) {
        const carom_bound bound = bound_expression(impact, expressions[i], 2);
        assert_int_equal(bound.method, CAROM_BOUND_FAN);
        assert_close(bound.upper, known[i], 1e-9);
    }
    carom_impact_free(impact);
    // Impulses along the normals turn this one, and push it up; they do not push it along the floor.
    impact = make_impact(&feet);
    assert_close(bound_expression(impact, "v.1", 2).upper, 0, 1e-9);
    assert_close(bound_expression(impact, "-1*v.1", 2).upper, 0, 1e-9);
    carom_impact_free(impact);
}

// Normals that differ by less than doubles tell apart: the bound by energy and a reason, not a lack of memory.
static void rows_that_nearly_depend_have_a_reason(void **state) {
    needs_fans(state);
    const text_scene near = {3, 2, "1 0 0 0 1 0 0 0 1", "0 1 0 1/1000000000 1 0", "1 0 0 1 0 1", "1/2 1/2", "0.25 -1 0.5"};
    carom_impact *impact = make_impact(&near);
    const char *const expressions[] = {"Jn.A", "Jn.A - Jn.B", "v.1"};
    for (int i = 0; i < 3; i++) {
        const carom_bound bound = bound_expression(impact, expressions[i], 2);
        assert_int_equal(bound.method, CAROM_BOUND_ENERGY);
        assert_non_null(strstr(bound.reason, "depend on each other"));
        assert_true(isfinite(bound.upper));
    }
    carom_impact_free(impact);
}

// A contact whose rows the grid of far larger ones would change: the rounded problem would be another one.
static void rows_that_rounding_changes_have_a_reason(void **state) {
    needs_fans(state);
    const double mass[4] = {1, 0, 0, 1}, normal[4] = {1e9, 0, 0.3, 0.7}, friction[2] = {0.5, 0.5}, velocity[2] = {-1, -1};
    const carom_impact_data data = {
        .nv = 2, .contacts = 2, .tangent_dim = 1, .mass = mass, .normal = normal, .friction = friction, .velocity = velocity};
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create(&data, &impact, &error), error);
    const carom_bound bound = bound_expression(impact, "v.2", 2);
    assert_int_equal(bound.method, CAROM_BOUND_ENERGY);
    assert_non_null(strstr(bound.reason, "far larger"));
    carom_impact_free(impact);
}

static void bad_questions_are_refused(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&block);
    carom_functional functional;
    carom_error error;
    carom_bound bound;
    carom_bound_options options = carom_bound_defaults();
    assert_ok(carom_functional_parse(impact, "Pn.A", &functional, &error), error);
    assert_refused(carom_bound_solve(impact, &functional, &options, -INFINITY, NULL, &bound, &error), CAROM_BAD_INPUT, error, "impulses");
    carom_functional_release(&functional);
    assert_ok(carom_functional_parse(impact, "Jn.A", &functional, &error), error);
    options.planes = -1;
    assert_refused(carom_bound_solve(impact, &functional, &options, -INFINITY, NULL, &bound, &error), CAROM_BAD_INPUT, error, "planes");
    options = carom_bound_defaults();
    options.seconds = 0;
    assert_refused(carom_bound_solve(impact, &functional, &options, -INFINITY, NULL, &bound, &error), CAROM_BAD_INPUT, error, "seconds");
    options = carom_bound_defaults();
    options.hypothesis = CAROM_BOUND_POISSON;
    options.restitution = (carom_interval){0, 0.5};
    assert_refused(carom_bound_solve(impact, &functional, &options, -INFINITY, NULL, &bound, &error), CAROM_BAD_INPUT, error, "energy");
    options.restitution = (carom_interval){0.5, 1.5};
    assert_refused(carom_bound_solve(impact, &functional, &options, -INFINITY, NULL, &bound, &error), CAROM_BAD_INPUT, error,
                   "restitution");
    carom_functional_release(&functional);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_sets_are_bounded_closely),
        cmocka_unit_test(no_solution_passes_a_bound),
        cmocka_unit_test(no_walk_in_space_passes_a_bound),
        cmocka_unit_test(bounds_hold_where_rows_are_dependent),
        cmocka_unit_test(two_contacts_are_bounded_closely),
        cmocka_unit_test(bounds_do_not_depend_on_how_the_impact_is_written),
        cmocka_unit_test(joints_are_bounded),
        cmocka_unit_test(energy_bounds_hold),
        cmocka_unit_test(an_impact_that_has_ended_stays),
        cmocka_unit_test(forces_that_cancel_are_said),
        cmocka_unit_test(planes_that_do_not_span_are_met),
        cmocka_unit_test(rows_that_nearly_depend_have_a_reason),
        cmocka_unit_test(rows_that_rounding_changes_have_a_reason),
        cmocka_unit_test(bad_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
