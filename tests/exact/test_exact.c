// SPDX-License-Identifier: Apache-2.0
// Exact sets: reference sets in rational numbers, symmetries, outer sets, budgets, and the command.
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

// ------------------------------------------------------------------------------------------------------------- scenes

enum { MOST_NUMBERS = 64 };

// An impact of numbers as text, with blanks between them.
typedef struct text_scene {
    int nv, contacts;
    const char *mass, *normal, *tangent, *friction, *velocity;
} text_scene;

// The numbers of one array, as texts and as doubles.
typedef struct numbers {
    char *copy;
    const char *texts[MOST_NUMBERS];
    double values[MOST_NUMBERS];
} numbers;

static void split_numbers(const char *text, int count, numbers *split) {
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

static carom_impact *make_exact_impact(const carom_impact_data *data, const carom_impact_texts *texts) {
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create_exact(data, texts, &impact, &error), error);
    return impact;
}

static carom_impact *make_impact(const text_scene *scene) {
    numbers mass, normal, tangent, friction, velocity;
    split_numbers(scene->mass, scene->nv * scene->nv, &mass);
    split_numbers(scene->normal, scene->contacts * scene->nv, &normal);
    split_numbers(scene->tangent, scene->contacts * scene->nv, &tangent);
    split_numbers(scene->friction, scene->contacts, &friction);
    split_numbers(scene->velocity, scene->nv, &velocity);
    const carom_impact_texts texts = {mass.texts, normal.texts, tangent.texts, friction.texts, velocity.texts};
    const carom_impact_data data = {.nv = scene->nv,
                                    .contacts = scene->contacts,
                                    .tangent_dim = 1,
                                    .mass = mass.values,
                                    .normal = normal.values,
                                    .tangent = tangent.values,
                                    .friction = friction.values,
                                    .velocity = velocity.values};
    carom_impact *impact = make_exact_impact(&data, &texts);
    numbers *all[] = {&mass, &normal, &tangent, &friction, &velocity};
    for (int i = 0; i < 5; i++) free(all[i]->copy);
    return impact;
}

static const text_scene block = {3, 2, "1 0 0 0 1 0 0 0 5/12", "0 1 -1/2 0 1 1/2", "1 0 1 1 0 1", "1 1", "0 -0.4429 0"};
// Turned by -10 degrees: tan 5 = 193/2206 to 1e-8.
static const text_scene boxwall = {
    3, 2, "1 0 0 0 1 0 0 0 1/6", "0 1 3977671/9807370 -1 0 3977671/9807370", "1 0 5680703/9807370 0 1 5680703/9807370", "1 1", "1 0 0"};
// 78 degrees: tan 39 = 3112/3843 to 1e-8.
static const text_scene compass = {4,
                                   2,
                                   "2 0 -5084105/48906386 -5084105/48906386 0 2 11959416/24453193 -11959416/24453193 "
                                   "-5084105/48906386 11959416/24453193 1/4 0 -5084105/48906386 -11959416/24453193 0 1/4",
                                   "0 1 0 -23918832/24453193 0 1 23918832/24453193 0",
                                   "1 0 0 -5084105/24453193 1 0 -5084105/24453193 0",
                                   "5 5",
                                   "5084105/97812772 -5979708/24453193 1/4 1/4"};

// -------------------------------------------------------------------------------------------------------------- asking

static carom_exact_set *solve(const carom_impact *impact, const carom_exact_options *options) {
    carom_exact_set *set;
    carom_error error;
    assert_ok(carom_exact_solve(impact, options, NULL, &set, &error), error);
    return set;
}

static carom_exact_set *solve_mode(const carom_impact *impact, carom_exact_mode mode) {
    carom_exact_options options = carom_exact_defaults();
    options.mode = (int)mode;
    return solve(impact, &options);
}

static carom_exact_set *solve_scene(const text_scene *scene) {
    carom_impact *impact = make_impact(scene);
    carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION);
    carom_impact_free(impact);
    return set;
}

