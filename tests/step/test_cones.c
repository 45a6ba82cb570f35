// SPDX-License-Identifier: Apache-2.0
// The cone map and the batches that sample by it: agreement with Lemke's method, the same bits everywhere, certificates, fallbacks.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/instruction_sets.h"
#include "cones_support.h"
#include "reach/batch.h"
#include "step/cones/build.h"
#include "step/cones/map.h"
#include "support.h"

static const struct {
    const carom_impact_data *data;
    double step;
    int64_t max_steps;
} scenes[] = {{&reference_block, 0.3, 10}, {&reference_boxwall, 2, 5}, {&reference_compass, 0.25, 5}, {&reference_ramone, 1, 10}};
enum { SCENES = sizeof scenes / sizeof *scenes };

// -------------------------------------------------------------------------------------------------------------- lookup

enum { LOOKUP_INPUTS = 6, LOOKUP_WIDTH = LOOKUP_INPUTS + 1, LOOKUP_N = 4, LOOKUP_CONES = 45, LOOKUP_SAMPLES = 83, LOOKUP_STRIDE = 96 };

// Two contacts that separate, at random, before any of these cones; their impulses are zero, which verification accepts. Returns how many
// samples a kernel serves, by the first cone whose rows hold, one after the other; `last` is the last of these cones.
static int check_lookup(const carom_cone_kernel *kernel, const carom_cones *cones, carom_stream stream, int *last) {
    static const double delassus[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, friction[] = {0.5, 0.5}, directions[] = {1, -1};
    static const double ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const carom_cone_physics physics = {2, 1, 2, LOOKUP_N, delassus, friction, directions, ones, ones, ones, ones, 1};
    double *columns = carom_step_columns_create(2 * LOOKUP_INPUTS + 2 * LOOKUP_N + 2, LOOKUP_STRIDE), residual = 0;
    int32_t samples[LOOKUP_STRIDE], hopeful[LOOKUP_STRIDE], *served = (int32_t *)carom_step_columns_create(1, LOOKUP_STRIDE);
    assert_non_null(columns);
    assert_non_null(served);
    float scaled[LOOKUP_INPUTS * LOOKUP_STRIDE];
    unsigned open[LOOKUP_STRIDE];
    carom_cone_scratch scratch = {.work = columns, .scaled = scaled, .samples = samples, .hopeful = hopeful, .open = open};
    carom_step_batch batch = {.stride = LOOKUP_STRIDE, .x = columns + LOOKUP_WIDTH * LOOKUP_STRIDE, .served = served, .scratch = &scratch};
    batch.impulse = batch.x + LOOKUP_INPUTS * LOOKUP_STRIDE;
    batch.u_next = batch.impulse + LOOKUP_N * LOOKUP_STRIDE;
    batch.gain = batch.u_next + LOOKUP_N * LOOKUP_STRIDE;
    for (int j = 0; j < LOOKUP_INPUTS; j++)
        for (int i = 0; i < LOOKUP_SAMPLES; i++)
            batch.x[j * LOOKUP_STRIDE + i] = (carom_stream_uniform(&stream) - (j == 1 || j == 3 ? 0.5 : 0)) / cones->per_scale[j];
    const int unserved = kernel->step(cones, &physics, &batch, LOOKUP_SAMPLES, &residual);
    int left = 0;
    *last = 0;
    for (int i = 0; i < LOOKUP_SAMPLES; i++) {
        double x[LOOKUP_INPUTS];
        for (int j = 0; j < LOOKUP_INPUTS; j++) x[j] = batch.x[j * LOOKUP_STRIDE + i];
        const double size = carom_cone_input_size(LOOKUP_INPUTS, cones->per_unit, x);
        int expected = 0;
        while (expected < cones->count) {
            const double *rows = cones->rows + cones->first_row[expected] * LOOKUP_WIDTH;
            const int count = cones->first_row[expected + 1] - cones->first_row[expected];
            if (carom_cone_rows_hold(LOOKUP_INPUTS, rows, count, x, size)) break;
            expected++;
        }
        if (expected < cones->count && expected > *last) *last = expected;
        if (expected == cones->count) expected = CAROM_STEP_UNSERVED, left++;
        assert_int_equal(served[i], expected);
    }
    assert_int_equal(unserved, left);
    free(columns);
    free(served);
    return LOOKUP_SAMPLES - unserved;
}

// Every kernel finds the first cone that has a sample, among cones of 4 to 40 rows, in units of different sizes; a cone without rows, the
// last one, has all that are left.
static void a_lookup_finds_the_first_cone(void **state) {
    (void)state;
    static const carom_cone_kernel *const kernels[CAROM_INSTRUCTIONS] = {
        [CAROM_INSTRUCTIONS_SCALAR] = &carom_cone_kernel_scalar,
        [CAROM_INSTRUCTIONS_PORTABLE] = &carom_cone_kernel_portable,
        [CAROM_INSTRUCTIONS_AVX2] = CAROM_X86_KERNEL(carom_cone_kernel_avx2),
        [CAROM_INSTRUCTIONS_AVX512] = CAROM_X86_KERNEL(carom_cone_kernel_avx512)};
    carom_stream stream;
    carom_stream_start(&stream, 31, 5);
    int first_row[LOOKUP_CONES + 1] = {0};
    for (int i = 0; i < LOOKUP_CONES; i++) first_row[i + 1] = first_row[i] + (i == LOOKUP_CONES - 1 ? 0 : 4 + i % 4 * 12);
    double rows[LOOKUP_CONES * 40 * LOOKUP_WIDTH], per_unit[LOOKUP_INPUTS];
    for (int j = 0; j < LOOKUP_INPUTS; j++) per_unit[j] = ldexp(1, 3 * j);
    for (int k = 0; k < first_row[LOOKUP_CONES] * LOOKUP_WIDTH; k++) {
        const int j = k % LOOKUP_WIDTH;
        rows[k] = (carom_stream_uniform(&stream) - 0.4) * (j < LOOKUP_INPUTS ? per_unit[j] : 1);
    }
    double *maps = carom_step_columns_create(LOOKUP_CONES * LOOKUP_INPUTS, CAROM_STEP_LANES);
    carom_cones cones = {.inputs = LOOKUP_INPUTS, .n = LOOKUP_N, .map_rows = CAROM_STEP_LANES, .maps = maps};
    cones.first_row = first_row, cones.rows = rows, cones.per_unit = cones.per_scale = per_unit;
    assert_non_null(maps);
    // With the last cone, and without it.
    for (cones.count = LOOKUP_CONES; cones.count >= LOOKUP_CONES - 1; cones.count--) {
        carom_error error;
        assert_ok(carom_cones_stand_side_by_side(&cones, &error), error);
        for (int k = 0; k < CAROM_INSTRUCTIONS; k++) {
            if (!kernels[k] || !carom_instructions_available((carom_instructions)k)) continue;
            int last;
            const int served = check_lookup(kernels[k], &cones, stream, &last);
            if (cones.count == LOOKUP_CONES) assert_int_equal(served, LOOKUP_SAMPLES);
            if (cones.count < LOOKUP_CONES)
                assert_true(served > LOOKUP_SAMPLES / 2 && served < LOOKUP_SAMPLES && last > 2 * CAROM_CONE_ABREAST);
        }
        free(cones.heads);
        free(cones.sides);
        free(cones.first_side);
    }
    free(maps);
}

// ----------------------------------------------------------------------------------------------------------- agreement

// For the selection `lemke` the map returns Lemke's velocities, also where they are not unique, and serves nearly all steps.
static void scenes_agree_with_lemke(void **state) {
    (void)state;
    for (int k = 0; k < SCENES; k++) {
        carom_impact *impact = support_impact(scenes[k].data);
        const carom_sample_options options = tabulated(scenes[k].step, scenes[k].max_steps, support_count(1000, 10000, 100000));
        set lemke = sample_by(impact, options, "lemke"), map = sample_by(impact, options, "cone-map");
        assert_same_outcomes(impact, &map, &lemke);
        assert_sound(&map);
        assert_int_equal(map.statistics.selection, CAROM_SELECT_LEMKE);
        assert_true((double)map.statistics.counts.looked_up >= 0.98 * (double)map.statistics.lcp_solves);
        assert_int_equal(lemke.statistics.counts.looked_up, 0);
        carom_table_free(lemke.outcomes);
        carom_table_free(map.outcomes);
        carom_impact_free(impact);
    }
}

static void every_draw_agrees_with_lemke(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_compass);
    for (int draw = CAROM_DRAW_UNIFORM; draw <= CAROM_DRAW_SINGLE; draw++) {
        carom_sample_options options = tabulated(0.1, 40, 1000);
        options.draw = draw;
        set lemke = sample_by(impact, options, "lemke"), map = sample_by(impact, options, "cone-map");
        assert_same_outcomes(impact, &map, &lemke);
        carom_table_free(lemke.outcomes);
        carom_table_free(map.outcomes);
    }
    carom_impact_free(impact);
}

