// SPDX-License-Identifier: Apache-2.0
// Exact sets: reference sets in rational numbers, symmetries, and odd input.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact_support.h"

// -------------------------------------------------------------------------------------------------------------- asking

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

// A block of width w and height h with 2 h^2 <= w^2: the only outcome is rest.
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

// The set scales with the velocity before the impact: V(a v0) = a V(v0).
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
                // velocities and contact velocities describe the same points
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

// Texts of numbers are taken only where they agree with the doubles beside them.
static void texts_must_fit_their_numbers(void **state) {
    (void)state;
    static const char *const wrong[] = {"-0.4428", "-0,4429", "0x1p0", "1/0", "-44 29", "1e5000", "1e-99999999999999999999",
                                        "",        "-.",      "1/2/3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const double mass[] = {1}, normal[] = {1}, tangent[] = {0}, friction[] = {0}, velocity[] = {-0.4429};
        const char *const texts[] = {wrong[i]};
        const carom_impact_texts all = {.velocity = texts};
        const carom_impact_data data = {.nv = 1,
                                        .contacts = 1,
                                        .tangent_dim = 1,
                                        .mass = mass,
                                        .normal = normal,
                                        .tangent = tangent,
                                        .friction = friction,
                                        .velocity = velocity};
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
        cmocka_unit_test(nothing_collides),
        cmocka_unit_test(smooth_block_lifts_too),
        cmocka_unit_test(delassus_gives_the_same_set),
        cmocka_unit_test(odd_questions_are_refused),
        cmocka_unit_test(texts_must_fit_their_numbers),
        cmocka_unit_test(many_contacts_are_too_large),
    };
    return carom_exact_available() ? cmocka_run_group_tests(tests, NULL, NULL) : skip_all();
}