// By how much a point leaves a piece, at most; constraints have a largest coefficient of one.
static double excess(const carom_polyhedra *set, const carom_piece *piece, const double *u) {
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

static double distance_out(const carom_polyhedra *set, const double *u) {
    double least = INFINITY;
    for (int i = 0; i < set->count; i++) least = fmin(least, excess(set, &set->pieces[i], u));
    return least;
}

// Vertices, edge midpoints and centres of one set lie in the other.
static double worst_excess(const carom_polyhedra *inner, const carom_polyhedra *outer) {
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

// The set's pieces are polytopes with these vertices, in any order.
static void assert_vertices(const carom_exact_set *set, int count, const double *expected, double tolerance) {
    assert_int_equal(set->status, CAROM_EXACT_OK);
    const carom_polyhedra *pieces = set->pieces;
    int found = 0;
    for (int p = 0; p < pieces->count; p++)
        for (int k = 0; k < pieces->pieces[p].vertices; k++) {
            const double *u = pieces->pieces[p].contact_velocity + k * pieces->n;
            bool known = false;
            for (int e = 0; e < count && !known; e++) {
                double apart = 0;
                for (int i = 0; i < pieces->n; i++) apart = fmax(apart, fabs(u[i] - expected[e * pieces->n + i]));
                known = apart <= tolerance;
            }
            assert_true(known);
            found++;
        }
    assert_int_equal(found, count);
}

// --------------------------------------------------------------------------------------------------- reference sets

// Two segments from rest; k v0 = 0.21 x 0.4429 in the closed form, exactly.
static void block_lifts_either_corner(void **state) {
    (void)state;
    static const double vertices[] = {0, 0, 0, 0, 0.093009, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.093009, 0};
    static const char *const frictions[] = {"1 1", "1/2 0.5", "2 2"};
    for (int i = 0; i < 3; i++) {
        text_scene scene = block;
        scene.friction = frictions[i];
        carom_exact_set *set = solve_scene(&scene);
        assert_vertices(set, 4, vertices, 1e-15);
        assert_int_equal(set->pieces->count, 2);
        assert_int_equal(set->dimension, 3);
        assert_true(set->data_change == 0);
        int exact = 0;
        for (int p = 0; p < 2; p++) {
            assert_int_equal(set->pieces->pieces[p].dimension, 1);
            for (int k = 0; k < 8; k++) exact += !strcmp(set->pieces->pieces[p].exact[k], "93009/1000000");
        }
        assert_int_equal(exact, 2);
        // the work: more than this means that pieces are no longer recognised as known
        assert_true(set->elapses <= 40);
        carom_exact_set_free(set);
    }
}

static void moving_block_lifts_one_corner(void **state) {
    (void)state;
    static const double vertices[] = {0.04713, 0, 0, 0, 0.219009, 0, 0, 0};
    text_scene scene = block;
    scene.velocity = "0.3 -0.4429 0";
    carom_exact_set *set = solve_scene(&scene);
    assert_vertices(set, 2, vertices, 1e-15);
    carom_exact_set_free(set);
}

// 2 h^2 <= w^2: the only outcome is rest.
static void flat_block_stays(void **state) {
    (void)state;
    static const double rest[] = {0, 0, 0, 0};
    const text_scene flat = {3, 2, "1 0 0 0 1 0 0 0 5/48", "0 1 -1/2 0 1 1/2", "1 0 1/4 1 0 1/4", "2 2", "0 -1 0"};
    carom_exact_set *set = solve_scene(&flat);
    assert_vertices(set, 1, rest, 0);
    carom_exact_set_free(set);
}

static void boxwall_is_a_triangle(void **state) {
    (void)state;
    static const double vertices[] = {0, 0, 0, 0, 0, 0.372097803, 0, 0.065610885, 0, 0.305764777, 0.10564229, 0.0725421692};
    carom_exact_set *set = solve_scene(&boxwall);
    assert_vertices(set, 3, vertices, 1e-9);
    assert_int_equal(set->pieces->pieces[0].dimension, 2);
    carom_exact_set_free(set);
    // turned the other way, a single outcome
    static const double point[] = {0.599127172, -0.10564229, 0, 0};
    text_scene turned = boxwall;
    turned.normal = "0 1 -3977671/9807370 -1 0 -3977671/9807370";
    set = solve_scene(&turned);
    assert_vertices(set, 1, point, 1e-9);
    carom_exact_set_free(set);
}

static void compass_is_two_triangles(void **state) {
    (void)state;
    static const double vertices[] = {0, 0, 0, 0, 0, 0.0691922441, 0, 0, 0.037450441,  0.0744905857, 0, 0, 0, 0,
                                      0, 0, 0, 0, 0, -0.128490445, 0, 0, 0.0995551492, -0.198019601};
    carom_exact_set *set = solve_scene(&compass);
    assert_vertices(set, 6, vertices, 1e-9);
    assert_int_equal(set->dimension, 4);
    assert_true(set->elapses <= 80);
    carom_exact_set_free(set);
    static const double point[] = {0, 0.135397751, 0.28693883, -0.170458232};
    text_scene slippery = compass;
    slippery.friction = "1 1";
    set = solve_scene(&slippery);
    assert_vertices(set, 1, point, 1e-9);
    carom_exact_set_free(set);
}

static void three_contacts(void **state) {
    (void)state;
    const text_scene cornered = {3,         3, "1 0 0 0 1 0 0 0 5/12", "0 1 -1/2 0 1 1/2 -1 0 -1", "1 0 1 1 0 1 0 1 1/2", "1/2 1/2 1/2",
                                 "1 -1/4 0"};
    static const double segment[] = {0.525, 0, 0, 0, 0, 0, 0.593181818181818, 0, 0, 0, 0, 0};
    carom_exact_set *set = solve_scene(&cornered);
    assert_vertices(set, 2, segment, 1e-14);
    carom_exact_set_free(set);
    // two touching disks on a floor, the left one sliding
    const text_scene disks = {6,
                              3,
                              "1 0 0 0 0 0 0 1 0 0 0 0 0 0 1/2 0 0 0 0 0 0 1 0 0 0 0 0 0 1 0 0 0 0 0 0 1/2",
                              "0 1 0 0 0 0 0 0 0 0 1 0 -1 0 0 1 0 0",
                              "1 0 1 0 0 0 0 0 0 1 0 1 0 -1 -1 0 1 -1",
                              "1/2 1/2 1/2",
                              "1 0 0 0 0 0"};
    static const double point[] = {0, 0.5, 0, 0.5, 0, 0};
    set = solve_scene(&disks);
    assert_vertices(set, 1, point, 0);
    assert_int_equal(set->dimension, 6);
    carom_exact_set_free(set);
}

// Doubles are rounded to the grid, which the sets follow.
static void doubles_give_nearly_the_same(void **state) {
    (void)state;
    const carom_impact_data *scenes[] = {&reference_block, &reference_boxwall, &reference_compass, &reference_ramone};
    for (int i = 0; i < 4; i++) {
        carom_impact *impact = support_impact(scenes[i]);
        carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION), *outer = solve_mode(impact, CAROM_EXACT_HULL);
        assert_int_equal(set->status, CAROM_EXACT_OK);
        assert_int_equal(outer->status, CAROM_EXACT_OK);
        assert_true(set->data_change > 0 && set->data_change <= 0x1p-40);
        assert_true(worst_excess(set->pieces, outer->pieces) <= 1e-12);
        carom_exact_set_free(set);
        carom_exact_set_free(outer);
        carom_impact_free(impact);
    }
    carom_impact *impact = support_impact(&reference_compass);
    carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION);
    // Anitescu-Potra's solutions of the compass gait are three of the vertices; tangents point the other way there
    static const double lift[] = {0, 0, 0.099555175630902715, 0.19801960392433349}, slide[] = {0, 0, 0, 0.12849043251361725};
    assert_true(distance_out(set->pieces, lift) <= 1e-8);
    assert_true(distance_out(set->pieces, slide) <= 1e-8);
    carom_exact_set_free(set);
    carom_impact_free(impact);
}