// Random planar impacts of at most two contacts; `lemke` is served whether v' is unique or not.
static void random_impacts_agree_with_lemke(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 20, 5);
    for (int i = 0; i < support_count(10, 60, 1000); i++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(i % FAMILIES), 2, 1, 2);
        carom_sample_options options = tabulated(NAN, 20, 300);
        options.seed = i;
        set lemke = sample_by(impact, options, "lemke"), map = sample_by(impact, options, "cone-map");
        assert_same_outcomes(impact, &map, &lemke);
        assert_sound(&map);
        carom_table_free(lemke.outcomes);
        carom_table_free(map.outcomes);
        carom_impact_free(impact);
    }
}

// `any` in the plane and in space: verified steps that never gain energy, and steps that no cone serves are solved by Lemke's method.
static void any_is_sound(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 21, 5);
    for (int i = 0; i < support_count(4, 16, 200); i++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 3, 1 + i % 2, 2);
        carom_sample_options options = tabulated(NAN, 20, 300);
        options.method.selection = CAROM_SELECT_ANY;
        set map = sample_by(impact, options, "cone-map");
        assert_sound(&map);
        assert_int_equal(map.statistics.selection, CAROM_SELECT_ANY);
        carom_table_free(map.outcomes);
        carom_impact_free(impact);
    }
}

