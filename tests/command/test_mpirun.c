// SPDX-License-Identifier: Apache-2.0
// The command under mpirun, with a build that has MPI.
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { COMMAND_SIZE = 8192, PATH_SIZE = 1024, TEXT_SIZE = 16384 };

static const char *build(void) {
    const char *given = getenv("CAROM_BUILD");
    return given && *given ? given : "build";
}

static bool has_mpi(void) {
    char path[PATH_SIZE], ranks[256] = "";
    snprintf(path, sizeof path, "%s/ranks", build());
    FILE *file = fopen(path, "r");
    if (file && !fgets(ranks, sizeof ranks, file)) ranks[0] = '\0';
    if (file) fclose(file);
    return strstr(ranks, "mpi");
}

// Runs `carom WORDS` on so many ranks, in a shell; returns the exit status. stderr joins stdout where `words` says so.
static int run_command(int count, const char *words, char text[TEXT_SIZE]) {
    char command[COMMAND_SIZE];
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 mpirun -q --oversubscribe -n %d %s/carom %s", count,
             build(), words);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    const size_t size = fread(text, 1, TEXT_SIZE - 1, pipe);
    text[size] = '\0';
    const int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// Removes from the document what differs between two runs.
static void cut_times(char *text) {
    char *start = strstr(text, "\"seconds\""), *end = start ? strchr(start, ',') : NULL;
    assert_non_null(end);
    memmove(start, end, strlen(end) + 1);
    assert_null(strstr(text, "\"seconds\""));
}

static void test_mpirun_gives_one_document_and_one_file_whatever_the_ranks(void **state) {
    (void)state;
    if (!has_mpi()) skip();
    static const int counts[] = {1, 2, 3};
    char *directory = support_make_directory(), words[COMMAND_SIZE / 2], path[PATH_SIZE], first[TEXT_SIZE], text[TEXT_SIZE];
    snprintf(path, sizeof path, "%s/set.h5", directory);
    static const char *const keeps[] = {"all", "hull"};
    for (int keep = 0; keep < 2; keep++) {
        char *bytes = NULL;
        size_t size = 0;
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            snprintf(words, sizeof words, "sample scenes/block.yaml --samples 5000 --keep %s --threads %d --json -o %s 2>&1", keeps[keep],
                     counts[k] % 2 + 1, path);
            assert_int_equal(run_command(counts[k], words, text), 0);
            cut_times(text);
            size_t new_size;
            char *new_bytes = support_read_file(path, &new_size);
            if (k) {
                assert_string_equal(text, first);
                assert_int_equal(new_size, size);
                assert_memory_equal(new_bytes, bytes, size);
            } else {
                strcpy(first, text);
            }
            free(bytes);
            bytes = new_bytes;
            size = new_size;
        }
        free(bytes);
    }
    support_remove_directory(directory);
}

// mpirun hands its own interrupt on to the ranks, waits for a while (all of it), and kills those that are still there.
static void test_an_interrupt_under_mpirun_keeps_the_finished_samples(void **state) {
    (void)state;
    if (!has_mpi()) skip();
    char *directory = support_make_directory(), command[COMMAND_SIZE], text[TEXT_SIZE];
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -s INT --preserve-status 2 mpirun -q --oversubscribe "
             "--mca odls_base_sigkill_timeout 3 -n 3 %s/carom sample scenes/disks.yaml --samples 1e9 --json -o %s/set.h5",
             build(), directory);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    text[fread(text, 1, TEXT_SIZE - 1, pipe)] = '\0';
    pclose(pipe);
    assert_non_null(strstr(text, "\"verdict\": \"interrupted\""));
    snprintf(command, sizeof command, "%s/set.h5", directory);
    carom_result *result;
    carom_error error;
    assert_ok(carom_result_open(command, &result, &error), error);
    double *values;
    int64_t rows;
    int width;
    assert_ok(carom_result_read_reals(result, 0, "v_plus", &values, &rows, &width, &error), error);
    char said[64];
    snprintf(said, sizeof said, "\"terminated\": %lld,", (long long)rows);
    assert_non_null(strstr(text, said));
    free(values);
    carom_result_close(result);
    support_remove_directory(directory);
}

static void test_errors_under_mpirun_are_one_line(void **state) {
    (void)state;
    if (!has_mpi()) skip();
    static const char *const bad[] = {"sample nowhere.yaml 2>&1", "sample scenes/block.yaml --samples 0 2>&1",
                                      "sample scenes/block.yaml -o /nonexistent/x.h5 2>&1", "plot nowhere.h5 2>&1"};
    char text[TEXT_SIZE];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(run_command(3, bad[i], text), 2);
        assert_ptr_equal(strstr(text, "carom: "), text);
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    }
    // A command whose work is not shared between ranks prints its answer once.
    assert_int_equal(run_command(3, "lcp - 2>&1 --help", text), 0);
    assert_null(strstr(strstr(text, "usage:") + 1, "usage:"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mpirun_gives_one_document_and_one_file_whatever_the_ranks),
        cmocka_unit_test(test_an_interrupt_under_mpirun_keeps_the_finished_samples),
        cmocka_unit_test(test_errors_under_mpirun_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