static void assert_same_set(const carom_polyhedra *first, const carom_polyhedra *second, double tolerance) {
    assert_true(worst_excess(first, second) <= tolerance);
    assert_true(worst_excess(second, first) <= tolerance);
}

// Equal tangents that round-off parts on both sides of the middle between two points of the grid: they are meant to be equal.
static void round_off_does_not_part_equal_rows(void **state) {
    (void)state;
    const double middle = 1 + 0x1p-41, tangent[] = {1, 0, middle + 0x1p-50, 1, 0, middle - 0x1p-50};
    carom_impact_data data = reference_block;
    data.tangent = tangent;
    carom_impact *clean = support_impact(&reference_block), *noisy = support_impact(&data);
    carom_exact_set *expected = solve_mode(clean, CAROM_EXACT_UNION), *set = solve_mode(noisy, CAROM_EXACT_UNION);
    assert_int_equal(set->elapses, expected->elapses);
    assert_same_set(set->pieces, expected->pieces, 1e-11);
    carom_exact_set_free(expected);
    carom_exact_set_free(set);
    carom_impact_free(clean);
    carom_impact_free(noisy);
}

// --------------------------------------------------------------------------------------------------------- invariants

// V(a v0) = a V(v0).
static void sets_scale_with_the_velocity(void **state) {
    (void)state;
    text_scene scaled = compass;
    scaled.velocity = "35588735/97812772 -41857956/24453193 7/4 7/4";
    carom_exact_set *one = solve_scene(&compass), *seven = solve_scene(&scaled);
    for (int p = 0; p < seven->pieces->count; p++) {
        carom_piece *piece = &seven->pieces->pieces[p];
        for (int i = 0; i < piece->vertices * 4; i++) piece->contact_velocity[i] /= 7;
    }
    assert_int_equal(one->pieces->count, seven->pieces->count);
    assert_true(worst_excess(seven->pieces, one->pieces) <= 1e-15);
    carom_exact_set_free(one);
    carom_exact_set_free(seven);
}

// Exchanges the contacts' velocities and turns the slips around.
static void exchange(carom_polyhedra *set) {
    for (int p = 0; p < set->count; p++)
        for (int k = 0; k < set->pieces[p].vertices; k++) {
            double *u = set->pieces[p].contact_velocity + k * 4;
            const double exchanged[4] = {u[2], -u[3], u[0], -u[1]};
            memcpy(u, exchanged, sizeof exchanged);
        }
}

static void contacts_and_tangents_may_be_exchanged(void **state) {
    (void)state;
    text_scene other = compass;
    other.normal = "0 1 23918832/24453193 0 0 1 0 -23918832/24453193";
    other.tangent = "-1 0 5084105/24453193 0 -1 0 0 5084105/24453193";
    carom_exact_set *set = solve_scene(&compass), *exchanged = solve_scene(&other);
    exchange(exchanged->pieces);
    assert_int_equal(exchanged->status, CAROM_EXACT_OK);
    assert_true(worst_excess(exchanged->pieces, set->pieces) <= 1e-15);
    exchange(exchanged->pieces);
    exchange(set->pieces);
    assert_true(worst_excess(set->pieces, exchanged->pieces) <= 1e-15);
    carom_exact_set_free(set);
    carom_exact_set_free(exchanged);
}

// The block is its own mirror image.
static void the_block_is_symmetric(void **state) {
    (void)state;
    carom_exact_set *set = solve_scene(&block), *mirrored = solve_scene(&block);
    exchange(mirrored->pieces);
    assert_true(worst_excess(mirrored->pieces, set->pieces) <= 1e-15);
    carom_exact_set_free(set);
    carom_exact_set_free(mirrored);
}