// The stack of disks has more cones than a training meets: what is missing goes to Lemke's method, one by one.
static void what_training_missed_is_solved(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_disks);
    carom_sample_options options = tabulated(1, 10, 2000);
    options.method.selection = CAROM_SELECT_ANY;
    set map = sample_by(impact, options, "cone-map");
    assert_sound(&map);
    assert_true(map.statistics.counts.looked_up < map.statistics.lcp_solves);
    // Rounds of lookups make the training long enough; 93 % are served after the 1024 samples of small steps.
    assert_true((double)map.statistics.counts.looked_up >= 0.96 * (double)map.statistics.lcp_solves);
    // For `lemke` there are too many ways to a basis: the path is taken, and says what it serves.
    options.method.selection = CAROM_SELECT_LEMKE;
    set asked = sample_by(impact, options, "cone-map");
    assert_int_equal(asked.statistics.selection, CAROM_SELECT_ANY);
    assert_string_equal(asked.statistics.digest, map.statistics.digest);
    carom_table_free(map.outcomes);
    carom_table_free(asked.outcomes);
    carom_impact_free(impact);
}

// Closing steps and recorded paths of batches are those of single samples.
static void closing_steps_and_paths_agree(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_sample_options options = tabulated(0.3, 1, 600);
    options.epsilon = 0.29;
    options.paths = 300;
    set lemke = sample_by(impact, options, "lemke"), map = sample_by(impact, options, "cone-map");
    assert_same_outcomes(impact, &map, &lemke);
    assert_true(map.statistics.counts.closed > 0);
    const int column = carom_table_find(map.outcomes, "path");
    int recorded = 0;
    for (int64_t row = 0; row < carom_table_rows(map.outcomes); row++) {
        int count, expected;
        const double *path = carom_table_series(map.outcomes, column, row, &count);
        const double *other = carom_table_series(lemke.outcomes, column, row, &expected);
        recorded += count > 0;
        assert_int_equal(count, expected);
        assert_all_close(path, other, count, 1e-12);
    }
    assert_true(recorded > 0);
    carom_table_free(lemke.outcomes);
    carom_table_free(map.outcomes);
    carom_impact_free(impact);
}

