// SPDX-License-Identifier: Apache-2.0
// The propagative model on known systems: cradles in fractions, closed forms of two contacts, billiard breaks, and systems with a unique
// outcome.
#include <math.h>
#include <string.h>
#include <time.h>

#include "carom/dense.h"
#include "propagative_support.h"

// ------------------------------------------------------------------------------------------------------------- cradles

// Table of reference outcomes of three and four balls, as fractions.
static const struct cradle {
    int balls;
    double masses[4], v[4];
    struct {
        const char *word;
        int count;
        double v[4];
    } ends[2];
} cradles[] = {
    {3, {1, 1, 1}, {1, 0, 0}, {{"01", 1, {0, 0, 1}}}},
    {3, {1, 1, 1}, {3, 2, 1}, {{"010", 2, {1, 2, 3}}}},
    {3, {1, 1, 1}, {1, 1, 0}, {{"10", 1, {0, 1, 1}}}},
    {3, {1, 1, 1}, {1, 0, -1}, {{"010", 2, {-1, 0, 1}}}},
    {3, {1, 2, 1}, {1, 0, 0}, {{"01", 1, {-1. / 3, 2. / 9, 8. / 9}}}},
    {3, {2, 1, 1}, {1, 0, 0}, {{"010", 1, {1. / 9, 4. / 9, 4. / 3}}}},
    {3, {1, 1, 2}, {1, 0, 0}, {{"010", 1, {-1. / 3, 0, 2. / 3}}}},
    {3, {1, 3, 1}, {1, 0, -1}, {{"01", 1, {-1. / 2, -1. / 4, 5. / 4}}, {"10", 1, {-5. / 4, 1. / 4, 1. / 2}}}},
    {3, {1, 2, 3}, {2, 1, 0}, {{"010", 1, {-2. / 3, 1. / 3, 4. / 3}}, {"101", 1, {-14. / 15, 53. / 75, 88. / 75}}}},
    {3,
     {4, 1, 4},
     {1, 0, -1},
     {{"01010", 1, {-3037. / 3125, -632. / 3125, 639. / 625}}, {"10101", 1, {-639. / 625, 632. / 3125, 3037. / 3125}}}},
    {3, {2, 1, 3}, {3, 1, -2}, {{"0101", 2, {-8. / 3, -2. / 3, 7. / 3}}}},
    {3, {9, 1, 5}, {3, 1, -2}, {{"010101", 2, {-3. / 5, 7. / 5, 22. / 5}}}},
    {4, {1, 1, 1, 1}, {4, 3, 2, 1}, {{"010210", 16, {1, 2, 3, 4}}}},
};

static void cradles_are_fractions(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof cradles / sizeof *cradles; c++) {
        const struct cradle *cradle = &cradles[c];
        carom_impact *impact = make_cradle(cradle->masses, cradle->v, cradle->balls);
        carom_propagative *p = bind(impact);
        const outcomes all = enumerate(p, CAROM_WORDS_ADMISSIBLE);
        assert_int_equal(all.verdict, CAROM_COMPLETE);
        assert_int_equal(all.count, cradle->ends[1].word ? 2 : 1);
        for (int i = 0; i < all.count; i++) {
            assert_string_equal(all.list[i].word, cradle->ends[i].word);
            assert_int_equal(all.list[i].count, cradle->ends[i].count);
            assert_int_equal(all.list[i].max_length, strlen(cradle->ends[i].word));
            assert_all_close(all.list[i].v, cradle->ends[i].v, cradle->balls, 1e-14);
            assert_false(all.list[i].marginal);
        }
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
}