static void repeating_a_contact_changes_nothing(void **state) {
    (void)state;
    const text_scene repeated = {3,
                                 3,
                                 "1 0 0 0 1 0 0 0 1/6",
                                 "0 1 3977671/9807370 -1 0 3977671/9807370 0 1 3977671/9807370",
                                 "1 0 5680703/9807370 0 1 5680703/9807370 1 0 5680703/9807370",
                                 "1 1 1",
                                 "1 0 0"};
    static const double vertices[] = {
        0, 0, 0, 0, 0, 0, 0, 0.372097803, 0, 0.065610885, 0, 0.372097803, 0, 0.305764777, 0.10564229, 0.0725421692, 0, 0.305764777};
    carom_exact_set *set = solve_scene(&repeated);
    assert_vertices(set, 3, vertices, 1e-9);
    carom_exact_set_free(set);
}

// Energy never grows: vertices have at most that of the start.
static void vertices_dissipate(void **state) {
    (void)state;
    const text_scene *scenes[] = {&block, &boxwall, &compass};
    for (int i = 0; i < 3; i++) {
        carom_impact *impact = make_impact(scenes[i]);
        carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION);
        const double before = carom_impact_initial_energy(impact), *u;
        double normal[2], velocity[4];
        for (int p = 0; p < set->pieces->count; p++)
            for (int k = 0; k < set->pieces->pieces[p].vertices; k++) {
                const double *v = set->pieces->pieces[p].velocity + k * set->pieces->nv;
                assert_true(carom_impact_kinetic_energy(impact, v) <= before * (1 + 1e-12));
                // velocities and contact velocities are the same points
                u = set->pieces->pieces[p].contact_velocity + k * 4;
                carom_impact_contact_velocity(impact, v, velocity);
                assert_all_close(velocity, u, 4, 1e-14);
                normal[0] = u[0];
                normal[1] = u[2];
                assert_true(fmin(normal[0], normal[1]) == 0);
            }
        carom_exact_set_free(set);
        carom_impact_free(impact);
    }
}

// --------------------------------------------------------------------------------------------------------- outer sets

// The distance of V_eps to V shrinks with eps: nothing is missed.
static void overlapping_cells_close_in(void **state) {
    (void)state;
    double farthest[2];
    for (int i = 0; i < 2; i++) {
        carom_impact *impact = make_impact(&block);
        carom_exact_options options = carom_exact_defaults();
        options.mode = CAROM_EXACT_EPS;
        // a width of 1e-3 m/s, and a tenth of it
        options.cover = (i ? 1e-4 : 1e-3) / 0.4429;
        carom_exact_set *outer = solve(impact, &options), *set = solve_mode(impact, CAROM_EXACT_UNION);
        assert_int_equal(outer->status, CAROM_EXACT_OK);
        assert_true(worst_excess(set->pieces, outer->pieces) <= 1e-15);
        farthest[i] = 0;
        for (int p = 0; p < outer->pieces->count; p++)
            for (int k = 0; k < outer->pieces->pieces[p].vertices; k++) {
                const double *u = outer->pieces->pieces[p].contact_velocity + 4 * k;
                // to the two segments along Jn.A and Jn.B
                const double a = u[0] - fmin(fmax(u[0], 0), 0.093009), b = u[2] - fmin(fmax(u[2], 0), 0.093009);
                const double slips = u[1] * u[1] + u[3] * u[3];
                farthest[i] = fmax(farthest[i], sqrt(fmin(a * a + u[2] * u[2], b * b + u[0] * u[0]) + slips));
            }
        carom_exact_set_free(outer);
        carom_exact_set_free(set);
        carom_impact_free(impact);
    }
    assert_close(farthest[0], 2.638e-3, 1e-6);
    assert_true(fabs(farthest[0] / farthest[1] - 10) < 1e-3);
}

static void hulls_contain_the_set(void **state) {
    (void)state;
    const text_scene *scenes[] = {&block, &boxwall, &compass};
    for (int i = 0; i < 3; i++) {
        carom_impact *impact = make_impact(scenes[i]);
        carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION), *hull = solve_mode(impact, CAROM_EXACT_HULL);
        assert_int_equal(hull->status, CAROM_EXACT_OK);
        assert_true(worst_excess(set->pieces, hull->pieces) <= 1e-15);
        // exact for the block and the box, too large for the compass
        if (i < 2) assert_same_set(set->pieces, hull->pieces, 1e-15);
        if (i == 2) assert_true(worst_excess(hull->pieces, set->pieces) > 1e-2);
        carom_exact_set_free(set);
        carom_exact_set_free(hull);
        carom_impact_free(impact);
    }
}