// ----------------------------------------------------------------------------------------------------------- same bits

static void assert_digests(const carom_impact *impact, const carom_sample_options *options) {
    static const char *const paths[] = {"cone-map", "cone-map:scalar", "cone-map:portable", "cone-map:avx2", "cone-map:avx512"};
    char digest[CAROM_DIGEST_TEXT_SIZE] = "";
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            carom_sample_options own = *options;
            own.path = paths[i];
            set s = sample(impact, &own, threads);
            if (s.status != CAROM_UNSUPPORTED) {
                assert_ok(s.status, s.error);
                if (i) assert_string_equal(s.statistics.path, paths[i]);
                if (!*digest) strcpy(digest, s.statistics.digest);
                assert_string_equal(s.statistics.digest, digest);
            }
            carom_table_free(s.outcomes);
        }
}

static void digests_depend_on_neither_instructions_nor_threads(void **state) {
    (void)state;
    for (int k = 0; k < SCENES; k++) {
        carom_impact *impact = support_impact(scenes[k].data);
        const carom_sample_options options = tabulated(scenes[k].step, scenes[k].max_steps, 1500);
        assert_digests(impact, &options);
        carom_impact_free(impact);
    }
    // Spatial contacts, and a problem with misses.
    carom_stream stream;
    carom_stream_start(&stream, 22, 5);
    carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 3, 2, 1);
    carom_sample_options options = tabulated(NAN, 20, 1500);
    options.method.selection = CAROM_SELECT_ANY;
    assert_digests(impact, &options);
    carom_impact_free(impact);
}

// A sample depends on nothing but seed and index: neither on the number of samples, nor on what is kept of them.
static void samples_are_a_prefix_of_more(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_boxwall);
    carom_sample_options options = tabulated(2, 5, 5000);
    set all = sample_by(impact, options, "cone-map");
    options.samples = 1000;
    options.paths = 100;
    set few = sample_by(impact, options, "cone-map");
    const size_t nv = (size_t)carom_impact_get_data(impact)->nv, rows = (size_t)carom_table_rows(few.outcomes);
    assert_true(rows > 900);
    assert_memory_equal(carom_table_real_column(few.outcomes, CAROM_OUTCOME_VELOCITY),
                        carom_table_real_column(all.outcomes, CAROM_OUTCOME_VELOCITY), rows * nv * sizeof(double));
    carom_table_free(all.outcomes);
    carom_table_free(few.outcomes);
    carom_impact_free(impact);
}

// Where nobody receives outcomes they are not made, and the digest is the same.
static void digests_do_not_need_a_receiver(void **state) {
    (void)state;
    const char *const paths[] = {"cone-map", "lemke"};
    const int64_t counts[] = {1, 9, 257};
    carom_registry *registry;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    for (int i = 0; i < 2 * 3 * 3; i++) {
        carom_impact *impact = support_impact(i % 2 ? &reference_compass : &reference_block);
        carom_sample_options options = tabulated(0.3, i % 4 ? 10 : 1, counts[i / 2 % 3]);
        if (i / 6 == 1) options.epsilon = 0.1;
        if (i / 6 == 2) options.paths = 5;
        for (int p = 0; p < 2; p++) {
            const set with = sample_by(impact, options, paths[p]);
            carom_sample_statistics without;
            options.path = paths[p];
            assert_ok(carom_reach_sample(impact, &options, registry, NULL, NULL, &without, &error), error);
            assert_string_equal(without.digest, with.statistics.digest);
            assert_int_equal(without.counts.terminated, with.statistics.counts.terminated);
            assert_int_equal(without.counts.closed, with.statistics.counts.closed);
            carom_table_free(with.outcomes);
        }
        carom_impact_free(impact);
    }
    carom_registry_free(registry);
}

