// SPDX-License-Identifier: Apache-2.0
// The foundations: messages, random streams, the parallel loop, digests, registries.
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <Random123/philox.h>

#include "support.h"

// -------------------------------------------------------------------------------------------------- statuses, messages

#define COUNT_ENTRY(constant, name, sentence) +1
enum { STATUSES = 0 CAROM_STATUS_LIST(COUNT_ENTRY), VERDICTS = 0 CAROM_VERDICT_LIST(COUNT_ENTRY), MOST_TEXTS = 16 };
#undef COUNT_ENTRY

static void assert_distinct(const char *const *texts, int count) {
    for (int i = 0; i < count; i++) {
        assert_non_null(texts[i]);
        assert_string_not_equal(texts[i], "");
        for (int j = 0; j < i; j++) assert_string_not_equal(texts[i], texts[j]);
    }
}

// The entry beyond the last one stands for any value that is not in the list: it must have a text of its own, too.
static void test_statuses_have_distinct_names_and_sentences(void **state) {
    (void)state;
    const char *names[MOST_TEXTS], *sentences[MOST_TEXTS];
    for (int i = 0; i <= STATUSES; i++) {
        names[i] = carom_status_name((carom_status)i);
        sentences[i] = carom_status_sentence((carom_status)i);
    }
    assert_distinct(names, STATUSES + 1);
    assert_distinct(sentences, STATUSES + 1);
    assert_int_equal(CAROM_OK, 0);
    assert_string_equal(names[CAROM_BAD_INPUT], "bad-input");
}

static void test_verdicts_have_distinct_names_and_sentences(void **state) {
    (void)state;
    const char *names[MOST_TEXTS], *sentences[MOST_TEXTS];
    for (int i = 0; i <= VERDICTS; i++) {
        names[i] = carom_verdict_name((carom_verdict)i);
        sentences[i] = carom_verdict_sentence((carom_verdict)i);
    }
    assert_distinct(names, VERDICTS + 1);
    assert_distinct(sentences, VERDICTS + 1);
    assert_int_equal(CAROM_COMPLETE, 0);
    assert_string_equal(names[CAROM_INTERRUPTED], "interrupted");
}

static void test_a_message_is_one_line(void **state) {
    (void)state;
    carom_error error;
    assert_int_equal(carom_fail(&error, CAROM_IO_FAILED, "%s, %d%%", "a\nb\tc\r\x01\x1f\x7fz", 7), CAROM_IO_FAILED);
    assert_int_equal(error.status, CAROM_IO_FAILED);
    assert_string_equal(error.message, "a b c    z, 7%");
    // Bytes of other characters in UTF-8 are not control characters.
    carom_fail(&error, CAROM_BAD_INPUT, "%s", "m\xc3\xbc \xe2\x89\xa5 0");
    assert_string_equal(error.message, "m\xc3\xbc \xe2\x89\xa5 0");
}

static void test_a_long_message_is_cut(void **state) {
    (void)state;
    char text[2 * CAROM_MESSAGE_SIZE];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    carom_error error;
    memset(&error, '#', sizeof error);
    carom_fail(&error, CAROM_BAD_INPUT, "%s", text);
    assert_int_equal(strlen(error.message), CAROM_MESSAGE_SIZE - 1);
    assert_memory_equal(error.message, text, CAROM_MESSAGE_SIZE - 1);
}

static void test_no_error_wanted(void **state) {
    (void)state;
    assert_int_equal(carom_fail(NULL, CAROM_UNSUPPORTED, "%s", "unheard"), CAROM_UNSUPPORTED);
    assert_int_equal(carom_fail_memory(NULL, "table"), CAROM_OUT_OF_MEMORY);
    carom_error error;
    assert_refused(carom_fail_memory(&error, "table"), CAROM_OUT_OF_MEMORY, error, "table");
}

// ------------------------------------------------------------------------------------------------------------- streams

// First block for a zero key and a zero counter: known-answer vector of the library's authors.
static void test_philox_known_answer(void **state) {
    (void)state;
    const uint64_t known[] = {0x16554d9eca36314cU, 0xdb20fe9d672d0fdcU, 0xd7e772cee186176bU, 0x7e68b68aec7ba23bU};
    carom_stream stream;
    carom_stream_start(&stream, 0, 0);
    for (int i = 0; i < 4; i++) assert_true(carom_stream_bits(&stream) == known[i]);
}

