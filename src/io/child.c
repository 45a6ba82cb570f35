// SPDX-License-Identifier: Apache-2.0
// Limits of child processes, and rehearsals in them.
#define _XOPEN_SOURCE 700
#include "io/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
