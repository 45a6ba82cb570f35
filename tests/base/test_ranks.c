// SPDX-License-Identifier: Apache-2.0
// Ranks: messages, agreement, and the parallel loop shared between processes, whose messages travel here through sockets.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include "support.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// ------------------------------------------------------------------------------------------------------------ messages

static void test_bytes_come_back_in_order(void **state) {
    (void)state;
    enum { COUNT = 5000 };  // beyond the first capacity
    carom_bytes *bytes;
    carom_error error;
    assert_ok(carom_bytes_create(&bytes, &error), error);
    for (int round = 0; round < 2; round++) {
        carom_bytes_clear(bytes);
        for (int i = 0; i < COUNT; i++) assert_ok(carom_bytes_put(bytes, &i, sizeof i, &error), error);
        size_t size;
        assert_non_null(carom_bytes_data(bytes, &size));
        assert_int_equal(size, COUNT * sizeof(int));
        int value;
        for (int i = 0; i < COUNT; i++) {
            assert_ok(carom_bytes_take(bytes, &value, sizeof value, &error), error);
            assert_int_equal(value, i);
        }
        assert_refused(carom_bytes_take(bytes, &value, 1, &error), CAROM_INTERNAL, error, "too short");
    }
    carom_bytes_free(bytes);
}

static const char *const bits[] = {"hot", "cold", NULL};
static const carom_column columns[] = {
    {"speed", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACTS, "m/s", "", NULL},
    {"count", CAROM_COLUMN_INTEGER, 1, "", "", NULL},
    {"open", CAROM_COLUMN_BOOLEAN, 1, "", "", NULL},
    {"marks", CAROM_COLUMN_FLAGS, 1, "", "", bits},
    {"note", CAROM_COLUMN_TEXT, 1, "", "", NULL},
    {"word", CAROM_COLUMN_CONTACTS, 1, "", "", NULL},
    {"path", CAROM_COLUMN_SERIES, 2, "m/s", "", NULL},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static carom_table *make_table(void) {
    carom_table *table;
    carom_error error;
    assert_ok(carom_table_create(columns, COLUMNS, NULL, 0, &(carom_sizes){3, 2, 2, 3}, &table, &error), error);
    return table;
}

// Rows of which some have a text, a list, an empty list, or a series.
static void fill_table(carom_table *table, int rows) {
    carom_error error;
    for (int i = 0; i < rows; i++) {
        assert_ok(carom_table_add_row(table, &error), error);
        carom_table_reals(table, 0)[1] = i + 0.5;
        *carom_table_integers(table, 1) = i;
        *carom_table_integers(table, 2) = i & 1;
        char note[32];
        snprintf(note, sizeof note, "note %d", i);
        if (i % 2) assert_ok(carom_table_set_text(table, 4, note, &error), error);
        if (i % 3) assert_ok(carom_table_set_list(table, 5, (int[]){i % 2, 1}, i % 3 - 1, &error), error);
        if (i % 4 == 1) assert_ok(carom_table_set_series(table, 6, (double[]){i, 2, 3, 4}, 4, &error), error);
    }
}

static void assert_same_row(const carom_table *a, int64_t row_a, const carom_table *b, int64_t row_b) {
    assert_memory_equal(carom_table_real_column(a, 0) + 2 * row_a, carom_table_real_column(b, 0) + 2 * row_b, 2 * sizeof(double));
    for (int column = 1; column < 4; column++)
        assert_int_equal(carom_table_integer_column(a, column)[row_a], carom_table_integer_column(b, column)[row_b]);
    assert_string_equal(carom_table_text(a, 4, row_a), carom_table_text(b, 4, row_b));
    int count_a, count_b;
    const int *list_a = carom_table_list(a, 5, row_a, &count_a), *list_b = carom_table_list(b, 5, row_b, &count_b);
    assert_int_equal(count_a, count_b);
    if (count_a > 0) assert_memory_equal(list_a, list_b, (size_t)count_a * sizeof(int));
    const double *series_a = carom_table_series(a, 6, row_a, &count_a), *series_b = carom_table_series(b, 6, row_b, &count_b);
    assert_int_equal(count_a, count_b);
    if (count_a > 0) assert_memory_equal(series_a, series_b, (size_t)count_a * sizeof(double));
}

static void test_tables_travel(void **state) {
    (void)state;
    carom_error error;
    carom_bytes *bytes;
    assert_ok(carom_bytes_create(&bytes, &error), error);
    carom_table *sent = make_table(), *received = make_table();
    fill_table(received, 3);  // is replaced
    static const int sizes[] = {40, 0, 7};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        carom_table_clear(sent);
        fill_table(sent, sizes[k]);
        carom_bytes_clear(bytes);
        assert_ok(carom_table_pack(sent, bytes, &error), error);
        assert_ok(carom_table_unpack(received, bytes, &error), error);
        assert_int_equal(carom_table_rows(received), sizes[k]);
        for (int64_t row = 0; row < sizes[k]; row++) assert_same_row(sent, row, received, row);
    }
    assert_refused(carom_table_unpack(received, bytes, &error), CAROM_INTERNAL, error, "too short");
    carom_table_free(sent);
    carom_table_free(received);
    carom_bytes_free(bytes);
}

