// SPDX-License-Identifier: Apache-2.0
// Exact sets with Poisson's restitution: known sets, one contact, no restitution, symmetries, walks, and sets that gain energy.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "exact_support.h"

// Poisson's set; `restitution` NaN: each contact's own.
static carom_exact_set *solve_poisson(const carom_impact *impact, double restitution, int64_t pieces) {
    carom_exact_options options = carom_exact_defaults();
    options.hypothesis = CAROM_EXACT_POISSON;
    options.restitution = restitution;
    // Time must not decide.
    options.seconds = 600;
    options.pieces = pieces;
    return solve(impact, &options);
}

enum { MANY = 10000 };

static carom_exact_set *solve_bouncing(const text_scene *scene, const char *e) {
    carom_impact *impact = make_bouncing_impact(scene, e);
    carom_exact_set *set = solve_poisson(impact, NAN, MANY);
    carom_impact_free(impact);
    return set;
}

// The piece has exactly these vertices, in any order; each is a text of its contact velocities with blanks between them.
static bool has_vertices(const carom_piece *piece, int n, int count, const char *const *expected) {
    if (piece->vertices != count) return false;
    for (int e = 0; e < count; e++) {
        bool found = false;
        for (int k = 0; k < count && !found; k++) {
            char text[256] = "";
            for (int i = 0; i < n; i++) {
                strcat(text, piece->exact[k * n + i]);
                if (i < n - 1) strcat(text, " ");
            }
            found = !strcmp(text, expected[e]);
        }
        if (!found) return false;
    }
    return true;
}

static double energy_ratio(const carom_impact *impact, const double *v) {
    return carom_impact_kinetic_energy(impact, v) / carom_impact_initial_energy(impact);
}

// ---------------------------------------------------------------------------------------------------------- known sets

// The block with mu = 1, e = 1/2, at 1 m/s: two triangles, without slip.
static void the_block_has_two_triangles(void **state) {
    (void)state;
    static const char *const first[] = {"1/2 0 1/2 0", "1/2 0 1/20 0", "163/200 0 1/2 0"};
    static const char *const second[] = {"1/2 0 1/2 0", "1/20 0 1/2 0", "1/2 0 163/200 0"};
    text_scene falling = block;
    falling.velocity = "0 -1 0";
    carom_impact *impact = make_bouncing_impact(&falling, "1/2 0.5");
    carom_exact_set *set = solve_poisson(impact, NAN, MANY);
    assert_int_equal(set->status, CAROM_EXACT_OK);
    assert_int_equal(set->dimension, 3);
    assert_true(set->data_change == 0);
    assert_int_equal(set->pieces->count, 2);
    const carom_piece *pieces = set->pieces->pieces;
    const bool in_order = has_vertices(&pieces[0], 4, 3, first);
    assert_true(has_vertices(&pieces[!in_order], 4, 3, first) && has_vertices(&pieces[in_order], 4, 3, second));
    double most = 0;
    for (int p = 0; p < 2; p++)
        for (int k = 0; k < 3; k++) most = fmax(most, energy_ratio(impact, pieces[p].velocity + 3 * k));
    assert_close(most, 4583.0 / 8000, 1e-15);
    // The constraints describe the same triangles, in contact velocities alone.
    for (int p = 0; p < 2; p++) {
        assert_int_equal(pieces[p].dimension, 2);
        assert_int_equal(pieces[p].equalities, 2);
        assert_int_equal(pieces[p].inequalities, 3);
        for (int k = 0; k < 3; k++) assert_true(excess(set->pieces, &pieces[p], pieces[p].contact_velocity + 4 * k) <= 1e-15);
    }
    carom_exact_set_free(set);
    // The same coefficient for all contacts, whatever the impact has.
    carom_impact *bare = make_impact(&falling);
    carom_exact_set *same = solve_poisson(bare, 0.5, MANY), *expected = solve_poisson(impact, NAN, MANY);
    assert_int_equal(same->elapses, expected->elapses);
    assert_true(worst_excess(same->pieces, expected->pieces) == 0);
    carom_exact_set_free(same);
    carom_exact_set_free(expected);
    carom_impact_free(bare);
    carom_impact_free(impact);
}

