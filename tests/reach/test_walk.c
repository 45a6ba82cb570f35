// SPDX-License-Identifier: Apache-2.0
// Walks: their ends against exact sets with known vertices, invariants of every solution, determinism, bad input; the friction problem.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/box.h"
#include "carom/reach.h"
#include "support.h"

enum { MOST = 64 };

typedef struct walk {
    double v[MOST], u[MOST], impulse[MOST];
    carom_sample_counts result;
} walk;

static carom_walker *make_walker(const carom_impact *impact, int64_t max_steps) {
    carom_walker *walker;
    carom_error error;
    assert_ok(carom_walker_create(impact, &(carom_walker_options){.max_steps = max_steps}, &walker, &error), error);
    return walker;
}

static walk run(carom_walker *walker, const carom_impact *impact, int64_t index) {
    walk w;
    carom_walker_run(walker, 1, index, w.v, w.impulse, &w.result);
    carom_impact_contact_velocity(impact, w.v, w.u);
    return w;
}

// ---------------------------------------------------------------------------------------------------------- exact sets

// A known set: vertices contact-major, of pieces that follow each other.
typedef struct known_set {
    const carom_impact_data *data;
    int n, pieces;
    int64_t starts[4];
    const double *vertices;
    double tolerance;  // of the digits that are known, [m/s]
    double cover;      // of 4096 walks, between the published ones of 2^10 and 2^14 with a margin [m/s]
} known_set;

// The block: k v- with k = 3 w^2 (2 h^2 - w^2) / (4 (w^2 + h^2)^2) = 0.21 for sticking friction.
#define BLOCK (0.21 * 0.44294469180700202)

static const known_set known_sets[] = {
    {&reference_block, 4, 2, {0, 2, 4}, (const double[]){0, 0, 0, 0, BLOCK, 0, 0, 0, 0, 0, 0, 0, 0, 0, BLOCK, 0}, 1e-12, 0.0012},
    {&reference_boxwall,
     4,
     1,
     {0, 3},
     (const double[]){0, 0, 0, 0, 0, 0.372097803, 0, 0.065610885, 0, 0.305764777, 0.10564229, 0.0725421692},
     1e-7,
     0.038},
    {&reference_compass,
     4,
     2,
     {0, 3, 6},
     (const double[]){0, 0, 0, 0, 0, -0.0691922441, 0, 0, 0.037450441,  -0.0744905857, 0, 0, 0, 0,
                      0, 0, 0, 0, 0, 0.128490445,   0, 0, 0.0995551492, 0.198019601},
     1e-7,
     0.035},
};