// A message that is cut, or of which bits are changed, is refused or read as a table that can be read to its last cell: no count and no end
// in it is trusted. Sanitizers watch what is read.
static void test_damaged_tables_are_refused(void **state) {
    (void)state;
    carom_error error;
    carom_bytes *bytes, *damaged;
    assert_ok(carom_bytes_create(&bytes, &error), error);
    assert_ok(carom_bytes_create(&damaged, &error), error);
    carom_table *sent = make_table(), *received = make_table();
    fill_table(sent, 5);
    assert_ok(carom_table_pack(sent, bytes, &error), error);
    size_t size;
    const char *whole = carom_bytes_data(bytes, &size);
    for (size_t length = 0; length < size; length++) {
        carom_bytes_clear(damaged);
        assert_ok(carom_bytes_put(damaged, whole, length, &error), error);
        assert_int_equal(carom_table_unpack(received, damaged, &error), CAROM_INTERNAL);
        assert_int_equal(carom_table_rows(received), 0);
    }
    int refused = 0;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        carom_bytes_clear(damaged);
        assert_ok(carom_bytes_put(damaged, whole, size, &error), error);
        ((char *)(uintptr_t)carom_bytes_data(damaged, &size))[bit / 8] ^= (char)(1 << bit % 8);
        const carom_status status = carom_table_unpack(received, damaged, &error);
        assert_true(!status || status == CAROM_INTERNAL);
        refused += status != CAROM_OK;
        for (int64_t row = 0; row < carom_table_rows(received); row++) {
            int count;
            assert_true(strlen(carom_table_text(received, 4, row)) <= size);
            const int *list = carom_table_list(received, 5, row, &count);
            for (int k = 0; k < count; k++) assert_in_range(list[k], 0, 1);
            const double *series = carom_table_series(received, 6, row, &count);
            for (int k = 0; k < count; k++) assert_true(isnan(series[k]) || series[k] == series[k]);
            assert_true(carom_table_integer_column(received, 3)[row] < 4);
        }
    }
    // Every bit of the number of rows and of the sizes of the pools is among these.
    assert_true(refused > 8 * (int)sizeof(int64_t) * (1 + COLUMNS) / 2);

    // Counts that no memory holds, also for a table whose rows have no cells: refused at once.
    static const int64_t hostile[] = {INT64_MAX, INT64_MIN, -1, INT64_MAX / 8, INT64_MAX / 2 + 1, 1LL << 40};
    for (size_t k = 0; k < sizeof hostile / sizeof *hostile; k++) {
        carom_bytes_clear(damaged);
        assert_ok(carom_bytes_put(damaged, &hostile[k], sizeof *hostile, &error), error);
        assert_ok(carom_bytes_put(damaged, whole, size, &error), error);
        assert_int_equal(carom_table_unpack(received, damaged, &error), CAROM_INTERNAL);
    }
    carom_table_free(sent);
    carom_table_free(received);
    carom_bytes_free(bytes);
    carom_bytes_free(damaged);
}

