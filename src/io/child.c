// SPDX-License-Identifier: Apache-2.0
// Limits of child processes, and rehearsals in them.
#define _XOPEN_SOURCE 700
#include "io/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    MEMORY = 256 << 20,  // beside what the file holds
    SHARE = 4,           // times the file: its numbers may take twice their size, and are copied
    SECONDS = 10,        // of processor time in a rehearsal
};

void carom_child_limit(int64_t file_size) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    const bool known = file && fscanf(file, "%llu", &pages) == 1;
    if (file) fclose(file);
    struct rlimit memory;
    if (known && !getrlimit(RLIMIT_AS, &memory)) {
        const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY + (rlim_t)file_size * SHARE;
        if (memory.rlim_cur == RLIM_INFINITY || memory.rlim_cur > most) memory.rlim_cur = most;
        setrlimit(RLIMIT_AS, &memory);
    }
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    // A crash ends the child, whatever its parent does with signals.
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], SIG_DFL);
    // Allocators and sanitizers print before they abort. The parent says what happened.
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
}

bool carom_child_survives(int64_t file_size, void (*rehearsed)(void *user), void *user) {
    const pid_t child = fork();
    if (child < 0) return true;
    if (child == 0) {
        carom_child_limit(file_size);
        setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS});
        rehearsed(user);
        // The parent's exit handlers are not this process's.
        _exit(0);
    }
    int ended = 0;
    while (waitpid(child, &ended, 0) < 0)
        if (errno != EINTR) return true;
    return WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

bool carom_child_run(const char *const words[], const int streams[3], int *status) {
    posix_spawn_file_actions_t actions;
    pid_t child;
    *status = -1;
    if (posix_spawn_file_actions_init(&actions)) return false;
    for (int i = 0; i < 3; i++) posix_spawn_file_actions_adddup2(&actions, streams[i], i);
    // posix_spawn wants arguments that could be written to, and does not write to them.
    const bool started = !posix_spawnp(&child, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    int ended = 0;
    while (started && waitpid(child, &ended, 0) < 0)
        if (errno != EINTR) return true;
    if (started && WIFEXITED(ended)) *status = WEXITSTATUS(ended);
    // 127 is the other way to learn that there is no such program (POSIX, posix_spawn).
    return started && *status != 127;
}