// Blocks of numbers are those of the streams one by one, for any number of streams; what comes after them is left alone.
static void numbers_are_those_of_the_streams(void **state) {
    (void)state;
    enum { STREAMS = 37, STRIDE = 48 };
    uint64_t index[STREAMS] = {0, 3, 1000, UINT64_C(1) << 40, UINT64_MAX};
    double numbers[4 * STRIDE];
    carom_stream seeds;
    carom_stream_start(&seeds, 31, 7);
    for (int i = 5; i < STREAMS; i++) index[i] = carom_stream_bits(&seeds);
    for (uint64_t block = 0; block < 3; block++)
        for (int count = 0; count <= STREAMS; count++) {
            const uint64_t seed = carom_stream_bits(&seeds);
            for (int k = 0; k < 4 * STRIDE; k++) numbers[k] = -1;
            carom_stream_uniform_block(seed, index, (size_t)count, CAROM_STREAM_CAPS, block, STRIDE, numbers);
            for (int i = 0; i < STRIDE; i++) {
                carom_stream stream;
                if (i < count) carom_stream_start_use(&stream, seed, index[i], CAROM_STREAM_CAPS);
                for (uint64_t k = 0; k < 4 * block && i < count; k++) carom_stream_uniform(&stream);
                for (int k = 0; k < 4; k++) assert_true(numbers[k * STRIDE + i] == (i < count ? carom_stream_uniform(&stream) : -1));
            }
        }
}

// Rows of a batch are the rows that are added one by one, to the bit.
static void rows_are_those_added_one_by_one(void **state) {
    (void)state;
    enum { ROWS = 37, STRIDE = 40 };
    carom_stream stream;
    carom_stream_start(&stream, 23, 5);
    for (int k = 0; k < 6; k++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 3, 1 + k % 2, 1);
        const int nv = carom_impact_get_data(impact)->nv, n = carom_impact_contact_size(impact);
        double *v_plus = calloc((size_t)(nv + n) * STRIDE, sizeof *v_plus), *impulse = v_plus + nv * STRIDE;
        double *v = malloc((size_t)(nv + n) * sizeof *v), *one = v + nv;
        int64_t steps[ROWS], flags[ROWS];
        carom_table *table[2];
        carom_error error;
        for (int i = 0; i < 2; i++) assert_ok(carom_outcomes_create(impact, NULL, 0, &table[i], &error), error);
        for (int i = 0; i < ROWS; i++) {
            for (int c = 0; c < nv; c++) v_plus[c * STRIDE + i] = v[c] = i ? carom_stream_normal(&stream) : -0.0;
            for (int c = 0; c < n; c++) impulse[c * STRIDE + i] = one[c] = i ? carom_stream_uniform(&stream) : -0.0;
            steps[i] = i;
            flags[i] = i % 4;
            assert_ok(carom_outcomes_add(table[0], impact, v, one, steps[i], flags[i], &error), error);
        }
        const carom_outcome_rows rows = {ROWS, STRIDE, v_plus, impulse, steps, flags};
        assert_ok(carom_outcomes_add_rows(table[1], impact, &rows, &error), error);
        assert_int_equal(carom_table_rows(table[1]), ROWS);
        const carom_sizes *sizes = carom_table_sizes(table[0]);
        for (int column = 0; column < CAROM_OUTCOME_COLUMNS; column++) {
            const size_t width = (size_t)carom_column_width(carom_table_column(table[0], column), sizes);
            assert_memory_equal(carom_table_real_column(table[1], column), carom_table_real_column(table[0], column),
                                ROWS * width * sizeof(double));
        }
        for (int i = 0; i < 2; i++) carom_table_free(table[i]);
        free(v_plus);
        free(v);
        carom_impact_free(impact);
    }
}