static void test_single_rows_are_appended(void **state) {
    (void)state;
    enum { ROWS = 40 };
    carom_error error;
    carom_table *all = make_table(), *some = make_table();
    fill_table(all, ROWS);
    for (int64_t row = ROWS - 1; row >= 0; row -= 3) assert_ok(carom_table_append_rows(some, all, row, 1, &error), error);
    for (int64_t i = 0; i < carom_table_rows(some); i++) assert_same_row(some, i, all, ROWS - 1 - 3 * i);
    carom_table_free(all);
    carom_table_free(some);
}

// ------------------------------------------------------------------------------------------- ranks as processes, by fork

enum { MOST_RANKS = 5 };

// What a rank has to say at the end, in memory that all see.
typedef struct report {
    bool done;
    carom_status status;
    int64_t delivered;
    carom_error error;
} report;

typedef struct link_set {
    int sockets[MOST_RANKS];  // to each other rank
} link_set;

static bool write_all(int to, const void *data, size_t size) {
    for (const char *left = data; size;) {
        const ssize_t count = write(to, left, size);
        if (count <= 0 && errno != EINTR) return false;
        if (count <= 0) continue;
        left += count;
        size -= (size_t)count;
    }
    return true;
}

static bool read_all(int from, void *data, size_t size) {
    for (char *left = data; size;) {
        const ssize_t count = read(from, left, size);
        if (count == 0 || (count < 0 && errno != EINTR)) return false;
        if (count < 0) continue;
        left += count;
        size -= (size_t)count;
    }
    return true;
}

static carom_status send_message(void *user, int to, const carom_bytes *message, carom_error *error) {
    const link_set *links = user;
    size_t size;
    const void *data = carom_bytes_data(message, &size);
    if (write_all(links->sockets[to], &size, sizeof size) && write_all(links->sockets[to], data, size)) return CAROM_OK;
    return carom_fail(error, CAROM_IO_FAILED, "rank %d has left", to);
}

static carom_status receive_message(void *user, int from, carom_bytes *message, carom_error *error) {
    const link_set *links = user;
    size_t size;
    if (read_all(links->sockets[from], &size, sizeof size) && read_all(links->sockets[from], carom_bytes_renew(message, size), size))
        return CAROM_OK;
    return carom_fail(error, CAROM_IO_FAILED, "rank %d has left", from);
}

typedef carom_status (*rank_body)(carom_ranks *ranks, void *user, int64_t *delivered, carom_error *error);

static report run_body(int rank, int count, link_set *links, rank_body body, void *user) {
    carom_ranks ranks = {rank, count, links, send_message, receive_message, false};
    report said = {.done = true};
    said.status = body(&ranks, user, &said.delivered, &said.error);
    return said;
}

