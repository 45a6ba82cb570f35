// SPDX-License-Identifier: Apache-2.0
// The propagative model: termination, and the invariants that every system obeys.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "propagative_support.h"

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

// Outcomes that are in the list.
static int kept(const outcomes *all) { return all->count < MOST_OUTCOMES ? all->count : MOST_OUTCOMES; }

static int find_outcome(const outcomes *all, const double *v, double tolerance) {
    for (int i = 0; i < kept(all); i++)
        if (distance(carom_propagative_impact(all->p), all->list[i].v, v) <= tolerance) return i;
    return -1;
}

// A search that reaches a limit says so, and the outcomes of both greedy orders are among those found.
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

int main(void) {
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests_name("propagative invariants", tests, NULL, NULL);
}