static void walks_end_in_the_exact_set_and_cover_it(void **state) {
    (void)state;
    // Without Qhull the bound of a cover is looser.
    if (!support_has("QHULL")) skip();
    enum { WALKS = 4096 };
    static double ends[WALKS * 4];
    for (size_t k = 0; k < sizeof known_sets / sizeof *known_sets; k++) {
        const known_set *known = &known_sets[k];
        carom_error error;
        carom_set *exact, *sampled;
        carom_impact *impact = support_impact(known->data);
        carom_walker *walker = make_walker(impact, 10000);
        assert_ok(carom_set_create(known->n, known->pieces, known->starts, known->vertices, &exact, &error), error);
        for (int i = 0; i < WALKS; i++) {
            const walk w = run(walker, impact, i);
            assert_true(w.result.terminated);
            memcpy(ends + 4 * i, w.u, 4 * sizeof *ends);
            assert_true(carom_set_distance(exact, w.u, NULL) <= known->tolerance);
        }
        assert_ok(carom_set_create(known->n, WALKS, NULL, ends, &sampled, &error), error);
        double worst[4];
        carom_cover cover = {.point = worst};
        const carom_cover_options options = carom_cover_defaults();
        assert_ok(carom_set_cover(exact, sampled, &options, NULL, &cover, &error), error);
        assert_true(cover.bound <= known->cover);
        carom_set_free(exact);
        carom_set_free(sampled);
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
}

// One contact is Routh's method: slide at rates (2.75, 2.25) to rest, then in reverse at (1.25, 0.75); v_t+ = 34/75, unique.
static void one_contact_follows_routh(void **state) {
    (void)state;
    const carom_delassus_data data = {.contacts = 1,
                                      .tangent_dim = 1,
                                      .delassus = (const double[]){2, 1.5, 1.5, 1.5},
                                      .velocity = (const double[]){-1, -0.2},
                                      .friction = (const double[]){0.5}};
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
    carom_walker *walker = make_walker(impact, 10000);
    for (int i = 0; i < 200; i++) {
        const walk w = run(walker, impact, i);
        assert_true(w.result.terminated);
        assert_close(w.u[0], 0, 1e-12);
        assert_close(w.u[1], 34.0 / 75, 1e-12);
    }
    carom_walker_free(walker);
    carom_impact_free(impact);
}

// Impacts whose exact set is a single point or a segment of one normal velocity, with everything else at rest.
typedef struct flat_set {
    carom_impact_data data;
    int varying;  // contact velocity that may vary
    double least, most;
    double others[MOST];
} flat_set;

static const flat_set flat_sets[] = {
    // The block of width 1 and height 2 moving sideways at 0.3: only A lifts.
    {.data = {.nv = 3,
              .contacts = 2,
              .tangent_dim = 1,
              .mass = (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 5.0 / 12},
              .normal = (const double[]){0, 1, -0.5, 0, 1, 0.5},
              .tangent = (const double[]){1, 0, 1, 1, 0, 1},
              .friction = (const double[]){1, 1},
              .velocity = (const double[]){0.3, -0.4429, 0}},
     .least = 0.04713,
     .most = 0.219009},
    // The same block hits a wall with its lower right corner.
    {.data = {.nv = 3,
              .contacts = 3,
              .tangent_dim = 1,
              .mass = (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 5.0 / 12},
              .normal = (const double[]){0, 1, -0.5, 0, 1, 0.5, -1, 0, -1},
              .tangent = (const double[]){1, 0, 1, 1, 0, 1, 0, 1, 0.5},
              .friction = (const double[]){0.5, 0.5, 0.5},
              .velocity = (const double[]){1, -0.25, 0}},
     .least = 0.525,
     .most = 0.5931818182},
    // Two disks on a floor, the left one slides against the right one.
    {.data = {.nv = 6,
              .contacts = 3,
              .tangent_dim = 1,
              .mass = (const double[]){1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0,
                                       0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,   0, 0, 0.5},
              .normal = (const double[]){0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, -1, 0, 0, 1, 0, 0},
              .tangent = (const double[]){1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, -1, -1, 0, 1, -1},
              .friction = (const double[]){0.5, 0.5, 0.5},
              .velocity = (const double[]){1, 0, 0, 0, 0, 0}},
     .others = {0, 0.5, 0, 0.5}},
};

static void sets_of_low_dimension_are_met_exactly(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof flat_sets / sizeof *flat_sets; k++) {
        const flat_set *flat = &flat_sets[k];
        carom_impact *impact = support_impact(&flat->data);
        carom_walker *walker = make_walker(impact, 10000);
        double least = INFINITY, most = -INFINITY;
        for (int i = 0; i < 2000; i++) {
            const walk w = run(walker, impact, i);
            assert_true(w.result.terminated);
            for (int c = 0; c < carom_impact_contact_size(impact); c++)
                if (c != flat->varying) assert_close(w.u[c], flat->others[c], 1e-10);
            least = fmin(least, w.u[flat->varying]);
            most = fmax(most, w.u[flat->varying]);
        }
        assert_true(least >= flat->least - 1e-9 && most <= flat->most + 1e-9);
        const double length = flat->most - flat->least;
        assert_true(least <= flat->least + 0.02 * length + 1e-9 && most >= flat->most - 0.02 * length - 1e-9);
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
}

// ------------------------------------------------------------------------------------------------- certified bounds

// A random impact with two contacts: M = AA' + 0.1 I, J and v standard normal, mu uniform in [0, most_friction].
static carom_impact *random_pair(uint64_t index, double most_friction) {
    enum { NV = 4 };
    carom_stream stream;
    carom_stream_start(&stream, 2025, index);
    double factor[NV][NV], mass[NV * NV], jacobian[4 * NV], velocity[NV], friction[2];
    for (int i = 0; i < NV * NV; i++) factor[i / NV][i % NV] = carom_stream_normal(&stream);
    for (int i = 0; i < 4 * NV; i++) jacobian[i] = carom_stream_normal(&stream);
    for (int i = 0; i < NV; i++) velocity[i] = carom_stream_normal(&stream);
    for (int i = 0; i < 2; i++) friction[i] = most_friction * carom_stream_uniform(&stream);
    for (int i = 0; i < NV * NV; i++) {
        mass[i] = i / NV == i % NV ? 0.1 : 0;
        for (int k = 0; k < NV; k++) mass[i] += factor[i / NV][k] * factor[i % NV][k];
    }
    const carom_impact_data data = {.nv = NV,
                                    .contacts = 2,
                                    .tangent_dim = 1,
                                    .mass = mass,
                                    .normal = jacobian,
                                    .tangent = jacobian + 2 * NV,
                                    .friction = friction,
                                    .velocity = velocity};
    return support_impact(&data);
}

static carom_set *set_of(const carom_polyhedra *polyhedra) {
    int64_t *starts = calloc((size_t)polyhedra->count + 1, sizeof *starts);
    for (int i = 0; i < polyhedra->count; i++) starts[i + 1] = starts[i] + polyhedra->pieces[i].vertices;
    const size_t n = (size_t)polyhedra->n;
    double *points = malloc((size_t)starts[polyhedra->count] * n * sizeof *points);
    for (int i = 0; i < polyhedra->count; i++)
        memcpy(points + (size_t)starts[i] * n, polyhedra->pieces[i].contact_velocity,
               (size_t)polyhedra->pieces[i].vertices * n * sizeof *points);
    carom_set *set;
    carom_error error;
    assert_ok(carom_set_create(polyhedra->n, polyhedra->count, starts, points, &set, &error), error);
    free(starts);
    free(points);
    return set;
}

// The largest distance of an end of a walk from the set of that mode; -1 where it was not finished in time.
static double farthest_end(const carom_impact *impact, carom_exact_mode mode, double seconds, int walks) {
    carom_exact_options options = carom_exact_defaults();
    options.mode = (int)mode;
    options.seconds = seconds;
    carom_exact_set *exact;
    carom_error error;
    assert_ok(carom_exact_solve(impact, &options, NULL, &exact, &error), error);
    double farthest = -1;
    if (exact->status == CAROM_EXACT_OK || exact->status == CAROM_EXACT_TERMINAL_START) {
        carom_set *set = set_of(exact->pieces);
        carom_walker *walker = make_walker(impact, 10000);
        for (int i = 0; i < walks; i++) {
            const walk w = run(walker, impact, i);
            if (w.result.terminated) farthest = fmax(farthest, carom_set_distance(set, w.u, NULL));
        }
        carom_walker_free(walker);
        carom_set_free(set);
    }
    carom_exact_set_free(exact);
    return farthest;
}

// Computed numbers are rounded to 2^-40 of their scale before they become rational, which ill-conditioned impacts magnify.
static void walks_stay_in_certified_sets_of_random_pairs(void **state) {
    (void)state;
    if (!carom_exact_available()) skip();
    int finished = 0, bounded = 0;
    const int count = support_count(4, 12, 200);
    for (int i = 0; i < count; i++) {
        carom_impact *impact = random_pair((uint64_t)i, i % 2 ? 1.5 : 6);
        const double tolerance = 1e-9 * carom_impact_velocity_scale(impact);
        const double exact = farthest_end(impact, CAROM_EXACT_UNION, 1, 200), outer = farthest_end(impact, CAROM_EXACT_HULL, 1, 200);
        assert_true(exact <= tolerance && outer <= tolerance);
        finished += exact >= 0;
        bounded += outer >= 0;
        carom_impact_free(impact);
    }
    // How many are finished in time depends on the machine.
    assert_true(finished >= 1 && bounded >= 1);
}

// Of matrices in doubles, which both sides take as they come. These sets take hundredths of a second, under valgrind some seconds.
static void walks_of_known_scenes_end_in_their_sets(void **state) {
    (void)state;
    if (!carom_exact_available()) skip();
    const carom_impact_data *scenes[] = {&reference_block, &reference_boxwall, &reference_compass, &reference_ramone};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        carom_impact *impact = support_impact(scenes[i]);
        const double farthest = farthest_end(impact, CAROM_EXACT_UNION, 60, support_count(1024, 4096, 16384));
        assert_true(farthest >= 0 && farthest <= 1e-9);
        carom_impact_free(impact);
    }
}