static const text_scene stack = {2, 2, "1 0 0 1", "1 -1 0 1", "0 0 0 0", "0 0", "-1 0"};

// A ball falls on a ball that rests on the floor. Where both contacts bounce, the set gains energy up to five times.
static void a_ball_on_a_ball_on_the_floor(void **state) {
    (void)state;
    static const struct {
        const char *e;
        int count;
        const char *vertices[5];
    } rows[] = {{"7/10 0", 2, {"0 0 0 0", "7/10 0 0 0"}},
                {"0 7/10", 2, {"0 0 0 0", "0 0 7/20 0"}},
                {"1 1", 5, {"0 0 1/3 0", "0 0 3/2 0", "1/2 0 0 0", "1 0 1 0", "2 0 0 0"}}};
    for (int i = 0; i < 3; i++) {
        carom_impact *impact = make_bouncing_impact(&stack, rows[i].e);
        carom_exact_set *set = solve_poisson(impact, NAN, MANY);
        assert_int_equal(set->status, CAROM_EXACT_OK);
        assert_int_equal(set->pieces->count, 1);
        assert_true(has_vertices(&set->pieces->pieces[0], 4, rows[i].count, rows[i].vertices));
        carom_exact_set_free(set);
        carom_impact_free(impact);
    }
    // The law says how much is gained.
    carom_registry *registry;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_exact_register(registry, &error), error);
    carom_impact *impact = make_bouncing_impact(&stack, "1 1");
    carom_answer answer = support_ask(registry, impact, "halm-posa-exact", (const char *const[]){"hypothesis", "poisson", NULL});
    assert_close(*carom_table_reals(answer.result, carom_table_find(answer.result, "energy_ratio")), 5, 1e-15);
    carom_answer_free(&answer);
    carom_impact_free(impact);
    carom_registry_free(registry);
}

// One contact has no freedom: the outcome of law `stronge` with Poisson's hypothesis, jamming contacts included.
static void one_contact_is_that_of_the_law_stronge(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    int compared = 0, jams = 0;
    for (int k = 0; k < support_count(100, 600, 5000); k++) {
        // Short decimals, which their doubles stand for.
        double normal[3], tangent[3], velocity[3], friction[1], restitution[1];
        for (int j = 0; j < 3; j++) {
            normal[j] = support_random_integer(&stream, -20, 20) / 10.0;
            tangent[j] = support_random_integer(&stream, -20, 20) / 10.0;
            velocity[j] = support_random_integer(&stream, -20, 20) / 10.0;
        }
        friction[0] = support_random_integer(&stream, 0, 15) / 10.0;
        restitution[0] = support_random_integer(&stream, 0, 10) / 10.0;
        const carom_impact_data data = {.nv = 3,
                                        .contacts = 1,
                                        .tangent_dim = 1,
                                        .mass = (const double[]){1, 0.25, 0, 0.25, 2, 0.5, 0, 0.5, 0.75},
                                        .normal = normal,
                                        .tangent = tangent,
                                        .friction = friction,
                                        .restitution = restitution,
                                        .velocity = velocity};
        carom_impact *impact;
        carom_error error;
        if (carom_impact_create(&data, &impact, &error)) continue;
        double u[2];
        carom_impact_contact_velocity(impact, velocity, u);
        carom_contact_problem problem;
        carom_contact_options options = carom_contact_defaults();
        carom_contact_result result;
        carom_contact_extract(impact, 0, u, &problem);
        problem.restitution = restitution[0];
        options.hypothesis = CAROM_RESTITUTION_POISSON;
        const double determinant = problem.normal * problem.tangential[0] - problem.coupling[0] * problem.coupling[0];
        if (u[0] < -1e-6 && determinant > 1e-3 * problem.normal * problem.tangential[0]) {
            assert_ok(carom_contact_solve(&problem, &options, &result, &error), error);
            carom_exact_set *set = solve_poisson(impact, NAN, MANY);
            assert_int_equal(set->status, CAROM_EXACT_OK);
            assert_int_equal(set->pieces->count, 1);
            assert_int_equal(set->pieces->pieces[0].vertices, 1);
            const double *end = set->pieces->pieces[0].contact_velocity, scale = hypot(u[0], u[1]);
            assert_close(end[0] / scale, result.velocity.normal / scale, 1e-9);
            assert_close(end[1] / scale, result.velocity.tangent[0] / scale, 1e-9);
            carom_exact_set_free(set);
            compared++;
            jams += result.jams;
        }
        carom_impact_free(impact);
    }
    assert_true(compared > support_count(30, 200, 2000) && jams > 0);
}