static void test_a_stream_is_philox_of_its_key(void **state) {
    (void)state;
    const uint64_t keys[][2] = {{0, 0}, {0, 1}, {1, 0}, {42, 16383}, {UINT64_MAX, UINT64_MAX}, {7, (uint64_t)1 << 40}};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        carom_stream stream;
        carom_stream_start(&stream, keys[k][0], keys[k][1]);
        for (uint64_t block = 0; block < 50; block++) {
            const philox4x64_ctr_t counter = {{block, 0, 0, 0}};
            const philox4x64_key_t key = {{keys[k][0], keys[k][1]}};
            const philox4x64_ctr_t words = philox4x64(counter, key);
            for (int i = 0; i < 4; i++) assert_true(carom_stream_bits(&stream) == words.v[i]);
        }
    }
}

// Each use has a counter word of its own, so that no two uses of one key ever share a block.
static void test_uses_of_a_key_have_their_own_streams(void **state) {
    (void)state;
    for (uint64_t use = CAROM_STREAM_GENERAL; use <= CAROM_STREAM_CAPS; use++) {
        carom_stream stream;
        carom_stream_start_use(&stream, 42, 7, (carom_stream_use)use);
        for (uint64_t block = 0; block < 50; block++) {
            const philox4x64_ctr_t counter = {{block, use, 0, 0}};
            const philox4x64_key_t key = {{42, 7}};
            const philox4x64_ctr_t words = philox4x64(counter, key);
            for (int i = 0; i < 4; i++) assert_true(carom_stream_bits(&stream) == words.v[i]);
        }
    }
}

static double correlation(int count, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += (a[i] - 0.5) * (b[i] - 0.5);
    return 12 * sum / count;
}

// Neighbouring samples, neighbouring seeds and exchanged keys share nothing: correlations stay within five standard deviations.
static void test_streams_are_independent(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    static double base[COUNT], next_index[COUNT], next_seed[COUNT], exchanged[COUNT], first[COUNT + 1];
    carom_stream streams[4];
    carom_stream_start(&streams[0], 3, 8);
    carom_stream_start(&streams[1], 3, 9);
    carom_stream_start(&streams[2], 4, 8);
    carom_stream_start(&streams[3], 8, 3);
    double *drawn[] = {base, next_index, next_seed, exchanged};
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < COUNT; i++) drawn[s][i] = carom_stream_uniform(&streams[s]);
    const double bound = 5 / sqrt(COUNT);
    for (int s = 1; s < 4; s++) assert_true(fabs(correlation(COUNT, base, drawn[s])) < bound);
    // The first numbers of consecutive samples.
    for (int i = 0; i <= COUNT; i++) {
        carom_stream_start(&streams[0], 5, (uint64_t)i);
        first[i] = carom_stream_uniform(&streams[0]);
    }
    assert_true(fabs(correlation(COUNT, first, first + 1)) < bound);
}

static void test_a_restarted_stream_repeats(void **state) {
    (void)state;
    carom_stream stream;
    uint64_t drawn[9];
    carom_stream_start(&stream, 11, 12);
    for (int i = 0; i < 9; i++) drawn[i] = carom_stream_bits(&stream);
    const carom_stream copy = stream;
    carom_stream_start(&stream, 11, 12);
    for (int i = 0; i < 9; i++) assert_true(carom_stream_bits(&stream) == drawn[i]);
    // A copy goes on on its own.
    carom_stream other = copy;
    for (int i = 0; i < 9; i++) assert_true(carom_stream_bits(&other) == carom_stream_bits(&stream));
}

static void test_uniform_numbers_never_reach_the_ends(void **state) {
    (void)state;
    carom_stream stream = {.buffer = {0, UINT64_MAX, 1, (uint64_t)1 << 63}, .used = 0};
    const double least = carom_stream_uniform(&stream), most = carom_stream_uniform(&stream);
    assert_true(least > 0 && least < 1e-15);
    assert_true(most < 1 && most > 1 - 1e-15);
    assert_true(carom_stream_uniform(&stream) > 0);
    assert_close(carom_stream_uniform(&stream), 0.5, 1e-15);
}

static void test_uniform_moments(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    carom_stream stream;
    carom_stream_start(&stream, 1, 2);
    double sum = 0, squares = 0;
    for (int i = 0; i < COUNT; i++) {
        const double x = carom_stream_uniform(&stream) - 0.5;
        assert_true(fabs(x) < 0.5);
        sum += x;
        squares += x * x;
    }
    // Five standard deviations of the mean and of the mean square.
    assert_true(fabs(sum / COUNT) < 5 * sqrt(1.0 / 12 / COUNT));
    assert_true(fabs(squares / COUNT - 1.0 / 12) < 5 * sqrt(1.0 / 180 / COUNT));
}