// ------------------------------------------------------------------------------------------------------- long walks

// Contacts whose normals nearly oppose each other: without sliding along Jn_i v = 0 while another contact presses, walks went to and fro
// between them for 300 to 10,000 pieces.
static void walks_between_opposing_contacts_end_soon(void **state) {
    (void)state;
    int pointed = 0;
    int64_t walks = 0, pieces = 0;
    for (int index = 0; index < support_count(60, 400, 4000); index++) {
        carom_impact *impact = random_pair((uint64_t)(1000 + index), index % 2 ? 1.5 : 6);
        carom_reach_bounds bounds;
        carom_error error;
        assert_ok(carom_reach_get_bounds(impact, 2, 1, &bounds, &error), error);
        if (bounds.pointed) {
            carom_walker *walker = make_walker(impact, 10000);
            for (int i = 0; i < 50; i++) {
                const walk w = run(walker, impact, i);
                assert_true(w.result.terminated && w.result.steps <= 200);
                pieces += w.result.steps;
                walks++;
            }
            carom_walker_free(walker);
            pointed++;
        }
        carom_impact_free(impact);
    }
    assert_true(pointed > 0 && pieces < 30 * walks);
}

// Three and four contacts, which must be held together.
static void walks_among_many_contacts_end(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 32, 0);
    for (int k = 0; k < support_count(40, 300, 3000); k++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(k % FAMILIES), 4, 1, 1.5);
        carom_reach_bounds bounds;
        carom_error error;
        assert_ok(carom_reach_get_bounds(impact, 2, 1, &bounds, &error), error);
        carom_walker *walker = make_walker(impact, 5000);
        for (int i = 0; i < 20 && bounds.pointed; i++) assert_true(run(walker, impact, i).result.terminated);
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
}