// Without restitution the hypothesis changes nothing.
static void no_restitution_is_the_inelastic_set(void **state) {
    (void)state;
    const text_scene *scenes[] = {&block, &boxwall, &compass};
    for (int i = 0; i < 3; i++) {
        carom_exact_set *set = solve_bouncing(scenes[i], "0 0"), *inelastic = solve_scene(scenes[i]);
        assert_int_equal(set->status, CAROM_EXACT_OK);
        assert_int_equal(set->elapses, inelastic->elapses);
        assert_int_equal(set->pieces->count, inelastic->pieces->count);
        for (int p = 0; p < set->pieces->count; p++) {
            const carom_piece *a = &set->pieces->pieces[p], *b = &inelastic->pieces->pieces[p];
            assert_int_equal(a->vertices, b->vertices);
            for (int k = 0; k < 4 * a->vertices; k++) assert_string_equal(a->exact[k], b->exact[k]);
        }
        carom_exact_set_free(set);
        carom_exact_set_free(inelastic);
    }
}

// ---------------------------------------------------------------------------------------------------------- symmetries

// Exchanges the contacts in the vertices, but not in the constraints, and multiplies slips by `sign`.
static void exchange_vertices(carom_polyhedra *set, double sign) {
    for (int p = 0; p < set->count; p++)
        for (int k = 0; k < set->pieces[p].vertices; k++) {
            double *u = set->pieces[p].contact_velocity + 4 * k;
            const double exchanged[4] = {u[2], sign * u[3], u[0], sign * u[1]};
            memcpy(u, exchanged, sizeof exchanged);
        }
}

// Both sets are the same once the contacts of one are exchanged and its slips multiplied by `sign`.
static void assert_exchanged(carom_exact_set *set, carom_exact_set *other, double sign) {
    assert_int_equal(set->status, CAROM_EXACT_OK);
    assert_int_equal(other->status, CAROM_EXACT_OK);
    exchange_vertices(other->pieces, sign);
    assert_true(worst_excess(other->pieces, set->pieces) <= 1e-15);
    exchange_vertices(other->pieces, sign);
    exchange_vertices(set->pieces, sign);
    assert_true(worst_excess(set->pieces, other->pieces) <= 1e-15);
    carom_exact_set_free(set);
    carom_exact_set_free(other);
}

static void contacts_may_be_exchanged_and_mirrored(void **state) {
    (void)state;
    text_scene moving = block, permuted = block, mirrored = block;
    moving.velocity = permuted.velocity = "1/10 -1 0";
    mirrored.velocity = "-1/10 -1 0";
    moving.friction = mirrored.friction = "1/2 1/2";
    permuted.friction = "1/2 1/2";
    permuted.normal = "0 1 1/2 0 1 -1/2";
    assert_exchanged(solve_bouncing(&moving, "1/2 1/5"), solve_bouncing(&permuted, "1/5 1/2"), 1);
    assert_exchanged(solve_bouncing(&moving, "1/2 1/5"), solve_bouncing(&mirrored, "1/5 1/2"), -1);
}

// -------------------------------------------------------------------------------------------------------- large sets