static void test_normal_moments(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    carom_stream stream;
    carom_stream_start(&stream, 2, 1);
    double moments[5] = {0};
    for (int i = 0; i < COUNT; i++) {
        const double x = carom_stream_normal(&stream);
        for (int k = 1; k <= 4; k++) moments[k] += pow(x, k) / COUNT;
    }
    // E x^k and the variance of x^k of a standard normal variable.
    const double expected[] = {1, 0, 1, 0, 3}, variance[] = {0, 1, 2, 15, 96};
    for (int k = 1; k <= 4; k++) assert_true(fabs(moments[k] - expected[k]) < 5 * sqrt(variance[k] / COUNT));
}

// The number of bits that a normal number takes is part of the reproducibility promise.
static void test_a_normal_number_takes_two_uniform_ones(void **state) {
    (void)state;
    carom_stream normals, uniforms;
    carom_stream_start(&normals, 6, 6);
    carom_stream_start(&uniforms, 6, 6);
    for (int i = 0; i < 100; i++) {
        const double radius = sqrt(-2 * log(carom_stream_uniform(&uniforms)));
        const double angle = 2 * acos(-1) * carom_stream_uniform(&uniforms);
        assert_close(carom_stream_normal(&normals), radius * cos(angle), 1e-14);
    }
}

// ------------------------------------------------------------------------------------------------------- parallel loop

enum { BLOCKS = 137, MOST_WORKERS = 64, NONE = -1 };

// What the callbacks of one run saw. Assertions may not run on other threads: violations are noted.
typedef struct run_log {
    const char *caller;  // address of the calling thread's mark
    int workers;
    double *slots;
    double results[BLOCKS];
    int64_t delivered;
    int64_t fails_from, fails_slowly, fails_at_delivery;  // block numbers, or NONE
    int64_t polls_until_cancelled;                        // or NONE
    atomic_int polls, failed;
    atomic_bool violated;
    atomic_bool busy[MOST_WORKERS];
    int progress_calls;
    int64_t progressed;
} run_log;

static _Thread_local char thread_mark;

static double block_value(int64_t block) {
    carom_stream stream;
    carom_stream_start(&stream, 99, (uint64_t)block);
    return carom_stream_normal(&stream);
}

// Waits until another block has failed, a second at most: with one thread no other block can.
static void wait_for_failure(run_log *log) {
    const struct timespec millisecond = {0, 1000000};
    for (int i = 0; i < 1000 && log->workers > 1 && !atomic_load(&log->failed); i++) nanosleep(&millisecond, NULL);
}

static carom_status compute_block(void *user, int worker, int slot, int64_t block, carom_error *error) {
    run_log *log = user;
    if (worker < 0 || worker >= log->workers || slot < 0 || slot >= carom_loop_slots(log->workers)) {
        atomic_store(&log->violated, true);
        return CAROM_OK;
    }
    if (atomic_exchange(&log->busy[worker], true)) atomic_store(&log->violated, true);
    log->slots[slot] = block_value(block);
    if (block == log->fails_slowly) wait_for_failure(log);
    atomic_store(&log->busy[worker], false);
    if (block != log->fails_slowly && (log->fails_from == NONE || block < log->fails_from)) return CAROM_OK;
    atomic_fetch_add(&log->failed, 1);
    return carom_fail(error, CAROM_INTERNAL, "block %d failed", (int)block);
}

static carom_status deliver_block(void *user, int slot, int64_t block, carom_error *error) {
    run_log *log = user;
    if (&thread_mark != log->caller || block != log->delivered) atomic_store(&log->violated, true);
    if (block == log->fails_at_delivery) return carom_fail(error, CAROM_IO_FAILED, "block %d was not wanted", (int)block);
    log->results[block] = log->slots[slot];
    log->delivered++;
    return CAROM_OK;
}

static bool poll_cancelled(void *user) {
    run_log *log = user;
    return log->polls_until_cancelled != NONE && atomic_fetch_add(&log->polls, 1) >= log->polls_until_cancelled;
}

static void note_progress(void *user, int64_t done, int64_t total) {
    run_log *log = user;
    if (&thread_mark != log->caller || total != BLOCKS || done < log->progressed || done != log->delivered)
        atomic_store(&log->violated, true);
    log->progressed = done;
    log->progress_calls++;
}

