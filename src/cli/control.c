// SPDX-License-Identifier: Apache-2.0
// Threads, Ctrl-C and the progress bar: the only mutable state of the process, which belongs to the command and not to the library.
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "cli/ranks/ranks.h"

// Work that is done sooner shows no bar, and a bar is not redrawn faster.
#define PROGRESS_AFTER_SECONDS 1.0
#define PROGRESS_EVERY_SECONDS 0.1

enum { MOST_THREADS = 1024 };

static atomic_bool interrupted;

static struct {
    double start, last;
    bool drawn;
} bar;

static void interrupt(int signal_number) {
    (void)signal_number;
    atomic_store(&interrupted, true);
}

bool cli_interrupted(void) { return atomic_load(&interrupted); }

static bool is_interrupted(void *user) {
    (void)user;
    return cli_interrupted();
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void draw_progress(void *user, int64_t done, int64_t total) {
    (void)user;
    const double time = now();
    if (time - bar.start < PROGRESS_AFTER_SECONDS || time - bar.last < PROGRESS_EVERY_SECONDS) return;
    enum { WIDTH = 40 };
    const double share = (double)done / (double)total;
    char cells[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++) cells[i] = i < share * WIDTH ? '#' : '.';
    cells[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %%  %.0f s left ", cells, 100 * share, (time - bar.start) * (1 - share) / share);
    bar.last = time;
    bar.drawn = true;
}

void cli_end_progress(void) {
    if (bar.drawn) fprintf(stderr, "\r\033[K");
    bar.drawn = false;
}

// The first Ctrl-C asks for a clean end, the second one has its usual effect.
static void catch_interrupts(void) {
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

carom_status cli_start_control(const cli_arguments *arguments, carom_control *control, carom_error *error) {
    *control = (carom_control){.cancelled = is_interrupted};
    const char *threads = cli_value(arguments, "threads");
    double count;
    if (threads) {
        if (!carom_parse_number(threads, &count) || count < 1 || count > MOST_THREADS || count != (int)count)
            return carom_fail(error, CAROM_BAD_INPUT, "--threads: '%.60s' is not a whole number between 1 and %d", threads, MOST_THREADS);
        control->threads = (int)count;
    }
    if (isatty(STDERR_FILENO) && cli_ranks_is_first()) control->progress = draw_progress;
    bar.start = bar.last = now();
    catch_interrupts();
    return CAROM_OK;
}