// Equal balls that all approach: every word sorts the velocities.
static void equal_balls_sort_their_velocities(void **state) {
    (void)state;
    static const struct { int balls, words, letters; } known[] = {{4, 16, 6}, {5, 768, 10}, {6, 292864, 15}};
    static const double masses[] = {1, 1, 1, 1, 1, 1}, v[] = {6, 5, 4, 3, 2, 1};
    for (int i = 0; i < 3; i++) {
        const int balls = known[i].balls;
        carom_impact *impact = make_cradle(masses, v, balls);
        carom_propagative *p = bind(impact);
        const clock_t before = clock();
        const outcomes all = enumerate(p, CAROM_WORDS_ADMISSIBLE);
        // 0.3 ms were measured; the merged graph has 720 momenta, the words alone would take seconds.
        assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 0.5);
        assert_int_equal(all.count, 1);
        assert_int_equal(all.list[0].count, known[i].words);
        assert_int_equal(all.list[0].min_length, known[i].letters);
        assert_int_equal(all.list[0].max_length, known[i].letters);
        for (int k = 0; k < balls; k++) assert_close(all.list[0].v[k], v[balls - 1 - k], 1e-13);
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
}

// ------------------------------------------------------------------------------------------------------- two contacts

// The normal velocities, each along its unit normal, over |p-|: what the closed form takes.
static void relative_rates(const carom_impact *impact, double rates[2]) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double *W = carom_impact_delassus(impact), scale = sqrt(2 * carom_impact_initial_energy(impact));
    for (int i = 0; i < 2; i++) rates[i] = carom_dot(data->nv, data->normal + i * data->nv, data->velocity) / sqrt(W[10 * i]) / scale;
}

static double cosine_of(const carom_impact *impact) {
    const double *W = carom_impact_delassus(impact);
    return W[2] / sqrt(W[0] * W[10]);
}

// Whether a direction is so close to where a closed-form length changes that enumeration and formula may round differently.
static bool is_close_to_a_step(double cosine, const double rates[2]) {
    const double wedge = acos(-cosine), gamma = wedge / 2;
    const double theta = fabs(atan2((rates[0] - rates[1]) / (2 * cos(gamma)), (rates[0] + rates[1]) / (2 * sin(gamma))));
    const double turns[2] = {(theta - gamma) / wedge, (2 * PI - theta - gamma) / wedge};
    for (int i = 0; i < 2; i++)
        if (fabs(turns[i] - round(turns[i])) < 1e-7) return true;
    return false;
}