// A random impact with two contacts: M = AA' + 0.1 I, J and v standard normal, mu uniform.
static carom_impact *random_pair(uint64_t index, double most_friction) {
    enum { NV = 4 };
    carom_stream stream;
    carom_stream_start(&stream, 2024, index);
    double A[NV * NV], mass[NV * NV], normal[2 * NV], tangent[2 * NV], velocity[NV], friction[2];
    for (int i = 0; i < NV * NV; i++) A[i] = carom_stream_normal(&stream);
    for (int i = 0; i < NV; i++)
        for (int j = 0; j < NV; j++) {
            double sum = i == j ? 0.1 : 0;
            for (int k = 0; k < NV; k++) sum += A[i * NV + k] * A[j * NV + k];
            mass[i * NV + j] = sum;
        }
    for (int i = 0; i < 2 * NV; i++) normal[i] = carom_stream_normal(&stream);
    for (int i = 0; i < 2 * NV; i++) tangent[i] = carom_stream_normal(&stream);
    for (int i = 0; i < NV; i++) velocity[i] = carom_stream_normal(&stream);
    for (int i = 0; i < 2; i++) friction[i] = most_friction * carom_stream_uniform(&stream);
    const carom_impact_data data = {.nv = NV,
                                    .contacts = 2,
                                    .tangent_dim = 1,
                                    .mass = mass,
                                    .normal = normal,
                                    .tangent = tangent,
                                    .friction = friction,
                                    .velocity = velocity};
    return support_impact(&data);
}

static void random_pairs_finish(double most_friction, int count, int *unfinished, int *bounded) {
    for (int i = 0; i < count; i++) {
        carom_impact *impact = random_pair((uint64_t)i + (most_friction > 2 ? 1000 : 0), most_friction);
        carom_exact_options options = carom_exact_defaults();
        options.seconds = 5;
        carom_exact_set *set = solve(impact, &options), *hull = solve_mode(impact, CAROM_EXACT_HULL);
        const bool done = set->status == CAROM_EXACT_OK || set->status == CAROM_EXACT_TERMINAL_START;
        assert_true(done || set->status == CAROM_EXACT_INCOMPLETE);
        *unfinished += !done;
        *bounded += !done && hull->status == CAROM_EXACT_OK;
        if (hull->status == CAROM_EXACT_OK)
            assert_true(worst_excess(set->pieces, hull->pieces) <= 1e-9 * carom_impact_velocity_scale(impact));
        if (set->outer) assert_true(worst_excess(set->pieces, set->outer) <= 1e-9 * carom_impact_velocity_scale(impact));
        carom_exact_set_free(set);
        carom_exact_set_free(hull);
        carom_impact_free(impact);
    }
}

static void random_pairs_with_low_friction(void **state) {
    (void)state;
    int unfinished = 0, bounded = 0;
    const int count = support_count(5, 20, 100);
    random_pairs_finish(1.5, count, &unfinished, &bounded);
    // one of the hundred is a spiral to rest, which only the hull settles
    assert_true(50 * unfinished <= count);
    assert_int_equal(bounded, unfinished);
}

static void random_pairs_with_high_friction(void **state) {
    (void)state;
    int unfinished = 0, bounded = 0;
    random_pairs_finish(6, support_count(2, 8, 100), &unfinished, &bounded);
    assert_int_equal(bounded, unfinished);
}

// ------------------------------------------------------------------------------------------------------------- budgets

static void spent_budgets_leave_an_inner_set(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&compass);
    carom_exact_set *all = solve_mode(impact, CAROM_EXACT_UNION);
    for (int pieces = 1; pieces <= 17; pieces += 4) {
        carom_exact_options options = carom_exact_defaults();
        options.pieces = pieces;
        carom_exact_set *set = solve(impact, &options);
        assert_int_equal(set->status, CAROM_EXACT_INCOMPLETE);
        assert_non_null(strstr(set->reason, "--pieces"));
        assert_true(worst_excess(set->pieces, all->pieces) <= 1e-15);
        assert_non_null(set->outer);
        assert_true(worst_excess(all->pieces, set->outer) <= 1e-15);
        carom_exact_set_free(set);
    }
    carom_exact_options options = carom_exact_defaults();
    options.bits = 64;
    carom_exact_set *set = solve(impact, &options);
    assert_int_equal(set->status, CAROM_EXACT_INCOMPLETE);
    assert_non_null(strstr(set->reason, "--bits"));
    carom_exact_set_free(set);
    carom_exact_set_free(all);
    carom_impact_free(impact);
}

// Five contacts do not finish, but end in time, with a bound.
static void disks_end_in_time(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_disks);
    carom_exact_options options = carom_exact_defaults();
    options.seconds = 3;
    carom_exact_set *set = solve(impact, &options);
    assert_int_equal(set->status, CAROM_EXACT_INCOMPLETE);
    assert_true(set->seconds < 2 * options.seconds);
    assert_non_null(strstr(set->reason, "carom sample"));
    // under a sanitizer, on a busy machine, the time may not do for a bound; 0.2 s are enough otherwise
    if (set->outer) assert_true(worst_excess(set->pieces, set->outer) <= 1e-12);
    carom_exact_set_free(set);
    carom_impact_free(impact);
}

static bool always(void *user) {
    (void)user;
    return true;
}

static void a_run_can_be_stopped(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&compass);
    const carom_control control = {.cancelled = always};
    const carom_exact_options options = carom_exact_defaults();
    carom_exact_set *set;
    carom_error error;
    assert_ok(carom_exact_solve(impact, &options, &control, &set, &error), error);
    assert_int_equal(set->status, CAROM_EXACT_INCOMPLETE);
    assert_int_equal(set->elapses, 0);
    carom_exact_set_free(set);
    carom_impact_free(impact);
}

