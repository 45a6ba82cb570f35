// SPDX-License-Identifier: Apache-2.0
// What fuzzing found stays mended: replays the seeds of every harness, and command lines over every scene, without libFuzzer.
#define _XOPEN_SOURCE 700  // realpath
#include <dirent.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "support.h"

// Seconds that one seed may take on a busy machine, sanitizers included.
enum { SEED_SECONDS = 60, PATH_ROOM = 4096 };

static char seeds[PATH_ROOM], sources[PATH_ROOM], headers[PATH_ROOM];

// A crash ends the program: the last line of its output then names the seed.
static void replay(const fuzz_harness *harness, const char *name, const void *bytes, size_t size) {
    printf("# %s %s\n", harness->name, name);
    fflush(stdout);
    alarm(SEED_SECONDS);
    harness->run(bytes, size);
    alarm(0);
}

static void replays_every_seed(void **state) {
    const fuzz_harness *harness = *state;
    char folder[PATH_ROOM + 64], path[PATH_ROOM + 512];
    snprintf(folder, sizeof folder, "%s/%s", seeds, harness->name);
    struct dirent **names;
    const int count = scandir(folder, &names, NULL, alphasort);
    if (count <= 2) fail_msg("%s holds no seed", folder);
    for (int i = 0; i < count; i++) {
        if (*names[i]->d_name != '.') {
            size_t size;
            snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
            char *bytes = support_read_file(path, &size);
            replay(harness, names[i]->d_name, bytes, size);
            free(bytes);
        }
        free(names[i]);
    }
    free(names);
    // Nothing and a single zero are inputs, too.
    replay(harness, "(empty)", "", 0);
    replay(harness, "(zero)", "", 1);
}

// Whatever a public header says to read, open, load, unpack or parse, is called by a harness: a new reader is attacked from its first day.
static void every_public_reader_has_a_harness(void **state) {
    (void)state;
    size_t size;
    char *harnesses = support_read_file(sources, &size), path[2 * PATH_ROOM];
    struct dirent **names;
    const int count = scandir(headers, &names, NULL, alphasort);
    assert_true(count > 2);
    regex_t declaration;
    assert_int_equal(
        regcomp(&declaration, "\n(carom_status|bool) (carom_[a-z0-9_]*_?(read|open|load|unpack|parse)(_[a-z_]+)?)\\(", REG_EXTENDED), 0);
    int readers = 0, missing = 0;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", headers, names[i]->d_name);
        char *text = *names[i]->d_name == '.' ? NULL : support_read_file(path, &size);
        regmatch_t match[3];
        for (char *at = text; at && !regexec(&declaration, at, 3, match, 0); at += match[0].rm_eo) {
            char call[128];
            snprintf(call, sizeof call, "%.*s(", (int)(match[2].rm_eo - match[2].rm_so), at + match[2].rm_so);
            // Writers open groups of their own files. On damaged files libhdf5 may end the process in which carom_result_open calls it:
            // the harness takes carom_result_open_apart, which does the same in a process of its own. Files are opened by every reader.
            if (strstr(call, "writer") || strstr(call, "carom_file_") || !strcmp(call, "carom_result_open(")) continue;
            readers++;
            if (strstr(harnesses, call)) continue;
            print_error("%s: no harness of tests/fuzz/readers.c calls %s)\n", names[i]->d_name, call);
            missing++;
        }
        free(text);
        free(names[i]);
    }
    regfree(&declaration);
    free(names);
    free(harnesses);
    assert_true(readers > 15);
    assert_int_equal(missing, 0);
}

int main(void) {
    char scenes[PATH_ROOM];
    if (!realpath("tests/fuzz/seeds", seeds) || !realpath("scenes", scenes) || !realpath("tests/fuzz/readers.c", sources) ||
        !realpath("include/carom", headers)) {
        perror("tests/fuzz/seeds");
        return EXIT_FAILURE;
    }
    fuzz_enter(scenes);
    struct CMUnitTest tests[32] = {cmocka_unit_test(every_public_reader_has_a_harness)};
    size_t count = 1;
    for (const fuzz_harness *each = fuzz_harnesses; each->name; each++)
        tests[count++] = (struct CMUnitTest){each->name, replays_every_seed, NULL, NULL, (void *)each};
    return _cmocka_run_group_tests("fuzz seeds", tests, count, NULL, NULL);
}
