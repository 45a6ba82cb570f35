// SPDX-License-Identifier: Apache-2.0
// The propagative model: cradles in fractions, counts and witnesses, closed forms of two contacts, termination, and the invariants that
// every system obeys.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/dense.h"
#include "support.h"

enum { MOST_BALLS = 8, MOST_OUTCOMES = 256, MOST_SIZE = 16 };

static const double PI = 3.14159265358979323846;

// ------------------------------------------------------------------------------------------------------------ problems

// Balls in a row, touching: contact i is between ball i and ball i + 1.
static carom_impact *make_cradle(const double *masses, const double *v, int balls) {
    double mass[MOST_BALLS * MOST_BALLS] = {0}, normal[MOST_BALLS * MOST_BALLS] = {0};
    for (int i = 0; i < balls; i++) mass[i * balls + i] = masses[i];
    for (int i = 0; i + 1 < balls; i++) {
        normal[i * balls + i] = -1;
        normal[i * balls + i + 1] = 1;
    }
    return support_impact(
        &(carom_impact_data){.nv = balls, .contacts = balls - 1, .tangent_dim = 1, .mass = mass, .normal = normal, .velocity = v});
}

// A particle of unit mass in `nv` dimensions before walls with these normals.
static carom_impact *make_particle(const double *normals, int contacts, const double *v, int nv) {
    double mass[MOST_SIZE * MOST_SIZE] = {0};
    for (int i = 0; i < nv; i++) mass[i * nv + i] = 1;
    return support_impact(
        &(carom_impact_data){.nv = nv, .contacts = contacts, .tangent_dim = 1, .mass = mass, .normal = normals, .velocity = v});
}

// Random masses, normals and velocity; `toward`: all contacts approach.
static carom_impact *make_random(carom_stream *stream, int contacts, int nv, bool toward) {
    double factor[MOST_SIZE * MOST_SIZE], mass[MOST_SIZE * MOST_SIZE], normal[MOST_SIZE * MOST_SIZE], v[MOST_SIZE];
    for (int i = 0; i < nv * nv; i++) factor[i] = carom_stream_normal(stream);
    carom_gram(nv, nv, factor, mass);
    for (int i = 0; i < nv; i++) mass[i * nv + i] += 0.3;
    for (int i = 0; i < contacts * nv; i++) normal[i] = carom_stream_normal(stream);
    for (;;) {
        for (int i = 0; i < nv; i++) v[i] = carom_stream_normal(stream);
        bool all = true;
        for (int c = 0; c < contacts; c++) all = all && carom_dot(nv, normal + c * nv, v) < 0;
        if (all || !toward) break;
    }
    return support_impact(
        &(carom_impact_data){.nv = nv, .contacts = contacts, .tangent_dim = 1, .mass = mass, .normal = normal, .velocity = v});
}

// ------------------------------------------------------------------------------------------------------------ outcomes

typedef struct outcome {
    double v[MOST_SIZE], impulse[MOST_SIZE];
    int64_t count, min_length, max_length;
    char word[64];  // digits
    bool marginal;
} outcome;

typedef struct outcomes {
    const carom_propagative *p;
    outcome list[MOST_OUTCOMES];
    int count;
    carom_verdict verdict;
} outcomes;

static carom_status keep(void *user, const carom_elastic_outcome *elastic, carom_error *error) {
    outcomes *all = user;
    // The rest is only counted.
    if (all->count++ >= MOST_OUTCOMES) return CAROM_OK;
    outcome *o = &all->list[all->count - 1];
    const int contacts = carom_impact_get_data(carom_propagative_impact(all->p))->contacts;
    *o = (outcome){
        .count = elastic->count, .min_length = elastic->min_length, .max_length = elastic->max_length, .marginal = elastic->marginal};
    memcpy(o->impulse, elastic->impulse, (size_t)contacts * sizeof *o->impulse);
    for (int k = 0; k < elastic->min_length && k < 63; k++) o->word[k] = (char)('0' + elastic->witness[k]);
    return carom_propagative_velocity(all->p, elastic->impulse, o->v, error);
}

static carom_propagative *bind(const carom_impact *impact) {
    carom_error error;
    carom_propagative *p;
    assert_ok(carom_propagative_create(impact, &p, &error), error);
    return p;
}

static outcomes enumerate_within(const carom_propagative *p, carom_word_set set, int64_t max_states) {
    outcomes all = {.p = p};
    carom_error error;
    carom_word_limits limits = carom_word_limits_defaults();
    limits.max_states = max_states;
    assert_ok(carom_propagative_enumerate(p, set, &limits, NULL, keep, &all, &all.verdict, &error), error);
    return all;
}