// A contact at rest that only the friction of sticking pulls down is held by a weight of 2e-8 times the other's (RAMone's middle solution),
// or by a larger one: walks reach both ends of the segment on which both feet rest, and all between.
static void held_contacts_take_the_least_weight_and_larger_ones(void **state) {
    (void)state;
    enum { WALKS = 8192, BINS = 8 };
    carom_impact *impact = support_impact(&reference_ramone);
    carom_walker *walker = make_walker(impact, 10000);
    int bins[BINS] = {0};
    for (int i = 0; i < WALKS; i++) {
        const walk w = run(walker, impact, i);
        // The segment from rest to the slip of that solution.
        if (fabs(w.u[0]) + fabs(w.u[1]) + fabs(w.u[2]) > 1e-9) continue;
        const double share = w.u[3] / -0.019516304638809046;
        assert_true(share >= -1e-9 && share <= 1 + 1e-9);
        const int bin = (int)(BINS * share);
        bins[bin < 0 ? 0 : bin < BINS ? bin : BINS - 1]++;
    }
    for (int b = 0; b < BINS; b++) assert_true(bins[b] > 0);
    assert_true(bins[0] > WALKS / 10 && bins[BINS - 1] > WALKS / 100);
    carom_walker_free(walker);
    carom_impact_free(impact);
}