// A narrow wedge without friction multiplies the energy by 48; contacts that hold each other by friction have cones that are not pointed,
// and a set without bounds. A budget that is spent leaves an inner set and no outer one.
static void sets_that_grow_say_so(void **state) {
    (void)state;
    const text_scene wedge = {2, 2, "1 24/25 24/25 1", "1 0 0 1", "0 0 0 0", "0 0", "-1 0"};
    carom_impact *impact = make_bouncing_impact(&wedge, "1 1");
    carom_exact_set *set = solve_poisson(impact, NAN, MANY), *part = solve_poisson(impact, NAN, 20);
    double most = 0;
    for (int p = 0; p < set->pieces->count; p++)
        for (int k = 0; k < set->pieces->pieces[p].vertices; k++)
            most = fmax(most, energy_ratio(impact, set->pieces->pieces[p].velocity + 2 * k));
    assert_int_equal(set->status, CAROM_EXACT_OK);
    assert_true(most > 48 && most < 49);
    assert_int_equal(part->status, CAROM_EXACT_INCOMPLETE);
    assert_non_null(strstr(part->reason, "--pieces"));
    assert_null(part->outer);
    assert_true(worst_excess(part->pieces, set->pieces) <= 1e-12);
    carom_exact_set_free(part);
    // A budget of energy: what has more is not continued.
    carom_exact_options options = carom_exact_defaults();
    options.hypothesis = CAROM_EXACT_POISSON;
    options.gain = 10;
    part = solve(impact, &options);
    assert_int_equal(part->status, CAROM_EXACT_INCOMPLETE);
    assert_non_null(strstr(part->reason, "--gain"));
    assert_true(part->pieces->count > 0 && worst_excess(part->pieces, set->pieces) <= 1e-12);
    assert_true(worst_excess(set->pieces, part->pieces) > 0.1);
    carom_exact_set_free(part);
    carom_exact_set_free(set);
    carom_impact_free(impact);

    const text_scene wedged = {2, 2, "1 0 0 1", "1 0 0 1", "0 1 -1 0", "3/2 3/2", "-1 0"};
    set = solve_bouncing(&wedged, "1 1");
    assert_int_equal(set->status, CAROM_EXACT_UNBOUNDED);
    assert_non_null(strstr(set->reason, "not pointed"));
    assert_null(set->outer);
    carom_exact_set_free(set);
}

static void what_has_no_meaning_is_refused(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&block);
    carom_exact_options options = carom_exact_defaults();
    carom_exact_set *set;
    carom_error error;
    options.hypothesis = CAROM_EXACT_POISSON;
    options.mode = CAROM_EXACT_HULL;
    assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "mode: outer sets");
    options.mode = CAROM_EXACT_UNION;
    options.restitution = 1.5;
    assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "restitution: 1.5");
    options.restitution = NAN;
    options.gain = 0.5;
    assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "gain: 0.5");
    options.gain = 10;
    options.hypothesis = 2;
    assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_BAD_INPUT, error, "hypothesis: 2");
    // The energetic set: why, in the library and on the command line; a comparison leaves the law out.
    assert_refused(carom_law_set(&carom_exact_law, &options, "hypothesis", "stronge", &error), CAROM_BAD_INPUT, error, "curved sides");
    char text[8192];
    assert_int_equal(support_run_command("exact scenes/block.yaml --hypothesis stronge", true, text, sizeof text), 2);
    assert_non_null(strstr(text, "--hypothesis: the energetic set has curved sides"));
    assert_int_equal(support_run_command("resolve scenes/block.yaml --law halm-posa-exact --hypothesis stronge", true, text, sizeof text),
                     2);
    assert_non_null(strstr(text, "--hypothesis: the energetic set has curved sides"));
    assert_int_equal(support_run_command("compare scenes/block.yaml --samples 16 --hypothesis stronge", true, text, sizeof text), 0);
    assert_non_null(strstr(text, "halm-posa-exact is left out: it has no hypothesis stronge"));
    // A coefficient without a hypothesis; an interval of them.
    assert_int_equal(support_run_command("exact scenes/block.yaml --restitution 0.5", true, text, sizeof text), 2);
    assert_int_equal(support_run_command("exact scenes/block.yaml --hypothesis poisson --restitution 0:1", true, text, sizeof text), 2);
    carom_impact_free(impact);
}

// -------------------------------------------------------------------------------------------------------------- walks