static outcomes enumerate(const carom_propagative *p, carom_word_set set) {
    return enumerate_within(p, set, carom_word_limits_defaults().max_states);
}

static outcomes follow(const carom_propagative *p, const carom_word_order *order) {
    outcomes all = {.p = p};
    carom_error error;
    const carom_word_limits limits = carom_word_limits_defaults();
    assert_ok(carom_propagative_follow(p, order, &limits, NULL, keep, &all, &all.verdict, &error), error);
    assert_int_equal(all.count, 1);
    return all;
}

// Outcomes that are in the list.
static int kept(const outcomes *all) { return all->count < MOST_OUTCOMES ? all->count : MOST_OUTCOMES; }

static double distance(const carom_impact *impact, const double *a, const double *b) {
    double difference[MOST_SIZE];
    const int nv = carom_impact_get_data(impact)->nv;
    for (int k = 0; k < nv; k++) difference[k] = a[k] - b[k];
    return sqrt(2 * carom_impact_kinetic_energy(impact, difference));
}

static int find_outcome(const outcomes *all, const double *v, double tolerance) {
    for (int i = 0; i < kept(all); i++)
        if (distance(carom_propagative_impact(all->p), all->list[i].v, v) <= tolerance) return i;
    return -1;
}

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

// The rates over |p-|, as the closed form takes them.
static void relative_rates(const carom_impact *impact, double rates[2]) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double *W = carom_impact_delassus(impact), scale = sqrt(2 * carom_impact_initial_energy(impact));
    for (int i = 0; i < 2; i++) rates[i] = carom_dot(data->nv, data->normal + i * data->nv, data->velocity) / sqrt(W[10 * i]) / scale;
}

static double cosine_of(const carom_impact *impact) {
    const double *W = carom_impact_delassus(impact);
    return W[2] / sqrt(W[0] * W[10]);
}

// How far the directions are from where a closed-form length changes, in wedges: there enumeration and formula may round differently.
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