static run_log quiet_log(void) {
    return (run_log){.fails_from = NONE, .fails_slowly = NONE, .fails_at_delivery = NONE, .polls_until_cancelled = NONE};
}

// Runs the loop, and checks what holds for every run: order, threads, a delivered prefix with the right contents.
static carom_status run_blocks(run_log *log, int workers, carom_error *error) {
    log->caller = &thread_mark;
    log->workers = workers;
    log->slots = calloc((size_t)carom_loop_slots(workers), sizeof(double));
    assert_non_null(log->slots);
    const carom_loop loop = {.blocks = BLOCKS, .user = log, .compute = compute_block, .deliver = deliver_block};
    const carom_control control = {.cancelled = poll_cancelled, .progress = note_progress, .user = log};
    int64_t delivered = NONE;
    const carom_status status = carom_loop_run(&loop, &control, workers, &delivered, error);
    free(log->slots);
    assert_false(atomic_load(&log->violated));
    assert_true(delivered == log->delivered && delivered <= BLOCKS);
    for (int64_t block = 0; block < delivered; block++) {
        const double value = block_value(block);
        assert_memory_equal(&log->results[block], &value, sizeof value);
    }
    return status;
}

static void test_the_loop_delivers_all_blocks_in_order(void **state) {
    (void)state;
    const int workers[] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        run_log log = quiet_log();
        carom_error error;
        assert_ok(run_blocks(&log, workers[i], &error), error);
        assert_int_equal(log.delivered, BLOCKS);
        assert_true(log.progress_calls > 0);
        assert_int_equal(log.progressed, BLOCKS);
    }
}

static void test_a_cancelled_loop_delivers_a_prefix(void **state) {
    (void)state;
    for (int workers = 1; workers <= 5; workers += 2)
        for (int64_t polls = 0; polls < BLOCKS; polls += 17) {
            run_log log = quiet_log();
            log.polls_until_cancelled = polls;
            carom_error error;
            assert_ok(run_blocks(&log, workers, &error), error);
            assert_true(log.delivered <= polls);
            // A lone worker polls at most twice a block, and stops only when it is told to.
            if (workers == 1) assert_true(2 * log.delivered + 1 >= polls);
        }
}

static void test_the_first_failing_block_is_reported(void **state) {
    (void)state;
    for (int workers = 1; workers <= 5; workers++) {
        run_log log = quiet_log();
        log.fails_from = 40;
        carom_error error;
        assert_refused(run_blocks(&log, workers, &error), CAROM_INTERNAL, error, "block 40 failed");
        assert_int_equal(log.delivered, 40);
    }
}

// Block 0 fails after a later one has: the answer may not depend on which was faster.
static void test_a_slow_failure_is_reported_before_a_later_one(void **state) {
    (void)state;
    for (int workers = 1; workers <= 2; workers++) {
        run_log log = quiet_log();
        log.fails_slowly = 0;
        log.fails_from = 1;
        carom_error error;
        assert_refused(run_blocks(&log, workers, &error), CAROM_INTERNAL, error, "block 0 failed");
        assert_int_equal(log.delivered, 0);
    }
}

static carom_status fail_at_once(void *user, int worker, int slot, int64_t block, carom_error *error) {
    (void)user, (void)worker, (void)slot;
    return carom_fail(error, CAROM_INTERNAL, "block %d failed", (int)block);
}

// A worker that is held up between taking a block and computing it may not lose the block's failure. Needs many runs to be seen.
static void test_a_failure_is_never_lost(void **state) {
    (void)state;
    const carom_loop loop = {.blocks = BLOCKS, .user = NULL, .compute = fail_at_once, .deliver = deliver_block};
    const int runs = support_count(1000, 100000, 3000000);
    for (int i = 0; i < runs; i++) {
        carom_error error = {0};
        int64_t delivered = NONE;
        assert_refused(carom_loop_run(&loop, NULL, 2, &delivered, &error), CAROM_INTERNAL, error, "block 0 failed");
        assert_int_equal(delivered, 0);
    }
}

static void test_a_failing_delivery_ends_the_loop(void **state) {
    (void)state;
    for (int workers = 1; workers <= 5; workers++) {
        run_log log = quiet_log();
        log.fails_at_delivery = 33;
        carom_error error;
        assert_refused(run_blocks(&log, workers, &error), CAROM_IO_FAILED, error, "block 33 was not wanted");
        assert_int_equal(log.delivered, 33);
    }
}

