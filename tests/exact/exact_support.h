// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of exact sets share: scenes in rational numbers, questions, and comparisons of sets.
#ifndef CAROM_TESTS_EXACT_SUPPORT_H
#define CAROM_TESTS_EXACT_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

// ------------------------------------------------------------------------------------------------------------- scenes

enum { MOST_NUMBERS = 64 };

/// An impact of numbers as text, with blanks between them.
typedef struct text_scene {
    int nv, contacts;
    const char *mass, *normal, *tangent, *friction, *velocity;
} text_scene;

/// The numbers of one array, as texts and as doubles.
typedef struct numbers {
    char *copy;
    const char *texts[MOST_NUMBERS];
    double values[MOST_NUMBERS];
} numbers;

static inline void split_numbers(const char *text, int count, numbers *split) {
    split->copy = strdup(text);
    char *rest = NULL, *next = strtok_r(split->copy, " ", &rest);
    for (int i = 0; i < count; i++, next = strtok_r(NULL, " ", &rest)) {
        assert_non_null(next);
        split->texts[i] = next;
        const char *slash = strchr(next, '/');
        split->values[i] = slash ? strtod(next, NULL) / strtod(slash + 1, NULL) : strtod(next, NULL);
    }
    assert_null(next);
}

static inline carom_impact *make_exact_impact(const carom_impact_data *data, const carom_impact_texts *texts) {
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create_exact(data, texts, &impact, &error), error);
    return impact;
}

/// @param e  coefficients of restitution as text; NULL for none
static inline carom_impact *make_bouncing_impact(const text_scene *scene, const char *e) {
    numbers mass, normal, tangent, friction, velocity, restitution = {0};
    if (e) split_numbers(e, scene->contacts, &restitution);
    split_numbers(scene->mass, scene->nv * scene->nv, &mass);
    split_numbers(scene->normal, scene->contacts * scene->nv, &normal);
    split_numbers(scene->tangent, scene->contacts * scene->nv, &tangent);
    split_numbers(scene->friction, scene->contacts, &friction);
    split_numbers(scene->velocity, scene->nv, &velocity);
    const carom_impact_texts texts = {mass.texts,     normal.texts,   tangent.texts,
                                      friction.texts, velocity.texts, e ? restitution.texts : NULL};
    const carom_impact_data data = {.nv = scene->nv,
                                    .contacts = scene->contacts,
                                    .tangent_dim = 1,
                                    .mass = mass.values,
                                    .normal = normal.values,
                                    .tangent = tangent.values,
                                    .friction = friction.values,
                                    .restitution = e ? restitution.values : NULL,
                                    .velocity = velocity.values};
    carom_impact *impact = make_exact_impact(&data, &texts);
    numbers *all[] = {&mass, &normal, &tangent, &friction, &velocity, &restitution};
    for (int i = 0; i < 6; i++) free(all[i]->copy);
    return impact;
}

static inline carom_impact *make_impact(const text_scene *scene) { return make_bouncing_impact(scene, NULL); }

static const text_scene block = {3, 2, "1 0 0 0 1 0 0 0 5/12", "0 1 -1/2 0 1 1/2", "1 0 1 1 0 1", "1 1", "0 -0.4429 0"};
/// Turned by -10 degrees: tan 5 = 193/2206 to 1e-8.
static const text_scene boxwall = {
    3, 2, "1 0 0 0 1 0 0 0 1/6", "0 1 3977671/9807370 -1 0 3977671/9807370", "1 0 5680703/9807370 0 1 5680703/9807370", "1 1", "1 0 0"};
/// 78 degrees: tan 39 = 3112/3843 to 1e-8.
static const text_scene compass = {4,
                                   2,
                                   "2 0 -5084105/48906386 -5084105/48906386 0 2 11959416/24453193 -11959416/24453193 "
                                   "-5084105/48906386 11959416/24453193 1/4 0 -5084105/48906386 -11959416/24453193 0 1/4",
                                   "0 1 0 -23918832/24453193 0 1 23918832/24453193 0",
                                   "1 0 0 -5084105/24453193 1 0 -5084105/24453193 0",
                                   "5 5",
                                   "5084105/97812772 -5979708/24453193 1/4 1/4"};

// -------------------------------------------------------------------------------------------------------------- asking

static inline carom_exact_set *solve(const carom_impact *impact, const carom_exact_options *options) {
    carom_exact_set *set;
    carom_error error;
    assert_ok(carom_exact_solve(impact, options, NULL, &set, &error), error);
    return set;
}

static inline carom_exact_set *solve_mode(const carom_impact *impact, carom_exact_mode mode) {
    carom_exact_options options = carom_exact_defaults();
    options.mode = (int)mode;
    return solve(impact, &options);
}

static inline carom_exact_set *solve_scene(const text_scene *scene) {
    carom_impact *impact = make_impact(scene);
    carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION);
    carom_impact_free(impact);
    return set;
}

/// By how much a point leaves a piece, at most; constraints have a largest coefficient of one.
static inline double excess(const carom_polyhedra *set, const carom_piece *piece, const double *u) {
    double worst = 0;
    for (int k = 0; k < piece->equalities + piece->inequalities; k++) {
        const bool equality = k < piece->equalities;
        const double *row = equality ? piece->equality + k * (set->n + 1) : piece->inequality + (k - piece->equalities) * (set->n + 1);
        double value = row[set->n];
        for (int i = 0; i < set->n; i++) value += row[i] * u[i];
        worst = fmax(worst, equality ? fabs(value) : -value);
    }
    return worst;
}

static inline double distance_out(const carom_polyhedra *set, const double *u) {
    double least = INFINITY;
    for (int i = 0; i < set->count; i++) least = fmin(least, excess(set, &set->pieces[i], u));
    return least;
}

/// Vertices, edge midpoints and centres of one set lie in the other.
static inline double worst_excess(const carom_polyhedra *inner, const carom_polyhedra *outer) {
    double worst = 0, point[16];
    assert_true(inner->n <= 16);
    for (int p = 0; p < inner->count; p++) {
        const carom_piece *piece = &inner->pieces[p];
        for (int a = 0; a < piece->vertices; a++)
            for (int b = a; b < piece->vertices; b++) {
                for (int i = 0; i < inner->n; i++)
                    point[i] = (piece->contact_velocity[a * inner->n + i] + piece->contact_velocity[b * inner->n + i]) / 2;
                worst = fmax(worst, distance_out(outer, point));
            }
    }
    return worst;
}

// --------------------------------------------------------------------------------------------------- reference sets

static inline void assert_same_set(const carom_polyhedra *first, const carom_polyhedra *second, double tolerance) {
    assert_true(worst_excess(first, second) <= tolerance);
    assert_true(worst_excess(second, first) <= tolerance);
}

// -------------------------------------------------------------------------------------------------------- without PPL

static inline void needs_ppl(void **state) {
    (void)state;
    skip();
}

/// Stands for the tests of a program that has nothing to test without PPL.
static inline int skip_all(void) {
    const struct CMUnitTest nothing[] = {cmocka_unit_test(needs_ppl)};
    return cmocka_run_group_tests(nothing, NULL, NULL);
}

#endif