static void the_rounding_mode_is_the_callers(void **state) {
    (void)state;
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};
    for (int i = 0; i < 3; i++) {
        carom_impact *impact = make_impact(&block);
        fesetround(modes[i]);
        carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION);
        const int after = fegetround();
        fesetround(FE_TONEAREST);
        assert_int_equal(after, modes[i]);
        assert_int_equal(set->status, CAROM_EXACT_OK);
        assert_string_equal(set->pieces->pieces[0].exact[4], "93009/1000000");
        carom_exact_set_free(set);
        carom_impact_free(impact);
    }
}

// ----------------------------------------------------------------------------------------------------------- odd input

static void nothing_collides(void **state) {
    (void)state;
    text_scene rising = block;
    rising.velocity = "0 1/3 0";
    carom_exact_set *set = solve_scene(&rising);
    assert_int_equal(set->status, CAROM_EXACT_TERMINAL_START);
    assert_int_equal(set->pieces->count, 1);
    assert_string_equal(set->pieces->pieces[0].exact[0], "1/3");
    assert_close(set->pieces->pieces[0].velocity[1], 1.0 / 3, 0);
    carom_exact_set_free(set);
}

// Without friction every contact has one active state.
static void smooth_block_lifts_too(void **state) {
    (void)state;
    text_scene smooth = block;
    smooth.friction = "0 0";
    // W_AA = 8/5, W_AB = 2/5: a corner that stops alone leaves the other at 3/4 of its speed; the last one hit lifts the first by 3/16
    static const double vertices[] = {0, 0, 0, 0, 0.08304375, -0.08304375, 0,          -0.08304375,
                                      0, 0, 0, 0, 0,          0.08304375,  0.08304375, 0.08304375};
    carom_exact_set *set = solve_scene(&smooth);
    assert_vertices(set, 4, vertices, 1e-15);
    carom_exact_set_free(set);
}

// A contact problem without a mass matrix: the same set in contact space, although W has rank 3 in four rows.
static void delassus_gives_the_same_set(void **state) {
    (void)state;
    const text_scene *scenes[] = {&block, &boxwall, &compass};
    for (int i = 0; i < 3; i++) {
        carom_impact *system = make_impact(scenes[i]);
        const carom_impact_data *source = carom_impact_get_data(system);
        double velocity[4];
        carom_impact_contact_velocity(system, source->velocity, velocity);
        const carom_delassus_data data = {
            .contacts = 2, .tangent_dim = 1, .delassus = carom_impact_delassus(system), .velocity = velocity, .friction = source->friction};
        carom_impact *impact;
        carom_error error;
        assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
        carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION), *expected = solve_mode(system, CAROM_EXACT_UNION);
        assert_int_equal(set->status, CAROM_EXACT_OK);
        assert_int_equal(set->dimension, expected->dimension);
        assert_true(worst_excess(set->pieces, expected->pieces) <= 1e-8);
        carom_exact_set_free(set);
        carom_exact_set_free(expected);
        carom_impact_free(impact);
        carom_impact_free(system);
    }
}

static void odd_questions_are_refused(void **state) {
    (void)state;
    carom_error error;
    carom_exact_set *set;
    carom_exact_options options = carom_exact_defaults();
    carom_stream stream;
    carom_stream_start(&stream, 1, 1);
    carom_impact *spatial = support_random_impact(&stream, FAMILY_PLAIN, 2, 2, 1);
    assert_refused(carom_exact_solve(spatial, &options, NULL, &set, &error), CAROM_UNSUPPORTED, error, "planar");
    assert_null(set);
    carom_impact_free(spatial);
    carom_impact *impact = make_impact(&block);
    options.seconds = NAN;
    assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "seconds");
    options = carom_exact_defaults();
    options.cover = 2;
    assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "cover");
    carom_impact_free(impact);
}

// Texts are only believed when they are the numbers that they stand for.
static void texts_must_fit_their_numbers(void **state) {
    (void)state;
    static const char *const wrong[] = {"-0.4428", "-0,4429", "0x1p0", "1/0", "-44 29", "1e5000", "1e-99999999999999999999",
                                        "",        "-.",      "1/2/3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const double mass[] = {1}, normal[] = {1}, tangent[] = {0}, friction[] = {0}, velocity[] = {-0.4429};
        const char *const texts[] = {wrong[i]};
        const carom_impact_texts all = {.velocity = texts};
        const carom_impact_data data = {1, 1, 1, mass, normal, tangent, friction, NULL, velocity, NULL};
        carom_impact *impact = make_exact_impact(&data, &all);
        const carom_exact_options options = carom_exact_defaults();
        carom_exact_set *set;
        carom_error error;
        assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "v: the text");
        carom_impact_free(impact);
    }
}

static void many_contacts_are_too_large(void **state) {
    (void)state;
    enum { CONTACTS = CAROM_EXACT_MOST_CONTACTS + 1 };
    const double mass[] = {1, 0, 0, 1}, velocity[] = {0, -1};
    double normal[2 * CONTACTS] = {0}, tangent[2 * CONTACTS] = {0};
    for (int i = 0; i < CONTACTS; i++) normal[2 * i + 1] = tangent[2 * i] = 1;
    const carom_impact_data data = {
        .nv = 2, .contacts = CONTACTS, .tangent_dim = 1, .mass = mass, .normal = normal, .tangent = tangent, .velocity = velocity};
    carom_impact *impact = support_impact(&data);
    carom_exact_set *set = solve_mode(impact, CAROM_EXACT_UNION);
    assert_int_equal(set->status, CAROM_EXACT_TOO_LARGE);
    assert_int_equal(set->pieces->count, 0);
    carom_exact_set_free(set);
    carom_impact_free(impact);
}