// --------------------------------------------------------------------------------------------------------- certificates

// A map trained on samples of the test's own.
typedef struct trained {
    const carom_step_batch_method *method;
    carom_stepper *stepper;
    void *map;
} trained;

static void release(trained *made) {
    made->method->free(made->map);
    carom_stepper_free(made->stepper);
}

static trained train(const carom_impact *impact, double step, int64_t max_steps, int samples) {
    carom_stepper_options options = carom_stepper_defaults();
    carom_error error;
    trained made;
    const carom_step_method *method;
    carom_instructions instructions;
    double u[6], lmax[2];
    options.kind = CAROM_STEP_CAPPED;
    assert_ok(carom_step_method_find("cone-map", &method, &instructions, &error), error);
    made.method = method->batch;
    assert_ok(carom_stepper_create(impact, &options, &made.stepper, &error), error);
    assert_ok(made.method->create(made.stepper, step, instructions, &made.map, &error), error);
    for (int i = 0; i < samples; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 24, (uint64_t)i);
        carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, u);
        for (int64_t k = 0; k < max_steps && !carom_impact_terminated(impact, u); k++) {
            bool solved;
            for (int c = 0; c < carom_impact_get_data(impact)->contacts; c++) lmax[c] = step * carom_stream_uniform(&stream);
            assert_ok(made.method->learn(made.map, u, lmax, u, &solved, &error), error);
            assert_true(solved);
        }
    }
    assert_ok(made.method->freeze(made.map, &error), error);
    return made;
}

// The velocity is unique for the block wherever it goes, for the compass nearly nowhere.
static void the_block_is_certified_and_the_compass_is_not(void **state) {
    (void)state;
    carom_impact *block = support_impact(&reference_block), *compass = support_impact(&reference_compass);
    trained unique = train(block, 0.3, 10, 500), ambiguous = train(compass, 0.25, 5, 500);
    assert_true(carom_cone_map_certified(unique.map) == 1);
    assert_true(unique.method->promise(unique.map) == 1);
    assert_true(carom_cone_map_certified(ambiguous.map) < 0.05);
    release(&unique);
    release(&ambiguous);
    carom_impact_free(block);
    carom_impact_free(compass);
}

static carom_status count_solution(void *user, const double *v_next, const double *impulse, const carom_step_info *info,
                                   carom_error *error) {
    (void)v_next, (void)impulse, (void)info, (void)error;
    ++*(int *)user;
    return CAROM_OK;
}

// Looks states of an impact up one at a time, and holds the certificates of their cones against the enumeration. Returns the numbers of
// states with several velocities, and of certified ones.
static void check_certificates(const carom_impact *impact, carom_stream *stream, int *several, int *certified) {
    carom_stepper_options options = carom_stepper_defaults();
    carom_error error;
    carom_stepper *stepper;
    carom_step_batch batch;
    options.kind = CAROM_STEP_CAPPED;
    options.selection = CAROM_SELECT_ALL;
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    trained made = train(impact, 0.5, 5, 200);
    assert_ok(made.method->batch_create(made.map, CAROM_STEP_LANES, &batch, &error), error);
    const int nv = carom_impact_get_data(impact)->nv, n = carom_impact_contact_size(impact);
    double v[6], u[4], lmax[2], residual = 0;
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < nv; k++) v[k] = carom_stream_normal(stream);
        carom_impact_contact_velocity(impact, v, u);
        for (int c = 0; c < n; c++) batch.x[(size_t)c * batch.stride] = u[c];
        for (int c = 0; c < n / 2; c++) batch.x[(size_t)(n + c) * batch.stride] = lmax[c] = carom_stream_uniform(stream);
        bool complete;
        made.method->solve(made.map, &batch, 1, &residual);
        int solutions = 0;
        assert_ok(carom_stepper_enumerate(stepper, v, lmax, count_solution, &solutions, &complete, &error), error);
        *several += solutions > 1;
        if (batch.served[0] == CAROM_STEP_UNSERVED || !carom_cone_map_is_certified(made.map, batch.served[0])) continue;
        ++*certified;
        assert_int_equal(solutions, 1);
    }
    made.method->batch_free(&batch);
    release(&made);
    carom_stepper_free(stepper);
}