static carom_uniqueness *study(const carom_impact *impact) {
    carom_error error;
    carom_uniqueness *u;
    carom_propagative *p = bind(impact);
    const carom_word_limits limits = carom_word_limits_defaults();
    assert_ok(carom_propagative_uniqueness(p, &limits, NULL, &u, &error), error);
    carom_propagative_free(p);
    return u;
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

// -------------------------------------------------------------------------------------------------------- termination

static void flat_cones_are_jammed(void **state) {
    (void)state;
    static const double walls[] = {1, -1}, ring[] = {-1, 1, 0, 0, -1, 1, 1, 0, -1}, one[] = {-1}, three[] = {1, 0, -1};
    const struct {
        carom_impact *impact;
        int contacts, nv;
    } cases[] = {{make_particle(walls, 2, one, 1), 2, 1}, {make_particle(ring, 3, three, 3), 3, 3}};
    for (int i = 0; i < 2; i++) {
        carom_propagative *p = bind(cases[i].impact);
        assert_true(carom_propagative_is_jammed(p));
        // The certificate: a convex combination of the unit normals that vanishes.
        const double *weights = carom_propagative_weights(p), *W = carom_impact_delassus(cases[i].impact);
        const carom_impact_data *data = carom_impact_get_data(cases[i].impact);
        double sum = 0;
        for (int k = 0; k < data->nv; k++) {
            double component = 0;
            for (int c = 0; c < data->contacts; c++)
                component += weights[c] * data->normal[c * data->nv + k] / sqrt(W[(size_t)(2 * c) * (size_t)(2 * data->contacts + 1)]);
            assert_true(fabs(component) <= 1e-12);
        }
        for (int c = 0; c < data->contacts; c++) {
            assert_true(weights[c] >= 0);
            sum += weights[c];
        }
        assert_close(sum, 1, 1e-12);
        carom_error error;
        carom_verdict verdict;
        outcomes none = {.p = p};
        const carom_word_limits limits = carom_word_limits_defaults();
        assert_refused(carom_propagative_enumerate(p, CAROM_WORDS_ADMISSIBLE, &limits, NULL, keep, &none, &verdict, &error),
                       CAROM_BAD_INPUT, error, "flat");
        carom_uniqueness *u = study(cases[i].impact);
        assert_int_equal(u->verdict, CAROM_UNIQUE_JAMMED);
        assert_true(isnan(u->difference));
        carom_uniqueness_free(u);
        carom_propagative_free(p);
        carom_impact_free(cases[i].impact);
    }
}

// Three symmetric planes: the longest words grow like the inverse of the margin.
static void words_grow_with_the_inverse_margin(void **state) {
    (void)state;
    static const double slopes[] = {1e-1, 1e-2, 1e-3};
    for (int i = 0; i < 3; i++) {
        double normals[9];
        for (int c = 0; c < 3; c++) {
            normals[3 * c] = cos(2 * PI * c / 3);
            normals[3 * c + 1] = sin(2 * PI * c / 3);
            normals[3 * c + 2] = slopes[i];
        }
        // Almost along the flat directions, so that the word is long.
        const double v[] = {-0.3, 0.2, -1};
        carom_impact *impact = make_particle(normals, 3, v, 3);
        carom_propagative *p = bind(impact);
        const double margin = carom_propagative_margin(p);
        assert_close(margin, slopes[i] / hypot(1, slopes[i]), 1e-12);
        const outcomes greedy = follow(p, &(carom_word_order){.kind = CAROM_ORDER_ARGMIN});
        assert_int_equal(greedy.verdict, CAROM_COMPLETE);
        assert_true((double)greedy.list[0].min_length <= 2 / margin + 3);
        assert_true((double)greedy.list[0].min_length >= 0.5 / margin);
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
}

// A limit is said, and the outcomes of both greedy orders are among those found.
static void limits_are_honest(void **state) {
    (void)state;
    const double half = 0.05;
    const double normals[] = {1, 0, half, -0.5, 0.8, half, -0.5, -0.9, half}, v[] = {-0.3, 0.2, -1};
    carom_impact *impact = make_particle(normals, 3, v, 3);
    carom_propagative *p = bind(impact);
    const outcomes some = enumerate_within(p, CAROM_WORDS_ADMISSIBLE, 40);
    assert_int_equal(some.verdict, CAROM_INCOMPLETE);
    const carom_word_order_kind greedy[] = {CAROM_ORDER_ARGMIN, CAROM_ORDER_ARGMAX};
    for (int i = 0; i < 2; i++) {
        const outcomes one = follow(p, &(carom_word_order){.kind = greedy[i]});
        assert_int_equal(one.verdict, CAROM_COMPLETE);
        assert_true(find_outcome(&some, one.list[0].v, 1e-9) >= 0);
    }
    outcomes cut = {.p = p};
    carom_error error;
    const carom_word_limits short_words = {.max_states = 1000, .max_length = 3};
    assert_ok(
        carom_propagative_follow(p, &(carom_word_order){.kind = CAROM_ORDER_ARGMIN}, &short_words, NULL, keep, &cut, &cut.verdict, &error),
        error);
    assert_int_equal(cut.verdict, CAROM_BUDGET_SPENT);
    assert_int_equal(cut.list[0].min_length, 3);
    carom_propagative_free(p);
    carom_impact_free(impact);
}

static bool always(void *user) {
    (void)user;
    return true;
}

static void enumerations_can_be_cancelled(void **state) {
    (void)state;
    static const double masses[] = {1, 1, 1, 1, 1, 1, 1, 1}, v[] = {8, 7, 6, 5, 4, 3, 2, 1};
    carom_impact *impact = make_cradle(masses, v, 8);
    carom_propagative *p = bind(impact);
    const carom_control control = {.cancelled = always};
    const carom_word_limits limits = carom_word_limits_defaults();
    for (int set = 0; set < 3; set++) {
        outcomes none = {.p = p};
        carom_error error;
        assert_ok(carom_propagative_enumerate(p, (carom_word_set)set, &limits, &control, keep, &none, &none.verdict, &error), error);
        assert_int_equal(none.verdict, CAROM_INTERRUPTED);
    }
    carom_propagative_free(p);
    carom_impact_free(impact);
}

// ---------------------------------------------------------------------------------------------------------- invariants

// Every admissible word by recursion, independent of the merged graph: outcomes and their numbers.
typedef struct listing {
    double ends[MOST_OUTCOMES][3];
    int64_t counts[MOST_OUTCOMES];
    int found;
    int64_t budget;
} listing;

static void list_words(const double *cosine, int n, const double *rates, double scale, listing *l) {
    bool feasible = true;
    for (int i = 0; i < n; i++) {
        if (rates[i] >= -CAROM_WORD_RATE_TOLERANCE * scale) continue;
        feasible = false;
        if (--l->budget < 0) return;
        double next[3];
        for (int j = 0; j < n; j++) next[j] = rates[j] - 2 * rates[i] * cosine[i * n + j];
        list_words(cosine, n, next, scale, l);
    }
    if (!feasible) return;
    int at = 0;
    while (at < l->found) {
        double apart = 0;
        for (int j = 0; j < n; j++) apart = fmax(apart, fabs(l->ends[at][j] - rates[j]));
        if (apart <= CAROM_WORD_MERGE_TOLERANCE * scale) break;
        at++;
    }
    assert_true(at < MOST_OUTCOMES);
    if (at == l->found) memcpy(l->ends[l->found++], rates, (size_t)n * sizeof *rates);
    l->counts[at]++;
}

// Energy, signs of impulses, feasibility, the part of p across the normals, growth of <p, c>, membership of greedy outcomes, reversal.
static void check_elastic(const carom_propagative *p, const outcomes *all) {
    const carom_impact *impact = carom_propagative_impact(p);
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double before = carom_impact_initial_energy(impact);
    for (int i = 0; i < kept(all); i++) {
        const outcome *o = &all->list[i];
        const double letters = (double)(o->min_length > 0 ? o->min_length : 1);
        assert_true(fabs(carom_impact_kinetic_energy(impact, o->v) / before - 1) <= 3e-15 * (letters + 1));
        for (int c = 0; c < data->contacts; c++) {
            assert_true(o->impulse[c] >= 0);
            assert_true(carom_dot(data->nv, data->normal + c * data->nv, o->v) >= -1e-11 * sqrt(2 * before));
        }
    }
}

static void three_contacts_agree_with_a_plain_listing(void **state) {
    (void)state;
    const int count = support_count(30, 300, 3000);
    int compared = 0, capped = 0;
    carom_stream stream;
    carom_stream_start(&stream, 4, 0);
    for (int k = 0; k < count; k++) {
        carom_impact *impact = make_random(&stream, 3, support_random_integer(&stream, 3, 5), k % 2);
        carom_propagative *p = bind(impact);
        if (carom_propagative_margin(p) < 0.05) {
            carom_propagative_free(p);
            carom_impact_free(impact);
            continue;
        }
        const outcomes all = enumerate(p, CAROM_WORDS_ADMISSIBLE);
        check_elastic(p, &all);
        if (all.verdict != CAROM_COMPLETE || all.count > MOST_OUTCOMES) {
            carom_propagative_free(p);
            carom_impact_free(impact);
            continue;
        }

        const carom_impact_data *data = carom_impact_get_data(impact);
        const double *W = carom_impact_delassus(impact), scale = sqrt(2 * carom_impact_initial_energy(impact));
        double cosine[9], rates[3];
        for (int i = 0; i < 3; i++) {
            rates[i] = carom_dot(data->nv, data->normal + i * data->nv, data->velocity) / sqrt(W[14 * i]);
            for (int j = 0; j < 3; j++) cosine[3 * i + j] = W[12 * i + 2 * j] / sqrt(W[14 * i] * W[14 * j]);
        }
        listing l = {.budget = 2000000};
        list_words(cosine, 3, rates, scale, &l);
        if (l.budget >= 0) {
            compared++;
            assert_int_equal(l.found, all.count);
            for (int i = 0; i < all.count; i++) {
                double end[3];
                for (int c = 0; c < 3; c++) end[c] = carom_dot(data->nv, data->normal + c * data->nv, all.list[i].v) / sqrt(W[14 * c]);
                int64_t words = 0;
                for (int e = 0; e < l.found; e++) {
                    double apart = 0;
                    for (int c = 0; c < 3; c++) apart = fmax(apart, fabs(l.ends[e][c] - end[c]));
                    if (apart <= 1e-8 * scale) words = l.counts[e];
                }
                assert_int_equal(words, all.list[i].count);
            }
        }
        const carom_word_order orders[] = {{.kind = CAROM_ORDER_ARGMIN},
                                           {.kind = CAROM_ORDER_ARGMAX},
                                           {.kind = CAROM_ORDER_RANDOM, .seed = (uint64_t)k},
                                           {.kind = CAROM_ORDER_GIVEN, .list = (const int[]){2, 0, 1, 0}, .count = 4}};
        for (int i = 0; i < 4; i++) {
            const outcomes one = follow(p, &orders[i]);
            assert_int_equal(one.verdict, CAROM_COMPLETE);
            assert_true(find_outcome(&all, one.list[0].v, 1e-8 * scale) >= 0);
        }
        const outcomes minimal = enumerate(p, CAROM_WORDS_MINIMAL);
        capped += minimal.verdict != CAROM_COMPLETE;
        assert_true(minimal.count >= 1);
        for (int i = 0; i < minimal.count; i++) assert_true(find_outcome(&all, minimal.list[i].v, 1e-8 * scale) >= 0);
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
    assert_true(2 * compared > count);
    // Subsequences of long words may be more than the limit of momenta; then the answer says so.
    assert_true(100 * capped <= count);
}

// A word given as an order is followed letter by letter, its momenta rise along the inner direction, and backwards it undoes itself.
static void witnesses_replay_and_reverse(void **state) {
    (void)state;
    const int count = support_count(20, 100, 1000);
    carom_stream stream;
    carom_stream_start(&stream, 5, 0);
    for (int k = 0; k < count; k++) {
        carom_impact *impact = make_random(&stream, 3, 4, true);
        carom_propagative *p = bind(impact);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const double *W = carom_impact_delassus(impact), *response = carom_impact_response(impact), *weights = carom_propagative_weights(p);
        const outcomes all = enumerate_within(p, CAROM_WORDS_ADMISSIBLE, 5000);
        for (int i = 0; i < kept(&all) && all.list[i].min_length < 60; i++) {
            int word[64];
            const int length = (int)all.list[i].min_length;
            for (int n = 0; n < length; n++) word[n] = all.list[i].word[n] - '0';
            const outcomes one = follow(p, &(carom_word_order){.kind = CAROM_ORDER_GIVEN, .list = word, .count = length});
            assert_string_equal(one.list[0].word, all.list[i].word);
            assert_true(distance(impact, one.list[0].v, all.list[i].v) <= 1e-12 * sqrt(2 * carom_impact_initial_energy(impact)));

            double v[MOST_SIZE], monitor = -INFINITY;
            memcpy(v, data->velocity, (size_t)data->nv * sizeof *v);
            for (int n = 0; n <= 2 * length; n++) {
                if (n <= length) {
                    double next = 0;
                    for (int c = 0; c < 3; c++) next += weights[c] * carom_dot(data->nv, data->normal + c * data->nv, v) / sqrt(W[14 * c]);
                    assert_true(next > monitor);
                    monitor = next;
                }
                if (n == 2 * length) break;
                const int c = word[n < length ? n : 2 * length - 1 - n];
                const double impulse = -2 * carom_dot(data->nv, data->normal + c * data->nv, v) / W[14 * c];
                for (int j = 0; j < data->nv; j++) v[j] += impulse * response[2 * c * data->nv + j];
            }
            assert_true(distance(impact, v, data->velocity) <= 1e-12 * sqrt(2 * carom_impact_initial_energy(impact)));
        }
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
}

// Scaled normals, permuted contacts and other coordinates q -> T q give the same set, with permuted words.
static void outcomes_do_not_depend_on_the_description(void **state) {
    (void)state;
    enum { N = 3 };
    carom_stream stream;
    carom_stream_start(&stream, 6, 0);
    static const int moved[N] = {2, 0, 1};
    for (int k = 0; k < 50; k++) {
        carom_impact *impact = make_random(&stream, N, N, true);
        const carom_impact_data *data = carom_impact_get_data(impact);
        // v = T v', M' = T' M T, W' = W T with T upper triangular.
        double T[N * N] = {0}, MT[N * N] = {0}, mass[N * N] = {0}, normal[N * N] = {0}, v[N];
        for (int i = 0; i < N; i++)
            for (int j = i; j < N; j++) T[i * N + j] = (i == j ? 2 : 0) + 0.5 * carom_stream_uniform(&stream);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int l = 0; l < N; l++) MT[i * N + j] += data->mass[i * N + l] * T[l * N + j];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int l = 0; l < N; l++) {
                    mass[i * N + j] += T[l * N + i] * MT[l * N + j];
                    normal[moved[i] * N + j] += (1 + i) * data->normal[i * N + l] * T[l * N + j];
                }
        for (int i = N - 1; i >= 0; i--) {
            v[i] = data->velocity[i];
            for (int j = i + 1; j < N; j++) v[i] -= T[i * N + j] * v[j];
            v[i] /= T[i * N + i];
        }
        carom_impact *other =
            support_impact(&(carom_impact_data){.nv = N, .contacts = N, .tangent_dim = 1, .mass = mass, .normal = normal, .velocity = v});
        carom_propagative *p = bind(impact), *q = bind(other);
        const outcomes all = enumerate_within(p, CAROM_WORDS_ADMISSIBLE, 20000), same = enumerate_within(q, CAROM_WORDS_ADMISSIBLE, 20000);
        if (all.verdict == CAROM_COMPLETE && all.count <= MOST_OUTCOMES && carom_propagative_margin(p) > 0.05) {
            assert_int_equal(same.count, all.count);
            for (int i = 0; i < same.count; i++) {
                double mapped[N] = {0};
                for (int a = 0; a < N; a++)
                    for (int b = 0; b < N; b++) mapped[a] += T[a * N + b] * same.list[i].v[b];
                const int at = find_outcome(&all, mapped, 1e-9 * sqrt(2 * carom_impact_initial_energy(impact)));
                assert_true(at >= 0);
                assert_int_equal(same.list[i].count, all.list[at].count);
                assert_int_equal(same.list[i].min_length, all.list[at].min_length);
            }
        }
        carom_propagative_free(p);
        carom_propagative_free(q);
        carom_impact_free(impact);
        carom_impact_free(other);
    }
}

static void equal_normals_are_one_mirror(void **state) {
    (void)state;
    static const double normals[] = {1, 0, 3, 0, 0, 1}, v[] = {-1, -1};
    carom_impact *impact = make_particle(normals, 3, v, 2);
    carom_propagative *p = bind(impact);
    assert_int_equal(carom_propagative_stands_for(p, 1), 0);
    assert_int_equal(carom_propagative_stands_for(p, 2), 2);
    const outcomes all = enumerate(p, CAROM_WORDS_ADMISSIBLE);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.list[0].count, 2);
    assert_close(all.list[0].impulse[0], 2, 1e-15);
    assert_close(all.list[0].impulse[1], 0, 1e-15);
    carom_propagative_free(p);
    carom_impact_free(impact);
}

// Three balls that touch each other: literal words go on and on. The search gives up, and says so.
static void literal_words_come_to_an_end(void **state) {
    (void)state;
    static const double h = 0.8660254037844386;
    static const double normals[] = {0, 1, 0, -1, 0, 0, h, 0.5, 0, 0, -h, -0.5, 0, 0, h, -0.5, -h, 0.5}, v[] = {0, 0, 0, 0, 1, 0};
    carom_impact *impact = make_particle(normals, 3, v, 6);
    carom_propagative *p = bind(impact);
    const outcomes all = enumerate(p, CAROM_WORDS_LITERAL);
    assert_int_equal(all.verdict, CAROM_INCOMPLETE);
    assert_int_equal(enumerate(p, CAROM_WORDS_MINIMAL).verdict, CAROM_COMPLETE);
    carom_propagative_free(p);
    carom_impact_free(impact);
}

static void feasible_momenta_stay(void **state) {
    (void)state;
    static const double masses[] = {1, 2, 3}, v[] = {-1, 0, 0.5}, rest[] = {0, 0, 0};
    const double *const velocities[] = {v, rest};
    for (int i = 0; i < 2; i++) {
        carom_impact *impact = make_cradle(masses, velocities[i], 3);
        carom_propagative *p = bind(impact);
        for (int set = 0; set < 3; set++) {
            const outcomes all = enumerate(p, (carom_word_set)set);
            assert_int_equal(all.count, 1);
            assert_int_equal(all.list[0].min_length, 0);
            assert_int_equal(all.list[0].count, 1);
            assert_all_close(all.list[0].v, velocities[i], 3, 0);
        }
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
}

// ----------------------------------------------------------------------------------------------- plastic and inelastic

static void plastic_outcomes_obey_their_laws(void **state) {
    (void)state;
    const int count = support_count(100, 1000, 20000);
    int adhesive_pairs = 0;
    carom_stream stream;
    carom_stream_start(&stream, 7, 0);
    for (int k = 0; k < count; k++) {
        carom_impact *impact = make_random(&stream, support_random_integer(&stream, 1, 4), 5, k % 2);
        carom_propagative *p = bind(impact);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const double scale = sqrt(2 * carom_impact_initial_energy(impact));
        carom_error error;
        for (int kind = 0; kind < 2; kind++) {
            double impulse[4], v[5];
            bool adhesive;
            assert_ok(carom_propagative_plastic(p, (carom_plastic_kind)kind, impulse, &adhesive, &error), error);
            assert_ok(carom_propagative_velocity(p, impulse, v, &error), error);
            assert_true(carom_impact_kinetic_energy(impact, v) <= carom_impact_initial_energy(impact) * (1 + 1e-12));
            bool pulls = false;
            for (int c = 0; c < data->contacts; c++) {
                const double rate = carom_dot(data->nv, data->normal + c * data->nv, v);
                pulls = pulls || impulse[c] < -1e-9 * scale;
                if (kind == CAROM_PLASTIC_BILATERAL) {
                    assert_true(fabs(rate) <= 1e-10 * scale);
                } else {
                    assert_true(impulse[c] >= 0 && rate >= -1e-10 * scale);
                    assert_true(impulse[c] * rate <= 1e-9 * scale * scale);
                }
            }
            if (kind == CAROM_PLASTIC_UNILATERAL) assert_false(adhesive);
            if (pulls) assert_true(adhesive);
            adhesive_pairs += adhesive;
        }
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
    assert_true(adhesive_pairs > count / 4);
}

static void blends_measure_their_restitution(void **state) {
    (void)state;
    const int count = support_count(50, 500, 5000);
    carom_stream stream;
    carom_stream_start(&stream, 8, 0);
    for (int k = 0; k < count; k++) {
        carom_impact *impact = make_random(&stream, support_random_integer(&stream, 1, 3), 4, true);
        carom_propagative *p = bind(impact);
        const outcomes greedy = follow(p, &(carom_word_order){.kind = CAROM_ORDER_ARGMIN});
        const carom_impact_data *data = carom_impact_get_data(impact);
        const double before = carom_impact_initial_energy(impact);
        // Hundreds of letters in a flat wedge leave the round-off of as many reflections in the elastic outcome.
        const double letters = fmax(1, 0.01 * (double)greedy.list[0].min_length);
        static const double restitutions[] = {0, 0.1, 0.5, 0.7, 0.99, 1};
        carom_error error;
        for (int kind = 0; kind < 2; kind++)
            for (int r = 0; r < 6; r++) {
                double plastic[3], impulse[3], v[4], stopped[4];
                bool adhesive;
                assert_ok(carom_propagative_plastic(p, (carom_plastic_kind)kind, plastic, &adhesive, &error), error);
                assert_ok(carom_propagative_velocity(p, plastic, stopped, &error), error);
                carom_propagative_blend(p, restitutions[r], plastic, greedy.list[0].impulse, impulse);
                assert_ok(carom_propagative_velocity(p, impulse, v, &error), error);
                const double lost = before - carom_impact_kinetic_energy(impact, stopped);
                if (lost < 1e-3 * before) continue;
                const double measured = sqrt(fmax(1 - (before - carom_impact_kinetic_energy(impact, v)) / lost, 0));
                // The root of a difference of energies: near 0 round-off of 1e-16 shows as 1e-8, so squares are compared there.
                assert_true(fabs(measured * measured - restitutions[r] * restitutions[r]) <= 1e-11 * letters);
                if (restitutions[r] >= 0.1) assert_true(fabs(measured - restitutions[r]) <= 1e-11 * letters);
                for (int c = 0; c < data->contacts; c++)
                    assert_true(carom_dot(data->nv, data->normal + c * data->nv, v) >= -1e-10 * sqrt(2 * before));
            }
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
}

// ------------------------------------------------------------------------------------------------------------- the law

static carom_registry *registry;

static int64_t integer_of(const carom_table *table, const char *column, int64_t row) {
    return carom_table_integer_column(table, carom_table_find(table, column))[row];
}

// The unit cradle: v+ = ((1-R)/3, (1-R)/3, (1+2R)/3) and E+/E- = (1 + 2 R^2)/3.
static void law_blends_the_unit_cradle(void **state) {
    (void)state;
    static const double masses[] = {1, 1, 1}, v[] = {1, 0, 0};
    static const char *const texts[] = {"0", "0.25", "0.7", "1"};
    carom_impact *impact = make_cradle(masses, v, 3);
    for (int i = 0; i < 4; i++)
        for (int kind = 0; kind < 2; kind++) {
            double R;
            assert_true(carom_parse_number(texts[i], &R));
            const double expected[] = {(1 - R) / 3, (1 - R) / 3, (1 + 2 * R) / 3};
            carom_answer answer = support_ask(registry, impact, "propagative",
                                              (const char *[]){"restitution", texts[i], "plastic", carom_plastic_kind_names[kind], NULL});
            assert_int_equal(carom_table_rows(answer.outcomes), 1);
            assert_all_close(carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY), expected, 3, 1e-14);
            assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_ENERGY_RATIO), (1 + 2 * R * R) / 3, 1e-14);
            assert_int_equal(integer_of(answer.outcomes, "count", 0), i == 0 ? 0 : 1);
            carom_answer_free(&answer);
        }
    carom_impact_free(impact);
}

static void law_says_when_it_is_jammed(void **state) {
    (void)state;
    static const double walls[] = {1, -1}, v[] = {-1};
    carom_impact *impact = make_particle(walls, 2, v, 1);
    carom_answer answer = support_ask(registry, impact, "propagative", NULL);
    assert_true(carom_answer_complete(&answer));
    assert_int_equal(integer_of(answer.result, "jammed", 0), 1);
    assert_int_equal(carom_table_rows(answer.outcomes), 1);
    assert_int_equal(integer_of(answer.outcomes, "jammed", 0), 1);
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY), 0, 1e-15);
    const double *certificate = carom_table_real_column(answer.result, carom_table_find(answer.result, "certificate"));
    assert_close(certificate[0], 0.5, 1e-12);
    assert_close(certificate[1], 0.5, 1e-12);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