// Exchanging the contacts and turning a tangent round changes the random numbers' meaning, but not the set: extents agree.
static void walks_do_not_prefer_a_contact(void **state) {
    (void)state;
    carom_impact_data turned = reference_compass;
    double normal[8], tangent[8];
    for (int k = 0; k < 4; k++) {
        normal[k] = reference_compass.normal[4 + k];
        normal[4 + k] = reference_compass.normal[k];
        tangent[k] = -reference_compass.tangent[4 + k];
        tangent[4 + k] = reference_compass.tangent[k];
    }
    turned.normal = normal;
    turned.tangent = tangent;
    carom_impact *impacts[] = {support_impact(&reference_compass), support_impact(&turned)};
    double least[2][4] = {{0}}, most[2][4] = {{0}};
    for (int side = 0; side < 2; side++) {
        carom_walker *walker = make_walker(impacts[side], 10000);
        for (int i = 0; i < 8192; i++) {
            const walk w = run(walker, impacts[side], i);
            const double u[4] = {w.u[side ? 2 : 0], side ? w.u[3] : w.u[1], w.u[side ? 0 : 2], side ? -w.u[1] : w.u[3]};
            for (int c = 0; c < 4; c++) {
                least[side][c] = fmin(least[side][c], u[c]);
                most[side][c] = fmax(most[side][c], u[c]);
            }
        }
        carom_walker_free(walker);
        carom_impact_free(impacts[side]);
    }
    for (int c = 0; c < 4; c++) {
        assert_close(least[0][c], least[1][c], 0.01);
        assert_close(most[0][c], most[1][c], 0.01);
    }
}

// ---------------------------------------------------------------------------------------------------------- invariants

// Energy, the friction cone of the sum of all impulses, momentum, and no approach left.
static void assert_solves(const carom_impact *impact, const walk *w) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double scale = carom_impact_velocity_scale(impact), energy = carom_impact_initial_energy(impact);
    double impulses = 0, applied[MOST];
    for (int c = 0; c < carom_impact_contact_size(impact); c++) impulses = fmax(impulses, fabs(w->impulse[c]));
    for (int i = 0; i < data->contacts; i++) {
        assert_true(w->impulse[2 * i] >= 0);
        assert_true(fabs(w->impulse[2 * i + 1]) <= data->friction[i] * w->impulse[2 * i] + 1e-12 * impulses);
        if (w->result.terminated) assert_true(w->u[2 * i] >= -1e-9 * scale);
    }
    assert_true(w->result.max_energy_gain <= 1e-12 * energy);
    assert_true(carom_impact_kinetic_energy(impact, w->v) <= energy * (1 + 1e-9));
    carom_impact_apply(impact, data->velocity, w->impulse, applied);
    assert_all_close(w->v, applied, data->nv, 0);
}

static void every_walk_is_a_solution(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 31, 0);
    int64_t ended = 0, walks = 0;
    for (int k = 0; k < support_count(20, 200, 4000); k++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(k % FAMILIES), 5, 1, 2);
        carom_walker *walker = make_walker(impact, 2000);
        for (int i = 0; i < 10; i++) {
            const walk w = run(walker, impact, i);
            assert_solves(impact, &w);
            ended += w.result.terminated;
            walks++;
        }
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
    // The rest are cones that are not pointed, or spirals.
    assert_true((double)ended >= 0.9 * (double)walks);
}