static void two_contacts_follow_the_closed_form(void **state) {
    (void)state;
    const int count = support_count(300, 5000, 100000);
    int tight = 0, both = 0;
    carom_stream stream;
    carom_stream_start(&stream, 1, 0);
    for (int k = 0; k < count; k++) {
        carom_impact *impact = make_random(&stream, 2, support_random_integer(&stream, 2, 5), k % 4 != 0);
        carom_propagative *p = bind(impact);
        const outcomes all = enumerate(p, CAROM_WORDS_ADMISSIBLE);
        carom_two_contacts closed;
        double rates[2];
        relative_rates(impact, rates);
        const double cosine = cosine_of(impact);
        assert_int_equal(carom_two_contacts_solve(cosine, rates, &closed, NULL), CAROM_OK);
        int64_t least = INT64_MAX, most = 0;
        for (int i = 0; i < 2; i++)
            if (closed.length[i] > 0) {
                least = closed.length[i] < least ? closed.length[i] : least;
                most = closed.length[i] > most ? closed.length[i] : most;
            }
        if (most == 0) least = 0;
        int64_t shortest = INT64_MAX, longest = 0, words = 0;
        for (int i = 0; i < all.count; i++) {
            shortest = all.list[i].min_length < shortest ? all.list[i].min_length : shortest;
            longest = all.list[i].max_length > longest ? all.list[i].max_length : longest;
            words += all.list[i].count;
        }
        assert_int_equal(all.verdict, CAROM_COMPLETE);
        if (!is_close_to_a_step(cosine, rates)) {
            assert_int_equal(shortest, least);
            assert_int_equal(longest, most);
        }
        if (rates[0] < 0 && rates[1] < 0) {
            both++;
            assert_true(longest <= closed.bound);
            tight += longest == closed.bound;
            assert_int_equal(words, 2);
            const double xi =
                all.count == 2 ? distance(impact, all.list[0].v, all.list[1].v) / sqrt(2 * carom_impact_initial_energy(impact)) : 0;
            // Round-off of the rates grows with the letters and with narrow or wide wedges.
            const double tolerance = fmax(1e-12, 4e-15 * (double)longest / sin(closed.wedge_angle));
            if (!is_close_to_a_step(cosine, rates)) assert_true(fabs(xi - closed.difference) <= tolerance);
            if (!isnan(closed.difference_bound)) assert_true(closed.difference <= closed.difference_bound + tolerance);
        }
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
    // The bound is attained by most systems.
    assert_true(2 * tight > both);
}

// A particle in a wedge: unfolding turns the path into a line. Outcome: the direction mirrored until it leaves.
static void wedges_unfold(void **state) {
    (void)state;
    const int directions = 37;
    for (int degrees = 10; degrees <= 170; degrees += 5) {
        const double wedge = degrees * PI / 180;
        const double normals[] = {0, 1, sin(wedge), -cos(wedge)};  // walls along angle 0 and along the wedge's angle
        for (int k = 0; k < directions; k++) {
            const double incoming = PI + wedge * (k + 0.5) / directions;
            const double v[] = {cos(incoming), sin(incoming)};
            carom_impact *impact = make_particle(normals, 2, v, 2);
            carom_propagative *p = bind(impact);
            const outcomes all = enumerate(p, CAROM_WORDS_ADMISSIBLE);
            assert_true(all.count >= 1);
            for (int i = 0; i < all.count; i++) {
                const int first = all.list[i].word[0] - '0', letters = (int)all.list[i].min_length;
                // Mirroring across the wall at angle 0 sends a to -a, across the other to 2 wedge - a.
                double angle = incoming;
                for (int n = 0; n < letters; n++) angle = (first + n) % 2 ? 2 * wedge - angle : -angle;
                assert_close(all.list[i].v[0], cos(angle), 1e-13);
                assert_close(all.list[i].v[1], sin(angle), 1e-13);
                assert_true(letters <= (int)ceil(PI / wedge - 1e-9));
            }
            carom_propagative_free(p);
            carom_impact_free(impact);
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ billiards

// Two balls at rest, the cue ball hits both on their bisector, all of unit mass (Seghete & Murphey, section VII-A).
static carom_impact *make_break(double degrees, double mass_of_cue) {
    const double half = degrees * PI / 360, c = cos(half), s = sin(half);
    const double normal[] = {c, s, 0, 0, -c, -s, 0, 0, c, -s, -c, s}, v[] = {0, 0, 0, 0, 1, 0};
    double mass[36] = {0};
    for (int i = 0; i < 6; i++) mass[7 * i] = i < 4 ? 1 : mass_of_cue;
    return support_impact(&(carom_impact_data){.nv = 6, .contacts = 2, .tangent_dim = 1, .mass = mass, .normal = normal, .velocity = v});
}

static double break_difference(double degrees, double mass_of_cue) {
    carom_impact *impact = make_break(degrees, mass_of_cue);
    carom_uniqueness *u = study(impact);
    const double xi = u->difference;
    assert_true(u->has_pair);
    // A graze of both balls at 180 degrees approaches nothing.
    if (degrees < 180) assert_true(fabs(u->pair.difference - xi) <= 1e-12);
    carom_uniqueness_free(u);
    carom_impact_free(impact);
    return xi;
}

static void billiard_breaks_match_the_table(void **state) {
    (void)state;
    static const double known[][2] = {{60, 0.75},         {75, 0.383177357},  {90, 0},           {110, 0.424573904}, {120, 0.559016994},
                                      {135, 0.445222759}, {150, 0.154914209}, {170, 0.006421103}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) assert_true(fabs(break_difference(known[i][0], 1) - known[i][1]) <= 1e-9);
    // The interior maximum, (sqrt 5 - 1)/2 at cos theta = (1 - sqrt 5)/2, is a kink: approached from either side.
    const double top = acos((1 - sqrt(5)) / 2) * 180 / PI;
    assert_true(fabs(break_difference(top - 1e-9, 1) - (sqrt(5) - 1) / 2) <= 1e-9);
    assert_true(break_difference(180, 1) <= 1e-12);
    // A light cue ball has more angles at which the order does not matter, a heavy one less difference.
    static const double light[] = {90, 124.23, 142.70, 155.52, 166.98};
    for (int m = 2; m <= 6; m++) {
        const double degrees = acos(-(1 + 0.125) * cos(PI / m)) * 180 / PI;
        assert_true(fabs(degrees - light[m - 2]) <= 0.01);
        carom_impact *impact = make_break(degrees, 0.125);
        carom_uniqueness *u = study(impact);
        assert_int_equal(u->verdict, CAROM_UNIQUE_ALWAYS);
        assert_close(u->order[1], m, 1e-15);
        carom_uniqueness_free(u);
        carom_impact_free(impact);
    }
    assert_true(fabs(break_difference(30, 23.4846) - 0.0383609) <= 1e-6);
    assert_true(fabs(break_difference(132.04, 23.4846) - 0.0128799) <= 1e-6);
}

static void billiard_velocities(void **state) {
    (void)state;
    static const double expected[] = {0.75, 0.4330127018922193, 0.375, -0.21650635094610966, -0.125, -0.21650635094610966};
    carom_impact *impact = make_break(60, 1);
    carom_propagative *p = bind(impact);
    const outcomes all = enumerate(p, CAROM_WORDS_ADMISSIBLE);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.list[0].word, "01");
    assert_all_close(all.list[0].v, expected, 6, 1e-14);
    carom_propagative_free(p);
    carom_impact_free(impact);
}

// --------------------------------------------------------------------------------------------------------- uniqueness

// A particle whose walls have these wedge angles pi/m_ij, from a factor of their cosines; p- in the opposite chamber.
static carom_impact *make_coxeter(const int *orders, int n) {
    double gram[16] = {0}, normal[16], v[4];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) gram[i * n + j] = i == j ? 1 : -cos(PI / orders[i * n + j]);
    memcpy(normal, gram, sizeof gram);
    assert_int_equal(carom_cholesky_factor(n, normal), 0);
    // All rates -1, -2, ...: W v = r.
    for (int i = 0; i < n; i++) {
        v[i] = -(i + 1);
        for (int j = 0; j < i; j++) v[i] -= normal[i * n + j] * v[j];
        v[i] /= normal[i * n + i];
    }
    return make_particle(normal, n, v, n);
}

static void coxeter_groups_are_unique(void **state) {
    (void)state;
    static const struct {
        int n, letters, orders[16];
    } groups[] = {
        {3, 6, {1, 3, 2, 3, 1, 3, 2, 3, 1}},
        {3, 9, {1, 4, 2, 4, 1, 3, 2, 3, 1}},
        {3, 15, {1, 5, 2, 5, 1, 3, 2, 3, 1}},
        {4, 10, {1, 3, 2, 2, 3, 1, 3, 2, 2, 3, 1, 3, 2, 2, 3, 1}},
        {4, 12, {1, 3, 3, 3, 3, 1, 2, 2, 3, 2, 1, 2, 3, 2, 2, 1}},
    };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        carom_impact *impact = make_coxeter(groups[g].orders, groups[g].n);
        carom_propagative *p = bind(impact);
        const outcomes all = enumerate(p, CAROM_WORDS_ADMISSIBLE);
        assert_int_equal(all.count, 1);
        assert_int_equal(all.list[0].min_length, groups[g].letters);
        assert_int_equal(all.list[0].max_length, groups[g].letters);
        carom_uniqueness *u = study(impact);
        assert_int_equal(u->verdict, CAROM_UNIQUE_ALWAYS);
        for (int i = 0; i < groups[g].n * groups[g].n; i++) assert_close(u->order[i], groups[g].orders[i], 1e-15);
        carom_uniqueness_free(u);
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
}

// Two contacts with c = -cos(pi/m): m letters each way, one outcome; slightly off, two. With c = +1/2 it is not unique.
static void exact_family_of_two(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 2, 0);
    for (int m = 2; m <= 8; m++)
        for (int k = 0; k < 20; k++) {
            const double wedge = PI / m, toward = PI + wedge * carom_stream_uniform(&stream);
            const double normals[] = {0, 1, sin(wedge), -cos(wedge)}, v[] = {cos(toward), sin(toward)};
            carom_impact *impact = make_particle(normals, 2, v, 2);
            carom_propagative *p = bind(impact);
            const outcomes all = enumerate(p, CAROM_WORDS_ADMISSIBLE);
            assert_int_equal(all.count, 1);
            assert_int_equal(all.list[0].count, 2);
            assert_int_equal(all.list[0].min_length, m);
            carom_uniqueness *u = study(impact);
            assert_int_equal(u->verdict, CAROM_UNIQUE_ALWAYS);
            carom_uniqueness_free(u);
            carom_propagative_free(p);
            carom_impact_free(impact);
        }
    const double wide = 2 * PI / 3, normals[] = {0, 1, sin(wide), -cos(wide)}, v[] = {cos(PI + 1), sin(PI + 1)};
    carom_impact *impact = make_particle(normals, 2, v, 2);
    carom_uniqueness *u = study(impact);
    assert_close(u->cosine[1], 0.5, 1e-15);
    assert_int_equal(u->outcomes, 2);
    carom_uniqueness_free(u);
    carom_impact_free(impact);
}

// When the two words differ in length the longer one is not minimal: unique by Definition 1, and yet the order matters.
static void minimal_words_may_be_unique_where_orders_differ(void **state) {
    (void)state;
    const int count = support_count(50, 300, 3000);
    int unique_minimal = 0;
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    for (int k = 0; k < count; k++) {
        carom_impact *impact = make_random(&stream, 2, 3, true);
        carom_propagative *p = bind(impact);
        const outcomes admissible = enumerate(p, CAROM_WORDS_ADMISSIBLE), minimal = enumerate(p, CAROM_WORDS_MINIMAL),
                       literal = enumerate(p, CAROM_WORDS_LITERAL);
        carom_uniqueness *u = study(impact);
        bool equal_lengths = true;
        for (int i = 0; i < admissible.count; i++)
            equal_lengths = equal_lengths && admissible.list[i].min_length == admissible.list[0].min_length;
        // Very narrow wedges have words that are too long for the momenta of all their subsequences.
        const bool complete = minimal.verdict == CAROM_COMPLETE && literal.verdict == CAROM_COMPLETE;
        assert_true(complete || admissible.list[0].min_length > 1000);
        if (complete) assert_int_equal(minimal.count, equal_lengths ? admissible.count : 1);
        if (complete) assert_int_equal(literal.count, minimal.count);
        for (int i = 0; complete && i < minimal.count; i++) assert_string_equal(minimal.list[i].word, literal.list[i].word);
        if (complete && admissible.count == 2) assert_int_equal(u->verdict, equal_lengths ? CAROM_UNIQUE_NOT : CAROM_UNIQUE_MINIMAL);
        unique_minimal += u->verdict == CAROM_UNIQUE_MINIMAL;
        carom_uniqueness_free(u);
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
    // About half of them.
    assert_true(unique_minimal > count / 4 && unique_minimal < 3 * count / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cradles_are_fractions),
        cmocka_unit_test(equal_balls_sort_their_velocities),
        cmocka_unit_test(two_contacts_follow_the_closed_form),
        cmocka_unit_test(wedges_unfold),
        cmocka_unit_test(billiard_breaks_match_the_table),
        cmocka_unit_test(billiard_velocities),
        cmocka_unit_test(coxeter_groups_are_unique),
        cmocka_unit_test(exact_family_of_two),
        cmocka_unit_test(minimal_words_may_be_unique_where_orders_differ),
    };
    return cmocka_run_group_tests_name("propagative systems", tests, NULL, NULL);
}