static void law_flags_what_it_leaves_out(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_answer answer = support_ask(registry, impact, "propagative", NULL);
    assert_true(carom_table_rows(answer.outcomes) >= 1);
    for (int64_t row = 0; row < carom_table_rows(answer.outcomes); row++)
        assert_int_equal(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_FLAGS)[row], CAROM_FLAG_FRICTION_IGNORED);
    carom_answer_free(&answer);
    carom_impact_free(impact);
    // Only the left ball approaches: stopping both contacts makes the right one pull.
    static const double masses[] = {1, 1, 1}, v[] = {1, 0, 2};
    impact = make_cradle(masses, v, 3);
    answer = support_ask(registry, impact, "propagative", (const char *[]){"restitution", "0.5", "plastic", "bilateral", NULL});
    assert_int_equal(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_FLAGS)[0], CAROM_FLAG_ADHESIVE);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

static void law_takes_orders(void **state) {
    (void)state;
    static const double masses[] = {1, 3, 1}, v[] = {1, 0, -1};
    carom_impact *impact = make_cradle(masses, v, 3);
    static const struct {
        const char *order;
        int first;
    } orders[] = {{"argmin", 0}, {"A,B", 0}, {"B,A", 1}, {"B", 1}};
    for (int i = 0; i < 4; i++) {
        carom_answer answer = support_ask(registry, impact, "propagative", (const char *[]){"order", orders[i].order, NULL});
        int count;
        assert_int_equal(carom_table_list(answer.outcomes, CAROM_OUTCOME_WORD, 0, &count)[0], orders[i].first);
        assert_int_equal(integer_of(answer.outcomes, "count", 0), 1);
        // A list that leaves a contact out may leave it approaching.
        assert_int_equal(carom_answer_complete(&answer), i != 3);
        assert_int_equal(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED)[0], i != 3);
        carom_answer_free(&answer);
    }
    const carom_law *law = carom_law_find(registry, "propagative");
    void *options = malloc(law->options_size);
    law->defaults(options);
    carom_error error;
    carom_answer answer;
    assert_ok(carom_law_set(law, options, "order", "A,,B", &error), error);
    assert_refused(carom_law_resolve(law, &(carom_law_call){.impact = impact, .options = options}, &answer, &error), CAROM_BAD_INPUT, error,
                   "order: ");
    free(options);
    carom_impact_free(impact);
}