// A cone that holds a state with several velocities is not certified.
static void certificates_agree_with_the_enumeration(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 25, 5);
    int several = 0, certified = 0;
    const int impacts = support_count(20, 60, 1000);
    for (int i = 0; i < impacts; i++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(i % FAMILIES), 2, 1, 3);
        check_certificates(impact, &stream, &several, &certified);
        carom_impact_free(impact);
    }
    // Of both there are many, or the test would say nothing.
    assert_true(several > impacts);
    assert_true(certified > 4 * impacts);
}

// However many steps a sample would take, the training ends: here after some thousand of them.
static void tiny_steps_end_the_training(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_stepper_options stepper = carom_stepper_defaults();
    stepper.kind = CAROM_STEP_CAPPED;
    const carom_batch_options options = {impact, &stepper, 1e-12, INT64_C(1000000000), CAROM_DRAW_UNIFORM, "cone-map", NULL};
    carom_batch_plan *plan;
    carom_error error;
    assert_ok(carom_batch_plan_create(&options, &plan, &error), error);
    carom_batch_plan_free(plan);
    carom_impact_free(impact);
}

// ------------------------------------------------------------------------------------------------------------- choosing

static void the_choice_is_by_scene_and_selection(void **state) {
    (void)state;
    static const struct {
        const carom_impact_data *data;
        int selection;
        bool is_map;
    } rows[] = {{&reference_block, CAROM_SELECT_LEMKE, true},    {&reference_compass, CAROM_SELECT_LEMKE, true},
                {&reference_disks, CAROM_SELECT_ANY, true},      {&reference_disks, CAROM_SELECT_LEMKE, false},
                {&reference_compass, CAROM_SELECT_RANDOM, true}, {&reference_compass, CAROM_SELECT_SCATTERED, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int samples = 1; samples <= 300; samples += 299) {
            carom_impact *impact = support_impact(rows[i].data);
            carom_sample_options options = tabulated(0.3, 50, samples);
            options.method.selection = rows[i].selection;
            set s = sample_by(impact, options, "auto");
            assert_int_equal(strncmp(s.statistics.path, "cone-map", 8) == 0, rows[i].is_map);
            assert_int_equal(s.statistics.selection, rows[i].selection);
            carom_table_free(s.outcomes);
            carom_impact_free(impact);
        }
}

static void what_it_cannot_serve_is_refused(void **state) {
    (void)state;
    carom_impact *disks = support_impact(&reference_disks);
    carom_sample_options options = tabulated(0.3, 10, 10);
    options.path = "cone-map";
    options.method.selection = CAROM_SELECT_RANDOM;
    set s = sample(disks, &options, 1);
    assert_refused(s.status, CAROM_UNSUPPORTED, s.error, "16807 combinations");
    carom_table_free(s.outcomes);
    carom_impact_free(disks);
    carom_impact *impact = support_impact(&reference_block);
    options = tabulated(0.3, 10, 10);
    options.path = "cone-map";
    options.method.solver = "lemke:scalar";
    s = sample(impact, &options, 1);
    assert_refused(s.status, CAROM_BAD_INPUT, s.error, "no other solver");
    carom_table_free(s.outcomes);
    options = tabulated(0.3, 10, 10);
    options.path = "cone-map:sse9";
    s = sample(impact, &options, 1);
    assert_refused(s.status, CAROM_BAD_INPUT, s.error, "cone-map:sse9");
    carom_table_free(s.outcomes);
    carom_impact_free(impact);
}

// The kernels' bits have places for so many samples, and no more.
static void batches_have_a_largest_size(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    trained made = train(impact, 0.3, 10, 20);
    carom_step_batch batch;
    carom_error error;
    assert_refused(made.method->batch_create(made.map, CAROM_STEP_MOST_BATCHED + 1, &batch, &error), CAROM_BAD_INPUT, error, "513");
    assert_refused(made.method->batch_create(made.map, 0, &batch, &error), CAROM_BAD_INPUT, error, "a batch of 0");
    assert_ok(made.method->batch_create(made.map, CAROM_STEP_MOST_BATCHED, &batch, &error), error);
    made.method->batch_free(&batch);
    release(&made);
    carom_impact_free(impact);
}

static bool stop_at_once(void *user) {
    if (user) ++*(int *)user;
    return true;
}

// Learning ends where the caller asks to stop: it may take a second on many contacts.
static void learning_can_be_interrupted(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_disks);
    carom_stepper_options stepper = carom_stepper_defaults();
    stepper.kind = CAROM_STEP_CAPPED;
    stepper.selection = CAROM_SELECT_ANY;
    int polls = 0;
    const carom_control control = {.cancelled = stop_at_once, .user = &polls};
    const carom_batch_options options = {impact, &stepper, 1, 10, CAROM_DRAW_UNIFORM, "cone-map", &control};
    carom_batch_plan *plan;
    carom_error error;
    assert_ok(carom_batch_plan_create(&options, &plan, &error), error);
    assert_int_equal(polls, 1);
    carom_batch_plan_free(plan);
    carom_impact_free(impact);
}