// Walks end in the set and come close to its extents.
// @return the largest share of an extent that they miss
static double compare_walks(const carom_impact *impact, double restitution, const carom_exact_set *set, int walks) {
    const carom_walker_options options = {10000, CAROM_WEIGHTS_MIXED, {CAROM_HYPOTHESIS_POISSON, {restitution, restitution}}};
    carom_walker *walker;
    carom_error error;
    assert_ok(carom_walker_create(impact, &options, &walker, &error), error);
    double v[16], impulse[4], u[4], least[4], most[4], scale = carom_impact_velocity_scale(impact);
    for (int j = 0; j < 4; j++) least[j] = INFINITY, most[j] = -INFINITY;
    // Ends of the set, and its size.
    double lower[4], upper[4];
    for (int j = 0; j < 4; j++) lower[j] = INFINITY, upper[j] = -INFINITY;
    for (int p = 0; p < set->pieces->count; p++)
        for (int k = 0; k < set->pieces->pieces[p].vertices; k++)
            for (int j = 0; j < 4; j++) {
                lower[j] = fmin(lower[j], set->pieces->pieces[p].contact_velocity[4 * k + j]);
                upper[j] = fmax(upper[j], set->pieces->pieces[p].contact_velocity[4 * k + j]);
                scale = fmax(scale, fabs(set->pieces->pieces[p].contact_velocity[4 * k + j]));
            }
    for (int i = 0; i < walks; i++) {
        carom_sample_counts counts;
        carom_walker_run(walker, 1, i, v, impulse, &counts);
        if (!counts.terminated) continue;
        carom_impact_contact_velocity(impact, v, u);
        assert_true(distance_out(set->pieces, u) <= 1e-9 * scale);
        for (int j = 0; j < 4; j++) {
            least[j] = fmin(least[j], u[j]);
            most[j] = fmax(most[j], u[j]);
        }
    }
    carom_walker_free(walker);
    double missed = 0;
    for (int j = 0; j < 4; j++)
        if (upper[j] - lower[j] > 1e-6 * scale)
            missed = fmax(missed, fmax(least[j] - lower[j], upper[j] - most[j]) / (upper[j] - lower[j]));
    return missed;
}

// Ten random systems with two contacts that both approach, and whose sets are no single points.
static void walks_fill_the_set(void **state) {
    (void)state;
    enum { SYSTEMS = 10, FEW = 300 };
    carom_stream stream;
    carom_stream_start(&stream, 21, 0);
    int systems = 0;
    for (int tries = 0; systems < support_count(3, SYSTEMS, SYSTEMS); tries++) {
        assert_true(tries < 1000);
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 2, 1, 1.5);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const double e = support_random_integer(&stream, 1, 9) / 10.0;
        double u[4] = {0};
        if (data->contacts == 2 && data->nv > 1) carom_impact_contact_velocity(impact, data->velocity, u);
        if (u[0] < 0 && u[2] < 0) {
            carom_exact_set *set = solve_poisson(impact, e, FEW);
            bool extended = false;
            for (int p = 0; p < set->pieces->count; p++) extended |= set->pieces->pieces[p].dimension > 0;
            if (set->status == CAROM_EXACT_OK && extended) {
                const double missed = compare_walks(impact, e, set, support_count(1 << 12, 1 << 14, 1 << 16));
                assert_true(missed <= 0.05);
                systems++;
            }
            carom_exact_set_free(set);
        }
        carom_impact_free(impact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_block_has_two_triangles),
        cmocka_unit_test(a_ball_on_a_ball_on_the_floor),
        cmocka_unit_test(one_contact_is_that_of_the_law_stronge),
        cmocka_unit_test(no_restitution_is_the_inelastic_set),
        cmocka_unit_test(contacts_may_be_exchanged_and_mirrored),
        cmocka_unit_test(sets_that_grow_say_so),
        cmocka_unit_test(what_has_no_meaning_is_refused),
        cmocka_unit_test(walks_fill_the_set),
    };
    return carom_exact_available() ? cmocka_run_group_tests(tests, NULL, NULL) : skip_all();
}