static int start(void **state) {
    (void)state;
    return carom_registry_create(&registry, NULL) != CAROM_OK;
}

static int stop(void **state) {
    (void)state;
    carom_registry_free(registry);
    return 0;
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
        cmocka_unit_test(flat_cones_are_jammed),
        cmocka_unit_test(words_grow_with_the_inverse_margin),
        cmocka_unit_test(limits_are_honest),
        cmocka_unit_test(enumerations_can_be_cancelled),
        cmocka_unit_test(three_contacts_agree_with_a_plain_listing),
        cmocka_unit_test(witnesses_replay_and_reverse),
        cmocka_unit_test(outcomes_do_not_depend_on_the_description),
        cmocka_unit_test(equal_normals_are_one_mirror),
        cmocka_unit_test(literal_words_come_to_an_end),
        cmocka_unit_test(feasible_momenta_stay),
        cmocka_unit_test(plastic_outcomes_obey_their_laws),
        cmocka_unit_test(blends_measure_their_restitution),
        cmocka_unit_test(law_blends_the_unit_cradle),
        cmocka_unit_test(law_says_when_it_is_jammed),
        cmocka_unit_test(law_flags_what_it_leaves_out),
        cmocka_unit_test(law_takes_orders),
    };
    return cmocka_run_group_tests_name("propagative", tests, start, stop);
}