// A batch that is stopped delivers nothing, rather than samples that were cut short.
static void an_interrupted_batch_has_no_samples(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_stepper_options stepper = carom_stepper_defaults();
    stepper.kind = CAROM_STEP_CAPPED;
    const carom_batch_options options = {impact, &stepper, 0.3, 10, CAROM_DRAW_UNIFORM, "cone-map", NULL};
    const carom_control control = {.cancelled = stop_at_once};
    carom_batch_plan *plan;
    carom_batch *batch;
    carom_batch_result result;
    carom_error error;
    assert_ok(carom_batch_plan_create(&options, &plan, &error), error);
    assert_ok(carom_batch_create(plan, 256, &batch, &error), error);
    carom_batch_request request = {.seed = 1, .count = 256, .control = &control};
    assert_ok(carom_batch_run(batch, &request, &result, &error), error);
    assert_true(result.interrupted);
    request.control = NULL;
    assert_ok(carom_batch_run(batch, &request, &result, &error), error);
    assert_int_equal(result.rows.count, 256);
    carom_batch_free(batch);
    carom_batch_plan_free(plan);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lookup_finds_the_first_cone),
        cmocka_unit_test(scenes_agree_with_lemke),
        cmocka_unit_test(every_draw_agrees_with_lemke),
        cmocka_unit_test(random_impacts_agree_with_lemke),
        cmocka_unit_test(any_is_sound),
        cmocka_unit_test(what_training_missed_is_solved),
        cmocka_unit_test(closing_steps_and_paths_agree),
        cmocka_unit_test(digests_depend_on_neither_instructions_nor_threads),
        cmocka_unit_test(samples_are_a_prefix_of_more),
        cmocka_unit_test(digests_do_not_need_a_receiver),
        cmocka_unit_test(numbers_are_those_of_the_streams),
        cmocka_unit_test(rows_are_those_added_one_by_one),
        cmocka_unit_test(the_block_is_certified_and_the_compass_is_not),
        cmocka_unit_test(certificates_agree_with_the_enumeration),
        cmocka_unit_test(tiny_steps_end_the_training),
        cmocka_unit_test(the_choice_is_by_scene_and_selection),
        cmocka_unit_test(what_it_cannot_serve_is_refused),
        cmocka_unit_test(batches_have_a_largest_size),
        cmocka_unit_test(an_interrupted_batch_has_no_samples),
        cmocka_unit_test(learning_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