// The impact in contact space, with contacts apart that never close up to so many in all.
static carom_impact *with_contacts_apart(const carom_impact *impact, int contacts) {
    enum { ROWS = 2 * 6 };
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int n = carom_impact_contact_size(impact), size = 2 * contacts;
    const double *W = carom_impact_delassus(impact), scale = carom_impact_velocity_scale(impact);
    double delassus[ROWS * ROWS] = {0}, velocity[ROWS] = {0}, friction[ROWS / 2] = {0};
    for (int i = 0; i < n; i++) memcpy(delassus + i * size, W + i * n, (size_t)n * sizeof *W);
    carom_impact_contact_velocity(impact, data->velocity, velocity);
    memcpy(friction, data->friction, (size_t)data->contacts * sizeof *friction);
    for (int i = n; i < size; i++) delassus[i * size + i] = W[0] / 1024;
    for (int i = n; i < size; i += 2) velocity[i] = scale / 1024;
    for (int i = data->contacts; i < contacts; i++) friction[i] = 1;
    carom_impact *made;
    carom_error error;
    const carom_delassus_data all = {
        .contacts = contacts, .tangent_dim = 1, .delassus = delassus, .velocity = velocity, .friction = friction};
    assert_ok(carom_impact_create_delassus(&all, &made, &error), error);
    return made;
}

// Contacts apart, which never close, draw no numbers: walks of one to five contacts have the same bits among six, which run in other loops.
static void contacts_apart_change_no_bit(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 32, 0);
    for (int k = 0; k < support_count(20, 120, 1200); k++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(k % FAMILIES), 5, 1, 2);
        const int contacts = carom_impact_get_data(impact)->contacts, n = 2 * contacts;
        const carom_walker_options options = {
            .max_steps = 500, .weights = k % 4 ? CAROM_WEIGHTS_MIXED : CAROM_WEIGHTS_SINGLE, .rebound = {k % 3, {0.5, 0.5}}};
        carom_impact *impacts[] = {with_contacts_apart(impact, contacts), with_contacts_apart(impact, 6)};
        carom_walker *walkers[2];
        carom_error error;
        for (int j = 0; j < 2; j++) assert_ok(carom_walker_create(impacts[j], &options, &walkers[j], &error), error);
        for (int i = 0; i < 40; i++) {
            const walk alone = run(walkers[0], impacts[0], i), among = run(walkers[1], impacts[1], i);
            assert_int_equal(alone.result.steps, among.result.steps);
            assert_memory_equal(alone.impulse, among.impulse, (size_t)n * sizeof *alone.impulse);
            assert_memory_equal(alone.v, among.v, (size_t)n * sizeof *alone.v);
        }
        for (int j = 0; j < 2; j++) {
            carom_walker_free(walkers[j]);
            carom_impact_free(impacts[j]);
        }
        carom_impact_free(impact);
    }
}

// D(cv) = D(v): a walk from 4 v- is that from v- four times as fast, bit for bit.
static void walks_are_homogeneous(void **state) {
    (void)state;
    carom_impact_data faster = reference_compass;
    double velocity[4];
    for (int k = 0; k < 4; k++) velocity[k] = 4 * reference_compass.velocity[k];
    faster.velocity = velocity;
    carom_impact *slow = support_impact(&reference_compass), *fast = support_impact(&faster);
    carom_walker *slow_walker = make_walker(slow, 1000), *fast_walker = make_walker(fast, 1000);
    for (int i = 0; i < 300; i++) {
        const walk a = run(slow_walker, slow, i), b = run(fast_walker, fast, i);
        assert_int_equal(a.result.steps, b.result.steps);
        for (int k = 0; k < 4; k++) assert_true(b.v[k] == 4 * a.v[k]);
    }
    carom_walker_free(slow_walker);
    carom_walker_free(fast_walker);
    carom_impact_free(slow);
    carom_impact_free(fast);
}

