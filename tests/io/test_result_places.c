// SPDX-License-Identifier: Apache-2.0
// Result files stand whole or not at all, and replace nothing that is not theirs.
#define _XOPEN_SOURCE 700  // symlink and friends
#include "result_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "carom/temporary.h"

static carom_status try_create(const bench *b, const char *path, carom_error *error) {
    carom_result_writer *writer;
    const carom_status status = carom_result_writer_create(path, b->scene, &writer, error);
    assert_true((writer == NULL) == (status != CAROM_OK));
    carom_result_writer_free(writer);
    return status;
}

static void bad_places_are_refused(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    char *missing = support_join_path(b.directory, "missing/result.h5"), *fifo = support_join_path(b.directory, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_refused(try_create(&b, missing, &error), CAROM_IO_FAILED, error, "missing/result.h5");
    assert_refused(try_create(&b, b.directory, &error), CAROM_BAD_INPUT, error, "a directory");
    assert_refused(try_create(&b, "/dev/null", &error), CAROM_BAD_INPUT, error, "not a regular file");
    assert_refused(try_create(&b, fifo, &error), CAROM_BAD_INPUT, error, "not a regular file");
    assert_refused(try_create(&b, "", &error), CAROM_BAD_INPUT, error, "empty");
    assert_int_equal(count_entries(b.directory), 1);
    if (geteuid() != 0) {
        assert_int_equal(chmod(b.directory, 0500), 0);
        assert_refused(try_create(&b, b.target, &error), CAROM_IO_FAILED, error, "result.h5");
    }
    free(missing);
    free(fifo);
    finish(&b);
}

static void uncommitted_files_vanish(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    assert_ok(try_create(&b, b.target, &error), error);
    assert_int_equal(count_entries(b.directory), 0);
    // The same in the middle of a law
    carom_result_writer *writer;
    carom_sink sink;
    assert_ok(carom_result_writer_create(b.target, b.scene, &writer, &error), error);
    assert_ok(carom_result_writer_open_law(writer, &fake_law, NULL, &sink, &error), error);
    assert_ok(send_rows(&b, &sink, 30000, 1000, &error), error);
    assert_refused(carom_result_writer_commit(writer, &error), CAROM_INTERNAL, error, "not ready");
    carom_result_writer_free(writer);
    assert_int_equal(count_entries(b.directory), 0);
    finish(&b);
}

static void links_and_modes_are_kept(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    char *link = support_join_path(b.directory, "link.h5");
    free(support_write_file(b.directory, "result.h5", "\x89HDF\r\n\x1a\n, an old one"));
    assert_int_equal(chmod(b.target, 0604), 0);
    assert_int_equal(symlink("result.h5", link), 0);
    const mode_t mask = umask(027);
    assert_ok(write_file(&b, link, 2, 1, "complete", &error), error);
    umask(mask);
    struct stat about;
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(lstat(b.target, &about), 0);
    assert_true(about.st_size > 1000);
    assert_int_equal(about.st_mode & 0777, 0604);
    // Without an old file the mask decides.
    assert_int_equal(unlink(b.target), 0);
    umask(027);
    assert_ok(write_file(&b, b.target, 2, 1, "complete", &error), error);
    umask(mask);
    assert_int_equal(lstat(b.target, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    free(link);
    finish(&b);
}

// A file of another kind may be the scene itself or another input: it is kept.
static void only_hdf5_files_are_replaced(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    const char *const others[] = {"name: mine\n", "\x89", "\x89PNG\r\n\x1a\n", " \x89HDF\r\n\x1a\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        free(support_write_file(b.directory, "result.h5", others[i]));
        assert_refused(try_create(&b, b.target, &error), CAROM_BAD_INPUT, error, "result.h5: is not an HDF5 file");
        size_t size;
        char *left = support_read_file(b.target, &size);
        assert_int_equal(size, strlen(others[i]));
        assert_memory_equal(left, others[i], size);
        free(left);
        assert_int_equal(count_entries(b.directory), 1);
    }
    // An empty file, as mktemp makes it, may be replaced
    free(support_write_file(b.directory, "result.h5", ""));
    assert_ok(write_file(&b, b.target, 2, 1, "complete", &error), error);
    assert_ok(write_file(&b, b.target, 3, 1, "complete", &error), error);

    // A file that appeared while the outcomes were computed is kept too
    carom_result_writer *writer;
    assert_ok(carom_result_writer_create(b.target, b.scene, &writer, &error), error);
    free(support_write_file(b.directory, "result.h5", "mine"));
    assert_refused(carom_result_writer_commit(writer, &error), CAROM_BAD_INPUT, error, "is not an HDF5 file");
    carom_result_writer_free(writer);
    assert_int_equal(count_entries(b.directory), 1);
    finish(&b);
}

// Through a chain of links, relative and absolute ones, to a place where nothing is yet.
static void links_to_nothing_are_kept(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    char *folder = support_join_path(b.directory, "folder"), *link = support_join_path(folder, "link.h5");
    char *made = support_join_path(folder, "made.h5");
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(symlink(link, b.target), 0);
    assert_int_equal(symlink("made.h5", link), 0);
    assert_ok(write_file(&b, b.target, 2, 1, "complete", &error), error);
    struct stat about;
    assert_true(!lstat(b.target, &about) && S_ISLNK(about.st_mode));
    assert_true(!lstat(link, &about) && S_ISLNK(about.st_mode));
    assert_true(!lstat(made, &about) && S_ISREG(about.st_mode) && about.st_size > 1000);
    // A folder that is missing is not made, and a circle has no end.
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("missing/made.h5", link), 0);
    assert_refused(try_create(&b, b.target, &error), CAROM_IO_FAILED, error, "result.h5");
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(b.target, link), 0);
    assert_refused(try_create(&b, b.target, &error), CAROM_IO_FAILED, error, "result.h5");
    free(folder);
    free(link);
    free(made);
    finish(&b);
}

// What a killed process left under a temporary name goes with the next file for the same place. That of a process that still writes stays,
// and so does everything of another name.
static void leftovers_are_removed(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    static const char *const kept[] = {".result.h5",          ".result.h5.abcdefg", ".result.h5.abcdefgh2",
                                       ".result.h5.ABCDEFGH", ".other.h5.abcdefgh", "result.h5.abcdefgh"};
    const int others = sizeof kept / sizeof *kept;
    for (int i = 0; i < others; i++) free(support_write_file(b.directory, kept[i], "mine"));
    char *left = support_write_file(b.directory, ".result.h5.abcdefgh", "half a file"),
         *fifo = support_join_path(b.directory, ".result.h5.abcd2345");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    carom_result_writer *writer;
    assert_ok(carom_result_writer_create(b.target, b.scene, &writer, &error), error);
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(access(fifo, F_OK), 0);
    assert_int_equal(count_entries(b.directory), others + 2);
    // Two writers: each leaves the other's file alone, and the last one to finish has the place.
    assert_ok(write_file(&b, b.target, 2, 1, "complete", &error), error);
    assert_int_equal(count_entries(b.directory), others + 3);
    assert_ok(write_law(&b, writer, &fake_law, 5, 5, "complete", &error), error);
    assert_ok(carom_result_writer_commit(writer, &error), error);
    carom_result_writer_free(writer);
    assert_int_equal(count_entries(b.directory), others + 2);
    free(left);
    free(fifo);
    finish(&b);
}

// Writes with a limit on the size of files, in a process of its own: HDF5 crashes at exit when it could not write what it holds.
static int write_limited(const bench *b, rlim_t limit) {
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        signal(SIGXFSZ, SIG_IGN);
        const struct rlimit limits = {limit, limit};
        setrlimit(RLIMIT_FSIZE, &limits);
        carom_error error = {0};
        const carom_status status = write_file(b, b->target, 20000, 500, "complete", &error);
        const bool explained = strstr(error.message, "could not be written (disk full?)") != NULL;
        // exit, not _exit: HDF5 cleans up
        exit(!status ? 0 : status == CAROM_IO_FAILED && explained ? 1 : 2);
    }
    int outcome;
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(WIFEXITED(outcome));
    return WEXITSTATUS(outcome);
}