// Runs `body` on each of `count` ranks; this process is rank 0. Nothing may be left in the sockets: ranks stay in step.
static void run_ranks(int count, rank_body body, void *user, report reports[MOST_RANKS]) {
    report *seen = mmap(NULL, MOST_RANKS * sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(seen != MAP_FAILED);
    link_set mine = {{0}};
    pid_t children[MOST_RANKS];
    for (int rank = 1; rank < count; rank++) {
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        fflush(NULL);
        children[rank] = fork();
        assert_true(children[rank] >= 0);
        if (children[rank] == 0) {
            alarm(60);
            for (int other = 1; other < rank; other++) close(mine.sockets[other]);
            close(ends[0]);
            link_set theirs = {{ends[1]}};
            seen[rank] = run_body(rank, count, &theirs, body, user);
            _exit(0);
        }
        close(ends[1]);
        mine.sockets[rank] = ends[0];
    }
    seen[0] = run_body(0, count, &mine, body, user);
    for (int rank = 1; rank < count; rank++) {
        int status;
        assert_int_equal(waitpid(children[rank], &status, 0), children[rank]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        char left;
        assert_int_equal(recv(mine.sockets[rank], &left, 1, MSG_DONTWAIT), 0);
        close(mine.sockets[rank]);
    }
    memcpy(reports, seen, MOST_RANKS * sizeof *seen);
    munmap(seen, MOST_RANKS * sizeof *seen);
    for (int rank = 0; rank < count; rank++) assert_true(reports[rank].done);
}

static void assert_all_say(const report *reports, int count, carom_status status, int64_t delivered, const char *text) {
    for (int rank = 0; rank < count; rank++) {
        assert_int_equal(reports[rank].status, status);
        assert_int_equal(reports[rank].delivered, delivered);
        if (status) assert_non_null(strstr(reports[rank].error.message, text));
    }
}

// ------------------------------------------------------------------------------------------------------- shared loops

// A loop whose blocks are numbers. What goes wrong, and where: -1 for nowhere.
typedef struct plan {
    int64_t blocks;
    int64_t failing_compute, failing_pack, failing_delivery;
    int cancelled_rank;
    int64_t cancelled_at;  // block from which on that rank is cancelled
} plan;

static const plan all_well = {0, -1, -1, -1, -1, 0};

typedef struct runner {
    const plan *plan;
    const carom_ranks *ranks;
    int64_t *slots;
    int64_t next;  // block to be delivered
    int64_t latest;
} runner;

static double value_of(int64_t block) { return 1 / (1.0 + (double)block); }

static carom_status compute(void *user, int worker, int slot, int64_t block, carom_error *error) {
    runner *r = user;
    if (worker) return carom_fail(error, CAROM_INTERNAL, "one worker was asked for");
    r->slots[slot] = block;
    r->latest = block;
    if (block == r->plan->failing_compute) return carom_fail(error, CAROM_BAD_INPUT, "block %lld failed", (long long)block);
    return CAROM_OK;
}

static carom_status deliver(void *user, int slot, int64_t block, carom_error *error) {
    runner *r = user;
    if (r->ranks->rank || r->slots[slot] != block || block != r->next)
        return carom_fail(error, CAROM_INTERNAL, "block %lld came for %lld", (long long)block, (long long)r->next);
    r->next++;
    if (block == r->plan->failing_delivery) return carom_fail(error, CAROM_IO_FAILED, "no place for block %lld", (long long)block);
    return CAROM_OK;
}

static carom_status pack(void *user, int slot, carom_bytes *into, carom_error *error) {
    const runner *r = user;
    if (r->slots[slot] == r->plan->failing_pack) return carom_fail_memory(error, "packing");
    const double value = value_of(r->slots[slot]);
    const carom_status status = carom_bytes_put(into, &r->slots[slot], sizeof *r->slots, error);
    return status ? status : carom_bytes_put(into, &value, sizeof value, error);
}

static carom_status unpack(void *user, int slot, carom_bytes *from, carom_error *error) {
    runner *r = user;
    double value;
    carom_status status = carom_bytes_take(from, &r->slots[slot], sizeof *r->slots, error);
    if (!status) status = carom_bytes_take(from, &value, sizeof value, error);
    if (!status && value != value_of(r->slots[slot])) status = carom_fail(error, CAROM_INTERNAL, "a wrong payload");
    return status;
}

static bool is_cancelled(void *user) {
    const runner *r = user;
    return r->ranks->rank == r->plan->cancelled_rank && r->latest >= r->plan->cancelled_at;
}

static carom_status run_loop(carom_ranks *ranks, void *user, int64_t *delivered, carom_error *error) {
    runner r = {.plan = user, .ranks = ranks, .slots = calloc((size_t)carom_loop_slots(1), sizeof(int64_t))};
    const carom_control control = {.threads = 1, .cancelled = is_cancelled, .user = &r, .ranks = ranks};
    const carom_loop loop = {r.plan->blocks, &r, compute, deliver, pack, unpack};
    const carom_status status = carom_loop_run(&loop, &control, 1, delivered, error);
    free(r.slots);
    return status;
}

static void test_shared_loops_deliver_all_blocks_in_order(void **state) {
    (void)state;
    static const int64_t blocks[] = {0, 1, 2, 7, 12, 64, 101};
    for (int count = 1; count <= MOST_RANKS; count++)
        for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
            plan well = all_well;
            well.blocks = blocks[k];
            report reports[MOST_RANKS];
            run_ranks(count, run_loop, &well, reports);
            assert_all_say(reports, count, CAROM_OK, blocks[k], "");
        }
}

// The failure is the same whichever rank computes the block.
static void test_the_first_failing_block_fails_all_ranks(void **state) {
    (void)state;
    for (int64_t failing = 0; failing < 40; failing += 3) {
        plan bad = all_well;
        bad.blocks = 40;
        bad.failing_compute = failing;
        char text[64];
        snprintf(text, sizeof text, "block %lld failed", (long long)failing);
        report reports[MOST_RANKS];
        run_ranks(3, run_loop, &bad, reports);
        assert_all_say(reports, 3, CAROM_BAD_INPUT, failing, text);
    }
}

static void test_a_failing_delivery_fails_all_ranks(void **state) {
    (void)state;
    for (int64_t failing = 0; failing < 40; failing += 7) {
        plan bad = all_well;
        bad.blocks = 40;
        bad.failing_delivery = failing;
        report reports[MOST_RANKS];
        run_ranks(3, run_loop, &bad, reports);
        assert_all_say(reports, 3, CAROM_IO_FAILED, failing, "no place for");
    }
}

static void test_a_block_that_cannot_be_packed_fails_all_ranks(void **state) {
    (void)state;
    plan bad = all_well;
    bad.blocks = 40;
    bad.failing_pack = 17;  // of rank 1: rank 0 does not pack
    report reports[MOST_RANKS];
    run_ranks(3, run_loop, &bad, reports);
    assert_all_say(reports, 3, CAROM_OUT_OF_MEMORY, 16, "packing");
}

static void test_any_cancelled_rank_ends_the_loop_with_a_prefix(void **state) {
    (void)state;
    enum { BLOCKS = 10000 };
    for (int cancelled = 0; cancelled < 3; cancelled++) {
        plan stopped = all_well;
        stopped.blocks = BLOCKS;
        stopped.cancelled_rank = cancelled;
        stopped.cancelled_at = 50;
        report reports[MOST_RANKS];
        run_ranks(3, run_loop, &stopped, reports);
        assert_in_range(reports[0].delivered, 36, 100);
        assert_all_say(reports, 3, CAROM_OK, reports[0].delivered, "");
    }
}

// --------------------------------------------------------------------------------------------------------- agreements

static carom_status fail_early(carom_ranks *ranks, void *user, int64_t *delivered, carom_error *error) {
    const int failing = *(int *)user;
    carom_status status = carom_ranks_agree(ranks, CAROM_OK, error);
    if (status) return status;
    plan work = all_well;
    work.blocks = 30;
    if (ranks->rank == failing)
        status = carom_fail(error, CAROM_OUT_OF_MEMORY, "rank %d has no memory", failing);
    else
        status = run_loop(ranks, &work, delivered, error);
    status = carom_ranks_agree(ranks, status, error);
    return carom_ranks_agree(ranks, status, error);
}

static void test_a_rank_that_fails_early_meets_the_others(void **state) {
    (void)state;
    for (int failing = 0; failing < 3; failing++) {
        report reports[MOST_RANKS];
        run_ranks(3, fail_early, &failing, reports);
        assert_all_say(reports, 3, CAROM_OUT_OF_MEMORY, 0, "has no memory");
    }
}

static carom_status fail_all(carom_ranks *ranks, void *user, int64_t *delivered, carom_error *error) {
    (void)user;
    *delivered = 0;
    carom_fail(error, CAROM_BAD_INPUT, "rank %d", ranks->rank);
    return carom_ranks_agree(ranks, ranks->rank ? CAROM_BAD_INPUT : CAROM_OK, error);
}

static void test_the_lowest_failing_rank_is_heard(void **state) {
    (void)state;
    report reports[MOST_RANKS];
    run_ranks(4, fail_all, NULL, reports);
    assert_all_say(reports, 4, CAROM_BAD_INPUT, 0, "rank 1");
    carom_error error;
    assert_int_equal(carom_ranks_agree(NULL, CAROM_IO_FAILED, &error), CAROM_IO_FAILED);
}

// ----------------------------------------------------------------------------------------------------------- sampling

typedef struct sampling {
    const carom_impact *impact;
    carom_registry *registry;
    carom_sampler sampler;
    int64_t max_steps;
    carom_table *outcomes;  // of rank 0
    carom_sample_statistics statistics;
} sampling;

static carom_status sample(carom_ranks *ranks, void *user, int64_t *delivered, carom_error *error) {
    sampling *s = user;
    carom_sample_options options = carom_sample_defaults();
    options.samples = 5000;
    options.paths = 700;
    options.step = 0.1;
    options.sampler = (int)s->sampler;
    options.method.selection = CAROM_SELECT_LEMKE;
    options.max_steps = s->max_steps;
    const carom_control control = {.threads = 1, .ranks = ranks};
    carom_table_clear(s->outcomes);
    const carom_sink sink = carom_table_sink(s->outcomes);
    const carom_status status = carom_reach_sample(s->impact, &options, s->registry, &control, &sink, &s->statistics, error);
    *delivered = carom_table_rows(s->outcomes);
    return status;
}

// With so few steps that some samples do not terminate.
static void check_samples_of_ranks(carom_sampler sampler, int64_t max_steps) {
    carom_error error;
    carom_impact *impact = support_impact(&reference_block);
    sampling s = {.impact = impact, .sampler = sampler, .max_steps = max_steps};
    assert_ok(carom_registry_create(&s.registry, &error), error);
    assert_ok(carom_outcomes_create(impact, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &s.outcomes, &error), error);
    carom_bytes *alone, *shared;
    assert_ok(carom_bytes_create(&alone, &error), error);
    assert_ok(carom_bytes_create(&shared, &error), error);
    report reports[MOST_RANKS];
    run_ranks(1, sample, &s, reports);
    assert_ok(reports[0].status, reports[0].error);
    assert_ok(carom_table_pack(s.outcomes, alone, &error), error);
    const carom_sample_statistics expected = s.statistics;
    assert_in_range(expected.counts.terminated, 1000, expected.counts.samples - 1);
    for (int count = 2; count <= MOST_RANKS; count++) {
        run_ranks(count, sample, &s, reports);
        for (int rank = 0; rank < count; rank++) assert_int_equal(reports[rank].delivered, rank ? 0 : expected.counts.terminated);
        carom_bytes_clear(shared);
        assert_ok(carom_table_pack(s.outcomes, shared, &error), error);
        size_t size, other_size;
        const void *bytes = carom_bytes_data(alone, &size), *other = carom_bytes_data(shared, &other_size);
        assert_int_equal(size, other_size);
        assert_memory_equal(bytes, other, size);
        assert_string_equal(s.statistics.digest, expected.digest);
        assert_int_equal(s.statistics.verdict, CAROM_COMPLETE);
        assert_int_equal(s.statistics.counts.samples, expected.counts.samples);
        assert_int_equal(s.statistics.walks, expected.walks);
        assert_int_equal(s.statistics.lcp_solves, expected.lcp_solves);
        assert_true(s.statistics.lcps_per_sample_ci95 == expected.lcps_per_sample_ci95);
    }
    carom_bytes_free(alone);
    carom_bytes_free(shared);
    carom_table_free(s.outcomes);
    carom_registry_free(s.registry);
    carom_impact_free(impact);
}

static void test_samples_are_the_same_on_any_number_of_ranks(void **state) {
    (void)state;
    check_samples_of_ranks(CAROM_SAMPLER_LCP, 7);
}

static void test_mixed_samples_are_the_same_on_any_number_of_ranks(void **state) {
    (void)state;
    check_samples_of_ranks(CAROM_SAMPLER_AUTO, 7);
}

static void test_walks_are_the_same_on_any_number_of_ranks(void **state) {
    (void)state;
    check_samples_of_ranks(CAROM_SAMPLER_WALK, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_come_back_in_order),
        cmocka_unit_test(test_tables_travel),
        cmocka_unit_test(test_damaged_tables_are_refused),
        cmocka_unit_test(test_single_rows_are_appended),
        cmocka_unit_test(test_shared_loops_deliver_all_blocks_in_order),
        cmocka_unit_test(test_the_first_failing_block_fails_all_ranks),
        cmocka_unit_test(test_a_failing_delivery_fails_all_ranks),
        cmocka_unit_test(test_a_block_that_cannot_be_packed_fails_all_ranks),
        cmocka_unit_test(test_any_cancelled_rank_ends_the_loop_with_a_prefix),
        cmocka_unit_test(test_a_rank_that_fails_early_meets_the_others),
        cmocka_unit_test(test_the_lowest_failing_rank_is_heard),
        cmocka_unit_test(test_samples_are_the_same_on_any_number_of_ranks),
        cmocka_unit_test(test_mixed_samples_are_the_same_on_any_number_of_ranks),
        cmocka_unit_test(test_walks_are_the_same_on_any_number_of_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