static void paths_go_straight_from_start_to_end(void **state) {
    (void)state;
    carom_error error;
    carom_impact *impact = support_impact(&reference_boxwall);
    carom_walker *walker = make_walker(impact, 1000);
    assert_ok(carom_walker_record(walker, true, &error), error);
    double start[4];
    carom_impact_contact_velocity(impact, reference_boxwall.velocity, start);
    for (int i = 0; i < 50; i++) {
        const walk w = run(walker, impact, i);
        int rows;
        const double *path = carom_walker_trace(walker, &rows);
        assert_int_equal(rows, w.result.steps + 1);
        assert_all_close(path, start, 4, 1e-12);
        assert_all_close(path + 4 * (rows - 1), w.u, 4, 1e-10);
    }
    assert_ok(carom_walker_record(walker, false, &error), error);
    int rows;
    assert_null(carom_walker_trace(walker, &rows));
    assert_int_equal(rows, 0);
    carom_walker_free(walker);
    carom_impact_free(impact);
}

static void separating_contacts_end_at_once(void **state) {
    (void)state;
    carom_impact_data data = reference_block;
    data.velocity = (const double[]){0.1, 0.2, 0};
    carom_impact *impact = support_impact(&data);
    carom_walker *walker = make_walker(impact, 10);
    const walk w = run(walker, impact, 0);
    assert_true(w.result.terminated);
    assert_int_equal(w.result.steps, 0);
    assert_all_close(w.v, data.velocity, 3, 0);
    carom_walker_free(walker);
    carom_impact_free(impact);
}

// ---------------------------------------------------------------------------------------------------------------- sets

static carom_sample_statistics sample(const carom_impact *impact, const carom_sample_options *options, int threads) {
    carom_registry *registry;
    carom_error error;
    carom_sample_statistics statistics;
    assert_ok(carom_registry_create(&registry, &error), error);
    const carom_control control = {.threads = threads};
    assert_ok(carom_reach_sample(impact, options, registry, &control, NULL, &statistics, &error), error);
    carom_registry_free(registry);
    return statistics;
}

static void sets_of_walks_do_not_depend_on_threads(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_compass);
    carom_sample_options options = carom_sample_defaults();
    options.sampler = CAROM_SAMPLER_WALK;
    options.samples = 3000;
    const carom_sample_statistics one = sample(impact, &options, 1);
    assert_int_equal(one.counts.samples, 3000);
    assert_int_equal(one.counts.terminated, 3000);
    assert_int_equal(one.lcp_solves, 0);
    assert_true(one.lcps_per_sample == 0 && one.counts.max_residual == 0 && isnan(one.step));
    assert_string_equal(one.solver, "walk");
    assert_string_equal(one.path, "walk");
    for (int threads = 2; threads <= 3; threads++) assert_string_equal(sample(impact, &options, threads).digest, one.digest);
    options.seed = 1;
    assert_string_not_equal(sample(impact, &options, 1).digest, one.digest);
    carom_impact_free(impact);
}

static bool always(void *user) {
    (void)user;
    return true;
}

static void refusals_and_interruption(void **state) {
    (void)state;
    carom_registry *registry;
    carom_error error;
    carom_impact *planar = support_impact(&reference_block);
    assert_ok(carom_registry_create(&registry, &error), error);
    carom_sample_options options = carom_sample_defaults();
    options.sampler = CAROM_SAMPLER_WALK;
    options.samples = 2000;
    carom_sample_statistics statistics;
    const carom_control control = {.threads = 1, .cancelled = always};
    assert_ok(carom_reach_sample(planar, &options, registry, &control, NULL, &statistics, &error), error);
    assert_int_equal(statistics.verdict, CAROM_INTERRUPTED);
    assert_true(statistics.counts.samples < 2000);
    // Walks take no steps, so that a way of computing steps does not restrict their solver.
    options.samples = 16;
    options.path = "cone-map";
    options.method.solver = "lemke:scalar";
    assert_ok(carom_reach_sample(planar, &options, registry, NULL, NULL, &statistics, &error), error);
    assert_int_equal(statistics.counts.terminated, 16);
    options.max_steps = -1;
    assert_refused(carom_reach_sample(planar, &options, registry, NULL, NULL, &statistics, &error), CAROM_BAD_INPUT, error, "max_steps");
    options.sampler = 3;
    assert_refused(carom_reach_sample(planar, &options, registry, NULL, NULL, &statistics, &error), CAROM_BAD_INPUT, error, "sampler: 3");
    options.sampler = CAROM_SAMPLER_LCP;
    options.draw = -1;
    assert_refused(carom_reach_sample(planar, &options, registry, NULL, NULL, &statistics, &error), CAROM_BAD_INPUT, error, "draw: -1");
    carom_registry_free(registry);
    carom_impact_free(planar);
}