// ------------------------------------------------------------------------------------------------- files, law, command

static int run_command(const char *arguments) {
    const char *build = getenv("CAROM_BUILD");
    char command[2048];
    snprintf(command, sizeof command, "%s/carom %s", build ? build : "build", arguments);
    return system(command);
}

static void a_file_gives_the_pieces_back(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char *scene = support_write_file(directory, "block.json",
                                     "{\"matrices\": {\"M\": [[1,0,0],[0,1,0],[0,0,\"5/12\"]], \"Jn\": [[0,1,\"-1/2\"],[0,1,\"1/2\"]],"
                                     " \"Jt\": [[1,0,1],[1,0,1]], \"mu\": [1,1], \"v\": [0,-0.4429,0]}}");
    char arguments[1024], path[512];
    snprintf(path, sizeof path, "%s/set.h5", directory);
    snprintf(arguments, sizeof arguments, "exact %s -o %s --export %s/set.txt --json > %s/set.json", scene, path, directory, directory);
    assert_int_equal(run_command(arguments), 0);
    carom_result *result;
    carom_error error;
    assert_ok(carom_result_open(path, &result, &error), error);
    carom_polyhedra *pieces;
    char certificate[CAROM_CERTIFICATE_SIZE];
    assert_ok(carom_result_read_polyhedra(result, 0, &pieces, certificate, &error), error);
    carom_result_close(result);
    assert_non_null(pieces);
    assert_string_equal(certificate, "exact");
    carom_exact_set *set = solve_scene(&block);
    assert_int_equal(pieces->count, 2);
    assert_same_set(pieces, set->pieces, 1e-15);
    carom_exact_set_free(set);
    carom_polyhedra_free(pieces);
    free(scene);
    support_remove_directory(directory);
}

// What a run that ran out of its budget knows: an inner set, and an outer one as a law of its own.
static void a_file_has_the_outer_set_too(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char arguments[1024], path[512], certificate[CAROM_CERTIFICATE_SIZE];
    snprintf(path, sizeof path, "%s/set.h5", directory);
    snprintf(arguments, sizeof arguments, "exact scenes/compass-matrices.yaml --pieces 30 -o %s > /dev/null", path);
    assert_int_equal(WEXITSTATUS(run_command(arguments)), 1);
    carom_result *result;
    carom_error error;
    carom_polyhedra *inner, *outer;
    assert_ok(carom_result_open(path, &result, &error), error);
    assert_int_equal(carom_result_laws(result), 2);
    assert_string_equal(carom_result_law_name(result, 1), carom_exact_outer_law.name);
    assert_ok(carom_result_read_polyhedra(result, 0, &inner, certificate, &error), error);
    assert_string_equal(certificate, "inner");
    assert_ok(carom_result_read_polyhedra(result, 1, &outer, certificate, &error), error);
    assert_string_equal(certificate, "outer");
    carom_result_close(result);
    assert_true(worst_excess(inner, outer) <= 1e-12);
    // and the whole set lies between them
    carom_exact_set *set = solve_scene(&compass);
    assert_true(worst_excess(set->pieces, outer) <= 1e-12);
    assert_true(worst_excess(set->pieces, inner) > 0.01);
    carom_exact_set_free(set);
    carom_polyhedra_free(inner);
    carom_polyhedra_free(outer);
    support_remove_directory(directory);
}

static void an_outer_set_is_not_made_up(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&block);
    carom_registry *registry;
    carom_error error;
    carom_answer answer;
    carom_exact_options options = carom_exact_defaults();
    carom_exact_set *set = solve(impact, &options);
    assert_ok(carom_registry_create(&registry, &error), error);
    options.set = &set;
    assert_refused(carom_law_resolve(&carom_exact_outer_law, &(carom_law_call){.impact = impact, .options = &options}, &answer, &error),
                   CAROM_BAD_INPUT, error, "no outer set");
    carom_exact_set_free(set);
    carom_registry_free(registry);
    carom_impact_free(impact);
}

static bool file_contains(const char *path, const char *text) {
    char content[1 << 16];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t size = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    content[size] = '\0';
    return strstr(content, text);
}