static void test_errors_of_the_loop_are_optional(void **state) {
    (void)state;
    run_log log = quiet_log();
    log.fails_from = 5;
    assert_int_equal(run_blocks(&log, 2, NULL), CAROM_INTERNAL);
}

static void test_a_loop_over_nothing(void **state) {
    (void)state;
    const carom_loop loop = {.blocks = 0, .user = NULL, .compute = compute_block, .deliver = deliver_block};
    int64_t delivered = NONE;
    carom_error error;
    assert_ok(carom_loop_run(&loop, NULL, 2, &delivered, &error), error);
    assert_int_equal(delivered, 0);
}

static void test_numbers_of_workers_and_slots(void **state) {
    (void)state;
    assert_true(carom_control_workers(NULL) >= 1);
    assert_true(carom_control_workers(&(carom_control){.threads = 0}) >= 1);
    assert_true(carom_control_workers(&(carom_control){.threads = -3}) >= 1);
    assert_int_equal(carom_control_workers(&(carom_control){.threads = 3}), 3);
    const int most = carom_control_workers(&(carom_control){.threads = 1000000});
    assert_true(most >= MOST_WORKERS && most <= 1000000);
    for (int workers = 1; workers < 20; workers++) assert_true(carom_loop_slots(workers) >= workers);
}

// -------------------------------------------------------------------------------------------------------------- digest

static void assert_digest(carom_digest *digest, const char *expected) {
    char text[CAROM_DIGEST_TEXT_SIZE];
    carom_digest_finish(digest, text);
    assert_string_equal(text, expected);
}

static carom_digest *start_digest(void) {
    carom_error error;
    carom_digest *digest = NULL;
    assert_ok(carom_digest_create(&digest, &error), error);
    return digest;
}

