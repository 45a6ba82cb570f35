// SPDX-License-Identifier: Apache-2.0
// What fuzzing found stays mended: replays the seeds of every harness, and command lines over every scene, without libFuzzer.
#define _XOPEN_SOURCE 700  // realpath
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "support.h"

// Seconds that one seed may take on a busy machine, sanitizers included.
enum { SEED_SECONDS = 60, PATH_ROOM = 4096 };

static char seeds[PATH_ROOM];

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

int main(void) {
    char scenes[PATH_ROOM];
    if (!realpath("tests/fuzz/seeds", seeds) || !realpath("scenes", scenes)) {
        perror("tests/fuzz/seeds");
        return EXIT_FAILURE;
    }
    fuzz_enter(scenes);
    struct CMUnitTest tests[16];
    size_t count = 0;
    for (const fuzz_harness *each = fuzz_harnesses; each->name; each++)
        tests[count++] = (struct CMUnitTest){each->name, replays_every_seed, NULL, NULL, (void *)each};
    return _cmocka_run_group_tests("fuzz seeds", tests, count, NULL, NULL);
}