// Samples over the set in one picture; a comparison asks for the set where it may be had.
static void pictures_and_comparisons_show_the_set(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char arguments[1024], path[512];
    snprintf(arguments, sizeof arguments, "exact scenes/boxwall.yaml -o %s/set.h5 > /dev/null", directory);
    assert_int_equal(run_command(arguments), 0);
    snprintf(arguments, sizeof arguments, "sample scenes/boxwall.yaml --samples 64 -o %s/samples.h5 > /dev/null", directory);
    assert_int_equal(run_command(arguments), 0);
    snprintf(arguments, sizeof arguments, "sample scenes/boxwall.yaml --sampler walk --samples 32 -o %s/walks.h5 > /dev/null", directory);
    assert_int_equal(run_command(arguments), 0);
    snprintf(arguments, sizeof arguments, "plot %s/set.h5 --overlay %s/samples.h5,%s/walks.h5 --axes Jt.A,Jn.B -o %s/set.svg > /dev/null",
             directory, directory, directory, directory);
    assert_int_equal(run_command(arguments), 0);
    snprintf(path, sizeof path, "%s/set.svg", directory);
    assert_true(file_contains(path, "halm-posa-exact (the set, 1 piece)"));
    assert_true(file_contains(path, "inner approximation, 64 samples"));
    assert_true(file_contains(path, "inner approximation, 32 walks"));
    snprintf(path, sizeof path, "%s/compare.json", directory);
    snprintf(arguments, sizeof arguments, "compare scenes/boxwall.yaml --samples 64 --json > %s", path);
    assert_int_equal(run_command(arguments), 0);
    assert_true(file_contains(path, "halm-posa-exact"));
    snprintf(arguments, sizeof arguments, "compare scenes/cube-k4.yaml --samples 64 --json > %s", path);
    assert_int_equal(run_command(arguments), 0);
    assert_false(file_contains(path, "halm-posa-exact"));
    support_remove_directory(directory);
}

static void the_command_reports(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char *scene =
        support_write_file(directory, "compass.json", "{\"delassus\": {\"W\": [[1, 0.2], [0.2, 1]], \"u\": [-1, 0.5], \"mu\": [0.5]}}");
    char arguments[1024];
    snprintf(arguments, sizeof arguments, "exact %s --json > %s/out.json", scene, directory);
    assert_int_equal(run_command(arguments), 0);
    snprintf(arguments, sizeof arguments, "exact %s --pieces 1 > %s/out.txt", scene, directory);
    assert_int_equal(WEXITSTATUS(run_command(arguments)), 1);
    snprintf(arguments, sizeof arguments, "exact %s --mode wrong 2> %s/err.txt", scene, directory);
    assert_int_equal(WEXITSTATUS(run_command(arguments)), 2);
    // two outputs need two files
    snprintf(arguments, sizeof arguments, "exact %s -o %s/both --export %s/both 2> %s/err.txt", scene, directory, directory, directory);
    assert_int_equal(WEXITSTATUS(run_command(arguments)), 2);
    snprintf(arguments, sizeof arguments, "%s/both", directory);
    assert_int_equal(access(arguments, F_OK), -1);
    // a scene is not replaced by an export
    snprintf(arguments, sizeof arguments, "exact %s --export %s 2> %s/err.txt", scene, scene, directory);
    assert_int_equal(WEXITSTATUS(run_command(arguments)), 2);
    free(scene);
    support_remove_directory(directory);
}

static void absence_is_said(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&block);
    const carom_exact_options options = carom_exact_defaults();
    carom_exact_set *set;
    carom_error error;
    assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_UNSUPPORTED, error, "libppl-dev");
    carom_impact_free(impact);
    assert_int_equal(WEXITSTATUS(run_command("resolve --list > /dev/null")), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_lifts_either_corner),
        cmocka_unit_test(moving_block_lifts_one_corner),
        cmocka_unit_test(flat_block_stays),
        cmocka_unit_test(boxwall_is_a_triangle),
        cmocka_unit_test(compass_is_two_triangles),
        cmocka_unit_test(three_contacts),
        cmocka_unit_test(doubles_give_nearly_the_same),
        cmocka_unit_test(round_off_does_not_part_equal_rows),
        cmocka_unit_test(sets_scale_with_the_velocity),
        cmocka_unit_test(contacts_and_tangents_may_be_exchanged),
        cmocka_unit_test(the_block_is_symmetric),
        cmocka_unit_test(repeating_a_contact_changes_nothing),
        cmocka_unit_test(vertices_dissipate),
        cmocka_unit_test(overlapping_cells_close_in),
        cmocka_unit_test(hulls_contain_the_set),
        cmocka_unit_test(random_pairs_with_low_friction),
        cmocka_unit_test(random_pairs_with_high_friction),
        cmocka_unit_test(spent_budgets_leave_an_inner_set),
        cmocka_unit_test(disks_end_in_time),
        cmocka_unit_test(a_run_can_be_stopped),
        cmocka_unit_test(the_rounding_mode_is_the_callers),
        cmocka_unit_test(nothing_collides),
        cmocka_unit_test(smooth_block_lifts_too),
        cmocka_unit_test(delassus_gives_the_same_set),
        cmocka_unit_test(odd_questions_are_refused),
        cmocka_unit_test(texts_must_fit_their_numbers),
        cmocka_unit_test(many_contacts_are_too_large),
        cmocka_unit_test(a_file_gives_the_pieces_back),
        cmocka_unit_test(a_file_has_the_outer_set_too),
        cmocka_unit_test(an_outer_set_is_not_made_up),
        cmocka_unit_test(pictures_and_comparisons_show_the_set),
        cmocka_unit_test(the_command_reports),
    };
    const struct CMUnitTest without[] = {cmocka_unit_test(absence_is_said)};
    return carom_exact_available() ? cmocka_run_group_tests(tests, NULL, NULL) : cmocka_run_group_tests(without, NULL, NULL);
}