// The examples of FIPS 180-2, one after the other: each finish starts anew.
static void test_sha256_known_answers(void **state) {
    (void)state;
    carom_digest *digest = start_digest();
    assert_digest(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    carom_digest_add_bytes(digest, "abc", 3);
    assert_digest(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    carom_digest_add_bytes(digest, two_blocks, strlen(two_blocks));
    assert_digest(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    for (int i = 0; i < 100000; i++) carom_digest_add_bytes(digest, "aaaaaaaaaa", 10);
    assert_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    assert_digest(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    carom_digest_free(digest);
}

static void test_doubles_are_digested_little_endian(void **state) {
    (void)state;
    const double values[] = {1, -2.5, 0, -0.0, 4.9406564584124654e-324};
    const uint8_t bytes[] = {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0,    0, 0, 0x04, 0xc0, 0, 0, 0, 0,
                             0, 0, 0, 0, 0, 0, 0,    0,    0, 0, 0, 0x80, 1, 0, 0,    0,    0, 0, 0, 0};
    char expected[CAROM_DIGEST_TEXT_SIZE];
    carom_digest *digest = start_digest();
    carom_digest_add_bytes(digest, bytes, sizeof bytes);
    carom_digest_finish(digest, expected);
    carom_digest_add_doubles(digest, values, 5);
    assert_digest(digest, expected);
    // In pieces, too.
    carom_digest_add_doubles(digest, values, 2);
    carom_digest_add_doubles(digest, values, 0);
    carom_digest_add_doubles(digest, values + 2, 3);
    assert_digest(digest, expected);
    carom_digest_free(digest);
    carom_digest_free(NULL);
}

// ---------------------------------------------------------------------------------------------------------- registries

static void test_a_registry_keeps_its_kinds_apart(void **state) {
    (void)state;
    enum { ENTRIES = 40 };
    char names[ENTRIES][16];
    carom_error error;
    carom_registry *registry = NULL;
    assert_ok(carom_registry_create_empty(&registry, &error), error);
    assert_int_equal(carom_registry_count(registry, CAROM_REGISTRY_SOLVERS), 0);
    for (int i = 0; i < ENTRIES; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        assert_ok(carom_registry_add(registry, CAROM_REGISTRY_SOLVERS, names[i], names[i], &error), error);
    }
    // In the order in which they were added.
    assert_int_equal(carom_registry_count(registry, CAROM_REGISTRY_SOLVERS), ENTRIES);
    for (int i = 0; i < ENTRIES; i++) {
        assert_ptr_equal(carom_registry_entry(registry, CAROM_REGISTRY_SOLVERS, i), names[i]);
        assert_ptr_equal(carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, names[i]), names[i]);
    }
    assert_null(carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, "n"));
    assert_null(carom_registry_find(registry, CAROM_REGISTRY_LAWS, "n0"));
    assert_int_equal(carom_registry_count(registry, CAROM_REGISTRY_LAWS), 0);
    assert_ok(carom_registry_add(registry, CAROM_REGISTRY_LAWS, "n0", &error, &error), error);
    assert_ptr_equal(carom_registry_find(registry, CAROM_REGISTRY_LAWS, "n0"), &error);
    carom_registry_free(registry);
    carom_registry_free(NULL);
}

static void test_a_taken_name_is_refused(void **state) {
    (void)state;
    carom_error error;
    carom_registry *registry = NULL;
    int first, second;
    assert_ok(carom_registry_create_empty(&registry, &error), error);
    assert_ok(carom_registry_add(registry, CAROM_REGISTRY_LAWS, "twice", &first, &error), error);
    assert_refused(carom_registry_add(registry, CAROM_REGISTRY_LAWS, "twice", &second, &error), CAROM_BAD_INPUT, error, "'twice' is taken");
    assert_int_equal(carom_registry_count(registry, CAROM_REGISTRY_LAWS), 1);
    assert_ptr_equal(carom_registry_find(registry, CAROM_REGISTRY_LAWS, "twice"), &first);
    carom_registry_free(registry);
}

// ------------------------------------------------------------------------------------------------------------- arenas

static void test_arrays_of_an_arena_are_zero_and_apart(void **state) {
    (void)state;
    carom_arena arena = {0};
    int64_t *arrays[10];
    for (int i = 0; i < 10; i++) {
        arrays[i] = carom_arena_take(&arena, 100, sizeof *arrays[i]);
        assert_non_null(arrays[i]);
        for (int k = 0; k < 100; k++) {
            assert_int_equal(arrays[i][k], 0);
            arrays[i][k] = i;
        }
    }
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 100; k++) assert_int_equal(arrays[i][k], i);
    assert_false(arena.failed);
    carom_arena_free(&arena);
}

static void test_an_arena_remembers_what_it_could_not_have(void **state) {
    (void)state;
    carom_arena arena = {0};
    assert_non_null(carom_arena_take(&arena, 3, sizeof(double)));
    assert_null(carom_arena_take(&arena, SIZE_MAX / 2, sizeof(double)));
    assert_non_null(carom_arena_take(&arena, 3, sizeof(double)));
    assert_true(arena.failed);
    carom_arena_free(&arena);
    assert_false(arena.failed);
    carom_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_of_an_arena_are_zero_and_apart),
        cmocka_unit_test(test_an_arena_remembers_what_it_could_not_have),
        cmocka_unit_test(test_statuses_have_distinct_names_and_sentences),
        cmocka_unit_test(test_verdicts_have_distinct_names_and_sentences),
        cmocka_unit_test(test_a_message_is_one_line),
        cmocka_unit_test(test_a_long_message_is_cut),
        cmocka_unit_test(test_no_error_wanted),
        cmocka_unit_test(test_philox_known_answer),
        cmocka_unit_test(test_a_stream_is_philox_of_its_key),
        cmocka_unit_test(test_uses_of_a_key_have_their_own_streams),
        cmocka_unit_test(test_streams_are_independent),
        cmocka_unit_test(test_a_restarted_stream_repeats),
        cmocka_unit_test(test_uniform_numbers_never_reach_the_ends),
        cmocka_unit_test(test_uniform_moments),
        cmocka_unit_test(test_normal_moments),
        cmocka_unit_test(test_a_normal_number_takes_two_uniform_ones),
        cmocka_unit_test(test_the_loop_delivers_all_blocks_in_order),
        cmocka_unit_test(test_a_cancelled_loop_delivers_a_prefix),
        cmocka_unit_test(test_the_first_failing_block_is_reported),
        cmocka_unit_test(test_a_slow_failure_is_reported_before_a_later_one),
        cmocka_unit_test(test_a_failure_is_never_lost),
        cmocka_unit_test(test_a_failing_delivery_ends_the_loop),
        cmocka_unit_test(test_errors_of_the_loop_are_optional),
        cmocka_unit_test(test_a_loop_over_nothing),
        cmocka_unit_test(test_numbers_of_workers_and_slots),
        cmocka_unit_test(test_sha256_known_answers),
        cmocka_unit_test(test_doubles_are_digested_little_endian),
        cmocka_unit_test(test_a_registry_keeps_its_kinds_apart),
        cmocka_unit_test(test_a_taken_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