// ---------------------------------------------------------------------------------------------------- friction problem

// The conditions of the minimum: at the bounds the slope points outwards, between them it vanishes.
static void assert_minimum(const carom_box *box) {
    for (int i = 0; i < box->size; i++) {
        double slope = box->b[i], magnitude = fabs(box->b[i]);
        for (int k = 0; k < box->size; k++) {
            slope += box->A[i * box->size + k] * box->x[k];
            magnitude += fabs(box->A[i * box->size + k] * box->x[k]);
        }
        const double tolerance = 1e-9 * magnitude;
        assert_true(fabs(box->x[i]) <= box->bound[i] * (1 + 1e-12));
        if (fabs(box->x[i]) < box->bound[i]) assert_true(fabs(slope) <= tolerance);
        if (box->x[i] == box->bound[i]) assert_true(slope <= tolerance);
        if (box->x[i] == -box->bound[i]) assert_true(slope >= -tolerance);
        assert_true(fabs(slope - box->slope[i]) <= tolerance);
    }
}

// Also with matrices of low rank, which a small multiple of the identity makes definite: equal tangent rows.
static void the_friction_problem_is_solved(void **state) {
    (void)state;
    enum { SIZE = 12 };
    carom_box *box;
    carom_error error;
    carom_stream stream;
    carom_stream_start(&stream, 77, 0);
    assert_ok(carom_box_create(SIZE, &box, &error), error);
    for (int trial = 0; trial < support_count(200, 2000, 20000); trial++) {
        const int size = support_random_integer(&stream, 1, SIZE), rank = support_random_integer(&stream, 1, size);
        double factor[SIZE][SIZE];
        for (int i = 0; i < size; i++)
            for (int k = 0; k < rank; k++) factor[i][k] = carom_stream_normal(&stream);
        box->size = size;
        for (int i = 0; i < size; i++) {
            box->bound[i] = exp(3 * carom_stream_normal(&stream));
            box->b[i] = carom_stream_normal(&stream);
            for (int j = 0; j < size; j++) {
                box->A[i * size + j] = i == j ? 1e-12 : 0;
                for (int k = 0; k < rank; k++) box->A[i * size + j] += factor[i][k] * factor[j][k];
            }
        }
        assert_true(carom_box_solve(box));
        assert_minimum(box);
    }
    carom_box_free(box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_end_in_the_exact_set_and_cover_it),
        cmocka_unit_test(one_contact_follows_routh),
        cmocka_unit_test(sets_of_low_dimension_are_met_exactly),
        cmocka_unit_test(walks_stay_in_certified_sets_of_random_pairs),
        cmocka_unit_test(walks_of_known_scenes_end_in_their_sets),
        cmocka_unit_test(walks_between_opposing_contacts_end_soon),
        cmocka_unit_test(walks_among_many_contacts_end),
        cmocka_unit_test(held_contacts_take_the_least_weight_and_larger_ones),
        cmocka_unit_test(walks_do_not_prefer_a_contact),
        cmocka_unit_test(every_walk_is_a_solution),
        cmocka_unit_test(contacts_apart_change_no_bit),
        cmocka_unit_test(walks_are_homogeneous),
        cmocka_unit_test(paths_go_straight_from_start_to_end),
        cmocka_unit_test(separating_contacts_end_at_once),
        cmocka_unit_test(sets_of_walks_do_not_depend_on_threads),
        cmocka_unit_test(refusals_and_interruption),
        cmocka_unit_test(the_friction_problem_is_solved),
    };
    return cmocka_run_group_tests_name("walk", tests, NULL, NULL);
}