static void full_disks_leave_nothing(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    assert_ok(write_file(&b, b.target, 20000, 500, "complete", &error), error);
    struct stat about;
    assert_int_equal(stat(b.target, &about), 0);
    assert_int_equal(unlink(b.target), 0);
    const rlim_t size = (rlim_t)about.st_size, limits[] = {0, 100, 2000, 8192, size / 2, size - 40000, size - 2048, size - 1};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        assert_int_equal(write_limited(&b, limits[i]), 1);
        assert_int_equal(count_entries(b.directory), 0);
    }
    assert_int_equal(write_limited(&b, size), 0);
    assert_int_equal(count_entries(b.directory), 1);
    finish(&b);
}

// Without a free descriptor no folder can be listed any more.
static void folders_are_removed_without_descriptors(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    carom_temporary_folder folder, refused;
    assert_ok(carom_temporary_folder_create(b.directory, "page", &folder, &error), error);
    char *path = support_join_path(folder.path, "figure.png");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    struct rlimit usual;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    const int next = dup(STDERR_FILENO);
    assert_int_equal(close(next), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)next, usual.rlim_max}), 0);
    const carom_status status = carom_temporary_folder_create(b.directory, "page", &refused, &error);
    carom_temporary_folder_remove(&folder);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_refused(status, CAROM_IO_FAILED, error, "nothing can be written there");
    assert_int_equal(count_entries(b.directory), 0);
    free(path);
    finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_places_are_refused),    cmocka_unit_test(uncommitted_files_vanish),
        cmocka_unit_test(links_and_modes_are_kept),  cmocka_unit_test(only_hdf5_files_are_replaced),
        cmocka_unit_test(links_to_nothing_are_kept), cmocka_unit_test(leftovers_are_removed),
        cmocka_unit_test(full_disks_leave_nothing),  cmocka_unit_test(folders_are_removed_without_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
